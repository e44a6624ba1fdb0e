/* SPDX-License-Identifier: Apache-2.0 */
#include "gate/merge/merge.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cli/base/command.h"
#include "cli/base/text.h"
#include "gate/merge/report.h"
#include "gate/merge/save.h"

/* 0 after saying that only attention has this. */
static int takes_options(const struct gate_options *o) {
    const struct gate_shape *s = &o->shape;
    int has_shape = s->n_heads || s->n_kv_heads || s->chunk_size || s->group || s->sequences ||
                    s->rows || s->keys || s->window || s->value_dim;
    if (has_shape) {
        fputs("chunkproof gate: --shape, but for d=N, is for kernels that compute attention, and "
              "not for one that merges\n",
              stderr);
    }
    return !has_shape;
}

/* 0, or -1 after saying which could not be written. */
static int write_files(struct gate_files *files, const struct merge_report *report) {
    static int (*const print[GATE_FORMATS])(FILE *, const struct merge_report *) = {
        [GATE_JSON] = merge_print_json,
        [GATE_JUNIT] = merge_print_junit,
        [GATE_HTML] = merge_print_html,
    };
    int result = 0;
    for (int i = 0; i < GATE_FORMATS; i++) {
        if (files->output[i].file != NULL) {
            errno = 0;
            int printed = print[i](files->output[i].file, report) == 0;
            result = gate_files_keep(files, i, printed) != 0 ? -1 : result;
        }
    }
    return result;
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
    memset(result, 0, sizeof *result);
    struct merge_report report = {o, runner_merge_kernel(runner), result, runner_contained(runner)};
    int status = EXIT_BAD_USE;
    if (takes_options(o)) {
        int failed = merge_check(o, runner, start, context, result, stop) != 0;
        int found = merge_wrong_cases(result) > 0;
        failed = (found && merge_save_all(o, runner, start, context, result, stop) != 0) || failed;
        if (!failed || found) {
            merge_print_text(stdout, &report);
            status = write_files(files, &report) != 0 ? EXIT_BAD_USE : status_of(result);
        }
    }
    gate_files_remove(files);
    merge_result_free(result);
    free(result);
    return status;
}
