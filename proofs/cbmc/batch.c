/* SPDX-License-Identifier: Apache-2.0 */
/* One operation on any valid batch (spec/batch.md), given by -DPUT, -DDROP, -DJOIN, -DAPPEND or
 * -DLEAVE. The batch stays valid, no token of a prompt that stays moves, vanishes or appears, what
 * has left had no user, and a failure changes nothing. Then the plan: it is one of runs and has the
 * tokens of each prompt. A batch is judged by where the token of one position is, for any one. */
#include "chunkproof/batch.h"

#include "model.h"

#include <limits.h>
#include <stddef.h>

#define MOST_ITEMS 2 /* of a prompt that joins */
#define MOST_SPANS 1

static struct cp_batch batch;
static struct cp_plan plan;
static int at; /* the position that is looked at */

/* ---- Any batch ---- */

static void any_run(struct cp_run *run) {
    run->chunk = any(3);
    run->n_tokens = any(3);
    run->position = any(4);
}

static void any_lists(void) {
    for (int i = 0; i < CP_MAX_ITEMS; i++) {
        batch.item[i].n_runs = any(3);
        batch.item[i].n_users = any(3);
        batch.item[i].taken = nondet_byte();
        for (int k = 0; k < CP_MAX_DEPTH; k++) {
            any_run(&batch.item[i].run[k]);
        }
    }
    for (int s = 0; s < CP_MAX_SEQUENCES; s++) {
        batch.prompt[s].id = any_id();
        batch.prompt[s].n_tokens = any(4);
        batch.prompt[s].n_items = any(3);
        batch.prompt[s].n_own = any(3);
        for (int k = 0; k < CP_MAX_DEPTH; k++) {
            batch.prompt[s].item[k] = any(3);
            any_run(&batch.prompt[s].own[k]);
        }
    }
}

/* Valid; the times at which items were taken differ, and the clock has been there. */
static void any_batch(void) {
    batch.pool.capacity = any(3);
    batch.pool.n_free = any(3);
    for (int x = 0; x < CP_MAX_CHUNKS; x++) {
        batch.pool.perm[x] = any(3);
        batch.pool.pos[x] = any(3);
        batch.owner[x].owner = any(3);
        batch.owner[x].run = any(3);
    }
    batch.chunk_size = any(3);
    batch.n_items = any(3);
    batch.n_prompts = any(3);
    batch.clock = nondet_byte();
    batch.stamp.tree = nondet_count();
    batch.stamp.epoch = nondet_count() >> 1;
    batch.stamp.step = nondet_count() >> 1;
    any_lists();
    __CPROVER_assume(cp_batch_check(&batch) == NULL);
    for (int i = 0; i < CP_MAX_ITEMS; i++) {
        __CPROVER_assume(batch.item[i].taken <= batch.clock);
        for (int k = 0; k < i; k++) {
            __CPROVER_assume(batch.item[i].taken != batch.item[k].taken);
        }
    }
}

/* ---- Where the token at position `at` is ---- */

/* Its slot in the pool, or `before`. */
static int slot_in(struct cp_run run, int before) {
    int i = at - run.position;
    return 0 <= i && i < run.n_tokens ? run.chunk * CP_MAX_CHUNK_SIZE + i : before;
}

static int slot_in_item(int item) {
    int slot = -1;
    for (int k = 0; k < CP_MAX_DEPTH; k++) {
        slot = k < batch.item[item].n_runs ? slot_in(batch.item[item].run[k], slot) : slot;
    }
    return slot;
}

static int slot_in_prompt(int s) {
    int slot = -1;
    for (int i = 0; i < CP_MAX_DEPTH; i++) {
        if (i < batch.prompt[s].n_items) {
            int of_item = slot_in_item(batch.prompt[s].item[i]);
            slot = of_item >= 0 ? of_item : slot;
        }
        slot = i < batch.prompt[s].n_own ? slot_in(batch.prompt[s].own[i], slot) : slot;
    }
    return slot;
}

static int slot_in_plan(int s) {
    int slot = -1;
    for (int k = 0; k < CP_MAX_DEPTH; k++) {
        slot = k < plan.sequence[s].n_chunks ? slot_in(plan.sequence[s].run[k], slot) : slot;
    }
    return slot;
}

/* What is kept of a batch: of each prompt and of each item. */
struct seen {
    int n_free, n_items, n_prompts;
    unsigned long long clock, epoch, step;
    long long id[CP_MAX_SEQUENCES];
    int slot[CP_MAX_SEQUENCES], n_tokens[CP_MAX_SEQUENCES];
    int of_item[CP_MAX_ITEMS], n_runs[CP_MAX_ITEMS], n_users[CP_MAX_ITEMS];
    unsigned long long taken[CP_MAX_ITEMS];
};

static void look(struct seen *seen) {
    seen->n_free = batch.pool.n_free;
    seen->n_items = batch.n_items;
    seen->n_prompts = batch.n_prompts;
    seen->clock = batch.clock;
    seen->epoch = batch.stamp.epoch;
    seen->step = batch.stamp.step;
    for (int s = 0; s < CP_MAX_SEQUENCES; s++) {
        int is_there = s < batch.n_prompts;
        seen->id[s] = is_there ? batch.prompt[s].id : 0;
        seen->n_tokens[s] = is_there ? batch.prompt[s].n_tokens : 0;
        seen->slot[s] = is_there ? slot_in_prompt(s) : -1;
    }
    for (int i = 0; i < CP_MAX_ITEMS; i++) {
        int is_there = i < batch.n_items && batch.item[i].n_runs > 0;
        seen->n_runs[i] = is_there ? batch.item[i].n_runs : 0;
        seen->n_users[i] = is_there ? batch.item[i].n_users : 0;
        seen->of_item[i] = is_there ? slot_in_item(i) : -1;
        seen->taken[i] = is_there ? batch.item[i].taken : 0;
    }
}

static int same_prompt(const struct seen *a, int s, const struct seen *b, int t) {
    return a->id[s] == b->id[t] && a->n_tokens[s] == b->n_tokens[t] && a->slot[s] == b->slot[t];
}

static int same_prompts(const struct seen *a, const struct seen *b, int n) {
    int same = 1;
    for (int s = 0; s < CP_MAX_SEQUENCES; s++) {
        same = same && (s >= n || same_prompt(a, s, b, s));
    }
    return same;
}

static int same_items(const struct seen *a, const struct seen *b) {
    int same = 1;
    for (int i = 0; i < CP_MAX_ITEMS; i++) {
        same = same && a->n_runs[i] == b->n_runs[i] && a->n_users[i] == b->n_users[i] &&
               a->of_item[i] == b->of_item[i] && a->taken[i] == b->taken[i];
    }
    return same;
}

static int same_all(const struct seen *a, const struct seen *b) {
    return a->n_free == b->n_free && a->n_items == b->n_items && a->n_prompts == b->n_prompts &&
           a->clock == b->clock && a->epoch == b->epoch && a->step == b->step &&
           same_prompts(a, b, CP_MAX_SEQUENCES) && same_items(a, b);
}

/* BATCH-6: what has left was taken before all that could have left and is there, and had no user;
 * of all others the tokens are where they were. `put` is the item that has come, or -1. */
static int leave_in_order(const struct seen *before, const struct seen *after, int put) {
    int right = 1;
    for (int i = 0; i < CP_MAX_ITEMS; i++) {
        int was = before->n_runs[i] > 0, has_left = was && (after->n_runs[i] == 0 || i == put);
        right = right && (!has_left || before->n_users[i] == 0);
        right = right && (!was || has_left || after->of_item[i] == before->of_item[i]);
        for (int j = 0; j < CP_MAX_ITEMS; j++) {
            int stays = j != put && after->n_runs[j] > 0 && after->n_users[j] == 0;
            right = right && (!has_left || !stays || before->taken[i] < before->taken[j]);
        }
    }
    return right;
}

/* The chunks that are free or may leave. */
static int room(const struct seen *seen) {
    int n = seen->n_free;
    for (int i = 0; i < CP_MAX_ITEMS; i++) {
        n += seen->n_users[i] == 0 ? seen->n_runs[i] : 0;
    }
    return n;
}

static struct cp_span any_span(void) {
    struct cp_span span = {any(4), any(4)};
    return span;
}

static int has_it(struct cp_span span) {
    return 0 <= at - span.position && at - span.position < span.n_tokens;
}

static int runs_for(struct cp_span span) {
    return (span.n_tokens + batch.chunk_size - 1) / batch.chunk_size;
}

/* ---- The operations ---- */

static int run_put(const struct seen *before, struct seen *after) {
    struct cp_span span = any_span();
    int item = -1, status = cp_batch_put(&batch, &span, nondet_bool(), &item);
    look(after);
    if (status == CP_OK) {
        CHECK("BATCH-4: the item has the tokens of the span",
              0 <= item && item < batch.n_items && (after->of_item[item] >= 0) == has_it(span) &&
                  after->n_runs[item] == runs_for(span) && after->n_users[item] == 0);
        CHECK("BATCH-4: it is the last one taken",
              after->taken[item] > before->clock && after->taken[item] == batch.clock);
        CHECK("BATCH-6: least recent items without users leave",
              leave_in_order(before, after, item));
        CHECK("BATCH-6: no more than are needed",
              before->n_free >= after->n_runs[item]
                  ? after->n_free >= before->n_free - after->n_runs[item]
                  : 1);
    }
    CHECK("BATCH-4: a full pool", status != CP_ERROR_POOL_FULL || room(before) < runs_for(span));
    CHECK("BATCH-9: a plan does not change",
          after->epoch == before->epoch && after->step == before->step);
    CHECK("BATCH-4: prompts stay as they are",
          after->n_prompts == before->n_prompts && same_prompts(before, after, CP_MAX_SEQUENCES));
    REACH("an item leaves for another", status == CP_OK && before->n_free == 0);
    REACH("an item of two runs", status == CP_OK && after->n_runs[item] == 2);
    REACH("a full pool, where one could leave",
          status == CP_ERROR_POOL_FULL && room(before) > before->n_free);
    REACH("too long", status == CP_ERROR_TOO_LONG);
    return status;
}

static int run_drop(const struct seen *before, struct seen *after) {
    int item = any(3), status = cp_batch_drop(&batch, item);
    look(after);
    CHECK("BATCH-7: an item without users is dropped, and no other",
          (status == CP_OK) == (0 <= item && item < before->n_items && before->n_runs[item] > 0 &&
                                before->n_users[item] == 0));
    CHECK("BATCH-7: its chunks are free",
          status != CP_OK ||
              (after->n_runs[item] == 0 && after->n_free == before->n_free + before->n_runs[item]));
    CHECK("BATCH-7: prompts stay as they are", same_prompts(before, after, CP_MAX_SEQUENCES));
    CHECK("BATCH-7: and so do other items", leave_in_order(before, after, -1) || status == CP_OK);
    REACH("dropped", status == CP_OK && before->n_prompts == 1);
    REACH("in use", status != CP_OK && item == 0 && before->n_users[0] == 1);
    return status;
}

static int run_join(const struct seen *before, struct seen *after) {
    struct cp_span span = any_span();
    int items[MOST_ITEMS] = {any(3), any(3)};
    int n_items = any(3), n_spans = nondet_bool(), prompt = -1;
    __CPROVER_assume(n_items <= MOST_ITEMS);
    int status = cp_batch_join(&batch, 7, items, n_items, &span, n_spans, &prompt);
    look(after);
    if (status == CP_OK) {
        int slot = n_spans && has_it(span) ? after->slot[prompt] : -1;
        for (int i = 0; i < MOST_ITEMS; i++) {
            slot = i < n_items && before->of_item[items[i]] >= 0 ? before->of_item[items[i]] : slot;
        }
        CHECK("BATCH-5: the last prompt has the tokens of its items and its own",
              prompt == before->n_prompts && after->n_prompts == prompt + 1 &&
                  after->id[prompt] == 7 && after->slot[prompt] == slot &&
                  (slot >= 0 || !n_spans || !has_it(span)));
        CHECK("BATCH-6: least recent items without users leave, but none of the prompt's",
              leave_in_order(before, after, -1));
    }
    CHECK("BATCH-5: other prompts stay as they are",
          same_prompts(before, after, before->n_prompts));
    CHECK("BATCH-9: another epoch", after->epoch == before->epoch + (status == CP_OK));
    REACH("an item of the prompt and chunks of an item that leaves",
          status == CP_OK && n_items == 1 && before->n_free == 0 && n_spans);
    REACH("two items", status == CP_OK && n_items == 2);
    REACH("an item that another prompt has, too",
          status == CP_OK && n_items == 1 && before->n_users[items[0]] == 1);
    REACH("a full pool", status == CP_ERROR_POOL_FULL);
    REACH("two tokens at one position",
          status == CP_ERROR_ARGUMENT && n_items == 1 && items[0] == 0 && before->n_runs[0] > 0);
    REACH("too many runs", status == CP_ERROR_TOO_LONG);
    REACH("too many prompts", status == CP_ERROR_SEQUENCES_FULL);
    return status;
}

static int run_append(const struct seen *before, struct seen *after) {
    int prompt = any(3), position = any(4), chunk = -1, slot = -1;
    int status = cp_batch_append(&batch, prompt, position, &chunk, &slot);
    look(after);
    if (status == CP_OK) {
        CHECK("BATCH-8: the prompt has the token at the position, and the others as before",
              after->slot[prompt] ==
                      (position == at ? chunk * CP_MAX_CHUNK_SIZE + slot : before->slot[prompt]) &&
                  after->n_tokens[prompt] == before->n_tokens[prompt] + 1);
        CHECK("BATCH-8: it had none there", position != at || before->slot[prompt] < 0);
        CHECK("BATCH-6: least recent items without users leave", leave_in_order(before, after, -1));
        CHECK("BATCH-9: another epoch or step",
              after->epoch + after->step == before->epoch + before->step + 1);
    }
    for (int s = 0; s < CP_MAX_SEQUENCES; s++) {
        CHECK("BATCH-8: other prompts stay as they are",
              s == prompt || same_prompt(before, s, after, s));
    }
    REACH("a run grows", status == CP_OK && slot == 1);
    REACH("a run begins, for which an item leaves",
          status == CP_OK && slot == 0 && before->n_free == 0);
    REACH("too long", status == CP_ERROR_TOO_LONG);
    REACH("full", status == CP_ERROR_POOL_FULL);
    return status;
}

static int run_leave(const struct seen *before, struct seen *after) {
    int prompt = any(3), status = cp_batch_leave(&batch, prompt);
    look(after);
    CHECK("BATCH-7: whoever is there may leave",
          (status == CP_OK) == (0 <= prompt && prompt < before->n_prompts));
    for (int s = 0; s < CP_MAX_SEQUENCES && status == CP_OK; s++) {
        int was = s == prompt ? before->n_prompts - 1 : s;
        CHECK("BATCH-7: the last prompt takes the number, and the others stay as they are",
              s >= before->n_prompts - 1 || same_prompt(before, was, after, s));
    }
    CHECK("BATCH-7: all items stay",
          status != CP_OK ||
              (leave_in_order(before, after, -1) && after->n_prompts == before->n_prompts - 1));
    CHECK("BATCH-9: another epoch", after->epoch == before->epoch + (status == CP_OK));
    REACH("another takes its number",
          status == CP_OK && prompt == 0 && before->n_prompts == 2 && batch.prompt[0].n_own == 1);
    return status;
}

#if defined PUT
#define RUN run_put
#elif defined DROP
#define RUN run_drop
#elif defined JOIN
#define RUN run_join
#elif defined APPEND
#define RUN run_append
#elif defined LEAVE
#define RUN run_leave
#endif

#ifdef RUN
static void check_operation(void) {
    struct seen before, after;
    look(&before);
    int status = RUN(&before, &after);
    CHECK("BATCH-1, BATCH-2, BATCH-3: the batch is valid", cp_batch_check(&batch) == NULL);
    CHECK("TREE-13: a failure changes nothing", status == CP_OK || same_all(&before, &after));
}
#else
/* BATCH-9, of a plan that is made. */
static void check_plan(void) {
    plan.stamp.epoch = batch.stamp.epoch + 1;
    CHECK("BATCH-9: it is made", cp_batch_plan(&batch, &plan) == 1);
    CHECK("BATCH-9: a plan of runs", cp_plan_check_runs(&plan) == NULL);
    int shared = 0;
    for (int s = 0; s < CP_MAX_SEQUENCES; s++) {
        CHECK("BATCH-9: each prompt has its tokens, where they are",
              s >= batch.n_prompts || (slot_in_plan(s) == slot_in_prompt(s) &&
                                       plan.sequence[s].n_tokens == batch.prompt[s].n_tokens));
    }
    for (int i = 0; i < CP_MAX_ITEMS; i++) {
        int is_shared = i < batch.n_items && batch.item[i].n_users >= 2;
        shared += is_shared ? batch.item[i].n_runs : 0;
    }
    CHECK("BATCH-9: the items of two prompts or more have descriptors", plan.n_shared == shared);
    CHECK("BATCH-9: it has the batch's stamp", cp_plan_is_current(&plan, batch.stamp));
    REACH("two prompts share an item and have another",
          plan.n_shared == 1 && batch.prompt[0].n_own == 1 && batch.prompt[1].n_items == 1);
    REACH("a shared item of two runs", plan.n_shared == 2);
    REACH("an item of one prompt", plan.n_shared == 0 && batch.prompt[0].n_items == 2);
}
#endif

int main(void) {
    at = any(4);
    any_batch();
#ifdef RUN
    check_operation();
#else
    check_plan();
#endif
    return 0;
}
