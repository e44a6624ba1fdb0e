/* SPDX-License-Identifier: Apache-2.0 */
/* Fast attention over a plan, on the CPU: vectorized and multithreaded. It takes the arguments of
 * cp_attend().
 *
 *     struct cp_opt *opt;
 *     cp_opt_new(&opt, 0, CP_OPT_BEST);
 *     for each step: bring the plan up to date; when it has changed, make sure that
 *                    attention.workspace has cp_opt_workspace(opt, &attention) bytes
 *         for each layer: cp_opt_attend(opt, &attention);
 *     cp_opt_free(opt);
 *
 * K and V of 8 bits, in binary16, bfloat16 or binary32 are read as stored; sums are in binary32.
 * Values may have any number of elements, in rows of any length, and lie in K (spec/widths.md).
 * Results have the same bits for any number of threads and any timing. Their last bits depend on
 * the version. `variant` of struct cp_attention makes no difference. opt/README.md says how it
 * works. */
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
#define CP_OPT_BEST        0 /* the last of these that this machine can run, except CP_OPT_AMX */
#define CP_OPT_PORTABLE    1 /* plain C, for any machine */
#define CP_OPT_AVX2        2 /* x86-64 with AVX2, FMA and F16C */
#define CP_OPT_AVX512      3 /* ... with AVX-512 F, BW, DQ and VL */
#define CP_OPT_NEON        4 /* 64-bit ARM */
#define CP_OPT_AMX         5 /* CP_OPT_AVX512 and AMX-BF16, if Linux grants it */
#define CP_OPT_AVX512_BF16 6 /* CP_OPT_AVX512 and AVX512_BF16 */
#define CP_OPT_LAST        CP_OPT_AVX512_BF16

/* AMX runs only on request, for two reasons: its speed has not been measured, and the request
 * changes the process, and the processes that it forks, for good.
 *
 * cp_opt_new() asks Linux for the registers (arch_prctl(2)). From then on a signal needs about 11
 * KB more of its stack, and sigaltstack() refuses a stack that is too small for that. If a thread
 * already has one that is too small, Linux refuses the request, and cp_opt_new() returns what it
 * returns on a machine without AMX.
 *
 * AMX multiplies numbers that are 0, or from 2^-30 to 2^40 in magnitude. Where a key or a query has
 * another number (a NaN, say), AVX-512 computes the rows that are computed together with it. Only
 * the last bits of these rows may differ. The same goes for CP_OPT_AVX512_BF16, from 2^-56 to 2^48
 * in magnitude, where Q and K are in bfloat16. */

#define CP_OPT_MOST_THREADS 1024

/* NUM-7: the arithmetic class of every version, for the certified tolerance (struct
 * cp_kernel_class). CP_OPT_EXP_ERROR bounds the relative error of the exponential wherever its
 * result is a normal number; tests/test_opt_exp.c computes all of them. */
#define CP_OPT_EXP_ERROR 0x1.9p-24

/* The relative error of tanh, which caps scores (SCORE-1), for every number; tests/test_opt_tanh.c
 * computes all that it is not exact for. opt/exponential.h says why it is no more than twice
 * this. */
#define CP_OPT_TANH_ERROR 0x1.bp-23
#define CP_OPT_ARITHMETIC                                                                          \
    {                                                                                              \
        .score = CP_SUM_FP32, .weights = CP_FP32, .values = CP_SUM_FP32, .partials = CP_FP32,      \
        .k_dequantised = CP_FP32, .v_dequantised = CP_FP32, .exp_error = CP_OPT_EXP_ERROR,         \
        .tanh_error = CP_OPT_TANH_ERROR, .step = 64                                                \
    }

/* Caps on scores are from here to its reciprocal. */
#define CP_OPT_LEAST_CAP 0x1p-125

/* A version, and threads that wait for work. Only one thread may use it at a time. */
struct cp_opt;

/* n_threads: how many threads work on a call, including the calling one; 0: one for each processor
 * that is online. This function makes all threads, and allocates all memory but the workspace. On
 * CP_OK the caller owns *opt and gives it to cp_opt_free(); otherwise *opt is NULL.
 *   CP_ERROR_ARGUMENT     opt is NULL, n_threads is below 0 or above CP_OPT_MOST_THREADS, or there
 *                         is no such version
 *   CP_ERROR_UNSUPPORTED  this machine cannot run that version
 *   CP_ERROR_NO_MEMORY    out of memory or threads */
int cp_opt_new(struct cp_opt **opt, int n_threads, int version);

/* Takes NULL. */
void cp_opt_free(struct cp_opt *opt);

/* The version (never CP_OPT_BEST), and the number of threads. opt is not NULL. */
int cp_opt_version(const struct cp_opt *opt);
int cp_opt_threads(const struct cp_opt *opt);

/* As cp_attend_workspace(); also 0 when opt is NULL or the types, the scale or the scores are not
 * supported. It depends neither on the window nor on the mask nor on `position` nor on the scores,
 * so that layers with windows or changed scores and layers without may share a workspace. The size
 * grows with the number of threads and with the plan: ask again when the plan has changed
 * (cp_plan_update() or cp_opt_plan_update() has returned 1). It is linear in the size of the plan
 * and in the number of pairs of a run of shared chunks and a sequence. */
size_t cp_opt_workspace(const struct cp_opt *opt, const struct cp_attention *attention);

/* As cp_attend(), with the same checks in the same order, and these differences:
 *   CP_ERROR_ARGUMENT     also when opt is NULL
 *   CP_ERROR_UNSUPPORTED  a type of Q, K or V is CP_FP64, the scale is above FLT_MAX in
 *                         magnitude, a cap is neither 0 nor from CP_OPT_LEAST_CAP to its
 *                         reciprocal, a slope, a sink or a bias is no number or above FLT_MAX in
 *                         magnitude; checked after CP_ERROR_SHAPE and before CP_ERROR_WORKSPACE
 *   CP_ERROR_WORKSPACE    the workspace has fewer bytes than cp_opt_workspace() says
 * Slopes, sinks, biases and the cap are rounded to binary32. So are distances of 2^24 and more
 * between a key and a row that slopes are multiplied by; the tolerance does not count that. A table
 * of biases is read once in each call to check its numbers, all entries of all heads (SCORE-5).
 * With a mask it reads no tile, which is up to 64 consecutive keys, of which no row sees a key.
 * With a window it reads K and V of the keys that some row sees, and of up to 62 keys between two
 * of these. Its time goes by these keys and by the length of the plan, not by the context.
 * Allocates nothing. When it returns, no thread is still working. */
int cp_opt_attend(struct cp_opt *opt, const struct cp_attention *attention);

#ifdef __cplusplus
}
#endif

#endif
