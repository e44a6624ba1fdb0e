/* SPDX-License-Identifier: Apache-2.0 */
/* Modelled on PyTorch's FlexAttention with a BlockMask, for bidirectional blocks (images in a
 * prompt, diffusion of blocks): `ahead` with a mask alone, keys of varlen batches one sequence
 * after another. Blocks of 8 rows and 32 keys are first sorted into empty, full and partial ones;
 * then the full ones are weighed without the mask, and the partial ones with it. Binary32,
 * ragged. Somebody who had seen the header and the specification alone wrote it, with the
 * mistakes that tests/faults/ makes of it. */
#include "page_numbers.h"

#define WIDEST  512
#define ROWS    8
#define KEYS    32
#define EMPTY   0
#define PARTIAL 1
#define FULL    2

static int sees(const struct cp_kernel_call *c, int r, int t) {
    size_t i;
    long long ahead = c->ahead;
    if (t > c->position[r] + ahead)
        return 0;
    if (!c->mask_bytes || t < c->mask_begin[r])
        return 1;
    i = c->mask_first[r] + (size_t)(t - c->mask_begin[r]);
    return c->mask_bits[i / 8] >> i % 8 & 1;
}

/* Sorts the block of rows r0 .. r1 - 1 and of the keys t0 .. t1 - 1. */
static int kind(const struct cp_kernel_call *c, int r0, int r1, int t0, int t1) {
    int count = 0;
    int all = (r1 - r0) * (t1 - t0);
    for (int r = r0; r < r1; r++)
        for (int t = t0; t < t1; t++) {
            count += sees(c, r, t);
        }
    return count == 0 ? EMPTY : count == all ? FULL : PARTIAL;
}

struct state {
    float m, n, o[WIDEST];
};

static void block(const struct cp_kernel_call *c, struct state *x, int s, int r, int a, int t0,
                  int t1, int full, int mr) {
    int d = c->head_dim, kv = a / (c->n_heads / c->n_kv_heads);
    long long row = c->page_begin[s];
    const float *q = (const float *)c->q + r * c->q_row + a * c->q_head;
    float score[KEYS], m = x->m, old;
    for (int t = t0; t < t1; t++) {
        const float *k = (const float *)c->k + (row + t) * c->k_chunk + kv * c->k_head;
        float sum = 0;
        score[t - t0] = -INFINITY;
        if (!full && !sees(c, mr, t))
            continue;
        for (int e = 0; e < d; e++)
            sum += q[e] * k[e];
        score[t - t0] = sum * (float)c->scale;
        m = score[t - t0] > m ? score[t - t0] : m;
    }
    if (m == -INFINITY)
        return;
    old = expf(x->m - m);
    x->n *= old;
    x->m = m;
    for (int e = 0; e < d; e++)
        x->o[e] *= old;
    for (int t = t0; t < t1; t++) {
        const float *v = (const float *)c->v + (row + t) * c->v_chunk + kv * c->v_head;
        float w = expf(score[t - t0] - m);
        x->n += w;
        for (int e = 0; e < d && w > 0; e++)
            x->o[e] += w * v[e];
    }
}

/* The kinds of the blocks of some rows. */
static size_t workspace(const struct cp_kernel_call *c) {
    return (size_t)c->max_tokens / KEYS + 1;
}

static void row(const struct cp_kernel_call *c, int s, int r, int a) {
    static _Thread_local struct state x;
    const char *kinds = c->workspace;
    int d = c->head_dim, n = c->page_begin[s + 1] - c->page_begin[s], mr = r;
    float *out = (float *)c->out + r * c->out_row + a * c->out_head;
    x.m = -INFINITY, x.n = 0;
    memset(x.o, 0, sizeof(float) * (size_t)d);
    for (int pass = FULL; pass >= PARTIAL; pass--)
        for (int t0 = 0; t0 < n; t0 += KEYS) {
            int t1 = t0 + KEYS < n ? t0 + KEYS : n;
            if (kinds[t0 / KEYS] == pass)
                block(c, &x, s, r, a, t0, t1, pass == FULL, mr);
        }
    if (c->lse)
        ((float *)c->lse)[r * c->lse_row + a * c->lse_head] = x.n > 0 ? x.m + logf(x.n) : -INFINITY;
    for (int e = 0; e < d; e++)
        out[e] = x.n > 0 ? x.o[e] / x.n : 0;
}

static int attend(const struct cp_kernel_call *c) {
    char *kinds = c->workspace;
    for (int s = 0; s < c->n_sequences; s++) {
        int n = c->page_begin[s + 1] - c->page_begin[s], end = c->query_begin[s + 1];
        for (int r0 = c->query_begin[s]; r0 < end; r0 += ROWS) {
            int r1 = r0 + ROWS < end ? r0 + ROWS : end;
            for (int t0 = 0; t0 < n; t0 += KEYS)
                kinds[t0 / KEYS] = (char)kind(c, r0, r1, t0, t0 + KEYS < n ? t0 + KEYS : n);
            for (int r = r0; r < r1; r++)
                for (int a = 0; a < c->n_heads; a++)
                    row(c, s, r, a);
        }
    }
    return 0;
}

static const char *refuses(const struct cp_kernel_call *c) {
    return c->head_dim > WIDEST ? "head_dim above 512" : NULL;
}

const struct cp_kernel cp_kernel = {
    .abi = CP_KERNEL_ABI,
    .name = "mask-blocks",
    .q_type = CP_FP32,
    .kv_type = CP_FP32,
    .out_type = CP_FP32,
    .lse_type = CP_FP32,
    .masks = CP_MASKS_AHEAD | CP_MASKS_BITS,
    .layout = {.pages = CP_PAGES_RAGGED, .order = CP_ORDER_NHD, .gaps = CP_GAPS_NONE},
    .arithmetic = {.score = CP_SUM_FP32,
                   .weights = CP_FP32,
                   .rotated = CP_FP32,
                   .k_dequantised = CP_FP32,
                   .v_dequantised = CP_FP32,
                   .scales = CP_SCALES_SCORES,
                   .values = CP_SUM_FP32,
                   .partials = CP_FP32,
                   .factors = CP_FACTORS_FP32,
                   .exp_error = 0x1p-22,
                   .step = KEYS},
    .refuses = refuses,
    .workspace = workspace,
    .attend = attend,
};
