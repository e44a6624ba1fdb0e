/* SPDX-License-Identifier: Apache-2.0 */
/* All cases, by several threads, each with a process of the kernel. A case depends on its number
 * alone, so it does not matter who runs it, or when. */
#define _POSIX_C_SOURCE 200809L /* isatty */

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/base/clock.h"
#include "gate/merge/check.h"

#define HANGS       3 /* after so many nothing more is asked */
#define REFUSALS    3 /* after so many refused cases, and none taken: the kernel takes none */
#define STACK_BYTES ((size_t)8 << 20)

struct crew {
    const struct gate_options *options;
    merge_starter *start;
    void *context;
    const volatile int *stop;
    double began;
    pthread_mutex_t lock; /* of all that follows */
    struct merge_result *result;
    long long next, end; /* cases */
    double next_progress;
};

struct worker {
    struct crew *crew;
    struct runner *runner;
    pthread_t thread;
};

/* On a terminal, a line over the one before. */
static void show_progress(struct crew *c, int last) {
    if (!isatty(STDERR_FILENO) || (!last && seconds_now() < c->next_progress)) {
        return;
    }
    c->next_progress = seconds_now() + 0.2;
    fputs("\r\033[K", stderr);
    if (!last) {
        fprintf(stderr, "%lld of %lld cases, %lld wrong", c->result->cases, c->result->asked,
                merge_wrong_cases(c->result));
    }
    (void)fflush(stderr);
}

static int is_enough(const struct crew *c) {
    const struct merge_result *r = c->result;
    return (c->options->first && merge_wrong_cases(r) > 0) || r->verdicts[GATE_HANGS] >= HANGS ||
           (r->cases == 0 && r->refused >= REFUSALS);
}

/* A case that nobody has; -1: there is none, or the check has to stop. */
static long long take_case(struct crew *c) {
    pthread_mutex_lock(&c->lock);
    struct merge_result *r = c->result;
    double time = c->options->time;
    r->interrupted = r->interrupted || (*c->stop != 0 && c->next < c->end);
    r->is_late = r->is_late || (time > 0.0 && seconds_now() - c->began > time && c->next < c->end);
    int goes_on = c->next < c->end && !r->interrupted && !r->is_late && !r->failed && !is_enough(c);
    long long index = goes_on ? c->next++ : -1;
    show_progress(c, 0);
    pthread_mutex_unlock(&c->lock);
    return index;
}

static void hand_in(struct crew *c, int ran, const struct merge_found *found,
                    const struct merge_counts *counts) {
    pthread_mutex_lock(&c->lock);
    struct merge_result *r = c->result;
    r->runs += counts->runs;
    r->laws += counts->laws;
    if (ran > 0) {
        merge_result_count(r, found);
    } else if (ran < 0) {
        r->failed = 1;
    } else if (*c->stop == 0) {
        r->refused++;
        (void)snprintf(r->refusal, sizeof r->refusal, "%.*s", RUN_TEXT - 1, found->finding.of.text);
    }
    pthread_mutex_unlock(&c->lock);
}

static void work(struct worker *w) {
    struct crew *c = w->crew;
    struct merge_found found;
    long long index;
    while ((index = take_case(c)) >= 0) {
        struct merge_counts counts = {0, 0};
        int ran = merge_check_case(c->options, w->runner, index, c->stop, &found, &counts);
        hand_in(c, ran, &found, &counts);
    }
}

static void *work_in_thread(void *context) {
    struct worker *w = context;
    w->runner = w->crew->start(w->crew->context);
    if (w->runner != NULL) {
        work(w);
    } else {
        pthread_mutex_lock(&w->crew->lock);
        w->crew->result->failed = 1;
        pthread_mutex_unlock(&w->crew->lock);
    }
    runner_free(w->runner);
    return NULL;
}

/* This thread works, too. */
static void work_all(struct crew *c, struct runner *runner, struct worker *worker, int jobs) {
    pthread_attr_t attributes; /* a stack that does not depend on this process's limit */
    int started = 1, has_stack = pthread_attr_init(&attributes) == 0;
    if (has_stack && pthread_attr_setstacksize(&attributes, STACK_BYTES) == 0) {
        for (; started < jobs; started++) {
            worker[started] = (struct worker){.crew = c};
            if (pthread_create(&worker[started].thread, &attributes, work_in_thread,
                               &worker[started]) != 0) {
                break;
            }
        }
    }
    if (has_stack) {
        pthread_attr_destroy(&attributes);
    }
    worker[0] = (struct worker){.crew = c, .runner = runner};
    work(&worker[0]);
    for (int i = 1; i < started; i++) {
        pthread_join(worker[i].thread, NULL);
    }
}

int merge_check(const struct gate_options *o, struct runner *runner, merge_starter *start,
                void *context, struct merge_result *result, const volatile int *stop) {
    long long first = o->only >= 0 ? o->only : 0, cases = o->only >= 0 ? 1 : gate_cases(o);
    int jobs = o->jobs < 1 || cases == 1 ? 1 : o->jobs;
    struct crew c = {.options = o,
                     .start = start,
                     .context = context,
                     .stop = stop,
                     .began = seconds_now(),
                     .result = result,
                     .next = first,
                     .end = first + cases};
    struct worker *worker = calloc((size_t)jobs, sizeof *worker);
    memset(result, 0, sizeof *result);
    result->asked = cases;
    if (worker == NULL || pthread_mutex_init(&c.lock, NULL) != 0) {
        fputs("chunkproof gate: not enough memory\n", stderr);
        free(worker);
        return -1;
    }
    work_all(&c, runner, worker, jobs);
    result->seconds = seconds_now() - c.began;
    show_progress(&c, 1);
    pthread_mutex_destroy(&c.lock);
    free(worker);
    return result->failed ? -1 : 0;
}
