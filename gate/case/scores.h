/* SPDX-License-Identifier: Apache-2.0 */
/* What changes the scores of a case before they are weighed (SCORE-1 to SCORE-5). */
#ifndef CHUNKPROOF_GATE_CASE_SCORES_H
#define CHUNKPROOF_GATE_CASE_SCORES_H

#include "gate/case/problem.h"

/* Gives a recipe a cap, slopes or a table of biases, and sinks, as far as a kernel takes them: a
 * sum of CP_SCORES_... Some have none. */
void gate_recipe_scores(struct gate_recipe *recipe, int scores);

/* Which of them a recipe has: a sum of CP_SCORES_... */
int gate_recipe_changes(const struct gate_recipe *recipe);

/* Makes the slopes or biases of a problem, and room for its sinks, as far as a kernel takes them.
 * 0, or -1: no memory. */
int gate_scores_new(struct gate_problem *problem, int scores);

/* SCORE-2, CONV-8: what a slope is multiplied by, of a key at a position and a row at another; or
 * SCORE-5: the entry of the table. */
double gate_bias_distance(const struct gate_scores *scores, int key, int row);

/* The bias of a query head at such a distance, which is none of a problem without slopes or table:
 * 0 then. */
double gate_bias_of(const struct gate_scores *scores, int head, double distance);

/* SCORE-4, CONV-7: what a score becomes, in that order (CP_CAP_...). In binary64: what it rounds is
 * not known. */
double gate_change_score(double cap, int order, double s, double bias);

#endif
