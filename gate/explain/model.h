/* SPDX-License-Identifier: Apache-2.0 */
/* Attention of one row and head, in stages; and a choice that differs from the right one in a
 * stage.
 *
 *      row r, head a of sequence s
 *        | 1 SEES      how many keys: n_tokens[s] less the rows behind r
 *      key 0 ... key n - 1
 *        | 2 PATH      whose table, which chunk of it, which slot: table[s][j / c], j % c
 *        |   RUNS      of prompts with modules, and where there are windows, in place of 1 and 2:
 *        |             the keys of each run that are seen
 *        | 3 PLACE     which K/V head, which strides, which array
 *        | 4 SELECT    which keys are counted: each, once
 *      K_0 V_0 ... K_(m-1) V_(m-1)
 *        | 5 QUERY     which row and head of Q, which elements of it
 *        | 6 ROTATE    K_j by a row of a table, where keys have not their positions (GATE-14)
 *        |   SCALE     K_j and V_j by the scale of another place, where they have 8 bits
 *        |   SCORE     s_j = scale * q K_j, capped and biased
 *      s_0 ... s_(m-1)
 *        | 7 WEIGHT    w_j = exp(s_j - maximum), in n and in o: tiles, warps, splits, merges
 *      n = sum w_j, with that of a sink, o = sum w_j V_j
 *        | 8 DIVIDE    o / n, and the log-sum-exp: maximum + log(n)
 *        | 9 WRITE     into element i of out, and into lse
 *      out[r][a], lse[r][a]
 *
 * A struct explain_choice has fields for each stage: a way to do it (most ways stand in ways.h,
 * some below), and numbers that the way takes. Where all are 0, each stage is done as it must be. A
 * mistake is an entry of a table (mistakes.h) that sets some fields of one stage. Worked through,
 * one of mistakes_sums.c:
 *
 *      {"as if the sum of weights had not been rescaled when the maximum grew (MERGE-4), "
 *       "in steps of {a key}", 40,
 *       {.weight = {ONLINE, .rescale = RESCALES_O_ALONE}}, {POWERS(parts.tile, 1, 128)}}
 *
 * Stages 1 to 6 are as they must be, and give the scores, say 1, 3, 2 in steps of 1 key. Stage 7
 * weighs key 0 against the maximum so far, 1: w = exp(0). Key 1 is a new maximum, 3: the sum of
 * weighted values is multiplied by exp(1 - 3), the sum of weights is not. So n = 1 + 1 + exp(-1),
 * where exp(-2) + 1 + exp(-1) would be right, and out is too small by that factor. The axis has the
 * odometer of search.c try it in steps of 1 key, of 2, 4, 8, ... */
#ifndef CHUNKPROOF_GATE_EXPLAIN_MODEL_H
#define CHUNKPROOF_GATE_EXPLAIN_MODEL_H

#include <stddef.h>

#include "gate/explain/run.h"
#include "gate/explain/ways.h"
#include "gate/explain/ways_biases.h"

#define LOG2_E 1.4426950408889634
#define LN_2   0.6931471805599453
#define LN_10  2.302585092994046

#define LOG_FLOAT     88.7228   /* exp() of more overflows binary32, */
#define LOG_HALF      11.0902   /* and binary16; */
#define ZERO_FLOAT    (-103.98) /* exp() of less is 0 in binary32, */
#define ZERO_HALF     (-17.33)  /* and binary16 */
#define OVER_BINARY16 65520.0   /* from there on the nearest is infinity */

static inline int least(int a, int b) {
    return a < b ? a : b;
}

static inline int most(int a, int b) {
    return a > b ? a : b;
}

/* ---- Choices ---- */

/* clang-format off */

enum explain_sees { EXPLAIN_SEES(EXPLAIN_NAME) };
enum explain_whose { EXPLAIN_WHOSE(EXPLAIN_NAME) };
enum explain_path { EXPLAIN_PATH(EXPLAIN_NAME) };
enum explain_runs { EXPLAIN_OF_RUNS(EXPLAIN_NAME) };
enum explain_mask { EXPLAIN_MASKS(EXPLAIN_NAME) };
enum explain_bits { EXPLAIN_BITS(EXPLAIN_NAME) };
enum explain_counts { EXPLAIN_COUNTS(EXPLAIN_NAME) };
enum explain_chunks { EXPLAIN_CHUNKS(EXPLAIN_NAME) };
enum explain_head { EXPLAIN_HEAD(EXPLAIN_NAME) };
enum explain_place { EXPLAIN_PLACE(EXPLAIN_NAME) };
enum explain_select { EXPLAIN_SELECT(EXPLAIN_NAME) };
enum explain_kind { EXPLAIN_PARTS(EXPLAIN_NAME) };
enum explain_query { EXPLAIN_QUERY(EXPLAIN_NAME) };
enum explain_elements { EXPLAIN_ELEMENTS(EXPLAIN_NAME) };
enum explain_rotate { EXPLAIN_ROTATIONS(EXPLAIN_NAME) };
enum explain_score {
    SCORE_OWN,
    EXPLAIN_SCALES(EXPLAIN_NAME)
    EXPLAIN_BENDS(EXPLAIN_NAME)
    SCORE_OVERFLOWS, /* binary16: NaN where one is infinite; */
    SCORE_PRODUCTS_OVERFLOW
};
enum explain_dequantise { EXPLAIN_DEQUANTISES(EXPLAIN_NAME) };
enum explain_change { EXPLAIN_CHANGES(EXPLAIN_NAME) EXPLAIN_BIASES(EXPLAIN_NAME) };
enum explain_sink { EXPLAIN_SINKS(EXPLAIN_NAME) };
enum explain_weight { EXPLAIN_WEIGHTS(EXPLAIN_NAME) };
enum explain_maximum { EXPLAIN_MAXIMA(EXPLAIN_NAME) };
enum explain_rescale { EXPLAIN_RESCALES(EXPLAIN_NAME) };
enum explain_merge { EXPLAIN_MERGES(EXPLAIN_NAME) };
enum explain_other { EXPLAIN_OTHERS(EXPLAIN_NAME) };
enum explain_reference { EXPLAIN_REFERENCES(EXPLAIN_NAME) };
enum explain_function { EXPLAIN_FUNCTIONS(EXPLAIN_NAME) };
enum explain_divide { EXPLAIN_DIVISORS(EXPLAIN_NAME) };
enum explain_lse { EXPLAIN_LSE(EXPLAIN_NAME) };
enum explain_write { EXPLAIN_WRITES(EXPLAIN_NAME) };

enum explain_array { OF_BOTH, OF_K, OF_V }; /* K and V */
enum explain_sums { IN_BOTH, IN_N, IN_O };  /* the sums of weights and of weighted values */
enum explain_keys { ALL_KEYS, SHARED_KEYS, OWN_KEYS, LAST_CHUNK_KEYS };
enum explain_unit { NATS, BITS, DECADES, HALF_NATS }; /* a unit of measure, of weight.limit */

#define A_SEQUENCE   (1 << 20) /* rows and heads of a tile: all of its sequence */
#define A_CHUNK      0         /* keys of a tile, */
#define SHARED_FIRST (-1)      /* or so, but all in shared chunks at once */
#define ALL_AT_ONCE  (1 << 20)

/* by, to, a, b, number: numbers that stand in the line of the way. keys: the way is for these keys
 * of the row alone (enum explain_keys). array: for K, for V or for both (enum explain_array). type:
 * a number is rounded to it (chunkproof/number.h). */
struct explain_choice {
    /* 1 SEES. A tile has so many pairs (row, head), numbered row by row; by_heads: head by head.
     * keys: how many, of a block of keys. */
    struct { int way, by, pairs, by_heads, keys; } sees;
    /* 2 PATH. whose: whose path it is, by `number`. way: from a key to its chunk and slot. */
    struct { int whose, number, keys, way, by, to, array; } path;
    /* RUNS. way: how many keys a run has, and where it begins. counts: how often it is read, with
     * at and times. chunk: whose chunk of the list it has. by_range: 1, its descriptors are those
     * of [begin, end), without `served`. keys: all runs, those of descriptors, or its own. */
    struct { int way, by, keys, counts, at, times, chunk, array, by_range; } runs;
    /* RUNS, WINDOW-1. keys: of all runs, those of descriptors, or its own. */
    struct { int way, by, keys; } mask;
    struct { int way, by, keys; } bits;
    /* 3 PLACE. head: which K/V head, by `number`, for `keys`. way: the strides, for `array`. */
    struct { int head, number, keys, way, array; } place;
    /* 5 QUERY. row, head: how far away another query is, or a number. pairs, by_heads: as above. */
    struct { int way, row, head, pairs, by_heads; } query;
    /* 5 QUERY, its elements. times: those of a way are counted 2 * times; 0 leaves them out. a: of
     * ELEMENTS_SCALED and those after it a type. b: of groups, 1 divides all by the first's sum. */
    struct { int way, a, b, times; } elements;
    /* 6 ROTATE. way: of `keys`. */
    struct { int way, by, keys; } rotate;
    /* 6 SCORE, of a cache of 8 bits (CONV-10): of `array`. */
    struct { int way, by, array; } dequantise;
    /* 6 SCORE. */
    struct { int way, by, keys, type; } score;
    /* 6 SCORE, its cap and bias (SCORE-1, SCORE-2, SCORE-5). */
    struct { int way, by; } change;
    /* What stands above gives the keys and their scores, which are kept from choice to choice. */
    /* 7 WEIGHT, of the sink (SCORE-3). sums: IN_N is the result alone, IN_O the log-sum-exp. */
    struct { int way, by, sums; } sink;
    /* 4 SELECT. which: the keys that are counted so many times, in these sums (enum explain_sums).
     * width: of SELECT_OF_EACH. */
    struct { int which, a, b, width, times, sums; } select;
    /* 4, 7, 8: how keys are cut into parts: the keys of a tile, and how many splits or warps. */
    struct explain_partition { int kind, tile, n; } parts;
    /* 7 WEIGHT. */
    struct {
        int way;
        /* ONLINE */
        int maximum, rescale;           /* enum explain_maximum, enum explain_rescale */
        int tiles;                      /* how many, of RESCALES_N_AT_FIRST and _O_AT_FIRST */
        int backwards;                  /* 1: from the last key on */
        int own_alone;                  /* 1: of the sequence's own chunks alone */
        int to_chunk;                   /* 1: a tile ends where its chunk does */
        int by_most;                    /* 1: merged, and lse, by the largest score */
        /* MERGED */
        int merge;                      /* enum explain_merge */
        /* FUNCTION */
        int function;                   /* enum explain_function */
        int so_far;                     /* 1: against the maximum so far; 0: each tile's own */
        /* REFERENCE, OTHER_QUERY */
        int reference;                  /* enum explain_reference */
        int whose, block;               /* enum explain_other; rows of FIRST_OF_BLOCK */
        int merged_by_own;              /* 1: parts are merged by the row's own maxima */
        /* SHUFFLED, ROUNDED_SUM */
        int lanes;                      /* of a part of a warp; that have a sum each */
        int side_by_side;               /* 1: a lane has elements side by side; 0: each 32nd */
        /* The rest */
        int slots;                      /* PADDED: up to a multiple; 0: of a chunk; -1: 1 more */
        int own;                        /* OWN_MAXIMUM, 1: and in lse */
        int limit, unit;                /* what is compared with, in these units */
        int type, sums;                 /* what is rounded to it; in which sums */
    } weight;
    /* 8 DIVIDE. whose: of DIVIDES_BY_OTHER (enum explain_other). bits: that are left. */
    struct { int way, whose, bits; } divide;
    /* 8 DIVIDE, the log-sum-exp. shared_first: of LSE_OF_FIRST_WARP, 1: shared chunks come first,
     * each in one turn. factor: that is measured. */
    struct { int way, type, shared_first; double factor; } lse;
    /* 9 WRITE. row, head: how far away the other result is, of WRITE_BY. */
    struct { int way, by, row, head; } write;
};

/* clang-format on */

/* ---- The model ---- */

#define EXPLAIN_TESTED 6

/* A part of the keys that is weighed by itself. */
struct explain_part {
    double maximum, sum; /* the largest score, and the sum of weights */
    double reference;    /* what its weights are taken against */
    double last, most;   /* the largest score of the tile before, and of all before */
    double n, o;         /* logarithms of what its sums were multiplied by, tile by tile; */
    double top;          /* and of the largest weight, before that */
};

/* Where a key was taken: the run of a list, or the chunk of a path; the slot; and the position of
 * the run. */
struct explain_spot {
    int run, slot, begins;
};

/* A run that a row reads of prompts with modules: the first `seen` slots of a chunk of K, and of
 * one of V, but not hidden .. shown - 1. `run` is its number in the list, -1 where that is none of
 * the table. */
struct explain_taken {
    int run, k, v, hidden, shown, seen, is_shared, begins;
};

/* A row and head, and what a choice makes of it. */
struct explain_model {
    const struct cp_kernel *kernel;
    const struct explain_run *run;
    struct explain_results is;               /* of the row and head */
    int pair, row, head, s, g, n, d, d_v, c; /* n keys are seen */
    int shared;                              /* of these, in shared chunks */
    /* Some wrong numbers of the pair, to see quickly that a choice does not give them. */
    struct {
        int n, element[EXPLAIN_TESTED];
        double lse; /* NaN: it is not wrong */
    } test;
    double unit; /* unit roundoff of the output's type */
    /* By which choices keys and scores are in place; of which group of elements. */
    struct explain_choice of_keys, of_scores;
    int has_keys, has_scores, group;

    int m, room;                          /* keys that were taken */
    int outside;                          /* 1: one that is nowhere */
    int no_number;                        /* 1: a sum that no format holds, or NaN */
    int lost;                             /* 1: a weight became 0, or infinite */
    int steps;                            /* of these, each run by itself; 0: as on a path */
    const double **k, **v;                /* [room] */
    struct explain_spot *place;           /* [room]: of prompts with modules alone, */
    struct explain_taken *taken;          /* [room]: and the runs of these */
    double *rotated;                      /* [room][d]: keys that are */
    double *q;                            /* [d], */
    double *q_terms;                      /* and its products (GATE-14) */
    double *score, *weight, *of_n, *of_o; /* [room]; weight: the right ones */
    struct explain_part *part;            /* [room] */
    int *part_of;                         /* [room]: of each key */
    double top;                           /* the largest log-sum-exp of a part */
    double m_all, m_right; /* the maximum that weights are against, and the largest score */
    double more_n;         /* of keys that are none */
    /* In one piece, for the certificate; where keys are rotated, their products. */
    double *flat_k, *flat_v, *scratch;
    double *shift, *shift_error; /* [room]: of these (NUM-14) */
    double *o, *size, *right;    /* [d] */
    int *all;                    /* [d]: each element */
    struct gate_numbers numbers; /* [d + 1], and room for products */
    double *usual;               /* [d] */
    long long work;              /* left: key numbers that may still be looked at */
};

/* Of a number that may be a quotient of nothing: 0 / 0. */
#define EXPLAIN_NOTHING (-1.0)

/* 1: the kernel gives this log-sum-exp, in nats, where there is no key (CONV-2). */
int explain_is_empty_lse(const struct explain_model *x, double lse);

/* Room for the rows of all these runs. 0, or -1: no memory; to be freed in either case. */
int explain_model_new(struct explain_model *x, const struct cp_kernel *kernel,
                      const struct explain_run *runs, int n_runs);
void explain_model_free(struct explain_model *x);
void explain_go_to(struct explain_model *x, const struct explain_run *run, int pair);

/* Writes into x->numbers what the numbers of the pair x is at would be; an infinite bound says
 * nothing of a number, NaN means NaN; with the bound EXPLAIN_NOTHING it may be either. 0: it says
 * nothing of this pair. */
int explain_compute(struct explain_model *x, const struct explain_choice *choice);

/* 1: in most of some wrong elements it might give what the kernel gave. */
int explain_might(struct explain_model *x, const struct explain_choice *choice);

/* ---- Its stages ---- */

static inline void explain_say_number(struct explain_model *x, int i, double value, double bound) {
    x->numbers.expected[i] = value;
    x->numbers.bound[i] = bound;
}

/* The pair among the query rows of its sequence, and the heads of its K/V head's group. */
struct explain_group {
    int rows, heads, row, head;
    int number; /* row by row, or head by head */
};
struct explain_group explain_group(const struct explain_model *x, int by_heads);

/* 1: a way that is for `keys` is for one that is shared, or is not. */
static inline int explain_is_for(int keys, int is_shared) {
    return keys == ALL_KEYS || keys == (is_shared ? SHARED_KEYS : OWN_KEYS);
}

/* The first descriptor of a chunk; NULL: nobody shares it. */
const struct cp_shared_chunk *explain_descriptor(const struct gate_problem *p, int chunk);

/* The last sequence that has the chunk, and its number `run` there; -1: it is nobody's. */
int explain_owner(const struct gate_problem *p, int chunk, int *run);

/* RUNS: what a row reads of the list of sequence s. Returns how many runs; -1: there is no room. */
int explain_take_runs(const struct gate_problem *problem, const struct explain_choice *choice,
                      int row, int s, struct explain_taken *taken, int room);

/* 1: a row sees the first keys of a path; 0: some of a list of runs. */
static inline int explain_is_path(const struct gate_problem *p) {
    return p->plan == CP_PLANS_TREES && p->mask.window + p->mask.ahead == 0 && p->mask.bit == NULL;
}

/* Where key j of those that were taken is. */
static inline struct explain_spot explain_spot_of(const struct explain_model *x, int j) {
    struct explain_spot on_path = {j / x->c, j % x->c, j / x->c * x->c};
    return explain_is_path(&x->run->problem) ? on_path : x->place[j];
}

/* ... and its number by rising position, where it is a key of the row's own sequence. */
static inline int explain_key_number(const struct explain_model *x, int j) {
    const struct gate_problem *p = &x->run->problem;
    struct explain_spot at = explain_spot_of(x, j);
    return p->first[x->s * p->table_width + at.run] + at.slot;
}

/* 1 to 3: x->k, x->v, x->m. 0: it is no mistake of this row. */
int explain_take_keys(struct explain_model *x, const struct explain_choice *choice);

/* 6: key j of those that were taken, as it was last rotated. explain_rotate_keys() rotates all;
 * explain_terms() has the products of one. */
static inline const double *explain_key(const struct explain_model *x, int j) {
    return x->run->problem.rotation.keys == CP_KEYS_PLACED ? x->k[j]
                                                           : x->rotated + (ptrdiff_t)j * x->d;
}
void explain_rotate_keys(struct explain_model *x, const struct explain_choice *choice);
void explain_terms(const struct explain_model *x, const struct explain_choice *choice, int j,
                   double *terms);

/* 4: how often key j of m is counted. */
int explain_times(const struct explain_model *x, const struct explain_choice *choice, int j);

/* The part of key j, of the keys that were taken; and one more than the largest. */
int explain_part_of(const struct explain_model *x, const struct explain_partition *parts, int j);
int explain_parts(const struct explain_model *x, const struct explain_partition *parts);

/* 5, 6: x->q, x->score, x->weight, x->m_right; groups of elements have scores or weights of their
 * own. 0: there is no such query. */
int explain_groups(const struct explain_model *x, const struct explain_choice *choice);
int explain_group_of(const struct explain_model *x, const struct explain_choice *choice, int i);
int explain_take_scores(struct explain_model *x, const struct explain_choice *choice, int group);

/* 6: what a factor is that all scores are multiplied by, of these keys; 1 where each is made by
 * itself. */
double explain_scale(const struct explain_model *x, const struct explain_choice *choice);

/* 6, CONV-10: by what key j, of K or of V, is multiplied beside its right scale. NaN: there is no
 * such scale. */
double explain_dequantised(const struct explain_model *x, const struct explain_choice *choice,
                           int is_v, int j);

/* 6, SCORE-1, SCORE-2, SCORE-5: what score s of key j becomes. */
double explain_changed(const struct explain_model *x, const struct explain_choice *choice, int j,
                       double s);

/* By what a slope is multiplied, of key j (CONV-8); or the entry of the table. */
double explain_distance(const struct explain_model *x, int j);

/* 7, SCORE-3: the logarithm of the sink's weight in these sums: IN_N, IN_O. -infinity: none. */
double explain_sink(const struct explain_model *x, const struct explain_choice *choice, int sums);

double explain_largest(const double *score, int m);

/* The largest magnitude on the way to the score of a key, with the score's sign: what binary16 may
 * not hold. */
double explain_largest_on_the_way(const struct explain_model *x, const double *k);

/* 7: which part each key is in (x->part_of), and each part before it is weighed. Returns how
 * many. */
int explain_take_parts(struct explain_model *x, const struct explain_partition *parts);

/* 7: what weight.limit is, in nats. */
double explain_limit(const struct explain_choice *choice);

/* 7: weights of states that run on, and of parts that are merged. */
int explain_weigh_online(struct explain_model *x, const struct explain_choice *choice);
int explain_weigh_merged(struct explain_model *x, const struct explain_choice *choice, int group);

/* 7: x->of_n, x->of_o, x->m_all. 0: it is no mistake of this row. */
int explain_take_weights(struct explain_model *x, const struct explain_choice *choice, int group);

/* The sum of weighted values of element i, each addition rounded. */
double explain_rounded_sum(const struct explain_model *x, const struct explain_choice *choice,
                           int i);

/* The other query that is meant, as row * h + head, for key j; -1: there is none. */
int explain_other_query(const struct explain_model *x, int whose, int block, int j);

/* Its largest score with keys `from` to `end`, as far as it sees them; and its sum of weights with
 * its own keys, against its own maximum. */
double explain_others_largest(struct explain_model *x, int other, int from, int end);
double explain_other_sum(struct explain_model *x, int whose);

/* 8, 9: into x->numbers. 0: it says nothing. */
double explain_lse_bound(const struct explain_model *x, double lse);
int explain_write_lse(struct explain_model *x, const struct explain_choice *choice);
int explain_write(struct explain_model *x, const struct explain_choice *choice);

/* The constant factor of the log-sum-exp, or of a part of it, that makes it the kernel's; NaN: none
 * can be told. */
double explain_factor(struct explain_model *x, int way);

#endif
