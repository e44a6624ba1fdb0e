/* SPDX-License-Identifier: Apache-2.0 */
/* What cp_attend() accepts, and the memory that it uses. Provers alone read this file. */
#ifndef CHUNKPROOF_LOGIC_ATTEND_H
#define CHUNKPROOF_LOGIC_ATTEND_H

#include "chunkproof/attend.h"
#include "proofs/logic/two_phase.h"

/*@
  // What cp_attend() looks at before it computes, in the order of its errors. It is given a plan,
  // ...
  predicate attend_given{L}(struct cp_attention *a) = a != \null && a->plan != \null;

  // ... which is the tree's as it is now (PLAN-5), ...
  predicate attend_current(struct cp_attention a, struct cp_plan p) = same_stamp(p.stamp, a.stamp);

  predicate aligned(void *address) = (uintptr_t)address % sizeof(double) == 0;

  // ... tensors and a workspace, a scale, a variant (TPP-4), a window (WINDOW-1), a mask
  // (MASK-1), a cap (SCORE-1), biases (SCORE-5) and scales (NUM-18); ...
  predicate attend_arguments(struct cp_attention a) =
    a.q != \null && a.k != \null && a.v != \null && a.out != \null && a.workspace != \null &&
    aligned(a.workspace) && finite(a.scale) && known_variant(a) && window_ok(a) &&
    mask_ok(a) && cap_ok(a) && biases_ok(a) && scales_ok(a);

  // ... heads (TPP-5), types (NUM-1), query ranges (PREFILL-1) and sizes fit together, ...
  predicate attend_types(struct cp_attention a) =
    known_type(a.q_type) && known_type(a.k_type) && known_type(a.v_type) &&
    known_type(a.out_type);

  // An array [n][x][y][z] of elements of `size` bytes is not larger than the address space.
  predicate array_countable(integer n, integer x, integer y, integer z, integer size) =
    row_at(row_at(row_at(row_at(n, x), y), z), size) <= 0x7FFFFFFFFFFFFFFF;

  predicate attend_tensors{L}(struct cp_attention a, struct cp_plan p) =
    array_countable(p.capacity, a.n_kv_heads, p.chunk_size, a.head_dim, type_size(a.k_type)) &&
    array_countable(p.capacity, a.n_kv_heads, p.chunk_size, a.v_row, type_size(a.v_type)) &&
    array_countable(first_row(a.query_begin, p.n_sequences), a.n_heads, a.head_dim, 1,
      type_size(a.q_type)) &&
    array_countable(first_row(a.query_begin, p.n_sequences), a.n_heads, a.value_dim, 1,
      type_size(a.out_type)) &&
    array_countable(first_row(a.query_begin, p.n_sequences), a.n_heads, 1, 1, sizeof(double));

  // Partial results, a state and d_v numbers each, and four rows of scratch (two_phase.h).
  logic integer workspace_bytes{L}(struct cp_attention a, struct cp_plan p) =
    row_at(n_partials(a, p), sizeof(double) * (2 + a.value_dim)) +
      sizeof(double) * (a.head_dim + 3 * a.value_dim);

  predicate attend_shape{L}(struct cp_attention a, struct cp_plan p) =
    attention_heads(a) && attend_types(a) && query_ranges(a.query_begin, p.n_sequences) &&
    attend_tensors(a, p) && workspace_bytes(a, p) <= 0x7FFFFFFFFFFFFFFF;

  // ... and the workspace is large enough.
  predicate attend_accepted{L}(struct cp_attention *a) =
    attend_given(a) && attend_current(*a, *a->plan) && attend_arguments(*a) &&
    attend_shape(*a, *a->plan) && workspace_bytes(*a, *a->plan) <= a->workspace_size;

  // The dimensions, types, query ranges and the variant fit together.
  predicate attend_fits{L}(struct cp_attention *a) =
    attend_given(a) && known_variant(*a) && attend_shape(*a, *a->plan);

  // Otherwise each error has its case, and no other.
  predicate attend_refused{L}(struct cp_attention *a, integer error) =
    (error == CP_ERROR_STALE <==> attend_given(a) && !attend_current(*a, *a->plan)) &&
    (error == CP_ERROR_ARGUMENT <==>
      !attend_given(a) || (attend_current(*a, *a->plan) && !attend_arguments(*a))) &&
    (error == CP_ERROR_SHAPE <==> attend_given(a) && attend_current(*a, *a->plan) &&
      attend_arguments(*a) && !attend_shape(*a, *a->plan)) &&
    (error == CP_ERROR_WORKSPACE <==> attend_given(a) && attend_current(*a, *a->plan) &&
      attend_arguments(*a) && attend_shape(*a, *a->plan) &&
      a->workspace_size < workspace_bytes(*a, *a->plan)) &&
    (error == CP_ERROR_STALE || error == CP_ERROR_ARGUMENT || error == CP_ERROR_SHAPE ||
      error == CP_ERROR_WORKSPACE);

  // What is written then: the workspace, out and, when it is asked for, lse; apart from each other.
  // And what is read: positions, Q and, of K and V, the keys that the plan has (TPP-6).
  predicate attend_arrays{L}(struct cp_attention a, struct cp_plan p) =
    workspace_valid(a, p) && results_valid(a, 0, row_at(n_results(a, p), a.value_dim)) &&
    lse_valid(a, p) && lse_apart(a, p) && positions_ok(a, p) &&
    queries_readable(a, first_row(a.query_begin, p.n_sequences)) && keys_readable(a, p);
  predicate attend_memory{L}(struct cp_attention *a) =
    attend_arrays(*a, *a->plan) &&
    \separated(a, (double *)a->workspace + (0 .. workspace_numbers(*a, *a->plan) - 1));

  // What may be read to find that out; the plan is a valid one, of runs or of a tree (RUNS-6).
  predicate attend_readable{L}(struct cp_attention *a) = a == \null || \valid_read(a) &&
    (a->plan == \null || \valid_read(a->plan) && runs_used(*a->plan) &&
      (a->query_begin == \null || \valid_read(a->query_begin + (0 .. a->plan->n_sequences))));
*/

#endif
