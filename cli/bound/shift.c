/* SPDX-License-Identifier: Apache-2.0 */
/* Scores that are changed before they are weighed (SCORE-1 to SCORE-5), as shifts (NUM-14). */
#include <math.h>
#include <stddef.h>

#include "chunkproof/kernel_class.h"
#include "cli/bound/bound.h"

#define UP (1.0 + 0x1p-30) /* more than a sum of 2^20 products loses */

/* The score of a key, not changed, and its magnitude: |scale| sum |q_i k_i|. */
struct score {
    double score, magnitude;
};

static struct score score_of(const struct cp_tolerance_row *row, int j) {
    const double *k = row->k + (ptrdiff_t)j * row->head_dim;
    double sum = 0.0, magnitude = 0.0;
    for (int i = 0; i < row->head_dim; i++) {
        sum += row->q[i] * k[i];
        magnitude += fabs(row->q[i] * k[i]);
    }
    return (struct score){row->scale * sum, fabs(row->scale) * magnitude * UP};
}

void bound_shift_keys(const struct cp_score_arithmetic *score,
                      const struct cp_shift_arithmetic *arithmetic, struct cp_score_change change,
                      const struct cp_tolerance_row *row, const double *bias, double *shift,
                      double *error) {
    int d = row->head_dim;
    struct cp_score_arithmetic here = cp_arithmetic_fp64(d).score;
    for (int j = 0; j < row->n_keys; j++) {
        struct score s = score_of(row, j);
        change.bias = change.without_bias ? 0.0 : bias[j];
        struct cp_shift changed = cp_shift_of(arithmetic, &change, s.score,
                                              cp_score_error(&here, row->scale, d, s.magnitude),
                                              cp_score_error(score, row->scale, d, s.magnitude));
        shift[j] = changed.shift;
        error[j] = changed.error;
    }
}

/* ---- Of a row ---- */

static int has_bias(const struct bound_options *o, const struct bound_row *row) {
    return o->has_slope || row->has_biases;
}

int bound_changes_scores(const struct bound_options *o, const struct bound_row *row) {
    return o->has_cap || has_bias(o, row) || o->has_sink;
}

/* SCORE-2, SCORE-5: one or the other. */
static void biases_of(const struct bound_options *o, const struct bound_row *row, double *bias) {
    for (int j = 0; j < row->n; j++) {
        bias[j] = row->has_biases ? row->bias[j] : o->slope * (row->position[j] - row->at);
    }
}

void bound_shift_row(const struct bound_options *o, const struct bound_row *row,
                     const struct cp_score_arithmetic *score, double *shift, double *error) {
    const struct cp_kernel_class class = bound_declared(o);
    const struct cp_shift_arithmetic arithmetic = cp_class_of_shift(&class);
    const struct cp_score_change change = {.cap = o->has_cap ? o->cap : 0.0,
                                           .bias_first = o->cap_last,
                                           .without_bias = !has_bias(o, row)};
    const struct cp_tolerance_row keys = {.n_keys = row->n,
                                          .head_dim = row->d,
                                          .value_dim = row->d_v,
                                          .scale = row->scale,
                                          .q = row->q,
                                          .k = row->k,
                                          .v = row->v};
    if (o->has_sink) {
        struct cp_shift sink = cp_shift_of_sink(&arithmetic, o->sink);
        *shift++ = sink.shift;
        *error++ = sink.error;
    }
    if (has_bias(o, row)) {
        biases_of(o, row, shift);
    }
    bound_shift_keys(score, &arithmetic, change, &keys, shift, shift, error);
}
