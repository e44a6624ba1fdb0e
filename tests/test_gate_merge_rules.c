/* SPDX-License-Identifier: Apache-2.0 */
/* What the acceptance rules of others see of a kernel that merges, and what the gate notes of it
 * (gate --rules). */
#define _POSIX_C_SOURCE 200809L /* readlink */

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "gate/merge/check.h"
#include "gate/merge/rules.h"
#include "gate/search/log.h"
#include "tests/merge_made.h"
#include "tests/runner_files.h"

/* ---- The plain merge ---- */

static double plain_error(int type, int n, int is_in_bits, const double *o, const double *l,
                          double r) {
    const struct gate_plain_parts parts = {type, n, 1, is_in_bits, o, l};
    struct gate_tensor tensor = {.beyond = 0};
    assert_int_equal(gate_tensor_plain_merge(&tensor, &parts, &r), 0);
    return tensor.plain_error;
}

/* Equal weights of 1/11, which binary16 has not: 4 becomes the number before it. */
static void the_plain_merge_rounds_to_its_type(void **state) {
    double o[11], l[11];
    (void)state;
    for (int i = 0; i < 11; i++) {
        o[i] = 4.0;
        l[i] = -70000.0; /* one reference for all */
    }
    assert_true(plain_error(CP_FP16, 11, 0, o, l, 4.0) == 0x1p-9);
    assert_true(plain_error(CP_FP32, 11, 0, o, l, 4.0) < 0x1p-20);
    assert_true(plain_error(CP_FP16, 2, 0, o, l, 4.0) == 0.0);
}

/* 3 nats, or 3 bits, above the other; a part without keys weighs nothing. */
static void the_plain_merge_weighs_in_its_base(void **state) {
    const double o[3] = {9.0, 0.0, 0.0}, l[3] = {4.0, 1.0, -INFINITY};
    (void)state;
    assert_true(plain_error(CP_FP32, 3, 1, o, l, 8.0) < 1e-6);
    assert_true(plain_error(CP_FP32, 3, 0, o, l, 9.0 / (1.0 + exp(-3.0))) < 1e-6);
}

/* ---- What is shown ---- */

static int pairs_with_keys(const struct merge_problem *p) {
    int n = 0;
    for (int row = 0; row < p->recipe.n_rows; row++) {
        for (int head = 0; head < p->recipe.n_heads; head++) {
            n += merge_has_keys(p, row, head);
        }
    }
    return n;
}

/* Which rules reject the results. Of those of a row without keys a cosine is 0 / 0, so that it
 * says nothing where no row has one. */
static unsigned rejected(const struct merge_arrays *a, int shown) {
    struct gate_tensor tensor = {.beyond = 0};
    assert_int_equal(merge_show(a, &tensor), shown);
    unsigned rules = gate_tensor_rejected(&tensor);
    return pairs_with_keys(a->problem) > 0 ? rules : rules & ~(1U << GATE_COSINE);
}

/* Right results in binary64 pass every rule, and one wrong number fails those that look at each. */
static void rules_see_all_numbers_of_the_output(void **state) {
    const unsigned each = 1U << GATE_ALLCLOSE_2 | 1U << GATE_ALLCLOSE_3 | 1U << GATE_BOTH_LARGE |
                          1U << GATE_TWICE_PLAIN;
    struct cp_merge_kernel k = plain;
    (void)state;
    k.arithmetic.out_type = CP_FP64;
    k.arithmetic.lse_type = CP_FP64;
    for (int i = 0; i < CASES; i++) {
        struct made m;
        k.base = i / 2 % 2;
        k.form = i % 5 == 3 ? CP_FORM_UNDIVIDED : CP_FORM_LSE;
        make(&m, &k, i);
        int n_rows = m.recipe.n_rows, n_heads = m.recipe.n_heads, d = m.recipe.head_dim;
        answer(&m.a);
        assert_int_equal(rejected(&m.a, n_rows * n_heads), 0);
        if (m.recipe.asks_lse) { /* they do not see it */
            put(&m.a, 0, 0, -1, NAN);
            assert_int_equal(rejected(&m.a, n_rows * n_heads), 0);
        }
        double was = merge_result(&m.a, n_rows - 1, n_heads - 1, d - 1);
        put(&m.a, n_rows - 1, n_heads - 1, d - 1, was + 1.0 + 0.1 * fabs(was));
        assert_int_equal(rejected(&m.a, n_rows * n_heads) & each, each);
        put(&m.a, n_rows - 1, n_heads - 1, d - 1, NAN);
        assert_int_equal(rejected(&m.a, n_rows * n_heads) & each, each);
        done(&m);
    }
}

/* Rows without keys, where anything is right, or a NaN is. */
static void rules_see_only_what_has_one_answer(void **state) {
    struct cp_merge_kernel k = plain;
    int without = 0;
    (void)state;
    for (int i = 0; i < CASES; i++) {
        struct made m;
        k.empty_out = i % 2 == 0 ? CP_EMPTY_NAN : CP_EMPTY_UNSPECIFIED;
        make(&m, &k, i);
        answer(&m.a);
        int with = pairs_with_keys(&m.p), all = m.recipe.n_rows * m.recipe.n_heads;
        assert_int_equal(rejected(&m.a, with) & 1U << GATE_ALLCLOSE_2, 0);
        without += all - with;
        done(&m);
    }
    assert_true(without > 0);
}

/* ---- In a process ---- */

static struct runner *start_it(void *name) {
    static const struct run_limits limits = {
        .seconds = 20.0, .bytes = (size_t)1 << 32, .heap = 1 << 30};
    char program[4200], file[4200], error[RUN_TEXT] = "";
    struct runner *runner = NULL;
    if (runner_new(&runner, own_program(program), beside(file, name), &limits, error) != 0) {
        fail_msg("%s: %s", (char *)name, error);
    }
    return runner;
}

static void check(struct merge_result *result, char *name, int first) {
    static const volatile int on = 0;
    const struct gate_options options = {
        .seed = SEED, .cases = 36, .only = -1, .jobs = 3, .rules = 1, .first = first};
    struct runner *runner = start_it(name);
    assert_int_equal(merge_check(&options, runner, start_it, name, result, &on), 0);
    runner_free(runner);
}

static void each_case_is_noted_in_its_order(void **state) {
    static char wrong[] = "gate/cheats/merge_few.so", right[] = "gate/merge_two.so";
    static struct merge_result result;
    long long counts[MERGE_VERDICTS] = {0}, hidden = 0;
    (void)state;
    check(&result, wrong, 0);
    assert_int_equal(result.each.n, 36);
    assert_int_equal(result.usual.n, MERGE_USUAL);
    for (int i = 0; i < 36; i++) {
        const struct gate_entry *one = &result.each.entry[i];
        assert_int_equal(one->index, i);
        assert_int_equal(one->values, i % MERGE_VALUES);
        assert_true(one->judged && one->seconds >= 0.0);
        counts[one->verdict]++;
        hidden += one->verdict != GATE_RIGHT && one->rejected == 0;
    }
    assert_memory_equal(counts, result.verdicts, sizeof counts);
    assert_true(merge_wrong_cases(&result) > hidden); /* the rules see some of them */
    for (int i = 0; i < MERGE_USUAL; i++) { /* wrong from 65 parts on: the usual test has fewer */
        assert_true(result.usual.entry[i].judged && result.usual.entry[i].rejected == 0);
        assert_int_equal(result.usual.entry[i].verdict, GATE_RIGHT);
    }
    merge_result_free(&result);
    check(&result, right, 1); /* --first: no usual test */
    assert_true(result.usual.n == 0 && result.each.n == 36);
    for (int i = 0; i < 36; i++) {
        assert_int_equal(result.each.entry[i].rejected & 1U << GATE_ALLCLOSE_3, 0);
    }
    merge_result_free(&result);
}

static void a_call_that_fails_is_noticed_by_all(void **state) {
    struct gate_entry entry = {.verdict = GATE_CRASHED};
    (void)state;
    gate_entry_judge(&entry, 0, 0);
    assert_true(entry.judged && entry.rejected == GATE_ALL_RULES);
    entry.verdict = MERGE_ORDER;
    gate_entry_judge(&entry, 1, 2);
    assert_true(entry.judged && entry.rejected == 2);
    entry.verdict = GATE_OUT_OF_BOUNDS;
    gate_entry_judge(&entry, 0, 0);
    assert_true(!entry.judged && entry.rejected == 0);
}

int main(int argc, char **argv) {
    run_if_kernel(argc, argv);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_plain_merge_rounds_to_its_type),
        cmocka_unit_test(the_plain_merge_weighs_in_its_base),
        cmocka_unit_test(rules_see_all_numbers_of_the_output),
        cmocka_unit_test(rules_see_only_what_has_one_answer),
        cmocka_unit_test(each_case_is_noted_in_its_order),
        cmocka_unit_test(a_call_that_fails_is_noticed_by_all),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
