/* SPDX-License-Identifier: Apache-2.0 */
/* The model of `chunkproof explain` (gate/explain/model.h): with no mistake it is attention, by a
 * certificate and by sums; results that were made by a mistake are given by it. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "gate/case/masks.h"
#include "gate/case/prompts.h"
#include "gate/case/scores.h"
#include "gate/explain/explain.h"
#include "tests/plain_kernel.h"

#define CASES 160
#define WORK  60000

/* Attention with no mistake, by its certificate; and key by key, by sums. */
static const struct explain_choice right,
    by_sums = {.parts = {PART_WHOLE, 1, 0}, .weight = {ONLINE}};

/* A case whose results are not written: each of its numbers is wrong. */
struct setting {
    struct cp_kernel kernel;
    struct explain_run run;
    struct explain_model model;
    int tried; /* mistakes, with some choice */
};

/* Odd cases have modules, and of four cases two have caps, biases and sinks, as the kernel's
 * conventions say. */
static void make_with(struct setting *s, long long index, int masks) {
    struct gate_problem p;
    struct gate_arrays a;
    struct gate_recipe recipe;
    gate_recipe_make(&recipe, 1, index / 2, 0, WORK, NULL);
    recipe.without_lse = 0;
    if (index % 2 != 0) {
        gate_recipe_to_modules(&recipe, NULL);
    }
    s->kernel = plain;
    if (index % 4 >= 2) {
        s->kernel.scores = CP_SCORES_CAP | CP_SCORES_SLOPES | CP_SCORES_SINKS | CP_SCORES_BIASES;
        s->kernel.conventions.cap = (int)(index / 4 % 2);
        s->kernel.conventions.sink = (int)(index / 8 % 2);
        s->kernel.conventions.bias = (int)(index / 4 % 3);
        gate_recipe_scores(&recipe, s->kernel.scores);
    }
    if (masks != 0) { /* a table with few entries, which ends before the keys on both sides */
        recipe.slopes = GATE_NO_SLOPES;
        recipe.biases = GATE_ANY_BIASES;
        recipe.n_biases = 6;
        recipe.own_bias = 2;
    }
    s->kernel.masks = masks;
    gate_recipe_mask(&recipe, masks, NULL);
    assert_int_equal(gate_problem_new(&p, &recipe, &s->kernel), 0);
    gate_values_fill(&p);
    assert_int_equal(gate_arrays_new(&a, &p), 0);
    assert_int_equal(explain_run_new(&s->run, &s->kernel, 1.0, &p, &a, &a, 0), 0);
    assert_int_equal(explain_model_new(&s->model, &s->kernel, &s->run, 1), 0);
    s->model.work = 1LL << 50;
    gate_arrays_free(&a);
    gate_problem_free(&p);
}

static void make(struct setting *s, long long index) {
    make_with(s, index, 0);
}

static void unmake(struct setting *s) {
    explain_model_free(&s->model);
    explain_run_free(&s->run);
}

/* How many numbers of the pair the model is at are claimed, and those of them that are off by more
 * than `times` their bound. */
static int off(const struct setting *s, double times, int *claimed) {
    const struct explain_model *x = &s->model;
    int n = 0;
    for (int i = 0; i < s->run.width; i++) {
        size_t at = (size_t)x->pair * (size_t)s->run.width + (size_t)i;
        if (isfinite(s->run.bound[at]) && isfinite(x->numbers.bound[i])) {
            n += !(fabs(x->numbers.expected[i] - s->run.expected[at]) <= times * s->run.bound[at]);
            ++*claimed;
        }
    }
    return n;
}

/* They are the judge's own numbers. Of runs in another order than that of positions, n keys in
 * binary64 are off by n 2^-53 of a sum that a bound in binary32 has 2^-24 of. */
#define ORDER 0x1p-20

static void without_a_mistake_it_is_attention(void **state) {
    int claimed = 0;
    (void)state;
    for (int index = 0; index < CASES; index++) {
        struct setting s;
        make(&s, index);
        for (int pair = 0; pair < s.run.pairs; pair++) {
            explain_go_to(&s.model, &s.run, pair);
            if (s.model.n == 0) {
                continue;
            }
            assert_int_equal(explain_compute(&s.model, &right), 1);
            assert_int_equal(off(&s, index % 2 == 0 ? 0.0 : ORDER, &claimed), 0);
            assert_int_equal(explain_compute(&s.model, &by_sums), 1);
            assert_int_equal(off(&s, 1.0, &claimed), 0);
        }
        unmake(&s);
    }
    assert_true(claimed > 10000);
}

/* In steps of a tile, of parts and of warps sums are the same when nothing is wrong with them. */
static void steps_and_parts_change_nothing(void **state) {
    static const struct explain_partition parts[] = {
        {PART_WHOLE, 1, 0},           {PART_WHOLE, 16, 0}, {PART_CHUNKS, 0, 0},
        {PART_HALVES_OF_TILES, 8, 0}, {PART_SPLITS, 4, 4}, {PART_WARPS, 2, 4}};
    int claimed = 0;
    (void)state;
    for (int index = 0; index < CASES; index += 3) {
        struct setting s;
        make(&s, index);
        for (int pair = 0; pair < s.run.pairs; pair++) {
            struct explain_choice c = {.weight = {ONLINE}};
            explain_go_to(&s.model, &s.run, pair);
            for (size_t i = 0; s.model.n > 0 && i < sizeof parts / sizeof parts[0]; i++) {
                c.parts = parts[i];
                assert_int_equal(explain_compute(&s.model, &c), 1);
                assert_int_equal(off(&s, 1.0, &claimed), 0);
            }
        }
        unmake(&s);
    }
    assert_true(claimed > 10000);
}

/* How far the scores are apart that were taken last. */
static double range_of(const struct explain_model *x) {
    double least = INFINITY, most = -INFINITY;
    for (int j = 0; j < x->m; j++) {
        least = fmin(least, x->score[j]);
        most = fmax(most, x->score[j]);
    }
    return most - least;
}

/* NUM-21: so are they where references are near the maximum; and where one never moves, nothing is
 * to be rescaled. */
static void references_near_the_maximum_change_nothing(void **state) {
    static const double behind[] = {3.0, 0.0, 80.0}, above[] = {0.0, 1.0, 0.0};
    int claimed = 0, stay = 0;
    (void)state;
    for (int index = 0; index < CASES; index += 3) {
        struct setting s;
        make(&s, index);
        for (int pair = 0; pair < s.run.pairs; pair++) {
            explain_go_to(&s.model, &s.run, pair);
            for (int i = 0; s.model.n > 0 && i < 3; i++) {
                struct explain_choice c = {.weight = {ONLINE}, .parts = {PART_WHOLE, 4, 0}};
                s.kernel.arithmetic.behind = behind[i];
                s.kernel.arithmetic.above = above[i];
                int stays = behind[i] == 80.0 && range_of(&s.model) < 80.0;
                c.weight.rescale = stays ? RESCALES_NEITHER : RESCALES;
                stay += stays;
                assert_int_equal(explain_compute(&s.model, &c), 1);
                assert_int_equal(off(&s, 1.0, &claimed), 0);
            }
        }
        unmake(&s);
    }
    assert_true(claimed > 5000 && stay > 50);
}

/* ---- Tables ---- */

typedef void visitor(const struct explain_mistake *mistake, void *context);

/* All mistakes that are tried on such cases. */
static int visit(visitor *see, unsigned of, void *context) {
    int n = 0;
    for (int i = 0; explain_tables[i] != NULL; i++) {
        for (const struct explain_table *t = explain_tables[i]; t->name != NULL; t++) {
            for (size_t j = 0; j < t->n && (t->of & ~of) == 0; j++, n++) {
                see(&t->mistake[j], context);
            }
        }
    }
    return n;
}

/* A mistake as it stands in its row, with the first value of each axis. 0: the pair has none. */
static int first_of(const struct explain_model *x, const struct explain_mistake *m,
                    struct explain_choice *c) {
    *c = m->choice;
    for (int i = 0; i < EXPLAIN_AXES && m->axis[i].walk != NO_AXIS; i++) {
        if (!explain_set_axis(x, m, c, i, 0)) {
            return 0;
        }
    }
    return 1;
}

/* What a mistake makes of a row is given by it: no number that it claims is off by more than it
 * allows. */
static void see_itself(const struct explain_mistake *m, void *context) {
    struct setting *s = context;
    struct explain_choice c;
    struct explain_model *x = &s->model;
    char text[EXPLAIN_TEXT];
    int pair = s->run.pairs - 1;
    explain_go_to(x, &s->run, pair);
    if (x->n < 3 || !first_of(x, m, &c)) { /* of one key, that is left out, what is left is 0 / 0 */
        return;
    }
    s->tried++;
    explain_name(x, m, &c, text, sizeof text);
    assert_null(strchr(text, '{'));
    if (c.lse.way >= LSE_FACTOR || c.write.way == WRITE_SCALED || !explain_compute(x, &c)) {
        return;
    }
    for (int i = 0; i < s->run.width; i++) {
        if (!isfinite(x->numbers.bound[i])) {
            return;
        }
    }
    for (int i = 0; i < s->run.width; i++) {
        s->run.got[(size_t)pair * (size_t)s->run.width + (size_t)i] = x->numbers.expected[i];
    }
    explain_go_to(x, &s->run, pair);
    if (x->test.n > 0 && (c.lse.way == LSE_OWN || !isnan(x->test.lse))) {
        if (!(explain_might(x, &c) || x->lost || x->no_number)) {
            fail_msg("%s", text);
        }
    }
}

static void mistakes_give_themselves(void **state) {
    int tried = 0;
    (void)state;
    for (int index = 0; index < 80; index++) {
        struct setting s = {.tried = 0};
        make(&s, index);
        if (s.run.pairs > 0) {
            const struct gate_scores *scores = &s.run.problem.scores;
            unsigned of = s.run.problem.plan == CP_PLANS_TREES ? OF_PATHS : OF_LISTS;
            of |= scores->cap > 0.0 ? OF_CHANGED | OF_CAPPED : 0U;
            of |= scores->slopes != NULL ? OF_CHANGED | OF_SLOPES : 0U;
            of |= scores->biases != NULL ? OF_CHANGED | OF_BIASES : 0U;
            of |= scores->sinks != NULL ? OF_SINKS : 0U;
            assert_true(visit(see_itself, of, &s) > 100);
        }
        unmake(&s);
        tried += s.tried;
    }
    assert_true(tried > 4000);
}

/* ---- Tables of biases ---- */

#define FARTHEST 4096 /* above all distances of these cases */

/* The table of a case, and a distance p - t. */
struct asked {
    const float *bias; /* of the head */
    const float *all;
    int n, own, heads, head, group;
    int x, by;
};

static float held(const float *bias, int n, int i) {
    return bias[i < 0 ? 0 : i > n - 1 ? n - 1 : i];
}

/* Which bias a key gets by a mistake, in the words of the table of mistakes. */
static float bias_by(enum explain_change way, const struct asked *a) {
    int n = a->n, i = a->own + a->x, modulo = i;
    const float *bias = a->bias, *all = a->all;
    while (modulo < 0) {
        modulo += n;
    }
    modulo %= n;
    switch (way) {
    case BIAS_REVERSED:
        return held(bias, n, a->own - a->x);
    case BIAS_FROM_0:
        return held(bias, n, a->x);
    case BIAS_OF_DISTANCE:
        return held(bias, n, a->x < 0 ? a->own - a->x : i);
    case BIAS_MODULO:
        return bias[modulo];
    case BIAS_WRAPS_ABOVE:
        return i > n - 1 ? bias[modulo] : held(bias, n, i);
    case BIAS_WRAPS_BELOW:
        return i < 0 ? bias[modulo] : held(bias, n, i);
    case BIAS_FIRST_ABOVE:
        return i > n - 1 ? bias[0] : held(bias, n, i);
    case BIAS_LAST_BELOW:
        return i < 0 ? bias[n - 1] : held(bias, n, i);
    case BIAS_NONE_ABOVE:
        return i > n - 1 ? 0.0F : held(bias, n, i);
    case BIAS_NONE_BELOW:
        return i < 0 ? 0.0F : held(bias, n, i);
    case BIAS_NONE_AHEAD:
        return a->x < 0 ? 0.0F : held(bias, n, i);
    case BIAS_OWN_AHEAD:
        return held(bias, n, a->x < 0 ? a->own : i);
    case BIAS_OF_KV_HEAD:
        return held(all + a->head / a->group * n, n, i);
    case BIAS_IN_GROUP:
        return held(all + a->head % a->group * n, n, i);
    case BIAS_OF_FIRST_OF_GROUP:
        return held(all + a->head / a->group * a->group * n, n, i);
    case BIAS_OF_HEAD_0:
        return held(all, n, i);
    case BIAS_TRANSPOSED:
        return all[(i < 0 ? 0 : i > n - 1 ? n - 1 : i) * a->heads + a->head];
    case BIAS_BY:
        return held(bias, n, i + a->by);
    case CHANGE_NO_BIAS:
        return 0.0F;
    case CHANGE_BIAS_SIGN:
        return -held(bias, n, i);
    case CHANGE_BIAS_TWICE:
        return 2.0F * held(bias, n, i);
    default:
        return held(bias, n, i);
    }
}

/* The run gets a table with all distances, in which each has what the mistake gives it. */
static void spread_table(struct explain_run *run, enum explain_change way, int by) {
    struct gate_scores *scores = &run->problem.scores;
    int n = 2 * FARTHEST + 1, heads = run->problem.recipe.n_heads;
    float *all = malloc((size_t)(heads * n) * sizeof *all);
    assert_non_null(all);
    for (int at = 0; at < heads * n; at++) {
        int head = at / n;
        struct asked a = {.bias = scores->biases + (ptrdiff_t)head * scores->n_biases,
                          .all = scores->biases,
                          .n = scores->n_biases,
                          .own = scores->own_bias,
                          .heads = heads,
                          .head = head,
                          .group = heads / run->problem.recipe.n_kv_heads,
                          .x = at % n - FARTHEST,
                          .by = by};
        all[at] = bias_by(way, &a);
    }
    free(scores->biases);
    scores->biases = all;
    scores->n_biases = n;
    scores->own_bias = FARTHEST;
}

/* Whether the mistake is right attention with that table; and how many numbers differ from right
 * ones. */
static int is_of_table(struct setting *s, struct setting *spread,
                       const struct explain_choice *wrong) {
    int differ = 0;
    for (int pair = 0; pair < s->run.pairs; pair++) {
        struct explain_model *x = &s->model, *y = &spread->model;
        explain_go_to(x, &s->run, pair);
        explain_go_to(y, &spread->run, pair);
        if (x->n == 0) {
            continue;
        }
        assert_int_equal(explain_compute(x, wrong), 1);
        assert_int_equal(explain_compute(y, &right), 1);
        for (int i = 0; i < s->run.width; i++) {
            double one = x->numbers.expected[i], other = y->numbers.expected[i];
            double was = s->run.expected[(size_t)pair * (size_t)s->run.width + (size_t)i];
            assert_true(fabs(one - other) <= 1e-9 * (1.0 + fabs(one)));
            differ += fabs(one - was) > 1e-3;
        }
    }
    return differ;
}

static int is_near(const struct gate_problem *p) {
    int most = 0;
    for (int s = 0; s < p->b; s++) {
        most = p->n_tokens[s] > most ? p->n_tokens[s] : most;
    }
    return most < FARTHEST / 2 && p->n_rows < 100;
}

/* A mistake that gives each distance another bias is attention with these biases. Where keys or
 * rows are counted otherwise, there is no such table. */
static void mistakes_of_tables_are_other_tables(void **state) {
    (void)state;
    for (int way = CHANGE_NO_BIAS; way <= (int)BIAS_BY; way++) {
        int differ = 0;
        if ((way > (int)CHANGE_BIAS_TWICE && way < (int)BIAS_REVERSED) ||
            (way >= (int)BIAS_OF_POSITION && way <= (int)BIAS_OF_16_BITS &&
             way != (int)BIAS_OF_DISTANCE)) {
            continue;
        }
        for (int index = 2; index < 80; index += 4) {
            struct explain_choice c = {.change = {way, 1 + index % 3}};
            struct setting s, spread;
            make_with(&s, index, CP_MASKS_AHEAD);
            make_with(&spread, index, CP_MASKS_AHEAD);
            if (is_near(&s.run.problem)) {
                spread_table(&spread.run, (enum explain_change)way, c.change.by);
                differ += is_of_table(&s, &spread, &c);
            }
            unmake(&s);
            unmake(&spread);
        }
        assert_true(differ > 0);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(without_a_mistake_it_is_attention),
        cmocka_unit_test(steps_and_parts_change_nothing),
        cmocka_unit_test(references_near_the_maximum_change_nothing),
        cmocka_unit_test(mistakes_give_themselves),
        cmocka_unit_test(mistakes_of_tables_are_other_tables),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
