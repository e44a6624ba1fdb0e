/* SPDX-License-Identifier: Apache-2.0 */
/* The executable invariant of the tree. Each check comes after those that make its own array
 * accesses safe. */
#include <stddef.h>

#include "tree_internal.h"

#ifdef __FRAMAC__
#include "proofs/logic/tree_check.h"
#include "proofs/logic/tree_ok.h"
#endif

/*@
  requires valid: \valid_read(tree);
  assigns \nothing;
  ensures result: \result != 0 <==> tree_sizes(*tree);
*/
static int sizes_are_valid(const struct cp_tree *tree) {
    if (tree->chunk_size < 1 || tree->chunk_size > CP_MAX_CHUNK_SIZE || tree->hash_bits < 0 ||
        tree->hash_bits > 64 || tree->n_sequences < 0 || tree->n_sequences > CP_MAX_SEQUENCES) {
        return 0;
    }
    /*@ loop invariant s: 0 <= s <= tree->n_sequences;
        loop invariant rows: depths_to(*tree, s);
        loop assigns s; loop variant tree->n_sequences - s; */
    for (int s = 0; s < tree->n_sequences; s++) {
        if (tree->sequence[s].n_chunks < 0 || tree->sequence[s].n_chunks > CP_MAX_DEPTH) {
            return 0;
        }
    }
    return 1;
}

/* TREE-1. */
/*@
  requires valid: \valid_read(tree);
  requires pool: pool_ok(tree->pool);
  assigns \nothing;
  ensures result: \result != 0 <==> tree_ranges(*tree);
*/
static int ranges_are_valid(const struct cp_tree *tree) {
    /*@ loop invariant i: tree->pool.n_free <= i <= tree->pool.capacity;
        loop invariant ranges: ranges_to(*tree, i);
        loop assigns i; loop variant tree->pool.capacity - i; */
    for (int i = tree->pool.n_free; i < tree->pool.capacity; i++) {
        int x = tree->pool.perm[i];
        /*@ assert used: pool_used(tree->pool, x); */
        if (tree->begin[x] < 0 || tree->begin[x] >= tree->end[x] ||
            tree->end[x] > tree->n_sequences || tree->fill[x] < 1 ||
            tree->fill[x] > tree->chunk_size) {
            return 0;
        }
    }
    return 1;
}

/* TREE-3, TREE-5 and TREE-14 for one path. */
/*@
  requires valid: \valid_read(tree);
  requires pool: pool_ok(tree->pool);
  requires sizes: tree_sizes(*tree);
  requires ranges: tree_ranges(*tree);
  requires sequence: 0 <= s < tree->n_sequences;
  assigns \result \from *tree, s;
  ensures path: \result == \null <==>
    \forall integer k; 0 <= k < tree_depth(*tree, s) ==> path_at(*tree, s, k);
  ensures nested: \result == \null ==> path_nested(*tree, s, tree_depth(*tree, s));
*/
static const char *check_path(const struct cp_tree *tree, int s) {
    /*@ loop invariant k: 0 <= k <= tree_depth(*tree, s);
        loop invariant path: path_to(*tree, s, k);
        loop invariant nested: path_nested(*tree, s, k);
        loop assigns k; loop variant tree_depth(*tree, s) - k; */
    for (int k = 0; k < tree->sequence[s].n_chunks; k++) {
        int x = tree->sequence[s].chunk[k];
        if (x < 0 || x >= tree->pool.capacity || !cp_pool_is_used(&tree->pool, x) ||
            tree->depth[x] != k || s < tree->begin[x] || s >= tree->end[x]) {
            return "TREE-3";
        }
        if (k > 0) {
            int above = tree->sequence[s].chunk[k - 1];
            if (tree->begin[x] < tree->begin[above] || tree->end[x] > tree->end[above]) {
                return "TREE-5";
            }
        }
        if (tree->sequence[s].salt != tree->sequence[tree->begin[x]].salt) {
            return "TREE-14";
        }
    }
    return NULL;
}

/* TREE-4 for a used chunk: each sequence that it covers has it on its path. */
/*@
  requires valid: \valid_read(tree);
  requires sizes: tree_sizes(*tree);
  requires chunk: 0 <= x < CP_MAX_CHUNKS;
  requires range: 0 <= tree->begin[x] <= tree->end[x] <= tree->n_sequences;
  assigns \nothing;
  ensures result: \result != 0 <==> \forall integer s; tree->begin[x] <= s < tree->end[x] ==>
    0 <= tree->depth[x] < tree_depth(*tree, s) && tree_chunk(*tree, s, tree->depth[x]) == x;
*/
static int is_on_paths(const struct cp_tree *tree, int x) {
    int k = tree->depth[x];
    /*@ loop invariant s: tree->begin[x] <= s <= tree->end[x];
        loop invariant on: on_paths_to(*tree, x, s);
        loop assigns s; loop variant tree->end[x] - s; */
    for (int s = tree->begin[x]; s < tree->end[x]; s++) {
        if (k < 0 || k >= tree->sequence[s].n_chunks || tree->sequence[s].chunk[k] != x) {
            return 0;
        }
    }
    return 1;
}

/* TREE-2 for a used chunk; TREE-7, that all but the last of a path are full, follows. */
/*@
  requires valid: \valid_read(tree);
  requires sizes: tree_sizes(*tree);
  requires chunk: 0 <= x < CP_MAX_CHUNKS;
  requires range: 0 <= tree->begin[x] < tree->n_sequences && tree->fill[x] <= tree->chunk_size;
  assigns \nothing;
  ensures result: \result != 0 <==> (tree->fill[x] < tree->chunk_size ==>
    tree->end[x] == tree->begin[x] + 1 &&
    tree->depth[x] == tree_depth(*tree, tree->begin[x]) - 1);
*/
static int partial_is_private(const struct cp_tree *tree, int x) {
    int first = tree->begin[x];
    return tree->fill[x] == tree->chunk_size ||
           (tree->end[x] == first + 1 && tree->depth[x] == tree->sequence[first].n_chunks - 1);
}

const char *cp_tree_check(const struct cp_tree *tree) {
    const char *broken = cp_pool_check(&tree->pool);
    if (broken != NULL) {
        return broken;
    }
    if (!sizes_are_valid(tree) || !ranges_are_valid(tree)) {
        return "TREE-1";
    }
    /*@ loop invariant s: 0 <= s <= tree->n_sequences;
        loop invariant paths: paths_to(*tree, s);
        loop invariant nested: nested_to(*tree, s);
        loop assigns s, broken; loop variant tree->n_sequences - s; */
    for (int s = 0; s < tree->n_sequences; s++) {
        broken = check_path(tree, s);
        if (broken != NULL) {
            //@ assert path: tree_ok(*tree) ==> path_to(*tree, s, tree_depth(*tree, s));
            return broken;
        }
    }
    /* No chunk and sequence are looked up twice. So this loop makes no more steps than the paths
     * have entries, however long the ranges are. */
    /*@ loop invariant i: tree->pool.n_free <= i <= tree->pool.capacity;
        loop invariant cover: cover_to(*tree, i);
        loop assigns i; loop variant tree->pool.capacity - i; */
    for (int i = tree->pool.n_free; i < tree->pool.capacity; i++) {
        /*@ assert used: pool_used(tree->pool, tree->pool.perm[i]); */
        if (!is_on_paths(tree, tree->pool.perm[i])) {
            return "TREE-4";
        }
    }
    /*@ loop invariant i: tree->pool.n_free <= i <= tree->pool.capacity;
        loop invariant private: private_to(*tree, i);
        loop assigns i; loop variant tree->pool.capacity - i; */
    for (int i = tree->pool.n_free; i < tree->pool.capacity; i++) {
        /*@ assert used: pool_used(tree->pool, tree->pool.perm[i]); */
        if (!partial_is_private(tree, tree->pool.perm[i])) {
            return "TREE-2";
        }
    }
    //@ ghost tree_is_ok(tree);
    return NULL;
}

const char *cp_tree_check_hashes(const struct cp_tree *tree) {
    /*@ loop invariant i: tree->pool.n_free <= i <= tree->pool.capacity;
        loop invariant hashes: hashes_to(*tree, i);
        loop assigns i; loop variant tree->pool.capacity - i; */
    for (int i = tree->pool.n_free; i < tree->pool.capacity; i++) {
        int x = tree->pool.perm[i];
        /*@ assert used: pool_used(tree->pool, x); */
        if (tree->fill[x] == tree->chunk_size && tree->hash[x] != cp_tree_chunk_hash(tree, x)) {
            return "TREE-15";
        }
    }
    return NULL;
}

int cp_tree_is_valid(const struct cp_tree *tree) {
    return cp_tree_check(tree) == NULL && cp_tree_check_hashes(tree) == NULL;
}
