/* SPDX-License-Identifier: Apache-2.0 */
/* `chunkproof simulate`: gets loads, simulates each without and with sharing, reports. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "chunkproof/limits.h"
#include "cli/base/command.h"
#include "cli/base/output.h"
#include "cli/modules/command.h"
#include "cli/simulate/report.h"

/* Says why a run did not come to its end. Returns the exit status. */
static int explain(const struct simulate_options *options, int end) {
    switch (end) {
    case SIMULATE_POOL_SMALL:
        fprintf(stderr,
                "chunkproof simulate: this batch needs more than the %d chunks that a pool has; "
                "give --memory, a larger --chunk or a smaller --batch\n",
                CP_MAX_CHUNKS);
        return EXIT_BAD_USE;
    case SIMULATE_TOO_LONG:
        fprintf(stderr,
                "chunkproof simulate: a request has more tokens than a path holds (%d chunks of "
                "%d); give a larger --chunk\n",
                CP_MAX_DEPTH, options->settings.chunk);
        return EXIT_BAD_USE;
    case SIMULATE_ENDLESS:
        fputs("chunkproof simulate: the simulated time exceeds 30 years; check the rate and the "
              "cost\n",
              stderr);
        return EXIT_BAD_USE;
    case SIMULATE_BROKEN:
        fputs("chunkproof simulate: the prefix tree refused a request for which it has room\n",
              stderr);
        return EXIT_FINDING;
    default:
        fprintf(stderr,
                "chunkproof simulate: out of memory; the tree reserves %.1f GiB of address space "
                "and uses what the load needs (is address space limited? see ulimit -v)\n",
                (double)sizeof(struct cp_tree) / 0x1p30);
        return EXIT_BAD_USE;
    }
}

static int run_both(const struct simulate_options *options, const struct simulate_load *load,
                    struct simulate_point *point) {
    int status = EXIT_RIGHT;
    point->requests = load->trace.n_requests;
    for (int sharing = 0; sharing < 2 && status == EXIT_RIGHT; sharing++) {
        struct simulate_settings settings = options->settings;
        struct simulate_run *run = &point->run[sharing];
        settings.sharing = sharing;
        simulate(load, &settings, run);
        if (run->end == SIMULATE_COMPLETE &&
            simulate_summarise(&load->trace, &settings, run, &point->summary[sharing]) != 0) {
            run->end = SIMULATE_NO_MEMORY;
        }
        simulate_run_free(run);
        status = run->end == SIMULATE_COMPLETE ? EXIT_RIGHT : explain(options, run->end);
    }
    return status;
}

static int run_point(const struct simulate_options *options, struct simulate_point *point) {
    struct simulate_load load;
    int got = options->file != NULL
                  ? simulate_load_file(&load, options->file, options->block, options->speed)
                  : simulate_load_poisson(&load, &point->poisson, options->settings.chunk);
    int status = got == 0 ? run_both(options, &load, point) : EXIT_BAD_USE;
    simulate_load_free(&load);
    return status;
}

/* The loads of Table 4: vLLM has the same as ChunkLlama, and shares nothing of it. */
static void list_table4(const struct simulate_options *options, struct simulate_point *point) {
    const struct cp_peak_row *row = cp_peak_rows;
    for (int i = 0; i < cp_n_peak_rows / 2; i++, row += 2) {
        point[i].published = row;
        point[i].poisson = options->poisson;
        point[i].poisson.rate = row->rate;
        point[i].poisson.prompt = row->n_prompt;
        point[i].poisson.shared = row[1].n_shared;
        point[i].poisson.completion = row->n_completion;
    }
}

static void list_rates(const struct simulate_options *options, struct simulate_point *point) {
    for (int i = 0; i < options->n_rates; i++) {
        point[i].poisson = options->poisson;
        point[i].poisson.rate = options->rate[i];
    }
}

/* ---- Output ---- */

static int cannot_write(const char *file) {
    fprintf(stderr, "chunkproof simulate: %s cannot be written: %s\n", file, strerror(errno));
    return EXIT_BAD_USE;
}

static int write_json(const struct simulate_report *report) {
    const char *file = report->options->json;
    FILE *out = file == NULL ? NULL : fopen(file, "w");
    if (file == NULL) {
        return EXIT_RIGHT;
    }
    if (out == NULL) {
        return cannot_write(file);
    }
    int failed = simulate_report_json(report, out) != 0;
    failed |= fclose(out) != 0;
    return failed ? cannot_write(file) : EXIT_RIGHT;
}

static int write_csv(const struct simulate_report *report) {
    const char *file = report->options->csv;
    FILE *out = file == NULL ? NULL : fopen(file, "w");
    if (file == NULL) {
        return EXIT_RIGHT;
    }
    if (out == NULL) {
        return cannot_write(file);
    }
    simulate_report_csv(report, out);
    int failed = ferror(out) != 0;
    failed |= fclose(out) != 0;
    return failed ? cannot_write(file) : EXIT_RIGHT;
}

static int report_all(const struct simulate_report *report) {
    simulate_report_text(report, stdout);
    int json = write_json(report);
    int csv = write_csv(report);
    return json != EXIT_RIGHT ? json : csv;
}

static int run_all(const struct simulate_options *options) {
    int n = options->table4 ? cp_n_peak_rows / 2 : options->n_rates;
    struct simulate_point *point = calloc((size_t)n, sizeof *point);
    struct simulate_report report = {options, point, n};
    int status = EXIT_RIGHT;
    if (point == NULL) {
        return explain(options, SIMULATE_NO_MEMORY);
    }
    if (options->table4) {
        list_table4(options, point);
    } else {
        list_rates(options, point);
    }
    for (int i = 0; i < n && status == EXIT_RIGHT; i++) {
        status = run_point(options, &point[i]);
    }
    if (status == EXIT_RIGHT) {
        status = report_all(&report);
    }
    free(point);
    return status;
}

static int do_requests(int argc, char **argv) {
    struct simulate_options options;
    if (simulate_options_parse(&options, argc, argv) != 0) {
        return EXIT_BAD_USE;
    }
    if (options.help) {
        simulate_options_help();
        return EXIT_RIGHT;
    }
    if (options.cost == NULL) {
        options.settings.cost = simulate_cost_example();
    } else if (simulate_cost_load(&options.settings.cost, options.cost) != 0) {
        return EXIT_BAD_USE;
    }
    if (options.print_cost) {
        simulate_cost_print(&options.settings.cost, stdout);
        return EXIT_RIGHT;
    }
    return run_all(&options);
}

int cp_command_simulate(int argc, char **argv) {
    int is_of_modules = argc > 1 && strcmp(argv[1], "--modules") == 0;
    int status = is_of_modules ? modules_command(argc - 1, argv + 1) : do_requests(argc, argv);
    return output_end(stdout, "simulate") == 0 ? status : EXIT_BAD_USE;
}
