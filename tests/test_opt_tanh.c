/* SPDX-License-Identifier: Apache-2.0 */
/* tanh of each version, with which scores are capped (SCORE-1), for every binary32 number from
 * 2^-26 to 9.25: within CP_OPT_TANH_ERROR of tanh x. It is x below that, 1 above, and odd. The true
 * tanh x is tanh() of the C library in binary64, which MPFR holds to one part in 2^50 here.
 * CHUNKPROOF_ELEMENTS: how many numbers, evenly spread, instead of all. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <mpfr.h>

#include "opt/kernels.h"
#include "opt_case.h"

#define TINY_BELOW 0x32800000U /* 2^-26: below it, tanh x is x rounded to nearest */
#define ONE_FROM   0x41140000U /* 9.25 */
#define ROWS       64
#define BATCH      (ROWS * CP_OPT_KEYS)

static float of_bits(uint32_t bits) {
    float x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

/* A cap of 1 on scores with scale 1: nothing but tanh. */
static void tangents(const struct cp_opt_kernels *kernels, float *to, const float *from) {
    const struct opt_change change = {.scale = 1.0F, .cap = 1.0F, .inverse = 1.0F};
    memcpy(to, from, BATCH * sizeof *to);
    kernels->change_rows(to, ROWS, CP_OPT_KEYS, &change);
}

/* The error of a result, as a part of what it may be. */
static double part_of_allowed(float x, float got) {
    double right = tanh((double)x);
    double off = fabs((double)got - right) / (CP_OPT_TANH_ERROR * fabs(right));
    return isnan(off) ? INFINITY : off;
}

/* Every `step`-th of them, of either sign in turn; the largest part. */
static double worst_of(const struct cp_opt_kernels *kernels, uint32_t step) {
    static float from[BATCH], to[BATCH];
    double worst = 0.0;
    for (uint64_t at = TINY_BELOW; at < ONE_FROM;) {
        for (int n = 0; n < BATCH; n++, at += step) {
            uint64_t bits = at < ONE_FROM ? at : ONE_FROM;
            from[n] = of_bits((uint32_t)bits | (uint32_t)(bits % 2) << 31);
        }
        tangents(kernels, to, from);
        for (int n = 0; n < BATCH; n++) {
            double part = part_of_allowed(from[n], to[n]);
            worst = part > worst ? part : worst;
        }
    }
    return worst;
}

static uint32_t step_of(uint32_t numbers) {
    const char *text = getenv("CHUNKPROOF_ELEMENTS");
    double elements = text == NULL ? 0.0 : strtod(text, NULL);
    return elements <= 0.0 || elements >= numbers ? 1 : (uint32_t)(numbers / elements);
}

static void every_number(void **unused) {
    double worst = 0.0;
    uint32_t step = step_of(ONE_FROM - TINY_BELOW);
    (void)unused;
    for (int i = 0, version; (version = opt_case_version(i)) != 0; i++) {
        struct cp_opt_kernels kernels = cp_opt_kernels_of(version);
        if (version >= CP_OPT_AMX) { /* all that they do not multiply is that of AVX-512 */
            assert_true(kernels.change_rows == cp_opt_avx512().change_rows);
            continue;
        }
        double part = worst_of(&kernels, step);
        print_message("version %d: %.4f of what is declared\n", version, part);
        assert_true(part <= 1.0);
        worst = part > worst ? part : worst;
    }
    assert_true(worst > 0.9 || step > 1); /* it is not declared wider than it is */
}

/* Down to the smallest subnormal number, and 0. */
static void tiny_numbers_are_their_own(void **unused) {
    static float from[BATCH], to[BATCH];
    uint32_t step = step_of(TINY_BELOW) * 64 + 1;
    (void)unused;
    for (int i = 0, version; (version = opt_case_version(i)) != 0; i++) {
        struct cp_opt_kernels kernels = cp_opt_kernels_of(version);
        for (uint64_t at = 0; at < TINY_BELOW;) {
            for (int n = 0; n < BATCH; n++, at += step) {
                uint64_t bits = at < TINY_BELOW ? at : 1;
                from[n] = of_bits((uint32_t)bits | (uint32_t)(bits % 2) << 31);
            }
            tangents(&kernels, to, from);
            for (int n = 0; n < BATCH; n++) {
                assert_true(to[n] == from[n]);
            }
        }
    }
}

/* x and -x have the same magnitude of a result, in any lane. */
static void it_is_odd(void **unused) {
    static float from[BATCH], to[BATCH];
    (void)unused;
    for (int i = 0, version; (version = opt_case_version(i)) != 0; i++) {
        struct cp_opt_kernels kernels = cp_opt_kernels_of(version);
        for (int n = 0; n < BATCH; n++) {
            float x = of_bits(TINY_BELOW + (uint32_t)(n / 2) * 119797U);
            from[n] = n % 2 ? -x : x;
        }
        tangents(&kernels, to, from);
        for (int n = 0; n < BATCH; n += 2) {
            assert_true(to[n] > 0.0F && to[n + 1] == -to[n]);
        }
    }
}

/* Large numbers: 1. A NaN stays one. */
static void the_ends(void **unused) {
    static float from[BATCH], to[BATCH];
    const float large[] = {9.25F, 52.0F, 104.0F, 1000.0F, 3e38F, INFINITY};
    (void)unused;
    for (int i = 0, version; (version = opt_case_version(i)) != 0; i++) {
        struct cp_opt_kernels kernels = cp_opt_kernels_of(version);
        for (int n = 0; n < BATCH; n++) {
            from[n] = n % 13 == 12 ? NAN : n % 13 < 6 ? large[n % 13] : -large[n % 13 - 6];
        }
        tangents(&kernels, to, from);
        for (int n = 0; n < BATCH; n++) {
            assert_true(n % 13 == 12 ? isnan(to[n]) : to[n] == (n % 13 < 6 ? 1.0F : -1.0F));
        }
    }
}

/* What it is held to is right itself: tanh(), at a sample. */
static void the_standard_is_right(void **unused) {
    mpfr_t x;
    (void)unused;
    mpfr_init2(x, 120);
    for (uint32_t bits = TINY_BELOW; bits < ONE_FROM; bits += 99991) {
        double at = (double)of_bits(bits);
        mpfr_set_d(x, at, MPFR_RNDN);
        mpfr_tanh(x, x, MPFR_RNDN);
        mpfr_div_d(x, x, tanh(at), MPFR_RNDN);
        mpfr_sub_ui(x, x, 1, MPFR_RNDN);
        assert_true(fabs(mpfr_get_d(x, MPFR_RNDA)) < 0x1p-50);
    }
    mpfr_clear(x);
}

/* A unit in the last place more than allowed would be seen, four units of it. */
static void a_wrong_result_is_noticed(void **unused) {
    (void)unused;
    for (uint32_t bits = TINY_BELOW; bits < ONE_FROM; bits += 999983) {
        float x = of_bits(bits), right = (float)tanh((double)x), off = right;
        assert_true(part_of_allowed(x, right) <= 1.0);
        for (int i = 0; i < 4; i++) {
            off = nextafterf(off, INFINITY);
        }
        assert_true(part_of_allowed(x, off) > 1.0);
    }
    assert_true(part_of_allowed(1.0F, NAN) > 1.0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_number),
        cmocka_unit_test(tiny_numbers_are_their_own),
        cmocka_unit_test(it_is_odd),
        cmocka_unit_test(the_ends),
        cmocka_unit_test(the_standard_is_right),
        cmocka_unit_test(a_wrong_result_is_noticed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
