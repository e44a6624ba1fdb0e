/* SPDX-License-Identifier: Apache-2.0 */
/* For tests: a kernel that says its bits are the same in any batch and call (CONV-5). With VARIES
 * in its environment the last bit of some numbers is another one:
 *
 *     VARIES=batch     from two sequences on
 *     VARIES=shared    where a chunk is shared
 *     VARIES=call      in calls with an odd number of rows
 *     VARIES=last      the same, of the last row and head alone
 *     VARIES=cuts      where its sequence has an odd number of rows in the call
 *     VARIES=lse       the same, of log-sum-exps alone
 *
 * The last bit of binary32 is within the tolerance: it says that P is rounded to binary16. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "attention.h"

static int varies(const struct cp_kernel_call *call, int s, int row, int head) {
    const char *how = getenv("VARIES");
    int is_odd = call->n_rows % 2 == 1;
    if (how == NULL) {
        return 0;
    }
    return (strcmp(how, "batch") == 0 && call->n_sequences > 1) ||
           (strcmp(how, "shared") == 0 && call->n_shared > 0) ||
           (strcmp(how, "call") == 0 && is_odd) ||
           (strcmp(how, "cuts") == 0 &&
            (call->query_begin[s + 1] - call->query_begin[s]) % 2 == 1) ||
           (strcmp(how, "last") == 0 && is_odd && row == call->n_rows - 1 &&
            head == call->n_heads - 1);
}

static int lse_varies(const struct cp_kernel_call *call) {
    const char *how = getenv("VARIES");
    return how != NULL && strcmp(how, "lse") == 0 && call->n_rows % 2 == 1;
}

/* The next number, of one that is not 0. */
static float next(float x) {
    return x != 0.0F ? nextafterf(x, INFINITY) : x;
}

/* Element i of the row, the weighted sum of V divided by n. */
static float element(const struct cp_kernel_call *call, int s, int row, int head, int i, float n) {
    int kv_head = head / group_size(call), c = call->chunk_size;
    const float *weight = call->workspace;
    float sum = 0.0F;
    for (int j = 0; j < keys_seen(call, s, row); j++) {
        long long v = v_at(call, chunk_of(call, s, j), kv_head, j % c);
        sum += weight[j] * load(call->v, CP_FP16, v + i);
    }
    return n > 0.0F ? sum / n : 0.0F;
}

static void attend_one(const struct cp_kernel_call *call, int s, int row, int head) {
    float m = score_row(call, s, row, head), n = weigh_row(call, s, row, m);
    for (int i = 0; i < call->head_dim; i++) {
        float x = element(call, s, row, head, i, n);
        int is_other = i == call->head_dim / 2 && varies(call, s, row, head);
        store(call->out, CP_FP32, out_at(call, row, head) + i, is_other ? next(x) : x);
    }
    if (call->lse != NULL) {
        float lse = n > 0.0F ? m + logf(n) : -INFINITY;
        int is_other = n > 0.0F && lse_varies(call);
        store(call->lse, CP_FP32, lse_at(call, row, head), is_other ? next(lse) : lse);
    }
}

static int attend(const struct cp_kernel_call *call) {
    each_row(call, attend_one);
    return 0;
}

const struct cp_kernel cp_kernel = {
    .abi = CP_KERNEL_ABI,
    .name = "varies",
    .q_type = CP_FP16,
    .kv_type = CP_FP16,
    .out_type = CP_FP32,
    .lse_type = CP_FP32,
    .conventions = {.invariant = CP_INVARIANT_CUTS},
    .arithmetic = {.score = CP_SUM_FP32,
                   .weights = CP_FP16,
                   .values = CP_SUM_FP32,
                   .partials = CP_FP32,
                   .exp_error = EXPF_ERROR,
                   .step = 1},
    .workspace = scores_of_a_row,
    .attend = attend,
};
