/* SPDX-License-Identifier: Apache-2.0 */
/* Fast inference with the decoders of decoder.h, on the CPU: prefill and decoding in binary32, with
 * the attention of opt.h and products of matrices by the same loops (opt/README.md).
 *
 *     struct cp_opt *opt;
 *     struct cp_opt_decoder *fast;
 *     cp_opt_new(&opt, 0, CP_OPT_BEST);
 *     cp_opt_decoder_new(&fast, opt, &decoder, 512, 64, 4096);
 *     a cache with capacity 4096 and chunk size 64: cp_opt_cache_numbers()
 *     for each piece of the prompt, then for each token: cp_opt_decoder_run(fast, &cache, &call);
 *     cp_opt_decoder_free(fast);
 *     cp_opt_free(opt);
 *
 * It is the decoder of LAYER-1 to LAYER-11, with each formula rounded to binary32 where decoder.h
 * rounds to binary64 (FAST-1). How far a number may be off is FAST-2. Results have the same bits
 * for any number of threads (FAST-3). Unlike the reference's (LAYER-12) they depend, by rounding,
 * on the order of the cached entries (FAST-4) and on how tokens are spread over runs. */
#ifndef CHUNKPROOF_OPT_DECODER_H
#define CHUNKPROOF_OPT_DECODER_H

#include "chunkproof/decoder.h"
#include "chunkproof/opt.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The entries of tokens in chunks, as attention takes them. Entry e of layer l and K/V head g has
 * its key, which is rotated, at
 *     k[(((l * n_chunks + e / c) * n_kv_heads + g) * c + e % c) * d_head]
 * with c = chunk_size and n_chunks = capacity / c, and its value at the same place of v. To have no
 * entries, the caller sets n = 0; to drop the last ones, n less. */
struct cp_opt_cache {
    int n;          /* entries, 0 .. capacity */
    int capacity;   /* a multiple of chunk_size, with at most CP_MAX_DEPTH chunks */
    int chunk_size; /* 1 .. CP_MAX_CHUNK_SIZE */
    int *position;  /* [capacity] */
    float *k, *v;   /* cp_opt_cache_numbers() each */
};

/* Tokens to compute. Each sees the entries, cached and new, whose position is not above its own. */
struct cp_opt_decoder_call {
    int n_new;           /* 1 .. most_new */
    const int *token;    /* [n_new], 0 .. n_vocab - 1 */
    const int *position; /* [n_new], rising; none is the position of a cached entry */
    float *states;       /* [n_new][d_model] behind the last layer, or NULL */
    float *logits;       /* [n_new - first_logits][n_vocab], of the tokens from first_logits on; or
                            NULL */
    int first_logits;    /* 0 .. n_new */
};

/* A decoder's memory for runs. Only one thread may use it, and its cp_opt, at a time. */
struct cp_opt_decoder;

/* Numbers of k, and of v; 0 when the sizes are out of range or the bytes cannot be counted. The
 * shape is that of a decoder that cp_decoder_check() accepts. */
size_t cp_opt_cache_numbers(const struct cp_decoder_shape *shape, int chunk_size, int capacity);

/* Makes *fast, with all memory for runs of up to most_new tokens on caches of this chunk size and
 * capacity. The decoder's weights and *opt are used as long as *fast is. On CP_OK the caller owns
 * *fast and gives it to cp_opt_decoder_free(); otherwise *fast is NULL. Fails with the first of
 *   CP_ERROR_ARGUMENT     a pointer is NULL, or most_new is not 1 .. capacity
 *   CP_ERROR_SHAPE        cp_decoder_check() finds something, or cp_opt_cache_numbers() is 0
 *   CP_ERROR_UNSUPPORTED  ALiBi (FAST-1); or a scale above FLT_MAX
 *   CP_ERROR_NO_MEMORY    there is not enough memory */
int cp_opt_decoder_new(struct cp_opt_decoder **fast, struct cp_opt *opt,
                       const struct cp_decoder *decoder, int most_new, int chunk_size,
                       int capacity);

/* Takes NULL. */
void cp_opt_decoder_free(struct cp_opt_decoder *fast);

/* Computes the new tokens, whose entries join the cache. Where each new position is above those
 * that are cached, new entries stand at the end, and the others stay where they are, in any order.
 * Else those at higher positions move behind the new ones, in order of position. Allocates nothing.
 * Fails with the first of
 *   CP_ERROR_ARGUMENT     a pointer is NULL, a number of the call is out of its range, or n of the
 *                         cache; a position is not as struct cp_opt_decoder_call says
 *   CP_ERROR_SHAPE        the cache has another capacity or chunk size than *fast
 *   CP_ERROR_TOO_LONG     the cache has no room for n_new more entries
 * and then changes nothing. Any other error is one of cp_opt_attend(), whose sizes
 * cp_opt_decoder_new() has tried: nothing is known that leads there. Then what the cache and the
 * arrays of the call have is of no use. */
int cp_opt_decoder_run(struct cp_opt_decoder *fast, struct cp_opt_cache *cache,
                       const struct cp_opt_decoder_call *call);

/* Puts copies of the entries first .. first + n - 1 of `from` behind those of `cache`, which is
 * another one, and may have another capacity and chunk size. Fails with CP_ERROR_ARGUMENT (`from`
 * lacks them) or else with CP_ERROR_TOO_LONG (no room), and then changes nothing. */
int cp_opt_cache_append(const struct cp_decoder_shape *shape, struct cp_opt_cache *cache,
                        const struct cp_opt_cache *from, int first, int n);

#ifdef __cplusplus
}
#endif

#endif
