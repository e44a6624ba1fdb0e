/* SPDX-License-Identifier: Apache-2.0 */
/* Stage 6, after the product: caps and biases (SCORE-1, SCORE-2); and the sink (SCORE-3). The
 * functions declare the variables of ways.h. */
#include <math.h>

#include "gate/case/scores.h"
#include "gate/explain/model.h"
#include "gate/judge/scores.h"

/* The slope of a head, or of the row's own where there is no such head; 0: there are none. */
static double slope_of_head(const struct explain_model *x, int head) {
    const struct gate_problem *p = &x->run->problem;
    head = head >= 0 && head < p->recipe.n_heads ? head : x->head;
    return p->scores.slopes != NULL ? (double)p->scores.slopes[head] : 0.0;
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

double explain_changed(const struct explain_model *x, const struct explain_choice *choice, int j,
                       double score) {
    const struct gate_problem *problem = &x->run->problem;
    double cap = problem->scores.cap, slope = slope_of(x->head), scale = problem->scale;
    int order = problem->scores.order, heads = problem->recipe.n_heads, by = choice->change.by;
    int group = heads / problem->recipe.n_kv_heads, is_last = order == CP_CAP_LAST;
    if (!(cap > 0.0) && !gate_has_bias(&problem->scores)) {
        return score;
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
    switch ((enum explain_change)choice->change.way) { EXPLAIN_CHANGES(EXPLAIN_CASE) }
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
