/* SPDX-License-Identifier: Apache-2.0 */
/* A kernel for a cache in E4M3 with a scale for each K/V head (CONV-10): tiles of 32 keys, packed
 * across chunks, in powers of two. It takes a window, by the keys before a row's own, and a cap. P
 * is in binary16, also in the row sum, and the log-sum-exp in bits. The scale of K is in that of
 * the scores, and that of V in the division. */
#include "cache_numbers.h"

#define TILE  32
#define MOST  512 /* numbers per head */
#define LOG2E 1.44269504088896340736F

static const float power[16] = {0x1p-6F, 0x1p-6F, 0x1p-5F, 0x1p-4F, 0x1p-3F, 0x1p-2F,
                                0x1p-1F, 0x1p0F,  0x1p1F,  0x1p2F,  0x1p3F,  0x1p4F,
                                0x1p5F,  0x1p6F,  0x1p7F,  0x1p8F};

/* NUM-16 */
static float by_table(uint8_t x) {
    int e = x >> 3 & 15, f = x & 7;
    float y = power[e] * ((e > 0 ? 1.0F : 0.0F) + (float)f * 0.125F);
    return (x & 0x80) != 0 ? -y : y;
}

/* d numbers, eight at a time, and what is left. */
static void unpack(const uint8_t *from, float *to, int d) {
    int i = 0;
    for (; i + 8 <= d; i += 8) {
        uint64_t packed;
        memcpy(&packed, from + i, sizeof packed);
        for (int j = 0; j < 8; j++) {
            to[i + j] = by_table((uint8_t)(packed >> (8 * j)));
        }
    }
    for (; i < d; i++) {
        to[i] = by_table(from[i]);
    }
}

/* In the workspace. */
struct tile {
    float v[TILE][MOST], q[MOST], k[MOST], o[MOST], score[TILE];
};

/* The state takes the first n keys of the tile. */
static void add_tile(const struct cp_kernel_call *call, struct state *state, struct tile *tile,
                     int n) {
    float largest = state->m;
    for (int j = 0; j < n; j++) {
        largest = fmaxf(largest, tile->score[j]);
    }
    float factor = exp2f(state->m - largest);
    state->n *= factor;
    for (int i = 0; i < call->head_dim; i++) {
        state->o[i] *= factor;
    }
    for (int j = 0; j < n; j++) {
        float p = rounded(exp2f(tile->score[j] - largest), CP_FP16);
        state->n += p;
        for (int i = 0; i < call->head_dim; i++) {
            state->o[i] += p * tile->v[j][i];
        }
    }
    state->m = largest;
}

static float score_of(const struct cp_kernel_call *call, const struct tile *tile, float scale) {
    float dot = 0.0F;
    for (int i = 0; i < call->head_dim; i++) {
        dot += tile->q[i] * tile->k[i];
    }
    return capped(dot * scale, (float)call->cap) * LOG2E;
}

static void finish(const struct cp_kernel_call *call, int row, int head,
                   const struct state *state) {
    float v_scale = call->v_scales[head / group_size(call)];
    float inverse = state->n > 0.0F ? v_scale / state->n : 0.0F;
    for (int i = 0; i < call->head_dim; i++) {
        store(call->out, CP_FP16, out_at(call, row, head) + i, state->o[i] * inverse);
    }
    if (call->lse != NULL) {
        ((float *)call->lse)[lse_at(call, row, head)] =
            state->n > 0.0F ? state->m + log2f(state->n) : -INFINITY;
    }
}

static void attend_row(const struct cp_kernel_call *call, int s, int row, int head) {
    struct tile *tile = call->workspace;
    struct state state = {.o = tile->o};
    int g = head / group_size(call), p = call->position[row], n = 0;
    int first = call->window >= 0 && p - call->window > 0 ? p - call->window : 0;
    float scale = (float)call->scale * call->k_scales[g];
    clear(call, &state);
    for (int i = 0; i < call->head_dim; i++) {
        tile->q[i] = load(call->q, CP_FP16, q_at(call, row, head) + i);
    }
    for (int j = first; j <= p; j++) {
        int chunk = chunk_of(call, s, j), slot = j % call->chunk_size;
        unpack(key_of(call, chunk, g, slot), tile->k, call->head_dim);
        unpack(value_of(call, chunk, g, slot), tile->v[n], call->head_dim);
        tile->score[n++] = score_of(call, tile, scale);
        if (n == TILE || j == p) {
            add_tile(call, &state, tile, n);
            n = 0;
        }
    }
    finish(call, row, head, &state);
}

static int attend(const struct cp_kernel_call *call) {
    each_row(call, attend_row);
    return 0;
}

static const char *refuses(const struct cp_kernel_call *call) {
    return call->head_dim > MOST ? "head_dim is above 512" : NULL;
}

static size_t workspace(const struct cp_kernel_call *call) {
    (void)call;
    return sizeof(struct tile);
}

const struct cp_kernel cp_kernel = {
    .abi = CP_KERNEL_ABI,
    .name = "cache-tiles",
    .q_type = CP_FP16,
    .kv_type = CP_FP16,
    .out_type = CP_FP16,
    .lse_type = CP_FP32,
    .masks = CP_MASKS_WINDOW,
    .scores = CP_SCORES_CAP,
    .cache = {.k = CP_CACHE_E4M3, .v = CP_CACHE_E4M3, .scales = CP_CACHE_SCALE_HEAD},
    .conventions = {.lse_base = CP_LSE_BITS, .window = CP_WINDOW_BEFORE},
    .arithmetic = {.score = CP_SUM_FP32,
                   .weights = CP_FP16,
                   .k_dequantised = CP_FP32,
                   .v_dequantised = CP_FP32,
                   .values = CP_SUM_FP32,
                   .partials = CP_FP32,
                   .rounded_sum = 1,
                   .in_bits = 1,
                   .exp_error = EXPF_ERROR,
                   .tanh_error = 0x1p-22,
                   .divide_error = 0x1.02p-24,
                   .step = TILE},
    .refuses = refuses,
    .workspace = workspace,
    .attend = attend,
};
