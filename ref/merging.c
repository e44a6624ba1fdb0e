/* SPDX-License-Identifier: Apache-2.0 */
/* A part (o_i, l_i) is the state (m, n, o) = (l_i, 1, o_i): so the merge of MERGE-4 merges parts,
 * and for the certified tolerance a part is a key with the score l_i and the value o_i
 * (MERGING-4). An example: l = 0 and ln 3, o = 8 and 4.
 *
 *   state    (0, 1, 8), then merged with (ln 3, 1, 4): (ln 3, 4/3, 20/3)
 *   result   o = 5, l = ln 3 + ln 4/3 = ln 4 */
#include "chunkproof/merging.h"

#include <math.h>
#include <stddef.h>

#include "chunkproof/softmax.h"
#include "merging_internal.h"

/* How many nats are one unit of a log-sum-exp. */
/*@
  assigns \nothing;
  ensures unit: \result == unit_of(base) > 0.0;
*/
static double unit_of_base(int base) {
    return base == CP_BASE_2 ? LN_2 : 1.0;
}

/*@
  requires valid: \valid_read(lse + (0 .. n - 1));
  assigns \nothing;
  ensures merging_8: \result != 0 ==> \forall integer j; 0 <= j < n ==> finite(lse[j]) ||
    lse[j] < 0.0;
*/
static int are_log_sums(const double *lse, int n) {
    /*@ loop invariant range: 0 <= j && (0 < n ==> j <= n);
        loop invariant each: \forall integer t; 0 <= t < j ==> finite(lse[t]) || lse[t] < 0.0;
        loop assigns j; loop variant n - j; */
    for (int j = 0; j < n; j++) {
        if (!isfinite(lse[j]) && !(lse[j] < 0.0)) {
            return 0;
        }
    }
    return 1;
}

/*@
  requires valid: \valid_read(o + (0 .. d - 1));
  assigns \nothing;
*/
static int are_outputs(const double *o, int d) {
    /*@ loop invariant range: 0 <= i && (0 < d ==> i <= d);
        loop assigns i; loop variant d - i; */
    for (int i = 0; i < d; i++) {
        if (!(fabs(o[i]) <= CP_MERGING_LARGEST)) {
            return 0;
        }
    }
    return 1;
}

/* MERGING-12. */
/*@
  requires valid: \valid_read(row);
  assigns \nothing;
  ensures merging_12: \result != 0 <==> sums_ok(row->least_sum, row->most_sum);
*/
static int are_sums(const struct cp_merging_row *row) {
    return (row->least_sum == 0.0 && row->most_sum == 0.0) ||
           (row->least_sum >= CP_MERGING_LEAST_SUM && row->least_sum <= row->most_sum &&
            row->most_sum <= CP_MERGING_MOST_SUM);
}

/* MERGING-8. */
/*@
  requires valid: \valid_read(row) && merging_valid(*row);
  assigns \nothing;
  ensures merging_8: \result != 0 ==> merging_sizes_ok(*row);
  ensures merging_12: \result != 0 ==> sums_ok(row->least_sum, row->most_sum);
*/
static int is_row(const struct cp_merging_row *row) {
    int n = row->n_parts, d = row->head_dim;
    if (n < 0 || n > CP_TOLERANCE_MOST || d < 0 || d > CP_TOLERANCE_MOST || !are_sums(row) ||
        (row->base != CP_BASE_E && row->base != CP_BASE_2) || !are_log_sums(row->lse, n)) {
        return 0;
    }
    /*@ loop invariant range: 0 <= j <= n; loop assigns j; loop variant n - j; */
    for (int j = 0; j < n; j++) {
        //@ assert inside: row_at(j, d) + d <= row_at(n, d);
        if (!are_outputs(row->o + cp_tolerance_row_begin(j, d), d)) {
            return 0;
        }
    }
    return 1;
}

/* out = o / n: there is a key. */
/*@
  requires valid: \valid_read(state) && \valid(out + (0 .. d - 1)) && 0 <= d;
  requires key: state->n > 0.0;
  requires apart: \separated(state, out + (0 .. d - 1));
  assigns out[0 .. d - 1];
  ensures merge_6: \forall integer i; 0 <= i < d ==>
    is_mean(out[i], \old(state_sum(*state, out[i])), state_weight(*state));
*/
static void divide(const struct cp_state *state, double *out, int d) {
    /*@ loop invariant range: 0 <= i <= d;
        loop invariant divided: \forall integer t; 0 <= t < i ==>
          is_mean(out[t], \at(state_sum(*state, out[t]), Pre), state_weight(*state));
        loop invariant rest: \forall integer t; i <= t < d ==> out[t] == \at(out[t], Pre);
        loop assigns i, out[0 .. d - 1]; loop variant d - i; */
    for (int i = 0; i < d; i++) {
        out[i] = out[i] / state->n;
        //@ assert mean: is_mean(out[i], \at(out[i], LoopCurrent), state->n);
    }
}

/* The log-sum-exp of parts whose largest is `largest`, in their unit. */
/*@
  requires unit: unit > 0.0;
  assigns \nothing;
  ensures merging_1: product(unit, \result) == product(unit, largest) + logarithm;
*/
static double add_logarithm(double largest, double logarithm, double unit) {
    double of_n = logarithm / unit;
    //@ assert quotient: unit * of_n == logarithm;
    //@ assert sum: unit * (largest + of_n) == unit * largest + unit * of_n;
    return largest + of_n; /* of one part: largest, exactly */
}

int cp_merging(const struct cp_merging_row *row, double *out, double *lse) {
    if (!is_row(row)) {
        return CP_ERROR_ARGUMENT;
    }
    int d = row->head_dim;
    double unit = unit_of_base(row->base), largest = 0.0;
    struct cp_state state;
    cp_state_empty(&state, out, d);
    //@ assert empty: scaled(state.n, state.m) == 0.0;
    /*@ loop invariant range: 0 <= j <= row->n_parts;
        loop invariant ok: state_ok(state, out, d);
        loop invariant weight: state_weight(state) == parts_weight{Pre}(*row, j);
        loop invariant sum: \forall integer i; 0 <= i < d ==>
          state_sum(state, out[i]) == parts_sum{Pre}(*row, j, i);
        loop invariant none: (\forall integer t; 0 <= t < j ==> !finite(row->lse[t])) ==>
          is_zero(state.n);
        loop invariant largest: !is_zero(state.n) ==> state.m == product(unit, largest);
        loop assigns j, largest, state, out[0 .. d - 1]; loop variant row->n_parts - j; */
    for (int j = 0; j < row->n_parts; j++) {
        double l = row->lse[j];
        if (isfinite(l)) {
            struct cp_state part = {unit * l, 1.0};
            //@ assert inside: row_at(j, d) + d <= row_at(row->n_parts, d);
            const double *o = row->o + cp_tolerance_row_begin(j, d);
            //@ assert nats: part.m == product(unit, l);
            //@ assert one: scaled(part.n, part.m) == e(part.m);
            //@ ghost larger_in_nats(unit, l, largest);
            /*@ assert next: \forall integer i; 0 <= i < d ==> parts_sum{Pre}(*row, j + 1, i) ==
                  state_sum(state, out[i]) + state_sum(part, o[i]); */
            largest = state.n == 0.0 || l > largest ? l : largest;
            cp_attn_reduce(&state, out, &part, o, d);
            /*@ assert added: \forall integer i; 0 <= i < d ==>
                  state_sum(state, out[i]) == parts_sum{Pre}(*row, j + 1, i); */
        }
    }
    if (state.n == 0.0) {
        //@ assert nothing: parts_weight{Pre}(*row, row->n_parts) == 0.0;
        //@ assert zeros: \forall integer i; 0 <= i < d ==> is_zero(out[i]);
        /*@ assert no_sum: \forall integer i; 0 <= i < d ==>
              is_zero(parts_sum{Pre}(*row, row->n_parts, i)); */
        //@ assert mean: merged{Pre,Here}(*row, out);
        *lse = -INFINITY;
        return CP_OK;
    }
    double logarithm = log(state.n);
    //@ assert logarithm: e(logarithm) == state.n;
    //@ ghost weight_of_sum(state.m, state.n, logarithm);
    divide(&state, out, d);
    //@ assert mean: merged{Pre,Here}(*row, out);
    *lse = add_logarithm(largest, logarithm, unit);
    return CP_OK;
}

/* ---- The tolerance ---- */

/* The log-sum-exps of the parts with keys, one after the other; returns how many they are. */
/*@
  requires valid: \valid_read(row) && \valid_read(row->lse + (0 .. row->n_parts - 1));
  requires valid_to: \valid(to + (0 .. row->n_parts - 1));
  requires size: 0 <= row->n_parts;
  requires apart: \separated(to + (0 .. row->n_parts - 1), row,
    row->lse + (0 .. row->n_parts - 1));
  assigns to[0 .. row->n_parts - 1];
  ensures number: 0 <= \result <= row->n_parts;
*/
static int gather_lse(const struct cp_merging_row *row, double *to) {
    int n = 0;
    /*@ loop invariant range: 0 <= n <= j <= row->n_parts;
        loop assigns j, n, to[0 .. row->n_parts - 1]; loop variant row->n_parts - j; */
    for (int j = 0; j < row->n_parts; j++) {
        if (isfinite(row->lse[j])) {
            to[n++] = row->lse[j];
        }
    }
    return n;
}

/* Column i of their outputs. */
/*@
  requires valid: \valid_read(row) && merging_sizes_ok(*row) && merging_valid(*row);
  requires valid_to: \valid(to + (0 .. row->n_parts - 1));
  requires column: 0 <= i < row->head_dim;
  requires apart: \separated(to + (0 .. row->n_parts - 1), row) &&
    merging_apart(to, row->n_parts, *row);
  assigns to[0 .. row->n_parts - 1];
*/
static void gather_column(const struct cp_merging_row *row, int i, double *to) {
    int n = 0;
    /*@ loop invariant range: 0 <= n <= j <= row->n_parts;
        loop assigns j, n, to[0 .. row->n_parts - 1]; loop variant row->n_parts - j; */
    for (int j = 0; j < row->n_parts; j++) {
        if (isfinite(row->lse[j])) {
            /*@ assert inside: row_at(j, row->head_dim) + row->head_dim <=
                  row_at(row->n_parts, row->head_dim); */
            to[n++] = row->o[cp_tolerance_row_begin(j, row->head_dim) + i];
        }
    }
}

/* The largest magnitude of d outputs. */
/*@
  requires valid: \valid_read(o + (0 .. d - 1)) && 0 <= d;
  assigns \nothing;
  ensures largest: 0.0 <= \result && \forall integer i; 0 <= i < d ==> -\result <= o[i] <= \result;
*/
static double largest_of(const double *o, int d) {
    double largest = 0.0;
    /*@ loop invariant range: 0 <= i <= d;
        loop invariant largest: 0.0 <= largest &&
          \forall integer t; 0 <= t < i ==> -largest <= o[t] <= largest;
        loop assigns i, largest; loop variant d - i; */
    for (int i = 0; i < d; i++) {
        largest = fmax(largest, fabs(o[i]));
    }
    return largest;
}

/* What the numbers of a class depend on: n parts have keys, and their log-sum-exps are l. */
/*@
  requires valid: \valid_read(row) && merging_sizes_ok(*row) && merging_valid(*row);
  requires sums: sums_ok(row->least_sum, row->most_sum);
  requires valid_l: 0 <= n <= row->n_parts && \valid_read(l + (0 .. n - 1));
  assigns \nothing;
  ensures ok: extent_ok(\result);
*/
static struct cp_merging_extent extent_of(const struct cp_merging_row *row, const double *l,
                                          int n) {
    double unit = unit_of_base(row->base), top = n > 0 ? l[0] : 0.0, value = 0.0;
    /*@ loop invariant range: 0 <= j <= n; loop assigns j, top; loop variant n - j; */
    for (int j = 0; j < n; j++) {
        top = fmax(top, l[j]);
    }
    /*@ loop invariant range: 0 <= j <= row->n_parts && 0.0 <= value;
        loop assigns j, value; loop variant row->n_parts - j; */
    for (int j = 0; j < row->n_parts; j++) {
        /*@ assert inside: row_at(j, row->head_dim) + row->head_dim <=
              row_at(row->n_parts, row->head_dim); */
        const double *o = row->o + cp_tolerance_row_begin(j, row->head_dim);
        value = fmax(value, largest_of(o, row->head_dim));
    }
    struct cp_merging_extent extent = {.n_parts = row->n_parts,
                                       .base = row->base,
                                       .top = up_times(unit, fabs(top)),
                                       .size = up_times(unit, largest_of(l, n)),
                                       .value = value,
                                       .least_sum = row->least_sum,
                                       .most_sum = row->most_sum};
    return extent;
}

/* The relative error of an output that is not divided by the sum n of its weights exp(l_i - l). l
 * is within l_bound of the exact one, and l + ln n within what weights lose, by which l_bound is
 * above lse_error at least. So ln n is within both together. */
/*@
  assigns \nothing;
  ensures merging_6: 0.0 <= \result;
*/
static double undivided(double l_bound, double lse_error) {
    double of_weights = fmax(up_plus(l_bound, -lse_error), 0.0);
    return up_function(expm1(fmax(up_plus(l_bound, of_weights), 0.0)));
}

/* The arithmetic of log-sum-exps. A pairwise merge begins with n = 1 and ends so: what is lost
 * where it stores an output moves no n. */
/*@
  requires valid: \valid_read(a) && arithmetic_ok(*a);
  assigns \nothing;
  ensures ok: arithmetic_ok(\result);
  ensures merging_7: way == CP_MERGING_PAIRWISE ==> \result.u_part == 0.0;
  ensures others: way != CP_MERGING_PAIRWISE ==> \result == *a;
*/
static struct cp_arithmetic without_outputs(const struct cp_arithmetic *a, int way) {
    struct cp_arithmetic of_lse = *a;
    if (way == CP_MERGING_PAIRWISE) {
        of_lse.u_part = 0.0;
    }
    return of_lse;
}

/* The log-sum-exp and its bound, from nats to the base of the row. */
/*@
  requires valid: \valid(lse) && \valid(lse_bound) && \separated(lse, lse_bound);
  requires bound: is_bound(*lse_bound);
  assigns *lse, *lse_bound;
  ensures bound: is_bound(*lse_bound);
  ensures nats: base != CP_BASE_2 ==> *lse == \old(*lse) && *lse_bound == \old(*lse_bound);
  ensures bits: base == CP_BASE_2 ==> product(unit_of(base), *lse) == \old(*lse);
  ensures bits_bound: base == CP_BASE_2 && finite(\old(*lse_bound)) ==>
    \old(*lse_bound) <= product(unit_of(base), *lse_bound);
*/
static void to_base(int base, double *lse, double *lse_bound) {
    if (base == CP_BASE_2) {
        *lse = *lse / LN_2;
        if (isfinite(*lse_bound)) {
            *lse_bound = up_plus(up(*lse_bound / LN_2), up_times(0x1p-50, fabs(*lse)));
        }
    }
}

int cp_merging_tolerance(const struct cp_merging_class *declared, const struct cp_merging_row *row,
                         double *scratch, double *expected, double *bound, double *lse,
                         double *lse_bound) {
    if (!is_row(row) || !cp_merging_class_ok(declared) ||
        (row->most_sum > 0.0 && declared->way > CP_MERGING_STATES)) {
        return CP_ERROR_ARGUMENT;
    }
    int n = gather_lse(row, scratch), n_parts = row->n_parts;
    double one[1] = {1.0}, mean[1], mean_bound[1], *column = scratch + n_parts;
    struct cp_merging_numbers x = cp_merging_numbers(declared, extent_of(row, scratch, n));
    struct cp_tolerance_row keys = {.n_keys = n,
                                    .head_dim = 1,
                                    .value_dim = 1,
                                    .scale = unit_of_base(row->base),
                                    .q = one,
                                    .k = scratch,
                                    .v = scratch,
                                    .scratch = column + n_parts};
    //@ assert keys: row_at(n, 1) == n;
    struct cp_arithmetic of_lse = without_outputs(&x.arithmetic, declared->way);
    cp_tolerance(&of_lse, &x.counts, &keys, x.lse_error, mean, mean_bound, lse, lse_bound);
    if (declared->way == CP_MERGING_UNDIVIDED) {
        x.arithmetic.u_div = undivided(*lse_bound, x.lse_error);
    }
    to_base(row->base, lse, lse_bound);
    keys.v = column;
    /*@ loop invariant range: 0 <= i <= row->head_dim;
        loop invariant bounds: \forall integer t; 0 <= t < i ==> is_bound(bound[t]);
        loop assigns i, scratch[n_parts .. 5 * n_parts - 1], expected[0 .. row->head_dim - 1],
          bound[0 .. row->head_dim - 1]; loop variant row->head_dim - i; */
    for (int i = 0; i < row->head_dim; i++) {
        gather_column(row, i, column);
        cp_tolerance(&x.arithmetic, &x.counts, &keys, 0.0, expected + i, bound + i, NULL, NULL);
    }
    return CP_OK;
}
