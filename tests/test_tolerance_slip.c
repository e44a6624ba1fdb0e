/* SPDX-License-Identifier: Apache-2.0 */
/* Partial results: how many a declaration allows (GATE-2), and log-sum-exps that they keep in
 * 16 bits (NUM-22), with kernels that err as far as they may. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "gate/judge/class.h"
#include "tests/plain_kernel.h"

#define U_16  0x1p-11
#define U_B16 0x1p-8
#define PARTS 4
#define EACH  8
#define KEYS  (PARTS * EACH)

static const struct gate_rotated placed;

static struct cp_kernel divided(void) {
    struct cp_kernel kernel = plain;
    kernel.out_type = CP_FP32;
    kernel.arithmetic.divides = 1;
    return kernel;
}

static struct cp_arithmetic class_of(const struct cp_kernel *kernel, int n, int steps, int parts,
                                     double largest_score, struct cp_counts *counts) {
    const struct gate_row row = {.d = 1,
                                 .n = n,
                                 .steps = steps,
                                 .parts = parts,
                                 .largest_score = largest_score,
                                 .rotated = &placed};
    struct cp_arithmetic a;
    gate_class_of_row(kernel, &row, &a, counts);
    return a;
}

/* ---- How many there are ---- */

static void parts_are_those_declared(void **state) {
    struct cp_kernel kernel = plain;
    const struct {
        int n_parts, part_keys, steps, slots, n_short, parts;
    } of[] = {{0, 0, 7, 100, 2, 7},   {2, 0, 7, 100, 2, 2},   {9, 0, 7, 100, 2, 7},
              {0, 50, 7, 100, 2, 4},  {0, 51, 7, 100, 2, 3},  {0, 50, 3, 100, 2, 3},
              {0, 512, 7, 100, 2, 2}, {3, 50, 7, 100, 2, 3},  {5, 50, 7, 100, 2, 4},
              {0, 50, 9, 100, 5, 7},  {0, 512, 7, 512, 1, 2}, {1, 0, 0, 0, 2, 0}};
    (void)state;
    for (size_t i = 0; i < sizeof of / sizeof of[0]; i++) {
        kernel.arithmetic.n_parts = of[i].n_parts;
        kernel.arithmetic.part_keys = of[i].part_keys;
        assert_int_equal(gate_parts(&kernel, of[i].steps, of[i].slots, of[i].n_short), of[i].parts);
    }
}

/* The example of GATE-2. */
static void counts_are_those_of_the_example(void **state) {
    struct cp_kernel kernel = plain;
    struct cp_counts counts;
    (void)state;
    kernel.arithmetic.step = 16;
    (void)class_of(&kernel, 100, 7, 0, 1.0, &counts);
    assert_int_equal(counts.changes, 14);
    assert_int_equal(counts.depth_n, 128);
    (void)class_of(&kernel, 100, 7, 2, 1.0, &counts);
    assert_int_equal(counts.changes, 9);
    assert_int_equal(counts.stores, 0); /* in binary32 as they are */
    assert_int_equal(counts.depth_n, 118);
    assert_true(counts.operations_n == 145.0 && counts.operations_o == 245.0);
    kernel.arithmetic.partials = CP_FP16;
    (void)class_of(&kernel, 100, 7, 2, 1.0, &counts);
    assert_int_equal(counts.stores, 9);
    kernel.arithmetic.divides = 1;
    (void)class_of(&kernel, 100, 7, 2, 1.0, &counts);
    assert_int_equal(counts.stores, 9);
    kernel.arithmetic.partials = CP_FP32; /* what divisions err, too */
    (void)class_of(&kernel, 100, 7, 2, 1.0, &counts);
    assert_int_equal(counts.stores, 3);
    assert_int_equal(counts.changes, 9 + 3);
    assert_int_equal(counts.depth_o, 119 + 3);
    (void)class_of(&kernel, 100, 7, 0, 1.0, &counts);
    assert_int_equal(counts.changes, 14 + 8);
}

/* ---- NUM-22 ---- */

/* Each of D log-sum-exps errs by e, in proportion to itself. */
static void scores_are_off_by_what_slips(void **state) {
    struct cp_kernel kernel = divided();
    struct cp_counts counts;
    struct cp_arithmetic exact = class_of(&kernel, KEYS, PARTS, PARTS, 10.0, &counts);
    const int types[] = {CP_PART_LSE_FP16, CP_PART_LSE_BF16};
    const double unit[] = {U_16, U_B16};
    (void)state;
    for (int i = 0; i < 2; i++) {
        kernel.arithmetic.part_lse = types[i];
        struct cp_arithmetic a = class_of(&kernel, KEYS, PARTS, PARTS, 10.0, &counts);
        double times = PARTS + 1, size = 10.0 + exact.above + exact.below;
        double slipped = times * unit[i] * size / (1.0 - times * unit[i]);
        assert_true(a.score.scale_tiny >= exact.score.scale_tiny + slipped &&
                    a.score.scale_tiny <= (exact.score.scale_tiny + slipped) * (1.0 + 0x1p-30));
        assert_true(a.eps >= exact.eps + 2.0 * exact.u_move * slipped && a.u_part == exact.u_part);
        assert_true(a.above == exact.above && a.below == exact.below);
    }
}

/* Factors that add up to 1 but for the error of the l that they are made with. */
static void merges_that_are_not_divided_pay_in_the_result(void **state) {
    struct cp_kernel kernel = divided();
    struct cp_counts counts;
    (void)state;
    kernel.arithmetic.divides = 2;
    double before = class_of(&kernel, KEYS, PARTS, PARTS, 10.0, &counts).u_part;
    kernel.arithmetic.part_lse = CP_PART_LSE_BF16;
    double after = class_of(&kernel, KEYS, PARTS, PARTS, 10.0, &counts).u_part;
    assert_true(after >= before + U_B16 * 10.0 && after <= 2.0 * U_B16 * 14.0);
}

/* bfloat16: 127 roundings are 127 / 256, and 128 too many. */
static void nothing_is_claimed_of_too_many(void **state) {
    struct cp_kernel kernel = divided();
    struct cp_counts counts;
    (void)state;
    kernel.arithmetic.part_lse = CP_PART_LSE_BF16;
    assert_true(class_of(&kernel, 1000, 126, 126, 1.0, &counts).score.scale_tiny < 100.0);
    assert_true(class_of(&kernel, 1000, 127, 127, 1.0, &counts).score.scale_tiny > 1e6);
}

/* ---- GATE-15 ---- */

/* What is added to n is as if n or o were stored once more; also below a reference that is high. */
static void epsilon_counts_where_parts_are_divided(void **state) {
    struct cp_kernel kernel = divided();
    struct cp_counts counts;
    (void)state;
    double before = class_of(&kernel, KEYS, PARTS, PARTS, 1.0, &counts).u_part;
    kernel.arithmetic.divide_error = 0x1p-7;
    double divided_so = class_of(&kernel, KEYS, PARTS, PARTS, 1.0, &counts).u_part;
    assert_true(divided_so >= before + 0x1p-7 && divided_so <= (before + 0x1p-7) * (1 + 0x1p-30));
    kernel.arithmetic.divide_error = 0.0;
    kernel.arithmetic.epsilon = 0x1p-10;
    double after = class_of(&kernel, KEYS, PARTS, PARTS, 1.0, &counts).u_part;
    assert_true(after >= before + 0x1p-10 && after <= before + 0x1.01p-10);
    kernel.arithmetic.above = 1.0;
    double higher = class_of(&kernel, KEYS, PARTS, PARTS, 1.0, &counts).u_part;
    assert_true(higher >= before + exp(1.0) * 0x1p-10 && higher <= before + 3.0 * 0x1p-10);
    kernel.arithmetic.divide_error = 0x1p-7;
    assert_true(class_of(&kernel, KEYS, PARTS, PARTS, 1.0, &counts).u_part >= higher + 0x1p-7);
}

/* NUM-21: references of splits that lag, and then become log-sum-exps. P is rounded below them. */
static void parts_that_lag_may_be_divided(void **state) {
    struct cp_kernel kernel = divided();
    struct cp_counts counts;
    (void)state;
    kernel.arithmetic.weights = CP_FP16;
    struct cp_arithmetic follows = class_of(&kernel, KEYS, PARTS, PARTS, 1.0, &counts);
    kernel.arithmetic.behind = 3.0;
    struct cp_arithmetic lags = class_of(&kernel, KEYS, PARTS, PARTS, 1.0, &counts);
    assert_true(follows.above > log(KEYS) && lags.above >= follows.above);
    assert_true(lags.below >= follows.below && lags.below < 0.001);
    assert_true(lags.kappa >= exp(3.0) * follows.kappa && lags.eps >= follows.eps);
    double tiny = exp(follows.above) * follows.weights.tiny;
    assert_true(tiny >= 0x1p-25 && tiny <= 0x1.0001p-25);
    tiny = exp(lags.above) * lags.weights.tiny;
    assert_true(tiny >= exp(3.0) * 0x1p-25 && tiny <= 1.001 * exp(3.0) * 0x1p-25);
}

/* ---- A kernel ---- */

struct row {
    double k[KEYS], v[KEYS], scratch[3 * KEYS], q;
};

/* x as bfloat16, to nearest, by hand. */
static double bf16(double x) {
    int exponent;
    double fraction = frexp(x, &exponent);
    return ldexp(nearbyint(ldexp(fraction, 8)), exponent - 8);
}

/* Splits of EACH keys, in binary64 but for their log-sum-exps; all are merged at once. */
static double merged(const struct row *r, int rounds, double *lse) {
    double l[PARTS], o[PARTS], most = -INFINITY, n = 0.0, sum = 0.0;
    for (int i = 0; i < PARTS; i++) {
        double weights = 0.0, values = 0.0;
        for (int j = i * EACH; j < (i + 1) * EACH; j++) {
            weights += exp(r->k[j]);
            values += exp(r->k[j]) * r->v[j];
        }
        l[i] = rounds ? bf16(log(weights)) : log(weights);
        o[i] = values / weights;
        most = fmax(most, l[i]);
    }
    for (int i = 0; i < PARTS; i++) {
        n += exp(l[i] - most);
        sum += exp(l[i] - most) * o[i];
    }
    *lse = rounds ? bf16(most + log(n)) : most + log(n);
    return sum / n;
}

/* Scores rise by 0.017 from split to split, so that l is rounded up in some splits and
 * down in others; values have the sign of what their l is off. */
static struct cp_tolerance_row splits(struct row *r, double size) {
    r->q = 1.0;
    for (int i = 0; i < PARTS; i++) {
        double score = size + 0.017 * i, l = score + log(EACH);
        for (int j = i * EACH; j < (i + 1) * EACH; j++) {
            r->k[j] = score;
            r->v[j] = bf16(l) > l ? 1.0 : -1.0;
        }
    }
    return (struct cp_tolerance_row){KEYS, 1, 1, 1.0, &r->q, r->k, r->v, r->scratch, NULL, NULL};
}

static void a_kernel_that_rounds_is_within_its_bound_alone(void **state) {
    static struct row r;
    struct cp_kernel kernel = divided();
    double most = 0.0, beyond = 0.0;
    int some = 0;
    (void)state;
    kernel.q_type = kernel.kv_type = CP_FP32;
    for (double size = 1.0; size < 40.0; size += 0.37) {
        struct cp_tolerance_row row = splits(&r, size);
        for (int rounds = 1; rounds >= 0; rounds--) {
            double expected, bound, lse, lse_bound, got_lse, got = merged(&r, rounds, &got_lse);
            struct cp_counts counts;
            kernel.arithmetic.part_lse = rounds ? CP_PART_LSE_BF16 : CP_PART_LSE_FP32;
            struct cp_arithmetic a = class_of(&kernel, KEYS, PARTS, PARTS, size + 0.1, &counts);
            double lse_error = gate_lse_error(&kernel, KEYS, size + 0.1);
            cp_tolerance(&a, &counts, &row, lse_error, &expected, &bound, &lse, &lse_bound);
            assert_true(fabs(got - expected) <= bound && fabs(got_lse - lse) <= lse_bound);
            if (rounds) {
                double rounded = merged(&r, 1, &got_lse);
                most = isfinite(bound) ? fmax(most, fabs(rounded - expected) / bound) : most;
                some += isfinite(bound);
            } else {
                beyond = fmax(beyond, fabs(merged(&r, 1, &got_lse) - expected) / bound);
            }
        }
    }
    /* one rounding of D = 5 counts, and is about half of the largest */
    assert_true(some > 50 && most > 0.05);
    assert_true(beyond > 100.0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parts_are_those_declared),
        cmocka_unit_test(counts_are_those_of_the_example),
        cmocka_unit_test(scores_are_off_by_what_slips),
        cmocka_unit_test(merges_that_are_not_divided_pay_in_the_result),
        cmocka_unit_test(nothing_is_claimed_of_too_many),
        cmocka_unit_test(epsilon_counts_where_parts_are_divided),
        cmocka_unit_test(parts_that_lag_may_be_divided),
        cmocka_unit_test(a_kernel_that_rounds_is_within_its_bound_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
