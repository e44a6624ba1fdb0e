/* SPDX-License-Identifier: Apache-2.0 */
#include "fuzz/tolerance/shift.h"

#include <math.h>
#include <stddef.h>

#include "tests/random.h"

#define LOG2_E 1.4426950408889634
#define U      0x1p-24
#define TINY   0x1p-149

static double single(double x) {
    return (double)(float)x;
}

/* The last key is the row's own: a slope of 2^-k, as ALiBi has it. */
static void add_slope(struct problem *p, unsigned long long *random) {
    double slope = ldexp(1.0, -random_below(random, 9));
    for (int j = 0; j < p->n; j++) {
        p->shift[j] = single(slope * (j + 1 - p->n));
    }
}

static void add_any(struct problem *p, unsigned long long *random) {
    double size = ldexp(1.0, random_below(random, 16) - 8);
    for (int j = 0; j < p->n; j++) {
        p->shift[j] = single(size * random_uniform(random));
    }
}

static void add_sinks(struct problem *p, unsigned long long *random) {
    int every = 1 + random_below(random, p->n);
    for (int j = 0; j < p->n; j++) {
        p->shift[j] = j % every == 0 ? single(4.0 * random_uniform(random)) : 0.0;
        for (int x = 0; j % every == 0 && x < p->d; x++) {
            p->k[(ptrdiff_t)j * p->d + x] = p->v[(ptrdiff_t)j * p->d + x] = 0.0;
        }
    }
}

void problem_shift(struct problem *p, unsigned long long seed) {
    unsigned long long own = seed ^ 0xD1B54A32D192ED03ULL;
    int what = random_below(&own, 12);
    p->shift = what < 3 ? p->room : NULL;
    if (what == 0) {
        add_slope(p, &own);
    } else if (what == 1) {
        add_any(p, &own);
    } else if (what == 2) {
        add_sinks(p, &own);
    }
}

double shifted_score(const struct options *o, const struct problem *p, int j, double score) {
    if (p->shift == NULL) {
        return score;
    }
    double unit = o->scaling == SCALE_FUSED ? 1.0 / p->scale : o->bits ? LOG2_E : 1.0;
    return single(score + single(p->shift[j] * unit));
}

static double size_of_score(const struct problem *p, int j) {
    double size = 0.0;
    for (int x = 0; x < p->d; x++) {
        size += fabs(p->q[x] * p->k[(ptrdiff_t)j * p->d + x]);
    }
    return fabs(p->scale) * size * (1.0 + 0x1p-40);
}

/* With s, its error sigma, and the shift b: the kernel's b is off by two roundings, of a constant
 * and of the product, and the sum by one. A score that is scaled later has the constant's error in
 * b, too. In the kernel's unit, a number below the normal ones may be off by TINY. */
void shift_errors(const struct cp_score_arithmetic *a, const struct problem *p, double *errors) {
    double growth = (1.0 + U) * (1.0 + 1.001 * U) * (1.0 + U) - 1.0;
    double tiny = TINY * fmax(1.0, fabs(p->scale));
    for (int j = 0; j < p->n && p->shift != NULL; j++) {
        double magnitude = size_of_score(p, j), score = 0.0;
        for (int x = 0; x < p->d; x++) {
            score += p->q[x] * p->k[(ptrdiff_t)j * p->d + x];
        }
        double size = fabs(score * p->scale) + 0x1p-40 * magnitude;
        double sigma = cp_score_error(a, p->scale, p->d, magnitude);
        errors[j] =
            (U * (size + sigma) + growth * fabs(p->shift[j])) * (1.0 + 0x1p-40) + 2.0 * tiny;
    }
}
