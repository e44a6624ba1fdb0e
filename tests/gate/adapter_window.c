/* SPDX-License-Identifier: Apache-2.0 */
/* After vLLM's Triton kernel unified_attention (2D): pages in a block table, rows of any number,
 * exponentials of base 2, P in binary16. The log-sum-exp is in bits. A row that sees no key has
 * zeros and, as FlashAttention has it, +infinity. A window counts keys. */
#include "page_numbers.h"

#define BLOCK_N 64
#define MAX_D   512

struct unified_attention_params {
    const uint16_t *query, *key_cache, *value_cache;
    uint16_t *output;
    float *lse;                 /* log2 */
    const int *block_tables;    /* [num_seqs][block_table_stride] */
    const int *seq_lens;        /* [num_seqs] */
    const int *query_start_loc; /* [num_seqs + 1] */
    int num_seqs, num_query_heads, num_kv_heads, head_size, block_size;
    int sliding_window; /* keys; 0: none */
    int max_query_len;
    int64_t block_table_stride;
    int64_t query_stride_0, query_stride_1, output_stride_0, output_stride_1;
    int64_t lse_stride_0, lse_stride_1;
    int64_t stride_k_cache_0, stride_k_cache_1, stride_k_cache_2; /* block, head, slot */
    int64_t stride_v_cache_0, stride_v_cache_1, stride_v_cache_2;
    float scale_log2;
};

static void kernel_unified_attention_2d(const struct unified_attention_params *p, int seq_idx,
                                        int query_idx, int head) {
    const int D = p->head_size;
    const int cur_batch_query_len = p->query_start_loc[seq_idx + 1] - p->query_start_loc[seq_idx];
    const int seq_len = p->seq_lens[seq_idx];
    const int context_len = seq_len - cur_batch_query_len;
    const int query_pos = context_len + query_idx;
    const int64_t row = p->query_start_loc[seq_idx] + query_idx;
    const int kv_head = head / (p->num_query_heads / p->num_kv_heads);
    const uint16_t *Q = p->query + row * p->query_stride_0 + head * p->query_stride_1;
    const int *block_table = p->block_tables + seq_idx * p->block_table_stride;

    float M = -INFINITY, L = 0.0f;
    float acc[MAX_D] = {0};

    const int key_end = query_pos + 1 < seq_len ? query_pos + 1 : seq_len;
    int key_begin = 0;
    if (p->sliding_window > 0) {
        key_begin = query_pos - p->sliding_window + 1;
        if (key_begin < 0)
            key_begin = 0;
    }
    for (int start = key_begin / BLOCK_N * BLOCK_N; start < key_end; start += BLOCK_N) {
        float S[BLOCK_N];
        uint16_t P[BLOCK_N];
        float m_j = M;
        for (int n = 0; n < BLOCK_N; n++) {
            const int t = start + n;
            S[n] = -INFINITY;
            if (t < key_begin || t >= key_end)
                continue;
            const int64_t block = block_table[t / p->block_size];
            const uint16_t *K = p->key_cache + block * p->stride_k_cache_0 +
                                kv_head * p->stride_k_cache_1 +
                                (t % p->block_size) * p->stride_k_cache_2;
            float s = 0.0f;
            for (int i = 0; i < D; i++)
                s += h2f(Q[i]) * h2f(K[i]);
            S[n] = s * p->scale_log2;
            if (S[n] > m_j)
                m_j = S[n];
        }
        if (m_j == -INFINITY)
            m_j = 0.0f;
        float l_j = 0.0f;
        for (int n = 0; n < BLOCK_N; n++) {
            const float e = exp2f(S[n] - m_j);
            l_j += e;
            P[n] = f2h(e);
        }
        const float alpha = exp2f(M - m_j);
        for (int i = 0; i < D; i++)
            acc[i] *= alpha;
        L = L * alpha + l_j;
        M = m_j;
        for (int n = 0; n < BLOCK_N; n++) {
            const int t = start + n;
            if (t < key_begin || t >= key_end)
                continue;
            const int64_t block = block_table[t / p->block_size];
            const uint16_t *V = p->value_cache + block * p->stride_v_cache_0 +
                                kv_head * p->stride_v_cache_1 +
                                (t % p->block_size) * p->stride_v_cache_2;
            for (int i = 0; i < D; i++)
                acc[i] += h2f(P[n]) * h2f(V[i]);
        }
    }
    uint16_t *out = p->output + row * p->output_stride_0 + head * p->output_stride_1;
    const int empty = !(L > 0.0f);
    for (int i = 0; i < D; i++)
        out[i] = f2h(empty ? 0.0f : acc[i] / L);
    if (p->lse) {
        const float lse = M + log2f(L);
        p->lse[row * p->lse_stride_0 + head * p->lse_stride_1] = empty ? INFINITY : lse;
    }
}

static const char *refuses(const struct cp_kernel_call *call) {
    return call->head_dim > MAX_D ? "head_size is at most 512" : NULL;
}

static int attend(const struct cp_kernel_call *call) {
    const struct unified_attention_params p = {
        .query = call->q,
        .key_cache = call->k,
        .value_cache = call->v,
        .output = call->out,
        .lse = call->lse,
        .block_tables = call->table,
        .seq_lens = call->n_tokens,
        .query_start_loc = call->query_begin,
        .num_seqs = call->n_sequences,
        .num_query_heads = call->n_heads,
        .num_kv_heads = call->n_kv_heads,
        .head_size = call->head_dim,
        .block_size = call->chunk_size,
        .sliding_window = call->window,
        .max_query_len = call->max_rows,
        .block_table_stride = call->table_width,
        .query_stride_0 = call->q_row,
        .query_stride_1 = call->q_head,
        .output_stride_0 = call->out_row,
        .output_stride_1 = call->out_head,
        .lse_stride_0 = call->lse_row,
        .lse_stride_1 = call->lse_head,
        .stride_k_cache_0 = call->k_chunk,
        .stride_k_cache_1 = call->k_head,
        .stride_k_cache_2 = call->k_slot,
        .stride_v_cache_0 = call->v_chunk,
        .stride_v_cache_1 = call->v_head,
        .stride_v_cache_2 = call->v_slot,
        .scale_log2 = (float)(call->scale * 1.4426950408889634),
    };
    for (int s = 0; s < p.num_seqs; s++)
        for (int r = 0; r < p.query_start_loc[s + 1] - p.query_start_loc[s]; r++)
            for (int h = 0; h < p.num_query_heads; h++)
                kernel_unified_attention_2d(&p, s, r, h);
    return 0;
}

const struct cp_kernel cp_kernel = {
    .abi = CP_KERNEL_ABI,
    .name = "triton unified attention 2d, base 2",
    .q_type = CP_FP16,
    .kv_type = CP_FP16,
    .out_type = CP_FP16,
    .lse_type = CP_FP32,
    .masks = CP_MASKS_WINDOW,
    .conventions = {.lse_base = CP_LSE_BITS,
                    .empty_lse = CP_EMPTY_VALUE,
                    .empty_value = INFINITY,
                    .window = CP_WINDOW_OF_KEYS},
    .arithmetic = {.score = CP_SUM_FP32,
                   .weights = CP_FP16,
                   .values = CP_SUM_FP32,
                   .partials = CP_FP32,
                   .in_bits = 1,
                   .exp_error = 0x1p-22,
                   .step = BLOCK_N},
    .refuses = refuses,
    .attend = attend,
};
