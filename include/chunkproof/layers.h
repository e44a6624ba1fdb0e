/* SPDX-License-Identifier: Apache-2.0 */
/* What the layers of a decoder are made of (spec/layers.md): norms, projections, positions and the
 * functions of the feed-forward network. Weights are float, all else is double. decoder.h puts them
 * together. The caller keeps sizes in range, here: they are not checked. */
#ifndef CHUNKPROOF_LAYERS_H
#define CHUNKPROOF_LAYERS_H

#ifdef __cplusplus
extern "C" {
#endif

#ifdef __FRAMAC__
#include "proofs/logic/layers.h"
#endif

/* y = x / sqrt(mean of x_i^2 + epsilon), each number times its weight (LAYER-2). y may be x. */
/*@
  requires valid: \valid(y + (0 .. d - 1)) && \valid_read(x + (0 .. d - 1)) &&
    \valid_read(weight + (0 .. d - 1));
  requires size: 1 <= d;
  assigns y[0 .. d - 1];
  ensures layer_2: same_or_apart(y, x, d) ==> \forall integer i; 0 <= i < d ==>
    y[i] == normalised(\old(x[i]), deviation_of{Old}(x, 0.0, d, epsilon), weight[i]);
*/
void cp_norm_rms(double *y, const double *x, const float *weight, int d, double epsilon);

/* y = (x - mean) / sqrt(variance + epsilon), each number times its weight, plus its bias, which may
 * be NULL (LAYER-3). y may be x. */
/*@
  requires valid: \valid(y + (0 .. d - 1)) && \valid_read(x + (0 .. d - 1)) &&
    \valid_read(weight + (0 .. d - 1));
  requires valid_bias: bias == \null || \valid_read(bias + (0 .. d - 1));
  requires size: 1 <= d;
  assigns y[0 .. d - 1];
  ensures layer_3: same_or_apart(y, x, d) ==> \forall integer i; 0 <= i < d ==>
    \let mean = mean_of{Old}(x, d);
    y[i] == normalised(\old(x[i]) - mean, deviation_of{Old}(x, mean, d, epsilon), weight[i]) +
      bias_at_row(bias, i);
*/
void cp_norm_layer(double *y, const double *x, const float *weight, const float *bias, int d,
                   double epsilon);

/* y[t] = weight x[t] + bias for each of n rows (LAYER-4): x is [n][n_in], weight [n_out][n_in],
 * bias [n_out] or NULL, and y [n][n_out]. Each number of y is summed from the first product on and
 * the bias added last, so that a row gets the same bits whatever other rows there are. */
/*@
  requires sizes: 0 <= n && 0 <= n_out && 0 <= n_in && rows_countable(n, n_in) &&
    rows_countable(n, n_out) && rows_countable(n_out, n_in);
  requires valid: \valid(y + (0 .. row_at(n, n_out) - 1)) &&
    \valid_read(x + (0 .. row_at(n, n_in) - 1));
  requires matrix: matrix_readable(weight, bias, n_out, n_in);
  assigns y[0 .. row_at(n, n_out) - 1];
  ensures layer_4: projection_apart(y, x, n, n_out, n_in) ==> \forall integer r; 0 <= r < n_out ==>
    column_projected{Old,Here}(y, x, weight + row_at(r, n_in), bias_at_row(bias, r), 0, n, r,
      n_out, n_in);
*/
void cp_project(double *y, const double *x, int n, const float *weight, const float *bias,
                int n_out, int n_in);

/* The frequencies of rotary encoding, in radians for each position (LAYER-5): frequency[i] =
 * base^(-i / n) / factor for each of n pairs. factor is 1, or more where positions are scaled. */
/*@
  requires valid: \valid(frequency + (0 .. n - 1));
  requires size: 0 <= n;
  requires base: base >= 0.0;
  assigns frequency[0 .. n - 1];
  ensures layer_5: \forall integer i; 0 <= i < n ==>
    frequency[i] == power_of(base, -i / (real)n) / factor;
*/
void cp_rotary_frequencies(double *frequency, int n, double base, double factor);

/* cos and sin of position * frequency[i] for each of n pairs (DEC-8). */
/*@
  requires valid: \valid(cosine + (0 .. n - 1)) && \valid(sine + (0 .. n - 1)) &&
    \valid_read(frequency + (0 .. n - 1));
  requires size: 0 <= n;
  assigns cosine[0 .. n - 1], sine[0 .. n - 1];
  ensures dec_8: \separated(cosine + (0 .. n - 1), sine + (0 .. n - 1)) &&
    \separated(frequency + (0 .. n - 1), cosine + (0 .. n - 1)) &&
    \separated(frequency + (0 .. n - 1), sine + (0 .. n - 1)) ==>
      \forall integer i; 0 <= i < n ==> cosine[i] == cos_of(position * frequency[i]) &&
        sine[i] == sin_of(position * frequency[i]);
*/
void cp_rotation(double *cosine, double *sine, const double *frequency, int n, int position);

/* Rotates the first 2 n numbers of x in place by the angles whose cos and sin are given (DEC-8):
 * pair i has the numbers at p and p + distance, with p = (i div distance) * 2 distance +
 * i mod distance. With distance 1 pairs are neighbours, with distance n the two halves. n is a
 * multiple of distance. */
/*@
  requires valid: \valid(x + (0 .. 2 * n - 1)) && \valid_read(cosine + (0 .. n - 1)) &&
    \valid_read(sine + (0 .. n - 1));
  requires pairs: pairs_ok(n, distance);
  assigns x[0 .. 2 * n - 1];
  ensures dec_8: rotation_apart(x, cosine, sine, n) ==> \forall integer i; 0 <= i < n ==>
    pair_rotated{Old,Here}(x, cosine, sine, i, distance);
*/
void cp_rotate(double *x, const double *cosine, const double *sine, int n, int distance);

/* ALiBi's slope of a head, 0 <= head < n_heads, for any number of heads (LAYER-6). */
/*@
  requires head: 0 <= head < n_heads;
  assigns \nothing;
  ensures not_negative: \result >= 0.0;
  ensures layer_6: \exists integer m; largest_power_of_two(m, n_heads) &&
    \result == power_of(2.0, -slope_exponent(head, m));
*/
double cp_alibi_slope(int head, int n_heads);

/* x / (1 + exp(-x)) (LAYER-8). */
/*@
  assigns \nothing;
  ensures layer_8: \result * (1.0 + e(-x)) == x;
*/
double cp_silu(double x);

/* x Phi(x), Phi the normal distribution: by erf, and as approximated by tanh (LAYER-9). */
/*@
  assigns \nothing;
  ensures layer_9: \result == x * erfc_of(-x * 0.70710678118654752440) / 2.0;
*/
double cp_gelu_erf(double x);

/*@
  assigns \nothing;
  ensures layer_9: \result * (1.0 + e(-2.0 * (0.79788456080286535588 *
    (x + 0.044715 * x * x * x)))) == x;
*/
double cp_gelu_tanh(double x);

#ifdef __cplusplus
}
#endif

#endif
