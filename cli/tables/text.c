/* SPDX-License-Identifier: Apache-2.0 */
/* The tables as text of at most 100 columns, and as CSV. */
#include "cli/tables/tables.h"

#include <string.h>

static void print_counts(FILE *file, const char *what, const struct cp_cells *cells, int section) {
    fprintf(file, "%s: %d cells:", what, cp_cells_count(cells, section, -1));
    for (int status = 0; status < CP_CELL_KINDS; status++) {
        fprintf(file, "%s %d %s", status == 0 ? "" : ",", cp_cells_count(cells, section, status),
                cp_cell_status_name(status));
    }
    fprintf(file, "\n");
}

static void print_legend(FILE *file) {
    fprintf(file,
            "= follows from the formulas, all digits     ~ one unit off in the last digit\n"
            "# does not follow     < measured, inside the bounds that follow     . measured\n");
}

/* A number in its column: what was published, the mark, and the recomputed value when another.
 * Returns the padding to the next column, which is printed before that, so that no line ends in
 * spaces. */
static int print_in_column(FILE *file, const struct cp_cell *cell, int padding) {
    int differs = cell->status == CP_CELL_ROUNDING || cell->status == CP_CELL_DIFFERS;
    const char *recomputed = differs ? cell->recomputed : "";
    fprintf(file, "%*s%9s%c%s", padding, "", cell->published, cp_cell_mark(cell->status),
            recomputed);
    return 7 - (int)strlen(recomputed);
}

/* The text after `indent` spaces, of which `first` takes the first ones; broken before column
 * 100. */
static void print_wrapped(FILE *file, const char *text, int indent, const char *first) {
    int column = indent;
    fprintf(file, "%-*s", indent, first);
    while (*text != '\0') {
        int length = (int)strcspn(text, " ");
        if (column > indent && column + 1 + length > 99) {
            fprintf(file, "\n%*s", indent, "");
            column = indent;
        }
        column += fprintf(file, "%s%.*s", column > indent ? " " : "", length, text);
        text += length + (text[length] == ' ');
    }
    fprintf(file, "\n");
}

static void print_layer_heading(FILE *file, const char *table) {
    for (int i = 0; i < cp_n_layer_tables; i++) {
        if (strcmp(cp_layer_tables[i].name, table) == 0) {
            fprintf(file, "\n%s: Llama2 7B, %s\n", table, cp_layer_tables[i].title);
        }
    }
    fprintf(file, "%43s%17s%17s%17s\n", "QKV proj.", "attention", "MLP", "output proj.");
}

static void print_layer_section(FILE *file, const struct cp_cells *cells, int section) {
    const char *table = "";
    const char *row = "";
    int padding = 0;
    for (int i = 0; i < cells->n; i++) {
        const struct cp_cell *cell = &cells->cell[i];
        if (cell->section != section) {
            continue;
        }
        if (strcmp(row, cell->row) != 0 || strcmp(table, cell->table) != 0) {
            fprintf(file, "%s", row[0] == '\0' ? "" : "\n");
            if (strcmp(table, cell->table) != 0) {
                print_layer_heading(file, cell->table);
            }
            fprintf(file, "%s", cell->row);
            padding = 34 - (int)strlen(cell->row);
        }
        padding = print_in_column(file, cell, padding);
        table = cell->table;
        row = cell->row;
    }
    fprintf(file, "\n");
}

static void print_list_section(FILE *file, const struct cp_cells *cells, int section) {
    const char *table = "";
    fprintf(file, "%16s  %-16s%s\n", "published", "recomputed", "unit");
    for (int i = 0; i < cells->n; i++) {
        const struct cp_cell *cell = &cells->cell[i];
        if (cell->section != section) {
            continue;
        }
        if (strcmp(table, cell->table) != 0) {
            fprintf(file, "%s\n", cell->table);
        }
        table = cell->table;
        fprintf(file, "  %c %12s  %-15s %-13s %s\n", cp_cell_mark(cell->status), cell->published,
                cell->recomputed, cell->unit, cell->row);
        if (cell->note[0] != '\0') {
            print_wrapped(file, cell->note, 6, "");
        }
    }
}

/* Those of other sections, too; and by how much the recomputed number is more. */
static void print_prompt_cache(FILE *file, const struct cp_cells *cells) {
    const char *table = "";
    double difference;
    fprintf(file, "%16s  %-15s %9s  %s\n", "published", "recomputed", "relative", "unit");
    for (int i = 0; i < cells->n; i++) {
        const struct cp_cell *cell = &cells->cell[i];
        if (!cp_cell_is_of_prompt_cache(cell)) {
            continue;
        }
        if (strcmp(table, cell->table) != 0) {
            fprintf(file, "%s\n", cell->table);
        }
        table = cell->table;
        fprintf(file, "  %c %12s  %-15s ", cp_cell_mark(cell->status), cell->published,
                cell->recomputed);
        if (cp_cell_difference(cell, &difference)) {
            fprintf(file, "%+8.1f%%", 100.0 * difference);
        } else {
            fprintf(file, "%9s", "");
        }
        fprintf(file, "  %-7s %s%s%s\n", cell->unit, cell->row, cell->column[0] == '\0' ? "" : ", ",
                cell->column);
        if (cell->note[0] != '\0') {
            print_wrapped(file, cell->note, 6, "");
        }
    }
}

static void print_errors(FILE *file, const struct cp_cells *cells) {
    for (int i = 0; i < cells->n; i++) {
        const struct cp_cell *cell = &cells->cell[i];
        if (cell->status != CP_CELL_ROUNDING && cell->status != CP_CELL_DIFFERS) {
            continue;
        }
        fprintf(file, "%c %s: %s%s%s\n", cp_cell_mark(cell->status), cell->table, cell->row,
                cell->column[0] == '\0' ? "" : ", ", cell->column);
        fprintf(file, "    published %s, recomputed %s%s%s\n", cell->published, cell->recomputed,
                cell->unit[0] == '\0' ? "" : " ", cell->unit);
        if (cell->note[0] != '\0') {
            print_wrapped(file, cell->note, 4, "");
        }
    }
    fprintf(file, "\nRemarks\n");
    for (int i = 0; cp_remark_at(i) != NULL; i++) {
        print_wrapped(file, cp_remark_at(i), 2, "-");
    }
    fprintf(file, "\n");
}

void cp_tables_print_text(FILE *file, const struct cp_cells *cells, const int *selected,
                          const struct cp_case *c) {
    print_legend(file);
    for (int section = 0; section < CP_SECTIONS; section++) {
        if (!selected[section]) {
            continue;
        }
        fprintf(file, "\n== %s ==\n", cp_section_name(section));
        if (section == CP_SECTION_ERRORS) {
            print_errors(file, cells);
            print_counts(file, "all sections", cells, -1);
            continue;
        }
        if (section == CP_SECTION_PREFILL || section == CP_SECTION_DECODE) {
            print_layer_section(file, cells, section);
        } else if (section == CP_SECTION_PROMPT_CACHE) {
            print_prompt_cache(file, cells);
        } else {
            print_list_section(file, cells, section);
        }
        cp_extra_print_text(file, section, c);
        print_counts(file, cp_section_name(section), cells, section);
    }
}

static void print_csv_field(FILE *file, const char *text, const char *end) {
    fputc('"', file);
    for (; *text != '\0'; text++) {
        if (*text == '"') {
            fputc('"', file);
        }
        fputc(*text, file);
    }
    fprintf(file, "\"%s", end);
}

static void print_csv_difference(FILE *file, const struct cp_cell *cell) {
    double difference;
    if (cp_cell_difference(cell, &difference)) {
        fprintf(file, "%.17g\n", difference);
    } else {
        fputs("\n", file);
    }
}

void cp_tables_print_csv(FILE *file, const struct cp_cells *cells, const int *selected) {
    fprintf(file, "section,table,row,column,published,recomputed,unit,status,note,difference\n");
    for (int i = 0; i < cells->n; i++) {
        const struct cp_cell *cell = &cells->cell[i];
        int wrong = cell->status == CP_CELL_ROUNDING || cell->status == CP_CELL_DIFFERS;
        int is_of_prompt_cache =
            selected[CP_SECTION_PROMPT_CACHE] && cp_cell_is_of_prompt_cache(cell);
        if (!selected[cell->section] && !(selected[CP_SECTION_ERRORS] && wrong) &&
            !is_of_prompt_cache) {
            continue;
        }
        print_csv_field(file, cp_section_name(cell->section), ",");
        print_csv_field(file, cell->table, ",");
        print_csv_field(file, cell->row, ",");
        print_csv_field(file, cell->column, ",");
        print_csv_field(file, cell->published, ",");
        print_csv_field(file, cell->recomputed, ",");
        print_csv_field(file, cell->unit, ",");
        print_csv_field(file, cp_cell_status_name(cell->status), ",");
        print_csv_field(file, cell->note, ",");
        print_csv_difference(file, cell);
    }
}
