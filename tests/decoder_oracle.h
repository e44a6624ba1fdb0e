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

#endif
