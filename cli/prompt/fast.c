/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/prompt/fast.h"

#include <stdio.h>
#include <stdlib.h>

#include "cli/base/text.h"

static int refuse(const char *why) {
    fprintf(stderr, "chunkproof prompt: %s\n", why);
    return -1;
}

int prompt_fast_new(struct prompt_fast *fast, const struct cp_decoder *decoder, int threads,
                    int capacity) {
    *fast = (struct prompt_fast){.decoder = decoder};
    const char *why = fast_new(&fast->fast, decoder, threads, capacity);
    if (why != NULL) {
        return refuse(why);
    }
    return 0;
}

void prompt_fast_free(struct prompt_fast *fast) {
    fast_free(&fast->fast);
    free(fast->logits);
    *fast = (struct prompt_fast){0};
}

/* Where entry e of layer l and K/V head g begins in entries that the reference keeps, and in chunks
 * (decoder.h, opt_decoder.h). */
static size_t place(const struct cp_decoder_shape *s, const struct cp_decoder_cache *entries, int l,
                    int e, int g) {
    size_t row = (size_t)l * (size_t)entries->capacity + (size_t)e;
    return (row * (size_t)s->n_kv_heads + (size_t)g) * (size_t)s->d_head;
}

static size_t place_in_chunks(const struct cp_decoder_shape *s, const struct cp_opt_cache *cache,
                              int l, int e, int g) {
    size_t c = (size_t)cache->chunk_size, n_chunks = (size_t)cache->capacity / c;
    size_t chunk = (size_t)l * n_chunks + (size_t)e / c;
    return ((chunk * (size_t)s->n_kv_heads + (size_t)g) * c + (size_t)e % c) * (size_t)s->d_head;
}

static void copy_in(struct prompt_fast *fast, const struct cp_decoder_cache *entries, int e) {
    const struct cp_decoder_shape *s = &fast->decoder->shape;
    struct cp_opt_cache *cache = &fast->fast.cache;
    for (int l = 0; l < s->n_layers; l++) {
        for (int g = 0; g < s->n_kv_heads; g++) {
            size_t from = place(s, entries, l, e, g), to = place_in_chunks(s, cache, l, e, g);
            for (int c = 0; c < s->d_head; c++) {
                cache->k[to + (size_t)c] = (float)entries->k[from + (size_t)c];
                cache->v[to + (size_t)c] = (float)entries->v[from + (size_t)c];
            }
        }
    }
    cache->position[e] = entries->position[e];
}

/* The entry at `slot` of the chunks becomes the last one of the entries. */
static void copy_out(const struct prompt_fast *fast, struct cp_decoder_cache *entries, int slot) {
    const struct cp_decoder_shape *s = &fast->decoder->shape;
    const struct cp_opt_cache *cache = &fast->fast.cache;
    int e = entries->n++;
    for (int l = 0; l < s->n_layers; l++) {
        for (int g = 0; g < s->n_kv_heads; g++) {
            size_t to = place(s, entries, l, e, g), from = place_in_chunks(s, cache, l, slot, g);
            for (int c = 0; c < s->d_head; c++) {
                entries->k[to + (size_t)c] = cache->k[from + (size_t)c];
                entries->v[to + (size_t)c] = cache->v[from + (size_t)c];
            }
        }
    }
    entries->position[e] = cache->position[slot];
}

static int slot_of(const struct cp_opt_cache *cache, int position) {
    int slot = cache->n - 1; /* new entries stand at the end, as a rule */
    while (slot > 0 && cache->position[slot] != position) {
        slot--;
    }
    return slot;
}

/* Room for the logits of n tokens. */
static void make_room(struct prompt_fast *fast, int n) {
    if (n > fast->n_rows) {
        size_t size = (size_t)n * (size_t)fast->decoder->shape.n_vocab;
        fast->logits = cli_allocate(fast->logits, size, sizeof *fast->logits);
        fast->n_rows = n;
    }
}

/* Logits of the tokens from first_logits on are left in fast->logits. */
static int run(struct prompt_fast *fast, struct cp_decoder_cache *entries,
               const struct prompt_token *of, int n, int first_logits) {
    int token[FAST_AT_ONCE], position[FAST_AT_ONCE];
    struct cp_opt_cache *cache = &fast->fast.cache;
    for (int i = 0; i < n; i++) {
        token[i] = of[i].token;
        position[i] = of[i].position;
    }
    struct cp_opt_decoder_call call = {n, token, position, NULL, NULL, first_logits};
    make_room(fast, n - first_logits);
    call.logits = first_logits < n ? fast->logits : NULL;
    int status = cp_opt_decoder_run(fast->fast.decoder, cache, &call);
    for (int i = 0; status == CP_OK && i < n; i++) {
        copy_out(fast, entries, slot_of(cache, position[i]));
    }
    return status == CP_OK ? 0 : refuse("the fast decoder refuses a token or its position");
}

int prompt_fast_compute(struct prompt_fast *fast, struct cp_decoder_cache *entries,
                        const struct prompt_tokens *tokens, int goes_on,
                        struct prompt_logits logits) {
    size_t n_vocab = (size_t)fast->decoder->shape.n_vocab;
    int first = logits.of != NULL ? logits.first : tokens->n, n = 0;
    if (!goes_on || fast->entries != entries) {
        fast->fast.cache.n = entries->n;
        for (int e = 0; e < entries->n; e++) {
            copy_in(fast, entries, e);
        }
        fast->entries = entries;
    }
    for (int at = 0; at < tokens->n; at += n) {
        n = tokens->n - at < FAST_AT_ONCE ? tokens->n - at : FAST_AT_ONCE;
        int before = first <= at ? 0 : first - at < n ? first - at : n;
        if (run(fast, entries, tokens->of + at, n, before) != 0) {
            return -1;
        }
        for (size_t i = 0; i < (size_t)(n - before) * n_vocab; i++) {
            logits.of[(size_t)(at + before - first) * n_vocab + i] = fast->logits[i];
        }
    }
    return 0;
}
