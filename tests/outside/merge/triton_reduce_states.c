/* After Triton's stage 2 of split-KV decoding (SGLang, vLLM: _fwd_kernel_stage2) and TensorRT-LLM's
 * multi-block reduction: many splits, natural log-sum-exps, exp2((l - m) log2 e). Groups of GROUP
 * splits become states (m, n, acc) in the workspace, which are then merged; one division. The
 * accumulators are tiles of BLOCK_DV numbers; a mask cuts the last tile. */
#include <chunkproof/merge_kernel.h>
#include <math.h>
#include <stdint.h>
#include <string.h>

#ifndef MISTAKE
#define MISTAKE 0
#endif

typedef uint16_t half;

static inline half nearest(float x)
{
    uint32_t b;
    memcpy(&b, &x, 4);
    const half s = (half)(b >> 16 & 0x8000);
    b &= 0x7fffffffu;
    if (b > 0x7f800000u) return s | 0x7e00;
    if (b >= 0x477ff000u) return s | 0x7c00;
    if (b < 0x38800000u) {
        float a;
        memcpy(&a, &b, 4);
        a += 0.5f;
        memcpy(&b, &a, 4);
        return (half)(s | (b - 0x3f000000u));
    }
    b += 0xfff + (b >> 13 & 1);
    return (half)(s | (b - 0x38000000u) >> 13);
}

#if MISTAKE == 13 || MISTAKE == 18
static float up(half h)
{
    const int e = h >> 10 & 31, f = h & 1023;
    const float x = e == 0 ? ldexpf((float)f, -24) : ldexpf((float)(f + 1024), e - 25);
    return h & 0x8000 ? -x : x;
}
#endif

#define LOG2E 1.44269504088896340736f
#define LN2 0.693147180559945309417f
#define GROUP 16
#define BLOCK_DV 64

static float exponential(float x)
{
#if MISTAKE == 1 /* the factor was to be in the scale of the scores, and is not in l */
    return exp2f(x);
#else
    return exp2f(x * LOG2E);
#endif
}

static int n_groups(int parts)
{
    return (parts + GROUP - 1) / GROUP;
}

static size_t stride(const struct cp_merge_call *c)
{
#if MISTAKE == 10 /* the state of a group is acc, and m and n lie in the next one's */
    return (size_t)c->head_dim + 1;
#else
    return (size_t)c->head_dim + 2;
#endif
}

static size_t workspace(const struct cp_merge_call *c)
{
    return sizeof(float) * (size_t)n_groups(c->n_parts) * ((size_t)c->head_dim + 2);
}

#if MISTAKE == 14 /* offsets in 32 bits */
typedef int offset;
#else
typedef long long offset;
#endif

static int merge(const struct cp_merge_call *c)
{
    const float *o = c->o, *l = c->l;
    half *out = c->out;
    float *lse = c->lse;
    const int d = c->head_dim;
#if MISTAKE == 7 /* rounded down */
    const int groups = c->n_parts >= GROUP ? c->n_parts / GROUP : 1;
#else
    const int groups = n_groups(c->n_parts);
#endif

    for (int row = 0; row < c->n_rows; row++)
        for (int head = 0; head < c->n_heads; head++) {
            const float *of = o + (offset)((offset)row * (offset)c->o_row) +
                              (offset)((offset)head * (offset)c->o_head);
            const float *lf = l + row * c->l_row + head * c->l_head;
            for (int g = 0; g < groups; g++) {
                float *state = (float *)c->workspace + (size_t)g * stride(c), *acc = state + 2;
                const int end = g * GROUP + GROUP < c->n_parts ? g * GROUP + GROUP : c->n_parts;
#if MISTAKE == 2 /* a finite beginning */
                float m = -1e4f, n = 0.0f;
#else
                float m = -INFINITY, n = 0.0f;
#endif
#if MISTAKE != 12 /* 12: only the first split writes, the others add; there may be none */
                for (int i = 0; i < d; i++) acc[i] = 0.0f;
#endif
                for (int p = g * GROUP; p < end; p++) {
                    const float split = lf[p * c->l_part];
#if MISTAKE == 6 /* behind an empty split all are empty, as with splits of one length */
                    if (split == -INFINITY) break;
#elif MISTAKE != 5 /* 5: -inf - -inf while nothing has come */
                    if (split == -INFINITY) continue;
#endif
                    const float max = fmaxf(m, split);
                    const float old = exponential(m - max), w = exponential(split - max);
                    const float *from = of + (offset)((offset)p * (offset)c->o_part);
                    for (int t = 0; t < d; t += BLOCK_DV)
                        for (int i = t; i < t + BLOCK_DV && i < d; i++) {
#if MISTAKE == 3 /* acc *= old_scale forgotten */
                            acc[i] = acc[i] + w * from[i];
#elif MISTAKE == 12
                            acc[i] = n == 0.0f ? w * from[i] : acc[i] * old + w * from[i];
#elif MISTAKE == 18 /* w.to(V.dtype) */
                            acc[i] = acc[i] * old + up(nearest(w)) * from[i];
#else
                            acc[i] = acc[i] * old + w * from[i];
#endif
#if MISTAKE == 13 /* partial results in binary16 */
                            acc[i] = up(nearest(acc[i]));
#endif
                        }
#if MISTAKE == 4 /* e_sum */
                    n = n + w;
#else
                    n = n * old + w;
#endif
                    m = max;
                }
                state[0] = m;
                state[1] = n;
            }
            float m = -INFINITY, n = 0.0f;
            for (int g = 0; g < groups; g++)
                m = fmaxf(m, ((float *)c->workspace)[(size_t)g * stride(c)]);
            half *to = out + row * c->out_row + head * c->out_head;
            for (int g = 0; g < groups; g++) {
                const float *state = (float *)c->workspace + (size_t)g * stride(c);
#if MISTAKE == 8 /* sums of groups for maxima of their own */
                n += state[1];
#else
                if (m > -INFINITY) n += state[1] * exponential(state[0] - m);
#endif
            }
            for (int t = 0; t < d; t += BLOCK_DV) {
#if MISTAKE == 9 /* numbers of a head are 128 at most; the rest is left to the next loop */
                if (t >= 128 && t + BLOCK_DV > d) continue;
#endif
                for (int i = t; i < t + BLOCK_DV && i < d; i++) {
                    float sum = 0.0f;
                    for (int g = 0; g < groups; g++) {
                        const float *state = (float *)c->workspace + (size_t)g * stride(c);
#if MISTAKE == 12
                        if (m > -INFINITY) sum += state[2 + i] * exponential(state[0] - m);
#elif MISTAKE == 17 /* a light group is skipped */
                        if (state[0] > m - 10.0f) sum += state[2 + i] * exponential(state[0] - m);
#else
                        if (state[0] > -INFINITY)
                            sum += state[2 + i] * exponential(state[0] - m);
#endif
                    }
#if MISTAKE == 5
                    to[i] = m == -INFINITY && n == 0.0f ? 0 : nearest(sum / n);
#else
                    to[i] = n == 0.0f ? 0 : nearest(sum / n);
#endif
                }
            }
            if (lse != NULL) {
                float *at = lse + row * c->lse_row + head * c->lse_head;
#if MISTAKE == 11 /* m in nats, and the logarithm in bits */
                *at = n == 0.0f ? -INFINITY : m + log2f(n);
#elif MISTAKE == 15 /* an epsilon against the logarithm of 0 */
                *at = n == 0.0f ? -INFINITY : m + log2f(n + 1e-5f) * LN2;
#elif MISTAKE == 16 /* the reference of the first group */
                const float first = ((float *)c->workspace)[0];
                *at = n == 0.0f ? -INFINITY : (first > -INFINITY ? first : m) + log2f(n) * LN2;
#else
                *at = n == 0.0f ? -INFINITY : m + log2f(n) * LN2;
#endif
            }
        }
    return 0;
}

const struct cp_merge_kernel cp_merge_kernel = {
    .abi = CP_MERGE_ABI,
    .name = "triton-reduce-states",
    .o_type = CP_FP32,
    .l_type = CP_FP32,
    .base = CP_BASE_E,
    .arithmetic = {.way = CP_MERGING_STATES,
                   .converts = CP_CONVERTS_DIFFERENCE,
                   .weights = CP_FP32,
                   .values = CP_FP32,
                   .partials = CP_FP32,
                   .out_type = CP_FP16,
                   .lse_type = CP_FP32,
                   .exp_error = 0x1p-22,
                   .log_error = 0x1p-21,
                   .div_error = 0x1p-24},
    .workspace = workspace,
    .merge = merge,
};
