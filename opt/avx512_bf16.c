/* SPDX-License-Identifier: Apache-2.0 */
/* AVX-512 with products of bfloat16: AVX-512, but scores of many rows come from an instruction that
 * adds two products of bfloat16 to each number of a vector of binary32 (VDPBF16PS). That is twice
 * as much as a multiplication and addition in binary32. It needs Q and K in bfloat16; weights are
 * in binary32, so values are added as AVX-512 adds them.
 *
 * K is read as stored. Numbers 2 x and 2 x + 1 of a key are one word of 32 bits, which meets the
 * same two numbers of 16 rows. The scores of 8 keys with 32 rows, for example:
 *
 *                         q [d / 2][rows][2]
 *                         +--------+---------+
 *                   x --> |  left  |  right  |    16 pairs each
 *                         +--------+---------+
 *         K [8 keys][d]   score [8 keys][32 rows]
 *              x
 *         +----|-------+  +--------+---------+
 *       0 |   pair     |  |   x0   |   y0    |
 *      .. |    ..      |  |   ..   |   ..    |    16 registers
 *       7 |   pair     |  |   x7   |   y7    |
 *         +------------+  +--------+---------+
 *
 *     1  scores(): blocks of 8 keys, and of each all rows, two vectors of them at once
 *     2  block(), for x = 0 .. d / 2 - 1:
 *     2a     each 4th time, prefetch a cache line that is needed soon
 *     2b     load row x of q: left and right
 *     2c     for each key i of the block: x_i += pair . left, y_i += pair . right
 *     3  store the registers
 *
 * Additions (NUM-5): a product of two numbers of bfloat16 is exact in binary32. The instruction
 * adds two of them to a sum, in whatever order: two additions, each rounded to nearest or not at
 * all. Of d numbers these are d additions; where d is odd the last pair ends with two zeros, and
 * adding 0 errs not.
 *
 * The instruction takes a subnormal number for 0, and gives 0 for one. So numbers must be ordinary:
 * 0, or from 2^-56 to 2^48 in magnitude. They are multiples of 2^-63 then, the last bit of 2^-56 in
 * bfloat16; products and their sums are multiples of 2^-126, and none is subnormal. No sum
 * overflows: d products are below 2^31 2^96. Where a number is not ordinary, the loops of AVX-512
 * do the work. */
#include "opt/kernels.h"

#if defined(__x86_64__)
#include <stdint.h>
#include <string.h>

#include "opt/cpu.h"
#include "opt/target.h"

#define INLINE static inline __attribute__((always_inline))

#define LANES 16 /* rows of a vector */
#define KEYS  8  /* of a block */
#define PAIR  2  /* numbers that are multiplied and added up at once */
#define LINE  64 /* bytes of a cache line */

#define TWO_VECTORS ((size_t)2 * LANES) /* of rows */

#define WANTED_EACH 4 /* steps of a block from one prefetched cache line to the next */

CP_STATIC_ASSERT(CP_OPT_PAD % LANES == 0 && CP_OPT_PAD % KEYS == 0,
                 "padded rows and keys are whole vectors and blocks");

/* As bits of bfloat16: 2^-56, and 2^48, which is too large. */
#define SMALLEST 0x2380
#define LARGEST  0x5780

/* sum += a . b, of 16 pairs each. The tests have it in two steps, too, for machines that lack
 * it. */
#ifndef ADD_PRODUCTS
TARGET_BEGIN("avx2,fma,f16c,avx512f,avx512bw,avx512dq,avx512vl,avx512bf16")
#define ADD_PRODUCTS(sum, a, b) _mm512_dpbf16_ps(sum, (__m512bh)(a), (__m512bh)(b))
#else
TARGET_BEGIN("avx2,fma,f16c,avx512f,avx512bw,avx512dq,avx512vl")
#endif

/* ---- Ordinary numbers ---- */

/* Of the magnitudes so far, as bits: the largest, and the smallest but zeros, minus 1. */
struct range {
    __m512i largest, smallest;
};

static inline struct range range_of_none(void) {
    return (struct range){_mm512_setzero_si512(), _mm512_set1_epi16(-1)};
}

/* 32 numbers of bfloat16. */
INLINE void look_at(struct range *range, __m512i numbers) {
    __m512i size = _mm512_and_si512(numbers, _mm512_set1_epi16(0x7FFF));
    range->largest = _mm512_max_epu16(range->largest, size);
    range->smallest =
        _mm512_min_epu16(range->smallest, _mm512_sub_epi16(size, _mm512_set1_epi16(1)));
}

static inline int is_ordinary(const struct range *range) {
    return _mm512_cmpge_epu16_mask(range->largest, _mm512_set1_epi16(LARGEST)) == 0 &&
           _mm512_cmplt_epu16_mask(range->smallest, _mm512_set1_epi16(SMALLEST - 1)) == 0;
}

static int keys_are_ordinary(struct opt_keys k, int d) {
    struct range range = range_of_none();
    int whole = d / (2 * LANES) * (2 * LANES);
    __mmask32 rest = ((__mmask32)1 << (d - whole)) - 1;
    for (int j = 0; j < k.n; j++) {
        const uint16_t *key = k.at[j];
        for (int x = 0; x < whole; x += 2 * LANES) {
            look_at(&range, _mm512_loadu_si512(key + x));
        }
        look_at(&range, _mm512_maskz_loadu_epi16(rest, key + whole));
    }
    return is_ordinary(&range);
}

/* ---- Queries ---- */

static size_t query_size(int d) {
    return ((size_t)d + 1) / PAIR * PAIR * sizeof(uint16_t);
}

static size_t room_size(int d) {
    (void)d;
    return 0;
}

static int takes(int q_type, int k_type, int v_type) {
    (void)v_type;
    return q_type == CP_BF16 && k_type == CP_BF16;
}

/* Pairs of two columns, [d / 2][padded rows][2]; behind an odd d there is one of zeros. */
static int take_queries(void *to, const float *columns, int type, int padded_rows, int d) {
    struct range range = range_of_none();
    uint32_t *pairs = to;
    (void)type;
    for (int x = 0; x < d; x += PAIR) {
        const float *one = columns + (size_t)x * (size_t)padded_rows, *other = one + padded_rows;
        for (int i = 0; i < padded_rows; i += LANES, pairs += LANES) {
            __m512i first = _mm512_loadu_si512(one + i);
            __m512i second = x + 1 < d ? _mm512_loadu_si512(other + i) : _mm512_setzero_si512();
            __m512i pair = _mm512_or_si512(_mm512_srli_epi32(first, 16), second);
            look_at(&range, pair);
            _mm512_storeu_si512(pairs, pair);
        }
    }
    return is_ordinary(&range);
}

/* ---- Scores ---- */

#define EACH_KEY(DO) DO(0) DO(1) DO(2) DO(3) DO(4) DO(5) DO(6) DO(7)

INLINE __m512i pair_at(const char *key, size_t x) {
    uint32_t pair;
    memcpy(&pair, key + x * sizeof pair, sizeof pair);
    return _mm512_set1_epi32((int)pair);
}

/* The last number of a key of odd d, and a zero. */
INLINE __m512i last_at(const char *key, size_t x) {
    uint16_t last;
    memcpy(&last, key + x * sizeof(uint32_t), sizeof last);
    return _mm512_set1_epi32((int)last);
}

INLINE void ask(struct opt_wanted *wanted) {
    if (wanted->at < wanted->end) {
        __builtin_prefetch(wanted->at, 0, 1);
        wanted->at += LINE;
    }
}

#define BEGIN(i) __m512 x##i = _mm512_setzero_ps(), y##i = x##i;
#define STEP(i)                                                                                    \
    {                                                                                              \
        __m512i pair = last ? last_at(key[i], x) : pair_at(key[i], x);                             \
        x##i = ADD_PRODUCTS(x##i, left, pair);                                                     \
        y##i = wide ? ADD_PRODUCTS(y##i, right, pair) : y##i;                                      \
    }
#define STEPS(LAST)                                                                                \
    {                                                                                              \
        const int last = LAST;                                                                     \
        __m512i left = _mm512_loadu_si512(q), right = left;                                        \
        right = wide ? _mm512_loadu_si512(q + LANES) : right;                                      \
        EACH_KEY(STEP)                                                                             \
    }
#define END(i)                                                                                     \
    _mm512_storeu_ps(score + (size_t)(i)*rows, x##i);                                              \
    if (wide) {                                                                                    \
        _mm512_storeu_ps(score + (size_t)(i)*rows + LANES, y##i);                                  \
    }

/* Steps 2 and 3; two vectors of rows if `wide`, else one. */
INLINE void block(float *score, size_t rows, const uint32_t *q, const char *const *key, int d,
                  int wide, struct opt_wanted *wanted) {
    size_t x = 0, pairs = (size_t)d / PAIR;
    EACH_KEY(BEGIN)
    for (; x < pairs; x++, q += rows) {
        if (x % WANTED_EACH == 0) { /* 2a */
            ask(wanted);
        }
        STEPS(0) /* 2b, 2c */
    }
    if (d % PAIR != 0) {
        STEPS(1)
    }
    EACH_KEY(END) /* 3 */
}

/* Step 1. The last key stands for those that fill up the last block. */
static int scores(float *score, void *queries, int q_type, int padded_rows, struct opt_keys k,
                  int d, void *room, struct opt_wanted *wanted) {
    const uint32_t *q = queries;
    size_t rows = (size_t)padded_rows;
    (void)q_type;
    (void)room;
    if (!keys_are_ordinary(k, d)) {
        return 0;
    }
    for (int j = 0; j < k.n; j += KEYS, score += KEYS * rows) {
        const char *key[KEYS];
        for (int i = 0; i < KEYS; i++) {
            key[i] = k.at[j + i < k.n ? j + i : k.n - 1];
        }
        size_t i = 0;
        for (; i + TWO_VECTORS <= rows; i += TWO_VECTORS) {
            block(score + i, rows, q + i, key, d, 1, wanted);
        }
        if (i < rows) {
            block(score + i, rows, q + i, key, d, 0, wanted);
        }
    }
    return 1;
}

struct cp_opt_kernels cp_opt_avx512_bf16(void) {
    struct cp_opt_kernels kernels = cp_opt_avx512();
    kernels.multiplier = (struct opt_multiplier){.query_size = query_size,
                                                 .room_size = room_size,
                                                 .takes = takes,
                                                 .take_queries = take_queries,
                                                 .scores = scores};
    return kernels;
}

TARGET_END

int cp_opt_has_avx512_bf16(void) {
    unsigned word[4];
    return cp_opt_has_avx512() && __get_cpuid_count(7, 1, &word[0], &word[1], &word[2], &word[3]) &&
           (word[0] >> 5 & 1U) != 0;
}

#else

struct cp_opt_kernels cp_opt_avx512_bf16(void) {
    return cp_opt_portable();
}

int cp_opt_has_avx512_bf16(void) {
    return 0;
}

#endif
