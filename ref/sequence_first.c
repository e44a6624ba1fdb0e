/* SPDX-License-Identifier: Apache-2.0 */
/* Sequence first: the papers' Algorithm 2 (spec/two_phase.md, TPP-2). For each sequence, query row
 * and head in turn:
 *
 *   1. the state of no keys;
 *   2. merge the shared chunks, which chunk first has computed;
 *   3. compute the sequence's own chunks and merge them;
 *   4. merge the head's sink, once, if there is one;
 *   5. divide: out = o / n, lse = m + log n.
 *
 * An example, d = 1 and scale 1: a shared chunk with scores 0, ln 2 and values 3, 6; an own chunk
 * with score ln 4 and value 12.
 *
 *   step                         m      n                      o
 *   1                            0      0                      0
 *   2  shared chunk              ln 2   1/2 + 1 = 1.5          1/2 * 3 + 6 = 7.5
 *   3  own chunk alone           ln 4   1                      12
 *      merged (softmax.c)        ln 4   1.5 * 1/2 + 1 = 1.75   7.5 * 1/2 + 12 = 15.75
 *   5  out = 15.75 / 1.75 = 9,   lse = ln 4 + ln 1.75 = ln 7
 *
 * The formula says the same: weights 1, 2, 4 of values 3, 6, 12 give (3 + 12 + 48) / 7 = 9. */
#include "chunkproof/two_phase.h"

#include "row_state_internal.h"
#include "workspace_internal.h"

#include "chunkproof/number.h"
#include "chunkproof/softmax.h"

#ifdef __FRAMAC__
#include "proofs/logic/sequence_first.h"
#endif

/* ---- One query row and head ---- */

/* Writes d_v numbers to elements at, at + 1, ... of out. */
/*@
  requires valid: \valid_read(attention) && \valid_read(number + (0 .. attention->value_dim - 1));
  requires size: 0 <= attention->value_dim && known_type(attention->out_type);
  requires countable: at + attention->value_dim <= 0x7FFFFFFFFFFFFFFF;
  requires room: results_valid(*attention, at, at + attention->value_dim);
  assigns OUT_BYTES(attention, at, at + attention->value_dim);
  ensures stored: \forall integer k; at <= k < at + attention->value_dim ==>
    stored((char *)attention->out, attention->out_type, k) ==
      rounded(attention->out_type, number[k - at]);
  ensures others: \forall integer k; !(at <= k < at + attention->value_dim) ==>
    stored((char *)attention->out, attention->out_type, k) ==
      \old(stored((char *)attention->out, attention->out_type, k));
*/
static void store_row(const struct cp_attention *attention, size_t at, const double *number) {
    /*@ loop invariant i: 0 <= i <= attention->value_dim;
        loop invariant stored: out_stored{Pre,Here}((char *)attention->out, attention->out_type, at,
          i, number);
        loop assigns i, OUT_BYTES(attention, at, at + attention->value_dim);
        loop variant attention->value_dim - i; */
    for (int i = 0; i < attention->value_dim; i++) {
        size_t place = at + (size_t)i;
        //@ assert place: place == at + i;
        cp_number_store(attention->out, attention->out_type, place, number[i]);
        /*@ assert one: stored((char *)attention->out, attention->out_type, at + i) ==
              rounded(attention->out_type, number[i]); */
        /*@ assert before: \forall integer k; at <= k < at + i ==>
              stored((char *)attention->out, attention->out_type, k) ==
                rounded(attention->out_type, number[k - at]); */
        /*@ assert others: \forall integer k; !(at <= k < at + i + 1) ==>
              stored((char *)attention->out, attention->out_type, k) ==
                \at(stored((char *)attention->out, attention->out_type, k), Pre); */
    }
}

/* MERGE-7: writes the log-sum-exp of a query row and head when the caller asks for it. */
/*@
  requires valid: \valid_read(attention) && \valid_read(w);
  requires heads: attention_heads(*attention);
  requires place: 0 <= row && 0 <= head < attention->n_heads;
  requires countable: rows_countable(*attention, row + 1);
  requires workspace: workspace_ok(*w, attention->head_dim, attention->value_dim);
  requires room: lse_has_room(*attention, row, head);
  requires apart: lse_apart_from_parts(*attention, *w, row, head);
  assigns attention->lse[row_at(row, attention->n_heads) + head];
  ensures merge_7: attention->lse != \null ==>
    attention->lse[row_at(row, attention->n_heads) + head] == lse;
  ensures kept: parts_same{Pre,Post}(*w, attention->value_dim);
*/
static void store_lse(const struct cp_attention *attention, int row, int head, double lse)
/*@ ghost (const struct workspace *w) */ {
    if (attention->lse != NULL) {
        //@ assert places: parts_inside(*w, attention->value_dim);
        //@ ghost pair_is_countable(row, head, attention->n_heads, attention->value_dim);
        size_t place = cp_row_begin((size_t)row, attention->n_heads) + (size_t)head;
        //@ assert place: place == row_at(row, attention->n_heads) + head;
        attention->lse[place] = lse;
        //@ assert kept_state: states_same{Pre,Here}(*w);
        //@ assert kept_its_o: sums_same{Pre,Here}(*w, attention->value_dim);
    }
}

/* MERGE-6, MERGE-7: divides the state of a query row and head, and writes out and lse. */
/*@
  requires valid: \valid_read(attention) && \valid_read(state) && \valid_read(w);
  requires heads: attention_heads(*attention) && known_type(attention->out_type);
  requires place: 0 <= row && 0 <= head < attention->n_heads;
  requires countable: rows_countable(*attention, row + 1);
  requires workspace: workspace_ok(*w, attention->head_dim, attention->value_dim);
  requires room: results_valid(*attention, out_at(*attention, row, head),
    out_at(*attention, row, head) + attention->value_dim);
  requires room_lse: lse_has_room(*attention, row, head);
  requires apart: lse_apart_from_parts(*attention, *w, row, head);
  requires ok: state_ok(*state, w->row_o, attention->value_dim);
  assigns VALUES(attention, w->out), attention->lse[row_at(row, attention->n_heads) + head],
    OUT_BYTES(attention, out_at(*attention, row, head),
      out_at(*attention, row, head) + attention->value_dim);
  ensures merge_6: \forall integer k;
    out_at(*attention, row, head) <= k <
      out_at(*attention, row, head) + attention->value_dim ==>
    stored((char *)attention->out, attention->out_type, k) == attended(attention->out_type,
      \old(state_sum(*state, w->row_o[k - out_at(*attention, row, head)])),
      \old(state_weight(*state)));
  ensures merge_7: attention->lse != \null ==>
    is_lse(attention->lse[row_at(row, attention->n_heads) + head], \old(state_weight(*state)));
  ensures others: \forall integer k; !(out_at(*attention, row, head) <= k <
      out_at(*attention, row, head) + attention->value_dim) ==>
    stored((char *)attention->out, attention->out_type, k) ==
      \old(stored((char *)attention->out, attention->out_type, k));
  ensures kept: parts_same{Pre,Post}(*w, attention->value_dim);
*/
static void finish_row(const struct cp_attention *attention, const struct workspace *w, int row,
                       int head, const struct cp_state *state) {
    //@ assert places: parts_inside(*w, attention->value_dim);
    size_t at = cp_row_offset(attention, row, head, attention->value_dim);
    //@ assert at: at == out_at(*attention, row, head);
    double lse = cp_finish(state, w->row_o, w->out, attention->value_dim);
    //@ assert kept_yet: parts_same{Pre,Here}(*w, attention->value_dim);
    //@ assert row_o: numbers_same{Pre,Here}(w->row_o, attention->value_dim);
    //@ ghost same_means(w->out, w->row_o, state->n, state->m, attention->value_dim);
    //@ assert mean: means_stored_of{Pre,Here}(*attention, *w, *state);
    store_row(attention, at, w->out);
    //@ assert kept_state: states_same{Pre,Here}(*w);
    //@ assert kept_its_o: sums_same{Pre,Here}(*w, attention->value_dim);
    //@ assert kept: parts_same{Pre,Here}(*w, attention->value_dim);
    //@ assert stored: means_are_stored{Pre,Here}(*attention, *w, *state, row, head);
    store_lse(attention, row, head, lse) /*@ ghost (w) */;
}

/* TPP-2: computes the d_v elements of out, and lse, of a query row of sequence s and a head. */
/*@
  requires valid: \valid_read(attention) && \valid_read(plan) && \valid_read(w);
  requires ready: results_ready(*attention, *plan, *w);
  requires row: query_of(*attention, *plan, s, row, head);
  assigns SCRATCH(attention, w), attention->lse[row_at(row, attention->n_heads) + head],
    OUT_BYTES(attention, out_at(*attention, row, head),
      out_at(*attention, row, head) + attention->value_dim);
  ensures tpp_2: \forall integer k;
    out_at(*attention, row, head) <= k <
      out_at(*attention, row, head) + attention->value_dim ==>
    result_ok(*attention, *plan, s, row, row_at(row, attention->n_heads) + head, k);
  ensures merge_7: attention->lse != \null ==> lse_ok(*attention, *plan, s, row,
    row_at(row, attention->n_heads) + head,
    lse_at(attention->lse, row_at(row, attention->n_heads) + head));
  ensures others: \forall integer k; !(out_at(*attention, row, head) <= k <
      out_at(*attention, row, head) + attention->value_dim) ==>
    stored((char *)attention->out, attention->out_type, k) ==
      \old(stored((char *)attention->out, attention->out_type, k));
  ensures other_lse: attention->lse != \null ==> \forall integer q;
    0 <= q < n_results(*attention, *plan) ==> q != row_at(row, attention->n_heads) + head ==>
    lse_at(attention->lse, q) == \old(lse_at(attention->lse, q));
  ensures kept: parts_same{Pre,Post}(*w, attention->value_dim);
*/
static void attend_head(const struct cp_attention *attention, const struct cp_plan *plan,
                        const struct workspace *w, int s, int row, int head) {
    struct cp_state state;
    //@ ghost row_is_inside(attention, plan, s, row, head);
    //@ ghost result_has_room(attention, plan, s, row, head);
    //@ assert apart: lse_apart_from_scratch(*attention, *plan, *w);
    cp_row_empty(attention, w, &state); /* 1 */
    //@ assert shared: keeps_shared(w->state, w->o, *attention, *plan);
    cp_row_merge_shared(attention, plan, w, s, row, head, &state); /* 2 */
    //@ assert kept_lse_yet: lse_same{Pre,Here}(*attention, *plan);
    cp_row_merge_own(attention, plan, w, s, row, head, &state); /* 3 */
    cp_row_merge_sink(attention, w, head, &state);              /* 4 */
    //@ assert sums: row_sums_are(*attention, *plan, s, row, head, state, w->row_o);
    //@ assert kept_lse: lse_same{Pre,Here}(*attention, *plan);
    finish_row(attention, w, row, head, &state); /* 5 */
    //@ assert stored: row_is_attended(*attention, *plan, s, row, head);
    //@ ghost result_is_attended(attention, plan, s, row, head);
}

/* Writes the result of one query row and head, when all before it have theirs. */
/*@
  requires valid: \valid_read(attention) && \valid_read(plan) && \valid_read(w);
  requires ready: results_ready(*attention, *plan, *w);
  requires row: query_of(*attention, *plan, s, row, head);
  requires before: out_before(*attention, *plan, row_at(row, attention->n_heads) + head) &&
    lse_before(*attention, *plan, row_at(row, attention->n_heads) + head);
  assigns SCRATCH(attention, w), RESULTS_OF(attention, plan);
  ensures tpp_2: out_before(*attention, *plan, row_at(row, attention->n_heads) + head + 1);
  ensures merge_7: lse_before(*attention, *plan, row_at(row, attention->n_heads) + head + 1);
  ensures first_phase: keeps_shared(w->state, w->o, *attention, *plan);
*/
static void attend_row(const struct cp_attention *attention, const struct cp_plan *plan,
                       const struct workspace *w, int s, int row, int head) {
    //@ ghost size_t at = result_at(attention, plan, s, row, head);
    attend_head(attention, plan, w, s, row, head);
    /*@ assert parts: \forall integer i; 0 <= i < w->n_partials ==>
          part_at{Here}(w->state, w->o, attention->value_dim, i) ==
            part_at{Pre}(w->state, w->o, attention->value_dim, i); */
    /*@ assert before: w->n_partials == n_partials(*attention, *plan) &&
          \at(keeps_shared(w->state, w->o, *attention, *plan), Pre); */
    /*@ assert kept: attention->variant != CP_MERGE_AT_ONCE ==>
          kept_before(w->state, w->o, *attention, *plan, n_partials(*attention, *plan)); */
    /*@ assert merged: attention->variant == CP_MERGE_AT_ONCE ==>
          merged_to(w->state, w->o, *attention, *plan, plan->n_shared); */
    //@ assert shared: keeps_shared(w->state, w->o, *attention, *plan);
    //@ assert earlier: results_same_before{Pre,Here}(*attention, *plan, at);
    //@ ghost finished_one_more(attention, plan, s, row, head, at);
}

/* ---- All query rows ---- */

/* Computes all heads of a query row of sequence s. The rows before it have their results. */
/*@
  requires valid: \valid_read(attention) && \valid_read(plan) && \valid_read(w);
  requires ready: results_ready(*attention, *plan, *w);
  requires row: 0 <= s < plan->n_sequences && row_of(*attention, s, row);
  requires before: out_before(*attention, *plan, row_at(row, attention->n_heads)) &&
    lse_before(*attention, *plan, row_at(row, attention->n_heads));
  assigns SCRATCH(attention, w), RESULTS_OF(attention, plan);
  ensures tpp_2: out_before(*attention, *plan, row_at(row + 1, attention->n_heads));
  ensures merge_7: lse_before(*attention, *plan, row_at(row + 1, attention->n_heads));
  ensures first_phase: keeps_shared(w->state, w->o, *attention, *plan);
*/
static void attend_heads(const struct cp_attention *attention, const struct cp_plan *plan,
                         const struct workspace *w, int s, int row) {
    //@ ghost row_is_inside(attention, plan, s, row, 0);
    /*@ loop invariant head: 0 <= head <= attention->n_heads;
        loop invariant tpp_2: results_to_head(*attention, *plan, *w, row, head);
        loop assigns head, SCRATCH(attention, w), RESULTS_OF(attention, plan);
        loop variant attention->n_heads - head; */
    for (int head = 0; head < attention->n_heads; head++) {
        attend_row(attention, plan, w, s, row, head);
    }
}

/* Computes all query rows of all sequences. */
/*@
  requires valid: \valid_read(attention) && \valid_read(plan) && \valid_read(w);
  requires ready: results_ready(*attention, *plan, *w);
  assigns SCRATCH(attention, w), RESULTS_OF(attention, plan);
  ensures tpp_2: out_before(*attention, *plan, n_results(*attention, *plan));
  ensures merge_7: lse_before(*attention, *plan, n_results(*attention, *plan));
  ensures first_phase: keeps_shared(w->state, w->o, *attention, *plan);
*/
static void attend_all(const struct cp_attention *attention, const struct cp_plan *plan,
                       const struct workspace *w) {
    //@ ghost no_results(attention, plan, w);
    /*@ loop invariant s: 0 <= s <= plan->n_sequences;
        loop invariant tpp_2: results_to_sequence(*attention, *plan, *w, s);
        loop assigns s, SCRATCH(attention, w), RESULTS_OF(attention, plan);
        loop variant plan->n_sequences - s; */
    for (int s = 0; s < plan->n_sequences; s++) {
        int end = cp_first_row(attention, s + 1);
        /*@ loop invariant row: first_row(attention->query_begin, s) <= row <= end;
            loop invariant tpp_2: results_to_row(*attention, *plan, *w, row);
            loop assigns row, SCRATCH(attention, w), RESULTS_OF(attention, plan);
            loop variant end - row; */
        for (int row = cp_first_row(attention, s); row < end; row++) {
            attend_heads(attention, plan, w, s, row);
        }
    }
}

void cp_sequence_first(const struct cp_attention *attention) {
    struct workspace w = cp_cut_workspace(attention);
    attend_all(attention, attention->plan, &w);
}
