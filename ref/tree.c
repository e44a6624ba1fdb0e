/* SPDX-License-Identifier: Apache-2.0 */
#include "chunkproof/tree.h"

#ifdef __FRAMAC__
#include "proofs/logic/tree_bounds.h"
#endif

void cp_tree_init(struct cp_tree *tree, int capacity, int chunk_size, int hash_bits,
                  unsigned long long name) {
    cp_pool_init(&tree->pool, capacity);
    tree->chunk_size = chunk_size;
    tree->hash_bits = hash_bits;
    tree->n_sequences = 0;
    tree->stamp.tree = name;
    tree->stamp.epoch = 0;
    tree->stamp.step = 0;
}

int cp_tree_length(const struct cp_tree *tree, int sequence) {
    int n_chunks = tree->sequence[sequence].n_chunks;
    if (n_chunks == 0) {
        return 0;
    }
    int last = tree->sequence[sequence].chunk[n_chunks - 1];
    /*@ assert used: pool_used(tree->pool, last); */
    /*@ ghost product_bound(n_chunks - 1, CP_MAX_DEPTH - 1, tree->chunk_size, CP_MAX_CHUNK_SIZE); */
    return (n_chunks - 1) * tree->chunk_size + tree->fill[last];
}

int cp_tree_token(const struct cp_tree *tree, int sequence, int k) {
    int depth = k / tree->chunk_size;
    int slot = k % tree->chunk_size;
    /*@ ghost quotient_bound(k, tree->chunk_size, tree->sequence[sequence].n_chunks); */
    int chunk = tree->sequence[sequence].chunk[depth];
    /*@ assert used: pool_used(tree->pool, chunk); */
    return tree->tokens[chunk].token[slot];
}

int cp_tree_find(const struct cp_tree *tree, long long id) {
    /*@ loop invariant s: 0 <= s <= tree->n_sequences;
        loop invariant others: \forall integer r; 0 <= r < s ==> tree->sequence[r].id != id;
        loop assigns s; loop variant tree->n_sequences - s; */
    for (int s = 0; s < tree->n_sequences; s++) {
        if (tree->sequence[s].id == id) {
            return s;
        }
    }
    return -1;
}
