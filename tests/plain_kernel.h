/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CHUNKPROOF_TESTS_PLAIN_KERNEL_H
#define CHUNKPROOF_TESTS_PLAIN_KERNEL_H

#include "chunkproof/kernel.h"

/* The plainest declaration: key by key in binary32. */
static const struct cp_kernel plain = {.abi = CP_KERNEL_ABI,
                                       .name = "plain",
                                       .q_type = CP_FP16,
                                       .kv_type = CP_FP16,
                                       .out_type = CP_FP16,
                                       .lse_type = CP_FP32,
                                       .arithmetic = {.score = CP_SUM_FP32,
                                                      .weights = CP_FP32,
                                                      .values = CP_SUM_FP32,
                                                      .partials = CP_FP32,
                                                      .exp_error = 0x1p-22,
                                                      .step = 1}};

#endif
