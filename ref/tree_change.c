/* SPDX-License-Identifier: Apache-2.0 */
/* Sequences go, and come as copies of others. */
#include "chunkproof/status.h"
#include "tree_internal.h"

#ifdef __FRAMAC__
#include "proofs/logic/tree_change.h"
#include "proofs/logic/tree_ok.h"
#endif

int cp_tree_leave(struct cp_tree *tree, int sequence) {
    if (sequence < 0 || sequence >= tree->n_sequences) {
        return CP_ERROR_ARGUMENT;
    }
    cp_tree_release_own(tree, sequence);
    cp_tree_close_row(tree, sequence);
    tree->stamp.epoch++;
    //@ assert left: ranges_left(\at(*tree, Pre), *tree, sequence);
    //@ ghost tree_is_ok(tree);
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
    //@ assert partial: n_full < n_chunks ==> tree->fill[forked->copy_to] != tree->chunk_size;
    //@ assert used: chunks_kept_but(\at(*tree, Pre), *tree, forked->copy_to);
    //@ assert hashes: tree_hashes(\at(*tree, Pre)) ==> tree_hashes(*tree);
    //@ assert depth: tree_depth(*tree, at) == tree_depth(*tree, sequence);
    //@ assert shared: path_shared(*tree, at, sequence, n_full);
    //@ assert last: n_full < n_chunks ==> last_copied(*tree, *forked, sequence, n_full);
    /*@ assert fill: 0 < n_chunks ==>
          tree_last_fill(*tree, at) == tree_last_fill(*tree, sequence); */
    //@ assert length: tree_length(*tree, at) == tree_length(*tree, sequence);
    //@ assert tokens: fork_tokens(*tree, sequence);
    return CP_OK;
}
