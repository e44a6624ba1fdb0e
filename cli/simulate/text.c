/* SPDX-License-Identifier: Apache-2.0 */
/* The report as text of at most 100 columns, and as CSV. */
#include <stdlib.h>

#include "cli/simulate/report.h"
#include "cli/trace/load.h"

#define GIB 0x1p30

/* ---- What was simulated ---- */

static void print_cost(const struct simulate_cost *cost, const char *file, FILE *out) {
    fprintf(out, "cost       %s: %g us", file == NULL ? "the example, not measured" : file,
            cost->fixed_us);
    if (cost->sequence_us > 0.0) {
        fprintf(out, " + %g us/sequence", cost->sequence_us);
    }
    if (cost->prefill_token_us > 0.0) {
        fprintf(out, " + %g us/prompt token", cost->prefill_token_us);
    }
    fputs("\n", out);
    if (cost->bytes_per_second > 0.0) {
        fprintf(out, "           + bytes of K and V at %g GB/s\n", cost->bytes_per_second / 1e9);
    }
    if (cost->flops_per_second > 0.0) {
        fprintf(out, "           + attention at %g TFLOP/s\n", cost->flops_per_second / 1e12);
    }
}

static void print_server(const struct simulate_options *options, FILE *out) {
    const struct simulate_settings *settings = &options->settings;
    const struct cp_dims *model = &settings->model;
    fprintf(
        out, "model      %d layers, %d K/V heads of %d numbers of %d bytes: %.0f bytes per token\n",
        model->layers, model->kv_heads, model->head_dim, model->number_bytes, cp_kv_bytes(model));
    fprintf(out, "server     %d sequences at most, chunks of %d tokens, ", settings->batch,
            settings->chunk);
    if (options->memory > 0.0) {
        fprintf(out, "%g GiB for K and V\n", options->memory);
    } else {
        fputs("no memory limit\n", out);
    }
    print_cost(&settings->cost, options->cost, out);
}

static void print_load(const struct simulate_report *report, FILE *out) {
    const struct simulate_options *options = report->options;
    const struct simulate_poisson *poisson = &report->point[0].poisson;
    if (options->file != NULL) {
        fprintf(out, "load       %s, %d requests", trace_source(options->file),
                report->point[0].requests);
        if (options->speed < 1.0 || options->speed > 1.0) {
            fprintf(out, ", %g times as fast", options->speed);
        }
        fputs("\n", out);
        return;
    }
    fprintf(out, "load       Poisson arrivals, %d requests, seed %llu\n", poisson->requests,
            poisson->seed);
    if (!options->table4) {
        fprintf(
            out,
            "           %d prompt tokens, of which all requests share %d, %d completion tokens\n",
            poisson->prompt, poisson->shared, poisson->completion);
    }
    if (report->n_points == 1) {
        fprintf(out, "           %g requests per second\n", poisson->rate);
    }
}

/* ---- One point ---- */

static void print_numbers(const char *name, double without, double with, int digits, FILE *out) {
    fprintf(out, "%-36s%16.*f%16.*f\n", name, digits, without, digits, with);
}

static void print_counts(const char *name, long long without, long long with, FILE *out) {
    fprintf(out, "%-36s%16lld%16lld\n", name, without, with);
}

static void print_spread(const char *name, const struct simulate_spread *without,
                         const struct simulate_spread *with, FILE *out) {
    print_numbers(name, without->mean, with->mean, 2, out);
    print_numbers("  median", without->p50, with->p50, 2, out);
    print_numbers("  99th percentile", without->p99, with->p99, 2, out);
}

static void print_point(const struct simulate_point *point, FILE *out) {
    const struct simulate_run *run = point->run;
    const struct simulate_summary *summary = point->summary;
    fprintf(out, "\n%-36s%16s%16s\n", "", "without sharing", "with sharing");
    print_spread("normalized latency, ms/token", &summary[0].latency, &summary[1].latency, out);
    print_spread("time to the first token, ms", &summary[0].first_token, &summary[1].first_token,
                 out);
    print_numbers("completion tokens per second", summary[0].tokens_per_second,
                  summary[1].tokens_per_second, 2, out);
    print_numbers("requests per second", summary[0].requests_per_second,
                  summary[1].requests_per_second, 4, out);
    print_numbers("peak K/V memory, GiB", summary[0].peak_bytes / GIB, summary[1].peak_bytes / GIB,
                  2, out);
    print_counts("peak batch size", run[0].peak_batch, run[1].peak_batch, out);
    print_numbers("  average", summary[0].mean_batch, summary[1].mean_batch, 2, out);
    print_numbers("requests waiting or running, average", summary[0].in_system,
                  summary[1].in_system, 2, out);
    print_numbers("busy, % of the time", 100.0 * summary[0].busy, 100.0 * summary[1].busy, 1, out);
    print_counts("iterations", run[0].iterations, run[1].iterations, out);
    print_counts("prompt tokens", run[0].prompt_tokens, run[1].prompt_tokens, out);
    print_counts("  found in the tree", run[0].reused_tokens, run[1].reused_tokens, out);
    print_numbers("  found in the tree, %", 100.0 * summary[0].reuse, 100.0 * summary[1].reuse, 1,
                  out);
    print_counts("completion tokens", run[0].completion_tokens, run[1].completion_tokens, out);
    print_counts("requests rejected, too large", run[0].rejected, run[1].rejected, out);
}

/* ---- Several ---- */

static void print_row(const struct simulate_point *point, FILE *out) {
    const struct simulate_poisson *poisson = &point->poisson;
    fprintf(out, "%6d%6d%6d%7g", poisson->prompt, poisson->shared, poisson->completion,
            poisson->rate);
    for (int sharing = 0; sharing < 2; sharing++) {
        fprintf(out, "  %10.2f%10.2f%8.2f%6d", point->summary[sharing].latency.mean,
                point->summary[sharing].latency.p99, point->summary[sharing].peak_bytes / GIB,
                point->run[sharing].peak_batch);
    }
    fputs("\n", out);
}

static void print_published(const struct cp_peak_row *row, FILE *out) {
    fprintf(out, "%25s", "measured");
    for (int sharing = 0; sharing < 2; sharing++) {
        fprintf(out, "  %10.2f%10s%8s%6d", row[sharing].latency, "", row[sharing].published,
                row[sharing].peak_batch);
    }
    fputs("\n", out);
}

static void print_rows(const struct simulate_report *report, FILE *out) {
    fprintf(out, "\n%25s  %34s  %34s\n", "", "without sharing", "with sharing");
    fprintf(out, "%6s%6s%6s%7s", "n_p", "n_s", "n_c", "RPS");
    for (int sharing = 0; sharing < 2; sharing++) {
        fprintf(out, "  %10s%10s%8s%6s", "ms/token", "p99", "GiB", "batch");
    }
    fputs("\n", out);
    for (int i = 0; i < report->n_points; i++) {
        print_row(&report->point[i], out);
        if (report->point[i].published != NULL) {
            print_published(report->point[i].published, out);
        }
    }
    if (report->options->table4) {
        fputs("\nmeasured: ACL Table 4, vLLM without sharing and ChunkLlama with it, on one A100\n",
              out);
    }
}

void simulate_report_text(const struct simulate_report *report, FILE *out) {
    print_load(report, out);
    print_server(report->options, out);
    if (report->n_points == 1) {
        print_point(&report->point[0], out);
    } else {
        print_rows(report, out);
    }
}

/* ---- CSV ---- */

static void print_csv_row(const struct simulate_report *report, const struct simulate_point *point,
                          int sharing, FILE *out) {
    const struct simulate_run *run = &point->run[sharing];
    const struct simulate_summary *summary = &point->summary[sharing];
    if (report->options->file != NULL) {
        fputs(",,,,", out);
    } else {
        fprintf(out, "%.17g,%d,%d,%d,", point->poisson.rate, point->poisson.prompt,
                point->poisson.shared, point->poisson.completion);
    }
    fprintf(out, "%d,%s,%.17g,%.17g,%.17g,%.17g,%.17g,%.17g,%.17g,", point->requests,
            sharing ? "yes" : "no", summary->latency.mean, summary->latency.p50,
            summary->latency.p99, summary->first_token.mean, summary->first_token.p50,
            summary->first_token.p99, summary->tokens_per_second);
    fprintf(out, "%.0f,%d,%.17g,%.17g,%.17g,%d\n", summary->peak_bytes, run->peak_batch,
            summary->mean_batch, summary->in_system, summary->reuse, run->rejected);
}

void simulate_report_csv(const struct simulate_report *report, FILE *out) {
    fputs("rate,prompt,shared,completion,requests,sharing,latency_mean,latency_p50,latency_p99,"
          "first_token_mean,first_token_p50,first_token_p99,tokens_per_second,peak_bytes,"
          "peak_batch,mean_batch,in_system,reuse,rejected\n",
          out);
    for (int i = 0; i < report->n_points; i++) {
        print_csv_row(report, &report->point[i], 0, out);
        print_csv_row(report, &report->point[i], 1, out);
    }
}
