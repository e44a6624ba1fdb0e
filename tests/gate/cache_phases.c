/* SPDX-License-Identifier: Apache-2.0 */
/* A kernel for a cache of which K alone has 8 bits (CONV-10): integers with a scale for each token.
 * In two phases: each shared chunk is dequantised once for all sequences that it serves, to
 * binary16 in a tile, then each sequence's own runs are. Parts are merged at once, and o is divided
 * at the end. By the author of cache_tiles.c. */
#include "cache_numbers.h"

/* The workspace: [c][d] of the tile, [c] scores, d numbers of a part, then the states. */
static float *scores_of(const struct cp_kernel_call *call) {
    size_t bytes = (size_t)call->chunk_size * (size_t)call->head_dim * sizeof(uint16_t);
    return (float *)call->workspace + (bytes + 3) / 4;
}

static float *state_of(const struct cp_kernel_call *call, int row, int head) {
    long long at = (long long)row * call->n_heads + head;
    return scores_of(call) + call->chunk_size + call->head_dim + at * (2 + call->head_dim);
}

static size_t workspace(const struct cp_kernel_call *call) {
    size_t d = (size_t)call->head_dim, c = (size_t)call->chunk_size;
    size_t states = (size_t)call->n_rows * (size_t)call->n_heads;
    return (c * d * sizeof(uint16_t) + 3) / 4 * 4 + (c + d + states * (2 + d)) * sizeof(float);
}

/* The first n keys of a chunk become the tile. */
static void dequantise(const struct cp_kernel_call *call, int chunk, int kv_head, int n) {
    const float *k_scales = call->k_scales + scale_at(call, chunk, kv_head, 0);
    for (int slot = 0; slot < n; slot++) {
        const uint8_t *k = key_of(call, chunk, kv_head, slot);
        for (int i = 0; i < call->head_dim; i++) {
            float x = from_int8(k[i]) * k_scales[slot];
            store(call->workspace, CP_FP16, (long long)slot * call->head_dim + i, x);
        }
    }
}

/* To score[], of the first `seen` keys of the tile; returns the largest. */
static float fill_scores(const struct cp_kernel_call *call, int row, int head, int seen,
                         float *score) {
    long long q = q_at(call, row, head), key = 0;
    float largest = -INFINITY;
    for (int slot = 0; slot < seen; slot++, key += call->head_dim) {
        float dot = 0.0F;
        for (int i = 0; i < call->head_dim; i++) {
            dot += load(call->q, CP_FP16, q + i) * load(call->workspace, CP_FP16, key + i);
        }
        score[slot] = dot * (float)call->scale;
        largest = fmaxf(largest, score[slot]);
    }
    return largest;
}

/* A part with the maximum m, the sum n and the numbers o joins a state. */
static void merge(const struct cp_kernel_call *call, float *state, float m, float n,
                  const float *o) {
    float largest = fmaxf(state[0], m), x = expf(state[0] - largest), y = expf(m - largest);
    state[0] = largest;
    state[1] = state[1] * x + n * y;
    for (int i = 0; i < call->head_dim; i++) {
        state[2 + i] = state[2 + i] * x + o[i] * y;
    }
}

/* The first `seen` keys of the tile, for one row and head. */
static void add_part(const struct cp_kernel_call *call, int chunk, int row, int head, int seen) {
    float *score = scores_of(call), *part = score + call->chunk_size, n = 0.0F;
    float m = fill_scores(call, row, head, seen, score);
    memset(part, 0, (size_t)call->head_dim * sizeof *part);
    for (int slot = 0; slot < seen; slot++) {
        long long v = v_at(call, chunk, head / group_size(call), slot);
        float weight = expf(score[slot] - m);
        n += weight;
        for (int i = 0; i < call->head_dim; i++) {
            part[i] += weight * load(call->v, CP_FP16, v + i);
        }
    }
    merge(call, state_of(call, row, head), m, n, part);
}

/* The tile is that of the run, for the rows of a sequence and the heads of a group. */
static void add_run(const struct cp_kernel_call *call, int s, struct cp_run run, int kv_head) {
    int group = group_size(call);
    for (int row = call->query_begin[s]; row < call->query_begin[s + 1]; row++) {
        int seen = seen_in_run(run, call->position[row]);
        for (int head = kv_head * group; seen > 0 && head < (kv_head + 1) * group; head++) {
            add_part(call, run.chunk, row, head, seen);
        }
    }
}

static void chunk_first(const struct cp_kernel_call *call) {
    for (int i = 0; i < call->n_shared; i++) {
        struct cp_run run = shared_run(call, i);
        for (int kv_head = 0; kv_head < call->n_kv_heads; kv_head++) {
            dequantise(call, run.chunk, kv_head, run.n_tokens);
            for (int at = call->shared[i].begin; at < call->shared[i].end; at++) {
                add_run(call, call->served[at], run, kv_head);
            }
        }
    }
}

static void sequence_first(const struct cp_kernel_call *call, int s) {
    for (int k = call->n_shared_chunks[s]; k < n_runs_of(call, s); k++) {
        struct cp_run own = run_of(call, s, k);
        for (int kv_head = 0; kv_head < call->n_kv_heads; kv_head++) {
            dequantise(call, own.chunk, kv_head, own.n_tokens);
            add_run(call, s, own, kv_head);
        }
    }
}

static void start(const struct cp_kernel_call *call, int s, int row, int head) {
    struct state state = {.o = state_of(call, row, head) + 2};
    (void)s;
    clear(call, &state);
    state.o[-2] = state.m;
    state.o[-1] = state.n;
}

static void finish(const struct cp_kernel_call *call, int s, int row, int head) {
    float *state = state_of(call, row, head);
    (void)s;
    write_result(call, CP_FP16, row, head, &(struct state){state[0], state[1], state + 2});
}

static int attend(const struct cp_kernel_call *call) {
    each_row(call, start);
    chunk_first(call);
    for (int s = 0; s < call->n_sequences; s++) {
        sequence_first(call, s);
    }
    each_row(call, finish);
    return 0;
}

const struct cp_kernel cp_kernel = {
    .abi = CP_KERNEL_ABI,
    .name = "cache-phases",
    .q_type = CP_FP16,
    .kv_type = CP_FP16,
    .out_type = CP_FP16,
    .lse_type = CP_FP32,
    .plans = CP_PLANS_LISTS,
    .cache = {.k = CP_CACHE_INT8, .v = CP_CACHE_PLAIN, .scales = CP_CACHE_SCALE_TOKEN},
    .arithmetic = {.score = CP_SUM_FP32,
                   .weights = CP_FP32,
                   .k_dequantised = CP_FP16,
                   .v_dequantised = CP_FP32,
                   .values = CP_SUM_FP32,
                   .partials = CP_FP32,
                   .exp_error = EXPF_ERROR,
                   .step = 0},
    .workspace = workspace,
    .attend = attend,
};
