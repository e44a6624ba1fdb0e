/* SPDX-License-Identifier: Apache-2.0 */
/* LAYER-4: y = W x + b for some rows x. */
#include <stddef.h>

#include "chunkproof/layers.h"

/* Rows that are multiplied side by side: each weight is read once for all of them, and no sum waits
 * for another one. */
#define SIDE_BY_SIDE 4

/* Where row number `row` of d numbers begins. */
/*@
  requires sizes: 0 <= row && 0 <= d && rows_countable(row, d);
  assigns \nothing;
  ensures place: \result == row_at(row, d);
*/
static size_t row_begin(int row, int d) {
    //@ assert place: 0 <= row_at(row, d) && row * d == row_at(row, d);
    return (size_t)row * (size_t)d;
}

/*@
  requires valid: \valid_read(x + (0 .. n_in - 1)) && \valid_read(weight + (0 .. n_in - 1));
  requires size: 0 <= n_in;
  assigns \nothing;
  ensures layer_4: \result == weighted(weight, x, 0, n_in);
*/
static double product(const double *x, const float *weight, int n_in) {
    double sum = 0.0;
    /*@ loop invariant i: 0 <= i <= n_in;
        loop invariant sum: sum == weighted(weight, x, 0, i);
        loop assigns i, sum; loop variant n_in - i; */
    for (int i = 0; i < n_in; i++) {
        sum += weight[i] * x[i];
    }
    return sum;
}

/* The products of SIDE_BY_SIDE rows, as product() has them: each sum for itself, from the first
 * product on. */
/*@
  requires valid: \valid(sum + (0 .. SIDE_BY_SIDE - 1)) &&
    \valid_read(x + (0 .. SIDE_BY_SIDE * n_in - 1)) && \valid_read(weight + (0 .. n_in - 1));
  requires size: 0 <= n_in;
  assigns sum[0 .. SIDE_BY_SIDE - 1];
  ensures layer_4: sum[0] == weighted{Old}(weight, x, 0, n_in) &&
    sum[1] == weighted{Old}(weight, x, n_in, n_in) &&
    sum[2] == weighted{Old}(weight, x, 2 * n_in, n_in) &&
    sum[3] == weighted{Old}(weight, x, 3 * n_in, n_in);
*/
static void products(double *sum, const double *x, const float *weight, int n_in) {
    const double *x_b = x + n_in, *x_c = x_b + n_in, *x_d = x_c + n_in;
    double a = 0.0, b = 0.0, c = 0.0, d = 0.0;
    /*@ loop invariant i: 0 <= i <= n_in;
        loop invariant a: a == weighted(weight, x, 0, i);
        loop invariant b: b == weighted(weight, x, n_in, i);
        loop invariant c: c == weighted(weight, x, 2 * n_in, i);
        loop invariant d: d == weighted(weight, x, 3 * n_in, i);
        loop assigns i, a, b, c, d; loop variant n_in - i; */
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

/* Number r of SIDE_BY_SIDE rows of y. */
/*@
  requires sizes: 0 <= r < n_out && 0 <= n_in;
  requires valid: \valid(y + (0 .. SIDE_BY_SIDE * n_out - 1)) &&
    \valid_read(x + (0 .. SIDE_BY_SIDE * n_in - 1)) && \valid_read(weight + (0 .. n_in - 1));
  assigns y[0 .. SIDE_BY_SIDE * n_out - 1];
*/
static void project_together(double *y, int n_out, const double *x, int n_in, int r,
                             const float *weight, double bias) {
    double sum[SIDE_BY_SIDE];
    products(sum, x, weight, n_in);
    /*@ loop invariant s: 0 <= s <= SIDE_BY_SIDE;
        loop assigns s, y[0 .. SIDE_BY_SIDE * n_out - 1]; loop variant SIDE_BY_SIDE - s; */
    for (int s = 0; s < SIDE_BY_SIDE; s++) {
        /*@ assert place: 0 <= row_at(s, n_out) &&
              row_at(s, n_out) + n_out <= row_at(SIDE_BY_SIDE, n_out); */
        //@ assert rows: row_at(SIDE_BY_SIDE, n_out) == SIDE_BY_SIDE * n_out;
        y[row_begin(s, n_out) + (size_t)r] = sum[s] + bias;
    }
}

/* Number r of each row: y[t][r], t = 0 .. n - 1, with row r of the matrix. */
/*@
  requires sizes: 0 <= n && 0 <= r < n_out && 0 <= n_in && rows_countable(n, n_in) &&
    rows_countable(n, n_out);
  requires valid: \valid(y + (0 .. row_at(n, n_out) - 1)) &&
    \valid_read(x + (0 .. row_at(n, n_in) - 1)) && \valid_read(weight + (0 .. n_in - 1));
  assigns y[0 .. row_at(n, n_out) - 1];
*/
static void project_column(double *y, int n_out, const double *x, int n_in, int n, int r,
                           const float *weight, double bias) {
    int t = 0;
    /*@ loop invariant t: 0 <= t <= n;
        loop assigns t, y[0 .. row_at(n, n_out) - 1]; loop variant n - t; */
    for (; t <= n - SIDE_BY_SIDE; t += SIDE_BY_SIDE) {
        /*@ assert rows: 0 <= row_at(t, n_in) &&
              row_at(t, n_in) + SIDE_BY_SIDE * n_in == row_at(t + SIDE_BY_SIDE, n_in); */
        //@ assert inside: row_at(t + SIDE_BY_SIDE, n_in) <= row_at(n, n_in);
        /*@ assert places: 0 <= row_at(t, n_out) &&
              row_at(t, n_out) + SIDE_BY_SIDE * n_out == row_at(t + SIDE_BY_SIDE, n_out); */
        //@ assert inside_y: row_at(t + SIDE_BY_SIDE, n_out) <= row_at(n, n_out);
        project_together(y + row_begin(t, n_out), n_out, x + row_begin(t, n_in), n_in, r, weight,
                         bias);
    }
    /*@ loop invariant t: 0 <= t <= n;
        loop assigns t, y[0 .. row_at(n, n_out) - 1]; loop variant n - t; */
    for (; t < n; t++) {
        /*@ assert row: 0 <= row_at(t, n_in) && row_at(t, n_in) + n_in <= row_at(n, n_in); */
        /*@ assert place: 0 <= row_at(t, n_out) && row_at(t, n_out) + n_out <= row_at(n, n_out); */
        y[row_begin(t, n_out) + (size_t)r] = product(x + row_begin(t, n_in), weight, n_in) + bias;
    }
}

void cp_project(double *y, const double *x, int n, const float *weight, const float *bias,
                int n_out, int n_in) {
    /*@ loop invariant r: 0 <= r <= n_out;
        loop assigns r, y[0 .. row_at(n, n_out) - 1]; loop variant n_out - r; */
    for (int r = 0; r < n_out; r++) {
        /*@ assert row: 0 <= row_at(r, n_in) && row_at(r, n_in) + n_in <= row_at(n_out, n_in); */
        project_column(y, n_out, x, n_in, n, r, weight + row_begin(r, n_in),
                       bias == NULL ? 0.0 : bias[r]);
    }
}
