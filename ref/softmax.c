/* SPDX-License-Identifier: Apache-2.0 */
#include "chunkproof/softmax.h"

#include <math.h>

#include "chunkproof/limits.h"
#include "chunkproof/number.h"
#include "number_internal.h"
#include "softmax_internal.h"

#ifdef __FRAMAC__
#include "proofs/logic/softmax_rescale.h"
#endif

/*@
  assigns \nothing;
  ensures larger: \result == \max(a, b);
*/
static double larger(double a, double b) {
    return a > b ? a : b;
}

/* What a weight relative to x is worth relative to m >= x: a factor in [0, 1]. */
/*@
  requires below: x <= m;
  assigns \nothing;
  ensures positive: \result > 0.0;
  ensures factor: brings(\result, x, m);
  ensures one: e(x) == e(m) ==> \result == 1.0;
*/
static double rescale(double x, double m) {
    /*@ assert law: e_of_sum(x - m, m) == e(x); */
    return exp(x - m);
}

/* The first element of the j-th row behind row `first`; rows have d elements. */
/*@
  requires size: 0 <= d && 0 <= j && first + j <= 0x7FFFFFFFFFFFFFFF;
  requires place: 0 <= row_at(first + j, d) <= 0x7FFFFFFFFFFFFFFF;
  assigns \nothing;
  ensures place: \result == row_at(first + j, d);
*/
static size_t row_begin(size_t first, int j, int d) {
    size_t row = first + (size_t)j;
    /*@ assert place: row == first + j && row * d == row_at(row, d); */
    return row * (size_t)d;
}

/* NUM-18: what the numbers of the j-th key are multiplied by. */
/*@
  requires place: 0 <= j && s.begin + j <= 0x7FFFFFFFFFFFFFFF;
  requires readable: s.scales != \null ==>
    float_readable(s.scales, scale_index(s, j));
  assigns \nothing;
  ensures num_18: \result == scale_at(made_scaling(s), j);
*/
static double scale_of(struct cp_scaling s, int j) {
    if (s.scales == NULL) {
        return 1.0;
    }
    return cp_float_load(s.scales, s.each == 0 ? s.begin : s.begin + (size_t)j);
}

/* SCORE-5: the bias of a key so far from the row, t - p. With n = 4 entries, of which the row's own
 * is number 1, keys 1, 0, -1, -2 and -3 from the row have the entries 0, 1, 2, 3 and 3. */
/*@
  requires readable: biases_ready(b);
  assigns \nothing;
  ensures score_5: \result == bias_at(made_biasing(b), distance);
*/
static double bias_of(struct cp_biasing b, double distance) {
    if (b.bias == NULL) {
        return 0.0;
    }
    double entry = b.own - distance, last = b.n - 1;
    size_t i = 0;
    if (entry >= last) {
        i = (size_t)b.n - 1;
    } else if (entry > 0.0) {
        i = (size_t)entry;
    }
    return cp_double_load(b.bias, b.begin + i);
}

/* SCORE-1, SCORE-2, SCORE-4, SCORE-5: changes the score of the j-th key. With scale 1, cap 2, slope
 * 1/2 and the first key 3 before the row, the score 4 of key 1 becomes
 * 2 tanh 2 + 1/2 (-3 + 1) = 0.928. */
/*@
  requires readable: biases_ready(how.bias);
  assigns \nothing;
  ensures score_4: \result == capped(how.cap, score) + product(how.slope, how.distance + j) +
    bias_at(made_biasing(how.bias), how.distance + j);
*/
static double changed(double score, struct cp_scoring how, int j) {
    double capped = how.cap == 0.0 ? score : how.cap * tanh(score / how.cap);
    return capped + how.slope * (how.distance + j) + bias_of(how.bias, how.distance + j);
}

/* SOFTMAX-1 for the row of k that begins at element `at`, of the j-th key (NUM-18); changed
 * (SCORE-4). */
/*@
  requires valid: \valid_read(q + (0 .. d - 1));
  requires size: 0 <= d;
  requires places: at + d <= 0x7FFFFFFFFFFFFFFF;
  requires readable: row_readable((void *)k, type, at, d);
  requires scale: 0 <= j && how.k.begin + j <= 0x7FFFFFFFFFFFFFFF && (how.k.scales != \null ==>
    float_readable(how.k.scales, scale_index(how.k, j)));
  requires score_5: biases_ready(how.bias);
  assigns \nothing;
  ensures score: \result == score_of(made_by(how), dot(q, (void *)k, type, at, d), j);
*/
static double score_row(const double *q, const void *k, int type, size_t at, int d,
                        struct cp_scoring how, int j) {
    double total = 0.0;
    /*@ loop invariant range: 0 <= i <= d;
        loop invariant total: total == dot(q, (void *)k, type, at, i);
        loop assigns i, total; loop variant d - i; */
    for (int i = 0; i < d; i++) {
        double k_i = cp_number_load(k, type, at + (size_t)i);
        /*@ assert next: dot(q, (void *)k, type, at, i + 1) == sum(total, product(q[i], k_i)); */
        total += q[i] * k_i;
    }
    return changed(how.scale * (scale_of(how.k, j) * total), how, j);
}

double cp_score(const double *q, const double *k, int d, double scale) {
    double total = 0.0;
    /*@ loop invariant range: 0 <= i <= d;
        loop invariant total: total == dot_of(q, k, i);
        loop assigns i, total; loop variant d - i; */
    for (int i = 0; i < d; i++) {
        //@ assert next: dot_of(q, k, i + 1) == dot_of(q, k, i) + product(q[i], k[i]);
        total += q[i] * k[i];
    }
    return scale * total;
}

void cp_state_empty(struct cp_state *state, double *o, int d) {
    state->m = 0.0;
    state->n = 0.0;
    /*@ loop invariant range: 0 <= i <= d;
        loop invariant zero: \forall integer j; 0 <= j < i ==> is_zero(o[j]);
        loop assigns i, o[0 .. d - 1]; loop variant d - i; */
    for (int i = 0; i < d; i++) {
        o[i] = 0.0;
    }
}

/* o += weight * (scale * v) for the row of v that begins at element `at`. */
/*@
  requires valid: \valid(o + (0 .. d - 1));
  requires size: 0 <= d;
  requires places: at + d <= 0x7FFFFFFFFFFFFFFF;
  requires readable: row_readable((void *)v, type, at, d);
  assigns o[0 .. d - 1];
  ensures gained: \forall integer i; 0 <= i < d ==>
    o[i] == sum(\old(o[i]), product(weight, product(scale, element((void *)v, type, at + i))));
*/
static void add_row(double *o, double weight, double scale, const void *v, int type, size_t at,
                    int d) {
    /*@ loop invariant range: 0 <= i <= d;
        loop invariant gained: gained_to{Pre,Here}(o, i, d, weight, scale, (void *)v, type, at);
        loop assigns i, o[0 .. d - 1]; loop variant d - i; */
    for (int i = 0; i < d; i++) {
        o[i] += weight * (scale * cp_number_load(v, type, at + (size_t)i));
    }
}

/* The names are Eqn 1's, for one row of Q: W -> score, M -> m, E -> weight.
 *
 *   1. all scores, and the largest of them, m;
 *   2. the weights exp(score - m), their sum n, and the sum o of the weighted values.
 *
 * Scores 0 and ln 2 of values 3 and 6 give m = ln 2, n = 1/2 + 1 = 1.5, o = 1/2 * 3 + 6 = 7.5. */
void cp_partial_attn_of(struct cp_state *state, double *o, const double *q, const void *k,
                        const void *v, int k_type, int v_type, size_t first, int n_keys, int d,
                        int d_v, int v_row, struct cp_scoring how) {
    double score[CP_MAX_CHUNK_SIZE];
    double m = 0.0;
    /*@ ghost int top = 0; */
    /*@ loop invariant range: 0 <= j <= n_keys;
        loop invariant scores: \forall integer t; 0 <= t < j ==>
          score[t] == score{Pre}(q, (void *)k, k_type, first, d, made_by(how), t) && score[t] <= m;
        loop invariant attained: (j == 0 && m == 0.0) || (0 <= top < j && score[top] == m);
        loop assigns j, m, top, score[0 .. CP_MAX_CHUNK_SIZE - 1]; loop variant n_keys - j; */
    for (int j = 0; j < n_keys; j++) {
        /*@ assert inside: row_at(first + j, d) + d <= row_at(first + n_keys, d); */
        size_t at = row_begin(first, j, d);
        score[j] = score_row(q, k, k_type, at, d, how, j);
        /*@ assert score: score[j] ==
              score{Pre}(q, (void *)k, k_type, first, d, made_by(how), j); */
        if (j == 0 || score[j] > m) {
            m = score[j];
            /*@ ghost top = j; */
        }
    }
    cp_state_empty(state, o, d_v);
    /*@ assert none: state->n == 0.0; */
    state->m = m;
    /*@ loop invariant range: 0 <= j <= n_keys;
        loop invariant m: state->m == m;
        loop invariant weight: scaled(state->n, m) ==
          weight_sum{Pre}(q, (void *)k, k_type, first, d, made_by(how), j);
        loop invariant sum: \forall integer i; 0 <= i < d_v ==> scaled(o[i], m) ==
          value_sum{Pre}(q, (void *)k, (void *)v, k_type, v_type, first, d, v_row,
            made_by(how), j, i);
        loop invariant none: j == 0 ==> state->n == 0.0 &&
          \forall integer i; 0 <= i < d_v ==> is_zero(o[i]);
        loop invariant positive: 0.0 <= state->n;
        loop invariant largest: \forall integer t; 0 <= t < j ==> score[t] == m ==> 1.0 <= state->n;
        loop assigns j, *state, o[0 .. d_v - 1]; loop variant n_keys - j; */
    for (int j = 0; j < n_keys; j++) {
        /*@ assert inside: row_at(first + j, v_row) + d_v <= row_at(first + n_keys, v_row); */
        size_t at = row_begin(first, j, v_row);
        double weight = rescale(score[j], m);
        state->n += weight;
        add_row(o, weight, scale_of(how.v, j), v, v_type, at, d_v);
    }
}

void cp_partial_attn(struct cp_state *state, double *o, const double *q, const void *k,
                     const void *v, int type, size_t first, int n_keys, int d, double scale) {
    struct cp_scoring how = {.scale = scale};
    cp_partial_attn_of(state, o, q, k, v, type, type, first, n_keys, d, d, d, how);
}

/*@
  requires valid: \valid(o + (0 .. d - 1)) && \valid_read(part_o + (0 .. d - 1));
  requires size: 0 <= d;
  requires apart: \separated(o + (0 .. d - 1), part_o + (0 .. d - 1));
  assigns o[0 .. d - 1];
  ensures copied: \forall integer i; 0 <= i < d ==> o[i] == part_o[i];
*/
static void copy_row(double *o, const double *part_o, int d) {
    /*@ loop invariant range: 0 <= i <= d;
        loop invariant copied: \forall integer j; 0 <= j < i ==> o[j] == part_o[j];
        loop assigns i, o[0 .. d - 1]; loop variant d - i; */
    for (int i = 0; i < d; i++) {
        o[i] = part_o[i];
    }
}

/* o = x * part_o + y * o */
/*@
  requires valid: \valid(o + (0 .. d - 1)) && \valid_read(part_o + (0 .. d - 1));
  requires size: 0 <= d;
  requires apart: \separated(o + (0 .. d - 1), part_o + (0 .. d - 1));
  assigns o[0 .. d - 1];
  ensures merged: \forall integer i; 0 <= i < d ==>
    o[i] == sum(product(x, part_o[i]), product(y, \old(o[i])));
*/
static void merge_row(double *o, const double *part_o, double x, double y, int d) {
    /*@ loop invariant range: 0 <= i <= d;
        loop invariant merged: added_to{Pre,Here}(o, part_o, x, y, i, d);
        loop assigns i, o[0 .. d - 1]; loop variant d - i; */
    for (int i = 0; i < d; i++) {
        /*@ assert o_i: x * part_o[i] + y * o[i] == sum(product(x, part_o[i]), product(y, o[i])); */
        o[i] = x * part_o[i] + y * o[i];
    }
}

/* The names are Eqn 2's: x and y bring the part and the state to the new maximum.
 *
 *   1. the empty state, known by n = 0, takes no part in the arithmetic: the other one is the
 *      result;
 *   2. m is the larger of the two maxima;
 *   3. x = exp(part's m - m), y = exp(state's m - m): one of them is 1;
 *   4. o and n are the sums, with these factors.
 *
 * Merging part (m, n, o) = (ln 4, 1, 12) into state (ln 2, 1.5, 7.5): m = ln 4, x = 1, y = 1/2,
 * then o = 12 + 3.75 = 15.75 and n = 1 + 0.75 = 1.75.
 *
 * By step 1 there is no maximum of no keys to go wrong. The papers start from m = 0, which
 * underflows when every score is low. A start from m = -inf gives -inf - -inf when two empty states
 * meet. */
void cp_attn_reduce(struct cp_state *state, double *o, const struct cp_state *part,
                    const double *part_o, int d) {
    if (part->n == 0.0) { /* 1 */
        //@ assert nothing: adds_nothing(*part, part_o, d);
        return;
    }
    if (state->n == 0.0) {
        //@ assert nothing_yet: adds_nothing(*state, o, d);
        *state = *part;
        copy_row(o, part_o, d);
        return;
    }
    double m = larger(part->m, state->m); /* 2 */
    double x = rescale(part->m, m);       /* 3 */
    double y = rescale(state->m, m);
    merge_row(o, part_o, x, y, d); /* 4 */
    state->n = x * part->n + y * state->n;
    state->m = m;
    /*@ assert merged: state->n == sum(product(x, part->n), product(y, \at(state->n, Pre))); */
}

double cp_finish(const struct cp_state *state, const double *o, double *out, int d) {
    if (state->n == 0.0) {
        /*@ loop invariant range: 0 <= i <= d;
            loop invariant zero: \forall integer j; 0 <= j < i ==> is_zero(out[j]);
            loop assigns i, out[0 .. d - 1]; loop variant d - i; */
        for (int i = 0; i < d; i++) {
            out[i] = 0.0;
        }
        return -INFINITY;
    }
    /*@ loop invariant range: 0 <= i <= d;
        loop invariant mean: \forall integer j; 0 <= j < i ==> is_mean(out[j], o[j], state->n);
        loop assigns i, out[0 .. d - 1]; loop variant d - i; */
    for (int i = 0; i < d; i++) {
        out[i] = o[i] / state->n;
    }
    double logarithm = log(state->n);
    /*@ assert law: e_of_sum(state->m, logarithm) == e(state->m) * state->n; */
    return state->m + logarithm;
}
