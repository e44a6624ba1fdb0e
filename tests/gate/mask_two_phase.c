/* SPDX-License-Identifier: Apache-2.0 */
/* Modelled on ChunkAttention's two phases: chunk first over the shared chunks, each loaded once
 * for the rows of all its sequences, then each sequence's own chunks; a running state for each
 * row and head in the workspace. Masks are meant for own chunks: a chunk that ends before the
 * bits of a row begin takes a path without tests, but any chunk may be masked. Binary32, trees
 * and ranges. Somebody who had seen the header and the specification alone wrote it, with the
 * mistakes that tests/faults/ makes of it. */
#include "page_numbers.h"

/* [n_rows][h][2 + d]: maximum, divisor, sum of values; then the scores of a chunk, and one sum. */
static size_t workspace(const struct cp_kernel_call *c) {
    size_t d = (size_t)c->head_dim;
    return sizeof(float) *
           ((size_t)c->n_rows * (size_t)c->n_heads * (2 + d) + (size_t)c->chunk_size + d);
}

static float *state_of(const struct cp_kernel_call *c, int r, int a) {
    return (float *)c->workspace +
           ((size_t)r * (size_t)c->n_heads + (size_t)a) * (2 + (size_t)c->head_dim);
}

/* Adds what row r sees of a run to its state. `mr` is the row whose mask it has. */
static void chunk(const struct cp_kernel_call *c, int number, int tokens, int at, int r, int mr,
                  int a) {
    int d = c->head_dim, kv = a / (c->n_heads / c->n_kv_heads), end = c->position[r] + 1 - at;
    const float *q = (const float *)c->q + r * c->q_row + a * c->q_head;
    const float *k = (const float *)c->k + number * c->k_chunk + kv * c->k_head;
    const float *v = (const float *)c->v + number * c->v_chunk + kv * c->v_head;
    float *state = state_of(c, r, a);
    float *score = (float *)c->workspace + (size_t)c->n_rows * (size_t)c->n_heads * (2 + (size_t)d);
    float *o = score + c->chunk_size, m = -INFINITY, n = 0;
    int masked = c->mask_bytes != 0, from = 0;
    unsigned bits = 0;
    size_t i = 0;
    end = end < 0 ? 0 : end > tokens ? tokens : end;
    if (masked) {
        int begin = c->mask_begin[mr];
        masked = at + end > begin;
        from = begin - at > 0 ? begin - at : 0;
        i = c->mask_first[mr] + (size_t)(at + from - begin);
    }
    if (masked && from < end)
        bits = c->mask_bits[i / 8] >> i % 8;
    for (int slot = 0; slot < end; slot++) {
        float sum = 0;
        score[slot] = -INFINITY;
        if (masked && slot >= from) {
            unsigned one = bits & 1;
            bits >>= 1;
            i++;
            if (i % 8 == 0 && slot + 1 < end)
                bits = c->mask_bits[i / 8];
            if (!one)
                continue;
        }
        for (int e = 0; e < d; e++)
            sum += q[e] * k[slot * c->k_slot + e];
        score[slot] = sum * (float)c->scale;
        m = score[slot] > m ? score[slot] : m;
    }
    memset(o, 0, sizeof(float) * (size_t)d);
    if (m == -INFINITY) {
        return;
    }
    for (int slot = 0; slot < end; slot++) {
        float w = expf(score[slot] - m);
        n += w;
        for (int e = 0; e < d && score[slot] > -INFINITY; e++)
            o[e] += w * v[slot * c->v_slot + e];
    }
    float top = m > state[0] ? m : state[0], x = expf(m - top), y = expf(state[0] - top);
    state[0] = top;
    state[1] = x * n + y * state[1];
    for (int e = 0; e < d; e++)
        state[2 + e] = x * o[e] + y * state[2 + e];
}

static int attend(const struct cp_kernel_call *c) {
    int d = c->head_dim;
    for (int r = 0; r < c->n_rows; r++)
        for (int a = 0; a < c->n_heads; a++) {
            float *state = state_of(c, r, a);
            state[0] = -INFINITY;
            memset(state + 1, 0, sizeof(float) * (size_t)(1 + d));
        }
    for (int x = 0; x < c->n_shared; x++) {
        const struct cp_shared_chunk *sh = &c->shared[x];
        for (int a = 0; a < c->n_heads; a++)
            for (int r = c->query_begin[sh->begin]; r < c->query_begin[sh->end]; r++) {
                int mr = r;
                chunk(c, sh->chunk, sh->n_tokens, sh->position, r, mr, a);
            }
    }
    for (int s = 0; s < c->n_sequences; s++)
        for (int i = c->n_shared_chunks[s]; i < c->table_width; i++) {
            int at = s * c->table_width + i, position;
            if (c->table[at] < 0)
                break;
            position = c->table_position[at];
            for (int r = c->query_begin[s]; r < c->query_begin[s + 1]; r++)
                for (int a = 0; a < c->n_heads; a++) {
                    chunk(c, c->table[at], c->table_tokens[at], position, r, r, a);
                }
        }
    for (int r = 0; r < c->n_rows; r++)
        for (int a = 0; a < c->n_heads; a++) {
            const float *state = state_of(c, r, a);
            float *out = (float *)c->out + r * c->out_row + a * c->out_head;
            int none = state[1] == 0;
            for (int e = 0; e < d; e++)
                out[e] = none ? 0 : state[2 + e] / state[1];
            if (c->lse)
                ((float *)c->lse)[r * c->lse_row + a * c->lse_head] =
                    none ? -INFINITY : state[0] + logf(state[1]);
        }
    return 0;
}

const struct cp_kernel cp_kernel = {
    .abi = CP_KERNEL_ABI,
    .name = "mask-two-phase",
    .q_type = CP_FP32,
    .kv_type = CP_FP32,
    .out_type = CP_FP32,
    .lse_type = CP_FP32,
    .plans = CP_PLANS_RANGES,
    .masks = CP_MASKS_BITS,
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
                   .step = 0},
    .workspace = workspace,
    .attend = attend,
};
