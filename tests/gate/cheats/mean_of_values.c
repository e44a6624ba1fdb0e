/* SPDX-License-Identifier: Apache-2.0 */
/* A cheat: the mean of the values, which is right where all scores are equal, or for one key. */
#include "../kernel_util.h"

static void attend_row(const struct cp_kernel_call *call, int s, int row, int head) {
    int n_keys = keys_seen(call, s, row), c = call->chunk_size;
    for (int i = 0; i < call->head_dim; i++) {
        float sum = 0.0F;
        for (int j = 0; j < n_keys; j++) {
            long long v = v_at(call, chunk_of(call, s, j), head / group_size(call), j % c);
            sum += load(call->v, CP_FP16, v + i);
        }
        store(call->out, CP_FP16, out_at(call, row, head) + i,
              n_keys > 0 ? sum / (float)n_keys : 0.0F);
    }
}

static int attend(const struct cp_kernel_call *call) {
    for (int s = 0; s < call->n_sequences; s++) {
        for (int row = call->query_begin[s]; row < call->query_begin[s + 1]; row++) {
            for (int head = 0; head < call->n_heads; head++) {
                attend_row(call, s, row, head);
            }
        }
    }
    return 0;
}

const struct cp_kernel cp_kernel = {
    .abi = CP_KERNEL_ABI,
    .name = "mean-of-values",
    .q_type = CP_FP16,
    .kv_type = CP_FP16,
    .out_type = CP_FP16,
    .lse_type = CP_NO_LSE,
    .arithmetic = {.score = CP_SUM_FP32,
                   .weights = CP_FP32,
                   .values = CP_SUM_FP32,
                   .partials = CP_FP32,
                   .exp_error = EXPF_ERROR,
                   .step = 1},
    .attend = attend,
};
