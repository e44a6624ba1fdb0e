/* SPDX-License-Identifier: Apache-2.0 */
/* LAYER-7: attention of one new token, whose entries come in order of position. Each seen key is a
 * state of its own, and MERGE-4 adds it to those before it. */
#include "chunkproof/layers.h"
#include "chunkproof/softmax.h"
#include "decoder_internal.h"

/* Does new token i see entry e? */
/*@
  requires valid: \valid_read(run);
  requires ready: run_ready(*run);
  requires place: 0 <= i < run->call.n_new && 0 <= e < run->cache.n + run->call.n_new;
  assigns \nothing;
  ensures layer_7: \result != 0 <==> token_sees(*run, i, e);
*/
static int sees(const struct run *run, int i, int e) {
    if (run->call.sees == NULL) {
        return run->cache.position[e] <= run->call.position[i];
    }
    int n_entries = run->cache.n + run->call.n_new;
    /*@ assert row: 0 <= row_at(i, n_entries) &&
          row_at(i, n_entries) + n_entries <= row_at(run->call.n_new, n_entries); */
    size_t place = cp_row_at(i, n_entries) + (size_t)e;
    //@ assert place: place == row_at(i, run->cache.n + run->call.n_new) + e;
    return run->call.sees[place] != 0;
}

/* The K/V head of a query head: with 8 query heads and 2 K/V heads, heads 0 to 3 have 0. */
/*@
  requires valid: \valid_read(shape);
  requires heads: heads_ok(*shape);
  requires head: 0 <= head < shape->n_heads;
  assigns \nothing;
  ensures layer_4: \result == head / (shape->n_heads / shape->n_kv_heads);
  ensures inside: 0 <= \result < shape->n_kv_heads;
*/
static int kv_head_of(const struct cp_decoder_shape *shape, int head) {
    int group = shape->n_heads / shape->n_kv_heads;
    //@ assert whole: shape->n_heads == group * shape->n_kv_heads;
    //@ assert group: 1 <= group;
    return head / group;
}

/*@
  requires valid: \valid_read(run);
  requires ready: run_ready(*run) && entries_ordered(*run);
  requires place: 0 <= l < run->decoder.shape.n_layers && 0 <= i < run->call.n_new &&
    0 <= head < run->decoder.shape.n_heads;
  assigns NUMBERS_OUT(run), NUMBERS_O(run);
*/
static void attend_head(const struct run *run, int l, int i, int head) {
    int d = run->decoder.shape.d_head, n_heads = run->decoder.shape.n_heads;
    //@ ghost head_is_inside(run, i, head);
    size_t row = cp_row_at(i, n_heads * d) + cp_row_at(head, d);
    //@ assert row: 0 <= row && row + d <= row_at(run->call.n_new, heads_width(run->decoder.shape));
    /*@ assert keys: \valid_read(run->cache.k +
          (0 .. cache_numbers(run->decoder.shape, run->cache.capacity) - 1)); */
    /*@ assert apart: \separated(run->o + (0 .. d - 1), run->cache.v +
          (0 .. cache_numbers(run->decoder.shape, run->cache.capacity) - 1)); */
    //@ assert query: \valid_read(run->q + (row .. row + d - 1));
    size_t kv = cp_row_at(kv_head_of(&run->decoder.shape, head), d);
    double slope =
        run->decoder.shape.positions == CP_POSITIONS_ALIBI ? cp_alibi_slope(head, n_heads) : 0.0;
    struct cp_state state;
    cp_state_empty(&state, run->o, d);
    int n_entries = run->cache.n + run->call.n_new;
    /*@ loop invariant j: 0 <= j <= n_entries;
        loop invariant ok: state_ok(state, run->o, d);
        loop assigns j, state, NUMBERS_O(run); loop variant n_entries - j; */
    for (int j = 0; j < n_entries; j++) {
        int e = run->order[j];
        if (!sees(run, i, e)) {
            continue;
        }
        size_t at = cp_entry_at(&run->decoder.shape, &run->cache, l, e) + kv;
        /*@ assert inside: 0 <= at &&
              at + d <= cache_numbers(run->decoder.shape, run->cache.capacity); */
        //@ assert key: \valid_read(run->cache.k + (at .. at + d - 1));
        /*@ assert value_apart: \separated(run->o + (0 .. d - 1),
              run->cache.v + (at .. at + d - 1)); */
        double behind = (double)run->cache.position[e] - run->call.position[i];
        double score = cp_score(run->q + row, run->cache.k + at, d, run->decoder.shape.scale);
        struct cp_state key = {score + slope * behind, 1.0};
        cp_attn_reduce(&state, run->o, &key, run->cache.v + at, d);
    }
    cp_finish(&state, run->o, run->out + row, d);
}

void cp_attend_token(const struct run *run, int l, int i) {
    /*@ loop invariant head: 0 <= head <= run->decoder.shape.n_heads;
        loop assigns head, NUMBERS_OUT(run), NUMBERS_O(run);
        loop variant run->decoder.shape.n_heads - head; */
    for (int head = 0; head < run->decoder.shape.n_heads; head++) {
        attend_head(run, l, i, head);
    }
}
