/* SPDX-License-Identifier: Apache-2.0 */
#include "chunkproof/opt_tree.h"

#include "tree_internal.h"

void cp_opt_tree_init(struct cp_opt_tree *tree) {
    tree->stamp.epoch = 0;
    tree->stamp.step = 0;
    tree->shape = 0;
    tree->n_free = tree->sizes.capacity;
    tree->n_sequences = 0;
    tree->free_chunk = tree->free_sequence = -1;
    tree->fresh_chunk = tree->fresh_sequence = 0;
    tree->first = tree->last = tree->root = -1;
    cp_opt_make_keys(tree);
}

int cp_opt_tree_is_alive(const struct cp_opt_tree *tree, int sequence) {
    return 0 <= sequence && sequence < tree->fresh_sequence && tree->sequence[sequence].size != 0;
}

int cp_opt_tree_length(const struct cp_opt_tree *tree, int sequence) {
    return tree->sequence[sequence].n_chunks * tree->sizes.chunk_size -
           tree->sequence[sequence].room;
}

int cp_opt_tree_token(const struct cp_opt_tree *tree, int sequence, int k) {
    int c = tree->sizes.chunk_size;
    return tokens_of(tree, path_of(tree, sequence)[k / c])[k % c];
}

const int *cp_opt_tree_path(const struct cp_opt_tree *tree, int sequence) {
    return path_of(tree, sequence);
}
