/* SPDX-License-Identifier: Apache-2.0 */
/* Attention of one row and head, in stages; and a choice that differs from the right one in a
 * stage.
 *
 *      row r, head a of sequence s
 *        | 1 SEES      how many keys: n_tokens[s] less the rows behind r
 *      key 0 ... key n - 1
 *        | 2 PATH      whose table, which chunk of it, which slot: table[s][j / c], j % c
 *        | 3 PLACE     which K/V head, which strides, which array
 *        | 4 SELECT    which keys are counted: each, once
 *      K_0 V_0 ... K_(m-1) V_(m-1)
 *        | 5 QUERY     which row and head of Q, which elements of it
 *        | 6 SCORE     s_j = scale * q K_j
 *      s_0 ... s_(m-1)
 *        | 7 WEIGHT    w_j = exp(s_j - maximum), in n and in o: tiles, warps, splits, merges
 *      n = sum w_j, o = sum w_j V_j
 *        | 8 DIVIDE    o / n, and the log-sum-exp: maximum + log(n)
 *        | 9 WRITE     into element i of out, and into lse
 *      out[r][a], lse[r][a]
 *
 * A struct explain_choice has fields for each stage; where all are 0, each stage is done as it must
 * be. A mistake is a row of a table (mistakes.h) that sets some fields of one stage. Worked
 * through, one of mistakes_sums.c:
 *
 *      {"as if the sum of weights had not been rescaled when the maximum grew (MERGE-4), "
 *       "in steps of {0}", 40,
 *       {.weight = {ONLINE, .rescale_n = RESCALE_NOT}}, {STEPS}}
 *
 * Stages 1 to 6 are as they must be, and give the scores, say 1, 3, 2 in steps of 1 key. Stage 7
 * weighs key 0 against the maximum so far, 1: w = exp(0). Key 1 is a new maximum, 3: the sum of
 * weighted values is multiplied by exp(1 - 3), the sum of weights is not. So n = 1 + 1 + exp(-1),
 * where exp(-2) + 1 + exp(-1) would be right, and out is too small by that factor. The axis STEPS
 * has the odometer of search.c try it in steps of 1 key, of a chunk, of 8, 16, ... */
#ifndef CHUNKPROOF_GATE_EXPLAIN_MODEL_H
#define CHUNKPROOF_GATE_EXPLAIN_MODEL_H

#include "gate/explain/run.h"

/* ---- Choices ---- */

/* clang-format off */

enum explain_array { OF_BOTH, OF_K, OF_V }; /* K and V */
enum explain_sums { IN_BOTH, IN_N, IN_O };  /* the sums of weights and of weighted values */
enum explain_keys { ALL_KEYS, SHARED_KEYS, OWN_KEYS, LAST_CHUNK_KEYS };

/* 1: how many keys. */
enum explain_sees {
    SEES_OWN,
    SEES_MORE,            /* by so many, also where there is none; */
    SEES_MORE_THERE,      /* where the sequence has them; */
    SEES_ALL,             /* of its sequence */
    SEES_FEWER,           /* of each row but a sequence's last one */
    SEES_FROM_FIRST,      /* row 0 of a sequence one, row 1 two, ... */
    SEES_WHOLE_CHUNK,     /* to the end of the last one */
    SEES_SHARED,          /* all keys of the shared chunks */
    SEES_AS_LONG,         /* as many as the sequence of its path has; */
    SEES_LENGTH_OF,       /* by n_tokens of the sequence of its path, its own keys; */
    SEES_AS_THERE,        /* as a row that far from that sequence's end */
    SEES_AS_FIRST,        /* as the first row of its tile of query rows and heads; */
    SEES_AS_LAST,         /* as the last one, in whole blocks of keys */
    SEES_FIRST_BLOCK,     /* as if its block of query rows were the first one */
    SEES_ALL_BEHIND       /* row `by` of a sequence: all, from there on */
};
#define A_SEQUENCE (1 << 20) /* rows and heads of a tile: all of its sequence */

/* 2: whose path. */
enum explain_whose { OWN_SEQUENCE, SEQUENCE, SEQUENCE_BY, SEQUENCE_MODULO };

/* 2: the way from a key's number to its chunk and slot. */
enum explain_path {
    PATH_OWN,
    PATH_POOL,            /* chunk i of the pool, without a table */
    PATH_SHIFTED,         /* chunk i + by */
    PATH_ROTATED,         /* modulo the chunks that are seen */
    PATH_TURNED,
    PATH_FIRST,           /* chunk 0 of the path, for each of its chunks */
    PATH_CHUNK,           /* chunk `by` of the path is chunk `to` of it, */
    PATH_ANY,             /* or of the pool */
    PATH_MODULO,          /* a chunk's number in the pool, modulo `by` */
    PATH_NEXT_KEY,        /* the chunk of key j + by, the slot of key j */
    PATH_KEY,             /* key j + by */
    PATH_KEY_MODULO,      /* key j % by */
    PATH_SIZE,
        /* as if chunks had `by` slots: for the chunk alone (to = 1), the slot (2), both (0) */
    PATH_MASK,            /* slot j & (c - 1) */
    PATH_SLOT_MODULO,     /* slot % by */
    PATH_TILE,            /* the chunk of the first key of its tile; */
    PATH_PIECE,           /* the tile in one piece from there on */
    PATH_TABLE_WIDTH
        /* rows of the table are table_width + by apart; 0: as many as the path has chunks */
};

/* 3: the K/V head. */
enum explain_head {
    HEAD_OWN, HEAD_MODULO, HEAD_FIRST, HEAD_LAST, HEAD_BY_H_KV, HEAD_NEXT, HEAD_QUERY, HEAD_NUMBER,
    HEAD_WRAPS /* modulo `number` */
};

/* 3: the address of a key. */
enum explain_place {
    PLACE_OWN,
    PLACE_SWAPPED,        /* the strides of head and slot */
    PLACE_OTHERS,         /* all strides of the other of K and V, or one of them: */
    PLACE_OTHERS_CHUNK, PLACE_OTHERS_HEAD, PLACE_OTHERS_SLOT,
    PLACE_HEADS,          /* in one piece, [chunk][head][slot], */
    PLACE_SLOTS,          /* or [chunk][slot][head]; */
    PLACE_SLOT_D,         /* slots d apart */
    PLACE_CHUNK_D,        /* chunks h_kv c d apart */
    PLACE_K_FOR_V,
    PLACE_K_FOR_V_THERE,  /* with the strides of V */
    PLACE_V_FOR_K, PLACE_EXCHANGED
};

/* 4: keys that are counted so many times. */
enum explain_select {
    SELECT_NONE,
    SELECT_AT,            /* keys a to b - 1 */
    SELECT_FROM_END,      /* the last a but the last b */
    SELECT_CHUNK, SELECT_LAST_CHUNK, SELECT_SHARED,
    SELECT_FIRST_SHARED,  /* chunk, */
    SELECT_LAST_SHARED,
    SELECT_SHARED_FROM,   /* a shared chunk on */
    SELECT_ENDS_OF_SHARED, /* the last key of each */
    SELECT_END_OF_RANGE,
        /* shared chunks whose range this sequence ends, or is left over in, taken a at a time, */
    SELECT_BEGIN_OF_RANGE, /* or begins */
    SELECT_OWN,
    SELECT_EVERY,         /* b, b + a, ... */
    SELECT_BEHIND,        /* the last multiple of a; */
    SELECT_BEHIND_IF_MORE, /* the same, where there are as many keys as that; */
    SELECT_BEHIND_IN_CHUNKS, /* and of each chunk */
    SELECT_ALONE_IN_TILE,
        /* the last key, where it is the first one of a tile that is not the first; */
    SELECT_BEHIND_FILL,   /* of each chunk, what is behind as many as the path's last one has */
    SELECT_BUT_FIRST,     /* a */
    SELECT_BUT_LAST,
    SELECT_BETWEEN,       /* the first a, and the last b */
    SELECT_LAST_TILE, SELECT_FIRST_TILE,
    SELECT_OF_EACH,       /* b to b + width - 1 of a */
    SELECT_PART,          /* part a, -1 the last; */
    SELECT_NOT_PART,
    SELECT_FIRST_OF_PARTS, /* the first key of each part but the first; */
    SELECT_LAST_OF_PARTS  /* the last one of each but the last */
};

/* 4, 7: parts of a row's keys that are weighed by themselves. */
enum explain_parts {
    PART_WHOLE, PART_CHUNKS, PART_SHARED, PART_SHARED_CHUNKS, PART_HALVES, PART_TILES,
    PART_HALVES_OF_TILES, PART_SPLITS, PART_WARPS
};

struct explain_partition {
    int kind, tile, n; /* keys of a tile; splits at most, or warps that take tiles in turn */
};

/* 5: the query. */
enum explain_query {
    QUERY_OWN,
    QUERY_BY,             /* so many rows and heads away */
    QUERY_TRANSPOSED,     /* as if rows and heads were the other way round */
    QUERY_OF_SEQUENCE,    /* row s */
    QUERY_FIRST_ROW,      /* of its sequence */
    QUERY_LAST_ROW,
    QUERY_IN_SEQUENCE,    /* the row's number in its sequence */
    QUERY_OF_KV_HEAD,     /* head g */
    QUERY_FROM_TILE,      /* rows and heads are counted from the first of its tile */
    QUERY_PACKED,         /* in one piece, [row][head] */
    QUERY_STRIDES,        /* row and head strides swapped */
    QUERY_HEAD_WRAPS      /* modulo `head` */
};

/* 5: elements of the query. */
enum explain_elements {
    ELEMENTS_ALL,
    ELEMENTS_FROM_TO,     /* are counted so many times; */
    ELEMENTS_EVERY, ELEMENTS_LAST, ELEMENTS_BEHIND,
    ELEMENTS_PAIRS,       /* are swapped */
    ELEMENTS_HALVES, ELEMENTS_BACKWARDS,
    ELEMENTS_MAGNITUDES,  /* of products with K */
    ELEMENTS_ROUNDED,     /* to `a` */
    ELEMENTS_SCALED,      /* times the scale, and so rounded; */
    ELEMENTS_SCALED_BITS,
    ELEMENTS_BLOCKS,      /* lanes with blocks of elements have scores of their own; */
    ELEMENTS_RESTS,       /* or with elements of the same i % a; */
    ELEMENTS_BITS         /* or i & a */
};

/* 6: the score. */
enum explain_score {
    SCORE_OWN, SCORE_UNSCALED, SCORE_TWICE,
    SCORE_LOG2_E,         /* times that */
    SCORE_LN_2,
    SCORE_ROOT_OF_D,      /* 1 / sqrt(d), whatever the call's scale is */
    SCORE_PART_OF_D, SCORE_ROOT_OF_SCALE, SCORE_TIMES, SCORE_OVER, SCORE_NEGATIVE,
    SCORE_OF_D,           /* 1 / sqrt(by); */
    SCORE_OF_POWER,       /* of d up to a power of two; */
    SCORE_OF_MULTIPLE, SCORE_OF_CHUNK, SCORE_OF_HEADS, SCORE_ROUNDED_SCALE,
    SCORE_ROUNDED_SCALE_BITS,
    SCORE_ADDED_UP,       /* each to the next key's; from here on each score by itself */
    SCORE_ROUNDED, SCORE_ROUNDED_BITS, SCORE_CAPPED, SCORE_AT_MOST, SCORE_MAGNITUDE,
    SCORE_NOT_BELOW_0, SCORE_LESS_BY_DISTANCE, SCORE_MORE_BY_DISTANCE, SCORE_MORE_BY_POSITION,
    SCORE_OVERFLOWS,      /* binary16: NaN where one is infinite; */
    SCORE_PRODUCTS_OVERFLOW
};

/* 7: weights. */
enum explain_weight {
    WEIGHT_OWN,
    ONLINE,               /* tile by tile, sums are rescaled; of each part, and all are merged */
    MERGED,               /* parts by wrong factors */
    KEPT_SHORT,           /* maxima of parts, to merge them by, in `type` */
    CARRIED,              /* sums of a part go on from those of the one before */
    REFERENCE,            /* against another number than the largest score */
    OTHER_QUERY,          /* against another query's maximum, of each part */
    DROPPED,              /* that are light */
    FUNCTION,             /* another than exp */
    PADDED,               /* keys that are none, with a finite score and values 0 */
    ROUNDED,              /* to `type` */
    ROUNDED_SUM,          /* of weighted values */
    SHUFFLED,             /* handed on within some lanes */
    OWN_WARP,             /* each thread merges its own warp's sums alone; */
    OWN_MAXIMUM,          /* or scales them to its own warp's maximum */
    EMPTY_PART            /* a part without a key is NaN */
};

/* ONLINE: what a maximum is, and what weights are taken against. */
enum explain_maximum {
    KEEPS_LARGEST, KEEPS_LAST, KEEPS_OF_TILE, WEIGHS_BY_TILE, WEIGHS_BY_OLD, KEEPS_LAZILY,
    RESCALES_FROM_OTHER, RESCALES_TO_OTHER
};

/* ONLINE: a power of exp(old maximum - new maximum) that a sum is multiplied by. */
enum explain_rescale {
    RESCALE, RESCALE_NOT, RESCALE_UPSIDE_DOWN, RESCALE_BY_E, RESCALE_BY_2, RESCALE_AT_FIRST,
    RESCALES
};

/* MERGED: a row of this table says what a part's sums are multiplied by. */
enum explain_merge {
    MERGE_ADDED_DIVIDED, MERGE_ADDED_O, MERGE_ADDED, MERGE_BY_MAXIMA, MERGE_ADDED_N,
    MERGE_BY_NUMBER, MERGE_AVERAGED, MERGE_NATS_AS_BITS, MERGE_BITS_AS_NATS, MERGES
};

/* OTHER_QUERY, and the divisor: whose. */
enum explain_other { FIRST_OF_GROUP, ONE_BEFORE, ONE_BEHIND, FIRST_OF_BLOCK, FIRST_OF_CHUNK };

/* REFERENCE: against what. */
enum explain_reference { NO_REFERENCE, FIRST_SCORE, NOT_BELOW };

enum explain_function { SQUARE, FIRST_ORDER, SECOND_ORDER, POWER_OF_2 };

/* 8: what o is divided by. */
enum explain_divide {
    DIVIDES, DIVIDES_NOT, DIVIDES_BY_COUNT, DIVIDES_TWICE, DIVIDES_BY_OTHER,
    DIVIDES_ROUNDED,      /* n, or its reciprocal, to so many bits; */
    DIVIDES_CUT, DIVIDES_BY_ANY
};

/* 8: the log-sum-exp. */
enum explain_lse {
    LSE_OWN, LSE_IN_BITS, LSE_TIMES_LN_2, LSE_LARGEST, LSE_NOT_ADDED, LSE_SUM, LSE_SIGN,
    LSE_NOT_SCALED, LSE_COUNT, LSE_LARGEST_NOT_SCALED,
    LSE_OF_SELECTED,      /* keys alone */
    LSE_LOG_IN_BITS,      /* the logarithm of the sum, or of the parts' sum; */
    LSE_LARGEST_IN_BITS,
    LSE_OF_FIRST_WARP,    /* its largest score */
    LSE_ROUNDED,          /* to a type */
    LSE_FACTOR,           /* the whole, a constant times; */
    LSE_FACTOR_OF_LOG, LSE_FACTOR_OF_LARGEST
};

/* 9: where it is written. */
enum explain_write {
    WRITE_OWN, WRITE_BY, WRITE_TRANSPOSED, WRITE_SHIFTED, WRITE_MODULO, WRITE_PAIRS, WRITE_HALVES,
    WRITE_ROUNDED, WRITE_ZERO, WRITE_NO_NUMBER
};

struct explain_choice {
    struct { int rule, by, pairs, by_heads, keys; } sees; /* pairs: of a tile; keys: of a block */
    struct { int whose, number, keys, rule, by, to, array; } path; /* keys: of which */
    struct { int head, number, keys, rule, array; } place; /* rule: the strides */
    struct { int which, a, b, width, times, sums; struct explain_partition parts; } select;
    struct { int rule, row, head, pairs, by_heads; } query;
    struct { int rule, a, b, times; } elements; /* times: 1 is twice */
    struct { int rule, by, keys, type; } score;
    struct {
        int rule, maximum, rescale_n, rescale_o, backwards, own_alone, behind, merge;
        int number, type, sums, so_far, whose, block, own;
        double limit;
        struct explain_partition parts;
    } weight;
    struct { int rule, whose, bits; } divide;
    struct { int rule, type; double factor; } lse;
    struct { int rule, row, head; } write;
};

/* clang-format on */

/* ---- The model ---- */

#define EXPLAIN_TESTED 6

/* Some wrong numbers of a pair, to see quickly that a choice does not give them. */
struct explain_test {
    int n, element[EXPLAIN_TESTED];
    double got[EXPLAIN_TESTED], allowed[EXPLAIN_TESTED];
    double lse; /* NaN: it is not wrong */
};

/* A row and head, and what a choice makes of it. */
struct explain_model {
    const struct cp_kernel *kernel;
    const struct explain_run *run;
    int pair, row, head, s, g, n, d, c; /* n keys are seen */
    int shared;                         /* of these, in shared chunks */
    struct explain_test test;
    double unit;    /* of the output */
    int has_scores; /* 1: of its own keys, in own_score; and their weights */
    int are_own;    /* 1: the scores that are in place are those */

    int m, room;                   /* keys that were taken */
    int outside;                   /* 1: one that is nowhere */
    int no_number;                 /* 1: a sum that no format holds, or NaN */
    int lost;                      /* 1: a weight became 0, or infinite */
    const double **k, **v;         /* [room] */
    const double **own_k, **own_v; /* the pair's own; where has_keys */
    int has_keys;
    double *q, *times;                                    /* [d] */
    double *own_score, *own_weight, *score, *of_n, *of_o; /* [room] */
    double *part[5];                                      /* of each part: [room] */
    int *part_of;                                         /* [room] */
    double own_largest;                                   /* of own_score */
    double m_all, m_right; /* the maximum that weights are against, and the largest score */
    double more_n;         /* of keys that are none */
    double divisor;        /* NaN: n */
    double *flat_k, *flat_v, *scratch; /* in one piece, for the certificate */
    double *o, *size, *right;          /* [d] */
    struct gate_numbers numbers;       /* [d + 1] */
    long long work;                    /* left: key numbers that may still be looked at */
};

/* Of a number that may be a quotient of nothing: 0 / 0. */
#define EXPLAIN_NOTHING (-1.0)

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

/* The same as explain_compute() by sums alone, where a certificate could be had. */
int explain_compute_sums(struct explain_model *x, const struct explain_choice *choice);

/* ---- Its stages ---- */

/* 1 to 3: x->k, x->v, x->m. 0: it is no mistake of this row. */
int explain_take_keys(struct explain_model *x, const struct explain_choice *choice);

/* Key j of the path of sequence s, of this K/V head, into x->k and x->v. */
void explain_take_key(struct explain_model *x, int s, int j, int g);

/* 4: how often key j of m is counted. */
int explain_times(const struct explain_model *x, const struct explain_choice *choice, int j);

/* The part of key j, of the keys that were taken; and one more than the largest. */
int explain_part_of(const struct explain_model *x, const struct explain_partition *parts, int j);
int explain_parts(const struct explain_model *x, const struct explain_partition *parts);

/* 5, 6: x->q, x->score; groups of elements have scores or weights of their own. */
int explain_groups(const struct explain_model *x, const struct explain_choice *choice);
int explain_group_of(const struct explain_model *x, const struct explain_choice *choice, int i);
void explain_take_scores(struct explain_model *x, const struct explain_choice *choice, int group);

/* 6: what a factor is that all scores are multiplied by, of these keys; 1 where each is made by
 * itself. */
double explain_scale(const struct explain_model *x, const struct explain_choice *choice);

/* 1: the query is there. */
int explain_take_query(struct explain_model *x, int row, int head);

/* The score of the pair's query row and head `query` with key j of those that were taken. */
double explain_score_of(const struct explain_model *x, int query, int j);

/* 7: which part each key is in (x->part_of), the largest score of each part and its sum of weights.
 * Returns how many. */
enum explain_of_part { OF_MAXIMUM, OF_SUM, REFERENCES, CUMULATED_N, CUMULATED_O }; /* of x->part */
int explain_take_parts(struct explain_model *x, const struct explain_partition *parts);
double explain_largest(const double *score, int m);

/* 7: key j, so many times in these sums. */
void explain_multiply(struct explain_model *x, int sums, int j, double times);

/* 7: weights of these rules. */
int explain_weigh_online(struct explain_model *x, const struct explain_choice *choice);
int explain_weigh_merged(struct explain_model *x, const struct explain_choice *choice);
int explain_weigh_kept(struct explain_model *x, const struct explain_choice *choice);
int explain_weigh_carried(struct explain_model *x, const struct explain_choice *choice);
int explain_has_empty_part(const struct explain_model *x, const struct explain_choice *choice);

/* 7: x->of_n, x->of_o, x->m_all. 0: it is no mistake of this row. */
int explain_take_weights(struct explain_model *x, const struct explain_choice *choice, int group);

/* The sum of weighted values of element i, each addition rounded. */
double explain_rounded_sum(const struct explain_model *x, const struct explain_choice *choice,
                           int i);

/* The other query that is meant, as row * h + head, for key j; -1: there is none. */
int explain_other_query(const struct explain_model *x, int whose, int block, int j);

/* The sum of weights of another query with its own keys, against its own maximum. */
double explain_other_sum(const struct explain_model *x, int whose);

/* 8: the log-sum-exp of such a rule, of scores that are in their place; NaN: it says nothing. */
double explain_other_lse(struct explain_model *x, const struct explain_choice *choice);

/* 8, 9: into x->numbers. 0: it says nothing. */
int explain_write_lse(struct explain_model *x, const struct explain_choice *choice);
int explain_write_scaled(struct explain_model *x);
int explain_write(struct explain_model *x, const struct explain_choice *choice);

/* The constant factor of the log-sum-exp, or of a part of it, that makes it the kernel's; NaN: none
 * can be told. */
double explain_factor(struct explain_model *x, int rule);

#endif
