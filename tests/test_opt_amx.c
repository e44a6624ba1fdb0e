/* SPDX-License-Identifier: Apache-2.0 */
/* The unit that multiplies matrices (opt/kernels.h, struct opt_multiplier). No bit is lost when
 * a number is cut into parts: every number of binary16 and bfloat16, and every significand of
 * binary32. Products are within the roundings of one sum. A number that is not ordinary is
 * refused, at each place, and nothing is written then. Nothing past a row is read. */
#define _DEFAULT_SOURCE /* mmap() */
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
#include "chunkproof/opt.h"
#include "cli/bench/limits.h"
#include "opt/kernels.h"
#include "random.h"

enum { LEAST_D = 32, MOST_D = 80, UNITS = 32 }; /* head dimensions; rows that are unit vectors */

static const int types[] = {CP_FP16, CP_BF16, CP_FP32};

/* What a call needs, as large as it can be here. */
struct world {
    struct opt_multiplier multiplier;
    char *queries, *room;
    float score[CP_OPT_KEYS * CP_OPT_ROWS];
    float o[CP_OPT_ROWS * MOST_D];
    float column[MOST_D * CP_OPT_ROWS];
    char kv[CP_OPT_KEYS * MOST_D * sizeof(float)];
    const void *at[CP_OPT_KEYS];
};

static int set_up(void **state) {
    struct world *w = calloc(1, sizeof *w);
    assert_non_null(w);
    if (cp_opt_has_amx()) {
        w->multiplier = cp_opt_amx().multiplier;
    }
    if (w->multiplier.scores != NULL) {
        w->queries = aligned_alloc(64, w->multiplier.query_size(MOST_D) * CP_OPT_ROWS);
        w->room = aligned_alloc(64, (w->multiplier.room_size(MOST_D) + 63) / 64 * 64);
        assert_true(w->queries != NULL && w->room != NULL);
        memset(w->queries, 0xFF, w->multiplier.query_size(MOST_D) * CP_OPT_ROWS); /* NaNs */
        memset(w->room, 0xFF, w->multiplier.room_size(MOST_D));
    }
    *state = w;
    return 0;
}

static int tear_down(void **state) {
    struct world *w = *state;
    free(w->queries);
    free(w->room);
    free(w);
    return 0;
}

static struct world *world_of(void **state) {
    struct world *w = *state;
    (void)cp_opt_has_amx(); /* a test has handlers of its own, of signals */
    if (w->multiplier.scores == NULL) {
        skip(); /* neither AMX nor what its emulator needs, AVX-512 */
    }
    return w;
}

/* n keys of d numbers of a type, one behind the other. */
static struct opt_keys keys_of(struct world *w, int type, int n, int d) {
    for (int j = 0; j < n; j++) {
        w->at[j] = w->kv + (size_t)j * (size_t)d * cp_number_size(type);
    }
    return (struct opt_keys){w->at, type, n};
}

static void put(struct world *w, int type, int d, int j, int x, double number) {
    cp_number_store(w->kv, type, (size_t)j * (size_t)d + (size_t)x, number);
}

static double get(const struct world *w, int type, int d, int j, int x) {
    return cp_number_load(w->kv, type, (size_t)j * (size_t)d + (size_t)x);
}

static int take_queries(struct world *w, int type, int padded_rows, int d) {
    return w->multiplier.take_queries(w->queries, w->column, type, padded_rows, d);
}

static int scores(struct world *w, int q_type, int padded_rows, struct opt_keys k, int d) {
    struct opt_wanted none = {NULL, NULL};
    return w->multiplier.scores(w->score, w->queries, q_type, padded_rows, k, d, w->room, &none);
}

static int add_values(struct world *w, int rows, int padded_rows, struct opt_keys v, int d) {
    struct opt_wanted none = {NULL, NULL};
    int done = 1;
    for (int x = 0; x < d; x += CP_OPT_PANEL) {
        done = w->multiplier.add_values(w->o, MOST_D, rows, padded_rows, v, x, d, w->room, &none) &&
               done;
    }
    return done;
}

/* ---- No bit is lost ---- */

/* Row i of the queries has a 1 at number i: scores are numbers of K. */
static void unit_queries(struct world *w) {
    memset(w->column, 0, sizeof w->column);
    for (int i = 0; i < UNITS; i++) {
        w->column[i * UNITS + i] = 1.0F;
    }
    assert_int_equal(take_queries(w, CP_BF16, UNITS, UNITS), 1);
}

static int is_ordinary(double number) {
    return number == 0.0 || (fabs(number) >= 0x1p-30 && fabs(number) < 0x1p40);
}

/* All 65,536 of each type; a tile with one that is not ordinary is refused, and taken with a 0 in
 * its place. */
static void every_short_number_is_a_sum_of_its_parts(void **state) {
    struct world *w = world_of(state);
    const int per_tile = CP_OPT_KEYS * UNITS;
    unit_queries(w);
    for (int t = 0; t < 2; t++) {
        uint16_t *kv = (uint16_t *)(void *)w->kv;
        struct opt_keys k = keys_of(w, types[t], CP_OPT_KEYS, UNITS);
        int taken = 0;
        for (int from = 0; from < 65536; from += per_tile) {
            int strange = 0;
            for (int x = 0; x < per_tile; x++) {
                kv[x] = (uint16_t)(from + x);
                strange += !is_ordinary(cp_number_load(kv, types[t], (size_t)x));
            }
            assert_int_equal(scores(w, CP_BF16, UNITS, k, UNITS), strange == 0);
            for (int x = 0; x < per_tile; x++) {
                kv[x] = is_ordinary(cp_number_load(kv, types[t], (size_t)x)) ? kv[x] : 0;
            }
            assert_int_equal(scores(w, CP_BF16, UNITS, k, UNITS), 1);
            for (int x = 0; x < per_tile; x++) {
                assert_true((double)w->score[x] == cp_number_load(kv, types[t], (size_t)x));
            }
            taken += per_tile - strange;
        }
        assert_int_equal(taken, types[t] == CP_FP16 ? 2 * 31 * 1024 : 2 + 2 * 70 * 128);
    }
}

/* Those from 1 to 2, and as many of any size. */
static void every_significand_is_a_sum_of_its_parts(void **state) {
    struct world *w = world_of(state);
    const int per_tile = CP_OPT_KEYS * UNITS;
    unsigned long long random = 1;
    unit_queries(w);
    for (uint32_t from = 0; from < 1U << 23; from += (uint32_t)per_tile) {
        float *kv = (float *)(void *)w->kv;
        for (int x = 0; x < per_tile; x++) {
            uint32_t bits = 0x3F800000U + from + (uint32_t)x;
            memcpy(&kv[x], &bits, sizeof bits);
            kv[x] = x % 2 ? kv[x] : ldexpf(-kv[x], (int)(random_bits(&random) % 70) - 30);
        }
        assert_int_equal(scores(w, CP_BF16, UNITS, keys_of(w, CP_FP32, CP_OPT_KEYS, UNITS), UNITS),
                         1);
        assert_memory_equal(w->score, kv, (size_t)per_tile * sizeof *kv);
    }
}

/* The same for weights: V is unit vectors. Subnormal ones, too. */
static void every_weight_is_a_sum_of_its_parts(void **state) {
    struct world *w = world_of(state);
    const int d = CP_OPT_PANEL, per_tile = CP_OPT_KEYS * UNITS;
    unsigned long long random = 2;
    memset(w->kv, 0, sizeof w->kv);
    for (int j = 0; j < CP_OPT_KEYS; j++) {
        put(w, CP_FP32, d, j, j, 1.0);
    }
    struct opt_keys v = keys_of(w, CP_FP32, CP_OPT_KEYS, d);
    for (uint32_t from = 0; from < 1U << 23; from += (uint32_t)per_tile) {
        for (int x = 0; x < per_tile; x++) {
            uint32_t bits = 0x3F000000U + from + (uint32_t)x;
            memcpy(&w->score[x], &bits, sizeof bits);
            w->score[x] =
                x % 2 ? w->score[x] : ldexpf(w->score[x], -(int)(random_bits(&random) % 150));
        }
        memset(w->o, 0, sizeof w->o);
        w->multiplier.take_weights(w->score, UNITS, CP_OPT_KEYS, w->room);
        assert_int_equal(add_values(w, UNITS, UNITS, v, d), 1);
        for (int x = 0; x < per_tile; x++) {
            assert_true(w->o[x % UNITS * MOST_D + x / UNITS] == w->score[x]);
        }
    }
}

/* ---- Products ---- */

/* Of one number and another, nine of parts: the smallest ones first, or each of nine additions
 * would round as much. */
static void a_product_is_rounded_about_once(void **state) {
    struct world *w = world_of(state);
    unsigned long long random = 3;
    for (int times = 0; times < 20; times++) {
        double factor[UNITS];
        memset(w->column, 0, sizeof w->column);
        for (int i = 0; i < UNITS; i++) {
            w->column[i * UNITS + i] = (float)random_normal(&random);
            factor[i] = (double)w->column[i * UNITS + i];
        }
        for (int x = 0; x < CP_OPT_KEYS * UNITS; x++) {
            cp_number_store(w->kv, CP_FP32, (size_t)x, random_normal(&random));
        }
        assert_int_equal(take_queries(w, CP_FP32, UNITS, UNITS), 1);
        assert_int_equal(scores(w, CP_FP32, UNITS, keys_of(w, CP_FP32, CP_OPT_KEYS, UNITS), UNITS),
                         1);
        for (int x = 0; x < CP_OPT_KEYS * UNITS; x++) {
            double right = factor[x % UNITS] * cp_number_load(w->kv, CP_FP32, (size_t)x);
            assert_true(fabs((double)w->score[x] - right) <= 1.5 * 0x1p-24 * fabs(right));
        }
    }
}

static void fill(struct world *w, int q_type, int kv_type, int d, unsigned long long seed) {
    for (int x = 0; x < MOST_D * CP_OPT_ROWS; x++) {
        char one[sizeof(double)];
        cp_number_store(one, q_type, 0, random_normal(&seed));
        w->column[x] = (float)cp_number_load(one, q_type, 0);
    }
    for (int x = 0; x < CP_OPT_KEYS * d; x++) {
        cp_number_store(w->kv, kv_type, (size_t)x, random_normal(&seed));
    }
}

static int parts_of(int type) {
    return type == CP_FP32 ? 3 : type == CP_FP16 ? 2 : 1;
}

/* Beside sums in binary64: within what opt/amx.c says that the additions err. */
static void check_scores(const struct world *w, int q_type, int type, int padded_rows, int keys,
                         int d) {
    double squares = (d - 1) / 32 + 1, pairs = parts_of(q_type) * parts_of(type);
    double additions = 17.0 + squares + (17.0 + pairs * squares) / 64.0;
    for (int i = 0; i < padded_rows; i++) {
        for (int j = 0; j < keys; j++) {
            double right = 0.0, magnitude = 0.0;
            for (int x = 0; x < d; x++) {
                double product = (double)w->column[x * padded_rows + i] * get(w, type, d, j, x);
                right += product;
                magnitude += fabs(product);
            }
            double found = (double)w->score[j * padded_rows + i];
            assert_true(fabs(found - right) <= additions * 0x1.001p-24 * magnitude);
        }
    }
}

static void scores_of_every_size(void **state) {
    struct world *w = world_of(state);
    for (int x = 0; x < 9 * 64; x++) {
        int q_type = types[x % 3], type = types[x / 3 % 3], keys = 1 + x / 9;
        int d = LEAST_D + x * 7 % (MOST_D - LEAST_D + 1), padded_rows = 16 * (1 + x % 4);
        fill(w, q_type, type, d, (unsigned)x);
        for (int at = 0; at < MOST_D * CP_OPT_ROWS && x / 9 % 2; at++) { /* nothing cancels */
            w->column[at] = fabsf(w->column[at]);
            double number = at < keys * d ? cp_number_load(w->kv, type, (size_t)at) : 0.0;
            cp_number_store(w->kv, type, at < keys * d ? (size_t)at : 0, fabs(number));
        }
        assert_int_equal(take_queries(w, q_type, padded_rows, d), 1);
        assert_int_equal(scores(w, q_type, padded_rows, keys_of(w, type, keys, d), d), 1);
        check_scores(w, q_type, type, padded_rows, keys, d);
    }
}

/* Rows behind the last one stay as they are, and so does what is behind d, padded. */
static void check_values(const struct world *w, const float *before, int type, int rows,
                         int padded_rows, int keys, int d) {
    int padded_d = (d + CP_OPT_PAD - 1) / CP_OPT_PAD * CP_OPT_PAD;
    for (int i = 0; i < CP_OPT_ROWS; i++) {
        for (int x = 0; x < MOST_D; x++) {
            double right = (double)before[i * MOST_D + x], magnitude = fabs(right);
            double found = (double)w->o[i * MOST_D + x];
            for (int j = 0; j < keys && i < rows && x < d; j++) {
                double product = (double)w->score[j * padded_rows + i] * get(w, type, d, j, x);
                right += product;
                magnitude += fabs(product);
            }
            if (i < rows && x < padded_d) {
                assert_true(fabs(found - right) <= (keys + 2) * 0x1.01p-24 * magnitude);
            } else {
                assert_true(found == right);
            }
        }
    }
}

static void values_of_every_size(void **state) {
    struct world *w = world_of(state);
    static float before[CP_OPT_ROWS * MOST_D];
    for (int x = 0; x < 9 * 64; x++) {
        int type = types[x % 3], keys = 1 + x / 9, d = LEAST_D + x * 7 % (MOST_D - LEAST_D + 1);
        int padded_rows = 16 * (1 + x % 4), rows = padded_rows - x % 16;
        unsigned long long random = (unsigned)x;
        fill(w, CP_FP32, type, d, random);
        for (int at = 0; at < CP_OPT_KEYS * CP_OPT_ROWS; at++) {
            double weight = exp2(-20.0 * (double)(random_bits(&random) % 1000) / 1000.0);
            w->score[at] = at % 7 ? (float)weight : 0.0F;
        }
        for (int at = 0; at < CP_OPT_ROWS * MOST_D; at++) {
            before[at] = (float)random_normal(&random);
        }
        memcpy(w->o, before, sizeof before);
        w->multiplier.take_weights(w->score, padded_rows, keys, w->room);
        assert_int_equal(add_values(w, rows, padded_rows, keys_of(w, type, keys, d), d), 1);
        check_values(w, before, type, rows, padded_rows, keys, d);
    }
}

/* ---- What is not ordinary ---- */

static const double numbers[] = {NAN,       INFINITY, -INFINITY, 0x1p40,    -0x1.8p60, 0x1.FCp-31,
                                 -0x1p-130, 0.0,      -0.0,      0x1.FEp39, -0x1p-30};
enum {
    STRANGE = 7,
    NUMBERS = 11
}; /* the first ones are not ordinary; the others as much as can be */

/* Does the multiplier take this number? Binary16 has no other strange numbers than those that are
 * not finite. */
static int is_taken(double number, int type) {
    char one[sizeof(double)];
    cp_number_store(one, type, 0, number);
    return is_ordinary(cp_number_load(one, type, 0));
}

/* Each number at each place of the queries. */
static void strange_queries_are_refused(void **state) {
    struct world *w = world_of(state);
    const int d = 80, padded_rows = 48;
    fill(w, CP_FP32, CP_FP32, d, 1);
    for (int place = 0; place < d * padded_rows; place++) {
        float query = w->column[place];
        for (int i = 0; i < NUMBERS; i++) {
            w->column[place] = (float)numbers[i];
            assert_int_equal(take_queries(w, CP_FP32, padded_rows, d), i >= STRANGE);
        }
        w->column[place] = query;
    }
}

/* One after the other, at each place of K and of V, of each type: scores are refused, and the panel
 * of values in which it is, and nothing is written then. */
static void strange_keys_are_refused(void **state) {
    struct world *w = world_of(state);
    const int d = MOST_D, keys = 33, padded_rows = 16;
    static float score[CP_OPT_KEYS * CP_OPT_ROWS], o[CP_OPT_ROWS * MOST_D];
    fill(w, CP_FP32, CP_FP32, d, 2);
    assert_int_equal(take_queries(w, CP_FP32, padded_rows, d), 1);
    for (int turn = 0; turn < 3 * keys * d; turn++) {
        int type = types[turn % 3], place = turn / 3;
        double number = numbers[(place + turn % 3 * 4) % NUMBERS];
        int taken = is_taken(number, type);
        struct opt_keys kv = keys_of(w, type, keys, d);
        fill(w, CP_FP32, type, d, (unsigned)turn);
        put(w, type, d, place / d, place % d, number);
        memcpy(score, w->score, sizeof score);
        assert_int_equal(scores(w, CP_FP32, padded_rows, kv, d), taken);
        assert_true(taken || memcmp(score, w->score, sizeof score) == 0);
        w->multiplier.take_weights(w->column, padded_rows, keys, w->room);
        for (int x = 0; x < d; x += CP_OPT_PANEL) {
            struct opt_wanted none = {NULL, NULL};
            int here = place % d / CP_OPT_PANEL == x / CP_OPT_PANEL;
            memcpy(o, w->o, sizeof o);
            assert_int_equal(w->multiplier.add_values(w->o, MOST_D, padded_rows, padded_rows, kv, x,
                                                      d, w->room, &none),
                             taken || !here);
            assert_true(taken || !here || memcmp(o, w->o, sizeof o) == 0);
        }
    }
}

/* They would be multiplied with padding. */
static void few_numbers_are_refused(void **state) {
    struct world *w = world_of(state);
    fill(w, CP_FP16, CP_FP16, MOST_D, 1);
    for (int d = 1; d <= MOST_D; d++) {
        assert_int_equal(take_queries(w, CP_FP16, 16, d), d >= LEAST_D);
    }
}

/* Keys that end where memory ends: each number of numbers, of each type. */
static void nothing_behind_a_row_is_read(void **state) {
    struct world *w = world_of(state);
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    char *memory = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_true(memory != MAP_FAILED && mprotect(memory + page, page, PROT_NONE) == 0);
    for (int d = LEAST_D; d <= MOST_D; d++) {
        for (int t = 0; t < 3; t++) {
            const void *at[CP_OPT_KEYS];
            size_t bytes = (size_t)d * cp_number_size(types[t]);
            for (int j = 0; j < 3; j++) {
                at[j] = memory + page - bytes;
            }
            for (int x = 0; x < d; x++) {
                cp_number_store(memory + page - bytes, types[t], (size_t)x, 0.5 + x);
                w->column[x * 16] = 1.0F;
            }
            struct opt_keys kv = {at, types[t], 3};
            assert_int_equal(take_queries(w, CP_FP16, 16, d), 1);
            assert_int_equal(scores(w, CP_FP16, 16, kv, d), 1);
            assert_true(w->score[0] == (float)(d * d) * 0.5F);
            memset(w->o, 0, sizeof w->o);
            w->score[16] = w->score[32] = 1.0F;
            w->score[0] = 0.0F;
            w->multiplier.take_weights(w->score, 16, 3, w->room);
            assert_int_equal(add_values(w, 1, 16, kv, d), 1);
            assert_true(w->o[d - 1] == 2.0F * (0.5F + (float)(d - 1)));
        }
    }
    munmap(memory, 2 * page);
}

/* All that is wanted is asked for, from the first line on, and no more. */
static void what_is_wanted_is_asked_for(void **state) {
    struct world *w = world_of(state);
    static const char memory[64 * 64];
    for (int n = 0; n <= 64; n++) {
        struct opt_wanted wanted = {memory, memory + n * 64};
        fill(w, CP_FP16, CP_FP16, 32, (unsigned)n);
        assert_int_equal(take_queries(w, CP_FP16, 16, 32), 1);
        assert_int_equal(w->multiplier.scores(w->score, w->queries, CP_FP16, 16,
                                              keys_of(w, CP_FP16, 1 + n % 64, 32), 32, w->room,
                                              &wanted),
                         1);
        assert_ptr_equal(wanted.at, wanted.end);
    }
}

/* ---- The benchmark ---- */

static void its_limit_is_found(void **state) {
    struct bench_limits *limits;
    struct bench_probe probe;
    (void)world_of(state);
    assert_int_equal(bench_limits_new(&limits, 1, CP_OPT_AMX, 1 << 20), 0);
    assert_int_equal(bench_limits_multiply(limits, &probe), 0);
    assert_true(probe.rate > 0.0 && isfinite(probe.rate));
    bench_limits_free(limits);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(every_short_number_is_a_sum_of_its_parts, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(every_significand_is_a_sum_of_its_parts, set_up, tear_down),
        cmocka_unit_test_setup_teardown(every_weight_is_a_sum_of_its_parts, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_product_is_rounded_about_once, set_up, tear_down),
        cmocka_unit_test_setup_teardown(scores_of_every_size, set_up, tear_down),
        cmocka_unit_test_setup_teardown(values_of_every_size, set_up, tear_down),
        cmocka_unit_test_setup_teardown(strange_queries_are_refused, set_up, tear_down),
        cmocka_unit_test_setup_teardown(strange_keys_are_refused, set_up, tear_down),
        cmocka_unit_test_setup_teardown(few_numbers_are_refused, set_up, tear_down),
        cmocka_unit_test_setup_teardown(nothing_behind_a_row_is_read, set_up, tear_down),
        cmocka_unit_test_setup_teardown(what_is_wanted_is_asked_for, set_up, tear_down),
        cmocka_unit_test_setup_teardown(its_limit_is_found, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
