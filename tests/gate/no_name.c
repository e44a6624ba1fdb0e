/* SPDX-License-Identifier: Apache-2.0 */
/* For tests: a kernel without a name. */
#include "chunkproof/kernel.h"

const struct cp_kernel cp_kernel = {.abi = CP_KERNEL_ABI};
