/* SPDX-License-Identifier: Apache-2.0 */
/* The formulas of GATE-2, GATE-15, NUM-19 and NUM-22. Provers alone read this file. */
#ifndef CHUNKPROOF_LOGIC_KERNEL_CLASS_H
#define CHUNKPROOF_LOGIC_KERNEL_CLASS_H

#include "chunkproof/kernel_class.h"
#include "chunkproof/softmax.h" /* e and product */
#include "proofs/logic/number.h"
#include "proofs/logic/tolerance.h"

/*@
  // NUM-4: of a type, rounded to nearest, towards zero, or flushed.
  logic real nearest_unit(integer type) = type == CP_FP64 ? 0x1p-53 : type == CP_FP32 ? 0x1p-24 :
    type == CP_FP16 ? 0x1p-11 : 0x1p-8;
  logic real nearest_tiny(integer type) = type == CP_FP64 ? 0x1p-1074 : type == CP_FP32 ? 0x1p-150 :
    type == CP_FP16 ? 0x1p-25 : 0x1p-134;
  logic real times_cut(struct cp_kernel_class c) = c.truncates != 0 ? 2.0 : 1.0;
  logic real unit_of(struct cp_kernel_class c, integer type) =
    times_cut(c) * nearest_unit(type);
  logic real tiny_of(struct cp_kernel_class c, integer type) = c.flushes != 0 ?
    nearest_tiny(type) / nearest_unit(type) : times_cut(c) * nearest_tiny(type);
  logic real compound(real a, real b) = a + b + product(a, b);
*/

/*@
  // GATE-2.
  logic integer parts_by_keys(struct cp_kernel_class c, integer parts, integer keys,
                              integer n_short) =
    c.part_keys > 0 ? \min(parts, keys / c.part_keys + n_short) : parts;
  logic integer parts_of(struct cp_kernel_class c, integer steps, integer keys, integer n_short) =
    parts_by_keys(c, c.n_parts > 0 ? \min(steps, c.n_parts) : steps, keys, n_short);
  logic integer divisions_of(struct cp_kernel_class c, integer parts) =
    c.divides != 0 ? parts + 1 : 0;
*/

/*@
  // In what scores are changed, and what multiplies by scales.
  logic integer type_of_shift(struct cp_kernel_class c) =
    c.score == CP_SUM_FP64 ? CP_FP64 : c.score_promotes > 0 ? CP_FP32 :
    c.score == CP_SUM_FP16 ? CP_FP16 : c.score == CP_SUM_BF16 ? CP_BF16 : CP_FP32;
  logic integer type_of_products(struct cp_kernel_class c) =
    c.score == CP_SUM_FP64 ? CP_FP64 : CP_FP32;
  logic integer type_of_factors(struct cp_kernel_class c) =
    c.factors == CP_FACTORS_FP16 ? CP_FP16 : CP_BF16;

  // CONV-4.
  logic real scaled_unit(struct cp_format p, struct cp_format f, struct cp_score_arithmetic s) =
    compound(compound(f.unit, p.unit), s.term_unit);
  logic real scaled_tiny(struct cp_format p, struct cp_format f, real key,
                         struct cp_score_arithmetic s) =
    product(1.0 + scaled_unit(p, f, s), s.term_tiny + product(key, f.tiny + 2.0 * p.tiny));
*/

/*@
  // NUM-19, of a type that a number times its scale is rounded to: u_2 and eta_2; h - 1, g - 1, z.
  logic real unit_after(struct cp_kernel_class c, integer type) =
    type == CP_FP32 || c.score == CP_SUM_FP64 ? 0.0 : unit_of(c, type);
  logic real tiny_after(struct cp_kernel_class c, integer type) =
    (type == CP_FP32 || c.score == CP_SUM_FP64) && c.flushes == 0 ? 0.0 : tiny_of(c, type);
  logic real unit_before(struct cp_kernel_class c) = unit_of(c, type_of_products(c));
  logic real tiny_before(struct cp_kernel_class c) = tiny_of(c, type_of_products(c));
  logic real growth_once(struct cp_kernel_class c, integer type) =
    compound(unit_after(c, type), unit_before(c));
  logic real growth_of_scale(struct cp_kernel_class c, integer type) =
    compound(growth_once(c, type), unit_before(c));
  logic real left_of(struct cp_kernel_class c, integer type) =
    tiny_after(c, type) + product(1.0 + unit_after(c, type), tiny_before(c));

  predicate cache_ok(struct cp_kernel_cache c) =
    (c.k == CP_CACHE_PLAIN || CP_E4M3 <= c.k <= CP_INT8) &&
    (c.v == CP_CACHE_PLAIN || CP_E4M3 <= c.v <= CP_INT8);
  predicate scales_ok(struct cp_class_scales s) =
    0.0 <= s.query && 1.0 <= s.over_v && 0.0 <= s.k && 0.0 <= s.v;

  // The largest number of a format, or 1 more: an integer may be -128.
  logic real largest_number(integer format) =
    format == CP_E4M3 ? 448.0 : format == CP_E5M2 ? 57344.0 : 127.0;
  // w, and e.
  logic real larger_by_scale(struct cp_kernel_class c, struct cp_class_scales s) =
    product(1.0 + growth_of_scale(c, c.k_dequantised), \max(1.0, s.k));
  logic real lost_of_key(struct cp_kernel_class c, struct cp_class_scales s, integer format) =
    \max(product(s.query, (s.rotates != 0 ? 4.0 : 1.0) * left_of(c, c.k_dequantised)),
         product(largest_number(format) + 1.0, tiny_before(c)));
  predicate keys_scaled(struct cp_kernel_class c, struct cp_class_scales s, integer format,
                        struct cp_score_arithmetic was, struct cp_score_arithmetic now) =
    compound(growth_of_scale(c, c.k_dequantised), was.term_unit) <= now.term_unit &&
    product(larger_by_scale(c, s), was.term_tiny +
      product(1.0 + was.term_unit, lost_of_key(c, s, format))) <= now.term_tiny &&
    product(larger_by_scale(c, s), was.tiny) <= now.tiny;

  // u, and the tiny of P, of which the part (g - 1) / u is that of the relative error below it.
  logic real shared_unit(struct cp_kernel_class c, struct cp_format p) =
    \max(p.unit, unit_before(c));
  logic real shared_tiny(struct cp_kernel_class c, struct cp_format p) =
    p.tiny + 4.0 * product(tiny_before(c), shared_unit(c, p) / unit_before(c));
  predicate weights_scaled(struct cp_kernel_class c, struct cp_class_scales s, struct cp_format was,
                           struct cp_format now) =
    compound(growth_of_scale(c, c.v_dequantised), shared_unit(c, was)) <= now.unit &&
    product(product(1.0 + growth_once(c, c.v_dequantised) +
      growth_once(c, c.v_dequantised) / shared_unit(c, was), shared_tiny(c, was)), s.over_v) <=
      now.tiny;
*/

/*@
  // GATE-15: E is e(drift), up to exp(600); then nothing is claimed anyhow.
  logic real grown(real x) = e(\min(x, 600.0));
  logic real drift_of(struct cp_arithmetic a, struct cp_counts n, real h) =
    product(n.changes + 1.0,
            a.eps + a.u_n + a.u_part + product(2.0 * (a.u_move + a.u_ref), h + 1.0));
  logic real error_of_epsilon(struct cp_kernel_class c, struct cp_arithmetic a, struct cp_counts n,
                              real h) =
    c.epsilon > 0.0 ? compound(product(c.epsilon, grown(drift_of(a, n, h) + c.above)),
                               unit_of(c, type_of_products(c))) : 0.0;
  logic real division_error(struct cp_kernel_class c, struct cp_arithmetic a, struct cp_counts n,
                            real h) = compound(c.divide_error, error_of_epsilon(c, a, n, h));
  predicate divides_ok(struct cp_kernel_class c) =
    0.0 <= c.divide_error && 0.0 <= c.epsilon && 0.0 <= c.above;

  // n E E', and what it makes of a class.
  logic real most_of_sum(struct cp_arithmetic a, struct cp_counts counts, integer n, real h) =
    product(n, grown(drift_of(a, counts, h) + product(counts.depth_n, a.u_n)));
  predicate normalised(struct cp_kernel_class c, integer n, struct cp_counts counts, real h,
                       struct cp_arithmetic was, struct cp_arithmetic now) =
    compound(was.weights.unit, compound(unit_before(c), c.divide_error)) <= now.weights.unit &&
    product(most_of_sum(was, counts, n, h), was.weights.tiny + 2.0 * tiny_before(c)) <=
      now.weights.tiny &&
    product(most_of_sum(was, counts, n, h), was.eta_o) <= now.eta_o &&
    (c.epsilon > 0.0 ==> division_error(c, was, counts, h) <= now.u_div) && now.eta_div == 0.0;
*/

/*@
  // GATE-2: e, z, r, and the references that are log-sum-exps.
  logic real size_of_lse(integer n, real h) = h + 2.0 * ln_of(n + 1.0);
  logic real error_of_lse(struct cp_arithmetic a, integer n) =
    \max(a.eps, 0x1p-21 * \max(1.0, ln_of(n + 1.0)));
  logic real rounding_of_lse(integer n, real h) = 0x1p-21 * size_of_lse(n, h);
  logic real rounding_of_weights(struct cp_arithmetic a) =
    a.rounded_sum != 0 ? 2.0 * a.weights.unit : 0.0;
  logic real above_of_lse(struct cp_arithmetic a, struct cp_counts counts, integer n, real h) =
    ln_of(n + 1.0) + product(2.0 * (a.u_n + a.u_part), counts.depth_n) + rounding_of_weights(a) +
    product(counts.changes + 1.0, 2.0 * error_of_lse(a, n) + rounding_of_lse(n, h));
  logic real below_of_lse(struct cp_arithmetic a, integer n, integer since, real h) =
    2.0 * (error_of_lse(a, n) + product(since + 1.0, a.eps + a.u_n + a.u_part)) +
    rounding_of_weights(a) + rounding_of_lse(n, h);

  // NUM-22: e >= u L / (1 - D u), and eta.
  predicate slips(struct cp_format f, integer times, real size, real each) =
    (product(times, f.unit) < 0.5 ==> f.tiny <= each &&
      product(f.unit, size) <= product(each, 1.0 - product(times, f.unit))) &&
    (0.5 <= product(times, f.unit) ==> 0x1p20 <= each);
*/

#endif
