/* SPDX-License-Identifier: Apache-2.0 */
/* Two-phase partition as in the papers (Algorithms 1 and 2): first each shared chunk with all
 * query rows that it serves, then each sequence with its own chunks. All partial results are
 * kept between the phases. */
#include <math.h>

#include "kernel_util.h"

/* A partial result in the workspace, floats: m, n, then o[d]. n = 0: no key, and m and o mean
 * nothing.
 *
 * A row meets one shared chunk at each depth of its path, so that depth, row and head name a
 * descriptor's partial result: [depths][n_rows][h] of them. Behind them one of a sequence's own
 * chunk, one that all are merged into, and the scores of a chunk, [c]. */
static long long partial_size(const struct cp_kernel_call *call) {
    return 2LL + call->head_dim;
}

/* A shared chunk's parents are shared, too: no more depths than descriptors. */
static long long depths(const struct cp_kernel_call *call) {
    return call->n_shared < call->table_width ? call->n_shared : call->table_width;
}

static float *partial(const struct cp_kernel_call *call, int depth, int row, int head) {
    long long index = ((long long)depth * call->n_rows + row) * call->n_heads + head;
    return (float *)call->workspace + index * partial_size(call);
}

static float *scratch(const struct cp_kernel_call *call) {
    return (float *)call->workspace +
           depths(call) * call->n_rows * call->n_heads * partial_size(call);
}

static size_t workspace(const struct cp_kernel_call *call) {
    long long partials = depths(call) * call->n_rows * call->n_heads + 2;
    return (size_t)(partials * partial_size(call) + call->chunk_size) * sizeof(float);
}

/* The scores of the first n_keys keys of a chunk; returns the largest. */
static float weigh(const struct cp_kernel_call *call, int row, int head, int chunk, int n_keys,
                   float *score) {
    long long q = q_at(call, row, head);
    float m = -INFINITY;
    for (int t = 0; t < n_keys; t++) {
        long long k = k_at(call, chunk, head / group_size(call), t);
        float dot = 0.0F;
        for (int i = 0; i < call->head_dim; i++) {
            dot += load(call->q, CP_FP16, q + i) * load(call->k, CP_FP16, k + i);
        }
        score[t] = dot * (float)call->scale;
        m = fmaxf(m, score[t]);
    }
    return m;
}

/* PartialAttn (Eqn 1): a query row and head over the first n_keys keys of a chunk. */
static void partial_attention(const struct cp_kernel_call *call, int row, int head, int chunk,
                              int n_keys, float *to) {
    float *score = scratch(call) + 2 * partial_size(call), *o = to + 2;
    float m = weigh(call, row, head, chunk, n_keys, score), n = 0.0F;
    for (int i = 0; i < call->head_dim; i++) {
        o[i] = 0.0F;
    }
    for (int t = 0; t < n_keys; t++) {
        long long v = v_at(call, chunk, head / group_size(call), t);
        float weight = expf(score[t] - m);
        n += weight;
        for (int i = 0; i < call->head_dim; i++) {
            o[i] += weight * load(call->v, CP_FP16, v + i);
        }
    }
    to[0] = m;
    to[1] = n;
}

/* AttnReduce (Eqn 2): `from` is merged into `into`. Without a key there is no maximum to
 * compare. */
static void reduce(float *into, const float *from, int d) {
    if (from[1] == 0.0F) {
        return;
    }
    float m = into[1] == 0.0F ? from[0] : fmaxf(into[0], from[0]);
    float x = expf(from[0] - m), y = into[1] == 0.0F ? 0.0F : expf(into[0] - m);
    into[0] = m;
    for (int i = 1; i < 2 + d; i++) { /* n, then o */
        into[i] = from[i] * x + into[i] * y;
    }
}

/* How many of the n_tokens keys from number `first` on are among the first `seen` ones of their
 * sequence. */
static int seen_of(int seen, int first, int n_tokens) {
    int n = seen - first;
    return n < 0 ? 0 : n < n_tokens ? n : n_tokens;
}

/* Early rows of a sequence may see a part of a shared chunk, or nothing of it. */
static void chunk_first(const struct cp_kernel_call *call, const struct cp_shared_chunk *shared) {
    int depth = shared->position / call->chunk_size;
    for (int head = 0; head < call->n_heads; head++) {
        for (int s = shared->begin; s < shared->end; s++) {
            for (int row = call->query_begin[s]; row < call->query_begin[s + 1]; row++) {
                int seen = seen_of(keys_seen(call, s, row), shared->position, shared->n_tokens);
                partial_attention(call, row, head, shared->chunk, seen,
                                  partial(call, depth, row, head));
            }
        }
    }
}

static void finish(const struct cp_kernel_call *call, int row, int head, const float *state) {
    float *out = (float *)call->out + out_at(call, row, head);
    for (int i = 0; i < call->head_dim; i++) {
        out[i] = state[1] != 0.0F ? state[2 + i] / state[1] : 0.0F;
    }
    if (call->lse != NULL) {
        ((float *)call->lse)[lse_at(call, row, head)] =
            state[1] != 0.0F ? state[0] + logf(state[1]) : -INFINITY;
    }
}

static void sequence_first(const struct cp_kernel_call *call, int s, int row, int head) {
    int c = call->chunk_size, seen = keys_seen(call, s, row), n_shared = call->n_shared_chunks[s];
    float *own = scratch(call), *state = own + partial_size(call);
    for (int i = 0; i < 2 + call->head_dim; i++) {
        state[i] = 0.0F;
    }
    for (int depth = 0; depth < n_shared; depth++) {
        reduce(state, partial(call, depth, row, head), call->head_dim);
    }
    for (long long first = (long long)n_shared * c; first < seen; first += c) {
        partial_attention(call, row, head, chunk_of(call, s, (int)first),
                          seen_of(seen, (int)first, c), own);
        reduce(state, own, call->head_dim);
    }
    finish(call, row, head, state);
}

static int attend(const struct cp_kernel_call *call) {
    for (int i = 0; i < call->n_shared; i++) {
        chunk_first(call, &call->shared[i]);
    }
    for (int s = 0; s < call->n_sequences; s++) {
        for (int row = call->query_begin[s]; row < call->query_begin[s + 1]; row++) {
            for (int head = 0; head < call->n_heads; head++) {
                sequence_first(call, s, row, head);
            }
        }
    }
    return 0;
}

const struct cp_kernel cp_kernel = {
    .abi = CP_KERNEL_ABI,
    .name = "two-phase",
    .q_type = CP_FP16,
    .kv_type = CP_FP16,
    .out_type = CP_FP32,
    .lse_type = CP_FP32,
    .arithmetic = {.score = CP_SUM_FP32,
                   .weights = CP_FP32,
                   .values = CP_SUM_FP32,
                   .partials = CP_FP32,
                   .exp_error = EXPF_ERROR,
                   .step = 0},
    .workspace = workspace,
    .attend = attend,
};
