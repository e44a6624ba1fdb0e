/* SPDX-License-Identifier: Apache-2.0 */
/* The arithmetic class and the counts of operations by which the certified tolerance of a row is
 * computed. */
#ifndef CHUNKPROOF_GATE_JUDGE_CLASS_H
#define CHUNKPROOF_GATE_JUDGE_CLASS_H

#include "chunkproof/kernel.h"
#include "chunkproof/score_shift.h"
#include "chunkproof/tolerance.h"
#include "gate/case/recipe.h"

/* How many steps weigh the first n keys of a path, when no step crosses the end of a chunk. */
int gate_steps(const struct cp_kernel *kernel, int chunk_size, int n);

/* GATE-14: of a row with rotated keys, the largest number of the query or a key, the largest that
 * one of them may become, and whether the table has quarter turns. Zeros where keys are placed.
 * CONV-4: where the query is scaled, its largest number times the scale, and the largest number of
 * a key, also rotated, divided by the scale; else zeros. */
struct gate_rotated {
    double number, sum;
    int quarters;
    double scaled, key;
    /* NUM-19: of a cache of 8 bits the largest number of the query; 1 / the least scale of V, the
     * largest scale of K, and that of V, or 1 if that is more. Else 0, 1, 1, 1. */
    double query, over_scale, k_scale, v_scale;
};

/* What of a row its class depends on. */
struct gate_row {
    int d, n;             /* numbers of a key; keys that the row sees, a sink among them */
    int steps, parts;     /* steps that weigh them, and partial results; 0: a part for each step */
    double largest_score; /* its magnitude, scaled, shifted or not */
    double scale;
    double products;    /* the largest sum of abs(q_i k_i), not scaled */
    double shift_error; /* the largest error of a shift (NUM-14) */
    const struct gate_rotated *rotated;
};

/* GATE-2: into how many partial results the keys of a row may be split, which are weighed in so
 * many steps. There are so many keys from the first to the last; so many partial results may be
 * short, as the first and the last one. */
int gate_parts(const struct cp_kernel *kernel, int steps, int keys, int n_short);

/* What the kernel declares (NUM-7), and the counts (NUM-8). */
void gate_class_of_row(const struct cp_kernel *kernel, const struct gate_row *row,
                       struct cp_arithmetic *arithmetic, struct cp_counts *counts);

/* Of these alone how a score is computed (NUM-6). */
struct cp_score_arithmetic gate_class_of_score(const struct cp_kernel *kernel, int d,
                                               const struct gate_rotated *rotated);

/* How large the numbers of a row are: of a score the sum of abs(q_i k_i), not scaled, and the
 * scaled score, shifted or not; of V one number, and the sum of a column. Each is the largest. */
struct gate_extent {
    double products, score, value, column;
};

struct gate_extent gate_extent_of(const struct cp_tolerance_row *row);

/* NUM-15: how a score is changed, and a sink read. */
struct cp_shift_arithmetic gate_class_of_shift(const struct cp_kernel *kernel);

/* ... for the first n keys of a path, with the sizes of a recipe. */
void gate_class(const struct cp_kernel *kernel, const struct gate_recipe *recipe, int n,
                double largest_score, struct cp_arithmetic *arithmetic, struct cp_counts *counts);

/* GATE-12: may a kernel of the class leave a format on its way to a result that does not? */
enum gate_overflow {
    GATE_MAY_OVERFLOW, /* a sum in binary16 may: nothing is claimed */
    GATE_UNKNOWN,
    GATE_STAYS_FINITE /* nothing may, even where the bound is infinite */
};
enum gate_overflow
gate_overflow_of(const struct cp_kernel *kernel, const struct cp_arithmetic *arithmetic,
                 const struct cp_counts *counts, const struct cp_tolerance_row *row,
                 const struct gate_extent *extent, const struct gate_rotated *rotated);

/* The error that the kernel's logarithm and format add to a log-sum-exp. */
double gate_lse_error(const struct cp_kernel *kernel, int n, double largest_score);

#endif
