/* SPDX-License-Identifier: Apache-2.0 */
#include "chunkproof/opt_plan.h"

#include <string.h>

#include "chunkproof/status.h"
#include "tree_internal.h"

/* PLAN-1, PLAN-4: appends the shared chunks whose range begins at sequence s, which has index i,
 * from the root down; then sets the ends of those whose range ends at s. Ranges nest: if a chunk
 * on the path neither begins nor ends here, none above it does. */
static void list_shared(struct cp_opt_plan *plan, const struct cp_opt_tree *tree, int s, int i) {
    int n_shared = tree->sequence[s].n_shared, k = n_shared;
    while (k > 0 && tree->chunk[chunk_of(tree, s, k - 1)].first == s) {
        k--;
    }
    for (; k < n_shared; k++) {
        plan->open[k] = plan->n_shared;
        plan->shared[plan->n_shared++] = (struct cp_shared_chunk){
            chunk_of(tree, s, k), i, i, tree->sizes.chunk_size, k * tree->sizes.chunk_size};
    }
    for (k = n_shared; k > 0 && tree->chunk[chunk_of(tree, s, k - 1)].last == s; k--) {
        plan->shared[plan->open[k - 1]].end = i + 1;
    }
}

/* Order and descriptors, in one pass. A sequence with the same deepest shared chunk as both its
 * neighbours neither begins nor ends one: its path need not be looked at. */
static void list_all(struct cp_opt_plan *plan, const struct cp_opt_tree *tree) {
    const struct cp_opt_sequence *sequence = tree->sequence;
    int i = 0, before = -1;
    plan->n_shared = 0;
    for (int s = tree->first; s >= 0; s = sequence[s].next, i++) {
        int next = sequence[s].next, joint = sequence[s].joint;
        plan->sequence[i] = s;
        if (joint >= 0 && (joint != before || next < 0 || sequence[next].joint != joint)) {
            list_shared(plan, tree, s, i);
        }
        before = joint;
    }
    plan->n_sequences = i;
}

/* ---- A few changes, one after the other, as they came ---- */

#define UNNAMED (-1) /* a chunk whose number is not known yet */

/* A sequence comes at index i. It shares chunks only with the sequence before it. The first
 * n_known descriptors of that sequence are extended over the new one. The descriptors that only
 * these two share are new; they are the last ones that begin before i. */
static void come(struct cp_opt_plan *plan, const struct cp_opt_change *change, int c) {
    struct cp_shared_chunk *shared = plan->shared;
    int i = change->index, n_new = change->n_shared - change->n_known, x = plan->n_shared;
    memmove(plan->sequence + i + 1, plan->sequence + i,
            (size_t)(plan->n_sequences - i) * sizeof *plan->sequence);
    plan->sequence[i] = change->sequence;
    plan->n_sequences++;
    for (; x > 0 && shared[x - 1].begin >= i; x--) {
        shared[x - 1 + n_new] = shared[x - 1];
        shared[x - 1 + n_new].begin++;
        shared[x - 1 + n_new].end++;
    }
    for (int k = 0; k < n_new; k++) {
        shared[x + k] =
            (struct cp_shared_chunk){UNNAMED, i - 1, i + 1, c, (change->n_known + k) * c};
    }
    for (int left = change->n_known; left > 0; x--) {
        int goes_on = shared[x - 1].end >= i && shared[x - 1].position < change->n_known * c;
        shared[x - 1].end += goes_on;
        left -= goes_on;
    }
    plan->n_shared += n_new;
}

/* The sequence at index i leaves. What only one is left of is not shared. */
static void go(struct cp_opt_plan *plan, int i) {
    struct cp_shared_chunk *shared = plan->shared;
    int x = 0;
    plan->n_sequences--;
    memmove(plan->sequence + i, plan->sequence + i + 1,
            (size_t)(plan->n_sequences - i) * sizeof *plan->sequence);
    while (x < plan->n_shared && shared[x].end <= i) {
        x++;
    }
    int to = x;
    for (; x < plan->n_shared; x++) {
        struct cp_shared_chunk one = shared[x];
        one.begin -= one.begin > i;
        one.end -= one.end > i;
        if (one.end - one.begin > 1) {
            shared[to++] = one;
        }
    }
    plan->n_shared = to;
}

/* Uses the tables of the tree as it is now: a sequence that came meanwhile may have left. */
static void name_chunks(struct cp_opt_plan *plan, const struct cp_opt_tree *tree) {
    for (struct cp_shared_chunk *one = plan->shared; one < plan->shared + plan->n_shared; one++) {
        if (one->chunk == UNNAMED) {
            one->chunk =
                path_of(tree, plan->sequence[one->begin])[one->position / tree->sizes.chunk_size];
        }
    }
}

static void follow(struct cp_opt_plan *plan, const struct cp_opt_tree *tree) {
    int unnamed = 0;
    for (; plan->shape != tree->shape; plan->shape++) {
        const struct cp_opt_change *change = &tree->change[plan->shape % CP_OPT_CHANGES];
        if (change->sequence >= 0) {
            come(plan, change, tree->sizes.chunk_size);
            unnamed = unnamed || change->n_shared > change->n_known;
        } else {
            go(plan, change->index);
        }
    }
    if (unnamed) {
        name_chunks(plan, tree);
    }
}

static void list_rows(struct cp_opt_plan *plan, const struct cp_opt_tree *tree) {
    for (int i = 0; i < plan->n_sequences; i++) {
        int s = plan->sequence[i];
        plan->n_tokens[i] =
            tree->sequence[s].n_chunks * tree->sizes.chunk_size - tree->sequence[s].room;
        plan->n_chunks[i] = tree->sequence[s].n_chunks;
        plan->n_shared_chunks[i] = tree->sequence[s].n_shared;
    }
}

int cp_opt_plan_update(struct cp_opt_plan *plan, const struct cp_opt_tree *tree) {
    int other = plan->stamp.tree != tree->stamp.tree;
    int changed = other || plan->stamp.epoch != tree->stamp.epoch;
    if (other || tree->shape - plan->shape > CP_OPT_CHANGES) {
        list_all(plan, tree);
    } else {
        follow(plan, tree);
    }
    if (changed || plan->stamp.step != tree->stamp.step) {
        list_rows(plan, tree);
    }
    plan->stamp = tree->stamp;
    plan->shape = tree->shape;
    plan->capacity = tree->sizes.capacity;
    plan->chunk_size = tree->sizes.chunk_size;
    plan->table = tree->path;
    plan->table_width = tree->sizes.max_depth;
    return changed;
}

static int fits(const struct cp_opt_plan *plan) {
    if (plan->n_sequences > CP_MAX_SEQUENCES || plan->capacity > CP_MAX_CHUNKS ||
        plan->chunk_size > CP_MAX_CHUNK_SIZE) {
        return 0;
    }
    for (int i = 0; i < plan->n_sequences; i++) {
        if (plan->n_chunks[i] > CP_MAX_DEPTH) {
            return 0;
        }
    }
    return 1;
}

/* PLAN-7: the keys of chunk k of a path of n_tokens. */
static int keys_of_chunk(int n_tokens, int k, int c) {
    return n_tokens - k * c < c ? n_tokens - k * c : c;
}

/* Sequence i of the plan; with an equal epoch, its lengths alone (PLAN-6). */
static void export_sequence(const struct cp_opt_plan *plan, int i, int same,
                            struct cp_plan_sequence *one) {
    const int *path = plan->table + (size_t)plan->sequence[i] * (size_t)plan->table_width;
    int c = plan->chunk_size, n = plan->n_tokens[i];
    one->n_tokens = n;
    if (same && one->n_chunks > 0) {
        one->run[one->n_chunks - 1].n_tokens = keys_of_chunk(n, one->n_chunks - 1, c);
    }
    if (!same) {
        one->n_chunks = plan->n_chunks[i];
        one->n_shared = plan->n_shared_chunks[i];
        for (int k = 0; k < one->n_chunks; k++) {
            one->run[k] = (struct cp_run){path[k], keys_of_chunk(n, k, c), k * c};
        }
    }
}

/* PLAN-1: the list of those whom descriptors serve. */
static void list_sequences(struct cp_plan *to) {
    to->n_served = to->n_sequences;
    for (int s = 0; s < to->n_served; s++) {
        to->served[s] = s;
    }
}

int cp_opt_plan_export(const struct cp_opt_plan *plan, struct cp_plan *to) {
    int same = to->stamp.tree == plan->stamp.tree && to->stamp.epoch == plan->stamp.epoch;
    if (!fits(plan)) {
        return CP_ERROR_SHAPE;
    }
    to->stamp = plan->stamp;
    to->capacity = plan->capacity;
    to->chunk_size = plan->chunk_size;
    to->n_sequences = plan->n_sequences;
    to->n_shared = plan->n_shared;
    for (int i = 0; i < plan->n_sequences; i++) {
        export_sequence(plan, i, same, &to->sequence[i]);
    }
    if (!same) {
        memcpy(to->shared, plan->shared, (size_t)plan->n_shared * sizeof *to->shared);
        list_sequences(to);
    }
    return CP_OK;
}
