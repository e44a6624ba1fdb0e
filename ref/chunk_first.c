/* SPDX-License-Identifier: Apache-2.0 */
/* Chunk first: the papers' Algorithm 1 (spec/two_phase.md, TPP-1, TPP-4).
 *
 * The phase reads each shared chunk once, for every query row that the chunk serves. An example:
 * chunks of 2 keys, three sequences of one query row each, h = 2 heads.
 *
 *   descriptor  chunk  serves sequences  positions of its keys      sequence  path
 *       0         0       0, 1, 2              0, 1                     0     0 1 2
 *       1         1       0, 1                 2, 3                     1     0 1 3
 *                                                                       2     0 4
 *
 * CP_BUFFERED gives each (descriptor, query row, head) a partial result of its own. Descriptor 1
 * begins at row 3, because descriptor 0 has three query rows:
 *
 *   place        0  1   2  3   4  5 | 6  7   8  9
 *   descriptor   0      0      0    | 1      1
 *   query row    0      1      2    | 0      1
 *   head         0  1   0  1   0  1 | 0  1   0  1
 *
 * CP_MERGE_AT_ONCE has one partial result for each (query row, head), and merges each chunk into
 * it:
 *
 *   place            0  1      2  3      4  5
 *   query row        0         1         2
 *   head             0  1      0  1      0  1
 *   descriptor 0     chunk 0   chunk 0   chunk 0
 *   descriptor 1     0 and 1   0 and 1   chunk 0
 *
 * Both variants take the same steps:
 *   1. each descriptor, in the order of the plan;
 *   2. each sequence that the descriptor serves, and each query row of the sequence;
 *   3. which keys of the chunk the row sees;
 *   4. for each head, partial_attn over these keys, to its place or merged into it. */
#include "chunkproof/two_phase.h"

#include "row_chunk_internal.h"
#include "workspace_internal.h"

#ifdef __FRAMAC__
#include "proofs/logic/chunk_first.h"
#endif

/* ---- One partial result ---- */

/* TPP-1: computes the state of the keys seen of a chunk, for a query row and head, as
 * partial result `at`. */
/*@
  requires valid: \valid_read(attention) && \valid_read(plan) && \valid_read(w);
  requires chunk: chunk_ok(*attention, *plan, row, head, chunk, seen.end) &&
    seen_ordered(seen, plan->chunk_size);
  requires tpp_6: chunk_readable(*attention, plan->chunk_size, chunk, head, seen.end);
  requires workspace: workspace_ok(*w, attention->head_dim, attention->value_dim);
  requires at: 0 <= at < w->n_partials;
  assigns KEPT(attention, w);
  ensures ok: part_ok(part_at(w->state, w->o, attention->value_dim, at));
  ensures weight: part_weight(part_at(w->state, w->o, attention->value_dim, at)) ==
    seen_weight(*attention, plan->chunk_size, row, head, chunk, seen);
  ensures sum: \forall integer j; 0 <= j < attention->value_dim ==>
    part_sum(part_at(w->state, w->o, attention->value_dim, at), j) ==
      seen_value(*attention, plan->chunk_size, row, head, chunk, seen, j);
  ensures others: parts_same_but{Pre,Post}(*w, attention->value_dim, at);
*/
static void keep_part(const struct cp_attention *attention, const struct cp_plan *plan,
                      const struct workspace *w, int row, int head, int chunk, struct cp_seen seen,
                      size_t at) {
    //@ assert places: parts_apart(*w, attention->value_dim, at);
    double *o = cp_part_o(w, at, attention->value_dim);
    //@ assert place: o == w->o + row_at(at, attention->value_dim);
    /*@ assert behind: \forall integer p;
          row_at(at, attention->value_dim) + attention->value_dim <= p <
            row_at(w->n_partials, attention->value_dim) ==>
          \separated(w->o + p, o + (0 .. attention->value_dim - 1),
            w->q + (0 .. attention->head_dim - 1), w->out + (0 .. attention->value_dim - 1)); */
    cp_attend_chunk(attention, plan, w->q, w->out, &w->state[at], o, row, head, chunk, seen);
    //@ assert others_states: states_same_but{Pre,Here}(*w, at);
    /*@ assert others_before: \forall integer p; 0 <= p < row_at(at, attention->value_dim) ==>
          \at(w->o[p], Pre) == w->o[p]; */
    /*@ assert others_behind: \forall integer p;
          row_at(at, attention->value_dim) + attention->value_dim <= p <
            row_at(w->n_partials, attention->value_dim) ==> \at(w->o[p], Pre) == w->o[p]; */
    //@ assert others_o: o_same_but{Pre,Here}(*w, attention->value_dim, at);
    //@ assert others_sums: sums_same_but{Pre,Here}(*w, attention->value_dim, at);
    //@ assert others: others_still{Pre,Here}(*w, attention->value_dim, at);
}

/* TPP-4: computes the same state and merges it into partial result `at`. */
/*@
  requires valid: \valid_read(attention) && \valid_read(plan) && \valid_read(w);
  requires chunk: chunk_ok(*attention, *plan, row, head, chunk, seen.end) &&
    seen_ordered(seen, plan->chunk_size);
  requires tpp_6: chunk_readable(*attention, plan->chunk_size, chunk, head, seen.end);
  requires workspace: workspace_ok(*w, attention->head_dim, attention->value_dim);
  requires at: 0 <= at < w->n_partials;
  requires ok: part_ok(part_at(w->state, w->o, attention->value_dim, at));
  assigns MERGED(attention, w);
  ensures ok: part_ok(part_at(w->state, w->o, attention->value_dim, at));
  ensures weight: part_weight(part_at(w->state, w->o, attention->value_dim, at)) ==
    \old(part_weight(part_at(w->state, w->o, attention->value_dim, at))) +
    seen_weight(*attention, plan->chunk_size, row, head, chunk, seen);
  ensures sum: \forall integer j; 0 <= j < attention->value_dim ==>
    part_sum(part_at(w->state, w->o, attention->value_dim, at), j) ==
      \old(part_sum(part_at(w->state, w->o, attention->value_dim, at), j)) +
      seen_value(*attention, plan->chunk_size, row, head, chunk, seen, j);
  ensures others: parts_same_but{Pre,Post}(*w, attention->value_dim, at);
*/
static void merge_part(const struct cp_attention *attention, const struct cp_plan *plan,
                       const struct workspace *w, int row, int head, int chunk, struct cp_seen seen,
                       size_t at) {
    struct cp_state part;
    //@ assert places: parts_apart(*w, attention->value_dim, at);
    double *o = cp_part_o(w, at, attention->value_dim);
    cp_attend_chunk(attention, plan, w->q, w->out, &part, w->part_o, row, head, chunk, seen);
    //@ assert before_state: states_same{Pre,Here}(*w);
    //@ assert before_o: part_o_same{Pre,Here}(*w, attention->value_dim, at);
    //@ assert before_its_o: numbers_same{Pre,Here}(o, attention->value_dim);
    //@ assert before: part_same{Pre,Here}(*w, attention->value_dim, at);
    cp_attn_reduce(&w->state[at], o, &part, w->part_o, attention->value_dim);
    //@ assert part: chunk_sums(part, w->part_o, *attention, *plan, row, head, chunk, seen);
    //@ assert others_state: states_same_but{Pre,Here}(*w, at);
    //@ assert others_o: o_same_but{Pre,Here}(*w, attention->value_dim, at);
    //@ assert others: others_still{Pre,Here}(*w, attention->value_dim, at);
}

/* Makes partial result `at` the state of no keys. */
/*@
  requires valid: \valid_read(attention) && \valid_read(w);
  requires heads: attention_heads(*attention);
  requires workspace: workspace_ok(*w, attention->head_dim, attention->value_dim);
  requires at: 0 <= at < w->n_partials;
  assigns PARTIALS(attention, w);
  ensures ok: part_ok(part_at(w->state, w->o, attention->value_dim, at));
  ensures weight: part_weight(part_at(w->state, w->o, attention->value_dim, at)) == 0.0;
  ensures sum: \forall integer j; 0 <= j < attention->value_dim ==>
    part_sum(part_at(w->state, w->o, attention->value_dim, at), j) == 0.0;
  ensures others: parts_same_but{Pre,Post}(*w, attention->value_dim, at);
*/
static void empty_part(const struct cp_attention *attention, const struct workspace *w, size_t at) {
    //@ assert places: parts_apart(*w, attention->value_dim, at);
    double *o = cp_part_o(w, at, attention->value_dim);
    cp_state_empty(&w->state[at], o, attention->value_dim);
    //@ assert others: others_still{Pre,Here}(*w, attention->value_dim, at);
}

/* Which keys of the chunk of descriptor i a query row of sequence s sees. */
/*@
  requires valid: \valid_read(attention) && \valid_read(plan);
  requires ok: phases_ok(*attention, *plan);
  requires descriptor: 0 <= i < plan->n_shared;
  requires row: 0 <= s < plan->n_sequences && row_of(*attention, s, row);
  assigns \nothing;
  ensures window_2: seen_is(\result, *attention, position_of(*attention, *plan, s, row),
    plan->shared[i].position, plan->shared[i].n_tokens);
  ensures own: seen_ordered(\result, plan->shared[i].n_tokens) &&
    plan->shared[i].n_tokens <= plan->chunk_size;
*/
static struct cp_seen shared_keys(const struct cp_attention *attention, const struct cp_plan *plan,
                                  int i, int s, int row) {
    //@ ghost row_is_inside(attention, plan, s, row, 0);
    //@ ghost runs_are_countable(plan, s);
    //@ assert descriptor: runs_gives(*plan, i);
    int p = cp_position_of_row(attention, plan, s, row);
    return cp_seen_of(attention, p, plan->shared[i].position, plan->shared[i].n_tokens);
}

/* ---- CP_BUFFERED: each partial result has its place ---- */

/* TPP-1: computes the shared chunk of descriptor i for a query row of sequence s, all heads, as row
 * part_row of the partial results. The rows before it are there. In proofs, s is at `entry` of the
 * list. */
/*@
  requires valid: \valid_read(attention) && \valid_read(plan) && \valid_read(w);
  requires phase: phase_ready(*attention, *plan, *w);
  requires variant: attention->variant != CP_MERGE_AT_ONCE;
  requires descriptor: 0 <= i < plan->n_shared && has_entry(*plan, i, entry);
  requires row: s == plan->served[entry] && row_of(*attention, s, row);
  requires place: part_row == row + rows_before(*attention, *plan, i, entry);
  requires before: kept_before_row(*w, *attention, *plan, part_row);
  assigns KEPT(attention, w);
  ensures tpp_1: kept_before_row(*w, *attention, *plan, part_row + 1);
*/
static void keep_row(const struct cp_attention *attention, const struct cp_plan *plan,
                     const struct workspace *w, int i, int s, int row, size_t part_row)
/*@ ghost (int entry) */ {
    //@ ghost kept_row_is_inside(attention, plan, i, entry, s, row, part_row);
    struct cp_seen seen = shared_keys(attention, plan, i, s, row); /* 3 */
    size_t first = cp_row_begin(part_row, attention->n_heads);
    /*@ loop invariant head: 0 <= head <= attention->n_heads;
        loop invariant tpp_1: kept_before(w->state, w->o, *attention, *plan, first + head);
        loop assigns head, KEPT(attention, w); loop variant attention->n_heads - head; */
    for (int head = 0; head < attention->n_heads; head++) { /* 4 */
        size_t at = first + (size_t)head;
        //@ ghost may_be_read(attention, plan, i, s, row, head, seen.end);
        keep_part(attention, plan, w, row, head, plan->shared[i].chunk, seen, at);
        //@ ghost kept_one_more(attention, plan, w, i, entry, row, head, at);
    }
}

/* Computes descriptor i for all query rows that it serves: rows part_row and following of the
 * partial results. */
/*@
  requires valid: \valid_read(attention) && \valid_read(plan) && \valid_read(w);
  requires phase: phase_ready(*attention, *plan, *w);
  requires variant: attention->variant != CP_MERGE_AT_ONCE;
  requires descriptor: 0 <= i < plan->n_shared;
  requires place: part_row == part_row(attention->query_begin, *plan, i);
  requires before: kept_before_row(*w, *attention, *plan, part_row);
  assigns KEPT(attention, w);
  ensures tpp_1: kept_before_row(*w, *attention, *plan,
    part_row(attention->query_begin, *plan, i + 1));
*/
static void keep_descriptor(const struct cp_attention *attention, const struct cp_plan *plan,
                            const struct workspace *w, int i, size_t part_row) {
    //@ ghost descriptor_rows(attention, plan, i);
    /*@ loop invariant at: plan->shared[i].begin <= at <= plan->shared[i].end;
        loop invariant tpp_1: kept_to_entry(*w, *attention, *plan, i, at, part_row);
        loop assigns at, part_row, KEPT(attention, w); loop variant plan->shared[i].end - at; */
    for (int at = plan->shared[i].begin; at < plan->shared[i].end; at++) { /* 2 */
        int s = plan->served[at];
        int end = cp_first_row(attention, s + 1);
        /*@ loop invariant row: first_row(attention->query_begin, s) <= row <= end;
            loop invariant tpp_1: kept_to_row(*w, *attention, *plan, i, at, row, part_row);
            loop assigns row, part_row, KEPT(attention, w); loop variant end - row; */
        for (int row = cp_first_row(attention, s); row < end; row++) {
            keep_row(attention, plan, w, i, s, row, part_row) /*@ ghost (at) */;
            part_row++;
        }
    }
}

/* TPP-1: computes all descriptors. */
/*@
  requires valid: \valid_read(attention) && \valid_read(plan) && \valid_read(w);
  requires phase: phase_ready(*attention, *plan, *w);
  requires variant: attention->variant != CP_MERGE_AT_ONCE;
  assigns KEPT(attention, w);
  ensures tpp_1: kept_before(w->state, w->o, *attention, *plan, n_partials(*attention, *plan));
*/
static void keep_all(const struct cp_attention *attention, const struct cp_plan *plan,
                     const struct workspace *w) {
    size_t part_row = 0; /* this descriptor's first row of partial results */
    /*@ loop invariant i: 0 <= i <= plan->n_shared;
        loop invariant tpp_1: kept_to_descriptor(*w, *attention, *plan, i, part_row);
        loop assigns i, part_row, KEPT(attention, w); loop variant plan->n_shared - i; */
    for (int i = 0; i < plan->n_shared; i++) { /* 1 */
        //@ ghost descriptor_rows(attention, plan, i);
        keep_descriptor(attention, plan, w, i, part_row);
        part_row += cp_rows_served(attention, plan, plan->shared[i].begin, plan->shared[i].end);
    }
}

/* ---- CP_MERGE_AT_ONCE: a query row and head has one partial result for all ---- */

/* Makes all partial results the state of no keys. */
/*@
  requires valid: \valid_read(attention) && \valid_read(plan) && \valid_read(w);
  requires phase: phase_ready(*attention, *plan, *w);
  requires variant: attention->variant == CP_MERGE_AT_ONCE;
  assigns KEPT(attention, w);
  ensures empty: merged_to(w->state, w->o, *attention, *plan, 0);
*/
static void empty_all(const struct cp_attention *attention, const struct cp_plan *plan,
                      const struct workspace *w) {
    (void)plan;
    /*@ loop invariant at: 0 <= at <= w->n_partials;
        loop invariant empty: parts_empty(*w, attention->value_dim, at);
        loop assigns at, KEPT(attention, w); loop variant w->n_partials - at; */
    for (size_t at = 0; at < w->n_partials; at++) {
        empty_part(attention, w, at);
    }
}

/* TPP-4: merges the shared chunk of descriptor i into the partial results of a query row of
 * sequence s, all heads. In proofs, s is at `entry` of the list. */
/*@
  requires valid: \valid_read(attention) && \valid_read(plan) && \valid_read(w);
  requires phase: phase_ready(*attention, *plan, *w);
  requires variant: attention->variant == CP_MERGE_AT_ONCE;
  requires descriptor: 0 <= i < plan->n_shared && has_entry(*plan, i, entry);
  requires row: s == plan->served[entry] && row_of(*attention, s, row);
  requires before: merged_before_row(*w, *attention, *plan, i, entry, row);
  assigns MERGED(attention, w);
  ensures tpp_4: merged_before_row(*w, *attention, *plan, i, entry, row + 1);
*/
static void merge_row(const struct cp_attention *attention, const struct cp_plan *plan,
                      const struct workspace *w, int i, int s, int row)
/*@ ghost (int entry) */ {
    //@ ghost served_row(attention, plan, i, entry, s, row);
    struct cp_seen seen = shared_keys(attention, plan, i, s, row); /* 3 */
    size_t first = cp_row_begin((size_t)row, attention->n_heads);
    /*@ loop invariant head: 0 <= head <= attention->n_heads;
        loop invariant tpp_4:
          merged_before(w->state, w->o, *attention, *plan, i, entry, first + head);
        loop assigns head, MERGED(attention, w); loop variant attention->n_heads - head; */
    for (int head = 0; head < attention->n_heads; head++) { /* 4 */
        size_t at = first + (size_t)head;
        //@ ghost may_be_merged(attention, plan, w, i, entry, s, row, head, seen.end, at);
        merge_part(attention, plan, w, row, head, plan->shared[i].chunk, seen, at);
        //@ ghost merged_one_more(attention, plan, w, i, entry, s, row, head, at);
    }
}

/* Merges descriptor i for all query rows that it serves. */
/*@
  requires valid: \valid_read(attention) && \valid_read(plan) && \valid_read(w);
  requires phase: phase_ready(*attention, *plan, *w);
  requires variant: attention->variant == CP_MERGE_AT_ONCE;
  requires descriptor: 0 <= i < plan->n_shared;
  requires before: merged_to(w->state, w->o, *attention, *plan, i);
  assigns MERGED(attention, w);
  ensures tpp_4: merged_to(w->state, w->o, *attention, *plan, i + 1);
*/
static void merge_descriptor(const struct cp_attention *attention, const struct cp_plan *plan,
                             const struct workspace *w, int i) {
    //@ ghost none_served(attention, plan, w, i);
    /*@ loop invariant at: plan->shared[i].begin <= at <= plan->shared[i].end;
        loop invariant tpp_4: merged_to_entry(*w, *attention, *plan, i, at);
        loop assigns at, MERGED(attention, w); loop variant plan->shared[i].end - at; */
    for (int at = plan->shared[i].begin; at < plan->shared[i].end; at++) { /* 2 */
        int s = plan->served[at];
        int end = cp_first_row(attention, s + 1);
        //@ ghost entry_begins(attention, plan, w, i, at, s);
        /*@ loop invariant row: first_row(attention->query_begin, s) <= row <= end;
            loop invariant tpp_4: merged_before_row(*w, *attention, *plan, i, at, row);
            loop assigns row, MERGED(attention, w); loop variant end - row; */
        for (int row = cp_first_row(attention, s); row < end; row++) {
            merge_row(attention, plan, w, i, s, row) /*@ ghost (at) */;
        }
        //@ ghost entry_ends(attention, plan, w, i, at, s);
    }
    //@ ghost served_all(attention, plan, w, i);
}

/* TPP-1, TPP-4: merges all descriptors. */
/*@
  requires valid: \valid_read(attention) && \valid_read(plan) && \valid_read(w);
  requires phase: phase_ready(*attention, *plan, *w);
  requires variant: attention->variant == CP_MERGE_AT_ONCE;
  assigns MERGED(attention, w);
  ensures tpp_4: merged_to(w->state, w->o, *attention, *plan, plan->n_shared);
*/
static void merge_all(const struct cp_attention *attention, const struct cp_plan *plan,
                      const struct workspace *w) {
    empty_all(attention, plan, w);
    /*@ loop invariant i: 0 <= i <= plan->n_shared;
        loop invariant tpp_4: merged_to(w->state, w->o, *attention, *plan, i);
        loop assigns i, MERGED(attention, w); loop variant plan->n_shared - i; */
    for (int i = 0; i < plan->n_shared; i++) { /* 1 */
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
