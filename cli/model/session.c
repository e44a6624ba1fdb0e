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

int session_new(struct session *session, const struct cp_decoder *decoder, int capacity) {
    const struct cp_decoder_shape *shape = &decoder->shape;
    int at_once = capacity < SESSION_AT_ONCE ? capacity : SESSION_AT_ONCE;
    memset(session, 0, sizeof *session);
    session->decoder = decoder;
    session->workspace_size = cp_decoder_workspace(shape, at_once, capacity);
    session->logits = numbers((size_t)at_once * (size_t)shape->n_vocab);
    session->workspace = session->workspace_size > 0 ? malloc(session->workspace_size) : NULL;
    if (session_entries_new(&session->cache, decoder, capacity) != 0 || session->logits == NULL ||
        session->workspace == NULL) {
        session_free(session);
        return -1;
    }
    return 0;
}

void session_free(struct session *session) {
    session_entries_free(&session->cache);
    free(session->logits);
    free(session->workspace);
    memset(session, 0, sizeof *session);
}

void session_clear(struct session *session) {
    session->cache.n = 0;
}

int session_add(struct session *session, const int *token, int n) {
    int position[SESSION_AT_ONCE];
    for (int i = 0; i < n; i++) {
        position[i] = session->cache.n + i;
    }
    const struct cp_decoder_call call = {.n_new = n,
                                         .token = token,
                                         .position = position,
                                         .logits = session->logits,
                                         .workspace = session->workspace,
                                         .workspace_size = session->workspace_size};
    return cp_decoder_run(session->decoder, &session->cache, &call);
}
