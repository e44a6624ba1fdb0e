/* SPDX-License-Identifier: Apache-2.0 */
/* The class and the counts by which the gate judges (gate/judge/class.c), beside those of
 * `chunkproof bound`. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "cli/bound/bound.h"
#include "gate/judge/class.h"
#include "tests/plain_kernel.h"

/* GATE-2, NUM-8: no order of work that the declaration allows has larger counts than the gate
 * takes. */
static void counts_are_of_any_order(void **state) {
    (void)state;
    for (int c = 1; c <= 128; c = 2 * c + 1) {
        for (int n = c; n < 1000;
             n += c * (1 + n / 4 / c)) { /* those of the others are for full chunks */
            struct gate_recipe r = {.chunk_size = c, .head_dim = 64};
            struct cp_kernel kernel = plain;
            struct cp_arithmetic a;
            struct cp_counts gate, chunks = cp_counts_of_chunks(c, (n + c - 1) / c);
            kernel.arithmetic.step = 0;
            gate_class(&kernel, &r, n, 1.0, &a, &gate);
            struct bound_options o = {.chunk = c,
                                      .input = CP_FP16,
                                      .output = CP_FP16,
                                      .weights = CP_FP32,
                                      .partials = CP_FP32,
                                      .exp_error = 0x1p-22,
                                      .merges = MERGES_RUNNING};
            struct cp_counts running;
            bound_class(&o, &(struct bound_row){.n = n, .d = 64, .scale = 1.0}, 1.0, 0.0, &a,
                        &running);
            assert_true(gate.changes >= chunks.changes && gate.changes >= running.changes);
            assert_true(gate.depth_n >= running.depth_n && gate.depth_o >= running.depth_o);
            assert_true(gate.stores >= chunks.stores);
            assert_true(gate.operations_n >= running.operations_n &&
                        gate.operations_o >= running.operations_o);
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(counts_are_of_any_order)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
