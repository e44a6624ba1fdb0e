/* SPDX-License-Identifier: Apache-2.0 */
/* The clauses of spec/batch.md as predicates over a struct cp_batch. Provers alone read this
 * file. */
#ifndef CHUNKPROOF_LOGIC_BATCH_H
#define CHUNKPROOF_LOGIC_BATCH_H

#include "chunkproof/batch.h"

/*@
  // BATCH-4: a span has a token or more, at positions that can be counted.
  predicate span_ok(struct cp_span a) =
    1 <= a.n_tokens && 0 <= a.position && a.position + a.n_tokens <= 0x7FFFFFFF;
  // Its positions can be counted; it may have no token.
  predicate span_counts(struct cp_span a) =
    0 <= a.n_tokens && 0 <= a.position && a.position + a.n_tokens <= 0x7FFFFFFF;
  // Two spans have no position in common.
  predicate spans_apart(struct cp_span a, struct cp_span b) =
    a.position + a.n_tokens <= b.position || b.position + b.n_tokens <= a.position;

  // An owner is item o, or prompt -1 - o when o < 0. Its runs, and the numbers of run k.
  logic integer owner_runs(struct cp_batch b, integer o) =
    o < 0 ? b.prompt[-1 - o].n_own : b.item[o].n_runs;
  logic integer owner_chunk(struct cp_batch b, integer o, integer k) =
    o < 0 ? b.prompt[-1 - o].own[k].chunk : b.runs[o].run[k].chunk;
  logic integer owner_tokens(struct cp_batch b, integer o, integer k) =
    o < 0 ? b.prompt[-1 - o].own[k].n_tokens : b.runs[o].run[k].n_tokens;
  logic integer owner_position(struct cp_batch b, integer o, integer k) =
    o < 0 ? b.prompt[-1 - o].own[k].position : b.runs[o].run[k].position;

  // There is room for owner o in the lists; the positions of its first n runs can be counted.
  predicate owner_fits(integer o) = -CP_MAX_SEQUENCES <= o < CP_MAX_ITEMS;
  predicate run_counts(struct cp_batch b, integer o, integer k) =
    0 <= owner_tokens(b, o, k) && 0 <= owner_position(b, o, k) &&
    owner_position(b, o, k) + owner_tokens(b, o, k) <= 0x7FFFFFFF;
  predicate runs_count(struct cp_batch b, integer o, integer n) =
    \forall integer k; 0 <= k < n ==> run_counts(b, o, k);

  // None of the first n runs of owner o has one of `many` positions from `from` on.
  predicate run_avoids(struct cp_batch b, integer o, integer k, integer from, integer many) =
    owner_position(b, o, k) + owner_tokens(b, o, k) <= from ||
    from + many <= owner_position(b, o, k);
  predicate runs_avoid(struct cp_batch b, integer o, integer n, integer from, integer many) =
    \forall integer k; 0 <= k < n ==> run_avoids(b, o, k, from, many);

  // Prompt p has lists of its own and of items; the positions of all its runs can be counted.
  logic integer prompt_item(struct cp_batch b, integer p, integer i) = b.prompt[p].item[i];
  predicate items_fit(struct cp_batch b, integer p) =
    0 <= b.prompt[p].n_items <= CP_MAX_DEPTH &&
    (\forall integer i; 0 <= i < b.prompt[p].n_items ==>
      0 <= prompt_item(b, p, i) < CP_MAX_ITEMS &&
      0 <= owner_runs(b, prompt_item(b, p, i)) <= CP_MAX_DEPTH);
  predicate prompt_fits(struct cp_batch b, integer p) =
    0 <= p < CP_MAX_SEQUENCES && items_fit(b, p) && 0 <= b.prompt[p].n_own <= CP_MAX_DEPTH;
  predicate prompt_counts(struct cp_batch b, integer p) =
    (\forall integer i; 0 <= i < b.prompt[p].n_items ==>
      runs_count(b, prompt_item(b, p, i), owner_runs(b, prompt_item(b, p, i)))) &&
    runs_count(b, -1 - p, b.prompt[p].n_own);

  // None of the first n items of prompt p has one of them; nor has the prompt with these items.
  predicate items_avoid(struct cp_batch b, integer p, integer n, integer from, integer many) =
    \forall integer i; 0 <= i < n ==>
      runs_avoid(b, prompt_item(b, p, i), owner_runs(b, prompt_item(b, p, i)), from, many);
  predicate prompt_avoids(struct cp_batch b, integer p, integer n, integer from, integer many) =
    items_avoid(b, p, n, from, many) &&
    runs_avoid(b, -1 - p, b.prompt[p].n_own, from, many);
  // The prompt with its first n items has no position of owner o.
  predicate prompt_avoids_owner(struct cp_batch b, integer p, integer n, integer o) =
    \forall integer k; 0 <= k < owner_runs(b, o) ==>
      prompt_avoids(b, p, n, owner_position(b, o, k), owner_tokens(b, o, k));

  // The tokens of the first n runs of owner o, which have at most as many as a chunk each.
  axiomatic OwnerSum {
    logic integer owner_sum(struct cp_batch b, integer o, integer n);
    axiom owner_sum_0: \forall struct cp_batch b, integer o; owner_sum(b, o, 0) == 0;
    axiom owner_sum_next: \forall struct cp_batch b, integer o, n; 0 <= n ==>
      owner_sum(b, o, n + 1) == owner_sum(b, o, n) + owner_tokens(b, o, n);
  }
  predicate runs_in_chunks(struct cp_batch b, integer o, integer n) =
    \forall integer k; 0 <= k < n ==> 0 <= owner_tokens(b, o, k) <= CP_MAX_CHUNK_SIZE;

  // The item is one of the first n items of prompt p; and one of all.
  predicate items_have(struct cp_batch b, integer p, integer n, integer item) =
    \exists integer i; 0 <= i < n && prompt_item(b, p, i) == item;
  predicate prompt_has_item(struct cp_batch b, integer p, integer item) =
    items_have(b, p, b.prompt[p].n_items, item);

  // The runs of the first n items of prompt p.
  axiomatic ItemsRuns {
    logic integer items_runs(struct cp_batch b, integer p, integer n);
    axiom items_runs_0: \forall struct cp_batch b, integer p; items_runs(b, p, 0) == 0;
    axiom items_runs_next: \forall struct cp_batch b, integer p, n; 0 <= n ==>
      items_runs(b, p, n + 1) == items_runs(b, p, n) + owner_runs(b, prompt_item(b, p, n));
  }

  // RUNS-1: how many runs a span of n tokens is cut into, and the first n spans of a list.
  logic integer cut_into(integer n, integer c) = (n - 1) / c + 1;
  axiomatic SpansRuns {
    logic integer spans_runs{L}(struct cp_span *a, integer n, integer c) reads a[0 .. n - 1];
    axiom spans_runs_0{L}: \forall struct cp_span *a, integer c; spans_runs(a, 0, c) == 0;
    axiom spans_runs_next{L}: \forall struct cp_span *a, integer n, c; 0 <= n ==>
      spans_runs(a, n + 1, c) == spans_runs(a, n, c) + cut_into(a[n].n_tokens, c);
  }
  predicate spans_ok{L}(struct cp_span *a, integer n) =
    \forall integer i; 0 <= i < n ==> span_ok(a[i]);
*/

#endif
