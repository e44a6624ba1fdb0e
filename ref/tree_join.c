/* SPDX-License-Identifier: Apache-2.0 */
/* Sequences come (TREE-9). */
#include "chunkproof/status.h"
#include "tree_internal.h"

#ifdef __FRAMAC__
#include "proofs/logic/tree_join.h"
#include "proofs/logic/tree_ok.h"
#endif

/* Adds a last chunk with these tokens to sequence s, whose chunks are all full. */
/*@
  requires valid: \valid(tree);
  requires ok: tree_ok(*tree);
  requires sequence: 0 <= s < tree->n_sequences;
  requires room: tree->pool.n_free > 0 && tree_depth(*tree, s) < CP_MAX_DEPTH;
  requires full: tree_needs_chunk(*tree, s);
  requires size: 1 <= n <= tree->chunk_size && 0 <= first <= 2147483647 - n;
  requires tokens: \valid_read(token + (first .. first + n - 1));
  requires separated: \separated(tree, token + (first .. first + n - 1));
  assigns tree->pool.n_free, tree->begin[0 .. CP_MAX_CHUNKS - 1],
    tree->end[0 .. CP_MAX_CHUNKS - 1], tree->depth[0 .. CP_MAX_CHUNKS - 1],
    tree->fill[0 .. CP_MAX_CHUNKS - 1], tree->hash[0 .. CP_MAX_CHUNKS - 1],
    tree->tokens[0 .. CP_MAX_CHUNKS - 1], tree->sequence[s];
  ensures ok: tree_ok(*tree);
  ensures free: tree->pool.n_free == \old(tree->pool.n_free) - 1;
  ensures new: pool_used(tree->pool, \result) && !pool_used(\old(tree->pool), \result);
  ensures used: \forall integer x; pool_used(tree->pool, x) <==>
    (x == \result || pool_used(\old(tree->pool), x));
  ensures last: tree_depth(*tree, s) == \old(tree_depth(*tree, s)) + 1 &&
    tree_chunk(*tree, s, tree_depth(*tree, s) - 1) == \result && tree->fill[\result] == n;
  ensures own: tree_own(*tree, \result, s);
  ensures tokens: \forall integer i; 0 <= i < n ==>
    tree->tokens[\result].token[i] == token[first + i];
  ensures hash: n == tree->chunk_size ==>
    tree->hash[\result] == hash_of(tree->tokens[\result], tree->chunk_size, tree->hash_bits);
  ensures row: tree->sequence[s].id == \old(tree->sequence[s].id) &&
    tree->sequence[s].salt == \old(tree->sequence[s].salt);
  ensures path: \forall integer k; 0 <= k < \old(tree_depth(*tree, s)) ==>
    tree_chunk(*tree, s, k) == \old(tree_chunk(*tree, s, k));
  ensures others: \forall integer x; pool_used(\old(tree->pool), x) ==>
    tree->begin[x] == \old(tree->begin[x]) && tree->end[x] == \old(tree->end[x]) &&
    tree->fill[x] == \old(tree->fill[x]) && tree->hash[x] == \old(tree->hash[x]) &&
    tree->tokens[x] == \old(tree->tokens[x]);
*/
static int put_chunk(struct cp_tree *tree, int s, const int *token, int first, int n) {
    int chunk = cp_tree_push_chunk(tree, s, n);
    /*@ loop invariant i: 0 <= i <= n;
        loop invariant tokens: \forall integer j; 0 <= j < i ==>
          tree->tokens[chunk].token[j] == token[first + j];
        loop invariant others: other_tokens_same(\at(*tree, Pre), *tree, chunk);
        loop assigns i, tree->tokens[0 .. CP_MAX_CHUNKS - 1]; loop variant n - i; */
    for (int i = 0; i < n; i++) {
        tree->tokens[chunk].token[i] = token[first + i];
    }
    cp_tree_hash_if_full(tree, chunk);
    //@ ghost tree_is_ok(tree);
    return chunk;
}

/* Sequence s has the first `known` of the prompt's chunks: adds the rest. */
/*@
  requires valid: \valid(tree);
  requires ok: tree_ok(*tree);
  requires sequence: 0 <= s < tree->n_sequences;
  requires sizes: 0 <= n_tokens && known <= n_tokens / tree->chunk_size &&
    chunks_for(n_tokens, tree->chunk_size) <= CP_MAX_DEPTH;
  requires room: chunks_for(n_tokens, tree->chunk_size) - known <= tree->pool.n_free;
  requires tokens: \valid_read(token + (0 .. n_tokens - 1));
  requires separated: \separated(tree, token + (0 .. n_tokens - 1));
  requires known: tree_depth(*tree, s) == known && (\forall integer k; 0 <= k < known ==>
    tree->fill[tree_chunk(*tree, s, k)] == tree->chunk_size);
  requires content: tree_content(*tree, s, token, tree->chunk_size);
  assigns tree->pool.n_free, tree->begin[0 .. CP_MAX_CHUNKS - 1],
    tree->end[0 .. CP_MAX_CHUNKS - 1], tree->depth[0 .. CP_MAX_CHUNKS - 1],
    tree->fill[0 .. CP_MAX_CHUNKS - 1], tree->hash[0 .. CP_MAX_CHUNKS - 1],
    tree->tokens[0 .. CP_MAX_CHUNKS - 1], tree->sequence[s];
  ensures ok: tree_ok(*tree);
  ensures free: tree->pool.n_free ==
    \old(tree->pool.n_free) - (chunks_for(n_tokens, tree->chunk_size) - known);
  ensures depth: tree_depth(*tree, s) == chunks_for(n_tokens, tree->chunk_size);
  ensures length: tree_length(*tree, s) == n_tokens;
  ensures content: tree_content(*tree, s, token, tree->chunk_size);
  ensures path: \forall integer k; 0 <= k < known ==>
    tree_chunk(*tree, s, k) == \old(tree_chunk(*tree, s, k));
  ensures private: tree_new_from(*tree, s, known, \old(tree->pool));
  ensures row: tree->sequence[s].id == \old(tree->sequence[s].id) &&
    tree->sequence[s].salt == \old(tree->sequence[s].salt);
  ensures used: \forall integer x; pool_used(\old(tree->pool), x) ==> pool_used(tree->pool, x);
  ensures others: \forall integer x; pool_used(\old(tree->pool), x) ==>
    tree->fill[x] == \old(tree->fill[x]) && tree->tokens[x] == \old(tree->tokens[x]);
  ensures hashes: tree_hashes(\old(*tree)) ==> tree_hashes(*tree);
*/
static void put_rest(struct cp_tree *tree, int s, int known, const int *token, int n_tokens) {
    int c = tree->chunk_size;
    int n_chunks = n_tokens / c + (n_tokens % c > 0 ? 1 : 0);
    /*@ ghost chunks_bound(n_tokens, c); */
    /*@ loop invariant k: known <= k <= n_chunks && tree_depth(*tree, s) == k;
        loop invariant ok: tree_ok(*tree);
        loop invariant free: tree_took(*tree, \at(*tree, Pre), k - known);
        loop invariant last: 0 < k < n_chunks ==> tree_last_fill(*tree, s) == c;
        loop invariant whole: 0 < k == n_chunks ==> length_is(*tree, s, n_tokens);
        loop invariant content: tree_content(*tree, s, token, c);
        loop invariant path: path_same(\at(*tree, Pre), *tree, s, known);
        loop invariant private: tree_new_from(*tree, s, known, \at(tree->pool, Pre));
        loop invariant row: row_same(\at(*tree, Pre), *tree, s);
        loop invariant used: used_still(\at(*tree, Pre), *tree);
        loop invariant others: contents_same(\at(*tree, Pre), *tree);
        loop invariant hashes: tree_hashes(\at(*tree, Pre)) ==> tree_hashes(*tree);
        loop assigns k, CHUNKS_OF(tree), tree->sequence[s]; loop variant n_chunks - k; */
    for (int k = known; k < n_chunks; k++) {
        /*@ ghost part_bound(k, c, n_tokens); */
        int first = k * c;
        int n = n_tokens - first < c ? n_tokens - first : c;
        //@ assert last: k + 1 == n_chunks ==> tokens_in(k + 1, c, n) == n_tokens;
        put_chunk(tree, s, token, first, n);
        //@ assert fill: tree_last_fill(*tree, s) == n && tree_depth(*tree, s) == k + 1;
        //@ assert whole: k + 1 == n_chunks ==> length_is(*tree, s, n_tokens);
        //@ assert before: path_same(\at(*tree, LoopCurrent), *tree, s, k);
        //@ assert content: path_content_same(\at(*tree, LoopCurrent), *tree, s, k);
        //@ assert parts: parts_to(*tree, s, k, token, c);
        //@ assert new: tree_part(*tree, s, k, token, c);
    }
    //@ assert length: length_is(*tree, s, n_tokens);
}

/* Example (the tree of tree_internal.h): the prompt 1 2 3 4 9 joins.
 *
 *     1. It takes 3 chunks; a path may have as many, and there is room for one more sequence.
 *     2. The longest match is A B, of sequence 0. The third chunk must be new: the pool has one.
 *     3. B covers [0,2), so the new sequence comes right behind: at = 2.
 *     4. The new row 2 has A B. Sequence 2 becomes 3; A and B cover one sequence more.
 *     5. A new chunk F takes the rest, "9".
 *
 *     A "1 2" [0,4)                      sequence 0: A B C
 *     |-- B "3 4" [0,3)                  sequence 1: A B D
 *     |   |-- C "5" [0,1)                sequence 2: A B F    new, shares 4 tokens
 *     |   |-- D "6 7" [1,2)              sequence 3: A E      was sequence 2
 *     |   `-- F "9" [2,3)
 *     `-- E "8" [3,4)
 */
int cp_tree_join(struct cp_tree *tree, const int *token, int n_tokens, unsigned long long salt,
                 long long id, const unsigned long long *hash, struct cp_joined *joined) {
    /* 1. */
    int c = tree->chunk_size;
    if (n_tokens < 0) {
        return CP_ERROR_ARGUMENT;
    }
    int n_chunks = n_tokens / c + (n_tokens % c > 0 ? 1 : 0);
    /*@ ghost chunks_bound(n_tokens, c); */
    if (n_chunks > CP_MAX_DEPTH) {
        return CP_ERROR_TOO_LONG;
    }
    if (tree->n_sequences == CP_MAX_SEQUENCES) {
        return CP_ERROR_SEQUENCES_FULL;
    }
    /* 2. Nothing has been written so far. */
    struct cp_match match = cp_tree_lookup(tree, token, n_tokens, salt, hash);
    int n = match.n_chunks;
    if (n_chunks - n > tree->pool.n_free) {
        //@ assert lacks: join_must_lack(*tree, token, n_tokens, salt, hash);
        return CP_ERROR_POOL_FULL;
    }
    //@ assert has: !join_lacks(*tree, token, n_tokens, salt);
    /* 3. */
    int from = match.sequence;
    int at = tree->n_sequences;
    if (n > 0) {
        //@ assert last: pool_used(tree->pool, tree_chunk(*tree, from, n - 1));
        at = tree->end[tree->sequence[from].chunk[n - 1]];
    }
    //@ ghost quotient_of_product(match.n_tokens, n, c);
    //@ assert reach: n > 0 ==> path_reaches(*tree, from, n, at);
    //@ assert beside: n > 0 ==> path_shared(*tree, at - 1, from, n);
    //@ assert inside: only_path_inside(*tree, from, n, at);
    //@ assert found: path_found(*tree, from, n, token, c);
    /* 4. */
    cp_tree_new_row(tree, from, n, at, id, salt);
    //@ assert tokens: path_found(*tree, at, n, token, c);
    /* 5. */
    put_rest(tree, at, n, token, n_tokens);
    //@ assert shared: n > 0 ==> last_shared(\at(*tree, Pre), *tree, at, from, n);
    //@ assert some: match.n_tokens > 0 ==> n > 0;
    //@ assert new_row: join_row(*tree, at, n_tokens, salt, id);
    //@ assert new_shared: join_shared(\at(*tree, Pre), *tree, at, match.n_tokens / c);
    //@ assert new_own: join_own(\at(*tree, Pre), *tree, at, match.n_tokens / c, n_tokens);
    /*@ assert new_first: prompt_first(\at(*tree, Pre), *tree, at, match.n_tokens / c, token,
          n_tokens, hash, salt); */
    joined->sequence = at;
    joined->n_shared = match.n_tokens;
    //@ assert counts: 0 <= joined->n_shared <= n_tokens && joined->n_shared % c == 0;
    //@ assert one_more: tree->n_sequences == \at(tree->n_sequences, Pre) + 1;
    //@ assert stamp: next_epoch(\at(tree->stamp, Pre), tree->stamp);
    //@ assert joined: join_of(\at(*tree, Pre), *tree, *joined, token, n_tokens, salt, id);
    return CP_OK;
}
