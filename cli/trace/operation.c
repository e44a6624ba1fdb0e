/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/trace/operation.h"

#include "chunkproof/status.h"
#include "cli/trace/outcome.h"

/* Each operation returns 0, or -1 when the replay is over. */

static int used_chunks(const struct trace_replay *replay) {
    return replay->tree->pool.capacity - replay->tree->pool.n_free;
}

/* ---- Checks after an operation ---- */

/* Comparing the content of all sequences costs as much as a thousand other checks: it is done early,
 * then ever more rarely, then regularly. */
static int is_time_for_contents(long long checks) {
    return (checks & (checks - 1)) == 0 || checks % 1024 == 0;
}

static int check_linear(struct trace_replay *replay) {
    replay->figures->invariant_checks++;
    if (trace_check_all(&replay->checker) != 0) {
        return trace_stop(replay, TRACE_VIOLATION);
    }
    if (is_time_for_contents(replay->figures->invariant_checks) &&
        trace_check_contents(&replay->checker) != 0) {
        return trace_stop(replay, TRACE_VIOLATION);
    }
    return 0;
}

static int check_counts(struct trace_replay *replay, const char *clause, int r) {
    return trace_check_counts(&replay->checker, clause, r) == 0
               ? 0
               : trace_stop(replay, TRACE_VIOLATION);
}

/* The operation failed as it had to. */
static int check_failed(struct trace_replay *replay, int r, struct cp_stamp stamp, int used) {
    int n_free = replay->tree->pool.capacity - used;
    if (trace_check_unchanged(&replay->checker, r, stamp, n_free) != 0) {
        return trace_stop(replay, TRACE_VIOLATION);
    }
    return check_linear(replay);
}

/* ---- Join ---- */

static int check_joined(struct trace_replay *replay, int r, const struct cp_joined *joined) {
    int matched = trace_model_join(&replay->model, r, trace_blocks(replay->trace, r),
                                   replay->trace->request[r].input_length);
    if (matched < 0) {
        return trace_stop(replay, TRACE_OUT_OF_MEMORY);
    }
    replay->checker.structure_changed = 1;
    if (check_counts(replay, "TREE-9", r) != 0 || check_linear(replay) != 0) {
        return -1;
    }
    return trace_check_joined(&replay->checker, r, matched, joined) == 0
               ? 0
               : trace_stop(replay, TRACE_VIOLATION);
}

/* The prompt of request r, with its hashes where the tree has any. */
static const unsigned long long *make_prompt(struct trace_replay *replay, int r) {
    int n = replay->trace->request[r].input_length;
    trace_tokens(replay->trace, r, n, replay->token);
    if (replay->tree->hash_bits == 0) {
        return NULL;
    }
    cp_tree_hash_prompt(replay->tree, replay->token, n, replay->hash);
    return replay->hash;
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
    struct cp_tree *tree = replay->tree;
    struct trace_figures *figures = replay->figures;
    const struct trace_request *request = &replay->trace->request[r];
    const unsigned long long *hash = make_prompt(replay, r);
    struct cp_stamp stamp = tree->stamp;
    struct cp_joined joined = {-1, -1};
    int used = used_chunks(replay);
    int expected = CP_OK;

    figures->requests++;
    figures->full_blocks += trace_full_blocks(replay->trace, r);
    if (trace_is_checking(replay)) {
        struct cp_match match = cp_tree_lookup(tree, replay->token, request->input_length, 0, hash);
        expected = trace_expect_join(&replay->checker, r);
        if (trace_check_lookup(&replay->checker, r, &match) != 0) {
            return trace_stop(replay, TRACE_VIOLATION);
        }
    }
    int status = cp_tree_join(tree, replay->token, request->input_length, 0, r, hash, &joined);
    int refused = status == CP_ERROR_POOL_FULL || status == CP_ERROR_SEQUENCES_FULL;
    if ((trace_is_checking(replay) || !refused) &&
        trace_check_status(replay, "TREE-9", r, status, expected) != 0) {
        return -1;
    }
    if (refused) {
        return reject(replay, r, stamp, used);
    }
    figures->prompt_tokens += request->input_length;
    figures->matched_blocks += joined.n_shared / replay->trace->block_size;
    trace_count_sequence(figures, tree, joined.sequence, 1);
    trace_count_chunks(figures, used_chunks(replay), tree->n_sequences, used);
    if (trace_observe(replay) != 0) {
        return -1;
    }
    return trace_is_checking(replay) ? check_joined(replay, r, &joined) : 0;
}

/* ---- One decoding step ---- */

/* Those sequences that get a token, and the tokens. */
static int list_appends(struct trace_replay *replay) {
    int n = 0;
    for (int s = 0; s < replay->tree->n_sequences; s++) {
        long long id = replay->tree->sequence[s].id;
        if (id < 0 || id >= replay->trace->n_requests) {
            continue; /* a broken tree: check_lengths() will say so */
        }
        int r = (int)id;
        if (trace_schedule_decodes(&replay->schedule, r)) {
            replay->sequence[n] = s;
            replay->token[n] =
                trace_token(replay->trace, r, trace_schedule_place(&replay->schedule, r));
            n++;
        }
    }
    return n;
}

static int check_decoded(struct trace_replay *replay, int n, struct cp_stamp before) {
    if (n > 0 && replay->tree->stamp.step != before.step + 1) {
        trace_violate(&replay->checker, "PLAN-5", -1, "the step went from %llu to %llu",
                      before.step, replay->tree->stamp.step);
        return trace_stop(replay, TRACE_VIOLATION);
    }
    if (check_counts(replay, "TREE-10", -1) != 0) {
        return -1;
    }
    int due = replay->settings->check == TRACE_CHECK_EVERY ||
              replay->figures->iterations % TRACE_SAMPLE == 0;
    return due ? check_linear(replay) : 0;
}

static int decode(struct trace_replay *replay) {
    struct cp_stamp stamp = replay->tree->stamp;
    int used = used_chunks(replay);
    int expected = trace_is_checking(replay) ? trace_model_step(replay) : CP_OK;
    int n = list_appends(replay);
    int status = cp_tree_append_each(replay->tree, n, replay->sequence, replay->token);
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
    trace_count_chunks(replay->figures, used_chunks(replay), replay->tree->n_sequences, used);
    if (trace_observe(replay) != 0) {
        return -1;
    }
    return trace_is_checking(replay) ? check_decoded(replay, n, stamp) : 0;
}

/* ---- Leave ---- */

static int leave(struct trace_replay *replay, int r) {
    struct cp_tree *tree = replay->tree;
    int used = used_chunks(replay);
    int s = cp_tree_find(tree, r);
    if (s >= 0) {
        trace_count_sequence(replay->figures, tree, s, -1);
    }
    int status = cp_tree_leave(tree, s); /* with -1 when it is gone: refused, and reported */
    if (trace_check_status(replay, "TREE-11", r, status, CP_OK) != 0) {
        return -1;
    }
    trace_count_chunks(replay->figures, used_chunks(replay), tree->n_sequences, used);
    if (trace_observe(replay) != 0) {
        return -1;
    }
    if (!trace_is_checking(replay)) {
        return 0;
    }
    trace_model_leave(&replay->model, r, trace_blocks(replay->trace, r));
    replay->checker.structure_changed = 1;
    return check_counts(replay, "TREE-11", r) == 0 ? check_linear(replay) : -1;
}

/* ---- The whole ---- */

/* Whoever is still there must be whole. */
static int end(struct trace_replay *replay) {
    if (trace_is_checking(replay) && check_linear(replay) == 0 &&
        trace_check_contents(&replay->checker) != 0) {
        trace_stop(replay, TRACE_VIOLATION);
    }
    return -1;
}

int trace_run_event(struct trace_replay *replay, struct trace_event event) {
    replay->figures->last_event = event;
    replay->figures->iteration = replay->schedule.iteration;
    if (replay->opt_tree != NULL) {
        return trace_run_opt_event(replay, event);
    }
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
