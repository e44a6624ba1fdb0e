/* SPDX-License-Identifier: Apache-2.0 */
/* The executable invariant of a batch: BATCH-1 to BATCH-3. Each check comes after those that make
 * its own array accesses safe. */
#include <limits.h>
#include <stddef.h>

#include "batch_internal.h"

/* ---- BATCH-1 ---- */

/*@
  requires valid: \valid_read(batch);
  assigns \nothing;
  ensures sizes: \result != 0 <==> batch_sizes(*batch);
*/
static int sizes_are_valid(const struct cp_batch *batch) {
    return 1 <= batch->chunk_size && batch->chunk_size <= CP_MAX_CHUNK_SIZE &&
           0 <= batch->n_items && batch->n_items <= CP_MAX_ITEMS && 0 <= batch->n_prompts &&
           batch->n_prompts <= CP_MAX_SEQUENCES;
}

/*@
  requires valid: \valid_read(batch);
  requires sizes: pool_ok(batch->pool) && batch_sizes(*batch);
  assigns \nothing;
  ensures run: \result != 0 <==> 0 <= run.chunk < batch->pool.capacity &&
    1 <= run.n_tokens <= batch->chunk_size && 0 <= run.position &&
    run.position + run.n_tokens <= 0x7FFFFFFF;
*/
static int run_is_valid(const struct cp_batch *batch, struct cp_run run) {
    return 0 <= run.chunk && run.chunk < batch->pool.capacity && 1 <= run.n_tokens &&
           run.n_tokens <= batch->chunk_size && 0 <= run.position &&
           run.position <= INT_MAX - run.n_tokens;
}

/* Has the owner runs in range, no two of which have a position in common? */
/*@
  requires valid: \valid_read(batch);
  requires sizes: pool_ok(batch->pool) && batch_sizes(*batch);
  requires owner: owner_exists(*batch, owner);
  assigns \nothing;
  ensures owner: \result != 0 <==> owner_ok(*batch, owner);
*/
static int runs_are_valid(const struct cp_batch *batch, int owner) {
    int n_runs = cp_batch_n_runs(batch, owner);
    if (n_runs < 0 || n_runs > CP_MAX_DEPTH) {
        return 0;
    }
    /*@ loop invariant k: 0 <= k <= n_runs;
        loop invariant runs: runs_to(*batch, owner, k);
        loop assigns k; loop variant n_runs - k; */
    for (int k = 0; k < n_runs; k++) {
        if (!run_is_valid(batch, cp_batch_run(batch, owner, k)) ||
            !cp_runs_have_room(batch, owner, k, cp_batch_span(batch, owner, k))) {
            return 0;
        }
    }
    return 1;
}

/*@
  requires valid: \valid_read(batch);
  requires sizes: pool_ok(batch->pool) && batch_sizes(*batch);
  assigns \nothing;
  ensures owners: \result != 0 <==> owners_to(*batch, batch->n_items);
*/
static int owners_are_valid(const struct cp_batch *batch) {
    /*@ loop invariant o: -batch->n_prompts <= o <= batch->n_items;
        loop invariant owners: owners_to(*batch, o);
        loop assigns o; loop variant batch->n_items - o; */
    for (int o = -batch->n_prompts; o < batch->n_items; o++) {
        if (!runs_are_valid(batch, o)) {
            return 0;
        }
    }
    return 1;
}

/*@
  requires valid: \valid_read(batch);
  requires sizes: batch_sizes(*batch);
  assigns \nothing;
  ensures names: \result != 0 <==> names_to(*batch, batch->n_items);
*/
static int names_are_valid(const struct cp_batch *batch) {
    /*@ loop invariant i: 0 <= i <= batch->n_items;
        loop invariant names: names_to(*batch, i);
        loop assigns i; loop variant batch->n_items - i; */
    for (int i = 0; i < batch->n_items; i++) {
        if (batch->item[i].n_runs > 0 && cp_batch_find(batch, batch->item[i].name) != i) {
            return 0;
        }
    }
    return 1;
}

/* The first n items of a prompt have no more runs than all. */
/*@ ghost
  /@ requires sizes: batch_sizes(b) && owners_to(b, b.n_items);
     requires prompt: 0 <= p < b.n_prompts && prompt_listed(b, p);
     requires n: 0 <= n <= b.prompt[p].n_items;
     assigns \nothing;
     ensures rise: items_runs(b, p, n) <= items_runs(b, p, b.prompt[p].n_items); @/
  void items_runs_rise(struct cp_batch b, int p, int n) {
    /@ loop invariant i: n <= i <= b.prompt[p].n_items;
       loop invariant rise: items_runs(b, p, n) <= items_runs(b, p, i);
       loop assigns i; loop variant b.prompt[p].n_items - i; @/
    for (int i = n; i < b.prompt[p].n_items; i++) {
      /@ assert there: item_there(b, prompt_item(b, p, i)); @/
    }
  }
*/

/* Are the items of a prompt there, and all its runs not too many? Each item has one or more, so
 * that it has no more items than runs. */
/*@
  requires valid: \valid_read(batch);
  requires sizes: batch_sizes(*batch) && owners_to(*batch, batch->n_items);
  requires prompt: 0 <= p < batch->n_prompts;
  assigns \nothing;
  ensures lists: \result != 0 <==> prompt_listed(*batch, p);
*/
static int lists_are_valid(const struct cp_batch *batch, int p) {
    if (batch->prompt[p].n_items < 0 || batch->prompt[p].n_items > CP_MAX_DEPTH) {
        return 0;
    }
    /*@ loop invariant i: 0 <= i <= batch->prompt[p].n_items;
        loop invariant items: items_there(*batch, p, i);
        loop assigns i; loop variant batch->prompt[p].n_items - i; */
    for (int i = 0; i < batch->prompt[p].n_items; i++) {
        //@ assert here: batch->prompt[p].item[i] == prompt_item(*batch, p, i);
        int item = batch->prompt[p].item[i];
        if (item < 0 || item >= batch->n_items || batch->item[item].n_runs == 0) {
            return 0;
        }
    }
    //@ assert own: owner_ok(*batch, -1 - p);
    //@ assert fits: prompt_fits(*batch, p);
    return cp_prompt_runs(batch, p) <= CP_MAX_DEPTH;
}

/*@
  requires valid: \valid_read(batch);
  requires sizes: batch_sizes(*batch) && owners_to(*batch, batch->n_items);
  requires prompt: 0 <= p < batch->n_prompts;
  assigns \nothing;
  ensures prompt: \result != 0 <==> prompt_ok(*batch, p);
*/
static int prompt_is_valid(const struct cp_batch *batch, int p) {
    if (!lists_are_valid(batch, p)) {
        return 0;
    }
    //@ assert own: owner_ok(*batch, -1 - p);
    //@ assert fits: prompt_fits(*batch, p);
    //@ assert counts: prompt_counts(*batch, p);
    int n_tokens = cp_batch_n_tokens(batch, -1 - p);
    //@ ghost items_runs_rise(*batch, p, 0);
    /*@ loop invariant i: 0 <= i <= batch->prompt[p].n_items;
        loop invariant apart: items_apart(*batch, p, i);
        loop invariant tokens: n_tokens ==
          owner_sum(*batch, -1 - p, batch->prompt[p].n_own) + items_sum(*batch, p, i);
        loop invariant bound: 0 <= n_tokens <=
          (batch->prompt[p].n_own + items_runs(*batch, p, i)) * CP_MAX_CHUNK_SIZE;
        loop invariant runs: batch->prompt[p].n_own + items_runs(*batch, p, i) <= CP_MAX_DEPTH;
        loop assigns i, n_tokens; loop variant batch->prompt[p].n_items - i; */
    for (int i = 0; i < batch->prompt[p].n_items; i++) {
        //@ ghost items_runs_rise(*batch, p, i + 1);
        //@ assert there: item_there(*batch, prompt_item(*batch, p, i));
        //@ assert item: owner_ok(*batch, prompt_item(*batch, p, i));
        //@ assert here: batch->prompt[p].item[i] == prompt_item(*batch, p, i);
        if (!cp_item_has_room(batch, p, i, batch->prompt[p].item[i])) {
            return 0;
        }
        n_tokens += cp_batch_n_tokens(batch, batch->prompt[p].item[i]);
    }
    return batch->prompt[p].n_tokens == n_tokens;
}

/*@
  requires valid: \valid_read(batch);
  requires sizes: batch_sizes(*batch) && owners_to(*batch, batch->n_items);
  assigns \nothing;
  ensures prompts: \result != 0 <==> prompts_to(*batch, batch->n_prompts);
*/
static int prompts_are_valid(const struct cp_batch *batch) {
    /*@ loop invariant p: 0 <= p <= batch->n_prompts;
        loop invariant prompts: prompts_to(*batch, p);
        loop assigns p; loop variant batch->n_prompts - p; */
    for (int p = 0; p < batch->n_prompts; p++) {
        if (!prompt_is_valid(batch, p)) {
            return 0;
        }
    }
    return 1;
}

/* ---- BATCH-2 ---- */

/* Is each of the owner's runs that of its chunk? Then no two runs have one chunk. */
/*@
  requires valid: \valid_read(batch);
  requires pool: pool_ok(batch->pool);
  requires owner: owner_fits(owner) && owner_ok(*batch, owner);
  assigns \nothing;
  ensures owned: \result != 0 <==> runs_owned(*batch, owner);
*/
static int runs_are_owned(const struct cp_batch *batch, int owner) {
    /*@ loop invariant k: 0 <= k <= owner_runs(*batch, owner);
        loop invariant owned: \forall integer j; 0 <= j < k ==> run_owned(*batch, owner, j);
        loop assigns k; loop variant owner_runs(*batch, owner) - k; */
    for (int k = 0; k < cp_batch_n_runs(batch, owner); k++) {
        //@ assert range: run_in_range(*batch, owner, k);
        int chunk = cp_batch_run(batch, owner, k).chunk;
        if (!cp_pool_is_used(&batch->pool, chunk) || batch->owner[chunk].owner != owner ||
            batch->owner[chunk].run != k) {
            return 0;
        }
    }
    return 1;
}

/*@
  requires valid: \valid_read(batch);
  requires lists: pool_ok(batch->pool) && batch_lists(*batch);
  assigns \nothing;
  ensures owned: \result != 0 <==> owned_to(*batch, batch->n_items);
*/
static int owners_own(const struct cp_batch *batch) {
    /*@ loop invariant o: -batch->n_prompts <= o <= batch->n_items;
        loop invariant owned: owned_to(*batch, o);
        loop assigns o; loop variant batch->n_items - o; */
    for (int o = -batch->n_prompts; o < batch->n_items; o++) {
        if (!runs_are_owned(batch, o)) {
            return 0;
        }
    }
    return 1;
}

/* Is a chunk in use that of a run? */
/*@
  requires valid: \valid_read(batch);
  requires lists: pool_ok(batch->pool) && batch_lists(*batch);
  requires chunk: 0 <= chunk < batch->pool.capacity;
  assigns \nothing;
  ensures owned: \result != 0 <==> chunk_owned(*batch, chunk);
*/
static int chunk_is_owned(const struct cp_batch *batch, int chunk) {
    int o = batch->owner[chunk].owner;
    int k = batch->owner[chunk].run;
    //@ assert owner: owner_exists(*batch, o) ==> owner_ok(*batch, o);
    return -batch->n_prompts <= o && o < batch->n_items && 0 <= k &&
           k < cp_batch_n_runs(batch, o) && cp_batch_run(batch, o, k).chunk == chunk;
}

/*@
  requires valid: \valid_read(batch);
  requires lists: pool_ok(batch->pool) && batch_lists(*batch);
  assigns \nothing;
  ensures owned: \result != 0 <==> chunks_owned(*batch);
*/
static int chunks_are_owned(const struct cp_batch *batch) {
    /*@ loop invariant i: batch->pool.n_free <= i <= batch->pool.capacity;
        loop invariant owned: chunks_to(*batch, i);
        loop assigns i; loop variant batch->pool.capacity - i; */
    for (int i = batch->pool.n_free; i < batch->pool.capacity; i++) {
        //@ assert used: pool_used(batch->pool, batch->pool.perm[i]);
        if (!chunk_is_owned(batch, batch->pool.perm[i])) {
            return 0;
        }
    }
    return 1;
}

/* ---- BATCH-3 ---- */

/*@
  requires valid: \valid_read(batch);
  requires lists: batch_lists(*batch);
  assigns \nothing;
  ensures users: \result == users(*batch, item, batch->n_prompts);
*/
static int users_of(const struct cp_batch *batch, int item) {
    int n = 0;
    /*@ loop invariant p: 0 <= p <= batch->n_prompts;
        loop invariant n: n == users(*batch, item, p) && 0 <= n <= p;
        loop assigns p, n; loop variant batch->n_prompts - p; */
    for (int p = 0; p < batch->n_prompts; p++) {
        //@ assert prompt: prompt_ok(*batch, p);
        n += cp_prompt_has_item(batch, p, item);
    }
    return n;
}

/*@
  requires valid: \valid_read(batch);
  requires lists: batch_lists(*batch);
  assigns \nothing;
  ensures counted: \result != 0 <==> counted_to(*batch, batch->n_items);
*/
static int users_are_counted(const struct cp_batch *batch) {
    /*@ loop invariant i: 0 <= i <= batch->n_items;
        loop invariant counted: counted_to(*batch, i);
        loop assigns i; loop variant batch->n_items - i; */
    for (int i = 0; i < batch->n_items; i++) {
        if (batch->item[i].n_runs > 0 && batch->item[i].n_users != users_of(batch, i)) {
            return 0;
        }
    }
    return 1;
}

const char *cp_batch_check(const struct cp_batch *batch) {
    const char *broken = cp_pool_check(&batch->pool);
    if (broken != NULL) {
        return broken;
    }
    if (!sizes_are_valid(batch) || !owners_are_valid(batch) || !names_are_valid(batch) ||
        !prompts_are_valid(batch)) {
        return "BATCH-1";
    }
    if (!owners_own(batch) || !chunks_are_owned(batch)) {
        return "BATCH-2";
    }
    return users_are_counted(batch) ? NULL : "BATCH-3";
}
