/* SPDX-License-Identifier: Apache-2.0 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "cli/model/session.h"

static double *numbers(size_t n) {
    return n > 0 && n <= SIZE_MAX / sizeof(double) ? malloc(n * sizeof(double)) : NULL;
}

int session_entries_new(struct cp_decoder_cache *entries, const struct cp_decoder *decoder,
                        int capacity) {
    size_t n = cp_decoder_cache_numbers(&decoder->shape, capacity);
    *entries = (struct cp_decoder_cache){.capacity = capacity};
    entries->position = malloc((size_t)capacity * sizeof *entries->position);
    entries->k = numbers(n);
    entries->v = numbers(n);
    if (entries->position == NULL || entries->k == NULL || entries->v == NULL) {
        session_entries_free(entries);
        return -1;
    }
    return 0;
}

void session_entries_free(struct cp_decoder_cache *entries) {
    free(entries->position);
    free(entries->k);
    free(entries->v);
    *entries = (struct cp_decoder_cache){0};
}

static int make_reference(struct session *session, int capacity) {
    const struct cp_decoder *decoder = session->decoder;
    session->at_once = capacity < SESSION_AT_ONCE ? capacity : SESSION_AT_ONCE;
    session->workspace_size = cp_decoder_workspace(&decoder->shape, session->at_once, capacity);
    session->workspace = session->workspace_size > 0 ? malloc(session->workspace_size) : NULL;
    return session->workspace != NULL &&
           session_entries_new(&session->cache, decoder, capacity) == 0;
}

const char *session_new(struct session *session, const struct cp_decoder *decoder, int capacity,
                        int fast_threads) {
    const char *why = NULL;
    memset(session, 0, sizeof *session);
    session->decoder = decoder;
    session->is_fast = fast_threads > 0;
    if (session->is_fast) {
        session->at_once = capacity < FAST_AT_ONCE ? capacity : FAST_AT_ONCE;
        why = fast_new(&session->fast, decoder, fast_threads, capacity);
    } else if (!make_reference(session, capacity)) {
        why = "not enough memory for such a prompt";
    }
    size_t n = (size_t)session->at_once * (size_t)decoder->shape.n_vocab;
    session->logits = numbers(n);
    session->fast_logits = session->is_fast ? malloc(n * sizeof *session->fast_logits) : NULL;
    if (why == NULL &&
        (session->logits == NULL || (session->is_fast && session->fast_logits == NULL))) {
        why = "not enough memory for the logits";
    }
    if (why != NULL) {
        session_free(session);
    }
    return why;
}

void session_free(struct session *session) {
    fast_free(&session->fast);
    session_entries_free(&session->cache);
    free(session->logits);
    free(session->fast_logits);
    free(session->workspace);
    memset(session, 0, sizeof *session);
}

void session_clear(struct session *session) {
    session->cache.n = 0;
    session->fast.cache.n = 0;
}

static int add_fast(struct session *session, const int *token, const int *position, int n,
                    int first_logits) {
    const struct cp_opt_decoder_call call = {.n_new = n,
                                             .token = token,
                                             .position = position,
                                             .logits = session->fast_logits,
                                             .first_logits = first_logits};
    int status = cp_opt_decoder_run(session->fast.decoder, &session->fast.cache, &call);
    size_t n_logits = (size_t)(n - first_logits) * (size_t)session->decoder->shape.n_vocab;
    for (size_t i = 0; status == CP_OK && i < n_logits; i++) {
        session->logits[i] = session->fast_logits[i];
    }
    return status;
}

int session_add(struct session *session, const int *token, int n, int first_logits) {
    int position[SESSION_MOST], begin = session->is_fast ? session->fast.cache.n : session->cache.n;
    for (int i = 0; i < n; i++) {
        position[i] = begin + i;
    }
    if (session->is_fast) {
        return add_fast(session, token, position, n, first_logits);
    }
    const struct cp_decoder_call call = {.n_new = n,
                                         .token = token,
                                         .position = position,
                                         .logits = session->logits,
                                         .first_logits = first_logits,
                                         .workspace = session->workspace,
                                         .workspace_size = session->workspace_size};
    return cp_decoder_run(session->decoder, &session->cache, &call);
}
