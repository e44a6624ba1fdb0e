/* SPDX-License-Identifier: Apache-2.0 */
/* NUM-1 and NUM-2: binary16 to and from double: every value, every boundary between two values. */
#include <fenv.h>
#include <float.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "chunkproof/number.h"
#include "random.h"

#define SIGN     0x8000
#define INFINITE 0x7C00

static uint64_t bits_of(double x) {
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

/* What a finite binary16 is worth, from the definition of the format. 0x7C00 gives 2^16: the value that
 * would come after the largest, where the rounding to infinity begins to count from. */
static double value_of(unsigned x) {
    int exponent = x >> 10 & 0x1F;
    int fraction = x & 0x3FF;
    double magnitude = exponent == 0 ? ldexp(fraction, -24) : ldexp(1024 + fraction, exponent - 25);
    return x & SIGN ? -magnitude : magnitude;
}

static int is_nan_16(unsigned x) {
    return (x & 0x7FFF) > INFINITE;
}

static void every_value_is_decoded(void **unused) {
    (void)unused;
    for (unsigned x = 0; x <= 0xFFFF; x++) {
        double decoded = cp_fp16_to_double((uint16_t)x);
        if (is_nan_16(x)) {
            uint64_t expected = (uint64_t)(x & SIGN) << 48 | (uint64_t)0x7FF << 52 |
                                (uint64_t)1 << 51 | (uint64_t)(x & 0x1FF) << 42;
            assert_true(isnan(decoded));
            assert_true(bits_of(decoded) == expected);
        } else if ((x & 0x7FFF) == INFINITE) {
            assert_true(bits_of(decoded) == bits_of(x & SIGN ? -INFINITY : INFINITY));
        } else {
            assert_true(bits_of(decoded) == bits_of(value_of(x)));
        }
    }
}

static void every_value_comes_back(void **unused) {
    (void)unused;
    for (unsigned x = 0; x <= 0xFFFF; x++) {
        unsigned back = cp_fp16_from_double(cp_fp16_to_double((uint16_t)x));
        assert_int_equal(back, is_nan_16(x) ? x | 0x200 : x);
    }
}

static void expect_rounded(double x, unsigned expected) {
    assert_int_equal(cp_fp16_from_double(x), expected);
    assert_int_equal(cp_fp16_from_double(-x), expected | SIGN);
}

/* Between two neighbours a < b: all doubles next to a, b and their midpoint. The midpoint of two
 * binary16 numbers is a double. Consecutive encodings differ in their last bit, so one is even. */
static void every_boundary_is_rounded(void **unused) {
    (void)unused;
    for (unsigned x = 0; x < INFINITE; x++) {
        double a = value_of(x);
        double b = value_of(x + 1);
        double middle = (a + b) / 2.0;
        expect_rounded(a, x);
        expect_rounded(nextafter(a, b), x);
        expect_rounded(nextafter(middle, a), x);
        expect_rounded(middle, x % 2 == 0 ? x : x + 1);
        expect_rounded(nextafter(middle, b), x + 1);
        expect_rounded(nextafter(b, a), x + 1);
    }
}

static void the_ends_of_the_range(void **unused) {
    (void)unused;
    expect_rounded(65504.0, 0x7BFF);
    expect_rounded(nextafter(65520.0, 0.0), 0x7BFF);
    expect_rounded(65520.0, INFINITE);
    expect_rounded(65536.0, INFINITE);
    expect_rounded(DBL_MAX, INFINITE);
    expect_rounded(INFINITY, INFINITE);
    expect_rounded(0x1p-14, 0x0400);
    expect_rounded(0x1p-24, 0x0001);
    expect_rounded(0x1p-25, 0x0000);
    expect_rounded(nextafter(0x1p-25, 1.0), 0x0001);
    expect_rounded(0x1p-26, 0x0000);
    expect_rounded(DBL_MIN, 0x0000);
    expect_rounded(0x1p-1074, 0x0000);
    expect_rounded(0.0, 0x0000);
}

static void nan_keeps_sign_and_payload(void **unused) {
    const uint64_t quiet = (uint64_t)0xFFF << 51;
    (void)unused;
    for (unsigned payload = 0; payload < 0x200; payload++) {
        for (unsigned low = 0; low < 2;
             low++) { /* bits that binary16 has no room for are dropped */
            uint64_t bits = quiet | (uint64_t)payload << 42 | low;
            double x;
            memcpy(&x, &bits, sizeof x);
            assert_int_equal(cp_fp16_from_double(x), INFINITE | 0x200 | payload);
            bits |= (uint64_t)1 << 63;
            memcpy(&x, &bits, sizeof x);
            assert_int_equal(cp_fp16_from_double(x), SIGN | INFINITE | 0x200 | payload);
        }
    }
}

/* A signalling NaN whose payload lies below what binary16 has must not become an infinity. */
static void signalling_nan_stays_nan(void **unused) {
    uint64_t bits = ((uint64_t)0x7FF << 52) | 1;
    double x;
    (void)unused;
    memcpy(&x, &bits, sizeof x);
    assert_int_equal(cp_fp16_from_double(x), INFINITE | 0x200);
}

/* By way of float there are two roundings, and this comes out as 1. */
static void rounds_once(void **unused) {
    volatile float rounded = (float)(1.0 + 0x1p-11 + 0x1p-40);
    (void)unused;
    assert_int_equal(cp_fp16_from_double(1.0 + 0x1p-11 + 0x1p-40), 0x3C01);
    assert_int_equal(cp_fp16_from_double(rounded), 0x3C00);
}

static void rounding_mode_does_not_matter(void **unused) {
    const int mode[] = {FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO};
    (void)unused;
    for (int i = 0; i < 3; i++) {
        assert_int_equal(fesetround(mode[i]), 0);
        unsigned up = cp_fp16_from_double(1.0 + 0x1.8p-11);
        unsigned down = cp_fp16_from_double(1.0 + 0x0.8p-11);
        unsigned small = cp_fp16_from_double(0x1.4p-24);
        double decoded = cp_fp16_to_double(0x83FF);
        assert_int_equal(fesetround(FE_TONEAREST), 0);
        assert_int_equal(up, 0x3C01);
        assert_int_equal(down, 0x3C00);
        assert_int_equal(small, 0x0001);
        assert_true(decoded == -1023.0 * 0x1p-24);
    }
}

/* The compiler's own type, where it has one. */
#if defined(__FLT16_MANT_DIG__) && defined(__GNUC__) && !defined(__clang__)
#define HAVE_FLOAT16 1
static void expect_as_compiler(double x) {
    _Float16 rounded = (_Float16)x;
    uint16_t bits;
    memcpy(&bits, &rounded, sizeof bits);
    assert_int_equal(cp_fp16_from_double(x), bits);
}

static void agrees_with_the_compiler(void **unused) {
    unsigned long long random = 16;
    (void)unused;
    for (unsigned x = 0; x <= 0xFFFF; x++) {
        uint16_t bits = (uint16_t)x;
        _Float16 value;
        memcpy(&value, &bits, sizeof value);
        double expected = (double)value;
        double decoded = cp_fp16_to_double(bits);
        assert_true(is_nan_16(x) ? isnan(expected) && isnan(decoded)
                                 : bits_of(expected) == bits_of(decoded));
    }
    for (int i = 0; i < 1000000; i++) { /* all binades that matter, and some beyond */
        double significand = 1.5 + 0.5 * random_uniform(&random);
        double x = ldexp(significand, random_below(&random, 50) - 30);
        expect_as_compiler(random_bits(&random) % 2 ? x : -x);
    }
}
#endif

static void arrays_of_each_type(void **unused) {
    const double value[] = {1.5, -0.0, 65504.0, -0x1p-24, 0.0};
    (void)unused;
    for (int type = CP_FP16; type <= CP_FP64; type++) {
        double room[5];
        for (size_t i = 0; i < 5; i++) {
            cp_number_store(room, type, i, value[i]);
        }
        for (size_t i = 0; i < 5; i++) {
            assert_true(bits_of(cp_number_load(room, type, i)) == bits_of(value[i]));
        }
    }
}

static void storing_rounds_to_the_type(void **unused) {
    const double third = 1.0 / 3.0;
    double room[1];
    (void)unused;
    cp_number_store(room, CP_FP16, 0, third);
    assert_true(cp_number_load(room, CP_FP16, 0) == 0x1.554p-2);
    cp_number_store(room, CP_FP32, 0, third);
    assert_true(cp_number_load(room, CP_FP32, 0) == (double)(float)third);
    cp_number_store(room, CP_FP64, 0, third);
    assert_true(cp_number_load(room, CP_FP64, 0) == third);
}

static void sizes(void **unused) {
    (void)unused;
    assert_int_equal(cp_number_size(CP_FP16), 2);
    assert_int_equal(cp_number_size(CP_FP32), 4);
    assert_int_equal(cp_number_size(CP_FP64), 8);
    assert_int_equal(cp_number_size(3), 0);
    assert_int_equal(cp_number_size(-1), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_value_is_decoded),
        cmocka_unit_test(every_value_comes_back),
        cmocka_unit_test(every_boundary_is_rounded),
        cmocka_unit_test(the_ends_of_the_range),
        cmocka_unit_test(nan_keeps_sign_and_payload),
        cmocka_unit_test(signalling_nan_stays_nan),
        cmocka_unit_test(rounds_once),
        cmocka_unit_test(rounding_mode_does_not_matter),
#ifdef HAVE_FLOAT16
        cmocka_unit_test(agrees_with_the_compiler),
#endif
        cmocka_unit_test(arrays_of_each_type),
        cmocka_unit_test(storing_rounds_to_the_type),
        cmocka_unit_test(sizes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
