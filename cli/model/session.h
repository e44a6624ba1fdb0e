/* SPDX-License-Identifier: Apache-2.0 */
/* A prompt on the reference decoder, or on the fast one, token after token, with its cache. */
#ifndef CHUNKPROOF_CLI_MODEL_SESSION_H
#define CHUNKPROOF_CLI_MODEL_SESSION_H

#include "cli/model/fast.h"

#define SESSION_AT_ONCE 32 /* tokens of a call of the reference */
#define SESSION_MOST    FAST_AT_ONCE

struct session {
    const struct cp_decoder *decoder;
    int at_once; /* tokens of a call, SESSION_MOST at most */
    int is_fast; /* 1: `fast`; 0: `cache` and the workspace */
    struct fast fast;
    float *fast_logits; /* [at_once][n_vocab] */
    struct cp_decoder_cache cache;
    double *logits; /* [at_once][n_vocab], of the tokens that were added last */
    void *workspace;
    size_t workspace_size;
};

/* Memory for so many entries, 1 at least. 0, or -1: there is not so much. */
int session_entries_new(struct cp_decoder_cache *entries, const struct cp_decoder *decoder,
                        int capacity);
void session_entries_free(struct cp_decoder_cache *entries);

/* Room for so many tokens, on the reference decoder (fast_threads 0), or on the fast one with so
 * many threads. NULL; or what is wrong: there is no memory, or it is more than can be counted. */
const char *session_new(struct session *session, const struct cp_decoder *decoder, int capacity,
                        int fast_threads);
void session_free(struct session *session);

/* Forgets all tokens. */
void session_clear(struct session *session);

/* Adds up to at_once tokens, and computes the logits of those from first_logits on. 0, or a status
 * of cp_decoder_run(). */
int session_add(struct session *session, const int *token, int n, int first_logits);

#endif
