/* SPDX-License-Identifier: Apache-2.0 */
/* A kernel for the gate: the C interface of a shared object that `chunkproof gate` checks.
 *
 * The object defines one symbol, `cp_kernel`:
 *
 *     #include <chunkproof/kernel.h>
 *
 *     static int attend(const struct cp_kernel_call *call) { ...; return 0; }
 *
 *     const struct cp_kernel cp_kernel = {
 *         .abi = CP_KERNEL_ABI,
 *         .name = "mine",
 *         .q_type = CP_FP16, .kv_type = CP_FP16, .out_type = CP_FP16, .lse_type = CP_NO_LSE,
 *         .arithmetic = {.score = CP_SUM_FP32, .weights = CP_FP32, .values = CP_SUM_FP32, .partials = CP_FP32,
 *                        .exp_error = 0x1p-22, .step = 1},
 *         .attend = attend,
 *     };
 *
 *     cc -shared -fPIC -o mine.so mine.c && chunkproof gate --kernel mine.so
 *
 * What attend() is to compute: attention of each query row and head over the keys that it sees (SOFTMAX-2, TPP-5,
 * PREFILL-2). Row r of sequence s, which has the rows query_begin[s] .. query_begin[s+1]-1 for its last positions in
 * order, sees all but the last query_begin[s+1]-1-r of its n_tokens[s] keys: none, where there are more rows than keys; a
 * row that sees no key gives zeros and log-sum-exp -infinity. How far the result may be from that is the certified
 * tolerance of the arithmetic that the kernel declares (NUM-10), and nothing else.
 *
 * Where the keys are is said twice, and a kernel may use either: as a plan (shared[], then each sequence's own
 * chunks: what two-phase partition walks), or paged (the whole table: what a paged kernel walks).
 *
 * A kernel for a GPU says so (memory), gets arrays in the device's memory and starts its work on `stream`; a whole one
 * is tests/example/paged_kernel.cu. `chunkproof gate --kernel mine.cu` also runs it where there is no GPU. */
#ifndef CHUNKPROOF_KERNEL_H
#define CHUNKPROOF_KERNEL_H

#include <stddef.h>

#include "chunkproof/number.h"
#include "chunkproof/plan.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Of this file, with the sizes of what both sides see: a kernel that was compiled with another one is not loaded. */
#define CP_KERNEL_VERSION 2
#define CP_KERNEL_ABI                                                                              \
    (1000000 * CP_KERNEL_VERSION + 1000 * (int)sizeof(struct cp_kernel_call) +                     \
     (int)sizeof(struct cp_kernel))

/* One call. All arrays are read-only but out, lse and workspace; they lie apart, begin at a multiple of 64 bytes, and
 * lse may be NULL; on the host stream and on_host are NULL; nothing else is. What is read of Q, K and V is finite. Strides are
 * in elements, positive, and of 64 bits; the last index has stride 1. Chunks may lie further apart than 32 bits hold: who
 * does not take that refuses it. */
struct cp_kernel_call {
    int n_sequences; /* b >= 1 */
    int n_rows;      /* query rows of all sequences, >= 0 */
    int n_heads;     /* h */
    int n_kv_heads;  /* h_kv, a divisor of h: query head a reads K/V head a / (h / h_kv) */
    int head_dim;    /* d */
    int chunk_size;  /* c */
    int capacity;    /* chunks of the pool, >= 1: chunk numbers are below */
    double scale;    /* of q . k; usually 1 / sqrt(d) */

    const int *n_tokens;    /* [b] keys of each sequence, >= 0 */
    const int *query_begin; /* [b + 1] from 0 on: sequence s has rows query_begin[s] .. [s+1]-1 */

    /* Paged: keys i c .. i c + c - 1 of sequence s are in chunk table[s table_width + i], from its slot 0 on; -1
     * behind the last chunk of a sequence. */
    int table_width;  /* chunks of the longest sequence, or more */
    const int *table; /* [b][table_width] */

    /* As a plan (PLAN-1 to PLAN-4): the chunks that two or more sequences share, each once with its range, parents
     * before children. They are the first n_shared_chunks[s] of sequence s's chunks; the others are its own. Of a
     * struct cp_shared_chunk (plan.h): chunk, which; begin, end, the sequences [begin, end) that have it; n_tokens, its
     * keys, c; position, how many keys come before it on the path. */
    int n_shared;
    const struct cp_shared_chunk *shared; /* [n_shared] */
    const int *n_shared_chunks;           /* [b] */

    /* [n_rows][h][d]: element i of row r and head a at r q_row + a q_head + i */
    const void *q;
    long long q_row, q_head;

    /* [capacity][h_kv][c][d]: at chunk k_chunk + head k_head + slot k_slot + i. What lies behind a sequence's last key
     * is nobody's, perhaps a NaN. V as K, with strides of its own. */
    const void *k;
    long long k_chunk, k_head, k_slot;
    const void *v;
    long long v_chunk, v_head, v_slot;

    /* [n_rows][h][d], to be written whole; lse: [n_rows][h] natural log-sum-exp of the scaled scores, NULL when it is not
     * asked for */
    void *out;
    long long out_row, out_head;
    void *lse;
    long long lse_row, lse_head;

    void *workspace; /* as many bytes as workspace() said; what is in it is not defined */
    size_t workspace_size;

    /* Device memory: a cudaStream_t, and this call once more with the lists from n_tokens to n_shared_chunks in memory
     * of the host, for what a launcher must know; its other arrays are NULL. On the host both are NULL. */
    void *stream;
    const struct cp_kernel_call *on_host;
};

/* How a sum of products is added up. */
#define CP_SUM_FP32        0 /* binary32, to nearest, in any order; fused or not */
#define CP_SUM_TENSOR_CORE 1 /* binary32 by tensor cores, which align and cut off */
#define CP_SUM_FP16        2 /* binary16 */
#define CP_SUM_FP64        3 /* binary64: everything else is, too */

/* The arithmetic class (NUM-7), in the words of kernels: it is this that the kernel is held to. Declare what the kernel
 * does, not what would pass: what is declared wider than it is lets errors through. Set every field: one that is left out
 * is 0, which is CP_SUM_FP32 and CP_FP16. */
struct cp_kernel_class {
    int score;   /* how q . k is added up: CP_SUM_... */
    int weights; /* type of P as it is multiplied with V: CP_FP32 (not rounded), CP_FP16, CP_BF16 */
    int values;  /* how P V is added up: CP_SUM_... */
    int partials;    /* type in which n and o are kept between steps: CP_FP32 or CP_FP16 */
    int rounded_sum; /* 1: n is the sum of the rounded P; 0: of the P before they were rounded */
    int divides; /* Of partial results i, with n_i, o_i, m_i: 0: o is divided once, at the end: sum exp(m_i - m) o_i / sum
                    exp(m_i - m) n_i. 1: each is divided, and merged as o_i / n_i and its log-sum-exp l_i, as split-KV
                    does: sum w_i (o_i / n_i) / sum w_i, w_i = exp(l_i - max l). 2: the same without a division by the
                    sum of factors, w_i = exp(l_i - l): the rounding of l stays in the result */
    int in_bits; /* 1: scores are multiplied by log2(e), and weights are powers of two */
    int truncates; /* 1: results are cut off, not rounded to nearest */
    int flushes; /* 1: subnormal numbers become 0, in sums and in out: of a binary16 result, what is below 2^-14 */

    /* Relative error of the exponential, from 0 to 2^-6; 2^-22 holds for expf() and for exp2f() on a GPU. */
    double exp_error;

    /* How many keys are weighed against one maximum before it may change: 1, key by key; 64, tiles of 64; 0, a
     * chunk. More than c counts as c, also one maximum for all keys. The last one
     * before the end of a chunk or a path, or of the keys of one partial result, may be shorter, and one may reach into
     * the next chunk (GATE-2). There are no more partial results than such steps, those without a key not counted. */
    int step;
};

#define CP_NO_LSE (-1)

/* Where a kernel's arrays are. */
#define CP_HOST_MEMORY   0
#define CP_DEVICE_MEMORY 1 /* of the current CUDA device: the struct of the call is the host's */

struct cp_kernel {
    int abi;                       /* CP_KERNEL_ABI */
    const char *name;              /* for reports */
    int q_type, kv_type, out_type; /* CP_FP16, CP_BF16, CP_FP32 or CP_FP64 */
    int lse_type;                  /* CP_FP32, CP_FP64, or CP_NO_LSE: it gives none */
    int memory;                    /* CP_HOST_MEMORY or CP_DEVICE_MEMORY */
    struct cp_kernel_class arithmetic;

    /* NULL: it takes every call; else a sentence for a call that it does not take, and NULL for one that it does.
     * Looks at sizes alone (all numbers of the call, n_shared and strides among them), not into arrays: these are NULL,
     * and so is on_host. */
    const char *(*refuses)(const struct cp_kernel_call *call);

    /* NULL: it needs none; else bytes that a call needs. As above. */
    size_t (*workspace)(const struct cp_kernel_call *call);

    /* 0, or any other number when it failed, which is a finding. When it returns all is written, and nothing works on
     * in the background. With device memory it need not wait: this holds once all that it put on its stream is done.
     * Results must not depend on earlier calls. */
    int (*attend)(const struct cp_kernel_call *call);
};

/* The kernel. In C++ write `struct cp_kernel` for the type: the variable hides the shorter name. */
extern const struct cp_kernel cp_kernel;

#ifdef __cplusplus
}
#endif

#endif
