/* SPDX-License-Identifier: Apache-2.0 */
/* For tests of the gate: a kernel that merges, in binary32, whose other fields are zeros. */
#ifndef CHUNKPROOF_TESTS_MERGE_PLAIN_H
#define CHUNKPROOF_TESTS_MERGE_PLAIN_H

#include "chunkproof/merge_kernel.h"

static int merges_nothing(const struct cp_merge_call *call) {
    (void)call;
    return 0;
}

static const struct cp_merge_kernel plain = {
    .abi = CP_MERGE_ABI,
    .name = "plain",
    .o_type = CP_FP32,
    .l_type = CP_FP32,
    .arithmetic = {.way = CP_MERGING_AT_ONCE,
                   .weights = CP_FP32,
                   .values = CP_FP32,
                   .partials = CP_FP32,
                   .out_type = CP_FP32,
                   .lse_type = CP_FP32,
                   .exp_error = 0x1p-22,
                   .log_error = 0x1p-22,
                   .div_error = 0x1p-24},
    .merge = merges_nothing,
};

#endif
