/* SPDX-License-Identifier: Apache-2.0 */
#include "chunkproof/tree.h"

/* Products of two unknowns are what the provers are worst at; here they meet them alone. */
/*@ ghost
  /@ requires 0 <= a <= a_max && 0 <= b <= b_max;
     assigns \nothing;
     ensures 0 <= a * b <= a_max * b_max; @/
  void product_bound(int a, int a_max, int b, int b_max) {
    /@ assert a * b <= a_max * b; @/
  }
  /@ requires 0 <= k && 0 < c && k < n * c;
     assigns \nothing;
     ensures 0 <= k / c < n && 0 <= k % c < c; @/
  void quotient_bound(int k, int c, int n) {
    /@ assert k == (k / c) * c + k % c && 0 <= k % c < c; @/
  }
*/

void cp_tree_init(struct cp_tree *tree, int capacity, int chunk_size, int hash_bits) {
    cp_pool_init(&tree->pool, capacity);
    tree->chunk_size = chunk_size;
    tree->hash_bits = hash_bits;
    tree->n_sequences = 0;
    tree->stamp.tree = 0;
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
    /*@
      loop invariant s: 0 <= s <= tree->n_sequences;
      loop invariant others: \forall integer r; 0 <= r < s ==> tree->sequence[r].id != id;
      loop assigns s;
      loop variant tree->n_sequences - s;
    */
    for (int s = 0; s < tree->n_sequences; s++) {
        if (tree->sequence[s].id == id) {
            return s;
        }
    }
    return -1;
}
