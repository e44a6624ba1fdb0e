/* SPDX-License-Identifier: Apache-2.0 */
/* The papers' tables: how many published cells follow from the formulas (MODEL-1 ..), a reason for
 * each that does not, and that no published number can be changed unnoticed. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "cli/tables/tables.h"

static void expect(const char *published, double value, int status, const char *recomputed) {
    char text[40];
    assert_int_equal(cp_compare_published(published, value, text, sizeof text), status);
    assert_string_equal(text, recomputed);
}

static void test_compare(void **state) {
    (void)state;
    expect("1.50", 1.499, CP_CELL_MATCH, "1.50");
    expect("1.50", 1.494, CP_CELL_ROUNDING, "1.49");
    expect("1.50", 1.506, CP_CELL_ROUNDING, "1.51");
    expect("1.50", 1.52, CP_CELL_DIFFERS, "1.52");
    expect("0.99", 1.0, CP_CELL_ROUNDING, "1.00");
    expect("8", 4.0, CP_CELL_DIFFERS, "4");
    expect("35", 34.89, CP_CELL_MATCH, "35");
    expect("1", -1.0, CP_CELL_DIFFERS, "-1");
    expect("1.0", INFINITY, CP_CELL_DIFFERS, "inf");
    assert_int_equal(cp_compare_published("1.0", NAN, (char[40]){0}, 40), CP_CELL_DIFFERS);
    assert_true(cp_is_cut_off("1.87", 1.875) && cp_is_cut_off("0.03", 0.0352));
    assert_false(cp_is_cut_off("1.87", 1.871)); /* rounded, that is 1.87 too */
    assert_false(cp_is_cut_off("1.86", 1.875));
}

struct count {
    const char *table;
    int n[CP_CELL_KINDS]; /* match, rounding, differs, within, measured */
};

static const struct count counts[] = {
    {"ICLR Table 1", {96, 0, 0, 0, 0}},
    {"ICLR Table 2", {96, 0, 0, 0, 0}},
    {"ICLR Table 3", {128, 0, 0, 0, 0}},
    {"ACL Table 1", {26, 1, 0, 0, 9}},
    {"ICLR Appendix B", {1, 0, 3, 0, 0}},
    {"ACL Table 4", {0, 0, 0, 12, 0}},
    {"ACL 4.1", {6, 0, 1, 0, 0}},
    {"ACL 4.2", {2, 0, 0, 6, 0}},
    {"ACL abstract, 6", {0, 0, 2, 0, 0}},
    {"ICLR 1", {4, 0, 0, 0, 0}},
    {"ACL 1", {3, 0, 0, 0, 0}},
    {"Prompt Cache 1", {0, 0, 3, 3, 0}},
    {"Prompt Cache 5.2", {0, 0, 1, 0, 0}},
    {"Prompt Cache 5.4", {2, 0, 4, 4, 0}},
    {"Prompt Cache 5.6", {0, 0, 1, 0, 12}},
    {"Prompt Cache abstract", {0, 0, 2, 0, 0}},
    {"Prompt Cache Table 2", {3, 2, 3, 0, 0}},
    {"Prompt Cache 5.5", {0, 0, 2, 0, 0}},
    {"AttentionStore 2.1", {1, 0, 0, 0, 0}},
    {"AttentionStore 2.4", {4, 0, 2, 0, 0}},
    {"AttentionStore 4.2", {6, 0, 0, 0, 0}},
    {"AttentionStore 4.3.8", {0, 0, 1, 0, 0}},
};

static void test_counts(void **state) {
    (void)state;
    struct cp_cells cells;
    cp_cells_build(&cells);
    int all = 0;
    for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++) {
        int n[CP_CELL_KINDS] = {0};
        for (int j = 0; j < cells.n; j++) {
            n[cells.cell[j].status] += strcmp(cells.cell[j].table, counts[i].table) == 0;
        }
        for (int status = 0; status < CP_CELL_KINDS; status++) {
            if (n[status] != counts[i].n[status]) {
                fail_msg("%s: %d %s, not %d", counts[i].table, n[status],
                         cp_cell_status_name(status), counts[i].n[status]);
            }
            all += n[status];
        }
    }
    assert_int_equal(all, cells.n);
    assert_int_equal(cells.n, 452);
    free(cells.cell);
}

/* Each number that does not follow comes with a reason. */
static void test_reasons(void **state) {
    (void)state;
    struct cp_cells cells;
    cp_cells_build(&cells);
    for (int i = 0; i < cells.n; i++) {
        int wrong =
            cells.cell[i].status == CP_CELL_ROUNDING || cells.cell[i].status == CP_CELL_DIFFERS;
        assert_int_equal(cells.cell[i].note[0] != '\0', wrong);
    }
    free(cells.cell);
}

/* What is wrong stays wrong: an explanation that does not give the number is not shown. */
static void test_explain(void **state) {
    (void)state;
    struct cp_cell cell = {0};
    cp_cell_compare(&cell, "2.5", 0.3125);
    cp_cell_explain(&cell, 2.7, "no reason");
    assert_string_equal(cell.note, "");
    cp_cell_explain(&cell, 2.5, "all heads");
    assert_string_equal(cell.note, "all heads gives 2.5");
    cp_cell_explain(&cell, 2.5, "a second reason");
    assert_string_equal(cell.note, "all heads gives 2.5");
    cell = (struct cp_cell){0};
    cp_cell_compare(&cell, "0.18", 0.1875);
    cp_cell_explain_cut(&cell, 0.1875);
    assert_string_equal(cell.note, "0.1875, truncated instead of rounded");
}

/* The status of the only cell of a table of one row and one number. */
static int status_of(const struct cp_layer_table *table, const struct cp_layer_row *row, int module,
                     const char *text) {
    struct cp_layer_row one = {row->batch, row->context, row->quantity, {NULL}};
    struct cp_layer_table altered = *table;
    struct cp_cells cells = {0};
    one.text[module] = text;
    altered.row = &one;
    altered.n_rows = 1;
    cp_cells_layer_table(&cells, &altered);
    assert_int_equal(cells.n, 1);
    int status = cells.cell[0].status;
    free(cells.cell);
    return status;
}

/* Any other digit, anywhere in a number that follows, and it follows no more; five units of the
 * last digit are no rounding either. */
static int alter_layer_number(const struct cp_layer_table *table, const struct cp_layer_row *row,
                              int module) {
    char text[16];
    int n = 0;
    if (status_of(table, row, module, row->text[module]) != CP_CELL_MATCH) {
        return 0;
    }
    for (size_t i = 0; i < strlen(row->text[module]); i++) {
        cp_cell_text(text, sizeof text, "%s", row->text[module]);
        if (text[i] == '.') {
            continue;
        }
        text[i] = (char)('0' + (text[i] - '0' + 5) % 10);
        assert_int_equal(status_of(table, row, module, text), CP_CELL_DIFFERS);
        n++;
    }
    return n;
}

static void test_altered_tables(void **state) {
    (void)state;
    int n = 0;
    for (int t = 0; t < cp_n_layer_tables; t++) {
        for (int i = 0; i < cp_layer_tables[t].n_rows; i++) {
            for (int module = 0; module < CP_MODULES; module++) {
                const struct cp_layer_row *row = &cp_layer_tables[t].row[i];
                if (row->text[module] != NULL) {
                    n += alter_layer_number(&cp_layer_tables[t], row, module);
                }
            }
        }
    }
    assert_true(n > 4 * 340); /* about five digits in each of 346 numbers */
}

static void test_altered_claims(void **state) {
    (void)state;
    struct cp_cells cells = {0};
    for (int i = 0; i < cp_n_kv_claims; i++) {
        struct cp_kv_claim claim = cp_kv_claims[i];
        claim.published = "777";
        cp_cells_kv_claim(&cells, &claim);
    }
    for (int i = 0; i < cp_n_ratio_claims; i++) {
        struct cp_ratio_claim claim = cp_ratio_claims[i];
        claim.published = strchr(claim.published, '-') != NULL ? "90-95" : "777";
        cp_cells_ratio_claim(&cells, &claim);
    }
    for (int i = 0; i < cp_n_peak_rows; i++) {
        struct cp_peak_row row = cp_peak_rows[i];
        row.published = i % 2 == 0 ? "0.49" : "36.01"; /* below the least and above the largest */
        cp_cells_peak_row(&cells, &row);
    }
    assert_int_equal(cells.n, cp_n_kv_claims + cp_n_ratio_claims + cp_n_peak_rows);
    assert_int_equal(cp_cells_count(&cells, -1, CP_CELL_DIFFERS), cells.n);
    free(cells.cell);
}

/* The numbers in the remarks. */
static void test_remarks(void **state) {
    (void)state;
    struct cp_layer layer = cp_layer_llama2_7b();
    double kv = cp_kv_bytes(cp_dims_find("llama-7b"));
    expect("34.36", cp_cost_hidden_projection(&layer, 1024).flops / 1e9, CP_CELL_MATCH, "34.36");
    expect("491", 5000 * kv / 5.34e-3 / 1e9, CP_CELL_MATCH, "491");
    expect("15.3", 5000 * kv / 32 / 5.34e-3 / 1e9, CP_CELL_MATCH, "15.3");
    struct cp_kernel_shape s = {4, 32, 128, 64, 2048, 0};
    double unfused = cp_cost_attention(&layer, 4, 1, 2048).bytes / 2;
    assert_true(unfused - cp_mops_naive(&s) == 2 * 4 * 32 * 2048);
    int n = 0;
    while (cp_remark_at(n) != NULL) {
        n++;
    }
    assert_int_equal(n, 11);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_compare),        cmocka_unit_test(test_counts),
        cmocka_unit_test(test_reasons),        cmocka_unit_test(test_explain),
        cmocka_unit_test(test_altered_tables), cmocka_unit_test(test_altered_claims),
        cmocka_unit_test(test_remarks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
