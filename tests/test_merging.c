/* SPDX-License-Identifier: Apache-2.0 */
/* Merging of finished results: the laws of the reference, the reference against an oracle of 600
 * bits, and what is refused (MERGING-1 to MERGING-3, MERGING-8). CHUNKPROOF_CASES rows (4,000),
 * CHUNKPROOF_SEED (1). */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "chunkproof/merging.h"
#include "chunkproof/number.h"
#include "merging_case.h"
#include "merging_kernels.h"
#include "merging_oracle.h"
#include "random.h"

/* That of cp_merging() itself: a log-sum-exp in bits is multiplied by ln 2 and back. */
static struct cp_merging_class itself(int base) {
    return (struct cp_merging_class){.way = CP_MERGING_STATES,
                                     .converts =
                                         base == CP_BASE_2 ? CP_CONVERTS_EACH : CP_CONVERTS_NONE,
                                     .weights = CP_FP64,
                                     .values = CP_FP64,
                                     .partials = CP_FP64,
                                     .out_type = CP_FP64,
                                     .lse_type = CP_FP64,
                                     .exp_error = 0x1p-51,
                                     .log_error = 0x1p-51,
                                     .div_error = 0x1p-53};
}

/* ---- Laws of the reference (MERGING-2) ---- */

/* Twice the bound that the reference has as a kernel: two such results are no further apart. */
static void assert_near(const struct problem *p, const struct result *a, const struct result *b) {
    struct cp_merging_class declared = itself(p->row.base);
    struct claim c = claimed(&declared, p);
    assert_true(fabs(a->lse - b->lse) <= 2.0 * c.bound.lse);
    for (int i = 0; i < p->row.head_dim; i++) {
        assert_true(fabs(a->out[i] - b->out[i]) <= 2.0 * c.bound.out[i]);
    }
}

static void the_example_of_the_chapter(void **unused) {
    struct problem p = {.o = {8.0, 1.0, 4.0, 2.0}, .lse = {0.0, 1.0986122886681098}};
    (void)unused;
    use(&p, 2, 2, CP_BASE_E);
    struct result r = merged(&p);
    assert_true(fabs(r.out[0] - 5.0) <= 0x1p-50 && fabs(r.out[1] - 1.75) <= 0x1p-51);
    assert_true(fabs(r.lse - 1.3862943611198906) <= 0x1p-51);
    p.lse[1] = 2.0; /* weights 1 and 4 */
    use(&p, 2, 2, CP_BASE_2);
    r = merged(&p);
    assert_true(fabs(r.out[0] - 4.8) <= 0x1p-50 && fabs(r.lse - 2.321928094887362) <= 0x1p-50);
}

static void any_order_merges_alike(void **unused) {
    unsigned long long random = seed();
    (void)unused;
    for (long t = 0; t < cases() / 4; t++) {
        struct problem p, q;
        make(&p, (enum family)(t % FAMILIES), CP_FP32, (int)(t / FAMILIES % 2), &random);
        q = p;
        use(&q, p.row.n_parts, p.row.head_dim, p.row.base);
        for (int j = 0; j < p.row.n_parts; j++) {
            int from = p.row.n_parts - 1 - j, d = p.row.head_dim;
            q.lse[j] = p.lse[from];
            memcpy(q.o + (ptrdiff_t)j * d, p.o + (ptrdiff_t)from * d, (size_t)d * sizeof(double));
        }
        struct result a = merged(&p), b = merged(&q);
        if (a.lse != -INFINITY) {
            assert_near(&p, &a, &b);
        }
    }
}

/* The first parts are merged, and their result with the rest. */
static void any_grouping_merges_alike(void **unused) {
    unsigned long long random = seed();
    (void)unused;
    for (long t = 0; t < cases() / 4; t++) {
        struct problem p, q;
        make(&p, (enum family)(t % FAMILIES), CP_FP32, (int)(t / FAMILIES % 2), &random);
        struct result whole = merged(&p), first;
        int n = p.row.n_parts, d = p.row.head_dim, cut = random_below(&random, n + 1);
        cut = cut == 0 && n == P ? 1 : cut; /* a row has P parts at most */
        q = p;
        use(&q, cut, d, p.row.base);
        first = merged(&q);
        use(&q, n - cut + 1, d, p.row.base);
        q.lse[0] = first.lse;
        memcpy(q.o, first.out, (size_t)d * sizeof(double));
        for (int j = cut; j < n; j++) {
            q.lse[j - cut + 1] = p.lse[j];
            memcpy(q.o + (ptrdiff_t)(j - cut + 1) * d, p.o + (ptrdiff_t)j * d,
                   (size_t)d * sizeof(double));
        }
        struct result again = n < P ? merged(&q) : whole;
        if (whole.lse != -INFINITY) {
            assert_near(&p, &whole, &again);
        }
    }
}

static void parts_without_keys_change_no_bit(void **unused) {
    unsigned long long random = seed();
    (void)unused;
    for (long t = 0; t < cases() / 4; t++) {
        struct problem p, q;
        make(&p, (enum family)(t % FAMILIES), CP_FP32, (int)(t / FAMILIES % 2), &random);
        int n = 0, d = p.row.head_dim;
        memset(&q, 0, sizeof q);
        for (int j = 0; j < p.row.n_parts; j++) {
            if (p.lse[j] != -INFINITY) {
                q.lse[n] = p.lse[j];
                memcpy(q.o + (ptrdiff_t)n * d, p.o + (ptrdiff_t)j * d, (size_t)d * sizeof(double));
                n++;
            }
        }
        use(&q, n, d, p.row.base);
        struct result a = merged(&p), b = merged(&q);
        assert_memory_equal(&a, &b, sizeof a);
    }
}

static void one_part_is_returned_as_it_is(void **unused) {
    unsigned long long random = seed();
    (void)unused;
    for (int t = 0; t < 2000; t++) {
        struct problem p;
        int at = random_below(&random, 5);
        make(&p, (enum family)(t % FAMILIES), CP_FP64, t % 2, &random);
        use(&p, 5, D, t % 2);
        for (int j = 0; j < 5; j++) {
            p.lse[j] = j == at ? 300.0 * random_normal(&random) : -INFINITY;
            for (int i = 0; i < D; i++) {
                p.o[j * D + i] = 1e300 * random_uniform(&random);
            }
        }
        struct result r = merged(&p);
        assert_true(r.lse == p.lse[at]);
        assert_memory_equal(r.out, p.o + (ptrdiff_t)at * D, sizeof r.out);
    }
}

static void without_a_key_the_result_is_zeros(void **unused) {
    struct problem p = {.o = {3.0, 4.0}, .lse = {-INFINITY, -INFINITY}};
    (void)unused;
    for (int n = 0; n <= 2; n++) {
        struct cp_merging_class declared = plain(CP_MERGING_PAIRWISE);
        use(&p, n, 1, n % 2);
        struct result r = merged(&p);
        struct claim c = claimed(&declared, &p);
        assert_true(r.out[0] == 0.0 && r.lse == -INFINITY);
        assert_true(c.expected.out[0] == 0.0 && c.expected.lse == -INFINITY);
        assert_true(isinf(c.bound.out[0]) && isinf(c.bound.lse));
    }
}

static void bits_merge_as_nats_do(void **unused) {
    unsigned long long random = seed();
    (void)unused;
    for (long t = 0; t < cases() / 4; t++) {
        struct problem p, q;
        make(&p, (enum family)(t % FAMILIES), CP_FP32, CP_BASE_2, &random);
        q = p;
        use(&q, p.row.n_parts, p.row.head_dim, CP_BASE_E);
        for (int j = 0; j < p.row.n_parts; j++) {
            q.lse[j] = p.lse[j] * LN_2;
        }
        struct result a = merged(&p), b = merged(&q);
        if (a.lse != -INFINITY) {
            b.lse /= LN_2;
            assert_near(&p, &a, &b);
        }
    }
}

/* MERGING-3: a part that is there twice counts twice. */
static void a_part_that_is_there_twice_counts_twice(void **unused) {
    struct problem p = {.o = {0.0, 3.0, 3.0}, .lse = {0.0, 0.0, 0.0}};
    (void)unused;
    use(&p, 2, 1, CP_BASE_E);
    assert_true(merged(&p).out[0] == 1.5);
    use(&p, 3, 1, CP_BASE_E);
    assert_true(fabs(merged(&p).out[0] - 2.0) <= 0x1p-51);
}

/* ---- MERGING-1: the oracle ---- */

static void the_reference_is_as_near_as_its_class(void **unused) {
    unsigned long long random = seed();
    (void)unused;
    for (long t = 0; t < cases() / 4; t++) {
        struct problem p;
        struct result exact = {{0.0}, 0.0};
        make(&p, (enum family)(t % FAMILIES), t % 3 == 0 ? CP_FP64 : CP_FP16, (int)(t / 3 % 2),
             &random);
        struct cp_merging_class declared = itself(p.row.base);
        struct claim c = claimed(&declared, &p);
        struct result r = merged(&p);
        merging_oracle(&p.row, exact.out, &exact.lse);
        if (r.lse == -INFINITY) {
            assert_true(exact.lse == -INFINITY);
            continue;
        }
        assert_true(isfinite(c.bound.lse));
        assert_true(is_within(&c, &exact, p.row.head_dim));
        assert_true(is_within(&c, &r, p.row.head_dim));
        assert_near(&p, &r, &exact);
    }
}

/* ---- MERGING-8 ---- */

static void assert_refused(const struct problem *p) {
    double out[D] = {5.0}, bound[D] = {6.0}, lse = 7.0, lse_bound = 8.0, scratch[5 * P];
    struct cp_merging_class declared = plain(CP_MERGING_AT_ONCE);
    assert_int_equal(cp_merging(&p->row, out, &lse), CP_ERROR_ARGUMENT);
    assert_int_equal(
        cp_merging_tolerance(&declared, &p->row, scratch, out, bound, &lse, &lse_bound),
        CP_ERROR_ARGUMENT);
    assert_true(out[0] == 5.0 && bound[0] == 6.0 && lse == 7.0 && lse_bound == 8.0);
}

static void numbers_out_of_range_are_refused(void **unused) {
    static const double not_lse[] = {NAN, INFINITY};
    static const double not_outputs[] = {NAN, INFINITY, -INFINITY, 0x1.1p1000, -0x1.1p1000};
    struct problem p = {.o = {1.0, 2.0}, .lse = {0.5, -INFINITY}};
    (void)unused;
    for (int i = 0; i < 2; i++) {
        struct problem q = p;
        use(&q, 2, 1, CP_BASE_E);
        q.lse[i] = not_lse[i];
        assert_refused(&q);
    }
    for (int i = 0; i < 10; i++) { /* the second part has no key */
        struct problem q = p;
        use(&q, 2, 1, CP_BASE_E);
        q.o[i % 2] = not_outputs[i / 2];
        assert_refused(&q);
    }
    use(&p, -1, 1, CP_BASE_E);
    assert_refused(&p);
    use(&p, CP_TOLERANCE_MOST + 1, 1, CP_BASE_E);
    assert_refused(&p);
    use(&p, 2, -1, CP_BASE_E);
    assert_refused(&p);
    use(&p, 0, CP_TOLERANCE_MOST + 1, CP_BASE_E);
    assert_refused(&p);
    use(&p, 2, 1, 2);
    assert_refused(&p);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_example_of_the_chapter),
        cmocka_unit_test(any_order_merges_alike),
        cmocka_unit_test(any_grouping_merges_alike),
        cmocka_unit_test(parts_without_keys_change_no_bit),
        cmocka_unit_test(one_part_is_returned_as_it_is),
        cmocka_unit_test(without_a_key_the_result_is_zeros),
        cmocka_unit_test(bits_merge_as_nats_do),
        cmocka_unit_test(a_part_that_is_there_twice_counts_twice),
        cmocka_unit_test(the_reference_is_as_near_as_its_class),
        cmocka_unit_test(numbers_out_of_range_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
