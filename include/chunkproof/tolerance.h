/* SPDX-License-Identifier: Apache-2.0 */
/* The certified tolerance (spec/tolerance.md): how far the result of a kernel may be from attention
 * when rounding is all that is wrong with it. A kernel declares its arithmetic class; the bound
 * follows from that and from the data, for each number of the output, by a theorem
 * (proofs/coq/NumTolerance.v). */
#ifndef CHUNKPROOF_TOLERANCE_H
#define CHUNKPROOF_TOLERANCE_H

#include "chunkproof/number.h"

#ifdef __cplusplus
extern "C" {
#endif

/* NUM-4: y is x rounded when |y - x| <= max(unit |x|, tiny); no infinity up to `largest`. A format
 * without an error (a weight that is not rounded at all) has unit = tiny = 0. */
struct cp_format {
    double unit;
    double tiny;
    double largest;
};

/* NUM-6: how a score is computed: terms (products) with an error; their sum, with `depth` additions
 * on the longest way and `n_additions` in all; and the scaling. */
struct cp_score_arithmetic {
    double term_unit, term_tiny; /* G - 1, t */
    double unit, tiny;           /* of an addition */
    int depth, n_additions;      /* k, n */
    double scale_unit, scale_tiny;
    int scaled_before; /* 1: the query is scaled, then multiplied; 0: the sum is scaled */
    int as_one;        /* NUM-20: how many additions count as one in NUM-13; 0: each does */
};

/* NUM-7: the class. All numbers are >= 0; the names are those of the specification.
 *
 * `above` and `below` say where references lie. A reference is at most `above` more than the
 * largest computed score of the keys so far. It is at most `below` less than that score, and at
 * most `below` less than the reference before it.  Three examples:
 *   - The running maximum: both are 0.
 *   - A maximum that stays until a score exceeds it by x: below = x.
 *   - A state that is divided at once (NUM-8), whose reference is a log-sum-exp: above = the
 *     logarithm of the number of keys, plus the error of the log-sum-exp; below = that error. */
struct cp_arithmetic {
    struct cp_score_arithmetic score;
    double u_arg, u_ref, u_move; /* of the argument of the exponential */
    double eps, kappa;           /* errors of its result: as a logarithm; absolute */
    struct cp_format weights;    /* P */
    int rounded_sum;             /* 1: the row sum takes the rounded P */
    double u_n, eta_n, u_o, eta_o, u_part;
    double u_div, eta_div;
    struct cp_format output;
    double above, below;
    int as_one_o; /* NUM-20: how many additions for o count as one in NUM-13; 0: each does */
};

/* NUM-8: how many operations there are, on the longest way from a key and in all. */
struct cp_counts {
    int depth_n, depth_o, stores, changes;
    double operations_n, operations_o;
};

#define CP_TOLERANCE_MOST (1 << 20) /* the most keys, and numbers per key, with a claimed bound */

/* The question: one query row and head. Scores that are changed before they are weighed (NUM-14)
 * have shift and shift_error, both or neither. The score of key j is scale (q . k_j) + shift[j]. A
 * kernel's may be off by shift_error[j] >= 0 more than NUM-6 says. A sink is a key whose rows in k
 * and v are zeros, and whose score is its shift. */
struct cp_tolerance_row {
    int n_keys;
    int head_dim;  /* d: numbers of a key */
    int value_dim; /* d_v: of a value, as many as there are bounds (WIDTH-1) */
    double scale;
    const double *q;           /* [head_dim] */
    const double *k;           /* [n_keys][head_dim] */
    const double *v;           /* [n_keys][value_dim] */
    double *scratch;           /* 3 n_keys numbers, overwritten */
    const double *shift;       /* [n_keys], in nats; NULL: the scores are those of NUM-6 */
    const double *shift_error; /* [n_keys], in nats; NULL where shift is NULL */
};

#ifdef __FRAMAC__
#include "proofs/logic/tolerance.h"
#endif

/* The format, rounded to nearest; cp_format_truncating() and cp_format_flushing() weaken one. The
 * tiny of binary64 is twice that of NUM-4, which is half the smallest double and so no double. */
/*@
  assigns \nothing;
  ensures num_4: format_is(\result, 0x1p-11, 0x1p-25, 65504.0);
*/
struct cp_format cp_format_fp16(void);
/*@
  assigns \nothing;
  ensures num_4: format_is(\result, 0x1p-8, 0x1p-134, 0x1.FEp127);
*/
struct cp_format cp_format_bf16(void);
/*@
  assigns \nothing;
  ensures num_4: format_is(\result, 0x1p-24, 0x1p-150, 0x1.FFFFFEp127);
*/
struct cp_format cp_format_fp32(void);
/*@
  assigns \nothing;
  ensures num_4: format_is(\result, 0x1p-53, 0x1p-1074, 0x1.FFFFFFFFFFFFFp1023);
*/
struct cp_format cp_format_fp64(void);
/*@
  requires ok: format_ok(format);
  assigns \nothing;
  ensures num_4: format_is(\result, 2.0 * format.unit, 2.0 * format.tiny, format.largest);
  ensures num_4_ok: format_ok(\result);
*/
struct cp_format cp_format_truncating(struct cp_format format);
/*@
  requires ok: format_ok(format) && 0.0 < format.unit;
  assigns \nothing;
  ensures num_4: \result.tiny * format.unit == format.tiny;
  ensures num_4_same: \result.unit == format.unit && \result.largest == format.largest;
  ensures num_4_ok: format_ok(\result);
*/
struct cp_format cp_format_flushing(struct cp_format format); /* subnormal numbers become 0 */

/* The counts of n_chunks >= 1 chunks of at most chunk_size >= 1 keys each, merged two at a time in
 * any order. */
/*@
  requires sizes: 1 <= chunk_size && 1 <= n_chunks;
  requires small: chunk_size + 1 + 2 * (n_chunks - 1) <= INT32_MAX;
  assigns \nothing;
  ensures num_8_depth: \result.depth_n == chunk_size + 2 * (n_chunks - 1) &&
    \result.depth_o == chunk_size + 1 + 2 * (n_chunks - 1);
  ensures num_8_changes: \result.stores == n_chunks - 1 && \result.changes == n_chunks - 1;
  ensures num_8_n: \result.operations_n == (real)chunk_size * n_chunks + 5.0 * (n_chunks - 1);
  ensures num_8_o: \result.operations_o == 2.0 * chunk_size * n_chunks + 5.0 * (n_chunks - 1);
  ensures num_8_ok: counts_ok(\result);
*/
struct cp_counts cp_counts_of_chunks(int chunk_size, int n_chunks);

/* NUM-20: how many binary32 additions equal one of the type, CP_FP16 or CP_BF16. */
/*@
  requires type: type == CP_FP16 || type == CP_BF16;
  assigns \nothing;
  ensures num_20_fp16: type == CP_FP16 ==> \result == 0x1p-11 / 0x1p-24;
  ensures num_20_bf16: type == CP_BF16 ==> \result == 0x1p-8 / 0x1p-24;
*/
int cp_additions_as_one(int type);

/* The depth, in additions of binary32, of a sum of short sums: on the way of a term, `additions` of
 * the type, and then `promoted` of binary32. */
/*@
  requires type: type == CP_FP16 || type == CP_BF16;
  requires sizes: 0 <= additions <= 1024 && 0 <= promoted <= INT32_MAX / 2;
  assigns \nothing;
  ensures num_20: \result == as_one(type) * additions + promoted;
  ensures num_20_errs: power(1.0 + unit_of_short(type), additions) *
    power(1.0 + 0x1p-24, promoted) <= power(1.0 + 0x1p-24, \result);
*/
int cp_depth_of_short_sums(int type, int additions, int promoted);

/* The class of a plain kernel with d numbers per key: products and sums are in binary32, to
 * nearest, one after the other; the exponential is within one unit in the last place; P and the
 * output are in the formats given. */
/*@
  requires size: 0 <= d;
  requires ok: format_ok(weights) && format_ok(output);
  assigns \nothing;
  ensures num_7_ok: arithmetic_ok(\result);
  ensures num_7_formats: \result.weights == weights && \result.output == output;
  ensures num_6: plain_scores(\result.score, d, 0x1p-24, 0x1p-149);
  ensures num_6_depth: \result.score.depth == d && \result.score.n_additions == d;
  ensures num_7_units: \result.score.unit == 0x1p-24 && \result.u_n == 0x1p-24 &&
    \result.u_o == 0x1p-24 && \result.u_div == 0x1p-24;
*/
struct cp_arithmetic cp_arithmetic_fp32(int d, struct cp_format weights, struct cp_format output);

/* The class of the reference itself: all in binary64. */
/*@
  requires size: 0 <= d;
  assigns \nothing;
  ensures num_7_ok: arithmetic_ok(\result);
  ensures num_6: plain_scores(\result.score, d, 0x1p-53, 0x1p-1074);
  ensures num_6_depth: \result.score.depth == d && \result.score.n_additions == d;
  ensures num_7_units: \result.score.unit == 0x1p-53 && \result.u_n == 0x1p-53 &&
    \result.u_o == 0x1p-53 && \result.u_div == 0x1p-53;
*/
struct cp_arithmetic cp_arithmetic_fp64(int d);

/* NUM-21: the class of a kernel whose reference is near the maximum of its keys' computed scores,
 * and not at it: at most `width` nats above and below together. *arithmetic, the class of its
 * operations, becomes the class of the same numbers in the scale of the maximum. There references
 * only rise, so that nothing adds up along a row: above = below = 0. A score errs by at most
 * `of_scores`, in nats. States are not divided (`u_part` of NUM-8 is stores alone). */
/*@
  requires valid: \valid(arithmetic);
  requires ok: arithmetic_ok(*arithmetic) && 0.0 <= width && 0.0 <= of_scores;
  assigns *arithmetic;
  ensures num_7_ok: arithmetic_ok(*arithmetic);
  ensures num_21: follows(\old(*arithmetic), width + 2.0 * of_scores, *arithmetic);
  ensures num_21_references: is_zero(arithmetic->above) && is_zero(arithmetic->below);
  ensures num_21_score: arithmetic->score == \old(arithmetic->score);
*/
void cp_follow_maximum(struct cp_arithmetic *arithmetic, double width, double of_scores);

/* NUM-6: the error of a score, rounded upwards; magnitude is |scale| sum |q_i k_i|. */
/*@
  requires valid: \valid_read(arithmetic);
  requires ok: score_arithmetic_ok(*arithmetic) && 0 <= d && 0.0 <= magnitude;
  assigns \nothing;
  ensures num_6: 0.0 <= score_error(*arithmetic, scale, d, magnitude) <= \result;
*/
double cp_score_error(const struct cp_score_arithmetic *arithmetic, double scale, int d,
                      double magnitude);

/* NUM-10, NUM-11: the certified bounds of one row.
 *
 *   expected[i]        attention, up to a small error
 *   bound[i]           how far from expected[i] a kernel of the class may be: B, plus the error of
 *                      expected[i] itself
 *   *lse, *lse_bound   likewise for a log-sum-exp (nats) that the kernel computes with an error of
 *                      at most lse_error; NULL: not asked for
 *
 * A bound is INFINITY where nothing is guaranteed:
 *   - there is no key (then zeros and -infinity are demanded);
 *   - the weights are too uncertain (`left` <= 0);
 *   - the result may overflow the output's format (NUM-12);
 *   - n_keys, head_dim or value_dim is above CP_TOLERANCE_MOST;
 *   - a score comes from numbers so large that binary64 computes it with an error above 2^-30;
 *   - a shift or its error is not finite;
 *   - a factor of the formula is beyond binary64, as exp(high) / W is from about `above` = 709 on.
 * Where a bound is INFINITY, expected and lse mean nothing, unless there is no key.
 *
 * No bound is below the exact value of the formula: tolerance.c says why, and has an example.
 * Computing the bounds costs about as much as attention. */
/*@
  requires valid: \valid_read(arithmetic) && \valid_read(counts) && \valid_read(row);
  requires valid_row: row_valid(*row) && results_valid_for(*row, expected, bound);
  requires valid_lse: lse != \null ==> \valid(lse) && \valid(lse_bound + (0 .. 0));
  requires apart: ROW_APART(arithmetic, counts, row, expected, bound);
  requires apart_row: results_apart_from(*row, expected, bound);
  requires apart_lse: lse != \null ==> \separated(lse, lse_bound, arithmetic, counts, row,
    SCRATCH_OF(row), COLUMNS_OF(row, expected), COLUMNS_OF(row, bound)) &&
    apart_from_row(lse, 1, *row) && apart_from_row(lse_bound, 1, *row);
  requires ok: arithmetic_ok(*arithmetic) && counts_ok(*counts) && 0.0 <= lse_error;
  requires shifts: shifts_ok(*row);
  assigns *(SCRATCH_OF(row)), RESULTS_OF_ROW(row, expected, bound), *lse, *lse_bound;
  ensures num_10_bound: are_bounds(bound, row->value_dim);
  ensures num_11_bound: lse != \null ==> is_bound(*lse_bound);
  behavior claims: assumes 1 <= row->n_keys && row_within(*row);
    ensures num_10: row_claimed{Pre,Post}(*arithmetic, *counts, *row, expected, bound);
    ensures num_11: lse != \null ==>
      lse_claimed{Pre,Post}(*arithmetic, *counts, *row, lse_error, *lse, *lse_bound);
  behavior not_asked_for_lse: assumes lse == \null;
    assigns *(SCRATCH_OF(row)), RESULTS_OF_ROW(row, expected, bound);
  behavior no_claim: assumes row->n_keys < 1 || !row_within(*row);
    assigns RESULTS_OF_ROW(row, expected, bound), *lse, *lse_bound;
    ensures num_12_zeros: none_claimed(expected, bound, row->value_dim);
    ensures num_12_lse: lse != \null ==> !finite(*lse) && !finite(*lse_bound);
*/
void cp_tolerance(const struct cp_arithmetic *arithmetic, const struct cp_counts *counts,
                  const struct cp_tolerance_row *row, double lse_error, double *expected,
                  double *bound, double *lse, double *lse_bound);

#ifdef __cplusplus
}
#endif

#endif
