/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/trace/load.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "cli/trace/parse.h"

const char *trace_source(const char *file) {
    return strcmp(file, "-") == 0 ? "<stdin>" : file;
}

int trace_load(struct trace *trace, const char *file) {
    struct trace_error error;
    const char *source = trace_source(file);
    FILE *in = strcmp(file, "-") == 0 ? stdin : fopen(file, "r");
    if (in == NULL) {
        fprintf(stderr, "%s: cannot be opened: %s\n", source, strerror(errno));
        return -1;
    }
    int result = trace_parse(trace, in, &error);
    if (in != stdin) {
        fclose(in);
    }
    if (result != 0 && error.line > 0) {
        fprintf(stderr, "%s:%ld:%d: %s\n", source, error.line, error.column, error.text);
    } else if (result != 0) {
        fprintf(stderr, "%s: %s\n", source, error.text);
    }
    return result;
}
