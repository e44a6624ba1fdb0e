/* SPDX-License-Identifier: Apache-2.0 */
/* Stages 5 and 6: the query, and its scores with the keys that were taken. */
#include <math.h>
#include <string.h>

#include "gate/explain/model.h"

#define LOG2_E        1.4426950408889634
#define LN_2          0.6931471805599453
#define OVER_BINARY16 65520.0 /* from there on the nearest is infinity */
#define MOST_BINARY16 65504.0

/* ---- 5: the query ---- */

static int take_at(struct explain_model *x, long long at) {
    if (at < 0 || at + x->d > x->run->n_q) {
        x->outside = 1;
        return 0;
    }
    memcpy(x->q, x->run->q + at, (size_t)x->d * sizeof(double));
    return 1;
}

int explain_take_query(struct explain_model *x, int row, int head) {
    const struct gate_problem *p = &x->run->problem;
    if (row < 0 || head < 0 || row >= p->n_rows || head >= p->recipe.n_heads) {
        x->outside = 1;
        return 0;
    }
    return take_at(x, row * x->run->call.q_row + head * x->run->call.q_head);
}

/* Rows and heads of a group are taken some at a time, and counted within rows, or within the group,
 * from the first. */
static int take_from_tile(struct explain_model *x, const struct explain_choice *c) {
    const struct gate_problem *p = &x->run->problem;
    int begin = p->query_begin[x->s], rows = p->query_begin[x->s + 1] - begin;
    int group = p->recipe.n_heads / p->recipe.n_kv_heads, head = x->head - x->g * group;
    int row = x->row - begin;
    int number = (c->query.by_heads ? head * rows + row : row * group + head) % c->query.pairs;
    row = c->query.by_heads ? number % rows : row;
    head = c->query.by_heads ? head : number % group;
    return explain_take_query(x, begin + row, x->g * group + head);
}

static int take_query(struct explain_model *x, const struct explain_choice *c) {
    const struct gate_problem *p = &x->run->problem;
    int row = x->row, head = x->head, h = p->recipe.n_heads, begin = p->query_begin[x->s];
    switch ((enum explain_query)c->query.rule) {
    case QUERY_BY:
        row += c->query.row;
        head += c->query.head;
        break;
    case QUERY_TRANSPOSED:
        row = (x->head * p->n_rows + x->row) / h;
        head = (x->head * p->n_rows + x->row) % h;
        break;
    case QUERY_OF_SEQUENCE:
        row = x->s;
        break;
    case QUERY_FIRST_ROW:
        row = begin;
        break;
    case QUERY_LAST_ROW:
        row = p->query_begin[x->s + 1] - 1;
        break;
    case QUERY_IN_SEQUENCE:
        row -= begin;
        break;
    case QUERY_HEAD_WRAPS:
        head %= c->query.head > 0 ? c->query.head : 1;
        break;
    case QUERY_OF_KV_HEAD:
        head = x->g;
        break;
    case QUERY_FROM_TILE:
        return take_from_tile(x, c);
    case QUERY_PACKED:
        return take_at(x, ((long long)row * h + head) * x->d);
    case QUERY_STRIDES:
        return take_at(x, row * x->run->call.q_head + head * x->run->call.q_row);
    default:
        break;
    }
    return explain_take_query(x, row, head);
}

/* ---- 5: its elements ---- */

static int is_of_lanes(int rule) {
    return rule == ELEMENTS_BLOCKS || rule == ELEMENTS_RESTS || rule == ELEMENTS_BITS;
}

int explain_groups(const struct explain_model *x, const struct explain_choice *c) {
    int a = c->elements.a;
    switch (c->elements.rule) {
    case ELEMENTS_BLOCKS:
        return (x->d + a - 1) / a;
    case ELEMENTS_RESTS:
        return a;
    case ELEMENTS_BITS:
        return 2;
    default:
        break;
    }
    return c->weight.rule == SHUFFLED                                    ? 32 / c->weight.number
           : c->weight.rule == OWN_WARP || c->weight.rule == OWN_MAXIMUM ? c->weight.parts.n
                                                                         : 1;
}

int explain_group_of(const struct explain_model *x, const struct explain_choice *c, int i) {
    int a = c->elements.a, side = (x->d + 31) / 32;
    switch (c->elements.rule) {
    case ELEMENTS_BLOCKS:
        return i / a;
    case ELEMENTS_RESTS:
        return i % a;
    case ELEMENTS_BITS:
        return (i & a) != 0;
    default:
        break;
    }
    return c->weight.rule == SHUFFLED ? (c->weight.own ? i / side : i % 32) / c->weight.number
           : c->weight.rule == OWN_WARP || c->weight.rule == OWN_MAXIMUM
               ? i / 32 % c->weight.parts.n
               : 0;
}

/* How often element i of the query is counted. */
static double times_of(const struct explain_model *x, const struct explain_choice *c, int group,
                       int i) {
    int a = c->elements.a, is_one = 0;
    switch ((enum explain_elements)c->elements.rule) {
    case ELEMENTS_FROM_TO:
        is_one = a <= i && i < c->elements.b;
        break;
    case ELEMENTS_EVERY:
        is_one = i % a == c->elements.b;
        break;
    case ELEMENTS_LAST:
        is_one = i >= x->d - a;
        break;
    case ELEMENTS_BEHIND:
        is_one = (x->d >= a || c->elements.b) && i >= x->d / a * a;
        break;
    default:
        return is_of_lanes(c->elements.rule) ? explain_group_of(x, c, i) == group : 1.0;
    }
    return is_one ? 2.0 * c->elements.times : 1.0;
}

static int source_of(const struct explain_model *x, int rule, int i) {
    return rule == ELEMENTS_PAIRS    ? i ^ 1
           : rule == ELEMENTS_HALVES ? (i + x->d / 2) % x->d
                                     : x->d - 1 - i;
}

static void change_elements(struct explain_model *x, const struct explain_choice *c, int group) {
    int rule = c->elements.rule;
    double scale = rule == ELEMENTS_ROUNDED
                       ? 1.0
                       : x->run->problem.scale * (rule == ELEMENTS_SCALED_BITS ? LOG2_E : 1.0);
    if (rule >= ELEMENTS_PAIRS && rule <= ELEMENTS_BACKWARDS && x->d % 2 == 0) {
        memcpy(x->times, x->q, (size_t)x->d * sizeof(double));
        for (int i = 0; i < x->d; i++) {
            x->q[i] = x->times[source_of(x, rule, i)];
        }
    }
    for (int i = 0; i < x->d; i++) {
        if (rule >= ELEMENTS_ROUNDED && rule <= ELEMENTS_SCALED_BITS) {
            x->q[i] = gate_round(c->elements.a, x->q[i] * scale) / scale;
        }
        x->q[i] *= times_of(x, c, group, i);
    }
}

/* ---- 6: the score ---- */

static double d_of(const struct explain_model *x, const struct explain_choice *c) {
    int d = 1, by = c->score.by;
    switch ((enum explain_score)c->score.rule) {
    case SCORE_OF_POWER:
        while (d < x->d) {
            d *= 2;
        }
        return d;
    case SCORE_OF_MULTIPLE:
        return (double)by * ((x->d + by - 1) / by); // NOLINT(bugprone-integer-division): whole ones
    case SCORE_OF_CHUNK:
        return x->c;
    case SCORE_OF_HEADS:
        return (double)x->d * x->run->problem.recipe.n_heads;
    default:
        return by;
    }
}

double explain_scale(const struct explain_model *x, const struct explain_choice *c) {
    double scale = x->run->problem.scale;
    switch ((enum explain_score)c->score.rule) {
    case SCORE_UNSCALED:
        return 1.0 / scale;
    case SCORE_TWICE:
        return scale;
    case SCORE_LOG2_E:
        return LOG2_E;
    case SCORE_LN_2:
        return LN_2;
    case SCORE_ROOT_OF_D:
        return 1.0 / (sqrt(x->d) * scale);
    case SCORE_PART_OF_D:
        return 1.0 / (x->d * scale);
    case SCORE_ROOT_OF_SCALE:
        return 1.0 / sqrt(scale);
    case SCORE_TIMES:
        return c->score.by;
    case SCORE_OVER:
        return 1.0 / c->score.by;
    case SCORE_NEGATIVE:
        return -1.0;
    case SCORE_OF_D:
    case SCORE_OF_POWER:
    case SCORE_OF_MULTIPLE:
    case SCORE_OF_CHUNK:
    case SCORE_OF_HEADS:
        return 1.0 / (sqrt(d_of(x, c)) * scale);
    case SCORE_ROUNDED_SCALE:
        return gate_round(c->score.type, scale) / scale;
    case SCORE_ROUNDED_SCALE_BITS:
        return gate_round(c->score.type, scale * LOG2_E) / (scale * LOG2_E);
    default:
        return 1.0;
    }
}

/* What becomes of the score of key j. */
static double bend(const struct explain_model *x, const struct explain_choice *c, int j, double s) {
    double slope = exp2(-8.0 * (x->head + 1) / x->run->problem.recipe.n_heads), by = c->score.by;
    switch ((enum explain_score)c->score.rule) {
    case SCORE_ROUNDED:
        return gate_round(c->score.type, s);
    case SCORE_ROUNDED_BITS:
        return gate_round(c->score.type, s * LOG2_E) / LOG2_E;
    case SCORE_CAPPED:
        return by * tanh(s / by);
    case SCORE_AT_MOST:
        return fmin(s, by);
    case SCORE_MAGNITUDE:
        return fabs(s);
    case SCORE_NOT_BELOW_0:
        return fmax(s, 0.0);
    case SCORE_LESS_BY_DISTANCE:
        return s - slope * (x->m - 1 - j);
    case SCORE_MORE_BY_DISTANCE:
        return s + slope * (x->m - 1 - j);
    case SCORE_MORE_BY_POSITION:
        return s + slope * j;
    default:
        return s;
    }
}

/* The largest magnitude on the way to a score, with its sign: what binary16 may not hold. */
static double largest_on_the_way(const struct explain_model *x, const double *k) {
    double sum = 0.0, largest = 0.0;
    for (int i = 0; i < x->d; i++) {
        sum += x->q[i] * k[i];
        largest = fmax(largest, fmax(fabs(x->q[i] * k[i]), fabs(sum)));
    }
    return copysign(largest, sum);
}

/* A score of infinity is the maximum, and inf - inf no number; of -infinity it counts only where
 * all are. */
static void overflow(struct explain_model *x, const struct explain_choice *c) {
    int above = 0, below = 0;
    for (int j = 0; j < x->m; j++) {
        double s = c->score.rule == SCORE_OVERFLOWS ? x->score[j] : largest_on_the_way(x, x->k[j]);
        above += s >= OVER_BINARY16;
        below += s <= -OVER_BINARY16;
    }
    x->no_number |= above > 0 || below == x->m;
    x->lost = 1;
}

static double product(const struct explain_model *x, const struct explain_choice *c,
                      const double *k) {
    double sum = 0.0;
    for (int i = 0; i < x->d; i++) {
        double term = x->q[i] * k[i];
        sum += c->elements.rule == ELEMENTS_MAGNITUDES ? fabs(term) : term;
    }
    return sum;
}

/* 1: these scores are those of the pair's own keys and query. */
static int are_own(const struct explain_choice *c) {
    return c->sees.rule == SEES_OWN && c->path.whose == OWN_SEQUENCE && c->path.rule == PATH_OWN &&
           c->place.head == HEAD_OWN && c->place.rule == PLACE_OWN && c->query.rule == QUERY_OWN &&
           c->elements.rule == ELEMENTS_ALL;
}

/* Once for each pair, with their weights. */
static void keep_own(struct explain_model *x) {
    double largest = -INFINITY;
    memcpy(x->own_score, x->score, (size_t)x->m * sizeof(double));
    for (int j = 0; j < x->m; j++) {
        largest = fmax(largest, x->score[j]);
    }
    for (int j = 0; j < x->m; j++) {
        x->own_weight[j] = exp(x->score[j] - largest);
    }
    x->own_largest = largest;
    x->has_scores = 1;
}

static void take_products(struct explain_model *x, const struct explain_choice *c) {
    double scale = x->run->problem.scale;
    x->are_own = are_own(c) && c->score.rule == SCORE_OWN;
    if (are_own(c) && x->has_scores) {
        memcpy(x->score, x->own_score, (size_t)x->m * sizeof(double));
        return;
    }
    for (int j = 0; j < x->m; j++) {
        x->score[j] = scale * product(x, c, x->k[j]);
    }
    x->work -= (long long)x->m * x->d;
    if (are_own(c)) {
        keep_own(x);
    }
}

static int is_scaled(const struct explain_model *x, const struct explain_choice *c, int j) {
    return c->score.keys == ALL_KEYS || (c->score.keys == SHARED_KEYS) == (j < x->shared);
}

void explain_take_scores(struct explain_model *x, const struct explain_choice *c, int group) {
    if (!take_query(x, c)) {
        return;
    }
    if (c->elements.rule != ELEMENTS_ALL) {
        change_elements(x, c, group);
    }
    take_products(x, c);
    if (c->score.rule == SCORE_OVERFLOWS || c->score.rule == SCORE_PRODUCTS_OVERFLOW) {
        overflow(x, c);
    }
    double factor = explain_scale(x, c);
    for (int j = 0; j < x->m && c->score.rule != SCORE_OWN; j++) {
        x->score[j] *= is_scaled(x, c, j) ? factor : 1.0;
        x->score[j] += c->score.rule == SCORE_ADDED_UP && j > 0 ? x->score[j - 1] : 0.0;
        x->score[j] = bend(x, c, j, x->score[j]);
    }
}

double explain_score_of(const struct explain_model *x, int query, int j) {
    const struct gate_problem *p = &x->run->problem;
    const double *q = x->run->q + query / p->recipe.n_heads * x->run->call.q_row +
                      query % p->recipe.n_heads * x->run->call.q_head;
    double sum = 0.0;
    for (int i = 0; i < x->d; i++) {
        sum += q[i] * x->k[j][i];
    }
    return p->scale * sum;
}
