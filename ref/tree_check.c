/* SPDX-License-Identifier: Apache-2.0 */
/* The executable invariant of the tree. Each clause is checked after those that make it safe to. */
#include <stddef.h>

#include "chunkproof/tree.h"

static int tree_sizes_are_valid(const struct cp_tree *tree) {
    if (tree->chunk_size < 1 || tree->chunk_size > CP_MAX_CHUNK_SIZE || tree->hash_bits < 0 ||
        tree->hash_bits > 64 || tree->n_sequences < 0 || tree->n_sequences > CP_MAX_SEQUENCES) {
        return 0;
    }
    for (int s = 0; s < tree->n_sequences; s++) {
        if (tree->sequence[s].n_chunks < 0 || tree->sequence[s].n_chunks > CP_MAX_DEPTH) {
            return 0;
        }
    }
    return 1;
}

/* TREE-1 for a used chunk. */
static int range_is_valid(const struct cp_tree *tree, int chunk) {
    return 0 <= tree->begin[chunk] && tree->begin[chunk] < tree->end[chunk] &&
           tree->end[chunk] <= tree->n_sequences && 1 <= tree->fill[chunk] &&
           tree->fill[chunk] <= tree->chunk_size;
}

/* TREE-2 for a used chunk; TREE-7, that all but the last of a path are full, follows. */
static int partial_is_private(const struct cp_tree *tree, int chunk) {
    int first = tree->begin[chunk];
    return tree->fill[chunk] == tree->chunk_size ||
           (tree->end[chunk] == first + 1 &&
            tree->depth[chunk] == tree->sequence[first].n_chunks - 1);
}

/* TREE-3, TREE-5 and TREE-14 for one path. */
static const char *check_path(const struct cp_tree *tree, int s) {
    const struct cp_sequence *row = &tree->sequence[s];
    for (int k = 0; k < row->n_chunks; k++) {
        int x = row->chunk[k];
        if (x < 0 || x >= tree->pool.capacity || !cp_pool_is_used(&tree->pool, x) ||
            tree->depth[x] != k || s < tree->begin[x] || s >= tree->end[x]) {
            return "TREE-3";
        }
        if (k > 0 && (tree->begin[x] < tree->begin[row->chunk[k - 1]] ||
                      tree->end[x] > tree->end[row->chunk[k - 1]])) {
            return "TREE-5";
        }
        if (row->salt != tree->sequence[tree->begin[x]].salt) {
            return "TREE-14";
        }
    }
    return NULL;
}

const char *cp_tree_check(const struct cp_tree *tree) {
    const char *broken = cp_pool_check(&tree->pool);
    if (broken != NULL) {
        return broken;
    }
    if (!tree_sizes_are_valid(tree)) {
        return "TREE-1";
    }
    long long covered = 0; /* (chunk, sequence) pairs in the ranges */
    for (int i = tree->pool.n_free; i < tree->pool.capacity; i++) {
        int x = tree->pool.perm[i];
        if (!range_is_valid(tree, x)) {
            return "TREE-1";
        }
        covered += tree->end[x] - tree->begin[x];
    }
    long long listed = 0; /* ... and on the paths */
    for (int s = 0; s < tree->n_sequences; s++) {
        broken = check_path(tree, s);
        if (broken != NULL) {
            return broken;
        }
        listed += tree->sequence[s].n_chunks;
    }
    /* By TREE-3 each listed pair is a covered one, and no chunk is twice on a path (its depth is one
     * number). So there are as many of each exactly when every covered pair is listed: TREE-4. */
    if (covered != listed) {
        return "TREE-4";
    }
    for (int i = tree->pool.n_free; i < tree->pool.capacity; i++) {
        if (!partial_is_private(tree, tree->pool.perm[i])) {
            return "TREE-2";
        }
    }
    return NULL;
}

const char *cp_tree_check_hashes(const struct cp_tree *tree) {
    for (int i = tree->pool.n_free; i < tree->pool.capacity; i++) {
        int x = tree->pool.perm[i];
        if (tree->fill[x] == tree->chunk_size &&
            tree->hash[x] !=
                cp_tree_hash(tree->tokens[x].token, tree->chunk_size, tree->hash_bits)) {
            return "TREE-15";
        }
    }
    return NULL;
}

int cp_tree_is_valid(const struct cp_tree *tree) {
    return cp_tree_check(tree) == NULL && cp_tree_check_hashes(tree) == NULL;
}
