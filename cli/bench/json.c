/* SPDX-License-Identifier: Apache-2.0 */
/* The report as JSON: spec/bench-report.schema.json. */
#include <jansson.h>

#include "chunkproof/version.h"
#include "cli/bench/report.h"

static json_t *json_spread(const struct bench_spread *spread) {
    return json_pack("{s:f, s:f, s:f}", "median", spread->median, "least", spread->least, "most",
                     spread->most);
}

static json_t *json_machine(const struct bench_report *report) {
    const struct bench_machine *m = &report->machine;
    return json_pack("{s:s, s:s, s:s, s:i, s:[f, f, f], s:f}", "processor", m->processor, "system",
                     m->system, "compiler", m->compiler, "processors", m->processors, "cache_bytes",
                     m->cache[0], m->cache[1], m->cache[2], "memory_bytes", m->memory);
}

static json_t *json_limits(const struct bench_report *report) {
    return json_pack("{s:o, s:s, s:o}", "read_bytes_per_second", json_spread(&report->read),
                     "way_of_reading", report->way, "flops_per_second",
                     json_spread(&report->multiply));
}

static json_t *json_series(const struct bench_cell *cell, int i) {
    const struct bench_series *series = &cell->series[i];
    json_t *object = json_pack("{s:s, s:s, s:b}", "name", series->name, "note", series->note,
                               "measured", series->measured);
    if (series->measured && cell->n_rounds > 0) {
        struct bench_spread wall = bench_spread_of(series->wall, cell->n_rounds);
        struct bench_spread cpu = bench_spread_of(series->cpu, cell->n_rounds);
        struct bench_spread of_limit = bench_of_limit(cell, i), of_tree = bench_of_tree(cell, i);
        struct bench_spread cpu_of_limit = bench_cpu_of_limit(cell, i);
        struct bench_spread cpu_of_tree = bench_cpu_of_tree(cell, i);
        json_object_set_new(object, "seconds", json_spread(&wall));
        json_object_set_new(object, "cpu_seconds", json_spread(&cpu));
        json_object_set_new(object, "of_limit", json_spread(&of_limit));
        json_object_set_new(object, "of_tree", json_spread(&of_tree));
        json_object_set_new(object, "cpu_of_limit", json_spread(&cpu_of_limit));
        json_object_set_new(object, "cpu_of_tree", json_spread(&cpu_of_tree));
    }
    return object;
}

static json_t *json_cell(const struct bench_cell *cell) {
    static const char *const ends[] = {"not-run", "measured", "no-room", "wrong"};
    const struct bench_load *load = &cell->load;
    json_t *series = json_array();
    for (int i = 0; i < cell->n_series; i++) {
        json_array_append_new(series, json_series(cell, i));
    }
    json_t *object = json_pack(
        "{s:s, s:i, s:i, s:i, s:i, s:s, s:i, s:i, s:i, s:i, s:s, s:s, s:I, s:f, s:f, "
        "s:f, s:i, s:f, s:o}",
        "part", load->part, "b", load->b, "n", load->n, "n_s", bench_load_shared(load), "window",
        load->window, "type", bench_load_type(load), "heads", load->n_heads, "kv_heads",
        load->n_kv_heads, "head_dim", load->head_dim, "chunk", load->chunk_size, "end",
        ends[cell->end], "note", cell->note, "distinct_tokens", (json_int_t)cell->distinct, "bytes",
        cell->bytes, "flops", cell->flops, "fp32_flops", cell->fp32_flops, "rounds", cell->n_rounds,
        "share", bench_cell_share(cell), "series", series);
    struct bench_standing standing = bench_stands(cell);
    if (object != NULL && standing.peer != NULL) {
        json_object_set_new(object, "beside_peer",
                            json_pack("{s:s, s:f, s:f, s:f, s:s, s:f}", "peer", standing.peer,
                                      "ahead", standing.ahead, "reading", standing.reading,
                                      "multiplying", standing.multiplying, "limit",
                                      bench_limited_by(&standing), "at_limit", standing.at_limit));
    }
    if (object != NULL && cell->n_rounds > 0) {
        struct bench_spread read = bench_spread_of(cell->read, cell->n_rounds);
        struct bench_spread multiply = bench_spread_of(cell->multiply, cell->n_rounds);
        json_object_set_new(object, "read_bytes_per_second", json_spread(&read));
        json_object_set_new(object, "flops_per_second", json_spread(&multiply));
    }
    return object;
}

static json_t *json_goal(const struct bench_goal *goal) {
    json_t *object = json_pack("{s:s, s:s, s:f, s:b, s:i, s:b}", "what", goal->what, "unit",
                               goal->unit, "wanted", goal->wanted, "at_least", goal->at_least,
                               "measured", goal->n, "met", bench_goal_met(goal));
    if (object != NULL && goal->n > 0) {
        json_object_set_new(object, "worst", json_real(goal->worst));
        json_object_set_new(object, "best", json_real(goal->best));
        json_object_set_new(object, "where", json_string(goal->where));
    }
    return object;
}

/* ---- Tree, trace, gate; null where they were not measured ---- */

static json_t *json_size(const struct forest_size *size) {
    json_t *operations = json_object();
    for (int k = 0; k < FOREST_OPERATIONS && size->n_rounds > 0; k++) {
        struct bench_spread spread = bench_spread_of(size->seconds[k], size->n_rounds);
        json_object_set_new(operations, forest_words[k], json_spread(&spread));
    }
    return json_pack("{s:i, s:i, s:f, s:o}", "live", size->live, "rounds", size->n_rounds,
                     "needs_bytes", size->needs, "seconds", operations);
}

static json_t *json_forest(const struct forest *forest) {
    json_t *sizes = json_array(), *laws = json_object();
    for (int i = 0; i < forest->n_sizes; i++) {
        json_array_append_new(sizes, json_size(&forest->size[i]));
    }
    for (int k = 0; k < FOREST_OPERATIONS && forest->has_law; k++) {
        const struct bench_law *law = &forest->law[k];
        json_object_set_new(laws, forest_words[k],
                            json_pack("{s:f, s:f, s:f}", "factor", law->factor, "exponent",
                                      law->exponent, "off", law->off));
    }
    json_t *object = json_pack("{s:i, s:i, s:i, s:i, s:o, s:o}", "prompt", FOREST_PROMPT, "shared",
                               FOREST_SHARED, "prefixes", FOREST_GROUPS, "chunk", FOREST_CHUNK,
                               "sizes", sizes, "laws", laws);
    if (object != NULL && forest->n_long > 0) {
        struct bench_spread warm = bench_spread_of(forest->warm, forest->n_long);
        struct bench_spread cold = bench_spread_of(forest->cold, forest->n_long);
        json_object_set_new(object, "long_join",
                            json_pack("{s:i, s:i, s:i, s:o, s:o}", "prompt", FOREST_LONG, "shared",
                                      FOREST_LONG_SHARED, "rounds", forest->n_long, "warm_seconds",
                                      json_spread(&warm), "cold_seconds", json_spread(&cold)));
    }
    return object;
}

static json_t *json_traffic(const struct traffic *t) {
    return json_pack("{s:s, s:i, s:I, s:I, s:i, s:f, s:f, s:f, s:I, s:{s:f, s:f, s:f}}", "source",
                     t->source, "joined", t->joined, "tokens", (json_int_t)t->tokens,
                     "shared_tokens", (json_int_t)t->shared, "chunks", t->chunks, "joins_seconds",
                     t->joins, "replay_seconds", t->replay, "serve_seconds", t->serve,
                     "appended_tokens", (json_int_t)t->appended, "join_seconds", "median",
                     t->join.median, "p99", t->join.p99, "most", t->join.most);
}

static json_t *json_tiers(const struct bench_report *report) {
    json_t *tiers = json_array();
    for (int i = 0; i < GATE_TIERS; i++) {
        const struct tier *tier = &report->tier[i];
        if (tier->measured) {
            json_array_append_new(
                tiers, json_pack("{s:s, s:I, s:I, s:f, s:f}", "tier", gate_tier_names[i], "cases",
                                 (json_int_t)tier->cases, "all_cases", (json_int_t)tier->all,
                                 "seconds", tier->seconds, "whole_seconds", tier->whole));
        }
    }
    return json_pack("{s:s, s:o}", "kernel", report->options->kernel, "tiers", tiers);
}

static json_t *json_fit(const struct bench_cost_fit *fit) {
    return json_pack("{s:f, s:f, s:f, s:f}", "fixed_seconds", fit->fixed, "seconds_per_byte",
                     fit->per_byte, "seconds_per_flop", fit->per_flop, "off", fit->off);
}

int bench_report_json(const struct bench_report *report, FILE *out) {
    json_t *cells = json_array(), *goals = json_array();
    for (int i = 0; i < report->n_cells; i++) {
        json_array_append_new(cells, json_cell(&report->cell[i]));
    }
    for (int i = 0; i < report->n_goals; i++) {
        json_array_append_new(goals, json_goal(&report->goal[i]));
    }
    json_t *object = json_pack(
        "{s:s, s:s, s:o, s:i, s:s, s:b, s:b, s:f, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "format",
        "chunkproof bench report 1", "chunkproof", cp_version(), "machine", json_machine(report),
        "threads", report->threads, "unit", bench_unit_words(report->version), "smoke",
        report->options->smoke, "interrupted", report->interrupted, "seconds", report->seconds,
        "limits", json_limits(report), "attention", cells, "attention_cost",
        report->has_fit ? json_fit(&report->fit) : json_null(), "tree",
        report->forest.n_sizes > 0 ? json_forest(&report->forest) : json_null(), "trace",
        report->traffic.source != NULL ? json_traffic(&report->traffic) : json_null(), "gate",
        report->tier[0].measured ? json_tiers(report) : json_null(), "goals", goals);
    int failed = object == NULL || json_array_size(cells) != (size_t)report->n_cells ||
                 json_array_size(goals) != (size_t)report->n_goals ||
                 json_dumpf(object, out, JSON_INDENT(2)) != 0 || fputc('\n', out) == EOF;
    json_decref(object);
    return failed ? -1 : 0;
}
