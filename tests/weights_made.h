/* SPDX-License-Identifier: Apache-2.0 */
/* Weights files of any small shape, in memory, written from a header and a table of tokens. */
#ifndef CHUNKPROOF_TESTS_WEIGHTS_MADE_H
#define CHUNKPROOF_TESTS_WEIGHTS_MADE_H

#include "cli/model/header.h"
#include "weights_file.h"

/* Bytes of a token; `special` as FILE-9 has it. */
struct made_token {
    const char *text;
    size_t length;
    unsigned char special;
};

/* What a file says. `header` has the fields of the shape. The writer finds the count of tensors,
 * places, size and checksum (FILE-2, FILE-4, FILE-5). */
struct made {
    struct header header;
    const struct made_token *token; /* [header.n_tokens] */
    const uint32_t (*merge)[3];     /* [header.n_merges] */
};

/* One layer, width 2, two heads of 4 with one K/V head, a network of 3, and 6 tokens: a, b, c, ba,
 * a special one, and d. The merge: b and a. The embedding is the output. */
struct made made_base(void);

/* Ends at a multiple of 64; weights_file_free(). */
struct weights_file made_write(const struct made *made);

/* Weight `number` of the file, counted from the embedding's first: no two are equal. */
float made_weight(size_t number);

#endif
