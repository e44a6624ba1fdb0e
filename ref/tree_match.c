/* SPDX-License-Identifier: Apache-2.0 */
/* What is already there of a prompt (TREE-8). */
#include <limits.h>
#include <stddef.h>

#include "tree_internal.h"

#ifdef __FRAMAC__
#include "proofs/logic/tree_match.h"
#endif

/* FNV-1a over the tokens; then the low bits are mixed into the high ones, which are returned. */
unsigned long long cp_tree_hash(const int *token, int n, int bits) {
    unsigned long long h = 14695981039346656037ULL;
    if (bits == 0) {
        return 0;
    }
    /*@ loop invariant k: 0 <= k <= n;
        loop invariant h: hash_begun(h, token, k);
        loop assigns k, h; loop variant n - k; */
    for (int k = 0; k < n; k++) {
        h = (h ^ (unsigned)token[k]) * 1099511628211ULL;
    }
    /*@ ghost unsigned long long whole = h; */
    //@ assert whole: hash_begun(whole, token, n);
    h = (h ^ (h >> 32)) * 0x9E3779B97F4A7C15ULL;
    /*@ assert cut: (h >> (64 - bits)) == hash_cut(whole, bits); */
    return h >> (64 - bits);
}

unsigned long long cp_tree_chunk_hash(const struct cp_tree *tree, int chunk) {
    return cp_tree_hash(tree->tokens[chunk].token, tree->chunk_size, tree->hash_bits);
}

void cp_tree_hash_prompt(const struct cp_tree *tree, const int *token, int n_tokens,
                         unsigned long long *hash) {
    /*@ loop invariant k: 0 <= k <= n_tokens / tree->chunk_size;
        loop invariant hashes: prompt_hashes(*tree, token, hash, k);
        loop assigns k, hash[0 .. n_tokens / tree->chunk_size - 1];
        loop variant n_tokens / tree->chunk_size - k; */
    for (int k = 0; k < n_tokens / tree->chunk_size; k++) {
        /*@ ghost part_bound(k, tree->chunk_size, n_tokens); */
        int first = k * tree->chunk_size;
        hash[k] = cp_tree_hash(token + first, tree->chunk_size, tree->hash_bits);
    }
}

/* Is this chunk full, with exactly the tokens of the prompt's k-th chunk? The hash only saves the
 * comparison of tokens when it differs (TREE-15). */
/*@
  requires valid: \valid_read(tree);
  requires sizes: tree_sizes(*tree);
  requires chunk: 0 <= chunk < CP_MAX_CHUNKS && tree->fill[chunk] <= tree->chunk_size;
  requires k: 0 <= k && 0 <= k * tree->chunk_size <= INT_MAX - tree->chunk_size;
  requires tokens: \valid_read(token + (0 .. k * tree->chunk_size + tree->chunk_size - 1));
  requires hashes: hash == \null || \valid_read(hash + k);
  assigns \nothing;
  ensures right: \result != 0 ==> tree_holds(*tree, chunk, token, k);
  ensures wrong: \result == 0 ==>
    (hash != \null ==> tree->fill[chunk] == tree->chunk_size ==>
      tree->hash[chunk] == hash_of(tree->tokens[chunk], tree->chunk_size, tree->hash_bits) &&
      hash_is(hash[k], token, k * tree->chunk_size, tree->chunk_size, tree->hash_bits)) ==>
    !tree_holds(*tree, chunk, token, k);
*/
static int chunk_matches(const struct cp_tree *tree, int chunk, const int *token, int k,
                         const unsigned long long *hash) {
    int first = k * tree->chunk_size;
    if (tree->fill[chunk] < tree->chunk_size) {
        return 0;
    }
    if (hash != NULL && tree->hash[chunk] != hash[k]) {
        return 0;
    }
    /*@ loop invariant i: 0 <= i <= tree->chunk_size;
        loop invariant equal: \forall integer j; 0 <= j < i ==>
          tree->tokens[chunk].token[j] == token[first + j];
        loop assigns i; loop variant tree->chunk_size - i; */
    for (int i = 0; i < tree->chunk_size; i++) {
        if (tree->tokens[chunk].token[i] != token[first + i]) {
            return 0;
        }
    }
    return 1;
}

/* How many leading chunks of the sequence match those of the prompt, when the first `known` do. */
/*@
  requires valid: \valid_read(tree);
  requires ok: tree_ok(*tree);
  requires sequence: 0 <= s < tree->n_sequences;
  requires tokens: 0 <= n_tokens && \valid_read(token + (0 .. n_tokens - 1));
  requires hashes: hash == \null || \valid_read(hash + (0 .. n_tokens / tree->chunk_size - 1));
  requires known: 0 <= known <= n_tokens / tree->chunk_size &&
    tree_matches(*tree, s, token, known);
  assigns \nothing;
  ensures other_salt: tree->sequence[s].salt != salt ==> \result == 0;
  ensures sizes: 0 <= \result <= n_tokens / tree->chunk_size && \result <= tree_depth(*tree, s);
  ensures match: tree_matches(*tree, s, token, \result);
  ensures no_more: tree->sequence[s].salt == salt ==>
    \result < n_tokens / tree->chunk_size ==> \result < tree_depth(*tree, s) ==>
    hashes_right(*tree, token, hash, n_tokens / tree->chunk_size) ==>
    !tree_holds(*tree, tree_chunk(*tree, s, \result), token, \result);
*/
static int match_path(const struct cp_tree *tree, int s, int known, const int *token, int n_tokens,
                      unsigned long long salt, const unsigned long long *hash) {
    int k = known;
    if (tree->sequence[s].salt != salt) {
        return 0;
    }
    /*@ loop invariant k: known <= k <= n_tokens / tree->chunk_size && k <= tree_depth(*tree, s);
        loop invariant match: tree_matches(*tree, s, token, k);
        loop assigns k; loop variant n_tokens / tree->chunk_size - k; */
    while (k < n_tokens / tree->chunk_size && k < tree->sequence[s].n_chunks) {
        int chunk = tree->sequence[s].chunk[k];
        /*@ assert used: pool_used(tree->pool, chunk); */
        /*@ ghost part_bound(k, tree->chunk_size, n_tokens); */
        if (!chunk_matches(tree, chunk, token, k, hash)) {
            return k;
        }
        k++;
    }
    return k;
}

/* Example (the tree of tree_internal.h): the prompt 1 2 8 9 has two full chunks, "1 2" and "8 9".
 *
 *     s = 0   1. A matches, B differs: k = 1.   2. The best match is now 1 chunk, of sequence 0.
 *             3. B covers [0,2), and all of these differ here too: go on with sequence 2.
 *             4. Sequence 2 has A as well: 1 chunk is known to match.
 *     s = 2   1. E is partial: k = 1.           2. Sequence 0 stays the best match.
 *             3. E covers [2,3): the end.
 *
 * Sequence 1 was never compared. */
struct cp_match cp_tree_lookup(const struct cp_tree *tree, const int *token, int n_tokens,
                               unsigned long long salt, const unsigned long long *hash) {
    struct cp_match best = {0, 0, -1};
    int n_full = n_tokens / tree->chunk_size;
    int known = 0; /* leading chunks of s that the sequence before it had too, and that match */
    int s = 0;
    /*@ loop invariant s: 0 <= s <= tree->n_sequences;
        loop invariant known: 0 <= known <= n_full;
        loop invariant known_match: known_matches(*tree, s, token, known, salt);
        loop invariant best: 0 <= best.n_chunks <= n_full &&
          best.n_tokens == best.n_chunks * tree->chunk_size && 0 <= best.n_tokens <= n_tokens;
        loop invariant none: best.n_chunks == 0 ==> best.sequence == -1;
        loop invariant before: best.n_chunks > 0 ==> 0 <= best.sequence < s;
        loop invariant match: match_found(*tree, best, token, salt);
        loop invariant longest: is_longest(*tree, s, best.n_chunks, token, n_full, salt, hash);
        loop invariant first: is_first(*tree, best, token, n_full, salt, hash);
        loop assigns s, known, best; loop variant tree->n_sequences - s; */
    while (s < tree->n_sequences && best.n_chunks < n_full) {
        /* 1. How many chunks match? */
        int k = match_path(tree, s, known, token, n_tokens, salt, hash);
        /* 2. Only a longer match replaces the best one: the first of equals stays. */
        if (k > best.n_chunks) {
            /*@ ghost part_bound(k - 1, tree->chunk_size, n_tokens); */
            best.n_chunks = k;
            best.n_tokens = k * tree->chunk_size;
            best.sequence = s;
        }
        /* 3. Each sequence on the first chunk that differs matches no further: skip its range. */
        int next = s + 1;
        if (k < tree->sequence[s].n_chunks) {
            int chunk = tree->sequence[s].chunk[k];
            /*@ assert used: pool_used(tree->pool, chunk); */
            next = tree->end[chunk];
            //@ assert on: all_have(*tree, s, next, k, chunk);
            //@ assert salts: all_of_salt(*tree, s, next, tree->sequence[s].salt);
        }
        /*@ assert no_further: hashes_right(*tree, token, hash, n_full) ==>
              \forall integer r, m; s <= r < next ==> tree->sequence[r].salt == salt ==>
              k < m <= n_full ==> !tree_matches(*tree, r, token, m); */
        /* 4. The next sequence has the chunks whose range goes on, and these match. */
        /*@ loop invariant k: 0 <= k <= \at(k, LoopEntry);
            loop assigns k; loop variant k; */
        while (k > 0 && tree->end[tree->sequence[s].chunk[k - 1]] <= next) {
            k--;
        }
        //@ assert shared: next < tree->n_sequences ==> has_path_of(*tree, next, s, k);
        s = next;
        known = k;
    }
    return best;
}
