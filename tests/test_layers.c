/* SPDX-License-Identifier: Apache-2.0 */
/* What layers are made of: the examples of spec/layers.md, worked by hand, and laws. */
#include <float.h>
#include <limits.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "chunkproof/layers.h"
#include "chunkproof/softmax.h"
#include "tests/random.h"
#include "tests/rotation_bound.h"

#define U 0x1p-53 /* the unit roundoff of double */

/* x is y but for so many roundings of numbers that are not above y. */
static void assert_near(double x, double y, int roundings) {
    assert_true(fabs(x - y) <= roundings * U * fabs(y));
}

static void assert_same(const double *x, const double *y, int n) {
    assert_memory_equal(x, y, (size_t)n * sizeof *x);
}

/* LAYER-2: 1 and 7 have the mean of squares 25; with epsilon 11 the root is 6. */
static void rms_norm_divides_by_the_root_of_the_mean_square(void **unused) {
    (void)unused;
    const double x[] = {1.0, 7.0};
    const float one[] = {1.0F, 1.0F}, weight[] = {3.0F, -2.0F};
    double y[2];
    cp_norm_rms(y, x, one, 2, 0.0);
    assert_same(y, (const double[]){1.0 / 5.0, 7.0 / 5.0}, 2);
    cp_norm_rms(y, x, weight, 2, 11.0);
    assert_same(y, (const double[]){1.0 / 6.0 * 3.0, 7.0 / 6.0 * -2.0}, 2);
}

/* LAYER-2: epsilon counts as a double. x^2 is far below it, so that the root is that of epsilon. */
static void epsilon_is_a_double(void **unused) {
    (void)unused;
    const double x[] = {1e-12, 1e-12};
    const float weight[] = {1.0F, 1.0F};
    double y[2];
    cp_norm_rms(y, x, weight, 2, 1e-5);
    assert_near(y[1], 1e-12 / sqrt(1e-5), 8);
}

/* LAYER-3: 1 and 3 have mean 2 and variance 1; with epsilon 3 the root is 2. */
static void layer_norm_takes_the_mean_away(void **unused) {
    (void)unused;
    double y[] = {1.0, 3.0}, far[] = {0x1p40 + 1.0, 0x1p40 + 3.0};
    const float weight[] = {2.0F, 4.0F}, bias[] = {1.0F, 1.0F};
    cp_norm_layer(far, far, weight, NULL, 2, 3.0);
    assert_same(far, (const double[]){-1.0, 2.0}, 2);
    cp_norm_layer(y, y, weight, bias, 2, 3.0);
    assert_same(y, (const double[]){0.0, 3.0}, 2);
}

/* LAYER-4 */
static void a_projection_has_a_row_for_each_number(void **unused) {
    (void)unused;
    const double x[] = {1.0, 1.0, 2.0, -1.0};
    const float weight[] = {1.0F, 2.0F, 3.0F, 4.0F, 5.0F, 6.0F}, bias[] = {0.5F, -0.5F, 0.0F};
    double y[6];
    cp_project(y, x, 2, weight, NULL, 3, 2);
    assert_same(y, (const double[]){3.0, 7.0, 11.0, 0.0, 2.0, 4.0}, 6);
    cp_project(y, x, 2, weight, bias, 3, 2);
    assert_same(y, (const double[]){3.5, 6.5, 11.0, 0.5, 1.5, 4.0}, 6);
    const double none[] = {0.0, 0.0};
    const float infinite[] = {1.0F, INFINITY};
    cp_project(y, none, 1, infinite, NULL, 1, 2);
    assert_true(isnan(y[0])); /* no product is left out */
}

/* LAYER-4, LAYER-5: with a row for each column the matrix is not read across, and each function
 * writes as many numbers as it says. */
static void nothing_is_written_behind_the_numbers(void **unused) {
    (void)unused;
    const double x[] = {1.0, 10.0}, frequency[] = {0.5, 0.25};
    const float weight[] = {1.0F, 2.0F, 3.0F, 4.0F};
    double y[] = {7, 7, 7}, c[] = {7, 7, 7}, s[] = {7, 7, 7}, f[] = {7, 7, 7};
    cp_project(y, x, 1, weight, NULL, 2, 2);
    assert_same(y, (const double[]){21.0, 43.0, 7.0}, 3);
    cp_rotary_frequencies(f, 2, 100.0, 1.0);
    cp_rotation(c, s, frequency, 2, 3);
    assert_true(f[2] == 7.0 && c[2] == 7.0 && s[2] == 7.0);
    cp_norm_rms(y, x, weight, 2, 1.0);
    cp_norm_layer(y, x, weight, weight + 2, 2, 1.0);
    assert_true(y[2] == 7.0);
}

/* LAYER-4, LAYER-12: a row has the same bits whatever rows stand beside it, and they are those of
 * the sum from the first product on. */
static void a_row_is_projected_alike_in_any_company(void **unused) {
    (void)unused;
    enum { ROWS = 11, IN = 13, OUT = 3 };
    unsigned long long random = 2;
    double x[ROWS * IN], y[ROWS * OUT];
    float weight[OUT * IN], bias[OUT];
    for (int i = 0; i < ROWS * IN; i++) {
        x[i] = random_normal(&random);
    }
    for (int i = 0; i < OUT * IN; i++) {
        weight[i] = (float)random_normal(&random);
    }
    for (int r = 0; r < OUT; r++) {
        bias[r] = (float)random_normal(&random);
    }
    for (int n = 1; n <= ROWS; n++) {
        memset(y, 0xFF, sizeof y);
        cp_project(y, x, n, weight, bias, OUT, IN);
        for (int t = 0; t < n; t++) {
            for (int r = 0; r < OUT; r++) {
                double sum = 0.0;
                for (int i = 0; i < IN; i++) {
                    sum += (double)weight[r * IN + i] * x[t * IN + i];
                }
                sum += bias[r];
                assert_same(&y[t * OUT + r], &sum, 1);
            }
        }
    }
}

/* LAYER-5: base 100 and two pairs give 1 and 1/10, scaled by 2 half of that. */
static void rotary_frequencies_fall_from_one(void **unused) {
    (void)unused;
    double frequency[2];
    cp_rotary_frequencies(frequency, 2, 100.0, 1.0);
    assert_same(frequency, (const double[]){1.0, 0.1}, 2);
    cp_rotary_frequencies(frequency, 2, 100.0, 2.0);
    assert_same(frequency, (const double[]){0.5, 0.05}, 2);
}

/* DEC-8's example, f = pi / 2: R_1 (1, 0) = (0, 1), R_2 (1, 0) = (-1, 0). */
static void a_quarter_turn(void **unused) {
    (void)unused;
    double frequency = acos(0.0), cosine, sine, k[] = {1.0, 0.0};
    for (int p = 1; p <= 2; p++) {
        cp_rotation(&cosine, &sine, &frequency, 1, 1);
        cp_rotate(k, &cosine, &sine, 1, 1);
        assert_true(fabs(k[p % 2 == 0] - 0.0) <= 4 * U);
        assert_near(k[p % 2], p == 1 ? 1.0 : -1.0, 4);
    }
    cp_rotation(&cosine, &sine, &frequency, 1, -1);
    assert_near(sine, -1.0, 2);
}

/* DEC-8: any int is a position. The angle is rounded once, and so are cos and sin. */
static void any_int_is_a_position(void **unused) {
    (void)unused;
    const int position[] = {INT_MIN, -(1 << 24) - 1, -(1 << 20) - 3, -5,     0,
                            7,       (1 << 20) + 1,  (1 << 24) + 1,  INT_MAX};
    const double frequency[] = {1.0, 0.3, 1e-9};
    for (int i = 0; i < (int)(sizeof position / sizeof position[0]); i++) {
        double c[3], s[3];
        cp_rotation(c, s, frequency, 3, position[i]);
        for (int f = 0; f < 3; f++) {
            long double angle = (long double)position[i] * (long double)frequency[f];
            double off = U * ((double)fabsl(angle) + 2.0);
            assert_true(fabsl((long double)c[f] - cosl(angle)) <= off);
            assert_true(fabsl((long double)s[f] - sinl(angle)) <= off);
        }
    }
}

/* DEC-8: which numbers are a pair. A pair's sine is its number and one, and its cosine 0, so that
 * (a, b) becomes (-s b, s a). */
static void pairs_are_as_far_apart_as_is_said(void **unused) {
    (void)unused;
    const double cosine[] = {0.0, 0.0, 0.0, 0.0}, sine[] = {1.0, 2.0, 3.0, 4.0};
    const double neighbours[] = {-2, 1, -8, 6, -18, 15, -32, 28, 9},
                 halves[] = {-5, -12, -21, -32, 1, 4, 9, 16, 9},
                 groups[] = {-3, -8, 1, 4, -21, -32, 15, 24, 9};
    const double *expected[] = {neighbours, groups, halves};
    for (int i = 0; i < 3; i++) {
        double x[] = {1, 2, 3, 4, 5, 6, 7, 8, 9};
        cp_rotate(x, cosine, sine, 4, 1 << i);
        assert_same(x, expected[i], 9);
    }
}

/* LAYER-14, DEC-9: a key at j moved by t is the key at j + t, within what both may lose. */
static void a_moved_key_is_the_key_at_its_new_position(void **unused) {
    (void)unused;
    unsigned long long random = 3;
    double worst = 0.0;
    for (int i = 0; i < 200000; i++) {
        int most = 1 << random_below(&random, 24);
        int j = random_below(&random, 2 * most) - most, t = random_below(&random, 2 * most) - most;
        double f = exp2(-20.0 * (random_uniform(&random) + 1.0)) * 1.5, c, s;
        double k[] = {random_normal(&random), random_normal(&random)}, moved[2], at[2];
        memcpy(moved, k, sizeof k);
        memcpy(at, k, sizeof k);
        cp_rotation(&c, &s, &f, 1, j);
        cp_rotate(moved, &c, &s, 1, 1);
        cp_rotation(&c, &s, &f, 1, t);
        cp_rotate(moved, &c, &s, 1, 1);
        cp_rotation(&c, &s, &f, 1, j + t);
        cp_rotate(at, &c, &s, 1, 1);
        double bound = moved_loss(f * j, f * t, f * (j + t)) * hypot(k[0], k[1]);
        double off = hypot(moved[0] - at[0], moved[1] - at[1]);
        worst = fmax(worst, off / bound);
        assert_true(off <= bound);
    }
    print_message("the worst is %.3f of its bound\n", worst);
}

/* LAYER-6 */
static void slopes_of_any_number_of_heads(void **unused) {
    (void)unused;
    for (int head = 0; head < 8; head++) {
        assert_near(cp_alibi_slope(head, 8), ldexp(0.5, -head), 4);
    }
    const double three[] = {1.0 / 16.0, 1.0 / 256.0, 1.0 / 4.0};
    const double six[] = {1.0 / 4.0, 1.0 / 16.0, 1.0 / 64.0, 1.0 / 256.0, 1.0 / 2.0, 1.0 / 8.0};
    for (int head = 0; head < 3; head++) {
        assert_near(cp_alibi_slope(head, 3), three[head], 4);
    }
    for (int head = 0; head < 6; head++) {
        assert_near(cp_alibi_slope(head, 6), six[head], 4);
    }
    assert_near(cp_alibi_slope(0, 1), 1.0 / 256.0, 4);
    assert_near(cp_alibi_slope(4, 12), 0x1p-5, 4);
    assert_near(cp_alibi_slope(8, 12), sqrt(0.5), 8);
}

/* LAYER-6: the exponents are exact numbers, of which 2^ is rounded. */
static void slopes_are_powers_of_two(void **unused) {
    (void)unused;
    for (int h = 1, m = 1; h <= 70; h++) {
        m = 2 * m <= h ? 2 * m : m;
        for (int a = 0; a < h; a++) {
            long double exponent = a < m ? 8.0L * (a + 1) / m : 4.0L * (2.0L * (a - m) + 1.0L) / m;
            assert_near(cp_alibi_slope(a, h), (double)exp2l(-exponent), 8);
        }
    }
}

/* LAYER-8: exp(-ln 3) = 1/3, so that ln 3 is multiplied by 3/4. */
static void silu_of_some_numbers(void **unused) {
    (void)unused;
    assert_true(cp_silu(0.0) == 0.0);
    assert_near(cp_silu(log(3.0)), 0.75 * log(3.0), 12);
    assert_near(cp_silu(-log(3.0)), -0.25 * log(3.0), 12);
    for (int x = -100; x <= 100; x++) {
        /* exp(-x) of a whole number x is off by 2 u at most, the sum and the quotient by u each */
        assert_near(cp_silu(x), (double)(x / (1.0L + expl(-(long double)x))), 6);
    }
    assert_true(cp_silu(-800.0) == 0.0);
    assert_true(cp_silu(800.0) == 800.0);
}

/* LAYER-9: tables of the normal distribution have Phi(1) = 0.841345 and Phi(-2) = 0.022750. */
static void gelu_of_some_numbers(void **unused) {
    (void)unused;
    assert_true(cp_gelu_erf(0.0) == 0.0 && cp_gelu_tanh(0.0) == 0.0);
    assert_true(fabs(cp_gelu_erf(1.0) - 0.841345) < 0.5e-6);
    assert_true(fabs(cp_gelu_erf(-2.0) + 2.0 * 0.022750) < 2.0 * 0.5e-6);
    assert_true(fabs(cp_gelu_tanh(1.0) - 0.841192) < 0.5e-6);
    assert_near(cp_gelu_tanh(1.0), 0.5 * (1.0 + tanh(sqrt(2.0 / acos(-1.0)) * 1.044715)), 16);
    assert_true(cp_gelu_erf(-40.0) <= 0.0 && cp_gelu_erf(-40.0) >= -DBL_MIN);
    assert_true(cp_gelu_tanh(-40.0) <= 0.0 && cp_gelu_tanh(-40.0) >= -DBL_MIN);
}

/* LAYER-9: erfc(z) multiplies a relative error of z by 2 z^2 + 2 at most, and exp(z) by |z|. z is
 * off by 2 roundings in the one, and by 6 in the other, whose terms have the same sign. */
static void gelu_keeps_its_digits_far_from_zero(void **unused) {
    (void)unused;
    long double root = sqrtl(2.0L / acosl(-1.0L));
    for (int i = -240; i <= 240; i++) {
        double x = i / 16.0;
        long double z = -x / sqrtl(2.0L), u = 2.0L * root * (x + 0.044715L * x * x * x);
        double by_erf = (double)(0.5L * x * erfcl(z)), by_tanh = (double)(x / (1.0L + expl(-u)));
        assert_near(cp_gelu_erf(x), by_erf, 8 + (int)(4.0L * z * z + 4.0L));
        assert_near(cp_gelu_tanh(x), by_tanh, 8 + (int)(6.0L * fabsl(u)));
    }
    assert_true(cp_gelu_tanh(1e3) == 1e3 && cp_gelu_erf(1e3) == 1e3);
}

/* LAYER-7: scores 0 and -1 weigh 1 / (1 + exp(-1)) = 0.731059 and the rest. */
static void a_key_is_a_state_of_its_own(void **unused) {
    (void)unused;
    double o, out;
    const double value[] = {1.0, 0.0};
    struct cp_state state;
    cp_state_empty(&state, &o, 1);
    for (int j = 0; j < 2; j++) {
        struct cp_state key = {-j, 1.0};
        cp_attn_reduce(&state, &o, &key, &value[j], 1);
    }
    cp_finish(&state, &o, &out, 1);
    assert_true(fabs(out - 0.731059) < 0.5e-6);
}

#define KEYS 200

static double attention_in_order(const double *score, const double *value, const int *order,
                                 int n) {
    struct cp_state state;
    double o, out;
    cp_state_empty(&state, &o, 1);
    for (int j = 0; j < n; j++) {
        struct cp_state key = {score[order[j]], 1.0};
        cp_attn_reduce(&state, &o, &key, &value[order[j]], 1);
    }
    cp_finish(&state, &o, &out, 1);
    return out;
}

static void shuffle(int *x, int n, unsigned long long *random) {
    for (int i = n - 1; i > 0; i--) {
        int j = random_below(random, i + 1), of_i = x[i];
        x[i] = x[j];
        x[j] = of_i;
    }
}

/* LAYER-13: n keys whose scores have the range R, in any order: attention is within
 * (2 D + u) max |v| of what it is over the reals, D = exp(u (R + 6 n)) - 1. */
static void any_order_of_keys_is_within_the_bound(void **unused) {
    (void)unused;
    unsigned long long random = 4;
    double worst = 0.0;
    for (int i = 0; i < 20000; i++) {
        int n = 1 + random_below(&random, KEYS), order[KEYS];
        double score[KEYS], value[KEYS], spread = exp2(10.0 * random_uniform(&random));
        double most = -INFINITY, least = INFINITY, size = 0.0;
        long double total = 0.0L, sum = 0.0L;
        for (int j = 0; j < n; j++) {
            order[j] = j;
            score[j] = spread * random_normal(&random);
            value[j] = 1.0 + random_normal(&random);
            most = fmax(most, score[j]);
            least = fmin(least, score[j]);
            size = fmax(size, fabs(value[j]));
        }
        for (int j = 0; j < n; j++) {
            total += expl((long double)score[j] - most);
            sum += expl((long double)score[j] - most) * value[j];
        }
        shuffle(order, n, &random);
        double out = attention_in_order(score, value, order, n);
        double bound = 1.02 * (2.0 * expm1(U * (most - least + 6.0 * n)) + U) * size;
        double off = fabs((double)(out - sum / total));
        worst = fmax(worst, off / bound);
        assert_true(off <= bound);
    }
    print_message("the worst is %.3f of its bound\n", worst);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rms_norm_divides_by_the_root_of_the_mean_square),
        cmocka_unit_test(epsilon_is_a_double),
        cmocka_unit_test(layer_norm_takes_the_mean_away),
        cmocka_unit_test(a_projection_has_a_row_for_each_number),
        cmocka_unit_test(nothing_is_written_behind_the_numbers),
        cmocka_unit_test(a_row_is_projected_alike_in_any_company),
        cmocka_unit_test(rotary_frequencies_fall_from_one),
        cmocka_unit_test(a_quarter_turn),
        cmocka_unit_test(any_int_is_a_position),
        cmocka_unit_test(pairs_are_as_far_apart_as_is_said),
        cmocka_unit_test(a_moved_key_is_the_key_at_its_new_position),
        cmocka_unit_test(slopes_of_any_number_of_heads),
        cmocka_unit_test(slopes_are_powers_of_two),
        cmocka_unit_test(silu_of_some_numbers),
        cmocka_unit_test(gelu_of_some_numbers),
        cmocka_unit_test(gelu_keeps_its_digits_far_from_zero),
        cmocka_unit_test(a_key_is_a_state_of_its_own),
        cmocka_unit_test(any_order_of_keys_is_within_the_bound),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
