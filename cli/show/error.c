/* SPDX-License-Identifier: Apache-2.0 */
#include <stdarg.h>
#include <stdio.h>

#include "cli/base/command.h"
#include "cli/show/show.h"

int show_error(struct show_place place, const char *format, ...) {
    va_list arguments;
    if (place.file != NULL) {
        fprintf(stderr, "%s:%d: ", place.file, place.line);
    } else {
        fprintf(stderr, "chunkproof show: prompt %d: ", place.line);
    }
    va_start(arguments, format);
    vfprintf(stderr, format, arguments);
    va_end(arguments);
    fputc('\n', stderr);
    return EXIT_BAD_USE;
}
