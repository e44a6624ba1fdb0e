/* SPDX-License-Identifier: Apache-2.0 */
#include "trace_replay.h"

#include <stdlib.h>
#include <string.h>

#include "chunkproof/status.h"

/* An operation ended the replay: it is over, and figures->end says why. */
#define STOP (-1)

static int stop(struct trace_replay *replay, int end) {
    replay->figures.end = end;
    return STOP;
}

static int used_chunks(const struct trace_replay *replay) {
    return replay->tree->pool.capacity - replay->tree->pool.n_free;
}

static int is_checking(const struct trace_replay *replay) {
    return replay->settings->check != TRACE_CHECK_NONE;
}

static int observe(struct trace_replay *replay, const struct trace_event *event) {
    const struct trace_settings *settings = replay->settings;
    if (settings->observe != NULL && settings->observe(settings->context, replay, event) != 0) {
        return stop(replay, TRACE_INTERRUPTED);
    }
    return 0;
}

/* ---- Counting ---- */

/* Follows the chunks in use from `before` to now; taken from the pool tells the peak. */
static void count_chunks(struct trace_replay *replay, int before) {
    struct trace_figures *figures = &replay->figures;
    int used = used_chunks(replay);
    figures->allocated_chunks += used > before ? used - before : 0;
    figures->now.used = used;
    if (figures->now.paths > figures->paths_peak) {
        figures->paths_peak = figures->now.paths;
    }
    if (used > figures->peak.used) {
        figures->peak = figures->now;
    }
    if (replay->tree->n_sequences > figures->live_peak) {
        figures->live_peak = replay->tree->n_sequences;
    }
}

/* (sequence, chunk) pairs that are shared because of sequence s: its own with each chunk that it
 * shares, and its partner's where there is only one. */
static int pairs_of(const struct cp_tree *tree, int s) {
    const struct cp_sequence *row = &tree->sequence[s];
    int pairs = 0;
    for (int k = 0; k < row->n_chunks; k++) {
        int width = tree->end[row->chunk[k]] - tree->begin[row->chunk[k]];
        pairs += width == 2 ? 2 : width > 2;
    }
    return pairs;
}

/* Sequence s has come (sign 1) or is about to go (sign -1). */
static void count_sequence(struct trace_replay *replay, int s, int sign) {
    struct trace_moment *now = &replay->figures.now;
    now->paths += sign * replay->tree->sequence[s].n_chunks;
    now->shared_pairs += sign * pairs_of(replay->tree, s);
    now->tokens += sign * cp_tree_length(replay->tree, s);
}

static void count_step(struct trace_figures *figures) {
    figures->iterations++;
    figures->sum.used += figures->now.used;
    figures->sum.paths += figures->now.paths;
    figures->sum.shared_pairs += figures->now.shared_pairs;
    figures->sum.tokens += figures->now.tokens;
}

/* ---- Checking ---- */

/* The content of all sequences costs as much as a thousand other checks; it is compared early, then
 * ever more rarely, then regularly. */
static int is_time_for_contents(long long checks) {
    return (checks & (checks - 1)) == 0 || checks % 1024 == 0;
}

static int check_linear(struct trace_replay *replay) {
    replay->figures.invariant_checks++;
    if (trace_check_all(&replay->checker) != 0) {
        return -1;
    }
    return is_time_for_contents(replay->figures.invariant_checks)
               ? trace_check_contents(&replay->checker)
               : 0;
}

/* ---- Operations ---- */

/* The status that the tree gave is not the expected one, or nothing that a trace can run into. */
static int wrong_status(struct trace_replay *replay, const char *clause, int r, int status,
                        int expected) {
    trace_violate(&replay->checker, clause, r, "the result is \"%s\" instead of \"%s\"",
                  cp_status_text(status), cp_status_text(expected));
    return stop(replay, TRACE_VIOLATION);
}

static int check_joined(struct trace_replay *replay, int r, const struct cp_joined *joined) {
    int matched = trace_model_join(&replay->model, r, trace_blocks(replay->trace, r),
                                   replay->trace->request[r].input_length);
    if (matched < 0) {
        return stop(replay, TRACE_NO_MEMORY_END);
    }
    replay->checker.structure_changed = 1;
    if (trace_check_counts(&replay->checker, "TREE-9", r) != 0 || check_linear(replay) != 0 ||
        trace_check_joined(&replay->checker, r, matched, joined) != 0) {
        return stop(replay, TRACE_VIOLATION);
    }
    return 0;
}
