/* SPDX-License-Identifier: Apache-2.0 */
/* The numbers of ref/merging_internal.h that have their signs; ghost code. Included by it, after
 * its structures. Provers alone read this file. */
#ifndef CHUNKPROOF_LOGIC_MERGING_CLASS_H
#define CHUNKPROOF_LOGIC_MERGING_CLASS_H

/*@
  predicate extent_ok(struct cp_merging_extent x) =
    0 <= x.n_parts <= CP_TOLERANCE_MOST && 0.0 <= x.top && 0.0 <= x.size && 0.0 <= x.value &&
    sums_ok(x.least_sum, x.most_sum);
  predicate formats_ok(struct cp_merging_formats f) =
    format_ok(f.n) && format_ok(f.values) && format_ok(f.weights) && format_ok(f.partials) &&
    format_ok(f.lse);
*/

/* The larger of two log-sum-exps is so in nats, too. */
/*@ ghost
  /@
    requires unit: unit > 0.0;
    assigns \nothing;
    ensures above: x > y ==> product(unit, y) <= product(unit, x);
    ensures below: x <= y ==> product(unit, x) <= product(unit, y);
  @/
  static void larger_in_nats(double unit, double x, double y) {
      /@ assert above: x > y ==> 0.0 <= unit * (x - y); @/
      /@ assert below: x <= y ==> 0.0 <= unit * (y - x); @/
  }
*/

/* MERGE-7. */
/*@ ghost
  /@
    requires logarithm: e(logarithm) == n;
    assigns \nothing;
    ensures law: e(m + logarithm) == scaled(n, m);
  @/
  static void weight_of_sum(double m, double n, double logarithm) {
      /@ assert sum: e_of_sum(m, logarithm) == e(m + logarithm); @/
      /@ assert law: e_of_sum(m, logarithm) == e(m) * n; @/
  }
*/

#endif
