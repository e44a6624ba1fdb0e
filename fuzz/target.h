/* SPDX-License-Identifier: Apache-2.0 */
/* What each fuzz target has, and who calls it: libFuzzer, the driver of AFL++, or main.c, which
 * only runs files. */
#ifndef CHUNKPROOF_FUZZ_TARGET_H
#define CHUNKPROOF_FUZZ_TARGET_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Runs one input, any bytes. Returns 0, or ends the program with fuzz_fail(), a sanitizer's report
 * or a signal. Keeps nothing: an input has the same effect whatever ran before. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* `--print FILE...`: prints each input for people and ends the program. */
int LLVMFuzzerInitialize(int *argc, char ***argv);

/* An input in words: operations (operations.c) or text (text.c). */
void fuzz_print(FILE *out, const uint8_t *data, size_t size);

/* Says what is wrong and ends the program with SIGABRT. */
void fuzz_fail(const char *format, ...) __attribute__((noreturn, format(printf, 1, 2)));

/* A whole file, which the caller frees; NULL after saying why not. */
uint8_t *fuzz_read(const char *path, size_t *size);

#ifdef __cplusplus
}
#endif

#endif
