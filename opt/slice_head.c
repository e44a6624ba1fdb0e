/* SPDX-License-Identifier: Apache-2.0 */
/* What a slice of few rows and one of many ask of a K/V head: its part of the scratch, its runs of
 * keys, which rows see the same keys, how their scores change, and the rescaling of o. */
#include "opt/slice.h"

struct opt_head cp_opt_head(const struct opt_slice *slice, int x) {
    const struct opt_sizes *sizes = &slice->call->sizes;
    size_t rows = (size_t)x * (size_t)slice->task->width;
    struct opt_head h = {slice, x, slice->first_head + x, *slice->at, 0, 0};
    h.at.q += rows * sizes->stride;
    h.at.q_columns += rows * sizes->stride;
    h.at.o += rows * sizes->o_stride;
    h.at.m += rows;
    h.at.n += rows;
    h.at.factor += rows;
    h.at.score += rows * CP_OPT_KEYS;
    h.at.queries += rows * sizes->queries;
    return h;
}

int cp_opt_query_head(const struct opt_head *h, int i) {
    int group = opt_group_of(h->slice->call->attention);
    return h->g * group + (int)((h->slice->first + i) % group);
}

/* The k-th chunk of the task. */
static size_t chunk_of(const struct opt_slice *slice, int k) {
    const struct cp_plan *plan = slice->call->attention->plan;
    const struct opt_task *t = slice->task;
    int is_shared = t->end - t->begin > 1;
    return (size_t)(is_shared ? plan->shared[t->first + k].chunk
                              : plan->sequence[t->begin].run[t->first + k].chunk);
}

struct opt_run cp_opt_run(const struct opt_slice *slice, int g, int key, int tile, int end) {
    const struct cp_attention *a = slice->call->attention;
    int c = a->plan->chunk_size, slot = key % c, n = c - slot < end - key ? c - slot : end - key;
    size_t at =
        (chunk_of(slice, key / c) * (size_t)a->n_kv_heads + (size_t)g) * (size_t)c + (size_t)slot;
    return (struct opt_run){(const char *)a->k + at * opt_row_bytes(a, 0),
                            (const char *)a->v + at * opt_row_bytes(a, 1), at, key - tile, n};
}

int cp_opt_scales_of(const struct opt_head *h, const struct opt_tile *tile, const float *scales,
                     float scale[CP_OPT_KEYS]) {
    int per = h->slice->call->attention->scales.per, end = tile->first + tile->n;
    for (int key = tile->first; key < end && scales != NULL;) {
        struct opt_run run = cp_opt_run(h->slice, h->g, key, tile->first, end);
        for (int i = 0; i < run.n; i++) {
            scale[run.first + i] = per == CP_CACHE_SCALE_TOKEN  ? scales[run.row + (size_t)i]
                                   : per == CP_CACHE_SCALE_HEAD ? scales[h->g]
                                                                : scales[0];
        }
        key += run.n;
    }
    return scales != NULL;
}

struct opt_change cp_opt_change_of(const struct opt_head *h) {
    const struct cp_attention *a = h->slice->call->attention;
    double cap = a->scores.cap;
    int biased = a->scores.slopes != NULL;
    return (struct opt_change){.scale = (float)a->scale,
                               .cap = (float)cap,
                               .inverse = cap != 0.0 ? (float)(1.0 / cap) : 0.0F,
                               .slope = biased ? opt_slopes_of(h) : NULL,
                               .distance = biased ? opt_distances(&h->at) : NULL};
}

void cp_opt_rescale(const struct opt_head *h) {
    size_t stride = h->slice->call->sizes.o_stride;
    for (int i = 0; i < h->slice->rows; i++) {
        float *o = h->at.o + (size_t)i * stride;
        if (h->at.factor[i] != 1.0F) {
            h->slice->kernels->scale(o, o, h->at.factor[i], (int)stride);
        }
    }
}

int cp_opt_rows_alike(const struct opt_head *h, int i, const struct opt_tile *tile,
                      struct opt_seen *seen) {
    int n = tile->all ? h->slice->rows - i : 1;
    *seen = opt_seen_in_tile(&h->at, i, tile);
    for (; i + n < h->slice->rows; n++) {
        struct opt_seen other = opt_seen_in_tile(&h->at, i + n, tile);
        if (other.kept != seen->kept || other.begin != seen->begin || other.end != seen->end) {
            break;
        }
    }
    return n;
}

int cp_opt_rows_left_alike(const struct opt_head *h, int i, uint64_t *left) {
    int n = 1;
    *left = h->slice->left[i];
    while (i + n < h->slice->rows && h->slice->left[i + n] == *left) {
        n++;
    }
    return n;
}
