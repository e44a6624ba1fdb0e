/* SPDX-License-Identifier: Apache-2.0 */
/* Scores by products of bfloat16 (opt/avx512_bf16.c), by its instruction and by words for it.
 * Scores of every size are within the roundings of one sum. A number that is not ordinary is
 * refused, at each place, and nothing is written then. Nothing past a key is read. Other types
 * than bfloat16 are left to the loops. */
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

#include "bf16_in_words.h"
#include "chunkproof/number.h"
#include "opt/kernels.h"
#include "random.h"

enum { MOST_D = 70, UNITS = 32 }; /* numbers of a key; rows that are unit vectors */

struct world {
    struct opt_multiplier multiplier;
    _Alignas(64) char queries[CP_OPT_ROWS * 2 * MOST_D];
    float column[MOST_D * CP_OPT_ROWS];
    float score[CP_OPT_KEYS * CP_OPT_ROWS];
    uint16_t k[CP_OPT_KEYS * MOST_D];
    const void *at[CP_OPT_KEYS];
};

static struct world world; /* of the test that runs */

/* The i-th way that this machine can compute it; 0: there are no more. */
static int take_way(int i) {
    int has_unit = cp_opt_has_avx512_bf16(), has_words = cp_opt_has_avx512();
    if (i >= has_unit + has_words) {
        return 0;
    }
    memset(&world, 0xFF, sizeof world); /* NaNs */
    world.multiplier =
        i == 0 && has_unit ? cp_opt_avx512_bf16().multiplier : bf16_in_words().multiplier;
    return 1;
}

static void must_run(void) {
    if (!cp_opt_has_avx512()) {
        skip();
    }
}

static struct opt_keys keys_of(int n, int d) {
    for (int j = 0; j < n; j++) {
        world.at[j] = world.k + (size_t)j * (size_t)d;
    }
    return (struct opt_keys){world.at, CP_BF16, n};
}

static int take_queries(int padded_rows, int d) {
    memset(world.queries, 0xFF, sizeof world.queries);
    return world.multiplier.take_queries(world.queries, world.column, CP_BF16, padded_rows, d);
}

static int scores(int padded_rows, struct opt_keys k, int d) {
    struct opt_wanted none = {NULL, NULL};
    return world.multiplier.scores(world.score, world.queries, CP_BF16, padded_rows, k, d, NULL,
                                   &none);
}

/* A number of bfloat16. */
static double number_of(uint16_t bits) {
    return cp_number_load(&bits, CP_BF16, 0);
}

static uint16_t bits_of(double number) {
    uint16_t bits;
    cp_number_store(&bits, CP_BF16, 0, number);
    return bits;
}

static void fill(int d, int positive, unsigned long long seed) {
    for (int x = 0; x < MOST_D * CP_OPT_ROWS; x++) {
        double number = random_normal(&seed);
        world.column[x] = (float)number_of(bits_of(positive ? fabs(number) : number));
    }
    for (int x = 0; x < CP_OPT_KEYS * d; x++) {
        double number = random_normal(&seed);
        world.k[x] = bits_of(positive ? fabs(number) : number);
    }
}

/* ---- Scores ---- */

/* NUM-5: d additions, each with one rounding. */
static void check_scores(int padded_rows, int keys, int d) {
    for (int i = 0; i < padded_rows; i++) {
        for (int j = 0; j < keys; j++) {
            double right = 0.0, magnitude = 0.0;
            for (int x = 0; x < d; x++) {
                double product =
                    (double)world.column[x * padded_rows + i] * number_of(world.k[j * d + x]);
                right += product;
                magnitude += fabs(product);
            }
            double found = (double)world.score[j * padded_rows + i];
            assert_true(fabs(found - right) <= d * 0x1.001p-24 * magnitude);
        }
    }
}

static void scores_of_every_size(void **unused) {
    (void)unused;
    must_run();
    for (int way = 0; take_way(way); way++) {
        for (int x = 0; x < 16 * 64; x++) {
            int keys = 1 + x / 16, d = 1 + x * 7 % MOST_D, padded_rows = 16 * (1 + x % 4);
            fill(d, x / 4 % 2, (unsigned)x); /* positive: nothing cancels */
            assert_int_equal(take_queries(padded_rows, d), 1);
            assert_int_equal(scores(padded_rows, keys_of(keys, d), d), 1);
            check_scores(padded_rows, keys, d);
        }
    }
}

/* Row i of the queries has a 1 at number i: scores are numbers of K. */
static void unit_queries(void) {
    memset(world.column, 0, sizeof world.column);
    for (int i = 0; i < UNITS; i++) {
        world.column[i * UNITS + i] = 1.0F;
    }
    assert_int_equal(take_queries(UNITS, UNITS), 1);
}

static int is_ordinary(double number) {
    return number == 0.0 || (fabs(number) >= 0x1p-56 && fabs(number) < 0x1p48);
}

/* All 65,536; a tile with one that is not ordinary is refused, and taken with a 0 in its place. */
static void every_number(void **unused) {
    const int per_tile = CP_OPT_KEYS * UNITS;
    (void)unused;
    must_run();
    for (int way = 0; take_way(way); way++) {
        struct opt_keys k = keys_of(CP_OPT_KEYS, UNITS);
        int taken = 0;
        unit_queries();
        for (int from = 0; from < 65536; from += per_tile) {
            int strange = 0;
            for (int x = 0; x < per_tile; x++) {
                world.k[x] = (uint16_t)(from + x);
                strange += !is_ordinary(number_of(world.k[x]));
            }
            assert_int_equal(scores(UNITS, k, UNITS), strange == 0);
            for (int x = 0; x < per_tile; x++) {
                world.k[x] = is_ordinary(number_of(world.k[x])) ? world.k[x] : 0;
            }
            assert_int_equal(scores(UNITS, k, UNITS), 1);
            for (int x = 0; x < per_tile; x++) {
                assert_true((double)world.score[x] == number_of(world.k[x]));
            }
            taken += per_tile - strange;
        }
        assert_int_equal(taken, 2 + 2 * 104 * 128);
    }
}

/* 129 129 - 128 130 = 1, in units of 2^-63: the smallest normal number. */
static void no_product_and_no_sum_is_too_small(void **unused) {
    (void)unused;
    must_run();
    for (int way = 0; take_way(way); way++) {
        for (int i = 0; i < 16; i++) {
            world.column[i] = 0x81p-63F;
            world.column[16 + i] = -0x80p-63F;
        }
        world.k[0] = bits_of(0x81p-63);
        world.k[1] = bits_of(0x82p-63);
        assert_int_equal(take_queries(16, 2), 1);
        assert_int_equal(scores(16, keys_of(1, 2), 2), 1);
        for (int i = 0; i < 16; i++) {
            assert_true(world.score[i] == 0x1p-126F);
        }
    }
}

/* ---- What is not ordinary ---- */

static const double numbers[] = {NAN,       INFINITY, -INFINITY, 0x1p48,    -0x1.8p60, 0x1.FEp-57,
                                 -0x1p-130, 0.0,      -0.0,      0x1.FEp47, -0x1p-56};
enum {
    STRANGE = 7,
    NUMBERS = 11
}; /* the first ones are not ordinary; the others as much as can be */

static void strange_queries_are_refused(void **unused) {
    const int d = 7, padded_rows = 48;
    (void)unused;
    must_run();
    for (int way = 0; take_way(way); way++) {
        fill(d, 0, 1);
        for (int place = 0; place < d * padded_rows; place++) {
            float query = world.column[place];
            for (int i = 0; i < NUMBERS; i++) {
                world.column[place] = (float)numbers[i];
                assert_int_equal(take_queries(padded_rows, d), i >= STRANGE);
            }
            world.column[place] = query;
        }
    }
}

static void strange_keys_are_refused(void **unused) {
    const int keys = 33, padded_rows = 16;
    static float score[CP_OPT_KEYS * CP_OPT_ROWS];
    (void)unused;
    must_run();
    for (int way = 0; take_way(way); way++) {
        for (int d = MOST_D - 7; d <= MOST_D; d++) {
            fill(d, 0, 2);
            assert_int_equal(take_queries(padded_rows, d), 1);
            for (int place = 0; place < keys * d; place++) {
                int i = place % NUMBERS;
                uint16_t number = world.k[place];
                world.k[place] = bits_of(numbers[i]);
                memcpy(score, world.score, sizeof score);
                assert_int_equal(scores(padded_rows, keys_of(keys, d), d), i >= STRANGE);
                assert_true(i >= STRANGE || memcmp(score, world.score, sizeof score) == 0);
                world.k[place] = number;
            }
        }
    }
}

static void only_bfloat16_is_taken(void **unused) {
    (void)unused;
    must_run();
    for (int way = 0; take_way(way); way++) {
        for (int q = CP_FP16; q <= CP_INT8; q++) {
            for (int k = CP_FP16; k <= CP_INT8; k++) {
                assert_int_equal(world.multiplier.takes(q, k, CP_FP16),
                                 q == CP_BF16 && k == CP_BF16);
            }
        }
    }
}

/* ---- Memory ---- */

/* Keys that end where memory ends. */
static void nothing_behind_a_key_is_read(void **unused) {
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    char *memory = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    (void)unused;
    assert_true(memory != MAP_FAILED && mprotect(memory + page, page, PROT_NONE) == 0);
    must_run();
    for (int way = 0; take_way(way); way++) {
        for (int d = 1; d <= MOST_D; d++) {
            uint16_t *key = (uint16_t *)(void *)(memory + page) - d;
            const void *at[] = {key, key, key};
            for (int x = 0; x < d; x++) {
                key[x] = bits_of(0.5 + x);
                for (int i = 0; i < 16; i++) {
                    world.column[x * 16 + i] = 1.0F;
                }
            }
            assert_int_equal(take_queries(16, d), 1);
            assert_int_equal(scores(16, (struct opt_keys){at, CP_BF16, 3}, d), 1);
            assert_true(world.score[32] == (float)(d * d) * 0.5F);
        }
    }
    munmap(memory, 2 * page);
}

/* Queries have as many bytes as query_size() says. */
static void nothing_behind_the_queries_is_written(void **unused) {
    (void)unused;
    must_run();
    for (int way = 0; take_way(way); way++) {
        for (int d = 1; d < MOST_D; d++) {
            size_t bytes = world.multiplier.query_size(d) * 48;
            fill(d, 0, 3);
            assert_int_equal(take_queries(48, d), 1);
            for (size_t i = bytes; i < sizeof world.queries; i++) {
                assert_int_equal((unsigned char)world.queries[i], 0xFF);
            }
        }
    }
}

/* No line is asked for that is not wanted. With a step for each, all are. */
static void what_is_wanted_is_asked_for(void **unused) {
    static const char memory[64 * 64];
    (void)unused;
    must_run();
    for (int way = 0; take_way(way); way++) {
        fill(64, 0, 4);
        assert_int_equal(take_queries(32, 64), 1);
        for (int n = 0; n <= 64; n++) {
            struct opt_wanted wanted = {memory, memory + n * 64};
            assert_int_equal(world.multiplier.scores(world.score, world.queries, CP_BF16, 32,
                                                     keys_of(64, 64), 64, NULL, &wanted),
                             1);
            assert_ptr_equal(wanted.at, wanted.end);
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(scores_of_every_size),
        cmocka_unit_test(every_number),
        cmocka_unit_test(no_product_and_no_sum_is_too_small),
        cmocka_unit_test(strange_queries_are_refused),
        cmocka_unit_test(strange_keys_are_refused),
        cmocka_unit_test(only_bfloat16_is_taken),
        cmocka_unit_test(nothing_behind_a_key_is_read),
        cmocka_unit_test(nothing_behind_the_queries_is_written),
        cmocka_unit_test(what_is_wanted_is_asked_for),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
