/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/trace/replay.h"

#include <stdlib.h>
#include <string.h>

#include "chunkproof/status.h"
#include "cli/trace/operation.h"

/* The tree, empty. */
static int make_tree(struct trace_replay *replay) {
    const struct trace *trace = replay->trace;
    const struct trace_settings *settings = replay->settings;
    struct cp_opt_sizes sizes = {.capacity = settings->capacity,
                                 .chunk_size = trace->block_size,
                                 .max_sequences = CP_MAX_SEQUENCES,
                                 .max_depth = 1,
                                 .hash_bits = settings->hash_bits,
                                 .seed = 1};
    if (!settings->opt) {
        return cp_tree_new(&replay->tree, settings->capacity, trace->block_size,
                           settings->hash_bits);
    }
    for (int r = 0; r < trace->n_requests; r++) {
        long long tokens =
            (long long)trace->request[r].input_length + trace->request[r].output_length;
        int chunks = (int)((tokens + trace->block_size - 1) / trace->block_size);
        sizes.max_depth = chunks > sizes.max_depth ? chunks : sizes.max_depth;
    }
    return cp_opt_tree_new(&replay->opt_tree, &sizes);
}

static int make_checker(struct trace_replay *replay) {
    return replay->tree != NULL
               ? trace_checker_init(&replay->checker, replay->trace, &replay->model, replay->tree)
               : trace_checker_init_opt(&replay->checker, replay->trace, &replay->model,
                                        replay->opt_tree, replay->handle, replay->token);
}

static int set_up(struct trace_replay *replay) {
    const struct trace *trace = replay->trace;
    const struct trace_settings *settings = replay->settings;
    int longest = CP_MAX_SEQUENCES; /* a decoding step has a token for each sequence */
    for (int r = 0; r < trace->n_requests; r++) {
        int length = trace->request[r].input_length + trace->request[r].output_length;
        longest = length > longest ? length : longest;
    }
    replay->token = malloc((size_t)longest * sizeof *replay->token);
    replay->sequence = malloc(CP_MAX_SEQUENCES * sizeof *replay->sequence);
    replay->hash = malloc(CP_MAX_DEPTH * sizeof *replay->hash);
    replay->handle = calloc((size_t)trace->n_requests + 1, sizeof *replay->handle);
    if (replay->token == NULL || replay->sequence == NULL || replay->hash == NULL ||
        replay->handle == NULL || make_tree(replay) != CP_OK) {
        return -1;
    }
    return trace_schedule_init(&replay->schedule, trace, settings->ms_per_token,
                               settings->retain) == 0 &&
                   trace_model_init(&replay->model, trace->block_size, trace->n_requests) == 0 &&
                   make_checker(replay) == 0
               ? 0
               : -1;
}

static void tear_down(struct trace_replay *replay) {
    trace_checker_free(&replay->checker);
    trace_model_free(&replay->model);
    trace_schedule_free(&replay->schedule);
    cp_tree_free(replay->tree);
    cp_opt_tree_free(replay->opt_tree);
    free(replay->handle);
    free(replay->token);
    free(replay->sequence);
    free(replay->hash);
}

void trace_replay(const struct trace *trace, const struct trace_settings *settings,
                  struct trace_figures *figures) {
    struct trace_replay replay = {.trace = trace, .settings = settings, .figures = figures};
    memset(figures, 0, sizeof *figures);
    if (set_up(&replay) != 0) {
        figures->end = TRACE_OUT_OF_MEMORY;
    } else {
        while (trace_run_event(&replay, trace_schedule_next(&replay.schedule)) == 0) {
        }
        figures->violation = replay.checker.violation;
    }
    tear_down(&replay);
}
