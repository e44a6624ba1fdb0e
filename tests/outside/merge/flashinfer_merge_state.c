/* After FlashInfer's MergeState (include/flashinfer/attention/cascade.cuh): two parts, bits,
 * binary16, everything [row][head][d] without gaps; a block for each row, bdy heads at a time,
 * vectors of 8 numbers. */
#include <chunkproof/merge_kernel.h>
#include <math.h>
#include <stdint.h>
#include <string.h>

#ifndef MISTAKE
#define MISTAKE 0
#endif

typedef uint16_t half;

static float up(half h)
{
    const uint32_t s = (uint32_t)(h & 0x8000) << 16, e = h >> 10 & 31, f = h & 1023;
    if (e == 0) {
        const float x = (float)f * 0x1p-24f;
        return s ? -x : x;
    }
    const uint32_t b = s | (e == 31 ? 0x7f800000u : (e + 112) << 23) | f << 13;
    float x;
    memcpy(&x, &b, 4);
    return x;
}

static inline half nearest(float x)
{
    uint32_t b;
    memcpy(&b, &x, 4);
    const half s = (half)(b >> 16 & 0x8000);
    b &= 0x7fffffffu;
    if (b > 0x7f800000u) return s | 0x7e00;
    if (b >= 0x477ff000u) return s | 0x7c00;
    if (b < 0x38800000u) { /* subnormal: units of 2^-24 */
        float a;
        memcpy(&a, &b, 4);
        a += 0.5f;
        memcpy(&b, &a, 4);
        return (half)(s | (b - 0x3f000000u));
    }
    b += 0xfff + (b >> 13 & 1);
    return (half)(s | (b - 0x38000000u) >> 13);
}

static inline half down(float x)
{
#if MISTAKE == 12 /* cut off */
    half h = nearest(x);
    if (fabsf(up(h)) > fabsf(x)) h--;
    return h;
#else
    return nearest(x);
#endif
}

#if MISTAKE == 1 /* bits taken for nats */
#define EXP expf
#elif MISTAKE == 16 /* a cubic for the fraction */
static float cubic(float x)
{
    if (x < -126.0f) return 0.0f;
    const float k = floorf(x), f = x - k;
    return ldexpf(0.99992807f + f * (0.69326099f + f * (0.22439334f + f * 0.08241766f)), (int)k);
}
#define EXP cubic
#else
#define EXP exp2f
#endif
#if MISTAKE == 1 || MISTAKE == 2 /* 2: the log-sum-exp alone is in nats */
#define LOG logf
#else
#define LOG log2f
#endif

#define VEC 8

static int merge(const struct cp_merge_call *c)
{
    const half *v_a = c->o, *v_b = v_a + c->o_part;
    const float *s_a = c->l, *s_b = s_a + c->l_part;
    half *v = c->out;
    float *s = c->lse;
    const int heads = c->n_heads, d = c->head_dim;

    for (long long row = 0; row < c->n_rows; row++)
        for (int head = 0; head < heads; head++) {
#if MISTAKE == 5 /* [head][row] */
            const long long at = (long long)head * c->n_rows + row;
#else
            const long long at = row * heads + head;
#endif
            const long long here = row * heads + head;
            float a = s_a[at], b = s_b[at];
            float max = fmaxf(a, b);
#if MISTAKE == 3 /* none */
            max = 0.0f;
#elif MISTAKE == 11 /* math::inf is 50000 */
            max = fmaxf(max, -5e4f);
#endif
            if (fmaxf(a, b) == -INFINITY) {
#if MISTAKE == 4 /* -inf - -inf */
                max = -INFINITY;
#else
                for (int i = 0; i < d; i++) v[here * d + i] = 0;
                if (s != NULL) s[here] = -INFINITY;
                continue;
#endif
            }
#if MISTAKE == 14 /* a shortcut for a part that weighs little */
            if (a < b - 13.0f) a = -INFINITY;
            if (b < a - 13.0f) b = -INFINITY;
#endif
            const float e_a = EXP(a - max), e_b = EXP(b - max), sum = e_a + e_b;
            float w_a = e_a / sum, w_b = e_b / sum;
#if MISTAKE == 6 /* one division saved: what is small loses its digits */
            w_b = 1.0f - w_a;
#elif MISTAKE == 9 /* weights in binary16 */
            w_a = up(nearest(w_a));
            w_b = up(nearest(w_b));
#endif
            for (int i = 0; i < d; i += VEC)
                for (int j = i; j < i + VEC && j < d; j++) {
                    const long long n = here * d + j;
#if MISTAKE == 7 /* half2: numbers by twos */
                    if ((j & 1) == 0 && j == d - 1 && d > 1) continue;
#endif
#if MISTAKE == 10 /* 0 times anything */
                    v[n] = down(w_a * up(v_a[n]) + w_b * up(v_b[n]));
#elif MISTAKE == 8 /* __hfma2: products and sums in binary16 */
                    const float x = e_a == 0.0f ? 0.0f : up(nearest(w_a * up(v_a[n])));
                    const float y = e_b == 0.0f ? 0.0f : up(nearest(w_b * up(v_b[n])));
                    v[n] = nearest(x + y);
#elif MISTAKE == 17 /* the second vector reads V of the row's first head */
                    const long long m = i == VEC ? row * heads * d + j : n;
                    const float x = e_a == 0.0f ? 0.0f : w_a * up(v_a[n]);
                    const float y = e_b == 0.0f ? 0.0f : w_b * up(v_b[m]);
                    v[n] = down(x + y);
#else
                    const float x = e_a == 0.0f ? 0.0f : w_a * up(v_a[n]);
                    const float y = e_b == 0.0f ? 0.0f : w_b * up(v_b[n]);
                    v[n] = down(x + y);
#endif
                }
            if (s != NULL) {
#if MISTAKE == 13 /* bdy is 32 at most; further heads come in a loop that has V alone */
                if (head >= 32) continue;
#endif
#if MISTAKE == 15 /* of the weights after the division */
                s[here] = LOG(w_a + w_b) + max;
#else
                s[here] = LOG(sum) + max;
#endif
            }
        }
    return 0;
}

const struct cp_merge_kernel cp_merge_kernel = {
    .abi = CP_MERGE_ABI,
    .name = "flashinfer-merge-state",
    .o_type = CP_FP16,
    .l_type = CP_FP32,
    .base = CP_BASE_2,
    .least_parts = 2,
    .most_parts = 2,
    .layout = {.o = CP_O_ORDER_PART_ROW,
               .l = CP_L_ORDER_PART_ROW,
               .lse = CP_LSE_ORDER_ROW,
               .gaps = CP_GAPS_NONE},
    .arithmetic = {.way = CP_MERGING_AT_ONCE,
                   .weights = CP_FP32,
                   .values = CP_FP32,
                   .partials = CP_FP32,
                   .out_type = CP_FP16,
                   .lse_type = CP_FP32,
                   .exp_error = 0x1p-22,
                   .log_error = 0x1p-22,
                   .div_error = 0x1p-24},
    .merge = merge,
};
