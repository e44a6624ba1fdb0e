/* SPDX-License-Identifier: Apache-2.0 */
/* Windows and keys ahead (WINDOW-1) for blocks of rows, in tiles of 16 slots from the first slot of
 * a run on. A tile that no row of the block sees is left out, and one that all rows see whole is
 * not masked. By the author of window_rows.c. */
#include <math.h>
#include <string.h>

#include "window_ranges.h"

#define ROWS 4
#define TILE 16

struct block {
    int row, rows, head;
    float m[ROWS], n[ROWS];
    float *o; /* [ROWS][d] */
};

static int sees(const struct cp_kernel_call *call, int row, int t) {
    int p = call->position[row];
    return t <= p + call->ahead && (call->window == 0 || t > p - call->window);
}

static void add_tile(const struct cp_kernel_call *call, struct block *b, int chunk, int slot, int n,
                     int first, int full) {
    int d = call->head_dim, kv_head = b->head / group_size(call);
    const uint16_t *k = (const uint16_t *)call->k + k_at(call, chunk, kv_head, 0);
    const uint16_t *v = (const uint16_t *)call->v + v_at(call, chunk, kv_head, 0);
    for (int r = 0; r < b->rows; r++) {
        const uint16_t *q = (const uint16_t *)call->q + q_at(call, b->row + r, b->head);
        float score[TILE], largest = -INFINITY, *o = b->o + r * d;
        for (int j = 0; j < n; j++) {
            float dot = 0.0F;
            for (int i = 0; i < d; i++) {
                dot += load(q, CP_BF16, i) * load(k, CP_BF16, (slot + j) * call->k_slot + i);
            }
            score[j] = full || sees(call, b->row + r, first + slot + j) ? dot * (float)call->scale
                                                                        : -INFINITY;
            largest = fmaxf(largest, score[j]);
        }
        if (largest == -INFINITY) {
            continue;
        }
        float m = fmaxf(largest, b->m[r]), rescale = expf(b->m[r] - m);
        b->n[r] *= rescale;
        for (int i = 0; i < d; i++) {
            o[i] *= rescale;
        }
        for (int j = 0; j < n; j++) {
            float weight = expf(score[j] - m);
            b->n[r] += weight;
            for (int i = 0; i < d; i++) {
                o[i] += weight * load(v, CP_BF16, (slot + j) * call->v_slot + i);
            }
        }
        b->m[r] = m;
    }
}

static void add_run(const struct cp_kernel_call *call, struct block *b, int chunk, int n,
                    int first) {
    int p0 = call->position[b->row], p1 = call->position[b->row + b->rows - 1];
    long long low = call->window > 0 ? (long long)p0 - call->window + 1 : -(1LL << 40);
    long long high = (long long)p1 + call->ahead;
    if (first > high || first + n - 1 < low) {
        return;
    }
    int from = clamp(low - first, 0, n) / TILE * TILE, to = clamp(high - first + 1, 0, n);
    for (int slot = from; slot < to; slot += TILE) {
        int width = to - slot < TILE ? to - slot : TILE;
        int full = first + slot + width - 1 <= p0 + call->ahead &&
                   (call->window == 0 || first + slot > p1 - call->window);
        add_tile(call, b, chunk, slot, width, first, full);
    }
}

static void finish(const struct cp_kernel_call *call, struct block *b) {
    for (int r = 0; r < b->rows; r++) {
        float *out = (float *)call->out + out_at(call, b->row + r, b->head);
        for (int i = 0; i < call->head_dim; i++) {
            out[i] = b->n[r] > 0.0F ? b->o[r * call->head_dim + i] / b->n[r] : 0.0F;
        }
        if (call->lse != NULL) {
            ((float *)call->lse)[lse_at(call, b->row + r, b->head)] =
                b->n[r] > 0.0F ? b->m[r] + logf(b->n[r]) : -INFINITY;
        }
    }
}

static int attend(const struct cp_kernel_call *call) {
    for (int s = 0; s < call->n_sequences; s++) {
        long long at = (long long)s * call->table_width;
        for (int row = call->query_begin[s]; row < call->query_begin[s + 1]; row += ROWS) {
            for (int head = 0; head < call->n_heads; head++) {
                struct block b = {.row = row, .head = head, .o = call->workspace};
                b.rows = clamp(call->query_begin[s + 1] - row, 0, ROWS);
                for (int r = 0; r < ROWS; r++) {
                    b.m[r] = -INFINITY;
                }
                memset(b.o, 0, ROWS * (size_t)call->head_dim * sizeof(float));
                for (int i = 0; i < call->table_width && call->table[at + i] >= 0; i++) {
                    add_run(call, &b, call->table[at + i], call->table_tokens[at + i],
                            call->table_position[at + i]);
                }
                finish(call, &b);
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
    .name = "window-blocks",
    .q_type = CP_BF16,
    .kv_type = CP_BF16,
    .out_type = CP_FP32,
    .lse_type = CP_FP32,
    .plans = CP_PLANS_LISTS,
    .masks = CP_MASKS_WINDOW | CP_MASKS_AHEAD,
    .arithmetic = {.score = CP_SUM_FP32,
                   .weights = CP_FP32,
                   .values = CP_SUM_FP32,
                   .partials = CP_FP32,
                   .exp_error = EXPF_ERROR,
                   .step = TILE},
    .workspace = workspace,
    .attend = attend,
};
