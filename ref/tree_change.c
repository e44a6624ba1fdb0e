/* SPDX-License-Identifier: Apache-2.0 */
/* Sequences come and go. */
#include <stddef.h>

#include "chunkproof/status.h"
#include "tree_internal.h"

int cp_tree_join(struct cp_tree *tree, const int *token, int n_tokens, unsigned long long salt,
                 long long id, const unsigned long long *hash, struct cp_joined *joined) {
    int c = tree->chunk_size;
    if (n_tokens < 0) {
        return CP_ERROR_ARGUMENT;
    }
    int n_chunks = n_tokens / c + (n_tokens % c > 0 ? 1 : 0);
    if (n_chunks > CP_MAX_DEPTH) {
        return CP_ERROR_TOO_LONG;
    }
    if (tree->n_sequences == CP_MAX_SEQUENCES) {
        return CP_ERROR_SEQUENCES_FULL;
    }
    struct cp_match match = cp_tree_lookup(tree, token, n_tokens, salt, hash);
    if (n_chunks - match.n_chunks > tree->pool.n_free) {
        return CP_ERROR_POOL_FULL;
    }

    int at = tree->n_sequences;
    if (match.n_chunks > 0) {
        at = tree->end[tree->sequence[match.sequence].chunk[match.n_chunks - 1]];
    }
    cp_tree_new_row(tree, match.sequence, match.n_chunks, at, id, salt);
    for (int k = match.n_chunks; k < n_chunks; k++) {
        int fill = n_tokens - k * c < c ? n_tokens - k * c : c;
        int chunk = cp_tree_push_chunk(tree, at, fill);
        for (int i = 0; i < fill; i++) {
            tree->tokens[chunk].token[i] = token[k * c + i];
        }
        cp_tree_hash_if_full(tree, chunk);
    }
    joined->sequence = at;
    joined->n_shared = match.n_tokens;
    return CP_OK;
}

int cp_tree_leave(struct cp_tree *tree, int sequence) {
    if (sequence < 0 || sequence >= tree->n_sequences) {
        return CP_ERROR_ARGUMENT;
    }
    cp_tree_release_own(tree, sequence);
    cp_tree_close_row(tree, sequence);
    tree->stamp.epoch++;
    /*@ assert sizes: tree_sizes(*tree); */
    /*@ assert ranges: tree_ranges(*tree); */
    /*@ assert paths: tree_paths(*tree); */
    /*@ assert cover: tree_cover(*tree); */
    /*@ assert private: tree_private(*tree); */
    /*@ assert nested: tree_nested(*tree); */
    /*@ assert salts: tree_salts(*tree); */
    return CP_OK;
}

int cp_tree_fork(struct cp_tree *tree, int sequence, long long id, struct cp_forked *forked) {
    if (sequence < 0 || sequence >= tree->n_sequences) {
        return CP_ERROR_ARGUMENT;
    }
    if (tree->n_sequences == CP_MAX_SEQUENCES) {
        return CP_ERROR_SEQUENCES_FULL;
    }
    int n_chunks = tree->sequence[sequence].n_chunks;
    int n_full = n_chunks;
    if (n_chunks > 0 && !cp_tree_needs_chunk(tree, sequence)) {
        n_full = n_chunks - 1; /* the last one is partial */
        if (tree->pool.n_free == 0) {
            return CP_ERROR_POOL_FULL;
        }
    }

    int at = sequence + 1;
    cp_tree_new_row(tree, sequence, n_full, at, id, tree->sequence[sequence].salt);
    forked->sequence = at;
    forked->copy_from = -1;
    forked->copy_to = -1;
    if (n_full < n_chunks) {
        forked->copy_from = tree->sequence[sequence].chunk[n_full];
        forked->copy_to = cp_tree_copy_chunk(tree, at, forked->copy_from);
    }
    /*@ assert depth: tree_depth(*tree, at) == tree_depth(*tree, sequence); */
    /*@ assert shared: \forall integer k; 0 <= k < n_full ==>
          tree_chunk(*tree, at, k) == tree_chunk(*tree, sequence, k); */
    /*@ assert last: n_full < n_chunks ==> tree_chunk(*tree, at, n_full) == forked->copy_to &&
          tree_chunk(*tree, sequence, n_full) == forked->copy_from; */
    return CP_OK;
}
