/* SPDX-License-Identifier: Apache-2.0 */
#include "gate/case/cache.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "chunkproof/number.h"
#include "chunkproof/number8.h"
#include "cli/base/random.h"
#include "gate/case/widths.h"

static int kind_of(const struct gate_problem *p, int is_v) {
    return is_v ? p->cache.v : p->cache.k;
}

static size_t places(const struct gate_problem *p) {
    return (size_t)p->capacity * (size_t)p->recipe.n_kv_heads * (size_t)p->recipe.chunk_size;
}

size_t gate_n_scales(const struct gate_problem *p) {
    return p->cache.scales == CP_CACHE_SCALE_TOKEN  ? places(p)
           : p->cache.scales == CP_CACHE_SCALE_HEAD ? (size_t)p->recipe.n_kv_heads
                                                    : 1;
}

size_t gate_scale_at(const struct gate_problem *p, unsigned long long place) {
    size_t head = (size_t)place / (size_t)p->recipe.chunk_size % (size_t)p->recipe.n_kv_heads;
    return p->cache.scales == CP_CACHE_SCALE_TOKEN  ? (size_t)place
           : p->cache.scales == CP_CACHE_SCALE_HEAD ? head
                                                    : 0;
}

static int allocate(float **scale, int kind, size_t n) {
    *scale = kind == CP_CACHE_PLAIN ? NULL : malloc((n + 1) * sizeof **scale);
    return kind == CP_CACHE_PLAIN || *scale != NULL ? 0 : -1;
}

int gate_cache_new(struct gate_problem *p) {
    size_t n = gate_n_scales(p);
    return allocate(&p->cache.k_scale, p->cache.k, n) == 0 &&
                   allocate(&p->cache.v_scale, p->cache.v, n) == 0
               ? 0
               : -1;
}

/* From 1 on, below 2. */
static double any_factor(struct prng *random) {
    return 1.0 + (double)(prng_next(random) >> 44) * 0x1p-20;
}

/* By how many octaves scales are larger than what just fits, so that numbers come near the smallest
 * of the format. Integers would become 0: their scales are smaller, so that some of them are the
 * largest. */
static int octaves_of(int kind, struct prng *random) {
    return kind == CP_CACHE_E4M3   ? prng_below(random, 13)
           : kind == CP_CACHE_E5M2 ? prng_below(random, 29)
                                   : -1 - prng_below(random, 2);
}

/* Scales that are never 1, nor all alike. */
static void fill(float *scale, int kind, size_t n, const struct gate_scaling *by,
                 struct prng *random) {
    double fits = by->largest / cp_number8_largest(kind);
    if (prng_below(random, 2) != 0) {
        fits = ldexp(fits, octaves_of(kind, random));
    }
    for (size_t i = 0; i < n && scale != NULL; i++) {
        if (by->step > 0.0) {
            scale[i] = (float)ldexp(by->step, -1 - prng_below(random, 3));
        } else {
            scale[i] = (float)(fits * any_factor(random));
        }
        scale[i] = scale[i] == 1.0F ? 0.5F : scale[i];
    }
}

void gate_cache_scale(struct gate_problem *p, const struct gate_scaling *of_k,
                      const struct gate_scaling *of_v) {
    struct prng random = {p->seed ^ 0x5CA1E5ULL};
    fill(p->cache.k_scale, p->cache.k, gate_n_scales(p), of_k, &random);
    fill(p->cache.v_scale, p->cache.v, gate_n_scales(p), of_v, &random);
    if (gate_is_in_keys(p) && p->cache.v_scale != NULL) {
        memcpy(p->cache.v_scale, p->cache.k_scale, gate_n_scales(p) * sizeof(float));
    }
    p->cache.least = p->cache.most = p->cache.most_k = 1.0;
    for (size_t i = 0; i < gate_n_scales(p) && p->cache.v_scale != NULL; i++) {
        p->cache.least = fmin(p->cache.least, (double)p->cache.v_scale[i]);
        p->cache.most = fmax(p->cache.most, (double)p->cache.v_scale[i]);
    }
    for (size_t i = 0; i < gate_n_scales(p) && p->cache.k_scale != NULL; i++) {
        p->cache.most_k = fmax(p->cache.most_k, (double)p->cache.k_scale[i]);
    }
}

void gate_cache_forget(struct gate_problem *p) {
    float *scales[] = {p->cache.k_scale, p->cache.v_scale};
    size_t d = (size_t)p->recipe.head_dim;
    for (size_t i = 0; p->cache.scales == CP_CACHE_SCALE_TOKEN && i < gate_n_scales(p); i++) {
        for (int array = 0; array < 2; array++) {
            if (scales[array] != NULL && isnan(p->k[i * d])) {
                scales[array][i] = NAN;
            }
        }
    }
}

/* 1 where there is none. */
static double scale_at(const struct gate_problem *p, int is_v, unsigned long long place) {
    const float *scale = is_v ? p->cache.v_scale : p->cache.k_scale;
    return scale == NULL ? 1.0 : (double)scale[gate_scale_at(p, place)];
}

/* What the numbers are that the kernel gets. */
static int type_of(const struct gate_problem *p, int is_v) {
    int kind = kind_of(p, is_v);
    return kind == CP_CACHE_PLAIN ? p->kv_type : kind;
}

void gate_cache_round(const struct gate_problem *p, int is_v, unsigned long long place, double *x) {
    int format = kind_of(p, is_v);
    double scale = scale_at(p, is_v, place);
    for (int i = 0, n = is_v ? p->value_dim : p->recipe.head_dim; i < n; i++) {
        x[i] = scale * cp_number8_to_double(cp_number8_from_double(x[i] / scale, format), format);
    }
}

size_t gate_cache_size(const struct gate_problem *p, int is_v) {
    return cp_number_size(type_of(p, is_v));
}

/* Binary64 holds a number times a scale: the quotient is exact. */
void gate_cache_store(const struct gate_problem *p, int is_v, void *array, size_t at,
                      unsigned long long place, double x) {
    cp_number_store(array, type_of(p, is_v), at, x / scale_at(p, is_v, place));
}

/* Integers have no NaN. */
void gate_cache_pad(const struct gate_problem *p, int is_v, void *array, size_t at, double x) {
    int type = type_of(p, is_v);
    cp_number_store(array, type, at, isnan(x) && type == CP_INT8 ? 127.0 : x);
}

double gate_cache_load(const struct gate_problem *p, int is_v, const void *array, size_t at) {
    return cp_number_load(array, type_of(p, is_v), at);
}
