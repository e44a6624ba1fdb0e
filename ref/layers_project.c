/* SPDX-License-Identifier: Apache-2.0 */
/* LAYER-4: y = W x + b for some rows x. */
#include <limits.h>
#include <stddef.h>

#include "chunkproof/layers.h"

#ifdef __FRAMAC__
#include "proofs/logic/layers_places.h"
#endif

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

/* Of row t of x. */
/*@
  requires size: 0 <= t && 0 <= n_in && rows_countable(t, n_in);
  requires valid: \valid_read(x + (0 .. row_at(t, n_in) + n_in - 1)) &&
    \valid_read(weight + (0 .. n_in - 1));
  assigns \nothing;
  ensures layer_4: \result == weighted(weight, x, row_at(t, n_in), n_in);
*/
static double product(const double *x, int t, const float *weight, int n_in) {
    const double *row = x + row_begin(t, n_in);
    double sum = 0.0;
    /*@ loop invariant i: 0 <= i <= n_in;
        loop invariant sum: sum == weighted(weight, x, row_at(t, n_in), i);
        loop assigns i, sum; loop variant n_in - i; */
    for (int i = 0; i < n_in; i++) {
        sum += weight[i] * row[i];
    }
    return sum;
}

/* The products of SIDE_BY_SIDE rows from row t on, as product() has them: each sum for itself, from
 * the first product on. */
/*@
  requires size: 0 <= t <= INT_MAX - SIDE_BY_SIDE && 0 <= n_in &&
    rows_countable(t + SIDE_BY_SIDE, n_in);
  requires valid: \valid(sum + (0 .. SIDE_BY_SIDE - 1)) &&
    \valid_read(x + (0 .. row_at(t + SIDE_BY_SIDE, n_in) - 1)) &&
    \valid_read(weight + (0 .. n_in - 1));
  assigns sum[0 .. SIDE_BY_SIDE - 1];
  ensures layer_4: sum[0] == weighted{Old}(weight, x, row_at(t, n_in), n_in) &&
    sum[1] == weighted{Old}(weight, x, row_at(t + 1, n_in), n_in) &&
    sum[2] == weighted{Old}(weight, x, row_at(t + 2, n_in), n_in) &&
    sum[3] == weighted{Old}(weight, x, row_at(t + 3, n_in), n_in);
*/
static void products(double *sum, const double *x, int t, const float *weight, int n_in) {
    /*@ assert rows: 0 <= row_at(t, n_in) && row_at(t + 1, n_in) == row_at(t, n_in) + n_in &&
          row_at(t + 2, n_in) == row_at(t, n_in) + 2 * n_in &&
          row_at(t + 3, n_in) == row_at(t, n_in) + 3 * n_in &&
          row_at(t + 4, n_in) == row_at(t, n_in) + 4 * n_in; */
    const double *x_a = x + row_begin(t, n_in), *x_b = x_a + n_in, *x_c = x_b + n_in,
                 *x_d = x_c + n_in;
    double a = 0.0, b = 0.0, c = 0.0, d = 0.0;
    /*@ loop invariant i: 0 <= i <= n_in;
        loop invariant a: a == weighted(weight, x, row_at(t, n_in), i);
        loop invariant b: b == weighted(weight, x, row_at(t, n_in) + n_in, i);
        loop invariant c: c == weighted(weight, x, row_at(t, n_in) + 2 * n_in, i);
        loop invariant d: d == weighted(weight, x, row_at(t, n_in) + 3 * n_in, i);
        loop assigns i, a, b, c, d; loop variant n_in - i; */
    for (int i = 0; i < n_in; i++) {
        double w = weight[i];
        a += w * x_a[i];
        b += w * x_b[i];
        c += w * x_c[i];
        d += w * x_d[i];
    }
    sum[0] = a;
    sum[1] = b;
    sum[2] = c;
    sum[3] = d;
}

/* Number r of SIDE_BY_SIDE rows of y from row t on. */
/*@
  requires sizes: 0 <= t <= INT_MAX - SIDE_BY_SIDE && 0 <= r < n_out && 0 <= n_in &&
    rows_countable(t + SIDE_BY_SIDE, n_in) && rows_countable(t + SIDE_BY_SIDE, n_out);
  requires valid: \valid(y + (0 .. row_at(t + SIDE_BY_SIDE, n_out) - 1)) &&
    \valid_read(x + (0 .. row_at(t + SIDE_BY_SIDE, n_in) - 1)) &&
    \valid_read(weight + (0 .. n_in - 1));
  assigns y[0 .. row_at(t + SIDE_BY_SIDE, n_out) - 1];
  ensures layer_4: column_projected{Old,Here}(y, x, weight, bias, t, t + SIDE_BY_SIDE, r, n_out,
    n_in);
  ensures before: \forall integer j; 0 <= j < t ==>
    y[number_at(j, r, n_out)] == \old(y[number_at(j, r, n_out)]);
  ensures others: columns_same{Old,Here}(y, t + SIDE_BY_SIDE, r, n_out);
*/
static void project_together(double *y, int n_out, const double *x, int n_in, int t, int r,
                             const float *weight, double bias) {
    double sum[SIDE_BY_SIDE];
    products(sum, x, t, weight, n_in);
    /*@ loop invariant s: 0 <= s <= SIDE_BY_SIDE;
        loop invariant sums: sum[0] == weighted{Pre}(weight, x, row_at(t, n_in), n_in) &&
          sum[1] == weighted{Pre}(weight, x, row_at(t + 1, n_in), n_in) &&
          sum[2] == weighted{Pre}(weight, x, row_at(t + 2, n_in), n_in) &&
          sum[3] == weighted{Pre}(weight, x, row_at(t + 3, n_in), n_in);
        loop invariant done: column_projected{Pre,Here}(y, x, weight, bias, t, t + s, r, n_out,
          n_in);
        loop invariant before: \forall integer j; 0 <= j < t ==>
          y[number_at(j, r, n_out)] == \at(y[number_at(j, r, n_out)], Pre);
        loop invariant others: columns_same{Pre,Here}(y, t + SIDE_BY_SIDE, r, n_out);
        loop assigns s, y[0 .. row_at(t + SIDE_BY_SIDE, n_out) - 1];
        loop variant SIDE_BY_SIDE - s; */
    for (int s = 0; s < SIDE_BY_SIDE; s++) {
        /*@ assert place: 0 <= row_at(t + s, n_out) &&
              row_at(t + s, n_out) + n_out <= row_at(t + SIDE_BY_SIDE, n_out); */
        //@ assert which: s == 0 || s == 1 || s == 2 || s == 3;
        //@ assert a: s == 0 ==> sum[s] == weighted{Pre}(weight, x, row_at(t + s, n_in), n_in);
        //@ assert b: s == 1 ==> sum[s] == weighted{Pre}(weight, x, row_at(t + s, n_in), n_in);
        //@ assert c: s == 2 ==> sum[s] == weighted{Pre}(weight, x, row_at(t + s, n_in), n_in);
        //@ assert d: s == 3 ==> sum[s] == weighted{Pre}(weight, x, row_at(t + s, n_in), n_in);
        //@ ghost place_is_alone(t + s, r, t + SIDE_BY_SIDE, n_out);
        //@ assert at: row_at(t + s, n_out) + r == number_at(t + s, r, n_out);
        y[row_begin(t + s, n_out) + (size_t)r] = sum[s] + bias;
        /*@ assert now: y[number_at(t + s, r, n_out)] ==
              weighted{Pre}(weight, x, row_at(t + s, n_in), n_in) + bias; */
        //@ assert kept: others_same{LoopCurrent,Here}(y, t + s, r, t + SIDE_BY_SIDE, n_out);
        /*@ assert earlier: \forall integer j; 0 <= j < t + s ==>
              y[number_at(j, r, n_out)] == \at(y[number_at(j, r, n_out)], LoopCurrent); */
        //@ assert done: column_projected{Pre,Here}(y, x, weight, bias, t, t + s, r, n_out, n_in);
        /*@ assert next: \forall integer j; t <= j < t + s + 1 ==> y[number_at(j, r, n_out)] ==
              weighted{Pre}(weight, x, row_at(j, n_in), n_in) + bias; */
    }
}

/* Number r of each row: y[t][r], t = 0 .. n - 1, with row r of the matrix. */
/*@
  requires sizes: 0 <= n && 0 <= r < n_out && 0 <= n_in && rows_countable(n, n_in) &&
    rows_countable(n, n_out);
  requires valid: \valid(y + (0 .. row_at(n, n_out) - 1)) &&
    \valid_read(x + (0 .. row_at(n, n_in) - 1)) && \valid_read(weight + (0 .. n_in - 1));
  assigns y[0 .. row_at(n, n_out) - 1];
  ensures layer_4: projection_apart(y, x, n, n_out, n_in) ==>
    column_projected{Old,Here}(y, x, weight, bias, 0, n, r, n_out, n_in);
  ensures others: columns_same{Old,Here}(y, n, r, n_out);
*/
static void project_column(double *y, int n_out, const double *x, int n_in, int n, int r,
                           const float *weight, double bias) {
    int t = 0;
    /*@ loop invariant t: 0 <= t <= n;
        loop invariant given: projection_apart(y, x, n, n_out, n_in) ==>
          numbers_same{Pre,Here}(x, row_at(n, n_in));
        loop invariant done: projection_apart(y, x, n, n_out, n_in) ==>
          column_projected{Pre,Here}(y, x, weight, bias, 0, t, r, n_out, n_in);
        loop invariant others: columns_same{Pre,Here}(y, n, r, n_out);
        loop assigns t, y[0 .. row_at(n, n_out) - 1]; loop variant n - t; */
    for (; t <= n - SIDE_BY_SIDE; t += SIDE_BY_SIDE) {
        /*@ assert given: projection_apart(y, x, n, n_out, n_in) ==>
              \forall integer j; t <= j < t + SIDE_BY_SIDE ==>
                weighted{Pre}(weight, x, row_at(j, n_in), n_in) ==
                weighted{Here}(weight, x, row_at(j, n_in), n_in); */
        //@ assert inside: row_at(t + SIDE_BY_SIDE, n_in) <= row_at(n, n_in);
        //@ assert inside_y: row_at(t + SIDE_BY_SIDE, n_out) <= row_at(n, n_out);
        project_together(y, n_out, x, n_in, t, r, weight, bias);
        /*@ assert behind: \forall integer j, c; t + SIDE_BY_SIDE <= j < n && 0 <= c < n_out ==>
              row_at(t + SIDE_BY_SIDE, n_out) <= number_at(j, c, n_out); */
        /*@ assert kept: \forall integer j, c; t + SIDE_BY_SIDE <= j < n && 0 <= c < n_out ==>
              y[number_at(j, c, n_out)] == \at(y[number_at(j, c, n_out)], LoopCurrent); */
    }
    /*@ loop invariant t: 0 <= t <= n;
        loop invariant given: projection_apart(y, x, n, n_out, n_in) ==>
          numbers_same{Pre,Here}(x, row_at(n, n_in));
        loop invariant done: projection_apart(y, x, n, n_out, n_in) ==>
          column_projected{Pre,Here}(y, x, weight, bias, 0, t, r, n_out, n_in);
        loop invariant others: columns_same{Pre,Here}(y, n, r, n_out);
        loop assigns t, y[0 .. row_at(n, n_out) - 1]; loop variant n - t; */
    for (; t < n; t++) {
        /*@ assert row: 0 <= row_at(t, n_in) && row_at(t, n_in) + n_in <= row_at(n, n_in); */
        /*@ assert place: 0 <= row_at(t, n_out) && row_at(t, n_out) + n_out <= row_at(n, n_out); */
        /*@ assert given: projection_apart(y, x, n, n_out, n_in) ==>
              weighted{Pre}(weight, x, row_at(t, n_in), n_in) ==
              weighted{Here}(weight, x, row_at(t, n_in), n_in); */
        //@ ghost place_is_alone(t, r, n, n_out);
        //@ assert at: row_at(t, n_out) + r == number_at(t, r, n_out);
        y[row_begin(t, n_out) + (size_t)r] = product(x, t, weight, n_in) + bias;
        //@ assert kept: others_same{LoopCurrent,Here}(y, t, r, n, n_out);
    }
}

void cp_project(double *y, const double *x, int n, const float *weight, const float *bias,
                int n_out, int n_in) {
    /*@ loop invariant r: 0 <= r <= n_out;
        loop invariant given: projection_apart(y, x, n, n_out, n_in) ==>
          numbers_same{Pre,Here}(x, row_at(n, n_in));
        loop invariant done: projection_apart(y, x, n, n_out, n_in) ==>
          \forall integer c; 0 <= c < r ==> column_projected{Pre,Here}(y, x,
            weight + row_at(c, n_in), bias_at_row(bias, c), 0, n, c, n_out, n_in);
        loop assigns r, y[0 .. row_at(n, n_out) - 1]; loop variant n_out - r; */
    for (int r = 0; r < n_out; r++) {
        /*@ assert row: 0 <= row_at(r, n_in) && row_at(r, n_in) + n_in <= row_at(n_out, n_in); */
        /*@ assert given: projection_apart(y, x, n, n_out, n_in) ==>
              \forall integer j; 0 <= j < n ==>
              weighted{Pre}(weight + row_at(r, n_in), x, row_at(j, n_in), n_in) ==
              weighted{Here}(weight + row_at(r, n_in), x, row_at(j, n_in), n_in); */
        project_column(y, n_out, x, n_in, n, r, weight + row_begin(r, n_in),
                       bias == NULL ? 0.0 : bias[r]);
        /*@ assert now: projection_apart(y, x, n, n_out, n_in) ==> column_projected{Pre,Here}(y, x,
              weight + row_at(r, n_in), bias_at_row(bias, r), 0, n, r, n_out, n_in); */
        //@ assert kept: columns_same{LoopCurrent,Here}(y, n, r, n_out);
        /*@ assert before: projection_apart(y, x, n, n_out, n_in) ==>
              \forall integer c; 0 <= c < r ==> column_projected{Pre,Here}(y, x,
                weight + row_at(c, n_in), bias_at_row(bias, c), 0, n, c, n_out, n_in); */
    }
}
