/* SPDX-License-Identifier: Apache-2.0 */
/* A query row in Q and its copy, for ref/row_chunk.c. Each function is a lemma, its contract the
 * statement, its body the proof; a loop is an induction. Provers alone read this file. */
#ifndef CHUNKPROOF_LOGIC_ROW_CHUNK_H
#define CHUNKPROOF_LOGIC_ROW_CHUNK_H

#include "chunkproof/two_phase.h"

/* What is said of a query row in Q holds of its copy: by induction over its elements, over the
 * keys. */
/*@ ghost
  /@ requires copy: \valid_read(q + (0 .. d - 1)) && 0 <= d &&
       \forall integer i; 0 <= i < d ==> q[i] == element(query, q_type, at + i);
     assigns \nothing;
     ensures dot: \forall integer k_at;
       dot(q, k, type, k_at, d) == query_dot(query, q_type, at, k, type, k_at, d); @/
  void same_dot(const double *q, void *query, int q_type, size_t at, void *k, int type, int d) {
    /@ loop invariant i: 0 <= i <= d;
       loop invariant dot: \forall integer k_at;
         dot(q, k, type, k_at, i) == query_dot(query, q_type, at, k, type, k_at, i);
       loop assigns i;
       loop variant d - i; @/
    for (int i = 0; i < d; i++) {
      /@ assert next: \forall integer k_at; dot(q, k, type, k_at, i + 1) ==
           sum(dot(q, k, type, k_at, i), product(q[i], element(k, type, k_at + i))); @/
      /@ assert next_query: \forall integer k_at;
           query_dot(query, q_type, at, k, type, k_at, i + 1) ==
             sum(query_dot(query, q_type, at, k, type, k_at, i),
               product(element(query, q_type, at + i), element(k, type, k_at + i))); @/
    }
  }
  /@ requires copy: \valid_read(q + (0 .. d - 1)) && 0 <= d &&
       \forall integer i; 0 <= i < d ==> q[i] == element(query, q_type, at + i);
     requires n: 0 <= n;
     assigns \nothing;
     ensures weight: weight_sum(q, k, type, first, d, scale, n) ==
       query_weight(query, q_type, at, k, type, first, d, scale, n);
     ensures value: \forall integer i; value_sum(q, k, v, type, first, d, scale, n, i) ==
       query_value(query, q_type, at, k, v, type, first, d, scale, n, i); @/
  void same_sums(const double *q, void *query, int q_type, size_t at, void *k, void *v, int type,
                 size_t first, int d, double scale, int n) {
    same_dot(q, query, q_type, at, k, type, d);
    /@ assert score: \forall integer j; score(q, k, type, first, d, scale, j) ==
         query_score(query, q_type, at, k, type, first, d, scale, j); @/
    /@ loop invariant j: 0 <= j <= n;
       loop invariant weight: weight_sum(q, k, type, first, d, scale, j) ==
         query_weight(query, q_type, at, k, type, first, d, scale, j);
       loop invariant value: \forall integer i; value_sum(q, k, v, type, first, d, scale, j, i) ==
         query_value(query, q_type, at, k, v, type, first, d, scale, j, i);
       loop assigns j;
       loop variant n - j; @/
    for (int j = 0; j < n; j++) {
      /@ assert next: \forall integer i;
           value_sum(q, k, v, type, first, d, scale, j + 1, i) ==
             value_sum(q, k, v, type, first, d, scale, j, i) +
             scaled(element(v, type, row_at(first + j, d) + i),
               score(q, k, type, first, d, scale, j)); @/
      /@ assert next_query: \forall integer i;
           query_value(query, q_type, at, k, v, type, first, d, scale, j + 1, i) ==
             query_value(query, q_type, at, k, v, type, first, d, scale, j, i) +
             scaled(element(v, type, row_at(first + j, d) + i),
               query_score(query, q_type, at, k, type, first, d, scale, j)); @/
    }
  }
*/

#endif
