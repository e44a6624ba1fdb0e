/* SPDX-License-Identifier: Apache-2.0 */
/* A cell: a published number beside the recomputed value. */
#include "cli/tables/tables.h"

#include <assert.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "cli/base/command.h"

const char *cp_section_name(int section) {
    static const char *const name[CP_SECTIONS] = {"prefill",  "decode", "kernel-mops",  "capacity",
                                                  "kv-bytes", "ratios", "prompt-cache", "errors"};
    return name[section];
}

const char *cp_cell_status_name(int status) {
    static const char *const name[CP_CELL_KINDS] = {"match", "rounding", "differs", "within",
                                                    "measured"};
    return name[status];
}

char cp_cell_mark(int status) {
    return "=~#<."[status];
}

static int decimals(const char *published) {
    const char *point = strchr(published, '.');
    return point == NULL ? 0 : (int)strlen(point + 1);
}

/* "2166.36" as 216636: the number in units of its last digit. */
static long long last_digit_units(const char *text) {
    long long units = 0;
    for (; *text != '\0'; text++) {
        if (*text != '.') {
            units = 10 * units + (*text - '0');
        }
    }
    return units;
}

int cp_compare_published(const char *published, double value, char *text, size_t size) {
    int length = snprintf(text, size, "%.*f", decimals(published), value);
    assert(length > 0 && (size_t)length < size);
    (void)length;
    if (strcmp(text, published) == 0) {
        return CP_CELL_MATCH;
    }
    if (strspn(text, "0123456789.") != strlen(text)) { /* negative, infinite, no number */
        return CP_CELL_DIFFERS;
    }
    long long off = last_digit_units(text) - last_digit_units(published);
    return off == 1 || off == -1 ? CP_CELL_ROUNDING : CP_CELL_DIFFERS;
}

int cp_is_cut_off(const char *published, double value) {
    char text[40];
    double unit = pow(10.0, decimals(published));
    return cp_compare_published(published, floor(value * unit) / unit, text, sizeof text) ==
               CP_CELL_MATCH &&
           cp_compare_published(published, value, text, sizeof text) != CP_CELL_MATCH;
}

struct cp_cell *cp_cell_add(struct cp_cells *cells, int section) {
    if (cells->n == cells->capacity) {
        cells->capacity = cells->capacity == 0 ? 512 : 2 * cells->capacity;
        cells->cell = realloc(cells->cell, (size_t)cells->capacity * sizeof *cells->cell);
        if (cells->cell == NULL) {
            fprintf(stderr, "chunkproof tables: out of memory\n");
            exit(EXIT_BAD_USE);
        }
    }
    struct cp_cell *cell = &cells->cell[cells->n++];
    memset(cell, 0, sizeof *cell);
    cell->section = section;
    return cell;
}

void cp_cell_text(char *field, size_t size, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(field, size, format, arguments);
    va_end(arguments);
    assert(length >= 0 && (size_t)length < size);
    (void)length;
}

void cp_cell_compare(struct cp_cell *cell, const char *published, double value) {
    cp_cell_text(cell->published, sizeof cell->published, "%s", published);
    cell->status =
        cp_compare_published(published, value, cell->recomputed, sizeof cell->recomputed);
    cell->has_value = 1;
    cell->value = value;
}

int cp_cell_compare_interval(struct cp_cell *cell, const char *published, double value) {
    const char *dash = strchr(published, '-');
    if (dash == NULL) {
        cp_cell_compare(cell, published, value);
        return cell->status;
    }
    cp_cell_text(cell->published, sizeof cell->published, "%s", published);
    cp_cell_text(cell->recomputed, sizeof cell->recomputed, "%.1f", value);
    int inside = strtod(published, NULL) <= value && value <= strtod(dash + 1, NULL);
    cell->status = inside ? CP_CELL_WITHIN : CP_CELL_DIFFERS;
    return cell->status;
}

int cp_cell_difference(const struct cp_cell *cell, double *difference) {
    char *end;
    double published = strtod(cell->published, &end);
    if (!cell->has_value || end == cell->published || *end != '\0' || !(fabs(published) > 0.0)) {
        return 0;
    }
    *difference = (cell->value - published) / published;
    return isfinite(*difference);
}

int cp_cell_is_of_prompt_cache(const struct cp_cell *cell) {
    static const char name[] = "Prompt Cache ";
    return strncmp(cell->table, name, sizeof name - 1) == 0;
}

void cp_cell_explain_cut(struct cp_cell *cell, double value) {
    if (cell->note[0] == '\0' && cp_is_cut_off(cell->published, value)) {
        cp_cell_text(cell->note, sizeof cell->note, "%.6g, truncated instead of rounded", value);
    }
}

void cp_cell_explain(struct cp_cell *cell, double value, const char *text) {
    char rounded[40];
    int matches =
        cp_compare_published(cell->published, value, rounded, sizeof rounded) == CP_CELL_MATCH;
    if (cell->status == CP_CELL_MATCH || cell->note[0] != '\0') {
        return;
    }
    if (matches) {
        cp_cell_text(cell->note, sizeof cell->note, "%s gives %s", text, rounded);
    } else if (cp_is_cut_off(cell->published, value)) {
        cp_cell_text(cell->note, sizeof cell->note, "%s gives %.6g, truncated", text, value);
    }
}

int cp_cells_count(const struct cp_cells *cells, int section, int status) {
    int n = 0;
    for (int i = 0; i < cells->n; i++) {
        n += (section < 0 || cells->cell[i].section == section) &&
             (status < 0 || cells->cell[i].status == status);
    }
    return n;
}
