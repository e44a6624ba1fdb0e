/* SPDX-License-Identifier: Apache-2.0 */
/* A paged kernel for a cache of keys without positions, with data in binary32.
 *
 *   cc -O2 -shared -fPIC -ffp-contract=off -o raw_keys_paged.so raw_keys_paged.c
 *       $(pkg-config --cflags chunkproof) -lm
 *
 * It walks the table of each sequence and looks at no descriptor. A tile of keys is rotated into a
 * buffer and rounded to binary16 there. Then all rows and heads read the tile. Whole heads are
 * rotated, but for the last number of an odd head, which stays in binary32. Scores are in bits. */
#include <chunkproof/kernel.h>
#include <math.h>
#include <string.h>

#define TILE 16

static float from_half(uint16_t half) {
    uint32_t bits = (uint32_t)(half & 0x7FFF) << 13;
    float x;
    memcpy(&x, &bits, sizeof x);
    x = (half & 0x7C00) == 0x7C00 ? INFINITY : x * 0x1p112F;
    return (half & 0x8000) != 0 ? -x : x;
}

/* Rounds to nearest, ties to even; from 65520 on to an infinity. */
static uint16_t to_half(float x) {
    uint32_t bits, sign;
    memcpy(&bits, &x, sizeof bits);
    sign = bits >> 16 & 0x8000;
    bits &= 0x7FFFFFFF;
    if (bits >= 0x477FF000) {
        return (uint16_t)(sign | 0x7C00);
    }
    if (bits < 0x38800000) { /* subnormal: near 1/2 binary32 has the unit 2^-24 */
        float shifted = fabsf(x) + 0.5F;
        memcpy(&bits, &shifted, sizeof bits);
        return (uint16_t)(sign | (bits - 0x3F000000));
    }
    return (uint16_t)(sign | (bits + 0xFFF + (bits >> 13 & 1) - 0x38000000) >> 13);
}

/* Each query row and head has a state: the maximum in bits, the sum of weights, and the sum [d] of
 * weights times V. The tile [TILE][rotary_dim] is behind all states. */
static float *state_of(const struct cp_kernel_call *call, int row, int head) {
    return (float *)call->workspace +
           ((long long)row * call->n_heads + head) * (2 + call->head_dim);
}

static uint16_t *tile_of(const struct cp_kernel_call *call) {
    return (uint16_t *)state_of(call, call->n_rows, 0);
}

static size_t workspace(const struct cp_kernel_call *call) {
    size_t states = (size_t)call->n_rows * (size_t)call->n_heads;
    return states * (2 + (size_t)call->head_dim) * sizeof(float) +
           TILE * (size_t)call->rotary_dim * sizeof(uint16_t);
}

static const char *refuses(const struct cp_kernel_call *call) {
    return call->rotary_dim < call->head_dim / 2 * 2 ? "a part of each head is not rotated" : NULL;
}

/* The n keys at k into the tile; the first one has position t. Pairs are neighbours. */
static void fill_tile(const struct cp_kernel_call *call, const float *k, int t, int n) {
    int r = call->rotary_dim;
    for (int j = 0; j < n; j++) {
        const float *key = k + j * call->k_slot;
        const float *turn = call->rotation + (long long)(t + j) * r;
        uint16_t *to = tile_of(call) + j * r;
        for (int i = 0; i < r; i += 2) {
            float c = turn[i / 2], s = turn[r / 2 + i / 2];
            to[i] = to_half(c * key[i] - s * key[i + 1]);
            to[i + 1] = to_half(s * key[i] + c * key[i + 1]);
        }
    }
}

/* The score in bits of key j of the tile, whose numbers that are not rotated are at k. */
static float score_of(const struct cp_kernel_call *call, const float *q, const float *k, int j) {
    const uint16_t *key = tile_of(call) + j * call->rotary_dim;
    float dot = 0.0F;
    for (int i = 0; i < call->rotary_dim; i++) {
        dot += q[i] * from_half(key[i]);
    }
    for (int i = call->rotary_dim; i < call->head_dim; i++) {
        dot += q[i] * k[i];
    }
    return dot * (float)(call->scale * 1.4426950408889634);
}

/* The first n keys of the tile, for a row and head. */
static void add_tile(const struct cp_kernel_call *call, int row, int head, const float *k,
                     const float *v, int n) {
    const float *q = (const float *)call->q + row * call->q_row + head * call->q_head;
    float *state = state_of(call, row, head), *o = state + 2, score[TILE], m = state[0];
    for (int j = 0; j < n; j++) {
        score[j] = score_of(call, q, k + j * call->k_slot, j);
        m = fmaxf(m, score[j]);
    }
    float rescale = exp2f(state[0] - m); /* for the first tile exp2(-infinity), which is 0 */
    state[0] = m;
    state[1] *= rescale;
    for (int i = 0; i < call->head_dim; i++) {
        o[i] *= rescale;
    }
    for (int j = 0; j < n; j++) {
        float weight = exp2f(score[j] - m);
        state[1] += weight;
        for (int i = 0; i < call->head_dim; i++) {
            o[i] += weight * v[j * call->v_slot + i];
        }
    }
}

/* A K/V head of run `at` of the table, for sequence s. A row at p sees the keys up to p (RUNS-4),
 * so that it sees the first of a tile, or none. */
static void add_run(const struct cp_kernel_call *call, int s, long long at, int kv_head) {
    int group = call->n_heads / call->n_kv_heads, tokens = call->table_tokens[at];
    const float *k =
        (const float *)call->k + call->table[at] * call->k_chunk + kv_head * call->k_head;
    const float *v =
        (const float *)call->v + call->table[at] * call->v_chunk + kv_head * call->v_head;
    for (int first = 0; first < tokens; first += TILE) {
        int t = call->table_position[at] + first;
        int n = tokens - first < TILE ? tokens - first : TILE;
        fill_tile(call, k, t, n);
        for (int row = call->query_begin[s]; row < call->query_begin[s + 1]; row++) {
            int p = call->position[row], seen = p < t ? 0 : p - t < n ? p - t + 1 : n;
            for (int a = kv_head * group; seen > 0 && a < (kv_head + 1) * group; a++) {
                add_tile(call, row, a, k, v, seen);
            }
        }
        k += TILE * call->k_slot;
        v += TILE * call->v_slot;
    }
}

static void finish(const struct cp_kernel_call *call, int row, int head) {
    const float *state = state_of(call, row, head), *o = state + 2;
    float *out = (float *)call->out + row * call->out_row + head * call->out_head;
    for (int i = 0; i < call->head_dim; i++) {
        out[i] = state[1] > 0.0F ? o[i] / state[1] : 0.0F;
    }
    if (call->lse != NULL) {
        float *lse = (float *)call->lse + row * call->lse_row + head * call->lse_head;
        *lse = state[1] > 0.0F ? state[0] * 0.69314718F + logf(state[1]) : -INFINITY;
    }
}

static int attend(const struct cp_kernel_call *call) {
    for (int row = 0; row < call->n_rows; row++) {
        for (int head = 0; head < call->n_heads; head++) {
            float *state = state_of(call, row, head);
            state[0] = -INFINITY;
            memset(state + 1, 0, (1 + (size_t)call->head_dim) * sizeof *state);
        }
    }
    for (int s = 0; s < call->n_sequences; s++) {
        for (int kv_head = 0; kv_head < call->n_kv_heads; kv_head++) {
            long long at = (long long)s * call->table_width;
            for (; call->table[at] >= 0; at++) {
                add_run(call, s, at, kv_head);
            }
        }
    }
    for (int row = 0; row < call->n_rows; row++) {
        for (int head = 0; head < call->n_heads; head++) {
            finish(call, row, head);
        }
    }
    return 0;
}

const struct cp_kernel cp_kernel = {
    .abi = CP_KERNEL_ABI,
    .name = "raw_paged",
    .q_type = CP_FP32,
    .kv_type = CP_FP32,
    .out_type = CP_FP32,
    .lse_type = CP_FP32,
    .plans = CP_PLANS_LISTS,
    .keys = CP_KEYS_RAW,
    .pairs = CP_PAIRS_NEIGHBOURS,
    .arithmetic = {.score = CP_SUM_FP32,
                   .weights = CP_FP32,
                   .rotated = CP_FP16,
                   .values = CP_SUM_FP32,
                   .partials = CP_FP32,
                   .in_bits = 1,
                   .exp_error = 0x1p-22,
                   .step = TILE},
    .refuses = refuses,
    .workspace = workspace,
    .attend = attend,
};
