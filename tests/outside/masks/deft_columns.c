/* SPDX-License-Identifier: Apache-2.0 */
/* Modelled on DeFT (flash tree attention): the mask is transposed first, so that each key has a
 * word of 64 bits that says which of 64 rows see it; then keys stand still, and each is loaded once for
 * the rows of its word. Rows of a sequence rise in position, so that those that see a key by its
 * window are a range. Any plan, by its table, with gaps; binary16; a window. */
#include <math.h>
#include <string.h>

#include "chunkproof/kernel.h"

#define ROWS 64

#ifndef MISTAKE
#define MISTAKE 0
#endif

/* A word for each key of a sequence, then [ROWS][2 + d]: maximum, divisor, sum of values. */
static size_t words_size(const struct cp_kernel_call *c)
{
    return sizeof(uint64_t) * (size_t)(c->max_tokens + 1);
}

static size_t workspace(const struct cp_kernel_call *c)
{
    return words_size(c) + sizeof(float) * ROWS * (2 + (size_t)c->head_dim);
}

/* Which of the rows r0 .. r1 - 1 see the key at t. */
static uint64_t column(const struct cp_kernel_call *c, int s, int r0, int r1, int t)
{
    int lo = r0, hi = r1;
    uint64_t word = 0;
    (void)s;
    while (lo < r1 && c->position[lo] < t)
        lo++;
    if (c->window > 0)
        while (hi > lo && c->position[hi - 1] >= t + c->window)
            hi--;
#if MISTAKE == 1
    lo = t - c->position[r0] > 0 ? r0 + t - c->position[r0] : r0; /* rows without gaps */
    lo = lo > r1 ? r1 : lo;
#endif
#if MISTAKE == 2
    if (c->window > 0) /* rows without gaps, again */
        hi = t + c->window - c->position[r0] < r1 - r0 ? r0 + t + c->window - c->position[r0] : r1;
    hi = hi < lo ? lo : hi;
#endif
#if MISTAKE == 3
    if (c->mask_bytes && lo < hi && t < c->mask_begin[lo]) { /* prefix of the first row */
        for (int r = lo; r < hi; r++)
            word |= 1ull << (r - r0);
        return word;
    }
#endif
    for (int r = lo; r < hi; r++) {
        int mr = r;
        uint64_t one = 1;
#if MISTAKE == 4
        mr = lo; /* one load for the column */
#endif
        if (c->mask_bytes && t >= c->mask_begin[mr]) {
            size_t i = c->mask_first[mr] + (size_t)(t - c->mask_begin[mr]);
#if MISTAKE == 5
            size_t q = c->mask_first[r0] + (size_t)(t - c->mask_begin[mr]);
            if (r1 > r0 + 1) /* rows as far apart as the first two */
                q += (size_t)(mr - r0) * (c->mask_first[r0 + 1] - c->mask_first[r0]);
            i = q / 8 < c->mask_bytes ? q : i;
#endif
            one = c->mask_bits[i / 8] >> i % 8 & 1;
        }
#if MISTAKE == 6
        word |= (uint64_t)((int)one << ((r - r0) & 31)) << ((r - r0) & 32); /* an int: row 31 */
#elif MISTAKE == 7
        word |= r - r0 < 32 ? one << (r - r0) : one << 32; /* at most 33 rows */
#else
        word |= one << (r - r0);
#endif
    }
#if MISTAKE == 8
    if (hi - lo > 1 && word == 1ull << (lo - r0) && c->mask_bytes)
        word = 0; /* keys of one row alone are its padding */
#endif
    return word;
}

static void group(const struct cp_kernel_call *c, int s, int r0, int r1)
{
    uint64_t *words = c->workspace;
    float *states = (float *)((char *)c->workspace + words_size(c));
    size_t d = (size_t)c->head_dim, size = 2 + d;
    const int *chunk = c->table + s * c->table_width;
    const int *tokens = c->table_tokens + s * c->table_width;
    const int *at = c->table_position + s * c->table_width;
    (void)at;
#if MISTAKE == 11
    memset(words, 0, words_size(c));
#endif
    for (int i = 0, j = 0; chunk[i] >= 0; i++)
        for (int slot = 0; slot < tokens[i]; slot++)
#if MISTAKE == 9
            words[j++] = column(c, s, r0, r1, i * c->chunk_size + slot); /* as of a tree */
#elif MISTAKE == 10
        {
            int t = at[i] + slot; /* one word for what a run has of the prefix */
            int same = slot > 0 && c->mask_bytes && t < c->mask_begin[r0];
            words[j] = same ? words[j - 1] : column(c, s, r0, r1, t);
            j++;
        }
#elif MISTAKE == 11
        {
            if (at[i] + slot < c->max_tokens) /* by position, and read by number */
                words[at[i] + slot] = column(c, s, r0, r1, at[i] + slot);
            j++;
        }
#else
            words[j++] = column(c, s, r0, r1, at[i] + slot);
#endif
    for (int a = 0; a < c->n_heads; a++) {
        int kv = a / (c->n_heads / c->n_kv_heads);
        for (int r = r0; r < r1; r++) {
            float *x = states + (size_t)(r - r0) * size;
            memset(x, 0, sizeof(float) * size);
            x[0] = -INFINITY;
        }
        for (int i = 0, j = 0; chunk[i] >= 0; i++)
            for (int slot = 0; slot < tokens[i]; slot++) {
                uint64_t word = words[j++];
                int rank = 0;
#if MISTAKE == 17
                if (i > 0 && c->mask_bytes && (word & (word - 1)) == 0 && slot + 1 == tokens[i])
                    continue; /* the last key of a run that at most one row sees: padding */
#endif
                const uint16_t *k = (const uint16_t *)c->k + chunk[i] * c->k_chunk +
                                    kv * c->k_head + slot * c->k_slot;
                const uint16_t *v = (const uint16_t *)c->v + chunk[i] * c->v_chunk +
                                    kv * c->v_head + slot * c->v_slot;
                (void)rank;
#if MISTAKE == 12
                if ((int64_t)word <= 0) /* no row: but row 63 is the sign */
                    continue;
#endif
#if MISTAKE == 13
                if ((uint32_t)word == 0) /* no row, by half of the word */
                    continue;
#endif
#if MISTAKE == 14
                if (word == 0)
                    break; /* the rest of the chunk is behind all rows */
#endif
                while (word) {
                    int bit = __builtin_ctzll(word), r = r0 + bit;
                    word &= word - 1;
#if MISTAKE == 15
                    r = r0 + rank++; /* the rows of a word, one after another */
#endif
                    float *x = states + (size_t)(r - r0) * size, sum = 0, old, w;
                    const uint16_t *q = (const uint16_t *)c->q + r * c->q_row + a * c->q_head;
                    for (size_t e = 0; e < d; e++)
                        sum += (float)cp_fp16_to_double(q[e]) * (float)cp_fp16_to_double(k[e]);
                    sum *= (float)c->scale;
                    old = sum > x[0] ? sum : x[0];
#if MISTAKE == 16
                    old = old > 0 ? old : 0; /* a maximum below 0 is that of no key */
#endif
                    w = expf(sum - old);
                    sum = old;
                    old = expf(x[0] - old);
                    x[0] = sum;
                    x[1] = x[1] * old + w;
                    for (size_t e = 0; e < d; e++)
                        x[2 + e] = x[2 + e] * old + w * (float)cp_fp16_to_double(v[e]);
                }
            }
        for (int r = r0; r < r1; r++) {
            const float *x = states + (size_t)(r - r0) * size;
            uint16_t *out = (uint16_t *)c->out + r * c->out_row + a * c->out_head;
            for (size_t e = 0; e < d; e++)
#if MISTAKE == 18
                out[e] = cp_fp16_from_double(x[2 + e] / x[1]);
#else
                out[e] = cp_fp16_from_double(x[1] > 0 ? x[2 + e] / x[1] : 0);
#endif
            if (c->lse)
                ((float *)c->lse)[r * c->lse_row + a * c->lse_head] = x[0] + logf(x[1]);
        }
    }
}

static int attend(const struct cp_kernel_call *c)
{
    for (int s = 0; s < c->n_sequences; s++)
        for (int r = c->query_begin[s]; r < c->query_begin[s + 1]; r += ROWS)
            group(c, s, r, r + ROWS < c->query_begin[s + 1] ? r + ROWS : c->query_begin[s + 1]);
    return 0;
}

const struct cp_kernel cp_kernel = {
    .abi = CP_KERNEL_ABI,
    .name = "deft_columns",
    .q_type = CP_FP16, .kv_type = CP_FP16, .out_type = CP_FP16, .lse_type = CP_FP32,
    .plans = CP_PLANS_LISTS,
    .masks = CP_MASKS_WINDOW | CP_MASKS_BITS,
    .arithmetic = {.score = CP_SUM_FP32, .weights = CP_FP32, .rotated = CP_FP32,
                   .k_dequantised = CP_FP32, .v_dequantised = CP_FP32,
                   .scales = CP_SCALES_SCORES, .values = CP_SUM_FP32, .partials = CP_FP32,
                   .factors = CP_FACTORS_FP32, .exp_error = 0x1p-22, .step = 1},
    .workspace = workspace,
    .attend = attend,
};
