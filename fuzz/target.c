/* SPDX-License-Identifier: Apache-2.0 */
#define _POSIX_C_SOURCE 200809L /* vdprintf */
#include "fuzz/target.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* To the descriptor: a parser's target has put another stream in the place of stderr. */
void fuzz_fail(const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    dprintf(STDERR_FILENO, "fuzz: ");
    vdprintf(STDERR_FILENO, format, arguments);
    dprintf(STDERR_FILENO, "\n");
    va_end(arguments);
    abort();
}

uint8_t *fuzz_read(const char *path, size_t *size) {
    FILE *in = fopen(path, "rb");
    uint8_t *bytes = NULL;
    size_t room = 0;
    *size = 0;
    while (in != NULL) {
        if (*size == room) {
            room = 2 * room + 4096;
            uint8_t *larger = realloc(bytes, room);
            if (larger == NULL) {
                break;
            }
            bytes = larger;
        }
        size_t n = fread(bytes + *size, 1, room - *size, in);
        *size += n;
        if (n == 0) {
            break;
        }
    }
    if (in == NULL || bytes == NULL || ferror(in)) {
        fprintf(stderr, "%s: cannot be read: %s\n", path, strerror(errno));
        free(bytes);
        bytes = NULL;
    }
    if (in != NULL) {
        (void)fclose(in);
    }
    return bytes;
}

/* As libFuzzer declares it. */
int LLVMFuzzerInitialize(int *argc, char ***argv) { // NOLINT(readability-non-const-parameter)
    if (*argc < 2 || strcmp((*argv)[1], "--print") != 0) {
        return 0;
    }
    for (int i = 2; i < *argc; i++) {
        size_t size;
        uint8_t *bytes = fuzz_read((*argv)[i], &size);
        if (bytes == NULL) {
            exit(2);
        }
        if (*argc > 3) {
            printf("%s:\n", (*argv)[i]);
        }
        fuzz_print(stdout, bytes, size);
        free(bytes);
    }
    exit(0);
}
