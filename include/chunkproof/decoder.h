/* SPDX-License-Identifier: Apache-2.0 */
/* A whole decoder, the layers of a language model, as a reference (spec/layers.md), and cached
 * inference with it (DEC-7, MOD-5). It is a decoder of DEC-1 (LAYER-13).
 *
 *   cp_decoder_check()           once: do shape and weights make a decoder?
 *   cp_decoder_cache_numbers()   memory for the keys and values of `capacity` tokens
 *   cp_decoder_workspace()       memory for a run
 *   cp_decoder_run()             computes tokens; their keys and values join the cache
 *   cp_decoder_cache_append()    puts entries of one cache behind those of another
 *   cp_decoder_cache_move()      moves entries to other positions (DEC-9, LAYER-14)
 *
 * All numbers but the weights are double. The caller owns all memory, and nothing is kept between
 * calls. The state of a token is a function of its token and position and of the set of entries
 * that it sees, bit for bit: what else a run computes, and in which order a cache has its entries,
 * changes no bit, when no two of the seen entries have the same position (LAYER-12). */
#ifndef CHUNKPROOF_DECODER_H
#define CHUNKPROOF_DECODER_H

#include <stddef.h>

#include "chunkproof/limits.h"
#include "chunkproof/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/* norm */
#define CP_NORM_RMS   0 /* LAYER-2 */
#define CP_NORM_LAYER 1 /* LAYER-3 */

/* network */
#define CP_NETWORK_SWIGLU    0 /* down (silu(gate x) * up x): LAYER-8 */
#define CP_NETWORK_GELU_TANH 1 /* down gelu(up x), GELU by tanh: LAYER-9 */
#define CP_NETWORK_GELU_ERF  2 /* ... by erf */

/* positions */
#define CP_POSITIONS_ROTARY  0 /* queries and keys are rotated: LAYER-5 */
#define CP_POSITIONS_ALIBI   1 /* a bias is added to scores: LAYER-6 */
#define CP_POSITIONS_LEARNED 2 /* a vector is added to the embedding: LAYER-1 */

struct cp_decoder_shape {
    int n_layers;
    int n_vocab;
    int d_model;    /* numbers of a state */
    int n_heads;    /* of queries */
    int n_kv_heads; /* of keys and values; divides n_heads */
    int d_head;     /* n_heads * d_head is an int, and need not be d_model */
    int d_hidden;   /* of the feed-forward network */
    int norm;
    int network;
    int positions;
    int n_pairs;       /* rotary: pairs of each head, from its first number on, >= 1; else 0 */
    int pair_distance; /* rotary: h of DEC-8, a divisor of n_pairs, as 1 and n_pairs are; else 0 */
    int n_positions;   /* learned: positions are 0 .. n_positions - 1; else 0 */
    double norm_epsilon; /* above 0, and finite */
    double scale;        /* of scores: any finite number, usually 1 / sqrt(d_head) */
};

/* Weights of a matrix are [numbers that come out][numbers that go in], rows one after the other.
 * Where "or NULL" stands, NULL means that there is no bias. */
struct cp_decoder_layer {
    const float *attention_norm;      /* [d_model] */
    const float *attention_norm_bias; /* [d_model] or NULL; NULL with CP_NORM_RMS */
    const float *query;               /* [n_heads * d_head][d_model] */
    const float *query_bias;          /* [n_heads * d_head] or NULL */
    const float *key;                 /* [n_kv_heads * d_head][d_model] */
    const float *key_bias;            /* [n_kv_heads * d_head] or NULL */
    const float *value;               /* [n_kv_heads * d_head][d_model] */
    const float *value_bias;          /* [n_kv_heads * d_head] or NULL */
    const float *mix;                 /* [d_model][n_heads * d_head]: the output projection */
    const float *mix_bias;            /* [d_model] or NULL */
    const float *network_norm;        /* [d_model] */
    const float *network_norm_bias;   /* [d_model] or NULL; NULL with CP_NORM_RMS */
    const float *gate;                /* [d_hidden][d_model] with SwiGLU, else NULL */
    const float *gate_bias;           /* [d_hidden] or NULL; NULL without SwiGLU */
    const float *up;                  /* [d_hidden][d_model] */
    const float *up_bias;             /* [d_hidden] or NULL */
    const float *down;                /* [d_model][d_hidden] */
    const float *down_bias;           /* [d_model] or NULL */
};

struct cp_decoder {
    struct cp_decoder_shape shape;
    const double *frequency;         /* [n_pairs], radians for each position, finite: rotary, else
                                        NULL */
    const float *embedding;          /* [n_vocab][d_model] */
    const float *position_embedding; /* [n_positions][d_model]: learned, else NULL */
    const struct cp_decoder_layer *layer; /* [n_layers] */
    const float *final_norm;              /* [d_model] */
    const float *final_norm_bias;         /* [d_model] or NULL; NULL with CP_NORM_RMS */
    const float *output;                  /* [n_vocab][d_model], or NULL: `embedding` (tied) */
};

/* The entries of tokens (DEC-2): entry e has the position position[e], and in layer l and K/V head
 * g the key k[((l * capacity + e) * n_kv_heads + g) * d_head ...], which is rotated, and the value
 * at the same place of v. To have none, the caller sets n = 0; to drop the last ones, n less. */
struct cp_decoder_cache {
    int n;         /* entries, 0 .. capacity */
    int capacity;  /* >= 1 */
    int *position; /* [capacity]; any integers, as tokens may be moved below 0 */
    double *k;     /* [n_layers][capacity][n_kv_heads][d_head]: cp_decoder_cache_numbers() */
    double *v;     /* as k */
};

/* Tokens to compute, and what is wanted of them. New token i is entry cache->n + i of those that
 * may be seen: the cached ones, then the new ones. */
struct cp_decoder_call {
    int n_new;                 /* >= 1 */
    const int *token;          /* [n_new], 0 .. n_vocab - 1 */
    const int *position;       /* [n_new] */
    const unsigned char *sees; /* [n_new][cache->n + n_new], n as it is before the call: not 0 where
                                  token i sees entry j; or NULL: where the position of j is not
                                  above that of i */
    double *states;            /* [n_new][d_model], state(n_layers, i) of DEC-2; or NULL */
    double *logits;            /* [n_new - first_logits][n_vocab], of the tokens from first_logits
                                  on (LAYER-11); or NULL */
    int first_logits;          /* 0 .. n_new, and checked without logits, too */
    void *workspace;           /* cp_decoder_workspace() bytes or more, aligned for double */
    size_t workspace_size;
};

#ifdef __FRAMAC__
#include "proofs/logic/decoder.h"
#include "proofs/logic/decoder_call.h"
#endif

/* Returns NULL when these are a decoder, else what is wrong (LAYER-15): "FIELD: why" in English, or
 * "FIELD, FIELD: why" where one of several is. *layer is the number of the layer that the field is
 * in, else -1, also on success. Reads no weights, but the frequencies. Takes any numbers, and
 * pointers in *decoder that are NULL or point to what is declared. */
/*@
  requires valid: \valid_read(decoder) && \valid(layer);
  requires frequency: decoder->frequency == \null ||
    \valid_read(decoder->frequency + (0 .. decoder->shape.n_pairs - 1));
  requires layers: decoder->layer == \null ||
    \valid_read(decoder->layer + (0 .. decoder->shape.n_layers - 1));
  requires apart: \separated(layer, decoder,
    decoder->layer + (0 .. decoder->shape.n_layers - 1));
  assigns *layer;
  ensures layer_15: \result == \null <==> decoder_ok(*decoder);
  ensures no_layer: \result == \null ==> *layer == -1;
  ensures layer: -1 <= *layer < \max(1, decoder->shape.n_layers);
*/
const char *cp_decoder_check(const struct cp_decoder *decoder, int *layer);

/* Numbers of k, and of v, of a cache; 0 when their bytes are above PTRDIFF_MAX, or capacity < 1.
 * The shape is that of a decoder that cp_decoder_check() accepts, here and below. */
/*@
  requires valid: \valid_read(shape);
  requires shape: shape_ok(*shape);
  assigns \nothing;
  ensures layer_15: \result != 0 <==> cache_countable(*shape, capacity);
  ensures numbers: \result != 0 ==> \result == cache_numbers(*shape, capacity);
*/
size_t cp_decoder_cache_numbers(const struct cp_decoder_shape *shape, int capacity);

/* Bytes of the workspace of a run of n_new >= 1 tokens that is told of n_entries in all, cached and
 * new, so n_entries >= n_new; 0 when these are out of range, or when the bytes are more than an
 * object has (PTRDIFF_MAX). More tokens or entries need no fewer bytes. */
/*@
  requires valid: \valid_read(shape);
  requires shape: shape_ok(*shape);
  assigns \nothing;
  ensures layer_15: \result != 0 <==>
    1 <= n_new <= n_entries && run_bytes(*shape, n_new, n_entries) <= 0x7FFFFFFFFFFFFFFF;
  ensures bytes: \result != 0 ==> \result == run_bytes(*shape, n_new, n_entries);
*/
size_t cp_decoder_workspace(const struct cp_decoder_shape *shape, int n_new, int n_entries);

/* Computes the new tokens layer by layer (LAYER-1 to LAYER-12): their states are those of DEC-2, in
 * a prompt of the cached and the new tokens, when each cached entry is as there (DEC-7). Their
 * entries join the cache at its end. Arrays of the caller do not overlap. Fails with the first of
 *   CP_ERROR_SHAPE        cp_decoder_check() finds something, or cp_decoder_cache_numbers() is 0
 *                         for this capacity
 *   CP_ERROR_ARGUMENT     a number is out of its range: n_new, a token, a learned position,
 *                         first_logits, cache->n; or a pointer is NULL that must not be, other
 *                         than workspace. Cached positions are not looked at
 *   CP_ERROR_TOO_LONG     the cache has no room for n_new more entries
 *   CP_ERROR_WORKSPACE    the workspace is too small, NULL, or not aligned for double
 * and then changes nothing, states and logits included (LAYER-15). */
/*@
  requires valid: \valid_read(decoder) && \valid(cache) && \valid_read(call);
  requires readable: check_readable(*decoder) && numbers_readable(*call);
  behavior refused:
    assumes !run_accepted(*decoder, *cache, *call);
    assigns \nothing;
    ensures layer_15: \result != CP_OK && run_status(*decoder, *cache, *call, \result);
  behavior accepted:
    assumes run_accepted(*decoder, *cache, *call);
    requires memory: run_memory(*decoder, *cache, *call);
    assigns cache->n, RUN_POSITIONS(cache, call), *(CACHE_K(&decoder->shape, cache)),
      *(CACHE_V(&decoder->shape, cache)), RUN_NUMBERS(&decoder->shape, call),
      RUN_ORDER(&decoder->shape, cache, call), STATES(decoder->shape, *call),
      LOGITS(decoder->shape, *call);
    ensures layer_15: \result == CP_OK && cache->n == \old(cache->n) + call->n_new;
  complete behaviors; disjoint behaviors;
*/
int cp_decoder_run(const struct cp_decoder *decoder, struct cp_decoder_cache *cache,
                   const struct cp_decoder_call *call);

/* Puts copies of the entries first .. first + n - 1 of `from`, n >= 0, behind those of `cache`,
 * which is another one: the same one is the caller's error, and not noticed. Pointers are not NULL.
 * Fails with CP_ERROR_ARGUMENT (`from` lacks them, or an n is not 0 .. capacity) or else with
 * CP_ERROR_TOO_LONG (no room), and then changes nothing. No entries (n = 0) are always there, also
 * at first = from->n. */
/*@
  requires valid: \valid_read(shape) && \valid(cache) && \valid_read(from);
  requires shape: shape_ok(*shape);
  requires arrays: cache_arrays(*shape, *cache) && cache_arrays(*shape, *from);
  requires apart: \separated(shape, cache, from, CACHE_POSITIONS(cache), CACHE_K(shape, cache),
    CACHE_V(shape, cache), CACHE_POSITIONS(from), CACHE_K(shape, from), CACHE_V(shape, from));
  assigns cache->n, *(CACHE_POSITIONS(cache)), *(CACHE_K(shape, cache)), *(CACHE_V(shape, cache));
  ensures result: \result == CP_OK || \result == CP_ERROR_ARGUMENT || \result == CP_ERROR_TOO_LONG;
  ensures layer_15: \result == CP_ERROR_ARGUMENT <==>
    !has_entries(*from, first, n) || !cache_sizes(\old(*cache));
  ensures entries: cache->n == (\result == CP_OK ? \old(cache->n) + n : \old(cache->n));
*/
int cp_decoder_cache_append(const struct cp_decoder_shape *shape, struct cp_decoder_cache *cache,
                            const struct cp_decoder_cache *from, int first, int n);

/* Moves the entries first .. first + n - 1 by t positions (DEC-9): keys are rotated by R_t, values
 * stay. Under ALiBi keys stay as well. spec/layers.md says what that rounds. What is moved must be
 * closed, or moved with all that it has seen (DEC-9, DEC-10). workspace has 2 * n_pairs numbers, or
 * is NULL unless positions are rotary. No other pointer is NULL. Fails with the first of
 *   CP_ERROR_UNSUPPORTED  learned positions, even by 0: the states themselves would change
 *   CP_ERROR_ARGUMENT     no such entries, or a position would be no int
 * and then changes nothing. */
/*@
  requires valid: \valid_read(decoder) && \valid(cache);
  requires shape: shape_ok(decoder->shape);
  requires frequency: decoder->shape.positions == CP_POSITIONS_ROTARY ==>
    \valid_read(decoder->frequency + (0 .. decoder->shape.n_pairs - 1)) &&
    \valid(workspace + (0 .. 2 * decoder->shape.n_pairs - 1));
  requires arrays: cache_arrays(decoder->shape, *cache);
  requires apart: \separated(decoder, cache, decoder->frequency +
    (0 .. decoder->shape.n_pairs - 1), workspace + (0 .. 2 * decoder->shape.n_pairs - 1),
    CACHE_POSITIONS(cache), CACHE_K(&decoder->shape, cache));
  assigns *(CACHE_POSITIONS(cache)), *(CACHE_K(&decoder->shape, cache)),
    workspace[0 .. 2 * decoder->shape.n_pairs - 1];
  ensures result: \result == CP_OK || \result == CP_ERROR_ARGUMENT ||
    \result == CP_ERROR_UNSUPPORTED;
  ensures positions: \result == CP_OK ==> \forall integer i; first <= i < first + n ==>
    cache->position[i] == \old(cache->position[i]) + t;
*/
int cp_decoder_cache_move(const struct cp_decoder *decoder, struct cp_decoder_cache *cache,
                          int first, int n, int t, double *workspace);

#ifdef __cplusplus
}
#endif

#endif
