/* SPDX-License-Identifier: Apache-2.0 */
#include "opt_pair.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "chunkproof/status.h"

__attribute__((format(printf, 2, 3))) static const char *differ(struct opt_pair *pair,
                                                                const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(pair->text, sizeof pair->text, format, arguments);
    va_end(arguments);
    return pair->text;
}

/* The handle of an index; one that nobody has for an index that there is not. */
static int handle_of(const struct opt_pair *pair, int index) {
    const struct cp_opt_tree *tree = pair->opt_tree;
    if (0 <= index && index < tree->n_sequences) {
        return cp_opt_tree_at(tree, index);
    }
    int not_used = tree->free_sequence >= 0 ? tree->free_sequence : tree->fresh_sequence;
    return index < 0 ? index : not_used;
}

static int index_of(const struct opt_pair *pair, int handle) {
    return handle < 0 ? -1 : cp_opt_tree_index(pair->opt_tree, handle);
}

/* ---- The same state ---- */

static const char *compare_sequence(struct opt_pair *pair, int s) {
    const struct cp_sequence *row = &pair->tree->sequence[s];
    int handle = cp_opt_tree_at(pair->opt_tree, s), n = cp_tree_length(pair->tree, s);
    const struct cp_opt_sequence *one = &pair->opt_tree->sequence[handle];
    if (one->id != row->id || one->salt != row->salt) {
        return differ(pair, "sequence %d: another id or salt", s);
    }
    if (cp_opt_tree_index(pair->opt_tree, handle) != s) {
        return differ(pair, "sequence %d: index %d", s, cp_opt_tree_index(pair->opt_tree, handle));
    }
    if (cp_opt_tree_length(pair->opt_tree, handle) != n || one->n_chunks != row->n_chunks) {
        return differ(pair, "sequence %d: %d tokens, not %d", s,
                      cp_opt_tree_length(pair->opt_tree, handle), n);
    }
    for (int k = 0; k < n; k++) {
        if (cp_opt_tree_token(pair->opt_tree, handle, k) != cp_tree_token(pair->tree, s, k)) {
            return differ(pair, "sequence %d: token %d", s, k);
        }
    }
    const int *path = cp_opt_tree_path(pair->opt_tree, handle);
    for (int k = 0; k < row->n_chunks; k++) {
        int x = row->chunk[k], begin, end;
        if (path[k] != x) {
            return differ(pair, "sequence %d: chunk %d is %d, not %d", s, k, path[k], x);
        }
        cp_opt_tree_range(pair->opt_tree, x, &begin, &end);
        if (begin != pair->tree->begin[x] || end != pair->tree->end[x] ||
            (int)pair->opt_tree->chunk[x].depth != k) {
            return differ(pair, "chunk %d: [%d, %d), not [%d, %d)", x, begin, end,
                          pair->tree->begin[x], pair->tree->end[x]);
        }
    }
    return NULL;
}

/* As many free chunks, and they come in the same order. */
static const char *compare_pool(struct opt_pair *pair) {
    const struct cp_pool *pool = &pair->tree->pool;
    int listed = pair->opt_tree->free_chunk, fresh = pair->opt_tree->fresh_chunk;
    if (pair->opt_tree->n_free != pool->n_free) {
        return differ(pair, "%d free chunks, not %d", pair->opt_tree->n_free, pool->n_free);
    }
    for (int i = pool->n_free - 1; i >= 0; i--) {
        int next = listed >= 0 ? listed : fresh++;
        listed = listed >= 0 ? pair->opt_tree->chunk[listed].next : -1;
        if (next != pool->perm[i]) {
            return differ(pair, "chunk %d is free next, not %d", next, pool->perm[i]);
        }
    }
    return NULL;
}

static int is_path(const int *path, const struct cp_plan_sequence *naive) {
    int same = 1;
    for (int k = 0; same && k < naive->n_chunks; k++) {
        same = path[k] == naive->run[k].chunk;
    }
    return same;
}

static const char *compare_plan(struct opt_pair *pair) {
    struct cp_opt_plan *got = pair->opt_plan;
    const struct cp_plan *plan = pair->plan;
    struct cp_stamp now = pair->opt_tree->stamp, before = got->stamp;
    int changed = before.tree != now.tree || before.epoch != now.epoch;
    cp_plan_build(pair->plan, pair->tree);
    if (cp_opt_plan_update(got, pair->opt_tree) != changed) {
        return differ(pair, "plan: the update says it was%s changed (PLAN-6)",
                      changed ? " not" : "");
    }
    if (got->stamp.tree != now.tree || got->stamp.epoch != now.epoch ||
        got->stamp.step != now.step) {
        return differ(pair, "plan: not the tree's stamp (PLAN-5)");
    }
    if (got->n_sequences != plan->n_sequences || got->n_shared != plan->n_shared ||
        got->capacity != plan->capacity || got->chunk_size != plan->chunk_size) {
        return differ(pair, "plan: %d shared chunks, not %d", got->n_shared, plan->n_shared);
    }
    for (int i = 0; i < plan->n_shared; i++) {
        if (memcmp(&got->shared[i], &plan->shared[i], sizeof *plan->shared) != 0) {
            return differ(pair, "plan: descriptor %d: chunk %d [%d, %d), not %d [%d, %d)", i,
                          got->shared[i].chunk, got->shared[i].begin, got->shared[i].end,
                          plan->shared[i].chunk, plan->shared[i].begin, plan->shared[i].end);
        }
    }
    for (int s = 0; s < plan->n_sequences; s++) {
        const struct cp_plan_sequence *naive = &plan->sequence[s];
        const int *path = got->table + (size_t)got->sequence[s] * (size_t)got->table_width;
        if (got->n_tokens[s] != naive->n_tokens || got->n_chunks[s] != naive->n_chunks ||
            got->n_shared_chunks[s] != naive->n_shared || !is_path(path, naive)) {
            return differ(pair,
                          "plan: sequence %d: %d tokens, %d chunks, %d shared; not %d, %d, %d", s,
                          got->n_tokens[s], got->n_chunks[s], got->n_shared_chunks[s],
                          naive->n_tokens, naive->n_chunks, naive->n_shared);
        }
    }
    return NULL;
}

const char *pair_compare(struct opt_pair *pair) {
    const struct cp_stamp *stamp = &pair->tree->stamp, *got = &pair->opt_tree->stamp;
    const char *broken = cp_opt_tree_check(pair->opt_tree);
    if (broken == NULL) {
        broken = cp_opt_tree_check_hashes(pair->opt_tree);
    }
    if (broken != NULL) {
        return differ(pair, "the tree breaks %s", broken);
    }
    if (pair->opt_tree->n_sequences != pair->tree->n_sequences) {
        return differ(pair, "%d sequences, not %d", pair->opt_tree->n_sequences,
                      pair->tree->n_sequences);
    }
    if (got->epoch != stamp->epoch || got->step != stamp->step) {
        return differ(pair, "epoch %llu, step %llu, not %llu, %llu (PLAN-5)", got->epoch, got->step,
                      stamp->epoch, stamp->step);
    }
    const char *differs = compare_pool(pair);
    for (int s = 0; differs == NULL && s < pair->tree->n_sequences; s++) {
        differs = compare_sequence(pair, s);
    }
    return differs != NULL ? differs : compare_plan(pair);
}

/* ---- The same answer ---- */

static const char *compare_after(struct opt_pair *pair, const char *operation, int status,
                                 int expected) {
    pair->status = expected;
    if (status != expected) {
        return differ(pair, "%s: %s, not %s", operation, cp_status_text(status),
                      cp_status_text(expected));
    }
    return pair_compare(pair);
}

const char *pair_join(struct opt_pair *pair, const int *token, int n_tokens,
                      unsigned long long salt, long long id, struct cp_joined *joined) {
    struct cp_joined right = {-1, -1}, got = {-1, -1};
    int expected = cp_tree_join(pair->tree, token, n_tokens, salt, id, NULL, &right);
    int status = cp_opt_tree_join(pair->opt_tree, token, n_tokens, salt, id, &got);
    const char *differs = compare_after(pair, "join", status, expected);
    if (differs == NULL &&
        (index_of(pair, got.sequence) != right.sequence || got.n_shared != right.n_shared)) {
        return differ(pair, "join: index %d, %d tokens shared; not %d, %d",
                      index_of(pair, got.sequence), got.n_shared, right.sequence, right.n_shared);
    }
    if (joined != NULL) {
        *joined = right;
    }
    return differs;
}

const char *pair_append_each(struct opt_pair *pair, int n, const int *sequence, const int *token) {
    int *handle = calloc((size_t)(n > 0 ? n : 0) + 1, sizeof *handle);
    if (handle == NULL) {
        return differ(pair, "no memory");
    }
    for (int i = 0; i < n; i++) {
        handle[i] = handle_of(pair, sequence[i]);
    }
    int expected = cp_tree_append_each(pair->tree, n, sequence, token);
    int status = cp_opt_tree_append_each(pair->opt_tree, n, handle, token);
    free(handle);
    return compare_after(pair, "append", status, expected);
}

const char *pair_leave(struct opt_pair *pair, int sequence) {
    int handle = handle_of(pair, sequence);
    int expected = cp_tree_leave(pair->tree, sequence);
    return compare_after(pair, "leave", cp_opt_tree_leave(pair->opt_tree, handle), expected);
}

const char *pair_fork(struct opt_pair *pair, int sequence, long long id, struct cp_forked *forked) {
    struct cp_forked right = {-1, -1, -1}, got = {-1, -1, -1};
    int handle = handle_of(pair, sequence);
    int expected = cp_tree_fork(pair->tree, sequence, id, &right);
    int status = cp_opt_tree_fork(pair->opt_tree, handle, id, &got);
    const char *differs = compare_after(pair, "fork", status, expected);
    if (differs == NULL && (index_of(pair, got.sequence) != right.sequence ||
                            got.copy_from != right.copy_from || got.copy_to != right.copy_to)) {
        return differ(pair, "fork: index %d, %d copied to %d; not %d, %d to %d",
                      index_of(pair, got.sequence), got.copy_from, got.copy_to, right.sequence,
                      right.copy_from, right.copy_to);
    }
    if (forked != NULL) {
        *forked = right;
    }
    return differs;
}

const char *pair_lookup(struct opt_pair *pair, const int *token, int n_tokens,
                        unsigned long long salt, struct cp_match *match) {
    struct cp_match right = cp_tree_lookup(pair->tree, token, n_tokens, salt, NULL);
    struct cp_match got = cp_opt_tree_lookup(pair->opt_tree, token, n_tokens, salt);
    if (got.n_chunks != right.n_chunks || got.n_tokens != right.n_tokens ||
        index_of(pair, got.sequence) != right.sequence) {
        return differ(pair, "lookup: %d chunks of sequence %d, not %d of %d", got.n_chunks,
                      index_of(pair, got.sequence), right.n_chunks, right.sequence);
    }
    if (match != NULL) {
        *match = right;
    }
    return NULL;
}
