/* SPDX-License-Identifier: Apache-2.0 */
/* `chunkproof trace`: gets a trace, replays it, reports. */
#define _POSIX_C_SOURCE 200809L /* clock_gettime */

#include <stdio.h>
#include <string.h>
#include <time.h>

#include "chunkproof/limits.h"
#include "cli/base/clock.h"
#include "cli/base/command.h"
#include "cli/base/interrupt.h"
#include "cli/base/output.h"
#include "cli/base/progress.h"
#include "cli/trace/load.h"
#include "cli/trace/options.h"
#include "cli/trace/report.h"

/* ---- Progress ---- */

struct watch {
    struct progress progress;
    double interval; /* seconds */
    double next;
};

static struct watch start_watch(int always) {
    struct progress progress = progress_begin(always);
    double interval = progress.in_place ? 0.1 : 1.0;
    return (struct watch){progress, interval, progress.begin + interval};
}

static int watch(void *context, struct trace_replay *replay) {
    struct watch *watch = context;
    const struct progress *progress = &watch->progress;
    const struct trace_figures *figures = replay->figures;
    if (progress->shown && seconds_now() >= watch->next) {
        watch->next = seconds_now() + watch->interval;
        fprintf(stderr, "%s%d of %d requests, %d alive, %lld iterations, %lld chunks in use%s",
                progress_before(progress), figures->requests, replay->trace->n_requests,
                replay->schedule.n_live, figures->iterations, figures->now.used,
                progress_behind(progress));
        fflush(stderr);
    }
    return interrupted;
}

/* ---- Getting a trace ---- */

static int generate(struct trace *trace, const struct trace_options *options) {
    switch (trace_generate(trace, &options->generator)) {
    case TRACE_OK:
        return 0;
    case TRACE_NO_MEMORY:
        fputs("chunkproof trace: not enough memory for so many requests\n", stderr);
        return -1;
    default:
        fputs("chunkproof trace: these requests have more tokens than an int can number; ask for "
              "fewer or shorter requests\n",
              stderr);
        return -1;
    }
}

/* ---- The pool ---- */

/* Chooses the capacity when none was given: exactly what the trace needs. */
static int choose_capacity(const struct trace *trace, struct trace_settings *settings) {
    long long needed = 0;
    if (settings->capacity > 0) {
        return 0;
    }
    if (trace_needed_chunks(trace, settings, &needed) != 0) {
        fputs("chunkproof trace: not enough memory to replay this trace\n", stderr);
        return -1;
    }
    if (needed > CP_MAX_CHUNKS) {
        fprintf(stderr,
                "chunkproof trace: this trace needs %lld chunks at once, but a pool has at most "
                "%d; use larger blocks, build with a larger CP_MAX_CHUNKS, or give --capacity %d "
                "to reject the requests that do not fit\n",
                needed, CP_MAX_CHUNKS, CP_MAX_CHUNKS);
        return -1;
    }
    settings->capacity = needed > 0 ? (int)needed : 1;
    return 0;
}

static int replay(const struct trace *trace, struct trace_options *options, const char *source) {
    struct trace_figures figures;
    struct trace_report report = {source, trace, &options->settings, &figures, 0, 0.0};
    struct watch watching = start_watch(options->progress);
    double start = seconds_now();
    if (choose_capacity(trace, &options->settings) != 0) {
        return EXIT_BAD_USE;
    }
    options->settings.observe = watch;
    options->settings.context = &watching;
    catch_interrupt();
    trace_replay(trace, &options->settings, &figures);
    report.seconds = seconds_now() - start;
    progress_end(&watching.progress);
    if (figures.end == TRACE_OUT_OF_MEMORY && figures.iterations == 0) {
        trace_report_problem(&report, stderr); /* nothing was replayed: there is no figure */
        return trace_exit_status(figures.end);
    }
    if (figures.end == TRACE_POOL_FULL) {
        trace_needed_chunks(trace, &options->settings, &report.needed);
    }
    if (!options->json) {
        trace_report_text(&report, stdout);
    } else if (trace_report_json(&report, stdout) != 0) {
        fputs("chunkproof trace: the report cannot be written\n", stderr);
        return EXIT_BAD_USE;
    }
    fflush(stdout);
    trace_report_problem(&report, stderr);
    return trace_exit_status(figures.end);
}

int cp_command_trace(int argc, char **argv) {
    struct trace_options options;
    struct trace trace;
    char generated[64];
    const char *source = generated;
    int status = EXIT_BAD_USE;
    if (trace_options_parse(&options, argc, argv) != 0) {
        return EXIT_BAD_USE;
    }
    if (options.help) {
        trace_options_help();
        return output_end(stdout, "trace") == 0 ? EXIT_RIGHT : EXIT_BAD_USE;
    }
    trace_init(&trace, options.block_size);
    snprintf(generated, sizeof generated, "generated, seed %llu", options.generator.seed);
    if (options.file != NULL) {
        source = trace_source(options.file);
    }
    int got = options.file == NULL ? generate(&trace, &options) : trace_load(&trace, options.file);
    if (got == 0 && options.generate) {
        trace_print(&trace, stdout);
        status = EXIT_RIGHT;
    } else if (got == 0) {
        status = replay(&trace, &options, source);
    }
    trace_free(&trace);
    return output_end(stdout, "trace") == 0 ? status : EXIT_BAD_USE;
}
