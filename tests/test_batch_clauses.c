/* SPDX-License-Identifier: Apache-2.0 */
/* Batches of prompts with modules, one clause at a time (spec/batch.md): the chapter's examples,
 * what is refused, limits, and what the check says of each number that breaks a clause. */
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
    assert_int_equal(cp_batch_new(&batch, 0, 4), CP_ERROR_ARGUMENT);
    assert_null(batch);
    assert_int_equal(cp_batch_new(&batch, CP_MAX_CHUNKS + 1, 4), CP_ERROR_ARGUMENT);
    assert_int_equal(cp_batch_new(&batch, 4, 0), CP_ERROR_ARGUMENT);
    assert_int_equal(cp_batch_new(&batch, 4, CP_MAX_CHUNK_SIZE + 1), CP_ERROR_ARGUMENT);
    assert_int_equal(cp_batch_new(&batch, 4, 4), CP_OK);
    assert_int_equal(cp_batch_put(batch, NULL, 0, &a), CP_ERROR_ARGUMENT);
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

/* ---- The check ---- */

static void broken_by(struct cp_batch *batch, int *number, int value, const char *clause) {
    int was = *number;
    *number = value;
    const char *broken = cp_batch_check(batch);
    *number = was;
    assert_non_null(broken);
    assert_string_equal(broken, clause);
    assert_null(cp_batch_check(batch));
}

/* BATCH-1 to BATCH-3: each number that breaks a clause. */
static void the_check_says_which_clause_is_broken(void **unused) {
    (void)unused;
    struct cp_batch *batch;
    unsigned long long a, b, ab[2];
    int p, q;
    assert_int_equal(cp_batch_new(&batch, 8, 4), CP_OK);
    assert_int_equal(cp_batch_put(batch, &A, 1, &a), CP_OK);
    assert_int_equal(cp_batch_put(batch, &B, 1, &b), CP_OK);
    ab[0] = a;
    ab[1] = b;
    assert_int_equal(cp_batch_join(batch, 0, ab, 2, &(struct cp_span){10, 5}, 1, &p), CP_OK);
    assert_int_equal(cp_batch_join(batch, 0, &b, 1, &(struct cp_span){10, 1}, 1, &q), CP_OK);
    assert_null(cp_batch_check(batch));
    struct cp_item *item = &batch->item[cp_batch_find(batch, a)];
    const int number_of_b = cp_batch_find(batch, b);
    struct cp_prompt *prompt = &batch->prompt[p];
    const struct {
        int *number;
        int value;
        const char *clause;
    } faults[] = {
        {&batch->pool.n_free, 9, "POOL-1"},
        {&batch->pool.pos[0], 1, "POOL-2"},
        {&batch->chunk_size, 0, "BATCH-1"},
        {&batch->chunk_size, CP_MAX_CHUNK_SIZE + 1, "BATCH-1"},
        {&batch->n_items, -1, "BATCH-1"},
        {&batch->n_items, CP_MAX_ITEMS + 1, "BATCH-1"},
        {&batch->n_items, 1, "BATCH-1"}, /* prompts have item 1 */
        {&batch->n_prompts, -1, "BATCH-1"},
        {&batch->n_prompts, CP_MAX_SEQUENCES + 1, "BATCH-1"},
        {&batch->n_prompts, 1, "BATCH-2"}, /* the chunks of the other */
        {&item->n_runs, -1, "BATCH-1"},
        {&item->n_runs, CP_MAX_DEPTH + 1, "BATCH-1"},
        {&item->n_runs, 0, "BATCH-1"},
        {&item->n_users, 0, "BATCH-3"},
        {&item->n_users, 2, "BATCH-3"},
        {&item->run[1].chunk, -1, "BATCH-1"},
        {&item->run[1].chunk, 8, "BATCH-1"},
        {&item->run[1].chunk, 0, "BATCH-2"},
        {&item->run[1].chunk, 7, "BATCH-2"}, /* a free one */
        {&item->run[1].n_tokens, 0, "BATCH-1"},
        {&item->run[1].n_tokens, 5, "BATCH-1"},
        {&item->run[1].n_tokens, 1, "BATCH-1"}, /* the prompt has more tokens */
        {&item->run[1].position, -1, "BATCH-1"},
        {&item->run[1].position, INT_MAX - 1, "BATCH-1"},
        {&item->run[1].position, 3, "BATCH-1"},  /* with its other run */
        {&item->run[1].position, 8, "BATCH-1"},  /* with that of b */
        {&item->run[1].position, 13, "BATCH-1"}, /* with an own one */
        {&prompt->n_tokens, 14, "BATCH-1"},
        {&prompt->n_items, -1, "BATCH-1"},
        {&prompt->n_items, CP_MAX_DEPTH + 1, "BATCH-1"},
        {&prompt->n_items, 1, "BATCH-1"},
        {&prompt->n_own, -1, "BATCH-1"},
        {&prompt->n_own, CP_MAX_DEPTH + 1, "BATCH-1"},
        {&prompt->item[0], -1, "BATCH-1"},
        {&prompt->item[0], 2, "BATCH-1"},
        {&prompt->item[0], number_of_b, "BATCH-1"}, /* twice */
        {&prompt->own[0].position, 11, "BATCH-1"},  /* with its other one */
        {&prompt->own[0].chunk, 0, "BATCH-2"},
        {&batch->owner[0].owner, number_of_b, "BATCH-2"},
        {&batch->owner[1].run, 0, "BATCH-2"},
        {&batch->owner[prompt->own[0].chunk].owner, -2, "BATCH-2"},
    };
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) {
        broken_by(batch, faults[i].number, faults[i].value, faults[i].clause);
    }
    cp_batch_free(batch);
}

/* BATCH-1: an item of a prompt is there, even if all tokens are counted without it. BATCH-2: the
 * pool and the owners say the same of a chunk, even if as many are in use as there are runs. */
static void the_check_sees_what_two_numbers_hide(void **unused) {
    (void)unused;
    struct cp_batch *batch;
    unsigned long long a;
    int p;
    assert_int_equal(cp_batch_new(&batch, 8, 4), CP_OK);
    assert_int_equal(cp_batch_put(batch, &A, 1, &a), CP_OK);
    assert_int_equal(cp_batch_join(batch, 0, &a, 1, &(struct cp_span){10, 5}, 1, &p), CP_OK);
    batch->item[0].n_runs = 0;
    batch->prompt[p].n_tokens -= 6;
    assert_string_equal(cp_batch_check(batch), "BATCH-1");
    batch->item[0].n_runs = 2;
    batch->prompt[p].n_tokens += 6;
    assert_null(cp_batch_check(batch));
    assert_true(cp_pool_take(&batch->pool) >= 0);
    cp_pool_release(&batch->pool, batch->item[0].run[1].chunk);
    assert_string_equal(cp_batch_check(batch), "BATCH-2");
    batch->item[0].name += CP_MAX_ITEMS - 1; /* which is that of an item with another number */
    assert_string_equal(cp_batch_check(batch), "BATCH-1");
    cp_batch_free(batch);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_example_has_the_plan_of_the_chapter),
        cmocka_unit_test(no_item_of_the_prompt_leaves_for_it),
        cmocka_unit_test(what_is_out_of_range_is_refused),
        cmocka_unit_test(a_prompt_has_no_more_runs_than_a_plan),
        cmocka_unit_test(counts_have_their_limits),
        cmocka_unit_test(the_check_says_which_clause_is_broken),
        cmocka_unit_test(the_check_sees_what_two_numbers_hide),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
