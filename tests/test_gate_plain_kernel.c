/* SPDX-License-Identifier: Apache-2.0 */
/* A kernel that declares no variant pays for none (spec/variants.md). Its cases are those that a
 * recipe's own numbers make, without windows, masks, caps, biases, sinks, pages, other widths,
 * rotations or modules, and none of its sizes is tried for them. */
#define _POSIX_C_SOURCE 200809L /* readlink */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "gate/search/check.h"
#include "tests/runner_files.h"

#define CASES 400 /* of tier quick */

static const struct run_limits limits = {
    .seconds = 20.0, .bytes = (size_t)1 << 32, .heap = 1 << 30};

static void gets_what_is_drawn(void **state) {
    char program[4200], file[4200], error[RUN_TEXT] = "";
    const struct gate_options options = {.seed = 1};
    struct runner *runner = NULL;
    (void)state;
    if (runner_new(&runner, own_program(program), beside(file, "gate/two_phase.so"), &limits,
                   error) != 0) {
        fail_msg("%s", error);
    }
    for (int index = 0; index < CASES; index++) {
        struct gate_recipe taken, drawn;
        gate_recipe_make(&drawn, options.seed, index, 0, 0, NULL);
        assert_int_equal(gate_recipe_taken(&options, runner, index, NULL, &taken), 1);
        if (memcmp(&taken, &drawn, sizeof taken) != 0) {
            fail_msg("case %d of a plain kernel has something that it does not declare", index);
        }
        assert_true(taken.window == 0 && taken.ahead == 0 && taken.kept == 0 && taken.bits == 0 &&
                    taken.cap == 0 && taken.slopes == 0 && taken.sinks == 0 && taken.biases == 0 &&
                    taken.page == 0 && taken.value_dim == 0 && taken.rotary == 0 &&
                    taken.n_modules == 0);
    }
    runner_free(runner);
}

int main(int argc, char **argv) {
    run_if_kernel(argc, argv);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gets_what_is_drawn),
    };
    return cmocka_run_group_tests_name("gate plain kernel", tests, NULL, NULL);
}
