/* SPDX-License-Identifier: Apache-2.0 */
/* For tests: a kernel whose description is right, but there is no function. */
#include "chunkproof/kernel.h"

const struct cp_kernel cp_kernel = {.abi = CP_KERNEL_ABI,
                                    .name = "no attend",
                                    .lse_type = CP_NO_LSE,
                                    .arithmetic = {.weights = CP_FP32, .partials = CP_FP32}};
