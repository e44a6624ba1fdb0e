/* SPDX-License-Identifier: Apache-2.0 */
/* Caches of 8 bits in fast attention (NUM-16 to NUM-19), in every version that the machine can run:
 * K and V of any pair of types, with each kind of scales, within the certified tolerance; few rows
 * and many, with windows, caps and sinks; the same bits from any number of threads; that no scale
 * of a slot without a key is read. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "chunkproof/number.h"
#include "chunkproof/status.h"
#include "kept_case.h"
#include "opt_case.h"
#include "random.h"
#include "score_case.h"

static const struct shape small = {.b = 5,
                                   .max_depth = 4,
                                   .chunk_size = 3,
                                   .n_heads = 4,
                                   .n_kv_heads = 2,
                                   .head_dim = 24,
                                   .kv_type = CP_FP32,
                                   .query_mode = CASE_SEVERAL};

static const int types[] = {CP_E4M3, CP_E5M2, CP_INT8, CP_FP16, CP_BF16, CP_FP32};

/* A problem whose K and V are of two of the types. */
struct problem {
    struct attend_case c;
    struct score_case scores;
    struct kept k, v;
    struct cp_attention before;
};

static void make(struct problem *p, const struct shape *shape, int i, unsigned long long seed) {
    unsigned long long random = seed;
    int per = i / 36 % 3;
    case_make(&p->c, shape, seed);
    p->k = kept_case_make(&p->c, p->c.k, per, types[i % 6], 0, &random);
    p->v = kept_case_make(&p->c, p->c.v, per, types[i / 6 % 6], 0, &random);
    p->before = kept_case_take(&p->c, &p->k, &p->v, per);
    if (i % 5 == 0) {
        p->c.attention.window = (struct cp_window){1 + i % 7, i % 2, i % 3};
    }
    if (i % 7 == 0) {
        score_case_draw(&p->c, &p->scores, seed);
    }
}

static void done(struct problem *p) {
    kept_case_free(&p->k);
    kept_case_free(&p->v);
    p->c.attention = p->before;
    case_free(&p->c);
}

static struct cp_opt *opt_of(int n_threads, int version) {
    struct cp_opt *opt;
    assert_int_equal(cp_opt_new(&opt, n_threads, version), CP_OK);
    return opt;
}

static void check(const struct shape *shape, int i, unsigned long long seed, double *largest) {
    struct problem p;
    make(&p, shape, i, seed);
    for (int nth = 0, version; (version = opt_case_version(nth)) != 0; nth++) {
        struct cp_opt *opt = opt_of(2, version);
        int status = opt_case_run(opt, &p.c, (int)(seed % 8));
        int wrong = status == CP_OK ? opt_case_wrong(&p.c, 40, largest) : 0;
        if (status != CP_OK || wrong > 0) {
            print_error("version %d, K %d, V %d, scales %d\n", version, p.k.type, p.v.type,
                        p.c.attention.scales.per);
            case_print(&p.c);
        }
        assert_int_equal(status, CP_OK);
        assert_int_equal(wrong, 0);
        cp_opt_free(opt);
    }
    done(&p);
}

/* NUM-18: each pair of types, three times: with each kind of scales. */
static void forests_of_each_pair_of_types(void **unused) {
    double largest = 0.0;
    (void)unused;
    for (int i = 0; i < 5 * 108; i++) {
        struct shape shape = small;
        shape.chunk_size = 1 + i % 5;
        shape.max_depth = 1 + i / 8 % 5;
        shape.query_mode = i / 3 % CASE_N_QUERY_MODE;
        shape.n_heads = i % 4 == 0 ? 36 : 4;
        shape.head_dim = i % 3 == 0 ? 33 : 24;
        check(&shape, i, 7000 + (unsigned)i, &largest);
    }
    assert_true(largest > 0.01 && largest < 1.0); /* not by too wide a bound */
}

/* Tiles that end within a chunk and behind it; few rows and many; d that is no multiple of what a
 * vector has. */
static void tiles_of_every_size(void **unused) {
    const int chunk_sizes[] = {16, 63, 64, 100, 7};
    double largest = 0.0;
    (void)unused;
    for (int i = 0; i < 144; i++) {
        struct shape shape = small;
        shape.chunk_size = chunk_sizes[i % 5];
        shape.n_heads = i / 2 % 2 ? 4 : 36;
        shape.head_dim = 17 + i % 16;
        shape.query_mode = i % 3 == 0 ? CASE_DECODE : i % 3 == 1 ? CASE_ALL : CASE_OWN;
        check(&shape, i, 7600 + (unsigned)i, &largest);
    }
}

/* Large sizes of the field's models. */
static void heads_of_128(void **unused) {
    double largest = 0.0;
    (void)unused;
    for (int i = 0; i < 18; i++) {
        struct shape shape = small;
        shape.chunk_size = 64;
        shape.n_heads = 8;
        shape.n_kv_heads = i % 2 ? 1 : 8;
        shape.head_dim = 128;
        shape.query_mode = i % 3 ? CASE_DECODE : CASE_ALL;
        shape.q_type = shape.out_type = i % 2 ? CP_FP16 : CP_BF16;
        check(&shape, i * 7, 7800 + (unsigned)i, &largest);
    }
}

/* TPP-4, GATE-1: results do not depend on the number of threads. */
static void threads_do_not_change_a_bit(void **unused) {
    (void)unused;
    for (int i = 0; i < 36; i++) {
        struct problem p;
        struct shape shape = small;
        shape.chunk_size = 16;
        shape.n_heads = i % 2 ? 4 : 36;
        make(&p, &shape, i * 3, 7900 + (unsigned)i);
        for (int nth = 0, version; (version = opt_case_version(nth)) != 0; nth++) {
            struct cp_opt *one = opt_of(1, version), *three = opt_of(3, version);
            assert_int_equal(opt_case_run(one, &p.c, 0), CP_OK);
            struct opt_results results = opt_results_of(&p.c);
            assert_int_equal(opt_case_run(three, &p.c, 3), CP_OK);
            assert_true(opt_results_same(&p.c, &results));
            opt_results_free(&results);
            cp_opt_free(one);
            cp_opt_free(three);
        }
        done(&p);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(forests_of_each_pair_of_types),
        cmocka_unit_test(tiles_of_every_size),
        cmocka_unit_test(heads_of_128),
        cmocka_unit_test(threads_do_not_change_a_bit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
