/* SPDX-License-Identifier: Apache-2.0 */
/* cp_batch_join() (BATCH-5). */
#include "batch.h"

#include <stddef.h>

#define MAX_NAMES 2

/* The items of the names; 0: one is not there. */
static int items_of(const struct cp_batch *batch, const unsigned long long *names, int n,
                    int *item) {
    int found = 1;
    for (int k = 0; k < MAX_NAMES; k++) {
        item[k] = (int)(names[k] % CP_MAX_ITEMS);
        found &= k >= n || (item[k] < batch->n_items && batch->item[item[k]].n_runs > 0 &&
                            batch->item[item[k]].name == names[k]);
    }
    return found;
}

static int items_place(const struct cp_batch *batch, const int *item, int n, int position) {
    int place = -1;
    for (int k = 0; k < MAX_NAMES; k++) {
        int at = k < n ? item_place(batch, item[k], position) : -1;
        place = at >= 0 ? at : place;
    }
    return place;
}

/* Has no position two tokens? Where two overlap, one of them begins. */
static int tokens_apart(const struct cp_batch *batch, const int *item, int n,
                        const struct cp_span *spans, int n_spans) {
    int ok = spans_apart(spans, n_spans) && (n < 2 || item[0] != item[1]);
    for (int i = 0; i < MAX_NAMES; i++) {
        for (int k = 0; k < CP_MAX_DEPTH; k++) {
            struct cp_run run = batch->runs[item[i]].run[k];
            int in_use = i < n && k < batch->item[item[i]].n_runs;
            ok = ok && (!in_use || (!spans_have(spans, n_spans, run.position) &&
                                    (n < 2 || item_place(batch, item[1 - i], run.position) < 0)));
        }
    }
    for (int i = 0; i < MAX_SPANS; i++) {
        ok = ok && (i >= n_spans || items_place(batch, item, n, spans[i].position) < 0);
    }
    return ok;
}

static int items_runs(const struct cp_batch *batch, const int *item, int n) {
    int runs = 0;
    for (int k = 0; k < MAX_NAMES; k++) {
        runs += k < n ? batch->item[item[k]].n_runs : 0;
    }
    return runs;
}

void step_batch_join(struct cp_batch *batch) {
    struct cp_batch old = *batch;
    struct cp_span spans[MAX_SPANS];
    int n = any_spans(spans);
    unsigned long long names[MAX_NAMES] = {(unsigned)any(3), (unsigned)any(3)};
    int n_names = nondet_int(), item[MAX_NAMES], prompt = 77;
    long long id = any_id();
    __CPROVER_assume(-1 <= n_names && n_names <= MAX_NAMES);
    int wrong =
        n_names < 0 || n < 0 || !items_of(batch, names, n_names, item) || !spans_in_range(spans, n);
    int twice = !wrong && !tokens_apart(batch, item, n_names, spans, n);
    int refused = wrong || twice;
    int too_many = !refused && batch->n_prompts == CP_MAX_SEQUENCES;
    int is_long = !refused && !too_many &&
                  items_runs(batch, item, n_names) + spans_runs(spans, n) > CP_MAX_DEPTH;
    int is_full =
        !refused && !too_many && !is_long && spans_runs(spans, n) > room(batch, item, n_names);

    int status = cp_batch_join(batch, id, names, n_names, spans, n, &prompt);

    CHECK("BATCH-5: each error where it is due", status == (refused    ? CP_ERROR_ARGUMENT
                                                            : too_many ? CP_ERROR_SEQUENCES_FULL
                                                            : is_long  ? CP_ERROR_TOO_LONG
                                                            : is_full  ? CP_ERROR_POOL_FULL
                                                                       : CP_OK));
    CHECK("valid", is_valid(batch));
    CHECK("an error changes nothing", status == CP_OK || (batch_same(&old, batch) && prompt == 77));
    if (status == CP_OK) {
        int x = any(4), y = any(4), p = nondet_int();
        int shared = items_place(&old, item, n_names, x), place = prompt_place(batch, prompt, x);
        CHECK("BATCH-5: the last one", prompt == old.n_prompts && batch->n_prompts == prompt + 1 &&
                                           batch->prompt[prompt].id == id);
        CHECK("BATCH-5: its items", batch->prompt[prompt].n_items == n_names &&
                                        (n_names < 1 || batch->prompt[prompt].item[0] == item[0]) &&
                                        (n_names < 2 || batch->prompt[prompt].item[1] == item[1]));
        CHECK("BATCH-5: the tokens of its items", shared < 0 || place == shared);
        CHECK("RUNS-1: and of its spans", shared >= 0 || (place >= 0) == spans_have(spans, n, x));
        CHECK("RUNS-1: each has a place of its own",
              x == y || place < 0 || place != prompt_place(batch, prompt, y));
        CHECK("RUNS-1: no run more than needed",
              batch->prompt[prompt].n_own == spans_runs(spans, n));
        CHECK("BATCH-6: the last item is the most recent",
              n_names < 1 || (batch->item[item[n_names - 1]].taken == batch->clock &&
                              batch->clock == old.clock + (unsigned)n_names));
        CHECK("BATCH-6: the others", others_ok(&old, batch));
        CHECK("PLAN-5: stamp",
              batch->stamp.epoch == old.stamp.epoch + 1 && batch->stamp.step == old.stamp.step);
        __CPROVER_assume(0 <= p && p < old.n_prompts);
        CHECK("the other prompts", prompt_same(&old, p, batch, p));
    }
    REACH("two items", status == CP_OK && n_names == 2);
    REACH("an item that another has", status == CP_OK && old.n_prompts == 1 && n_names == 1 &&
                                          n == 1 && prompt_has(&old, 0, item[0]));
    REACH("nothing", status == CP_OK && n_names == 0 && n == 0);
    REACH("two spans", status == CP_OK && n == 2);
    REACH("one leaves", status == CP_OK && n == 1 && old.pool.n_free == 0);
    REACH("argument: not there", status == CP_ERROR_ARGUMENT && n_names == 1 && n == 0);
    REACH("argument: named twice", status == CP_ERROR_ARGUMENT && n_names == 2 &&
                                       names[0] == names[1] && n == 0 && item[0] < old.n_items &&
                                       old.item[item[0]].n_runs == 1 &&
                                       old.item[item[0]].name == names[0]);
    REACH("argument: a position twice", status == CP_ERROR_ARGUMENT && twice && n == 1);
    REACH("too many", status == CP_ERROR_SEQUENCES_FULL);
    REACH("too long", status == CP_ERROR_TOO_LONG && n_names == 1);
    REACH("full", status == CP_ERROR_POOL_FULL && n_names == 0);
    REACH("full: its own item may not leave",
          status == CP_ERROR_POOL_FULL && room(&old, NULL, 0) >= spans_runs(spans, n));
}
