/* SPDX-License-Identifier: Apache-2.0 */
/* Scores that are changed before they are weighed (SCORE-1 to SCORE-5), as shifts (NUM-14). */
#ifndef CHUNKPROOF_GATE_JUDGE_SCORES_H
#define CHUNKPROOF_GATE_JUDGE_SCORES_H

#include "chunkproof/tolerance.h"
#include "gate/case/problem.h"
#include "gate/judge/class.h"

/* 1: some score of the problem has a bias. */
int gate_has_bias(const struct gate_scores *scores);

/* 1: some score of the problem is changed, or there is a sink. */
int gate_changes_scores(const struct gate_scores *scores);

/* NUM-15: how the scores of the row's keys, of query head `head`, are changed in a kernel of the
 * declared class, to shift[n_keys] and error[n_keys]. distance: gate_bias_distance() of each key;
 * read only where there are slopes, or a table. It may be the array `shift`. d: numbers of a head,
 * and of a row that are multiplied as many as row->head_dim. */
void gate_shift_keys(const struct cp_kernel *kernel, int d, const struct gate_rotated *rotated,
                     const struct gate_scores *scores, int head, const struct cp_tolerance_row *row,
                     const double *distance, double *shift, double *error);

/* The sink of a query head, a key of zeros whose score is its shift. */
void gate_shift_sink(const struct cp_kernel *kernel, const struct gate_scores *scores, int head,
                     double *shift, double *error);

#endif
