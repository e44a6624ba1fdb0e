/* SPDX-License-Identifier: Apache-2.0 */
/* Modelled on kernels that gather the keys that a row is left with before they are weighed (tree
 * attention of Medusa and SpecInfer by index lists, sparse attention with top-k indices): a row's
 * list of positions is made once by counting bits, padded with -1 to tiles of 32, and used by all
 * heads. Keys have no positions in them, so that each is rotated by that of its token, not by its
 * place in the list. Pages of 16 keys and a window. Somebody who had seen the header and the
 * specification alone wrote it, with the mistakes that tests/faults/ makes of it. */
#include "page_numbers.h"

#define WIDEST 512
#define TILE   32
#define PAGE   16

/* The list, padded to whole tiles. */
static size_t workspace(const struct cp_kernel_call *c) {
    return sizeof(int) * ((size_t)c->max_tokens + 2 * TILE);
}

/* Lists the keys of row r; returns how many. */
static int gather(const struct cp_kernel_call *c, int s, int r, int *list) {
    int p = c->position[r], end = p + 1 < c->n_tokens[s] ? p + 1 : c->n_tokens[s], n = 0, from = 0;
    int begin = c->mask_bytes ? c->mask_begin[r] : end, split;
    size_t first = c->mask_bytes ? c->mask_first[r] : 0, i;
    if (c->window > 0 && p - c->window + 1 > 0)
        from = p - c->window + 1;
    split = begin < from ? from : begin > end ? end : begin;
    for (int t = from; t < split; t++)
        list[n++] = t;
    i = first + (size_t)(split - begin);
    for (int t = split; t < end && c->mask_bytes;) {
        unsigned bits = c->mask_bits[i / 8] >> i % 8;
        int some = 8 - (int)(i % 8) < end - t ? 8 - (int)(i % 8) : end - t;
        bits &= (1u << some) - 1;
        while (bits) {
            int j = __builtin_ctz(bits);
            bits &= bits - 1;
            list[n++] = t + j;
        }
        t += some;
        i += (size_t)some;
    }
    for (int x = n; x < n + TILE; x++)
        list[x] = -1;
    return n;
}

static int attend(const struct cp_kernel_call *c) {
    static _Thread_local float o[WIDEST], turned[WIDEST];
    int d = c->head_dim, group = c->n_heads / c->n_kv_heads, half = c->rotary_dim / 2;
    int *list = c->workspace;
    for (int s = 0; s < c->n_sequences; s++)
        for (int r = c->query_begin[s]; r < c->query_begin[s + 1]; r++) {
            int n = gather(c, s, r, list);
            const int *place = c->page_list + c->page_begin[s];
            for (int a = 0; a < c->n_heads; a++) {
                const float *q = (const float *)c->q + r * c->q_row + a * c->q_head;
                float *out = (float *)c->out + r * c->out_row + a * c->out_head;
                float m = -INFINITY, den = 0;
                memset(o, 0, sizeof(float) * (size_t)d);
                for (int x0 = 0; x0 < n; x0 += TILE) {
                    float score[TILE], top = m, old;
                    for (int x = 0; x < TILE; x++) {
                        int t = list[x0 + x], at;
                        float sum = 0;
                        score[x] = -INFINITY;
                        if (t < 0)
                            continue;
                        at = t;
                        const float *k = (const float *)c->k + place[t / PAGE] * c->k_chunk +
                                         a / group * c->k_head + t % PAGE * c->k_slot;
                        const float *turn = c->rotation + (size_t)at * (size_t)c->rotary_dim;
                        memcpy(turned, k, sizeof(float) * (size_t)d);
                        for (int i = 0; i < half; i++) {
                            turned[i] = turn[i] * k[i] - turn[half + i] * k[half + i];
                            turned[half + i] = turn[half + i] * k[i] + turn[i] * k[half + i];
                        }
                        for (int e = 0; e < d; e++)
                            sum += q[e] * turned[e];
                        score[x] = sum * (float)c->scale;
                        top = score[x] > top ? score[x] : top;
                    }
                    old = expf(m - top);
                    m = top;
                    den *= old;
                    for (int e = 0; e < d; e++)
                        o[e] *= old;
                    for (int x = 0; x < TILE && x0 + x < n; x++) {
                        int t = list[x0 + x];
                        const float *v = (const float *)c->v + place[t / PAGE] * c->v_chunk +
                                         a / group * c->v_head + t % PAGE * c->v_slot;
                        float w = expf(score[x] - m);
                        den += w;
                        for (int e = 0; e < d; e++)
                            o[e] += w * v[e];
                    }
                }
                for (int e = 0; e < d; e++)
                    out[e] = n > 0 ? o[e] / den : 0;
                if (c->lse)
                    ((float *)c->lse)[r * c->lse_row + a * c->lse_head] = m + logf(den);
            }
        }
    return 0;
}

static const char *refuses(const struct cp_kernel_call *c) {
    return c->head_dim > WIDEST ? "head_dim above 512" : NULL;
}

const struct cp_kernel cp_kernel = {
    .abi = CP_KERNEL_ABI,
    .name = "mask-gathered",
    .q_type = CP_FP32,
    .kv_type = CP_FP32,
    .out_type = CP_FP32,
    .lse_type = CP_FP32,
    .keys = CP_KEYS_RAW,
    .pairs = CP_PAIRS_HALVES,
    .masks = CP_MASKS_WINDOW | CP_MASKS_BITS,
    .layout = {.pages = CP_PAGES_OWN, .page_size = PAGE},
    .arithmetic = {.score = CP_SUM_FP32,
                   .weights = CP_FP32,
                   .rotated = CP_FP32,
                   .k_dequantised = CP_FP32,
                   .v_dequantised = CP_FP32,
                   .scales = CP_SCALES_SCORES,
                   .values = CP_SUM_FP32,
                   .partials = CP_FP32,
                   .factors = CP_FACTORS_FP32,
                   .exp_error = 0x1p-22,
                   .step = TILE},
    .refuses = refuses,
    .workspace = workspace,
    .attend = attend,
};
