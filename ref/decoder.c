/* SPDX-License-Identifier: Apache-2.0 */
/* A run of the decoder, layer by layer over all new tokens, so that each weight is read once for
 * several of them:
 *
 *   state = embedding of the token (and of its position)                         LAYER-1
 *   in each layer
 *     q, k, v = projections of norm(state); q and k rotated; k and v to the cache LAYER-2 to 5
 *     state += mix of attention over the seen entries                            LAYER-6, 7, 10
 *     state += network of norm(state)                                            LAYER-8 to 10
 *   logits = output of norm(state)                                               LAYER-11 */
#include "chunkproof/decoder.h"

#include <stdint.h>

#include "chunkproof/layers.h"
#include "decoder_internal.h"

/* Numbers of the workspace for each new token. Each term is an int, as cp_decoder_check() asks. */
static size_t numbers_of_token(const struct cp_decoder_shape *shape) {
    size_t heads = (size_t)shape->n_heads * (size_t)shape->d_head;
    return 2 * ((size_t)shape->d_model + heads + (size_t)shape->d_hidden + (size_t)shape->n_pairs);
}

size_t cp_decoder_workspace(const struct cp_decoder_shape *shape, int n_new, int n_entries) {
    if (n_new < 1 || n_entries < n_new) {
        return 0;
    }
    size_t rest = (size_t)shape->d_head * sizeof(double) + (size_t)n_entries * sizeof(int);
    size_t of_token = numbers_of_token(shape) * sizeof(double);
    return of_token > (PTRDIFF_MAX - rest) / (size_t)n_new ? 0 : of_token * (size_t)n_new + rest;
}

static struct run cut_workspace(const struct cp_decoder *decoder,
                                const struct cp_decoder_cache *cache,
                                const struct cp_decoder_call *call) {
    const struct cp_decoder_shape *shape = &decoder->shape;
    size_t n = (size_t)call->n_new;
    size_t heads = n * (size_t)shape->n_heads * (size_t)shape->d_head;
    struct run run = {.decoder = decoder, .shape = shape, .cache = cache, .call = call};
    run.x = call->workspace;
    run.y = run.x + n * (size_t)shape->d_model;
    run.q = run.y + n * (size_t)shape->d_model;
    run.out = run.q + heads;
    run.up = run.out + heads;
    run.gate = run.up + n * (size_t)shape->d_hidden;
    run.cosine = run.gate + n * (size_t)shape->d_hidden;
    run.sine = run.cosine + n * (size_t)shape->n_pairs;
    run.o = run.sine + n * (size_t)shape->n_pairs;
    void *rest = run.o + shape->d_head;
    run.order = rest;
    return run;
}

/* LAYER-1 */
static void embed(const struct run *run, int i) {
    size_t d = (size_t)run->shape->d_model;
    const float *word = run->decoder->embedding + (size_t)run->call->token[i] * d;
    double *x = run->x + (size_t)i * d;
    for (size_t c = 0; c < d; c++) {
        x[c] = word[c];
    }
    if (run->shape->positions == CP_POSITIONS_LEARNED) {
        const float *place = run->decoder->position_embedding + (size_t)run->call->position[i] * d;
        for (size_t c = 0; c < d; c++) {
            x[c] += place[c];
        }
    }
}

/* y = norm(x) for each new token. */
static void norm(const struct run *run, const float *weight, const float *bias) {
    const struct cp_decoder_shape *shape = run->shape;
    for (int i = 0; i < run->call->n_new; i++) {
        size_t row = (size_t)i * (size_t)shape->d_model;
        if (shape->norm == CP_NORM_RMS) {
            cp_norm_rms(run->y + row, run->x + row, weight, shape->d_model, shape->norm_epsilon);
        } else {
            cp_norm_layer(run->y + row, run->x + row, weight, bias, shape->d_model,
                          shape->norm_epsilon);
        }
    }
}

/* Rotates the heads of each new token, whose rows are [n_new][n_heads][d_head]. */
static void rotate(const struct run *run, double *rows, int n_heads) {
    const struct cp_decoder_shape *shape = run->shape;
    if (shape->positions != CP_POSITIONS_ROTARY) {
        return;
    }
    for (int i = 0; i < run->call->n_new; i++) {
        size_t pair = (size_t)i * (size_t)shape->n_pairs;
        for (int head = 0; head < n_heads; head++) {
            size_t row = ((size_t)i * (size_t)n_heads + (size_t)head) * (size_t)shape->d_head;
            cp_rotate(rows + row, run->cosine + pair, run->sine + pair, shape->n_pairs,
                      shape->pair_distance);
        }
    }
}

/* x += y for each new token (LAYER-10). */
static void add(const struct run *run) {
    size_t n = (size_t)run->call->n_new * (size_t)run->shape->d_model;
    for (size_t c = 0; c < n; c++) {
        run->x[c] += run->y[c];
    }
}

/* The entries of all new tokens are in the cache before one of them attends: under some masks a
 * token sees others that come after it in the call. */
static void attention(const struct run *run, int l) {
    const struct cp_decoder_layer *layer = &run->decoder->layer[l];
    const struct cp_decoder_shape *shape = run->shape;
    int n = run->call->n_new, heads = shape->n_heads * shape->d_head;
    size_t at = cp_entry_at(shape, run->cache, l, run->cache->n);
    double *k = run->cache->k + at, *v = run->cache->v + at;
    norm(run, layer->attention_norm, layer->attention_norm_bias);
    cp_project(run->q, run->y, n, layer->query, layer->query_bias, heads, shape->d_model);
    cp_project(k, run->y, n, layer->key, layer->key_bias, cp_entry_width(shape), shape->d_model);
    cp_project(v, run->y, n, layer->value, layer->value_bias, cp_entry_width(shape),
               shape->d_model);
    rotate(run, run->q, shape->n_heads);
    rotate(run, k, shape->n_kv_heads);
    for (int i = 0; i < n; i++) {
        cp_attend_token(run, l, i);
    }
    cp_project(run->y, run->out, n, layer->mix, layer->mix_bias, shape->d_model, heads);
    add(run);
}

static double gelu(int network, double x) {
    return network == CP_NETWORK_GELU_TANH ? cp_gelu_tanh(x) : cp_gelu_erf(x);
}

static void network(const struct run *run, int l) {
    const struct cp_decoder_layer *layer = &run->decoder->layer[l];
    const struct cp_decoder_shape *shape = run->shape;
    int n = run->call->n_new;
    size_t hidden = (size_t)n * (size_t)shape->d_hidden;
    norm(run, layer->network_norm, layer->network_norm_bias);
    cp_project(run->up, run->y, n, layer->up, layer->up_bias, shape->d_hidden, shape->d_model);
    if (shape->network == CP_NETWORK_SWIGLU) {
        cp_project(run->gate, run->y, n, layer->gate, layer->gate_bias, shape->d_hidden,
                   shape->d_model);
        for (size_t c = 0; c < hidden; c++) {
            run->up[c] *= cp_silu(run->gate[c]);
        }
    } else {
        for (size_t c = 0; c < hidden; c++) {
            run->up[c] = gelu(shape->network, run->up[c]);
        }
    }
    cp_project(run->y, run->up, n, layer->down, layer->down_bias, shape->d_model, shape->d_hidden);
    add(run);
}

/* LAYER-11 */
static void finish(const struct run *run) {
    const struct cp_decoder *decoder = run->decoder;
    const struct cp_decoder_call *call = run->call;
    size_t d = (size_t)run->shape->d_model;
    for (size_t c = 0; call->states != NULL && c < (size_t)call->n_new * d; c++) {
        call->states[c] = run->x[c];
    }
    if (call->logits != NULL) {
        norm(run, decoder->final_norm, decoder->final_norm_bias);
        cp_project(call->logits, run->y + (size_t)call->first_logits * d,
                   call->n_new - call->first_logits,
                   decoder->output == NULL ? decoder->embedding : decoder->output, NULL,
                   run->shape->n_vocab, run->shape->d_model);
    }
}

/* Is each new token a token, at a position that the decoder has? */
static int tokens_are_valid(const struct cp_decoder_shape *shape,
                            const struct cp_decoder_call *call) {
    for (int i = 0; i < call->n_new; i++) {
        int is_position = shape->positions != CP_POSITIONS_LEARNED ||
                          (call->position[i] >= 0 && call->position[i] < shape->n_positions);
        if (call->token[i] < 0 || call->token[i] >= shape->n_vocab || !is_position) {
            return 0;
        }
    }
    return 1;
}

static int check(const struct cp_decoder *decoder, const struct cp_decoder_cache *cache,
                 const struct cp_decoder_call *call) {
    int layer;
    if (cp_decoder_check(decoder, &layer) != NULL ||
        cp_decoder_cache_numbers(&decoder->shape, cache->capacity) == 0) {
        return CP_ERROR_SHAPE;
    }
    if (call->n_new < 1 || call->token == NULL || call->position == NULL ||
        call->first_logits < 0 || call->first_logits > call->n_new || cache->n < 0 ||
        cache->n > cache->capacity || cache->position == NULL || cache->k == NULL ||
        cache->v == NULL || !tokens_are_valid(&decoder->shape, call)) {
        return CP_ERROR_ARGUMENT;
    }
    if (call->n_new > cache->capacity - cache->n) {
        return CP_ERROR_TOO_LONG;
    }
    size_t bytes = cp_decoder_workspace(&decoder->shape, call->n_new, cache->n + call->n_new);
    if (call->workspace == NULL || bytes == 0 || call->workspace_size < bytes ||
        (uintptr_t)call->workspace % _Alignof(double) != 0) {
        return CP_ERROR_WORKSPACE;
    }
    return CP_OK;
}

int cp_decoder_run(const struct cp_decoder *decoder, struct cp_decoder_cache *cache,
                   const struct cp_decoder_call *call) {
    int status = check(decoder, cache, call);
    if (status != CP_OK) {
        return status;
    }
    const struct run run = cut_workspace(decoder, cache, call);
    const struct cp_decoder_shape *shape = &decoder->shape;
    for (int i = 0; i < call->n_new; i++) {
        size_t pair = (size_t)i * (size_t)shape->n_pairs;
        cp_rotation(run.cosine + pair, run.sine + pair, decoder->frequency, shape->n_pairs,
                    call->position[i]);
        cache->position[cache->n + i] = call->position[i];
        embed(&run, i);
    }
    cp_order_by_position(run.order, cache->position, cache->n + call->n_new);
    for (int l = 0; l < shape->n_layers; l++) {
        attention(&run, l);
        network(&run, l);
    }
    finish(&run);
    cache->n += call->n_new;
    return CP_OK;
}
