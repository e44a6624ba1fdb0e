/* SPDX-License-Identifier: Apache-2.0 */
/* Attention over a plan on a GPU: the launcher of the CUDA kernels (kernels/). The caller allocates
 * all device memory.
 *
 * tests/example/decode_cuda.c is a complete program. The launcher is in a library of its own,
 * libchunkproof_cuda.a: `make cuda` builds it where nvcc is installed, and `make install` then also
 * installs it.
 *
 *     cc program.c -I/usr/local/cuda/include -lchunkproof_cuda \
 *        $(pkg-config --cflags --libs chunkproof) -L/usr/local/cuda/lib64 -lcudart -lstdc++ -lm
 *
 * kernels/README.md says how the kernels work and what was checked. An earlier version of them
 * passed on one GPU, an H200; what came later has run only on the executor.
 *
 *     struct cp_cuda *cuda;
 *     size_t size = cp_cuda_workspace(&limits);
 *     cudaMalloc(&workspace, size);
 *     cp_cuda_new(&cuda, &limits, workspace, size);
 *     for each step of decoding:
 *         cp_plan_update(plan, tree);
 *         cp_cuda_update(cuda, plan, NULL, NULL, stream); copies what has changed
 *         for each layer: cp_cuda_attend(cuda, &attention, stream);
 *     cp_cuda_free(cuda);
 *
 * Streams and threads. A stream is a cudaStream_t of the device that was current when cp_cuda_new()
 * was called; the caller makes this device current for all other calls. An update must come after
 * all attention of the step before, and attention after its update: one stream gives this order.
 * Only one host thread may use a struct cp_cuda at a time. Calls do not wait for the device, with
 * one exception: an update waits for the copy of the update before.
 *
 * K and V. The caller owns them, and writes the keys and values of new tokens on the device, where
 * POOL-7 says. When cp_tree_fork() returns a copy_from that is not -1, the caller copies that
 * chunk's slice of K and of V, h_kv c d numbers each, to the slice of copy_to: with
 * cudaMemcpyAsync() in the same stream, before attention. So it does with scales of tokens, h_kv c
 * of them. cp_kv_write() and cp_kv_copy() are for host memory.
 *
 * Requirements. The device has compute capability 8.0 or more; other devices are refused. K and V
 * are in the layout of POOL-7.
 *
 * Types. Q is in binary16 or bfloat16. K and V are of the same type; or both have 8 bits, each in
 * E4M3, E5M2 or INT8 (NUM-16), and perhaps scales (NUM-18). The output is of the type of Q, or in
 * binary32. A call says which, and layers of any types may share an update. All versions take all
 * of these. Refused are K and V of which one has 8 bits, or another type of 16 bits than Q, and
 * scales of numbers of 16 bits.
 *
 * Widths. Values that have another number of elements than keys, or lie in longer rows, take
 * version 3, with Q, K and V of one type of 16 bits. It is compiled for d = 64 with d_v = 32 and
 * for d = 192 with d_v = 128; and for values in keys with d = 96, d_v = 64 and d = 576, d_v = 512.
 * v_row is a multiple of 8. Values in keys have v_row = d and begin at any number of their key that
 * is a multiple of 8, that of the first value. With d_v = v_row = d all versions take V at K.
 *
 * Masks. A mask of bits (MASK-1) takes version 1, with any types, and values of the width of keys.
 * Version 1 computes each score anew for each element of the output, which takes long. Calls
 * without a mask, also over the same update, take the versions that they take anyway.
 *
 * Arithmetic (NUM-7). Sums are in binary32. Version 3 rounds weights to the type of Q before it
 * multiplies them by V; in bfloat16 that leaves 8 bits of them. Numbers of 8 bits are exact in each
 * type of Q. A scale is multiplied in binary32 (NUM-19), that of K by the score. That of V is
 * multiplied by the number in version 1, by the weight in version 2, and by o in version 3; but
 * version 3 multiplies numbers of V by scales of tokens, and rounds the products to the type of Q.
 * In binary16 such a product is to be at most 65504 in magnitude, which is not checked. Results do
 * not depend on when and where threads run. Their last bits depend on the version and on
 * chunks_per_task. */
#ifndef CHUNKPROOF_CUDA_H
#define CHUNKPROOF_CUDA_H

#include <stddef.h>

#include "chunkproof/attention.h"
#include "chunkproof/plan.h"
#include "chunkproof/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The limits of a cp_cuda. Each number is 1 or more. n_rows * n_heads is at most 2^30; the rows of
 * partial results, n_rows times the tasks on a path, are at most INT_MAX. cp_cuda_update() refuses
 * a plan that does not fit. Limits that are too large cost only memory. */
struct cp_cuda_limits {
    int n_sequences; /* b, at most CP_MAX_SEQUENCES */
    int n_rows;      /* query rows: b when decoding; at most 2^30 */
    int n_chunks;    /* descriptors and own runs together, at most CP_MAX_CHUNKS; in a tree, the
                        chunks in use at once: at most the pool's capacity */
    int depth;       /* runs of a sequence, in a tree chunks on a path; at most CP_MAX_DEPTH */

    /* Into how many pieces the runs of a sequence fall. A piece is a series of consecutive runs
     * that the same list of sequences has, and of which all but the last are full chunks. In a tree
     * each range is a piece: 1 if nothing is shared, 2 if one prefix is, 3 if all share a prefix
     * and some share more, and so on. With modules, count a prompt's modules and its own texts, and
     * add one for each gap and each partial chunk within them. At most CP_MAX_DEPTH; depth is
     * always enough. */
    int levels;

    int n_heads;  /* h, at most 65535 */
    int head_dim; /* the greater one of d and d_v, at most 1024 */

    /* A path is cut into tasks of at most this many chunks, so that there is work for the whole
     * device. Start with about 512 keys, 512 / c; `make bench-gpu` measures several values. At most
     * CP_MAX_DEPTH. */
    int chunks_per_task;
};

/* Caps on scores are from here to its reciprocal. */
#define CP_CUDA_LEAST_CAP 0x1p-125

/* One layer. The arrays are in device memory, also those of `mask`, `scores` and `scales`; q, k, v
 * and out are aligned to 16 bytes. Slopes, biases and sinks are at most FLT_MAX / 2 in magnitude,
 * which is not checked. They and the cap are rounded to binary32. So are distances of 2^24 and more
 * between a key and a row that slopes are multiplied by; the tolerance does not count that. */
struct cp_cuda_attention {
    struct cp_stamp stamp; /* the tree's current one; a plan with another is refused (PLAN-5) */
    int version;           /* of the kernels, 1 to 3; 0: the highest that supports the call */
    int n_heads;           /* h */
    int n_kv_heads;        /* h_kv, a divisor of h */
    int head_dim;          /* d: numbers of a query and of a key */
    int value_dim;         /* d_v: of a value and of a result (WIDTH-1); usually d */
    int v_row;             /* from one value to the next in V, >= d_v (WIDTH-2); usually d_v */
    double scale;          /* usually 1 / sqrt(d); at most FLT_MAX / 2 in magnitude */
    const void *q;         /* [query rows][h][d] of q_type */
    const void
        *k; /* [capacity][h_kv][c][d] of k_type; slots after a chunk's last key are not read */
    const void *v;           /* [capacity][h_kv][c][v_row] of v_type, as k; of each row the first
                              * d_v numbers are read. It may lie in K: with v = k and v_row = d, a
                              * value is the first d_v numbers of its key (WIDTH-2) */
    int out_type;            /* q_type or CP_FP32 */
    void *out;               /* [query rows][h][d_v] of out_type */
    double *lse;             /* [query rows][h], natural logarithm; or NULL */
    struct cp_window window; /* which keys a row sees (WINDOW-1); all zeros: those up to its own */
    struct cp_mask mask;     /* bits that take keys away (MASK-1); all zeros: none */
    struct cp_scores scores; /* what changes scores, and sinks (SCORE-1 to 5); all zeros: nothing */
    int q_type;              /* CP_FP16, which is 0, or CP_BF16 */
    int k_type, v_type;      /* both that of q, or each CP_E4M3, CP_E5M2 or CP_INT8 */
    struct cp_scales scales; /* of K and V of 8 bits (NUM-18); all zeros: none */
};

struct cp_cuda;

/* Bytes of device memory that these limits need. 0 when limits is NULL, when a limit is out of its
 * range, or when the limits are too large together. To learn which, call cp_cuda_new() with these
 * limits and any workspace but NULL, and then cp_cuda_text(). */
size_t cp_cuda_workspace(const struct cp_cuda_limits *limits);

/* Allocates everything that is allocated: host memory, and an event. workspace is device memory of
 * workspace_size bytes, aligned to 256 bytes, as cudaMalloc() does; the caller keeps it until after
 * cp_cuda_free(). After a failure *cuda still exists, so that cp_cuda_text() can be asked; then
 * free it. Only after CP_ERROR_NO_MEMORY *cuda is NULL.
 *   CP_ERROR_ARGUMENT   cuda, limits or workspace is NULL, a limit is out of its range, the limits
 *                       are too large together, or workspace is not aligned
 *   CP_ERROR_WORKSPACE  workspace_size is below cp_cuda_workspace()
 *   CP_ERROR_NO_MEMORY  the host is out of memory
 *   CP_ERROR_CUDA       a call to CUDA failed */
int cp_cuda_new(struct cp_cuda **cuda, const struct cp_cuda_limits *limits, void *workspace,
                size_t workspace_size);

/* Takes NULL. The device must be done with it: call cudaStreamSynchronize() first. */
void cp_cuda_free(struct cp_cuda *cuda);

/* Brings the device's copy of the plan, of the query ranges and of the positions of query rows up
 * to date, asynchronously. The plan must be valid. query_begin and position are those of struct
 * cp_attention: either may be NULL. Copies nothing when nothing has changed; a number for each task
 * and each query row when only lengths or positions have (PLAN-6); and otherwise everything. The
 * caller may change all three as soon as the call returns. It cannot be captured in a graph: call
 * it before the graph is launched, in the same stream. After CP_ERROR_CUDA there is no plan on the
 * device; after any other failure the earlier plan stays.
 *   CP_ERROR_ARGUMENT   cuda or plan is NULL, another device is current, or the stream is being
 *                       captured
 *   CP_ERROR_SHAPE      query_begin does not begin at 0, or decreases
 *   CP_ERROR_WORKSPACE  the plan is larger than the limits
 *   CP_ERROR_CUDA       a call to CUDA failed */
int cp_cuda_update(struct cp_cuda *cuda, const struct cp_plan *plan, const int *query_begin,
                   const int *position, void *stream);

/* How many updates have copied everything; cuda is not NULL.
 *
 * A graph that has captured cp_cuda_attend() may be launched as long as this number stays the same.
 * The graph uses the lengths and positions that are on the device when it runs. A launch checks no
 * stamp, unlike cp_cuda_attend(), and uses whatever plan is there. So in each step
 *   1. call cp_cuda_update() in the same stream;
 *   2. if this number has changed, capture anew, or do without a graph in this step;
 *   3. launch the graph.
 * The number changes whenever a sequence gets a new chunk: with b sequences, about every c / b
 * steps. */
unsigned long long cp_cuda_generation(const struct cp_cuda *cuda);

/* Starts the kernels that compute out and, if it is not NULL, lse. Can be captured in a graph. out,
 * lse and the workspace must not overlap each other or anything else. Checks in this order; on
 * failure nothing is started:
 *   CP_ERROR_ARGUMENT     cuda or attention is NULL, or another device is current
 *   CP_ERROR_STALE        there is no plan on the device, or its stamp is not `stamp` (PLAN-5)
 *   CP_ERROR_ARGUMENT     q, k, v or out is NULL or not aligned, scale is NaN or out of range, a
 *                         number of the window is negative or above CP_MAX_WINDOW, the mask has
 *                         bits and no first ones, or arrays that are not aligned, the cap is
 *                         neither 0 nor from CP_CUDA_LEAST_CAP to its reciprocal, slopes, sinks,
 *                         biases or scales are not aligned, a table of biases has not the row's
 *                         own, scales.per is unknown
 *   CP_ERROR_SHAPE        h, h_kv, d or d_v is below 1, h is not a multiple of h_kv, or v_row is
 *                         below d_v
 *   CP_ERROR_WORKSPACE    h, d or d_v is above its limit
 *   CP_ERROR_UNSUPPORTED  q_type is neither CP_FP16 nor CP_BF16, k_type and v_type are neither
 *                         both q_type nor both of 8 bits, scales are there for K and V of 16 bits,
 *                         out_type is neither q_type nor CP_FP32, there is no such version, or the
 *                         version does not support these widths, a mask or this device
 *   CP_ERROR_CUDA         a call to CUDA failed */
int cp_cuda_attend(struct cp_cuda *cuda, const struct cp_cuda_attention *attention, void *stream);

/* A sentence, with the numbers, on what was wrong in the last call that failed; "" when no call
 * has. The text lives as long as cuda. For NULL it also returns a text. */
const char *cp_cuda_text(const struct cp_cuda *cuda);

#ifdef __cplusplus
}
#endif

#endif
