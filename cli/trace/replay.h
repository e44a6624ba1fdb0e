/* SPDX-License-Identifier: Apache-2.0 */
/* Replays a trace through the reference tree, or that of opt/, and compares as it goes. */
#ifndef CHUNKPROOF_CLI_TRACE_REPLAY_H
#define CHUNKPROOF_CLI_TRACE_REPLAY_H

#include "cli/trace/check.h"
#include "cli/trace/figures.h"
#include "cli/trace/schedule.h"

/* How often the checks that are linear in the tree are made:
 *   none      never; then nothing else is compared either
 *   sampled   at each join and leave, and at every TRACE_SAMPLE-th decoding step
 *   every     after each operation
 * In the last two modes the chunks in use are compared after each operation. The tree of opt/ is
 * much faster than these checks. For this tree, sampled means: lookup, counts and the new sequence
 * at each join; checks that are linear in the tree at operations 1, 2, 4, 8, ... and at every
 * TRACE_OPT_SAMPLE-th operation; all tokens at the end. */
#define TRACE_CHECK_NONE    0
#define TRACE_CHECK_SAMPLED 1
#define TRACE_CHECK_EVERY   2
#define TRACE_SAMPLE        64
#define TRACE_OPT_SAMPLE    2048

struct trace_replay {
    const struct trace *trace;
    const struct trace_settings *settings;
    struct cp_tree *tree; /* this or opt_tree; the other is NULL */
    struct cp_opt_tree *opt_tree;
    int *handle; /* in opt_tree, for each request that is alive */
    struct trace_model model;
    struct trace_schedule schedule;
    struct trace_checker checker;
    struct trace_figures *figures;
    long long n_operations;   /* on opt_tree, of those that were checked */
    int *token;               /* of the prompt at hand, or one per sequence */
    int *sequence;            /* the sequences that get a token */
    unsigned long long *hash; /* of the prompt's chunks */
};

struct trace_settings {
    long long ms_per_token; /* >= 1 */
    int retain;
    int check;
    int capacity;  /* chunks in the pool */
    int hash_bits; /* of the tree */
    int opt;       /* the tree of opt/, not the reference */

    /* NULL, or called after each operation and before its checks; non-zero ends the replay. For
     * progress and interrupts, and for tests that break something and expect a finding. */
    int (*observe)(void *context, struct trace_replay *replay);
    void *context;
};

/* Always writes *figures; figures->end says how far the replay came. */
void trace_replay(const struct trace *trace, const struct trace_settings *settings,
                  struct trace_figures *figures);

/* The chunks that a pool must have so that nothing is rejected and no step fails; from the naive
 * model alone. Returns 0, or -1 when there is no memory. */
int trace_needed_chunks(const struct trace *trace, const struct trace_settings *settings,
                        long long *needed);

#endif
