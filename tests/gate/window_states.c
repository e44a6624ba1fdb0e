/* SPDX-License-Identifier: Apache-2.0 */
/* Windows, keys ahead and kept tokens (WINDOW-1) in two phases. The first has a state for each
 * descriptor, row and head, of all keys that the row sees of the chunk. The second adds those of
 * the sequence's own runs, and merges. By the author of window_rows.c. */
#include <math.h>
#include <string.h>

#include "window_ranges.h"

static size_t state_size(const struct cp_kernel_call *call) {
    return 2 + (size_t)call->head_dim;
}

/* State of run k (below table_width) of a row and head. */
static float *partial(const struct cp_kernel_call *call, int row, int head, int k) {
    size_t at = ((size_t)row * (size_t)call->n_heads + (size_t)head) * (size_t)call->table_width;
    return (float *)call->workspace + (at + (size_t)k) * state_size(call);
}

static size_t n_states(const struct cp_kernel_call *call) {
    return (size_t)call->n_rows * (size_t)call->n_heads * (size_t)call->table_width;
}

static void clear(const struct cp_kernel_call *call, float *state) {
    memset(state, 0, state_size(call) * sizeof *state);
    state[0] = -INFINITY;
}

static void compute(const struct cp_kernel_call *call, struct cp_run run, int row, int head, int p,
                    float *state) {
    int d = call->head_dim, kv_head = head / group_size(call);
    const float *q = (const float *)call->q + q_at(call, row, head);
    const float *k = (const float *)call->k + k_at(call, run.chunk, kv_head, 0);
    const float *v = (const float *)call->v + v_at(call, run.chunk, kv_head, 0);
    float *score = (float *)call->workspace + n_states(call) * state_size(call);
    struct seen r = slots_of(call, p, run.position, run.n_tokens);
    for (int j = 0; j < r.e; j++) {
        if (j >= r.a && j < r.b) {
            continue;
        }
        score[j] = 0.0F;
        for (int i = 0; i < d; i++) {
            score[j] += q[i] * k[j * call->k_slot + i];
        }
        score[j] *= (float)call->scale;
        state[0] = fmaxf(state[0], score[j]);
    }
    for (int j = 0; j < r.e; j++) {
        if (j >= r.a && j < r.b) {
            continue;
        }
        float weight = expf(score[j] - state[0]);
        state[1] += weight;
        for (int i = 0; i < d; i++) {
            state[2 + i] += weight * v[j * call->v_slot + i];
        }
    }
}

/* Whether no row of sequence s sees a key of the run. */
static int unseen(const struct cp_kernel_call *call, struct cp_run run, int s) {
    if (call->query_begin[s] == call->query_begin[s + 1]) {
        return 1;
    }
    int p0 = call->position[call->query_begin[s]],
        p1 = call->position[call->query_begin[s + 1] - 1];
    if (run.position > (long long)p1 + call->ahead) {
        return 1;
    }
    return call->window > 0 && run.position + run.n_tokens - 1 <= (long long)p0 - call->window &&
           run.position >= call->kept;
}

static void merge(const struct cp_kernel_call *call, float *into, const float *from) {
    if (from[1] == 0.0F) {
        return;
    }
    float m = fmaxf(into[0], from[0]), x = expf(into[0] - m), y = expf(from[0] - m);
    into[0] = m;
    for (size_t i = 1; i < state_size(call); i++) {
        into[i] = into[i] * x + from[i] * y;
    }
}

static void chunk_first(const struct cp_kernel_call *call, int *next) {
    for (int i = 0; i < call->n_shared; i++) {
        const struct cp_shared_chunk *shared = &call->shared[i];
        struct cp_run run = {shared->chunk, shared->n_tokens, shared->position};
        for (int at = shared->begin; at < shared->end; at++) {
            int s = call->served[at], k = next[s]++;
            int skip = unseen(call, run, s);
            for (int row = call->query_begin[s]; row < call->query_begin[s + 1]; row++) {
                for (int head = 0; head < call->n_heads; head++) {
                    clear(call, partial(call, row, head, k));
                    if (!skip) {
                        compute(call, run, row, head, call->position[row],
                                partial(call, row, head, k));
                    }
                }
            }
        }
    }
}

static void sequence_first(const struct cp_kernel_call *call, int s, int row, int head,
                           float *total) {
    long long at = (long long)s * call->table_width;
    int k = 0;
    for (; k < call->n_shared_chunks[s]; k++) {
        merge(call, total, partial(call, row, head, k));
    }
    for (; k < call->table_width && call->table[at + k] >= 0; k++) {
        struct cp_run run = {call->table[at + k], call->table_tokens[at + k],
                             call->table_position[at + k]};
        float *state = partial(call, row, head, k);
        clear(call, state);
        compute(call, run, row, head, call->position[row], state);
        merge(call, total, state);
    }
}

static int attend(const struct cp_kernel_call *call) {
    float *total = (float *)call->workspace + n_states(call) * state_size(call) + call->chunk_size;
    int *next = (int *)(total + state_size(call));
    memset(next, 0, (size_t)call->n_sequences * sizeof *next);
    chunk_first(call, next);
    for (int s = 0; s < call->n_sequences; s++) {
        for (int row = call->query_begin[s]; row < call->query_begin[s + 1]; row++) {
            for (int head = 0; head < call->n_heads; head++) {
                float *out = (float *)call->out + out_at(call, row, head);
                clear(call, total);
                sequence_first(call, s, row, head, total);
                for (int i = 0; i < call->head_dim; i++) {
                    out[i] = total[1] > 0.0F ? total[2 + i] / total[1] : 0.0F;
                }
                if (call->lse != NULL) {
                    ((float *)call->lse)[lse_at(call, row, head)] =
                        total[1] > 0.0F ? total[0] + logf(total[1]) : -INFINITY;
                }
            }
        }
    }
    return 0;
}

static size_t workspace(const struct cp_kernel_call *call) {
    return ((n_states(call) + 1) * state_size(call) + (size_t)call->chunk_size) * sizeof(float) +
           (size_t)call->n_sequences * sizeof(int);
}

const struct cp_kernel cp_kernel = {
    .abi = CP_KERNEL_ABI,
    .name = "window-states",
    .q_type = CP_FP32,
    .kv_type = CP_FP32,
    .out_type = CP_FP32,
    .lse_type = CP_FP32,
    .plans = CP_PLANS_LISTS,
    .masks = CP_MASKS_WINDOW | CP_MASKS_AHEAD | CP_MASKS_KEPT,
    .arithmetic = {.score = CP_SUM_FP32,
                   .weights = CP_FP32,
                   .values = CP_SUM_FP32,
                   .partials = CP_FP32,
                   .exp_error = EXPF_ERROR,
                   .step = 0},
    .workspace = workspace,
    .attend = attend,
};
