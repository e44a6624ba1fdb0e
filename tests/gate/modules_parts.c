/* SPDX-License-Identifier: Apache-2.0 */
/* Split-KV over a cache of modules, as a cascade does it. Neighbouring descriptors of one range of
 * sequences (RUNS-9) make a part, and so do a sequence's own runs. Each part's result is divided,
 * and merged into that of its row by log-sum-exp, in units of log 2. */
#include <math.h>

#include "kernel_util.h"

#define SHARED_RUNS 3
#define OWN_RUNS    4

/* Up to SHARED_RUNS runs of descriptors, or OWN_RUNS of a sequence. */
struct part {
    int n_runs;
    struct cp_run run[OWN_RUNS];
};

/* The workspace, floats. Of each query row and head: l, log2 of the sum of weights, then o[d],
 * divided by that sum. Behind them o[d] of a part, and the scores of a run, [c]. */
static float *result_of(const struct cp_kernel_call *call, int row, int head) {
    long long number = (long long)row * call->n_heads + head;
    return (float *)call->workspace + number * (1 + call->head_dim);
}

static size_t workspace(const struct cp_kernel_call *call) {
    size_t d = (size_t)call->head_dim, n = (size_t)call->n_rows * (size_t)call->n_heads;
    return (n * (1 + d) + d + (size_t)call->chunk_size) * sizeof(float);
}

/* The scores of the first n_keys keys of a chunk, in units of log 2; returns the largest, or m if
 * that is larger. */
static float score_keys(const struct cp_kernel_call *call, long long q, int chunk, int kv_head,
                        int n_keys, float m, float *score) {
    float scale = (float)(call->scale * 1.4426950408889634); /* log2(e) */
    for (int j = 0; j < n_keys; j++) {
        long long k = k_at(call, chunk, kv_head, j);
        float dot = 0.0F;
        for (int i = 0; i < call->head_dim; i++) {
            dot += load(call->q, CP_FP16, q + i) * load(call->k, CP_FP16, k + i);
        }
        score[j] = dot * scale;
        m = fmaxf(m, score[j]);
    }
    return m;
}

/* n_keys >= 1 keys of a chunk into m, n and o[d] of a part. */
static void add_keys(const struct cp_kernel_call *call, int row, int head, int chunk, int n_keys,
                     float *m, float *n, float *o) {
    float *score = o + call->head_dim;
    int kv_head = head / group_size(call);
    float largest = score_keys(call, q_at(call, row, head), chunk, kv_head, n_keys, *m, score);
    float rescale = exp2f(*m - largest);
    *m = largest;
    *n *= rescale;
    for (int i = 0; i < call->head_dim; i++) {
        o[i] *= rescale;
    }
    for (int j = 0; j < n_keys; j++) {
        long long v = v_at(call, chunk, kv_head, j);
        float weight = exp2f(score[j] - largest);
        *n += weight;
        for (int i = 0; i < call->head_dim; i++) {
            o[i] += weight * load(call->v, CP_FP16, v + i);
        }
    }
}

/* The part (l, o[d] / n) into the result of its row. */
static void merge(float *sum, float l, const float *o, float n, int d) {
    float largest = fmaxf(sum[0], l);
    float a = exp2f(sum[0] - largest), b = exp2f(l - largest);
    for (int i = 0; i < d; i++) {
        sum[1 + i] = (sum[1 + i] * a + o[i] / n * b) / (a + b);
    }
    sum[0] = largest + log2f(a + b);
}

static void attend_part(const struct cp_kernel_call *call, const struct part *part, int row,
                        int head) {
    float *o = result_of(call, call->n_rows, 0), m = -INFINITY, n = 0.0F;
    for (int i = 0; i < call->head_dim; i++) {
        o[i] = 0.0F;
    }
    for (int r = 0; r < part->n_runs; r++) {
        int n_keys = seen_in_run(part->run[r], call->position[row]);
        if (n_keys > 0) {
            add_keys(call, row, head, part->run[r].chunk, n_keys, &m, &n, o);
        }
    }
    if (n > 0.0F) {
        merge(result_of(call, row, head), m + log2f(n), o, n, call->head_dim);
    }
}

static void rows_part(const struct cp_kernel_call *call, const struct part *part, int row_begin,
                      int row_end) {
    for (int row = row_begin; row < row_end; row++) {
        for (int head = 0; head < call->n_heads; head++) {
            attend_part(call, part, row, head);
        }
    }
}

static void shared_parts(const struct cp_kernel_call *call) {
    const int *rows = call->query_begin;
    for (int x = 0; x < call->n_shared;) {
        const struct cp_shared_chunk *first = &call->shared[x], *next = first;
        struct part part = {0};
        while (x < call->n_shared && part.n_runs < SHARED_RUNS && next->begin == first->begin &&
               next->end == first->end) {
            part.run[part.n_runs++] = shared_run(call, x);
            next = &call->shared[++x];
        }
        rows_part(call, &part, rows[first->begin], rows[first->end]);
    }
}

static void own_parts(const struct cp_kernel_call *call, int s) {
    int n_runs = n_runs_of(call, s);
    for (int r = call->n_shared_chunks[s]; r < n_runs;) {
        struct part part = {0};
        for (; r < n_runs && part.n_runs < OWN_RUNS; r++) {
            part.run[part.n_runs++] = run_of(call, s, r);
        }
        rows_part(call, &part, call->query_begin[s], call->query_begin[s + 1]);
    }
}

static void begin(const struct cp_kernel_call *call, int row, int head) {
    float *sum = result_of(call, row, head);
    sum[0] = -INFINITY;
    for (int i = 1; i < 1 + call->head_dim; i++) {
        sum[i] = 0.0F;
    }
}

static void finish(const struct cp_kernel_call *call, int row, int head) {
    const float *sum = result_of(call, row, head);
    for (int i = 0; i < call->head_dim; i++) {
        store(call->out, CP_FP16, out_at(call, row, head) + i, sum[1 + i]);
    }
    if (call->lse != NULL) { /* 0.6931 is ln(2) */
        ((float *)call->lse)[lse_at(call, row, head)] = sum[0] * 0.69314718F;
    }
}

static void each_result(const struct cp_kernel_call *call,
                        void (*use)(const struct cp_kernel_call *call, int row, int head)) {
    for (int row = 0; row < call->n_rows; row++) {
        for (int head = 0; head < call->n_heads; head++) {
            use(call, row, head);
        }
    }
}

static int attend(const struct cp_kernel_call *call) {
    each_result(call, begin);
    shared_parts(call);
    for (int s = 0; s < call->n_sequences; s++) {
        own_parts(call, s);
    }
    each_result(call, finish);
    return 0;
}

const struct cp_kernel cp_kernel = {
    .abi = CP_KERNEL_ABI,
    .name = "modules-parts",
    .q_type = CP_FP16,
    .kv_type = CP_FP16,
    .out_type = CP_FP16,
    .lse_type = CP_FP32,
    .plans = CP_PLANS_RANGES,
    .arithmetic = {.score = CP_SUM_FP32,
                   .weights = CP_FP32,
                   .values = CP_SUM_FP32,
                   .partials = CP_FP32,
                   .divides = 1,
                   .in_bits = 1,
                   .exp_error = EXPF_ERROR, /* exp2f() is as close */
                   .step = 0},
    .workspace = workspace,
    .attend = attend,
};
