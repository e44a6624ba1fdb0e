/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of ref/tolerance*.c share for their proofs. Provers alone read this file. */
#ifndef CHUNKPROOF_LOGIC_TOLERANCE_INTERNAL_H
#define CHUNKPROOF_LOGIC_TOLERANCE_INTERNAL_H

#include "chunkproof/tolerance.h"
#include "proofs/logic/softmax.h"

/*@
  predicate size_ok(struct cp_tolerance_row r) =
    1 <= r.n_keys <= CP_TOLERANCE_MOST && 0 <= r.head_dim <= CP_TOLERANCE_MOST &&
    0 <= r.value_dim <= CP_TOLERANCE_MOST;
  // Scratch: the errors of scores stand behind the scores.
  predicate is_error{L}(double *scratch, integer n, integer j) = 0.0 <= scratch[n + j];
*/

/*@
  // What the bound rests on: the exponential rises, and products rise with their factors.
  axiomatic Rising {
    axiom e_rises: \forall real x, y; x <= y ==> e(x) <= e(y);
    lemma product_rises: \forall real a, b, x, y; 0.0 <= a <= x ==> 0.0 <= b <= y ==>
      0.0 <= product(a, b) <= product(x, y);
  }
*/

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
    assigns \nothing;
    ensures one: e(0.0) == 1.0;
  @/
  static void e_of_zero(void) {
      /@ assert zero: e_of_sum(0.0, 0.0) == e(0.0); @/
      /@ assert one: e(0.0) == 1.0; @/
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
