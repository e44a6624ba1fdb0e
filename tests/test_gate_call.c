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

/* RUNS-1: the runs of a sequence have its keys, each once, in the chunks where the judge finds
 * them. Behind them the table has no chunk. */
static void runs_have_the_keys_of_their_sequence(void **state) {
    int partial = 0, empty = 0;
    (void)state;
    for (int i = 0; i < CASES; i += 3) {
        struct gate_problem p;
        struct gate_arrays a;
        make(&p, i);
        assert_int_equal(gate_arrays_new(&a, &p), 0);
        const struct cp_kernel_call *call = &a.run.call;
        int c = p.recipe.chunk_size;
        assert_int_equal(a.run.bytes[RUN_TABLE_TOKENS], a.run.bytes[RUN_TABLE]);
        assert_int_equal(a.run.bytes[RUN_TABLE_POSITION], a.run.bytes[RUN_TABLE]);
        for (int s = 0; s < p.b; s++) {
            int keys = 0;
            for (int at = s * p.table_width; at < (s + 1) * p.table_width; at++) {
                int n = call->table_tokens[at], chunk = call->table[at];
                assert_int_equal(chunk >= 0, n > 0);
                assert_int_equal(call->table_position[at], n > 0 ? keys : 0);
                assert_true(n == 0 || chunk == gate_chunk_number(&p, p.table[at]));
                keys += n;
                partial += n > 0 && n < c;
                empty += n == 0;
            }
            assert_int_equal(keys, p.n_tokens[s]);
        }
        gate_arrays_free(&a);
        gate_problem_free(&p);
    }
    assert_true(partial > CASES / 2 && empty > CASES / 2);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_stand_at_the_last_positions),
        cmocka_unit_test(runs_have_the_keys_of_their_sequence),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
