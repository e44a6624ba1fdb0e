/* SPDX-License-Identifier: Apache-2.0 */
/* The bound of each column, and of the log-sum-exp, from what is known of the row (NUM-10 to
 * NUM-12): steps 5 and 6 of the example at the head of tolerance.c. */
#include <math.h>

#include "tolerance_row.h"

#define COLUMNS 128

/* NUM-3 gives E, NUM-10 the bound for a column, from E and o; expected is off by at most
 * `spare`. */
/*@
  requires valid: \valid_read(a);
  requires ok: arithmetic_ok(*a) && 0.0 <= spare;
  assigns \nothing;
  ensures num_12: \forall real x; x <= error ==> size_of(expected, spare) +
    divided(*a, size_of(expected, spare), x) > a->output.largest ==> !finite(\result);
  ensures num_10: \forall real x; 0.0 <= x <= error ==> !finite(\result) ||
    written(*a, size_of(expected, spare), x) + spare <= \result;
  ensures num_10_bound: 0.0 <= error ==> is_bound(\result);
*/
static double with_output(const struct cp_arithmetic *a, double error, double expected,
                          double spare) {
    double size = up_plus(fabs(expected), spare);
    double quotient = up_plus(up_times(a->u_div, up_plus(size, error)), a->eta_div);
    double before = up_plus(error, quotient), written = up_plus(size, before);
    if (!(written <= a->output.largest)) { /* NUM-12 */
        return INFINITY;
    }
    double rounding = fmax(up_times(a->output.unit, written), a->output.tiny);
    return up_plus(up_plus(before, rounding), spare);
}

/* Sums of one key for `count` columns, and how far its part of the sum may be off. */
/*@
  requires size: 0 <= count <= COLUMNS && 0.0 <= w && 0.0 <= lack;
  requires valid: \valid_read(v + (0 .. count - 1)) && \valid(sum + (0 .. COLUMNS - 1)) &&
    \valid(magnitude + (0 .. COLUMNS - 1));
  requires apart: \separated(sum + (0 .. COLUMNS - 1), magnitude + (0 .. COLUMNS - 1),
    v + (0 .. count - 1));
  requires not_negative: \forall integer i; 0 <= i < count ==> 0.0 <= magnitude[i];
  assigns sum[0 .. count - 1], magnitude[0 .. count - 1];
  ensures num_10: \forall integer i; 0 <= i < count ==>
    sum[i] == \old(sum[i] + value_added(w, v[i])) &&
    magnitude[i] == \old(magnitude[i] + doubt_added(w, lack, v[i]));
  ensures not_negative: \forall integer i; 0 <= i < count ==> 0.0 <= magnitude[i];
*/
static void add_value(double w, double lack, const double *v, int count, double *sum,
                      double *magnitude) {
    /*@ loop invariant range: 0 <= i <= count;
        loop invariant added: \forall integer t; 0 <= t < i ==>
          sum[t] == \at(sum[t] + value_added(w, v[t]), Pre) &&
          magnitude[t] == \at(magnitude[t] + doubt_added(w, lack, v[t]), Pre);
        loop invariant rest: \forall integer t; i <= t < count ==>
          sum[t] == \at(sum[t], Pre) && magnitude[t] == \at(magnitude[t], Pre);
        loop invariant not_negative: \forall integer t; 0 <= t < count ==> 0.0 <= magnitude[t];
        loop assigns i, sum[0 .. count - 1], magnitude[0 .. count - 1]; loop variant count - i; */
    for (int i = 0; i < count; i++) {
        double size = fabs(v[i]);
        //@ ghost product_not_negative(w, size);
        //@ ghost product_not_negative(w * size, lack);
        //@ assert value: value_added_here(w, v[i], \true) == w * v[i];
        //@ assert doubt: doubt_added_here(w, lack, v[i], \true) == w * size * lack;
        sum[i] += w * v[i];
        magnitude[i] += w * size * lack;
    }
}

/*@
  requires size: 0 <= count <= COLUMNS && 0.0 <= h && 0.0 <= t;
  requires valid: \valid_read(v + (0 .. count - 1)) &&
    \valid_read(expected + (0 .. COLUMNS - 1)) && \valid_read(spare + (0 .. COLUMNS - 1)) &&
    \valid(error + (0 .. COLUMNS - 1));
  requires apart: \separated(error + (0 .. COLUMNS - 1), spare + (0 .. COLUMNS - 1)) &&
    \separated(error + (0 .. COLUMNS - 1), expected + (0 .. COLUMNS - 1)) &&
    \separated(error + (0 .. COLUMNS - 1), v + (0 .. count - 1));
  requires not_negative: \forall integer i; 0 <= i < count ==> 0.0 <= spare[i] && 0.0 <= error[i];
  assigns error[0 .. count - 1];
  ensures num_10: \forall integer i; 0 <= i < count ==>
    error[i] == \old(error[i] + error_added(h, t, v[i], expected[i], spare[i]));
  ensures not_negative: \forall integer i; 0 <= i < count ==> 0.0 <= error[i];
*/
static void add_error(double h, double t, const double *v, int count, const double *expected,
                      const double *spare, double *error) {
    /*@ loop invariant range: 0 <= i <= count;
        loop invariant added: \forall integer j; 0 <= j < i ==>
          error[j] == \at(error[j] + error_added(h, t, v[j], expected[j], spare[j]), Pre);
        loop invariant rest: \forall integer j; i <= j < count ==> error[j] == \at(error[j], Pre);
        loop invariant not_negative: \forall integer j; 0 <= j < count ==> 0.0 <= error[j];
        loop assigns i, error[0 .. count - 1]; loop variant count - i; */
    for (int i = 0; i < count; i++) {
        double distance = fabs(v[i] - expected[i]) + spare[i], size = fabs(v[i]);
        //@ ghost product_not_negative(h, distance);
        //@ ghost product_not_negative(t, size);
        /*@ assert error: error_added_here(h, t, v[i], expected[i], spare[i], \true) ==
              h * distance + t * size; */
        error[i] += h * distance + t * size;
    }
}

/* Of columns first .. first + count - 1: W `expected`, and W `spare` but for what to add. */
/*@
  requires valid: \valid_read(row);
  requires valid_row: row_valid(*row) && size_ok(*row) && 0.0 <= lack;
  requires columns: 0 <= first && 1 <= count <= COLUMNS && first + count <= row->value_dim;
  requires valid_sums: \valid(sum + (0 .. COLUMNS - 1)) && \valid(magnitude + (0 .. COLUMNS - 1));
  requires apart: apart_from_row(sum, COLUMNS, *row) && apart_from_row(magnitude, COLUMNS, *row);
  requires apart_sums: \separated(row, row->scratch + (0 .. 3 * row->n_keys - 1),
    sum + (0 .. COLUMNS - 1), magnitude + (0 .. COLUMNS - 1));
  requires weighed: weighed(row->scratch, row->n_keys, row->n_keys);
  requires empty: \forall integer i; 0 <= i < count ==> sum[i] == 0.0 && magnitude[i] == 0.0;
  assigns sum[0 .. COLUMNS - 1], magnitude[0 .. COLUMNS - 1];
  ensures not_negative: \forall integer i; 0 <= i < count ==> 0.0 <= magnitude[i];
  ensures num_10: \forall integer i; 0 <= i < count ==>
    sum[i] == values_of{Pre}(row->scratch, row->v, row->value_dim, first + i, row->n_keys);
  ensures num_10_spare: \forall integer i; 0 <= i < count ==> magnitude[i] ==
    doubts_of{Pre}(lack, row->scratch, row->v, row->value_dim, first + i, row->n_keys);
*/
static void sum_values(const struct cp_tolerance_row *row, double lack, int first, int count,
                       double *sum, double *magnitude) {
    const double *w = row->scratch, *v = row->v + first;
    /*@ loop invariant range: 0 <= j <= row->n_keys;
        loop invariant not_negative: \forall integer i; 0 <= i < count ==> 0.0 <= magnitude[i];
        loop invariant values: \forall integer i; 0 <= i < count ==>
          sum[i] == values_of{Pre}(row->scratch, row->v, row->value_dim, first + i, j);
        loop invariant doubts: \forall integer i; 0 <= i < count ==> magnitude[i] ==
          doubts_of{Pre}(lack, row->scratch, row->v, row->value_dim, first + i, j);
        loop assigns j, sum[0 .. COLUMNS - 1], magnitude[0 .. COLUMNS - 1];
        loop variant row->n_keys - j; */
    for (int j = 0; j < row->n_keys; j++) {
        /*@ assert inside: 0 <= row_at(j, row->value_dim) &&
              row_at(j, row->value_dim) + row->value_dim <= row_at(row->n_keys, row->value_dim); */
        ptrdiff_t at = cp_tolerance_row_begin(j, row->value_dim);
        double doubt = w[j] <= FAINT ? 1.0 : lack;
        //@ assert weights: same_numbers{Pre,Here}(row->scratch, row->n_keys);
        //@ assert values: same_numbers{Pre,Here}(row->v, row_at(row->n_keys, row->value_dim));
        /*@ assert next: \forall integer i; 0 <= i < count ==>
              values_of{Pre}(row->scratch, row->v, row->value_dim, first + i, j + 1) ==
                sum[i] + value_added(w[j], v[at + i]); */
        /*@ assert next_doubt: \forall integer i; 0 <= i < count ==>
              doubts_of{Pre}(lack, row->scratch, row->v, row->value_dim, first + i, j + 1) ==
                magnitude[i] + doubt_added(w[j], doubt, v[at + i]); */
        add_value(w[j], doubt, v + at, count, sum, magnitude);
    }
}

/* NUM-10, of one column: from what the keys add to E, the rest of E, and the bound. */
/*@
  requires valid: \valid_read(a) && \valid_read(b);
  requires ok: arithmetic_ok(*a) && bounds_ok(*b) && 0.0 <= spare && 0.0 <= of_keys &&
    0 <= n <= CP_TOLERANCE_MOST;
  assigns \nothing;
  ensures num_10: 0.0 < b->left ==> column_bounded(*a, *b, of_keys, expected, spare, \result);
  ensures num_10_bound: 0.0 < b->left ==> is_bound(\result);
*/
static double bound_of(const struct cp_arithmetic *a, const struct cp_row_bounds *b, double of_keys,
                       double expected, double spare, int n) {
    double size = up_plus(fabs(expected), spare);
    //@ ghost product_not_negative(size, b->lost_n);
    double of_sums = up_plus(b->tiny_o, up_times(size, b->lost_n)); /* 5 */
    double all = up_plus(up_sum(of_keys, 2 * n + 8), of_sums);
    //@ assert all: 0.0 <= column_losses(*b, of_keys, expected, spare) <= all;
    double error = up(all / b->left);
    /*@ assert error: 0.0 < b->left ==>
          0.0 <= column_losses(*b, of_keys, expected, spare) / b->left <= error; */
    double bound = with_output(a, error, expected, spare); /* 6 */
    /*@ assert num_10: 0.0 < b->left ==>
          column_bounded_here(*a, *b, of_keys, expected, spare, bound, \true); */
    return bound;
}

/* Columns first .. first + count - 1, at most COLUMNS: side by side, because they lie so in
 * memory. `expected` and `bound` begin at the first of them. */
/*@
  requires valid: \valid_read(a) && \valid_read(row) && \valid_read(b);
  requires valid_row: row_valid(*row) && size_ok(*row);
  requires columns: 0 <= first && 1 <= count <= COLUMNS && first + count <= row->value_dim;
  requires valid_results: \valid(expected + (0 .. count - 1)) && \valid(bound + (0 .. count - 1));
  requires apart: \separated(a, row, b, row->scratch + (0 .. 3 * row->n_keys - 1),
    expected + (0 .. count - 1), bound + (0 .. count - 1));
  requires ok: arithmetic_ok(*a) && bounds_ok(*b);
  requires weighed: weighed(row->scratch, row->n_keys, row->n_keys);
  assigns expected[0 .. count - 1], bound[0 .. count - 1];
  ensures num_10: 0.0 < b->left ==> \forall integer i; first <= i < first + count ==>
    column_ok{Pre}(*a, *b, *row, i, expected[i - first], bound[i - first]);
  ensures num_10_bound: 0.0 < b->left ==>
    \forall integer i; first <= i < first + count ==> is_bound(bound[i - first]);
*/
static void bound_some(const struct cp_arithmetic *a, const struct cp_tolerance_row *row,
                       const struct cp_row_bounds *b, int first, int count, double *expected,
                       double *bound) {
    int n = row->n_keys;
    double sum[COLUMNS] = {0.0}, magnitude[COLUMNS] = {0.0}, error[COLUMNS] = {0.0};
    sum_values(row, b->lack, first, count, sum, magnitude);
    /*@ loop invariant range: 0 <= i <= count;
        loop invariant not_negative: \forall integer t; 0 <= t < count ==> 0.0 <= magnitude[t];
        loop invariant expected: \forall integer t; 0 <= t < i ==> sum[t] ==
          values_of{Pre}(row->scratch, row->v, row->value_dim, first + t, n) / b->weights;
        loop invariant spare: \forall integer t; 0 <= t < i ==>
          column_spare{Pre}(*b, *row, first + t) <= magnitude[t];
        loop invariant values: \forall integer t; i <= t < count ==>
          sum[t] == values_of{Pre}(row->scratch, row->v, row->value_dim, first + t, n);
        loop invariant doubts: \forall integer t; i <= t < count ==> magnitude[t] ==
          doubts_of{Pre}(b->lack, row->scratch, row->v, row->value_dim, first + t, n);
        loop assigns i, sum[0 .. COLUMNS - 1], magnitude[0 .. COLUMNS - 1];
        loop variant count - i; */
    for (int i = 0; i < count; i++) {
        sum[i] = sum[i] / b->weights;
        magnitude[i] = up_plus(up_sum(magnitude[i] / b->weights, n + 4), n * SMALLEST); /* spare */
    }
    const double *h = row->scratch + n, *t = h + n, *v = row->v + first;
    /*@ loop invariant range: 0 <= j <= n;
        loop invariant not_negative: \forall integer i; 0 <= i < count ==> 0.0 <= error[i];
        loop invariant errors: \forall integer i; 0 <= i < count ==> error[i] ==
          errors_of{Pre}(row->scratch, n, row->v, row->value_dim, first + i,
            \at(sum[i], LoopEntry), \at(magnitude[i], LoopEntry), j);
        loop assigns j, error[0 .. COLUMNS - 1]; loop variant n - j; */
    for (int j = 0; j < n; j++) {
        /*@ assert inside: 0 <= row_at(j, row->value_dim) &&
              row_at(j, row->value_dim) + row->value_dim <= row_at(n, row->value_dim); */
        ptrdiff_t at = cp_tolerance_row_begin(j, row->value_dim);
        //@ assert weights: same_numbers{Pre,Here}(row->scratch, 3 * row->n_keys);
        //@ assert values: same_numbers{Pre,Here}(row->v, row_at(row->n_keys, row->value_dim));
        //@ assert expected: same_numbers{LoopEntry,Here}(&sum[0], COLUMNS);
        //@ assert spares: same_numbers{LoopEntry,Here}(&magnitude[0], COLUMNS);
        /*@ assert next: \forall integer i; 0 <= i < count ==>
              errors_of{Pre}(row->scratch, n, row->v, row->value_dim, first + i,
                \at(sum[i], LoopEntry), \at(magnitude[i], LoopEntry), j + 1) ==
              error[i] + error_added(h[j], t[j], v[at + i], sum[i], magnitude[i]); */
        add_error(h[j], t[j], v + at, count, sum, magnitude, error);
    }
    /*@ loop invariant range: 0 <= i <= count;
        loop invariant bounds: 0.0 < b->left ==>
          \forall integer t; 0 <= t < i ==> is_bound(bound[t]);
        loop invariant num_10: 0.0 < b->left ==> \forall integer t; 0 <= t < i ==>
          column_ok{Pre}(*a, *b, *row, first + t, expected[t], bound[t]);
        loop assigns i, expected[0 .. count - 1], bound[0 .. count - 1];
        loop variant count - i; */
    for (int i = 0; i < count; i++) {
        expected[i] = sum[i];
        bound[i] = bound_of(a, b, error[i], sum[i], magnitude[i], n);
        //@ assert spare: column_spare{Pre}(*b, *row, first + i) <= magnitude[i];
        /*@ assert bounded: 0.0 < b->left ==> column_bounded(*a, *b,
              errors_of{Pre}(row->scratch, n, row->v, row->value_dim, first + i, sum[i],
                magnitude[i], n), sum[i], magnitude[i], bound[i]); */
        /*@ assert column: 0.0 < b->left ==>
              column_ok{Pre}(*a, *b, *row, first + i, sum[i], bound[i]); */
        //@ assert expected: expected[i] == sum[i];
    }
}

void cp_tolerance_columns(const struct cp_arithmetic *a, const struct cp_tolerance_row *row,
                          const struct cp_row_bounds *b, double *expected, double *bound) {
    /*@ loop invariant range: 0 <= first < row->value_dim + COLUMNS;
        loop invariant weighed: weighed(row->scratch, row->n_keys, row->n_keys);
        loop invariant bounds: 0.0 < b->left ==>
          \forall integer i; 0 <= i < first && i < row->value_dim ==> is_bound(bound[i]);
        loop invariant num_10: 0.0 < b->left ==>
          \forall integer i; 0 <= i < first && i < row->value_dim ==>
            column_ok{Pre}(*a, *b, *row, i, expected[i], bound[i]);
        loop assigns first, expected[0 .. row->value_dim - 1], bound[0 .. row->value_dim - 1];
        loop variant row->value_dim - first; */
    for (int first = 0; first < row->value_dim; first += COLUMNS) {
        int rest = row->value_dim - first;
        //@ assert weights: same_numbers{Pre,Here}(row->scratch, 3 * row->n_keys);
        //@ assert values: same_numbers{Pre,Here}(row->v, row_at(row->n_keys, row->value_dim));
        /*@ ghost
          /@ loop invariant range: 0 <= j <= row->n_keys;
             loop invariant same: same_sums{Pre,Here}(*b, *row, j);
             loop assigns j; loop variant row->n_keys - j; @/
          for (int j = 0; j < row->n_keys; j++) {
              /@ assert inside: 0 <= row_at(j, row->value_dim) &&
                    row_at(j, row->value_dim) + row->value_dim <=
                    row_at(row->n_keys, row->value_dim); @/
              /@ assert key: same_number{Pre,Here}(row->scratch, j) &&
                    same_number{Pre,Here}(row->scratch, row->n_keys + j) &&
                    same_number{Pre,Here}(row->scratch, 2 * row->n_keys + j); @/
              /@ assert numbers: \forall integer i; 0 <= i < row->value_dim ==>
                    same_number{Pre,Here}(row->v, row_at(j, row->value_dim) + i); @/
              /@ assert then: next_sums{Pre}(*b, *row, j); @/
              /@ assert now: next_sums{Here}(*b, *row, j); @/
          } */
        bound_some(a, row, b, first, rest < COLUMNS ? rest : COLUMNS, expected + first,
                   bound + first);
    }
}

struct cp_lse_bounds cp_tolerance_lse(const struct cp_row_bounds *b, int sure, double lse_error) {
    double logarithm = log(b->weights), lse = b->top + logarithm;
    //@ ghost e_of_both(b->top, logarithm);
    double spare = up_plus(b->lack, up_times(0x1p-50, fabs(lse)));
    if (!sure) {
        return (struct cp_lse_bounds){lse, INFINITY};
    }
    double part = up(up_plus(b->shared, b->lost_n) / b->least);
    //@ assert part: 0.0 <= part && b->shared + b->lost_n <= product(part, b->least);
    if (!(part < 1.0)) {
        return (struct cp_lse_bounds){lse, INFINITY};
    }
    double of_weights = up_function(-log1p(-part));
    //@ assert left: e(-of_weights) <= 1.0 - part;
    return (struct cp_lse_bounds){lse, up_plus(up_plus(lse_error, of_weights), spare)};
}
