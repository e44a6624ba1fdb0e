/* SPDX-License-Identifier: Apache-2.0 */
/* An oracle for decoders that shares no code with ref/: DEC-2 and LAYER-1 to LAYER-11 as they are
 * written, a recursion over states in long double without a cache. Each number is a ball: what it
 * is over the reals, and how far any computation of the formulas in double may be from that. */
#ifndef CHUNKPROOF_TESTS_DECODER_ORACLE_H
#define CHUNKPROOF_TESTS_DECODER_ORACLE_H

#include "chunkproof/decoder.h"

#define ORACLE_MAX 64 /* most numbers of a state, of a head, of a hidden row, and tokens */

struct ball {
    long double x, e;
};

/* DEC-2: a prompt, in which token i sees token j where sees[i * n + j] is not 0. */
struct oracle {
    const struct cp_decoder *decoder;
    int n;
    const int *token;
    const int *position;
    const unsigned char *sees;
};

/* state(l, i), d_model balls. */
void oracle_state(struct ball *state, const struct oracle *oracle, int l, int i);

/* The key and the value of token i and K/V head g in layer l, d_head balls each. */
void oracle_entry(struct ball *key, struct ball *value, const struct oracle *oracle, int l, int i,
                  int g);

/* The logits of token i, n_vocab balls. */
void oracle_logits(struct ball *logits, const struct oracle *oracle, int i);

/* The same where computations are in binary32 (FAST-2). The oracle's numbers are those above. */
void oracle_fp32_state(struct ball *state, const struct oracle *oracle, int l, int i);
void oracle_fp32_entry(struct ball *key, struct ball *value, const struct oracle *oracle, int l,
                       int i, int g);
void oracle_fp32_logits(struct ball *logits, const struct oracle *oracle, int i);

/* The same in double where the keys and values of a pool are rounded when they are stored, and the
 * two phases compute attention over it (TPP-5). It remembers the states and entries of a prompt, so
 * that a long one takes no long time. */
struct oracle_pool {
    struct oracle oracle;       /* of n tokens, up to ORACLE_MAX; this is first */
    long double unit, tiny;     /* a stored number is off by unit times itself, and by tiny */
    struct ball *state;         /* [n_layers + 1][n][d_model] */
    struct ball *key, *value;   /* [n_layers][n][n_kv_heads][d_head] */
    unsigned char *knows_state; /* [n_layers + 1][n] */
    unsigned char *knows_entry; /* [n_layers][n][n_kv_heads] */
};

/* Makes one of a prompt; type is that of the pool. The prompt stays where it is until the end. */
void oracle_pool_new(struct oracle_pool *pool, const struct oracle *oracle, int type);
void oracle_pool_free(struct oracle_pool *pool);
void oracle_pool_state(struct ball *state, const struct oracle *oracle, int l, int i);
void oracle_pool_entry(struct ball *key, struct ball *value, const struct oracle *oracle, int l,
                       int i, int g);
void oracle_pool_logits(struct ball *logits, const struct oracle *oracle, int i);

#endif
