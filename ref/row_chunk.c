/* SPDX-License-Identifier: Apache-2.0 */
/* A query row and head, and one chunk (TPP-5, TPP-6, PREFILL-2 to PREFILL-4, WINDOW-1 to
 * WINDOW-3, MASK-1 to MASK-3). */
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
    struct cp_seen seen = {0, 0, cp_keys_from(last, position, n_tokens), position,
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
  ensures score_5: biases_ready(\result.bias);
*/
static struct cp_scoring scoring_of(const struct cp_attention *attention, int head, size_t first,
                                    double distance) /*@ ghost (int n) */ {
    const struct cp_biases *biases = &attention->scores.biases;
    struct cp_scoring how = {attention->scale,
                             attention->scores.cap,
                             0.0,
                             distance,
                             {NULL, 0, 0, 0},
                             scaling_of(attention, attention->scales.k, head, first),
                             scaling_of(attention, attention->scales.v, head, first)};
    if (attention->scores.slopes != NULL) {
        how.slope = cp_double_load(attention->scores.slopes, (size_t)head);
    }
    if (biases->bias != NULL) {
        size_t begin = (size_t)head * (size_t)biases->n;
        //@ assert begin: begin == row_at(head, biases->n) && begin <= 0x3FFFFFFF00000001;
        how.bias = (struct cp_biasing){biases->bias, begin, biases->n, biases->own};
    }
    return how;
}

/* Computes partial_attn of a query row, which is in q, and head over the n keys from row `first` of
 * K on. The first of them is so far from the row. */
/*@
  requires valid: \valid_read(attention) && \valid(state) &&
    \valid(o + (0 .. attention->value_dim - 1)) && \valid_read(q + (0 .. attention->head_dim - 1));
  requires size: 0 <= attention->head_dim && 0 <= n <= CP_MAX_CHUNK_SIZE;
  requires query: query_copied(q, *attention, at, attention->head_dim);
  requires heads: attention_heads(*attention) && 0 <= head < attention->n_heads;
  requires scores: scores_readable(*attention, head);
  requires places: rows_fit_of(*attention, first + n);
  requires tpp_6: keys_and_values_of(*attention, first, n);
  requires num_18: scales_readable_from(*attention, head, first, n);
  requires apart: \separated(state, o + (0 .. attention->value_dim - 1),
    q + (0 .. attention->head_dim - 1));
  assigns *state, o[0 .. attention->value_dim - 1];
  ensures ok: state_ok(*state, o, attention->value_dim);
  ensures tpp_6_weight: state_weight(*state) ==
    rows_weight(*attention, at, head, first, n, distance);
  ensures sum: \forall integer i; 0 <= i < attention->value_dim ==>
    state_sum(*state, o[i]) == rows_value(*attention, at, head, first, n, distance, i);
*/
static void attend_rows(const struct cp_attention *attention, const double *q,
                        struct cp_state *state, double *o, int head, size_t first, int n,
                        double distance)
/*@ ghost (size_t at) */ {
    struct cp_scoring how = scoring_of(attention, head, first, distance) /*@ ghost (n) */;
    //@ ghost same_sums_of(attention, q, at, first, how, n);
    cp_partial_attn_of(state, o, q, attention->k, attention->v, attention->k_type,
                       attention->v_type, first, n, attention->head_dim, attention->value_dim,
                       attention->v_row, how);
}

/* WINDOW-3: computes the same and merges it into a state. part_o has room for d numbers. */
/*@
  requires valid: \valid_read(attention) && \valid(state) &&
    \valid(o + (0 .. attention->value_dim - 1)) &&
    \valid(part_o + (0 .. attention->value_dim - 1)) &&
    \valid_read(q + (0 .. attention->head_dim - 1));
  requires size: 0 <= attention->head_dim && 0 <= n <= CP_MAX_CHUNK_SIZE;
  requires query: query_copied(q, *attention, at, attention->head_dim);
  requires heads: attention_heads(*attention) && 0 <= head < attention->n_heads;
  requires scores: scores_readable(*attention, head);
  requires places: rows_fit_of(*attention, first + n);
  requires tpp_6: keys_and_values_of(*attention, first, n);
  requires num_18: scales_readable_from(*attention, head, first, n);
  requires apart: \separated(state, o + (0 .. attention->value_dim - 1),
    q + (0 .. attention->head_dim - 1), part_o + (0 .. attention->value_dim - 1));
  requires ok: state_ok(*state, o, attention->value_dim);
  assigns *state, o[0 .. attention->value_dim - 1], part_o[0 .. attention->value_dim - 1];
  ensures ok: state_ok(*state, o, attention->value_dim);
  ensures weight: state_weight(*state) ==
    \old(state_weight(*state)) + rows_weight(*attention, at, head, first, n, distance);
  ensures sum: \forall integer i; 0 <= i < attention->value_dim ==> state_sum(*state, o[i]) ==
    state_sum(\old(*state), \old(o[i])) +
      rows_value(*attention, at, head, first, n, distance, i);
*/
static void merge_rows(const struct cp_attention *attention, const double *q, double *part_o,
                       struct cp_state *state, double *o, int head, size_t first, int n,
                       double distance)
/*@ ghost (size_t at) */ {
    struct cp_state part;
    attend_rows(attention, q, &part, part_o, head, first, n, distance) /*@ ghost (at) */;
    //@ assert before: numbers_same{Pre,Here}(o, attention->value_dim);
    cp_attn_reduce(state, o, &part, part_o, attention->value_dim);
    /*@ assert part: \forall integer i; 0 <= i < attention->value_dim ==>
          state_sum(part, part_o[i]) == rows_value(*attention, at, head, first, n, distance, i); */
}

/* MASK-1: does the mask leave the key at position t to a query row? */
/*@
  requires valid: \valid_read(attention);
  requires mask: attention->mask.bits != \null;
  requires row: 0 <= row && 0 <= t <= 0xFFFFFFFF;
  assigns \nothing;
  ensures bool: \result == 0 || \result == 1;
  ensures mask_1: \result == 1 <==> mask_leaves(*attention, row, t);
*/
static int mask_leaves(const struct cp_attention *attention, int row, long long t) {
    long long begin = 0;
    if (attention->mask.begin != NULL) {
        begin = cp_position_load(attention->mask.begin, (size_t)row);
    }
    if (t < begin) {
        return 1;
    }
    //@ assert begin: begin == mask_begin(*attention, row) && (size_t)(t - begin) == t - begin;
    size_t first = cp_index_load(attention->mask.first, (size_t)row);
    //@ assert first: first == index_at(attention->mask.first, row);
    return cp_bit_load(attention->mask.bits, first + (size_t)(t - begin));
}

/* MASK-2: the first of the slots x .. end - 1 whose key the mask leaves to a query row (wanted: 1)
 * or takes away (0), of a chunk with slot 0 at `position`. None: end. */
/*@
  requires valid: \valid_read(attention);
  requires mask: attention->mask.bits != \null;
  requires slots: 0 <= position && 0 <= row && 0 <= x <= end && (wanted == 0 || wanted == 1);
  assigns \nothing;
  ensures mask_2: \result == mask_edge(*attention, row, position, x, end, wanted);
  ensures inside: x <= \result <= end;
  ensures found: \result < end ==>
    (mask_leaves(*attention, row, position + \result) <==> wanted == 1);
*/
static int edge_of(const struct cp_attention *attention, int row, int position, int x, int end,
                   int wanted) {
    /*@ loop invariant x: \at(x, Pre) <= x <= end;
        loop invariant mask_2: mask_edge(*attention, row, position, x, end, wanted) ==
          mask_edge(*attention, row, position, \at(x, Pre), end, wanted);
        loop assigns x; loop variant end - x; */
    while (x < end && mask_leaves(attention, row, (long long)position + x) != wanted) {
        x++;
    }
    return x;
}

/* MASK-3: merges what the mask leaves to a query row of the slots begin .. end - 1, range by range.
 * Of bits 1 1 0 1 it is slots 0 and 1, then slot 3. */
/*@
  requires valid: \valid_read(attention) && \valid(state) &&
    \valid(o + (0 .. attention->value_dim - 1)) &&
    \valid(part_o + (0 .. attention->value_dim - 1)) &&
    \valid_read(q + (0 .. attention->head_dim - 1));
  requires mask: attention->mask.bits != \null;
  requires slots: 0 <= begin <= end <= CP_MAX_CHUNK_SIZE && 0 <= seen.position;
  requires row: 0 <= row && at == query_at(*attention, row, head);
  requires query: query_copied(q, *attention, at, attention->head_dim);
  requires heads: attention_heads(*attention) && 0 <= head < attention->n_heads;
  requires scores: scores_readable(*attention, head);
  requires places: rows_fit_of(*attention, first + end);
  requires tpp_6: keys_and_values_of(*attention, first, end);
  requires num_18: scales_readable_from(*attention, head, first, end);
  requires apart: \separated(state, o + (0 .. attention->value_dim - 1),
    q + (0 .. attention->head_dim - 1), part_o + (0 .. attention->value_dim - 1));
  requires ok: state_ok(*state, o, attention->value_dim);
  assigns *state, o[0 .. attention->value_dim - 1], part_o[0 .. attention->value_dim - 1];
  ensures ok: state_ok(*state, o, attention->value_dim);
  ensures weight: state_weight(*state) == \old(state_weight(*state)) +
    range_weight(*attention, row, head, first, seen.position, begin, end, seen.distance);
  ensures sum: \forall integer i; 0 <= i < attention->value_dim ==> state_sum(*state, o[i]) ==
    state_sum(\old(*state), \old(o[i])) +
      range_value(*attention, row, head, first, seen.position, begin, end, seen.distance, i);
*/
static void merge_left(const struct cp_attention *attention, const double *q, double *part_o,
                       struct cp_state *state, double *o, int row, int head, size_t first,
                       struct cp_seen seen, int begin, int end)
/*@ ghost (size_t at) */ {
    int x = begin;
    /*@ loop invariant x: begin <= x <= end;
        loop invariant ok: state_ok(*state, o, attention->value_dim);
        loop invariant weight: state_weight(*state) +
          range_weight(*attention, row, head, first, seen.position, x, end, seen.distance) ==
          \at(state_weight(*state), Pre) +
          range_weight(*attention, row, head, first, seen.position, begin, end, seen.distance);
        loop invariant sum: \forall integer i; 0 <= i < attention->value_dim ==>
          state_sum(*state, o[i]) +
          range_value(*attention, row, head, first, seen.position, x, end, seen.distance, i) ==
          state_sum(\at(*state, Pre), \at(o[i], Pre)) +
          range_value(*attention, row, head, first, seen.position, begin, end, seen.distance, i);
        loop assigns x, *state, o[0 .. attention->value_dim - 1],
          part_o[0 .. attention->value_dim - 1];
        loop variant end - x; */
    while (x < end) {
        //@ ghost int last = x;
        int from = edge_of(attention, row, seen.position, x, end, 1);
        x = edge_of(attention, row, seen.position, from, end, 0);
        /*@ assert next: \forall integer i;
              range_value(*attention, row, head, first, seen.position, last, end, seen.distance,
                i) ==
              rows_value(*attention, at, head, first + from, x - from, seen.distance + from, i) +
              range_value(*attention, row, head, first, seen.position, x, end, seen.distance, i); */
        size_t begin_row = first + (size_t)from;
        //@ assert begin_row: begin_row == first + from;
        merge_rows(attention, q, part_o, state, o, head, begin_row, x - from,
                   seen.distance + from) /*@ ghost (at) */;
        /*@ assert added: \forall integer i; 0 <= i < attention->value_dim ==>
              state_sum(*state, o[i]) ==
              state_sum(\at(*state, LoopCurrent), \at(o[i], LoopCurrent)) +
              rows_value(*attention, at, head, first + from, x - from, seen.distance + from, i); */
    }
}

/* TPP-6: computes the state of what a query row, which is in q, and head see of a chunk, whose keys
 * begin with row `first` of K. That is all of both ranges, as there is no mask. */
/*@
  requires valid: \valid_read(attention) && \valid(state) &&
    \valid(o + (0 .. attention->value_dim - 1)) &&
    \valid(kept_o + (0 .. attention->value_dim - 1)) &&
    \valid_read(q + (0 .. attention->head_dim - 1));
  requires seen: seen_ordered(seen, CP_MAX_CHUNK_SIZE);
  requires row: 0 <= row && at == query_at(*attention, row, head);
  requires query: query_copied(q, *attention, at, attention->head_dim);
  requires heads: attention_heads(*attention) && 0 <= head < attention->n_heads;
  requires scores: scores_readable(*attention, head);
  requires places: rows_fit_of(*attention, first + seen.end);
  requires tpp_6: keys_and_values_of(*attention, first, seen.end);
  requires num_18: scales_readable_from(*attention, head, first, seen.end);
  requires apart: \separated(state, o + (0 .. attention->value_dim - 1),
    q + (0 .. attention->head_dim - 1), kept_o + (0 .. attention->value_dim - 1));
  requires mask: attention->mask.bits == \null;
  assigns *state, o[0 .. attention->value_dim - 1], kept_o[0 .. attention->value_dim - 1];
  ensures ok: state_ok(*state, o, attention->value_dim);
  ensures weight: state_weight(*state) ==
    range_weight(*attention, row, head, first, seen.position, seen.begin, seen.end,
      seen.distance) +
    range_weight(*attention, row, head, first, seen.position, 0, seen.kept, seen.distance);
  ensures sum: \forall integer i; 0 <= i < attention->value_dim ==> state_sum(*state, o[i]) ==
    range_value(*attention, row, head, first, seen.position, seen.begin, seen.end,
      seen.distance, i) +
    range_value(*attention, row, head, first, seen.position, 0, seen.kept, seen.distance, i);
*/
static void attend_all(const struct cp_attention *attention, const double *q, double *kept_o,
                       struct cp_state *state, double *o, int row, int head, size_t first,
                       struct cp_seen seen)
/*@ ghost (size_t at) */ {
    (void)row;
    size_t begin_row = first + (size_t)seen.begin;
    //@ assert begin_row: begin_row == first + seen.begin;
    attend_rows(attention, q, state, o, head, begin_row, seen.end - seen.begin,
                seen.distance + seen.begin) /*@ ghost (at) */;
    /*@ assert begun: \forall integer i; 0 <= i < attention->value_dim ==>
          state_sum(*state, o[i]) == rows_value(*attention, at, head, first + seen.begin,
            seen.end - seen.begin, seen.distance + seen.begin, i); */
    merge_rows(attention, q, kept_o, state, o, head, first, seen.kept,
               seen.distance) /*@ ghost (at) */;
    //@ assert at: at == query_at(*attention, row, head);
    /*@ assert weight: state_weight(*state) ==
          rows_weight(*attention, at, head, first + seen.begin, seen.end - seen.begin,
            seen.distance + seen.begin) +
          rows_weight(*attention, at, head, first, seen.kept, seen.distance); */
    /*@ assert sum: \forall integer i; 0 <= i < attention->value_dim ==> state_sum(*state, o[i]) ==
          rows_value(*attention, at, head, first + seen.begin, seen.end - seen.begin,
            seen.distance + seen.begin, i) +
          rows_value(*attention, at, head, first, seen.kept, seen.distance, i); */
}

/* MASK-3: the same of what the mask leaves of both. */
/*@
  requires valid: \valid_read(attention) && \valid(state) &&
    \valid(o + (0 .. attention->value_dim - 1)) &&
    \valid(kept_o + (0 .. attention->value_dim - 1)) &&
    \valid_read(q + (0 .. attention->head_dim - 1));
  requires seen: seen_ordered(seen, CP_MAX_CHUNK_SIZE);
  requires row: 0 <= row && at == query_at(*attention, row, head);
  requires query: query_copied(q, *attention, at, attention->head_dim);
  requires heads: attention_heads(*attention) && 0 <= head < attention->n_heads;
  requires scores: scores_readable(*attention, head);
  requires places: rows_fit_of(*attention, first + seen.end);
  requires tpp_6: keys_and_values_of(*attention, first, seen.end);
  requires num_18: scales_readable_from(*attention, head, first, seen.end);
  requires apart: \separated(state, o + (0 .. attention->value_dim - 1),
    q + (0 .. attention->head_dim - 1), kept_o + (0 .. attention->value_dim - 1));
  requires mask: attention->mask.bits != \null;
  assigns *state, o[0 .. attention->value_dim - 1], kept_o[0 .. attention->value_dim - 1];
  ensures ok: state_ok(*state, o, attention->value_dim);
  ensures weight: state_weight(*state) ==
    range_weight(*attention, row, head, first, seen.position, seen.begin, seen.end,
      seen.distance) +
    range_weight(*attention, row, head, first, seen.position, 0, seen.kept, seen.distance);
  ensures sum: \forall integer i; 0 <= i < attention->value_dim ==> state_sum(*state, o[i]) ==
    range_value(*attention, row, head, first, seen.position, seen.begin, seen.end,
      seen.distance, i) +
    range_value(*attention, row, head, first, seen.position, 0, seen.kept, seen.distance, i);
*/
static void attend_left(const struct cp_attention *attention, const double *q, double *kept_o,
                        struct cp_state *state, double *o, int row, int head, size_t first,
                        struct cp_seen seen)
/*@ ghost (size_t at) */ {
    cp_state_empty(state, o, attention->value_dim);
    /*@ assert none: state_weight(*state) == 0.0 &&
          \forall integer i; 0 <= i < attention->value_dim ==> state_sum(*state, o[i]) == 0.0; */
    merge_left(attention, q, kept_o, state, o, row, head, first, seen, seen.begin,
               seen.end) /*@ ghost (at) */;
    merge_left(attention, q, kept_o, state, o, row, head, first, seen, 0,
               seen.kept) /*@ ghost (at) */;
}

void cp_attend_chunk(const struct cp_attention *attention, const struct cp_plan *plan, double *q,
                     double *kept_o, struct cp_state *state, double *o, int row, int head,
                     int chunk, struct cp_seen seen) {
    size_t kv_head = (size_t)kv_head_of_query(attention, head);
    size_t at = cp_row_offset(attention, row, head, attention->head_dim);
    load_query(attention, at, q);
    //@ ghost slice_is_countable(attention, plan, row, head, chunk, seen.end, kv_head);
    size_t slice = (size_t)chunk * (size_t)attention->n_kv_heads + kv_head;
    //@ assert slice: slice == row_at(chunk, attention->n_kv_heads) + kv_head;
    /*@ assert row: row_at(slice, plan->chunk_size) ==
          key_row(*attention, plan->chunk_size, chunk, head); */
    size_t first = cp_row_begin(slice, plan->chunk_size);
    //@ assert first: first == key_row(*attention, plan->chunk_size, chunk, head);
    /*@ assert kept: keys_and_values_of(*attention, first, seen.end) &&
          scales_readable_from(*attention, head, first, seen.end); */
    if (attention->mask.bits == NULL) {
        attend_all(attention, q, kept_o, state, o, row, head, first, seen) /*@ ghost (at) */;
    } else {
        attend_left(attention, q, kept_o, state, o, row, head, first, seen) /*@ ghost (at) */;
    }
}
