/* SPDX-License-Identifier: Apache-2.0 */
/* Byte-level BPE: the bytes of a piece become tokens, pair by pair (TOKEN-4). */
#ifndef CHUNKPROOF_CLI_MODEL_MERGE_H
#define CHUNKPROOF_CLI_MODEL_MERGE_H

#include <stddef.h>
#include <stdint.h>

#include "cli/model/weights.h"

struct merge_symbol;
struct merge_candidate;

/* Not for two threads at once. */
struct merge {
    const struct weights_tokens *tokens;
    int32_t of_byte[256]; /* the token, not special, that is this byte, or -1 */
    uint32_t *slot;       /* [mask + 1] hash table: a merge's rank + 1, or 0 */
    size_t mask;
    struct merge_symbol *symbol; /* [room] of the piece at hand */
    struct merge_candidate *heap;
    size_t n_heap, room;
};

/* 0; or -1 after a message: two merges are of the same pair. The tokens stay the caller's. */
int merge_new(struct merge *merge, const struct weights_name *name,
              const struct weights_tokens *tokens);
void merge_free(struct merge *merge);

/* Writes the tokens of a piece of n bytes, n of them or fewer, and returns how many; *lost grows by
 * the number of bytes that have no token. Time n log n. */
size_t merge_piece(struct merge *merge, const char *text, size_t n, int *token, size_t *lost);

#endif
