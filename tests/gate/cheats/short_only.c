/* SPDX-License-Identifier: Apache-2.0 */
/* A cheat: attention for few keys, zeros for many, where nobody looks. */
#include "../attention.h"

#define FEW 512

static void short_row(const struct cp_kernel_call *call, int s, int row, int head) {
    if (keys_seen(call, s, row) <= FEW) {
        attend_row(call, s, row, head);
    } else {
        write_zeros(call, row, head);
    }
}

static int attend(const struct cp_kernel_call *call) {
    each_row(call, short_row);
    return 0;
}

const struct cp_kernel cp_kernel = {
    .abi = CP_KERNEL_ABI,
    .name = "short-only",
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
    .workspace = scores_of_a_row,
    .attend = attend,
};
