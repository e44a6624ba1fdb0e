/* SPDX-License-Identifier: Apache-2.0 */
/* NUM-1 and NUM-2: binary16 and bfloat16 to and from double: every value, every boundary between
 * two values, every rounding mode. */
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

#define SIGN 0x8000

/* A format of 16 bits, as its definition has it, and our conversions. */
struct format {
    int fraction_bits;
    int bias;
    unsigned infinite; /* infinity; above it are the NaNs */
    unsigned quiet;    /* the first bit of the fraction */
    double (*to_double)(uint16_t);
    uint16_t (*from_double)(double);
};

static struct format fp16 = {10, 15, 0x7C00, 0x0200, cp_fp16_to_double, cp_fp16_from_double};
static struct format bf16 = {7, 127, 0x7F80, 0x0040, cp_bf16_to_double, cp_bf16_from_double};

static uint64_t bits_of(double x) {
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

static double double_of(uint64_t bits) {
    double x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

/* What a finite number is worth, from the definition of the format. For an infinity, the value that
 * would come after the largest, where the rounding to infinity begins to count from. */
static double value_of(const struct format *f, unsigned x) {
    int exponent = (int)(x & 0x7FFF) >> f->fraction_bits;
    int fraction = (int)x & ((1 << f->fraction_bits) - 1);
    int last = (exponent == 0 ? 1 : exponent) - f->bias - f->fraction_bits; /* of the last bit */
    double magnitude = ldexp(fraction + (exponent == 0 ? 0 : 1 << f->fraction_bits), last);
    return x & SIGN ? -magnitude : magnitude;
}

static int is_nan_16(const struct format *f, unsigned x) {
    return (x & 0x7FFF) > f->infinite;
}

static void every_value_is_decoded(void **state) {
    const struct format *f = *state;
    for (unsigned x = 0; x <= 0xFFFF; x++) {
        double decoded = f->to_double((uint16_t)x);
        if (is_nan_16(f, x)) {
            uint64_t expected = (uint64_t)(x & SIGN) << 48 | (uint64_t)0x7FF << 52 |
                                (uint64_t)1 << 51 |
                                (uint64_t)(x & (f->quiet - 1)) << (52 - f->fraction_bits);
            assert_true(isnan(decoded));
            assert_true(bits_of(decoded) == expected);
        } else if ((x & 0x7FFF) == f->infinite) {
            assert_true(bits_of(decoded) == bits_of(x & SIGN ? -INFINITY : INFINITY));
        } else {
            assert_true(bits_of(decoded) == bits_of(value_of(f, x)));
        }
    }
}

/* NUM-1: a bfloat16 is the upper half of a float. */
static void bf16_is_the_upper_half_of_a_float(void **unused) {
    (void)unused;
    for (unsigned x = 0; x <= 0xFFFF; x++) {
        uint32_t bits = (uint32_t)x << 16;
        float whole;
        memcpy(&whole, &bits, sizeof whole);
        if (!is_nan_16(&bf16, x)) {
            assert_true(bits_of(cp_bf16_to_double((uint16_t)x)) == bits_of((double)whole));
        }
    }
}

static void every_value_comes_back(void **state) {
    const struct format *f = *state;
    for (unsigned x = 0; x <= 0xFFFF; x++) {
        unsigned back = f->from_double(f->to_double((uint16_t)x));
        assert_int_equal(back, is_nan_16(f, x) ? x | f->quiet : x);
    }
}

static void expect_rounded(const struct format *f, double x, unsigned expected) {
    assert_int_equal(f->from_double(x), expected);
    assert_int_equal(f->from_double(-x), expected | SIGN);
}

/* Between two neighbours a < b: all doubles next to a, b and their midpoint, which is a double.
 * Consecutive encodings differ in their last bit, so one is even. */
static void every_boundary_is_rounded(void **state) {
    const struct format *f = *state;
    for (unsigned x = 0; x < f->infinite; x++) {
        double a = value_of(f, x);
        double b = value_of(f, x + 1);
        double middle = (a + b) / 2.0;
        expect_rounded(f, a, x);
        expect_rounded(f, nextafter(a, b), x);
        expect_rounded(f, nextafter(middle, a), x);
        expect_rounded(f, middle, x % 2 == 0 ? x : x + 1);
        expect_rounded(f, nextafter(middle, b), x + 1);
        expect_rounded(f, nextafter(b, a), x + 1);
    }
}

/* NUM-2, the table. */
static void the_ends_of_the_range(void **unused) {
    (void)unused;
    expect_rounded(&fp16, 65504.0, 0x7BFF);
    expect_rounded(&fp16, nextafter(65520.0, 0.0), 0x7BFF);
    expect_rounded(&fp16, 65520.0, 0x7C00);
    expect_rounded(&fp16, 65536.0, 0x7C00);
    expect_rounded(&fp16, 0x1p-14, 0x0400);
    expect_rounded(&fp16, 0x1p-24, 0x0001);
    expect_rounded(&fp16, 0x1p-25, 0x0000);
    expect_rounded(&fp16, nextafter(0x1p-25, 1.0), 0x0001);
    expect_rounded(&fp16, 0x1p-26, 0x0000);
    expect_rounded(&bf16, 0x1.FEp127, 0x7F7F);
    expect_rounded(&bf16, nextafter(0x1.FFp127, 0.0), 0x7F7F);
    expect_rounded(&bf16, 0x1.FFp127, 0x7F80);
    expect_rounded(&bf16, 0x1p128, 0x7F80);
    expect_rounded(&bf16, 0x1p-126, 0x0080);
    expect_rounded(&bf16, 0x1p-133, 0x0001);
    expect_rounded(&bf16, 0x1p-134, 0x0000);
    expect_rounded(&bf16, nextafter(0x1p-134, 1.0), 0x0001);
    expect_rounded(&bf16, 0x1p-135, 0x0000);
}

static void far_beyond_the_range(void **state) {
    const struct format *f = *state;
    expect_rounded(f, 1.5 * value_of(f, f->infinite), f->infinite);
    expect_rounded(f, DBL_MAX, f->infinite);
    expect_rounded(f, INFINITY, f->infinite);
    expect_rounded(f, DBL_MIN, 0x0000);
    expect_rounded(f, 0x1p-1074, 0x0000);
    expect_rounded(f, 0.0, 0x0000);
}

static void nan_keeps_sign_and_payload(void **state) {
    const struct format *f = *state;
    const uint64_t quiet = (uint64_t)0xFFF << 51;
    for (unsigned payload = 0; payload < f->quiet; payload++) {
        for (unsigned low = 0; low < 2; low++) { /* bits without room are dropped */
            uint64_t bits = quiet | (uint64_t)payload << (52 - f->fraction_bits) | low;
            unsigned expected = f->infinite | f->quiet | payload;
            assert_int_equal(f->from_double(double_of(bits)), expected);
            bits |= (uint64_t)1 << 63;
            assert_int_equal(f->from_double(double_of(bits)), SIGN | expected);
        }
    }
}

/* A signalling NaN whose payload lies below what the format has must not become an infinity. */
static void signalling_nan_stays_nan(void **state) {
    const struct format *f = *state;
    double x = double_of(((uint64_t)0x7FF << 52) | 1);
    assert_int_equal(f->from_double(x), f->infinite | f->quiet);
}

/* By way of float there are two roundings, and this comes out as 1. */
static void rounds_once(void **state) {
    const struct format *f = *state;
    double tie = 1.0 + ldexp(1.0, -f->fraction_bits - 1);
    unsigned one = (unsigned)f->bias << f->fraction_bits;
    volatile float rounded = (float)(tie + 0x1p-40);
    assert_int_equal(f->from_double(tie + 0x1p-40), one + 1);
    assert_int_equal(f->from_double(rounded), one);
}

static void rounding_mode_does_not_matter(void **state) {
    const struct format *f = *state;
    const int mode[] = {FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO};
    for (unsigned x = 0; x < f->infinite; x++) {
        double a = value_of(f, x);
        double b = value_of(f, x + 1);
        double middle = (a + b) / 2.0;
        double below = nextafter(middle, a);
        double above = nextafter(middle, b);
        for (int i = 0; i < 3; i++) {
            assert_int_equal(fesetround(mode[i]), 0);
            unsigned down = f->from_double(below);
            unsigned down_minus = f->from_double(-below);
            unsigned tie = f->from_double(middle);
            unsigned tie_minus = f->from_double(-middle);
            unsigned up = f->from_double(above);
            unsigned up_minus = f->from_double(-above);
            double decoded = f->to_double((uint16_t)x);
            double minus = f->to_double((uint16_t)(x | SIGN));
            assert_int_equal(fesetround(FE_TONEAREST), 0);
            assert_true(down == x && down_minus == (x | SIGN));
            assert_true(tie == x + x % 2 && tie_minus == (tie | SIGN));
            assert_true(up == x + 1 && up_minus == (up | SIGN));
            assert_true(bits_of(decoded) == bits_of(a) && bits_of(minus) == bits_of(-a));
        }
    }
}

/* Any double: it lies no further from what it is rounded to than from the neighbours of that. */
static void nothing_is_nearer(void **state) {
    const struct format *f = *state;
    unsigned long long random = 17;
    double smallest = value_of(f, 1);
    for (int i = 0; i < 200000; i++) { /* all binades of the format, and some below */
        double significand = 1.5 + 0.5 * random_uniform(&random);
        int binades = 2 * f->bias + f->fraction_bits + 4;
        double x = smallest * ldexp(significand, random_below(&random, binades) - 4);
        unsigned rounded = f->from_double(x);
        double error = fabs(value_of(f, rounded) - x);
        assert_true(rounded <= f->infinite);
        assert_true(rounded == 0 || error <= x - value_of(f, rounded - 1));
        assert_true(rounded == f->infinite || error <= value_of(f, rounded + 1) - x);
    }
}

/* The compiler's own binary16, where it has one. */
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
        assert_true(is_nan_16(&fp16, x) ? isnan(expected) && isnan(decoded)
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
    const double value[] = {1.5, -0.0, 65280.0, -0x1p-24, 0.0}; /* every type has these */
    (void)unused;
    for (int type = CP_FP16; type <= CP_BF16; type++) {
        double room[5];
        for (size_t i = 0; i < 5; i++) {
            cp_number_store(room, type, i, value[i]);
        }
        for (size_t i = 0; i < 5; i++) {
            assert_true(bits_of(cp_number_load(room, type, i)) == bits_of(value[i]));
        }
    }
}

/* The bytes before and behind an element stay as they were. */
static void storing_writes_no_other_byte(void **unused) {
    (void)unused;
    for (int type = CP_FP16; type <= CP_INT8; type++) {
        size_t size = cp_number_size(type);
        for (size_t index = 0; index < 4; index++) {
            double room[6];
            unsigned char byte[sizeof room];
            memset(room, 0xA5, sizeof room);
            cp_number_store(room + 1, type, index, 1.0 / 3.0);
            memcpy(byte, room, sizeof room);
            for (size_t at = 0; at < sizeof room; at++) {
                size_t begin = sizeof(double) + index * size;
                assert_true((at >= begin && at < begin + size) || byte[at] == 0xA5);
            }
        }
    }
}

static void storing_rounds_to_the_type(void **unused) {
    const double third = 1.0 / 3.0;
    double room[1];
    (void)unused;
    cp_number_store(room, CP_FP16, 0, third);
    assert_true(cp_number_load(room, CP_FP16, 0) == 0x1.554p-2);
    cp_number_store(room, CP_BF16, 0, third);
    assert_true(cp_number_load(room, CP_BF16, 0) == 0x1.56p-2);
    cp_number_store(room, CP_FP32, 0, third);
    assert_true(cp_number_load(room, CP_FP32, 0) == (double)(float)third);
    cp_number_store(room, CP_E4M3, 0, third); /* 1.375 / 4 */
    assert_true(cp_number_load(room, CP_E4M3, 0) == 0.34375);
    cp_number_store(room, CP_E5M2, 0, third); /* 1.25 / 4 */
    assert_true(cp_number_load(room, CP_E5M2, 0) == 0.3125);
    cp_number_store(room, CP_INT8, 0, 100.0 * third);
    assert_true(cp_number_load(room, CP_INT8, 0) == 33.0);
    cp_number_store(room, CP_FP64, 0, third);
    assert_true(cp_number_load(room, CP_FP64, 0) == third);
}

static void sizes(void **unused) {
    (void)unused;
    assert_int_equal(cp_number_size(CP_FP16), 2);
    assert_int_equal(cp_number_size(CP_FP32), 4);
    assert_int_equal(cp_number_size(CP_FP64), 8);
    assert_int_equal(cp_number_size(CP_BF16), 2);
    assert_int_equal(cp_number_size(CP_E4M3), 1);
    assert_int_equal(cp_number_size(CP_E5M2), 1);
    assert_int_equal(cp_number_size(CP_INT8), 1);
    assert_int_equal(cp_number_size(CP_INT8 + 1), 0);
    assert_int_equal(cp_number_size(-1), 0);
}

#define OF(test, format)                                                                           \
    { #test "_" #format, test, NULL, NULL, &(format) }
#define BOTH(test) OF(test, fp16), OF(test, bf16)

int main(void) {
    const struct CMUnitTest tests[] = {
        BOTH(every_value_is_decoded),
        cmocka_unit_test(bf16_is_the_upper_half_of_a_float),
        BOTH(every_value_comes_back),
        BOTH(every_boundary_is_rounded),
        cmocka_unit_test(the_ends_of_the_range),
        BOTH(far_beyond_the_range),
        BOTH(nan_keeps_sign_and_payload),
        BOTH(signalling_nan_stays_nan),
        BOTH(rounds_once),
        BOTH(rounding_mode_does_not_matter),
        BOTH(nothing_is_nearer),
#ifdef HAVE_FLOAT16
        cmocka_unit_test(agrees_with_the_compiler),
#endif
        cmocka_unit_test(arrays_of_each_type),
        cmocka_unit_test(storing_writes_no_other_byte),
        cmocka_unit_test(storing_rounds_to_the_type),
        cmocka_unit_test(sizes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
