/* SPDX-License-Identifier: Apache-2.0 */
/* The report as JSON: spec/bound-report.schema.json says what is in it. A number that is not finite
 * is null. */
#include <math.h>

#include <jansson.h>

#include "chunkproof/version.h"
#include "cli/bound/bound.h"

static json_t *real(double x) {
    return isfinite(x) ? json_real(x) : json_null();
}

static json_t *pair_json(const struct bound_figures *f, struct bound_pair pair) {
    double none = f->claimed > 0 ? 0.0 : INFINITY;
    return json_pack("{s:o,s:o}", "median", real(pair.median + none), "largest",
                     real(pair.largest + none));
}

static json_t *real_if(int is_there, double x) {
    return is_there ? real(x) : json_null();
}

static void add_declared(json_t *object, const struct bound_options *o) {
    json_object_set_new(object, "factors", json_string(bound_factors_names[o->factors]));
    json_object_set_new(object, "normalises", json_boolean(o->normalises));
    json_object_set_new(object, "divide_error", json_real(o->divide_error));
    json_object_set_new(object, "epsilon", json_real(o->epsilon));
    json_object_set_new(object, "parts", json_integer(o->n_parts));
    json_object_set_new(object, "part_keys", json_integer(o->part_keys));
}

/* null: it is plain. */
static void add_cache(json_t *object, const struct bound_options *o, const struct bound_row *row) {
    int k = o->cache.k != CP_CACHE_PLAIN, v = o->cache.v != CP_CACHE_PLAIN;
    json_object_set_new(object, "cache_k", json_string(bound_cache_name(o->cache.k)));
    json_object_set_new(object, "cache_v", json_string(bound_cache_name(o->cache.v)));
    json_object_set_new(object, "scale_k", real_if(k, row->k_scale));
    json_object_set_new(object, "scale_v", real_if(v, row->v_scale));
    json_object_set_new(object, "dequantised_k",
                        k ? json_string(bound_format_name(o->k_dequantised)) : json_null());
    json_object_set_new(object, "dequantised_v",
                        v ? json_string(bound_format_name(o->v_dequantised)) : json_null());
}

/* null: there is none. "biases": whether there is a table. */
static void add_changes(json_t *object, const struct bound_options *o,
                        const struct bound_row *row) {
    json_object_set_new(object, "cap", real_if(o->has_cap, o->cap));
    json_object_set_new(object, "tanh_error", real_if(o->has_cap, o->tanh_error));
    json_object_set_new(object, "tanh_absolute", real_if(o->has_cap, o->tanh_absolute));
    json_object_set_new(object, "cap_last", json_boolean(o->cap_last));
    json_object_set_new(object, "slope", real_if(o->has_slope, o->slope));
    json_object_set_new(object, "biases", json_boolean(row->has_biases));
    json_object_set_new(object, "sink", real_if(o->has_sink, o->sink));
}

static json_t *class_json(const struct bound_options *o, const struct bound_row *row) {
    json_t *object = json_pack(
        "{s:s,s:i,s:s,s:f,s:s,s:b,s:s,s:i,s:i,s:s,s:f,s:f,s:s,s:s,s:s,s:s,s:b,s:b}", "score",
        bound_score_names[o->score], "score_promotes", o->score_promotes, "scaled_query",
        bound_scaled_names[o->scales], "exp_error", o->exp_error, "weights",
        bound_format_name(o->weights), "rounded_sum", o->rounded_sum, "accumulate",
        bound_accumulate_names[o->accumulate], "accumulate_promotes", o->accumulate_promotes,
        "chunk", o->chunk, "merges", bound_merges_names[o->merges], "above", o->above, "behind",
        o->behind, "part_lse", bound_format_name(o->part_lse), "partials",
        bound_format_name(o->partials), "divide", o->immediate ? "immediate" : "deferred", "output",
        bound_format_name(o->output), "truncate", o->truncate, "flush", o->flush);
    add_changes(object, o, row);
    add_declared(object, o);
    add_cache(object, o, row);
    return object;
}

/* ---- What is declared ---- */

struct member {
    const char *name;
    double value;
};

static void add_members(json_t *object, const struct member *members, size_t n) {
    for (size_t i = 0; i < n; i++) {
        json_object_set_new(object, members[i].name, real(members[i].value));
    }
}

#define ADD_MEMBERS(object, members)                                                               \
    add_members(object, members, sizeof(members) / sizeof(members)[0])

static json_t *format_json(const struct cp_format *format) {
    return json_pack("{s:f,s:f,s:f}", "unit", format->unit, "tiny", format->tiny, "largest",
                     format->largest);
}

static json_t *score_json(const struct cp_score_arithmetic *s) {
    const struct member members[] = {
        {"term_unit", s->term_unit}, {"term_tiny", s->term_tiny},   {"unit", s->unit},
        {"tiny", s->tiny},           {"scale_unit", s->scale_unit}, {"scale_tiny", s->scale_tiny},
    };
    json_t *object = json_object();
    ADD_MEMBERS(object, members);
    json_object_set_new(object, "depth", json_integer(s->depth));
    json_object_set_new(object, "n_additions", json_integer(s->n_additions));
    json_object_set_new(object, "scaled_before", json_integer(s->scaled_before));
    json_object_set_new(object, "as_one", json_integer(s->as_one));
    return object;
}

static json_t *arithmetic_json(const struct cp_arithmetic *a) {
    const struct member members[] = {
        {"u_arg", a->u_arg}, {"u_ref", a->u_ref},   {"u_move", a->u_move}, {"eps", a->eps},
        {"kappa", a->kappa}, {"u_n", a->u_n},       {"eta_n", a->eta_n},   {"u_o", a->u_o},
        {"eta_o", a->eta_o}, {"u_part", a->u_part}, {"u_div", a->u_div},   {"eta_div", a->eta_div},
        {"above", a->above}, {"below", a->below},
    };
    json_t *object = json_object();
    ADD_MEMBERS(object, members);
    json_object_set_new(object, "score", score_json(&a->score));
    json_object_set_new(object, "weights", format_json(&a->weights));
    json_object_set_new(object, "rounded_sum", json_integer(a->rounded_sum));
    json_object_set_new(object, "output", format_json(&a->output));
    json_object_set_new(object, "as_one_o", json_integer(a->as_one_o));
    return object;
}

static json_t *declared_json(const struct bound_figures *f) {
    const struct cp_counts *c = &f->counts;
    return json_pack("{s:o,s:{s:i,s:i,s:i,s:i,s:f,s:f}}", "arithmetic",
                     arithmetic_json(&f->arithmetic), "counts", "depth_n", c->depth_n, "depth_o",
                     c->depth_o, "stores", c->stores, "changes", c->changes, "operations_n",
                     c->operations_n, "operations_o", c->operations_o);
}

/* ---- The rest ---- */

static json_t *parts_json(const struct bound_figures *f) {
    json_t *parts = json_array();
    for (int p = 0; p < CP_TOLERANCE_PARTS; p++) {
        json_array_append_new(parts, json_pack("{s:s,s:f,s:i,s:o}", "part", bound_part_names[p],
                                               "share", f->share[p], "largest_in", f->dominates[p],
                                               "lost", real(f->lost[p])));
    }
    return parts;
}

/* Without a bound there is no usual error either. */
static json_t *numbers_json(const struct bound_numbers *each, int n) {
    json_t *attention = json_array(), *bound = json_array(), *rms = json_array();
    for (int i = 0; i < n; i++) {
        json_array_append_new(attention, real(each->attention[i]));
        json_array_append_new(bound, real(each->bound[i]));
        json_array_append_new(rms, real_if(isfinite(each->bound[i]), each->rms[i]));
    }
    return json_pack("{s:o,s:o,s:o}", "attention", attention, "bound", bound, "rms", rms);
}

static void add_row(json_t *object, const struct bound_options *o, const struct bound_row *row) {
    json_object_set_new(object, "keys", json_integer(row->n));
    json_object_set_new(object, "head_dim", json_integer(row->d));
    json_object_set_new(object, "value_dim", json_integer(row->d_v));
    if (o->case_file != NULL) {
        json_object_set_new(object, "case", json_string(o->case_file));
    } else {
        json_object_set_new(object, "family", json_string(bound_family_names[o->family]));
        json_object_set_new(object, "seed", json_integer((json_int_t)o->seed));
    }
    if (o->case_file == NULL || o->input_given) {
        json_object_set_new(object, "input", json_string(bound_format_name(o->input)));
    }
}

int bound_print_json(FILE *file, const struct bound_options *o, const struct bound_row *row,
                     const struct bound_figures *f, const struct bound_numbers *each) {
    char text[BOUND_TEXT];
    json_t *object = json_pack("{s:s,s:s}", "command", "bound", "version", CP_VERSION);
    if (object == NULL) {
        return -1;
    }
    add_row(object, o, row);
    json_object_set_new(object, "class", class_json(o, row));
    json_object_set_new(object, "declared", declared_json(f));
    json_object_set_new(object, "elements", json_integer(f->elements));
    json_object_set_new(object, "claimed", json_integer(f->claimed));
    json_object_set_new(object, "bound", pair_json(f, f->bound));
    json_object_set_new(object, "size", pair_json(f, f->size));
    json_object_set_new(object, "ulps", pair_json(f, f->ulps));
    json_object_set_new(object, "rms", pair_json(f, f->rms));
    json_object_set_new(object, "numbers", numbers_json(each, f->elements));
    json_object_set_new(object, "parts", parts_json(f));
    json_object_set_new(object, "dominates",
                        f->claimed > 0 ? json_string(bound_part_names[f->largest_part])
                                       : json_null());
    json_object_set_new(object, "left", real(f->left));
    json_object_set_new(object, "lse_bound", real(f->lse_bound));
    json_object_set_new(object, "largest_score", real(f->largest_score));
    json_object_set_new(object, "largest_plain_score", real(f->largest_plain));
    json_object_set_new(object, "largest_changed_score",
                        real_if(o->has_cap || o->has_slope || row->has_biases, f->largest_changed));
    json_object_set_new(object, "largest_products", real(f->largest_products));
    bound_reason_text(o, row, f, text, sizeof text);
    json_object_set_new(object, "reason", text[0] == '\0' ? json_null() : json_string(text));
    int failed = json_dumpf(object, file, JSON_INDENT(2));
    fputs("\n", file);
    json_decref(object);
    return failed;
}
