/* SPDX-License-Identifier: Apache-2.0 */
/* The reference's tree in a replay. The id of a sequence is its request's number. */
#include "cli/trace/tree.h"

static int used_chunks(const struct trace_replay *replay) {
    return replay->tree->pool.capacity - replay->tree->pool.n_free;
}

static int n_sequences(const struct trace_replay *replay) {
    return replay->tree->n_sequences;
}

static struct cp_stamp stamp(const struct trace_replay *replay) {
    return replay->tree->stamp;
}

static int capacity(const struct trace_replay *replay) {
    return replay->tree->pool.capacity;
}

/* ---- Operations ---- */

static void hash(struct trace_replay *replay, int n) {
    if (replay->tree->hash_bits != 0) {
        cp_tree_hash_prompt(replay->tree, replay->token, n, replay->hash);
    }
}

static const unsigned long long *hashes(const struct trace_replay *replay) {
    return replay->tree->hash_bits != 0 ? replay->hash : NULL;
}

static struct cp_match lookup(const struct trace_replay *replay, int n) {
    return cp_tree_lookup(replay->tree, replay->token, n, 0, hashes(replay));
}

static int join(struct trace_replay *replay, int r, int n, struct cp_joined *joined) {
    return cp_tree_join(replay->tree, replay->token, n, 0, r, hashes(replay), joined);
}

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
            replay->token[n++] =
                trace_token(replay->trace, r, trace_schedule_place(&replay->schedule, r));
        }
    }
    return n;
}

static int append_each(struct trace_replay *replay, int n) {
    return cp_tree_append_each(replay->tree, n, replay->sequence, replay->token);
}

/* When it is gone, leaving with -1 is refused, and reported. */
static int leave(struct trace_replay *replay, int r) {
    return cp_tree_leave(replay->tree, cp_tree_find(replay->tree, r));
}

static void count_joined(struct trace_replay *replay, int sequence) {
    trace_count_sequence(replay->figures, replay->tree, sequence, 1);
}

static void count_leaving(struct trace_replay *replay, int r) {
    int s = cp_tree_find(replay->tree, r);
    if (s >= 0) {
        trace_count_sequence(replay->figures, replay->tree, s, -1);
    }
}

/* ---- Checks ---- */

static int check_joined(struct trace_replay *replay, int r, int matched,
                        const struct cp_joined *joined) {
    return trace_check_joined(&replay->checker, r, matched, joined);
}

static int is_time_for_all(struct trace_replay *replay, int is_step) {
    return !is_step || replay->settings->check == TRACE_CHECK_EVERY ||
           replay->figures->iterations % TRACE_SAMPLE == 0;
}

static int is_time_for_contents(const struct trace_replay *replay) {
    return trace_is_time(replay->figures->invariant_checks, TRACE_CONTENTS);
}

const struct trace_tree trace_ref_tree = {
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
    .check_joined = check_joined,
    .check_unchanged = trace_check_unchanged,
    .check_counts = trace_check_counts,
    .check_all = trace_check_all,
    .check_contents = trace_check_contents,
    .is_time_for_all = is_time_for_all,
    .is_time_for_contents = is_time_for_contents,
};
