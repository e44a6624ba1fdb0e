/* SPDX-License-Identifier: Apache-2.0 */
/* Batches of prompts with modules, one clause at a time (spec/batch.md): the chapter's examples,
 * what is refused, and the limits. */
#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "chunkproof/batch.h"

/* ---- Operations ---- */

static const struct cp_span A = {0, 6}, B = {6, 4}, LONG = {20, 8};

/* BATCH-9: the example of the chapter. */
static void the_example_has_the_plan_of_the_chapter(void **unused) {
    (void)unused;
    static const struct cp_shared_chunk shared[] = {
        {0, 0, 2, 4, 0}, {1, 0, 2, 2, 4}, {2, 2, 4, 4, 6}};
    static const struct cp_run runs[3][4] = {{{0, 4, 0}, {1, 2, 4}, {2, 4, 6}, {5, 2, 10}},
                                             {{0, 4, 0}, {1, 2, 4}, {6, 3, 10}},
                                             {{2, 4, 6}, {7, 1, 10}}};
    static const int n_runs[] = {4, 3, 2}, n_shared[] = {3, 2, 1}, served[] = {0, 1, 0, 2};
    struct cp_batch *batch;
    struct cp_plan *plan;
    unsigned long long a, b, c, ab[2];
    int p;
    assert_int_equal(cp_batch_new(&batch, 8, 4), CP_OK);
    assert_int_equal(cp_plan_new(&plan), CP_OK);
    assert_int_equal(cp_batch_put(batch, &A, 1, &a), CP_OK);
    assert_int_equal(cp_batch_put(batch, &B, 1, &b), CP_OK);
    assert_int_equal(cp_batch_put(batch, &LONG, 1, &c), CP_OK);
    ab[0] = a;
    ab[1] = b;
    assert_int_equal(cp_batch_join(batch, 7, ab, 2, &(struct cp_span){10, 2}, 1, &p), CP_OK);
    assert_int_equal(cp_batch_join(batch, 8, &a, 1, &(struct cp_span){10, 3}, 1, &p), CP_OK);
    assert_int_equal(cp_batch_join(batch, 9, &b, 1, &(struct cp_span){10, 1}, 1, &p), CP_OK);
    assert_int_equal(cp_batch_plan(batch, plan), 1);
    assert_int_equal(plan->n_served, 4);
    assert_memory_equal(plan->served, served, sizeof served);
    assert_int_equal(plan->n_shared, 3);
    assert_memory_equal(plan->shared, shared, sizeof shared);
    for (int s = 0; s < 3; s++) {
        assert_int_equal(batch->prompt[s].id, 7 + s);
        assert_int_equal(plan->sequence[s].n_chunks, n_runs[s]);
        assert_int_equal(plan->sequence[s].n_shared, n_shared[s]);
        assert_memory_equal(plan->sequence[s].run, runs[s],
                            (size_t)n_runs[s] * sizeof(struct cp_run));
    }
    assert_int_equal(cp_batch_plan(batch, plan), 0);
    cp_plan_free(plan);
    cp_batch_free(batch);
}

/* BATCH-5: the counterexample. An item of the prompt that joins does not leave for it. */
static void no_item_of_the_prompt_leaves_for_it(void **unused) {
    (void)unused;
    struct cp_batch *batch;
    unsigned long long a, b;
    int p;
    assert_int_equal(cp_batch_new(&batch, 3, 8), CP_OK);
    assert_int_equal(cp_batch_put(batch, &A, 1, &a), CP_OK);
    assert_int_equal(cp_batch_put(batch, &B, 1, &b), CP_OK);
    const struct cp_span three = {30, 24}, two = {30, 16};
    assert_int_equal(cp_batch_join(batch, 0, &a, 1, &three, 1, &p), CP_ERROR_POOL_FULL);
    assert_true(cp_batch_find(batch, a) == 0 && cp_batch_find(batch, b) == 1);
    assert_int_equal(cp_batch_join(batch, 0, &a, 1, &two, 1, &p), CP_OK);
    assert_true(cp_batch_find(batch, a) == 0 && cp_batch_find(batch, b) == -1);
    assert_null(cp_batch_check(batch));
    cp_batch_free(batch);
}

/* BATCH-4, BATCH-5, BATCH-8: what is out of range. */
static void what_is_out_of_range_is_refused(void **unused) {
    (void)unused;
    static const struct cp_span wrong[] = {{0, 0},
                                           {-1, 1},
                                           {0, -1},
                                           {INT_MAX, 1},
                                           {INT_MAX - 3, 4}},
                                most = {INT_MAX - 4, 4};
    struct cp_batch *batch;
    unsigned long long a, other;
    int p, chunk, slot;
    batch = (struct cp_batch *)&most; /* not what it may stay */
    assert_int_equal(cp_batch_new(&batch, 0, 4), CP_ERROR_ARGUMENT);
    assert_null(batch);
    assert_int_equal(cp_batch_new(&batch, CP_MAX_CHUNKS + 1, 4), CP_ERROR_ARGUMENT);
    assert_int_equal(cp_batch_new(&batch, 4, 0), CP_ERROR_ARGUMENT);
    assert_int_equal(cp_batch_new(&batch, 4, CP_MAX_CHUNK_SIZE + 1), CP_ERROR_ARGUMENT);
    assert_int_equal(cp_batch_new(&batch, 4, 4), CP_OK);
    a = 77;
    assert_int_equal(cp_batch_put(batch, NULL, 0, &a), CP_ERROR_ARGUMENT);
    assert_int_equal(cp_batch_put(batch, NULL, -1, &a), CP_ERROR_ARGUMENT);
    assert_int_equal(a, 77);
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        assert_int_equal(cp_batch_put(batch, &wrong[i], 1, &a), CP_ERROR_ARGUMENT);
        assert_int_equal(cp_batch_join(batch, 0, NULL, 0, &wrong[i], 1, &p), CP_ERROR_ARGUMENT);
    }
    assert_int_equal(cp_batch_put(batch, &most, 1, &a), CP_OK);
    const struct cp_span too_long = {0, 4 * CP_MAX_DEPTH + 1}, all = {0, INT_MAX};
    assert_int_equal(cp_batch_put(batch, &too_long, 1, &other), CP_ERROR_TOO_LONG);
    assert_int_equal(cp_batch_put(batch, &all, 1, &other), CP_ERROR_TOO_LONG);
    assert_int_equal(cp_batch_join(batch, 0, NULL, 0, &too_long, 1, &p), CP_ERROR_TOO_LONG);
    unsigned long long twice[] = {a, a}, none = a + 1, zero = 0;
    assert_int_equal(cp_batch_join(batch, 0, twice, 2, NULL, 0, &p), CP_ERROR_ARGUMENT);
    assert_int_equal(cp_batch_join(batch, 0, &none, 1, NULL, 0, &p), CP_ERROR_ARGUMENT);
    assert_int_equal(cp_batch_join(batch, 0, &zero, 1, NULL, 0, &p), CP_ERROR_ARGUMENT);
    assert_int_equal(cp_batch_join(batch, 0, NULL, -1, NULL, 0, &p), CP_ERROR_ARGUMENT);
    assert_int_equal(cp_batch_join(batch, 0, NULL, 0, NULL, -1, &p), CP_ERROR_ARGUMENT);
    assert_int_equal(cp_batch_join(batch, 0, &a, 1, NULL, 0, &p), CP_OK);
    assert_int_equal(cp_batch_append(batch, p, -1, &chunk, &slot), CP_ERROR_ARGUMENT);
    assert_int_equal(cp_batch_append(batch, p, INT_MAX, &chunk, &slot), CP_ERROR_ARGUMENT);
    assert_int_equal(cp_batch_append(batch, p, INT_MAX - 1, &chunk, &slot), CP_ERROR_ARGUMENT);
    assert_int_equal(cp_batch_append(batch, p + 1, 0, &chunk, &slot), CP_ERROR_ARGUMENT);
    assert_int_equal(cp_batch_append(batch, -1, 0, &chunk, &slot), CP_ERROR_ARGUMENT);
    assert_int_equal(cp_batch_drop(batch, a), CP_ERROR_ARGUMENT);
    assert_int_equal(cp_batch_drop(batch, a + 1), CP_ERROR_ARGUMENT);
    assert_int_equal(cp_batch_leave(batch, p), CP_OK);
    assert_int_equal(cp_batch_drop(batch, a), CP_OK);
    assert_int_equal(cp_batch_drop(batch, a), CP_ERROR_ARGUMENT);
    assert_int_equal(cp_batch_join(batch, 0, &a, 1, NULL, 0, &p), CP_ERROR_ARGUMENT);
    cp_batch_free(batch);
}

/* BATCH-1: a prompt has CP_MAX_DEPTH runs, and no more. */
static void a_prompt_has_no_more_runs_than_a_plan(void **unused) {
    (void)unused;
    struct cp_batch *batch;
    unsigned long long a;
    int p, chunk, slot;
    assert_int_equal(cp_batch_new(&batch, CP_MAX_DEPTH + 8, 2), CP_OK);
    assert_int_equal(cp_batch_put(batch, &A, 1, &a), CP_OK);
    const struct cp_span more = {6, 2 * (CP_MAX_DEPTH - 3) + 1}, rest = {6, 2 * (CP_MAX_DEPTH - 3)};
    assert_int_equal(cp_batch_join(batch, 0, &a, 1, &more, 1, &p), CP_ERROR_TOO_LONG);
    assert_int_equal(cp_batch_join(batch, 0, &a, 1, &rest, 1, &p), CP_OK);
    int end = rest.position + rest.n_tokens;
    assert_int_equal(cp_batch_append(batch, p, end, &chunk, &slot), CP_ERROR_TOO_LONG);
    assert_null(cp_batch_check(batch));
    cp_batch_free(batch);
}

/* BATCH-5: no more prompts than a plan has sequences. BATCH-6: no more items than have numbers. */
static void counts_have_their_limits(void **unused) {
    (void)unused;
    struct cp_batch *batch;
    unsigned long long item, second = 0, first;
    int p;
    assert_int_equal(cp_batch_new(&batch, CP_MAX_ITEMS + 1, 1), CP_OK);
    for (int s = 0; s < CP_MAX_SEQUENCES; s++) {
        assert_int_equal(cp_batch_join(batch, s, NULL, 0, NULL, 0, &p), CP_OK);
    }
    assert_int_equal(cp_batch_join(batch, 0, NULL, 0, NULL, 0, &p), CP_ERROR_SEQUENCES_FULL);
    assert_int_equal(cp_batch_leave(batch, 0), CP_OK);
    assert_int_equal(batch->prompt[0].id, CP_MAX_SEQUENCES - 1);
    const struct cp_span one = {0, 1};
    assert_int_equal(cp_batch_put(batch, &one, 1, &first), CP_OK);
    assert_int_equal(cp_batch_join(batch, 0, &first, 1, NULL, 0, &p), CP_OK);
    for (int i = 1; i < CP_MAX_ITEMS; i++) {
        assert_int_equal(cp_batch_put(batch, &one, 1, &item), CP_OK);
        assert_int_equal(cp_batch_find(batch, item), i);
        second = i == 1 ? item : second;
    }
    assert_int_equal(cp_batch_put(batch, &one, 1, &item), CP_OK); /* the least recent leaves */
    assert_int_equal(cp_batch_find(batch, item), 1);
    assert_int_equal(cp_batch_find(batch, second), -1);
    assert_int_equal(cp_batch_join(batch, 0, &second, 1, NULL, 0, &p), CP_ERROR_ARGUMENT);
    assert_int_equal(batch->pool.n_free, 1);
    cp_batch_free(batch);
}

/* RUNS-1: runs begin with the span, and not where positions are multiples of c. */
static void a_span_is_cut_from_its_beginning(void **unused) {
    (void)unused;
    static const struct cp_span five = {2, 5}, next = {9, 3};
    static const struct cp_run runs[] = {{0, 4, 2}, {1, 1, 6}}, own[] = {{2, 3, 9}};
    struct cp_batch *batch;
    unsigned long long a;
    int p;
    assert_int_equal(cp_batch_new(&batch, 4, 4), CP_OK);
    assert_int_equal(cp_batch_put(batch, &five, 1, &a), CP_OK);
    assert_int_equal(cp_batch_join(batch, 0, &a, 1, &next, 1, &p), CP_OK);
    assert_memory_equal(batch->runs[0].run, runs, sizeof runs);
    assert_memory_equal(batch->prompt[0].own, own, sizeof own);
    cp_batch_free(batch);
}

/* BATCH-1, BATCH-4, BATCH-5, BATCH-8: CP_MAX_DEPTH runs of an item, and of a prompt, whose last one
 * may still grow. A position may be any below INT_MAX. */
static void the_longest_prompt_and_item(void **unused) {
    (void)unused;
    static const struct cp_span most = {0, 2 * CP_MAX_DEPTH}, one = {2 * CP_MAX_DEPTH, 1},
                                rest = {0, 2 * CP_MAX_DEPTH - 1};
    struct cp_batch *batch;
    unsigned long long a;
    int p, chunk, slot;
    assert_int_equal(cp_batch_new(&batch, 2 * CP_MAX_DEPTH + 8, 2), CP_OK);
    assert_int_equal(cp_batch_put(batch, &most, 1, &a), CP_OK);
    assert_int_equal(cp_batch_join(batch, 0, &a, 1, &one, 1, &p), CP_ERROR_TOO_LONG);
    assert_int_equal(cp_batch_join(batch, 0, &a, 1, NULL, 0, &p), CP_OK);
    assert_int_equal(cp_batch_join(batch, 1, NULL, 0, &rest, 1, &p), CP_OK);
    assert_int_equal(cp_batch_append(batch, p, rest.n_tokens, &chunk, &slot), CP_OK);
    assert_int_equal(slot, 1);
    assert_int_equal(cp_batch_append(batch, p, rest.n_tokens + 1, &chunk, &slot),
                     CP_ERROR_TOO_LONG);
    assert_int_equal(cp_batch_join(batch, 2, NULL, 0, NULL, 0, &p), CP_OK);
    assert_int_equal(cp_batch_append(batch, p, INT_MAX - 1, &chunk, &slot), CP_OK);
    assert_null(cp_batch_check(batch));
    cp_batch_free(batch);
    assert_int_equal(cp_batch_new(&batch, CP_MAX_CHUNKS, CP_MAX_CHUNK_SIZE), CP_OK);
    cp_batch_free(batch);
}

/* BATCH-6: no item leaves for a prompt that is too long, nor for one too many. */
static void a_failure_lets_nothing_leave(void **unused) {
    (void)unused;
    static const struct cp_span all = {0, CP_MAX_DEPTH}, one = {0, 1};
    struct cp_batch *batch;
    unsigned long long a;
    int p, chunk, slot;
    assert_int_equal(cp_batch_new(&batch, CP_MAX_DEPTH + 1, 1), CP_OK);
    assert_int_equal(cp_batch_put(batch, &one, 1, &a), CP_OK);
    assert_int_equal(cp_batch_join(batch, 0, NULL, 0, &all, 1, &p), CP_OK);
    assert_int_equal(batch->pool.n_free, 0);
    assert_int_equal(cp_batch_append(batch, p, CP_MAX_DEPTH, &chunk, &slot), CP_ERROR_TOO_LONG);
    assert_int_equal(cp_batch_find(batch, a), 0);
    for (int s = 1; s < CP_MAX_SEQUENCES; s++) {
        assert_int_equal(cp_batch_join(batch, s, NULL, 0, NULL, 0, &p), CP_OK);
    }
    assert_null(cp_batch_check(batch));
    assert_int_equal(cp_batch_join(batch, 0, NULL, 0, &one, 1, &p), CP_ERROR_SEQUENCES_FULL);
    assert_int_equal(cp_batch_find(batch, a), 0);
    cp_batch_free(batch);
}

/* BATCH-4, BATCH-6: where CP_MAX_ITEMS are there, the least recent one leaves for the number, if
 * there is room for the chunks. Where a number is free, none leaves for it. With users none can. */
static void numbers_of_items_are_used_again(void **unused) {
    (void)unused;
    static const struct cp_span one = {0, 1}, two = {0, 2};
    static unsigned long long name[CP_MAX_ITEMS];
    struct cp_batch *batch;
    unsigned long long other;
    int p;
    assert_int_equal(cp_batch_new(&batch, CP_MAX_ITEMS + 1, 1), CP_OK);
    for (int i = 0; i < CP_MAX_ITEMS; i++) {
        assert_int_equal(cp_batch_put(batch, &one, 1, &name[i]), CP_OK);
    }
    assert_null(cp_batch_check(batch));
    assert_int_equal(cp_batch_join(batch, 0, &name[0], 1, NULL, 0, &p), CP_OK);
    assert_int_equal(cp_batch_leave(batch, p), CP_OK); /* number 0 is the most recent now */
    assert_int_equal(cp_batch_put(batch, &one, 1, &other), CP_OK);
    assert_true(cp_batch_find(batch, other) == 1 && cp_batch_find(batch, name[1]) == -1);
    assert_int_equal(cp_batch_drop(batch, name[5]), CP_OK);
    assert_int_equal(cp_batch_put(batch, &one, 1, &name[5]), CP_OK);
    assert_int_equal(cp_batch_find(batch, name[5]), 5);
    assert_int_equal(batch->pool.n_free, 1);
    for (int i = 0; i < CP_MAX_ITEMS; i++) { /* all have users, but the last one */
        unsigned long long it = i == 1 ? other : name[i];
        if (i + 1 < CP_MAX_ITEMS) {
            assert_int_equal(cp_batch_join(batch, i, &it, 1, NULL, 0, &p), CP_OK);
        }
    }
    const struct cp_span four = {0, 4};
    assert_int_equal(cp_batch_put(batch, &four, 1, &other), CP_ERROR_POOL_FULL);
    assert_int_equal(cp_batch_find(batch, name[CP_MAX_ITEMS - 1]), CP_MAX_ITEMS - 1);
    assert_int_equal(cp_batch_put(batch, &two, 1, &other), CP_OK);
    assert_int_equal(cp_batch_find(batch, other), CP_MAX_ITEMS - 1);
    assert_int_equal(cp_batch_drop(batch, other), CP_OK);
    assert_int_equal(cp_batch_put(batch, &one, 1, &other), CP_OK); /* its number was free */
    assert_int_equal(cp_batch_leave(batch, 0), CP_OK);
    assert_int_equal(cp_batch_join(batch, 0, &name[0], 1, NULL, 0, &p), CP_OK);
    assert_int_equal(cp_batch_join(batch, 1, &other, 1, NULL, 0, &p), CP_OK);
    assert_int_equal(cp_batch_put(batch, &one, 1, &other), CP_ERROR_TOO_LONG);
    cp_batch_free(batch);
}

/* BATCH-4: the number is the lowest that no item has when room is made. */
static void a_number_is_that_of_one_that_left(void **unused) {
    (void)unused;
    struct cp_batch *batch;
    unsigned long long a, b, c;
    assert_int_equal(cp_batch_new(&batch, 2, 8), CP_OK);
    assert_int_equal(cp_batch_put(batch, &A, 1, &a), CP_OK);
    assert_int_equal(cp_batch_put(batch, &B, 1, &b), CP_OK);
    assert_int_equal(cp_batch_put(batch, &LONG, 1, &c), CP_OK);
    assert_true(cp_batch_find(batch, a) == -1 && cp_batch_find(batch, b) == 1);
    assert_int_equal(cp_batch_find(batch, c), 0);
    cp_batch_free(batch);
}

/* RUNS-1: the last positions there are, in a chunk that they do not fill. */
static void a_span_may_end_at_the_last_position(void **unused) {
    (void)unused;
    static const struct cp_span last = {INT_MAX - 6, 6};
    struct cp_batch *batch;
    unsigned long long a;
    assert_int_equal(cp_batch_new(&batch, 4, 4), CP_OK);
    assert_int_equal(cp_batch_put(batch, &last, 1, &a), CP_OK);
    assert_int_equal(batch->item[0].n_runs, 2);
    assert_true(batch->runs[0].run[1].position == INT_MAX - 2 &&
                batch->runs[0].run[1].n_tokens == 2);
    assert_null(cp_batch_check(batch));
    cp_batch_free(batch);
}

/* BATCH-4: a name has 64 bits; its number is their remainder, however long the clock has run. */
static void names_have_64_bits(void **unused) {
    (void)unused;
    struct cp_batch *batch;
    unsigned long long a, b;
    assert_int_equal(cp_batch_new(&batch, 4, 8), CP_OK);
    batch->clock = (1ULL << 31) / CP_MAX_ITEMS;
    assert_int_equal(cp_batch_put(batch, &A, 1, &a), CP_OK);
    assert_int_equal(cp_batch_put(batch, &B, 1, &b), CP_OK);
    assert_true(cp_batch_find(batch, a) == 0 && cp_batch_find(batch, b) == 1);
    assert_int_equal(cp_batch_find(batch, b + (1ULL << 32)), -1);
    assert_null(cp_batch_check(batch));
    cp_batch_free(batch);
}

/* BATCH-9: the items that a prompt has alone stand in its order, and shared ones by number. */
static void items_stand_in_their_order(void **unused) {
    (void)unused;
    struct cp_batch *batch;
    struct cp_plan *plan;
    unsigned long long a, b;
    int p;
    assert_int_equal(cp_plan_new(&plan), CP_OK);
    assert_int_equal(cp_batch_new(&batch, 4, 8), CP_OK);
    assert_int_equal(cp_batch_put(batch, &A, 1, &a), CP_OK);
    assert_int_equal(cp_batch_put(batch, &B, 1, &b), CP_OK);
    const unsigned long long names[] = {b, a};
    assert_int_equal(cp_batch_join(batch, 0, names, 2, NULL, 0, &p), CP_OK);
    (void)cp_batch_plan(batch, plan);
    assert_true(plan->sequence[0].run[0].chunk == 1 && plan->sequence[0].run[1].chunk == 0);
    assert_int_equal(cp_batch_join(batch, 1, names, 2, NULL, 0, &p), CP_OK);
    (void)cp_batch_plan(batch, plan);
    assert_true(plan->sequence[0].run[0].chunk == 0 && plan->sequence[0].run[1].chunk == 1);
    assert_null(cp_plan_check_runs(plan));
    cp_batch_free(batch);
    cp_plan_free(plan);
}

/* PLAN-5, BATCH-9: a plan of another batch of the same epoch is made anew, and one without prompts
 * has none. */
static void a_plan_is_of_one_batch(void **unused) {
    (void)unused;
    struct cp_batch *batch[2];
    struct cp_plan *plan;
    int p;
    assert_int_equal(cp_plan_new(&plan), CP_OK);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(cp_batch_new(&batch[i], 4, 4), CP_OK);
        assert_int_equal(cp_batch_join(batch[i], i, NULL, 0, i == 0 ? &A : &B, 1, &p), CP_OK);
    }
    assert_int_equal(cp_batch_plan(batch[0], plan), 1);
    assert_true(cp_plan_is_current(plan, batch[0]->stamp));
    assert_false(cp_plan_is_current(plan, batch[1]->stamp));
    assert_int_equal(cp_batch_plan(batch[1], plan), 1);
    assert_int_equal(plan->sequence[0].n_tokens, B.n_tokens);
    assert_int_equal(cp_batch_leave(batch[1], 0), CP_OK);
    assert_int_equal(cp_batch_plan(batch[1], plan), 1);
    assert_int_equal(plan->n_sequences, 0);
    cp_batch_free(batch[0]);
    cp_batch_free(batch[1]);
    cp_plan_free(plan);
}

/* A batch may be made where another one was. */
static void any_memory_will_do(void **unused) {
    (void)unused;
    struct cp_batch *batch;
    unsigned long long a;
    int p;
    assert_int_equal(cp_batch_new(&batch, 8, 4), CP_OK);
    assert_int_equal(cp_batch_put(batch, &A, 1, &a), CP_OK);
    assert_int_equal(cp_batch_join(batch, 0, &a, 1, &LONG, 1, &p), CP_OK);
    cp_batch_init(batch, 4, 2, 7);
    assert_null(cp_batch_check(batch));
    assert_true(batch->n_prompts == 0 && batch->n_items == 0 && batch->pool.n_free == 4);
    assert_int_equal(cp_batch_find(batch, a), -1);
    assert_int_equal(cp_batch_put(batch, &B, 1, &a), CP_OK);
    assert_int_equal(batch->item[0].n_users, 0);
    assert_null(cp_batch_check(batch));
    cp_batch_free(batch);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_example_has_the_plan_of_the_chapter),
        cmocka_unit_test(no_item_of_the_prompt_leaves_for_it),
        cmocka_unit_test(what_is_out_of_range_is_refused),
        cmocka_unit_test(a_prompt_has_no_more_runs_than_a_plan),
        cmocka_unit_test(counts_have_their_limits),
        cmocka_unit_test(a_span_is_cut_from_its_beginning),
        cmocka_unit_test(the_longest_prompt_and_item),
        cmocka_unit_test(a_failure_lets_nothing_leave),
        cmocka_unit_test(numbers_of_items_are_used_again),
        cmocka_unit_test(a_number_is_that_of_one_that_left),
        cmocka_unit_test(a_span_may_end_at_the_last_position),
        cmocka_unit_test(names_have_64_bits),
        cmocka_unit_test(items_stand_in_their_order),
        cmocka_unit_test(a_plan_is_of_one_batch),
        cmocka_unit_test(any_memory_will_do),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
