/* SPDX-License-Identifier: Apache-2.0 */
/* GATE-14: keys that are rotated when they are read, and the table by which they are. */
#ifndef CHUNKPROOF_GATE_CASE_ROTATION_H
#define CHUNKPROOF_GATE_CASE_ROTATION_H

#include "gate/case/problem.h"

/* Gives a recipe what kernels with rotated keys see: now and then a part of each head alone is
 * rotated, and a module is the text of the one before it. attempt: as of gate_recipe_make(). */
void gate_recipe_rotate(struct gate_recipe *recipe, int attempt, const struct gate_shape *shape);

/* Makes the table of a problem whose lists are there; none where keys are placed. The caller frees
 * it. 0, or -1: no memory. */
int gate_rotation_new(struct gate_problem *problem);

/* Counts the rows of the table that a call needs, after runs have grown. */
void gate_rotation_count(struct gate_problem *problem);

/* How many numbers of a head are rotated, of the sizes and the kernel that a problem has. */
int gate_rotary_dim(const struct gate_problem *problem);

/* 1: the table has quarter turns, so that K can hold a chosen key, turned back. */
int gate_has_quarter_turns(enum gate_values values);

/* What cosines and sines are multiplied by: 1, or a little more. */
double gate_rotation_length(const struct gate_problem *problem);

/* The row of the table by which key j of a sequence is rotated; 0 where keys are placed. */
int gate_angle_of(const struct gate_problem *problem, int sequence, int j);

/* The two numbers of a pair, and row `angle` of the table for it. */
struct gate_pair {
    int x, y;
    double c, s;
};
struct gate_pair gate_pair_of(const struct gate_rotation *rotation, int angle, int pair);

/* Its two numbers alone: c and s are 0. */
struct gate_pair gate_numbers_of_pair(const struct gate_rotation *rotation, int pair);

/* The head x of d numbers, rotated; and turned back by a quarter turn. */
void gate_rotate(const struct gate_rotation *rotation, int angle, double *x);
void gate_rotate_back(const struct gate_rotation *rotation, int angle, double *x);

/* GATE-14: the score as a sum of products, of which a key and a query have one number each:
 *
 *     of a rotated number     c k_x, -s k_y        and    q_x, q_x
 *     of another one          k_z                  and    q_z
 *
 * gate_n_terms() is how many there are for heads of d numbers: d where keys are placed. */
int gate_n_terms(const struct gate_rotation *rotation, int d);
void gate_key_terms(const struct gate_rotation *rotation, int angle, int d, const double *k,
                    double *terms);
void gate_query_terms(const struct gate_rotation *rotation, int d, const double *q, double *terms);

#endif
