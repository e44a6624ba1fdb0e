/* SPDX-License-Identifier: Apache-2.0 */
/* Chunk first: the papers' Algorithm 1 (spec/two_phase.md, TPP-1, TPP-4). */
#include "chunkproof/two_phase.h"

#include "row_chunk_internal.h"
#include "workspace_internal.h"

#ifdef __FRAMAC__
#include "proofs/logic/query_rows.h"
#endif

/* ---- One partial result ---- */

/* TPP-1: the state of the first n_keys keys of a chunk, for a query row and head, goes to partial result at, */
/*@
  requires valid: \valid_read(attention) && \valid_read(plan) && \valid_read(w);
  requires heads: attention_heads(*attention);
  requires place: 0 <= row && 0 <= head < attention->n_heads;
  requires chunk: 0 <= chunk < plan->capacity;
  requires keys: 0 <= n_keys <= plan->chunk_size <= CP_MAX_CHUNK_SIZE;
  requires countable: rows_countable(*attention, row + 1) &&
    keys_countable(*attention, plan->chunk_size, plan->capacity);
  requires query: query_readable(*attention, row, head);
  requires tpp_6: chunk_readable(*attention, plan->chunk_size, chunk, head, n_keys);
  requires workspace: workspace_ok(*w, attention->head_dim);
  requires at: 0 <= at < w->n_partials;
  assigns w->state[0 .. w->n_partials - 1],
    w->o[0 .. row_at(w->n_partials, attention->head_dim) - 1],
    w->q[0 .. attention->head_dim - 1];
  ensures ok: part_ok(part_at(w->state, w->o, attention->head_dim, at));
  ensures weight: part_weight(part_at(w->state, w->o, attention->head_dim, at)) ==
    chunk_weight(*attention, plan->chunk_size, row, head, chunk, n_keys);
  ensures sum: \forall integer j; 0 <= j < attention->head_dim ==>
    part_sum(part_at(w->state, w->o, attention->head_dim, at), j) ==
      chunk_value(*attention, plan->chunk_size, row, head, chunk, n_keys, j);
  ensures others: parts_same_but{Pre,Post}(*w, attention->head_dim, at);
*/
static void keep_part(const struct cp_attention *attention, const struct cp_plan *plan,
                      const struct workspace *w, int row, int head, int chunk, int n_keys,
                      size_t at) {
    /*@ assert end: row_at(at, attention->head_dim) + attention->head_dim <=
          row_at(w->n_partials, attention->head_dim); */
    double *o = cp_part_o(w, at, attention->head_dim);
    cp_attend_chunk(attention, plan, w->q, &w->state[at], o, row, head, chunk, n_keys);
    /*@ assert others_state: \forall integer i; 0 <= i < w->n_partials ==> i != at ==>
          w->state[i].m == \at(w->state[i].m, Pre) && w->state[i].n == \at(w->state[i].n, Pre); */
    /*@ assert others_o: \forall integer p; 0 <= p < row_at(w->n_partials, attention->head_dim) ==>
          !(row_at(at, attention->head_dim) <= p <
            row_at(at, attention->head_dim) + attention->head_dim) ==>
          w->o[p] == \at(w->o[p], Pre); */
    /*@ assert places: \forall integer i; 0 <= i < w->n_partials ==> i != at ==>
          0 <= row_at(i, attention->head_dim) &&
          row_at(i, attention->head_dim) + attention->head_dim <=
            row_at(w->n_partials, attention->head_dim) &&
          (row_at(i, attention->head_dim) + attention->head_dim <=
             row_at(at, attention->head_dim) ||
           row_at(at, attention->head_dim) + attention->head_dim <=
             row_at(i, attention->head_dim)); */
    /*@ assert others_its_o: \forall integer i, j; 0 <= i < w->n_partials ==> i != at ==>
          0 <= j < attention->head_dim ==> part_of(w->o, attention->head_dim, i)[j] ==
            \at(part_of(w->o, attention->head_dim, i)[j], Pre); */
}

/* or is merged into it. */
/*@
  requires valid: \valid_read(attention) && \valid_read(plan) && \valid_read(w);
  requires heads: attention_heads(*attention);
  requires place: 0 <= row && 0 <= head < attention->n_heads;
  requires chunk: 0 <= chunk < plan->capacity;
  requires keys: 0 <= n_keys <= plan->chunk_size <= CP_MAX_CHUNK_SIZE;
  requires countable: rows_countable(*attention, row + 1) &&
    keys_countable(*attention, plan->chunk_size, plan->capacity);
  requires query: query_readable(*attention, row, head);
  requires tpp_6: chunk_readable(*attention, plan->chunk_size, chunk, head, n_keys);
  requires workspace: workspace_ok(*w, attention->head_dim);
  requires at: 0 <= at < w->n_partials;
  requires ok: part_ok(part_at(w->state, w->o, attention->head_dim, at));
  assigns w->state[0 .. w->n_partials - 1],
    w->o[0 .. row_at(w->n_partials, attention->head_dim) - 1],
    w->q[0 .. attention->head_dim - 1], w->part_o[0 .. attention->head_dim - 1];
  ensures ok: part_ok(part_at(w->state, w->o, attention->head_dim, at));
  ensures weight: part_weight(part_at(w->state, w->o, attention->head_dim, at)) == \old(part_weight(part_at(w->state, w->o, attention->head_dim, at))) +
    chunk_weight(*attention, plan->chunk_size, row, head, chunk, n_keys);
  ensures sum: \forall integer j; 0 <= j < attention->head_dim ==>
    part_sum(part_at(w->state, w->o, attention->head_dim, at), j) ==
      \old(part_sum(part_at(w->state, w->o, attention->head_dim, at), j)) +
      chunk_value(*attention, plan->chunk_size, row, head, chunk, n_keys, j);
  ensures others: parts_same_but{Pre,Post}(*w, attention->head_dim, at);
*/
static void merge_part(const struct cp_attention *attention, const struct cp_plan *plan,
                       const struct workspace *w, int row, int head, int chunk, int n_keys,
                       size_t at) {
    struct cp_state part;
    /*@ assert end: row_at(at, attention->head_dim) + attention->head_dim <=
          row_at(w->n_partials, attention->head_dim); */
    double *o = cp_part_o(w, at, attention->head_dim);
    cp_attend_chunk(attention, plan, w->q, &part, w->part_o, row, head, chunk, n_keys);
    /*@ assert before_state: w->state[at].m == \at(w->state[at].m, Pre) &&
          w->state[at].n == \at(w->state[at].n, Pre); */
    /*@ assert before_o: \forall integer j; 0 <= j < attention->head_dim ==>
          w->o[row_at(at, attention->head_dim) + j] ==
            \at(w->o[row_at(at, attention->head_dim) + j], Pre); */
    /*@ assert before_its_o: \forall integer j; 0 <= j < attention->head_dim ==>
          o[j] == \at(part_of(w->o, attention->head_dim, at)[j], Pre); */
    /*@ assert before_sum: \forall integer j; 0 <= j < attention->head_dim ==>
          state_sum(w->state[at], o[j]) ==
            \at(part_sum(part_at(w->state, w->o, attention->head_dim, at), j), Pre); */
    /*@ assert before_ok: state_ok(w->state[at], o, attention->head_dim); */
    cp_attn_reduce(&w->state[at], o, &part, w->part_o, attention->head_dim);
    /*@ assert part: \forall integer j; 0 <= j < attention->head_dim ==>
          state_sum(part, w->part_o[j]) ==
            chunk_value(*attention, plan->chunk_size, row, head, chunk, n_keys, j); */
    /*@ assert merged: \forall integer j; 0 <= j < attention->head_dim ==>
          state_sum(w->state[at], o[j]) ==
            \at(part_sum(part_at(w->state, w->o, attention->head_dim, at), j), Pre) +
              chunk_value(*attention, plan->chunk_size, row, head, chunk, n_keys, j); */
    /*@ assert others_state: \forall integer i; 0 <= i < w->n_partials ==> i != at ==>
          w->state[i].m == \at(w->state[i].m, Pre) && w->state[i].n == \at(w->state[i].n, Pre); */
    /*@ assert others_o: \forall integer p; 0 <= p < row_at(w->n_partials, attention->head_dim) ==>
          !(row_at(at, attention->head_dim) <= p <
            row_at(at, attention->head_dim) + attention->head_dim) ==>
          w->o[p] == \at(w->o[p], Pre); */
    /*@ assert places: \forall integer i; 0 <= i < w->n_partials ==> i != at ==>
          0 <= row_at(i, attention->head_dim) &&
          row_at(i, attention->head_dim) + attention->head_dim <=
            row_at(w->n_partials, attention->head_dim) &&
          (row_at(i, attention->head_dim) + attention->head_dim <=
             row_at(at, attention->head_dim) ||
           row_at(at, attention->head_dim) + attention->head_dim <=
             row_at(i, attention->head_dim)); */
    /*@ assert others_its_o: \forall integer i, j; 0 <= i < w->n_partials ==> i != at ==>
          0 <= j < attention->head_dim ==> part_of(w->o, attention->head_dim, i)[j] ==
            \at(part_of(w->o, attention->head_dim, i)[j], Pre); */
}

/* Partial result `at` becomes the state of no keys. */
/*@
  requires valid: \valid_read(attention) && \valid_read(w);
  requires heads: attention_heads(*attention);
  requires workspace: workspace_ok(*w, attention->head_dim);
  requires at: 0 <= at < w->n_partials;
  assigns w->state[0 .. w->n_partials - 1], w->o[0 .. row_at(w->n_partials, attention->head_dim) - 1];
  ensures ok: part_ok(part_at(w->state, w->o, attention->head_dim, at));
  ensures weight: part_weight(part_at(w->state, w->o, attention->head_dim, at)) == 0.0;
  ensures sum: \forall integer j; 0 <= j < attention->head_dim ==>
    part_sum(part_at(w->state, w->o, attention->head_dim, at), j) == 0.0;
  ensures others: parts_same_but{Pre,Post}(*w, attention->head_dim, at);
*/
static void empty_part(const struct cp_attention *attention, const struct workspace *w, size_t at) {
    /*@ assert end: row_at(at, attention->head_dim) + attention->head_dim <=
          row_at(w->n_partials, attention->head_dim); */
    double *o = cp_part_o(w, at, attention->head_dim);
    cp_state_empty(&w->state[at], o, attention->head_dim);
    /*@ assert others_state: \forall integer i; 0 <= i < w->n_partials ==> i != at ==>
          w->state[i].m == \at(w->state[i].m, Pre) && w->state[i].n == \at(w->state[i].n, Pre); */
    /*@ assert others_o: \forall integer p; 0 <= p < row_at(w->n_partials, attention->head_dim) ==>
          !(row_at(at, attention->head_dim) <= p <
            row_at(at, attention->head_dim) + attention->head_dim) ==>
          w->o[p] == \at(w->o[p], Pre); */
    /*@ assert places: \forall integer i; 0 <= i < w->n_partials ==> i != at ==>
          0 <= row_at(i, attention->head_dim) &&
          row_at(i, attention->head_dim) + attention->head_dim <=
            row_at(w->n_partials, attention->head_dim) &&
          (row_at(i, attention->head_dim) + attention->head_dim <=
             row_at(at, attention->head_dim) ||
           row_at(at, attention->head_dim) + attention->head_dim <=
             row_at(i, attention->head_dim)); */
    /*@ assert others_its_o: \forall integer i, j; 0 <= i < w->n_partials ==> i != at ==>
          0 <= j < attention->head_dim ==> part_of(w->o, attention->head_dim, i)[j] ==
            \at(part_of(w->o, attention->head_dim, i)[j], Pre); */
}

/* How many keys of the chunk of descriptor i a query row of sequence s sees. */
/*@
  requires valid: \valid_read(attention) && \valid_read(plan);
  requires ok: phases_ok(*attention, *plan);
  requires descriptor: 0 <= i < plan->n_shared && plan_serves(*plan, i, s);
  requires row: row_of(*attention, s, row);
  assigns \nothing;
  ensures prefill_4: \result == keys_seen_in(position_of(*attention, *plan, s, row),
    plan->shared[i].position, plan->shared[i].n_tokens);
  ensures own: 0 <= \result <= plan->shared[i].n_tokens <= plan->chunk_size;
*/
static int shared_keys(const struct cp_attention *attention, const struct cp_plan *plan, int i,
                       int s, int row) {
    /*@ assert descriptor: plan_descriptor(*plan, i); */
    /*@ assert path: plan_row_path(*plan, s) && plan_row_length(*plan, s); */
    /*@ assert tokens: plan->row[s].n_tokens <= key_at(CP_MAX_DEPTH, plan->chunk_size); */
    int visible = cp_visible_keys(attention, plan, s, row);
    return cp_keys_in_chunk(visible, plan->shared[i].position, plan->shared[i].n_tokens);
}

/* ---- CP_BUFFERED: each partial result has its place ---- */

/* The shared chunk of descriptor i and a query row of sequence s, all heads (TPP-1): to row part_row of the
 * partial results. Those before it are there. */
/*@
  requires valid: \valid_read(attention) && \valid_read(plan) && \valid_read(w);
  requires phases: phases_ok(*attention, *plan);
  requires workspace: workspace_ok(*w, attention->head_dim);
  requires partials: w->n_partials == n_partials(*attention, *plan);
  requires variant: attention->variant != CP_MERGE_AT_ONCE;
  requires descriptor: 0 <= i < plan->n_shared && plan_serves(*plan, i, s);
  requires row: row_of(*attention, s, row);
  requires place: part_row == row + rows_before(*attention, *plan, i);
  requires before: kept_before(w->state, w->o, *attention, *plan, row_at(part_row, attention->n_heads));
  assigns w->state[0 .. w->n_partials - 1],
    w->o[0 .. row_at(w->n_partials, attention->head_dim) - 1],
    w->q[0 .. attention->head_dim - 1];
  ensures tpp_1: kept_before(w->state, w->o, *attention, *plan, row_at(part_row + 1, attention->n_heads));
*/
static void keep_row(const struct cp_attention *attention, const struct cp_plan *plan,
                     const struct workspace *w, int i, int s, int row, size_t part_row) {
    /*@ assert place: row_at(part_row, attention->n_heads) ==
          place(row, rows_before(*attention, *plan, i), attention->n_heads); */
    /*@ ghost row_is_inside(attention, plan, s, row, 0); */
    /*@ ghost one_place(attention, plan, i, s, row, 0); */
    /*@ assert end: row_at(part_row, attention->n_heads) + attention->n_heads ==
          row_at(part_row + 1, attention->n_heads) <= w->n_partials; */
    int n_keys = shared_keys(attention, plan, i, s, row);
    size_t first = cp_row_begin(part_row, attention->n_heads);
    /*@
      loop invariant head: 0 <= head <= attention->n_heads;
      loop invariant tpp_1: kept_before(w->state, w->o, *attention, *plan, first + head);
      loop assigns head, w->state[0 .. w->n_partials - 1],
        w->o[0 .. row_at(w->n_partials, attention->head_dim) - 1],
        w->q[0 .. attention->head_dim - 1];
      loop variant attention->n_heads - head;
    */
    for (int head = 0; head < attention->n_heads; head++) {
        size_t at = first + (size_t)head;
        /*@ ghost one_place(attention, plan, i, s, row, head); */
        /*@ ghost may_be_read(attention, plan, i, s, row, head, n_keys); */
        keep_part(attention, plan, w, row, head, plan->shared[i].chunk, n_keys, at);
        /*@ assert now: kept_chunk(part_at(w->state, w->o, attention->head_dim, at), *attention, *plan, i,
              position_of(*attention, *plan, s, row), row, rows_before(*attention, *plan, i), at); */
        /*@ assert earlier: kept_before(w->state, w->o, *attention, *plan, at); */
    }
}

/* All query rows of the sequences that descriptor i serves: to the rows of partial results from part_row on. */
/*@
  requires valid: \valid_read(attention) && \valid_read(plan) && \valid_read(w);
  requires phases: phases_ok(*attention, *plan);
  requires workspace: workspace_ok(*w, attention->head_dim);
  requires partials: w->n_partials == n_partials(*attention, *plan);
  requires variant: attention->variant != CP_MERGE_AT_ONCE;
  requires descriptor: 0 <= i < plan->n_shared;
  requires place: part_row == part_row(attention->query_begin, *plan, i);
  requires before: kept_before(w->state, w->o, *attention, *plan, row_at(part_row, attention->n_heads));
  assigns w->state[0 .. w->n_partials - 1],
    w->o[0 .. row_at(w->n_partials, attention->head_dim) - 1],
    w->q[0 .. attention->head_dim - 1];
  ensures tpp_1: kept_before(w->state, w->o, *attention, *plan,
    row_at(part_row(attention->query_begin, *plan, i + 1), attention->n_heads));
*/
static void keep_descriptor(const struct cp_attention *attention, const struct cp_plan *plan,
                            const struct workspace *w, int i, size_t part_row) {
    /*@ ghost part_rows_rise(attention, plan); */
    /*@ assert descriptor: plan_descriptor(*plan, i); */
    /*@
      loop invariant s: plan->shared[i].begin <= s <= plan->shared[i].end;
      loop invariant place:
        part_row == first_row(attention->query_begin, s) + rows_before(*attention, *plan, i);
      loop invariant tpp_1: kept_before(w->state, w->o, *attention, *plan, row_at(part_row, attention->n_heads));
      loop assigns s, part_row, w->state[0 .. w->n_partials - 1],
        w->o[0 .. row_at(w->n_partials, attention->head_dim) - 1],
        w->q[0 .. attention->head_dim - 1];
      loop variant plan->shared[i].end - s;
    */
    for (int s = plan->shared[i].begin; s < plan->shared[i].end; s++) {
        int end = cp_first_row(attention, s + 1);
        /*@
          loop invariant row: first_row(attention->query_begin, s) <= row <= end;
          loop invariant place: part_row == row + rows_before(*attention, *plan, i);
          loop invariant tpp_1: kept_before(w->state, w->o, *attention, *plan, row_at(part_row, attention->n_heads));
          loop assigns row, part_row, w->state[0 .. w->n_partials - 1],
            w->o[0 .. row_at(w->n_partials, attention->head_dim) - 1],
            w->q[0 .. attention->head_dim - 1];
          loop variant end - row;
        */
        for (int row = cp_first_row(attention, s); row < end; row++) {
            keep_row(attention, plan, w, i, s, row, part_row);
            part_row++;
        }
    }
}

/* TPP-1 */
/*@
  requires valid: \valid_read(attention) && \valid_read(plan) && \valid_read(w);
  requires phases: phases_ok(*attention, *plan);
  requires workspace: workspace_ok(*w, attention->head_dim);
  requires partials: w->n_partials == n_partials(*attention, *plan);
  requires variant: attention->variant != CP_MERGE_AT_ONCE;
  assigns w->state[0 .. w->n_partials - 1],
    w->o[0 .. row_at(w->n_partials, attention->head_dim) - 1],
    w->q[0 .. attention->head_dim - 1];
  ensures tpp_1: kept_before(w->state, w->o, *attention, *plan, n_partials(*attention, *plan));
*/
static void keep_all(const struct cp_attention *attention, const struct cp_plan *plan,
                     const struct workspace *w) {
    size_t part_row = 0; /* this descriptor's first row of partial results */
    /*@ ghost part_rows_rise(attention, plan); */
    /*@
      loop invariant i: 0 <= i <= plan->n_shared;
      loop invariant place: part_row == part_row(attention->query_begin, *plan, i);
      loop invariant tpp_1: kept_before(w->state, w->o, *attention, *plan, row_at(part_row, attention->n_heads));
      loop assigns i, part_row, w->state[0 .. w->n_partials - 1],
        w->o[0 .. row_at(w->n_partials, attention->head_dim) - 1],
        w->q[0 .. attention->head_dim - 1];
      loop variant plan->n_shared - i;
    */
    for (int i = 0; i < plan->n_shared; i++) {
        /*@ assert descriptor: plan_descriptor(*plan, i); */
        int begin = cp_first_row(attention, plan->shared[i].begin);
        int end = cp_first_row(attention, plan->shared[i].end);
        keep_descriptor(attention, plan, w, i, part_row);
        /*@ assert covered: 0 <= end - begin &&
              end - begin == covered_rows(attention->query_begin, *plan, i); */
        part_row += (size_t)(end - begin);
    }
}

/* ---- CP_MERGE_AT_ONCE: a query row and head has one partial result for all ---- */

/* The empty state everywhere. */
/*@
  requires valid: \valid_read(attention) && \valid_read(plan) && \valid_read(w);
  requires phases: phases_ok(*attention, *plan);
  requires workspace: workspace_ok(*w, attention->head_dim);
  requires partials: w->n_partials == n_partials(*attention, *plan);
  requires variant: attention->variant == CP_MERGE_AT_ONCE;
  assigns w->state[0 .. w->n_partials - 1],
    w->o[0 .. row_at(w->n_partials, attention->head_dim) - 1],
    w->q[0 .. attention->head_dim - 1];
  ensures empty: merged_to(w->state, w->o, *attention, *plan, 0);
*/
static void empty_all(const struct cp_attention *attention, const struct cp_plan *plan,
                      const struct workspace *w) {
    (void)plan;
    /*@
      loop invariant at: 0 <= at <= w->n_partials;
      loop invariant ok: \forall integer x; 0 <= x < at ==>
        part_ok(part_at(w->state, w->o, attention->head_dim, x));
      loop invariant weight: \forall integer x; 0 <= x < at ==>
        part_weight(part_at(w->state, w->o, attention->head_dim, x)) == 0.0;
      loop invariant sum: \forall integer x, j; 0 <= x < at ==> 0 <= j < attention->head_dim ==>
        part_sum(part_at(w->state, w->o, attention->head_dim, x), j) == 0.0;
      loop assigns at, w->state[0 .. w->n_partials - 1],
        w->o[0 .. row_at(w->n_partials, attention->head_dim) - 1],
        w->q[0 .. attention->head_dim - 1];
      loop variant w->n_partials - at;
    */
    for (size_t at = 0; at < w->n_partials; at++) {
        empty_part(attention, w, at);
    }
}

/* The shared chunk of descriptor i and a query row of sequence s, all heads (TPP-4): merged into the partial
 * results of the row. */
/*@
  requires valid: \valid_read(attention) && \valid_read(plan) && \valid_read(w);
  requires phases: phases_ok(*attention, *plan);
  requires workspace: workspace_ok(*w, attention->head_dim);
  requires partials: w->n_partials == n_partials(*attention, *plan);
  requires variant: attention->variant == CP_MERGE_AT_ONCE;
  requires descriptor: 0 <= i < plan->n_shared && plan_serves(*plan, i, s);
  requires row: row_of(*attention, s, row);
  requires before: merged_before(w->state, w->o, *attention, *plan, i, row_at(row, attention->n_heads));
  assigns w->state[0 .. w->n_partials - 1],
    w->o[0 .. row_at(w->n_partials, attention->head_dim) - 1],
    w->q[0 .. attention->head_dim - 1], w->part_o[0 .. attention->head_dim - 1];
  ensures tpp_4: merged_before(w->state, w->o, *attention, *plan, i, row_at(row + 1, attention->n_heads));
*/
static void merge_row(const struct cp_attention *attention, const struct cp_plan *plan,
                      const struct workspace *w, int i, int s, int row) {
    /*@ assert descriptor: plan_descriptor(*plan, i); */
    /*@ ghost row_is_inside(attention, plan, s, row, 0); */
    int n_keys = shared_keys(attention, plan, i, s, row);
    size_t first = cp_row_begin((size_t)row, attention->n_heads);
    /*@
      loop invariant head: 0 <= head <= attention->n_heads;
      loop invariant tpp_4: merged_before(w->state, w->o, *attention, *plan, i, first + head);
      loop assigns head, w->state[0 .. w->n_partials - 1],
        w->o[0 .. row_at(w->n_partials, attention->head_dim) - 1],
        w->q[0 .. attention->head_dim - 1], w->part_o[0 .. attention->head_dim - 1];
      loop variant attention->n_heads - head;
    */
    for (int head = 0; head < attention->n_heads; head++) {
        size_t at = first + (size_t)head;
        /*@ ghost one_row(attention, plan, s, row, head); */
        /*@ assert at: at == row_at(row, attention->n_heads) + head && at < w->n_partials; */
        /*@ assert one: \forall integer t, x; 0 <= t < plan->n_sequences ==>
              row_of(*attention, t, x) ==>
              row_at(x, attention->n_heads) <= at <
                row_at(x, attention->n_heads) + attention->n_heads ==> t == s && x == row; */
        /*@ assert its: kept_shared(part_at(w->state, w->o, attention->head_dim, at), *attention,
              *plan, s, position_of(*attention, *plan, s, row), row, i, at); */
        /*@ assert was: part_of_shared(part_at(w->state, w->o, attention->head_dim, at), *attention, *plan, s,
              position_of(*attention, *plan, s, row), row, head, i); */
        /*@ ghost may_be_read(attention, plan, i, s, row, head, n_keys); */
        merge_part(attention, plan, w, row, head, plan->shared[i].chunk, n_keys, at);
        /*@ assert now: part_of_shared(part_at(w->state, w->o, attention->head_dim, at), *attention, *plan, s,
              position_of(*attention, *plan, s, row), row, head, i + 1); */
        /*@ assert kept: kept_shared(part_at(w->state, w->o, attention->head_dim, at), *attention,
              *plan, s, position_of(*attention, *plan, s, row), row, i + 1, at); */
        /*@ assert others: \forall integer t, x, y; 0 <= t < plan->n_sequences ==>
              row_of(*attention, t, x) ==> 0 <= y < w->n_partials ==> y != at ==>
              row_at(x, attention->n_heads) <= y <
                row_at(x, attention->n_heads) + attention->n_heads ==>
              (plan_serves(*plan, i, t) && y < at ==>
                kept_shared(part_at(w->state, w->o, attention->head_dim, y), *attention, *plan, t,
                  position_of(*attention, *plan, t, x), x, i + 1, y)) &&
              (!(plan_serves(*plan, i, t) && y < at) ==>
                kept_shared(part_at(w->state, w->o, attention->head_dim, y), *attention, *plan, t,
                  position_of(*attention, *plan, t, x), x, i, y)); */
        /*@ assert this: \forall integer t, x; 0 <= t < plan->n_sequences ==>
              row_of(*attention, t, x) ==>
              row_at(x, attention->n_heads) <= at <
                row_at(x, attention->n_heads) + attention->n_heads ==>
              plan_serves(*plan, i, t) &&
              kept_shared(part_at(w->state, w->o, attention->head_dim, at), *attention, *plan, t,
                position_of(*attention, *plan, t, x), x, i + 1, at); */
        /*@ ghost merged_one_more(attention, plan, w, i, at); */
    }
}

/* All query rows of the sequences that descriptor i serves. */
/*@
  requires valid: \valid_read(attention) && \valid_read(plan) && \valid_read(w);
  requires phases: phases_ok(*attention, *plan);
  requires workspace: workspace_ok(*w, attention->head_dim);
  requires partials: w->n_partials == n_partials(*attention, *plan);
  requires variant: attention->variant == CP_MERGE_AT_ONCE;
  requires descriptor: 0 <= i < plan->n_shared;
  requires before: merged_to(w->state, w->o, *attention, *plan, i);
  assigns w->state[0 .. w->n_partials - 1],
    w->o[0 .. row_at(w->n_partials, attention->head_dim) - 1],
    w->q[0 .. attention->head_dim - 1], w->part_o[0 .. attention->head_dim - 1];
  ensures tpp_4: merged_to(w->state, w->o, *attention, *plan, i + 1);
*/
static void merge_descriptor(const struct cp_attention *attention, const struct cp_plan *plan,
                             const struct workspace *w, int i) {
    /*@ assert descriptor: plan_descriptor(*plan, i); */
    /*@ assert behind: merged_before(w->state, w->o, *attention, *plan, i,
          row_at(first_row(attention->query_begin, plan->shared[i].begin), attention->n_heads)); */
    /*@
      loop invariant s: plan->shared[i].begin <= s <= plan->shared[i].end;
      loop invariant tpp_4: merged_before(w->state, w->o, *attention, *plan, i, row_at(first_row(attention->query_begin, s), attention->n_heads));
      loop assigns s, w->state[0 .. w->n_partials - 1],
        w->o[0 .. row_at(w->n_partials, attention->head_dim) - 1],
        w->q[0 .. attention->head_dim - 1], w->part_o[0 .. attention->head_dim - 1];
      loop variant plan->shared[i].end - s;
    */
    for (int s = plan->shared[i].begin; s < plan->shared[i].end; s++) {
        int end = cp_first_row(attention, s + 1);
        /*@
          loop invariant row: first_row(attention->query_begin, s) <= row <= end;
          loop invariant tpp_4: merged_before(w->state, w->o, *attention, *plan, i, row_at(row, attention->n_heads));
          loop assigns row, w->state[0 .. w->n_partials - 1],
            w->o[0 .. row_at(w->n_partials, attention->head_dim) - 1],
            w->q[0 .. attention->head_dim - 1], w->part_o[0 .. attention->head_dim - 1];
          loop variant end - row;
        */
        for (int row = cp_first_row(attention, s); row < end; row++) {
            merge_row(attention, plan, w, i, s, row);
        }
    }
    /*@ ghost served_all(attention, plan, w, i); */
}

/* TPP-1, TPP-4 */
/*@
  requires valid: \valid_read(attention) && \valid_read(plan) && \valid_read(w);
  requires phases: phases_ok(*attention, *plan);
  requires workspace: workspace_ok(*w, attention->head_dim);
  requires partials: w->n_partials == n_partials(*attention, *plan);
  requires variant: attention->variant == CP_MERGE_AT_ONCE;
  assigns w->state[0 .. w->n_partials - 1],
    w->o[0 .. row_at(w->n_partials, attention->head_dim) - 1],
    w->q[0 .. attention->head_dim - 1], w->part_o[0 .. attention->head_dim - 1];
  ensures tpp_4: merged_to(w->state, w->o, *attention, *plan, plan->n_shared);
*/
static void merge_all(const struct cp_attention *attention, const struct cp_plan *plan,
                      const struct workspace *w) {
    empty_all(attention, plan, w);
    /*@
      loop invariant i: 0 <= i <= plan->n_shared;
      loop invariant tpp_4: merged_to(w->state, w->o, *attention, *plan, i);
      loop assigns i, w->state[0 .. w->n_partials - 1],
        w->o[0 .. row_at(w->n_partials, attention->head_dim) - 1],
        w->q[0 .. attention->head_dim - 1], w->part_o[0 .. attention->head_dim - 1];
      loop variant plan->n_shared - i;
    */
    for (int i = 0; i < plan->n_shared; i++) {
        merge_descriptor(attention, plan, w, i);
    }
}

void cp_chunk_first(const struct cp_attention *attention) {
    struct workspace w = cp_cut_workspace(attention);
    if (attention->variant == CP_MERGE_AT_ONCE) {
        merge_all(attention, attention->plan, &w);
    } else {
        keep_all(attention, attention->plan, &w);
    }
}
