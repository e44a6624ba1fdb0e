/* SPDX-License-Identifier: Apache-2.0 */
#include "gate/merge/case_file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "chunkproof/version.h"
#include "cli/base/json.h"

/* By enum: the order ANY, which no case has, is not there. */
static const char *const o_orders[] = {"part-row", "row-part", NULL};
static const char *const l_orders[] = {"part-row", "part-head", "row-part", NULL};
static const char *const lse_orders[] = {"row", "head", NULL};

json_t *merge_recipe_json(const struct merge_recipe *r) {
    return json_pack("{s:s,s:i,s:i,s:i,s:i,s:b,s:s,s:s,s:s,s:b,s:b,s:b,s:o}", "values",
                     merge_values_names[r->values], "n_parts", r->n_parts, "n_rows", r->n_rows,
                     "n_heads", r->n_heads, "head_dim", r->head_dim, "empties", r->empties, "o",
                     o_orders[r->o - 1], "l", l_orders[r->l - 1], "lse", lse_orders[r->lse - 1],
                     "gaps", r->gaps, "asks_lse", r->asks_lse, "renewed", r->renewed, "seed",
                     json_sprintf("%llu", r->seed));
}

int merge_case_save(const char *file, const struct merge_found *found,
                    const struct cp_merge_kernel *kernel) {
    const struct gate_finding *f = &found->finding.of;
    json_t *json =
        json_pack("{s:s,s:s,s:o,s:s,s:s,s:o,s:o,s:o*}", "format", MERGE_CASE_FORMAT, "chunkproof",
                  cp_version(), "kernel", json_clean(kernel->name), "verdict",
                  merge_verdict_name(found->finding.verdict), "clause", f->clause, "text",
                  json_clean(f->text), "recipe", merge_recipe_json(&found->recipe), "before",
                  found->has_before ? merge_recipe_json(&found->before) : NULL);
    int result = gate_json_write(json, file);
    json_decref(json);
    return result;
}

/* ---- Reading ---- */

static void read_recipe(struct gate_fields *in, struct merge_recipe *r) {
    memset(r, 0, sizeof *r);
    r->values = (enum merge_values)gate_fields_name(in, "values", merge_values_names);
    r->n_parts = gate_fields_number(in, "n_parts", 1, CP_MERGE_MOST_PARTS);
    r->n_rows = gate_fields_number(in, "n_rows", 1, MERGE_MOST_ROWS);
    r->n_heads = gate_fields_number(in, "n_heads", 1, MERGE_MOST_HEADS);
    r->head_dim = gate_fields_number(in, "head_dim", 1, MERGE_MOST_DIM);
    r->empties = gate_fields_is(in, "empties");
    r->o = 1 + gate_fields_name(in, "o", o_orders);
    r->l = 1 + gate_fields_name(in, "l", l_orders);
    r->lse = 1 + gate_fields_name(in, "lse", lse_orders);
    r->gaps = gate_fields_is(in, "gaps");
    r->asks_lse = gate_fields_is(in, "asks_lse");
    r->renewed = gate_fields_is(in, "renewed");
    r->seed = gate_fields_seed(in);
}

int merge_case_read(struct gate_fields *in, const json_t *json, struct merge_case *one) {
    const char *format = json_string_value(json_object_get(json, "format"));
    const char *verdict = json_string_value(json_object_get(json, "verdict"));
    if (format == NULL || strcmp(format, MERGE_CASE_FORMAT) != 0) {
        gate_fields_say_where(in);
        fprintf(stderr,
                "\"format\" must be \"%s\", as in the first case of the files: cases of merges "
                "and of attention are for different kernels\n",
                MERGE_CASE_FORMAT);
        return -1;
    }
    one->line = in->line;
    one->other_bits = verdict != NULL && strcmp(verdict, merge_verdict_name(GATE_OTHER_BITS)) == 0;
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
    struct merge_case *cases;
    int n;
};

static int take_case(void *context, struct gate_fields *in, const json_t *json) {
    struct taken *all = context;
    struct merge_case *cases = gate_json_room(all->cases, sizeof *cases, all->n);
    if (cases == NULL) {
        return -1;
    }
    all->cases = cases;
    return merge_case_read(in, json, &cases[all->n++]);
}

int merge_case_load(const char *file, const char *command, struct merge_case **cases) {
    struct taken all = {NULL, 0};
    int n = gate_json_read(file, command, take_case, &all);
    if (n < 0) {
        free(all.cases);
        all.cases = NULL;
    }
    *cases = all.cases;
    return n;
}
