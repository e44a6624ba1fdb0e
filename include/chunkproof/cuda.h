/* SPDX-License-Identifier: Apache-2.0 */
/* Attention over a plan on a GPU: the launcher of the CUDA kernels (kernels/). All device memory is the caller's.
 *
 * A whole program is tests/example/decode_cuda.c. The launcher is in a library of its own, libchunkproof_cuda.a:
 * `make cuda` builds it where nvcc is there, and `make install` then installs it, too.
 *
 *     cc program.c -I/usr/local/cuda/include -lchunkproof_cuda $(pkg-config --cflags --libs chunkproof) \
 *        -L/usr/local/cuda/lib64 -lcudart -lstdc++ -lm
 *
 * How the kernels go, what was checked of them, and that no version has run on a GPU yet: kernels/README.md.
 *
 *     struct cp_cuda *cuda;
 *     size_t size = cp_cuda_workspace(&limits);
 *     cudaMalloc(&workspace, size);
 *     cp_cuda_new(&cuda, &limits, workspace, size);
 *     for each step of decoding:
 *         cp_plan_update(plan, tree);
 *         cp_cuda_update(cuda, plan, NULL, stream);       copies what has changed since the last step
 *         for each layer: cp_cuda_attend(cuda, &attention, stream);
 *     cp_cuda_free(cuda);
 *
 * A stream is a cudaStream_t, of the device that was current when cp_cuda_new() was called and is current in all
 * other calls. An update must come after all attention of the step before, and attention after its update: in one
 * stream they do. A struct cp_cuda is used by one thread of the host at a time. Nothing here waits for the device,
 * but an update for the copy of the update before.
 *
 * K and V are the caller's as well: keys and values of new tokens are written on the device, where POOL-7 says. After
 * cp_tree_fork() with a copy_from that is not -1 the caller copies that chunk's slice of K and of V, h_kv c d numbers
 * each, to that of copy_to: cudaMemcpyAsync() in the same stream, before attention. cp_kv_write() and cp_kv_copy() are
 * for memory of the host.
 *
 * Devices of compute capability 8.0 and up; on others attention is refused. Not there: K and V in other types than
 * binary16 or in other layouts than POOL-7's, sliding windows, caps of scores.
 *
 * The arithmetic is NUM-7's: Q, K and V in binary16, sums in binary32. Results do not depend on when and where
 * threads run; they depend on the version and on chunks_per_task, in their last bits. */
#ifndef CHUNKPROOF_CUDA_H
#define CHUNKPROOF_CUDA_H

#include <stddef.h>

#include "chunkproof/plan.h"
#include "chunkproof/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What a cp_cuda has room for. Each number is 1 or more; n_rows * n_heads is at most 2^30, and the rows of partial
 * results, n_rows times the tasks on a path, are at most INT_MAX. A plan that does not fit is refused by
 * cp_cuda_update(); what is not used costs memory alone. */
struct cp_cuda_limits {
    int n_sequences; /* b, at most CP_MAX_SEQUENCES */
    int n_rows;      /* query rows: b when decoding; at most 2^30 */
    int n_chunks;    /* in use at once: the pool's capacity, or less; at most CP_MAX_CHUNKS */
    int depth;       /* chunks on a path, at most CP_MAX_DEPTH */

    /* How many ranges of sequences the chunks on a path have, a sequence's own chunks counted as one: 1 nothing is
     * shared, 2 one prefix is, 3 a prefix by all and more by some, ... At most CP_MAX_DEPTH. */
    int levels;

    int n_heads;  /* h, at most 65535 */
    int head_dim; /* d, at most 1024 */

    /* A path is cut into tasks of at most so many chunks, so that there is work for the whole device. A starting point
     * is about 512 keys, 512 / c; `make bench-gpu` measures several. At most CP_MAX_DEPTH. */
    int chunks_per_task;
};

/* One layer. Memory is the device's; q, k, v and out are aligned to 16 bytes. */
struct cp_cuda_attention {
    struct cp_stamp stamp; /* the tree's, now: a plan with another one is refused (PLAN-5) */
    int version;           /* of the kernels, 1 to 3; 0: the highest that can do it */
    int n_heads;           /* h */
    int n_kv_heads;        /* h_kv, a divisor of h */
    int head_dim;          /* d */
    double scale;          /* usually 1 / sqrt(d); at most FLT_MAX / 2 in magnitude */
    const void *q;         /* [query rows][h][d] binary16 */
    const void
        *k; /* [capacity][h_kv][c][d] binary16; what lies behind a chunk's last key is not read */
    const void *v; /* as k */
    int out_type;  /* CP_FP16 or CP_FP32 */
    void *out;     /* [query rows][h][d] of out_type */
    double *lse;   /* [query rows][h], natural logarithm; or NULL */
};

struct cp_cuda;

/* Bytes of device memory that these limits need; 0 when limits is NULL, one is out of its range or they are too large
 * together. Which it is, cp_cuda_text() says after a cp_cuda_new() with these limits and any workspace but NULL. */
size_t cp_cuda_workspace(const struct cp_cuda_limits *limits);

/* Everything that is allocated is allocated here: host memory, and an event. workspace is device memory of
 * workspace_size bytes, aligned to 256 as cudaMalloc() does; the caller keeps it until after cp_cuda_free().
 * After a failure *cuda is there all the same, to be asked with cp_cuda_text() and then freed; only after
 * CP_ERROR_NO_MEMORY it is NULL.
 *   CP_ERROR_ARGUMENT   cuda, limits or workspace is NULL, a limit is out of its range, they are too large together,
 *                       workspace is not aligned
 *   CP_ERROR_WORKSPACE  workspace_size is below cp_cuda_workspace()
 *   CP_ERROR_NO_MEMORY  the host has none
 *   CP_ERROR_CUDA       a call failed */
int cp_cuda_new(struct cp_cuda **cuda, const struct cp_cuda_limits *limits, void *workspace,
                size_t workspace_size);

/* Takes NULL. The device must be done with it: call cudaStreamSynchronize() before. */
void cp_cuda_free(struct cp_cuda *cuda);

/* The device's copy of the plan, a valid one, and of the query ranges (PREFILL-1; NULL: one query each) becomes what
 * they are now, asynchronously. Copies nothing when nothing has changed, b numbers when only lengths have
 * (PLAN-6), else everything. Both may be changed as soon as it returns. Not to be captured in a graph: call it before
 * the graph is launched, in the same stream.
 * After a failure with CP_ERROR_CUDA there is no plan on the device; after any other the one before is.
 *   CP_ERROR_ARGUMENT   cuda or plan is NULL, another device is current, the stream is being captured
 *   CP_ERROR_SHAPE      query_begin does not begin at 0 or decreases
 *   CP_ERROR_WORKSPACE  the plan is larger than the limits
 *   CP_ERROR_CUDA       a call failed */
int cp_cuda_update(struct cp_cuda *cuda, const struct cp_plan *plan, const int *query_begin,
                   void *stream);

/* +1 for each update that copied everything; cuda is not NULL. A graph that has captured cp_cuda_attend() may be
 * launched as long as this number stays: it walks the lengths that are on the device when it runs. Nothing checks a
 * stamp then, as cp_cuda_attend() does: a launch walks whatever plan is there. So in each step call cp_cuda_update()
 * in the same stream before the launch, and when this number has changed capture anew, or do without a graph in that
 * step. A sequence that gets a new chunk changes it: with b sequences, that is about every c / b steps. */
unsigned long long cp_cuda_generation(const struct cp_cuda *cuda);

/* Starts the kernels that compute out and, when asked for, lse. Can be captured in a graph. Out, lse and the workspace
 * overlap nothing else. Checked in this order; nothing is started on failure:
 *   CP_ERROR_ARGUMENT     cuda or attention is NULL, another device is current
 *   CP_ERROR_STALE        there is no plan on the device, or its stamp is not `stamp` (PLAN-5)
 *   CP_ERROR_ARGUMENT     q, k, v or out is NULL or not aligned, scale is a NaN or out of its range
 *   CP_ERROR_SHAPE        h, h_kv or d is below 1, h is no multiple of h_kv
 *   CP_ERROR_WORKSPACE    h or d is above its limit
 *   CP_ERROR_UNSUPPORTED  out_type is neither type, there is no such version, or it cannot do this head dimension or
 *                         not on this device
 *   CP_ERROR_CUDA         a call failed */
int cp_cuda_attend(struct cp_cuda *cuda, const struct cp_cuda_attention *attention, void *stream);

/* What was wrong in the last call that failed, in a sentence, with the numbers; "" when none has. Lives as long as
 * cuda does; NULL gives a text, too. */
const char *cp_cuda_text(const struct cp_cuda *cuda);

#ifdef __cplusplus
}
#endif

#endif
