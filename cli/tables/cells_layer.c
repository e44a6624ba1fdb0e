/* SPDX-License-Identifier: Apache-2.0 */
/* Cells of the FLOPs, bytes and intensity tables: sections prefill and decode. */
#include "cli/tables/tables.h"

#include <math.h>
#include <stddef.h>

static const char *const module_name[CP_MODULES] = {"QKV projection", "softmax(QK^T)V", "MLP",
                                                    "output projection"};

static struct cp_cost attention(const struct cp_layer_table *table, const struct cp_layer_row *row,
                                const struct cp_layer *layer) {
    double queries = table->prefill ? row->context : 1.0;
    return cp_cost_attention(layer, row->batch, queries, row->context + table->new_keys);
}

static struct cp_cost module_cost(const struct cp_layer_table *table,
                                  const struct cp_layer_row *row, int module) {
    struct cp_layer layer = cp_layer_llama2_7b();
    double tokens = table->prefill ? (double)row->batch * row->context : row->batch;
    switch (module) {
    case 0:
        return cp_cost_qkv(&layer, tokens);
    case 1:
        return attention(table, row, &layer);
    case 2:
        return cp_cost_mlp(&layer, tokens);
    default: /* what the tables call output projection has the vocabulary's width */
        return cp_cost_vocabulary_projection(&layer, tokens);
    }
}

static double quantity_of(struct cp_cost cost, int quantity, int scale_exponent) {
    double scale = pow(10.0, scale_exponent);
    if (quantity == CP_INTENSITY) {
        return cp_intensity(cost);
    }
    return (quantity == CP_FLOPS ? cost.flops : cost.bytes) / scale;
}

/* Where the new token's key is counted: what comes out when its scores are forgotten. */
static double without_new_scores(const struct cp_layer_table *table,
                                 const struct cp_layer_row *row) {
    struct cp_layer layer = cp_layer_llama2_7b();
    struct cp_cost cost = attention(table, row, &layer);
    double scores = 2.0 * row->batch * layer.heads * table->new_keys; /* written, read */
    cost.bytes -= scores * layer.number_bytes;
    return quantity_of(cost, row->quantity, table->scale_exponent);
}

static void name_row(struct cp_cell *cell, const struct cp_layer_table *table,
                     const struct cp_layer_row *row) {
    static const char *const name[] = {"FLOPs", "bytes", "intensity", "latency"};
    cp_cell_text(cell->table, sizeof cell->table, "%s", table->name);
    cp_cell_text(cell->row, sizeof cell->row, "batch %d, %d tokens, %s", row->batch, row->context,
                 name[row->quantity]);
    if (row->quantity == CP_INTENSITY) {
        cp_cell_text(cell->unit, sizeof cell->unit, "FLOPs/byte");
    } else if (row->quantity == CP_LATENCY) {
        cp_cell_text(cell->unit, sizeof cell->unit, "us");
    } else {
        cp_cell_text(cell->unit, sizeof cell->unit, "10^%d", table->scale_exponent);
    }
}

static void fill(struct cp_cell *cell, const struct cp_layer_table *table,
                 const struct cp_layer_row *row, int module) {
    if (row->quantity == CP_LATENCY) {
        cp_cell_text(cell->published, sizeof cell->published, "%s", row->text[module]);
        cell->status = CP_CELL_MEASURED;
        return;
    }
    cp_cell_compare(
        cell, row->text[module],
        quantity_of(module_cost(table, row, module), row->quantity, table->scale_exponent));
    if (module == 1 && table->new_keys > 0) {
        cp_cell_explain(cell, without_new_scores(table, row),
                        "counting K and V of 2049 keys but scores of 2048");
    }
}

void cp_cells_layer_table(struct cp_cells *cells, const struct cp_layer_table *table) {
    for (int i = 0; i < table->n_rows; i++) {
        for (int module = 0; module < CP_MODULES; module++) {
            const struct cp_layer_row *row = &table->row[i];
            if (row->text[module] == NULL) {
                continue;
            }
            struct cp_cell *cell = cp_cell_add(cells, table->section);
            name_row(cell, table, row);
            cp_cell_text(cell->column, sizeof cell->column, "%s", module_name[module]);
            fill(cell, table, row, module);
        }
    }
}
