/* SPDX-License-Identifier: Apache-2.0 */
/* Caches of 8 bits (NUM-16 to NUM-18): the numbers of a row. */
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
