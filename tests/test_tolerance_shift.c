/* SPDX-License-Identifier: Apache-2.0 */
/* Scores that are shifted before they are weighed (NUM-14): what shifts mean, what their errors do
 * to a bound and its parts, and where nothing is claimed. */
#include <float.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "chunkproof/tolerance_parts.h"
#include "fuzz/tolerance/shift.h"

#define KEYS 3
#define DIM  2

/* What is said of a row. */
struct answer {
    double expected[DIM], bound[DIM], lse, lse_bound;
    double parts[DIM * CP_TOLERANCE_PARTS], lost[CP_TOLERANCE_PARTS], left, rms[DIM];
};

static struct cp_arithmetic without_errors(void) {
    struct cp_arithmetic a = {.output = {0.0, 0.0, DBL_MAX}};
    return a;
}

static const double q[DIM] = {1.0, 0.5}, k[KEYS][DIM] = {{0.0, 0.0}, {0.5, 1.0}, {0.0, 0.0}},
                    v[KEYS][DIM] = {{1.0, -1.0}, {5.0, 2.0}, {0.0, 0.0}};

static struct answer ask(const struct cp_arithmetic *a, int n, double scale, const double *shift,
                         const double *error) {
    double scratch[3 * KEYS];
    struct cp_counts counts = cp_counts_of_chunks(1, 2);
    struct answer x;
    struct cp_tolerance_row row = {n,        DIM,      DIM,     scale, q,
                                   &k[0][0], &v[0][0], scratch, shift, error};
    cp_tolerance(a, &counts, &row, 0.0, x.expected, x.bound, &x.lse, &x.lse_bound);
    x.left = cp_tolerance_parts(a, &counts, &row, x.expected, x.parts, x.lost);
    cp_tolerance_rms(a, &counts, &row, x.expected, x.rms);
    return x;
}

static int is_near(double x, double y) {
    return fabs(x - y) <= 1e-14 * (1.0 + fabs(y));
}

static double sum_of(const double *parts) {
    double sum = 0.0;
    for (int p = 0; p < CP_TOLERANCE_PARTS; p++) {
        sum += parts[p];
    }
    return sum;
}

/* Two keys and a sink: weights exp(s_0 + b_0), exp(s_1 + b_1), exp(sink). The scale multiplies no
 * shift. */
static void shifts_are_added_to_scores(void **state) {
    const double shift[KEYS] = {-0.5, 0.25, 1.5}, none[KEYS] = {0.0};
    struct cp_arithmetic a = without_errors();
    (void)state;
    for (int i = 0; i < 3; i++) {
        double scale = i == 0 ? 1.0 : i == 1 ? -2.0 : 0.0;
        struct answer x = ask(&a, KEYS, scale, shift, none);
        double w0 = exp(-0.5), w1 = exp(scale * 1.0 + 0.25), w2 = exp(1.5), all = w0 + w1 + w2;
        assert_true(is_near(x.expected[0], (w0 + 5.0 * w1) / all));
        assert_true(is_near(x.expected[1], (-w0 + 2.0 * w1) / all));
        assert_true(is_near(x.lse, log(all)));
        assert_true(0.0 < x.bound[0] && x.bound[0] < 1e-13 && x.lse_bound < 1e-13);
    }
}

/* Shifts of 0 change no result; and a bound grows by the rounding of sums at most. */
static void no_shift_is_none(void **state) {
    const double none[KEYS] = {0.0};
    struct cp_arithmetic a = cp_arithmetic_fp32(DIM, cp_format_fp16(), cp_format_fp16());
    (void)state;
    struct answer x = ask(&a, KEYS, 1.0, NULL, NULL), y = ask(&a, KEYS, 1.0, none, none);
    assert_memory_equal(x.expected, y.expected, sizeof x.expected);
    assert_memory_equal(x.parts, y.parts, sizeof x.parts);
    assert_memory_equal(x.rms, y.rms, sizeof x.rms);
    assert_true(x.lse == y.lse);
    for (int i = 0; i < DIM; i++) {
        assert_true(x.bound[i] <= y.bound[i] && y.bound[i] < x.bound[i] + 1e-13);
    }
}

/* Two keys of weight 1/2 each, of which one score is off by e: the mean moves by up to
 * (exp(e) - 1) / 2 * |v - o| / left, and left is 1 - (exp(e) - 1) / 2. */
static void errors_of_shifts_count(void **state) {
    const double shift[KEYS] = {1.0, 0.0}; /* as s_1 = 1 */
    struct cp_arithmetic a = without_errors();
    (void)state;
    for (int i = 1; i < 30; i++) {
        double e = ldexp(1.0, -i), error[KEYS] = {0.0, e}, h = 0.5 * expm1(e);
        struct answer x = ask(&a, 2, 1.0, shift, error);
        double needed = h * 2.0 / (1.0 - h);
        assert_true(x.expected[0] == 3.0 && needed <= x.bound[0]);
        assert_true(x.bound[0] < needed * (1.0 + 1e-4) + 1e-14);
        assert_true(fabs(sum_of(x.parts) - needed) < 1e-12);
        assert_true(fabs(x.parts[CP_PART_SCORES] - needed) < 1e-12);
        assert_true(fabs(x.left - (1.0 - h)) < 1e-12);
        assert_true(x.lse_bound >= -log1p(-h));
        /* NUM-13: (w e (v - o))^2 / 3 */
        assert_true(fabs(x.rms[0] - 0.5 * e * 2.0 / sqrt(3.0)) < 1e-12);
    }
}

/* A shift that is no number, or whose error is none: nothing is claimed of any column. */
static void no_claim_of_what_is_no_number(void **state) {
    const double wrong[] = {INFINITY, -INFINITY, NAN};
    struct cp_arithmetic classes[] = {without_errors(),
                                      cp_arithmetic_fp32(DIM, cp_format_fp16(), cp_format_fp16())};
    (void)state;
    for (int i = 0; i < 2 * KEYS * 5; i++) {
        double shift[KEYS] = {0.0}, error[KEYS] = {0.0};
        int key = i / 2 % KEYS, what = i / 2 / KEYS;
        if (what < 3) {
            shift[key] = wrong[what];
        } else {
            error[key] = what == 3 ? INFINITY : NAN;
        }
        struct answer x = ask(&classes[i % 2], KEYS, 1.0, shift, error);
        assert_true(isinf(x.bound[0]) && isinf(x.bound[1]) && isinf(x.lse_bound));
        x = ask(&classes[i % 2], key + 1, 1.0, shift, error); /* the last key is the wrong one */
        assert_true(isinf(x.bound[0]) && isinf(x.bound[1]) && isinf(x.lse_bound));
    }
}

/* Scores that are so large that binary64 rounds them by more than 2^-30: nothing is claimed. */
static void no_claim_of_large_shifts(void **state) {
    const double none[KEYS] = {0.0};
    struct cp_arithmetic a = without_errors();
    (void)state;
    for (int i = 10; i < 40; i++) {
        double size = ldexp(1.0, i), shift[KEYS] = {size, size, size};
        struct answer x = ask(&a, KEYS, 1.0, shift, none);
        assert_true(isfinite(x.bound[0]) == (i < 22));
    }
}

/* What an emulated kernel declares for the sums: more than they are off, and no more than a few
 * units. */
static void declared_errors_fit(void **state) {
    double numbers[] = {1.0, 0.5, 1.25, 0.75}, shift[] = {-3.3000000000000003, 0.1}, errors[2];
    struct problem p = {2, 1, 0.3, numbers, numbers + 1, numbers + 1, shift, NULL};
    struct cp_arithmetic a = cp_arithmetic_fp32(1, cp_format_fp32(), cp_format_fp32());
    (void)state;
    for (int bits = 0; bits < 2; bits++) {
        struct options o = {.scaling = SCALE_AFTER, .bits = bits};
        double unit = bits ? 1.4426950408889634 : 1.0;
        shift_errors(&a.score, &p, errors);
        for (int j = 0; j < 2; j++) {
            double score = p.scale * p.q[0] * p.k[j], sum = shifted_score(&o, &p, j, score * unit);
            double size = fabs(score) + fabs(shift[j]);
            assert_true(fabs(sum / unit - (score + shift[j])) <= errors[j]);
            assert_true(errors[j] < 5.0 * 0x1p-24 * size);
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shifts_are_added_to_scores),
        cmocka_unit_test(no_shift_is_none),
        cmocka_unit_test(errors_of_shifts_count),
        cmocka_unit_test(no_claim_of_what_is_no_number),
        cmocka_unit_test(no_claim_of_large_shifts),
        cmocka_unit_test(declared_errors_fit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
