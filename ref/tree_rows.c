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

#ifdef __FRAMAC__
#include "proofs/logic/tree_rows.h"
#endif

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
        loop invariant moved: rows_moved_up(\at(*tree, Pre), *tree, s + 1, tree->n_sequences + 1);
        loop invariant kept: rows_same(\at(*tree, Pre), *tree, 0, s + 1);
        loop assigns s, tree->sequence[0 .. CP_MAX_SEQUENCES - 1]; loop variant s; */
    for (int s = tree->n_sequences; s > at; s--) {
        tree->sequence[s] = tree->sequence[s - 1];
    }
    tree->n_sequences++;
    /*@ loop invariant i: tree->pool.n_free <= i <= tree->pool.capacity;
        loop invariant opened: ranges_opened(\at(*tree, Pre), *tree, at, i);
        loop invariant rest: ranges_same_from(\at(*tree, Pre), *tree, i);
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
        loop invariant path: path_shared(*tree, at, from, k);
        loop invariant others: ends_same_off(\at(*tree, Pre), *tree, from, k);
        loop invariant end: ends_reach(\at(*tree, Pre), *tree, from, k, at);
        loop assigns k, tree->end[0 .. CP_MAX_CHUNKS - 1],
          tree->sequence[at].chunk[0 .. CP_MAX_DEPTH - 1]; loop variant n - k; */
    for (int k = 0; k < n; k++) {
        int chunk = tree->sequence[from].chunk[k];
        tree->sequence[at].chunk[k] = chunk;
        tree->end[chunk] += tree->end[chunk] == at ? 1 : 0;
        //@ assert others: off_path_next(*tree, from, k);
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
    //@ assert opened: ranges_opened(\at(*tree, Pre), *tree, at, tree->pool.capacity);
    //@ assert path: path_same(\at(*tree, Pre), *tree, from, n);
    share_path(tree, from, n, at);
    //@ assert off: off_path(\at(*tree, Pre), from, n);
}

void cp_tree_new_row(struct cp_tree *tree, int from, int n, int at, long long id,
                     unsigned long long salt) {
    //@ ghost struct cp_tree was = *tree;
    insert_row(tree, from, n, at, id, salt);
    //@ ghost inserted_is_ok(was, tree, from, n, at);
}

void cp_tree_close_row(struct cp_tree *tree, int at) {
    tree->n_sequences--;
    /*@ loop invariant s: at <= s <= tree->n_sequences;
        loop invariant before: rows_same(\at(*tree, Pre), *tree, 0, at);
        loop invariant moved: rows_moved_down(\at(*tree, Pre), *tree, at, s);
        loop invariant rest: rows_same(\at(*tree, Pre), *tree, s, tree->n_sequences + 1);
        loop assigns s, tree->sequence[0 .. CP_MAX_SEQUENCES - 1];
        loop variant tree->n_sequences - s; */
    for (int s = at; s < tree->n_sequences; s++) {
        tree->sequence[s] = tree->sequence[s + 1];
    }
    /*@ loop invariant i: tree->pool.n_free <= i <= tree->pool.capacity;
        loop invariant closed: ranges_closed(\at(*tree, Pre), *tree, at, i);
        loop invariant rest: ranges_same_from(\at(*tree, Pre), *tree, i);
        loop assigns i, tree->begin[0 .. CP_MAX_CHUNKS - 1], tree->end[0 .. CP_MAX_CHUNKS - 1];
        loop variant tree->pool.capacity - i; */
    for (int i = tree->pool.n_free; i < tree->pool.capacity; i++) {
        int chunk = tree->pool.perm[i];
        tree->begin[chunk] -= tree->begin[chunk] > at ? 1 : 0;
        tree->end[chunk] -= tree->end[chunk] > at ? 1 : 0;
    }
}
