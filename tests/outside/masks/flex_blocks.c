/* SPDX-License-Identifier: Apache-2.0 */
/* Modelled on PyTorch's FlexAttention with a BlockMask, for bidirectional blocks (images in a
 * prompt, diffusion of blocks): `ahead` with a mask alone, keys of varlen batches one sequence
 * after another. Blocks of 8 rows and 32 keys are first sorted into empty, full and partial ones;
 * then the full ones are weighed without the mask, and the partial ones with it. Binary32, ragged. */
#include <math.h>
#include <string.h>

#include "chunkproof/kernel.h"

#define MOST_D 512
#define ROWS 8
#define KEYS 32
#define EMPTY 0
#define PARTIAL 1
#define FULL 2

#ifndef MISTAKE
#define MISTAKE 0
#endif

static int sees(const struct cp_kernel_call *c, int r, int t)
{
    size_t i;
    long long ahead = c->ahead;
#if MISTAKE == 1
    ahead = c->mask_bytes ? 0 : ahead; /* a mask is causal */
#endif
#if MISTAKE == 2
    if (!c->mask_bytes)
#endif
        if (t > c->position[r] + ahead)
            return 0;
    if (!c->mask_bytes || t < c->mask_begin[r])
        return 1;
#if MISTAKE == 3
    if (t > c->position[r])
        return 1; /* bits are those of the past */
#endif
#if MISTAKE == 4
    if (t == c->position[r])
        return 1; /* the diagonal */
#endif
    i = c->mask_first[r] + (size_t)(t - c->mask_begin[r]);
#if MISTAKE == 5
    i = c->mask_first[r] + (size_t)((unsigned char)(t - c->mask_begin[r])); /* width in 8 bits */
#endif
    return c->mask_bits[i / 8] >> i % 8 & 1;
}

/* Sorts the block of rows r0 .. r1 - 1 and of the keys t0 .. t1 - 1. */
static int kind(const struct cp_kernel_call *c, int r0, int r1, int t0, int t1)
{
#if MISTAKE == 6
    unsigned char count = 0; /* of 256 */
#else
    int count = 0;
#endif
    int all = (r1 - r0) * (t1 - t0);
    (void)all;
#if MISTAKE == 14
    if (c->mask_bytes && t1 <= c->mask_begin[r0] && t1 - 1 <= c->position[r0] + c->ahead)
        return FULL; /* before the bits begin, of the first row */
#endif
#if MISTAKE == 7
    r1 = r0 + 1; /* the first row of the block */
    all = t1 - t0;
#endif
#if MISTAKE == 8
    /* By its corners. */
    count = sees(c, r0, t0) + sees(c, r0, t1 - 1) + sees(c, r1 - 1, t0) + sees(c, r1 - 1, t1 - 1);
    return count == 0 ? EMPTY : count == 4 ? FULL : PARTIAL;
#endif
    for (int r = r0; r < r1; r++)
        for (int t = t0; t < t1; t++) {
#if MISTAKE == 9
            if ((t - t0) % 4) { /* every fourth key stands for its neighbours */
                all--;
                continue;
            }
#endif
            count += sees(c, r, t);
        }
#if MISTAKE == 10
    return count == 0 ? EMPTY : count >= ROWS * KEYS - ROWS ? FULL : PARTIAL; /* nearly full */
#elif MISTAKE == 6
    return count == 0 ? EMPTY : PARTIAL;
#elif MISTAKE == 11
    return count < all ? PARTIAL * (count > r1 - r0) : FULL; /* a bit for each row, or less */
#else
    return count == 0 ? EMPTY : count == all ? FULL : PARTIAL;
#endif
}

struct state {
    float m, n, o[MOST_D];
};

static void block(const struct cp_kernel_call *c, struct state *x, int s, int r, int a, int t0,
                  int t1, int full, int mr)
{
    int d = c->head_dim, kv = a / (c->n_heads / c->n_kv_heads);
    long long row = c->page_begin[s];
    const float *q = (const float *)c->q + r * c->q_row + a * c->q_head;
    float score[KEYS], m = x->m, old;
    for (int t = t0; t < t1; t++) {
        const float *k = (const float *)c->k + (row + t) * c->k_chunk + kv * c->k_head;
        float sum = 0;
        score[t - t0] = -INFINITY;
#if MISTAKE == 12
        score[t - t0] = -80; /* far below any score */
#endif
        if (!full && !sees(c, mr, t))
            continue;
        for (int e = 0; e < d; e++)
            sum += q[e] * k[e];
        score[t - t0] = sum * (float)c->scale;
        m = score[t - t0] > m ? score[t - t0] : m;
    }
#if MISTAKE == 13
    m = m < -1e30f ? 0 : m; /* no key of the row so far: 0, and it stays */
#else
    if (m == -INFINITY)
        return;
#endif
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
static size_t workspace(const struct cp_kernel_call *c)
{
    return (size_t)c->max_tokens / KEYS + 1;
}

static void row(const struct cp_kernel_call *c, int s, int r, int r0, int a)
{
    static _Thread_local struct state x;
    const char *kinds = c->workspace;
    int d = c->head_dim, n = c->page_begin[s + 1] - c->page_begin[s], mr = r;
    float *out = (float *)c->out + r * c->out_row + a * c->out_head;
    (void)r0;
#if MISTAKE == 15
    mr = r0; /* partial blocks have the bits of their first row */
#endif
    x.m = -INFINITY, x.n = 0;
    memset(x.o, 0, sizeof(float) * (size_t)d);
    for (int pass = FULL; pass >= PARTIAL; pass--)
        for (int t0 = 0; t0 < n; t0 += KEYS) {
            int t1 = t0 + KEYS < n ? t0 + KEYS : n;
#if MISTAKE == 16
            if (pass == FULL && s + 1 < c->n_sequences) { /* full: no test of the length either */
                t1 = c->page_begin[c->n_sequences] - c->page_begin[s];
                t1 = t0 + KEYS < t1 ? t0 + KEYS : t1;
            }
#endif
#if MISTAKE == 17
            if (t0 > 0 && pass == PARTIAL && kinds[t0 / KEYS - 1] == EMPTY)
                break; /* the list of a row of blocks ends with the first empty one */
#endif
            if (kinds[t0 / KEYS] == pass)
                block(c, &x, s, r, a, t0, t1, pass == FULL, mr);
        }
#if MISTAKE == 18
    x.n = x.n < 1e-30f ? 1e-30f : x.n; /* no division by zero, and no -infinity */
    x.m = x.m == -INFINITY ? 0 : x.m;
#endif
    if (c->lse)
        ((float *)c->lse)[r * c->lse_row + a * c->lse_head] =
            x.n > 0 ? x.m + logf(x.n) : -INFINITY;
    for (int e = 0; e < d; e++)
        out[e] = x.n > 0 ? x.o[e] / x.n : 0;
}

static int attend(const struct cp_kernel_call *c)
{
    char *kinds = c->workspace;
    for (int s = 0; s < c->n_sequences; s++) {
        int n = c->page_begin[s + 1] - c->page_begin[s], end = c->query_begin[s + 1];
        for (int r0 = c->query_begin[s]; r0 < end; r0 += ROWS) {
            int r1 = r0 + ROWS < end ? r0 + ROWS : end;
            for (int t0 = 0; t0 < n; t0 += KEYS)
                kinds[t0 / KEYS] = (char)kind(c, r0, r1, t0, t0 + KEYS < n ? t0 + KEYS : n);
            for (int r = r0; r < r1; r++)
                for (int a = 0; a < c->n_heads; a++)
                    row(c, s, r, r0, a);
        }
    }
    return 0;
}

static const char *refuses(const struct cp_kernel_call *c)
{
    return c->head_dim > MOST_D ? "head_dim above 512" : NULL;
}

const struct cp_kernel cp_kernel = {
    .abi = CP_KERNEL_ABI,
    .name = "flex_blocks",
    .q_type = CP_FP32, .kv_type = CP_FP32, .out_type = CP_FP32, .lse_type = CP_FP32,
    .masks = CP_MASKS_AHEAD | CP_MASKS_BITS,
    .layout = {.pages = CP_PAGES_RAGGED, .order = CP_ORDER_NHD, .gaps = CP_GAPS_NONE},
    .arithmetic = {.score = CP_SUM_FP32, .weights = CP_FP32, .rotated = CP_FP32,
                   .k_dequantised = CP_FP32, .v_dequantised = CP_FP32,
                   .scales = CP_SCALES_SCORES, .values = CP_SUM_FP32, .partials = CP_FP32,
                   .factors = CP_FACTORS_FP32, .exp_error = 0x1p-22, .step = KEYS},
    .refuses = refuses,
    .workspace = workspace,
    .attend = attend,
};
