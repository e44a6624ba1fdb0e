/* SPDX-License-Identifier: Apache-2.0 */
/* Integers of 8 bits in pages of 16, [slot][K/V head][d], with a scale for each token and head that
 * lies likewise: [page][slot][K/V head] (CONV-10, CONV-11). */
#include <math.h>
#include <string.h>

#include "kernel_util.h"

#define PAGE 16

/* Where a key is: its numbers in K and in V, and its scale. */
struct key_place {
    const int8_t *k, *v;
    float k_scale, v_scale;
};

static struct key_place find_key(const struct cp_kernel_call *call, int s, int j, int kv_head) {
    int page = call->page_table[(long long)s * call->page_table_width + j / PAGE], slot = j % PAGE;
    long long scale = ((long long)page * PAGE + slot) * call->n_kv_heads + kv_head;
    return (struct key_place){(const int8_t *)call->k + k_at(call, page, kv_head, slot),
                              (const int8_t *)call->v + v_at(call, page, kv_head, slot),
                              call->k_scales[scale], call->v_scales[scale]};
}

static void attend_row(const struct cp_kernel_call *call, int s, int row, int head) {
    int kv_head = head / group_size(call), d = call->head_dim;
    float *o = call->workspace, m = -INFINITY, n = 0.0F;
    memset(o, 0, (size_t)d * sizeof *o);
    for (int j = 0; j < keys_seen(call, s, row); j++) {
        struct key_place key = find_key(call, s, j, kv_head);
        float dot = 0.0F;
        for (int i = 0; i < d; i++) {
            dot += load(call->q, CP_FP16, q_at(call, row, head) + i) * (float)key.k[i];
        }
        float score = dot * key.k_scale * (float)call->scale, largest = fmaxf(m, score);
        float weight = expf(score - largest), rescale = expf(m - largest);
        n = n * rescale + weight;
        for (int i = 0; i < d; i++) {
            o[i] = o[i] * rescale + weight * (key.v_scale * (float)key.v[i]);
        }
        m = largest;
    }
    for (int i = 0; i < d; i++) {
        store(call->out, CP_FP16, out_at(call, row, head) + i, n > 0.0F ? o[i] / n : 0.0F);
    }
}

static int attend(const struct cp_kernel_call *call) {
    each_row(call, attend_row);
    return 0;
}

static size_t workspace(const struct cp_kernel_call *call) {
    return (size_t)call->head_dim * sizeof(float);
}

const struct cp_kernel cp_kernel = {
    .abi = CP_KERNEL_ABI,
    .name = "page-slot-scales",
    .q_type = CP_FP16,
    .kv_type = CP_FP16,
    .out_type = CP_FP16,
    .lse_type = CP_NO_LSE,
    .cache = {CP_CACHE_INT8, CP_CACHE_INT8, CP_CACHE_SCALE_TOKEN},
    .layout = {.pages = CP_PAGES_OWN,
               .page_size = PAGE,
               .order = CP_ORDER_NHD,
               .scale_order = CP_SCALES_BY_SLOT},
    .arithmetic = {.score = CP_SUM_FP32,
                   .weights = CP_FP32,
                   .k_dequantised = CP_FP32,
                   .v_dequantised = CP_FP32,
                   .values = CP_SUM_FP32,
                   .partials = CP_FP32,
                   .exp_error = EXPF_ERROR,
                   .step = 1},
    .workspace = workspace,
    .attend = attend,
};
