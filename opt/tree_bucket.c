/* SPDX-License-Identifier: Apache-2.0 */
/* Full chunks by parent and hash: a child is found without looking at its siblings. */
#include <string.h>

#include "tree_internal.h"

/* SplitMix64: the keys need no more than to be unknown. */
void cp_opt_make_keys(struct cp_opt_tree *tree) {
    unsigned long long state = tree->sizes.seed;
    for (int i = 0; i < tree->sizes.chunk_size + tree->sizes.chunk_size % 2; i++) {
        state += 0x9E3779B97F4A7C15ULL;
        unsigned long long z = (state ^ (state >> 30)) * 0xBF58476D1CE4E5B9ULL;
        z = (z ^ (z >> 27)) * 0x94D049BB133111EBULL;
        tree->key[i] = z ^ (z >> 31);
    }
}

/* The sum of (key[2i] + token[2i]) (key[2i+1] + token[2i+1]) mod 2^64. Without knowledge of the
 * keys, two different chunks agree in the upper 32 bits with probability 2^-32 (multilinear-HM
 * of Lemire and Kaser, Strongly universal string hashing is fast, 2014). No product waits for
 * another one, unlike those of FNV in the reference. */
unsigned long long cp_opt_hash(const struct cp_opt_tree *tree, const int *token) {
    const unsigned long long *key = tree->key;
    unsigned long long sum = 0;
    int c = tree->sizes.chunk_size, i = 0;
    if (tree->sizes.hash_bits == 0) {
        return 0;
    }
    for (; i + 1 < c; i += 2) {
        sum += (key[i] + (unsigned)token[i]) * (key[i + 1] + (unsigned)token[i + 1]);
    }
    if (i < c) {
        sum += (key[i] + (unsigned)token[i]) * key[i + 1];
    }
    return sum >> (64 - tree->sizes.hash_bits);
}

int cp_opt_bucket(const struct cp_opt_tree *tree, int parent, unsigned long long salt,
                  unsigned long long hash) {
    unsigned long long above = parent < 0 ? salt ^ tree->sizes.seed : ~(unsigned long long)parent;
    unsigned long long h = hash ^ (above * 0x9E3779B97F4A7C15ULL);
    h = (h ^ (h >> 32)) * 0xD6E8FEB86659FD93ULL;
    return (int)((h >> 32) & (unsigned)(tree->n_buckets - 1));
}

int cp_opt_find(const struct cp_opt_tree *tree, int chunk, int parent, unsigned long long salt,
                unsigned long long hash, const int *token) {
    size_t bytes = (size_t)tree->sizes.chunk_size * sizeof *token;
    for (; chunk >= 0; chunk = tree->chunk[chunk].next) {
        if (tree->chunk[chunk].hash == hash && tree->chunk[chunk].parent == parent &&
            (parent >= 0 || tree->sequence[tree->chunk[chunk].first].salt == salt) &&
            memcmp(tokens_of(tree, chunk), token, bytes) == 0) {
            return chunk;
        }
    }
    return -1;
}

void cp_opt_hash_chunk(struct cp_opt_tree *tree, int chunk, unsigned long long salt) {
    tree->chunk[chunk].hash = cp_opt_hash(tree, tokens_of(tree, chunk));
    int bucket = cp_opt_bucket(tree, tree->chunk[chunk].parent, salt, tree->chunk[chunk].hash);
    tree->chunk[chunk].previous = -2 - bucket;
    PREFETCH(&tree->bucket[bucket]);
}

void cp_opt_list(struct cp_opt_tree *tree, int chunk) {
    int bucket = -2 - tree->chunk[chunk].previous;
    int twin = cp_opt_find(tree, tree->bucket[bucket] - 1, tree->chunk[chunk].parent,
                           tree->sequence[tree->chunk[chunk].first].salt, tree->chunk[chunk].hash,
                           tokens_of(tree, chunk));
    if (twin >= 0) { /* the others have been told of each other */
        tree->chunk[twin].has_twin = 1;
        tree->chunk[chunk].has_twin = 1;
    }
    tree->chunk[chunk].next = tree->bucket[bucket] - 1;
    if (tree->chunk[chunk].next >= 0) {
        tree->chunk[tree->chunk[chunk].next].previous = chunk;
    }
    tree->bucket[bucket] = chunk + 1;
}

void cp_opt_unlist(struct cp_opt_tree *tree, int chunk) {
    if (tree->chunk[chunk].next >= 0) {
        tree->chunk[tree->chunk[chunk].next].previous = tree->chunk[chunk].previous;
    }
    if (tree->chunk[chunk].previous >= 0) {
        tree->chunk[tree->chunk[chunk].previous].next = tree->chunk[chunk].next;
    } else {
        tree->bucket[-2 - tree->chunk[chunk].previous] = tree->chunk[chunk].next + 1;
    }
}
