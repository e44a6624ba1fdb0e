/* SPDX-License-Identifier: Apache-2.0 */
/* Tree, trace and gate in the report, as text and as comma-separated values; the cost of an
 * iteration. */
#include "cli/bench/report.h"
#include "cli/simulate/cost.h"
#include "cli/tables/model.h"

/* ---- Text ---- */

static void print_forest_row(const struct forest *forest, int k, FILE *out) {
    fprintf(out, "  %-26s", forest_words[k]);
    for (int i = 0; i < forest->n_sizes; i++) {
        const struct forest_size *size = &forest->size[i];
        if (size->n_rounds > 0) {
            fprintf(out, " %10.3f", 1e6 * bench_spread_of(size->seconds[k], size->n_rounds).median);
        } else {
            fprintf(out, " %10s", "-");
        }
    }
    if (forest->has_law) {
        fprintf(out, "  b^%.2f (x%.2f)", forest->law[k].exponent, forest->law[k].off);
    }
    fputc('\n', out);
}

static void print_rates(const struct forest *forest, FILE *out) {
    static const int which[] = {FOREST_JOIN, FOREST_LOOKUP, FOREST_APPEND};
    for (size_t k = 0; k < sizeof which / sizeof *which; k++) {
        fprintf(out, "  %-26s", k == 0 ? "joins per second" : k == 1 ? "lookups" : "appends");
        for (int i = 0; i < forest->n_sizes; i++) {
            const struct forest_size *size = &forest->size[i];
            double seconds = size->n_rounds > 0
                                 ? bench_spread_of(size->seconds[which[k]], size->n_rounds).median
                                 : 0.0;
            fprintf(out, " %10.0f", seconds > 0.0 ? 1.0 / seconds : 0.0);
        }
        fputc('\n', out);
    }
}

static void print_forest(const struct forest *forest, FILE *out) {
    fprintf(
        out,
        "\n"
        "tree of opt/; prompts of %d tokens, the first %d from one of %d prefixes, chunks of %d;\n"
        "microseconds, medians, against the sequences alive, b\n"
        "  %-26s",
        FOREST_PROMPT, FOREST_SHARED, FOREST_GROUPS, FOREST_CHUNK, "");
    for (int i = 0; i < forest->n_sizes; i++) {
        fprintf(out, " %10d", forest->size[i].live);
    }
    fprintf(out, "%s\n", forest->has_law ? "  grows like (error at most)" : "");
    for (int k = 0; k < FOREST_OPERATIONS; k++) {
        print_forest_row(forest, k, out);
    }
    print_rates(forest, out);
    for (int i = 0; i < forest->n_sizes; i++) {
        if (forest->size[i].n_rounds == 0) {
            fprintf(out, "  %d: not measured; it takes %.2f GiB\n", forest->size[i].live,
                    forest->size[i].needs / 0x1p30);
        }
    }
    if (forest->n_long > 0) {
        struct bench_spread warm = bench_spread_of(forest->warm, forest->n_long);
        struct bench_spread cold = bench_spread_of(forest->cold, forest->n_long);
        fprintf(out,
                "  join of %d tokens, %d shared: %.2f us (%.2f-%.2f); out of the caches %.2f "
                "(%.2f-%.2f)\n",
                FOREST_LONG, FOREST_LONG_SHARED, warm.median * 1e6, warm.least * 1e6,
                warm.most * 1e6, cold.median * 1e6, cold.least * 1e6, cold.most * 1e6);
    }
}

static void print_traffic(const struct traffic *t, FILE *out) {
    fprintf(out, "\ntrace      %s, nobody leaves: %d joins, %lld tokens, %.1f %% in the tree\n",
            t->source, t->joined, t->tokens,
            t->tokens > 0 ? 100.0 * (double)t->shared / (double)t->tokens : 0.0);
    fprintf(out,
            "  joins    %.3f s in all, %.0f per second, %.2f ns a token; median %.2f us, 99th "
            "percentile %.1f, longest %.1f\n",
            t->joins, t->joins > 0.0 ? t->joined / t->joins : 0.0,
            t->tokens > 0 ? 1e9 * t->joins / (double)t->tokens : 0.0, t->join.median * 1e6,
            t->join.p99 * 1e6, t->join.most * 1e6);
    fprintf(out,
            "  serving  %.3f s with completions and departures: %lld appends, %.0f per second\n",
            t->serve, t->appended, t->serve > 0.0 ? (double)t->appended / t->serve : 0.0);
    fprintf(out, "  replay   %.3f s with its checks (`chunkproof trace --tree opt --retain`)\n",
            t->replay);
}

static void print_tiers(const struct bench_report *report, FILE *out) {
    fprintf(out, "\ngate       %s\n", report->options->kernel);
    for (int i = 0; i < GATE_TIERS; i++) {
        const struct tier *tier = &report->tier[i];
        if (tier->measured) {
            fprintf(
                out,
                "  tier %-6s %.1f cases per second, %lld of %lld cases in %.1f s; all %s %.0f s\n",
                gate_tier_names[i], tier->rate, tier->cases, tier->all, tier->seconds,
                tier->cases == tier->all ? "took" : "would take", tier->whole);
        }
    }
}

/* Terms that are 0 are left out. */
static void print_fit(const struct bench_cost_fit *fit, FILE *out) {
    fprintf(out, "\nattention costs %.1f us", fit->fixed * 1e6);
    if (fit->per_byte > 0.0) {
        fprintf(out, " + bytes / %.2f GB/s", 1e-9 / fit->per_byte);
    }
    if (fit->per_flop > 0.0) {
        fprintf(out, " + operations / %.1f GFLOP/s", 1e-9 / fit->per_flop);
    }
    fprintf(out, ", within %.0f %%\n", 100.0 * fit->off);
}

void bench_report_rest(const struct bench_report *report, FILE *out) {
    if (report->forest.n_sizes > 0) {
        print_forest(&report->forest, out);
    }
    if (report->traffic.source != NULL) {
        print_traffic(&report->traffic, out);
    }
    if (report->options->kernel != NULL && report->tier[0].measured) {
        print_tiers(report, out);
    } else if ((report->options->parts >> BENCH_GATE & 1U) != 0) {
        fprintf(out, "\ngate       skipped: %s\n",
                report->options->kernel == NULL ? "--kernel names none" : "interrupted");
    }
    if (report->has_fit) {
        print_fit(&report->fit, out);
    }
}

/* ---- CSV: columns without meaning are empty ---- */

void bench_report_rest_csv(const struct bench_report *report, FILE *out) {
    const struct forest *forest = &report->forest;
    for (int i = 0; i < forest->n_sizes; i++) {
        const struct forest_size *size = &forest->size[i];
        for (int k = 0; k < FOREST_OPERATIONS && size->n_rounds > 0; k++) {
            struct bench_spread s = bench_spread_of(size->seconds[k], size->n_rounds);
            fprintf(out, "tree,%d,%d,%d,,,\"%s\",%d,%.9g,%.9g,%.9g,,,,,,,,,\n", size->live,
                    FOREST_PROMPT, FOREST_SHARED, forest_words[k], size->n_rounds, s.median,
                    s.least, s.most);
        }
    }
    for (int i = 0; i < GATE_TIERS; i++) {
        if (report->tier[i].measured) {
            fprintf(out, "gate,,%lld,,,,%s,1,%.9g,,,,,,,,,,,\n", report->tier[i].cases,
                    gate_tier_names[i], report->tier[i].seconds);
        }
    }
    if (report->traffic.source != NULL) {
        fprintf(out, "trace,%d,,,,,\"all joins\",1,%.9g,,,,,,,,,,,\n", report->traffic.joined,
                report->traffic.joins);
        fprintf(out, "trace,%d,,,,,serving,1,%.9g,,,,,,,,,,,\n", report->traffic.joined,
                report->traffic.serve);
        fprintf(out, "trace,%d,,,,,replay,1,%.9g,,,,,,,,,,,\n", report->traffic.joined,
                report->traffic.replay);
    }
}

/* ---- Cost ---- */

/* Llama2-7B, as in the example of `chunkproof simulate`: its weights are read once in an iteration
 * and each prompt token is multiplied with them, as fast as the machine can; attention's fixed cost
 * comes once for each layer. */
#define WEIGHTS 6.74e9

int bench_report_cost(const struct bench_report *report, FILE *out) {
    const struct bench_cost_fit *fit = &report->fit;
    const struct cp_dims *model = cp_dims_find("llama-7b");
    struct simulate_cost cost = {
        .fixed_us =
            1e6 * (WEIGHTS * BENCH_TYPE_BYTES / report->read.median + model->layers * fit->fixed),
        .prefill_token_us = 1e6 * 2.0 * WEIGHTS / report->multiply.median,
        .bytes_per_second = fit->per_byte > 0.0 ? 1.0 / fit->per_byte : 0.0,
        .flops_per_second = fit->per_flop > 0.0 ? 1.0 / fit->per_flop : 0.0};
    simulate_cost_print(&cost, out);
    return ferror(out) ? -1 : 0;
}
