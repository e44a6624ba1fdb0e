/* SPDX-License-Identifier: Apache-2.0 */
/* A prompt joins a batch (BATCH-5): what it asks for is looked at first, then it is let in. */
#include "batch_internal.h"

#ifdef __FRAMAC__
#include "proofs/logic/batch_taken.h"
#endif

/* ---- What is asked ---- */

/* The number of the item of this name, if it is there. */
/*@
  assigns \nothing;
  ensures number: \result == name % CP_MAX_ITEMS;
*/
static int number_of(unsigned long long name) {
    return (int)(name % CP_MAX_ITEMS);
}

/*@
  requires valid: \valid_read(batch) && \valid_read(names + (0 .. n_names - 1));
  requires ok: batch_ok(*batch);
  assigns \nothing;
  ensures batch_5_there: \result != 0 <==> names_there(*batch, names, n_names);
*/
static int names_are_there(const struct cp_batch *batch, const unsigned long long *names,
                           int n_names) {
    /*@ loop invariant i: 0 <= i && (0 <= n_names ==> i <= n_names);
        loop invariant there: names_there(*batch, names, i);
        loop assigns i; loop variant n_names - i; */
    for (int i = 0; i < n_names; i++) {
        if (cp_batch_find(batch, names[i]) < 0) {
            return 0;
        }
    }
    return 1;
}

/* Has none of these items a position of the span? */
/*@
  requires valid: \valid_read(batch) && \valid_read(names + (0 .. n_names - 1)) && 0 <= n_names;
  requires ok: batch_ok(*batch) && names_there(*batch, names, n_names) && span_counts(span);
  assigns \nothing;
  ensures room: \result != 0 <==>
    names_avoid(*batch, names, n_names, span.position, span.n_tokens);
*/
static int names_have_room(const struct cp_batch *batch, const unsigned long long *names,
                           int n_names, struct cp_span span) {
    /*@ loop invariant i: 0 <= i <= n_names;
        loop invariant room: names_avoid(*batch, names, i, span.position, span.n_tokens);
        loop assigns i; loop variant n_names - i; */
    for (int i = 0; i < n_names; i++) {
        int item = number_of(names[i]);
        //@ assert item: item == named(names, i) && item_has_name(*batch, item, names[i]);
        //@ assert counts: owner_ok(*batch, item);
        if (!cp_runs_have_room(batch, item, batch->item[item].n_runs, span)) {
            return 0;
        }
    }
    return 1;
}

/* Has item i of these no position of those before it? */
/*@
  requires valid: \valid_read(batch) && 0 <= i && \valid_read(names + (0 .. i));
  requires ok: batch_ok(*batch) && names_there(*batch, names, i + 1);
  assigns \nothing;
  ensures apart: \result != 0 <==> name_apart(*batch, names, i);
*/
static int name_is_apart(const struct cp_batch *batch, const unsigned long long *names, int i) {
    int item = number_of(names[i]);
    //@ assert item: item == named(names, i) && item_has_name(*batch, item, names[i]);
    //@ assert counts: owner_ok(*batch, item);
    /*@ loop invariant k: 0 <= k <= owner_runs(*batch, item);
        loop invariant apart: \forall integer j; 0 <= j < k ==> names_avoid(*batch, names, i,
          owner_position(*batch, item, j), owner_tokens(*batch, item, j));
        loop assigns k; loop variant owner_runs(*batch, item) - k; */
    for (int k = 0; k < batch->item[item].n_runs; k++) {
        //@ assert run: run_in_range(*batch, item, k);
        if (!names_have_room(batch, names, i, cp_batch_span(batch, item, k))) {
            return 0;
        }
    }
    return 1;
}

/*@
  requires valid: \valid_read(batch) && \valid_read(names + (0 .. n_names - 1));
  requires ok: batch_ok(*batch) && names_there(*batch, names, n_names);
  assigns \nothing;
  ensures apart: \result != 0 <==> names_apart(*batch, names, n_names);
*/
static int names_are_apart(const struct cp_batch *batch, const unsigned long long *names,
                           int n_names) {
    /*@ loop invariant i: 0 <= i && (0 <= n_names ==> i <= n_names);
        loop invariant apart: names_apart(*batch, names, i);
        loop assigns i; loop variant n_names - i; */
    for (int i = 0; i < n_names; i++) {
        if (!name_is_apart(batch, names, i)) {
            return 0;
        }
    }
    return 1;
}

/* Is each span in its range, and has it no position of those before it, nor of these items? */
/*@
  requires valid: \valid_read(batch) && 0 <= n_names && \valid_read(names + (0 .. n_names - 1)) &&
    \valid_read(spans + (0 .. n_spans - 1));
  requires ok: batch_ok(*batch) && names_there(*batch, names, n_names);
  assigns \nothing;
  ensures spans: \result != 0 <==> spans_join(*batch, names, n_names, spans, n_spans);
*/
static int spans_have_room(const struct cp_batch *batch, const unsigned long long *names,
                           int n_names, const struct cp_span *spans, int n_spans) {
    /*@ loop invariant i: 0 <= i && (0 <= n_spans ==> i <= n_spans);
        loop invariant spans: spans_join(*batch, names, n_names, spans, i);
        loop assigns i; loop variant n_spans - i; */
    for (int i = 0; i < n_spans; i++) {
        if (!cp_span_is_valid(spans[i]) || !cp_span_is_apart(spans, i) ||
            !names_have_room(batch, names, n_names, spans[i])) {
            return 0;
        }
    }
    return 1;
}

/*@
  requires valid: \valid_read(batch) && \valid_read(names + (0 .. n_names - 1)) &&
    \valid_read(spans + (0 .. n_spans - 1));
  requires ok: batch_ok(*batch);
  assigns \nothing;
  ensures batch_5_asked: \result != 0 <==> join_asked(*batch, names, n_names, spans, n_spans);
*/
static int can_be_prompt(const struct cp_batch *batch, const unsigned long long *names, int n_names,
                         const struct cp_span *spans, int n_spans) {
    return n_names >= 0 && n_spans >= 0 && names_are_there(batch, names, n_names) &&
           names_are_apart(batch, names, n_names) &&
           spans_have_room(batch, names, n_names, spans, n_spans);
}

/* The runs of these items. */
/*@
  requires valid: \valid_read(batch) && 0 <= n_names && \valid_read(names + (0 .. n_names - 1));
  requires ok: batch_ok(*batch) && names_there(*batch, names, n_names);
  assigns \nothing;
  ensures runs: \result == named_runs(*batch, names, n_names);
  ensures some: n_names <= \result;
*/
static long long runs_of_names(const struct cp_batch *batch, const unsigned long long *names,
                               int n_names) {
    long long n = 0;
    /*@ loop invariant i: 0 <= i <= n_names;
        loop invariant runs: n == named_runs(*batch, names, i);
        loop invariant bound: i <= n <= i * CP_MAX_DEPTH;
        loop assigns i, n; loop variant n_names - i; */
    for (int i = 0; i < n_names; i++) {
        //@ assert there: item_has_name(*batch, named(names, i), names[i]);
        //@ assert ok: owner_ok(*batch, named(names, i));
        n += batch->item[number_of(names[i])].n_runs;
    }
    return n;
}

/* ---- The prompt ---- */

/* Each of these items gets so many users more. */
/*@
  requires valid: \valid(batch) && 0 <= n_names && \valid_read(names + (0 .. n_names - 1));
  requires differ: names_differ(names, n_names);
  requires more: -1 <= more <= 1;
  requires users: \forall integer i; 0 <= i < n_names ==>
    -1 <= batch->item[named(names, i)].n_users <= CP_MAX_SEQUENCES;
  assigns batch->item[0 .. CP_MAX_ITEMS - 1];
  ensures batch_3_users: names_used(\old(*batch), *batch, names, n_names, more);
*/
static void add_users(struct cp_batch *batch, const unsigned long long *names, int n_names,
                      int more) {
    //@ ghost struct cp_batch before = *batch;
    /*@ loop invariant i: 0 <= i <= n_names;
        loop invariant users: names_used(before, *batch, names, i, more);
        loop assigns i, batch->item[0 .. CP_MAX_ITEMS - 1];
        loop variant n_names - i; */
    for (int i = 0; i < n_names; i++) {
        //@ assert next: !names_have(names, i, named(names, i));
        batch->item[number_of(names[i])].n_users += more;
    }
}

/* The tokens of a prompt's items. */
/*@
  requires valid: \valid_read(batch);
  requires prompt: 0 <= prompt < CP_MAX_SEQUENCES && items_fit(*batch, prompt) &&
    items_in_chunks(*batch, prompt);
  requires few: items_runs(*batch, prompt, batch->prompt[prompt].n_items) <= CP_MAX_DEPTH;
  assigns \nothing;
  ensures sum: \result == items_sum(*batch, prompt, batch->prompt[prompt].n_items);
*/
static int tokens_of_items(const struct cp_batch *batch, int prompt) {
    int n = 0;
    /*@ loop invariant i: 0 <= i <= batch->prompt[prompt].n_items;
        loop invariant n: n == items_sum(*batch, prompt, i);
        loop invariant bound: 0 <= n <= items_runs(*batch, prompt, i) * CP_MAX_CHUNK_SIZE;
        loop assigns i, n; loop variant batch->prompt[prompt].n_items - i; */
    for (int i = 0; i < batch->prompt[prompt].n_items; i++) {
        //@ ghost items_runs_grow(*batch, prompt, i + 1);
        //@ assert counts: owner_in_chunks(*batch, prompt_item(*batch, prompt, i));
        //@ assert item: batch->prompt[prompt].item[i] == prompt_item(*batch, prompt, i);
        n += cp_batch_n_tokens(batch, batch->prompt[prompt].item[i]);
    }
    return n;
}

/* One prompt more, of these items, without own runs yet. */
/*@
  requires valid: \valid(batch) && \valid_read(names + (0 .. n_names - 1));
  requires number: 0 <= batch->n_prompts < CP_MAX_SEQUENCES && 0 <= n_names <= CP_MAX_DEPTH;
  requires items: names_in_chunks(*batch, names, n_names) &&
    named_runs(*batch, names, n_names) <= CP_MAX_DEPTH;
  assigns batch->prompt[0 .. CP_MAX_SEQUENCES - 1], batch->n_prompts, batch->stamp.epoch;
  ensures number: batch->n_prompts == \old(batch->n_prompts) + 1;
  ensures batch_5_id: batch->prompt[\old(batch->n_prompts)].id == id;
  ensures batch_5_items: prompt_lists(*batch, \old(batch->n_prompts), names, n_names);
  ensures batch_5_others: prompts_kept(\old(*batch), *batch, -1 - \old(batch->n_prompts));
  ensures empty: batch->prompt[\old(batch->n_prompts)].n_own == 0;
  ensures batch_1_sum: prompt_summed(*batch, \old(batch->n_prompts));
  ensures batch_9_epoch:
    batch->stamp.epoch == (unsigned long long)(\old(batch->stamp.epoch) + 1);
*/
static void begin_prompt(struct cp_batch *batch, long long id, const unsigned long long *names,
                         int n_names) {
    //@ ghost struct cp_batch before = *batch;
    int number = batch->n_prompts++;
    batch->stamp.epoch++;
    batch->prompt[number].id = id;
    batch->prompt[number].n_items = n_names;
    batch->prompt[number].n_own = 0;
    /*@ loop invariant i: 0 <= i <= n_names;
        loop invariant items: \forall integer j; 0 <= j < i ==>
          prompt_item(*batch, number, j) == named(names, j);
        loop assigns i, batch->prompt[number].item[0 .. CP_MAX_DEPTH - 1];
        loop variant n_names - i; */
    for (int i = 0; i < n_names; i++) {
        batch->prompt[number].item[i] = number_of(names[i]);
    }
    //@ ghost listed_runs(before, *batch, number, names, n_names);
    //@ assert listed: items_fit(*batch, number) && items_in_chunks(*batch, number);
    //@ ghost struct cp_batch listed = *batch;
    batch->prompt[number].n_tokens = tokens_of_items(batch, number);
    //@ assert stay: items_stay_to(listed, number, *batch, n_names);
    //@ ghost items_sum_stays(listed, *batch, number);
}

/* One prompt more, of these items, with so many free chunks for its own runs. Its items have a user
 * more before anything leaves (BATCH-5). */
/*@
  requires valid: \valid(batch) && \valid_read(names + (0 .. n_names - 1));
  requires ok: batch_ok(*batch) && names_there(*batch, names, n_names) &&
    names_apart(*batch, names, n_names);
  requires number: batch->n_prompts < CP_MAX_SEQUENCES && 0 <= n_own <= CP_MAX_DEPTH;
  requires few: 0 <= n_names <= named_runs(*batch, names, n_names) <= CP_MAX_DEPTH;
  assigns batch->pool.n_free, batch->pool.perm[0 .. CP_MAX_CHUNKS - 1],
    batch->pool.pos[0 .. CP_MAX_CHUNKS - 1], batch->item[0 .. CP_MAX_ITEMS - 1],
    batch->prompt[0 .. CP_MAX_SEQUENCES - 1], batch->n_prompts, batch->stamp.epoch;
  ensures ok: batch_ok(*batch);
  ensures result: \result == CP_OK || \result == CP_ERROR_POOL_FULL;
  ensures batch_5_full: \result == CP_ERROR_POOL_FULL <==>
    !room_for(\old(*batch), names, n_names, n_own);
  ensures batch_5_unchanged: \result != CP_OK ==> *batch == \old(*batch);
  ensures batch_5_added: \result == CP_OK ==>
    prompt_added(\old(*batch), *batch, id, names, n_names, n_own);
  ensures batch_9_epoch: \result == CP_OK ==>
    batch->stamp.epoch == (unsigned long long)(\old(batch->stamp.epoch) + 1);
*/
static int add_prompt(struct cp_batch *batch, long long id, const unsigned long long *names,
                      int n_names, int n_own) {
    //@ ghost struct cp_batch before = *batch;
    //@ ghost names_are_different(*batch, names, n_names);
    //@ ghost named_users_are_bound(*batch, names, n_names);
    add_users(batch, names, n_names, 1);
    //@ ghost struct cp_batch raised = *batch;
    //@ ghost owned_with_more(before, *batch, names, n_names);
    //@ ghost room_is_beside(before, *batch, names, n_names);
    if (cp_batch_make_room(batch, n_own) != CP_OK) {
        add_users(batch, names, n_names, -1);
        //@ ghost users_as_before(before, raised, *batch, names, n_names);
        //@ ghost alike_is_ok(before, *batch);
        return CP_ERROR_POOL_FULL;
    }
    //@ ghost struct cp_batch left = *batch;
    //@ ghost raised_beside(before, raised, left, names, n_names);
    //@ ghost raised_in_chunks(before, left, names, n_names);
    begin_prompt(batch, id, names, n_names);
    //@ ghost struct cp_batch joined = raised;
    //@ ghost joined.prompt[before.n_prompts] = batch->prompt[before.n_prompts];
    //@ ghost joined.n_prompts = batch->n_prompts;
    //@ assert others: prompts_kept(left, *batch, -1 - before.n_prompts);
    //@ assert this: joined.prompt[before.n_prompts] == batch->prompt[before.n_prompts];
    /*@ assert rest: \forall integer p; 0 <= p < CP_MAX_SEQUENCES ==> p != before.n_prompts ==>
          joined.prompt[p] == left.prompt[p]; */
    //@ ghost prompts_behind(left, joined, *batch, before.n_prompts);
    /*@ ghost
      prompt_is_added(before, raised, left, joined, *batch, names, n_names, n_own); */
    return CP_OK;
}

/* These items become the most recent ones (BATCH-6). */
/*@
  requires valid: \valid(batch) && 0 <= n_names && \valid_read(names + (0 .. n_names - 1));
  requires differ: names_differ(names, n_names);
  requires clock: batch->clock + n_names <= 0xFFFFFFFFFFFFFFFF;
  assigns batch->item[0 .. CP_MAX_ITEMS - 1], batch->clock;
  ensures batch_6_clock: clock_follows(\old(*batch), *batch, names, n_names);
  ensures batch_6_dated: all_but_taken(\old(*batch), *batch, names, n_names);
*/
static void take_items(struct cp_batch *batch, const unsigned long long *names, int n_names) {
    //@ ghost struct cp_batch before = *batch;
    /*@ loop invariant i: 0 <= i <= n_names;
        loop invariant clock: batch->clock == before.clock + i;
        loop invariant dated: names_dated(before, *batch, names, i);
        loop assigns i, batch->item[0 .. CP_MAX_ITEMS - 1], batch->clock;
        loop variant n_names - i; */
    for (int i = 0; i < n_names; i++) {
        //@ assert next: \forall integer j; 0 <= j < i ==> named(names, j) != named(names, i);
        batch->item[number_of(names[i])].taken = ++batch->clock;
        //@ assert this: name_dated(before, *batch, names, i);
        //@ assert had: \forall integer j; 0 <= j < i ==> name_dated(before, *batch, names, j);
        /*@ assert others: \forall integer j; !names_have(names, i + 1, j) ==>
              !names_have(names, i, j) && j != named(names, i); */
    }
    //@ assert last: 0 < n_names ==> name_dated(before, *batch, names, n_names - 1);
}

int cp_batch_join(struct cp_batch *batch, long long id, const unsigned long long *names,
                  int n_names, const struct cp_span *spans, int n_spans, int *prompt) {
    if (!can_be_prompt(batch, names, n_names, spans, n_spans)) {
        return CP_ERROR_ARGUMENT;
    }
    if (batch->n_prompts == CP_MAX_SEQUENCES) {
        return CP_ERROR_SEQUENCES_FULL;
    }
    long long n_own = cp_spans_runs(spans, n_spans, batch->chunk_size);
    if (runs_of_names(batch, names, n_names) > CP_MAX_DEPTH - n_own) {
        return CP_ERROR_TOO_LONG;
    }
    //@ ghost struct cp_batch before = *batch;
    int number = batch->n_prompts;
    if (add_prompt(batch, id, names, n_names, (int)n_own) != CP_OK) {
        return CP_ERROR_POOL_FULL;
    }
    //@ ghost struct cp_batch added = *batch;
    //@ ghost raised_in_chunks(before, added, names, n_names);
    //@ ghost names_are_different(before, names, n_names);
    //@ ghost named_users_are_bound(before, names, n_names);
    take_items(batch, names, n_names);
    //@ ghost struct cp_batch taken = *batch;
    //@ ghost taken_is_ok(added, taken, names, n_names);
    //@ ghost taken_keep_runs(before, added, taken, names, n_names);
    //@ ghost listed_runs(before, taken, number, names, n_names);
    //@ ghost listed_avoid_spans(before, taken, number, names, n_names, spans, n_spans);
    cp_batch_add_spans(batch, -1 - number, spans, n_spans);
    //@ ghost taken_items(before, added, taken, *batch, -1 - number, names, n_names);
    //@ ghost taken_left(before, added, *batch, names, n_names, (int)n_own);
    //@ ghost taken_prompt(before, added, taken, *batch, id, names, n_names);
    *prompt = number;
    return CP_OK;
}
