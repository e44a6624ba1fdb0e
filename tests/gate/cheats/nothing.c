/* SPDX-License-Identifier: Apache-2.0 */
/* A cheat: leaves the results as they were, in the hope that they are right already. */
#include "../kernel_util.h"

static int attend(const struct cp_kernel_call *call) {
    (void)call;
    return 0;
}

const struct cp_kernel cp_kernel = {
    .abi = CP_KERNEL_ABI,
    .name = "nothing",
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
