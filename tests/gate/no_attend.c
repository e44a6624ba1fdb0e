/* SPDX-License-Identifier: Apache-2.0 */
/* For tests: a kernel with a right description but without a function. */
#include "chunkproof/kernel.h"

const struct cp_kernel cp_kernel = {.abi = CP_KERNEL_ABI,
                                    .name = "no attend",
                                    .lse_type = CP_NO_LSE,
                                    .arithmetic = {.weights = CP_FP32, .partials = CP_FP32}};
