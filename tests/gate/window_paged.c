/* SPDX-License-Identifier: Apache-2.0 */
/* A kernel with windows (WINDOW-1): of each run it reads two ranges of slots (WINDOW-2), in tiles
 * of 16 slots. Runs may be partial and stand anywhere. */
#include <math.h>

#include "kernel_util.h"

#define TILE 16

/* Of a run a row sees the slots 0 .. kept - 1 and begin .. end - 1. */
struct ranges {
    int kept, begin, end;
};

/* How many of n slots, of which the first is at position `first`, are before `position`. */
static int slots_before(int position, int first, int n) {
    int before = position - first;
    return before < 0 ? 0 : before < n ? before : n;
}

static struct ranges ranges_of(const struct cp_kernel_call *call, struct cp_run run, int p) {
    struct ranges r = {0, 0, slots_before(p + call->ahead + 1, run.position, run.n_tokens)};
    if (call->window > 0) {
        r.begin = slots_before(p + 1 - call->window, run.position, r.end);
        r.kept = slots_before(call->kept, run.position, r.begin);
    }
    return r;
}

/* The state of a row: m, n, and o in the workspace. */
struct state {
    float m, n, *o;
};

static float score_of(const struct cp_kernel_call *call, long long q, long long k) {
    float dot = 0.0F;
    for (int i = 0; i < call->head_dim; i++) {
        dot += load(call->q, CP_FP16, q + i) * load(call->k, CP_FP16, k + i);
    }
    return dot * (float)call->scale;
}

/* Weighs the slots begin .. end - 1 of a chunk, at most TILE, against one maximum. */
static void add_tile(const struct cp_kernel_call *call, struct state *s, long long q, int chunk,
                     int kv_head, int begin, int end) {
    float score[TILE], m = s->m;
    for (int j = begin; j < end; j++) {
        score[j - begin] = score_of(call, q, k_at(call, chunk, kv_head, j));
        m = fmaxf(m, score[j - begin]);
    }
    float rescale = expf(s->m - m);
    s->n *= rescale;
    for (int i = 0; i < call->head_dim; i++) {
        s->o[i] *= rescale;
    }
    for (int j = begin; j < end; j++) {
        long long v = v_at(call, chunk, kv_head, j);
        float weight = expf(score[j - begin] - m);
        s->n += weight;
        for (int i = 0; i < call->head_dim; i++) {
            s->o[i] += weight * load(call->v, CP_FP16, v + i);
        }
    }
    s->m = m;
}

/* Tiles begin at multiples of TILE. */
static void add_range(const struct cp_kernel_call *call, struct state *s, long long q, int chunk,
                      int kv_head, int begin, int end) {
    while (begin < end) {
        int next = begin / TILE * TILE + TILE;
        next = next < end ? next : end;
        add_tile(call, s, q, chunk, kv_head, begin, next);
        begin = next;
    }
}

static void attend_row(const struct cp_kernel_call *call, int sequence, int row, int head) {
    struct state s = {-INFINITY, 0.0F, call->workspace};
    long long q = q_at(call, row, head), out = out_at(call, row, head);
    int g = head / group_size(call);
    for (int i = 0; i < call->head_dim; i++) {
        s.o[i] = 0.0F;
    }
    for (int k = 0; k < n_runs_of(call, sequence); k++) {
        struct cp_run run = run_of(call, sequence, k);
        struct ranges r = ranges_of(call, run, call->position[row]);
        add_range(call, &s, q, run.chunk, g, 0, r.kept);
        add_range(call, &s, q, run.chunk, g, r.begin, r.end);
    }
    for (int i = 0; i < call->head_dim; i++) {
        store(call->out, CP_FP16, out + i, s.n > 0.0F ? s.o[i] / s.n : 0.0F);
    }
    if (call->lse != NULL) {
        store(call->lse, CP_FP32, lse_at(call, row, head),
              s.n > 0.0F ? s.m + logf(s.n) : -INFINITY);
    }
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

static size_t workspace(const struct cp_kernel_call *call) {
    return (size_t)call->head_dim * sizeof(float);
}

const struct cp_kernel cp_kernel = {
    .abi = CP_KERNEL_ABI,
    .name = "window-paged",
    .q_type = CP_FP16,
    .kv_type = CP_FP16,
    .out_type = CP_FP16,
    .lse_type = CP_FP32,
    .plans = CP_PLANS_LISTS,
    .masks = CP_MASKS_WINDOW | CP_MASKS_AHEAD | CP_MASKS_KEPT,
    .arithmetic = {.score = CP_SUM_FP32,
                   .weights = CP_FP32,
                   .values = CP_SUM_FP32,
                   .partials = CP_FP32,
                   .exp_error = EXPF_ERROR,
                   .step = TILE},
    .workspace = workspace,
    .attend = attend,
};
