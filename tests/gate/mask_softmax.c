/* SPDX-License-Identifier: Apache-2.0 */
/* Modelled on ggml's attention without flash: K Q, ggml_soft_max_ext() with a KQ mask, ALiBi by
 * distance and sinks, then V times the weights rounded to binary16. The mask of a row is an array
 * of floats, 0 or -infinity, made of window, `ahead` and bits; all scores of a row stand in
 * memory, so that there is one maximum, and weights are divided before they are multiplied by V.
 * Somebody who had seen the header and the specification alone wrote it, with the mistakes that
 * tests/faults/ makes of it. */
#include "page_numbers.h"

/* Two rows of max_tokens floats: the mask, and the scores. */
static size_t workspace(const struct cp_kernel_call *c) {
    return 2 * sizeof(float) * (size_t)c->max_tokens;
}

static int bit(const struct cp_kernel_call *c, int r, int t) {
    size_t i = c->mask_first[r] + (size_t)(t - c->mask_begin[r]);
    return c->mask_bits[i / 8] >> i % 8 & 1;
}

/* The KQ mask of a row. */
static void make_mask(const struct cp_kernel_call *c, int s, int r, float *mask) {
    int n = c->n_tokens[s], p = c->position[r], mr = r, from = 0;
    float none = -INFINITY;
    for (int t = from; t < n; t++) {
        int sees = t <= p + c->ahead && (c->window == 0 || t > p - c->window);
        if (c->mask_bytes) {
            if (sees && t >= c->mask_begin[mr])
                sees = bit(c, mr, t);
        }
        mask[t] = sees ? 0 : none;
    }
}

static int attend(const struct cp_kernel_call *c) {
    int d = c->head_dim, group = c->n_heads / c->n_kv_heads;
    float *mask = c->workspace, *score = mask + c->max_tokens;
    for (int s = 0; s < c->n_sequences; s++)
        for (int r = c->query_begin[s]; r < c->query_begin[s + 1]; r++) {
            int n = c->n_tokens[s], p = c->position[r], depth = p;
            make_mask(c, s, r, mask);
            for (int a = 0; a < c->n_heads; a++) {
                const float *q = (const float *)c->q + r * c->q_row + a * c->q_head;
                float *out = (float *)c->out + r * c->out_row + a * c->out_head;
                float m = -INFINITY, sum = 0, sink = c->sinks ? c->sinks[a] : -INFINITY;
                for (int t = 0; t < n; t++) {
                    int chunk = c->table[s * c->table_width + t / c->chunk_size];
                    const uint16_t *k = (const uint16_t *)c->k + chunk * c->k_chunk +
                                        a / group * c->k_head + t % c->chunk_size * c->k_slot;
                    float x = 0, away = -fabsf((float)(t - depth)), add = mask[t];
                    score[t] = -INFINITY;
                    if (mask[t] < 0)
                        continue;
                    for (int e = 0; e < d; e++)
                        x += q[e] * h2f(k[e]);
                    x *= (float)c->scale;
                    if (c->cap > 0)
                        x = (float)c->cap * tanhf(x / (float)c->cap);
                    if (c->slopes)
                        x += c->slopes[a] * away;
                    x += add;
                    score[t] = x;
                    m = x > m ? x : m;
                }
                m = sink > m ? sink : m;
                for (int t = 0; t < n && m > -INFINITY; t++) {
                    score[t] = expf(score[t] - m);
                    sum += score[t];
                }
                if (c->sinks)
                    sum += expf(sink - m);
                if (c->lse)
                    ((float *)c->lse)[r * c->lse_row + a * c->lse_head] =
                        sum > 0 ? m + logf(sum) : -INFINITY;
                float one = 1 / sum;
                for (int e = 0; e < d; e++)
                    out[e] = 0;
                for (int t = 0; t < n && sum > 0; t++) {
                    int chunk = c->table[s * c->table_width + t / c->chunk_size];
                    const uint16_t *v = (const uint16_t *)c->v + chunk * c->v_chunk +
                                        a / group * c->v_head + t % c->chunk_size * c->v_slot;
                    float w = h2f(f2h(score[t] * one));
                    for (int e = 0; e < d; e++)
                        out[e] += w * h2f(v[e]);
                }
            }
        }
    return 0;
}

const struct cp_kernel cp_kernel = {
    .abi = CP_KERNEL_ABI,
    .name = "mask-softmax",
    .q_type = CP_FP32,
    .kv_type = CP_FP16,
    .out_type = CP_FP32,
    .lse_type = CP_FP32,
    .masks = CP_MASKS_WINDOW | CP_MASKS_AHEAD | CP_MASKS_BITS,
    .scores = CP_SCORES_CAP | CP_SCORES_SLOPES | CP_SCORES_SINKS,
    .conventions = {.bias = CP_BIAS_DISTANCE},
    .arithmetic = {.score = CP_SUM_FP32,
                   .weights = CP_FP16,
                   .rotated = CP_FP32,
                   .k_dequantised = CP_FP32,
                   .v_dequantised = CP_FP32,
                   .scales = CP_SCALES_SCORES,
                   .values = CP_SUM_FP32,
                   .partials = CP_FP32,
                   .normalises = 1,
                   .factors = CP_FACTORS_FP32,
                   .exp_error = 0x1p-22,
                   .tanh_error = 0x1p-22,
                   .divide_error = 0x1.02p-24,
                   .step = 0},
    .workspace = workspace,
    .attend = attend,
};
