/* SPDX-License-Identifier: Apache-2.0 */
/* The project's own reference as a kernel: cp_attend(), all in binary64. It takes contiguous
 * tensors, so that query and results go through the workspace, and K and V too when their strides
 * leave gaps. Whoever includes this says whether values are in keys (CONV-13). */
#ifndef CHUNKPROOF_TESTS_GATE_REFERENCE_H
#define CHUNKPROOF_TESTS_GATE_REFERENCE_H

#include "chunkproof/attend.h"
#include "chunkproof/status.h"
#include "contiguous.h"
#include "kernel_util.h"

/* The workspace: bytes of each part, in this order, so that each is aligned. */
struct parts {
    size_t phases; /* what cp_attend() works with (two_phase.h) */
    size_t lse;    /* double [n_rows][h] */
    size_t given;  /* double [h] slopes, [h] sinks, [h][n_biases] biases */
    size_t out;    /* float [n_rows][h][d_v] */
    size_t q;      /* binary16 [n_rows][h][d] */
    size_t k;      /* binary16 [capacity][h_kv][c][d]; 0 when it is contiguous already */
    size_t v;      /* binary16 [capacity][h_kv][c][d_v]; likewise, or when it is in K */
};

static struct parts parts_of(const struct cp_kernel_call *call) {
    size_t d = (size_t)call->head_dim, d_v = (size_t)call->value_dim;
    size_t results = (size_t)call->n_rows * (size_t)call->n_heads;
    int has_k = is_contiguous(call, call->head_dim, call->k_chunk, call->k_head, call->k_slot);
    int has_v = VALUES_IN_KEYS ||
                is_contiguous(call, call->value_dim, call->v_chunk, call->v_head, call->v_slot);
    return (struct parts){
        .phases = (results * (2 + d_v) + d + 3 * d_v) * sizeof(double),
        .lse = results * sizeof(double),
        .given = (size_t)call->n_heads * (2 + (size_t)call->n_biases) * sizeof(double),
        .out = results * d_v * sizeof(float),
        .q = results * d * sizeof(uint16_t),
        .k = has_k ? 0 : pool_bytes(call, call->head_dim, sizeof(uint16_t)),
        .v = has_v ? 0 : pool_bytes(call, call->value_dim, sizeof(uint16_t)),
    };
}

static size_t workspace(const struct cp_kernel_call *call) {
    struct parts p = parts_of(call);
    return p.phases + p.lse + p.given + p.out + p.q + p.k + p.v;
}

static const char *refuses(const struct cp_kernel_call *call) {
    return call->n_sequences > CP_MAX_SEQUENCES || call->table_width > CP_MAX_DEPTH ||
                   call->chunk_size > CP_MAX_CHUNK_SIZE || call->capacity > CP_MAX_CHUNKS
               ? "the library is built for fewer sequences, chunks or tokens in a chunk"
           : copies_too_much(call, sizeof(uint16_t)) ? "a copy of the pool takes too much memory"
                                                     : NULL;
}

static void *behind(void *memory, size_t bytes) {
    return (char *)memory + bytes;
}

static const double *widened(const float *from, size_t n, double *to) {
    for (size_t i = 0; from != NULL && i < n; i++) {
        to[i] = (double)from[i];
    }
    return from != NULL ? to : NULL;
}

/* What changes scores (SCORE-1 to SCORE-5), into `given`. */
static struct cp_scores scores_of(const struct cp_kernel_call *call, double *given) {
    size_t h = (size_t)call->n_heads, all = h * (size_t)call->n_biases;
    return (struct cp_scores){
        .cap = call->cap,
        .slopes = widened(call->slopes, h, given),
        .sinks = widened(call->sinks, h, given + h),
        .biases = {widened(call->biases, all, given + 2 * h), call->n_biases, call->own_bias}};
}

static int attend_plan(const struct cp_kernel_call *call, const struct cp_plan *plan) {
    struct parts p = parts_of(call);
    double *lse = behind(call->workspace, p.phases), *given = behind(lse, p.lse);
    float *out = behind(given, p.given);
    uint16_t *q = behind(out, p.out), *k = behind(q, p.q), *v = behind(k, p.k);
    struct cp_attention attention = {
        .plan = plan,
        .stamp = plan->stamp,
        .n_heads = call->n_heads,
        .n_kv_heads = call->n_kv_heads,
        .head_dim = call->head_dim,
        .value_dim = call->value_dim,
        .v_row = VALUES_IN_KEYS ? call->head_dim : call->value_dim,
        .scale = call->scale,
        .query_begin = call->query_begin,
        .position = call->position,
        .window = {call->window, call->ahead, call->kept},
        .mask = {call->mask_bits, call->mask_first, call->mask_begin},
        .scores = scores_of(call, given),
        .q_type = CP_FP16,
        .k_type = CP_FP16,
        .v_type = CP_FP16,
        .out_type = CP_FP32,
        .q = q,
        .k = p.k == 0 ? call->k : k,
        .v = VALUES_IN_KEYS && p.k != 0 ? k
             : p.v == 0                 ? call->v
                                        : v,
        .out = out,
        .lse = lse,
        .variant = CP_MERGE_AT_ONCE, /* whose workspace follows from the sizes alone */
        .workspace = call->workspace,
        .workspace_size = p.phases,
    };
    gather_rows(call, sizeof *q, q);
    if (p.k != 0) {
        gather_pool(call, call->head_dim, sizeof *k, call->k, call->k_chunk, call->k_head,
                    call->k_slot, k);
    }
    if (p.v != 0) {
        gather_pool(call, call->value_dim, sizeof *v, call->v, call->v_chunk, call->v_head,
                    call->v_slot, v);
    }
    int status = cp_attend(&attention);
    if (status == CP_OK) {
        scatter_results(call, sizeof *out, out, lse);
    }
    return status;
}

static int attend(const struct cp_kernel_call *call) {
    struct cp_plan *plan;
    int status = cp_plan_new(&plan);
    if (status != CP_OK) {
        return status;
    }
    fill_plan(call, plan);
    status = is_right_plan(call, plan) ? attend_plan(call, plan) : CP_ERROR_ARGUMENT;
    cp_plan_free(plan);
    return status;
}

/* What all of them declare, but for a name, widths and a layout. All is in binary64: `weights` and
 * `partials` are not rounded. exp() of the C library is within one unit. */
#define REFERENCE_KERNEL                                                                           \
    .abi = CP_KERNEL_ABI, .q_type = CP_FP16, .kv_type = CP_FP16, .out_type = CP_FP32,              \
    .lse_type = CP_FP64, .plans = CP_PLANS_LISTS,                                                  \
    .masks = CP_MASKS_WINDOW | CP_MASKS_AHEAD | CP_MASKS_KEPT | CP_MASKS_BITS,                     \
    .scores = CP_SCORES_CAP | CP_SCORES_SLOPES | CP_SCORES_SINKS | CP_SCORES_BIASES,               \
    .arithmetic = {.score = CP_SUM_FP64,                                                           \
                   .weights = CP_FP32,                                                             \
                   .values = CP_SUM_FP64,                                                          \
                   .partials = CP_FP32,                                                            \
                   .exp_error = 0x1p-52,                                                           \
                   .tanh_error = 0x1p-51,                                                          \
                   .step = 0},                                                                     \
    .refuses = refuses, .workspace = workspace, .attend = attend

#endif
