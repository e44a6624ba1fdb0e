/* SPDX-License-Identifier: Apache-2.0 */
/* LAYER-4: y = W x + b for some rows x. */
#include <stddef.h>

#include "chunkproof/layers.h"

/* Rows that are multiplied side by side: each weight is read once for all of them, and no sum waits
 * for another one. */
#define SIDE_BY_SIDE 4

static double product(const double *x, const float *weight, int n_in) {
    double sum = 0.0;
    for (int i = 0; i < n_in; i++) {
        sum += weight[i] * x[i];
    }
    return sum;
}

/* The products of SIDE_BY_SIDE rows, as product() has them: each sum for itself, from the first
 * product on. */
static void products(double *sum, const double *x, const float *weight, int n_in) {
    const double *x_b = x + n_in, *x_c = x_b + n_in, *x_d = x_c + n_in;
    double a = 0.0, b = 0.0, c = 0.0, d = 0.0;
    for (int i = 0; i < n_in; i++) {
        double w = weight[i];
        a += w * x[i];
        b += w * x_b[i];
        c += w * x_c[i];
        d += w * x_d[i];
    }
    sum[0] = a;
    sum[1] = b;
    sum[2] = c;
    sum[3] = d;
}

/* One number of each row: y[t][r], t = 0 .. n - 1, with row r of the matrix. */
static void project_column(double *y, int n_out, const double *x, int n_in, int n,
                           const float *weight, double bias) {
    double sum[SIDE_BY_SIDE];
    int t = 0;
    for (; t <= n - SIDE_BY_SIDE; t += SIDE_BY_SIDE) {
        products(sum, x + (size_t)t * (size_t)n_in, weight, n_in);
        for (int s = 0; s < SIDE_BY_SIDE; s++) {
            y[(size_t)(t + s) * (size_t)n_out] = sum[s] + bias;
        }
    }
    for (; t < n; t++) {
        y[(size_t)t * (size_t)n_out] = product(x + (size_t)t * (size_t)n_in, weight, n_in) + bias;
    }
}

void cp_project(double *y, const double *x, int n, const float *weight, const float *bias,
                int n_out, int n_in) {
    for (int r = 0; r < n_out; r++) {
        project_column(y + r, n_out, x, n_in, n, weight + (size_t)r * (size_t)n_in,
                       bias == NULL ? 0.0 : bias[r]);
    }
}
