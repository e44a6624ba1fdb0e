/* SPDX-License-Identifier: Apache-2.0 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "cli/model/session.h"

static double *numbers(size_t n) {
    return n > 0 && n <= SIZE_MAX / sizeof(double) ? malloc(n * sizeof(double)) : NULL;
}

int session_new(struct session *session, const struct cp_decoder *decoder, int capacity) {
    const struct cp_decoder_shape *shape = &decoder->shape;
    size_t n = cp_decoder_cache_numbers(shape, capacity);
    int at_once = capacity < SESSION_AT_ONCE ? capacity : SESSION_AT_ONCE;
    memset(session, 0, sizeof *session);
    session->decoder = decoder;
    session->workspace_size = cp_decoder_workspace(shape, at_once, capacity);
    session->cache.capacity = capacity;
    session->cache.position = malloc((size_t)capacity * sizeof(int));
    session->cache.k = numbers(n);
    session->cache.v = numbers(n);
    session->logits = numbers((size_t)at_once * (size_t)shape->n_vocab);
    session->workspace = session->workspace_size > 0 ? malloc(session->workspace_size) : NULL;
    if (session->cache.position == NULL || session->cache.k == NULL || session->cache.v == NULL ||
        session->logits == NULL || session->workspace == NULL) {
        session_free(session);
        return -1;
    }
    return 0;
}

void session_free(struct session *session) {
    free(session->cache.position);
    free(session->cache.k);
    free(session->cache.v);
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
