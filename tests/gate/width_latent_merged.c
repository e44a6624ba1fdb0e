/* SPDX-License-Identifier: Apache-2.0 */
/* Modelled on FlashInfer's BatchMLAPagedAttentionWrapper, whose log-sum-exps have base 2, and on
 * the caches of vLLM, [page][slot][d] without gaps (here with any number of K/V heads): ckv and
 * kpe are one tensor, pages of a power of two times 8 by indptr and indices. A row's keys are
 * split into partitions of tiles. Each gives o / n and a log-sum-exp in bits; two of these are
 * merged at a time, and the result of a merge is divided, too. Somebody who had seen the header
 * and the specification alone wrote it, with the mistakes that tests/faults/ makes of it. */
#include "page_numbers.h"

enum { TILE = 32, PART = 2 * TILE };

/* In the workspace: o of a partition, and o of the row. */
static size_t workspace(const struct cp_kernel_call *c) {
    return 2 * (size_t)c->value_dim * sizeof(float);
}

static float load(const void *array, long long at) {
    return h2f(((const uint16_t *)array)[at]);
}

static long long key(const struct cp_kernel_call *c, int s, int j, int g) {
    const int P = c->page_size, d = c->head_dim, h = c->n_kv_heads;
    const long long page = c->page_list[c->page_begin[s] + j / P];
    return ((page * P + j % P) * h + g) * d;
}

/* Keys begin .. end - 1: writes o / n, and returns the log-sum-exp in bits. */
static float partition(const struct cp_kernel_call *c, int s, long long q, int g, int begin,
                       int end, float *o) {
    const int d = c->head_dim, dv = c->value_dim;
    const float scale = (float)(c->scale * 1.4426950408889634);
    float m = -INFINITY, n = 0, p[TILE];
    memset(o, 0, (size_t)dv * sizeof *o);
    for (int first = begin; first < end; first += TILE) {
        const int keys = end - first < TILE ? end - first : TILE;
        float top = m;
        for (int j = 0; j < keys; j++) {
            const long long k = key(c, s, first + j, g);
            float ckv = 0, kpe = 0;
            for (int i = 0; i < dv; i++)
                ckv += load(c->q, q + i) * load(c->k, k + i);
            const int kpe_end = d;
            for (int i = dv; i < kpe_end; i++)
                kpe += load(c->q, q + i) * load(c->k, k + i);
            p[j] = (ckv + kpe) * scale;
            if (p[j] > top)
                top = p[j];
        }
        const float factor = n > 0 ? exp2f(m - top) : 0;
        for (int i = 0; i < dv; i++)
            o[i] *= factor;
        n *= factor;
        for (int j = 0; j < keys; j++) {
            const long long v = key(c, s, first + j, g);
            const float weight = exp2f(p[j] - top);
            const float rounded = h2f(f2h(weight));
            n += weight;
            for (int i = 0; i < dv; i++)
                o[i] += rounded * load(c->k, v + i);
        }
        m = top;
    }
    for (int i = 0; i < dv; i++)
        o[i] /= n;
    return m + log2f(n);
}

/* (o, lse) := (o, lse) (+) (x, add) */
static float merge(const struct cp_kernel_call *c, float *o, float lse, const float *x, float add) {
    const float top = lse > add ? lse : add;
    const float a = exp2f(lse - top), b = exp2f(add - top);
    const int numbers = c->value_dim;
    for (int i = 0; i < numbers; i++)
        o[i] = (o[i] * a + x[i] * b) / (a + b);
    return top + log2f(a + b);
}

static void row_of(const struct cp_kernel_call *c, int s, int row, int head) {
    const int dv = c->value_dim, h = c->n_heads;
    float *x = c->workspace, *o = x + dv, lse = -INFINITY;
    const long long at = (long long)row * h + head;
    const int pages = c->page_begin[s + 1] - c->page_begin[s];
    const int n = pages ? (pages - 1) * c->page_size + c->last_page_tokens[s] : 0;
    int seen = c->position[row] + 1;
    seen = seen < 0 ? 0 : seen < n ? seen : n;
    const int g = head / (h / c->n_kv_heads);
    for (int begin = 0; begin < seen; begin += PART) {
        const int end = begin + PART < seen ? begin + PART : seen;
        if (begin == 0)
            lse = partition(c, s, at * c->head_dim, g, begin, end, o);
        else
            lse = merge(c, o, lse, x, partition(c, s, at * c->head_dim, g, begin, end, x));
    }
    uint16_t *out = (uint16_t *)c->out + at * dv;
    for (int i = 0; i < dv; i++)
        out[i] = f2h(seen > 0 ? o[i] : 0);
    if (!c->lse)
        return;
    ((float *)c->lse)[at] = lse;
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
    .name = "width-latent-merged",
    .q_type = CP_FP16,
    .kv_type = CP_FP16,
    .out_type = CP_FP16,
    .lse_type = CP_FP32,
    .widths = CP_WIDTHS_ANY,
    .layout = {.pages = CP_PAGES_OWN,
               .page_unit = 8,
               .order = CP_ORDER_NHD,
               .gaps = CP_GAPS_NONE,
               .tensors = CP_TENSORS_KEYS},
    .conventions = {.lse_base = CP_LSE_BITS},
    .arithmetic = {.score = CP_SUM_FP32,
                   .weights = CP_FP16,
                   .rotated = CP_FP32,
                   .k_dequantised = CP_FP32,
                   .v_dequantised = CP_FP32,
                   .scales = CP_SCALES_SCORES,
                   .values = CP_SUM_FP32,
                   .partials = CP_FP32,
                   .divides = 1,
                   .factors = CP_FACTORS_FP32,
                   .in_bits = 1,
                   .exp_error = 0x1p-22,
                   .step = TILE},
    .workspace = workspace,
    .attend = attend,
};
