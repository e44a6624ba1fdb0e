/* SPDX-License-Identifier: Apache-2.0 */
#define _POSIX_C_SOURCE 200809L /* mkdtemp, posix_spawn, readlink */

#include "gate/gate/compile.h"

#include <errno.h>
#include <limits.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

/* The directory that has chunkproof/kernel.h: beside bin/ where this program is installed, and one or two above a build
 * directory. */
static int find_include(char *path, size_t size) {
    static const char *const places[] = {"/../include", "/../../include"};
    char program[PATH_MAX];
    ssize_t length = readlink("/proc/self/exe", program, sizeof program - 1);
    program[length > 0 ? length : 0] = '\0';
    char *end = strrchr(program, '/');
    for (size_t i = 0; end != NULL && i < 2; i++) {
        char header[PATH_MAX + 64];
        *end = '\0';
        (void)snprintf(path, size, "-I%s%s", program, places[i]);
        (void)snprintf(header, sizeof header, "%s/chunkproof/kernel.h", path + 2);
        if (access(header, R_OK) == 0) {
            return 0;
        }
    }
    fputs("chunkproof gate: <chunkproof/kernel.h> is nowhere near this program: compile the kernel "
          "yourself, with cc -shared -fPIC\n",
          stderr);
    return -1;
}

/* Words are separated by spaces; `text` is cut at them. */
static size_t split(char *text, char **word, size_t most) {
    size_t n = 0;
    char *rest = text;
    for (char *next = strtok_r(text, " ", &rest); next != NULL && n < most;
         next = strtok_r(NULL, " ", &rest)) {
        word[n++] = next;
    }
    return n;
}

/* The compiler's exit status, -1 when it cannot be started; it says itself what is wrong with the source. */
static int run(char **arguments) {
    pid_t process;
    int status;
    int error = posix_spawnp(&process, arguments[0], NULL, NULL, arguments, environ);
    if (error != 0) {
        fprintf(stderr, "chunkproof gate: %s: %s; set CC to a C compiler\n", arguments[0],
                strerror(error));
        return -1;
    }
    while (waitpid(process, &status, 0) < 0) {
        if (errno != EINTR) {
            return -1;
        }
    }
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static int compile(const char *source, char *object) {
    enum { MOST_WORDS = 40 };
    const char *cc = getenv("CC"), *flags = getenv("CFLAGS");
    char include[PATH_MAX + 32], name[PATH_MAX], words[1024];
    char *argument[MOST_WORDS + 16];
    if (find_include(include, sizeof include) != 0) {
        return -1;
    }
    (void)snprintf(words, sizeof words, "%s %s", cc != NULL ? cc : "cc",
                   flags != NULL ? flags : "-O2");
    (void)snprintf(name, sizeof name, "%s", source);
    size_t n = split(words, argument, MOST_WORDS);
    char *const rest[] = {"-shared", "-fPIC", include, "-o", object, name, "-lm", NULL};
    memcpy(&argument[n], rest, sizeof rest);
    if (run(argument) != 0) {
        fprintf(stderr, "chunkproof gate: %s: it does not compile\n", source);
        return -1;
    }
    return 0;
}

static int ends_with(const char *text, const char *end) {
    size_t n = strlen(text), m = strlen(end);
    return n > m && strcmp(text + n - m, end) == 0;
}

int gate_object_new(struct gate_object *object, const char **file) {
    memset(object, 0, sizeof *object);
    if (ends_with(*file, ".cu")) {
        fprintf(stderr,
                "chunkproof gate: %s: a kernel in CUDA cannot be compiled here: give a C source, "
                "or a shared object that works on the host\n",
                *file);
        return -1;
    }
    if (!ends_with(*file, ".c")) {
        return 0;
    }
    (void)snprintf(object->directory, sizeof object->directory, "/tmp/chunkproof-XXXXXX");
    if (mkdtemp(object->directory) == NULL) {
        fprintf(stderr, "chunkproof gate: /tmp: no directory can be made there: %s\n",
                strerror(errno));
        object->directory[0] = '\0';
        return -1;
    }
    (void)snprintf(object->file, sizeof object->file, "%s/kernel.so", object->directory);
    if (compile(*file, object->file) != 0) {
        gate_object_free(object);
        return -1;
    }
    *file = object->file;
    return 0;
}

void gate_object_free(struct gate_object *object) {
    if (object->directory[0] != '\0') {
        (void)unlink(object->file);
        (void)rmdir(object->directory);
        object->directory[0] = '\0';
    }
}
