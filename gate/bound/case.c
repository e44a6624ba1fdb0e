/* SPDX-License-Identifier: Apache-2.0 */
/* A row in a file. */
#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <jansson.h>

#include "gate/bound/bound.h"

/* ---- From a file ---- */

__attribute__((format(printf, 2, 3))) static int refuse(const char *file, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    fprintf(stderr, "%s: ", file);
    vfprintf(stderr, format, arguments);
    fprintf(stderr, "; a case is {\"scale\": s, \"q\": [...], \"k\": [[...], ...], \"v\": [[...], "
                    "...]}\n");
    va_end(arguments);
    return -1;
}

/* d numbers of an array; `name` and, unless it is -1, `j` say where it stands. */
static int read_numbers(const char *file, const json_t *array, const char *name, int j, int d,
                        double *to) {
    char place[48];
    snprintf(place, sizeof place, j < 0 ? "%s" : "%s[%d]", name, j);
    if (!json_is_array(array)) {
        return refuse(file, "%s is no array of numbers", place);
    }
    if (json_array_size(array) != (size_t)d) {
        return refuse(file, "%s has %zu numbers, but q has %d", place, json_array_size(array), d);
    }
    for (int x = 0; x < d; x++) {
        const json_t *number = json_array_get(array, (size_t)x);
        if (!json_is_number(number)) {
            return refuse(file, "%s[%d] is no number", place, x);
        }
        to[x] = json_number_value(number);
    }
    return 0;
}

static int read_rows(const char *file, const json_t *rows, const char *name,
                     const struct bound_row *row, double *to) {
    for (int j = 0; j < row->n; j++) {
        if (read_numbers(file, json_array_get(rows, (size_t)j), name, j, row->d,
                         to + (ptrdiff_t)j * row->d) != 0) {
            return -1;
        }
    }
    return 0;
}

static int read_case(struct bound_row *row, const char *file, const json_t *object) {
    const json_t *q = json_object_get(object, "q"), *scale = json_object_get(object, "scale");
    const json_t *k = json_object_get(object, "k"), *v = json_object_get(object, "v");
    if (!json_is_array(q) || json_array_size(q) < 1 || json_array_size(q) > BOUND_MOST_DIM) {
        return refuse(file, "q is no array of 1 to %d numbers", BOUND_MOST_DIM);
    }
    if (!json_is_array(k) || !json_is_array(v) || json_array_size(k) != json_array_size(v)) {
        return refuse(file, "k and v are no arrays of equally many rows");
    }
    if (json_array_size(k) > BOUND_MOST_KEYS) {
        return refuse(file, "k has %zu rows, more than %d", json_array_size(k), BOUND_MOST_KEYS);
    }
    if (scale != NULL && !json_is_number(scale)) {
        return refuse(file, "scale is no number");
    }
    if (bound_row_new(row, (int)json_array_size(k), (int)json_array_size(q)) != 0) {
        fputs("chunkproof bound: not enough memory for this case\n", stderr);
        return -1;
    }
    row->scale = scale == NULL ? row->scale : json_number_value(scale);
    return read_numbers(file, q, "q", -1, row->d, row->q) != 0 ||
                   read_rows(file, k, "k", row, row->k) != 0 ||
                   read_rows(file, v, "v", row, row->v) != 0
               ? -1
               : 0;
}

int bound_case_load(struct bound_row *row, const char *name) {
    json_error_t error;
    FILE *in = strcmp(name, "-") == 0 ? stdin : fopen(name, "r");
    const char *source = in == stdin ? "<stdin>" : name;
    row->q = NULL;
    if (in == NULL) {
        fprintf(stderr, "%s: cannot be opened: %s\n", name, strerror(errno));
        return -1;
    }
    json_t *object = json_loadf(in, JSON_REJECT_DUPLICATES, &error);
    if (in != stdin) {
        (void)fclose(in);
    }
    if (object == NULL) {
        fprintf(stderr, "%s:%d:%d: %s\n", source, error.line, error.column, error.text);
        return -1;
    }
    int result = read_case(row, source, object);
    json_decref(object);
    if (result != 0) {
        bound_row_free(row);
    }
    return result;
}

/* ---- To a file ---- */

static void write_numbers(FILE *file, const double *numbers, int d) {
    for (int x = 0; x < d; x++) {
        fprintf(file, "%s%.17g", x == 0 ? "[" : ", ", numbers[x]);
    }
    fputs("]", file);
}

static void write_rows(FILE *file, const char *name, const double *numbers, int n, int d) {
    fprintf(file, ",\n\"%s\": [", name);
    for (int j = 0; j < n; j++) {
        fputs(j == 0 ? "\n" : ",\n", file);
        write_numbers(file, numbers + (ptrdiff_t)j * d, d);
    }
    fputs("]", file);
}

int bound_case_save(const struct bound_row *row, const char *name) {
    FILE *file = fopen(name, "w");
    if (file == NULL) {
        fprintf(stderr, "%s: cannot be written: %s\n", name, strerror(errno));
        return -1;
    }
    fprintf(file, "{\"scale\": %.17g,\n\"q\": ", row->scale);
    write_numbers(file, row->q, row->d);
    write_rows(file, "k", row->k, row->n, row->d);
    write_rows(file, "v", row->v, row->n, row->d);
    fputs("}\n", file);
    int failed = ferror(file);
    failed |= fclose(file);
    if (failed) {
        fprintf(stderr, "%s: cannot be written\n", name);
        return -1;
    }
    return 0;
}
