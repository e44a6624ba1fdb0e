/* SPDX-License-Identifier: Apache-2.0 */
/* A query row and head, and one chunk (TPP-5, TPP-6, PREFILL-2 to PREFILL-4, WINDOW-1 to
 * WINDOW-3). */
#include "row_chunk_internal.h"

#include "chunkproof/number.h"
#include "chunkproof/softmax.h"
#include "number_internal.h"
#include "softmax_internal.h"
#include "workspace_internal.h"

#ifdef __FRAMAC__
#include "proofs/logic/row_chunk.h"
#endif

int cp_position_of_row(const struct cp_attention *attention, const struct cp_plan *plan, int s,
                       int row) {
    if (attention->position != NULL) {
        return attention->position[row];
    }
    int later = cp_first_row(attention, s + 1) - 1 - row; /* rows of the sequence behind this one */
    return plan->sequence[s].n_tokens - 1 - later;
}

int cp_keys_from(long long p, int position, int n_tokens) {
    if (p < position) {
        return 0;
    }
    long long before = p - position; /* of these keys before p */
    return before < n_tokens ? (int)before + 1 : n_tokens;
}

struct cp_seen cp_seen_of(const struct cp_attention *attention, int p, int position, int n_tokens) {
    long long last = (long long)p + attention->window.ahead;  /* that the row sees */
    long long hidden = (long long)p - attention->window.keys; /* the last one before the window */
    long long kept = (long long)attention->window.kept - 1;   /* the last of the first ones */
    struct cp_seen seen = {0, 0, cp_keys_from(last, position, n_tokens),
                           (double)position - (double)p};
    if (attention->window.keys != 0) {
        seen.begin = cp_keys_from(hidden, position, seen.end);
    }
    seen.kept = cp_keys_from(kept, position, seen.begin);
    return seen;
}

/* Loads the query that begins at element `at`, as doubles. */
/*@
  requires valid: \valid_read(attention) && \valid(q + (0 .. attention->head_dim - 1));
  requires size: 0 <= attention->head_dim;
  requires countable: at + attention->head_dim <= 0x7FFFFFFFFFFFFFFF;
  requires readable: row_readable((void *)attention->q, attention->q_type, at, attention->head_dim);
  requires apart: \separated(attention, q + (0 .. attention->head_dim - 1));
  assigns q[0 .. attention->head_dim - 1];
  ensures query: \forall integer i; 0 <= i < attention->head_dim ==>
    q[i] == element((void *)attention->q, attention->q_type, at + i);
*/
static void load_query(const struct cp_attention *attention, size_t at, double *q) {
    /*@ loop invariant i: 0 <= i <= attention->head_dim;
        loop invariant query: query_copied(q, *attention, at, i);
        loop assigns i, q[0 .. attention->head_dim - 1]; loop variant attention->head_dim - i; */
    for (int i = 0; i < attention->head_dim; i++) {
        double q_i = cp_number_load(attention->q, attention->q_type, at + (size_t)i);
        //@ assert element: q_i == element((void *)attention->q, attention->q_type, at + i);
        q[i] = q_i;
    }
}

/* TPP-5: returns the K/V head of a query head. With 8 query heads and 2 K/V heads, heads 0 to 3
 * have 0. */
/*@
  requires valid: \valid_read(attention);
  requires heads: attention_heads(*attention);
  requires head: 0 <= head < attention->n_heads;
  assigns \nothing;
  ensures tpp_5: \result == kv_head_of(*attention, head);
  ensures inside: 0 <= \result < attention->n_kv_heads;
*/
static int kv_head_of_query(const struct cp_attention *attention, int head) {
    //@ ghost head_has_group(attention->n_heads, attention->n_kv_heads, head);
    int group = attention->n_heads / attention->n_kv_heads;
    return head / group;
}

/* NUM-18: the scales of the rows of K, or of V, from row `first` on, which are of a K/V head. With
 * h_kv = 2 and c = 4, slot 3 of head 1 of chunk 2 is row (2 * 2 + 1) * 4 + 3 = 23. */
/*@
  requires valid: \valid_read(attention);
  requires heads: attention_heads(*attention);
  requires head: 0 <= head < attention->n_heads;
  assigns \nothing;
  ensures num_18: made_scaling(\result) == scales_from(scales, *attention, head, first);
  ensures scales: \result.scales == scales && (\result.each == 0 || \result.each == 1);
  ensures place: \forall integer j; scale_place(*attention, head, first + j) ==
    scale_index(\result, j);
  ensures begin: \result.begin <= \max(first, 0x7FFFFFFF);
*/
static struct cp_scaling scaling_of(const struct cp_attention *attention, const float *scales,
                                    int head, size_t first) {
    struct cp_scaling scaling = {scales, 0, attention->scales.per == CP_CACHE_SCALE_TOKEN};
    if (attention->scales.per == CP_CACHE_SCALE_TOKEN) {
        scaling.begin = first;
    } else if (attention->scales.per == CP_CACHE_SCALE_HEAD) {
        scaling.begin = (size_t)kv_head_of_query(attention, head);
    }
    return scaling;
}

/* How the scores of a query head are made, and its values. The first key is in row `first` of K,
 * and so far from the query row. */
/*@
  requires valid: \valid_read(attention);
  requires heads: attention_heads(*attention);
  requires head: 0 <= head < attention->n_heads;
  requires readable: scores_readable(*attention, head);
  requires num_18: 0 <= n <= CP_MAX_CHUNK_SIZE && first + n <= 0x7FFFFFFFFFFFFFFF &&
    scales_readable_from(*attention, head, first, n);
  assigns \nothing;
  ensures score_2: made_by(\result) == scoring_from(*attention, head, first, distance);
  ensures num_18: scales_ready(\result.k, n) && scales_ready(\result.v, n);
*/
static struct cp_scoring scoring_of(const struct cp_attention *attention, int head, size_t first,
                                    double distance) /*@ ghost (int n) */ {
    struct cp_scoring how = {attention->scale,
                             attention->scores.cap,
                             0.0,
                             distance,
                             scaling_of(attention, attention->scales.k, head, first),
                             scaling_of(attention, attention->scales.v, head, first)};
    if (attention->scores.slopes != NULL) {
        how.slope = cp_double_load(attention->scores.slopes, (size_t)head);
    }
    return how;
}

/* Computes partial_attn of a query row, which is in q, and head over the n keys from row `first` of
 * K on. The first of them is so far from the row. */
/*@
  requires valid: \valid_read(attention) && \valid(state) &&
    \valid(o + (0 .. attention->head_dim - 1)) && \valid_read(q + (0 .. attention->head_dim - 1));
  requires size: 0 <= attention->head_dim && 0 <= n <= CP_MAX_CHUNK_SIZE;
  requires query: query_copied(q, *attention, at, attention->head_dim);
  requires heads: attention_heads(*attention) && 0 <= head < attention->n_heads;
  requires scores: scores_readable(*attention, head);
  requires places: rows_fit(first + n, attention->head_dim);
  requires tpp_6: keys_and_values((void *)attention->k, (void *)attention->v, attention->k_type,
    attention->v_type, first, n, attention->head_dim);
  requires num_18: scales_readable_from(*attention, head, first, n);
  requires apart: \separated(state, o + (0 .. attention->head_dim - 1),
    q + (0 .. attention->head_dim - 1));
  assigns *state, o[0 .. attention->head_dim - 1];
  ensures ok: state_ok(*state, o, attention->head_dim);
  ensures tpp_6_weight: state_weight(*state) ==
    rows_weight(*attention, at, head, first, n, distance);
  ensures sum: \forall integer i; 0 <= i < attention->head_dim ==>
    state_sum(*state, o[i]) == rows_value(*attention, at, head, first, n, distance, i);
*/
static void attend_rows(const struct cp_attention *attention, const double *q,
                        struct cp_state *state, double *o, int head, size_t first, int n,
                        double distance)
/*@ ghost (size_t at) */ {
    struct cp_scoring how = scoring_of(attention, head, first, distance) /*@ ghost (n) */;
    //@ ghost same_sums_of(attention, q, at, first, how, n);
    cp_partial_attn_of(state, o, q, attention->k, attention->v, attention->k_type,
                       attention->v_type, first, n, attention->head_dim, how);
}

/* WINDOW-3: computes the same and merges it into a state. part_o has room for d numbers. */
/*@
  requires valid: \valid_read(attention) && \valid(state) &&
    \valid(o + (0 .. attention->head_dim - 1)) &&
    \valid(part_o + (0 .. attention->head_dim - 1)) &&
    \valid_read(q + (0 .. attention->head_dim - 1));
  requires size: 0 <= attention->head_dim && 0 <= n <= CP_MAX_CHUNK_SIZE;
  requires query: query_copied(q, *attention, at, attention->head_dim);
  requires heads: attention_heads(*attention) && 0 <= head < attention->n_heads;
  requires scores: scores_readable(*attention, head);
  requires places: rows_fit(first + n, attention->head_dim);
  requires tpp_6: keys_and_values((void *)attention->k, (void *)attention->v, attention->k_type,
    attention->v_type, first, n, attention->head_dim);
  requires num_18: scales_readable_from(*attention, head, first, n);
  requires apart: \separated(state, o + (0 .. attention->head_dim - 1),
    q + (0 .. attention->head_dim - 1), part_o + (0 .. attention->head_dim - 1));
  requires ok: state_ok(*state, o, attention->head_dim);
  assigns *state, o[0 .. attention->head_dim - 1], part_o[0 .. attention->head_dim - 1];
  ensures ok: state_ok(*state, o, attention->head_dim);
  ensures weight: state_weight(*state) ==
    \old(state_weight(*state)) + rows_weight(*attention, at, head, first, n, distance);
  ensures sum: \forall integer i; 0 <= i < attention->head_dim ==> state_sum(*state, o[i]) ==
    state_sum(\old(*state), \old(o[i])) +
      rows_value(*attention, at, head, first, n, distance, i);
*/
static void merge_rows(const struct cp_attention *attention, const double *q, double *part_o,
                       struct cp_state *state, double *o, int head, size_t first, int n,
                       double distance)
/*@ ghost (size_t at) */ {
    struct cp_state part;
    attend_rows(attention, q, &part, part_o, head, first, n, distance) /*@ ghost (at) */;
    //@ assert before: numbers_same{Pre,Here}(o, attention->head_dim);
    cp_attn_reduce(state, o, &part, part_o, attention->head_dim);
    /*@ assert part: \forall integer i; 0 <= i < attention->head_dim ==>
          state_sum(part, part_o[i]) == rows_value(*attention, at, head, first, n, distance, i); */
}

void cp_attend_chunk(const struct cp_attention *attention, const struct cp_plan *plan, double *q,
                     double *kept_o, struct cp_state *state, double *o, int row, int head,
                     int chunk, struct cp_seen seen) {
    size_t kv_head = (size_t)kv_head_of_query(attention, head);
    size_t at = cp_row_offset(attention, row, head);
    load_query(attention, at, q);
    //@ ghost slice_is_countable(attention, plan, row, head, chunk, seen.end, kv_head);
    size_t slice = (size_t)chunk * (size_t)attention->n_kv_heads + kv_head;
    //@ assert slice: slice == row_at(chunk, attention->n_kv_heads) + kv_head;
    size_t first = slice * (size_t)plan->chunk_size;
    //@ assert first: first == key_row(*attention, plan->chunk_size, chunk, head);
    /*@ assert kept: keys_and_values((void *)attention->k, (void *)attention->v, attention->k_type,
          attention->v_type, first, seen.end, attention->head_dim) &&
          scales_readable_from(*attention, head, first, seen.end); */
    size_t begin = first + (size_t)seen.begin;
    //@ assert begin: begin == key_row(*attention, plan->chunk_size, chunk, head) + seen.begin;
    attend_rows(attention, q, state, o, head, begin, seen.end - seen.begin,
                seen.distance + seen.begin) /*@ ghost (at) */;
    //@ ghost slice_is_countable(attention, plan, row, head, chunk, seen.kept, kv_head);
    merge_rows(attention, q, kept_o, state, o, head, first, seen.kept,
               seen.distance) /*@ ghost (at) */;
    //@ assert at: at == query_at(*attention, row, head);
    /*@ assert weight: state_weight(*state) ==
          rows_weight(*attention, at, head, begin, seen.end - seen.begin,
            seen.distance + seen.begin) +
          rows_weight(*attention, at, head, first, seen.kept, seen.distance); */
    /*@ assert sum: \forall integer i; 0 <= i < attention->head_dim ==> state_sum(*state, o[i]) ==
          rows_value(*attention, at, head, begin, seen.end - seen.begin,
            seen.distance + seen.begin, i) +
          rows_value(*attention, at, head, first, seen.kept, seen.distance, i); */
}
