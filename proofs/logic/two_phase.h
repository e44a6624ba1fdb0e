/* SPDX-License-Identifier: Apache-2.0 */
/* What the two phases compute (spec/two_phase.md): the sums over the keys that a query row sees,
 * chunk by chunk (TPP-1, TPP-2), the partial results that pass from one phase to the other, and
 * what becomes of them in out and lse. Provers alone read this file. */
#ifndef CHUNKPROOF_LOGIC_TWO_PHASE_H
#define CHUNKPROOF_LOGIC_TWO_PHASE_H

#include "chunkproof/attention.h"
#include "chunkproof/softmax.h"

/* What the phases write, for `assigns`: the workspace; out and lse. */
/* clang-format off */
#define WORKSPACE_OF(a) ((double *)a->workspace)[0 .. workspace_numbers(*a, *a->plan) - 1]
#define RESULTS_OF(a, p) a->lse[0 .. n_results(*a, *p) - 1], ((char *)a->out)[0 .. \
    row_at(row_at(n_results(*a, *p), a->value_dim), type_size(a->out_type)) - 1]
/* clang-format on */

/*@
  // The score of a key, the sum of e(score) over the first n keys from row `first` of K on and that
  // of e(score) * v_i, for the query row that begins at element `at` of Q.
  axiomatic QuerySums {
    logic real query_dot(void *q, integer q_type, integer at, void *k, integer type, integer k_at,
                         integer n);
    axiom query_dot_0: \forall void *q, *k, integer q_type, at, type, k_at;
      query_dot(q, q_type, at, k, type, k_at, 0) == 0.0;
    axiom query_dot_next: \forall void *q, *k, integer q_type, at, type, k_at, n; 0 <= n ==>
      query_dot(q, q_type, at, k, type, k_at, n + 1) ==
        sum(query_dot(q, q_type, at, k, type, k_at, n),
          product(element(q, q_type, at + n), element(k, type, k_at + n)));

    logic real query_score(void *q, integer q_type, integer at, void *k, integer type,
                           integer first, integer d, scoring how, integer j);
    axiom query_score_is: \forall void *q, *k, integer q_type, at, type, first, d, scoring how,
      integer j; query_score(q, q_type, at, k, type, first, d, how, j) ==
        score_of(how, query_dot(q, q_type, at, k, type, row_at(first + j, d), d), j);

    logic real query_weight(void *q, integer q_type, integer at, void *k, integer type,
                            integer first, integer d, scoring how, integer n);
    axiom query_weight_0: \forall void *q, *k, integer q_type, at, type, first, d, scoring how;
      query_weight(q, q_type, at, k, type, first, d, how, 0) == 0.0;
    axiom query_weight_next: \forall void *q, *k, integer q_type, at, type, first, d, scoring how,
      integer n; 0 <= n ==>
      query_weight(q, q_type, at, k, type, first, d, how, n + 1) ==
        query_weight(q, q_type, at, k, type, first, d, how, n) +
        e(query_score(q, q_type, at, k, type, first, d, how, n));

    logic real query_value(void *q, integer q_type, integer at, void *k, void *v, integer type,
                           integer v_type, integer first, integer d, integer v_row, scoring how,
                           integer n, integer i);
    axiom query_value_0: \forall void *q, *k, *v, integer q_type, at, type, v_type, first, d,
      v_row, scoring how, integer i;
      query_value(q, q_type, at, k, v, type, v_type, first, d, v_row, how, 0, i) == 0.0;
    axiom query_value_next: \forall void *q, *k, *v, integer q_type, at, type, v_type, first, d,
      v_row, scoring how, integer n, i; 0 <= n ==>
      query_value(q, q_type, at, k, v, type, v_type, first, d, v_row, how, n + 1, i) ==
        query_value(q, q_type, at, k, v, type, v_type, first, d, v_row, how, n, i) +
        scaled(product(value_scale(how, n), element(v, v_type, row_at(first + n, v_row) + i)),
          query_score(q, q_type, at, k, type, first, d, how, n));
  }

  // Where a query row and head begins in Q; in out.
  logic integer query_at(struct cp_attention a, integer row, integer head) =
    row_at(row_at(row, a.n_heads) + head, a.head_dim);
  logic integer out_at(struct cp_attention a, integer row, integer head) =
    row_at(row_at(row, a.n_heads) + head, a.value_dim);

  // SCORE-2, SCORE-3, SCORE-5: the slope of a query head, or 0; what its sink adds to the sum of
  // e(score); its biases; that all may be read.
  axiomatic Scores {
    logic real slope_of(struct cp_attention a, integer head);
    axiom slope_of_is: \forall struct cp_attention a, integer head; slope_of(a, head) ==
      (a.scores.slopes == \null ? 0.0 : double_at(a.scores.slopes, head));
    logic real sink_weight(struct cp_attention a, integer head);
    axiom sink_weight_is: \forall struct cp_attention a, integer head; sink_weight(a, head) ==
      (a.scores.sinks == \null ? 0.0 : e(double_at(a.scores.sinks, head)));
    logic biasing biases_of(struct cp_attention a, integer head);
    axiom biases_of_is: \forall struct cp_attention a, integer head; biases_of(a, head) ==
      (a.scores.biases.bias == \null ? biased_by(\null, 0, 0, 0) :
        biased_by(a.scores.biases.bias, row_at(head, a.scores.biases.n), a.scores.biases.n,
          a.scores.biases.own));
    predicate scores_readable(struct cp_attention a, integer head);
    axiom scores_readable_is: \forall struct cp_attention a, integer head;
      scores_readable(a, head) <==>
        (a.scores.slopes != \null ==> double_readable(a.scores.slopes, head)) &&
        (a.scores.sinks != \null ==> double_readable(a.scores.sinks, head)) &&
        (a.scores.biases.bias != \null ==> 1 <= a.scores.biases.n && \forall integer i;
          row_at(head, a.scores.biases.n) <= i < row_at(head, a.scores.biases.n) +
            a.scores.biases.n ==> double_readable(a.scores.biases.bias, i));
  }

  // NUM-18: where the scale of a row of K, or V, is, for a query head. How scores are made, and
  // values, from that row on, which is so far from the query row.
  axiomatic Scales {
    logic integer scale_place(struct cp_attention a, integer head, integer row);
    axiom scale_place_is: \forall struct cp_attention a, integer head, row;
      scale_place(a, head, row) == (a.scales.per == CP_CACHE_SCALE_TOKEN ? row :
        a.scales.per == CP_CACHE_SCALE_HEAD ? kv_head_of(a, head) : 0);
    logic scaling scales_from(float *scales, struct cp_attention a, integer head, integer row);
    axiom scales_from_is: \forall float *scales, struct cp_attention a, integer head, row;
      scales_from(scales, a, head, row) == scaled_by(scales, scale_place(a, head, row),
        a.scales.per == CP_CACHE_SCALE_TOKEN ? 1 : 0);
    logic scoring scoring_from(struct cp_attention a, integer head, integer first, real distance);
    axiom scoring_from_is: \forall struct cp_attention a, integer head, first, real distance;
      scoring_from(a, head, first, distance) ==
        made(a.scale, a.scores.cap, slope_of(a, head), distance, biases_of(a, head),
          scales_from(a.scales.k, a, head, first),
          scales_from(a.scales.v, a, head, first));
  }

  // For the query row that begins at element `at`, and a head, the sums over n keys from row
  // `first` of K on. The first of them is so far from the query row (SCORE-2).
  axiomatic RowsSums {
    logic real rows_weight(struct cp_attention a, integer at, integer head, integer first,
                           integer n, real distance);
    axiom rows_weight_is: \forall struct cp_attention a, integer at, head, first, n, real distance;
      rows_weight(a, at, head, first, n, distance) == query_weight((void *)a.q, a.q_type, at,
        (void *)a.k, a.k_type, first, a.head_dim, scoring_from(a, head, first, distance), n);
    logic real rows_value(struct cp_attention a, integer at, integer head, integer first,
                          integer n, real distance, integer i);
    axiom rows_value_is: \forall struct cp_attention a, integer at, head, first, n, real distance,
      integer i;
      rows_value(a, at, head, first, n, distance, i) == query_value((void *)a.q, a.q_type, at,
        (void *)a.k, (void *)a.v, a.k_type, a.v_type, first, a.head_dim, a.v_row,
        scoring_from(a, head, first, distance), n, i);
  }

  // MASK-2: for a query row and head, the sums over what the mask leaves of the slots x .. e - 1 of
  // a chunk. Slot 0 is in row `first` of K, at position f, and so far from the query row. One range
  // of slots behind the other, each as long as it can be.
  axiomatic RangeSums {
    logic real range_weight(struct cp_attention a, integer row, integer head, integer first,
                            integer f, integer x, integer e, real distance);
    axiom range_weight_all: \forall struct cp_attention a, integer row, head, first, f, x, e,
      real distance; a.mask.bits == \null ==>
      range_weight(a, row, head, first, f, x, e, distance) ==
        rows_weight(a, query_at(a, row, head), head, first + x, e - x, distance + x);
    axiom range_weight_end: \forall struct cp_attention a, integer row, head, first, f, x, e,
      real distance; a.mask.bits != \null ==> x >= e ==>
      range_weight(a, row, head, first, f, x, e, distance) == 0.0;
    axiom range_weight_next: \forall struct cp_attention a, integer row, head, first, f, x, e, b, n,
      real distance; a.mask.bits != \null ==> x < e ==> b == mask_edge(a, row, f, x, e, 1) ==>
      n == mask_edge(a, row, f, b, e, 0) ==>
      range_weight(a, row, head, first, f, x, e, distance) ==
        rows_weight(a, query_at(a, row, head), head, first + b, n - b, distance + b) +
        range_weight(a, row, head, first, f, n, e, distance);
    logic real range_value(struct cp_attention a, integer row, integer head, integer first,
                           integer f, integer x, integer e, real distance, integer i);
    axiom range_value_all: \forall struct cp_attention a, integer row, head, first, f, x, e,
      real distance, integer i; a.mask.bits == \null ==>
      range_value(a, row, head, first, f, x, e, distance, i) ==
        rows_value(a, query_at(a, row, head), head, first + x, e - x, distance + x, i);
    axiom range_value_end: \forall struct cp_attention a, integer row, head, first, f, x, e,
      real distance, integer i; a.mask.bits != \null ==> x >= e ==>
      range_value(a, row, head, first, f, x, e, distance, i) == 0.0;
    axiom range_value_next: \forall struct cp_attention a, integer row, head, first, f, x, e, b, n,
      real distance, integer i; a.mask.bits != \null ==> x < e ==>
      b == mask_edge(a, row, f, x, e, 1) ==> n == mask_edge(a, row, f, b, e, 0) ==>
      range_value(a, row, head, first, f, x, e, distance, i) ==
        rows_value(a, query_at(a, row, head), head, first + b, n - b, distance + b, i) +
        range_value(a, row, head, first, f, n, e, distance, i);
  }

  // For a query row and head, the sum of e(score) over the slots 0 .. kept - 1 and begin .. end - 1
  // of a chunk, whose slot 0 is at position f and so far from the row, and that of e(score) * v_i
  // (TPP-5, TPP-6, WINDOW-2, MASK-2).
  axiomatic ChunkSums {
    logic real chunk_weight(struct cp_attention a, integer c, integer row, integer head,
                            integer chunk, integer f, integer kept, integer begin, integer end,
                            real distance);
    axiom chunk_weight_is: \forall struct cp_attention a, integer c, row, head, chunk, f, kept,
      begin, end, real distance;
      chunk_weight(a, c, row, head, chunk, f, kept, begin, end, distance) ==
        range_weight(a, row, head, key_row(a, c, chunk, head), f, begin, end, distance) +
        range_weight(a, row, head, key_row(a, c, chunk, head), f, 0, kept, distance);
    logic real chunk_value(struct cp_attention a, integer c, integer row, integer head,
                           integer chunk, integer f, integer kept, integer begin, integer end,
                           real distance, integer i);
    axiom chunk_value_is: \forall struct cp_attention a, integer c, row, head, chunk, f, kept,
      begin, end, real distance, integer i;
      chunk_value(a, c, row, head, chunk, f, kept, begin, end, distance, i) ==
        range_value(a, row, head, key_row(a, c, chunk, head), f, begin, end, distance, i) +
        range_value(a, row, head, key_row(a, c, chunk, head), f, 0, kept, distance, i);
  }

  // TPP-6: the first n keys of a chunk may be read, in K and in V; those of the plan: of a shared
  // chunk its n_tokens, of an own chunk what its sequence has there. And Q, of n_rows query rows.
  axiomatic Readable {
    predicate query_readable(struct cp_attention a, integer row, integer head);
    axiom query_readable_is: \forall struct cp_attention a, integer row, head;
      query_readable(a, row, head) <==>
        row_readable((void *)a.q, a.q_type, query_at(a, row, head), a.head_dim) &&
        scores_readable(a, head);
    predicate scales_readable_from(struct cp_attention a, integer head, integer first, integer n);
    axiom scales_readable_from_is: \forall struct cp_attention a, integer head, first, n;
      scales_readable_from(a, head, first, n) <==>
        (\forall integer row; first <= row < first + n ==>
          (a.scales.k != \null ==>
            float_readable(a.scales.k, scale_place(a, head, row))) &&
          (a.scales.v != \null ==>
            float_readable(a.scales.v, scale_place(a, head, row))));
    predicate rows_fit_of(struct cp_attention a, integer n);
    axiom rows_fit_of_is: \forall struct cp_attention a, integer n;
      rows_fit_of(a, n) <==> rows_fit(n, a.head_dim) && rows_fit(n, a.v_row);
    predicate keys_and_values_of(struct cp_attention a, integer first, integer n);
    axiom keys_and_values_of_is: \forall struct cp_attention a, integer first, n;
      keys_and_values_of(a, first, n) <==> keys_and_values((void *)a.k, (void *)a.v, a.k_type,
        a.v_type, first, n, a.head_dim, a.value_dim, a.v_row);
    predicate chunk_readable(struct cp_attention a, integer c, integer chunk, integer head,
      integer n);
    axiom chunk_readable_is: \forall struct cp_attention a, integer c, chunk, head, n;
      chunk_readable(a, c, chunk, head, n) <==>
        keys_and_values_of(a, key_row(a, c, chunk, head), n) &&
        scales_readable_from(a, head, key_row(a, c, chunk, head), n);
  }
  axiomatic PlanReadable {
    predicate keys_readable(struct cp_attention a, struct cp_plan p);
    axiom keys_readable_is: \forall struct cp_attention a, struct cp_plan p; keys_readable(a,
      p) <==>
      (\forall integer i, head; 0 <= i < p.n_shared ==> 0 <= head < a.n_heads ==>
        chunk_readable(a, p.chunk_size, p.shared[i].chunk, head, p.shared[i].n_tokens)) &&
      (\forall integer s, k, head, n; 0 <= s < p.n_sequences ==> 0 <= k < p.sequence[s].n_chunks ==>
        0 <= head < a.n_heads ==> n <= plan_tokens(p, s, k) ==>
        chunk_readable(a, p.chunk_size, plan_chunk(p, s, k), head, n));
    predicate queries_readable(struct cp_attention a, integer n_rows);
    axiom queries_readable_is: \forall struct cp_attention a, integer n_rows;
      queries_readable(a, n_rows) <==>
      (\forall integer row, head; 0 <= row < n_rows ==> 0 <= head < a.n_heads ==>
        query_readable(a, row, head));
  }

  // SCORE-2: how far a position is from that of a row.
  logic real distance_of(integer position, integer pos) = (real)position - (real)pos;

  // The same over the keys that the query row, at position `pos`, sees of the chunk of descriptor
  // i, ...
  logic real shared_chunk_weight(struct cp_attention a, struct cp_plan p, integer i, integer pos,
                                 integer row, integer head) =
    chunk_weight(a, p.chunk_size, row, head, p.shared[i].chunk,
      p.shared[i].position, window_kept(a, pos, p.shared[i].position, p.shared[i].n_tokens),
      window_begin(a, pos, p.shared[i].position, p.shared[i].n_tokens),
      window_end(a, pos, p.shared[i].position, p.shared[i].n_tokens),
      distance_of(p.shared[i].position, pos));
  logic real shared_chunk_value(struct cp_attention a, struct cp_plan p, integer i, integer pos,
                                integer row, integer head, integer j) =
    chunk_value(a, p.chunk_size, row, head, p.shared[i].chunk,
      p.shared[i].position, window_kept(a, pos, p.shared[i].position, p.shared[i].n_tokens),
      window_begin(a, pos, p.shared[i].position, p.shared[i].n_tokens),
      window_end(a, pos, p.shared[i].position, p.shared[i].n_tokens),
      distance_of(p.shared[i].position, pos), j);

  // ... and of the k-th run of sequence s (RUNS-4).
  logic real own_chunk_weight(struct cp_attention a, struct cp_plan p, integer s, integer k,
                              integer pos, integer row, integer head) =
    chunk_weight(a, p.chunk_size, row, head, plan_chunk(p, s, k),
      plan_position(p, s, k), window_kept(a, pos, plan_position(p, s, k), plan_tokens(p, s, k)),
      window_begin(a, pos, plan_position(p, s, k), plan_tokens(p, s, k)),
      window_end(a, pos, plan_position(p, s, k), plan_tokens(p, s, k)),
      distance_of(plan_position(p, s, k), pos));
  logic real own_chunk_value(struct cp_attention a, struct cp_plan p, integer s, integer k,
                             integer pos, integer row, integer head, integer j) =
    chunk_value(a, p.chunk_size, row, head, plan_chunk(p, s, k),
      plan_position(p, s, k), window_kept(a, pos, plan_position(p, s, k), plan_tokens(p, s, k)),
      window_begin(a, pos, plan_position(p, s, k), plan_tokens(p, s, k)),
      window_end(a, pos, plan_position(p, s, k), plan_tokens(p, s, k)),
      distance_of(plan_position(p, s, k), pos), j);

  // TPP-1, TPP-4: the sums over those of the first n descriptors that serve s, in the order of the
  // plan.
  axiomatic SharedSums {
    logic real shared_weight(struct cp_attention a, struct cp_plan p, integer s, integer pos,
                             integer row, integer head, integer n);
    axiom shared_weight_0: \forall struct cp_attention a, struct cp_plan p, integer s, pos, row,
      head; shared_weight(a, p, s, pos, row, head, 0) == 0.0;
    axiom shared_weight_yes: \forall struct cp_attention a, struct cp_plan p, integer s, pos, row,
      head, n; 0 <= n ==> runs_serves(p, n, s) ==>
      shared_weight(a, p, s, pos, row, head, n + 1) ==
        shared_weight(a, p, s, pos, row, head, n) +
        shared_chunk_weight(a, p, n, pos, row, head);
    axiom shared_weight_no: \forall struct cp_attention a, struct cp_plan p, integer s, pos, row,
      head, n; 0 <= n ==> !runs_serves(p, n, s) ==>
      shared_weight(a, p, s, pos, row, head, n + 1) == shared_weight(a, p, s, pos, row, head, n);

    logic real shared_value(struct cp_attention a, struct cp_plan p, integer s, integer pos,
                            integer row, integer head, integer n, integer j);
    axiom shared_value_0: \forall struct cp_attention a, struct cp_plan p, integer s, pos, row,
      head, j; shared_value(a, p, s, pos, row, head, 0, j) == 0.0;
    axiom shared_value_yes: \forall struct cp_attention a, struct cp_plan p, integer s, pos, row,
      head, n, j; 0 <= n ==> runs_serves(p, n, s) ==>
      shared_value(a, p, s, pos, row, head, n + 1, j) ==
        shared_value(a, p, s, pos, row, head, n, j) +
        shared_chunk_value(a, p, n, pos, row, head, j);
    axiom shared_value_no: \forall struct cp_attention a, struct cp_plan p, integer s, pos, row,
      head, n, j; 0 <= n ==> !runs_serves(p, n, s) ==>
      shared_value(a, p, s, pos, row, head, n + 1, j) ==
        shared_value(a, p, s, pos, row, head, n, j);
  }

  // TPP-2: the sums over the chunks that s has alone, those before the k-th of its path.
  axiomatic OwnSums {
    logic real own_weight(struct cp_attention a, struct cp_plan p, integer s, integer pos,
                          integer row, integer head, integer k);
    axiom own_weight_0: \forall struct cp_attention a, struct cp_plan p, integer s, pos, row,
      head; own_weight(a, p, s, pos, row, head, p.sequence[s].n_shared) == 0.0;
    axiom own_weight_next: \forall struct cp_attention a, struct cp_plan p, integer s, pos, row,
      head, k; p.sequence[s].n_shared <= k ==>
      own_weight(a, p, s, pos, row, head, k + 1) ==
        own_weight(a, p, s, pos, row, head, k) + own_chunk_weight(a, p, s, k, pos, row, head);

    logic real own_value(struct cp_attention a, struct cp_plan p, integer s, integer pos,
                         integer row, integer head, integer k, integer j);
    axiom own_value_0: \forall struct cp_attention a, struct cp_plan p, integer s, pos, row,
      head, j; own_value(a, p, s, pos, row, head, p.sequence[s].n_shared, j) == 0.0;
    axiom own_value_next: \forall struct cp_attention a, struct cp_plan p, integer s, pos, row,
      head, k, j; p.sequence[s].n_shared <= k ==>
      own_value(a, p, s, pos, row, head, k + 1, j) ==
        own_value(a, p, s, pos, row, head, k, j) + own_chunk_value(a, p, s, k, pos, row, head, j);
  }

  // TPP-2, SCORE-3: the sum of e(score) over all that a query row of sequence s sees, with the sink
  // once, and that of e(score) * v_j. That this is attention over the path of s, each key of it
  // once, is a theorem of proofs/coq (TPP-3).
  logic real row_weight(struct cp_attention a, struct cp_plan p, integer s, integer pos,
                        integer row, integer head) =
    shared_weight(a, p, s, pos, row, head, p.n_shared) +
    own_weight(a, p, s, pos, row, head, p.sequence[s].n_chunks) + sink_weight(a, head);
  logic real row_value(struct cp_attention a, struct cp_plan p, integer s, integer pos,
                       integer row, integer head, integer j) =
    shared_value(a, p, s, pos, row, head, p.n_shared, j) +
    own_value(a, p, s, pos, row, head, p.sequence[s].n_chunks, j);
*/

/*@
  // The o of partial result `at`, of those in o.
  axiomatic PartOf {
    logic double *part_of(double *o, integer d, integer at);
    axiom part_of_is: \forall double *o, integer d, at; part_of(o, d, at) == o + row_at(at, d);
  }
  lemma number_of_part: \forall double *o, integer d, at, j;
    part_of(o, d, at) + j == o + (row_at(at, d) + j);

  // A partial result as a value: what its m, n and o are, and so the same while these are. MERGE-1,
  // MERGE-2: its weight and its sums, and that it is a state.
  axiomatic Part {
    type part;
    logic part part_at{L}(struct cp_state *state, double *o, integer d, integer at)
      reads state[at], part_of(o, d, at)[0 .. d - 1];
    axiom part_at_same{L1,L2}: \forall struct cp_state *state, double *o, integer d, at;
      \at(state[at].m, L1) == \at(state[at].m, L2) ==>
      \at(state[at].n, L1) == \at(state[at].n, L2) ==>
      (\forall integer j; 0 <= j < d ==>
        \at(part_of(o, d, at)[j], L1) == \at(part_of(o, d, at)[j], L2)) ==>
      part_at{L1}(state, o, d, at) == part_at{L2}(state, o, d, at);

    logic real part_weight(part x);
    axiom part_weight_is{L}: \forall struct cp_state *state, double *o, integer d, at;
      part_weight(part_at(state, o, d, at)) == state_weight(state[at]);

    logic real part_sum(part x, integer j);
    axiom part_sum_is{L}: \forall struct cp_state *state, double *o, integer d, at, j; 0 <= j <
      d ==>
      part_sum(part_at(state, o, d, at), j) == state_sum(state[at], part_of(o, d, at)[j]);

    predicate part_ok(part x);
    axiom part_ok_is{L}: \forall struct cp_state *state, double *o, integer d, at;
      part_ok(part_at(state, o, d, at)) <==> state_ok(state[at], part_of(o, d, at), d);

    // It is that of descriptor i for a query row and head, ...
    predicate part_of_chunk(part x, struct cp_attention a, struct cp_plan p, integer i, integer pos,
                            integer row, integer head);
    axiom part_of_chunk_is: \forall part x, struct cp_attention a, struct cp_plan p, integer i, pos,
      row, head; part_of_chunk(x, a, p, i, pos, row, head) <==>
        part_ok(x) && part_weight(x) == shared_chunk_weight(a, p, i, pos, row, head) &&
        (\forall integer j; 0 <= j < a.value_dim ==>
          part_sum(x, j) == shared_chunk_value(a, p, i, pos, row, head, j));

    // ... or of those of the first n descriptors that serve sequence s.
    predicate part_of_shared(part x, struct cp_attention a, struct cp_plan p, integer s,
      integer pos,
                             integer row, integer head, integer n);
    axiom part_of_shared_is: \forall part x, struct cp_attention a, struct cp_plan p, integer s,
      pos,
      row, head, n; part_of_shared(x, a, p, s, pos, row, head, n) <==>
        part_ok(x) && part_weight(x) == shared_weight(a, p, s, pos, row, head, n) &&
        (\forall integer j; 0 <= j < a.value_dim ==>
          part_sum(x, j) == shared_value(a, p, s, pos, row, head, n, j));
  }

  // A query row of sequence s, with a head; its position, which the caller gives or PREFILL-1 says.
  predicate row_of{L}(struct cp_attention a, integer s, integer row) =
    first_row(a.query_begin, s) <= row < first_row(a.query_begin, s + 1);
  predicate query_of{L}(struct cp_attention a, struct cp_plan p, integer s, integer row,
                        integer head) =
    0 <= s < p.n_sequences && row_of(a, s, row) && 0 <= head < a.n_heads;
  axiomatic Position {
    logic integer position_of{L}(struct cp_attention a, struct cp_plan p, integer s, integer row)
      reads a.query_begin[s .. s + 1], a.position[row];
    axiom position_of_is{L}: \forall struct cp_attention a, struct cp_plan p, integer s, row;
      position_of(a, p, s, row) == (a.position != \null ? a.position[row] :
        row_position(a.query_begin, s, p.sequence[s].n_tokens, row));
  }

  // Where the partial results of a query row begin when those of row 0 would begin with row `by` of
  // them.
  axiomatic Place {
    logic integer place(integer row, integer by, integer h);
    axiom place_is: \forall integer row, by, h; place(row, by, h) == row_at(row + by, h);
    lemma place_ordered: \forall integer x, y, by, h; 0 <= x + by ==> x < y ==> 0 <= h ==>
      0 <= place(x, by, h) && place(x, by, h) + h <= place(y, by, h);
  }

  // Entry e of the list is one of descriptor i; the first of whose rows of partial results, less
  // the first query row of the sequence.
  predicate has_entry(struct cp_plan p, integer i, integer e) =
    p.shared[i].begin <= e < p.shared[i].end;
  axiomatic RowsBefore {
    logic integer rows_before{L}(struct cp_attention a, struct cp_plan p, integer i, integer e)
      reads a.query_begin[0 .. p.n_sequences];
    axiom rows_before_is{L}: \forall struct cp_attention a, struct cp_plan p, integer i, e;
      has_entry(p, i, e) ==> 0 <= p.served[e] < p.n_sequences ==> rows_before(a, p, i, e) ==
        part_row(a.query_begin, p, i) + entry_row(a.query_begin, p, e) -
          entry_row(a.query_begin, p, p.shared[i].begin) - first_row(a.query_begin, p.served[e]);
  }

  axiomatic Kept {
    // Partial result `at` is x, one of descriptor i for a query row whose places begin as `by`
    // says; or of the first n descriptors that serve s.
    predicate kept_chunk(part x, struct cp_attention a, struct cp_plan p, integer i, integer pos,
                         integer row, integer by, integer at);
    axiom kept_chunk_is: \forall part x, struct cp_attention a, struct cp_plan p, integer i, pos,
      row,
      by, at; kept_chunk(x, a, p, i, pos, row, by, at) <==>
        part_of_chunk(x, a, p, i, pos, row, at - place(row, by, a.n_heads));
    predicate kept_shared(part x, struct cp_attention a, struct cp_plan p, integer s, integer pos,
                          integer row, integer n, integer at);
    axiom kept_shared_is: \forall part x, struct cp_attention a, struct cp_plan p, integer s, pos,
      row,
      n, at; kept_shared(x, a, p, s, pos, row, n, at) <==>
        part_of_shared(x, a, p, s, pos, row, at - row_at(row, a.n_heads), n);
  }

  // CP_BUFFERED (TPP-1): the partial results before place n are there: one descriptor behind the
  // other, one entry of its list behind the other, h for each query row.
  predicate kept_before{L}(struct cp_state *state, double *o, struct cp_attention a,
                           struct cp_plan p, integer n) =
    \forall integer i, e, row, at; 0 <= i < p.n_shared ==> has_entry(p, i, e) ==>
      row_of(a, p.served[e], row) ==> 0 <= at < n ==>
      place(row, rows_before(a, p, i, e), a.n_heads) <= at <
        place(row, rows_before(a, p, i, e), a.n_heads) + a.n_heads ==>
      kept_chunk(part_at(state, o, a.value_dim, at), a, p, i,
        position_of(a, p, p.served[e], row), row, rows_before(a, p, i, e), at);

  // CP_MERGE_AT_ONCE (TPP-4): each query row has h partial results, in which the first i
  // descriptors that serve it are; and descriptor i besides, for the sequences before entry e of
  // its list, and for that of entry e as far as its places before n go.
  predicate served_before(struct cp_plan p, integer i, integer e, integer s) =
    \exists integer x; p.shared[i].begin <= x < e && p.served[x] == s;
  predicate merged_yet(struct cp_plan p, integer i, integer e, integer n, integer s, integer at) =
    served_before(p, i, e, s) || (p.served[e] == s && at < n);
  predicate merged_to{L}(struct cp_state *state, double *o, struct cp_attention a,
                         struct cp_plan p, integer i) =
    \forall integer s, row, at; 0 <= s < p.n_sequences ==> row_of(a, s, row) ==>
      0 <= at < n_partials(a, p) ==>
      row_at(row, a.n_heads) <= at < row_at(row, a.n_heads) + a.n_heads ==>
      kept_shared(part_at(state, o, a.value_dim, at), a, p, s, position_of(a, p, s, row), row, i,
        at);
  predicate merged_before{L}(struct cp_state *state, double *o, struct cp_attention a,
                             struct cp_plan p, integer i, integer e, integer n) =
    \forall integer s, row, at; 0 <= s < p.n_sequences ==> row_of(a, s, row) ==>
      0 <= at < n_partials(a, p) ==>
      row_at(row, a.n_heads) <= at < row_at(row, a.n_heads) + a.n_heads ==>
      (merged_yet(p, i, e, n, s, at) ==> kept_shared(part_at(state, o, a.value_dim, at), a, p, s,
        position_of(a, p, s, row), row, i + 1, at)) &&
      (!merged_yet(p, i, e, n, s, at) ==> kept_shared(part_at(state, o, a.value_dim, at), a, p, s,
        position_of(a, p, s, row), row, i, at));

  // What the first phase leaves to the second.
  predicate keeps_shared{L}(struct cp_state *state, double *o, struct cp_attention a,
                            struct cp_plan p) =
    (a.variant != CP_MERGE_AT_ONCE ==> kept_before(state, o, a, p, n_partials(a, p))) &&
    (a.variant == CP_MERGE_AT_ONCE ==> merged_to(state, o, a, p, p.n_shared));
*/

/*@
  // MERGE-6: the mean of what has this sum of e(score) v and this weight; what a query row and head
  // gets for element j.
  axiomatic Mean {
    logic real mean(real o, real n);
    axiom mean_is: \forall real r, o, n; is_mean(r, o, n) ==> !is_zero(n) ==> r == mean(o, n);
    logic real attended(integer type, real o, real n);
    axiom attended_keys: \forall integer type, real o, n; !is_zero(n) ==>
      attended(type, o, n) == rounded(type, mean(o, n));
    axiom attended_no_key: \forall integer type, real o, n; is_zero(n) ==>
      attended(type, o, n) == rounded(type, 0.0);
    lemma mean_of_scaled: \forall real r, o, n, m; is_mean(r, o, n) ==>
      is_mean(r, scaled(o, m), scaled(n, m));
    lemma scaled_is_zero: \forall real n, m; is_zero(scaled(n, m)) <==> is_zero(n);
  }

  // The bytes of out that hold elements from..to - 1.
  predicate results_valid{L}(struct cp_attention a, integer from, integer to) =
    \valid((char *)a.out + (row_at(from, type_size(a.out_type)) .. row_at(to,
      type_size(a.out_type)) - 1));

  // TPP-2: what element k of out must be, one of query row `row` of sequence s and of the q-th
  // query row and head of all; and that it is. Likewise lse.
  axiomatic Result {
    predicate pair_is(integer q, integer row, integer head, integer h);
    axiom pair_is_is: \forall integer q, row, head, h;
      pair_is(q, row, head, h) <==> q == row_at(row, h) + head;
    logic real result(struct cp_attention a, struct cp_plan p, integer s, integer pos, integer row,
                      integer q, integer k);
    axiom result_is: \forall struct cp_attention a, struct cp_plan p, integer s, pos, row, head, q,
      k;
      pair_is(q, row, head, a.n_heads) ==>
      result(a, p, s, pos, row, q, k) == attended(a.out_type,
        row_value(a, p, s, pos, row, head, k - row_at(q, a.value_dim)),
        row_weight(a, p, s, pos, row, head));
  }
  predicate result_ok{L}(struct cp_attention a, struct cp_plan p, integer s, integer row, integer q,
                         integer k) =
    stored((char *)a.out, a.out_type, k) == result(a, p, s, position_of(a, p, s, row), row, q, k);

  predicate lse_ok{L}(struct cp_attention a, struct cp_plan p, integer s, integer row, integer q,
                      real lse) =
    is_lse(lse, row_weight(a, p, s, position_of(a, p, s, row), row, q - row_at(row, a.n_heads)));

  // lse of a query row and head, by its place.
  axiomatic LseAt {
    logic real lse_at{L}(double *lse, integer at) reads lse[at];
    axiom lse_at_is{L}: \forall double *lse, integer at; lse_at(lse, at) == lse[at];
  }

  // The query rows and heads before the n-th of them all have their results.
  predicate out_before{L}(struct cp_attention a, struct cp_plan p, integer n) =
    \forall integer s, row, q, k; 0 <= s < p.n_sequences ==> row_of(a, s, row) ==> q < n ==>
      row_at(row, a.n_heads) <= q < row_at(row, a.n_heads) + a.n_heads ==>
      row_at(q, a.value_dim) <= k < row_at(q, a.value_dim) + a.value_dim ==>
      result_ok(a, p, s, row, q, k);
  predicate lse_before{L}(struct cp_attention a, struct cp_plan p, integer n) =
    a.lse != \null ==>
    \forall integer s, row, q; 0 <= s < p.n_sequences ==> row_of(a, s, row) ==> q < n ==>
      row_at(row, a.n_heads) <= q < row_at(row, a.n_heads) + a.n_heads ==>
      lse_ok(a, p, s, row, q, lse_at(a.lse, q));

  // How many query rows there are, with heads; out has room for them, and lse when it is asked for.
  logic integer n_results{L}(struct cp_attention a, struct cp_plan p) =
    row_at(first_row(a.query_begin, p.n_sequences), a.n_heads);
  predicate lse_valid{L}(struct cp_attention a, struct cp_plan p) =
    a.lse != \null ==> \valid(a.lse + (0 .. n_results(a, p) - 1));
  predicate results_ok{L}(struct cp_attention a, struct cp_plan p) =
    known_type(a.out_type) && results_valid(a, 0, row_at(n_results(a, p), a.value_dim)) &&
    lse_valid(a, p);

  // The workspace: states, two numbers each, then what is below. Where the parts begin; its length.
  logic struct cp_state *part_states(struct cp_attention a) = (struct cp_state *)a.workspace;
  logic double *part_sums{L}(struct cp_attention a, struct cp_plan p) =
    (double *)((struct cp_state *)a.workspace + n_partials(a, p));
  logic integer workspace_numbers{L}(struct cp_attention a, struct cp_plan p) =
    2 * n_partials(a, p) + row_at(n_partials(a, p), a.value_dim) + a.head_dim + 3 * a.value_dim;
  predicate workspace_valid{L}(struct cp_attention a, struct cp_plan p) =
    \valid((double *)a.workspace + (0 .. workspace_numbers(a, p) - 1)) &&
    workspace_numbers(a, p) <= 0x7FFFFFFFFFFFFFFF;

  // What the first phase has left in the workspace (TPP-1); what the second makes of it.
  predicate first_phase_done{L}(struct cp_attention a, struct cp_plan p) =
    keeps_shared(part_states(a), part_sums(a, p), a, p);
  predicate out_is_attention{L}(struct cp_attention a, struct cp_plan p) =
    out_before(a, p, n_results(a, p));
  predicate lse_is_attention{L}(struct cp_attention a, struct cp_plan p) =
    lse_before(a, p, n_results(a, p));

  // lse is not in the workspace.
  predicate lse_apart{L}(struct cp_attention a, struct cp_plan p) =
    a.lse != \null ==> \separated(a.lse + (0 .. n_results(a, p) - 1),
      (double *)a.workspace + (0 .. workspace_numbers(a, p) - 1));

  // What the phases use of a valid plan and of arguments that cp_attend() accepts.
  predicate phases_ok{L}(struct cp_attention a, struct cp_plan p) =
    runs_used(p) && attention_heads(a) && ranges_ok(a, p) && positions_ok(a, p) &&
    rows_countable(a, first_row(a.query_begin, p.n_sequences)) &&
    keys_countable(a, p.chunk_size, p.capacity) &&
    queries_readable(a, first_row(a.query_begin, p.n_sequences)) && keys_readable(a, p);

  // A query row and head, and the first n keys of a chunk, are ones that may be computed.
  predicate chunk_ok(struct cp_attention a, struct cp_plan p, integer row, integer head,
                     integer chunk, integer n) =
    attention_heads(a) && 0 <= row && 0 <= head < a.n_heads && 0 <= chunk < p.capacity &&
    0 <= n <= p.chunk_size <= CP_MAX_CHUNK_SIZE && rows_countable(a, row + 1) &&
    keys_countable(a, p.chunk_size, p.capacity) && query_readable(a, row, head);
*/

#endif
