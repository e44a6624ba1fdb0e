/* SPDX-License-Identifier: Apache-2.0 */
/* Latent attention (WIDTH-3) over pages of a block table, [page][slot][K/V head][d], in bfloat16:
 * a value is the first d_v numbers of its key. The keys of a sequence are split, each split leaves
 * an output and a log-sum-exp, and these are merged. All query heads of a group read a key once. */
#include <math.h>
#include <string.h>

#include "kernel_util.h"

#define SPLITS 4
#define HEADS  128 /* of a group, at most */

/* In the workspace: partial results [SPLITS][group][d_v], and [SPLITS][group] log-sum-exps. */
struct parts {
    float *o, *lse;
};

static struct parts parts_of(const struct cp_kernel_call *call) {
    size_t results = (size_t)SPLITS * (size_t)group_size(call);
    float *o = call->workspace;
    return (struct parts){o, o + results * (size_t)call->value_dim};
}

static const uint16_t *key_of(const struct cp_kernel_call *call, int s, int j, int kv_head) {
    int page = call->page_table[(long long)s * call->page_table_width + j / call->page_size];
    return (const uint16_t *)call->k + k_at(call, page, kv_head, j % call->page_size);
}

/* Keys from .. end - 1 for all query heads of a row and a K/V head. */
static void attend_split(const struct cp_kernel_call *call, int s, int row, int kv_head, int from,
                         int end, float *o, float *lse) {
    int group = group_size(call), d = call->head_dim, d_v = call->value_dim;
    float m[HEADS], n[HEADS];
    memset(o, 0, (size_t)group * (size_t)d_v * sizeof *o);
    for (int a = 0; a < group; a++) {
        m[a] = -INFINITY;
        n[a] = 0.0F;
    }
    for (int j = from; j < end; j++) {
        const uint16_t *key = key_of(call, s, j, kv_head);
        for (int a = 0; a < group; a++) {
            long long q = q_at(call, row, kv_head * group + a);
            float *of_head = o + (size_t)a * (size_t)d_v, dot = 0.0F;
            for (int i = 0; i < d; i++) {
                dot += load(call->q, CP_BF16, q + i) * load(key, CP_BF16, i);
            }
            float score = dot * (float)call->scale, largest = fmaxf(m[a], score);
            float rescale = expf(m[a] - largest), weight = expf(score - largest);
            n[a] = n[a] * rescale + weight;
            for (int i = 0; i < d_v; i++) {
                of_head[i] = of_head[i] * rescale + weight * load(key, CP_BF16, i);
            }
            m[a] = largest;
        }
    }
    for (int a = 0; a < group; a++) {
        for (int i = 0; i < d_v && from < end; i++) {
            o[(size_t)a * (size_t)d_v + (size_t)i] /= n[a];
        }
        lse[a] = from < end ? m[a] + logf(n[a]) : -INFINITY;
    }
}

/* Merges the splits of one query head. */
static void merge(const struct cp_kernel_call *call, const struct parts *parts, int a, long long at,
                  float *lse) {
    int group = group_size(call), d_v = call->value_dim;
    float largest = -INFINITY, n = 0.0F, weight[SPLITS];
    for (int x = 0; x < SPLITS; x++) {
        largest = fmaxf(largest, parts->lse[x * group + a]);
    }
    for (int x = 0; x < SPLITS; x++) {
        weight[x] = isinf(largest) ? 0.0F : expf(parts->lse[x * group + a] - largest);
        n += weight[x];
    }
    for (int i = 0; i < d_v; i++) {
        float sum = 0.0F;
        for (int x = 0; x < SPLITS; x++) {
            const float *o = parts->o + ((size_t)x * (size_t)group + (size_t)a) * (size_t)d_v;
            sum += weight[x] * o[i];
        }
        store(call->out, CP_BF16, at + i, n > 0.0F ? sum / n : 0.0F);
    }
    if (lse != NULL) {
        *lse = n > 0.0F ? largest + logf(n) : -INFINITY;
    }
}

static void attend_group(const struct cp_kernel_call *call, int s, int row, int kv_head) {
    struct parts parts = parts_of(call);
    int group = group_size(call), seen = keys_seen(call, s, row);
    int of_split = (seen + SPLITS - 1) / SPLITS;
    for (int x = 0; x < SPLITS; x++) {
        int from = x * of_split < seen ? x * of_split : seen;
        int end = from + of_split < seen ? from + of_split : seen;
        attend_split(call, s, row, kv_head, from, end,
                     parts.o + (size_t)x * (size_t)group * (size_t)call->value_dim,
                     parts.lse + (size_t)x * (size_t)group);
    }
    for (int a = 0; a < group; a++) {
        int head = kv_head * group + a;
        merge(call, &parts, a, out_at(call, row, head),
              call->lse == NULL ? NULL : (float *)call->lse + lse_at(call, row, head));
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

static const char *refuses(const struct cp_kernel_call *call) {
    return group_size(call) > HEADS ? "more than 128 query heads have one K/V head" : NULL;
}

static size_t workspace(const struct cp_kernel_call *call) {
    return (size_t)SPLITS * (size_t)group_size(call) * ((size_t)call->value_dim + 1) *
           sizeof(float);
}

const struct cp_kernel cp_kernel = {
    .abi = CP_KERNEL_ABI,
    .name = "latent-splits",
    .q_type = CP_BF16,
    .kv_type = CP_BF16,
    .out_type = CP_BF16,
    .lse_type = CP_FP32,
    .widths = CP_WIDTHS_ANY,
    .layout = {.pages = CP_PAGES_OWN, .order = CP_ORDER_NHD, .tensors = CP_TENSORS_KEYS},
    .arithmetic = {.score = CP_SUM_FP32,
                   .weights = CP_FP32,
                   .values = CP_SUM_FP32,
                   .partials = CP_FP32,
                   .divides = 1,
                   .exp_error = EXPF_ERROR,
                   .step = 1},
    .refuses = refuses,
    .workspace = workspace,
    .attend = attend,
};
