/* SPDX-License-Identifier: Apache-2.0 */
/* What the contracts say of numbers in memory (spec/number.md). Provers alone read this file. */
#ifndef CHUNKPROOF_LOGIC_NUMBER_H
#define CHUNKPROOF_LOGIC_NUMBER_H

#include "chunkproof/number.h"

/*@
  predicate wide_type(integer type) =
    type == CP_FP16 || type == CP_FP32 || type == CP_FP64 || type == CP_BF16;
  predicate known_type(integer type) = wide_type(type) || CP_E4M3 <= type <= CP_INT8;
  logic integer type_size(integer type) =
    type == CP_FP16 || type == CP_BF16 ? 2 : type == CP_FP32 ? 4 : type == CP_FP64 ? 8 :
    CP_E4M3 <= type <= CP_INT8 ? 1 : 0;

  // No infinity and no NaN, as isfinite() says.
  axiomatic Finite {
    predicate finite(real x);
  }

  // The number at a place, in arrays that nothing writes to meanwhile (proofs/SOUNDNESS.md).
  axiomatic Element {
    logic real element(void *array, integer type, integer index);

    // That it may be read: the caller has put a number there.
    predicate readable(void *array, integer type, integer index);

    // The same of an array of doubles, or of floats.
    logic real double_at(double *array, integer index);
    predicate double_readable(double *array, integer index);
    logic real float_at(float *array, integer index);
    predicate float_readable(float *array, integer index);

    // The same of an array of indices, of positions; bit `index` of bytes is 1.
    logic integer index_at(size_t *array, integer index);
    logic integer position_at(int *array, integer index);
    predicate bit_at(unsigned char *bits, integer index);
  }

  // Where the row begins that has this number.
  axiomatic Rows {
    logic integer row_at(integer number, integer d);
    axiom row_at_is: \forall integer number, d; row_at(number, d) == number * d;
    lemma row_at_positive: \forall integer x, d; 0 <= x ==> 0 <= d ==> 0 <= row_at(x, d);
    lemma row_at_ordered: \forall integer x, y, d; 0 <= x < y ==> 0 <= d ==>
      0 <= row_at(y - x - 1, d) && row_at(x, d) + d + row_at(y - x - 1, d) == row_at(y, d);
    lemma row_at_inside: \forall integer x, y, d; 0 <= x < y ==> 0 <= d ==>
      row_at(x, d) + d <= row_at(y, d);
    lemma row_at_rises: \forall integer x, y, d; 0 <= x <= y ==> 0 <= d ==>
      row_at(x, d) <= row_at(y, d);
    lemma row_at_counts: \forall integer x, d; 0 <= x ==> 1 <= d ==> x <= row_at(x, d);
  }

  // The d numbers from element `at` on, and the rows first .. first + n - 1, may be read.
  predicate row_readable(void *array, integer type, integer at, integer d) =
    \forall integer i; at <= i < at + d ==> readable(array, type, i);
  predicate rows_readable(void *array, integer type, integer first, integer n, integer d) =
    \forall integer j; first <= j < first + n ==> row_readable(array, type, row_at(j, d), d);

  // What is stored at a place of an array, and what a number becomes there (NUM-2).
  axiomatic Stored {
    logic real stored{L}(char *array, integer type, integer index)
      reads array[row_at(index, type_size(type)) .. row_at(index + 1, type_size(type)) - 1];
    axiom stored_same{L1,L2}: \forall char *array, integer type, index;
      (\forall integer x;
        row_at(index, type_size(type)) <= x < row_at(index + 1, type_size(type)) ==>
        \at(array[x], L1) == \at(array[x], L2)) ==>
      stored{L1}(array, type, index) == stored{L2}(array, type, index);
    logic real rounded(integer type, real x);
  }
*/

#endif
