/* After ring-flash-attention's _update_out_and_lse and context-parallel attention: results of the
 * ring's steps come one after the other into out and lse, in place. Binary32, natural log-sum-exps
 * [row][head] or [head][row]: by strides. sigmoid and logsigmoid, for the larger of the two. */
#include <chunkproof/merge_kernel.h>
#include <math.h>
#include <stdint.h>
#include <string.h>

#ifndef MISTAKE
#define MISTAKE 0
#endif

#if MISTAKE == 9
static float bf16(float f)
{
    uint32_t b;
    memcpy(&b, &f, 4);
    b = (b + 0x7fff + (b >> 16 & 1)) & 0xffff0000u;
    memcpy(&f, &b, 4);
    return f;
}
#endif

#define TILE 32

/* One block (o, l) into (out, *lse). */
static void update(float *out, float *lse, const float *o, float l, int d)
{
#if MISTAKE != 4 && MISTAKE != 11
    if (l == -INFINITY) return;
#elif MISTAKE == 11 /* no test: weight 0 times what is there */
    if (l == -INFINITY && *lse == -INFINITY) return;
#endif
#if MISTAKE == 12 /* the first block's log-sum-exp is not taken over */
    if (*lse == -INFINITY) {
        for (int i = 0; i < d; i++) out[i] = o[i];
        return;
    }
#endif
    const float mine = *lse;
#if MISTAKE == 7 /* for its own log-sum-exp, not the larger one */
    const float max = mine == -INFINITY ? l : mine;
#else
    const float max = fmaxf(mine, l);
#endif
    float e = expf(mine - max), e2 = expf(l - max);
#if MISTAKE == 16 /* differences are clamped "for stability" */
    if (mine != -INFINITY) {
        e = expf(fmaxf(mine - max, -12.0f));
        e2 = expf(fmaxf(l - max, -12.0f));
    }
#endif
    float n = e + e2;
    float w = e / n, w2 = e2 / n;
    (void)w, (void)w2;
#if MISTAKE == 13 /* lse + logsigmoid(lse - l) */
    const float after = 2.0f * max - (max + logf(n));
#else
    const float after = max + logf(n);
#endif
    for (int t = 0; t < d; t += TILE) {
#if MISTAKE == 2 /* the new log-sum-exp is there when the second tile looks at it */
        if (t > 0) {
            const float r = fmaxf(*lse, l);
            e = expf(*lse - r), e2 = expf(l - r);
            n = e + e2;
            w = e / n, w2 = e2 / n;
        }
#endif
        for (int i = t; i < d && i < t + TILE; i++) {
#if MISTAKE == 15 /* vectors of 4: what is behind stays as it was */
            if (d >= 4 && i >= d / 4 * 4) continue;
#endif
#if MISTAKE == 6 /* out - sigmoid(l - lse) (out - o), as many have it */
            out[i] = out[i] - w2 * (out[i] - o[i]);
#elif MISTAKE == 9 /* between steps in bfloat16 */
            out[i] = bf16(w * out[i] + w2 * o[i]);
#elif MISTAKE == 17 /* not divided */
            out[i] = e * out[i] + e2 * o[i];
#else
            out[i] = w * out[i] + w2 * o[i];
#endif
        }
#if MISTAKE == 2
        *lse = after;
#endif
    }
#if MISTAKE == 5 /* a function that does not return it */
    (void)after;
#else
    *lse = after;
#endif
}

static int merge(const struct cp_merge_call *c)
{
    const float *o = c->o, *l = c->l;
    float *out = c->out, *lse = c->lse;
    const int d = c->head_dim;
    for (long long row = 0; row < c->n_rows; row++)
        for (long long head = 0; head < c->n_heads; head++) {
            float *to = out + row * c->out_row + head * c->out_head;
#if MISTAKE == 10 /* transpose(-2, -1) forgotten: lse of the ring is [head][row] */
            float *to_lse = lse + (head * c->n_rows + row) / c->n_heads * c->lse_row +
                            (head * c->n_rows + row) % c->n_heads * c->lse_head;
#else
            float *to_lse = lse + row * c->lse_row + head * c->lse_head;
#endif
#if MISTAKE == 3 /* the result begins with nothing */
            *to_lse = -INFINITY;
#endif
#if MISTAKE != 18 /* 18: what is in an empty part 0 stays, if nothing else comes, or is multiplied */
            if (*to_lse == -INFINITY)
                for (int i = 0; i < d; i++) to[i] = 0.0f;
#endif
#if MISTAKE == 1 /* part p is at p */
            for (int p = 1; p < c->n_parts - 1; p++) {
#elif MISTAKE == 8 /* the causal ring: its last step is skipped, from four on */
            for (int p = 0; p < c->n_parts - 1 - (c->n_parts > 3); p++) {
#else
            for (int p = 0; p < c->n_parts - 1; p++) {
#endif
#if MISTAKE == 14 /* the receive buffers are two, and one comes too early */
                const int from = p == 2 ? 0 : p;
#else
                const int from = p;
#endif
                const float *block = o + from * c->o_part + row * c->o_row + head * c->o_head;
                update(to, to_lse, block, l[from * c->l_part + row * c->l_row + head * c->l_head],
                       d);
            }
        }
    return 0;
}

const struct cp_merge_kernel cp_merge_kernel = {
    .abi = CP_MERGE_ABI,
    .name = "ring-in-place",
    .o_type = CP_FP32,
    .l_type = CP_FP32,
    .base = CP_BASE_E,
    .lse = CP_LSE_ALWAYS,
    .most_parts = 16,
    .in_place = 1,
    .arithmetic = {.way = CP_MERGING_PAIRWISE,
                   .weights = CP_FP32,
                   .values = CP_FP32,
                   .partials = CP_FP32,
                   .out_type = CP_FP32,
                   .lse_type = CP_FP32,
                   .exp_error = 0x1p-22,
                   .log_error = 0x1p-22,
                   .div_error = 0x1p-24},
    .merge = merge,
};
