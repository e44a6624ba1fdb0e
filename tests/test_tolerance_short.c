/* SPDX-License-Identifier: Apache-2.0 */
/* Short sums that are promoted (NUM-20): how many additions of binary32 stand for a rounding in 16
 * bits; sums that lose all that the clause allows, but for a little, and none that loses more. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "chunkproof/tolerance_parts.h"
#include "fuzz/tolerance/sums.h"
#include "gate/judge/class.h"
#include "tests/plain_kernel.h"

#define MOST_KEYS 1024

static const struct gate_rotated placed;

static double unit_of(int type) {
    return type == CP_FP16 ? 0x1p-11 : 0x1p-8;
}

/* A kernel that adds P V, or q . k, in the type, so many products at a time; 0: all. */
static struct cp_kernel kernel_of(int type, int values, int promotes) {
    struct cp_kernel kernel = plain;
    int sum = type == CP_FP16 ? CP_SUM_FP16 : CP_SUM_BF16;
    kernel.out_type = CP_FP32;
    kernel.arithmetic.step = 0;
    if (values) {
        kernel.arithmetic.values = sum;
        kernel.arithmetic.values_promotes = promotes;
    } else {
        kernel.arithmetic.score = sum;
        kernel.arithmetic.score_promotes = promotes;
    }
    return kernel;
}

/* A rounding in 16 bits is 1 + v; so many of binary32 make (1 + u)^w, a little more. */
static void a_rounding_counts_as_so_many(void **state) {
    const int types[] = {CP_FP16, CP_BF16};
    (void)state;
    for (int i = 0; i < 2; i++) {
        double v = unit_of(types[i]);
        int w = cp_additions_as_one(types[i]);
        double grown = expm1(w * log1p(0x1p-24));
        assert_true(w * 0x1p-24 == v && v < grown && grown < v / (1.0 - v));
        assert_int_equal(cp_depth_of_short_sums(types[i], 3, 7), 3 * w + 7);
        assert_int_equal(cp_depth_of_short_sums(types[i], 0, 7), 7);
    }
    assert_int_equal(cp_depth_of_short_sums(CP_FP16, 15, 128), 15 * 8192 + 128);
}

static double score_error(const struct cp_kernel *kernel, int d) {
    struct cp_score_arithmetic a = gate_class_of_score(kernel, d, &placed);
    a.scale_unit = a.scale_tiny = 0.0; /* the sum alone */
    return cp_score_error(&a, 1.0, d, 1.0);
}

/* NUM-20's example; as many products at a time as there are, or more, are what one sum has. */
static void sixteen_of_128_is_an_eighth(void **state) {
    struct cp_kernel kernel = kernel_of(CP_FP16, 0, 16), whole = kernel_of(CP_FP16, 0, 0);
    (void)state;
    double tiny = 128 * 0x1p-25;
    double few = score_error(&kernel, 128) - tiny, all = score_error(&whole, 128) - tiny;
    assert_true(fabs(few - 0.00785) < 1e-5 && fabs(all - 0.0650) < 1e-4);
    assert_true(8.2 < all / few && all / few < 8.3);
    for (int d = 1; d <= 64; d = 2 * d + 1) {
        kernel.arithmetic.score_promotes = 64;
        double more = score_error(&kernel, d);
        kernel.arithmetic.score_promotes = d;
        assert_true(score_error(&kernel, d) == more);
        assert_true(more < 1.001 * score_error(&whole, d) && more > 0x1p-11 * d);
    }
}

/* What terms 1, v, v ... lose, k in a sum: each v is half of what 1 could take, and goes. */
static double lost_part(double v, int k) {
    return (k - 1) * v / (1.0 + (k - 1) * v);
}

/* What short sums of k may lose: k roundings. Beside that, of 4 k terms, units of binary32: of the
 * additions, the steps and the tinies, twice as many as there are. */
static double allowed_part(double v, int k) {
    return expm1(k * v) + (16.0 * k + 64.0) * 0x1p-24;
}

static double pattern(double v, int k, int i) {
    return i % k == 0 ? 1.0 : v;
}

static double sum_of_pattern(int type, double v, int k, int promotes, int n) {
    struct sum sum = {.method = SUM_SEQUENTIAL, .promotes = promotes, .short_type = type};
    double a[MOST_KEYS];
    unsigned long long random = 1;
    for (int i = 0; i < n; i++) {
        a[i] = pattern(v, k, i);
    }
    return sums_products(&sum, CP_FP32, a, NULL, n, 0.0, &random);
}

/* The bound of the mean of n values, all of one weight; and the usual error. */
static double bound_of_mean(const struct cp_kernel *kernel, double v, int k, int n, double *mean,
                            double *rms) {
    static double zeros[MOST_KEYS], values[MOST_KEYS], scratch[3 * MOST_KEYS];
    const struct cp_tolerance_row row = {n, 1, 1, 1.0, zeros, zeros, values, scratch, NULL, NULL};
    struct cp_arithmetic a;
    struct cp_counts counts;
    double bound;
    for (int i = 0; i < n; i++) {
        values[i] = pattern(v, k, i);
    }
    gate_class_of_row(
        kernel,
        &(struct gate_row){.d = 1, .n = n, .steps = 1, .largest_score = 0.0, .rotated = &placed},
        &a, &counts);
    cp_tolerance(&a, &counts, &row, 0.0, mean, &bound, NULL, NULL);
    cp_tolerance_rms(&a, &counts, &row, mean, rms);
    return bound;
}

static void values_lose_what_is_allowed_and_no_more(void **state) {
    const int types[] = {CP_FP16, CP_BF16};
    (void)state;
    for (int i = 0; i < 2; i++) {
        double v = unit_of(types[i]), mean, rms;
        for (int k = 4; k <= 64; k *= 2) {
            struct cp_kernel kernel = kernel_of(types[i], 1, k);
            double bound = bound_of_mean(&kernel, v, k, 4 * k, &mean, &rms);
            double lost = fabs(sum_of_pattern(types[i], v, k, k, 4 * k) / (4 * k) - mean) / mean;
            assert_true(fabs(lost - lost_part(v, k)) < 1e-6);
            assert_true(lost <= bound / mean && rms <= bound);
            assert_true(bound / mean <= allowed_part(v, k));
            assert_true(lost > 2.0 / 3.0 * bound / mean); /* of 1, 1 of k roundings is exact */
        }
    }
}

/* A kernel that promotes later than it declares is found: here four times as many products. */
static void promoting_later_is_beyond(void **state) {
    const int types[] = {CP_FP16, CP_BF16};
    (void)state;
    for (int i = 0; i < 2; i++) {
        double v = unit_of(types[i]), mean, rms;
        for (int k = 4; k <= 32; k *= 2) {
            struct cp_kernel kernel = kernel_of(types[i], 1, k);
            double bound = bound_of_mean(&kernel, v, 4 * k, 8 * k, &mean, &rms);
            double got = sum_of_pattern(types[i], v, 4 * k, 4 * k, 8 * k) / (8 * k);
            assert_true(fabs(got - mean) > bound);
        }
    }
}

static void scores_lose_what_is_allowed_and_no_more(void **state) {
    const int types[] = {CP_FP16, CP_BF16};
    (void)state;
    for (int i = 0; i < 2; i++) {
        double v = unit_of(types[i]);
        for (int k = 4; k <= 64; k *= 2) {
            struct cp_kernel kernel = kernel_of(types[i], 0, k);
            double size = 4.0 * (1.0 + (k - 1) * v);
            double lost = (size - sum_of_pattern(types[i], v, k, k, 4 * k)) / size;
            double bound = score_error(&kernel, 4 * k);
            assert_true(fabs(lost - lost_part(v, k)) < 1e-6);
            assert_true(lost <= bound && bound <= allowed_part(v, k) && lost > 2.0 / 3.0 * bound);
        }
    }
}

/* NUM-13: a sum by one short sum is as usual as a sum in 16 bits. Each v that is lost is no usual
 * rounding: k of them are more than R. */
static void the_usual_error_is_that_of_roundings(void **state) {
    const int types[] = {CP_FP16, CP_BF16};
    (void)state;
    for (int i = 0; i < 2; i++) {
        double v = unit_of(types[i]), mean, few, all;
        for (int k = 16; k <= 256; k *= 4) {
            struct cp_kernel one = kernel_of(types[i], 1, k), whole = kernel_of(types[i], 1, 0);
            bound_of_mean(&one, v, k, k, &mean, &few);
            bound_of_mean(&whole, v, k, k, &mean, &all);
            assert_true(fabs(few / all - 1.0) < 0.2);
            one.arithmetic.values_promotes = k / 4;
            bound_of_mean(&one, v, k, k, &mean, &few);
            assert_true(fabs(few / all - 0.5) < 0.1);
        }
    }
}

/* Additions in binary32 count for what is flushed, and are truncated like the others. */
static void flushed_and_truncated_sums_count(void **state) {
    struct cp_kernel kernel = kernel_of(CP_FP16, 1, 16), scores = kernel_of(CP_FP16, 0, 16);
    struct cp_arithmetic a;
    struct cp_counts few, flushed;
    (void)state;
    gate_class_of_row(
        &kernel,
        &(struct gate_row){.d = 64, .n = 100, .steps = 1, .largest_score = 1.0, .rotated = &placed},
        &a, &few);
    assert_true(a.u_o == 0x1p-24 && a.eta_o == 0x1p-25 && a.u_n == 0x1p-24);
    kernel.arithmetic.flushes = kernel.arithmetic.truncates = 1;
    gate_class_of_row(
        &kernel,
        &(struct gate_row){.d = 64, .n = 100, .steps = 1, .largest_score = 1.0, .rotated = &placed},
        &a, &flushed);
    assert_true(flushed.operations_o == few.operations_o + 100.0 && a.eta_o == 0x1p-14);
    assert_true(a.u_o == 0x1p-23 && flushed.depth_o == few.depth_o);
    assert_int_equal(gate_class_of_score(&scores, 64, &placed).n_additions, 64);
    scores.arithmetic.flushes = 1;
    assert_int_equal(gate_class_of_score(&scores, 64, &placed).n_additions, 128);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_rounding_counts_as_so_many),
        cmocka_unit_test(sixteen_of_128_is_an_eighth),
        cmocka_unit_test(values_lose_what_is_allowed_and_no_more),
        cmocka_unit_test(promoting_later_is_beyond),
        cmocka_unit_test(scores_lose_what_is_allowed_and_no_more),
        cmocka_unit_test(the_usual_error_is_that_of_roundings),
        cmocka_unit_test(flushed_and_truncated_sums_count),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
