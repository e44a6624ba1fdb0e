/* SPDX-License-Identifier: Apache-2.0 */
/* Modelled on prefill and decoding of MiMo-V2, whose layers have keys of 192 and values of 128
 * numbers, a sliding window, and a sink for each query head (as in Triton's unified attention of
 * vLLM): two tensors in chunks, bfloat16. Also takes kept tokens, keys ahead and masks of bits,
 * as kernels that verify trees of drafts do. A window is counted as FlashAttention's
 * window_size_left is. Blocks of 32 slots are skipped where the row sees nothing of them.
 * Somebody who had seen the header and the specification alone wrote it, with the mistakes that
 * tests/faults/ makes of it. */
#include "page_numbers.h"

enum { BLOCK = 32 };

static size_t workspace(const struct cp_kernel_call *c) {
    return (size_t)c->value_dim * sizeof(float);
}

static float load(const void *array, long long at) {
    return b2f(((const uint16_t *)array)[at]);
}

static int bit_of(const struct cp_kernel_call *c, int row, int t) {
    const size_t i = c->mask_first[row] + (size_t)(t - c->mask_begin[row]);
    return c->mask_bits[i / 8] >> i % 8 & 1;
}

static int sees(const struct cp_kernel_call *c, int row, int t) {
    const int p = c->position[row];
    if (t > p + c->ahead)
        return 0;
    if (c->window >= 0 && t < p - c->window && t >= c->kept)
        return 0;
    if (c->mask_bytes == 0 || t < c->mask_begin[row])
        return 1;
    return bit_of(c, row, t);
}

/* The last block of a run that the row may see something of, and the first one that is no block of
 * kept keys alone. */
static int skipped(const struct cp_kernel_call *c, int row, int from, int keys) {
    const int p = c->position[row];
    if (from > p + c->ahead)
        return 1;
    if (c->window >= 0 && from + keys - 1 < p - c->window && from >= c->kept)
        return 1;
    return 0;
}

static void row_of(const struct cp_kernel_call *c, int s, int row, int head) {
    const int g = head / (c->n_heads / c->n_kv_heads), dv = c->value_dim;
    const long long q = row * c->q_row + head * c->q_head;
    const size_t line = (size_t)s * (size_t)c->table_width;
    float *o = c->workspace, m = -INFINITY, n = 0;
    memset(o, 0, (size_t)dv * sizeof *o);
    if (c->sinks) {
        m = c->sinks[head];
        n = 1;
    }
    for (int i = 0; i < c->table_width && c->table[line + (size_t)i] >= 0; i++) {
        const size_t at = line + (size_t)i;
        const long long k = c->table[at] * c->k_chunk + g * c->k_head;
        const long long v = c->table[at] * c->v_chunk + g * c->v_head;
        for (int first = 0; first < c->table_tokens[at]; first += BLOCK) {
            const int left = c->table_tokens[at] - first, keys = left < BLOCK ? left : BLOCK;
            const int from = c->table_position[at] + first;
            float p[BLOCK], top = m;
            if (skipped(c, row, from, keys))
                continue;
            for (int j = 0; j < keys; j++) {
                if (!sees(c, row, from + j)) {
                    p[j] = -INFINITY;
                    continue;
                }
                float sum = 0;
                for (int x = 0; x < c->head_dim; x++)
                    sum += load(c->q, q + x) * load(c->k, k + (first + j) * c->k_slot + x);
                p[j] = sum * (float)c->scale;
                if (p[j] > top)
                    top = p[j];
            }
            const float factor = n > 0 ? expf(m - top) : 0;
            for (int x = 0; x < dv; x++)
                o[x] *= factor;
            n *= factor;
            m = top;
            if (m == -INFINITY)
                continue;
            for (int j = 0; j < keys; j++) {
                const float weight = expf(p[j] - m);
                const float rounded = b2f(f2b(weight));
                if (p[j] == -INFINITY)
                    continue;
                n += weight;
                for (int x = 0; x < dv; x++)
                    o[x] += rounded * load(c->v, v + (first + j) * c->v_slot + x);
            }
        }
    }
    const float lse = n > 0 ? m + logf(n) : -INFINITY;
    uint16_t *out = (uint16_t *)c->out + row * c->out_row + head * c->out_head;
    for (int x = 0; x < dv; x++)
        out[x] = f2b(n > 0 ? o[x] / n : 0);
    if (c->lse)
        ((float *)c->lse)[row * c->lse_row + head * c->lse_head] = lse;
}

static int attend(const struct cp_kernel_call *c) {
    for (int s = 0; s < c->n_sequences; s++)
        for (int row = c->query_begin[s]; row < c->query_begin[s + 1]; row++)
            for (int head = 0; head < c->n_heads; head++)
                row_of(c, s, row, head);
    return 0;
}

const struct cp_kernel cp_kernel = {
    .abi = CP_KERNEL_ABI,
    .name = "width-windows",
    .q_type = CP_BF16,
    .kv_type = CP_BF16,
    .out_type = CP_BF16,
    .lse_type = CP_FP32,
    .plans = CP_PLANS_LISTS,
    .widths = CP_WIDTHS_ANY,
    .masks = CP_MASKS_WINDOW | CP_MASKS_AHEAD | CP_MASKS_KEPT | CP_MASKS_BITS,
    .scores = CP_SCORES_SINKS,
    .conventions = {.window = CP_WINDOW_BEFORE},
    .arithmetic = {.score = CP_SUM_FP32,
                   .weights = CP_BF16,
                   .rotated = CP_FP32,
                   .k_dequantised = CP_FP32,
                   .v_dequantised = CP_FP32,
                   .scales = CP_SCALES_SCORES,
                   .values = CP_SUM_FP32,
                   .partials = CP_FP32,
                   .factors = CP_FACTORS_FP32,
                   .exp_error = 0x1p-22,
                   .step = BLOCK},
    .workspace = workspace,
    .attend = attend,
};
