/* SPDX-License-Identifier: Apache-2.0 */
/* Sequence first: the papers' Algorithm 2 (spec/two_phase.md, TPP-2). Each query row and head is finished
 * in its turn. */
#include "chunkproof/two_phase.h"

#include "row_state_internal.h"
#include "workspace_internal.h"

#include "chunkproof/number.h"
#include "chunkproof/softmax.h"

#ifdef __FRAMAC__
#include "proofs/logic/query_rows.h"
#endif

/*@
  predicate results_apart{L}(struct cp_attention a, struct cp_plan p, struct workspace w) =
    a.lse != \null ==> \separated(a.lse + (0 .. n_results(a, p) - 1),
      w.state + (0 .. w.n_partials - 1), w.o + (0 .. row_at(w.n_partials, a.head_dim) - 1),
      w.q + (0 .. a.head_dim - 1), w.part_o + (0 .. a.head_dim - 1),
      w.row_o + (0 .. a.head_dim - 1), w.out + (0 .. a.head_dim - 1));
*/

/* ---- One query row and head ---- */

/* Elements at, at + 1, ... of out: d numbers. */
/*@
  requires valid: \valid_read(attention) && \valid_read(number + (0 .. attention->head_dim - 1));
  requires size: 0 <= attention->head_dim && known_type(attention->out_type);
  requires countable: at + attention->head_dim <= 0x7FFFFFFFFFFFFFFF;
  requires room: results_valid(*attention, at, at + attention->head_dim);
  assigns ((char *)attention->out)[row_at(at, type_size(attention->out_type)) ..
    row_at(at + attention->head_dim, type_size(attention->out_type)) - 1];
  ensures stored: \forall integer k; at <= k < at + attention->head_dim ==>
    stored((char *)attention->out, attention->out_type, k) ==
      rounded(attention->out_type, number[k - at]);
  ensures others: \forall integer k; !(at <= k < at + attention->head_dim) ==>
    stored((char *)attention->out, attention->out_type, k) ==
      \old(stored((char *)attention->out, attention->out_type, k));
*/
static void store_row(const struct cp_attention *attention, size_t at, const double *number) {
    /*@
      loop invariant i: 0 <= i <= attention->head_dim;
      loop invariant stored: \forall integer k; at <= k < at + i ==>
        stored((char *)attention->out, attention->out_type, k) ==
          rounded(attention->out_type, number[k - at]);
      loop invariant others: \forall integer k; !(at <= k < at + i) ==>
        stored((char *)attention->out, attention->out_type, k) ==
          \at(stored((char *)attention->out, attention->out_type, k), Pre);
      loop assigns i, ((char *)attention->out)[row_at(at, type_size(attention->out_type)) ..
        row_at(at + attention->head_dim, type_size(attention->out_type)) - 1];
      loop variant attention->head_dim - i;
    */
    for (int i = 0; i < attention->head_dim; i++) {
        size_t place = at + (size_t)i;
        /*@ assert place: place == at + i; */
        /*@ assert inside: row_at(at, type_size(attention->out_type)) <=
              row_at(place, type_size(attention->out_type)) &&
              row_at(place, type_size(attention->out_type)) + type_size(attention->out_type) <=
              row_at(at + attention->head_dim, type_size(attention->out_type)); */
        cp_number_store(attention->out, attention->out_type, place, number[i]);
    }
}

/* A mean stays what it is when both sums are brought to another maximum. */
/*@ ghost
  /@ requires mean: is_mean(r, o, n) && !is_zero(n);
     assigns \nothing;
     ensures same: r == mean(scaled(o, m), scaled(n, m)); @/
  void same_mean(double r, double o, double n, double m) {
    /@ assert scaled: is_mean(r, scaled(o, m), scaled(n, m)); @/
    /@ assert some: !is_zero(scaled(n, m)); @/
  }
  /@ requires valid: \valid_read(out + (0 .. d - 1)) && \valid_read(o + (0 .. d - 1)) && 0 <= d;
     requires mean: !is_zero(n) ==> \forall integer j; 0 <= j < d ==> is_mean(out[j], o[j], n);
     assigns \nothing;
     ensures same: !is_zero(n) ==> \forall integer j; 0 <= j < d ==>
       out[j] == mean(scaled(o[j], m), scaled(n, m)); @/
  void same_means(const double *out, const double *o, double n, double m, int d) {
    if (n == 0.0) {
      return;
    }
    /@ loop invariant i: 0 <= i <= d;
       loop invariant same: \forall integer j; 0 <= j < i ==>
         out[j] == mean(scaled(o[j], m), scaled(n, m));
       loop assigns i;
       loop variant d - i; @/
    for (int i = 0; i < d; i++) {
      same_mean(out[i], o[i], n, m);
    }
  }
*/

/* MERGE-6, MERGE-7 for the state of a query row and head, into out and lse. */
/*@
  requires valid: \valid_read(attention) && \valid_read(state) && \valid_read(w);
  requires heads: attention_heads(*attention) && known_type(attention->out_type);
  requires place: 0 <= row && 0 <= head < attention->n_heads;
  requires countable: rows_countable(*attention, row + 1);
  requires workspace: workspace_ok(*w, attention->head_dim);
  requires room: results_valid(*attention, query_at(*attention, row, head),
    query_at(*attention, row, head) + attention->head_dim);
  requires room_lse: attention->lse != \null ==>
    \valid(attention->lse + (row_at(row, attention->n_heads) + head));
  requires apart: attention->lse != \null ==>
    \separated(attention->lse + (row_at(row, attention->n_heads) + head),
      w->state + (0 .. w->n_partials - 1),
      w->o + (0 .. row_at(w->n_partials, attention->head_dim) - 1));
  requires ok: state_ok(*state, w->row_o, attention->head_dim);
  assigns w->out[0 .. attention->head_dim - 1],
    attention->lse[row_at(row, attention->n_heads) + head],
    ((char *)attention->out)[
      row_at(query_at(*attention, row, head), type_size(attention->out_type)) ..
      row_at(query_at(*attention, row, head) + attention->head_dim,
        type_size(attention->out_type)) - 1];
  ensures merge_6: \forall integer k;
    query_at(*attention, row, head) <= k <
      query_at(*attention, row, head) + attention->head_dim ==>
    stored((char *)attention->out, attention->out_type, k) == attended(attention->out_type,
      \old(state_sum(*state, w->row_o[k - query_at(*attention, row, head)])),
      \old(state_weight(*state)));
  ensures merge_7: attention->lse != \null ==>
    is_lse(attention->lse[row_at(row, attention->n_heads) + head], \old(state_weight(*state)));
  ensures others: \forall integer k; !(query_at(*attention, row, head) <= k <
      query_at(*attention, row, head) + attention->head_dim) ==>
    stored((char *)attention->out, attention->out_type, k) ==
      \old(stored((char *)attention->out, attention->out_type, k));
  ensures kept: parts_same{Pre,Post}(*w, attention->head_dim);
*/
static void finish_row(const struct cp_attention *attention, const struct workspace *w, int row,
                       int head, const struct cp_state *state) {
    size_t at = cp_row_offset(attention, row, head);
    /*@ assert at: at == query_at(*attention, row, head); */
    double lse = cp_finish(state, w->row_o, w->out, attention->head_dim);
    /*@ assert keys: is_zero(state->n) <==> is_zero(state_weight(*state)); */
    /*@ assert row_o: \forall integer j; 0 <= j < attention->head_dim ==>
          w->row_o[j] == \at(w->row_o[j], Pre); */
    /*@ assert zero: is_zero(state->n) ==> \forall integer j; 0 <= j < attention->head_dim ==>
          rounded(attention->out_type, w->out[j]) == rounded(attention->out_type, 0.0); */
    /*@ ghost same_means(w->out, w->row_o, state->n, state->m, attention->head_dim); */
    /*@ assert divided: !is_zero(state->n) ==> \forall integer j; 0 <= j < attention->head_dim ==>
          w->out[j] == mean(state_sum(*state, w->row_o[j]), state_weight(*state)); */
    /*@ assert mean: \forall integer j; 0 <= j < attention->head_dim ==>
          rounded(attention->out_type, w->out[j]) == attended(attention->out_type,
            \at(state_sum(*state, w->row_o[j]), Pre), state_weight(*state)); */
    store_row(attention, at, w->out);
    /*@ assert kept_state: \forall integer i; 0 <= i < w->n_partials ==>
          w->state[i].m == \at(w->state[i].m, Pre) && w->state[i].n == \at(w->state[i].n, Pre); */
    /*@ assert kept_o: \forall integer p; 0 <= p < row_at(w->n_partials, attention->head_dim) ==>
          w->o[p] == \at(w->o[p], Pre); */
    /*@ assert places: \forall integer i; 0 <= i < w->n_partials ==>
          0 <= row_at(i, attention->head_dim) &&
          row_at(i, attention->head_dim) + attention->head_dim <=
            row_at(w->n_partials, attention->head_dim); */
    /*@ assert kept_its_o: \forall integer i, j; 0 <= i < w->n_partials ==>
          0 <= j < attention->head_dim ==> part_of(w->o, attention->head_dim, i)[j] ==
            \at(part_of(w->o, attention->head_dim, i)[j], Pre); */
    /*@ assert kept: parts_same{Pre,Here}(*w, attention->head_dim); */
    if (attention->lse != NULL) {
        /*@ assert next: row_at(row, attention->n_heads) + attention->n_heads ==
              row_at(row + 1, attention->n_heads); */
        /*@ assert countable: 0 <= row_at(row, attention->n_heads) &&
              row_at(row + 1, attention->n_heads) <= 0x7FFFFFFFFFFFFFFF; */
        size_t place = cp_row_begin((size_t)row, attention->n_heads) + (size_t)head;
        /*@ assert place: place == row_at(row, attention->n_heads) + head; */
        attention->lse[place] = lse;
        /*@ assert lse_kept_state: \forall integer i; 0 <= i < w->n_partials ==>
              w->state[i].m == \at(w->state[i].m, Pre) && w->state[i].n == \at(w->state[i].n, Pre); */
        /*@ assert lse_kept_o: \forall integer p; 0 <= p < row_at(w->n_partials, attention->head_dim) ==>
              w->o[p] == \at(w->o[p], Pre); */
        /*@ assert lse_places: \forall integer i; 0 <= i < w->n_partials ==>
              0 <= row_at(i, attention->head_dim) &&
              row_at(i, attention->head_dim) + attention->head_dim <=
                row_at(w->n_partials, attention->head_dim); */
        /*@ assert lse_kept_its_o: \forall integer i, j; 0 <= i < w->n_partials ==>
              0 <= j < attention->head_dim ==> part_of(w->o, attention->head_dim, i)[j] ==
                \at(part_of(w->o, attention->head_dim, i)[j], Pre); */
        /*@ assert lse_kept: parts_same{Pre,Here}(*w, attention->head_dim); */
    }
}

/* TPP-2 for a query row of sequence s and a head: its d elements of out, and its lse. */
/*@
  requires valid: \valid_read(attention) && \valid_read(plan) && \valid_read(w);
  requires phases: phases_ok(*attention, *plan) && known_type(attention->out_type);
  requires row: 0 <= s < plan->n_sequences && row_of(*attention, s, row) &&
    0 <= head < attention->n_heads;
  requires workspace: workspace_ok(*w, attention->head_dim);
  requires partials: w->n_partials == n_partials(*attention, *plan);
  requires first_phase: keeps_shared(w->state, w->o, *attention, *plan);
  requires results: results_ok(*attention, *plan);
  requires apart: results_apart(*attention, *plan, *w);
  assigns w->q[0 .. attention->head_dim - 1], w->part_o[0 .. attention->head_dim - 1],
    w->row_o[0 .. attention->head_dim - 1], w->out[0 .. attention->head_dim - 1],
    attention->lse[row_at(row, attention->n_heads) + head],
    ((char *)attention->out)[
      row_at(query_at(*attention, row, head), type_size(attention->out_type)) ..
      row_at(query_at(*attention, row, head) + attention->head_dim,
        type_size(attention->out_type)) - 1];
  ensures tpp_2: \forall integer k;
    query_at(*attention, row, head) <= k <
      query_at(*attention, row, head) + attention->head_dim ==>
    result_ok(*attention, *plan, s, row, row_at(row, attention->n_heads) + head, k);
  ensures merge_7: attention->lse != \null ==> lse_ok(*attention, *plan, s, row,
    row_at(row, attention->n_heads) + head,
    lse_at(attention->lse, row_at(row, attention->n_heads) + head));
  ensures others: \forall integer k; !(query_at(*attention, row, head) <= k <
      query_at(*attention, row, head) + attention->head_dim) ==>
    stored((char *)attention->out, attention->out_type, k) ==
      \old(stored((char *)attention->out, attention->out_type, k));
  ensures other_lse: attention->lse != \null ==> \forall integer q;
    0 <= q < n_results(*attention, *plan) ==> q != row_at(row, attention->n_heads) + head ==>
    lse_at(attention->lse, q) == \old(lse_at(attention->lse, q));
  ensures kept: parts_same{Pre,Post}(*w, attention->head_dim);
*/
static void attend_head(const struct cp_attention *attention, const struct cp_plan *plan,
                        const struct workspace *w, int s, int row, int head) {
    struct cp_state state;
    /*@ ghost row_is_inside(attention, plan, s, row, head); */
    /*@ assert apart: attention->lse != \null ==> \forall integer q;
          0 <= q < n_results(*attention, *plan) ==>
          \separated(attention->lse + q, w->q + (0 .. attention->head_dim - 1)) &&
          \separated(attention->lse + q, w->part_o + (0 .. attention->head_dim - 1)) &&
          \separated(attention->lse + q, w->row_o + (0 .. attention->head_dim - 1)) &&
          \separated(attention->lse + q, w->out + (0 .. attention->head_dim - 1)); */
    cp_row_empty(attention, w, &state);
    /*@ assert lse_1: attention->lse != \null ==> \forall integer q;
          0 <= q < n_results(*attention, *plan) ==>
          attention->lse[q] == \at(attention->lse[q], Pre); */
    /*@ assert buffered: attention->variant != CP_MERGE_AT_ONCE ==>
          kept_before(w->state, w->o, *attention, *plan,
            n_partials(*attention, *plan)); */
    /*@ assert merged: attention->variant == CP_MERGE_AT_ONCE ==>
          merged_to(w->state, w->o, *attention, *plan, plan->n_shared); */
    cp_row_merge_shared(attention, plan, w, s, row, head, &state);
    /*@ assert lse_2: attention->lse != \null ==> \forall integer q;
          0 <= q < n_results(*attention, *plan) ==>
          attention->lse[q] == \at(attention->lse[q], Pre); */
    /*@ assert kept_shared: parts_same{Pre,Here}(*w, attention->head_dim); */
    cp_row_merge_own(attention, plan, w, s, row, head, &state);
    /*@ assert weight: state_weight(state) == row_weight(*attention, *plan, s,
          position_of(*attention, *plan, s, row), row, head); */
    /*@ assert sum: \forall integer j; 0 <= j < attention->head_dim ==>
          state_sum(state, w->row_o[j]) == row_value(*attention, *plan, s,
            position_of(*attention, *plan, s, row), row, head, j); */
    /*@ assert kept_lse: attention->lse != \null ==> \forall integer q;
          0 <= q < n_results(*attention, *plan) ==>
          attention->lse[q] == \at(attention->lse[q], Pre); */
    finish_row(attention, w, row, head, &state);
    /*@ assert other_lse: attention->lse != \null ==> \forall integer q;
          0 <= q < n_results(*attention, *plan) ==> q != row_at(row, attention->n_heads) + head ==>
          attention->lse[q] == \at(attention->lse[q], Pre); */
    /*@ assert stored: \forall integer k;
          query_at(*attention, row, head) <= k <
            query_at(*attention, row, head) + attention->head_dim ==>
          stored((char *)attention->out, attention->out_type, k) == attended(attention->out_type,
            row_value(*attention, *plan, s, position_of(*attention, *plan, s, row), row, head,
              k - query_at(*attention, row, head)),
            row_weight(*attention, *plan, s, position_of(*attention, *plan, s, row), row, head)); */
    /*@ assert pair: pair_is(row_at(row, attention->n_heads) + head, row, head, attention->n_heads); */
    /*@ assert must: \forall integer k;
          query_at(*attention, row, head) <= k <
            query_at(*attention, row, head) + attention->head_dim ==>
          result(*attention, *plan, s, position_of(*attention, *plan, s, row), row,
            row_at(row, attention->n_heads) + head, k) == attended(attention->out_type,
            row_value(*attention, *plan, s, position_of(*attention, *plan, s, row), row, head,
              k - query_at(*attention, row, head)),
            row_weight(*attention, *plan, s, position_of(*attention, *plan, s, row), row, head)); */
}

/* The same, behind those before it. */
/*@
  requires valid: \valid_read(attention) && \valid_read(plan) && \valid_read(w);
  requires phases: phases_ok(*attention, *plan);
  requires workspace: workspace_ok(*w, attention->head_dim);
  requires partials: w->n_partials == n_partials(*attention, *plan);
  requires first_phase: keeps_shared(w->state, w->o, *attention, *plan);
  requires results: results_ok(*attention, *plan);
  requires apart: results_apart(*attention, *plan, *w);
  requires row: 0 <= s < plan->n_sequences && row_of(*attention, s, row) &&
    0 <= head < attention->n_heads;
  requires before: out_before(*attention, *plan, row_at(row, attention->n_heads) + head) &&
    lse_before(*attention, *plan, row_at(row, attention->n_heads) + head);
  assigns w->q[0 .. attention->head_dim - 1], w->part_o[0 .. attention->head_dim - 1],
    w->row_o[0 .. attention->head_dim - 1], w->out[0 .. attention->head_dim - 1],
    attention->lse[0 .. n_results(*attention, *plan) - 1],
    ((char *)attention->out)[0 ..
      row_at(row_at(n_results(*attention, *plan), attention->head_dim),
        type_size(attention->out_type)) - 1];
  ensures tpp_2: out_before(*attention, *plan, row_at(row, attention->n_heads) + head + 1);
  ensures merge_7: lse_before(*attention, *plan, row_at(row, attention->n_heads) + head + 1);
  ensures first_phase: keeps_shared(w->state, w->o, *attention, *plan);
*/
static void attend_row(const struct cp_attention *attention, const struct cp_plan *plan,
                       const struct workspace *w, int s, int row, int head) {
    /*@ ghost row_is_inside(attention, plan, s, row, head); */
    /*@ ghost size_t at = pair_at(row, head, attention->n_heads); */
    /*@ assert at: at == row_at(row, attention->n_heads) + head; */
    /*@ ghost one_row(attention, plan, s, row, head); */
    /*@ assert bytes: 0 <= row_at(query_at(*attention, row, head), type_size(attention->out_type)) &&
          row_at(query_at(*attention, row, head) + attention->head_dim, type_size(attention->out_type)) <=
          row_at(row_at(n_results(*attention, *plan), attention->head_dim), type_size(attention->out_type)); */
    /*@ assert one: \forall integer t, x; 0 <= t < plan->n_sequences ==>
          row_of(*attention, t, x) ==>
          row_at(x, attention->n_heads) <= row_at(row, attention->n_heads) + head <
            row_at(x, attention->n_heads) + attention->n_heads ==> t == s && x == row; */
    /*@ assert positive: \forall integer t, x; 0 <= t < plan->n_sequences ==>
          row_of(*attention, t, x) ==> 0 <= row_at(x, attention->n_heads); */
    /*@ assert was: \forall integer t, x, q, k; 0 <= t < plan->n_sequences ==>
          row_of(*attention, t, x) ==> q < row_at(row, attention->n_heads) + head ==>
          row_at(x, attention->n_heads) <= q <
            row_at(x, attention->n_heads) + attention->n_heads ==>
          row_at(q, attention->head_dim) <= k <
            row_at(q, attention->head_dim) + attention->head_dim ==>
          stored((char *)attention->out, attention->out_type, k) ==
            result(*attention, *plan, t, position_of(*attention, *plan, t, x), x, q, k); */
    attend_head(attention, plan, w, s, row, head);
    /*@ assert buffered: attention->variant != CP_MERGE_AT_ONCE ==>
          kept_before(w->state, w->o, *attention, *plan, n_partials(*attention, *plan)); */
    /*@ assert merged: attention->variant == CP_MERGE_AT_ONCE ==>
          merged_to(w->state, w->o, *attention, *plan, plan->n_shared); */
    /*@ assert same: \forall integer q, k; 0 <= q < row_at(row, attention->n_heads) + head ==>
          row_at(q, attention->head_dim) <= k <
            row_at(q, attention->head_dim) + attention->head_dim ==>
          stored{Here}((char *)attention->out, attention->out_type, k) ==
            stored{Pre}((char *)attention->out, attention->out_type, k); */
    /*@ assert once: \forall integer t, x, q, k; 0 <= t < plan->n_sequences ==>
          row_of(*attention, t, x) ==> 0 <= q < row_at(row, attention->n_heads) + head ==>
          row_at(x, attention->n_heads) <= q <
            row_at(x, attention->n_heads) + attention->n_heads ==>
          row_at(q, attention->head_dim) <= k <
            row_at(q, attention->head_dim) + attention->head_dim ==>
          stored{Pre}((char *)attention->out, attention->out_type, k) ==
            result(*attention, *plan, t, position_of(*attention, *plan, t, x), x, q, k) &&
          stored{Here}((char *)attention->out, attention->out_type, k) ==
            stored{Pre}((char *)attention->out, attention->out_type, k); */
    /*@ assert earlier: out_before(*attention, *plan, row_at(row, attention->n_heads) + head); */
    /*@ assert earlier_lse: lse_before(*attention, *plan, row_at(row, attention->n_heads) + head); */
    /*@ assert its: \forall integer t, x, k; 0 <= t < plan->n_sequences ==>
          row_of(*attention, t, x) ==>
          row_at(x, attention->n_heads) <= row_at(row, attention->n_heads) + head <
            row_at(x, attention->n_heads) + attention->n_heads ==>
          query_at(*attention, row, head) <= k <
            query_at(*attention, row, head) + attention->head_dim ==>
          result_ok(*attention, *plan, t, x, row_at(row, attention->n_heads) + head, k); */
    /*@ assert its_lse: attention->lse != \null ==>
          \forall integer t, x; 0 <= t < plan->n_sequences ==> row_of(*attention, t, x) ==>
          row_at(x, attention->n_heads) <= row_at(row, attention->n_heads) + head <
            row_at(x, attention->n_heads) + attention->n_heads ==>
          lse_ok(*attention, *plan, t, x, row_at(row, attention->n_heads) + head,
            lse_at(attention->lse, row_at(row, attention->n_heads) + head)); */
    /*@ ghost finished_one_more(attention, plan, at); */
}

/* ---- All query rows ---- */

/* All heads of a query row of sequence s; the rows before it have their results. */
/*@
  requires valid: \valid_read(attention) && \valid_read(plan) && \valid_read(w);
  requires phases: phases_ok(*attention, *plan);
  requires workspace: workspace_ok(*w, attention->head_dim);
  requires partials: w->n_partials == n_partials(*attention, *plan);
  requires first_phase: keeps_shared(w->state, w->o, *attention, *plan);
  requires results: results_ok(*attention, *plan);
  requires apart: results_apart(*attention, *plan, *w);
  requires row: 0 <= s < plan->n_sequences && row_of(*attention, s, row);
  requires before: out_before(*attention, *plan, row_at(row, attention->n_heads)) &&
    lse_before(*attention, *plan, row_at(row, attention->n_heads));
  assigns w->q[0 .. attention->head_dim - 1], w->part_o[0 .. attention->head_dim - 1],
    w->row_o[0 .. attention->head_dim - 1], w->out[0 .. attention->head_dim - 1],
    attention->lse[0 .. n_results(*attention, *plan) - 1],
    ((char *)attention->out)[0 ..
      row_at(row_at(n_results(*attention, *plan), attention->head_dim),
        type_size(attention->out_type)) - 1];
  ensures tpp_2: out_before(*attention, *plan, row_at(row + 1, attention->n_heads));
  ensures merge_7: lse_before(*attention, *plan, row_at(row + 1, attention->n_heads));
  ensures first_phase: keeps_shared(w->state, w->o, *attention, *plan);
*/
static void attend_heads(const struct cp_attention *attention, const struct cp_plan *plan,
                         const struct workspace *w, int s, int row) {
    /*@ ghost row_is_inside(attention, plan, s, row, 0); */
    /*@
      loop invariant head: 0 <= head <= attention->n_heads;
      loop invariant tpp_2: out_before(*attention, *plan, row_at(row, attention->n_heads) + head);
      loop invariant merge_7: lse_before(*attention, *plan, row_at(row, attention->n_heads) + head);
      loop invariant first_phase: keeps_shared(w->state, w->o, *attention, *plan);
      loop assigns head, w->q[0 .. attention->head_dim - 1], w->part_o[0 .. attention->head_dim - 1],
        w->row_o[0 .. attention->head_dim - 1], w->out[0 .. attention->head_dim - 1],
        attention->lse[0 .. n_results(*attention, *plan) - 1],
        ((char *)attention->out)[0 ..
          row_at(row_at(n_results(*attention, *plan), attention->head_dim),
            type_size(attention->out_type)) - 1];
      loop variant attention->n_heads - head;
    */
    for (int head = 0; head < attention->n_heads; head++) {
        attend_row(attention, plan, w, s, row, head);
    }
}

/* All sequences. */
/*@
  requires valid: \valid_read(attention) && \valid_read(plan) && \valid_read(w);
  requires phases: phases_ok(*attention, *plan);
  requires workspace: workspace_ok(*w, attention->head_dim);
  requires partials: w->n_partials == n_partials(*attention, *plan);
  requires first_phase: keeps_shared(w->state, w->o, *attention, *plan);
  requires results: results_ok(*attention, *plan);
  requires apart: results_apart(*attention, *plan, *w);
  assigns w->q[0 .. attention->head_dim - 1], w->part_o[0 .. attention->head_dim - 1],
    w->row_o[0 .. attention->head_dim - 1], w->out[0 .. attention->head_dim - 1],
    attention->lse[0 .. n_results(*attention, *plan) - 1],
    ((char *)attention->out)[0 ..
      row_at(row_at(n_results(*attention, *plan), attention->head_dim),
        type_size(attention->out_type)) - 1];
  ensures tpp_2: out_before(*attention, *plan, n_results(*attention, *plan));
  ensures merge_7: lse_before(*attention, *plan, n_results(*attention, *plan));
  ensures first_phase: keeps_shared(w->state, w->o, *attention, *plan);
*/
static void attend_all(const struct cp_attention *attention, const struct cp_plan *plan,
                       const struct workspace *w) {
    /*@
      loop invariant s: 0 <= s <= plan->n_sequences;
      loop invariant tpp_2: out_before(*attention, *plan, row_at(first_row(attention->query_begin, s), attention->n_heads));
      loop invariant merge_7: lse_before(*attention, *plan, row_at(first_row(attention->query_begin, s), attention->n_heads));
      loop invariant first_phase: keeps_shared(w->state, w->o, *attention, *plan);
      loop assigns s, w->q[0 .. attention->head_dim - 1], w->part_o[0 .. attention->head_dim - 1],
        w->row_o[0 .. attention->head_dim - 1], w->out[0 .. attention->head_dim - 1],
        attention->lse[0 .. n_results(*attention, *plan) - 1],
        ((char *)attention->out)[0 ..
          row_at(row_at(n_results(*attention, *plan), attention->head_dim),
            type_size(attention->out_type)) - 1];
      loop variant plan->n_sequences - s;
    */
    for (int s = 0; s < plan->n_sequences; s++) {
        int end = cp_first_row(attention, s + 1);
        /*@
          loop invariant row: first_row(attention->query_begin, s) <= row <= end;
          loop invariant tpp_2: out_before(*attention, *plan, row_at(row, attention->n_heads));
          loop invariant merge_7: lse_before(*attention, *plan, row_at(row, attention->n_heads));
          loop invariant first_phase: keeps_shared(w->state, w->o, *attention, *plan);
          loop assigns row, w->q[0 .. attention->head_dim - 1], w->part_o[0 .. attention->head_dim - 1],
            w->row_o[0 .. attention->head_dim - 1], w->out[0 .. attention->head_dim - 1],
            attention->lse[0 .. n_results(*attention, *plan) - 1],
            ((char *)attention->out)[0 ..
              row_at(row_at(n_results(*attention, *plan), attention->head_dim),
                type_size(attention->out_type)) - 1];
          loop variant end - row;
        */
        for (int row = cp_first_row(attention, s); row < end; row++) {
            attend_heads(attention, plan, w, s, row);
        }
    }
}

void cp_sequence_first(const struct cp_attention *attention) {
    struct workspace w = cp_cut_workspace(attention);
    attend_all(attention, attention->plan, &w);
}
