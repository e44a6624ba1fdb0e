/* SPDX-License-Identifier: Apache-2.0 */
/* A cap, a bias by distance and sinks (SCORE-1 to SCORE-3), with windows, keys ahead and kept
 * tokens. Each row of a block has a query head of one K/V head; tiles have 16 keys of a run. The
 * state begins with the sink. By the author of score_rows.c. */
#include "score_changes.h"

#define ROWS 8
#define TILE 16

struct block {
    int sequence, kv_head, rows;
    int row[ROWS], head[ROWS], p[ROWS];
    struct state state[ROWS];
};

static int sees(const struct cp_kernel_call *call, int p, int t) {
    return t <= p + call->ahead && (call->window == 0 || t > p - call->window || t < call->kept);
}

/* May a row of the block see a key at the positions from .. to - 1? */
static int block_sees(const struct cp_kernel_call *call, const struct block *b, int from, int to) {
    int first = b->p[0], last = b->p[b->rows - 1];
    if (from > last + call->ahead) {
        return 0;
    }
    return call->window == 0 || to - 1 > first - call->window || from < call->kept;
}

/* Rows of the block: from number `first` on of the sequence's rows times their heads. */
static void start(const struct cp_kernel_call *call, struct block *b, int first) {
    int group = group_size(call);
    for (int i = 0; i < b->rows; i++) {
        struct state *state = &b->state[i];
        b->row[i] = call->query_begin[b->sequence] + (first + i) / group;
        b->head[i] = b->kv_head * group + (first + i) % group;
        b->p[i] = call->position[b->row[i]];
        state->o = (float *)call->workspace + i * call->head_dim;
        clear(call, state);
        if (call->sinks != NULL) {
            state->m = call->sinks[b->head[i]];
            state->n = 1.0F;
        }
    }
}

/* The score of row i with slot j of a run, masked. */
static float score_of(const struct cp_kernel_call *call, const struct block *b, int i,
                      struct cp_run run, int j) {
    int t = run.position + j, p = b->p[i];
    long long q = q_at(call, b->row[i], b->head[i]), k = k_at(call, run.chunk, b->kv_head, j);
    float x = capped(product(call, CP_BF16, q, k) * (float)call->scale, (float)call->cap);
    if (call->slopes != NULL) {
        x -= call->slopes[b->head[i]] * (float)(t < p ? p - t : t - p);
    }
    return sees(call, p, t) ? x : -INFINITY;
}

/* Row i takes the slots from .. to - 1 of a run. */
static void add_tile(const struct cp_kernel_call *call, struct block *b, int i, struct cp_run run,
                     int from, int to) {
    struct state *state = &b->state[i];
    float score[TILE], largest = state->m, sum = 0.0F;
    for (int j = from; j < to; j++) {
        score[j - from] = score_of(call, b, i, run, j);
        largest = fmaxf(largest, score[j - from]);
    }
    if (largest == -INFINITY) {
        return;
    }
    float rescale = expf(state->m - largest);
    for (int e = 0; e < call->head_dim; e++) {
        state->o[e] *= rescale;
    }
    for (int j = from; j < to; j++) {
        long long v = v_at(call, run.chunk, b->kv_head, j);
        float weight = expf(score[j - from] - largest);
        sum += weight;
        for (int e = 0; e < call->head_dim; e++) {
            state->o[e] += weight * load(call->v, CP_BF16, v + e);
        }
    }
    state->n = state->n * rescale + sum;
    state->m = largest;
}

static void add_run(const struct cp_kernel_call *call, struct block *b, struct cp_run run) {
    for (int from = 0; from < run.n_tokens; from += TILE) {
        int to = from + TILE < run.n_tokens ? from + TILE : run.n_tokens;
        if (!block_sees(call, b, run.position + from, run.position + to)) {
            continue;
        }
        for (int i = 0; i < b->rows; i++) {
            add_tile(call, b, i, run, from, to);
        }
    }
}

static void attend_block(const struct cp_kernel_call *call, struct block *b, int first) {
    start(call, b, first);
    for (int k = 0; k < n_runs_of(call, b->sequence); k++) {
        add_run(call, b, run_of(call, b->sequence, k));
    }
    for (int i = 0; i < b->rows; i++) {
        write_result(call, CP_BF16, b->row[i], b->head[i], &b->state[i]);
    }
}

static int attend(const struct cp_kernel_call *call) {
    for (int s = 0; s < call->n_sequences; s++) {
        int rows = (call->query_begin[s + 1] - call->query_begin[s]) * group_size(call);
        for (int kv_head = 0; kv_head < call->n_kv_heads; kv_head++) {
            for (int first = 0; first < rows; first += ROWS) {
                struct block b = {.sequence = s, .kv_head = kv_head};
                b.rows = rows - first < ROWS ? rows - first : ROWS;
                attend_block(call, &b, first);
            }
        }
    }
    return 0;
}

static size_t workspace(const struct cp_kernel_call *call) {
    return ROWS * (size_t)call->head_dim * sizeof(float);
}

const struct cp_kernel cp_kernel = {
    .abi = CP_KERNEL_ABI,
    .name = "score-tiles",
    .q_type = CP_BF16,
    .kv_type = CP_BF16,
    .out_type = CP_BF16,
    .lse_type = CP_FP32,
    .plans = CP_PLANS_LISTS,
    .masks = CP_MASKS_WINDOW | CP_MASKS_AHEAD | CP_MASKS_KEPT,
    .scores = CP_SCORES_CAP | CP_SCORES_SLOPES | CP_SCORES_SINKS,
    .conventions = {.bias = CP_BIAS_DISTANCE},
    .arithmetic = {.score = CP_SUM_FP32,
                   .weights = CP_FP32,
                   .values = CP_SUM_FP32,
                   .partials = CP_FP32,
                   .exp_error = EXPF_ERROR,
                   .tanh_error = 0x1p-22,
                   .step = TILE},
    .workspace = workspace,
    .attend = attend,
};
