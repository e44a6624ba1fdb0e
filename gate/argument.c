/* SPDX-License-Identifier: Apache-2.0 */
#include "gate/argument.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

int argument_refuse(const char *command, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    fprintf(stderr, "chunkproof %s: ", command);
    vfprintf(stderr, format, arguments);
    fputs(" (see --help)\n", stderr);
    va_end(arguments);
    return -1;
}

int argument_int(const char *command, const char *name, const char *text, int least, int most,
                 int *number) {
    char *end;
    errno = 0;
    long value = strtol(text, &end, 10);
    if (end == text || *end != '\0' || errno != 0 || value < least || value > most) {
        return argument_refuse(command, "--%s needs a whole number from %d to %d, not '%s'", name,
                               least, most, text);
    }
    *number = (int)value;
    return 0;
}

int argument_number(const char *command, const char *name, const char *text, double least,
                    double most, double *number) {
    char *end;
    *number = strtod(text, &end);
    if (end == text || *end != '\0' || !(*number >= least && *number <= most)) {
        return argument_refuse(command, "--%s needs a number from %g to %.9g, not '%s'", name,
                               least, most, text);
    }
    return 0;
}
