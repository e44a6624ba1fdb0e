/* SPDX-License-Identifier: Apache-2.0 */
#include "gate/judge/scores.h"

#include <math.h>

#include "gate/case/scores.h"

#define UP (1.0 + 0x1p-30) /* more than a sum of 2^20 products loses */

int gate_has_bias(const struct gate_scores *scores) {
    return scores->slopes != NULL || scores->biases != NULL;
}

int gate_changes_scores(const struct gate_scores *scores) {
    return scores->cap > 0.0 || gate_has_bias(scores) || scores->sinks != NULL;
}

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

void gate_shift_keys(const struct cp_kernel *kernel, int d, const struct gate_rotated *rotated,
                     const struct gate_scores *scores, int head, const struct cp_tolerance_row *row,
                     const double *distance, double *shift, double *error) {
    int w = row->head_dim;
    struct cp_score_arithmetic here = cp_arithmetic_fp64(w).score;
    struct cp_score_arithmetic there = gate_class_of_score(kernel, d, rotated);
    struct cp_shift_arithmetic arithmetic = gate_class_of_shift(kernel);
    struct cp_score_change change = {.cap = scores->cap,
                                     .bias_first = scores->order == CP_CAP_LAST,
                                     .without_bias = !gate_has_bias(scores)};
    for (int j = 0; j < row->n_keys; j++) {
        struct score s = score_of(row, j);
        change.bias = change.without_bias ? 0.0 : gate_bias_of(scores, head, distance[j]);
        struct cp_shift changed = cp_shift_of(&arithmetic, &change, s.score,
                                              cp_score_error(&here, row->scale, w, s.magnitude),
                                              cp_score_error(&there, row->scale, w, s.magnitude));
        shift[j] = changed.shift;
        error[j] = changed.error;
    }
}

void gate_shift_sink(const struct cp_kernel *kernel, const struct gate_scores *scores, int head,
                     double *shift, double *error) {
    struct cp_shift_arithmetic arithmetic = gate_class_of_shift(kernel);
    struct cp_shift sink = cp_shift_of_sink(&arithmetic, (double)scores->sinks[head]);
    *shift = sink.shift;
    *error = sink.error;
}
