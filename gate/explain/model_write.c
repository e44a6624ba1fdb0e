/* SPDX-License-Identifier: Apache-2.0 */
/* Stages 8 and 9: the log-sum-exp by itself, and right results in a wrong place. The functions
 * declare the variables of ways.h. */
#include <limits.h>
#include <math.h>
#include <string.h>

#include "gate/explain/model.h"

#define NOT_ADDED INT_MIN /* 0: as if nothing had been added up */
#define TELLING   3 /* elements of a row that one factor must give: one of them says what it is */

/* ---- 8: the log-sum-exp ---- */

/* Of the keys that are selected, or of all: the logarithm of the sum of weights against the largest
 * score. */
static double log_of_sum(const struct explain_model *x, const struct explain_choice *choice,
                         double *largest) {
    int all = choice->lse.way != LSE_OF_SELECTED;
    double sum = 0.0;
    *largest = -INFINITY;
    for (int j = 0; j < x->m; j++) {
        int is_one = all || explain_times(x, choice, j) == 0;
        *largest = is_one ? fmax(*largest, x->score[j]) : *largest;
    }
    for (int j = 0; j < x->m; j++) {
        int is_one = all || explain_times(x, choice, j) == 0;
        sum += is_one ? exp(x->score[j] - *largest) : 0.0;
    }
    return sum > 0.0 ? log(sum) : -INFINITY;
}

/* Of the first of some warps that take tiles in turn; the shared chunks, each as a whole, may be
 * taken in turn, too. */
static double largest_of_first_warp(const struct explain_model *x, const struct explain_choice *c) {
    int shared = c->lse.shared_first ? x->shared : 0, tile = c->parts.tile;
    double largest = -INFINITY;
    for (int j = 0; j < x->m; j++) {
        int turn = j < shared ? explain_spot_of(x, j).run : (j - shared) / tile;
        largest = turn % c->parts.n == 0 ? fmax(largest, x->score[j]) : largest;
    }
    return largest;
}

/* Of scores that are in their place; NaN: it says nothing. */
static double other_lse(struct explain_model *x, const struct explain_choice *choice) {
    double lse = x->is.expected[x->d_v], largest, unit = x->run->lse_unit;
    double scale = x->run->problem.scale, factor = choice->lse.factor;
    double log_n = log_of_sum(x, choice, &largest), top = largest;
    if (choice->parts.kind != PART_WHOLE) {
        top = explain_take_parts(x, &choice->parts) > 1 ? x->top : NAN;
    }
    switch ((enum explain_lse)choice->lse.way) { EXPLAIN_LSE(EXPLAIN_CASE) }
    return NAN;
}

/* Attention's, in proportion where the log-sum-exp is larger. */
double explain_lse_bound(const struct explain_model *x, double lse) {
    return x->is.bound[x->d_v] * fmax(1.0, fabs(lse) / fmax(fabs(x->is.expected[x->d_v]), 1.0));
}

int explain_write_lse(struct explain_model *x, const struct explain_choice *c) {
    double lse = x->is.expected[x->d_v], value = other_lse(x, c);
    explain_say_number(x, x->d_v, value, explain_lse_bound(x, value));
    return isfinite(value) && (c->lse.way >= LSE_FACTOR || fabs(value - lse) > x->is.bound[x->d_v]);
}

double explain_factor(struct explain_model *x, int way) {
    static const struct explain_choice right;
    double lse = x->is.expected[x->d_v], got = x->is.got[x->d_v];
    double largest, log_n = log_of_sum(x, &right, &largest);
    double of = way == LSE_FACTOR ? lse : way == LSE_FACTOR_OF_LOG ? log_n : largest;
    double factor = (got - (lse - of)) / of;
    return fabs(of) > 0.25 && fabs(factor - 1.0) < 0.1 ? factor : NAN;
}

/* ---- 9: where ---- */

/* The kernel's row is attention's, times a factor: the one of the element that says most. */
static int write_scaled(struct explain_model *x) {
    const double *expected = x->is.expected, *bound = x->is.bound, *got = x->is.got;
    int best = -1, telling = 0;
    for (int i = 0; i < x->d_v; i++) {
        double says = bound[i] > 0.0 ? fabs(expected[i]) / bound[i] : 0.0;
        telling += says > 1.0;
        if (says > 1.0 && (best < 0 || says * bound[best] > fabs(expected[best]))) {
            best = i;
        }
    }
    if (telling < TELLING || !isfinite(got[best] / expected[best])) {
        return 0;
    }
    double factor = got[best] / expected[best];
    for (int i = 0; i < x->d_v; i++) {
        explain_say_number(x, i, factor * expected[i], bound[i] * fmax(1.0, 2.0 * fabs(factor)));
    }
    return 1;
}

/* The result of another row and head is right, in the wrong place. 0: it is none. */
static int write_other(struct explain_model *x, const struct explain_choice *choice) {
    const struct gate_problem *p = &x->run->problem;
    int h = p->recipe.n_heads, across = x->head * p->n_rows + x->row;
    int is_across = choice->write.way == WRITE_TRANSPOSED;
    int row = is_across ? across / h : x->row + choice->write.row;
    int head = is_across ? across % h : x->head + choice->write.head;
    if (row < 0 || row >= p->n_rows || head < 0 || head >= h || row * h + head == x->pair) {
        return 0;
    }
    const struct explain_results other = explain_results(x->run, row * h + head);
    for (int i = 0; i <= x->d_v; i++) {
        explain_say_number(x, i, other.expected[i], other.bound[i]);
    }
    return 1;
}

static int source_of(const struct explain_model *x, const struct explain_choice *choice, int i) {
    int d = x->d_v, by = choice->write.by;
    switch ((enum explain_write)choice->write.way) { EXPLAIN_WRITES(EXPLAIN_CASE) }
    return i;
}

int explain_write(struct explain_model *x, const struct explain_choice *choice) {
    const double *expected = x->is.expected, *bound = x->is.bound;
    int way = choice->write.way;
    if (way == WRITE_BY || way == WRITE_TRANSPOSED) {
        return write_other(x, choice);
    }
    if (way == WRITE_SCALED) {
        return write_scaled(x);
    }
    for (int i = 0; i <= x->d_v; i++) {
        int from = source_of(x, choice, i), is_there = i < x->d_v && from >= 0 && from < x->d_v;
        if (way == WRITE_NO_NUMBER) {
            explain_say_number(x, i, NAN, 0.0);
        } else if (i < x->d_v && (way == WRITE_ZERO || from == NOT_ADDED)) {
            explain_say_number(x, i, 0.0, 0.0);
        } else if (is_there && way == WRITE_ROUNDED) {
            explain_say_number(x, i, gate_round(choice->write.by, expected[i]), bound[i]);
        } else if (is_there) {
            explain_say_number(x, i, expected[from], bound[from]);
        }
    }
    return 1;
}
