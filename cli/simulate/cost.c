/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/simulate/cost.h"

#include <jansson.h>
#include <math.h>
#include <stddef.h>
#include <string.h>

#include "cli/base/printable.h"

#define FORMAT "chunkproof cost 1"
#define MOST   1e18

/* The fields of the file that are numbers; those that are not required count 0 where they are missing. */
static const struct field {
    const char *name;
    size_t offset;
    double least;
    int required;
} fields[] = {
    {"fixed_us", offsetof(struct simulate_cost, fixed_us), 0.0, 1},
    {"sequence_us", offsetof(struct simulate_cost, sequence_us), 0.0, 0},
    {"prefill_token_us", offsetof(struct simulate_cost, prefill_token_us), 0.0, 0},
    {"kv_bytes_per_second", offsetof(struct simulate_cost, bytes_per_second), 1.0, 0},
    {"attention_flops_per_second", offsetof(struct simulate_cost, flops_per_second), 1.0, 0},
};
enum { FIELDS = sizeof fields / sizeof fields[0] };

static double *value_of(struct simulate_cost *cost, const struct field *field) {
    void *at = (char *)cost + field->offset;
    return at;
}

/* 80 % of 2039 GB/s and 60 % of 312 TFLOP/s; 6.74e9 parameters of 2 bytes, 2 FLOPs each. */
struct simulate_cost simulate_cost_example(void) {
    struct simulate_cost cost = {.fixed_us = 8260.0, /* 13.48 GB at 1.632 TB/s */
                                 .sequence_us = 0.0, /* below the ridge: behind that reading */
                                 .prefill_token_us = 72.0, /* 13.48 GFLOP at 187.2 TFLOP/s */
                                 .bytes_per_second = 1.632e12,
                                 .flops_per_second = 1.872e14};
    return cost;
}

static const struct field *find_field(const char *name) {
    for (int i = 0; i < FIELDS; i++) {
        if (strcmp(fields[i].name, name) == 0) {
            return &fields[i];
        }
    }
    return NULL;
}

static int refuse(const char *file, const char *name, const char *what) {
    char quoted[64];
    snprintf(quoted, sizeof quoted, "%s", name);
    fprintf(stderr, "%s: \"%s\" %s\n", file, printable(quoted), what);
    return -1;
}

static int read_field(struct simulate_cost *cost, const char *file, const char *name,
                      const json_t *value) {
    const struct field *field = find_field(name);
    if (strcmp(name, "format") == 0) {
        int right = json_is_string(value) && strcmp(json_string_value(value), FORMAT) == 0;
        return right ? 0 : refuse(file, name, "must be \"" FORMAT "\"");
    }
    if (strcmp(name, "note") == 0) {
        return json_is_string(value) ? 0 : refuse(file, name, "must be a string");
    }
    if (field == NULL) {
        return refuse(file, name,
                      "is unknown; `chunkproof simulate --print-cost` prints all fields");
    }
    double number = json_is_number(value) ? json_number_value(value) : -1.0;
    if (!(number >= field->least && number <= MOST)) {
        return refuse(file, name,
                      field->least > 0.0 ? "must be a number from 1 to 1e18"
                                         : "must be a number from 0 to 1e18");
    }
    *value_of(cost, field) = number;
    return 0;
}

static int read_object(struct simulate_cost *cost, const char *file, json_t *object) {
    const char *name;
    json_t *value;
    if (!json_is_object(object)) {
        fprintf(stderr, "%s: must be one JSON object\n", file);
        return -1;
    }
    if (json_object_get(object, "format") == NULL) {
        return refuse(file, "format", "is missing");
    }
    for (int i = 0; i < FIELDS; i++) {
        if (fields[i].required && json_object_get(object, fields[i].name) == NULL) {
            return refuse(file, fields[i].name, "is missing");
        }
    }
    json_object_foreach(object, name, value) {
        if (read_field(cost, file, name, value) != 0) {
            return -1;
        }
    }
    return 0;
}

int simulate_cost_load(struct simulate_cost *cost, const char *file) {
    json_error_t fault;
    json_t *object = json_load_file(file, JSON_REJECT_DUPLICATES, &fault);
    memset(cost, 0, sizeof *cost);
    if (object == NULL) {
        fprintf(stderr, "%s:%d:%d: %s\n", file, fault.line > 0 ? fault.line : 0,
                fault.column > 0 ? fault.column : 0, printable(fault.text));
        return -1;
    }
    int result = read_object(cost, file, object);
    json_decref(object);
    return result;
}

void simulate_cost_print(const struct simulate_cost *cost, FILE *out) {
    struct simulate_cost copy = *cost;
    fputs("{\n  \"format\": \"" FORMAT "\"", out);
    for (int i = 0; i < FIELDS; i++) {
        double number = *value_of(&copy, &fields[i]);
        if (number >= fields[i].least) { /* what costs nothing is left out */
            fprintf(out, ",\n  \"%s\": %.17g", fields[i].name, number);
        }
    }
    fputs("\n}\n", out);
}

long long simulate_duration(const struct simulate_cost *cost, const struct cp_dims *model,
                            const struct simulate_work *work) {
    double us = cost->fixed_us + cost->sequence_us * work->decoding +
                cost->prefill_token_us * (double)work->prefill_tokens;
    double bytes = cp_kv_bytes(model) * (double)work->stored_tokens;
    double flops = 4.0 * model->layers * model->heads * model->head_dim * work->pairs; /* MODEL-3 */
    double seconds = cost->bytes_per_second > 0.0 ? bytes / cost->bytes_per_second : 0.0;
    seconds += cost->flops_per_second > 0.0 ? flops / cost->flops_per_second : 0.0;
    double ns = us * 1e3 + seconds * 1e9;
    return ns < 1.0 ? 1 : ns < (double)SIMULATE_END ? llround(ns) : SIMULATE_END;
}
