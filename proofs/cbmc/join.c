/* SPDX-License-Identifier: Apache-2.0 */
#include "model.h"

/* The row that the new sequence must have: the prompt, in shared chunks and then in chunks that were
 * free. Which free ones is the pool's choice. */
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
        new = new && (k < n_shared || k >= path->n_chunks || flat_owners(before, path->chunk[k]) == 0);
    }
    return shared && new;
}

void step_join(struct cp_tree *tree) {
    struct cp_tree old = *tree;
    struct flat before, after;
    struct prompt prompt;
    struct cp_joined joined, joined_old = joined;
    int c = tree->chunk_size;
    long long id = any(2);
    any_prompt(&prompt, tree);
    flat_read(tree, &before);

    int n_free = flat_free_chunks(&before, tree->pool.capacity);
    int n_shared = flat_longest_match(&before, &prompt, c);
    int too_long = prompt.n_tokens > c * CP_MAX_DEPTH;
    int n_chunks = prompt.n_tokens > 0 && !too_long ? (prompt.n_tokens + c - 1) / c : 0;
    int full = n_chunks - n_shared > n_free;
    int errors = (prompt.n_tokens < 0) << CP_ERROR_ARGUMENT | too_long << CP_ERROR_TOO_LONG |
                 (before.n_sequences == CP_MAX_SEQUENCES) << CP_ERROR_SEQUENCES_FULL |
                 (full && !too_long) << CP_ERROR_POOL_FULL;

    int status =
        cp_tree_join(tree, prompt.token, prompt.n_tokens, prompt.salt, id, prompt.hash, &joined);

    check_status(status, errors);
    if (status != CP_OK) {
        CHECK("TREE-13: unchanged", tree_same(tree, &old));
        CHECK("no result", joined.sequence == joined_old.sequence &&
                               joined.n_shared == joined_old.n_shared);
        return;
    }
    CHECK("the invariant holds again", cp_tree_check(tree) == 0);
    int at = joined.sequence;
    CHECK("place exists", 0 <= at && at <= before.n_sequences);
    const struct cp_sequence *path = &tree->sequence[at];
    CHECK("TREE-9: shares the longest match", joined.n_shared == n_shared * c);
    CHECK("TREE-9: on its path", path_is_shared_then_new(&before, &prompt, path, n_shared, c));
    CHECK("TREE-9: index",
          at == (n_shared > 0 ? flat_end(&before, path->chunk[n_shared - 1]) : before.n_sequences));

    struct flat expected = before;
    struct flat_sequence row = expected_row(&prompt, id, n_chunks, path);
    flat_insert(&expected, at, &row);
    flat_read(tree, &after);
    CHECK("TREE-6: the sequences are the old ones and the prompt", flat_same(&after, &expected));
    CHECK("free chunks", tree->pool.n_free == n_free - (n_chunks - n_shared));
    CHECK("PLAN-5: stamp", tree->stamp.tree == old.stamp.tree &&
                               tree->stamp.epoch == old.stamp.epoch + 1 &&
                               tree->stamp.step == old.stamp.step);
}
