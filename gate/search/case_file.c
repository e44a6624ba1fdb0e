/* SPDX-License-Identifier: Apache-2.0 */
/* A case as a file: everything that is needed to make the case again, and what was found with
 * which kernel. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "chunkproof/limits.h"
#include "chunkproof/tolerance.h"
#include "chunkproof/version.h"
#include "cli/base/clean.h"
#include "cli/base/output.h"
#include "cli/base/printable.h"
#include "gate/case/prompts.h"
#include "gate/search/case_file.h"

#define FORMAT "chunkproof case 1"

static const char *const op_names[GATE_OPS + 1] = {"join", "append", "leave",
                                                   "fork", "prompt", NULL};
static const char *const queries_names[GATE_QUERIES + 1] = {"decode", "several", "more", "many",
                                                            NULL};
static const char *const padding_names[GATE_PADDINGS + 1] = {"nan", "huge", "stale", NULL};

/* Adds a size of a server; one that is 0 is left out, as in files of before there were such sizes.
 * NULL: no memory. */
static json_t *with_size(json_t *json, const char *name, int size) {
    if (json != NULL && size > 0 && json_object_set_new(json, name, json_integer(size)) != 0) {
        json_decref(json);
        return NULL;
    }
    return json;
}

/* The modules, which a recipe of a tree leaves out. NULL: no memory. */
static json_t *with_modules(json_t *json, const struct gate_recipe *r) {
    json_t *modules = json_array();
    for (int i = 0; i < r->n_modules; i++) {
        const struct gate_module *module = &r->module[i];
        json_t *pair = json_pack("[i,i]", module->tokens, module->position);
        if (module->alike) {
            json_array_append_new(pair, json_true());
        }
        json_array_append_new(modules, pair);
    }
    if (json == NULL || r->n_modules == 0) {
        json_decref(modules);
        return json;
    }
    if (json_object_set_new(json, "modules", modules) != 0) {
        json_decref(json);
        return NULL;
    }
    return json;
}

json_t *gate_recipe_json(const struct gate_recipe *r) {
    char seed[32]; /* a number in JSON cannot hold 64 bits without a sign */
    json_t *ops = json_array();
    (void)snprintf(seed, sizeof seed, "%llu", r->seed);
    for (int i = 0; i < r->n_ops; i++) {
        const struct gate_op *op = &r->op[i];
        json_array_append_new(
            ops, json_pack("[s,i,i,i]", op_names[op->kind], op->sequence, op->tokens, op->own));
    }
    json_t *json = json_pack("{s:s,s:i,s:i,s:i,s:i,s:i,s:b,s:b,s:s,s:i,s:s,s:s,s:o}", "values",
                             gate_values_names[r->values], "n_heads", r->n_heads, "n_kv_heads",
                             r->n_kv_heads, "head_dim", r->head_dim, "chunk_size", r->chunk_size,
                             "scale_percent", r->scale, "without_lse", r->without_lse, "renewed",
                             r->renewed, "queries", queries_names[r->queries], "layout", r->layout,
                             "padding", padding_names[r->padding], "seed", seed, "operations", ops);
    json = with_size(with_size(json, "sequences", r->sequences), "rows", r->rows);
    json = with_size(with_size(json, "pool", r->pool), "rotary", r->rotary);
    json = with_size(with_size(json, "never", r->never), "window", r->window);
    json = with_size(with_size(json, "ahead", r->ahead), "kept", r->kept);
    json = with_size(with_size(json, "cap", r->cap), "slopes", r->slopes);
    json = with_size(with_size(json, "sinks", r->sinks), "page", r->page);
    json = with_size(with_size(json, "bits", r->bits), "value_dim", r->value_dim);
    return with_modules(json, r);
}

/* 0, or -1: errno says why not, or is 0. */
static int write_json(const json_t *json, const char *file) {
    struct output output;
    if (output_open(&output, file) != 0) {
        return -1;
    }
    errno = 0;
    if (json_dumpf(json, output.file, JSON_INDENT(2)) != 0) {
        output_drop(&output);
        return -1;
    }
    return output_keep(&output);
}

int gate_case_save(const char *file, const struct gate_found *found,
                   const struct cp_kernel *kernel) {
    char *name = text_clean(kernel->name);
    json_t *json =
        json_pack("{s:s,s:s,s:s,s:s,s:s,s:s,s:o}", "format", FORMAT, "chunkproof", cp_version(),
                  "kernel", name, "verdict", gate_verdict_names[found->finding.verdict], "clause",
                  found->finding.clause, "text", found->finding.text, "recipe",
                  gate_recipe_json(&found->recipe));
    if (json != NULL && found->has_before &&
        json_object_set_new(json, "before", gate_recipe_json(&found->before)) != 0) {
        json_decref(json);
        json = NULL;
    }
    int result = json == NULL ? -1 : write_json(json, file);
    json_decref(json);
    free(name);
    if (result != 0) {
        fprintf(stderr, "chunkproof: %s: the case could not be written: %s\n", file,
                errno != 0 ? strerror(errno) : "not enough memory");
    }
    return result;
}

/* ---- Reading ---- */

/* What each member of the file may be. The first member that is wrong is reported. */
struct reading {
    const char *file, *command;
    int line; /* of a case that has the file to itself: 0 */
    const json_t *recipe;
    int failed;
};

static void say_where(const struct reading *r) {
    fprintf(stderr, "chunkproof %s: %s", r->command, r->file);
    if (r->line > 0) {
        fprintf(stderr, ":%d", r->line);
    }
    fputs(": ", stderr);
}

static void refuse(struct reading *r, const char *name, const char *what) {
    if (!r->failed) {
        say_where(r);
        fprintf(stderr, "recipe.%s must be %s\n", name, what);
    }
    r->failed = 1;
}

static int number(struct reading *r, const char *name, int least, int most) {
    const json_t *value = json_object_get(r->recipe, name);
    json_int_t x = json_integer_value(value);
    if (!json_is_integer(value) || x < least || x > most) {
        char what[80];
        (void)snprintf(what, sizeof what, "a whole number from %d to %d", least, most);
        refuse(r, name, what);
        return least;
    }
    return (int)x;
}

/* One that may be left out: 0. */
static int size_of(struct reading *r, const char *name, int most) {
    return json_object_get(r->recipe, name) == NULL ? 0 : number(r, name, 1, most);
}

static int word(const char *text, const char *const *names) {
    for (int i = 0; text != NULL && names[i] != NULL; i++) {
        if (strcmp(text, names[i]) == 0) {
            return i;
        }
    }
    return -1;
}

static int name_of(struct reading *r, const char *name, const char *const *names) {
    int i = word(json_string_value(json_object_get(r->recipe, name)), names);
    if (i < 0) {
        char what[200] = "one of";
        for (int n = 0; names[n] != NULL; n++) {
            size_t end = strlen(what);
            (void)snprintf(what + end, sizeof what - end, " %s", names[n]);
        }
        refuse(r, name, what);
    }
    return i < 0 ? 0 : i;
}

static void read_operation(struct reading *r, const json_t *json, struct gate_op *op) {
    int kind = word(json_string_value(json_array_get(json, 0)), op_names);
    json_int_t number[3];
    for (size_t i = 0; i < 3; i++) {
        const json_t *value = json_array_get(json, i + 1);
        number[i] = json_is_integer(value) ? json_integer_value(value) : -1;
        kind = number[i] < 0 || number[i] > CP_TOLERANCE_MOST ? -1 : kind;
    }
    if (kind < 0) {
        refuse(r, "operations",
               "a list of [\"join\", \"append\", \"leave\", \"fork\" or \"prompt\", sequence, "
               "tokens, own], with numbers from 0 to 1048576");
        return;
    }
    *op = (struct gate_op){(enum gate_op_kind)kind, (int)number[0], (int)number[1], (int)number[2]};
}

/* Whole numbers from 1, and from 0, to the most that a position may be; and true where it is the
 * text of the module before it. */
static void read_module(struct reading *r, const json_t *json, struct gate_module *module) {
    const json_t *tokens = json_array_get(json, 0), *position = json_array_get(json, 1);
    const json_t *alike = json_array_get(json, 2);
    if (!json_is_integer(tokens) || !json_is_integer(position) || json_array_size(json) > 3 ||
        (alike != NULL && !json_is_boolean(alike)) || json_integer_value(tokens) < 1 ||
        json_integer_value(tokens) > CP_MAX_POSITIONS || json_integer_value(position) < 0 ||
        json_integer_value(position) > CP_MAX_POSITIONS) {
        refuse(r, "modules",
               "a list of [tokens, position], with numbers from 1, and from 0, to 1048576, or of "
               "[tokens, position, true] for the text of the module before it");
        return;
    }
    *module = (struct gate_module){(int)json_integer_value(tokens),
                                   (int)json_integer_value(position), json_is_true(alike)};
}

static void read_modules(struct reading *in, struct gate_recipe *r) {
    const json_t *modules = json_object_get(in->recipe, "modules");
    if (modules == NULL) {
        return;
    }
    if (!json_is_array(modules) || json_array_size(modules) < 1 ||
        json_array_size(modules) > GATE_MOST_MODULES) {
        refuse(in, "modules", "a list of 1 to 8 modules");
        return;
    }
    r->n_modules = (int)json_array_size(modules);
    for (int i = 0; i < r->n_modules; i++) {
        read_module(in, json_array_get(modules, (size_t)i), &r->module[i]);
        if (!in->failed && r->module[i].alike && !gate_is_alike(r, i)) {
            refuse(in, "modules",
                   "a list where each [tokens, position, true] stands behind a "
                   "module of as many tokens");
        }
    }
}

static int read_seed(const char *text, unsigned long long *seed) {
    size_t digits = strspn(text, "0123456789");
    errno = 0;
    *seed = strtoull(text, NULL, 10);
    return digits == 0 || text[digits] != '\0' || errno != 0 ? -1 : 0;
}

static void read_recipe(struct reading *in, struct gate_recipe *r) {
    const json_t *ops = json_object_get(in->recipe, "operations");
    const char *seed = json_string_value(json_object_get(in->recipe, "seed"));
    memset(r, 0, sizeof *r);
    r->values = (enum gate_values)name_of(in, "values", gate_values_names);
    r->queries = (enum gate_queries)name_of(in, "queries", queries_names);
    r->padding = (enum gate_padding)name_of(in, "padding", padding_names);
    r->n_kv_heads = number(in, "n_kv_heads", 1, 1024);
    r->n_heads = number(in, "n_heads", 1, 1024);
    r->head_dim = number(in, "head_dim", 1, 4096);
    r->chunk_size = number(in, "chunk_size", 1, CP_MAX_CHUNK_SIZE);
    r->scale = number(in, "scale_percent", 1, 1000);
    r->without_lse = json_is_true(json_object_get(in->recipe, "without_lse"));
    r->renewed = json_is_true(json_object_get(in->recipe, "renewed"));
    r->layout = number(in, "layout", 0, GATE_LAYOUTS - 1);
    r->sequences = size_of(in, "sequences", GATE_MOST_SEQUENCES);
    r->rows = size_of(in, "rows", GATE_MOST_ROWS);
    r->pool = size_of(in, "pool", GATE_MOST_POOL);
    r->rotary = size_of(in, "rotary", 4096);
    r->never = size_of(in, "never", 15);
    r->window = size_of(in, "window", GATE_MOST_SPAN);
    r->ahead = size_of(in, "ahead", GATE_MOST_SPAN);
    r->kept = size_of(in, "kept", GATE_MOST_SPAN);
    r->cap = size_of(in, "cap", GATE_MOST_CAP);
    r->slopes = size_of(in, "slopes", GATE_SLOPES - 1);
    r->sinks = size_of(in, "sinks", 1);
    r->bits = size_of(in, "bits", GATE_BITS - 1);
    r->page = size_of(in, "page", CP_MOST_PAGE);
    r->value_dim = size_of(in, "value_dim", 4096);
    if (r->n_heads % r->n_kv_heads != 0) {
        refuse(in, "n_heads", "a multiple of n_kv_heads");
    }
    if (seed == NULL || read_seed(seed, &r->seed) != 0) {
        refuse(in, "seed", "a string of digits, below 2^64");
        return;
    }
    if (!json_is_array(ops) || json_array_size(ops) > GATE_MOST_OPS) {
        refuse(in, "operations", "a list of at most 64 operations");
        return;
    }
    read_modules(in, r);
    r->n_ops = (int)json_array_size(ops);
    for (int i = 0; i < r->n_ops; i++) {
        read_operation(in, json_array_get(ops, (size_t)i), &r->op[i]);
    }
    if (!gate_prompts_fit(r)) {
        refuse(in, "modules", "so short that no prompt has more than 1048576 tokens");
    }
}

/* ---- Files of cases ---- */

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

/* One case, whose JSON was read. */
static int read_case(struct reading *in, const json_t *json, struct gate_case *one) {
    const char *format = json_string_value(json_object_get(json, "format"));
    if (format == NULL || strcmp(format, FORMAT) != 0) {
        say_where(in);
        fprintf(stderr,
                "\"format\" must be \"%s\": is it a case that `chunkproof gate --save` wrote?\n",
                FORMAT);
        return -1;
    }
    const char *verdict = json_string_value(json_object_get(json, "verdict"));
    one->other_bits = verdict != NULL && strcmp(verdict, gate_verdict_names[GATE_OTHER_BITS]) == 0;
    in->recipe = json_object_get(json, "recipe");
    read_recipe(in, &one->recipe);
    in->recipe = json_object_get(json, "before");
    one->has_before = in->recipe != NULL;
    if (!in->failed && one->has_before) {
        read_recipe(in, &one->before);
    }
    return in->failed ? -1 : 0;
}

/* The case at a place, and goes on to the next. The first one of a file may be its only one. */
static int next_case(struct place *place, const char *file, const char *command, int first,
                     struct gate_case *one) {
    json_error_t error;
    int line = place->line;
    json_t *json = json_loadb(place->at, (size_t)(place->end - place->at),
                              JSON_REJECT_DUPLICATES | JSON_DISABLE_EOF_CHECK, &error);
    if (json == NULL) {
        fprintf(stderr, "chunkproof %s: %s:%d:%d: %s\n", command, file, line + error.line - 1,
                error.column, printable(error.text));
        return -1;
    }
    go_on(place, (size_t)error.position);
    skip_space(place);
    one->line = first && place->at == place->end ? 0 : line;
    struct reading in = {file, command, one->line, NULL, 0};
    int failed = read_case(&in, json, one);
    json_decref(json);
    return failed;
}

/* Room for one more. */
static struct gate_case *add(struct gate_case **cases, int n) {
    if ((n & (n - 1)) == 0) { /* 0, or full: the room is a power of two */
        struct gate_case *more = realloc(*cases, (size_t)(n == 0 ? 1 : 2 * n) * sizeof *more);
        if (more == NULL) {
            fputs("chunkproof: no memory for the cases\n", stderr);
            return NULL;
        }
        *cases = more;
    }
    memset(*cases + n, 0, sizeof **cases);
    return *cases + n;
}

int gate_case_load(const char *file, const char *command, struct gate_case **cases) {
    size_t size = 0;
    char *bytes = read_file(file, command, &size);
    struct place place = {bytes, bytes + size, 1};
    int n = 0, failed = bytes == NULL;
    *cases = NULL;
    if (!failed) {
        skip_space(&place);
        if (place.at == place.end) {
            fprintf(stderr, "chunkproof %s: %s: there is no case in it\n", command, file);
            failed = 1;
        }
    }
    while (!failed && place.at < place.end) {
        struct gate_case *one = add(cases, n);
        failed = one == NULL || next_case(&place, file, command, n == 0, one) != 0;
        n++;
    }
    free(bytes);
    if (failed) {
        free(*cases);
        *cases = NULL;
    }
    return failed ? -1 : n;
}
