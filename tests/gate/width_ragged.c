/* SPDX-License-Identifier: Apache-2.0 */
/* Modelled on FlashAttention-3's varlen forward pass with head dims of 192 and 128 (prefill of
 * MLA, DeepSeek): ragged K and V in two tensors, cu_seqlens_q and cu_seqlens_k, tiles of 16 rows
 * of one head and of 64 keys from the last tile to the first one, scores in bits, P in bfloat16.
 * d and d_v are rounded up to 64, 96, 128, 192 or 256, each by itself, with zeros. Somebody who
 * had seen the header and the specification alone wrote it, with the mistakes that tests/faults/
 * makes of it. */
#include "page_numbers.h"

enum { ROWS = 16, KEYS = 64, MOST = 256 };

struct work {
    float q[ROWS][MOST], o[ROWS][MOST], m[ROWS], n[ROWS], p[KEYS];
    float k[KEYS][MOST], v[KEYS][MOST];
};

static const char *refuses(const struct cp_kernel_call *c) {
    return c->head_dim > MOST || c->value_dim > MOST ? "head dims are up to 256" : NULL;
}

static size_t workspace(const struct cp_kernel_call *c) {
    (void)c;
    return sizeof(struct work);
}

static int rounded_up(int d) {
    return d <= 64 ? 64 : d <= 96 ? 96 : d <= 128 ? 128 : d <= 192 ? 192 : 256;
}

static void load(float *to, const uint16_t *from, int d, int width) {
    for (int i = 0; i < width; i++)
        to[i] = i < d ? b2f(from[i]) : 0;
}

/* The keys of a tile, in two loads with a predicate each. */
static void load_tile(const struct cp_kernel_call *c, struct work *w, int s, int g, int first,
                      int keys) {
    for (int j = 0; j < keys; j++) {
        const long long at = (long long)c->page_begin[s] + first + j;
        load(w->k[j], (const uint16_t *)c->k + at * c->k_chunk + g * c->k_head, c->head_dim,
             rounded_up(c->head_dim));
        const long long row = at;
        const int dv = c->value_dim;
        load(w->v[j], (const uint16_t *)c->v + row * c->v_chunk + g * c->v_head, dv,
             rounded_up(c->value_dim));
    }
}

static void row_of(const struct cp_kernel_call *c, struct work *w, int i, int seen) {
    const float scale = (float)(c->scale * 1.4426950408889634);
    float top = w->m[i];
    for (int j = 0; j < seen; j++) {
        float sum = 0;
        for (int x = 0; x < c->head_dim; x++)
            sum += w->q[i][x] * w->k[j][x];
        w->p[j] = sum * scale;
        if (w->p[j] > top)
            top = w->p[j];
    }
    if (seen == 0)
        return;
    const float factor = w->n[i] > 0 ? exp2f(w->m[i] - top) : 0;
    const int width = c->value_dim;
    for (int x = 0; x < width; x++)
        w->o[i][x] *= factor;
    w->n[i] *= factor;
    w->m[i] = top;
    for (int j = 0; j < seen; j++) {
        const float weight = exp2f(w->p[j] - top);
        const float p = b2f(f2b(weight));
        w->n[i] += weight;
        for (int x = 0; x < c->value_dim; x++)
            w->o[i][x] += p * w->v[j][x];
    }
}

static void finish(const struct cp_kernel_call *c, const struct work *w, int i, int row, int head) {
    const int dv = c->value_dim;
    uint16_t *out = (uint16_t *)c->out + row * c->out_row + head * c->out_head;
    const int end = dv;
    for (int x = 0; x < end; x++)
        out[x] = f2b(w->n[i] > 0 && x < dv ? w->o[i][x] / w->n[i] : 0);
    if (!c->lse)
        return;
    float *lse = (float *)c->lse + row * c->lse_row + head * c->lse_head;
    *lse = w->n[i] > 0 ? w->m[i] * 0.6931471805599453f + logf(w->n[i]) : -INFINITY;
}

static int attend(const struct cp_kernel_call *c) {
    struct work *w = c->workspace;
    const int group = c->n_heads / c->n_kv_heads;
    for (int s = 0; s < c->n_sequences; s++)
        for (int from = c->query_begin[s]; from < c->query_begin[s + 1]; from += ROWS)
            for (int head = 0; head < c->n_heads; head++) {
                const int left = c->query_begin[s + 1] - from, rows = left < ROWS ? left : ROWS;
                for (int i = 0; i < rows; i++) {
                    load(w->q[i], (const uint16_t *)c->q + (from + i) * c->q_row + head * c->q_head,
                         c->head_dim, rounded_up(c->head_dim));
                    memset(w->o[i], 0, sizeof w->o[i]);
                    w->m[i] = -INFINITY;
                    w->n[i] = 0;
                }
                int n = c->position[from + rows - 1] + 1; /* of the last row of the tile */
                n = n < 0 ? 0 : n < c->n_tokens[s] ? n : c->n_tokens[s];
                for (int tile = (n + KEYS - 1) / KEYS - 1; tile >= 0; tile--) {
                    const int first = tile * KEYS, keys = n - first < KEYS ? n - first : KEYS;
                    load_tile(c, w, s, head / group, first, keys);
                    for (int i = 0; i < rows; i++) {
                        int seen = c->position[from + i] + 1 - first;
                        seen = seen < 0 ? 0 : seen < keys ? seen : keys;
                        row_of(c, w, i, seen);
                    }
                }
                for (int i = 0; i < rows; i++)
                    finish(c, w, i, from + i, head);
            }
    return 0;
}

const struct cp_kernel cp_kernel = {
    .abi = CP_KERNEL_ABI,
    .name = "width-ragged",
    .q_type = CP_BF16,
    .kv_type = CP_BF16,
    .out_type = CP_BF16,
    .lse_type = CP_FP32,
    .widths = CP_WIDTHS_ANY,
    .layout = {.pages = CP_PAGES_RAGGED},
    .arithmetic = {.score = CP_SUM_FP32,
                   .weights = CP_BF16,
                   .rotated = CP_FP32,
                   .k_dequantised = CP_FP32,
                   .v_dequantised = CP_FP32,
                   .scales = CP_SCALES_SCORES,
                   .values = CP_SUM_FP32,
                   .partials = CP_FP32,
                   .factors = CP_FACTORS_FP32,
                   .in_bits = 1,
                   .exp_error = 0x1p-22,
                   .step = KEYS},
    .refuses = refuses,
    .workspace = workspace,
    .attend = attend,
};
