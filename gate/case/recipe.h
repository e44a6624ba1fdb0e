/* SPDX-License-Identifier: Apache-2.0 */
/* A recipe: a few numbers from which every machine makes the same case.
 *
 * It lists what is done to an empty tree (join, append, leave, fork), or modules and the prompts
 * that have them; the sizes, how the numbers are made, how many query rows there are, and how the
 * arrays lie in memory. Recipe i of a seed is always the same. */
#ifndef CHUNKPROOF_GATE_CASE_RECIPE_H
#define CHUNKPROOF_GATE_CASE_RECIPE_H

/* The operations on the tree, in order. Sequences are counted as they lie in the tree at that time;
 * a number that is too large is taken modulo the number of sequences. A recipe with modules has
 * prompts alone, and one without has none. */
enum gate_op_kind {
    GATE_JOIN,   /* first `tokens` tokens of `sequence` (0: of none), then `own` new ones */
    GATE_APPEND, /* `tokens` new tokens for a sequence, one at a time */
    GATE_LEAVE,
    GATE_FORK,
    /* A sequence with the modules whose bits are in `sequence`: the first, and each further one
     * that takes no position of those before. Then `tokens` new tokens in gaps between them, as
     * many as have room, and `own` ones behind all. */
    GATE_PROMPT,
    GATE_OPS
};

struct gate_op {
    enum gate_op_kind kind;
    int sequence, tokens, own;
};

#define GATE_MOST_OPS  64
#define GATE_THOUSANDS 6000 /* keys of a long creeping sequence, and more */

/* A module: so many tokens, from a position on (MOD-1). Two may take the same positions, as the
 * members of a union do. */
struct gate_module {
    int tokens, position;
    int alike; /* 1: the text of the module before it, which has as many tokens (GATE-14) */
};

#define GATE_MOST_MODULES 8

/* How the numbers are made. */
enum gate_values {
    /* All weights are equal, and each number of V is in few keys: a key too many or too few
     * shows. */
    GATE_COUNT,
    /* A query chooses few keys by their address, and all others weigh nothing: a wrong key
     * shows. */
    GATE_SELECT,
    GATE_NORMAL,  /* mean 0, variance 1 */
    GATE_MASSIVE, /* normal, and a few channels 50 times as large */
    GATE_ONE_HOT, /* one key in seven has by far the largest score */
    GATE_SHIFTED, /* all scores about -900 or 900, or -70,000 or 70,000 */
    /* Each key is a new maximum, or the first key is the maximum. In half of the cases keys of
     * small weight alone make up the result. */
    GATE_RISING,
    GATE_FALLING,
    GATE_OFFSET,    /* V far from 0 and close together */
    GATE_SUBNORMAL, /* V below the smallest normal number */
    GATE_ZERO,      /* Q and V of zeros of both signs */
    GATE_LARGE,     /* nearly equal weights, and V so large that sums of it leave binary16 */
    GATE_CREEPING,  /* each key is a new maximum, by little */
    GATE_EXTREME,   /* Q near the smallest numbers of its type, K near the largest; or reversed */
    GATE_VALUES
};

extern const char *const gate_values_names[GATE_VALUES + 1]; /* ends with NULL */
extern const char *const gate_values_words[GATE_VALUES];     /* what the kinds show */

/* How many query rows each sequence has. */
enum gate_queries {
    GATE_DECODE,  /* one */
    GATE_SEVERAL, /* 0 to 4, but not more than keys */
    GATE_MORE,    /* up to 3 more than keys: some rows see no key */
    GATE_MANY,    /* up to 40, but not more than keys */
    GATE_QUERIES
};

/* Where elements lie: independent bits. */
#define GATE_SLOTS_FIRST   1  /* K: [chunk][slot][head] instead of [chunk][head][slot] */
#define GATE_V_OTHERWISE   2  /* V in the other order than K */
#define GATE_HEADS_FIRST   4  /* Q and out: [head][row] */
#define GATE_SPREAD        8  /* a gap after the d numbers of each head */
#define GATE_OUT_OTHERWISE 16 /* out in the other order than Q */
#define GATE_SPREAD_CHUNKS 32 /* a gap after each chunk */
#define GATE_FAR           64 /* chunks so far apart that 32 bits hold no offset; in host memory */
#define GATE_LAYOUTS       128

/* What the slots of K and V without a key hold. */
enum gate_padding { GATE_NANS, GATE_HUGE, GATE_STALE, GATE_PADDINGS };

/* Slopes of query heads: of ALiBi, 2^(-8 (a + 1) / h); or of either sign, some of them 0, so that
 * the bias of a whole sequence is of the size of scores. */
enum gate_slopes { GATE_NO_SLOPES, GATE_ALIBI, GATE_ANY_SLOPES, GATE_SLOPES };

/* A table of biases (SCORE-5): one for each bucket of distances, which are longer the further away,
 * as T5 has them; or one for each distance. A bias is that of its distance, whatever the table. */
enum gate_biases { GATE_NO_BIASES, GATE_BUCKETS, GATE_ANY_BIASES, GATE_BIASES };

/* Bits of a mask (MASK-1): of trees of tokens, which the rows of a sequence are; any, from any
 * position on; any of all positions, packed row behind row. */
enum gate_bits { GATE_NO_BITS, GATE_TREE_BITS, GATE_ANY_BITS, GATE_WHOLE_BITS, GATE_BITS };

struct gate_recipe {
    int n_heads, n_kv_heads, head_dim, chunk_size;
    enum gate_values values;
    enum gate_queries queries;
    int layout;
    enum gate_padding padding;
    int scale;       /* in percent of 1 / sqrt(d) */
    int without_lse; /* 1: the log-sum-exp is not asked for, though the kernel has it */
    /* 1: the case runs once more with other numbers of the same sizes, in the same memory. */
    int renewed;
    /* Sizes of a server. 0: as the operations, `queries` and the tree say.
     *   sequences   after the operations others join, or the last ones leave, until there are so
     *               many
     *   rows        query rows: of each sequence where `queries` is GATE_DECODE, else of about
     *               every second one, and of the first
     *   pool        chunks of the pool; those in use have any numbers below it. In device memory
     *               where gate_pool_fits() */
    int sequences, rows, pool;
    /* WINDOW-1, for kernels that take it: keys of a window, how far a row sees after its own
     * position, and first positions that are kept beside the window; 0: none. */
    int window, ahead, kept;
    int bits; /* enum gate_bits, for kernels that take it */
    /* SCORE-1 to SCORE-3, for kernels that take it: the cap, in eighths; and of which kind slopes
     * and sinks are, enum gate_slopes and 1; 0: none. */
    int cap, slopes, sinks;
    /* SCORE-5, for kernels that take it, and no slopes: of which kind the table is, enum
     * gate_biases; how many entries a head has, and which is the row's own. All 0: none. */
    int biases, n_biases, own_bias;
    int page;      /* keys of a page (CONV-11), for kernels that take any size; 0: as many as c */
    int value_dim; /* numbers of a value (CONV-13), for kernels that take any; 0: d */
    int rotary;    /* numbers of a head that are rotated (GATE-14), even; 0: as many as there are */
    unsigned long long seed; /* decides the numbers, and how many query rows there are */
    int n_ops;
    struct gate_op op[GATE_MOST_OPS];
    int never;     /* what the case must not have: a sum of CP_NEVER_..., as the kernel says */
    int n_modules; /* 0: a tree */
    struct gate_module module[GATE_MOST_MODULES];
};

/* Sizes that the caller wants; 0: any. rows: of each sequence; keys: of the longest one; window: of
 * the cases that have one; value_dim: of those whose values have a width of their own. */
struct gate_shape {
    int n_heads, n_kv_heads, head_dim, chunk_size, group, sequences, rows, keys, window, value_dim;
};

/* The most that a recipe may have. */
#define GATE_MOST_SEQUENCES 16384
#define GATE_MOST_ROWS      65536
#define GATE_MOST_POOL      1048576
#define GATE_MOST_SPAN      4194304 /* of window, ahead and kept: 2^22 positions */
#define GATE_MOST_CAP       8388608 /* eighths: 2^20 */
#define GATE_MOST_BIASES    131072  /* of a head */

/* A recipe with at most so much work is small: none of the few that are long, deep or wide, or have
 * sizes of a server. One with less than GATE_SERVING_WORK has one of these sizes at a time. */
#define GATE_SMALL_WORK   20000
#define GATE_SERVING_WORK 400000

/* Recipe `index` of a seed. It has about `work` products q_i k_i at most, except for the few
 * recipes that are long. Attempt 0 may have sizes that the kernel refuses: attempts 1, 2, ... have
 * other sizes and the same kind of values, until a kernel refuses all sizes of a server. */
void gate_recipe_make(struct gate_recipe *recipe, unsigned long long seed, long long index,
                      int attempt, long long work, const struct gate_shape *shape);

/* The recipe in one line, for people. */
#define GATE_LINE 520
void gate_recipe_print(const struct gate_recipe *recipe, char *line);

/* The usual test of an attention kernel: normal values, one query for each sequence, and the
 * plainest layout. */
#define GATE_USUAL 4
void gate_usual_recipe(int i, struct gate_recipe *recipe);

#endif
