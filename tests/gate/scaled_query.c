/* SPDX-License-Identifier: Apache-2.0 */
/* The scale in the query, rounded to binary16 as tensor cores want it, and batches as a server
 * makes them: equal numbers of rows, each of which sees a key. So out of all rows is one array of
 * [sequence][row][head][d], and no row is looked at for whether it has keys. */
#include <math.h>

#include "attention.h"

#define MOST_DIM 4096

/* The scores of a row, of which there is one at least; returns the largest. */
static float score_scaled(const struct cp_kernel_call *call, int s, int row, int head) {
    int kv_head = head / group_size(call);
    float q[MOST_DIM], m = -INFINITY, *score = call->workspace;
    for (int i = 0; i < call->head_dim; i++) {
        float x = load(call->q, CP_FP16, q_at(call, row, head) + i) * (float)call->scale;
        q[i] = (float)cp_fp16_to_double(cp_fp16_from_double(x));
    }
    for (int j = 0; j < keys_seen(call, s, row); j++) {
        long long k = k_at(call, chunk_of(call, s, j), kv_head, j % call->chunk_size);
        float dot = 0.0F;
        for (int i = 0; i < call->head_dim; i++) {
            dot += q[i] * load(call->k, CP_FP16, k + i);
        }
        score[j] = dot;
        m = fmaxf(m, dot);
    }
    return m;
}

/* The weighted sum of V by n, which is not 0. */
static void write_divided(const struct cp_kernel_call *call, int s, int row, int head, float n) {
    int kv_head = head / group_size(call), c = call->chunk_size;
    const float *weight = call->workspace;
    for (int i = 0; i < call->head_dim; i++) {
        float sum = 0.0F;
        for (int j = 0; j < keys_seen(call, s, row); j++) {
            long long v = v_at(call, chunk_of(call, s, j), kv_head, j % c);
            sum += weight[j] * load(call->v, CP_FP16, v + i);
        }
        store(call->out, CP_FP16, out_at(call, row, head) + i, sum / n);
    }
}

static const char *refuses(const struct cp_kernel_call *call) {
    return call->head_dim > MOST_DIM ? "heads are wider than 4096" : NULL;
}

static int attend(const struct cp_kernel_call *call) {
    int rows = call->n_rows / call->n_sequences; /* of each sequence */
    for (int row = 0; row < call->n_rows; row++) {
        for (int head = 0; head < call->n_heads; head++) {
            int s = row / rows;
            float m = score_scaled(call, s, row, head), n = weigh_row(call, s, row, m);
            write_divided(call, s, row, head, n);
        }
    }
    return 0;
}

const struct cp_kernel cp_kernel = {
    .abi = CP_KERNEL_ABI,
    .name = "scaled-query",
    .q_type = CP_FP16,
    .kv_type = CP_FP16,
    .out_type = CP_FP16,
    .lse_type = CP_NO_LSE,
    .conventions = {.never = CP_NEVER_EMPTY_ROWS | CP_NEVER_UNEQUAL_ROWS | CP_NEVER_ROWLESS,
                    .invariant = CP_INVARIANT_CUTS},
    .arithmetic = {.score = CP_SUM_FP32,
                   .weights = CP_FP32,
                   .scales = CP_SCALES_QUERY_FP16,
                   .values = CP_SUM_FP32,
                   .partials = CP_FP32,
                   .exp_error = EXPF_ERROR,
                   .step = 1},
    .refuses = refuses,
    .workspace = scores_of_a_row,
    .attend = attend,
};
