/* SPDX-License-Identifier: Apache-2.0 */
/* One partial result for each chunk of a path. They are merged two at a time, neighbours first:
 * a balanced tree, as in a reduction over a grid. */
#include <math.h>

#include "kernel_util.h"

/* The workspace, floats: m[t] and n[t] of t chunks, o[t][d], and the scores of one chunk, [c]. */
struct leaves {
    float *m, *n, *o, *score;
};

static size_t workspace(const struct cp_kernel_call *call) {
    size_t t = (size_t)call->table_width, d = (size_t)call->head_dim;
    return (t * (2 + d) + (size_t)call->chunk_size) * sizeof(float);
}

static struct leaves leaves_of(const struct cp_kernel_call *call) {
    struct leaves l;
    l.m = call->workspace;
    l.n = l.m + call->table_width;
    l.o = l.n + call->table_width;
    l.score = l.o + (long long)call->table_width * call->head_dim;
    return l;
}

static float score_of(const struct cp_kernel_call *call, const float *q, const float *k) {
    float dot = 0.0F;
    for (int i = 0; i < call->head_dim; i++) {
        dot += q[i] * k[i];
    }
    return dot * (float)call->scale;
}

/* Leaf `index`: the first n_keys >= 1 keys of a chunk. */
static void make_leaf(const struct cp_kernel_call *call, const struct leaves *l, int index,
                      const float *q, int chunk, int kv_head, int n_keys) {
    const float *k = (const float *)call->k + k_at(call, chunk, kv_head, 0);
    const float *v = (const float *)call->v + v_at(call, chunk, kv_head, 0);
    float *o = l->o + (long long)index * call->head_dim;
    float m = -INFINITY, n = 0.0F;
    for (int t = 0; t < n_keys; t++) {
        l->score[t] = score_of(call, q, k + t * call->k_slot);
        m = fmaxf(m, l->score[t]);
    }
    for (int t = 0; t < n_keys; t++) {
        l->score[t] = expf(l->score[t] - m);
        n += l->score[t];
    }
    for (int i = 0; i < call->head_dim; i++) {
        o[i] = 0.0F;
        for (int t = 0; t < n_keys; t++) {
            o[i] += l->score[t] * v[t * call->v_slot + i];
        }
    }
    l->m[index] = m;
    l->n[index] = n;
}

/* Leaf b into leaf a. Each has a key. */
static void merge(const struct leaves *l, int a, int b, int d) {
    float m = fmaxf(l->m[a], l->m[b]);
    float x = expf(l->m[a] - m), y = expf(l->m[b] - m);
    float *to = l->o + (long long)a * d, *from = l->o + (long long)b * d;
    l->m[a] = m;
    l->n[a] = l->n[a] * x + l->n[b] * y;
    for (int i = 0; i < d; i++) {
        to[i] = to[i] * x + from[i] * y;
    }
}

static void attend_row(const struct cp_kernel_call *call, int s, int row, int head) {
    const float *q = (const float *)call->q + q_at(call, row, head);
    float *out = (float *)call->out + out_at(call, row, head);
    int c = call->chunk_size, d = call->head_dim, kv_head = head / group_size(call), n_leaves = 0;
    struct leaves l = leaves_of(call);
    for (int left = keys_seen(call, s, row); left > 0; left -= c, n_leaves++) {
        int chunk = call->table[(long long)s * call->table_width + n_leaves];
        make_leaf(call, &l, n_leaves, q, chunk, kv_head, left < c ? left : c);
    }
    for (int width = 1; width < n_leaves; width *= 2) {
        for (int a = 0; a + width < n_leaves; a += 2 * width) {
            merge(&l, a, a + width, d);
        }
    }
    for (int i = 0; i < d; i++) {
        out[i] = n_leaves > 0 ? l.o[i] / l.n[0] : 0.0F;
    }
}

static int attend(const struct cp_kernel_call *call) {
    for (int head = 0; head < call->n_heads; head++) {
        for (int s = 0; s < call->n_sequences; s++) {
            for (int row = call->query_begin[s]; row < call->query_begin[s + 1]; row++) {
                attend_row(call, s, row, head);
            }
        }
    }
    return 0;
}

const struct cp_kernel cp_kernel = {
    .abi = CP_KERNEL_ABI,
    .name = "tree-merged",
    .q_type = CP_FP32,
    .kv_type = CP_FP32,
    .out_type = CP_FP32,
    .lse_type = CP_NO_LSE,
    .arithmetic = {.score = CP_SUM_FP32,
                   .weights = CP_FP32,
                   .values = CP_SUM_FP32,
                   .partials = CP_FP32,
                   .exp_error = EXPF_ERROR,
                   .step = 0},
    .workspace = workspace,
    .attend = attend,
};
