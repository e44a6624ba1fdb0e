/* SPDX-License-Identifier: Apache-2.0 */
/* A compiler's command line, word by word, and files of this installation that it needs. */
#ifndef CHUNKPROOF_GATE_SOURCE_WORDS_H
#define CHUNKPROOF_GATE_SOURCE_WORDS_H

#include <stddef.h>

#define GATE_MOST_PATH 4096 /* bytes of a path, with its end */

/* The words of a command. */
#define GATE_MOST_WORDS 500

struct gate_words {
    char *word[GATE_MOST_WORDS];
    size_t n;
    char text[16384]; /* where the words are */
    size_t used;
    int too_long; /* 1: a word did not fit, and the command is refused */
};

/* Adds one word, formatted as printf() does; the second function adds the words of a text, which
 * blanks separate. */
void gate_words_add(struct gate_words *words, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void gate_words_split(struct gate_words *words, const char *text);

/* Runs the command, which prints its own errors, and ends it with all that it started after so many
 * seconds, or when the user interrupts. Its exit status, or -1 after saying why there is none. */
int gate_words_run(struct gate_words *words, double seconds);

/* Runs the command and keeps the first size - 1 bytes of its standard output; its standard error is
 * discarded. Its exit status, or -1, also when it takes longer than so many seconds. */
#define GATE_READ_SECONDS 5.0
int gate_words_read(struct gate_words *words, char *text, size_t size);

/* A file or directory of this installation. Where this program is installed, it lies beside bin/;
 * in a source tree, one or two directories above the build directory; where somebody copied both,
 * beside this program. 0, or -1: it is not there. */
int gate_find(char path[GATE_MOST_PATH], const char *installed, const char *in_tree);

/* A library of this build: in this program's directory, or in lib/ where it is installed. */
int gate_find_built(char path[GATE_MOST_PATH], const char *name);

#endif
