/* SPDX-License-Identifier: Apache-2.0 */
/* The stages one after the other, and the numbers that come of them. What is another problem (other
 * keys, another query or scale) has a certificate of its own. Nothing is certified of a wrong sum:
 * it is allowed what attention is, in proportion to its size, and the rounding of the output. */
#include "gate/explain/model.h"
#include "gate/case/rotation.h"
#include "gate/judge/scores.h"

#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#define NEARER                                                                                     \
    4.0 /* times nearer to the kernel's number than attention, for no bound is certified */
#define MANY_BOUNDS 16.0 /* within so many, and this part of it, a number might be given */
#define ROUGHLY     2e-3

/* ---- Room ---- */

/* clang-format off */

/* Arrays, with so many numbers of each key, and of which elements. */
enum elements { NO_ELEMENT, EACH_ELEMENT, EACH_PRODUCT, EACH_ROTATED };

#define OF(field) ((struct explain_model *)0)->field
#define A(field, keys, element) \
    {offsetof(struct explain_model, field), keys, element, sizeof *OF(field)}
static const struct {
    size_t at, keys;
    enum elements element;
    size_t size;
} arrays[] = {
    A(k, 1, NO_ELEMENT), A(v, 1, NO_ELEMENT), A(place, 1, NO_ELEMENT), A(taken, 1, NO_ELEMENT),
    A(part_of, 1, NO_ELEMENT), A(part, 1, NO_ELEMENT), A(score, 1, NO_ELEMENT),
    A(weight, 1, NO_ELEMENT), A(of_n, 1, NO_ELEMENT), A(of_o, 1, NO_ELEMENT),
    A(scratch, 3, NO_ELEMENT), A(shift, 1, NO_ELEMENT), A(shift_error, 1, NO_ELEMENT),
    A(q, 0, EACH_ELEMENT), A(o, 0, EACH_ELEMENT), A(size, 0, EACH_ELEMENT),
    A(right, 0, EACH_ELEMENT), A(all, 0, EACH_ELEMENT),
    A(numbers.expected, 0, EACH_PRODUCT), A(numbers.bound, 0, EACH_PRODUCT),
    A(usual, 0, EACH_PRODUCT), A(q_terms, 0, EACH_PRODUCT),
    A(flat_k, 1, EACH_PRODUCT), A(flat_v, 1, EACH_PRODUCT),
    A(rotated, 1, EACH_ROTATED),
};

/* clang-format on */

/* The keys of a sequence, and where chunks may be partial anywhere, the slots of these. */
static int keys_of(const struct gate_problem *p, int s) {
    return p->plan == CP_PLANS_TREES ? p->n_tokens[s] : gate_runs(p, s) * p->recipe.chunk_size;
}

/* The keys that a row sees in shared chunks, or in runs of descriptors: they come first. */
static int seen_in_shared(const struct gate_problem *p, int row, int s) {
    int n = 0;
    for (int k = 0; k < p->n_shared_chunks[s]; k++) {
        n += gate_visible_in(p, row, k);
    }
    return n;
}

/* For two of each key, and for the slots of a chunk behind the last one. */
int explain_model_new(struct explain_model *x, const struct cp_kernel *kernel,
                      const struct explain_run *runs, int n_runs) {
    int d = 1, c = 0, n = 0, rotated = 0, missing = 0;
    for (int i = 0; i < n_runs; i++) {
        const struct gate_problem *p = &runs[i].problem;
        d = most(d, most(p->recipe.head_dim, p->value_dim));
        c = most(c, p->recipe.chunk_size);
        rotated = most(rotated, p->rotation.dim);
        for (int s = 0; s < p->b; s++) {
            n = most(n, keys_of(p, s));
        }
    }
    *x = (struct explain_model){.kernel = kernel, .room = 2 * n + c + 40};
    for (size_t i = 0; i < sizeof arrays / sizeof arrays[0]; i++) {
        size_t of_keys = arrays[i].keys > 0 ? arrays[i].keys * (size_t)x->room : 1;
        size_t of_row[] = {1, (size_t)d + 1, (size_t)(d + rotated) + 1,
                           rotated > 0 ? (size_t)d + 1 : 1};
        void *array = malloc(of_keys * of_row[arrays[i].element] * arrays[i].size);
        memcpy((char *)x + arrays[i].at, (void *)&array, sizeof array);
        missing |= array == NULL;
    }
    return missing ? -1 : 0;
}

void explain_model_free(struct explain_model *x) {
    for (size_t i = 0; i < sizeof arrays / sizeof arrays[0]; i++) {
        void *array;
        memcpy((void *)&array, (char *)x + arrays[i].at, sizeof array);
        free(array);
    }
}

/* Some wrong elements that are numbers, from all over the row. */
static void choose_tests(struct explain_model *x) {
    const double *got = x->is.got;
    int wrong = 0, seen = 0;
    x->test.n = 0;
    for (int i = 0; i < x->d_v; i++) {
        x->all[i] = i;
        wrong += explain_is_wrong_number(&x->is, i) && isfinite(got[i]);
    }
    for (int i = 0; i < x->d_v && x->test.n < EXPLAIN_TESTED; i++) {
        if (explain_is_wrong_number(&x->is, i) && isfinite(got[i]) &&
            seen++ * (EXPLAIN_TESTED - 1) >= x->test.n * (wrong - 1)) {
            x->test.element[x->test.n++] = i;
        }
    }
    int is_tested = explain_is_wrong_number(&x->is, x->d_v) && isfinite(got[x->d_v]);
    x->test.lse = is_tested ? got[x->d_v] : NAN;
}

void explain_go_to(struct explain_model *x, const struct explain_run *run, int pair) {
    const struct gate_problem *p = &run->problem;
    struct cp_arithmetic arithmetic;
    struct cp_counts counts;
    x->run = run;
    x->is = explain_results(run, pair);
    x->pair = pair;
    x->row = pair / p->recipe.n_heads;
    x->head = pair % p->recipe.n_heads;
    x->s = gate_sequence_of(p, x->row);
    x->g = x->head / (p->recipe.n_heads / p->recipe.n_kv_heads);
    x->n = x->is.sees;
    x->d = p->recipe.head_dim;
    x->d_v = p->value_dim;
    x->c = p->recipe.chunk_size;
    x->shared = seen_in_shared(p, x->row, x->s);
    x->has_scores = x->has_keys = 0;
    gate_class(x->kernel, &p->recipe, x->n, 0.0, &arithmetic, &counts);
    x->unit = arithmetic.output.unit;
    choose_tests(x);
}

/* ---- Another problem ---- */

static void say_all(struct explain_model *x, double out, double lse, double bound) {
    for (int i = 0; i <= x->d_v; i++) {
        explain_say_number(x, i, i < x->d_v ? out : lse, bound);
    }
}

/* Of none, or not of whole keys: no certificate. */
static int has_certificate(const struct explain_choice *c) {
    return c->weight.way == WEIGHT_OWN && c->divide.way == DIVIDES &&
           c->score.way < SCORE_ADDED_UP && c->elements.way < ELEMENTS_MAGNITUDES &&
           c->sink.way == SINK_OWN && (c->select.which == SELECT_NONE || c->select.sums == IN_BOTH);
}

/* The keys that are counted, *n of them, behind a row of zeros. 1: all their numbers are some. */
static int copy_keys(struct explain_model *x, const struct explain_choice *c, int *n) {
    const struct gate_rotation *rotation = &x->run->problem.rotation;
    size_t d_v = (size_t)x->d_v, w = (size_t)gate_n_terms(rotation, x->d);
    int finite = 1;
    for (int i = 0; i < x->d; i++) {
        finite &= isfinite(x->q[i]) != 0;
    }
    *n = 0;
    memset(x->flat_k, 0, w * sizeof *x->flat_k);
    memset(x->flat_v, 0, d_v * sizeof *x->flat_v);
    for (int j = 0; j < x->m; j++) {
        int part = j < x->shared ? SHARED_KEYS : OWN_KEYS;
        double factor = c->score.keys == part ? explain_scale(x, c) : 1.0;
        double of_v = explain_dequantised(x, c, 1, j);
        factor *= explain_dequantised(x, c, 0, j);
        for (int times = explain_times(x, c, j); times > 0; times--, ++*n) {
            double *k = x->flat_k + ((size_t)*n + 1) * w, *v = x->flat_v + ((size_t)*n + 1) * d_v;
            explain_terms(x, c, j, k);
            for (size_t i = 0; i < w; i++) {
                k[i] = factor * k[i];
                finite &= isfinite(k[i]) != 0;
            }
            for (size_t i = 0; i < d_v; i++) {
                v[i] = of_v * x->v[j][i];
                finite &= isfinite(v[i]) != 0;
            }
        }
    }
    return finite;
}

/* CONV-9: 1: the log-sum-exp is without the sink. */
static int is_beside_lse(const struct explain_model *x, const struct explain_choice *c) {
    int is_beside = x->kernel->conventions.sink == CP_SINK_BESIDE_LSE;
    return c->sink.way == SINK_IN_OTHER_LSE ? !is_beside : is_beside;
}

int explain_is_empty_lse(const struct explain_model *x, double lse) {
    const struct cp_kernel *k = x->kernel;
    double value =
        gate_round(k->lse_type == CP_FP64 ? CP_FP64 : CP_FP32, k->conventions.empty_value);
    return k->conventions.empty_lse == CP_EMPTY_VALUE && lse == value * x->run->lse_unit;
}

/* Of no keys: zeros, and the log-sum-exp of the sink. 0: so it is right. */
static int say_no_keys(struct explain_model *x, const struct explain_choice *c) {
    double lse = is_beside_lse(x, c) ? -INFINITY : explain_sink(x, c, IN_O);
    say_all(x, 0.0, lse, EXPLAIN_NOTHING);
    explain_say_number(x, x->d_v, lse, isinf(lse) ? EXPLAIN_NOTHING : explain_lse_bound(x, lse));
    return x->n > 0 || c->sink.way != SINK_OWN;
}

/* NUM-14: the row's keys get shifts, and the sink, if there is one, becomes the first of them. The
 * errors are those of the right scores. */
static void shift_keys(struct explain_model *x, const struct explain_choice *c,
                       const struct gate_rotated *rotated, struct cp_tolerance_row *row) {
    const struct gate_scores *scores = &x->run->problem.scores;
    double *shift = x->shift + 1, *error = x->shift_error + 1;
    int *key = x->part_of, n = 0,
        w = row->head_dim; /* of each that is counted; no part is needed */
    for (int j = 0; j < x->m; j++) {
        for (int times = explain_times(x, c, j); times > 0; times--, n++) {
            key[n] = j;
            shift[n] = explain_distance(x, j);
        }
    }
    gate_shift_keys(x->kernel, x->d, rotated, scores, x->head, row, shift, shift, error);
    for (int i = 0; i < n && c->change.way != CHANGE_OWN; i++) {
        const double *k = row->k + (ptrdiff_t)i * w;
        double s = 0.0;
        for (int t = 0; t < w; t++) {
            s += row->q[t] * k[t];
        }
        shift[i] = explain_changed(x, c, key[i], row->scale * s) - row->scale * s;
    }
    if (scores->sinks != NULL) {
        gate_shift_sink(x->kernel, scores, x->head, --shift, --error);
        row->n_keys++;
        row->k -= w;
        row->v -= row->value_dim;
    }
    row->shift = shift;
    row->shift_error = error;
}

static int certify(struct explain_model *x, const struct explain_choice *c) {
    const struct gate_problem *p = &x->run->problem;
    double factor = c->score.keys == ALL_KEYS ? explain_scale(x, c) : 1.0;
    int w = gate_n_terms(&p->rotation, x->d), sees_sink = p->scores.sinks != NULL;
    struct cp_tolerance_row row = {.head_dim = w,
                                   .value_dim = x->d_v,
                                   .scale = p->scale * factor,
                                   .q = x->q_terms,
                                   .k = x->flat_k + w,
                                   .v = x->flat_v + x->d_v,
                                   .scratch = x->scratch};
    struct gate_rotated rotated = {.quarters = gate_has_quarter_turns(p->recipe.values)};
    gate_cached_extend(&p->cache, x->d, x->q, &rotated);
    if (!explain_take_scores(x, c, 0)) {
        return 0;
    }
    if (!copy_keys(x, c, &row.n_keys)) {
        say_all(x, NAN, NAN, NAN);
        return 1;
    }
    if (row.n_keys == 0) {
        (void)say_no_keys(x, c);
        return 1;
    }
    gate_query_terms(&p->rotation, x->d, x->q, x->q_terms);
    for (int j = 0; j < x->m && p->rotation.keys != CP_KEYS_PLACED; j++) {
        gate_rotated_extend(&p->rotation, 0, x->d, x->q, x->k[j], &rotated);
    }
    for (int j = 0; j < x->m && x->kernel->arithmetic.scales != CP_SCALES_SCORES; j++) {
        gate_scaled_extend(&p->rotation, 0, x->d, p->scale, x->q, x->k[j], &rotated);
    }
    struct gate_numbers numbers = x->numbers;
    numbers.usual = x->run->unusual ? x->usual : NULL;
    numbers.sees_sink = sees_sink;
    int n = row.n_keys > x->n ? row.n_keys : x->n;
    int steps = explain_is_path(p) ? gate_steps(x->kernel, x->c, n)
                                   : most(x->steps, gate_steps_of_row(x->kernel, p, x->row));
    if (gate_changes_scores(&p->scores)) {
        shift_keys(x, c, &rotated, &row);
    }
    steps += sees_sink;
    const struct gate_row shape = {.d = x->d,
                                   .n = n + sees_sink,
                                   .steps = steps,
                                   .parts =
                                       gate_parts(x->kernel, steps, steps * x->c, 4 + sees_sink),
                                   .rotated = &rotated};
    gate_certify(x->kernel, &shape, &row, &numbers);
    explain_narrow(&numbers, x->d_v);
    x->work -= 4LL * x->m * x->d;
    return 1;
}

/* ---- Other sums ---- */

/* Of the group of elements that has its weights in their place. */
struct sums {
    double n, right_n, first_n; /* with the sink as the result has it */
    double of_lse;              /* and as the log-sum-exp has it */
};

static double round_bits(double x, int bits, double (*to_whole)(double)) {
    int exponent;
    double fraction = frexp(x, &exponent);
    return ldexp(to_whole(ldexp(fraction, bits)), exponent - bits);
}

static double divisor_of(struct explain_model *x, const struct explain_choice *choice,
                         const struct sums *s) {
    double n = s->n;
    if (choice->elements.way > ELEMENTS_MAGNITUDES && choice->elements.b) {
        return s->first_n;
    }
    switch ((enum explain_divide)choice->divide.way) { EXPLAIN_DIVISORS(EXPLAIN_CASE) }
    return n;
}

/* Of some elements: weighted values, their magnitudes, and those of attention. */
static void add_up(struct explain_model *x, const struct explain_choice *c, const int *element,
                   int n) {
    int of_v = c->dequantise.way != DEQUANTISE_OWN;
    for (int t = 0; t < n; t++) {
        int i = element[t];
        x->o[i] = x->size[i] = x->right[i] = 0.0;
    }
    for (int j = 0; j < x->m; j++) {
        const double *v = x->v[j];
        double weight = x->of_o[j] * (of_v ? explain_dequantised(x, c, 1, j) : 1.0);
        double right = x->weight[j];
        for (int t = 0; t < n; t++) {
            int i = element[t];
            x->o[i] += weight * v[i];
            x->size[i] += weight * fabs(v[i]);
            x->right[i] += right * fabs(v[i]);
        }
    }
    x->work -= (long long)x->m * n;
}

/* Of sums: a number that no format holds; or what a row without keys has, which a test for such
 * sums may make of it. An infinity is claimed where its bound is 0. */
static void say_sum(struct explain_model *x, int i, int is_nothing, double value, double bound) {
    double nothing = i < x->d_v ? 0.0 : -INFINITY;
    if ((x->no_number && x->is.got[i] == nothing) || (!x->no_number && is_nothing)) {
        explain_say_number(x, i, nothing, EXPLAIN_NOTHING);
    } else if (x->no_number && i < x->d_v) {
        explain_say_number(x, i, NAN, 0.0);
    } else if (x->no_number) {
        explain_say_number(x, i, INFINITY, EXPLAIN_NOTHING);
    } else if (bound != 0.0 && (x->lost || !isfinite(value) || !isfinite(bound))) {
        explain_say_number(x, i, 0.0, INFINITY);
    } else {
        explain_say_number(x, i, value, bound);
    }
}

static void say_element(struct explain_model *x, const struct explain_choice *c,
                        const struct sums *s, double divisor, int i) {
    double o = c->weight.way == ROUNDED_SUM ? explain_rounded_sum(x, c, i) : x->o[i];
    double size = x->size[i], right = x->right[i] / s->right_n;
    double off = fabs(x->is.got[i] - x->is.expected[i]), value = o / divisor;
    double bound = x->is.bound[i] * fmax(1.0, right > 0.0 ? fabs(size / divisor / right) : 1.0) +
                   x->unit * fabs(value);
    if (explain_is_wrong_number(&x->is, i) && isfinite(off)) {
        bound = fmin(bound, off / NEARER);
    }
    say_sum(x, i, divisor == 0.0 && o == 0.0, value, divisor == 0.0 ? 0.0 : bound);
}

static void say_lse(struct explain_model *x, const struct sums *s) {
    double lse = x->m_all + log(s->of_lse);
    say_sum(x, x->d_v, s->of_lse == 0.0, lse, explain_lse_bound(x, lse));
}

static void add_sinks(struct explain_model *x, const struct explain_choice *c, struct sums *s) {
    static const struct explain_choice right;
    int is_beside = is_beside_lse(x, c);
    /* Where nothing is said of lse, sums belong to the largest score. */
    double of_keys = s->n, m = isnan(x->m_all) ? x->m_right : x->m_all;
    s->n += exp(explain_sink(x, c, IN_N) - m);
    s->of_lse = of_keys + (is_beside ? 0.0 : exp(explain_sink(x, c, IN_O) - m));
    s->right_n += exp(explain_sink(x, &right, IN_N) - x->m_right);
}

/* Scores and weights of a group of elements. 0: it is no mistake of this row. */
static int weigh_group(struct explain_model *x, const struct explain_choice *c, int group,
                       struct sums *s) {
    x->no_number = x->lost = 0;
    if (!explain_take_scores(x, c, group) || !explain_take_weights(x, c, group)) {
        return 0;
    }
    s->n = x->more_n;
    s->right_n = 0.0;
    for (int j = 0; j < x->m; j++) {
        s->n += x->of_n[j];
        s->right_n += x->weight[j];
    }
    add_sinks(x, c, s);
    s->first_n = group == 0 ? s->n : s->first_n;
    return 1;
}

/* 1: some of the elements are of the group; the log-sum-exp is the first one's. */
static int is_asked(const struct explain_model *x, const struct explain_choice *c, int group,
                    const int *element, int n) {
    int is_one = group == 0;
    for (int t = 0; t < n && !is_one; t++) {
        is_one = explain_group_of(x, c, element[t]) == group;
    }
    return is_one;
}

static int compute_sums(struct explain_model *x, const struct explain_choice *c, const int *element,
                        int n) {
    struct sums s = {0.0, 0.0, 0.0, 0.0};
    int groups = explain_groups(x, c);
    for (int group = 0; group < groups; group++) {
        if (!is_asked(x, c, group, element, n)) {
            continue;
        }
        if (!weigh_group(x, c, group, &s)) {
            return 0;
        }
        double divisor = divisor_of(x, c, &s);
        if (isnan(divisor) && !x->no_number) {
            return 0;
        }
        add_up(x, c, element, n);
        for (int t = 0; t < n; t++) {
            if (explain_group_of(x, c, element[t]) == group) {
                say_element(x, c, &s, divisor, element[t]);
            }
        }
        if (group == 0) {
            say_lse(x, &s);
        }
    }
    return 1;
}

/* ---- All ---- */

int explain_compute(struct explain_model *x, const struct explain_choice *c) {
    x->work -= x->n + x->d;
    say_all(x, 0.0, 0.0, INFINITY); /* nothing yet */
    if (c->write.way != WRITE_OWN) {
        return explain_write(x, c);
    }
    if (!explain_take_keys(x, c)) {
        return 0;
    }
    if (x->m == 0) {
        return say_no_keys(x, c);
    }
    if (c->lse.way != LSE_OWN) {
        return x->run->problem.lse_type != CP_NO_LSE && explain_take_scores(x, c, 0) &&
               explain_write_lse(x, c);
    }
    return has_certificate(c) ? certify(x, c) : compute_sums(x, c, x->all, x->d_v);
}

/* 1: it may give a NaN. */
static int may_be_nan(const struct explain_choice *c) {
    int way = c->weight.way;
    return c->mask.way != MASK_OWN || c->bits.way != BITS_OWN || c->sees.way != SEES_OWN ||
           c->path.whose != OWN_SEQUENCE || c->path.way != PATH_OWN || c->runs.way != RUNS_OWN ||
           c->runs.chunk != CHUNKS_OWN || c->place.head != HEAD_OWN || c->place.way != PLACE_OWN ||
           c->query.way != QUERY_OWN || c->score.way >= SCORE_OVERFLOWS || way == REFERENCE ||
           way == OTHER_QUERY || way == OWN_MAXIMUM || way == EMPTY_PART ||
           (way == ONLINE && c->weight.maximum >= WEIGHS_BY_OLD);
}

/* 1: no key is counted, which may be 0 / 0. */
static int leaves_none(struct explain_model *x, const struct explain_choice *c) {
    if (c->select.which == SELECT_NONE || c->select.times > 0 || !explain_take_keys(x, c)) {
        return 0;
    }
    for (int j = 0; j < x->m; j++) {
        if (explain_times(x, c, j) > 0) {
            return 0;
        }
    }
    return 1;
}

/* Two of three tested elements are near to what sums are; or lse is, where no element is wrong. */
static int is_near(const struct explain_model *x, const struct explain_choice *c) {
    const double *value = x->numbers.expected, *bound = x->numbers.bound;
    int near = 0;
    for (int t = 0; t < x->test.n; t++) {
        int i = x->test.element[t], is_rounded = c->weight.way == ROUNDED_SUM;
        double got = x->is.got[i], many = is_rounded ? 1.0 : MANY_BOUNDS;
        double allowed = many * x->is.bound[i] + (is_rounded ? 0.0 : ROUGHLY * fabs(got));
        near += !isinf(bound[i]) && fabs(value[i] - got) <= allowed;
    }
    if (x->test.n == 0) {
        return x->no_number || isinf(bound[x->d_v]) ||
               fabs(value[x->d_v] - x->test.lse) <= 1e-3 * fmax(1.0, fabs(x->test.lse));
    }
    return 3 * near >= 2 * x->test.n;
}

int explain_might(struct explain_model *x, const struct explain_choice *c) {
    if (c->lse.way != LSE_OWN) {
        return !isnan(x->test.lse);
    }
    if (c->write.way != WRITE_OWN) {
        return 1;
    }
    if (x->test.n == 0 && isnan(x->test.lse)) {
        return may_be_nan(c) || leaves_none(x, c) || c->sink.way != SINK_OWN;
    }
    x->work -= x->n;
    if (!explain_take_keys(x, c)) {
        return 0;
    }
    return x->m == 0 ? x->n > 0 || c->sink.way != SINK_OWN
                     : compute_sums(x, c, x->test.element, x->test.n) && is_near(x, c);
}
