/* SPDX-License-Identifier: Apache-2.0 */
/* A decoder that runs fast (opt_decoder.h), with its threads; and caches for it. */
#ifndef CHUNKPROOF_CLI_MODEL_FAST_H
#define CHUNKPROOF_CLI_MODEL_FAST_H

#include "chunkproof/opt_decoder.h"

#define FAST_AT_ONCE 256 /* tokens of a run */
#define FAST_CHUNK   64  /* tokens of a chunk */

struct fast {
    struct cp_opt *opt;
    struct cp_opt_decoder *decoder;
    struct cp_opt_cache cache;
};

/* A decoder of this many threads, 1 or more, and an empty cache with room for this many tokens.
 * NULL; or what is wrong, and then *fast is empty. */
const char *fast_new(struct fast *fast, const struct cp_decoder *decoder, int threads,
                     int capacity);
void fast_free(struct fast *fast);

/* An empty cache with room for at least so many entries. 0, or -1: there is no memory, or it is
 * more than a cache has. */
int fast_cache_new(struct cp_opt_cache *cache, const struct cp_decoder_shape *shape, int capacity);
void fast_cache_free(struct cp_opt_cache *cache);

#endif
