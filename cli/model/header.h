/* SPDX-License-Identifier: Apache-2.0 */
/* The first 192 bytes of a weights file (FILE-3), and the checks of them that need nothing else. */
#ifndef CHUNKPROOF_CLI_MODEL_HEADER_H
#define CHUNKPROOF_CLI_MODEL_HEADER_H

#include <stddef.h>
#include <stdint.h>

#include "cli/model/weights.h"

#define HEADER_MAGIC       "CPWEIGHT"
#define HEADER_VERSION     1
#define HEADER_ORDER       0x01020304U
#define HEADER_CHECKSUM_AT 24
#define HEADER_ALIGN       64

struct header {
    char magic[8];
    uint32_t version, order;
    uint64_t size;
    uint32_t checksum, header_size;
    uint32_t n_layers, width, n_heads, n_kv_heads, head_dim, hidden, n_tokens, context;
    uint32_t norm, network, positions, pair_distance, rotary_dim, tied;
    double base, epsilon;
    uint64_t rounded;
    uint32_t n_tensors, n_merges;
    uint64_t directory, ends, kinds, text, text_size, merges;
    uint32_t split, add_begin, begin, stop, unknown, reserved;
};

/* An entry of the directory (FILE-6). */
struct header_tensor {
    char name[56];
    uint32_t type, rank;
    uint64_t rows, columns, offset, size;
};

/* Prints `chunkproof COMMAND: FILE: ...` and returns -1. */
int header_refuse(const struct weights_name *name, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Takes the header from the bytes and checks it, and the checksum of all bytes. What needs the
 * sections is weights_read()'s: the number of tensors, places, and the bound of `rounded`. 0, or -1
 * after a message. */
int header_read(struct header *header, const struct weights_name *name, const unsigned char *bytes,
                size_t size);

#endif
