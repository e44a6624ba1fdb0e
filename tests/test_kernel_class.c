/* SPDX-License-Identifier: Apache-2.0 */
/* From a declaration to numbers of a class (kernel_class.h), by the words of GATE-2, GATE-15,
 * NUM-19 and NUM-22, with long double, which loses less than what these numbers are rounded up. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "chunkproof/kernel_class.h"

/* Not below the formula, and hardly above it. */
static void assert_above(double is, long double formula) {
    assert_true(is >= (double)formula);
    assert_true(is <= (double)(formula * (1.0L + 0x1p-40L)) + 0x1p-1070);
}

/* (1 + a) (1 + b) - 1, of which a sum loses little. */
static long double both(long double a, long double b) {
    return a + b + a * b;
}

static const struct cp_kernel_class plain = {
    .weights = CP_FP16, .partials = CP_FP32, .exp_error = 0x1p-22, .step = 16};

static struct cp_arithmetic in_binary32(void) {
    return cp_arithmetic_fp32(64, cp_format_fp16(), cp_format_fp16());
}

static void formats_round_as_the_class_does(void **state) {
    (void)state;
    const int types[] = {CP_FP16, CP_BF16, CP_FP32, CP_FP64};
    for (int i = 0; i < 16; i++) {
        struct cp_kernel_class c = plain;
        c.truncates = i % 2;
        c.flushes = i / 2 % 2;
        struct cp_format f = cp_class_format(&c, types[i / 4], 0);
        struct cp_format exact = cp_class_format(&c, types[i / 4], 1);
        double normal = ldexp(1.0, types[i / 4] == CP_FP16   ? -14
                                   : types[i / 4] == CP_FP64 ? -1021
                                                             : -126);
        assert_true(f.unit > 0.0 && exact.unit == 0.0);
        assert_true(c.flushes ? f.tiny == normal && exact.tiny == normal : exact.tiny == 0.0);
    }
}

static void parts_are_those_of_the_clause(void **state) {
    (void)state;
    struct cp_kernel_class c = plain;
    assert_int_equal(cp_class_parts(&c, 7, 100, 2), 7);
    c.n_parts = 5;
    assert_int_equal(cp_class_parts(&c, 7, 100, 2), 5);
    c.part_keys = 64;
    assert_int_equal(cp_class_parts(&c, 7, 100, 2), 3);
    assert_int_equal(cp_class_divisions(&c, 3), 0);
    c.divides = 1;
    assert_int_equal(cp_class_divisions(&c, 3), 4);
    struct cp_counts counts = cp_class_counts(&c, 100, 7, 3);
    assert_int_equal(counts.depth_n, 120);
    assert_int_equal(counts.depth_o, 125);
    assert_int_equal(counts.changes, 14);
    assert_int_equal(counts.stores, 4);
    assert_true(counts.operations_n == 170.0 && counts.operations_o == 290.0);
    c.partials = CP_FP16;
    assert_int_equal(cp_class_counts(&c, 100, 7, 3).stores, 10);
}

static void scores_change_in_the_type_of_their_sums(void **state) {
    (void)state;
    static const struct {
        int score, promotes;
        double unit;
    } of[] = {{CP_SUM_FP64, 0, 0x1p-53}, {CP_SUM_FP16, 0, 0x1p-11},
              {CP_SUM_FP16, 8, 0x1p-24}, {CP_SUM_BF16, 0, 0x1p-8},
              {CP_SUM_FP32, 0, 0x1p-24}, {CP_SUM_TENSOR_CORE, 0, 0x1p-24}};
    for (size_t i = 0; i < sizeof of / sizeof of[0]; i++) {
        struct cp_kernel_class c = plain;
        c.score = of[i].score;
        c.score_promotes = of[i].promotes;
        c.tanh_error = 0x1p-10;
        struct cp_shift_arithmetic a = cp_class_of_shift(&c);
        assert_true(a.unit == of[i].unit && a.tanh_error == 0x1p-10 && a.tanh_absolute == 0.0);
    }
}

static void factors_and_queries_are_rounded(void **state) {
    (void)state;
    const int factors[] = {CP_FACTORS_FP32, CP_FACTORS_FP16, CP_FACTORS_BF16};
    for (int i = 0; i < 3; i++) {
        struct cp_kernel_class c = plain;
        struct cp_arithmetic a = in_binary32(), was = a;
        c.factors = factors[i];
        cp_class_round_factors(&c, &a);
        long double unit = i == 0 ? 0.0L : i == 1 ? 0x1p-11L : 0x1p-8L;
        assert_above(a.eps, was.eps - log1pl(-unit));
        assert_true(a.kappa == (i == 1 ? 0x1p-25 : i == 2 ? 0x1p-134 : was.kappa));
    }
    struct cp_score_arithmetic s = {.term_unit = 0x1p-24, .term_tiny = 0x1p-149};
    cp_class_scale_query(cp_format_fp32(), cp_format_bf16(), 3.0, &s);
    long double grown = both(both(0x1p-8L, 0x1p-24L), 0x1p-24L);
    assert_above(s.term_unit, grown);
    assert_above(s.term_tiny, (0x1p-149L + 3.0L * (0x1p-134L + 0x1p-149L)) * (1.0L + grown));
}

static void caches_cost_what_the_clause_says(void **state) {
    (void)state;
    for (int i = 0; i < 32; i++) {
        const struct cp_kernel_cache cache = {.k = i % 2 ? CP_E5M2 : CP_CACHE_PLAIN,
                                              .v = i / 2 % 2 ? CP_INT8 : CP_CACHE_PLAIN};
        const struct cp_class_scales scales = {5.0, 4.0, 2.0, 3.0, i / 4 % 2};
        struct cp_kernel_class c = plain;
        struct cp_arithmetic a = in_binary32(), was = a;
        struct cp_counts counts = {.depth_o = 7};
        c.rounded_sum = i / 8 % 2;
        c.score = i / 16 ? CP_SUM_FP64 : CP_SUM_FP32;
        c.k_dequantised = c.v_dequantised = CP_FP16;
        long double u1 = i / 16 ? 0x1p-53L : 0x1p-24L, e1 = i / 16 ? 0x1p-1074L : 0x1p-150L;
        long double u2 = i / 16 ? 0.0L : 0x1p-11L, e2 = i / 16 ? 0.0L : 0x1p-25L;
        long double g = both(u1, u2), h = both(g, u1), z = e2 + (1.0L + u2) * e1;
        cp_class_dequantise(&c, &cache, &scales, &a);
        if (cache.k != CP_CACHE_PLAIN) {
            long double lost = fmaxl(5.0L * (scales.rotates ? 4.0L : 1.0L) * z, 57345.0L * e1);
            assert_above(a.score.term_unit, both(was.score.term_unit, h));
            assert_above(a.score.term_tiny,
                         2.0L * (1.0L + h) *
                             (was.score.term_tiny + (1.0L + was.score.term_unit) * lost));
        } else {
            assert_memory_equal(&a.score, &was.score, sizeof a.score);
        }
        if (cache.v != CP_CACHE_PLAIN && !c.rounded_sum) {
            long double u = fmaxl(was.weights.unit, u1);
            assert_above(a.weights.unit, both(u, h));
            assert_above(a.weights.tiny,
                         (1.0L + g + g / u) * (was.weights.tiny + 4.0L * e1 * u / u1) * 4.0L);
        } else {
            assert_memory_equal(&a.weights, &was.weights, sizeof a.weights);
        }
        cp_class_round_values(&c, &cache, &a, &counts);
        int shared = cache.v == CP_CACHE_PLAIN || !c.rounded_sum;
        int w = counts.depth_o - 7;
        assert_true(shared ? w == 0 : (long double)w * a.u_o >= h);
        assert_true(shared || (long double)(w - 2) * a.u_o <= h);
    }
}

/* No format is so fine; the additions err by more then. */
static void additions_are_not_without_end(void **state) {
    (void)state;
    const struct cp_kernel_cache cache = {.v = CP_E4M3};
    struct cp_kernel_class c = plain;
    struct cp_arithmetic a = in_binary32();
    struct cp_counts counts = {.depth_o = 7};
    c.rounded_sum = 1;
    c.v_dequantised = CP_BF16;
    a.u_o = 0x1p-60;
    cp_class_round_values(&c, &cache, &a, &counts);
    assert_int_equal(counts.depth_o, 7 + CP_CLASS_MOST);
    assert_true((double)CP_CLASS_MOST * a.u_o >= 0x1p-8);
}

static long double drift(const struct cp_arithmetic *a, int changes, long double h) {
    return (changes + 1.0L) *
           (a->eps + a->u_n + a->u_part + 2.0L * (a->u_move + a->u_ref) * (h + 1.0L));
}

static void divisions_cost_what_the_clause_says(void **state) {
    (void)state;
    const struct cp_counts counts = {.depth_n = 120, .depth_o = 125, .changes = 14, .stores = 4};
    for (int i = 0; i < 12; i++) {
        struct cp_kernel_class c = plain;
        struct cp_arithmetic a = in_binary32(), was;
        a.u_move = a.u_ref = 0x1p-24;
        was = a;
        c.divides = i % 3 == 1;
        c.normalises = i % 3 == 2;
        c.divide_error = i / 3 % 2 ? 0x1p-22 : 0.0;
        c.epsilon = i / 6 ? 1e-6 : 0.0;
        c.above = i / 6 ? 0.5 : 0.0;
        cp_class_divide(&c, 100, 3.0, &counts, &a);
        long double share = c.epsilon * expl(drift(&was, 14, 3.0L) + c.above);
        long double of_n = c.epsilon > 0.0 ? both(share, 0x1p-24L) : 0.0L;
        long double error = both(c.divide_error, of_n);
        long double most = 100.0L * expl(drift(&was, 14, 3.0L) + 120.0L * was.u_n);
        if (c.divides) {
            assert_above(a.u_part, was.u_part + error);
        } else if (c.normalises) {
            assert_above(a.weights.unit, both(was.weights.unit, both(0x1p-24L, c.divide_error)));
            assert_above(a.weights.tiny, most * (was.weights.tiny + 0x1p-149L));
            assert_above(a.eta_o, most * was.eta_o);
            assert_true(c.epsilon > 0.0 ? a.u_div >= (double)error : a.u_div == 0.0);
        } else {
            assert_above(a.u_div, both(was.u_div, error));
        }
    }
}

static void references_are_log_sum_exps(void **state) {
    (void)state;
    const struct cp_counts counts = {.depth_n = 120, .changes = 14};
    for (int i = 0; i < 2; i++) {
        struct cp_arithmetic a = in_binary32(), was;
        a.rounded_sum = i;
        a.kappa = 0x1p-30;
        was = a;
        double off = cp_class_divide_at_once(1000, 5.0, 7, &counts, &a);
        long double ln = logl(1001.0L), z = 0x1p-21L * (5.0L + 2.0L * ln);
        long double e = fmaxl(was.eps, 0x1p-21L * fmaxl(1.0L, ln));
        long double r = i ? 2.0L * was.weights.unit : 0.0L, u = (long double)was.u_n + was.u_part;
        assert_above(a.above, ln + 2.0L * u * 120.0L + r + 15.0L * (2.0L * e + z));
        assert_above(a.below, 2.0L * (e + 8.0L * (was.eps + u)) + r + z);
        assert_above(a.weights.tiny, was.weights.tiny * expl(-(long double)a.above));
        assert_above(a.kappa, 0x1p-30L * (1.0L + was.weights.tiny));
        assert_above(off, e + a.u_move * (5.0L + 2.0L * ln));
        assert_true(a.u_div == 0.0 && a.eta_div == 0.0 && a.u_move == 0x1p-23);
        was = a;
        double each = cp_class_slip(cp_format_bf16(), 3, 5.0, &a);
        assert_above(each, 0x1p-8L * (5.0L + was.above + was.below) / (1.0L - 3.0L * 0x1p-8L));
        assert_above(a.score.scale_tiny, was.score.scale_tiny + 3.0L * each);
        assert_above(a.eps, was.eps + (was.u_ref + 2.0L * was.u_move) * 3.0L * each);
        assert_true(cp_class_slip(cp_format_bf16(), 128, 5.0, &a) >= 0x1p20);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(formats_round_as_the_class_does),
        cmocka_unit_test(parts_are_those_of_the_clause),
        cmocka_unit_test(scores_change_in_the_type_of_their_sums),
        cmocka_unit_test(factors_and_queries_are_rounded),
        cmocka_unit_test(caches_cost_what_the_clause_says),
        cmocka_unit_test(additions_are_not_without_end),
        cmocka_unit_test(divisions_cost_what_the_clause_says),
        cmocka_unit_test(references_are_log_sum_exps),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
