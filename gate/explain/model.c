/* SPDX-License-Identifier: Apache-2.0 */
/* The stages one after the other, and the numbers that come of them. What is another problem (other
 * keys, another query or scale) has a certificate of its own. Nothing is certified of a wrong sum:
 * it is allowed what attention is, in proportion to its size, and the rounding of the output. */
#include "gate/explain/model.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define NEARER                                                                                     \
    4.0 /* times nearer to the kernel's number than attention, for no bound is certified */
#define MANY_BOUNDS 16.0 /* within so many, and this part of it, a number might be given */
#define ROUGHLY     2e-3

/* ---- Room ---- */

/* For two of each key, and for the slots of a chunk behind the last one. */
int explain_model_new(struct explain_model *x, const struct cp_kernel *kernel,
                      const struct explain_run *runs, int n_runs) {
    size_t d = 1, c = 0, n = 0;
    int missing = 0;
    for (int i = 0; i < n_runs; i++) {
        const struct gate_problem *p = &runs[i].problem;
        d = (size_t)p->recipe.head_dim > d ? (size_t)p->recipe.head_dim : d;
        c = (size_t)p->recipe.chunk_size > c ? (size_t)p->recipe.chunk_size : c;
        for (int s = 0; s < p->b; s++) {
            n = (size_t)p->n_tokens[s] > n ? (size_t)p->n_tokens[s] : n;
        }
    }
    size_t room = 2 * n + c + 40, keys = room * sizeof(double);
    *x = (struct explain_model){.kernel = kernel, .room = (int)room};
    double **of_keys[] = {&x->own_score, &x->own_weight, &x->score,   &x->of_n,    &x->of_o,
                          &x->part[0],   &x->part[1],    &x->part[2], &x->part[3], &x->part[4]};
    double **of_row[] = {
        &x->q, &x->times, &x->o, &x->size, &x->right, &x->numbers.expected, &x->numbers.bound};
    for (size_t i = 0; i < sizeof of_keys / sizeof of_keys[0]; i++) {
        missing |= (*of_keys[i] = malloc(keys)) == NULL;
    }
    for (size_t i = 0; i < sizeof of_row / sizeof of_row[0]; i++) {
        missing |= (*of_row[i] = malloc((d + 1) * sizeof(double))) == NULL;
    }
    x->k = malloc(room * sizeof *x->k);
    x->v = malloc(room * sizeof *x->v);
    x->own_k = malloc(room * sizeof *x->own_k);
    x->own_v = malloc(room * sizeof *x->own_v);
    x->part_of = malloc(room * sizeof *x->part_of);
    x->flat_k = malloc(keys * d);
    x->flat_v = malloc(keys * d);
    x->scratch = malloc(3 * keys);
    return missing || x->k == NULL || x->v == NULL || x->own_k == NULL || x->own_v == NULL ||
                   x->part_of == NULL || x->flat_k == NULL || x->flat_v == NULL ||
                   x->scratch == NULL
               ? -1
               : 0;
}

void explain_model_free(struct explain_model *x) {
    double *arrays[] = {x->own_score,
                        x->own_weight,
                        x->score,
                        x->of_n,
                        x->of_o,
                        x->part[0],
                        x->part[1],
                        x->part[2],
                        x->part[3],
                        x->part[4],
                        x->q,
                        x->times,
                        x->o,
                        x->size,
                        x->right,
                        x->numbers.expected,
                        x->numbers.bound,
                        x->flat_k,
                        x->flat_v,
                        x->scratch};
    for (size_t i = 0; i < sizeof arrays / sizeof arrays[0]; i++) {
        free(arrays[i]);
    }
    free((void *)x->k);
    free((void *)x->v);
    free((void *)x->own_k);
    free((void *)x->own_v);
    free(x->part_of);
}

static size_t first_of(const struct explain_model *x) {
    return (size_t)x->pair * (size_t)x->run->width;
}

/* Some wrong elements that are numbers, from all over the row. */
static void choose_tests(struct explain_model *x) {
    const double *got = x->run->got + first_of(x), *bound = x->run->bound + first_of(x);
    const unsigned char *rightness = x->run->rightness + first_of(x);
    int wrong = 0, seen = 0;
    x->test.n = 0;
    for (int i = 0; i < x->d; i++) {
        wrong += rightness[i] == GATE_NUMBER_WRONG && isfinite(got[i]);
    }
    for (int i = 0; i < x->d && x->test.n < EXPLAIN_TESTED; i++) {
        if (rightness[i] == GATE_NUMBER_WRONG && isfinite(got[i]) &&
            seen++ * (EXPLAIN_TESTED - 1) >= x->test.n * (wrong - 1)) {
            x->test.element[x->test.n] = i;
            x->test.got[x->test.n] = got[i];
            x->test.allowed[x->test.n++] = MANY_BOUNDS * bound[i] + ROUGHLY * fabs(got[i]);
        }
    }
    x->test.lse = rightness[x->d] == GATE_NUMBER_WRONG && isfinite(got[x->d]) ? got[x->d] : NAN;
}

void explain_go_to(struct explain_model *x, const struct explain_run *run, int pair) {
    const struct gate_problem *p = &run->problem;
    struct cp_arithmetic arithmetic;
    struct cp_counts counts;
    x->run = run;
    x->pair = pair;
    x->row = pair / p->recipe.n_heads;
    x->head = pair % p->recipe.n_heads;
    x->s = gate_sequence_of(p, x->row);
    x->g = x->head / (p->recipe.n_heads / p->recipe.n_kv_heads);
    x->n = gate_visible(p, x->row);
    x->d = p->recipe.head_dim;
    x->c = p->recipe.chunk_size;
    x->shared = p->n_shared_chunks[x->s] * x->c;
    x->shared = x->shared < x->n ? x->shared : x->n;
    x->has_scores = x->has_keys = 0;
    gate_class(x->kernel, &p->recipe, x->n, 0.0, &arithmetic, &counts);
    x->unit = arithmetic.output.unit;
    choose_tests(x);
}

/* ---- Another problem ---- */

static void say_all(struct explain_model *x, double out, double lse, double bound) {
    for (int i = 0; i <= x->d; i++) {
        x->numbers.expected[i] = i < x->d ? out : lse;
        x->numbers.bound[i] = bound;
    }
}

/* Of none, or not of whole keys: no certificate. */
static int has_certificate(const struct explain_choice *c) {
    return c->weight.rule == WEIGHT_OWN && c->divide.rule == DIVIDES &&
           c->score.rule < SCORE_ADDED_UP && c->elements.rule <= ELEMENTS_SCALED_BITS &&
           c->elements.rule != ELEMENTS_MAGNITUDES &&
           (c->select.which == SELECT_NONE || c->select.sums == IN_BOTH);
}

/* The keys that are counted, *n of them. 1: all their numbers are some. */
static int copy_keys(struct explain_model *x, const struct explain_choice *c, int *n) {
    size_t d = (size_t)x->d;
    int finite = 1;
    for (int i = 0; i < x->d; i++) {
        finite &= isfinite(x->q[i]) != 0;
    }
    *n = 0;
    for (int j = 0; j < x->m; j++) {
        int part = j < x->shared ? SHARED_KEYS : OWN_KEYS;
        double factor = c->score.keys == part ? explain_scale(x, c) : 1.0;
        for (int times = explain_times(x, c, j); times > 0; times--, ++*n) {
            double *k = x->flat_k + (size_t)*n * d, *v = x->flat_v + (size_t)*n * d;
            for (size_t i = 0; i < d; i++) {
                k[i] = factor * x->k[j][i];
                v[i] = x->v[j][i];
                finite &= isfinite(k[i]) && isfinite(v[i]);
            }
        }
    }
    return finite;
}

static int certify(struct explain_model *x, const struct explain_choice *c) {
    const struct gate_problem *p = &x->run->problem;
    double factor = c->score.keys == ALL_KEYS ? explain_scale(x, c) : 1.0;
    struct cp_tolerance_row row = {0,         x->d,      p->scale * factor, x->q,
                                   x->flat_k, x->flat_v, x->scratch};
    explain_take_scores(x, c, 0);
    if (x->outside) {
        return 0;
    }
    if (!copy_keys(x, c, &row.n_keys)) {
        say_all(x, NAN, NAN, NAN);
        return 1;
    }
    if (row.n_keys == 0) {
        say_all(x, 0.0, -INFINITY, EXPLAIN_NOTHING);
        return 1;
    }
    gate_certify(x->kernel, &p->recipe, row.n_keys > x->n ? row.n_keys : x->n, &row, &x->numbers);
    x->work -= 4LL * x->m * x->d;
    return 1;
}

/* ---- Other sums ---- */

/* Of the group of elements that has its weights in their place. */
struct sums {
    double n, right_n, first_n;
};

/* To so many bits, to nearest or cut off. */
static double round_bits(double x, const struct explain_choice *c) {
    int exponent;
    double bits = ldexp(frexp(x, &exponent), c->divide.bits);
    return ldexp(c->divide.rule == DIVIDES_CUT ? trunc(bits) : rint(bits),
                 exponent - c->divide.bits);
}

static double divisor_of(struct explain_model *x, const struct explain_choice *c,
                         const struct sums *s) {
    if (c->elements.rule >= ELEMENTS_BLOCKS && c->elements.b) {
        return s->first_n;
    }
    switch ((enum explain_divide)c->divide.rule) {
    case DIVIDES_NOT:
        return 1.0;
    case DIVIDES_BY_COUNT:
        return x->m;
    case DIVIDES_TWICE:
        return s->n * s->n;
    case DIVIDES_ROUNDED:
    case DIVIDES_CUT:
        return c->divide.whose ? round_bits(s->n, c) : 1.0 / round_bits(1.0 / s->n, c);
    case DIVIDES_BY_OTHER:
        return explain_other_sum(x, c->divide.whose);
    default:
        return isnan(x->divisor) ? s->n : x->divisor;
    }
}

/* Of one element. */
static double weighted(const struct explain_model *x, int i) {
    double sum = 0.0;
    for (int j = 0; j < x->m; j++) {
        sum += x->of_o[j] * x->v[j][i];
    }
    return sum;
}

/* Of all elements: weighted values, their magnitudes, and those of attention. */
static void add_up(struct explain_model *x) {
    for (int i = 0; i < x->d; i++) {
        x->o[i] = x->size[i] = x->right[i] = 0.0;
    }
    for (int j = 0; j < x->m; j++) {
        const double *v = x->v[j];
        double weight = x->of_o[j], right = x->scratch[j];
        for (int i = 0; i < x->d; i++) {
            x->o[i] += weight * v[i];
            x->size[i] += weight * fabs(v[i]);
            x->right[i] += right * fabs(v[i]);
        }
    }
}

/* A number that no format holds; or what a row without keys has, which a test for such sums may
 * make of it. */
static void say_no_number(struct explain_model *x, int i) {
    double got = x->run->got[first_of(x) + (size_t)i];
    int is_none = got == (i < x->d ? 0.0 : -INFINITY), is_lse = i == x->d;
    x->numbers.expected[i] = is_none ? got : is_lse ? INFINITY : NAN;
    x->numbers.bound[i] = is_none || is_lse ? EXPLAIN_NOTHING : 0.0;
}

static void say_element(struct explain_model *x, const struct explain_choice *c,
                        const struct sums *s, double divisor, int i) {
    size_t at = first_of(x) + (size_t)i;
    double o = c->weight.rule == ROUNDED_SUM ? explain_rounded_sum(x, c, i) : x->o[i];
    double size = x->size[i], right = x->right[i] / s->right_n;
    double off = fabs(x->run->got[at] - x->run->expected[at]), value = o / divisor;
    double bound = x->run->bound[at] * fmax(1.0, right > 0.0 ? fabs(size / divisor / right) : 1.0) +
                   x->unit * fabs(value);
    if (x->run->rightness[at] == GATE_NUMBER_WRONG && isfinite(off)) {
        bound = fmin(bound, off / NEARER);
    }
    x->numbers.expected[i] = value;
    x->numbers.bound[i] = bound;
    if (divisor == 0.0) { /* 0 / 0, or an infinity */
        x->numbers.expected[i] = o == 0.0 ? 0.0 : value;
        x->numbers.bound[i] = o == 0.0 ? EXPLAIN_NOTHING : 0.0;
    } else if (x->lost || !isfinite(value) || !isfinite(bound)) {
        x->numbers.expected[i] = 0.0;
        x->numbers.bound[i] = INFINITY;
    }
}

static void say_lse(struct explain_model *x, const struct sums *s) {
    size_t at = first_of(x) + (size_t)x->d;
    double lse = x->m_all + log(s->n), right = x->run->expected[at];
    int says = isfinite(lse) && !x->lost;
    x->numbers.expected[x->d] = s->n == 0.0 ? -INFINITY : says ? lse : 0.0;
    x->numbers.bound[x->d] = s->n == 0.0 ? EXPLAIN_NOTHING
                             : says
                                 ? x->run->bound[at] * fmax(1.0, fabs(lse) / fmax(fabs(right), 1.0))
                                 : INFINITY;
}

/* Scores and weights of a group of elements. 0: it is no mistake of this row. */
static int weigh_group(struct explain_model *x, const struct explain_choice *c, int group,
                       struct sums *s) {
    x->no_number = x->lost = 0;
    explain_take_scores(x, c, group);
    if (x->outside || !explain_take_weights(x, c, group)) {
        return 0;
    }
    s->n = x->more_n;
    s->right_n = 0.0;
    for (int j = 0; j < x->m; j++) {
        s->n += x->of_n[j];
        x->scratch[j] = exp(x->score[j] - x->m_right);
        s->right_n += x->scratch[j];
    }
    s->first_n = group == 0 ? s->n : s->first_n;
    return 1;
}

int explain_compute_sums(struct explain_model *x, const struct explain_choice *c) {
    struct sums s = {0.0, 0.0, 0.0};
    int groups = explain_groups(x, c);
    for (int group = 0; group < groups; group++) {
        if (!weigh_group(x, c, group, &s)) {
            return 0;
        }
        double divisor = divisor_of(x, c, &s);
        if (isnan(divisor) && !x->no_number) {
            return 0;
        }
        add_up(x);
        for (int i = 0; i < x->d; i++) {
            if (explain_group_of(x, c, i) == group) {
                (x->no_number ? say_no_number(x, i) : say_element(x, c, &s, divisor, i));
            }
        }
        if (group == 0) {
            (x->no_number ? say_no_number(x, x->d) : say_lse(x, &s));
        }
    }
    x->work -= (long long)x->m * x->d;
    return 1;
}

/* ---- All ---- */

int explain_compute(struct explain_model *x, const struct explain_choice *c) {
    x->work -= x->n + x->d;
    if (c->write.rule != WRITE_OWN) {
        return explain_write(x, c);
    }
    if (c->divide.rule == DIVIDES_BY_ANY) {
        return explain_write_scaled(x);
    }
    if (!explain_take_keys(x, c)) {
        return 0;
    }
    if (x->m == 0) {
        say_all(x, 0.0, -INFINITY, EXPLAIN_NOTHING);
        return x->n > 0;
    }
    if (c->lse.rule != LSE_OWN) {
        explain_take_scores(x, c, 0);
        return x->run->problem.lse_type != CP_NO_LSE && explain_write_lse(x, c);
    }
    return has_certificate(c) ? certify(x, c) : explain_compute_sums(x, c);
}

/* 1: it may give a NaN. */
static int may_be_nan(const struct explain_choice *c) {
    return c->sees.rule != SEES_OWN || c->path.whose != OWN_SEQUENCE || c->path.rule != PATH_OWN ||
           c->place.head != HEAD_OWN || c->place.rule != PLACE_OWN || c->query.rule != QUERY_OWN ||
           c->score.rule >= SCORE_OVERFLOWS || c->weight.rule == REFERENCE ||
           c->weight.rule == OTHER_QUERY || c->weight.rule == OWN_MAXIMUM ||
           c->weight.rule == EMPTY_PART ||
           (c->weight.rule == ONLINE && c->weight.maximum >= KEEPS_OF_TILE);
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

/* Of one element that is tested, in the group that has its weights in their place. */
static int gives(struct explain_model *x, const struct explain_choice *c, double divisor, int t) {
    int i = x->test.element[t], is_rounded = c->weight.rule == ROUNDED_SUM;
    double o = is_rounded ? explain_rounded_sum(x, c, i) : weighted(x, i);
    double allowed = is_rounded ? x->run->bound[first_of(x) + (size_t)i] : x->test.allowed[t];
    double value = divisor == 0.0 && o == 0.0 ? 0.0 : o / divisor;
    int is_none = x->test.got[t] == 0.0 && (x->no_number || divisor == 0.0);
    return is_none || (!x->no_number && !x->lost && fabs(value - x->test.got[t]) <= allowed);
}

static int might_sums(struct explain_model *x, const struct explain_choice *c) {
    struct sums s = {0.0, 0.0, 0.0};
    int groups = explain_groups(x, c), given = 0;
    for (int group = 0; group < groups; group++) {
        int is_tested = group == 0;
        for (int t = 0; t < x->test.n; t++) {
            is_tested |= explain_group_of(x, c, x->test.element[t]) == group;
        }
        if (!is_tested) {
            continue;
        }
        if (!weigh_group(x, c, group, &s)) {
            return 0;
        }
        double divisor = divisor_of(x, c, &s);
        for (int t = 0; t < x->test.n; t++) {
            given += explain_group_of(x, c, x->test.element[t]) == group && gives(x, c, divisor, t);
        }
        if (x->test.n == 0 && group == 0) {
            return x->no_number || x->lost || isnan(x->m_all) ||
                   fabs(x->m_all + log(s.n) - x->test.lse) <= 1e-3 * fmax(1.0, fabs(x->test.lse));
        }
    }
    x->work -= (long long)(x->test.n + 1) * x->m;
    return 3 * given >= 2 * x->test.n;
}

int explain_might(struct explain_model *x, const struct explain_choice *c) {
    if (c->lse.rule != LSE_OWN) {
        return !isnan(x->test.lse);
    }
    if (c->write.rule != WRITE_OWN || c->divide.rule == DIVIDES_BY_ANY) {
        return 1;
    }
    if (x->test.n == 0 && isnan(x->test.lse)) {
        return may_be_nan(c) || leaves_none(x, c);
    }
    x->work -= x->n;
    if (!explain_take_keys(x, c)) {
        return 0;
    }
    return x->m == 0 ? x->n > 0 : might_sums(x, c);
}
