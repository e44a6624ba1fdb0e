/* SPDX-License-Identifier: Apache-2.0 */
/* Replays a trace through the reference tree, compares as it goes, and counts what happened. */
#ifndef CHUNKPROOF_GATE_TRACE_REPLAY_H
#define CHUNKPROOF_GATE_TRACE_REPLAY_H

#include "trace_check.h"
#include "trace_schedule.h"

#define TRACE_CHECK_NONE    0
#define TRACE_CHECK_SAMPLED 1
#define TRACE_CHECK_EVERY   2

/* With TRACE_CHECK_SAMPLED the linear checks come at each join and leave and at every 64th decoding
 * step. */
#define TRACE_SAMPLE 64

struct trace_replay;

struct trace_settings {
    long long ms_per_token; /* >= 1 */
    int retain;
    int check;
    int capacity;  /* chunks in the pool */
    int hash_bits; /* of the tree */
    /* Called after each operation, before its checks; the replay stops when it returns non-zero. NULL
     * or: progress, an interrupt, a test that breaks something to see whether it is noticed. */
    int (*observe)(void *context, struct trace_replay *replay, const struct trace_event *event);
    void *context;
};

/* How a replay ended. */
#define TRACE_COMPLETE    0
#define TRACE_VIOLATION   1
#define TRACE_POOL_FULL   2 /* a decoding step found too few free chunks */
#define TRACE_INTERRUPTED 3

/* Chunks and tokens at one moment. */
struct trace_moment {
    long long used;         /* chunks in use */
    long long paths;        /* sum of all path lengths: the chunks that b sequences need alone */
    long long shared_pairs; /* (sequence, chunk) with a chunk that two or more have */
    long long tokens;       /* of all sequences */
};

struct trace_figures {
    int end;
    int requests; /* that arrived */
    int rejected; /* of these, had no room in the pool or among the sequences */
    long long full_blocks;
    long long matched_blocks;
    long long allocated_chunks;
    long long prompt_tokens; /* of the requests that joined */
    long long output_tokens; /* made */
    long long iterations;    /* decoding steps */
    int live_peak;
    long long paths_peak;          /* the most that `paths` was */
    struct trace_moment now;
    struct trace_moment peak; /* the first moment with the most chunks in use */
    struct trace_moment sum;  /* over all decoding steps */
    long long invariant_checks;
    long long iteration; /* when the replay ended */
    struct trace_event last_event;
    struct trace_violation violation;
};

struct trace_replay {
    const struct trace *trace;
    const struct trace_settings *settings;
    struct cp_tree *tree;
    struct trace_model model;
    struct trace_schedule schedule;
    struct trace_checker checker;
    struct trace_figures figures;
    int *token;               /* of the prompt at hand, or one per sequence */
    int *sequence;            /* that get a token */
    unsigned long long *hash; /* of the prompt's chunks */
};

/* Returns 0 with *figures written, or -1 when there is no memory. */
int trace_replay(const struct trace *trace, const struct trace_settings *settings,
                 struct trace_figures *figures);

/* The chunks that a pool must have so that no request is rejected and no step fails; from the naive
 * model alone. Returns 0, or -1 when there is no memory. */
int trace_needed_chunks(const struct trace *trace, const struct trace_settings *settings,
                        long long *needed);

#endif
