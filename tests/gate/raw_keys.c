/* SPDX-License-Identifier: Apache-2.0 */
/* A kernel for a cache of keys without positions, in binary16, with any plans of runs.
 *
 *   cc -O2 -shared -fPIC -ffp-contract=off -o raw_keys.so raw_keys.c
 *       $(pkg-config --cflags chunkproof) -lm
 *
 * It goes from key to key. A key is rotated by its own position as it is read, once for each run
 * that has it, and then goes into the states of all rows that see it. There is one state for each
 * query row and head. A chunk that stands at two positions is in two runs, and each of them has its
 * own rotation. */
#include <chunkproof/kernel.h>
#include <math.h>
#include <string.h>

/* Exact for all finite numbers: the exponents of the two formats differ by 112. */
static float from_half(uint16_t half) {
    uint32_t bits = (uint32_t)(half & 0x7FFF) << 13;
    float x;
    memcpy(&x, &bits, sizeof x);
    return (half & 0x8000) != 0 ? -(x * 0x1p112F) : x * 0x1p112F;
}

/* Rounds to nearest, ties to even. */
static uint16_t to_half(float x) {
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

/* Of a query row and head: the maximum m so far, the sum n of the weights exp(score - m), and the
 * sum o[d] of weight * v. The workspace begins with the rotated key. */
static float *state_of(const struct cp_kernel_call *call, int row, int head) {
    long long at = (long long)row * call->n_heads + head;
    return (float *)call->workspace + call->head_dim + at * (2 + call->head_dim);
}

static size_t workspace(const struct cp_kernel_call *call) {
    size_t states = (size_t)call->n_rows * (size_t)call->n_heads, d = (size_t)call->head_dim;
    return (d + states * (2 + d)) * sizeof(float);
}

/* GATE-14: the key k, rotated by row t of the table, in binary32. Pairs are halves. */
static void read_key(const struct cp_kernel_call *call, const uint16_t *k, int t, float *key) {
    int half = call->rotary_dim / 2;
    const float *cosine = call->rotation + (long long)t * call->rotary_dim;
    const float *sine = cosine + half;
    for (int i = 0; i < half; i++) {
        float x = from_half(k[i]), y = from_half(k[i + half]);
        key[i] = cosine[i] * x - sine[i] * y;
        key[i + half] = sine[i] * x + cosine[i] * y;
    }
    for (int i = call->rotary_dim; i < call->head_dim; i++) {
        key[i] = from_half(k[i]);
    }
}

static void add_key(const struct cp_kernel_call *call, const uint16_t *q, const float *key,
                    const uint16_t *v, float *state) {
    float *o = state + 2, dot = 0.0F;
    for (int i = 0; i < call->head_dim; i++) {
        dot += from_half(q[i]) * key[i];
    }
    float score = dot * (float)call->scale, largest = fmaxf(state[0], score);
    float weight = expf(score - largest);
    float rescale = expf(state[0] - largest); /* for the first key exp(-infinity), which is 0 */
    state[0] = largest;
    state[1] = state[1] * rescale + weight;
    for (int i = 0; i < call->head_dim; i++) {
        o[i] = o[i] * rescale + weight * from_half(v[i]);
    }
}

/* One key of a run, for the rows of a sequence that stand at its position t or behind it. */
static void serve(const struct cp_kernel_call *call, int s, int t, int kv_head, const float *key,
                  const uint16_t *v) {
    int group = call->n_heads / call->n_kv_heads;
    for (int row = call->query_begin[s]; row < call->query_begin[s + 1]; row++) {
        if (call->position[row] < t) {
            continue;
        }
        for (int head = kv_head * group; head < (kv_head + 1) * group; head++) {
            const uint16_t *q = (const uint16_t *)call->q + row * call->q_row + head * call->q_head;
            add_key(call, q, key, v, state_of(call, row, head));
        }
    }
}

/* All keys of a run, for n sequences that have it. Slots behind the keys are not read, and neither
 * are rows of the table behind the last key's. */
static void add_run(const struct cp_kernel_call *call, struct cp_run run, const int *sequence,
                    int n) {
    float *key = call->workspace;
    for (int kv_head = 0; kv_head < call->n_kv_heads; kv_head++) {
        const uint16_t *k =
            (const uint16_t *)call->k + run.chunk * call->k_chunk + kv_head * call->k_head;
        const uint16_t *v =
            (const uint16_t *)call->v + run.chunk * call->v_chunk + kv_head * call->v_head;
        for (int slot = 0; slot < run.n_tokens; slot++) {
            int t = run.position + slot;
            read_key(call, k + slot * call->k_slot, t, key);
            for (int i = 0; i < n; i++) {
                serve(call, sequence[i], t, kv_head, key, v + slot * call->v_slot);
            }
        }
    }
}

static void finish(const struct cp_kernel_call *call, int row, int head) {
    const float *state = state_of(call, row, head), *o = state + 2;
    uint16_t *out = (uint16_t *)call->out + row * call->out_row + head * call->out_head;
    for (int i = 0; i < call->head_dim; i++) {
        out[i] = state[1] > 0.0F ? to_half(o[i] / state[1]) : 0;
    }
    if (call->lse != NULL) {
        float *lse = (float *)call->lse + row * call->lse_row + head * call->lse_head;
        *lse = state[1] > 0.0F ? state[0] + logf(state[1]) : -INFINITY;
    }
}

static int attend(const struct cp_kernel_call *call) {
    for (int row = 0; row < call->n_rows; row++) {
        for (int head = 0; head < call->n_heads; head++) {
            float *state = state_of(call, row, head);
            state[0] = -INFINITY;
            memset(state + 1, 0, (1 + (size_t)call->head_dim) * sizeof *state);
        }
    }
    for (int i = 0; i < call->n_shared; i++) {
        const struct cp_shared_chunk *shared = &call->shared[i];
        struct cp_run run = {shared->chunk, shared->n_tokens, shared->position};
        add_run(call, run, call->served + shared->begin, shared->end - shared->begin);
    }
    for (int s = 0; s < call->n_sequences; s++) {
        long long first = (long long)s * call->table_width;
        for (long long at = first + call->n_shared_chunks[s]; call->table[at] >= 0; at++) {
            struct cp_run run = {call->table[at], call->table_tokens[at], call->table_position[at]};
            add_run(call, run, &s, 1);
        }
    }
    for (int row = 0; row < call->n_rows; row++) {
        for (int head = 0; head < call->n_heads; head++) {
            finish(call, row, head);
        }
    }
    return 0;
}

const struct cp_kernel cp_kernel = {
    .abi = CP_KERNEL_ABI,
    .name = "raw",
    .q_type = CP_FP16,
    .kv_type = CP_FP16,
    .out_type = CP_FP16,
    .lse_type = CP_FP32,
    .plans = CP_PLANS_LISTS,
    .keys = CP_KEYS_RAW,
    .pairs = CP_PAIRS_HALVES,
    .arithmetic = {.score = CP_SUM_FP32,
                   .weights = CP_FP32,
                   .rotated = CP_FP32,
                   .values = CP_SUM_FP32,
                   .partials = CP_FP32,
                   .exp_error = 0x1p-22,
                   .step = 1},
    .workspace = workspace,
    .attend = attend,
};
