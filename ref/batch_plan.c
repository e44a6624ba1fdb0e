/* SPDX-License-Identifier: Apache-2.0 */
/* The plan of a batch (BATCH-9). The example of spec/batch.md, with chunks of 4:
 *
 *     item  prompts  1. served  2. shared                         3. run[], own runs behind the bar
 *     A     P0 P1    0 1        (C0, 0, 2, 4, 0) (C1, 0, 2, 2, 4)    P0  C0 C1 C2 | C5
 *     B     P0 P2    0 2        (C2, 2, 4, 4, 6)                     P1  C0 C1    | C6
 *     C     none                                                     P2  C2       | C7         */
#include "batch_internal.h"

#ifdef __FRAMAC__
#include "proofs/logic/batch_runs_ok.h"
#endif

/* The runs of an owner, behind those that sequence s has. */
/*@
  requires valid: \valid(plan) && \valid_read(batch) && \separated(plan, batch);
  requires owner: owner_fits(owner) && 0 <= owner_runs(*batch, owner) <= CP_MAX_DEPTH;
  requires sequence: 0 <= s < CP_MAX_SEQUENCES && 0 <= plan->sequence[s].n_chunks;
  requires room: plan->sequence[s].n_chunks + owner_runs(*batch, owner) <= CP_MAX_DEPTH;
  assigns plan->sequence[s].n_chunks, plan->sequence[s].run[0 .. CP_MAX_DEPTH - 1];
  ensures count: plan->sequence[s].n_chunks ==
    \old(plan->sequence[s].n_chunks) + owner_runs(*batch, owner);
  ensures runs: runs_of(*plan, s, \old(plan->sequence[s].n_chunks), *batch, owner);
  ensures before: runs_as_before(\old(*plan), *plan, s, \old(plan->sequence[s].n_chunks));
*/
static void add_runs(const struct cp_batch *batch, int owner, int s, struct cp_plan *plan) {
    int begin = plan->sequence[s].n_chunks;
    int n_runs = cp_batch_n_runs(batch, owner);
    /*@ loop invariant k: 0 <= k <= n_runs;
        loop invariant runs: \forall integer j; begin <= j < begin + k ==>
          plan_chunk(*plan, s, j) == owner_chunk(*batch, owner, j - begin) &&
          plan_tokens(*plan, s, j) == owner_tokens(*batch, owner, j - begin) &&
          plan_position(*plan, s, j) == owner_position(*batch, owner, j - begin);
        loop invariant before: runs_as_before(\at(*plan, Pre), *plan, s, begin);
        loop assigns k, plan->sequence[s].run[0 .. CP_MAX_DEPTH - 1]; loop variant n_runs - k; */
    for (int k = 0; k < n_runs; k++) {
        plan->sequence[s].run[begin + k] = cp_batch_run(batch, owner, k);
    }
    plan->sequence[s].n_chunks = begin + n_runs;
}

/* 1. and 3. The list of the prompts that have an item. They get its runs. */
/*@
  requires valid: \valid(plan) && \valid_read(batch) && \separated(plan, batch);
  requires ok: batch_ok(*batch);
  requires item: 0 <= item < batch->n_items && item_shared(*batch, item);
  requires list: plan->n_served == list_at(*batch, item);
  requires sequences: sequences_share(*plan, *batch, 0, batch->n_prompts, item);
  assigns plan->n_served, plan->served[0 .. CP_MAX_SERVED - 1],
    plan->sequence[0 .. CP_MAX_SEQUENCES - 1];
  ensures end: plan->n_served == list_at(*batch, item + 1);
  ensures batch_9_list: list_to(*plan, *batch, item, batch->n_prompts);
  ensures before: entries_as_before(\old(*plan), *plan, \old(plan->n_served));
  ensures batch_9_sequences: sequences_share(*plan, *batch, 0, batch->n_prompts, item + 1);
*/
static void serve(const struct cp_batch *batch, int item, struct cp_plan *plan) {
    //@ ghost list_fits(*batch, item);
    /*@ loop invariant s: 0 <= s <= batch->n_prompts;
        loop invariant end: plan->n_served == list_at(*batch, item) + users(*batch, item, s);
        loop invariant list: list_to(*plan, *batch, item, s);
        loop invariant before: entries_as_before(\at(*plan, Pre), *plan, \at(plan->n_served, Pre));
        loop invariant served: sequences_share(*plan, *batch, 0, s, item + 1);
        loop invariant others: sequences_share(*plan, *batch, s, batch->n_prompts, item);
        loop assigns s, plan->n_served, plan->served[0 .. CP_MAX_SERVED - 1],
          plan->sequence[0 .. CP_MAX_SEQUENCES - 1]; loop variant batch->n_prompts - s; */
    for (int s = 0; s < batch->n_prompts; s++) {
        //@ assert ok: prompt_ok(*batch, s) && owner_ok(*batch, item);
        //@ ghost users_are_in_order(*batch, item, batch->n_prompts);
        //@ ghost users_are_in_order(*batch, item, s);
        //@ assert shares: sequence_shares(*plan, *batch, s, item);
        //@ ghost no_shared_more(*plan, *batch, s, item);
        //@ ghost struct cp_plan had = *plan;
        if (cp_prompt_has_item(batch, s, item)) {
            //@ ghost shared_fits(*batch, s, item);
            //@ ghost shared_are_in_order(*batch, s, item);
            plan->served[plan->n_served++] = s;
            //@ assert begin: plan->sequence[s].n_chunks == shared_at(*batch, s, item);
            add_runs(batch, item, s, plan);
            //@ assert runs: runs_of(*plan, s, shared_at(*batch, s, item), *batch, item);
            plan->sequence[s].n_shared = plan->sequence[s].n_chunks;
            //@ assert runs_still: runs_of(*plan, s, shared_at(*batch, s, item), *batch, item);
            //@ ghost one_entry_more(had, *plan, *batch, item, s);
            //@ ghost one_shared_more(had, *plan, *batch, s, item);
        }
        //@ assert now: sequence_shares(*plan, *batch, s, item + 1);
        //@ assert all_others: others_as_before(had, *plan, s);
        //@ ghost others_share_still(had, *plan, *batch, s, 0, s, item + 1);
        //@ ghost others_share_still(had, *plan, *batch, s, s + 1, batch->n_prompts, item);
    }
}

/* 2. A descriptor for each run of an item, whose list is served[begin .. n_served). */
/*@
  requires valid: \valid(plan) && \valid_read(batch) && \separated(plan, batch);
  requires ok: batch_ok(*batch) && plan->capacity == batch->pool.capacity;
  requires item: 0 <= item < batch->n_items && item_shared(*batch, item);
  requires list: begin == list_at(*batch, item) && plan->n_served == list_at(*batch, item + 1);
  requires count: 0 <= plan->n_shared <= plan->capacity &&
    plan->n_shared == descriptors(*batch, item);
  requires chunks: chunks_before(*plan, *batch, item, 0) && chunks_differ(*plan);
  assigns plan->n_shared, plan->shared[0 .. CP_MAX_CHUNKS - 1];
  ensures count: 0 <= plan->n_shared <= plan->capacity &&
    plan->n_shared == descriptors(*batch, item + 1);
  ensures batch_9_descriptors: item_described(*plan, *batch, item, owner_runs(*batch, item));
  ensures before: descriptors_as_before(\old(*plan), *plan, \old(plan->n_shared));
  ensures chunks: chunks_before(*plan, *batch, item + 1, 0) && chunks_differ(*plan);
*/
static void describe(const struct cp_batch *batch, int item, int begin, struct cp_plan *plan) {
    //@ assert ok: owner_ok(*batch, item) && runs_owned(*batch, item);
    /*@ loop invariant k: 0 <= k <= owner_runs(*batch, item);
        loop invariant count: 0 <= plan->n_shared <= plan->capacity &&
          plan->n_shared == descriptors(*batch, item) + k;
        loop invariant described: item_described(*plan, *batch, item, k);
        loop invariant before:
          descriptors_as_before(\at(*plan, Pre), *plan, \at(plan->n_shared, Pre));
        loop invariant chunks: chunks_before(*plan, *batch, item, k);
        loop invariant differ: chunks_differ(*plan);
        loop assigns k, plan->n_shared, plan->shared[0 .. CP_MAX_CHUNKS - 1];
        loop variant owner_runs(*batch, item) - k; */
    for (int k = 0; k < batch->item[item].n_runs; k++) {
        struct cp_run run = batch->runs[item].run[k];
        //@ assert owned: run_owned(*batch, item, k);
        //@ ghost pigeonhole(plan, run.chunk);
        plan->shared[plan->n_shared++] =
            (struct cp_shared_chunk){run.chunk, begin, plan->n_served, run.n_tokens, run.position};
    }
}

/* Are the runs of an item shared? */
/*@
  requires valid: \valid_read(batch);
  requires item: 0 <= item < CP_MAX_ITEMS;
  assigns \nothing;
  ensures shared: \result != 0 <==> item_shared(*batch, item);
*/
static int is_shared(const struct cp_batch *batch, int item) {
    return batch->item[item].n_runs > 0 && batch->item[item].n_users >= 2;
}

/* 1. to 3. of all items with two users or more. */
/*@
  requires valid: \valid(plan) && \valid_read(batch) && \separated(plan, batch);
  requires ok: batch_ok(*batch) && plan->capacity == batch->pool.capacity;
  requires empty: plan->n_served == 0 && plan->n_shared == 0;
  requires sequences: sequences_share(*plan, *batch, 0, batch->n_prompts, 0);
  assigns plan->n_served, plan->served[0 .. CP_MAX_SERVED - 1],
    plan->n_shared, plan->shared[0 .. CP_MAX_CHUNKS - 1],
    plan->sequence[0 .. CP_MAX_SEQUENCES - 1];
  ensures counts: items_planned(*plan, *batch, batch->n_items);
  ensures batch_9_lists: lists_to(*plan, *batch, batch->n_items);
  ensures batch_9_descriptors: described_to(*plan, *batch, batch->n_items);
  ensures batch_9_sequences: sequences_share(*plan, *batch, 0, batch->n_prompts, batch->n_items);
*/
static void share_items(const struct cp_batch *batch, struct cp_plan *plan) {
    //@ ghost lists_are_bound(*batch, 0);
    /*@ loop invariant i: 0 <= i <= batch->n_items;
        loop invariant counts: items_planned(*plan, *batch, i);
        loop invariant lists: lists_to(*plan, *batch, i);
        loop invariant descriptors: described_to(*plan, *batch, i);
        loop invariant sequences: sequences_share(*plan, *batch, 0, batch->n_prompts, i);
        loop assigns i, plan->n_served, plan->served[0 .. CP_MAX_SERVED - 1],
          plan->n_shared, plan->shared[0 .. CP_MAX_CHUNKS - 1],
          plan->sequence[0 .. CP_MAX_SEQUENCES - 1]; loop variant batch->n_items - i; */
    for (int i = 0; i < batch->n_items; i++) {
        //@ ghost struct cp_plan had = *plan;
        if (is_shared(batch, i)) {
            int begin = plan->n_served;
            serve(batch, i, plan);
            //@ ghost struct cp_plan served = *plan;
            describe(batch, i, begin, plan);
            //@ ghost others_share_still(served, *plan, *batch, -1, 0, batch->n_prompts, i + 1);
            //@ assert lists: entries_as_before(had, *plan, list_at(*batch, i));
            //@ ghost one_item_planned(had, *plan, *batch, i);
        }
        //@ ghost else { one_item_passed(*plan, *batch, i); }
    }
}

/* 3. Items that are not shared, and the runs of the prompt itself. */
/*@
  requires valid: \valid(plan) && \valid_read(batch) && \separated(plan, batch);
  requires ok: batch_ok(*batch);
  requires sequence: 0 <= s < batch->n_prompts;
  requires shares: sequence_shares(*plan, *batch, s, batch->n_items);
  assigns plan->sequence[s].n_chunks, plan->sequence[s].run[0 .. CP_MAX_DEPTH - 1];
  ensures batch_9_sequence: sequence_of_prompt(*plan, *batch, s);
  ensures batch_9_length: length_of_prompt(*plan, *batch, s);
*/
static void add_own(const struct cp_batch *batch, int s, struct cp_plan *plan) {
    //@ assert prompt: prompt_ok(*batch, s) && owner_ok(*batch, -1 - s);
    //@ ghost shared_are_in_order(*batch, s, batch->n_items);
    //@ ghost own_fits(*batch, s);
    /*@ loop invariant i: 0 <= i <= batch->prompt[s].n_items;
        loop invariant end: plan->sequence[s].n_chunks == alone_at(*batch, s, i);
        loop invariant shares: shares_to(*plan, *batch, s, batch->n_items);
        loop invariant alone: alone_to(*plan, *batch, s, i);
        loop assigns i, plan->sequence[s].n_chunks, plan->sequence[s].run[0 .. CP_MAX_DEPTH - 1];
        loop variant batch->prompt[s].n_items - i; */
    for (int i = 0; i < batch->prompt[s].n_items; i++) {
        int item = batch->prompt[s].item[i];
        //@ assert item: item == prompt_item(*batch, s, i) && item_there(*batch, item);
        //@ ghost alone_are_in_order(*batch, s, i);
        if (!is_shared(batch, item)) {
            //@ ghost alone_fits(*batch, s, i);
            //@ ghost struct cp_plan had = *plan;
            add_runs(batch, item, s, plan);
            //@ assert runs: runs_of(*plan, s, alone_at(*batch, s, i), *batch, item);
            //@ ghost shared_stay(had, *plan, *batch, s, had.sequence[s].n_chunks);
            //@ ghost alone_stay(had, *plan, *batch, s, i, had.sequence[s].n_chunks);
        }
    }
    //@ ghost alone_are_in_order(*batch, s, batch->prompt[s].n_items);
    //@ ghost struct cp_plan items = *plan;
    add_runs(batch, -1 - s, s, plan);
    //@ assert runs: runs_of(*plan, s, own_at(*batch, s), *batch, -1 - s);
    //@ ghost shared_stay(items, *plan, *batch, s, items.sequence[s].n_chunks);
    /*@ ghost alone_stay(items, *plan, *batch, s, batch->prompt[s].n_items,
                         items.sequence[s].n_chunks); */
}

/* A plan in which no sequence has a run. */
/*@
  requires valid: \valid(plan) && \valid_read(batch) && \separated(plan, batch);
  requires ok: batch_ok(*batch);
  assigns plan->stamp, plan->capacity, plan->chunk_size, plan->n_sequences, plan->n_served,
    plan->n_shared, plan->sequence[0 .. CP_MAX_SEQUENCES - 1];
  ensures stamp: same_stamp(plan->stamp, batch->stamp);
  ensures sizes: plan_sizes_of_batch(*plan, *batch);
  ensures empty: plan->n_served == 0 && plan->n_shared == 0;
  ensures sequences: sequences_share(*plan, *batch, 0, batch->n_prompts, 0);
*/
static void begin_plan(const struct cp_batch *batch, struct cp_plan *plan) {
    plan->stamp = batch->stamp;
    plan->capacity = batch->pool.capacity;
    plan->chunk_size = batch->chunk_size;
    plan->n_sequences = batch->n_prompts;
    plan->n_served = plan->n_shared = 0;
    /*@ loop invariant s: 0 <= s <= batch->n_prompts;
        loop invariant sequences: sequences_share(*plan, *batch, 0, s, 0);
        loop assigns s, plan->sequence[0 .. CP_MAX_SEQUENCES - 1];
        loop variant batch->n_prompts - s; */
    for (int s = 0; s < batch->n_prompts; s++) {
        plan->sequence[s].n_tokens = batch->prompt[s].n_tokens;
        plan->sequence[s].n_chunks = plan->sequence[s].n_shared = 0;
    }
}

/* BATCH-9, all of it. */
/*@
  requires valid: \valid(plan) && \valid_read(batch) && \separated(plan, batch);
  requires ok: batch_ok(*batch);
  assigns plan->stamp, plan->capacity, plan->chunk_size, plan->n_sequences, plan->n_served,
    plan->n_shared, plan->served[0 .. CP_MAX_SERVED - 1], plan->shared[0 .. CP_MAX_CHUNKS - 1],
    plan->sequence[0 .. CP_MAX_SEQUENCES - 1];
  ensures batch_9_plan: plan_of_batch(*plan, *batch);
*/
static void build(const struct cp_batch *batch, struct cp_plan *plan) {
    begin_plan(batch, plan);
    share_items(batch, plan);
    //@ ghost struct cp_plan shared = *plan;
    /*@ loop invariant s: 0 <= s <= batch->n_prompts;
        loop invariant sequences: sequences_of(*plan, *batch, s);
        loop invariant lengths: lengths_of(*plan, *batch, s);
        loop invariant others:
          sequences_share(*plan, *batch, s, batch->n_prompts, batch->n_items);
        loop assigns s, plan->sequence[0 .. CP_MAX_SEQUENCES - 1];
        loop variant batch->n_prompts - s; */
    for (int s = 0; s < batch->n_prompts; s++) {
        //@ ghost struct cp_plan had = *plan;
        add_own(batch, s, plan);
        //@ assert others: others_as_before(had, *plan, s);
        /*@ ghost others_share_still(had, *plan, *batch, s, s + 1, batch->n_prompts,
                                     batch->n_items); */
        //@ ghost prompts_stay(had, *plan, *batch, s, s);
    }
    //@ ghost lists_stay(shared, *plan, *batch, batch->n_items);
}

/* PLAN-6: the lengths of sequence s and of its last own run. */
/*@
  requires valid: \valid(plan) && \valid_read(batch) && \separated(plan, batch);
  requires sequence: 0 <= s < CP_MAX_SEQUENCES && 0 <= batch->prompt[s].n_own <= CP_MAX_DEPTH;
  requires runs: 0 < batch->prompt[s].n_own ==> 0 < plan->sequence[s].n_chunks <= CP_MAX_DEPTH;
  assigns plan->sequence[s];
  ensures plan_6_length: length_of_prompt(*plan, *batch, s);
  ensures plan_6_kept: prompt_refreshed(\old(*plan), *plan, *batch, s);
*/
static void refresh_sequence(const struct cp_batch *batch, int s, struct cp_plan *plan) {
    int n_own = batch->prompt[s].n_own;
    plan->sequence[s].n_tokens = batch->prompt[s].n_tokens;
    if (n_own > 0) {
        plan->sequence[s].run[plan->sequence[s].n_chunks - 1].n_tokens =
            batch->prompt[s].own[n_own - 1].n_tokens;
    }
}

/* PLAN-6: since the plan was made, last own runs alone have grown. */
/*@
  requires valid: \valid(plan) && \valid_read(batch) && \separated(plan, batch);
  requires ok: batch_ok(*batch);
  requires paths: plan_paths_of_batch(*plan, *batch);
  assigns plan->stamp, plan->sequence[0 .. CP_MAX_SEQUENCES - 1];
  ensures batch_9_plan: plan_of_batch(*plan, *batch);
  ensures plan_6_kept: plan_refreshed(\old(*plan), *plan);
*/
static void refresh(const struct cp_batch *batch, struct cp_plan *plan) {
    //@ ghost struct cp_plan before = *plan;
    plan->stamp = batch->stamp;
    /*@ loop invariant s: 0 <= s <= batch->n_prompts;
        loop invariant kept: prompts_refreshed(before, *plan, *batch);
        loop invariant lengths: lengths_of(*plan, *batch, s);
        loop assigns s, plan->sequence[0 .. CP_MAX_SEQUENCES - 1];
        loop variant batch->n_prompts - s; */
    for (int s = 0; s < batch->n_prompts; s++) {
        //@ ghost struct cp_plan had = *plan;
        //@ ghost own_fits(*batch, s);
        //@ assert runs: sequence_of_prompt(before, *batch, s);
        refresh_sequence(batch, s, plan);
        //@ assert others: others_as_before(had, *plan, s);
        //@ ghost one_refreshed_more(before, had, *plan, *batch, s);
    }
    //@ ghost refreshed_is_plan(before, *plan, *batch);
}

int cp_batch_plan(const struct cp_batch *batch, struct cp_plan *plan) {
    if (plan->stamp.tree == batch->stamp.tree && plan->stamp.epoch == batch->stamp.epoch) {
        refresh(batch, plan);
        //@ ghost batch_plan_is_ok(*plan, *batch);
        return 0;
    }
    build(batch, plan);
    //@ ghost batch_plan_is_ok(*plan, *batch);
    return 1;
}
