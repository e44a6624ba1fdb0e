/* SPDX-License-Identifier: Apache-2.0 */
/* The report as JSON: spec/gate-merging-report.schema.json. A part that cannot be made is NULL and
 * makes the whole report NULL, so nothing is left out silently. */
#include <math.h>
#include <stdlib.h>

#include "chunkproof/version.h"
#include "cli/base/json.h"
#include "gate/merge/case_file.h"
#include "gate/merge/mistakes.h"
#include "gate/merge/report.h"
#include "gate/report/held.h"
#include "gate/report/report.h"
#include "gate/search/log.h"

#define FORMAT "chunkproof gate merging report 1"

static json_t *arithmetic_json(const struct cp_merging_class *a) {
    static const char *const ways[] = {"at-once", "states", "pairwise", "undivided"};
    static const char *const converts[] = {"none", "difference", "each"};
    return json_pack("{s:s,s:s,s:s,s:s,s:s,s:s,s:b,s:b,s:f,s:f,s:f,s:f,s:f}", "way", ways[a->way],
                     "tree", a->tree == CP_MERGING_BALANCED ? "balanced" : "any", "converts",
                     converts[a->converts], "weights", gate_type_name(a->weights), "values",
                     gate_type_name(a->values), "partials", gate_type_name(a->partials),
                     "truncates", a->truncates, "flushes", a->flushes, "exp_error", a->exp_error,
                     "log_error", a->log_error, "div_error", a->div_error, "above", a->above,
                     "behind", a->behind);
}

static json_t *layout_json(const struct cp_merge_layout *l) {
    static const char *const o[] = {"any", "part-row", "row-part"};
    static const char *const of_l[] = {"any", "part-row", "part-head", "row-part"};
    static const char *const lse[] = {"any", "row", "head"};
    return json_pack("{s:s,s:s,s:s,s:s}", "o", o[l->o], "l", of_l[l->l], "lse", lse[l->lse], "gaps",
                     gate_gaps_name(l->gaps));
}

static json_t *kernel_json(const struct merge_report *report) {
    static const char *const lse[] = {"asked", "always", "never"};
    static const char *const empty_l[] = {"minus", "either", "value", "any"};
    static const char *const forms[] = {"lse", "sums", "undivided"};
    const struct cp_merge_kernel *k = report->kernel;
    json_t *value = k->empty_lse != CP_EMPTY_VALUE ? json_null()
                    : isfinite(k->empty_value)     ? json_real(k->empty_value)
                    : k->empty_value > 0.0         ? json_string("infinity")
                                                   : json_string("-infinity");
    return json_pack(
        "{s:o,s:o,s:s,s:s,s:s,s:s,s:s,s:s,s:s,s:i,s:i,s:s,s:s,s:b,s:o,s:s,s:s,s:o,s:s,s:s,s:o,s:b,"
        "s:b,"
        "s:o}",
        "name", json_clean(k->name), "file", json_clean(report->options->kernel), "o_type",
        gate_type_name(k->o_type), "l_type", gate_type_name(k->l_type), "out_type",
        gate_type_name(k->arithmetic.out_type), "lse_type", gate_type_name(k->arithmetic.lse_type),
        "memory", k->memory == CP_DEVICE_MEMORY ? "device" : "host", "base",
        k->base == CP_BASE_2 ? "2" : "e", "lse", lse[k->lse], "least_parts", merge_least_parts(k),
        "most_parts", k->most_parts, "parts", k->parts == CP_PARTS_BY_ROW ? "by-row" : "equal",
        "form", forms[k->form], "in_place", k->in_place, "layout", layout_json(&k->layout),
        "empty_out", gate_empty_name(k->empty_out), "empty_lse", gate_empty_name(k->empty_lse),
        "empty_value", value, "empty_o", k->empty_o == CP_EMPTY_O_NUMBERS ? "numbers" : "any",
        "empty_l", empty_l[k->empty_l], "empty_l_value",
        k->empty_l == CP_EMPTY_L_VALUE ? json_real(k->empty_l_value) : json_null(),
        "never_empty_parts", (k->never & CP_NEVER_EMPTY_PARTS) != 0, "never_empty_rows",
        (k->never & CP_NEVER_EMPTY_ROWS) != 0, "arithmetic", arithmetic_json(&k->arithmetic));
}

static json_t *verdicts_json(const struct merge_result *r) {
    json_t *all = json_object();
    for (int i = 0; i < MERGE_VERDICTS; i++) {
        if (r->verdicts[i] > 0 &&
            json_object_set_new(all, merge_verdict_name(i), json_integer(r->verdicts[i])) != 0) {
            json_decref(all);
            return NULL;
        }
    }
    return all;
}

static json_t *tallies_json(const struct merge_result *r) {
    json_t *all = json_array();
    for (int i = 0; i < MERGE_VALUES; i++) {
        const struct merge_tally *t = &r->tally[i];
        all =
            json_with(all, json_pack("{s:s,s:I,s:I,s:I,s:I,s:o}", "values", merge_values_names[i],
                                     "cases", (json_int_t)t->cases, "wrong", (json_int_t)t->wrong,
                                     "numbers", (json_int_t)t->compared, "unclaimed",
                                     (json_int_t)t->unclaimed, "largest", json_number(t->largest)));
    }
    return all;
}

/* As in the file of a case, and in words. */
static json_t *recipe_json(const struct merge_recipe *r) {
    char line[MERGE_LINE];
    json_t *json = merge_recipe_json(r);
    merge_recipe_print(r, line);
    if (json != NULL && json_object_set_new(json, "words", json_string(line)) != 0) {
        json_decref(json);
        return NULL;
    }
    return json;
}

static json_t *found_json(const struct merge_report *report, const struct merge_found *found) {
    const struct gate_finding *f = &found->finding.of;
    int verdict = found->finding.verdict, why = merge_likeliest(report->result, verdict);
    return json_pack(
        "{s:s,s:I,s:I,s:s,s:o,s:i,s:i,s:i,s:o,s:o,s:o,s:o,s:o,s:o,s:b,s:o,s:o}", "verdict",
        merge_verdict_name(verdict), "cases", (json_int_t)report->result->verdicts[verdict], "case",
        (json_int_t)found->index, "clause", f->clause, "text", json_clean(f->text), "row", f->row,
        "head", f->head, "element", f->element, "got", json_number(f->got), "expected",
        json_number(f->expected), "bound", json_number(f->bound), "recipe",
        recipe_json(&found->recipe), "file",
        found->file[0] != '\0' ? json_clean(found->file) : json_null(), "again",
        json_own(merge_again(report, found)), "needs_others", merge_needs_others(found), "why",
        why >= 0 ? json_clean(merge_mistake_words(why)) : json_null(), "explain",
        json_own(merge_why(report, found)));
}

static json_t *all_found_json(const struct merge_report *report) {
    int order[MERGE_VERDICTS],
        n = gate_found_order(report->result->verdicts, MERGE_VERDICTS, order);
    json_t *all = json_array();
    for (int i = 0; i < n; i++) {
        all = json_with(all, found_json(report, &report->result->found[order[i]]));
    }
    return all;
}

int merge_print_json(FILE *file, const struct merge_report *report) {
    static const struct gate_log_names names = {merge_values_names, merge_verdict_name};
    const struct merge_result *r = report->result;
    const char *why = merge_no_answer(r);
    json_t *json = json_pack(
        "{s:s,s:s,s:o,s:o,s:s,s:o,s:o,s:s,s:o,s:b,s:f,s:I,s:I,s:I,s:I,s:o,s:I,s:I,s:I,s:I,s:o,s:o,"
        "s:{s:i,s:i,s:i,s:i},s:o}",
        "format", FORMAT, "chunkproof", cp_version(), "kernel", kernel_json(report), "held_from",
        gate_held_json(report->contained), "tier", gate_tier_names[report->options->tier], "seed",
        json_sprintf("%llu", report->options->seed), "again", json_own(merge_run_again(report)),
        "verdict", merge_answer(r), "no_verdict", why != NULL ? json_clean(why) : json_null(),
        "interrupted", r->interrupted, "seconds", r->seconds, "asked", (json_int_t)r->asked,
        "cases", (json_int_t)r->cases, "wrong", (json_int_t)merge_wrong_cases(r), "refused",
        (json_int_t)r->refused, "refusal", r->refused > 0 ? json_clean(r->refusal) : json_null(),
        "runs", (json_int_t)r->runs, "laws", (json_int_t)r->laws, "unclaimed",
        (json_int_t)merge_unclaimed(r), "unjudged", (json_int_t)r->unjudged, "verdicts",
        verdicts_json(r), "tallies", tallies_json(r), "sizes", "n_parts", r->sizes.n_parts,
        "n_rows", r->sizes.n_rows, "n_heads", r->sizes.n_heads, "head_dim", r->sizes.head_dim,
        "findings", all_found_json(report));
    int logged = json != NULL &&
                 (!report->options->rules || gate_log_json(json, &r->each, &r->usual, &names) == 0);
    int result = !logged || json_dumpf(json, file, JSON_INDENT(2)) != 0 ? -1 : 0;
    json_decref(json);
    return fputc('\n', file) == EOF ? -1 : result;
}
