/* SPDX-License-Identifier: Apache-2.0 */
/* The report as JSON: spec/simulate-modules-report.schema.json. */
#include <jansson.h>
#include <stdlib.h>

#include "chunkproof/version.h"
#include "cli/base/clean.h"
#include "cli/modules/report.h"

static json_t *spread_json(const struct modules_spread *spread) {
    return json_pack("{s:f, s:f, s:f}", "mean", spread->mean, "p50", spread->p50, "p99",
                     spread->p99);
}

static json_t *counts_json(const struct modules_counts *counts) {
    return json_pack("{s:I, s:I}", "items", (json_int_t)counts->items, "tokens",
                     (json_int_t)counts->tokens);
}

static json_t *time_json(const struct modules_time *time) {
    return json_pack("{s:f, s:f, s:f, s:f, s:f}", "linear", time->linear, "attention",
                     time->attention, "reading", time->reading, "copying", time->copying, "joining",
                     time->joining);
}

static json_t *schema_json(const struct modules_report *report) {
    const struct modules_options *o = report->options;
    const struct pml_schema *s = report->items->schema;
    char *file = o->schema != NULL ? text_clean(o->schema) : NULL;
    json_t *object = json_pack("{s:s?, s:s, s:i, s:i}", "file", file, "tokens_are",
                               o->in_bytes ? "bytes" : "words", "positions", s->size[0], "items",
                               report->items->n);
    free(file);
    return object;
}

static json_t *load_json(const struct modules_options *o) {
    return json_pack("{s:i, s:i, s:f, s:i, s:I}", "prompts", o->prompts, "imports", o->imports,
                     "zipf", o->zipf, "new", o->new, "seed", (json_int_t)o->seed);
}

static json_t *machine_json(const struct modules_report *report) {
    const struct modules_machine *m = &report->settings->machine;
    char *name = text_clean(report->options->machine != NULL ? report->options->machine : "a100");
    json_t *object =
        json_pack("{s:s?, s:f, s:f, s:f, s:f, s:f}", "name", name, "fixed_us", m->fixed_us,
                  "flops_per_second", m->flops_per_second, "bytes_per_second", m->bytes_per_second,
                  "copy_bytes_per_second", m->copy_bytes_per_second, "join_bytes_per_second",
                  m->join_bytes_per_second);
    free(name);
    return object;
}

static json_t *server_json(const struct modules_report *report) {
    const struct modules_options *o = report->options;
    const struct cp_dims *model = &o->model;
    return json_pack("{s:i, s:o, s:{s:f, s:i, s:i, s:i, s:i, s:i, s:f}}", "batch", o->batch,
                     "machine", machine_json(report), "model", "parameters", model->parameters,
                     "layers", model->layers, "heads", model->heads, "kv_heads", model->kv_heads,
                     "head_dim", model->head_dim, "bytes", model->number_bytes, "token_bytes",
                     report->summary.token_bytes);
}

static json_t *tier_json(const struct modules_report *report, int t, long long copied) {
    return json_pack("{s:f, s:I, s:I, s:I, s:I}", "memory_gib", report->options->memory[t],
                     "capacity_tokens", (json_int_t)report->settings->capacity[t], "peak_tokens",
                     (json_int_t)report->run->peak[t], "left_items",
                     (json_int_t)report->run->left[t], "copied_tokens", (json_int_t)copied);
}

static json_t *batch_json(const struct modules_report *report) {
    const struct modules_run *run = report->run;
    return json_pack("{s:i, s:I, s:I, s:I, s:I, s:f}", "batches", run->batches, "own_tokens",
                     (json_int_t)run->own.sum, "shared_tokens", (json_int_t)run->shared.sum,
                     "own_tokens_most", (json_int_t)run->own.most, "shared_tokens_most",
                     (json_int_t)run->shared.most, "reduction", report->summary.reduction);
}

static json_t *taken_json(const struct modules_run *run) {
    return json_pack("{s:o, s:o, s:o, s:o}", "gpu", counts_json(&run->from[MODULES_GPU]), "cpu",
                     counts_json(&run->from[MODULES_CPU]), "encoded",
                     counts_json(&run->from[MODULES_NOWHERE]), "kept_nowhere",
                     counts_json(&run->unkept));
}

static json_t *first_token_json(const struct modules_report *report) {
    return json_pack("{s:o, s:o, s:f, s:o, s:o}", "full_ms", spread_json(&report->summary.full),
                     "cached_ms", spread_json(&report->summary.cached), "faster",
                     report->summary.faster, "full_seconds", time_json(&report->run->full),
                     "cached_seconds", time_json(&report->run->cached));
}

int modules_report_json(const struct modules_report *report, FILE *out) {
    const struct modules_run *run = report->run;
    json_t *object = json_pack(
        "{s:s, s:s, s:o, s:o, s:o, s:b, s:i, s:I, s:I, s:o, s:{s:o, s:o}, s:o, s:o}", "command",
        "simulate --modules", "version", cp_version(), "schema", schema_json(report), "load",
        load_json(report->options), "server", server_json(report), "interrupted",
        report->is_interrupted, "prompts", run->prompts, "dropped", (json_int_t)run->dropped,
        "argument_tokens", (json_int_t)run->arguments, "taken", taken_json(run), "tiers", "gpu",
        tier_json(report, MODULES_GPU, run->from[MODULES_CPU].tokens), "cpu",
        tier_json(report, MODULES_CPU, run->to_host), "first_token", first_token_json(report),
        "batch_memory", batch_json(report));
    int failed =
        object == NULL || json_dumpf(object, out, JSON_INDENT(2)) != 0 || fputc('\n', out) == EOF;
    json_decref(object);
    return failed ? -1 : 0;
}
