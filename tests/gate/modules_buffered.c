/* SPDX-License-Identifier: Apache-2.0 */
/* Two phases over a cache of modules, head by head (RUNS-5). The first one keeps a state for each
 * descriptor, each sequence that it serves, and each row. The second one finds those of a sequence
 * by an index, and merges them. */
#include <math.h>

#include "kernel_util.h"

/* The workspace. A state is m, n, then o[d]. n = 0: no key. */
struct room {
    long long *first; /* [b][table_width]: where the states of shared run r of sequence s begin */
    int *n_met;       /* [b]: shared runs of s that were met */
    float *score;     /* [c] */
    float *own;       /* the state of a run of one sequence */
    float *sum;       /* the state that all are merged into */
    float *states;    /* in the order of descriptors, of entries of their lists, and of rows */
};

static int state_size(const struct cp_kernel_call *call) {
    return 2 + call->head_dim;
}

/* Each row has one for each shared run of its sequence. */
static size_t n_states(const struct cp_kernel_call *call) {
    int runs = call->n_shared < call->table_width ? call->n_shared : call->table_width;
    return (size_t)runs * (size_t)call->n_rows;
}

static size_t workspace(const struct cp_kernel_call *call) {
    size_t b = (size_t)call->n_sequences, floats = (n_states(call) + 2) * (size_t)state_size(call);
    return b * (size_t)call->table_width * sizeof(long long) + b * sizeof(int) +
           (floats + (size_t)call->chunk_size) * sizeof(float);
}

static struct room room_of(const struct cp_kernel_call *call) {
    struct room room;
    room.first = call->workspace;
    room.n_met = (int *)(room.first + (long long)call->n_sequences * call->table_width);
    void *floats = room.n_met + call->n_sequences;
    room.score = floats;
    room.own = room.score + call->chunk_size;
    room.sum = room.own + state_size(call);
    room.states = room.sum + state_size(call);
    return room;
}

static void score_keys(const struct cp_kernel_call *call, int row, int head, int chunk, int n_keys,
                       float *score) {
    long long q = q_at(call, row, head);
    for (int j = 0; j < n_keys; j++) {
        long long k = k_at(call, chunk, head / group_size(call), j);
        float dot = 0.0F;
        for (int i = 0; i < call->head_dim; i++) {
            dot += load(call->q, CP_FP16, q + i) * load(call->k, CP_FP16, k + i);
        }
        score[j] = dot * (float)call->scale;
    }
}

/* The state of the keys that a row at p sees of a run. */
static void run_state(const struct cp_kernel_call *call, float *score, float *state,
                      struct cp_run run, int p, int row, int head) {
    int n_keys = seen_in_run(run, p);
    float m = -INFINITY, n = 0.0F, *o = state + 2;
    score_keys(call, row, head, run.chunk, n_keys, score);
    for (int j = 0; j < n_keys; j++) {
        m = fmaxf(m, score[j]);
    }
    for (int i = 0; i < call->head_dim; i++) {
        o[i] = 0.0F;
    }
    for (int j = 0; j < n_keys; j++) {
        long long v = v_at(call, run.chunk, head / group_size(call), j);
        float weight = expf(score[j] - m);
        n += weight;
        for (int i = 0; i < call->head_dim; i++) {
            o[i] += weight * load(call->v, CP_FP16, v + i);
        }
    }
    state[0] = m;
    state[1] = n;
}

static void merge(float *sum, const float *state, int size) {
    if (!(state[1] > 0.0F)) {
        return;
    }
    float m = fmaxf(sum[0], state[0]);
    float a = expf(sum[0] - m), b = expf(state[0] - m);
    sum[0] = m;
    for (int i = 1; i < size; i++) { /* n, then o */
        sum[i] = sum[i] * a + state[i] * b;
    }
}

/* Where the states of the shared runs of each sequence begin. */
static void index_states(const struct cp_kernel_call *call, struct room *room) {
    long long next = 0;
    for (int s = 0; s < call->n_sequences; s++) {
        room->n_met[s] = 0;
    }
    for (int x = 0; x < call->n_shared; x++) {
        const struct cp_shared_chunk *shared = &call->shared[x];
        for (int e = shared->begin; e < shared->end; e++) {
            int s = call->served[e];
            long long line = (long long)s * call->table_width;
            room->first[line + room->n_met[s]++] = next;
            next += call->query_begin[s + 1] - call->query_begin[s];
        }
    }
}

static void chunk_first(const struct cp_kernel_call *call, const struct room *room, int head) {
    float *state = room->states;
    for (int x = 0; x < call->n_shared; x++) {
        const struct cp_shared_chunk *shared = &call->shared[x];
        struct cp_run run = shared_run(call, x);
        for (int e = shared->begin; e < shared->end; e++) {
            int s = call->served[e];
            for (int row = call->query_begin[s]; row < call->query_begin[s + 1]; row++) {
                run_state(call, room->score, state, run, call->position[row], row, head);
                state += state_size(call);
            }
        }
    }
}

static void finish(const struct cp_kernel_call *call, int row, int head, const float *sum) {
    float *out = (float *)call->out + out_at(call, row, head), n = sum[1];
    for (int i = 0; i < call->head_dim; i++) {
        out[i] = n > 0.0F ? sum[2 + i] / n : 0.0F;
    }
    if (call->lse != NULL) {
        ((float *)call->lse)[lse_at(call, row, head)] = n > 0.0F ? sum[0] + logf(n) : -INFINITY;
    }
}

static void attend_row(const struct cp_kernel_call *call, const struct room *room, int s, int row,
                       int head) {
    int size = state_size(call), n_shared = call->n_shared_chunks[s], n_runs = n_runs_of(call, s);
    const long long *first = room->first + (long long)s * call->table_width;
    room->sum[0] = -INFINITY;
    for (int i = 1; i < size; i++) {
        room->sum[i] = 0.0F;
    }
    for (int r = 0; r < n_shared; r++) {
        long long number = first[r] + (row - call->query_begin[s]);
        merge(room->sum, room->states + number * size, size);
    }
    for (int r = n_shared; r < n_runs; r++) {
        struct cp_run run = run_of(call, s, r);
        run_state(call, room->score, room->own, run, call->position[row], row, head);
        merge(room->sum, room->own, size);
    }
    finish(call, row, head, room->sum);
}

static int attend(const struct cp_kernel_call *call) {
    struct room room = room_of(call);
    index_states(call, &room);
    for (int head = 0; head < call->n_heads; head++) {
        chunk_first(call, &room, head);
        for (int s = 0; s < call->n_sequences; s++) {
            for (int row = call->query_begin[s]; row < call->query_begin[s + 1]; row++) {
                attend_row(call, &room, s, row, head);
            }
        }
    }
    return 0;
}

const struct cp_kernel cp_kernel = {
    .abi = CP_KERNEL_ABI,
    .name = "modules-buffered",
    .q_type = CP_FP16,
    .kv_type = CP_FP16,
    .out_type = CP_FP32,
    .lse_type = CP_FP32,
    .plans = CP_PLANS_LISTS,
    .arithmetic = {.score = CP_SUM_FP32,
                   .weights = CP_FP32,
                   .values = CP_SUM_FP32,
                   .partials = CP_FP32,
                   .exp_error = EXPF_ERROR,
                   .step = 0},
    .workspace = workspace,
    .attend = attend,
};
