/* SPDX-License-Identifier: Apache-2.0 */
/* The tree of opt/ in a replay, with a handle for each request that is alive. */
#include "chunkproof/status.h"
#include "cli/trace/tree.h"

static int used_chunks(const struct trace_replay *replay) {
    return replay->opt_tree->sizes.capacity - replay->opt_tree->n_free;
}

static int n_sequences(const struct trace_replay *replay) {
    return replay->opt_tree->n_sequences;
}

static struct cp_stamp stamp(const struct trace_replay *replay) {
    return replay->opt_tree->stamp;
}

static int capacity(const struct trace_replay *replay) {
    return replay->opt_tree->sizes.capacity;
}

/* ---- Operations ---- */

static void hash(struct trace_replay *replay, int n) { /* the tree hashes as it joins */
    (void)replay;
    (void)n;
}

static struct cp_match lookup(const struct trace_replay *replay, int n) {
    return cp_opt_tree_lookup(replay->opt_tree, replay->token, n, 0);
}

static int join(struct trace_replay *replay, int r, int n, struct cp_joined *joined) {
    int status = cp_opt_tree_join(replay->opt_tree, replay->token, n, 0, r, joined);
    if (status == CP_OK) {
        replay->handle[r] = joined->sequence;
    }
    return status;
}

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

static int append_each(struct trace_replay *replay, int n) {
    return cp_opt_tree_append_each(replay->opt_tree, n, replay->sequence, replay->token);
}

static int leave(struct trace_replay *replay, int r) {
    return cp_opt_tree_leave(replay->opt_tree, replay->handle[r]);
}

static void count_joined(struct trace_replay *replay, int sequence) {
    trace_count_opt_sequence(replay->figures, replay->opt_tree, sequence, 1);
}

static void count_leaving(struct trace_replay *replay, int r) {
    if (cp_opt_tree_is_alive(replay->opt_tree, replay->handle[r])) {
        trace_count_opt_sequence(replay->figures, replay->opt_tree, replay->handle[r], -1);
    }
}

/* ---- Checks ---- */

static int check_joined(struct trace_replay *replay, int r, int matched,
                        const struct cp_joined *joined) {
    return trace_check_opt_joined(&replay->checker, r, matched, joined, replay->token);
}

static int is_time_for_all(struct trace_replay *replay, int is_step) {
    long long n = ++replay->n_operations;
    (void)is_step;
    return replay->settings->check == TRACE_CHECK_EVERY || trace_is_time(n, TRACE_OPT_SAMPLE);
}

static int is_time_for_contents(const struct trace_replay *replay) {
    return replay->settings->check == TRACE_CHECK_EVERY &&
           trace_is_time(replay->figures->invariant_checks, TRACE_CONTENTS);
}

const struct trace_tree trace_opt_tree = {
    .used_chunks = used_chunks,
    .n_sequences = n_sequences,
    .stamp = stamp,
    .capacity = capacity,
    .hash = hash,
    .lookup = lookup,
    .join = join,
    .list_appends = list_appends,
    .append_each = append_each,
    .leave = leave,
    .count_joined = count_joined,
    .count_leaving = count_leaving,
    .joined_before_all = 1,
    .check_joined = check_joined,
    .check_unchanged = trace_check_opt_unchanged,
    .check_counts = trace_check_opt_counts,
    .check_all = trace_check_opt_all,
    .check_contents = trace_check_opt_contents,
    .is_time_for_all = is_time_for_all,
    .is_time_for_contents = is_time_for_contents,
};
