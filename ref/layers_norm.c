/* SPDX-License-Identifier: Apache-2.0 */
/* LAYER-2 and LAYER-3: the two norms. */
#include <math.h>
#include <stddef.h>

#include "chunkproof/layers.h"

/*@
  requires valid: \valid_read(x + (0 .. d - 1));
  requires size: 1 <= d;
  assigns \nothing;
  ensures layer_3: \result == mean_of(x, d);
*/
static double mean_of(const double *x, int d) {
    double sum = 0.0;
    /*@ loop invariant i: 0 <= i <= d;
        loop invariant sum: sum == sum_of(x, i);
        loop assigns i, sum; loop variant d - i; */
    for (int i = 0; i < d; i++) {
        sum += x[i];
    }
    return sum / d;
}

/* The root of the mean of all (x_i - mean)^2, and epsilon: x = (3, 4) without a mean, 0, gives
 * sqrt(12.5). Deviations are squared, not x itself: the mean of the squares less the square of the
 * mean cancels where the mean is large. */
/*@
  requires valid: \valid_read(x + (0 .. d - 1));
  requires size: 1 <= d;
  assigns \nothing;
  ensures layer_2: \result == deviation_of(x, mean, d, epsilon);
*/
static double deviation_of(const double *x, double mean, int d, double epsilon) {
    double squares = 0.0;
    /*@ loop invariant i: 0 <= i <= d;
        loop invariant squares: squares == squares_of(x, mean, i);
        loop assigns i, squares; loop variant d - i; */
    for (int i = 0; i < d; i++) {
        squares += (x[i] - mean) * (x[i] - mean);
    }
    return sqrt(squares / d + epsilon);
}

/*@
  assigns \nothing;
  ensures layer_2: \result == normalised(x, root, weight);
*/
static double normalised(double x, double root, float weight) {
    return x / root * weight;
}

/* x = (3, 4): the mean of the squares is 12.5, and y = x / sqrt(12.5) = (0.849, 1.131). */
void cp_norm_rms(double *y, const double *x, const float *weight, int d, double epsilon) {
    double root = deviation_of(x, 0.0, d, epsilon);
    /*@ loop invariant i: 0 <= i <= d;
        loop invariant done: same_or_apart(y, x, d) ==> \forall integer j; 0 <= j < i ==>
          y[j] == normalised(\at(x[j], Pre), root, weight[j]);
        loop invariant rest: same_or_apart(y, x, d) ==>
          \forall integer j; i <= j < d ==> x[j] == \at(x[j], Pre);
        loop assigns i, y[0 .. d - 1]; loop variant d - i; */
    for (int i = 0; i < d; i++) {
        y[i] = normalised(x[i], root, weight[i]);
    }
}

/* x = (1, 3): the mean is 2, the variance 1, and y = (-1, 1). */
void cp_norm_layer(double *y, const double *x, const float *weight, const float *bias, int d,
                   double epsilon) {
    double mean = mean_of(x, d), root = deviation_of(x, mean, d, epsilon);
    /*@ loop invariant i: 0 <= i <= d;
        loop invariant done: same_or_apart(y, x, d) ==> \forall integer j; 0 <= j < i ==>
          y[j] == normalised(\at(x[j], Pre) - mean, root, weight[j]) + bias_at_row(bias, j);
        loop invariant rest: same_or_apart(y, x, d) ==>
          \forall integer j; i <= j < d ==> x[j] == \at(x[j], Pre);
        loop assigns i, y[0 .. d - 1]; loop variant d - i; */
    for (int i = 0; i < d; i++) {
        y[i] = normalised(x[i] - mean, root, weight[i]) + (bias == NULL ? 0.0 : bias[i]);
    }
}
