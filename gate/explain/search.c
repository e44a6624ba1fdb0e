/* SPDX-License-Identifier: Apache-2.0 */
/* All mistakes of the tables, on the wrong numbers of the case and of cases like it. An odometer
 * walks the axes of each; a quick look at some numbers comes first, then the whole row; what gives
 * a wrong number is weighed by all of them. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/base/clock.h"
#include "gate/explain/explain.h"
#include "gate/judge/scores.h"

#define SAMPLES     3            /* rows and heads of a run that mistakes are looked for in */
#define MOST_WORK   6000000000LL /* key numbers that are looked at */
#define MOST_OF_ONE 24           /* reasons of one mistake in a row */
#define ONE_IN      10           /* wrong numbers: what gives fewer is not said */
#define NEAR        0x1p-5       /* of the largest element: more is no rounding */
/* A mistake gives a number that is so many times nearer to it than to attention: bounds are wide,
 * and errors may be small. */
#define NEARER       2.0
#define KEPT_SECONDS 0.35 /* part of the time that is kept for wider declarations */

int explain_is_over(const struct explain *x, double seconds_kept) {
    return (x->stop != NULL && *x->stop) || seconds_now() > x->until - seconds_kept;
}

/* ---- A choice ---- */

/* 1: the choice that was computed makes this number what the kernel gave. */
static int is_given(const struct explain_model *x, int i) {
    double expected = x->numbers.expected[i], bound = x->numbers.bound[i];
    double got = x->is.got[i], off = fabs(got - expected);
    int is_wrong = explain_is_wrong_number(&x->is, i);
    if (bound == EXPLAIN_NOTHING) { /* 0 / 0, perhaps; or what the kernel declares (CONV-2) */
        return got == expected || isnan(got) || (i == x->d_v && explain_is_empty_lse(x, got));
    }
    if (isnan(expected) || isnan(got)) {
        return isnan(expected) && isnan(got);
    }
    if (isinf(bound) || isnan(bound)) {
        return 0;
    }
    return got == expected ||
           (off <= bound && !(is_wrong && NEARER * off > fabs(got - x->is.expected[i])));
}

/* 1: it is what a row without keys has, or 0 / 0. */
static int is_of_none(const struct explain_model *x, int i) {
    double got = x->is.got[i];
    return isnan(got) || got == (i < x->d_v ? 0.0 : -INFINITY) ||
           (i == x->d_v && explain_is_empty_lse(x, got));
}

static int has_reason(const struct explain *x, const char *text) {
    for (int i = 0; i < x->n_reasons; i++) {
        if (strcmp(x->reason[i].text, text) == 0) {
            return 1;
        }
    }
    return 0;
}

/* A constant that is measured of this row. */
static int measure(struct explain_model *x, struct explain_choice *c) {
    if (c->lse.way < LSE_FACTOR) {
        return 1;
    }
    if (!explain_take_keys(x, c) || !explain_take_scores(x, c, 0)) {
        return 0;
    }
    c->lse.factor = explain_factor(x, c->lse.way);
    return !isnan(c->lse.factor);
}

/* On the pair that the model is at. Returns whether it is a reason: it gives half of what is wrong
 * there. */
static int try_one(struct explain *x, const struct explain_mistake *m, struct explain_choice *c,
                   int rank) {
    struct explain_model *model = &x->model;
    struct explain_reason *r = &x->reason[x->n_reasons];
    int given = 0, wrong = 0;
    if (x->n_reasons == EXPLAIN_REASONS || !measure(model, c) || !explain_might(model, c)) {
        return 0;
    }
    *r = (struct explain_reason){
        .choice = *c, .rank = rank, .gives = x->gives + (ptrdiff_t)x->n_reasons * x->n_wrong};
    explain_name(model, m, c, r->text, sizeof r->text);
    if (has_reason(x, r->text) || !explain_compute(model, c)) {
        return 0;
    }
    for (int i = 0; i <= model->d_v; i++) {
        int is_wrong = explain_is_wrong_number(&model->is, i);
        wrong += is_wrong;
        given += is_wrong && is_given(model, i);
    }
    x->n_reasons += 2 * given >= wrong;
    return 2 * given >= wrong;
}

/* What is left of the time is for weighing what was found, and for wider declarations. */
static int is_spent(const struct explain *x) {
    return x->model.work <= 0 || explain_is_over(x, x->kept);
}

/* The odometer: all values of all axes, the last one fastest, on the pair that the model is at. */
static void walk(struct explain *x, const struct explain_mistake *m) {
    struct explain_choice c = m->choice;
    int index[EXPLAIN_AXES + 1] = {0}, at = 0, found = 0, rank, kind;
    while (at >= 0 && !is_spent(x)) {
        if (at < EXPLAIN_AXES && m->axis[at].walk != NO_AXIS) {
            kind = c.parts.kind;
            if (explain_set_axis(&x->model, m, &c, at, index[at])) {
                found = m->axis[at].walk == WALK_WAYS || c.parts.kind != kind ? 0 : found;
                index[++at] = 0;
                continue;
            }
        } else if (found < MOST_OF_ONE) {
            rank = m->rank;
            for (int i = 0; i < at; i++) {
                rank += explain_cost(&m->axis[i], &c, index[i]);
            }
            found += try_one(x, m, &c, rank);
        }
        if (--at >= 0) {
            index[at]++;
        }
    }
}

/* ---- All tables ---- */

/* An element that is 0, infinite or no number: zeros may be a sum of weights that are all 0. */
static int has_no_number(const struct explain_model *x) {
    for (int i = 0; i < x->d_v; i++) {
        double got = x->is.got[i];
        if (!isfinite(got) || got == 0.0) {
            return 1;
        }
    }
    return 0;
}

static int is_near(const struct explain_model *x) {
    double off = 0.0, largest = 0.0;
    for (int i = 0; i < x->d_v; i++) {
        off = fmax(off, fabs(x->is.got[i] - x->is.expected[i]));
        largest = fmax(largest, fabs(x->is.expected[i]));
        if (!isfinite(x->is.got[i])) {
            return 0;
        }
    }
    return off <= NEAR * largest;
}

static int is_tried(const struct explain_model *x, enum explain_when when) {
    switch (when) {
    case WITH_KEYS:
        return x->n > 0;
    case WITH_QUERIES:
        return x->n > 0 && x->run->pairs > 1;
    case WITH_LSE:
        return x->n > 0 && !isnan(x->test.lse);
    case NOT_FINITE:
        return x->n > 0 && has_no_number(x);
    case NEARLY_RIGHT:
        return x->n > 0 && is_near(x);
    default:
        return 1;
    }
}

static void try_table(struct explain *x, const struct explain_table *table) {
    for (size_t i = 0; is_tried(&x->model, table->when) && i < table->n; i++) {
        walk(x, &table->mistake[i]);
    }
}

/* A table on the first wrong rows and heads of each run. 0: there was no time for all of these. */
static int try_samples(struct explain *x, const struct explain_table *table) {
    int of_run[EXPLAIN_RUNS] = {0};
    for (const struct explain_pair *at = x->pair; at < x->pair + x->n_pairs; at++) {
        if (at->begin == at->end || of_run[at->run]++ >= SAMPLES) {
            continue;
        }
        if (is_spent(x)) {
            return 0;
        }
        explain_go_to(&x->model, &x->run[at->run], at->pair);
        try_table(x, table);
    }
    return !is_spent(x);
}

/* ---- Of all wrong numbers ---- */

/* Numbers of the pair that are right, and would not be; where the bound is infinite, nothing is
 * said of a number that would be one. */
static int count_against(const struct explain_model *x) {
    int n = 0;
    for (int i = 0; i <= x->d_v; i++) {
        int is_claimed = isnan(x->numbers.expected[i]) || !isinf(x->numbers.bound[i]);
        n += x->is.rightness[i] == GATE_NUMBER_RIGHT && is_claimed && !is_given(x, i);
    }
    return n;
}

/* The numbers of the pair that the model is at. */
static void weigh_pair(struct explain *x, struct explain_reason *r, const struct explain_pair *at) {
    int given = 0, is_right = at->begin == at->end;
    int may = is_right ? ONE_IN * r->n >= x->n_wrong : explain_might(&x->model, &r->choice);
    if (!may || !explain_compute(&x->model, &r->choice)) {
        return;
    }
    for (int w = at->begin; w < at->end; w++) {
        int i = x->wrong[w].element;
        double off = fabs(x->wrong[w].got - x->model.numbers.expected[i]);
        if (is_given(&x->model, i)) {
            r->gives[w] = 1;
            r->of_none += is_of_none(&x->model, i);
            r->largest = fmax(r->largest, off > 0.0 ? off / x->model.numbers.bound[i] : 0.0);
            given++;
        } else {
            r->swallowed += isnan(x->model.numbers.expected[i]);
        }
    }
    int against = given > 0 || is_right ? count_against(&x->model) : 0;
    r->n += given;
    r->against += is_right ? 0 : against;
    r->refuted += is_right && against > 0;
}

/* A number that is there twice says nothing the second time. */
static int different(const struct explain *x, const unsigned char *gives) {
    int n = 0;
    for (int w = 0; w < x->n_wrong; w++) {
        int seen = !gives[w];
        for (int v = 0; v < w && !seen; v++) {
            double a = x->wrong[v].got, b = x->wrong[w].got;
            seen = gives[v] && (a == b || (isnan(a) && isnan(b)));
        }
        n += !seen;
    }
    return n;
}

/* All reasons on all pairs, one pair after the other: its keys and scores are taken once. Those
 * that are right come last, for what gives many wrong numbers. */
static void weigh_all(struct explain *x, double kept) {
    for (int n = 0; n < 2 * x->n_pairs; n++) {
        const struct explain_pair *at = &x->pair[n % x->n_pairs];
        if ((at->begin == at->end) != n / x->n_pairs) {
            continue;
        }
        explain_go_to(&x->model, &x->run[at->run], at->pair);
        for (int i = 0; i < x->n_reasons && !explain_is_over(x, kept); i++) {
            weigh_pair(x, &x->reason[i], at);
        }
    }
    for (int i = 0; i < x->n_reasons; i++) {
        x->reason[i].different = different(x, x->reason[i].gives);
    }
}

/* ---- Which numbers ---- */

/* A row and head; not one in which nothing is wrong but NaNs where no key is seen. */
static void add_pair(struct explain *x, int r, int pair, int is_wrong) {
    const struct explain_results is = explain_results(&x->run[r], pair);
    struct explain_pair *to = &x->pair[x->n_pairs];
    *to = (struct explain_pair){r, pair, x->n_wrong, x->n_wrong};
    for (int i = 0; i <= is.d; i++) {
        if (explain_is_wrong_number(&is, i) && !(is.sees == 0 && isnan(is.got[i]))) {
            x->wrong[to->end++] = (struct explain_number){r, pair, i, is.got[i]};
        }
    }
    x->n_wrong = to->end;
    x->n_right += !is_wrong;
    x->n_pairs += !is_wrong || to->end > to->begin;
}

/* At most so many rows and heads of a run, spread over all that are wrong, or right. */
static void choose(struct explain *x, int r, int are_wrong, int so_many) {
    const struct explain_run *run = &x->run[r];
    int n = are_wrong ? run->wrong_pairs : run->pairs - run->wrong_pairs, seen = 0;
    int step = (n + so_many - 1) / most(so_many, 1);
    for (int pair = 0; pair < run->pairs; pair++) {
        if (explain_is_wrong(run, pair) == are_wrong && seen++ % step == 0) {
            add_pair(x, r, pair, are_wrong);
        }
    }
}

int explain_search_new(struct explain *x) {
    for (int r = 0; r < x->n_runs; r++) {
        x->widest = most(x->widest, x->run[r].width - 1);
    }
    x->reason = malloc((EXPLAIN_REASONS + 1) * sizeof *x->reason);
    x->wrong = malloc((size_t)EXPLAIN_PAIRS * ((size_t)x->widest + 1) * sizeof *x->wrong);
    if (explain_model_new(&x->model, x->kernel, x->run, x->n_runs) != 0 || x->reason == NULL ||
        x->wrong == NULL) {
        return -1;
    }
    x->model.work = MOST_WORK;
    for (int r = 0; r < x->n_runs; r++) {
        choose(x, r, 1, r == 0 ? EXPLAIN_PAIRS / 2 : EXPLAIN_PAIRS / 2 / (x->n_runs - 1));
        choose(x, r, 0, EXPLAIN_PAIRS / x->n_runs);
    }
    x->gives = calloc(EXPLAIN_REASONS + 1, (size_t)x->n_wrong + 1);
    return x->gives != NULL ? 0 : -1;
}

const struct explain_table *const explain_tables[] = {explain_key_tables,
                                                      explain_run_tables,
                                                      explain_score_tables,
                                                      explain_result_tables,
                                                      explain_sum_tables,
                                                      explain_range_tables,
                                                      NULL};

/* Of which kinds a case is, with this kernel. */
static unsigned kinds_of(const struct gate_problem *p, const struct cp_kernel_class *class) {
    const struct gate_scores *scores = &p->scores;
    return (explain_is_path(p) ? OF_PATHS : OF_LISTS) |
           (p->rotation.keys != CP_KEYS_PLACED ? OF_ROTATED : 0U) |
           (scores->cap > 0.0 || gate_has_bias(scores) ? OF_CHANGED : 0U) |
           (scores->cap > 0.0 ? OF_CAPPED : 0U) | (scores->slopes != NULL ? OF_SLOPES : 0U) |
           (scores->biases != NULL ? OF_BIASES : 0U) |
           (p->cache.k_scale != NULL || p->cache.v_scale != NULL ? OF_CACHES : 0U) |
           (class->above + class->behind > 0.0 ? OF_LAZY : 0U) |
           (scores->sinks != NULL ? OF_SINKS : 0U);
}

void explain_search(struct explain *x) {
    unsigned kinds = kinds_of(&x->run[0].problem, &x->kernel->arithmetic);
    x->kept = KEPT_SECONDS * (x->until - seconds_now());
    for (int i = 0; explain_tables[i] != NULL; i++) {
        for (const struct explain_table *table = explain_tables[i]; table->name != NULL; table++) {
            if ((table->of & ~kinds) == 0 && !try_samples(x, table)) {
                x->untried[x->n_untried++] = table->name;
            }
        }
    }
    weigh_all(x, 0.5 * x->kept);
}
