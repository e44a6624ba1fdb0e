/* SPDX-License-Identifier: Apache-2.0 */
/* The lists that a kernel is given in a call of the gate (gate/case/layout.c). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "gate/case/layout.h"
#include "gate/case/values.h"
#include "tests/plain_kernel.h"

#define CASES 240
#define WORK  200000

static void make(struct gate_problem *p, long long index) {
    struct gate_recipe recipe;
    gate_recipe_make(&recipe, 1, index, 0, WORK, NULL);
    assert_int_equal(gate_problem_new(p, &recipe, &plain), 0);
    gate_values_fill(p);
}

/* PREFILL-1: the last row of a sequence stands at its last key, and the others before it; and a row
 * sees what the judge says. */
static void rows_stand_at_the_last_positions(void **state) {
    int rows = 0, below = 0;
    (void)state;
    for (int i = 0; i < CASES; i += 3) {
        struct gate_problem p;
        struct gate_arrays a;
        make(&p, i);
        assert_int_equal(gate_arrays_new(&a, &p), 0);
        const int *position = a.run.call.position;
        assert_int_equal(a.run.bytes[RUN_POSITION], (size_t)p.n_rows * sizeof(int));
        for (int row = 0; row < p.n_rows; row++) {
            int s = gate_sequence_of(&p, row);
            int is_last = row + 1 == p.query_begin[s + 1];
            assert_int_equal(position[row], is_last ? p.n_tokens[s] - 1 : position[row + 1] - 1);
            assert_int_equal(position[row] < 0 ? 0 : position[row] + 1, gate_visible(&p, row));
            below += position[row] < 0;
        }
        rows += p.n_rows;
        gate_arrays_free(&a);
        gate_problem_free(&p);
    }
    assert_true(rows > CASES && below > 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_stand_at_the_last_positions),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
