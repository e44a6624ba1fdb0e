/* SPDX-License-Identifier: Apache-2.0 */
/* The files of the reports: opened before anything is checked, written at the end. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "gate/report/report.h"

static const struct {
    const char *option;
    int (*print)(FILE *file, const struct gate_report *report);
} formats[GATE_FORMATS] = {
    [GATE_JSON] = {"--json", gate_print_json},
    [GATE_JUNIT] = {"--junit", gate_print_junit},
    [GATE_HTML] = {"--html", gate_print_html},
};

static int cannot(const struct gate_files *files, int format) {
    fprintf(stderr, "chunkproof gate: %s %s: the report cannot be written: %s\n",
            formats[format].option, files->name[format],
            errno != 0 ? strerror(errno) : "not enough memory");
    return -1;
}

int gate_files_open(struct gate_files *files, const struct gate_options *o) {
    memset(files, 0, sizeof *files);
    const char *const names[GATE_FORMATS] = {o->json, o->junit, o->html};
    for (int i = 0; i < GATE_FORMATS; i++) {
        files->name[i] = names[i];
        if (names[i] != NULL && output_open(&files->output[i], names[i]) != 0) {
            int result = cannot(files, i);
            gate_files_remove(files);
            return result;
        }
    }
    for (int i = 0; i < GATE_FORMATS; i++) {
        output_remove_old(&files->output[i]); /* nobody is to take it for this run's */
    }
    return 0;
}

int gate_files_keep(struct gate_files *files, int format, int printed) {
    struct output *output = &files->output[format];
    if (!printed) {
        int result = cannot(files, format);
        output_drop(output);
        return result;
    }
    return output_keep(output) != 0 ? cannot(files, format) : 0;
}

int gate_files_write(struct gate_files *files, const struct gate_report *report) {
    int result = 0;
    for (int i = 0; i < GATE_FORMATS; i++) {
        if (files->output[i].file != NULL) {
            errno = 0;
            int printed = formats[i].print(files->output[i].file, report) == 0;
            result = gate_files_keep(files, i, printed) != 0 ? -1 : result;
        }
    }
    return result;
}

void gate_files_remove(struct gate_files *files) {
    for (int i = 0; i < GATE_FORMATS; i++) {
        output_drop(&files->output[i]);
    }
}
