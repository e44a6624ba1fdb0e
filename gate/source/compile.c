/* SPDX-License-Identifier: Apache-2.0 */
#define _POSIX_C_SOURCE 200809L /* mkdtemp */

#include "gate/source/compile.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "gate/source/words.h"

/* ---- C ---- */

static int compile_c(const struct gate_object *object, const char *source) {
    const char *cc = getenv("CC"), *flags = getenv("CFLAGS");
    struct gate_words words = {.n = 0};
    char include[GATE_MOST_PATH], library[GATE_MOST_PATH];
    if (gate_find(include, "include/chunkproof/kernel.h", "include/chunkproof/kernel.h") != 0 ||
        gate_find_built(library, "libchunkproof.a") != 0) {
        return -1;
    }
    *strstr(include, "/chunkproof/kernel.h") = '\0';
    gate_words_split(&words, cc != NULL ? cc : "cc");
    gate_words_split(&words, flags != NULL ? flags : "-O2");
    gate_words_split(&words, "-shared -fPIC");
    gate_words_add(&words, "-I%s", include);
    gate_words_add(&words, "-o");
    gate_words_add(&words, "%s", object->file);
    gate_words_add(&words, "%s", source);
    gate_words_add(&words, "%s", library);
    gate_words_add(&words, "-lm");
    return gate_words_run(&words);
}

/* ---- The object ---- */

static int ends_with(const char *text, const char *end) {
    size_t n = strlen(text), m = strlen(end);
    return n > m && strcmp(text + n - m, end) == 0;
}

int gate_object_new(struct gate_object *object, const char **file, enum gate_place place,
                    const char *command) {
    int is_cuda = ends_with(*file, ".cu");
    memset(object, 0, sizeof *object);
    if (!is_cuda && place != GATE_ANYWHERE) {
        fprintf(stderr, "chunkproof %s: %s: --on applies only to a source in CUDA (*.cu); %s\n",
                command, *file,
                ends_with(*file, ".c") ? "this one runs on the CPU"
                                       : "a shared object runs where it was built for");
        return -1;
    }
    if (!is_cuda && !ends_with(*file, ".c")) {
        return 0;
    }
    if (access(*file, R_OK) != 0) {
        fprintf(stderr, "chunkproof %s: %s: %s\n", command, *file, strerror(errno));
        return -1;
    }
    const char *tmp = getenv("TMPDIR");
    int length = snprintf(object->directory, sizeof object->directory, "%s/chunkproof-XXXXXX",
                          tmp != NULL && tmp[0] != '\0' ? tmp : "/tmp");
    errno = ENAMETOOLONG;
    if (length >= (int)sizeof object->directory || mkdtemp(object->directory) == NULL) {
        fprintf(stderr,
                "chunkproof %s: %s: no directory can be made there ($TMPDIR sets the place): %s\n",
                command, object->directory, strerror(errno));
        object->directory[0] = '\0';
        return -1;
    }
    (void)snprintf(object->file, sizeof object->file, "%s/kernel.so", object->directory);
    int status = is_cuda ? gate_compile_cuda(object, *file, place) : compile_c(object, *file);
    if (status != 0) {
        if (status > 0) { /* else it was not tried, and said why */
            fprintf(stderr,
                    "chunkproof %s: %s: it does not compile (the environment variables %s set the "
                    "compiler and its options)\n",
                    command, *file, is_cuda ? "CXX and CXXFLAGS, or NVCC," : "CC and CFLAGS");
        }
        gate_object_free(object);
        return -1;
    }
    *file = object->file;
    return 0;
}

void gate_object_free(struct gate_object *object) {
    static const char *const files[] = {"kernel.so", "kernel.o", "kernel.cpp"};
    if (object->directory[0] != '\0') {
        for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
            char name[sizeof object->directory + 16];
            (void)snprintf(name, sizeof name, "%s/%s", object->directory, files[i]);
            (void)unlink(name);
        }
        (void)rmdir(object->directory);
        object->directory[0] = '\0';
    }
}
