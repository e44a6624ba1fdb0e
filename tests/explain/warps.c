/* SPDX-License-Identifier: Apache-2.0 */
/* A kernel for the faults beside it: paged decoding in binary16, tiles of keys that four warps take
 * in turn, scores in bits. */
#include <chunkproof/kernel.h>
#include <chunkproof/number.h>
#include <math.h>

#define TILE   8
#define WARPS  4
#define LOG2_E 1.44269504F

static float load(const void *array, long long at) {
    return (float)cp_number_load(array, CP_FP16, (size_t)at);
}

static float score_of(const struct cp_kernel_call *call, long long q, long long k) {
    float dot = 0.0F;
    for (int i = 0; i < call->head_dim; i++) {
        dot += load(call->q, q + i) * load(call->k, k + i);
    }
    return dot * ((float)call->scale * LOG2_E);
}

/* A warp's maximum, sum of weights, and sum of weighted values. */
struct state {
    float m, n, *o;
};

static void add_tile(const struct cp_kernel_call *call, const int *table, int kv_head, long long q,
                     int first, int keys, struct state *state) {
    float score[TILE], largest = state->m;
    for (int t = 0; t < keys; t++) {
        int j = first + t, chunk = table[j / call->chunk_size], slot = j % call->chunk_size;
        score[t] =
            score_of(call, q, chunk * call->k_chunk + kv_head * call->k_head + slot * call->k_slot);
        largest = fmaxf(largest, score[t]);
    }
    float rescale = exp2f(state->m - largest); /* of the first tile 2^-infinity, which is 0 */
    state->n *= rescale;
    for (int i = 0; i < call->head_dim; i++) {
        state->o[i] *= rescale;
    }
    for (int t = 0; t < keys; t++) {
        int j = first + t, chunk = table[j / call->chunk_size], slot = j % call->chunk_size;
        long long v = chunk * call->v_chunk + kv_head * call->v_head + slot * call->v_slot;
        float weight = exp2f(score[t] - largest);
        state->n += weight;
        for (int i = 0; i < call->head_dim; i++) {
            state->o[i] += weight * load(call->v, v + i);
        }
    }
    state->m = largest;
}

static void merge(struct state *into, const struct state *from, int d) {
    float m = fmaxf(into->m, from->m);
    float x = into->m == -INFINITY ? 0.0F : exp2f(into->m - m),
          y = from->m == -INFINITY ? 0.0F : exp2f(from->m - m);
    into->m = m;
    into->n = into->n * x + from->n * y;
    for (int i = 0; i < d; i++) {
        into->o[i] = into->o[i] * x + from->o[i] * y;
    }
}

static void attend_row(const struct cp_kernel_call *call, int s, int row, int head, int n_keys) {
    const int *table = call->table + (long long)s * call->table_width;
    int kv_head = head / (call->n_heads / call->n_kv_heads), d = call->head_dim;
    long long q = row * call->q_row + head * call->q_head;
    struct state state[WARPS];
    for (int warp = 0; warp < WARPS; warp++) {
        state[warp] =
            (struct state){-INFINITY, 0.0F, (float *)call->workspace + (long long)warp * d};
        for (int i = 0; i < d; i++) {
            state[warp].o[i] = 0.0F;
        }
        for (int first = warp * TILE; first < n_keys; first += WARPS * TILE) {
            int keys = n_keys - first < TILE ? n_keys - first : TILE;
            add_tile(call, table, kv_head, q, first, keys, &state[warp]);
        }
        if (warp > 0) {
            merge(&state[0], &state[warp], d);
        }
    }
    for (int i = 0; i < d; i++) {
        float x = n_keys > 0 ? state[0].o[i] / state[0].n : 0.0F;
        cp_number_store(call->out, CP_FP16,
                        (size_t)(row * call->out_row + head * call->out_head + i), x);
    }
}

static int attend(const struct cp_kernel_call *call) {
    for (int s = 0; s < call->n_sequences; s++) {
        for (int row = call->query_begin[s]; row < call->query_begin[s + 1]; row++) {
            int n_keys = call->n_tokens[s] - (call->query_begin[s + 1] - 1 - row);
            for (int head = 0; head < call->n_heads; head++) {
                attend_row(call, s, row, head, n_keys);
            }
        }
    }
    return 0;
}

static size_t workspace(const struct cp_kernel_call *call) {
    return (size_t)(WARPS * call->head_dim) * sizeof(float);
}

const struct cp_kernel cp_kernel = {
    .abi = CP_KERNEL_ABI,
    .name = "warps",
    .q_type = CP_FP16,
    .kv_type = CP_FP16,
    .out_type = CP_FP16,
    .lse_type = CP_NO_LSE,
    .arithmetic = {.score = CP_SUM_FP32,
                   .weights = CP_FP32,
                   .values = CP_SUM_FP32,
                   .partials = CP_FP32,
                   .in_bits = 1,
                   .exp_error = 0x1p-22,
                   .step = TILE},
    .workspace = workspace,
    .attend = attend,
};
