/* SPDX-License-Identifier: Apache-2.0 */
/* Cached inference on the fast decoder (FAST-1, FAST-4). Entries are kept as the reference keeps
 * them, in double, which has each number of binary32; a run copies them into chunks. */
#ifndef CHUNKPROOF_CLI_PROMPT_FAST_H
#define CHUNKPROOF_CLI_PROMPT_FAST_H

#include "cli/model/fast.h"
#include "cli/prompt/cache.h"

struct prompt_fast {
    struct fast fast;
    const struct cp_decoder *decoder;
    const struct cp_decoder_cache *entries; /* which the chunks have; NULL: none */
    int n_rows;
    float *logits; /* [n_rows][n_vocab] */
};

/* Makes *fast, with room for so many tokens. 0, or -1 after a message. The caller frees it after
 * 0. */
int prompt_fast_new(struct prompt_fast *fast, const struct cp_decoder *decoder, int threads,
                    int capacity);
void prompt_fast_free(struct prompt_fast *fast);

/* As prompt_compute() without a mask; tokens are in order of position. With `goes_on` the entries
 * are those of the last call, and nothing is copied but what is new. */
int prompt_fast_compute(struct prompt_fast *fast, struct cp_decoder_cache *entries,
                        const struct prompt_tokens *tokens, int goes_on,
                        struct prompt_logits logits);

#endif
