/* SPDX-License-Identifier: Apache-2.0 */
#include "model.h"

#include <stddef.h>

/* The row that the new sequence must have: the prompt, in shared chunks and then in chunks that
 * were free. Which free ones is the pool's choice. */
static struct flat_sequence expected_row(const struct prompt *prompt, long long id, int n_chunks,
                                         const struct cp_sequence *path) {
    struct flat_sequence row = {0};
    row.id = id;
    row.salt = prompt->salt;
    row.n_tokens = prompt->n_tokens;
    row.n_chunks = n_chunks;
    for (int i = 0; i < MAX_TOKENS; i++) {
        row.token[i] = i < prompt->n_tokens ? prompt->token[i] : 0;
    }
    for (int k = 0; k < CP_MAX_DEPTH; k++) {
        row.chunk[k] = k < n_chunks ? path->chunk[k] : 0;
    }
    return row;
}

/* TREE-9: is this path the deepest match `n_shared` chunks long, then free chunks? */
static int path_is_shared_then_new(const struct flat *before, const struct prompt *prompt,
                                   const struct cp_sequence *path, int n_shared, int c) {
    int shared = n_shared == 0;
    for (int s = 0; s < CP_MAX_SEQUENCES; s++) {
        int same = flat_match(before, s, prompt, c) >= n_shared;
        for (int k = 0; k < CP_MAX_DEPTH; k++) {
            same = same && (k >= n_shared || before->sequence[s].chunk[k] == path->chunk[k]);
        }
        shared = shared || (s < before->n_sequences && same);
    }
    int new = 1;
    for (int k = 0; k < CP_MAX_DEPTH; k++) {
        new = new &&
              (k < n_shared || k >= path->n_chunks || flat_owners(before, path->chunk[k]) == 0);
    }
    return shared && new;
}

/* Does a chunk differ from the prompt's first although their hashes are equal? */
static int collides(const struct flat *before, const struct cp_tree *old,
                    const struct prompt *prompt) {
    int found = 0;
    for (int s = 0; s < CP_MAX_SEQUENCES; s++) {
        const struct flat_sequence *row = &before->sequence[s];
        found = found || (s < before->n_sequences && row->salt == prompt->salt &&
                          row->n_tokens >= old->chunk_size &&
                          flat_match(before, s, prompt, CHUNK_SIZE) == 0 &&
                          old->hash[row->chunk[0]] == prompt->chunk_hash[0]);
    }
    return prompt->hash != NULL && prompt->n_tokens >= old->chunk_size && found;
}

/* The longest match if salts did not count. */
static int longest_match_of_all_domains(const struct flat *before, struct prompt *prompt) {
    int longest = 0;
    for (int s = 0; s < CP_MAX_SEQUENCES; s++) {
        prompt->salt = before->sequence[s].salt;
        int match = flat_match(before, s, prompt, CHUNK_SIZE);
        longest = match > longest ? match : longest;
    }
    return longest;
}

static void reach_join(const struct flat *before, const struct cp_tree *old, struct prompt *prompt,
                       int n_shared, int n_free, int status, int at) {
    int n_full = prompt->n_tokens / CHUNK_SIZE;
    REACH("fewer than no tokens", status == CP_ERROR_ARGUMENT);
    REACH("too long", status == CP_ERROR_TOO_LONG);
    REACH("sequences full", status == CP_ERROR_SEQUENCES_FULL);
    REACH("pool full with nothing shared", status == CP_ERROR_POOL_FULL && n_shared == 0);
#if CP_MAX_DEPTH > 1 && (CP_MAX_SEQUENCES > 2 || CP_MAX_CHUNKS < 3)
    REACH("pool full with a shared prefix", status == CP_ERROR_POOL_FULL && n_shared > 0);
#endif
    if (status != CP_OK) {
        return;
    }
    REACH("an empty prompt", prompt->n_tokens == 0);
    REACH("the first sequence", before->n_sequences == 0 && n_full > 0);
#if CP_MAX_SEQUENCES > 2
    REACH("no match", n_full > 0 && n_shared == 0 && before->n_sequences == 2);
#endif
    REACH("the whole prompt matches, no tail",
          n_shared > 0 && n_shared * CHUNK_SIZE == prompt->n_tokens);
#if CP_MAX_SEQUENCES > 2
    REACH("in front of another sequence", n_shared > 0 && at < before->n_sequences);
#endif
    REACH("takes the last free chunk",
          n_free > 0 && (prompt->n_tokens + CHUNK_SIZE - 1) / CHUNK_SIZE - n_shared == n_free);
#if CP_MAX_DEPTH > 1
    REACH("some full chunks match, not all", 0 < n_shared && n_shared < n_full);
#if CP_MAX_SEQUENCES > 2
    REACH("inside the range of an outer chunk",
          before->n_sequences == 2 && at == 1 && n_shared == 2);
#endif
#if CHUNK_SIZE > 1
    REACH("all full chunks match, then a tail",
          n_shared > 0 && n_shared == n_full && n_full * CHUNK_SIZE < prompt->n_tokens);
#endif
#if CP_MAX_SEQUENCES > 2
    REACH("two chunks with the same tokens to choose from",
          n_shared == 1 && flat_match(before, 0, prompt, CHUNK_SIZE) == 1 &&
              flat_match(before, 1, prompt, CHUNK_SIZE) == 1 &&
              before->sequence[0].chunk[0] != before->sequence[1].chunk[0]);
#endif
#endif
#ifdef HASHES
    REACH("equal hashes of different tokens", n_shared == 0 && collides(before, old, prompt));
    REACH("a match found by hashes", n_shared > 0 && prompt->hash != NULL);
#endif
    REACH("another sharing domain has it",
          n_shared == 0 && longest_match_of_all_domains(before, prompt) > 0);
}

void step_join(struct cp_tree *tree) {
    struct cp_tree old = *tree;
    struct flat before, after;
    struct prompt prompt;
    struct cp_joined joined, joined_old = joined;
    int c = tree->chunk_size;
    long long id = any_id();
    any_prompt(&prompt, tree);
    flat_read(tree, &before);

    int n_free = flat_free_chunks(&before, tree->pool.capacity);
    int n_shared = flat_longest_match(&before, &prompt, c);
    int too_long = prompt.n_tokens > c * CP_MAX_DEPTH;
    int n_chunks = prompt.n_tokens > 0 && !too_long ? (prompt.n_tokens + c - 1) / c : 0;
    int full = !too_long && n_chunks - n_shared > n_free;
    int errors = (prompt.n_tokens < 0) << CP_ERROR_ARGUMENT | too_long << CP_ERROR_TOO_LONG |
                 (before.n_sequences == CP_MAX_SEQUENCES) << CP_ERROR_SEQUENCES_FULL |
                 full << CP_ERROR_POOL_FULL;

    int status =
        cp_tree_join(tree, prompt.token, prompt.n_tokens, prompt.salt, id, prompt.hash, &joined);

    check_status(status, errors);
    reach_join(&before, &old, &prompt, n_shared, n_free, status, joined.sequence);
    if (status != CP_OK) {
        CHECK("TREE-13: unchanged", tree_same(tree, &old) &&
                                        joined.sequence == joined_old.sequence &&
                                        joined.n_shared == joined_old.n_shared);
        return;
    }
    check_invariant(tree);
    int at = joined.sequence;
    CHECK("TREE-9: a place", 0 <= at && at <= before.n_sequences);
    const struct cp_sequence *path = &tree->sequence[at];
    CHECK("TREE-9: shares the longest match", joined.n_shared == n_shared * c);
    CHECK("TREE-9: on shared, then new chunks",
          path_is_shared_then_new(&before, &prompt, path, n_shared, c));
    CHECK("TREE-9: behind the last sequence of the deepest shared chunk, else last",
          at == (n_shared > 0 ? flat_end(&before, path->chunk[n_shared - 1]) : before.n_sequences));
    struct flat expected = before;
    struct flat_sequence row = expected_row(&prompt, id, n_chunks, path);
    flat_insert(&expected, at, &row);
    flat_read(tree, &after);
    CHECK("TREE-6: the new sequence is the prompt, the others are as before",
          flat_same(&after, &expected));
    CHECK("free chunks", tree->pool.n_free == n_free - (n_chunks - n_shared));
    check_stamp(tree, &old, 1, 0);
}
