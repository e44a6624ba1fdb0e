/* SPDX-License-Identifier: Apache-2.0 */
/* A cheat: knows by its scores that they are all the same, and is right only then. */
#include "../attention.h"

static void tied_row(const struct cp_kernel_call *call, int s, int row, int head) {
    float n = weigh_row(call, s, row, score_row(call, s, row, head));
    if (n == (float)keys_seen(call, s, row)) {
        write_row(call, s, row, head, n);
    } else {
        write_zeros(call, row, head);
    }
}

static int attend(const struct cp_kernel_call *call) {
    each_row(call, tied_row);
    return 0;
}

const struct cp_kernel cp_kernel = {
    .abi = CP_KERNEL_ABI,
    .name = "ties-only",
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
