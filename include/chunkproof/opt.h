/* SPDX-License-Identifier: Apache-2.0 */
/* Attention over a plan, fast, on the CPU: in vectors and by several threads. It takes what cp_attend() takes.
 *
 *     struct cp_opt *opt;
 *     cp_opt_new(&opt, 0, CP_OPT_BEST);
 *     for each step: bring the plan up to date; when it has changed, give attention.workspace as many bytes as
 *                    cp_opt_workspace(opt, &attention) says now, if it has less
 *         for each layer: cp_opt_attend(opt, &attention);
 *     cp_opt_free(opt);
 *
 * K and V in binary16, bfloat16 or binary32 are read as they are, sums are in binary32. Results do not depend on the
 * number of threads nor on when they run, bit for bit; they depend on the version in their last bits, and
 * `variant` of struct cp_attention makes no difference. How it goes: opt/README.md. */
#ifndef CHUNKPROOF_OPT_H
#define CHUNKPROOF_OPT_H

#include <stddef.h>

#include "chunkproof/attention.h"
#include "chunkproof/kernel.h"
#include "chunkproof/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Versions. */
#define CP_OPT_BEST     0 /* the last one that this machine can run, but for CP_OPT_AMX */
#define CP_OPT_PORTABLE 1 /* plain C, for any machine */
#define CP_OPT_AVX2     2 /* x86-64 with AVX2, FMA and F16C */
#define CP_OPT_AVX512   3 /* ... with AVX-512 F, BW, DQ and VL */
#define CP_OPT_NEON     4 /* 64-bit ARM */
#define CP_OPT_AMX      5 /* CP_OPT_AVX512 and AMX-BF16, if Linux grants it */
#define CP_OPT_LAST     CP_OPT_AMX

/* AMX is used by who asks for it: how fast it is has not been measured, and asking changes the process for good, and what
 * it starts by fork(). Linux is asked for the registers (arch_prctl(2)); signals then need some 11 KB more of a stack, and
 * sigaltstack() refuses a smaller one. Where a thread has a smaller one already, Linux refuses, and cp_opt_new() says what
 * it says on a machine without AMX. AMX multiplies numbers that are 0 or from 2^-30 to 2^40 in magnitude. With another one,
 * a NaN say, in a key or query, the rows that are worked on together with it are left to AVX-512: their last bits may
 * differ, and nothing else. */

#define CP_OPT_MOST_THREADS 1024

/* NUM-7: the arithmetic class of every version, for the certified tolerance (struct cp_kernel_class). The exponential
 * is off by at most that much of every result that is a normal number; tests/test_opt_exp.c computes all of them. */
#define CP_OPT_EXP_ERROR 0x1.9p-24
#define CP_OPT_ARITHMETIC                                                                          \
    {                                                                                              \
        .score = CP_SUM_FP32, .weights = CP_FP32, .values = CP_SUM_FP32, .partials = CP_FP32,      \
        .exp_error = CP_OPT_EXP_ERROR, .step = 64                                                  \
    }

/* Threads that wait for work, and a version. Used by one thread at a time. */
struct cp_opt;

/* n_threads: how many work on a call, the calling one counted; 0: one for each processor that is online. All threads and all memory
 * but the workspace are made here. On CP_OK *opt is the caller's, to be given to cp_opt_free(); else NULL.
 *   CP_ERROR_ARGUMENT     opt is NULL, n_threads is below 0 or above CP_OPT_MOST_THREADS, there is no such version
 *   CP_ERROR_UNSUPPORTED  this machine cannot run that version
 *   CP_ERROR_NO_MEMORY    the system gave no memory or no thread */
int cp_opt_new(struct cp_opt **opt, int n_threads, int version);

/* Takes NULL. */
void cp_opt_free(struct cp_opt *opt);

/* Of one that is not NULL: its version, not CP_OPT_BEST, and how many threads work. */
int cp_opt_version(const struct cp_opt *opt);
int cp_opt_threads(const struct cp_opt *opt);

/* As cp_attend_workspace(), also 0 when opt is NULL or the types or the scale are not supported. It grows with the
 * number of threads, and with the plan: ask again when the plan has changed (cp_plan_update() or cp_opt_plan_update() has
 * returned 1). Linear in the plan and in the pairs of a run of shared chunks and a sequence. */
size_t cp_opt_workspace(const struct cp_opt *opt, const struct cp_attention *attention);

/* As cp_attend(), with its checks in its order: CP_ERROR_ARGUMENT also when opt is NULL, CP_ERROR_WORKSPACE below
 * cp_opt_workspace(), and between CP_ERROR_SHAPE and that
 *   CP_ERROR_UNSUPPORTED  q_type or kv_type is CP_FP64, or the scale is above FLT_MAX in magnitude
 * Allocates nothing; nothing works on when it returns. */
int cp_opt_attend(struct cp_opt *opt, const struct cp_attention *attention);

#ifdef __cplusplus
}
#endif

#endif
