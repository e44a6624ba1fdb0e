/* SPDX-License-Identifier: Apache-2.0 */
/* The arrays of a run of a decoder, and what cp_decoder_run() accepts. Provers alone read this
 * file. */
#ifndef CHUNKPROOF_LOGIC_DECODER_CALL_H
#define CHUNKPROOF_LOGIC_DECODER_CALL_H

#include "chunkproof/decoder.h"
#include "proofs/logic/decoder.h"

/* What a run writes for the caller, for `assigns`. */
/* clang-format off */
#define STATES(s, call) (call).states[0 .. row_at((call).n_new, (s).d_model) - 1]
#define LOGITS(s, call) \
    (call).logits[0 .. row_at((call).n_new - (call).first_logits, (s).n_vocab) - 1]
#define RUN_POSITIONS(cache, call) cache->position[cache->n .. cache->n + call->n_new - 1]
#define RUN_NUMBERS(s, call) ((double *)call->workspace)[0 .. run_numbers(*(s), call->n_new) - 1]
#define RUN_ORDER(s, cache, call) ((int *)((double *)call->workspace + \
    run_numbers(*(s), call->n_new)))[0 .. cache->n + call->n_new - 1]
/* clang-format on */

/*@
  // Numbers of the query heads of a token, and of the doubles of a workspace.
  logic integer heads_width(struct cp_decoder_shape s) = row_at(s.n_heads, s.d_head);
  logic integer token_numbers(struct cp_decoder_shape s) =
    2 * (s.d_model + heads_width(s) + s.d_hidden + s.n_pairs);
  logic integer run_numbers(struct cp_decoder_shape s, integer n_new) =
    2 * row_at(n_new, s.d_model) + 2 * row_at(n_new, heads_width(s)) +
    2 * row_at(n_new, s.d_hidden) + 2 * row_at(n_new, s.n_pairs) + s.d_head;
  logic integer run_bytes(struct cp_decoder_shape s, integer n_new, integer n_entries) =
    sizeof(double) * run_numbers(s, n_new) + sizeof(int) * n_entries;

  // What is read of a call, besides its workspace; c.n is that of before the call.
  predicate call_readable{L}(struct cp_decoder_shape s, struct cp_decoder_cache c,
                             struct cp_decoder_call a) =
    \valid_read(a.token + (0 .. a.n_new - 1)) && \valid_read(a.position + (0 .. a.n_new - 1)) &&
    (a.sees == \null || \valid_read(a.sees + (0 .. row_at(a.n_new, c.n + a.n_new) - 1)));

  // The weights.
  predicate vector_readable{L}(float *weight, float *bias, integer d) =
    \valid_read(weight + (0 .. d - 1)) && (bias == \null || \valid_read(bias + (0 .. d - 1)));
  predicate attention_readable{L}(struct cp_decoder_shape s, struct cp_decoder_layer w) =
    vector_readable(w.attention_norm, w.attention_norm_bias, s.d_model) &&
    matrix_readable(w.query, w.query_bias, heads_width(s), s.d_model) &&
    matrix_readable(w.key, w.key_bias, entry_width(s), s.d_model) &&
    matrix_readable(w.value, w.value_bias, entry_width(s), s.d_model) &&
    matrix_readable(w.mix, w.mix_bias, s.d_model, heads_width(s));
  predicate network_readable{L}(struct cp_decoder_shape s, struct cp_decoder_layer w) =
    vector_readable(w.network_norm, w.network_norm_bias, s.d_model) &&
    matrix_readable(w.up, w.up_bias, s.d_hidden, s.d_model) &&
    matrix_readable(w.down, w.down_bias, s.d_model, s.d_hidden) &&
    (s.network == CP_NETWORK_SWIGLU ==>
      matrix_readable(w.gate, w.gate_bias, s.d_hidden, s.d_model));
  predicate layers_readable{L}(struct cp_decoder d) =
    \valid_read(d.layer + (0 .. d.shape.n_layers - 1)) &&
    \forall integer l; 0 <= l < d.shape.n_layers ==>
      attention_readable(d.shape, d.layer[l]) && network_readable(d.shape, d.layer[l]);
  predicate embedding_readable{L}(struct cp_decoder d) =
    \valid_read(d.embedding + (0 .. row_at(d.shape.n_vocab, d.shape.d_model) - 1)) &&
    (d.shape.positions == CP_POSITIONS_LEARNED ==> \valid_read(d.position_embedding +
      (0 .. row_at(d.shape.n_positions, d.shape.d_model) - 1))) &&
    \valid_read(d.frequency + (0 .. d.shape.n_pairs - 1));
  predicate output_readable{L}(struct cp_decoder d) =
    vector_readable(d.final_norm, d.final_norm_bias, d.shape.d_model) &&
    (d.output == \null ||
      \valid_read(d.output + (0 .. row_at(d.shape.n_vocab, d.shape.d_model) - 1)));
  predicate weights_readable{L}(struct cp_decoder d) =
    layers_readable(d) && embedding_readable(d) && output_readable(d);

  // Each new token is one, at a position that the decoder has.
  predicate token_ok{L}(struct cp_decoder_shape s, struct cp_decoder_call a, integer i) =
    0 <= a.token[i] < s.n_vocab &&
    (s.positions == CP_POSITIONS_LEARNED ==> 0 <= a.position[i] < s.n_positions);
  predicate tokens_ok{L}(struct cp_decoder_shape s, struct cp_decoder_call a, integer n) =
    \forall integer i; 0 <= i < n ==> token_ok(s, a, i);

  // What a run writes, besides the cache.
  predicate outputs_valid{L}(struct cp_decoder_shape s, struct cp_decoder_call a) =
    (a.states == \null || \valid(a.states + (0 .. row_at(a.n_new, s.d_model) - 1))) &&
    (a.logits == \null ||
      \valid(a.logits + (0 .. row_at(a.n_new - a.first_logits, s.n_vocab) - 1)));

  // The workspace: doubles, then an int for each entry.
  predicate run_workspace_valid{L}(struct cp_decoder_shape s, struct cp_decoder_cache c,
                               struct cp_decoder_call a) =
    \valid((double *)a.workspace + (0 .. run_numbers(s, a.n_new) - 1)) &&
    \valid((int *)((double *)a.workspace + run_numbers(s, a.n_new)) +
      (0 .. c.n + a.n_new - 1));

  // What cp_decoder_run() looks at before it computes, and what it reads for that.
  predicate check_readable{L}(struct cp_decoder d) =
    (d.frequency == \null || \valid_read(d.frequency + (0 .. d.shape.n_pairs - 1))) &&
    (d.layer == \null || \valid_read(d.layer + (0 .. d.shape.n_layers - 1)));
  predicate numbers_readable{L}(struct cp_decoder_call a) =
    (a.token == \null || \valid_read(a.token + (0 .. a.n_new - 1))) &&
    (a.position == \null || \valid_read(a.position + (0 .. a.n_new - 1)));
  predicate aligned_for_double(void *address) = (uintptr_t)address % sizeof(double) == 0;
  predicate cache_there(struct cp_decoder_cache c) =
    cache_sizes(c) && c.position != \null && c.k != \null && c.v != \null;
  predicate arguments_ok{L}(struct cp_decoder_shape s, struct cp_decoder_cache c,
                            struct cp_decoder_call a) =
    1 <= a.n_new && a.token != \null && a.position != \null &&
    0 <= a.first_logits <= a.n_new && cache_there(c) && tokens_ok(s, a, a.n_new);
  predicate workspace_fits(struct cp_decoder_shape s, struct cp_decoder_cache c,
                           struct cp_decoder_call a) =
    a.workspace != \null && aligned_for_double(a.workspace) &&
    run_bytes(s, a.n_new, c.n + a.n_new) <= 0x7FFFFFFFFFFFFFFF &&
    run_bytes(s, a.n_new, c.n + a.n_new) <= a.workspace_size;

  // The errors, each with its case.
  predicate shape_accepted{L}(struct cp_decoder d, struct cp_decoder_cache c) =
    decoder_ok(d) && cache_countable(d.shape, c.capacity);
  predicate run_accepted{L}(struct cp_decoder d, struct cp_decoder_cache c,
                            struct cp_decoder_call a) =
    shape_accepted(d, c) && arguments_ok(d.shape, c, a) && a.n_new <= c.capacity - c.n &&
    workspace_fits(d.shape, c, a);
  predicate run_status{L}(struct cp_decoder d, struct cp_decoder_cache c,
                          struct cp_decoder_call a, integer status) =
    !shape_accepted(d, c) ? status == CP_ERROR_SHAPE :
    !arguments_ok(d.shape, c, a) ? status == CP_ERROR_ARGUMENT :
    a.n_new > c.capacity - c.n ? status == CP_ERROR_TOO_LONG :
    !workspace_fits(d.shape, c, a) ? status == CP_ERROR_WORKSPACE : status == CP_OK;

  // Positions of the cache are not those of the call, nor its tokens.
  predicate numbers_apart{L}(struct cp_decoder_cache c, struct cp_decoder_call a) =
    \separated(c.position + (0 .. c.capacity - 1), a.position + (0 .. a.n_new - 1)) &&
    \separated(c.position + (0 .. c.capacity - 1), a.token + (0 .. a.n_new - 1));
  predicate run_apart{L}(struct cp_decoder_shape s, struct cp_decoder_cache c,
                         struct cp_decoder_call a) =
    numbers_apart(c, a) &&
    \separated((int *)((double *)a.workspace + run_numbers(s, a.n_new)) +
      (0 .. c.n + a.n_new - 1), c.position + (0 .. c.capacity - 1)) &&
    \separated((int *)((double *)a.workspace + run_numbers(s, a.n_new)) +
      (0 .. c.n + a.n_new - 1), a.position + (0 .. a.n_new - 1)) &&
    \separated((double *)a.workspace + (0 .. run_numbers(s, a.n_new) - 1),
      c.v + (0 .. cache_numbers(s, c.capacity) - 1));

  // All the arrays of an accepted run.
  predicate run_memory{L}(struct cp_decoder d, struct cp_decoder_cache c,
                          struct cp_decoder_call a) =
    weights_readable(d) && cache_arrays(d.shape, c) && call_readable(d.shape, c, a) &&
    run_workspace_valid(d.shape, c, a) && outputs_valid(d.shape, a) && run_apart(d.shape, c, a);
*/

#endif
