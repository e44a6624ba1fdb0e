/* SPDX-License-Identifier: Apache-2.0 */
/* Which sizes were tried, and which the kernel never took. */
#ifndef CHUNKPROOF_GATE_SEARCH_SIZES_H
#define CHUNKPROOF_GATE_SEARCH_SIZES_H

#include "gate/case/problem.h"

enum gate_size {
    GATE_SEQUENCES,
    GATE_ROWS,     /* query rows of a sequence */
    GATE_ALL_ROWS, /* of a call */
    GATE_KEYS_OF,  /* keys of a sequence */
    GATE_CHUNKS,   /* of a path */
    GATE_POOL,     /* chunks of the pool */
    GATE_SHARERS,  /* sequences that share a chunk */
    GATE_SHARED,   /* chunks that are shared */
    GATE_KV_HEADS,
    GATE_GROUP,
    GATE_D,
    GATE_C,
    GATE_D_V, /* of values with a width of their own; 0: there are none */
    GATE_SIZES
};

/* How each is called: in JSON, and in words after the number. */
extern const char *const gate_size_names[GATE_SIZES];
extern const char *const gate_size_words[GATE_SIZES];

/* Sizes that a recipe asks for by itself: how often one was taken, and how often a case with it was
 * refused. Of sequences, rows and the pool the powers of two that they reach count. */
enum gate_asked {
    GATE_ASKED_SEQUENCES,
    GATE_ASKED_ROWS,
    GATE_ASKED_POOL,
    GATE_ASKED_KV_HEADS,
    GATE_ASKED_GROUP,
    GATE_ASKED_D,
    GATE_ASKED_C,
    GATE_ASKED_D_V, /* of values with a width of their own */
    GATE_ASKED
};
extern const char *const gate_asked_names[GATE_ASKED];
int gate_asked_is_least(enum gate_asked which); /* 1: the power of two, and more */

#define GATE_ASKED_VALUES 48
struct gate_asked_of {
    int value[GATE_ASKED_VALUES], n;
    long long taken[GATE_ASKED_VALUES], refused[GATE_ASKED_VALUES];
};

struct gate_sizes {
    long long largest[GATE_SIZES];
    struct gate_asked_of asked[GATE_ASKED]; /* values in order */
};

/* Notes the sizes of a case that was judged. */
void gate_sizes_tried(struct gate_sizes *sizes, const struct gate_problem *problem);

/* Notes whether the kernel takes a recipe. */
void gate_sizes_asked(struct gate_sizes *sizes, const struct gate_recipe *recipe, int takes);

/* 1: value i of a size was refused each time. */
int gate_size_is_refused(const struct gate_asked_of *asked, int i);

void gate_sizes_add(struct gate_sizes *all, const struct gate_sizes *one);

#endif
