/* SPDX-License-Identifier: Apache-2.0 */
/* Modelled on the decoding of MLA in Triton, as SGLang and vLLM have it
 * (_fwd_grouped_kernel_stage1 and _fwd_kernel_stage2, after LightLLM). Values are in their keys;
 * pages of any size by indptr and indices; blocks of 16 query heads of a K/V head. The score is
 * that of a first part, a power of two wide, and of the rotated part behind it. Stage 1 writes
 * for each split of the keys o / n, and behind these d_v numbers the log-sum-exp; stage 2 merges
 * the splits that have keys. Somebody who had seen the header and the specification alone wrote
 * it, with the mistakes that tests/faults/ makes of it. */
#include "page_numbers.h"

enum { SPLITS = 4, BLOCK_N = 32, BLOCK_H = 16, MOST = 1024 };

static const char *refuses(const struct cp_kernel_call *c) {
    return c->head_dim > MOST ? "head_dim is above 1024" : NULL;
}

static size_t entry(const struct cp_kernel_call *c) {
    return (size_t)c->value_dim + 1;
}

static size_t workspace(const struct cp_kernel_call *c) {
    const size_t numbers = entry(c);
    return (size_t)c->n_rows * (size_t)c->n_heads * SPLITS * numbers * sizeof(float);
}

/* The keys of split i of n keys: from *begin to *end - 1. */
static void split_of(int n, int i, int *begin, int *end) {
    const int each = (n + SPLITS - 1) / SPLITS;
    const int length = (each + BLOCK_N - 1) / BLOCK_N * BLOCK_N;
    *begin = i * length < n ? i * length : n;
    *end = *begin + length < n ? *begin + length : n;
}

static float dot(const uint16_t *q, const uint16_t *k, int from, int to) {
    float sum = 0;
    for (int i = from; i < to; i++)
        sum += h2f(q[i]) * h2f(k[i]);
    return sum;
}

static const uint16_t *key(const struct cp_kernel_call *c, int s, int j, int g) {
    const int page = c->page_list[c->page_begin[s] + j / c->page_size];
    return (const uint16_t *)c->k + page * c->k_chunk + g * c->k_head +
           j % c->page_size * c->k_slot;
}

static int seen_by(const struct cp_kernel_call *c, int s, int row) {
    const int seen = c->position[row] + 1;
    return seen < 0 ? 0 : seen < c->n_tokens[s] ? seen : c->n_tokens[s];
}

/* Stage 1 of one row, query head and split. */
static void stage1(const struct cp_kernel_call *c, int s, int row, int head, int g, int split,
                   float *to) {
    const uint16_t *q = (const uint16_t *)c->q + row * c->q_row + head * c->q_head;
    const int d = c->head_dim, dv = c->value_dim;
    int model = 1;
    while (2 * model <= d)
        model *= 2;
    const int end_of_key = d;
    int begin, end;
    split_of(seen_by(c, s, row), split, &begin, &end);
    if (begin >= end)
        return;
    float m = -INFINITY;
    float n = 0, p[BLOCK_N];
    memset(to, 0, (size_t)dv * sizeof *to);
    const float scale = (float)c->scale;
    for (int first = begin; first < end; first += BLOCK_N) {
        const int keys = end - first < BLOCK_N ? end - first : BLOCK_N;
        float top = m;
        for (int j = 0; j < keys; j++) {
            const uint16_t *k = key(c, s, first + j, g);
            p[j] = (dot(q, k, 0, model) + dot(q, k, model, end_of_key)) * scale;
            if (p[j] > top)
                top = p[j];
        }
        const float factor = n > 0 ? expf(m - top) : 0;
        for (int i = 0; i < dv; i++)
            to[i] *= factor;
        n *= factor;
        for (int j = 0; j < keys; j++) {
            const uint16_t *v = key(c, s, first + j, g);
            const float weight = expf(p[j] - top);
            const float rounded = h2f(f2h(weight));
            for (int i = 0; i < dv; i++)
                to[i] += rounded * h2f(v[i]);
            n += weight;
        }
        m = top;
    }
    for (int i = 0; i < dv; i++)
        to[i] /= n;
    to[dv] = m + logf(n);
}

static void stage2(const struct cp_kernel_call *c, int s, int row, int head, float *from) {
    const int dv = c->value_dim;
    float *o = from; /* of split 0, if any */
    float m = -INFINITY, sum = 0;
    for (int i = 0; i < SPLITS; i++) {
        const float *part = from + (size_t)i * entry(c);
        int begin, end;
        split_of(seen_by(c, s, row), i, &begin, &end);
        if (begin >= end)
            continue;
        const float lse = part[dv];
        const float top = lse > m ? lse : m;
        const float old = sum > 0 ? expf(m - top) : 0, add = expf(lse - top);
        const int numbers = dv;
        if (i == 0)
            for (int x = 0; x < dv; x++)
                o[x] *= add;
        else
            for (int x = 0; x < numbers; x++)
                o[x] = o[x] * old + add * part[x];
        sum = sum * old + add;
        m = top;
    }
    uint16_t *out = (uint16_t *)c->out + row * c->out_row + head * c->out_head;
    for (int i = 0; i < dv; i++)
        out[i] = f2h(sum > 0 ? o[i] / sum : 0);
    if (!c->lse)
        return;
    float *lse = (float *)c->lse + row * c->lse_row + head * c->lse_head;
    *lse = sum > 0 ? m + logf(sum) : -INFINITY;
}

static int attend(const struct cp_kernel_call *c) {
    const int group = c->n_heads / c->n_kv_heads;
    const size_t apart = entry(c);
    for (int s = 0; s < c->n_sequences; s++)
        for (int row = c->query_begin[s]; row < c->query_begin[s + 1]; row++) {
            float *parts =
                (float *)c->workspace + (size_t)row * (size_t)c->n_heads * SPLITS * entry(c);
            /* the blocks come in no order; this one is from the last K/V head to the first */
            for (int g = c->n_kv_heads - 1; g >= 0; g--)
                for (int first = 0; first < group; first += BLOCK_H) {
                    const int many = group - first < BLOCK_H ? group - first : BLOCK_H;
                    for (int i = 0; i < many && g * group + first + i < c->n_heads; i++) {
                        const int head = g * group + first + i;
                        for (int split = 0; split < SPLITS; split++)
                            stage1(c, s, row, head, g, split,
                                   parts + ((size_t)head * SPLITS + (size_t)split) * apart);
                    }
                }
            for (int head = 0; head < c->n_heads; head++)
                stage2(c, s, row, head, parts + (size_t)head * SPLITS * entry(c));
        }
    return 0;
}

const struct cp_kernel cp_kernel = {
    .abi = CP_KERNEL_ABI,
    .name = "width-two-stages",
    .q_type = CP_FP16,
    .kv_type = CP_FP16,
    .out_type = CP_FP16,
    .lse_type = CP_FP32,
    .widths = CP_WIDTHS_ANY,
    .layout = {.pages = CP_PAGES_OWN, .tensors = CP_TENSORS_KEYS},
    .arithmetic = {.score = CP_SUM_FP32,
                   .weights = CP_FP16,
                   .rotated = CP_FP32,
                   .k_dequantised = CP_FP32,
                   .v_dequantised = CP_FP32,
                   .scales = CP_SCALES_SCORES,
                   .values = CP_SUM_FP32,
                   .partials = CP_FP32,
                   .divides = 1,
                   .factors = CP_FACTORS_FP32,
                   .exp_error = 0x1p-22,
                   .step = BLOCK_N},
    .refuses = refuses,
    .workspace = workspace,
    .attend = attend,
};
