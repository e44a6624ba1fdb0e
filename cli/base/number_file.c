/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/base/number_file.h"

#include <jansson.h>
#include <string.h>

#include "cli/base/printable.h"

static int refuse(const char *file, const char *name, const char *what, const char *more) {
    char quoted[64];
    snprintf(quoted, sizeof quoted, "%s", name);
    fprintf(stderr, "%s: \"%s\" %s%s\n", file, printable(quoted), what, more);
    return -1;
}

static int read_format(const struct number_file *kind, const char *file, const json_t *value) {
    if (value == NULL) {
        return refuse(file, "format", "is missing", "");
    }
    if (json_is_string(value) && strcmp(json_string_value(value), kind->format) == 0) {
        return 0;
    }
    char right[64];
    snprintf(right, sizeof right, "\"%s\"", kind->format);
    return refuse(file, "format", "must be ", right);
}

static int read_number(const struct number_file *kind, const char *file, const char *name,
                       const json_t *value, char *numbers) {
    for (int i = 0; i < kind->n_fields; i++) {
        const struct number_field *field = &kind->field[i];
        if (strcmp(field->name, name) == 0) {
            double number = json_is_number(value) ? json_number_value(value) : -1.0;
            if (!(number >= field->least && number <= NUMBER_FILE_MOST)) {
                return refuse(file, name, "must be a number from ",
                              field->least > 0.0 ? "1 to 1e18" : "0 to 1e18");
            }
            memcpy(numbers + field->offset, &number, sizeof number);
            return 0;
        }
    }
    char command[128];
    snprintf(command, sizeof command, "`%s` prints all fields", kind->prints);
    return refuse(file, name, "is unknown; ", command);
}

static int read_member(const struct number_file *kind, const char *file, const char *name,
                       const json_t *value, char *numbers) {
    if (strcmp(name, "format") == 0) {
        return 0; /* it was read first */
    }
    if (strcmp(name, "note") == 0) {
        return json_is_string(value) ? 0 : refuse(file, name, "must be a string", "");
    }
    return read_number(kind, file, name, value, numbers);
}

static int read_object(const struct number_file *kind, const char *file, json_t *object,
                       char *numbers) {
    const char *name;
    json_t *value;
    if (!json_is_object(object)) {
        fprintf(stderr, "%s: must be one JSON object\n", file);
        return -1;
    }
    if (read_format(kind, file, json_object_get(object, "format")) != 0) {
        return -1;
    }
    for (int i = 0; i < kind->n_fields; i++) {
        const char *required = kind->field[i].name;
        if (kind->field[i].is_required && json_object_get(object, required) == NULL) {
            return refuse(file, required, "is missing", "");
        }
    }
    json_object_foreach(object, name, value) {
        if (read_member(kind, file, name, value, numbers) != 0) {
            return -1;
        }
    }
    return 0;
}

int number_file_load(const struct number_file *kind, const char *file, void *numbers, size_t size) {
    json_error_t fault;
    json_t *object = json_load_file(file, JSON_REJECT_DUPLICATES, &fault);
    memset(numbers, 0, size);
    if (object == NULL) {
        fprintf(stderr, "%s:%d:%d: %s\n", file, fault.line > 0 ? fault.line : 0,
                fault.column > 0 ? fault.column : 0, printable(fault.text));
        return -1;
    }
    int result = read_object(kind, file, object, numbers);
    json_decref(object);
    return result;
}

void number_file_print(const struct number_file *kind, const void *numbers, FILE *out) {
    fprintf(out, "{\n  \"format\": \"%s\"", kind->format);
    for (int i = 0; i < kind->n_fields; i++) {
        const struct number_field *field = &kind->field[i];
        double number;
        memcpy(&number, (const char *)numbers + field->offset, sizeof number);
        if (number >= field->least) { /* what costs nothing is left out */
            fprintf(out, ",\n  \"%s\": %.17g", field->name, number);
        }
    }
    fputs("\n}\n", out);
}
