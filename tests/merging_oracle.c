/* SPDX-License-Identifier: Apache-2.0 */
#include "merging_oracle.h"

#include <math.h>
#include <mpfr.h>
#include <stddef.h>

#define BITS 600

/* exp(l) in nats, 2^l in bits; exponents of MPFR reach far enough for any l here. */
static void weight_of(mpfr_t weight, double l, int base) {
    mpfr_set_d(weight, l, MPFR_RNDN);
    if (base == CP_BASE_2) {
        mpfr_exp2(weight, weight, MPFR_RNDN);
    } else {
        mpfr_exp(weight, weight, MPFR_RNDN);
    }
}

/* sum of the weights, or of the weights times column i of o. */
static void sum_of(mpfr_t sum, const struct cp_merging_row *row, int i) {
    mpfr_t weight;
    mpfr_init2(weight, BITS);
    mpfr_set_zero(sum, 1);
    for (int j = 0; j < row->n_parts; j++) {
        if (row->lse[j] != -INFINITY) {
            weight_of(weight, row->lse[j], row->base);
            if (i >= 0) {
                mpfr_mul_d(weight, weight, row->o[(ptrdiff_t)j * row->head_dim + i], MPFR_RNDN);
            }
            mpfr_add(sum, sum, weight, MPFR_RNDN);
        }
    }
    mpfr_clear(weight);
}

void merging_oracle(const struct cp_merging_row *row, double *out, double *lse) {
    mpfr_t weights, sum;
    mpfr_init2(weights, BITS);
    mpfr_init2(sum, BITS);
    sum_of(weights, row, -1);
    int none = mpfr_zero_p(weights);
    for (int i = 0; i < row->head_dim; i++) {
        sum_of(sum, row, i);
        mpfr_div(sum, sum, weights, MPFR_RNDN);
        out[i] = none ? 0.0 : mpfr_get_d(sum, MPFR_RNDN);
    }
    if (row->base == CP_BASE_2) {
        mpfr_log2(weights, weights, MPFR_RNDN);
    } else {
        mpfr_log(weights, weights, MPFR_RNDN);
    }
    *lse = mpfr_get_d(weights, MPFR_RNDN);
    mpfr_clear(weights);
    mpfr_clear(sum);
}
