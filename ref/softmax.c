/* SPDX-License-Identifier: Apache-2.0 */
#include "chunkproof/softmax.h"

#include <math.h>

#include "chunkproof/limits.h"
#include "chunkproof/number.h"

/*@
  // Eqn 2 in one line: what x and y bring to the new maximum m adds up (MERGE-4).
  lemma merged_law: \forall real r, x, p, y, s, m, part_m, state_m;
    is_merged(r, x, p, y, s) ==> x * e(m) == e(part_m) ==> y * e(m) == e(state_m) ==>
    r * e(m) == s * e(state_m) + p * e(part_m);
*/

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
  ensures factor: \result * e(m) == e(x);
  ensures one: e(x) == e(m) ==> \result == 1.0;
*/
static double rescale(double x, double m) {
    /*@ assert law: e_of_sum(x - m, m) == e(x); */
    return exp(x - m);
}

/* SOFTMAX-1 for the row of k that begins at element `at`. */
static double score_row(const double *q, const void *k, int type, size_t at, int d, double scale) {
    double sum = 0.0;
    for (int i = 0; i < d; i++) {
        sum += q[i] * cp_number_load(k, type, at + (size_t)i);
    }
    return scale * sum;
}

double cp_score(const double *q, const double *k, int d, double scale) {
    return score_row(q, k, CP_FP64, 0, d, scale);
}

void cp_state_empty(struct cp_state *state, double *o, int d) {
    state->m = 0.0;
    state->n = 0.0;
    /*@
      loop invariant range: 0 <= i <= d;
      loop invariant zero: \forall integer j; 0 <= j < i ==> is_zero(o[j]);
      loop assigns i, o[0 .. d - 1];
      loop variant d - i;
    */
    for (int i = 0; i < d; i++) {
        o[i] = 0.0;
    }
}

static double largest(const double *score, int n) {
    double m = score[0];
    for (int j = 1; j < n; j++) {
        m = larger(m, score[j]);
    }
    return m;
}

/* o += weight * v for the row of v that begins at element `at`. */
static void add_row(double *o, double weight, const void *v, int type, size_t at, int d) {
    for (int i = 0; i < d; i++) {
        o[i] += weight * cp_number_load(v, type, at + (size_t)i);
    }
}

/* The names are Eqn 1's, for one row of Q: W -> score, M -> m, E -> weight. */
void cp_partial_attn(struct cp_state *state, double *o, const double *q, const void *k,
                     const void *v, int type, size_t first, int n_keys, int d, double scale) {
    double score[CP_MAX_CHUNK_SIZE];
    cp_state_empty(state, o, d);
    if (n_keys < 1) {
        return;
    }
    for (int j = 0; j < n_keys; j++) {
        score[j] = score_row(q, k, type, (first + (size_t)j) * (size_t)d, d, scale);
    }
    state->m = largest(score, n_keys);
    for (int j = 0; j < n_keys; j++) {
        double weight = rescale(score[j], state->m);
        state->n += weight;
        add_row(o, weight, v, type, (first + (size_t)j) * (size_t)d, d);
    }
}

/*@
  requires valid: \valid(o + (0 .. d - 1)) && \valid_read(part_o + (0 .. d - 1));
  requires size: 0 <= d;
  requires apart: \separated(o + (0 .. d - 1), part_o + (0 .. d - 1));
  assigns o[0 .. d - 1];
  ensures copied: \forall integer i; 0 <= i < d ==> o[i] == part_o[i];
*/
static void copy_row(double *o, const double *part_o, int d) {
    /*@
      loop invariant range: 0 <= i <= d;
      loop invariant copied: \forall integer j; 0 <= j < i ==> o[j] == part_o[j];
      loop assigns i, o[0 .. d - 1];
      loop variant d - i;
    */
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
    is_merged(o[i], x, part_o[i], y, \old(o[i]));
*/
static void merge_row(double *o, const double *part_o, double x, double y, int d) {
    /*@
      loop invariant range: 0 <= i <= d;
      loop invariant merged: \forall integer j; 0 <= j < i ==>
        is_merged(o[j], x, part_o[j], y, \at(o[j], Pre));
      loop invariant rest: \forall integer j; i <= j < d ==> o[j] == \at(o[j], Pre);
      loop assigns i, o[0 .. d - 1];
      loop variant d - i;
    */
    for (int i = 0; i < d; i++) {
        o[i] = x * part_o[i] + y * o[i];
    }
}

/* The names are Eqn 2's: x and y bring the part and the state to the new maximum. The empty state is
 * told by its n and takes no part in the arithmetic, so there is no maximum of no keys to go wrong:
 * the papers start from m = 0, which underflows when every score is low, and a start from m = -inf
 * gives -inf - -inf when two empty states meet. */
void cp_attn_reduce(struct cp_state *state, double *o, const struct cp_state *part,
                    const double *part_o, int d) {
    if (part->n == 0.0) {
        /*@ assert adds_nothing: state_weight(*part) == 0.0; */
        /*@ assert adds_nothing_o: \forall integer i; 0 <= i < d ==>
              state_sum(*part, part_o[i]) == 0.0; */
        return;
    }
    if (state->n == 0.0) {
        /*@ assert nothing_yet: state_weight(*state) == 0.0; */
        /*@ assert nothing_yet_o: \forall integer i; 0 <= i < d ==>
              state_sum(*state, o[i]) == 0.0; */
        *state = *part;
        copy_row(o, part_o, d);
        return;
    }
    double m = larger(part->m, state->m);
    double x = rescale(part->m, m);
    double y = rescale(state->m, m);
    merge_row(o, part_o, x, y, d);
    state->n = x * part->n + y * state->n;
    state->m = m;
    /*@ assert merged: is_merged(state->n, x, part->n, y, \at(state->n, Pre)); */
    /*@ assert weight: state_weight(*state) == \at(state_weight(*state), Pre) + state_weight(*part); */
    /*@ assert sum: \forall integer i; 0 <= i < d ==>
          state_sum(*state, o[i]) == state_sum(\at(*state, Pre), \at(o[i], Pre)) +
          state_sum(*part, part_o[i]); */
}

double cp_finish(const struct cp_state *state, const double *o, double *out, int d) {
    if (state->n == 0.0) {
        /*@
          loop invariant range: 0 <= i <= d;
          loop invariant zero: \forall integer j; 0 <= j < i ==> is_zero(out[j]);
          loop assigns i, out[0 .. d - 1];
          loop variant d - i;
        */
        for (int i = 0; i < d; i++) {
            out[i] = 0.0;
        }
        return -INFINITY;
    }
    /*@
      loop invariant range: 0 <= i <= d;
      loop invariant mean: \forall integer j; 0 <= j < i ==>
        is_mean(out[j], o[j], state->n);
      loop assigns i, out[0 .. d - 1];
      loop variant d - i;
    */
    for (int i = 0; i < d; i++) {
        out[i] = o[i] / state->n;
    }
    double logarithm = log(state->n);
    /*@ assert law: e_of_sum(state->m, logarithm) == e(state->m) * state->n; */
    return state->m + logarithm;
}
