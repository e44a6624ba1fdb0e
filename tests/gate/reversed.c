/* SPDX-License-Identifier: Apache-2.0 */
/* Walks the keys from the last to the first: a kernel may choose its order. The query heads that
 * share a K/V head walk its keys together, so each key is loaded once for all of them. */
#include <math.h>

#include "kernel_util.h"

/* The workspace, floats: the state of each query head of a group, and one key with its value. */
struct group {
    float *m, *n; /* [group] */
    float *o;     /* [group][d] */
    float *k, *v; /* [d] */
};

static size_t workspace(const struct cp_kernel_call *call) {
    size_t group = (size_t)group_size(call), d = (size_t)call->head_dim;
    return (2 * group + group * d + 2 * d) * sizeof(float);
}

static struct group empty_group(const struct cp_kernel_call *call) {
    int size = group_size(call);
    long long d = call->head_dim;
    struct group group;
    group.m = call->workspace;
    group.n = group.m + size;
    group.o = group.n + size;
    group.k = group.o + size * d;
    group.v = group.k + d;
    for (int a = 0; a < size; a++) {
        group.m[a] = -INFINITY;
        group.n[a] = 0.0F;
    }
    for (long long i = 0; i < size * d; i++) {
        group.o[i] = 0.0F;
    }
    return group;
}

static void load_key(const struct cp_kernel_call *call, int s, int j, int kv_head,
                     const struct group *group) {
    int chunk = chunk_of(call, s, j), slot = j % call->chunk_size;
    long long k = k_at(call, chunk, kv_head, slot), v = v_at(call, chunk, kv_head, slot);
    for (int i = 0; i < call->head_dim; i++) {
        group->k[i] = load(call->k, CP_FP16, k + i);
        group->v[i] = load(call->v, CP_FP16, v + i);
    }
}

/* The loaded key for query head a of the group. Before the first key m is -infinity, and what is
 * there so far, nothing, gets the factor exp(-infinity) = 0. */
static void add_key(const struct cp_kernel_call *call, long long q, int a,
                    const struct group *group) {
    int d = call->head_dim;
    float *o = group->o + (long long)a * d;
    float dot = 0.0F;
    for (int i = 0; i < d; i++) {
        dot += load(call->q, CP_FP16, q + i) * group->k[i];
    }
    float score = (float)call->scale * dot;
    if (score > group->m[a]) {
        float factor = expf(group->m[a] - score);
        group->n[a] *= factor;
        for (int i = 0; i < d; i++) {
            o[i] *= factor;
        }
        group->m[a] = score;
    }
    float weight = expf(score - group->m[a]);
    group->n[a] += weight;
    for (int i = 0; i < d; i++) {
        o[i] += weight * group->v[i];
    }
}

static void finish(const struct cp_kernel_call *call, int row, int head, int a,
                   const struct group *group) {
    float n = group->n[a];
    const float *o = group->o + (long long)a * call->head_dim;
    long long out = out_at(call, row, head);
    for (int i = 0; i < call->head_dim; i++) {
        store(call->out, CP_FP16, out + i, n != 0.0F ? o[i] / n : 0.0F);
    }
    if (call->lse != NULL) { /* -infinity for no key, as m is */
        ((float *)call->lse)[lse_at(call, row, head)] =
            n != 0.0F ? group->m[a] + logf(n) : -INFINITY;
    }
}

static void attend_group(const struct cp_kernel_call *call, int s, int row, int kv_head) {
    int size = group_size(call);
    struct group group = empty_group(call);
    for (int j = keys_seen(call, s, row) - 1; j >= 0; j--) {
        load_key(call, s, j, kv_head, &group);
        for (int a = 0; a < size; a++) {
            add_key(call, q_at(call, row, kv_head * size + a), a, &group);
        }
    }
    for (int a = 0; a < size; a++) {
        finish(call, row, kv_head * size + a, a, &group);
    }
}

static int attend(const struct cp_kernel_call *call) {
    for (int s = 0; s < call->n_sequences; s++) {
        for (int row = call->query_begin[s]; row < call->query_begin[s + 1]; row++) {
            for (int kv_head = 0; kv_head < call->n_kv_heads; kv_head++) {
                attend_group(call, s, row, kv_head);
            }
        }
    }
    return 0;
}

const struct cp_kernel cp_kernel = {
    .abi = CP_KERNEL_ABI,
    .name = "reversed",
    .q_type = CP_FP16,
    .kv_type = CP_FP16,
    .out_type = CP_FP16,
    .lse_type = CP_FP32,
    .arithmetic = {.score = CP_SUM_FP32,
                   .weights = CP_FP32,
                   .values = CP_SUM_FP32,
                   .partials = CP_FP32,
                   .exp_error = EXPF_ERROR,
                   .step = 1},
    .workspace = workspace,
    .attend = attend,
};
