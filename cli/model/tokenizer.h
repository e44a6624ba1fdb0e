/* SPDX-License-Identifier: Apache-2.0 */
/* Text to tokens and back: spec/tokens.md. */
#ifndef CHUNKPROOF_CLI_MODEL_TOKENIZER_H
#define CHUNKPROOF_CLI_MODEL_TOKENIZER_H

#include <stddef.h>
#include <stdio.h>

#include "cli/model/merge.h"
#include "cli/model/split.h"
#include "cli/model/weights.h"

#define TOKENIZER_MOST_SPECIAL 4096 /* at each byte of a text all of them may be tried */

/* Not for two threads at once. */
struct tokenizer {
    const struct weights_tokens *tokens;
    struct split split;
    struct merge merge;
    int *special; /* [n_special] the special tokens, longest text first, then the lowest number */
    int n_special;
    unsigned char begins[256]; /* 1 where a special token begins with the byte */
};

/* Tokens of a text. */
struct token_list {
    int *token; /* [room]; token_list_free() frees it */
    size_t n, room;
    size_t lost; /* bytes that the vocabulary has no token for, left out (TOKEN-5) */
};

/* 0; or -1 after a message: more than TOKENIZER_MOST_SPECIAL special tokens, two merges of the same
 * pair, or what split_new() refuses. The tokens stay the caller's. */
int tokenizer_new(struct tokenizer *tokenizer, const struct weights_name *name,
                  const struct weights_tokens *tokens);
void tokenizer_free(struct tokenizer *tokenizer);

/* Appends the tokens of n bytes, any bytes, to the list, and adds to its `lost`. With `special` not
 * 0, the texts of special tokens become these, of equal texts the one with the lowest number; else
 * they are text like any other (TOKEN-6). It adds no token that a prompt begins with. */
void tokenizer_encode(struct tokenizer *tokenizer, const char *text, size_t n, int special,
                      struct token_list *list);

void token_list_add(struct token_list *list, int token);
void token_list_free(struct token_list *list);

/* The bytes of token 0 .. n - 1, which are in the file; *n is their number (TOKEN-1, TOKEN-7). */
const char *tokenizer_bytes(const struct weights_tokens *tokens, int token, size_t *n);

#endif
