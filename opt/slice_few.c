/* SPDX-License-Identifier: Apache-2.0 */
/* Few rows: K and V are read as they are, from one end to the other. */
#include "opt/slice.h"

/* Adds the values of a run to o. */
static void add_run(const struct opt_head *h, struct opt_run run, int all, int keys) {
    const struct opt_slice *slice = h->slice;
    const struct cp_attention *a = slice->call->attention;
    size_t stride = slice->call->sizes.stride;
    for (int i = 0, n, seen; i < slice->rows; i += n) {
        n = cp_opt_rows_alike(h, i, all, keys, &seen);
        seen = seen - run.first < run.n ? seen - run.first : run.n;
        if (seen > 0) {
            slice->kernels->values(h->at.o + (size_t)i * stride, stride,
                                   h->at.score + (size_t)i * CP_OPT_KEYS + run.first, n, run.v,
                                   a->kv_type, seen, a->head_dim);
        }
    }
}

/* Scores of a head of few rows: K is read as it is, from one end to the other. */
static void score_few(const struct opt_head *h, int tile, int keys) {
    const struct opt_slice *slice = h->slice;
    for (int key = tile; key < tile + keys;) {
        struct opt_run run = cp_opt_run(slice, h->g, key, tile, tile + keys);
        slice->kernels->dots(h->at.score + run.first, h->at.q, slice->call->sizes.stride,
                             slice->rows, run.k, slice->call->attention->kv_type, run.n,
                             slice->call->attention->head_dim);
        key += run.n;
    }
}

static void weigh_few(const struct opt_head *h) {
    struct opt_states states = opt_states_of(h);
    h->slice->kernels->weigh_rows(h->at.score, h->slice->rows,
                                  (float)h->slice->call->attention->scale, &states);
    cp_opt_rescale(h);
}

static void add_few(const struct opt_head *h, int tile, int keys, int all) {
    for (int key = tile; key < tile + keys;) {
        struct opt_run run = cp_opt_run(h->slice, h->g, key, tile, tile + keys);
        add_run(h, run, all, keys);
        key += run.n;
    }
}

/* All heads at once: memory would be idle during the weights of a single head.
 *
 *     1  scores of head 0, 1, ..: K of one head after the other
 *     2  weights of all heads: no memory
 *     3  values of head 0, 1, ..: V of one head after the other */
void cp_opt_tile_of_few(const struct opt_slice *slice, int tile, int keys, int all) {
    for (int x = 0; x < slice->n_heads; x++) {
        struct opt_head h = cp_opt_head(slice, x);
        score_few(&h, tile, keys); /* 1 */
    }
    for (int x = 0; x < slice->n_heads; x++) {
        struct opt_head h = cp_opt_head(slice, x);
        weigh_few(&h); /* 2 */
    }
    for (int x = 0; x < slice->n_heads; x++) {
        struct opt_head h = cp_opt_head(slice, x);
        add_few(&h, tile, keys, all); /* 3 */
    }
}
