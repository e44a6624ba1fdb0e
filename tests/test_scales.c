/* SPDX-License-Identifier: Apache-2.0 */
/* K and V of different types, and of 8 bits with scales (NUM-16 to NUM-18): the clause's example;
 * trees, with windows and biases, against the same attention over their numbers times the scales;
 * scales that change no bit; what is refused. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "chunkproof/chunkproof.h"
#include "tests/kept_case.h"
#include "tests/random.h"

#define MAX_HEADS 4

static void tree_case(struct attend_case *c, unsigned long long seed) {
    int n_heads = seed % 3 == 0 ? 4 : 2;
    const struct shape shape = {.b = 5,
                                .max_depth = 4,
                                .chunk_size = 1 + (int)(seed % 5),
                                .n_heads = n_heads,
                                .n_kv_heads = seed % 2 == 0 ? 2 : n_heads / 2,
                                .head_dim = 3,
                                .q_type = CP_FP64,
                                .kv_type = CP_FP64,
                                .out_type = CP_FP64,
                                .query_mode = (int)(seed / 2 % CASE_N_QUERY_MODE),
                                .values = CASE_NORMAL,
                                .poison = CASE_POISON_NAN};
    case_make(c, &shape, seed);
}

static void attend_over(struct attend_case *c, const struct kept *k, const struct kept *v, int per,
                        int variant) {
    struct cp_attention before = kept_case_take(c, k, v, per);
    assert_int_equal(case_run(c, variant), CP_OK);
    c->attention = before;
}

static double *copy_of(const void *from, size_t bytes) {
    double *copy = malloc(bytes + 1);
    assert_non_null(copy);
    memcpy(copy, from, bytes);
    return copy;
}

static void expect_near(const double *is, const double *should, size_t n) {
    for (size_t i = 0; i < n; i++) {
        assert_true(is[i] == should[i] || fabs(is[i] - should[i]) <= 1e-12 * (1 + fabs(should[i])));
    }
}

/* The result over the numbers times the scales, in doubles, and that of the cache. */
static void expect_same(struct attend_case *c, const struct kept *k, const struct kept *v, int per,
                        int exactly) {
    size_t n_lse = case_lse_bytes(c) / sizeof(double);
    size_t n_out = case_out_bytes(c) / sizeof(double);
    c->attention.k = c->k;
    c->attention.v = c->v;
    assert_int_equal(case_run(c, CP_BUFFERED), CP_OK);
    double *out = copy_of(c->attention.out, case_out_bytes(c));
    double *lse = copy_of(c->attention.lse, case_lse_bytes(c));
    for (int variant = CP_BUFFERED; variant <= CP_MERGE_AT_ONCE; variant++) {
        attend_over(c, k, v, per, variant);
        if (exactly) {
            assert_memory_equal(c->attention.out, out, case_out_bytes(c));
            assert_memory_equal(c->attention.lse, lse, case_lse_bytes(c));
        } else {
            expect_near(c->attention.out, out, n_out);
            expect_near(c->attention.lse, lse, n_lse);
        }
    }
    free(out);
    free(lse);
}

/* Every pair of types, with each kind of scales. */
static void caches_are_their_numbers_times_the_scales(void **unused) {
    const double slopes[MAX_HEADS] = {0.5, -0.25, 0.0, 1.0};
    unsigned long long random = 7;
    (void)unused;
    for (int i = 0; i < 49 * 30; i++) {
        int k_type = i % 7, v_type = i / 7 % 7, per = i / 49 % 3;
        struct attend_case c;
        struct kept k, v;
        tree_case(&c, (unsigned long long)i + 1);
        c.attention.window.keys = random_below(&random, 3) == 0 ? 1 + random_below(&random, 6) : 0;
        c.attention.window.kept = random_below(&random, 3);
        c.attention.window.ahead = random_below(&random, 3);
        c.attention.scores.cap = random_below(&random, 3) == 0 ? 2.0 : 0.0;
        c.attention.scores.slopes = random_below(&random, 3) == 0 ? slopes : NULL;
        k = kept_case_make(&c, c.k, per, k_type, 0, &random);
        v = kept_case_make(&c, c.v, per, v_type, 0, &random);
        expect_same(&c, &k, &v, per, 0);
        kept_case_free(&k);
        kept_case_free(&v);
        case_free(&c);
    }
}

/* Powers of two as scales round nothing: the same bits. */
static void powers_of_two_round_nothing(void **unused) {
    unsigned long long random = 9;
    (void)unused;
    for (int i = 0; i < 49 * 6; i++) {
        struct attend_case c;
        struct kept k, v;
        tree_case(&c, (unsigned long long)i + 1);
        k = kept_case_make(&c, c.k, i / 49 % 3, i % 7, 1, &random);
        v = kept_case_make(&c, c.v, i / 49 % 3, i / 7 % 7, 1, &random);
        expect_same(&c, &k, &v, i / 49 % 3, 1);
        kept_case_free(&k);
        kept_case_free(&v);
        case_free(&c);
    }
}

/* Without scales, numbers stand for themselves: those of K and V apart. */
static void scales_that_are_not_there(void **unused) {
    unsigned long long random = 5;
    (void)unused;
    for (int i = 0; i < 90; i++) {
        struct attend_case c;
        struct kept kept[2];
        int per = i % 3;
        tree_case(&c, (unsigned long long)i + 1);
        for (int of_v = 0; of_v < 2; of_v++) {
            double *exact = of_v ? c.v : c.k;
            kept[of_v] = kept_case_make(&c, exact, per, CP_E4M3, 0, &random);
            if (i / 3 % 3 != 2 - of_v) { /* K, V, or both have none */
                continue;
            }
            size_t n = kept_case_scales(&c, CP_CACHE_SCALE_TOKEN) * (size_t)c.shape.head_dim;
            for (size_t at = 0; at < n; at++) {
                exact[at] =
                    isnan(exact[at]) ? NAN : cp_number_load(kept[of_v].numbers, CP_E4M3, at);
            }
            free(kept[of_v].scales);
            kept[of_v].scales = NULL;
        }
        expect_same(&c, &kept[0], &kept[1], per, 0);
        kept_case_free(&kept[0]);
        kept_case_free(&kept[1]);
        case_free(&c);
    }
}

/* Two K/V heads with scales 1/2 and 4 for K, 2 and 8 for V; each one key more than a score of 0. */
static void the_example_of_the_clause(void **unused) {
    const uint8_t k[] = {0x38, 0x00, 0x40, 0x00}; /* E4M3: 1 and 0; 2 and 0 */
    const int8_t v[] = {3, 6, 3, 6};
    const float k_scales[] = {0.5F, 4.0F}, v_scales[] = {2.0F, 8.0F};
    double q[2] = {log(4.0), log(2.0) / 8.0}, out[2], lse[2];
    struct cp_plan *plan;
    (void)unused;
    assert_int_equal(cp_plan_new(&plan), CP_OK);
    plan->capacity = plan->n_sequences = 1;
    plan->chunk_size = plan->sequence[0].n_tokens = 2;
    plan->sequence[0].n_chunks = 1;
    plan->sequence[0].run[0] = (struct cp_run){0, 2, 0};
    struct cp_attention a = {.plan = plan,
                             .stamp = plan->stamp,
                             .n_heads = 2,
                             .n_kv_heads = 2,
                             .head_dim = 1,
                             .value_dim = 1,
                             .v_row = 1,
                             .scale = 1.0,
                             .scales = {CP_CACHE_SCALE_HEAD, k_scales, v_scales},
                             .q_type = CP_FP64,
                             .k_type = CP_E4M3,
                             .v_type = CP_INT8,
                             .out_type = CP_FP64,
                             .q = q,
                             .k = k,
                             .v = v,
                             .out = out,
                             .lse = lse};
    a.workspace_size = cp_attend_workspace(&a);
    a.workspace = malloc(a.workspace_size);
    assert_non_null(a.workspace);
    assert_int_equal(cp_attend(&a), CP_OK);
    const double must[] = {8.0, 32.0}; /* weights 2/3 and 1/3 of 6 and 12, of 24 and 48 */
    for (int head = 0; head < 2; head++) {
        assert_true(fabs(lse[head] - log(3.0)) < 1e-14 && fabs(out[head] - must[head]) < 1e-13);
    }
    free(a.workspace);
    cp_plan_free(plan);
}

/* NUM-18: scales of what there is not; nothing is written. */
static void scales_of_something_else(void **unused) {
    struct attend_case c;
    (void)unused;
    tree_case(&c, 1);
    for (int per = -1; per <= CP_CACHE_SCALE_TOKEN + 1; per += CP_CACHE_SCALE_TOKEN + 2) {
        c.attention.scales.per = per;
        assert_int_equal(case_run(&c, CP_BUFFERED), CP_ERROR_ARGUMENT);
        for (size_t byte = 0; byte < case_out_bytes(&c); byte++) {
            assert_int_equal(((unsigned char *)c.attention.out)[byte], 0xFF);
        }
        assert_true(cp_attend_workspace(&c.attention) > 0); /* it does not look at scales */
    }
    case_free(&c);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(caches_are_their_numbers_times_the_scales),
        cmocka_unit_test(powers_of_two_round_nothing),
        cmocka_unit_test(scales_that_are_not_there),
        cmocka_unit_test(the_example_of_the_clause),
        cmocka_unit_test(scales_of_something_else),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
