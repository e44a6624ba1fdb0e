/* SPDX-License-Identifier: Apache-2.0 */
/* A kernel for the faults beside it: paged decoding in binary16, a tile of keys at a time, with the
 * log-sum-exp. */
#include <chunkproof/kernel.h>
#include <chunkproof/number.h>
#include <math.h>

#define TILE 16

static float load(const void *array, long long at) {
    return (float)cp_number_load(array, CP_FP16, (size_t)at);
}

static float score_of(const struct cp_kernel_call *call, long long q, long long k) {
    float dot = 0.0F;
    for (int i = 0; i < call->head_dim; i++) {
        dot += load(call->q, q + i) * load(call->k, k + i);
    }
    return dot * (float)call->scale;
}

/* The maximum m so far, the sum n of weights, the sum o of weighted values; a tile has one
 * maximum. */
static void attend_row(const struct cp_kernel_call *call, int s, int row, int head, int n_keys) {
    const int *table = call->table + (long long)s * call->table_width;
    int kv_head = head / (call->n_heads / call->n_kv_heads);
    long long q = row * call->q_row + head * call->q_head;
    float *o = call->workspace, m = -INFINITY, n = 0.0F;
    for (int i = 0; i < call->head_dim; i++) {
        o[i] = 0.0F;
    }
    for (int first = 0; first < n_keys; first += TILE) {
        int keys = n_keys - first < TILE ? n_keys - first : TILE;
        float score[TILE], largest = m;
        for (int t = 0; t < keys; t++) {
            int j = first + t, chunk = table[j / call->chunk_size], slot = j % call->chunk_size;
            long long k = chunk * call->k_chunk + kv_head * call->k_head + slot * call->k_slot;
            score[t] = score_of(call, q, k);
            largest = fmaxf(largest, score[t]);
        }
        float rescale = m == -INFINITY ? 0.0F : expf(m - largest);
        n *= rescale;
        for (int i = 0; i < call->head_dim; i++) {
            o[i] *= rescale;
        }
        for (int t = 0; t < keys; t++) {
            int j = first + t, chunk = table[j / call->chunk_size], slot = j % call->chunk_size;
            long long v = chunk * call->v_chunk + kv_head * call->v_head + slot * call->v_slot;
            float weight = expf(score[t] - largest);
            n += weight;
            for (int i = 0; i < call->head_dim; i++) {
                o[i] += weight * load(call->v, v + i);
            }
        }
        m = largest;
    }
    for (int i = 0; i < call->head_dim; i++) {
        float x = n_keys > 0 ? o[i] / n : 0.0F;
        size_t at = (size_t)(row * call->out_row + head * call->out_head + i);
        cp_number_store(call->out, CP_FP16, at, x);
    }
    if (call->lse != NULL) {
        float lse = n_keys > 0 ? m + logf(n) : -INFINITY;
        size_t at = (size_t)(row * call->lse_row + head * call->lse_head);
        cp_number_store(call->lse, CP_FP32, at, lse);
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
    return (size_t)call->head_dim * sizeof(float);
}

const struct cp_kernel cp_kernel = {
    .abi = CP_KERNEL_ABI,
    .name = "tiled",
    .q_type = CP_FP16,
    .kv_type = CP_FP16,
    .out_type = CP_FP16,
    .lse_type = CP_FP32,
    .arithmetic = {.score = CP_SUM_FP32,
                   .weights = CP_FP32,
                   .values = CP_SUM_FP32,
                   .partials = CP_FP32,
                   .exp_error = 0x1p-22,
                   .step = TILE},
    .workspace = workspace,
    .attend = attend,
};
