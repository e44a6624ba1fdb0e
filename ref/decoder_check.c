/* SPDX-License-Identifier: Apache-2.0 */
/* What a caller may have wrong in a decoder: the first such thing, in words. */
#include <limits.h>
#include <math.h>
#include <stddef.h>

#include "chunkproof/decoder.h"

/*@
  requires valid: \valid_read(s);
  assigns \nothing;
  ensures layer_15: \result == \null <==> numbers_ok(*s);
*/
static const char *numbers_problem(const struct cp_decoder_shape *s) {
    if (s->n_layers < 1) {
        return "n_layers: below 1";
    }
    if (s->n_vocab < 1) {
        return "n_vocab: below 1";
    }
    if (s->d_model < 1) {
        return "d_model: below 1";
    }
    if (s->n_heads < 1) {
        return "n_heads: below 1";
    }
    if (s->n_kv_heads < 1 || s->n_heads % s->n_kv_heads != 0) {
        return "n_kv_heads: no divisor of n_heads";
    }
    /*@ assert divided: row_at(INT_MAX / s->n_heads, s->n_heads) <= INT_MAX <
          row_at(INT_MAX / s->n_heads + 1, s->n_heads); */
    //@ assert turned: row_at(s->d_head, s->n_heads) == row_at(s->n_heads, s->d_head);
    /*@ assert large: s->d_head > INT_MAX / s->n_heads ==>
          row_at(INT_MAX / s->n_heads + 1, s->n_heads) <= row_at(s->d_head, s->n_heads); */
    if (s->d_head < 1 || s->d_head > INT_MAX / s->n_heads) {
        return "d_head: below 1, or n_heads * d_head is no int";
    }
    if (s->d_hidden < 1) {
        return "d_hidden: below 1";
    }
    if (!(s->norm_epsilon > 0.0) || !isfinite(s->norm_epsilon)) {
        return "norm_epsilon: not above 0, or not finite";
    }
    return isfinite(s->scale) ? NULL : "scale: not finite";
}

/*@
  requires valid: \valid_read(s);
  assigns \nothing;
  ensures layer_15: \result == \null <==> kinds_ok(*s);
*/
static const char *kinds_problem(const struct cp_decoder_shape *s) {
    if (s->norm != CP_NORM_RMS && s->norm != CP_NORM_LAYER) {
        return "norm: no CP_NORM_...";
    }
    if (s->network != CP_NETWORK_SWIGLU && s->network != CP_NETWORK_GELU_TANH &&
        s->network != CP_NETWORK_GELU_ERF) {
        return "network: no CP_NETWORK_...";
    }
    if (s->positions != CP_POSITIONS_ROTARY && s->positions != CP_POSITIONS_ALIBI &&
        s->positions != CP_POSITIONS_LEARNED) {
        return "positions: no CP_POSITIONS_...";
    }
    return NULL;
}

/* What only one kind of positions has is 0 or NULL with the others: somebody who sets it expects
 * something of it. */
/*@
  requires valid: \valid_read(decoder);
  requires frequency: decoder->frequency == \null ||
    \valid_read(decoder->frequency + (0 .. decoder->shape.n_pairs - 1));
  requires head: 1 <= decoder->shape.d_head;
  assigns \nothing;
  ensures layer_15: \result == \null <==> positions_ok(decoder->shape) &&
    positions_there(*decoder) && frequencies_ok(*decoder);
*/
static const char *positions_problem(const struct cp_decoder *decoder) {
    const struct cp_decoder_shape *s = &decoder->shape;
    int is_rotary = s->positions == CP_POSITIONS_ROTARY;
    int is_learned = s->positions == CP_POSITIONS_LEARNED;
    if (is_rotary ? s->n_pairs < 1 || s->n_pairs > s->d_head / 2 : s->n_pairs != 0) {
        return "n_pairs: below 1 or above d_head / 2, or not 0 without rotary positions";
    }
    if (is_rotary ? s->pair_distance < 1 || s->n_pairs % s->pair_distance != 0
                  : s->pair_distance != 0) {
        return "pair_distance: no divisor of n_pairs, or not 0 without rotary positions";
    }
    if (is_rotary != (decoder->frequency != NULL)) {
        return "frequency: NULL, or not NULL without rotary positions";
    }
    /*@ loop invariant i: 0 <= i && (0 <= s->n_pairs ==> i <= s->n_pairs);
        loop invariant finite: \forall integer j; 0 <= j < i ==> finite(decoder->frequency[j]);
        loop assigns i; loop variant s->n_pairs - i; */
    for (int i = 0; i < s->n_pairs; i++) {
        if (!isfinite(decoder->frequency[i])) {
            return "frequency: not finite";
        }
    }
    if (is_learned ? s->n_positions < 1 : s->n_positions != 0) {
        return "n_positions: below 1, or not 0 without learned positions";
    }
    if (is_learned != (decoder->position_embedding != NULL)) {
        return "position_embedding: NULL, or not NULL without learned positions";
    }
    return NULL;
}

/*@
  requires valid: \valid_read(s) && \valid_read(layer);
  assigns \nothing;
  ensures layer_15: \result == \null <==> layer_ok(*s, *layer);
*/
static const char *layer_problem(const struct cp_decoder_shape *s,
                                 const struct cp_decoder_layer *layer) {
    if (layer->attention_norm == NULL || layer->network_norm == NULL) {
        return "attention_norm, network_norm: NULL";
    }
    if (s->norm == CP_NORM_RMS &&
        (layer->attention_norm_bias != NULL || layer->network_norm_bias != NULL)) {
        return "attention_norm_bias, network_norm_bias: not NULL with CP_NORM_RMS";
    }
    if (layer->query == NULL || layer->key == NULL || layer->value == NULL || layer->mix == NULL) {
        return "query, key, value, mix: NULL";
    }
    if (layer->up == NULL || layer->down == NULL) {
        return "up, down: NULL";
    }
    if ((s->network == CP_NETWORK_SWIGLU) != (layer->gate != NULL)) {
        return "gate: NULL, or not NULL without SwiGLU";
    }
    if (layer->gate == NULL && layer->gate_bias != NULL) {
        return "gate_bias: not NULL without SwiGLU";
    }
    return NULL;
}

/*@
  requires valid: \valid_read(decoder);
  assigns \nothing;
  ensures layer_15: \result == \null <==> weights_there(*decoder);
*/
static const char *decoder_problem(const struct cp_decoder *decoder) {
    if (decoder->embedding == NULL) {
        return "embedding: NULL";
    }
    if (decoder->layer == NULL) {
        return "layer: NULL";
    }
    if (decoder->final_norm == NULL) {
        return "final_norm: NULL";
    }
    if (decoder->shape.norm == CP_NORM_RMS && decoder->final_norm_bias != NULL) {
        return "final_norm_bias: not NULL with CP_NORM_RMS";
    }
    return NULL;
}

const char *cp_decoder_check(const struct cp_decoder *decoder, int *layer) {
    *layer = -1;
    const char *problem = numbers_problem(&decoder->shape);
    if (problem == NULL) {
        problem = kinds_problem(&decoder->shape);
    }
    if (problem == NULL) {
        problem = positions_problem(decoder);
    }
    if (problem == NULL) {
        problem = decoder_problem(decoder);
    }
    /*@ loop invariant l: 0 <= l && (problem == \null ==> l <= decoder->shape.n_layers);
        loop invariant others: problem == \null ==> numbers_ok(decoder->shape) &&
          shape_ok(decoder->shape) && weights_ok(*decoder) && frequencies_ok(*decoder);
        loop invariant wrong: problem != \null ==> !decoder_ok(*decoder);
        loop invariant layers: problem == \null ==> layers_ok(*decoder, l);
        loop invariant layer: -1 <= *layer < \max(1, decoder->shape.n_layers);
        loop invariant none: problem == \null ==> *layer == -1;
        loop assigns l, problem, *layer; loop variant decoder->shape.n_layers - l; */
    for (int l = 0; problem == NULL && l < decoder->shape.n_layers; l++) {
        problem = layer_problem(&decoder->shape, &decoder->layer[l]);
        *layer = problem == NULL ? -1 : l;
    }
    return problem;
}
