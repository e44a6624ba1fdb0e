/* SPDX-License-Identifier: Apache-2.0 */
/* The exponential function, states and sums over keys (spec/softmax.md), as the contracts name
 * them. Provers alone read this file. */
#ifndef CHUNKPROOF_LOGIC_SOFTMAX_H
#define CHUNKPROOF_LOGIC_SOFTMAX_H

#include "chunkproof/softmax.h"

/*@
  // All that the proofs use of the exponential function, over the reals (proofs/SOUNDNESS.md).
  axiomatic Exponential {
    logic real e(real x);
    axiom e_positive: \forall real x; 0.0 < e(x);
  }
  // A name for the logarithm, of which no more is known than what wp/assumed/math.h says.
  axiomatic Logarithm {
    logic real ln_of(real x);
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

  // The dot product of n numbers.
  axiomatic DotProduct {
    logic real dot_of{L}(double *q, double *k, integer n) reads q[0 .. n - 1], k[0 .. n - 1];
    axiom dot_of_0{L}: \forall double *q, double *k; dot_of(q, k, 0) == 0.0;
    axiom dot_of_next{L}: \forall double *q, double *k, integer i, n; 0 <= i < n <= i + 1 ==>
      dot_of(q, k, n) == dot_of(q, k, i) + product(q[i], k[i]);
  }

  // NUM-18: what the numbers of the j-th key are multiplied by, of scales that are in an array,
  // from one place on: one for each key, or the same for all. No array: 1.
  axiomatic Scaling {
    type scaling;
    logic scaling scaled_by(float *scales, integer begin, integer each);
    logic real scale_at(scaling s, integer j);
    axiom scale_at_none: \forall integer begin, each, j;
      scale_at(scaled_by(\null, begin, each), j) == 1.0;
    axiom scale_at_is: \forall float *scales, integer begin, each, j; scales != \null ==>
      scale_at(scaled_by(scales, begin, each), j) ==
        float_at(scales, each == 0 ? begin : begin + j);
  }

  // SCORE-5: the entry, of n, that is x entries behind the first one; the bias of a key that is so
  // far from the row, of entries that are in an array, from one place on. No array: 0.
  axiomatic Biasing {
    type biasing;
    logic biasing biased_by(double *bias, integer begin, integer n, integer own);
    logic integer entry_at(integer n, real x) =
      x >= n - 1 ? n - 1 : x > 0.0 ? \truncate(x) : 0;
    logic real bias_at(biasing b, real distance);
    axiom bias_at_none: \forall integer begin, n, own, real distance;
      bias_at(biased_by(\null, begin, n, own), distance) == 0.0;
    axiom bias_at_is: \forall double *bias, integer begin, n, own, real distance;
      bias != \null ==> bias_at(biased_by(bias, begin, n, own), distance) ==
        double_at(bias, begin + entry_at(n, own - distance));
  }

  // How scores are made: a scale, a cap (0: none), a slope, biases, and how far the first key is
  // from the row; what numbers of K and of V are multiplied by. From q . k, the score of the j-th
  // key from the first one on (SOFTMAX-1, SCORE-1, SCORE-2, SCORE-4, SCORE-5, NUM-18). Of the
  // hyperbolic tangent nothing is assumed.
  axiomatic Scoring {
    type scoring;
    logic scoring made(real scale, real cap, real slope, real distance, biasing bias, scaling k,
                       scaling v);
    logic real tanh_of(real x);
    logic real capped(real cap, real s);
    axiom capped_not: \forall real s; capped(0.0, s) == s;
    axiom capped_is: \forall real cap, s; cap != 0.0 ==>
      capped(cap, s) == cap * tanh_of(s / cap);
    logic real score_of(scoring how, real dot, integer j);
    axiom score_of_is: \forall real scale, cap, slope, distance, dot, biasing bias, scaling k, v,
      integer j;
      score_of(made(scale, cap, slope, distance, bias, k, v), dot, j) ==
        capped(cap, product(scale, product(scale_at(k, j), dot))) + product(slope, distance + j) +
        bias_at(bias, distance + j);
    logic real value_scale(scoring how, integer j);
    axiom value_scale_is: \forall real scale, cap, slope, distance, biasing bias, scaling k, v,
      integer j;
      value_scale(made(scale, cap, slope, distance, bias, k, v), j) == scale_at(v, j);
  }
  logic scoring only_scaled(real scale) = made(scale, 0.0, 0.0, 0.0, biased_by(\null, 0, 0, 0),
    scaled_by(\null, 0, 0), scaled_by(\null, 0, 0));

  // MERGE-1: what a state stands for, free of its maximum: the sum of e(score) over its keys, and
  // that of e(score) * v_i.
  logic real state_weight(struct cp_state s) = scaled(s.n, s.m);
  logic real state_sum(struct cp_state s, real o_i) = scaled(o_i, s.m);

  // What math.h has as -INFINITY: no real number, and nothing more is known of it
  // (proofs/SOUNDNESS.md).
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
      dot(q, k, type, at, n + 1) == sum(dot(q, k, type, at, n), product(q[n], element(k, type, at +
        n)));

    // SOFTMAX-1, changed (SCORE-4), for the j-th of the keys first, first + 1, ...
    logic real score{L}(double *q, void *k, integer type, integer first, integer d, scoring how,
                        integer j) reads q[0 .. d - 1];
    axiom score_is{L}: \forall double *q, void *k, integer type, first, d, scoring how, integer j;
      score(q, k, type, first, d, how, j) ==
        score_of(how, dot(q, k, type, row_at(first + j, d), d), j);

    // The sum of e(score) over n keys.
    logic real weight_sum{L}(double *q, void *k, integer type, integer first, integer d,
                             scoring how, integer n) reads q[0 .. d - 1];
    axiom weight_sum_0{L}: \forall double *q, void *k, integer type, first, d, scoring how;
      weight_sum(q, k, type, first, d, how, 0) == 0.0;
    axiom weight_sum_next{L}: \forall double *q, void *k, integer type, first, d, scoring how,
      integer n; 0 <= n ==>
      weight_sum(q, k, type, first, d, how, n + 1) ==
        weight_sum(q, k, type, first, d, how, n) + e(score(q, k, type, first, d, how, n));

    // The sum of e(score) * v_i over n keys.
    logic real value_sum{L}(double *q, void *k, void *v, integer type, integer v_type,
                            integer first, integer d, integer v_row, scoring how, integer n,
                            integer i) reads q[0 .. d - 1];
    axiom value_sum_0{L}: \forall double *q, void *k, void *v, integer type, v_type, first, d,
      v_row, scoring how, integer i;
      value_sum(q, k, v, type, v_type, first, d, v_row, how, 0, i) == 0.0;
    axiom value_sum_next{L}: \forall double *q, void *k, void *v, integer type, v_type, first, d,
      v_row, scoring how, integer n, i; 0 <= n ==>
      value_sum(q, k, v, type, v_type, first, d, v_row, how, n + 1, i) ==
        value_sum(q, k, v, type, v_type, first, d, v_row, how, n, i) +
        scaled(product(value_scale(how, n), element(v, v_type, row_at(first + n, v_row) + i)),
          score(q, k, type, first, d, how, n));
  }

  // The elements before those of row n can be counted; rows first .. first + n - 1 of K may be
  // read, d numbers of each, and of V, of each the first d_v of v_row (WIDTH-1, WIDTH-2).
  predicate rows_fit(integer n, integer d) =
    n <= 0x7FFFFFFFFFFFFFFF && row_at(n, d) <= 0x7FFFFFFFFFFFFFFF;
  predicate keys_and_values(void *k, void *v, integer type, integer v_type, integer first,
                            integer n, integer d, integer d_v, integer v_row) =
    rows_readable(k, type, first, n, d) &&
    \forall integer j; first <= j < first + n ==> row_readable(v, v_type, row_at(j, v_row), d_v);

  // MERGE-3: m is the maximum of n scores: none is above, and one attains it.
  predicate is_maximum{L}(double *q, void *k, integer type, integer first, integer d, scoring how,
                          integer n, real m) =
    (\forall integer j; 0 <= j < n ==> score(q, k, type, first, d, how, j) <= m) &&
    (n > 0 ==> \exists integer j; 0 <= j < n && score(q, k, type, first, d, how, j) == m);

  // MERGE-3: (s, o) now has the sums of e(score) and of e(score) v over n keys of q before.
  predicate key_sums{L1,L2}(struct cp_state s, double *o, double *q, void *k, void *v,
                            integer type, integer v_type, integer first, integer d,
                            integer d_v, integer v_row, scoring how, integer n) =
    state_weight(s) == weight_sum{L1}(q, k, type, first, d, how, n) &&
    (\forall integer i; 0 <= i < d_v ==> state_sum(s, \at(o[i], L2)) ==
      value_sum{L1}(q, k, v, type, v_type, first, d, v_row, how, n, i));

  // MERGE-4: a state has the sums of before, and those of a part; when both had keys, it has the
  // larger maximum.
  predicate sums_added{L1,L2}(struct cp_state before, struct cp_state after, double *o,
                              struct cp_state part, double *part_o, integer d) =
    state_weight(after) == state_weight(before) + state_weight(part) &&
    (\forall integer i; 0 <= i < d ==> state_sum(after, \at(o[i], L2)) ==
      state_sum(before, \at(o[i], L1)) + state_sum(part, \at(part_o[i], L2)));
  predicate has_larger_maximum(struct cp_state before, struct cp_state after,
                               struct cp_state part) =
    !is_zero(before.n) && !is_zero(part.n) ==>
      state_has_key(after) && after.m == \max(before.m, part.m);

  // MERGE-5: d numbers at x are what they were; two states are the same.
  predicate numbers_same{L1,L2}(double *x, integer d) =
    \forall integer j; 0 <= j < d ==> \at(x[j], L1) == \at(x[j], L2);
  predicate same_state{L}(struct cp_state a, double *a_o, struct cp_state b, double *b_o,
                          integer d) =
    a.m == b.m && a.n == b.n && (\forall integer i; 0 <= i < d ==> a_o[i] == b_o[i]);
*/

#endif
