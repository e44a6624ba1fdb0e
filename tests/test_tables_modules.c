/* SPDX-License-Identifier: Apache-2.0 */
/* Section prompt-cache of `chunkproof tables`: each bound by hand, the relative differences, how
 * many modules fit, and where the gain comes from (ERRATA-47, ERRATA-50 to 53, ERRATA-69). */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "cli/tables/tables.h"

static const struct cp_cell *find(const struct cp_cells *cells, const char *published,
                                  const char *row) {
    const struct cp_cell *found = NULL;
    for (int i = 0; i < cells->n; i++) {
        if (cells->cell[i].section == CP_SECTION_PROMPT_CACHE &&
            strcmp(cells->cell[i].published, published) == 0 &&
            strstr(cells->cell[i].row, row) != NULL) {
            found = &cells->cell[i];
        }
    }
    if (found == NULL) {
        fail_msg("no cell %s, %s", published, row);
    }
    return found;
}

/* By hand, from the sizes of Llama 7B (32 layers of 4096, 11008) and 13B (40 of 5120, 13824), 2^19
 * and 819200 bytes of K and V per token, and the data sheets. */
static void bounds_are_those_by_hand(void **unused) {
    (void)unused;
    static const struct {
        const char *published, *row;
        double least; /* ms */
        int status;
    } wanted[] = {
        {"3.79", "host to host", 2 * 5000 * 524288.0 / 89.6e6, CP_CELL_DIFFERS},
        {"5.34", "host to device", 5000 * 524288.0 / 31.5e6, CP_CELL_DIFFERS},
        {"0.23", "device to device", 2 * 5000 * 524288.0 / 1008e6, CP_CELL_DIFFERS},
        /* 6000 FLOPs' worth of 6476005376 weights; 4 * 131072 * 4501500 of attention */
        {"900", "no cache", (6000 * 6476005376.0 + 524288 * 4501500.0) / 330.3e9, CP_CELL_WITHIN},
        {"90", "all cached", 3000 * 524288.0 / 31.5e6, CP_CELL_WITHIN},
        {"32", "the next token", 2 * 6738415616.0 / 1008e6, CP_CELL_WITHIN},
        /* 12687769600 weights of 13B; 4 * 204800 less 4 * 131072 for each of the pairs */
        {"220", "13B", (6000 * (12687769600 - 6476005376.0) + 294912 * 4501500.0) / 149.7e9,
         CP_CELL_DIFFERS},
        {"30", "all cached", 3000 * 294912.0 / 31.5e6, CP_CELL_WITHIN},
    };
    struct cp_cells cells;
    cp_cells_build(&cells);
    for (size_t i = 0; i < sizeof wanted / sizeof wanted[0]; i++) {
        const struct cp_cell *cell = find(&cells, wanted[i].published, wanted[i].row);
        char least[40];
        (void)snprintf(least, sizeof least, "at least %.4g", wanted[i].least);
        assert_string_equal(cell->recomputed, least);
        assert_int_equal(cell->status, wanted[i].status);
        assert_int_equal(cell->has_value, cell->status == CP_CELL_DIFFERS);
        if (cell->has_value) { /* four digits hide a pair for each token */
            assert_true(fabs(cell->value - wanted[i].least) <= 1e-12 * wanted[i].least);
        }
    }
    free(cells.cell);
}

/* What the notes say of one layer, and ERRATA-69 of an RTX 4090. */
static void figures_in_the_words_are_right(void **unused) {
    (void)unused;
    double layer = 5000 * 524288.0 / 32;
    assert_true(fabs(layer / 3.79e-3 / 1e9 - 21.6) < 0.05);
    assert_true(fabs(layer / 5.34e-3 / 1e9 - 15.3) < 0.05);
    assert_true(fabs(2 * layer / 1008e9 * 1e3 - 0.16) < 0.005);
    double small = 6000 * 6476005376.0 + 524288 * 4501500.0;
    double more = 6000 * (12687769600 - 6476005376.0);
    assert_true(fabs(more / 1e12 - 37.3) < 0.05);
    assert_true(fabs(294912 * 4501500.0 / 1e12 - 1.3) < 0.05);
    assert_true(fabs((more + 294912 * 4501500.0) / small * 900 - 843) < 0.5);
    assert_true(fabs(3072 * 294912.0 / 30e-3 / 1e9 - 30.2) < 0.05);
}

static void ratios_are_those_of_the_figures(void **unused) {
    (void)unused;
    static const struct {
        const char *published, *row, *recomputed;
        int status;
    } wanted[] = {
        {"1.5-10", "Figure 6", "9.9", CP_CELL_WITHIN},
        {"1.5-10", "Figure 7", "3.3", CP_CELL_WITHIN},
        {"1.5-10", "Figure 8", "1.4", CP_CELL_DIFFERS},
        {"20-70", "Figure 6", "88.2", CP_CELL_DIFFERS},
        {"20-70", "Figure 7", "32.7", CP_CELL_WITHIN},
        {"20-70", "Figure 8", "9.9", CP_CELL_DIFFERS},
        {"5-10", "Figure 8", "1.4", CP_CELL_DIFFERS},
        {"4", "code generation", "10", CP_CELL_DIFFERS},
        {"8", "GPUs", "10", CP_CELL_DIFFERS},
        {"60", "CPUs", "88", CP_CELL_DIFFERS},
        {"25", "tokens of", "25", CP_CELL_MATCH},
    };
    struct cp_cells cells;
    cp_cells_build(&cells);
    for (size_t i = 0; i < sizeof wanted / sizeof wanted[0]; i++) {
        const struct cp_cell *cell = find(&cells, wanted[i].published, wanted[i].row);
        assert_string_equal(cell->recomputed, wanted[i].recomputed);
        assert_int_equal(cell->status, wanted[i].status);
    }
    free(cells.cell);
}

static void a_difference_is_relative_to_what_was_published(void **unused) {
    (void)unused;
    struct cp_cell cell = {0};
    double difference;
    cp_cell_compare(&cell, "2.5", 0.3125);
    assert_true(cp_cell_difference(&cell, &difference) && fabs(difference + 0.875) < 1e-15);
    cp_cell_compare(&cell, "8", 10.0);
    assert_true(cp_cell_difference(&cell, &difference) && fabs(difference - 0.25) < 1e-15);
    cp_cell_compare(&cell, "0.0", 1.0);
    assert_false(cp_cell_difference(&cell, &difference));
    cp_cell_compare(&cell, "1", INFINITY);
    assert_false(cp_cell_difference(&cell, &difference));
    cell = (struct cp_cell){0};
    assert_int_equal(cp_cell_compare_interval(&cell, "5-10", 7.0), CP_CELL_WITHIN);
    assert_false(cp_cell_difference(&cell, &difference));
    assert_int_equal(cp_cell_compare_interval(&cell, "5-10", 5.0), CP_CELL_WITHIN);
    assert_int_equal(cp_cell_compare_interval(&cell, "5-10", 10.01), CP_CELL_DIFFERS);
    assert_int_equal(cp_cell_compare_interval(&cell, "5-10", 4.99), CP_CELL_DIFFERS);
    cell = (struct cp_cell){0};
    cp_cell_text(cell.published, sizeof cell.published, "900"); /* nothing was recomputed */
    assert_false(cp_cell_difference(&cell, &difference));
}

static void cells_of_the_paper_are_those_of_its_name(void **unused) {
    (void)unused;
    struct cp_cells cells;
    int n = 0, n_own = 0;
    cp_cells_build(&cells);
    for (int i = 0; i < cells.n; i++) {
        int is = cp_cell_is_of_prompt_cache(&cells.cell[i]);
        assert_int_equal(is, strstr(cells.cell[i].table, "Prompt Cache") != NULL);
        n += is;
        n_own += cells.cell[i].section == CP_SECTION_PROMPT_CACHE;
    }
    assert_int_equal(n, 42);
    assert_int_equal(n_own, 31);
    free(cells.cell);
}

/* 1024 tokens of Llama 7B are half a GiB, of Llama 70B 0.3125 GiB, of Falcon 1B 0.1875. */
static void as_many_modules_fit_as_their_bytes_say(void **unused) {
    (void)unused;
    assert_int_equal((int)cp_modules_that_fit(cp_dims_find("llama-7b"), 1024, 24), 48);
    assert_int_equal((int)cp_modules_that_fit(cp_dims_find("llama-70b"), 1024, 80), 256);
    assert_int_equal((int)cp_modules_that_fit(cp_dims_find("llama-70b"), 1024, 79.99), 255);
    assert_int_equal((int)cp_modules_that_fit(cp_dims_find("falcon-1b"), 512, 24), 256);
}

/* The sum over tokens, one after the other: each has 2 FLOPs for each weight of the layers, and 4
 * for each number of each key that it sees. */
static void a_prefill_is_the_sum_over_its_tokens(void **unused) {
    (void)unused;
    static const int cases[][2] = {{1, 1}, {1000, 10}, {777, 777}, {300, 1}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        int n = cases[i][0], n_new = cases[i][1];
        double linear = 0.0, attention = 0.0, left = 0.0;
        for (int token = 0; token < n; token++) {
            linear += 2 * 6476005376.0;
            attention += 4.0 * 32 * 4096 * (token + 1);
            left += token >= n - n_new ? 2 * 6476005376.0 + 4.0 * 32 * 4096 * (token + 1) : 0.0;
        }
        struct cp_prefill prefill = cp_prefill_of(n, n_new);
        assert_true(fabs(prefill.linear - linear) <= 1e-12 * linear);
        assert_true(fabs(prefill.attention - attention) <= 1e-12 * attention);
        assert_true(fabs(prefill.left - left) <= 1e-12 * left);
        assert_true(fabs(prefill.copied - 524288.0 * (n - n_new)) < 1e-6);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bounds_are_those_by_hand),
        cmocka_unit_test(figures_in_the_words_are_right),
        cmocka_unit_test(ratios_are_those_of_the_figures),
        cmocka_unit_test(a_difference_is_relative_to_what_was_published),
        cmocka_unit_test(cells_of_the_paper_are_those_of_its_name),
        cmocka_unit_test(as_many_modules_fit_as_their_bytes_say),
        cmocka_unit_test(a_prefill_is_the_sum_over_its_tokens),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
