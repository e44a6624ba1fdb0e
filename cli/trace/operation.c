/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/trace/operation.h"

#include "chunkproof/status.h"
#include "cli/trace/outcome.h"
#include "cli/trace/tree.h"

/* Each operation returns 0, or -1 when the replay is over. */

static const struct trace_tree *tree_of(const struct trace_replay *replay) {
    return replay->opt_tree != NULL ? &trace_opt_tree : &trace_ref_tree;
}

static int used_chunks(const struct trace_replay *replay) {
    return tree_of(replay)->used_chunks(replay);
}

/* `before` the operation, so many chunks were in use. */
static void count_chunks(struct trace_replay *replay, int before) {
    const struct trace_tree *tree = tree_of(replay);
    trace_count_chunks(replay->figures, used_chunks(replay), tree->n_sequences(replay), before);
}

/* ---- Checks after an operation ---- */

/* What a check has returned. */
static int stop_unless_right(struct trace_replay *replay, int returned) {
    return returned == 0 ? 0 : trace_stop(replay, TRACE_VIOLATION);
}

static int check_linear(struct trace_replay *replay) {
    const struct trace_tree *tree = tree_of(replay);
    replay->figures->invariant_checks++;
    int returned = tree->check_all(&replay->checker);
    if (returned == 0 && tree->is_time_for_contents(replay)) {
        returned = tree->check_contents(&replay->checker);
    }
    return stop_unless_right(replay, returned);
}

/* Chunks and sequences; and all that is linear in the tree, when it is time for it. */
static int check(struct trace_replay *replay, const char *clause, int r, int is_step) {
    const struct trace_tree *tree = tree_of(replay);
    int is_time = tree->is_time_for_all(replay, is_step);
    if (tree->check_counts(&replay->checker, clause, r) != 0) {
        return trace_stop(replay, TRACE_VIOLATION);
    }
    return is_time ? check_linear(replay) : 0;
}

/* The operation failed as it had to. */
static int check_failed(struct trace_replay *replay, int r, struct cp_stamp stamp, int used) {
    const struct trace_tree *tree = tree_of(replay);
    int n_free = tree->capacity(replay) - used;
    if (tree->check_unchanged(&replay->checker, r, stamp, n_free) != 0) {
        return trace_stop(replay, TRACE_VIOLATION);
    }
    return check(replay, "TREE-13", r, 0);
}

/* ---- Join ---- */

static int check_joined(struct trace_replay *replay, int r, const struct cp_joined *joined) {
    const struct trace_tree *tree = tree_of(replay);
    int matched = trace_model_join(&replay->model, r, trace_blocks(replay->trace, r),
                                   replay->trace->request[r].input_length);
    if (matched < 0) {
        return trace_stop(replay, TRACE_OUT_OF_MEMORY);
    }
    replay->checker.structure_changed = 1;
    if (!tree->joined_before_all && check(replay, "TREE-9", r, 0) != 0) {
        return -1;
    }
    if (tree->check_joined(replay, r, matched, joined) != 0) {
        return trace_stop(replay, TRACE_VIOLATION);
    }
    return tree->joined_before_all ? check(replay, "TREE-9", r, 0) : 0;
}

static int reject(struct trace_replay *replay, int r, struct cp_stamp stamp, int used) {
    replay->figures->rejected++;
    trace_schedule_drop(&replay->schedule);
    if (trace_observe(replay) != 0) {
        return -1;
    }
    return trace_is_checking(replay) ? check_failed(replay, r, stamp, used) : 0;
}

static int join(struct trace_replay *replay, int r) {
    const struct trace_tree *tree = tree_of(replay);
    struct trace_figures *figures = replay->figures;
    int n = replay->trace->request[r].input_length, used = used_chunks(replay), expected = CP_OK;
    struct cp_stamp stamp = tree->stamp(replay);
    struct cp_joined joined = {-1, -1};

    trace_tokens(replay->trace, r, n, replay->token);
    tree->hash(replay, n);
    figures->requests++;
    figures->full_blocks += trace_full_blocks(replay->trace, r);
    if (trace_is_checking(replay)) {
        struct cp_match match = tree->lookup(replay, n);
        expected = trace_expect_join(&replay->checker, r);
        if (trace_check_lookup(&replay->checker, r, &match) != 0) {
            return trace_stop(replay, TRACE_VIOLATION);
        }
    }
    int status = tree->join(replay, r, n, &joined);
    int refused = status == CP_ERROR_POOL_FULL || status == CP_ERROR_SEQUENCES_FULL;
    if ((trace_is_checking(replay) || !refused) &&
        trace_check_status(replay, "TREE-9", r, status, expected) != 0) {
        return -1;
    }
    if (refused) {
        return reject(replay, r, stamp, used);
    }
    figures->prompt_tokens += n;
    figures->matched_blocks += joined.n_shared / replay->trace->block_size;
    tree->count_joined(replay, joined.sequence);
    count_chunks(replay, used);
    if (trace_observe(replay) != 0) {
        return -1;
    }
    return trace_is_checking(replay) ? check_joined(replay, r, &joined) : 0;
}

/* ---- One decoding step ---- */

static int check_decoded(struct trace_replay *replay, int n, struct cp_stamp before) {
    struct cp_stamp now = tree_of(replay)->stamp(replay);
    if (n > 0 && now.step != before.step + 1) {
        trace_violate(&replay->checker, "PLAN-5", -1, "the step went from %llu to %llu",
                      before.step, now.step);
        return trace_stop(replay, TRACE_VIOLATION);
    }
    return check(replay, "TREE-10", -1, 1);
}

static int decode(struct trace_replay *replay) {
    const struct trace_tree *tree = tree_of(replay);
    struct cp_stamp stamp = tree->stamp(replay);
    int used = used_chunks(replay);
    int expected = trace_is_checking(replay) ? trace_model_step(replay) : CP_OK;
    int n = tree->list_appends(replay);
    int status = tree->append_each(replay, n);
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
    const struct trace_tree *tree = tree_of(replay);
    int used = used_chunks(replay);
    tree->count_leaving(replay, r);
    if (trace_check_status(replay, "TREE-11", r, tree->leave(replay, r), CP_OK) != 0) {
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
    return check(replay, "TREE-11", r, 0);
}

/* ---- The whole ---- */

/* Whoever is still there must be whole. */
static int end(struct trace_replay *replay) {
    if (trace_is_checking(replay) && check_linear(replay) == 0) {
        (void)stop_unless_right(replay, tree_of(replay)->check_contents(&replay->checker));
    }
    return -1;
}

int trace_run_event(struct trace_replay *replay, struct trace_event event) {
    replay->figures->last_event = event;
    replay->figures->iteration = replay->schedule.iteration;
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
