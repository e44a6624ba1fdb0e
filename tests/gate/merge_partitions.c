/* SPDX-License-Identifier: Apache-2.0 */
/* Partitions of a sequence, as the second kernel of paged attention reduces them: of each one its
 * maximum, its sum of weights, and its output in binary16. A partition without keys has the sum 0
 * and the lowest maximum. 10^-6 is added to the divisor, which is 1 at least. */
#include <math.h>

#include "merge_util.h"

#define MOST_PARTITIONS 512
#define EPSILON         1e-6F /* of 1 at least: a relative error, with that of the quotient */
#define LOWEST          (-0x1p126F)

static void merge_row(const struct cp_merge_call *call, int row, int head) {
    const float *m = call->l, *n = call->n;
    float scale[MOST_PARTITIONS], largest = LOWEST, sum = 0.0F;
    for (int i = 0; i < call->n_parts; i++) {
        largest = fmaxf(largest, m[part_lse_at(call, row, i, head)]);
    }
    for (int i = 0; i < call->n_parts; i++) {
        long long at = part_lse_at(call, row, i, head);
        scale[i] = n[at] * expf(m[at] - largest);
        sum += scale[i];
    }
    float over = 1.0F / (sum + EPSILON);
    for (int e = 0; e < call->head_dim; e++) {
        float all = 0.0F;
        for (int i = 0; i < call->n_parts; i++) {
            all += load(call->o, CP_FP16, part_at(call, row, i, head) + e) * scale[i] * over;
        }
        store(call->out, CP_FP16, result_at(call, row, head) + e, all);
    }
    if (call->lse != NULL) {
        ((float *)call->lse)[result_lse_at(call, row, head)] =
            sum > 0.0F ? largest + logf(sum) : -INFINITY;
    }
}

static int merge(const struct cp_merge_call *call) {
    each_merge(call, merge_row);
    return 0;
}

const struct cp_merge_kernel cp_merge_kernel = {
    .abi = CP_MERGE_ABI,
    .name = "merge-partitions",
    .o_type = CP_FP16,
    .l_type = CP_FP32,
    .base = CP_BASE_E,
    .most_parts = MOST_PARTITIONS,
    .form = CP_FORM_SUMS,
    .empty_o = CP_EMPTY_O_NUMBERS,
    .empty_l = CP_EMPTY_L_VALUE,
    .empty_l_value = LOWEST,
    .layout = {.o = CP_O_ORDER_ROW_PART, .l = CP_L_ORDER_PART_HEAD, .lse = CP_LSE_ORDER_ROW},
    .arithmetic = {.way = CP_MERGING_AT_ONCE,
                   .weights = CP_FP32,
                   .values = CP_FP32,
                   .partials = CP_FP32,
                   .out_type = CP_FP16,
                   .lse_type = CP_FP32,
                   .exp_error = EXPF_ERROR,
                   .log_error = LOGF_ERROR,
                   .div_error = 0x1.1p-20 + 3 * DIVISION_ERROR},
    .merge = merge,
};
