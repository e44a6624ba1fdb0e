/* SPDX-License-Identifier: Apache-2.0 */
#include "chunkproof/two_phase.h"

#include "attend_internal.h"
#include "chunkproof/number.h"
#include "chunkproof/softmax.h"

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

static struct workspace cut_workspace(const struct cp_attention *attention) {
    struct workspace w;
    size_t d = (size_t)attention->head_dim;
    w.n_partials = cp_partial_rows(attention) * (size_t)attention->n_heads;
    w.state = attention->workspace;
    w.o = (double *)(w.state + w.n_partials);
    w.q = w.o + w.n_partials * d;
    w.part_o = w.q + d;
    w.row_o = w.part_o + d;
    w.out = w.row_o + d;
    return w;
}

/* How many keys of its sequence s the query row sees, n - R + t + 1 for row t of R (PREFILL-1,
 * PREFILL-2). Not more than n, because t < R; below 1 it sees none (PREFILL-3). */
/*@
  requires valid: \valid_read(attention) && \valid_read(attention->plan);
  requires sequence: 0 <= s < CP_MAX_SEQUENCES;
  requires tokens: 0 <= attention->plan->row[s].n_tokens <= CP_MAX_DEPTH * CP_MAX_CHUNK_SIZE;
  requires valid_ranges: attention->query_begin == \null ||
    \valid_read(attention->query_begin + (s .. s + 1));
  requires row: 0 <= first_row(attention->query_begin, s) <= row <
    first_row(attention->query_begin, s + 1);
  assigns \nothing;
  ensures prefill_2: \result == keys_seen(row_position(attention->query_begin, s,
    attention->plan->row[s].n_tokens, row));
  ensures own: 0 <= \result <= attention->plan->row[s].n_tokens;
*/
static int visible_keys(const struct cp_attention *attention, int s, int row) {
    long long hidden = (long long)cp_first_row(attention, s + 1) - row - 1;
    long long visible = attention->plan->row[s].n_tokens - hidden;
    return visible < 0 ? 0 : (int)visible;
}

/* How many of the n_tokens keys from `position` on a row sees that sees `visible` keys (PREFILL-4). */
/*@
  requires counts: 0 <= visible && 0 <= position && 0 <= n_tokens;
  assigns \nothing;
  ensures prefill_4: \forall integer p; visible == keys_seen(p) ==>
    \result == keys_seen_in(p, position, n_tokens);
  ensures own: 0 <= \result <= n_tokens && \result <= visible;
*/
static int keys_in_chunk(int visible, int position, int n_tokens) {
    int n = visible - position;
    if (n < 0) {
        return 0;
    }
    return n < n_tokens ? n : n_tokens;
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
static size_t row_offset(const struct cp_attention *attention, int row, int head) {
    size_t index = (size_t)row * (size_t)attention->n_heads + (size_t)head;
    /*@ assert index: index == row_at(row, attention->n_heads) + head; */
    /*@ assert next: index + 1 <= row_at(row + 1, attention->n_heads); */
    /*@ assert countable: row_at(index + 1, attention->head_dim) <=
          row_at(row_at(row + 1, attention->n_heads), attention->head_dim); */
    /*@ assert inside: row_at(index, attention->head_dim) + attention->head_dim <=
          row_at(index + 1, attention->head_dim); */
    return index * (size_t)attention->head_dim;
}

/* The query that begins at element `at`, as doubles. */
/*@
  requires valid: \valid_read(attention) && \valid(q + (0 .. attention->head_dim - 1));
  requires size: 0 <= attention->head_dim;
  requires countable: at + attention->head_dim <= 0x7FFFFFFFFFFFFFFF;
  requires apart: \separated(attention, q + (0 .. attention->head_dim - 1));
  assigns q[0 .. attention->head_dim - 1];
  ensures query: \forall integer i; 0 <= i < attention->head_dim ==>
    q[i] == element((void *)attention->q, attention->q_type, at + i);
*/
static void load_query(const struct cp_attention *attention, size_t at, double *q) {
    /*@
      loop invariant i: 0 <= i <= attention->head_dim;
      loop invariant query: \forall integer j; 0 <= j < i ==>
        q[j] == element((void *)attention->q, attention->q_type, at + j);
      loop assigns i, q[0 .. attention->head_dim - 1];
      loop variant attention->head_dim - i;
    */
    for (int i = 0; i < attention->head_dim; i++) {
        double q_i = cp_number_load(attention->q, attention->q_type, at + (size_t)i);
        /*@ assert element: q_i == element((void *)attention->q, attention->q_type, at + i); */
        q[i] = q_i;
    }
}

/* The K/V head of a query head (TPP-5). */
/*@
  requires valid: \valid_read(attention);
  requires heads: attention_heads(*attention);
  requires head: 0 <= head < attention->n_heads;
  assigns \nothing;
  ensures tpp_5: \result == kv_head_of(*attention, head);
  ensures inside: 0 <= \result < attention->n_kv_heads;
*/
static int kv_head_of_query(const struct cp_attention *attention, int head) {
    int group = attention->n_heads / attention->n_kv_heads;
    /*@ assert whole: attention->n_heads == group * attention->n_kv_heads; */
    /*@ assert group: 1 <= group; */
    /*@ assert below: head / group < attention->n_kv_heads; */
    return head / group;
}

/* What is said of a query row in Q holds of its copy: by induction over its elements, over the keys. */
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

/* partial_attn of a query row and head over the first n_keys keys of a chunk (TPP-6), with the query head's
 * K/V head (TPP-5). The query is brought to q. */
/*@
  requires valid: \valid_read(attention) && \valid_read(attention->plan) && \valid(state) &&
    \valid(o + (0 .. attention->head_dim - 1)) && \valid(q + (0 .. attention->head_dim - 1));
  requires heads: attention_heads(*attention);
  requires place: 0 <= row && 0 <= head < attention->n_heads;
  requires chunk: 0 <= chunk < attention->plan->capacity;
  requires keys: 0 <= n_keys <= attention->plan->chunk_size <= CP_MAX_CHUNK_SIZE;
  requires countable: rows_countable(*attention, row + 1) &&
    keys_countable(*attention, attention->plan->chunk_size, attention->plan->capacity);
  requires apart: \separated(attention, attention->plan, state, o + (0 .. attention->head_dim - 1),
    q + (0 .. attention->head_dim - 1));
  assigns *state, o[0 .. attention->head_dim - 1], q[0 .. attention->head_dim - 1];
  ensures ok: state_ok(*state, o, attention->head_dim);
  ensures weight: state_weight(*state) ==
    chunk_weight(*attention, attention->plan->chunk_size, row, head, chunk, n_keys);
  ensures sum: \forall integer i; 0 <= i < attention->head_dim ==> state_sum(*state, o[i]) ==
    chunk_value(*attention, attention->plan->chunk_size, row, head, chunk, n_keys, i);
*/
static void attend_chunk(const struct cp_attention *attention, double *q, struct cp_state *state,
                         double *o, int row, int head, int chunk, int n_keys) {
    size_t kv_head = (size_t)kv_head_of_query(attention, head);
    size_t at = row_offset(attention, row, head);
    load_query(attention, at, q);
    size_t slice = (size_t)chunk * (size_t)attention->n_kv_heads + kv_head;
    /*@ assert slice: slice == row_at(chunk, attention->n_kv_heads) + kv_head; */
    /*@ assert next: slice + 1 <= row_at(chunk + 1, attention->n_kv_heads); */
    /*@ assert last: row_at(chunk + 1, attention->n_kv_heads) <=
          row_at(attention->plan->capacity, attention->n_kv_heads); */
    /*@ assert rows: row_at(slice + 1, attention->plan->chunk_size) <=
          row_at(row_at(attention->plan->capacity, attention->n_kv_heads),
            attention->plan->chunk_size); */
    /*@ assert inside: row_at(slice, attention->plan->chunk_size) + attention->plan->chunk_size <=
          row_at(slice + 1, attention->plan->chunk_size); */
    /*@ assert countable: row_at(row_at(attention->plan->capacity, attention->n_kv_heads),
            attention->plan->chunk_size) <= 0x7FFFFFFFFFFFFFFF; */
    size_t first = slice * (size_t)attention->plan->chunk_size;
    /*@ assert first: first == key_row(*attention, attention->plan->chunk_size, chunk, head); */
    /*@ assert end: row_at(first + n_keys, attention->head_dim) <=
          row_at(row_at(row_at(attention->plan->capacity, attention->n_kv_heads),
            attention->plan->chunk_size), attention->head_dim); */
    /*@ ghost same_sums(q, (void *)attention->q, attention->q_type, at, (void *)attention->k,
          (void *)attention->v, attention->kv_type, first, attention->head_dim, attention->scale,
          n_keys); */
    cp_partial_attn(state, o, q, attention->k, attention->v, attention->kv_type, first, n_keys,
                    attention->head_dim, attention->scale);
}

/* ---- Chunk first (Algorithm 1) ---- */

/*@
  // Partial result i is of the first n keys of a chunk, for a query row and head; with the weight and the
  // sums that were there before, if any.
  predicate part_ok{L}(struct workspace w, integer d, integer i) =
    state_ok(w.state[i], w.o + row_at(i, d), d);
  logic real part_weight{L}(struct workspace w, integer i) = state_weight(w.state[i]);
  logic real part_sum{L}(struct workspace w, integer d, integer i, integer j) =
    scaled(w.o[row_at(i, d) + j], w.state[i].m);

  // Partial results from `first` on are there, n of them, and the scratch; apart from each other.
  predicate parts_valid{L}(struct workspace w, integer d, integer first, integer n) =
    0 <= first && row_at(first + n, d) <= 0x7FFFFFFFFFFFFFFF &&
    \valid(w.state + (first .. first + n - 1)) &&
    \valid(w.o + (row_at(first, d) .. row_at(first + n, d) - 1)) &&
    \valid(w.q + (0 .. d - 1)) && \valid(w.part_o + (0 .. d - 1)) &&
    \separated(w.state + (first .. first + n - 1),
      w.o + (row_at(first, d) .. row_at(first + n, d) - 1), w.q + (0 .. d - 1),
      w.part_o + (0 .. d - 1));
*/

/* TPP-1: the state of the keys of a chunk that a row sees goes to partial result i, */
/*@
  requires valid: \valid_read(attention) && \valid_read(attention->plan) && \valid_read(w);
  requires heads: attention_heads(*attention);
  requires place: 0 <= row && 0 <= head < attention->n_heads;
  requires chunk: 0 <= chunk < attention->plan->capacity;
  requires keys: 0 <= n_keys <= attention->plan->chunk_size <= CP_MAX_CHUNK_SIZE;
  requires countable: rows_countable(*attention, row + 1) &&
    keys_countable(*attention, attention->plan->chunk_size, attention->plan->capacity);
  requires part: parts_valid(*w, attention->head_dim, i, 1);
  requires apart: \separated(attention->plan, w->state + i,
    w->o + (row_at(i, attention->head_dim) .. row_at(i + 1, attention->head_dim) - 1),
    w->q + (0 .. attention->head_dim - 1));
  assigns w->state[i],
    w->o[row_at(i, attention->head_dim) .. row_at(i + 1, attention->head_dim) - 1],
    w->q[0 .. attention->head_dim - 1];
  ensures ok: part_ok(*w, attention->head_dim, i);
  ensures weight: part_weight(*w, i) ==
    chunk_weight(*attention, attention->plan->chunk_size, row, head, chunk, n_keys);
  ensures sum: \forall integer j; 0 <= j < attention->head_dim ==>
    part_sum(*w, attention->head_dim, i, j) ==
      chunk_value(*attention, attention->plan->chunk_size, row, head, chunk, n_keys, j);
*/
static void keep_part(const struct cp_attention *attention, const struct workspace *w, int row,
                      int head, int chunk, int n_keys, size_t i) {
    /*@ assert next: row_at(i + 1, attention->head_dim) ==
          row_at(i, attention->head_dim) + attention->head_dim; */
    double *o = w->o + i * (size_t)attention->head_dim;
    /*@ assert o: o == w->o + row_at(i, attention->head_dim); */
    attend_chunk(attention, w->q, &w->state[i], o, row, head, chunk, n_keys);
}

/* or is merged into it. */
/*@
  requires valid: \valid_read(attention) && \valid_read(attention->plan) && \valid_read(w);
  requires heads: attention_heads(*attention);
  requires place: 0 <= row && 0 <= head < attention->n_heads;
  requires chunk: 0 <= chunk < attention->plan->capacity;
  requires keys: 0 <= n_keys <= attention->plan->chunk_size <= CP_MAX_CHUNK_SIZE;
  requires countable: rows_countable(*attention, row + 1) &&
    keys_countable(*attention, attention->plan->chunk_size, attention->plan->capacity);
  requires part: parts_valid(*w, attention->head_dim, i, 1);
  requires ok: part_ok(*w, attention->head_dim, i);
  requires apart: \separated(attention->plan, w->state + i,
    w->o + (row_at(i, attention->head_dim) .. row_at(i + 1, attention->head_dim) - 1),
    w->q + (0 .. attention->head_dim - 1), w->part_o + (0 .. attention->head_dim - 1));
  assigns w->state[i],
    w->o[row_at(i, attention->head_dim) .. row_at(i + 1, attention->head_dim) - 1],
    w->q[0 .. attention->head_dim - 1], w->part_o[0 .. attention->head_dim - 1];
  ensures ok: part_ok(*w, attention->head_dim, i);
  ensures weight: part_weight(*w, i) == \old(part_weight(*w, i)) +
    chunk_weight(*attention, attention->plan->chunk_size, row, head, chunk, n_keys);
  ensures sum: \forall integer j; 0 <= j < attention->head_dim ==>
    part_sum(*w, attention->head_dim, i, j) ==
      \old(part_sum(*w, attention->head_dim, i, j)) +
      chunk_value(*attention, attention->plan->chunk_size, row, head, chunk, n_keys, j);
*/
static void merge_part(const struct cp_attention *attention, const struct workspace *w, int row,
                       int head, int chunk, int n_keys, size_t i) {
    struct cp_state part;
    /*@ assert next: row_at(i + 1, attention->head_dim) ==
          row_at(i, attention->head_dim) + attention->head_dim; */
    double *o = w->o + i * (size_t)attention->head_dim;
    /*@ assert o: o == w->o + row_at(i, attention->head_dim); */
    attend_chunk(attention, w->q, &part, w->part_o, row, head, chunk, n_keys);
    cp_attn_reduce(&w->state[i], o, &part, w->part_o, attention->head_dim);
}

/* One shared chunk and one query row, all heads (TPP-1): to partial result `first` and those behind it. */
/*@
  requires valid: \valid_read(attention) && \valid_read(attention->plan) && \valid_read(w);
  requires heads: attention_heads(*attention);
  requires row: 0 <= row;
  requires chunk: 0 <= chunk < attention->plan->capacity;
  requires keys: 0 <= n_keys <= attention->plan->chunk_size <= CP_MAX_CHUNK_SIZE;
  requires countable: rows_countable(*attention, row + 1) &&
    keys_countable(*attention, attention->plan->chunk_size, attention->plan->capacity);
  requires parts: parts_valid(*w, attention->head_dim, first, attention->n_heads);
  requires apart: \separated(attention->plan, w->state + (first .. first + attention->n_heads - 1),
    w->o + (row_at(first, attention->head_dim) ..
      row_at(first + attention->n_heads, attention->head_dim) - 1),
    w->q + (0 .. attention->head_dim - 1));
  assigns w->state[first .. first + attention->n_heads - 1],
    w->o[row_at(first, attention->head_dim) ..
      row_at(first + attention->n_heads, attention->head_dim) - 1],
    w->q[0 .. attention->head_dim - 1];
  ensures tpp_1_weight: \forall integer i; first <= i < first + attention->n_heads ==>
    part_weight(*w, i) ==
      chunk_weight(*attention, attention->plan->chunk_size, row, i - first, chunk, n_keys);
  ensures tpp_1_sum: \forall integer i, j; first <= i < first + attention->n_heads ==>
    0 <= j < attention->head_dim ==> part_sum(*w, attention->head_dim, i, j) ==
      chunk_value(*attention, attention->plan->chunk_size, row, i - first, chunk, n_keys, j);
*/
static void keep_row(const struct cp_attention *attention, const struct workspace *w, int row,
                     int chunk, int n_keys, size_t first) {
    /*@
      loop invariant head: 0 <= head <= attention->n_heads;
      loop invariant weight: \forall integer b; first <= b < first + head ==> part_weight(*w, b) ==
        chunk_weight(*attention, attention->plan->chunk_size, row, b - first, chunk, n_keys);
      loop invariant sum: \forall integer b, j; first <= b < first + head ==>
        0 <= j < attention->head_dim ==> part_sum(*w, attention->head_dim, b, j) ==
          chunk_value(*attention, attention->plan->chunk_size, row, b - first, chunk, n_keys, j);
      loop assigns head, w->state[first .. first + attention->n_heads - 1],
        w->o[row_at(first, attention->head_dim) ..
          row_at(first + attention->n_heads, attention->head_dim) - 1],
        w->q[0 .. attention->head_dim - 1];
      loop variant attention->n_heads - head;
    */
    for (int head = 0; head < attention->n_heads; head++) {
        size_t i = first + (size_t)head;
        /*@ assert i: i == first + head; */
        /*@ assert inside: row_at(first, attention->head_dim) <= row_at(i, attention->head_dim) &&
              row_at(i + 1, attention->head_dim) <=
                row_at(first + attention->n_heads, attention->head_dim); */
        /*@ assert below: \forall integer b; first <= b < i ==>
              row_at(first, attention->head_dim) <= row_at(b, attention->head_dim) &&
              row_at(b, attention->head_dim) + attention->head_dim <=
                row_at(i, attention->head_dim); */
        /*@ assert apart: \forall integer p;
              row_at(first, attention->head_dim) <= p < row_at(i, attention->head_dim) ==>
              \separated(w->o + p, w->state + i) &&
              \separated(w->o + p, w->q + (0 .. attention->head_dim - 1)); */
        keep_part(attention, w, row, head, chunk, n_keys, i);
        /*@ assert before: \forall integer b; first <= b < i ==>
              w->state[b].m == \at(w->state[b].m, LoopCurrent) &&
              w->state[b].n == \at(w->state[b].n, LoopCurrent); */
        /*@ assert before_p: \forall integer p;
              row_at(first, attention->head_dim) <= p < row_at(i, attention->head_dim) ==>
              w->o[p] == \at(w->o[p], LoopCurrent); */
        /*@ assert weight: \forall integer b; first <= b < i ==>
              part_weight(*w, b) == \at(part_weight(*w, b), LoopCurrent); */
        /*@ assert sum: \forall integer b, j; first <= b < i ==> 0 <= j < attention->head_dim ==>
              part_sum(*w, attention->head_dim, b, j) ==
                \at(part_sum(*w, attention->head_dim, b, j), LoopCurrent); */
        /*@ assert kept: \forall integer b, j; first <= b < i ==> 0 <= j < attention->head_dim ==>
              part_sum(*w, attention->head_dim, b, j) ==
                chunk_value(*attention, attention->plan->chunk_size, row, b - first, chunk, n_keys,
                  j); */
        /*@ assert now: \forall integer b, j; i <= b < i + 1 ==> 0 <= j < attention->head_dim ==>
              part_sum(*w, attention->head_dim, b, j) ==
                chunk_value(*attention, attention->plan->chunk_size, row, b - first, chunk, n_keys,
                  j); */
        /*@ assert so_far: \forall integer b, j; first <= b < i + 1 ==>
              0 <= j < attention->head_dim ==> part_sum(*w, attention->head_dim, b, j) ==
                chunk_value(*attention, attention->plan->chunk_size, row, b - first, chunk, n_keys,
                  j); */
    }
}

/* The same, merged into the row's partial results (TPP-4). */
static void merge_row(const struct cp_attention *attention, const struct workspace *w, int row,
                      int chunk, int n_keys) {
    size_t first = (size_t)row * (size_t)attention->n_heads;
    for (int head = 0; head < attention->n_heads; head++) {
        merge_part(attention, w, row, head, chunk, n_keys, first + (size_t)head);
    }
}

void cp_chunk_first(const struct cp_attention *attention) {
    const struct cp_plan *plan = attention->plan;
    struct workspace w = cut_workspace(attention);
    size_t at = 0;
    if (attention->variant == CP_MERGE_AT_ONCE) {
        for (size_t i = 0; i < w.n_partials; i++) {
            double *o = w.o + i * (size_t)attention->head_dim;
            cp_state_empty(&w.state[i], o, attention->head_dim);
        }
    }
    for (int i = 0; i < plan->n_shared; i++) {
        const struct cp_shared_chunk *shared = &plan->shared[i];
        for (int s = shared->begin; s < shared->end; s++) {
            int end = cp_first_row(attention, s + 1);
            for (int row = cp_first_row(attention, s); row < end; row++) {
                int visible = visible_keys(attention, s, row);
                int n_keys = keys_in_chunk(visible, shared->position, shared->n_tokens);
                if (attention->variant == CP_BUFFERED) {
                    keep_row(attention, &w, row, shared->chunk, n_keys, at);
                } else {
                    merge_row(attention, &w, row, shared->chunk, n_keys);
                }
                at += (size_t)attention->n_heads;
            }
        }
    }
}

/* ---- Sequence first (Algorithm 2) ---- */

/* Merges what the chunk-first phase kept for a query row of sequence s and a head into (state, row_o),
 * in the order of the plan. */
static void merge_shared(const struct cp_attention *attention, const struct workspace *w, int s,
                         int row, int head, struct cp_state *state) {
    const struct cp_plan *plan = attention->plan;
    size_t n_heads = (size_t)attention->n_heads;
    size_t d = (size_t)attention->head_dim;
    size_t first = 0; /* the first partial result of descriptor i, counted in rows */
    if (attention->variant == CP_MERGE_AT_ONCE) {
        size_t at = (size_t)row * n_heads + (size_t)head;
        cp_attn_reduce(state, w->row_o, &w->state[at], w->o + at * d, attention->head_dim);
        return;
    }
    for (int i = 0; i < plan->n_shared; i++) {
        const struct cp_shared_chunk *shared = &plan->shared[i];
        int begin_row = cp_first_row(attention, shared->begin);
        if (shared->begin <= s && s < shared->end) {
            size_t at = (first + (size_t)(row - begin_row)) * n_heads + (size_t)head;
            cp_attn_reduce(state, w->row_o, &w->state[at], w->o + at * d, attention->head_dim);
        }
        first += (size_t)(cp_first_row(attention, shared->end) - begin_row);
    }
}

/* Goes on with the chunks that sequence s has alone. */
static void merge_own(const struct cp_attention *attention, const struct workspace *w, int s,
                      int row, int head, struct cp_state *state) {
    const struct cp_plan_row *path = &attention->plan->row[s];
    int c = attention->plan->chunk_size;
    int visible = visible_keys(attention, s, row);
    for (int k = path->n_shared; k < path->n_chunks; k++) {
        struct cp_state part;
        int n_keys = keys_in_chunk(visible, k * c, c); /* PLAN-7: visible <= the path's tokens */
        attend_chunk(attention, w->q, &part, w->part_o, row, head, path->chunk[k], n_keys);
        cp_attn_reduce(state, w->row_o, &part, w->part_o, attention->head_dim);
    }
}

static void finish_row(const struct cp_attention *attention, const struct workspace *w, int row,
                       int head, const struct cp_state *state) {
    size_t at = row_offset(attention, row, head);
    double lse = cp_finish(state, w->row_o, w->out, attention->head_dim);
    for (int i = 0; i < attention->head_dim; i++) {
        cp_number_store(attention->out, attention->out_type, at + (size_t)i, w->out[i]);
    }
    if (attention->lse != NULL) {
        attention->lse[(size_t)row * (size_t)attention->n_heads + (size_t)head] = lse;
    }
}

void cp_sequence_first(const struct cp_attention *attention) {
    struct workspace w = cut_workspace(attention);
    for (int s = 0; s < attention->plan->n_sequences; s++) {
        int end = cp_first_row(attention, s + 1);
        for (int row = cp_first_row(attention, s); row < end; row++) {
            for (int head = 0; head < attention->n_heads; head++) {
                struct cp_state state;
                cp_state_empty(&state, w.row_o, attention->head_dim);
                merge_shared(attention, &w, s, row, head, &state);
                merge_own(attention, &w, s, row, head, &state);
                finish_row(attention, &w, row, head, &state);
            }
        }
    }
}
