/* SPDX-License-Identifier: Apache-2.0 */
/* Chunks at the end of a path. */
#include "tree_internal.h"

#ifdef __FRAMAC__
#include "proofs/logic/tree_ok.h"
#endif

int cp_tree_needs_chunk(const struct cp_tree *tree, int s) {
    int n_chunks = tree->sequence[s].n_chunks;
    return n_chunks == 0 || tree->fill[tree->sequence[s].chunk[n_chunks - 1]] == tree->chunk_size;
}

/* A new chunk for sequence s alone, at depth k, to hold `fill` tokens. The pool has a free one. */
/*@
  requires valid: \valid(tree);
  requires pool: pool_ok(tree->pool) && tree->pool.n_free > 0;
  requires row: 0 <= s < CP_MAX_SEQUENCES && 0 <= k < CP_MAX_DEPTH;
  assigns tree->pool.n_free, tree->begin[0 .. CP_MAX_CHUNKS - 1],
    tree->end[0 .. CP_MAX_CHUNKS - 1], tree->depth[0 .. CP_MAX_CHUNKS - 1],
    tree->fill[0 .. CP_MAX_CHUNKS - 1], tree->sequence[s].chunk[k];
  ensures pool: pool_ok(tree->pool) && tree->pool.n_free == \old(tree->pool.n_free) - 1;
  ensures was_free: 0 <= \result < tree->pool.capacity && !pool_used(\old(tree->pool), \result);
  ensures used: \forall integer x; pool_used(tree->pool, x) <==>
    (x == \result || pool_used(\old(tree->pool), x));
  ensures chunk: tree->begin[\result] == s && tree->end[\result] == s + 1 &&
    tree->depth[\result] == k && tree->fill[\result] == fill &&
    tree->sequence[s].chunk[k] == \result;
  ensures others: \forall integer x; 0 <= x < CP_MAX_CHUNKS && x != \result ==>
    tree->begin[x] == \old(tree->begin[x]) && tree->end[x] == \old(tree->end[x]) &&
    tree->depth[x] == \old(tree->depth[x]) && tree->fill[x] == \old(tree->fill[x]);
*/
static int add_chunk(struct cp_tree *tree, int s, int k, int fill) {
    int chunk = cp_pool_take(&tree->pool);
    tree->begin[chunk] = s;
    tree->end[chunk] = s + 1;
    tree->depth[chunk] = k;
    tree->fill[chunk] = fill;
    tree->sequence[s].chunk[k] = chunk;
    return chunk;
}

int cp_tree_push_chunk(struct cp_tree *tree, int s, int fill) {
    int n_chunks = tree->sequence[s].n_chunks;
    //@ assert no_partial: no_partial_of(*tree, s);
    int chunk = add_chunk(tree, s, n_chunks, fill);
    tree->sequence[s].n_chunks = n_chunks + 1;
    //@ ghost tree_is_ok(tree);
    return chunk;
}

int cp_tree_copy_chunk(struct cp_tree *tree, int s, int tail) {
    int chunk = cp_tree_push_chunk(tree, s, tree->fill[tail]);
    tree->tokens[chunk] = tree->tokens[tail];
    //@ ghost tree_is_ok(tree);
    return chunk;
}

void cp_tree_hash_if_full(struct cp_tree *tree, int chunk) {
    if (tree->fill[chunk] == tree->chunk_size) {
        tree->hash[chunk] = cp_tree_chunk_hash(tree, chunk);
    }
}

void cp_tree_release_own(struct cp_tree *tree, int s) {
    /*@ loop invariant k: -1 <= k < tree_depth(*tree, s);
        loop invariant pool: pool_ok(tree->pool);
        loop invariant freed: \forall integer x; pool_used(tree->pool, x) <==>
          (pool_used(\at(tree->pool, Pre), x) && !(tree_own(*tree, x, s) && tree->depth[x] > k));
        loop assigns k, tree->pool.n_free, tree->pool.perm[0 .. CP_MAX_CHUNKS - 1],
          tree->pool.pos[0 .. CP_MAX_CHUNKS - 1]; loop variant k; */
    for (int k = tree->sequence[s].n_chunks - 1; k >= 0; k--) {
        int chunk = tree->sequence[s].chunk[k];
        /*@ assert used: pool_used(\at(tree->pool, Pre), chunk) && tree->depth[chunk] == k; */
        /*@ assert only: \forall integer x; pool_used(\at(tree->pool, Pre), x) ==>
              tree_own(*tree, x, s) ==> tree->depth[x] == k ==> x == chunk; */
        if (tree->end[chunk] == tree->begin[chunk] + 1) {
            cp_pool_release(&tree->pool, chunk);
        }
    }
}
