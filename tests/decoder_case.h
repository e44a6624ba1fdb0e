/* SPDX-License-Identifier: Apache-2.0 */
/* Random tiny decoders for tests, with their memory; and runs of them. */
#ifndef CHUNKPROOF_TESTS_DECODER_CASE_H
#define CHUNKPROOF_TESTS_DECODER_CASE_H

#include "chunkproof/decoder.h"

#define CASE_LAYERS  3
#define CASE_WEIGHTS 20000
#define CASE_TOKENS  96 /* in a cache */
#define CASE_WIDTH   48 /* n_heads * d_head, and d_model, at most */
#define CASE_NUMBERS (CASE_LAYERS * CASE_TOKENS * CASE_WIDTH)

struct decoder_case {
    struct cp_decoder decoder;
    struct cp_decoder_layer layer[CASE_LAYERS];
    float weight[CASE_WEIGHTS];
    int n_weights;
    double frequency[CASE_WIDTH];
};

/* Makes a decoder of some layers, with the given kind of positions; the other kinds, the sizes and
 * which biases there are come from `random`. Learned positions are 0 .. CASE_TOKENS - 1. */
void decoder_case_make(struct decoder_case *c, unsigned long long *random, int positions,
                       int n_layers);

struct decoder_cache {
    struct cp_decoder_cache cache;
    int position[CASE_TOKENS];
    double k[CASE_NUMBERS], v[CASE_NUMBERS];
};

/* An empty cache with room for CASE_TOKENS. Its memory is poisoned with NaN, so that what is read
 * before it is written shows. */
void decoder_case_cache(struct decoder_cache *c);

/* Runs n tokens in a workspace of exactly the right size, poisoned likewise. Aborts when the run
 * writes behind it. states and logits are as in cp_decoder_call; first_logits is 0. Returns
 * cp_decoder_run()'s status. */
int decoder_case_run(const struct decoder_case *c, struct decoder_cache *cache, int n,
                     const int *token, const int *position, const unsigned char *sees,
                     double *states, double *logits);

/* Where the key of entry e begins in k, and its value in v, for a layer and a K/V head. */
size_t decoder_case_at(const struct decoder_case *c, const struct decoder_cache *cache, int l,
                       int e, int g);

/* Do two caches have the same bits at these entries, at all layers, and the same position? */
int decoder_case_same_entry(const struct decoder_case *c, const struct decoder_cache *a, int e,
                            const struct decoder_cache *b, int f);

#endif
