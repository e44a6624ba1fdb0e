/* SPDX-License-Identifier: Apache-2.0 */
/* The pool, clause by clause (spec/pool.md), against a naive model, and its check on broken
 * content. */
#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "chunkproof/pool.h"
#include "random.h"

static int new_pool(void **state) {
    *state = calloc(1, sizeof(struct cp_pool));
    return *state == NULL;
}

static int free_pool(void **state) {
    free(*state);
    return 0;
}

static void check_valid(const struct cp_pool *pool) {
    assert_null(cp_pool_check(pool));
    assert_int_equal(cp_pool_is_valid(pool), 1);
}

static void check_broken(const struct cp_pool *pool, const char *clause) {
    assert_string_equal(cp_pool_check(pool), clause);
    assert_int_equal(cp_pool_is_valid(pool), 0);
}

/* POOL-1 */
static void a_new_pool_is_free(void **state) {
    struct cp_pool *pool = *state;
    const int capacities[] = {1, 2, 3, 1000, CP_MAX_CHUNKS};
    for (size_t i = 0; i < sizeof capacities / sizeof *capacities; i++) {
        cp_pool_init(pool, capacities[i]);
        assert_int_equal(pool->capacity, capacities[i]);
        assert_int_equal(pool->n_free, capacities[i]);
        check_valid(pool);
        for (int x = 0; x < capacities[i]; x++) {
            assert_int_equal(cp_pool_is_used(pool, x), 0);
        }
    }
}

/* The example of spec/pool.md: POOL-3, POOL-4, POOL-5 step by step. */
static void the_example_of_the_chapter(void **state) {
    struct cp_pool *pool = *state;
    const struct {
        int release; /* this chunk, or -1 to take one ... */
        int returns; /* ... which is this */
        int perm[4];
        int n_free;
    } steps[] = {
        {-1, 0, {3, 2, 1, 0}, 3},  {-1, 1, {3, 2, 1, 0}, 2}, {0, 0, {3, 2, 0, 1}, 3},
        {-1, 0, {3, 2, 0, 1}, 2},  {-1, 2, {3, 2, 0, 1}, 1}, {-1, 3, {3, 2, 0, 1}, 0},
        {-1, -1, {3, 2, 0, 1}, 0},
    };
    cp_pool_init(pool, 4);
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
        if (steps[i].release >= 0) {
            cp_pool_release(pool, steps[i].release);
        } else {
            assert_int_equal(cp_pool_take(pool), steps[i].returns);
        }
        assert_int_equal(pool->n_free, steps[i].n_free);
        assert_memory_equal(pool->perm, steps[i].perm, sizeof steps[i].perm);
        check_valid(pool);
    }
}

/* POOL-3: a chunk that was never used is the lowest such; one that was released comes back
 * first. */
static void released_chunks_come_back_last_in_first_out(void **state) {
    struct cp_pool *pool = *state;
    cp_pool_init(pool, CP_MAX_CHUNKS);
    for (int x = 0; x < 100; x++) {
        assert_int_equal(cp_pool_take(pool), x);
    }
    cp_pool_release(pool, 17);
    cp_pool_release(pool, 99);
    cp_pool_release(pool, 0);
    assert_int_equal(cp_pool_take(pool), 0);
    assert_int_equal(cp_pool_take(pool), 99);
    assert_int_equal(cp_pool_take(pool), 17);
    assert_int_equal(cp_pool_take(pool), 100);
    check_valid(pool);
}

/* POOL-5 */
static void a_full_pool_refuses_and_stays_as_it_is(void **state) {
    struct cp_pool *pool = *state;
    cp_pool_init(pool, 3);
    for (int x = 0; x < 3; x++) {
        assert_int_equal(cp_pool_take(pool), x);
    }
    struct cp_pool *before = malloc(sizeof *before);
    assert_non_null(before);
    *before = *pool;
    assert_int_equal(cp_pool_take(pool), -1);
    assert_memory_equal(pool, before, sizeof *before);
    free(before);
    check_valid(pool);
}

#define MODEL_CHUNKS 8

/* What the pool must do, said in another way: a stack of released chunks, and how many were ever
 * used. */
struct model {
    int capacity;
    int peak;
    int n_released;
    int released[MODEL_CHUNKS];
    int used[MODEL_CHUNKS];
};

static int model_take(struct model *model) {
    int x = -1;
    if (model->n_released > 0) {
        x = model->released[--model->n_released];
    } else if (model->peak < model->capacity) {
        x = model->peak++;
    }
    if (x >= 0) {
        model->used[x] = 1;
    }
    return x;
}

static void model_release(struct model *model, int x) {
    model->used[x] = 0;
    model->released[model->n_released++] = x;
}

static void check_model(const struct cp_pool *pool, const struct model *model) {
    int n_used = 0;
    for (int x = 0; x < model->capacity; x++) {
        assert_int_equal(cp_pool_is_used(pool, x), model->used[x]);
        n_used += model->used[x];
    }
    assert_int_equal(pool->n_free, model->capacity - n_used);
    check_valid(pool);
}

/* POOL-2 .. POOL-5, for many sequences of operations. */
static void random_operations_agree_with_the_model(void **state) {
    struct cp_pool *pool = *state;
    unsigned long long random = 1;
    for (int run = 0; run < 400; run++) {
        struct model model = {.capacity = 1 + run % MODEL_CHUNKS};
        cp_pool_init(pool, model.capacity);
        for (int step = 0; step < 60; step++) {
            int x = random_below(&random, model.capacity);
            if (model.used[x]) {
                model_release(&model, x);
                cp_pool_release(pool, x);
            } else {
                assert_int_equal(cp_pool_take(pool), model_take(&model));
            }
            check_model(pool, &model);
        }
    }
}

/* Four chunks, two of them used: free 3 2, used 1 0. */
static void make_sample(struct cp_pool *pool) {
    cp_pool_init(pool, 4);
    cp_pool_take(pool);
    cp_pool_take(pool);
    check_valid(pool);
}

/* POOL-1 */
static void sizes_out_of_range_are_found(void **state) {
    struct cp_pool *pool = *state;
    const int bad[][2] = {
        {0, 0},  {-1, 0}, {INT_MIN, 0}, {CP_MAX_CHUNKS + 1, 0}, {INT_MAX, 0},
        {4, -1}, {4, 5},  {4, INT_MIN}, {4, INT_MAX},           {CP_MAX_CHUNKS, CP_MAX_CHUNKS + 1}};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        make_sample(pool);
        pool->capacity = bad[i][0];
        pool->n_free = bad[i][1];
        check_broken(pool, "POOL-1");
    }
}

/* POOL-2 */
static void a_broken_permutation_is_found(void **state) {
    struct cp_pool *pool = *state;
    const int bad[] = {-1, 4, 5, CP_MAX_CHUNKS, INT_MIN, INT_MAX};
    for (int i = 0; i < 4; i++) {
        for (size_t k = 0; k < sizeof bad / sizeof *bad; k++) {
            make_sample(pool);
            pool->perm[i] = bad[k];
            check_broken(pool, "POOL-2");
            make_sample(pool);
            pool->pos[i] = bad[k];
            check_broken(pool, "POOL-2");
        }
        for (int other = 0; other < 4; other++) {
            make_sample(pool);
            if (pool->perm[i] != other) { /* listed twice, and another one lost */
                pool->perm[i] = other;
                check_broken(pool, "POOL-2");
            }
            make_sample(pool);
            if (pool->pos[i] != other) {
                pool->pos[i] = other;
                check_broken(pool, "POOL-2");
            }
        }
    }
    make_sample(pool);
    pool->perm[4] = -1; /* beyond the capacity: nothing is there */
    pool->pos[4] = -1;
    check_valid(pool);
}

/* The words of POOL-1 and POOL-2, for a pool of at most two chunks with small numbers in it. */
static const char *first_broken_clause(const struct cp_pool *pool) {
    if (pool->capacity < 1 || pool->n_free < 0 || pool->n_free > pool->capacity) {
        return "POOL-1";
    }
    int straight = pool->perm[0] == 0 && pool->pos[0] == 0;
    if (pool->capacity == 2) {
        straight = straight && pool->perm[1] == 1 && pool->pos[1] == 1;
        int crossed =
            pool->perm[0] == 1 && pool->perm[1] == 0 && pool->pos[0] == 1 && pool->pos[1] == 0;
        return straight || crossed ? NULL : "POOL-2";
    }
    return straight ? NULL : "POOL-2";
}

/* Every content of a tiny pool: sizes -1 .. 3 and 0 .. 2, entries -1 .. 2. */
static void the_check_is_right_for_every_tiny_content(void **state) {
    struct cp_pool *pool = *state;
    int valid = 0;
    for (int content = 0; content < 3 * 5 * 256; content++) {
        pool->capacity = content % 3;
        pool->n_free = content / 3 % 5 - 1;
        int *entry[] = {&pool->perm[0], &pool->perm[1], &pool->pos[0], &pool->pos[1]};
        for (int i = 0, rest = content / 15; i < 4; i++, rest /= 4) {
            *entry[i] = rest % 4 - 1;
        }
        const char *clause = first_broken_clause(pool);
        if (clause == NULL) {
            check_valid(pool);
            valid++;
        } else {
            check_broken(pool, clause);
        }
    }
    /* One chunk: free or used, the other entries anything. Two: 0 .. 2 free, in two orders. */
    assert_int_equal(valid, 2 * 16 + 3 * 2);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_new_pool_is_free),
        cmocka_unit_test(the_example_of_the_chapter),
        cmocka_unit_test(released_chunks_come_back_last_in_first_out),
        cmocka_unit_test(a_full_pool_refuses_and_stays_as_it_is),
        cmocka_unit_test(random_operations_agree_with_the_model),
        cmocka_unit_test(sizes_out_of_range_are_found),
        cmocka_unit_test(a_broken_permutation_is_found),
        cmocka_unit_test(the_check_is_right_for_every_tiny_content),
    };
    return cmocka_run_group_tests_name("pool", tests, new_pool, free_pool);
}
