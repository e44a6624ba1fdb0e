/* SPDX-License-Identifier: Apache-2.0 */
/* The ground truth against results known in other ways, against itself in more bits, and then as
 * judge of the double-precision reference: CHUNKPROOF_ELEMENTS numbers (3,000), CHUNKPROOF_SEED
 * (1). */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "bound.h"
#include "chunkproof/number.h"
#include "chunkproof/softmax.h"
#include "chunkproof/tolerance.h"
#include "exact.h"
#include "fuzz/tolerance/setting.h"
#include "oracle.h"
#include "random.h"

#define MOST_KEYS 160
#define MOST_DIM  32

/* One number per key; scores are the keys themselves. */
static double out_of(const double *score, const double *v, int n, int type) {
    const double one = 1.0;
    double out, lse;
    exact_attention(&one, score, v, n, 1, 1.0, NULL, type, 64, &out, &lse);
    return out;
}

static double lse_of(const double *score, int n) {
    const double one = 1.0;
    double out, lse;
    exact_attention(&one, score, score, n, 1, 1.0, NULL, CP_FP64, 64, &out, &lse);
    return lse;
}

static void known_results(void **state) {
    (void)state;
    const double scores[] = {0.0, 1.0};
    const double v[] = {0.0, 1.0};
    /* 1 / (1 + 1/e) = 0.73105857863000487925..., ln(1 + e) = 1.31326168751822283405... */
    assert_true(out_of(scores, v, 2, CP_FP64) == 0.73105857863000487925);
    assert_true(out_of(scores, v, 2, CP_FP32) == (double)0.73105857863000487925F);
    assert_true(out_of(scores, v, 2, CP_FP16) == 0x1.764p-1);
    assert_true(out_of(scores, v, 2, CP_BF16) == 0x1.76p-1);
    assert_true(lse_of(scores, 2) == 1.31326168751822283405);
    assert_true(out_of(scores, v, 0, CP_FP64) == 0.0 && lse_of(scores, 0) == -INFINITY);
    assert_true(out_of(scores + 1, v + 1, 1, CP_FP64) == 1.0 && lse_of(scores + 1, 1) == 1.0);
}

/* With equal scores the result is the mean: ties between two numbers of the format come about. */
static void ties_go_to_even(void **state) {
    (void)state;
    const double zero[3] = {0.0, 0.0, 0.0};
    const double down[] = {1.0, 1.0 + 0x1p-10};
    const double up[] = {1.0 + 0x1p-10, 1.0 + 0x1p-9};
    const double third[] = {0.0, 0.0, 1.0};
    const double tiny[] = {0.0, 0x1p-24};
    const double more[] = {0x1p-60, 0x1p-24};
    const double cancel[] = {3.0, -3.0};
    const double coarse[] = {1.0, 1.0 + 0x1p-7};
    const double coarse_up[] = {1.0 + 0x1p-7, 1.0 + 0x1p-6};
    assert_true(out_of(zero, down, 2, CP_FP16) == 1.0);
    assert_true(out_of(zero, up, 2, CP_FP16) == 1.0 + 0x1p-9);
    assert_true(out_of(zero, down, 2, CP_FP32) == 1.0 + 0x1p-11);
    assert_true(out_of(zero, third, 3, CP_FP64) == 1.0 / 3.0);
    assert_true(out_of(zero, tiny, 2, CP_FP16) == 0.0);
    assert_true(out_of(zero, more, 2, CP_FP16) == 0x1p-24);
    assert_true(out_of(zero, cancel, 2, CP_FP16) == 0.0);
    assert_true(out_of(zero, coarse, 2, CP_BF16) == 1.0);
    assert_true(out_of(zero, coarse_up, 2, CP_BF16) == 1.0 + 0x1p-6);
    assert_true(out_of(zero, coarse, 2, CP_FP16) == 1.0 + 0x1p-8);
    /* Two distinct scores, each with the same tie as its mean; and one that only looks like it. */
    const double scores[] = {0.0, 0.0, 5.0, 5.0};
    const double tie[] = {1.0, 1.0 + 0x1p-10, 1.0 + 0x1p-10, 1.0};
    const double none[] = {1.0, 1.0 + 0x1p-10, 1.0 + 0x1p-10, 1.0 + 0x1p-52};
    assert_true(out_of(scores, tie, 4, CP_FP16) == 1.0);
    assert_true(out_of(scores, none, 4, CP_FP16) == 1.0 + 0x1p-10);
}

static void ends_of_the_format(void **state) {
    (void)state;
    const double zero[2] = {0.0, 0.0};
    const double below[] = {65519.0, 65520.9};
    const double half[] = {65520.0, 65520.0};
    const double least[] = {-0x1p-24, -0x1p-25};
    const double wide_below[] = {0x1.FEp127, 0x1.FFFFp127};
    const double wide_half[] = {0x1.FFp127, 0x1.FFp127};
    const double wide_least[] = {-0x1p-133, -0x1p-134};
    assert_true(out_of(zero, below, 2, CP_FP16) == 65504.0);
    assert_true(out_of(zero, half, 2, CP_FP16) == INFINITY);
    assert_true(out_of(zero, half, 2, CP_FP32) == 65520.0);
    assert_true(out_of(zero, least, 2, CP_FP16) == -0x1p-24);
    assert_true(out_of(zero, wide_below, 2, CP_BF16) == 0x1.FEp127);
    assert_true(out_of(zero, wide_half, 2, CP_BF16) == INFINITY);
    assert_true(out_of(zero, wide_least, 2, CP_BF16) == -0x1p-133);
}

/* A weight of e^-2000 is no zero, and decides a tie. */
static void no_underflow(void **state) {
    (void)state;
    const double scores[] = {0.0, 0.0, -2000.0};
    const double above[] = {1.0, 1.0 + 0x1p-10, 2.0};
    const double below[] = {1.0 + 0x1p-10, 1.0 + 0x1p-9, 1.0};
    assert_true(out_of(scores, above, 3, CP_FP16) == 1.0 + 0x1p-10);
    assert_true(out_of(scores, below, 3, CP_FP16) == 1.0 + 0x1p-10);
    const double alone[] = {-2000.0};
    assert_true(out_of(alone, above + 2, 1, CP_FP16) == 2.0 && lse_of(alone, 1) == -2000.0);
}

/* ---- Random problems ---- */

struct problem {
    int n, d;
    double scale;
    double q[MOST_DIM], k[MOST_KEYS * MOST_DIM], v[MOST_KEYS * MOST_DIM];
};

static double stored(double x, int type) {
    double room;
    cp_number_store(&room, type, 0, x);
    return cp_number_load(&room, type, 0);
}

static const char *const families[] = {"normal", "massive", "one-hot",
                                       "ties",   "shifted", "subnormal"};
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

static void make_problem(struct problem *p, unsigned long long *random, int family) {
    int type = random_below(random, 4);
    p->n = 1 + random_below(random, MOST_KEYS);
    p->d = 1 + random_below(random, MOST_DIM);
    p->scale = family == 3 ? 1.0 : 1.0 / sqrt(p->d);
    for (int x = 0; x < p->d; x++) {
        p->q[x] = stored(family == 3             ? 1.0
                         : family == 4 && x == 0 ? 2.0
                                                 : random_normal(random),
                         type);
    }
    for (int i = 0; i < p->n * p->d; i++) {
        p->k[i] = stored(key_of(random, family, i % p->d), type);
        p->v[i] = stored((family == 5 ? 0x1p-24 : 1.0) * random_normal(random), type);
    }
}

static void more_bits_change_nothing(void **state) {
    static struct problem p;
    unsigned long long random = 7;
    double out[2][MOST_DIM], lse[2];
    int most = 0;
    (void)state;
    for (int i = 0; i < 5 * N_FAMILIES; i++) {
        int type = (i / N_FAMILIES + i) % 4;
        make_problem(&p, &random, i % N_FAMILIES);
        int bits =
            exact_attention(p.q, p.k, p.v, p.n, p.d, p.scale, NULL, type, 64, out[0], &lse[0]);
        exact_attention(p.q, p.k, p.v, p.n, p.d, p.scale, NULL, type, 1024, out[1], &lse[1]);
        assert_memory_equal(out[0], out[1], (size_t)p.d * sizeof(double));
        assert_true(lse[0] == lse[1]);
        most = bits > most ? bits : most;
    }
    assert_in_range(most, 128, 1024); /* 64 do not always do: the way to more is taken */
}

/* The keys that score lower by an exact number give the same result, bit for bit. */
static void a_common_shift_changes_nothing(void **state) {
    static struct problem p;
    unsigned long long random = 8;
    double out[2][MOST_DIM], lse[2];
    (void)state;
    for (int i = 0; i < 10; i++) {
        make_problem(&p, &random, 4);
        exact_attention(p.q, p.k, p.v, p.n, p.d, p.scale, NULL, CP_FP64, 64, out[0], &lse[0]);
        for (int j = 0; j < p.n; j++) {
            p.k[j * p.d] = 77.0;
        }
        exact_attention(p.q, p.k, p.v, p.n, p.d, p.scale, NULL, CP_FP64, 64, out[1], &lse[1]);
        assert_memory_equal(out[0], out[1], (size_t)p.d * sizeof(double));
        assert_true(lse[0] < lse[1]);
    }
}

/* ---- The reference before the judge ---- */

struct reference {
    struct cp_state state;
    double o[MOST_DIM];
};

/* Cuts the keys into parts, merges them in a random order; returns the number of parts. */
static int attend(const struct problem *p, unsigned long long *random, int *largest, double *out,
                  double *lse) {
    struct reference parts[MOST_KEYS];
    int n_parts = 0;
    *largest = 0;
    for (int first = 0; first < p->n; n_parts++) {
        int n = 1 + random_below(random, p->n - first < 64 ? p->n - first : 64);
        cp_partial_attn(&parts[n_parts].state, parts[n_parts].o, p->q, p->k, p->v, CP_FP64,
                        (size_t)first, n, p->d, p->scale);
        *largest = n > *largest ? n : *largest;
        first += n;
    }
    for (int left = n_parts; left > 1; left--) {
        int a = random_below(random, left - 1);
        cp_attn_reduce(&parts[a].state, parts[a].o, &parts[left - 1].state, parts[left - 1].o,
                       p->d);
    }
    *lse = cp_finish(&parts[0].state, parts[0].o, out, p->d);
    return n_parts;
}

/* Largest error / bound: of the bound that the other tests use (bound.h), and of the certified one,
 * for the class of the reference (NUM-10, NUM-11). */
struct verdict {
    double derived, certified;
};

static double ratio(double error, double bound) {
    return error == 0.0 ? 0.0 : error / bound;
}

static double judge_certified(const struct problem *p, int n_parts, int largest, const double *out,
                              double lse, const double *truth, double true_lse) {
    double scratch[3 * MOST_KEYS], expected[MOST_DIM], bound[MOST_DIM], expected_lse, lse_bound;
    struct cp_arithmetic class = cp_arithmetic_fp64(p->d);
    struct cp_counts counts = cp_counts_of_chunks(largest, n_parts);
    struct cp_tolerance_row row = {p->n, p->d, p->d,    p->scale, p->q,
                                   p->k, p->v, scratch, NULL,     NULL};
    double own = 4.0 * BOUND_U * (fabs(true_lse) + log(p->n)); /* of log n and of m + log n */
    cp_tolerance(&class, &counts, &row, own, expected, bound, &expected_lse, &lse_bound);
    double worst = ratio(fabs(lse - true_lse), lse_bound + BOUND_U * fabs(true_lse));
    for (int x = 0; x < p->d; x++) {
        double allowed = bound[x] + BOUND_U * fabs(truth[x]);
        worst = fmax(worst, ratio(fabs(out[x] - truth[x]), allowed));
    }
    return worst;
}

/* Adds the elements of a problem to the verdict; `wrong` multiplies the output. */
static void judge(const struct problem *p, unsigned long long *random, double wrong,
                  struct verdict *worst) {
    double out[MOST_DIM], truth[MOST_DIM], bound[MOST_DIM], lse, true_lse;
    int largest;
    int n_parts = attend(p, random, &largest, out, &lse);
    exact_attention(p->q, p->k, p->v, p->n, p->d, p->scale, NULL, CP_FP64, 128, truth, &true_lse);
    double lse_bound =
        bound_attention(p->q, p->k, p->v, p->n, p->d, p->scale, n_parts, largest, bound);
    worst->derived =
        fmax(worst->derived, ratio(fabs(lse - true_lse), lse_bound + BOUND_U * fabs(true_lse)));
    for (int x = 0; x < p->d; x++) {
        double allowed = bound[x] + BOUND_U * fabs(truth[x]); /* the truth is rounded, too */
        out[x] *= wrong;
        worst->derived = fmax(worst->derived, ratio(fabs(out[x] - truth[x]), allowed));
    }
    worst->certified =
        fmax(worst->certified, judge_certified(p, n_parts, largest, out, lse, truth, true_lse));
}

static void reference_is_within_its_bound(void **state) {
    static struct problem p;
    unsigned long long random = (unsigned long long)setting("CHUNKPROOF_SEED", 1);
    long elements = setting("CHUNKPROOF_ELEMENTS", 3000);
    struct verdict worst[N_FAMILIES] = {{0.0, 0.0}};
    long done = 0;
    (void)state;
    for (int i = 0; done < elements; i++) {
        int family = i % N_FAMILIES;
        make_problem(&p, &random, family);
        judge(&p, &random, 1.0, &worst[family]);
        done += p.d;
    }
    double largest = 0.0;
    for (int family = 0; family < N_FAMILIES; family++) {
        printf("%-10s largest error: %.3f of the bound, %.3f of the certified bound\n",
               families[family], worst[family].derived, worst[family].certified);
        largest = fmax(largest, worst[family].derived);
        assert_true(worst[family].derived <= 1.0 && worst[family].certified <= 1.0);
        assert_true(worst[family].derived > 0.0 && worst[family].certified > 0.0);
    }
    printf("elements %ld, largest %.3f\n", done, largest);
}

/* A part in 2^40 is far from what double can do: the judge says so. */
static void a_wrong_result_is_not(void **state) {
    static struct problem p;
    unsigned long long random = 9;
    (void)state;
    for (int i = 0; i < 10; i++) {
        struct verdict wrong = {0.0, 0.0};
        make_problem(&p, &random, 0);
        judge(&p, &random, 1.0 + 0x1p-40, &wrong);
        assert_true(wrong.derived > 1.0 && wrong.certified > 1.0);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(known_results),
        cmocka_unit_test(ties_go_to_even),
        cmocka_unit_test(ends_of_the_format),
        cmocka_unit_test(no_underflow),
        cmocka_unit_test(more_bits_change_nothing),
        cmocka_unit_test(a_common_shift_changes_nothing),
        cmocka_unit_test(reference_is_within_its_bound),
        cmocka_unit_test(a_wrong_result_is_not),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
