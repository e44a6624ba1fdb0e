/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/model/fast.h"

#include <stdint.h>
#include <stdlib.h>

static int rounded_up(int n) {
    return n > INT32_MAX - FAST_CHUNK ? 0 : (n + FAST_CHUNK - 1) / FAST_CHUNK * FAST_CHUNK;
}

int fast_cache_new(struct cp_opt_cache *cache, const struct cp_decoder_shape *shape, int capacity) {
    int room = rounded_up(capacity);
    size_t n = cp_opt_cache_numbers(shape, FAST_CHUNK, room);
    *cache = (struct cp_opt_cache){.capacity = room, .chunk_size = FAST_CHUNK};
    if (room == 0 || n == 0) {
        return -1;
    }
    cache->position = malloc((size_t)room * sizeof *cache->position);
    cache->k = malloc(n * sizeof *cache->k);
    cache->v = malloc(n * sizeof *cache->v);
    if (cache->position == NULL || cache->k == NULL || cache->v == NULL) {
        fast_cache_free(cache);
        return -1;
    }
    return 0;
}

void fast_cache_free(struct cp_opt_cache *cache) {
    free(cache->position);
    free(cache->k);
    free(cache->v);
    *cache = (struct cp_opt_cache){0};
}

const char *fast_new(struct fast *fast, const struct cp_decoder *decoder, int threads,
                     int capacity) {
    *fast = (struct fast){0};
    if (cp_opt_new(&fast->opt, threads, CP_OPT_BEST) != CP_OK) {
        return "not enough memory or threads for --fast";
    }
    if (fast_cache_new(&fast->cache, &decoder->shape, capacity) != 0) {
        fast_free(fast);
        return "not enough memory for such a prompt, or it is longer than --fast takes";
    }
    int room = fast->cache.capacity;
    int status = cp_opt_decoder_new(&fast->decoder, fast->opt, decoder,
                                    room < FAST_AT_ONCE ? room : FAST_AT_ONCE, FAST_CHUNK, room);
    if (status != CP_OK) {
        fast_free(fast);
        return status == CP_ERROR_UNSUPPORTED ? "--fast does not know this model's positions"
                                              : "not enough memory for such a prompt";
    }
    return NULL;
}

void fast_free(struct fast *fast) {
    cp_opt_decoder_free(fast->decoder);
    fast_cache_free(&fast->cache);
    cp_opt_free(fast->opt);
    *fast = (struct fast){0};
}
