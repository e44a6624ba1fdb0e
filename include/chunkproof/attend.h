/* SPDX-License-Identifier: Apache-2.0 */
/* The entry point that every implementation of attention over a plan has (attention.h), the reference here. */
#ifndef CHUNKPROOF_ATTEND_H
#define CHUNKPROOF_ATTEND_H

#include <stddef.h>

#include "chunkproof/attention.h"
#include "chunkproof/status.h"
#include "chunkproof/two_phase_logic.h"

#ifdef __cplusplus
extern "C" {
#endif

/*@
  // What cp_attend() looks at before it computes, in the order of its errors. It is given a plan, ...
  predicate attend_given{L}(struct cp_attention *a) = a != \null && a->plan != \null;

  // ... which is the tree's as it is now (PLAN-5), ...
  predicate attend_current(struct cp_attention a, struct cp_plan p) = same_stamp(p.stamp, a.stamp);

  predicate aligned(void *address) = (uintptr_t)address % sizeof(double) == 0;

  // ... tensors and a workspace, a scale and a variant (TPP-4); ...
  predicate attend_arguments(struct cp_attention a) =
    a.q != \null && a.k != \null && a.v != \null && a.out != \null && a.workspace != \null &&
    aligned(a.workspace) && finite(a.scale) && known_variant(a);

  // ... heads (TPP-5), types (NUM-1), query ranges (PREFILL-1) and sizes fit together, ...
  predicate attend_types(struct cp_attention a) =
    known_type(a.q_type) && known_type(a.kv_type) && known_type(a.out_type);

  // An array [n][x][y][z] of elements of `size` bytes is not larger than the address space.
  predicate array_countable(integer n, integer x, integer y, integer z, integer size) =
    row_at(row_at(row_at(row_at(n, x), y), z), size) <= 0x7FFFFFFFFFFFFFFF;

  predicate attend_tensors{L}(struct cp_attention a, struct cp_plan p) =
    array_countable(p.capacity, a.n_kv_heads, p.chunk_size, a.head_dim, type_size(a.kv_type)) &&
    array_countable(first_row(a.query_begin, p.n_sequences), a.n_heads, a.head_dim, 1,
      type_size(a.q_type)) &&
    array_countable(first_row(a.query_begin, p.n_sequences), a.n_heads, a.head_dim, 1,
      type_size(a.out_type)) &&
    array_countable(first_row(a.query_begin, p.n_sequences), a.n_heads, 1, 1, sizeof(double));

  // Partial results, a state and d numbers each, and four rows of scratch (two_phase.h).
  logic integer workspace_bytes{L}(struct cp_attention a, struct cp_plan p) =
    row_at(n_partials(a, p), sizeof(double) * (2 + a.head_dim)) + 4 * sizeof(double) * a.head_dim;

  predicate attend_shape{L}(struct cp_attention a, struct cp_plan p) =
    attention_heads(a) && attend_types(a) && query_ranges(a.query_begin, p.n_sequences) &&
    attend_tensors(a, p) && workspace_bytes(a, p) <= 0x7FFFFFFFFFFFFFFF;

  // ... and the workspace is large enough.
  predicate attend_accepted{L}(struct cp_attention *a) =
    attend_given(a) && attend_current(*a, *a->plan) && attend_arguments(*a) &&
    attend_shape(*a, *a->plan) && workspace_bytes(*a, *a->plan) <= a->workspace_size;

  // What is written then: the workspace, out and, when it is asked for, lse; apart from each other. And what
  // is read: Q and, of K and V, the keys that the plan has (TPP-6).
  predicate attend_memory{L}(struct cp_attention a, struct cp_plan p) =
    workspace_valid(a, p) && results_valid(a, 0, row_at(n_results(a, p), a.head_dim)) &&
    lse_valid(a, p) && lse_apart(a, p) &&
    queries_readable(a, first_row(a.query_begin, p.n_sequences)) && keys_readable(a, p);

  // What may be read to find that out; the plan is a valid one.
  predicate attend_readable{L}(struct cp_attention *a) = a == \null || \valid_read(a) &&
    (a->plan == \null || \valid_read(a->plan) && plan_ok(*a->plan) &&
      (a->query_begin == \null || \valid_read(a->query_begin + (0 .. a->plan->n_sequences))));
*/

/* Bytes of workspace that cp_attend() needs for these dimensions, types, query ranges, this plan and
 * this variant; 0 when they do not fit together (cp_attend() says why). The stamp and the pointers to
 * tensors and workspace are not looked at. Linear in the plan. */
/*@
  requires readable: attend_readable(attention);
  assigns \nothing;
  behavior fits:
    assumes attend_given(attention) && known_variant(*attention) &&
      attend_shape(*attention, *attention->plan);
    ensures bytes: \result == workspace_bytes(*attention, *attention->plan) > 0;
  behavior misfit:
    assumes !(attend_given(attention) && known_variant(*attention) &&
      attend_shape(*attention, *attention->plan));
    ensures none: \result == 0;
  complete behaviors;
  disjoint behaviors;
*/
size_t cp_attend_workspace(const struct cp_attention *attention);

/* Computes out and, when asked for, lse. Allocates nothing, keeps nothing. The plan is a valid one
 * (cp_plan_is_valid()); the tensors have the sizes given above and out, lse and workspace overlap
 * nothing else. Q, K and V must be finite where they are read: what a row makes of a key that is not is
 * not specified (a NaN, as a rule), but no other row feels it.
 *
 * Checked in this order; nothing is written on failure:
 *   CP_ERROR_ARGUMENT   attention or plan is NULL
 *   CP_ERROR_STALE      the plan's stamp is not `stamp` (PLAN-5)
 *   CP_ERROR_ARGUMENT   q, k, v, out or workspace is NULL, the workspace is not aligned for double,
 *                       scale is not finite, the variant is unknown
 *   CP_ERROR_SHAPE      h, h_kv or d is below 1, h is no multiple of h_kv, a type is unknown,
 *                       query_begin does not begin at 0 or decreases, or these dimensions make a
 *                       tensor or the workspace larger than the address space
 *   CP_ERROR_WORKSPACE  workspace_size is below cp_attend_workspace() */
/*@
  requires readable: attend_readable(attention);
  behavior not_given:
    assumes !attend_given(attention);
    assigns \nothing;
    ensures result: \result == CP_ERROR_ARGUMENT;
  behavior stale:
    assumes attend_given(attention) && !attend_current(*attention, *attention->plan);
    assigns \nothing;
    ensures result: \result == CP_ERROR_STALE;
  behavior argument:
    assumes attend_given(attention) && attend_current(*attention, *attention->plan) &&
      !attend_arguments(*attention);
    assigns \nothing;
    ensures result: \result == CP_ERROR_ARGUMENT;
  behavior shape:
    assumes attend_given(attention) && attend_current(*attention, *attention->plan) &&
      attend_arguments(*attention) && !attend_shape(*attention, *attention->plan);
    assigns \nothing;
    ensures result: \result == CP_ERROR_SHAPE;
  behavior workspace:
    assumes attend_given(attention) && attend_current(*attention, *attention->plan) &&
      attend_arguments(*attention) && attend_shape(*attention, *attention->plan) &&
      attention->workspace_size < workspace_bytes(*attention, *attention->plan);
    assigns \nothing;
    ensures result: \result == CP_ERROR_WORKSPACE;
  behavior accepted:
    assumes attend_accepted(attention);
    requires memory: attend_memory(*attention, *attention->plan);
    requires apart: \separated(attention, (double *)attention->workspace +
      (0 .. workspace_numbers(*attention, *attention->plan) - 1));
    assigns ((double *)attention->workspace)[
        0 .. workspace_numbers(*attention, *attention->plan) - 1],
      attention->lse[0 .. n_results(*attention, *attention->plan) - 1],
      ((char *)attention->out)[0 .. row_at(row_at(n_results(*attention, *attention->plan),
        attention->head_dim), type_size(attention->out_type)) - 1];
    ensures result: \result == CP_OK;
    ensures tpp_2: out_before(*attention, *attention->plan,
      n_results(*attention, *attention->plan));
    ensures merge_7: lse_before(*attention, *attention->plan,
      n_results(*attention, *attention->plan));
  complete behaviors;
  disjoint behaviors;
*/
int cp_attend(const struct cp_attention *attention);

#ifdef __cplusplus
}
#endif

#endif
