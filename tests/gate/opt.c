/* SPDX-License-Identifier: Apache-2.0 */
/* cp_opt_attend() as a kernel, on two threads: tensors without gaps, copied, and the plan. The
 * Makefile makes one of each version, of each type of K and V, also of 8 bits with scales, and of
 * widths; without any of its macros it is the best version with binary16. That of AMX emulates it
 * where the machine has none (tests/amx_emulator.h). */
#include <stdlib.h>

#include "chunkproof/opt.h"
#include "chunkproof/status.h"
#include "contiguous.h"

#if defined(OPT_portable)
#define VERSION CP_OPT_PORTABLE
#define NAME    "opt, portable"
#elif defined(OPT_avx2)
#define VERSION CP_OPT_AVX2
#define NAME    "opt, AVX2"
#elif defined(OPT_avx512)
#define VERSION CP_OPT_AVX512
#define NAME    "opt, AVX-512"
#elif defined(OPT_neon)
#define VERSION CP_OPT_NEON
#define NAME    "opt, NEON"
#elif defined(OPT_amx) || defined(OPT_amx_bfloat) || defined(OPT_amx_float) ||                     \
    defined(OPT_amx_latent)
#define VERSION CP_OPT_AMX
#define NAME    "opt, AMX, emulated where there is none"
#elif defined(OPT_avx512_bf16)
#define VERSION CP_OPT_AVX512_BF16
#define NAME    "opt, AVX-512 with products of bfloat16"
#else
#define VERSION CP_OPT_BEST
#define NAME    "opt"
#endif

#if defined(OPT_bfloat) || defined(OPT_amx_bfloat) || defined(OPT_amx_latent) ||                   \
    defined(OPT_avx512_bf16)
#define TYPE CP_BF16
#define SIZE sizeof(uint16_t)
#elif defined(OPT_float) || defined(OPT_amx_float)
#define TYPE CP_FP32
#define SIZE sizeof(float)
#else
#define TYPE CP_FP16
#define SIZE sizeof(uint16_t)
#endif

/* NUM-18: K and V of 8 bits, and what has a scale of its own. */
#if defined(OPT_e4m3) || defined(OPT_latent_e4m3)
#define K_TYPE CP_E4M3
#define V_TYPE CP_E4M3
#define SCALES CP_CACHE_SCALE_HEAD
#elif defined(OPT_int8)
#define K_TYPE CP_INT8
#define V_TYPE CP_INT8
#define SCALES CP_CACHE_SCALE_TOKEN
#elif defined(OPT_e5m2)
#define K_TYPE CP_E5M2
#define V_TYPE TYPE
#define SCALES CP_CACHE_SCALE_TENSOR
#else
#define K_TYPE TYPE
#define V_TYPE TYPE
#define SCALES CP_CACHE_SCALE_TENSOR
#endif

/* CONV-13: values with a width of their own, or in their keys. */
#if defined(OPT_latent) || defined(OPT_latent_e4m3) || defined(OPT_amx_latent)
#define IN_KEYS 1
#else
#define IN_KEYS 0
#endif
#if IN_KEYS || defined(OPT_widths)
#define WIDTHS CP_WIDTHS_ANY
#else
#define WIDTHS CP_WIDTHS_EQUAL
#endif

/* The workspace: bytes of each part, in this order, so that each is aligned. */
struct parts {
    size_t lse;   /* double [n_rows][h] */
    size_t heads; /* double [h]: slopes, and sinks, too */
    size_t table; /* double [h][n_biases] */
    size_t q;     /* [n_rows][h][d] */
    size_t out;   /* [n_rows][h][d_v] */
    size_t k, v;  /* [capacity][h_kv][c][d], or [d_v]; 0 when it is contiguous already, or in K */
};

static size_t lines(size_t n, size_t size) {
    return (n * size + 63) / 64 * 64;
}

static struct parts parts_of(const struct cp_kernel_call *call) {
    size_t d = (size_t)call->head_dim, d_v = (size_t)call->value_dim;
    size_t results = (size_t)call->n_rows * (size_t)call->n_heads;
    int has_v =
        IN_KEYS || is_contiguous(call, call->value_dim, call->v_chunk, call->v_head, call->v_slot);
    size_t k = lines(pool_bytes(call, call->head_dim, cp_number_size(K_TYPE)), 1);
    size_t v = lines(pool_bytes(call, call->value_dim, cp_number_size(V_TYPE)), 1);
    return (struct parts){
        lines(results, sizeof(double)),
        lines((size_t)call->n_heads, sizeof(double)),
        lines((size_t)call->n_heads * (size_t)call->n_biases, sizeof(double)),
        lines(results * d, SIZE),
        lines(results * d_v, SIZE),
        is_contiguous(call, call->head_dim, call->k_chunk, call->k_head, call->k_slot) ? 0 : k,
        has_v ? 0 : v};
}

static size_t workspace(const struct cp_kernel_call *call) {
    struct parts p = parts_of(call);
    return p.lse + 2 * p.heads + p.table + p.q + p.out + p.k + p.v;
}

static const char *refuses(const struct cp_kernel_call *call) {
    struct cp_opt *opt;
    int status = cp_opt_new(&opt, 1, VERSION);
    cp_opt_free(opt);
    return status == CP_ERROR_UNSUPPORTED ? "this machine cannot run this version"
           : call->n_sequences > CP_MAX_SEQUENCES || call->table_width > CP_MAX_DEPTH ||
                   call->chunk_size > CP_MAX_CHUNK_SIZE || call->capacity > CP_MAX_CHUNKS
               ? "the library is built for fewer sequences, chunks or tokens in a chunk"
           : copies_too_much(call, SIZE) ? "a copy of the pool takes too much memory"
                                         : NULL;
}

/* The workspace of cp_opt_attend() depends on the plan, so it is none of the call's. */
static int attend_in(struct cp_opt *opt, struct cp_attention *attention) {
    attention->workspace_size = cp_opt_workspace(opt, attention);
    attention->workspace = malloc(attention->workspace_size + 1);
    int status = attention->workspace == NULL ? CP_ERROR_NO_MEMORY : cp_opt_attend(opt, attention);
    free(attention->workspace);
    return status;
}

/* Numbers of heads in binary64; NULL stays. */
static const double *widened(const float *from, size_t n, char *room) {
    double *to = (double *)(void *)room;
    for (size_t i = 0; i < n && from != NULL; i++) {
        to[i] = (double)from[i];
    }
    return from == NULL ? NULL : to;
}

static int attend_plan(const struct cp_kernel_call *call, const struct cp_plan *plan,
                       struct cp_opt *opt) {
    struct parts p = parts_of(call);
    char *lse = call->workspace, *slopes = lse + p.lse, *sinks = slopes + p.heads;
    char *table = sinks + p.heads, *q = table + p.table, *out = q + p.q;
    char *k = out + p.out, *v = k + p.k;
    size_t heads = (size_t)call->n_heads;
    struct cp_attention attention = {
        .plan = plan,
        .stamp = plan->stamp,
        .n_heads = call->n_heads,
        .n_kv_heads = call->n_kv_heads,
        .head_dim = call->head_dim,
        .value_dim = call->value_dim,
        .v_row = IN_KEYS ? call->head_dim : call->value_dim,
        .scale = call->scale,
        .query_begin = call->query_begin,
        .position = call->position,
        .window = {call->window, call->ahead, call->kept},
        .mask = {call->mask_bits, call->mask_first, call->mask_begin},
        .scores = {call->cap,
                   widened(call->slopes, heads, slopes),
                   widened(call->sinks, heads, sinks),
                   {widened(call->biases, heads * (size_t)call->n_biases, table), call->n_biases,
                    call->own_bias}},
        .scales = {SCALES, call->k_scales, call->v_scales},
        .q_type = TYPE,
        .k_type = K_TYPE,
        .v_type = V_TYPE,
        .out_type = TYPE,
        .q = q,
        .k = p.k == 0 ? call->k : k,
        .v = IN_KEYS && p.k != 0 ? k
             : p.v == 0          ? call->v
                                 : v,
        .out = out,
        .lse = (double *)(void *)lse,
    };
    gather_rows(call, SIZE, q);
    if (p.k != 0) {
        gather_pool(call, call->head_dim, cp_number_size(K_TYPE), call->k, call->k_chunk,
                    call->k_head, call->k_slot, k);
    }
    if (p.v != 0) {
        gather_pool(call, call->value_dim, cp_number_size(V_TYPE), call->v, call->v_chunk,
                    call->v_head, call->v_slot, v);
    }
    int status = attend_in(opt, &attention);
    if (status == CP_OK) {
        scatter_results(call, SIZE, out, attention.lse);
    }
    return status;
}

static int attend(const struct cp_kernel_call *call) {
    struct cp_plan *plan;
    struct cp_opt *opt = NULL;
    int status = cp_plan_new(&plan);
    if (status != CP_OK) {
        return status;
    }
    fill_plan(call, plan);
    status = is_right_plan(call, plan) ? cp_opt_new(&opt, 2, VERSION) : CP_ERROR_ARGUMENT;
    status = status == CP_OK ? attend_plan(call, plan, opt) : status;
    cp_opt_free(opt);
    cp_plan_free(plan);
    return status;
}

const struct cp_kernel cp_kernel = {
    .abi = CP_KERNEL_ABI,
    .name = NAME,
    .q_type = TYPE,
    .kv_type = TYPE,
    .out_type = TYPE,
    .lse_type = CP_FP64,
    .plans = CP_PLANS_LISTS,
    .widths = WIDTHS,
    .layout = {.tensors = IN_KEYS ? CP_TENSORS_KEYS : CP_TENSORS_TWO},
    .masks = CP_MASKS_WINDOW | CP_MASKS_AHEAD | CP_MASKS_KEPT | CP_MASKS_BITS,
    .scores = CP_SCORES_CAP | CP_SCORES_SLOPES | CP_SCORES_SINKS | CP_SCORES_BIASES,
    .cache = {K_TYPE == TYPE ? CP_CACHE_PLAIN : K_TYPE, V_TYPE == TYPE ? CP_CACHE_PLAIN : V_TYPE,
              SCALES},
    .arithmetic = CP_OPT_ARITHMETIC,
    .refuses = refuses,
    .workspace = workspace,
    .attend = attend,
};
