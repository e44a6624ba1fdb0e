/* SPDX-License-Identifier: Apache-2.0 */
#define _POSIX_C_SOURCE 200809L /* posix_spawn, readlink */

#include "gate/source/words.h"

#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

/* ---- Commands ---- */

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
    }
}

void gate_words_split(struct gate_words *words, const char *text) {
    while (*text != '\0') {
        size_t length = strcspn(text, " ");
        if (length > 0) {
            gate_words_add(words, "%.*s", (int)length, text);
        }
        text += length + strspn(text + length, " ");
    }
}

/* Its exit status, or -1; says which signal ended it. */
static int wait_for(const struct gate_words *words, pid_t process) {
    int status;
    while (waitpid(process, &status, 0) < 0) {
        if (errno != EINTR) {
            return -1;
        }
    }
    if (WIFSIGNALED(status)) {
        fprintf(stderr, "chunkproof: %s was ended by a signal: %s\n", words->word[0],
                strsignal(WTERMSIG(status)));
    }
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

int gate_words_run(struct gate_words *words) {
    pid_t process;
    words->word[words->n] = NULL;
    int error = posix_spawnp(&process, words->word[0], NULL, NULL, words->word, environ);
    if (error != 0) {
        fprintf(stderr, "chunkproof: %s: %s\n", words->word[0], strerror(error));
        return -1;
    }
    return wait_for(words, process);
}

/* All that comes, so that who writes it is not held up. */
static void read_all(int fd, char *text, size_t size) {
    char rest[256];
    size_t n = 0;
    ssize_t got;
    do {
        got = n + 1 < size ? read(fd, text + n, size - 1 - n) : read(fd, rest, sizeof rest);
        n += got > 0 && n + 1 < size ? (size_t)got : 0;
    } while (got > 0 || (got < 0 && errno == EINTR));
    text[n] = '\0';
}

int gate_words_read(struct gate_words *words, char *text, size_t size) {
    posix_spawn_file_actions_t files;
    int ends[2], status = -1;
    pid_t process;
    text[0] = '\0';
    words->word[words->n] = NULL;
    if (pipe(ends) != 0) {
        return -1;
    }
    int error = posix_spawn_file_actions_init(&files);
    if (error == 0) {
        error = posix_spawn_file_actions_adddup2(&files, ends[1], STDOUT_FILENO) != 0 ||
                posix_spawn_file_actions_addclose(&files, ends[0]) != 0 ||
                posix_spawn_file_actions_addopen(&files, STDERR_FILENO, "/dev/null", O_WRONLY, 0) !=
                    0 ||
                posix_spawnp(&process, words->word[0], &files, NULL, words->word, environ) != 0;
        posix_spawn_file_actions_destroy(&files);
    }
    close(ends[1]);
    if (error == 0) {
        read_all(ends[0], text, size);
        status = wait_for(words, process);
    }
    close(ends[0]);
    return status;
}

/* The first of these that is there, from the directory of this program. */
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
            "chunkproof: %s was not found near this program; give the kernel as a shared object\n",
            place[n - 1]);
    return -1;
}

int gate_find(char path[GATE_MOST_PATH], const char *installed, const char *in_tree) {
    char places[3][96];
    (void)snprintf(places[0], sizeof places[0], "../%s", installed);
    (void)snprintf(places[1], sizeof places[1], "../../%s", in_tree);
    (void)snprintf(places[2], sizeof places[2], "../%s", in_tree);
    return find(path, (const char *const[]){places[0], places[1], places[2]}, 3);
}

int gate_find_built(char path[GATE_MOST_PATH], const char *name) {
    char installed[96];
    (void)snprintf(installed, sizeof installed, "../lib/%s", name);
    return find(path, (const char *const[]){installed, name}, 2);
}
