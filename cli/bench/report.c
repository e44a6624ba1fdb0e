/* SPDX-License-Identifier: Apache-2.0 */
/* The report as text, and as comma-separated values. */
#include "cli/bench/report.h"

#include <string.h>

const char *bench_unit_words(int version) {
    return version == CP_OPT_AVX512_BF16 ? "AVX-512 BF16"
           : version == CP_OPT_AMX       ? "AMX"
           : version == CP_OPT_NEON      ? "NEON"
           : version == CP_OPT_AVX512    ? "AVX-512"
           : version == CP_OPT_AVX2      ? "AVX2"
                                         : "plain C";
}

/* ---- Text ---- */

static void print_machine(const struct bench_report *report, FILE *out) {
    const struct bench_machine *m = &report->machine;
    fprintf(out, "machine    %s, %d processors, %.1f GiB of memory\n",
            m->processor[0] != '\0' ? m->processor : "unknown processor", m->processors,
            m->memory / 0x1p30);
    fprintf(out, "           caches %.0f KiB L1d, %.1f MiB L2, %.1f MiB L3; %s; %s\n",
            m->cache[0] / 0x1p10, m->cache[1] / 0x1p20, m->cache[2] / 0x1p20, m->system,
            m->compiler);
    fprintf(out, "here       %d threads, %s; in binary16, where a load does not say otherwise\n",
            report->threads, bench_unit_words(report->version));
    fprintf(out, "limits     reading %.2f GB/s (%.2f to %.2f; %s),\n", report->read.median * 1e-9,
            report->read.least * 1e-9, report->read.most * 1e-9, report->way);
    fprintf(out, "           multiplying and adding %.1f GFLOP/s (%.1f to %.1f)\n",
            report->multiply.median * 1e-9, report->multiply.least * 1e-9,
            report->multiply.most * 1e-9);
}

static void print_ratio(const struct bench_spread *ratio, FILE *out) {
    fprintf(out, "  %7.2f (%.2f-%.2f)", ratio->median, ratio->least, ratio->most);
}

static void print_series(const struct bench_cell *cell, int i, FILE *out) {
    const struct bench_series *series = &cell->series[i];
    if (!series->measured) {
        fprintf(out, "  %-12.40s skipped: %.80s\n", series->name, series->note);
        return;
    }
    struct bench_spread wall = bench_spread_of(series->wall, cell->n_rounds);
    struct bench_spread of_limit = bench_of_limit(cell, i), of_tree = bench_of_tree(cell, i);
    fprintf(out, "  %-12.40s %10.3f", series->name, wall.median * 1e3);
    print_ratio(&of_limit, out);
    print_ratio(&of_tree, out);
    if (bench_cell_share(cell) < BENCH_BUSY) {
        fprintf(out, "  %6.2f %6.2f", bench_cpu_of_limit(cell, i).median,
                bench_cpu_of_tree(cell, i).median);
    }
    fputc('\n', out);
}

/* Why a load is not as far ahead of a peer as it should be. */
static void print_limit(const struct bench_cell *cell, FILE *out) {
    struct bench_standing standing = bench_stands(cell);
    if (standing.peer != NULL && standing.ahead < BENCH_AHEAD) {
        fprintf(
            out,
            "  %.2f times as fast as %.40s, and the goal is %.0f: limited by %s. Of the rates,\n"
            "  %.2f of reading and %.2f of multiplying; %.2f times at the larger limit\n",
            standing.ahead, standing.peer, BENCH_AHEAD, bench_limited_by(&standing),
            standing.reading, standing.multiplying, standing.at_limit);
    }
}

static void print_cell(const struct bench_cell *cell, FILE *out) {
    char name[BENCH_LOAD_TEXT];
    bench_load_print(&cell->load, name);
    fprintf(out, "%s", name);
    if (cell->end == BENCH_NO_ROOM) {
        fprintf(out, ": no room: %s\n", cell->note);
    } else if (cell->end == BENCH_WRONG) {
        fprintf(out, ": WRONG, not timed: %s\n", cell->note);
    } else if (cell->end == BENCH_NOT_RUN) {
        fputs(": not measured\n", out);
    } else {
        double share = bench_cell_share(cell);
        fprintf(out, "; %d rounds, %.2f distinct GB, %.2f GFLOP%s\n", cell->n_rounds,
                cell->bytes * 1e-9, cell->flops * 1e-9, share < BENCH_BUSY ? "; busy" : "");
        for (int i = 0; i < cell->n_series; i++) {
            print_series(cell, i, out);
        }
        print_limit(cell, out);
    }
}

static void print_attention(const struct bench_report *report, FILE *out) {
    int busy = 0, peers = 0;
    fprintf(out, "\nattention, decoding; d = 128, chunks of 64; medians of rounds (least-most)\n");
    fprintf(out, "  %-12s %10s  %-20s  %-20s  %s\n", "", "ms", "of the limit", "of `tree`",
            "by CPU time, both");
    for (int i = 0; i < report->n_cells; i++) {
        print_cell(&report->cell[i], out);
        busy += report->cell[i].n_rounds > 0 && bench_cell_share(&report->cell[i]) < BENCH_BUSY;
        peers += report->cell[i].n_series > bench_ours_of(&report->cell[i].load);
    }
    fputs("  n tokens each, of which all share n_s; h = query heads / K and V heads\n"
          "  tree: opt/ over the plan of the tree. paged, paged*: the same loops, each sequence\n"
          "  alone, with shared pages copied (PagedAttn) or stored once (PagedAttn*). whole: tree\n"
          "  without the window that the load has. wide: tree with K and V in binary16\n",
          out);
    if (peers == 0) {
        fputs("  no peer; --peer adds one\n", out);
    }
    if (busy > 0) {
        fprintf(out,
                "  the machine was busy in %d of %d loads: other processes used more than\n"
                "  %.0f %% of the time in some round\n",
                busy, report->n_cells, 100.0 * (1.0 - BENCH_BUSY));
    }
}

static void print_goals(const struct bench_report *report, FILE *out) {
    fprintf(out, "\n%-48s %9s %9s %9s  %s\n", "goals", "wanted", "worst", "best", "");
    for (int i = 0; i < report->n_goals; i++) {
        const struct bench_goal *goal = &report->goal[i];
        fprintf(out, "%-48s %c%7.3g%s", goal->what, goal->at_least ? '>' : '<', goal->wanted,
                goal->unit);
        if (goal->n == 0) {
            fputs("  not measured\n", out);
        } else {
            fprintf(out, " %8.3g%s %8.3g%s  %s: %s\n", goal->worst, goal->unit, goal->best,
                    goal->unit, bench_goal_met(goal) ? "met" : "missed", goal->where);
        }
    }
}

void bench_report_text(const struct bench_report *report, FILE *out) {
    print_machine(report, out);
    if (report->n_cells > 0) {
        print_attention(report, out);
    }
    bench_report_rest(report, out);
    print_goals(report, out);
    fprintf(out, "\n%s%.1f s\n", report->interrupted ? "interrupted after " : "", report->seconds);
}

/* ---- CSV ---- */

/* A name between quotes: its own quotes are doubled. */
static void print_quoted(const char *text, FILE *out) {
    fputc('"', out);
    for (; *text != '\0'; text++) {
        if (*text == '"') {
            fputc('"', out);
        }
        fputc(*text, out);
    }
    fputc('"', out);
}

static void print_row(const struct bench_cell *cell, int i, FILE *out) {
    const struct bench_load *load = &cell->load;
    const struct bench_series *series = &cell->series[i];
    struct bench_spread wall = bench_spread_of(series->wall, cell->n_rounds);
    struct bench_spread cpu = bench_spread_of(series->cpu, cell->n_rounds);
    struct bench_spread of_limit = bench_of_limit(cell, i), of_tree = bench_of_tree(cell, i);
    fprintf(out, "%s,%d,%d,%d,%d,%d,", load->part, load->b, load->n, bench_load_shared(load),
            load->n_heads, load->n_kv_heads);
    print_quoted(series->name, out);
    fprintf(out, ",%d,%.9g,%.9g,%.9g,%.9g,%.9g,%.9g,%.9g,%.9g,%.9g,%.9g,%.9g,%s\n", cell->n_rounds,
            wall.median, wall.least, wall.most, cpu.median, of_limit.median, of_tree.median,
            of_tree.least, of_tree.most, cell->bytes, cell->flops, bench_cell_share(cell),
            bench_load_type(load));
}

void bench_report_csv(const struct bench_report *report, FILE *out) {
    fputs("part,live,n,n_s,h,h_kv,series,rounds,seconds,least,most,cpu_seconds,of_limit,of_tree,"
          "of_tree_least,of_tree_most,bytes,flops,share,type\n",
          out);
    for (int i = 0; i < report->n_cells; i++) {
        const struct bench_cell *cell = &report->cell[i];
        for (int k = 0; k < cell->n_series; k++) {
            if (cell->end == BENCH_MEASURED && cell->series[k].measured) {
                print_row(cell, k, out);
            }
        }
    }
    bench_report_rest_csv(report, out);
}
