/* SPDX-License-Identifier: Apache-2.0 */
/* The judge: are the numbers of a result within the certified tolerance of attention (GATE-1), and
 * was everything written that must be, and nothing else (GATE-3)? */
#ifndef CHUNKPROOF_GATE_JUDGE_JUDGE_H
#define CHUNKPROOF_GATE_JUDGE_JUDGE_H

#include "chunkproof/tolerance.h"
#include "gate/case/layout.h"
#include "gate/judge/class.h"
#include "gate/judge/finding.h"
#include "gate/judge/rules.h"

/* Attention of one row and head, and the bound of each number: d_v elements, then the
 * log-sum-exp. */
struct gate_numbers {
    double *expected, *bound; /* [d_v + 1] */
    double *usual;            /* [d_v] the usual error (NUM-13); NULL: not asked for */
    /* 1: a number must be finite even where its bound is not (GATE-12). NULL: not asked for. */
    int *must_be_finite;
    int sees_sink; /* 1: key 0 of the row is a sink (SCORE-3) */
};

/* A number that is right, and further from attention than so many times the usual error, is worth a
 * warning: kernels that round to nearest stay below 3 times on the average (NUM-13). */
#define GATE_UNUSUAL 30.0

/* In how many steps a kernel weighs the keys that a row sees, when no step crosses the end of a run
 * (GATE-2). */
int gate_steps_of_row(const struct cp_kernel *kernel, const struct gate_problem *problem, int row);

/* Into how many partial results, when it weighs them in so many steps. */
int gate_parts_of_row(const struct cp_kernel *kernel, const struct gate_problem *problem, int row,
                      int steps);

/* Attention of a row, and how far from it a kernel of the declared class may be. Where keys are
 * rotated, K of the row has their products instead: gate_n_terms() numbers. The log-sum-exp is
 * number d_v. A sink counts as a key and as a step. Of `shape`, what the scores are is found in the
 * row; the rest is the caller's. */
void gate_certify(const struct cp_kernel *kernel, const struct gate_row *shape,
                  const struct cp_tolerance_row *row, const struct gate_numbers *numbers);

/* GATE-14: the largest numbers of a query and of a key that is rotated by row `angle`. */
void gate_rotated_extend(const struct gate_rotation *rotation, int angle, int d, const double *q,
                         const double *k, struct gate_rotated *rotated);

/* CONV-10: of a query and a cache of 8 bits. */
void gate_cached_extend(const struct gate_cache *cache, int d, const double *q,
                        struct gate_rotated *rotated);

/* CONV-4: the largest numbers of a query that is scaled, and of a key, which may be rotated by row
 * `angle`. */
void gate_scaled_extend(const struct gate_rotation *rotation, int angle, int d, double scale,
                        const double *q, const double *k, struct gate_rotated *rotated);

/* The same for rows of a problem, one after the other, in scratch memory that fits each of them.
 * gate_scratch_new() returns NULL where there is no memory; gate_scratch_free() takes NULL. */
struct gate_scratch;
struct gate_scratch *gate_scratch_new(const struct gate_problem *problem);
void gate_certify_row(struct gate_scratch *scratch, const struct cp_kernel *kernel, int row,
                      int head, const struct gate_numbers *numbers);
void gate_scratch_free(struct gate_scratch *scratch);

/* 1: the log-sum-exp of a row is that of keys, or of a sink (SCORE-3); 0: it is what the kernel
 * declares of rows without keys. */
int gate_has_lse(const struct cp_kernel *kernel, const struct gate_problem *problem, int row);

/* GATE-1 for one number of a row that sees so many keys. */
enum gate_rightness { GATE_NUMBER_RIGHT, GATE_NUMBER_WRONG, GATE_NUMBER_UNCLAIMED };
enum gate_rightness gate_judge_number(int n_keys, double got, double expected, double bound);

/* An error as a multiple of its bound; above 1 for whatever is not right. */
double gate_ratio_of(double error, double bound, int right);

/* Compares the results with attention, for at most `most` pairs (row, head) that are spread evenly,
 * and for the problem's `also`.
 * Adds the pairs to `tensor` unless that is NULL. 0, or -1: no memory. */
int gate_judge(const struct gate_problem *problem, const struct gate_arrays *arrays,
               const struct cp_kernel *kernel, int most, struct gate_finding *finding,
               struct gate_tensor *tensor);

/* The bytes that fill the results before each of the two runs of a case. */
#define GATE_POISON       0xFF /* NaNs */
#define GATE_POISON_AGAIN 0x40 /* 3 as binary32 or bfloat16, 2.1 as binary16, 32.5 as binary64 */

/* Compares two runs of one call, which began with different poison: was all of out and lse written,
 * was nothing between the rows written, and are the bits the same? 0, or -1: no memory. */
int gate_judge_writes(const struct gate_problem *problem, const struct gate_arrays *one,
                      const struct gate_arrays *other, struct gate_finding *finding);

#endif
