/* SPDX-License-Identifier: Apache-2.0 */
/* A case as a file. It says all that is needed to make it again, and what was found with which kernel. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "chunkproof/limits.h"
#include "chunkproof/tolerance.h"
#include "chunkproof/version.h"
#include "cli/base/clean.h"
#include "cli/base/printable.h"
#include "gate/search/case_file.h"

#define FORMAT "chunkproof case 1"

static const char *const op_names[GATE_OPS + 1] = {"join", "append", "leave", "fork", NULL};
static const char *const queries_names[GATE_QUERIES + 1] = {"decode", "several", "more", "many",
                                                            NULL};
static const char *const padding_names[GATE_PADDINGS + 1] = {"nan", "huge", "stale", NULL};

json_t *gate_recipe_json(const struct gate_recipe *r) {
    char seed[32]; /* 64 bits without a sign are more than a number of JSON has */
    json_t *ops = json_array();
    (void)snprintf(seed, sizeof seed, "%llu", r->seed);
    for (int i = 0; i < r->n_ops; i++) {
        const struct gate_op *op = &r->op[i];
        json_array_append_new(
            ops, json_pack("[s,i,i,i]", op_names[op->kind], op->sequence, op->tokens, op->own));
    }
    return json_pack("{s:s,s:i,s:i,s:i,s:i,s:i,s:b,s:b,s:s,s:i,s:s,s:s,s:o}", "values",
                     gate_values_names[r->values], "n_heads", r->n_heads, "n_kv_heads",
                     r->n_kv_heads, "head_dim", r->head_dim, "chunk_size", r->chunk_size,
                     "scale_percent", r->scale, "without_lse", r->without_lse, "renewed",
                     r->renewed, "queries", queries_names[r->queries], "layout", r->layout,
                     "padding", padding_names[r->padding], "seed", seed, "operations", ops);
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
    int result = json == NULL ? -1 : json_dump_file(json, file, JSON_INDENT(2));
    json_decref(json);
    free(name);
    if (result != 0) {
        fprintf(stderr, "chunkproof: %s: the case could not be written: %s\n", file,
                strerror(errno));
    }
    return result;
}

/* ---- Reading ---- */

/* What a member of the file may be; the first that is not is said. */
struct reading {
    const char *file, *command;
    const json_t *recipe;
    int failed;
};

static void refuse(struct reading *r, const char *name, const char *what) {
    if (!r->failed) {
        fprintf(stderr, "chunkproof %s: %s: recipe.%s must be %s\n", r->command, r->file, name,
                what);
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
               "a list of [\"join\", \"append\", \"leave\" or \"fork\", sequence, tokens, own], "
               "with numbers from 0 to 1048576");
        return;
    }
    *op = (struct gate_op){(enum gate_op_kind)kind, (int)number[0], (int)number[1], (int)number[2]};
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
    r->n_ops = (int)json_array_size(ops);
    for (int i = 0; i < r->n_ops; i++) {
        read_operation(in, json_array_get(ops, (size_t)i), &r->op[i]);
    }
}

int gate_case_load(const char *file, const char *command, struct gate_recipe *recipe) {
    json_error_t error;
    json_t *json = json_load_file(file, JSON_REJECT_DUPLICATES, &error);
    const char *format = json_string_value(json_object_get(json, "format"));
    struct reading in = {file, command, json_object_get(json, "recipe"), 0};
    if (json == NULL) {
        if (error.line > 0) {
            fprintf(stderr, "chunkproof %s: %s:%d:%d: %s\n", command, file, error.line,
                    error.column, printable(error.text));
        } else {
            fprintf(stderr, "chunkproof %s: %s\n", command, error.text);
        }
        return -1;
    }
    if (format == NULL || strcmp(format, FORMAT) != 0) {
        fprintf(stderr,
                "chunkproof %s: %s: \"format\" must be \"%s\": is it a case that "
                "`chunkproof gate --save` wrote?\n",
                command, file, FORMAT);
        in.failed = 1;
    } else {
        read_recipe(&in, recipe);
    }
    json_decref(json);
    return in.failed ? -1 : 0;
}

int gate_case_before(const char *file, const char *command, struct gate_recipe *before) {
    json_t *json = json_load_file(file, JSON_REJECT_DUPLICATES, NULL);
    struct reading in = {file, command, json_object_get(json, "before"), 0};
    int has_before = in.recipe != NULL;
    if (has_before) {
        read_recipe(&in, before);
    }
    json_decref(json);
    return in.failed ? -1 : has_before;
}
