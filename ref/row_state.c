/* SPDX-License-Identifier: Apache-2.0 */
/* Sequence first: what the first phase has kept for a query row, and the chunks that its sequence has alone, are
 * merged into the state of the row (spec/two_phase.md, TPP-2). */
#include "row_state_internal.h"

#include "chunkproof/softmax.h"
#include "row_chunk_internal.h"

#ifdef __FRAMAC__
#include "proofs/logic/query_rows.h"
#endif

void cp_row_empty(const struct cp_attention *attention, const struct workspace *w,
                  struct cp_state *state) {
    cp_state_empty(state, w->row_o, attention->head_dim);
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
}

/* A partial result is merged into the state of a row, */
/*@
  requires valid: \valid(state) && \valid_read(attention) && \valid_read(w);
  requires heads: attention_heads(*attention);
  requires workspace: workspace_ok(*w, attention->head_dim);
  requires at: 0 <= at < w->n_partials;
  requires ok: state_ok(*state, w->row_o, attention->head_dim) &&
    part_ok(part_at(w->state, w->o, attention->head_dim, at));
  assigns *state, w->row_o[0 .. attention->head_dim - 1];
  ensures ok: state_ok(*state, w->row_o, attention->head_dim);
  ensures weight: state_weight(*state) == \old(state_weight(*state)) +
    part_weight(part_at(w->state, w->o, attention->head_dim, at));
  ensures sum: \forall integer j; 0 <= j < attention->head_dim ==>
    state_sum(*state, w->row_o[j]) == state_sum(\old(*state), \old(w->row_o[j])) +
      part_sum(part_at(w->state, w->o, attention->head_dim, at), j);
  ensures kept: parts_same{Pre,Post}(*w, attention->head_dim);
*/
static void merge_kept(const struct cp_attention *attention, const struct workspace *w, size_t at,
                       struct cp_state *state) {
    /*@ assert end: row_at(at, attention->head_dim) + attention->head_dim <=
          row_at(w->n_partials, attention->head_dim); */
    double *o = cp_part_o(w, at, attention->head_dim);
    cp_attn_reduce(state, w->row_o, &w->state[at], o, attention->head_dim);
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
}

/* and so is the state of the keys that it sees of a chunk of its own. */
/*@
  requires valid: \valid(state) && \valid_read(attention) && \valid_read(plan) && \valid_read(w);
  requires heads: attention_heads(*attention);
  requires place: 0 <= row && 0 <= head < attention->n_heads;
  requires chunk: 0 <= chunk < plan->capacity;
  requires keys: 0 <= n_keys <= plan->chunk_size <= CP_MAX_CHUNK_SIZE;
  requires countable: rows_countable(*attention, row + 1) &&
    keys_countable(*attention, plan->chunk_size, plan->capacity);
  requires query: query_readable(*attention, row, head);
  requires tpp_6: chunk_readable(*attention, plan->chunk_size, chunk, head, n_keys);
  requires workspace: workspace_ok(*w, attention->head_dim);
  requires ok: state_ok(*state, w->row_o, attention->head_dim);
  assigns *state, w->row_o[0 .. attention->head_dim - 1], w->q[0 .. attention->head_dim - 1],
    w->part_o[0 .. attention->head_dim - 1];
  ensures ok: state_ok(*state, w->row_o, attention->head_dim);
  ensures weight: state_weight(*state) == \old(state_weight(*state)) +
    chunk_weight(*attention, plan->chunk_size, row, head, chunk, n_keys);
  ensures sum: \forall integer j; 0 <= j < attention->head_dim ==>
    state_sum(*state, w->row_o[j]) == state_sum(\old(*state), \old(w->row_o[j])) +
      chunk_value(*attention, plan->chunk_size, row, head, chunk, n_keys, j);
  ensures kept: parts_same{Pre,Post}(*w, attention->head_dim);
*/
static void merge_chunk(const struct cp_attention *attention, const struct cp_plan *plan,
                        const struct workspace *w, int row, int head, int chunk, int n_keys,
                        struct cp_state *state) {
    struct cp_state part;
    cp_attend_chunk(attention, plan, w->q, &part, w->part_o, row, head, chunk, n_keys);
    /*@ assert before: \forall integer j; 0 <= j < attention->head_dim ==>
          w->row_o[j] == \at(w->row_o[j], Pre); */
    cp_attn_reduce(state, w->row_o, &part, w->part_o, attention->head_dim);
    /*@ assert part: \forall integer j; 0 <= j < attention->head_dim ==>
          state_sum(part, w->part_o[j]) ==
            chunk_value(*attention, plan->chunk_size, row, head, chunk, n_keys, j); */
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
}

void cp_row_merge_own(const struct cp_attention *attention, const struct cp_plan *plan,
                      const struct workspace *w, int s, int row, int head, struct cp_state *state) {
    int c = plan->chunk_size;
    /*@ assert path: plan_row_path(*plan, s) && plan_row_length(*plan, s); */
    /*@ assert tokens: plan->row[s].n_tokens <= key_at(CP_MAX_DEPTH, c); */
    /*@ assert below: row + 1 <= first_row(attention->query_begin, plan->n_sequences); */
    /*@ assert rows: row_at(row + 1, attention->n_heads) <=
          row_at(first_row(attention->query_begin, plan->n_sequences), attention->n_heads); */
    /*@ assert positive: 0 <= row_at(row + 1, attention->n_heads); */
    /*@ assert elements: row_at(row_at(row + 1, attention->n_heads), attention->head_dim) <=
          row_at(row_at(first_row(attention->query_begin, plan->n_sequences), attention->n_heads),
            attention->head_dim); */
    /*@ assert countable: rows_countable(*attention, row + 1); */
    /*@ assert query: query_readable(*attention, row, head); */
    int visible = cp_visible_keys(attention, plan, s, row);
    /*@
      loop invariant k: plan->row[s].n_shared <= k <= plan->row[s].n_chunks;
      loop invariant ok: state_ok(*state, w->row_o, attention->head_dim);
      loop invariant weight: state_weight(*state) == \at(state_weight(*state), Pre) +
        own_weight(*attention, *plan, s, position_of(*attention, *plan, s, row), row, head, k);
      loop invariant sum: \forall integer j; 0 <= j < attention->head_dim ==>
        state_sum(*state, w->row_o[j]) == \at(state_sum(*state, w->row_o[j]), Pre) +
          own_value(*attention, *plan, s, position_of(*attention, *plan, s, row), row, head, k, j);
      loop invariant kept: parts_same{Pre,Here}(*w, attention->head_dim);
      loop assigns k, *state, w->row_o[0 .. attention->head_dim - 1],
        w->q[0 .. attention->head_dim - 1], w->part_o[0 .. attention->head_dim - 1];
      loop variant plan->row[s].n_chunks - k;
    */
    for (int k = plan->row[s].n_shared; k < plan->row[s].n_chunks; k++) {
        /*@ assert position: 0 <= k * c <= CP_MAX_DEPTH * CP_MAX_CHUNK_SIZE &&
              k * c == key_at(k, c); */
        int n_keys = cp_keys_in_chunk(visible, k * c, c); /* PLAN-7: visible <= the path's tokens */
        /*@ assert chunk: plan->row[s].chunk[k] == plan_chunk(*plan, s, k) &&
              0 <= plan_chunk(*plan, s, k) < plan->capacity; */
        /*@ assert tpp_6: chunk_readable(*attention, c, plan_chunk(*plan, s, k), head, n_keys); */
        merge_chunk(attention, plan, w, row, head, plan->row[s].chunk[k], n_keys, state);
        /*@ assert weight: own_chunk_weight(*attention, *plan, s, k,
              position_of(*attention, *plan, s, row), row, head) ==
              chunk_weight(*attention, c, row, head, plan->row[s].chunk[k], n_keys); */
        /*@ assert value: \forall integer j; own_chunk_value(*attention, *plan, s, k,
              position_of(*attention, *plan, s, row), row, head, j) ==
              chunk_value(*attention, c, row, head, plan->row[s].chunk[k], n_keys, j); */
    }
}

/* Merges what is kept for a query row and head by all descriptors. */
/*@
  requires valid: \valid(state) && \valid_read(attention) && \valid_read(w);
  requires heads: attention_heads(*attention);
  requires row: 0 <= row && 0 <= head < attention->n_heads;
  requires workspace: workspace_ok(*w, attention->head_dim);
  requires room: row_at(row, attention->n_heads) + attention->n_heads <= w->n_partials;
  requires ok: state_ok(*state, w->row_o, attention->head_dim) &&
    part_ok(part_at{Pre}(w->state, w->o, attention->head_dim,
      row_at(row, attention->n_heads) + head));
  assigns *state, w->row_o[0 .. attention->head_dim - 1];
  ensures ok: state_ok(*state, w->row_o, attention->head_dim);
  ensures weight: \forall struct cp_plan p, integer s, pos, n;
    part_of_shared(part_at{Pre}(w->state, w->o, attention->head_dim,
      row_at(row, attention->n_heads) + head),
      *attention, p, s, pos, row, head, n) ==>
    state_weight(*state) == \old(state_weight(*state)) +
      shared_weight(*attention, p, s, pos, row, head, n);
  ensures sum: \forall struct cp_plan p, integer s, pos, n, integer j;
    part_of_shared(part_at{Pre}(w->state, w->o, attention->head_dim,
      row_at(row, attention->n_heads) + head),
      *attention, p, s, pos, row, head, n) ==>
    0 <= j < attention->head_dim ==>
    state_sum(*state, w->row_o[j]) == state_sum(\old(*state), \old(w->row_o[j])) +
      shared_value(*attention, p, s, pos, row, head, n, j);
  ensures kept: parts_same{Pre,Post}(*w, attention->head_dim);
*/
static void merge_merged(const struct cp_attention *attention, const struct workspace *w, int row,
                         int head, struct cp_state *state) {
    /*@ assert countable: 0 <= row_at(row, attention->n_heads) &&
          row_at(w->n_partials, attention->head_dim) <= 0x7FFFFFFFFFFFFFFF; */
    size_t at = cp_row_begin((size_t)row, attention->n_heads) + (size_t)head;
    /*@ assert at: at == row_at(row, attention->n_heads) + head; */
    merge_kept(attention, w, at, state);
}

/* Merges what is kept for a query row and head by descriptor i, whose rows of partial results begin with row
 * `first`. */
/*@
  requires valid: \valid(state) && \valid_read(attention) && \valid_read(plan) && \valid_read(w);
  requires phases: phases_ok(*attention, *plan);
  requires variant: attention->variant != CP_MERGE_AT_ONCE;
  requires descriptor: 0 <= i < plan->n_shared;
  requires row: first_row(attention->query_begin, plan->shared[i].begin) <= row <
    first_row(attention->query_begin, plan->shared[i].end) && 0 <= head < attention->n_heads;
  requires first: first == part_row(attention->query_begin, *plan, i);
  requires workspace: workspace_ok(*w, attention->head_dim);
  requires partials: w->n_partials == n_partials(*attention, *plan);
  requires ok: state_ok(*state, w->row_o, attention->head_dim) &&
    part_ok(part_at{Pre}(w->state, w->o, attention->head_dim,
      place(row, rows_before(*attention, *plan, i), attention->n_heads) + head));
  assigns *state, w->row_o[0 .. attention->head_dim - 1];
  ensures ok: state_ok(*state, w->row_o, attention->head_dim);
  ensures weight: \forall integer pos;
    part_of_chunk(part_at{Pre}(w->state, w->o, attention->head_dim,
      place(row, rows_before(*attention, *plan, i), attention->n_heads) + head),
      *attention, *plan, i, pos, row, head) ==>
    state_weight(*state) == \old(state_weight(*state)) +
      shared_chunk_weight(*attention, *plan, i, pos, row, head);
  ensures sum: \forall integer pos, integer j;
    part_of_chunk(part_at{Pre}(w->state, w->o, attention->head_dim,
      place(row, rows_before(*attention, *plan, i), attention->n_heads) + head),
      *attention, *plan, i, pos, row, head) ==>
    0 <= j < attention->head_dim ==>
    state_sum(*state, w->row_o[j]) == state_sum(\old(*state), \old(w->row_o[j])) +
      shared_chunk_value(*attention, *plan, i, pos, row, head, j);
  ensures kept: parts_same{Pre,Post}(*w, attention->head_dim);
*/
static void merge_descriptor(const struct cp_attention *attention, const struct cp_plan *plan,
                             const struct workspace *w, int i, int row, int head, size_t first,
                             struct cp_state *state) {
    /*@ ghost part_rows_rise(attention, plan); */
    /*@ assert descriptor: plan_descriptor(*plan, i); */
    int begin = cp_first_row(attention, plan->shared[i].begin);
    size_t part_row = first + (size_t)(row - begin);
    /*@ assert part_row: part_row == row + rows_before(*attention, *plan, i); */
    /*@ assert below: part_row + 1 <=
          part_row(attention->query_begin, *plan, plan->n_shared); */
    /*@ assert inside: row_at(part_row, attention->n_heads) + attention->n_heads <=
          w->n_partials; */
    size_t at = cp_row_begin(part_row, attention->n_heads) + (size_t)head;
    /*@ assert at: at == place(row, rows_before(*attention, *plan, i), attention->n_heads) + head; */
    merge_kept(attention, w, at, state);
}

void cp_row_merge_shared(const struct cp_attention *attention, const struct cp_plan *plan,
                         const struct workspace *w, int s, int row, int head,
                         struct cp_state *state) {
    size_t first = 0; /* this descriptor's first row of partial results, counted in rows */
    /*@ ghost part_rows_rise(attention, plan); */
    if (attention->variant == CP_MERGE_AT_ONCE) {
        /*@ assert next: row_at(row, attention->n_heads) + attention->n_heads ==
              row_at(row + 1, attention->n_heads); */
        /*@ assert last: row + 1 <= first_row(attention->query_begin, plan->n_sequences); */
        /*@ assert inside: row_at(row, attention->n_heads) + attention->n_heads <=
              w->n_partials; */
        /*@ assert its_part: kept_shared(part_at(w->state, w->o, attention->head_dim,
                row_at(row, attention->n_heads) + head), *attention, *plan, s,
              position_of(*attention, *plan, s, row), row, plan->n_shared,
              row_at(row, attention->n_heads) + head); */
        /*@ assert part: part_of_shared(part_at(w->state, w->o, attention->head_dim,
                row_at(row, attention->n_heads) + head), *attention, *plan, s,
              position_of(*attention, *plan, s, row), row, head, plan->n_shared); */
        merge_merged(attention, w, row, head, state);
        return;
    }
    /*@
      loop invariant i: 0 <= i <= plan->n_shared;
      loop invariant first: first == part_row(attention->query_begin, *plan, i);
      loop invariant ok: state_ok(*state, w->row_o, attention->head_dim);
      loop invariant weight: state_weight(*state) == shared_weight(*attention, *plan, s,
        position_of(*attention, *plan, s, row), row, head, i);
      loop invariant sum: \forall integer j; 0 <= j < attention->head_dim ==>
        state_sum(*state, w->row_o[j]) == shared_value(*attention, *plan, s,
          position_of(*attention, *plan, s, row), row, head, i, j);
      loop invariant kept: parts_same{Pre,Here}(*w, attention->head_dim);
      loop assigns i, first, *state, w->row_o[0 .. attention->head_dim - 1];
      loop variant plan->n_shared - i;
    */
    for (int i = 0; i < plan->n_shared; i++) {
        /*@ assert descriptor: plan_descriptor(*plan, i); */
        int begin = cp_first_row(attention, plan->shared[i].begin);
        int end = cp_first_row(attention, plan->shared[i].end);
        /*@ assert covered: 0 <= end - begin &&
              end - begin == covered_rows(attention->query_begin, *plan, i); */
        /*@ assert yes: plan_serves(*plan, i, s) ==>
          shared_weight(*attention, *plan, s, position_of(*attention, *plan, s, row), row, head,
            i + 1) ==
          shared_weight(*attention, *plan, s, position_of(*attention, *plan, s, row), row, head,
            i) +
          shared_chunk_weight(*attention, *plan, i, position_of(*attention, *plan, s, row), row, head); */
        /*@ assert yes_sum: \forall integer j; plan_serves(*plan, i, s) ==>
          shared_value(*attention, *plan, s, position_of(*attention, *plan, s, row), row, head,
            i + 1, j) ==
          shared_value(*attention, *plan, s, position_of(*attention, *plan, s, row), row, head,
            i, j) +
          shared_chunk_value(*attention, *plan, i, position_of(*attention, *plan, s, row), row, head, j); */
        /*@ assert no: !plan_serves(*plan, i, s) ==>
          shared_weight(*attention, *plan, s, position_of(*attention, *plan, s, row), row, head,
            i + 1) ==
          shared_weight(*attention, *plan, s, position_of(*attention, *plan, s, row), row, head,
            i); */
        /*@ assert no_sum: \forall integer j; !plan_serves(*plan, i, s) ==>
          shared_value(*attention, *plan, s, position_of(*attention, *plan, s, row), row, head,
            i + 1, j) ==
          shared_value(*attention, *plan, s, position_of(*attention, *plan, s, row), row, head,
            i, j); */
        if (plan->shared[i].begin <= s && s < plan->shared[i].end) {
            /*@ assert begins: begin <= first_row(attention->query_begin, s); */
            /*@ assert ends: first_row(attention->query_begin, s + 1) <= end; */
            /*@ assert rows: 0 <= row + rows_before(*attention, *plan, i) &&
                  row + rows_before(*attention, *plan, i) + 1 <=
                    part_row(attention->query_begin, *plan, plan->n_shared); */
            /*@ assert inside: 0 <= place(row, rows_before(*attention, *plan, i),
                    attention->n_heads) &&
                  place(row, rows_before(*attention, *plan, i), attention->n_heads) +
                    attention->n_heads <= w->n_partials; */
            /*@ assert its_part: kept_chunk(part_at{Pre}(w->state, w->o, attention->head_dim,
                    place(row, rows_before(*attention, *plan, i), attention->n_heads) + head),
                  *attention, *plan, i, position_of(*attention, *plan, s, row), row,
                  rows_before(*attention, *plan, i),
                  place(row, rows_before(*attention, *plan, i), attention->n_heads) + head); */
            /*@ assert kept: part_of_chunk(part_at{Pre}(w->state, w->o, attention->head_dim,
                    place(row, rows_before(*attention, *plan, i), attention->n_heads) + head),
                  *attention, *plan, i, position_of(*attention, *plan, s, row), row, head); */
            /*@ assert same: part_at{Here}(w->state, w->o, attention->head_dim,
                    place(row, rows_before(*attention, *plan, i), attention->n_heads) + head) ==
                  part_at{Pre}(w->state, w->o, attention->head_dim,
                    place(row, rows_before(*attention, *plan, i), attention->n_heads) + head); */
            merge_descriptor(attention, plan, w, i, row, head, first, state);
        }
        first += (size_t)(end - begin);
    }
}
