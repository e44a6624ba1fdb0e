/* SPDX-License-Identifier: Apache-2.0 */
/* A two-phase kernel for prefixes that are shared in a cache without positions, in binary16.
 *
 *   cc -O2 -shared -fPIC -o raw_keys_tree.so raw_keys_tree.c $(pkg-config --cflags chunkproof) -lm
 *
 * The first phase rotates each shared chunk once, and leaves a partial result for each row that it
 * serves: the log-sum-exp and the output over its keys. The second phase makes one partial result
 * of the row's own chunks, and merges. A row sees the first keys of its path up to its position. */
#include <chunkproof/kernel.h>
#include <math.h>
#include <string.h>

static float from_half(uint16_t half) {
    uint32_t bits = (uint32_t)(half & 0x7FFF) << 13;
    float x;
    memcpy(&x, &bits, sizeof x);
    return (half & 0x8000) != 0 ? -(x * 0x1p112F) : x * 0x1p112F;
}

static uint16_t to_half(float x) { /* to nearest, ties to even */
    uint32_t bits, sign;
    memcpy(&bits, &x, sizeof bits);
    sign = bits >> 16 & 0x8000;
    bits &= 0x7FFFFFFF;
    if (bits >= 0x477FF000) { /* from 65520 on, and NaN */
        return (uint16_t)(sign | (bits > 0x7F800000 ? 0x7E00 : 0x7C00));
    }
    if (bits < 0x38800000) { /* subnormal: near 1/2 binary32 has the unit 2^-24 */
        float shifted = fabsf(x) + 0.5F;
        memcpy(&bits, &shifted, sizeof bits);
        return (uint16_t)(sign | (bits - 0x3F000000));
    }
    return (uint16_t)(sign | (bits + 0xFFF + (bits >> 13 & 1) - 0x38000000) >> 13);
}

/* The workspace: the rotated keys of a chunk [c][d], their scores [c], and for each row and head
 * the partial results: those of the path's shared chunks by depth, then that of its own chunks. A
 * partial result is m, n, o[d] while keys are added, and then l, unused, and o / n. */
static int parts_of(const struct cp_kernel_call *call) {
    return 1 + (call->n_shared < call->table_width ? call->n_shared : call->table_width);
}

static float *part_of(const struct cp_kernel_call *call, int row, int head, int part) {
    long long at = ((long long)row * call->n_heads + head) * parts_of(call) + part;
    return (float *)call->workspace + (long long)call->chunk_size * (call->head_dim + 1) +
           at * (2 + call->head_dim);
}

static size_t workspace(const struct cp_kernel_call *call) {
    size_t parts = (size_t)call->n_rows * (size_t)call->n_heads * (size_t)parts_of(call);
    size_t d = (size_t)call->head_dim;
    return ((size_t)call->chunk_size * (d + 1) + parts * (2 + d)) * sizeof(float);
}

/* GATE-14: the keys of a run and a K/V head, each rotated by its position. Pairs are halves. */
static void rotate(const struct cp_kernel_call *call, struct cp_run run, int kv_head) {
    int r = call->rotary_dim, half = r / 2;
    const uint16_t *k =
        (const uint16_t *)call->k + run.chunk * call->k_chunk + kv_head * call->k_head;
    float *key = call->workspace;
    for (int slot = 0; slot < run.n_tokens; slot++, k += call->k_slot, key += call->head_dim) {
        const float *turn = call->rotation + (long long)(run.position + slot) * r;
        for (int i = 0; i < half; i++) {
            float x = from_half(k[i]), y = from_half(k[half + i]);
            key[i] = turn[i] * x - turn[half + i] * y;
            key[half + i] = turn[half + i] * x + turn[i] * y;
        }
        for (int i = r; i < call->head_dim; i++) {
            key[i] = from_half(k[i]);
        }
    }
}

/* The rotated keys of a run, for one row and head. They have one maximum. */
static void add_run(const struct cp_kernel_call *call, struct cp_run run, int row, int head,
                    float *part) {
    int d = call->head_dim, before = call->position[row] - run.position;
    int seen = before < 0 ? 0 : before < run.n_tokens ? before + 1 : run.n_tokens;
    const uint16_t *q = (const uint16_t *)call->q + row * call->q_row + head * call->q_head;
    const uint16_t *v = (const uint16_t *)call->v + run.chunk * call->v_chunk +
                        head / (call->n_heads / call->n_kv_heads) * call->v_head;
    const float *key = call->workspace;
    float *score = (float *)call->workspace + (long long)call->chunk_size * d;
    float m = part[0];
    for (int slot = 0; slot < seen; slot++, key += d) {
        float dot = 0.0F;
        for (int i = 0; i < d; i++) {
            dot += from_half(q[i]) * key[i];
        }
        score[slot] = dot * (float)call->scale;
        m = fmaxf(m, score[slot]);
    }
    float rescale = part[0] < m ? expf(part[0] - m) : 1.0F;
    part[0] = m;
    for (int i = 1; i < 2 + d; i++) {
        part[i] *= rescale;
    }
    for (int slot = 0; slot < seen; slot++, v += call->v_slot) {
        float weight = expf(score[slot] - m), rounded = from_half(to_half(weight));
        part[1] += weight;
        for (int i = 0; i < d; i++) {
            part[2 + i] += rounded * from_half(v[i]);
        }
    }
}

/* A run, for the rows from begin to end - 1. */
static void serve(const struct cp_kernel_call *call, struct cp_run run, int begin, int end,
                  int part) {
    int group = call->n_heads / call->n_kv_heads;
    for (int kv_head = 0; kv_head < call->n_kv_heads; kv_head++) {
        rotate(call, run, kv_head);
        for (int row = begin; row < end; row++) {
            for (int head = kv_head * group; head < (kv_head + 1) * group; head++) {
                add_run(call, run, row, head, part_of(call, row, head, part));
            }
        }
    }
}

/* The log-sum-exp in place of m, and o / n in place of o. */
static void divide(const struct cp_kernel_call *call, float *part) {
    part[0] = part[1] > 0.0F ? part[0] + logf(part[1]) : -INFINITY;
    for (int i = 0; i < call->head_dim; i++) {
        part[2 + i] = part[1] > 0.0F ? part[2 + i] / part[1] : 0.0F;
    }
}

static void merge(const struct cp_kernel_call *call, int row, int head) {
    int d = call->head_dim, parts = parts_of(call);
    float *o = part_of(call, row, head, 0) + 2, m = -INFINITY, sum = 0.0F;
    uint16_t *out = (uint16_t *)call->out + row * call->out_row + head * call->out_head;
    for (int i = 0; i < parts; i++) {
        divide(call, part_of(call, row, head, i));
        m = fmaxf(m, part_of(call, row, head, i)[0]);
    }
    for (int i = 0; i < parts && m > -INFINITY; i++) {
        const float *part = part_of(call, row, head, i);
        float weight = expf(part[0] - m);
        sum += weight;
        for (int e = 0; e < d; e++) {
            o[e] = (i > 0 ? o[e] : 0.0F) + weight * part[2 + e];
        }
    }
    for (int e = 0; e < d; e++) {
        out[e] = sum > 0.0F ? to_half(o[e] / sum) : 0;
    }
    if (call->lse != NULL) {
        float *lse = (float *)call->lse + row * call->lse_row + head * call->lse_head;
        *lse = sum > 0.0F ? m + logf(sum) : -INFINITY;
    }
}

static int attend(const struct cp_kernel_call *call) {
    int heads = call->n_heads, parts = parts_of(call);
    for (long long at = 0; at < (long long)call->n_rows * heads * parts; at++) {
        float *part = part_of(call, 0, 0, 0) + at * (2 + call->head_dim);
        part[0] = -INFINITY;
        memset(part + 1, 0, (1 + (size_t)call->head_dim) * sizeof *part);
    }
    for (int i = 0; i < call->n_shared; i++) {
        const struct cp_shared_chunk *shared = &call->shared[i];
        struct cp_run run = {shared->chunk, shared->n_tokens, shared->position};
        int begin = call->query_begin[shared->begin], end = call->query_begin[shared->end];
        serve(call, run, begin, end, run.position / call->chunk_size);
    }
    for (int s = 0; s < call->n_sequences; s++) {
        long long at = (long long)s * call->table_width + call->n_shared_chunks[s];
        for (; call->table[at] >= 0; at++) {
            struct cp_run run = {call->table[at], call->table_tokens[at], call->table_position[at]};
            serve(call, run, call->query_begin[s], call->query_begin[s + 1], parts - 1);
        }
    }
    for (int at = 0; at < call->n_rows * heads; at++) {
        merge(call, at / heads, at % heads);
    }
    return 0;
}

const struct cp_kernel cp_kernel = {
    .abi = CP_KERNEL_ABI,
    .name = "tree_raw",
    .q_type = CP_FP16,
    .kv_type = CP_FP16,
    .out_type = CP_FP16,
    .lse_type = CP_FP32,
    .plans = CP_PLANS_TREES,
    .keys = CP_KEYS_RAW,
    .pairs = CP_PAIRS_HALVES,
    .arithmetic = {.score = CP_SUM_FP32,
                   .weights = CP_FP16,
                   .rotated = CP_FP32,
                   .values = CP_SUM_FP32,
                   .partials = CP_FP32,
                   .divides = 1,
                   .exp_error = 0x1p-22,
                   .step = 0},
    .workspace = workspace,
    .attend = attend,
};
