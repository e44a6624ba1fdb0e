/* SPDX-License-Identifier: Apache-2.0 */
/* Online softmax (spec/softmax.md): partial attention over some keys as a state (m, n, o), and the
 * merge of two states. All in double.
 *
 *   m   running maximum of the scores          (the papers' m)
 *   n   normaliser, sum of exp(score - m)      (the papers' n)
 *   o   unnormalised output, sum of exp(score - m) * v, d numbers
 *
 * n == 0 means "no key yet" (MERGE-2); m then says nothing and is kept 0, and o is 0. A state with a
 * key has n >= 1, because the key with the largest score adds exp(0).
 */
#ifndef CHUNKPROOF_SOFTMAX_H
#define CHUNKPROOF_SOFTMAX_H

#include <stddef.h>

#include "chunkproof/limits.h"
#include "chunkproof/number.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A state with its o beside it: o[0 .. d). */
struct cp_state {
    double m;
    double n;
};

/*@
  // All that the proofs use of the exponential function, over the reals (proofs/SOUNDNESS.md).
  axiomatic Exponential {
    logic real e(real x);
    axiom e_positive: \forall real x; 0.0 < e(x);
  }
  axiomatic ExponentialOfSum {
    logic real e_of_sum(real x, real y);
    axiom e_of_sum_is: \forall real x, y; e_of_sum(x, y) == e(x + y);
    axiom e_of_sum_law: \forall real x, y; e_of_sum(x, y) == e(x) * e(y);
  }

  // Names for terms, as e_of_sum is one. They are axioms, not definitions, lest the provers expand
  // them everywhere: products of unknowns are what they are worst at.
  axiomatic Product {
    logic real product(real x, real y);
    axiom product_is: \forall real x, y; product(x, y) == x * y;
  }
  axiomatic Sum {
    logic real sum(real x, real y);
    axiom sum_is: \forall real x, y; sum(x, y) == x + y;
  }
  axiomatic Scaled {
    logic real scaled(real x, real m);
    axiom scaled_is: \forall real x, m; scaled(x, m) == x * e(m);
    lemma scaled_zero: \forall real m; scaled(0.0, m) == 0.0;
  }
  axiomatic ScaledSum {
    lemma scaled_sum: \forall real x, y, m; scaled(sum(x, y), m) == scaled(x, m) + scaled(y, m);
  }

  // MERGE-1: what a state stands for, free of its maximum: the sum of e(score) over its keys, and
  // that of e(score) * v_i.
  logic real state_weight(struct cp_state s) = scaled(s.n, s.m);
  logic real state_sum(struct cp_state s, real o_i) = scaled(o_i, s.m);

  // What math.h has as -INFINITY: no real number, and nothing more is known of it (proofs/SOUNDNESS.md).
  axiomatic Infinity {
    predicate minus_infinity(real x);
  }

  predicate is_zero(real x) = x == 0.0;
  predicate is_mean(real r, real o, real n) = r * n == o;

  // MERGE-7: the log-sum-exp of what has this weight.
  predicate is_lse(real lse, real weight) =
    (is_zero(weight) ==> minus_infinity(lse)) && (!is_zero(weight) ==> e(lse) == weight);

  // MERGE-2: either no key, and then all is zero, or the key with the largest score adds e(0) = 1.
  predicate state_has_no_key(struct cp_state s) = is_zero(s.n) && is_zero(s.m);
  predicate state_has_key(struct cp_state s) = s.n >= 1.0;
  predicate state_ok{L}(struct cp_state s, double *o, integer d) =
    state_has_key(s) ||
    (state_has_no_key(s) && \forall integer i; 0 <= i < d ==> is_zero(o[i]));
*/

/*@
  axiomatic Attention {
    // q . k over the first n elements of the row that begins at element `at`.
    logic real dot{L}(double *q, void *k, integer type, integer at, integer n) reads q[0 .. n - 1];
    axiom dot_0{L}: \forall double *q, void *k, integer type, at; dot(q, k, type, at, 0) == 0.0;
    axiom dot_next{L}: \forall double *q, void *k, integer type, at, n; 0 <= n ==>
      dot(q, k, type, at, n + 1) == sum(dot(q, k, type, at, n), product(q[n], element(k, type, at + n)));

    // SOFTMAX-1 for the j-th of the keys first, first + 1, ...
    logic real score{L}(double *q, void *k, integer type, integer first, integer d, real scale,
                        integer j) reads q[0 .. d - 1];
    axiom score_is{L}: \forall double *q, void *k, integer type, first, d, real scale, integer j;
      score(q, k, type, first, d, scale, j) ==
        product(scale, dot(q, k, type, row_at(first + j, d), d));

    // The sum of e(score) over n keys.
    logic real weight_sum{L}(double *q, void *k, integer type, integer first, integer d,
                             real scale, integer n) reads q[0 .. d - 1];
    axiom weight_sum_0{L}: \forall double *q, void *k, integer type, first, d, real scale;
      weight_sum(q, k, type, first, d, scale, 0) == 0.0;
    axiom weight_sum_next{L}: \forall double *q, void *k, integer type, first, d, real scale,
      integer n; 0 <= n ==>
      weight_sum(q, k, type, first, d, scale, n + 1) ==
        weight_sum(q, k, type, first, d, scale, n) + e(score(q, k, type, first, d, scale, n));

    // The sum of e(score) * v_i over n keys.
    logic real value_sum{L}(double *q, void *k, void *v, integer type, integer first, integer d,
                            real scale, integer n, integer i) reads q[0 .. d - 1];
    axiom value_sum_0{L}: \forall double *q, void *k, void *v, integer type, first, d, real scale,
      integer i; value_sum(q, k, v, type, first, d, scale, 0, i) == 0.0;
    axiom value_sum_next{L}: \forall double *q, void *k, void *v, integer type, first, d,
      real scale, integer n, i; 0 <= n ==>
      value_sum(q, k, v, type, first, d, scale, n + 1, i) ==
        value_sum(q, k, v, type, first, d, scale, n, i) +
        scaled(element(v, type, row_at(first + n, d) + i), score(q, k, type, first, d, scale, n));
  }
*/

/* scale * (q . k), added up from the first element on (SOFTMAX-1). */
/*@
  requires valid: \valid_read(q + (0 .. d - 1));
  requires size: 0 <= d;
  requires readable: row_readable((void *)k, CP_FP64, 0, d);
  assigns \nothing;
  ensures softmax_1: \result == scale * dot(q, (void *)k, CP_FP64, 0, d);
*/
double cp_score(const double *q, const double *k, int d, double scale);

/* The state of no keys (MERGE-2). */
/*@
  requires valid: \valid(state) && \valid(o + (0 .. d - 1));
  requires size: 0 <= d;
  requires apart: \separated(state, o + (0 .. d - 1));
  assigns *state, o[0 .. d - 1];
  ensures merge_2_ok: state_ok(*state, o, d);
  ensures merge_2_no_key: state_has_no_key(*state);
  ensures merge_2_zero: \forall integer i; 0 <= i < d ==> is_zero(o[i]);
*/
void cp_state_empty(struct cp_state *state, double *o, int d);

/* partial_attn (the papers' Eqn 1) for one query row: (state, o) of the keys
 * first .. first + n_keys - 1 of k and v, which are rows of d numbers of `type` (number.h); row
 * `first` begins at element first * d. n_keys = 0 gives the empty state. n_keys <= CP_MAX_CHUNK_SIZE
 * (MERGE-3). */
/*@
  requires valid: \valid(state) && \valid(o + (0 .. d - 1)) && \valid_read(q + (0 .. d - 1));
  requires size: 0 <= d && 0 <= n_keys <= CP_MAX_CHUNK_SIZE;
  requires places: first + n_keys <= 0x7FFFFFFFFFFFFFFF &&
    row_at(first + n_keys, d) <= 0x7FFFFFFFFFFFFFFF;
  requires tpp_6: rows_readable((void *)k, type, first, n_keys, d) &&
    rows_readable((void *)v, type, first, n_keys, d);
  requires apart: \separated(state, o + (0 .. d - 1), q + (0 .. d - 1));
  assigns *state, o[0 .. d - 1];
  ensures merge_2_ok: state_ok(*state, o, d);
  ensures merge_2_no_key: n_keys == 0 ==> state_has_no_key(*state);
  ensures merge_2_has_key: n_keys > 0 ==> state_has_key(*state);
  ensures merge_3_maximum: \forall integer j; 0 <= j < n_keys ==>
    score{Pre}(q, (void *)k, type, first, d, scale, j) <= state->m;
  ensures merge_3_attained: n_keys > 0 ==> \exists integer j; 0 <= j < n_keys &&
    score{Pre}(q, (void *)k, type, first, d, scale, j) == state->m;
  ensures merge_3_weight: state_weight(*state) ==
    weight_sum{Pre}(q, (void *)k, type, first, d, scale, n_keys);
  ensures merge_3_sum: \forall integer i; 0 <= i < d ==> state_sum(*state, o[i]) ==
    value_sum{Pre}(q, (void *)k, (void *)v, type, first, d, scale, n_keys, i);
*/
void cp_partial_attn(struct cp_state *state, double *o, const double *q, const void *k,
                     const void *v, int type, size_t first, int n_keys, int d, double scale);

/* attn_reduce (the papers' Eqn 2): adds the keys of (part, part_o) to (state, o). Exactly commutative;
 * the empty state is its identity, exactly; no NaN from two empty states (MERGE-4, MERGE-5). */
/*@
  requires valid: \valid(state) && \valid(o + (0 .. d - 1));
  requires valid_part: \valid_read(part) && \valid_read(part_o + (0 .. d - 1));
  requires size: 0 <= d;
  requires apart: \separated(state, o + (0 .. d - 1), part, part_o + (0 .. d - 1));
  requires ok: state_ok(*state, o, d);
  requires ok_part: state_ok(*part, part_o, d);
  assigns *state, o[0 .. d - 1];
  ensures merge_2_ok: state_ok(*state, o, d);
  ensures merge_4_weight:
    state_weight(*state) == \old(state_weight(*state)) + state_weight(*part);
  ensures merge_4_sum: \forall integer i; 0 <= i < d ==>
    state_sum(*state, o[i]) == state_sum(\old(*state), \old(o[i])) + state_sum(*part, part_o[i]);
  behavior identity_on_the_right:
    assumes is_zero(part->n);
    ensures merge_5_same: *state == \old(*state);
    ensures merge_5_same_o: \forall integer i; 0 <= i < d ==> o[i] == \old(o[i]);
  behavior identity_on_the_left:
    assumes is_zero(state->n);
    ensures merge_5_part: state->m == part->m && state->n == part->n;
    ensures merge_5_part_o: \forall integer i; 0 <= i < d ==> o[i] == part_o[i];
  behavior both:
    assumes !is_zero(state->n) && !is_zero(part->n);
    ensures merge_4_has_key: state_has_key(*state);
    ensures merge_4_maximum: state->m == \max(\old(state->m), part->m);
  complete behaviors;
*/
void cp_attn_reduce(struct cp_state *state, double *o, const struct cp_state *part,
                    const double *part_o, int d);

/* out = o / n, or zeros for the empty state (MERGE-6). Returns the log-sum-exp m + log n (nats), or
 * -infinity for the empty state (MERGE-7). */
/*@
  requires valid: \valid_read(state) && \valid_read(o + (0 .. d - 1));
  requires valid_out: \valid(out + (0 .. d - 1));
  requires size: 0 <= d;
  requires apart: \separated(out + (0 .. d - 1), state) &&
    \separated(out + (0 .. d - 1), o + (0 .. d - 1));
  requires ok: state_ok(*state, o, d);
  assigns out[0 .. d - 1];
  behavior no_key:
    assumes is_zero(state->n);
    ensures merge_6_zeros: \forall integer i; 0 <= i < d ==> is_zero(out[i]);
    ensures merge_7_nothing: minus_infinity(\result);
  behavior keys:
    assumes !is_zero(state->n);
    ensures merge_6_mean: \forall integer i; 0 <= i < d ==>
      is_mean(out[i], o[i], state->n);
    ensures merge_7_log: e(\result) == state_weight(*state);
  complete behaviors;
  disjoint behaviors;
*/
double cp_finish(const struct cp_state *state, const double *o, double *out, int d);

#ifdef __cplusplus
}
#endif

#endif
