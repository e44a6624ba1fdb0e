/* SPDX-License-Identifier: Apache-2.0 */
/* The report as JSON: spec/simulate-report.schema.json. */
#include <jansson.h>

#include "chunkproof/version.h"
#include "cli/simulate/report.h"
#include "cli/trace/load.h"

static json_t *json_spread(const struct simulate_spread *spread) {
    return json_pack("{s:f, s:f, s:f}", "mean", spread->mean, "p50", spread->p50, "p99",
                     spread->p99);
}

static json_t *json_run(const struct simulate_point *point, int sharing) {
    const struct simulate_run *run = &point->run[sharing];
    const struct simulate_summary *summary = &point->summary[sharing];
    return json_pack(
        "{s:b, s:o, s:o, s:f, s:f, s:f, s:i, s:i, s:f, s:f, s:f, s:I, s:I, s:I, s:I, s:i}",
        "sharing", sharing, "latency_ms_per_token", json_spread(&summary->latency),
        "first_token_ms", json_spread(&summary->first_token), "tokens_per_second",
        summary->tokens_per_second, "requests_per_second", summary->requests_per_second,
        "peak_bytes", summary->peak_bytes, "peak_chunks", run->peak_chunks, "peak_batch",
        run->peak_batch, "mean_batch", summary->mean_batch, "in_system", summary->in_system, "busy",
        summary->busy, "iterations", (json_int_t)run->iterations, "prompt_tokens",
        (json_int_t)run->prompt_tokens, "reused_tokens", (json_int_t)run->reused_tokens,
        "completion_tokens", (json_int_t)run->completion_tokens, "rejected", run->rejected);
}

static json_t *json_measured(const struct cp_peak_row *row) {
    return json_pack("{s:s, s:f, s:s, s:i}", "system", row->system, "latency_ms_per_token",
                     row->latency, "peak_gib", row->published, "peak_batch", row->peak_batch);
}

static json_t *json_point(const struct simulate_report *report,
                          const struct simulate_point *point) {
    const struct simulate_poisson *poisson = &point->poisson;
    json_t *object = json_pack("{s:i, s:[o, o]}", "requests", point->requests, "runs",
                               json_run(point, 0), json_run(point, 1));
    if (report->options->file == NULL) {
        json_object_set_new(object, "poisson",
                            json_pack("{s:f, s:i, s:i, s:i, s:I}", "rate", poisson->rate, "prompt",
                                      poisson->prompt, "shared", poisson->shared, "completion",
                                      poisson->completion, "seed", (json_int_t)poisson->seed));
    }
    if (point->published != NULL) {
        json_object_set_new(object, "measured",
                            json_pack("[o, o]", json_measured(&point->published[0]),
                                      json_measured(&point->published[1])));
    }
    return object;
}

static json_t *json_cost(const struct simulate_options *options) {
    const struct simulate_cost *cost = &options->settings.cost;
    return json_pack("{s:s?, s:f, s:f, s:f, s:f, s:f}", "file", options->cost, "fixed_us",
                     cost->fixed_us, "sequence_us", cost->sequence_us, "prefill_token_us",
                     cost->prefill_token_us, "kv_bytes_per_second", cost->bytes_per_second,
                     "attention_flops_per_second", cost->flops_per_second);
}

static json_t *json_server(const struct simulate_options *options) {
    const struct simulate_settings *settings = &options->settings;
    const struct cp_dims *model = &settings->model;
    json_t *memory = options->memory > 0.0 ? json_real(options->memory) : json_null();
    return json_pack("{s:i, s:o, s:i, s:o, s:{s:i, s:i, s:i, s:i, s:i}}", "batch", settings->batch,
                     "memory_gib", memory, "chunk", settings->chunk, "cost", json_cost(options),
                     "model", "layers", model->layers, "heads", model->heads, "kv_heads",
                     model->kv_heads, "head_dim", model->head_dim, "bytes", model->number_bytes);
}

int simulate_report_json(const struct simulate_report *report, FILE *out) {
    const struct simulate_options *options = report->options;
    const char *source = options->file != NULL ? trace_source(options->file)
                         : options->table4     ? "ACL Table 4"
                                               : "Poisson";
    json_t *points = json_array();
    int failed = points == NULL;
    for (int i = 0; i < report->n_points && !failed; i++) {
        failed = json_array_append_new(points, json_point(report, &report->point[i])) != 0;
    }
    json_t *object = json_pack("{s:s, s:s, s:s, s:f, s:o, s:o}", "command", "simulate", "version",
                               cp_version(), "source", source, "speed", options->speed, "server",
                               json_server(options), "points", points);
    failed = failed || object == NULL || json_dumpf(object, out, JSON_INDENT(2)) != 0 ||
             fputc('\n', out) == EOF;
    json_decref(object);
    return failed ? -1 : 0;
}
