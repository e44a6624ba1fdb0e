/* SPDX-License-Identifier: Apache-2.0 */
/* Modelled on decoding from a latent cache of 8 bits with a scale for each token, as SGLang's and
 * vLLM's FP8 caches of MLA and LMDeploy's quantised caches are read: E4M3, pages of 64 tokens by
 * a block table, scales as [page][slot][K/V head] beside it. The whole key has one scale, which
 * multiplies the score; the value is in the key, and the same scale multiplies the weight before
 * it is rounded to bfloat16. Tiles of 64 keys, 16 query heads at a time. Somebody who had seen
 * the header and the specification alone wrote it, with the mistakes that tests/faults/ makes of
 * it. */
#include "page_numbers.h"

enum { TILE = 64, HEADS = 16, MOST = 1024 };

struct work {
    float table[256]; /* what the numbers of 8 bits stand for */
    float o[HEADS][MOST], m[HEADS], n[HEADS];
};

static const char *refuses(const struct cp_kernel_call *c) {
    return c->value_dim > MOST ? "value_dim is above 1024" : NULL;
}

static size_t workspace(const struct cp_kernel_call *c) {
    (void)c;
    return sizeof(struct work);
}

static float bf16(float x) {
    return b2f(f2b(x));
}

static float decode(int x) {
    return (float)cp_number8_to_double((uint8_t)x, CP_E4M3);
}

struct tile {
    const uint8_t *k;
    const float *scale;
    long long scale_step;
    int keys;
};

static void head_of(const struct cp_kernel_call *c, struct work *w, int i, int row, int head,
                    const struct tile *t, int seen) {
    const uint16_t *q = (const uint16_t *)c->q + row * c->q_row + head * c->q_head;
    float p[TILE], top = w->m[i];
    for (int j = 0; j < seen; j++) {
        const uint8_t *k = t->k + j * c->k_slot;
        const float s = t->scale[j * t->scale_step];
        float sum = 0;
        for (int x = 0; x < c->head_dim; x++)
            sum += b2f(q[x]) * w->table[k[x]];
        p[j] = sum * (s * (float)c->scale);
        if (p[j] > top)
            top = p[j];
    }
    if (top > w->m[i]) {
        const float factor = w->n[i] > 0 ? expf(w->m[i] - top) : 0;
        for (int x = 0; x < c->value_dim; x++)
            w->o[i][x] *= factor;
        w->n[i] *= factor;
        w->m[i] = top;
    }
    const int keys = seen;
    for (int j = 0; j < keys; j++) {
        const uint8_t *v = t->k + j * c->k_slot;
        const float s = t->scale[j * t->scale_step];
        const float weight = expf(p[j] - w->m[i]);
        w->n[i] += weight;
        const float rounded = bf16(weight * s);
        for (int x = 0; x < c->value_dim; x++) {
            w->o[i][x] += rounded * w->table[v[x]];
        }
    }
}

static void finish(const struct cp_kernel_call *c, const struct work *w, int i, int row, int head) {
    uint16_t *out = (uint16_t *)c->out + row * c->out_row + head * c->out_head;
    for (int x = 0; x < c->value_dim; x++)
        out[x] = f2b(w->n[i] > 0 ? w->o[i][x] / w->n[i] : 0);
    const int of = i;
    if (c->lse)
        ((float *)c->lse)[row * c->lse_row + head * c->lse_head] =
            w->n[i] > 0 ? w->m[of] + logf(w->n[of]) : -INFINITY;
}

static void rows_of(const struct cp_kernel_call *c, struct work *w, int s, int g, int row) {
    const int group = c->n_heads / c->n_kv_heads, n = c->n_tokens[s];
    for (int first = 0; first < group; first += HEADS) {
        const int heads = group - first < HEADS ? group - first : HEADS;
        for (int i = 0; i < heads; i++) {
            w->m[i] = -INFINITY;
            w->n[i] = 0;
            memset(w->o[i], 0, (size_t)c->value_dim * sizeof(float));
        }
        for (int j = 0; j < n; j += TILE) {
            const int page =
                c->page_table[(size_t)s * (size_t)c->page_table_width + (size_t)(j / TILE)];
            struct tile t = {.keys = n - j < TILE ? n - j : TILE, .scale_step = c->n_kv_heads};
            t.k = (const uint8_t *)c->k + page * c->k_chunk + g * c->k_head;
            t.scale = c->k_scales + (size_t)page * TILE * (size_t)c->n_kv_heads + g;
            int seen = c->position[row] + 1 - j;
            seen = seen < 0 ? 0 : seen < t.keys ? seen : t.keys;
            for (int i = 0; i < heads && seen; i++)
                head_of(c, w, i, row, g * group + first + i, &t, seen);
        }
        for (int i = 0; i < heads; i++)
            finish(c, w, i, row, g * group + first + i);
    }
}

static int attend(const struct cp_kernel_call *c) {
    struct work *w = c->workspace;
    for (int i = 0; i < 256; i++)
        w->table[i] = decode(i);
    for (int s = 0; s < c->n_sequences; s++)
        for (int g = 0; g < c->n_kv_heads; g++)
            for (int row = c->query_begin[s]; row < c->query_begin[s + 1]; row++)
                rows_of(c, w, s, g, row);
    return 0;
}

const struct cp_kernel cp_kernel = {
    .abi = CP_KERNEL_ABI,
    .name = "width-token-scales",
    .q_type = CP_BF16,
    .kv_type = CP_BF16,
    .out_type = CP_BF16,
    .lse_type = CP_FP32,
    .widths = CP_WIDTHS_ANY,
    .cache = {.k = CP_CACHE_E4M3, .v = CP_CACHE_E4M3, .scales = CP_CACHE_SCALE_TOKEN},
    .layout = {.pages = CP_PAGES_OWN,
               .page_size = TILE,
               .tensors = CP_TENSORS_KEYS,
               .scale_order = CP_SCALES_BY_SLOT},
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
                   .step = TILE},
    .refuses = refuses,
    .workspace = workspace,
    .attend = attend,
};
