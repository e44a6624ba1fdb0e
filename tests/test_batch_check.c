/* SPDX-License-Identifier: Apache-2.0 */
/* The check of a batch (spec/batch.md): what it says of each number that breaks a clause. */
#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "chunkproof/batch.h"

static const struct cp_span A = {0, 6}, B = {6, 4};

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
    struct cp_runs *runs = &batch->runs[cp_batch_find(batch, a)];
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
        {&runs->run[1].chunk, -1, "BATCH-1"},
        {&runs->run[1].chunk, 8, "BATCH-1"},
        {&runs->run[1].chunk, 0, "BATCH-2"},
        {&runs->run[1].chunk, 7, "BATCH-2"}, /* a free one */
        {&runs->run[1].n_tokens, 0, "BATCH-1"},
        {&runs->run[1].n_tokens, 5, "BATCH-1"},
        {&runs->run[1].n_tokens, 1, "BATCH-1"}, /* the prompt has more tokens */
        {&runs->run[1].position, -1, "BATCH-1"},
        {&runs->run[1].position, INT_MAX - 1, "BATCH-1"},
        {&runs->run[1].position, 3, "BATCH-1"},  /* with its other run */
        {&runs->run[1].position, 8, "BATCH-1"},  /* with that of b */
        {&runs->run[1].position, 13, "BATCH-1"}, /* with an own one */
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
    cp_pool_release(&batch->pool, batch->runs[0].run[1].chunk);
    assert_string_equal(cp_batch_check(batch), "BATCH-2");
    batch->item[0].name += CP_MAX_ITEMS - 1; /* which is that of an item with another number */
    assert_string_equal(cp_batch_check(batch), "BATCH-1");
    cp_batch_free(batch);
}

/* BATCH-2: a run in a free chunk, a chunk in use without a run, and two runs in one chunk, though
 * the owner of each chunk in use has it: two of one item, and one of an item and one of a prompt.
 */
static void a_chunk_has_one_run_and_is_in_use(void **unused) {
    (void)unused;
    struct cp_batch *batch;
    unsigned long long a;
    int p;
    assert_int_equal(cp_batch_new(&batch, 8, 4), CP_OK);
    assert_int_equal(cp_batch_put(batch, &A, 1, &a), CP_OK);
    assert_int_equal(cp_batch_join(batch, 0, &a, 1, &(struct cp_span){10, 1}, 1, &p), CP_OK);
    int second = batch->runs[0].run[1].chunk;
    int own = batch->prompt[p].own[0].chunk;

    cp_pool_release(&batch->pool, second);
    assert_string_equal(cp_batch_check(batch), "BATCH-2");
    batch->runs[0].run[1].chunk = batch->runs[0].run[0].chunk;
    assert_string_equal(cp_batch_check(batch), "BATCH-2");
    batch->runs[0].run[1].chunk = cp_pool_take(&batch->pool);
    assert_null(cp_batch_check(batch));

    cp_pool_release(&batch->pool, own);
    batch->prompt[p].own[0].chunk = batch->runs[0].run[0].chunk;
    assert_string_equal(cp_batch_check(batch), "BATCH-2");
    batch->prompt[p].own[0].chunk = cp_pool_take(&batch->pool);
    assert_null(cp_batch_check(batch));

    assert_true(cp_pool_take(&batch->pool) >= 0);
    assert_string_equal(cp_batch_check(batch), "BATCH-2");
    cp_batch_free(batch);
}

/* BATCH-3: items with numbers of any size are counted, each by itself, and those without users. */
static void users_of_every_item_are_counted(void **unused) {
    (void)unused;
    enum { N = 2500 };
    static unsigned long long name[N];
    static const struct cp_span one = {0, 1};
    static const int look_at[] = {0, 1, 511, 1023, 1024, 2047, 2048, N - 2, N - 1};
    struct cp_batch *batch;
    int p;
    assert_int_equal(cp_batch_new(&batch, N, 1), CP_OK);
    for (int i = 0; i < N; i++) {
        assert_int_equal(cp_batch_put(batch, &one, 1, &name[i]), CP_OK);
    }
    assert_int_equal(cp_batch_join(batch, 0, &name[N - 1], 1, NULL, 0, &p), CP_OK);
    assert_null(cp_batch_check(batch));
    for (size_t i = 0; i < sizeof look_at / sizeof *look_at; i++) {
        int *users = &batch->item[look_at[i]].n_users;
        broken_by(batch, users, *users + 1, "BATCH-3");
        broken_by(batch, users, *users - 1, "BATCH-3");
    }
    batch->item[N - 1].n_users--; /* as many in all as there are */
    batch->item[7].n_users++;
    assert_string_equal(cp_batch_check(batch), "BATCH-3");
    cp_batch_free(batch);
}

/* BATCH-1: runs of an item that nobody has, and own runs that are no neighbours. */
static void every_run_is_looked_at(void **unused) {
    (void)unused;
    static const struct cp_span far[] = {{10, 4}, {20, 4}, {30, 4}};
    struct cp_batch *batch;
    unsigned long long a;
    int p, none;
    assert_int_equal(cp_batch_new(&batch, 16, 4), CP_OK);
    assert_int_equal(cp_batch_put(batch, &A, 1, &a), CP_OK);
    assert_int_equal(cp_batch_join(batch, 0, NULL, 0, far, 3, &p), CP_OK);
    assert_int_equal(cp_batch_join(batch, 0, NULL, 0, NULL, 0, &none), CP_OK);
    broken_by(batch, &batch->runs[0].run[1].n_tokens, 0, "BATCH-1");
    broken_by(batch, &batch->runs[0].run[1].n_tokens, 5, "BATCH-1");
    broken_by(batch, &batch->prompt[p].own[2].position, 10, "BATCH-1");
    broken_by(batch, &batch->prompt[none].n_own, -1, "BATCH-1");
    broken_by(batch, &batch->prompt[none].n_items, -1, "BATCH-1");
    cp_batch_free(batch);
}

/* BATCH-1: all runs of a prompt together are at most CP_MAX_DEPTH. */
static void runs_of_items_and_own_ones_are_added(void **unused) {
    (void)unused;
    static const struct cp_span most = {0, CP_MAX_DEPTH - 1}, one = {CP_MAX_DEPTH, 1};
    struct cp_batch *batch;
    unsigned long long a;
    int p;
    assert_int_equal(cp_batch_new(&batch, CP_MAX_DEPTH + 4, 1), CP_OK);
    assert_int_equal(cp_batch_put(batch, &most, 1, &a), CP_OK);
    assert_int_equal(cp_batch_join(batch, 0, &a, 1, &one, 1, &p), CP_OK);
    assert_null(cp_batch_check(batch));
    int chunk = cp_pool_take(&batch->pool);
    batch->owner[chunk] = (struct cp_owner){-1 - p, 1};
    batch->prompt[p].own[1] = (struct cp_run){chunk, 1, CP_MAX_DEPTH + 1};
    batch->prompt[p].n_own++;
    batch->prompt[p].n_tokens++;
    assert_string_equal(cp_batch_check(batch), "BATCH-1");
    cp_batch_free(batch);
}

/* BATCH-2: a chunk in use is that of a run, the first one taken as well. */
static void a_chunk_that_nobody_has_is_found(void **unused) {
    (void)unused;
    struct cp_batch *batch;
    assert_int_equal(cp_batch_new(&batch, 4, 4), CP_OK);
    (void)cp_pool_take(&batch->pool);
    assert_string_equal(cp_batch_check(batch), "BATCH-2");
    cp_batch_free(batch);
}

/* BATCH-1, POOL-2: no chunk is one behind the pool, though what lies there fits. */
static void chunks_are_of_the_pool(void **unused) {
    (void)unused;
    struct cp_batch *batch;
    unsigned long long a;
    assert_int_equal(cp_batch_new(&batch, 4, 4), CP_OK);
    assert_int_equal(cp_batch_put(batch, &B, 1, &a), CP_OK);
    batch->owner[4] = batch->owner[0];
    batch->pool.perm[4] = batch->pool.pos[4] = 4;
    broken_by(batch, &batch->runs[0].run[0].chunk, 4, "BATCH-1");
    cp_batch_free(batch);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_check_says_which_clause_is_broken),
        cmocka_unit_test(the_check_sees_what_two_numbers_hide),
        cmocka_unit_test(a_chunk_has_one_run_and_is_in_use),
        cmocka_unit_test(users_of_every_item_are_counted),
        cmocka_unit_test(every_run_is_looked_at),
        cmocka_unit_test(runs_of_items_and_own_ones_are_added),
        cmocka_unit_test(a_chunk_that_nobody_has_is_found),
        cmocka_unit_test(chunks_are_of_the_pool),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
