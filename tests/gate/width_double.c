/* SPDX-License-Identifier: Apache-2.0 */
/* Modelled on FlashAttention-3's kernels whose values are wider than keys (head dim 64, values of
 * 256 or 512): two warp groups hold half of o each and read half of V, in blocks of 64 numbers.
 * Keys are paged, by a block table, in two tensors [page][K/V head][slot][numbers]. Two splits of
 * the keys, tile by tile in turn, are merged at the end. Everything is computed in binary64, as a
 * project's own reference on a CPU is. Somebody who had seen the header and the specification
 * alone wrote it, with the mistakes that tests/faults/ makes of it. */
#include "page_numbers.h"

enum { TILE = 16, BLOCK = 64 };

struct state {
    double m, n;
    double *o;
};

static const char *refuses(const struct cp_kernel_call *c) {
    return c->value_dim < c->head_dim ? "values must be as wide as keys, or wider" : NULL;
}

static size_t workspace(const struct cp_kernel_call *c) {
    return 2 * (size_t)c->value_dim * sizeof(double);
}

/* o += weight v for the numbers begin .. end - 1 */
static void add(double *o, double weight, const float *v, int begin, int end) {
    for (int b = begin; b < end; b += BLOCK)
        for (int i = b; i < b + BLOCK && i < end; i++)
            o[i] += weight * v[i];
}

static void tile_of(const struct cp_kernel_call *c, struct state *t, const float *q,
                    const int *pages, int g, int first, int keys) {
    const int d = c->head_dim, dv = c->value_dim;
    double p[TILE], top = t->m;
    for (int j = 0; j < keys; j++) {
        const int page = pages[(first + j) / c->page_size], slot = (first + j) % c->page_size;
        const float *k = (const float *)c->k + page * c->k_chunk + g * c->k_head + slot * c->k_slot;
        double sum = 0;
        const int width = d;
        for (int i = 0; i < width; i++)
            sum += (double)q[i] * k[i];
        p[j] = sum * c->scale;
        if (p[j] > top)
            top = p[j];
    }
    const double factor = t->n > 0 ? exp(t->m - top) : 0;
    const int width = dv;
    for (int i = 0; i < width; i++)
        t->o[i] *= factor;
    t->n *= factor;
    t->m = top;
    for (int j = 0; j < keys; j++) {
        const int page = pages[(first + j) / c->page_size], slot = (first + j) % c->page_size;
        const float *v = (const float *)c->v + page * c->v_chunk + g * c->v_head + slot * c->v_slot;
        const double weight = exp(p[j] - top);
        t->n += weight;
        const int half = dv / 2;
        add(t->o, weight, v, 0, half);
        add(t->o, weight, v, half, dv);
    }
}

static void merge(const struct cp_kernel_call *c, struct state *a, const struct state *b) {
    if (b->n == 0)
        return;
    const double top = a->m > b->m ? a->m : b->m;
    const double x = exp(a->m - top), y = exp(b->m - top);
    for (int i = 0; i < c->value_dim; i++)
        a->o[i] = a->o[i] * x + b->o[i] * y;
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
        t[i].o = work + i * dv;
        t[i].m = -INFINITY;
        t[i].n = 0;
    }
    for (int i = 0; i < 2; i++)
        memset(t[i].o, 0, (size_t)dv * sizeof *work);
    for (int first = 0; first < n; first += TILE)
        tile_of(c, &t[first / TILE % 2], q, pages, head / (c->n_heads / c->n_kv_heads), first,
                n - first < TILE ? n - first : TILE);
    merge(c, &t[0], &t[1]);
    float *out = (float *)c->out + row * c->out_row + head * c->out_head;
    for (int i = 0; i < dv; i++)
        out[i] = t[0].n > 0 ? (float)(t[0].o[i] / t[0].n) : 0;
    if (c->lse)
        ((double *)c->lse)[row * c->lse_row + head * c->lse_head] =
            t[0].n > 0 ? t[0].m + log(t[0].n) : -INFINITY;
}

static int attend(const struct cp_kernel_call *c) {
    for (int s = 0; s < c->n_sequences; s++)
        for (int row = c->query_begin[s]; row < c->query_begin[s + 1]; row++)
            for (int head = 0; head < c->n_heads; head++)
                row_of(c, s, row, head);
    return 0;
}

const struct cp_kernel cp_kernel = {
    .abi = CP_KERNEL_ABI,
    .name = "width-double",
    .q_type = CP_FP32,
    .kv_type = CP_FP32,
    .out_type = CP_FP32,
    .lse_type = CP_FP64,
    .widths = CP_WIDTHS_ANY,
    .layout = {.pages = CP_PAGES_OWN, .order = CP_ORDER_HND},
    .arithmetic = {.score = CP_SUM_FP64,
                   .weights = CP_FP32,
                   .rotated = CP_FP32,
                   .k_dequantised = CP_FP32,
                   .v_dequantised = CP_FP32,
                   .scales = CP_SCALES_SCORES,
                   .values = CP_SUM_FP64,
                   .partials = CP_FP32,
                   .factors = CP_FACTORS_FP32,
                   .exp_error = 0x1p-50,
                   .step = TILE},
    .refuses = refuses,
    .workspace = workspace,
    .attend = attend,
};
