/* SPDX-License-Identifier: Apache-2.0 */
/* For tests: a kernel of another version of kernel.h. */
#include "chunkproof/kernel.h"

const struct cp_kernel cp_kernel = {.abi = CP_KERNEL_ABI + 1, .name = "wrong abi"};
