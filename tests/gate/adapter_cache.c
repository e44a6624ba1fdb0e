/* SPDX-License-Identifier: Apache-2.0 */
/* After engines' Triton kernels for a mixed cache: E4M3 keys and INT8 values, each with a scale for
 * each token and head, in pages [page][slot][head][d]. The scale of K multiplies the score. The
 * scale of V is folded into P, which is rounded to bfloat16 for the tensor cores. */
#include "page_numbers.h"

enum { BLOCK_N = 32, MAX_D = 512 };

static float e4m3[256];

static void init_e4m3(void) { /* __nv_fp8_e4m3: bias 7, no infinities */
    for (int x = 0; x < 256; x++) {
        const int e = x >> 3 & 15, m = x & 7;
        float v = e ? ldexpf(8 + m, e - 10) : ldexpf(m, -9);
        if ((x & 0x7f) == 0x7f)
            v = NAN;
        e4m3[x] = x & 0x80 ? -v : v;
    }
}

struct mixed_kv_cache {
    const uint8_t *k;
    const int8_t *v;
    const float *k_scale, *v_scale; /* [page][slot][head] */
    int page_size, num_kv_heads;
    int64_t k_page, k_slot, k_head, v_page, v_slot, v_head;
};

static void mixed_attention_row(const struct mixed_kv_cache *c, const int *block_table, int n_keys,
                                const uint16_t *q, float sm_scale, int head_dim, int kv_head,
                                uint16_t *out, float *lse) {
    float m_i = -INFINITY, l_i = 0, acc[MAX_D] = {0};
    for (int t0 = 0; t0 < n_keys; t0 += BLOCK_N) {
        const int n = n_keys - t0 < BLOCK_N ? n_keys - t0 : BLOCK_N;
        float qk[BLOCK_N], m = m_i;
        for (int j = 0; j < n; j++) {
            const int64_t page = block_table[(t0 + j) / c->page_size];
            const int slot = (t0 + j) % c->page_size;
            const uint8_t *K = c->k + page * c->k_page + slot * c->k_slot + kv_head * c->k_head;
            const float ks = c->k_scale[(page * c->page_size + slot) * c->num_kv_heads + kv_head];
            float s = 0;
            for (int i = 0; i < head_dim; i++)
                s += b2f(q[i]) * e4m3[K[i]];
            qk[j] = s * (ks * sm_scale);
            if (qk[j] > m)
                m = qk[j];
        }
        const float alpha = expf(m_i - m);
        l_i *= alpha;
        for (int i = 0; i < head_dim; i++)
            acc[i] *= alpha;
        m_i = m;
        for (int j = 0; j < n; j++) {
            const int64_t page = block_table[(t0 + j) / c->page_size];
            const int slot = (t0 + j) % c->page_size;
            const int8_t *V = c->v + page * c->v_page + slot * c->v_slot + kv_head * c->v_head;
            const float vs = c->v_scale[(page * c->page_size + slot) * c->num_kv_heads + kv_head];
            const float p = expf(qk[j] - m);
            l_i += p;
            const float P = b2f(f2b(p * vs));
            for (int i = 0; i < head_dim; i++)
                acc[i] += P * (float)V[i];
        }
    }
    for (int i = 0; i < head_dim; i++)
        out[i] = f2b(n_keys > 0 ? acc[i] / l_i : 0);
    if (lse)
        *lse = n_keys > 0 ? m_i + logf(l_i) : -INFINITY;
}

static const char *refuses(const struct cp_kernel_call *call) {
    return call->head_dim > MAX_D ? "head_dim is at most 512" : NULL;
}

static int attend(const struct cp_kernel_call *call) {
    init_e4m3();
    const struct mixed_kv_cache c = {.k = call->k,
                                     .v = call->v,
                                     .k_scale = call->k_scales,
                                     .v_scale = call->v_scales,
                                     .page_size = call->page_size,
                                     .num_kv_heads = call->n_kv_heads,
                                     .k_page = call->k_chunk,
                                     .k_slot = call->k_slot,
                                     .k_head = call->k_head,
                                     .v_page = call->v_chunk,
                                     .v_slot = call->v_slot,
                                     .v_head = call->v_head};
    for (int s = 0; s < call->n_sequences; s++) {
        const int q_len = call->query_begin[s + 1] - call->query_begin[s];
        for (int r = 0; r < q_len; r++)
            for (int h = 0; h < call->n_heads; h++) {
                const int64_t row = call->query_begin[s] + r;
                mixed_attention_row(
                    &c, call->page_table + (int64_t)s * call->page_table_width,
                    call->n_tokens[s] - q_len + r + 1,
                    (const uint16_t *)call->q + row * call->q_row + h * call->q_head,
                    (float)call->scale, call->head_dim, h / (call->n_heads / call->n_kv_heads),
                    (uint16_t *)call->out + row * call->out_row + h * call->out_head,
                    call->lse ? (float *)call->lse + row * call->lse_row + h * call->lse_head
                              : NULL);
            }
    }
    return 0;
}

const struct cp_kernel cp_kernel = {
    .abi = CP_KERNEL_ABI,
    .name = "mixed cache: E4M3 keys, INT8 values",
    .q_type = CP_BF16,
    .kv_type = CP_BF16,
    .out_type = CP_BF16,
    .lse_type = CP_FP32,
    .cache = {.k = CP_CACHE_E4M3, .v = CP_CACHE_INT8, .scales = CP_CACHE_SCALE_TOKEN},
    .layout = {.pages = CP_PAGES_OWN,
               .page_size = 16,
               .order = CP_ORDER_NHD,
               .scale_order = CP_SCALES_BY_SLOT},
    .arithmetic = {.score = CP_SUM_FP32,
                   .weights = CP_BF16,
                   .k_dequantised = CP_FP32,
                   .v_dequantised = CP_FP32,
                   .values = CP_SUM_FP32,
                   .partials = CP_FP32,
                   .exp_error = 0x1p-22,
                   .step = BLOCK_N},
    .refuses = refuses,
    .attend = attend,
};
