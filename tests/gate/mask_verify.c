/* SPDX-License-Identifier: Apache-2.0 */
/* Modelled on the verification of speculative trees in SGLang (EAGLE-2, triton extend attention):
 * first the prefix that no row's mask reaches, without a mask, then the tree part with it, each
 * divided, merged by their log-sum-exps. The tree part takes the bits of a row 64 at a time and
 * walks those that are 1. bfloat16, chunks of a table, trees only. Somebody who had seen the
 * header and the specification alone wrote it, with the mistakes that tests/faults/ makes of it. */
#include "page_numbers.h"

#define WIDEST 512

struct part {
    float m, n, o[WIDEST];
};

static void key(const struct cp_kernel_call *c, struct part *p, int s, int r, int a, int t) {
    int chunk = c->table[s * c->table_width + t / c->chunk_size], slot = t % c->chunk_size;
    int kv = a / (c->n_heads / c->n_kv_heads);
    const uint16_t *q = (const uint16_t *)c->q + r * c->q_row + a * c->q_head;
    const uint16_t *k =
        (const uint16_t *)c->k + chunk * c->k_chunk + kv * c->k_head + slot * c->k_slot;
    const uint16_t *v =
        (const uint16_t *)c->v + chunk * c->v_chunk + kv * c->v_head + slot * c->v_slot;
    float sum = 0, top, old, w;
    for (int i = 0; i < c->head_dim; i++)
        sum += b2f(q[i]) * b2f(k[i]);
    sum *= (float)c->scale;
    top = sum > p->m ? sum : p->m;
    old = expf(p->m - top);
    w = expf(sum - top);
    p->m = top;
    p->n = p->n * old + w;
    for (int i = 0; i < c->head_dim; i++)
        p->o[i] = p->o[i] * old + w * b2f(v[i]);
}

/* The bits i .. i + n - 1, n <= 64, as a word. */
static uint64_t load(const struct cp_kernel_call *c, size_t i, int n) {
    uint64_t word = 0;
    int shift = (int)(i % 8), bytes = (shift + n + 7) / 8;
    memcpy(&word, c->mask_bits + i / 8, (size_t)(bytes > 8 ? 8 : bytes));
    word >>= shift;
    if (bytes > 8)
        word |= (uint64_t)c->mask_bits[i / 8 + 8] << (64 - shift);
    return n < 64 ? word & ((1ull << n) - 1) : word;
}

static void tree_part(const struct cp_kernel_call *c, struct part *p, int s, int r, int a, int from,
                      int to) {
    int begin = c->mask_begin[r];
    size_t first = c->mask_first[r];
    for (int t = from; t < to && t < begin; t++)
        key(c, p, s, r, a, t);
    from = from > begin ? from : begin;
    for (int t0 = from; t0 < to; t0 += 64) {
        int n = to - t0 < 64 ? to - t0 : 64;
        uint64_t word = load(c, first + (size_t)(t0 - begin), n);
        while (word) {
            int bit = __builtin_ctzll(word);
            word &= word - 1;
            key(c, p, s, r, a, t0 + bit);
        }
    }
}

static int attend(const struct cp_kernel_call *c) {
    static _Thread_local struct part part[2];
    for (int s = 0; s < c->n_sequences; s++) {
        int q0 = c->query_begin[s], q1 = c->query_begin[s + 1], prefix = c->n_tokens[s];
        for (int r = q0; r < q1 && c->mask_bytes; r++)
            prefix = c->mask_begin[r] < prefix ? c->mask_begin[r] : prefix;
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
                for (int t = 0; t < prefix && t < end; t++)
                    key(c, &part[0], s, r, a, t);
                if (c->mask_bytes)
                    tree_part(c, &part[1], s, r, a, prefix, end);
                for (int i = 0; i < 2; i++) {
                    float one = 1 / part[i].n;
                    one = part[i].n > 0 ? one : 0;
                    l[i] = part[i].n > 0 ? part[i].m + logf(part[i].n) : -INFINITY;
                    for (int e = 0; e < d; e++)
                        part[i].o[e] *= one;
                }
                top = l[0] > l[1] ? l[0] : l[1];
                for (int i = 0; i < 2 && top > -INFINITY; i++)
                    w[i] = expf(l[i] - top);
                sum = w[0] + w[1];
                for (int e = 0; e < d; e++) {
                    float o = w[0] * part[0].o[e] + w[1] * part[1].o[e];
                    out[e] = f2b(sum != 0 ? o / sum : 0);
                }
                if (c->lse)
                    ((float *)c->lse)[r * c->lse_row + a * c->lse_head] =
                        sum != 0 ? top + logf(sum) : -INFINITY;
            }
    }
    return 0;
}

static const char *refuses(const struct cp_kernel_call *c) {
    return c->head_dim > WIDEST ? "head_dim above 512" : NULL;
}

const struct cp_kernel cp_kernel = {
    .abi = CP_KERNEL_ABI,
    .name = "mask-verify",
    .q_type = CP_BF16,
    .kv_type = CP_BF16,
    .out_type = CP_BF16,
    .lse_type = CP_FP32,
    .masks = CP_MASKS_BITS,
    .arithmetic = {.score = CP_SUM_FP32,
                   .weights = CP_FP32,
                   .rotated = CP_FP32,
                   .k_dequantised = CP_FP32,
                   .v_dequantised = CP_FP32,
                   .scales = CP_SCALES_SCORES,
                   .values = CP_SUM_FP32,
                   .partials = CP_FP32,
                   .divides = 1,
                   .factors = CP_FACTORS_FP32,
                   .exp_error = 0x1p-22,
                   .divide_error = 0x1.02p-24,
                   .step = 1},
    .refuses = refuses,
    .attend = attend,
};
