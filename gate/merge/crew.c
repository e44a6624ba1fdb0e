/* SPDX-License-Identifier: Apache-2.0 */
/* All cases, by several threads, each with a process of the kernel. A case depends on its number
 * alone, so it does not matter who runs it, or when. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/base/clock.h"
#include "gate/merge/check.h"
#include "gate/merge/kind.h"
#include "gate/search/log.h"
#include "gate/search/state.h"
#include "gate/search/workers.h"

#define HANGS    3 /* after so many nothing more is asked */
#define REFUSALS 3 /* after so many refused cases, and none taken: the kernel takes none */

struct crew {
    const struct gate_options *options;
    const volatile int *stop;
    double began;
    pthread_mutex_t lock;    /* of all that follows */
    struct gate_state state; /* its blocks are cases: of none where there is no file */
    struct merge_result *result;
    long long first, next, end; /* cases */
    double next_progress;
};

static void show_progress(struct crew *c, int last) {
    gate_show_progress(&c->next_progress, last, c->result->cases, c->result->asked,
                       merge_wrong_cases(c->result));
}

static int is_enough(const struct crew *c) {
    const struct merge_result *r = c->result;
    return (c->options->first && merge_wrong_cases(r) > 0) || r->verdicts[GATE_HANGS] >= HANGS ||
           (r->cases == 0 && r->refused >= REFUSALS);
}

static void save_now_and_then(struct crew *c, int now) {
    c->result->failed = gate_state_keep(&c->state, now) != 0 || c->result->failed;
}

/* Once no case is to begin any more, calls of others may go on for long. */
static void note_interruption(struct crew *c) {
    if (*c->stop != 0 && c->next < c->end && !c->result->interrupted) {
        c->result->interrupted = 1;
        save_now_and_then(c, 1);
    }
}

/* A case that nobody has and that is not done; -1: there is none, or the check has to stop. */
static long long take_case(struct crew *c) {
    pthread_mutex_lock(&c->lock);
    struct merge_result *r = c->result;
    double time = c->options->time;
    while (c->next - c->first < c->state.blocks && c->state.done[c->next - c->first]) {
        c->next++;
    }
    note_interruption(c);
    r->is_late = r->is_late || (time > 0.0 && seconds_now() - c->began > time && c->next < c->end);
    int goes_on = c->next < c->end && !r->interrupted && !r->is_late && !r->failed && !is_enough(c);
    long long index = goes_on ? c->next++ : -1;
    show_progress(c, 0);
    pthread_mutex_unlock(&c->lock);
    return index;
}

/* What the rules of others say of it; nothing when they were not asked for. */
static void note(struct crew *c, struct gate_log *log, const struct merge_found *found,
                 const struct merge_counts *counts, double seconds) {
    struct gate_entry entry = {.index = found->index,
                               .values = (int)found->recipe.values,
                               .verdict = found->finding.verdict,
                               .seconds = seconds};
    gate_entry_judge(&entry, counts->judged, counts->rejected);
    if (c->options->rules && gate_log_add(log, &entry) != 0) {
        fputs("chunkproof gate: not enough memory for so many cases\n", stderr);
        c->result->failed = 1;
    }
}

static void hand_in(struct crew *c, int ran, const struct merge_found *found,
                    const struct merge_counts *counts, double seconds) {
    pthread_mutex_lock(&c->lock);
    struct merge_result *r = c->result;
    long long block = found->index - c->first;
    int is_done = ran > 0 || (ran == 0 && !counts->ended);
    r->runs += counts->runs;
    r->laws += counts->laws;
    if (ran > 0) {
        merge_result_count(r, found, seconds);
        note(c, &r->each, found, counts, seconds);
    } else if (ran < 0) {
        r->failed = 1;
    } else if (counts->ended) {
        r->interrupted = r->interrupted || *c->stop != 0;
        r->is_late = r->is_late || *c->stop == 0;
    } else {
        r->refused++;
        (void)snprintf(r->refusal, sizeof r->refusal, "%.*s", RUN_TEXT - 1, found->finding.of.text);
    }
    if (is_done && block < c->state.blocks) {
        c->state.done[block] = 1;
    }
    save_now_and_then(c, counts->ended);
    pthread_mutex_unlock(&c->lock);
}

static void work(void *task, struct runner *runner) {
    struct crew *c = task;
    const struct gate_until until = {c->stop, gate_deadline(c->began, c->options->time)};
    struct merge_found found;
    long long index;
    while ((index = take_case(c)) >= 0) {
        struct merge_counts counts = {.runs = 0};
        double began = seconds_now();
        int ran = merge_check_case(c->options, runner, index, &until, &found, &counts);
        hand_in(c, ran, &found, &counts, seconds_now() - began);
    }
}

static void failed(void *task) {
    struct crew *c = task;
    pthread_mutex_lock(&c->lock);
    c->result->failed = 1;
    pthread_mutex_unlock(&c->lock);
}

/* A check in addition to the cases, and before them: nothing has run yet. Left out on the executor,
 * where it would take long, and where the first finding is enough. */
static void run_usual(struct crew *c, struct runner *runner) {
    int is_asked = c->options->rules && !c->options->first && !runner_is_simulated(runner);
    for (int i = 0; i < MERGE_USUAL && is_asked && *c->stop == 0 && !c->result->failed; i++) {
        struct merge_found found = {.index = i, .recipe = {.values = MERGE_NORMAL}};
        struct merge_counts counts = {.runs = 0};
        double began = seconds_now();
        int ran = merge_check_usual(runner, i, &found.finding, &counts);
        c->result->runs += counts.runs;
        c->result->failed = ran < 0;
        if (ran > 0) {
            note(c, &c->result->usual, &found, &counts, seconds_now() - began);
        }
    }
}

/* From the saved state on. 0, or -1: it failed, after a message. */
static int run_all(struct crew *c, const struct gate_workers *workers, struct runner *runner) {
    const struct gate_options *o = c->options;
    struct merge_result *r = c->result;
    long long cases = c->end - c->first;
    int jobs = o->jobs < 1 || cases == 1 || o->rules ? 1 : o->jobs; /* rules: one by one */
    if (gate_state_open(&c->state, &merge_kind, r, o, runner, cases,
                        o->state != NULL ? cases : 0) != 0) {
        return -1;
    }
    r->interrupted = r->is_late = r->failed = 0;
    r->asked = cases;
    run_usual(c, runner);
    r->failed = gate_workers_run(workers, runner, jobs) != 0 || r->failed;
    r->seconds += seconds_now() - c->began;
    save_now_and_then(c, 1);
    show_progress(c, 1);
    return r->failed ? -1 : 0;
}

int merge_check(const struct gate_options *o, struct runner *runner, gate_starter *start,
                void *context, struct merge_result *result, const volatile int *stop) {
    long long first = o->only >= 0 ? o->only : 0, cases = o->only >= 0 ? 1 : gate_cases(o);
    struct crew c = {.options = o,
                     .stop = stop,
                     .began = seconds_now(),
                     .result = result,
                     .first = first,
                     .next = first,
                     .end = first + cases};
    const struct gate_workers workers = {start, context, work, failed, &c};
    memset(result, 0, sizeof *result);
    if (pthread_mutex_init(&c.lock, NULL) != 0) {
        fputs("chunkproof gate: not enough memory\n", stderr);
        return -1;
    }
    int status = run_all(&c, &workers, runner);
    gate_state_free(&c.state);
    pthread_mutex_destroy(&c.lock);
    return status;
}
