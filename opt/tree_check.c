/* SPDX-License-Identifier: Apache-2.0 */
/* The executable invariant. Each clause is checked after those that make it safe to. */
#include <stddef.h>

#include "tree_internal.h"

static int is_used(const struct cp_opt_tree *tree, int x) {
    return 0 <= x && x < tree->fresh_chunk && tree->chunk[x].first != -1;
}

/* POOL-1, POOL-2: the list of free chunks ends, so it has none twice; it has as many as are free
 * and not fresh, so it has all. */
static int pool_is_valid(const struct cp_opt_tree *tree) {
    int listed = 0, not_used = 0;
    if (tree->fresh_chunk < 0 || tree->fresh_chunk > tree->sizes.capacity) {
        return 0;
    }
    for (int x = 0; x < tree->fresh_chunk; x++) {
        not_used += tree->chunk[x].first == -1;
    }
    for (int x = tree->free_chunk; x != -1; x = tree->chunk[x].next, listed++) {
        if (listed == not_used || x < 0 || x >= tree->fresh_chunk || tree->chunk[x].first != -1) {
            return 0;
        }
    }
    return listed == not_used &&
           tree->n_free == not_used + tree->sizes.capacity - tree->fresh_chunk;
}

/* Handles alike. */
static int handles_are_valid(const struct cp_opt_tree *tree) {
    int listed = 0, not_used = 0;
    if (tree->fresh_sequence < 0 || tree->fresh_sequence > tree->sizes.max_sequences) {
        return 0;
    }
    for (int s = 0; s < tree->fresh_sequence; s++) {
        not_used += tree->sequence[s].size == 0;
    }
    for (int s = tree->free_sequence; s != -1; s = tree->sequence[s].next, listed++) {
        if (listed == not_used || s < 0 || s >= tree->fresh_sequence ||
            tree->sequence[s].size != 0) {
            return 0;
        }
    }
    return listed == not_used;
}

static int has_at(const struct cp_opt_tree *tree, int s, int k, int chunk) {
    return s >= 0 && k < tree->sequence[s].n_chunks && chunk_of(tree, s, k) == chunk;
}

/* Checks each sequence's own numbers, before they are compared with those of others. */
static int sequence_is_valid(const struct cp_opt_tree *tree, int s) {
    return 0 <= tree->sequence[s].n_chunks && tree->sequence[s].n_chunks <= tree->sizes.max_depth &&
           0 <= tree->sequence[s].n_shared &&
           tree->sequence[s].n_shared <= tree->sequence[s].n_chunks &&
           0 <= tree->sequence[s].room && tree->sequence[s].room < tree->sizes.chunk_size &&
           tree->sequence[s].joint == (tree->sequence[s].n_shared > 0
                                           ? chunk_of(tree, s, tree->sequence[s].n_shared - 1)
                                           : -1) &&
           (tree->sequence[s].n_chunks > 0
                ? tree->sequence[s].tail == chunk_of(tree, s, tree->sequence[s].n_chunks - 1)
                : tree->sequence[s].room == 0) &&
           tree->sequence[s].marked == 0;
}

/* TREE-1 and TREE-4 for a used chunk: there are sequences at both ends of its range, and the
 * first has the chunk. The rest follows from TREE-3: a sequence that has the chunk is the first
 * of the range, or comes after one that has it; likewise for the last. */
static const char *check_chunk(const struct cp_opt_tree *tree, int x) {
    if (!cp_opt_tree_is_alive(tree, tree->chunk[x].first) ||
        !cp_opt_tree_is_alive(tree, tree->chunk[x].last)) {
        return "TREE-1";
    }
    return has_at(tree, tree->chunk[x].first, (int)tree->chunk[x].depth, x) ? NULL : "TREE-4";
}

static const char *check_path(const struct cp_opt_tree *tree, int s) {
    if (tree->sequence[s].room > 0 && tree->sequence[s].n_shared == tree->sequence[s].n_chunks) {
        return "TREE-2";
    }
    for (int k = 0; k < tree->sequence[s].n_chunks; k++) {
        int x = chunk_of(tree, s, k);
        if (!is_used(tree, x)) {
            return "TREE-3";
        }
        if ((int)tree->chunk[x].depth != k ||
            tree->chunk[x].parent != (k > 0 ? chunk_of(tree, s, k - 1) : -1) ||
            (tree->chunk[x].first != s && !has_at(tree, tree->sequence[s].previous, k, x)) ||
            (tree->chunk[x].last != s && !has_at(tree, tree->sequence[s].next, k, x))) {
            return "TREE-3";
        }
        if ((k < tree->sequence[s].n_shared) != (tree->chunk[x].first != tree->chunk[x].last)) {
            return "TREE-5";
        }
        if (tree->chunk[x].first != s &&
            tree->sequence[tree->sequence[s].previous].salt != tree->sequence[s].salt) {
            return "TREE-14";
        }
    }
    return NULL;
}

static int is_full(const struct cp_opt_tree *tree, int x) {
    int first = tree->chunk[x].first;
    return tree->sequence[first].tail != x || tree->sequence[first].room == 0;
}

/* Twins know of it; not of each other, but of one. */
static int twins_are_valid(const struct cp_opt_tree *tree, int x) {
    int twin = cp_opt_find(tree, tree->chunk[x].next, tree->chunk[x].parent,
                           tree->sequence[tree->chunk[x].first].salt, tree->chunk[x].hash,
                           tokens_of(tree, x));
    return twin < 0 || (tree->chunk[x].has_twin && tree->chunk[twin].has_twin);
}

/* The buckets have each full chunk, where it belongs, and no other. No chunk has two before it, so
 * the lists end. */
static int buckets_are_valid(const struct cp_opt_tree *tree) {
    int listed = 0, full = 0;
    for (int b = 0; b < tree->n_buckets; b++) {
        int previous = -2 - b;
        if (tree->bucket[b] < 0) { /* also the one that has no number before it */
            return 0;
        }
        for (int x = tree->bucket[b] - 1; x != -1;
             previous = x, x = tree->chunk[x].next, listed++) {
            if (!is_used(tree, x) || !is_full(tree, x) || tree->chunk[x].previous != previous ||
                cp_opt_bucket(tree, tree->chunk[x].parent,
                              tree->sequence[tree->chunk[x].first].salt,
                              tree->chunk[x].hash) != b) {
                return 0;
            }
        }
    }
    for (int x = 0; x < tree->fresh_chunk; x++) {
        if (tree->chunk[x].first != -1) {
            int is_listed = tree->chunk[x].previous != -1;
            if (is_listed != is_full(tree, x)) {
                return 0;
            }
            full += is_listed;
        }
    }
    if (listed != full) { /* a list that no bucket begins need not end */
        return 0;
    }
    for (int x = 0; x < tree->fresh_chunk; x++) {
        if (tree->chunk[x].first != -1 && is_full(tree, x) && !twins_are_valid(tree, x)) {
            return 0;
        }
    }
    return 1;
}

const char *cp_opt_tree_check(const struct cp_opt_tree *tree) {
    if (!pool_is_valid(tree)) {
        return "POOL-2";
    }
    if (!handles_are_valid(tree)) {
        return "TREE-1";
    }
    const char *broken = cp_opt_check_order(tree);
    for (int s = tree->first; broken == NULL && s >= 0; s = tree->sequence[s].next) {
        broken = sequence_is_valid(tree, s) ? NULL : "TREE-1";
    }
    for (int x = 0; broken == NULL && x < tree->fresh_chunk; x++) {
        broken = tree->chunk[x].first == -1 ? NULL : check_chunk(tree, x);
    }
    for (int s = tree->first; broken == NULL && s >= 0; s = tree->sequence[s].next) {
        broken = check_path(tree, s);
    }
    if (broken == NULL && !buckets_are_valid(tree)) {
        broken = "TREE-8";
    }
    return broken;
}

const char *cp_opt_tree_check_hashes(const struct cp_opt_tree *tree) {
    for (int x = 0; x < tree->fresh_chunk; x++) {
        if (tree->chunk[x].first != -1 && is_full(tree, x) &&
            tree->chunk[x].hash != cp_opt_hash(tree, tokens_of(tree, x))) {
            return "TREE-15";
        }
    }
    return NULL;
}

int cp_opt_tree_is_valid(const struct cp_opt_tree *tree) {
    return cp_opt_tree_check(tree) == NULL && cp_opt_tree_check_hashes(tree) == NULL;
}
