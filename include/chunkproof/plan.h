/* SPDX-License-Identifier: Apache-2.0 */
/* The plan: the tree as the kernels need it, plain data (spec/plan.md; the papers' context (C, i, j)).
 *
 * Shared chunks are listed once each with the range of sequences that they cover, parents before
 * children; every sequence has its whole path, the shared chunks first. The chunk-first phase walks
 * shared[], the sequence-first phase walks row[s].chunk[n_shared .. n_chunks), a paged kernel walks
 * row[s].chunk[0 .. n_chunks).
 */
#ifndef CHUNKPROOF_PLAN_H
#define CHUNKPROOF_PLAN_H

#include "chunkproof/limits.h"
#include "chunkproof/tree.h"

#ifdef __cplusplus
extern "C" {
#endif

/* (C, i, j): chunk C holds n_tokens keys that all sequences in [begin, end) attend to; its first
 * key is number `position` of each of them. end - begin >= 2 and the chunk is full (PLAN-1). */
struct cp_shared_chunk {
    int chunk;
    int begin;
    int end;
    int n_tokens;
    int position;
};

/* One sequence (PLAN-2). Chunk k of its path holds keys k*c .. min((k+1)*c, n_tokens)-1; the first
 * n_shared chunks are in shared[], the others are this sequence's own. */
struct cp_plan_row {
    int n_tokens;
    int n_chunks;
    int n_shared;
    int chunk[CP_MAX_DEPTH];
};

struct cp_plan {
    struct cp_stamp stamp; /* the tree's when the plan was made */
    int capacity;          /* chunks in the pool: every chunk index is below */
    int chunk_size;        /* c */
    int n_sequences;       /* b */
    int n_shared;
    struct cp_shared_chunk shared[CP_MAX_CHUNKS];
    struct cp_plan_row row[CP_MAX_SEQUENCES];
};

/*@
  // The position of the first key of the k-th chunk of a path, and the other way round.
  axiomatic KeyAt {
    logic integer key_at(integer k, integer c);
    axiom key_at_is: \forall integer k, c; key_at(k, c) == k * c;
    logic integer depth_at(integer position, integer c);
    axiom depth_at_is: \forall integer position, c; 0 < c ==>
      depth_at(position, c) == position / c;
    lemma key_at_first: \forall integer c; key_at(0, c) == 0;
    lemma key_at_next: \forall integer k, c; key_at(k + 1, c) == key_at(k, c) + c;
    lemma key_at_positive: \forall integer k, c; 0 <= k ==> 0 < c ==> 0 <= key_at(k, c);
    lemma key_at_ordered: \forall integer j, k, c; 0 <= j < k ==> 0 < c ==>
      key_at(j, c) + c + key_at(k - j - 1, c) == key_at(k, c);
    lemma depth_of_key: \forall integer k, c; 0 <= k ==> 0 < c ==> depth_at(key_at(k, c), c) == k;
  }

  // The k-th chunk of sequence s, and how deep the chunk of descriptor i is.
  logic integer plan_chunk(struct cp_plan p, integer s, integer k) = p.row[s].chunk[k];
  logic integer plan_depth(struct cp_plan p, integer i) =
    depth_at(p.shared[i].position, p.chunk_size);

  // Sizes are within their bounds.
  predicate plan_sizes(struct cp_plan p) =
    1 <= p.chunk_size <= CP_MAX_CHUNK_SIZE && 1 <= p.capacity <= CP_MAX_CHUNKS &&
    0 <= p.n_sequences <= CP_MAX_SEQUENCES && 0 <= p.n_shared <= p.capacity;

  // PLAN-2: a row has a path, the shared chunks first.
  predicate plan_row_path(struct cp_plan p, integer s) =
    0 <= p.row[s].n_shared <= p.row[s].n_chunks <= CP_MAX_DEPTH &&
    (\forall integer k; 0 <= k < p.row[s].n_chunks ==> 0 <= plan_chunk(p, s, k) < p.capacity);

  // PLAN-7: all its chunks but the last are full, and all shared ones.
  predicate plan_row_length(struct cp_plan p, integer s) =
    0 <= p.row[s].n_tokens <= key_at(p.row[s].n_chunks, p.chunk_size) &&
    key_at(p.row[s].n_chunks - 1, p.chunk_size) < p.row[s].n_tokens &&
    key_at(p.row[s].n_shared, p.chunk_size) <= p.row[s].n_tokens;

  predicate plan_rows(struct cp_plan p) =
    \forall integer s; 0 <= s < p.n_sequences ==> plan_row_path(p, s) && plan_row_length(p, s);

  // PLAN-1: a descriptor serves two sequences or more, and its chunk is full.
  predicate plan_descriptor(struct cp_plan p, integer i) =
    0 <= p.shared[i].chunk < p.capacity &&
    0 <= p.shared[i].begin <= p.shared[i].end - 2 && p.shared[i].end <= p.n_sequences &&
    p.shared[i].n_tokens == p.chunk_size && 0 <= plan_depth(p, i) < CP_MAX_DEPTH &&
    p.shared[i].position == key_at(plan_depth(p, i), p.chunk_size);

  predicate plan_descriptors(struct cp_plan p, integer n) =
    \forall integer i; 0 <= i < n ==> plan_descriptor(p, i);

  // Descriptor i serves sequence s.
  predicate plan_serves(struct cp_plan p, integer i, integer s) =
    p.shared[i].begin <= s < p.shared[i].end;

  // PLAN-3: what the ranges of the first n descriptors contain is in the shared part of the rows, ...
  predicate plan_on_path(struct cp_plan p, integer i, integer s) =
    plan_depth(p, i) < p.row[s].n_shared && plan_chunk(p, s, plan_depth(p, i)) == p.shared[i].chunk;

  predicate plan_on_paths(struct cp_plan p, integer n) =
    \forall integer i, s; 0 <= i < n ==> plan_serves(p, i, s) ==> plan_on_path(p, i, s);

  // ... no pair is in two of them, ...
  predicate plan_disjoint(struct cp_plan p, integer n) =
    \forall integer i, j; 0 <= i < j < n ==> plan_depth(p, i) == plan_depth(p, j) ==>
      p.shared[i].end <= p.shared[j].begin;

  // ... and the first n sequences have all that is in the shared part of their rows from one of them.
  predicate plan_covered(struct cp_plan p, integer s, integer k) =
    \exists integer i; 0 <= i < p.n_shared && plan_serves(p, i, s) && plan_depth(p, i) == k;

  predicate plan_covers(struct cp_plan p, integer n) =
    \forall integer s, k; 0 <= s < n ==> 0 <= k < p.row[s].n_shared ==> plan_covered(p, s, k);

  // PLAN-4: descriptor i comes before j: by first sequence, then from the root down.
  predicate plan_before(struct cp_plan p, integer i, integer j) =
    p.shared[i].begin < p.shared[j].begin ||
    (p.shared[i].begin == p.shared[j].begin && p.shared[i].position < p.shared[j].position);

  predicate plan_sorted(struct cp_plan p, integer n) =
    \forall integer i, j; 0 <= i < j < n ==> plan_before(p, i, j);

  // A valid plan: what the phases rely on.
  predicate plan_ok(struct cp_plan p) =
    plan_sizes(p) && plan_rows(p) && plan_descriptors(p, p.n_shared) && plan_sorted(p, p.n_shared) &&
    plan_on_paths(p, p.n_shared) && plan_disjoint(p, p.n_shared) && plan_covers(p, p.n_sequences);

  // Chunk x serves two sequences or more.
  predicate tree_shared(struct cp_tree t, integer x) =
    pool_used(t.pool, x) && t.begin[x] + 2 <= t.end[x];

  // PLAN-1: descriptor i is that of a shared chunk; every one is among the first n.
  predicate plan_describes(struct cp_plan p, struct cp_tree t, integer i) =
    tree_shared(t, p.shared[i].chunk) &&
    p.shared[i].begin == t.begin[p.shared[i].chunk] &&
    p.shared[i].end == t.end[p.shared[i].chunk] &&
    p.shared[i].n_tokens == t.chunk_size &&
    p.shared[i].position == key_at(t.depth[p.shared[i].chunk], t.chunk_size);

  predicate plan_lists(struct cp_plan p, integer n, integer x) =
    \exists integer i; 0 <= i < n && p.shared[i].chunk == x;

  // PLAN-2: row s is the path of sequence s.
  predicate plan_row_of(struct cp_plan p, struct cp_tree t, integer s) =
    p.row[s].n_chunks == tree_depth(t, s) && 0 <= p.row[s].n_shared <= p.row[s].n_chunks &&
    (\forall integer k; 0 <= k < tree_depth(t, s) ==> plan_chunk(p, s, k) == tree_chunk(t, s, k)) &&
    (\forall integer k; 0 <= k < tree_depth(t, s) ==>
      (k < p.row[s].n_shared <==> tree_shared(t, tree_chunk(t, s, k))));

  // PLAN-7: and as long.
  predicate plan_lengths_of(struct cp_plan p, struct cp_tree t) =
    \forall integer s; 0 <= s < t.n_sequences ==> p.row[s].n_tokens == tree_length(t, s);

  // PLAN-1, PLAN-2, PLAN-4: the tree's plan but for lengths and stamp. There is one such plan.
  predicate plan_paths_of(struct cp_plan p, struct cp_tree t) =
    p.capacity == t.pool.capacity && p.chunk_size == t.chunk_size &&
    p.n_sequences == t.n_sequences && 0 <= p.n_shared <= p.capacity &&
    (\forall integer s; 0 <= s < t.n_sequences ==> plan_row_of(p, t, s)) &&
    (\forall integer i; 0 <= i < p.n_shared ==> plan_describes(p, t, i)) &&
    (\forall integer x; tree_shared(t, x) ==> plan_lists(p, p.n_shared, x)) &&
    plan_sorted(p, p.n_shared);

  // The stamps are equal.
  predicate same_stamp(struct cp_stamp a, struct cp_stamp b) =
    a.tree == b.tree && a.epoch == b.epoch && a.step == b.step;

  // PLAN-1 to PLAN-5, PLAN-7: the tree's plan.
  predicate plan_of(struct cp_plan p, struct cp_tree t) =
    plan_paths_of(p, t) && plan_lengths_of(p, t) && same_stamp(p.stamp, t.stamp);
*/

/* A plan in memory of its own, touched only where used, of no sequences and of no tree: its stamp
 * equals no tree's. On CP_OK *plan is the caller's, to be given to cp_plan_free(); else NULL.
 * Fails with CP_ERROR_NO_MEMORY. */
int cp_plan_new(struct cp_plan **plan);
void cp_plan_free(struct cp_plan *plan);

/* Makes the plan of a valid tree (PLAN-1 .. PLAN-4). */
/*@
  requires valid: \valid(plan) && \valid_read(tree);
  requires separated: \separated(plan, tree);
  requires ok: tree_ok(*tree);
  assigns *plan;
  ensures of_tree: plan_of(*plan, *tree);
  ensures ok: plan_ok(*plan);
  ensures other_rows: \forall integer s; tree->n_sequences <= s < CP_MAX_SEQUENCES ==>
    plan->row[s] == \old(plan->row[s]);
  ensures other_descriptors: \forall integer i; plan->n_shared <= i < CP_MAX_CHUNKS ==>
    plan->shared[i] == \old(plan->shared[i]);
*/
void cp_plan_build(struct cp_plan *plan, const struct cp_tree *tree);

/* Brings a plan of this tree up to date, to be called before each decoding iteration (PLAN-6).
 * Returns 1 when it was rebuilt because a path or a range had changed, 0 when at most the lengths
 * were refreshed: what was copied to a device stays good but for row[].n_tokens. */
/*@
  requires valid: \valid(plan) && \valid_read(tree);
  requires separated: \separated(plan, tree);
  requires ok: tree_ok(*tree);
  // Between equal epochs of a tree no path and no range has changed (PLAN-5).
  requires epoch: plan->stamp.tree == tree->stamp.tree && plan->stamp.epoch == tree->stamp.epoch ==>
    plan_paths_of(*plan, *tree);
  assigns *plan;
  ensures of_tree: plan_of(*plan, *tree);
  ensures ok: plan_ok(*plan);
  behavior rebuilt:
    assumes plan->stamp.tree != tree->stamp.tree || plan->stamp.epoch != tree->stamp.epoch;
    ensures plan_6_rebuilt: \result == 1;
  behavior refreshed:
    assumes plan->stamp.tree == tree->stamp.tree && plan->stamp.epoch == tree->stamp.epoch;
    assigns plan->row[0 .. CP_MAX_SEQUENCES - 1].n_tokens, plan->stamp;
    ensures plan_6_refreshed: \result == 0;
    ensures sizes: plan->capacity == \old(plan->capacity) &&
      plan->chunk_size == \old(plan->chunk_size) &&
      plan->n_sequences == \old(plan->n_sequences) && plan->n_shared == \old(plan->n_shared);
    ensures descriptors: \forall integer i; 0 <= i < CP_MAX_CHUNKS ==>
      plan->shared[i] == \old(plan->shared[i]);
    ensures tables: \forall integer s, k; 0 <= s < CP_MAX_SEQUENCES ==> 0 <= k < CP_MAX_DEPTH ==>
      plan_chunk(*plan, s, k) == \old(plan_chunk(*plan, s, k));
    ensures counts: \forall integer s; 0 <= s < CP_MAX_SEQUENCES ==>
      plan->row[s].n_chunks == \old(plan->row[s].n_chunks) &&
      plan->row[s].n_shared == \old(plan->row[s].n_shared);
  complete behaviors;
  disjoint behaviors;
*/
int cp_plan_update(struct cp_plan *plan, const struct cp_tree *tree);

/* 1 when the plan describes the tree as it is now, 0 when it is stale (PLAN-5). */
/*@
  requires valid: \valid_read(plan);
  assigns \nothing;
  ensures result: \result == 1 || \result == 0;
  ensures current: \result == 1 <==> same_stamp(plan->stamp, stamp);
*/
int cp_plan_is_current(const struct cp_plan *plan, struct cp_stamp stamp);

/* For any content, NULL when the plan is one that the phases accept, else the number of the first
 * clause that it breaks. Needs no tree. Linear in the plan. */
/*@
  requires valid: \valid_read(plan);
  assigns \result \from *plan;
  ensures valid: \result == \null <==> plan_ok(*plan);
*/
const char *cp_plan_check(const struct cp_plan *plan);

/* 1 when cp_plan_check() finds nothing, else 0. */
/*@
  requires valid: \valid_read(plan);
  assigns \nothing;
  ensures valid: \result != 0 <==> plan_ok(*plan);
*/
int cp_plan_is_valid(const struct cp_plan *plan);

#ifdef __cplusplus
}
#endif

#endif
