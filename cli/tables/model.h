/* SPDX-License-Identifier: Apache-2.0 */
/* The papers' analytical model as functions (spec/model.md, MODEL-1 ..): FLOPs and bytes of one
 * transformer layer, memory operations of the attention kernels, KV bytes, capacity under sharing.
 * All amounts are whole numbers below 2^53, so double holds them exactly.
 */
#ifndef CHUNKPROOF_CLI_TABLES_MODEL_H
#define CHUNKPROOF_CLI_TABLES_MODEL_H

#define CP_MIB 1048576.0
#define CP_GIB 1073741824.0

/* One layer, and the vocabulary projection after the last one. */
struct cp_layer {
    int hidden;   /* H = heads * head_dim */
    int heads;    /* h */
    int head_dim; /* d */
    int inner;    /* I, the width of the MLP */
    int vocabulary;
    int number_bytes; /* 2 for FP16 */
};

struct cp_cost {
    double flops;
    double bytes; /* the papers' IO and MOPs */
};

/* Llama2 7B in FP16: the layer of all FLOPs and MOPs tables. */
struct cp_layer cp_layer_llama2_7b(void);

/* (m x k)(k x n): 2mkn FLOPs; each operand read once, the result written once. All else below is
 * sums of this one (MODEL-1). */
struct cp_cost cp_cost_matmul(double m, double k, double n, int number_bytes);

/* The modules for `tokens` tokens in one pass: all of a prompt, or one of each sequence (MODEL-2,
 * MODEL-4, MODEL-5). */
struct cp_cost cp_cost_qkv(const struct cp_layer *layer, double tokens);
struct cp_cost cp_cost_mlp(const struct cp_layer *layer, double tokens);
struct cp_cost cp_cost_hidden_projection(const struct cp_layer *layer, double tokens);
struct cp_cost cp_cost_vocabulary_projection(const struct cp_layer *layer, double tokens);

/* softmax(QK^T)V of `batch` sequences with n_queries rows and n_keys keys each, unfused: the scores
 * are written once and read once. No FLOPs for the softmax, no saving for a causal mask
 * (MODEL-3). */
struct cp_cost cp_cost_attention(const struct cp_layer *layer, double batch, double n_queries,
                                 double n_keys);

double cp_intensity(struct cp_cost cost);

/* b sequences of n tokens, all sharing the first n_shared, in chunks of c; h heads of d. */
struct cp_kernel_shape {
    double b, h, d, c, n, n_shared;
};

/* Memory operations in numbers (not bytes) of one decoding step. */
double cp_mops_naive(const struct cp_kernel_shape *shape);        /* (4), MODEL-14 */
double cp_mops_chunk_line_1(const struct cp_kernel_shape *shape); /* (3), first line */
double cp_mops_chunk_line_2(const struct cp_kernel_shape *shape); /* (3), second line */

/* What the two phases move: only full chunks are shared, a partial result is o, m and n, and the
 * sequence-first phase reads it again. Buffered and merge-at-once move the same: of k merges the
 * first reads no state, and the sequence-first phase reads the last one (MODEL-15). */
double cp_mops_two_phase(const struct cp_kernel_shape *shape);

struct cp_dims {
    const char *name;  /* as the option --model takes it */
    const char *title; /* as a table shows it */
    double parameters; /* 0 where no formula needs them */
    int layers;
    int heads;
    int kv_heads;
    int head_dim;
    int number_bytes;
};

/* Known models; NULL for an unknown name. cp_dims_at(i) is NULL after the last one. */
const struct cp_dims *cp_dims_find(const char *name);
const struct cp_dims *cp_dims_at(int i);

/* K and V of one token over all layers; as if every query head had its own, for the second
 * (MODEL-9). */
double cp_kv_bytes(const struct cp_dims *dims);
double cp_kv_bytes_all_heads(const struct cp_dims *dims);

/* If b sequences fit without sharing, this factor times b fit with it: (1 - r/b)/(1 - r).
 * HUGE_VAL when everything is shared. Tends to the papers' 1/(1 - r) as b grows (MODEL-10). */
double cp_capacity_gain(double b, double n, double n_shared);
double cp_capacity_gain_limit(double n, double n_shared);

/* The same in whole chunks (MODEL-11 .. MODEL-13). */
struct cp_capacity {
    long long chunks_unshared; /* b ceil(n/c) */
    long long chunks_shared;   /* for the same b: floor(n_s/c) + b (ceil(n/c) - floor(n_s/c)) */
    long long fits;            /* sequences in chunks_unshared chunks; -1: any number */
    long long stored_again;    /* (b - 1)(n_s mod c) shared tokens that sequences store again */
    long long padding;         /* token places of partial last chunks, with sharing */
};

struct cp_capacity cp_capacity_in_chunks(long long b, long long n, long long n_shared, long long c);

/* The model with the sizes of `given` that are above 0. Without K/V heads there, as many as heads,
 * unless the model has fewer. */
void cp_dims_resize(struct cp_dims *model, const struct cp_dims *given);

#endif
