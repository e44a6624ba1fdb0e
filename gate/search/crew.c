/* SPDX-License-Identifier: Apache-2.0 */
/* Runs all cases in blocks. Each block has its own start, so it does not matter who runs which
 * block, or when. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/base/clock.h"
#include "gate/search/budget.h"
#include "gate/search/check.h"
#include "gate/search/state.h"
#include "gate/search/tally.h"
#include "gate/search/workers.h"

#define BLOCK 48 /* cases */

struct crew {
    const struct gate_options *options;
    gate_starter *start;
    void *context;
    const volatile int *stop;
    long long first, end; /* cases */
    struct gate_budget budget;

    pthread_mutex_t lock; /* of all that follows */
    struct gate_state state;
    struct gate_result result, partial; /* of blocks that were ended, and of the others */
    long long next;                     /* block that nobody has yet */
    long long cases, wrong; /* cases that were run, including blocks that are under way */
    int interrupted, failed, is_late;
    double began, next_progress;
};

/* ---- Under the lock ---- */

static void show_progress(struct crew *c, int last) {
    gate_show_progress(&c->next_progress, last, c->cases, c->end - c->first, c->wrong);
}

/* Takes a block that nobody has and that is not done. -1: there is none, or the check has to
 * stop. */
static long long take_block(struct crew *c) {
    pthread_mutex_lock(&c->lock);
    while (c->next < c->state.blocks && c->state.done[c->next]) {
        c->next++;
    }
    int go_on = c->next < c->state.blocks && !c->interrupted && !c->failed && !c->is_late &&
                !(c->options->first && c->wrong > 0) && !gate_is_enough(c->options, &c->result);
    long long block = go_on ? c->next++ : -1;
    pthread_mutex_unlock(&c->lock);
    return block;
}

static void save_now_and_then(struct crew *c, int now) {
    c->failed = gate_state_keep(&c->state, now) != 0 || c->failed;
}

/* What a block came to. */
static void hand_in(struct crew *c, long long block, struct gate_result *result, int failed) {
    pthread_mutex_lock(&c->lock);
    struct gate_result *to = &c->result;
    if (failed || result->interrupted) {
        to = &c->partial;
    } else {
        c->state.done[block] = 1;
    }
    if (gate_result_add(to, result) != 0) {
        fputs("chunkproof gate: not enough memory for so many cases\n", stderr);
        failed = 1;
    }
    c->failed = c->failed || failed;
    save_now_and_then(c, 0);
    pthread_mutex_unlock(&c->lock);
}

/* ---- Workers ---- */

struct worker {
    struct crew *crew;
    long long cases, wrong; /* of the block under way, as known to the crew */
};

/* After each case. */
static int done(void *context, const struct gate_result *result) {
    struct worker *w = context;
    struct crew *c = w->crew;
    long long wrong = result->cases - result->verdicts[GATE_RIGHT];
    pthread_mutex_lock(&c->lock);
    c->cases += result->cases - w->cases;
    c->wrong += wrong - w->wrong;
    w->cases = result->cases;
    w->wrong = wrong;
    if (*c->stop != 0 && !c->interrupted) { /* other calls may go on for long */
        c->interrupted = 1;
        save_now_and_then(c, 1);
    }
    c->is_late =
        c->is_late || (c->options->time > 0.0 && seconds_now() - c->began > c->options->time);
    int stop = c->interrupted || c->failed || c->is_late;
    show_progress(c, 0);
    pthread_mutex_unlock(&c->lock);
    return stop;
}

static void work(void *task, struct runner *runner) {
    struct crew *c = task;
    struct worker w = {.crew = c};
    struct gate_result *result = malloc(sizeof *result);
    const struct gate_until until = {c->stop, gate_deadline(c->began, c->options->time)};
    long long block;
    while (result != NULL && (block = take_block(c)) >= 0) {
        long long first = c->first + block * BLOCK, end = first + BLOCK;
        struct gate_block of = {
            first, end < c->end ? end : c->end, block == 0, until, &c->budget, done, &w};
        w.cases = w.wrong = 0;
        int failed = gate_check_block(c->options, runner, &of, result) != 0;
        hand_in(c, block, result, failed);
    }
    free(result);
}

static void failed_to_start(void *task) {
    struct crew *c = task;
    pthread_mutex_lock(&c->lock);
    c->failed = 1;
    pthread_mutex_unlock(&c->lock);
}

static int jobs_of(const struct crew *c) {
    const struct gate_options *o = c->options;
    long long jobs = o->rules || o->only >= 0 ? 1 : o->jobs;
    return (int)(jobs < 1                 ? 1
                 : jobs > c->state.blocks ? (c->state.blocks > 0 ? c->state.blocks : 1)
                                          : jobs);
}

/* From the saved state on. 0, or -1: it failed, after a message. */
static int run_all(struct crew *c, struct runner *runner) {
    long long cases = c->end - c->first;
    if (gate_state_open(&c->state, &gate_attention, &c->result, c->options, runner, cases,
                        (cases + BLOCK - 1) / BLOCK) != 0) {
        return -1;
    }
    c->cases = c->result.cases;
    c->wrong = gate_wrong_cases(&c->result);
    const struct gate_workers workers = {c->start, c->context, work, failed_to_start, c};
    if (gate_workers_run(&workers, runner, jobs_of(c)) != 0) {
        return -1;
    }
    c->result.seconds += seconds_now() - c->began;
    save_now_and_then(c, 1);
    show_progress(c, 1);
    return c->failed ? -1 : 0;
}

int gate_check(const struct gate_options *o, struct runner *runner, gate_starter *start,
               void *context, struct gate_result *result, const volatile int *stop) {
    struct crew *c = calloc(1, sizeof *c);
    memset(result, 0, sizeof *result);
    if (c == NULL) {
        fputs("chunkproof gate: not enough memory\n", stderr);
        return -1;
    }
    c->options = o;
    c->start = start;
    c->context = context;
    c->stop = stop;
    c->first = o->only >= 0 ? o->only : 0;
    c->end = o->only >= 0 ? o->only + 1 : gate_cases(o);
    c->began = seconds_now();
    pthread_mutex_init(&c->lock, NULL);
    gate_budget_init(&c->budget, o->memory);
    int failed = run_all(c, runner);
    /* What was found counts, whatever ended the run. */
    failed = gate_result_add(&c->result, &c->partial) != 0 || failed;
    *result = c->result;
    result->interrupted = c->interrupted;
    result->is_late = c->is_late;
    result->asked = c->end - c->first;
    gate_state_free(&c->state);
    gate_budget_free(&c->budget);
    pthread_mutex_destroy(&c->lock);
    free(c);
    return failed ? -1 : 0;
}
