/* SPDX-License-Identifier: Apache-2.0 */
/* The state of a query row and head (spec/two_phase.md, TPP-2). Sequence first collects it in four
 * steps:
 *
 *   1. the state of no keys;
 *   2. merge what chunk first has left for the row: one partial result (CP_MERGE_AT_ONCE), or one
 *      of each descriptor that serves the sequence, in the order of the plan (CP_BUFFERED);
 *   3. compute the chunks that the sequence has alone, from first to last, and merge each;
 *   4. merge the sink of the head, if there is one.
 *
 * In the example of chunk_first.c, h is 2. Query row 1 and head 1 have place 1 * h + 1 = 3 where
 * chunks were merged at once. Where each descriptor has places of its own, those of descriptor 0
 * begin with row 0, and those of descriptor 1 with row 3. So they have places (0 + 1) * h + 1 = 3
 * and (3 + 1) * h + 1 = 9. The path of sequence 1 is 0, 1, 3, of which it has chunk 3 alone. */
#include "row_state_internal.h"

#include "chunkproof/softmax.h"
#include "number_internal.h"
#include "row_chunk_internal.h"

#ifdef __FRAMAC__
#include "proofs/logic/row_state.h"
#endif

void cp_row_empty(const struct cp_attention *attention, const struct workspace *w,
                  struct cp_state *state) {
    cp_state_empty(state, w->row_o, attention->value_dim);
}

/* Merges partial result `at` into the state of a row. */
/*@
  requires valid: \valid(state) && \valid_read(attention) && \valid_read(w);
  requires heads: attention_heads(*attention);
  requires workspace: workspace_ok(*w, attention->head_dim, attention->value_dim);
  requires at: 0 <= at < w->n_partials;
  requires ok: state_ok(*state, w->row_o, attention->value_dim) &&
    part_ok(part_at(w->state, w->o, attention->value_dim, at));
  assigns *state, VALUES(attention, w->row_o);
  ensures ok: state_ok(*state, w->row_o, attention->value_dim);
  ensures weight: state_weight(*state) == \old(state_weight(*state)) +
    part_weight(part_at(w->state, w->o, attention->value_dim, at));
  ensures sum: \forall integer j; 0 <= j < attention->value_dim ==>
    state_sum(*state, w->row_o[j]) == state_sum(\old(*state), \old(w->row_o[j])) +
      part_sum(part_at(w->state, w->o, attention->value_dim, at), j);
  ensures kept: parts_same{Pre,Post}(*w, attention->value_dim);
*/
static void merge_kept(const struct cp_attention *attention, const struct workspace *w, size_t at,
                       struct cp_state *state) {
    //@ assert places: parts_inside(*w, attention->value_dim);
    double *o = cp_part_o(w, at, attention->value_dim);
    cp_attn_reduce(state, w->row_o, &w->state[at], o, attention->value_dim);
    //@ assert kept_its_o: sums_same{Pre,Here}(*w, attention->value_dim);
}

/* Computes the keys seen of a chunk and merges them into the state of a row. */
/*@
  requires valid: \valid(state) && \valid_read(attention) && \valid_read(plan) && \valid_read(w);
  requires chunk: chunk_ok(*attention, *plan, row, head, chunk, seen.end) &&
    seen_ordered(seen, plan->chunk_size);
  requires tpp_6: chunk_readable(*attention, plan->chunk_size, chunk, head, seen.end);
  requires workspace: workspace_ok(*w, attention->head_dim, attention->value_dim);
  requires ok: state_ok(*state, w->row_o, attention->value_dim);
  assigns *state, VALUES(attention, w->row_o), NUMBERS(attention, w->q),
    VALUES(attention, w->part_o), VALUES(attention, w->out);
  ensures ok: state_ok(*state, w->row_o, attention->value_dim);
  ensures weight: state_weight(*state) == \old(state_weight(*state)) +
    seen_weight(*attention, plan->chunk_size, row, head, chunk, seen);
  ensures sum: \forall integer j; 0 <= j < attention->value_dim ==>
    state_sum(*state, w->row_o[j]) == state_sum(\old(*state), \old(w->row_o[j])) +
      seen_value(*attention, plan->chunk_size, row, head, chunk, seen, j);
  ensures kept: parts_same{Pre,Post}(*w, attention->value_dim);
*/
static void merge_chunk(const struct cp_attention *attention, const struct cp_plan *plan,
                        const struct workspace *w, int row, int head, int chunk,
                        struct cp_seen seen, struct cp_state *state) {
    struct cp_state part;
    //@ assert places: parts_inside(*w, attention->value_dim);
    cp_attend_chunk(attention, plan, w->q, w->out, &part, w->part_o, row, head, chunk, seen);
    //@ assert before: numbers_same{Pre,Here}(w->row_o, attention->value_dim);
    cp_attn_reduce(state, w->row_o, &part, w->part_o, attention->value_dim);
    //@ assert part: chunk_sums(part, w->part_o, *attention, *plan, row, head, chunk, seen);
    //@ assert kept_state: states_same{Pre,Here}(*w);
    //@ assert kept_its_o: sums_same{Pre,Here}(*w, attention->value_dim);
}

void cp_row_merge_own(const struct cp_attention *attention, const struct cp_plan *plan,
                      const struct workspace *w, int s, int row, int head, struct cp_state *state) {
    //@ ghost row_is_countable(attention, plan, s, row);
    int p = cp_position_of_row(attention, plan, s, row);
    /*@ loop invariant k: plan->sequence[s].n_shared <= k <= plan->sequence[s].n_chunks;
        loop invariant tpp_2: own_sums{Pre,Here}(*attention, *plan, s, row, head, k,
          \at(*state, Pre), *state, w->row_o);
        loop invariant kept: parts_same{Pre,Here}(*w, attention->value_dim);
        loop assigns k, *state, VALUES(attention, w->row_o), NUMBERS(attention, w->q),
          VALUES(attention, w->part_o), VALUES(attention, w->out);
        loop variant plan->sequence[s].n_chunks - k; */
    for (int k = plan->sequence[s].n_shared; k < plan->sequence[s].n_chunks; k++) {
        //@ ghost own_run(plan, s, k);
        int chunk = plan->sequence[s].run[k].chunk;
        struct cp_seen seen = cp_seen_of(attention, p, plan->sequence[s].run[k].position,
                                         plan->sequence[s].run[k].n_tokens);
        //@ ghost own_may_be_read(attention, plan, s, row, k, head, seen);
        merge_chunk(attention, plan, w, row, head, chunk, seen, state);
    }
}

/* CP_MERGE_AT_ONCE: merges the one partial result of a query row and head. */
/*@
  requires valid: \valid(state) && \valid_read(attention) && \valid_read(w);
  requires heads: attention_heads(*attention);
  requires row: 0 <= row && 0 <= head < attention->n_heads;
  requires workspace: workspace_ok(*w, attention->head_dim, attention->value_dim);
  requires room: row_at(row, attention->n_heads) + attention->n_heads <= w->n_partials;
  requires ok: state_ok(*state, w->row_o, attention->value_dim) &&
    part_ok(part_at{Pre}(w->state, w->o, attention->value_dim,
      row_at(row, attention->n_heads) + head));
  assigns *state, VALUES(attention, w->row_o);
  ensures ok: state_ok(*state, w->row_o, attention->value_dim);
  ensures weight: \forall struct cp_plan p, integer s, pos, n;
    part_of_shared(part_at{Pre}(w->state, w->o, attention->value_dim,
      row_at(row, attention->n_heads) + head),
      *attention, p, s, pos, row, head, n) ==>
    state_weight(*state) == \old(state_weight(*state)) +
      shared_weight(*attention, p, s, pos, row, head, n);
  ensures sum: \forall struct cp_plan p, integer s, pos, n, integer j;
    part_of_shared(part_at{Pre}(w->state, w->o, attention->value_dim,
      row_at(row, attention->n_heads) + head),
      *attention, p, s, pos, row, head, n) ==>
    0 <= j < attention->value_dim ==>
    state_sum(*state, w->row_o[j]) == state_sum(\old(*state), \old(w->row_o[j])) +
      shared_value(*attention, p, s, pos, row, head, n, j);
  ensures kept: parts_same{Pre,Post}(*w, attention->value_dim);
*/
static void merge_merged(const struct cp_attention *attention, const struct workspace *w, int row,
                         int head, struct cp_state *state) {
    //@ ghost pair_is_countable(row, head, attention->n_heads, attention->value_dim);
    size_t at = cp_row_begin((size_t)row, attention->n_heads) + (size_t)head;
    //@ assert at: at == row_at(row, attention->n_heads) + head;
    merge_kept(attention, w, at, state);
}

/* The entry of the list at which descriptor i serves sequence s; the end of its range when it does
 * not. */
/*@
  requires valid: \valid_read(plan);
  requires list: 0 <= i < CP_MAX_CHUNKS && runs_sizes(*plan) && runs_served(*plan, i);
  assigns \nothing;
  ensures serves: runs_serves(*plan, i, s) ==>
    has_entry(*plan, i, \result) && plan->served[\result] == s;
  ensures other: !runs_serves(*plan, i, s) ==> \result == plan->shared[i].end;
*/
static int entry_of(const struct cp_plan *plan, int i, int s) {
    int at = plan->shared[i].begin;
    /*@ loop invariant at: plan->shared[i].begin <= at <= plan->shared[i].end;
        loop invariant others: !served_before(*plan, i, at, s);
        loop assigns at; loop variant plan->shared[i].end - at; */
    while (at < plan->shared[i].end && plan->served[at] != s) {
        at++;
    }
    return at;
}

/* CP_BUFFERED: merges the partial result of descriptor i for a query row of the sequence at entry
 * `at` of its list, and a head. The partial results of descriptor i begin with row `first`. */
/*@
  requires valid: \valid(state) && \valid_read(attention) && \valid_read(plan) && \valid_read(w);
  requires phase: phase_ready(*attention, *plan, *w);
  requires variant: attention->variant != CP_MERGE_AT_ONCE;
  requires descriptor: 0 <= i < plan->n_shared;
  requires row: has_entry(*plan, i, at) && row_of(*attention, plan->served[at], row) &&
    0 <= head < attention->n_heads;
  requires first: first == part_row(attention->query_begin, *plan, i);
  requires ok: state_ok(*state, w->row_o, attention->value_dim) &&
    part_ok(kept_part{Pre}(*w, *attention, *plan, i, at, row, head));
  assigns *state, VALUES(attention, w->row_o);
  ensures ok: state_ok(*state, w->row_o, attention->value_dim);
  ensures weight: \forall integer pos;
    part_of_chunk(kept_part{Pre}(*w, *attention, *plan, i, at, row, head),
      *attention, *plan, i, pos, row, head) ==>
    state_weight(*state) == \old(state_weight(*state)) +
      shared_chunk_weight(*attention, *plan, i, pos, row, head);
  ensures sum: \forall integer pos, integer j;
    part_of_chunk(kept_part{Pre}(*w, *attention, *plan, i, at, row, head),
      *attention, *plan, i, pos, row, head) ==>
    0 <= j < attention->value_dim ==>
    state_sum(*state, w->row_o[j]) == state_sum(\old(*state), \old(w->row_o[j])) +
      shared_chunk_value(*attention, *plan, i, pos, row, head, j);
  ensures kept: parts_same{Pre,Post}(*w, attention->value_dim);
*/
static void merge_descriptor(const struct cp_attention *attention, const struct cp_plan *plan,
                             const struct workspace *w, int i, int at, int row, int head,
                             size_t first, struct cp_state *state) {
    //@ ghost descriptor_rows(attention, plan, i);
    //@ ghost one_place(attention, plan, i, at, row, head);
    int s = plan->served[at];
    size_t earlier = cp_rows_served(attention, plan, plan->shared[i].begin, at);
    size_t part_row = first + earlier + (size_t)(row - cp_first_row(attention, s));
    //@ assert part_row: part_row == row + rows_before(*attention, *plan, i, at);
    //@ assert below: part_row + 1 <= part_row(attention->query_begin, *plan, plan->n_shared);
    /*@ assert partials: w->n_partials ==
          row_at(part_row(attention->query_begin, *plan, plan->n_shared), attention->n_heads); */
    //@ assert inside: row_at(part_row, attention->n_heads) + attention->n_heads <= w->n_partials;
    size_t place = cp_row_begin(part_row, attention->n_heads) + (size_t)head;
    //@ assert place: place == kept_place(*attention, *plan, i, at, row, head);
    merge_kept(attention, w, place, state);
}

void cp_row_merge_shared(const struct cp_attention *attention, const struct cp_plan *plan,
                         const struct workspace *w, int s, int row, int head,
                         struct cp_state *state) {
    size_t first = 0; /* this descriptor's first row of partial results, counted in rows */
    if (attention->variant == CP_MERGE_AT_ONCE) {
        //@ ghost merged_is_kept(attention, plan, w, s, row, head);
        merge_merged(attention, w, row, head, state);
        return;
    }
    /*@ loop invariant i: 0 <= i <= plan->n_shared;
        loop invariant first: first == part_row(attention->query_begin, *plan, i);
        loop invariant tpp_2: shared_sums(*attention, *plan, s, row, head, i, *state, w->row_o);
        loop invariant kept: parts_same{Pre,Here}(*w, attention->value_dim);
        loop assigns i, first, *state, VALUES(attention, w->row_o);
        loop variant plan->n_shared - i; */
    for (int i = 0; i < plan->n_shared; i++) {
        //@ ghost descriptor_rows(attention, plan, i);
        int at = entry_of(plan, i, s), end = plan->shared[i].end;
        //@ ghost shared_sums_next(attention, plan, s, row, head, i);
        if (at < end) {
            //@ ghost chunk_is_kept(attention, plan, w, i, at, row, head);
            //@ assert same: kept_part_same{Pre,Here}(*w, *attention, *plan, i, at, row, head);
            merge_descriptor(attention, plan, w, i, at, row, head, first, state);
        }
        first += cp_rows_served(attention, plan, plan->shared[i].begin, end);
    }
}

void cp_row_merge_sink(const struct cp_attention *attention, const struct workspace *w, int head,
                       struct cp_state *state) {
    struct cp_state sink;
    if (attention->scores.sinks == NULL) {
        return;
    }
    //@ assert places: parts_inside(*w, attention->value_dim);
    cp_state_empty(&sink, w->part_o, attention->value_dim);
    sink.m = cp_double_load(attention->scores.sinks, (size_t)head);
    sink.n = 1.0;
    //@ assert sink: state_weight(sink) == sink_weight(*attention, head);
    //@ assert before: numbers_same{Pre,Here}(w->row_o, attention->value_dim);
    cp_attn_reduce(state, w->row_o, &sink, w->part_o, attention->value_dim);
    /*@ assert zeros: \forall integer j; 0 <= j < attention->value_dim ==>
          state_sum(sink, w->part_o[j]) == 0.0; */
    //@ assert kept_state: states_same{Pre,Here}(*w);
    //@ assert kept_its_o: sums_same{Pre,Here}(*w, attention->value_dim);
}
