/* SPDX-License-Identifier: Apache-2.0 */
#include "chunkproof/tree.h"

#include <stddef.h>

#include "chunkproof/status.h"

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

/* ---- Changing ranges and rows: the parts of which the operations are made ---- */

/* Makes room for a sequence at index `at`: rows and ranges behind it move up by one. The new row is
 * in the range of every chunk that `at` was strictly inside of. */
/*@
  requires valid: \valid(tree);
  requires pool: pool_ok(tree->pool);
  requires room: 0 <= at <= tree->n_sequences < CP_MAX_SEQUENCES;
  requires ranges: tree_ranges(*tree);
  assigns tree->n_sequences, tree->begin[0 .. CP_MAX_CHUNKS - 1],
    tree->end[0 .. CP_MAX_CHUNKS - 1], tree->sequence[0 .. CP_MAX_SEQUENCES - 1];
  ensures one_more: tree->n_sequences == \old(tree->n_sequences) + 1;
  ensures before: \forall integer s; 0 <= s < at ==>
    tree->sequence[s] == \old(tree->sequence[s]);
  ensures behind: \forall integer s; at < s < tree->n_sequences ==>
    tree->sequence[s] == \old(tree->sequence[s - 1]);
  ensures begin: \forall integer x; pool_used(tree->pool, x) ==>
    tree->begin[x] == \old(tree->begin[x]) + (\old(tree->begin[x]) >= at ? 1 : 0);
  ensures end: \forall integer x; pool_used(tree->pool, x) ==>
    tree->end[x] == \old(tree->end[x]) + (\old(tree->end[x]) > at ? 1 : 0);
*/
static void open_row(struct cp_tree *tree, int at) {
    /*@
      loop invariant s: at <= s <= tree->n_sequences;
      loop invariant moved: \forall integer r; s < r <= tree->n_sequences ==>
        tree->sequence[r] == \at(tree->sequence[r - 1], Pre);
      loop invariant kept: \forall integer r; 0 <= r <= s && r < tree->n_sequences ==>
        tree->sequence[r] == \at(tree->sequence[r], Pre);
      loop assigns s, tree->sequence[0 .. CP_MAX_SEQUENCES - 1];
      loop variant s;
    */
    for (int s = tree->n_sequences; s > at; s--) {
        tree->sequence[s] = tree->sequence[s - 1];
    }
    tree->n_sequences++;
    /*@
      loop invariant i: tree->pool.n_free <= i <= tree->pool.capacity;
      loop invariant begin: \forall integer x; pool_used(tree->pool, x) && tree->pool.pos[x] < i ==>
        tree->begin[x] == \at(tree->begin[x], Pre) + (\at(tree->begin[x], Pre) >= at ? 1 : 0);
      loop invariant end: \forall integer x; pool_used(tree->pool, x) && tree->pool.pos[x] < i ==>
        tree->end[x] == \at(tree->end[x], Pre) + (\at(tree->end[x], Pre) > at ? 1 : 0);
      loop invariant rest: \forall integer x; pool_used(tree->pool, x) && tree->pool.pos[x] >= i ==>
        tree->begin[x] == \at(tree->begin[x], Pre) && tree->end[x] == \at(tree->end[x], Pre);
      loop assigns i, tree->begin[0 .. CP_MAX_CHUNKS - 1], tree->end[0 .. CP_MAX_CHUNKS - 1];
      loop variant tree->pool.capacity - i;
    */
    for (int i = tree->pool.n_free; i < tree->pool.capacity; i++) {
        int chunk = tree->pool.perm[i];
        tree->begin[chunk] += tree->begin[chunk] >= at ? 1 : 0;
        tree->end[chunk] += tree->end[chunk] > at ? 1 : 0;
    }
}

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
static void close_row(struct cp_tree *tree, int at) {
    tree->n_sequences--;
    /*@
      loop invariant s: at <= s <= tree->n_sequences;
      loop invariant before: \forall integer r; 0 <= r < at ==>
        tree->sequence[r] == \at(tree->sequence[r], Pre);
      loop invariant moved: \forall integer r; at <= r < s ==>
        tree->sequence[r] == \at(tree->sequence[r + 1], Pre);
      loop invariant rest: \forall integer r; s <= r <= tree->n_sequences ==>
        tree->sequence[r] == \at(tree->sequence[r], Pre);
      loop assigns s, tree->sequence[0 .. CP_MAX_SEQUENCES - 1];
      loop variant tree->n_sequences - s;
    */
    for (int s = at; s < tree->n_sequences; s++) {
        tree->sequence[s] = tree->sequence[s + 1];
    }
    /*@
      loop invariant i: tree->pool.n_free <= i <= tree->pool.capacity;
      loop invariant begin: \forall integer x; pool_used(tree->pool, x) && tree->pool.pos[x] < i ==>
        tree->begin[x] == \at(tree->begin[x], Pre) - (\at(tree->begin[x], Pre) > at ? 1 : 0);
      loop invariant end: \forall integer x; pool_used(tree->pool, x) && tree->pool.pos[x] < i ==>
        tree->end[x] == \at(tree->end[x], Pre) - (\at(tree->end[x], Pre) > at ? 1 : 0);
      loop invariant rest: \forall integer x; pool_used(tree->pool, x) && tree->pool.pos[x] >= i ==>
        tree->begin[x] == \at(tree->begin[x], Pre) && tree->end[x] == \at(tree->end[x], Pre);
      loop assigns i, tree->begin[0 .. CP_MAX_CHUNKS - 1], tree->end[0 .. CP_MAX_CHUNKS - 1];
      loop variant tree->pool.capacity - i;
    */
    for (int i = tree->pool.n_free; i < tree->pool.capacity; i++) {
        int chunk = tree->pool.perm[i];
        tree->begin[chunk] -= tree->begin[chunk] > at ? 1 : 0;
        tree->end[chunk] -= tree->end[chunk] > at ? 1 : 0;
    }
}

/* Puts the first n chunks of sequence `from` on the path of `at` too; each of them ends at `at` or
 * has it inside already. */
/*@
  requires valid: \valid(tree);
  requires pool: pool_ok(tree->pool);
  requires rows: n > 0 ==> 0 <= from < CP_MAX_SEQUENCES && from != at;
  requires at: 0 <= at < CP_MAX_SEQUENCES && 0 <= n <= CP_MAX_DEPTH;
  requires used: \forall integer k; 0 <= k < n ==>
    pool_used(tree->pool, tree_chunk(*tree, from, k)) && tree->depth[tree_chunk(*tree, from, k)] == k;
  assigns tree->end[0 .. CP_MAX_CHUNKS - 1], tree->sequence[at].chunk[0 .. CP_MAX_DEPTH - 1];
  ensures path: \forall integer k; 0 <= k < n ==>
    tree_chunk(*tree, at, k) == \old(tree_chunk(*tree, from, k));
  ensures others: \forall integer x; 0 <= x < CP_MAX_CHUNKS ==>
    (\forall integer k; 0 <= k < n ==> tree_chunk(*tree, from, k) != x) ==>
      tree->end[x] == \old(tree->end[x]);
  ensures end: \forall integer k; 0 <= k < n ==>
    tree->end[tree_chunk(*tree, from, k)] ==
      (\old(tree->end[tree_chunk(*tree, from, k)]) == at ? at + 1 :
        \old(tree->end[tree_chunk(*tree, from, k)]));
*/
static void share_path(struct cp_tree *tree, int from, int n, int at) {
    /*@
      loop invariant k: 0 <= k <= n;
      loop invariant path: \forall integer j; 0 <= j < k ==>
        tree_chunk(*tree, at, j) == tree_chunk(*tree, from, j);
      loop invariant others: \forall integer x; 0 <= x < CP_MAX_CHUNKS ==>
        (\forall integer j; 0 <= j < k ==> tree_chunk(*tree, from, j) != x) ==>
          tree->end[x] == \at(tree->end[x], Pre);
      loop invariant end: \forall integer j; 0 <= j < k ==>
        tree->end[tree_chunk(*tree, from, j)] ==
          (\at(tree->end[tree_chunk(*tree, from, j)], Pre) == at ? at + 1 :
            \at(tree->end[tree_chunk(*tree, from, j)], Pre));
      loop assigns k, tree->end[0 .. CP_MAX_CHUNKS - 1],
        tree->sequence[at].chunk[0 .. CP_MAX_DEPTH - 1];
      loop variant n - k;
    */
    for (int k = 0; k < n; k++) {
        int chunk = tree->sequence[from].chunk[k];
        tree->sequence[at].chunk[k] = chunk;
        tree->end[chunk] += tree->end[chunk] == at ? 1 : 0;
    }
}

/* A new chunk for sequence s alone, at depth k, to hold `fill` tokens. The pool has a free one. */
/*@
  requires valid: \valid(tree);
  requires pool: pool_ok(tree->pool) && tree->pool.n_free > 0;
  requires row: 0 <= s < CP_MAX_SEQUENCES && 0 <= k < CP_MAX_DEPTH;
  assigns tree->pool.n_free, tree->begin[0 .. CP_MAX_CHUNKS - 1],
    tree->end[0 .. CP_MAX_CHUNKS - 1], tree->depth[0 .. CP_MAX_CHUNKS - 1],
    tree->fill[0 .. CP_MAX_CHUNKS - 1], tree->sequence[s].chunk[k];
  ensures pool: pool_ok(tree->pool) && tree->pool.n_free == \old(tree->pool.n_free) - 1;
  ensures was_free: 0 <= \result < tree->pool.capacity && !pool_used(\old(tree->pool), \result);
  ensures used: \forall integer x; pool_used(tree->pool, x) <==>
    (x == \result || pool_used(\old(tree->pool), x));
  ensures chunk: tree->begin[\result] == s && tree->end[\result] == s + 1 &&
    tree->depth[\result] == k && tree->fill[\result] == fill &&
    tree->sequence[s].chunk[k] == \result;
  ensures others: \forall integer x; 0 <= x < CP_MAX_CHUNKS && x != \result ==>
    tree->begin[x] == \old(tree->begin[x]) && tree->end[x] == \old(tree->end[x]) &&
    tree->depth[x] == \old(tree->depth[x]) && tree->fill[x] == \old(tree->fill[x]);
*/
static int add_chunk(struct cp_tree *tree, int s, int k, int fill) {
    int chunk = cp_pool_take(&tree->pool);
    tree->begin[chunk] = s;
    tree->end[chunk] = s + 1;
    tree->depth[chunk] = k;
    tree->fill[chunk] = fill;
    tree->sequence[s].chunk[k] = chunk;
    return chunk;
}

/* TREE-15: a full chunk has its hash. Called whenever tokens were put into a chunk. */
/*@
  requires valid: \valid(tree);
  requires sizes: tree_sizes(*tree);
  requires chunk: 0 <= chunk < CP_MAX_CHUNKS;
  assigns tree->hash[chunk];
*/
static void hash_if_full(struct cp_tree *tree, int chunk) {
    if (tree->fill[chunk] == tree->chunk_size) {
        tree->hash[chunk] =
            cp_tree_hash(tree->tokens[chunk].token, tree->chunk_size, tree->hash_bits);
    }
}

/* ---- Operations ---- */

int cp_tree_join(struct cp_tree *tree, const int *token, int n_tokens, unsigned long long salt,
                 long long id, const unsigned long long *hash, struct cp_joined *joined) {
    int c = tree->chunk_size;
    if (n_tokens < 0) {
        return CP_ERROR_ARGUMENT;
    }
    int n_chunks = n_tokens / c + (n_tokens % c > 0 ? 1 : 0);
    if (n_chunks > CP_MAX_DEPTH) {
        return CP_ERROR_TOO_LONG;
    }
    if (tree->n_sequences == CP_MAX_SEQUENCES) {
        return CP_ERROR_SEQUENCES_FULL;
    }
    struct cp_match match = cp_tree_lookup(tree, token, n_tokens, salt, hash);
    if (n_chunks - match.n_chunks > tree->pool.n_free) {
        return CP_ERROR_POOL_FULL;
    }

    int at = tree->n_sequences;
    if (match.n_chunks > 0) {
        at = tree->end[tree->sequence[match.sequence].chunk[match.n_chunks - 1]];
    }
    open_row(tree, at);
    tree->sequence[at].id = id;
    tree->sequence[at].salt = salt;
    tree->sequence[at].n_chunks = n_chunks;
    share_path(tree, match.sequence, match.n_chunks, at);
    for (int k = match.n_chunks; k < n_chunks; k++) {
        int fill = n_tokens - k * c < c ? n_tokens - k * c : c;
        int chunk = add_chunk(tree, at, k, fill);
        for (int i = 0; i < fill; i++) {
            tree->tokens[chunk].token[i] = token[k * c + i];
        }
        hash_if_full(tree, chunk);
    }
    tree->stamp.epoch++;
    joined->sequence = at;
    joined->n_shared = match.n_tokens;
    return CP_OK;
}

/* Does the next token of sequence s need a new chunk? A shared chunk is full, so yes after one. */
/*@
  requires valid: \valid_read(tree);
  requires sequence: 0 <= s < CP_MAX_SEQUENCES && 0 <= tree_depth(*tree, s) <= CP_MAX_DEPTH;
  requires last: tree_depth(*tree, s) > 0 ==>
    0 <= tree_chunk(*tree, s, tree_depth(*tree, s) - 1) < CP_MAX_CHUNKS;
  assigns \nothing;
  ensures result: \result == 0 || \result == 1;
  ensures needs: \result == 1 <==> (tree_depth(*tree, s) == 0 ||
    tree->fill[tree_chunk(*tree, s, tree_depth(*tree, s) - 1)] == tree->chunk_size);
*/
static int needs_chunk(const struct cp_tree *tree, int s) {
    const struct cp_sequence *row = &tree->sequence[s];
    return row->n_chunks == 0 || tree->fill[row->chunk[row->n_chunks - 1]] == tree->chunk_size;
}

static void append_one(struct cp_tree *tree, int s, int token) {
    struct cp_sequence *row = &tree->sequence[s];
    int chunk;
    if (needs_chunk(tree, s)) {
        chunk = add_chunk(tree, s, row->n_chunks, 1);
        row->n_chunks++;
        tree->stamp.epoch++;
    } else {
        chunk = row->chunk[row->n_chunks - 1];
        tree->fill[chunk]++;
    }
    tree->tokens[chunk].token[tree->fill[chunk] - 1] = token;
    hash_if_full(tree, chunk);
}

int cp_tree_append_each(struct cp_tree *tree, int n, const int *sequence, const int *token) {
    int needed = 0;
    for (int i = 0; i < n; i++) {
        int s = sequence[i];
        if (s < 0 || s >= tree->n_sequences || (i > 0 && s <= sequence[i - 1])) {
            return CP_ERROR_ARGUMENT;
        }
        if (needs_chunk(tree, s)) {
            if (tree->sequence[s].n_chunks == CP_MAX_DEPTH) {
                return CP_ERROR_TOO_LONG;
            }
            needed++;
        }
    }
    if (needed > tree->pool.n_free) {
        return CP_ERROR_POOL_FULL;
    }
    for (int i = 0; i < n; i++) {
        append_one(tree, sequence[i], token[i]);
    }
    tree->stamp.step++;
    return CP_OK;
}

int cp_tree_append(struct cp_tree *tree, int sequence, int token) {
    return cp_tree_append_each(tree, 1, &sequence, &token);
}

int cp_tree_leave(struct cp_tree *tree, int sequence) {
    if (sequence < 0 || sequence >= tree->n_sequences) {
        return CP_ERROR_ARGUMENT;
    }
    const struct cp_sequence *row = &tree->sequence[sequence];
    for (int k = row->n_chunks - 1; k >= 0; k--) {
        int chunk = row->chunk[k];
        if (tree->end[chunk] == tree->begin[chunk] + 1) {
            cp_pool_release(&tree->pool, chunk);
        }
    }
    close_row(tree, sequence);
    tree->stamp.epoch++;
    return CP_OK;
}

int cp_tree_fork(struct cp_tree *tree, int sequence, long long id, struct cp_forked *forked) {
    if (sequence < 0 || sequence >= tree->n_sequences) {
        return CP_ERROR_ARGUMENT;
    }
    if (tree->n_sequences == CP_MAX_SEQUENCES) {
        return CP_ERROR_SEQUENCES_FULL;
    }
    int n_chunks = tree->sequence[sequence].n_chunks;
    int n_full = n_chunks;
    if (n_chunks > 0 && !needs_chunk(tree, sequence)) {
        n_full = n_chunks - 1; /* the last one is partial */
        if (tree->pool.n_free == 0) {
            return CP_ERROR_POOL_FULL;
        }
    }

    int at = sequence + 1;
    open_row(tree, at);
    tree->sequence[at].id = id;
    tree->sequence[at].salt = tree->sequence[sequence].salt;
    tree->sequence[at].n_chunks = n_chunks;
    share_path(tree, sequence, n_full, at);
    forked->sequence = at;
    forked->copy_from = -1;
    forked->copy_to = -1;
    if (n_full < n_chunks) {
        int tail = tree->sequence[sequence].chunk[n_full];
        int copy = add_chunk(tree, at, n_full, tree->fill[tail]);
        tree->tokens[copy] = tree->tokens[tail];
        forked->copy_from = tail;
        forked->copy_to = copy;
    }
    tree->stamp.epoch++;
    return CP_OK;
}
