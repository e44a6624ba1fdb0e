/* SPDX-License-Identifier: Apache-2.0 */
/* The bound. Let u = 2^-53. +, -, *, / err by a factor 1 + e with |e| <= u; exp and log of the C
 * library by at most one unit in the last place, |e| <= 2u. With U = u / (1 - 2u) such factors lie
 * between exp(-U) and exp(U), and between exp(-2U) and exp(2U): they are counted in the exponent.
 *
 * 1. Scores. Each product of q . k meets its own rounding, at most d - 1 additions and the scaling:
 *    the computed score is s_j + e_j with
 *        |e_j| <= sigma_j = expm1((d + 1) U) |scale| sum_x |q_x k_jx|,   sigma = max_j sigma_j.
 * 2. Weights. However the parts are cut and merged, key j's weight is a product of exponentials of
 *    differences x - m <= 0, which end at the largest computed score: exactly, they add up to (s_j
 *    + e_j) - max. Each difference is computed with a factor 1 + e, so together they are off by at
 *    most U times that sum, U (M - s_j + 2 sigma) with M = max s.
 * 3. Roundings that the term w_j v_j meets: its exponential 2, its product 1, the additions of its
 *    part at most N_c; in each of at most C merges an exponential 2, a product 1, an addition 1;
 *    the last division 1. The oracle has no merge and N additions. Both have at most
 *        K = 4 + max(N_c + 4 C, N).
 *    Together the term has a factor exp(t_j), and in the sum of weights another such factor, with
 *        |t_j| <= T_j = sigma_j + U (M - s_j + 2 sigma + K).
 * 4. Output. With exact weights w (sum 1), o = sum_j w_j v_j, r_j = expm1(T_j), S = sum_j w_j r_j
 *    and A = sum_j w_j |v_j|: the computed sum_j w_j exp(t_j) v_j / sum_j w_j exp(t'_j) minus o is
 *        (sum_j w_j (exp(t_j) - 1) v_j - o sum_j w_j (exp(t'_j) - 1)) / sum_j w_j exp(t'_j),
 *    and |o| <= A: it is at most E = (sum_j w_j r_j |v_j| + A S) / (1 - S).
 * 5. Log-sum-exp. max + log n with n = sum exp(s - max) off by a factor between 1 - S and 1 + S:
 *    the logarithm is off by at most L = -log1p(-S), by 2U of itself, and the last addition by U of
 *    the result; log n <= ln N + L. At most (1 + 4U) L + 3U ln N + U (|M| + sigma).
 * 6. Underflow. An exponential or a product below 2^-1022 errs absolutely instead, by at most
 *    2^-1074. There are N + 2C of each, times at most V = max |v| or 1 (keys) or N V or N (merges);
 *    what follows only makes it smaller (factors <= 1, division by n >= 1). In output and
 *    normaliser together at most 2 (N + 2C) (N + 1) (V + 1) 2^-1074, and twice that for the 1 - S.
 *    In a score at most (d + 1) (1 + |scale|) 2^-1074, added to sigma_j.
 * 7. Two results of this kind are at most twice as far apart.
 * 8. Here M, s, w, r are computed as well, off by factors within exp(4 max T). As long as T <
 *    2^-24, which is asserted, a factor 1 + 2^-20 on the result pays for it and for the rounding of
 *    these few sums of non-negative terms (n < 2^20). */
#include "bound.h"

#include <assert.h>
#include <math.h>
#include <stddef.h>

#include "chunkproof/number.h"

#define U        BOUND_BIG_U
#define SLACK    (1.0 + 0x1p-20)
#define SMALLEST 0x1p-1074

/* Score j and, in *magnitude, |scale| sum |q_x k_jx|. */
static double score_of(const double *q, const double *key, int d, double scale, double *magnitude) {
    double dot = 0.0;
    double sum = 0.0;
    for (int x = 0; x < d; x++) {
        dot += q[x] * key[x];
        sum += fabs(q[x] * key[x]);
    }
    *magnitude = fabs(scale) * sum;
    return scale * dot;
}

static double sigma_of(double magnitude, int d, double scale) {
    return expm1((d + 1) * U) * magnitude + (d + 1) * (1.0 + fabs(scale)) * SMALLEST;
}

double bound_attention(const double *q, const double *k, const double *v, int n, int d,
                       double scale, int n_parts, int largest_part, double *bound) {
    double highest = -INFINITY; /* M */
    double sigma = 0.0;
    double sum = 0.0; /* sum_j exp(s_j - M) */
    double s = 0.0;   /* S, first times that sum */
    double largest_v = 0.0;
    double magnitude;
    for (int x = 0; x < d; x++) {
        bound[x] = 0.0;
    }
    if (n == 0) {
        return 0.0;
    }
    for (int j = 0; j < n; j++) {
        double score = score_of(q, k + (ptrdiff_t)j * d, d, scale, &magnitude);
        highest = fmax(highest, score);
        sigma = fmax(sigma, sigma_of(magnitude, d, scale));
    }
    double roundings = 4.0 + fmax(largest_part + 4.0 * n_parts, n); /* K */
    for (int j = 0; j < n; j++) {
        double score = score_of(q, k + (ptrdiff_t)j * d, d, scale, &magnitude);
        double t = sigma_of(magnitude, d, scale) + U * (highest - score + 2.0 * sigma + roundings);
        assert(t < 0x1p-24);
        sum += exp(score - highest);
        s += exp(score - highest) * expm1(t);
    }
    s /= sum;
    for (int j = 0; j < n; j++) {
        double score = score_of(q, k + (ptrdiff_t)j * d, d, scale, &magnitude);
        double t = sigma_of(magnitude, d, scale) + U * (highest - score + 2.0 * sigma + roundings);
        double weight = exp(score - highest) / sum;
        for (int x = 0; x < d; x++) {
            double size = fabs(v[(ptrdiff_t)j * d + x]);
            bound[x] += weight * (expm1(t) + s) * size;
            largest_v = fmax(largest_v, size);
        }
    }
    double tiny = 4.0 * (n + 2.0 * n_parts) * (n + 1.0) * (largest_v + 1.0) * SMALLEST;
    for (int x = 0; x < d; x++) {
        bound[x] = 2.0 * SLACK * (bound[x] / (1.0 - s) + tiny);
    }
    double off = -log1p(-s);
    return 2.0 * SLACK *
           ((1.0 + 4.0 * U) * off + 3.0 * U * log(n) + U * (fabs(highest) + sigma) + tiny);
}

/* Rounding to nearest a number of size at most |expected| + bound: half a unit in the last place,
 * or half the smallest subnormal number. */
double bound_rounded(int type, double expected, double bound) {
    double size = fabs(expected) + bound;
    switch (type) {
    case CP_FP16:
        return bound + fmax(0x1p-11 * size, 0x1p-25);
    case CP_BF16:
        return bound + fmax(0x1p-8 * size, 0x1p-134);
    case CP_FP32:
        return bound + fmax(0x1p-24 * size, 0x1p-150);
    default:
        return bound;
    }
}
