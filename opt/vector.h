/* SPDX-License-Identifier: Apache-2.0 */
/* The loops of kernels.h in vectors: included by a file that says what a vector is.
 *
 *   vec, LANES        of floats, how many
 *   v_zero v_set v_load v_store v_add v_sub v_mul v_div v_fma (a b + c) v_sum v_largest
 *   v_max(a, b)       b when one of them is a NaN
 *   v_load_16 v_load_b16   LANES numbers of binary16, of bfloat16
 *   v_load_e4 v_load_e5 v_load_i8   of E4M3, of E5M2, integers of 8 bits; NaNs stay
 *   v_store_16        the same way back, rounded to nearest, ties to even
 *   v_sum_4           the sums of four vectors, stored
 *   v_below(a, b, yes, no)   yes where a < b, else no
 *   v_lane            0, 1, 2, ...
 *   v_power(p, t)     p 2^n, rounded once, n the whole number in t = n + EXP_ROUNDER
 *   MOST, EACH_MOST   rows of a block of product(): two vectors of each are in registers
 *   DOTS, EACH_DOTS   rows of a block of dots(): four vectors of each are */
#include <math.h>
#include <stdint.h>
#include <string.h>

#include "opt/exponential.h"
#include "opt/kernels.h"

/* For what takes the type as a constant. */
#define INLINE static inline __attribute__((always_inline))

#include "opt/vector_load.h"

INLINE void widen_row(float *to, size_t stride, const void *from, int type, size_t at, int d) {
    int i = 0;
    for (; i + LANES <= d; i += LANES) {
        v_store(to + i, load_typed(from, type, at + (size_t)i));
    }
    if (i < d) {
        v_store(to + i, load_some(from, type, at + (size_t)i, d - i));
        i += LANES;
    }
    for (; (size_t)i < stride; i += LANES) {
        v_store(to + i, v_zero());
    }
}

static void widen(float *to, size_t stride, const void *from, size_t from_row, int type, int n,
                  int d) {
    for (int j = 0; j < n; j++, to += stride) {
        size_t at = (size_t)j * from_row;
#define CALL(TYPE) widen_row(to, stride, from, TYPE, at, d)
        BY_TYPE(CALL);
#undef CALL
    }
}

/* ---- Products ----
 *
 * product() computes c = a b, or c += a b. Blocks of c stay in registers while b streams past. The
 * scores of 16 keys with 64 rows by AVX-512 (LANES 16, MOST 8), for example: a is K, b is Q by
 * columns, and m = 16, n = 64, k = d.
 *
 *                         b [d][64 rows]
 *                         +--------+---------+-------------------+
 *                   j --> |  left  |  right  |                   |
 *                         +--------+---------+-------------------+
 *         a [16 keys][d]  c [16 keys][64 rows]
 *              j
 *         +----|-------+  +--------+---------+-------------------+
 *       0 |  factor    |  |   x0   |   y0    |                   |
 *      .. |    ..      |  |   ..   |   ..    |     column 32     |  a block: 8 keys of 32 rows,
 *       7 |  factor    |  |   x7   |   y7    |                   |  16 registers
 *         +------------+  +--------+---------+-------------------+
 *       8 |            |  |                  |                   |
 *
 *     1  product(): columns of c of two vectors each: 64 rows are two columns, 0 and 32
 *     2  columns(): blocks of at most MOST rows of c: 16 keys are two blocks of 8
 *     3  BLOCK, for j = 0 .. k - 1:
 *     3a     each 4th time, prefetch a cache line that is needed soon
 *     3b     load row j of b: left and right
 *     3c     for each row i of the block: x_i += factor left, y_i += factor right
 *     4  store the registers
 *
 * A step loads 2 vectors and 8 factors for 16 multiplications and additions. It takes 16 + 3 of the
 * 32 registers; with AVX2 (LANES 8, MOST 6) 12 + 3 of 16. For values, a is the weights, b is V, and
 * c is o. */

#define ROWS_1(DO) DO(0)
#define ROWS_2(DO) ROWS_1(DO) DO(1)
#define ROWS_3(DO) ROWS_2(DO) DO(2)
#define ROWS_4(DO) ROWS_3(DO) DO(3)
#define ROWS_5(DO) ROWS_4(DO) DO(4)
#define ROWS_6(DO) ROWS_5(DO) DO(5)
#define ROWS_7(DO) ROWS_6(DO) DO(6)
#define ROWS_8(DO) ROWS_7(DO) DO(7)

#define BEGIN(i)                                                                                   \
    vec x##i = add ? v_load(c + (i)*c_row) : v_zero();                                             \
    vec y##i = add && wide ? v_load(c + (i)*c_row + LANES) : v_zero();
#define STEP(i)                                                                                    \
    {                                                                                              \
        vec factor = v_set(row[(i)*a.row]);                                                        \
        x##i = v_fma(factor, left, x##i);                                                          \
        y##i = wide ? v_fma(factor, right, y##i) : y##i;                                           \
    }
#define END(i)                                                                                     \
    v_store(c + (i)*c_row, x##i);                                                                  \
    if (wide) {                                                                                    \
        v_store(c + (i)*c_row + LANES, y##i);                                                      \
    }

/* How many steps of a block lie between two prefetched cache lines: that many lines arrive from
 * memory meanwhile. */
#define WANTED_EACH 4

INLINE void ask(struct opt_wanted *wanted) {
    if (wanted != NULL && wanted->at < wanted->end) {
        __builtin_prefetch(wanted->at, 0, 1);
        wanted->at += 64;
    }
}

/* A matrix of a type: element (j, x) is number first + j row + x. */
struct typed {
    const void *at;
    int type;
    size_t first, row;
};

/* Steps 3 and 4 for M rows of c: two vectors of each row if `wide`, else one vector, in which b has
 * n numbers. */
#define BLOCK(M)                                                                                   \
    INLINE void block_of_##M(float *c, size_t c_row, struct opt_matrix a, struct typed b, int k,   \
                             int add, int wide, int n, struct opt_wanted *wanted) {                \
        const float *row = a.at;                                                                   \
        size_t at = b.first;                                                                       \
        ROWS_##M(BEGIN) for (int j = 0; j < k; j++, row += a.column, at += b.row) {                \
            if (j % WANTED_EACH == 0) { /* 3a */                                                   \
                ask(wanted);                                                                       \
            }                                                                                      \
            /* 3b */                                                                               \
            vec left = wide ? load_typed(b.at, b.type, at) : load_up_to(b.at, b.type, at, n);      \
            vec right = wide ? load_typed(b.at, b.type, at + LANES) : v_zero();                    \
            ROWS_##M(STEP) /* 3c */                                                                \
        }                                                                                          \
        ROWS_##M(END) /* 4 */                                                                      \
    }

EACH_MOST(BLOCK)

#define BLOCK_CASE(M)                                                                              \
    case M:                                                                                        \
        block_of_##M(c, c_row, a, b, k, add, wide, n, wanted);                                     \
        break;

INLINE void block_of(int rows, float *c, size_t c_row, struct opt_matrix a, struct typed b, int k,
                     int add, int wide, int n, struct opt_wanted *wanted) {
    switch (rows) { EACH_MOST(BLOCK_CASE) }
}

/* Step 2, for the first column of c, where n numbers of a row are left. Sizes of blocks differ by
 * at most 1: 16 rows by MOST 6 are 6 + 5 + 5. Returns how many numbers of each row it did. */
INLINE int columns(float *c, size_t c_row, struct opt_matrix a, struct typed b, int m, int k,
                   int add, int n, struct opt_wanted *wanted) {
    int row = 0, wide = n >= 2 * LANES;
    for (int left = (m + MOST - 1) / MOST; left > 0; left--) {
        int rows = (m - row + left - 1) / left;
        struct opt_matrix from = {a.at + (size_t)row * a.row, a.row, a.column};
        float *to = c + (size_t)row * c_row;
        if (wide) {
            block_of(rows, to, c_row, from, b, k, add, 1, n, wanted);
        } else {
            block_of(rows, to, c_row, from, b, k, add, 0, n, wanted);
        }
        row += rows;
    }
    return wide ? 2 * LANES : LANES;
}

/* Step 1. One column of b, which all rows of c need, stays in the cache. */
static void product(float *c, size_t c_row, struct opt_matrix a, const float *b, size_t b_row,
                    int m, int n, int k, int add, struct opt_wanted *wanted) {
    for (int x = 0; x < n;) {
        struct typed from = {b, CP_FP32, (size_t)x, b_row};
        x += columns(c + x, c_row, a, from, m, k, add, n - x, wanted);
    }
}

/* ---- Few rows: K and V as they are ---- */

/* K and V are read from one end to the other. What lies this far ahead is prefetched. It may be
 * past the end of an array, which a prefetch allows; the address is computed as an integer, so
 * that no pointer points there. */
#define AHEAD 8192

INLINE void fetch(const void *from, size_t at, size_t bytes) {
    uintptr_t begin = (uintptr_t)from + at + AHEAD;
    for (size_t x = 0; x < bytes; x += 64) {
        __builtin_prefetch((const void *)(begin + x), 0, 1);
    }
}

/* dots(): each pair of a row and a key has a register of its own. With AVX-512 (LANES 16, DOTS 4)
 * and d = 128:
 *
 *                                  K, as stored
 *                     key j    key j+1    key j+2    key j+3
 *                       s         t          u          w       numbers x .. x+15 of each key
 *     row 0  of0       a0        b0         c0         e0
 *     ..                                                        4 x 4 registers of 16 sums each
 *     row 3  of3       a3        b3         c3         e3
 *
 *     1  all registers are 0
 *     2  for x = 0, 16, .. 112: load s, t, u, w; for each row load `of`, then a += of s, b += of t,
 *        c += of u, e += of w
 *     3  add up each register: a row's four sums are its scores with keys j .. j+3
 *
 * A number of K is loaded once for 4 rows. 16 + 5 of the 32 registers are in use; with AVX2
 * (DOTS 2) 8 + 5 of 16. */
#define DOTS_BEGIN(i) vec a##i = v_zero(), b##i = a##i, c##i = a##i, e##i = a##i;
#define DOTS_STEP(i)                                                                               \
    {                                                                                              \
        vec of = v_load(q + (i)*stride + x);                                                       \
        a##i = v_fma(of, s, a##i);                                                                 \
        b##i = v_fma(of, t, b##i);                                                                 \
        c##i = v_fma(of, u, c##i);                                                                 \
        e##i = v_fma(of, w, e##i);                                                                 \
    }
#define DOTS_END(i) v_sum_4(score + (i)*CP_OPT_KEYS, a##i, b##i, c##i, e##i);

/* M rows and four keys; each key lies `next` numbers after the key before it. */
#define DOTS_OF(M)                                                                                 \
    INLINE void dots_of_##M(float *score, const float *q, size_t stride, const void *k, int type,  \
                            size_t at, size_t next, int d) {                                       \
        /* 1, 2 */                                                                                 \
        ROWS_##M(DOTS_BEGIN) for (int x = 0; x < d; x += LANES, at += LANES) {                     \
            vec s = load_up_to(k, type, at, d - x);                                                \
            vec t = load_up_to(k, type, at + next, d - x);                                         \
            vec u = load_up_to(k, type, at + 2 * next, d - x);                                     \
            vec w = load_up_to(k, type, at + 3 * next, d - x);                                     \
            ROWS_##M(DOTS_STEP)                                                                    \
        }                                                                                          \
        ROWS_##M(DOTS_END) /* 3 */                                                                 \
    }

EACH_DOTS(DOTS_OF)

#define DOTS_CASE(M)                                                                               \
    case M:                                                                                        \
        dots_of_##M(score, q, stride, k, type, at, next, d);                                       \
        break;

INLINE void dots_of_block(float *score, const float *q, size_t stride, int rows, const void *k,
                          int type, size_t at, size_t next, int d) {
    switch (rows) { EACH_DOTS(DOTS_CASE) }
}

/* Four keys at a time. Each of the last keys takes the place of all four, so that its sums are
 * added in the same order. */
INLINE void dots_of_type(float *score, const float *q, size_t stride, int rows, const void *k,
                         int type, int keys, int d) {
    int j = 0;
    for (; j + 4 <= keys; j += 4) {
        fetch(k, (size_t)j * bytes_of(type, d), 4 * bytes_of(type, d));
        for (int i = 0; i < rows; i += DOTS) {
            dots_of_block(score + (size_t)i * CP_OPT_KEYS + j, q + (size_t)i * stride, stride,
                          rows - i < DOTS ? rows - i : DOTS, k, type, (size_t)j * (size_t)d,
                          (size_t)d, d);
        }
    }
    for (; j < keys; j++) {
        for (int i = 0; i < rows; i++) {
            float four[4];
            dots_of_1(four, q + (size_t)i * stride, stride, k, type, (size_t)j * (size_t)d, 0, d);
            score[(size_t)i * CP_OPT_KEYS + (size_t)j] = four[0];
        }
    }
}

static void dots(float *score, const float *q, size_t stride, int rows, const void *k, int type,
                 int keys, int d) {
#define CALL(TYPE) dots_of_type(score, q, stride, rows, k, TYPE, keys, d)
    BY_TYPE(CALL);
#undef CALL
}

#define VALUES 16 /* keys for which each number of o is loaded and stored once */

/* Where rows of V are longer than its values, what is prefetched leaves out as much. */
INLINE void values_of_type(float *o, size_t stride, const float *weight, int rows, const void *v,
                           size_t v_row, int type, int keys, int d_v) {
    for (int j = 0, n; j < keys; j += n) {
        struct opt_matrix weights = {weight + j, CP_OPT_KEYS, 1};
        size_t at = (size_t)j * v_row;
        n = keys - j < VALUES ? keys - j : VALUES;
        for (int x = 0, done; x < d_v; x += done) {
            struct typed from = {v, type, at + (size_t)x, v_row};
            done = columns(o + x, stride, weights, from, rows, n, 1, d_v - x, NULL);
            fetch(v, (at + (size_t)x * (size_t)n) * bytes_of(type, 1), bytes_of(type, n * done));
        }
    }
}

static void values(float *o, size_t stride, const float *weight, int rows, const void *v,
                   size_t v_row, int type, int keys, int d_v) {
#define CALL(TYPE) values_of_type(o, stride, weight, rows, v, v_row, TYPE, keys, d_v)
    BY_TYPE(CALL);
#undef CALL
}

/* ---- Weights ---- */

/* e^r - 1, where x = n ln 2 + r; *shifted = n + EXP_ROUNDER. */
INLINE vec exponential_less_1(vec x, vec *shifted) {
    x = v_max(v_set(EXP_LOWEST), x); /* a NaN stays */
    *shifted = v_fma(x, v_set(EXP_LOG2_E), v_set(EXP_ROUNDER));
    vec n = v_sub(*shifted, v_set(EXP_ROUNDER));
    vec r = v_fma(n, v_set(-EXP_LN_2), x);
    r = v_fma(n, v_set(-EXP_LN_2_LO), r);
    vec p = v_fma(r, v_set(EXP_C6), v_set(EXP_C5));
    p = v_fma(r, p, v_set(EXP_C4));
    p = v_fma(r, p, v_set(EXP_C3));
    p = v_fma(r, p, v_set(EXP_C2));
    return v_fma(v_mul(r, r), p, r);
}

static inline vec exponential(vec x) {
    vec shifted, p = exponential_less_1(x, &shifted);
    return v_power(v_add(p, v_set(1.0F)), shifted);
}

/* exponential.h says why. */
static inline vec tangent(vec x) {
    vec minus = v_sub(v_zero(), x), shifted;
    vec p = exponential_less_1(v_mul(v_max(minus, x), v_set(-2.0F)), &shifted);
    vec power = v_power(v_set(1.0F), shifted);
    vec less = v_fma(power, p, v_sub(power, v_set(1.0F)));
    vec t = v_div(less, v_add(less, v_set(2.0F)));
    return v_below(x, v_zero(), t, v_sub(v_zero(), t));
}

static void exponentials(float *to, const float *from, int n) {
    for (int i = 0; i < n; i += LANES) {
        v_store(to + i, exponential(v_load(from + i)));
    }
}

static float exponential_of_one(float x) {
    float room[LANES];
    v_store(room, exponential(v_set(x)));
    return room[0];
}

/* SCORE-4. The last two are constants in each call: what is not asked for takes no time. */
INLINE vec changed(vec s, const struct opt_change *change, vec slope, vec distance, int capped,
                   int biased) {
    s = v_mul(s, v_set(change->scale));
    if (capped) {
        s = v_mul(tangent(v_mul(s, v_set(change->inverse))), v_set(change->cap));
    }
    return biased ? v_fma(slope, distance, s) : s;
}

INLINE void change_row(float *score, int keys, int i, const struct opt_change *change, int capped,
                       int biased) {
    vec slope = v_set(biased ? change->slope[i] : 0.0F);
    vec distance = v_set(biased ? change->distance[i] : 0.0F);
    for (int j = 0; j < keys; j += LANES) {
        vec to_key = v_add(distance, v_add(v_lane(), v_set((float)j)));
        v_store(score + j, changed(v_load(score + j), change, slope, to_key, capped, biased));
    }
}

/* A vector of rows. */
INLINE void change_column(float *score, size_t stride, int keys, int i,
                          const struct opt_change *change, int capped, int biased) {
    vec slope = biased ? v_load(change->slope + i) : v_zero();
    vec distance = biased ? v_load(change->distance + i) : v_zero();
    for (int j = 0; j < keys; j++, score += stride) {
        vec to_key = v_add(distance, v_set((float)j));
        v_store(score, changed(v_load(score), change, slope, to_key, capped, biased));
    }
}

#define BY_CHANGE(CALL)                                                                            \
    if (change->slope == NULL && change->cap == 0.0F) {                                            \
        CALL(0, 0);                                                                                \
    } else if (change->slope == NULL) {                                                            \
        CALL(1, 0);                                                                                \
    } else if (change->cap == 0.0F) {                                                              \
        CALL(0, 1);                                                                                \
    } else {                                                                                       \
        CALL(1, 1);                                                                                \
    }

static void change_rows(float *score, int rows, int keys, const struct opt_change *change) {
    for (int i = 0; i < rows; i++, score += CP_OPT_KEYS) {
#define CALL(CAPPED, BIASED) change_row(score, keys, i, change, CAPPED, BIASED)
        BY_CHANGE(CALL);
#undef CALL
    }
}

static void change_columns(float *score, int keys, int padded_rows,
                           const struct opt_change *change) {
    for (int i = 0; i < padded_rows; i += LANES) {
#define CALL(CAPPED, BIASED)                                                                       \
    change_column(score + i, (size_t)padded_rows, keys, i, change, CAPPED, BIASED)
        BY_CHANGE(CALL);
#undef CALL
    }
}

/* WINDOW-2, each a number of keys of a tile: of one row, or of a vector of rows. */
struct seen {
    vec kept, begin, end;
};

/* a where lane + x < n, else -infinity. */
static inline vec v_first(vec a, float x, vec n) {
    return v_below(v_add(v_lane(), v_set(x)), n, a, v_set(-INFINITY));
}

/* Scores of the keys from j on of one row; -infinity for those that it does not see. `split`: a
 * row may see two ranges. */
INLINE vec of_row(vec s, float j, const struct seen *seen, int split) {
    vec below = v_first(s, j, seen->end);
    if (!split) {
        return below;
    }
    vec before = v_first(v_zero(), j, seen->begin); /* 0 before the window, else below 0 */
    return v_below(before, v_zero(), below, v_first(s, j, seen->kept));
}

/* Scores of key j of a vector of rows. */
INLINE vec of_column(vec s, float j, const struct seen *seen, int split) {
    vec at = v_set(j), none = v_set(-INFINITY), below = v_below(at, seen->end, s, none);
    return split ? v_below(at, seen->begin, v_below(at, seen->kept, s, none), below) : below;
}

INLINE void weigh_row(float *score, float scale, const struct opt_states *states, int row,
                      int split) {
    float *m = &states->m[row], *n = &states->n[row], *factor = &states->factor[row];
    vec largest = v_set(*m), sum = v_zero(), zero = v_zero();
    struct seen seen = {split ? v_set(states->kept[row]) : zero,
                        split ? v_set(states->begin[row]) : zero, v_set(states->seen[row])};
    for (int j = 0; j < CP_OPT_KEYS; j += LANES) {
        vec s = of_row(v_mul(v_load(score + j), v_set(scale)), (float)j, &seen, split);
        v_store(score + j, s);
        largest = v_max(s, largest);
    }
    float m_new = v_largest(largest);
    for (int j = 0; j < CP_OPT_KEYS; j += LANES) {
        vec p = exponential(v_sub(v_load(score + j), v_set(m_new)));
        v_store(score + j, p);
        sum = v_add(sum, p);
    }
    *factor = *m == m_new ? 1.0F : exponential_of_one(*m - m_new);
    *n = *n * *factor + v_sum(sum);
    *m = m_new;
}

static void weigh_rows(float *score, int rows, float scale, const struct opt_states *states) {
    int split = states->begin != NULL;
    for (int i = 0; i < rows && !split; i++) {
        weigh_row(score + (size_t)i * CP_OPT_KEYS, scale, states, i, 0);
    }
    for (int i = 0; i < rows && split; i++) {
        weigh_row(score + (size_t)i * CP_OPT_KEYS, scale, states, i, 1);
    }
}

/* A vector of rows. `all`: each of them sees every key. */
INLINE void weigh_column(float *score, size_t stride, int keys, float scale,
                         const struct opt_states *states, int at, int all, int split) {
    vec m = v_load(states->m + at), largest = m, sum = v_zero(), zero = v_zero();
    struct seen seen = {split ? v_load(states->kept + at) : zero,
                        split ? v_load(states->begin + at) : zero, v_load(states->seen + at)};
    for (int j = 0; j < keys; j++) {
        vec s = v_mul(v_load(score + (size_t)j * stride), v_set(scale));
        s = all ? s : of_column(s, (float)j, &seen, split);
        v_store(score + (size_t)j * stride, s);
        largest = v_max(s, largest);
    }
    for (int j = 0; j < keys; j++) {
        vec p = exponential(v_sub(v_load(score + (size_t)j * stride), largest));
        v_store(score + (size_t)j * stride, p);
        sum = v_add(sum, p);
    }
    vec factor = exponential(v_sub(m, largest));
    v_store(states->factor + at, factor);
    v_store(states->n + at, v_fma(v_load(states->n + at), factor, sum));
    v_store(states->m + at, largest);
}

static void weigh_columns(float *score, int keys, int padded_rows, float scale,
                          const struct opt_states *states) {
    int split = states->begin != NULL, all = !split;
    for (int i = 0; i < padded_rows; i++) {
        all = all && states->seen[i] >= (float)keys;
    }
    for (int i = 0; i < padded_rows && !split; i += LANES) {
        weigh_column(score + i, (size_t)padded_rows, keys, scale, states, i, all, 0);
    }
    for (int i = 0; i < padded_rows && split; i += LANES) {
        weigh_column(score + i, (size_t)padded_rows, keys, scale, states, i, 0, 1);
    }
}

/* ---- Rows of results ---- */

static void scale_by(float *to, const float *from, float x, int n) {
    for (int i = 0; i < n; i += LANES) {
        v_store(to + i, v_mul(v_load(from + i), v_set(x)));
    }
}

static void add_to(float *to, const float *from, float x, int n) {
    for (int i = 0; i < n; i += LANES) {
        v_store(to + i, v_fma(v_load(from + i), v_set(x), v_load(to + i)));
    }
}

static void divide(float *to, const float *from, float x, int n) {
    for (int i = 0; i < n; i += LANES) {
        v_store(to + i, v_div(v_load(from + i), v_set(x)));
    }
}

/* Rounds to nearest, ties to even: carries when the truncated part is more than half, or half
 * and the number is odd. */
static uint16_t bfloat_of(float x) {
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    if (isnan(x)) {
        return (uint16_t)(bits >> 16 | 0x40U);
    }
    return (uint16_t)((bits + 0x7FFFU + (bits >> 16 & 1U)) >> 16);
}

static void store(void *to, int type, size_t at, const float *from, int n) {
    int i = 0;
    if (type == CP_FP32) {
        memcpy((float *)to + at, from, (size_t)n * sizeof(float));
        return;
    }
    for (; type == CP_FP16 && i + LANES <= n; i += LANES) {
        v_store_16((uint16_t *)to + at + i, v_load(from + i));
    }
    for (; type == CP_BF16 && i < n; i++) {
        ((uint16_t *)to)[at + (size_t)i] = bfloat_of(from[i]);
    }
    for (; i < n; i++) {
        cp_number_store(to, type, at + (size_t)i, (double)from[i]);
    }
}

static struct cp_opt_kernels kernels(int few) {
    return (struct cp_opt_kernels){.few = few,
                                   .widen = widen,
                                   .dots = dots,
                                   .values = values,
                                   .product = product,
                                   .change_rows = change_rows,
                                   .change_columns = change_columns,
                                   .weigh_rows = weigh_rows,
                                   .weigh_columns = weigh_columns,
                                   .scale = scale_by,
                                   .add = add_to,
                                   .divide = divide,
                                   .store = store,
                                   .exponentials = exponentials};
}
