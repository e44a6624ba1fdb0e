/* SPDX-License-Identifier: Apache-2.0 */
/* A kernel that is given as source: compiled into a directory of its own, which is removed again. */
#ifndef CHUNKPROOF_GATE_SOURCE_COMPILE_H
#define CHUNKPROOF_GATE_SOURCE_COMPILE_H

#include <stddef.h>

#define GATE_MOST_PATH 4096 /* bytes of a path, with its end */

struct gate_object {
    char directory[1024]; /* "": there is nothing to remove */
    char file[1056];      /* the shared object */
};

/* Where a kernel's arrays are to be when its source leaves that open. */
enum gate_place {
    GATE_ANYWHERE, /* on a GPU if there are one and nvcc, else on the executor */
    GATE_ON_GPU,
    GATE_ON_EXECUTOR
};

/* The directory is in $TMPDIR, or /tmp. A file named *.c is compiled by $CC (cc) with $CFLAGS (-O2), with this library; one named *.cu by nvcc, or for the executor by $CXX (g++)
 * with $CXXFLAGS (-O2); any other is taken as it is: object->file is its name. 0, or -1 after saying what is wrong, as this
 * command. */
int gate_object_new(struct gate_object *object, const char **file, enum gate_place place,
                    const char *command);
void gate_object_free(struct gate_object *object);

/* ---- Of compile.c, for compile_cuda.c and lines.c ---- */

/* The words of a command. */
#define GATE_MOST_WORDS 80

struct gate_words {
    char *word[GATE_MOST_WORDS];
    size_t n;
    char text[4096]; /* where the words are */
    size_t used;
};

/* Adds a word, as printf() has it; or the words of a text, which spaces separate. What does not fit is left out, and
 * the compiler says what is missing. */
void gate_words_add(struct gate_words *words, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void gate_words_split(struct gate_words *words, const char *text);

/* Runs the command: its exit status, or -1 after saying that it cannot be started; it says itself what else is wrong. */
int gate_words_run(struct gate_words *words);

/* Runs the command and keeps the first size - 1 bytes that it writes to standard output; what it says of errors goes
 * nowhere. Its exit status, or -1. */
int gate_words_read(struct gate_words *words, char *text, size_t size);

/* A file or directory of this installation: beside bin/ where this program is installed, or one or two above a build
 * directory. 0, or -1: it is not there. */
int gate_find(char path[GATE_MOST_PATH], const char *installed, const char *in_tree);

/* A library of this build: beside this program, or in lib/ where it is installed. */
int gate_find_built(char path[GATE_MOST_PATH], const char *name);

/* Compiles a kernel in CUDA into object->file. 0, or -1 after saying what is wrong. */
int gate_compile_cuda(const struct gate_object *object, const char *source, enum gate_place place);

#endif
