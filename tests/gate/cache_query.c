/* SPDX-License-Identifier: Apache-2.0 */
/* A kernel for a cache with K in E5M2, V in E4M3 and a scale for each K/V head (CONV-10). The query
 * is multiplied by the scale of the scores times that of K, in binary32. Each run, shared ones
 * first, is read key by key into a part, which is merged at once; the scale of V is put on o there.
 * binary32 queries, bfloat16 results. By the author of cache_tiles.c. */
#include "cache_numbers.h"

/* NUM-16: bits in the places of binary32; 2^112 makes up for the bias of 15. */
static float from_e5m2(uint8_t x) {
    uint32_t bits = (uint32_t)(x & 0x80) << 24 | (uint32_t)(x & 0x7F) << 21;
    float y;
    memcpy(&y, &bits, sizeof y);
    return y * 0x1p112F;
}

/* Normal numbers in the bits of binary32, and subnormal ones by a product. */
static float by_cases(uint8_t x) {
    int e = x >> 3 & 15;
    uint32_t bits = (uint32_t)(e + 120) << 23 | (uint32_t)(x & 7) << 20;
    float y;
    memcpy(&y, &bits, sizeof y);
    y = e == 0 ? (float)(x & 7) * 0x1p-9F : y;
    return (x & 0x80) != 0 ? -y : y;
}

/* The workspace: d numbers of the query, d of a part, then of each row and head m, n, o. */
static size_t workspace(const struct cp_kernel_call *call) {
    size_t d = (size_t)call->head_dim;
    return (2 * d + (size_t)call->n_rows * (size_t)call->n_heads * (2 + d)) * sizeof(float);
}

static float *state_of(const struct cp_kernel_call *call, int row, int head) {
    long long at = (long long)row * call->n_heads + head;
    return (float *)call->workspace + 2 * call->head_dim + at * (2 + call->head_dim);
}

static void scale_query(const struct cp_kernel_call *call, int row, int head, float *scaled) {
    const float *q = (const float *)call->q + q_at(call, row, head);
    float factor = (float)call->scale * call->k_scales[head / group_size(call)];
    for (int i = 0; i < call->head_dim; i++) {
        scaled[i] = q[i] * factor;
    }
}

/* The first `seen` keys of a chunk become the part. */
static void read_chunk(const struct cp_kernel_call *call, int chunk, int kv_head, int seen,
                       struct state *part) {
    const float *scaled = call->workspace;
    clear(call, part);
    for (int slot = 0; slot < seen; slot++) {
        const uint8_t *k = key_of(call, chunk, kv_head, slot);
        const uint8_t *v = value_of(call, chunk, kv_head, slot);
        float score = 0.0F;
        for (int i = 0; i < call->head_dim; i++) {
            score += scaled[i] * from_e5m2(k[i]);
        }
        rescale(call, part, fmaxf(part->m, score));
        float weight = expf(score - part->m);
        part->n += weight;
        for (int i = 0; i < call->head_dim; i++) {
            part->o[i] += weight * by_cases(v[i]);
        }
    }
}

static void merge(const struct cp_kernel_call *call, float *state, const struct state *part,
                  float v_scale) {
    float largest = fmaxf(state[0], part->m);
    float x = expf(state[0] - largest), y = expf(part->m - largest);
    state[0] = largest;
    state[1] = state[1] * x + part->n * y;
    for (int i = 0; i < call->head_dim; i++) {
        state[2 + i] = state[2 + i] * x + part->o[i] * v_scale * y;
    }
}

static void add_run(const struct cp_kernel_call *call, int s, struct cp_run run) {
    struct state part = {.o = (float *)call->workspace + call->head_dim};
    for (int row = call->query_begin[s]; row < call->query_begin[s + 1]; row++) {
        int seen = seen_in_run(run, call->position[row]);
        for (int head = 0; seen > 0 && head < call->n_heads; head++) {
            int g = head / group_size(call);
            scale_query(call, row, head, call->workspace);
            read_chunk(call, run.chunk, g, seen, &part);
            merge(call, state_of(call, row, head), &part, call->v_scales[g]);
        }
    }
}

static void start(const struct cp_kernel_call *call, int s, int row, int head) {
    float *state = state_of(call, row, head);
    (void)s;
    state[0] = -INFINITY;
    memset(state + 1, 0, (1 + (size_t)call->head_dim) * sizeof *state);
}

static void finish(const struct cp_kernel_call *call, int s, int row, int head) {
    float *state = state_of(call, row, head);
    (void)s;
    write_result(call, CP_BF16, row, head, &(struct state){state[0], state[1], state + 2});
}

static int attend(const struct cp_kernel_call *call) {
    each_row(call, start);
    for (int i = 0; i < call->n_shared; i++) {
        for (int s = call->shared[i].begin; s < call->shared[i].end; s++) {
            add_run(call, s, shared_run(call, i));
        }
    }
    for (int s = 0; s < call->n_sequences; s++) {
        for (int k = call->n_shared_chunks[s]; k < n_runs_of(call, s); k++) {
            add_run(call, s, run_of(call, s, k));
        }
    }
    each_row(call, finish);
    return 0;
}

const struct cp_kernel cp_kernel = {
    .abi = CP_KERNEL_ABI,
    .name = "cache-query",
    .q_type = CP_FP32,
    .kv_type = CP_FP16,
    .out_type = CP_BF16,
    .lse_type = CP_FP32,
    .plans = CP_PLANS_RANGES,
    .cache = {.k = CP_CACHE_E5M2, .v = CP_CACHE_E4M3, .scales = CP_CACHE_SCALE_HEAD},
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
