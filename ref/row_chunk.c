/* SPDX-License-Identifier: Apache-2.0 */
/* A query row and head, and one chunk (TPP-5, TPP-6, PREFILL-2 to PREFILL-4). */
#include "row_chunk_internal.h"

#include "chunkproof/number.h"
#include "chunkproof/softmax.h"
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

int cp_keys_from(int p, int position, int n_tokens) {
    if (p < position) {
        return 0;
    }
    int before = p - position; /* of these keys before p */
    return before < n_tokens ? before + 1 : n_tokens;
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

void cp_attend_chunk(const struct cp_attention *attention, const struct cp_plan *plan, double *q,
                     struct cp_state *state, double *o, int row, int head, int chunk, int n_keys) {
    size_t kv_head = (size_t)kv_head_of_query(attention, head);
    size_t at = cp_row_offset(attention, row, head);
    load_query(attention, at, q);
    //@ ghost slice_is_countable(attention, plan, row, head, chunk, n_keys, kv_head);
    size_t slice = (size_t)chunk * (size_t)attention->n_kv_heads + kv_head;
    //@ assert slice: slice == row_at(chunk, attention->n_kv_heads) + kv_head;
    size_t first = slice * (size_t)plan->chunk_size;
    //@ assert first: first == key_row(*attention, plan->chunk_size, chunk, head);
    //@ ghost same_sums_of(attention, q, at, first, n_keys);
    cp_partial_attn(state, o, q, attention->k, attention->v, attention->kv_type, first, n_keys,
                    attention->head_dim, attention->scale);
}
