/* SPDX-License-Identifier: Apache-2.0 */
/* Stages 5 and 6: the query, and its scores with the keys that were taken. The functions declare
 * the variables of ways.h. */
#include <math.h>
#include <stddef.h>
#include <string.h>

#include "gate/explain/model.h"

/* ---- 5: elements of the query ---- */

struct element {
    int is_counted, from;
    double unit;
    int group;
};

static struct element element_of(const struct explain_model *x, const struct explain_choice *choice,
                                 int i) {
    int a = choice->elements.a, b = choice->elements.b, d = x->d;
    double scale = x->run->problem.scale;
    struct element got = {0};
    switch ((enum explain_elements)choice->elements.way) { EXPLAIN_ELEMENTS(EXPLAIN_GET) }
    return got;
}

/* Of the groups of elements that have scores or weights of their own: the one of element i. */
int explain_group_of(const struct explain_model *x, const struct explain_choice *choice, int i) {
    int side = (x->d_v + 31) / 32, lanes = choice->weight.lanes;
    if (choice->elements.way > ELEMENTS_MAGNITUDES) {
        return element_of(x, choice, i).group;
    }
    switch (choice->weight.way) {
    case SHUFFLED:
        return (choice->weight.side_by_side ? i / side : i % 32) / lanes;
    case MERGED:
        return choice->weight.merge < MERGE_OWN_FOR_ALL ? 0 : i / 32 % choice->parts.n;
    case OWN_MAXIMUM:
        return i / 32 % choice->parts.n;
    default:
        return 0;
    }
}

int explain_groups(const struct explain_model *x, const struct explain_choice *choice) {
    int n = 1;
    for (int i = 0; i < x->d_v; i++) {
        n = most(n, explain_group_of(x, choice, i) + 1);
    }
    return n;
}

/* Element i of a query as it is counted in the scores of x->group. */
static double take_element(const struct explain_model *x, const struct explain_choice *choice,
                           const double *query, int i) {
    struct element e = element_of(x, choice, i);
    double q = query[x->d % 2 == 0 ? e.from : i];
    double times = e.is_counted ? 2.0 * choice->elements.times : 1.0;
    int is_in_group = choice->elements.way <= ELEMENTS_MAGNITUDES || e.group == x->group;
    q = e.unit != 0.0 ? gate_round(choice->elements.a, q * e.unit) / e.unit : q;
    return q * (is_in_group ? times : 0.0);
}

/* ---- 5: the query ---- */

/* 0: there is none. */
static int take_query(struct explain_model *x, const struct explain_choice *choice) {
    const struct gate_problem *p = &x->run->problem;
    const struct explain_group at = explain_group(x, choice->query.by_heads);
    int s = x->s, g = x->g, h = p->recipe.n_heads, group = at.heads;
    int begin = p->query_begin[s], end = p->query_begin[s + 1], row = x->row, head = x->head;
    int across = head * p->n_rows + row, in_tile = at.number % most(choice->query.pairs, 1);
    int row_in_tile = choice->query.by_heads ? in_tile % at.rows : at.row;
    int head_in_tile = choice->query.by_heads ? at.head : in_tile % group;
    long long d = x->d, of_row = x->run->call.q_row, of_head = x->run->call.q_head;
    struct {
        int row, head;
        long long of_row, of_head;
    } got = {0};
    switch ((enum explain_query)choice->query.way) { EXPLAIN_QUERY(EXPLAIN_GET) }
    int is_there = got.row >= 0 && got.head >= 0 && got.row < p->n_rows && got.head < h;
    long long place = got.row * got.of_row + got.head * got.of_head;
    is_there = is_there && place >= 0 && place + x->d <= x->run->n_q;
    for (int i = 0; i < x->d && is_there; i++) {
        x->q[i] = take_element(x, choice, x->run->q + place, i);
    }
    return is_there;
}

/* ---- 6: the score ---- */

double explain_scale(const struct explain_model *x, const struct explain_choice *choice) {
    double scale = x->run->problem.scale, d = x->d, h = x->run->problem.recipe.n_heads;
    double by = choice->score.by;
    int type = choice->score.type;
    switch (choice->score.way) { EXPLAIN_SCALES(EXPLAIN_CASE) }
    return 1.0;
}

/* What becomes of score s of key j. */
static double bend(const struct explain_model *x, const struct explain_choice *choice, int j,
                   double s) {
    double slope = exp2(-8.0 * (x->head + 1) / x->run->problem.recipe.n_heads);
    double before = j > 0 ? x->score[j - 1] : 0.0, by = choice->score.by;
    int type = choice->score.type, distance = x->m - 1 - j;
    switch (choice->score.way) { EXPLAIN_BENDS(EXPLAIN_CASE) }
    return s;
}

double explain_largest_on_the_way(const struct explain_model *x, const double *k) {
    double sum = 0.0, largest = 0.0;
    for (int i = 0; i < x->d; i++) {
        sum += x->q[i] * k[i];
        largest = fmax(largest, fmax(fabs(x->q[i] * k[i]), fabs(sum)));
    }
    return copysign(largest, sum);
}

/* A score of infinity is the maximum, and inf - inf no number; of -infinity it counts only where
 * all are. */
static void overflow(struct explain_model *x, const struct explain_choice *choice) {
    int above = 0, below = 0;
    for (int j = 0; j < x->m; j++) {
        double s = choice->score.way == SCORE_OVERFLOWS
                       ? x->score[j]
                       : explain_largest_on_the_way(x, explain_key(x, j));
        above += s >= OVER_BINARY16;
        below += s <= -OVER_BINARY16;
    }
    x->no_number |= above > 0 || below == x->m;
    x->lost = 1;
}

static double product(const struct explain_model *x, int way, const double *k) {
    double sum = 0.0;
    for (int i = 0; i < x->d; i++) {
        double term = x->q[i] * k[i];
        sum += way == ELEMENTS_MAGNITUDES ? fabs(term) : term;
    }
    return sum;
}

double explain_largest(const double *score, int m) {
    double largest = -INFINITY;
    for (int j = 0; j < m; j++) {
        largest = fmax(largest, score[j]);
    }
    return largest;
}

/* And the weights that are right of them. */
static void take_scores(struct explain_model *x, const struct explain_choice *choice) {
    double factor = explain_scale(x, choice);
    explain_rotate_keys(x, choice);
    for (int j = 0; j < x->m; j++) {
        int is_scaled = explain_is_for(choice->score.keys, j < x->shared);
        double s = x->run->problem.scale * product(x, choice->elements.way, explain_key(x, j)) *
                   explain_dequantised(x, choice, 0, j);
        x->score[j] = explain_changed(x, choice, j, bend(x, choice, j, is_scaled ? factor * s : s));
    }
    x->m_right = explain_largest(x->score, x->m);
    for (int j = 0; j < x->m; j++) {
        x->weight[j] = exp(x->score[j] - x->m_right);
    }
    x->work -= (long long)x->m * x->d;
}

int explain_take_scores(struct explain_model *x, const struct explain_choice *choice, int group) {
    size_t stages = offsetof(struct explain_choice, sink);
    group = choice->elements.way > ELEMENTS_MAGNITUDES ? group : 0;
    if (!x->has_scores || x->group != group || memcmp(choice, &x->of_scores, stages) != 0) {
        x->of_scores = *choice;
        x->group = group;
        x->has_scores = take_query(x, choice);
        if (!x->has_scores) {
            return 0;
        }
        take_scores(x, choice);
    }
    if (choice->score.way >= SCORE_OVERFLOWS) {
        overflow(x, choice);
    }
    return 1;
}
