/* SPDX-License-Identifier: Apache-2.0 */
/* One event of a replay on the tree of opt/: as operation.c, with handles. */
#include "chunkproof/status.h"
#include "cli/trace/operation.h"
#include "cli/trace/outcome.h"

static int used_chunks(const struct trace_replay *replay) {
    return replay->opt_tree->sizes.capacity - replay->opt_tree->n_free;
}

static void count_chunks(struct trace_replay *replay, int before) {
    trace_count_chunks(replay->figures, used_chunks(replay), replay->opt_tree->n_sequences, before);
}

/* ---- Checks after an operation ---- */

static int check_linear(struct trace_replay *replay) {
    long long n = ++replay->figures->invariant_checks;
    int contents =
        replay->settings->check == TRACE_CHECK_EVERY && ((n & (n - 1)) == 0 || n % 1024 == 0);
    if (trace_check_opt_all(&replay->checker) != 0 ||
        (contents && trace_check_opt_contents(&replay->checker) != 0)) {
        return trace_stop(replay, TRACE_VIOLATION);
    }
    return 0;
}

/* Chunks and sequences; and all that is linear in the tree, when it is time for it. */
static int check(struct trace_replay *replay, const char *clause, int r) {
    long long n = ++replay->n_operations;
    int due = replay->settings->check == TRACE_CHECK_EVERY || (n & (n - 1)) == 0 ||
              n % TRACE_OPT_SAMPLE == 0;
    if (trace_check_opt_counts(&replay->checker, clause, r) != 0) {
        return trace_stop(replay, TRACE_VIOLATION);
    }
    return due ? check_linear(replay) : 0;
}

/* The operation failed as it had to. */
static int check_failed(struct trace_replay *replay, int r, struct cp_stamp stamp, int used) {
    int n_free = replay->opt_tree->sizes.capacity - used;
    if (trace_check_opt_unchanged(&replay->checker, r, stamp, n_free) != 0) {
        return trace_stop(replay, TRACE_VIOLATION);
    }
    return check(replay, "TREE-13", r);
}

/* ---- Join ---- */

static int reject(struct trace_replay *replay, int r, struct cp_stamp stamp, int used) {
    replay->figures->rejected++;
    trace_schedule_drop(&replay->schedule);
    if (trace_observe(replay) != 0) {
        return -1;
    }
    return trace_is_checking(replay) ? check_failed(replay, r, stamp, used) : 0;
}

static int check_joined(struct trace_replay *replay, int r, const struct cp_joined *joined) {
    int matched = trace_model_join(&replay->model, r, trace_blocks(replay->trace, r),
                                   replay->trace->request[r].input_length);
    if (matched < 0) {
        return trace_stop(replay, TRACE_OUT_OF_MEMORY);
    }
    replay->checker.structure_changed = 1;
    if (trace_check_opt_joined(&replay->checker, r, matched, joined, replay->token) != 0) {
        return trace_stop(replay, TRACE_VIOLATION);
    }
    return check(replay, "TREE-9", r);
}

static int join(struct trace_replay *replay, int r) {
    struct cp_opt_tree *tree = replay->opt_tree;
    struct trace_figures *figures = replay->figures;
    int n = replay->trace->request[r].input_length, used = used_chunks(replay), expected = CP_OK;
    struct cp_stamp stamp = tree->stamp;
    struct cp_joined joined = {-1, -1};
    trace_tokens(replay->trace, r, n, replay->token);
    figures->requests++;
    figures->full_blocks += trace_full_blocks(replay->trace, r);
    if (trace_is_checking(replay)) {
        struct cp_match match = cp_opt_tree_lookup(tree, replay->token, n, 0);
        expected = trace_expect_join(&replay->checker, r);
        if (trace_check_lookup(&replay->checker, r, &match) != 0) {
            return trace_stop(replay, TRACE_VIOLATION);
        }
    }
    int status = cp_opt_tree_join(tree, replay->token, n, 0, r, &joined);
    int refused = status == CP_ERROR_POOL_FULL || status == CP_ERROR_SEQUENCES_FULL;
    if ((trace_is_checking(replay) || !refused) &&
        trace_check_status(replay, "TREE-9", r, status, expected) != 0) {
        return -1;
    }
    if (refused) {
        return reject(replay, r, stamp, used);
    }
    replay->handle[r] = joined.sequence;
    figures->prompt_tokens += n;
    figures->matched_blocks += joined.n_shared / replay->trace->block_size;
    trace_count_opt_sequence(figures, tree, joined.sequence, 1);
    count_chunks(replay, used);
    if (trace_observe(replay) != 0) {
        return -1;
    }
    return trace_is_checking(replay) ? check_joined(replay, r, &joined) : 0;
}

/* ---- One decoding step ---- */

static int list_appends(struct trace_replay *replay) {
    const struct trace_schedule *schedule = &replay->schedule;
    int n = 0;
    for (int i = 0; i < schedule->n_live; i++) {
        int r = schedule->live[i];
        if (trace_schedule_decodes(schedule, r)) {
            replay->sequence[n] = replay->handle[r];
            replay->token[n++] = trace_token(replay->trace, r, trace_schedule_place(schedule, r));
        }
    }
    return n;
}

static int check_decoded(struct trace_replay *replay, int n, struct cp_stamp before) {
    if (n > 0 && replay->opt_tree->stamp.step != before.step + 1) {
        trace_violate(&replay->checker, "PLAN-5", -1, "the step went from %llu to %llu",
                      before.step, replay->opt_tree->stamp.step);
        return trace_stop(replay, TRACE_VIOLATION);
    }
    return check(replay, "TREE-10", -1);
}

static int decode(struct trace_replay *replay) {
    struct cp_stamp stamp = replay->opt_tree->stamp;
    int used = used_chunks(replay);
    int expected = trace_is_checking(replay) ? trace_model_step(replay) : CP_OK;
    int n = list_appends(replay);
    int status = cp_opt_tree_append_each(replay->opt_tree, n, replay->sequence, replay->token);
    if ((trace_is_checking(replay) || status != CP_ERROR_POOL_FULL) &&
        trace_check_status(replay, "TREE-10", -1, status, expected) != 0) {
        return -1;
    }
    if (status == CP_ERROR_POOL_FULL) {
        if (trace_is_checking(replay) && check_failed(replay, -1, stamp, used) != 0) {
            return -1;
        }
        return trace_stop(replay, TRACE_POOL_FULL);
    }
    trace_count_step(replay->figures, n, used_chunks(replay) - used);
    count_chunks(replay, used);
    if (trace_observe(replay) != 0) {
        return -1;
    }
    return trace_is_checking(replay) ? check_decoded(replay, n, stamp) : 0;
}

/* ---- Leave ---- */

static int leave(struct trace_replay *replay, int r) {
    int used = used_chunks(replay), handle = replay->handle[r];
    if (cp_opt_tree_is_alive(replay->opt_tree, handle)) {
        trace_count_opt_sequence(replay->figures, replay->opt_tree, handle, -1);
    }
    int status = cp_opt_tree_leave(replay->opt_tree, handle);
    if (trace_check_status(replay, "TREE-11", r, status, CP_OK) != 0) {
        return -1;
    }
    count_chunks(replay, used);
    if (trace_observe(replay) != 0) {
        return -1;
    }
    if (!trace_is_checking(replay)) {
        return 0;
    }
    trace_model_leave(&replay->model, r, trace_blocks(replay->trace, r));
    replay->checker.structure_changed = 1;
    return check(replay, "TREE-11", r);
}

/* ---- The whole ---- */

static int end(struct trace_replay *replay) {
    if (trace_is_checking(replay) && check_linear(replay) == 0 &&
        trace_check_opt_contents(&replay->checker) != 0) {
        trace_stop(replay, TRACE_VIOLATION);
    }
    return -1;
}

int trace_run_opt_event(struct trace_replay *replay, struct trace_event event) {
    switch (event.kind) {
    case TRACE_JOIN:
        return join(replay, event.request);
    case TRACE_DECODE:
        return decode(replay);
    case TRACE_LEAVE:
        return leave(replay, event.request);
    default:
        return end(replay);
    }
}
