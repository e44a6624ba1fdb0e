/* SPDX-License-Identifier: Apache-2.0 */
/* The scores of a row, and how far they may be off (NUM-6, NUM-14): step 1 of the example at the
 * head of tolerance.c. */
#include <math.h>

#include "tolerance_row.h"

#define SHIFTED 0x1p-52 /* of a rounded sum: more than it is off */

struct score {
    double sum, magnitude; /* sum |q_i k_i|, rounded upwards */
};

/*@
  requires valid: \valid_read(q + (0 .. d - 1)) && \valid_read(key + (0 .. d - 1));
  requires size: 0 <= d <= CP_TOLERANCE_MOST;
  assigns \nothing;
  ensures num_6: \result.sum == dot_of(q, key, d);
  ensures num_6_size: 0.0 <= sizes_of(q, key, d) <= \result.magnitude;
*/
static struct score dot(const double *q, const double *key, int d) {
    double sum = 0.0, magnitude = 0.0;
    /*@ loop invariant range: 0 <= i <= d;
        loop invariant num_6: sum == dot_of(q, key, i);
        loop invariant num_6_size: 0.0 <= magnitude == sizes_of(q, key, i);
        loop assigns i, sum, magnitude; loop variant d - i; */
    for (int i = 0; i < d; i++) {
        //@ assert number: product(q[i], key[i]) == q[i] * key[i];
        sum += q[i] * key[i];
        magnitude += fabs(q[i] * key[i]);
    }
    return (struct score){sum, up_sum(magnitude, d + 4)};
}

/* A score, how far it may be off in the class, and how far it is off here. */
struct scored {
    double score, sigma, z;
};

/* NUM-6, NUM-14: of key j. The sum with the shift is rounded once. */
/*@
  requires valid: \valid_read(row);
  requires valid_row: row_valid(*row) && size_ok(*row) && shifts_ok(*row);
  requires key: 0 <= j < row->n_keys;
  requires ok: score_bound_ok(of_here) && score_bound_ok(of_class);
  assigns \nothing;
  ensures num_6: \result.score == score_of(*row, j);
  ensures num_6_sigma: score_error_of(of_class, *row, j) + further_of(*row, j) <= \result.sigma;
  ensures num_6_z: score_error_of(of_here, *row, j) + added_of(*row, j) <= \result.z;
  ensures not_negative: 0.0 <= \result.sigma && 0.0 <= \result.z;
  ensures num_6_size: 0.0 <= magnitude_of(*row, j);
*/
static struct scored score_key(const struct cp_tolerance_row *row, struct cp_score_bound of_here,
                               struct cp_score_bound of_class, int j) {
    /*@ assert inside: row_at(j, row->head_dim) + row->head_dim <=
          row_at(row->n_keys, row->head_dim); */
    const double *k = row->k + cp_tolerance_row_begin(j, row->head_dim);
    struct score product = dot(row->q, k, row->head_dim);
    double score = row->scale * product.sum;
    //@ assert scaled: score == product(row->scale, product.sum);
    double magnitude = up_times(product.magnitude, fabs(row->scale));
    /*@ assert magnitude: 0.0 <= product(
          sizes_of(row->q, row->k + row_at(j, row->head_dim), row->head_dim),
          size_of(row->scale, 0.0)) <= magnitude; */
    double z = cp_tolerance_of_score(of_here, magnitude);
    double sigma = cp_tolerance_of_score(of_class, magnitude);
    //@ assert sigma: 0.0 <= score_error_of(of_class, *row, j) <= sigma;
    //@ assert z: 0.0 <= score_error_of(of_here, *row, j) <= z;
    if (row->shift != NULL) {
        score += row->shift[j];
        sigma = up_plus(sigma, row->shift_error[j]);
        z = up_plus(z, up_times(SHIFTED, fabs(score)));
        //@ assert added: 0.0 <= added_of(*row, j);
    }
    return (struct scored){score, sigma, z};
}

void cp_tolerance_scores(const struct cp_tolerance_row *row, struct cp_score_bound of_here,
                         struct cp_score_bound of_class, struct cp_row_bounds *b) {
    double largest = -INFINITY, smallest = INFINITY;
    /*@ loop invariant range: 0 <= j <= row->n_keys;
        loop invariant not_negative: 0.0 <= b->largest_z && 0.0 <= b->slack;
        loop invariant scores: \forall integer t; 0 <= t < j ==>
          smallest <= row->scratch[t] <= largest;
        loop invariant errors: errors_until(row->scratch, row->n_keys, j, b->slack);
        loop invariant num_6: scores_until{Pre,Here}(of_class, *row, j);
        loop invariant num_6_z: none_beyond{Pre}(of_here, *row, j, b->largest_z);
        loop invariant num_6_size: \forall integer t; 0 <= t < j ==>
          0.0 <= magnitude_of{Pre}(*row, t);
        loop assigns j, largest, smallest, b->largest_z, b->slack,
          row->scratch[0 .. 2 * row->n_keys - 1]; loop variant row->n_keys - j; */
    for (int j = 0; j < row->n_keys; j++) {
        /*@ assert inside: row_at(j, row->head_dim) + row->head_dim <=
              row_at(row->n_keys, row->head_dim); */
        struct scored key = score_key(row, of_here, of_class, j);
        //@ assert same_q: same_numbers{Pre,Here}(row->q, row->head_dim);
        //@ assert same_k: same_numbers{Pre,Here}(row->k, row_at(row->n_keys, row->head_dim));
        /*@ ghost
          /@ loop invariant range: 0 <= i <= row->head_dim;
             loop invariant same: same_products{Pre,Here}(*row, j, i);
             loop assigns i; loop variant row->head_dim - i; @/
          for (int i = 0; i < row->head_dim; i++) {
          } */
        //@ assert score: key.score == score_of{Pre}(*row, j);
        /*@ assert sigma: score_error_of{Pre}(of_class, *row, j) + further_of{Pre}(*row, j) <=
              key.sigma; */
        //@ assert z: score_error_of{Pre}(of_here, *row, j) + added_of{Pre}(*row, j) <= key.z;
        //@ assert size: 0.0 <= magnitude_of{Pre}(*row, j);
        row->scratch[j] = key.score;
        row->scratch[row->n_keys + j] = key.sigma;
        //@ assert kept: errors_until(row->scratch, row->n_keys, j, b->slack);
        largest = fmax(largest, key.score);
        //@ assert larger: \at(largest, LoopCurrent) <= largest;
        smallest = fmin(smallest, key.score);
        //@ assert smaller: smallest <= \at(smallest, LoopCurrent);
        /*@ assert scores: \forall integer t; 0 <= t < j ==>
              smallest <= row->scratch[t] <= largest; */
        b->largest_z = fmax(b->largest_z, key.z);
        b->slack = fmax(b->slack, key.sigma);
    }
    b->top = largest;
    b->low = smallest;
}
