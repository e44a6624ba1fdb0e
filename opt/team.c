/* SPDX-License-Identifier: Apache-2.0 */
#include "opt/team.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

/* How often a thread checks whether the others have come, for some microseconds, before it
 * sleeps. */
#define LOOKS 4000

struct opt_team {
    int n_threads;
    atomic_int here;        /* threads that have come to the present barrier */
    atomic_uint generation; /* barriers passed */
    pthread_mutex_t mutex;  /* guards the sleep of those that wait for the generation to change */
    pthread_cond_t passed;
    opt_work_function *work; /* NULL: go home */
    void *problem;
    pthread_t thread[]; /* [n_threads]; the first is not used */
};

struct member {
    struct opt_team *team;
    int number;
};

static void pause_a_moment(void) {
#if defined(__x86_64__)
    __builtin_ia32_pause();
#endif
}

static void wait_for(struct opt_team *team, unsigned generation) {
    for (int i = 0; i < LOOKS; i++) {
        if (atomic_load_explicit(&team->generation, memory_order_acquire) != generation) {
            return;
        }
        pause_a_moment();
    }
    pthread_mutex_lock(&team->mutex);
    while (atomic_load_explicit(&team->generation, memory_order_acquire) == generation) {
        pthread_cond_wait(&team->passed, &team->mutex);
    }
    pthread_mutex_unlock(&team->mutex);
}

void cp_opt_team_meet(struct opt_team *team) {
    unsigned generation = atomic_load_explicit(&team->generation, memory_order_relaxed);
    if (atomic_fetch_add_explicit(&team->here, 1, memory_order_acq_rel) + 1 < team->n_threads) {
        wait_for(team, generation);
        return;
    }
    atomic_store_explicit(&team->here, 0, memory_order_relaxed);
    pthread_mutex_lock(&team->mutex);
    atomic_store_explicit(&team->generation, generation + 1, memory_order_release);
    pthread_cond_broadcast(&team->passed);
    pthread_mutex_unlock(&team->mutex);
}

static void *live(void *of) {
    struct member *member = of;
    struct opt_team *team = member->team;
    int number = member->number;
    free(member);
    for (;;) {
        cp_opt_team_meet(team);
        if (team->work == NULL) {
            return NULL;
        }
        team->work(team->problem, number);
        cp_opt_team_meet(team);
    }
}

void cp_opt_team_run(struct opt_team *team, opt_work_function *work, void *problem) {
    team->work = work;
    team->problem = problem;
    cp_opt_team_meet(team);
    work(problem, 0);
    cp_opt_team_meet(team);
}

static int start(struct opt_team *team, int number) {
    struct member *member = malloc(sizeof *member);
    if (member == NULL) {
        return -1;
    }
    *member = (struct member){team, number};
    if (pthread_create(&team->thread[number], NULL, live, member) != 0) {
        free(member);
        return -1;
    }
    return 0;
}

static void destroy(struct opt_team *team) {
    pthread_cond_destroy(&team->passed);
    pthread_mutex_destroy(&team->mutex);
    free(team);
}

/* A team that is not complete cannot meet: it is made smaller first. */
struct opt_team *cp_opt_team_new(int n_threads) {
    struct opt_team *team = calloc(1, sizeof *team + (size_t)n_threads * sizeof(pthread_t));
    if (team == NULL) {
        return NULL;
    }
    pthread_mutex_init(&team->mutex, NULL);
    pthread_cond_init(&team->passed, NULL);
    atomic_init(&team->here, 0);
    atomic_init(&team->generation, 0);
    team->n_threads = n_threads;
    for (int i = 1; i < n_threads; i++) {
        if (start(team, i) != 0) {
            /* those that are there wait at their first barrier for the ones that did not come */
            atomic_fetch_add_explicit(&team->here, n_threads - i, memory_order_acq_rel);
            team->work = NULL;
            cp_opt_team_meet(team);
            for (int j = 1; j < i; j++) {
                pthread_join(team->thread[j], NULL);
            }
            destroy(team);
            return NULL;
        }
    }
    return team;
}

void cp_opt_team_free(struct opt_team *team) {
    if (team == NULL) {
        return;
    }
    team->work = NULL;
    cp_opt_team_meet(team);
    for (int i = 1; i < team->n_threads; i++) {
        pthread_join(team->thread[i], NULL);
    }
    destroy(team);
}

int cp_opt_team_size(const struct opt_team *team) {
    return team->n_threads;
}
