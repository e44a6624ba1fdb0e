/* SPDX-License-Identifier: Apache-2.0 */
/* A row in a file. */
#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <jansson.h>

#include "chunkproof/tolerance.h"
#include "cli/base/output.h"
#include "cli/base/printable.h"
#include "cli/bound/bound.h"

/* ---- From a file ---- */

__attribute__((format(printf, 2, 3))) static int refuse(const char *file, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    fprintf(stderr, "%s: ", file);
    vfprintf(stderr, format, arguments);
    fprintf(stderr, "; a case is {\"scale\": s, \"q\": [...], \"k\": [[...], ...], \"v\": [[...], "
                    "...]}, and may have \"position\": p, \"positions\": [...], \"biases\": "
                    "[...]\n");
    va_end(arguments);
    return -1;
}

static const char *source_of(const char *name) {
    return strcmp(name, "-") == 0 ? "<stdin>" : name;
}

static const char *plural(size_t n) {
    return n == 1 ? "" : "s";
}

/* d numbers of an array, as many as `like` has; `name` and, unless it is -1, `j` say where it
 * stands. */
static int read_numbers(const char *file, const json_t *array, const char *name, int j, int d,
                        const char *like, double *to) {
    char place[48];
    snprintf(place, sizeof place, j < 0 ? "%s" : "%s[%d]", name, j);
    if (!json_is_array(array)) {
        return refuse(file, "%s is not an array of numbers", place);
    }
    if (json_array_size(array) != (size_t)d) {
        return refuse(file, "%s has %zu number%s, but %s has %d", place, json_array_size(array),
                      plural(json_array_size(array)), like, d);
    }
    for (int x = 0; x < d; x++) {
        const json_t *number = json_array_get(array, (size_t)x);
        if (!json_is_number(number)) {
            return refuse(file, "%s[%d] is not a number", place, x);
        }
        to[x] = json_number_value(number);
    }
    return 0;
}

static int read_rows(const char *file, const json_t *rows, const char *name, int n, int d,
                     const char *like, double *to) {
    for (int j = 0; j < n; j++) {
        if (read_numbers(file, json_array_get(rows, (size_t)j), name, j, d, like,
                         to + (ptrdiff_t)j * d) != 0) {
            return -1;
        }
    }
    return 0;
}

/* A key that is misspelt would be left out without a word. */
static int check_keys(const char *file, json_t *object) {
    static const char *const known[] = {"scale", "q", "k", "v", "position", "positions", "biases"};
    const char *key;
    json_t *value;
    json_object_foreach(object, key, value) {
        int found = 0;
        char shown[40];
        for (int name = 0; name < (int)(sizeof known / sizeof known[0]); name++) {
            found |= strcmp(key, known[name]) == 0;
        }
        snprintf(shown, sizeof shown, "%s", key);
        if (!found) {
            return refuse(file,
                          "the key \"%s\" is unknown; the keys are scale, q, k, v, position, "
                          "positions and biases",
                          printable(shown));
        }
    }
    return 0;
}

static int is_position(const json_t *number) {
    json_int_t most = BOUND_MOST_POSITION;
    return json_is_integer(number) && json_integer_value(number) >= -most &&
           json_integer_value(number) <= most;
}

/* Where the keys and the row stand. */
static int read_positions(struct bound_row *row, const char *file, const json_t *object) {
    const json_t *all = json_object_get(object, "positions");
    const json_t *at = json_object_get(object, "position");
    if (all != NULL && (!json_is_array(all) || json_array_size(all) != (size_t)row->n)) {
        return refuse(file, "positions is not an array of %d whole number%s, one for each row of k",
                      row->n, plural((size_t)row->n));
    }
    for (int j = 0; j < row->n && all != NULL; j++) {
        const json_t *number = json_array_get(all, (size_t)j);
        if (!is_position(number)) {
            return refuse(file, "positions[%d] is not a whole number from %d to %d", j,
                          -BOUND_MOST_POSITION, BOUND_MOST_POSITION);
        }
        row->position[j] = (double)json_integer_value(number);
        row->at = j == 0 ? row->position[0] : fmax(row->at, row->position[j]);
    }
    if (at != NULL && !is_position(at)) {
        return refuse(file, "position is not a whole number from %d to %d", -BOUND_MOST_POSITION,
                      BOUND_MOST_POSITION);
    }
    row->at = at != NULL ? (double)json_integer_value(at) : row->at;
    row->has_positions = all != NULL || at != NULL;
    return 0;
}

static int read_biases(struct bound_row *row, const char *file, const json_t *object) {
    const json_t *biases = json_object_get(object, "biases");
    row->has_biases = biases != NULL;
    return biases == NULL ? 0 : read_numbers(file, biases, "biases", -1, row->n, "k", row->bias);
}

static int read_case(struct bound_row *row, const char *file, json_t *object) {
    const json_t *q = json_object_get(object, "q"), *scale = json_object_get(object, "scale");
    const json_t *k = json_object_get(object, "k"), *v = json_object_get(object, "v");
    const json_t *first = json_array_get(v, 0);
    if (!json_is_object(object)) {
        return refuse(file, "it is not a JSON object");
    }
    if (check_keys(file, object) != 0) {
        return -1;
    }
    if (!json_is_array(q) || json_array_size(q) < 1 || json_array_size(q) > BOUND_MOST_DIM) {
        return refuse(file, "q is not an array of 1 to %d numbers", BOUND_MOST_DIM);
    }
    if (!json_is_array(k) || !json_is_array(v) || json_array_size(k) != json_array_size(v)) {
        return refuse(file, "k and v are not arrays with the same number of rows");
    }
    if (json_array_size(k) > BOUND_MOST_KEYS) {
        return refuse(file, "k has %zu rows, more than %d", json_array_size(k), BOUND_MOST_KEYS);
    }
    if (scale != NULL && !json_is_number(scale)) {
        return refuse(file, "scale is not a number");
    }
    if (json_array_size(v) > 0 &&
        (json_array_size(first) < 1 || json_array_size(first) > BOUND_MOST_DIM)) {
        return refuse(file, "v[0] is not an array of 1 to %d numbers", BOUND_MOST_DIM);
    }
    int d = (int)json_array_size(q), d_v = json_array_size(v) > 0 ? (int)json_array_size(first) : d;
    if (bound_row_new(row, (int)json_array_size(k), d, d_v) != 0) {
        fputs("chunkproof bound: not enough memory for this case\n", stderr);
        return -1;
    }
    row->scale = scale == NULL ? row->scale : json_number_value(scale);
    return read_numbers(file, q, "q", -1, d, "q", row->q) != 0 ||
                   read_rows(file, k, "k", row->n, d, "q", row->k) != 0 ||
                   read_rows(file, v, "v", row->n, d_v, "v[0]", row->v) != 0 ||
                   read_positions(row, file, object) != 0 || read_biases(row, file, object) != 0
               ? -1
               : 0;
}

/* What the JSON reader reads from. */
struct source {
    FILE *file;
    int error; /* that of the system; 0: none */
    int blank; /* nothing but spaces until now */
};

static size_t read_some(void *buffer, size_t size, void *data) {
    struct source *source = data;
    errno = 0;
    size_t length = fread(buffer, 1, size, source->file);
    if (ferror(source->file)) {
        source->error = errno != 0 ? errno : EIO;
        return (size_t)-1;
    }
    for (size_t i = 0; i < length && source->blank; i++) {
        source->blank = strchr(" \t\r\n", ((const char *)buffer)[i]) != NULL;
    }
    return length;
}

static json_t *read_json(FILE *in, const char *name) {
    json_error_t error;
    struct source source = {in, 0, 1};
    json_t *object = json_load_callback(read_some, &source, JSON_REJECT_DUPLICATES, &error);
    if (source.error != 0) {
        fprintf(stderr, "%s: cannot be read: %s\n", name, strerror(source.error));
        json_decref(object);
        return NULL;
    }
    if (object == NULL && source.blank) {
        fprintf(stderr, "%s: the file is empty\n", name);
    } else if (object == NULL) {
        fprintf(stderr, "%s:%d:%d: %s\n", name, error.line, error.column, printable(error.text));
    }
    return object;
}

int bound_case_load(struct bound_row *row, const char *name) {
    FILE *in = strcmp(name, "-") == 0 ? stdin : fopen(name, "r");
    row->q = NULL;
    if (in == NULL) {
        fprintf(stderr, "%s: cannot be opened: %s\n", name, strerror(errno));
        return -1;
    }
    json_t *object = read_json(in, source_of(name));
    if (in != stdin) {
        (void)fclose(in);
    }
    if (object == NULL) {
        return -1;
    }
    int result = read_case(row, source_of(name), object);
    json_decref(object);
    if (result != 0) {
        bound_row_free(row);
    }
    return result;
}

static int does_not_fit(const struct bound_row *row, const char *file, ptrdiff_t i, int format) {
    char place[48];
    ptrdiff_t keys = (ptrdiff_t)row->n * row->d, at = i - row->d;
    if (at < 0) {
        snprintf(place, sizeof place, "q[%td]", i);
    } else {
        int d = at < keys ? row->d : row->d_v;
        ptrdiff_t in = at < keys ? at : at - keys;
        snprintf(place, sizeof place, "%c[%td][%td]", at < keys ? 'k' : 'v', in / d, in % d);
    }
    fprintf(stderr,
            "%s: %s = %.8g does not fit in %s (largest %.8g); leave out --input, or give a format "
            "with more range\n",
            source_of(file), place, row->q[i], bound_format_name(format),
            bound_format(format).largest);
    return -1;
}

int bound_case_round(struct bound_row *row, const char *name, int format) {
    /* K and V lie behind q */
    ptrdiff_t numbers = row->d + (ptrdiff_t)row->n * (row->d + row->d_v);
    for (ptrdiff_t i = 0; i < numbers; i++) {
        double rounded = bound_round(format, row->q[i]);
        if (!isfinite(rounded)) {
            return does_not_fit(row, name, i, format);
        }
        row->q[i] = rounded;
    }
    return 0;
}

/* ---- To a file ---- */

static void write_numbers(FILE *file, const double *numbers, int d) {
    fputs("[", file);
    for (int x = 0; x < d; x++) {
        fputs(x == 0 ? "" : ", ", file);
        if (numbers[x] == 0.0 && signbit(numbers[x])) {
            fputs("-0.0", file); /* -0 is an integer to a reader: it loses the sign */
        } else {
            fprintf(file, "%.17g", numbers[x]);
        }
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

static void write_row(FILE *file, const struct bound_row *row) {
    fprintf(file, "{\"scale\": %.17g,\n\"q\": ", row->scale);
    write_numbers(file, row->q, row->d);
    write_rows(file, "k", row->k, row->n, row->d);
    write_rows(file, "v", row->v, row->n, row->d_v);
    if (row->has_positions) {
        fprintf(file, ",\n\"position\": %.0f,\n\"positions\": [", row->at);
        for (int j = 0; j < row->n; j++) {
            fprintf(file, "%s%.0f", j == 0 ? "" : ", ", row->position[j]);
        }
        fputs("]", file);
    }
    if (row->has_biases) {
        fputs(",\n\"biases\": ", file);
        write_numbers(file, row->bias, row->n);
    }
    fputs("}\n", file);
}

int bound_case_save(const struct bound_row *row, const char *name) {
    struct output output;
    if (output_open(&output, name) == 0) {
        write_row(output.file, row);
        if (output_keep(&output) == 0) {
            return 0;
        }
    }
    fprintf(stderr, "%s: cannot be written%s%s\n", name, errno != 0 ? ": " : "",
            errno != 0 ? strerror(errno) : "");
    return -1;
}
