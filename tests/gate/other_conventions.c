/* SPDX-License-Identifier: Apache-2.0 */
/* Conventions as some shipped kernels have them: a log-sum-exp of base 2, as from a kernel that
 * computes in bits; and of a row that sees no key NaNs, as 0 / 0 gives, and a log-sum-exp of -50000
 * instead of -infinity. */
#include <math.h>

#include "kernel_util.h"

#define LOG2_E   1.44269504F
#define NOTHING  (-50000.0F)
#define SENTINEL (-50000.0)

static size_t workspace(const struct cp_kernel_call *call) {
    return (size_t)call->head_dim * sizeof(float);
}

/* In bits. */
static float score(const struct cp_kernel_call *call, long long q, long long k) {
    float dot = 0.0F;
    for (int i = 0; i < call->head_dim; i++) {
        dot += load(call->q, CP_FP16, q + i) * load(call->k, CP_FP16, k + i);
    }
    return dot * ((float)call->scale * LOG2_E);
}

/* The row, from its state (m, n, o), in bits. */
static void write_row(const struct cp_kernel_call *call, int row, int head, float m, float n,
                      const float *o) {
    for (int i = 0; i < call->head_dim; i++) {
        store(call->out, CP_FP16, out_at(call, row, head) + i, o[i] / n);
    }
    if (call->lse != NULL) {
        float lse = n > 0.0F ? m + log2f(n) : NOTHING;
        store(call->lse, CP_FP32, lse_at(call, row, head), lse);
    }
}

static void attend_row(const struct cp_kernel_call *call, int s, int row, int head) {
    int kv_head = head / group_size(call);
    float m = -INFINITY, n = 0.0F, *o = call->workspace;
    for (int i = 0; i < call->head_dim; i++) {
        o[i] = 0.0F;
    }
    for (int j = 0; j < keys_seen(call, s, row); j++) {
        int chunk = chunk_of(call, s, j), slot = j % call->chunk_size;
        long long v = v_at(call, chunk, kv_head, slot);
        float x = score(call, q_at(call, row, head), k_at(call, chunk, kv_head, slot));
        float larger = fmaxf(m, x), factor = exp2f(m - larger), p = exp2f(x - larger);
        n = n * factor + p;
        for (int i = 0; i < call->head_dim; i++) {
            o[i] = o[i] * factor + p * load(call->v, CP_FP16, v + i);
        }
        m = larger;
    }
    write_row(call, row, head, m, n, o);
}

static int attend(const struct cp_kernel_call *call) {
    for (int s = 0; s < call->n_sequences; s++) {
        for (int head = 0; head < call->n_heads; head++) {
            for (int row = call->query_begin[s]; row < call->query_begin[s + 1]; row++) {
                attend_row(call, s, row, head);
            }
        }
    }
    return 0;
}

const struct cp_kernel cp_kernel = {
    .abi = CP_KERNEL_ABI,
    .name = "other-conventions",
    .q_type = CP_FP16,
    .kv_type = CP_FP16,
    .out_type = CP_FP16,
    .lse_type = CP_FP32,
    .conventions = {.lse_base = CP_LSE_BITS,
                    .empty_out = CP_EMPTY_NAN,
                    .empty_lse = CP_EMPTY_VALUE,
                    .empty_value = SENTINEL,
                    .invariant = CP_INVARIANT_CUTS},
    .arithmetic = {.score = CP_SUM_FP32,
                   .weights = CP_FP32,
                   .values = CP_SUM_FP32,
                   .partials = CP_FP32,
                   .in_bits = 1,
                   .exp_error = EXPF_ERROR,
                   .step = 1},
    .workspace = workspace,
    .attend = attend,
};
