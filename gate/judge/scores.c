/* SPDX-License-Identifier: Apache-2.0 */
#include "gate/judge/scores.h"

#include "cli/bound/bound.h"
#include "gate/case/scores.h"

int gate_has_bias(const struct gate_scores *scores) {
    return scores->slopes != NULL || scores->biases != NULL;
}

int gate_changes_scores(const struct gate_scores *scores) {
    return scores->cap > 0.0 || gate_has_bias(scores) || scores->sinks != NULL;
}

void gate_shift_keys(const struct cp_kernel *kernel, int d, const struct gate_rotated *rotated,
                     const struct gate_scores *scores, int head, const struct cp_tolerance_row *row,
                     const double *distance, double *shift, double *error) {
    struct cp_score_arithmetic score = gate_class_of_score(kernel, d, rotated);
    struct cp_shift_arithmetic arithmetic = gate_class_of_shift(kernel);
    const struct cp_score_change change = {.cap = scores->cap,
                                           .bias_first = scores->order == CP_CAP_LAST,
                                           .without_bias = !gate_has_bias(scores)};
    for (int j = 0; j < row->n_keys && !change.without_bias; j++) {
        shift[j] = gate_bias_of(scores, head, distance[j]);
    }
    bound_shift_keys(&score, &arithmetic, change, row, shift, shift, error);
}

void gate_shift_sink(const struct cp_kernel *kernel, const struct gate_scores *scores, int head,
                     double *shift, double *error) {
    struct cp_shift_arithmetic arithmetic = gate_class_of_shift(kernel);
    struct cp_shift sink = cp_shift_of_sink(&arithmetic, (double)scores->sinks[head]);
    *shift = sink.shift;
    *error = sink.error;
}
