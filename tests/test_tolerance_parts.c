/* SPDX-License-Identifier: Apache-2.0 */
/* What explains a bound (tolerance_parts.h): the parts add up to it, for kernels of every class on
 * inputs of every family; the companion (NUM-13) is as large as the errors of right kernels on
 * random data, and below the bound. CHUNKPROOF_ELEMENTS numbers (50,000), CHUNKPROOF_SEED (1). */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "chunkproof/tolerance_parts.h"
#include "fuzz/tolerance/inputs.h"
#include "fuzz/tolerance/kinds.h"
#include "fuzz/tolerance/setting.h"
#include "fuzz/tolerance/shift.h"

#define MOST_DIM 300

struct row {
    struct problem problem;
    double out[MOST_DIM], expected[MOST_DIM], bound[MOST_DIM], rms[MOST_DIM];
    double parts[MOST_DIM * CP_TOLERANCE_PARTS], lost[CP_TOLERANCE_PARTS], left;
    int overflow;
};

static void run(struct row *r, const struct options *o, const struct options *declared) {
    struct problem *p = &r->problem;
    struct result result = {.out = r->out};
    struct cp_arithmetic arithmetic;
    struct cp_counts counts;
    double *scratch = malloc(4 * (size_t)p->n * sizeof *scratch);
    assert_non_null(scratch);
    double *errors = p->shift == NULL ? NULL : scratch + 3 * (ptrdiff_t)p->n;
    struct cp_tolerance_row row = {p->n, p->d, p->d,    p->scale, p->q,
                                   p->k, p->v, scratch, p->shift, errors};
    emulate(o, p, &result);
    r->overflow = result.overflow;
    class_of(declared, p, result.largest_score, &arithmetic, &counts);
    shift_errors(&arithmetic.score, p, errors);
    cp_tolerance(&arithmetic, &counts, &row, 0.0, r->expected, r->bound, NULL, NULL);
    r->left = cp_tolerance_parts(&arithmetic, &counts, &row, r->expected, r->parts, r->lost);
    cp_tolerance_rms(&arithmetic, &counts, &row, r->expected, r->rms);
    free(scratch);
}

static double sum_of(const double *parts) {
    double sum = 0.0;
    for (int p = 0; p < CP_TOLERANCE_PARTS; p++) {
        sum += parts[p];
    }
    return sum;
}

/* Of the sizes of a score's terms. */
static double largest_terms(const struct problem *p) {
    double largest = 0.0;
    for (int j = 0; j < p->n; j++) {
        double terms = 0.0;
        for (int i = 0; i < p->d; i++) {
            terms += fabs(p->q[i] * p->k[(ptrdiff_t)j * p->d + i]);
        }
        largest = fmax(largest, p->scale * terms + (p->shift == NULL ? 0.0 : fabs(p->shift[j])));
    }
    return largest;
}

static double largest_value(const struct problem *p) {
    double largest = 0.0;
    for (ptrdiff_t i = 0; i < (ptrdiff_t)p->n * p->d; i++) {
        largest = fmax(largest, fabs(p->v[i]));
    }
    return largest;
}

/* cp_tolerance() adds 2^-24 here and there, and what `expected` may lack. */
static void parts_add_up_to_the_bound(void **state) {
    static struct row r;
    unsigned long long seed = (unsigned long long)setting("CHUNKPROOF_SEED", 1);
    long elements = setting("CHUNKPROOF_ELEMENTS", 50000), claimed = 0;
    (void)state;
    problem_new(&r.problem, MASS_MOST_KEYS, MASS_MOST_DIM);
    for (; claimed < elements; seed++) {
        struct options o;
        enum family family;
        mass_case(seed, &o, &family, &r.problem);
        run(&r, &o, &o);
        double largest = largest_value(&r.problem);
        double lack = 8.0 * (r.problem.d + 8.0) * 0x1p-53 * largest_terms(&r.problem);
        assert_true(!isfinite(r.left) ||
                    fabs(1.0 - r.left - sum_of(r.lost)) <= (1e-9 + lack) * (1.0 + fabs(r.left)));
        for (int x = 0; x < r.problem.d; x++) {
            double sum = sum_of(r.parts + (ptrdiff_t)x * CP_TOLERANCE_PARTS);
            if (!isfinite(r.bound[x])) {
                continue;
            }
            double near = 1e-6 * r.bound[x] / fmin(1.0, r.left) + (0x1p-29 + lack) * largest;
            if (!(r.left > 0.0 && fabs(r.bound[x] - sum) <= near && r.rms[x] <= r.bound[x])) {
                print_error("case %llu, %s, element %d: bound %g, sum %g, rms %g, left %g\n", seed,
                            family_name(family), x, r.bound[x], sum, r.rms[x], r.left);
                fail();
            }
            claimed++;
        }
    }
    problem_free(&r.problem);
}

/* Columns are looked at a number at a time; none is left out, and none depends on how many there
 * are. */
static void wide_rows_have_all_columns(void **state) {
    static struct row r;
    struct options o = kind_options(1);
    unsigned long long random = 5;
    (void)state;
    problem_new(&r.problem, 20, MOST_DIM);
    r.problem.n = 20;
    for (r.problem.d = 126; r.problem.d <= MOST_DIM; r.problem.d += r.problem.d < 131 ? 1 : 41) {
        problem_fill(&r.problem, NORMAL, &o, &random);
        run(&r, &o, &o);
        for (int x = 0; x < r.problem.d; x++) {
            double sum = sum_of(r.parts + (ptrdiff_t)x * CP_TOLERANCE_PARTS);
            assert_true(fabs(r.bound[x] - sum) <= 1e-5 * r.bound[x]);
            assert_true(fabs(r.out[x] - r.expected[x]) <= r.bound[x]);
        }
    }
    problem_free(&r.problem);
}

/* Root of the mean square of the errors and of the companion, over many elements. */
static double error_to_companion(int kind, int n, enum wrong wrong, int declared_kind) {
    static struct row r;
    unsigned long long random = 7;
    double errors = 0.0, companion = 0.0;
    problem_new(&r.problem, n, 64);
    r.problem.n = n;
    r.problem.d = 64;
    for (int i = 0; i < 4; i++) {
        struct options o = kind_options(kind), declared = kind_options(declared_kind);
        o.wrong = wrong;
        o.seed = (unsigned long long)i;
        declared.seed = o.seed;
        problem_fill(&r.problem, NORMAL, &o, &random);
        run(&r, &o, &declared);
        for (int x = 0; x < r.problem.d; x++) {
            double error = r.out[x] - r.expected[x];
            errors += error * error;
            companion += r.rms[x] * r.rms[x];
            assert_true(r.rms[x] < r.bound[x]);
        }
    }
    problem_free(&r.problem);
    return sqrt(errors / companion);
}

/* Kind 6 cuts off and counts a block as one addition: its unit is far from what is usual. Kind 15
 * rounds factors, and the class has one error for these and for weights. Kind 17 scales by a power
 * of 2 here. */
static void companion_is_as_large_as_errors(void **state) {
    static const int lengths[] = {16, 200, 1000};
    (void)state;
    for (int kind = 0; kind < N_KINDS; kind++) {
        printf("%s: error / companion", kind_name(kind));
        for (int i = 0; i < 3; i++) {
            double ratio = error_to_companion(kind, lengths[i], RIGHT, kind);
            printf(" %.2f", ratio);
            assert_true(ratio < 3.0 && (ratio > 0.1 || kind == 6 || kind == 15 || kind == 17));
        }
        printf("\n");
    }
}

/* Wrong kernels, and a kernel that declares another class, are far above it. */
static void companion_warns(void **state) {
    (void)state;
    assert_true(error_to_companion(1, 200, NO_RESCALE_N, 1) > 3.0);
    assert_true(error_to_companion(1, 200, KEY_DROPPED, 1) > 3.0);
    assert_true(error_to_companion(4, 200, RIGHT, 1) > 3.0); /* P in BF16, declared as FP16 */
    assert_true(error_to_companion(1, 200, RIGHT, 4) < 0.1); /* and the other way round */
}

/* The row of spec/tolerance.md's example: what is what, in units of 2^-24, to the first digits. */
static void parts_of_the_example(void **state) {
    const double q = 1.0, k[] = {0.0, log(3.0)}, v[] = {1.0, 5.0}, u = 0x1p-24;
    double expected, bound, rms, scratch[6], parts[CP_TOLERANCE_PARTS], lost[CP_TOLERANCE_PARTS];
    struct cp_arithmetic a = cp_arithmetic_fp32(1, cp_format_fp16(), cp_format_fp16());
    struct cp_counts counts = cp_counts_of_chunks(1, 2);
    struct cp_tolerance_row row = {2, 1, 1, 1.0, &q, k, v, scratch, NULL, NULL};
    (void)state;
    cp_tolerance(&a, &counts, &row, 0.0, &expected, &bound, NULL, NULL);
    double left = cp_tolerance_parts(&a, &counts, &row, &expected, parts, lost);
    cp_tolerance_rms(&a, &counts, &row, &expected, &rms);
    assert_true(fabs(left - 1.0) < 20.0 * u);
    assert_true(fabs(parts[CP_PART_WEIGHTS] - 0x1p-9) < 1e-7);
    assert_true(fabs(parts[CP_PART_OUTPUT] - 0x1p-9) < 2e-6);
    assert_true(parts[CP_PART_SCORES] > 0.0 && parts[CP_PART_SCORES] < 20.0 * u);
    /* k_n = 3 and k_o = 4, of which a merge has 2: 4u * 4 + 4 * 3u */
    assert_true(fabs(parts[CP_PART_SUMS] - 12.0 * u) < 0.1 * u);
    assert_true(fabs(parts[CP_PART_MERGES] - (16.0 + 3.0) * u) < 0.1 * u); /* and C eps, 2u */
    assert_true(0.2 * bound < rms && rms < 0.5 * bound);
}

static void ends(void **state) {
    const double q = 1.0, k[] = {0.0, 1.0}, v[] = {1.0, 5.0}, huge[] = {0x1p23, 0x1p23};
    double expected = 0.0, rms, scratch[6], parts[CP_TOLERANCE_PARTS], lost[CP_TOLERANCE_PARTS];
    struct cp_arithmetic a = {.output = {0.0, 0.0, INFINITY}};
    struct cp_counts counts = {2, 3, 1, 1, 4.0, 8.0};
    struct cp_tolerance_row row = {2, 1, 1, 1.0, &q, k, v, scratch, NULL, NULL};
    (void)state;
    /* a class without errors */
    assert_true(cp_tolerance_parts(&a, &counts, &row, &expected, parts, lost) == 1.0);
    cp_tolerance_rms(&a, &counts, &row, &expected, &rms);
    assert_true(sum_of(parts) == 0.0 && sum_of(lost) == 0.0 && rms == 0.0);
    /* scores that are not known well enough; no key; too many keys, none of them read */
    for (int i = 0; i < 3; i++) {
        a = cp_arithmetic_fp32(1, cp_format_fp16(), cp_format_fp16());
        row = (struct cp_tolerance_row){
            i == 1 ? 0 : i == 2 ? (1 << 20) + 1 : 2, 1, 1, 1.0, &q, huge, v, scratch, NULL, NULL};
        double left = cp_tolerance_parts(&a, &counts, &row, &expected, parts, lost);
        assert_true(left <= 0.0 && isinf(parts[0]) && isinf(parts[CP_PART_OUTPUT]));
        assert_true(i == 0 ? lost[CP_PART_SCORES] > 1.0 : sum_of(lost) == 0.0 && isinf(left));
        cp_tolerance_rms(&a, &counts, &row, &expected, &rms);
        assert_true(i == 0 || isinf(rms));
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parts_add_up_to_the_bound),
        cmocka_unit_test(wide_rows_have_all_columns),
        cmocka_unit_test(companion_is_as_large_as_errors),
        cmocka_unit_test(companion_warns),
        cmocka_unit_test(parts_of_the_example),
        cmocka_unit_test(ends),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
