/* SPDX-License-Identifier: Apache-2.0 */
/* A cheat: zeros. */
#include "../attention.h"

static void zero_row(const struct cp_kernel_call *call, int s, int row, int head) {
    (void)s;
    write_zeros(call, row, head);
}

static int attend(const struct cp_kernel_call *call) {
    each_row(call, zero_row);
    return 0;
}

const struct cp_kernel cp_kernel = PLAIN_KERNEL("zeros", .attend = attend);
