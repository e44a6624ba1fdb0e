/* SPDX-License-Identifier: Apache-2.0 */
/* Widths of values in fast attention (spec/widths.md), in every version that the machine can run:
 * values that are shorter or longer than keys, in rows of their own length, and in K, within the
 * certified tolerance; with windows, masks, changed scores and caches of 8 bits; the same bits from
 * any number of threads and wherever V lies; that a number of V is felt by one number of results,
 * and that nothing behind a value is read. */
#define _DEFAULT_SOURCE /* MAP_ANONYMOUS */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#include "chunkproof/number.h"
#include "chunkproof/status.h"
#include "kept_case.h"
#include "mask_case.h"
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

static const int types[] = {CP_FP16, CP_BF16, CP_FP32, CP_E4M3, CP_E5M2, CP_INT8};

/* A problem, whose K and V may be kept in types of their own (NUM-18). */
struct problem {
    struct attend_case c;
    struct score_case scores;
    struct mask_case mask;
    struct kept k, v;
    struct cp_attention before;
};

/* A window, a mask, changed scores, and more than one of these: each for some i. */
static void hide_and_change(struct problem *p, int i, unsigned long long seed) {
    if (i % 5 == 0) {
        p->c.attention.window = (struct cp_window){1 + i % 7, i % 2, i % 3};
    }
    if (i % 4 == 1) {
        mask_case_take(&p->mask, &p->c, i / 4 % MASK_N_KIND, seed);
    }
    if (i % 7 == 0 && p->c.shape.n_heads <= SCORE_CASE_HEADS) {
        score_case_draw(&p->c, &p->scores, seed);
    }
}

static void make(struct problem *p, const struct shape *shape, int i, unsigned long long seed) {
    memset(p, 0, sizeof *p);
    case_make(&p->c, shape, seed);
    hide_and_change(p, i, seed);
    p->before = p->c.attention;
}

/* K and V as numbers of two types that have scales; where V is in K, those of K. */
static void keep(struct problem *p, int k_type, int v_type, int per, unsigned long long seed) {
    unsigned long long random = seed;
    int x = p->c.shape.v_in_k - 1;
    p->k = kept_case_make(&p->c, p->c.k, per, k_type, 0, &random);
    if (x < 0) {
        p->v = kept_case_make(&p->c, p->c.v, per, v_type, 0, &random);
    }
    p->before = kept_case_take(&p->c, &p->k, x < 0 ? &p->v : &p->k, per);
    if (x >= 0) {
        p->c.attention.v = (char *)p->k.numbers + (size_t)x * cp_number_size(k_type);
    }
}

static void done(struct problem *p) {
    kept_case_free(&p->k);
    kept_case_free(&p->v);
    if (p->mask.mask.bits != NULL) {
        mask_case_free(&p->mask);
    }
    p->c.attention = p->before;
    case_free(&p->c);
}

static struct cp_opt *opt_of(int n_threads, int version) {
    struct cp_opt *opt;
    assert_int_equal(cp_opt_new(&opt, n_threads, version), CP_OK);
    return opt;
}

/* Each version with two threads, for all problems: to make threads takes longer than most. NULL:
 * there are no more. */
static struct cp_opt *pairs[CP_OPT_LAST + 1];

static struct cp_opt *pair(int nth) {
    return nth <= CP_OPT_LAST ? pairs[nth] : NULL;
}

static int make_pairs(void **unused) {
    (void)unused;
    for (int nth = 0, version; (version = opt_case_version(nth)) != 0; nth++) {
        pairs[nth] = opt_of(2, version);
    }
    return 0;
}

static int free_pairs(void **unused) {
    (void)unused;
    for (int nth = 0; nth <= CP_OPT_LAST; nth++) {
        cp_opt_free(pairs[nth]);
    }
    return 0;
}

/* Right in each version, and nothing but results written. */
static void check(struct problem *p, double *largest) {
    struct cp_opt *opt;
    for (int nth = 0; (opt = pair(nth)) != NULL; nth++) {
        int status = opt_case_run(opt, &p->c, (int)(p->c.seed % 8));
        int wrong = status == CP_OK ? opt_case_wrong(&p->c, 16, largest) : 0;
        if (status != CP_OK || wrong > 0) {
            print_error("version %d, K %d, V %d, scales %d\n", cp_opt_version(opt),
                        p->c.attention.k_type, p->c.attention.v_type, p->c.attention.scales.per);
            case_print(&p->c);
        }
        assert_int_equal(status, CP_OK);
        assert_int_equal(wrong, 0);
    }
    done(p);
}

/* ---- Right ---- */

/* Rows of V of the values' length, and longer; few rows and many. */
static struct shape shape_of(int i, int head_dim, int value_dim) {
    const int behind[] = {0, 1, 7, 64};
    struct shape shape = small;
    shape.head_dim = head_dim;
    shape.value_dim = value_dim;
    shape.v_row = value_dim + behind[i % 4];
    shape.n_heads = i / 2 % 2 ? 4 : 36;
    shape.query_mode = i / 3 % CASE_N_QUERY_MODE;
    shape.q_type = types[i % 3];
    shape.kv_type = types[i / 2 % 3];
    shape.out_type = types[i / 5 % 3];
    return shape;
}

/* WIDTH-1: keys of 1 to 320 numbers, and of 576; 331 is a prime, so that no two of them have values
 * of as many. */
static void every_width_beside_another(void **unused) {
    double largest = 0.0;
    int longer = 0, shorter = 0;
    (void)unused;
    for (int i = 0; i < 321; i++) {
        int d = i == 320 ? 576 : i + 1, d_v = 1 + (d * 37 + 10) % 331;
        struct shape shape = shape_of(i, d, d_v);
        struct problem p;
        longer += d_v > d;
        shorter += d_v < d;
        make(&p, &shape, i, 9000 + (unsigned)i);
        check(&p, &largest);
    }
    assert_true(longer > 100 && shorter > 100);
    assert_true(largest > 0.05 && largest < 1.0); /* not by too wide a bound */
}

/* Chunks and tiles of every size, and paths that are cut into several tasks. */
static void tiles_of_every_size(void **unused) {
    const int widths[][2] = {{24, 40}, {40, 24}, {1, 65}, {65, 1}, {32, 130}, {130, 32}};
    const int chunk_sizes[] = {1, 16, 63, 64, 100, 7};
    double largest = 0.0;
    (void)unused;
    for (int i = 0; i < 72; i++) {
        struct shape shape = shape_of(i / 6, widths[i % 6][0], widths[i % 6][1]);
        struct problem p;
        shape.chunk_size = chunk_sizes[i / 6 % 6];
        shape.max_depth = i % 5 ? 4 : 1300 / shape.chunk_size < 64 ? 1300 / shape.chunk_size : 64;
        shape.b = i % 5 ? 5 : 2;
        make(&p, &shape, i, 9700 + (unsigned)i);
        check(&p, &largest);
    }
}

/* NUM-18: each pair of types, with each kind of scales. */
static void each_pair_of_types(void **unused) {
    double largest = 0.0;
    (void)unused;
    for (int i = 0; i < 2 * 108; i++) {
        const int widths[] = {17, 40, 33, 64, 96};
        struct shape shape = shape_of(i, widths[i % 5], widths[(i + 1 + i / 5 % 4) % 5]);
        struct problem p;
        shape.kv_type = CP_FP32;
        shape.chunk_size = 1 + i % 5;
        make(&p, &shape, i, 9800 + (unsigned)i);
        keep(&p, types[i % 6], types[i / 6 % 6], i / 36 % 3, 9800 + (unsigned)i);
        check(&p, &largest);
    }
    assert_true(largest > 0.01 && largest < 1.0);
}

/* Shapes with V in K: head_dim, value_dim, from number x of a key on. */
static const int in_keys[][3] = {{576, 512, 0}, {576, 512, 64}, {40, 33, 0}, {40, 33, 7},
                                 {192, 128, 0}, {64, 64, 0},    {5, 1, 4},   {320, 16, 100}};

static struct shape latent(int i) {
    const int heads[] = {16, 1, 128, 4, 8, 9, 64, 17};
    struct shape shape = small;
    shape.head_dim = in_keys[i % 8][0];
    shape.value_dim = in_keys[i % 8][1];
    shape.v_in_k = 1 + in_keys[i % 8][2];
    shape.n_kv_heads = i % 5 == 4 ? 2 : 1;
    shape.n_heads = heads[i / 8 % 8] * shape.n_kv_heads;
    shape.chunk_size = i % 3 == 0 ? 3 : i % 3 == 1 || shape.n_heads > 60 ? 16 : 64;
    shape.query_mode = i % 2 ? CASE_SEVERAL : CASE_DECODE;
    shape.b = shape.n_heads > 60 ? 2 : 5;
    shape.q_type = types[i / 3 % 3];
    return shape;
}

/* WIDTH-2: values that are a part of their keys, of each type. */
static void values_in_keys(void **unused) {
    double largest = 0.0;
    (void)unused;
    for (int i = 0; i < 128; i++) {
        struct shape shape = latent(i);
        struct problem p;
        int type = i / 7 % 6;
        shape.kv_type = type < 3 ? types[type] : CP_FP32;
        make(&p, &shape, i, 10100 + (unsigned)i);
        if (type >= 3) {
            keep(&p, types[type], types[type], i % 3, 10100 + (unsigned)i);
        }
        check(&p, &largest);
    }
    assert_true(largest > 0.01 && largest < 1.0);
}

/* ---- The same bits ---- */

/* TPP-4, GATE-1 */
static void threads_do_not_change_a_bit(void **unused) {
    (void)unused;
    for (int i = 0; i < 24; i++) {
        struct shape shape = i % 2 ? latent(i) : shape_of(i, 24 + i, 90 - 3 * i);
        struct problem p;
        if (i % 3 == 0 && shape.n_heads <= 60) { /* several tasks */
            shape.max_depth = 1300 / shape.chunk_size < 64 ? 1300 / shape.chunk_size : 64;
        }
        make(&p, &shape, i, 10300 + (unsigned)i);
        for (int nth = 0, version; (version = opt_case_version(nth)) != 0; nth++) {
            struct cp_opt *one = opt_of(1, version);
            assert_int_equal(opt_case_run(one, &p.c, 0), CP_OK);
            struct opt_results results = opt_results_of(&p.c);
            for (int threads = 2; threads <= 5; threads += 3) {
                struct cp_opt *opt = opt_of(threads, version);
                assert_int_equal(opt_case_run(opt, &p.c, threads), CP_OK);
                assert_true(opt_results_same(&p.c, &results));
                cp_opt_free(opt);
            }
            opt_results_free(&results);
            cp_opt_free(one);
        }
        done(&p);
    }
}

static size_t slots_of(const struct attend_case *c) {
    return (size_t)c->plan->capacity * (size_t)c->shape.n_kv_heads * (size_t)c->shape.chunk_size;
}

/* V with rows of v_row numbers, of which those behind a value are NaNs. */
static void *repacked(const struct attend_case *c, int v_row) {
    const struct cp_attention *a = &c->attention;
    size_t size = cp_number_size(a->v_type), n = slots_of(c);
    char *to = malloc(n * (size_t)v_row * size + 1);
    assert_non_null(to);
    for (size_t i = 0; i < n; i++) {
        char *row = to + i * (size_t)v_row * size;
        memcpy(row, (const char *)a->v + i * (size_t)a->v_row * size, (size_t)a->value_dim * size);
        for (int x = a->value_dim; x < v_row; x++) {
            cp_number_store(row, a->v_type, (size_t)x, NAN);
        }
    }
    return to;
}

/* WIDTH-2: wherever values lie, results have the same bits. */
static void where_values_lie_changes_no_bit(void **unused) {
    const int behind[] = {0, 1, 3, 200};
    (void)unused;
    for (int i = 0; i < 48; i++) {
        struct shape shape = i % 2 ? latent(i / 2) : shape_of(i, 20 + i, 65 - i);
        struct problem p;
        shape.kv_type = types[i % 3];
        make(&p, &shape, i, 10400 + (unsigned)i);
        struct cp_attention as_made = p.c.attention;
        struct cp_opt *opt;
        for (int nth = 0; (opt = pair(nth)) != NULL; nth++) {
            assert_int_equal(opt_case_run(opt, &p.c, 0), CP_OK);
            struct opt_results results = opt_results_of(&p.c);
            for (int n = 0; n < 4; n++) {
                int v_row = as_made.value_dim + behind[n];
                void *v = repacked(&p.c, v_row);
                p.c.attention.v = v;
                p.c.attention.v_row = v_row;
                assert_int_equal(opt_case_run(opt, &p.c, n), CP_OK);
                assert_true(opt_results_same(&p.c, &results));
                p.c.attention = as_made;
                free(v);
            }
            opt_results_free(&results);
        }
        done(&p);
    }
}

/* WIDTH-1: with values of fewer numbers, results are the first numbers of those with all, bit for
 * bit. */
static void fewer_numbers_are_the_first_ones(void **unused) {
    (void)unused;
    for (int i = 0; i < 60; i++) {
        struct shape shape = i % 2 ? latent(i / 2) : shape_of(i, 36, 70 + i);
        struct problem p;
        make(&p, &shape, i, 10500 + (unsigned)i);
        int all = p.c.attention.value_dim, some = 1 + i * 11 % all;
        size_t size = cp_number_size(shape.out_type);
        struct cp_opt *opt;
        for (int nth = 0; (opt = pair(nth)) != NULL; nth++) {
            assert_int_equal(opt_case_run(opt, &p.c, 0), CP_OK);
            struct opt_results results = opt_results_of(&p.c);
            p.c.attention.value_dim = some;
            assert_int_equal(opt_case_run(opt, &p.c, 1), CP_OK);
            for (size_t at = 0; at < (size_t)p.c.n_rows * (size_t)shape.n_heads; at++) {
                assert_memory_equal((char *)p.c.attention.out + at * (size_t)some * size,
                                    (char *)results.out + at * (size_t)all * size,
                                    (size_t)some * size);
            }
            assert_memory_equal(p.c.attention.lse, results.lse, case_lse_bytes(&p.c));
            p.c.attention.value_dim = all;
            opt_results_free(&results);
        }
        done(&p);
    }
}

/* ---- What is felt, and what is read ---- */

/* WIDTH-1: number x of a value makes number x of results, of the rows that see it, and nothing
 * else. */
static void a_number_is_felt_by_one_number(void **unused) {
    int felt = 0, not_felt = 0;
    (void)unused;
    for (int i = 0; i < 96; i++) {
        struct shape shape = shape_of(i, 40 + i % 7, 1 + i * 7 % 150);
        struct problem p;
        struct attend_case *c = &p.c;
        make(&p, &shape, i, 10600 + (unsigned)i);
        int s = i % shape.b, n = c->plan->sequence[s].n_tokens, d_v = c->attention.value_dim;
        int j = n == 0 ? 0 : i * 7 % n, g = i % shape.n_kv_heads, x = i * 13 % d_v;
        size_t poisoned = n == 0 ? SIZE_MAX : case_value(c, s, j, g);
        if (n > 0) {
            cp_number_store(c->typed_v, shape.kv_type, poisoned + (size_t)x, NAN);
        }
        struct cp_opt *opt;
        for (int nth = 0; (opt = pair(nth)) != NULL; nth++) {
            assert_int_equal(opt_case_run(opt, c, 0), CP_OK);
            for (int at = 0; at < c->n_rows * shape.n_heads; at++) {
                int row = at / shape.n_heads, of_row = case_sequence_of(c, row);
                int of = at % shape.n_heads / (shape.n_heads / shape.n_kv_heads);
                int sees = j < c->plan->sequence[of_row].n_tokens && case_sees(c, row, j) &&
                           case_value(c, of_row, j, of) == poisoned;
                for (int y = 0; y < d_v; y++) {
                    size_t place = (size_t)at * (size_t)d_v + (size_t)y;
                    double got = cp_number_load(c->attention.out, shape.out_type, place);
                    assert_int_equal(isnan(got), sees && y == x);
                }
                felt += sees;
                not_felt += !sees;
            }
        }
        done(&p);
    }
    assert_in_range(felt, 300, 1000000); /* the case has occurred often */
    assert_in_range(not_felt, 500, 1000000);
}

/* Behind the last number of V that is a key's value. */
static size_t end_of_values(const struct attend_case *c) {
    size_t end = 0;
    for (int s = 0; s < c->plan->n_sequences; s++) {
        for (int j = 0; j < c->plan->sequence[s].n_tokens; j++) {
            size_t at = case_value(c, s, j, c->shape.n_kv_heads - 1);
            at += (size_t)c->attention.value_dim;
            end = at > end ? at : end;
        }
    }
    return end;
}

/* Pages that end with the first n bytes of `from`: what is behind them cannot be read. */
static char *guarded(const void *from, size_t n, char **pages, size_t *size) {
    size_t page = (size_t)sysconf(_SC_PAGESIZE), whole = (n + page - 1) / page * page;
    *size = whole + page;
    *pages = mmap(NULL, *size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_true(*pages != MAP_FAILED && mprotect(*pages + whole, page, PROT_NONE) == 0);
    memcpy(*pages + whole - n, from, n);
    return *pages + whole - n;
}

/* Memory ends with the last value, also where rows are longer; of each type, with few rows and with
 * many. */
static void nothing_behind_a_value_is_read(void **unused) {
    (void)unused;
    for (int i = 0; i < 6 * 80; i++) {
        struct shape shape = small;
        struct problem p;
        double largest = 0.0;
        size_t size;
        char *pages;
        shape.head_dim = i % 4 == 0 ? 40 : 1 + i % 70;
        shape.value_dim = 1 + i / 6;
        shape.v_row = shape.value_dim + (i % 3) * (i % 11);
        shape.n_heads = i / 3 % 2 ? 4 : 36;
        shape.query_mode = i % CASE_N_QUERY_MODE;
        shape.b = 1 + i % 3;
        make(&p, &shape, 2, 10700 + (unsigned)i);
        keep(&p, CP_FP32, types[i % 6], i % 3, 10700 + (unsigned)i);
        size_t n = end_of_values(&p.c) * cp_number_size(types[i % 6]);
        p.c.attention.v = guarded(p.v.numbers, n, &pages, &size);
        struct cp_opt *opt;
        for (int nth = 0; (opt = pair(nth)) != NULL; nth++) {
            assert_int_equal(opt_case_run(opt, &p.c, i % 8), CP_OK);
            assert_int_equal(opt_case_wrong(&p.c, 8, &largest), 0);
        }
        assert_int_equal(munmap(pages, size), 0);
        done(&p);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_width_beside_another),
        cmocka_unit_test(tiles_of_every_size),
        cmocka_unit_test(each_pair_of_types),
        cmocka_unit_test(values_in_keys),
        cmocka_unit_test(threads_do_not_change_a_bit),
        cmocka_unit_test(where_values_lie_changes_no_bit),
        cmocka_unit_test(fewer_numbers_are_the_first_ones),
        cmocka_unit_test(a_number_is_felt_by_one_number),
        cmocka_unit_test(nothing_behind_a_value_is_read),
    };
    return cmocka_run_group_tests(tests, make_pairs, free_pairs);
}
