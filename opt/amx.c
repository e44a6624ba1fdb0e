/* SPDX-License-Identifier: Apache-2.0 */
/* AMX: AVX-512, and for many rows a unit that multiplies matrices of bfloat16 and adds up in
 * binary32.
 *
 * A number of binary16 is the sum of two of bfloat16, one of binary32 that of three, exactly: its
 * first 8 significant bits, the next 8 of what is left, and so on. A product is then the sum of the
 * products of all parts, each of which is exact in binary32. They are added up from the smallest to
 * the largest, so that only additions of the first parts err by as much as additions of the numbers
 * themselves would: what comes before is 2^-6 of that.
 *
 * Additions (NUM-5): all parts of a number have its sign, so that their magnitudes add up to its
 * own. The unit adds up 16 products beside 16 others, both sums, and what it had. Of d numbers in s
 * = d / 32 squares, rounded upwards, the products of first parts pass through at most 17 + s
 * additions, and the others, of p - 1 pairs of parts, through 17 + p s: no more than 17 + s + 2^-6
 * (17 + p s) in effect, which is below d from 32 on, p = 9. A tile of values adds up keys in the
 * same way. To add a 0, as a key that a row does not see and padding are, errs not: of n keys the
 * first parts pass through at most min(n, 16) + s additions, s = 1 or 2, and one more to o, below
 * the n + 1 + 2 C that GATE-2 counts for them.
 *
 * The unit takes a subnormal number for 0, and 0 times an infinity is a NaN. So numbers must be
 * ordinary: 0, or from 2^-30 to 2^40 in magnitude, as all of binary16 are that are finite. A part
 * is then a multiple of 2^-53, the last bit of 2^-30 in binary32, and a score's product and sum of
 * 2^-106. A weight may be as small as 2^-149, so that weights are multiplied by 2^80: multiples of
 * 2^-69, and products of 2^-122. None is subnormal, and none overflows: at most 64 2^80 2^40. Where
 * a number is not ordinary, the loops of AVX-512 do the work. */
#include "opt/kernels.h"

#if defined(__x86_64__)
#include <stdint.h>

#include "opt/target.h"

TARGET_BEGIN("avx2,fma,f16c,avx512f,avx512bw,avx512dq,avx512vl,amx-tile,amx-bf16")

#define INLINE static inline __attribute__((always_inline))

#define SIDE   16                     /* rows of a square, and columns of a result */
#define INNER  32                     /* numbers that are multiplied and added up at once */
#define SQUARE ((size_t)SIDE * INNER) /* numbers of bfloat16 of a register */
#define ROW    64                     /* bytes of a row of a register */

#define LARGEST  0x1p40F
#define SMALLEST 0x1p-30F
#define WEIGHT   0x1p80F /* what weights are multiplied by */

#define MOST_PARTS 3

CP_STATIC_ASSERT(CP_OPT_PAD % SIDE == 0 && CP_OPT_KEYS % INNER == 0 && CP_OPT_PANEL % SIDE == 0,
                 "padded rows, keys and panels are whole squares");

/* A matrix in parts; each part consists of squares, one register each. Numbers that are
 * multiplied and added lie in pairs: each number of the first half of INNER numbers next to one
 * of the second half. A square of the left factor is [SIDE rows][INNER / 2][2], one of the right
 * factor [INNER / 2][SIDE columns][2]. */
struct parts {
    uint16_t *at;
    int n, inner, squares; /* parts; squares along what is added up; along rows or columns */
    size_t size;           /* numbers from one part to the next */
};

static int parts_of(int type) {
    return type == CP_BF16 ? 1 : type == CP_FP16 ? 2 : MOST_PARTS;
}

/* n / large, rounded up; n >= 1. */
static int times(int n, int large) {
    return (n - 1) / large + 1;
}

static struct parts parts_at(void *at, int n, int inner, int squares) {
    return (struct parts){at, n, inner, squares, (size_t)inner * (size_t)squares * SQUARE};
}

static uint16_t *square_of(const struct parts *of, int part, int inner, int square) {
    size_t at = (size_t)inner * (size_t)of->squares + (size_t)square;
    return of->at + (size_t)part * of->size + at * SQUARE;
}

/* ---- Into parts ---- */

/* Loads numbers x .. x + SIDE - 1 of a row of `end` numbers as binary32, with zeros after the
 * end: nothing beyond it is read. */
INLINE __m512i load(const void *row, int type, int x, int end) {
    int n = end - x;
    __mmask16 mask = (__mmask16)(n >= SIDE ? 0xFFFF : n <= 0 ? 0 : (1 << n) - 1);
    if (type == CP_FP32) {
        return _mm512_maskz_loadu_epi32(mask, (const float *)row + x);
    }
    __m256i half = _mm256_maskz_loadu_epi16(mask, (const uint16_t *)row + x);
    return type == CP_FP16 ? _mm512_castps_si512(_mm512_cvtph_ps(half))
                           : _mm512_slli_epi32(_mm512_cvtepu16_epi32(half), 16);
}

/* Of the magnitudes so far, as bits: the largest, and the smallest but zeros, minus 1. */
struct range {
    __m512i largest, smallest;
};

static inline struct range range_of_none(void) {
    return (struct range){_mm512_setzero_si512(), _mm512_set1_epi32(-1)};
}

INLINE void look_at(struct range *range, __m512i x, int type) {
    __m512i size = _mm512_and_si512(x, _mm512_set1_epi32(0x7FFFFFFF));
    range->largest = _mm512_max_epu32(range->largest, size);
    if (type != CP_FP16) { /* of which none is too small */
        __m512i before = _mm512_sub_epi32(size, _mm512_set1_epi32(1));
        range->smallest = _mm512_min_epu32(range->smallest, before);
    }
}

static inline int is_ordinary(const struct range *range) {
    __m512i above = _mm512_castps_si512(_mm512_set1_ps(LARGEST));
    __m512i least = _mm512_castps_si512(_mm512_set1_ps(SMALLEST));
    return _mm512_cmpge_epu32_mask(range->largest, above) == 0 &&
           _mm512_cmplt_epu32_mask(range->smallest,
                                   _mm512_sub_epi32(least, _mm512_set1_epi32(1))) == 0;
}

/* Pairs of a number of x and one of y: n parts, `size` numbers from one to the next. */
INLINE void split(uint16_t *to, size_t size, int n, __m512i x, __m512i y) {
    const __m512i upper = _mm512_set1_epi32((int)0xFFFF0000U);
    for (int i = 0; i < n; i++, to += size) {
        __m512i first = _mm512_and_si512(x, upper), other = _mm512_and_si512(y, upper);
        _mm512_storeu_si512(to, _mm512_or_si512(_mm512_srli_epi32(first, 16), other));
        x = (__m512i)_mm512_sub_ps((__m512)x, (__m512)first);
        y = (__m512i)_mm512_sub_ps((__m512)y, (__m512)other);
    }
}

#define BY_TYPE(type, CALL)                                                                        \
    ((type) == CP_FP16 ? CALL(CP_FP16) : (type) == CP_BF16 ? CALL(CP_BF16) : CALL(CP_FP32))

/* A left factor: rows of d numbers. Returns whether all are ordinary. */
INLINE int split_rows_of(const struct parts *to, struct opt_keys from, int d, int type) {
    struct range range = range_of_none();
    for (int i = 0; i < to->squares * SIDE; i++) {
        const void *row = from.at[i < from.n ? i : 0];
        int end = i < from.n ? d : 0;
        uint16_t *at = square_of(to, 0, 0, i / SIDE) + (size_t)(i % SIDE) * INNER;
        for (int k = 0; k < to->inner; k++, at += (size_t)to->squares * SQUARE) {
            __m512i x = load(row, type, k * INNER, end);
            __m512i y = load(row, type, k * INNER + INNER / 2, end);
            look_at(&range, x, type);
            look_at(&range, y, type);
            split(at, to->size, parts_of(type), x, y);
        }
    }
    return is_ordinary(&range);
}

static int split_rows(const struct parts *to, struct opt_keys from, int d) {
#define CALL(TYPE) split_rows_of(to, from, d, TYPE)
    return BY_TYPE(from.type, CALL);
#undef CALL
}

/* A right factor: columns first .. end-1 of rows, numbers of `type` in n parts. */
INLINE int split_columns_of(const struct parts *to, struct opt_keys from, int first, int end,
                            int type, int n) {
    struct range range = range_of_none();
    for (int k = 0; k < to->inner * INNER / 2; k++) {
        int i = k / SIDE * INNER + k % SIDE, j = i + INNER / 2;
        const void *one = from.at[i < from.n ? i : 0], *other = from.at[j < from.n ? j : 0];
        int end_of_one = i < from.n ? end : 0, end_of_other = j < from.n ? end : 0;
        uint16_t *at = square_of(to, 0, k / SIDE, 0) + (size_t)(k % SIDE) * INNER;
        for (int s = 0; s < to->squares; s++, at += SQUARE) {
            __m512i x = load(one, type, first + s * SIDE, end_of_one);
            __m512i y = load(other, type, first + s * SIDE, end_of_other);
            look_at(&range, x, type);
            look_at(&range, y, type);
            split(at, to->size, n, x, y);
        }
    }
    return is_ordinary(&range);
}

static int split_columns(const struct parts *to, struct opt_keys from, int first, int end) {
#define CALL(TYPE) split_columns_of(to, from, first, end, TYPE, parts_of(TYPE))
    return BY_TYPE(from.type, CALL);
#undef CALL
}

/* Rows of SIDE numbers become columns, in place: halves of halves change places across the
 * diagonal. */
static void transpose(float *square) {
    const __m512i lane = _mm512_set_epi32(15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0);
    const __m512i second = _mm512_set1_epi32(SIDE); /* the second of two vectors */
    for (int away = SIDE / 2; away > 0; away /= 2) {
        __m512i step = _mm512_set1_epi32(away);
        __mmask16 right = _mm512_test_epi32_mask(lane, step);
        __m512i upper = _mm512_mask_add_epi32(lane, right, _mm512_sub_epi32(lane, step), second);
        __m512i lower = _mm512_mask_add_epi32(_mm512_add_epi32(lane, step), right, lane, second);
        for (int i = 0; i < SIDE; i++) {
            if ((i & away) == 0) {
                float *a = square + (size_t)i * SIDE, *b = a + (size_t)away * SIDE;
                __m512 x = _mm512_loadu_ps(a), y = _mm512_loadu_ps(b);
                _mm512_storeu_ps(a, _mm512_permutex2var_ps(x, upper, y));
                _mm512_storeu_ps(b, _mm512_permutex2var_ps(x, lower, y));
            }
        }
    }
}

/* ---- Products ---- */

/* All eight registers as large as they can be. */
static const struct {
    uint8_t palette, start_row, reserved[14];
    uint16_t row_bytes[8], none[8];
    uint8_t rows[8], nothing[8];
} layout = {
    1,  0, {0}, {ROW, ROW, ROW, ROW, ROW, ROW, ROW, ROW}, {0}, {16, 16, 16, 16, 16, 16, 16, 16},
    {0}};

CP_STATIC_ASSERT(sizeof layout == 64, "LDTILECFG reads 64 bytes");

/* Lines that are wanted, asked for along the way. */
struct asking {
    struct opt_wanted *wanted;
    long each; /* of a step */
};

static struct asking asking_of(struct opt_wanted *wanted, long steps) {
    long lines = wanted->at == NULL ? 0 : (long)(wanted->end - wanted->at + ROW - 1) / ROW;
    return (struct asking){wanted, (lines + steps - 1) / steps};
}

INLINE void ask(const struct asking *asking) {
    struct opt_wanted *wanted = asking->wanted;
    for (long i = 0; i < asking->each && wanted->at < wanted->end; i++, wanted->at += ROW) {
        __builtin_prefetch(wanted->at, 0, 1);
    }
}

/* One square, or two, of rows and of columns. */
INLINE void multiply_parts(const struct parts *a, int i, int part_a, const struct parts *b, int j,
                           int part_b, const struct asking *asking) {
    int tall = i + 1 < a->squares, wide = j + 1 < b->squares;
    for (int k = 0; k < a->inner; k++) {
        ask(asking);
        _tile_loadd(4, square_of(a, part_a, k, i), ROW);
        _tile_loadd(6, square_of(b, part_b, k, j), ROW);
        _tile_dpbf16ps(0, 4, 6);
        if (wide) {
            _tile_loadd(7, square_of(b, part_b, k, j + 1), ROW);
            _tile_dpbf16ps(1, 4, 7);
        }
        if (tall) {
            _tile_loadd(5, square_of(a, part_a, k, i + 1), ROW);
            _tile_dpbf16ps(2, 5, 6);
        }
        if (tall && wide) {
            _tile_dpbf16ps(3, 5, 7);
        }
    }
}

INLINE void store_squares(float *c, size_t c_row, int tall, int wide) {
    size_t bytes = c_row * sizeof(float);
    _tile_stored(0, c, bytes);
    if (wide) {
        _tile_stored(1, c + SIDE, bytes);
    }
    if (tall) {
        _tile_stored(2, c + SIDE * c_row, bytes);
    }
    if (tall && wide) {
        _tile_stored(3, c + SIDE * c_row + SIDE, bytes);
    }
}

/* c = a b, in whole squares. The products of the smallest parts come first. */
static void multiply(float *c, size_t c_row, const struct parts *a, const struct parts *b,
                     struct opt_wanted *wanted) {
    long steps = (long)times(a->squares, 2) * times(b->squares, 2) * a->n * b->n * a->inner;
    struct asking asking = asking_of(wanted, steps);
    __asm__ volatile("" ::: "memory"); /* all that is loaded below is in memory now */
    _tile_loadconfig(&layout);
    for (int i = 0; i < a->squares; i += 2) {
        for (int j = 0; j < b->squares; j += 2) {
            _tile_zero(0);
            _tile_zero(1);
            _tile_zero(2);
            _tile_zero(3);
            for (int sum = a->n + b->n - 2; sum >= 0; sum--) {
                for (int part = a->n - 1; part >= 0; part--) {
                    if (sum - part >= 0 && sum - part < b->n) {
                        multiply_parts(a, i, part, b, j, sum - part, &asking);
                    }
                }
            }
            store_squares(c + (size_t)i * SIDE * c_row + (size_t)j * SIDE, c_row,
                          i + 1 < a->squares, j + 1 < b->squares);
        }
    }
    _tile_release();
    __asm__ volatile("" ::: "memory");
}

/* ---- The multiplier ---- */

/* The room needed in addition to the queries: weights, a result, two squares, keys or some of their
 * values. Only the last depends on d. */
struct room {
    uint16_t *weights;
    float *result, *square;
    uint16_t *factor;
};

static size_t factor_size(int d) {
    size_t k = (size_t)times(d, INNER) * (CP_OPT_KEYS / SIDE);
    size_t v = (size_t)(CP_OPT_KEYS / INNER) * (CP_OPT_PANEL / SIDE);
    return MOST_PARTS * SQUARE * (k > v ? k : v);
}

static size_t weights_size(void) {
    return (size_t)MOST_PARTS * CP_OPT_ROWS * CP_OPT_KEYS;
}

static size_t result_size(void) {
    return (size_t)CP_OPT_ROWS * CP_OPT_PANEL;
}

static size_t query_size(int d) {
    return (size_t)MOST_PARTS * (size_t)times(d, INNER) * INNER * sizeof(uint16_t);
}

static size_t room_size(int d) {
    return (factor_size(d) + weights_size()) * sizeof(uint16_t) +
           (result_size() + 2 * (size_t)SIDE * SIDE) * sizeof(float);
}

static struct room room_of(void *at) {
    struct room r;
    r.weights = at;
    r.result = (float *)(void *)(r.weights + weights_size());
    r.square = r.result + result_size();
    r.factor = (uint16_t *)(void *)(r.square + 2 * (size_t)SIDE * SIDE);
    return r;
}

static int takes(int q_type, int k_type, int v_type) {
    (void)q_type;
    return !opt_has_8_bits(k_type) && !opt_has_8_bits(v_type);
}

/* Below INNER numbers it would multiply padding. */
static int take_queries(void *to, const float *columns, int type, int padded_rows, int d) {
    struct parts all = parts_at(to, parts_of(type), times(d, INNER), padded_rows / SIDE);
    int ordinary = d >= INNER;
    for (int k = 0; k < all.inner && d >= INNER; k++) {
        const void *column[INNER];
        struct parts part = {square_of(&all, 0, k, 0), all.n, 1, all.squares, all.size};
        int n = d - k * INNER < INNER ? d - k * INNER : INNER;
        for (int i = 0; i < n; i++) {
            column[i] = columns + (size_t)(k * INNER + i) * (size_t)padded_rows;
        }
        struct opt_keys rows = {column, CP_FP32, n};
        ordinary = split_columns_of(&part, rows, 0, padded_rows, CP_FP32, all.n) && ordinary;
    }
    return ordinary;
}

static int scores(float *score, void *queries, int q_type, int padded_rows, struct opt_keys k,
                  int d, void *room, struct opt_wanted *wanted) {
    struct room r = room_of(room);
    int inner = times(d, INNER);
    struct parts a = parts_at(r.factor, parts_of(k.type), inner, times(k.n, SIDE));
    struct parts b = parts_at(queries, parts_of(q_type), inner, padded_rows / SIDE);
    if (!split_rows(&a, k, d)) {
        return 0;
    }
    multiply(score, (size_t)padded_rows, &a, &b, wanted);
    return 1;
}

/* SIDE rows and keys: a column for each key becomes a row for each row, times WEIGHT. */
static void gather_weights(float *square, const float *weight, int padded_rows, int n) {
    for (int j = 0; j < SIDE; j++) {
        __m512 x =
            j < n ? _mm512_loadu_ps(weight + (size_t)j * (size_t)padded_rows) : _mm512_setzero_ps();
        _mm512_storeu_ps(square + (size_t)j * SIDE, _mm512_mul_ps(x, _mm512_set1_ps(WEIGHT)));
    }
    transpose(square);
}

static struct parts weights_of(const struct room *r, int padded_rows, int keys) {
    return parts_at(r->weights, MOST_PARTS, times(keys, INNER), padded_rows / SIDE);
}

static void take_weights(const float *weight, int padded_rows, int keys, void *room) {
    struct room r = room_of(room);
    struct parts to = weights_of(&r, padded_rows, keys);
    for (int s = 0; s < to.squares; s++) {
        for (int k = 0; k < to.inner; k++) {
            for (int half = 0; half < 2; half++) {
                int key = k * INNER + half * SIDE;
                gather_weights(r.square + (size_t)half * SIDE * SIDE,
                               weight + (size_t)key * (size_t)padded_rows + (size_t)s * SIDE,
                               padded_rows, keys - key);
            }
            for (int i = 0; i < SIDE; i++) {
                const float *row = r.square + (size_t)i * SIDE;
                split(square_of(&to, 0, k, s) + (size_t)i * INNER, to.size, to.n,
                      _mm512_loadu_si512(row), _mm512_loadu_si512(row + (size_t)SIDE * SIDE));
            }
        }
    }
}

static int add_values(float *o, size_t stride, int rows, int padded_rows, struct opt_keys v, int x,
                      int d_v, void *room, struct opt_wanted *wanted) {
    struct room r = room_of(room);
    int width = d_v - x < CP_OPT_PANEL ? d_v - x : CP_OPT_PANEL, squares = times(width, SIDE);
    struct parts a = weights_of(&r, padded_rows, v.n);
    struct parts b = parts_at(r.factor, parts_of(v.type), a.inner, squares);
    if (!split_columns(&b, v, x, x + width)) {
        return 0;
    }
    multiply(r.result, CP_OPT_PANEL, &a, &b, wanted);
    for (int i = 0; i < rows; i++) {
        float *to = o + (size_t)i * stride + x;
        const float *from = r.result + (size_t)i * CP_OPT_PANEL;
        for (int y = 0; y < squares * SIDE; y += SIDE) {
            __m512 sum = _mm512_fmadd_ps(_mm512_loadu_ps(from + y), _mm512_set1_ps(1.0F / WEIGHT),
                                         _mm512_loadu_ps(to + y));
            _mm512_storeu_ps(to + y, sum);
        }
    }
    return 1;
}

struct cp_opt_kernels cp_opt_amx(void) {
    struct cp_opt_kernels kernels = cp_opt_avx512();
    kernels.multiplier = (struct opt_multiplier){.query_size = query_size,
                                                 .room_size = room_size,
                                                 .takes = takes,
                                                 .take_queries = take_queries,
                                                 .scores = scores,
                                                 .take_weights = take_weights,
                                                 .add_values = add_values};
    return kernels;
}

TARGET_END

#else

struct cp_opt_kernels cp_opt_amx(void) {
    return cp_opt_portable();
}

#endif
