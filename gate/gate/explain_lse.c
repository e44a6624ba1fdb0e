/* SPDX-License-Identifier: Apache-2.0 */
/* A log-sum-exp that is wrong by itself: out is not looked at. */
#include <math.h>

#include "gate/gate/explain.h"

#define LN_2 0.6931471805599453

enum way { BASE_2, TIMES_LN_2, LARGEST, NOT_ADDED, SUM, SIGN, NOT_SCALED, COUNT, NO_MAXIMUM_SCALE };

/* Of the scaled scores. */
static double largest_score(struct explain *x) {
    double largest = -INFINITY;
    explain_take_all(x);
    for (int j = 0; j < x->m; j++) {
        double sum = 0.0;
        for (int i = 0; i < x->d; i++) {
            sum += x->q[i] * x->k[(ptrdiff_t)j * x->d + i];
        }
        largest = fmax(largest, x->at->problem.scale * sum);
    }
    return largest;
}

static double value_of(struct explain *x, enum way way, double lse) {
    double largest = largest_score(x), scale = x->at->problem.scale;
    switch (way) {
    case BASE_2:
        return lse / LN_2;
    case TIMES_LN_2:
        return lse * LN_2;
    case LARGEST:
        return largest;
    case NOT_ADDED:
        return lse - largest;
    case SUM:
        return exp(lse - largest);
    case SIGN:
        return -lse;
    case NOT_SCALED:
        return lse / scale;
    case COUNT:
        return largest + log(x->n);
    default:
        return largest / scale + (lse - largest);
    }
}

static int other_lse(struct explain *x, const int *a) {
    size_t at = (size_t)x->pair * (size_t)x->at->width + (size_t)x->d;
    double lse = x->at->expected[at], bound = x->at->bound[at];
    double value = value_of(x, (enum way)a[0], lse);
    for (int i = 0; i < x->d; i++) {
        x->numbers.expected[i] = 0.0;
        x->numbers.bound[i] = INFINITY;
    }
    x->numbers.expected[x->d] = value;
    x->numbers.bound[x->d] = bound * fmax(1.0, fabs(value) / fmax(fabs(lse), 1.0));
    return x->n > 0 && !x->outside && isfinite(value) && fabs(value - lse) > bound;
}

void explain_try_lse(struct explain *x) {
    static const char *const words[] = {
        "it were in bits, a logarithm to the base 2",
        "it had been multiplied by ln 2 once too often",
        "it were the largest score alone, without the logarithm of the sum",
        "the largest score had not been added",
        "it were the sum of weights, not its logarithm",
        "its sign were wrong",
        "the scores in it had not been scaled",
        "all weights in it were 1",
        "the largest score that was added had not been scaled"};
    if (x->at->problem.lse_type == CP_NO_LSE) {
        return;
    }
    for (int way = BASE_2; way <= NO_MAXIMUM_SCALE; way++) {
        const int a[EXPLAIN_NUMBERS] = {way};
        explain_try(x, other_lse, a, 20 + (way > BASE_2) + (way >= SIGN),
                    "lse is as if %s (MERGE-7)", words[way]);
    }
}
