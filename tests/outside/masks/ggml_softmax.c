/* SPDX-License-Identifier: Apache-2.0 */
/* Modelled on llama.cpp's attention without flash: K Q, ggml_soft_max_ext() with a KQ mask, ALiBi
 * by distance and sinks, then V times the weights rounded to binary16. The mask of a row is an
 * array of floats, 0 or -infinity, made of window, `ahead` and bits; all scores of a row stand in memory, so
 * that there is one maximum, and weights are divided before they are multiplied by V. */
#include <math.h>
#include <string.h>

#include "chunkproof/kernel.h"

#ifndef MISTAKE
#define MISTAKE 0
#endif

/* Two rows of max_tokens floats: the mask, and the scores. */
static size_t workspace(const struct cp_kernel_call *c)
{
    return 2 * sizeof(float) * (size_t)c->max_tokens;
}

static int bit(const struct cp_kernel_call *c, int r, int t)
{
    size_t i = c->mask_first[r] + (size_t)(t - c->mask_begin[r]);
    return c->mask_bits[i / 8] >> i % 8 & 1;
}

/* The KQ mask of a row. */
static void make_mask(const struct cp_kernel_call *c, int s, int r, float *mask)
{
    int n = c->n_tokens[s], p = c->position[r], mr = r, from = 0;
    float none = -INFINITY;
#if MISTAKE == 1
    none = -65504; /* the lowest number of a mask in binary16 */
#endif
#if MISTAKE == 2
    mr = r - c->query_begin[s];
#endif
#if MISTAKE == 3
    if (r > c->query_begin[s] && c->mask_bytes) /* the prefix is as in the row before */
        from = c->mask_begin[r] < n ? c->mask_begin[r] : n;
#endif
    (void)mr;
    for (int t = from; t < n; t++) {
        int sees = t <= p + c->ahead && (c->window == 0 || t > p - c->window);
#if MISTAKE == 4
        if (c->mask_bytes && c->window == 0) /* the mask of layers with a window has no bits */
#else
        if (c->mask_bytes)
#endif
        {
#if MISTAKE == 5
            if (sees && t > c->mask_begin[mr])
                sees = bit(c, mr, t - 1); /* of the key before: bits shifted by one */
#elif MISTAKE == 6
            if (sees && t >= c->mask_begin[mr]) {
                size_t i = c->mask_first[mr] + (size_t)(t - c->mask_begin[mr]);
                if (c->mask_bits[i / 8] == 0xff) { /* eight keys at once */
                    for (int j = 0; j < 8 && t + j < n; j++)
                        mask[t + j] = t + j <= p + c->ahead ? 0 : none;
                    t += t + 7 < n ? 7 : n - 1 - t;
                    continue;
                }
                sees = bit(c, mr, t);
            }
#else
            if (sees && t >= c->mask_begin[mr])
                sees = bit(c, mr, t);
#endif
        }
        mask[t] = sees ? 0 : none;
    }
}

static int attend(const struct cp_kernel_call *c)
{
    int d = c->head_dim, group = c->n_heads / c->n_kv_heads;
    float *mask = c->workspace, *score = mask + c->max_tokens;
    for (int s = 0; s < c->n_sequences; s++)
        for (int r = c->query_begin[s]; r < c->query_begin[s + 1]; r++) {
            int n = c->n_tokens[s], p = c->position[r], depth = p;
            make_mask(c, s, r, mask);
#if MISTAKE == 7
            if (c->mask_bytes && c->mask_begin[r] <= p) { /* the depth of the row's node */
                depth = c->mask_begin[r] - 1;
                for (int t = c->mask_begin[r] < 0 ? 0 : c->mask_begin[r]; t <= p && t < n; t++)
                    depth += mask[t] == 0;
            }
#endif
            for (int a = 0; a < c->n_heads; a++) {
                const float *q = (const float *)c->q + r * c->q_row + a * c->q_head;
                float *out = (float *)c->out + r * c->out_row + a * c->out_head;
                float m = -INFINITY, sum = 0, sink = c->sinks ? c->sinks[a] : -INFINITY;
#if MISTAKE == 8
                sink = c->sinks ? c->sinks[a / group] : -INFINITY;
#endif
                int rank = 0;
                (void)rank;
                for (int t = 0; t < n; t++) {
                    int chunk = c->table[s * c->table_width + t / c->chunk_size];
                    const uint16_t *k = (const uint16_t *)c->k + chunk * c->k_chunk +
                                        a / group * c->k_head + t % c->chunk_size * c->k_slot;
                    float x = 0, away = -fabsf((float)(t - depth)), add = mask[t];
#if MISTAKE == 9
                    away = (float)cp_fp16_to_double(cp_fp16_from_double(away)); /* F16 mask */
#endif
#if MISTAKE == 10
                    away = -(float)(p + 1 - rank); /* keys that are left count */
                    rank += mask[t] == 0;
#endif
#if MISTAKE != 11 && MISTAKE != 12 && MISTAKE != 1 && MISTAKE != 13
                    score[t] = -INFINITY;
                    if (mask[t] < 0)
                        continue;
#endif
                    for (int e = 0; e < d; e++)
                        x += q[e] * (float)cp_fp16_to_double(k[e]);
                    x *= (float)c->scale;
#if MISTAKE == 11
                    x += add; /* before the cap */
                    add = 0;
#endif
                    if (c->cap > 0)
                        x = (float)c->cap * tanhf(x / (float)c->cap);
#if MISTAKE == 12
                    if (c->slopes) /* ALiBi is in the mask: both times the slope */
                        x += c->slopes[a] * (mask[t] < 0 ? mask[t] : away);
                    else
                        x += add;
#else
                    if (c->slopes)
                        x += c->slopes[a] * away;
#endif
#if MISTAKE == 13
                    x *= mask[t] == 0; /* a mask of ones and zeros */
                    add = 0;
#endif
#if MISTAKE != 12
                    x += add;
#endif
                    score[t] = x;
                    m = x > m ? x : m;
                }
#if MISTAKE == 14
                if (m == -INFINITY) { /* done before the sink */
                    for (int e = 0; e < d; e++)
                        out[e] = 0;
                    if (c->lse)
                        ((float *)c->lse)[r * c->lse_row + a * c->lse_head] = -INFINITY;
                    continue;
                }
#endif
#if MISTAKE == 15
                m = m > -INFINITY ? m : 0; /* of the keys alone */
#elif MISTAKE == 16
                m = m > 0 ? m : 0; /* also of the weight of no key */
                m = sink > m ? sink : m;
#else
                m = sink > m ? sink : m;
#endif
#if MISTAKE == 17
                for (int t = 0; t < n; t++) {
#else
                for (int t = 0; t < n && m > -INFINITY; t++) {
#endif
                    score[t] = expf(score[t] - m);
                    sum += score[t];
                }
                if (c->sinks)
                    sum += expf(sink - m);
#if MISTAKE == 18
                if (c->sinks && c->mask_bytes) /* sinks are keys before the bits, and masked, too */
                    sum -= c->mask_begin[r] == 0 && mask[0] < 0 ? expf(sink - m) : 0;
#endif
                if (c->lse)
                    ((float *)c->lse)[r * c->lse_row + a * c->lse_head] =
                        sum > 0 ? m + logf(sum) : -INFINITY;
                float one = 1 / sum;
                for (int e = 0; e < d; e++)
                    out[e] = 0;
#if MISTAKE == 17
                for (int t = 0; t < n && (t <= p + c->ahead); t++)
#else
                for (int t = 0; t < n && sum > 0; t++)
#endif
                {
                    int chunk = c->table[s * c->table_width + t / c->chunk_size];
                    const uint16_t *v = (const uint16_t *)c->v + chunk * c->v_chunk +
                                        a / group * c->v_head + t % c->chunk_size * c->v_slot;
                    float w = (float)cp_fp16_to_double(cp_fp16_from_double(score[t] * one));
                    for (int e = 0; e < d; e++)
                        out[e] += w * (float)cp_fp16_to_double(v[e]);
                }
            }
        }
    return 0;
}

const struct cp_kernel cp_kernel = {
    .abi = CP_KERNEL_ABI,
    .name = "ggml_softmax",
    .q_type = CP_FP32, .kv_type = CP_FP16, .out_type = CP_FP32, .lse_type = CP_FP32,
    .masks = CP_MASKS_WINDOW | CP_MASKS_AHEAD | CP_MASKS_BITS,
    .scores = CP_SCORES_CAP | CP_SCORES_SLOPES | CP_SCORES_SINKS,
    .conventions = {.bias = CP_BIAS_DISTANCE},
    .arithmetic = {.score = CP_SUM_FP32, .weights = CP_FP16, .rotated = CP_FP32,
                   .k_dequantised = CP_FP32, .v_dequantised = CP_FP32,
                   .scales = CP_SCALES_SCORES, .values = CP_SUM_FP32, .partials = CP_FP32,
                   .normalises = 1, .factors = CP_FACTORS_FP32, .exp_error = 0x1p-22,
                   .tanh_error = 0x1p-22, .divide_error = 0x1.02p-24, .step = 0},
    .workspace = workspace,
    .attend = attend,
};
