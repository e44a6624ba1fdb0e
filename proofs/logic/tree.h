/* SPDX-License-Identifier: Apache-2.0 */
/* The clauses of spec/tree.md as predicates over a struct cp_tree. Provers alone read this file. */
#ifndef CHUNKPROOF_LOGIC_TREE_H
#define CHUNKPROOF_LOGIC_TREE_H

#include "chunkproof/tree.h"

/*@
  // The chunk at depth k of sequence s.
  logic integer tree_chunk(struct cp_tree t, integer s, integer k) = t.sequence[s].chunk[k];

  // How deep sequence s is.
  logic integer tree_depth(struct cp_tree t, integer s) = t.sequence[s].n_chunks;

  // Sizes are within their bounds.
  predicate tree_sizes(struct cp_tree t) =
    1 <= t.chunk_size <= CP_MAX_CHUNK_SIZE && 0 <= t.hash_bits <= 64 &&
    0 <= t.n_sequences <= CP_MAX_SEQUENCES &&
    (\forall integer s; 0 <= s < t.n_sequences ==> 0 <= tree_depth(t, s) <= CP_MAX_DEPTH);

  // TREE-1: a used chunk covers a non-empty contiguous range and holds at least one token.
  predicate tree_ranges(struct cp_tree t) = \forall integer x; pool_used(t.pool, x) ==>
      0 <= t.begin[x] < t.end[x] <= t.n_sequences && 1 <= t.fill[x] <= t.chunk_size;

  // TREE-2: a partial chunk is private, and the last of its sequence.
  predicate tree_private(struct cp_tree t) =
    \forall integer x; pool_used(t.pool, x) ==> t.fill[x] < t.chunk_size ==>
      t.end[x] == t.begin[x] + 1 && t.depth[x] == tree_depth(t, t.begin[x]) - 1;

  // TREE-3: every entry of a path is a used chunk, at its own depth, whose range has the sequence.
  predicate tree_paths(struct cp_tree t) =
    \forall integer s, k; 0 <= s < t.n_sequences ==> 0 <= k < tree_depth(t, s) ==>
      pool_used(t.pool, tree_chunk(t, s, k)) && t.depth[tree_chunk(t, s, k)] == k &&
      t.begin[tree_chunk(t, s, k)] <= s < t.end[tree_chunk(t, s, k)];

  // TREE-4: every sequence in the range of a used chunk has it on its path. With TREE-1: no leak.
  predicate tree_cover(struct cp_tree t) =
    \forall integer x, s; pool_used(t.pool, x) ==> t.begin[x] <= s < t.end[x] ==>
      0 <= t.depth[x] < tree_depth(t, s) && tree_chunk(t, s, t.depth[x]) == x;

  // TREE-5: ranges are nested along a path.
  predicate tree_nested(struct cp_tree t) =
    \forall integer s, j, k; 0 <= s < t.n_sequences ==> 0 <= j <= k < tree_depth(t, s) ==>
      t.begin[tree_chunk(t, s, j)] <= t.begin[tree_chunk(t, s, k)] &&
      t.end[tree_chunk(t, s, k)] <= t.end[tree_chunk(t, s, j)];

  // TREE-14: sequences on one chunk are of one sharing domain.
  predicate tree_salts(struct cp_tree t) =
    \forall integer x, s; pool_used(t.pool, x) ==> t.begin[x] <= s < t.end[x] ==>
      t.sequence[s].salt == t.sequence[t.begin[x]].salt;

  predicate tree_ok(struct cp_tree t) =
    pool_ok(t.pool) && tree_sizes(t) && tree_ranges(t) && tree_private(t) && tree_paths(t) &&
    tree_cover(t) && tree_nested(t) && tree_salts(t);

  // What no operation changes.
  predicate tree_constant(struct cp_tree a, struct cp_tree b) =
    a.pool.capacity == b.pool.capacity && a.chunk_size == b.chunk_size &&
    a.hash_bits == b.hash_bits && a.stamp.tree == b.stamp.tree;

  // PLAN-5: the paths and ranges of a are those of b.
  predicate tree_same_paths(struct cp_tree a, struct cp_tree b) =
    a.n_sequences == b.n_sequences &&
    (\forall integer s; 0 <= s < a.n_sequences ==> tree_depth(a, s) == tree_depth(b, s)) &&
    (\forall integer s, k; 0 <= s < a.n_sequences ==> 0 <= k < tree_depth(a, s) ==>
      tree_chunk(a, s, k) == tree_chunk(b, s, k)) &&
    (\forall integer x; pool_used(a.pool, x) <==> pool_used(b.pool, x)) &&
    (\forall integer x; pool_used(a.pool, x) ==> a.begin[x] == b.begin[x] &&
      a.end[x] == b.end[x] && a.depth[x] == b.depth[x]);

  // Sequence s of a is sequence r of b: same name, domain, chunks and tokens. An operation keeps
  // all other sequences in this sense.
  predicate tree_kept(struct cp_tree a, integer s, struct cp_tree b, integer r) =
    a.sequence[s].id == b.sequence[r].id && a.sequence[s].salt == b.sequence[r].salt &&
    tree_depth(a, s) == tree_depth(b, r) &&
    (\forall integer k; 0 <= k < tree_depth(a, s) ==> tree_chunk(a, s, k) == tree_chunk(b, r, k) &&
      a.fill[tree_chunk(a, s, k)] == b.fill[tree_chunk(a, s, k)] &&
      (\forall integer i; 0 <= i < a.fill[tree_chunk(a, s, k)] ==>
        a.tokens[tree_chunk(a, s, k)].token[i] == b.tokens[tree_chunk(a, s, k)].token[i]));

  // Chunk x is full and holds the prompt's k-th chunk.
  predicate tree_holds{L}(struct cp_tree t, integer x, int *token, integer k) =
    t.fill[x] == t.chunk_size &&
    (\forall integer i; 0 <= i < t.chunk_size ==>
      t.tokens[x].token[i] == token[k * t.chunk_size + i]);

  // TREE-11: sequence s alone has chunk x.
  predicate tree_own(struct cp_tree t, integer x, integer s) = t.begin[x] == s && t.end[x] == s + 1;

  // TREE-8: the first n chunks of sequence s are the prompt's.
  predicate tree_matches{L}(struct cp_tree t, integer s, int *token, integer n) =
    n <= tree_depth(t, s) &&
    (\forall integer k; 0 <= k < n ==> tree_holds(t, tree_chunk(t, s, k), token, k));

  // TREE-15: the hash of the first n tokens of a chunk, before and after it is cut to `bits` bits.
  logic integer hash_next(integer h, integer token) =
    (unsigned long long)((h ^ (unsigned)token) * 1099511628211);
  logic integer hash_cut(integer h, integer bits) = bits == 0 ? 0 :
    ((unsigned long long)((unsigned long long)(h ^ (h >> 32)) * 0x9E3779B97F4A7C15)) >> (64 - bits);
  axiomatic HashOf {
    logic integer hash_of_first(struct cp_tokens chunk, integer n);
    axiom hash_of_first_0: \forall struct cp_tokens chunk;
      hash_of_first(chunk, 0) == 14695981039346656037;
    axiom hash_of_first_next: \forall struct cp_tokens chunk, integer n; 0 <= n ==>
      hash_of_first(chunk, n + 1) == hash_next(hash_of_first(chunk, n), chunk.token[n]);
  }
  logic integer hash_of(struct cp_tokens chunk, integer n, integer bits) =
    hash_cut(hash_of_first(chunk, n), bits);
  // TREE-15: every full chunk has its hash.
  predicate tree_hashes(struct cp_tree t) =
    \forall integer x; pool_used(t.pool, x) ==> t.fill[x] == t.chunk_size ==>
      t.hash[x] == hash_of(t.tokens[x], t.chunk_size, t.hash_bits);

  // h is the hash of token[first .. first + n - 1]: of any chunk that begins with these.
  predicate hash_is{L}(integer h, int *token, integer first, integer n, integer bits) =
    \forall struct cp_tokens chunk;
      (\forall integer i; 0 <= i < n ==> chunk.token[i] == token[first + i]) ==>
        h == hash_of(chunk, n, bits);
  // hash[k] is the hash of the prompt's k-th chunk, for k < n.
  predicate prompt_hashes{L}(struct cp_tree t, int *token, unsigned long long *hash, integer n) =
    \forall integer k; 0 <= k < n ==>
      hash_is(hash[k], token, k * t.chunk_size, t.chunk_size, t.hash_bits);
  // With these hashes of the prompt's n chunks, or with none, no match is missed.
  predicate hashes_right{L}(struct cp_tree t, int *token, unsigned long long *hash, integer n) =
    hash == \null || (tree_hashes(t) && prompt_hashes(t, token, hash, n));

  // The number of tokens in the last chunk of sequence s, which has one.
  logic integer tree_last_fill(struct cp_tree t, integer s) =
    t.fill[tree_chunk(t, s, tree_depth(t, s) - 1)];

  // TREE-10: the next token of sequence s does not go into a chunk that it has.
  predicate tree_needs_chunk(struct cp_tree t, integer s) =
    tree_depth(t, s) == 0 || tree_last_fill(t, s) == t.chunk_size;
  logic integer tree_needs(struct cp_tree t, integer s) =
    tree_depth(t, s) == 0 || tree_last_fill(t, s) == t.chunk_size ? 1 : 0;
  // How many of the sequences at[0 .. n) need a chunk for their next token.
  axiomatic Needed {
    logic integer tree_needed{L}(struct cp_tree t, int *at, integer n) reads at[0 .. n - 1];
    axiom tree_needed_0{L}: \forall struct cp_tree t, int *at; tree_needed(t, at, 0) == 0;
    axiom tree_needed_yes{L}: \forall struct cp_tree t, int *at, integer n; 0 <= n ==>
      tree_needs_chunk(t, at[n]) ==> tree_needed(t, at, n + 1) == tree_needed(t, at, n) + 1;
    axiom tree_needed_no{L}: \forall struct cp_tree t, int *at, integer n; 0 <= n ==>
      !tree_needs_chunk(t, at[n]) ==> tree_needed(t, at, n + 1) == tree_needed(t, at, n);
  }

  // The tokens of n chunks of c tokens when the last one has `last` of them.
  axiomatic TokensIn {
    logic integer tokens_in(integer n, integer c, integer last);
    axiom tokens_in_is: \forall integer n, c, last;
      tokens_in(n, c, last) == (n == 0 ? 0 : (n - 1) * c + last);
    lemma tokens_in_first: \forall integer c, last; tokens_in(0, c, last) == 0;
    lemma tokens_in_full: \forall integer n, c; 0 <= n ==>
      tokens_in(n + 1, c, 1) == tokens_in(n, c, c) + 1;
    lemma tokens_in_partial: \forall integer n, c, last; 0 < n ==>
      tokens_in(n, c, last + 1) == tokens_in(n, c, last) + 1;
  }

  // TREE-6: the number of tokens of sequence s, and its k-th token.
  logic integer tree_length(struct cp_tree t, integer s) =
    tokens_in(tree_depth(t, s), t.chunk_size, tree_last_fill(t, s));

  logic integer tree_token(struct cp_tree t, integer s, integer k) =
    t.tokens[tree_chunk(t, s, k / t.chunk_size)].token[k % t.chunk_size];

  // Sequence s of a is in b with one token more; all it had stayed where it was.
  predicate tree_grown(struct cp_tree a, struct cp_tree b, integer s, integer token) =
    a.sequence[s].id == b.sequence[s].id && a.sequence[s].salt == b.sequence[s].salt &&
    0 < tree_depth(b, s) && tree_depth(a, s) <= tree_depth(b, s) &&
    (\forall integer k; 0 <= k < tree_depth(a, s) ==> tree_chunk(a, s, k) == tree_chunk(b, s, k) &&
      a.fill[tree_chunk(a, s, k)] <= b.fill[tree_chunk(a, s, k)]) &&
    (\forall integer k, i; 0 <= k < tree_depth(a, s) ==> 0 <= i < a.fill[tree_chunk(a, s, k)] ==>
      b.tokens[tree_chunk(b, s, k)].token[i] == a.tokens[tree_chunk(a, s, k)].token[i]) &&
    b.tokens[tree_chunk(b, s, tree_depth(b, s) - 1)].token[tree_last_fill(b, s) - 1] == token;

  // The chunks that n tokens take.
  logic integer chunks_for(integer n, integer c) = n / c + (n % c > 0 ? 1 : 0);
  // The last of the n chunks that a new sequence at index s shares, n > 0.
  logic integer tree_last_shared(struct cp_tree t, integer s, integer n) = tree_chunk(t, s, n - 1);

  // PLAN-5: a counter has grown by n, unless it wrapped around.
  predicate counted(integer before, integer n, integer after) =
    before + n <= 18446744073709551615 ==> after == before + n;
  // TREE-13: what is wrong with the i-th of the sequences in at[].
  predicate append_misplaced{L}(struct cp_tree t, int *at, integer i) =
    at[i] < 0 || at[i] >= t.n_sequences || (i > 0 && at[i] <= at[i - 1]);
  predicate append_too_deep{L}(struct cp_tree t, int *at, integer i) =
    tree_needs_chunk(t, at[i]) && tree_depth(t, at[i]) == CP_MAX_DEPTH;
  // Nothing is, with the first n.
  predicate append_right{L}(struct cp_tree t, int *at, integer n) =
    \forall integer i; 0 <= i < n ==> !append_misplaced(t, at, i) && !append_too_deep(t, at, i);

  // A path or a range has changed.
  predicate next_epoch(struct cp_stamp a, struct cp_stamp b) =
    b.epoch == (unsigned long long)(a.epoch + 1) && b.step == a.step;

  // TREE-11: b is a without sequence s; those behind it have moved down by one, ...
  predicate tree_closed_up(struct cp_tree a, struct cp_tree b, integer s) =
    b.n_sequences == a.n_sequences - 1 &&
    (\forall integer r; 0 <= r < b.n_sequences ==> tree_kept(a, r < s ? r : r + 1, b, r));
  // ... the chunks that it alone had are free, ...
  predicate tree_freed(struct cp_tree a, struct cp_tree b, integer s) =
    \forall integer x; pool_used(b.pool, x) <==> (pool_used(a.pool, x) && !tree_own(a, x, s));
  // ... and the ranges of the others have lost it.
  predicate tree_ranges_without(struct cp_tree a, struct cp_tree b, integer s) =
    \forall integer x; pool_used(b.pool, x) ==>
      b.begin[x] == a.begin[x] - (a.begin[x] > s ? 1 : 0) &&
      b.end[x] == a.end[x] - (a.end[x] > s ? 1 : 0);

  // ---- Append

  // Sequence s has one token more; every other sequence is as it was (TREE-10).
  predicate tree_longer(struct cp_tree a, struct cp_tree b, integer s) =
    tree_length(b, s) == tree_length(a, s) + 1;
  predicate tree_kept_but(struct cp_tree a, struct cp_tree b, integer s) =
    \forall integer r; 0 <= r < b.n_sequences ==> r != s ==> tree_kept(a, r, b, r);

  // n chunks were taken for an append (PLAN-5).
  predicate tree_appended(struct cp_tree a, struct cp_tree b, integer n) =
    b.n_sequences == a.n_sequences && b.pool.n_free == a.pool.n_free - n &&
    b.stamp.step == (unsigned long long)(a.stamp.step + 1) &&
    counted(a.stamp.epoch, n, b.stamp.epoch) && tree_constant(a, b);

  // TREE-13: why an append is refused.
  predicate append_status(integer status, struct cp_tree t, integer s) =
    (status == CP_ERROR_ARGUMENT <==> !(0 <= s < t.n_sequences)) &&
    (status == CP_ERROR_TOO_LONG <==> 0 <= s < t.n_sequences &&
      tree_needs_chunk(t, s) && tree_depth(t, s) == CP_MAX_DEPTH) &&
    (status == CP_ERROR_POOL_FULL <==> 0 <= s < t.n_sequences &&
      tree_needs_chunk(t, s) && tree_depth(t, s) < CP_MAX_DEPTH && t.pool.n_free == 0) &&
    (status == CP_OK || status == CP_ERROR_ARGUMENT || status == CP_ERROR_TOO_LONG ||
      status == CP_ERROR_POOL_FULL);

  // What an append to n sequences reads.
  predicate batch_readable{L}(integer n, int *at, int *token) =
    n > 0 ==> \valid_read(at + (0 .. n - 1)) && \valid_read(token + (0 .. n - 1));

  // TREE-13: why it is refused; the first sequence that is wrong decides. Of these conditions one
  // holds, and no two do, so that each status means its condition.
  predicate batch_status{L}(integer status, struct cp_tree t, integer n, int *at) =
    (status == CP_ERROR_ARGUMENT ==> n < 0 || \exists integer i; 0 <= i < n &&
      append_right(t, at, i) && append_misplaced(t, at, i)) &&
    (status == CP_ERROR_TOO_LONG ==> \exists integer i; 0 <= i < n &&
      append_right(t, at, i) && !append_misplaced(t, at, i) && append_too_deep(t, at, i)) &&
    (status == CP_ERROR_POOL_FULL ==>
      0 <= n && append_right(t, at, n) && tree_needed(t, at, n) > t.pool.n_free) &&
    (status == CP_OK ==> 0 <= n && append_right(t, at, n) &&
      0 <= tree_needed(t, at, n) <= n && tree_needed(t, at, n) <= t.pool.n_free) &&
    (status == CP_OK || status == CP_ERROR_ARGUMENT || status == CP_ERROR_TOO_LONG ||
      status == CP_ERROR_POOL_FULL);

  // TREE-10: each of the n sequences has one token more, its own; ...
  predicate batch_grown{L}(struct cp_tree a, struct cp_tree b, integer n, int *at, int *token) =
    \forall integer i; 0 <= i < n ==>
      tree_grown(a, b, at[i], token[i]) && tree_length(b, at[i]) == tree_length(a, at[i]) + 1;
  // ... the others are as they were.
  predicate batch_kept{L}(struct cp_tree a, struct cp_tree b, integer n, int *at) =
    \forall integer r; 0 <= r < b.n_sequences ==>
      (\forall integer i; 0 <= i < n ==> at[i] != r) ==> tree_kept(a, r, b, r);
  // Only chunks that were needed are taken; with none, all paths and ranges stay (PLAN-5).
  predicate batch_appended{L}(struct cp_tree a, struct cp_tree b, integer n, int *at) =
    tree_appended(a, b, tree_needed(a, at, n));
  predicate batch_same_paths{L}(struct cp_tree a, struct cp_tree b, integer n, int *at) =
    tree_needed(a, at, n) == 0 ==> tree_same_paths(a, b);

  predicate append_taken(struct cp_tree a, struct cp_tree b, integer s) =
    tree_appended(a, b, tree_needs(a, s));
  predicate append_same_paths(struct cp_tree a, struct cp_tree b, integer s) =
    tree_needs(a, s) == 0 ==> tree_same_paths(a, b);

  // ---- Fork

  // Every sequence of a is in b, those from index `at` on one further (TREE-13).
  predicate tree_rows_apart(struct cp_tree a, struct cp_tree b, integer at) =
    \forall integer r; 0 <= r < a.n_sequences ==> tree_kept(a, r, b, r < at ? r : r + 1);

  // TREE-13: why a fork is refused.
  predicate fork_status(integer status, struct cp_tree t, integer s) =
    (status == CP_ERROR_ARGUMENT <==> !(0 <= s < t.n_sequences)) &&
    (status == CP_ERROR_SEQUENCES_FULL <==>
      0 <= s < t.n_sequences && t.n_sequences == CP_MAX_SEQUENCES) &&
    (status == CP_ERROR_POOL_FULL <==> 0 <= s < t.n_sequences &&
      t.n_sequences < CP_MAX_SEQUENCES && !tree_needs_chunk(t, s) && t.pool.n_free == 0) &&
    (status == CP_OK || status == CP_ERROR_ARGUMENT || status == CP_ERROR_SEQUENCES_FULL ||
      status == CP_ERROR_POOL_FULL);

  // TREE-12: sequence s + 1 has the domain and the tokens of sequence s, ...
  predicate fork_tokens(struct cp_tree b, integer s) =
    \forall integer k, i; 0 <= k < tree_depth(b, s) ==> 0 <= i < b.fill[tree_chunk(b, s, k)] ==>
      b.tokens[tree_chunk(b, s + 1, k)].token[i] == b.tokens[tree_chunk(b, s, k)].token[i];
  predicate fork_row(struct cp_tree b, integer s, integer id) =
    b.sequence[s + 1].id == id && b.sequence[s + 1].salt == b.sequence[s].salt &&
    tree_length(b, s + 1) == tree_length(b, s) && fork_tokens(b, s);
  // ... shares the full chunks, and a partial last one is copied.
  predicate fork_copied(struct cp_tree a, struct cp_tree b, struct cp_forked f, integer s) =
    (tree_needs_chunk(a, s) ==>
      f.copy_from == -1 && f.copy_to == -1 && b.pool.n_free == a.pool.n_free) &&
    (!tree_needs_chunk(a, s) ==> f.copy_from == tree_chunk(b, s, tree_depth(b, s) - 1) &&
      f.copy_to == tree_chunk(b, s + 1, tree_depth(b, s) - 1) && !pool_used(a.pool, f.copy_to) &&
      b.pool.n_free == a.pool.n_free - 1);
  predicate tree_forked(struct cp_tree a, struct cp_tree b, struct cp_forked f, integer s) =
    b.n_sequences == a.n_sequences + 1 && f.sequence == s + 1 && fork_copied(a, b, f, s) &&
    next_epoch(a.stamp, b.stamp) &&
    (\forall integer k; 0 <= k < tree_depth(b, s) - (f.copy_from < 0 ? 0 : 1) ==>
      tree_chunk(b, s + 1, k) == tree_chunk(b, s, k));

  // No sequence of this salt before s has more than n of the prompt's chunks.
  predicate no_longer{L}(struct cp_tree t, integer s, integer n, int *token, integer n_full,
                         integer salt) =
    \forall integer r, m; 0 <= r < s ==> t.sequence[r].salt == salt ==> n < m <= n_full ==>
      !tree_matches(t, r, token, m);

  // TREE-8: the counts of a match go together, and a match that is one is right.
  predicate match_sizes(struct cp_match m, integer n_tokens, integer c) =
    0 <= m.n_chunks <= n_tokens / c && m.n_tokens == m.n_chunks * c && m.n_tokens <= n_tokens &&
    (m.n_chunks == 0 ==> m.sequence == -1);
  predicate match_found{L}(struct cp_tree t, struct cp_match m, int *token, integer salt) =
    m.n_chunks > 0 ==> 0 <= m.sequence < t.n_sequences && t.sequence[m.sequence].salt == salt &&
      tree_matches(t, m.sequence, token, m.n_chunks);
  predicate match_first{L}(struct cp_tree t, struct cp_match m, int *token, integer salt) =
    \forall integer s; 0 <= s < m.sequence && t.sequence[s].salt == salt ==>
      !tree_matches(t, s, token, m.n_chunks);

  // With these hashes of a prompt of n tokens, or with none, no match is missed.
  predicate prompt_hashed{L}(struct cp_tree t, int *token, integer n, unsigned long long *hash) =
    hashes_right(t, token, hash, n / t.chunk_size);

  // ---- Join

  // What join reads of a prompt.
  predicate prompt_readable{L}(int *token, integer n, unsigned long long *hash, integer c) =
    n > 0 ==> \valid_read(token + (0 .. n - 1)) &&
      (hash != \null ==> \valid_read(hash + (0 .. n / c - 1)));

  // TREE-13: a join may look at the pool. The pool has too few free chunks for n_tokens of which n
  // chunks are shared.
  predicate join_may_count(struct cp_tree t, integer n_tokens) =
    0 <= n_tokens <= CP_MAX_DEPTH * t.chunk_size && t.n_sequences < CP_MAX_SEQUENCES;
  predicate pool_lacks(struct cp_tree t, integer n_tokens, integer n) =
    t.pool.n_free < chunks_for(n_tokens, t.chunk_size) - n;

  // It has too few whatever the prompt shares: nothing, or n chunks with a sequence of this salt.
  predicate join_lacks{L}(struct cp_tree t, int *token, integer n_tokens, integer salt) =
    pool_lacks(t, n_tokens, 0) &&
    \forall integer s, n; 0 <= s < t.n_sequences && t.sequence[s].salt == salt ==>
      0 <= n <= n_tokens / t.chunk_size ==> tree_matches(t, s, token, n) ==>
      pool_lacks(t, n_tokens, n);

  // TREE-13: why a join is refused. Wrong hashes may cost what the prompt would share (TREE-15).
  predicate join_status{L}(integer status, struct cp_tree t, int *token, integer n_tokens,
                           integer salt, unsigned long long *hash) =
    (status == CP_ERROR_ARGUMENT <==> n_tokens < 0) &&
    (status == CP_ERROR_TOO_LONG <==> n_tokens > CP_MAX_DEPTH * t.chunk_size) &&
    (status == CP_ERROR_SEQUENCES_FULL <==>
      0 <= n_tokens <= CP_MAX_DEPTH * t.chunk_size && t.n_sequences == CP_MAX_SEQUENCES) &&
    (status == CP_ERROR_POOL_FULL ==>
      join_may_count(t, n_tokens) && pool_lacks(t, n_tokens, 0)) &&
    (prompt_hashed(t, token, n_tokens, hash) ==>
      (status == CP_ERROR_POOL_FULL <==>
        join_may_count(t, n_tokens) && join_lacks(t, token, n_tokens, salt))) &&
    (status == CP_OK || status == CP_ERROR_ARGUMENT || status == CP_ERROR_TOO_LONG ||
      status == CP_ERROR_SEQUENCES_FULL || status == CP_ERROR_POOL_FULL);

  // TREE-9, for a join that made b of a. The new sequence has its name and the prompt's tokens ...
  predicate join_row(struct cp_tree b, integer s, integer n_tokens, integer salt, integer id) =
    b.sequence[s].id == id && b.sequence[s].salt == salt && tree_length(b, s) == n_tokens;
  // Sequence s holds the prompt's tokens at depth j; as far as it goes.
  predicate tree_part{L}(struct cp_tree t, integer s, integer j, int *token, integer c) =
    \forall integer i; 0 <= i < t.fill[tree_chunk(t, s, j)] ==>
      t.tokens[tree_chunk(t, s, j)].token[i] == token[j * c + i];
  predicate tree_content{L}(struct cp_tree t, integer s, int *token, integer c) =
    \forall integer j; 0 <= j < tree_depth(t, s) ==> tree_part(t, s, j, token, c);
  // ... and shares n full chunks, those of the first sequence of the last of them, ...
  predicate join_shared(struct cp_tree a, struct cp_tree b, integer s, integer n) =
    s == (n == 0 ? a.n_sequences : a.end[tree_last_shared(b, s, n)]) &&
    (\forall integer k; 0 <= k < n ==>
      tree_chunk(b, s, k) == tree_chunk(a, a.begin[tree_last_shared(b, s, n)], k));
  // ... the others are new and its own.
  predicate join_own(struct cp_tree a, struct cp_tree b, integer s, integer n, integer n_tokens) =
    b.pool.n_free == a.pool.n_free - (chunks_for(n_tokens, b.chunk_size) - n) &&
    (\forall integer k; n <= k < tree_depth(b, s) ==>
      !pool_used(a.pool, tree_chunk(b, s, k)) && tree_own(b, tree_chunk(b, s, k), s));
  predicate join_of{L}(struct cp_tree a, struct cp_tree b, struct cp_joined j, int *token,
                       integer n_tokens, integer salt, integer id) =
    b.n_sequences == a.n_sequences + 1 && next_epoch(a.stamp, b.stamp) &&
    0 <= j.n_shared <= n_tokens && j.n_shared % a.chunk_size == 0 &&
    join_row(b, j.sequence, n_tokens, salt, id) &&
    tree_content(b, j.sequence, token, a.chunk_size) &&
    join_shared(a, b, j.sequence, j.n_shared / a.chunk_size) &&
    join_own(a, b, j.sequence, j.n_shared / a.chunk_size, n_tokens);

  // No sequence before those with the last of the n shared chunks has as much of the prompt.
  predicate join_first{L}(struct cp_tree a, struct cp_tree b, integer at, integer n, int *token,
                          integer salt) =
    \forall integer s; a.sequence[s].salt == salt ==>
      0 <= s < a.begin[tree_last_shared(b, at, n)] ==> !tree_matches(a, s, token, n);

  // TREE-9: it shares as much as it can, with the first sequence that has as much.
  predicate join_longest{L}(integer status, struct cp_tree a, struct cp_tree b, struct cp_joined j,
                            int *token, integer n_tokens, integer salt) =
    (status == CP_OK ==> no_longer(a, a.n_sequences, j.n_shared / a.chunk_size, token,
      n_tokens / a.chunk_size, salt)) &&
    (status == CP_OK ==> j.n_shared > 0 ==>
      join_first(a, b, j.sequence, j.n_shared / a.chunk_size, token, salt));
*/

#endif
