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

  // n pairs fill 2 n numbers, in groups of 2 * distance.
  predicate pairs_ok(integer n, integer distance) =
    0 <= n <= 0x3FFFFFFF && 1 <= distance && n % distance == 0;

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
    axiom weighted_next{L}: \forall float *weight, double *x, integer at, n; 0 <= n ==>
      weighted(weight, x, at, n + 1) == weighted(weight, x, at, n) + weight[n] * x[at + n];
  }
*/

#endif
