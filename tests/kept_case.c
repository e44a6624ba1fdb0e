/* SPDX-License-Identifier: Apache-2.0 */
#include "kept_case.h"

#include <math.h>
#include <stdlib.h>

#include "chunkproof/number.h"
#include "random.h"

static size_t places_of(const struct attend_case *c) {
    return (size_t)c->plan->capacity * (size_t)c->shape.n_kv_heads * (size_t)c->shape.chunk_size;
}

size_t kept_case_scales(const struct attend_case *c, int per) {
    return per == CP_CACHE_SCALE_TOKEN  ? places_of(c)
           : per == CP_CACHE_SCALE_HEAD ? (size_t)c->shape.n_kv_heads
                                        : 1;
}

/* NUM-18: chunk, K/V head and slot, from the number of all slots before. */
static size_t scale_at(const struct attend_case *c, int per, size_t place) {
    size_t head = place / (size_t)c->shape.chunk_size % (size_t)c->shape.n_kv_heads;
    return per == CP_CACHE_SCALE_TOKEN ? place : per == CP_CACHE_SCALE_HEAD ? head : 0;
}

static void *allocate(size_t n, size_t size) {
    void *memory = calloc(n, size);
    if (memory == NULL) {
        abort();
    }
    return memory;
}

struct kept kept_case_make(const struct attend_case *c, double *exact, int per, int type,
                           int powers, unsigned long long *random) {
    size_t n = places_of(c), n_scales = kept_case_scales(c, per);
    size_t d = (size_t)(exact == c->v ? c->attention.v_row : c->shape.head_dim);
    struct kept kept = {type, allocate(n * d, cp_number_size(type)),
                        allocate(n_scales, sizeof(float))};
    double size = type == CP_INT8 ? 0x1p-5 : 1.0; /* integers have none below 1 */
    for (size_t i = 0; i < n_scales; i++) {
        double scale =
            powers ? ldexp(1.0, random_below(random, 9) - 4) : 0.25 + 4.0 * random_uniform(random);
        kept.scales[i] =
            per == CP_CACHE_SCALE_TOKEN && isnan(exact[i * d]) ? NAN : (float)(scale * size);
    }
    for (size_t i = 0; i < n * d; i++) {
        double scale = (double)kept.scales[scale_at(c, per, i / d)];
        cp_number_store(kept.numbers, type, i, exact[i] / scale);
        if (!isnan(exact[i])) {
            exact[i] = scale * cp_number_load(kept.numbers, type, i);
        }
    }
    return kept;
}

void kept_case_free(struct kept *kept) {
    free(kept->numbers);
    free(kept->scales);
}

struct cp_attention kept_case_take(struct attend_case *c, const struct kept *k,
                                   const struct kept *v, int per) {
    struct cp_attention before = c->attention;
    c->attention.k = k->numbers;
    c->attention.v = v->numbers;
    c->attention.k_type = k->type;
    c->attention.v_type = v->type;
    c->attention.scales = (struct cp_scales){per, k->scales, v->scales};
    return before;
}
