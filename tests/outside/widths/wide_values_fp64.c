/* SPDX-License-Identifier: Apache-2.0 */
/* Modelled on FlashAttention-3's kernels whose values are wider than keys (head dim 64, values of
 * 256 or 512): two warp groups hold half of o each and read half of V, in blocks of 64 numbers.
 * Keys are paged, by a block table, in two tensors [page][K/V head][slot][numbers]. Two splits of
 * the keys, tile by tile in turn, are merged at the end. Everything is computed in binary64, as a
 * project's own reference on a CPU is. */
#include <math.h>
#include <string.h>

#include <chunkproof/kernel.h>

#ifndef MISTAKE
#define MISTAKE 0
#endif

enum { TILE = 16, BLOCK = 64 };

struct state {
    double m, n;
    double *o;
};

static const char *refuses(const struct cp_kernel_call *c) {
    return c->value_dim < c->head_dim ? "values must be as wide as keys, or wider" : NULL;
}

static size_t workspace(const struct cp_kernel_call *c) {
#if MISTAKE == 1
    return (size_t)(c->value_dim + c->head_dim) * sizeof(double);
#else
    return 2 * (size_t)c->value_dim * sizeof(double);
#endif
}

/* o += weight v for the numbers begin .. end - 1 */
static void add(double *o, double weight, const float *v, int begin, int end) {
#if MISTAKE == 2
    for (int b = begin; b + BLOCK <= end || b == begin; b += BLOCK)
#else
    for (int b = begin; b < end; b += BLOCK)
#endif
        for (int i = b; i < b + BLOCK && i < end; i++) o[i] += weight * v[i];
}

static void tile_of(const struct cp_kernel_call *c, struct state *t, const float *q, const int *pages,
                    int g, int first, int keys) {
    const int d = c->head_dim, dv = c->value_dim;
    double p[TILE], top = t->m;
    for (int j = 0; j < keys; j++) {
        const int page = pages[(first + j) / c->page_size], slot = (first + j) % c->page_size;
        const float *k = (const float *)c->k + page * c->k_chunk + g * c->k_head + slot * c->k_slot;
#if MISTAKE == 3
        float sum = 0;
#else
        double sum = 0;
#endif
#if MISTAKE == 4
        const int width = d < BLOCK ? d : d / 2 * 2;
#else
        const int width = d;
#endif
        for (int i = 0; i < width; i++) sum += (double)q[i] * k[i];
        p[j] = sum * c->scale;
        if (p[j] > top) top = p[j];
    }
#if MISTAKE == 5
    const double factor = t->n > 0 ? (double)expf((float)(t->m - top)) : 0;
#else
    const double factor = t->n > 0 ? exp(t->m - top) : 0;
#endif
#if MISTAKE == 6
    const int width = d; /* o is d wide */
#elif MISTAKE == 7
    const int width = keys < TILE && t->n > 0 ? dv - dv / 2 : dv; /* by the first group alone */
#else
    const int width = dv;
#endif
    for (int i = 0; i < width; i++) t->o[i] *= factor;
    t->n *= factor;
    t->m = top;
    for (int j = 0; j < keys; j++) {
        const int page = pages[(first + j) / c->page_size], slot = (first + j) % c->page_size;
#if MISTAKE == 8
        const float *v = (const float *)c->v + page * c->v_chunk + g * c->v_head + slot * d;
#elif MISTAKE == 9
        (void)page;
        /* the page of V lies where that of the tile's first key does, slot by slot */
        const float *v = (const float *)c->v + pages[first / c->page_size] * c->v_chunk +
                         g * c->v_head + slot * c->v_slot;
#elif MISTAKE == 10
        const float *v = (const float *)c->v + page * c->v_chunk +
                         (c->n_kv_heads > 1 ? g * c->k_head / d * dv : 0) + slot * c->v_slot;
#else
        const float *v = (const float *)c->v + page * c->v_chunk + g * c->v_head + slot * c->v_slot;
#endif
        const double weight = exp(p[j] - top);
        t->n += weight;
        const int half = dv / 2;
        add(t->o, weight, v, 0, half);
#if MISTAKE == 11
        add(t->o, weight, v, half, half + half); /* both have half of it, rounded down */
#else
        add(t->o, weight, v, half, dv);
#endif
    }
}

static void merge(const struct cp_kernel_call *c, struct state *a, const struct state *b) {
    if (b->n == 0) return;
    const double top = a->m > b->m ? a->m : b->m;
    const double x = exp(a->m - top), y = exp(b->m - top);
#if MISTAKE == 12
    for (int i = 0; i < c->head_dim; i++) a->o[i] = a->o[i] * x + b->o[i] * y;
#elif MISTAKE == 13
    for (int i = 0; i < c->value_dim; i++)
        a->o[i] = i < 256 ? a->o[i] * x + b->o[i] * y : a->o[i]; /* 256 threads */
#else
    for (int i = 0; i < c->value_dim; i++) a->o[i] = a->o[i] * x + b->o[i] * y;
#endif
    a->n = a->n * x + b->n * y;
    a->m = top;
}

static void row_of(const struct cp_kernel_call *c, int s, int row, int head) {
    const int dv = c->value_dim;
    const int *pages = c->page_table + (size_t)s * (size_t)c->page_table_width;
    const float *q = (const float *)c->q + row * c->q_row + head * c->q_head;
    double *work = c->workspace;
    struct state t[2];
    int n = c->position[row] + 1;
    n = n < 0 ? 0 : n;
    for (int i = 0; i < 2; i++) {
#if MISTAKE == 14
        t[i].o = work + i * (c->head_dim > dv / 2 ? dv : c->head_dim);
#else
        t[i].o = work + i * dv;
#endif
        t[i].m = -INFINITY;
        t[i].n = 0;
    }
#if MISTAKE == 15
    for (int i = 0; i < 2; i++) memset(t[i].o, 0, (size_t)c->head_dim * sizeof *work);
#else
    for (int i = 0; i < 2; i++) memset(t[i].o, 0, (size_t)dv * sizeof *work);
#endif
    for (int first = 0; first < n; first += TILE)
        tile_of(c, &t[first / TILE % 2], q, pages, head / (c->n_heads / c->n_kv_heads), first,
                n - first < TILE ? n - first : TILE);
    merge(c, &t[0], &t[1]);
    float *out = (float *)c->out + row * c->out_row + head * c->out_head;
#if MISTAKE == 16
    for (int i = 0; i < dv; i++) out[i] = t[0].n > 0 ? (float)t[0].o[i] / (float)t[0].n : 0;
#else
    for (int i = 0; i < dv; i++) out[i] = t[0].n > 0 ? (float)(t[0].o[i] / t[0].n) : 0;
#endif
    if (c->lse)
        ((double *)c->lse)[row * c->lse_row + head * c->lse_head] =
            t[0].n > 0 ? t[0].m + log(t[0].n) : -INFINITY;
}

static int attend(const struct cp_kernel_call *c) {
    for (int s = 0; s < c->n_sequences; s++)
        for (int row = c->query_begin[s]; row < c->query_begin[s + 1]; row++)
            for (int head = 0; head < c->n_heads; head++) row_of(c, s, row, head);
    return 0;
}

const struct cp_kernel cp_kernel = {
    .abi = CP_KERNEL_ABI,
    .name = "values wider than keys, binary64",
    .q_type = CP_FP32, .kv_type = CP_FP32, .out_type = CP_FP32, .lse_type = CP_FP64,
    .widths = CP_WIDTHS_ANY,
    .layout = {.pages = CP_PAGES_OWN, .order = CP_ORDER_HND},
    .arithmetic = {.score = CP_SUM_FP64, .weights = CP_FP32, .rotated = CP_FP32,
                   .k_dequantised = CP_FP32, .v_dequantised = CP_FP32,
                   .scales = CP_SCALES_SCORES, .values = CP_SUM_FP64, .partials = CP_FP32,
                   .factors = CP_FACTORS_FP32, .exp_error = 0x1p-50, .step = TILE},
    .refuses = refuses, .workspace = workspace, .attend = attend,
};
