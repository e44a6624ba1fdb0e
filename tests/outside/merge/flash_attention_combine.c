/* After FlashAttention-2's combine_attn_seqk_parallel: up to 256 splits, binary32 partial results
 * [split][row][head][d], log-sum-exps [split][head][row], bfloat16 output. Blocks of BLOCK_M rows
 * (of all heads together); scales exp(l_i - lse) in "shared memory"; nothing is divided. A row
 * without keys gets zeros and, as there, +infinity. */
#include <chunkproof/merge_kernel.h>
#include <math.h>
#include <stdint.h>
#include <string.h>

#ifndef MISTAKE
#define MISTAKE 0
#endif

typedef uint16_t bf16;

static inline bf16 nearest(float f)
{
    uint32_t b;
    memcpy(&b, &f, 4);
    if ((b & 0x7fffffffu) > 0x7f800000u) return (bf16)(b >> 16 | 0x40);
    return (bf16)((b + 0x7fff + (b >> 16 & 1)) >> 16);
}

#if MISTAKE == 11
static float up(bf16 x)
{
    uint32_t b = (uint32_t)x << 16;
    float f;
    memcpy(&f, &b, 4);
    return f;
}
#endif

static inline bf16 down(float f)
{
#if MISTAKE == 10 /* the upper half */
    uint32_t b;
    memcpy(&b, &f, 4);
    return (bf16)(b >> 16);
#else
    return nearest(f);
#endif
}

#define BLOCK_M 8
#define MOST 256

static size_t workspace(const struct cp_merge_call *c)
{
#if MISTAKE == 16 /* of blocks of 4 rows, as for wide heads */
    return sizeof(float) * (size_t)c->n_parts * (c->head_dim >= 128 ? 4 : BLOCK_M);
#else
    return sizeof(float) * (size_t)c->n_parts * BLOCK_M;
#endif
}

static void block(const struct cp_merge_call *c, long long first)
{
    const float *o = c->o, *l = c->l;
    bf16 *out = c->out;
    float *lse = c->lse;
    float *scale = c->workspace; /* [split][BLOCK_M] */
    const long long rows = (long long)c->n_heads * c->n_rows;
#if MISTAKE == 4 /* kLogMaxSplits is 7 */
    const int splits = c->n_parts < 128 ? c->n_parts : 128;
#else
    const int splits = c->n_parts;
#endif

    for (int k = 0; k < BLOCK_M && first + k < rows; k++) {
        const long long head = (first + k) / c->n_rows, row = (first + k) % c->n_rows;
#if MISTAKE == 12 /* [split][row][head] */
        const long long at = row * c->n_heads + head;
#else
        const long long at = head * c->l_head + row * c->l_row;
#endif
#if MISTAKE == 2 /* starts at 0 */
        float max = 0.0f;
#else
        float max = -INFINITY;
#endif
#if MISTAKE == 5 /* of the splits that one warp loads at once */
        for (int s = 0; s < splits && s < 32; s++) max = fmaxf(max, l[s * c->l_part + at]);
#else
        for (int s = 0; s < splits; s++) max = fmaxf(max, l[s * c->l_part + at]);
#endif
#if MISTAKE != 1 /* 1: -inf - -inf */
        if (max == -INFINITY) max = 0.0f;
#endif
        float sum = 0.0f;
        for (int s = 0; s < splits; s++) sum += expf(l[s * c->l_part + at] - max);
        const int none = sum == 0.0f;
        float all = none ? INFINITY : logf(sum) + max;
#if MISTAKE == 17 /* computed only if it is asked for */
        if (lse == NULL) all = max;
#elif MISTAKE == 7 /* weights for the maximum, and no division */
        const float right = all;
        all = none ? all : max;
#endif
        for (int s = 0; s < splits; s++) {
            float w = expf(l[s * c->l_part + at] - all);
#if MISTAKE == 11 /* shared memory of 16 bits */
            w = up(nearest(w));
#elif MISTAKE == 14 /* who has next to no weight */
            if (w < 1e-4f) w = 0.0f;
#endif
            scale[s * BLOCK_M + k] = w;
        }
#if MISTAKE == 7
        all = right;
#elif MISTAKE == 8 /* as everybody else has it, and not as declared */
        if (none) all = -INFINITY;
#endif
#if MISTAKE == 9 /* [row][head] */
        if (lse != NULL) lse[row * c->n_heads + head] = all;
#else
        if (lse != NULL) lse[row * c->lse_row + head * c->lse_head] = all;
#endif
    }
    for (int k = 0; k < BLOCK_M && first + k < rows; k++) {
        const long long head = (first + k) / c->n_rows, row = (first + k) % c->n_rows;
#if MISTAKE == 6 /* heads and rows of the output the other way round */
        bf16 *to = out + (first + k) / c->n_heads * c->out_row +
                   (first + k) % c->n_heads * c->out_head;
#else
        bf16 *to = out + row * c->out_row + head * c->out_head;
#endif
#if MISTAKE == 15 /* vectors of 4; Is_even_K */
        const int d = c->head_dim >= 4 ? c->head_dim / 4 * 4 : c->head_dim;
#else
        const int d = c->head_dim;
#endif
        for (int i = 0; i < d; i++) {
            float sum = 0.0f;
            for (int s = 0; s < splits; s++) {
#if MISTAKE == 18 /* the scales of the block's first row beyond the first 64 splits */
                const float w = scale[s * BLOCK_M + (s < 64 ? k : 0)];
#else
                const float w = scale[s * BLOCK_M + k];
#endif
                const float *from = o + s * c->o_part + row * c->o_row + head * c->o_head;
#if MISTAKE == 13 /* 0 times anything */
                sum += w * from[i];
#else
                if (w > 0.0f) sum += w * from[i];
#endif
            }
            to[i] = down(sum);
        }
    }
}

static int merge(const struct cp_merge_call *c)
{
    const long long rows = (long long)c->n_heads * c->n_rows;
#if MISTAKE == 3 /* the last block, unless it is full */
    const long long blocks = rows >= BLOCK_M ? rows / BLOCK_M : 1;
#else
    const long long blocks = (rows + BLOCK_M - 1) / BLOCK_M;
#endif
    for (long long b = 0; b < blocks; b++) block(c, b * BLOCK_M);
    return 0;
}

const struct cp_merge_kernel cp_merge_kernel = {
    .abi = CP_MERGE_ABI,
    .name = "flash-attention-combine",
    .o_type = CP_FP32,
    .l_type = CP_FP32,
    .base = CP_BASE_E,
    .most_parts = MOST,
    .layout = {.o = CP_O_ORDER_PART_ROW, .l = CP_L_ORDER_PART_HEAD, .lse = CP_LSE_ORDER_HEAD},
    .empty_lse = CP_EMPTY_VALUE,
    .empty_value = INFINITY,
    .arithmetic = {.way = CP_MERGING_UNDIVIDED,
                   .weights = CP_FP32,
                   .values = CP_FP32,
                   .partials = CP_FP32,
                   .out_type = CP_BF16,
                   .lse_type = CP_FP32,
                   .exp_error = 0x1p-22,
                   .log_error = 0x1p-22},
    .workspace = workspace,
    .merge = merge,
};
