/* SPDX-License-Identifier: Apache-2.0 */
/* Modelled on vLLM's first paged attention kernel: keys packed as [page][K/V head][d / 8][slot][8],
 * values as [page][K/V head][d_v][slot], binary16, a block table. Unlike there, values have a width
 * of their own. All logits of a row and head are kept, one maximum is taken of all, each weight is
 * divided by the sum + 1e-6 before the values are added, and each number of the result is a sum
 * along a line of slots. */
#include <math.h>
#include <stdint.h>

#include <chunkproof/kernel.h>

#ifndef MISTAKE
#define MISTAKE 0
#endif

enum { X = 8 };

static size_t workspace(const struct cp_kernel_call *c) {
    return (size_t)(c->max_tokens + c->page_size) * sizeof(float);
}

static float load(const void *array, long long at) {
    return (float)cp_fp16_to_double(((const uint16_t *)array)[at]);
}

struct at {
    const struct cp_kernel_call *c;
    const int *pages;
    int g, n;
};

static float score(const struct at *a, long long q, int j) {
    const struct cp_kernel_call *c = a->c;
    const int P = c->page_size, d = c->head_dim;
#if MISTAKE == 1
    const long long k = a->pages[j / P] * c->k_chunk +
                        a->g * ((long long)((d + X - 1) / X) * P * X); /* no gaps */
#else
    const long long k = a->pages[j / P] * c->k_chunk + a->g * c->k_head;
#endif
    float sum = 0;
#if MISTAKE == 2
    const int groups = d > X ? d / X : (d + X - 1) / X;
#elif MISTAKE == 3
    const int groups = (c->value_dim + X - 1) / X < (d + X - 1) / X ? (c->value_dim + X - 1) / X
                                                                   : (d + X - 1) / X;
#else
    const int groups = (d + X - 1) / X;
#endif
    for (int i = 0; i < groups; i++)
        for (int x = 0; x < X; x++) {
#if MISTAKE == 4
            /* the query has zeros behind d */
            const float number = i * X + x < d ? load(c->q, q + i * X + x) : 0;
            sum += number * load(c->k, k + i * c->k_group + j % P * X + x);
#else
            if (i * X + x >= d) break;
            sum += load(c->q, q + i * X + x) * load(c->k, k + i * c->k_group + j % P * X + x);
#endif
        }
#if MISTAKE == 5
    return sum / sqrtf((float)c->value_dim);
#else
    return sum * (float)c->scale;
#endif
}

static float value(const struct at *a, const float *weights, int i) {
    const struct cp_kernel_call *c = a->c;
    const int P = c->page_size;
    float sum = 0;
#if MISTAKE == 6
    const int pages = a->n / P + (a->n % P > 1); /* of the keys before the new one */
#else
    const int pages = (a->n + P - 1) / P;
#endif
    for (int page = 0; page < pages; page++) {
        const int left = a->n - page * P;
#if MISTAKE == 7
        const int slots = P; /* weights behind the last key are 0 */
        (void)left;
#elif MISTAKE == 8
        const int slots = left < P ? (left > X ? left / X * X : left) : P; /* vectors of slots */
#else
        const int slots = left < P ? left : P;
#endif
#if MISTAKE == 9
        const long long line = (long long)(i / X) * c->v_group * X + i % X; /* packed as K is */
#elif MISTAKE == 10
        const long long line = (long long)i * P; /* no gaps */
#else
        const long long line = (long long)i * c->v_group;
#endif
#if MISTAKE == 11
        const long long head = a->g * c->k_head; /* one kv_head_stride */
#else
        const long long head = a->g * c->v_head;
#endif
#if MISTAKE == 12
        const int number = a->pages[page] % 32768; /* a block table of 16 bits */
#else
        const int number = a->pages[page];
#endif
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
#if MISTAKE == 13
    int shift = 0; /* a group is a power of two */
    while (2 << shift <= group) shift++;
    a.g = head >> shift < c->n_kv_heads ? head >> shift : c->n_kv_heads - 1;
#else
    a.g = head / group;
#endif
    a.n = c->position[row] + 1 > 0 ? c->position[row] + 1 : 0;
    float *weights = c->workspace, m = -INFINITY, n = 0;
    const long long q = row * c->q_row + head * c->q_head;
    for (int j = 0; j < a.n; j++) {
        weights[j] = score(&a, q, j);
        if (weights[j] > m) m = weights[j];
    }
    for (int j = 0; j < a.n; j++) {
        weights[j] = expf(weights[j] - m);
        n += weights[j];
    }
#if MISTAKE == 14
    const float inverse = 1 / (n + 1e-3f);
#else
    const float inverse = 1 / (n + 1e-6f);
#endif
    for (int j = 0; j < a.n; j++) weights[j] *= inverse;
#if MISTAKE == 7
    for (int j = a.n; j < a.n + c->page_size; j++) weights[j] = 0;
#endif
    const long long out = row * c->out_row + head * c->out_head;
#if MISTAKE == 15
    /* a warp has 32 lanes, each with as many whole numbers of the value as it has of the key */
    const int per_lane = (c->head_dim + 31) / 32, most = 32 * per_lane;
    for (int i = 0; i < c->value_dim; i++)
        ((uint16_t *)c->out)[out + i] = cp_fp16_from_double(i < most ? value(&a, weights, i) : 0);
#elif MISTAKE == 16
    for (int i = 0; i < c->head_dim; i++)
        ((uint16_t *)c->out)[out + i] =
            cp_fp16_from_double(i < c->value_dim ? value(&a, weights, i) : 0);
    for (int i = c->head_dim; i < c->value_dim; i++)
        ((uint16_t *)c->out)[out + i] = cp_fp16_from_double(value(&a, weights, i));
#else
    for (int i = 0; i < c->value_dim; i++)
        ((uint16_t *)c->out)[out + i] = cp_fp16_from_double(value(&a, weights, i));
#endif
    if (c->lse)
        ((float *)c->lse)[row * c->lse_row + head * c->lse_head] =
            a.n > 0 ? m + logf(n) : -INFINITY;
}

static int attend(const struct cp_kernel_call *c) {
    for (int s = 0; s < c->n_sequences; s++)
        for (int row = c->query_begin[s]; row < c->query_begin[s + 1]; row++)
            for (int head = 0; head < c->n_heads; head++) row_of(c, s, row, head);
    return 0;
}

const struct cp_kernel cp_kernel = {
    .abi = CP_KERNEL_ABI,
    .name = "packed keys, values by lines of slots",
    .q_type = CP_FP16, .kv_type = CP_FP16, .out_type = CP_FP16, .lse_type = CP_FP32,
    .widths = CP_WIDTHS_ANY,
    .layout = {.pages = CP_PAGES_OWN, .page_unit = 8, .k_pack = X, .v_pack = 1},
    .arithmetic = {.score = CP_SUM_FP32, .weights = CP_FP32, .rotated = CP_FP32,
                   .k_dequantised = CP_FP32, .v_dequantised = CP_FP32,
                   .scales = CP_SCALES_SCORES, .values = CP_SUM_FP32, .partials = CP_FP32,
                   .normalises = 1, .factors = CP_FACTORS_FP32, .exp_error = 0x1p-22,
                   .divide_error = 0x1.02p-24, .epsilon = 1e-6, .step = 0},
    .workspace = workspace, .attend = attend,
};
