/* SPDX-License-Identifier: Apache-2.0 */
/* The report as JSON: spec/gate-report.schema.json. A part that cannot be made is NULL and makes
 * the whole report NULL, so nothing is left out silently. */
#include <math.h>
#include <stdlib.h>

#include "chunkproof/version.h"
#include "cli/base/json.h"
#include "gate/case/cache.h"
#include "gate/report/held.h"
#include "gate/report/report.h"
#include "gate/search/case_file.h"
#include "gate/search/log.h"

#define FORMAT "chunkproof gate report 1"

/* A number in JSON cannot hold 64 bits without a sign. */
static json_t *seed_json(unsigned long long seed) {
    return json_sprintf("%llu", seed);
}

/* The names of the bits that are set. */
static json_t *names_json(int bits, const char *const *name, int n) {
    json_t *names = json_array();
    for (int i = 0; i < n; i++) {
        if ((bits >> i & 1) != 0) {
            json_array_append_new(names, json_string(name[i]));
        }
    }
    return names;
}

static json_t *conventions_json(const struct cp_kernel *k) {
    const struct cp_kernel_conventions *c = &k->conventions;
    json_t *value = c->empty_lse != CP_EMPTY_VALUE ? json_null()
                    : isfinite(c->empty_value)     ? json_real(c->empty_value)
                    : c->empty_value > 0.0         ? json_string("infinity")
                                                   : json_string("-infinity");
    return json_pack("{s:s,s:s,s:s,s:o,s:o,s:s,s:s,s:s,s:s,s:s}", "lse_base",
                     c->lse_base == CP_LSE_BITS ? "2" : "e", "empty_out",
                     gate_empty_name(c->empty_out), "empty_lse", gate_empty_name(c->empty_lse),
                     "empty_value", value, "never",
                     names_json(c->never, gate_never_names, GATE_NEVERS), "invariant",
                     gate_invariant_name(c->invariant), "window",
                     c->window == CP_WINDOW_BEFORE ? "before" : "of-keys", "cap",
                     c->cap == CP_CAP_LAST ? "last" : "first", "bias", gate_bias_name(c->bias),
                     "sink", c->sink == CP_SINK_BESIDE_LSE ? "beside-lse" : "in-lse");
}

static json_t *layout_json(const struct cp_kernel_layout *l) {
    return json_pack("{s:s,s:i,s:i,s:s,s:s,s:s,s:i,s:i,s:s}", "pages", gate_pages_name(l->pages),
                     "page_size", l->page_size, "page_unit", l->page_unit, "order",
                     gate_order_name(l->order), "gaps", gate_gaps_name(l->gaps), "tensors",
                     gate_tensors_name(l->tensors), "k_pack", l->k_pack, "v_pack", l->v_pack,
                     "scale_order", l->scale_order == CP_SCALES_BY_SLOT ? "by-slot" : "by-head");
}

static json_t *kernel_json(const struct gate_report *report) {
    const struct cp_kernel *k = report->kernel;
    const struct cp_kernel_class *a = &k->arithmetic;
    return json_pack(
        "{s:o,s:o,s:s,s:s,s:s,s:s,s:s,s:s,s:s,s:s,s:o,s:o,s:{s:s,s:s,s:s},s:o,s:o,"
        "s:{s:s,s:i,s:i,s:s,s:s,s:s,s:s,s:s,s:s,s:s,s:b,s:i,s:s,s:i,s:i,s:b,s:s,s:b,s:b,s:b,s:f,s:"
        "f,s:f,s:f,"
        "s:f,s:f,s:f,s:i}}",
        "name", json_clean(k->name), "file", json_clean(report->options->kernel), "q_type",
        gate_type_name(k->q_type), "kv_type", gate_type_name(k->kv_type), "out_type",
        gate_type_name(k->out_type), "lse_type", gate_type_name(k->lse_type), "plans",
        gate_plans_name(k->plans), "keys", gate_keys_name(k->keys), "pairs",
        gate_pairs_name(k->pairs), "widths", k->widths == CP_WIDTHS_ANY ? "any" : "equal", "masks",
        names_json(k->masks, gate_mask_names, GATE_MASKS), "scores",
        names_json(k->scores, gate_change_names, GATE_CHANGES), "cache", "k",
        gate_cache_name(k->cache.k), "v", gate_cache_name(k->cache.v), "scales",
        gate_cache_scales_name(k->cache.scales), "layout", layout_json(&k->layout), "conventions",
        conventions_json(k), "arithmetic", "score", gate_sum_name(a->score), "score_promotes",
        a->score_promotes, "values_promotes", a->values_promotes, "weights",
        gate_type_name(a->weights), "k_dequantised",
        gate_type_name(k->cache.k == CP_CACHE_PLAIN ? CP_NO_LSE : a->k_dequantised),
        "v_dequantised",
        gate_type_name(k->cache.v == CP_CACHE_PLAIN ? CP_NO_LSE : a->v_dequantised), "rotated",
        gate_type_name(k->keys == CP_KEYS_PLACED ? CP_NO_LSE : a->rotated), "scales",
        gate_scales_name(a->scales), "values", gate_sum_name(a->values), "partials",
        gate_type_name(a->partials), "rounded_sum", a->rounded_sum, "divides", a->divides,
        "part_lse", gate_part_lse_name(a->part_lse), "n_parts", a->n_parts, "part_keys",
        a->part_keys, "normalises", a->normalises, "factors", gate_scales_name(a->factors),
        "in_bits", a->in_bits, "truncates", a->truncates, "flushes", a->flushes, "exp_error",
        a->exp_error, "tanh_error", a->tanh_error, "tanh_absolute", a->tanh_absolute,
        "divide_error", a->divide_error, "epsilon", a->epsilon, "above", a->above, "behind",
        a->behind, "step", a->step);
}

json_t *gate_held_json(unsigned contained) {
    json_t *all = json_object();
    for (int i = 0; i < GATE_HOLDS; i++) {
        json_t *held = json_boolean((contained & gate_holds[i].bit) != 0);
        if (json_object_set_new(all, gate_holds[i].name, held) != 0) {
            json_decref(all);
            return NULL;
        }
    }
    return all;
}

/* Those that came up. */
static json_t *verdicts_json(const long long *verdicts) {
    json_t *all = json_object();
    for (int i = 0; i < GATE_VERDICTS; i++) {
        if (verdicts[i] > 0 &&
            json_object_set_new(all, gate_verdict_names[i], json_integer(verdicts[i])) != 0) {
            json_decref(all);
            return NULL;
        }
    }
    return all;
}

static json_t *tallies_json(const struct gate_result *r) {
    json_t *all = json_array();
    for (int i = 0; i < GATE_VALUES; i++) {
        const struct gate_tally *t = &r->tally[i];
        all =
            json_with(all, json_pack("{s:s,s:I,s:I,s:I,s:I,s:o,s:f,s:o}", "values",
                                     gate_values_names[i], "cases", (json_int_t)t->cases, "wrong",
                                     (json_int_t)gate_wrong_cases_of(t), "numbers",
                                     (json_int_t)t->compared, "unclaimed", (json_int_t)t->unclaimed,
                                     "largest", json_number(t->largest), "seconds", t->seconds,
                                     "verdicts", verdicts_json(t->verdicts)));
    }
    return all;
}

static json_t *found_json(const struct gate_report *report, const struct gate_found *found) {
    const struct gate_finding *f = &found->finding;
    return json_pack(
        "{s:s,s:I,s:I,s:o,s:o,s:i,s:i,s:i,s:o,s:o,s:o,s:o,s:o,s:o,s:b,s:o}", "verdict",
        gate_verdict_names[f->verdict], "cases", (json_int_t)report->result->verdicts[f->verdict],
        "case", (json_int_t)found->index, "clause", json_clean(f->clause), "text",
        json_clean(f->text), "row", f->row, "head", f->head, "element", f->element, "got",
        json_number(f->got), "expected", json_number(f->expected), "bound", json_number(f->bound),
        "recipe", gate_recipe_json(&found->recipe), "file",
        found->file[0] != '\0' ? json_clean(found->file) : json_null(), "again",
        json_own(gate_case_again(report, found)), "needs_others",
        gate_case_needs_others(report, found), "why", json_own(gate_case_why(report, found)));
}

static json_t *all_found_json(const struct gate_report *report) {
    json_t *all = json_array();
    for (int i = GATE_RIGHT + 1; i < GATE_VERDICTS; i++) {
        if (report->result->verdicts[i] > 0) {
            all = json_with(all, found_json(report, &report->result->found[i]));
        }
    }
    return all;
}

/* For each head_dim, the keys of the longest sequence. */
static json_t *covered_json(const struct gate_result *r) {
    json_t *all = json_array();
    for (int i = 0; i < r->n_covered; i++) {
        const struct gate_covered *one = &r->covered[i];
        all = json_with(all, json_pack("{s:i,s:I,s:i}", "head_dim", one->head_dim, "cases",
                                       (json_int_t)one->cases, "keys", one->keys));
    }
    return all;
}

/* The largest of each. */
static json_t *sizes_json(const struct gate_sizes *sizes) {
    json_t *all = json_object();
    for (int i = 0; i < GATE_SIZES; i++) {
        if (json_object_set_new(all, gate_size_names[i], json_integer(sizes->largest[i])) != 0) {
            json_decref(all);
            return NULL;
        }
    }
    return all;
}

/* Of each size, the values that were refused each time. */
static json_t *refused_sizes_json(const struct gate_sizes *sizes) {
    json_t *all = json_object();
    for (int which = 0; which < GATE_ASKED; which++) {
        const struct gate_asked_of *asked = &sizes->asked[which];
        json_t *values = json_array();
        for (int i = 0; i < asked->n; i++) {
            values = gate_size_is_refused(asked, i)
                         ? json_with(values, json_integer(asked->value[i]))
                         : values;
        }
        if (json_object_set_new(all, gate_asked_names[which], values) != 0) {
            json_decref(all);
            return NULL;
        }
    }
    return all;
}

/* Right numbers that are far beyond their usual error. */
static json_t *unusual_json(const struct gate_report *report) {
    const struct gate_result *r = report->result;
    const struct gate_finding *f = &r->most_unusual.finding;
    const struct gate_cause *cause = report->cause;
    json_t *json =
        r->unusual == 0
            ? json_pack("{s:I,s:I}", "numbers", (json_int_t)0, "cases", (json_int_t)0)
            : json_pack("{s:I,s:I,s:f,s:I,s:i,s:i,s:i}", "numbers", (json_int_t)r->unusual, "cases",
                        (json_int_t)r->unusual_cases, "largest", f->most_unusual, "case",
                        (json_int_t)r->most_unusual.index, "row", f->unusual_row, "head",
                        f->unusual_head, "element", f->unusual_element);
    if (json != NULL && r->unusual > 0 && cause != NULL && cause->text[0] != '\0' &&
        (json_object_set_new(json, "smallest", json_integer(r->found[GATE_RIGHT].index)) != 0 ||
         (cause->key >= 0 && json_object_set_new(json, "key", json_integer(cause->key)) != 0) ||
         json_object_set_new(json, "cause", json_clean(cause->text)) != 0)) {
        json_decref(json);
        return NULL;
    }
    return json;
}

static json_t *notes_json(const struct gate_report *report) {
    json_t *all = json_array();
    for (int i = 0; i < GATE_NOTES; i++) {
        char *note = gate_note(report, i);
        all = note[0] != '\0' ? json_with(all, json_clean(note)) : all;
        free(note);
    }
    return all;
}

static const char *verdict_name(int verdict) {
    return gate_verdict_names[verdict];
}

int gate_print_json(FILE *file, const struct gate_report *report) {
    static const struct gate_log_names names = {gate_values_names, verdict_name};
    const struct gate_result *r = report->result;
    json_t *json = json_pack(
        "{s:s,s:s,s:o,s:o,s:s,s:o,s:o,s:s,s:o,s:b,s:f,s:I,s:I,s:I,s:I,s:o,s:I,s:I,s:I,s:o,s:o,s:o,"
        "s:o,s:o,s:o,s:o,s:o}",
        "format", FORMAT, "chunkproof", cp_version(), "kernel", kernel_json(report), "held_from",
        gate_held_json(report->contained), "tier", gate_tier_names[report->options->tier], "seed",
        seed_json(report->options->seed), "again", json_own(gate_run_again(report)), "verdict",
        gate_answer(r), "no_verdict", json_own(gate_no_answer(report)), "interrupted",
        r->interrupted, "seconds", r->seconds, "asked", (json_int_t)r->asked, "cases",
        (json_int_t)r->cases, "wrong", (json_int_t)gate_wrong_cases(r), "refused",
        (json_int_t)r->refused, "refusal", r->refused > 0 ? json_clean(r->refusal) : json_null(),
        "runs", (json_int_t)r->runs, "unclaimed", (json_int_t)gate_unclaimed(r), "unjudged",
        (json_int_t)r->unjudged, "verdicts", verdicts_json(r->verdicts), "tallies", tallies_json(r),
        "covered", covered_json(r), "sizes", sizes_json(&r->sizes), "refused_sizes",
        refused_sizes_json(&r->sizes), "unusual", unusual_json(report), "notes", notes_json(report),
        "findings", all_found_json(report));
    int logged = json != NULL &&
                 (!report->options->rules || gate_log_json(json, &r->each, &r->usual, &names) == 0);
    int result = !logged || json_dumpf(json, file, JSON_INDENT(2)) != 0 ? -1 : 0;
    json_decref(json);
    return fputc('\n', file) == EOF ? -1 : result;
}
