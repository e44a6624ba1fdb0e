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

#ifdef __FRAMAC__
#include "proofs/logic/decoder_bytes.h"
#endif

/* Numbers of the workspace for each new token. Each term is an int, as cp_decoder_check() asks. */
/*@
  requires valid: \valid_read(shape);
  requires shape: shape_ok(*shape);
  assigns \nothing;
  ensures numbers: \result == token_numbers(*shape) && 1 <= \result <= 0x3FFFFFFFC;
*/
static size_t numbers_of_token(const struct cp_decoder_shape *shape) {
    size_t heads = cp_row_at(shape->n_heads, shape->d_head);
    return 2 * ((size_t)shape->d_model + heads + (size_t)shape->d_hidden + (size_t)shape->n_pairs);
}

size_t cp_decoder_workspace(const struct cp_decoder_shape *shape, int n_new, int n_entries) {
    if (n_new < 1 || n_entries < n_new) {
        return 0;
    }
    size_t rest = (size_t)shape->d_head * sizeof(double) + (size_t)n_entries * sizeof(int);
    size_t of_token = numbers_of_token(shape) * sizeof(double);
    size_t most = (PTRDIFF_MAX - rest) / (size_t)n_new;
    //@ ghost size_t heads = (size_t)shape->n_heads * (size_t)shape->d_head;
    //@ assert heads: heads == heads_width(*shape);
    /*@ ghost parts_of_token(n_new, shape->d_model, heads, shape->d_hidden, shape->n_pairs,
                             of_token); */
    //@ assert bytes: row_at(of_token, n_new) + rest == run_bytes(*shape, n_new, n_entries);
    /*@ assert divided: row_at(most, n_new) <= PTRDIFF_MAX - rest < row_at(most + 1, n_new); */
    if (of_token > most) {
        //@ assert many: row_at(most + 1, n_new) <= row_at(of_token, n_new);
        return 0;
    }
    //@ assert few: 0 <= row_at(of_token, n_new) <= row_at(most, n_new);
    //@ assert product: of_token * n_new == row_at(of_token, n_new);
    return of_token * (size_t)n_new + rest;
}

/*@
  requires valid: \valid_read(decoder) && \valid_read(cache) && \valid_read(call);
  requires shape: shape_ok(decoder->shape) && 1 <= call->n_new && 0 <= cache->n;
  requires workspace: run_workspace_valid(decoder->shape, *cache, *call);
  assigns \nothing;
  ensures arguments: \result.decoder == *decoder && \result.cache == *cache &&
    \result.call == *call;
  ensures cut: run_cut(\result);
  ensures begin: \result.x == (double *)call->workspace &&
    \result.order == (int *)((double *)call->workspace +
      run_numbers(decoder->shape, call->n_new));
*/
static struct run cut_workspace(const struct cp_decoder *decoder,
                                const struct cp_decoder_cache *cache,
                                const struct cp_decoder_call *call) {
    int n = call->n_new, heads = decoder->shape.n_heads * decoder->shape.d_head;
    //@ assert positive: rows_positive(decoder->shape, n);
    struct run run = {.decoder = *decoder, .cache = *cache, .call = *call};
    run.x = call->workspace;
    run.y = run.x + cp_row_at(n, decoder->shape.d_model);
    run.q = run.y + cp_row_at(n, decoder->shape.d_model);
    run.out = run.q + cp_row_at(n, heads);
    run.up = run.out + cp_row_at(n, heads);
    run.gate = run.up + cp_row_at(n, decoder->shape.d_hidden);
    run.cosine = run.gate + cp_row_at(n, decoder->shape.d_hidden);
    run.sine = run.cosine + cp_row_at(n, decoder->shape.n_pairs);
    run.o = run.sine + cp_row_at(n, decoder->shape.n_pairs);
    void *rest = run.o + decoder->shape.d_head;
    run.order = rest;
    return run;
}

/*@
  requires valid: \valid(x + (0 .. d - 1)) && \valid_read(from + (0 .. d - 1));
  requires size: 0 <= d;
  assigns x[0 .. d - 1];
  ensures loaded: \forall integer c; 0 <= c < d ==> x[c] == from[c];
*/
static void load(double *x, const float *from, int d) {
    /*@ loop invariant c: 0 <= c <= d;
        loop invariant loaded: \forall integer j; 0 <= j < c ==> x[j] == from[j];
        loop assigns c, x[0 .. d - 1]; loop variant d - c; */
    for (int c = 0; c < d; c++) {
        x[c] = from[c];
    }
}

/*@
  requires valid: \valid(x + (0 .. d - 1)) && \valid_read(more + (0 .. d - 1));
  requires size: 0 <= d;
  assigns x[0 .. d - 1];
  ensures added: \forall integer c; 0 <= c < d ==> x[c] == \old(x[c]) + more[c];
*/
static void load_more(double *x, const float *more, int d) {
    /*@ loop invariant c: 0 <= c <= d;
        loop invariant added: \forall integer j; 0 <= j < c ==>
          x[j] == \at(x[j], Pre) + more[j];
        loop invariant rest: \forall integer j; c <= j < d ==> x[j] == \at(x[j], Pre);
        loop assigns c, x[0 .. d - 1]; loop variant d - c; */
    for (int c = 0; c < d; c++) {
        x[c] += more[c];
    }
}

/* The state of new token i, whose positions may be learned (LAYER-1). */
/*@
  requires valid: \valid_read(run);
  requires sizes: run_sizes(*run) && run_cut(*run);
  requires readable: embedding_readable(run->decoder);
  requires place: 0 <= i < run->call.n_new;
  requires token: 0 <= token < run->decoder.shape.n_vocab;
  assigns NUMBERS_X(run);
  ensures layer_1: \forall integer c; 0 <= c < run->decoder.shape.d_model ==>
    state_of(*run, i)[c] == embedding_of(*run, token)[c];
*/
static void embed_token(const struct run *run, int i, int token) {
    int d = run->decoder.shape.d_model;
    //@ assert row: 0 <= row_at(i, d) && row_at(i, d) + d <= row_at(run->call.n_new, d);
    /*@ assert token: 0 <= row_at(token, d) &&
          row_at(token, d) + d <= row_at(run->decoder.shape.n_vocab, d); */
    double *x = run->x + cp_row_at(i, d);
    const float *word = run->decoder.embedding + cp_row_at(token, d);
    //@ assert places: x == state_of(*run, i) && word == embedding_of(*run, token);
    load(x, word, d);
}

/*@
  requires valid: \valid_read(run);
  requires sizes: run_sizes(*run) && run_cut(*run);
  requires readable: embedding_readable(run->decoder) &&
    run->decoder.shape.positions == CP_POSITIONS_LEARNED;
  requires place: 0 <= i < run->call.n_new;
  requires position: 0 <= position < run->decoder.shape.n_positions;
  assigns NUMBERS_X(run);
  ensures layer_1: \forall integer c; 0 <= c < run->decoder.shape.d_model ==>
    state_of(*run, i)[c] == \old(state_of(*run, i)[c]) + place_of(*run, position)[c];
*/
static void embed_position(const struct run *run, int i, int position) {
    int d = run->decoder.shape.d_model;
    //@ assert row: 0 <= row_at(i, d) && row_at(i, d) + d <= row_at(run->call.n_new, d);
    /*@ assert place: 0 <= row_at(position, d) &&
          row_at(position, d) + d <= row_at(run->decoder.shape.n_positions, d); */
    double *x = run->x + cp_row_at(i, d);
    const float *more = run->decoder.position_embedding + cp_row_at(position, d);
    //@ assert places: x == state_of(*run, i) && more == place_of(*run, position);
    load_more(x, more, d);
}

/*@
  requires valid: \valid_read(run);
  requires sizes: run_sizes(*run) && run_cut(*run);
  requires readable: call_readable(run->decoder.shape, run->cache, run->call) &&
    embedding_readable(run->decoder);
  requires place: 0 <= i < run->call.n_new;
  requires token: token_ok(run->decoder.shape, run->call, i);
  assigns NUMBERS_X(run);
  ensures layer_1: embedded(*run, i, run->call.token[i], run->call.position[i]);
*/
static void embed(const struct run *run, int i) {
    embed_token(run, i, run->call.token[i]);
    if (run->decoder.shape.positions == CP_POSITIONS_LEARNED) {
        embed_position(run, i, run->call.position[i]);
    }
}

/* y = norm(x) for each new token. */
/*@
  requires valid: \valid_read(run);
  requires sizes: run_sizes(*run) && run_cut(*run);
  requires weights: vector_readable(weight, bias, run->decoder.shape.d_model);
  assigns NUMBERS_Y(run);
*/
static void norm(const struct run *run, const float *weight, const float *bias) {
    int d = run->decoder.shape.d_model;
    double epsilon = run->decoder.shape.norm_epsilon;
    /*@ loop invariant i: 0 <= i <= run->call.n_new;
        loop assigns i, NUMBERS_Y(run); loop variant run->call.n_new - i; */
    for (int i = 0; i < run->call.n_new; i++) {
        //@ assert row: 0 <= row_at(i, d) && row_at(i, d) + d <= row_at(run->call.n_new, d);
        double *y = run->y + cp_row_at(i, d);
        const double *x = run->x + cp_row_at(i, d);
        if (run->decoder.shape.norm == CP_NORM_RMS) {
            cp_norm_rms(y, x, weight, d, epsilon);
        } else {
            cp_norm_layer(y, x, weight, bias, d, epsilon);
        }
    }
}

/* Rotates the heads of each new token, whose rows are [n_new][n_heads][d_head]. */
/*@
  requires valid: \valid_read(run);
  requires sizes: run_sizes(*run) && run_cut(*run);
  requires heads: 0 <= n_heads && row_at(n_heads, run->decoder.shape.d_head) <= 0x7FFFFFFF;
  requires rows: \valid(rows + (0 .. row_at(run->call.n_new,
    row_at(n_heads, run->decoder.shape.d_head)) - 1));
  assigns rows[0 .. row_at(run->call.n_new, row_at(n_heads, run->decoder.shape.d_head)) - 1];
*/
static void rotate(const struct run *run, double *rows, int n_heads) {
    int n = run->call.n_new, d = run->decoder.shape.d_head, n_pairs = run->decoder.shape.n_pairs;
    if (run->decoder.shape.positions != CP_POSITIONS_ROTARY) {
        return;
    }
    //@ assert width: 0 <= n_heads * d == row_at(n_heads, d);
    int width = n_heads * d;
    /*@ loop invariant i: 0 <= i <= n;
        loop assigns i, rows[0 .. row_at(n, width) - 1]; loop variant n - i; */
    for (int i = 0; i < n; i++) {
        //@ assert token: 0 <= row_at(i, width) && row_at(i, width) + width <= row_at(n, width);
        /*@ assert pair: 0 <= row_at(i, n_pairs) &&
              row_at(i, n_pairs) + n_pairs <= row_at(n, n_pairs); */
        const double *cosine = run->cosine + cp_row_at(i, n_pairs);
        const double *sine = run->sine + cp_row_at(i, n_pairs);
        /*@ loop invariant head: 0 <= head <= n_heads;
            loop assigns head, rows[0 .. row_at(n, width) - 1]; loop variant n_heads - head; */
        for (int head = 0; head < n_heads; head++) {
            //@ assert head: 0 <= row_at(head, d) && row_at(head, d) + d <= width;
            cp_rotate(rows + cp_row_at(i, width) + cp_row_at(head, d), cosine, sine, n_pairs,
                      run->decoder.shape.pair_distance);
        }
    }
}

/*@
  requires valid: \valid(x + (0 .. n - 1)) && \valid_read(y + (0 .. n - 1));
  requires apart: \separated(x + (0 .. n - 1), y + (0 .. n - 1));
  assigns x[0 .. n - 1];
  ensures added: \forall integer c; 0 <= c < n ==> x[c] == \old(x[c]) + y[c];
*/
static void add_numbers(double *x, const double *y, size_t n) {
    /*@ loop invariant c: 0 <= c <= n;
        loop invariant added: \forall integer j; 0 <= j < c ==> x[j] == \at(x[j], Pre) + y[j];
        loop invariant rest: \forall integer j; c <= j < n ==> x[j] == \at(x[j], Pre);
        loop assigns c, x[0 .. n - 1]; loop variant n - c; */
    for (size_t c = 0; c < n; c++) {
        x[c] += y[c];
    }
}

/* x += y for each new token (LAYER-10). */
/*@
  requires valid: \valid_read(run);
  requires sizes: run_sizes(*run) && run_cut(*run);
  assigns NUMBERS_X(run);
  ensures layer_10: \forall integer c;
    0 <= c < row_at(run->call.n_new, run->decoder.shape.d_model) ==>
      run->x[c] == \old(run->x[c]) + run->y[c];
*/
static void add(const struct run *run) {
    add_numbers(run->x, run->y, cp_row_at(run->call.n_new, run->decoder.shape.d_model));
}

/* The entries of all new tokens are in the cache before one of them attends: under some masks a
 * token sees others that come after it in the call. */
/*@
  requires valid: \valid_read(run) && \valid_read(layer);
  requires ready: run_ready(*run) && entries_ordered(*run);
  requires layer: 0 <= l < run->decoder.shape.n_layers;
  requires weights: attention_readable(run->decoder.shape, *layer);
  assigns WORKSPACE(run), *(CACHE_K(&run->decoder.shape, &run->cache)),
    *(CACHE_V(&run->decoder.shape, &run->cache));
*/
static void attention(const struct run *run, const struct cp_decoder_layer *layer, int l) {
    //@ ghost sizes_are_countable(run);
    int n = run->call.n_new, d_model = run->decoder.shape.d_model;
    int heads = run->decoder.shape.n_heads * run->decoder.shape.d_head;
    int width = cp_entry_width(&run->decoder.shape);
    size_t at = cp_entry_at(&run->decoder.shape, &run->cache, l, run->cache.n);
    /*@ assert entries: 0 <= row_at(n, width) && 0 <= at &&
          at + row_at(n, width) <= cache_numbers(run->decoder.shape, run->cache.capacity); */
    double *k = run->cache.k + at, *v = run->cache.v + at;
    norm(run, layer->attention_norm, layer->attention_norm_bias);
    cp_project(run->q, run->y, n, layer->query, layer->query_bias, heads, d_model);
    cp_project(k, run->y, n, layer->key, layer->key_bias, width, d_model);
    cp_project(v, run->y, n, layer->value, layer->value_bias, width, d_model);
    rotate(run, run->q, run->decoder.shape.n_heads);
    rotate(run, k, run->decoder.shape.n_kv_heads);
    /*@ loop invariant i: 0 <= i <= n;
        loop assigns i, NUMBERS_OUT(run), NUMBERS_O(run); loop variant n - i; */
    for (int i = 0; i < n; i++) {
        cp_attend_token(run, l, i);
    }
    cp_project(run->y, run->out, n, layer->mix, layer->mix_bias, d_model, heads);
    add(run);
}

/*@ assigns \nothing; */
static double gelu(int network, double x) {
    return network == CP_NETWORK_GELU_TANH ? cp_gelu_tanh(x) : cp_gelu_erf(x);
}

/* up = silu(gate) up, or gelu(up), for each new token. */
/*@
  requires valid: \valid_read(run);
  requires sizes: run_sizes(*run) && run_cut(*run);
  assigns NUMBERS_UP(run);
*/
static void activate(const struct run *run) {
    size_t n = cp_row_at(run->call.n_new, run->decoder.shape.d_hidden);
    /*@ loop invariant c: 0 <= c <= n;
        loop assigns c, NUMBERS_UP(run); loop variant n - c; */
    for (size_t c = 0; c < n; c++) {
        if (run->decoder.shape.network == CP_NETWORK_SWIGLU) {
            run->up[c] *= cp_silu(run->gate[c]);
        } else {
            run->up[c] = gelu(run->decoder.shape.network, run->up[c]);
        }
    }
}

/*@
  requires valid: \valid_read(run) && \valid_read(layer);
  requires sizes: run_sizes(*run) && run_cut(*run);
  requires weights: network_readable(run->decoder.shape, *layer);
  assigns WORKSPACE(run);
*/
static void network(const struct run *run, const struct cp_decoder_layer *layer) {
    //@ ghost sizes_are_countable(run);
    int n = run->call.n_new, d_model = run->decoder.shape.d_model;
    int d_hidden = run->decoder.shape.d_hidden;
    norm(run, layer->network_norm, layer->network_norm_bias);
    cp_project(run->up, run->y, n, layer->up, layer->up_bias, d_hidden, d_model);
    if (run->decoder.shape.network == CP_NETWORK_SWIGLU) {
        cp_project(run->gate, run->y, n, layer->gate, layer->gate_bias, d_hidden, d_model);
    }
    activate(run);
    cp_project(run->y, run->up, n, layer->down, layer->down_bias, d_model, d_hidden);
    add(run);
}

/* The rotation and the embedding of each new token. */
/*@
  requires valid: \valid_read(run);
  requires sizes: run_sizes(*run) && run_cut(*run);
  requires readable: call_readable(run->decoder.shape, run->cache, run->call) &&
    embedding_readable(run->decoder);
  requires tokens: tokens_ok(run->decoder.shape, run->call, run->call.n_new);
  assigns WORKSPACE(run);
*/
static void begin(const struct run *run) {
    int n_pairs = run->decoder.shape.n_pairs;
    /*@ loop invariant i: 0 <= i <= run->call.n_new;
        loop assigns i, WORKSPACE(run); loop variant run->call.n_new - i; */
    for (int i = 0; i < run->call.n_new; i++) {
        /*@ assert pair: 0 <= row_at(i, n_pairs) &&
              row_at(i, n_pairs) + n_pairs <= row_at(run->call.n_new, n_pairs); */
        size_t pair = cp_row_at(i, n_pairs);
        cp_rotation(run->cosine + pair, run->sine + pair, run->decoder.frequency, n_pairs,
                    run->call.position[i]);
        embed(run, i);
    }
}

/*@
  requires valid: \valid(to + (0 .. n - 1)) && \valid_read(from + (0 .. n - 1));
  requires size: 0 <= n;
  requires apart: \separated(to + (0 .. n - 1), from + (0 .. n - 1));
  assigns to[0 .. n - 1];
  ensures copied: \forall integer i; 0 <= i < n ==> to[i] == from[i];
*/
static void copy_positions(int *to, const int *from, int n) {
    /*@ loop invariant i: 0 <= i <= n;
        loop invariant copied: \forall integer j; 0 <= j < i ==> to[j] == from[j];
        loop assigns i, to[0 .. n - 1]; loop variant n - i; */
    for (int i = 0; i < n; i++) {
        to[i] = from[i];
    }
}

/* All layers. */
/*@
  requires valid: \valid_read(run);
  requires ready: run_ready(*run) && entries_ordered(*run);
  requires weights: layers_readable(run->decoder);
  assigns WORKSPACE(run), *(CACHE_K(&run->decoder.shape, &run->cache)),
    *(CACHE_V(&run->decoder.shape, &run->cache));
*/
static void compute(const struct run *run) {
    /*@ loop invariant l: 0 <= l <= run->decoder.shape.n_layers;
        loop assigns l, WORKSPACE(run), *(CACHE_K(&run->decoder.shape, &run->cache)),
          *(CACHE_V(&run->decoder.shape, &run->cache));
        loop variant run->decoder.shape.n_layers - l; */
    for (int l = 0; l < run->decoder.shape.n_layers; l++) {
        attention(run, &run->decoder.layer[l], l);
        network(run, &run->decoder.layer[l]);
    }
}

/* LAYER-11 */
/*@
  requires valid: \valid_read(run);
  requires sizes: run_sizes(*run) && run_cut(*run);
  requires weights: embedding_readable(run->decoder) && output_readable(run->decoder);
  requires outputs: outputs_valid(run->decoder.shape, run->call);
  assigns WORKSPACE(run), STATES(run->decoder.shape, run->call),
    LOGITS(run->decoder.shape, run->call);
*/
static void finish(const struct run *run) {
    //@ ghost sizes_are_countable(run);
    const float *output =
        run->decoder.output == NULL ? run->decoder.embedding : run->decoder.output;
    int d = run->decoder.shape.d_model, n = run->call.n_new - run->call.first_logits;
    if (run->call.states != NULL) {
        size_t numbers = cp_row_at(run->call.n_new, d);
        /*@ loop invariant c: 0 <= c <= numbers;
            loop assigns c, STATES(run->decoder.shape, run->call); loop variant numbers - c; */
        for (size_t c = 0; c < numbers; c++) {
            run->call.states[c] = run->x[c];
        }
    }
    if (run->call.logits != NULL) {
        //@ ghost ints_are_countable(n, d);
        //@ ghost ints_are_countable(n, run->decoder.shape.n_vocab);
        /*@ assert rows: 0 <= row_at(run->call.first_logits, d) &&
              row_at(run->call.first_logits, d) + row_at(n, d) == row_at(run->call.n_new, d); */
        norm(run, run->decoder.final_norm, run->decoder.final_norm_bias);
        cp_project(run->call.logits, run->y + cp_row_at(run->call.first_logits, d), n, output, NULL,
                   run->decoder.shape.n_vocab, d);
    }
}

/* Is each new token a token, at a position that the decoder has? */
/*@
  requires valid: \valid_read(shape) && \valid_read(call);
  requires arrays: \valid_read(call->token + (0 .. call->n_new - 1)) &&
    \valid_read(call->position + (0 .. call->n_new - 1));
  assigns \nothing;
  ensures result: \result == 0 || \result == 1;
  ensures layer_15: \result != 0 <==> tokens_ok(*shape, *call, call->n_new);
*/
static int tokens_are_valid(const struct cp_decoder_shape *shape,
                            const struct cp_decoder_call *call) {
    /*@ loop invariant i: 0 <= i && (0 <= call->n_new ==> i <= call->n_new);
        loop invariant tokens: tokens_ok(*shape, *call, i);
        loop assigns i; loop variant call->n_new - i; */
    for (int i = 0; i < call->n_new; i++) {
        int is_position = shape->positions != CP_POSITIONS_LEARNED ||
                          (call->position[i] >= 0 && call->position[i] < shape->n_positions);
        if (call->token[i] < 0 || call->token[i] >= shape->n_vocab || !is_position) {
            //@ assert wrong: !token_ok(*shape, *call, i);
            return 0;
        }
    }
    return 1;
}

/*@
  requires valid: \valid_read(shape) && \valid_read(cache) && \valid_read(call);
  requires arrays: numbers_readable(*call);
  assigns \nothing;
  ensures layer_15: \result != 0 <==> arguments_ok(*shape, *cache, *call);
*/
static int arguments_are_valid(const struct cp_decoder_shape *shape,
                               const struct cp_decoder_cache *cache,
                               const struct cp_decoder_call *call) {
    return call->n_new >= 1 && call->token != NULL && call->position != NULL &&
           call->first_logits >= 0 && call->first_logits <= call->n_new && cache->n >= 0 &&
           cache->n <= cache->capacity && cache->position != NULL && cache->k != NULL &&
           cache->v != NULL && tokens_are_valid(shape, call);
}

/*@
  assigns \nothing;
  ensures aligned: \result != 0 <==> aligned_for_double((void *)address);
*/
static int is_aligned(const void *address) {
    uintptr_t number = (uintptr_t)address;
    return number % _Alignof(double) == 0;
}

/*@
  requires valid: \valid_read(shape) && \valid_read(cache) && \valid_read(call);
  requires shape: shape_ok(*shape);
  requires entries: 1 <= call->n_new && 0 <= cache->n && cache->n + call->n_new <= 0x7FFFFFFF;
  assigns \nothing;
  ensures layer_15: \result != 0 <==> workspace_fits(*shape, *cache, *call);
*/
static int workspace_is_valid(const struct cp_decoder_shape *shape,
                              const struct cp_decoder_cache *cache,
                              const struct cp_decoder_call *call) {
    size_t bytes = cp_decoder_workspace(shape, call->n_new, cache->n + call->n_new);
    return call->workspace != NULL && bytes != 0 && call->workspace_size >= bytes &&
           is_aligned(call->workspace);
}

/* The errors of cp_decoder_run(), in their order. */
/*@
  requires valid: \valid_read(decoder) && \valid_read(cache) && \valid_read(call);
  requires readable: check_readable(*decoder) && numbers_readable(*call);
  assigns \nothing;
  ensures layer_15: run_status(*decoder, *cache, *call, \result);
*/
static int check(const struct cp_decoder *decoder, const struct cp_decoder_cache *cache,
                 const struct cp_decoder_call *call) {
    int layer;
    if (cp_decoder_check(decoder, &layer) != NULL ||
        cp_decoder_cache_numbers(&decoder->shape, cache->capacity) == 0) {
        return CP_ERROR_SHAPE;
    }
    if (!arguments_are_valid(&decoder->shape, cache, call)) {
        return CP_ERROR_ARGUMENT;
    }
    if (call->n_new > cache->capacity - cache->n) {
        return CP_ERROR_TOO_LONG;
    }
    return workspace_is_valid(&decoder->shape, cache, call) ? CP_OK : CP_ERROR_WORKSPACE;
}

int cp_decoder_run(const struct cp_decoder *decoder, struct cp_decoder_cache *cache,
                   const struct cp_decoder_call *call) {
    int status = check(decoder, cache, call);
    if (status != CP_OK) {
        return status;
    }
    const struct run run = cut_workspace(decoder, cache, call);
    begin(&run);
    copy_positions(cache->position + cache->n, call->position, call->n_new);
    cp_order_by_position(run.order, cache->position, cache->n + call->n_new);
    compute(&run);
    finish(&run);
    cache->n += call->n_new;
    return CP_OK;
}
