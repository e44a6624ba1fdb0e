/* SPDX-License-Identifier: Apache-2.0 */
/* The files of the reports: opened before anything is checked, written at the end. */
#define _POSIX_C_SOURCE 200809L /* fileno */

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

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
    *files = (struct gate_files){.name = {o->json, o->junit, o->html}};
    for (int i = 0; i < GATE_FORMATS; i++) {
        files->file[i] = files->name[i] != NULL ? fopen(files->name[i], "w") : NULL;
        if (files->name[i] != NULL && files->file[i] == NULL) {
            int result = cannot(files, i);
            gate_files_remove(files);
            return result;
        }
    }
    return 0;
}

int gate_files_write(struct gate_files *files, const struct gate_report *report) {
    int result = 0;
    for (int i = 0; i < GATE_FORMATS; i++) {
        if (files->file[i] == NULL) {
            continue;
        }
        errno = 0;
        int failed = formats[i].print(files->file[i], report) != 0 || ferror(files->file[i]);
        failed |= fclose(files->file[i]) != 0;
        result = failed ? cannot(files, i) : result;
    }
    return result;
}

/* A pipe or a device stays. */
void gate_files_remove(struct gate_files *files) {
    for (int i = 0; i < GATE_FORMATS; i++) {
        struct stat about;
        if (files->file[i] == NULL) {
            continue;
        }
        if (fstat(fileno(files->file[i]), &about) == 0 && S_ISREG(about.st_mode)) {
            (void)remove(files->name[i]);
        }
        (void)fclose(files->file[i]);
    }
}
