/* SPDX-License-Identifier: Apache-2.0 */
/* Plain C: what each loop has to compute, one number after the other. The tests compare the
 * other versions with it. */
#include <math.h>
#include <stdint.h>
#include <string.h>

#include "opt/exponential.h"
#include "opt/kernels.h"

static float float_of(uint32_t bits) {
    float x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

/* Exact. A binary16 number has its exponent counted from 15, not from 127; 31 is that of infinity
 * and NaN. */
static float load(const void *from, int type, size_t at) {
    if (type == CP_FP32) {
        return ((const float *)from)[at];
    }
    if (type != CP_FP16 && type != CP_BF16) {
        return (float)cp_number8_to_double(((const uint8_t *)from)[at], type);
    }
    uint32_t half = ((const uint16_t *)from)[at];
    if (type == CP_BF16) {
        return float_of(half << 16);
    }
    uint32_t infinite = (half & 0x7C00U) == 0x7C00U ? 0x7F800000U : 0U;
    return float_of((half & 0x8000U) << 16 | (half & 0x7FFFU) << 13 | infinite) * 0x1p112F;
}

static void widen(float *to, size_t stride, const void *from, size_t from_row, int type, int n,
                  int d) {
    for (int j = 0; j < n; j++, to += stride) {
        for (size_t i = 0; i < (size_t)d; i++) {
            to[i] = load(from, type, (size_t)j * from_row + i);
        }
        for (size_t i = (size_t)d; i < stride; i++) {
            to[i] = 0.0F;
        }
    }
}

/* Up to CP_OPT_PAD numbers are made binary32 at a time, for all rows. */
static int load_some(float *to, const void *from, int type, size_t at, int n) {
    n = n < CP_OPT_PAD ? n : CP_OPT_PAD;
    for (int i = 0; i < n; i++) {
        to[i] = load(from, type, at + (size_t)i);
    }
    return n;
}

static void dots(float *score, const float *q, size_t stride, int rows, const void *k, int type,
                 int keys, int d) {
    float some[CP_OPT_PAD];
    for (int j = 0; j < keys; j++) {
        for (int i = 0; i < rows; i++) {
            score[(size_t)i * CP_OPT_KEYS + (size_t)j] = 0.0F;
        }
        for (int x = 0; x < d; x += CP_OPT_PAD) {
            int n = load_some(some, k, type, (size_t)j * (size_t)d + (size_t)x, d - x);
            for (int i = 0; i < rows; i++) {
                const float *row = q + (size_t)i * stride + x;
                float sum = score[(size_t)i * CP_OPT_KEYS + (size_t)j];
                for (int y = 0; y < n; y++) {
                    sum += row[y] * some[y];
                }
                score[(size_t)i * CP_OPT_KEYS + (size_t)j] = sum;
            }
        }
    }
}

static void values(float *o, size_t stride, const float *weight, int rows, const void *v,
                   size_t v_row, int type, int keys, int d_v) {
    float some[CP_OPT_PAD];
    for (int j = 0; j < keys; j++) {
        for (int x = 0; x < d_v; x += CP_OPT_PAD) {
            int n = load_some(some, v, type, (size_t)j * v_row + (size_t)x, d_v - x);
            for (int i = 0; i < rows; i++) {
                float *row = o + (size_t)i * stride + x;
                for (int y = 0; y < n; y++) {
                    row[y] += weight[(size_t)i * CP_OPT_KEYS + (size_t)j] * some[y];
                }
            }
        }
    }
}

static void product(float *c, size_t c_row, struct opt_matrix a, const float *b, size_t b_row,
                    int m, int n, int k, int add, struct opt_wanted *wanted) {
    (void)wanted; /* it is slow enough to wait for no memory */
    for (int i = 0; i < m; i++) {
        float *row = c + (size_t)i * c_row;
        for (int x = 0; x < n && !add; x++) {
            row[x] = 0.0F;
        }
        for (int j = 0; j < k; j++) {
            float factor = a.at[(size_t)i * a.row + (size_t)j * a.column];
            for (int x = 0; x < n; x++) {
                row[x] += factor * b[(size_t)j * b_row + (size_t)x];
            }
        }
    }
}

/* 2^n, for a normal number. */
static float power_of_2(int n) {
    return float_of((uint32_t)(n + 127) << 23);
}

/* e^r - 1, where x = n ln 2 + r; *power is n. */
static float exponential_less_1(float x, int *power) {
    x = EXP_LOWEST > x ? EXP_LOWEST : x; /* a NaN stays */
    float shifted = x * EXP_LOG2_E + EXP_ROUNDER, n = shifted - EXP_ROUNDER;
    float r = (x - n * EXP_LN_2) - n * EXP_LN_2_LO;
    float p = EXP_C2 + r * (EXP_C3 + r * (EXP_C4 + r * (EXP_C5 + r * EXP_C6)));
    *power = isnan(x) ? 0 : (int)n;
    return r + r * r * p;
}

/* Only the last product rounds, and only below the normal numbers: the others are by powers of
 * two. */
static float times_power(float x, int power) {
    int half = power / 2;
    return x * power_of_2(half) * power_of_2(power - half);
}

static float exponential(float x) {
    int power;
    float p = exponential_less_1(x, &power);
    return times_power(1.0F + p, power);
}

/* exponential.h says why. */
static float tangent(float x) {
    int n;
    float p = exponential_less_1(-2.0F * fabsf(x), &n), power = times_power(1.0F, n);
    float less = power * p + (power - 1.0F);
    return copysignf(less / (less + 2.0F), x);
}

static void exponentials(float *to, const float *from, int n) {
    for (int i = 0; i < n; i++) {
        to[i] = exponential(from[i]);
    }
}

/* SCORE-4 */
static float changed(float s, const struct opt_change *change, int i, int j) {
    s *= change->scale;
    if (change->cap != 0.0F) {
        s = change->cap * tangent(s * change->inverse);
    }
    return change->slope == NULL ? s : s + change->slope[i] * (change->distance[i] + (float)j);
}

static void change_rows(float *score, int rows, int keys, const struct opt_change *change) {
    for (int i = 0; i < rows; i++, score += CP_OPT_KEYS) {
        for (int j = 0; j < keys; j++) {
            score[j] = changed(score[j], change, i, j);
        }
    }
}

/* WINDOW-2: does row i see key j of the tile, one of its first states->seen[i]? */
static int sees(const struct opt_states *states, int i, int j) {
    return states->begin == NULL || (float)j >= states->begin[i] || (float)j < states->kept[i];
}

static void weigh_row(float *score, int i, float scale, const struct opt_states *states) {
    float largest = states->m[i], sum = 0.0F;
    int end = (int)states->seen[i];
    for (int j = 0; j < end; j++) {
        score[j] = sees(states, i, j) ? score[j] * scale : -INFINITY;
        largest = score[j] > largest ? score[j] : largest;
    }
    for (int j = 0; j < end; j++) {
        score[j] = exponential(score[j] - largest);
        sum += score[j];
    }
    for (int j = end; j < CP_OPT_KEYS; j++) {
        score[j] = 0.0F;
    }
    states->factor[i] = exponential(states->m[i] - largest);
    states->n[i] = states->n[i] * states->factor[i] + sum;
    states->m[i] = largest;
}

static void weigh_rows(float *score, int rows, float scale, const struct opt_states *states) {
    for (int i = 0; i < rows; i++) {
        weigh_row(score + (size_t)i * CP_OPT_KEYS, i, scale, states);
    }
}

static void scale_by(float *to, const float *from, float x, int n) {
    for (int i = 0; i < n; i++) {
        to[i] = from[i] * x;
    }
}

static void add(float *to, const float *from, float x, int n) {
    for (int i = 0; i < n; i++) {
        to[i] += from[i] * x;
    }
}

static void divide(float *to, const float *from, float x, int n) {
    for (int i = 0; i < n; i++) {
        to[i] = from[i] / x;
    }
}

static void store(void *to, int type, size_t at, const float *from, int n) {
    for (int i = 0; i < n; i++) {
        cp_number_store(to, type, at + (size_t)i, (double)from[i]);
    }
}

struct cp_opt_kernels cp_opt_portable(void) {
    return (struct cp_opt_kernels){.few = CP_OPT_ROWS,
                                   .widen = widen,
                                   .dots = dots,
                                   .values = values,
                                   .product = product,
                                   .change_rows = change_rows,
                                   .weigh_rows = weigh_rows,
                                   .scale = scale_by,
                                   .add = add,
                                   .divide = divide,
                                   .store = store,
                                   .exponentials = exponentials};
}
