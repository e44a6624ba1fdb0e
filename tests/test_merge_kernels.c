/* SPDX-License-Identifier: Apache-2.0 */
/* MERGING-9, MERGING-11: declarations of kernels that merge, and such kernels in processes. */
#define _POSIX_C_SOURCE 200809L /* readlink */

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "gate/merge/check.h"
#include "gate/runner/words.h"
#include "tests/merge_plain.h"
#include "tests/runner_files.h"

#define SEED 5

/* ---- Declarations ---- */

static void check_says(const struct cp_merge_kernel *kernel, const char *words) {
    char text[RUN_TEXT] = "";
    int result = run_check_merging(kernel, "/somewhere/k.so", text);
    if (words == NULL) {
        assert_int_equal(result, 0);
    } else if (result == 0 || strstr(text, words) == NULL) {
        fail_msg("not '%s', but '%s'", words, text);
    }
}

static void merging_9_a_declaration_is_checked(void **state) {
    struct cp_merge_kernel k;
    (void)state;
    check_says(&plain, NULL);
#define WITH(change, words) (k = plain, k.change, check_says(&k, words))
    WITH(o_type = 9, "k.so: cp_merge_kernel.o_type is 9");
    WITH(l_type = CP_BF16, "cp_merge_kernel.l_type is 3");
    WITH(memory = 2, "cp_merge_kernel.memory is 2");
    WITH(base = 2, "cp_merge_kernel.base is 2; it may be CP_BASE_E (0) or CP_BASE_2 (1)");
    WITH(lse = 3, "cp_merge_kernel.lse is 3");
    WITH(parts = -1, "cp_merge_kernel.parts is -1");
    WITH(layout.l = 4, "cp_merge_kernel.layout.l is 4");
    WITH(layout.gaps = 1, "cp_merge_kernel.layout.gaps is 1");
    WITH(never = 1, "cp_merge_kernel.never is 1");
    WITH(empty_out = CP_EMPTY_VALUE, "cp_merge_kernel.empty_out is 2");
    WITH(empty_value = 1.0, "cp_merge_kernel.empty_value");
    WITH(arithmetic.way = 4, "cp_merge_kernel.arithmetic.way is 4");
    WITH(arithmetic.tree = 2, "cp_merge_kernel.arithmetic.tree is 2");
    WITH(arithmetic.tree = CP_MERGING_BALANCED, "needs .way = CP_MERGING_PAIRWISE");
    WITH(empty_l = 4, "cp_merge_kernel.empty_l is 4");
    WITH(empty_l = CP_EMPTY_L_ANY, "empty_l may be CP_EMPTY_L_ANY only of parts that are given by");
    WITH(empty_l = CP_EMPTY_L_VALUE, "empty_l_value, with CP_EMPTY_L_VALUE, must be finite");
    WITH(empty_l_value = -1.0, "empty_l_value");
    k = plain;
    k.empty_l = CP_EMPTY_L_VALUE;
    static const double values[] = {-INFINITY, NAN, 0.0, 1.0, -0.1};
    for (size_t i = 0; i < sizeof values / sizeof values[0]; i++) {
        k.empty_l_value = values[i];
        check_says(&k, "cp_merge_kernel.empty_l_value");
    }
    k.l_type = CP_FP64;
    check_says(&k, NULL);
    k.in_place = 1;
    check_says(&k, "cp_merge_kernel.empty_l_value");
    WITH(arithmetic.exp_error = 0.5, "cp_merge_kernel.arithmetic.exp_error is 0.5");
    WITH(arithmetic.log_error = NAN, "cp_merge_kernel.arithmetic.log_error is nan");
    WITH(arithmetic.above = 65.0, "cp_merge_kernel.arithmetic.above is 65");
    WITH(arithmetic.behind = -1.0,
         "cp_merge_kernel.arithmetic.behind is -1; it may be from 0 to 64");
    WITH(arithmetic.behind = 1.0, NULL);
    k.arithmetic.way = CP_MERGING_PAIRWISE;
    check_says(&k, "arithmetic.behind needs .way = CP_MERGING_AT_ONCE or CP_MERGING_STATES");
    WITH(least_parts = 1001, "cp_merge_kernel.least_parts");
    WITH(most_parts = -1, "cp_merge_kernel.most_parts");
    WITH(merge = NULL, "cp_merge_kernel.merge is NULL");
    k = plain;
    k.in_place = 1;
    check_says(&k, NULL);
    WITH(in_place = 1, NULL);
    k.parts = CP_PARTS_BY_ROW;
    check_says(&k, "in_place needs .parts = CP_PARTS_EQUAL");
    k.parts = CP_PARTS_EQUAL;
    k.o_type = CP_FP16;
    k.l_type = CP_FP64;
    check_says(&k, NULL);
    k.o_type = CP_FP32;
    k.lse = CP_LSE_NEVER;
    check_says(&k, "in_place needs a log-sum-exp");
}

/* ---- In their processes ---- */

static void merging_11_kernels_of_the_field_are_right(void **state) {
    static const char *const names[] = {"two",  "pair_bits", "states", "splits",
                                        "ring", "blocks",    "begun"};
    static const struct run_limits limits = {
        .seconds = 20.0, .bytes = (size_t)1 << 32, .heap = 1 << 30};
    static const struct gate_until until = {NULL, 0.0};
    struct gate_options options = {.tier = GATE_QUICK, .seed = SEED};
    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        char program[4200], file[4200], name[64], error[RUN_TEXT] = "";
        struct merge_counts counts = {.runs = 0};
        struct runner *runner = NULL;
        (void)snprintf(name, sizeof name, "gate/merge_%s.so", names[i]);
        if (runner_new(&runner, own_program(program), beside(file, name), &limits, error) != 0) {
            fail_msg("%s: %s", name, error);
        }
        assert_non_null(runner_merge_kernel(runner));
        for (int index = 0; index < 2 * MERGE_VALUES; index++) {
            struct merge_found found;
            assert_int_equal(merge_check_case(&options, runner, index, &until, &found, &counts), 1);
            if (found.finding.verdict != GATE_RIGHT) {
                fail_msg("%s, case %d: %s", name, index, found.finding.of.text);
            }
        }
        assert_true(counts.runs >= 4 * MERGE_VALUES && counts.laws > 0);
        runner_free(runner);
    }
}

int main(int argc, char **argv) {
    run_if_kernel(argc, argv);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(merging_9_a_declaration_is_checked),
        cmocka_unit_test(merging_11_kernels_of_the_field_are_right),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
