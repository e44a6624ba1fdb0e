/* SPDX-License-Identifier: Apache-2.0 */
/* LAYER-2 and LAYER-3: the two norms. */
#include <math.h>
#include <stddef.h>

#include "chunkproof/layers.h"

/* x = (3, 4): the mean of the squares is 12.5, and y = x / sqrt(12.5) = (0.849, 1.131). */
void cp_norm_rms(double *y, const double *x, const float *weight, int d, double epsilon) {
    double squares = 0.0;
    /*@ loop invariant i: 0 <= i <= d;
        loop assigns i, squares; loop variant d - i; */
    for (int i = 0; i < d; i++) {
        squares += x[i] * x[i];
    }
    double root = sqrt(squares / d + epsilon);
    /*@ loop invariant i: 0 <= i <= d;
        loop assigns i, y[0 .. d - 1]; loop variant d - i; */
    for (int i = 0; i < d; i++) {
        y[i] = x[i] / root * weight[i];
    }
}

/* x = (1, 3): the mean is 2, the variance 1, and y = (-1, 1). Deviations are squared, not x itself:
 * the mean of the squares less the square of the mean cancels where the mean is large. */
void cp_norm_layer(double *y, const double *x, const float *weight, const float *bias, int d,
                   double epsilon) {
    double sum = 0.0;
    /*@ loop invariant i: 0 <= i <= d;
        loop assigns i, sum; loop variant d - i; */
    for (int i = 0; i < d; i++) {
        sum += x[i];
    }
    double mean = sum / d;
    double squares = 0.0;
    /*@ loop invariant i: 0 <= i <= d;
        loop assigns i, squares; loop variant d - i; */
    for (int i = 0; i < d; i++) {
        squares += (x[i] - mean) * (x[i] - mean);
    }
    double root = sqrt(squares / d + epsilon);
    /*@ loop invariant i: 0 <= i <= d;
        loop assigns i, y[0 .. d - 1]; loop variant d - i; */
    for (int i = 0; i < d; i++) {
        y[i] = (x[i] - mean) / root * weight[i] + (bias == NULL ? 0.0 : bias[i]);
    }
}
