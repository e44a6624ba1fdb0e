/* SPDX-License-Identifier: Apache-2.0 */
/* The exponential of each version, for every binary32 number from -104 to 0. It is within
 * CP_OPT_EXP_ERROR of e^x where e^x is a normal number, and below that within half a unit more;
 * it is 1 and 0 where it must be; and when x rises by more than its error, it does not fall. The
 * true e^x is exp() of the C library in binary64, which MPFR holds to one part in 2^51 here.
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

#define LOWEST     0x42D00000U /* 104 */
#define TINY_BELOW 0x33000000U /* 2^-25: below it, e^-x is 1 rounded to nearest */
#define NORMAL     0x42AEAC4FU /* the last with a normal result */
#define BATCH      4096

static float minus(uint32_t bits) {
    float x;
    bits |= 0x80000000U;
    memcpy(&x, &bits, sizeof x);
    return x;
}

/* The error of a result, as a part of what it may be. */
static double part_of_allowed(float x, float got, double error) {
    double right = exp((double)x);
    double allowed = error * right + (right < 0x1p-126 ? 0x1p-150 : 0.0);
    double off = fabs((double)got - right) / allowed;
    return isnan(off) ? INFINITY : off;
}

/* Every `step`-th of them; the largest part. */
static double worst_of(const struct cp_opt_kernels *kernels, uint32_t first, uint32_t end,
                       uint32_t step) {
    static float from[BATCH], to[BATCH];
    double worst = 0.0;
    for (uint64_t at = first; at < end;) {
        int n = 0;
        for (; n < BATCH && at < end; n++, at += step) {
            from[n] = minus((uint32_t)at);
        }
        for (int i = n; i < BATCH; i++) {
            from[i] = 0.0F;
        }
        kernels->exponentials(to, from, BATCH);
        for (int i = 0; i < n; i++) {
            double part = part_of_allowed(from[i], to[i], CP_OPT_EXP_ERROR);
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
    uint32_t step = 1;
    (void)unused;
    for (int i = 0, version; (version = opt_case_version(i)) != 0; i++) {
        struct cp_opt_kernels kernels = cp_opt_kernels_of(version);
        if (version >= CP_OPT_AMX) { /* all that they do not multiply is that of AVX-512 */
            assert_true(kernels.exponentials == cp_opt_avx512().exponentials);
            continue;
        }
        step = step_of(LOWEST - TINY_BELOW);
        double normal = worst_of(&kernels, TINY_BELOW, NORMAL + 1, step);
        double subnormal = worst_of(&kernels, NORMAL + 1, LOWEST + 1, step);
        print_message("version %d: %.4f of what is declared, subnormal %.4f\n", version, normal,
                      subnormal);
        assert_true(normal <= 1.0 && subnormal <= 1.0);
        worst = normal > worst ? normal : worst;
    }
    assert_true(worst > 0.9 || step > 1); /* it is not declared wider than it is */
}

static void tiny_numbers_give_1(void **unused) {
    static float from[BATCH], to[BATCH];
    uint32_t step = step_of(TINY_BELOW) * 64 + 1;
    (void)unused;
    for (int i = 0, version; (version = opt_case_version(i)) != 0; i++) {
        struct cp_opt_kernels kernels = cp_opt_kernels_of(version);
        for (uint64_t at = 0; at <= TINY_BELOW;) {
            for (int n = 0; n < BATCH; n++, at += step) {
                from[n] = minus((uint32_t)(at <= TINY_BELOW ? at : 0));
            }
            kernels.exponentials(to, from, BATCH);
            for (int n = 0; n < BATCH; n++) {
                assert_true(to[n] == 1.0F);
            }
        }
    }
}

/* Below the lowest: 0. A NaN stays one. */
static void the_ends(void **unused) {
    float from[CP_OPT_PAD] = {-104.0F, -105.0F, -1000.0F, -3e38F, -INFINITY, 0.0F, -0.0F, NAN};
    float to[CP_OPT_PAD];
    (void)unused;
    for (int i = 0, version; (version = opt_case_version(i)) != 0; i++) {
        struct cp_opt_kernels kernels = cp_opt_kernels_of(version);
        kernels.exponentials(to, from, CP_OPT_PAD);
        for (int n = 0; n < 5; n++) {
            assert_true(to[n] == 0.0F);
        }
        assert_true(to[5] == 1.0F && to[6] == 1.0F && isnan(to[7]));
    }
}

/* What it is held to is right itself: exp(), at a sample. */
static void the_standard_is_right(void **unused) {
    mpfr_t x;
    (void)unused;
    mpfr_init2(x, 120);
    for (uint32_t bits = TINY_BELOW; bits < LOWEST; bits += 99991) {
        double at = (double)minus(bits);
        mpfr_set_d(x, at, MPFR_RNDN);
        mpfr_exp(x, x, MPFR_RNDN);
        mpfr_div_d(x, x, exp(at), MPFR_RNDN);
        mpfr_sub_ui(x, x, 1, MPFR_RNDN);
        assert_true(fabs(mpfr_get_d(x, MPFR_RNDA)) < 0x1p-51);
    }
    mpfr_clear(x);
}

/* One unit in the last place more than allowed would be seen. */
static void a_wrong_result_is_noticed(void **unused) {
    (void)unused;
    for (uint32_t bits = TINY_BELOW; bits < LOWEST; bits += 999983) {
        float x = minus(bits), right = (float)exp((double)x), off = right;
        assert_true(part_of_allowed(x, right, CP_OPT_EXP_ERROR) <= 1.0);
        for (int i = 0; i < 3; i++) {
            off = nextafterf(off, INFINITY);
        }
        assert_true(part_of_allowed(x, off, CP_OPT_EXP_ERROR) > 1.0);
    }
    assert_true(part_of_allowed(-1.0F, NAN, CP_OPT_EXP_ERROR) > 1.0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_number),
        cmocka_unit_test(tiny_numbers_give_1),
        cmocka_unit_test(the_ends),
        cmocka_unit_test(the_standard_is_right),
        cmocka_unit_test(a_wrong_result_is_noticed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
