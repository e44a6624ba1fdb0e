/* SPDX-License-Identifier: Apache-2.0 */
/* Kernels that change scores, emulated operation by operation in binary32, binary16 and bfloat16
 * (NUM-15): none is off by more than sigma and the error, and some by a good part of it. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "chunkproof/number.h"
#include "chunkproof/score_shift.h"
#include "tests/random.h"

#define LOG2_E 1.4426950408889634074L
#define LN_2   0.69314718055994530942L
#define TRIES  200000

/* A type, and its rounding. All operations here are rounded twice, first to binary64, which changes
 * nothing: that has more than twice their bits, and two. */
struct type {
    double (*round)(double);
    double unit, tiny;
};

static double to_fp32(double x) {
    return (double)(float)x;
}

static double to_fp16(double x) {
    return cp_fp16_to_double(cp_fp16_from_double(x));
}

static double to_bf16(double x) {
    return cp_bf16_to_double(cp_bf16_from_double(x));
}

static const struct type types[] = {
    {to_fp32, 0x1p-24, 0x1p-150}, {to_fp16, 0x1p-11, 0x1p-25}, {to_bf16, 0x1p-8, 0x1p-134}};

enum argument { DIVIDED, RECIPROCAL, FOLDED, N_ARGUMENTS };
enum tanh { LIBRARY, INJECTED, EXPONENTIAL, N_TANHS };

/* How a kernel changes scores. */
struct ways {
    const struct type *type;
    int argument, tanh;
    int capped, biased, bias_first;
    int bits;     /* 1: the product with the cap, and the slope, are in base 2 */
    int converts; /* 1: the sum is converted to base 2 */
    double sign;  /* of injected errors, -1 to 1 */
    double scale;
};

/* A score, with the factor that makes nats of it. */
struct computed {
    double value;
    long double nats;
};

static double tanh_of(const struct ways *w, double x) {
    const struct type *t = w->type;
    if (w->tanh == EXPONENTIAL) {
        double e = t->round(exp(t->round(2.0 * x)) * (1.0 + w->sign * t->unit));
        return t->round(1.0 - t->round(2.0 / t->round(e + 1.0)));
    }
    return t->round(tanh(x) * (1.0 + (w->tanh == INJECTED ? 2.0 * w->sign * t->unit : 0.0)));
}

static double cap_argument(const struct ways *w, double score, double cap) {
    const struct type *t = w->type;
    switch (w->argument) {
    case DIVIDED:
        return t->round(score / cap);
    case RECIPROCAL:
        return t->round(score * t->round(1.0 / cap));
    default: /* the score is not scaled yet */
        return t->round(score * t->round(t->round(w->scale) / cap));
    }
}

static struct computed cap_score(const struct ways *w, struct computed s, double cap) {
    const struct type *t = w->type;
    double y = tanh_of(w, cap_argument(w, s.value, cap));
    double factor = w->bits ? t->round((double)(cap * LOG2_E)) : cap;
    return (struct computed){t->round(factor * y), w->bits ? LN_2 : 1.0L};
}

static struct computed add_bias(const struct ways *w, struct computed s, double slope, int x) {
    const struct type *t = w->type;
    int is_base_2 = s.nats != 1.0L;
    double factor = is_base_2 ? t->round((double)(slope * LOG2_E)) : slope;
    double sum = t->round(s.value + t->round(factor * t->round(x)));
    if (w->converts && !is_base_2) {
        return (struct computed){t->round(sum * t->round((double)LOG2_E)), LN_2};
    }
    return (struct computed){sum, s.nats};
}

/* In bits of the class: the tanh of exponentials is off by 6 units of what it subtracts from 1, and
 * by a rounding; that of a library by a rounding beside what is injected. */
static struct cp_shift_arithmetic class_of(const struct ways *w) {
    double u = w->type->unit, tiny = w->type->tiny, more = 1.0 + 16.0 * u;
    struct cp_shift_arithmetic a = {u, tiny, w->tanh == INJECTED ? 3.0 * u * more : u, tiny};
    a.tanh_absolute += w->tanh == EXPONENTIAL ? 6.0 * u * more : 0.0;
    return a;
}

static struct ways choose(unsigned long long *random, const struct type *type) {
    struct ways w = {.type = type, .scale = 0.08838834764831845};
    int what = 1 + random_below(random, 3);
    w.capped = (what & 1) != 0;
    w.biased = (what & 2) != 0;
    w.bias_first = w.capped && w.biased && random_below(random, 2);
    w.argument = random_below(random, w.bias_first ? FOLDED : N_ARGUMENTS);
    w.tanh = random_below(random, N_TANHS);
    w.bits = random_below(random, 2);
    w.converts = random_below(random, 2);
    w.sign = random_below(random, 2) ? 1.0 : random_uniform(random);
    w.sign = random_below(random, 2) ? w.sign : -w.sign;
    return w;
}

/* The part of its bound that a kernel is off beyond sigma; NaN where a number overflowed. */
static double ratio_of(const struct ways *w, unsigned long long *random) {
    const struct type *t = w->type;
    double cap = t->round(exp(2.0 + 2.0 * random_uniform(random)));
    double slope = ldexp(1.0, -random_below(random, 9)),
           sign = random_below(random, 3) ? -1.0 : 1.0;
    int x = (int)sign * random_below(random, 1 << random_below(random, 11));
    double exact = (random_below(random, 2) ? cap : 1.0) * exp(4.0 * random_uniform(random) - 2.5);
    exact = random_below(random, 2) ? exact : -exact;
    int folded = w->capped && w->argument == FOLDED;
    /* The kernel's score before the change, in its type; sigma is what it is off. */
    double noise = 1.0 + 4.0 * t->unit * random_uniform(random);
    struct computed s = {t->round(exact * noise / (folded ? w->scale : 1.0)), 1.0L};
    double here = folded ? s.value * w->scale : s.value;
    double sigma = fabs(here - exact) * (1.0 + 0x1p-50) + fabs(here) * (folded ? 0x1p-52 : 0.0);
    if (w->biased && w->bias_first) {
        s = add_bias(w, s, slope, x);
        s = (struct computed){(double)s.value, 1.0L};
    }
    if (w->capped) {
        s = cap_score(w, s, cap);
    }
    if (w->biased && !w->bias_first) {
        s = add_bias(w, s, slope, x);
    }
    struct cp_shift_arithmetic a = class_of(w);
    struct cp_score_change change = {w->capped ? cap : 0.0, w->bias_first,
                                     w->biased ? slope * x : 0.0, !w->biased};
    struct cp_shift shift = cp_shift_of(&a, &change, exact, 0.0, sigma);
    assert_true(isfinite(shift.error));
    long double off = s.value * s.nats - ((long double)exact + shift.shift);
    return isfinite(s.value) ? (double)((fabsl(off) - sigma) / shift.error) : NAN;
}

/* NUM-15 */
static void no_kernel_is_off_by_more(void **state) {
    (void)state;
    for (int i = 0; i < 3; i++) {
        double most[2][2] = {{0.0}};
        unsigned long long random = 15;
        int tried = 0;
        for (int n = 0; n < TRIES; n++) {
            struct ways w = choose(&random, &types[i]);
            w.converts = w.converts && !w.bias_first; /* the cap takes nats */
            double ratio = ratio_of(&w, &random);
            if (!isnan(ratio)) {
                assert_true(ratio <= 1.0);
                double *of = &most[w.capped][w.biased];
                *of = fmax(*of, ratio);
                tried++;
            }
        }
        print_message("unit %g: of the error, attained with a cap %.2f, a bias %.2f, both %.2f\n",
                      types[i].unit, most[1][0], most[0][1], most[1][1]);
        assert_true(tried > TRIES / 2);
        /* Not so large that it would say nothing. */
        assert_true(most[1][0] > 0.5 && most[0][1] > 0.5 && most[1][1] > 0.4);
    }
}

/* NUM-15: a sink is stored, and converted by a rounded constant. */
static void no_sink_is_off_by_more(void **state) {
    (void)state;
    for (int i = 0; i < 3; i++) {
        const struct type *t = &types[i];
        struct cp_shift_arithmetic a = {t->unit, t->tiny, 0.0, 0.0};
        unsigned long long random = 16;
        double most = 0.0;
        for (int n = 0; n < TRIES; n++) {
            double sink = 8.0 * random_uniform(&random) * exp(3.0 * random_uniform(&random));
            double kernel = t->round(t->round(sink) * t->round((double)LOG2_E));
            struct cp_shift shift = cp_shift_of_sink(&a, sink);
            double ratio = (double)(fabsl(kernel * LN_2 - shift.shift) / shift.error);
            assert_true(ratio <= 1.0);
            most = fmax(most, ratio);
        }
        assert_true(most > 0.5);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_kernel_is_off_by_more),
        cmocka_unit_test(no_sink_is_off_by_more),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
