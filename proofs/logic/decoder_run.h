/* SPDX-License-Identifier: Apache-2.0 */
/* A run of a decoder, its workspace and its arrays. Provers alone read this file. */
#ifndef CHUNKPROOF_LOGIC_DECODER_RUN_H
#define CHUNKPROOF_LOGIC_DECODER_RUN_H

#include "chunkproof/decoder.h"
#include "ref/decoder_internal.h"

/* What a run writes, for `assigns`. */
/* clang-format off */
#define NUMBERS_X(run) run->x[0 .. row_at(run->call.n_new, run->decoder.shape.d_model) - 1]
#define NUMBERS_Y(run) run->y[0 .. row_at(run->call.n_new, run->decoder.shape.d_model) - 1]
#define NUMBERS_OUT(run) run->out[0 .. row_at(run->call.n_new, heads_width(run->decoder.shape)) - 1]
#define NUMBERS_UP(run) run->up[0 .. row_at(run->call.n_new, run->decoder.shape.d_hidden) - 1]
#define NUMBERS_O(run) run->o[0 .. run->decoder.shape.d_head - 1]
#define WORKSPACE(run) run->x[0 .. run_numbers(run->decoder.shape, run->call.n_new) - 1]
/* clang-format on */

/*@
  // The sizes of an accepted run.
  predicate run_sizes(struct run r) =
    shape_ok(r.decoder.shape) && cache_countable(r.decoder.shape, r.cache.capacity) &&
    1 <= r.call.n_new && 0 <= r.cache.n && r.cache.n + r.call.n_new <= r.cache.capacity &&
    0 <= r.call.first_logits <= r.call.n_new;

  // The parts of the workspace lie one behind the other.
  predicate rows_positive(struct cp_decoder_shape s, integer n) =
    0 <= row_at(n, s.d_model) && 0 <= row_at(n, heads_width(s)) && 0 <= row_at(n, s.d_hidden) &&
    0 <= row_at(n, s.n_pairs);
  predicate parts_in_order(struct run r, integer d_model, integer heads, integer hidden,
                           integer pairs) =
    r.y == r.x + d_model && r.q == r.x + 2 * d_model && r.out == r.x + (2 * d_model + heads) &&
    r.up == r.x + (2 * d_model + 2 * heads) && r.gate == r.x + (2 * d_model + 2 * heads + hidden) &&
    r.cosine == r.x + (2 * d_model + 2 * heads + 2 * hidden) &&
    r.sine == r.x + (2 * d_model + 2 * heads + 2 * hidden + pairs) &&
    r.o == r.x + (2 * d_model + 2 * heads + 2 * hidden + 2 * pairs);
  predicate parts_valid{L}(struct run r, struct cp_decoder_shape s, integer n) =
    \valid(r.x + (0 .. row_at(n, s.d_model) - 1)) &&
    \valid(r.y + (0 .. row_at(n, s.d_model) - 1)) &&
    \valid(r.q + (0 .. row_at(n, heads_width(s)) - 1)) &&
    \valid(r.out + (0 .. row_at(n, heads_width(s)) - 1)) &&
    \valid(r.up + (0 .. row_at(n, s.d_hidden) - 1)) &&
    \valid(r.gate + (0 .. row_at(n, s.d_hidden) - 1)) &&
    \valid(r.cosine + (0 .. row_at(n, s.n_pairs) - 1)) &&
    \valid(r.sine + (0 .. row_at(n, s.n_pairs) - 1)) && \valid(r.o + (0 .. s.d_head - 1));
  predicate run_cut{L}(struct run r) =
    parts_in_order(r, row_at(r.call.n_new, r.decoder.shape.d_model),
      row_at(r.call.n_new, heads_width(r.decoder.shape)),
      row_at(r.call.n_new, r.decoder.shape.d_hidden),
      row_at(r.call.n_new, r.decoder.shape.n_pairs)) &&
    rows_positive(r.decoder.shape, r.call.n_new) &&
    parts_valid(r, r.decoder.shape, r.call.n_new) &&
    \valid(r.order + (0 .. r.cache.n + r.call.n_new - 1));

  // Its matrices and rows can be counted, because their sizes are int.
  predicate sizes_countable(struct cp_decoder_shape s, integer n) =
    rows_countable(n, s.d_model) && rows_countable(n, heads_width(s)) &&
    rows_countable(n, entry_width(s)) && rows_countable(n, s.d_hidden) &&
    rows_countable(heads_width(s), s.d_model) && rows_countable(entry_width(s), s.d_model) &&
    rows_countable(s.d_model, heads_width(s)) && rows_countable(s.d_hidden, s.d_model) &&
    rows_countable(s.d_model, s.d_hidden) && rows_countable(s.n_vocab, s.d_model);

  // All that a run works with.
  predicate run_ready{L}(struct run r) =
    run_sizes(r) && run_cut(r) && cache_arrays(r.decoder.shape, r.cache) &&
    call_readable(r.decoder.shape, r.cache, r.call) &&
    \separated(r.x + (0 .. run_numbers(r.decoder.shape, r.call.n_new) - 1),
      r.cache.v + (0 .. cache_numbers(r.decoder.shape, r.cache.capacity) - 1));
  predicate entries_ordered{L}(struct run r) =
    entries_below(r.order, r.cache.n + r.call.n_new, r.cache.n + r.call.n_new);

  // LAYER-1: the state of new token i is the embedding of its token, and of its position.
  logic double *state_of(struct run r, integer i) = r.x + row_at(i, r.decoder.shape.d_model);
  logic float *embedding_of(struct run r, integer token) =
    r.decoder.embedding + row_at(token, r.decoder.shape.d_model);
  logic float *place_of(struct run r, integer position) =
    r.decoder.position_embedding + row_at(position, r.decoder.shape.d_model);
  predicate embedded{L}(struct run r, integer i, integer token, integer position) =
    \forall integer c; 0 <= c < r.decoder.shape.d_model ==>
      state_of(r, i)[c] == (r.decoder.shape.positions == CP_POSITIONS_LEARNED ?
        embedding_of(r, token)[c] + place_of(r, position)[c] : embedding_of(r, token)[c]);

  // LAYER-7: new token i sees entry e.
  predicate token_sees{L}(struct run r, integer i, integer e) =
    r.call.sees == \null ? r.cache.position[e] <= r.call.position[i] :
      r.call.sees[row_at(i, r.cache.n + r.call.n_new) + e] != 0;
*/

/* The ghost functions below are lemmas: a contract is the statement, a body the proof. */
/*@ ghost
  /@ requires size: 0 <= n && 0 <= d;
     assigns \nothing;
     ensures countable: 0 <= row_at(n, d) && rows_countable(n, d); @/
  void ints_are_countable(int n, int d) {
    /@ assert rises: 0 <= row_at(n, d) <= row_at(0x7FFFFFFF, d); @/
  }
  /@ requires valid: \valid_read(run);
     requires sizes: run_sizes(*run);
     assigns \nothing;
     ensures heads: run->decoder.shape.n_heads * run->decoder.shape.d_head ==
       heads_width(run->decoder.shape);
     ensures countable: sizes_countable(run->decoder.shape, run->call.n_new); @/
  void sizes_are_countable(const struct run *run) {
    int heads = run->decoder.shape.n_heads * run->decoder.shape.d_head;
    /@ assert heads: heads == heads_width(run->decoder.shape); @/
    int width = run->decoder.shape.n_kv_heads * run->decoder.shape.d_head;
    /@ assert width: width == entry_width(run->decoder.shape); @/
    ints_are_countable(run->call.n_new, run->decoder.shape.d_model);
    ints_are_countable(run->call.n_new, heads);
    ints_are_countable(run->call.n_new, width);
    ints_are_countable(run->call.n_new, run->decoder.shape.d_hidden);
    ints_are_countable(heads, run->decoder.shape.d_model);
    ints_are_countable(width, run->decoder.shape.d_model);
    ints_are_countable(run->decoder.shape.d_model, heads);
    ints_are_countable(run->decoder.shape.d_hidden, run->decoder.shape.d_model);
    ints_are_countable(run->decoder.shape.d_model, run->decoder.shape.d_hidden);
    ints_are_countable(run->decoder.shape.n_vocab, run->decoder.shape.d_model);
  }
*/

/* The numbers of a head of a new token are among q and out, and those of its K/V head in an
 * entry. */
/*@ ghost
  /@ requires valid: \valid_read(run);
     requires ready: run_ready(*run);
     requires place: 0 <= i < run->call.n_new && 0 <= head < run->decoder.shape.n_heads;
     assigns \nothing;
     ensures heads: run->decoder.shape.n_heads * run->decoder.shape.d_head ==
       heads_width(run->decoder.shape);
     ensures row: 0 <= row_at(i, heads_width(run->decoder.shape)) + row_at(head,
       run->decoder.shape.d_head);
     ensures inside: row_at(i, heads_width(run->decoder.shape)) + row_at(head,
       run->decoder.shape.d_head) + run->decoder.shape.d_head <=
         row_at(run->call.n_new, heads_width(run->decoder.shape));
     ensures kv_heads: \forall integer g; 0 <= g < run->decoder.shape.n_kv_heads ==>
       0 <= row_at(g, run->decoder.shape.d_head) && row_at(g, run->decoder.shape.d_head) +
         run->decoder.shape.d_head <= entry_width(run->decoder.shape); @/
  void head_is_inside(const struct run *run, int i, int head) {
    /@ assert head: row_at(head, run->decoder.shape.d_head) + run->decoder.shape.d_head <=
         heads_width(run->decoder.shape); @/
    /@ assert token: row_at(i, heads_width(run->decoder.shape)) +
         heads_width(run->decoder.shape) <=
           row_at(run->call.n_new, heads_width(run->decoder.shape)); @/
  }
*/

#endif
