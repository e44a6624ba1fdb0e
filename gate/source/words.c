/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE /* pipe2, posix_spawn, readlink */

#include "gate/source/words.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/base/children.h"
#include "cli/base/clock.h"
#include "cli/base/interrupt.h"

/* ---- Commands ---- */

#define SLICE          5   /* milliseconds between two looks at a process */
#define SECONDS_TO_END 5.0 /* for a process that is told to end, before it is ended */

void gate_words_add(struct gate_words *words, const char *format, ...) {
    size_t left = sizeof words->text - words->used;
    char *at = words->text + words->used;
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(at, left, format, arguments);
    va_end(arguments);
    if (length >= 0 && (size_t)length < left && words->n + 1 < GATE_MOST_WORDS) {
        words->word[words->n++] = at;
        words->used += (size_t)length + 1;
    } else {
        words->too_long = 1;
    }
}

void gate_words_split(struct gate_words *words, const char *text) {
    static const char blanks[] = " \t\n\r";
    text += strspn(text, blanks);
    while (*text != '\0') {
        size_t length = strcspn(text, blanks);
        gate_words_add(words, "%.*s", (int)length, text);
        text += length + strspn(text + length, blanks);
    }
}

/* ---- Running ---- */

/* In a process group of its own, so that all of it can be ended. 0, or an error number. */
static int start(struct gate_words *words, const posix_spawn_file_actions_t *files,
                 pid_t *process) {
    posix_spawnattr_t attributes;
    sigset_t broken;
    words->word[words->n] = NULL;
    int error = posix_spawnattr_init(&attributes);
    if (error != 0) {
        return error;
    }
    sigemptyset(&broken);
    sigaddset(&broken, SIGPIPE);
    error = posix_spawnattr_setpgroup(&attributes, 0) ||
            posix_spawnattr_setsigdefault(&attributes, &broken) ||
            posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGDEF);
    if (error == 0) {
        error = children_spawn(process, words->word[0], files, &attributes, words->word);
    }
    posix_spawnattr_destroy(&attributes);
    return error;
}

/* Lets the process remove its files first, as compilers do when they are told to end. */
static void tell_to_end(pid_t process) {
    double end = seconds_now() + SECONDS_TO_END;
    kill(-process, SIGTERM);
    while (!children_has_ended(process) && seconds_now() < end) {
        (void)poll(NULL, 0, SLICE);
    }
}

/* Waits until the process has ended, or *stop is not 0. Returns its exit status; or -1, after a
 * message that says what ended it. */
static int wait_for(const struct gate_words *words, pid_t process, double seconds,
                    const volatile sig_atomic_t *stop) {
    double end = seconds_now() + seconds;
    int status = -1, ended = 0, stopped = 0;
    while (!ended && !stopped) {
        ended = children_has_ended(process);
        stopped = !ended && (*stop || seconds_now() >= end);
        if (!ended && !stopped) {
            (void)poll(NULL, 0, SLICE);
        }
    }
    if (stopped) {
        tell_to_end(process);
    }
    kill(-process, SIGKILL); /* first, while the number is still its own */
    while (waitpid(process, &status, 0) < 0) {
        if (errno != EINTR) {
            return -1;
        }
    }
    children_forget(process);
    if (stopped && !*stop) {
        fprintf(stderr, "chunkproof: %s did not end within %g s, and was ended\n", words->word[0],
                seconds);
    } else if (!stopped && WIFSIGNALED(status)) {
        fprintf(stderr, "chunkproof: %s was ended by a signal: %s\n", words->word[0],
                strsignal(WTERMSIG(status)));
    }
    return !stopped && WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

int gate_words_run(struct gate_words *words, double seconds) {
    pid_t process;
    if (words->too_long) {
        fprintf(stderr,
                "chunkproof: the command line of %s is too long: all options together may have %d "
                "words and %zu bytes\n",
                words->n > 0 ? words->word[0] : "the compiler", GATE_MOST_WORDS - 1,
                sizeof words->text);
        return -1;
    }
    int error = start(words, NULL, &process);
    if (error != 0) {
        fprintf(stderr, "chunkproof: %s: %s\n", words->word[0], strerror(error));
        return -1;
    }
    return wait_for(words, process, seconds, &interrupted);
}

/* Reads everything until the end, or that time, so that the writer is not blocked. */
static void read_all(int fd, char *text, size_t size, double end) {
    char rest[256];
    size_t n = 0;
    ssize_t got = 1;
    while (got != 0 && seconds_now() < end) {
        struct pollfd one = {fd, POLLIN, 0};
        if (poll(&one, 1, 100) <= 0) {
            continue;
        }
        got = n + 1 < size ? read(fd, text + n, size - 1 - n) : read(fd, rest, sizeof rest);
        if (got < 0 && errno != EINTR) {
            break;
        }
        n += got > 0 && n + 1 < size ? (size_t)got : 0;
    }
    text[n] = '\0';
}

int gate_words_read(struct gate_words *words, char *text, size_t size) {
    static const volatile sig_atomic_t never; /* a report of an interrupted run has lines, too */
    double end = seconds_now() + GATE_READ_SECONDS;
    posix_spawn_file_actions_t files;
    int ends[2], status = -1;
    pid_t process;
    text[0] = '\0';
    if (words->too_long || pipe2(ends, O_CLOEXEC) != 0) {
        return -1;
    }
    int error = posix_spawn_file_actions_init(&files);
    if (error == 0) {
        error = posix_spawn_file_actions_adddup2(&files, ends[1], STDOUT_FILENO) != 0 ||
                posix_spawn_file_actions_addopen(&files, STDERR_FILENO, "/dev/null", O_WRONLY, 0) !=
                    0 ||
                start(words, &files, &process) != 0;
        posix_spawn_file_actions_destroy(&files);
    }
    close(ends[1]);
    if (error == 0) {
        read_all(ends[0], text, size, end);
        double left = end - seconds_now();
        status = wait_for(words, process, left > 0.0 ? left : 0.0, &never);
    }
    close(ends[0]);
    return status;
}

/* ---- Files ---- */

/* The first of these paths that exists, starting from the directory of this program. */
static int find(char path[GATE_MOST_PATH], const char *const *place, size_t n) {
    char program[GATE_MOST_PATH];
    ssize_t length = readlink("/proc/self/exe", program, sizeof program - 1);
    program[length > 0 ? length : 0] = '\0';
    char *end = strrchr(program, '/');
    if (end != NULL) {
        *end = '\0';
    }
    for (size_t i = 0; i < n; i++) {
        if (snprintf(path, GATE_MOST_PATH, "%s/%s", program, place[i]) < GATE_MOST_PATH &&
            access(path, R_OK) == 0) {
            return 0;
        }
    }
    fprintf(stderr,
            "chunkproof: %s was not found near this program: run make, or give the kernel as a "
            "shared object\n",
            place[n - 1]);
    return -1;
}

int gate_find(char path[GATE_MOST_PATH], const char *installed, const char *in_tree) {
    char places[3][96];
    (void)snprintf(places[0], sizeof places[0], "../%s", installed);
    (void)snprintf(places[1], sizeof places[1], "../../%s", in_tree);
    (void)snprintf(places[2], sizeof places[2], "../%s", in_tree);
    return find(path, (const char *const[]){places[0], places[1], places[2], installed}, 4);
}

int gate_find_built(char path[GATE_MOST_PATH], const char *name) {
    char installed[96];
    (void)snprintf(installed, sizeof installed, "../lib/%s", name);
    return find(path, (const char *const[]){installed, name}, 2);
}
