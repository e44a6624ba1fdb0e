/* SPDX-License-Identifier: Apache-2.0 */
/* The formulas of NUM-15, of the score that is given and of what may be between it and the exact
 * one. Provers alone read this file. */
#ifndef CHUNKPROOF_LOGIC_SCORE_SHIFT_H
#define CHUNKPROOF_LOGIC_SCORE_SHIFT_H

#include "chunkproof/score_shift.h"
#include "chunkproof/softmax.h" /* e and product */
#include "proofs/logic/tolerance.h"

/*@
  predicate shift_arithmetic_ok(struct cp_shift_arithmetic a) =
    0.0 <= a.unit && 0.0 <= a.tiny && 0.0 <= a.tanh_error && 0.0 <= a.tanh_absolute;
  predicate score_change_ok(struct cp_score_change c) =
    0.0 <= c.cap && (c.without_bias != 0 ==> c.bias == 0.0);
  logic real absolute(real x) = x >= 0.0 ? x : -x;
*/

/*@
  // What a kernel may be off after a change, where the exact score is no larger than `size`, and
  // the kernel's was off by `before`: the parts of NUM-15 beyond `before`.
  logic real growth_of(struct cp_shift_arithmetic a, integer k) = power(1.0 + a.unit, k) *
    power(1.0, 0) - 1.0;
  logic real growth_of_cap(struct cp_shift_arithmetic a) = power(1.0 + a.unit, 5) *
    power(1.0 + a.tanh_error, 1) - 1.0;
  logic real lost_of_cap(struct cp_shift_arithmetic a, real cap) =
    product(cap, product(1.0 + a.tanh_error, a.tiny) + a.tanh_absolute);
  logic real error_of_cap(struct cp_shift_arithmetic a, real cap, real size, real before) =
    product(growth_of_cap(a), size + before) +
    product(lost_of_cap(a, cap), 1.0 + growth_of(a, 2)) + a.tiny;
  logic real error_of_bias(struct cp_shift_arithmetic a, real bias, real size, real before) =
    product(1.0 + growth_of(a, 3), product(growth_of(a, 3), absolute(bias)) + a.tiny) +
    product(growth_of(a, 3), size + before) + a.tiny;
  logic real error_of_sink(struct cp_shift_arithmetic a, real sink) =
    product(growth_of(a, 3), absolute(sink)) + product(2.0 + growth_of(a, 2), a.tiny);
*/

/*@
  // A score x, changed; and `error`, what a kernel's was off beyond sigma before the change, with
  // what the change adds to it. z: how far x may be from the exact score.
  logic real after_cap(struct cp_score_change c, real x) =
    c.cap == 0.0 ? x : product(c.cap, 1.0 - 2.0 / (e(2.0 * (x / c.cap)) + 1.0));
  logic real after_bias(struct cp_score_change c, real x) =
    c.without_bias != 0 ? x : x + c.bias;
  logic real capped(struct cp_shift_arithmetic a, struct cp_score_change c, real x, real error,
                    real z, real sigma) = c.cap == 0.0 ? error :
    error + error_of_cap(a, c.cap, absolute(after_cap(c, x)) + z, sigma + error);
  logic real biased(struct cp_shift_arithmetic a, struct cp_score_change c, real x, real error,
                    real z, real sigma) = c.without_bias != 0 ? error :
    error + error_of_bias(a, c.bias, absolute(after_bias(c, x)) + z, sigma + error);
  // Both, in the order of the kernel.
  logic real changed_score(struct cp_score_change c, real x) = c.bias_first != 0 ?
    after_cap(c, after_bias(c, x)) : after_bias(c, after_cap(c, x));
  logic real change_error(struct cp_shift_arithmetic a, struct cp_score_change c, real x, real z,
                          real sigma) = c.bias_first != 0 ?
    capped(a, c, after_bias(c, x), biased(a, c, x, 0.0, z, sigma), z, sigma) :
    biased(a, c, after_cap(c, x), capped(a, c, x, 0.0, z, sigma), z, sigma);
*/

#endif
