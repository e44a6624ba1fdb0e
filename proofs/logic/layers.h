/* SPDX-License-Identifier: Apache-2.0 */
/* What the contracts say of rows of numbers and of weights (spec/layers.md). Provers alone read
 * this file. */
#ifndef CHUNKPROOF_LOGIC_LAYERS_H
#define CHUNKPROOF_LOGIC_LAYERS_H

#include "chunkproof/layers.h"
#include "chunkproof/number.h"
#include "chunkproof/softmax.h"
#include "proofs/logic/layers_library.h"

/*@
  // n rows of d numbers can be counted.
  predicate rows_countable(integer n, integer d) =
    0 <= n && 0 <= d && row_at(n, d) <= 0x7FFFFFFFFFFFFFFF;

  // DEC-8: the first number of pair i; the second one is `distance` behind it.
  logic integer pair_begin(integer i, integer distance) = i + i / distance * distance;

  // DEC-8: pair i has no number in common with another one of the first n.
  predicate pair_apart(integer i, integer n, integer distance) =
    \forall integer j; 0 <= j < n && j != i ==>
      pair_begin(j, distance) != pair_begin(i, distance) &&
      pair_begin(j, distance) != pair_begin(i, distance) + distance &&
      pair_begin(j, distance) + distance != pair_begin(i, distance);

  // DEC-8: both numbers of the pair (a, b), rotated.
  axiomatic Rotated {
    logic real rotated_a(real a, real b, real cosine, real sine);
    axiom rotated_a_is: \forall real a, b, cosine, sine;
      rotated_a(a, b, cosine, sine) == cosine * a - sine * b;
    logic real rotated_b(real a, real b, real cosine, real sine);
    axiom rotated_b_is: \forall real a, b, cosine, sine;
      rotated_b(a, b, cosine, sine) == sine * a + cosine * b;
  }
  predicate numbers_rotated{L1,L2}(double *x, integer p, integer q, real cosine, real sine) =
    \at(x[p], L2) == rotated_a(\at(x[p], L1), \at(x[q], L1), cosine, sine) &&
    \at(x[q], L2) == rotated_b(\at(x[p], L1), \at(x[q], L1), cosine, sine);

  // DEC-8: pair i is that of before, rotated; pair i is that of before.
  predicate pair_rotated{L1,L2}(double *x, double *cosine, double *sine, integer i,
                                integer distance) =
    numbers_rotated{L1,L2}(x, pair_begin(i, distance), pair_begin(i, distance) + distance,
      \at(cosine[i], L1), \at(sine[i], L1));
  predicate pair_same{L1,L2}(double *x, integer i, integer distance) =
    \let a = pair_begin(i, distance);
    \at(x[a], L2) == \at(x[a], L1) && \at(x[a + distance], L2) == \at(x[a + distance], L1);

  // x is apart from both.
  predicate rotation_apart(double *x, double *cosine, double *sine, integer n) =
    \separated(x + (0 .. 2 * n - 1), cosine + (0 .. n - 1)) &&
    \separated(x + (0 .. 2 * n - 1), sine + (0 .. n - 1));

  // n pairs fill 2 n numbers, in groups of 2 * distance.
  predicate pairs_ok(integer n, integer distance) =
    0 <= n <= 0x3FFFFFFF && 1 <= distance && n % distance == 0;

  // y is x itself, or both are apart.
  predicate same_or_apart(double *y, double *x, integer n) =
    y == x || \separated(y + (0 .. n - 1), x + (0 .. n - 1));

  // A bias that may be missing.
  logic real bias_at_row{L}(float *bias, integer i) = bias == \null ? 0.0 : bias[i];

  // LAYER-2, LAYER-3: the sum of the first n numbers; that of their squares once `mean` is off.
  axiomatic Norm {
    logic real sum_of{L}(double *x, integer n) reads x[0 .. n - 1];
    axiom sum_of_0{L}: \forall double *x; sum_of(x, 0) == 0.0;
    axiom sum_of_next{L}: \forall double *x, integer i, n; 0 <= i < n <= i + 1 ==>
      sum_of(x, n) == sum_of(x, i) + x[i];
    logic real squares_of{L}(double *x, real mean, integer n) reads x[0 .. n - 1];
    axiom squares_of_0{L}: \forall double *x, real mean; squares_of(x, mean, 0) == 0.0;
    axiom squares_of_next{L}: \forall double *x, real mean, integer i, n;
      0 <= i < n <= i + 1 ==> squares_of(x, mean, n) ==
        squares_of(x, mean, i) + (x[i] - mean) * (x[i] - mean);

    // The mean; the root of the mean of these squares, and epsilon.
    logic real mean_of{L}(double *x, integer n) reads x[0 .. n - 1];
    axiom mean_of_is{L}: \forall double *x, integer n; mean_of(x, n) == sum_of(x, n) / (real)n;
    logic real deviation_of{L}(double *x, real mean, integer n, real epsilon)
      reads x[0 .. n - 1];
    axiom deviation_of_is{L}: \forall double *x, real mean, epsilon, integer n;
      deviation_of(x, mean, n, epsilon) ==
        root_of(squares_of(x, mean, n) / (real)n + epsilon);

    // A number over the root, times its weight.
    logic real normalised(real x, real root, real weight);
    axiom normalised_is: \forall real x, root, weight;
      normalised(x, root, weight) == x / root * weight;
  }

  // LAYER-6: m is the largest power of two that is not above n; the slope of a head is 2 to minus
  // this.
  axiomatic PowerOfTwo {
    predicate is_power_of_two(integer m);
    axiom power_of_two_1: is_power_of_two(1);
    axiom power_of_two_next: \forall integer m; is_power_of_two(m) ==> is_power_of_two(2 * m);
  }
  predicate largest_power_of_two(integer m, integer n) = is_power_of_two(m) && m <= n < 2 * m;
  logic real slope_exponent(integer head, integer m) =
    head < m ? 8.0 * (head + 1) / m : 4.0 * (2.0 * (head - m) + 1.0) / m;

  // LAYER-4: a matrix, its bias, and n rows before and behind it.
  predicate matrix_readable{L}(float *weight, float *bias, integer n_out, integer n_in) =
    \valid_read(weight + (0 .. row_at(n_out, n_in) - 1)) &&
    (bias == \null || \valid_read(bias + (0 .. n_out - 1)));

  // LAYER-4: the sum of the first n products of a row of weights and of x, from
  // number `at` on.
  axiomatic Weighted {
    logic real weighted{L}(float *weight, double *x, integer at, integer n)
      reads weight[0 .. n - 1], x[at .. at + n - 1];
    axiom weighted_0{L}: \forall float *weight, double *x, integer at;
      weighted(weight, x, at, 0) == 0.0;
    axiom weighted_next{L}: \forall float *weight, double *x, integer at, i, n;
      0 <= i < n <= i + 1 ==>
      weighted(weight, x, at, n) == weighted(weight, x, at, i) + weight[i] * x[at + i];
    axiom weighted_same{L1,L2}: \forall float *weight, double *x, integer at, n;
      (\forall integer i; 0 <= i < n ==> \at(weight[i], L1) == \at(weight[i], L2) &&
        \at(x[at + i], L1) == \at(x[at + i], L2)) ==>
      weighted{L1}(weight, x, at, n) == weighted{L2}(weight, x, at, n);
  }

  // LAYER-4: where number c of row t is, of rows of d numbers; no other number of the first n rows
  // is where that of row s is.
  logic integer number_at(integer t, integer c, integer d) = row_at(t, d) + c;
  predicate is_alone(integer s, integer r, integer n, integer d) =
    \forall integer t, c; 0 <= t < n && 0 <= c < d && (t != s || c != r) ==>
      number_at(t, c, d) != number_at(s, r, d);
  // All other numbers of n rows are those of before.
  predicate others_same{L1,L2}(double *y, integer s, integer r, integer n, integer d) =
    \forall integer t, c; 0 <= t < n && 0 <= c < d && (t != s || c != r) ==>
      \at(y[number_at(t, c, d)], L1) == \at(y[number_at(t, c, d)], L2);

  // LAYER-4: number r of rows `from` to `to` of y is made of the same rows of x; the others stay.
  predicate column_projected{L1,L2}(double *y, double *x, float *weight, real bias, integer from,
                                    integer to, integer r, integer n_out, integer n_in) =
    \forall integer t; from <= t < to ==> \at(y[number_at(t, r, n_out)], L2) ==
      weighted{L1}(weight, x, row_at(t, n_in), n_in) + bias;
  predicate columns_same{L1,L2}(double *y, integer n, integer r, integer n_out) =
    \forall integer t, c; 0 <= t < n && 0 <= c < n_out && c != r ==>
      \at(y[number_at(t, c, n_out)], L1) == \at(y[number_at(t, c, n_out)], L2);
  predicate projection_apart(double *y, double *x, integer n, integer n_out, integer n_in) =
    \separated(y + (0 .. row_at(n, n_out) - 1), x + (0 .. row_at(n, n_in) - 1));
*/

#endif
