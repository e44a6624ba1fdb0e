/* SPDX-License-Identifier: Apache-2.0 */
/* Stages 8 and 9: the log-sum-exp by itself, and right results in a wrong place. */
#include <math.h>
#include <string.h>

#include "gate/explain/model.h"

#define LN_2    0.6931471805599453
#define TELLING 3 /* elements of a row that one factor must give: one of them says what it is */

static size_t first_of(const struct explain_model *x, int pair) {
    return (size_t)pair * (size_t)x->run->width;
}

/* ---- 8: the log-sum-exp ---- */

struct sums {
    double largest, log_of_sum;
};

/* Of the keys that are selected, or of all. */
static struct sums add_up(const struct explain_model *x, const struct explain_choice *c) {
    int all = c->lse.rule != LSE_OF_SELECTED;
    struct sums s = {-INFINITY, 0.0};
    double sum = 0.0;
    for (int j = 0; j < x->m; j++) {
        s.largest = all || explain_times(x, c, j) == 0 ? fmax(s.largest, x->score[j]) : s.largest;
    }
    for (int j = 0; j < x->m; j++) {
        sum += all || explain_times(x, c, j) == 0 ? exp(x->score[j] - s.largest) : 0.0;
    }
    s.log_of_sum = sum > 0.0 ? log(sum) : -INFINITY;
    return s;
}

/* The largest log-sum-exp of a part; NaN where there is one part. */
static double largest_part(const struct explain_model *x, const struct explain_choice *c) {
    int parts = explain_parts(x, &c->weight.parts);
    double *m = x->part[0], *sum = x->part[1], top = -INFINITY;
    for (int p = 0; p < parts; p++) {
        m[p] = -INFINITY;
        sum[p] = 0.0;
    }
    for (int j = 0; j < x->m; j++) {
        int p = explain_part_of(x, &c->weight.parts, j);
        m[p] = fmax(m[p], x->score[j]);
    }
    for (int j = 0; j < x->m; j++) {
        int p = explain_part_of(x, &c->weight.parts, j);
        sum[p] += exp(x->score[j] - m[p]);
    }
    for (int p = 0; p < parts; p++) {
        top = fmax(top, m[p] + log(sum[p]));
    }
    return parts > 1 ? top : NAN;
}

/* Of the first of some warps that take tiles in turn; the shared chunks, each as a whole, may be
 * taken in turn, too. */
static double largest_of_first_warp(const struct explain_model *x, const struct explain_choice *c) {
    int shared = c->weight.own ? x->shared : 0, tile = c->weight.parts.tile;
    double largest = -INFINITY;
    for (int j = 0; j < x->m; j++) {
        int turn = j < shared ? j / x->c : (j - shared) / tile;
        largest = turn % c->weight.parts.n == 0 ? fmax(largest, x->score[j]) : largest;
    }
    return largest;
}

double explain_other_lse(struct explain_model *x, const struct explain_choice *c) {
    double lse = x->run->expected[first_of(x, x->pair) + (size_t)x->d], top;
    double scale = x->run->problem.scale, factor = c->lse.factor;
    struct sums s = add_up(x, c);
    switch ((enum explain_lse)c->lse.rule) {
    case LSE_IN_BITS:
        return lse / LN_2;
    case LSE_TIMES_LN_2:
        return lse * LN_2;
    case LSE_LARGEST:
        return s.largest;
    case LSE_NOT_ADDED:
        return s.log_of_sum;
    case LSE_SUM:
        return exp(s.log_of_sum);
    case LSE_SIGN:
        return -lse;
    case LSE_NOT_SCALED:
        return lse / scale;
    case LSE_COUNT:
        return s.largest + log(x->n);
    case LSE_LARGEST_NOT_SCALED:
        return s.largest / scale + s.log_of_sum;
    case LSE_OF_SELECTED:
        return s.largest + s.log_of_sum;
    case LSE_LOG_IN_BITS:
    case LSE_LARGEST_IN_BITS:
        top = c->weight.parts.kind == PART_WHOLE ? s.largest : largest_part(x, c);
        return c->lse.rule == LSE_LOG_IN_BITS ? top + (lse - top) / LN_2 : top / LN_2 + (lse - top);
    case LSE_OF_FIRST_WARP:
        return largest_of_first_warp(x, c) + s.log_of_sum;
    case LSE_ROUNDED:
        return gate_round(c->lse.type, lse);
    case LSE_FACTOR:
        return factor * lse;
    case LSE_FACTOR_OF_LOG:
        return s.largest + factor * s.log_of_sum;
    case LSE_FACTOR_OF_LARGEST:
        return factor * s.largest + s.log_of_sum;
    default:
        return NAN;
    }
}

int explain_write_lse(struct explain_model *x, const struct explain_choice *c) {
    size_t at = first_of(x, x->pair) + (size_t)x->d;
    double lse = x->run->expected[at], bound = x->run->bound[at];
    double value = explain_other_lse(x, c);
    for (int i = 0; i < x->d; i++) {
        x->numbers.expected[i] = 0.0;
        x->numbers.bound[i] = INFINITY;
    }
    x->numbers.expected[x->d] = value;
    x->numbers.bound[x->d] = bound * fmax(1.0, fabs(value) / fmax(fabs(lse), 1.0));
    return isfinite(value) && (c->lse.rule >= LSE_FACTOR || fabs(value - lse) > bound);
}

/* The constant that makes it what the kernel gave; NaN: none can be told. */
double explain_factor(struct explain_model *x, int rule) {
    static const struct explain_choice right;
    size_t at = first_of(x, x->pair) + (size_t)x->d;
    double lse = x->run->expected[at], got = x->run->got[at];
    struct sums s = add_up(x, &right);
    double of = rule == LSE_FACTOR ? lse : rule == LSE_FACTOR_OF_LOG ? s.log_of_sum : s.largest;
    double factor = (got - (lse - of)) / of;
    return fabs(of) > 0.25 && fabs(factor - 1.0) < 0.1 ? factor : NAN;
}

/* ---- 8: any divisor ---- */

/* The kernel's row is attention's, times a factor: the one of the element that says most. */
int explain_write_scaled(struct explain_model *x) {
    const double *expected = x->run->expected + first_of(x, x->pair);
    const double *bound = x->run->bound + first_of(x, x->pair);
    const double *got = x->run->got + first_of(x, x->pair);
    int best = -1, telling = 0;
    for (int i = 0; i < x->d; i++) {
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
    for (int i = 0; i < x->d; i++) {
        x->numbers.expected[i] = factor * expected[i];
        x->numbers.bound[i] = bound[i] * fmax(1.0, 2.0 * fabs(factor));
    }
    x->numbers.expected[x->d] = 0.0;
    x->numbers.bound[x->d] = INFINITY;
    return 1;
}

/* ---- 9: where ---- */

/* The result of another row and head is right, in the wrong place. */
static int write_other(struct explain_model *x, const struct explain_choice *c) {
    const struct gate_problem *p = &x->run->problem;
    int h = p->recipe.n_heads, row = x->row + c->write.row, head = x->head + c->write.head;
    size_t bytes = (size_t)x->run->width * sizeof(double);
    if (c->write.rule == WRITE_TRANSPOSED) {
        row = (x->head * p->n_rows + x->row) / h;
        head = (x->head * p->n_rows + x->row) % h;
    }
    if (row < 0 || row >= p->n_rows || head < 0 || head >= h ||
        (row == x->row && head == x->head)) {
        return 0;
    }
    memcpy(x->numbers.expected, x->run->expected + first_of(x, row * h + head), bytes);
    memcpy(x->numbers.bound, x->run->bound + first_of(x, row * h + head), bytes);
    return 1;
}

static int source_of(const struct explain_model *x, const struct explain_choice *c, int i) {
    return c->write.rule == WRITE_SHIFTED  ? i + c->write.row
           : c->write.rule == WRITE_MODULO ? i % c->write.row
           : c->write.rule == WRITE_PAIRS  ? i ^ 1
           : c->write.rule == WRITE_HALVES ? (i + x->d / 2) % x->d
                                           : i;
}

int explain_write(struct explain_model *x, const struct explain_choice *c) {
    const double *expected = x->run->expected + first_of(x, x->pair);
    const double *bound = x->run->bound + first_of(x, x->pair);
    if (c->write.rule == WRITE_BY || c->write.rule == WRITE_TRANSPOSED) {
        return write_other(x, c);
    }
    for (int i = 0; i <= x->d; i++) {
        int from = source_of(x, c, i), is_there = i < x->d && from >= 0 && from < x->d;
        x->numbers.expected[i] = is_there ? expected[from] : 0.0;
        x->numbers.bound[i] = is_there ? bound[from] : INFINITY;
        if (c->write.rule == WRITE_ROUNDED && i < x->d) {
            x->numbers.expected[i] = gate_round(c->write.row, expected[i]);
        } else if (c->write.rule >= WRITE_ZERO) {
            int is_nan = c->write.rule == WRITE_NO_NUMBER;
            x->numbers.expected[i] = is_nan ? NAN : 0.0;
            x->numbers.bound[i] = i < x->d || is_nan ? 0.0 : INFINITY;
        }
    }
    return 1;
}
