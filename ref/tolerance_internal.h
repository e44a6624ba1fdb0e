/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of tolerance share. */
#ifndef CHUNKPROOF_REF_TOLERANCE_INTERNAL_H
#define CHUNKPROOF_REF_TOLERANCE_INTERNAL_H

#include <stddef.h>

#include "chunkproof/softmax.h" /* e and product, for the proofs */
#include "chunkproof/tolerance.h"

#ifdef __FRAMAC__
#include "proofs/logic/tolerance_internal.h"
#endif

/* Where the row of a key begins in k and v. */
/*@
  requires size: 0 <= j < CP_TOLERANCE_MOST && 0 <= d <= CP_TOLERANCE_MOST;
  assigns \nothing;
  ensures place: \result == row_at(j, d);
*/
ptrdiff_t cp_tolerance_row_begin(int j, int d);

/* NUM-5, what sums and stores lose: (1 + u)^k (1 + v)^l - 1 */
/*@
  requires ok: 0.0 <= u && 0 <= k && 0.0 <= v && 0 <= l;
  assigns \nothing;
  ensures num_5: \result == power(1.0 + u, k) * power(1.0 + v, l) - 1.0;
  ensures not_negative: 0.0 <= \result;
*/
double cp_tolerance_growth(double u, int k, double v, int l);

#endif
