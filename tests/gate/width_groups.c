/* SPDX-License-Identifier: Apache-2.0 */
/* Modelled on fmha of Composable Kernel, with hdim_q and hdim_v of their own, padded or not
 * (kPadHeadDimQ, kPadHeadDimV), and on decoding of grouped heads that reads a key once for all
 * heads of its group. Any widths, any strides, any runs, K and V in two tensors, binary32.
 * Products go by vectors of 8 numbers, with a tail. Somebody who had seen the header and the
 * specification alone wrote it, with the mistakes that tests/faults/ makes of it. */
#include "page_numbers.h"

enum { VECTOR = 8, STEP = 16 };

/* In the workspace, for each query head of a group: m, n and the factor of the step, its scores,
 * and o. */
static size_t per_head(const struct cp_kernel_call *c) {
    return 3 + STEP + (size_t)c->value_dim;
}

static size_t workspace(const struct cp_kernel_call *c) {
    return (size_t)(c->n_heads / c->n_kv_heads) * per_head(c) * sizeof(float);
}

static float dot(const float *q, const float *k, int d) {
    float lane[VECTOR] = {0}, sum = 0;
    int i = 0;
    for (; i + VECTOR <= d; i += VECTOR)
        for (int x = 0; x < VECTOR; x++)
            lane[x] += q[i + x] * k[i + x];
    for (; i < d; i++)
        lane[0] += q[i] * k[i];
    for (int x = 0; x < VECTOR; x++)
        sum += lane[x];
    return sum;
}

static void add(float *o, float weight, const float *v, const struct cp_kernel_call *c) {
    int i = 0;
    for (; i + VECTOR <= c->value_dim; i += VECTOR)
        for (int x = 0; x < VECTOR; x++)
            o[i + x] += weight * v[i + x];
    const int end = c->value_dim;
    for (; i < end; i++)
        o[i] += weight * v[i];
}

static void step(const struct cp_kernel_call *c, const float *q, const float *k, const float *v,
                 int keys, float *head) {
    float *m = head, *n = head + 1, *score = head + 3, *o = head + 3 + STEP;
    float top = *m;
    for (int j = 0; j < keys; j++) {
        const float scale = (float)c->scale;
        score[j] = scale * dot(q, k + j * c->k_slot, c->head_dim);
        if (score[j] > top)
            top = score[j];
    }
    if (top > *m) {
        const float factor = *n > 0 ? expf(*m - top) : 0;
        const int width = c->value_dim;
        for (int i = 0; i < width; i++)
            o[i] *= factor;
        *n *= factor;
        *m = top;
    }
    for (int j = 0; j < keys; j++) {
        const float weight = expf(score[j] - *m);
        *n += weight;
        add(o, weight, v + j * c->v_slot, c);
    }
}

static void finish(const struct cp_kernel_call *c, int row, int a, const float *head) {
    const float m = head[0], n = head[1], *o = head + 3 + STEP;
    float *out = (float *)c->out + row * c->out_row + a * c->out_head;
    for (int i = 0; i < c->value_dim; i++)
        out[i] = n > 0 ? o[i] / n : 0;
    if (!c->lse)
        return;
    const long long at = row * c->lse_row + a * c->lse_head;
    ((float *)c->lse)[at] = n > 0 ? m + logf(n) : -INFINITY;
}

static void group_of(const struct cp_kernel_call *c, int s, int row, int g) {
    const int group = c->n_heads / c->n_kv_heads;
    const size_t apart = per_head(c);
    float *heads = c->workspace;
    for (int a = 0; a < group; a++) {
        float *head = heads + (size_t)a * apart;
        head[0] = -INFINITY;
        head[1] = 0;
        const int zeros = c->value_dim;
        memset(head + 3 + STEP, 0, (size_t)zeros * sizeof(float));
    }
    const size_t line = (size_t)s * (size_t)c->table_width;
    for (int i = 0; i < c->table_width && c->table[line + (size_t)i] >= 0; i++) {
        const size_t at = line + (size_t)i;
        int seen = c->position[row] + 1 - c->table_position[at];
        const int most = c->table_tokens[at];
        seen = seen < 0 ? 0 : seen < most ? seen : most;
        const float *k = (const float *)c->k + c->table[at] * c->k_chunk + g * c->k_head;
        const float *v = (const float *)c->v + c->table[at] * c->v_chunk + g * c->v_head;
        for (int j = 0; j < seen; j += STEP)
            for (int a = 0; a < group; a++) {
                const float *q = (const float *)c->q + row * c->q_row + (g * group + a) * c->q_head;
                step(c, q, k + j * c->k_slot, v + j * c->v_slot, seen - j < STEP ? seen - j : STEP,
                     heads + (size_t)a * apart);
            }
    }
    for (int a = 0; a < group; a++)
        finish(c, row, g * group + a, heads + (size_t)a * apart);
}

static int attend(const struct cp_kernel_call *c) {
    for (int s = 0; s < c->n_sequences; s++)
        for (int row = c->query_begin[s]; row < c->query_begin[s + 1]; row++)
            for (int g = 0; g < c->n_kv_heads; g++)
                group_of(c, s, row, g);
    return 0;
}

const struct cp_kernel cp_kernel = {
    .abi = CP_KERNEL_ABI,
    .name = "width-groups",
    .q_type = CP_FP32,
    .kv_type = CP_FP32,
    .out_type = CP_FP32,
    .lse_type = CP_FP32,
    .plans = CP_PLANS_LISTS,
    .widths = CP_WIDTHS_ANY,
    .arithmetic = {.score = CP_SUM_FP32,
                   .weights = CP_FP32,
                   .rotated = CP_FP32,
                   .k_dequantised = CP_FP32,
                   .v_dequantised = CP_FP32,
                   .scales = CP_SCALES_SCORES,
                   .values = CP_SUM_FP32,
                   .partials = CP_FP32,
                   .factors = CP_FACTORS_FP32,
                   .exp_error = 0x1p-22,
                   .step = STEP},
    .workspace = workspace,
    .attend = attend,
};
