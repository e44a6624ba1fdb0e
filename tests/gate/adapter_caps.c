/* SPDX-License-Identifier: Apache-2.0 */
/* After FlashAttention-2's forward with softcap and ALiBi:
 *   params.softcap = softmax_scale / softcap, scale_softmax = softcap
 *   apply_softcap: s = tanh(s * params.softcap), then
 *   Alibi (causal): s += alibi_slope * col_idx, alibi_slope = slope / scale_softmax
 *   and P = exp2(s * scale_softmax_log2 - max * scale_softmax_log2).
 * The bias is slope * col_idx, which differs from slope (t - p) by a constant of the row. A row
 * without keys has zeros and +infinity. */
#include "page_numbers.h"

enum { kBlockN = 64, MAX_D = 512 };

struct Alibi {
    float alibi_slope;
};

static void apply_alibi(const struct Alibi *a, float *s, int col_idx_offset, int n) {
    for (int j = 0; j < n; j++)
        s[j] += a->alibi_slope * (float)(col_idx_offset + j);
}

static void apply_softcap(float *s, float softcap, int n) {
    for (int j = 0; j < n; j++)
        s[j] = tanhf(s[j] * softcap);
}

struct params {
    const uint16_t *k, *v;
    const int *table;
    int64_t k_block, k_head, k_slot, v_block, v_head, v_slot;
    int block, d;
    float scale_softmax, scale_softmax_log2, softcap; /* softcap: 0 or scale / cap */
};

static void attn_row(const struct params *p, const uint16_t *q, int kv_head, int n_keys,
                     const float *slope, uint16_t *out, float *lse) {
    float row_max = -INFINITY, row_sum = 0, o[MAX_D] = {0};
    const struct Alibi alibi = {slope ? *slope / p->scale_softmax : 0};
    for (int t0 = 0; t0 < n_keys; t0 += kBlockN) {
        const int n = n_keys - t0 < kBlockN ? n_keys - t0 : kBlockN;
        float s[kBlockN], m = row_max;
        for (int j = 0; j < n; j++) {
            const int t = t0 + j;
            const uint16_t *K = p->k + p->table[t / p->block] * p->k_block + kv_head * p->k_head +
                                t % p->block * p->k_slot;
            float x = 0;
            for (int i = 0; i < p->d; i++)
                x += h2f(q[i]) * h2f(K[i]);
            s[j] = x;
        }
        if (p->softcap != 0)
            apply_softcap(s, p->softcap, n);
        if (slope)
            apply_alibi(&alibi, s, t0, n);
        for (int j = 0; j < n; j++)
            m = s[j] > m ? s[j] : m;
        const float max_scaled = m * p->scale_softmax_log2;
        const float scale = exp2f((row_max - m) * p->scale_softmax_log2);
        row_sum *= scale;
        for (int i = 0; i < p->d; i++)
            o[i] *= scale;
        row_max = m;
        for (int j = 0; j < n; j++) {
            const int t = t0 + j;
            const float e = exp2f(fmaf(s[j], p->scale_softmax_log2, -max_scaled));
            const float P = h2f(f2h(e));
            row_sum += e;
            const uint16_t *V = p->v + p->table[t / p->block] * p->v_block + kv_head * p->v_head +
                                t % p->block * p->v_slot;
            for (int i = 0; i < p->d; i++)
                o[i] += P * h2f(V[i]);
        }
    }
    const float inv = row_sum > 0 ? 1.0f / row_sum : 1.0f;
    for (int i = 0; i < p->d; i++)
        out[i] = f2h(o[i] * inv);
    if (lse)
        *lse = row_sum > 0 ? row_max * p->scale_softmax + logf(row_sum) : INFINITY;
}

static const char *refuses(const struct cp_kernel_call *c) {
    return c->head_dim > MAX_D ? "d is at most 512" : NULL;
}

static int attend(const struct cp_kernel_call *c) {
    struct params p = {.k = c->k,
                       .v = c->v,
                       .k_block = c->k_chunk,
                       .k_head = c->k_head,
                       .k_slot = c->k_slot,
                       .v_block = c->v_chunk,
                       .v_head = c->v_head,
                       .v_slot = c->v_slot,
                       .block = c->chunk_size,
                       .d = c->head_dim};
    if (c->cap > 0) {
        p.softcap = (float)(c->scale / c->cap);
        p.scale_softmax = (float)c->cap;
    } else {
        p.scale_softmax = (float)c->scale;
    }
    p.scale_softmax_log2 = (float)(p.scale_softmax * 1.4426950408889634);
    for (int s = 0; s < c->n_sequences; s++) {
        p.table = c->table + (int64_t)s * c->table_width;
        for (int r = c->query_begin[s]; r < c->query_begin[s + 1]; r++)
            for (int h = 0; h < c->n_heads; h++) {
                const int kv_head = h / (c->n_heads / c->n_kv_heads);
                const float *slope = c->slopes ? c->slopes + h : NULL;
                attn_row(&p, (const uint16_t *)c->q + r * c->q_row + h * c->q_head, kv_head,
                         c->n_tokens[s] - (c->query_begin[s + 1] - r) + 1, slope,
                         (uint16_t *)c->out + r * c->out_row + h * c->out_head,
                         c->lse ? (float *)c->lse + r * c->lse_row + h * c->lse_head : NULL);
            }
    }
    return 0;
}

const struct cp_kernel cp_kernel = {
    .abi = CP_KERNEL_ABI,
    .name = "FA2 forward, softcap and ALiBi",
    .q_type = CP_FP16,
    .kv_type = CP_FP16,
    .out_type = CP_FP16,
    .lse_type = CP_FP32,
    .scores = CP_SCORES_CAP | CP_SCORES_SLOPES,
    .conventions = {.empty_lse = CP_EMPTY_VALUE,
                    .empty_value = INFINITY,
                    .cap = CP_CAP_FIRST,
                    .bias = CP_BIAS_POSITION},
    .arithmetic = {.score = CP_SUM_FP32,
                   .weights = CP_FP16,
                   .values = CP_SUM_FP32,
                   .partials = CP_FP32,
                   .in_bits = 1,
                   .exp_error = 0x1p-22,
                   .tanh_error = 0x1p-22,
                   .divide_error = 0x1.02p-24,
                   .step = kBlockN},
    .refuses = refuses,
    .attend = attend,
};
