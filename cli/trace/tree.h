/* SPDX-License-Identifier: Apache-2.0 */
/* What a replay asks of a tree: of the reference (ref_tree.c), or of opt/ (opt_tree.c). */
#ifndef CHUNKPROOF_CLI_TRACE_TREE_H
#define CHUNKPROOF_CLI_TRACE_TREE_H

#include "cli/trace/replay.h"

struct trace_tree {
    int (*used_chunks)(const struct trace_replay *replay);
    int (*n_sequences)(const struct trace_replay *replay);
    struct cp_stamp (*stamp)(const struct trace_replay *replay);
    int (*capacity)(const struct trace_replay *replay);

    /* The prompt of n tokens is in replay->token: its hashes, where the tree has any. */
    void (*hash)(struct trace_replay *replay, int n);
    struct cp_match (*lookup)(const struct trace_replay *replay, int n);

    /* These return the tree's status. append_each() gives the sequences that list_appends() has
     * written into replay->sequence, n of them, the tokens in replay->token. */
    int (*join)(struct trace_replay *replay, int r, int n, struct cp_joined *joined);
    int (*list_appends)(struct trace_replay *replay);
    int (*append_each)(struct trace_replay *replay, int n);
    int (*leave)(struct trace_replay *replay, int r);

    /* Counts a sequence that has come (sign 1) or is about to leave (sign -1), in the figures: by
     * what join() gave, or by its request. */
    void (*count_joined)(struct trace_replay *replay, int sequence);
    void (*count_leaving)(struct trace_replay *replay, int r);

    /* As in check.h. The first either needs what check_all() vouches for, or compares with
     * replay->token, which check_all() overwrites. */
    int joined_before_all;
    int (*check_joined)(struct trace_replay *replay, int r, int matched,
                        const struct cp_joined *joined);
    int (*check_unchanged)(struct trace_checker *checker, int r, struct cp_stamp stamp, int n_free);
    int (*check_counts)(struct trace_checker *checker, const char *clause, int r);
    int (*check_all)(struct trace_checker *checker);
    int (*check_contents)(struct trace_checker *checker);

    /* After an operation: is it time for check_all(), and with it for check_contents()? */
    int (*is_time_for_all)(struct trace_replay *replay, int is_step);
    int (*is_time_for_contents)(const struct trace_replay *replay);
};

extern const struct trace_tree trace_ref_tree, trace_opt_tree;

/* Early, then ever more rarely, then regularly: is n 1, 2, 4, 8, ... or a multiple of `period`? */
static inline int trace_is_time(long long n, int period) {
    return (n & (n - 1)) == 0 || n % period == 0;
}

/* Comparing the content of all sequences costs as much as a thousand other checks. */
#define TRACE_CONTENTS 1024

#endif
