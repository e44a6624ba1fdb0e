/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/bench/traffic.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "chunkproof/limits.h"
#include "chunkproof/opt_tree.h"
#include "chunkproof/status.h"
#include "cli/base/clock.h"
#include "cli/base/command.h"
#include "cli/base/sort.h"
#include "cli/trace/generate.h"
#include "cli/trace/load.h"
#include "cli/trace/replay.h"

#define BLOCK (CP_MAX_CHUNK_SIZE < 512 ? CP_MAX_CHUNK_SIZE : 512) /* of the published traces */

/* Sorts them. */
static struct traffic_spread spread_of(double *x, int n) {
    sort_numbers(x, n);
    return (struct traffic_spread){x[n / 2], x[(int)(0.99 * (n - 1))], x[n - 1]};
}

static int no_memory(void) {
    fputs("chunkproof bench: out of memory for the trace\n", stderr);
    return EXIT_BAD_USE;
}

/* ---- The trace ---- */

static int get(struct trace *trace, const char *file, int smoke) {
    struct trace_generator generator = {.seed = 1,
                                        .requests = smoke ? 50 : 2000,
                                        .gap = 100000,
                                        .prompts = 16,
                                        .prompt_tokens = 2048,
                                        .question_tokens = 512,
                                        .output_tokens = 256,
                                        .continue_percent = 50};
    if (file != NULL) {
        return trace_load(trace, file) == 0 ? EXIT_RIGHT : EXIT_BAD_USE;
    }
    return trace_generate(trace, &generator) == TRACE_OK ? EXIT_RIGHT : no_memory();
}

static int longest_of(const struct trace *trace) {
    int longest = 1;
    for (int r = 0; r < trace->n_requests; r++) {
        int length = trace->request[r].input_length + trace->request[r].output_length;
        longest = length > longest ? length : longest;
    }
    return longest;
}

/* ---- Its joins, without all else ---- */

struct run {
    struct cp_opt_tree *tree;
    int *token;
    double *seconds; /* of each join */
};

static int make(struct run *run, const struct trace *trace, int chunks) {
    int longest = longest_of(trace), block = trace->block_size;
    struct cp_opt_sizes sizes = {.capacity = chunks > 0 ? chunks : 1,
                                 .chunk_size = block,
                                 .max_sequences = trace->n_requests > 0 ? trace->n_requests : 1,
                                 .max_depth = (longest + block - 1) / block,
                                 .hash_bits = 64,
                                 .seed = 1};
    run->token = malloc((size_t)longest * sizeof *run->token);
    run->seconds = malloc(((size_t)trace->n_requests + 1) * sizeof *run->seconds);
    return run->token == NULL || run->seconds == NULL ? CP_ERROR_NO_MEMORY
                                                      : cp_opt_tree_new(&run->tree, &sizes);
}

/* What nobody else has learnt is written down first: the time of the join is its own. */
static int join_all(const struct bench_bench *bench, struct run *run, const struct trace *trace,
                    struct traffic *traffic) {
    for (int r = 0; r < trace->n_requests && !*bench->interrupted; r++) {
        int n = trace->request[r].input_length;
        struct cp_joined joined;
        trace_tokens(trace, r, n, run->token);
        double begin = seconds_now();
        int status = cp_opt_tree_join(run->tree, run->token, n, 0, r, &joined);
        run->seconds[r] = seconds_now() - begin;
        if (status != CP_OK) {
            fprintf(stderr, "chunkproof bench: the tree of opt/ refused request %d: %s\n", r,
                    cp_status_text(status));
            return EXIT_FINDING;
        }
        traffic->joined++;
        traffic->joins += run->seconds[r];
        traffic->tokens += n;
        traffic->shared += joined.n_shared;
    }
    const char *broken = cp_opt_tree_check(run->tree);
    if (broken != NULL) {
        fprintf(stderr, "chunkproof bench: the tree of opt/, after the trace: breaks %s\n", broken);
        return EXIT_FINDING;
    }
    return EXIT_RIGHT;
}

static int measure_joins(const struct bench_bench *bench, const struct trace *trace,
                         struct traffic *traffic) {
    struct run run = {NULL, NULL, NULL};
    int status = make(&run, trace, traffic->chunks) == CP_OK ? join_all(bench, &run, trace, traffic)
                                                             : no_memory();
    if (status == EXIT_RIGHT && traffic->joined > 0) {
        traffic->join = spread_of(run.seconds, traffic->joined);
    }
    cp_opt_tree_free(run.tree);
    free(run.token);
    free(run.seconds);
    return status;
}

/* ---- As the command does it ---- */

static int observe(void *context, struct trace_replay *replay) {
    const struct bench_bench *bench = context;
    (void)replay;
    return *bench->interrupted;
}

/* Returns an exit status; *seconds and *figures of the replay, *chunks that it takes. */
static int replay(const struct bench_bench *bench, const struct trace *trace, int retain, int check,
                  struct trace_figures *figures, double *seconds, int *chunks) {
    struct bench_bench copy = *bench;
    struct trace_settings settings = {.ms_per_token = 30,
                                      .retain = retain,
                                      .check = check,
                                      .hash_bits = 64,
                                      .opt = 1,
                                      .observe = observe,
                                      .context = &copy};
    long long needed = 0;
    double begin = seconds_now();
    if (trace_needed_chunks(trace, &settings, &needed) != 0 || needed > CP_OPT_MOST) {
        return no_memory();
    }
    *chunks = (int)needed;
    settings.capacity = needed > 0 ? (int)needed : 1;
    trace_replay(trace, &settings, figures);
    *seconds = seconds_now() - begin;
    if (figures->end == TRACE_VIOLATION) {
        fprintf(stderr, "chunkproof bench: the tree of opt/ is wrong on this trace; "
                        "`chunkproof trace --tree opt --retain` says where\n");
        return EXIT_FINDING;
    }
    return figures->end == TRACE_OUT_OF_MEMORY ? no_memory() : EXIT_RIGHT;
}

static int measure_replays(const struct bench_bench *bench, const struct trace *trace,
                           struct traffic *traffic) {
    struct trace_figures figures = {.end = TRACE_COMPLETE};
    int chunks = 0;
    int status = replay(bench, trace, 0, TRACE_CHECK_NONE, &figures, &traffic->serve, &chunks);
    traffic->appended = figures.output_tokens;
    return status != EXIT_RIGHT ? status
                                : replay(bench, trace, 1, TRACE_CHECK_SAMPLED, &figures,
                                         &traffic->replay, &traffic->chunks);
}

int traffic_measure(const struct bench_bench *bench, const char *file, int smoke,
                    struct traffic *traffic) {
    struct trace trace;
    memset(traffic, 0, sizeof *traffic);
    trace_init(&trace, BLOCK);
    int status = get(&trace, file, smoke);
    if (status == EXIT_RIGHT) {
        traffic->requests = trace.n_requests;
        status = measure_replays(bench, &trace, traffic);
    }
    if (status == EXIT_RIGHT && !*bench->interrupted) {
        status = measure_joins(bench, &trace, traffic);
    }
    if (status == EXIT_RIGHT && !*bench->interrupted) {
        traffic->source = file != NULL ? trace_source(file) : "generated";
    }
    trace_free(&trace);
    return status;
}
