/* SPDX-License-Identifier: Apache-2.0 */
/* The certified tolerance (NUM-3 to NUM-12) in use: kernels in binary32 of a declared class,
 * emulated, in many orders, on inputs of every kind, must stay within the bound of the exact
 * result; kernels that are not of the class, or wrong, must be seen. CHUNKPROOF_ELEMENTS numbers
 * (6,000), CHUNKPROOF_SEED (1). */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "chunkproof/number.h"
#include "chunkproof/tolerance.h"
#include "exact.h"
#include "fuzz/tolerance/setting.h"
#include "random.h"

#define MOST_KEYS  192
#define MOST_DIM   16
#define CHUNK_SIZE 16

struct problem {
    int n, d;
    double scale;
    double q[MOST_DIM], k[MOST_KEYS * MOST_DIM], v[MOST_KEYS * MOST_DIM];
};

static double half(double x) {
    return cp_fp16_to_double(cp_fp16_from_double(x));
}

static const char *const families[] = {"normal",  "massive",   "one-hot", "ties",
                                       "shifted", "subnormal", "offset"};
#define N_FAMILIES ((int)(sizeof families / sizeof families[0]))

static double key_of(unsigned long long *random, int family, int x) {
    double normal = random_normal(random);
    switch (family) {
    case 1:
        return x == 0 ? 50.0 * normal : normal;
    case 2:
        return 8.0 * normal;
    case 3:
        return random_below(random, 3) - 1.0;
    case 4:
        return x == 0 ? -400.0 : normal;
    case 5:
        return 0x1p-20 * normal;
    default:
        return normal;
    }
}

static double value_of(unsigned long long *random, int family) {
    double normal = random_normal(random);
    return family == 5 ? 0x1p-24 * normal : family == 6 ? 100.0 + normal : normal;
}

static void make_problem(struct problem *p, unsigned long long *random, int family) {
    p->n = 1 + random_below(random, MOST_KEYS);
    p->d = 1 + random_below(random, MOST_DIM);
    p->scale = 1.0 / sqrt(p->d);
    for (int x = 0; x < p->d; x++) {
        p->q[x] = half(family == 4 && x == 0 ? 2.0 : random_normal(random));
    }
    for (int i = 0; i < p->n * p->d; i++) {
        p->k[i] = half(key_of(random, family, i % p->d));
        p->v[i] = half(value_of(random, family));
    }
}

/* ---- Kernels ---- */

enum kernel {
    RIGHT,          /* P in binary16, the row sum before rounding */
    SUM_OF_ROUNDED, /* ... after rounding */
    P_FP32,         /* P is not rounded */
    BF16_P,         /* P is rounded to bfloat16 */
    NO_RESCALE,     /* wrong: the sum of one side is not rescaled at a merge */
    LOST_KEY,       /* wrong: the last key of each chunk is left out */
    N_KERNELS
};

struct state {
    float m, n, o[MOST_DIM];
};

static float bf16(float x) {
    return (float)cp_bf16_to_double(cp_bf16_from_double(x));
}

static float rounded_weight(float p, enum kernel kernel) {
    return kernel == P_FP32 ? p : kernel == BF16_P ? bf16(p) : (float)half(p);
}

static float score_of(const struct problem *p, int j) {
    float sum = 0.0F;
    for (int x = 0; x < p->d; x++) {
        sum += (float)p->q[x] * (float)p->k[j * p->d + x];
    }
    return sum * (float)p->scale;
}

static struct state attend_chunk(const struct problem *p, int first, int n, enum kernel kernel) {
    struct state s = {-INFINITY, 0.0F, {0.0F}};
    float score[CHUNK_SIZE];
    n -= kernel == LOST_KEY && n > 1;
    for (int j = 0; j < n; j++) {
        score[j] = score_of(p, first + j);
        s.m = fmaxf(s.m, score[j]);
    }
    for (int j = 0; j < n; j++) {
        float weight = expf(score[j] - s.m);
        float used = rounded_weight(weight, kernel);
        s.n += kernel == SUM_OF_ROUNDED ? used : weight;
        for (int x = 0; x < p->d; x++) {
            s.o[x] += used * (float)p->v[(first + j) * p->d + x];
        }
    }
    return s;
}

static struct state merge(struct state a, struct state b, int d, enum kernel kernel) {
    struct state s = {fmaxf(a.m, b.m), 0.0F, {0.0F}};
    float of_a = expf(a.m - s.m), of_b = expf(b.m - s.m);
    s.n = a.n * (kernel == NO_RESCALE ? 1.0F : of_a) + b.n * of_b;
    for (int x = 0; x < d; x++) {
        s.o[x] = a.o[x] * of_a + b.o[x] * of_b;
    }
    return s;
}

/* Writes binary16; the merges are in a random order. */
static void run_kernel(const struct problem *p, enum kernel kernel, unsigned long long *random,
                       double *out, double *lse) {
    struct state states[MOST_KEYS] = {{0.0F, 0.0F, {0.0F}}};
    int n_states = 0;
    for (int first = 0; first < p->n; first += CHUNK_SIZE) {
        int n = p->n - first < CHUNK_SIZE ? p->n - first : CHUNK_SIZE;
        states[n_states++] = attend_chunk(p, first, n, kernel);
    }
    for (; n_states > 1; n_states--) {
        int a = random_below(random, n_states - 1);
        states[a] = merge(states[a], states[n_states - 1], p->d, kernel);
    }
    for (int x = 0; x < p->d; x++) {
        out[x] = half(states[0].o[x] / states[0].n);
    }
    *lse = states[0].m + logf(states[0].n);
}

static struct cp_arithmetic class_of(int d, enum kernel kernel) {
    struct cp_format exact = {0.0, 0.0, INFINITY};
    struct cp_format weights = kernel == P_FP32   ? exact
                               : kernel == BF16_P ? cp_format_bf16()
                                                  : cp_format_fp16();
    struct cp_arithmetic arithmetic = cp_arithmetic_fp32(d, weights, cp_format_fp16());
    arithmetic.rounded_sum = kernel == SUM_OF_ROUNDED;
    return arithmetic;
}

/* ---- Judgement ---- */

struct judgement {
    double worst;          /* largest error / bound of the output */
    double worst_lse;      /* and of the log-sum-exp */
    double worst_expected; /* what `expected` lacks / bound */
};

/* The kernel's results under the class that `declared` has. */
static struct judgement judge(const struct problem *p, enum kernel kernel, enum kernel declared,
                              unsigned long long *random) {
    double out[MOST_DIM], truth[MOST_DIM], expected[MOST_DIM], bound[MOST_DIM];
    double scratch[3 * MOST_KEYS];
    double lse, true_lse, expected_lse, lse_bound;
    struct judgement judgement = {0.0, 0.0, 0.0};
    struct cp_arithmetic arithmetic = class_of(p->d, declared);
    struct cp_counts counts = cp_counts_of_chunks(CHUNK_SIZE, (p->n + CHUNK_SIZE - 1) / CHUNK_SIZE);
    struct cp_tolerance_row row = {p->n, p->d, p->d,    p->scale, p->q,
                                   p->k, p->v, scratch, NULL,     NULL};
    run_kernel(p, kernel, random, out, &lse);
    exact_attention(p->q, p->k, p->v, p->n, p->d, p->scale, NULL, CP_FP64, 128, truth, &true_lse);
    /* logf() within one unit in the last place, one addition: of numbers of at most these sizes. */
    double lse_error = 0x1p-22 * (fabs(true_lse) + 1.0 + log(p->n));
    cp_tolerance(&arithmetic, &counts, &row, lse_error, expected, bound, &expected_lse, &lse_bound);
    for (int x = 0; x < p->d; x++) {
        double error = fmax(fabs(out[x] - expected[x]), fabs(out[x] - truth[x]));
        judgement.worst = fmax(judgement.worst, error / bound[x]);
        judgement.worst_expected =
            fmax(judgement.worst_expected, fabs(expected[x] - truth[x]) / bound[x]);
    }
    judgement.worst_lse = fmax(fabs(lse - expected_lse), fabs(lse - true_lse)) / lse_bound;
    return judgement;
}

static void kernels_of_the_class_stay_within(void **state) {
    static const enum kernel kernels[] = {RIGHT, SUM_OF_ROUNDED, P_FP32, BF16_P};
    static struct problem p;
    unsigned long long random = (unsigned long long)setting("CHUNKPROOF_SEED", 1);
    long elements = setting("CHUNKPROOF_ELEMENTS", 6000), done = 0;
    double worst[N_FAMILIES] = {0.0};
    (void)state;
    for (int i = 0; done < elements; i++) {
        int family = i % N_FAMILIES;
        enum kernel kernel = kernels[i / N_FAMILIES % 4];
        make_problem(&p, &random, family);
        struct judgement judgement = judge(&p, kernel, kernel, &random);
        if (!(judgement.worst <= 1.0 && judgement.worst_lse <= 1.0)) {
            print_error("%s, kernel %d, %d keys: %.3f, lse %.3f of the bound\n", families[family],
                        kernel, p.n, judgement.worst, judgement.worst_lse);
            fail();
        }
        assert_true(judgement.worst_expected < 0x1p-10);
        worst[family] = fmax(worst[family], judgement.worst);
        done += p.d;
    }
    printf("elements %ld, largest error / bound:", done);
    for (int family = 0; family < N_FAMILIES; family++) {
        printf(" %s %.3f", families[family], worst[family]);
        assert_true(worst[family] > 0.1); /* it is a bound for these numbers and not for others */
    }
    printf("\n");
}

static double worst_of(enum kernel kernel, enum kernel declared, int family, int fewest) {
    static struct problem p;
    unsigned long long random = 3;
    double worst = 0.0;
    for (int i = 0; i < 25; i++) {
        make_problem(&p, &random, family);
        if (p.n >= fewest) {
            worst = fmax(worst, judge(&p, kernel, declared, &random).worst);
        }
    }
    return worst;
}

/* Wrong kernels, and classes that promise too much. */
static void others_are_seen(void **state) {
    (void)state;
    assert_true(worst_of(NO_RESCALE, RIGHT, 0, 40) > 1.0);
    assert_true(worst_of(LOST_KEY, RIGHT, 0, 40) > 1.0);
    assert_true(worst_of(BF16_P, RIGHT, 0, 2) > 1.0);
    assert_true(worst_of(RIGHT, RIGHT, 0, 2) <= 1.0);
    assert_true(worst_of(RIGHT, BF16_P, 0, 2) <= 1.0);
}

/* ---- The example of the specification, and the ends of the scale ---- */

static void example_of_the_specification(void **state) {
    const double q = 1.0, k[] = {0.0, log(3.0)}, v[] = {1.0, 5.0};
    double expected, bound, scratch[6];
    struct cp_arithmetic a = cp_arithmetic_fp32(1, cp_format_fp16(), cp_format_fp16());
    struct cp_counts counts = cp_counts_of_chunks(1, 2);
    struct cp_tolerance_row row = {2, 1, 1, 1.0, &q, k, v, scratch, NULL, NULL};
    (void)state;
    cp_tolerance(&a, &counts, &row, 0.0, &expected, &bound, NULL, NULL);
    assert_true(fabs(expected - 4.0) < 1e-14);
    assert_true(0.00390 < bound && bound < 0.00392);
    a.weights = (struct cp_format){0.0, 0.0, INFINITY};
    a.output = a.weights;
    cp_tolerance(&a, &counts, &row, 0.0, &expected, &bound, NULL, NULL);
    assert_true(0x1p-24 * 30.0 < bound && bound < 0x1p-24 * 60.0);
}

static void nothing_is_claimed_without_ground(void **state) {
    const double q = 1.0, k[] = {0.0, 0.0}, huge[] = {0x1p23, 0x1p23}, v[] = {65000.0, 65519.0};
    double expected, bound, lse, lse_bound, scratch[6];
    struct cp_arithmetic a = cp_arithmetic_fp32(1, cp_format_fp16(), cp_format_fp16());
    struct cp_counts counts = cp_counts_of_chunks(2, 1);
    struct cp_tolerance_row row = {0, 1, 1, 1.0, &q, k, v, scratch, NULL, NULL};
    (void)state;
    cp_tolerance(&a, &counts, &row, 0.0, &expected, &bound, &lse, &lse_bound);
    assert_true(expected == 0.0 && isinf(bound) && lse == -INFINITY && isinf(lse_bound));
    row.n_keys = 2; /* 65259.5: with an error of 2^-10 of it, beyond 65504 */
    cp_tolerance(&a, &counts, &row, 0.0, &expected, &bound, &lse, &lse_bound);
    assert_true(expected == 65259.5 && isfinite(lse_bound));
    assert_true(isfinite(bound) == (65259.5 * (1.0 + 0x1p-11) < 65504.0));
    row.v = huge; /* no overflow in binary32, but in binary16 */
    cp_tolerance(&a, &counts, &row, 0.0, &expected, &bound, &lse, &lse_bound);
    assert_true(isinf(bound));
    row.v = v;
    row.k = huge; /* the error of such a score is about 1 */
    cp_tolerance(&a, &counts, &row, 0.0, &expected, &bound, &lse, &lse_bound);
    assert_true(isinf(bound) && isinf(lse_bound));
    /* in a kernel without errors: what cannot be computed well enough here is not claimed */
    a = cp_arithmetic_fp64(1);
    cp_tolerance(&a, &counts, &row, 0.0, &expected, &bound, &lse, &lse_bound);
    assert_true(isinf(bound) && isinf(lse_bound));
    row.n_keys = CP_TOLERANCE_MOST + 1; /* no key is looked at */
    cp_tolerance(&a, &counts, &row, 0.0, &expected, &bound, &lse, &lse_bound);
    assert_true(isinf(bound) && isinf(lse_bound));
    bound = 0.0; /* and nobody asks for the log-sum-exp */
    cp_tolerance(&a, &counts, &row, 0.0, &expected, &bound, NULL, NULL);
    assert_true(isinf(bound));
}

/* A weight below the normal numbers is not computed; where its value is huge, the bound pays for
 * it. */
static void faint_weights_are_paid_for(void **state) {
    const double q = 1.0, k[] = {0.0, -800.0}, v[] = {0.0, 1e300};
    const double truth = 1e300 * exp(-400.0) * exp(-400.0);
    double expected, bound, scratch[6];
    struct cp_arithmetic a = cp_arithmetic_fp64(1);
    struct cp_counts counts = cp_counts_of_chunks(2, 1);
    struct cp_tolerance_row row = {2, 1, 1, 1.0, &q, k, v, scratch, NULL, NULL};
    (void)state;
    cp_tolerance(&a, &counts, &row, 0.0, &expected, &bound, NULL, NULL);
    assert_true(fabs(expected - truth) <= bound);
}

/* More columns than cp_tolerance() keeps sums of at a time: each has its own values, wherever it
 * stands. */
#define MOST_COLUMNS 300
static void columns_are_bounded_wherever_they_stand(void **state) {
    static double q[MOST_COLUMNS], k[3 * MOST_COLUMNS], v[3 * MOST_COLUMNS], w[3 * MOST_COLUMNS];
    double expected[MOST_COLUMNS], bound[MOST_COLUMNS], swapped[MOST_COLUMNS], other[MOST_COLUMNS];
    double scratch[9];
    unsigned long long random = 9;
    struct cp_arithmetic a = cp_arithmetic_fp32(1, cp_format_fp16(), cp_format_fp16());
    struct cp_counts counts = cp_counts_of_chunks(3, 2);
    struct cp_tolerance_row row = {3, MOST_COLUMNS, MOST_COLUMNS, 1.0, q, k,
                                   v, scratch,      NULL,         NULL};
    (void)state;
    q[0] = 1.0;
    for (int j = 0; j < row.n_keys; j++) {
        k[(ptrdiff_t)j * MOST_COLUMNS] = random_normal(&random);
        for (int i = 0; i < MOST_COLUMNS; i++) {
            v[(ptrdiff_t)j * MOST_COLUMNS + i] = random_normal(&random);
            w[(ptrdiff_t)j * MOST_COLUMNS + MOST_COLUMNS - 1 - i] =
                v[(ptrdiff_t)j * MOST_COLUMNS + i];
        }
    }
    cp_tolerance(&a, &counts, &row, 0.0, expected, bound, NULL, NULL);
    row.v = w;
    cp_tolerance(&a, &counts, &row, 0.0, swapped, other, NULL, NULL);
    for (int i = 0; i < MOST_COLUMNS; i++) {
        assert_true(isfinite(bound[i]));
        assert_true(swapped[MOST_COLUMNS - 1 - i] == expected[i]);
        assert_true(other[MOST_COLUMNS - 1 - i] == bound[i]);
    }
}

/* NUM-12: the sums of a score of more numbers than CP_TOLERANCE_MOST may be too far off. */
static void nothing_is_claimed_of_too_long_rows(void **state) {
    enum { d = CP_TOLERANCE_MOST + 1 };
    static double zero[d], expected[d], bound[d];
    double lse, lse_bound, scratch[3];
    struct cp_arithmetic a = cp_arithmetic_fp64(1);
    struct cp_counts counts = cp_counts_of_chunks(1, 1);
    struct cp_tolerance_row row = {1, d, d, 1.0, zero, zero, zero, scratch, NULL, NULL};
    (void)state;
    cp_tolerance(&a, &counts, &row, 0.0, expected, bound, &lse, &lse_bound);
    assert_true(isinf(bound[0]) && isinf(bound[d - 1]) && isinf(lse_bound));
    row.head_dim = row.value_dim = d - 1;
    cp_tolerance(&a, &counts, &row, 0.0, expected, bound, &lse, &lse_bound);
    assert_true(isfinite(bound[0]) && isfinite(bound[d - 2]) && isfinite(lse_bound));
}

static void formats(void **state) {
    struct cp_format truncating = cp_format_truncating(cp_format_fp32());
    struct cp_format flushing = cp_format_flushing(cp_format_fp16());
    (void)state;
    assert_true(truncating.unit == 0x1p-23 && truncating.tiny == 0x1p-149);
    assert_true(flushing.unit == 0x1p-11 && flushing.tiny == 0x1p-14);
    assert_true(cp_format_bf16().largest == 0x1.FEp127 && cp_format_fp64().unit == 0x1p-53);
    struct cp_arithmetic a = cp_arithmetic_fp64(64);
    double near = cp_score_error(&a.score, 0.125, 64, 10.0);
    assert_true(68.0 * 0x1p-53 * 10.0 <= near && near < 68.1 * 0x1p-53 * 10.0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(kernels_of_the_class_stay_within),
        cmocka_unit_test(others_are_seen),
        cmocka_unit_test(example_of_the_specification),
        cmocka_unit_test(nothing_is_claimed_without_ground),
        cmocka_unit_test(faint_weights_are_paid_for),
        cmocka_unit_test(columns_are_bounded_wherever_they_stand),
        cmocka_unit_test(nothing_is_claimed_of_too_long_rows),
        cmocka_unit_test(formats),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
