/* SPDX-License-Identifier: Apache-2.0 */
/* References near the maximum (NUM-21): the table of the class, what a declaration makes of it, and
 * kernels that lag as far as they may. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "gate/judge/class.h"
#include "ref/merging_internal.h"
#include "tests/plain_kernel.h"

#define UNIT 0x1p-24
#define KEYS 1000

static const struct gate_rotated placed;

/* At least x, and no more than a little above it. */
static void is_just_above(double got, double x) {
    assert_true(got >= x && got <= x * (1.0 + 0x1p-36));
}

static struct cp_arithmetic some_class(void) {
    struct cp_arithmetic a = cp_arithmetic_fp32(4, cp_format_fp16(), cp_format_fp16());
    a.u_ref = 0x1p-23;
    a.u_move = 0x1p-22;
    a.kappa = 0x1p-140;
    a.eta_n = 0x1p-130;
    a.eta_o = 0x1p-120;
    a.above = 3.0;
    a.below = 2.0;
    return a;
}

/* The table of the clause, with b = 2 + 2 / 2. */
static void the_class_is_that_of_the_table(void **state) {
    struct cp_arithmetic was = some_class(), a = was;
    (void)state;
    cp_follow_maximum(&a, 2.0, 0.5);
    is_just_above(a.eps, was.eps + 3.0 * (was.u_arg + 0x1p-23 + 0x1p-21));
    is_just_above(a.kappa, exp(3.0) * 0x1p-140);
    is_just_above(a.weights.tiny, exp(3.0) * 0x1p-25);
    is_just_above(a.eta_n, exp(3.0) * 0x1p-130);
    is_just_above(a.eta_o, exp(3.0) * 0x1p-120);
    assert_true(a.above == 0.0 && a.below == 0.0);
    a.eps = was.eps;
    a.kappa = was.kappa;
    a.weights.tiny = was.weights.tiny;
    a.eta_n = was.eta_n;
    a.eta_o = was.eta_o;
    assert_true(a.u_arg == was.u_arg && a.u_ref == was.u_ref && a.u_move == was.u_move &&
                a.u_n == was.u_n && a.u_o == was.u_o && a.u_part == was.u_part &&
                a.weights.unit == was.weights.unit && a.output.unit == was.output.unit &&
                a.u_div == was.u_div && a.eta_div == was.eta_div);
}

/* Distances of either kind are added up, and the errors of a score and of its shift count twice. */
static void both_distances_and_errors_of_scores_count(void **state) {
    struct cp_kernel kernel = plain;
    struct cp_arithmetic follows, a;
    struct cp_counts counts;
    struct gate_row row = {.d = 4, .n = 10, .steps = 2, .largest_score = 1.0, .rotated = &placed};
    (void)state;
    gate_class_of_row(&kernel, &row, &follows, &counts);
    row.scale = 0.5;
    row.products = 200.0;
    row.shift_error = 0.25;
    gate_class_of_row(&kernel, &row, &a, &counts);
    assert_memory_equal(&a, &follows, sizeof a); /* the reference is the maximum */
    kernel.arithmetic.above = 1.0;
    kernel.arithmetic.behind = 2.0;
    gate_class_of_row(&kernel, &row, &a, &counts);
    double sigma = cp_score_error(&follows.score, 0.5, 4, 100.0) + 0.25;
    assert_true(sigma > 0.25);
    is_just_above(a.eps, follows.eps + follows.u_arg * (3.0 + 2.0 * sigma));
    is_just_above(a.kappa, exp(3.0 + 2.0 * sigma) * follows.kappa);
}

/* m and ln n are larger by as much, each. */
static void a_log_sum_exp_errs_by_more(void **state) {
    struct cp_kernel kernel = plain;
    double before = gate_lse_error(&kernel, 10, 1.0);
    (void)state;
    kernel.arithmetic.above = 1.0;
    kernel.arithmetic.behind = 2.0;
    double more = gate_lse_error(&kernel, 10, 1.0) - before;
    assert_true(fabs(more / (8.0 * UNIT * 6.0) - 1.0) < 1e-9);
}

/* n is as much smaller as the reference is above the maximum, so that epsilon counts for more. */
static void epsilon_counts_for_more_below_a_high_reference(void **state) {
    struct cp_kernel kernel = plain;
    struct cp_arithmetic follows, a;
    struct cp_counts counts;
    (void)state;
    kernel.arithmetic.epsilon = 0x1p-10;
    gate_class_of_row(
        &kernel,
        &(struct gate_row){.d = 4, .n = 10, .steps = 2, .largest_score = 1.0, .rotated = &placed},
        &follows, &counts);
    kernel.arithmetic.behind = 2.0;
    gate_class_of_row(
        &kernel,
        &(struct gate_row){.d = 4, .n = 10, .steps = 2, .largest_score = 1.0, .rotated = &placed},
        &a, &counts);
    assert_true(a.u_div == follows.u_div);
    kernel.arithmetic.above = 2.0;
    gate_class_of_row(
        &kernel,
        &(struct gate_row){.d = 4, .n = 10, .steps = 2, .largest_score = 1.0, .rotated = &placed},
        &a, &counts);
    assert_true(a.u_div >= exp(2.0) * 0x1p-10 && a.u_div <= 1.1 * exp(2.0) * 0x1p-10);
}

/* Sums in binary16 may be exp(behind) times as large. */
static void a_sum_of_large_weights_may_overflow(void **state) {
    const double k[] = {1.0, 2.0}, v[] = {1000.0, 1000.0}, q = 1.0;
    double scratch[6];
    const struct cp_tolerance_row row = {2, 1, 1, 1.0, &q, k, v, scratch, NULL, NULL};
    const struct gate_extent extent = gate_extent_of(&row);
    const double behind[] = {0.0, 2.0, 4.0};
    const enum gate_overflow is[] = {GATE_STAYS_FINITE, GATE_STAYS_FINITE, GATE_MAY_OVERFLOW};
    (void)state;
    for (int i = 0; i < 3; i++) {
        struct cp_kernel kernel = plain;
        struct cp_arithmetic a;
        struct cp_counts counts;
        kernel.arithmetic.values = CP_SUM_FP16;
        kernel.arithmetic.behind = behind[i];
        gate_class_of_row(&kernel,
                          &(struct gate_row){.d = 1,
                                             .n = 2,
                                             .steps = 1,
                                             .largest_score = extent.score,
                                             .scale = 1.0,
                                             .products = extent.products,
                                             .rotated = &placed},
                          &a, &counts);
        assert_int_equal(gate_overflow_of(&kernel, &a, &counts, &row, &extent, &placed), is[i]);
    }
}

/* MERGING-6: sigma of the largest l_i counts twice where each is converted and rounded. */
static void errors_of_converted_parts_count_twice(void **state) {
    const struct cp_merging_class declared = {.way = CP_MERGING_STATES,
                                              .converts = CP_CONVERTS_EACH,
                                              .weights = CP_FP32,
                                              .values = CP_FP32,
                                              .partials = CP_FP32,
                                              .out_type = CP_FP32,
                                              .lse_type = CP_FP32,
                                              .behind = 1.0};
    struct cp_merging_extent near = {.n_parts = 3, .value = 1.0}, far = near;
    double sigma = 2.02 * UNIT * 0x1p18;
    (void)state;
    far.top = 0x1p18;
    struct cp_arithmetic a = cp_merging_numbers(&declared, near).arithmetic;
    struct cp_arithmetic b = cp_merging_numbers(&declared, far).arithmetic;
    assert_true(fabs(b.eta_o / a.eta_o / exp(2.0 * sigma) - 1.0) < 1e-6);
}

/* ---- Rows ---- */

struct row {
    double k[KEYS], v[KEYS], scratch[3 * KEYS], q;
};

/* Scores that rise by `step` from key to key; values 1 and 3. */
static struct cp_tolerance_row rising(struct row *r, double step) {
    r->q = 1.0;
    for (int j = 0; j < KEYS; j++) {
        r->k[j] = step * j;
        r->v[j] = 1.0 + 2.0 * (j % 2);
    }
    return (struct cp_tolerance_row){KEYS, 1, 1, 1.0, &r->q, r->k, r->v, r->scratch, NULL, NULL};
}

/* In binary32, key by key, with a reference that changes where a score is `wait` above it. */
static float lazily(const struct row *r, float wait, int *changes, float *lse) {
    float m = (float)r->k[0], n = 0.0F, o = 0.0F;
    *changes = 0;
    for (int j = 0; j < KEYS; j++) {
        float s = (float)r->k[j];
        if (s - m > wait) {
            float f = expf(m - s);
            n *= f;
            o *= f;
            m = s;
            ++*changes;
        }
        float p = expf(s - m);
        n += p;
        o += p * (float)r->v[j];
    }
    *lse = m + logf(n);
    return o / n;
}

/* A row of a thousand keys, whose reference changes many times, has nearly the bound of a kernel
 * that follows the maximum; and the kernel keeps it, from which the wrong ones differ. */
static void a_lazy_kernel_is_within_a_tight_bound(void **state) {
    static struct row r;
    const struct cp_tolerance_row row = rising(&r, 0x1p-4);
    struct cp_kernel kernel = plain;
    struct gate_extent extent = gate_extent_of(&row);
    double expected, bound, lse, lse_bound, follows = 0.0;
    (void)state;
    kernel.kv_type = kernel.q_type = CP_FP32;
    kernel.out_type = CP_FP32;
    for (int waits = 0; waits < 2; waits++) {
        struct cp_arithmetic a;
        struct cp_counts counts;
        int changes;
        float got_lse, got = lazily(&r, waits ? 5.0F : 0.0F, &changes, &got_lse);
        kernel.arithmetic.behind = waits ? 5.0 : 0.0;
        gate_class_of_row(&kernel,
                          &(struct gate_row){.d = 1,
                                             .n = KEYS,
                                             .steps = KEYS,
                                             .largest_score = extent.score,
                                             .scale = 1.0,
                                             .products = extent.products,
                                             .rotated = &placed},
                          &a, &counts);
        cp_tolerance(&a, &counts, &row, gate_lse_error(&kernel, KEYS, extent.score), &expected,
                     &bound, &lse, &lse_bound);
        assert_true(changes == (waits ? 12 : KEYS - 1));
        assert_true(fabs(got - expected) <= bound && fabs(got_lse - lse) <= lse_bound);
        assert_true(waits == 0 || (bound > follows && bound < 1.5 * follows));
        follows = bound;
    }
    assert_true(bound < 0.02);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_class_is_that_of_the_table),
        cmocka_unit_test(both_distances_and_errors_of_scores_count),
        cmocka_unit_test(a_log_sum_exp_errs_by_more),
        cmocka_unit_test(epsilon_counts_for_more_below_a_high_reference),
        cmocka_unit_test(a_sum_of_large_weights_may_overflow),
        cmocka_unit_test(errors_of_converted_parts_count_twice),
        cmocka_unit_test(a_lazy_kernel_is_within_a_tight_bound),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
