/* SPDX-License-Identifier: Apache-2.0 */
#include "chunkproof/tree.h"

#include <stddef.h>

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

/* ---- Matching (TREE-8) ---- */

/* FNV-1a, a token at a time, and then the low bits carried into the high ones, which are returned. */
unsigned long long cp_tree_hash(const int *token, int n, int bits) {
    unsigned long long h = 14695981039346656037ULL;
    if (bits == 0) {
        return 0;
    }
    /*@
      loop invariant k: 0 <= k <= n;
      loop assigns k, h;
      loop variant n - k;
    */
    for (int k = 0; k < n; k++) {
        h = (h ^ (unsigned)token[k]) * 1099511628211ULL;
    }
    h = (h ^ (h >> 32)) * 0x9E3779B97F4A7C15ULL;
    return h >> (64 - bits);
}

void cp_tree_hash_prompt(const struct cp_tree *tree, const int *token, int n_tokens,
                         unsigned long long *hash) {
    for (int k = 0; k < n_tokens / tree->chunk_size; k++) {
        hash[k] = cp_tree_hash(token + (size_t)k * (size_t)tree->chunk_size, tree->chunk_size,
                               tree->hash_bits);
    }
}

/* Is this chunk full, with exactly the tokens of the prompt's k-th chunk? The hash only saves the
 * comparison of tokens when it differs (TREE-15). */
static int chunk_matches(const struct cp_tree *tree, int chunk, const int *token, int k,
                         const unsigned long long *hash) {
    int first = k * tree->chunk_size;
    if (tree->fill[chunk] < tree->chunk_size) {
        return 0;
    }
    if (hash != NULL && tree->hash[chunk] != hash[k]) {
        return 0;
    }
    for (int i = 0; i < tree->chunk_size; i++) {
        if (tree->tokens[chunk].token[i] != token[first + i]) {
            return 0;
        }
    }
    return 1;
}

/* How many leading chunks of the sequence match those of the prompt, when the first `known` do. */
static int match_path(const struct cp_tree *tree, const struct cp_sequence *row, int known,
                      const int *token, int n_full, unsigned long long salt,
                      const unsigned long long *hash) {
    int k = known;
    if (row->salt != salt) {
        return 0;
    }
    while (k < n_full && k < row->n_chunks && chunk_matches(tree, row->chunk[k], token, k, hash)) {
        k++;
    }
    return k;
}

struct cp_match cp_tree_lookup(const struct cp_tree *tree, const int *token, int n_tokens,
                               unsigned long long salt, const unsigned long long *hash) {
    struct cp_match best = {0, 0, -1};
    int n_full = n_tokens / tree->chunk_size;
    int known = 0; /* leading chunks of s that the sequence before it had too, and that match */
    int s = 0;
    while (s < tree->n_sequences && best.n_chunks < n_full) {
        const struct cp_sequence *row = &tree->sequence[s];
        int k = match_path(tree, row, known, token, n_full, salt, hash);
        if (k > best.n_chunks) {
            best.n_chunks = k;
            best.n_tokens = k * tree->chunk_size;
            best.sequence = s;
        }
        /* All sequences on the first chunk that differs match no further: step over its range. */
        s = k < row->n_chunks ? tree->end[row->chunk[k]] : s + 1;
        while (k > 0 && tree->end[row->chunk[k - 1]] <= s) {
            k--;
        }
        known = k;
    }
    return best;
}
