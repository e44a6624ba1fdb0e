/* SPDX-License-Identifier: Apache-2.0 */
/* Random problems and kernels, each from one number: the printed seed repeats it. */
#ifndef CHUNKPROOF_FUZZ_INPUTS_H
#define CHUNKPROOF_FUZZ_INPUTS_H

#include "fuzz/tolerance/emulate.h"

enum family {
    NORMAL,      /* N(0,1) */
    MASSIVE,     /* two channels 50 times larger */
    ONE_HOT,     /* one key above all others */
    TIES,        /* few different scores */
    SHIFTED,     /* all scores far below 0 */
    FAR,         /* all scores so far from 0 that a score, or a reference, is rounded by 1 in 200 */
    SUBNORMAL,   /* the smallest numbers */
    OFFSET,      /* values with a common offset */
    CANCELLING,  /* values whose weighted sum nearly vanishes */
    WIDE,        /* values of all magnitudes */
    RISING,      /* the maximum changes with each key */
    EQUAL,       /* query 0: all weights alike */
    EDGES,       /* a few keys at the ends of chunks have nearly all the weight */
    UNDERFLOW,   /* weights at the lower end of P's format, large values */
    ADVERSARIAL, /* values signed so that the roundings of P add up */
    N_FAMILIES
};

const char *family_name(enum family family);

/* Room for n keys of d numbers; problem_free() gives it back. */
void problem_new(struct problem *problem, int most_n, int most_d);
void problem_free(struct problem *problem);

/* Fills q, k and v of p->n keys of p->d numbers, in the input's format of the kernel. */
void problem_fill(struct problem *problem, enum family family, const struct options *options,
                  unsigned long long *random);

/* n and d: mostly few keys, so that there are many problems, and now and then up to most_n and
 * most_d. */
void problem_size(struct problem *problem, int most_n, int most_d, unsigned long long *random);

/* A random kernel of any class; below, one whose chunks suit n. */
void options_random(struct options *options, int n, unsigned long long *random);

/* A whole case of the mass run, from its seed; the problem has room for the most keys and
 * numbers. */
#define MASS_MOST_KEYS 2048
#define MASS_MOST_DIM  128
void mass_case(unsigned long long seed, struct options *options, enum family *family,
               struct problem *problem);

/* The kernel and the problem in one line. */
void options_print(const struct options *options, char *text, int size);

#endif
