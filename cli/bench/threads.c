/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE /* clock_gettime, sched_setaffinity */

#include "cli/bench/threads.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <time.h>

#include "cli/base/clock.h"

#define MOST_TURNS 2000 /* of waiting at work */

struct crew {
    atomic_int n_here;
    atomic_int n_wanted; /* -1: not all could be made, go home */
    bench_work *work;
    void *context;
};

struct member {
    struct crew *crew;
    pthread_t thread;
    int number;
    double begin, end, cpu;
};

static double thread_worked(void) {
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* Puts each thread on a processor of its own, if there are enough: two threads that start on the
 * same one stay there for most of their work, some milliseconds. Where the system does not allow
 * it, threads are left where they are. */
static void take_processor(int number) {
    cpu_set_t allowed, mine;
    if (sched_getaffinity(0, sizeof allowed, &allowed) != 0) {
        return;
    }
    CPU_ZERO(&mine);
    for (int cpu = 0, before = 0; cpu < CPU_SETSIZE; cpu++) {
        if (CPU_ISSET(cpu, &allowed) && before++ == number) {
            CPU_SET(cpu, &mine);
            (void)sched_setaffinity(0, sizeof mine, &mine);
            return;
        }
    }
}

/* Waits for all, at work: threads that sleep may wake up late. 0 when they are not to work. */
static int meet(struct crew *crew) {
    const struct timespec moment = {.tv_nsec = 50000};
    int wanted = atomic_load(&crew->n_wanted);
    atomic_fetch_add(&crew->n_here, 1);
    for (int turn = 0; wanted >= 0 && atomic_load(&crew->n_here) < wanted; turn++) {
        if (turn < MOST_TURNS) {
            (void)sched_yield();
        } else {
            (void)nanosleep(&moment,
                            NULL); /* where only one thread goes on at a time, as under valgrind */
        }
        wanted = atomic_load(&crew->n_wanted);
    }
    return wanted >= 0;
}

static void *live(void *of) {
    struct member *member = of;
    take_processor(member->number);
    if (meet(member->crew)) {
        double worked = thread_worked();
        member->begin = seconds_now();
        member->crew->work(member->crew->context, member->number);
        member->end = seconds_now();
        member->cpu = thread_worked() - worked;
    }
    return NULL;
}

int bench_threads_run(int n, bench_work *work, void *context, struct bench_time *time) {
    struct crew crew = {.work = work, .context = context};
    struct member *member = calloc((size_t)n, sizeof *member);
    int made = 0;
    if (member == NULL) {
        return -1;
    }
    atomic_init(&crew.n_here, 0);
    atomic_init(&crew.n_wanted, n);
    for (; made < n; made++) {
        member[made] = (struct member){.crew = &crew, .number = made};
        if (pthread_create(&member[made].thread, NULL, live, &member[made]) != 0) {
            atomic_store(&crew.n_wanted, -1);
            break;
        }
    }
    double first = 0.0, last = 0.0;
    time->cpu = 0.0;
    for (int i = 0; i < made; i++) {
        pthread_join(member[i].thread, NULL);
        first = i == 0 || member[i].begin < first ? member[i].begin : first;
        last = i == 0 || member[i].end > last ? member[i].end : last;
        time->cpu += member[i].cpu;
    }
    time->wall = last - first;
    free(member);
    return made == n ? 0 : -1;
}
