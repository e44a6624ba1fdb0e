/* SPDX-License-Identifier: Apache-2.0 */
#include "gate/merge/merge.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cli/base/command.h"
#include "cli/base/text.h"
#include "gate/merge/report.h"
#include "gate/source/lines.h"

/* 0 after naming an option that only attention has. */
static int takes_options(const struct gate_options *o) {
    const struct gate_shape *s = &o->shape;
    int has_shape = s->n_heads || s->n_kv_heads || s->chunk_size || s->group || s->sequences ||
                    s->rows || s->keys || s->window || s->value_dim;
    const char *option = o->save != NULL    ? "--save"
                         : o->state != NULL ? "--state"
                         : o->junit != NULL ? "--junit"
                         : o->html != NULL  ? "--html"
                         : o->rules         ? "--rules"
                         : has_shape        ? "--shape, but for d=N,"
                                            : NULL;
    if (option != NULL) {
        fprintf(stderr,
                "chunkproof gate: %s is for kernels that compute attention; of a kernel that "
                "merges there is a text, and --json\n",
                option);
    }
    return option == NULL;
}

/* Is the smallest case of each verdict wrong in a new process, too? Its text gets lines of the
 * source. 0, or -1 after a message. */
static int run_found_again(const struct gate_options *o, const char *file, gate_starter *start,
                           void *context, const volatile int *stop, struct merge_result *r) {
    for (int i = GATE_RIGHT + 1; i < MERGE_VERDICTS && *stop == 0; i++) {
        struct merge_found again;
        struct merge_counts counts = {0, 0};
        if (r->verdicts[i] == 0 || i == GATE_HANGS) {
            continue;
        }
        gate_name_lines(file, r->found[i].finding.of.text, sizeof r->found[i].finding.of.text);
        struct runner *runner = start(context);
        if (runner == NULL) {
            return -1;
        }
        int ran = merge_check_case(o, runner, r->found[i].index, stop, &again, &counts);
        runner_free(runner);
        if (ran < 0) {
            return -1;
        }
        r->found[i].needs_others = ran > 0 && again.finding.verdict == GATE_RIGHT;
    }
    return 0;
}

static int write_json(struct gate_files *files, const struct merge_report *report) {
    struct output *output = &files->output[GATE_JSON];
    if (output->file == NULL) {
        return 0;
    }
    errno = 0;
    int printed = merge_print_json(output->file, report) == 0;
    if (!printed) {
        output_drop(output);
    }
    if (!printed || output_keep(output) != 0) {
        fprintf(stderr, "chunkproof gate: --json %s: the report cannot be written: %s\n",
                report->options->json, errno != 0 ? strerror(errno) : "not enough memory");
        return -1;
    }
    return 0;
}

static int status_of(const struct merge_result *r) {
    return merge_wrong_cases(r) > 0     ? EXIT_FINDING
           : r->interrupted             ? EXIT_INTERRUPTED
           : merge_no_answer(r) != NULL ? EXIT_BAD_USE
                                        : EXIT_RIGHT;
}

int merge_gate(const struct gate_options *o, struct gate_files *files, struct runner *runner,
               gate_starter *start, void *context, const volatile int *stop) {
    struct merge_result *result = cli_allocate(NULL, 1, sizeof *result);
    struct merge_report report = {o, runner_merge_kernel(runner), result, runner_contained(runner)};
    int status = EXIT_BAD_USE;
    if (takes_options(o)) {
        int failed = merge_check(o, runner, start, context, result, stop) != 0;
        int found = merge_wrong_cases(result) > 0;
        failed =
            (found && run_found_again(o, runner_file(runner), start, context, stop, result) != 0) ||
            failed;
        if (!failed || found) {
            merge_print_text(stdout, &report);
            status = write_json(files, &report) != 0 ? EXIT_BAD_USE : status_of(result);
        }
    }
    gate_files_remove(files);
    free(result);
    return status;
}
