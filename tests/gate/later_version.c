/* SPDX-License-Identifier: Apache-2.0 */
/* A kernel that was compiled with the version of the interface after this one. */
#include "chunkproof/kernel.h"

const struct cp_kernel cp_kernel = {.abi = CP_KERNEL_ABI + 1000000, .name = "later version"};
