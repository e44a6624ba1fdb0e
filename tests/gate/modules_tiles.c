/* SPDX-License-Identifier: Apache-2.0 */
/* Sorts the runs of a sequence by position, and packs their keys into tiles, across the ends of
 * partial runs. Each tile meets a block of neighbouring rows, as in a flash kernel. */
#include <math.h>
#include <stdlib.h>

#include "kernel_util.h"

#define TILE 16 /* keys */
#define ROWS 4  /* of a block */

struct tile {
    int n;
    struct {
        int chunk, slot, position;
    } key[TILE];
};

/* Where a run of a sequence stands, and which run it is. */
struct place {
    int position;
    int run;
};

/* A block: the rows row .. row + n_rows - 1 of sequence s, with one head. */
struct block {
    int s, row, n_rows, head;
};

/* The workspace: the states m, n, o[d] of a block, floats, then the order of a sequence's runs. */
static float *state_of(const struct cp_kernel_call *call, int t) {
    return (float *)call->workspace + (long long)t * (2 + call->head_dim);
}

static size_t workspace(const struct cp_kernel_call *call) {
    return (size_t)ROWS * (size_t)(2 + call->head_dim) * sizeof(float) +
           (size_t)call->table_width * sizeof(struct place);
}

/* The scores of the keys that a row sees, -infinity for others; returns the largest, or m if that
 * is larger. */
static float score_tile(const struct cp_kernel_call *call, const struct tile *tile, int row,
                        int head, float m, float *score) {
    const float *q = (const float *)call->q + q_at(call, row, head);
    for (int j = 0; j < tile->n; j++) {
        long long at = k_at(call, tile->key[j].chunk, head / group_size(call), tile->key[j].slot);
        const float *k = (const float *)call->k + at;
        float dot = 0.0F;
        for (int i = 0; i < call->head_dim; i++) {
            dot += q[i] * k[i];
        }
        int is_seen = tile->key[j].position <= call->position[row];
        score[j] = is_seen ? dot * (float)call->scale : -INFINITY;
        m = fmaxf(m, score[j]);
    }
    return m;
}

/* A tile with row t of a block. */
static void add_tile(const struct cp_kernel_call *call, const struct tile *tile,
                     const struct block *block, int t) {
    float *state = state_of(call, t), score[TILE];
    float m = score_tile(call, tile, block->row + t, block->head, state[0], score);
    if (m == -INFINITY) {
        return;
    }
    float rescale = expf(state[0] - m);
    state[0] = m;
    for (int i = 1; i < 2 + call->head_dim; i++) { /* n, then o */
        state[i] *= rescale;
    }
    for (int j = 0; j < tile->n; j++) {
        int kv_head = block->head / group_size(call);
        const float *v =
            (const float *)call->v + v_at(call, tile->key[j].chunk, kv_head, tile->key[j].slot);
        float weight = expf(score[j] - m);
        state[1] += weight;
        for (int i = 0; i < call->head_dim; i++) {
            state[2 + i] += weight * v[i];
        }
    }
}

static void take_tile(const struct cp_kernel_call *call, struct tile *tile,
                      const struct block *block) {
    for (int t = 0; t < block->n_rows; t++) {
        add_tile(call, tile, block, t);
    }
    tile->n = 0;
}

/* Runs are sorted, so that no row of the block sees one that begins behind the last row. */
static void walk(const struct cp_kernel_call *call, const struct place *order, int n_runs,
                 const struct block *block) {
    struct tile tile = {0};
    int last = call->position[block->row + block->n_rows - 1];
    for (int x = 0; x < n_runs && order[x].position <= last; x++) {
        struct cp_run run = run_of(call, block->s, order[x].run);
        for (int j = 0; j < run.n_tokens; j++) {
            tile.key[tile.n].chunk = run.chunk;
            tile.key[tile.n].slot = j;
            tile.key[tile.n].position = run.position + j;
            if (++tile.n == TILE) {
                take_tile(call, &tile, block);
            }
        }
    }
    take_tile(call, &tile, block);
}

static void begin(const struct cp_kernel_call *call, int t) {
    float *state = state_of(call, t);
    state[0] = -INFINITY;
    for (int i = 1; i < 2 + call->head_dim; i++) {
        state[i] = 0.0F;
    }
}

static void finish(const struct cp_kernel_call *call, int t, int row, int head) {
    const float *state = state_of(call, t), n = state[1];
    float *out = (float *)call->out + out_at(call, row, head);
    for (int i = 0; i < call->head_dim; i++) {
        out[i] = n > 0.0F ? state[2 + i] / n : 0.0F;
    }
    if (call->lse != NULL) {
        ((float *)call->lse)[lse_at(call, row, head)] = n > 0.0F ? state[0] + logf(n) : -INFINITY;
    }
}

static int by_position(const void *a, const void *b) {
    const struct place *x = a, *y = b;
    return (x->position > y->position) - (x->position < y->position);
}

/* The runs of a sequence by position; returns how many there are. */
static int sort_runs(const struct cp_kernel_call *call, int s, struct place *order) {
    int n_runs = n_runs_of(call, s);
    for (int r = 0; r < n_runs; r++) {
        order[r].position = run_of(call, s, r).position;
        order[r].run = r;
    }
    qsort(order, (size_t)n_runs, sizeof *order, by_position);
    return n_runs;
}

static int attend(const struct cp_kernel_call *call) {
    struct place *order = (struct place *)state_of(call, ROWS);
    for (int s = 0; s < call->n_sequences; s++) {
        int n_runs = sort_runs(call, s, order), end = call->query_begin[s + 1];
        for (int row = call->query_begin[s]; row < end; row += ROWS) {
            int n_rows = end - row < ROWS ? end - row : ROWS;
            for (int head = 0; head < call->n_heads; head++) {
                struct block block = {s, row, n_rows, head};
                for (int t = 0; t < n_rows; t++) {
                    begin(call, t);
                }
                walk(call, order, n_runs, &block);
                for (int t = 0; t < n_rows; t++) {
                    finish(call, t, row + t, head);
                }
            }
        }
    }
    return 0;
}

const struct cp_kernel cp_kernel = {
    .abi = CP_KERNEL_ABI,
    .name = "modules-tiles",
    .q_type = CP_FP32,
    .kv_type = CP_FP32,
    .out_type = CP_FP32,
    .lse_type = CP_FP32,
    .plans = CP_PLANS_LISTS,
    .arithmetic = {.score = CP_SUM_FP32,
                   .weights = CP_FP32,
                   .values = CP_SUM_FP32,
                   .partials = CP_FP32,
                   .exp_error = EXPF_ERROR,
                   .step = TILE},
    .workspace = workspace,
    .attend = attend,
};
