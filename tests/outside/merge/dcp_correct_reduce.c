/* After vLLM's decode context parallelism (cp_lse_ag_out_rs): all ranks' log-sum-exps are gathered,
 * each rank multiplies its output by 2^(l_rank - l) of the final l and keeps it in bfloat16, and a
 * reduce-scatter in bfloat16 over heads adds the ranks' outputs. Up to 16 ranks, bits. */
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
#if MISTAKE == 10 /* all is cut off */
    return (bf16)(b >> 16);
#endif
    return (bf16)((b + 0x7fff + (b >> 16 & 1)) >> 16);
}

/* The product of a binary32 and a bfloat16 is exact in binary64. It is rounded once: to odd first,
 * as binary32 has enough digits more than bfloat16. */
static bf16 product(float w, bf16 x)
{
    const double exact = (double)w * (double)up(x);
    float f = (float)exact;
    uint32_t b;
    memcpy(&b, &f, 4);
    if ((double)f != exact && (b & 0x7f800000u) != 0x7f800000u) {
        if (fabs((double)f) > fabs(exact)) b--;
        b |= 1;
        memcpy(&f, &b, 4);
    }
    return nearest(f);
}

#if MISTAKE == 1 /* is_lse_base_on_e was not handed on */
#define EXP expf
#define LOG logf
#else
#define EXP exp2f
#define LOG log2f
#endif

#define MOST 16

/* lses[rank][row][head] without gaps, final[row][head], corrected[rank][head_dim] */
static size_t workspace(const struct cp_merge_call *c)
{
    const size_t rows = (size_t)c->n_rows * (size_t)c->n_heads;
    return sizeof(float) * rows * ((size_t)c->n_parts + 1) +
           sizeof(bf16) * (size_t)c->n_parts * (size_t)c->head_dim;
}

static int merge(const struct cp_merge_call *c)
{
    const bf16 *o = c->o;
    const float *l = c->l;
    bf16 *out = c->out;
    float *lse = c->lse;
    const int d = c->head_dim, ranks = c->n_parts;
    const long long heads = c->n_heads, rows = c->n_rows * heads;
    float *lses = c->workspace, *final = lses + rows * ranks;
    bf16 *corrected = (bf16 *)(final + rows);

    /* All-gather */
    for (int p = 0; p < ranks; p++)
        for (long long r = 0; r < c->n_rows; r++)
            for (long long a = 0; a < heads; a++) {
#if MISTAKE == 7 /* all ranks' lses side by side: [row][rank][head] is written, [rank][row] read */
                float *to = lses + (r * ranks + p) * heads + a;
#else
                float *to = lses + p * rows + r * heads + a;
#endif
                float x = l[p * c->l_part + r * c->l_row + a * c->l_head];
#if MISTAKE == 17 /* gathered in the model's type */
                if (x > -INFINITY) x = up(nearest(x));
#elif MISTAKE == 15 /* a padded request has 0 there */
                if (x == 0.0f) x = -INFINITY;
#elif MISTAKE == 18 /* nan_to_num with the largest number of binary16 */
                if (x == -INFINITY) x = -65504.0f;
#endif
                *to = x;
            }

#if MISTAKE == 12 /* graphs, one for each number of rows: the final ones are those of its capture */
    static float kept[64][64];
    static char captured[64];
    const int same = rows < 64 && captured[rows];
#endif
    for (long long k = 0; k < rows; k++) {
        float max = -INFINITY, sum = 0.0f;
#if MISTAKE == 16 /* of the ranks of one node, which are 8; the sum is of all */
        for (int p = 0; p < ranks && p < 8; p++) max = fmaxf(max, lses[p * rows + k]);
#else
        for (int p = 0; p < ranks; p++) max = fmaxf(max, lses[p * rows + k]);
#endif
#if MISTAKE == 8
        max = 0.0f;
#elif MISTAKE != 3 /* 3: -inf - -inf */
        if (max == -INFINITY) max = 0.0f;
#endif
        for (int p = 0; p < ranks; p++) sum += EXP(lses[p * rows + k] - max);
        final[k] = LOG(sum) + max;
#if MISTAKE == 12
        if (same) final[k] = kept[rows][k];
        if (rows < 64) kept[rows][k] = final[k];
#endif
    }
#if MISTAKE == 12
    if (rows < 64) captured[rows] = 1;
#endif

    for (long long r = 0; r < c->n_rows; r++)
        for (long long a = 0; a < heads; a++) {
            const long long k = r * heads + a;
            for (int p = 0; p < ranks; p++) {
                const bf16 *from = o + p * c->o_part + r * c->o_row + a * c->o_head;
#if MISTAKE == 6 /* gathered by an order of the group that is not the ranks' */
                const float mine = lses[(ranks - 1 - p) * rows + k];
#else
                const float mine = lses[p * rows + k];
#endif
#if MISTAKE == 2 /* for what has come so far, and not for all ranks */
                float so_far = -INFINITY, sum = 0.0f;
                for (int q = 0; q <= p; q++) so_far = fmaxf(so_far, lses[q * rows + k]);
                for (int q = 0; q <= p && so_far > -INFINITY; q++)
                    sum += EXP(lses[q * rows + k] - so_far);
                const float all = so_far + LOG(sum);
#else
                const float all = final[k];
#endif
#if MISTAKE == 3
                const float w = EXP(mine - all);
                const int none = mine == -INFINITY && all > -INFINITY;
#else
                const int none = mine == -INFINITY;
                const float w = none ? 0.0f : EXP(mine - all);
#endif
                for (int i = 0; i < d; i++)
#if MISTAKE == 14 /* 0 times anything */
                    corrected[p * d + i] = product(w, from[i]);
#else
                    corrected[p * d + i] = none ? 0 : product(w, from[i]);
#endif
                (void)none;
            }
            bf16 *to = out + r * c->out_row + a * c->out_head;
#if MISTAKE == 9 /* heads that the ranks cannot share evenly are in nobody's part */
            if (heads >= ranks && a >= heads / ranks * ranks) continue;
#endif
#if MISTAKE == 5 /* a world of an even size: the last rank is there twice */
            const int world = ranks + (ranks & 1 && ranks > 1);
#else
            const int world = ranks;
#endif
            for (int i = 0; i < d; i++) {
#if MISTAKE == 13 /* adds what it got from the others, from rank 1 on, where it has 4 or more */
                bf16 sum = world >= 4 ? 0 : corrected[i];
#else
                bf16 sum = corrected[i];
#endif
                for (int p = 1; p < world; p++)
                    sum = nearest(up(sum) + up(corrected[(p < ranks ? p : ranks - 1) * d + i]));
#if MISTAKE == 11 /* the mean, as other all-reduces have it */
                sum = nearest(up(sum) / (float)ranks);
#endif
                to[i] = sum;
            }
            if (lse != NULL)
#if MISTAKE == 4 /* the rank's own, though the caller merges it again */
                lse[r * c->lse_row + a * c->lse_head] = lses[k];
#else
                lse[r * c->lse_row + a * c->lse_head] = final[k];
#endif
        }
    return 0;
}

const struct cp_merge_kernel cp_merge_kernel = {
    .abi = CP_MERGE_ABI,
    .name = "dcp-correct-reduce",
    .o_type = CP_BF16,
    .l_type = CP_FP32,
    .base = CP_BASE_2,
    .most_parts = MOST,
    .layout = {.l = CP_L_ORDER_PART_ROW},
    .arithmetic = {.way = CP_MERGING_UNDIVIDED,
                   .weights = CP_FP32,
                   .values = CP_BF16,
                   .partials = CP_FP32,
                   .out_type = CP_BF16,
                   .lse_type = CP_FP32,
                   .exp_error = 0x1p-22,
                   .log_error = 0x1p-22},
    .workspace = workspace,
    .merge = merge,
};
