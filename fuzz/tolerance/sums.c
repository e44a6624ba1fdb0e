/* SPDX-License-Identifier: Apache-2.0 */
#include "fuzz/tolerance/sums.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

#include "chunkproof/number.h"
#include "tests/random.h"

/* ---- Numbers ---- */

static uint64_t bits_of(double x) {
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

static double of_bits(uint64_t bits) {
    double x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

double sums_round(int type, double x) {
    switch (type) {
    case CP_FP16:
        return cp_fp16_to_double(cp_fp16_from_double(x));
    case CP_BF16:
        return cp_bf16_to_double(cp_bf16_from_double(x));
    default:
        return (double)(float)x;
    }
}

double sums_truncate(double x) {
    float y = (float)x;
    if (fabs((double)y) > fabs(x)) {
        uint32_t bits;
        memcpy(&bits, &y, sizeof bits);
        bits--; /* the next number toward zero, whatever the sign */
        memcpy(&y, &bits, sizeof y);
    }
    return (double)y;
}

/* The error of a sum is a number (Knuth); where it is not 0, the sum must end in a 1. */
double sums_add_odd(double a, double b) {
    double s = a + b;
    double of_b = s - a;
    double error = (a - (s - of_b)) + (b - of_b);
    uint64_t bits = bits_of(s);
    if (error != 0.0 && (bits & 1) == 0 && isfinite(s)) {
        bits = (error > 0.0) == (s > 0.0) ? bits + 1 : bits - 1;
        return of_bits(bits);
    }
    return s;
}

/* ---- Sums ---- */

/* Products are exact in a double: at most 48 bits. A sum of two numbers of binary32 or binary16
 * that is rounded to binary64 first is rounded right to either. */
static double add(int type, double sum, double term) {
    return sums_round(type, sum + term);
}

static double sequential(const struct sum *sum, int type, const double *a, const double *b, int n,
                         int step, double start) {
    double total = start;
    for (int i = 0; i < n; i += step) {
        if (b == NULL) {
            total = add(type, total, a[i]);
        } else if (sum->fused) {
            total = sums_round(type, sums_add_odd(total, a[i] * b[i]));
        } else {
            total = add(type, total, sums_round(type, a[i] * b[i]));
        }
    }
    return total;
}

/* In place: a[0] is the sum of n rounded terms. */
static double pairwise(int type, double *a, int n) {
    for (; n > 1; n = (n + 1) / 2) {
        for (int i = 0, j = 0; i < n / 2; i++, j += 2) {
            a[i] = add(type, a[j], a[j + 1]);
        }
        if (n % 2 == 1) {
            a[n / 2] = a[n - 1];
        }
    }
    return a[0];
}

static double lanes(const struct sum *sum, int type, const double *a, const double *b, int n) {
    double lane[SUM_LANES_COUNT] = {0.0};
    int used = n < SUM_LANES_COUNT ? n : SUM_LANES_COUNT;
    for (int i = 0; i < used; i++) {
        lane[i] =
            sequential(sum, type, a + i, b == NULL ? NULL : b + i, n - i, SUM_LANES_COUNT, 0.0);
    }
    return pairwise(type, lane, used);
}

/* One step of a tensor core. */
static double add_block(const struct sum *sum, int type, const double *terms, int n) {
    double largest = 0.0, plain = 0.0, total = 0.0;
    for (int i = 0; i < n; i++) {
        largest = fmax(largest, fabs(terms[i]));
        plain += terms[i];
    }
    if (largest == 0.0 || !isfinite(plain)) {
        return plain;
    }
    int exponent = (int)(bits_of(largest) >> 52) - 1023;
    double step = of_bits((uint64_t)(exponent - sum->fraction + 1023) << 52);
    double per_step = of_bits((uint64_t)(sum->fraction - exponent + 1023) << 52);
    for (int i = 0; i < n; i++) {
        total += (double)(int64_t)(terms[i] * per_step); /* whole numbers below 2^46: exact */
    }
    total *= step;
    return sum->truncating ? sums_truncate(total) : sums_round(type, total);
}

static double blocks(const struct sum *sum, int type, const double *a, const double *b, int n,
                     double start) {
    double terms[17], total = start;
    for (int first = 0; first < n; first += sum->block) {
        int count = n - first < sum->block ? n - first : sum->block;
        terms[0] = total;
        for (int i = 0; i < count; i++) {
            terms[1 + i] = b == NULL ? a[first + i] : a[first + i] * b[first + i];
        }
        total = add_block(sum, type, terms, 1 + count);
    }
    return total;
}

static void swap(double *x, double *y) {
    double z = *x;
    *x = *y;
    *y = z;
}

static void put_in_order(enum sum_order order, double *a, double *b, int n,
                         unsigned long long *random) {
    for (int i = 0; i < n; i++) {
        int j = order == SUM_BACKWARD ? n - 1 - i : i + random_below(random, n - i);
        if (order == SUM_SHUFFLED || i < j) {
            swap(&a[i], &a[j]);
            if (b != NULL) {
                swap(&b[i], &b[j]);
            }
        }
    }
}

/* In the order that they have. */
static double one_sum(const struct sum *sum, int type, double *a, double *b, int n, double start) {
    double total = 0.0;
    switch (sum->method) {
    case SUM_SEQUENTIAL:
        return sequential(sum, type, a, b, n, 1, start);
    case SUM_BLOCKS:
        return blocks(sum, type, a, b, n, start);
    case SUM_LANES:
        total = lanes(sum, type, a, b, n);
        break;
    default:
        for (int i = 0; i < n && b != NULL; i++) {
            a[i] = sums_round(type, a[i] * b[i]);
        }
        total = pairwise(type, a, n);
    }
    return start == 0.0 ? total : add(type, start, total);
}

/* NUM-20. Each short sum begins at 0. */
static double short_sums(const struct sum *sum, int type, double *a, double *b, int n,
                         double start) {
    double total = start;
    for (int i = 0; i < n; i += sum->promotes) {
        int count = n - i < sum->promotes ? n - i : sum->promotes;
        double *terms = b == NULL ? NULL : b + i;
        total = add(type, total, one_sum(sum, sum->short_type, a + i, terms, count, 0.0));
    }
    return total;
}

double sums_products(const struct sum *sum, int type, double *a, double *b, int n, double start,
                     unsigned long long *random) {
    if (sum->order != SUM_FORWARD) {
        put_in_order(sum->order, a, b, n, random);
    }
    return sum->promotes > 0 ? short_sums(sum, type, a, b, n, start)
                             : one_sum(sum, type, a, b, n, start);
}

int sums_in_half(const struct sum *sum, int type) {
    return type == CP_FP16 || (sum->promotes > 0 && sum->short_type == CP_FP16);
}

/* ---- What NUM-5 says of them ---- */

static int precision(int type) {
    return type == CP_FP16 ? 11 : type == CP_BF16 ? 8 : 24;
}

/* Whether a product is rounded before it is added; one that has the bits is itself. */
int sums_rounds_products(const struct sum *sum, int type, int bits) {
    int fused = sum->method == SUM_BLOCKS ||
                (sum->fused && (sum->method == SUM_SEQUENTIAL || sum->method == SUM_LANES));
    return !fused && bits > precision(type);
}

/* An addition. In a block each term is cut off by less than 2^-fraction of the largest, which is at
 * least 2^(its exponent); the largest itself is not, if it has no more bits than are kept. What is
 * left is at most the sum of the magnitudes, and is rounded, or cut off. */
double sums_unit(const struct sum *sum, int type, int bits) {
    double nearest = ldexp(1.0, -precision(type));
    if (sum->method != SUM_BLOCKS) {
        return nearest;
    }
    int cut = sum->block + (bits > sum->fraction + 1);
    return cut * ldexp(1.0, -sum->fraction) + (sum->truncating ? 2.0 * nearest : nearest);
}

/* Where something is cut off, or a product is rounded (also fused): what is below the smallest
 * numbers. */
double sums_tiny(const struct sum *sum, int type) {
    double nearest = type == CP_FP16   ? 0x1p-25
                     : type == CP_BF16 ? 0x1p-134
                                       : 0x1p-149; /* 2^-150 in binary32; one has no number */
    return sum->method == SUM_BLOCKS && sum->truncating ? 2.0 * nearest : nearest;
}

static int log2_up(int n) {
    int depth = 0;
    for (int reach = 1; reach < n; reach *= 2) {
        depth++;
    }
    return depth;
}

/* The longest way of a term. The first number added to nothing is not rounded, unless fused. */
int sums_depth(const struct sum *sum, int n, int with_start) {
    int first_is_free = !with_start && !sum->fused;
    int lane = (n + SUM_LANES_COUNT - 1) / SUM_LANES_COUNT;
    switch (sum->method) {
    case SUM_SEQUENTIAL:
        return n - first_is_free;
    case SUM_BLOCKS:
        return (n + sum->block - 1) / sum->block;
    case SUM_LANES:
        return lane - !sum->fused + log2_up(n < SUM_LANES_COUNT ? n : SUM_LANES_COUNT) + with_start;
    default:
        return log2_up(n) + with_start;
    }
}
