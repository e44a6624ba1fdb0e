/* SPDX-License-Identifier: Apache-2.0 */
/* cp_merging() of the reference, row by row, in binary64. It refuses outputs that are no numbers,
 * also of parts without keys: those become zeros. */
#include <math.h>
#include <stdlib.h>

#include "merge_util.h"

/* 0; 1: no memory; 2: refused. */
static int merge_row(const struct cp_merge_call *call, int row, int head) {
    int n = call->n_parts, d = call->head_dim;
    double *o = malloc(((size_t)n + 1) * ((size_t)d + 1) * sizeof *o), lse;
    double *l = malloc((size_t)n * sizeof *l);
    double *out = (double *)call->out + result_at(call, row, head);
    if (o == NULL || l == NULL) {
        free(o);
        free(l);
        return 1;
    }
    for (int part = 0; part < n; part++) {
        const double *from = (const double *)call->o + part_at(call, row, part, head);
        l[part] = ((const double *)call->l)[part_lse_at(call, row, part, head)];
        for (int i = 0; i < d; i++) {
            o[(ptrdiff_t)part * d + i] = l[part] == -INFINITY ? 0.0 : from[i];
        }
    }
    struct cp_merging_row of = {.n_parts = n, .head_dim = d, .base = CP_BASE_E, .o = o, .lse = l};
    int status = cp_merging(&of, out, &lse);
    if (call->lse != NULL) {
        ((double *)call->lse)[result_lse_at(call, row, head)] = lse;
    }
    free(o);
    free(l);
    return status == CP_OK ? 0 : 2;
}

static int merge(const struct cp_merge_call *call) {
    int failed = 0;
    for (int row = 0; row < call->n_rows; row++) {
        for (int head = 0; head < call->n_heads && failed == 0; head++) {
            failed = merge_row(call, row, head);
        }
    }
    return failed;
}

const struct cp_merge_kernel cp_merge_kernel = {
    .abi = CP_MERGE_ABI,
    .name = "merge-reference",
    .o_type = CP_FP64,
    .l_type = CP_FP64,
    .base = CP_BASE_E,
    .arithmetic = {.way = CP_MERGING_STATES,
                   .weights = CP_FP64,
                   .values = CP_FP64,
                   .partials = CP_FP64,
                   .out_type = CP_FP64,
                   .lse_type = CP_FP64,
                   .exp_error = 0x1p-51,
                   .log_error = 0x1p-51,
                   .div_error = 0x1p-53},
    .merge = merge,
};
