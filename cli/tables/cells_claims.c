/* SPDX-License-Identifier: Apache-2.0 */
/* Cells of the numbers outside the FLOPs tables: sections kernel-mops, capacity, kv-bytes,
 * ratios. */
#include "cli/tables/tables.h"

#include <assert.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

static void name_claim(struct cp_cell *cell, const char *table, const char *row, const char *unit) {
    cp_cell_text(cell->table, sizeof cell->table, "%s", table);
    cp_cell_text(cell->row, sizeof cell->row, "%s", row);
    cp_cell_text(cell->unit, sizeof cell->unit, "%s", unit);
}

void cp_cells_kv_claim(struct cp_cells *cells, const struct cp_kv_claim *claim) {
    const struct cp_dims *dims = cp_dims_find(claim->model);
    assert(dims != NULL);
    struct cp_cell *cell = cp_cell_add(cells, CP_SECTION_KV_BYTES);
    name_claim(cell, claim->table, claim->what, claim->unit);
    double value = claim->formula(dims, claim->argument);
    cp_cell_compare(cell, claim->published, value);
    if (claim->wrong != NULL) {
        cp_cell_explain(cell, claim->wrong(dims, claim->wrong_argument), claim->wrong_text);
    }
    cp_cell_explain_cut(cell, value);
}

static double ratio(int kind, double a, double b) {
    return kind == CP_RATIO ? a / b : 100.0 * (b - a) / b;
}

void cp_cells_ratio_claim(struct cp_cells *cells, const struct cp_ratio_claim *claim) {
    struct cp_cell *cell = cp_cell_add(cells, claim->section);
    double value = ratio(claim->kind, claim->a, claim->b);
    name_claim(cell, claim->table, claim->what, claim->kind == CP_RATIO ? "times" : "%");
    (void)cp_cell_compare_interval(cell, claim->published, value);
    if (claim->wrong_a > 0.0) {
        cp_cell_explain(cell, ratio(claim->kind, claim->wrong_a, claim->wrong_b),
                        claim->wrong_text);
    } else if (claim->wrong_text != NULL && cell->status == CP_CELL_DIFFERS) {
        cp_cell_text(cell->note, sizeof cell->note, "%s", claim->wrong_text);
    }
}

/* A sequence has between n_p and n_p + n_c tokens at any time. So at the moment of the peak batch
 * at least its prompts are in memory, and never more than the peak batch times whole sequences.
 * Both token counts are multiples of the chunk size: no padding to add. */
void cp_cells_peak_row(struct cp_cells *cells, const struct cp_peak_row *row) {
    struct cp_cell *cell = cp_cell_add(cells, CP_SECTION_CAPACITY);
    double gib = cp_kv_bytes(cp_dims_find("llama-7b")) / CP_GIB;
    double own = row->n_prompt - row->n_shared;
    double low = gib * (row->n_shared + row->peak_batch * own);
    double high = gib * (row->n_shared + row->peak_batch * (own + row->n_completion));
    double value = strtod(row->published, NULL);
    name_claim(cell, "ACL Table 4", "", "GiB");
    cp_cell_text(cell->row, sizeof cell->row, "%s, n_p %d, shared %d, peak batch %d", row->system,
                 row->n_prompt, row->n_shared, row->peak_batch);
    cp_cell_text(cell->published, sizeof cell->published, "%s", row->published);
    cp_cell_text(cell->recomputed, sizeof cell->recomputed, "%.2f to %.2f", low, high);
    cell->status = low <= value && value <= high ? CP_CELL_WITHIN : CP_CELL_DIFFERS;
}

/* A formula of Appendix B at one shape: what it gives, against what its premise gives. */
static void formula_cell(struct cp_cells *cells, const char *formula, double published,
                         double recomputed, const char *note) {
    char text[16];
    struct cp_cell *cell = cp_cell_add(cells, CP_SECTION_KERNEL_MOPS);
    name_claim(cell, "ICLR Appendix B", formula, "numbers");
    cp_cell_text(text, sizeof text, "%.0f", published);
    cp_cell_compare(cell, text, recomputed);
    if (cell->status != CP_CELL_MATCH) {
        cp_cell_text(cell->note, sizeof cell->note, "%s", note);
    }
}

/* What the model of the tables counts for one query of each sequence, but for the scores. */
static double fused_attention_numbers(const struct cp_kernel_shape *s) {
    struct cp_layer layer = {.heads = (int)s->h, .head_dim = (int)s->d, .number_bytes = 1};
    return cp_cost_attention(&layer, s->b, 1, s->n).bytes - 2.0 * s->b * s->h * s->n;
}

/* At the smallest b and c that meet (5), and one full shared chunk. */
void cp_cells_kernel_mops(struct cp_cells *cells) {
    struct cp_kernel_shape s = {.b = 2, .h = 1, .d = 128, .c = 3, .n = 3, .n_shared = 3};
    double line_1 = cp_mops_chunk_line_1(&s);
    double line_2 = cp_mops_chunk_line_2(&s);
    double exact = cp_mops_two_phase(&s);
    double naive = cp_mops_naive(&s);

    formula_cell(cells, "(3) line 2, for line 1 (b 2, c 3, n 3, r 1, d 128)", line_2, line_1,
                 "2bhd lost: line 1 counts q and o twice; once, as in line 2, is right");
    formula_cell(cells, "(3) line 2, for the two phases (same shape)", line_2, exact,
                 "the sequence-first phase also reads the partial results; m and n besides o");
    formula_cell(cells, "(4), for attention less its scores (same shape)", naive,
                 fused_attention_numbers(&s), "(4) leaves out more than the scores");

    struct cp_cell *cell = cp_cell_add(cells, CP_SECTION_KERNEL_MOPS);
    int claimed = 1.0 / s.b + 1.0 / s.c < 1.0;
    name_claim(cell, "ICLR Appendix B", "(5) 1/b + 1/c < 1: fewer than (4)? (same shape)", "");
    cp_cell_text(cell->published, sizeof cell->published, claimed ? "fewer" : "not fewer");
    cp_cell_text(cell->recomputed, sizeof cell->recomputed, exact < naive ? "fewer" : "not fewer");
    cell->status = claimed == (exact < naive) ? CP_CELL_MATCH : CP_CELL_DIFFERS;
    if (cell->status == CP_CELL_DIFFERS) {
        cp_cell_text(cell->note, sizeof cell->note,
                     "%.0f against %.0f; the exact condition is 1/b + (3 + 4/d)/(2c) < 1", exact,
                     naive);
    }
}
