/* SPDX-License-Identifier: Apache-2.0 */
/* SCORE-1 to SCORE-4, CONV-7 to CONV-9: what the gate's calls say of caps, slopes and sinks, and
 * the results that rows are judged by. Everything is found again by the words of the clauses, from
 * the arrays of the call. */
#define _POSIX_C_SOURCE 200809L /* mkstemp */

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "gate/case/layout.h"
#include "gate/case/masks.h"
#include "gate/case/prompts.h"
#include "gate/case/scores.h"
#include "gate/case/values.h"
#include "gate/judge/conventions.h"
#include "gate/judge/judge.h"
#include "gate/judge/scores.h"
#include "gate/search/case_file.h"
#include "tests/plain_kernel.h"

#define CASES 300
#define WORK  20000
#define MASKS (CP_MASKS_WINDOW | CP_MASKS_AHEAD | CP_MASKS_KEPT)
#define ALL   (CP_SCORES_CAP | CP_SCORES_SLOPES | CP_SCORES_SINKS)

static struct gate_recipe recipe_of(long long index, int scores) {
    struct gate_recipe recipe;
    gate_recipe_make(&recipe, 31, index, 0, WORK, NULL);
    gate_recipe_scores(&recipe, scores);
    if (index % 2 == 1) {
        gate_recipe_to_modules(&recipe, NULL);
    }
    gate_recipe_mask(&recipe, MASKS, NULL);
    return recipe;
}

/* Of the i-th of all conventions. */
static struct cp_kernel kernel_of(int scores, int i) {
    struct cp_kernel kernel = plain;
    kernel.plans = CP_PLANS_LISTS;
    kernel.masks = MASKS;
    kernel.scores = scores;
    kernel.conventions.cap = i & 1;
    kernel.conventions.sink = i >> 1 & 1;
    kernel.conventions.lse_base = i >> 2 & 1;
    kernel.conventions.bias = (i >> 3) % 3;
    kernel.arithmetic.tanh_error = 0x1p-22;
    return kernel;
}

struct made {
    struct gate_problem p;
    struct gate_arrays a;
    const struct cp_kernel_call *call;
};

static void make(struct made *m, const struct gate_recipe *recipe, const struct cp_kernel *kernel) {
    assert_int_equal(gate_problem_new(&m->p, recipe, kernel), 0);
    gate_values_fill(&m->p);
    assert_int_equal(gate_arrays_new(&m->a, &m->p), 0);
    m->call = &m->a.run.call;
}

static void done(struct made *m) {
    gate_arrays_free(&m->a);
    gate_problem_free(&m->p);
}

/* ---- What a call says ---- */

static int is_bfloat(float x) {
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    return (bits & 0xFFFF) == 0;
}

static void calls_have_what_is_declared(void **state) {
    (void)state;
    for (int scores = 0; scores <= ALL; scores++) {
        int with[3] = {0}, none = 0;
        struct cp_kernel kernel = kernel_of(scores, 0);
        for (int i = 0; i < CASES; i++) {
            struct gate_recipe recipe = recipe_of(i, scores);
            struct made m;
            make(&m, &recipe, &kernel);
            assert_true(m.call->cap == 0.125 * recipe.cap);
            assert_int_equal(m.call->changes, (m.call->cap > 0.0 ? CP_SCORES_CAP : 0) |
                                                  (m.call->slopes != NULL ? CP_SCORES_SLOPES : 0) |
                                                  (m.call->sinks != NULL ? CP_SCORES_SINKS : 0));
            assert_int_equal(m.call->slopes != NULL, recipe.slopes != GATE_NO_SLOPES);
            assert_int_equal(m.call->sinks != NULL, recipe.sinks != 0);
            assert_int_equal(m.a.run.bytes[RUN_SLOPES],
                             m.call->slopes != NULL ? (size_t)recipe.n_heads * sizeof(float) : 0);
            assert_int_equal(m.a.run.bytes[RUN_SINKS],
                             m.call->sinks != NULL ? (size_t)recipe.n_heads * sizeof(float) : 0);
            with[0] += m.call->cap > 0.0;
            with[1] += m.call->slopes != NULL;
            with[2] += m.call->sinks != NULL;
            none += m.call->cap == 0.0 && m.call->slopes == NULL && m.call->sinks == NULL;
            done(&m);
        }
        assert_true(none > 0);
        for (int bit = 0; bit < 3; bit++) {
            assert_int_equal(with[bit] > CASES / 2, scores >> bit & 1);
        }
    }
}

/* A recipe for others has some; a kernel that takes none gets none. */
static void kernels_that_take_none_get_none(void **state) {
    struct cp_kernel kernel = kernel_of(0, 0);
    (void)state;
    for (int i = 0; i < CASES; i++) {
        struct gate_recipe recipe = recipe_of(i, ALL);
        struct made m;
        make(&m, &recipe, &kernel);
        assert_true(m.call->cap == 0.0 && m.call->slopes == NULL && m.call->sinks == NULL);
        done(&m);
    }
}

/* Heads differ, so that another head's slope or sink shows; both signs, 0, and numbers of
 * bfloat16. */
static void slopes_and_sinks_tell_heads_apart(void **state) {
    struct cp_kernel kernel = kernel_of(ALL, 0);
    int same = 0, pairs = 0, negative = 0, zero = 0, alibi = 0;
    (void)state;
    for (int i = 0; i < CASES; i++) {
        struct gate_recipe recipe = recipe_of(i, ALL);
        struct made m;
        make(&m, &recipe, &kernel);
        for (int a = 0; a < recipe.n_heads && m.call->slopes != NULL; a++) {
            float slope = m.call->slopes[a];
            assert_true(isfinite(slope) && is_bfloat(slope));
            negative += slope < 0.0F;
            zero += slope == 0.0F;
            if (recipe.slopes == GATE_ALIBI && 8 * (a + 1) % recipe.n_heads == 0) {
                assert_true(slope == ldexpf(1.0F, -8 * (a + 1) / recipe.n_heads));
                alibi++;
            }
        }
        for (int a = 0; a < recipe.n_heads && m.call->sinks != NULL; a++) {
            assert_true(isfinite(m.call->sinks[a]) && is_bfloat(m.call->sinks[a]));
        }
        for (int a = 1; a < recipe.n_heads && m.call->slopes != NULL && m.call->sinks != NULL;
             a++) {
            pairs += 2;
            same += m.call->slopes[a] == m.call->slopes[a - 1];
            same += m.call->sinks[a] == m.call->sinks[a - 1];
        }
        done(&m);
    }
    assert_true(negative > CASES && zero > CASES / 10 && alibi > CASES / 10);
    assert_true(pairs > CASES && 10 * same < pairs);
}

/* How many distances of rows to the first keys of runs are beyond 16 bits; of these, how many give
 * the head a bias that is no number of binary32. */
struct far {
    int distances, rounded;
};

static struct far far_of(const struct cp_kernel_call *call, int head) {
    struct far far = {0, 0};
    for (int s = 0; s < call->n_sequences; s++) {
        for (int row = call->query_begin[s]; row < call->query_begin[s + 1]; row++) {
            size_t at = (size_t)s * (size_t)call->table_width;
            for (; call->table[at] >= 0; at++) {
                double x = (double)call->table_position[at] - call->position[row];
                double bias = (double)call->slopes[head] * x;
                far.distances += x < -65536.0;
                far.rounded += x < -65536.0 && (double)(float)bias != bias;
            }
        }
    }
    return far;
}

static int has_far_keys(const struct gate_recipe *recipe) {
    return recipe->n_modules > 1 &&
           recipe->module[recipe->n_modules - 1].position - recipe->module[0].position > 65536;
}

/* GATE-13: of heads with slopes of 8 bits and far keys about half have biases beyond binary32. */
static void biases_leave_binary32(void **state) {
    struct cp_kernel kernel = kernel_of(ALL, 0);
    int heads = 0, rounded = 0;
    (void)state;
    for (int i = 1; i < 10 * CASES; i += 2) {
        struct gate_recipe recipe = recipe_of(i, ALL);
        struct made m;
        if (recipe.slopes != GATE_ANY_SLOPES || !has_far_keys(&recipe)) {
            continue;
        }
        make(&m, &recipe, &kernel);
        for (int a = 0; a < recipe.n_heads; a++) {
            struct far far = far_of(m.call, a);
            heads += far.distances > 0 && m.call->slopes[a] != 0.0F;
            rounded += far.rounded > 0;
        }
        done(&m);
    }
    assert_true(heads > 50 && 3 * rounded > heads);
}

/* ---- Results ---- */

/* What becomes of a score, by the words of the clauses. */
static double changed(const struct cp_kernel_call *call, const struct cp_kernel_conventions *c,
                      int head, int t, int p, double s) {
    double x = c->bias == CP_BIAS_SIGNED ? (double)t - p : c->bias == CP_BIAS_POSITION ? t : 0.0;
    if (c->bias == CP_BIAS_DISTANCE) {
        x = t > p ? (double)p - t : (double)t - p;
    }
    double bias = call->slopes != NULL ? (double)call->slopes[head] * x : 0.0;
    s += c->cap == CP_CAP_LAST ? bias : 0.0;
    s = call->cap > 0.0 ? call->cap * tanh(s / call->cap) : s;
    return s + (c->cap == CP_CAP_LAST ? 0.0 : bias);
}

static int is_seen(const struct cp_kernel_call *call, int p, int t) {
    return t <= p + call->ahead && (call->window == 0 || t > p - call->window || t < call->kept);
}

/* Attention, to `out`, and its log-sum-exp behind: in nats, with the sink or without. */
static void attend(const struct made *m, const struct cp_kernel_conventions *c, int row, int head,
                   double *out) {
    const struct gate_problem *p = &m->p;
    int d = p->recipe.head_dim, s = gate_sequence_of(p, row), stands = p->position[row];
    int g = head / (p->recipe.n_heads / p->recipe.n_kv_heads);
    const double *q = p->q + ((ptrdiff_t)row * p->recipe.n_heads + head) * d;
    double sink = m->call->sinks != NULL ? (double)m->call->sinks[head] : -INFINITY;
    double top = -INFINITY, n = 0.0;
    for (int pass = 0; pass < 2; pass++) {
        memset(out, 0, (pass == 0 ? 0 : (size_t)d) * sizeof *out);
        for (int j = 0; j < p->n_tokens[s]; j++) {
            const double *k = gate_key(p, s, j, g), *v = gate_value(p, s, j, g);
            int t = gate_position_of(p, s, j);
            double score = 0.0;
            for (int i = 0; i < d; i++) {
                score += p->scale * q[i] * k[i];
            }
            score = changed(m->call, c, head, t, stands, score);
            if (!is_seen(m->call, stands, t)) {
                continue;
            }
            top = pass == 0 ? fmax(top, score) : top;
            for (int i = 0; i < d && pass == 1; i++) {
                out[i] += exp(score - top) * v[i];
            }
            n += pass == 1 ? exp(score - top) : 0.0;
        }
    }
    double keys = n > 0.0 ? top + log(n) : -INFINITY, most = fmax(keys, sink);
    double all = isinf(most) ? most : most + log(exp(keys - most) + exp(sink - most));
    for (int i = 0; i < d; i++) {
        out[i] = n > 0.0 ? out[i] * exp(top - all) : 0.0;
    }
    out[d] = c->sink == CP_SINK_BESIDE_LSE ? keys : all;
}

static void compare_row(const struct made *m, const struct cp_kernel *kernel,
                        struct gate_scratch *scratch, int row, int head, int *finite) {
    double right[512], expected[512], bound[512];
    struct gate_numbers numbers = {.expected = expected, .bound = bound};
    int d = m->p.recipe.head_dim;
    attend(m, &kernel->conventions, row, head, right);
    right[d] /= kernel->conventions.lse_base == CP_LSE_BITS ? GATE_LN_2 : 1.0;
    gate_certify_row(scratch, kernel, row, head, &numbers);
    for (int i = 0; i <= d; i++) {
        double size = 1e-9 * (1.0 + fabs(right[i]));
        assert_true(isinf(bound[i]) || expected[i] == right[i] ||
                    fabs(expected[i] - right[i]) <= size);
        *finite += isfinite(bound[i]);
    }
    assert_int_equal(gate_has_lse(kernel, &m->p, row), isfinite(right[d]));
}

static void rows_are_judged_by_changed_scores(void **state) {
    int finite = 0;
    (void)state;
    for (int i = 0; i < 120; i++) {
        struct gate_recipe recipe = recipe_of(i, ALL);
        struct cp_kernel kernel = kernel_of(ALL, i);
        struct made m;
        recipe.values = i % 3 == 0 ? GATE_SELECT : i % 3 == 1 ? GATE_COUNT : GATE_NORMAL;
        make(&m, &recipe, &kernel);
        struct gate_scratch *scratch = gate_scratch_new(&m.p);
        assert_non_null(scratch);
        for (int row = 0; row < m.p.n_rows; row++) {
            compare_row(&m, &kernel, scratch, row, row % recipe.n_heads, &finite);
        }
        gate_scratch_free(scratch);
        done(&m);
    }
    assert_true(finite > 10000);
}

/* Rotated keys and scores that are changed, in one row: the products are those of GATE-14. */
static void rotated_rows_too(void **state) {
    struct cp_kernel kernel = kernel_of(ALL, 0);
    int compared = 0;
    (void)state;
    kernel.keys = CP_KEYS_RAW;
    for (int i = 0; i < 40; i++) {
        struct gate_recipe recipe = recipe_of(i, ALL);
        double expected[1024], bound[1024];
        struct gate_numbers numbers = {.expected = expected, .bound = bound};
        struct made m;
        recipe.values = GATE_COUNT;
        recipe.seed &= ~(1ULL << 7); /* queries of zeros: a score is its bias */
        make(&m, &recipe, &kernel);
        struct gate_scratch *scratch = gate_scratch_new(&m.p);
        for (int row = 0; row < m.p.n_rows; row++) {
            double right[512];
            attend(&m, &kernel.conventions, row, 0, right);
            gate_certify_row(scratch, &kernel, row, 0, &numbers);
            for (int x = 0; x <= recipe.head_dim; x++, compared++) {
                assert_true(isinf(bound[x]) || expected[x] == right[x] ||
                            fabs(expected[x] - right[x]) <= 1e-9 * (1.0 + fabs(right[x])));
            }
        }
        gate_scratch_free(scratch);
        done(&m);
    }
    assert_true(compared > 1000);
}

/* SCORE-3: what a row gives that sees nothing but its sink, by each convention. */
static void rows_without_keys_have_their_sinks(void **state) {
    struct cp_kernel kernel = kernel_of(CP_SCORES_SINKS, 0);
    double expected[] = {0.5, 3.0}, bound[] = {0.1, 0.2};
    (void)state;
    gate_conventions_apply(&kernel, 0, 1, 1, expected, bound);
    assert_true(expected[0] == 0.0 && expected[1] == 3.0 && bound[1] == 0.2);
    kernel.conventions.lse_base = CP_LSE_BITS;
    gate_conventions_apply(&kernel, 0, 1, 1, expected, bound);
    assert_true(fabs(expected[1] - 3.0 / GATE_LN_2) < 1e-12 && bound[1] > 0.2);
    kernel.conventions.sink = CP_SINK_BESIDE_LSE;
    gate_conventions_apply(&kernel, 0, 1, 1, expected, bound);
    assert_true(expected[1] == -INFINITY);
    kernel.conventions.sink = CP_SINK_IN_LSE;
    kernel.conventions.empty_lse = CP_EMPTY_NAN;
    kernel.conventions.empty_out = CP_EMPTY_NAN;
    gate_conventions_apply(&kernel, 0, 1, 1, expected, bound);
    assert_true(isnan(expected[0]) && isnan(expected[1]));
}

/* The class: what binary32 rounds is claimed in binary32, and a coarse tanh makes a wide bound. */
static void shifts_have_the_errors_of_the_class(void **state) {
    struct cp_kernel kernel = kernel_of(ALL, 0);
    struct gate_scores scores = {.cap = 2.0};
    const struct gate_rotated placed = {0};
    double q = 1.0, k[] = {1.0, 4.0}, shift[2], fine[2], coarse[2], wide[2];
    struct cp_tolerance_row row = {
        .n_keys = 2, .head_dim = 1, .value_dim = 1, .scale = 1.0, .q = &q, .k = k};
    (void)state;
    gate_shift_keys(&kernel, 1, &placed, &scores, 0, &row, NULL, shift, fine);
    for (int j = 0; j < 2; j++) {
        double right = 2.0 * tanh(k[j] / 2.0);
        assert_true(fabs(k[j] + shift[j] - right) < 1e-12);
        assert_true(fine[j] > 0x1p-24 * right && fine[j] < 0x1p-18);
    }
    kernel.arithmetic.tanh_error = 0x1p-10;
    gate_shift_keys(&kernel, 1, &placed, &scores, 0, &row, NULL, shift, coarse);
    kernel.arithmetic.tanh_error = 0.0;
    kernel.arithmetic.tanh_absolute = 0x1p-10;
    gate_shift_keys(&kernel, 1, &placed, &scores, 0, &row, NULL, shift, wide);
    for (int j = 0; j < 2; j++) {
        double right = 2.0 * tanh(k[j] / 2.0);
        assert_true(coarse[j] >= 0x1p-10 * right && coarse[j] < 0x1p-9 * right);
        assert_true(wide[j] >= 0x1p-9 && wide[j] < 0x1p-8);
    }
    kernel.arithmetic.score = CP_SUM_FP16;
    assert_true(gate_class_of_shift(&kernel).unit == 0x1p-11);
    kernel.arithmetic.score = CP_SUM_BF16;
    assert_true(gate_class_of_shift(&kernel).unit == 0x1p-8);
    kernel.arithmetic.score_promotes = 16; /* NUM-20: what follows is in binary32 */
    assert_true(gate_class_of_shift(&kernel).unit == 0x1p-24);
    kernel.arithmetic.score_promotes = 0;
    kernel.arithmetic.score = CP_SUM_TENSOR_CORE;
    kernel.arithmetic.truncates = 1;
    assert_true(gate_class_of_shift(&kernel).unit == 0x1p-23);
    kernel.arithmetic.score = CP_SUM_FP64;
    assert_true(gate_class_of_shift(&kernel).unit == 0x1p-52);
}

/* ---- Files of cases ---- */

static void files_keep_them(void **state) {
    (void)state;
    for (int i = 0; i < 30; i++) {
        char file[] = "/tmp/chunkproof-scores-XXXXXX";
        struct gate_found found;
        struct gate_case *cases;
        memset(&found, 0, sizeof found);
        found.recipe = recipe_of(i, ALL);
        int out = mkstemp(file);
        assert_true(out >= 0);
        close(out);
        assert_int_equal(gate_case_save(file, &found, &plain), 0);
        assert_int_equal(gate_case_load(file, "replay", &cases), 1);
        assert_int_equal(cases[0].recipe.cap, found.recipe.cap);
        assert_int_equal(cases[0].recipe.slopes, found.recipe.slopes);
        assert_int_equal(cases[0].recipe.sinks, found.recipe.sinks);
        free(cases);
        remove(file);
    }
}

static void recipes_say_them(void **state) {
    char line[GATE_LINE];
    struct gate_recipe recipe = recipe_of(2, 0);
    (void)state;
    gate_recipe_print(&recipe, line);
    assert_true(strstr(line, "capped") == NULL && strstr(line, "slopes") == NULL &&
                strstr(line, "sinks") == NULL);
    recipe.cap = 12;
    recipe.slopes = GATE_ALIBI;
    recipe.sinks = 1;
    gate_recipe_print(&recipe, line);
    assert_non_null(strstr(line, ", scores capped at 1.5, slopes of ALiBi, sinks"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(calls_have_what_is_declared),
        cmocka_unit_test(kernels_that_take_none_get_none),
        cmocka_unit_test(slopes_and_sinks_tell_heads_apart),
        cmocka_unit_test(biases_leave_binary32),
        cmocka_unit_test(rows_are_judged_by_changed_scores),
        cmocka_unit_test(rotated_rows_too),
        cmocka_unit_test(rows_without_keys_have_their_sinks),
        cmocka_unit_test(shifts_have_the_errors_of_the_class),
        cmocka_unit_test(files_keep_them),
        cmocka_unit_test(recipes_say_them),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
