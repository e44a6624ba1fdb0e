/* SPDX-License-Identifier: Apache-2.0 */
/* For tests: version 8 of include/chunkproof/kernel.h without its comments, as somebody keeps it
 * whose kernel was written for it (tests/gate/version_8/adapter_e5m2.c). */
#ifndef CHUNKPROOF_KERNEL_H
#define CHUNKPROOF_KERNEL_H

#include <stddef.h>

#include "chunkproof/number.h"
#include "chunkproof/number8.h"
#include "chunkproof/plan.h"

#ifdef __cplusplus
extern "C" {
#endif

#define CP_KERNEL_VERSION 8
#define CP_KERNEL_ABI                                                                              \
    (1000000 * CP_KERNEL_VERSION + 1000 * (int)sizeof(struct cp_kernel_call) +                     \
     (int)sizeof(struct cp_kernel))

#define CP_PLANS_TREES  0
#define CP_PLANS_RANGES 1
#define CP_PLANS_LISTS  2

#define CP_KEYS_PLACED 0
#define CP_KEYS_RAW    1
#define CP_KEYS_LOCAL  2

#define CP_PAIRS_HALVES     0
#define CP_PAIRS_NEIGHBOURS 1

struct cp_kernel_call {
    int n_sequences;
    int n_rows;
    int n_heads;
    int n_kv_heads;
    int head_dim;
    int chunk_size;
    int capacity;
    double scale;
    int plan;
    int window;
    int ahead, kept;
    int changes;
    double cap;
    const float *slopes;
    const float *sinks;
    const int *n_tokens;
    const int *query_begin;
    const int *position;
    int table_width;
    const int *table;
    const int *table_tokens;
    const int *table_position;
    int n_served;
    const int *served;
    int n_shared;
    const struct cp_shared_chunk *shared;
    const int *n_shared_chunks;
    const void *q;
    long long q_row, q_head;
    const void *k;
    long long k_chunk, k_head, k_slot;
    const void *v;
    long long v_chunk, v_head, v_slot;
    const float *k_scales, *v_scales;
    int rotary_dim;
    int n_angles;
    const float *rotation;
    void *out;
    long long out_row, out_head;
    void *lse;
    long long lse_row, lse_head;
    void *workspace;
    size_t workspace_size;
    void *stream;
    const struct cp_kernel_call *on_host;
};

#define CP_SUM_FP32        0
#define CP_SUM_TENSOR_CORE 1
#define CP_SUM_FP16        2
#define CP_SUM_FP64        3
#define CP_SUM_BF16        4

#define CP_FACTORS_FP32 0
#define CP_FACTORS_FP16 1
#define CP_FACTORS_BF16 2

#define CP_SCALES_SCORES     0
#define CP_SCALES_QUERY_FP16 1
#define CP_SCALES_QUERY_BF16 2

struct cp_kernel_class {
    int score;
    int weights;
    int rotated;
    int dequantised;
    int scales;
    int values;
    int partials;
    int rounded_sum;
    int divides;
    int normalises;
    int factors;
    int in_bits;
    int truncates;
    int flushes;
    double exp_error;
    double tanh_error, tanh_absolute;
    double divide_error;
    double epsilon;
    int step;
};

#define CP_NO_LSE (-1)

#define CP_LSE_NATURAL 0
#define CP_LSE_BITS    1

#define CP_EMPTY_NEUTRAL     0
#define CP_EMPTY_NAN         1
#define CP_EMPTY_VALUE       2
#define CP_EMPTY_UNSPECIFIED 3

#define CP_NEVER_EMPTY_SEQUENCES 1
#define CP_NEVER_EMPTY_ROWS      2
#define CP_NEVER_ROWLESS         4
#define CP_NEVER_UNEQUAL_ROWS    8

#define CP_INVARIANT_NOT   0
#define CP_INVARIANT_BATCH 1
#define CP_INVARIANT_CUTS  2

#define CP_WINDOW_OF_KEYS 0
#define CP_WINDOW_BEFORE  1

#define CP_CAP_FIRST 0
#define CP_CAP_LAST  1

#define CP_BIAS_SIGNED   0
#define CP_BIAS_DISTANCE 1

#define CP_BIAS_POSITION 2

#define CP_SINK_IN_LSE     0
#define CP_SINK_BESIDE_LSE 1

struct cp_kernel_conventions {
    int lse_base;
    int empty_out;
    int empty_lse;
    double empty_value;
    int never;
    int invariant;
    int window;
    int cap;
    int bias;
    int sink;
};

#define CP_MASKS_WINDOW 1
#define CP_MASKS_AHEAD  2
#define CP_MASKS_KEPT   4

#define CP_SCORES_CAP    1
#define CP_SCORES_SLOPES 2
#define CP_SCORES_SINKS  4

#define CP_CACHE_PLAIN 0
#define CP_CACHE_E4M3  1
#define CP_CACHE_E5M2  2
#define CP_CACHE_INT8  3

struct cp_kernel_cache {
    int k, v;
    int scales;
};

#define CP_HOST_MEMORY   0
#define CP_DEVICE_MEMORY 1

struct cp_kernel {
    int abi;
    const char *name;
    int q_type, kv_type, out_type;
    int lse_type;
    int memory;
    int plans;
    int keys;
    int pairs;
    int masks;
    int scores;
    struct cp_kernel_cache cache;
    struct cp_kernel_conventions conventions;
    struct cp_kernel_class arithmetic;
    const char *(*refuses)(const struct cp_kernel_call *call);
    size_t (*workspace)(const struct cp_kernel_call *call);
    int (*attend)(const struct cp_kernel_call *call);
};

extern const struct cp_kernel cp_kernel;

#ifdef __cplusplus
}
#endif

#endif
