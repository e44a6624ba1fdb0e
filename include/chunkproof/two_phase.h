/* SPDX-License-Identifier: Apache-2.0 */
/* The two phases (spec/two_phase.md; the papers' Algorithms 1 and 2). cp_attend() checks the
 * arguments and runs both; call them alone to look at the partial results between. */
#ifndef CHUNKPROOF_TWO_PHASE_H
#define CHUNKPROOF_TWO_PHASE_H

#include "chunkproof/attend.h"
#include "chunkproof/softmax.h"

#ifdef __cplusplus
extern "C" {
#endif

/*@
  // The score of a key, the sum of e(score) over the first n keys from row `first` of K on and that of
  // e(score) * v_i, for the query row that begins at element `at` of Q.
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
                           integer first, integer d, real scale, integer j);
    axiom query_score_is: \forall void *q, *k, integer q_type, at, type, first, d, real scale,
      integer j; query_score(q, q_type, at, k, type, first, d, scale, j) ==
        product(scale, query_dot(q, q_type, at, k, type, row_at(first + j, d), d));

    logic real query_weight(void *q, integer q_type, integer at, void *k, integer type,
                            integer first, integer d, real scale, integer n);
    axiom query_weight_0: \forall void *q, *k, integer q_type, at, type, first, d, real scale;
      query_weight(q, q_type, at, k, type, first, d, scale, 0) == 0.0;
    axiom query_weight_next: \forall void *q, *k, integer q_type, at, type, first, d, real scale,
      integer n; 0 <= n ==>
      query_weight(q, q_type, at, k, type, first, d, scale, n + 1) ==
        query_weight(q, q_type, at, k, type, first, d, scale, n) +
        e(query_score(q, q_type, at, k, type, first, d, scale, n));

    logic real query_value(void *q, integer q_type, integer at, void *k, void *v, integer type,
                           integer first, integer d, real scale, integer n, integer i);
    axiom query_value_0: \forall void *q, *k, *v, integer q_type, at, type, first, d, real scale,
      integer i; query_value(q, q_type, at, k, v, type, first, d, scale, 0, i) == 0.0;
    axiom query_value_next: \forall void *q, *k, *v, integer q_type, at, type, first, d,
      real scale, integer n, i; 0 <= n ==>
      query_value(q, q_type, at, k, v, type, first, d, scale, n + 1, i) ==
        query_value(q, q_type, at, k, v, type, first, d, scale, n, i) +
        scaled(element(v, type, row_at(first + n, d) + i),
          query_score(q, q_type, at, k, type, first, d, scale, n));
  }

  // Where a query row and head begins in Q, and in out.
  logic integer query_at(struct cp_attention a, integer row, integer head) =
    row_at(row_at(row, a.n_heads) + head, a.head_dim);

  // For a query row and head, the sum of e(score) over the first n keys of a chunk, and that of
  // e(score) * v_i (TPP-5, TPP-6).
  logic real chunk_weight(struct cp_attention a, integer c, integer row, integer head,
                          integer chunk, integer n) =
    query_weight((void *)a.q, a.q_type, query_at(a, row, head), (void *)a.k, a.kv_type,
      key_row(a, c, chunk, head), a.head_dim, a.scale, n);
  logic real chunk_value(struct cp_attention a, integer c, integer row, integer head,
                         integer chunk, integer n, integer i) =
    query_value((void *)a.q, a.q_type, query_at(a, row, head), (void *)a.k, (void *)a.v,
      a.kv_type, key_row(a, c, chunk, head), a.head_dim, a.scale, n, i);
*/

/* The workspace, N partial results and scratch:
 *
 *   struct cp_state state[N];    m and n (softmax.h) ...
 *   double o[N][d];              ... and o of each partial result
 *   double scratch[4][d];
 *
 * CP_BUFFERED: one partial result for each (shared chunk, query row that it covers, head), in that
 * order: for descriptor i of plan->shared, the query rows of its sequences from the first one on, each
 * with its h heads. A row that sees no key of the chunk has the empty state there.
 * CP_MERGE_AT_ONCE: one for each (query row, head), that of all shared chunks together.
 *
 * Both phases take arguments that cp_attend() would accept and check nothing (TPP-1, TPP-2). They are
 * sequential, so that every result has one definite value: the shared chunks are merged in the order
 * of the plan, then the sequence's own from first to last. Both variants do the same arithmetic in the
 * same order and give the same bits (TPP-4). */

/* Fills the partial results; reads neither a row's own chunks nor out and lse. */
void cp_chunk_first(const struct cp_attention *attention);

/* Reads the partial results and leaves them as they are, writes out and lse. */
void cp_sequence_first(const struct cp_attention *attention);

#ifdef __cplusplus
}
#endif

#endif
