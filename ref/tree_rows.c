/* SPDX-License-Identifier: Apache-2.0 */
/* Rows come and go, and ranges move with them.
 *
 * Example (the tree of tree_internal.h): a new row 2 gets A B. Then the chunk C, which row 0 alone
 * has, is freed, and row 0 leaves. The ranges:
 *
 *                                  A      B      C      D      E
 *     before                     [0,3)  [0,2)  [0,1)  [1,2)  [2,3)
 *     open_row(2)                [0,4)  [0,2)  [0,1)  [1,2)  [3,4)    begins >= 2, ends > 2 go up
 *     share_path(.., 2, 2)       [0,4)  [0,3)  [0,1)  [1,2)  [3,4)    B ended at 2: takes row 2 in
 *     cp_tree_close_row(0)       [0,3)  [0,2)    -    [0,1)  [2,3)    begins > 0, ends > 0 go down
 */
#include "tree_internal.h"

/* Makes room for a sequence at index `at`: rows and ranges behind it move up by one. The new row is
 * in the range of every chunk that `at` was strictly inside of. */
/*@
  requires valid: \valid(tree);
  requires pool: pool_ok(tree->pool);
  requires room: 0 <= at <= tree->n_sequences < CP_MAX_SEQUENCES;
  requires ranges: tree_ranges(*tree);
  assigns tree->n_sequences, tree->begin[0 .. CP_MAX_CHUNKS - 1],
    tree->end[0 .. CP_MAX_CHUNKS - 1], tree->sequence[0 .. CP_MAX_SEQUENCES - 1];
  ensures one_more: tree->n_sequences == \old(tree->n_sequences) + 1;
  ensures before: \forall integer s; 0 <= s < at ==>
    tree->sequence[s] == \old(tree->sequence[s]);
  ensures behind: \forall integer s; at < s < tree->n_sequences ==>
    tree->sequence[s] == \old(tree->sequence[s - 1]);
  ensures begin: \forall integer x; pool_used(tree->pool, x) ==>
    tree->begin[x] == \old(tree->begin[x]) + (\old(tree->begin[x]) >= at ? 1 : 0);
  ensures end: \forall integer x; pool_used(tree->pool, x) ==>
    tree->end[x] == \old(tree->end[x]) + (\old(tree->end[x]) > at ? 1 : 0);
*/
static void open_row(struct cp_tree *tree, int at) {
    /*@ loop invariant s: at <= s <= tree->n_sequences;
        loop invariant moved: \forall integer r; s < r <= tree->n_sequences ==>
          tree->sequence[r] == \at(tree->sequence[r - 1], Pre);
        loop invariant kept: \forall integer r; 0 <= r <= s && r < tree->n_sequences ==>
          tree->sequence[r] == \at(tree->sequence[r], Pre);
        loop assigns s, tree->sequence[0 .. CP_MAX_SEQUENCES - 1]; loop variant s; */
    for (int s = tree->n_sequences; s > at; s--) {
        tree->sequence[s] = tree->sequence[s - 1];
    }
    tree->n_sequences++;
    /*@ loop invariant i: tree->pool.n_free <= i <= tree->pool.capacity;
        loop invariant begin: \forall integer x; pool_used(tree->pool, x) &&
          tree->pool.pos[x] < i ==>
          tree->begin[x] == \at(tree->begin[x], Pre) + (\at(tree->begin[x], Pre) >= at ? 1 : 0);
        loop invariant end: \forall integer x; pool_used(tree->pool, x) && tree->pool.pos[x] < i ==>
          tree->end[x] == \at(tree->end[x], Pre) + (\at(tree->end[x], Pre) > at ? 1 : 0);
        loop invariant rest: \forall integer x; pool_used(tree->pool, x) &&
          tree->pool.pos[x] >= i ==>
          tree->begin[x] == \at(tree->begin[x], Pre) && tree->end[x] == \at(tree->end[x], Pre);
        loop assigns i, tree->begin[0 .. CP_MAX_CHUNKS - 1], tree->end[0 .. CP_MAX_CHUNKS - 1];
        loop variant tree->pool.capacity - i; */
    for (int i = tree->pool.n_free; i < tree->pool.capacity; i++) {
        int chunk = tree->pool.perm[i];
        tree->begin[chunk] += tree->begin[chunk] >= at ? 1 : 0;
        tree->end[chunk] += tree->end[chunk] > at ? 1 : 0;
    }
}

/* Puts the first n chunks of sequence `from` on the path of `at` too; each of them ends at `at` or
 * has it inside already. */
/*@
  requires valid: \valid(tree);
  requires pool: pool_ok(tree->pool);
  requires rows: n > 0 ==> 0 <= from < CP_MAX_SEQUENCES && from != at;
  requires at: 0 <= at < CP_MAX_SEQUENCES && 0 <= n <= CP_MAX_DEPTH;
  requires used: \forall integer k; 0 <= k < n ==>
    pool_used(tree->pool, tree_chunk(*tree, from, k)) &&
    tree->depth[tree_chunk(*tree, from, k)] == k;
  assigns tree->end[0 .. CP_MAX_CHUNKS - 1], tree->sequence[at].chunk[0 .. CP_MAX_DEPTH - 1];
  ensures path: \forall integer k; 0 <= k < n ==>
    tree_chunk(*tree, at, k) == \old(tree_chunk(*tree, from, k));
  ensures others: \forall integer x; 0 <= x < CP_MAX_CHUNKS ==>
    (\forall integer k; 0 <= k < n ==> tree_chunk(*tree, from, k) != x) ==>
      tree->end[x] == \old(tree->end[x]);
  ensures end: \forall integer k; 0 <= k < n ==>
    tree->end[tree_chunk(*tree, from, k)] ==
      (\old(tree->end[tree_chunk(*tree, from, k)]) == at ? at + 1 :
        \old(tree->end[tree_chunk(*tree, from, k)]));
*/
static void share_path(struct cp_tree *tree, int from, int n, int at) {
    /*@ loop invariant k: 0 <= k <= n;
        loop invariant path: \forall integer j; 0 <= j < k ==>
          tree_chunk(*tree, at, j) == tree_chunk(*tree, from, j);
        loop invariant others: \forall integer x; 0 <= x < CP_MAX_CHUNKS ==>
          (\forall integer j; 0 <= j < k ==> tree_chunk(*tree, from, j) != x) ==>
            tree->end[x] == \at(tree->end[x], Pre);
        loop invariant end: \forall integer j; 0 <= j < k ==>
          tree->end[tree_chunk(*tree, from, j)] ==
            (\at(tree->end[tree_chunk(*tree, from, j)], Pre) == at ? at + 1 :
              \at(tree->end[tree_chunk(*tree, from, j)], Pre));
        loop assigns k, tree->end[0 .. CP_MAX_CHUNKS - 1],
          tree->sequence[at].chunk[0 .. CP_MAX_DEPTH - 1];
        loop variant n - k; */
    for (int k = 0; k < n; k++) {
        int chunk = tree->sequence[from].chunk[k];
        tree->sequence[at].chunk[k] = chunk;
        tree->end[chunk] += tree->end[chunk] == at ? 1 : 0;
        /*@ assert others: \forall integer x;
              (\forall integer j; 0 <= j < k + 1 ==> tree_chunk(*tree, from, j) != x) ==>
              x != chunk && (\forall integer j; 0 <= j < k ==> tree_chunk(*tree, from, j) != x); */
    }
}

/* Adds a sequence at index `at` with the first n chunks of sequence `from`. It does not separate
 * two sequences that share a chunk which it does not get. */
/*@
  requires valid: \valid(tree);
  requires ok: tree_ok(*tree);
  requires room: 0 <= at <= tree->n_sequences < CP_MAX_SEQUENCES;
  requires sizes: 0 <= n <= CP_MAX_DEPTH;
  requires from: n > 0 ==> 0 <= from < at && n <= tree_depth(*tree, from);
  requires reach: \forall integer x; pool_used(tree->pool, x) ==> tree_on(*tree, from, n, x) ==>
    n > 0 ==> tree->begin[x] < at <= tree->end[x];
  requires inside: \forall integer x; pool_used(tree->pool, x) ==>
    tree->begin[x] < at < tree->end[x] ==> n > 0 && tree_on(*tree, from, n, x);
  assigns tree->n_sequences, tree->begin[0 .. CP_MAX_CHUNKS - 1],
    tree->end[0 .. CP_MAX_CHUNKS - 1], tree->sequence[0 .. CP_MAX_SEQUENCES - 1],
    tree->stamp.epoch;
  ensures one_more: tree->n_sequences == \old(tree->n_sequences) + 1;
  ensures rows_before: \forall integer r; 0 <= r < at ==>
    tree->sequence[r] == \old(tree->sequence[r]);
  ensures rows_behind: \forall integer r; at < r < tree->n_sequences ==>
    tree->sequence[r] == \old(tree->sequence[r - 1]);
  ensures row: tree->sequence[at].id == id && tree->sequence[at].salt == salt &&
    tree_depth(*tree, at) == n;
  ensures path: \forall integer k; 0 <= k < n ==>
    tree_chunk(*tree, at, k) == \old(tree_chunk(*tree, from, k));
  ensures shared: \forall integer x; pool_used(tree->pool, x) ==>
    n > 0 && tree_on(\old(*tree), from, n, x) ==>
    tree->begin[x] == \old(tree->begin[x]) && tree->end[x] == \old(tree->end[x]) + 1;
  ensures before: \forall integer x; pool_used(tree->pool, x) ==>
    !(n > 0 && tree_on(\old(*tree), from, n, x)) ==> \old(tree->end[x]) <= at ==>
    tree->begin[x] == \old(tree->begin[x]) && tree->end[x] == \old(tree->end[x]);
  ensures behind: \forall integer x; pool_used(tree->pool, x) ==> \old(tree->begin[x]) >= at ==>
    tree->begin[x] == \old(tree->begin[x]) + 1 && tree->end[x] == \old(tree->end[x]) + 1;
  ensures epoch: tree->stamp.epoch == (unsigned long long)(\old(tree->stamp.epoch) + 1);
*/
static void insert_row(struct cp_tree *tree, int from, int n, int at, long long id,
                       unsigned long long salt) {
    tree->stamp.epoch++;
    open_row(tree, at);
    tree->sequence[at].id = id;
    tree->sequence[at].salt = salt;
    tree->sequence[at].n_chunks = n;
    /*@ assert opened: \forall integer x; pool_used(tree->pool, x) ==>
          tree->begin[x] == \at(*tree, Pre).begin[x] + (\at(*tree, Pre).begin[x] >= at ? 1 : 0) &&
          tree->end[x] == \at(*tree, Pre).end[x] + (\at(*tree, Pre).end[x] > at ? 1 : 0); */
    /*@ assert path: \forall integer k; 0 <= k < n ==>
          tree_chunk(*tree, from, k) == tree_chunk(\at(*tree, Pre), from, k); */
    share_path(tree, from, n, at);
    /*@ assert off: \forall integer x; pool_used(tree->pool, x) ==>
          !(n > 0 && tree_on(\at(*tree, Pre), from, n, x)) ==>
          \forall integer k; 0 <= k < n ==> tree_chunk(\at(*tree, Pre), from, k) != x; */
}

void cp_tree_new_row(struct cp_tree *tree, int from, int n, int at, long long id,
                     unsigned long long salt) {
    /*@ assert owner: \forall integer x; pool_used(tree->pool, x) ==> n > 0 ==>
          tree->begin[x] <= from < tree->end[x] ==> tree->depth[x] < n ==>
          tree_on(*tree, from, n, x); */
    /*@ assert whole: \forall integer x; pool_used(tree->pool, x) ==> n > 0 ==>
          tree->fill[x] < tree->chunk_size ==> !tree_on(*tree, from, n, x); */
    /*@ assert up: \forall integer r, j, k; n > 0 ==> 0 <= r < tree->n_sequences ==>
          0 <= j <= k < tree_depth(*tree, r) ==>
          tree_on(*tree, from, n, tree_chunk(*tree, r, k)) ==>
          tree_on(*tree, from, n, tree_chunk(*tree, r, j)); */
    insert_row(tree, from, n, at, id, salt);
    /*@ assert paths_before: \forall integer r, k; 0 <= r < tree->n_sequences ==> r < at ==>
          0 <= k < tree_depth(*tree, r) ==> pool_used(tree->pool, tree_chunk(*tree, r, k)) &&
          tree->depth[tree_chunk(*tree, r, k)] == k &&
          tree->begin[tree_chunk(*tree, r, k)] <= r < tree->end[tree_chunk(*tree, r, k)]; */
    /*@ assert paths_at: \forall integer r, k; 0 <= r < tree->n_sequences ==> r == at ==>
          0 <= k < tree_depth(*tree, r) ==> pool_used(tree->pool, tree_chunk(*tree, r, k)) &&
          tree->depth[tree_chunk(*tree, r, k)] == k &&
          tree->begin[tree_chunk(*tree, r, k)] <= r < tree->end[tree_chunk(*tree, r, k)]; */
    /*@ assert paths_behind: \forall integer r, k; 0 <= r < tree->n_sequences ==> r > at ==>
          0 <= k < tree_depth(*tree, r) ==> pool_used(tree->pool, tree_chunk(*tree, r, k)) &&
          tree->depth[tree_chunk(*tree, r, k)] == k &&
          tree->begin[tree_chunk(*tree, r, k)] <= r < tree->end[tree_chunk(*tree, r, k)]; */
    /*@ assert cover_before: \forall integer x, r; pool_used(tree->pool, x) ==> r < at ==>
          tree->begin[x] <= r < tree->end[x] ==>
          0 <= tree->depth[x] < tree_depth(*tree, r) &&
          tree_chunk(*tree, r, tree->depth[x]) == x; */
    /*@ assert cover_at: \forall integer x, r; pool_used(tree->pool, x) ==> r == at ==>
          tree->begin[x] <= r < tree->end[x] ==>
          0 <= tree->depth[x] < tree_depth(*tree, r) &&
          tree_chunk(*tree, r, tree->depth[x]) == x; */
    /*@ assert cover_behind: \forall integer x, r; pool_used(tree->pool, x) ==> r > at ==>
          tree->begin[x] <= r < tree->end[x] ==>
          0 <= tree->depth[x] < tree_depth(*tree, r) &&
          tree_chunk(*tree, r, tree->depth[x]) == x; */
    /*@ assert sizes: tree_sizes(*tree); */
    /*@ assert ranges: tree_ranges(*tree); */
    /*@ assert partial: \forall integer x; pool_used(tree->pool, x) ==>
          tree->fill[x] < tree->chunk_size ==> tree->begin[x] != at &&
          tree->end[x] == tree->begin[x] + 1; */
    /*@ assert private: tree_private(*tree); */
    /*@ assert nested_before: \forall integer r, j, k; 0 <= r < tree->n_sequences ==> r < at ==>
          0 <= j <= k < tree_depth(*tree, r) ==>
          tree->begin[tree_chunk(*tree, r, j)] <= tree->begin[tree_chunk(*tree, r, k)] &&
          tree->end[tree_chunk(*tree, r, k)] <= tree->end[tree_chunk(*tree, r, j)]; */
    /*@ assert nested_at: \forall integer r, j, k; 0 <= r < tree->n_sequences ==> r == at ==>
          0 <= j <= k < tree_depth(*tree, r) ==>
          tree->begin[tree_chunk(*tree, r, j)] <= tree->begin[tree_chunk(*tree, r, k)] &&
          tree->end[tree_chunk(*tree, r, k)] <= tree->end[tree_chunk(*tree, r, j)]; */
    /*@ assert nested_behind: \forall integer r, j, k; 0 <= r < tree->n_sequences ==> r > at ==>
          0 <= j <= k < tree_depth(*tree, r) ==>
          tree->begin[tree_chunk(*tree, r, j)] <= tree->begin[tree_chunk(*tree, r, k)] &&
          tree->end[tree_chunk(*tree, r, k)] <= tree->end[tree_chunk(*tree, r, j)]; */
    /*@ assert salts_before: \forall integer x, r; pool_used(tree->pool, x) ==> r < at ==>
          tree->begin[x] <= r < tree->end[x] ==>
          tree->sequence[r].salt == tree->sequence[tree->begin[x]].salt; */
    /*@ assert salts_at: \forall integer x, r; pool_used(tree->pool, x) ==> r == at ==>
          tree->begin[x] <= r < tree->end[x] ==>
          tree->sequence[r].salt == tree->sequence[tree->begin[x]].salt; */
    /*@ assert salts_behind: \forall integer x, r; pool_used(tree->pool, x) ==> r > at ==>
          tree->begin[x] <= r < tree->end[x] ==>
          tree->sequence[r].salt == tree->sequence[tree->begin[x]].salt; */
    /*@ assert paths: tree_paths(*tree); */
    /*@ assert cover: tree_cover(*tree); */
    /*@ assert nested: tree_nested(*tree); */
    /*@ assert salts: tree_salts(*tree); */
}

void cp_tree_close_row(struct cp_tree *tree, int at) {
    tree->n_sequences--;
    /*@ loop invariant s: at <= s <= tree->n_sequences;
        loop invariant before: \forall integer r; 0 <= r < at ==>
          tree->sequence[r] == \at(tree->sequence[r], Pre);
        loop invariant moved: \forall integer r; at <= r < s ==>
          tree->sequence[r] == \at(tree->sequence[r + 1], Pre);
        loop invariant rest: \forall integer r; s <= r <= tree->n_sequences ==>
          tree->sequence[r] == \at(tree->sequence[r], Pre);
        loop assigns s, tree->sequence[0 .. CP_MAX_SEQUENCES - 1];
        loop variant tree->n_sequences - s; */
    for (int s = at; s < tree->n_sequences; s++) {
        tree->sequence[s] = tree->sequence[s + 1];
    }
    /*@ loop invariant i: tree->pool.n_free <= i <= tree->pool.capacity;
        loop invariant begin: \forall integer x; pool_used(tree->pool, x) &&
          tree->pool.pos[x] < i ==>
          tree->begin[x] == \at(tree->begin[x], Pre) - (\at(tree->begin[x], Pre) > at ? 1 : 0);
        loop invariant end: \forall integer x; pool_used(tree->pool, x) && tree->pool.pos[x] < i ==>
          tree->end[x] == \at(tree->end[x], Pre) - (\at(tree->end[x], Pre) > at ? 1 : 0);
        loop invariant rest: \forall integer x; pool_used(tree->pool, x) &&
          tree->pool.pos[x] >= i ==>
          tree->begin[x] == \at(tree->begin[x], Pre) && tree->end[x] == \at(tree->end[x], Pre);
        loop assigns i, tree->begin[0 .. CP_MAX_CHUNKS - 1], tree->end[0 .. CP_MAX_CHUNKS - 1];
        loop variant tree->pool.capacity - i; */
    for (int i = tree->pool.n_free; i < tree->pool.capacity; i++) {
        int chunk = tree->pool.perm[i];
        tree->begin[chunk] -= tree->begin[chunk] > at ? 1 : 0;
        tree->end[chunk] -= tree->end[chunk] > at ? 1 : 0;
    }
}
