/* SPDX-License-Identifier: Apache-2.0 */
#include "gate/search/json_cases.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/base/output.h"
#include "cli/base/printable.h"

/* ---- Members ---- */

void gate_fields_say_where(const struct gate_fields *in) {
    fprintf(stderr, "chunkproof %s: %s", in->command, in->file);
    if (in->line > 0) {
        fprintf(stderr, ":%d", in->line);
    }
    fputs(": ", stderr);
}

void gate_fields_refuse(struct gate_fields *in, const char *name, const char *what) {
    if (!in->failed) {
        gate_fields_say_where(in);
        fprintf(stderr, "recipe.%s must be %s\n", name, what);
    }
    in->failed = 1;
}

int gate_fields_number(struct gate_fields *in, const char *name, int least, int most) {
    const json_t *value = json_object_get(in->recipe, name);
    json_int_t x = json_integer_value(value);
    if (!json_is_integer(value) || x < least || x > most) {
        char what[80];
        (void)snprintf(what, sizeof what, "a whole number from %d to %d", least, most);
        gate_fields_refuse(in, name, what);
        return least;
    }
    return (int)x;
}

int gate_fields_size(struct gate_fields *in, const char *name, int most) {
    return json_object_get(in->recipe, name) == NULL ? 0 : gate_fields_number(in, name, 1, most);
}

int gate_fields_is(const struct gate_fields *in, const char *name) {
    return json_is_true(json_object_get(in->recipe, name));
}

int gate_fields_word(const char *text, const char *const *names) {
    for (int i = 0; text != NULL && names[i] != NULL; i++) {
        if (strcmp(text, names[i]) == 0) {
            return i;
        }
    }
    return -1;
}

int gate_fields_name(struct gate_fields *in, const char *name, const char *const *names) {
    int i = gate_fields_word(json_string_value(json_object_get(in->recipe, name)), names);
    if (i < 0) {
        char what[200] = "one of";
        for (int n = 0; names[n] != NULL; n++) {
            size_t end = strlen(what);
            (void)snprintf(what + end, sizeof what - end, " %s", names[n]);
        }
        gate_fields_refuse(in, name, what);
    }
    return i < 0 ? 0 : i;
}

static int read_seed(const char *text, unsigned long long *seed) {
    size_t digits = strspn(text, "0123456789");
    errno = 0;
    *seed = strtoull(text, NULL, 10);
    return digits == 0 || text[digits] != '\0' || errno != 0 ? -1 : 0;
}

unsigned long long gate_fields_seed(struct gate_fields *in) {
    const char *text = json_string_value(json_object_get(in->recipe, "seed"));
    unsigned long long seed = 0;
    if (text == NULL || read_seed(text, &seed) != 0) {
        gate_fields_refuse(in, "seed", "a string of digits, below 2^64");
    }
    return seed;
}

/* ---- Files ---- */

#define MOST_BYTES ((size_t)1 << 26) /* of a file: a hundred thousand cases */

/* All that is left of a file: bytes that the caller frees, and how many; NULL after an error. */
static char *read_bytes(FILE *file, size_t *size) {
    char *bytes = NULL;
    size_t room = 0, n = 0;
    while (n == room && room <= MOST_BYTES) {
        room = room == 0 ? 4096 : 2 * room;
        char *more = realloc(bytes, room);
        if (more == NULL) {
            free(bytes);
            return NULL;
        }
        bytes = more;
        n += fread(bytes + n, 1, room - n, file);
    }
    if (ferror(file) || n > MOST_BYTES) {
        errno = ferror(file) ? errno : EFBIG;
        free(bytes);
        return NULL;
    }
    *size = n;
    return bytes;
}

/* The same of a name, after saying what is wrong. */
static char *read_file(const char *name, const char *command, size_t *size) {
    FILE *file = fopen(name, "rb");
    char *bytes = file == NULL ? NULL : read_bytes(file, size);
    if (bytes == NULL) {
        fprintf(stderr, "chunkproof %s: unable to open %s: %s\n", command, name, strerror(errno));
    }
    if (file != NULL) {
        (void)fclose(file);
    }
    return bytes;
}

/* Where a file is read: the next byte, and the line that it is on. */
struct place {
    const char *at, *end;
    int line;
};

static void go_on(struct place *place, size_t n) {
    for (const char *end = place->at + n; place->at < end; place->at++) {
        place->line += *place->at == '\n';
    }
}

static void skip_space(struct place *place) {
    while (place->at < place->end && strchr(" \t\r\n", *place->at) != NULL && *place->at != '\0') {
        go_on(place, 1);
    }
}

/* The value at a place, which the caller releases, and goes on to the next; NULL after saying
 * what is wrong. The first one of a file may be its only one. */
static json_t *next_value(struct place *place, const char *file, const char *command, int first,
                          int *line) {
    json_error_t error;
    int begins = place->line;
    json_t *json = json_loadb(place->at, (size_t)(place->end - place->at),
                              JSON_REJECT_DUPLICATES | JSON_DISABLE_EOF_CHECK, &error);
    if (json == NULL) {
        fprintf(stderr, "chunkproof %s: %s:%d:%d: %s\n", command, file, begins + error.line - 1,
                error.column, printable(error.text));
        return NULL;
    }
    go_on(place, (size_t)error.position);
    skip_space(place);
    *line = first && place->at == place->end ? 0 : begins;
    return json;
}

int gate_json_read(const char *file, const char *command, gate_json_taker *take, void *context) {
    size_t size = 0;
    char *bytes = read_file(file, command, &size);
    int n = 0, result = 0;
    if (bytes == NULL) {
        return -1;
    }
    struct place place = {bytes, bytes + size, 1};
    skip_space(&place);
    if (place.at == place.end) {
        fprintf(stderr, "chunkproof %s: %s: there is no case in it\n", command, file);
        result = -1;
    }
    while (result == 0 && place.at < place.end) {
        struct gate_fields in = {.file = file, .command = command};
        json_t *json = next_value(&place, file, command, n == 0, &in.line);
        result = json == NULL ? -1 : take(context, &in, json);
        json_decref(json);
        n++;
    }
    free(bytes);
    return result != 0 ? -1 : n;
}

void *gate_json_room(void *all, size_t size, int n) {
    int is_full = (n & (n - 1)) == 0; /* the room is a power of two */
    void *room = is_full ? realloc(all, (size_t)(n == 0 ? 1 : 2 * n) * size) : all;
    if (room == NULL) {
        fputs("chunkproof: no memory for the cases\n", stderr);
        return NULL;
    }
    memset((char *)room + (size_t)n * size, 0, size);
    return room;
}

int gate_json_write(const json_t *json, const char *file) {
    struct output output;
    errno = 0;
    int result = json == NULL || output_open(&output, file) != 0 ? -1 : 0;
    if (result == 0) {
        errno = 0;
        result = json_dumpf(json, output.file, JSON_INDENT(2));
        if (result == 0) {
            result = output_keep(&output);
        } else {
            output_drop(&output);
        }
    }
    if (result != 0) {
        fprintf(stderr, "chunkproof: %s: the case could not be written: %s\n", file,
                errno != 0 ? strerror(errno) : "not enough memory");
    }
    return result;
}
