/* SPDX-License-Identifier: Apache-2.0 */
/* Loads that `chunkproof bench` measures, small: which series there are, what they must move and
 * do, and that each is computed right first. No time is asserted. */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "chunkproof/number.h"
#include "chunkproof/status.h"
#include "cli/bench/attention.h"

static const volatile sig_atomic_t never = 0;

/* Four sequences of 250 tokens; 64 in common, then 128 in pairs. */
static const struct bench_load pairs = {.part = "levels",
                                        .b = 4,
                                        .n = 250,
                                        .n_heads = 4,
                                        .n_kv_heads = 2,
                                        .head_dim = 128,
                                        .chunk_size = 64,
                                        .n_levels = 2,
                                        .level = {{1, 64}, {2, 128}}};

static void measure_load(struct bench_cell *cell, const struct bench_load *load, double memory) {
    struct bench_bench bench = {
        .least_rounds = 3, .most_rounds = 5, .memory = memory, .interrupted = &never};
    assert_int_equal(cp_opt_new(&bench.opt, 2, CP_OPT_BEST), CP_OK);
    assert_int_equal(bench_limits_new(&bench.limits, 2, cp_opt_version(bench.opt), (size_t)1 << 20),
                     0);
    memset(cell, 0, sizeof *cell);
    cell->load = *load;
    assert_int_equal(bench_cell_measure(&bench, cell), 0);
    bench_limits_free(bench.limits);
    cp_opt_free(bench.opt);
}

static void a_cell(void **state) {
    struct bench_cell *cell = malloc(sizeof *cell);
    (void)state;
    assert_non_null(cell);
    measure_load(cell, &pairs, 1e9);
    assert_int_equal(cell->end, BENCH_MEASURED);
    assert_int_equal(cell->n_rounds, 3);
    assert_int_equal(cell->n_series, BENCH_OURS);
    for (int i = 0; i < BENCH_OURS; i++) {
        assert_true(cell->series[i].measured);
        for (int round = 0; round < 3; round++) {
            assert_true(cell->series[i].wall[round] > 0.0);
        }
    }
    assert_true(bench_of_tree(cell, BENCH_TREE).median == 1.0);
    measure_load(cell, &pairs, 1e5);
    assert_int_equal(cell->end, BENCH_NO_ROOM);
    assert_int_equal(cell->n_rounds, 0);
    assert_true(strstr(cell->note, "GiB") != NULL);
    free(cell);
}

static const struct bench_load small = {.part = "table3",
                                        .b = 3,
                                        .n = 250,
                                        .n_heads = 4,
                                        .n_kv_heads = 2,
                                        .head_dim = 128,
                                        .chunk_size = 64};

/* WINDOW-1: what must be moved and done is that of the keys that are seen; another series has all
 * of them. */
static void a_cell_with_a_window(void **state) {
    struct bench_cell *cell = malloc(sizeof *cell);
    struct bench_load load = small;
    load.window = 70;
    (void)state;
    assert_non_null(cell);
    measure_load(cell, &load, 1e9);
    assert_int_equal(cell->end, BENCH_MEASURED);
    assert_int_equal(cell->n_series, BENCH_MOST_OURS);
    assert_string_equal(cell->series[BENCH_WHOLE].name, "whole");
    assert_true(cell->series[BENCH_WHOLE].wall[0] > 0.0);
    assert_int_equal(cell->distinct, 3 * 70);
    assert_true(cell->flops == 4.0 * 3 * 4 * 70 * 128);
    free(cell);
}

/* NUM-18: half the bytes of K and V; another series has them in binary16. */
static void cells_of_8_bits(void **state) {
    (void)state;
    for (int type = CP_E4M3; type <= CP_INT8; type++) {
        struct bench_cell *cell = malloc(sizeof *cell);
        struct bench_load load = small;
        load.type = type;
        assert_non_null(cell);
        measure_load(cell, &load, 1e9);
        assert_int_equal(cell->end, BENCH_MEASURED);
        assert_int_equal(cell->n_series, BENCH_MOST_OURS);
        assert_string_equal(cell->series[BENCH_WIDE].name, "wide");
        assert_true(cell->series[BENCH_WIDE].wall[0] > 0.0);
        assert_true(cell->bytes == 2.0 * 3 * 250 * 2 * 128 + 2.0 * 3 * 4 * 128 * 2);
        load.type = CP_FP16;
        assert_true(bench_load_bytes(&load, cell->distinct) - cell->bytes ==
                    2.0 * 3 * 250 * 2 * 128);
        free(cell);
    }
}

/* All of bfloat16: the certified tolerance of its arithmetic holds the numbers. */
static void a_cell_of_bfloat16(void **state) {
    struct bench_cell *cell = malloc(sizeof *cell);
    struct bench_load load = small;
    load.n_levels = 1;
    load.level[0] = (struct bench_level){1, 128};
    load.type = CP_BF16;
    (void)state;
    assert_non_null(cell);
    measure_load(cell, &load, 1e9);
    assert_string_equal(cell->note, "");
    assert_int_equal(cell->end, BENCH_MEASURED);
    assert_int_equal(cell->n_series, BENCH_OURS);
    assert_true(cell->bytes == 2.0 * (128 + 3 * 122) * 2 * 128 * 2 + 2.0 * 3 * 4 * 128 * 2);
    free(cell);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_cell),
        cmocka_unit_test(a_cell_with_a_window),
        cmocka_unit_test(cells_of_8_bits),
        cmocka_unit_test(a_cell_of_bfloat16),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
