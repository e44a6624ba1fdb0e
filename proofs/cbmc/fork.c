/* SPDX-License-Identifier: Apache-2.0 */
#include "model.h"

static int same_result(const struct cp_forked *a, const struct cp_forked *b) {
    return a->sequence == b->sequence && a->copy_from == b->copy_from && a->copy_to == b->copy_to;
}

static void reach_fork(const struct flat *before, int s, int status, int partial) {
    REACH("a sequence below 0", status == CP_ERROR_ARGUMENT && s < 0);
    REACH("a sequence that is not there", status == CP_ERROR_ARGUMENT && s == before->n_sequences);
    REACH("sequences full", status == CP_ERROR_SEQUENCES_FULL);
#if CHUNK_SIZE > 1 && CP_MAX_CHUNKS <= (CP_MAX_SEQUENCES - 1) * CP_MAX_DEPTH
    REACH("pool full", status == CP_ERROR_POOL_FULL);
#endif
    if (status != CP_OK) {
        return;
    }
    const struct flat_sequence *row = &before->sequence[s];
    int owners = row->n_chunks > 0 ? flat_owners(before, row->chunk[0]) : 0;
    REACH("of an empty sequence", row->n_chunks == 0);
    REACH("of a full tail that was private", !partial && row->n_chunks == 1 && owners == 1);
#if CP_MAX_SEQUENCES > 2
    REACH("of a full tail that was shared", !partial && row->n_chunks == 1 && owners == 2);
    REACH("others are behind it", s + 1 < before->n_sequences);
    REACH("inside the range of a shared chunk",
          owners == 2 && flat_end(before, row->chunk[0]) > s + 1);
    REACH("at the end of the range of a shared chunk",
          owners == 2 && flat_end(before, row->chunk[0]) == s + 1);
#endif
#if CHUNK_SIZE > 1
    REACH("of a partial tail alone", partial && row->n_chunks == 1);
#if CP_MAX_DEPTH > 1
    REACH("of a partial tail behind a private chunk", partial && row->n_chunks == 2 && owners == 1);
#if CP_MAX_SEQUENCES > 2
    REACH("of a partial tail behind a shared chunk", partial && row->n_chunks == 2 && owners == 2);
#endif
#endif
#endif
}

void step_fork(struct cp_tree *tree) {
    struct cp_tree old = *tree;
    struct flat before, after;
    struct cp_forked forked, forked_old = forked;
    int s = nondet_int();
    long long id = any_id();
    flat_read(tree, &before);
    int n_free = flat_free_chunks(&before, tree->pool.capacity);
    int there = 0 <= s && s < before.n_sequences;
    int partial = there && before.sequence[s].n_tokens % tree->chunk_size != 0;
    int errors = !there << CP_ERROR_ARGUMENT |
                 (before.n_sequences == CP_MAX_SEQUENCES) << CP_ERROR_SEQUENCES_FULL |
                 (partial && n_free == 0) << CP_ERROR_POOL_FULL;

    int status = cp_tree_fork(tree, s, id, &forked);

    check_status(status, errors);
    reach_fork(&before, s, status, partial);
    if (status != CP_OK) {
        CHECK("TREE-13: unchanged", tree_same(tree, &old) && same_result(&forked, &forked_old));
        return;
    }
    check_invariant(tree);
    struct flat expected = before;
    struct flat_sequence row = before.sequence[s];
    row.id = id;
    if (partial) {
        int new = forked.copy_to;
        CHECK("TREE-12: copies the tail", forked.copy_from == row.chunk[row.n_chunks - 1]);
        CHECK("TREE-12: to a chunk that was free",
              0 <= new &&new < CP_MAX_CHUNKS &&flat_owners(&before, new) == 0);
        row.chunk[row.n_chunks - 1] = new;
    } else {
        CHECK("TREE-12: nothing to copy", forked.copy_from == -1 && forked.copy_to == -1);
    }
    CHECK("TREE-12: next to the first", forked.sequence == s + 1);
    flat_insert(&expected, s + 1, &row);
    flat_read(tree, &after);
    CHECK("TREE-12: the same tokens on the same full chunks; the others are as before",
          flat_same(&after, &expected));
    CHECK("free chunks", tree->pool.n_free == n_free - partial);
    check_stamp(tree, &old, 1, 0);
}
