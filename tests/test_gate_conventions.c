/* SPDX-License-Identifier: Apache-2.0 */
/* CONV-1 to CONV-4: what the conventions of a kernel make of the gate's cases (gate/case/) and of
 * its judgement (gate/judge/). */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "chunkproof/tolerance.h"
#include "gate/case/layout.h"
#include "gate/case/prompts.h"
#include "gate/case/rotation.h"
#include "gate/case/values.h"
#include "gate/judge/conventions.h"
#include "gate/judge/judge.h"
#include "tests/plain_kernel.h"
#include "tests/random.h"

#define CASES 150
#define WORK  20000
#define ALL   15 /* of the bits of `never` */

/* ---- CONV-3: calls that never come ---- */

static struct gate_recipe recipe_of(long long index, int modules) {
    struct gate_recipe recipe;
    gate_recipe_make(&recipe, 19, index, 0, WORK, NULL);
    if (modules) {
        gate_recipe_to_modules(&recipe, NULL);
    }
    return recipe;
}

/* What a problem has, by the words of the clause: a sum of CP_NEVER_... */
static int has(const struct gate_problem *p) {
    int found = 0;
    for (int s = 0; s < p->b; s++) {
        int begin = p->query_begin[s], end = p->query_begin[s + 1];
        found |= p->n_tokens[s] == 0 ? CP_NEVER_EMPTY_SEQUENCES : 0;
        found |= begin == end ? CP_NEVER_ROWLESS : 0;
        found |= end - begin != p->query_begin[1] ? CP_NEVER_UNEQUAL_ROWS : 0;
        for (int row = begin; row < end; row++) {
            int sees = 0;
            for (int at = s * p->table_width; at < (s + 1) * p->table_width; at++) {
                sees |= p->table_tokens[at] > 0 && p->table_position[at] <= p->position[row];
            }
            found |= sees ? 0 : CP_NEVER_EMPTY_ROWS;
        }
    }
    return found;
}

/* Of a case, of the same sizes with other numbers, and once it has grown. */
static int has_ever(const struct cp_kernel *kernel, const struct gate_recipe *recipe) {
    struct gate_problem p;
    assert_int_equal(gate_problem_new(&p, recipe, kernel), 0);
    int found = has(&p);
    gate_problem_free(&p);
    assert_int_equal(gate_problem_renew(&p, recipe, kernel), 0);
    found |= has(&p);
    (void)gate_problem_grow(&p);
    found |= has(&p);
    gate_problem_free(&p);
    return found;
}

/* The same by the gate's own words. */
static int by_the_gate(const struct cp_kernel *kernel, const struct gate_recipe *recipe) {
    struct gate_problem p;
    assert_int_equal(gate_problem_new(&p, recipe, kernel), 0);
    int found = gate_problem_has(&p);
    assert_int_equal(found, has(&p));
    gate_problem_free(&p);
    assert_int_equal(gate_problem_renew(&p, recipe, kernel), 0);
    found |= gate_problem_has(&p);
    (void)gate_problem_grow(&p);
    found |= gate_problem_has(&p);
    gate_problem_free(&p);
    return found;
}

static void no_case_has_what_is_excluded(void **state) {
    (void)state;
    for (int never = 0; never <= ALL; never++) {
        struct cp_kernel kernel = plain;
        int found = 0, rows = 0;
        kernel.conventions.never = never;
        kernel.plans = CP_PLANS_LISTS;
        for (int i = 0; i < CASES; i++) {
            struct gate_recipe recipe = recipe_of(i, i % 2);
            int of_one = has_ever(&kernel, &recipe);
            assert_int_equal(of_one, by_the_gate(&kernel, &recipe));
            assert_int_equal(of_one & never, 0);
            found |= of_one;
            rows += recipe.queries != GATE_DECODE;
        }
        assert_true(rows > 20);
        /* What is not excluded comes up, unless it follows from what is. */
        int implied = (never & CP_NEVER_EMPTY_ROWS) != 0 &&
                              (never & (CP_NEVER_ROWLESS | CP_NEVER_UNEQUAL_ROWS)) != 0
                          ? CP_NEVER_EMPTY_SEQUENCES
                          : 0;
        assert_int_equal(found | implied, ALL & ~(never & ~implied));
    }
}

/* ---- CONV-1, CONV-2: results ---- */

static void log_sum_exps_in_bits(void **state) {
    struct cp_kernel kernel = plain;
    (void)state;
    for (int i = 0; i < 1000; i++) {
        double lse = 100.0 * sin(i) * pow(2.0, i % 40 - 20), size = pow(2.0, i % 60 - 50);
        double expected[2] = {3.0, lse}, bound[2] = {0.5, size};
        kernel.conventions.lse_base = CP_LSE_NATURAL;
        gate_conventions_apply(&kernel, 4, 0, 1, expected, bound);
        assert_true(expected[1] == lse && bound[1] == size);
        kernel.conventions.lse_base = CP_LSE_BITS;
        gate_conventions_apply(&kernel, 4, 0, 1, expected, bound);
        assert_true(expected[0] == 3.0 && bound[0] == 0.5);
        long double ln_2 = logl(2.0L), off = fabsl(expected[1] - lse / ln_2);
        assert_true(bound[1] >= size / ln_2 + off);
        assert_true(bound[1] <= (size / ln_2 + 0x1p-50L * fabs(lse)) * (1.0L + 0x1p-40L));
    }
}

static void rows_without_keys(void **state) {
    struct cp_kernel kernel = plain;
    double expected[3] = {0.0, 0.0, -INFINITY}, bound[3] = {0.0};
    (void)state;
    kernel.conventions.lse_base = CP_LSE_BITS;
    kernel.conventions.empty_lse = CP_EMPTY_UNSPECIFIED;
    gate_conventions_apply(&kernel, 0, 0, 2, expected, bound);
    assert_true(expected[0] == 0.0 && expected[1] == 0.0 && expected[2] == -INFINITY);
    kernel.conventions.empty_out = CP_EMPTY_NAN;
    kernel.conventions.empty_lse = CP_EMPTY_VALUE;
    kernel.conventions.empty_value = -1e30;
    gate_conventions_apply(&kernel, 0, 0, 2, expected, bound);
    assert_true(isnan(expected[0]) && isnan(expected[1]) && expected[2] == (double)-1e30F);
    kernel.lse_type = CP_FP64;
    gate_conventions_apply(&kernel, 0, 0, 2, expected, bound);
    assert_true(expected[2] == -1e30);
    kernel.conventions.empty_lse = CP_EMPTY_NAN;
    gate_conventions_apply(&kernel, 0, 0, 2, expected, bound);
    assert_true(isnan(expected[2]));

    assert_int_equal(gate_judge_number(0, NAN, NAN, 0.0), GATE_NUMBER_RIGHT);
    assert_int_equal(gate_judge_number(0, 0.0, NAN, 0.0), GATE_NUMBER_WRONG);
    assert_int_equal(gate_judge_number(0, NAN, 0.0, 0.0), GATE_NUMBER_WRONG);
    assert_int_equal(gate_judge_number(0, -1e30, -INFINITY, 0.0), GATE_NUMBER_WRONG);
}

/* What is left open becomes neutral, and nothing else changes. */
static void what_is_open_is_neutral(void **state) {
    struct cp_kernel kernel = plain;
    int empty = 0, seen = 0;
    (void)state;
    for (int i = 0; i < CASES; i++) {
        struct gate_recipe recipe = recipe_of(i, 0);
        struct gate_problem p;
        struct gate_arrays a;
        recipe.without_lse = i % 5 == 0;
        kernel.conventions.empty_out = i % 3 == 0 ? CP_EMPTY_NAN : CP_EMPTY_UNSPECIFIED;
        kernel.conventions.empty_lse = i % 3 == 1 ? CP_EMPTY_VALUE : CP_EMPTY_UNSPECIFIED;
        assert_int_equal(gate_problem_new(&p, &recipe, &kernel), 0);
        gate_values_fill(&p);
        assert_int_equal(gate_arrays_new(&a, &p), 0);
        memset(a.memory[RUN_OUT], GATE_POISON_AGAIN, a.run.bytes[RUN_OUT]);
        memset(a.memory[RUN_LSE], GATE_POISON_AGAIN, a.run.bytes[RUN_LSE]);
        unsigned char bytes[8];
        memset(bytes, GATE_POISON_AGAIN, sizeof bytes);
        double poison = cp_number_load(bytes, CP_FP32, 0);
        double was = cp_number_load(bytes, p.out_type, 0);
        a.run.call.out = a.memory[RUN_OUT];
        a.run.call.lse = a.run.bytes[RUN_LSE] > 0 ? a.memory[RUN_LSE] : NULL;
        gate_conventions_blank(&p, &kernel, &a);
        for (int row = 0; row < p.n_rows; row++) {
            int is_empty = gate_visible(&p, row) == 0, head = row % recipe.n_heads;
            double out = gate_out_at(&a, &p, row, head, recipe.head_dim - 1);
            assert_true(out == (is_empty && i % 3 != 0 ? 0.0 : was));
            if (a.run.call.lse != NULL) {
                double lse = gate_lse_at(&a, &p, row, head);
                assert_true(is_empty && i % 3 != 1 ? lse == -INFINITY : lse == poison);
            }
            empty += is_empty;
            seen += !is_empty;
        }
        gate_arrays_free(&a);
        gate_problem_free(&p);
    }
    assert_true(empty > 20 && seen > 100);
}

/* ---- What a kernel may have meant ---- */

static void says(int n_keys, int is_lse, double got, double expected, double bound,
                 const struct cp_kernel *kernel, const char *words) {
    struct cp_kernel other;
    char text[GATE_CONVENTIONS_TEXT] = "";
    if (gate_conventions_guess(kernel, n_keys, is_lse, got, expected, bound, &other)) {
        gate_conventions_words(kernel, &other, text);
    }
    assert_string_equal(text, words);
}

static void other_conventions_are_named(void **state) {
    struct cp_kernel kernel = plain;
    (void)state;
    says(2, 1, 1.0, GATE_LN_2, 1e-6, &kernel, ".lse_base = CP_LSE_BITS");
    says(2, 1, 1.00001, GATE_LN_2, 1e-6, &kernel, "");
    says(2, 1, 1.000002, GATE_LN_2, 1e-6, &kernel, "");
    says(2, 1, 1.0, GATE_LN_2, INFINITY, &kernel, "");
    says(2, 0, 1.0, GATE_LN_2, 1e-6, &kernel, "");
    says(0, 0, NAN, 0.0, 0.0, &kernel, ".empty_out = CP_EMPTY_NAN");
    says(0, 0, 3.0, 0.0, 0.0, &kernel, "");
    says(0, 1, NAN, -INFINITY, 0.0, &kernel, ".empty_lse = CP_EMPTY_NAN");
    says(0, 1, -5e4, -INFINITY, 0.0, &kernel, ".empty_lse = CP_EMPTY_VALUE, .empty_value = -50000");
    says(0, 1, INFINITY, -INFINITY, 0.0, &kernel,
         ".empty_lse = CP_EMPTY_VALUE, .empty_value = inf");
    kernel.conventions = (struct cp_kernel_conventions){.lse_base = CP_LSE_BITS,
                                                        .empty_out = CP_EMPTY_NAN,
                                                        .empty_lse = CP_EMPTY_VALUE,
                                                        .empty_value = -5e4};
    says(2, 1, GATE_LN_2, 1.0, 1e-6, &kernel, ".lse_base = CP_LSE_NATURAL");
    says(0, 0, 0.0, NAN, 0.0, &kernel, ".empty_out = CP_EMPTY_NEUTRAL");
    says(0, 1, -INFINITY, -5e4, 0.0, &kernel, ".empty_lse = CP_EMPTY_NEUTRAL");
    says(0, 1, -1e30, -5e4, 0.0, &kernel, ".empty_value = -1e+30");
}

/* ---- CONV-4: the scale in the query ---- */

static double rounded(int type, double x) {
    return type == CP_FP16 ? cp_fp16_to_double(cp_fp16_from_double(x))
                           : cp_bf16_to_double(cp_bf16_from_double(x));
}

/* The largest error of a score by its bound, of so many queries and keys of d numbers. */
static double largest_ratio(const struct cp_kernel *kernel, int type, int d, double scale,
                            double size, unsigned long long *random) {
    double q[64], k[64], most = 0.0;
    const struct gate_rotation none = {CP_KEYS_PLACED, 0, 0, 0, NULL};
    for (int n = 0; n < 400; n++) {
        struct gate_rotated rotated = {.quarters = 0};
        struct cp_arithmetic arithmetic;
        struct cp_counts counts;
        double exact = 0.0, got = 0.0, magnitude = 0.0;
        for (int i = 0; i < d; i++) {
            q[i] = rounded(CP_FP16, size * (1.5 + 0.5 * random_uniform(random)));
            k[i] = rounded(CP_FP16, 1.0 + random_uniform(random));
            exact += q[i] * k[i];
            got += rounded(type, (double)(float)(q[i] * scale)) * k[i];
            magnitude += fabs(scale * q[i] * k[i]);
        }
        gate_scaled_extend(&none, 0, d, scale, q, k, &rotated);
        gate_class_of_row(kernel,
                          &(struct gate_row){.d = d,
                                             .n = 1,
                                             .steps = 1,
                                             .largest_score = fabs(scale * exact),
                                             .rotated = &rotated},
                          &arithmetic, &counts);
        double bound = cp_score_error(&arithmetic.score, scale, d, magnitude);
        most = fmax(most, fabs(got - scale * exact) / bound);
    }
    return most;
}

static void scaled_queries_are_paid_for(void **state) {
    struct cp_kernel kernel = plain;
    unsigned long long random = 5;
    (void)state;
    for (int scales = CP_SCALES_QUERY_FP16; scales <= CP_SCALES_QUERY_BF16; scales++) {
        int type = scales == CP_SCALES_QUERY_FP16 ? CP_FP16 : CP_BF16;
        double most = 0.0, tiny = 0.0, exact = 0.0;
        kernel.arithmetic.scales = scales;
        for (int d = 1; d <= 64; d *= 4) {
            most = fmax(most, largest_ratio(&kernel, type, d, 0.088388347648, 1.0, &random));
            tiny = fmax(tiny, largest_ratio(&kernel, type, d, 0.0021, 0x1p-14, &random));
            exact = fmax(exact, largest_ratio(&kernel, CP_FP16, d, 0.125, 1.0, &random));
        }
        assert_true(most <= 1.0 && most > 0.7);
        assert_true(tiny <= 1.0 && tiny > 0.7);
        assert_true(exact == 0.0);
        kernel.arithmetic.scales = CP_SCALES_SCORES; /* without it, the bound is too small */
        assert_true(largest_ratio(&kernel, type, 1, 0.088388347648, 1.0, &random) > 100.0);
    }
}

/* Of a key and a query: the largest numbers, also of what a rotation makes of the key. */
static void the_largest_numbers(void **state) {
    struct gate_rotation rotation = {CP_KEYS_RAW, CP_PAIRS_HALVES, 2, 1, (float[]){0.6F, 0.8F}};
    const struct gate_rotation none = {CP_KEYS_PLACED, 0, 0, 0, NULL};
    struct gate_rotated rotated = {.quarters = 0};
    (void)state;
    gate_scaled_extend(&none, 0, 3, -0.25, (double[]){1.0, -8.0, 7.0}, (double[]){5.0, 4.0, -2.0},
                       &rotated);
    assert_true(rotated.scaled == 2.0);
    assert_true(rotated.key >= 20.0 && rotated.key < 20.5);
    gate_scaled_extend(&rotation, 0, 3, -0.25, (double[]){1.0, 1.0, 1.0},
                       (double[]){5.0, -4.0, -2.0}, &rotated);
    assert_true(rotated.key >= 4.0 * 6.4 && rotated.key < 4.0 * 6.5);
}

/* A query that leaves binary16 when it is scaled: nothing is claimed. */
static void large_queries_may_overflow(void **state) {
    struct cp_kernel kernel = plain;
    struct gate_rotated rotated = {.quarters = 0};
    double q = 1.0, k[] = {0x1p-10, 0x1p-10}, scratch[6];
    struct cp_tolerance_row row = {2, 1, 1, 1.0, &q, k, k, scratch, NULL, NULL};
    struct gate_extent extent = gate_extent_of(&row);
    struct cp_arithmetic arithmetic;
    struct cp_counts counts;
    (void)state;
    kernel.arithmetic.scales = CP_SCALES_QUERY_FP16;
    gate_class_of_row(
        &kernel,
        &(struct gate_row){
            .d = 1, .n = 2, .steps = 1, .largest_score = extent.score, .rotated = &rotated},
        &arithmetic, &counts);
    const struct {
        double scaled;
        enum gate_overflow overflow;
    } of[] = {{64000.0, GATE_STAYS_FINITE}, {65000.0, GATE_UNKNOWN}, {65505.0, GATE_MAY_OVERFLOW}};
    for (int i = 0; i < 3; i++) {
        rotated.scaled = of[i].scaled;
        assert_int_equal(gate_overflow_of(&kernel, &arithmetic, &counts, &row, &extent, &rotated),
                         of[i].overflow);
    }
    kernel.arithmetic.scales = CP_SCALES_QUERY_BF16;
    assert_int_equal(gate_overflow_of(&kernel, &arithmetic, &counts, &row, &extent, &rotated),
                     GATE_STAYS_FINITE);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_case_has_what_is_excluded),
        cmocka_unit_test(log_sum_exps_in_bits),
        cmocka_unit_test(rows_without_keys),
        cmocka_unit_test(what_is_open_is_neutral),
        cmocka_unit_test(other_conventions_are_named),
        cmocka_unit_test(scaled_queries_are_paid_for),
        cmocka_unit_test(the_largest_numbers),
        cmocka_unit_test(large_queries_may_overflow),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
