/* SPDX-License-Identifier: Apache-2.0 */
/* Attention kernels of every declared arithmetic class (NUM-6 to NUM-8), emulated: one query row
 * and head. A kernel is a struct of options; class_of() says what such a kernel declares. */
#ifndef CHUNKPROOF_FUZZ_EMULATE_H
#define CHUNKPROOF_FUZZ_EMULATE_H

#include "chunkproof/kernel.h"
#include "chunkproof/number.h"
#include "chunkproof/tolerance.h"
#include "fuzz/tolerance/sums.h"

/* One row and head. The numbers are of the input's format. */
struct problem {
    int n, d;
    double scale;
    double *q, *k, *v; /* [d], [n][d], [n][d] */
    double *shift;     /* [n], numbers of binary32 (NUM-14); NULL: none */
    double *room;      /* [n]: where shift is when there is one; NULL: nowhere */
};

/* Where the scale comes in. With `bits` log2(e) is folded into it, and the exponential is 2^x. */
enum scaling {
    SCALE_AFTER,     /* the sum is scaled */
    SCALE_BEFORE,    /* the query is scaled, in binary32 */
    SCALE_BEFORE_16, /* and rounded to the format of the keys, a short one */
    SCALE_FUSED,     /* in the argument: s * scale - (m * scale), the difference rounded once */
    N_SCALINGS
};

enum merging {
    MERGE_RUNNING,  /* one state, brought to the new maximum at each chunk; sums go on from it */
    MERGE_SEPARATE, /* the same, but a chunk's sums are made apart and then added */
    MERGE_CHAIN,    /* a state for each chunk, merged one after the other */
    MERGE_BALANCED,
    MERGE_RANDOM,  /* any two at a time */
    MERGE_AT_ONCE, /* all, at the maximum of all */
    N_MERGINGS
};

/* What the exponential's declared error does to it. */
enum bias { BIAS_NONE, BIAS_ANY, BIAS_UP, BIAS_DOWN, N_BIASES };

/* Wrong kernels, modelled on defects that shipped (emulate.c has where each comes in, self_test.c
 * their names). */
enum wrong {
    RIGHT,
    NO_RESCALE_N,
    NO_RESCALE_O,
    FACTORS_SWAPPED,
    WRONG_BASE,
    WRONG_IDENTITY,
    STALE_MAXIMUM,
    SENTINEL_MAXIMUM,
    KEY_DROPPED,
    KEY_TWICE,
    PADDING_COUNTED,
    CHUNK_DROPPED,
    CHUNK_TWICE,
    TAIL_DROPPED,
    VALUE_ROW_OFF,
    STALE_VALUES,
    SHORT_DOT,
    SCALE_WRONG,
    SUM_OF_LAST,
    MEAN_OF_PARTS,
    POISON_READ,
    NO_DIVISION,
    ALL_ZERO,
    N_WRONG
};

struct options {
    int input; /* CP_FP16, CP_BF16, CP_FP32: q, k and v */
    enum scaling scaling;
    int bits;
    int moves_apart; /* SCALE_FUSED: factors from m * scale and m' * scale, each rounded */
    struct sum dot, row_sum, value_sum;
    double exp_error; /* the declared relative error, before the result is rounded to binary32 */
    enum bias bias;
    int flush_exp;   /* its subnormal results become 0 */
    int weights;     /* P: CP_FP32 (not rounded), CP_FP16, CP_BF16 */
    int flush;       /* subnormal numbers of P become 0 */
    int rounded_sum; /* the row sum takes the rounded P */
    int accumulator; /* of o: CP_FP32, CP_FP16 or CP_BF16 */
    int partials;    /* format of n and o when a state is stored: CP_FP32, CP_FP16 or CP_BF16 */
    int factors;     /* to what the factors of states are rounded: CP_FACTORS_... */
    enum merging merging;
    int fused_merge;
    double lazy;   /* on one state: what a score may exceed the maximum by, in its unit */
    int split;     /* chain, balanced, random, at once: chunks of one state, on which it runs */
    int immediate; /* each state is divided at once: n = 1, and m becomes its log-sum-exp */
    /* Each state is divided at once; merges multiply by exp(l_i - l), with l the result's
     * log-sum-exp. */
    int undivided;
    int part_lse;        /* to what log-sum-exps of divided states are rounded: CP_PART_LSE_... */
    int reciprocal;      /* divided by way of 1 / n */
    double divide_error; /* the relative error of a division, of 1 / n where it goes by that */
    double epsilon;      /* what is added to n before a division */
    int normalise;       /* weights are divided by n, then rounded */
    int output;
    int chunk_size;
    unsigned long long seed; /* seed of random orders */
    enum wrong wrong;
};

/* Changes options that exclude each other, so that they agree. */
void options_settle(struct options *options);

/* The options for a row of n keys: where weights are divided by n, all keys are one chunk. */
struct options options_of_row(const struct options *options, int n);

/* What a kernel writes, and what judging it needs. */
struct result {
    double *out;   /* [d] */
    double lse;    /* nats */
    double lse_of; /* its reference |m| and |ln n|, for the error of the last step: lse_error() */
    double largest_score; /* magnitude, in nats */
    int overflow; /* an intermediate number of binary16 was infinite: no execution (NUM-8) */
};

void emulate(const struct options *asked, const struct problem *problem, struct result *result);

/* The error of l = m + ln n itself, in nats (NUM-11). */
double lse_error(const struct options *options, const struct result *result);

/* NUM-7, NUM-8: what a kernel of these options declares for a problem of this size; `largest_score`
 * is the largest magnitude of a score (needed where references are rounded). */
void class_of(const struct options *options, const struct problem *problem, double largest_score,
              struct cp_arithmetic *arithmetic, struct cp_counts *counts);

/* How far a score may exceed the maximum before the maximum changes, and a little more, in nats. */
double wait_in_nats(const struct options *options);

/* NUM-21: the largest error of a score, changed or not, in nats. */
double error_of_scores(const struct cp_score_arithmetic *arithmetic, const struct problem *problem);

/* The merges of t states: into left[i], from right[i], t - 1 of them; returns the height of the
 * tree. */
int merge_plan(const struct options *options, int t, int *left, int *right);

#endif
