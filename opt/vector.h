/* SPDX-License-Identifier: Apache-2.0 */
/* The loops of kernels.h in vectors: included by a file that says what a vector is.
 *
 *   vec, LANES        of floats, how many
 *   v_zero v_set v_load v_store v_add v_sub v_mul v_div v_fma (a b + c) v_sum v_largest
 *   v_max(a, b)       b when one of them is a NaN
 *   v_load_16 v_load_b16   LANES numbers of binary16, of bfloat16
 *   v_store_16        the same way back, rounded to nearest, ties to even
 *   v_sum_4           the sums of four vectors, stored
 *   v_first(a, x, n)  a where lane + x < n, else -infinity; n a vector, too
 *   v_power(p, t)     p 2^n, rounded once, n the whole number in t = n + EXP_ROUNDER
 *   MOST, EACH_MOST   rows of a block of product(): two vectors of each are in registers */
#include <math.h>
#include <stdint.h>
#include <string.h>

#include "opt/exponential.h"
#include "opt/kernels.h"

/* LANES numbers as they are; or n of them, fewer, and zeros: nothing behind them is read. */
static inline vec load_typed(const void *from, int type, size_t at) {
    return type == CP_FP16   ? v_load_16((const uint16_t *)from + at)
           : type == CP_BF16 ? v_load_b16((const uint16_t *)from + at)
                             : v_load((const float *)from + at);
}

static inline vec load_some(const void *from, int type, size_t at, int n) {
    float room[LANES] = {0}; /* large enough for each type */
    size_t size = type == CP_FP32 ? sizeof(float) : sizeof(uint16_t);
    memcpy(room, (const char *)from + at * size, (size_t)n * size);
    return load_typed(room, type, 0);
}

static inline void widen_row(float *to, size_t stride, const void *from, int type, size_t at,
                             int d) {
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
        if (type == CP_FP16) { /* the type is a constant in each */
            widen_row(to, stride, from, CP_FP16, at, d);
        } else if (type == CP_BF16) {
            widen_row(to, stride, from, CP_BF16, at, d);
        } else {
            widen_row(to, stride, from, CP_FP32, at, d);
        }
    }
}

/* ---- Products ---- */

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
        vec factor = v_set(at[(i)*a.row]);                                                         \
        x##i = v_fma(factor, left, x##i);                                                          \
        y##i = wide ? v_fma(factor, right, y##i) : y##i;                                           \
    }
#define END(i)                                                                                     \
    v_store(c + (i)*c_row, x##i);                                                                  \
    if (wide) {                                                                                    \
        v_store(c + (i)*c_row + LANES, y##i);                                                      \
    }

/* M rows of c, one or two vectors of each. */
#define BLOCK(M)                                                                                   \
    static inline void block_of_##M(float *c, size_t c_row, struct opt_matrix a, const float *b,   \
                                    size_t b_row, int k, int add, int wide) {                      \
        const float *at = a.at;                                                                    \
        ROWS_##M(BEGIN) for (int j = 0; j < k; j++, at += a.column, b += b_row) {                  \
            vec left = v_load(b), right = wide ? v_load(b + LANES) : v_zero();                     \
            ROWS_##M(STEP)                                                                         \
        }                                                                                          \
        ROWS_##M(END)                                                                              \
    }                                                                                              \
    static void block_##M(float *c, size_t c_row, struct opt_matrix a, const float *b,             \
                          size_t b_row, int k, int add, int wide) {                                \
        if (wide) {                                                                                \
            block_of_##M(c, c_row, a, b, b_row, k, add, 1);                                        \
        } else {                                                                                   \
            block_of_##M(c, c_row, a, b, b_row, k, add, 0);                                        \
        }                                                                                          \
    }

EACH_MOST(BLOCK)

typedef void block_function(float *, size_t, struct opt_matrix, const float *, size_t, int, int,
                            int);

#define CASE_OF(M)                                                                                 \
    case M:                                                                                        \
        return block_##M;

static block_function *block_for(int rows) {
    switch (rows) {
        EACH_MOST(CASE_OF)
    default:
        return NULL;
    }
}

/* Column by column of two vectors, so that those of b stay in the cache; rows in blocks of equal size, but for one. */
static void product(float *c, size_t c_row, struct opt_matrix a, const float *b, size_t b_row,
                    int m, int n, int k, int add) {
    int n_blocks = (m + MOST - 1) / MOST;
    for (int x = 0; x < n; x += 2 * LANES) {
        int wide = x + LANES < n, row = 0;
        for (int left = n_blocks; left > 0; left--) {
            int rows = (m - row + left - 1) / left;
            struct opt_matrix from = {a.at + (size_t)row * a.row, a.row, a.column};
            block_for(rows)(c + (size_t)row * c_row + x, c_row, from, b + x, b_row, k, add, wide);
            row += rows;
        }
    }
}

/* ---- Scores of few rows ---- */

static inline void dots_4(float *score, const float *q, const float *k, size_t stride,
                          size_t next) {
    vec a = v_zero(), b = a, c = a, d = a;
    for (size_t x = 0; x < stride; x += LANES) {
        vec y = v_load(q + x);
        a = v_fma(y, v_load(k + x), a);
        b = v_fma(y, v_load(k + next + x), b);
        c = v_fma(y, v_load(k + 2 * next + x), c);
        d = v_fma(y, v_load(k + 3 * next + x), d);
    }
    v_sum_4(score, a, b, c, d);
}

/* Two rows at once: a number of k is loaded once for both. */
static inline void dots_2_by_4(float *score, const float *q, const float *k, size_t stride) {
    const float *r = q + stride;
    vec a = v_zero(), b = a, c = a, d = a, e = a, f = a, g = a, h = a;
    for (size_t x = 0; x < stride; x += LANES) {
        vec y = v_load(q + x), z = v_load(r + x), s = v_load(k + x), t = v_load(k + stride + x);
        a = v_fma(y, s, a);
        e = v_fma(z, s, e);
        b = v_fma(y, t, b);
        f = v_fma(z, t, f);
        s = v_load(k + 2 * stride + x);
        t = v_load(k + 3 * stride + x);
        c = v_fma(y, s, c);
        g = v_fma(z, s, g);
        d = v_fma(y, t, d);
        h = v_fma(z, t, h);
    }
    v_sum_4(score, a, b, c, d);
    v_sum_4(score + CP_OPT_KEYS, e, f, g, h);
}

/* Four keys at a time; the last ones one by one, with the same sums. */
static void dots(float *score, const float *q, int rows, const float *k, int keys, size_t stride) {
    int j = 0;
    for (; j + 4 <= keys; j += 4, k += 4 * stride) {
        int i = 0;
        for (; i + 2 <= rows; i += 2) {
            dots_2_by_4(score + (size_t)i * CP_OPT_KEYS + j, q + (size_t)i * stride, k, stride);
        }
        if (i < rows) {
            dots_4(score + (size_t)i * CP_OPT_KEYS + j, q + (size_t)i * stride, k, stride, stride);
        }
    }
    for (; j < keys; j++, k += stride) {
        for (int i = 0; i < rows; i++) {
            float four[4];
            dots_4(four, q + (size_t)i * stride, k, stride, 0);
            score[(size_t)i * CP_OPT_KEYS + (size_t)j] = four[0];
        }
    }
}

/* ---- A single row, K and V as they are ---- */

static inline size_t row_bytes(int type, int d) {
    return (size_t)d * (type == CP_FP32 ? sizeof(float) : sizeof(uint16_t));
}

/* K and V are read from one end to the other: what lies this far ahead is on its way then. It may be behind the end of
 * an array, which a prefetch does not mind; it is no pointer, so that none points there. */
#define AHEAD 8192

static inline void fetch(const void *from, size_t at, size_t bytes) {
    uintptr_t begin = (uintptr_t)from + at + AHEAD;
    for (size_t x = 0; x < bytes; x += 64) {
        __builtin_prefetch((const void *)(begin + x), 0, 1);
    }
}

/* Four keys; `one`: the same one four times. */
static inline void dots_of_4(float *score, const float *q, const void *k, int type, size_t at,
                             int d, int one) {
    vec a = v_zero(), b = a, c = a, e = a;
    size_t next = one ? 0 : (size_t)d;
    int x = 0;
    for (; x + LANES <= d; x += LANES) {
        vec y = v_load(q + x);
        size_t here = at + (size_t)x;
        a = v_fma(y, load_typed(k, type, here), a);
        b = v_fma(y, load_typed(k, type, here + next), b);
        c = v_fma(y, load_typed(k, type, here + 2 * next), c);
        e = v_fma(y, load_typed(k, type, here + 3 * next), e);
    }
    if (x < d) {
        vec y = v_load(q + x);
        size_t here = at + (size_t)x;
        a = v_fma(y, load_some(k, type, here, d - x), a);
        b = v_fma(y, load_some(k, type, here + next, d - x), b);
        c = v_fma(y, load_some(k, type, here + 2 * next, d - x), c);
        e = v_fma(y, load_some(k, type, here + 3 * next, d - x), e);
    }
    v_sum_4(score, a, b, c, e);
}

static inline void dots_of_type(float *score, const float *q, const void *k, int type, int keys,
                                int d) {
    size_t bytes = row_bytes(type, d);
    int j = 0;
    for (; j + 4 <= keys; j += 4) {
        fetch(k, (size_t)j * bytes, 4 * bytes);
        dots_of_4(score + j, q, k, type, (size_t)j * (size_t)d, d, 0);
    }
    for (; j < keys; j++) {
        float four[4];
        dots_of_4(four, q, k, type, (size_t)j * (size_t)d, d, 1);
        score[j] = four[0];
    }
}

static void dots_of_one(float *score, const float *q, const void *k, int type, int keys, int d) {
    if (type == CP_FP16) {
        dots_of_type(score, q, k, CP_FP16, keys, d);
    } else if (type == CP_BF16) {
        dots_of_type(score, q, k, CP_BF16, keys, d);
    } else {
        dots_of_type(score, q, k, CP_FP32, keys, d);
    }
}

/* Two keys at a time, so that each number of o is loaded and stored once for both. */
static inline void values_of_type(float *o, const float *weight, const void *v, int type, int keys,
                                  int d) {
    size_t bytes = row_bytes(type, d), next = (size_t)d;
    int full = d / LANES * LANES;
    for (int j = 0; j < keys; j += 4) {
        int n = keys - j < 4 ? keys - j : 4;
        size_t at = (size_t)j * next;
        fetch(v, (size_t)j * bytes, (size_t)n * bytes);
        vec w0 = v_set(weight[j]);
        if (n == 4) {
            vec w1 = v_set(weight[j + 1]), w2 = v_set(weight[j + 2]), w3 = v_set(weight[j + 3]);
            for (int x = 0; x < full; x += LANES) {
                size_t here = at + (size_t)x;
                vec sum = v_fma(w0, load_typed(v, type, here), v_load(o + x));
                sum = v_fma(w1, load_typed(v, type, here + next), sum);
                sum = v_fma(w2, load_typed(v, type, here + 2 * next), sum);
                v_store(o + x, v_fma(w3, load_typed(v, type, here + 3 * next), sum));
            }
        }
        for (int i = 0; i < n; i++) {
            vec w = v_set(weight[j + i]);
            for (int x = n == 4 ? full : 0; x < d; x += LANES) {
                size_t here = at + (size_t)i * next + (size_t)x;
                vec of = x < full ? load_typed(v, type, here) : load_some(v, type, here, d - x);
                v_store(o + x, v_fma(w, of, v_load(o + x)));
            }
        }
    }
}

static void values_of_one(float *o, const float *weight, const void *v, int type, int keys, int d) {
    if (type == CP_FP16) {
        values_of_type(o, weight, v, CP_FP16, keys, d);
    } else if (type == CP_BF16) {
        values_of_type(o, weight, v, CP_BF16, keys, d);
    } else {
        values_of_type(o, weight, v, CP_FP32, keys, d);
    }
}

/* ---- Weights ---- */

static inline vec exponential(vec x) {
    x = v_max(v_set(EXP_LOWEST), x); /* a NaN stays */
    vec shifted = v_fma(x, v_set(EXP_LOG2_E), v_set(EXP_ROUNDER));
    vec n = v_sub(shifted, v_set(EXP_ROUNDER));
    vec r = v_fma(n, v_set(-EXP_LN_2), x);
    r = v_fma(n, v_set(-EXP_LN_2_LO), r);
    vec p = v_fma(r, v_set(EXP_C6), v_set(EXP_C5));
    p = v_fma(r, p, v_set(EXP_C4));
    p = v_fma(r, p, v_set(EXP_C3));
    p = v_fma(r, p, v_set(EXP_C2));
    p = v_fma(v_mul(r, r), p, r);
    return v_power(v_add(p, v_set(1.0F)), shifted);
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

static void weigh_row(float *score, float seen, float scale, float *m, float *n, float *factor) {
    vec largest = v_set(*m), sum = v_zero(), first = v_set(seen);
    for (int j = 0; j < CP_OPT_KEYS; j += LANES) {
        vec s = v_first(v_mul(v_load(score + j), v_set(scale)), (float)j, first);
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
    for (int i = 0; i < rows; i++) {
        weigh_row(score + (size_t)i * CP_OPT_KEYS, states->seen[i], scale, &states->m[i],
                  &states->n[i], &states->factor[i]);
    }
}

/* A vector of rows. `all`: each of them sees every key. */
static inline void weigh_column(float *score, size_t stride, int keys, float scale,
                                const struct opt_states *states, int at, int all) {
    vec m = v_load(states->m + at), largest = m, sum = v_zero(), seen = v_load(states->seen + at);
    vec none = v_set(-INFINITY);
    for (int j = 0; j < keys; j++) {
        vec s = v_mul(v_load(score + (size_t)j * stride), v_set(scale));
        s = all ? s : v_below(v_set((float)j), seen, s, none);
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
    int all = 1;
    for (int i = 0; i < padded_rows; i++) {
        all = all && states->seen[i] >= (float)keys;
    }
    for (int i = 0; i < padded_rows; i += LANES) {
        weigh_column(score + i, (size_t)padded_rows, keys, scale, states, i, all);
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

/* To nearest, ties to even: what is cut off is carried when it is more than half, or half of an odd number. */
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
                                   .direct = 1,
                                   .widen = widen,
                                   .dots = dots,
                                   .product = product,
                                   .weigh_rows = weigh_rows,
                                   .weigh_columns = weigh_columns,
                                   .dots_of_one = dots_of_one,
                                   .values_of_one = values_of_one,
                                   .scale = scale_by,
                                   .add = add_to,
                                   .divide = divide,
                                   .store = store,
                                   .exponentials = exponentials};
}
