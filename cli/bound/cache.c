/* SPDX-License-Identifier: Apache-2.0 */
/* Caches of 8 bits (NUM-16 to NUM-19): the numbers of a row, and what the products with scales
 * make of a class. */
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "chunkproof/number8.h"
#include "cli/bound/bound.h"

const char *const bound_cache_names[] = {"plain", "e4m3", "e5m2", "int8", NULL};
static const int caches[] = {CP_CACHE_PLAIN, CP_CACHE_E4M3, CP_CACHE_E5M2, CP_CACHE_INT8};

int bound_cache_of(int name) {
    return caches[name];
}

const char *bound_cache_name(int cache) {
    int name = 0;
    while (caches[name] != cache) {
        name++;
    }
    return bound_cache_names[name];
}

/* ---- Numbers ---- */

/* K, or V. */
struct array {
    double *x;
    ptrdiff_t n;
    int d, cache;
    const char *name; /* of the array; it is the end of its options' */
};

static double largest_of(const struct array *a) {
    double largest = 0.0;
    for (ptrdiff_t i = 0; i < a->n; i++) {
        largest = fmax(largest, fabs(a->x[i]));
    }
    return largest;
}

/* In binary32, as a cache has it. The largest number may then be a little above the format's, and
 * is rounded to that. */
static double usual_scale(double largest, int cache) {
    double scale = (double)(float)(largest / cp_number8_largest(cache));
    return scale > 0.0 ? scale : 1.0;
}

static int does_not_fit(const struct array *a, ptrdiff_t i, double scale, const char *file) {
    double most = cp_number8_largest(a->cache);
    fprintf(stderr,
            "%s: %s[%td][%td] = %.8g does not fit in %s with --scale-%s %.7g (largest %.7g); leave "
            "out --scale-%s, or make it %.7g or more\n",
            file == NULL             ? "chunkproof bound"
            : strcmp(file, "-") == 0 ? "<stdin>"
                                     : file,
            a->name, i / a->d, i % a->d, a->x[i], bound_cache_name(a->cache), a->name, scale,
            most * scale, a->name, largest_of(a) / most);
    return -1;
}

/* NUM-17; what is within half a unit of the largest number is rounded to it. */
static int round_array(const struct array *a, double asked, double *scale, const char *file) {
    *scale = 1.0;
    if (a->cache == CP_CACHE_PLAIN) {
        return 0;
    }
    *scale = asked > 0.0 ? (double)(float)asked : usual_scale(largest_of(a), a->cache);
    double most = cp_number8_largest(a->cache) * (1.0 + 0x1p-20);
    double least = a->cache == CP_CACHE_INT8 ? -most - 1.0 : -most; /* an integer may be -128 */
    for (ptrdiff_t i = 0; i < a->n; i++) {
        double x = a->x[i] / *scale;
        if (!(x >= least && x <= most)) {
            return does_not_fit(a, i, *scale, file);
        }
        a->x[i] = cp_number8_to_double(cp_number8_from_double(x, a->cache), a->cache) * *scale;
    }
    return 0;
}

int bound_cache_round(const struct bound_options *o, struct bound_row *row, const char *file) {
    const struct array k = {row->k, (ptrdiff_t)row->n * row->d, row->d, o->cache.k, "k"};
    const struct array v = {row->v, (ptrdiff_t)row->n * row->d_v, row->d_v, o->cache.v, "v"};
    return round_array(&k, o->k_scale, &row->k_scale, file) != 0 ||
                   round_array(&v, o->v_scale, &row->v_scale, file) != 0
               ? -1
               : 0;
}

/* ---- The class ---- */

/* What NUM-19 has of a number that is multiplied by its scale in binary32, or in binary64, and then
 * rounded to k_dequantised, or v_dequantised. */
struct scaling {
    struct cp_format product;
    double more; /* h - 1: of a number and of what the scale may be multiplied with instead */
    double left; /* z */
};

static struct scaling scaling_of(const struct cp_kernel_class *class, int type) {
    int wide = class->score == CP_SUM_FP64;
    struct cp_format product = bound_rounding(class, wide ? CP_FP64 : CP_FP32, 0);
    struct cp_format to = bound_rounding(class, type, type == CP_FP32 || wide);
    double twice = bound_compound(product.unit, product.unit);
    return (struct scaling){product, bound_compound(to.unit, twice),
                            to.tiny + (1.0 + to.unit) * product.tiny};
}

/* Where a number of K is multiplied by its scale, or the query, or the score. `left`: z, and what
 * is rotated of it. */
static void scale_keys(int cache, const struct bound_scales *scales, const struct scaling *by,
                       double left, struct cp_score_arithmetic *s) {
    double number = cp_number8_largest(cache) + 1.0; /* or -128 */
    double larger = fmax(1.0, scales->k) * (1.0 + by->more);
    double e = fmax(scales->query * left, number * by->product.tiny);
    s->term_tiny = larger * (s->term_tiny + (1.0 + s->term_unit) * e) * (1.0 + 0x1p-40);
    s->tiny *= larger;
    s->term_unit = bound_compound(by->more, s->term_unit);
}

/* Where a number of V is multiplied by its scale, or P, or o. */
static void scale_weights(const struct bound_scales *scales, const struct scaling *by,
                          struct cp_arithmetic *a) {
    double unit = fmax(a->weights.unit, by->product.unit);
    double tiny = a->weights.tiny + 4.0 * by->product.tiny * (unit / by->product.unit);
    a->weights.tiny = (1.0 + by->more + by->more / unit) * tiny * scales->over_v * (1.0 + 0x1p-40);
    a->weights.unit = bound_compound(by->more, unit);
}

/* What is left of a number of K is rotated, where keys are. */
void bound_dequantise(const struct cp_kernel_class *class, const struct cp_kernel_cache *cache,
                      const struct bound_scales *scales, struct cp_arithmetic *a) {
    if (cache->k != CP_CACHE_PLAIN) {
        struct scaling by = scaling_of(class, class->k_dequantised);
        scale_keys(cache->k, scales, &by, (scales->rotates ? 4.0 : 1.0) * by.left, &a->score);
    }
    if (cache->v != CP_CACHE_PLAIN) {
        struct scaling by = scaling_of(class, class->v_dequantised);
        if (!class->rounded_sum) {
            scale_weights(scales, &by, a);
        }
        a->eta_o = a->eta_o * fmax(1.0, scales->v) + by.left + by.product.tiny;
    }
}

void bound_round_values(const struct cp_kernel_class *class, const struct cp_kernel_cache *cache,
                        struct cp_arithmetic *a, struct cp_counts *counts) {
    if (cache->v == CP_CACHE_PLAIN || !class->rounded_sum) {
        return;
    }
    double more = scaling_of(class, class->v_dequantised).more;
    int additions = (int)ceil(more / a->u_o * (1.0 + 0x1p-40));
    counts->depth_o += additions;
    a->as_one_o = additions > a->as_one_o ? additions : a->as_one_o;
}
