/* SPDX-License-Identifier: Apache-2.0 */
#define _POSIX_C_SOURCE 200809L /* isatty */

#include "gate/search/workers.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "cli/base/clock.h"
#include "gate/runner/runner.h"

#define STACK_BYTES ((size_t)8 << 20)

struct worker {
    const struct gate_workers *all;
    pthread_t thread;
};

static void *work_in_thread(void *context) {
    const struct worker *w = context;
    struct runner *runner = w->all->start(w->all->context);
    if (runner == NULL) {
        w->all->failed(w->all->task);
    } else {
        w->all->work(w->all->task, runner);
    }
    runner_free(runner);
    return NULL;
}

/* Returns how many threads there are, with this one. */
static int start_threads(const struct gate_workers *all, struct worker *worker, int jobs) {
    pthread_attr_t attributes; /* a stack that does not depend on this process's limit */
    int started = 1;
    if (pthread_attr_init(&attributes) != 0) {
        return started;
    }
    if (pthread_attr_setstacksize(&attributes, STACK_BYTES) == 0) {
        for (; started < jobs; started++) {
            worker[started].all = all;
            if (pthread_create(&worker[started].thread, &attributes, work_in_thread,
                               &worker[started]) != 0) {
                break;
            }
        }
    }
    pthread_attr_destroy(&attributes);
    return started;
}

int gate_workers_run(const struct gate_workers *all, struct runner *runner, int jobs) {
    struct worker *worker = calloc((size_t)jobs, sizeof *worker);
    if (worker == NULL) {
        fputs("chunkproof gate: not enough memory\n", stderr);
        return -1;
    }
    int started = start_threads(all, worker, jobs);
    all->work(all->task, runner);
    for (int i = 1; i < started; i++) {
        pthread_join(worker[i].thread, NULL);
    }
    free(worker);
    return 0;
}

void gate_show_progress(double *next, int last, long long cases, long long asked, long long wrong) {
    if (!isatty(STDERR_FILENO) || (!last && seconds_now() < *next)) {
        return;
    }
    *next = seconds_now() + 0.2;
    fputs("\r\033[K", stderr);
    if (!last) {
        fprintf(stderr, "%lld of %lld cases, %lld wrong", cases, asked, wrong);
    }
    (void)fflush(stderr);
}
