/* SPDX-License-Identifier: Apache-2.0 */
/* Rows and ranges that move, for ref/tree_rows.c; and, as a ghost function, why a tree stays valid
 * when a row comes (TREE-9, TREE-12). Provers alone read this file. */
#ifndef CHUNKPROOF_LOGIC_TREE_ROWS_H
#define CHUNKPROOF_LOGIC_TREE_ROWS_H

#include "proofs/logic/tree_internal.h"

/*@
  // Rows from .. to - 1 of b are those of a; those one before; those one behind.
  predicate rows_same(struct cp_tree a, struct cp_tree b, integer from, integer to) =
    \forall integer r; from <= r < to ==> b.sequence[r] == a.sequence[r];
  predicate rows_moved_up(struct cp_tree a, struct cp_tree b, integer from, integer to) =
    \forall integer r; from <= r < to ==> b.sequence[r] == a.sequence[r - 1];
  predicate rows_moved_down(struct cp_tree a, struct cp_tree b, integer from, integer to) =
    \forall integer r; from <= r < to ==> b.sequence[r] == a.sequence[r + 1];

  // The ranges of the used chunks before place i of the pool's table make room for row `at`; close
  // up without it; those from place i on are as they were.
  predicate ranges_opened(struct cp_tree a, struct cp_tree b, integer at, integer i) =
    \forall integer x; pool_used(b.pool, x) ==> b.pool.pos[x] < i ==>
      b.begin[x] == a.begin[x] + (a.begin[x] >= at ? 1 : 0) &&
      b.end[x] == a.end[x] + (a.end[x] > at ? 1 : 0);
  predicate ranges_closed(struct cp_tree a, struct cp_tree b, integer at, integer i) =
    \forall integer x; pool_used(b.pool, x) ==> b.pool.pos[x] < i ==>
      b.begin[x] == a.begin[x] - (a.begin[x] > at ? 1 : 0) &&
      b.end[x] == a.end[x] - (a.end[x] > at ? 1 : 0);
  predicate ranges_same_from(struct cp_tree a, struct cp_tree b, integer i) =
    \forall integer x; pool_used(b.pool, x) ==> b.pool.pos[x] >= i ==>
      b.begin[x] == a.begin[x] && b.end[x] == a.end[x];

  // The ends of the first n chunks of sequence `from`, if `at`, take it in; those of all others are
  // as they were.
  predicate ends_reach(struct cp_tree a, struct cp_tree b, integer from, integer n, integer at) =
    \forall integer k; 0 <= k < n ==> b.end[tree_chunk(b, from, k)] ==
      (a.end[tree_chunk(b, from, k)] == at ? at + 1 : a.end[tree_chunk(b, from, k)]);
  predicate ends_same_off(struct cp_tree a, struct cp_tree b, integer from, integer n) =
    \forall integer x; 0 <= x < CP_MAX_CHUNKS ==>
      (\forall integer k; 0 <= k < n ==> tree_chunk(b, from, k) != x) ==> b.end[x] == a.end[x];
  predicate off_path_next(struct cp_tree t, integer from, integer n) =
    \forall integer x; (\forall integer k; 0 <= k < n + 1 ==> tree_chunk(t, from, k) != x) ==>
      x != tree_chunk(t, from, n) &&
      (\forall integer k; 0 <= k < n ==> tree_chunk(t, from, k) != x);
  predicate off_path(struct cp_tree t, integer from, integer n) =
    \forall integer x; pool_used(t.pool, x) ==> !(n > 0 && tree_on(t, from, n, x)) ==>
      \forall integer k; 0 <= k < n ==> tree_chunk(t, from, k) != x;

  // TREE-3, TREE-5 for one sequence.
  predicate paths_of(struct cp_tree t, integer s) =
    \forall integer k; 0 <= k < tree_depth(t, s) ==>
      pool_used(t.pool, tree_chunk(t, s, k)) && t.depth[tree_chunk(t, s, k)] == k &&
      t.begin[tree_chunk(t, s, k)] <= s < t.end[tree_chunk(t, s, k)];
  predicate nested_of(struct cp_tree t, integer s) =
    \forall integer j, k; 0 <= j <= k < tree_depth(t, s) ==>
      t.begin[tree_chunk(t, s, j)] <= t.begin[tree_chunk(t, s, k)] &&
      t.end[tree_chunk(t, s, k)] <= t.end[tree_chunk(t, s, j)];
*/

/* `tree` is `was` with one row more, at index `at`, which has the first n chunks of sequence
 * `from`. */
/*@ ghost
  /@ requires valid: \valid_read(tree);
     requires ok: tree_ok(was);
     requires room: 0 <= at <= was.n_sequences < CP_MAX_SEQUENCES;
     requires sizes: 0 <= n <= CP_MAX_DEPTH;
     requires from: n > 0 ==> 0 <= from < at && n <= tree_depth(was, from) &&
       was.sequence[from].salt == tree->sequence[at].salt;
     requires full: n > 0 ==> \forall integer k; 0 <= k < n ==>
       was.fill[tree_chunk(was, from, k)] == was.chunk_size;
     requires reach: \forall integer x; pool_used(was.pool, x) ==> tree_on(was, from, n, x) ==>
       n > 0 ==> was.begin[x] < at <= was.end[x];
     requires inside: \forall integer x; pool_used(was.pool, x) ==>
       was.begin[x] < at < was.end[x] ==> n > 0 && tree_on(was, from, n, x);
     requires pool: pool_ok(tree->pool) &&
       \forall integer x; pool_used(tree->pool, x) <==> pool_used(was.pool, x);
     requires constant: tree->chunk_size == was.chunk_size && tree->hash_bits == was.hash_bits;
     requires chunks: \forall integer x; 0 <= x < CP_MAX_CHUNKS ==>
       tree->depth[x] == was.depth[x] && tree->fill[x] == was.fill[x];
     requires one_more: tree->n_sequences == was.n_sequences + 1;
     requires rows_before: rows_same(was, *tree, 0, at);
     requires rows_behind: rows_moved_up(was, *tree, at + 1, tree->n_sequences);
     requires depth: tree_depth(*tree, at) == n;
     requires path: \forall integer k; 0 <= k < n ==>
       tree_chunk(*tree, at, k) == tree_chunk(was, from, k);
     requires shared: \forall integer x; pool_used(tree->pool, x) ==>
       n > 0 && tree_on(was, from, n, x) ==>
       tree->begin[x] == was.begin[x] && tree->end[x] == was.end[x] + 1;
     requires before: \forall integer x; pool_used(tree->pool, x) ==>
       !(n > 0 && tree_on(was, from, n, x)) ==> was.end[x] <= at ==>
       tree->begin[x] == was.begin[x] && tree->end[x] == was.end[x];
     requires behind: \forall integer x; pool_used(tree->pool, x) ==> was.begin[x] >= at ==>
       tree->begin[x] == was.begin[x] + 1 && tree->end[x] == was.end[x] + 1;
     assigns \nothing;
     ensures ok: tree_ok(*tree); @/
  void inserted_is_ok(struct cp_tree was, const struct cp_tree *tree, int from, int n, int at) {
    /@ assert owner: \forall integer x; pool_used(was.pool, x) ==> n > 0 ==>
         was.begin[x] <= from < was.end[x] ==> was.depth[x] < n ==> tree_on(was, from, n, x); @/
    /@ assert whole: \forall integer x; pool_used(was.pool, x) ==> n > 0 ==>
         was.fill[x] < was.chunk_size ==> !tree_on(was, from, n, x); @/
    /@ assert up: \forall integer r, j, k; n > 0 ==> 0 <= r < was.n_sequences ==>
         0 <= j <= k < tree_depth(was, r) ==> tree_on(was, from, n, tree_chunk(was, r, k)) ==>
         tree_on(was, from, n, tree_chunk(was, r, j)); @/
    /@ assert paths_before: \forall integer r; 0 <= r < at ==> paths_of(*tree, r); @/
    /@ assert paths_at: paths_of(*tree, at); @/
    /@ assert paths_behind: \forall integer r; at < r < tree->n_sequences ==>
         paths_of(*tree, r); @/
    /@ assert cover_before: \forall integer x, r; pool_used(tree->pool, x) ==> r < at ==>
         tree->begin[x] <= r < tree->end[x] ==>
         0 <= tree->depth[x] < tree_depth(*tree, r) && tree_chunk(*tree, r, tree->depth[x]) == x; @/
    /@ assert cover_at: \forall integer x, r; pool_used(tree->pool, x) ==> r == at ==>
         tree->begin[x] <= r < tree->end[x] ==>
         0 <= tree->depth[x] < tree_depth(*tree, r) && tree_chunk(*tree, r, tree->depth[x]) == x; @/
    /@ assert cover_behind: \forall integer x, r; pool_used(tree->pool, x) ==> at < r ==>
         tree->begin[x] <= r < tree->end[x] ==>
         0 <= tree->depth[x] < tree_depth(*tree, r) && tree_chunk(*tree, r, tree->depth[x]) == x; @/
    /@ assert sizes: tree_sizes(*tree); @/
    /@ assert ranges: tree_ranges(*tree); @/
    /@ assert partial: \forall integer x; pool_used(tree->pool, x) ==>
         tree->fill[x] < tree->chunk_size ==>
         tree->begin[x] != at && tree->end[x] == tree->begin[x] + 1; @/
    /@ assert private: tree_private(*tree); @/
    /@ assert nested_before: \forall integer r; 0 <= r < at ==> nested_of(*tree, r); @/
    /@ assert nested_at: nested_of(*tree, at); @/
    /@ assert nested_behind: \forall integer r; at < r < tree->n_sequences ==>
         nested_of(*tree, r); @/
    /@ assert salts_before: \forall integer x, r; pool_used(tree->pool, x) ==> r < at ==>
         tree->begin[x] <= r < tree->end[x] ==>
         tree->sequence[r].salt == tree->sequence[tree->begin[x]].salt; @/
    /@ assert salts_at: \forall integer x, r; pool_used(tree->pool, x) ==> r == at ==>
         tree->begin[x] <= r < tree->end[x] ==>
         tree->sequence[r].salt == tree->sequence[tree->begin[x]].salt; @/
    /@ assert salts_behind: \forall integer x, r; pool_used(tree->pool, x) ==> at < r ==>
         tree->begin[x] <= r < tree->end[x] ==>
         tree->sequence[r].salt == tree->sequence[tree->begin[x]].salt; @/
    /@ assert paths: tree_paths(*tree); @/
    /@ assert cover: tree_cover(*tree); @/
    /@ assert nested: tree_nested(*tree); @/
    /@ assert salts: tree_salts(*tree); @/
  }
*/

#endif
