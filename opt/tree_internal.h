/* SPDX-License-Identifier: Apache-2.0 */
/* The parts of the operations. Callers make sure that indices are in range. */
#ifndef CHUNKPROOF_OPT_TREE_INTERNAL_H
#define CHUNKPROOF_OPT_TREE_INTERNAL_H

#include "chunkproof/opt_tree.h"

#ifdef CHUNKPROOF_CHECKED
#include <assert.h>
#define CHECK_TREE(tree) assert(cp_opt_tree_is_valid(tree))
#else
#define CHECK_TREE(tree) ((void)0)
#endif

#ifdef __GNUC__
#define PREFETCH(address) __builtin_prefetch(address)
#else
#define PREFETCH(address) ((void)0)
#endif

static inline int *path_of(const struct cp_opt_tree *tree, int sequence) {
    return tree->path + (size_t)sequence * (size_t)tree->sizes.max_depth;
}

static inline int *tokens_of(const struct cp_opt_tree *tree, int chunk) {
    return tree->token + (size_t)chunk * (size_t)tree->sizes.chunk_size;
}

/* The k-th chunk of a sequence. */
static inline int chunk_of(const struct cp_opt_tree *tree, int sequence, int k) {
    return tree->path[(size_t)sequence * (size_t)tree->sizes.max_depth + (size_t)k];
}

/* How many chunks n tokens take. */
static inline int chunks_for(const struct cp_opt_tree *tree, int n) {
    return n / tree->sizes.chunk_size + (n % tree->sizes.chunk_size > 0);
}

/* ---- Memory (tree_new.c) ---- */

int cp_opt_sizes_are_valid(const struct cp_opt_sizes *sizes);

/* Adds room for n elements after the first *bytes bytes, from the next cache line on. Returns where
 * this room begins. */
size_t cp_opt_put(size_t *bytes, size_t n, size_t element);

/* ---- Buckets of full chunks (tree_bucket.c) ---- */

/* Fills key[] from the seed. */
void cp_opt_make_keys(struct cp_opt_tree *tree);

/* The hash of c tokens (TREE-15). */
unsigned long long cp_opt_hash(const struct cp_opt_tree *tree, const int *token);

/* The bucket of chunks with this parent and hash. Without a parent, the salt takes its place. */
int cp_opt_bucket(const struct cp_opt_tree *tree, int parent, unsigned long long salt,
                  unsigned long long hash);

/* The first chunk in the bucket of `chunk`, from `chunk` on, with this parent (and salt), hash and
 * tokens; -1: none. */
int cp_opt_find(const struct cp_opt_tree *tree, int chunk, int parent, unsigned long long salt,
                unsigned long long hash, const int *token);

/* cp_opt_hash_chunk() and cp_opt_list() enter a chunk that has just become full. There are two
 * steps because the first prefetches what the second reads, so that other work fits in between.
 * cp_opt_unlist() removes a full chunk. */
void cp_opt_hash_chunk(struct cp_opt_tree *tree, int chunk, unsigned long long salt);
void cp_opt_list(struct cp_opt_tree *tree, int chunk);
void cp_opt_unlist(struct cp_opt_tree *tree, int chunk);

/* ---- The order of sequences (tree_order.c) ---- */

/* Inserts a sequence after the sequence `behind`; -1: there is no other sequence. */
void cp_opt_insert(struct cp_opt_tree *tree, int sequence, int behind);
void cp_opt_remove(struct cp_opt_tree *tree, int sequence);

/* 1 when a is higher than b: then a is nearer to the root of the search tree. Heights are hashes of
 * handles, so the tree is as deep as a random one, whichever sequences come and go. */
int cp_opt_is_higher(const struct cp_opt_tree *tree, int a, int b);

/* NULL, or the clause that the order breaks. */
const char *cp_opt_check_order(const struct cp_opt_tree *tree);

#endif
