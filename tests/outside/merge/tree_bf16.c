/* A tree: results are merged two at a time on ceil(log2 P) levels, as an all-reduce by recursive
 * halving does with results of bfloat16 (PyTorch, MPI). Between merges o is bfloat16 and l
 * binary32. The two buffers of a level are in the workspace. */
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

static bf16 between(float f)
{
#if MISTAKE == 10 /* the upper half is sent */
    uint32_t b;
    memcpy(&b, &f, 4);
    return (bf16)(b >> 16);
#else
    return nearest(f);
#endif
}

#define MOST 64

static size_t level(const struct cp_merge_call *c)
{
#if MISTAKE == 11 /* an odd one out has no place */
    const size_t nodes = c->n_parts > 1 ? (size_t)c->n_parts / 2 : 1;
#else
    const size_t nodes = ((size_t)c->n_parts + 1) / 2;
#endif
    return nodes * (size_t)c->head_dim;
}

static size_t workspace(const struct cp_merge_call *c)
{
    return 2 * level(c) * sizeof(bf16);
}

/* (o, *l) = (a, la) and (b, lb) merged. o may be a. */
static void pair(bf16 *o, float *l, const bf16 *a, float la, const bf16 *b, float lb, int d)
{
#if MISTAKE != 4 /* 4: -inf - -inf */
    if (la == -INFINITY && lb == -INFINITY) {
        for (int i = 0; i < d; i++) o[i] = 0;
        *l = -INFINITY;
        return;
    }
#endif
#if MISTAKE == 16 /* the empty left one: the right one's log-sum-exp, and its own numbers */
    if (la == -INFINITY) {
        memmove(o, a, (size_t)d * sizeof *o);
        *l = lb;
        return;
    }
#endif
#if MISTAKE == 13 /* the left one is the heavier, as parts were once sorted */
    const float max = la > -INFINITY ? la : lb;
#else
    const float max = fmaxf(la, lb);
#endif
    const float ea = expf(la - max), eb = expf(lb - max), n = ea + eb;
#if MISTAKE == 7 /* divided at the root alone, and there by this n */
    const float wa = ea, wb = eb;
#elif MISTAKE == 6 /* weights in bfloat16, too */
    const float wa = up(nearest(ea / n)), wb = up(nearest(eb / n));
#else
    const float wa = ea / n, wb = eb / n;
#endif
    for (int i = 0; i < d; i++) {
#if MISTAKE == 15 /* 0 times anything */
        o[i] = between(wa * up(a[i]) + wb * up(b[i]));
#else
        const float x = ea == 0.0f ? 0.0f : wa * up(a[i]);
        const float y = eb == 0.0f ? 0.0f : wb * up(b[i]);
        o[i] = between(x + y);
#endif
    }
#if MISTAKE == 8 /* a node has the larger log-sum-exp of the two */
    *l = max;
#elif MISTAKE == 12 /* log2 */
    *l = max + log2f(n);
#elif MISTAKE == 5 /* sent with o, as a bfloat16 */
    *l = up(nearest(max + logf(n)));
#elif MISTAKE == 17 /* torch.logaddexp(a, b) of what was clamped at -1000 */
    *l = fmaxf(max + logf(n), -1e3f);
#else
    *l = max + logf(n);
#endif
}

static int merge(const struct cp_merge_call *c)
{
    const bf16 *o = c->o;
    const float *l = c->l;
    bf16 *out = c->out;
    float *lse = c->lse;
    const int d = c->head_dim;
    bf16 *buffer[2] = {c->workspace, (bf16 *)c->workspace + level(c)};
    float at[2][MOST];

    for (long long row = 0; row < c->n_rows; row++)
        for (long long head = 0; head < c->n_heads; head++) {
            int nodes = c->n_parts, k = 0;
#if MISTAKE == 9 /* log2 P rounded down: a power of two of the parts */
            while ((nodes & (nodes - 1)) != 0) nodes &= nodes - 1;
#endif
#if MISTAKE == 14 /* heads follow one another */
            const bf16 *leaf = o + row * c->o_row + head * d;
#else
            const bf16 *leaf = o + row * c->o_row + head * c->o_head;
#endif
            long long step = c->o_part;
            float *mine = at[0];
            for (int p = 0; p < nodes; p++)
                mine[p] = l[p * c->l_part + row * c->l_row + head * c->l_head];
            bf16 *to = out + row * c->out_row + head * c->out_head;
            while (nodes > 1) {
                const int half = nodes / 2, odd = nodes & 1;
                bf16 *next = buffer[k];
                float *its = at[1 - k];
                for (int j = 0; j < half; j++) {
                    int i = j;
#if MISTAKE == 3 /* one buffer, and the pairs from the last one on */
                    next = buffer[0];
                    i = half - 1 - j;
#endif
                    pair(next + (size_t)i * (size_t)d, &its[i], leaf + 2 * i * step, mine[2 * i],
                         leaf + (2 * i + 1) * step, mine[2 * i + 1], d);
#if MISTAKE == 18 /* above the leaves, log-sum-exps are sent in units of 1/128 */
                    if (nodes < c->n_parts) its[i] = rintf(its[i] * 128.0f) / 128.0f;
#endif
                }
                if (odd) {
#if MISTAKE != 2 /* 2: the numbers of an odd one out are not copied */
                    const bf16 *last = leaf + (nodes - 1) * step;
                    for (int i = 0; i < d; i++) next[(size_t)half * (size_t)d + (size_t)i] = last[i];
#endif
                    its[half] = mine[nodes - 1];
                }
#if MISTAKE == 1 /* an odd one out is lost */
                nodes = half;
#else
                nodes = half + odd;
#endif
                leaf = next;
                step = d;
                mine = its;
                k = 1 - k;
            }
            for (int i = 0; i < d; i++) to[i] = mine[0] == -INFINITY ? 0 : leaf[i];
            if (lse != NULL) lse[row * c->lse_row + head * c->lse_head] = mine[0];
        }
    return 0;
}

const struct cp_merge_kernel cp_merge_kernel = {
    .abi = CP_MERGE_ABI,
    .name = "tree-bf16",
    .o_type = CP_BF16,
    .l_type = CP_FP32,
    .base = CP_BASE_E,
    .most_parts = MOST,
    .arithmetic = {.way = CP_MERGING_PAIRWISE,
                   .weights = CP_FP32,
                   .values = CP_FP32,
                   .partials = CP_BF16,
                   .out_type = CP_BF16,
                   .lse_type = CP_FP32,
                   .exp_error = 0x1p-22,
                   .log_error = 0x1p-22,
                   .div_error = 0x1p-24},
    .workspace = workspace,
    .merge = merge,
};
