/* SPDX-License-Identifier: Apache-2.0 */
/* A kernel for a cache of modules (spec/runs.md): prompts that have any of them, in bfloat16.
 *
 *   cc -O2 -shared -fPIC -o modules.so modules_kernel.c $(pkg-config --cflags chunkproof) -lm
 *   chunkproof gate --kernel modules.so
 *
 * First it walks the descriptors, and reads each shared chunk once for all prompts that have it.
 * Then it walks what each prompt has alone. Each query row and head has a state in the workspace,
 * into which all keys go one after the other, in the order in which they come: attention does not
 * depend on it (RUNS-5). */
#include <chunkproof/kernel.h>
#include <math.h>
#include <string.h>

static float from_bfloat(uint16_t bfloat) {
    uint32_t bits = (uint32_t)bfloat << 16;
    float x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

/* Rounds to nearest, ties to even. */
static uint16_t to_bfloat(float x) {
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    return (uint16_t)(isnan(x) ? 0x7FC0 : (bits + 0x7FFF + (bits >> 16 & 1)) >> 16);
}

/* Of a query row and head: the maximum m so far, the sum n of the weights exp(score - m), and the
 * sum o[d] of weight * v. */
static float *state_of(const struct cp_kernel_call *call, int row, int head) {
    long long at = (long long)row * call->n_heads + head;
    return (float *)call->workspace + at * (2 + call->head_dim);
}

static size_t workspace(const struct cp_kernel_call *call) {
    return (size_t)call->n_rows * (size_t)call->n_heads * (2 + (size_t)call->head_dim) *
           sizeof(float);
}

static void add_key(const struct cp_kernel_call *call, const uint16_t *q, const uint16_t *k,
                    const uint16_t *v, float *state) {
    float *o = state + 2, dot = 0.0F;
    for (int i = 0; i < call->head_dim; i++) {
        dot += from_bfloat(q[i]) * from_bfloat(k[i]);
    }
    float score = dot * (float)call->scale, largest = fmaxf(state[0], score);
    float weight = expf(score - largest);
    float rescale = expf(state[0] - largest); /* for the first key exp(-infinity), which is 0 */
    state[0] = largest;
    state[1] = state[1] * rescale + weight;
    for (int i = 0; i < call->head_dim; i++) {
        o[i] = o[i] * rescale + weight * from_bfloat(v[i]);
    }
}

/* RUNS-4: the slots 0 .. n_tokens - 1 of the chunk hold the keys at position, position + 1, ...; a
 * row at p sees those up to p. Slots behind them are not read. */
static int keys_seen(struct cp_run run, int p) {
    if (p < run.position) {
        return 0;
    }
    int before = p - run.position;
    return before < run.n_tokens ? before + 1 : run.n_tokens;
}

/* All rows of sequence s, and all heads, over the keys of a run. */
static void add_run(const struct cp_kernel_call *call, struct cp_run run, int s) {
    int group = call->n_heads / call->n_kv_heads;
    for (int row = call->query_begin[s]; row < call->query_begin[s + 1]; row++) {
        int seen = keys_seen(run, call->position[row]);
        for (int head = 0; head < call->n_heads; head++) {
            int kv_head = head / group;
            const uint16_t *q = (const uint16_t *)call->q + row * call->q_row + head * call->q_head;
            const uint16_t *k =
                (const uint16_t *)call->k + run.chunk * call->k_chunk + kv_head * call->k_head;
            const uint16_t *v =
                (const uint16_t *)call->v + run.chunk * call->v_chunk + kv_head * call->v_head;
            for (int slot = 0; slot < seen; slot++) {
                add_key(call, q, k + slot * call->k_slot, v + slot * call->v_slot,
                        state_of(call, row, head));
            }
        }
    }
}

/* RUNS-2: the run of a descriptor, for each sequence that it serves. */
static void chunk_first(const struct cp_kernel_call *call) {
    for (int i = 0; i < call->n_shared; i++) {
        const struct cp_shared_chunk *shared = &call->shared[i];
        struct cp_run run = {shared->chunk, shared->n_tokens, shared->position};
        for (int at = shared->begin; at < shared->end; at++) {
            add_run(call, run, call->served[at]);
        }
    }
}

/* RUNS-3: the runs of descriptors come first in a sequence's list, and its own behind them. */
static void sequence_first(const struct cp_kernel_call *call, int s) {
    long long first = (long long)s * call->table_width;
    for (long long at = first + call->n_shared_chunks[s];
         at < first + call->table_width && call->table[at] >= 0; at++) {
        struct cp_run run = {call->table[at], call->table_tokens[at], call->table_position[at]};
        add_run(call, run, s);
    }
}

static void finish(const struct cp_kernel_call *call, int row, int head) {
    const float *state = state_of(call, row, head), *o = state + 2;
    uint16_t *out = (uint16_t *)call->out + row * call->out_row + head * call->out_head;
    for (int i = 0; i < call->head_dim; i++) {
        out[i] = state[1] > 0.0F ? to_bfloat(o[i] / state[1]) : 0;
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
    chunk_first(call);
    for (int s = 0; s < call->n_sequences; s++) {
        sequence_first(call, s);
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
    .name = "modules",
    .q_type = CP_BF16,
    .kv_type = CP_BF16,
    .out_type = CP_BF16,
    .lse_type = CP_FP32,
    .plans = CP_PLANS_LISTS,
    .arithmetic = {.score = CP_SUM_FP32,
                   .weights = CP_FP32,
                   .values = CP_SUM_FP32,
                   .partials = CP_FP32,
                   .exp_error = 0x1p-22,
                   .step = 1},
    .workspace = workspace,
    .attend = attend,
};
