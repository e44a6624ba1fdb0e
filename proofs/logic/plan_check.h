/* SPDX-License-Identifier: Apache-2.0 */
/* How far each depth is covered, for ref/plan_check.c. Provers alone read this file. */
#ifndef CHUNKPROOF_LOGIC_PLAN_CHECK_H
#define CHUNKPROOF_LOGIC_PLAN_CHECK_H

#include "chunkproof/plan.h"

/*@
  // to[k] is the last end of the first n descriptors at depth k, 0 when there is none.
  predicate ends_covered{L}(struct cp_plan p, integer n, int *to) =
    \forall integer i; 0 <= i < n ==> p.shared[i].end <= to[plan_depth(p, i)];
  predicate latest_ends{L}(struct cp_plan p, integer n, int *to) =
    \forall integer k; 0 <= k < CP_MAX_DEPTH ==> to[k] == 0 ||
      \exists integer i; 0 <= i < n && plan_depth(p, i) == k && p.shared[i].end == to[k];
*/

#endif
