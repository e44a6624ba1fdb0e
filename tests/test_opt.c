/* SPDX-License-Identifier: Apache-2.0 */
/* Fast attention on the CPU, in every version that the machine can run: within the certified
 * tolerance (NUM-10, NUM-11) of what it declares; the same bits from any number of threads;
 * padding has no effect (TPP-6). Refusals are in test_opt_refusal.c, the loops in
 * test_opt_kernels.c, the exponential in test_opt_exp.c. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "chunkproof/number.h"
#include "chunkproof/status.h"
#include "opt_case.h"

static const struct shape small = {.b = 5,
                                   .max_depth = 4,
                                   .chunk_size = 3,
                                   .n_heads = 4,
                                   .n_kv_heads = 2,
                                   .head_dim = 40,
                                   .query_mode = CASE_SEVERAL};

static struct cp_opt *opt_of(int n_threads, int version) {
    struct cp_opt *opt;
    assert_int_equal(cp_opt_new(&opt, n_threads, version), CP_OK);
    return opt;
}

/* Right, and nothing but results written. */
static void check(struct cp_opt *opt, const struct shape *shape, unsigned long long seed,
                  double *largest) {
    struct attend_case c;
    case_make(&c, shape, seed);
    assert_true(cp_plan_is_valid(c.plan));
    int status = opt_case_run(opt, &c, (int)(seed % 8));
    int wrong = status == CP_OK ? opt_case_wrong(&c, 60, largest) : 0;
    if (status != CP_OK || wrong > 0) {
        case_print(&c);
    }
    assert_int_equal(status, CP_OK);
    assert_int_equal(wrong, 0);
    case_free(&c);
}

/* Each on two threads, for each version. */
static void check_each(const struct shape *shape, unsigned long long seed, double *largest) {
    for (int i = 0, version; (version = opt_case_version(i)) != 0; i++) {
        struct cp_opt *opt = opt_of(2, version);
        check(opt, shape, seed, largest);
        cp_opt_free(opt);
    }
}

/* ---- Right ---- */

/* One, a residue of every vector, a vector, several with and without a residue. */
static void every_head_dimension_and_type(void **unused) {
    const int head_dims[] = {1, 7, 16, 40, 64, 80, 96, 100, 128, 256, 320};
    const int types[] = {CP_FP16, CP_BF16, CP_FP32};
    double largest = 0.0;
    (void)unused;
    for (int i = 0; i < 33; i++) {
        struct shape shape = small;
        shape.head_dim = head_dims[i % 11];
        shape.q_type = shape.kv_type = shape.out_type = types[i / 11];
        shape.query_mode = i % CASE_N_QUERY_MODE;
        check_each(&shape, 100 + (unsigned)i, &largest);
    }
    assert_true(largest > 0.1 && largest < 1.0); /* not by too wide a bound */
}

/* Chunks below, of and above a tile, and that no vector divides. */
static void every_chunk_size(void **unused) {
    const int chunk_sizes[] = {1, 2, 3, 5, 16, 17, 63, 64, 65, 96, 128};
    double largest = 0.0;
    (void)unused;
    for (int i = 0; i < 22; i++) {
        struct shape shape = small;
        shape.chunk_size = chunk_sizes[i % 11];
        shape.max_depth = shape.chunk_size < 16 ? 70 / shape.chunk_size : 4;
        shape.head_dim = i < 11 ? 16 : 56;
        shape.query_mode = i / 2 % CASE_N_QUERY_MODE;
        check_each(&shape, 200 + (unsigned)i, &largest);
    }
}

/* Rows of a range from one to several blocks: the ways for one, for few and for many rows, and
 * their borders. */
static void every_number_of_rows(void **unused) {
    const int groups[] = {1, 2, 3, 4, 5, 8, 9, 15, 16, 17, 33, 63, 64, 65, 130};
    double largest = 0.0;
    (void)unused;
    for (int i = 0; i < 30; i++) {
        struct shape shape = small;
        shape.n_kv_heads = i < 15 ? 1 : 3;
        shape.n_heads = groups[i % 15] * shape.n_kv_heads;
        shape.b = i < 15 ? 1 : 2;
        shape.query_mode = i % 3 == 0 ? CASE_MORE : CASE_DECODE;
        shape.chunk_size = 20;
        check_each(&shape, 300 + (unsigned)i, &largest);
    }
}

static void every_mixture_of_types(void **unused) {
    const int types[] = {CP_FP16, CP_BF16, CP_FP32};
    double largest = 0.0;
    (void)unused;
    for (int i = 0; i < 36; i++) {
        struct shape shape = small;
        shape.q_type = types[i % 3];
        shape.kv_type = types[i / 3 % 3];
        shape.out_type = i / 9; /* binary64, too */
        check_each(&shape, 400 + (unsigned)i, &largest);
    }
}

static void many_forests(void **unused) {
    double largest = 0.0;
    (void)unused;
    for (int i = 0, version; (version = opt_case_version(i)) != 0; i++) {
        struct cp_opt *opt = opt_of(2, version);
        for (int seed = 0; seed < 300; seed++) {
            struct shape shape = small;
            shape.b = seed % 12;
            shape.max_depth = 1 + seed % 5;
            shape.chunk_size = 1 + seed % 4;
            shape.head_dim = 2 + seed % 3;
            shape.query_mode = seed / 3 % CASE_N_QUERY_MODE;
            shape.poison = seed % 3;
            check(opt, &shape, 500 + (unsigned)seed, &largest);
        }
        cp_opt_free(opt);
    }
}

static void every_kind_of_value(void **unused) {
    double largest = 0.0;
    (void)unused;
    for (int i = 0; i < 3 * CASE_N_VALUES; i++) {
        struct shape shape = small;
        shape.values = i % CASE_N_VALUES;
        shape.head_dim = 48;
        shape.chunk_size = 16;
        shape.b = 12;
        shape.q_type = shape.kv_type = i / CASE_N_VALUES == 1 ? CP_BF16 : CP_FP16;
        shape.out_type = i / CASE_N_VALUES == 2 ? CP_FP32 : CP_FP16;
        check_each(&shape, 900 + (unsigned)i, &largest);
    }
}

/* Paths that are cut into several tasks. */
static void long_paths(void **unused) {
    double largest = 0.0;
    (void)unused;
    for (int i = 0; i < 6; i++) {
        struct shape shape = small;
        shape.b = 1 + i % 3;
        shape.chunk_size = i < 3 ? 64 : 100;
        shape.max_depth = 24;
        shape.n_heads = 2;
        shape.n_kv_heads = 1;
        shape.head_dim = 8;
        shape.query_mode = i % 2 ? CASE_ALL : CASE_DECODE;
        check_each(&shape, 1000 + (unsigned)i, &largest);
    }
}

/* ---- The same bits ---- */

/* For one thread and several, more than there is work too; called again; with another workspace and
 * variant. */
static void results_do_not_depend_on_threads(void **unused) {
    const int threads[] = {1, 2, 3, 5, 8};
    (void)unused;
    for (int i = 0, version; (version = opt_case_version(i)) != 0; i++) {
        for (unsigned seed = 0; seed < 6; seed++) {
            struct shape shape = small;
            struct attend_case c;
            shape.chunk_size = 64;
            shape.max_depth = seed % 2 ? 24 : 2;
            shape.b = seed < 3 ? 2 : 9;
            shape.query_mode = seed % 2 ? CASE_DECODE : CASE_ALL;
            case_make(&c, &shape, 1100 + seed);
            struct cp_opt *one = opt_of(1, version);
            assert_int_equal(opt_case_run(one, &c, 0), CP_OK);
            struct opt_results results = opt_results_of(&c);
            cp_opt_free(one);
            for (int n = 0; n < 5; n++) {
                struct cp_opt *opt = opt_of(threads[n], version);
                for (int again = 0; again < 3; again++) {
                    assert_int_equal(opt_case_run(opt, &c, again), CP_OK);
                    assert_true(opt_results_same(&c, &results));
                }
                cp_opt_free(opt);
            }
            opt_results_free(&results);
            case_free(&c);
        }
    }
}

static void lse_is_optional(void **unused) {
    (void)unused;
    for (int i = 0, version; (version = opt_case_version(i)) != 0; i++) {
        struct attend_case c;
        struct cp_opt *opt = opt_of(2, version);
        case_make(&c, &small, 1200);
        assert_int_equal(opt_case_run(opt, &c, 0), CP_OK);
        struct opt_results results = opt_results_of(&c);
        struct cp_attention a = c.attention;
        a.variant = CP_BUFFERED;
        a.lse = NULL;
        a.workspace_size = cp_opt_workspace(opt, &a);
        a.workspace = malloc(a.workspace_size);
        memset(a.out, 0xFF, case_out_bytes(&c));
        assert_int_equal(cp_opt_attend(opt, &a), CP_OK);
        assert_true(opt_results_same(&c, &results));
        free(a.workspace);
        opt_results_free(&results);
        cp_opt_free(opt);
        case_free(&c);
    }
}

/* ---- What is felt ---- */

/* Neither NaN nor anything else where no key is. */
static void padding_does_not_matter(void **unused) {
    (void)unused;
    for (int i = 0, version; (version = opt_case_version(i)) != 0; i++) {
        struct cp_opt *opt = opt_of(1, version);
        for (unsigned seed = 0; seed < 30; seed++) {
            struct shape shape = small;
            struct attend_case c;
            shape.query_mode = (int)seed % CASE_N_QUERY_MODE;
            shape.chunk_size = seed % 3 ? 7 : 64;
            shape.b = seed % 5 == 0 ? 20 : 4;
            shape.poison = CASE_POISON_ZERO;
            case_make(&c, &shape, 1300 + seed);
            assert_int_equal(opt_case_run(opt, &c, 0), CP_OK);
            struct opt_results results = opt_results_of(&c);
            case_free(&c);
            for (int poison = CASE_POISON_NAN; poison <= CASE_POISON_HUGE; poison++) {
                shape.poison = poison;
                case_make(&c, &shape, 1300 + seed);
                assert_int_equal(opt_case_run(opt, &c, 0), CP_OK);
                assert_true(opt_results_same(&c, &results));
                case_free(&c);
            }
            opt_results_free(&results);
        }
        cp_opt_free(opt);
    }
}

static int is_nan(const struct attend_case *c, int at) {
    int nan = 0;
    for (int x = 0; x < c->shape.head_dim; x++) {
        size_t place = (size_t)at * (size_t)c->shape.head_dim + (size_t)x;
        nan += isnan(cp_number_load(c->attention.out, c->attention.out_type, place));
    }
    return nan > 0;
}

/* A key that is a NaN, in K or in V, makes the rows that see it NaN, and no other. */
static void a_key_is_felt_by_those_that_see_it(void **unused) {
    int felt = 0, not_felt = 0;
    (void)unused;
    for (int i = 0, version; (version = opt_case_version(i)) != 0; i++) {
        struct cp_opt *opt = opt_of(1, version);
        for (unsigned seed = 0; seed < 200; seed++) {
            struct shape shape = small;
            struct attend_case c;
            shape.query_mode = (int)seed % CASE_N_QUERY_MODE;
            shape.chunk_size = seed % 4 ? 3 : 9;
            shape.n_heads = seed % 3 ? 4 : 24;
            shape.head_dim =
                seed % 5 ? 40 : 80; /* at its end: others of its numbers are as usual */
            case_make(&c, &shape, 1400 + seed);
            int s = (int)seed % shape.b, n = c.plan->sequence[s].n_tokens;
            int j = n == 0 ? 0 : (int)(seed * 7) % n, g = (int)seed % shape.n_kv_heads;
            size_t poisoned = n == 0 ? SIZE_MAX : case_key(&c, s, j, g);
            size_t end = poisoned + (size_t)shape.head_dim;
            for (size_t x = 0; x < 16 && n > 0; x++) {
                cp_number_store(seed % 2 ? c.typed_k : c.typed_v, shape.kv_type, end - 16 + x, NAN);
            }
            assert_int_equal(opt_case_run(opt, &c, 0), CP_OK);
            for (int at = 0; at < c.n_rows * shape.n_heads; at++) {
                int row = at / shape.n_heads;
                int of = at % shape.n_heads / (shape.n_heads / shape.n_kv_heads);
                int sees = j < case_visible(&c, row) &&
                           case_key(&c, case_sequence_of(&c, row), j, of) == poisoned;
                assert_int_equal(is_nan(&c, at), sees);
                felt += sees;
                not_felt += !sees;
            }
            case_free(&c);
        }
        cp_opt_free(opt);
    }
    assert_in_range(felt, 500, 1000000); /* the case has occurred often */
    assert_in_range(not_felt, 500, 1000000);
}

/* ---- Wrong ---- */

/* The verdict notices a number that is off by little, and one that is none. */
static void falsified_results_are_noticed(void **unused) {
    struct shape shape = small;
    struct attend_case c;
    struct cp_opt *opt = opt_of(1, CP_OPT_BEST);
    double largest = 0.0;
    (void)unused;
    shape.out_type = CP_FP32;
    shape.query_mode = CASE_DECODE;
    case_make(&c, &shape, 1500);
    for (int i = 0; i < 4; i++) {
        assert_int_equal(opt_case_run(opt, &c, 0), CP_OK);
        assert_int_equal(opt_case_wrong(&c, 1000, &largest), 0);
        float *out = c.attention.out;
        out[5] = i == 0 ? NAN : i == 1 ? out[5] * 1.0001F : i == 2 ? 0.0F : out[5];
        c.attention.lse[3] += i == 3 ? 1e-4 : 0.0;
        assert_int_equal(opt_case_wrong(&c, 1000, &largest), 1);
    }
    cp_opt_free(opt);
    case_free(&c);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_head_dimension_and_type),
        cmocka_unit_test(every_chunk_size),
        cmocka_unit_test(every_number_of_rows),
        cmocka_unit_test(every_mixture_of_types),
        cmocka_unit_test(many_forests),
        cmocka_unit_test(every_kind_of_value),
        cmocka_unit_test(long_paths),
        cmocka_unit_test(results_do_not_depend_on_threads),
        cmocka_unit_test(lse_is_optional),
        cmocka_unit_test(padding_does_not_matter),
        cmocka_unit_test(a_key_is_felt_by_those_that_see_it),
        cmocka_unit_test(falsified_results_are_noticed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
