/* SPDX-License-Identifier: Apache-2.0 */
/* Arrays of doubles, and of floats, that the caller gives, and that nothing writes to meanwhile. */
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

#endif
