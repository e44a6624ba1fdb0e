/* SPDX-License-Identifier: Apache-2.0 */
/* The parts of the operations on the tree. Each part leaves a valid tree, except
 * cp_tree_release_own(): cp_tree_close_row() completes its work.
 *
 * The comments in ref/tree_*.c and ref/plan*.c share one example: chunks of 2 tokens, 3 sequences.
 *
 *     A "1 2" [0,3)                      sequence 0: A B C    tokens 1 2 3 4 5
 *     |-- B "3 4" [0,2)                  sequence 1: A B D    tokens 1 2 3 4 6 7
 *     |   |-- C "5" [0,1)                sequence 2: A E      tokens 1 2 8
 *     |   `-- D "6 7" [1,2)
 *     `-- E "8" [2,3)                    C and E are partial, the others are full */
#ifndef CHUNKPROOF_REF_TREE_INTERNAL_H
#define CHUNKPROOF_REF_TREE_INTERNAL_H

#include "chunkproof/tree.h"

#ifdef __FRAMAC__
#include "proofs/logic/tree_internal.h"
#endif

/* ---- Hashes (tree_match.c) ---- */

/* The hash of the tokens of a full chunk (TREE-15). */
/*@
  requires valid: \valid_read(tree);
  requires sizes: tree_sizes(*tree);
  requires chunk: 0 <= chunk < CP_MAX_CHUNKS;
  assigns \nothing;
  ensures hash: \result == hash_of(tree->tokens[chunk], tree->chunk_size, tree->hash_bits);
*/
unsigned long long cp_tree_chunk_hash(const struct cp_tree *tree, int chunk);

/* ---- Rows (tree_rows.c) ---- */

/* Adds a sequence at index `at` with the first n chunks of sequence `from`, which are full. The new
 * sequence does not separate two sequences that share a chunk which it does not get. */
/*@
  requires valid: \valid(tree);
  requires ok: tree_ok(*tree);
  requires room: 0 <= at <= tree->n_sequences < CP_MAX_SEQUENCES;
  requires sizes: 0 <= n <= CP_MAX_DEPTH;
  requires from: n > 0 ==> 0 <= from < at && n <= tree_depth(*tree, from) &&
    tree->sequence[from].salt == salt;
  requires full: n > 0 ==> \forall integer k; 0 <= k < n ==>
    tree->fill[tree_chunk(*tree, from, k)] == tree->chunk_size;
  requires reach: \forall integer x; pool_used(tree->pool, x) ==> tree_on(*tree, from, n, x) ==>
    n > 0 ==> tree->begin[x] < at <= tree->end[x];
  requires inside: \forall integer x; pool_used(tree->pool, x) ==>
    tree->begin[x] < at < tree->end[x] ==> n > 0 && tree_on(*tree, from, n, x);
  assigns tree->n_sequences, tree->begin[0 .. CP_MAX_CHUNKS - 1],
    tree->end[0 .. CP_MAX_CHUNKS - 1], tree->sequence[0 .. CP_MAX_SEQUENCES - 1],
    tree->stamp.epoch;
  ensures ok: tree_ok(*tree);
  ensures one_more: tree->n_sequences == \old(tree->n_sequences) + 1;
  ensures rows_before: \forall integer r; 0 <= r < at ==>
    tree->sequence[r] == \old(tree->sequence[r]);
  ensures rows_behind: \forall integer r; at < r < tree->n_sequences ==>
    tree->sequence[r] == \old(tree->sequence[r - 1]);
  ensures row: tree->sequence[at].id == id && tree->sequence[at].salt == salt &&
    tree_depth(*tree, at) == n;
  ensures path: \forall integer k; 0 <= k < n ==>
    tree_chunk(*tree, at, k) == \old(tree_chunk(*tree, from, k));
  ensures epoch: tree->stamp.epoch == (unsigned long long)(\old(tree->stamp.epoch) + 1);
*/
void cp_tree_new_row(struct cp_tree *tree, int from, int n, int at, long long id,
                     unsigned long long salt);

/* Removes row `at` and takes it out of every range; no chunk has it alone. */
/*@
  requires valid: \valid(tree);
  requires pool: pool_ok(tree->pool);
  requires row: 0 <= at < tree->n_sequences <= CP_MAX_SEQUENCES;
  requires ranges: tree_ranges(*tree);
  assigns tree->n_sequences, tree->begin[0 .. CP_MAX_CHUNKS - 1],
    tree->end[0 .. CP_MAX_CHUNKS - 1], tree->sequence[0 .. CP_MAX_SEQUENCES - 1];
  ensures one_less: tree->n_sequences == \old(tree->n_sequences) - 1;
  ensures before: \forall integer s; 0 <= s < at ==>
    tree->sequence[s] == \old(tree->sequence[s]);
  ensures behind: \forall integer s; at <= s < tree->n_sequences ==>
    tree->sequence[s] == \old(tree->sequence[s + 1]);
  ensures begin: \forall integer x; pool_used(tree->pool, x) ==>
    tree->begin[x] == \old(tree->begin[x]) - (\old(tree->begin[x]) > at ? 1 : 0);
  ensures end: \forall integer x; pool_used(tree->pool, x) ==>
    tree->end[x] == \old(tree->end[x]) - (\old(tree->end[x]) > at ? 1 : 0);
*/
void cp_tree_close_row(struct cp_tree *tree, int at);

/* ---- Chunks (tree_chunks.c) ---- */

/* Does the next token of sequence s need a new chunk? After a shared chunk it does, because that is
 * full. */
/*@
  requires valid: \valid_read(tree);
  requires sequence: 0 <= s < CP_MAX_SEQUENCES && 0 <= tree_depth(*tree, s) <= CP_MAX_DEPTH;
  requires last: tree_depth(*tree, s) > 0 ==>
    0 <= tree_chunk(*tree, s, tree_depth(*tree, s) - 1) < CP_MAX_CHUNKS;
  assigns \nothing;
  ensures result: \result == 0 || \result == 1;
  ensures needs: \result == 1 <==> tree_needs_chunk(*tree, s);
*/
int cp_tree_needs_chunk(const struct cp_tree *tree, int s);

/* Adds a last chunk, to hold `fill` tokens, to sequence s, whose chunks are all full. */
/*@
  requires valid: \valid(tree);
  requires ok: tree_ok(*tree);
  requires sequence: 0 <= s < tree->n_sequences;
  requires room: tree->pool.n_free > 0 && tree_depth(*tree, s) < CP_MAX_DEPTH;
  requires full: tree_needs_chunk(*tree, s);
  requires fill: 1 <= fill <= tree->chunk_size;
  assigns tree->pool.n_free, tree->begin[0 .. CP_MAX_CHUNKS - 1],
    tree->end[0 .. CP_MAX_CHUNKS - 1], tree->depth[0 .. CP_MAX_CHUNKS - 1],
    tree->fill[0 .. CP_MAX_CHUNKS - 1], tree->sequence[s];
  ensures ok: tree_ok(*tree);
  ensures free: tree->pool.n_free == \old(tree->pool.n_free) - 1;
  ensures new: pool_used(tree->pool, \result) && !pool_used(\old(tree->pool), \result);
  ensures used: \forall integer x; pool_used(tree->pool, x) <==>
    (x == \result || pool_used(\old(tree->pool), x));
  ensures last: tree_depth(*tree, s) == \old(tree_depth(*tree, s)) + 1 &&
    tree_chunk(*tree, s, tree_depth(*tree, s) - 1) == \result && tree->fill[\result] == fill;
  ensures own: tree_own(*tree, \result, s);
  ensures row: tree->sequence[s].id == \old(tree->sequence[s].id) &&
    tree->sequence[s].salt == \old(tree->sequence[s].salt);
  ensures path: \forall integer k; 0 <= k < \old(tree_depth(*tree, s)) ==>
    tree_chunk(*tree, s, k) == \old(tree_chunk(*tree, s, k));
  ensures others: \forall integer x; pool_used(\old(tree->pool), x) ==>
    tree->begin[x] == \old(tree->begin[x]) && tree->end[x] == \old(tree->end[x]) &&
    tree->depth[x] == \old(tree->depth[x]) && tree->fill[x] == \old(tree->fill[x]);
*/
int cp_tree_push_chunk(struct cp_tree *tree, int s, int fill);

/* A copy of chunk `tail` as the last chunk of sequence s, whose other chunks are all full. */
/*@
  requires valid: \valid(tree);
  requires ok: tree_ok(*tree);
  requires sequence: 0 <= s < tree->n_sequences;
  requires room: tree->pool.n_free > 0 && tree_depth(*tree, s) < CP_MAX_DEPTH;
  requires full: tree_needs_chunk(*tree, s);
  requires tail: pool_used(tree->pool, tail);
  assigns tree->pool.n_free, tree->begin[0 .. CP_MAX_CHUNKS - 1],
    tree->end[0 .. CP_MAX_CHUNKS - 1], tree->depth[0 .. CP_MAX_CHUNKS - 1],
    tree->fill[0 .. CP_MAX_CHUNKS - 1], tree->tokens[0 .. CP_MAX_CHUNKS - 1], tree->sequence[s];
  ensures ok: tree_ok(*tree);
  ensures new: pool_used(tree->pool, \result) && !pool_used(\old(tree->pool), \result);
  ensures last: tree_depth(*tree, s) == \old(tree_depth(*tree, s)) + 1 &&
    tree_chunk(*tree, s, tree_depth(*tree, s) - 1) == \result;
  ensures free: tree->pool.n_free == \old(tree->pool.n_free) - 1;
  ensures used: \forall integer x; pool_used(tree->pool, x) <==>
    (x == \result || pool_used(\old(tree->pool), x));
  ensures fill: tree->fill[\result] == tree->fill[tail];
  ensures tokens: tree->tokens[\result] == tree->tokens[tail];
  ensures row: tree->sequence[s].id == \old(tree->sequence[s].id) &&
    tree->sequence[s].salt == \old(tree->sequence[s].salt);
  ensures path: \forall integer k; 0 <= k < \old(tree_depth(*tree, s)) ==>
    tree_chunk(*tree, s, k) == \old(tree_chunk(*tree, s, k));
  ensures others: \forall integer x; pool_used(\old(tree->pool), x) ==>
    tree->fill[x] == \old(tree->fill[x]) && tree->tokens[x] == \old(tree->tokens[x]);
*/
int cp_tree_copy_chunk(struct cp_tree *tree, int s, int tail);

/* TREE-15: a full chunk has its hash. Called whenever tokens were put into a chunk. */
/*@
  requires valid: \valid(tree);
  requires sizes: tree_sizes(*tree);
  requires chunk: 0 <= chunk < CP_MAX_CHUNKS;
  assigns tree->hash[chunk];
  ensures hash: tree->fill[chunk] == tree->chunk_size ==>
    tree->hash[chunk] == hash_of(tree->tokens[chunk], tree->chunk_size, tree->hash_bits);
*/
void cp_tree_hash_if_full(struct cp_tree *tree, int chunk);

/* Frees the chunks that sequence s alone has. */
/*@
  requires valid: \valid(tree);
  requires ok: tree_ok(*tree);
  requires sequence: 0 <= s < tree->n_sequences;
  assigns tree->pool.n_free, tree->pool.perm[0 .. CP_MAX_CHUNKS - 1],
    tree->pool.pos[0 .. CP_MAX_CHUNKS - 1];
  ensures pool: pool_ok(tree->pool);
  ensures freed: \forall integer x; pool_used(tree->pool, x) <==>
    (pool_used(\old(tree->pool), x) && !tree_own(*tree, x, s));
*/
void cp_tree_release_own(struct cp_tree *tree, int s);

#endif
