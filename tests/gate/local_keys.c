/* SPDX-License-Identifier: Apache-2.0 */
/* A kernel for modules that are moved when they are read (RUNS-10), in bfloat16.
 *
 *   cc -O2 -shared -fPIC -ffp-contract=off -o local_keys.so local_keys.c
 *       $(pkg-config --cflags chunkproof) -lm
 *
 * Each run is stored as if it began at position 0. Keys are read as they are: the query is rotated
 * back by the position of the run, once for each run that the row sees, and rounded to bfloat16, as
 * a matrix unit would want it. First come the descriptors, then each prompt's own runs. A run is
 * one step: its scores have one maximum, and its weights are rounded before they are added. */
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

/* The workspace: the rotated query [d], the scores of a run [c], and for each query row and head
 * the maximum, the sum of weights, and the sum [d] of weights times V. */
static float *state_of(const struct cp_kernel_call *call, int row, int head) {
    long long at = (long long)row * call->n_heads + head;
    return (float *)call->workspace + call->head_dim + call->chunk_size + at * (2 + call->head_dim);
}

static size_t workspace(const struct cp_kernel_call *call) {
    size_t states = (size_t)call->n_rows * (size_t)call->n_heads, d = (size_t)call->head_dim;
    return (d + (size_t)call->chunk_size + states * (2 + d)) * sizeof(float);
}

/* q . R k = (R' q) . k, where R' is the transpose of row t's rotation. Pairs are neighbours. */
static void rotate_back(const struct cp_kernel_call *call, const uint16_t *q, int t, float *query) {
    int pairs = call->rotary_dim / 2;
    const float *turn = call->rotation + (long long)t * call->rotary_dim;
    for (int i = 0; i < pairs; i++) {
        float x = from_bfloat(q[2 * i]), y = from_bfloat(q[2 * i + 1]);
        float c = turn[i], s = turn[pairs + i];
        query[2 * i] = from_bfloat(to_bfloat(c * x + s * y));
        query[2 * i + 1] = from_bfloat(to_bfloat(c * y - s * x));
    }
    for (int i = 2 * pairs; i < call->head_dim; i++) {
        query[i] = from_bfloat(q[i]);
    }
}

/* RUNS-4: a row at p sees the keys of a run up to p. */
static int keys_seen(struct cp_run run, int p) {
    if (p < run.position) {
        return 0;
    }
    int before = p - run.position;
    return before < run.n_tokens ? before + 1 : run.n_tokens;
}

/* The scores of the keys that are seen. Returns the largest. */
static float find_scores(const struct cp_kernel_call *call, const float *query, const uint16_t *k,
                         int seen, float *score) {
    float largest = -INFINITY;
    for (int slot = 0; slot < seen; slot++, k += call->k_slot) {
        float dot = 0.0F;
        for (int i = 0; i < call->head_dim; i++) {
            dot += query[i] * from_bfloat(k[i]);
        }
        score[slot] = dot * (float)call->scale;
        largest = fmaxf(largest, score[slot]);
    }
    return largest;
}

/* One row and head over the keys that it sees of a run. */
static void add_run(const struct cp_kernel_call *call, struct cp_run run, int seen, int row,
                    int head) {
    int d = call->head_dim, kv_head = head / (call->n_heads / call->n_kv_heads);
    float *query = call->workspace, *score = query + d;
    float *state = state_of(call, row, head), *o = state + 2;
    const uint16_t *q = (const uint16_t *)call->q + row * call->q_row + head * call->q_head;
    const uint16_t *k = (const uint16_t *)call->k + run.chunk * call->k_chunk;
    const uint16_t *v = (const uint16_t *)call->v + run.chunk * call->v_chunk;
    rotate_back(call, q, run.position, query);
    float m = find_scores(call, query, k + kv_head * call->k_head, seen, score);
    m = fmaxf(m, state[0]);
    float rescale = expf(state[0] - m); /* for the first run exp(-infinity), which is 0 */
    state[0] = m;
    state[1] *= rescale;
    for (int i = 0; i < d; i++) {
        o[i] *= rescale;
    }
    v += kv_head * call->v_head;
    for (int slot = 0; slot < seen; slot++, v += call->v_slot) {
        float weight = from_bfloat(to_bfloat(expf(score[slot] - m)));
        state[1] += weight;
        for (int i = 0; i < d; i++) {
            o[i] += weight * from_bfloat(v[i]);
        }
    }
}

/* A run that sequence s has, for all of its rows and heads. */
static void serve(const struct cp_kernel_call *call, struct cp_run run, int s) {
    for (int row = call->query_begin[s]; row < call->query_begin[s + 1]; row++) {
        int seen = keys_seen(run, call->position[row]);
        for (int head = 0; seen > 0 && head < call->n_heads; head++) {
            add_run(call, run, seen, row, head);
        }
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
    for (int i = 0; i < call->n_shared; i++) {
        const struct cp_shared_chunk *shared = &call->shared[i];
        struct cp_run run = {shared->chunk, shared->n_tokens, shared->position};
        for (int at = shared->begin; at < shared->end; at++) {
            serve(call, run, call->served[at]);
        }
    }
    for (int s = 0; s < call->n_sequences; s++) {
        long long first = (long long)s * call->table_width;
        for (long long at = first + call->n_shared_chunks[s]; call->table[at] >= 0; at++) {
            struct cp_run own = {call->table[at], call->table_tokens[at], call->table_position[at]};
            serve(call, own, s);
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
    .name = "local",
    .q_type = CP_BF16,
    .kv_type = CP_BF16,
    .out_type = CP_BF16,
    .lse_type = CP_FP32,
    .plans = CP_PLANS_LISTS,
    .keys = CP_KEYS_LOCAL,
    .pairs = CP_PAIRS_NEIGHBOURS,
    .arithmetic = {.score = CP_SUM_FP32,
                   .weights = CP_BF16,
                   .rotated = CP_BF16,
                   .values = CP_SUM_FP32,
                   .partials = CP_FP32,
                   .rounded_sum = 1,
                   .exp_error = 0x1p-22,
                   .step = 0},
    .workspace = workspace,
    .attend = attend,
};
