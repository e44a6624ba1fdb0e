/* SPDX-License-Identifier: Apache-2.0 */
/* A fast decoder's memory, and the steps of a run. */
#ifndef CHUNKPROOF_OPT_DECODER_INTERNAL_H
#define CHUNKPROOF_OPT_DECODER_INTERNAL_H

#include "chunkproof/opt_decoder.h"
#include "opt/project.h"

struct cp_opt_decoder {
    struct cp_opt *opt;
    const struct cp_decoder *decoder;
    int most_new, chunk_size, capacity;
    struct cp_plan *plan; /* one sequence, whose chunks are those of a cache, in order */
    float *x;             /* [most_new][d_model]: states */
    float *y;             /* [most_new][d_model] */
    float *q, *out;       /* [most_new][n_heads * d_head] */
    float *k, *v;         /* [most_new][n_kv_heads * d_head] */
    float *up, *gate;     /* [most_new][d_hidden] */
    float *cosine, *sine; /* [most_new][n_pairs] */
    double *angle;        /* [2][n_pairs] */
    float *room;          /* of cp_opt_project() */
    float *moved;         /* [capacity][d_head] */
    int *slot_of_old;     /* [capacity]: where an entry goes */
    int *behind;          /* [capacity]: entries behind the first new position, by position */
    int *slot_of_new;     /* [most_new] */
    void *workspace;      /* of attention */
    size_t workspace_size;
};

/* A run. */
struct opt_run {
    struct cp_opt_decoder *fast;
    const struct cp_decoder_shape *shape;
    struct cp_opt_cache *cache; /* with the new entries */
    const struct cp_opt_decoder_call *call;
};

/* Where entry e of layer l and K/V head g begins, in numbers. */
size_t cp_opt_entry_at(const struct cp_decoder_shape *shape, const struct cp_opt_cache *cache,
                       int l, int e, int g);

/* Checks a run, gives its new tokens their slots, and moves what must stand behind them. The cache
 * then has the new entries, without keys and values. A status of cp_opt_decoder_run(). */
int cp_opt_decoder_place(const struct cp_opt_decoder *fast, struct cp_opt_cache *cache,
                         const struct cp_opt_decoder_call *call);

/* Attention of all new tokens: fast->q and the cache to fast->out (LAYER-7). A status of
 * cp_opt_attend(). */
int cp_opt_decoder_attend(const struct opt_run *run, int l);

/* The least workspace that attention of the run's plan takes; 0 where there is none. */
size_t cp_opt_decoder_attention_size(const struct cp_opt_decoder *fast);

/* LAYER-2, 3: y = norm(x) of one row. */
void cp_opt_norm(float *y, const float *x, const float *weight, const float *bias,
                 const struct cp_decoder_shape *shape);

/* LAYER-8, 9, of one row: up becomes what `down` takes. */
void cp_opt_activate(const struct cp_opt_kernels *kernels, float *up, const float *gate, int n,
                     int network);

#endif
