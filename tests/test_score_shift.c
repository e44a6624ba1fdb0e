/* SPDX-License-Identifier: Apache-2.0 */
/* Shifts of scores and their errors (NUM-15): figures by hand, the parts of a bound one by one, and
 * where nothing is claimed. tests/test_score_shift_kernels.c has kernels. */
#include <float.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "chunkproof/score_shift.h"

#define U 0x1p-24

static const struct cp_shift_arithmetic none = {0.0, 0.0, 0.0, 0.0},
                                        single = {U, 0x1p-150, 2.0 * U, 0.0};

/* Between x and a little more than x. */
static int is_just_above(double error, double x) {
    return x <= error && error <= x * (1.0 + 1e-4);
}

static int is_near(double x, double y) {
    return fabs(x - y) <= 1e-14 * (1.0 + fabs(y));
}

static int claims_nothing(struct cp_shift s) {
    return s.shift == 0.0 && isinf(s.error) && s.error > 0.0;
}

/* The example of NUM-15, and of ref/score_shift.c. */
static void example_has_the_figures_of_the_specification(void **state) {
    struct cp_score_change change = {.cap = 20.0, .bias = -3.0};
    (void)state;
    struct cp_shift s = cp_shift_of(&single, &change, 10.0, 0.0, 40.0 * U);
    double capped = 20.0 * tanh(0.5);
    assert_true(is_near(s.shift, capped - 3.0 - 10.0));
    assert_true(is_just_above(s.error, (7.0 * capped + 9.0 + 3.0 * (capped - 3.0)) * U));
    assert_true(fabs(s.error / U - 92.4) < 0.05);
}

/* NUM-15: a cap of 20 makes 20 tanh((10 - 3) / 20) of the sum, and sees the error of the sum. */
static void bias_may_come_first(void **state) {
    struct cp_score_change change = {.cap = 20.0, .bias_first = 1, .bias = -3.0};
    (void)state;
    struct cp_shift s = cp_shift_of(&single, &change, 10.0, 0.0, 0.0);
    double capped = 20.0 * tanh(7.0 / 20.0);
    assert_true(is_near(s.shift, capped - 10.0));
    assert_true(is_just_above(s.error, (9.0 + 3.0 * 7.0 + 7.0 * capped) * U));
}

/* NUM-15 */
static void what_changes_nothing_costs_nothing(void **state) {
    struct cp_score_change change = {.without_bias = 1};
    (void)state;
    struct cp_shift s = cp_shift_of(&single, &change, 10.0, 1e-12, 1e-5);
    assert_true(s.shift == 0.0 && s.error == 0.0);
}

/* NUM-15: a kernel that adds a bias may round the sum of the row's own key, whose bias is 0. */
static void bias_of_zero_is_added(void **state) {
    struct cp_score_change change = {.bias = 0.0}, capped = {.cap = 20.0},
                           alone = {.cap = 20.0, .without_bias = 1};
    (void)state;
    struct cp_shift s = cp_shift_of(&single, &change, 10.0, 0.0, 0.0);
    assert_true(s.shift == 0.0);
    assert_true(is_just_above(s.error, 30.0 * U));
    s = cp_shift_of(&single, &capped, 10.0, 0.0, 0.0);
    assert_true(is_just_above(s.error, (7.0 + 3.0) * 20.0 * tanh(0.5) * U));
    s = cp_shift_of(&single, &alone, 10.0, 0.0, 0.0);
    assert_true(is_just_above(s.error, 7.0 * 20.0 * tanh(0.5) * U));
}

/* NUM-15 */
static void sink_is_its_own_shift(void **state) {
    (void)state;
    struct cp_shift s = cp_shift_of_sink(&single, -8.0);
    assert_true(s.shift == -8.0);
    assert_true(is_just_above(s.error, 24.0 * U));
    s = cp_shift_of_sink(&single, 0.0);
    assert_true(s.shift == 0.0 && s.error >= 0x1p-149 && s.error < 0x1.1p-149);
    s = cp_shift_of_sink(&none, 3.0);
    assert_true(s.shift == 3.0 && s.error == 0.0);
}

/* Without errors of a kernel there remain those of binary64, and of a score that is capped. */
static void rounding_here_is_part_of_the_error(void **state) {
    struct cp_score_change capped = {.cap = 20.0, .without_bias = 1}, biased = {.bias = -3.0};
    (void)state;
    struct cp_shift s = cp_shift_of(&none, &capped, 10.0, 0.0, 0.0);
    assert_true(0x1p-49 * 9.0 < s.error && s.error < 0x1p-45);
    s = cp_shift_of(&none, &capped, 10.0, 0.001, 0.0);
    assert_true(is_just_above(s.error, 0.001));
    s = cp_shift_of(&none, &biased, 10.0, 0.001, 0.0);
    assert_true(s.shift == -3.0);
    assert_true(0x1p-53 * 3.0 < s.error && s.error < 0x1p-48);
}

/* NUM-15: numbers that underflow. A cap multiplies the error of its argument, and of tanh. */
static void tiny_errors_are_counted(void **state) {
    struct cp_shift_arithmetic tiny = {0.0, 0.125, 0.5, 0.0}, absolute = {0.0, 0.0, 0.0, 0.25};
    struct cp_score_change capped = {.cap = 4.0, .without_bias = 1}, biased = {.bias = 1.0};
    (void)state;
    assert_true(
        is_just_above(cp_shift_of(&tiny, &capped, 0.0, 0.0, 0.0).error, 4.0 * 1.5 * 0.125 + 0.125));
    assert_true(is_just_above(cp_shift_of(&absolute, &capped, 0.0, 0.0, 0.0).error, 1.0));
    assert_true(is_just_above(cp_shift_of(&tiny, &biased, 0.0, 0.0, 0.0).error, 0.25));
    assert_true(is_just_above(cp_shift_of_sink(&tiny, 1.0).error, 0.25));
}

/* Roundings of 1/8 each, the worst that all the operations of a kernel can do together. */
static void products_of_errors_are_counted(void **state) {
    struct cp_shift_arithmetic a = {0.125, 0.5, 0.25, 0.0625};
    struct cp_score_change capped = {.cap = 4.0, .without_bias = 1}, biased = {.bias = -6.0};
    double g = 1.125, three = g * g * g - 1.0, five = pow(g, 5) * 1.25 - 1.0, x = 4.0 * tanh(0.5);
    (void)state;
    assert_true(is_just_above(cp_shift_of(&a, &capped, 2.0, 0.125, 0.5).error,
                              five * (x + 0.125 + 0.5) + 4.0 * (1.25 * 0.5 + 0.0625) * g * g + 0.5 +
                                  0.125));
    assert_true(is_just_above(cp_shift_of(&a, &biased, 2.0, 0.125, 0.5).error,
                              g * g * g * (three * 6.0 + 0.5) + three * (4.0 + 0.125 + 0.5) + 0.5));
    assert_true(is_just_above(cp_shift_of_sink(&a, -6.0).error, three * 6.0 + 0.5 * (g * g + 1.0)));
}

/* The second change sees what the first has lost. */
static void errors_go_through_the_next_change(void **state) {
    struct cp_shift_arithmetic a = {0.125, 0.0, 0.0, 0.0};
    struct cp_score_change change = {.cap = 4.0, .bias = -6.0}, other = change;
    double g = 1.125, three = g * g * g - 1.0, five = pow(g, 5) - 1.0;
    (void)state;
    double x = 4.0 * tanh(0.5), e = five * x;
    assert_true(is_just_above(cp_shift_of(&a, &change, 2.0, 0.0, 0.0).error,
                              e + (1.0 + three) * three * 6.0 + three * (6.0 - x + e)));
    other.bias_first = 1;
    x = 4.0 * tanh(1.0), e = (1.0 + three) * three * 6.0 + three * 4.0;
    assert_true(is_just_above(cp_shift_of(&a, &other, 2.0, 0.0, 0.0).error, e + five * (x + e)));
}

/* NUM-14, NUM-15 */
static void nothing_is_claimed_beyond_binary64(void **state) {
    const double bad[] = {INFINITY, -INFINITY, NAN};
    struct cp_score_change change = {.cap = 20.0, .bias = 1.0}, plain = {.bias = 1.0};
    struct cp_shift_arithmetic coarse = {0.26, 0.0, 0.0, 0.0};
    (void)state;
    for (int i = 0; i < 3; i++) {
        assert_true(claims_nothing(cp_shift_of(&single, &change, bad[i], 0.0, 0.0)));
        assert_true(claims_nothing(cp_shift_of_sink(&single, bad[i])));
        struct cp_score_change worse = {.bias = bad[i]};
        assert_true(claims_nothing(cp_shift_of(&single, &worse, 1.0, 0.0, 0.0)));
        worse = (struct cp_score_change){.cap = bad[i], .bias = 1.0};
        assert_true(claims_nothing(cp_shift_of(&single, &worse, 1.0, 0.0, 0.0)));
    }
    assert_true(claims_nothing(cp_shift_of(&single, &change, 1.0, INFINITY, 0.0)));
    assert_true(claims_nothing(cp_shift_of(&single, &change, 1.0, 0.0, INFINITY)));
    assert_true(claims_nothing(cp_shift_of(&single, &plain, -DBL_MAX, 0.0, DBL_MAX)));
    assert_true(claims_nothing(cp_shift_of(&coarse, &change, 1.0, 0.0, 0.0)));
    change.cap = DBL_MIN; /* the argument of tanh is beyond binary64 */
    assert_true(claims_nothing(cp_shift_of(&single, &change, 10.0, 0.0, 0.0)));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(example_has_the_figures_of_the_specification),
        cmocka_unit_test(bias_may_come_first),
        cmocka_unit_test(what_changes_nothing_costs_nothing),
        cmocka_unit_test(bias_of_zero_is_added),
        cmocka_unit_test(sink_is_its_own_shift),
        cmocka_unit_test(rounding_here_is_part_of_the_error),
        cmocka_unit_test(tiny_errors_are_counted),
        cmocka_unit_test(products_of_errors_are_counted),
        cmocka_unit_test(errors_go_through_the_next_change),
        cmocka_unit_test(nothing_is_claimed_beyond_binary64),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
