/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/modules/events.h"

#include <jansson.h>
#include <stdlib.h>

static const char *const tier_names[] = {"gpu", "cpu", "nowhere"};

void modules_event_item(FILE *out, const struct modules_items *items, int item) {
    const struct modules_item *it = &items->item[item];
    if (out == NULL) {
        return;
    }
    char *path = it->module > 0 ? pml_path(items->schema, it->module) : NULL;
    json_t *name = json_string(path != NULL ? path : "");
    fprintf(out, "{\"event\": \"item\", \"item\": %d, \"part\": %d, \"module\": ", item,
            it->module);
    if (name == NULL || json_dumpf(name, out, JSON_ENCODE_ANY) != 0) {
        fputs("null", out);
    }
    fprintf(out, ", \"scaffold\": ");
    fprintf(out, it->scaffold < 0 ? "null" : "%d", it->scaffold);
    fprintf(out, ", \"tokens\": %d, \"pairs\": %lld}\n", it->tokens, it->pairs);
    json_decref(name);
    free(path);
}

void modules_event_prompt(FILE *out, int prompt, int batch) {
    if (out != NULL) {
        fprintf(out, "{\"event\": \"prompt\", \"prompt\": %d, \"batch\": %d, \"takes\": [", prompt,
                batch);
    }
}

void modules_event_take(FILE *out, int is_first, int item, const struct modules_taken *taken) {
    if (out == NULL) {
        return;
    }
    fputs(is_first ? "" : ", ", out);
    fprintf(out,
            "{\"item\": %d, \"from\": \"%s\", \"gpu\": %s, \"cpu\": %s, \"to_cpu\": %lld, "
            "\"left\": [",
            item, tier_names[taken->from], taken->is_in_gpu ? "true" : "false",
            taken->is_in_cpu ? "true" : "false", taken->to_host);
    for (int i = 0; i < taken->n_gone; i++) {
        fprintf(out, "%s[%d, \"%s\"]", i > 0 ? ", " : "", taken->gone[i].item,
                tier_names[taken->gone[i].tier]);
    }
    fputs("]}", out);
}

/* The modules that the prompt imports, and its arguments, by the numbers of their parts. */
static void put_imports(FILE *out, const struct modules_drawing *drawing) {
    const struct pml_schema *s = drawing->schema;
    fputs("], \"imports\": [0", out);
    for (int x = 1; x < s->n_parts; x++) {
        if (s->part[x].kind == CP_PART_MODULE && drawing->imported[x]) {
            fprintf(out, ", %d", x);
        }
    }
    fputs("], \"given\": {", out);
    const char *between = "";
    for (int x = 1; x < s->n_parts; x++) {
        if (drawing->argument[x] > 0) {
            fprintf(out, "%s\"%d\": %d", between, x, drawing->argument[x]);
            between = ", ";
        }
    }
    fprintf(out, "}, \"dropped\": %d", drawing->dropped);
}

void modules_event_end(FILE *out, const struct modules_drawing *drawing, long long arguments,
                       const struct modules_work *work, long long cached_ns, long long full_ns) {
    if (out == NULL) {
        return;
    }
    put_imports(out, drawing);
    fprintf(out,
            ", \"arguments\": %lld, \"tokens\": %lld, \"computed\": %lld, \"pairs\": %lld, "
            "\"copied\": %lld, \"cached_ns\": %lld, \"full_ns\": %lld}\n",
            arguments, work->tokens, work->computed, work->pairs, work->copied, cached_ns, full_ns);
}
