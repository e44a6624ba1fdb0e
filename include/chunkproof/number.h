/* SPDX-License-Identifier: Apache-2.0 */
/* Number formats of K, V, Q and the output (spec/number.md). binary16 and bfloat16 are kept in
 * uint16_t, numbers of 8 bits (number8.h) in uint8_t, and all are converted exactly. */
#ifndef CHUNKPROOF_NUMBER_H
#define CHUNKPROOF_NUMBER_H

#include <stddef.h>
#include <stdint.h>

#include "chunkproof/number8.h"

#ifdef __cplusplus
extern "C" {
#endif

#define CP_FP16 0 /* IEEE 754 binary16 in uint16_t */
#define CP_FP32 1 /* float */
#define CP_FP64 2 /* double */
#define CP_BF16 3 /* bfloat16 in uint16_t: the upper half of a float */

/* NUM-1. Exact for all 65,536 values: zeros keep their sign, subnormals their value. A NaN becomes
 * a quiet NaN with its sign and its payload. */
double cp_fp16_to_double(uint16_t x);

/* NUM-2. The nearest binary16, ties to even, whatever the rounding mode. Rounds once, from double;
 * by way of float there would be two roundings. From 65520 on, halfway between the largest finite
 * value and 2^16, the result is an infinity; up to 2^-25 it is a zero; both keep the sign. A NaN
 * becomes a quiet NaN with its sign and the first 9 bits of its payload. */
uint16_t cp_fp16_from_double(double x);

/* NUM-1. As cp_fp16_to_double(). */
double cp_bf16_to_double(uint16_t x);

/* NUM-2. As cp_fp16_from_double(): the nearest bfloat16. An infinity from (2 - 2^-8) 2^127 on,
 * halfway between the largest finite value and 2^128; a zero up to 2^-134. A NaN keeps the first 6
 * bits of its payload. */
uint16_t cp_bf16_from_double(double x);

#ifdef __FRAMAC__
#include "proofs/logic/number.h"
#endif

/* Bytes of one number, or 0 for an unknown type. */
/*@
  assigns \nothing;
  ensures fp16: type == CP_FP16 ==> \result == 2;
  ensures fp32: type == CP_FP32 ==> \result == 4;
  ensures fp64: type == CP_FP64 ==> \result == 8;
  ensures bf16: type == CP_BF16 ==> \result == 2;
  ensures of_8_bits: CP_E4M3 <= type <= CP_INT8 ==> \result == 1;
  ensures unknown: !known_type(type) ==> \result == 0;
  ensures size: \result == type_size(type);
*/
size_t cp_number_size(int type);

/* Element `index` of an array of a known type. Loading is exact (NUM-1, NUM-16). Storing rounds
 * once, to nearest, ties to even (NUM-2, NUM-17). */
/*@
  requires readable: readable((void *)array, type, index);
  assigns \nothing;
  ensures element: \result == element((void *)array, type, index);
*/
double cp_number_load(const void *array, int type, size_t index);

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
