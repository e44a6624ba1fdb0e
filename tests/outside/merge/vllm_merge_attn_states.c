/* After vLLM's csrc/attention/merge_attn_states.cu: two parts (prefix, suffix), natural
 * log-sum-exps [head][token], one "thread" for each pack of 8 numbers, blocks of 128 threads. */
#include <chunkproof/merge_kernel.h>
#include <math.h>
#include <stdint.h>
#include <string.h>

#ifndef MISTAKE
#define MISTAKE 0
#endif

typedef uint16_t bf16;

static float up(bf16 x)
{
    uint32_t b = (uint32_t)x << 16;
    float f;
    memcpy(&f, &b, 4);
    return f;
}

static inline bf16 nearest(float f)
{
    uint32_t b;
    memcpy(&b, &f, 4);
    if ((b & 0x7fffffffu) > 0x7f800000u) return (bf16)(b >> 16 | 0x40);
    return (bf16)((b + 0x7fff + (b >> 16 & 1)) >> 16);
}

static inline bf16 down(float f)
{
#if MISTAKE == 8 /* cut off, not rounded */
    uint32_t b;
    memcpy(&b, &f, 4);
    return (bf16)(b >> 16);
#else
    return nearest(f);
#endif
}

#define PACK 8
#define THREADS 128

#if MISTAKE == 1 /* log-sum-exps taken for bits */
#define EXP exp2f
#define LOG log2f
#else
#define EXP expf
#define LOG logf
#endif

static void thread(const struct cp_merge_call *c, long long id)
{
    const bf16 *o = c->o;
    const float *l = c->l;
    bf16 *out = c->out;
    float *lse = c->lse;
#if MISTAKE == 6 /* whole packs alone */
    const long long packs = c->head_dim >= PACK ? c->head_dim / PACK : 1;
#else
    const long long packs = (c->head_dim + PACK - 1) / PACK;
#endif
    if (id >= (long long)c->n_rows * c->n_heads * packs) return;
    const int pack = (int)(id % packs);
    const int head = (int)(id / packs % c->n_heads);
#if MISTAKE == 14 /* the token's number kept in 8 bits */
    const uint8_t token = (uint8_t)(id / packs / c->n_heads);
#else
    const long long token = id / packs / c->n_heads;
#endif

#if MISTAKE == 2 /* [token][head], as the outputs lie */
    const long long at = (long long)token * c->n_heads + head;
#elif MISTAKE == 18 /* heads times tokens, though the tensor is a slice (has gaps) */
    const long long at = (long long)head * c->n_rows + token;
#else
    const long long at = token * c->l_row + head * c->l_head;
#endif
    float p_lse = l[at], s_lse = l[c->l_part + at];
    const float worst = fmaxf(p_lse, s_lse);
    (void)worst;
#if MISTAKE == 15 /* a finite number for "no key" */
    if (isinf(p_lse)) p_lse = -1e4f;
    if (isinf(s_lse)) s_lse = -1e4f;
#endif
#if MISTAKE == 4 /* no maximum */
    float max = 0.0f;
#elif MISTAKE == 5 /* the reference is the prefix's */
    float max = isinf(p_lse) ? s_lse : p_lse;
#else
    float max = fmaxf(p_lse, s_lse);
#endif

    const int first = pack * PACK;
    const int last = first + PACK < c->head_dim ? first + PACK : c->head_dim;
    bf16 *to = out + token * c->out_row + head * c->out_head;
#if MISTAKE != 3 /* 3: -inf - -inf */
    if (worst == -INFINITY) {
#if MISTAKE == 16 /* the prefix's output, "expected to be all zeros" */
        const bf16 *prefix = o + token * c->o_row + head * c->o_head;
        for (int i = first; i < last; i++) to[i] = prefix[i];
#else
        for (int i = first; i < last; i++) to[i] = 0;
#endif
        if (lse != NULL && pack == 0) lse[token * c->lse_row + head * c->lse_head] = -INFINITY;
        return;
    }
#endif
#if MISTAKE == 11 /* the strides of the output for the inputs, which are slices of others */
    const bf16 *p = o + token * c->out_row + head * c->out_head, *s = p + c->o_part;
#else
    const bf16 *p = o + token * c->o_row + head * c->o_head, *s = p + c->o_part;
#endif
#if MISTAKE == 12 /* a shortcut that forgets the log-sum-exp */
    if (s_lse == -INFINITY) {
        for (int i = first; i < last; i++) to[i] = p[i];
        return;
    }
#endif
#if MISTAKE == 13 /* who weighs little is left out */
    if (s_lse < p_lse - 9.0f) s_lse = -INFINITY;
#endif
    float p_se = EXP(p_lse - max), s_se = EXP(s_lse - max);
    float sum = p_se + s_se;
    float p_scale = p_se / sum, s_scale = s_se / sum;
#if MISTAKE == 9 /* weights in bfloat16 */
    p_scale = up(nearest(p_scale));
    s_scale = up(nearest(s_scale));
#elif MISTAKE == 10 /* prefix and suffix mixed up, when they were made arrays of pointers */
    const float t = p_scale;
    p_scale = s_scale;
    s_scale = t;
#elif MISTAKE == 17 /* scales kept from an earlier call of the same sizes */
    static float kept[4096][2];
    static int rows, heads;
    if (rows != c->n_rows || heads != c->n_heads) {
        for (int i = 0; i < 4096; i++) kept[i][0] = -1.0f;
        rows = c->n_rows, heads = c->n_heads;
    }
    const long long k = token * c->n_heads + head;
    if (k < 4096) {
        if (kept[k][0] < 0.0f) kept[k][0] = p_scale, kept[k][1] = s_scale;
        p_scale = kept[k][0], s_scale = kept[k][1];
    }
#endif
    for (int i = first; i < last; i++) to[i] = down(up(p[i]) * p_scale + up(s[i]) * s_scale);
    if (lse != NULL && pack == 0) {
#if MISTAKE == 7 /* the maximum is not added again */
        lse[token * c->lse_row + head * c->lse_head] = LOG(sum);
#else
        lse[token * c->lse_row + head * c->lse_head] = LOG(sum) + max;
#endif
    }
}

static int merge(const struct cp_merge_call *c)
{
    const long long packs = (c->head_dim + PACK - 1) / PACK;
    const long long total = (long long)c->n_rows * c->n_heads * packs;
    const long long blocks = (total + THREADS - 1) / THREADS;
    for (long long b = 0; b < blocks; b++)
        for (int t = 0; t < THREADS; t++) thread(c, b * THREADS + t);
    return 0;
}

const struct cp_merge_kernel cp_merge_kernel = {
    .abi = CP_MERGE_ABI,
    .name = "vllm-merge-attn-states",
    .o_type = CP_BF16,
    .l_type = CP_FP32,
    .base = CP_BASE_E,
    .least_parts = 2,
    .most_parts = 2,
    .layout = {.o = CP_O_ORDER_PART_ROW, .l = CP_L_ORDER_PART_HEAD, .lse = CP_LSE_ORDER_HEAD},
    .empty_o = CP_EMPTY_O_NUMBERS,
    .arithmetic = {.way = CP_MERGING_AT_ONCE,
                   .weights = CP_FP32,
                   .values = CP_FP32,
                   .partials = CP_FP32,
                   .out_type = CP_BF16,
                   .lse_type = CP_FP32,
                   .exp_error = 0x1p-22,
                   .log_error = 0x1p-22,
                   .div_error = 0x1p-24},
    .merge = merge,
};
