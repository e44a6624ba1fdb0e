/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/bench/forest.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "chunkproof/opt_plan.h"
#include "chunkproof/status.h"
#include "cli/base/clock.h"
#include "cli/base/command.h"
#include "cli/base/random.h"

#define MOST_BATCH 32 /* operations that are timed together */
#define SPARE      4  /* chunks of each path, for what is appended */
#define ROUNDS     40

const char *const forest_words[FOREST_OPERATIONS] = {"lookup",
                                                     "join",
                                                     "leave",
                                                     "append",
                                                     "append, in a step for all",
                                                     "plan after many joins",
                                                     "plan after a join",
                                                     "plan after a step"};

/* A tree with its sequences. */
struct stand {
    struct cp_opt_sizes sizes;
    struct cp_opt_tree *tree;
    struct cp_opt_plan *plan;
    int live, batch;
    int *handle;     /* [live + batch] of those that are alive */
    int *step_token; /* [live + batch] */
    int *prompt;     /* [batch][length] */
    int length, shared;
    int next; /* a token that was never used */
    long long next_id;
    struct prng random;
};

/* ---- Stands ---- */

static struct cp_opt_sizes sizes_of(int live, int batch, int length, int shared) {
    int per_path = length / FOREST_CHUNK + SPARE;
    return (struct cp_opt_sizes){.capacity = FOREST_GROUPS * (shared / FOREST_CHUNK) +
                                             (live + batch) * (per_path - shared / FOREST_CHUNK),
                                 .chunk_size = FOREST_CHUNK,
                                 .max_sequences = live + batch,
                                 .max_depth = per_path,
                                 .hash_bits = 64,
                                 .seed = 1};
}

/* Of chunks with their tokens, and of sequences with their paths. */
static double bytes_of(const struct cp_opt_sizes *sizes) {
    return (double)sizes->capacity * (40.0 + 4.0 * sizes->chunk_size) +
           (double)sizes->max_sequences * (128.0 + 4.0 * sizes->max_depth);
}

/* One of the prefixes, then tokens that nobody has. */
static void write_prompt(struct stand *stand, int *token) {
    int group = prng_below(&stand->random, FOREST_GROUPS);
    for (int i = 0; i < stand->shared; i++) {
        token[i] = -1 - (group * stand->shared + i);
    }
    for (int i = stand->shared; i < stand->length; i++) {
        token[i] = stand->next++;
    }
    stand->next = stand->next < 1 << 30 ? stand->next : 0; /* long after those have left */
}

static void write_prompts(struct stand *stand) {
    for (int i = 0; i < stand->batch; i++) {
        write_prompt(stand, stand->prompt + (size_t)i * (size_t)stand->length);
    }
}

static int join(struct stand *stand, const int *token) {
    struct cp_joined joined;
    int status = cp_opt_tree_join(stand->tree, token, stand->length, 0, stand->next_id++, &joined);
    if (status == CP_OK) {
        stand->handle[stand->live++] = joined.sequence;
    }
    return status;
}

static void stand_free(struct stand *stand) {
    cp_opt_tree_free(stand->tree);
    cp_opt_plan_free(stand->plan);
    free(stand->handle);
    free(stand->step_token);
    free(stand->prompt);
}

static int stand_new(struct stand *stand, int live, int batch, int length, int shared) {
    size_t most = (size_t)live + (size_t)batch;
    *stand = (struct stand){.sizes = sizes_of(live, batch, length, shared),
                            .batch = batch,
                            .length = length,
                            .shared = shared,
                            .random = {(unsigned long long)live}};
    stand->handle = malloc(most * sizeof *stand->handle);
    stand->step_token = calloc(most, sizeof *stand->step_token);
    stand->prompt = malloc((size_t)batch * (size_t)length * sizeof *stand->prompt);
    if (stand->handle == NULL || stand->step_token == NULL || stand->prompt == NULL ||
        cp_opt_tree_new(&stand->tree, &stand->sizes) != CP_OK ||
        cp_opt_plan_new(&stand->plan, &stand->sizes) != CP_OK) {
        return CP_ERROR_NO_MEMORY;
    }
    for (int i = 0; i < live; i++) {
        write_prompt(stand, stand->prompt);
        int status = join(stand, stand->prompt);
        if (status != CP_OK) {
            return status;
        }
    }
    cp_opt_plan_update(stand->plan, stand->tree);
    return CP_OK;
}

/* ---- A round ---- */

static int time_lookups(struct stand *stand, double *seconds) {
    double begin = seconds_now();
    for (int i = 0; i < stand->batch; i++) {
        struct cp_match match = cp_opt_tree_lookup(
            stand->tree, stand->prompt + (size_t)i * (size_t)stand->length, stand->length, 0);
        if (match.n_tokens != stand->shared && stand->live > FOREST_GROUPS * 8) {
            return CP_ERROR_ARGUMENT; /* each prefix is surely there */
        }
    }
    *seconds = (seconds_now() - begin) / stand->batch;
    return CP_OK;
}

/* Of prompts first .. end-1, added to *seconds. */
static int time_joins(struct stand *stand, int first, int end, double *seconds) {
    int status = CP_OK;
    double begin = seconds_now();
    for (int i = first; i < end && status == CP_OK; i++) {
        status = join(stand, stand->prompt + (size_t)i * (size_t)stand->length);
    }
    *seconds += seconds_now() - begin;
    return status;
}

/* Each sequence in its turn. */
static int time_appends(struct stand *stand, int round, double *seconds) {
    int status = CP_OK;
    double begin = seconds_now();
    for (int i = 0; i < stand->batch && status == CP_OK; i++) {
        int at = (int)(((long long)round * stand->batch + i) % stand->live);
        status = cp_opt_tree_append(stand->tree, stand->handle[at], i);
    }
    *seconds = (seconds_now() - begin) / stand->batch;
    return status;
}

static int time_step(struct stand *stand, double *seconds) {
    double begin = seconds_now();
    int status =
        cp_opt_tree_append_each(stand->tree, stand->live, stand->handle, stand->step_token);
    *seconds = (seconds_now() - begin) / stand->live;
    return status;
}

static double time_plan(struct stand *stand) {
    double begin = seconds_now();
    cp_opt_plan_update(stand->plan, stand->tree);
    return seconds_now() - begin;
}

/* Sequences at random places; those that joined last take theirs. */
static int time_leaves(struct stand *stand, double *seconds) {
    int gone[MOST_BATCH], status = CP_OK;
    for (int i = 0; i < stand->batch; i++) {
        int at = prng_below(&stand->random, stand->live);
        gone[i] = stand->handle[at];
        stand->handle[at] = stand->handle[--stand->live];
    }
    double begin = seconds_now();
    for (int i = 0; i < stand->batch && status == CP_OK; i++) {
        status = cp_opt_tree_leave(stand->tree, gone[i]);
    }
    *seconds = (seconds_now() - begin) / stand->batch;
    return status;
}

static int run_round(struct stand *stand, struct forest_size *size, int round) {
    double seconds[FOREST_OPERATIONS], joins = 0.0;
    int last = stand->batch - 1;
    write_prompts(stand);
    int status = time_lookups(stand, &seconds[FOREST_LOOKUP]);
    status = status != CP_OK ? status : time_joins(stand, 0, last, &joins);
    seconds[FOREST_PLAN_ANEW] = time_plan(stand);
    status = status != CP_OK ? status : time_joins(stand, last, stand->batch, &joins);
    seconds[FOREST_JOIN] = joins / stand->batch;
    seconds[FOREST_PLAN] = time_plan(stand);
    status = status != CP_OK ? status : time_appends(stand, round, &seconds[FOREST_APPEND]);
    status = status != CP_OK ? status : time_step(stand, &seconds[FOREST_STEP]);
    seconds[FOREST_PLAN_LENGTHS] = time_plan(stand);
    status = status != CP_OK ? status : time_leaves(stand, &seconds[FOREST_LEAVE]);
    for (int i = 0; i < FOREST_OPERATIONS && status == CP_OK; i++) {
        size->seconds[i][round] = seconds[i];
    }
    return status;
}

/* ---- All sizes, in turn ---- */

/* What a status is to the command, said. */
static int judge(int status, const struct stand *stand, const char *when) {
    const char *broken = status == CP_OK ? cp_opt_tree_check(stand->tree) : NULL;
    if (status == CP_OK && broken == NULL) {
        return EXIT_RIGHT;
    }
    if (status == CP_ERROR_NO_MEMORY) {
        fputs("chunkproof bench: out of memory for a tree\n", stderr);
        return EXIT_BAD_USE;
    }
    fprintf(
        stderr, "chunkproof bench: the tree of opt/, %d sequences, %s: %s %s\n", stand->live, when,
        broken != NULL ? "breaks" : "refused:", broken != NULL ? broken : cp_status_text(status));
    return EXIT_FINDING;
}

static int run_rounds(const struct bench_bench *bench, struct stand *stand, struct forest *forest) {
    double until = seconds_now() + 2.0 * bench->seconds;
    for (int round = 0; round < ROUNDS && !*bench->interrupted; round++) {
        if (round >= bench->least_rounds && seconds_now() > until) {
            break;
        }
        for (int i = 0; i < forest->n_sizes; i++) {
            int status =
                stand[i].tree == NULL ? CP_OK : run_round(&stand[i], &forest->size[i], round);
            if (status != CP_OK) {
                return judge(status, &stand[i], "measured");
            }
            forest->size[i].n_rounds += stand[i].tree != NULL;
        }
    }
    return EXIT_RIGHT;
}

static int measure_sizes(const struct bench_bench *bench, struct stand *stand,
                         struct forest *forest) {
    double left = bench->memory;
    int status = EXIT_RIGHT;
    for (int i = 0; i < forest->n_sizes && !*bench->interrupted; i++) {
        struct forest_size *size = &forest->size[i];
        int batch = size->live / 2 < MOST_BATCH ? size->live / 2 : MOST_BATCH;
        struct cp_opt_sizes sizes = sizes_of(size->live, batch, FOREST_PROMPT, FOREST_SHARED);
        size->needs = bytes_of(&sizes);
        if (size->needs > left) {
            continue;
        }
        left -= size->needs;
        int made = stand_new(&stand[i], size->live, batch, FOREST_PROMPT, FOREST_SHARED);
        if (made != CP_OK) {
            return judge(made, &stand[i], "made");
        }
    }
    status = run_rounds(bench, stand, forest);
    for (int i = 0; i < forest->n_sizes && status == EXIT_RIGHT; i++) {
        if (stand[i].tree != NULL) { /* as many have left as have joined */
            int same = stand[i].tree->n_sequences == forest->size[i].live;
            status = judge(same ? CP_OK : CP_ERROR_ARGUMENT, &stand[i], "in the end");
        }
    }
    return status;
}

static void fit(struct forest *forest) {
    double live[FOREST_SIZES], seconds[FOREST_SIZES];
    forest->has_law = 1;
    for (int k = 0; k < FOREST_OPERATIONS; k++) {
        int n = 0;
        for (int i = 0; i < forest->n_sizes; i++) {
            const struct forest_size *size = &forest->size[i];
            if (size->n_rounds > 0) {
                live[n] = size->live;
                seconds[n++] = bench_spread_of(size->seconds[k], size->n_rounds).median;
            }
        }
        forest->has_law = forest->has_law && bench_fit_law(live, seconds, n, &forest->law[k]) == 0;
    }
}

/* ---- The long prompt ---- */

static int time_long(struct stand *stand, double *seconds) {
    write_prompts(stand);
    *seconds = 0.0;
    int status = time_joins(stand, 0, stand->batch, seconds);
    return status != CP_OK ? status : cp_opt_tree_leave(stand->tree, stand->handle[--stand->live]);
}

static int measure_long(const struct bench_bench *bench, int live, struct forest *forest) {
    struct stand stand;
    struct bench_probe probe;
    double ignored = 0.0;
    int status = stand_new(&stand, live, 1, FOREST_LONG, FOREST_LONG_SHARED), failed = 0;
    for (int i = 0; i < ROUNDS && status == CP_OK && !failed && !*bench->interrupted; i++) {
        status = time_long(&stand, &ignored);
        status = status == CP_OK ? time_long(&stand, &forest->warm[i]) : status;
        failed = bench_limits_read(bench->limits, &probe) != 0;
        status = status == CP_OK ? time_long(&stand, &forest->cold[i]) : status;
        forest->n_long += status == CP_OK && !failed;
    }
    status = failed ? CP_ERROR_NO_MEMORY : status;
    int result = judge(status, &stand, "long prompts");
    stand_free(&stand);
    return result;
}

int forest_measure(const struct bench_bench *bench, int smoke, struct forest *forest) {
    static const int sizes[2][FOREST_SIZES] = {{10, 100, 1000, 10000, 100000}, {4, 16, 64}};
    struct stand stand[FOREST_SIZES];
    memset(stand, 0, sizeof stand);
    memset(forest, 0, sizeof *forest);
    forest->n_sizes = smoke ? 3 : FOREST_SIZES;
    for (int i = 0; i < forest->n_sizes; i++) {
        forest->size[i].live = sizes[smoke != 0][i];
    }
    int status = measure_sizes(bench, stand, forest);
    for (int i = 0; i < FOREST_SIZES; i++) {
        stand_free(&stand[i]);
    }
    if (status == EXIT_RIGHT) {
        fit(forest);
        status = measure_long(bench, smoke ? 4 : FOREST_LONG_LIVE, forest);
    }
    return status;
}
