/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/trace/report.h"

#include <jansson.h>
#include <math.h>

#include "chunkproof/version.h"
#include "cli/base/command.h"

static const char *const end_names[] = {"complete", "violation", "pool full", "interrupted",
                                        "out of memory"};
static const char *const event_names[] = {"end", "join", "decode", "leave"};

/* The papers' estimate of the gain, 1 / (1 - r); infinite when every token is shared. */
static double estimated_gain(double r) {
    return r < 1.0 ? 1.0 / (1.0 - r) : INFINITY;
}

static double memory_saved(const struct trace_figures *figures) {
    return figures->paths_peak == 0
               ? 0.0
               : 1.0 - (double)figures->peak.used / (double)figures->paths_peak;
}

static int n_violations(const struct trace_figures *figures) {
    return figures->end == TRACE_VIOLATION ? 1 : 0;
}

static double percent(long long part, long long whole) {
    return whole == 0 ? 0.0 : 100.0 * (double)part / (double)whole;
}

/* ---- Text ---- */

static void print_moment(const char *when, const struct trace_moment *moment, int block_size,
                         FILE *out) {
    double r = trace_sharing_ratio(moment, block_size);
    fprintf(out, "sharing %s\n", when);
    fprintf(out, "  r, tokens that are shared    %12.4f\n", r);
    fprintf(out, "  1 / (1 - r), the estimate    %12.4f\n", estimated_gain(r));
    fprintf(out, "  gain in chunks, exactly      %12.4f\n", trace_exact_gain(moment));
}

void trace_report_text(const struct trace_report *report, FILE *out) {
    const struct trace_figures *figures = report->figures;
    const struct trace_settings *settings = report->settings;
    int block = report->trace->block_size;

    fprintf(out, "trace      %s\n", report->source);
    fprintf(out, "replay     %s", settings->retain ? "arrivals only, nobody leaves" : "");
    if (!settings->retain) {
        fprintf(out, "one token per %lld ms", settings->ms_per_token);
    }
    fprintf(out, ", chunks of %d tokens, a pool of %d, checks: %s%s\n", block, settings->capacity,
            trace_check_name(settings->check), settings->opt ? ", the tree of opt/" : "");
    fprintf(out, "end        %s\n\n", end_names[figures->end]);

    fprintf(out, "requests                       %12d of %d\n", figures->requests,
            report->trace->n_requests);
    fprintf(out, "  rejected, no room            %12d\n", figures->rejected);
    fprintf(out, "  alive at once, at most       %12d\n", figures->live_peak);
    fprintf(out, "prompt tokens                  %12lld\n", figures->prompt_tokens);
    fprintf(out, "completion tokens              %12lld in %lld iterations\n",
            figures->output_tokens, figures->iterations);
    fprintf(out, "full blocks in prompts         %12lld\n", figures->full_blocks);
    fprintf(out, "  already there at the join    %12lld (%.1f %%)\n", figures->matched_blocks,
            percent(figures->matched_blocks, figures->full_blocks));
    fprintf(out, "chunks taken from the pool     %12lld\n", figures->allocated_chunks);
    fprintf(out, "chunks in use, at most         %12lld\n", figures->peak.used);
    fprintf(out, "  if nothing were shared       %12lld\n", figures->paths_peak);
    fprintf(out, "  memory saved                 %12.1f %%\n", 100.0 * memory_saved(figures));
    print_moment("when most chunks are in use", &figures->peak, block, out);
    if (figures->iterations > 0) {
        print_moment("on average over the iterations", &figures->sum, block, out);
    }
    fprintf(out, "invariant checks               %12lld\n", figures->invariant_checks);
    fprintf(out, "violations                     %12d\n", n_violations(figures));
    fprintf(out, "seconds                        %12.2f\n", report->seconds);
}

/* ---- JSON ---- */

static json_t *json_moment(const struct trace_moment *moment, int block_size) {
    double r = trace_sharing_ratio(moment, block_size);
    json_t *estimate = r < 1.0 ? json_real(estimated_gain(r)) : json_null();
    return json_pack("{s:f, s:o, s:f}", "r", r, "estimated_gain", estimate, "exact_gain",
                     trace_exact_gain(moment));
}

static json_t *json_violation(const struct trace_figures *figures) {
    const struct trace_violation *violation = &figures->violation;
    if (figures->end != TRACE_VIOLATION) {
        return json_null();
    }
    return json_pack("{s:s, s:o, s:s, s:I, s:s}", "clause", violation->clause, "request",
                     violation->request < 0 ? json_null() : json_integer(violation->request + 1),
                     "operation", event_names[figures->last_event.kind], "iteration",
                     (json_int_t)figures->iteration, "text", violation->text);
}

static json_t *json_figures(const struct trace_report *report) {
    const struct trace_figures *figures = report->figures;
    int block = report->trace->block_size;
    return json_pack(
        "{s:i, s:i, s:i, s:I, s:I, s:I, s:I, s:I, s:f, s:i, s:I, s:I, s:I, s:I, s:o, s:o, s:I, "
        "s:i, "
        "s:o, s:f}",
        "requests", figures->requests, "requests_in_trace", report->trace->n_requests, "rejected",
        figures->rejected, "full_blocks", (json_int_t)figures->full_blocks, "matched_blocks",
        (json_int_t)figures->matched_blocks, "allocated_chunks",
        (json_int_t)figures->allocated_chunks, "peak_chunks", (json_int_t)figures->peak.used,
        "peak_chunks_without_sharing", (json_int_t)figures->paths_peak, "memory_saved",
        memory_saved(figures), "live_peak", figures->live_peak, "prompt_tokens",
        (json_int_t)figures->prompt_tokens, "output_tokens", (json_int_t)figures->output_tokens,
        "tokens", (json_int_t)(figures->prompt_tokens + figures->output_tokens), "iterations",
        (json_int_t)figures->iterations, "sharing_at_peak", json_moment(&figures->peak, block),
        "sharing_mean", figures->iterations > 0 ? json_moment(&figures->sum, block) : json_null(),
        "invariant_checks", (json_int_t)figures->invariant_checks, "violations",
        n_violations(figures), "violation", json_violation(figures), "seconds", report->seconds);
}

int trace_report_json(const struct trace_report *report, FILE *out) {
    const struct trace_settings *settings = report->settings;
    json_t *object = json_pack(
        "{s:s, s:s, s:s, s:s, s:s, s:s, s:s, s:i, s:o, s:i, s:i}", "command", "trace", "version",
        cp_version(), "tree", settings->opt ? "opt" : "ref", "source", report->source, "mode",
        settings->retain ? "retain" : "decode", "check", trace_check_name(settings->check), "end",
        end_names[report->figures->end], "block", report->trace->block_size, "ms_per_token",
        settings->retain ? json_null() : json_integer(settings->ms_per_token), "hash_bits",
        settings->hash_bits, "capacity", settings->capacity);
    json_t *figures = json_figures(report);
    int failed = object == NULL || figures == NULL || json_object_update(object, figures) != 0 ||
                 json_dumpf(object, out, JSON_INDENT(2)) != 0 || fputc('\n', out) == EOF;
    json_decref(object);
    json_decref(figures);
    return failed ? -1 : 0;
}

/* ---- Problems ---- */

static void print_violation(const struct trace_figures *figures, FILE *out) {
    const struct trace_event *event = &figures->last_event;
    fprintf(out, "chunkproof trace: violation of %s", figures->violation.clause);
    if (figures->violation.request >= 0) {
        fprintf(out, " at request %d", figures->violation.request + 1);
    }
    fprintf(out, " (%s", event_names[event->kind]);
    if (event->request >= 0) {
        fprintf(out, " of request %d", event->request + 1);
    }
    fprintf(out, ", iteration %lld): %s\n", figures->iteration, figures->violation.text);
}

void trace_report_problem(const struct trace_report *report, FILE *out) {
    const struct trace_figures *figures = report->figures;
    if (figures->end == TRACE_VIOLATION) {
        print_violation(figures, out);
    } else if (figures->end == TRACE_OUT_OF_MEMORY) {
        fprintf(out,
                "chunkproof trace: out of memory; tree and plan reserve %.1f GiB of address space "
                "and use what the trace needs (is address space limited? see ulimit -v)\n",
                (double)(sizeof(struct cp_tree) + sizeof(struct cp_plan)) / (1 << 30));
    } else if (figures->end == TRACE_POOL_FULL) {
        fprintf(out,
                "chunkproof trace: iteration %lld needs more chunks than the pool of %d has; the "
                "replay ends there; --capacity %lld is enough for the whole trace\n",
                figures->iteration, report->settings->capacity, report->needed);
    }
}

int trace_exit_status(int end) {
    switch (end) {
    case TRACE_COMPLETE:
        return EXIT_RIGHT;
    case TRACE_VIOLATION:
        return EXIT_FINDING;
    case TRACE_INTERRUPTED:
        return EXIT_INTERRUPTED;
    default:
        return EXIT_BAD_USE;
    }
}
