/* SPDX-License-Identifier: Apache-2.0 */
#define _POSIX_C_SOURCE 200809L /* fork, setenv */
/* The emulated kernels of fuzz/tolerance: their arithmetic is MPFR's, a plain one declares what
 * cp_arithmetic_fp32() says, right ones stay within what they declare, and wrong ones do not. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>
#include <mpfr.h>

#include "fuzz/tolerance/declared.h"
#include "fuzz/tolerance/kinds.h"
#include "fuzz/tolerance/setting.h"
#include "random.h"

/* ---- Numbers ---- */

static double random_number(unsigned long long *random, int type) {
    double x = ldexp(random_uniform(random), random_below(random, 30) - 20);
    return sums_round(type, x);
}

/* a b + c as MPFR rounds it to a format of `bits` bits whose smallest number is 2^(least). */
static double by_mpfr(double a, double b, double c, int bits, int least, int most) {
    mpfr_t x, y;
    mpfr_exp_t low = mpfr_get_emin(), high = mpfr_get_emax();
    mpfr_init2(x, 2000);
    mpfr_init2(y, bits);
    mpfr_set_d(x, a, MPFR_RNDN);
    mpfr_mul_d(x, x, b, MPFR_RNDN);
    mpfr_add_d(x, x, c, MPFR_RNDN); /* exact in so many bits */
    mpfr_set_emin(least + 1);
    mpfr_set_emax(most);
    int ternary = mpfr_set(y, x, MPFR_RNDN);
    ternary = mpfr_check_range(y, ternary, MPFR_RNDN);
    mpfr_subnormalize(y, ternary, MPFR_RNDN);
    double result = mpfr_get_d(y, MPFR_RNDN);
    mpfr_set_emin(low);
    mpfr_set_emax(high);
    mpfr_clears(x, y, (mpfr_ptr)0);
    return result;
}

static void additions_are_those_of_mpfr(void **state) {
    struct sum fused = {SUM_SEQUENTIAL, SUM_FORWARD, 1, 1, 24, 0, 0, 0};
    struct sum plain = {SUM_SEQUENTIAL, SUM_FORWARD, 0, 1, 24, 0, 0, 0};
    unsigned long long random = 1;
    (void)state;
    for (int i = 0; i < 3000; i++) {
        double a = random_number(&random, CP_FP16), c = random_number(&random, CP_FP16);
        double b = random_number(&random, CP_FP16), x = a, y = b;
        assert_true(sums_products(&plain, CP_FP16, &x, NULL, 1, c, &random) ==
                    by_mpfr(a, 1.0, c, 11, -24, 16));
        x = a;
        assert_true(sums_products(&fused, CP_FP16, &x, &y, 1, c, &random) ==
                    by_mpfr(a, b, c, 11, -24, 16));
        double p = random_number(&random, CP_FP32), s = random_number(&random, CP_FP32);
        x = p;
        y = p;
        assert_true(sums_products(&fused, CP_FP32, &x, &y, 1, s, &random) ==
                    by_mpfr(p, p, s, 24, -149, 128));
        assert_true(sums_round(CP_BF16, p) == by_mpfr(p, 1.0, 0.0, 8, -133, 128));
    }
}

/* 1 and 2^-23 (1 + 1/2) four times: what is kept of each is 2^-23, and all of it is in the last
 * place. */
static void tensor_cores_cut_off(void **state) {
    struct sum cut = {SUM_BLOCKS, SUM_FORWARD, 0, 4, 23, 1, 0, 0};
    struct sum kept = {SUM_BLOCKS, SUM_FORWARD, 0, 4, 40, 0, 0, 0};
    double a[] = {1.5, 1.5, 1.5, 1.5}, b[] = {0x1p-23, 0x1p-23, 0x1p-23, 0x1p-23};
    unsigned long long random = 1;
    (void)state;
    assert_true(sums_products(&cut, CP_FP32, a, b, 4, 1.0, &random) == 1.0 + 4.0 * 0x1p-23);
    assert_true(sums_products(&kept, CP_FP32, a, b, 4, 1.0, &random) == 1.0 + 6.0 * 0x1p-23);
    assert_true(sums_unit(&cut, CP_FP32, 22) == 5.0 * 0x1p-23);
    assert_true(sums_depth(&cut, 64, 1) == 16);
}

/* ---- Classes ---- */

static void a_plain_kernel_declares_the_plain_class(void **state) {
    struct options o = kind_options(0);
    struct cp_arithmetic a, plain;
    struct cp_counts counts, chunks = cp_counts_of_chunks(64, 3);
    struct problem p;
    (void)state;
    o.input = CP_FP32;
    o.weights = CP_FP16;
    o.output = CP_FP16;
    problem_new(&p, 192, 16);
    p.n = 192;
    p.d = 16;
    unsigned long long random = 1;
    problem_fill(&p, NORMAL, &o, &random);
    class_of(&o, &p, 4.0, &a, &counts);
    plain = cp_arithmetic_fp32(p.d, cp_format_fp16(), cp_format_fp16());
    assert_true(a.score.unit == plain.score.unit && a.score.depth <= plain.score.depth);
    assert_true(fabs(a.score.term_unit / plain.score.term_unit - 1.0) < 1e-9);
    assert_true(a.score.scale_unit <= plain.score.scale_unit && a.eps <= plain.eps);
    assert_true(a.u_arg == plain.u_arg && a.u_ref == 0.0 && a.u_move == 0.0);
    assert_true(a.kappa == plain.kappa && a.weights.unit == plain.weights.unit);
    assert_true(a.u_n == plain.u_n && a.eta_n == plain.eta_n && a.u_part == 0.0);
    assert_true(a.u_o == plain.u_o && a.eta_o == plain.eta_o && a.u_div == plain.u_div);
    assert_true(a.output.unit == plain.output.unit && a.above == 0.0 && a.below == 0.0);
    assert_true(counts.depth_n <= chunks.depth_n && counts.depth_o <= chunks.depth_o);
    assert_true(counts.stores == chunks.stores && counts.changes == chunks.changes);
    problem_free(&p);
}

static void references_apart_from_the_maximum_cost(void **state) {
    struct options o = kind_options(1);
    struct cp_arithmetic a;
    struct cp_counts counts;
    struct problem p;
    double expected[4], bound[4], wider[4], scratch[3 * 100];
    unsigned long long random = 1;
    (void)state;
    problem_new(&p, 100, 4);
    p.n = 100;
    p.d = 4;
    problem_fill(&p, NORMAL, &o, &random);
    class_of(&o, &p, 4.0, &a, &counts);
    struct cp_tolerance_row row = {p.n, p.d, p.d, p.scale, p.q, p.k, p.v, scratch, NULL, NULL};
    cp_tolerance(&a, &counts, &row, 0.0, expected, bound, NULL, NULL);
    a.above = 5.0;
    cp_tolerance(&a, &counts, &row, 0.0, expected, wider, NULL, NULL);
    assert_true(wider[0] > bound[0]);
    a.above = 0.0;
    a.below = 5.0;
    cp_tolerance(&a, &counts, &row, 0.0, expected, wider, NULL, NULL);
    assert_true(wider[0] > bound[0]);
    problem_free(&p);
}

/* ---- Judgement ---- */

static void right_kernels_stay_within_and_wrong_ones_do_not(void **state) {
    static struct judgement j;
    unsigned long long random = 1;
    struct problem p;
    (void)state;
    problem_new(&p, 200, 16);
    for (int kind = 0; kind < N_KINDS; kind++) {
        struct options right = kind_options(kind), wrong = right;
        p.n = 200;
        p.d = 16;
        problem_fill(&p, NORMAL, &right, &random);
        judge(&right, &right, &p, 1, &j);
        assert_true(j.claimed == p.d && j.violated == 0 && !j.lse_violated && j.worst > 0.0);
        wrong.wrong = right.normalise ? SCALE_WRONG : CHUNK_DROPPED; /* of one chunk, too */
        judge(&wrong, &right, &p, 1, &j);
        assert_true(j.violated > 0 || j.lse_violated);
    }
    problem_free(&p);
}

/* In binary32, so that little but the exponential's error keeps factors from adding up to 1. */
static void merge_undivided(struct options *o) {
    o->input = o->weights = o->partials = o->accumulator = o->output = CP_FP32;
    o->exp_error = 0x1p-12;
    o->bias = BIAS_ANY;
    o->scaling = SCALE_AFTER;
    o->merging = (enum merging)(MERGE_CHAIN + (o->seed >> 12) % (N_MERGINGS - MERGE_CHAIN));
    o->immediate = 1;
    o->undivided = 1;
    o->dot.method = o->row_sum.method = o->value_sum.method = SUM_PAIRWISE;
    o->lazy = 0.0;
    options_settle(o);
}

/* GATE-2: what the gate makes of a declaration holds for every kernel that it is true of: of any
 * order, in parts that are divided at once or not, with references far from 0, where these are
 * rounded by much. */
static void declarations_are_taken_wide_enough(void **state) {
    static struct judgement result, j;
    static const enum family families[] = {FAR, SUBNORMAL, FAR, ONE_HOT};
    long rows = 400 + setting("CHUNKPROOF_ELEMENTS", 400000) / 100, declared = 0, divided[3] = {0};
    unsigned long long random = 1;
    struct problem p;
    double largest = 0.0;
    (void)state;
    problem_new(&p, 300, 64);
    for (long i = 0; i < rows; i++) {
        struct options o;
        struct cp_kernel kernel;
        int chunk;
        problem_size(&p, 300, 64, &random);
        options_random(&o, p.n, &random);
        if (i % 4 == 3) {
            merge_undivided(&o);
        }
        problem_fill(&p, families[i % 4], &o, &random);
        if (!declared_kernel(&o, &chunk, &kernel)) {
            continue;
        }
        judge(&o, &o, &p, 0, &result);
        assert_true(judge_as_the_gate(&o, &p, &result, &j));
        assert_int_equal(j.violated, 0);
        assert_false(j.lse_violated);
        divided[kernel.arithmetic.divides] += j.claimed > 0;
        declared++;
        largest = fmax(largest, j.worst);
    }
    problem_free(&p);
    assert_true(declared > rows / 4 && largest > 0.5);
    assert_true(divided[0] > 0 && divided[1] > 0 && divided[2] > 0);
}

/* Two scores 0.8 nats apart are more than a bit apart: a maximum that waits for one bit changes,
 * once. */
static void a_wait_is_in_the_unit_of_the_scores(void **state) {
    static struct judgement j;
    struct options o = kind_options(5);
    struct cp_arithmetic a;
    struct cp_counts counts;
    struct problem p;
    (void)state;
    o.input = CP_FP32;
    o.bits = 1;
    o.bias = BIAS_UP;
    o.merging = MERGE_RUNNING;
    o.chunk_size = 1;
    o.lazy = 1.0;
    problem_new(&p, 2, 1);
    p.n = 2;
    p.d = 1;
    p.scale = 1.0;
    p.q[0] = 1.0;
    p.k[0] = -0.40625;
    p.k[1] = 0.40625;
    p.v[0] = 1.0;
    p.v[1] = 2.0;
    class_of(&o, &p, 0.40625, &a, &counts);
    assert_int_equal(counts.changes, 1);
    assert_int_equal(counts.changes, 1);
    judge(&o, &o, &p, 1, &j);
    assert_true(j.claimed == 1 && j.violated == 0 && !j.lse_violated && j.worst_lse > 0.5);
    problem_free(&p);
}

/* ---- How much is done ---- */

static long long set_to(const char *text) {
    assert_int_equal(setenv("CHUNKPROOF_TEST_SETTING", text, 1), 0);
    return setting("CHUNKPROOF_TEST_SETTING", 7);
}

static int exit_status_when_set_to(const char *text) {
    int status = 0;
    fflush(stdout); /* else the child writes what waits there once more */
    pid_t child = fork();
    if (child == 0) {
        set_to(text);
        _exit(0);
    }
    assert_true(child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status));
    return WEXITSTATUS(status);
}

static void settings_are_whole_numbers(void **state) {
    (void)state;
    assert_int_equal(setting("CHUNKPROOF_TEST_SETTING", 7), 7);
    assert_int_equal(set_to(""), 7);
    assert_int_equal(set_to("5000"), 5000);
    assert_int_equal(set_to("1e9"), 1000000000);
    assert_int_equal(exit_status_when_set_to("0"), 0);
    assert_int_equal(exit_status_when_set_to("1e9x"), 2);
    assert_int_equal(exit_status_when_set_to("-1"), 2);
    assert_int_equal(exit_status_when_set_to("0.5"), 2);
    assert_int_equal(exit_status_when_set_to("nan"), 2);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(additions_are_those_of_mpfr),
        cmocka_unit_test(tensor_cores_cut_off),
        cmocka_unit_test(a_plain_kernel_declares_the_plain_class),
        cmocka_unit_test(references_apart_from_the_maximum_cost),
        cmocka_unit_test(right_kernels_stay_within_and_wrong_ones_do_not),
        cmocka_unit_test(declarations_are_taken_wide_enough),
        cmocka_unit_test(a_wait_is_in_the_unit_of_the_scores),
        cmocka_unit_test(settings_are_whole_numbers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
