/* SPDX-License-Identifier: Apache-2.0 */
/* A cap, ALiBi's bias and sinks (SCORE-1 to SCORE-3) in binary64, with keys ahead. The keys of a
 * sequence become a list. For blocks of 4 rows and a head there is a matrix of biases, in which a
 * masked key has -infinity; it is added to capped scores. By the author of score_rows.c. */
#include <math.h>

#include "kernel_util.h"

#define ROWS 4

struct key {
    int chunk, slot, position;
};

/* Of a sequence. */
struct keys {
    struct key *key;
    int n;
};

static size_t most_keys(const struct cp_kernel_call *call) {
    return (size_t)call->table_width * (size_t)call->chunk_size;
}

static void gather(const struct cp_kernel_call *call, int s, struct keys *keys) {
    keys->n = 0;
    for (int k = 0; k < n_runs_of(call, s); k++) {
        struct cp_run run = run_of(call, s, k);
        for (int slot = 0; slot < run.n_tokens; slot++) {
            keys->key[keys->n++] = (struct key){run.chunk, slot, run.position + slot};
        }
    }
}

/* bias: [rows][keys] */
static void fill_bias(const struct cp_kernel_call *call, const struct keys *keys, int row, int rows,
                      int head, double *bias) {
    double slope = call->slopes != NULL ? call->slopes[head] : 0.0;
    for (int r = 0; r < rows; r++) {
        int p = call->position[row + r];
        for (int j = 0; j < keys->n; j++) {
            int x = keys->key[j].position - p;
            bias[(long long)r * keys->n + j] = x <= call->ahead ? slope * x : -INFINITY;
        }
    }
}

static double score_of(const struct cp_kernel_call *call, const struct key *key, int row, int head,
                       double bias) {
    long long q = q_at(call, row, head);
    long long k = k_at(call, key->chunk, head / group_size(call), key->slot);
    double x = 0.0;
    for (int i = 0; i < call->head_dim; i++) {
        x += (double)load(call->q, CP_FP32, q + i) * load(call->k, CP_FP32, k + i);
    }
    x *= call->scale;
    if (call->cap > 0.0) {
        x = call->cap * tanh(x / call->cap);
    }
    return x + bias;
}

/* Adds the keys to o. Returns their n. */
static double add_values(const struct cp_kernel_call *call, const struct keys *keys, int head,
                         const double *score, double m, double *o) {
    double n = 0.0;
    for (int j = 0; j < keys->n && m > -INFINITY; j++) {
        long long v = v_at(call, keys->key[j].chunk, head / group_size(call), keys->key[j].slot);
        double weight = exp(score[j] - m);
        n += weight;
        for (int i = 0; i < call->head_dim; i++) {
            o[i] += weight * load(call->v, CP_FP32, v + i);
        }
    }
    return n;
}

/* With biases [keys] of the row, and room for scores and o. */
static void attend_row(const struct cp_kernel_call *call, const struct keys *keys, int row,
                       int head, const double *bias, double *score) {
    float *out = (float *)call->out + out_at(call, row, head);
    double m = -INFINITY, *o = score + most_keys(call);
    for (int j = 0; j < keys->n; j++) {
        score[j] = score_of(call, &keys->key[j], row, head, bias[j]);
        m = fmax(m, score[j]);
    }
    if (call->sinks != NULL) {
        m = fmax(m, (double)call->sinks[head]);
    }
    memset(o, 0, (size_t)call->head_dim * sizeof *o);
    double n = add_values(call, keys, head, score, m, o);
    if (call->sinks != NULL) {
        n += exp(call->sinks[head] - m);
    }
    for (int i = 0; i < call->head_dim; i++) {
        out[i] = (float)(n > 0.0 ? o[i] / n : 0.0);
    }
    if (call->lse != NULL) {
        ((double *)call->lse)[lse_at(call, row, head)] = n > 0.0 ? m + log(n) : -INFINITY;
    }
}

static int attend(const struct cp_kernel_call *call) {
    double *bias = call->workspace, *score = bias + ROWS * most_keys(call);
    struct keys keys = {(struct key *)(score + most_keys(call) + call->head_dim), 0};
    for (int s = 0; s < call->n_sequences; s++) {
        int end = call->query_begin[s + 1];
        gather(call, s, &keys);
        for (int row = call->query_begin[s]; row < end; row += ROWS) {
            int rows = end - row < ROWS ? end - row : ROWS;
            for (int head = 0; head < call->n_heads; head++) {
                fill_bias(call, &keys, row, rows, head, bias);
                for (int r = 0; r < rows; r++) {
                    attend_row(call, &keys, row + r, head, bias + (long long)r * keys.n, score);
                }
            }
        }
    }
    return 0;
}

static size_t workspace(const struct cp_kernel_call *call) {
    size_t numbers = most_keys(call) * (ROWS + 1) + (size_t)call->head_dim;
    return numbers * sizeof(double) + most_keys(call) * sizeof(struct key);
}

const struct cp_kernel cp_kernel = {
    .abi = CP_KERNEL_ABI,
    .name = "score-dense",
    .q_type = CP_FP32,
    .kv_type = CP_FP32,
    .out_type = CP_FP32,
    .lse_type = CP_FP64,
    .plans = CP_PLANS_LISTS,
    .masks = CP_MASKS_AHEAD,
    .scores = CP_SCORES_CAP | CP_SCORES_SLOPES | CP_SCORES_SINKS,
    .arithmetic = {.score = CP_SUM_FP64,
                   .weights = CP_FP32,
                   .values = CP_SUM_FP64,
                   .partials = CP_FP32,
                   .exp_error = 0x1p-50,
                   .tanh_error = 0x1p-50,
                   .step = 1},
    .workspace = workspace,
    .attend = attend,
};
