/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE /* memfd_create */
#include "fuzz/parse.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "fuzz/target.h"

void parse_file_new(struct parse_file *file, const void *bytes, size_t size) {
    size_t done = 0;
    file->fd = memfd_create("fuzz", MFD_CLOEXEC);
    (void)snprintf(file->path, sizeof file->path, "/proc/self/fd/%d", file->fd);
    while (done < size) {
        ssize_t n = write(file->fd, (const char *)bytes + done, size - done);
        if (n <= 0) {
            fuzz_fail("a file in memory cannot be written");
        }
        done += (size_t)n;
    }
}

void parse_file_free(struct parse_file *file) {
    (void)close(file->fd);
}

/* The C library lets stderr be another stream; the sanitizers and fuzz_fail() write to the
 * descriptor. */
void parse_listen(struct parse_said *said) {
    said->before = stderr;
    said->text = NULL;
    FILE *kept = open_memstream(&said->text, &said->size);
    if (kept == NULL) {
        fuzz_fail("no memory to keep what is said");
    }
    stderr = kept;
}

void parse_heard(struct parse_said *said, int refused) {
    (void)fclose(stderr);
    stderr = said->before;
    if (refused && (said->size == 0 || said->text[said->size - 1] != '\n')) {
        fuzz_fail("refused, and not said why: '%s'", said->text);
    }
    for (size_t i = 0; i < said->size; i++) {
        unsigned char c = (unsigned char)said->text[i];
        if (refused && ((c < 32 && c != '\n') || c == 127)) {
            fuzz_fail("a message has the byte %d in it: '%s'", c, said->text);
        }
    }
    free(said->text);
}
