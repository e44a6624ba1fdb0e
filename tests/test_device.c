/* SPDX-License-Identifier: Apache-2.0 */
/* What the kernel's process does with a GPU (gate/runner/device.c, fence.c), where there is none:
 * tests/gate/fake_gpu.c is a kernel and the GPU. tests/gpu/gate.sh has a real one. */
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
#include "tests/runner_files.h"

#define CALLS 8 /* more than the fake GPU has room for, where memory is not given back */

static const struct run_limits limits = {10.0, 10.0, (size_t)1 << 24, (size_t)128 << 20, NULL, 0};

/* The fake GPU, or its kernel, does what the word says. `fences`: has it virtual memory? */
static int open_runner(struct runner **runner, const char *word, int fences, char error[RUN_TEXT]) {
    char program[4200], file[4200];
    setenv("FAKE", word, 1);
    if (fences) {
        unsetenv("FAKE_FENCES");
    } else {
        setenv("FAKE_FENCES", "none", 1);
    }
    return runner_new(runner, own_program(program), beside(file, "gate/fake_gpu.so"), &limits,
                      error);
}

/* Runs it on two sequences with one row each. Returns as runner_run() does. */
static int run(const char *word, int fences, int at_end, struct run_report *report) {
    const struct gate_recipe recipe = {.n_heads = 2,
                                       .n_kv_heads = 1,
                                       .head_dim = 64,
                                       .chunk_size = 4,
                                       .scale = 100,
                                       .n_ops = 2,
                                       .op = {{GATE_JOIN, 0, 0, 7}, {GATE_JOIN, 0, 0, 9}}};
    char error[RUN_TEXT] = "";
    struct runner *runner;
    struct gate_problem p;
    struct gate_arrays arrays;
    if (open_runner(&runner, word, fences, error) != 0) {
        fail_msg("%s", error);
    }
    assert_int_equal(gate_problem_new(&p, &recipe, runner_kernel(runner)), 0);
    gate_values_fill(&p);
    assert_int_equal(gate_arrays_new(&arrays, &p), 0);
    arrays.run.at_end = at_end;
    arrays.run.poison = GATE_POISON;
    arrays.run.call.workspace_size = 4096;
    int result = 0;
    for (int i = 0; i < CALLS && result == 0 && (i == 0 || report->outcome == RUN_DONE); i++) {
        result = runner_run(runner, &arrays.run, report);
    }
    if (result == 0 && report->outcome == RUN_DONE) {
        struct gate_finding f = gate_no_finding;
        assert_int_equal(gate_judge(&p, &arrays, runner_kernel(runner), 100, &f, NULL), 0);
        assert_int_equal(f.verdict, GATE_RIGHT);
    }
    gate_arrays_free(&arrays);
    gate_problem_free(&p);
    runner_free(runner);
    return result;
}

/* One fault: how it shows with fences, where arrays end at them and where they begin there, and
 * without them. */
struct fault {
    const char *word;
    enum run_outcome outcome;
    const char *at_end, *at_start, *unfenced; /* NULL: it does not show */
};

#define ILLEGAL                                                                                    \
    "CUDA reports an error in the work that it started: an illegal memory access was "             \
    "encountered, "                                                                                \
    "outside of the arrays or of shared memory"
#define LATE                                                                                       \
    "started work on another stream than call->stream: it wrote to out after the work on "         \
    "call->stream was done"

static const struct fault faults[] = {
    {"nothing", RUN_DONE, NULL, NULL, NULL},
    {"little-room", RUN_DONE, NULL, NULL, NULL}, /* its error is the gate's, not the kernel's */
    {"other-stream", RUN_WROTE_LATE, LATE, LATE, LATE},
    {"reads-behind-k", RUN_OUT_OF_BOUNDS, ILLEGAL, NULL, NULL},
    {"reads-before-k", RUN_OUT_OF_BOUNDS, NULL, ILLEGAL, NULL},
    {"writes-behind-out", RUN_WROTE_BESIDE, NULL, "wrote past the end of out, at byte 512 of 512",
     "wrote past the end of out, at byte 512 of 512"},
    {"writes-behind-out", RUN_OUT_OF_BOUNDS, ILLEGAL, NULL, NULL},
    {"writes-before-out", RUN_WROTE_BESIDE, "wrote 1 bytes before the start of out", NULL,
     "wrote 1 bytes before the start of out"},
    {"writes-before-out", RUN_OUT_OF_BOUNDS, NULL, ILLEGAL, NULL},
    {"writes-k", RUN_WROTE_INPUT, "wrote to k, which is read-only",
     "wrote to k, which is read-only", "wrote to k, which is read-only"},
    {"fails-elsewhere", RUN_OUT_OF_BOUNDS, ILLEGAL, ILLEGAL, ILLEGAL},
};

static void shows(const struct fault *fault, const char *text, int fences, int at_end) {
    struct run_report report;
    int shown_otherwise = 0;
    for (size_t i = 0; i < sizeof faults / sizeof faults[0]; i++) {
        shown_otherwise |= &faults[i] != fault && strcmp(faults[i].word, fault->word) == 0;
    }
    if (text == NULL && shown_otherwise) {
        return;
    }
    assert_int_equal(run(fault->word, fences, at_end, &report), 0);
    assert_int_equal(report.outcome, text == NULL ? RUN_DONE : fault->outcome);
    assert_string_equal(report.text, text == NULL ? "returned 0" : text);
}

static void each_fault_shows(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof faults / sizeof faults[0]; i++) {
        shows(&faults[i], faults[i].at_end, 1, 1);
        shows(&faults[i], faults[i].at_start, 1, 0);
        shows(&faults[i], faults[i].unfenced, 0, 1);
    }
}

static void without_room_there_is_no_verdict(void **state) {
    struct run_report report;
    (void)state;
    assert_int_equal(run("no-room", 1, 1, &report), -1);
    assert_string_equal(report.text, "the device has no room for n_tokens: out of memory");
}

static void without_a_gpu_there_is_no_kernel(void **state) {
    struct runner *runner;
    char error[RUN_TEXT] = "";
    (void)state;
    assert_int_not_equal(open_runner(&runner, "no-gpu", 1, error), 0);
    assert_non_null(strstr(error, "the kernel takes device memory, but the CUDA runtime has no "
                                  "device: no device; without a GPU give the kernel's source"));
}

int main(int argc, char **argv) {
    run_if_kernel(argc, argv);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_fault_shows),
        cmocka_unit_test(without_room_there_is_no_verdict),
        cmocka_unit_test(without_a_gpu_there_is_no_kernel),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
