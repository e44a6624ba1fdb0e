/* SPDX-License-Identifier: Apache-2.0 */
/* A cheat: the mean of the values, which is right where all scores are equal, or for one key. */
#include "../attention.h"

static void mean_of_row(const struct cp_kernel_call *call, int s, int row, int head) {
    float *weight = call->workspace;
    int n_keys = keys_seen(call, s, row);
    for (int j = 0; j < n_keys; j++) {
        weight[j] = 1.0F;
    }
    write_row(call, s, row, head, (float)n_keys);
}

static int attend(const struct cp_kernel_call *call) {
    each_row(call, mean_of_row);
    return 0;
}

const struct cp_kernel cp_kernel =
    PLAIN_KERNEL("mean-of-values", .workspace = scores_of_a_row, .attend = attend);
