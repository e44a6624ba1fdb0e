/* SPDX-License-Identifier: Apache-2.0 */
/* The C interface of a kernel that merges finished results (spec/merging.md), for `chunkproof
 * gate`. It stands where a kernel that computes attention has `cp_kernel` (kernel.h).
 *
 * The object, or source, defines one symbol, `cp_merge_kernel`:
 *
 *     #include <chunkproof/merge_kernel.h>
 *
 *     static int merge(const struct cp_merge_call *call) { ...; return 0; }
 *
 *     const struct cp_merge_kernel cp_merge_kernel = {
 *         .abi = CP_MERGE_ABI,
 *         .name = "mine",
 *         .o_type = CP_FP16, .l_type = CP_FP32, .base = CP_BASE_E,
 *         .least_parts = 2, .most_parts = 2,
 *         .arithmetic = {.way = CP_MERGING_AT_ONCE, .weights = CP_FP32, .values = CP_FP32,
 *                        .partials = CP_FP32, .out_type = CP_FP16, .lse_type = CP_FP32,
 *                        .exp_error = 0x1p-22, .log_error = 0x1p-22, .div_error = 0x1p-24},
 *         .merge = merge,
 *     };
 *
 *     cc -shared -fPIC -o mine.so mine.c && chunkproof gate --kernel mine.so
 *
 * merge() computes the merged results of each row and head (MERGING-1) from P parts, each with an
 * output of d numbers and a log-sum-exp. They may differ from the exact ones by the certified bound
 * of the arithmetic that the kernel declares (MERGING-6, MERGING-7), and by no more. MERGING-10
 * says which cases the gate has, and MERGING-11 when a kernel is right.
 *
 * What it must take (MERGING-9):
 *   - Some parts have no key: their log-sum-exp is -infinity (but see `empty_l`), and what is in
 *     their output is ignored. It may be a NaN, an infinity or a large number (but see
 *     `empty_o`).
 *   - In some rows no part has a key (but see `never`). They give zeros and -infinity (but see
 *     `empty_out`, `empty_lse`).
 *   - Log-sum-exps may be up to 100,000 nats above 0, or below it, and up to 40,000 apart.
 *   - Where parts are given by sums (`form`), l holds m, and n is 0 of a part without keys, and
 *     from 1 to CP_MERGE_MOST_SUM of another. m of a part without keys is -infinity (but see
 *     `empty_l`).
 *   - No log-sum-exp of a part with keys is a NaN or an infinity. Outputs of parts with keys are
 *     finite, and their sums do not overflow the type in which the kernel adds them up.
 *
 * That no key is in two parts is the caller's care: no merge can see it (MERGING-3).
 *
 * A kernel for a GPU declares it (`memory`), gets all arrays in device memory, part_begin too, and
 * starts its work on `stream`. `chunkproof gate --kernel mine.cu` also runs it where there is no
 * GPU.
 *
 * tests/example/merge_kernel.c and tests/gate/merge_warps.cu are complete ones. */
#ifndef CHUNKPROOF_MERGE_KERNEL_H
#define CHUNKPROOF_MERGE_KERNEL_H

#include <stddef.h>

#include "chunkproof/kernel.h"
#include "chunkproof/merging.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The version of this file, combined with the sizes of the structures that both sides see. The gate
 * refuses a kernel that was compiled with another one. */
#define CP_MERGE_VERSION 2
#define CP_MERGE_ABI                                                                               \
    (1000000 * CP_MERGE_VERSION + 1000 * (int)sizeof(struct cp_merge_call) +                       \
     (int)sizeof(struct cp_merge_kernel))

#define CP_MERGE_MOST_PARTS 1000   /* of a row, in the gate's calls */
#define CP_MERGE_MOST_SUM   131072 /* of a part, in the gate's calls */

/* One call. Number i of part p of row r and head a is
 *
 *     o[(part_begin[r] + p) o_part + r o_row + a o_head + i]      0 <= i < head_dim
 *     l[(part_begin[r] + p) l_part + r l_row + a l_head]
 *     n[as l]                                              where `form` says so
 *
 * with 0 for part_begin[r] where part_begin is NULL. Where it is not, o_row and l_row are 0, as the
 * parts of all rows follow one another.
 *
 * - o, l and part_begin are read-only. Arrays do not overlap, and each begins at a multiple of 64
 *   bytes. lse may be NULL: it is not asked for. Nothing else is NULL, but part_begin,
 *   n, stream and, of 0 bytes, workspace.
 * - An l of binary64 is one: the kernel subtracts m from it in binary64, whatever its arithmetic.
 * - Strides are in elements, and positive but for those zeros. The numbers of an output follow one
 *   another; log-sum-exps do so only without gaps.
 * - In place (`in_place`) part 0 of each row lies in out and lse, which the kernel reads before it
 *   writes the result there: it is of out_type and lse_type, as the result. o and l then have the
 *   other parts: part p of the row is at p - 1. lse is not NULL. */
struct cp_merge_call {
    int n_parts;   /* P >= 1, of each row; with part_begin the most that a row has */
    int all_parts; /* of all rows together: P n_rows, or part_begin[n_rows] */
    int n_rows;    /* >= 1 */
    int n_heads;   /* >= 1 */
    int head_dim;  /* d >= 1: numbers of an output */

    const void *o; /* of o_type */
    long long o_part, o_row, o_head;
    const void *l; /* of l_type, in the base of the kernel */
    long long l_part, l_row, l_head;
    const void *n;         /* of l_type, with the strides of l; NULL with CP_FORM_LSE */
    const int *part_begin; /* [n_rows + 1], from 0 on, not falling; or NULL: P parts in each row */

    void *out; /* of arithmetic.out_type: row r and head a begin at r out_row + a out_head */
    long long out_row, out_head;
    void *lse; /* of arithmetic.lse_type, in the base of the kernel; may be NULL */
    long long lse_row, lse_head;

    void *workspace; /* at least workspace_size bytes, with anything in it */
    size_t workspace_size;

    void *stream; /* a cudaStream_t, where arrays are in device memory; else NULL */
};

/* Does a call ask for the log-sum-exp? */
#define CP_LSE_ASKED  0 /* some calls do, others have NULL */
#define CP_LSE_ALWAYS 1
#define CP_LSE_NEVER  2

/* How many parts the rows of a call have. */
#define CP_PARTS_EQUAL  0 /* all P; part_begin is NULL */
#define CP_PARTS_BY_ROW 1 /* from least_parts to P, and 0, too: part_begin says which */

/* What a part is (MERGING-12). With sums, l holds m, and n exp(m) is the weight of the part, or
 * n 2^m with CP_BASE_2. */
#define CP_FORM_LSE       0 /* (l, o): a finished result */
#define CP_FORM_SUMS      1 /* (m, n, o): its log-sum-exp is m + ln n */
#define CP_FORM_UNDIVIDED 2 /* (m, n, s): so it is, and s is n o: a sum of weighted values */

/* What may be in the output of a part that has no key. */
#define CP_EMPTY_O_ANY     0 /* anything: NaNs, infinities, large numbers */
#define CP_EMPTY_O_NUMBERS 1 /* finite numbers: the kernel multiplies them by the weight 0 */

/* By which log-sum-exp a part says that it has no key. */
#define CP_EMPTY_L_MINUS  0 /* -infinity */
#define CP_EMPTY_L_EITHER 1 /* -infinity or +infinity, which some kernels write; CP_FORM_LSE */
#define CP_EMPTY_L_VALUE  2 /* `empty_l_value`: those of parts with keys are larger */
#define CP_EMPTY_L_ANY    3 /* anything, as n is 0: not with CP_FORM_LSE */

/* What no call has, besides CP_NEVER_EMPTY_ROWS of kernel.h: a row in which no part has a key. */
#define CP_NEVER_EMPTY_PARTS 16 /* a part without keys: of a row that has parts */

/* Orders of o (CONV-12 of K and V), of l and of lse. ANY: the kernel goes by strides. With
 * CP_PARTS_BY_ROW a part stands for both the row and its part. */
#define CP_O_ORDER_ANY       0
#define CP_O_ORDER_PART_ROW  1 /* [part][row][head][d] */
#define CP_O_ORDER_ROW_PART  2 /* [row][part][head][d] */
#define CP_L_ORDER_ANY       0
#define CP_L_ORDER_PART_ROW  1 /* [part][row][head] */
#define CP_L_ORDER_PART_HEAD 2 /* [part][head][row] */
#define CP_L_ORDER_ROW_PART  3 /* [row][part][head] */
#define CP_LSE_ORDER_ANY     0
#define CP_LSE_ORDER_ROW     1 /* [row][head] */
#define CP_LSE_ORDER_HEAD    2 /* [head][row] */

/* How arrays lie. All zeros: the kernel goes by strides. out is [row][head][d]. Without gaps
 * (CP_GAPS_NONE, of kernel.h) strides follow from the shape. */
struct cp_merge_layout {
    int o;    /* CP_O_ORDER_... */
    int l;    /* CP_L_ORDER_... */
    int lse;  /* CP_LSE_ORDER_... */
    int gaps; /* CP_GAPS_ANY or CP_GAPS_NONE */
};

struct cp_merge_kernel {
    int abi;          /* CP_MERGE_ABI */
    const char *name; /* for reports */
    int o_type;       /* of o: CP_FP16, CP_BF16, CP_FP32 or CP_FP64 */
    int l_type;       /* of l: CP_FP32 or CP_FP64 */
    int memory;       /* CP_HOST_MEMORY or CP_DEVICE_MEMORY (kernel.h) */
    int base;         /* of l and lse: CP_BASE_E or CP_BASE_2 */
    int lse;          /* CP_LSE_ASKED, CP_LSE_ALWAYS or CP_LSE_NEVER */
    int least_parts;  /* of a row with parts; 0 stands for 1 */
    int most_parts;   /* 0: any number, up to CP_MERGE_MOST_PARTS in the gate's calls */
    int parts;        /* CP_PARTS_EQUAL or CP_PARTS_BY_ROW */
    int form;         /* CP_FORM_...; not CP_FORM_LSE: arithmetic.way is AT_ONCE or STATES */
    int in_place;     /* 1: part 0 lies in out and lse; all rows have P parts; CP_FORM_LSE */
    struct cp_merge_layout layout;

    /* Conventions. All zeros: those of MERGING-1 and MERGING-9. */
    int empty_out;        /* of a row without keys (CONV-2): CP_EMPTY_NEUTRAL, CP_EMPTY_NAN or */
                          /* CP_EMPTY_UNSPECIFIED */
    int empty_lse;        /* CP_EMPTY_... */
    double empty_value;   /* for CP_EMPTY_VALUE: no NaN, as lse_type rounds it; else 0 */
    int empty_o;          /* CP_EMPTY_O_ANY or CP_EMPTY_O_NUMBERS */
    int empty_l;          /* CP_EMPTY_L_... */
    double empty_l_value; /* for CP_EMPTY_L_VALUE: finite, below 0, as l_type rounds it; else 0 */
    int never;            /* what no call has: CP_NEVER_EMPTY_PARTS, CP_NEVER_EMPTY_ROWS, or both */

    /* With out_type and lse_type. Of a kernel that writes no log-sum-exp lse_type is any. */
    struct cp_merging_class arithmetic;

    /* As those of struct cp_kernel: why the call is refused, or NULL; the bytes of workspace. Each
     * may be NULL, and may look only at the numbers of the call, strides too: its pointers are
     * NULL. */
    const char *(*refuses)(const struct cp_merge_call *call);
    size_t (*workspace)(const struct cp_merge_call *call);

    /* Returns 0, or another number if it failed, which is a finding. When it returns, everything is
     * written and nothing is running in the background; with device memory, once everything that
     * it put on its stream is done. Results must not depend on earlier calls. */
    int (*merge)(const struct cp_merge_call *call);
};

/* The kernel. In C++ write `struct cp_merge_kernel` for the type, because the variable hides its
 * name. */
extern const struct cp_merge_kernel cp_merge_kernel;

#ifdef __cplusplus
}
#endif

#endif
