/* SPDX-License-Identifier: Apache-2.0 */
/* Modelled on decoding of MLA from an FP8 cache with one scale for the tensor, as TensorRT-LLM's
 * and vLLM's kernels have it where they dequantise a tile before they use it: E4M3 times the
 * scale, rounded to binary16, once for K and for V, which is in the key. By chunks and strides.
 * Tiles of 32 keys go in turn to two warp groups, each with m, n and o of its own; these are
 * merged at the end. 16 query heads of a K/V head at a time share a tile. Somebody who had seen
 * the header and the specification alone wrote it, with the mistakes that tests/faults/ makes of
 * it. */
#include "page_numbers.h"

enum { TILE = 32, HEADS = 16, MOST = 640 };

struct state {
    float m, n, o[MOST];
};

struct work {
    struct state part[2][HEADS];
    uint16_t k[TILE][MOST];
};

static const char *refuses(const struct cp_kernel_call *c) {
    return c->head_dim > MOST ? "head_dim is above 640" : NULL;
}

static size_t workspace(const struct cp_kernel_call *c) {
    (void)c;
    return sizeof(struct work);
}

static float half(uint16_t x) {
    return h2f(x);
}

static void dequantise(const struct cp_kernel_call *c, struct work *w, const uint8_t *k, int keys) {
    const float scale = c->k_scales[0];
    const int d = c->head_dim;
    for (int j = 0; j < keys; j++)
        for (int i = 0; i < d; i++) {
            const uint8_t x = k[j * c->k_slot + i];
            const float number = (float)cp_number8_to_double(x, CP_E4M3);
            w->k[j][i] = f2h(number * scale);
        }
}

static void tile_of(const struct cp_kernel_call *c, const struct work *w, struct state *t,
                    const uint16_t *q, int seen) {
    float p[TILE], top = t->m;
    const float scale = (float)c->scale;
    for (int j = 0; j < seen; j++) {
        float sum = 0;
        for (int i = 0; i < c->head_dim; i++)
            sum += half(q[i]) * half(w->k[j][i]);
        p[j] = sum * scale;
        if (p[j] > top)
            top = p[j];
    }
    const float factor = t->n > 0 ? expf(t->m - top) : 0;
    for (int i = 0; i < c->value_dim; i++)
        t->o[i] *= factor;
    t->n *= factor;
    t->m = top;
    for (int j = 0; j < seen; j++) {
        const float weight = expf(p[j] - top);
        t->n += weight;
        const uint16_t *v = w->k[j];
        for (int i = 0; i < c->value_dim; i++)
            t->o[i] += weight * half(v[i]);
    }
}

static void merge(const struct cp_kernel_call *c, struct state *a, const struct state *b) {
    if (b->n == 0)
        return;
    const float top = a->m > b->m ? a->m : b->m;
    const float x = a->n > 0 ? expf(a->m - top) : 0, y = expf(b->m - top);
    const int numbers = c->value_dim;
    for (int i = 0; i < numbers; i++)
        a->o[i] = a->o[i] * x + b->o[i] * y;
    a->n = a->n * x + b->n * y;
    a->m = top;
}

static void finish(const struct cp_kernel_call *c, const struct state *t, int row, int head) {
    uint16_t *out = (uint16_t *)c->out + row * c->out_row + head * c->out_head;
    const float by = 1;
    for (int i = 0; i < c->value_dim; i++)
        out[i] = f2h(t->n > 0 ? t->o[i] / t->n * by : 0);
    if (c->lse)
        ((float *)c->lse)[row * c->lse_row + head * c->lse_head] =
            t->n > 0 ? t->m + logf(t->n) : -INFINITY;
}

static void heads_of(const struct cp_kernel_call *c, struct work *w, int s, int row, int g,
                     int first, int heads) {
    const size_t line = (size_t)s * (size_t)c->table_width;
    for (int part = 0; part < 2; part++)
        for (int i = 0; i < heads; i++) {
            struct state *t = &w->part[part][i];
            t->m = -INFINITY;
            t->n = 0;
            memset(t->o, 0, sizeof t->o);
        }
    int turn = 0;
    for (int i = 0; i < c->table_width && c->table[line + (size_t)i] >= 0; i++) {
        const size_t at = line + (size_t)i;
        int seen = c->position[row] + 1 - c->table_position[at];
        seen = seen < 0 ? 0 : seen < c->table_tokens[at] ? seen : c->table_tokens[at];
        for (int j = 0; j < seen; j += TILE) {
            const int keys = seen - j < TILE ? seen - j : TILE;
            dequantise(c, w,
                       (const uint8_t *)c->k + c->table[at] * c->k_chunk + g * c->k_head +
                           j * c->k_slot,
                       keys);
            for (int x = 0; x < heads; x++) {
                const int head = first + x;
                const int from = head;
                tile_of(c, w, &w->part[turn][x],
                        (const uint16_t *)c->q + row * c->q_row + from * c->q_head, keys);
            }
            turn = 1 - turn;
        }
    }
    for (int x = 0; x < heads; x++) {
        merge(c, &w->part[0][x], &w->part[1][x]);
        finish(c, &w->part[0][x], row, first + x);
    }
}

static int attend(const struct cp_kernel_call *c) {
    const int group = c->n_heads / c->n_kv_heads;
    for (int s = 0; s < c->n_sequences; s++)
        for (int row = c->query_begin[s]; row < c->query_begin[s + 1]; row++)
            for (int g = 0; g < c->n_kv_heads; g++)
                for (int x = 0; x < group; x += HEADS) {
                    const int heads = group - x < HEADS ? group - x : HEADS;
                    heads_of(c, c->workspace, s, row, g, g * group + x, heads);
                }
    return 0;
}

const struct cp_kernel cp_kernel = {
    .abi = CP_KERNEL_ABI,
    .name = "width-tensor-scale",
    .q_type = CP_FP16,
    .kv_type = CP_FP16,
    .out_type = CP_FP16,
    .lse_type = CP_FP32,
    .plans = CP_PLANS_LISTS,
    .widths = CP_WIDTHS_ANY,
    .cache = {.k = CP_CACHE_E4M3, .v = CP_CACHE_E4M3, .scales = CP_CACHE_SCALE_TENSOR},
    .layout = {.tensors = CP_TENSORS_KEYS},
    .arithmetic = {.score = CP_SUM_FP32,
                   .weights = CP_FP32,
                   .rotated = CP_FP32,
                   .k_dequantised = CP_FP16,
                   .v_dequantised = CP_FP16,
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
