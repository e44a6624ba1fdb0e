/* SPDX-License-Identifier: Apache-2.0 */
/* A call in other processes (gate/search/elsewhere.c, GATE-4). */
#define _POSIX_C_SOURCE 200809L /* setenv, readlink */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "gate/case/values.h"
#include "gate/judge/judge.h"
#include "gate/search/elsewhere.h"
#include "tests/runner_files.h"

#define PROCESSES 12 /* all of whose numbers are odd, or even, once in 2,048 times */

static struct runner *runner_that(const char *misbehaves) {
    const struct run_limits limits = {10.0, 10.0, (size_t)1 << 22, (size_t)64 << 20, NULL, 0};
    char program[4200], file[4200], error[RUN_TEXT] = "";
    struct runner *runner;
    setenv("MISBEHAVE_ALWAYS", "1", 1);
    setenv("MISBEHAVE", misbehaves, 1);
    if (runner_new(&runner, own_program(program), beside(file, "gate/misbehaves.so"), &limits,
                   error) != 0) {
        fail_msg("%s", error);
    }
    return runner;
}

/* How many runs there were in other processes, and what was found. */
static int run_there(const char *misbehaves, int processes, struct gate_finding *f) {
    const struct gate_recipe recipe = {.n_heads = 1,
                                       .n_kv_heads = 1,
                                       .head_dim = 4,
                                       .chunk_size = 4,
                                       .scale = 100,
                                       .n_ops = 1,
                                       .op = {{GATE_JOIN, 0, 0, 7}}};
    struct runner *runner = runner_that(misbehaves);
    struct gate_problem p;
    struct gate_arrays one, other;
    struct run_report report;
    assert_int_equal(gate_problem_new(&p, &recipe, runner_kernel(runner)), 0);
    gate_values_fill(&p);
    assert_int_equal(gate_arrays_new(&one, &p), 0);
    one.run.at_end = 1;
    one.run.poison = GATE_POISON;
    assert_int_equal(gate_arrays_again(&other, &one), 0);
    assert_int_equal(runner_run(runner, &one.run, &report), 0);
    *f = gate_no_finding;
    f->compared = 5;
    int runs = gate_run_elsewhere(runner, &p, &one, &other, processes, f);
    assert_int_equal(runner_processes(runner), 1);
    gate_arrays_free_again(&other);
    gate_arrays_free(&one);
    gate_problem_free(&p);
    runner_free(runner);
    return runs;
}

static void the_same_bits_are_right(void **state) {
    struct gate_finding f;
    (void)state;
    assert_int_equal(run_there("prints", 3, &f), 3);
    assert_int_equal(f.verdict, GATE_RIGHT);
    assert_int_equal(f.compared, 5);
}

static void bits_of_a_process_are_found(void **state) {
    struct gate_finding f;
    (void)state;
    assert_in_range(run_there("process-bits", PROCESSES, &f), 1, PROCESSES);
    assert_int_equal(f.verdict, GATE_OTHER_BITS);
    assert_string_equal(f.clause, "GATE-4");
    assert_non_null(strstr(f.text, "otherwise in a new process: out, element 0 of row 0"));
}

int main(int argc, char **argv) {
    run_if_kernel(argc, argv);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_same_bits_are_right),
        cmocka_unit_test(bits_of_a_process_are_found),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
