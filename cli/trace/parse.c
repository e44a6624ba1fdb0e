/* SPDX-License-Identifier: Apache-2.0 */
#define _POSIX_C_SOURCE 200809L /* getline */

#include "cli/trace/parse.h"

#include <errno.h>
#include <jansson.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "chunkproof/limits.h"
#include "cli/base/printable.h"
#include "cli/trace/column.h"
#include "cli/trace/map.h"

/* Timestamps stay exact in every JSON reader, and arithmetic with them cannot overflow. */
#define MAX_TIMESTAMP (1LL << 53)

struct parser {
    struct trace *trace;
    struct trace_error *error;
    struct trace_map ids; /* id in the file -> dense number */
    int *block;           /* of the line at hand; CP_MAX_DEPTH of them */
    long long latest;     /* arrival of the request before */
    const char *line;
    size_t length;
};

/* Reports the fault at a field of the line at hand, or at one element of it. Returns -1. */
__attribute__((format(printf, 4, 5))) static int refuse(struct parser *parser, const char *field,
                                                        long index, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(parser->error->text, sizeof parser->error->text, format, arguments);
    va_end(arguments);
    parser->error->column = trace_column(parser->line, parser->length, field, index);
    return -1;
}

static int no_memory(struct parser *parser) {
    parser->error->line = 0;
    snprintf(parser->error->text, sizeof parser->error->text, "not enough memory to read it");
    return -1;
}

static const char *type_name(const json_t *value) {
    static const char *const name[] = {
        [JSON_OBJECT] = "an object",   [JSON_ARRAY] = "an array",     [JSON_STRING] = "a string",
        [JSON_INTEGER] = "an integer", [JSON_REAL] = "a real number", [JSON_TRUE] = "true",
        [JSON_FALSE] = "false",        [JSON_NULL] = "null"};
    return name[json_typeof(value)];
}

/* The value of a field that is an integer from 0 to `most`, or -1. */
static long long read_integer(struct parser *parser, const json_t *object, const char *field,
                              long long most) {
    const json_t *value = json_object_get(object, field);
    if (value == NULL) {
        return refuse(parser, field, -1, "the field \"%s\" is missing", field);
    }
    if (!json_is_integer(value)) {
        return refuse(parser, field, -1, "\"%s\" must be an integer, not %s", field,
                      type_name(value));
    }
    long long number = json_integer_value(value);
    if (number < 0) {
        return refuse(parser, field, -1, "\"%s\" is %lld; it must not be negative", field, number);
    }
    if (number > most) {
        return refuse(parser, field, -1, "\"%s\" is %lld; at most %lld is supported", field, number,
                      most);
    }
    return number;
}

/* The dense number of an id of the file, or -1. */
static int number_id(struct parser *parser, long long id, long index) {
    int number = trace_map_get(&parser->ids, (unsigned long long)id, 0, -1);
    if (number >= 0) {
        return number;
    }
    number = trace_new_id(parser->trace);
    if (number < 0) {
        return refuse(parser, "hash_ids", index,
                      "more than %d distinct blocks of %d tokens: an int cannot number more tokens",
                      parser->trace->max_ids, parser->trace->block_size);
    }
    if (trace_map_add(&parser->ids, (unsigned long long)id, 0, number) != 0) {
        return no_memory(parser);
    }
    return number;
}

static int read_blocks(struct parser *parser, const json_t *object, int input_length) {
    const json_t *ids = json_object_get(object, "hash_ids");
    int size = parser->trace->block_size;
    int n_blocks = input_length / size + (input_length % size > 0);
    if (ids == NULL) {
        return refuse(parser, "hash_ids", -1, "the field \"hash_ids\" is missing");
    }
    if (!json_is_array(ids)) {
        return refuse(parser, "hash_ids", -1, "\"hash_ids\" must be an array, not %s",
                      type_name(ids));
    }
    if (json_array_size(ids) != (size_t)n_blocks) {
        return refuse(parser, "hash_ids", -1,
                      "\"hash_ids\" has %zu ids, but %d tokens are %d blocks of %d tokens (--block "
                      "sets the size)",
                      json_array_size(ids), input_length, n_blocks, size);
    }
    for (int k = 0; k < n_blocks; k++) {
        const json_t *id = json_array_get(ids, (size_t)k);
        if (!json_is_integer(id)) {
            return refuse(parser, "hash_ids", k, "a block id must be an integer, not %s",
                          type_name(id));
        }
        if (json_integer_value(id) < 0) {
            return refuse(parser, "hash_ids", k, "block id %lld must not be negative",
                          (long long)json_integer_value(id));
        }
        parser->block[k] = number_id(parser, json_integer_value(id), k);
        if (parser->block[k] < 0) {
            return -1;
        }
    }
    return 0;
}

static int read_request(struct parser *parser, const json_t *object) {
    int most = trace_max_length(parser->trace);
    if (!json_is_object(object)) {
        return refuse(parser, "", -1, "a line must be one JSON object, not %s", type_name(object));
    }
    long long arrival = read_integer(parser, object, "timestamp", MAX_TIMESTAMP);
    if (arrival < 0) {
        return -1;
    }
    if (arrival < parser->latest) {
        return refuse(parser, "timestamp", -1, "time goes back: %lld after %lld", arrival,
                      parser->latest);
    }
    int input_length = (int)read_integer(parser, object, "input_length", most);
    if (input_length < 0) {
        return -1;
    }
    int output_length = (int)read_integer(parser, object, "output_length", most);
    if (output_length < 0) {
        return -1;
    }
    if (output_length > most - input_length) {
        return refuse(parser, "output_length", -1,
                      "prompt and completion have %d tokens, but a path holds %d (%d chunks of %d)",
                      input_length + output_length, most, CP_MAX_DEPTH, parser->trace->block_size);
    }
    if (read_blocks(parser, object, input_length) != 0) {
        return -1;
    }
    parser->latest = arrival;
    switch (trace_add(parser->trace, arrival, input_length, output_length, parser->block)) {
    case TRACE_OK:
        return 0;
    case TRACE_TOO_MANY_OUTPUTS:
        return refuse(parser, "output_length", -1,
                      "more than %lld completion tokens in all: an int cannot number more tokens",
                      parser->trace->max_outputs);
    default:
        return no_memory(parser);
    }
}

/* A fault of the syntax, with what the JSON reader says, which may quote the input. */
static int refuse_syntax(struct parser *parser, const json_error_t *fault) {
    parser->error->column = fault->column > 0 ? fault->column : 1;
    snprintf(parser->error->text, sizeof parser->error->text, "not JSON: %s", fault->text);
    (void)printable(parser->error->text);
    return -1;
}

static int read_line(struct parser *parser) {
    json_error_t fault;
    if (strncmp(parser->line, "\xEF\xBB\xBF", 3) == 0) {
        parser->error->column = 1;
        snprintf(parser->error->text, sizeof parser->error->text,
                 "a byte order mark (EF BB BF); save the file as UTF-8 without one");
        return -1;
    }
    if (strspn(parser->line, " \t\r") == parser->length) {
        parser->error->column = 1;
        snprintf(parser->error->text, sizeof parser->error->text,
                 "a blank line; each line must be one JSON object");
        return -1;
    }
    json_t *object =
        json_loadb(parser->line, parser->length, JSON_REJECT_DUPLICATES | JSON_DECODE_ANY, &fault);
    if (object == NULL) {
        return refuse_syntax(parser, &fault);
    }
    int result = read_request(parser, object);
    json_decref(object);
    return result;
}

static int read_lines(struct parser *parser, FILE *file) {
    char *line = NULL;
    size_t room = 0;
    ssize_t length;
    int result = 0;
    errno = 0;
    while (result == 0 && (length = getline(&line, &room, file)) >= 0) {
        parser->error->line++;
        parser->line = line;
        parser->length = (size_t)length - (line[length - 1] == '\n');
        line[parser->length] = 0;
        result = read_line(parser);
    }
    if (result == 0 && !feof(file)) {
        parser->error->line = 0;
        snprintf(parser->error->text, sizeof parser->error->text, "cannot be read: %s",
                 strerror(errno));
        result = -1;
    }
    free(line);
    return result;
}

int trace_parse(struct trace *trace, FILE *file, struct trace_error *error) {
    struct parser parser = {.trace = trace, .error = error};
    memset(error, 0, sizeof *error);
    parser.block = malloc(CP_MAX_DEPTH * sizeof *parser.block);
    int result = parser.block == NULL ? no_memory(&parser) : read_lines(&parser, file);
    if (result == 0 && trace->n_requests == 0) {
        error->line = 0;
        snprintf(error->text, sizeof error->text, "no request: the file is empty");
        result = -1;
    }
    free(parser.block);
    trace_map_free(&parser.ids);
    return result;
}
