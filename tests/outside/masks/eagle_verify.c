/* SPDX-License-Identifier: Apache-2.0 */
/* Modelled on the verification of speculative trees in SGLang (EAGLE-2, triton extend attention):
 * first the prefix that no row's mask reaches, without a mask, then the tree part with it, each
 * divided, merged by their log-sum-exps. The tree part takes the bits of a row 64 at a time and
 * walks those that are 1. bfloat16, chunks of a table, trees only. */
#include <math.h>
#include <string.h>

#include "chunkproof/kernel.h"

#define MOST_D 512

#ifndef MISTAKE
#define MISTAKE 0
#endif

struct part {
    float m, n, o[MOST_D];
};

static void key(const struct cp_kernel_call *c, struct part *p, int s, int r, int a, int t)
{
    int chunk = c->table[s * c->table_width + t / c->chunk_size], slot = t % c->chunk_size;
    int kv = a / (c->n_heads / c->n_kv_heads);
    const uint16_t *q = (const uint16_t *)c->q + r * c->q_row + a * c->q_head;
    const uint16_t *k = (const uint16_t *)c->k + chunk * c->k_chunk + kv * c->k_head +
                        slot * c->k_slot;
    const uint16_t *v = (const uint16_t *)c->v + chunk * c->v_chunk + kv * c->v_head +
                        slot * c->v_slot;
    float sum = 0, top, old, w;
    for (int i = 0; i < c->head_dim; i++)
        sum += (float)cp_bf16_to_double(q[i]) * (float)cp_bf16_to_double(k[i]);
    sum *= (float)c->scale;
    top = sum > p->m ? sum : p->m;
    old = expf(p->m - top);
    w = expf(sum - top);
    p->m = top;
    p->n = p->n * old + w;
    for (int i = 0; i < c->head_dim; i++)
        p->o[i] = p->o[i] * old + w * (float)cp_bf16_to_double(v[i]);
}

/* The bits i .. i + n - 1, n <= 64, as a word. */
static uint64_t load(const struct cp_kernel_call *c, size_t i, int n)
{
    uint64_t word = 0;
    int shift = (int)(i % 8), bytes = (shift + n + 7) / 8;
#if MISTAKE == 1
    bytes = bytes > 8 ? 8 : bytes; /* no ninth byte */
#endif
#if MISTAKE == 2
    bytes = bytes > 8 ? 9 : 8; /* also behind the mask */
#endif
    memcpy(&word, c->mask_bits + i / 8, (size_t)(bytes > 8 ? 8 : bytes));
    word >>= shift;
    if (bytes > 8)
        word |= (uint64_t)c->mask_bits[i / 8 + 8] << (64 - shift);
#if MISTAKE == 3
    word = (uint32_t)word; /* 1 << bit of an int: only 32 nodes of 64 */
#endif
    return n < 64 ? word & ((1ull << n) - 1) : word;
}

static void tree_part(const struct cp_kernel_call *c, struct part *p, int s, int r, int a, int from,
                      int to)
{
    int begin = c->mask_begin[r], q0 = c->query_begin[s];
    size_t first = c->mask_first[r];
    (void)q0;
#if MISTAKE == 4
    begin = from; /* bits counted from where the prefix phase ends */
#endif
#if MISTAKE == 5
    begin = c->mask_begin[q0]; /* of the tree, which its first row has */
#endif
#if MISTAKE == 6
    first = c->mask_first[q0] + (size_t)(r - q0) * (size_t)(c->n_tokens[s] - begin); /* a square */
#endif
    for (int t = from; t < to && t < begin; t++)
        key(c, p, s, r, a, t);
    from = from > begin ? from : begin;
#if MISTAKE == 7
    to = from + 64 < to ? from + 64 : to; /* a tree has at most 64 nodes */
#endif
    for (int t0 = from; t0 < to; t0 += 64) {
        int n = to - t0 < 64 ? to - t0 : 64;
        uint64_t word = load(c, first + (size_t)(t0 - begin), n);
#if MISTAKE == 8
        if (c->position[r] >= t0 && c->position[r] < t0 + n)
            word |= 1ull << (c->position[r] - t0); /* a node always sees itself */
#endif
#if MISTAKE == 9
        word |= (uint64_t)(int64_t)(int32_t)(uint32_t)word; /* a signed half */
        word = n < 64 ? word & ((1ull << n) - 1) : word;
#endif
#if MISTAKE == 10
        if (!(word & 1)) /* the root of the tree is not this row's: a padded row */
            return;
#endif
        while (word) {
            int bit = __builtin_ctzll(word);
            word &= word - 1;
            key(c, p, s, r, a, t0 + bit);
        }
    }
}

static int attend(const struct cp_kernel_call *c)
{
    static _Thread_local struct part part[2];
    for (int s = 0; s < c->n_sequences; s++) {
        int q0 = c->query_begin[s], q1 = c->query_begin[s + 1], prefix = c->n_tokens[s];
        for (int r = q0; r < q1 && c->mask_bytes; r++)
            prefix = c->mask_begin[r] < prefix ? c->mask_begin[r] : prefix;
#if MISTAKE == 11
        prefix = c->mask_bytes ? c->n_tokens[s] - (q1 - q0) : prefix; /* the tree: its rows */
        prefix = prefix < 0 ? 0 : prefix;
#endif
#if MISTAKE == 12
        prefix = c->n_tokens[s]; /* of the tree's last row */
        if (c->mask_bytes && q1 > q0 && c->mask_begin[q1 - 1] < prefix)
            prefix = c->mask_begin[q1 - 1];
#endif
        for (int r = q0; r < q1; r++)
            for (int a = 0; a < c->n_heads; a++) {
                int d = c->head_dim, end = c->position[r] + 1;
                uint16_t *out = (uint16_t *)c->out + r * c->out_row + a * c->out_head;
                float l[2], top, w[2] = {0, 0}, sum;
                end = end > c->n_tokens[s] ? c->n_tokens[s] : end;
                for (int i = 0; i < 2; i++) {
                    part[i].m = -INFINITY, part[i].n = 0;
                    memset(part[i].o, 0, sizeof(float) * (size_t)d);
                }
#if MISTAKE == 13
                for (int t = 0; t < prefix && end > 0; t++) /* the rows stand behind the prefix */
#else
                for (int t = 0; t < prefix && t < end; t++)
#endif
                    key(c, &part[0], s, r, a, t);
                if (c->mask_bytes)
                    tree_part(c, &part[1], s, r, a, prefix, end);
                for (int i = 0; i < 2; i++) {
                    float one = 1 / part[i].n;
#if MISTAKE != 14
                    one = part[i].n > 0 ? one : 0;
#endif
                    l[i] = part[i].n > 0 ? part[i].m + logf(part[i].n) : -INFINITY;
#if MISTAKE == 15
                    l[i] = part[i].n > 0 ? l[i] : 0; /* an empty part has the log-sum-exp 0 */
#endif
#if MISTAKE == 16
                    l[i] = part[i].n > 0 ? l[i] : -1000; /* and here it is low, but a number */
#endif
                    for (int e = 0; e < d; e++)
                        part[i].o[e] *= one;
                }
#if MISTAKE == 17
                if (part[1].n == 0 && c->mask_bytes)
                    l[0] = -INFINITY; /* a row whose tree part is empty is a padded one */
#endif
                top = l[0] > l[1] ? l[0] : l[1];
#if MISTAKE == 18
                for (int i = 0; i < 2; i++)
#else
                for (int i = 0; i < 2 && top > -INFINITY; i++)
#endif
                    w[i] = expf(l[i] - top);
                sum = w[0] + w[1];
                for (int e = 0; e < d; e++) {
                    float o = w[0] * part[0].o[e] + w[1] * part[1].o[e];
                    out[e] = cp_bf16_from_double(sum != 0 ? o / sum : 0);
                }
                if (c->lse)
                    ((float *)c->lse)[r * c->lse_row + a * c->lse_head] =
                        sum != 0 ? top + logf(sum) : -INFINITY;
            }
    }
    return 0;
}

static const char *refuses(const struct cp_kernel_call *c)
{
    return c->head_dim > MOST_D ? "head_dim above 512" : NULL;
}

const struct cp_kernel cp_kernel = {
    .abi = CP_KERNEL_ABI,
    .name = "eagle_verify",
    .q_type = CP_BF16, .kv_type = CP_BF16, .out_type = CP_BF16, .lse_type = CP_FP32,
    .masks = CP_MASKS_BITS,
    .arithmetic = {.score = CP_SUM_FP32, .weights = CP_FP32, .rotated = CP_FP32,
                   .k_dequantised = CP_FP32, .v_dequantised = CP_FP32,
                   .scales = CP_SCALES_SCORES, .values = CP_SUM_FP32, .partials = CP_FP32,
                   .divides = 1, .factors = CP_FACTORS_FP32, .exp_error = 0x1p-22,
                   .divide_error = 0x1.02p-24, .step = 1},
    .refuses = refuses,
    .attend = attend,
};
