/* SPDX-License-Identifier: Apache-2.0 */
/* Arrays of numbers that the caller gives, and that nothing writes to meanwhile. */
#ifndef CHUNKPROOF_REF_NUMBER_INTERNAL_H
#define CHUNKPROOF_REF_NUMBER_INTERNAL_H

#include "chunkproof/number.h"

/* Element `index`, as cp_number_load() has those of arrays of any type. */
/*@
  requires readable: double_readable(array, index);
  assigns \nothing;
  ensures number: \result == double_at(array, index);
*/
double cp_double_load(const double *array, size_t index);

/*@
  requires readable: float_readable(array, index);
  assigns \nothing;
  ensures number: \result == float_at(array, index);
*/
double cp_float_load(const float *array, size_t index);

/*@
  assigns \nothing;
  ensures number: \result == index_at(array, index);
*/
size_t cp_index_load(const size_t *array, size_t index);

/*@
  assigns \nothing;
  ensures number: \result == position_at(array, index);
*/
int cp_position_load(const int *array, size_t index);

/* Bit `index` of bytes, of which bit 0 of the first one is number 0. */
/*@
  assigns \nothing;
  ensures bit: \result == 0 || \result == 1;
  ensures number: \result == 1 <==> bit_at(bits, index);
*/
int cp_bit_load(const unsigned char *bits, size_t index);

#endif
