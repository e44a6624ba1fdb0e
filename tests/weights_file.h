/* SPDX-License-Identifier: Apache-2.0 */
/* The small weights file of the tests, in memory, to be changed. */
#ifndef CHUNKPROOF_TESTS_WEIGHTS_FILE_H
#define CHUNKPROOF_TESTS_WEIGHTS_FILE_H

#include <stddef.h>
#include <stdint.h>

#include "cli/model/weights.h"

#define TINY_WEIGHTS "tests/golden/model/tiny.weights"

/* A file for messages. */
#define NAMED(file) (&(const struct weights_name){"model", file})

struct weights_file {
    unsigned char *bytes; /* at a multiple of 64; weights_file_free() */
    size_t size;
};

/* Fails the test when the file cannot be read. */
struct weights_file weights_file_load(void);
/* A copy of its first n bytes, in memory that ends there. */
struct weights_file weights_file_part(const struct weights_file *file, size_t n);
void weights_file_free(struct weights_file *file);

uint32_t weights_file_u32(const struct weights_file *file, size_t at);
uint64_t weights_file_u64(const struct weights_file *file, size_t at);
void weights_file_put_u32(struct weights_file *file, size_t at, uint32_t value);
void weights_file_put_u64(struct weights_file *file, size_t at, uint64_t value);
void weights_file_put_double(struct weights_file *file, size_t at, double value);

/* Makes size and checksum right, by a bit-for-bit CRC-32 of its own. */
void weights_file_seal(struct weights_file *file);
/* The same with another size in the header. */
void weights_file_seal_as(struct weights_file *file, uint64_t size);

/* 0 when the reader takes the file, else -1; what it says goes to `said`, and is "" after 0. */
int weights_file_read(const struct weights_file *file, char *said, size_t size);

#endif
