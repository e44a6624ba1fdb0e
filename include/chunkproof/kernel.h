/* SPDX-License-Identifier: Apache-2.0 */
/* The C interface of a kernel that `chunkproof gate` checks, in a shared object.
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
 *         .arithmetic = {.score = CP_SUM_FP32, .weights = CP_FP32, .values = CP_SUM_FP32,
 *                        .partials = CP_FP32, .exp_error = 0x1p-22, .step = 1},
 *         .attend = attend,
 *     };
 *
 *     cc -shared -fPIC -o mine.so mine.c -lm && chunkproof gate --kernel mine.so
 *
 * An object that calls functions of number.h or number8.h is linked with libchunkproof.a, as
 * `--kernel mine.c` does it.
 *
 * attend() computes attention of each query row and head over the keys that the row sees
 * (SOFTMAX-2, TPP-5, PREFILL-2). Sequence s has the rows query_begin[s] .. query_begin[s+1]-1. Row
 * r stands at position[r], and sees the keys of its sequence at positions up to that, which are the
 * first position[r] + 1 in the plan of a tree; a row below 0 sees none (but see `masks`). There the
 * rows of a sequence stand at its last positions, in order (PREFILL-1). For example, with 5 keys
 * and 2 rows, the rows stand at 3 and 4; the first sees 4 keys and the second all 5. With more rows
 * than keys, the first rows stand below 0. A row that sees no key gives zeros and a log-sum-exp of
 * -infinity, or that of its sink, unless the kernel declares another convention (`conventions`).
 * The result may differ from attention by the certified tolerance of the arithmetic that the kernel
 * declares (NUM-10), and by no more.
 *
 * A kernel for caches of modules declares which other plans it takes (`plans`; left out: those of
 * trees alone). In these a sequence is any list of runs (RUNS-1): chunks may be partial anywhere,
 * and positions may have gaps, so that no position follows from a number of keys. The rows of a
 * sequence stand at any positions, each behind the one before it, also where no token stands
 * (RUNS-4). tests/example/modules_kernel.c is a complete one.
 *
 * A kernel for caches of keys without positions declares that (`keys`), and rotates keys as it
 * reads them. All its calls have such keys, even where the plan is that of a tree.
 *
 * A kernel that has a sliding window, shows a row keys after its own position, or has a mask of
 * bits, declares that (`masks`). A call then says which keys a row sees (WINDOW-1, MASK-1).
 *
 * A kernel for caches of 8 bits declares that (`cache`). Each number of K and V stands for itself
 * times a scale of the call (CONV-10).
 *
 * A kernel that caps scores, adds a bias by distance to them, as ALiBi or T5 do, or has sinks,
 * declares that (`scores`). What of it a call has then changes its scores (SCORE-1 to SCORE-5).
 *
 * The call gives the keys' places in two ways, and a kernel may use either:
 *   a plan   shared[], then each sequence's own runs: what a two-phase kernel walks
 *   paged    the whole table: what a paged kernel walks
 *
 * A kernel whose pages are no chunks of a plan, or that knows one order of K and V alone, declares
 * that (`layout`). It gets such K and V (CONV-11, CONV-12), and the page tables of its engine:
 *   block_table, seq_lens, query_start_loc      page_table, n_tokens, query_begin
 *   indptr, indices, last_page_len, qo_indptr   page_begin, page_list, last_page_tokens,
 *                                               query_begin
 *   cu_seqlens_k, cu_seqlens_q (ragged)         page_begin, query_begin
 *
 * A kernel whose values have another width than keys declares that (`widths`), and one whose values
 * are a part of their keys, as latent attention has them, does so, too (`layout.tensors`).
 *
 * A kernel for a GPU declares it (`memory`), gets arrays in device memory, and starts its work on
 * `stream`; tests/example/paged_kernel.cu is a complete one. `chunkproof gate --kernel mine.cu`
 * also runs it where there is no GPU. */
#ifndef CHUNKPROOF_KERNEL_H
#define CHUNKPROOF_KERNEL_H

#include <stddef.h>

#include "chunkproof/number.h"
#include "chunkproof/number8.h"
#include "chunkproof/plan.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The version of this file, combined with the sizes of the structures that both sides see. The gate
 * refuses a kernel that was compiled with another one. */
#define CP_KERNEL_VERSION 13
#define CP_KERNEL_ABI                                                                              \
    (1000000 * CP_KERNEL_VERSION + 1000 * (int)sizeof(struct cp_kernel_call) +                     \
     (int)sizeof(struct cp_kernel))

/* Which plans a kernel takes, and of which kind a call's plan is. Each kind includes those before
 * it. */
#define CP_PLANS_TREES  0 /* plans of trees (PLAN-1 to PLAN-4) */
#define CP_PLANS_RANGES 1 /* of runs, whose descriptors serve ranges of sequences (RUNS-9) */
#define CP_PLANS_LISTS  2 /* of runs, whose descriptors serve any sets of sequences (RUNS-2) */

/* Which positions the keys in K have in them (RUNS-10). Keys without their own positions are
 * rotated when they are read, by row t of the call's table `rotation`. */
#define CP_KEYS_PLACED 0 /* their own; there is no table */
#define CP_KEYS_RAW    1 /* none: t is the position of the key */
#define CP_KEYS_LOCAL  2 /* as if their run began at position 0: t is the position of the run */

/* How many numbers a value has, and a result (CONV-13). */
#define CP_WIDTHS_EQUAL 0 /* d, as a key */
#define CP_WIDTHS_ANY   1 /* d_v: any number, of each call */

/* Which numbers of a key are rotated together (DEC-8): pair i of the first rotary_dim numbers. */
#define CP_PAIRS_HALVES     0 /* numbers i and i + rotary_dim / 2 */
#define CP_PAIRS_NEIGHBOURS 1 /* numbers 2 i and 2 i + 1 */

/* One call.
 * - All arrays are read-only, except out, lse and workspace. They do not overlap, but for K and V
 *   in one tensor. Each begins at a multiple of 64 bytes, but for a V that lies in the memory of K.
 * - lse, slopes, biases, sinks and the arrays of a mask may be NULL; so is rotation where keys are
 *   placed. Where K is plain, k_scales is NULL, and where V is, v_scales. Where pages are chunks,
 *   the lists from page_table to last_page_tokens are NULL; where keys are ragged, all of them but
 *   page_begin. On the host, stream and on_host are NULL. Nothing else is NULL.
 * - The numbers of Q are finite, and so are those of all keys in K and V, also of those that no row
 *   sees.
 * - Strides are in elements, positive, and have 64 bits; the last index has stride 1. Chunks, or
 *   pages, may be further apart than 32 bits can express: a kernel that cannot handle this refuses
 *   the call. */
struct cp_kernel_call {
    int n_sequences; /* b >= 1 */
    int n_rows;      /* query rows of all sequences, >= 0 */
    int max_rows;    /* of a sequence, and its keys: the most that one of the call has */
    int max_tokens;
    int n_heads;    /* h */
    int n_kv_heads; /* h_kv, a divisor of h: query head a reads K/V head a / (h / h_kv) */
    int head_dim;   /* d: numbers of a query, and of a key */
    int value_dim; /* d_v: of a value, and of a result; d unless the kernel declares other widths */
    int chunk_size; /* c */
    int capacity;   /* chunks of the pool, >= 1; chunk numbers are below it. Or pages, if they are
                      * no chunks: page numbers are below it, and chunk numbers are names */
    double scale;   /* of q . k; usually 1 / sqrt(d) */

    int plan; /* CP_PLANS_TREES, ..._RANGES or ..._LISTS: not above what the kernel declares */

    /* WINDOW-1: a row at p sees the keys of its sequence at the positions t with t <= p + ahead,
     * and of these, where there is a window of W keys, those with t > p - W or t < kept. A row
     * below 0 may see some, if it sees ahead. W, ahead and kept are at most 2^22. ahead and kept
     * are 0 unless the kernel declares that it takes others; kept is 0 where there is no window. */
    int window; /* W, or 0: none. Of a CP_WINDOW_BEFORE kernel W - 1, from 0 on, or -1: none */
    int ahead, kept;

    /* MASK-1: of the keys that row r sees by its window, it sees those at the positions t with
     * t < mask_begin[r], or where bit i = mask_first[r] + (t - mask_begin[r]) is 1:
     *     mask_bits[i / 8] >> i % 8 & 1
     * A row's bits need not begin with a byte, and those of rows lie in any order, with gaps, or on
     * one another. Bits of keys that a row does not see by its window are any, and may not be
     * there: they may lie behind mask_bytes, where nothing may be read, also not the end of a word.
     * mask_begin is at most 2^22. A row whose bits are all 0 may see no key. All three are NULL
     * where mask_bytes is 0: the call has no mask. */
    size_t mask_bytes;
    const unsigned char *mask_bits;
    const size_t *mask_first; /* [n_rows] */
    const int *mask_begin;    /* [n_rows] from 0 on */

    /* What changes the score s = scale q . k of a key before it is weighed, each only if the kernel
     * declares that it takes it. Which keys are seen is decided apart: a masked key has no score
     * that a cap could bring back.
     *   cap      SCORE-1: s becomes cap tanh(s / cap). A number of binary32; 0: no cap
     *   slopes   SCORE-2: s becomes s + slopes[a] x for query head a, where x is t - p for a key at
     *            t and a row at p, unless the kernel declares another x (CONV-8). NULL: no bias
     *   biases   SCORE-5: instead of slopes, never besides: s becomes s + biases[a n_biases +
     *            i], where i is own_bias + p - t, but from 0 to n_biases - 1. NULL: no table
     *   sinks    SCORE-3: for query head a, one extra key with the score sinks[a], in nats,
     *            and a value of zeros. It is not scaled, capped or biased, and all rows see it.
     *            NULL: none. A row that sees nothing but the sink gives zeros and the log-sum-exp
     *            sinks[a], unless the kernel declares another convention for rows without keys
     * A bias is added to the capped score, unless the kernel declares the other order (CONV-7).
     * Slopes, biases and sinks are finite, of either sign, and numbers of bfloat16. They and the
     * cap are below 2^20 in magnitude. A sink of 0 is a key of score 0. fp32 holds distances. */
    int changes; /* which the call has, a sum of CP_SCORES_...: for refuses() and workspace() */
    double cap;
    const float *slopes; /* [h] */
    const float *biases; /* [h][n_biases] */
    int n_biases;        /* from 1 to 2^20; 0: there is no table */
    int own_bias;        /* from 0 to n_biases - 1 */
    const float *sinks;  /* [h] */

    const int *n_tokens;    /* [b] keys of each sequence, >= 0: those of its runs together */
    const int *query_begin; /* [b + 1], from 0: sequence s has rows query_begin[s] .. [s+1]-1 */
    /* [n_rows] where each row stands. Of a tree, row r of sequence s stands at n_tokens[s] -
     * query_begin[s+1] + r, which is below n_tokens[s] and may be below 0. In other plans it stands
     * anywhere, behind the rows of s before it, from -2^20 to 2^22. */
    const int *position;

    /* Paged: run i of sequence s is in chunk table[s table_width + i]. It has the keys of
     * table_tokens tokens, in the slots from 0 on, at the positions from table_position on
     * (RUNS-1). Of these a row at p sees the first p + 1 - table_position, none if that is below 0,
     * and not more than there are (RUNS-4), unless there is a window or `ahead`. After the last run
     * of a sequence the entries of `table` are -1, and both others are 0. Of a tree, run i has the
     * keys i c .. i c + c - 1, or fewer if it is the last one, and begins at position i c. In other
     * plans runs stand in any order, at positions from 0 to 2^22. */
    int table_width;           /* above the runs of the longest sequence */
    const int *table;          /* [b][table_width] */
    const int *table_tokens;   /* [b][table_width] */
    const int *table_position; /* [b][table_width] */

    /* Where pages are no chunks (CONV-11). Key j of a sequence, the one at position j, is in slot
     * j mod P of its page j / P:
     *   page_table         [b][page_table_width] which page of the pool is page i of sequence s:
     *                      page_table[s page_table_width + i]; behind its last page -1
     *   page_begin         [b + 1] from 0: sequence s has the pages page_list[page_begin[s]] to
     *   page_list          page_list[page_begin[s+1] - 1]: the same numbers one after another
     *   last_page_tokens   [b] keys in the last page, 1 to P; 0 of a sequence without keys
     * A page may be of several sequences: only one whose P keys are all in shared chunks. A key of
     * a shared chunk whose page is not shared is in a page of each sequence: the same numbers, with
     * the same scales. Pages of a sequence have any numbers, in any order. Ragged keys have P = 1,
     * and key j of sequence s is in page, or row, page_begin[s] + j; there may be rows behind
     * page_begin[b], which have no key. */
    int page_size;        /* P; c where pages are chunks */
    int page_table_width; /* the pages of the longest sequence, or more; 0: there is no table */
    const int *page_table;
    const int *page_begin;
    const int *page_list;
    const int *last_page_tokens;

    /* As a plan (PLAN-1 to PLAN-4, RUNS-2, RUNS-3): the runs that two or more sequences share, each
     * with those that it serves. They are the first n_shared_chunks[s] runs of sequence s, in the
     * order of `shared`; the others are its own. The fields of a struct cp_shared_chunk (plan.h):
     *   chunk        which chunk
     *   begin, end   the sequences served[begin .. end) have it
     *   n_tokens     its keys; of a tree c
     *   position     of the first of these; of a tree, how many keys come before it on the path
     * Of trees and ranges, `served` is 0, 1, ..., b - 1, so that these are the sequences [begin,
     * end). In a tree's plan parents come before children; in other plans descriptors stand in any
     * order. With lists, the entries of `served` also stand in any order. Each list has two
     * sequences or more, and none twice; some may have no rows. Descriptors may share a list or
     * parts of it.
     *
     * A chunk may be in several descriptors, and in own runs of other sequences. In one call it has
     * one n_tokens, and a sequence has it once. It has one position where keys are placed; else it
     * may have another position in another descriptor or run.
     *
     * A kernel that keeps a state for each descriptor and row that it serves has n_rows times the
     * smaller of n_shared and table_width of them at most. */
    int n_served;
    const int *served; /* [n_served] */
    int n_shared;
    const struct cp_shared_chunk *shared; /* [n_shared] */
    const int *n_shared_chunks;           /* [b] */

    /* [n_rows][h][d]: element i of row r and head a at r q_row + a q_head + i */
    const void *q;
    long long q_row, q_head;

    /* [capacity][h_kv][P][d]: element i of a key in a page, which is a chunk unless the kernel
     * declares other pages, is at page k_chunk + head k_head + slot k_slot + i. Where K is packed
     * by x (CONV-12), it is [capacity][h_kv][d / x][P][x], with d / x rounded up, and element i is
     * at
     *     page k_chunk + head k_head + i / x k_group + slot x + i mod x
     * Slots behind the keys of a run, or of a sequence's last page, are padding and may hold NaN;
     * so are elements from d on. V is laid out as K, with strides of its own and d_v for d. Of 8
     * bits, the numbers of a key may begin at any byte: a kernel that loads several at once looks
     * at the strides in refuses().
     *
     * Of packed keys k_slot is x. Of ragged ones k_slot is k_chunk, and k_head is less. Where both
     * are in one tensor, all strides of V are those of K, v is k + v_offset elements, and v_offset
     * is at least what K has of a page (CP_TENSORS_PAGES; k_chunk is then of K and V together), or
     * capacity k_chunk (CP_TENSORS_HALVES). Where values are in keys (CP_TENSORS_KEYS), v is k, and
     * a value is the first d_v <= d numbers of its key; v_scales has the numbers of k_scales. */
    const void *k;
    long long k_chunk, k_head, k_slot, k_group; /* k_group: 0 unless K is packed */
    const void *v;
    long long v_chunk, v_head, v_slot, v_group;
    long long v_offset; /* 0: K and V are two tensors, or V is in K */

    /* Of a cache of 8 bits (CONV-10): number x of K stands for x k_scales[i], where i is of the
     * tensor, the K/V head, or the token and head, as the kernel declares:
     *   CP_CACHE_SCALE_TENSOR   0                                     [1]
     *   CP_CACHE_SCALE_HEAD     the K/V head                          [h_kv]
     *   CP_CACHE_SCALE_TOKEN    (page h_kv + K/V head) P + slot       [capacity][h_kv][P]
     * or, of a kernel that declares CP_SCALES_BY_SLOT, (page P + slot) h_kv + K/V head. So does V
     * with v_scales. Scales are finite and above 0; those of slots without a key may be
     * NaN. A number times its scale is within the range of kv_type. A scale, or a weight times a
     * scale, may be beyond that of binary16 (CONV-10). */
    const float *k_scales, *v_scales;

    /* Where keys are not placed; else rotary_dim and n_angles are 0, and rotation is NULL. Row t of
     * the table has rotary_dim / 2 cosines and then as many sines: pair i, (x, y), of a key that is
     * rotated by t becomes
     *     (c x - s y, s x + c y)    c = rotation[t][i], s = rotation[t][rotary_dim / 2 + i]
     * The numbers of a key from rotary_dim on are not rotated. Neither are V and Q: queries have
     * their positions in them. The slots of a run behind its keys have no row in the table. The
     * numbers of the table are in -2 .. 2, and may be any: c and s need not be a cosine and a sine,
     * nor c^2 + s^2 be 1, and row 0 may be a rotation, too. */
    int rotary_dim;        /* even, 0 <= rotary_dim <= d */
    int n_angles;          /* rows of the table: above all t of the call */
    const float *rotation; /* [n_angles][rotary_dim] */

    /* out: [n_rows][h][d_v]; the kernel writes all of it. lse: [n_rows][h], the log-sum-exp of the
     * scaled scores, natural unless the kernel declares base 2 (CONV-1); NULL when it is not
     * requested. */
    void *out;
    long long out_row, out_head;
    void *lse;
    long long lse_row, lse_head;

    void *workspace; /* as many bytes as workspace() returned; the content is undefined */
    size_t workspace_size;

    /* For device memory only; NULL on the host. stream: a cudaStream_t. on_host: this call once
     * more, for a launcher, with the lists from n_tokens to n_shared_chunks in host memory; its
     * other arrays are NULL. */
    void *stream;
    const struct cp_kernel_call *on_host;
};

/* How the terms of a sum of products are added. */
#define CP_SUM_FP32        0 /* binary32, rounded to nearest, in any order; fused or not */
#define CP_SUM_TENSOR_CORE 1 /* binary32 by tensor cores, which align and truncate */
#define CP_SUM_FP16        2 /* binary16 */
#define CP_SUM_FP64        3 /* binary64, as all else is then: other types are to be CP_FP32 */
#define CP_SUM_BF16        4 /* bfloat16 */

#define CP_FACTORS_FP32 0
#define CP_FACTORS_FP16 1
#define CP_FACTORS_BF16 2

#define CP_PART_LSE_FP32 0
#define CP_PART_LSE_FP16 16
#define CP_PART_LSE_BF16 17

#define CP_SCALES_SCORES     0
#define CP_SCALES_QUERY_FP16 1
#define CP_SCALES_QUERY_BF16 2

/* The arithmetic class (NUM-7), in terms of kernels; GATE-15 says what each field allows, and what
 * to declare for functions of a GPU. The gate holds the kernel to it. Declare what the kernel does,
 * and not what would pass: a declaration wider than the kernel lets errors through. A
 * field that is left out is 0, which means CP_SUM_FP32 or CP_FP16. */
struct cp_kernel_class {
    int score; /* how q . k is added: CP_SUM_... */
    /* NUM-20: of a sum in 16 bits, the most products that are added before their sum is promoted to
     * binary32, from 1 to 1024; 0: all of them, and none is promoted. The promoted sums are added
     * in binary32, in any order. */
    int score_promotes;
    int weights; /* type of P when multiplied by V: CP_FP32 (not rounded), CP_FP16, CP_BF16 */
    /* Where keys are not placed: the type of rotated numbers when they are multiplied, CP_FP32 (not
     * rounded), CP_FP16 or CP_BF16. They are computed in binary32, or in binary64 with CP_SUM_FP64,
     * which rounds none. The numbers from rotary_dim on may be rounded to this type, too. Instead
     * of each key, a kernel may rotate the query, as it is in the call, for the keys of one t:
     * q . (rotated k) is (c q_x + s q_y, c q_y - s q_x) . k, and this is rounded then. */
    int rotated;
    /* Of a cache of 8 bits: the type of its numbers times their scales when they are multiplied, of
     * K and of V: CP_FP32 (not rounded), CP_FP16 or CP_BF16. Ignored for plain K or V. A key is
     * rotated after that, and then rounded to `rotated`: both roundings count. Instead of each
     * number, a kernel may multiply what NUM-19 has: the query, the score or `scale`; the weight
     * before it is rounded to `weights`, or o, where all keys of it have one scale. Products in 8
     * bits, as with a query or P rounded to E4M3, are of no class. */
    int k_dequantised, v_dequantised;
    /* Where the scale stands (CONV-4): CP_SCALES_SCORES, or the type to which the numbers of the
     * query are rounded once they are multiplied by the scale: CP_SCALES_QUERY_FP16 or
     * CP_SCALES_QUERY_BF16. No scale of a cache is in a query that is rounded so. A kernel that
     * scales the query in binary32 and does not round it further has CP_SCALES_SCORES, which allows
     * for as much. */
    int scales;
    int values; /* how P V is added: CP_SUM_... */
    /* As score_promotes, of P V. Factors for o are multiplied in binary32, and not in 16 bits. */
    int values_promotes;
    int partials;    /* type of n and o between steps: CP_FP32, CP_FP16 or CP_BF16 */
    int rounded_sum; /* 1: n is the sum of the rounded P; 0: of the P before rounding */
    /* How partial results i, with n_i, o_i, m_i and log-sum-exp l_i, are combined:
     *   0   o is divided once, at the end: sum exp(m_i - m) o_i / sum exp(m_i - m) n_i
     *   1   each is divided and then merged, as split-KV does:
     *       sum w_i (o_i / n_i) / sum w_i, w_i = exp(l_i - max l)
     *   2   the same without division by the sum of the w_i: w_i = exp(l_i - l), so that the
     *       rounding of l stays in the result
     * With both, results of merges may be merged again, as in a chain. */
    int divides;
    int part_lse; /* NUM-22: to what the l_i are rounded, CP_PART_LSE_... (FP32: they are not) */
    /* GATE-2: the most partial results of a row, with a sink that is one; and the fewest keys of
     * one, but for the first and the last of a row. What allows fewer counts; 0: one for each step.
     * 8 splits have n_parts = 8, partitions of 512 tokens part_keys = 512. */
    int n_parts, part_keys;
    /* 1: each weight is divided by n, rounded to `weights`, and then multiplied by V, so that o is
     * not divided. Only where partial results are not, either, and with rounded_sum 0. */
    int normalises;
    /* To what the factors of n and o are rounded when the maximum changes, and when partial results
     * are combined: CP_FACTORS_... */
    int factors;
    int in_bits;   /* 1: scores are multiplied by log2(e), and weights are powers of two */
    int truncates; /* 1: results are truncated, not rounded to nearest */
    int flushes;   /* 1: subnormal numbers become 0, in sums and in out, but not in q, k and v */

    /* Relative error of the exponential, from 0 to 2^-6. 2^-22 holds for expf(), and for exp2f() on
     * a GPU. A key may be left out where its weight is 0 in this arithmetic, as that of expf() is
     * 104 nats below the maximum of the keys that the row sees, and not because its weight is small
     * (NUM-12). */
    double exp_error;

    /* Of tanh, where scores are capped (NUM-15): a relative error, and an absolute one, from 0 to
     * 2^-6 each. 2^-22 and 0 hold for tanhf(), 2^-10 and 0 for tanh.approx.f32 of a GPU. A tanh
     * that is made of exponentials, as 1 - 2 / (exp(2 x) + 1), has the absolute error 2^-21. A
     * kernel that caps scores must declare at least one. The other operations, on caps, biases and
     * sinks, are rounded as sums of scores are, or in binary32 after sums of tensor cores. NUM-15
     * counts them, also where log2(e) is in the cap, slopes, biases or sinks. A bias by slope is
     * one product, slope x; slope (t - t_0) + slope (t_0 - p) errs more. */
    double tanh_error, tanh_absolute;

    /* Relative error of the division by n, or of 1 / n and the product with it, besides one
     * rounding to binary32: from 0 to 2^-6. */
    double divide_error;

    /* What is added to n before a division, or a number above it: from 0 to 2^-6. Where partial
     * results are divided, to each n_i, to the sum of the w_i, or to both (GATE-15). */
    double epsilon;

    /* NUM-21: before each change of the reference of a state, and at the end, it lies at most
     * `above` over the largest computed score of the state's keys, and at most `behind` below it,
     * in nats: from 0 to 11 each. A weight is then at most exp(behind), which P has to hold. A
     * kernel that rescales only when the maximum has grown by more than 8 bits has behind = 5.5453,
     * 8 ln 2 and what the comparison rounds; one that rounds the maximum up to a whole number of
     * bits has above = 0.6932. Both 0: it is the maximum. Each state has a reference, that of a
     * split until it is divided; one for several rows or states has to be near the maximum of each.
     * The bound grows little with either, so that the gate hardly notices a wrong declaration; one
     * that is too narrow has no proof. Not where weights are divided (`normalises`). */
    double above, behind;

    /* A step: how many keys are weighed against one maximum before the maximum may change. 1: key
     * by key; 64: tiles of 64; 0: a chunk. A value above c counts as c. A kernel with one maximum
     * for all keys has 0. The last step before the end of a run, or of the keys of one partial
     * result, may be shorter, and a step may reach into the next run. There are no more steps with
     * keys that the row sees, and no more partial results with such keys, than if each run by
     * itself were cut into steps (GATE-2). A tile that packs keys of several runs keeps to this if
     * it takes the runs by rising position. Of pages of its own, 0 is a chunk or a page, whichever
     * is smaller. A step that is no longer than a page may end with it; a longer one goes on in the
     * next page. */
    int step;
};

#define CP_NO_LSE (-1)

/* The base of the log-sum-exp (CONV-1). */
#define CP_LSE_NATURAL 0
#define CP_LSE_BITS    1 /* base 2: the natural one divided by ln 2 */

/* What a row that sees no key gives (CONV-2). */
#define CP_EMPTY_NEUTRAL     0 /* zeros; a log-sum-exp of -infinity, or of the sink (CONV-9) */
#define CP_EMPTY_NAN         1 /* NaNs */
#define CP_EMPTY_VALUE       2 /* a log-sum-exp of `empty_value`, infinities too; not for out */
#define CP_EMPTY_UNSPECIFIED 3 /* anything, also what was there before the call */

/* What no call has (CONV-3): a sum of some of these. */
#define CP_NEVER_EMPTY_SEQUENCES 1 /* a sequence without keys */
#define CP_NEVER_EMPTY_ROWS      2 /* a row that sees no key, but perhaps a sink */
#define CP_NEVER_ROWLESS         4 /* a sequence without rows */
#define CP_NEVER_UNEQUAL_ROWS    8 /* two sequences with different numbers of rows */

/* On what the bits of a row's results depend (CONV-5). */
#define CP_INVARIANT_NOT   0 /* on anything in the call */
#define CP_INVARIANT_BATCH 1 /* not on the other sequences, nor on which chunks are shared */
#define CP_INVARIANT_CUTS  2 /* nor on which of the sequence's rows are in the same call */

/* What the number of a window counts (CONV-6). */
#define CP_WINDOW_OF_KEYS 0 /* the keys that a row sees at most, its own position among them */
#define CP_WINDOW_BEFORE  1 /* those before its own position: one less */

/* Which comes first where a score has a cap and a bias (CONV-7). */
#define CP_CAP_FIRST 0 /* the cap: the bias is not capped */
#define CP_CAP_LAST  1 /* the bias: the cap holds for the sum */

/* What a slope is multiplied by, of a key at t and a row at p (CONV-8). */
#define CP_BIAS_SIGNED   0 /* t - p */
#define CP_BIAS_DISTANCE 1 /* -|t - p|: not the same where a row sees keys ahead */
/* t: the log-sum-exp is larger by slope p, so that a sink weighs less. With CP_CAP_LAST the larger
 * score is capped. So out is another one, where there is a sink or such a cap. */
#define CP_BIAS_POSITION 2

/* Does the log-sum-exp have the sink in it (CONV-9)? The result always has. */
#define CP_SINK_IN_LSE     0
#define CP_SINK_BESIDE_LSE 1

/* Conventions that kernels differ in. All zeros: those of the specification. */
struct cp_kernel_conventions {
    int lse_base;       /* CP_LSE_NATURAL or CP_LSE_BITS */
    int empty_out;      /* CP_EMPTY_NEUTRAL, CP_EMPTY_NAN or CP_EMPTY_UNSPECIFIED */
    int empty_lse;      /* CP_EMPTY_... */
    double empty_value; /* for CP_EMPTY_VALUE: no NaN, as lse_type rounds it; else 0 */
    int never;          /* a sum of CP_NEVER_... */
    int invariant;      /* CP_INVARIANT_... */
    int window;         /* CP_WINDOW_OF_KEYS or CP_WINDOW_BEFORE */
    int cap;            /* CP_CAP_FIRST or CP_CAP_LAST */
    int bias;           /* CP_BIAS_SIGNED, CP_BIAS_DISTANCE or CP_BIAS_POSITION */
    int sink;           /* CP_SINK_IN_LSE or CP_SINK_BESIDE_LSE */
};

/* Which masks a kernel takes besides the causal one: a sum of these. Its calls have some of them,
 * with numbers of their own in each call, or none. */
#define CP_MASKS_WINDOW 1
#define CP_MASKS_AHEAD  2 /* keys after the row's own position */
#define CP_MASKS_KEPT   4 /* first tokens besides a window; only with CP_MASKS_WINDOW */
#define CP_MASKS_BITS   8 /* take keys away (MASK-1), add none: alone it needs CP_MASKS_AHEAD */

/* What a kernel takes that changes scores: a sum of these. Its calls have some of them, or none. */
#define CP_SCORES_CAP    1
#define CP_SCORES_SLOPES 2 /* ALiBi */
#define CP_SCORES_SINKS  4
#define CP_SCORES_BIASES 8 /* a table, as T5's; with CP_SCORES_SLOPES a call has either */

/* How K and V are kept (NUM-16). */
#define CP_CACHE_PLAIN 0 /* as kv_type says */
#define CP_CACHE_E4M3  CP_E4M3
#define CP_CACHE_E5M2  CP_E5M2
#define CP_CACHE_INT8  CP_INT8

/* All zeros: K and V are of kv_type, and have no scales. Where both have 8 bits, kv_type says only
 * how large their numbers times scales may be: CP_FP16, as if rounded to binary16. Integers may be
 * -128. Padding is NaN or large, in integers large. */
struct cp_kernel_cache {
    int k, v;   /* CP_CACHE_... of K and of V: they may differ, and one may be plain */
    int scales; /* CP_CACHE_SCALE_... (number8.h) */
};

/* What lies together in memory (CONV-11). */
#define CP_PAGES_CHUNKS 0 /* the keys of a chunk of the plan: a page is a chunk */
#define CP_PAGES_OWN    1 /* those of a page, whose size is its own; for plans of trees */
#define CP_PAGES_RAGGED 2 /* those of a sequence, one sequence after another: [key][K/V head][d] */

/* In which order (CONV-12). Without gaps, strides follow from the shape; d is rounded up to a
 * multiple of x where keys are packed. Ragged keys lie as RAGGED says, whatever the order. */
#define CP_ORDER_ANY 0 /* any: the kernel goes by strides, and V may have another order than K */
#define CP_ORDER_NHD 1 /* [page][slot][K/V head][d] */
#define CP_ORDER_HND 2 /* [page][K/V head][slot][d] */

#define CP_GAPS_ANY   0 /* anywhere */
#define CP_GAPS_PAGES 1 /* of K and V only behind a page */
#define CP_GAPS_NONE  2 /* none; Q, out and lse are [row][head] then, without gaps, too */

#define CP_TENSORS_TWO    0 /* K and V each have one */
#define CP_TENSORS_PAGES  1 /* [page][2][...]: V of a page lies behind its K */
#define CP_TENSORS_HALVES 2 /* [2][page][...]: V of all pages lies behind K of all */
#define CP_TENSORS_KEYS   3 /* that of K: a value is the first d_v numbers of its key (CONV-13) */

/* In which order scales of tokens lie, whatever the order of K and V. */
#define CP_SCALES_BY_HEAD 0 /* [page][K/V head][slot] */
#define CP_SCALES_BY_SLOT 1 /* [page][slot][K/V head] */

#define CP_MOST_PAGE 4096 /* keys of a page */

/* How K and V lie in memory. All zeros: in chunks, in any order. */
struct cp_kernel_layout {
    int pages;     /* CP_PAGES_... */
    int page_size; /* of CP_PAGES_OWN: the size that each call has, up to CP_MOST_PAGE; 0: any, */
    int page_unit; /* which is a power of two times this, if it is not 0, up to CP_MOST_PAGE */
    int order;     /* CP_ORDER_... */
    int gaps;      /* CP_GAPS_... */
    int tensors;   /* CP_TENSORS_...; one tensor has K and V of one type and packed alike */
    /* x: K, or V, is packed as [page][K/V head][d / x][slot][x], up to 256; not with CP_ORDER_NHD,
     * nor ragged. 0: it is not packed. 1 is [page][K/V head][d][slot]. */
    int k_pack, v_pack;
    int scale_order; /* CP_SCALES_BY_...; only with CP_CACHE_SCALE_TOKEN */
};

/* Where a kernel's arrays are: in host memory; or on the current CUDA device, while the struct of
 * the call is in host memory. */
#define CP_HOST_MEMORY   0
#define CP_DEVICE_MEMORY 1

struct cp_kernel {
    int abi;                        /* CP_KERNEL_ABI */
    const char *name;               /* for reports */
    int q_type, kv_type, out_type;  /* CP_FP16, CP_BF16, CP_FP32 or CP_FP64 */
    int lse_type;                   /* CP_FP32, CP_FP64, or CP_NO_LSE: the kernel writes no lse */
    int memory;                     /* CP_HOST_MEMORY or CP_DEVICE_MEMORY */
    int plans;                      /* CP_PLANS_TREES, CP_PLANS_RANGES or CP_PLANS_LISTS */
    int keys;                       /* CP_KEYS_PLACED, CP_KEYS_RAW or CP_KEYS_LOCAL */
    int pairs;                      /* CP_PAIRS_HALVES or CP_PAIRS_NEIGHBOURS */
    int widths;                     /* CP_WIDTHS_EQUAL or CP_WIDTHS_ANY */
    int masks;                      /* a sum of CP_MASKS_... */
    int scores;                     /* a sum of CP_SCORES_... */
    struct cp_kernel_cache cache;   /* what K and V are, if not kv_type */
    struct cp_kernel_layout layout; /* how they lie in memory, if not in chunks by strides */
    struct cp_kernel_conventions conventions;
    struct cp_kernel_class arithmetic;

    /* Returns NULL for a call that the kernel takes, and a sentence for a call that it refuses. If
     * this pointer is NULL, the kernel takes every call. It may look only at the numbers of the
     * call, including n_shared and the strides: the arrays and on_host are NULL. */
    const char *(*refuses)(const struct cp_kernel_call *call);

    /* Returns the bytes of workspace that a call needs; if this pointer is NULL, it needs none. As
     * above, it may look only at numbers. */
    size_t (*workspace)(const struct cp_kernel_call *call);

    /* Returns 0, or another number if it failed, which is a finding. When it returns, everything is
     * written and nothing is running in the background. With device memory it need not wait: this
     * holds once all that it put on its stream is done. Results do not depend on earlier calls. */
    int (*attend)(const struct cp_kernel_call *call);
};

/* The kernel. In C++ write `struct cp_kernel` for the type, because the variable hides its name. */
extern const struct cp_kernel cp_kernel;

#ifdef __cplusplus
}
#endif

#endif
