/* SPDX-License-Identifier: Apache-2.0 */
/* The cells of all sections, in order. */
#include "cli/tables/tables.h"

void cp_cells_build(struct cp_cells *cells) {
    *cells = (struct cp_cells){0};
    for (int i = 0; i < cp_n_layer_tables; i++) {
        cp_cells_layer_table(cells, &cp_layer_tables[i]);
    }
    cp_cells_kernel_mops(cells);
    for (int i = 0; i < cp_n_peak_rows; i++) {
        cp_cells_peak_row(cells, &cp_peak_rows[i]);
    }
    for (int section = CP_SECTION_CAPACITY; section <= CP_SECTION_RATIOS; section++) {
        for (int i = 0; section == CP_SECTION_KV_BYTES && i < cp_n_kv_claims; i++) {
            cp_cells_kv_claim(cells, &cp_kv_claims[i]);
        }
        for (int i = 0; i < cp_n_ratio_claims; i++) {
            if (cp_ratio_claims[i].section == section) {
                cp_cells_ratio_claim(cells, &cp_ratio_claims[i]);
            }
        }
    }
    cp_cells_prompt_cache(cells);
}
