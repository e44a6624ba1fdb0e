/* SPDX-License-Identifier: Apache-2.0 */
/* What changes the scores of a random problem (attend_case.h), and how far a kernel may be off by
 * that (NUM-15). */
#ifndef CHUNKPROOF_TESTS_SCORE_CASE_H
#define CHUNKPROOF_TESTS_SCORE_CASE_H

#include "attend_case.h"
#include "chunkproof/score_shift.h"

#define SCORE_CASE_HEADS  64
#define SCORE_CASE_BIASES 150 /* of a head, at most */

/* Numbers of bfloat16, as in the gate. */
struct score_case {
    double slopes[SCORE_CASE_HEADS], sinks[SCORE_CASE_HEADS];
    double biases[SCORE_CASE_HEADS * SCORE_CASE_BIASES];
};

/* Gives the case a cap, slopes, sinks and a table of biases (SCORE-5), each or not: by seed all
 * sixteen ways in turn. Caps, from one that makes all scores equal to one that changes none much;
 * slopes of both signs, and 0; sinks among the scores, and far above and below; tables of few
 * entries, for distances of which most are before them or behind, and of many. */
void score_case_draw(struct attend_case *c, struct score_case *drawn, unsigned long long seed);

/* 1 when the case has any of these. */
int score_case_changes(const struct attend_case *c);

/* NUM-15 for key j of the row's sequence, by a kernel of this arithmetic; and for the sink. *score
 * becomes the changed score. */
struct cp_shift score_case_shift(const struct attend_case *c, int row, int head, int j,
                                 const struct cp_score_arithmetic *kernel,
                                 const struct cp_shift_arithmetic *shift, double *score);
struct cp_shift score_case_shift_sink(const struct attend_case *c, int head,
                                      const struct cp_shift_arithmetic *shift, double *score);

#endif
