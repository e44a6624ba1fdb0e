/* SPDX-License-Identifier: Apache-2.0 */
/* The class and the counts by which the gate judges (gate/judge/class.c), beside those of
 * `chunkproof bound`. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "chunkproof/kernel_class.h"
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
            kernel.arithmetic.partials = CP_FP16;
            gate_class(&kernel, &r, n, 1.0, &a, &gate);
            struct bound_options o = {.chunk = c,
                                      .input = CP_FP16,
                                      .output = CP_FP16,
                                      .weights = CP_FP32,
                                      .partials = CP_FP32,
                                      .part_lse = CP_FP32,
                                      .exp_error = 0x1p-22,
                                      .merges = MERGES_RUNNING};
            struct cp_counts running;
            bound_class(&o, &(struct bound_row){.n = n, .d = 64, .scale = 1.0},
                        &(struct bound_largest){.score = 1.0, .products = 1.0}, &a, &running);
            assert_true(gate.changes >= chunks.changes && gate.changes >= running.changes);
            assert_true(gate.depth_n >= running.depth_n && gate.depth_o >= running.depth_o);
            assert_true(gate.stores >= chunks.stores);
            assert_true(gate.operations_n >= running.operations_n &&
                        gate.operations_o >= running.operations_o);
        }
    }
}

static struct cp_arithmetic arithmetic_of(const struct cp_kernel *kernel, int n) {
    const struct gate_recipe recipe = {.chunk_size = 64, .head_dim = 64};
    struct cp_arithmetic a;
    struct cp_counts counts;
    gate_class(kernel, &recipe, n, 1.0, &a, &counts);
    return a;
}

static int is_near(double x, double y) {
    return x >= y && x <= y * (1.0 + 1e-3);
}

/* GATE-15, of short formats: their units, and what they lose below their smallest numbers. */
static void short_formats_are_paid_for(void **state) {
    struct cp_kernel kernel = plain;
    (void)state;
    double eps = arithmetic_of(&kernel, 8).eps;
    kernel.arithmetic.factors = CP_FACTORS_FP16;
    struct cp_arithmetic a = arithmetic_of(&kernel, 8);
    assert_true(is_near(a.eps, eps + 0x1p-11) && a.eps > eps + 0x1p-11 && a.kappa == 0x1p-25);
    kernel.arithmetic.factors = CP_FACTORS_BF16;
    a = arithmetic_of(&kernel, 8);
    assert_true(a.eps > eps + 0x1p-8 && a.eps < eps + 0x1.02p-8 && a.kappa >= 0x1p-134);
    kernel.arithmetic.truncates = 1;
    assert_true(arithmetic_of(&kernel, 8).eps > eps + 0x1p-7);

    kernel = plain;
    kernel.arithmetic.values = CP_SUM_BF16;
    a = arithmetic_of(&kernel, 8);
    assert_true(a.u_o == 0x1p-8 && a.u_n == 0x1p-24 && a.u_part == 0.0);
    kernel.arithmetic.values = CP_SUM_FP32;
    kernel.arithmetic.score = CP_SUM_BF16;
    a = arithmetic_of(&kernel, 8);
    assert_true(a.score.unit == 0x1p-8 && a.score.term_unit == 0x1p-8 && a.u_o == 0x1p-24);
    kernel.arithmetic.score = CP_SUM_FP32;
    kernel.arithmetic.partials = CP_BF16;
    a = arithmetic_of(&kernel, 8);
    assert_true(a.u_part == 0x1p-8 && a.eta_n >= 0x1p-134 && a.eta_o >= 0x1p-134);
    kernel.arithmetic.partials = CP_FP16;
    a = arithmetic_of(&kernel, 8);
    assert_true(a.u_part == 0x1p-11 && a.eta_n == 0x1p-25 && a.eta_o == 0x1p-25);
}

/* GATE-15: a division that errs, what is added to n, and weights that are divided first. */
static void divisions_are_paid_for(void **state) {
    struct cp_kernel kernel = plain;
    (void)state;
    kernel.arithmetic.divide_error = 0x1p-12;
    assert_true(is_near(arithmetic_of(&kernel, 8).u_div, 0x1p-12 + 0x1p-24));
    kernel.arithmetic.epsilon = 0x1p-10;
    assert_true(is_near(arithmetic_of(&kernel, 8).u_div, 0x1.4p-10 + 0x1p-22 + 0x1p-23));
    kernel.arithmetic.epsilon = 0.0;
    kernel.arithmetic.divides = 1;
    struct cp_arithmetic a = arithmetic_of(&kernel, 8);
    assert_true(is_near(a.u_part, 0x1p-12) && a.u_div == 0.0);

    kernel = plain;
    kernel.arithmetic.weights = CP_FP16;
    kernel.arithmetic.values = CP_SUM_FP16;
    double eta = arithmetic_of(&kernel, 64).eta_o;
    kernel.arithmetic.normalises = 1;
    kernel.arithmetic.divide_error = 0x1p-12;
    a = arithmetic_of(&kernel, 64);
    assert_true(is_near(a.weights.unit, 0x1.8p-11 + 0x1p-23 + 0x1p-24 - 0x1p-24));
    assert_true(is_near(a.weights.tiny, 64 * 0x1p-25) && is_near(a.eta_o, 64 * eta));
    assert_true(a.u_div == 0.0 && a.eta_div == 0.0);

    kernel = plain;
    double unit = arithmetic_of(&kernel, 64).weights.unit;
    kernel.arithmetic.normalises = 1; /* the quotient of a weight and n is rounded */
    assert_true(is_near(arithmetic_of(&kernel, 64).weights.unit, unit + 0x1p-24));
}

/* In binary64, where 1 + 2^-53 is 1: errors of that size add up. */
static void the_least_errors_are_paid_for(void **state) {
    struct cp_kernel kernel = plain;
    (void)state;
    kernel.q_type = kernel.kv_type = kernel.out_type = CP_FP64;
    kernel.arithmetic.score = kernel.arithmetic.values = CP_SUM_FP64;
    double without = arithmetic_of(&kernel, 8).u_div;
    assert_true(without >= 0x1p-53);
    kernel.arithmetic.divide_error = 0x1p-53;
    assert_true(is_near(arithmetic_of(&kernel, 8).u_div, without + 0x1p-53));
    assert_true(is_near(cp_class_compound(0x1p-53, 0x1p-53), 0x1p-52));
    assert_true(cp_class_compound(0x1p-53, 0x1p-53) > 0x1p-52);
    assert_true(cp_class_compound(0.25, 0.5) >= 0.875);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(counts_are_of_any_order),
        cmocka_unit_test(short_formats_are_paid_for),
        cmocka_unit_test(divisions_are_paid_for),
        cmocka_unit_test(the_least_errors_are_paid_for),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
