/* SPDX-License-Identifier: Apache-2.0 */
/* NUM-16, NUM-17: each number of each format of 8 bits, found again by the words of the clause; and
 * what is written next to each of them, at the middle between two, and beyond the last. */
#include <fenv.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "chunkproof/number8.h"

/* The value by the formula of the clause. */
static double by_clause(unsigned x, int format) {
    int e_bits = format == CP_E4M3 ? 4 : 5, f_bits = 7 - e_bits, bias = (1 << (e_bits - 1)) - 1;
    unsigned e = x >> f_bits & ((1U << e_bits) - 1), f = x & ((1U << f_bits) - 1);
    double sign = (x & 0x80) != 0 ? -1.0 : 1.0, scale = ldexp(1.0, f_bits);
    if (format == CP_INT8) {
        return x >= 128 ? (double)x - 256.0 : (double)x;
    }
    if (format == CP_E4M3 && (x & 0x7F) == 0x7F) {
        return NAN;
    }
    if (format == CP_E5M2 && e == 31) {
        return f == 0 ? sign * INFINITY : NAN;
    }
    return e == 0 ? sign * ldexp(f / scale, 1 - bias)
                  : sign * ldexp(1.0 + f / scale, (int)e - bias);
}

static void each_number_is_read_exactly(void **state) {
    (void)state;
    for (int format = CP_E4M3; format <= CP_INT8; format++) {
        for (unsigned x = 0; x < 256; x++) {
            double is = cp_number8_to_double((uint8_t)x, format), must = by_clause(x, format);
            assert_true(isnan(must) ? isnan(is) : is == must);
            assert_true(isnan(must) || !signbit(is) == !signbit(must));
        }
    }
    assert_true(cp_number8_largest(CP_E4M3) == 448.0);
    assert_true(cp_number8_largest(CP_E5M2) == 57344.0);
    assert_true(cp_number8_largest(CP_INT8) == 127.0);
}

static double read_back(double x, int format) {
    return cp_number8_to_double(cp_number8_from_double(x, format), format);
}

static void each_number_is_written_as_itself(void **state) {
    (void)state;
    for (int format = CP_E4M3; format <= CP_INT8; format++) {
        for (unsigned x = 0; x < 256; x++) {
            double value = by_clause(x, format);
            if (isfinite(value)) {
                assert_int_equal(cp_number8_from_double(value, format), x);
            }
        }
    }
}

/* Between a number that is not below 0 and the next one. */
static void check_between(unsigned x, int format) {
    double a = by_clause(x, format), b = by_clause(x + 1, format), half = 0.5 * (a + b);
    double even = x % 2 == 0 ? a : b;
    for (int sign = 1; sign >= -1; sign -= 2) {
        assert_true(read_back(sign * half, format) == sign * even);
        assert_true(read_back(sign * nextafter(half, a), format) == sign * a);
        assert_true(read_back(sign * nextafter(half, b), format) == sign * b);
        assert_true(read_back(sign * (a + 0.25 * (b - a)), format) == sign * a);
        assert_true(read_back(sign * (a + 0.75 * (b - a)), format) == sign * b);
    }
}

static void other_numbers_go_to_the_nearest(void **state) {
    static const int modes[] = {FE_TONEAREST, FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO};
    static const unsigned last[] = {0x7E, 0x7B, 0x7F};
    (void)state;
    for (int mode = 0; mode < 4; mode++) {
        assert_int_equal(fesetround(modes[mode]), 0);
        for (int format = CP_E4M3; format <= CP_INT8; format++) {
            for (unsigned x = 0; x < last[format - CP_E4M3]; x++) {
                check_between(x, format);
            }
        }
    }
    assert_int_equal(fesetround(FE_TONEAREST), 0);
}

static void what_is_beyond_becomes_the_largest(void **state) {
    static const double beyond[] = {448.1, 464.0, 57345.0, 61440.0, 1e300, INFINITY};
    (void)state;
    for (int i = 0; i < 6; i++) {
        for (int format = CP_E4M3; format <= CP_INT8; format++) {
            double largest = cp_number8_largest(format);
            if (beyond[i] > largest) {
                assert_true(read_back(beyond[i], format) == largest);
                assert_true(read_back(-beyond[i], format) ==
                            (format == CP_INT8 ? -128.0 : -largest));
            }
        }
    }
    assert_true(read_back(-127.5, CP_INT8) == -128.0);
    assert_true(read_back(nextafter(-127.5, 0.0), CP_INT8) == -127.0);
    assert_true(isnan(read_back(NAN, CP_E4M3)) && isnan(read_back(-NAN, CP_E5M2)));
    assert_true(read_back(NAN, CP_INT8) == 0.0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_number_is_read_exactly),
        cmocka_unit_test(each_number_is_written_as_itself),
        cmocka_unit_test(other_numbers_go_to_the_nearest),
        cmocka_unit_test(what_is_beyond_becomes_the_largest),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
