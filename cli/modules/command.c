/* SPDX-License-Identifier: Apache-2.0 */
/* `chunkproof simulate --modules`: a schema, prompts drawn from it, a cache, a report. */
#include "cli/modules/command.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cli/base/command.h"
#include "cli/base/interrupt.h"
#include "cli/base/output.h"
#include "cli/base/text.h"
#include "cli/modules/report.h"

/* What the steps use, in the order in which it is made. */
struct work {
    const struct modules_options *options;
    struct modules_settings settings;
    struct pml_tokenizer tokenizer;
    struct pml_schema schema;
    struct modules_items items;
    struct modules_run run;
};

static int cannot_write(const char *file) {
    fprintf(stderr, "chunkproof simulate --modules: %s cannot be written: %s\n", file,
            strerror(errno));
    return EXIT_BAD_USE;
}

/* ---- The schema ---- */

static int read_schema(struct work *work) {
    struct pml_document document;
    const struct modules_options *o = work->options;
    char *text = NULL;
    size_t size = 0;
    int status;
    if (o->schema != NULL) {
        status = pml_document_read(&document, o->schema);
    } else {
        FILE *out = text_open(&text, &size);
        modules_schema_make(&o->made, o->seed, out);
        text_close(out);
        status = pml_document_parse(&document, "the schema that is made up", text, size);
    }
    work->tokenizer = o->in_bytes ? pml_tokens_bytes() : pml_tokens_words();
    if (status == 0) { /* the first template adds nothing to roles */
        status = pml_schema_from(&work->schema, &document, &work->tokenizer, pml_templates);
    }
    pml_document_free(&document);
    free(text);
    return status;
}

/* ---- Reports ---- */

static int write_json(const struct modules_report *report) {
    const char *file = report->options->json;
    struct output output;
    if (file == NULL) {
        return EXIT_RIGHT;
    }
    if (output_open(&output, file) != 0) {
        return cannot_write(file);
    }
    if (modules_report_json(report, output.file) != 0) {
        output_drop(&output);
        return cannot_write(file);
    }
    return output_keep(&output) != 0 ? cannot_write(file) : EXIT_RIGHT;
}

static int report_all(struct work *work) {
    struct modules_report report = {
        .options = work->options,
        .settings = &work->settings,
        .items = &work->items,
        .run = &work->run,
        .summary = modules_summarise(&work->settings, &work->run),
        .is_interrupted = work->run.prompts < work->settings.prompts && !work->run.is_broken,
    };
    if (work->run.is_broken) {
        fputs("chunkproof simulate --modules: the contents of a tier do not match its account\n",
              stderr);
        return EXIT_FINDING;
    }
    modules_report_text(&report, stdout);
    int status = write_json(&report);
    return status != EXIT_RIGHT ? status : report.is_interrupted ? EXIT_INTERRUPTED : EXIT_RIGHT;
}

static int simulate_and_report(struct work *work) {
    const struct modules_options *o = work->options;
    struct output events = {.file = NULL};
    struct modules_drawing drawing;
    if (o->events != NULL && output_open(&events, o->events) != 0) {
        return cannot_write(o->events);
    }
    work->settings.events = events.file;
    modules_items_build(&work->items, &work->schema);
    modules_drawing_new(&drawing, &work->schema, o->imports, o->zipf, o->seed);
    catch_interrupt();
    modules_simulate(&work->run, &work->settings, &work->items, &drawing);
    modules_drawing_free(&drawing);
    if (o->events != NULL && output_keep(&events) != 0) {
        return cannot_write(o->events);
    }
    return report_all(work);
}

/* ---- The steps ---- */

/* Memory in whole tokens. */
static long long capacity_of(double gib, double token_bytes) {
    double tokens = gib * 0x1p30 / token_bytes;
    return tokens < 1e15 ? (long long)tokens : 1000000000000000LL;
}

static int run(const struct modules_options *o, const struct modules_machine *machine) {
    struct work work = {.options = o,
                        .settings = {.prompts = o->prompts,
                                     .batch = o->batch,
                                     .new = o->new,
                                     .machine = *machine,
                                     .model = o->model}};
    for (int t = 0; t < MODULES_TIERS; t++) {
        work.settings.capacity[t] = capacity_of(o->memory[t], cp_kv_bytes(&o->model));
    }
    int status = read_schema(&work) == 0 ? simulate_and_report(&work) : EXIT_BAD_USE;
    modules_run_free(&work.run);
    modules_items_free(&work.items);
    pml_schema_free(&work.schema);
    pml_tokenizer_free(&work.tokenizer);
    return status;
}

static int find_machine(const char *name, struct modules_machine *machine) {
    const struct modules_machine *preset = modules_machine_find(name != NULL ? name : "a100");
    if (preset != NULL) {
        *machine = *preset;
        return 0;
    }
    if (modules_machine_load(machine, name) == 0) {
        return 0;
    }
    fputs("chunkproof simulate --modules: --machine takes a file, or", stderr);
    for (int i = 0; modules_machine_name(i) != NULL; i++) {
        fprintf(stderr, " %s", modules_machine_name(i));
    }
    fputs("\n", stderr);
    return -1;
}

int modules_command(int argc, char **argv) {
    struct modules_options options;
    struct modules_machine machine;
    if (modules_options_parse(&options, argc, argv) != 0) {
        return EXIT_BAD_USE;
    }
    if (options.help) {
        modules_options_help();
        return EXIT_RIGHT;
    }
    if (find_machine(options.machine, &machine) != 0) {
        return EXIT_BAD_USE;
    }
    if (options.print_machine) {
        modules_machine_print(&machine, stdout);
        return EXIT_RIGHT;
    }
    if (options.print_schema) {
        modules_schema_make(&options.made, options.seed, stdout);
        return EXIT_RIGHT;
    }
    return run(&options, &machine);
}
