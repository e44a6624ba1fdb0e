/* SPDX-License-Identifier: Apache-2.0 */
/* Many rows: K and V are converted to binary32 once and used by all rows; or the multiplier does
 * the work. A tile of 64 keys with 64 rows and d = 128, for example, where each array of the
 * scratch stays in the cache:
 *
 *     K [64 keys][128], as stored                V [64 keys][128], as stored
 *       |  16 keys at a time                       |  64 numbers of each value at a time
 *       v  1a                                      v  3a
 *     tile [16][128]  8 KiB                      tile [64][64]  16 KiB
 *       |  x q_columns [128][64 rows]              |  x score
 *       v  1b                                      v  3b
 *     score [64 keys][64 rows]  16 KiB -- 2 -->  o [64 rows][128]
 *                               weights
 *
 *     1  score_tile(), for keys 0, 16, 32, 48: 1a widen 16 keys, 1b their scores with all rows
 *     2  weigh(): scores become weights; a row's o is rescaled where its maximum has grown
 *     3  for panels x = 0, 64 of V: 3a widen numbers x .. x+63 of 64 values, 3b add to o
 *
 * Meanwhile what comes next is prefetched, K during 1 and V during 3, in equal shares: while step 1
 * scores keys 0 .. 15, keys 0 .. 15 of the next tile; in panel 0, values 0 .. 31. */
#include <math.h>

#include "opt/slice.h"

#define LINE 64 /* bytes of a cache line */

static void ask_for_all(struct opt_wanted wanted) {
    for (; wanted.at < wanted.end; wanted.at += LINE) {
        __builtin_prefetch(wanted.at, 0, 1);
    }
}

/* Prefetches keys first .. end-1 of the next tile, or their values. Their first run is left to
 * the coming product; the other runs, if chunks are small, are requested here. */
static struct opt_wanted want_next(const struct opt_head *h, int first, int end, int values) {
    const struct opt_slice *slice = h->slice;
    const struct cp_attention *a = slice->call->attention;
    size_t row = opt_row_bytes(a, values);
    size_t last = values ? (size_t)a->value_dim * cp_number_size(a->v_type) : row;
    struct opt_wanted left = {NULL, NULL};
    end += h->next_tile;
    end = end < slice->end ? end : slice->end;
    for (int key = h->next_tile + first; key < end;) {
        struct opt_run run = cp_opt_run(slice, h->next_g, key, key, end);
        const char *from = values ? run.v : run.k;
        struct opt_wanted wanted = {from, from + (size_t)(run.n - 1) * row + last};
        if (left.at == NULL) {
            left = wanted;
        } else {
            ask_for_all(wanted);
        }
        key += run.n;
    }
    return left;
}

/* Keys first .. end-1 of the task in binary32. */
static void widen_keys(const struct opt_head *h, int first, int end) {
    const struct cp_attention *a = h->slice->call->attention;
    size_t stride = h->slice->call->sizes.stride;
    for (int key = first; key < end;) {
        struct opt_run run = cp_opt_run(h->slice, h->g, key, first, end);
        h->slice->kernels->widen(h->at.tile + (size_t)run.first * stride, stride, run.k,
                                 (size_t)a->head_dim, a->k_type, run.n, a->head_dim);
        key += run.n;
    }
}

/* Numbers x .. x + CP_OPT_PANEL - 1 of the values of these keys. */
static void widen_values(const struct opt_head *h, int first, int end, int x) {
    const struct cp_attention *a = h->slice->call->attention;
    size_t away = (size_t)x * cp_number_size(a->v_type);
    int n = a->value_dim - x < CP_OPT_PANEL ? a->value_dim - x : CP_OPT_PANEL;
    for (int key = first; key < end;) {
        struct opt_run run = cp_opt_run(h->slice, h->g, key, first, end);
        h->slice->kernels->widen(h->at.tile + (size_t)run.first * CP_OPT_PANEL, CP_OPT_PANEL,
                                 (const char *)run.v + away, (size_t)a->v_row, a->v_type, run.n, n);
        key += run.n;
    }
}

/* The values of keys begin .. end - 1 of the tile, to rows i .. i + n - 1. */
static void add_range(const struct opt_head *h, int i, int n, int begin, int end, int x,
                      struct opt_wanted *wanted) {
    const struct opt_slice *slice = h->slice;
    size_t stride = slice->call->sizes.o_stride, padded = (size_t)slice->padded_rows;
    int width = (int)stride - x < CP_OPT_PANEL ? (int)stride - x : CP_OPT_PANEL;
    struct opt_matrix weight = {h->at.score + (size_t)begin * padded + i, 1, padded};
    if (begin < end) {
        slice->kernels->product(h->at.o + (size_t)i * stride + x, stride, weight,
                                h->at.tile + (size_t)begin * CP_OPT_PANEL, CP_OPT_PANEL, n, width,
                                end - begin, 1, wanted);
    }
}

/* MASK-2: adds the panel's values, of each range that the mask leaves. */
static void add_left(const struct opt_head *h, int x, struct opt_wanted *wanted) {
    uint64_t left;
    for (int i = 0, n, begin, end; i < h->slice->rows; i += n) {
        n = cp_opt_rows_left_alike(h, i, &left);
        while (opt_next_range(&left, &begin, &end)) {
            add_range(h, i, n, begin, end, x, wanted);
        }
    }
}

/* Adds the panel's values to numbers x .. x + CP_OPT_PANEL - 1 of o. */
static void add_values(const struct opt_head *h, const struct opt_tile *tile, int x,
                       struct opt_wanted *wanted) {
    struct opt_seen seen;
    for (int i = 0, n; i < h->slice->rows; i += n) {
        n = cp_opt_rows_alike(h, i, tile, &seen);
        add_range(h, i, n, 0, seen.kept, x, wanted);
        add_range(h, i, n, seen.begin, seen.end, x, wanted);
    }
}

/* Scores of keys first .. end-1 of the tile at key `tile`. */
static void score_keys(const struct opt_head *h, int tile, int first, int end,
                       struct opt_wanted *wanted) {
    const struct opt_slice *slice = h->slice;
    size_t stride = slice->call->sizes.stride, padded = (size_t)slice->padded_rows;
    struct opt_matrix k = {h->at.tile, stride, 1};
    widen_keys(h, first, end); /* 1a; 1b: */
    slice->kernels->product(h->at.score + (size_t)(first - tile) * padded, padded, k,
                            h->at.q_columns, padded, end - first, slice->padded_rows,
                            slice->call->attention->head_dim, 0, wanted);
}

/* ---- By the loops: a few keys at a time, then a few numbers of all values; converted data
 * stays in the cache ---- */

static void score_tile(const struct opt_head *h, int tile, int keys) {
    for (int key = 0; key < keys; key += OPT_AT_ONCE) {
        int end = keys - key < OPT_AT_ONCE ? keys : key + OPT_AT_ONCE;
        struct opt_wanted wanted = want_next(h, key, end, 0);
        score_keys(h, tile, tile + key, tile + end, &wanted);
        ask_for_all(wanted);
    }
}

static void add_panel(const struct opt_head *h, const struct opt_tile *tile, int x,
                      struct opt_wanted *wanted) {
    widen_values(h, tile->first, tile->first + tile->n, x); /* 3a */
    if (tile->masked) {
        add_left(h, x, wanted);
    } else {
        add_values(h, tile, x, wanted); /* 3b */
    }
}

/* ---- By the multiplier; 0: not, some number is not ordinary ---- */

/* Where the keys of a tile begin, or their values. */
static struct opt_keys keys_of(const struct opt_head *h, int tile, int keys, int values,
                               const void **at) {
    const struct cp_attention *a = h->slice->call->attention;
    int type = values ? a->v_type : a->k_type;
    size_t bytes = opt_row_bytes(a, values);
    for (int key = tile; key < tile + keys;) {
        struct opt_run run = cp_opt_run(h->slice, h->g, key, tile, tile + keys);
        const char *from = values ? run.v : run.k;
        for (int i = 0; i < run.n; i++) {
            at[run.first + i] = from + (size_t)i * bytes;
        }
        key += run.n;
    }
    return (struct opt_keys){at, type, keys};
}

static int multiply_scores(const struct opt_head *h, int tile, int keys) {
    const struct opt_slice *slice = h->slice;
    const struct cp_attention *a = slice->call->attention;
    const void *at[CP_OPT_KEYS];
    if (!slice->multiplied[h->x]) {
        return 0;
    }
    struct opt_keys k = keys_of(h, tile, keys, 0, at);
    struct opt_wanted wanted = want_next(h, 0, keys, 0);
    int done =
        slice->kernels->multiplier.scores(h->at.score, h->at.queries, a->q_type, slice->padded_rows,
                                          k, a->head_dim, h->at.room, &wanted);
    ask_for_all(wanted);
    return done;
}

static int multiplies_values(const struct opt_head *h) {
    return h->slice->multiplied[h->x] && h->slice->kernels->multiplier.add_values != NULL;
}

static int multiply_panel(const struct opt_head *h, int tile, int keys, int x,
                          struct opt_wanted *wanted) {
    const struct opt_slice *slice = h->slice;
    const void *at[CP_OPT_KEYS];
    if (!multiplies_values(h)) {
        return 0;
    }
    struct opt_keys v = keys_of(h, tile, keys, 1, at);
    return slice->kernels->multiplier.add_values(
        h->at.o, slice->call->sizes.o_stride, slice->rows, slice->padded_rows, v, x,
        slice->call->attention->value_dim, h->at.room, wanted);
}

/* ---- Either ---- */

/* NUM-18: scores, or weights, times the scales of their keys, or values. */
static void scale_many(const struct opt_head *h, const struct opt_tile *tile, const float *scales) {
    float scale[CP_OPT_KEYS];
    int rows = h->slice->padded_rows, has_scales = cp_opt_scales_of(h, tile, scales, scale);
    for (int j = 0; j < tile->n && has_scales; j++) {
        float *column = h->at.score + (size_t)j * (size_t)rows;
        h->slice->kernels->scale(column, column, scale[j], rows);
    }
}

/* MASK-2: scores times scale; -infinity for keys that the row does not see. */
static void hide_many(const struct opt_head *h, const struct opt_tile *tile, float scale) {
    for (int j = 0; j < tile->n; j++) {
        float *column = h->at.score + (size_t)j * (size_t)h->slice->padded_rows;
        for (int i = 0; i < h->slice->rows; i++) {
            column[i] = h->slice->left[i] >> j & 1 ? column[i] * scale : -INFINITY;
        }
    }
}

static void weigh(const struct opt_head *h, const struct opt_tile *tile) {
    const struct opt_slice *slice = h->slice;
    const struct cp_attention *a = slice->call->attention;
    struct opt_states states = opt_states_of(h, tile);
    float scale = (float)a->scale;
    scale_many(h, tile, a->scales.k);
    if (opt_changes_scores(slice)) {
        struct opt_change change = cp_opt_change_of(h);
        slice->kernels->change_columns(h->at.score, tile->n, slice->padded_rows, &change);
        if (a->scores.biases.bias != NULL) {
            cp_opt_add_biases(h, tile);
        }
        scale = 1.0F;
    }
    if (tile->masked) {
        hide_many(h, tile, scale);
        scale = 1.0F;
    }
    slice->kernels->weigh_columns(h->at.score, tile->n, slice->padded_rows, scale, &states);
    scale_many(h, tile, a->scales.v);
    cp_opt_rescale(h);
    if (multiplies_values(h)) {
        slice->kernels->multiplier.take_weights(h->at.score, slice->padded_rows, tile->n,
                                                h->at.room);
    }
}

void cp_opt_tile_of_many(const struct opt_head *h, const struct opt_tile *tile) {
    int d_v = h->slice->call->attention->value_dim, keys = tile->n;
    if (!multiply_scores(h, tile->first, keys)) {
        score_tile(h, tile->first, keys); /* 1 */
    }
    weigh(h, tile);                               /* 2 */
    for (int x = 0; x < d_v; x += CP_OPT_PANEL) { /* 3 */
        struct opt_wanted wanted = want_next(h, (int)((long long)keys * x / d_v),
                                             (int)((long long)keys * (x + CP_OPT_PANEL) / d_v), 1);
        if (!multiply_panel(h, tile->first, keys, x, &wanted)) {
            add_panel(h, tile, x, &wanted);
        }
        ask_for_all(wanted);
    }
}
