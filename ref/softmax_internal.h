/* SPDX-License-Identifier: Apache-2.0 */
/* Partial attention with scores that are changed before they are weighed (spec/scores.md). */
#ifndef CHUNKPROOF_REF_SOFTMAX_INTERNAL_H
#define CHUNKPROOF_REF_SOFTMAX_INTERNAL_H

#include "chunkproof/softmax.h"

/* What the numbers of some keys, or values, are multiplied by (NUM-18). */
struct cp_scaling {
    const float *scales; /* NULL: 1 */
    size_t begin;        /* where the scale of the first key is */
    int each;            /* 1: the next key has the next one; 0: all have this one */
};

/* What is added to the scores of some keys, by their distance from a row (SCORE-5). */
struct cp_biasing {
    const double *bias; /* NULL: 0 */
    size_t begin;       /* where the entries of the query head are */
    int n, own;
};

/* How the scores of some keys are made (SCORE-4). Their positions are t, t + 1, ... */
struct cp_scoring {
    double scale;
    double cap;             /* SCORE-1: > 0; 0: none */
    double slope;           /* SCORE-2: of the query head; 0: none */
    double distance;        /* t less the position of the row */
    struct cp_biasing bias; /* SCORE-5 */
    struct cp_scaling k, v; /* of their keys, and values */
};

#ifdef __FRAMAC__
#include "proofs/logic/softmax_internal.h"
#endif

/* As cp_partial_attn(), with these scores. V has a type of its own, and o as many numbers as a row
 * of V, d_v (WIDTH-1); row `first` of V begins at element first * v_row (WIDTH-2). */
/*@
  requires valid: \valid(state) && \valid(o + (0 .. d_v - 1)) && \valid_read(q + (0 .. d - 1));
  requires size: 0 <= d && 0 <= d_v <= v_row && 0 <= n_keys <= CP_MAX_CHUNK_SIZE;
  requires places: rows_fit(first + n_keys, d) && rows_fit(first + n_keys, v_row);
  requires tpp_6: keys_and_values((void *)k, (void *)v, k_type, v_type, first, n_keys, d, d_v,
    v_row);
  requires num_18: scales_ready(how.k, n_keys) && scales_ready(how.v, n_keys);
  requires score_5: biases_ready(how.bias);
  requires apart: \separated(state, o + (0 .. d_v - 1), q + (0 .. d - 1));
  assigns *state, o[0 .. d_v - 1];
  ensures merge_2_ok: state_ok(*state, o, d_v);
  ensures merge_2_no_key: n_keys == 0 ==> state_has_no_key(*state);
  ensures merge_2_has_key: n_keys > 0 ==> state_has_key(*state);
  ensures merge_3_maximum: is_maximum{Pre}(q, (void *)k, k_type, first, d, made_by(how), n_keys,
    state->m);
  ensures merge_3_sums: key_sums{Pre,Post}(*state, o, q, (void *)k, (void *)v, k_type, v_type,
    first, d, d_v, v_row, made_by(how), n_keys);
*/
void cp_partial_attn_of(struct cp_state *state, double *o, const double *q, const void *k,
                        const void *v, int k_type, int v_type, size_t first, int n_keys, int d,
                        int d_v, int v_row, struct cp_scoring how);

#endif
