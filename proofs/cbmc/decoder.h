/* SPDX-License-Identifier: Apache-2.0 */
/* What the harnesses of decoders share (spec/layers.md): shapes, caches of any content, and what
 * has changed of a cache. The sizes are those of the line in `harnesses`. */
#ifndef CHUNKPROOF_PROOFS_DECODER_H
#define CHUNKPROOF_PROOFS_DECODER_H

#include "chunkproof/decoder.h"
#include "model.h"

#define ENTRIES CP_MAX_CHUNKS
#define HEADS   CP_MAX_SEQUENCES
#define LAYERS  CP_MAX_DEPTH
#define NUMBERS CP_MAX_CHUNK_SIZE
#define ALL     (LAYERS * ENTRIES * HEADS * NUMBERS)

/* The arrays of a cache, of any content: each an object of its own, so that it has an index. And
 * what they were before a call. */
#define ARRAYS(cache)                                                                              \
    int cache##_position[ENTRIES], cache##_old_position[ENTRIES];                                  \
    double cache##_k[ALL], cache##_v[ALL];                                                         \
    double cache##_old_k[ALL], cache##_old_v[ALL];                                                 \
    struct cp_decoder_cache cache = {nondet_int(), any_from(1, ENTRIES), cache##_position,         \
                                     cache##_k, cache##_v};                                        \
    struct cp_decoder_cache cache##_old = {cache.n, cache.capacity, cache##_old_position,          \
                                           cache##_old_k, cache##_old_v};                          \
    remember(&cache##_old, &cache)

/* Any number from first to last. */
int any_from(int first, int last);

/* Any number of layers, K/V heads and numbers of a head. */
void any_shape(struct cp_decoder_shape *shape);

/* Copies the arrays. */
void remember(struct cp_decoder_cache *old, const struct cp_decoder_cache *cache);

/* Any number of a key or value, and where it is in a cache. */
struct place {
    int layer, entry, number;
};
struct place any_place(const struct cp_decoder_shape *shape, int entries);
int index_of(const struct cp_decoder_shape *shape, int capacity, struct place place);

/* The same bits. */
int same_number(double a, double b);

/* Nothing has changed at a place, nor the position of its entry. */
int place_same(const struct cp_decoder_shape *shape, const struct cp_decoder_cache *cache,
               const struct cp_decoder_cache *old, struct place place);

/* Does the cache have these entries? */
int has_all(const struct cp_decoder_cache *cache, int first, int n);

/* Each takes any shape, does one call with any arguments, and checks what it has done. */
void step_decoder_append(const struct cp_decoder_shape *shape);

#endif
