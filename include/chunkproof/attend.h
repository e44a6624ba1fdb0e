/* SPDX-License-Identifier: Apache-2.0 */
/* The entry point of the reference implementation of attention over a plan (attention.h). */
#ifndef CHUNKPROOF_ATTEND_H
#define CHUNKPROOF_ATTEND_H

#include <stddef.h>

#include "chunkproof/attention.h"
#include "chunkproof/status.h"

#ifdef __cplusplus
extern "C" {
#endif

#ifdef __FRAMAC__
#include "proofs/logic/attend.h"
#endif

/* Returns the bytes of workspace that cp_attend() needs for these dimensions, types, query ranges,
 * this plan and this variant; 0 when they do not fit together (cp_attend() says why). It ignores
 * the stamp, the window, the mask, the scores, the scales and the pointers to tensors and
 * workspace. Takes time linear in the plan. */
/*@
  requires readable: attend_readable(attention);
  assigns \nothing;
  behavior fits:
    assumes attend_fits(attention);
    ensures bytes: \result == workspace_bytes(*attention, *attention->plan) > 0;
  behavior misfit:
    assumes !attend_fits(attention);
    ensures none: \result == 0;
  complete behaviors; disjoint behaviors;
*/
size_t cp_attend_workspace(const struct cp_attention *attention);

/* Computes out and, unless it is NULL, lse. Allocates nothing, keeps nothing. The caller gives a
 * valid plan (cp_plan_is_valid()) and tensors of the sizes in attention.h; out, lse and workspace
 * overlap nothing else. Q, K and V must be finite where they are read. A key that is not finite
 * spoils the rows that see it, usually with a NaN, and no other row.
 *
 * Checked in this order; nothing is written on failure:
 *   CP_ERROR_ARGUMENT   attention or plan is NULL
 *   CP_ERROR_STALE      the plan's stamp is not `stamp` (PLAN-5)
 *   CP_ERROR_ARGUMENT   q, k, v, out or workspace is NULL, the workspace is not aligned for double,
 *                       scale is not finite, the variant is unknown, a number of the
 *                       window is negative or above CP_MAX_WINDOW (WINDOW-1), the mask has
 *                       bits and no first ones (MASK-1), the cap is negative or not finite
 *                       (SCORE-1), scales.per is unknown (NUM-18)
 *   CP_ERROR_SHAPE      h, h_kv, d or d_v is below 1, v_row is below d_v, h is no multiple of
 *                       h_kv, a type is unknown,
 *                       query_begin does not begin at 0 or decreases, or these dimensions make a
 *                       tensor or the workspace larger than the address space
 *   CP_ERROR_WORKSPACE  workspace_size is below cp_attend_workspace() */
/*@
  requires readable: attend_readable(attention);
  behavior refused:
    assumes !attend_accepted(attention);
    assigns \nothing;
    ensures error: attend_refused(attention, \result);
  behavior accepted:
    assumes attend_accepted(attention);
    requires memory: attend_memory(attention);
    assigns WORKSPACE_OF(attention), RESULTS_OF(attention, attention->plan);
    ensures tpp_2: \result == CP_OK && out_is_attention(*attention, *attention->plan);
    ensures merge_7: lse_is_attention(*attention, *attention->plan);
  complete behaviors; disjoint behaviors;
*/
int cp_attend(const struct cp_attention *attention);

#ifdef __cplusplus
}
#endif

#endif
