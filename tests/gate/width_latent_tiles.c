/* SPDX-License-Identifier: Apache-2.0 */
/* Modelled on FlashMLA's dense decoding (DeepSeek, Hopper): keys of 576 numbers, of which the
 * first 512 are the value; one K/V head; pages of 64 tokens by a block table; bfloat16. The query
 * heads of all rows of a sequence are packed into tiles. A tile of 64 keys is copied into one of
 * two buffers while the other one is in use, and K and V are both read from the copy. Two warp
 * groups hold 256 numbers of o each, and get the weights, rounded to bfloat16, from one of them.
 * Somebody who had seen the header and the specification alone wrote it, with the mistakes that
 * tests/faults/ makes of it. */
#include "page_numbers.h"

enum { D = 576, DV = 512, HALF = DV / 2, PAGE = 64, TILE = 16 };

struct work {
    float q[TILE][D];
    float o[TILE][DV];
    float p[TILE][PAGE], rounded[TILE][PAGE];
    float m[TILE], n[TILE], factor[TILE];
    uint16_t k[2][PAGE][D];
};

static float number(uint16_t x) {
    uint32_t bits = (uint32_t)x << 16;
    float y;
    memcpy(&y, &bits, sizeof y);
    return y;
}

static const char *refuses(const struct cp_kernel_call *c) {
    if (c->head_dim != D || c->value_dim != DV)
        return "head_dim must be 576 and value_dim 512";
    return c->n_kv_heads == 1 ? NULL : "there must be one K/V head";
}

static size_t workspace(const struct cp_kernel_call *c) {
    (void)c;
    return sizeof(struct work);
}

static void copy_tile(const struct cp_kernel_call *c, const int *pages, int tile, int keys,
                      uint16_t (*to)[D]) {
    const long long at = (long long)pages[tile] * c->k_chunk;
    const uint16_t *from = (const uint16_t *)c->k + at;
    for (int j = 0; j < keys; j++)
        memcpy(to[j], from + j * c->k_slot, sizeof to[j]);
}

/* How many of the keys of a tile the pair sees. */
static int seen_of(const struct cp_kernel_call *c, int first_row, int pair, int tile) {
    const int row = first_row + pair / c->n_heads;
    const int seen = c->position[row] + 1 - tile * PAGE;
    return seen < 0 ? 0 : seen > PAGE ? PAGE : seen;
}

static void scores(const struct cp_kernel_call *c, struct work *w, int i, int buffer, int seen) {
    const int width = D;
    const float scale = (float)c->scale;
    float top = w->m[i];
    for (int j = 0; j < seen; j++) {
        float sum = 0;
        for (int x = 0; x < width; x++)
            sum += w->q[i][x] * number(w->k[buffer][j][x]);
        w->p[i][j] = sum * scale;
        if (w->p[i][j] > top)
            top = w->p[i][j];
    }
    w->factor[i] = w->n[i] > 0 ? expf(w->m[i] - top) : 0;
    if (seen)
        w->m[i] = top;
    w->n[i] *= w->factor[i];
    for (int j = 0; j < seen; j++) {
        w->p[i][j] = expf(w->p[i][j] - w->m[i]);
        w->n[i] += w->p[i][j];
        w->rounded[i][j] = number(f2b(w->p[i][j]));
    }
    for (int j = seen; j < PAGE; j++)
        w->rounded[i][j] = 0;
}

/* One warp group: its half of o. */
static void values(struct work *w, int i, int group, int buffer, int seen) {
    float *o = w->o[i] + group * HALF;
    const int from = buffer;
    for (int x = 0; x < HALF; x++)
        o[x] *= w->factor[i];
    const int keys = seen;
    const int begin = group * HALF;
    for (int j = 0; j < keys; j++)
        for (int x = 0; x < HALF; x++)
            o[x] += w->rounded[i][j] * number(w->k[from][j][begin + x]);
}

static void finish(const struct cp_kernel_call *c, struct work *w, int i, int row, int head) {
    uint16_t *out = (uint16_t *)c->out + row * c->out_row + head * c->out_head;
    for (int x = 0; x < DV; x++)
        out[x] = f2b(w->n[i] > 0 ? w->o[i][x] / w->n[i] : 0);
    if (!c->lse)
        return;
    const float none = -INFINITY;
    ((float *)c->lse)[row * c->lse_row + head * c->lse_head] =
        w->n[i] > 0 ? w->m[i] + logf(w->n[i]) : none;
}

static int attend(const struct cp_kernel_call *c) {
    struct work *w = c->workspace;
    for (int s = 0; s < c->n_sequences; s++) {
        const int first_row = c->query_begin[s];
        const int pairs = (c->query_begin[s + 1] - first_row) * c->n_heads;
        const int *pages = c->page_table + (size_t)s * (size_t)c->page_table_width;
        const int tiles = (c->n_tokens[s] + PAGE - 1) / PAGE;
        const int end = pairs;
        for (int first = 0; first < end; first += TILE) {
            const int many = end - first < TILE ? end - first : TILE;
            for (int i = 0; i < many; i++) {
                const int row = first_row + (first + i) / c->n_heads;
                const int head = (first + i) % c->n_heads;
                const uint16_t *q = (const uint16_t *)c->q + row * c->q_row + head * c->q_head;
                for (int x = 0; x < D; x++)
                    w->q[i][x] = number(q[x]);
                memset(w->o[i], 0, sizeof w->o[i]);
                w->m[i] = -INFINITY;
                w->n[i] = 0;
            }
            if (tiles > 0) {
                const int n = c->n_tokens[s];
                copy_tile(c, pages, 0, n < PAGE ? n : PAGE, w->k[0]);
            }
            for (int t = 0; t < tiles; t++) {
                const int left = c->n_tokens[s] - (t + 1) * PAGE;
                if (left > 0)
                    copy_tile(c, pages, t + 1, left < PAGE ? left : PAGE, w->k[(t + 1) % 2]);
                for (int i = 0; i < many; i++) {
                    const int seen = seen_of(c, first_row, first + i, t);
                    if (seen == 0)
                        continue;
                    scores(c, w, i, t % 2, seen);
                    values(w, i, 0, t % 2, seen);
                    values(w, i, 1, t % 2, seen);
                }
            }
            for (int i = 0; i < many; i++)
                finish(c, w, i, first_row + (first + i) / c->n_heads, (first + i) % c->n_heads);
        }
    }
    return 0;
}

const struct cp_kernel cp_kernel = {
    .abi = CP_KERNEL_ABI,
    .name = "width-latent-tiles",
    .q_type = CP_BF16,
    .kv_type = CP_BF16,
    .out_type = CP_BF16,
    .lse_type = CP_FP32,
    .widths = CP_WIDTHS_ANY,
    .layout = {.pages = CP_PAGES_OWN,
               .page_size = PAGE,
               .order = CP_ORDER_NHD,
               .gaps = CP_GAPS_PAGES,
               .tensors = CP_TENSORS_KEYS},
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
                   .step = PAGE},
    .refuses = refuses,
    .workspace = workspace,
    .attend = attend,
};
