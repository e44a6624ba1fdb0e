/* SPDX-License-Identifier: Apache-2.0 */
/* After vLLM's paged_attention_v1: K packed by 16 bytes, V as [block][head][d][slot], a block
 * table, rows of decoding and of prefill in one batch, bfloat16. One softmax over
 * all keys of a row. Its logits are divided by the sum and rounded to bfloat16 before V is
 * multiplied by them. */
#include "page_numbers.h"

#define X          8
#define BLOCK_SIZE 16
#define MAX_D      512

static void paged_attention_v1(uint16_t *out, const uint16_t *q, const uint16_t *k_cache,
                               const uint16_t *v_cache, int num_heads, int num_kv_heads,
                               int head_size, float scale, const int *block_tables,
                               const int *seq_lens, const int *query_start_loc, int num_seqs,
                               int max_num_blocks_per_seq, int64_t q_stride, int64_t q_head_stride,
                               int64_t o_stride, int64_t o_head_stride, int64_t kv_block_stride,
                               int64_t v_block_stride, int64_t kv_head_stride,
                               int64_t v_head_stride, float *logits) {
    const int num_queries_per_kv = num_heads / num_kv_heads;
    for (int seq = 0; seq < num_seqs; seq++) {
        const int *block_table = block_tables + (int64_t)seq * max_num_blocks_per_seq;
        const int query_len = query_start_loc[seq + 1] - query_start_loc[seq];
        for (int r = 0; r < query_len; r++)
            for (int head = 0; head < num_heads; head++) {
                const int kv_head = head / num_queries_per_kv;
                const int64_t token = query_start_loc[seq] + r;
                const int ctx_len = seq_lens[seq] - query_len + r + 1;
                uint16_t *out_ptr = out + token * o_stride + head * o_head_stride;
                const uint16_t *q_ptr = q + token * q_stride + head * q_head_stride;
                const int num_blocks = ctx_len > 0 ? (ctx_len + BLOCK_SIZE - 1) / BLOCK_SIZE : 0;
                float qk_max = -INFINITY;
                for (int b = 0; b < num_blocks; b++) {
                    const uint16_t *k_ptr = k_cache + (int64_t)block_table[b] * kv_block_stride +
                                            kv_head * kv_head_stride;
                    for (int slot = 0; slot < BLOCK_SIZE; slot++) {
                        const int token_idx = b * BLOCK_SIZE + slot;
                        const int mask = token_idx >= ctx_len;
                        if (mask)
                            continue;
                        float qk = 0.0f;
                        for (int i = 0; i < head_size; i++)
                            qk += b2f(q_ptr[i]) *
                                  b2f(k_ptr[i / X * (BLOCK_SIZE * X) + slot * X + i % X]);
                        qk *= scale;
                        if (token_idx < ctx_len)
                            logits[token_idx] = qk;
                        if (qk > qk_max)
                            qk_max = qk;
                    }
                }
                float exp_sum = 0.0f;
                for (int t = 0; t < ctx_len; t++) {
                    logits[t] = expf(logits[t] - qk_max);
                    exp_sum += logits[t];
                }
                const float inv_sum = 1.0f / (exp_sum + 1e-6f);
                float accs[MAX_D] = {0};
                for (int b = 0; b < num_blocks; b++) {
                    const uint16_t *v_ptr = v_cache + (int64_t)block_table[b] * v_block_stride +
                                            kv_head * v_head_stride;
                    const int n = ctx_len - b * BLOCK_SIZE < BLOCK_SIZE ? ctx_len - b * BLOCK_SIZE
                                                                        : BLOCK_SIZE;
                    for (int slot = 0; slot < n; slot++) {
                        const int t = b * BLOCK_SIZE + slot;
                        const float p = t < ctx_len ? b2f(f2b(logits[t] * inv_sum)) : 0;
                        for (int i = 0; i < head_size; i++)
                            accs[i] += p * b2f(v_ptr[i * BLOCK_SIZE + slot]);
                    }
                }
                for (int i = 0; i < head_size; i++)
                    out_ptr[i] = f2b(accs[i]);
            }
    }
}

static const char *refuses(const struct cp_kernel_call *call) {
    return call->head_dim > MAX_D ? "head_size is at most 512" : NULL;
}

static size_t workspace(const struct cp_kernel_call *call) {
    return ((size_t)call->max_tokens + BLOCK_SIZE) * sizeof(float);
}

static int attend(const struct cp_kernel_call *call) {
    paged_attention_v1(call->out, call->q, call->k, call->v, call->n_heads, call->n_kv_heads,
                       call->head_dim, (float)call->scale, call->page_table, call->n_tokens,
                       call->query_begin, call->n_sequences, call->page_table_width, call->q_row,
                       call->q_head, call->out_row, call->out_head, call->k_chunk, call->v_chunk,
                       call->k_head, call->v_head, call->workspace);
    return 0;
}

const struct cp_kernel cp_kernel = {
    .abi = CP_KERNEL_ABI,
    .name = "vLLM paged attention v1",
    .q_type = CP_BF16,
    .kv_type = CP_BF16,
    .out_type = CP_BF16,
    .lse_type = CP_NO_LSE,
    .layout = {.pages = CP_PAGES_OWN,
               .page_size = BLOCK_SIZE,
               .gaps = CP_GAPS_PAGES,
               .order = CP_ORDER_HND,
               .k_pack = X,
               .v_pack = 1},
    .arithmetic = {.score = CP_SUM_FP32,
                   .weights = CP_BF16,
                   .values = CP_SUM_FP32,
                   .partials = CP_FP32,
                   .normalises = 1,
                   .exp_error = 0x1p-22,
                   .divide_error = 0x1.02p-24,
                   .epsilon = 1e-6,
                   .step = 0},
    .refuses = refuses,
    .workspace = workspace,
    .attend = attend,
};
