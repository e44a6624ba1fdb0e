/* SPDX-License-Identifier: Apache-2.0 */
/* Few rows: K and V are read as they are, from one end to the other. */
#include <math.h>

#include "opt/slice.h"

/* Adds the values of keys begin .. end - 1 of the tile, if they are in the run, to rows
 * i .. i + n - 1 of o. */
static void add_range(const struct opt_head *h, struct opt_run run, int i, int n, int begin,
                      int end) {
    const struct opt_slice *slice = h->slice;
    const struct cp_attention *a = slice->call->attention;
    size_t stride = slice->call->sizes.o_stride;
    begin = begin > run.first ? begin : run.first;
    end = end < run.first + run.n ? end : run.first + run.n;
    if (begin < end) {
        const char *v = (const char *)run.v + (size_t)(begin - run.first) * opt_row_bytes(a, 1);
        slice->kernels->values(h->at.o + (size_t)i * stride, stride,
                               h->at.score + (size_t)i * CP_OPT_KEYS + begin, n, v,
                               (size_t)a->v_row, a->v_type, end - begin, a->value_dim);
    }
}

/* MASK-2: adds the values of a run to o, of each range that the mask leaves. */
static void add_left(const struct opt_head *h, struct opt_run run) {
    uint64_t left;
    for (int i = 0, n, begin, end; i < h->slice->rows; i += n) {
        n = cp_opt_rows_left_alike(h, i, &left);
        while (opt_next_range(&left, &begin, &end)) {
            add_range(h, run, i, n, begin, end);
        }
    }
}

/* Adds the values of a run to o. */
static void add_run(const struct opt_head *h, struct opt_run run, const struct opt_tile *tile) {
    struct opt_seen seen;
    for (int i = 0, n; i < h->slice->rows; i += n) {
        n = cp_opt_rows_alike(h, i, tile, &seen);
        add_range(h, run, i, n, 0, seen.kept);
        add_range(h, run, i, n, seen.begin, seen.end);
    }
}

/* Scores of a head of few rows: K is read as it is, from one end to the other. */
static void score_few(const struct opt_head *h, const struct opt_tile *tile) {
    const struct opt_slice *slice = h->slice;
    for (int key = tile->first, end = key + tile->n; key < end;) {
        struct opt_run run = cp_opt_run(slice, h->g, key, tile->first, end);
        slice->kernels->dots(h->at.score + run.first, h->at.q, slice->call->sizes.stride,
                             slice->rows, run.k, slice->call->attention->k_type, run.n,
                             slice->call->attention->head_dim);
        key += run.n;
    }
}

/* NUM-18: scores, or weights, times the scales of their keys, or values. */
static void scale_few(const struct opt_head *h, const struct opt_tile *tile, const float *scales) {
    float scale[CP_OPT_KEYS];
    if (!cp_opt_scales_of(h, tile, scales, scale)) {
        return;
    }
    for (int i = 0; i < h->slice->rows; i++) {
        float *row = h->at.score + (size_t)i * CP_OPT_KEYS;
        for (int j = 0; j < tile->n; j++) {
            row[j] *= scale[j];
        }
    }
}

/* MASK-2: scores times scale; -infinity for keys that the row does not see. */
static void hide_few(const struct opt_head *h, const struct opt_tile *tile, float scale) {
    for (int i = 0; i < h->slice->rows; i++) {
        float *row = h->at.score + (size_t)i * CP_OPT_KEYS;
        for (int j = 0; j < tile->n; j++) {
            row[j] = h->slice->left[i] >> j & 1 ? row[j] * scale : -INFINITY;
        }
    }
}

static void weigh_few(const struct opt_head *h, const struct opt_tile *tile) {
    const struct opt_slice *slice = h->slice;
    struct opt_states states = opt_states_of(h, tile);
    const struct cp_attention *a = slice->call->attention;
    float scale = (float)a->scale;
    scale_few(h, tile, a->scales.k);
    if (opt_changes_scores(slice)) {
        struct opt_change change = cp_opt_change_of(h);
        slice->kernels->change_rows(h->at.score, slice->rows, tile->n, &change);
        if (a->scores.biases.bias != NULL) {
            cp_opt_add_biases(h, tile);
        }
        scale = 1.0F;
    }
    if (tile->masked) {
        hide_few(h, tile, scale);
        scale = 1.0F;
    }
    slice->kernels->weigh_rows(h->at.score, slice->rows, scale, &states);
    scale_few(h, tile, a->scales.v);
    cp_opt_rescale(h);
}

static void add_few(const struct opt_head *h, const struct opt_tile *tile) {
    for (int key = tile->first, end = key + tile->n; key < end;) {
        struct opt_run run = cp_opt_run(h->slice, h->g, key, tile->first, end);
        if (tile->masked) {
            add_left(h, run);
        } else {
            add_run(h, run, tile);
        }
        key += run.n;
    }
}

/* All heads at once: memory would be idle during the weights of a single head.
 *
 *     1  scores of head 0, 1, ..: K of one head after the other
 *     2  weights of all heads: no memory
 *     3  values of head 0, 1, ..: V of one head after the other */
void cp_opt_tile_of_few(const struct opt_slice *slice, const struct opt_tile *tile) {
    for (int x = 0; x < slice->n_heads; x++) {
        struct opt_head h = cp_opt_head(slice, x);
        score_few(&h, tile); /* 1 */
    }
    for (int x = 0; x < slice->n_heads; x++) {
        struct opt_head h = cp_opt_head(slice, x);
        weigh_few(&h, tile); /* 2 */
    }
    for (int x = 0; x < slice->n_heads; x++) {
        struct opt_head h = cp_opt_head(slice, x);
        add_few(&h, tile); /* 3 */
    }
}
