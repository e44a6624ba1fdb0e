/* SPDX-License-Identifier: Apache-2.0 */
/* Runs a target without a fuzzing engine, with any compiler: each file, and each file of each
 * directory, once. So the committed corpus is a test like any other.
 *
 * exit status: 0 all inputs were run, 2 bad use; a finding ends the program with a signal, after
 * the name of the input */
#define _POSIX_C_SOURCE 200809L /* scandir */

#include <dirent.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz/target.h"

static int run_file(const char *path) {
    size_t size;
    uint8_t *bytes = fuzz_read(path, &size);
    if (bytes == NULL) {
        return -1;
    }
    /* Memory of exactly this size, so that the sanitizers and valgrind see a read beyond it. */
    uint8_t *exact = malloc(size > 0 ? size : 1);
    if (exact == NULL) {
        free(bytes);
        return -1;
    }
    memcpy(exact, bytes, size);
    free(bytes);
    printf("%s\n", path);
    (void)fflush(stdout); /* when the program dies, the last line names the input */
    (void)LLVMFuzzerTestOneInput(exact, size);
    free(exact);
    return 0;
}

static int is_visible(const struct dirent *entry) {
    return entry->d_name[0] != '.';
}

/* The number of inputs that were run, or -1. */
static int run(const char *path) {
    struct dirent **entry;
    int n = scandir(path, &entry, is_visible, alphasort), failed = 0;
    if (n < 0) {
        return run_file(path) == 0 ? 1 : -1;
    }
    for (int i = 0; i < n; i++) {
        char name[4096];
        (void)snprintf(name, sizeof name, "%s/%s", path, entry[i]->d_name);
        failed = failed || run_file(name) != 0;
        free(entry[i]);
    }
    free(entry);
    return failed ? -1 : n;
}

int main(int argc, char **argv) {
    int inputs = 0;
    (void)LLVMFuzzerInitialize(&argc, &argv);
    for (int i = 1; i < argc; i++) {
        int more = run(argv[i]);
        if (more < 0) {
            return 2;
        }
        inputs += more;
    }
    if (argc < 2) {
        fprintf(stderr, "usage: %s FILE|DIRECTORY...\n       %s --print FILE...\n", argv[0],
                argv[0]);
        return 2;
    }
    printf("inputs %d\n", inputs);
    return 0;
}
