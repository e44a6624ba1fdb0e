/* SPDX-License-Identifier: Apache-2.0 */
/* The tables as JSON. One object:
 *   version   of chunkproof
 *   sections  for each wanted: name, counts per status, cells, and beside them
 *             kernel-mops: kernels; capacity: gains and, when numbers were given, case;
 *             kv-bytes: models; prompt-cache: fits, prefills, no_model, and elsewhere, the paper's
 *             cells in other sections; errors: remarks (its cells are the wrong ones of all)
 *   counts    per status, of all sections, wanted or not
 * A cell: section, table, row, column, published, recomputed (both as text, because their digits
 * matter), unit, status, note; difference, (recomputed - published) / published, or null.
 */
#include "chunkproof/version.h"
#include "cli/tables/tables.h"

static json_t *cell_json(const struct cp_cell *cell) {
    double difference;
    int has = cp_cell_difference(cell, &difference);
    return json_pack("{s:s,s:s,s:s,s:s,s:s,s:s,s:s,s:s,s:s,s:o}", "section",
                     cp_section_name(cell->section), "table", cell->table, "row", cell->row,
                     "column", cell->column, "published", cell->published, "recomputed",
                     cell->recomputed, "unit", cell->unit, "status",
                     cp_cell_status_name(cell->status), "note", cell->note, "difference",
                     has ? json_real(difference) : json_null());
}

static json_t *counts_json(const struct cp_cells *cells, int section) {
    json_t *counts = json_object();
    for (int status = 0; status < CP_CELL_KINDS; status++) {
        json_object_set_new(counts, cp_cell_status_name(status),
                            json_integer(cp_cells_count(cells, section, status)));
    }
    return counts;
}

static int belongs(const struct cp_cell *cell, int section) {
    if (section == CP_SECTION_ERRORS) {
        return cell->status == CP_CELL_ROUNDING || cell->status == CP_CELL_DIFFERS;
    }
    return cell->section == section;
}

static json_t *elsewhere_json(const struct cp_cells *cells) {
    json_t *list = json_array();
    for (int i = 0; i < cells->n; i++) {
        const struct cp_cell *cell = &cells->cell[i];
        if (cell->section != CP_SECTION_PROMPT_CACHE && cp_cell_is_of_prompt_cache(cell)) {
            json_array_append_new(list, cell_json(cell));
        }
    }
    return list;
}

static json_t *section_json(const struct cp_cells *cells, int section, const struct cp_case *c) {
    json_t *object = cp_extra_json(section, c);
    json_t *list = json_array();
    for (int i = 0; i < cells->n; i++) {
        if (belongs(&cells->cell[i], section)) {
            json_array_append_new(list, cell_json(&cells->cell[i]));
        }
    }
    json_object_set_new(object, "name", json_string(cp_section_name(section)));
    json_object_set_new(object, "cells", list);
    if (section == CP_SECTION_PROMPT_CACHE) {
        json_object_set_new(object, "elsewhere", elsewhere_json(cells));
    }
    if (section != CP_SECTION_ERRORS) {
        json_object_set_new(object, "counts", counts_json(cells, section));
        return object;
    }
    json_t *remarks = json_array();
    for (int i = 0; cp_remark_at(i) != NULL; i++) {
        json_array_append_new(remarks, json_string(cp_remark_at(i)));
    }
    json_object_set_new(object, "remarks", remarks);
    return object;
}

int cp_tables_print_json(FILE *file, const struct cp_cells *cells, const int *selected,
                         const struct cp_case *c) {
    json_t *sections = json_array();
    for (int section = 0; section < CP_SECTIONS; section++) {
        if (selected[section]) {
            json_array_append_new(sections, section_json(cells, section, c));
        }
    }
    json_t *object = json_pack("{s:s,s:o,s:o}", "version", CP_VERSION, "sections", sections,
                               "counts", counts_json(cells, -1));
    int failed = object == NULL || json_dumpf(object, file, JSON_INDENT(2)) != 0;
    fprintf(file, "\n");
    json_decref(object);
    return failed;
}
