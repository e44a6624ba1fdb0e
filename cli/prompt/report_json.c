/* SPDX-License-Identifier: Apache-2.0 */
/* The report as JSON: spec/prompt-report.schema.json says what is in it. */
#include <jansson.h>
#include <stdlib.h>

#include "chunkproof/version.h"
#include "cli/base/clean.h"
#include "cli/base/json.h"
#include "cli/base/text.h"
#include "cli/prompt/report_numbers.h"

static json_t *part_json(const struct pml_schema *s, int x, int *seen) {
    const struct pml_part *about = &s->about[x];
    int kind = s->part[x].kind;
    json_t *part = json_pack("{s:i,s:s,s:i,s:i}", "part", x, "kind", report_kind(kind), "begin",
                             s->begin[x], "size", s->size[x]);
    part = json_with_member(part, "in", x > 0 ? json_integer(s->part[x].parent) : json_null());
    if (about->name != NULL) {
        part = json_with_member(part, "name", json_string(about->name));
    }
    if (kind == CP_PART_MODULE) {
        part = json_with_member(part, "sees", json_numbers(seen, pml_mask_sees(s, x, -1, seen)));
    }
    if (kind == CP_PART_TEXT) {
        part = json_with_member(part, "text",
                                json_stringn(s->texts.text + about->text.at, about->text.size));
        part = json_with_member(
            part, "tokens",
            json_numbers(s->texts.token + about->text.first_token, about->text.n_tokens));
        part = json_with_member(part, "role",
                                about->role < PML_ROLES ? json_string(pml_role_names[about->role])
                                                        : json_null());
    }
    return part;
}

static json_t *schema_json(const struct pml_schema *s, int *seen) {
    json_t *parts = json_array(), *scaffolds = json_array();
    for (int x = 0; x < s->n_parts; x++) {
        parts = json_with(parts, part_json(s, x, seen));
    }
    for (int i = 0; i < s->n_scaffolds; i++) {
        const struct pml_scaffold *f = &s->scaffold[i];
        scaffolds = json_with(scaffolds, json_numbers(s->module + f->first, f->n));
    }
    return json_pack("{s:o,s:s,s:s,s:s,s:i,s:o,s:o}", "file", json_clean(s->document.path), "name",
                     s->about[0].name, "tokens", s->texts.tokenizer->name, "template",
                     s->template->name, "positions", s->size[0], "parts", parts, "scaffolds",
                     scaffolds);
}

static json_t *run_json(const struct pml_prompt *p, const struct pml_run *run) {
    static const char *const kinds[] = {
        [PML_CACHED] = "cache", [PML_ARGUMENT] = "argument", [PML_NEW] = "new"};
    const struct pml_text *text = report_text_of(p, run);
    json_t *object = json_pack("{s:i,s:i,s:s}", "begin", run->begin, "size", run->size, "from",
                               kinds[run->kind]);
    if (run->kind == PML_CACHED) {
        return json_with_member(object, "part", json_integer(run->from));
    }
    if (run->kind == PML_ARGUMENT) {
        object = json_with_member(object, "part", json_integer(p->argument[run->from].param));
    } else {
        int behind = p->segment[run->from].behind;
        object =
            json_with_member(object, "behind", behind >= 0 ? json_integer(behind) : json_null());
    }
    object = json_with_member(object, "text", json_stringn(p->texts.text + text->at, text->size));
    return json_with_member(object, "tokens",
                            json_numbers(p->texts.token + text->first_token, text->n_tokens));
}

static json_t *mask_json(const struct pml_prompt *p, int *seen) {
    const struct pml_schema *s = p->schema;
    json_t *mask = json_array();
    for (int x = 0; x < s->n_parts; x++) {
        if (s->part[x].kind == CP_PART_MODULE && p->imported[x] != 0) {
            int scaffold = pml_mask_scaffold(p, x);
            json_t *sees = json_numbers(seen, pml_mask_sees(s, x, scaffold, seen));
            json_t *row = json_pack("{s:i,s:o}", "module", x, "sees", sees);
            row = json_with_member(row, "scaffold",
                                   scaffold >= 0 ? json_integer(scaffold) : json_null());
            mask = json_with(mask, row);
        }
    }
    return mask;
}

static json_t *prompt_json(const struct pml_prompt *p, int *seen) {
    json_t *runs = json_array();
    for (int i = 0; i < p->n_runs; i++) {
        runs = json_with(runs, run_json(p, &p->run[i]));
    }
    json_t *prompt =
        json_pack("{s:o,s:i,s:i,s:o,s:o}", "file", json_clean(p->document.path), "cached",
                  p->n_cached, "computed", p->n_new, "mask", mask_json(p, seen), "runs", runs);
    return p->answer != NULL ? json_with_member(prompt, "answer", report_answer_json(p->answer))
                             : prompt;
}

int report_json(FILE *out, const struct pml_schema *schema, const struct pml_prompt *prompts,
                int n_prompts) {
    int *seen = cli_allocate(NULL, (size_t)schema->n_parts, sizeof *seen);
    json_t *array = json_array();
    for (int i = 0; i < n_prompts; i++) {
        array = json_with(array, prompt_json(&prompts[i], seen));
    }
    json_t *report = json_pack("{s:s,s:s,s:o,s:o}", "command", "prompt", "version", cp_version(),
                               "schema", schema_json(schema, seen), "prompts", array);
    int status = report != NULL ? json_dumpf(report, out, JSON_INDENT(1)) : -1;
    json_decref(report);
    free(seen);
    if (status == 0) {
        fputc('\n', out);
    }
    return status;
}
