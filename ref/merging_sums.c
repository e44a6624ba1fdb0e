/* SPDX-License-Identifier: Apache-2.0 */
/* From a maximum m_i and a sum n_i to a log-sum-exp (MERGING-12). An example, with a sum of
 * weighted values:
 *
 *   part     m = 2, n = 4, sum 12
 *   result   l = 2 + ln 4, o = 12 / 4 = 3 */
#include <math.h>
#include <stddef.h>

#include "merging_internal.h"

/* Does a part have keys, and a sum in range? */
/*@
  assigns \nothing;
  ensures merging_12: \result != 0 <==>
    CP_MERGING_LEAST_SUM <= n <= CP_MERGING_MOST_SUM && finite(m);
*/
static int is_part(double m, double n) {
    return n >= CP_MERGING_LEAST_SUM && n <= CP_MERGING_MOST_SUM && isfinite(m);
}

/* The sizes of the parts, and all m and n. */
/*@
  requires valid: \valid_read(given) && sums_valid(*given);
  assigns \nothing;
  ensures merging_12: \result != 0 ==> sums_sizes_ok(*given);
  ensures merging_12_each: \result != 0 ==> each_sum_ok(given->n, given->n_parts);
*/
static int are_parts(const struct cp_merging_sums *given) {
    int n = given->n_parts, d = given->head_dim;
    if (n < 0 || n > CP_TOLERANCE_MOST || d < 0 || d > CP_TOLERANCE_MOST ||
        (given->base != CP_BASE_E && given->base != CP_BASE_2)) {
        return 0;
    }
    /*@ loop invariant range: 0 <= j <= n;
        loop invariant each: \forall integer t; 0 <= t < j ==> is_zero(given->n[t]) ||
          CP_MERGING_LEAST_SUM <= given->n[t] <= CP_MERGING_MOST_SUM;
        loop assigns j; loop variant n - j; */
    for (int j = 0; j < n; j++) {
        if (given->n[j] != 0.0 && !is_part(given->m[j], given->n[j])) {
            return 0;
        }
    }
    return 1;
}

/* The log-sum-exp of a part with keys. */
/*@
  requires key: 0.0 < n;
  assigns \nothing;
*/
static double log_sum(double m, double n, int base) {
    double nats = log(n);
    return m + (base == CP_BASE_2 ? nats / LN_2 : nats);
}

/* Its output; zeros of a part without keys. */
/*@
  requires valid: \valid_read(from + (0 .. d - 1)) && \valid(to + (0 .. d - 1)) && 0 <= d;
  requires apart: \separated(from + (0 .. d - 1), to + (0 .. d - 1));
  assigns to[0 .. d - 1];
*/
static void put_output(const double *from, int d, double n, int is_divided, double *to) {
    /*@ loop invariant range: 0 <= i <= d; loop assigns i, to[0 .. d - 1];
        loop variant d - i; */
    for (int i = 0; i < d; i++) {
        to[i] = n == 0.0 ? 0.0 : is_divided ? from[i] : from[i] / n;
    }
}

/* All log-sum-exps. */
/*@
  requires valid: \valid_read(m + (0 .. n_parts - 1)) && \valid_read(n + (0 .. n_parts - 1));
  requires valid_lse: \valid(lse + (0 .. n_parts - 1)) && 0 <= n_parts;
  requires apart: \separated(lse + (0 .. n_parts - 1), m + (0 .. n_parts - 1)) &&
    \separated(lse + (0 .. n_parts - 1), n + (0 .. n_parts - 1));
  assigns lse[0 .. n_parts - 1];
  ensures merging_12_none: \forall integer j; 0 <= j < n_parts ==>
    is_zero(n[j]) ==> minus_infinity(lse[j]);
*/
static void put_log_sums(const double *m, const double *n, int n_parts, int base, double *lse) {
    /*@ loop invariant range: 0 <= j <= n_parts;
        loop invariant none: \forall integer t; 0 <= t < j ==>
          is_zero(n[t]) ==> minus_infinity(lse[t]);
        loop assigns j, lse[0 .. n_parts - 1]; loop variant n_parts - j; */
    for (int j = 0; j < n_parts; j++) {
        double sum = n[j];
        lse[j] = -INFINITY;
        if (sum > 0.0) {
            lse[j] = log_sum(m[j], sum, base);
        }
    }
}

/* All outputs. */
/*@
  requires valid: \valid_read(n + (0 .. n_parts - 1)) && 0 <= n_parts && 0 <= d &&
    \valid_read(from + (0 .. row_at(n_parts, d) - 1));
  requires valid_o: \valid(o + (0 .. row_at(n_parts, d) - 1));
  requires apart: \separated(o + (0 .. row_at(n_parts, d) - 1), n + (0 .. n_parts - 1)) &&
    \separated(o + (0 .. row_at(n_parts, d) - 1), from + (0 .. row_at(n_parts, d) - 1));
  requires size: n_parts <= CP_TOLERANCE_MOST && d <= CP_TOLERANCE_MOST;
  assigns o[0 .. row_at(n_parts, d) - 1];
*/
static void put_outputs(const double *from, const double *n, int n_parts, int d, int is_divided,
                        double *o) {
    /*@ loop invariant range: 0 <= j <= n_parts;
        loop assigns j, o[0 .. row_at(n_parts, d) - 1]; loop variant n_parts - j; */
    for (int j = 0; j < n_parts; j++) {
        //@ assert inside: 0 <= row_at(j, d) && row_at(j, d) + d <= row_at(n_parts, d);
        ptrdiff_t at = cp_tolerance_row_begin(j, d);
        //@ assert at: at == row_at(j, d);
        put_output(from + at, d, n[j], is_divided, o + at);
    }
}

/* The least and the largest sum of the parts with keys; 0 and 0 without any. */
/*@
  requires valid: \valid_read(n + (0 .. n_parts - 1)) && 0 <= n_parts;
  requires valid_to: \valid(least) && \valid(most) && \separated(least, most);
  requires apart: \separated(least, n + (0 .. n_parts - 1)) &&
    \separated(most, n + (0 .. n_parts - 1));
  requires sums: each_sum_ok(n, n_parts);
  assigns *least, *most;
  ensures merging_12: sums_ok(*least, *most);
*/
static void find_range(const double *n, int n_parts, double *least, double *most) {
    *least = *most = 0.0;
    /*@ loop invariant range: 0 <= j <= n_parts;
        loop invariant sums: sums_ok(*least, *most);
        loop assigns j, *least, *most; loop variant n_parts - j; */
    for (int j = 0; j < n_parts; j++) {
        double sum = n[j];
        //@ assert sum: is_zero(sum) || CP_MERGING_LEAST_SUM <= sum <= CP_MERGING_MOST_SUM;
        if (sum != 0.0) {
            *least = *most == 0.0 ? sum : fmin(*least, sum);
            *most = fmax(*most, sum);
        }
    }
}

int cp_merging_of_sums(const struct cp_merging_sums *given, double *o, double *lse,
                       struct cp_merging_row *row) {
    struct cp_merging_row made = {.o = o, .lse = lse};
    const double *m = given->m, *n = given->n, *from = given->o;
    int n_parts = given->n_parts, d = given->head_dim;
    double least = 0.0, most = 0.0;
    if (!are_parts(given)) {
        *row = made;
        return CP_ERROR_ARGUMENT;
    }
    find_range(n, n_parts, &least, &most);
    made.n_parts = n_parts;
    made.head_dim = d;
    made.base = given->base;
    made.least_sum = least;
    made.most_sum = most;
    put_log_sums(m, n, n_parts, given->base, lse);
    put_outputs(from, n, n_parts, d, given->is_divided, o);
    *row = made;
    return CP_OK;
}
