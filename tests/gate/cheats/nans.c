/* SPDX-License-Identifier: Apache-2.0 */
/* A cheat: no number anywhere. Nothing is far from it, for whoever compares with `>`. */
#include <math.h>

#include "../attention.h"

static int attend(const struct cp_kernel_call *call) {
    for (int row = 0; row < call->n_rows; row++) {
        for (int head = 0; head < call->n_heads; head++) {
            for (int i = 0; i < call->head_dim; i++) {
                store(call->out, CP_FP16, out_at(call, row, head) + i, NAN);
            }
        }
    }
    return 0;
}

const struct cp_kernel cp_kernel = PLAIN_KERNEL("nans", .attend = attend);
