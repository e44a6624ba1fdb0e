/* SPDX-License-Identifier: Apache-2.0 */
/* A random attention problem: a forest of sequences as a plan, query rows, K and V with poison
 * wherever no key is, and the comparison of a result with the oracle. The plan is made here,
 * without the tree. The oracle gets each sequence's keys in double, gathered along its path. */
#ifndef CHUNKPROOF_TESTS_ATTEND_CASE_H
#define CHUNKPROOF_TESTS_ATTEND_CASE_H

#include "chunkproof/attend.h"

/* How many query rows each sequence has. */
#define CASE_DECODE       0 /* one: query_begin is NULL */
#define CASE_SEVERAL      1 /* 0 .. 4, but not more than keys */
#define CASE_ALL          2 /* one for each key, up to 12 */
#define CASE_MORE         3 /* up to 3 more than keys */
#define CASE_OWN          4 /* 0 .. 4, at any positions, from before the first key to behind all */
#define CASE_N_QUERY_MODE 5

/* Values of Q, K and V. */
#define CASE_NORMAL    0 /* mean 0, variance 1 */
#define CASE_MASSIVE   1 /* some channels 50 times as large */
#define CASE_ONE_HOT   2 /* one key in seven has by far the largest score */
#define CASE_TIES      3 /* all keys equal */
#define CASE_LOW       4 /* all scores about -900 */
#define CASE_SUBNORMAL 5 /* V below the smallest normal binary16, or bfloat16 */
#define CASE_ZERO      6 /* Q = 0 and V of zeros of both signs */
#define CASE_N_VALUES  7

/* What the slots of K and V without a key hold. */
#define CASE_POISON_NAN  0
#define CASE_POISON_HUGE 1
#define CASE_POISON_ZERO 2

struct shape {
    int b;         /* at most this many sequences */
    int max_depth; /* chunks on a path */
    int chunk_size;
    int n_heads;
    int n_kv_heads;
    int head_dim;
    int value_dim; /* 0: head_dim */
    int v_row;     /* 0: value_dim */
    int v_in_k;    /* 1 + x: V is K from number x on (v_row is head_dim); 0: it is not */
    int v_type;    /* 1 + the type of V; 0: kv_type */
    int q_type;
    int kv_type;
    int out_type;
    int query_mode;
    int values;
    int poison;
};

struct attend_case {
    struct shape shape;
    unsigned long long seed;
    unsigned long long random;
    struct cp_plan *plan;
    struct cp_attention attention; /* ready for cp_attend(), one workspace for both variants */
    int n_rows;
    int *query_begin; /* attention.query_begin, .position, .q, .k, .v, for the caller to change */
    int *position;
    void *typed_q;
    void *typed_k;
    void *typed_v;
    double *q; /* the numbers in them, in double */
    double *k;
    double *v; /* [capacity][h_kv][c][v_row]; in k, where V is in K */
};

/* The same seed makes the same case, except for the poison. Ends the program when memory is out.
 * Where values have a width of their own, what stands behind one in its row is poison (WIDTH-1,
 * WIDTH-2); case_compare() is not for these. */
void case_make(struct attend_case *c, const struct shape *shape, unsigned long long seed);
/* Makes a case over a given plan: b and max_depth are the plan's, and chunk_size must be. The case
 * frees the plan. */
void case_make_of(struct attend_case *c, const struct shape *shape, struct cp_plan *plan,
                  unsigned long long seed);
void case_free(struct attend_case *c);

/* Fills out, lse and workspace with 0xFF, a NaN in every type, and runs cp_attend(). Returns its
 * status, or -1 when the workspace was written beyond its end. */
int case_run(struct attend_case *c, int variant);

/* Ways to falsify the oracle's question, to see that the comparison notices. */
#define CASE_RIGHT           0
#define CASE_DROP_KEY        1 /* leaves out the last key that a row sees */
#define CASE_DROP_FIRST      2 /* ... the first */
#define CASE_REPEAT_KEY      3 /* ... sees the last one twice */
#define CASE_SWAP_HEAD       4 /* takes the next K/V head */
#define CASE_OTHER_QUERY     5 /* takes the query of the next head */
#define CASE_OTHER_SCALE     6 /* off by one part in 10^9 */
#define CASE_N_FALSIFICATION 7

struct verdict {
    int rows;   /* (query row, head) pairs compared */
    int wrong;  /* ... whose out or lse is not what the oracle says, within the bound */
    int masked; /* ... that see no key */
};

struct verdict case_compare(const struct attend_case *c, int falsification);

/* Prints what case_make() needs to make this case again. */
void case_print(const struct attend_case *c);

/* Which sequence a query row belongs to, where it stands, and how many of its keys it sees without
 * a window. */
int case_sequence_of(const struct attend_case *c, int row);
long long case_position(const struct attend_case *c, int row);
int case_visible(const struct attend_case *c, int row);

/* WINDOW-1, MASK-1: does the row see key j of its sequence? */
int case_sees(const struct attend_case *c, int row, int j);

/* Element 0 of key j of sequence s, for K/V head g, in k; and of its value, in v. */
size_t case_key(const struct attend_case *c, int s, int j, int g);
size_t case_value(const struct attend_case *c, int s, int j, int g);

/* Bytes of out and of lse. */
size_t case_out_bytes(const struct attend_case *c);
size_t case_lse_bytes(const struct attend_case *c);

#endif
