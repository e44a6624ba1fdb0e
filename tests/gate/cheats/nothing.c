/* SPDX-License-Identifier: Apache-2.0 */
/* A cheat: leaves the results as they were, in the hope that they are right already. */
#include "../attention.h"

static int attend(const struct cp_kernel_call *call) {
    (void)call;
    return 0;
}

const struct cp_kernel cp_kernel = PLAIN_KERNEL("nothing", .attend = attend);
