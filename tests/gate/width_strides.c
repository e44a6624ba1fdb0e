/* SPDX-License-Identifier: Apache-2.0 */
/* Values of any width (CONV-13), by strides, through the table of chunks: online softmax in tiles
 * of TILE keys, in binary32. */
#include <math.h>
#include <string.h>

#include "kernel_util.h"

#define TILE 16

/* The sums of a query row and head. */
struct sums {
    float m, n;
    float *o; /* [d_v] */
};

static float score_of(const struct cp_kernel_call *call, long long q, long long k) {
    float dot = 0.0F;
    for (int i = 0; i < call->head_dim; i++) {
        dot += load(call->q, CP_FP16, q + i) * load(call->k, CP_FP16, k + i);
    }
    return dot * (float)call->scale;
}

/* Keys from .. end - 1 of a sequence, which are in one chunk. */
static void add_tile(const struct cp_kernel_call *call, int s, long long q, int kv_head, int from,
                     int end, struct sums *sums) {
    int chunk = chunk_of(call, s, from), d_v = call->value_dim;
    float score[TILE], largest = sums->m;
    for (int j = from; j < end; j++) {
        score[j - from] = score_of(call, q, k_at(call, chunk, kv_head, j % call->chunk_size));
        largest = fmaxf(largest, score[j - from]);
    }
    float rescale = expf(sums->m - largest);
    sums->n *= rescale;
    for (int i = 0; i < d_v; i++) {
        sums->o[i] *= rescale;
    }
    for (int j = from; j < end; j++) {
        float weight = expf(score[j - from] - largest);
        long long v = v_at(call, chunk, kv_head, j % call->chunk_size);
        sums->n += weight;
        for (int i = 0; i < d_v; i++) {
            sums->o[i] += weight * load(call->v, CP_FP16, v + i);
        }
    }
    sums->m = largest;
}

static void attend_row(const struct cp_kernel_call *call, int s, int row, int head) {
    int kv_head = head / group_size(call), d_v = call->value_dim, seen = keys_seen(call, s, row);
    struct sums sums = {-INFINITY, 0.0F, call->workspace};
    memset(sums.o, 0, (size_t)d_v * sizeof *sums.o);
    for (int from = 0, end; from < seen; from = end) {
        int next_chunk = (from / call->chunk_size + 1) * call->chunk_size;
        end = from + TILE < next_chunk ? from + TILE : next_chunk;
        end = end < seen ? end : seen;
        add_tile(call, s, q_at(call, row, head), kv_head, from, end, &sums);
    }
    for (int i = 0; i < d_v; i++) {
        store(call->out, CP_FP16, out_at(call, row, head) + i,
              sums.n > 0.0F ? sums.o[i] / sums.n : 0.0F);
    }
    if (call->lse != NULL) {
        ((float *)call->lse)[lse_at(call, row, head)] =
            sums.n > 0.0F ? sums.m + logf(sums.n) : -INFINITY;
    }
}

static int attend(const struct cp_kernel_call *call) {
    each_row(call, attend_row);
    return 0;
}

static size_t workspace(const struct cp_kernel_call *call) {
    return (size_t)call->value_dim * sizeof(float);
}

const struct cp_kernel cp_kernel = {
    .abi = CP_KERNEL_ABI,
    .name = "width-strides",
    .q_type = CP_FP16,
    .kv_type = CP_FP16,
    .out_type = CP_FP16,
    .lse_type = CP_FP32,
    .widths = CP_WIDTHS_ANY,
    .arithmetic = {.score = CP_SUM_FP32,
                   .weights = CP_FP32,
                   .values = CP_SUM_FP32,
                   .partials = CP_FP32,
                   .exp_error = EXPF_ERROR,
                   .step = TILE},
    .workspace = workspace,
    .attend = attend,
};
