/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers near the ends of formats: the gate's values (GATE-11), infinities (GATE-12), and results
 * that are right and unusual (NUM-13). */
#include <float.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "chunkproof/number.h"
#include "gate/case/layout.h"
#include "gate/case/values.h"
#include "gate/judge/class.h"
#include "gate/judge/judge.h"
#include "tests/plain_kernel.h"

#define CASES     480
#define WORK      200000
#define HALF      65504.0
#define SUBNORMAL 0x1p-126 /* below it bfloat16 has subnormal numbers */

/* The next case of a kind of values from `index` on, with a row; -1: there is none left. */
static int next_of(enum gate_values values, int index, const struct cp_kernel *kernel,
                   struct gate_problem *p) {
    for (; index < CASES; index++) {
        struct gate_recipe recipe;
        gate_recipe_make(&recipe, 1, index, 0, WORK, NULL);
        if (recipe.values == values) {
            recipe.without_lse = 0;
            assert_int_equal(gate_problem_new(p, &recipe, kernel), 0);
            gate_values_fill(p);
            if (p->n_rows > 0 && gate_visible(p, p->n_rows - 1) > 0) {
                return index + 1;
            }
            gate_problem_free(p);
        }
    }
    return -1;
}

static struct cp_kernel of_type(int type) {
    struct cp_kernel kernel = plain;
    kernel.q_type = kernel.kv_type = kernel.out_type = type;
    return kernel;
}

/* Of the last row, head 0: its attention, bounds and usual errors. */
struct certified {
    double *expected, *bound, *usual;
    int must_be_finite;
};

static void certify(struct certified *c, const struct gate_problem *p,
                    const struct cp_kernel *kernel) {
    size_t d = (size_t)p->recipe.head_dim + 1;
    struct gate_scratch *room = gate_scratch_new(p);
    c->expected = calloc(3 * d, sizeof(double));
    assert_true(room != NULL && c->expected != NULL);
    c->bound = c->expected + d;
    c->usual = c->bound + d;
    const struct gate_numbers numbers = {c->expected, c->bound, c->usual, &c->must_be_finite, 0};
    gate_certify_row(room, kernel, p->n_rows - 1, 0, &numbers);
    gate_scratch_free(room);
}

static const double *key_of(const struct gate_problem *p, const double *array, int j) {
    return array + gate_key_row(p, p->b - 1, j, 0) * (size_t)p->recipe.head_dim;
}

/* GATE-11: the sums of a column leave binary16, attention does not, and the bound is finite. */
static void sums_of_large_values_leave_binary16(void **state) {
    struct gate_problem p;
    int rows = 0, positive = 0, negative = 0;
    (void)state;
    for (int i = 0; (i = next_of(GATE_LARGE, i, &plain, &p)) > 0;) {
        struct certified c;
        int n = gate_visible(&p, p.n_rows - 1), s = gate_sequence_of(&p, p.n_rows - 1);
        certify(&c, &p, &plain);
        for (int e = 0; s == p.b - 1 && n > 2 && e < p.recipe.head_dim; e++) {
            double sum = 0.0;
            for (int j = 0; j < n; j++) {
                sum += key_of(&p, p.v, j)[e];
            }
            assert_true(fabs(c.expected[e]) + c.bound[e] <= HALF);
            positive += sum > HALF;
            negative += sum < -HALF;
            rows++;
        }
        free(c.expected);
        gate_problem_free(&p);
    }
    assert_true(rows > 100 && positive > rows / 4 && negative > rows / 4);
}

/* GATE-11: the same small step from each key to the next. What is too little to move a lazy
 * reference adds up to an infinity of binary32, in a quarter of a long sequence, too. */
static void creeping_scores_rise_by_small_steps(void **state) {
    struct gate_problem p;
    double least = 1.0, most = 0.0;
    int longest = 0, thousands = 0;
    (void)state;
    for (int i = 0; (i = next_of(GATE_CREEPING, i, &plain, &p)) > 0;) {
        int s = p.b - 1, n = p.n_tokens[s], d = p.recipe.head_dim;
        double before = 0.0, step = 0.0;
        for (int j = 0; d > 2 && j < n; j++) {
            const double *k = key_of(&p, p.k, j), *q = p.q;
            double score = p.scale * (q[0] * k[0] + q[1] * k[1] + q[2] * k[2]);
            step = j == 1 ? score - before : step;
            assert_true(j < 2 || fabs(score - before - step) <= 0x1p-40);
            before = score;
        }
        if (step > 0.0 && p.n_tokens[0] >= GATE_THOUSANDS) {
            assert_true(step < 0.2 && step * p.n_tokens[0] / 4.0 > log((double)FLT_MAX));
            thousands++;
        } else if (step > 0.0) {
            least = fmin(least, step);
            most = fmax(most, step);
            longest = n > longest ? n : longest;
        }
        gate_problem_free(&p);
    }
    assert_true(least >= 0x1p-13 && least < 0x1p-10 && most > 0x1p-7 && most < 0x1p-3);
    assert_true(longest > 300 && thousands > 2);
}

/* GATE-11: one of Q and K tiny, the other large, and scores like any. */
static void extreme_queries_and_keys_have_usual_scores(void **state) {
    const int types[] = {CP_FP16, CP_BF16};
    (void)state;
    for (int t = 0; t < 2; t++) {
        struct cp_kernel kernel = of_type(types[t]);
        double far = types[t] == CP_FP16 ? 0x1p13 : 0x1p50;
        struct gate_problem p;
        int tiny_k = 0, tiny_q = 0, subnormal = 0;
        for (int i = 0; (i = next_of(GATE_EXTREME, i, &kernel, &p)) > 0;) {
            int d = p.recipe.head_dim, s = p.b - 1;
            if (p.n_tokens[s] > 0) {
                const double *k = key_of(&p, p.k, 0), *q = p.q;
                double score = 0.0;
                for (int e = 0; e < d; e++) {
                    score += p.scale * q[e] * k[e];
                    subnormal += q[e] != 0.0 && fabs(q[e]) < SUBNORMAL;
                }
                assert_true(fabs(score) < 40.0);
                tiny_k += fabs(q[0]) > far && fabs(k[0]) < 8.0 / far;
                tiny_q += fabs(k[0]) > far && fabs(q[0]) < 8.0 / far;
            }
            gate_problem_free(&p);
        }
        assert_true(tiny_k > 1 && tiny_q > 1);
        assert_int_equal(subnormal > 0, types[t] == CP_BF16);
    }
}

static enum gate_overflow overflow(const struct cp_kernel *kernel, double q, double v) {
    const double k[] = {1.0, 2.0}, values[] = {v, -v};
    double scratch[6];
    const struct cp_tolerance_row row = {2, 1, 1, 1.0, &q, k, values, scratch, NULL, NULL};
    const struct gate_recipe recipe = {
        .n_heads = 1, .n_kv_heads = 1, .head_dim = 1, .chunk_size = 2};
    struct gate_extent extent = gate_extent_of(&row);
    struct cp_arithmetic arithmetic;
    struct cp_counts counts;
    gate_class(kernel, &recipe, 2, extent.score, &arithmetic, &counts);
    return gate_overflow_of(kernel, &arithmetic, &counts, &row, &extent,
                            &(struct gate_rotated){.quarters = 0});
}

/* GATE-12: two keys, whose V add up to twice one of them. */
static void classes_say_what_may_overflow(void **state) {
    struct cp_kernel half = plain, bits = plain, scores = plain, divided = plain;
    (void)state;
    half.arithmetic.values = CP_SUM_FP16;
    bits.arithmetic.in_bits = 1;
    scores.arithmetic.score = CP_SUM_FP16;
    divided.arithmetic.partials = CP_FP16;
    divided.arithmetic.divides = 1;
    assert_int_equal(overflow(&plain, 1.0, 15000.0), GATE_STAYS_FINITE);
    assert_int_equal(overflow(&plain, 1.0, 40000.0), GATE_UNKNOWN); /* beside 65504 */
    assert_int_equal(overflow(&half, 1.0, 10000.0), GATE_STAYS_FINITE);
    assert_int_equal(overflow(&half, 1.0, 40000.0), GATE_MAY_OVERFLOW);
    half.out_type = CP_FP32;
    half.arithmetic.values_promotes = 1; /* of two keys: a short sum has one (NUM-20) */
    assert_int_equal(overflow(&half, 1.0, 20000.0), GATE_STAYS_FINITE);
    half.arithmetic.values_promotes = 2;
    assert_int_equal(overflow(&half, 1.0, 20000.0), GATE_UNKNOWN);
    assert_int_equal(overflow(&half, 1.0, 40000.0), GATE_MAY_OVERFLOW);
    assert_int_equal(overflow(&divided, 1.0, 15000.0), GATE_STAYS_FINITE);
    assert_int_equal(overflow(&divided, 1.0, 40000.0), GATE_MAY_OVERFLOW);
    assert_int_equal(overflow(&scores, 40000.0, 1.0), GATE_MAY_OVERFLOW);
    scores.arithmetic.score_promotes = 8;
    assert_int_equal(overflow(&scores, 40000.0, 1.0), GATE_MAY_OVERFLOW);
    assert_int_equal(overflow(&bits, 1e12, 1.0), GATE_UNKNOWN); /* two roundings of the maximum */
    assert_int_equal(overflow(&bits, 1.0, 1.0), GATE_STAYS_FINITE);
    /* C + 1 = 5 changes, each of about 33 u of a score of 2 q: 7 of the score, 10 of references and
     * arguments, 16 of a log-sum-exp. They reach 60 at q = 60 / (330 u). */
    double q = 1e6;
    while (overflow(&bits, q, 1.0) == GATE_STAYS_FINITE) {
        q *= 1.01;
    }
    assert_true(fabs(q / (60.0 / (330.0 * 0x1p-24)) - 1.0) < 0.1);
}

/* Writes x to all of out. */
static void answer(const struct gate_problem *p, struct gate_arrays *a, double x) {
    for (size_t i = 0; i < a->run.bytes[RUN_OUT] / cp_number_size(p->out_type); i++) {
        cp_number_store(a->run.call.out, p->out_type, i, x);
    }
}

/* GATE-12: where the bound is infinite and nothing overflows, a number may be any, and a NaN or an
 * infinity is wrong. */
static void infinities_are_wrong_without_a_bound(void **state) {
    struct cp_kernel kernel = plain;
    struct gate_problem p;
    int found = 0;
    (void)state;
    kernel.lse_type = CP_NO_LSE;
    kernel.arithmetic.divides = 1; /* scores of 70,000 add up to log-sum-exps that are uncertain */
    kernel.arithmetic.step = 8;
    for (int i = 0; found < 3 && (i = next_of(GATE_SHIFTED, i, &kernel, &p)) > 0;) {
        struct certified c;
        struct gate_arrays a;
        struct gate_finding f;
        certify(&c, &p, &kernel);
        if (isinf(c.bound[0]) && c.must_be_finite && p.n_rows * p.recipe.n_heads < 96) {
            assert_int_equal(gate_arrays_new(&a, &p), 0);
            answer(&p, &a, -7.0);
            assert_int_equal(gate_judge(&p, &a, &kernel, 96, &f, NULL), 0);
            long long wrong = f.wrong;
            answer(&p, &a, (found & 1) != 0 ? INFINITY : NAN);
            assert_int_equal(gate_judge(&p, &a, &kernel, 96, &f, NULL), 0);
            assert_true(f.wrong > wrong && f.wrong >= p.recipe.head_dim);
            assert_true(f.verdict == ((found & 1) != 0 ? GATE_WRONG : GATE_NOT_A_NUMBER));
            found++;
            gate_arrays_free(&a);
        }
        free(c.expected);
        gate_problem_free(&p);
    }
    assert_true(found == 3);
}

/* NUM-13: far within the bound, and far beyond what is usual. */
static void unusual_numbers_are_noted(void **state) {
    struct cp_kernel kernel = of_type(CP_FP16);
    struct gate_problem p;
    int noted = 0;
    (void)state;
    kernel.out_type = CP_FP32;
    kernel.lse_type = CP_NO_LSE;
    for (int i = 0; !noted && (i = next_of(GATE_NORMAL, i, &kernel, &p)) > 0;) {
        struct certified c;
        int last = p.n_rows - 1;
        certify(&c, &p, &kernel);
        if (p.n_rows * p.recipe.n_heads == 1 && c.bound[0] > 2.5 * GATE_UNUSUAL * c.usual[0]) {
            const double off[] = {0.0, 0.8, 2.0}; /* of 30 times the usual error */
            for (int t = 0; t < 3; t++) {
                struct gate_arrays a;
                struct gate_finding f;
                assert_int_equal(gate_arrays_new(&a, &p), 0);
                for (int e = 0; e < p.recipe.head_dim; e++) {
                    double x = c.expected[e] + (e == 0 ? off[t] * GATE_UNUSUAL * c.usual[0] : 0.0);
                    cp_number_store(a.run.call.out, p.out_type, (size_t)e, x);
                }
                assert_int_equal(gate_judge(&p, &a, &kernel, 96, &f, NULL), 0);
                assert_int_equal(f.verdict, GATE_RIGHT);
                assert_int_equal(f.unusual, t == 2);
                assert_true(t < 2 || (f.unusual_element == 0 && f.unusual_row == last &&
                                      f.most_unusual > 55.0 && f.most_unusual < 65.0));
                gate_arrays_free(&a);
            }
            noted = 1;
        }
        free(c.expected);
        gate_problem_free(&p);
    }
    assert_true(noted);
}

/* NUM-13: the squares of 10^-216 are 0 in binary64. */
static void nothing_is_unusual_below_all_squares(void **state) {
    struct cp_kernel kernel = of_type(CP_FP64);
    struct gate_problem p;
    (void)state;
    kernel.lse_type = CP_NO_LSE;
    kernel.arithmetic.score = kernel.arithmetic.values = CP_SUM_FP64;
    assert_true(next_of(GATE_NORMAL, 0, &kernel, &p) > 0);
    size_t n = (size_t)p.capacity * (size_t)(p.recipe.n_kv_heads * p.recipe.chunk_size);
    for (size_t i = 0; i < n * (size_t)p.recipe.head_dim; i++) {
        p.v[i] = isnan(p.v[i]) ? p.v[i] : 1e-200;
    }
    struct gate_arrays a;
    struct gate_finding f;
    assert_int_equal(gate_arrays_new(&a, &p), 0);
    answer(&p, &a, 1e-200 * (1.0 + 0x1p-52));
    assert_int_equal(gate_judge(&p, &a, &kernel, 96, &f, NULL), 0);
    assert_int_equal(f.unusual, 0);
    assert_true(f.verdict == GATE_RIGHT || f.wrong < p.n_rows); /* rows without keys */
    gate_arrays_free(&a);
    gate_problem_free(&p);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sums_of_large_values_leave_binary16),
        cmocka_unit_test(creeping_scores_rise_by_small_steps),
        cmocka_unit_test(extreme_queries_and_keys_have_usual_scores),
        cmocka_unit_test(classes_say_what_may_overflow),
        cmocka_unit_test(infinities_are_wrong_without_a_bound),
        cmocka_unit_test(unusual_numbers_are_noted),
        cmocka_unit_test(nothing_is_unusual_below_all_squares),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
