/* SPDX-License-Identifier: Apache-2.0 */
/* What the contracts say of decoders and caches (spec/layers.md). Provers alone read this file. */
#ifndef CHUNKPROOF_LOGIC_DECODER_H
#define CHUNKPROOF_LOGIC_DECODER_H

#include "chunkproof/decoder.h"
#include "chunkproof/layers.h"

/* The arrays of a cache, for the contracts. */
#define CACHE_POSITIONS(cache) (cache)->position + (0..(cache)->capacity - 1)
#define CACHE_K(shape, cache)  (cache)->k + (0..cache_numbers(*(shape), (cache)->capacity) - 1)
#define CACHE_V(shape, cache)  (cache)->v + (0..cache_numbers(*(shape), (cache)->capacity) - 1)

/*@
  // LAYER-15: what cp_decoder_check() says of numbers.
  predicate heads_ok(struct cp_decoder_shape s) =
    1 <= s.n_kv_heads <= s.n_heads && s.n_heads % s.n_kv_heads == 0 && 1 <= s.d_head &&
    row_at(s.n_heads, s.d_head) <= 0x7FFFFFFF && row_at(s.n_kv_heads, s.d_head) <= 0x7FFFFFFF;
  predicate shape_sizes_ok(struct cp_decoder_shape s) =
    1 <= s.n_layers && 1 <= s.n_vocab && 1 <= s.d_model && 1 <= s.d_hidden && heads_ok(s);
  predicate positions_ok(struct cp_decoder_shape s) =
    (s.positions == CP_POSITIONS_ROTARY ?
      1 <= s.n_pairs <= s.d_head / 2 && 1 <= s.pair_distance && s.n_pairs % s.pair_distance == 0 :
      s.n_pairs == 0 && s.pair_distance == 0) &&
    (s.positions == CP_POSITIONS_LEARNED ? 1 <= s.n_positions : s.n_positions == 0);
  predicate kinds_ok(struct cp_decoder_shape s) =
    (s.norm == CP_NORM_RMS || s.norm == CP_NORM_LAYER) &&
    (s.network == CP_NETWORK_SWIGLU || s.network == CP_NETWORK_GELU_TANH ||
     s.network == CP_NETWORK_GELU_ERF) &&
    (s.positions == CP_POSITIONS_ROTARY || s.positions == CP_POSITIONS_ALIBI ||
     s.positions == CP_POSITIONS_LEARNED);
  predicate shape_ok(struct cp_decoder_shape s) =
    shape_sizes_ok(s) && kinds_ok(s) && positions_ok(s);

  predicate numbers_ok(struct cp_decoder_shape s) =
    shape_sizes_ok(s) && s.norm_epsilon > 0.0 && finite(s.norm_epsilon) && finite(s.scale);
  predicate frequencies_ok{L}(struct cp_decoder d) =
    \forall integer i; 0 <= i < d.shape.n_pairs ==> finite(d.frequency[i]);

  // Each pointer is there exactly when its kind has it.
  predicate layer_ok(struct cp_decoder_shape s, struct cp_decoder_layer w) =
    w.attention_norm != \null && w.network_norm != \null && w.query != \null && w.key != \null &&
    w.value != \null && w.mix != \null && w.up != \null && w.down != \null &&
    (s.network == CP_NETWORK_SWIGLU <==> w.gate != \null) &&
    (w.gate == \null ==> w.gate_bias == \null) &&
    (s.norm == CP_NORM_RMS ==> w.attention_norm_bias == \null && w.network_norm_bias == \null);
  predicate positions_there(struct cp_decoder d) =
    (d.shape.positions == CP_POSITIONS_ROTARY <==> d.frequency != \null) &&
    (d.shape.positions == CP_POSITIONS_LEARNED <==> d.position_embedding != \null);
  predicate weights_there(struct cp_decoder d) =
    d.embedding != \null && d.layer != \null && d.final_norm != \null &&
    (d.shape.norm == CP_NORM_RMS ==> d.final_norm_bias == \null);
  predicate weights_ok(struct cp_decoder d) = positions_there(d) && weights_there(d);
  predicate layers_ok{L}(struct cp_decoder d, integer n) =
    \forall integer l; 0 <= l < n ==> layer_ok(d.shape, d.layer[l]);
  predicate decoder_ok{L}(struct cp_decoder d) =
    numbers_ok(d.shape) && shape_ok(d.shape) && weights_ok(d) && frequencies_ok(d) &&
    layers_ok(d, d.shape.n_layers);

  // Numbers of a key or a value of an entry; of n entries in all layers of a cache; where entry e
  // of layer l begins.
  logic integer entry_width(struct cp_decoder_shape s) = row_at(s.n_kv_heads, s.d_head);
  logic integer cache_numbers(struct cp_decoder_shape s, integer capacity) =
    row_at(row_at(s.n_layers, capacity), entry_width(s));
  logic integer place_of_entry(struct cp_decoder_shape s, integer capacity, integer l, integer e) =
    row_at(row_at(l, capacity) + e, entry_width(s));
  predicate cache_countable(struct cp_decoder_shape s, integer capacity) =
    1 <= capacity && cache_numbers(s, capacity) <= 0x7FFFFFFFFFFFFFFF / sizeof(double);

  predicate cache_arrays(struct cp_decoder_shape s, struct cp_decoder_cache c) =
    cache_countable(s, c.capacity) && \valid(c.position + (0 .. c.capacity - 1)) &&
    \valid(c.k + (0 .. cache_numbers(s, c.capacity) - 1)) &&
    \valid(c.v + (0 .. cache_numbers(s, c.capacity) - 1));
  predicate cache_sizes(struct cp_decoder_cache c) = 0 <= c.n <= c.capacity;
  predicate has_entries(struct cp_decoder_cache c, integer first, integer n) =
    cache_sizes(c) && 0 <= first && 0 <= n && first + n <= c.n;
*/

#endif
