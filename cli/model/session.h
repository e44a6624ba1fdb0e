/* SPDX-License-Identifier: Apache-2.0 */
/* A prompt on the reference decoder, token after token, with its cache. */
#ifndef CHUNKPROOF_CLI_MODEL_SESSION_H
#define CHUNKPROOF_CLI_MODEL_SESSION_H

#include "chunkproof/decoder.h"

#define SESSION_AT_ONCE 32 /* tokens of a call */

struct session {
    const struct cp_decoder *decoder;
    struct cp_decoder_cache cache;
    double *logits; /* [SESSION_AT_ONCE][n_vocab], of the tokens that were added last */
    void *workspace;
    size_t workspace_size;
};

/* Memory for so many entries, 1 at least. 0, or -1: there is not so much. */
int session_entries_new(struct cp_decoder_cache *entries, const struct cp_decoder *decoder,
                        int capacity);
void session_entries_free(struct cp_decoder_cache *entries);

/* Room for so many tokens. 0; or -1: there is no memory, or it is more than can be counted. */
int session_new(struct session *session, const struct cp_decoder *decoder, int capacity);
void session_free(struct session *session);

/* Forgets all tokens. */
void session_clear(struct session *session);

/* Adds up to SESSION_AT_ONCE tokens, and computes the logits of each. 0, or a status of
 * cp_decoder_run(). */
int session_add(struct session *session, const int *token, int n);

#endif
