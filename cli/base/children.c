/* SPDX-License-Identifier: Apache-2.0 */
#define _DEFAULT_SOURCE /* posix_spawn, waitid, prctl */

#include "cli/base/children.h"

#include <dirent.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "cli/base/clock.h"

extern char **environ;

#define MOST_OWN    4096 /* more than the jobs of a gate, and a few tools */
#define END_SECONDS 5.0  /* for processes that nobody expects */

/* A child is either in the list or an orphan: a new one is listed before anybody looks. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pid_t own[MOST_OWN];
static int n_own, adopts;

/* ---- Own ---- */

int children_spawn(pid_t *process, const char *program, const posix_spawn_file_actions_t *actions,
                   const posix_spawnattr_t *attributes, char *const words[]) {
    int error = EAGAIN;
    pthread_mutex_lock(&lock);
    if (n_own < MOST_OWN) {
        error = posix_spawnp(process, program, actions, attributes, words, environ);
    }
    if (error == 0) {
        own[n_own++] = *process;
    }
    pthread_mutex_unlock(&lock);
    return error;
}

int children_has_ended(pid_t process) {
    siginfo_t info;
    memset(&info, 0, sizeof info);
    return waitid(P_PID, (id_t)process, &info, WEXITED | WNOHANG | WNOWAIT) == 0 ? info.si_pid != 0
                                                                                 : errno != EINTR;
}

void children_forget(pid_t process) {
    pthread_mutex_lock(&lock);
    for (int i = 0; i < n_own; i++) {
        if (own[i] == process) {
            own[i] = own[--n_own];
            break;
        }
    }
    pthread_mutex_unlock(&lock);
}

static int is_own(pid_t process) {
    for (int i = 0; i < n_own; i++) {
        if (own[i] == process) {
            return 1;
        }
    }
    return 0;
}

int children_is_own(pid_t process) {
    pthread_mutex_lock(&lock);
    int found = is_own(process);
    pthread_mutex_unlock(&lock);
    return found;
}

/* ---- Orphans ---- */

int children_adopt(void) {
    adopts = prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) == 0 &&
             access("/proc/thread-self/children", R_OK) == 0;
    return adopts;
}

int children_are_adopted(void) {
    return adopts;
}

/* Ends the orphans that the file lists, as "123 456 ": how many. More than fit are for the next
 * time. */
static int end_listed(const char *name) {
    char list[4096];
    FILE *file = fopen(name, "r");
    size_t n = file != NULL ? fread(list, 1, sizeof list - 1, file) : 0;
    int found = 0;
    if (file != NULL) {
        (void)fclose(file);
    }
    while (n > 0 && list[n - 1] != ' ') { /* a number that is cut */
        n--;
    }
    list[n] = '\0';
    for (char *at = list, *end; *at != '\0'; at = end) {
        pid_t process = (pid_t)strtol(at, &end, 10);
        if (end == at) {
            break;
        }
        end += strspn(end, " ");
        if (!is_own(process)) {
            kill(process, SIGKILL);
            (void)waitpid(process, NULL, WNOHANG);
            found++;
        }
    }
    return found;
}

/* The children of each thread. */
static int end_all(void) {
    DIR *threads = opendir("/proc/self/task");
    const struct dirent *thread;
    int found = 0;
    while (threads != NULL && (thread = readdir(threads)) != NULL) {
        char name[300];
        (void)snprintf(name, sizeof name, "/proc/self/task/%.20s/children", thread->d_name);
        found += thread->d_name[0] != '.' ? end_listed(name) : 0;
    }
    if (threads != NULL) {
        (void)closedir(threads);
    }
    return found;
}

/* The children of what is ended become orphans in turn. */
int children_end_orphans(void) {
    double end = seconds_now() + END_SECONDS;
    int found = adopts;
    while (found > 0 && seconds_now() < end) {
        pthread_mutex_lock(&lock);
        found = end_all();
        pthread_mutex_unlock(&lock);
        if (found > 0) {
            nanosleep(&(struct timespec){0, 200000}, NULL);
        }
    }
    return found > 0 ? -1 : 0;
}
