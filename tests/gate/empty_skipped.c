/* SPDX-License-Identifier: Apache-2.0 */
/* A kernel that skips rows without keys: it leaves there what was there before. No call of it has
 * sequences without rows, so that it finds the sequence of a row by counting. */
#include <math.h>

#include "attention.h"

/* The sequence of a row. Each has a row at least. */
static int sequence_of(const struct cp_kernel_call *call, int row) {
    int s = 0;
    while (call->query_begin[s + 1] <= row) {
        s++;
    }
    return s;
}

/* Behind the last sequence without rows there would be no end of the search. */
static int has_rows(const struct cp_kernel_call *call) {
    for (int s = 0; s < call->n_sequences; s++) {
        if (call->query_begin[s + 1] <= call->query_begin[s]) {
            return 0;
        }
    }
    return 1;
}

static int attend(const struct cp_kernel_call *call) {
    if (!has_rows(call)) {
        return 1;
    }
    for (int row = 0; row < call->n_rows; row++) {
        int s = sequence_of(call, row);
        for (int head = 0; head < call->n_heads && keys_seen(call, s, row) > 0; head++) {
            float m = score_row(call, s, row, head), n = weigh_row(call, s, row, m);
            write_row(call, s, row, head, n);
            if (call->lse != NULL) {
                store(call->lse, CP_FP32, lse_at(call, row, head), m + logf(n));
            }
        }
    }
    return 0;
}

const struct cp_kernel cp_kernel = {
    .abi = CP_KERNEL_ABI,
    .name = "empty-skipped",
    .q_type = CP_FP16,
    .kv_type = CP_FP16,
    .out_type = CP_FP16,
    .lse_type = CP_FP32,
    .conventions = {.empty_out = CP_EMPTY_UNSPECIFIED,
                    .empty_lse = CP_EMPTY_UNSPECIFIED,
                    .never = CP_NEVER_ROWLESS,
                    .invariant = CP_INVARIANT_CUTS},
    .arithmetic = {.score = CP_SUM_FP32,
                   .weights = CP_FP32,
                   .values = CP_SUM_FP32,
                   .partials = CP_FP32,
                   .exp_error = EXPF_ERROR,
                   .step = 1},
    .workspace = scores_of_a_row,
    .attend = attend,
};
