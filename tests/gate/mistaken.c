/* SPDX-License-Identifier: Apache-2.0 */
/* For tests of explain: key by key, as paged decoding is, with the mistake that MISTAKE in the
 * environment names. tests/test_explain_said.c says which words each must get. mistaken_lists.c is
 * the same of prompts with modules. */
#include <math.h>
#include <stdlib.h>

#include "kernel_util.h"

#ifndef MISTAKEN_PLANS
#define MISTAKEN_PLANS CP_PLANS_TREES
#define MISTAKEN_NAME  "mistaken"
#endif

static int makes(const char *mistake) {
    const char *made = getenv("MISTAKE");
    return made != NULL && strcmp(made, mistake) == 0;
}

/* Where a key and its value begin. */
struct key {
    long long k, v;
};

/* The state of a row. */
struct state {
    float m, n, *o;
};

/* For each row: its keys, then o. */
static size_t most_keys(const struct cp_kernel_call *call) {
    return (size_t)call->table_width * (size_t)call->chunk_size + 1;
}

static size_t workspace(const struct cp_kernel_call *call) {
    return most_keys(call) * sizeof(struct key) + (size_t)call->head_dim * 2 * sizeof(float);
}

/* ---- Keys ---- */

static int n_runs(const struct cp_kernel_call *call, int s) {
    int c = call->chunk_size;
    return MISTAKEN_PLANS == CP_PLANS_LISTS ? n_runs_of(call, s) : (call->n_tokens[s] + c - 1) / c;
}

/* Run k of the sequence: of a path, its k-th chunk. */
static struct cp_run run(const struct cp_kernel_call *call, int s, int k) {
    int c = call->chunk_size, left = call->n_tokens[s] - k * c;
    return MISTAKEN_PLANS == CP_PLANS_LISTS
               ? run_of(call, s, k)
               : (struct cp_run){chunk_of(call, s, k * c), left < c ? left : c, k * c};
}

static int kv_head_of(const struct cp_kernel_call *call, int head) {
    return makes("head modulo") ? head % call->n_kv_heads : head / group_size(call);
}

/* How many keys of run k the row sees. */
static int seen(const struct cp_kernel_call *call, int s, int row, int k) {
    struct cp_run r = run(call, s, k);
    int n = seen_in_run(r, call->position[row]);
    if (makes("all keys")) {
        return r.n_tokens;
    }
    if (makes("full runs") && n == r.n_tokens) {
        return call->chunk_size;
    }
    if (makes("whole if seen") && n > 0) {
        return r.n_tokens;
    }
    return makes("no last run") && k == n_runs(call, s) - 1 ? 0 : n;
}

static int take_keys(const struct cp_kernel_call *call, int s, int row, int head,
                     struct key *keys) {
    int n = 0, kv_head = kv_head_of(call, head);
    int first = makes("own runs") ? call->n_shared_chunks[s] : 0;
    int end = makes("shared runs") ? call->n_shared_chunks[s] : n_runs(call, s);
    for (int k = first; k < end; k++) {
        int chunk = run(call, s, k).chunk, n_seen = seen(call, s, row, k);
        for (int slot = 0; slot < n_seen; slot++) {
            keys[n++] =
                (struct key){k_at(call, chunk, kv_head, slot), v_at(call, chunk, kv_head, slot)};
        }
    }
    for (int j = 0; makes("value before") && j + 1 < n; j++) {
        keys[n - 1 - j].v = keys[n - 2 - j].v;
    }
    if (makes("outside") && n > 0) {
        keys[n - 1].k = k_at(call, call->capacity, kv_head, 0);
    }
    return makes("no last key") && n > 0 ? n - 1 : n;
}

/* ---- Scores and sums ---- */

static float rounded(float x) {
    uint16_t half;
    store(&half, CP_FP16, 0, x);
    return load(&half, CP_FP16, 0);
}

static float score_of(const struct cp_kernel_call *call, long long q, long long k) {
    float dot = 0.0F, scale = (float)call->scale;
    for (int i = 0; i < call->head_dim; i++) {
        dot += load(call->q, CP_FP16, q + i) * load(call->k, CP_FP16, k + i);
        dot = makes("score in binary16") ? rounded(dot) : dot;
    }
    return makes("unscaled")       ? dot
           : makes("scaled twice") ? dot * scale * scale
           : makes("sign")         ? -dot * scale
                                   : dot * scale;
}

/* The keys into a state that is empty. */
static void add_keys(const struct cp_kernel_call *call, long long q, const struct key *keys, int n,
                     struct state *x) {
    x->m = -INFINITY;
    x->n = 0.0F;
    for (int i = makes("workspace") ? 1 : 0; i < call->head_dim; i++) {
        x->o[i] = 0.0F;
    }
    for (int j = 0; j < n; j++) {
        float score = score_of(call, q, keys[j].k), most = fmaxf(x->m, score);
        float rescale = makes("upside down") && j > 0 ? expf(most - x->m) : expf(x->m - most);
        float weight = expf(score - most);
        x->n = x->n * (makes("n not rescaled") ? 1.0F : rescale) + weight;
        weight = makes("weights in binary16") ? rounded(weight) : weight;
        for (int i = 0; i < call->head_dim; i++) {
            x->o[i] = x->o[i] * (makes("o not rescaled") ? 1.0F : rescale) +
                      weight * load(call->v, CP_FP16, keys[j].v + i);
        }
        x->m = most;
    }
}

/* Both halves, each divided, count the same. */
static void average(const struct cp_kernel_call *call, long long q, const struct key *keys, int n,
                    struct state *x) {
    struct state half = {.o = x->o + call->head_dim};
    add_keys(call, q, keys, n / 2, &half);
    add_keys(call, q, keys + n / 2, n - n / 2, x);
    for (int i = 0; i < call->head_dim; i++) {
        x->o[i] = 0.5F * (x->o[i] / x->n + half.o[i] / half.n);
    }
    x->n = 1.0F;
}

/* A slot behind the last key gets the weight 0. */
static void add_nothing(const struct cp_kernel_call *call, int s, int head, struct state *x) {
    int n = call->n_tokens[s], c = call->chunk_size;
    if (n % c != 0) {
        long long v = v_at(call, chunk_of(call, s, n), kv_head_of(call, head), n % c);
        for (int i = 0; i < call->head_dim; i++) {
            x->o[i] += 0.0F * load(call->v, CP_FP16, v + i);
        }
    }
}

/* ---- Results ---- */

static void write_out(const struct cp_kernel_call *call, int row, int head, const struct state *x,
                      int n_keys) {
    int pair = row * call->n_heads + head, d = call->head_dim;
    if (makes("transposed")) {
        pair = head * call->n_rows + row;
    }
    long long at = out_at(call, pair / call->n_heads, pair % call->n_heads);
    float by = makes("undivided") ? 1.0F : makes("by the number") ? (float)n_keys : x->n;
    for (int i = 0; i < (makes("unwritten") ? d - 1 : makes("one more") ? d + 1 : d); i++) {
        int from = makes("shifted") ? (i + d - 1) % d : i;
        float is = n_keys > 0 ? x->o[from] / by : 0.0F;
        if (makes("out")) {
            is += isnan(load(call->out, CP_FP16, at + i)) ? 1.0F : 0.0F;
        }
        store(call->out, CP_FP16, at + i, is);
    }
}

static void write_lse(const struct cp_kernel_call *call, int row, int head, const struct state *x,
                      int n_keys) {
    float lse = makes("largest alone") ? x->m : x->m + logf(x->n);
    if (call->lse != NULL) {
        ((float *)call->lse)[lse_at(call, row, head)] = n_keys == 0        ? -INFINITY
                                                        : makes("in bits") ? lse * 1.44269504F
                                                                           : lse;
    }
}

static void attend_row(const struct cp_kernel_call *call, int s, int row, int head) {
    struct key *keys = call->workspace;
    struct state x = {.o = (float *)(keys + most_keys(call))};
    int n = take_keys(call, s, row, head, keys);
    long long q = q_at(call, makes("first query") ? call->query_begin[s] : row, head);
    if (makes("averaged") && n > 1) {
        average(call, q, keys, n, &x);
    } else {
        add_keys(call, q, keys, n, &x);
    }
    if (makes("nothing")) {
        add_nothing(call, s, head, &x);
    }
    write_out(call, row, head, &x, n);
    write_lse(call, row, head, &x, n);
}

static int attend(const struct cp_kernel_call *call) {
    for (int s = 0; s < call->n_sequences; s++) {
        for (int row = call->query_begin[s]; row < call->query_begin[s + 1]; row++) {
            for (int head = 0; head < call->n_heads; head++) {
                attend_row(call, s, row, head);
            }
        }
    }
    return 0;
}

const struct cp_kernel cp_kernel = {
    .abi = CP_KERNEL_ABI,
    .name = MISTAKEN_NAME,
    .q_type = CP_FP16,
    .kv_type = CP_FP16,
    .out_type = CP_FP16,
    .lse_type = CP_FP32,
    .plans = MISTAKEN_PLANS,
    .arithmetic = {.score = CP_SUM_FP32,
                   .weights = CP_FP32,
                   .values = CP_SUM_FP32,
                   .partials = CP_FP32,
                   .exp_error = EXPF_ERROR,
                   .step = 1},
    .workspace = workspace,
    .attend = attend,
};
