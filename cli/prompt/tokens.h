/* SPDX-License-Identifier: Apache-2.0 */
/* What a token is (PML-5), behind an interface that a model's tokenizer can have, too. */
#ifndef CHUNKPROOF_CLI_PROMPT_TOKENS_H
#define CHUNKPROOF_CLI_PROMPT_TOKENS_H

#include <stddef.h>

struct pml_tokenizer {
    const char *name;

    /* Writes the numbers of a text's tokens, in order, and returns how many these are. The text has
     * `size` bytes of UTF-8, and `token` has room for as many numbers: each token stands for a byte
     * or more. Equal texts have equal tokens; the text of a template may have special ones. */
    int (*encode)(void *state, const char *text, size_t size, int is_template, int *token);

    void (*free)(void *state);
    void *state; /* the tokenizer's own */
};

/* A token for each word: the longest runs of what is no blank, tab or line end. Words are numbered
 * in the order in which they are first met. */
struct pml_tokenizer pml_tokens_words(void);

/* A token for each byte: its number. */
struct pml_tokenizer pml_tokens_bytes(void);

/* The tokens of a language model (PML-13). 0, or -1 after a message. `name->file`
 * and `tokens` stay the caller's, as long as the tokenizer is there. */
struct weights_name;
struct weights_tokens;
int pml_tokens_model(struct pml_tokenizer *tokenizer, const struct weights_name *name,
                     const struct weights_tokens *tokens);

void pml_tokenizer_free(struct pml_tokenizer *tokenizer);

#endif
