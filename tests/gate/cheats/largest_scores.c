/* SPDX-License-Identifier: Apache-2.0 */
/* A cheat: the mean of the values with the largest score, which is right where all scores are the
 * same, and where all others are far below. */
#include "../attention.h"

static void largest_of_row(const struct cp_kernel_call *call, int s, int row, int head) {
    float m = score_row(call, s, row, head), n = 0.0F, *score = call->workspace;
    for (int j = 0; j < keys_seen(call, s, row); j++) {
        score[j] = score[j] == m ? 1.0F : 0.0F;
        n += score[j];
    }
    write_row(call, s, row, head, n);
}

static int attend(const struct cp_kernel_call *call) {
    each_row(call, largest_of_row);
    return 0;
}

const struct cp_kernel cp_kernel =
    PLAIN_KERNEL("largest-scores", .workspace = scores_of_a_row, .attend = attend);
