/* SPDX-License-Identifier: Apache-2.0 */
/* The classes of `chunkproof bound` (cli/bound/class.c): an emulated kernel that works as the
 * options say stays within the bound that they lead to; one that does less, or is wrong, does not.
 * CHUNKPROOF_ELEMENTS numbers (30,000). */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "chunkproof/number.h"
#include "cli/bound/bound.h"
#include "fuzz/tolerance/inputs.h"
#include "fuzz/tolerance/setting.h"

#define KEYS 180
#define DIM  20

static const struct bound_row size = {.n = KEYS, .d = DIM, .d_v = DIM, .scale = 1.0};

static const struct sum sums[] = {
    {SUM_SEQUENTIAL, SUM_FORWARD, 0, 1, 24, 0, 0, 0},
    {SUM_PAIRWISE, SUM_FORWARD, 0, 1, 24, 0, 0, 0},
    {SUM_BLOCKS, SUM_FORWARD, 0, 16, 25, 1, 0, 0}, /* a tensor core */
    {SUM_BLOCKS, SUM_FORWARD, 0, 1, 40, 1, 0, 0},  /* one after the other, cut off */
};

/* The kernel that does what the options allow. */
static struct options kernel_of(const struct bound_options *b) {
    static const enum merging mergings[] = {MERGE_CHAIN, MERGE_BALANCED, MERGE_RUNNING};
    int core = b->accumulate == ACCUMULATE_TENSOR_CORE;
    struct options o = {.input = b->input,
                        .scaling = SCALE_AFTER,
                        .dot = sums[b->truncate && b->score == SCORE_SEQUENTIAL ? 3 : b->score],
                        .row_sum = sums[b->truncate ? 3 : 0],
                        .value_sum = sums[core          ? 2
                                          : b->truncate ? 3
                                                        : 0],
                        .exp_error = 0x1p-25,
                        .bias = BIAS_ANY,
                        .flush_exp = b->flush,
                        .weights = b->weights,
                        .flush = b->flush,
                        .rounded_sum = b->rounded_sum,
                        .accumulator = b->accumulate == ACCUMULATE_FP16 ? CP_FP16 : CP_FP32,
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
                                  .accumulate = ACCUMULATE_FP32,
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
        struct bound_row row = {.n = KEYS,
                                .d = DIM,
                                .d_v = DIM,
                                .scale = 1.0 / sqrt(DIM),
                                .q = p.q,
                                .k = p.k,
                                .v = p.v};
        struct result result = {.out = out};
        o.family = (enum bound_family)family;
        o.seed = (unsigned long long)family;
        bound_row_fill(&row, &o);
        p.scale = row.scale;
        emulate(kernel, &p, &result);
        bound_class(&o, &size, &(struct bound_largest){.score = result.largest_score}, &arithmetic,
                    &counts);
        struct cp_tolerance_row asked = {KEYS, DIM, DIM,     p.scale, p.q,
                                         p.k,  p.v, scratch, NULL,    NULL};
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
        o.accumulate = (enum bound_accumulate)one_of(&bits, ACCUMULATE_KINDS);
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
    loose.accumulate = ACCUMULATE_FP16;
    strict.output = loose.output = CP_FP32;
    strict.weights = loose.weights = CP_FP32;
    kernel = kernel_of(&loose);
    assert_true(worst(&strict, &kernel) > 1.0 && worst(&loose, &kernel) <= 1.0);
}

/* A tensor core that keeps fewer bits than are declared, of sums that few keys dominate. */
static void a_short_tensor_core_does_not(void **state) {
    struct bound_options o = plain();
    (void)state;
    o.weights = CP_BF16;
    o.rounded_sum = 1; /* the sums are what errs */
    o.output = CP_FP32;
    o.accumulate = ACCUMULATE_TENSOR_CORE;
    o.chunk = KEYS;
    struct options kernel = kernel_of(&o);
    assert_true(worst(&o, &kernel) <= 1.0);
    kernel.value_sum.fraction = 18;
    assert_true(worst(&o, &kernel) > 1.0);
}

/* All weights 1, so that sums of values of like size are all that errs: the bound of them alone is
 * kept, and is not far above. */
static void sums_by_a_tensor_core_keep_their_own_bound(void **state) {
    struct bound_options o = plain();
    struct bound_row row;
    double out[DIM], expected[DIM], bound[DIM], scratch[3 * KEYS], most = 0.0;
    struct result result = {.out = out};
    struct cp_arithmetic a;
    struct cp_counts counts;
    (void)state;
    assert_int_equal(bound_row_new(&row, KEYS, DIM, DIM), 0);
    o.accumulate = ACCUMULATE_TENSOR_CORE;
    o.input = CP_FP32; /* values of so few bits as binary16 has add up exactly */
    o.output = CP_FP32;
    o.chunk = KEYS;
    o.family = BOUND_OFFSET;
    bound_row_fill(&row, &o);
    for (int x = 0; x < DIM; x++) {
        row.q[x] = 0.0;
    }
    struct options kernel = kernel_of(&o);
    kernel.exp_error = 0.0;
    struct problem p = {KEYS, DIM, row.scale, row.q, row.k, row.v, NULL, NULL};
    emulate(&kernel, &p, &result);
    bound_class(&o, &size, &(struct bound_largest){.score = 0.0}, &a, &counts);
    a.eps = a.u_arg = a.u_n = a.weights.unit = a.weights.tiny = 0.0; /* none of it happens */
    struct cp_tolerance_row asked = {KEYS, DIM, DIM, p.scale, p.q, p.k, p.v, scratch, NULL, NULL};
    cp_tolerance(&a, &counts, &asked, 0.0, expected, bound, NULL, NULL);
    for (int x = 0; x < DIM; x++) {
        most = fmax(most, fabs(out[x] - expected[x]) / bound[x]);
    }
    assert_true(most <= 1.0 && most > 0.1);
    bound_row_free(&row);
}

/* The numbers of P V are those of the emulator's class, where both describe the same kernel. */
static void a_tensor_core_declares_what_the_emulator_says(void **state) {
    static const int formats[] = {CP_FP16, CP_BF16, CP_FP32}, chunks[] = {1, 16, 17, 64, KEYS};
    (void)state;
    for (unsigned int i = 0; i < 3 * 3 * 5 * 3; i++) {
        struct cp_arithmetic ours, theirs;
        struct cp_counts our_counts, their_counts;
        struct bound_options o = plain();
        unsigned int bits = i;
        o.accumulate = ACCUMULATE_TENSOR_CORE;
        o.weights = formats[one_of(&bits, 3)];
        o.input = formats[one_of(&bits, 3)];
        o.chunk = chunks[one_of(&bits, 5)];
        o.merges = (enum bound_merges)one_of(&bits, 3);
        struct options kernel = kernel_of(&o);
        double q[DIM] = {0.0}, k[KEYS * DIM] = {0.0};
        struct problem p = {KEYS, DIM, 1.0, q, k, k, NULL, NULL};
        bound_class(&o, &size, &(struct bound_largest){.score = 1.0}, &ours, &our_counts);
        class_of(&kernel, &p, 1.0, &theirs, &their_counts);
        assert_true(ours.u_o == theirs.u_o && ours.eta_o == theirs.eta_o);
        assert_int_equal(our_counts.depth_o, their_counts.depth_o);
        assert_true(our_counts.operations_o >= 2.0 * KEYS + 5.0 * ((KEYS - 1) / o.chunk));
    }
}

/* A class that is looser in one respect has a larger bound. */
static void looser_is_larger(void **state) {
    struct bound_row row;
    struct bound_figures base, other;
    struct bound_options o = plain();
    (void)state;
    assert_int_equal(bound_row_new(&row, KEYS, DIM, DIM), 0);
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
        looser.accumulate = i == 2 ? ACCUMULATE_FP16 : o.accumulate;
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
        cmocka_unit_test(a_short_tensor_core_does_not),
        cmocka_unit_test(sums_by_a_tensor_core_keep_their_own_bound),
        cmocka_unit_test(a_tensor_core_declares_what_the_emulator_says),
        cmocka_unit_test(looser_is_larger),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
