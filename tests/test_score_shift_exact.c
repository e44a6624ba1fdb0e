/* SPDX-License-Identifier: Apache-2.0 */
/* NUM-15 once more, by another program: MPFR evaluates the formula with many bits, of exact scores
 * as far from the given one as they may be. No error that the library computes is below it. */
#include <math.h>
#include <mpfr.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "chunkproof/score_shift.h"
#include "tests/random.h"

#define BITS  2400 /* sums of 2^500 and 2^-1074 are exact */
#define TRIES 5000
#define TO    MPFR_RNDN

/* The numbers of a question, as NUM-15 names them; s and x are exact. */
struct question {
    struct cp_shift_arithmetic a;
    struct cp_score_change change;
    double score, score_error, sigma;
};

struct numbers {
    mpfr_t u, s, x, value, error, shift, y, z;
};

static void begin(struct numbers *n) {
    mpfr_inits2(BITS, n->u, n->s, n->x, n->value, n->error, n->shift, n->y, n->z, (mpfr_ptr)0);
}

static void end(struct numbers *n) {
    mpfr_clears(n->u, n->s, n->x, n->value, n->error, n->shift, n->y, n->z, (mpfr_ptr)0);
}

/* r = (1 + u)^k (1 + more) - minus. */
static void grow(mpfr_t r, const struct numbers *n, unsigned long k, double more, int minus) {
    mpfr_t factor;
    mpfr_init2(factor, BITS);
    mpfr_add_ui(r, n->u, 1, TO);
    mpfr_pow_ui(r, r, k, TO);
    mpfr_set_d(factor, more, TO);
    mpfr_add_ui(factor, factor, 1, TO);
    mpfr_mul(r, r, factor, TO);
    mpfr_sub_ui(r, r, (unsigned long)minus, TO);
    mpfr_clear(factor);
}

/* error += ((1 + u)^k (1 + more) - 1)(|value| + sigma + error) + tiny. */
static void add_relative(const struct question *q, struct numbers *n, unsigned long k,
                         double more) {
    grow(n->y, n, k, more, 1);
    mpfr_abs(n->z, n->value, TO);
    mpfr_add_d(n->z, n->z, q->sigma, TO);
    mpfr_add(n->z, n->z, n->error, TO);
    mpfr_mul(n->y, n->y, n->z, TO);
    mpfr_add(n->error, n->error, n->y, TO);
    mpfr_add_d(n->error, n->error, q->a.tiny, TO);
}

static void cap(const struct question *q, struct numbers *n) {
    double c = q->change.cap;
    mpfr_div_d(n->value, n->value, c, TO);
    mpfr_tanh(n->value, n->value, TO);
    mpfr_mul_d(n->value, n->value, c, TO);
    add_relative(q, n, 5, q->a.tanh_error);
    mpfr_set_d(n->y, q->a.tanh_error, TO);
    mpfr_add_ui(n->y, n->y, 1, TO);
    mpfr_mul_d(n->y, n->y, q->a.tiny, TO);
    mpfr_add_d(n->y, n->y, q->a.tanh_absolute, TO);
    mpfr_mul_d(n->y, n->y, c, TO);
    grow(n->z, n, 2, 0.0, 0);
    mpfr_mul(n->y, n->y, n->z, TO);
    mpfr_add(n->error, n->error, n->y, TO);
}

static void add(const struct question *q, struct numbers *n) {
    mpfr_add(n->value, n->value, n->x, TO);
    add_relative(q, n, 3, 0.0);
    grow(n->y, n, 3, 0.0, 1);
    mpfr_abs(n->z, n->x, TO);
    mpfr_mul(n->y, n->y, n->z, TO);
    mpfr_add_d(n->y, n->y, q->a.tiny, TO);
    grow(n->z, n, 3, 0.0, 0);
    mpfr_mul(n->y, n->y, n->z, TO);
    mpfr_add(n->error, n->error, n->y, TO);
}

/* Of the exact score s = score + at score_error, and of the bias when binary64 has rounded it: e,
 * and how far the shift is from the change of s. */
static int is_covered(const struct question *q, struct cp_shift shift, double at, double of_bias) {
    struct numbers n;
    begin(&n);
    mpfr_set_d(n.u, q->a.unit, TO);
    mpfr_set_d(n.s, q->score_error, TO);
    mpfr_mul_d(n.s, n.s, at, TO);
    mpfr_add_d(n.s, n.s, q->score, TO);
    mpfr_set_d(n.x, q->change.bias, TO);
    mpfr_mul_d(n.x, n.x, of_bias, TO);
    mpfr_mul_d(n.x, n.x, 0x1p-53, TO);
    mpfr_add_d(n.x, n.x, q->change.bias, TO);
    mpfr_set(n.value, n.s, TO);
    mpfr_set_zero(n.error, 1);
    if (q->change.bias_first && !q->change.without_bias) {
        add(q, &n);
    }
    if (q->change.cap > 0.0) {
        cap(q, &n);
    }
    if (!q->change.bias_first && !q->change.without_bias) {
        add(q, &n);
    }
    mpfr_sub(n.y, n.value, n.s, TO);
    mpfr_sub_d(n.y, n.y, shift.shift, TO);
    mpfr_abs(n.y, n.y, TO);
    mpfr_add(n.error, n.error, n.y, TO);
    int covered = mpfr_cmp_d(n.error, shift.error) <= 0;
    end(&n);
    return covered;
}

/* 0, or of any size. */
static double some(unsigned long long *random, int lowest, int highest) {
    double x =
        ldexp(1.0 + 0.5 * random_uniform(random), lowest + random_below(random, highest - lowest));
    return random_below(random, 4) == 0 ? 0.0 : x;
}

static struct question ask(unsigned long long *random) {
    static const double units[] = {0x1p-53, 0x1p-24, 0x1p-11, 0x1p-8, 0.25, 0.0};
    struct question q = {.a = {.unit = units[random_below(random, 6)]}};
    int wide = random_below(random, 4) == 0; /* underflow, and large numbers */
    q.a.tiny = some(random, wide ? -1074 : -150, wide ? 0 : -20);
    q.a.tanh_error = some(random, -53, 0);
    q.a.tanh_absolute = some(random, -60, 0);
    q.change.cap = some(random, wide ? -500 : -4, wide ? 500 : 10);
    q.change.bias_first = random_below(random, 2);
    q.change.without_bias = random_below(random, 3) == 0;
    q.change.bias = q.change.without_bias ? 0.0 : some(random, wide ? -1074 : -10, wide ? 500 : 12);
    q.change.bias *= random_below(random, 2) ? 1.0 : -1.0;
    q.score = some(random, wide ? -1074 : -30, wide ? 500 : 12);
    q.score *= random_below(random, 2) ? 1.0 : -1.0;
    q.score_error = some(random, wide ? -1074 : -70, wide ? 400 : -30);
    q.sigma = some(random, wide ? -1074 : -60, wide ? 400 : 0);
    return q;
}

/* NUM-15 */
static void no_error_is_below_the_formula(void **state) {
    const double at[] = {-1.0, 0.0, 1.0};
    unsigned long long random = 15;
    int claimed = 0;
    (void)state;
    for (int i = 0; i < TRIES; i++) {
        struct question q = ask(&random);
        struct cp_shift shift = cp_shift_of(&q.a, &q.change, q.score, q.score_error, q.sigma);
        claimed += isfinite(shift.error) != 0;
        for (int j = 0; j < 9 && isfinite(shift.error); j++) {
            assert_true(is_covered(&q, shift, at[j % 3], at[j / 3]));
        }
    }
    assert_true(claimed > TRIES * 9 / 10);
}

/* NUM-15 */
static void no_error_of_a_sink_is_below_the_formula(void **state) {
    unsigned long long random = 16;
    (void)state;
    for (int i = 0; i < TRIES; i++) {
        struct question q = ask(&random);
        struct cp_shift shift = cp_shift_of_sink(&q.a, q.score);
        struct numbers n;
        begin(&n);
        mpfr_set_d(n.u, q.a.unit, TO);
        grow(n.error, &n, 3, 0.0, 1);
        mpfr_mul_d(n.error, n.error, fabs(q.score), TO);
        grow(n.y, &n, 2, 0.0, 0);
        mpfr_add_ui(n.y, n.y, 1, TO);
        mpfr_mul_d(n.y, n.y, q.a.tiny, TO);
        mpfr_add(n.error, n.error, n.y, TO);
        assert_true(shift.shift == q.score);
        assert_true(mpfr_cmp_d(n.error, shift.error) <= 0);
        end(&n);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_error_is_below_the_formula),
        cmocka_unit_test(no_error_of_a_sink_is_below_the_formula),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
