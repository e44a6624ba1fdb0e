/* SPDX-License-Identifier: Apache-2.0 */
/* Shards of a context, as a ring of GPUs merges them: results arrive one after the other, and each
 * is merged into out and lse, where the first one lies. Between two merges out is bfloat16. */
#include <math.h>

#include "merge_util.h"

static void merge_shard(const struct cp_merge_call *call, int row, int head, int shard) {
    long long out = result_at(call, row, head), o = part_at(call, row, shard, head);
    float *lse = (float *)call->lse + result_lse_at(call, row, head);
    float l = ((const float *)call->l)[part_lse_at(call, row, shard, head)];
    if (l == -INFINITY) {
        return;
    }
    float m = fmaxf(*lse, l), a = expf(*lse - m), b = expf(l - m), n = a + b;
    for (int i = 0; i < call->head_dim; i++) {
        float of_ring = a > 0.0F ? a / n * load(call->out, CP_BF16, out + i) : 0.0F;
        store(call->out, CP_BF16, out + i, of_ring + b / n * load(call->o, CP_BF16, o + i));
    }
    *lse = m + logf(n);
}

/* The first shard may have no key, and then anything in out. */
static void merge_row(const struct cp_merge_call *call, int row, int head) {
    float *lse = (float *)call->lse + result_lse_at(call, row, head);
    for (int i = 0; i < call->head_dim && *lse == -INFINITY; i++) {
        store(call->out, CP_BF16, result_at(call, row, head) + i, 0.0F);
    }
    for (int shard = 0; shard < call->n_parts - 1; shard++) {
        merge_shard(call, row, head, shard);
    }
}

static int merge(const struct cp_merge_call *call) {
    each_merge(call, merge_row);
    return 0;
}

const struct cp_merge_kernel cp_merge_kernel = {
    .abi = CP_MERGE_ABI,
    .name = "merge-ring",
    .o_type = CP_BF16,
    .l_type = CP_FP32,
    .base = CP_BASE_E,
    .lse = CP_LSE_ALWAYS,
    .least_parts = 2,
    .most_parts = 64,
    .in_place = 1,
    .arithmetic = {.way = CP_MERGING_PAIRWISE,
                   .weights = CP_FP32,
                   .values = CP_FP32,
                   .partials = CP_BF16,
                   .out_type = CP_BF16,
                   .lse_type = CP_FP32,
                   .exp_error = EXPF_ERROR,
                   .log_error = LOGF_ERROR,
                   .div_error = DIVISION_ERROR},
    .merge = merge,
};
