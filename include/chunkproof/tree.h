/* SPDX-License-Identifier: Apache-2.0 */
/* The prefix tree (a forest) of chunks (spec/tree.md).
 *
 * There are no node pointers. Sequences are numbered 0 .. n_sequences-1, and every used chunk
 * covers a half-open range [begin, end) of them. sequence[s].chunk[0 .. n_chunks) is the path of
 * sequence s from its root to its last chunk; the chunk at depth k holds its tokens k*c ..
 * k*c+fill-1. Parent, children and siblings follow from the ranges: to meet the children of a
 * chunk, step through its range from end to end.
 *
 * Callers may read every field, and change them only through the functions below. A join, leave or
 * fork renumbers all later sequences: a sequence keeps the id that it got at join or fork, and may
 * change its index. */
#ifndef CHUNKPROOF_TREE_H
#define CHUNKPROOF_TREE_H

#include "chunkproof/limits.h"
#include "chunkproof/pool.h"
#include "chunkproof/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The tokens of one chunk; the first fill[chunk] are meaningful. */
struct cp_tokens {
    int token[CP_MAX_CHUNK_SIZE];
};

struct cp_sequence {
    long long id;            /* the caller's name for the sequence */
    unsigned long long salt; /* its sharing domain (TREE-14) */
    int n_chunks;            /* 0 for an empty sequence (TREE-16) */
    int chunk[CP_MAX_DEPTH]; /* its path */
};

/* What a plan is built from and compared with (spec/plan.md, PLAN-5). */
struct cp_stamp {
    unsigned long long tree;  /* the tree's name: no two trees have the same */
    unsigned long long epoch; /* +1 for each change of a path or a range: what a plan depends on */
    unsigned long long step;  /* +1 for each successful append: only lengths have changed */
};

struct cp_tree {
    struct cp_pool pool;
    int chunk_size;  /* c: tokens per chunk, 1 .. CP_MAX_CHUNK_SIZE */
    int hash_bits;   /* width of the chunk hashes, 0 .. 64 (TREE-15) */
    int n_sequences; /* b */
    struct cp_stamp stamp;
    int begin[CP_MAX_CHUNKS];               /* per used chunk: first sequence it covers ... */
    int end[CP_MAX_CHUNKS];                 /* ... and one past the last */
    int depth[CP_MAX_CHUNKS];               /* its place on every path through it */
    int fill[CP_MAX_CHUNKS];                /* tokens in it, 1 .. chunk_size */
    unsigned long long hash[CP_MAX_CHUNKS]; /* of a full chunk's tokens */
    struct cp_tokens tokens[CP_MAX_CHUNKS];
    struct cp_sequence sequence[CP_MAX_SEQUENCES];
};

/* What the tree already has of a prompt (TREE-8). */
struct cp_match {
    int n_chunks; /* leading full chunks that some sequence of the same salt has */
    int n_tokens; /* n_chunks * chunk_size: K and V are needed only from this token on */
    int sequence; /* a sequence that has them, or -1 when n_chunks is 0 */
};

/* What a join made (TREE-9). */
struct cp_joined {
    int sequence; /* where the new sequence is */
    int n_shared; /* leading tokens that it shares: K and V are needed only from there on */
};

/* What a fork made (TREE-12). */
struct cp_forked {
    int sequence;  /* the new sequence: the old one's index + 1 */
    int copy_from; /* the partial last chunk whose K and V (fill tokens) the caller must copy ... */
    int copy_to;   /* ... to this chunk, or both -1 when there is nothing to copy */
};

#ifdef __FRAMAC__
#include "proofs/logic/tree.h"
#endif

/* Makes a tree with room for `capacity` chunks of `chunk_size` tokens (ranges: limits.h) in memory
 * of its own, of which only the pages in use are touched. It reserves address space for
 * sizeof(struct cp_tree) whatever the capacity: about CP_MAX_CHUNKS * CP_MAX_CHUNK_SIZE * 4 bytes,
 * which a limit (ulimit -v) must allow. With hash_bits = 0 a lookup compares tokens alone. With 1
 * .. 64 it compares hashes of that width first, and tokens only when the hashes agree (TREE-15):
 * quicker for large chunks, with the same result. Its name is drawn (cp_tree_draw_name()). On CP_OK
 * the caller owns *tree and gives it to cp_tree_free(); otherwise *tree is NULL. Fails with
 * CP_ERROR_ARGUMENT, CP_ERROR_UNSUPPORTED (no name), CP_ERROR_NO_MEMORY. */
int cp_tree_new(struct cp_tree **tree, int capacity, int chunk_size, int hash_bits);
void cp_tree_free(struct cp_tree *tree);

/* Draws a name for a tree: 64 random bits of the operating system. Two draws are alike with a
 * probability of 2^-64, in whatever processes and machines they are made (PLAN-5). Fails with
 * CP_ERROR_UNSUPPORTED when the system gives no random bits; *name is then unchanged. */
int cp_tree_draw_name(unsigned long long *name);

/* Makes *tree an empty tree; the ranges of the arguments are checked by cp_tree_new(). No other
 * tree has had this name: attention takes a plan of one tree for a plan of any tree of its name
 * (PLAN-5). A caller numbers its trees, or draws their names. */
/*@
  requires valid: \valid(tree);
  requires capacity: 1 <= capacity <= CP_MAX_CHUNKS;
  requires chunk_size: 1 <= chunk_size <= CP_MAX_CHUNK_SIZE;
  requires hash_bits: 0 <= hash_bits <= 64;
  assigns *tree;
  ensures ok: tree_ok(*tree);
  ensures empty: tree->n_sequences == 0 && tree->pool.n_free == capacity;
  ensures as_asked: tree->pool.capacity == capacity && tree->chunk_size == chunk_size &&
    tree->hash_bits == hash_bits;
  ensures plan_5_stamp: tree->stamp.tree == name && tree->stamp.epoch == 0 &&
    tree->stamp.step == 0;
*/
void cp_tree_init(struct cp_tree *tree, int capacity, int chunk_size, int hash_bits,
                  unsigned long long name);

/* Number of tokens of a sequence (TREE-6), 0 <= sequence < n_sequences. */
/*@
  requires valid: \valid_read(tree);
  requires ok: tree_ok(*tree);
  requires sequence: 0 <= sequence < tree->n_sequences;
  assigns \nothing;
  ensures length: \result == tree_length(*tree, sequence);
  ensures bounds: 0 <= \result <= CP_MAX_DEPTH * CP_MAX_CHUNK_SIZE;
*/
int cp_tree_length(const struct cp_tree *tree, int sequence);

/* Token number k of a sequence, 0 <= k < its length. */
/*@
  requires valid: \valid_read(tree);
  requires ok: tree_ok(*tree);
  requires sequence: 0 <= sequence < tree->n_sequences;
  requires k: 0 <= k < tree_length(*tree, sequence);
  assigns \nothing;
  ensures token: \result == tree_token(*tree, sequence, k);
*/
int cp_tree_token(const struct cp_tree *tree, int sequence, int k);

/* The index of the first sequence with this id, or -1. */
/*@
  requires valid: \valid_read(tree);
  requires ok: tree_ok(*tree);
  assigns \nothing;
  ensures result: -1 <= \result < tree->n_sequences;
  ensures found: \result >= 0 ==> tree->sequence[\result].id == id;
  ensures first: \forall integer s; 0 <= s < (\result < 0 ? tree->n_sequences : \result) ==>
    tree->sequence[s].id != id;
*/
int cp_tree_find(const struct cp_tree *tree, long long id);

/* Finds the longest match over all sequences, and the first sequence that has it; reads only. The
 * prompt is token[0 .. n_tokens), n_tokens >= 0; hash is NULL or the prompt's chunk hashes from
 * cp_tree_hash_prompt(). */
/*@
  requires valid: \valid_read(tree);
  requires ok: tree_ok(*tree);
  requires tokens: 0 <= n_tokens && \valid_read(token + (0 .. n_tokens - 1));
  requires hashes: hash == \null || \valid_read(hash + (0 .. n_tokens / tree->chunk_size - 1));
  assigns \nothing;
  ensures sizes: match_sizes(\result, n_tokens, tree->chunk_size);
  ensures match: match_found(*tree, \result, token, salt);
  ensures longest: prompt_hashed(*tree, token, n_tokens, hash) ==>
    no_longer(*tree, tree->n_sequences, \result.n_chunks, token, n_tokens / tree->chunk_size, salt);
  ensures first: prompt_hashed(*tree, token, n_tokens, hash) ==>
    match_first(*tree, \result, token, salt);
*/
struct cp_match cp_tree_lookup(const struct cp_tree *tree, const int *token, int n_tokens,
                               unsigned long long salt, const unsigned long long *hash);

/* The hash of n tokens, `bits` wide (0 .. 64): what tree->hash[] holds for full chunks. */
/*@
  requires tokens: 0 <= n && \valid_read(token + (0 .. n - 1));
  requires bits: 0 <= bits <= 64;
  assigns \nothing;
  ensures hash: hash_is(\result, token, 0, n, bits);
*/
unsigned long long cp_tree_hash(const int *token, int n, int bits);

/* hash[k] = hash of the prompt's k-th full chunk, for k < n_tokens / chunk_size. */
/*@
  requires valid: \valid_read(tree);
  requires sizes: tree_sizes(*tree);
  requires tokens: 0 <= n_tokens && \valid_read(token + (0 .. n_tokens - 1));
  requires hashes: \valid(hash + (0 .. n_tokens / tree->chunk_size - 1));
  requires separated: \separated(hash + (0 .. n_tokens / tree->chunk_size - 1), tree,
    token + (0 .. n_tokens - 1));
  assigns hash[0 .. n_tokens / tree->chunk_size - 1];
  ensures hashes: prompt_hashes(*tree, token, hash, n_tokens / tree->chunk_size);
*/
void cp_tree_hash_prompt(const struct cp_tree *tree, const int *token, int n_tokens,
                         unsigned long long *hash);

/* Makes a new sequence (TREE-9). It shares the chunks of the longest match and gets chunks of its
 * own for the rest. Its index is the one after the last sequence of the deepest shared chunk, or
 * the last index when it shares none. n_tokens = 0 makes an empty sequence. *joined is written on
 * CP_OK. Fails with CP_ERROR_ARGUMENT (n_tokens < 0), CP_ERROR_TOO_LONG, CP_ERROR_SEQUENCES_FULL,
 * CP_ERROR_POOL_FULL (fewer free chunks than the prompt takes beyond those that it shares); the
 * tree is then unchanged (TREE-13). */
/*@
  requires valid: \valid(tree) && \valid(joined) && tree_ok(*tree);
  requires tokens: prompt_readable(token, n_tokens, hash, tree->chunk_size);
  requires separated: \separated(tree, joined, token + (0 .. n_tokens - 1));
  assigns *tree, *joined;
  ensures ok: tree_ok(*tree) && tree_constant(\old(*tree), *tree);
  ensures tree_13_unchanged: \result != CP_OK ==> *tree == \old(*tree) && *joined == \old(*joined);
  ensures tree_13_status: join_status(\result, \old(*tree), token, n_tokens, salt, hash);
  ensures kept: \result == CP_OK ==> tree_rows_apart(\old(*tree), *tree, joined->sequence);
  ensures row: \result == CP_OK ==> join_of(\old(*tree), *tree, *joined, token, n_tokens, salt, id);
  ensures tree_9_maximal: prompt_hashed(\old(*tree), token, n_tokens, hash) ==>
    join_longest(\result, \old(*tree), *tree, *joined, token, n_tokens, salt);
  ensures hashes: tree_hashes(\old(*tree)) ==> tree_hashes(*tree);
*/
int cp_tree_join(struct cp_tree *tree, const int *token, int n_tokens, unsigned long long salt,
                 long long id, const unsigned long long *hash, struct cp_joined *joined);

/* Appends a token to one sequence (TREE-10). A chunk is added only when the last one is full. Fails
 * with CP_ERROR_ARGUMENT (no such sequence), CP_ERROR_TOO_LONG, CP_ERROR_POOL_FULL; the tree is
 * then unchanged. */
/*@
  requires valid: \valid(tree);
  requires ok: tree_ok(*tree);
  assigns *tree;
  ensures ok: tree_ok(*tree);
  ensures tree_13_unchanged: \result != CP_OK ==> *tree == \old(*tree);
  ensures tree_13_status: append_status(\result, \old(*tree), sequence);
  ensures tree_10_grown: \result == CP_OK ==> tree_grown(\old(*tree), *tree, sequence, token);
  ensures longer: \result == CP_OK ==> tree_longer(\old(*tree), *tree, sequence);
  ensures others: \result == CP_OK ==> tree_kept_but(\old(*tree), *tree, sequence);
  ensures taken: \result == CP_OK ==> append_taken(\old(*tree), *tree, sequence);
  ensures same_paths: \result == CP_OK ==> append_same_paths(\old(*tree), *tree, sequence);
  ensures hashes: tree_hashes(\old(*tree)) ==> tree_hashes(*tree);
*/
int cp_tree_append(struct cp_tree *tree, int sequence, int token);

/* Appends a token to each of n sequences, sequence[0] < sequence[1] < ...: a decoding iteration.
 * All or none (TREE-13). Fails as cp_tree_append() does, and with CP_ERROR_ARGUMENT when n < 0 or
 * the sequences are not in increasing order. */
/*@
  requires valid: \valid(tree) && tree_ok(*tree);
  requires arguments: batch_readable(n, sequence, token);
  requires separated: \separated(tree, sequence + (0 .. n - 1), token + (0 .. n - 1));
  assigns *tree;
  ensures ok: tree_ok(*tree);
  ensures tree_13_unchanged: \result != CP_OK ==> *tree == \old(*tree);
  ensures tree_13_status: batch_status(\result, \old(*tree), n, sequence);
  ensures tree_10_grown: \result == CP_OK ==> batch_grown(\old(*tree), *tree, n, sequence, token);
  ensures others: \result == CP_OK ==> batch_kept(\old(*tree), *tree, n, sequence);
  ensures taken: \result == CP_OK ==> batch_appended(\old(*tree), *tree, n, sequence);
  ensures same_paths: \result == CP_OK ==> batch_same_paths(\old(*tree), *tree, n, sequence);
  ensures hashes: tree_hashes(\old(*tree)) ==> tree_hashes(*tree);
*/
int cp_tree_append_each(struct cp_tree *tree, int n, const int *sequence, const int *token);

/* Removes a sequence and frees the chunks that no other sequence has (TREE-11). The sequences after
 * it move down by one. Fails with CP_ERROR_ARGUMENT (no such sequence). */
/*@
  requires valid: \valid(tree) && tree_ok(*tree);
  assigns *tree;
  ensures ok: tree_ok(*tree);
  ensures tree_13_unchanged: \result != CP_OK ==> *tree == \old(*tree);
  ensures missing: \result == CP_ERROR_ARGUMENT <==> !(0 <= sequence < \old(tree->n_sequences));
  ensures result: \result == CP_OK || \result == CP_ERROR_ARGUMENT;
  ensures kept: \result == CP_OK ==> tree_closed_up(\old(*tree), *tree, sequence);
  ensures tree_11_freed: \result == CP_OK ==> tree_freed(\old(*tree), *tree, sequence);
  ensures ranges: \result == CP_OK ==> tree_ranges_without(\old(*tree), *tree, sequence);
  ensures hashes: tree_hashes(\old(*tree)) ==> tree_hashes(*tree);
  ensures constant: tree_constant(\old(*tree), *tree);
  ensures stamp: \result == CP_OK ==> next_epoch(\old(tree->stamp), tree->stamp);
*/
int cp_tree_leave(struct cp_tree *tree, int sequence);

/* Makes a second sequence with the same tokens, next to the first (TREE-12), for parallel sampling
 * and beam search. Full chunks are shared, a partial last chunk is copied. *forked is written on
 * CP_OK. Fails with CP_ERROR_ARGUMENT (no such sequence), CP_ERROR_SEQUENCES_FULL,
 * CP_ERROR_POOL_FULL; the tree is then unchanged. */
/*@
  requires valid: \valid(tree) && \valid(forked);
  requires ok: tree_ok(*tree);
  requires separated: \separated(tree, forked);
  assigns *tree, *forked;
  ensures ok: tree_ok(*tree);
  ensures tree_13_unchanged: \result != CP_OK ==> *tree == \old(*tree) && *forked == \old(*forked);
  ensures tree_13_status: fork_status(\result, \old(*tree), sequence);
  ensures kept: \result == CP_OK ==> tree_rows_apart(\old(*tree), *tree, sequence + 1);
  ensures name: \result == CP_OK ==> fork_row(*tree, sequence, id);
  ensures tree_12_shared: \result == CP_OK ==> tree_forked(\old(*tree), *tree, *forked, sequence);
  ensures hashes: tree_hashes(\old(*tree)) ==> tree_hashes(*tree);
  ensures constant: tree_constant(\old(*tree), *tree);
*/
int cp_tree_fork(struct cp_tree *tree, int sequence, long long id, struct cp_forked *forked);

/* Returns NULL when the tree is valid, else the number of the first clause that it breaks
 * ("TREE-3", say). Takes any content. Linear in capacity + sequences + sum of path lengths. */
/*@
  requires valid: \valid_read(tree);
  assigns \result \from *tree;
  ensures valid: \result == \null <==> tree_ok(*tree);
*/
const char *cp_tree_check(const struct cp_tree *tree);

/* Checks the hash of every full chunk in the same way (TREE-15). Linear in the tokens stored. Needs
 * a valid tree. */
/*@
  requires valid: \valid_read(tree);
  requires ok: tree_ok(*tree);
  assigns \result \from *tree;
  ensures valid: \result == \null <==> tree_hashes(*tree);
*/
const char *cp_tree_check_hashes(const struct cp_tree *tree);

/* 1 when both checks find nothing, else 0. */
/*@
  requires valid: \valid_read(tree);
  assigns \nothing;
  ensures valid: \result != 0 <==> (tree_ok(*tree) && tree_hashes(*tree));
*/
int cp_tree_is_valid(const struct cp_tree *tree);

#ifdef __cplusplus
}
#endif

#endif
