/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of the decoder share: a run with its workspace, and where entries are. */
#ifndef CHUNKPROOF_REF_DECODER_INTERNAL_H
#define CHUNKPROOF_REF_DECODER_INTERNAL_H

#include "chunkproof/decoder.h"

/* A run: its arguments, and the parts of its workspace in their order. */
struct run {
    const struct cp_decoder *decoder;
    const struct cp_decoder_shape *shape;
    const struct cp_decoder_cache *cache;
    const struct cp_decoder_call *call;
    double *x;      /* [n_new][d_model]: the states */
    double *y;      /* [n_new][d_model]: states, normed; then what is added to them */
    double *q;      /* [n_new][n_heads][d_head] */
    double *out;    /* [n_new][n_heads][d_head]: attention */
    double *up;     /* [n_new][d_hidden] */
    double *gate;   /* [n_new][d_hidden] */
    double *cosine; /* [n_new][n_pairs]: the rotation of each new token */
    double *sine;   /* [n_new][n_pairs] */
    double *o;      /* [d_head] */
    int *order;     /* [cache->n + n_new]: all entries, by position */
};

/* Numbers of a key, or a value, for all K/V heads. */
static inline int cp_entry_width(const struct cp_decoder_shape *shape) {
    return shape->n_kv_heads * shape->d_head;
}

/* The index of element 0 of entry e in layer l. */
static inline size_t cp_entry_at(const struct cp_decoder_shape *shape,
                                 const struct cp_decoder_cache *cache, int l, int e) {
    size_t entry = (size_t)l * (size_t)cache->capacity + (size_t)e;
    return entry * (size_t)cp_entry_width(shape);
}

/* Writes the numbers 0 .. n - 1 so that position[order[i]] does not fall, and of entries with one
 * position the smaller number is first (LAYER-12). */
void cp_order_by_position(int *order, const int *position, int n);

/* Attention of new token i in layer l: run->q to run->out, for all heads (LAYER-7). */
void cp_attend_token(const struct run *run, int l, int i);

#endif
