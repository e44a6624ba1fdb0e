/* SPDX-License-Identifier: Apache-2.0 */
/* CONV-5: the bits of a row alone and among others, and in several calls (gate/search/invariance.c,
 * gate/case/problem.c). */
#define _POSIX_C_SOURCE 200809L /* setenv, readlink */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "gate/case/values.h"
#include "gate/search/check.h"
#include "tests/plain_kernel.h"
#include "tests/runner_files.h"

#define CASES 120
#define WORK  20000

static struct runner *runner_that(const char *varies) {
    const struct run_limits limits = {10.0, 10.0, (size_t)1 << 29, (size_t)64 << 20, NULL, 0};
    char program[4200], file[4200], error[RUN_TEXT] = "";
    struct runner *runner;
    setenv("VARIES", varies, 1);
    if (runner_new(&runner, own_program(program), beside(file, "gate/varies.so"), &limits, error) !=
        0) {
        fail_msg("%s", error);
    }
    return runner;
}

/* What the kernel finds in cases of a tree; those that are wrong must break CONV-5. */
struct found {
    int wrong, alone, cut, of_lse;
    int last_row; /* the largest row of a sequence that was found */
};

static struct found find(const char *varies) {
    struct found found = {0, 0, 0, 0, -1};
    struct runner *runner = runner_that(varies);
    for (int i = 0; i < CASES; i++) {
        struct gate_recipe recipe;
        struct gate_finding f;
        gate_recipe_make(&recipe, 23, i, 0, WORK, NULL);
        recipe.renewed = 0;
        recipe.without_lse = 0;
        assert_int_equal(gate_check_recipe(runner, &recipe, &f), 1);
        if (f.verdict == GATE_RIGHT) {
            continue;
        }
        assert_int_equal(f.verdict, GATE_OTHER_BITS);
        assert_string_equal(f.clause, "CONV-5");
        found.wrong++;
        found.alone += strstr(f.text, "the sequence is alone in a call") != NULL;
        found.cut += strstr(f.text, "the sequence's rows come in two calls, of ") != NULL;
        found.of_lse += strncmp(f.text, "lse, row ", 9) == 0 && f.element == -1;
        found.last_row = f.row > found.last_row ? f.row : found.last_row;
        assert_true(f.element < recipe.head_dim && f.head < recipe.n_heads);
    }
    runner_free(runner);
    return found;
}

static void the_same_bits_are_right(void **state) {
    (void)state;
    assert_int_equal(find("not").wrong, 0);
}

/* Other sequences, or shared chunks: seen alone. */
static void batches_are_found(void **state) {
    (void)state;
    struct found batch = find("batch"), shared = find("shared");
    assert_true(batch.wrong >= CASES / 3 && batch.alone == batch.wrong);
    assert_true(shared.wrong >= CASES / 6 && shared.alone == shared.wrong);
}

/* The number of its own rows: not seen alone. */
static void cuts_are_found(void **state) {
    (void)state;
    struct found cuts = find("cuts");
    assert_true(cuts.wrong >= CASES / 10 && cuts.cut == cuts.wrong);
    assert_true(cuts.last_row > 10);
}

/* Of the last row and head of a call, or of log-sum-exps alone. */
static void each_number_counts(void **state) {
    (void)state;
    struct found last = find("last"), lse = find("lse");
    assert_true(last.wrong >= CASES / 4);
    assert_true(lse.wrong >= CASES / 6 && lse.of_lse == lse.wrong);
}

/* ---- A part of a sequence ---- */

/* Rows first .. end - 1 stand where they stood and see what they saw, in a plan of a tree. */
static void check_part(const struct gate_problem *p, int s, int first, int end) {
    struct gate_problem part;
    int n = 0;
    assert_int_equal(gate_problem_part(&part, p, s, first, end), 0);
    assert_int_equal(part.b, 1);
    assert_int_equal(part.n_rows, end - first);
    assert_int_equal(part.n_shared, 0);
    for (int k = 0; k < part.table_width; k++) {
        int here = part.table_tokens[k];
        assert_int_equal(part.table[k] >= 0, here > 0);
        assert_int_equal(here > 0 ? part.table_position[k] : 0, here > 0 ? n : 0);
        assert_true(here == 0 || part.table[k] == p->table[s * p->table_width + k]);
        n += here;
    }
    assert_int_equal(part.n_tokens[0], n);
    for (int row = 0; row < part.n_rows; row++) {
        int before = p->query_begin[s] + first + row;
        assert_int_equal(part.position[row], p->position[before]);
        assert_int_equal(part.position[row], n - (part.n_rows - row));
        assert_int_equal(gate_visible(&part, row), gate_visible(p, before));
        size_t width = (size_t)p->recipe.n_heads * (size_t)p->recipe.head_dim;
        assert_memory_equal(part.q + (size_t)row * width, p->q + (size_t)before * width,
                            width * sizeof(double));
    }
    gate_problem_free_alone(&part);
}

static void parts_see_what_they_saw(void **state) {
    int checked = 0;
    (void)state;
    for (int i = 0; i < CASES; i++) {
        struct gate_recipe recipe;
        struct gate_problem p;
        gate_recipe_make(&recipe, 29, i, 0, WORK, NULL);
        assert_int_equal(gate_problem_new(&p, &recipe, &plain), 0);
        gate_values_fill(&p);
        for (int s = 0; s < p.b; s++) {
            int rows = p.query_begin[s + 1] - p.query_begin[s];
            for (int cut = 1; cut <= rows; cut++) {
                if (p.position[p.query_begin[s] + cut - 1] >= -1) {
                    check_part(&p, s, 0, cut);
                    check_part(&p, s, cut - 1, cut);
                    check_part(&p, s, cut - 1, rows);
                    checked++;
                }
            }
        }
        gate_problem_free(&p);
    }
    assert_true(checked > 200);
}

int main(int argc, char **argv) {
    run_if_kernel(argc, argv);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_same_bits_are_right), cmocka_unit_test(batches_are_found),
        cmocka_unit_test(cuts_are_found),          cmocka_unit_test(each_number_counts),
        cmocka_unit_test(parts_see_what_they_saw),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
