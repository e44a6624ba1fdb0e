/* SPDX-License-Identifier: Apache-2.0 */
/* For tests: an adapter as somebody wrote it for version 8 of kernel.h, and kept it since. After
 * paged attention with a cache of fp8_e5m2: a block table, a scale for each K/V head, binary16, a
 * sliding window that counts keys. A row's logits are kept, and have one maximum. */
#include <chunkproof/kernel.h>
#include <math.h>
#include <stdint.h>

struct paged_params {
    const uint16_t *q;
    const uint8_t *k_cache, *v_cache;
    uint16_t *out;
    float *lse;
    const float *k_scale, *v_scale; /* of each K/V head */
    const int *block_tables, *seq_lens, *query_start_loc;
    int num_seqs, num_heads, num_kv_heads, head_size, block_size, window;
    int64_t table_stride, q_stride, q_head_stride, o_stride, o_head_stride, lse_stride;
    int64_t lse_head_stride, k_block, k_head, k_slot, v_block, v_head, v_slot;
    float scale, *logits, *acc;
};

static float half_to_float(uint16_t x) {
    int exponent = x >> 10 & 31, fraction = x & 1023;
    float size = exponent == 0    ? ldexpf((float)fraction, -24)
                 : exponent == 31 ? (fraction == 0 ? INFINITY : NAN)
                                  : ldexpf((float)(1024 + fraction), exponent - 25);
    return x >> 15 ? -size : size;
}

/* To the nearest number, to the even one of two. */
static uint16_t float_to_half(float x) {
    int exponent;
    float size = fabsf(x);
    uint16_t sign = signbit(x) ? 0x8000 : 0;
    if (isnan(x))
        return sign | 0x7e00;
    if (size >= 65520.0F)
        return sign | 0x7c00;
    (void)frexpf(size, &exponent);
    if (size == 0.0F || exponent < -13)
        exponent = -13;
    int units = (int)rintf(ldexpf(size, 11 - exponent)); /* up to 2048 */
    return (uint16_t)(sign + ((exponent + 13) << 10) + units);
}

/* The upper byte of a binary16. */
static float e5m2(uint8_t x) {
    return half_to_float((uint16_t)(x << 8));
}

static void attend_row(const struct paged_params *p, int seq, int64_t row, int pos, int head) {
    const int kv_head = head / (p->num_heads / p->num_kv_heads);
    const int *table = p->block_tables + seq * p->table_stride;
    const uint16_t *q = p->q + row * p->q_stride + head * p->q_head_stride;
    const int begin = p->window > 0 && pos - p->window + 1 > 0 ? pos - p->window + 1 : 0;
    float qk_max = -INFINITY, exp_sum = 0;
    for (int t = begin; t <= pos; t++) {
        const uint8_t *k = p->k_cache + table[t / p->block_size] * p->k_block +
                           kv_head * p->k_head + t % p->block_size * p->k_slot;
        float qk = 0;
        for (int i = 0; i < p->head_size; i++)
            qk += half_to_float(q[i]) * e5m2(k[i]);
        p->logits[t - begin] = qk * (p->scale * p->k_scale[kv_head]);
        if (p->logits[t - begin] > qk_max)
            qk_max = p->logits[t - begin];
    }
    for (int i = 0; i < p->head_size; i++)
        p->acc[i] = 0;
    for (int t = begin; t <= pos; t++) {
        const uint8_t *v = p->v_cache + table[t / p->block_size] * p->v_block +
                           kv_head * p->v_head + t % p->block_size * p->v_slot;
        const float weight = expf(p->logits[t - begin] - qk_max);
        exp_sum += weight;
        for (int i = 0; i < p->head_size; i++)
            p->acc[i] += weight * e5m2(v[i]);
    }
    uint16_t *out = p->out + row * p->o_stride + head * p->o_head_stride;
    for (int i = 0; i < p->head_size; i++)
        out[i] = float_to_half(exp_sum > 0 ? p->acc[i] / exp_sum * p->v_scale[kv_head] : 0);
    if (p->lse)
        p->lse[row * p->lse_stride + head * p->lse_head_stride] =
            exp_sum > 0 ? qk_max + logf(exp_sum) : -INFINITY;
}

static int attend(const struct cp_kernel_call *call) {
    const struct paged_params p = {
        .q = call->q,
        .k_cache = call->k,
        .v_cache = call->v,
        .out = call->out,
        .lse = call->lse,
        .k_scale = call->k_scales,
        .v_scale = call->v_scales,
        .block_tables = call->table,
        .seq_lens = call->n_tokens,
        .query_start_loc = call->query_begin,
        .num_seqs = call->n_sequences,
        .num_heads = call->n_heads,
        .num_kv_heads = call->n_kv_heads,
        .head_size = call->head_dim,
        .block_size = call->chunk_size,
        .window = call->window,
        .table_stride = call->table_width,
        .q_stride = call->q_row,
        .q_head_stride = call->q_head,
        .o_stride = call->out_row,
        .o_head_stride = call->out_head,
        .lse_stride = call->lse_row,
        .lse_head_stride = call->lse_head,
        .k_block = call->k_chunk,
        .k_head = call->k_head,
        .k_slot = call->k_slot,
        .v_block = call->v_chunk,
        .v_head = call->v_head,
        .v_slot = call->v_slot,
        .scale = (float)call->scale,
        .acc = call->workspace,
        .logits = (float *)call->workspace + call->head_dim,
    };
    for (int s = 0; s < p.num_seqs; s++) {
        const int rows = p.query_start_loc[s + 1] - p.query_start_loc[s];
        for (int r = 0; r < rows; r++)
            for (int head = 0; head < p.num_heads; head++)
                attend_row(&p, s, p.query_start_loc[s] + r, p.seq_lens[s] - rows + r, head);
    }
    return 0;
}

/* A sequence has fewer keys than its row of the table has slots. */
static size_t workspace(const struct cp_kernel_call *call) {
    return ((size_t)call->head_dim + (size_t)call->table_width * (size_t)call->chunk_size) *
           sizeof(float);
}

const struct cp_kernel cp_kernel = {
    .abi = CP_KERNEL_ABI,
    .name = "fp8_e5m2 paged attention",
    .q_type = CP_FP16,
    .kv_type = CP_FP16,
    .out_type = CP_FP16,
    .lse_type = CP_FP32,
    .masks = CP_MASKS_WINDOW,
    .cache = {.k = CP_CACHE_E5M2, .v = CP_CACHE_E5M2, .scales = CP_CACHE_SCALE_HEAD},
    .arithmetic = {.score = CP_SUM_FP32,
                   .weights = CP_FP32,
                   .dequantised = CP_FP32,
                   .values = CP_SUM_FP32,
                   .partials = CP_FP32,
                   .exp_error = 0x1p-22,
                   .step = 0},
    .workspace = workspace,
    .attend = attend,
};
