/* SPDX-License-Identifier: Apache-2.0 */
/* Modelled on vLLM's first paged attention kernel: keys packed as [page][K/V head][d /
 * 8][slot][8], values as [page][K/V head][d_v][slot], binary16, a block table. Unlike there,
 * values have a width of their own. All logits of a row and head are kept, one maximum is taken
 * of all, each weight is divided by the sum + 1e-6 before the values are added, and each number
 * of the result is a sum along a line of slots. Somebody who had seen the header and the
 * specification alone wrote it, with the mistakes that tests/faults/ makes of it. */
#include "page_numbers.h"

enum { X = 8 };

static size_t workspace(const struct cp_kernel_call *c) {
    return (size_t)(c->max_tokens + c->page_size) * sizeof(float);
}

static float load(const void *array, long long at) {
    return h2f(((const uint16_t *)array)[at]);
}

struct at {
    const struct cp_kernel_call *c;
    const int *pages;
    int g, n;
};

static float score(const struct at *a, long long q, int j) {
    const struct cp_kernel_call *c = a->c;
    const int P = c->page_size, d = c->head_dim;
    const long long k = a->pages[j / P] * c->k_chunk + a->g * c->k_head;
    float sum = 0;
    const int groups = (d + X - 1) / X;
    for (int i = 0; i < groups; i++)
        for (int x = 0; x < X; x++) {
            if (i * X + x >= d)
                break;
            sum += load(c->q, q + i * X + x) * load(c->k, k + i * c->k_group + j % P * X + x);
        }
    return sum * (float)c->scale;
}

static float value(const struct at *a, const float *weights, int i) {
    const struct cp_kernel_call *c = a->c;
    const int P = c->page_size;
    float sum = 0;
    const int pages = (a->n + P - 1) / P;
    for (int page = 0; page < pages; page++) {
        const int left = a->n - page * P;
        const int slots = left < P ? left : P;
        const long long line = (long long)i * c->v_group;
        const long long head = a->g * c->v_head;
        const int number = a->pages[page];
        const long long v = number * c->v_chunk + head + line;
        for (int slot = 0; slot < slots; slot++)
            sum += weights[page * P + slot] * load(c->v, v + slot);
    }
    return sum;
}

static void row_of(const struct cp_kernel_call *c, int s, int row, int head) {
    const int group = c->n_heads / c->n_kv_heads;
    struct at a = {.c = c};
    a.pages = c->page_table + (size_t)s * (size_t)c->page_table_width;
    a.g = head / group;
    a.n = c->position[row] + 1 > 0 ? c->position[row] + 1 : 0;
    float *weights = c->workspace, m = -INFINITY, n = 0;
    const long long q = row * c->q_row + head * c->q_head;
    for (int j = 0; j < a.n; j++) {
        weights[j] = score(&a, q, j);
        if (weights[j] > m)
            m = weights[j];
    }
    for (int j = 0; j < a.n; j++) {
        weights[j] = expf(weights[j] - m);
        n += weights[j];
    }
    const float inverse = 1 / (n + 1e-6f);
    for (int j = 0; j < a.n; j++)
        weights[j] *= inverse;
    const long long out = row * c->out_row + head * c->out_head;
    for (int i = 0; i < c->value_dim; i++)
        ((uint16_t *)c->out)[out + i] = f2h(value(&a, weights, i));
    if (c->lse)
        ((float *)c->lse)[row * c->lse_row + head * c->lse_head] =
            a.n > 0 ? m + logf(n) : -INFINITY;
}

static int attend(const struct cp_kernel_call *c) {
    for (int s = 0; s < c->n_sequences; s++)
        for (int row = c->query_begin[s]; row < c->query_begin[s + 1]; row++)
            for (int head = 0; head < c->n_heads; head++)
                row_of(c, s, row, head);
    return 0;
}

const struct cp_kernel cp_kernel = {
    .abi = CP_KERNEL_ABI,
    .name = "width-packed",
    .q_type = CP_FP16,
    .kv_type = CP_FP16,
    .out_type = CP_FP16,
    .lse_type = CP_FP32,
    .widths = CP_WIDTHS_ANY,
    .layout = {.pages = CP_PAGES_OWN, .page_unit = 8, .k_pack = X, .v_pack = 1},
    .arithmetic = {.score = CP_SUM_FP32,
                   .weights = CP_FP32,
                   .rotated = CP_FP32,
                   .k_dequantised = CP_FP32,
                   .v_dequantised = CP_FP32,
                   .scales = CP_SCALES_SCORES,
                   .values = CP_SUM_FP32,
                   .partials = CP_FP32,
                   .normalises = 1,
                   .factors = CP_FACTORS_FP32,
                   .exp_error = 0x1p-22,
                   .divide_error = 0x1.02p-24,
                   .epsilon = 1e-6,
                   .step = 0},
    .workspace = workspace,
    .attend = attend,
};
