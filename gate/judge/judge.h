/* SPDX-License-Identifier: Apache-2.0 */
/* The judge: the numbers of a result against attention and its certified tolerance (GATE-1), and
 * what was written. */
#ifndef CHUNKPROOF_GATE_JUDGE_JUDGE_H
#define CHUNKPROOF_GATE_JUDGE_JUDGE_H

#include "chunkproof/tolerance.h"
#include "gate/case/layout.h"
#include "gate/judge/finding.h"
#include "gate/judge/rules.h"

/* What a row and head is to be, number by number: its elements, and last the log-sum-exp. */
struct gate_numbers {
    double *expected, *bound; /* [d + 1] */
};

/* Attention of a row, and how far a kernel of this class that weighs n keys may be from it. */
void gate_certify(const struct cp_kernel *kernel, const struct gate_recipe *recipe, int n,
                  const struct cp_tolerance_row *row, const struct gate_numbers *numbers);

/* The same of rows of a problem, one after the other. NULL: no memory; free takes NULL. */
struct gate_row;
struct gate_row *gate_row_new(const struct gate_problem *problem);
void gate_row_certify(struct gate_row *room, const struct cp_kernel *kernel, int row, int head,
                      const struct gate_numbers *numbers);
void gate_row_free(struct gate_row *room);

/* GATE-1 for one number of a row that sees so many keys. */
enum gate_rightness { GATE_NUMBER_RIGHT, GATE_NUMBER_WRONG, GATE_NUMBER_UNCLAIMED };
enum gate_rightness gate_judge_number(int n_keys, double got, double expected, double bound);

/* Compares the results with attention, for at most `most` pairs (row, head), spread evenly; and
 * shows them to a tensor, unless it is NULL. 0, or -1: no memory. */
int gate_judge(const struct gate_problem *problem, const struct gate_arrays *arrays,
               const struct cp_kernel *kernel, int most, struct gate_finding *finding,
               struct gate_tensor *tensor);

/* The bytes that results are filled with before the two runs of a case. */
#define GATE_POISON       0xFF /* NaNs */
#define GATE_POISON_AGAIN 0xA5

/* Whether all of out and lse was written, nothing between the rows, and the same bits: two runs of
 * one call, with different poison. 0, or -1: no memory. */
int gate_judge_writes(const struct gate_problem *problem, const struct gate_arrays *one,
                      const struct gate_arrays *other, struct gate_finding *finding);

#endif
