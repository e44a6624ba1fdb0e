/* SPDX-License-Identifier: Apache-2.0 */
#define _POSIX_C_SOURCE 200809L /* posix_memalign, fmemopen */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "cli/model/weights.h"
#include "weights_file.h"

#define SIZE_AT     16
#define CHECKSUM_AT 24

static struct weights_file room_for(size_t n) {
    struct weights_file file = {NULL, n};
    void *bytes = NULL;
    assert_int_equal(posix_memalign(&bytes, 64, n > 0 ? n : 1), 0);
    file.bytes = bytes;
    return file;
}

struct weights_file weights_file_load(void) {
    FILE *file = fopen(TINY_WEIGHTS, "rb");
    assert_non_null(file);
    assert_int_equal(fseek(file, 0, SEEK_END), 0);
    struct weights_file loaded = room_for((size_t)ftell(file));
    rewind(file);
    assert_int_equal(fread(loaded.bytes, 1, loaded.size, file), loaded.size);
    (void)fclose(file);
    return loaded;
}

struct weights_file weights_file_part(const struct weights_file *file, size_t n) {
    struct weights_file part = room_for(n);
    memcpy(part.bytes, file->bytes, n);
    return part;
}

void weights_file_free(struct weights_file *file) {
    free(file->bytes);
    file->bytes = NULL;
}

uint32_t weights_file_u32(const struct weights_file *file, size_t at) {
    uint32_t value;
    memcpy(&value, file->bytes + at, sizeof value);
    return value;
}

uint64_t weights_file_u64(const struct weights_file *file, size_t at) {
    uint64_t value;
    memcpy(&value, file->bytes + at, sizeof value);
    return value;
}

void weights_file_put_u32(struct weights_file *file, size_t at, uint32_t value) {
    memcpy(file->bytes + at, &value, sizeof value);
}

void weights_file_put_u64(struct weights_file *file, size_t at, uint64_t value) {
    memcpy(file->bytes + at, &value, sizeof value);
}

void weights_file_put_double(struct weights_file *file, size_t at, double value) {
    memcpy(file->bytes + at, &value, sizeof value);
}

/* The polynomial of IEEE 802.3, the lowest bit first; bytes in the place of the checksum are 0. */
static uint32_t crc_of(const struct weights_file *file) {
    uint32_t table[256], crc = 0xFFFFFFFFU;
    for (uint32_t i = 0; i < 256; i++) {
        table[i] = i;
        for (int bit = 0; bit < 8; bit++) {
            table[i] = table[i] >> 1 ^ (table[i] & 1 ? 0xEDB88320U : 0);
        }
    }
    for (size_t i = 0; i < file->size; i++) {
        int in_checksum = i >= CHECKSUM_AT && i < CHECKSUM_AT + 4;
        crc = crc >> 8 ^ table[(crc ^ (in_checksum ? 0 : file->bytes[i])) & 0xFF];
    }
    return ~crc;
}

void weights_file_seal_as(struct weights_file *file, uint64_t size) {
    weights_file_put_u64(file, SIZE_AT, size);
    weights_file_put_u32(file, CHECKSUM_AT, crc_of(file));
}

void weights_file_seal(struct weights_file *file) {
    weights_file_seal_as(file, file->size);
}

int weights_file_read(const struct weights_file *file, char *said, size_t size) {
    struct weights weights;
    FILE *before = stderr, *said_to = fmemopen(said, size, "w");
    assert_non_null(said_to);
    said[0] = '\0';
    stderr = said_to;
    int result = weights_read(&weights, NAMED("tiny"), file->bytes, file->size);
    stderr = before;
    (void)fclose(said_to);
    if (result == 0) {
        int layer;
        assert_null(cp_decoder_check(&weights.decoder, &layer));
        weights_forget(&weights);
    }
    return result;
}
