/* SPDX-License-Identifier: Apache-2.0 */
/* From what a kernel declares (struct cp_kernel_class, kernel.h) to numbers of NUM-7 and NUM-8,
 * where that takes a formula: caches of 8 bits (NUM-19), scaled queries (CONV-4), factors,
 * divisions and weights (GATE-15), counts (GATE-2), and references that are log-sum-exps
 * (GATE-2, NUM-22). `chunkproof gate` judges by these numbers, and `chunkproof bound` shows what
 * follows from them.
 *
 * Each function writes the fields of a class, or of counts, that its clause names. Every
 * operation rounds upwards (tolerance_internal.h), so that no number comes out below its
 * formula. */
#ifndef CHUNKPROOF_KERNEL_CLASS_H
#define CHUNKPROOF_KERNEL_CLASS_H

#include "chunkproof/kernel.h"
#include "chunkproof/score_shift.h"
#include "chunkproof/tolerance.h"

#ifdef __cplusplus
extern "C" {
#endif

#define CP_CLASS_MOST (1 << 24) /* the most keys, steps, parts or changes of a row, each */

/* NUM-19: of a row and its cache the largest number of the query; 1 / the least scale of V, or 1 if
 * that is more; the largest scale of K, and of V, or 1 if that is more. */
struct cp_class_scales {
    double query, over_v, k, v;
    int rotates; /* 1: keys are rotated once they have their scale (GATE-14) */
};

#ifdef __FRAMAC__
#include "proofs/logic/kernel_class.h"
#endif

/* (1 + a) (1 + b) - 1: two errors, one behind the other. */
/*@
  requires ok: 0.0 <= a && 0.0 <= b;
  assigns \nothing;
  ensures gate_15: 0.0 <= compound(a, b) <= \result;
*/
double cp_class_compound(double a, double b);

/* The format of a type, as the class rounds to it (NUM-4). exact != 0: what is rounded has that
 * type already, and loses nothing unless it is flushed. */
/*@
  requires valid: \valid_read(declared);
  requires type: wide_type(type);
  assigns \nothing;
  ensures num_4_unit: \result.unit == (exact != 0 ? 0.0 : unit_of(*declared, type));
  ensures num_4_tiny: \result.tiny ==
    (exact != 0 && declared->flushes == 0 ? 0.0 : tiny_of(*declared, type));
  ensures num_4_ok: format_ok(\result);
*/
struct cp_format cp_class_format(const struct cp_kernel_class *declared, int type, int exact);

/* GATE-2: p, into how many partial results the keys of a row may be split, which are weighed in so
 * many steps. There are `keys` from the first to the last; `n_short` partial results may be short,
 * as the first and the last one. */
/*@
  requires valid: \valid_read(declared);
  requires sizes: 0 <= steps <= CP_CLASS_MOST && 0 <= keys && 0 <= n_short <= 8;
  requires ok: 0 <= declared->n_parts && 0 <= declared->part_keys;
  requires small: declared->part_keys > 0 ==> keys / declared->part_keys + n_short <= INT32_MAX;
  assigns \nothing;
  ensures gate_2_parts: \result == parts_of(*declared, steps, keys, n_short);
*/
int cp_class_parts(const struct cp_kernel_class *declared, int steps, int keys, int n_short);

/* GATE-2: D, how many divisions there are on the way of a key: of its own part, and of the
 * result of each merge. */
/*@
  requires valid: \valid_read(declared);
  requires size: 0 <= parts <= CP_CLASS_MOST;
  assigns \nothing;
  ensures gate_2_divisions: \result == divisions_of(*declared, parts);
*/
int cp_class_divisions(const struct cp_kernel_class *declared, int parts);

/* GATE-2, for any order of merges: n keys that are weighed in so many steps, in so many parts. */
/*@
  requires valid: \valid_read(declared);
  requires sizes: 0 <= n <= CP_CLASS_MOST && 0 <= steps <= CP_CLASS_MOST &&
    0 <= parts <= CP_CLASS_MOST;
  assigns \nothing;
  ensures gate_2_depth_n: \result.depth_n == n + 2 * (steps + parts);
  ensures gate_2_depth_o: \result.depth_o ==
    n + 1 + 2 * (steps + parts) + divisions_of(*declared, parts);
  ensures gate_2_changes: \result.changes == steps + parts + divisions_of(*declared, parts);
  ensures gate_2_stores: \result.stores ==
    (declared->partials == CP_FP32 ? divisions_of(*declared, parts) : \result.changes -
      divisions_of(*declared, parts));
  ensures gate_2_operations: \result.operations_n ==
    n + (declared->divides != 0 ? 7 : 5) * (steps + parts) && \result.operations_o ==
    2.0 * n + (declared->divides != 0 ? 9 : 5) * (steps + parts);
  ensures num_8_ok: counts_ok(\result);
*/
struct cp_counts cp_class_counts(const struct cp_kernel_class *declared, int n, int steps,
                                 int parts);

/* NUM-15: how the class changes a score, and reads a sink. */
/*@
  requires valid: \valid_read(declared);
  requires ok: 0.0 <= declared->tanh_error && 0.0 <= declared->tanh_absolute;
  assigns \nothing;
  ensures num_15_unit: \result.unit == unit_of(*declared, type_of_shift(*declared));
  ensures num_15_tiny: \result.tiny == tiny_of(*declared, type_of_shift(*declared));
  ensures num_15_tanh: \result.tanh_error == declared->tanh_error &&
    \result.tanh_absolute == declared->tanh_absolute;
*/
struct cp_shift_arithmetic cp_class_of_shift(const struct cp_kernel_class *declared);

/* CONV-4: the query times the scale is rounded, as a product and then to a format. `key`: the
 * largest number of a key, divided by abs(scale). */
/*@
  requires valid: \valid(score);
  requires ok: format_ok(product) && format_ok(format) && 0.0 <= key && score_arithmetic_ok(*score);
  assigns score->term_unit, score->term_tiny;
  ensures conv_4_unit: scaled_unit(product, format, \old(*score)) <= score->term_unit;
  ensures conv_4_tiny: scaled_tiny(product, format, key, \old(*score)) <= score->term_tiny;
  ensures num_6_ok: score_arithmetic_ok(*score);
*/
void cp_class_scale_query(struct cp_format product, struct cp_format format, double key,
                          struct cp_score_arithmetic *score);

/* NUM-19: products with scales, of K and V that have 8 bits. A number of K that is rotated
 * is a sum of two, each of which has left less than twice as much. */
/*@
  requires valid: \valid_read(declared) && \valid_read(cache) && \valid_read(scales) && \valid(a);
  requires apart: \separated(a, declared, cache, scales);
  requires ok: arithmetic_ok(*a) && scales_ok(*scales) && cache_ok(*cache);
  requires types: wide_type(declared->k_dequantised) && wide_type(declared->v_dequantised);
  assigns a->score.term_unit, a->score.term_tiny, a->score.tiny, a->weights.unit, a->weights.tiny,
    a->eta_o;
  ensures num_7_ok: arithmetic_ok(*a);
  ensures num_19_plain: cache->k == CP_CACHE_PLAIN ==> a->score == \old(a->score);
  ensures num_19_keys: cache->k != CP_CACHE_PLAIN ==>
    keys_scaled(*declared, *scales, cache->k, \old(a->score), a->score);
  ensures num_19_weights: cache->v != CP_CACHE_PLAIN && declared->rounded_sum == 0 ==>
    weights_scaled(*declared, *scales, \old(a->weights), a->weights);
  ensures num_19_shared: cache->v == CP_CACHE_PLAIN || declared->rounded_sum != 0 ==>
    a->weights == \old(a->weights);
  ensures num_19_sum: cache->v != CP_CACHE_PLAIN ==>
    product(\old(a->eta_o), \max(1.0, scales->v)) + left_of(*declared, declared->v_dequantised) +
    tiny_of(*declared, type_of_products(*declared)) <= a->eta_o;
*/
void cp_class_dequantise(const struct cp_kernel_class *declared,
                         const struct cp_kernel_cache *cache, const struct cp_class_scales *scales,
                         struct cp_arithmetic *a);

/* GATE-15, `factors`: those that are rounded have a larger error, as logarithms, and may be 0. */
/*@
  requires valid: \valid_read(declared) && \valid(a) && \separated(declared, a);
  requires ok: arithmetic_ok(*a);
  assigns a->eps, a->kappa;
  ensures num_7_ok: arithmetic_ok(*a);
  ensures gate_15_none: declared->factors == CP_FACTORS_FP32 ==>
    a->eps == \old(a->eps) && a->kappa == \old(a->kappa);
  ensures gate_15_eps: declared->factors != CP_FACTORS_FP32 ==>
    e(\old(a->eps) - a->eps) <= 1.0 - unit_of(*declared, type_of_factors(*declared));
  ensures gate_15_kappa: declared->factors != CP_FACTORS_FP32 ==>
    \old(a->kappa) <= a->kappa && tiny_of(*declared, type_of_factors(*declared)) <= a->kappa;
*/
void cp_class_round_factors(const struct cp_kernel_class *declared, struct cp_arithmetic *a);

/* NUM-19: where n takes the rounded weights, and so cannot share the roundings of a number of V,
 * they count as w additions of o. Once the counts are known. */
/*@
  requires valid: \valid_read(declared) && \valid_read(cache) && \valid(a) && \valid(counts);
  requires apart: \separated(declared, cache, a, counts);
  requires ok: arithmetic_ok(*a) && 0.0 < a->u_o && wide_type(declared->v_dequantised);
  requires small: 0 <= counts->depth_o <= INT32_MAX - CP_CLASS_MOST;
  assigns a->u_o, a->as_one_o, counts->depth_o;
  ensures num_7_ok: arithmetic_ok(*a) && \old(a->u_o) <= a->u_o;
  ensures num_19_none: cache->v == CP_CACHE_PLAIN || declared->rounded_sum == 0 ==>
    counts->depth_o == \old(counts->depth_o) && a->as_one_o == \old(a->as_one_o) &&
    a->u_o == \old(a->u_o);
  ensures num_19_additions: cache->v != CP_CACHE_PLAIN && declared->rounded_sum != 0 ==>
    growth_of_scale(*declared, declared->v_dequantised) <=
      product(counts->depth_o - \old(counts->depth_o), a->u_o);
  ensures num_20: \old(a->as_one_o) <= a->as_one_o &&
    counts->depth_o - \old(counts->depth_o) <= \max(a->as_one_o, 0);
*/
void cp_class_round_values(const struct cp_kernel_class *declared,
                           const struct cp_kernel_cache *cache, struct cp_arithmetic *a,
                           struct cp_counts *counts);

/* GATE-15, `divide_error`, `epsilon` and `normalises`: a division that errs, what is added to n,
 * and weights that are divided before they are multiplied by V. Once the counts are known, and
 * before references are changed (NUM-21). largest_score: h. */
/*@
  requires valid: \valid_read(declared) && \valid_read(counts) && \valid(a);
  requires apart: \separated(declared, counts, a);
  requires ok: arithmetic_ok(*a) && counts_ok(*counts) && divides_ok(*declared);
  requires sizes: 0 <= n && 0.0 <= largest_score;
  assigns a->u_part, a->u_div, a->eta_div, a->weights.unit, a->weights.tiny, a->eta_o;
  ensures num_7_ok: arithmetic_ok(*a);
  ensures gate_15_parts: declared->divides != 0 ==>
    \old(a->u_part) + division_error(*declared, \old(*a), *counts, largest_score) <= a->u_part;
  ensures gate_15_once: declared->divides == 0 && declared->normalises == 0 ==>
    compound(\old(a->u_div), division_error(*declared, \old(*a), *counts, largest_score)) <=
      a->u_div;
  ensures gate_15_normalises: declared->divides == 0 && declared->normalises != 0 ==>
    normalised(*declared, n, *counts, largest_score, \old(*a), *a);
*/
void cp_class_divide(const struct cp_kernel_class *declared, int n, double largest_score,
                     const struct cp_counts *counts, struct cp_arithmetic *a);

/* GATE-2: what changes when each partial result is divided, after at most `since` changes of its
 * reference: references are log-sum-exps. Weights are made before, at references that are not above
 * the scores (NUM-22). Returns e + u_move (h + 2 ln(n + 1)), the error of a state's log-sum-exp. */
/*@
  requires valid: \valid_read(counts) && \valid(a) && \separated(counts, a);
  requires ok: arithmetic_ok(*a) && counts_ok(*counts) && counts->changes < INT32_MAX;
  requires sizes: 0 <= n && 0 <= since <= CP_CLASS_MOST && 0.0 <= largest_score;
  assigns a->eps, a->kappa, a->u_move, a->above, a->below, a->weights.tiny, a->u_div, a->eta_div;
  ensures num_7_ok: arithmetic_ok(*a);
  ensures gate_2_eps: error_of_lse(\old(*a), n) <= a->eps;
  ensures gate_2_move: \max(\old(a->u_move), \max(0x1p-23, 2.0 * a->u_n)) <= a->u_move;
  ensures gate_2_above: above_of_lse(\old(*a), *counts, n, largest_score) <= a->above;
  ensures gate_2_below: below_of_lse(\old(*a), n, since, largest_score) <= a->below;
  ensures num_22_weights: product(\old(a->weights.tiny), e(-a->above)) <= a->weights.tiny;
  ensures num_22_kappa: product(\old(a->kappa), 1.0 + \old(a->weights.tiny)) <= a->kappa;
  ensures gate_2_quotient: a->u_div == 0.0 && a->eta_div == 0.0;
  ensures gate_2_error: a->eps + product(a->u_move, size_of_lse(n, largest_score)) <= \result;
*/
double cp_class_divide_at_once(int n, double largest_score, int since,
                               const struct cp_counts *counts, struct cp_arithmetic *a);

/* NUM-22, behind that: log-sum-exps are rounded to a format, so many times on the way of a key.
 * Returns e of that clause, how far one may slip; 2^20 where D u is 1/2 or more, so that nothing is
 * claimed. */
/*@
  requires valid: \valid(a);
  requires ok: arithmetic_ok(*a) && format_ok(lse);
  requires sizes: 0 <= times && 0.0 <= largest_score;
  assigns a->score.scale_tiny, a->eps;
  ensures num_7_ok: arithmetic_ok(*a);
  ensures num_22_slip: slips(lse, times, largest_score + \old(a->above) + \old(a->below), \result);
  ensures num_22_score: \old(a->score.scale_tiny) + product(times, \result) <= a->score.scale_tiny;
  ensures num_22_eps: \old(a->eps) + product(a->u_ref + 2.0 * a->u_move, product(times, \result)) <=
    a->eps;
*/
double cp_class_slip(struct cp_format lse, int times, double largest_score,
                     struct cp_arithmetic *a);

#ifdef __cplusplus
}
#endif

#endif
