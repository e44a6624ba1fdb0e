/* SPDX-License-Identifier: Apache-2.0 */
#include "model.h"

struct batch {
    int n;
    int sequence[MAX_BATCH];
    int token[MAX_BATCH];
};

static void any_batch(struct batch *batch) {
    batch->n = nondet_int();
#ifdef SINGLE
    batch->n = 1;
#endif
    __CPROVER_assume(batch->n <= MAX_BATCH);
    for (int i = 0; i < MAX_BATCH; i++) {
        batch->sequence[i] = nondet_int();
        batch->token[i] = any_token();
    }
}

/* Is the i-th one of the batch where it must not be? In the tree of opt/ each may come once, in any
 * order. */
static int is_misplaced(const struct batch *batch, int i) {
#ifdef OPT
    int met = 0;
    for (int j = 0; j < i; j++) {
        met = met || batch->sequence[j] == batch->sequence[i];
    }
    return met;
#else
    return i > 0 && batch->sequence[i] <= batch->sequence[i - 1];
#endif
}

/* The errors of a batch, and how many chunks it needs. */
static int batch_errors(const struct flat *before, const struct batch *batch, int c, int *needed) {
    int argument = batch->n < 0;
    int too_long = 0;
    *needed = 0;
    for (int i = 0; i < MAX_BATCH; i++) {
        int s = batch->sequence[i];
        if (i >= batch->n) {
            continue;
        }
        if (s < 0 || s >= before->n_sequences || is_misplaced(batch, i)) {
            argument = 1;
        } else if (before->sequence[s].n_tokens % c == 0) {
            *needed += 1;
            too_long = too_long || before->sequence[s].n_tokens == c * CP_MAX_DEPTH;
        }
    }
    return argument << CP_ERROR_ARGUMENT | too_long << CP_ERROR_TOO_LONG;
}

/* TREE-10: one token more; in a chunk that was free when the last one was full or there was
 * none. */
static void expect_append(struct flat *expected, const struct flat *before, int s, int token,
                          const struct cp_tree *tree) {
    struct flat_sequence row = before->sequence[s];
    if (row.n_tokens % tree->chunk_size == 0) {
        int new = tree->sequence[s].chunk[row.n_chunks];
        CHECK("TREE-10: the new chunk was free", flat_owners(before, new) == 0);
        row.chunk[row.n_chunks] = new;
        row.n_chunks++;
    }
    row.token[row.n_tokens] = token;
    row.n_tokens++;
    expected->sequence[s] = row;
}

/* What the batch meets: how many of its sequences are of each kind. */
struct kinds {
    int empty;
    int behind_shared;
    int behind_private;
    int fills;
    int stays_partial;
};

static struct kinds kinds_of(const struct flat *before, const struct batch *batch, int c) {
    struct kinds kinds = {0, 0, 0, 0, 0};
    for (int i = 0; i < MAX_BATCH; i++) {
        int s = batch->sequence[i];
        if (i < batch->n && 0 <= s && s < before->n_sequences) {
            const struct flat_sequence *row = &before->sequence[s];
            int full = row->n_tokens > 0 && row->n_tokens % c == 0;
            int shared = full && flat_owners(before, row->chunk[row->n_chunks - 1]) > 1;
            kinds.empty += row->n_tokens == 0;
            kinds.behind_shared += shared;
            kinds.behind_private += full && !shared;
            kinds.fills += !full && row->n_tokens > 0 && (row->n_tokens + 1) % c == 0;
            kinds.stays_partial += !full && row->n_tokens > 0 && (row->n_tokens + 1) % c != 0;
        }
    }
    return kinds;
}

static void reach_append(const struct flat *before, const struct batch *batch, int c, int status,
                         int n_free, int needed) {
    struct kinds kinds = kinds_of(before, batch, c);
    int first = batch->sequence[0];
    int ok = status == CP_OK;
    REACH("a sequence below 0", status == CP_ERROR_ARGUMENT && first < 0);
    REACH("a sequence that is not there",
          status == CP_ERROR_ARGUMENT && first == before->n_sequences);
    REACH("too long", status == CP_ERROR_TOO_LONG);
    REACH("pool full", status == CP_ERROR_POOL_FULL);
    REACH("first chunk of an empty sequence", ok && kinds.empty > 0);
    REACH("a chunk behind a full private one", ok && kinds.behind_private > 0);
    REACH("a chunk behind a shared one", ok && kinds.behind_shared > 0);
    REACH("takes the last free chunk", ok && needed > 0 && needed == n_free);
#if CHUNK_SIZE > 1
    REACH("a tail becomes full", ok && kinds.fills > 0);
#endif
#if CHUNK_SIZE > 2
    REACH("a tail stays partial", ok && kinds.stays_partial > 0);
#endif
#ifndef SINGLE
#ifdef OPT
    REACH("in another order", ok && batch->n == 2 && batch->sequence[1] < first);
#endif
    REACH("one comes twice", status == CP_ERROR_ARGUMENT && batch->n == 2 && 0 <= first &&
                                 first < before->n_sequences && batch->sequence[1] == first);
    REACH("pool full for the second only",
          status == CP_ERROR_POOL_FULL && n_free > 0 && needed == n_free + 1);
    REACH("a batch of fewer than none", status == CP_ERROR_ARGUMENT && batch->n < 0);
    REACH("an empty batch", ok && batch->n == 0);
#if CP_MAX_SEQUENCES > 2
    REACH("some sequences, not all", ok && batch->n > 1 && batch->n < before->n_sequences);
#endif
    REACH("all sequences", ok && batch->n > 1 && batch->n == before->n_sequences);
    REACH("two behind one shared chunk", ok && kinds.behind_shared == 2);
#if CHUNK_SIZE > 1
    REACH("one chunk added and one tail filled", ok && needed == 1 && kinds.fills == 1);
#endif
#endif
}

void step_append(struct cp_tree *tree) {
    struct cp_tree old = *tree;
    struct flat before, after;
    struct batch batch;
    int needed;
    any_batch(&batch);
    flat_read(tree, &before);
    int n_free = flat_free_chunks(&before, tree->pool.capacity);
    int errors = batch_errors(&before, &batch, tree->chunk_size, &needed);
    errors |= (needed > n_free) << CP_ERROR_POOL_FULL;

#ifdef SINGLE
    int status = cp_tree_append(tree, batch.sequence[0], batch.token[0]);
#else
    int status = cp_tree_append_each(tree, batch.n, batch.sequence, batch.token);
#endif

    check_status(status, errors);
    reach_append(&before, &batch, tree->chunk_size, status, n_free, needed);
    if (status != CP_OK) {
        CHECK("TREE-13: unchanged", tree_same(tree, &old));
        return;
    }
    check_invariant(tree);
    struct flat expected = before;
    for (int i = 0; i < MAX_BATCH; i++) {
        if (i < batch.n) {
            expect_append(&expected, &before, batch.sequence[i], batch.token[i], tree);
        }
    }
    flat_read(tree, &after);
    CHECK("TREE-6: each sequence of the batch has its token, the others are as before",
          flat_same(&after, &expected));
    CHECK("free chunks", tree->pool.n_free == n_free - needed);
    check_stamp(tree, &old, needed, 1);
}
