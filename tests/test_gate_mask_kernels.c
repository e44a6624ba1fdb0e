/* SPDX-License-Identifier: Apache-2.0 */
/* MASK-1: kernels with masks of bits, the reference among them, on cases of each kind. */
#define _POSIX_C_SOURCE 200809L /* readlink */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "gate/case/masks.h"
#include "gate/case/prompts.h"
#include "gate/search/check.h"
#include "tests/runner_files.h"

#define CASES 45

static const struct run_limits limits = {
    .seconds = 20.0, .bytes = (size_t)1 << 32, .heap = 1 << 30};

/* Cases with masks alone, of trees and of modules, that grow or not. */
static void are_right(const char *name) {
    char program[4200], file[4200], error[RUN_TEXT] = "";
    struct runner *runner = NULL;
    beside(file, name);
    if (runner_new(&runner, own_program(program), file, &limits, error) != 0) {
        fail_msg("%s: %s", name, error);
    }
    for (int index = 0; index < CASES; index++) {
        struct gate_recipe r;
        struct gate_finding f;
        gate_recipe_make(&r, 61, index, 0, GATE_SMALL_WORK, NULL);
        if (index % 4 == 3) {
            gate_recipe_to_modules(&r, NULL);
        }
        gate_recipe_mask(&r, index % 2 == 0 ? CP_MASKS_BITS : 0xF, NULL);
        r.bits = 1 + index % (GATE_BITS - 1);
        r.queries = index % 3 == 0 ? GATE_MANY : GATE_SEVERAL;
        assert_int_equal(gate_check_recipe(runner, &r, &f), 1);
        if (f.verdict != GATE_RIGHT) {
            fail_msg("%s, case %d: %s: %s", name, index, gate_verdict_names[f.verdict], f.text);
        }
    }
    runner_free(runner);
}

static void key_by_key(void **state) {
    (void)state;
    are_right("gate/mask_bits.so");
}

static void by_the_reference(void **state) {
    (void)state;
    are_right("gate/reference.so");
}

static void by_the_library(void **state) {
    (void)state;
    are_right("gate/opt.so");
}

int main(int argc, char **argv) {
    run_if_kernel(argc, argv);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(key_by_key),
        cmocka_unit_test(by_the_reference),
        cmocka_unit_test(by_the_library),
    };
    return cmocka_run_group_tests_name("gate mask kernels", tests, NULL, NULL);
}
