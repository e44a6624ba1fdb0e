/* SPDX-License-Identifier: Apache-2.0 */
/* What both phases are made of: the workspace, and the keys that a query row sees. */
#ifndef CHUNKPROOF_REF_TWO_PHASE_INTERNAL_H
#define CHUNKPROOF_REF_TWO_PHASE_INTERNAL_H

#include "chunkproof/two_phase.h"

#include "attention_internal.h"

/* The workspace, cut up. */
struct workspace {
    size_t n_partials;
    struct cp_state *state; /* [n_partials] */
    double *o;              /* [n_partials][d] */
    double *q;              /* [d]: a query row, as doubles */
    double *part_o;         /* [d]: beside a state that is merged at once */
    double *row_o;          /* [d]: beside the state of the row that is being finished */
    double *out;            /* [d]: that row, before it is rounded */
};

/*@
  // The partial results are there, and the scratch; apart from each other.
  predicate workspace_ok{L}(struct workspace w, integer d) =
    0 <= w.n_partials && 0 <= row_at(w.n_partials, d) <= 0x7FFFFFFFFFFFFFFF &&
    \valid(w.state + (0 .. w.n_partials - 1)) &&
    \valid(w.o + (0 .. row_at(w.n_partials, d) - 1)) && \valid(w.q + (0 .. d - 1)) &&
    \valid(w.part_o + (0 .. d - 1)) && \valid(w.row_o + (0 .. d - 1)) &&
    \valid(w.out + (0 .. d - 1)) &&
    \separated(w.state + (0 .. w.n_partials - 1), w.o + (0 .. row_at(w.n_partials, d) - 1),
      w.q + (0 .. d - 1), w.part_o + (0 .. d - 1), w.row_o + (0 .. d - 1), w.out + (0 .. d - 1));

  // Its parts are inside the caller's memory.
  predicate workspace_inside{L}(struct workspace w, struct cp_attention a, struct cp_plan p) =
    w.q == part_sums(a, p) + row_at(n_partials(a, p), a.head_dim) &&
    w.part_o == w.q + a.head_dim && w.row_o == w.part_o + a.head_dim &&
    w.out == w.row_o + a.head_dim;

  // Partial results are what they were: all; all but one.
  predicate parts_same{L1,L2}(struct workspace w, integer d) =
    \forall integer i; 0 <= i < w.n_partials ==>
      part_at{L1}(w.state, w.o, d, i) == part_at{L2}(w.state, w.o, d, i);
  predicate parts_same_but{L1,L2}(struct workspace w, integer d, integer at) =
    \forall integer i; 0 <= i < w.n_partials ==> i != at ==>
      part_at{L1}(w.state, w.o, d, i) == part_at{L2}(w.state, w.o, d, i);
*/

/* ---- Places (ref/two_phase.c where no body stands here) ---- */

/* Where the row begins that has this number. */
/*@
  requires size: 0 <= d && 0 <= row_at(row, d) <= 0x7FFFFFFFFFFFFFFF;
  assigns \nothing;
  ensures place: \result == row_at(row, d);
*/
static inline size_t cp_row_begin(size_t row, int d) {
    /*@ assert product: row * d == row_at(row, d); */
    return row * (size_t)d;
}

/* The o of a partial result. */
/*@
  requires valid: \valid_read(w);
  requires size: 0 <= d && 0 <= row_at(at, d) <= 0x7FFFFFFFFFFFFFFF;
  assigns \nothing;
  ensures of: \result == part_of(w->o, d, at);
*/
static inline double *cp_part_o(const struct workspace *w, size_t at, int d) {
    return w->o + cp_row_begin(at, d);
}

/* Where the d numbers of a query row and head begin in q and in out. */
/*@
  requires valid: \valid_read(attention);
  requires heads: attention_heads(*attention);
  requires place: 0 <= row && 0 <= head < attention->n_heads;
  requires countable: rows_countable(*attention, row + 1);
  assigns \nothing;
  ensures place: \result == row_at(row_at(row, attention->n_heads) + head, attention->head_dim);
  ensures inside: \result + attention->head_dim <=
    row_at(row_at(row + 1, attention->n_heads), attention->head_dim);
*/
size_t cp_row_offset(const struct cp_attention *attention, int row, int head);

/* The parts of the workspace. */
/*@
  requires valid: \valid_read(attention) && \valid_read(attention->plan);
  requires sizes: plan_sizes(*attention->plan) &&
    plan_descriptors(*attention->plan, attention->plan->n_shared);
  requires ranges: ranges_ok(*attention, *attention->plan);
  requires heads: attention_heads(*attention);
  requires workspace: workspace_valid(*attention, *attention->plan);
  assigns \nothing;
  ensures partials: \result.n_partials == n_partials(*attention, *attention->plan);
  ensures state: \result.state == part_states(*attention);
  ensures o: \result.o == part_sums(*attention, *attention->plan);
  ensures ok: workspace_ok(\result, attention->head_dim);
  ensures inside: workspace_inside(\result, *attention, *attention->plan);
*/
struct workspace cp_cut_workspace(const struct cp_attention *attention);

/* ---- Keys ---- */

/* How many keys of its sequence s the query row sees, n - R + t + 1 for row t of R (PREFILL-1,
 * PREFILL-2). Not more than n, because t < R; below 1 it sees none (PREFILL-3). */
/*@
  requires valid: \valid_read(attention) && \valid_read(plan);
  requires sequence: 0 <= s < CP_MAX_SEQUENCES;
  requires tokens: 0 <= plan->row[s].n_tokens <= CP_MAX_DEPTH * CP_MAX_CHUNK_SIZE;
  requires valid_ranges: attention->query_begin == \null ||
    \valid_read(attention->query_begin + (s .. s + 1));
  requires row: 0 <= first_row(attention->query_begin, s) <= row <
    first_row(attention->query_begin, s + 1);
  assigns \nothing;
  ensures prefill_2: \result == keys_seen(row_position(attention->query_begin, s,
    plan->row[s].n_tokens, row));
  ensures own: 0 <= \result <= plan->row[s].n_tokens;
*/
int cp_visible_keys(const struct cp_attention *attention, const struct cp_plan *plan, int s,
                    int row);

/* How many of the n_tokens keys from `position` on a row sees that sees `visible` keys (PREFILL-4). */
/*@
  requires counts: 0 <= visible && 0 <= position && 0 <= n_tokens;
  assigns \nothing;
  ensures prefill_4: \forall integer p; visible == keys_seen(p) ==>
    \result == keys_seen_in(p, position, n_tokens);
  ensures own: 0 <= \result <= n_tokens && \result <= visible;
*/
int cp_keys_in_chunk(int visible, int position, int n_tokens);

/* partial_attn of a query row and head over the first n_keys keys of a chunk (TPP-6), with the query head's
 * K/V head (TPP-5). The query is brought to q. */
/*@
  requires valid: \valid_read(attention) && \valid_read(plan) && \valid(state) &&
    \valid(o + (0 .. attention->head_dim - 1)) && \valid(q + (0 .. attention->head_dim - 1));
  requires heads: attention_heads(*attention);
  requires place: 0 <= row && 0 <= head < attention->n_heads;
  requires chunk: 0 <= chunk < plan->capacity;
  requires keys: 0 <= n_keys <= plan->chunk_size <= CP_MAX_CHUNK_SIZE;
  requires countable: rows_countable(*attention, row + 1) &&
    keys_countable(*attention, plan->chunk_size, plan->capacity);
  requires query: query_readable(*attention, row, head);
  requires tpp_6: chunk_readable(*attention, plan->chunk_size, chunk, head, n_keys);
  requires apart: \separated(state, o + (0 .. attention->head_dim - 1),
    q + (0 .. attention->head_dim - 1));
  assigns *state, o[0 .. attention->head_dim - 1], q[0 .. attention->head_dim - 1];
  ensures ok: state_ok(*state, o, attention->head_dim);
  ensures weight: state_weight(*state) ==
    chunk_weight(*attention, plan->chunk_size, row, head, chunk, n_keys);
  ensures sum: \forall integer i; 0 <= i < attention->head_dim ==> state_sum(*state, o[i]) ==
    chunk_value(*attention, plan->chunk_size, row, head, chunk, n_keys, i);
*/
void cp_attend_chunk(const struct cp_attention *attention, const struct cp_plan *plan, double *q,
                     struct cp_state *state, double *o, int row, int head, int chunk, int n_keys);

/* ---- The state of a query row and head (ref/two_phase_row.c) ---- */

/* The state of no keys. */
/*@
  requires valid: \valid(state) && \valid_read(attention) && \valid_read(w);
  requires heads: attention_heads(*attention);
  requires workspace: workspace_ok(*w, attention->head_dim);
  assigns *state, w->row_o[0 .. attention->head_dim - 1];
  ensures ok: state_ok(*state, w->row_o, attention->head_dim);
  ensures weight: state_weight(*state) == 0.0;
  ensures sum: \forall integer j; 0 <= j < attention->head_dim ==>
    state_sum(*state, w->row_o[j]) == 0.0;
  ensures kept: parts_same{Pre,Post}(*w, attention->head_dim);
*/
void cp_row_empty(const struct cp_attention *attention, const struct workspace *w,
                  struct cp_state *state);

/* Merges what the first phase has kept for a query row of sequence s and a head (TPP-2). */
/*@
  requires valid: \valid(state) && \valid_read(attention) && \valid_read(plan) && \valid_read(w);
  requires phases: phases_ok(*attention, *plan);
  requires row: 0 <= s < plan->n_sequences && row_of(*attention, s, row) &&
    0 <= head < attention->n_heads;
  requires workspace: workspace_ok(*w, attention->head_dim);
  requires partials: w->n_partials == n_partials(*attention, *plan);
  requires first_phase: keeps_shared(w->state, w->o, *attention, *plan);
  requires ok: state_ok(*state, w->row_o, attention->head_dim);
  requires empty: state_weight(*state) == 0.0;
  requires empty_sum: \forall integer j; 0 <= j < attention->head_dim ==>
    state_sum(*state, w->row_o[j]) == 0.0;
  assigns *state, w->row_o[0 .. attention->head_dim - 1];
  ensures ok: state_ok(*state, w->row_o, attention->head_dim);
  ensures tpp_2_weight: state_weight(*state) == shared_weight(*attention, *plan, s,
    position_of(*attention, *plan, s, row), row, head, plan->n_shared);
  ensures tpp_2_sum: \forall integer j; 0 <= j < attention->head_dim ==>
    state_sum(*state, w->row_o[j]) == shared_value(*attention, *plan, s,
      position_of(*attention, *plan, s, row), row, head, plan->n_shared, j);
  ensures kept: parts_same{Pre,Post}(*w, attention->head_dim);
*/
void cp_row_merge_shared(const struct cp_attention *attention, const struct cp_plan *plan,
                         const struct workspace *w, int s, int row, int head,
                         struct cp_state *state);

/* Goes on with the chunks that sequence s has alone. */
/*@
  requires valid: \valid(state) && \valid_read(attention) && \valid_read(plan) && \valid_read(w);
  requires phases: phases_ok(*attention, *plan);
  requires row: 0 <= s < plan->n_sequences && row_of(*attention, s, row) &&
    0 <= head < attention->n_heads;
  requires workspace: workspace_ok(*w, attention->head_dim);
  requires ok: state_ok(*state, w->row_o, attention->head_dim);
  assigns *state, w->row_o[0 .. attention->head_dim - 1], w->q[0 .. attention->head_dim - 1],
    w->part_o[0 .. attention->head_dim - 1];
  ensures ok: state_ok(*state, w->row_o, attention->head_dim);
  ensures tpp_2_weight: state_weight(*state) == \old(state_weight(*state)) +
    own_weight(*attention, *plan, s, position_of(*attention, *plan, s, row), row, head,
      plan->row[s].n_chunks);
  ensures tpp_2_sum: \forall integer j; 0 <= j < attention->head_dim ==>
    state_sum(*state, w->row_o[j]) == state_sum(\old(*state), \old(w->row_o[j])) +
      own_value(*attention, *plan, s, position_of(*attention, *plan, s, row), row, head,
        plan->row[s].n_chunks, j);
  ensures kept: parts_same{Pre,Post}(*w, attention->head_dim);
*/
void cp_row_merge_own(const struct cp_attention *attention, const struct cp_plan *plan,
                      const struct workspace *w, int s, int row, int head, struct cp_state *state);

#endif
