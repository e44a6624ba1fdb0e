/* SPDX-License-Identifier: Apache-2.0 */
/* Powers, for ref/tolerance_class.c: ghost lemmas, by induction. Provers alone read this file. */
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

/*@ ghost
  /@
    requires counts: 0 <= k && 0 <= l;
    requires factor: 1.0 <= x;
    assigns \nothing;
    ensures both: power(x, k + l) == product(power(x, k), power(x, l));
    ensures rises: 1.0 <= power(x, l) <= power(x, k + l);
  @/
  static void power_of_both(double x, int k, int l) {
      /@
        loop invariant range: 0 <= i <= l;
        loop invariant power: 1.0 <= power(x, i);
        loop assigns i;
        loop variant l - i;
      @/
      for (int i = 0; i < l; i++) {
          /@ assert next: power(x, i + 1) == product(x, power(x, i)); @/
          /@ assert rises: product(1.0, 1.0) <= product(x, power(x, i)); @/
      }
      /@ assert none: product(power(x, 0), power(x, l)) == power(x, l); @/
      /@
        loop invariant range: 0 <= i <= k;
        loop invariant both: power(x, i + l) == product(power(x, i), power(x, l));
        loop invariant rises: power(x, l) <= power(x, i + l);
        loop assigns i;
        loop variant k - i;
      @/
      for (int i = 0; i < k; i++) {
          /@ assert next: power(x, i + 1) == product(x, power(x, i)); @/
          /@ assert next_of_both: power(x, i + 1 + l) == product(x, power(x, i + l)); @/
          /@ assert moved: product(x, product(power(x, i), power(x, l))) ==
               product(product(x, power(x, i)), power(x, l)); @/
          /@ assert rises: product(1.0, power(x, i + l)) <= product(x, power(x, i + l)); @/
      }
  }
*/

/* k additions of the unit v, then l of the unit u: w of these are as one of v (NUM-20). */
/*@ ghost
  /@
    requires counts: 0 <= k <= 1024 && 0 <= l <= INT32_MAX / 2 && 0 <= w <= 65536;
    requires units: 0.0 <= u && 0.0 <= v <= w * u;
    assigns \nothing;
    ensures short_sums: product(power(1.0 + v, k), power(1.0 + u, l)) <= power(1.0 + u, w * k + l);
  @/
  static void power_of_short_sums(double u, double v, int w, int k, int l) {
      /@
        loop invariant range: 0 <= i <= w;
        loop invariant as_one: 1.0 + i * u <= power(1.0 + u, i);
        loop assigns i;
        loop variant w - i;
      @/
      for (int i = 0; i < w; i++) {
          /@ assert next: power(1.0 + u, i + 1) == product(1.0 + u, power(1.0 + u, i)); @/
          /@ assert square: 0.0 <= product(u, i * u); @/
          /@ assert rises: product(1.0 + u, 1.0 + i * u) <= product(1.0 + u, power(1.0 + u, i)); @/
          /@ assert one: 1.0 + (i + 1) * u <= product(1.0 + u, 1.0 + i * u); @/
      }
      power_of_both(1.0 + u, 0, l);
      /@
        loop invariant range: 0 <= i <= k;
        loop invariant some: 0.0 <= product(power(1.0 + v, i), power(1.0 + u, l));
        loop invariant short_sums: product(power(1.0 + v, i), power(1.0 + u, l)) <=
          power(1.0 + u, w * i + l);
        loop assigns i;
        loop variant k - i;
      @/
      for (int i = 0; i < k; i++) {
          /@ assert next: power(1.0 + v, i + 1) == product(1.0 + v, power(1.0 + v, i)); @/
          /@ assert moved: product(product(1.0 + v, power(1.0 + v, i)), power(1.0 + u, l)) ==
               product(1.0 + v, product(power(1.0 + v, i), power(1.0 + u, l))); @/
          /@ assert rises: 0.0 <= product(1.0 + v, product(power(1.0 + v, i), power(1.0 + u, l)))
               <= product(power(1.0 + u, w), power(1.0 + u, w * i + l)); @/
          /@ assert few: 0 <= w * i <= 65536 * i <= 65536 * 1024; @/
          power_of_both(1.0 + u, w, w * i + l);
          /@ assert count: w + (w * i + l) == w * (i + 1) + l; @/
      }
  }
*/

#endif
