/* SPDX-License-Identifier: Apache-2.0 */
/* For ref/row_chunk.c: a query row in Q and its copy, heads in groups, and where the keys of a
 * chunk begin. Each function is a lemma, its contract the statement, its body the proof; a loop is
 * an induction. Provers alone read this file. */
#ifndef CHUNKPROOF_LOGIC_ROW_CHUNK_H
#define CHUNKPROOF_LOGIC_ROW_CHUNK_H

#include "chunkproof/two_phase.h"
#include "ref/softmax_internal.h"

/*@
  // The first n numbers of q are those of Q from element `at` on.
  predicate query_copied{L}(double *q, struct cp_attention a, integer at, integer n) =
    \forall integer j; 0 <= j < n ==> q[j] == element((void *)a.q, a.q_type, at + j);
*/

/* TPP-5: query heads are in groups of n_heads / n_kv_heads, one for each K/V head. */
/*@ ghost
  /@ requires heads: 1 <= n_heads && 1 <= n_kv_heads && n_heads % n_kv_heads == 0;
     requires head: 0 <= head < n_heads;
     assigns \nothing;
     ensures group: 1 <= n_heads / n_kv_heads;
     ensures below: 0 <= head / (n_heads / n_kv_heads) < n_kv_heads; @/
  void head_has_group(int n_heads, int n_kv_heads, int head) {
    int group = n_heads / n_kv_heads;
    /@ assert whole: n_heads == group * n_kv_heads; @/
    /@ assert group: 1 <= group; @/
    /@ assert below: head / group < n_kv_heads; @/
  }
*/

/* The keys of a chunk for a K/V head begin with row (chunk * n_kv_heads + kv_head) * c; those rows,
 * and their elements, can be counted. */
/*@ ghost
  /@ requires valid: \valid_read(attention) && \valid_read(plan);
     requires chunk: chunk_ok(*attention, *plan, row, head, chunk, n_keys);
     requires kv_head: kv_head == kv_head_of(*attention, head) && kv_head < attention->n_kv_heads;
     assigns \nothing;
     ensures slice: 0 <= chunk * attention->n_kv_heads == row_at(chunk, attention->n_kv_heads) &&
       row_at(chunk, attention->n_kv_heads) + attention->n_kv_heads <= 0x7FFFFFFFFFFFFFFF;
     ensures rows: 0 <= key_row(*attention, plan->chunk_size, chunk, head) &&
       key_row(*attention, plan->chunk_size, chunk, head) + plan->chunk_size <= 0x7FFFFFFFFFFFFFFF;
     ensures fit: rows_fit_of(*attention,
       key_row(*attention, plan->chunk_size, chunk, head) + n_keys); @/
  void slice_is_countable(const struct cp_attention *attention, const struct cp_plan *plan, int row,
                          int head, int chunk, int n_keys, size_t kv_head) {
    size_t slice = (size_t)chunk * (size_t)attention->n_kv_heads + kv_head;
    /@ assert slice: slice == row_at(chunk, attention->n_kv_heads) + kv_head; @/
    /@ assert next: slice + 1 <= row_at(chunk + 1, attention->n_kv_heads); @/
    /@ assert last: row_at(chunk + 1, attention->n_kv_heads) <=
         row_at(plan->capacity, attention->n_kv_heads); @/
    /@ assert rows: row_at(slice + 1, plan->chunk_size) <=
         row_at(row_at(plan->capacity, attention->n_kv_heads), plan->chunk_size); @/
    /@ assert inside: row_at(slice, plan->chunk_size) + plan->chunk_size <=
         row_at(slice + 1, plan->chunk_size); @/
    /@ assert countable: row_at(row_at(plan->capacity, attention->n_kv_heads), plan->chunk_size) <=
         0x7FFFFFFFFFFFFFFF; @/
    size_t first = slice * (size_t)plan->chunk_size;
    /@ assert first: first == key_row(*attention, plan->chunk_size, chunk, head); @/
    /@ assert end: row_at(first + n_keys, attention->head_dim) <=
         row_at(row_at(row_at(plan->capacity, attention->n_kv_heads), plan->chunk_size),
           attention->head_dim); @/
    /@ assert end_v: row_at(first + n_keys, attention->v_row) <=
         row_at(row_at(row_at(plan->capacity, attention->n_kv_heads), plan->chunk_size),
           attention->v_row); @/
  }
*/

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
     ensures weight: weight_sum(q, k, type, first, d, made_by(how), n) ==
       query_weight(query, q_type, at, k, type, first, d, made_by(how), n);
     ensures value: \forall integer i; value_sum(q, k, v, type, v_type, first, d, v_row,
         made_by(how), n, i) ==
       query_value(query, q_type, at, k, v, type, v_type, first, d, v_row, made_by(how), n, i); @/
  void same_sums(const double *q, void *query, int q_type, size_t at, void *k, void *v, int type,
                 int v_type, size_t first, int d, int v_row, struct cp_scoring how, int n) {
    same_dot(q, query, q_type, at, k, type, d);
    /@ assert score: \forall integer j; score(q, k, type, first, d, made_by(how), j) ==
         query_score(query, q_type, at, k, type, first, d, made_by(how), j); @/
    /@ loop invariant j: 0 <= j <= n;
       loop invariant weight: weight_sum(q, k, type, first, d, made_by(how), j) ==
         query_weight(query, q_type, at, k, type, first, d, made_by(how), j);
       loop invariant value: \forall integer i;
         value_sum(q, k, v, type, v_type, first, d, v_row, made_by(how), j, i) ==
         query_value(query, q_type, at, k, v, type, v_type, first, d, v_row, made_by(how), j, i);
       loop assigns j;
       loop variant n - j; @/
    for (int j = 0; j < n; j++) {
      /@ assert next: \forall integer i;
           value_sum(q, k, v, type, v_type, first, d, v_row, made_by(how), j + 1, i) ==
             value_sum(q, k, v, type, v_type, first, d, v_row, made_by(how), j, i) +
             scaled(product(value_scale(made_by(how), j),
                 element(v, v_type, row_at(first + j, v_row) + i)),
               score(q, k, type, first, d, made_by(how), j)); @/
      /@ assert next_query: \forall integer i;
           query_value(query, q_type, at, k, v, type, v_type, first, d, v_row, made_by(how), j + 1,
               i) ==
             query_value(query, q_type, at, k, v, type, v_type, first, d, v_row, made_by(how), j,
               i) +
             scaled(product(value_scale(made_by(how), j),
                 element(v, v_type, row_at(first + j, v_row) + i)),
               query_score(query, q_type, at, k, type, first, d, made_by(how), j)); @/
    }
  }
  /@ requires valid: \valid_read(attention) && 0 <= attention->head_dim;
     requires copy: \valid_read(q + (0 .. attention->head_dim - 1)) &&
       query_copied(q, *attention, at, attention->head_dim);
     requires n: 0 <= n;
     assigns \nothing;
     ensures weight: weight_sum(q, (void *)attention->k, attention->k_type, first,
         attention->head_dim, made_by(how), n) ==
       query_weight((void *)attention->q, attention->q_type, at, (void *)attention->k,
         attention->k_type, first, attention->head_dim, made_by(how), n);
     ensures value: \forall integer i; value_sum(q, (void *)attention->k, (void *)attention->v,
         attention->k_type, attention->v_type, first, attention->head_dim, attention->v_row,
         made_by(how), n, i) ==
       query_value((void *)attention->q, attention->q_type, at, (void *)attention->k,
         (void *)attention->v, attention->k_type, attention->v_type, first,
         attention->head_dim, attention->v_row, made_by(how), n, i); @/
  void same_sums_of(const struct cp_attention *attention, const double *q, size_t at, size_t first,
                    struct cp_scoring how, int n) {
    same_sums(q, (void *)attention->q, attention->q_type, at, (void *)attention->k,
              (void *)attention->v, attention->k_type, attention->v_type, first,
              attention->head_dim, attention->v_row, how, n);
  }
*/

#endif
