/* SPDX-License-Identifier: Apache-2.0 */
/* cp_batch_put() (BATCH-4). */
#include "batch.h"

#include <stddef.h>

static int all_numbers_used(const struct cp_batch *batch) {
    int used = 1;
    for (int i = 0; i < CP_MAX_ITEMS; i++) {
        used &= i < batch->n_items && batch->item[i].n_runs > 0 && batch->item[i].n_users > 0;
    }
    return used;
}

/* BATCH-4: no lower number is that of no item. */
static int is_lowest(const struct cp_batch *batch, int number) {
    int ok = 1;
    for (int i = 0; i < CP_MAX_ITEMS; i++) {
        ok &= i >= number || batch->item[i].n_runs > 0;
    }
    return ok;
}

void step_batch_put(struct cp_batch *batch) {
    struct cp_batch old = *batch;
    struct cp_span spans[MAX_SPANS];
    int n = any_spans(spans);
    unsigned long long name = 77;
    int wrong = n < 1 || !spans_in_range(spans, n) || !spans_apart(spans, n);
    int is_long = !wrong && (spans_runs(spans, n) > CP_MAX_DEPTH || all_numbers_used(batch));
    int is_full = !wrong && !is_long && spans_runs(spans, n) > room(batch, NULL, 0);

    int status = cp_batch_put(batch, spans, n, &name);

    CHECK("BATCH-4: each error where it is due", status == (wrong     ? CP_ERROR_ARGUMENT
                                                            : is_long ? CP_ERROR_TOO_LONG
                                                            : is_full ? CP_ERROR_POOL_FULL
                                                                      : CP_OK));
    CHECK("valid", is_valid(batch));
    CHECK("an error changes nothing", status == CP_OK || (batch_same(&old, batch) && name == 77));
    if (status == CP_OK) {
        int number = cp_batch_find(batch, name), p = nondet_int(), x = any(4), y = any(4);
        int place = item_place(batch, number, x);
        CHECK("BATCH-4: it is there", 0 <= number && number == (int)(name % CP_MAX_ITEMS));
        CHECK("BATCH-4: the lowest number", is_lowest(batch, number));
        CHECK("BATCH-4: no users, taken last", batch->item[number].n_users == 0 &&
                                                   batch->clock == old.clock + 1 &&
                                                   batch->item[number].taken == batch->clock);
        CHECK("RUNS-1: the tokens of the spans", (place >= 0) == spans_have(spans, n, x));
        CHECK("RUNS-1: each has a place of its own",
              x == y || place < 0 || place != item_place(batch, number, y));
        CHECK("RUNS-1: no run more than needed",
              batch->item[number].n_runs == spans_runs(spans, n));
        CHECK("BATCH-6: the others", others_ok(&old, batch));
        __CPROVER_assume(0 <= p && p < old.n_prompts);
        CHECK("the prompts", batch->n_prompts == old.n_prompts && prompt_same(&old, p, batch, p));
        CHECK("PLAN-5: stamp",
              batch->stamp.epoch == old.stamp.epoch && batch->stamp.step == old.stamp.step);
    }
    REACH("a number that one left", status == CP_OK && name % CP_MAX_ITEMS == 0 &&
                                        old.n_items == CP_MAX_ITEMS && old.item[0].n_runs == 0);
    REACH("one leaves for its chunk",
          status == CP_OK && old.pool.n_free == 0 && old.n_items < CP_MAX_ITEMS);
    REACH("one leaves for its number", status == CP_OK && old.pool.n_free == 1 &&
                                           old.item[0].n_runs > 0 && old.item[1].n_runs > 0 &&
                                           batch->pool.n_free == 1);
    REACH("beside a prompt", status == CP_OK && old.n_prompts == 1 && old.prompt[0].n_items == 1);
    REACH("two spans", status == CP_OK && n == 2);
    REACH("argument: no span", status == CP_ERROR_ARGUMENT && n == 0);
    REACH("argument: a position twice", status == CP_ERROR_ARGUMENT && spans_in_range(spans, n));
    REACH("too many runs", status == CP_ERROR_TOO_LONG && !all_numbers_used(&old));
    REACH("too many items", status == CP_ERROR_TOO_LONG && all_numbers_used(&old));
    REACH("full", status == CP_ERROR_POOL_FULL && old.pool.n_free == 1);
}
