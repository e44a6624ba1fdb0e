/* SPDX-License-Identifier: Apache-2.0 */
/* Stage 6, after the product: caps and biases (SCORE-1, SCORE-2, SCORE-5); and the sink (SCORE-3).
 * The functions declare the variables of ways.h and ways_biases.h. */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>

#include "gate/case/scores.h"
#include "gate/explain/model.h"
#include "gate/judge/scores.h"

/* The slope of a head, or of the row's own where there is no such head; 0: there are none. */
static double slope_of_head(const struct explain_model *x, int head) {
    const struct gate_problem *p = &x->run->problem;
    head = head >= 0 && head < p->recipe.n_heads ? head : x->head;
    return p->scores.slopes != NULL ? (double)p->scores.slopes[head] : 0.0;
}

/* Number `at` of the table, which is all heads' together; 0: it has no such number. */
static double bias_at(const struct explain_model *x, long long at) {
    const struct gate_problem *p = &x->run->problem;
    long long all = (long long)p->recipe.n_heads * p->scores.n_biases;
    return at >= 0 && at < all ? (double)p->scores.biases[at] : 0.0;
}

/* An entry of a head, or of the row's own where there is no such head; held between the ends. */
static double entry_of_head(const struct explain_model *x, int head, int i) {
    const struct gate_problem *p = &x->run->problem;
    int n = p->scores.n_biases;
    head = head >= 0 && head < p->recipe.n_heads ? head : x->head;
    return bias_at(x, (long long)head * n + (i < 0 ? 0 : i >= n ? n - 1 : i));
}

static double sink_of_head(const struct explain_model *x, int head) {
    const struct gate_problem *p = &x->run->problem;
    head = head >= 0 && head < p->recipe.n_heads ? head : x->head;
    return p->scores.sinks != NULL ? (double)p->scores.sinks[head] : -INFINITY;
}

/* WINDOW-1, MASK-1: key j of those that were taken is none that the row sees. */
static int is_masked(const struct explain_model *x, int j) {
    struct gate_seen seen = gate_seen(&x->run->problem, x->row);
    int number = explain_key_number(x, j);
    return number >= seen.end || (number >= seen.hidden && number < seen.shown) ||
           !gate_is_left(&x->run->problem, x->row,
                         gate_position_of(&x->run->problem, x->s, number));
}

static int position_of(const struct explain_model *x, int j) {
    struct explain_spot at = explain_spot_of(x, j);
    return at.begins + at.slot;
}

double explain_distance(const struct explain_model *x, int j) {
    const struct gate_problem *p = &x->run->problem;
    return gate_bias_distance(&p->scores, position_of(x, j), p->position[x->row]);
}

#define change(bias)   gate_change_score(cap, order, score, bias)
#define slope_of(head) slope_of_head(x, head)
#define sink_of(head)  sink_of_head(x, head)
#define table(head, i) entry_of_head(x, head, i)
#define entry(i)       entry_of_head(x, x->head, i)

/* By the ways of a table alone. */
static double changed_by_table(const struct explain_model *x, const struct explain_choice *choice,
                               int j, double score) {
    const struct gate_problem *problem = &x->run->problem;
    struct explain_spot spot = explain_spot_of(x, j);
    double cap = problem->scores.cap;
    int order = problem->scores.order, heads = problem->recipe.n_heads, by = choice->change.by;
    int group = heads / problem->recipe.n_kv_heads, n = problem->scores.n_biases;
    int own = problem->scores.own_bias, slot = spot.slot, t = spot.begins + slot;
    int p = problem->position[x->row], first = problem->query_begin[x->s];
    int start = problem->position[first];
    int last = problem->position[problem->query_begin[x->s + 1] - 1], query = x->row - first;
    int end = gate_positions(problem, x->s) - 1, number = explain_key_number(x, j);
    int i = own + p - t, held = i < 0 ? 0 : i >= n ? n - 1 : i, wrapped = (i % n + n) % n;
    switch (choice->change.way) { EXPLAIN_BIASES(EXPLAIN_CASE) }
    return score;
}

double explain_changed(const struct explain_model *x, const struct explain_choice *choice, int j,
                       double score) {
    const struct gate_problem *problem = &x->run->problem;
    double cap = problem->scores.cap, slope = slope_of(x->head), scale = problem->scale;
    int order = problem->scores.order, heads = problem->recipe.n_heads, by = choice->change.by;
    int group = heads / problem->recipe.n_kv_heads, is_last = order == CP_CAP_LAST;
    if (!(cap > 0.0) && !gate_has_bias(&problem->scores)) {
        return score;
    }
    if (choice->change.way >= BIAS_REVERSED) {
        return problem->scores.biases != NULL ? changed_by_table(x, choice, j, score) : score;
    }
    double t = position_of(x, j), p = problem->position[x->row], slot = explain_spot_of(x, j).slot;
    double last = problem->position[problem->query_begin[x->s + 1] - 1];
    double end = gate_positions(problem, x->s) - 1, distance = explain_distance(x, j);
    double bias = gate_bias_of(&problem->scores, x->head, distance);
    double s = is_last ? score + bias : score, rest = is_last ? 0.0 : bias;
    double other_order = gate_change_score(cap, is_last ? CP_CAP_FIRST : CP_CAP_LAST, score, bias);
    if (!(cap > 0.0) && choice->change.way < CHANGE_NO_BIAS) {
        return score + bias;
    }
    switch (choice->change.way) { EXPLAIN_CHANGES(EXPLAIN_CASE) }
    return score;
}

double explain_sink(const struct explain_model *x, const struct explain_choice *choice, int sums) {
    const struct gate_problem *p = &x->run->problem;
    double sink = sink_of(x->head), cap = p->scores.cap, scale = p->scale;
    double m = x->m > 0 ? x->m_right : sink, top = fmax(m, sink), by = choice->sink.by;
    int group = p->recipe.n_heads / p->recipe.n_kv_heads, runs = most(gate_runs(p, x->s), 1);
    int chunks = most((x->n + x->c - 1) / x->c, 1);
    if (p->scores.sinks == NULL || (choice->sink.sums != IN_BOTH && choice->sink.sums != sums)) {
        return sink;
    }
    switch ((enum explain_sink)choice->sink.way) { EXPLAIN_SINKS(EXPLAIN_CASE) }
    return sink;
}
