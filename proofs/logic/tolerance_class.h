/* SPDX-License-Identifier: Apache-2.0 */
/* Powers and their logarithms, for ref/tolerance_class.c: a ghost lemma, by induction.
 * Provers alone read this file. */
#ifndef CHUNKPROOF_LOGIC_TOLERANCE_CLASS_H
#define CHUNKPROOF_LOGIC_TOLERANCE_CLASS_H

#include "proofs/logic/tolerance_internal.h"

/*@ ghost
  /@
    requires counts: 0 <= k;
    requires logarithm: e(l) == x;
    assigns \nothing;
    ensures power: e(k * l) == power(x, k);
    ensures rises: 0.0 <= l ==> 1.0 <= power(x, k);
  @/
  static void power_of(double l, double x, int k) {
      /@ assert zero: e_of_sum(0.0, 0.0) == e(0.0); @/
      /@ assert one: e(0.0) == 1.0; @/
      /@
        loop invariant range: 0 <= i <= k;
        loop invariant power: e(i * l) == power(x, i);
        loop assigns i;
        loop variant k - i;
      @/
      for (int i = 0; i < k; i++) {
          /@ assert law: e_of_sum(l, i * l) == e((i + 1) * l); @/
          /@ assert same: e_of_sum(l, i * l) == product(e(l), e(i * l)); @/
          /@ assert next: power(x, i + 1) == product(x, power(x, i)); @/
      }
      /@ assert not_negative: 0.0 <= l ==> 0.0 <= product(k, l); @/
  }
*/

#endif
