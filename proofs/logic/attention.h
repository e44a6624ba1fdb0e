/* SPDX-License-Identifier: Apache-2.0 */
/* What the contracts say of a struct cp_attention: query rows, positions, keys seen
 * (spec/prefill.md). Provers alone read this file. */
#ifndef CHUNKPROOF_LOGIC_ATTENTION_H
#define CHUNKPROOF_LOGIC_ATTENTION_H

#include "chunkproof/attention.h"
#include "proofs/logic/plan_of_runs.h"

/*@
  // PREFILL-1: the first query row of sequence s; for s = b, the number of query rows.
  logic integer first_row{L}(int *query_begin, integer s) =
    query_begin == \null ? s : query_begin[s];

  predicate query_ranges{L}(int *query_begin, integer b) =
    first_row(query_begin, 0) == 0 &&
    (\forall integer s, t; 0 <= s <= t <= b ==>
      0 <= first_row(query_begin, s) <= first_row(query_begin, t));

  // The position of a query row of sequence s, which has n tokens, unless the caller gives one.
  logic integer row_position{L}(int *query_begin, integer s, integer n, integer row) =
    n - (first_row(query_begin, s + 1) - first_row(query_begin, s)) +
      (row - first_row(query_begin, s));

  // PREFILL-2, PREFILL-3: how many keys a row at position p sees.
  logic integer keys_seen(integer p) = \max(p + 1, 0);

  // PREFILL-4: and how many of the t keys from position f on.
  logic integer keys_seen_in(integer p, integer f, integer t) = \min(\max(p + 1 - f, 0), t);

  // WINDOW-1: the numbers of a window that is one; the key at position t is one that a row at
  // position p sees.
  predicate window_ok(struct cp_attention a) = 0 <= a.window.keys <= CP_MAX_WINDOW &&
    0 <= a.window.ahead <= CP_MAX_WINDOW && 0 <= a.window.kept <= CP_MAX_WINDOW;
  predicate in_window(struct cp_attention a, integer p, integer t) = t <= p + a.window.ahead &&
    (a.window.keys == 0 || t > p - a.window.keys || t < a.window.kept);
  predicate no_window(struct cp_attention a) =
    a.window.keys == 0 && a.window.ahead == 0 && a.window.kept == 0;

  // MASK-1: a mask that has all it needs; the mask leaves the key at position t to query row `row`.
  predicate mask_ok(struct cp_attention a) = a.mask.bits == \null || a.mask.first != \null;
  axiomatic Mask {
    logic integer mask_begin(struct cp_attention a, integer row);
    axiom mask_begin_is: \forall struct cp_attention a, integer row; mask_begin(a, row) ==
      (a.mask.begin == \null ? 0 : position_at(a.mask.begin, row));
    predicate mask_leaves(struct cp_attention a, integer row, integer t);
    axiom mask_leaves_is: \forall struct cp_attention a, integer row, t;
      mask_leaves(a, row, t) <==> a.mask.bits == \null || t < mask_begin(a, row) ||
        bit_at(a.mask.bits, (size_t)(index_at(a.mask.first, row) + t - mask_begin(a, row)));

    // MASK-2: the first slot from x on, before e, whose key it leaves (wanted: 1) or takes away
    // (0), of a chunk whose slot 0 is at position f. None: e.
    logic integer mask_edge(struct cp_attention a, integer row, integer f, integer x, integer e,
                            integer wanted);
    axiom mask_edge_end: \forall struct cp_attention a, integer row, f, x, e, wanted; x >= e ==>
      mask_edge(a, row, f, x, e, wanted) == e;
    axiom mask_edge_found: \forall struct cp_attention a, integer row, f, x, e, wanted; x < e ==>
      (mask_leaves(a, row, f + x) <==> wanted != 0) ==> mask_edge(a, row, f, x, e, wanted) == x;
    axiom mask_edge_next: \forall struct cp_attention a, integer row, f, x, e, wanted; x < e ==>
      !(mask_leaves(a, row, f + x) <==> wanted != 0) ==>
      mask_edge(a, row, f, x, e, wanted) == mask_edge(a, row, f, x + 1, e, wanted);
  }

  // SCORE-1: a cap that is one, or none.
  predicate cap_ok(struct cp_attention a) = finite(a.scores.cap) && a.scores.cap >= 0.0;
  // SCORE-5
  predicate biases_ok(struct cp_attention a) =
    a.scores.biases.bias != \null ==> 0 <= a.scores.biases.own < a.scores.biases.n;

  // NUM-18: what has a scale of its own is known.
  predicate scales_ok(struct cp_attention a) =
    CP_CACHE_SCALE_TENSOR <= a.scales.per <= CP_CACHE_SCALE_TOKEN;

  // WINDOW-2: of the t keys from position f on it sees slots 0 .. kept - 1 and begin .. end - 1.
  // Names, lest the provers expand them everywhere.
  axiomatic Window {
    logic integer window_end(struct cp_attention a, integer p, integer f, integer t);
    axiom window_end_is: \forall struct cp_attention a, integer p, f, t;
      window_end(a, p, f, t) == keys_seen_in(p + a.window.ahead, f, t);
    logic integer window_begin(struct cp_attention a, integer p, integer f, integer t);
    axiom window_begin_is: \forall struct cp_attention a, integer p, f, t;
      window_begin(a, p, f, t) == (a.window.keys == 0 ? 0 :
        keys_seen_in(p - a.window.keys, f, window_end(a, p, f, t)));
    logic integer window_kept(struct cp_attention a, integer p, integer f, integer t);
    axiom window_kept_is: \forall struct cp_attention a, integer p, f, t;
      window_kept(a, p, f, t) == keys_seen_in(a.window.kept - 1, f, window_begin(a, p, f, t));
  }

  // TPP-5: the K/V head of query head a.
  logic integer kv_head_of(struct cp_attention a, integer head) = head / (a.n_heads / a.n_kv_heads);

  // The row of K, and of V, that begins the slice of a chunk for query head `head`.
  logic integer key_row(struct cp_attention a, integer c, integer chunk, integer head) =
    row_at(row_at(chunk, a.n_kv_heads) + kv_head_of(a, head), c);

  // The elements of K and of V can be counted; those of Q and of out.
  predicate keys_countable(struct cp_attention a, integer c, integer capacity) =
    row_at(row_at(row_at(capacity, a.n_kv_heads), c), a.head_dim) <= 0x7FFFFFFFFFFFFFFF &&
    row_at(row_at(row_at(capacity, a.n_kv_heads), c), a.v_row) <= 0x7FFFFFFFFFFFFFFF;

  predicate rows_countable(struct cp_attention a, integer n_rows) =
    row_at(row_at(n_rows, a.n_heads), a.head_dim) <= 0x7FFFFFFFFFFFFFFF &&
    row_at(row_at(n_rows, a.n_heads), a.value_dim) <= 0x7FFFFFFFFFFFFFFF;

  // TPP-5; the widths of keys, of values, and of the rows that values lie in (WIDTH-1, WIDTH-2).
  predicate attention_heads(struct cp_attention a) =
    1 <= a.n_heads && 1 <= a.n_kv_heads && a.n_heads % a.n_kv_heads == 0 &&
    1 <= a.head_dim && 1 <= a.value_dim <= a.v_row;

  predicate known_variant(struct cp_attention a) =
    a.variant == CP_BUFFERED || a.variant == CP_MERGE_AT_ONCE;

  // RUNS-5: the query rows of the sequences below b in the first n entries of the list, an entry
  // counts for itself; of all sequences in them.
  axiomatic ListRows {
    logic integer list_rows{L}(int *query_begin, struct cp_plan p, integer b, integer n)
      reads query_begin[0 .. b];
    axiom list_rows_0{L}: \forall int *query_begin, struct cp_plan p, integer b;
      list_rows(query_begin, p, b, 0) == 0;
    axiom list_rows_yes{L}: \forall int *query_begin, struct cp_plan p, integer b, n; 0 <= n ==>
      0 <= p.served[n] < b ==> list_rows(query_begin, p, b, n + 1) ==
        list_rows(query_begin, p, b, n) + first_row(query_begin, p.served[n] + 1) -
          first_row(query_begin, p.served[n]);
    axiom list_rows_no{L}: \forall int *query_begin, struct cp_plan p, integer b, n; 0 <= n ==>
      !(0 <= p.served[n] < b) ==>
      list_rows(query_begin, p, b, n + 1) == list_rows(query_begin, p, b, n);
  }
  logic integer entry_row{L}(int *query_begin, struct cp_plan p, integer n) =
    list_rows(query_begin, p, p.n_sequences, n);

  // The entries from begin to end are sequences.
  predicate list_inside(struct cp_plan p, integer begin, integer end) =
    0 <= begin <= end <= p.n_served <= CP_MAX_SERVED && p.n_sequences <= CP_MAX_SEQUENCES &&
    (\forall integer at; begin <= at < end ==> 0 <= p.served[at] < p.n_sequences);

  // The query rows of the sequences that descriptor i serves, and of the first n descriptors.
  logic integer covered_rows{L}(int *query_begin, struct cp_plan p, integer i) =
    entry_row(query_begin, p, p.shared[i].end) - entry_row(query_begin, p, p.shared[i].begin);

  axiomatic PartRows {
    logic integer part_row{L}(int *query_begin, struct cp_plan p, integer n)
      reads query_begin[0 .. p.n_sequences];
    axiom part_row_0{L}: \forall int *query_begin, struct cp_plan p;
      part_row(query_begin, p, 0) == 0;
    axiom part_row_next{L}: \forall int *query_begin, struct cp_plan p, integer n; 0 <= n ==>
      part_row(query_begin, p, n + 1) ==
        part_row(query_begin, p, n) + covered_rows(query_begin, p, n);
  }

  // TPP-4: the query rows that have partial results, and how many of these there are.
  logic integer partial_rows{L}(struct cp_attention a, struct cp_plan p) =
    a.variant == CP_MERGE_AT_ONCE ? first_row(a.query_begin, p.n_sequences)
                                  : part_row(a.query_begin, p, p.n_shared);

  logic integer n_partials{L}(struct cp_attention a, struct cp_plan p) =
    row_at(partial_rows(a, p), a.n_heads);

  // The query ranges can be read and are in order.
  predicate ranges_ok{L}(struct cp_attention a, struct cp_plan p) =
    (a.query_begin == \null || \valid_read(a.query_begin + (0 .. p.n_sequences))) &&
    query_ranges(a.query_begin, p.n_sequences);

  // The positions of the query rows can be read, if the caller gives them.
  predicate positions_ok{L}(struct cp_attention a, struct cp_plan p) =
    a.position == \null ||
    \valid_read(a.position + (0 .. first_row(a.query_begin, p.n_sequences) - 1));
*/

#endif
