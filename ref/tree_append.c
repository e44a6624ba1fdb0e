/* SPDX-License-Identifier: Apache-2.0 */
#include "chunkproof/status.h"
#include "tree_internal.h"

#ifdef __FRAMAC__
#include "proofs/logic/tree_append.h"
#include "proofs/logic/tree_ok.h"
#endif

/* One more token for sequence s (TREE-10). */
/*@
  requires valid: \valid(tree);
  requires ok: tree_ok(*tree);
  requires sequence: 0 <= s < tree->n_sequences;
  requires room: tree_needs_chunk(*tree, s) ==>
    tree->pool.n_free > 0 && tree_depth(*tree, s) < CP_MAX_DEPTH;
  assigns tree->pool.n_free, tree->begin[0 .. CP_MAX_CHUNKS - 1],
    tree->end[0 .. CP_MAX_CHUNKS - 1], tree->depth[0 .. CP_MAX_CHUNKS - 1],
    tree->fill[0 .. CP_MAX_CHUNKS - 1], tree->hash[0 .. CP_MAX_CHUNKS - 1],
    tree->tokens[0 .. CP_MAX_CHUNKS - 1], tree->sequence[s], tree->stamp.epoch;
  ensures pool: pool_ok(tree->pool);
  ensures sizes: tree_sizes(*tree);
  ensures ranges: tree_ranges(*tree);
  ensures private: tree_private(*tree);
  ensures paths: tree_paths(*tree);
  ensures cover: tree_cover(*tree);
  ensures nested: tree_nested(*tree);
  ensures salts: tree_salts(*tree);
  ensures as_many: tree->n_sequences == \old(tree->n_sequences);
  ensures none_taken: !\old(tree_needs_chunk(*tree, s)) ==>
    tree->pool.n_free == \old(tree->pool.n_free);
  ensures one_taken: \old(tree_needs_chunk(*tree, s)) ==>
    tree->pool.n_free == \old(tree->pool.n_free) - 1;
  ensures new_chunk: \old(tree_needs_chunk(*tree, s)) ==>
    tree_depth(*tree, s) == \old(tree_depth(*tree, s)) + 1 && tree_last_fill(*tree, s) == 1;
  ensures old_chunk: !\old(tree_needs_chunk(*tree, s)) ==>
    tree_depth(*tree, s) == \old(tree_depth(*tree, s)) &&
    tree_last_fill(*tree, s) == \old(tree_last_fill(*tree, s)) + 1;
  ensures longer: tree_length(*tree, s) == \old(tree_length(*tree, s)) + 1;
  ensures last: tree->tokens[tree_chunk(*tree, s, tree_depth(*tree, s) - 1)].token[
    tree_last_fill(*tree, s) - 1] == token;
  ensures content: \forall integer k, i; 0 <= k < \old(tree_depth(*tree, s)) ==>
    0 <= i < \old(tree->fill[tree_chunk(*tree, s, k)]) ==>
      tree->tokens[tree_chunk(*tree, s, k)].token[i] ==
        \old(tree->tokens[tree_chunk(*tree, s, k)].token[i]);
  ensures grown: tree_grown(\old(*tree), *tree, s, token);
  ensures hashes: tree_hashes(\old(*tree)) ==> tree_hashes(*tree);
  ensures epoch: counted(\old(tree->stamp.epoch), tree_needs(\old(*tree), s), tree->stamp.epoch);
  ensures same_paths: !\old(tree_needs_chunk(*tree, s)) ==> tree_same_paths(\old(*tree), *tree);
  ensures others: \forall integer r; 0 <= r < tree->n_sequences ==>
    r != s ==> tree_kept(\old(*tree), r, *tree, r);
*/
static void append_one(struct cp_tree *tree, int s, int token) {
    int chunk;
    int fill;
    int n_chunks = tree->sequence[s].n_chunks;
    if (cp_tree_needs_chunk(tree, s)) {
        //@ assert length: length_is(*tree, s, n_chunks, tree->chunk_size);
        chunk = cp_tree_push_chunk(tree, s, 1);
        tree->stamp.epoch++;
        fill = 1;
    } else {
        chunk = tree->sequence[s].chunk[n_chunks - 1];
        //@ assert own: pool_used(tree->pool, chunk) && tree_own(*tree, chunk, s);
        fill = tree->fill[chunk] + 1;
        /*@ assert length: tree_length(*tree, s) + 1 ==
              tokens_in(n_chunks, tree->chunk_size, fill); */
        tree->fill[chunk] = fill;
    }
    tree->tokens[chunk].token[fill - 1] = token;
    cp_tree_hash_if_full(tree, chunk);
    /*@ assert longer: tokens_in(tree->sequence[s].n_chunks, tree->chunk_size, fill) ==
          \at(tree_length(*tree, s), Pre) + 1; */
    //@ assert last: tree_chunk(*tree, s, tree_depth(*tree, s) - 1) == chunk;
    //@ assert fill: tree_last_fill(*tree, s) == fill;
    //@ assert paths_kept: paths_kept(\at(*tree, Pre), *tree);
    /*@ assert used_kept: \forall integer x; pool_used(tree->pool, x) ==> x != chunk ==>
          \at(pool_used(tree->pool, x), Pre) &&
          tree->begin[x] == \at(tree->begin[x], Pre) && tree->end[x] == \at(tree->end[x], Pre) &&
          tree->depth[x] == \at(tree->depth[x], Pre) && tree->fill[x] == \at(tree->fill[x], Pre); */
    //@ assert ranges: tree_ranges(*tree);
    //@ assert nested: tree_nested(*tree);
    //@ assert private: tree_private(*tree);
    //@ assert paths: tree_paths(*tree);
    //@ assert tokens_kept: tokens_same_but(\at(*tree, Pre), *tree, chunk);
    //@ assert apart: rows_apart_from(*tree, s, chunk);
    //@ assert others: other_tokens_kept(\at(*tree, Pre), *tree, s);
    //@ assert content: its_tokens_kept(\at(*tree, Pre), *tree, s);
}

/* One more token for each of n sequences, for which there is room. */
/*@
  requires valid: \valid(tree);
  requires ok: tree_ok(*tree);
  requires size: 0 <= n;
  requires arguments: \valid_read(sequence + (0 .. n - 1)) && \valid_read(token + (0 .. n - 1));
  requires rows: \forall integer j; 0 <= j < n ==> 0 <= sequence[j] < tree->n_sequences;
  requires increasing: \forall integer j, k; 0 <= j < k < n ==> sequence[j] < sequence[k];
  requires depth: \forall integer j; 0 <= j < n ==>
    tree_needs_chunk(*tree, sequence[j]) ==> tree_depth(*tree, sequence[j]) < CP_MAX_DEPTH;
  requires free: \forall integer j; 0 <= j <= n ==>
    tree_needed(*tree, sequence, j) <= tree->pool.n_free;
  assigns tree->pool.n_free, tree->begin[0 .. CP_MAX_CHUNKS - 1],
    tree->end[0 .. CP_MAX_CHUNKS - 1], tree->depth[0 .. CP_MAX_CHUNKS - 1],
    tree->fill[0 .. CP_MAX_CHUNKS - 1], tree->hash[0 .. CP_MAX_CHUNKS - 1],
    tree->tokens[0 .. CP_MAX_CHUNKS - 1], tree->sequence[0 .. CP_MAX_SEQUENCES - 1],
    tree->stamp.epoch;
  ensures ok: tree_ok(*tree);
  ensures free: tree->pool.n_free ==
    \old(tree->pool.n_free) - tree_needed(\old(*tree), sequence, n);
  ensures epoch: counted(\old(tree->stamp.epoch), tree_needed(\old(*tree), sequence, n),
    tree->stamp.epoch);
  ensures needed: 0 <= tree_needed(\old(*tree), sequence, n) <= n;
  ensures same_paths: tree_needed(\old(*tree), sequence, n) == 0 ==>
    tree_same_paths(\old(*tree), *tree);
  ensures hashes: tree_hashes(\old(*tree)) ==> tree_hashes(*tree);
  ensures longer: \forall integer i; 0 <= i < n ==>
    tree_length(*tree, sequence[i]) == tree_length(\old(*tree), sequence[i]) + 1;
  ensures grown: \forall integer i; 0 <= i < n ==>
    tree_grown(\old(*tree), *tree, sequence[i], token[i]);
  ensures others: \forall integer r; 0 <= r < tree->n_sequences ==>
    !among(sequence, n, r) ==> tree_kept(\old(*tree), r, *tree, r);
*/
static void append_all(struct cp_tree *tree, int n, const int *sequence, const int *token) {
    /*@ loop invariant i: 0 <= i <= n;
        loop invariant ok: tree_ok(*tree);
        loop invariant free: tree->pool.n_free ==
          \at(tree->pool.n_free, Pre) - tree_needed(\at(*tree, Pre), sequence, i);
        loop invariant epoch: counted(\at(tree->stamp.epoch, Pre),
          tree_needed(\at(*tree, Pre), sequence, i), tree->stamp.epoch);
        loop invariant needed: 0 <= tree_needed(\at(*tree, Pre), sequence, i) <= i;
        loop invariant same_paths: tree_needed(\at(*tree, Pre), sequence, i) == 0 ==>
          tree_same_paths(\at(*tree, Pre), *tree);
        loop invariant hashes: tree_hashes(\at(*tree, Pre)) ==> tree_hashes(*tree);
        loop invariant longer: \forall integer j; 0 <= j < i ==>
          tree_length(*tree, sequence[j]) == tree_length(\at(*tree, Pre), sequence[j]) + 1;
        loop invariant grown: \forall integer j; 0 <= j < i ==>
          tree_grown(\at(*tree, Pre), *tree, sequence[j], token[j]);
        loop invariant kept: \forall integer r; 0 <= r < tree->n_sequences ==>
          !among(sequence, i, r) ==> tree_kept(\at(*tree, Pre), r, *tree, r);
        loop assigns i, tree->pool.n_free, tree->begin[0 .. CP_MAX_CHUNKS - 1],
          tree->end[0 .. CP_MAX_CHUNKS - 1], tree->depth[0 .. CP_MAX_CHUNKS - 1],
          tree->fill[0 .. CP_MAX_CHUNKS - 1], tree->hash[0 .. CP_MAX_CHUNKS - 1],
          tree->tokens[0 .. CP_MAX_CHUNKS - 1], tree->sequence[0 .. CP_MAX_SEQUENCES - 1],
          tree->stamp.epoch;
        loop variant n - i; */
    for (int i = 0; i < n; i++) {
        int s = sequence[i];
        /*@ assert new: !among(sequence, i, s); */
        /*@ assert kept: tree_kept(\at(*tree, Pre), s, *tree, s); */
        /*@ assert depth: tree_depth(*tree, s) == tree_depth(\at(*tree, Pre), s); */
        /*@ assert last: 0 < tree_depth(*tree, s) ==>
              tree_last_fill(*tree, s) == tree_last_fill(\at(*tree, Pre), s); */
        /*@ assert needs: tree_needs_chunk(*tree, s) <==> tree_needs_chunk(\at(*tree, Pre), s); */
        /*@ assert length: tree_length(*tree, s) == tree_length(\at(*tree, Pre), s); */
        /*@ assert before: \forall integer r; !among(sequence, i + 1, r) ==>
              !among(sequence, i, r) && r != s; */
        append_one(tree, s, token[i]);
        /*@ assert others: \forall integer r; 0 <= r < tree->n_sequences ==> r != s ==>
              tree_length(*tree, r) == tree_length(\at(*tree, LoopCurrent), r); */
        /*@ assert rows: \forall integer r; 0 <= r < tree->n_sequences ==>
              !among(sequence, i + 1, r) ==>
              \at(tree->sequence[r].id, Pre) == tree->sequence[r].id &&
              \at(tree->sequence[r].salt, Pre) == tree->sequence[r].salt &&
              tree_depth(\at(*tree, Pre), r) == tree_depth(*tree, r); */
        /*@ assert chunks: \forall integer r, k; 0 <= r < tree->n_sequences ==>
              !among(sequence, i + 1, r) ==>
              0 <= k < tree_depth(*tree, r) ==>
              tree_chunk(\at(*tree, Pre), r, k) == tree_chunk(*tree, r, k) &&
              \at(*tree, Pre).fill[tree_chunk(*tree, r, k)] ==
                tree->fill[tree_chunk(*tree, r, k)]; */
        /*@ assert tokens: \forall integer r, k, x; 0 <= r < tree->n_sequences ==>
              !among(sequence, i + 1, r) ==>
              0 <= k < tree_depth(*tree, r) ==> 0 <= x < tree->fill[tree_chunk(*tree, r, k)] ==>
              \at(*tree, Pre).tokens[tree_chunk(*tree, r, k)].token[x] ==
                tree->tokens[tree_chunk(*tree, r, k)].token[x]; */
        /*@ assert apart: \forall integer j; 0 <= j < i ==> sequence[j] != s &&
              0 <= sequence[j] < tree->n_sequences; */
        /*@ assert still: \forall integer j; 0 <= j < i ==>
              tree_kept(\at(*tree, LoopCurrent), sequence[j], *tree, sequence[j]); */
        /*@ assert grown_row: \forall integer j; 0 <= j < i ==>
              \at(tree->sequence[sequence[j]].id, Pre) == tree->sequence[sequence[j]].id &&
              \at(tree->sequence[sequence[j]].salt, Pre) == tree->sequence[sequence[j]].salt &&
              0 < tree_depth(*tree, sequence[j]) &&
              tree_depth(\at(*tree, Pre), sequence[j]) <= tree_depth(*tree, sequence[j]); */
        /*@ assert grown_path: \forall integer j, k; 0 <= j < i ==>
              0 <= k < tree_depth(\at(*tree, Pre), sequence[j]) ==>
              tree_chunk(\at(*tree, Pre), sequence[j], k) == tree_chunk(*tree, sequence[j], k) &&
              \at(*tree, Pre).fill[tree_chunk(*tree, sequence[j], k)] <=
                \at(*tree, LoopCurrent).fill[tree_chunk(*tree, sequence[j], k)] &&
              \at(*tree, LoopCurrent).fill[tree_chunk(*tree, sequence[j], k)] ==
                tree->fill[tree_chunk(*tree, sequence[j], k)]; */
        /*@ assert grown_tokens: \forall integer j, k, x; 0 <= j < i ==>
              0 <= k < tree_depth(\at(*tree, Pre), sequence[j]) ==>
              0 <= x < \at(*tree, Pre).fill[tree_chunk(\at(*tree, Pre), sequence[j], k)] ==>
              tree->tokens[tree_chunk(*tree, sequence[j], k)].token[x] ==
                \at(*tree, Pre).tokens[tree_chunk(\at(*tree, Pre), sequence[j], k)].token[x]; */
        /*@ assert grown_last: \forall integer j; 0 <= j < i ==>
              tree->tokens[tree_chunk(*tree, sequence[j], tree_depth(*tree, sequence[j]) - 1)]
                .token[tree_last_fill(*tree, sequence[j]) - 1] == token[j]; */
        /*@ assert now_grown: tree_grown(\at(*tree, Pre), *tree, s, token[i]); */
    }
}

/* Example (the tree of tree_internal.h): sequences 0, 1, 2 get the tokens 20, 21, 22.
 *
 *     1. Are the sequences there, in order, and not too deep? How many need a chunk? One: C and E
 *        have room for a token, D is full.
 *     2. The pool has none free: refused, and sequence 0 is unchanged too. It has one: go on.
 *     3. C becomes "5 20". Sequence 1 gets a new chunk F "21" below D. E becomes "8 22".
 *     4. Lengths have changed: step + 1. A path has changed, at F: epoch + 1, in append_one().
 */
int cp_tree_append_each(struct cp_tree *tree, int n, const int *sequence, const int *token) {
    int needed = 0;
    if (n < 0) {
        return CP_ERROR_ARGUMENT;
    }
    /* 1. */
    /*@ loop invariant i: 0 <= i <= n;
        loop invariant rows: \forall integer j; 0 <= j < i ==> 0 <= sequence[j] < tree->n_sequences;
        loop invariant last: \forall integer j; 0 <= j < i ==> sequence[j] <= sequence[i - 1];
        loop invariant increasing: in_order(sequence, i);
        loop invariant right: append_right(*tree, sequence, i);
        loop invariant needed: batch_needs(*tree, i, sequence, needed);
        loop assigns i, needed; loop variant n - i; */
    for (int i = 0; i < n; i++) {
        int s = sequence[i];
        if (s < 0 || s >= tree->n_sequences || (i > 0 && s <= sequence[i - 1])) {
            return CP_ERROR_ARGUMENT;
        }
        if (cp_tree_needs_chunk(tree, s)) {
            if (tree->sequence[s].n_chunks == CP_MAX_DEPTH) {
                return CP_ERROR_TOO_LONG;
            }
            needed++;
        }
    }
    /* 2. */
    if (needed > tree->pool.n_free) {
        return CP_ERROR_POOL_FULL;
    }
    /*@ assert others: \forall integer r; (\forall integer i; 0 <= i < n ==> sequence[i] != r) ==>
          !among(sequence, n, r); */
    /* 3. */
    append_all(tree, n, sequence, token);
    /* 4. */
    tree->stamp.step++;
    //@ ghost tree_is_ok(tree);
    /*@ assert longer: \forall integer i; 0 <= i < n ==>
          tree_length(*tree, sequence[i]) == tree_length(\at(*tree, Pre), sequence[i]) + 1; */
    /*@ assert grown: \forall integer i; 0 <= i < n ==>
          tree_grown(\at(*tree, Pre), *tree, sequence[i], token[i]); */
    /*@ assert kept: \forall integer r; 0 <= r < tree->n_sequences ==>
          !among(sequence, n, r) ==> tree_kept(\at(*tree, Pre), r, *tree, r); */
    return CP_OK;
}

int cp_tree_append(struct cp_tree *tree, int sequence, int token) {
    return cp_tree_append_each(tree, 1, &sequence, &token);
}
