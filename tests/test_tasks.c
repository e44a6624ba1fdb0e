/* SPDX-License-Identifier: Apache-2.0 */
/* How many processes and threads a kernel has (gate/runner/tasks.h). */
#define _GNU_SOURCE /* posix_spawn */

#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "cli/base/children.h"
#include "cli/base/clock.h"
#include "gate/runner/shared.h"
#include "gate/runner/tasks.h"

#define SECONDS 50.0 /* for a few processes to start, on a busy machine */
#define THREADS 3
#define MOST    8

static pid_t started[MOST]; /* and not ended; 0: none */

/* A shell that does that, in a group of its own. */
static pid_t start(const char *what) {
    char name[] = "sh", option[] = "-c", text[200];
    char *const words[] = {name, option, text, NULL};
    posix_spawnattr_t attributes;
    pid_t process = 0;
    assert_true(snprintf(text, sizeof text, "exec >/dev/null 2>&1; %s", what) < (int)sizeof text);
    assert_int_equal(posix_spawnattr_init(&attributes), 0);
    assert_int_equal(posix_spawnattr_setpgroup(&attributes, 0), 0);
    assert_int_equal(posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP), 0);
    assert_int_equal(children_spawn(&process, name, NULL, &attributes, words), 0);
    for (int i = 0; i < MOST; i++) {
        if (started[i] == 0) {
            started[i] = process;
            break;
        }
    }
    assert_int_equal(posix_spawnattr_destroy(&attributes), 0);
    return process;
}

static void end(pid_t process) {
    (void)kill(-process, SIGKILL);
    assert_int_equal(waitpid(process, NULL, 0), process);
    children_forget(process);
    for (int i = 0; i < MOST; i++) {
        started[i] = started[i] == process ? 0 : started[i];
    }
}

/* After a test that failed, too. */
static int end_all(void **state) {
    (void)state;
    for (int i = 0; i < MOST; i++) {
        if (started[i] != 0) {
            end(started[i]);
        }
    }
    return children_end_orphans();
}

/* Waits until there are so many, and looks once more. */
static void has(pid_t process, unsigned long n) {
    double last = seconds_now() + SECONDS;
    while (run_tasks_of(process) != n && seconds_now() < last) {
        run_sleep(0.001);
    }
    assert_int_equal(run_tasks_of(process), n);
}

static void its_own_and_theirs_count(void **state) {
    (void)state;
    pid_t three = start("sleep 60 & sleep 60 & wait");
    pid_t away = start("setsid sh -c 'sleep 60 & wait' & wait");
    has(three, 3);
    has(away, 3); /* in another session, and still its child */
    end(three);
    end(away);
}

/* Nobody knows whose they were. */
static void adopted_ones_count(void **state) {
    (void)state;
    pid_t one = start("exec sleep 60");
    has(one, 1);
    pid_t gone = start("setsid sleep 60 & setsid sh -c 'sleep 60 & wait' & :");
    has(one, 4);
    end(gone);
    has(one, 4);
    assert_int_equal(children_end_orphans(), 0);
    has(one, 1);
}

static void *wait_for_end(void *lock) {
    (void)pthread_mutex_lock(lock);
    (void)pthread_mutex_unlock(lock);
    return NULL;
}

static void threads_count(void **state) {
    pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    pthread_t threads[THREADS];
    (void)state;
    unsigned long before = run_tasks_of(getpid());
    assert_in_range(before, 1, 1000);
    assert_int_equal(pthread_mutex_lock(&lock), 0);
    for (int i = 0; i < THREADS; i++) {
        assert_int_equal(pthread_create(&threads[i], NULL, wait_for_end, &lock), 0);
    }
    has(getpid(), before + THREADS);
    assert_in_range(run_tasks(), before + THREADS, 1UL << 22);
    assert_int_equal(pthread_mutex_unlock(&lock), 0);
    for (int i = 0; i < THREADS; i++) {
        assert_int_equal(pthread_join(threads[i], NULL), 0);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(its_own_and_theirs_count, end_all),
        cmocka_unit_test_teardown(adopted_ones_count, end_all),
        cmocka_unit_test_teardown(threads_count, end_all),
    };
    if (!children_adopt()) {
        print_message("1..0 # SKIP the system does not let a process adopt others\n");
        return 77;
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
