/* SPDX-License-Identifier: Apache-2.0 */
/* `chunkproof bench`: measures the requested parts, one after the other, and reports. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "chunkproof/status.h"
#include "cli/base/clock.h"
#include "cli/base/command.h"
#include "cli/base/interrupt.h"
#include "cli/base/output.h"
#include "cli/base/progress.h"
#include "cli/bench/report.h"

#define LIMIT_ROUNDS 16
#define GATE_SECONDS 10.0              /* of a tier, for each of a load */
#define SMOKE_BYTES  ((size_t)8 << 20) /* that are read, of a run that is to be short */

__attribute__((format(printf, 1, 2))) static int fail(const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    fputs("chunkproof bench: ", stderr);
    vfprintf(stderr, format, arguments);
    fputs("\n", stderr);
    va_end(arguments);
    return EXIT_BAD_USE;
}

/* ---- Progress ---- */

/* `done` of `all` loads are measured, the next one is `what`. */
static void show_progress(const struct progress *progress, int done, int all, const char *what) {
    const int width = 20;
    char bar[32];
    if (!progress->shown) {
        return;
    }
    for (int i = 0; i < width; i++) {
        bar[i] = i * all < done * width ? '#' : '.';
    }
    bar[width] = '\0';
    fprintf(stderr, "%s[%s] %d of %d, %.0f s: %s%s", progress_before(progress), bar, done, all,
            seconds_now() - progress->begin, what, progress_behind(progress));
    fflush(stderr);
}

/* ---- What is measured ---- */

static int is_asked_for(const struct bench_options *options, const char *part) {
    for (int i = 0; i < BENCH_PARTS; i++) {
        if (strcmp(bench_part_names[i], part) == 0) {
            return (options->parts >> i & 1U) != 0;
        }
    }
    return 0;
}

static int list_cells(const struct bench_options *options, struct bench_cell *cell) {
    struct bench_load load[BENCH_MOST_LOADS];
    int n = 0, all = bench_loads(load, options->heads, options->smoke);
    for (int i = 0; i < all; i++) {
        if (is_asked_for(options, load[i].part)) {
            cell[n++].load = load[i];
        }
    }
    return n;
}

static int print_list(const struct bench_options *options, const struct bench_report *report) {
    for (int i = 0; i < report->n_cells; i++) {
        const struct bench_load *load = &report->cell[i].load;
        struct bench_plans plans;
        char name[BENCH_LOAD_TEXT];
        if (bench_plans_new(&plans, load) != 0) {
            return fail("out of memory for a plan");
        }
        bench_load_print(load, name);
        printf("%-40s %6.2f GiB\n", name, bench_cell_memory(load, &plans) / 0x1p30);
        bench_plans_free(&plans);
    }
    for (int i = BENCH_ATTENTION; i < BENCH_PARTS; i++) {
        if ((options->parts >> i & 1U) != 0) {
            printf("%s\n", bench_part_names[i]);
        }
    }
    return EXIT_RIGHT;
}

static int measure_limits(struct bench_report *report, struct bench_limits *limits) {
    double read[LIMIT_ROUNDS], multiply[LIMIT_ROUNDS];
    for (int i = 0; i < LIMIT_ROUNDS; i++) {
        struct bench_probe probe[2];
        if (bench_limits_read(limits, &probe[0]) != 0 ||
            bench_limits_multiply(limits, &probe[1]) != 0) {
            return -1;
        }
        read[i] = probe[0].rate;
        multiply[i] = probe[1].rate;
    }
    report->read = bench_spread_of(read, LIMIT_ROUNDS);
    report->multiply = bench_spread_of(multiply, LIMIT_ROUNDS);
    report->way = bench_limits_way(limits);
    return 0;
}

static int measure_cells(struct bench_bench *bench, struct bench_report *report,
                         const struct progress *progress) {
    int status = EXIT_RIGHT;
    for (int i = 0; i < report->n_cells && !interrupted; i++) {
        char name[BENCH_LOAD_TEXT];
        bench_load_print(&report->cell[i].load, name);
        show_progress(progress, i, report->n_cells, name);
        if (bench_cell_measure(bench, &report->cell[i]) != 0) {
            progress_end(progress);
            return fail("%s: out of memory or threads; give a smaller --memory", name);
        }
        status = report->cell[i].end == BENCH_WRONG ? EXIT_FINDING : status;
    }
    return status;
}

/* What opt/ took on each load, as a law. */
static void fit_cost(struct bench_report *report) {
    struct bench_cost_point point[BENCH_MOST_LOADS];
    int n = 0;
    for (int i = 0; i < report->n_cells; i++) {
        const struct bench_cell *cell = &report->cell[i];
        if (cell->end == BENCH_MEASURED) {
            point[n++] = (struct bench_cost_point){
                cell->bytes, cell->fp32_flops,
                bench_spread_of(cell->series[BENCH_TREE].wall, cell->n_rounds).median};
        }
    }
    report->has_fit = bench_fit_cost(point, n, &report->fit) == 0;
}

static int has_part(const struct bench_options *options, enum bench_part part) {
    return (options->parts >> part & 1U) != 0 && !interrupted;
}

/* The tree, the trace, the gate: one after the other, until something is wrong. */
static int measure_rest(const struct bench_bench *bench, struct bench_report *report,
                        const struct progress *progress) {
    const struct bench_options *options = report->options;
    int status = EXIT_RIGHT, all = report->n_cells;
    if (has_part(options, BENCH_TREES)) {
        show_progress(progress, all, all, "tree");
        status = forest_measure(bench, options->smoke, &report->forest);
    }
    if (status == EXIT_RIGHT && has_part(options, BENCH_TRACE)) {
        show_progress(progress, all, all, "trace");
        status = traffic_measure(bench, options->trace, options->smoke, &report->traffic);
    }
    if (status == EXIT_RIGHT && has_part(options, BENCH_GATE) && options->kernel != NULL) {
        show_progress(progress, all, all, "gate");
        status = tiers_measure(options->kernel, GATE_SECONDS * options->seconds, options->smoke,
                               &interrupted, report->tier);
    }
    return status;
}

static int start_opt(struct bench_bench *bench, const struct bench_options *options) {
    int status = cp_opt_new(&bench->opt, options->threads, options->version);
    if (status == CP_ERROR_UNSUPPORTED) {
        return fail(
            "this machine does not have %s, or Linux does not grant it; give another --unit",
            bench_unit_words(options->version));
    }
    return status == CP_OK ? EXIT_RIGHT : fail("out of memory or threads");
}

static int start_peers(struct bench_bench *bench, const struct bench_options *options) {
    for (int i = 0; i < options->n_peers; i++) {
        bench->peer[i] = peer_new(options->peer[i], PEER_SECONDS, &interrupted);
        if (bench->peer[i] == NULL) {
            return fail("no process could be started for a peer");
        }
        bench->n_peers++;
    }
    return EXIT_RIGHT;
}

static void stop(struct bench_bench *bench) {
    for (int i = 0; i < bench->n_peers; i++) {
        peer_free(bench->peer[i]);
    }
    bench_limits_free(bench->limits);
    cp_opt_free(bench->opt);
}

static void settle(struct bench_bench *bench, const struct bench_options *options,
                   const struct bench_report *report) {
    double half = report->machine.free_memory / 2.0;
    bench->seconds = options->smoke ? 0.0 : options->seconds;
    bench->least_rounds = options->smoke ? 2 : 5;
    bench->most_rounds = 40;
    bench->memory = options->memory > 0.0 ? options->memory * 0x1p30 : half;
    bench->interrupted = &interrupted;
}

static int measure(const struct bench_options *options, struct bench_bench *bench,
                   struct bench_report *report) {
    struct progress progress = progress_begin(options->progress);
    size_t bytes = options->smoke ? SMOKE_BYTES : bench_limits_bytes();
    int status = start_opt(bench, options);
    if (status == EXIT_RIGHT) {
        report->version = cp_opt_version(bench->opt);
        report->threads = cp_opt_threads(bench->opt);
        status = start_peers(bench, options);
    }
    if (status == EXIT_RIGHT &&
        (bench_limits_new(&bench->limits, report->threads, report->version, bytes) != 0 ||
         measure_limits(report, bench->limits) != 0)) {
        status = fail("out of memory or threads");
    }
    if (status == EXIT_RIGHT) {
        status = measure_cells(bench, report, &progress);
        fit_cost(report);
    }
    if (status == EXIT_RIGHT) {
        status = measure_rest(bench, report, &progress);
    }
    progress_end(&progress);
    report->seconds = seconds_now() - progress.begin;
    return status;
}

/* ---- Output ---- */

static int cannot_write(const char *file) {
    return fail("%s cannot be written: %s", file, strerror(errno));
}

static int write_csv(const struct bench_report *report, FILE *out) {
    bench_report_csv(report, out);
    return ferror(out);
}

static int write_file(const struct bench_report *report, const char *file,
                      int (*write)(const struct bench_report *report, FILE *out)) {
    FILE *out = file == NULL ? NULL : fopen(file, "w");
    if (file == NULL) {
        return EXIT_RIGHT;
    }
    if (out == NULL) {
        return cannot_write(file);
    }
    int failed = write(report, out) != 0;
    failed |= fclose(out) != 0;
    return failed ? cannot_write(file) : EXIT_RIGHT;
}

static int report_all(struct bench_report *report) {
    const struct bench_options *options = report->options;
    report->interrupted = interrupted != 0;
    bench_goals_of_attention(report->goal, report->cell, report->n_cells);
    bench_goals_of_trees(report->goal + GOALS_OF_ATTENTION, &report->forest, &report->traffic,
                         options->trace != NULL);
    report->n_goals = GOALS_OF_ATTENTION + GOALS_OF_TREES;
    bench_report_text(report, stdout);
    int json = write_file(report, options->json, bench_report_json);
    int csv = write_file(report, options->csv, write_csv);
    int cost = EXIT_RIGHT;
    if (options->cost != NULL && !report->has_fit) {
        cost = fail("--cost %s: not written, because no load of attention was measured",
                    options->cost);
    } else if (options->cost != NULL) {
        cost = write_file(report, options->cost, bench_report_cost);
    }
    return json != EXIT_RIGHT ? json : csv != EXIT_RIGHT ? csv : cost;
}

static int run(const struct bench_options *options, struct bench_report *report) {
    struct bench_bench bench;
    int written = EXIT_RIGHT;
    memset(&bench, 0, sizeof bench);
    bench_machine_read(&report->machine);
    settle(&bench, options, report);
    catch_interrupt();
    int status = measure(options, &bench, report);
    if (status != EXIT_BAD_USE) {
        written = report_all(report);
    }
    stop(&bench);
    return status != EXIT_RIGHT    ? status
           : written != EXIT_RIGHT ? written
           : interrupted           ? EXIT_INTERRUPTED
                                   : EXIT_RIGHT;
}

int cp_command_bench(int argc, char **argv) {
    struct bench_options options;
    struct bench_report *report = calloc(1, sizeof *report);
    int status = EXIT_RIGHT;
    if (report == NULL) {
        return fail("out of memory");
    }
    report->options = &options;
    if (bench_options_parse(&options, argc, argv) != 0) {
        free(report);
        return EXIT_BAD_USE;
    }
    report->n_cells = list_cells(&options, report->cell);
    if (options.help) {
        bench_options_help();
    } else {
        status = options.list ? print_list(&options, report) : run(&options, report);
    }
    free(report);
    return output_end(stdout, "bench") == 0 ? status : EXIT_BAD_USE;
}
