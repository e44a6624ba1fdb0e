/* SPDX-License-Identifier: Apache-2.0 */
/* The classes of `chunkproof bound` (gate/bound/class.c): an emulated kernel that works as the options say stays
 * within the bound that they lead to; one that does less, or is wrong, does not. CHUNKPROOF_ELEMENTS numbers
 * (30,000). */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "chunkproof/number.h"
#include "fuzz/tolerance/inputs.h"
#include "fuzz/tolerance/setting.h"
#include "gate/bound/bound.h"

#define KEYS 180
#define DIM  20

static const struct sum sums[] = {
    {SUM_SEQUENTIAL, SUM_FORWARD, 0, 1, 24, 0},
    {SUM_PAIRWISE, SUM_FORWARD, 0, 1, 24, 0},
    {SUM_BLOCKS, SUM_FORWARD, 0, 16, 25, 1}, /* a tensor core */
    {SUM_BLOCKS, SUM_FORWARD, 0, 1, 40, 1},  /* one after the other, cut off */
};

/* The kernel that does what the options allow. */
static struct options kernel_of(const struct bound_options *b) {
    static const enum merging mergings[] = {MERGE_CHAIN, MERGE_BALANCED, MERGE_RUNNING};
    struct options o = {.input = b->input,
                        .scaling = SCALE_AFTER,
                        .dot = sums[b->truncate && b->score == SCORE_SEQUENTIAL ? 3 : b->score],
                        .row_sum = sums[b->truncate ? 3 : 0],
                        .value_sum = sums[b->truncate ? 3 : 0],
                        .exp_error = 0x1p-25,
                        .bias = BIAS_ANY,
                        .flush_exp = b->flush,
                        .weights = b->weights,
                        .flush = b->flush,
                        .rounded_sum = b->rounded_sum,
                        .accumulator = b->accumulate,
                        .partials = b->partials,
                        .merging = mergings[b->merges],
                        .immediate = b->immediate,
                        .output = b->output,
                        .chunk_size = b->chunk,
                        .seed = 1};
    options_settle(&o);
    return o;
}

static struct bound_options plain(void) {
    return (struct bound_options){.keys = KEYS,
                                  .head_dim = DIM,
                                  .chunk = 64,
                                  .input = CP_FP16,
                                  .weights = CP_FP16,
                                  .accumulate = CP_FP32,
                                  .partials = CP_FP32,
                                  .output = CP_FP16,
                                  .exp_error = 0x1p-23};
}

/* Largest error / bound over some families of the emulator and of the command. */
static double worst(const struct bound_options *declared, const struct options *kernel) {
    double out[DIM], expected[DIM], bound[DIM], most = 0.0;
    static double scratch[3 * KEYS];
    struct cp_arithmetic arithmetic;
    struct cp_counts counts;
    struct problem p;
    problem_new(&p, KEYS, DIM);
    p.n = KEYS;
    p.d = DIM;
    for (int family = 0; family < BOUND_FAMILIES; family++) {
        struct bound_options o = *declared;
        struct bound_row row = {KEYS, DIM, 1.0 / sqrt(DIM), p.q, p.k, p.v};
        struct result result = {.out = out};
        o.family = (enum bound_family)family;
        o.seed = (unsigned long long)family;
        bound_row_fill(&row, &o);
        p.scale = row.scale;
        emulate(kernel, &p, &result);
        bound_class(&o, KEYS, DIM, result.largest_score, &arithmetic, &counts);
        struct cp_tolerance_row asked = {KEYS, DIM, p.scale, p.q, p.k, p.v, scratch};
        cp_tolerance(&arithmetic, &counts, &asked, 0.0, expected, bound, NULL, NULL);
        for (int x = 0; x < DIM && !result.overflow; x++) {
            double error = fabs(out[x] - expected[x]);
            if (isfinite(bound[x]) && !(error <= bound[x] * most)) {
                most = isfinite(out[x]) ? error / bound[x] : INFINITY;
            }
        }
    }
    problem_free(&p);
    return most;
}

static double worst_right(const struct bound_options *declared) {
    struct options kernel = kernel_of(declared);
    double ratio = worst(declared, &kernel);
    if (!(ratio <= 1.0)) {
        char text[600];
        options_print(&kernel, text, sizeof text);
        print_error("%.3f of the bound: %s\n", ratio, text);
    }
    return ratio;
}

static int one_of(unsigned int *bits, int n) {
    int which = (int)(*bits % (unsigned int)n);
    *bits /= (unsigned int)n;
    return which;
}

/* Every value of each option, in many combinations. */
static void kernels_keep_what_the_options_declare(void **state) {
    static const int formats[] = {CP_FP16, CP_BF16, CP_FP32}, widths[] = {CP_FP32, CP_FP16};
    static const int chunks[] = {64, 1, 17, 180};
    long elements = setting("CHUNKPROOF_ELEMENTS", 30000), done = 0;
    double largest = 0.0;
    (void)state;
    for (unsigned int i = 0; done < elements; i++) {
        unsigned int bits = i * 2654435761U >> 3;
        struct bound_options o = plain();
        o.weights = formats[one_of(&bits, 3)];
        o.output = formats[one_of(&bits, 3)];
        o.input = formats[one_of(&bits, 3)];
        o.score = (enum bound_score)one_of(&bits, 3); /* none of the emulator's is in binary16 */
        o.merges = (enum bound_merges)one_of(&bits, 3);
        o.partials = o.merges == MERGES_RUNNING ? CP_FP32 : widths[one_of(&bits, 2)];
        o.accumulate = widths[one_of(&bits, 2)];
        o.immediate = o.merges != MERGES_RUNNING && one_of(&bits, 2);
        o.rounded_sum = o.weights != CP_FP32 && one_of(&bits, 2);
        o.truncate = one_of(&bits, 2);
        o.flush = one_of(&bits, 2);
        o.chunk = chunks[one_of(&bits, 4)];
        double ratio = worst_right(&o);
        assert_true(ratio <= 1.0);
        largest = fmax(largest, ratio);
        done += (long)BOUND_FAMILIES * DIM;
    }
    printf("elements %ld, largest error / bound %.3f\n", done, largest);
    assert_true(largest > 0.1);
}

static void others_do_not(void **state) {
    struct bound_options strict = plain(), loose = plain();
    struct options kernel = kernel_of(&strict);
    (void)state;
    assert_true(worst(&strict, &kernel) <= 1.0);
    kernel.wrong = NO_RESCALE_N;
    assert_true(worst(&strict, &kernel) > 1.0);
    loose.weights = CP_BF16;
    kernel = kernel_of(&loose);
    assert_true(worst(&strict, &kernel) > 1.0 && worst(&loose, &kernel) <= 1.0);
    loose = plain();
    loose.accumulate = CP_FP16;
    strict.output = loose.output = CP_FP32;
    strict.weights = loose.weights = CP_FP32;
    kernel = kernel_of(&loose);
    assert_true(worst(&strict, &kernel) > 1.0 && worst(&loose, &kernel) <= 1.0);
}

/* A class that is looser in one respect has a larger bound. */
static void looser_is_larger(void **state) {
    struct bound_row row;
    struct bound_figures base, other;
    struct bound_options o = plain();
    (void)state;
    assert_int_equal(bound_row_new(&row, KEYS, DIM), 0);
    o.family = BOUND_NORMAL;
    o.seed = 1;
    o.chunk = 16;
    bound_row_fill(&row, &o);
    assert_int_equal(bound_figures(&o, &row, &base), 0);
    assert_true(base.claimed == DIM && base.reason == REASON_NONE);
    for (int i = 0; i < 9; i++) {
        struct bound_options looser = o;
        looser.weights = i == 0 ? CP_BF16 : o.weights;
        looser.output = i == 1 ? CP_BF16 : o.output;
        looser.accumulate = i == 2 ? CP_FP16 : o.accumulate;
        looser.partials = i == 3 ? CP_FP16 : o.partials;
        looser.score = i == 4 ? SCORE_FP16 : o.score;
        looser.exp_error = i == 5 ? 1e-3 : o.exp_error;
        looser.truncate = i == 6;
        looser.flush = i == 7;
        looser.immediate = i == 8;
        assert_int_equal(bound_figures(&looser, &row, &other), 0);
        assert_true(other.claimed == DIM && other.bound.largest > base.bound.largest);
        assert_true(other.rms.largest < other.bound.largest);
    }
    o.merges = MERGES_BALANCED;
    assert_int_equal(bound_figures(&o, &row, &other), 0);
    assert_true(other.bound.largest < base.bound.largest);
    bound_row_free(&row);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(kernels_keep_what_the_options_declare),
        cmocka_unit_test(others_do_not),
        cmocka_unit_test(looser_is_larger),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
