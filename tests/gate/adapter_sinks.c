/* SPDX-License-Identifier: Apache-2.0 */
/* After vLLM's Triton kernel unified_attention (3D), with the sinks of GPT-OSS: a row's keys are
 * split in NUM_SEGMENTS segments, each with its own maximum, sum and output in binary32, which
 * reduce_segments merges. The sink is the start of segment 0. bfloat16, exponentials of base 2. */
#include "page_numbers.h"

enum { TILE_SIZE = 16, NUM_SEGMENTS = 8, MAX_D = 512 };
#define RCP_LN2 1.4426950408889634f

struct kv_view { /* paged, by strides */
    const uint16_t *k, *v;
    int64_t k_block, k_head, k_slot, v_block, v_head, v_slot;
    int block_size;
};

/* segm_output[NUM_SEGMENTS][d], segm_max[NUM_SEGMENTS], segm_expsum[NUM_SEGMENTS] */
static void kernel_unified_attention_3d(float *segm_output, float *segm_max, float *segm_expsum,
                                        const uint16_t *q, const struct kv_view *kv,
                                        const int *block_table, const float *sink_ptr, int head,
                                        int kv_head, float scale_log2, int d, int query_pos,
                                        int seq_len, int sliding_window, int segm_idx) {
    const int key_end = query_pos + 1 < seq_len ? query_pos + 1 : seq_len;
    const int num_tiles = key_end > 0 ? (key_end + TILE_SIZE - 1) / TILE_SIZE : 0;
    const int tiles_per_segment = (num_tiles + NUM_SEGMENTS - 1) / NUM_SEGMENTS;
    float M = -INFINITY, L = 0.0f;
    float *acc = segm_output + segm_idx * d;
    for (int i = 0; i < d; i++)
        acc[i] = 0;
    if (sink_ptr && segm_idx == 0) {
        M = sink_ptr[head] * RCP_LN2;
        L = 1.0f;
    }
    int key_begin = sliding_window > 0 ? query_pos - sliding_window + 1 : 0;
    if (key_begin < 0)
        key_begin = 0;
    for (int j = segm_idx * tiles_per_segment;
         j < (segm_idx + 1) * tiles_per_segment && j < num_tiles; j++) {
        if ((j + 1) * TILE_SIZE <= key_begin)
            continue;
        float S[TILE_SIZE], m_j = M;
        for (int n = 0; n < TILE_SIZE; n++) {
            const int t = j * TILE_SIZE + n;
            S[n] = -INFINITY;
            if (t < key_begin || t >= key_end)
                continue;
            const uint16_t *K = kv->k + block_table[t / kv->block_size] * kv->k_block +
                                kv_head * kv->k_head + t % kv->block_size * kv->k_slot;
            float s = 0;
            for (int i = 0; i < d; i++)
                s += b2f(q[i]) * b2f(K[i]);
            S[n] = s * scale_log2;
            if (S[n] > m_j)
                m_j = S[n];
        }
        if (m_j == -INFINITY)
            m_j = 0;
        const float alpha = exp2f(M - m_j);
        float l_j = 0;
        for (int i = 0; i < d; i++)
            acc[i] *= alpha;
        for (int n = 0; n < TILE_SIZE; n++) {
            const int t = j * TILE_SIZE + n;
            const float e = exp2f(S[n] - m_j), P = b2f(f2b(e));
            l_j += e;
            if (t < key_begin || t >= key_end)
                continue;
            const uint16_t *V = kv->v + block_table[t / kv->block_size] * kv->v_block +
                                kv_head * kv->v_head + t % kv->block_size * kv->v_slot;
            for (int i = 0; i < d; i++)
                acc[i] += P * b2f(V[i]);
        }
        L = L * alpha + l_j;
        M = m_j;
    }
    segm_max[segm_idx] = M;
    segm_expsum[segm_idx] = L;
}

static void reduce_segments(uint16_t *out, float *lse, const float *segm_output,
                            const float *segm_max, const float *segm_expsum, int d) {
    float overall_max = -INFINITY, overall_expsum = 0, factor[NUM_SEGMENTS];
    for (int s = 0; s < NUM_SEGMENTS; s++)
        if (segm_max[s] > overall_max)
            overall_max = segm_max[s];
    for (int s = 0; s < NUM_SEGMENTS; s++) {
        factor[s] = segm_expsum[s] > 0 ? exp2f(segm_max[s] - overall_max) : 0;
        overall_expsum += segm_expsum[s] * factor[s];
    }
    for (int i = 0; i < d; i++) {
        float acc = 0;
        for (int s = 0; s < NUM_SEGMENTS; s++)
            acc += segm_output[s * d + i] * factor[s];
        out[i] = f2b(overall_expsum == 0 ? 0 : acc / overall_expsum);
    }
    if (lse)
        *lse = overall_expsum == 0 ? -INFINITY
                                   : (overall_max + log2f(overall_expsum)) * 0.6931471805599453f;
}

static const char *refuses(const struct cp_kernel_call *c) {
    return c->head_dim > MAX_D ? "d is at most 512" : NULL;
}

static size_t workspace(const struct cp_kernel_call *c) {
    return (size_t)NUM_SEGMENTS * (c->head_dim + 2) * sizeof(float);
}

static int attend(const struct cp_kernel_call *c) {
    const struct kv_view kv = {.k = c->k,
                               .v = c->v,
                               .k_block = c->k_chunk,
                               .k_head = c->k_head,
                               .k_slot = c->k_slot,
                               .v_block = c->v_chunk,
                               .v_head = c->v_head,
                               .v_slot = c->v_slot,
                               .block_size = c->chunk_size};
    const int d = c->head_dim;
    float *segm_output = c->workspace, *segm_max = segm_output + (size_t)NUM_SEGMENTS * d,
          *segm_expsum = segm_max + NUM_SEGMENTS;
    for (int s = 0; s < c->n_sequences; s++)
        for (int r = c->query_begin[s]; r < c->query_begin[s + 1]; r++)
            for (int h = 0; h < c->n_heads; h++) {
                for (int g = 0; g < NUM_SEGMENTS; g++)
                    kernel_unified_attention_3d(
                        segm_output, segm_max, segm_expsum,
                        (const uint16_t *)c->q + r * c->q_row + h * c->q_head, &kv,
                        c->table + (int64_t)s * c->table_width, c->sinks, h,
                        h / (c->n_heads / c->n_kv_heads), (float)(c->scale * 1.4426950408889634), d,
                        c->n_tokens[s] - (c->query_begin[s + 1] - r), c->n_tokens[s], c->window, g);
                reduce_segments((uint16_t *)c->out + r * c->out_row + h * c->out_head,
                                c->lse ? (float *)c->lse + r * c->lse_row + h * c->lse_head : NULL,
                                segm_output, segm_max, segm_expsum, d);
            }
    return 0;
}

const struct cp_kernel cp_kernel = {
    .abi = CP_KERNEL_ABI,
    .name = "GPT-OSS sinks, 3D split-KV",
    .q_type = CP_BF16,
    .kv_type = CP_BF16,
    .out_type = CP_BF16,
    .lse_type = CP_FP32,
    .masks = CP_MASKS_WINDOW,
    .scores = CP_SCORES_SINKS,
    .arithmetic = {.score = CP_SUM_FP32,
                   .weights = CP_BF16,
                   .values = CP_SUM_FP32,
                   .partials = CP_FP32,
                   .divides = 0,
                   .in_bits = 1,
                   .exp_error = 0x1p-22,
                   .step = TILE_SIZE},
    .refuses = refuses,
    .workspace = workspace,
    .attend = attend,
};
