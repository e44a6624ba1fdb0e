/* SPDX-License-Identifier: Apache-2.0 */
/* The verdicts (gate/judge/finding.c), and when a number is right (gate/judge/judge.c). */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "gate/judge/finding.h"
#include "gate/judge/judge.h"

/* A verdict without a name would be printed as NULL. */
static void every_verdict_has_its_own_name(void **state) {
    (void)state;
    for (int i = 0; i < GATE_VERDICTS; i++) {
        assert_non_null(gate_verdict_names[i]);
        for (int j = 0; j < i; j++) {
            assert_string_not_equal(gate_verdict_names[i], gate_verdict_names[j]);
        }
    }
}

static void verdicts_of_numbers_are_told_apart(void **state) {
    (void)state;
    for (int i = 0; i < GATE_VERDICTS; i++) {
        int expected = strcmp(gate_verdict_names[i], "wrong") == 0 ||
                       strcmp(gate_verdict_names[i], "depends-on-others") == 0 ||
                       strcmp(gate_verdict_names[i], "not-a-number") == 0;
        assert_int_equal(gate_is_of_numbers((enum gate_verdict)i), expected);
    }
}

/* GATE-1: the bound itself is right, and the next number is wrong. */
static void the_bound_is_the_last_right_number(void **state) {
    (void)state;
    for (int sign = -1; sign <= 1; sign += 2) {
        double at = 1.0 + sign * 0.25;
        assert_int_equal(gate_judge_number(3, at, 1.0, 0.25), GATE_NUMBER_RIGHT);
        assert_int_equal(gate_judge_number(3, nextafter(at, sign * INFINITY), 1.0, 0.25),
                         GATE_NUMBER_WRONG);
    }
    assert_int_equal(gate_judge_number(3, NAN, 1.0, 0.25), GATE_NUMBER_WRONG);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_verdict_has_its_own_name),
        cmocka_unit_test(the_bound_is_the_last_right_number),
        cmocka_unit_test(verdicts_of_numbers_are_told_apart),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
