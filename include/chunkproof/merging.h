/* SPDX-License-Identifier: Apache-2.0 */
/* Merging partial results that are finished (spec/merging.md): outputs o_i, each with its
 * log-sum-exp l_i, become one output and one log-sum-exp. Engines do so with the parts of a split
 * attention, and with the shards of a long context. Here are the reference, and how far a kernel
 * that merges may be from it. All numbers are double: a number of any format is one, exactly. */
#ifndef CHUNKPROOF_MERGING_H
#define CHUNKPROOF_MERGING_H

#include "chunkproof/number.h"
#include "chunkproof/status.h"
#include "chunkproof/tolerance.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The base of log-sum-exps: nats, or bits. */
#define CP_BASE_E 0
#define CP_BASE_2 1

#define CP_MERGING_LARGEST 0x1p1000 /* outputs are not larger, so that no sum overflows */

/* Where a part is given by a maximum and a sum, the sum is in this range (MERGING-12). */
#define CP_MERGING_LEAST_SUM 0x1p-64
#define CP_MERGING_MOST_SUM  0x1p64

/* The question: one query row and head. A part without keys has the log-sum-exp -INFINITY, and its
 * output is ignored. */
struct cp_merging_row {
    int n_parts;       /* P, from 0 to CP_TOLERANCE_MOST */
    int head_dim;      /* d, from 0 to CP_TOLERANCE_MOST */
    int base;          /* of l_i and of the result: CP_BASE_E or CP_BASE_2 */
    const double *o;   /* [P][d]: each from -CP_MERGING_LARGEST to CP_MERGING_LARGEST */
    const double *lse; /* [P]: finite, or -INFINITY */
    /* The least and the largest sum of the parts, where cp_merging_of_sums() made the row; 0 and 0
     * where parts have log-sum-exps (MERGING-12). They widen bounds, and change no result. */
    double least_sum, most_sum;
};

/* How a kernel goes from P parts to one result (MERGING-5). */
#define CP_MERGING_AT_ONCE   0 /* all weights for one reference; weights or sums divided by n */
#define CP_MERGING_STATES    1 /* states (m, n, o), two at a time; one division at the end */
#define CP_MERGING_PAIRWISE  2 /* results (o, l), two at a time; each merge divides */
#define CP_MERGING_UNDIVIDED 3 /* weights exp(l_i - l) of the computed l; no division */

/* Which merges of pairs a kernel makes (MERGING-5): each number of parts has a tree of them. */
#define CP_MERGING_ANY_TREE 0 /* any; one after the other is the deepest */
#define CP_MERGING_BALANCED 1 /* no part passes more than log2 P merges, rounded up */

/* How log-sum-exps come to the base of the kernel's exponential (MERGING-5). */
#define CP_CONVERTS_NONE       0 /* they have it */
#define CP_CONVERTS_DIFFERENCE 1 /* l_i - m is multiplied by a constant */
#define CP_CONVERTS_EACH       2 /* l_i and m are; they may be rounded apart */

/* The arithmetic class of a kernel that merges (MERGING-5). Weights, n and logarithms are computed
 * in binary32, or in binary64 if `values` is CP_FP64. Types are those of number.h. */
struct cp_merging_class {
    int way;       /* CP_MERGING_AT_ONCE, ... */
    int tree;      /* CP_MERGING_PAIRWISE: CP_MERGING_ANY_TREE or CP_MERGING_BALANCED; else 0 */
    int converts;  /* CP_CONVERTS_... */
    int weights;   /* type of a weight when it is multiplied by o_i; CP_FP32: not rounded */
    int values;    /* type in which products with o_i are computed and added */
    int partials;  /* type of o between two merges; CP_FP32: not rounded */
    int out_type;  /* of the output */
    int lse_type;  /* of the log-sum-exp, at the end and between two merges */
    int truncates; /* 1: results are truncated, not rounded to nearest */
    int flushes;   /* 1: subnormal numbers become 0 */
    /* From 0 to 2^-6. exp_error and div_error are relative. log_error is so where the logarithm is
     * above 1, and else absolute. */
    double exp_error, log_error, div_error;
    /* A reference is at most `above` above the largest l_i of the parts that it is for, and at most
     * `behind` below it, in nats: each from 0 to 64. `behind` is 0 but with CP_MERGING_AT_ONCE and
     * CP_MERGING_STATES. */
    double above, behind;
};

/* Parts as a maximum m_i and a sum n_i of weights exp(score - m_i), with or without the division of
 * outputs by it (MERGING-12): what kernels keep that have not finished. */
struct cp_merging_sums {
    int n_parts;     /* P, from 0 to CP_TOLERANCE_MOST */
    int head_dim;    /* d, from 0 to CP_TOLERANCE_MOST */
    int base;        /* of m_i, and of n_i: sums of exponentials of this base */
    int is_divided;  /* 1: o is outputs; 0: sums of weighted values, n_i times as large */
    const double *m; /* [P]: finite where n_i is not 0 */
    const double *n; /* [P]: 0, no key; or CP_MERGING_LEAST_SUM to CP_MERGING_MOST_SUM */
    const double *o; /* [P][d]; of a part without keys it is not read */
};

#ifdef __FRAMAC__
#include "proofs/logic/merging.h"
#endif

/* The merged output and log-sum-exp of a row, in the order of its parts (MERGING-1): out[d], and
 * *lse in the base of the row. Parts without keys change no bit. One part with keys is returned as
 * it is (MERGING-2). Without such a part, out is zeros and *lse is -INFINITY. If the parts are the
 * results of shards that have no key in common, this is attention over all keys (MERGING-3).
 *
 * Returns CP_ERROR_ARGUMENT, and writes nothing, if a number of the row is out of the range above.
 * So a NaN and a log-sum-exp of INFINITY are refused, and so is an output that is not finite, of a
 * part without keys, too. Allocates nothing. */
/*@
  requires valid: \valid_read(row) && merging_valid(*row);
  requires valid_out: \valid(out + (0 .. row->head_dim - 1)) && \valid(lse);
  requires apart: \separated(out + (0 .. row->head_dim - 1), lse, row) &&
    merging_apart(out, row->head_dim, *row) && merging_apart(lse, 1, *row);
  assigns out[0 .. row->head_dim - 1], *lse;
  ensures merging_8: \result == CP_OK || \result == CP_ERROR_ARGUMENT;
  ensures merging_8_ok: \result == CP_OK ==> merging_sizes_ok(*row);
  ensures merging_1_lse: \result == CP_OK && parts_weight{Pre}(*row, row->n_parts) != 0.0 ==>
    e(product(unit_of(row->base), *lse)) == parts_weight{Pre}(*row, row->n_parts);
  ensures merging_1_mean: \result == CP_OK ==> merged{Pre,Post}(*row, out);
  ensures merging_2_none: \result == CP_OK && none_has_keys{Pre}(*row) ==>
    minus_infinity(*lse) && \forall integer i; 0 <= i < row->head_dim ==> is_zero(out[i]);
*/
int cp_merging(const struct cp_merging_row *row, double *out, double *lse);

/* The certified bounds of a kernel of the class (MERGING-6, MERGING-7):
 *
 *   expected[i]        the merged output, up to a small error
 *   bound[i]           how far from expected[i] a kernel of the class may be
 *   *lse, *lse_bound   likewise for the log-sum-exp, in the base of the row
 *
 * scratch has 5 n_parts numbers, which are overwritten. A bound is INFINITY where nothing is
 * guaranteed: where cp_tolerance() (tolerance.h) says so of keys with these scores and values. If
 * no part has a key, expected is zeros, *lse is -INFINITY, and a kernel has to write exactly these.
 *
 * Returns CP_ERROR_ARGUMENT, and writes nothing, if a number of the row or of the class is out of
 * its range: as cp_merging() does. Allocates nothing. Takes the time of d calls of cp_tolerance()
 * with P keys of one number each. */
/*@
  requires valid: \valid_read(declared) && \valid_read(row) && merging_valid(*row);
  requires valid_scratch: \valid(scratch + (0 .. 5 * row->n_parts - 1));
  requires valid_results: \valid(expected + (0 .. row->head_dim - 1)) &&
    \valid(bound + (0 .. row->head_dim - 1)) && \valid(lse) && \valid(lse_bound);
  requires apart: MERGING_APART(declared, row, scratch, expected, bound, lse, lse_bound);
  requires apart_row: merging_apart(scratch, 5 * row->n_parts, *row) &&
    merging_apart(expected, row->head_dim, *row) && merging_apart(bound, row->head_dim, *row) &&
    merging_apart(lse, 1, *row) && merging_apart(lse_bound, 1, *row);
  assigns scratch[0 .. 5 * row->n_parts - 1], expected[0 .. row->head_dim - 1],
    bound[0 .. row->head_dim - 1], *lse, *lse_bound;
  ensures merging_8: \result == CP_OK || \result == CP_ERROR_ARGUMENT;
  ensures merging_6: \result == CP_OK ==> are_bounds(bound, row->head_dim);
  ensures merging_7: \result == CP_OK ==> is_bound(*lse_bound);
*/
int cp_merging_tolerance(const struct cp_merging_class *declared, const struct cp_merging_row *row,
                         double *scratch, double *expected, double *bound, double *lse,
                         double *lse_bound);

/* The same parts as outputs and log-sum-exps: l_i = m_i + ln n_i, in the base of the parts, and o_i
 * or o_i / n_i, each within a few units of binary64. row->lse and row->o become lse[P] and
 * o[P][d]; a part without keys gets -INFINITY and zeros. What rounding loses here is in the bounds
 * of cp_merging_tolerance() for the row.
 *
 * Returns CP_ERROR_ARGUMENT, and row has no parts then, if a size, m or n is out of the range
 * above. Outputs are looked at when the row is merged. Allocates nothing. */
/*@
  requires valid: \valid_read(given) && sums_valid(*given) && \valid(row);
  requires valid_to: \valid(lse + (0 .. given->n_parts - 1)) &&
    (0 <= given->n_parts && 0 <= given->head_dim ==>
      \valid(o + (0 .. row_at(given->n_parts, given->head_dim) - 1)));
  requires apart: SUMS_APART(given, row, o, lse);
  assigns *row, lse[0 .. given->n_parts - 1],
    o[0 .. row_at(given->n_parts, given->head_dim) - 1];
  ensures merging_12: \result == CP_OK ==> row->lse == lse && row->o == o &&
    row->n_parts == given->n_parts && row->head_dim == given->head_dim && row->base == given->base;
  ensures merging_12_sums: \result == CP_OK ==> sums_ok(row->least_sum, row->most_sum);
  ensures refused: \result == CP_ERROR_ARGUMENT ==> row->n_parts == 0;
  ensures results: \result == CP_OK || \result == CP_ERROR_ARGUMENT;
*/
int cp_merging_of_sums(const struct cp_merging_sums *given, double *o, double *lse,
                       struct cp_merging_row *row);

#ifdef __cplusplus
}
#endif

#endif
