/* SPDX-License-Identifier: Apache-2.0 */
#include "chunkproof/plan.h"

#ifdef __FRAMAC__
#include "proofs/logic/plan_build.h"
#endif

/* PLAN-2: the path of sequence s. Its ranges nest (TREE-5), so the shared chunks come first. */
/*@
  requires valid: \valid(plan) && \valid_read(tree) && \separated(plan, tree);
  requires ok: tree_ok(*tree);
  requires sequence: 0 <= s < tree->n_sequences;
  assigns plan->sequence[s];
  ensures sequence: plan_sequence_of(*plan, *tree, s);
  ensures length: plan_length_of(*plan, *tree, s);
*/
static void build_sequence(struct cp_plan *plan, const struct cp_tree *tree, int s) {
    int n_chunks = tree->sequence[s].n_chunks;
    plan->sequence[s].n_tokens = cp_tree_length(tree, s);
    plan->sequence[s].n_chunks = n_chunks;
    plan->sequence[s].n_shared = 0;
    /*@ loop invariant k: 0 <= k <= n_chunks;
        loop invariant sizes: sequence_begun(*plan, *tree, s, k);
        loop invariant path: planned_path_to(*plan, *tree, s, k);
        loop invariant runs: planned_runs_to(*plan, *tree, s, k);
        loop invariant shared: planned_shared_to(*plan, *tree, s, k);
        loop assigns k, plan->sequence[s]; loop variant n_chunks - k; */
    for (int k = 0; k < n_chunks; k++) {
        int chunk = tree->sequence[s].chunk[k];
        plan->sequence[s].run[k].chunk = chunk;
        plan->sequence[s].run[k].n_tokens = tree->fill[chunk];
        plan->sequence[s].run[k].position = k * tree->chunk_size;
        //@ assert place: k * tree->chunk_size == key_at(k, tree->chunk_size);
        //@ assert used: pool_used(tree->pool, chunk) && 0 <= tree->begin[chunk] < tree->end[chunk];
        //@ assert full: k < n_chunks - 1 ==> tree->fill[chunk] == tree->chunk_size;
        if (tree->end[chunk] - tree->begin[chunk] >= 2) {
            //@ assert above: path_is_shared(*tree, s, k);
            plan->sequence[s].n_shared = k + 1;
        }
    }
}
/* PLAN-1, PLAN-4: lists the shared chunks that begin at sequence s, from the root down. The calls
 * for s = 0, 1, ... list the forest depth first. */
/*@
  requires valid: \valid(plan) && \valid_read(tree) && \separated(plan, tree);
  requires ok: tree_ok(*tree);
  requires sequence: 0 <= s < tree->n_sequences;
  requires sizes: plan->capacity == tree->pool.capacity && plan->chunk_size == tree->chunk_size &&
    0 <= plan->n_shared <= plan->capacity;
  requires planned: plan_sequence_of(*plan, *tree, s);
  requires described: \forall integer i; 0 <= i < plan->n_shared ==>
    plan_describes(*plan, *tree, i) && plan->shared[i].begin < s;
  requires sorted: plan_sorted(*plan, plan->n_shared);
  requires listed: \forall integer x; tree_shared(*tree, x) ==> tree->begin[x] < s ==>
    plan_lists(*plan, plan->n_shared, x);
  assigns plan->n_shared, plan->shared[0 .. CP_MAX_CHUNKS - 1];
  ensures sizes: \old(plan->n_shared) <= plan->n_shared <= plan->capacity;
  ensures described: \forall integer i; 0 <= i < plan->n_shared ==>
    plan_describes(*plan, *tree, i) && plan->shared[i].begin <= s;
  ensures sorted: plan_sorted(*plan, plan->n_shared);
  ensures listed: \forall integer x; tree_shared(*tree, x) ==> tree->begin[x] <= s ==>
    plan_lists(*plan, plan->n_shared, x);
  ensures rest: \forall integer i; plan->n_shared <= i < CP_MAX_CHUNKS ==>
    plan->shared[i] == \old(plan->shared[i]);
*/
static void list_shared(struct cp_plan *plan, const struct cp_tree *tree, int s) {
    int n_shared = plan->sequence[s].n_shared;
    /*@ loop invariant k: 0 <= k <= n_shared;
        loop invariant sizes: \at(plan->n_shared, Pre) <= plan->n_shared <= plan->capacity;
        loop invariant described: described(*plan, *tree);
        loop invariant before: listed_above(*plan, *tree, s, k);
        loop invariant sorted: plan_sorted(*plan, plan->n_shared);
        loop invariant listed: lists_above(*plan, *tree, s, k);
        loop invariant rest: descriptors_same(\at(*plan, Pre), *plan, plan->n_shared);
        loop assigns k, plan->n_shared, plan->shared[0 .. CP_MAX_CHUNKS - 1];
        loop variant n_shared - k; */
    for (int k = 0; k < n_shared; k++) {
        int chunk = plan->sequence[s].run[k].chunk;
        //@ assert shared: tree_shared(*tree, chunk) && tree->depth[chunk] == k;
        //@ assert only: only_begins(*tree, chunk, s, k);
        if (tree->begin[chunk] == s) {
            int i = plan->n_shared;
            //@ assert full: tree->fill[chunk] == tree->chunk_size;
            //@ assert place: k * tree->chunk_size == key_at(k, tree->chunk_size);
            //@ assert above: positions_above(*plan, i, s, key_at(k, tree->chunk_size));
            //@ ghost pigeonhole(plan, chunk);
            plan->shared[i].chunk = chunk;
            plan->shared[i].begin = s;
            plan->shared[i].end = tree->end[chunk];
            plan->shared[i].n_tokens = tree->fill[chunk];
            plan->shared[i].position = k * tree->chunk_size;
            plan->n_shared++;
            //@ assert still: still_listed(\at(*plan, LoopCurrent), *plan, i);
            //@ assert now: plan_lists(*plan, i + 1, chunk);
        }
    }
}

/* PLAN-1: entry s of the list is sequence s, so that a range of the list is one of sequences. */
/*@
  requires valid: \valid(plan);
  requires sequences: 0 <= plan->n_sequences <= CP_MAX_SEQUENCES;
  assigns plan->n_served, plan->served[0 .. CP_MAX_SERVED - 1];
  ensures list: plan_list(*plan);
  ensures rest: \forall integer at; plan->n_served <= at < CP_MAX_SERVED ==>
    plan->served[at] == \old(plan->served[at]);
*/
static void list_sequences(struct cp_plan *plan) {
    plan->n_served = plan->n_sequences;
    /*@ loop invariant s: 0 <= s <= plan->n_served;
        loop invariant list: \forall integer at; 0 <= at < s ==> plan->served[at] == at;
        loop invariant rest: \forall integer at; s <= at < CP_MAX_SERVED ==>
          plan->served[at] == \at(plan->served[at], Pre);
        loop assigns s, plan->served[0 .. CP_MAX_SERVED - 1]; loop variant plan->n_served - s; */
    for (int s = 0; s < plan->n_served; s++) {
        plan->served[s] = s;
    }
}

/* Example (the tree of tree_internal.h). served[] is 0 1 2, and then:
 *
 *     s   1. sequence[s]                    2. shared[] gets the shared chunks that begin at s
 *     0   A B C, n_shared 2, n_tokens 5     A [0,3) position 0;  B [0,2) position 2
 *     1   A B D, n_shared 2, n_tokens 6     none: A and B begin at 0
 *     2   A E,   n_shared 1, n_tokens 3     none
 */
void cp_plan_build(struct cp_plan *plan, const struct cp_tree *tree) {
    plan->stamp = tree->stamp;
    plan->capacity = tree->pool.capacity;
    plan->chunk_size = tree->chunk_size;
    plan->n_sequences = tree->n_sequences;
    plan->n_shared = 0;
    list_sequences(plan);
    /*@ loop invariant s: 0 <= s <= tree->n_sequences;
        loop invariant stamp: same_stamp(plan->stamp, tree->stamp);
        loop invariant sizes: plan_sizes_of(*plan, *tree);
        loop invariant sequences: sequences_to(*plan, *tree, s);
        loop invariant lengths: lengths_to(*plan, *tree, s);
        loop invariant described: described_below(*plan, *tree, s);
        loop invariant sorted: plan_sorted(*plan, plan->n_shared);
        loop invariant listed: lists_below(*plan, *tree, s);
        loop invariant other_sequences: sequences_same_from(\at(*plan, Pre), *plan, s);
        loop invariant other_descriptors: descriptors_same(\at(*plan, Pre), *plan, plan->n_shared);
        loop assigns s, plan->n_shared, plan->sequence[0 .. CP_MAX_SEQUENCES - 1],
          plan->shared[0 .. CP_MAX_CHUNKS - 1]; loop variant tree->n_sequences - s; */
    for (int s = 0; s < tree->n_sequences; s++) {
        build_sequence(plan, tree, s); /* 1. */
        list_shared(plan, tree, s);    /* 2. */
    }
    //@ ghost plan_of_is_ok(plan, tree);
}

/* PLAN-6: the length of sequence s, and that of its last run. */
/*@
  requires valid: \valid(plan) && \valid_read(tree) && \separated(plan, tree);
  requires ok: tree_ok(*tree);
  requires sequence: 0 <= s < tree->n_sequences;
  requires depth: plan->sequence[s].n_chunks == tree_depth(*tree, s);
  requires last: 0 < tree_depth(*tree, s) ==>
    plan_chunk(*plan, s, tree_depth(*tree, s) - 1) ==
      tree_chunk(*tree, s, tree_depth(*tree, s) - 1);
  assigns plan->sequence[s];
  ensures length: plan_length_of(*plan, *tree, s);
  ensures counts: plan->sequence[s].n_chunks == \old(plan->sequence[s].n_chunks) &&
    plan->sequence[s].n_shared == \old(plan->sequence[s].n_shared);
  ensures tables: \forall integer k; 0 <= k < CP_MAX_DEPTH ==>
    plan_chunk(*plan, s, k) == \old(plan_chunk(*plan, s, k)) &&
    plan_position(*plan, s, k) == \old(plan_position(*plan, s, k));
  ensures full: \forall integer k; 0 <= k < CP_MAX_DEPTH ==>
    k != plan->sequence[s].n_chunks - 1 ==>
    plan_tokens(*plan, s, k) == \old(plan_tokens(*plan, s, k));
*/
static void refresh_sequence(struct cp_plan *plan, const struct cp_tree *tree, int s) {
    int last = plan->sequence[s].n_chunks - 1;
    plan->sequence[s].n_tokens = cp_tree_length(tree, s);
    if (last >= 0) {
        int chunk = plan->sequence[s].run[last].chunk;
        //@ assert last: chunk == tree_chunk(*tree, s, last) && pool_used(tree->pool, chunk);
        plan->sequence[s].run[last].n_tokens = tree->fill[chunk];
    }
}

int cp_plan_update(struct cp_plan *plan, const struct cp_tree *tree) {
    if (plan->stamp.tree != tree->stamp.tree || plan->stamp.epoch != tree->stamp.epoch) {
        cp_plan_build(plan, tree);
        return 1;
    }
    //@ assert paths: plan_paths_of(*plan, *tree);
    /*@ assert had_depths: \forall integer r; 0 <= r < tree->n_sequences ==>
          plan->sequence[r].n_chunks == tree_depth(*tree, r) <= CP_MAX_DEPTH &&
          0 <= plan->sequence[r].n_shared <= plan->sequence[r].n_chunks; */
    /*@ assert had_chunks: \forall integer r, k; 0 <= r < tree->n_sequences ==>
          0 <= k < tree_depth(*tree, r) ==> plan_chunk(*plan, r, k) == tree_chunk(*tree, r, k); */
    /*@ assert had_places: \forall integer r, k; 0 <= r < tree->n_sequences ==>
          0 <= k < tree_depth(*tree, r) ==>
          plan_position(*plan, r, k) == key_at(k, tree->chunk_size); */
    /*@ assert had_full: \forall integer r, k; 0 <= r < tree->n_sequences ==>
          0 <= k < tree_depth(*tree, r) - 1 ==> plan_tokens(*plan, r, k) == tree->chunk_size; */
    /*@ assert had_shared: \forall integer r, k; 0 <= r < tree->n_sequences ==>
          0 <= k < tree_depth(*tree, r) ==>
          (k < plan->sequence[r].n_shared <==> tree_shared(*tree, tree_chunk(*tree, r, k))); */
    /*@ assert had_order: \forall integer i, j; 0 <= i < j < plan->n_shared ==>
          plan->shared[i].begin < plan->shared[j].begin ||
          (plan->shared[i].begin == plan->shared[j].begin &&
           plan->shared[i].position < plan->shared[j].position); */
    plan->stamp = tree->stamp;
    /*@ loop invariant s: 0 <= s <= tree->n_sequences;
        loop invariant lengths: lengths_to(*plan, *tree, s);
        loop invariant counts: \forall integer r; 0 <= r < CP_MAX_SEQUENCES ==>
          plan->sequence[r].n_chunks == \at(plan->sequence[r].n_chunks, Pre) &&
          plan->sequence[r].n_shared == \at(plan->sequence[r].n_shared, Pre);
        loop invariant tables: \forall integer r, k; 0 <= r < CP_MAX_SEQUENCES ==>
          0 <= k < CP_MAX_DEPTH ==> plan_chunk(*plan, r, k) == \at(plan_chunk(*plan, r, k), Pre);
        loop invariant positions: \forall integer r, k; 0 <= r < CP_MAX_SEQUENCES ==>
          0 <= k < CP_MAX_DEPTH ==>
          plan_position(*plan, r, k) == \at(plan_position(*plan, r, k), Pre);
        loop invariant full: \forall integer r, k; 0 <= r < CP_MAX_SEQUENCES ==>
          0 <= k < CP_MAX_DEPTH ==> k != \at(plan->sequence[r].n_chunks, Pre) - 1 ==>
          plan_tokens(*plan, r, k) == \at(plan_tokens(*plan, r, k), Pre);
        loop assigns s, plan->sequence[0 .. CP_MAX_SEQUENCES - 1];
        loop variant tree->n_sequences - s; */
    for (int s = 0; s < tree->n_sequences; s++) {
        //@ assert path: plan_sequence_of(\at(*plan, Pre), *tree, s);
        refresh_sequence(plan, tree, s);
    }
    /*@ assert depths: \forall integer r; 0 <= r < tree->n_sequences ==>
          plan->sequence[r].n_chunks == tree_depth(*tree, r) <= CP_MAX_DEPTH &&
          0 <= plan->sequence[r].n_shared <= plan->sequence[r].n_chunks; */
    /*@ assert chunks: \forall integer r, k; 0 <= r < tree->n_sequences ==>
          0 <= k < tree_depth(*tree, r) ==> plan_chunk(*plan, r, k) == tree_chunk(*tree, r, k); */
    /*@ assert places: \forall integer r, k; 0 <= r < tree->n_sequences ==>
          0 <= k < tree_depth(*tree, r) ==>
          plan_position(*plan, r, k) == key_at(k, tree->chunk_size); */
    /*@ assert all_full: \forall integer r, k; 0 <= r < tree->n_sequences ==>
          0 <= k < tree_depth(*tree, r) - 1 ==> plan_tokens(*plan, r, k) == tree->chunk_size; */
    /*@ assert shared: \forall integer r, k; 0 <= r < tree->n_sequences ==>
          0 <= k < tree_depth(*tree, r) ==>
          (k < plan->sequence[r].n_shared <==> tree_shared(*tree, tree_chunk(*tree, r, k))); */
    /*@ assert order: \forall integer i; 0 <= i < plan->n_shared ==>
          plan->shared[i].begin == \at(plan->shared[i].begin, Pre) &&
          plan->shared[i].position == \at(plan->shared[i].position, Pre); */
    //@ assert sequences: sequences_to(*plan, *tree, tree->n_sequences);
    //@ assert lengths: lengths_to(*plan, *tree, tree->n_sequences);
    //@ assert listed: lists_below(*plan, *tree, tree->n_sequences);
    //@ assert described: described(*plan, *tree);
    //@ assert sorted: plan_sorted(*plan, plan->n_shared);
    //@ ghost plan_of_is_ok(plan, tree);
    return 0;
}

int cp_plan_is_current(const struct cp_plan *plan, struct cp_stamp stamp) {
    return plan->stamp.tree == stamp.tree && plan->stamp.epoch == stamp.epoch &&
           plan->stamp.step == stamp.step;
}
