/* SPDX-License-Identifier: Apache-2.0 */
/* A case as a file: everything that is needed to make the case again, and what was found with
 * which kernel. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "chunkproof/limits.h"
#include "chunkproof/tolerance.h"
#include "chunkproof/version.h"
#include "cli/base/clean.h"
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
    json = with_size(with_size(json, "biases", r->biases), "n_biases", r->n_biases);
    json = with_size(json, "own_bias", r->own_bias);
    json = with_size(with_size(json, "bits", r->bits), "value_dim", r->value_dim);
    return with_modules(json, r);
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
    int result = gate_json_write(json, file);
    json_decref(json);
    free(name);
    return result;
}

/* ---- Reading ---- */

static void read_operation(struct gate_fields *r, const json_t *json, struct gate_op *op) {
    int kind = gate_fields_word(json_string_value(json_array_get(json, 0)), op_names);
    json_int_t number[3];
    for (size_t i = 0; i < 3; i++) {
        const json_t *value = json_array_get(json, i + 1);
        number[i] = json_is_integer(value) ? json_integer_value(value) : -1;
        kind = number[i] < 0 || number[i] > CP_TOLERANCE_MOST ? -1 : kind;
    }
    if (kind < 0) {
        gate_fields_refuse(
            r, "operations",
            "a list of [\"join\", \"append\", \"leave\", \"fork\" or \"prompt\", sequence, "
            "tokens, own], with numbers from 0 to 1048576");
        return;
    }
    *op = (struct gate_op){(enum gate_op_kind)kind, (int)number[0], (int)number[1], (int)number[2]};
}

/* Whole numbers from 1, and from 0, to the most that a position may be; and true where it is the
 * text of the module before it. */
static void read_module(struct gate_fields *r, const json_t *json, struct gate_module *module) {
    const json_t *tokens = json_array_get(json, 0), *position = json_array_get(json, 1);
    const json_t *alike = json_array_get(json, 2);
    if (!json_is_integer(tokens) || !json_is_integer(position) || json_array_size(json) > 3 ||
        (alike != NULL && !json_is_boolean(alike)) || json_integer_value(tokens) < 1 ||
        json_integer_value(tokens) > CP_MAX_POSITIONS || json_integer_value(position) < 0 ||
        json_integer_value(position) > CP_MAX_POSITIONS) {
        gate_fields_refuse(
            r, "modules",
            "a list of [tokens, position], with numbers from 1, and from 0, to 1048576, or of "
            "[tokens, position, true] for the text of the module before it");
        return;
    }
    *module = (struct gate_module){(int)json_integer_value(tokens),
                                   (int)json_integer_value(position), json_is_true(alike)};
}

static void read_modules(struct gate_fields *in, struct gate_recipe *r) {
    const json_t *modules = json_object_get(in->recipe, "modules");
    if (modules == NULL) {
        return;
    }
    if (!json_is_array(modules) || json_array_size(modules) < 1 ||
        json_array_size(modules) > GATE_MOST_MODULES) {
        gate_fields_refuse(in, "modules", "a list of 1 to 8 modules");
        return;
    }
    r->n_modules = (int)json_array_size(modules);
    for (int i = 0; i < r->n_modules; i++) {
        read_module(in, json_array_get(modules, (size_t)i), &r->module[i]);
        if (!in->failed && r->module[i].alike && !gate_is_alike(r, i)) {
            gate_fields_refuse(in, "modules",
                               "a list where each [tokens, position, true] stands behind a "
                               "module of as many tokens");
        }
    }
}

/* SCORE-5, beside slopes never. */
static void read_biases(struct gate_fields *in, struct gate_recipe *r) {
    r->biases = gate_fields_size(in, "biases", GATE_BIASES - 1);
    r->n_biases = gate_fields_size(in, "n_biases", GATE_MOST_BIASES);
    r->own_bias = gate_fields_size(in, "own_bias", GATE_MOST_BIASES - 1);
    if (r->biases != GATE_NO_BIASES && r->slopes != GATE_NO_SLOPES) {
        gate_fields_refuse(in, "biases", "left out where there are slopes");
    }
    if ((r->biases != GATE_NO_BIASES) != (r->n_biases > 0)) {
        gate_fields_refuse(in, "n_biases", "there with \"biases\", and left out without");
    }
    if (r->own_bias > 0 && r->own_bias >= r->n_biases) {
        gate_fields_refuse(in, "own_bias", "below n_biases");
    }
}

static void read_recipe(struct gate_fields *in, struct gate_recipe *r) {
    const json_t *ops = json_object_get(in->recipe, "operations");
    memset(r, 0, sizeof *r);
    r->values = (enum gate_values)gate_fields_name(in, "values", gate_values_names);
    r->queries = (enum gate_queries)gate_fields_name(in, "queries", queries_names);
    r->padding = (enum gate_padding)gate_fields_name(in, "padding", padding_names);
    r->n_kv_heads = gate_fields_number(in, "n_kv_heads", 1, 1024);
    r->n_heads = gate_fields_number(in, "n_heads", 1, 1024);
    r->head_dim = gate_fields_number(in, "head_dim", 1, 4096);
    r->chunk_size = gate_fields_number(in, "chunk_size", 1, CP_MAX_CHUNK_SIZE);
    r->scale = gate_fields_number(in, "scale_percent", 1, 1000);
    r->without_lse = gate_fields_is(in, "without_lse");
    r->renewed = gate_fields_is(in, "renewed");
    r->layout = gate_fields_number(in, "layout", 0, GATE_LAYOUTS - 1);
    r->sequences = gate_fields_size(in, "sequences", GATE_MOST_SEQUENCES);
    r->rows = gate_fields_size(in, "rows", GATE_MOST_ROWS);
    r->pool = gate_fields_size(in, "pool", GATE_MOST_POOL);
    r->rotary = gate_fields_size(in, "rotary", 4096);
    r->never = gate_fields_size(in, "never", 15);
    r->window = gate_fields_size(in, "window", GATE_MOST_SPAN);
    r->ahead = gate_fields_size(in, "ahead", GATE_MOST_SPAN);
    r->kept = gate_fields_size(in, "kept", GATE_MOST_SPAN);
    r->cap = gate_fields_size(in, "cap", GATE_MOST_CAP);
    r->slopes = gate_fields_size(in, "slopes", GATE_SLOPES - 1);
    r->sinks = gate_fields_size(in, "sinks", 1);
    read_biases(in, r);
    r->bits = gate_fields_size(in, "bits", GATE_BITS - 1);
    r->page = gate_fields_size(in, "page", CP_MOST_PAGE);
    r->value_dim = gate_fields_size(in, "value_dim", 4096);
    if (r->n_heads % r->n_kv_heads != 0) {
        gate_fields_refuse(in, "n_heads", "a multiple of n_kv_heads");
    }
    r->seed = gate_fields_seed(in);
    if (!json_is_array(ops) || json_array_size(ops) > GATE_MOST_OPS) {
        gate_fields_refuse(in, "operations", "a list of at most 64 operations");
        return;
    }
    read_modules(in, r);
    r->n_ops = (int)json_array_size(ops);
    for (int i = 0; i < r->n_ops; i++) {
        read_operation(in, json_array_get(ops, (size_t)i), &r->op[i]);
    }
    if (!gate_prompts_fit(r)) {
        gate_fields_refuse(in, "modules", "so short that no prompt has more than 1048576 tokens");
    }
}

int gate_case_read(struct gate_fields *in, const json_t *json, struct gate_case *one) {
    const char *format = json_string_value(json_object_get(json, "format"));
    if (format == NULL || strcmp(format, FORMAT) != 0) {
        gate_fields_say_where(in);
        fprintf(stderr,
                "\"format\" must be \"%s\": is it a case that `chunkproof gate --save` wrote?\n",
                FORMAT);
        return -1;
    }
    const char *verdict = json_string_value(json_object_get(json, "verdict"));
    one->other_bits = verdict != NULL && strcmp(verdict, gate_verdict_names[GATE_OTHER_BITS]) == 0;
    one->line = in->line;
    in->recipe = json_object_get(json, "recipe");
    read_recipe(in, &one->recipe);
    in->recipe = json_object_get(json, "before");
    one->has_before = in->recipe != NULL;
    if (!in->failed && one->has_before) {
        read_recipe(in, &one->before);
    }
    return in->failed ? -1 : 0;
}

/* The cases that were read. */
struct taken {
    struct gate_case *cases;
    int n;
};

static int take_case(void *context, struct gate_fields *in, const json_t *json) {
    struct taken *all = context;
    struct gate_case *cases = gate_json_room(all->cases, sizeof *cases, all->n);
    if (cases == NULL) {
        return -1;
    }
    all->cases = cases;
    return gate_case_read(in, json, &cases[all->n++]);
}

int gate_case_load(const char *file, const char *command, struct gate_case **cases) {
    struct taken all = {NULL, 0};
    int n = gate_json_read(file, command, take_case, &all);
    if (n < 0) {
        free(all.cases);
        all.cases = NULL;
    }
    *cases = all.cases;
    return n;
}
