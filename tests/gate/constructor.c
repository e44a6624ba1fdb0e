/* SPDX-License-Identifier: Apache-2.0 */
/* For tests: a shared object that does what CONSTRUCTOR says while it loads: hang, crash or
 * exit. */
#define _POSIX_C_SOURCE 200809L /* pause */

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

extern const int not_a_kernel;

const int not_a_kernel = 1;

__attribute__((constructor)) static void misbehave(void) {
    const char *word = getenv("CONSTRUCTOR");
    volatile uintptr_t nobodys = 16;
    if (word != NULL && strcmp(word, "hang") == 0) {
        for (;;) {
            pause();
        }
    } else if (word != NULL && strcmp(word, "crash") == 0) {
        *(volatile char *)nobodys = 1; /* NOLINT */
    } else if (word != NULL && strcmp(word, "exit") == 0) {
        _exit(4);
    }
}
