/* SPDX-License-Identifier: Apache-2.0 */
/* The entries of a schema's modules on a language model. Each module is encoded when a prompt first
 * needs it, and once more for each scaffold that counts for it (MOD-4). */
#ifndef CHUNKPROOF_CLI_PROMPT_CACHE_H
#define CHUNKPROOF_CLI_PROMPT_CACHE_H

#include "chunkproof/decoder.h"
#include "cli/prompt/pml.h"

/* Tokens, where they stand, and what they see. */
struct prompt_tokens {
    int n, room;
    struct prompt_token {
        int token, position;
        int module;   /* whose own text it is; -1: the prompt adds it */
        int scaffold; /* that counts for the module, or -1 */
    } * of;
};

/* Adds the tokens of a text, which stand from a position on. */
void prompt_tokens_add(struct prompt_tokens *tokens, const struct pml_texts *texts,
                       const struct pml_text *text, int position, int module, int scaffold);
void prompt_tokens_free(struct prompt_tokens *tokens);

/* session_entries_new(), with a message. */
int prompt_entries_new(struct cp_decoder_cache *entries, const struct cp_decoder *decoder,
                       int capacity);

/* The mask of MOD-3 among these tokens, [n][n]; NULL after a message. The caller frees it. */
unsigned char *prompt_mask(const struct pml_schema *schema, const struct prompt_tokens *tokens);

/* Where logits of computed tokens go. */
struct prompt_logits {
    double *of; /* [n tokens - first][n_vocab], of the tokens from `first` on; or NULL: nowhere */
    int first;  /* 0 .. n tokens */
};

/* Computes the tokens behind the entries that are there: they see what stands before them, or, with
 * a mask and no entries, what it says. 0, or -1 after a message. */
int prompt_compute(const struct cp_decoder *decoder, struct cp_decoder_cache *entries,
                   const struct prompt_tokens *tokens, const unsigned char *sees,
                   struct prompt_logits logits);

struct prompt_fast; /* cli/prompt/fast.h */

struct prompt_encoded {
    int module, scaffold;
    struct cp_decoder_cache entries;
};

struct prompt_cache {
    const struct cp_decoder *decoder;
    struct prompt_fast *fast; /* which computes, or NULL: the reference does */
    const struct pml_schema *schema;
    struct prompt_encoded *encoded; /* [n], in the order in which they came */
    int n, room;
    int n_tokens; /* that were encoded in all */
};

/* Which of encoded[] is a module's, encoded now unless it is there. Without a scaffold, the modules
 * around it are there. -1 after a message. */
int prompt_cache_module(struct prompt_cache *cache, int module, int scaffold);
void prompt_cache_free(struct prompt_cache *cache);

#endif
