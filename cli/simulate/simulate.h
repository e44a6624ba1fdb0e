/* SPDX-License-Identifier: Apache-2.0 */
/* A server that decodes requests in iterations, event by event (spec/simulate.md). Time is in
 * integer nanoseconds: the same input gives the same output on every machine. */
#ifndef CHUNKPROOF_CLI_SIMULATE_SIMULATE_H
#define CHUNKPROOF_CLI_SIMULATE_SIMULATE_H

#include "chunkproof/tree.h"
#include "cli/simulate/cost.h"
#include "cli/simulate/load.h"
#include "cli/tables/model.h"

/* How a run ended. */
#define SIMULATE_COMPLETE   0
#define SIMULATE_NO_MEMORY  1
#define SIMULATE_POOL_SMALL 2 /* without a limit of memory the pool's own was met */
#define SIMULATE_TOO_LONG   3 /* a request has more tokens than a path of the tree */
#define SIMULATE_ENDLESS    4 /* it would go on beyond SIMULATE_END */
#define SIMULATE_BROKEN     5 /* the tree refused what it has room for */

/* What became of a request: times in ns. */
struct simulate_record {
    long long arrived;
    long long admitted; /* -1: rejected; the request alone needs more chunks than there are */
    long long first;    /* end of the iteration that made its first token, or of its only one */
    long long finished;
    int made; /* completion tokens */
};

/* One iteration, for those who watch. */
struct simulate_iteration {
    long long begin;
    long long end;
    int live; /* sequences: the batch size */
    int chunks;
    struct simulate_work work;
};

struct simulate_run {
    int end;
    int rejected;
    long long iterations;
    long long busy;          /* ns in iterations */
    long long started;       /* ns: the first arrival ... */
    long long finished;      /* ... and the last departure */
    long long prompt_tokens; /* of admitted requests */
    long long reused_tokens; /* of these, in the tree before */
    long long completion_tokens;
    long long batch_sum; /* of the batch sizes of all iterations */
    int peak_batch;
    int peak_chunks;
    double in_system; /* integral of the requests that wait or run, in ns; exact below 2^53 */
    struct simulate_record *record; /* one for each request of the trace */
};

struct simulate_settings {
    int sharing;        /* 0: each request in a sharing domain of its own (TREE-14) */
    int batch;          /* the most sequences at once, 1 .. CP_MAX_SEQUENCES */
    int chunk;          /* tokens in a chunk, 1 .. CP_MAX_CHUNK_SIZE */
    long long capacity; /* chunks; 0: no limit */
    struct cp_dims model;
    struct simulate_cost cost;

    /* NULL, or called after each iteration, before those that are done leave. For tests. */
    void (*observe)(void *context, const struct simulate_iteration *iteration,
                    const struct cp_tree *tree);
    void *context;
};

/* Always writes *run, which is to be given to simulate_run_free(); run->end says how it ended. */
void simulate(const struct simulate_load *load, const struct simulate_settings *settings,
              struct simulate_run *run);
void simulate_run_free(struct simulate_run *run);

/* K and V of one chunk, all its places, in bytes. */
double simulate_chunk_bytes(const struct simulate_settings *settings);

#endif
