/* SPDX-License-Identifier: Apache-2.0 */
/* Number formats of K, V, Q and the output (spec/number.md). binary16 and bfloat16 are kept in
 * uint16_t and converted exactly. */
#ifndef CHUNKPROOF_NUMBER_H
#define CHUNKPROOF_NUMBER_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define CP_FP16 0 /* IEEE 754 binary16 in uint16_t */
#define CP_FP32 1 /* float */
#define CP_FP64 2 /* double */
#define CP_BF16 3 /* bfloat16 in uint16_t: the upper half of a float */

/* NUM-1. Exact, for all 65,536 values: zeros keep their sign, subnormals their value. A NaN becomes a quiet
 * NaN with its sign and its payload. */
double cp_fp16_to_double(uint16_t x);

/* NUM-2. The nearest binary16, ties to even, in one rounding from double (by way of float it would be two)
 * and whatever the rounding mode. From 65520 on, halfway between the largest finite value and 2^16, it
 * is an infinity; up to 2^-25 it is a zero; both keep the sign. A NaN becomes a quiet NaN with its sign
 * and the first 9 bits of its payload. */
uint16_t cp_fp16_from_double(double x);

/* NUM-1. As cp_fp16_to_double(). */
double cp_bf16_to_double(uint16_t x);

/* NUM-2. As cp_fp16_from_double(): the nearest bfloat16. An infinity from (2 - 2^-8) 2^127 on,
 * halfway between the largest finite value and 2^128; a zero up to 2^-134. Of a NaN the first 6 bits
 * of its payload are kept. */
uint16_t cp_bf16_from_double(double x);

/*@
  predicate known_type(integer type) =
    type == CP_FP16 || type == CP_FP32 || type == CP_FP64 || type == CP_BF16;
  logic integer type_size(integer type) =
    type == CP_FP16 || type == CP_BF16 ? 2 : type == CP_FP32 ? 4 : type == CP_FP64 ? 8 : 0;

  // No infinity and no NaN, as isfinite() says.
  axiomatic Finite {
    predicate finite(real x);
  }
*/

/* Bytes of one number, or 0 for an unknown type. */
/*@
  assigns \nothing;
  ensures fp16: type == CP_FP16 ==> \result == 2;
  ensures fp32: type == CP_FP32 ==> \result == 4;
  ensures fp64: type == CP_FP64 ==> \result == 8;
  ensures bf16: type == CP_BF16 ==> \result == 2;
  ensures unknown: !known_type(type) ==> \result == 0;
  ensures size: \result == type_size(type);
*/
size_t cp_number_size(int type);

/*@
  // The number at a place, in arrays that nothing writes to meanwhile (proofs/SOUNDNESS.md).
  axiomatic Element {
    logic real element(void *array, integer type, integer index);

    // That it may be read: the caller has put a number there.
    predicate readable(void *array, integer type, integer index);
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
*/

/* Element `index` of an array of a known type. Loading is exact (NUM-1); storing rounds once (NUM-2), to nearest, ties to even. */
/*@
  requires readable: readable((void *)array, type, index);
  assigns \nothing;
  ensures element: \result == element((void *)array, type, index);
*/
double cp_number_load(const void *array, int type, size_t index);

/*@
  // What is stored at a place of an array, and what a number becomes there (NUM-2).
  axiomatic Stored {
    logic real stored{L}(char *array, integer type, integer index)
      reads array[row_at(index, type_size(type)) .. row_at(index + 1, type_size(type)) - 1];
    axiom stored_same{L1,L2}: \forall char *array, integer type, index;
      (\forall integer x; row_at(index, type_size(type)) <= x < row_at(index + 1, type_size(type)) ==>
        \at(array[x], L1) == \at(array[x], L2)) ==>
      stored{L1}(array, type, index) == stored{L2}(array, type, index);
    logic real rounded(integer type, real x);
  }
*/

/*@
  requires type: known_type(type);
  requires valid: \valid((char *)array + (row_at(index, type_size(type)) ..
    row_at(index, type_size(type)) + type_size(type) - 1));
  assigns ((char *)array)[row_at(index, type_size(type)) ..
    row_at(index, type_size(type)) + type_size(type) - 1];
  ensures num_2: stored((char *)array, type, index) == rounded(type, x);
  ensures others: \forall integer i; i != index ==>
    stored((char *)array, type, i) == \old(stored((char *)array, type, i));
*/
void cp_number_store(void *array, int type, size_t index, double x);

#ifdef __cplusplus
}
#endif

#endif
