/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of tolerance share. */
#ifndef CHUNKPROOF_REF_TOLERANCE_INTERNAL_H
#define CHUNKPROOF_REF_TOLERANCE_INTERNAL_H

#include "chunkproof/softmax.h" /* e and product, for the proofs */
#include "chunkproof/tolerance.h"

/* NUM-5, what sums and stores lose: (1 + u)^k (1 + v)^l - 1 */
/*@
  requires ok: 0.0 <= u && 0 <= k && 0.0 <= v && 0 <= l;
  assigns \nothing;
  ensures num_5: \result == power(1.0 + u, k) * power(1.0 + v, l) - 1.0;
  ensures not_negative: 0.0 <= \result;
*/
double cp_tolerance_growth(double u, int k, double v, int l);

/* Ghost code, for the proofs alone: what WP is told of e and of products. */
/*@ ghost
  /@
    assigns \nothing;
    ensures law: e(x + y) == product(e(x), e(y));
  @/
  static void e_of_both(double x, double y) {
      /@ assert sum: e_of_sum(x, y) == e(x + y); @/
      /@ assert law: e_of_sum(x, y) == product(e(x), e(y)); @/
  }
*/

/*@ ghost
  /@
    requires not_negative: 0.0 <= x && 0.0 <= y;
    assigns \nothing;
    ensures not_negative: 0.0 <= x * y;
  @/
  static void product_not_negative(double x, double y) {}
*/

#endif
