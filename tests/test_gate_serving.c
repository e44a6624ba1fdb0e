/* SPDX-License-Identifier: Apache-2.0 */
/* The gate's cases with sizes of a server (gate/case/serving.c), and sizes that are asked for. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "chunkproof/number.h"
#include "gate/case/layout.h"
#include "gate/case/values.h"
#include "gate/judge/judge.h"
#include "gate/search/sizes.h"
#include "tests/plain_kernel.h"

#define CASES 400
#define WORK  GATE_SERVING_WORK

static void make(struct gate_problem *p, long long index, const struct gate_shape *shape) {
    struct gate_recipe recipe;
    gate_recipe_make(&recipe, 1, index, 0, WORK, shape);
    assert_int_equal(gate_problem_new(p, &recipe, &plain), 0);
}

/* GATE-10: in as many cases as tier quick has. */
static void sizes_of_a_server_come_up(void **state) {
    struct gate_sizes sizes;
    int groups[17] = {0}, packed = 0;
    (void)state;
    memset(&sizes, 0, sizeof sizes);
    for (int i = 0; i < CASES; i++) {
        struct gate_problem p;
        struct cp_kernel_call call;
        make(&p, i, NULL);
        gate_sizes_tried(&sizes, &p);
        gate_call_sizes(&call, &p);
        groups[call.n_heads / call.n_kv_heads]++;
        packed += call.k_chunk == (long long)call.n_kv_heads * call.chunk_size * call.head_dim &&
                  call.k_chunk * (call.capacity - 1) > INT32_MAX;
        gate_problem_free(&p);
    }
    assert_true(sizes.largest[GATE_SEQUENCES] > 256);
    assert_true(sizes.largest[GATE_SHARERS] > 128);
    assert_true(sizes.largest[GATE_ROWS] >= 300);
    assert_true(sizes.largest[GATE_POOL] > 100000);
    assert_true(sizes.largest[GATE_KV_HEADS] >= 32);
    assert_true(sizes.largest[GATE_CHUNKS] > 1024);
    assert_true(groups[5] > 0 && groups[6] > 0 && groups[12] > 0);
    assert_true(packed > 0);
}

/* GATE-10: a query row beyond the 256th matters, in as many cases as tier quick has; and in more
 * cases each number of rows meets each kind of values. Where all scores are 0 no row matters. */
static void rows_of_a_prefill_matter(void **state) {
    static const int rows[] = {64, 65, 128, 256, 300, 512};
    int seen[6][3] = {{0}}, beyond = 0;
    (void)state;
    for (int i = 0; i < 20 * CASES; i++) {
        struct gate_recipe r;
        gate_recipe_make(&r, 1, i, 0, WORK, NULL);
        int is_count = r.values == GATE_COUNT;
        beyond += i < CASES && r.rows > 256 && !is_count;
        for (int k = 0; k < 6; k++) {
            seen[k][is_count ? 0 : r.values == GATE_SELECT ? 1 : 2] += r.rows == rows[k];
        }
    }
    assert_true(beyond > 0);
    for (int k = 0; k < 6; k++) {
        assert_true(seen[k][0] > 0 && seen[k][1] > 0 && seen[k][2] > 0);
    }
}

/* The kernel's numbers of chunks are below the size of its pool, all different, and as large as
 * that. Every key of the problem lies in the arena where its number leads. */
static void chunks_of_a_pool_have_large_numbers(void **state) {
    int pools = 0;
    (void)state;
    for (int i = 0; i < CASES; i++) {
        struct gate_problem p;
        struct gate_arrays a;
        make(&p, i, NULL);
        if (p.number != NULL) {
            int last = -1;
            gate_values_fill(&p);
            assert_int_equal(gate_arrays_new(&a, &p), 0);
            assert_int_equal(a.run.far[0].n, p.capacity);
            assert_int_equal(a.run.far[1].pool, p.pool);
            assert_int_equal(a.run.call.capacity, p.pool);
            for (int chunk = 0; chunk < p.capacity; chunk++) {
                assert_true(last < a.run.far_number[chunk] && a.run.far_number[chunk] < p.pool);
                last = a.run.far_number[chunk];
            }
            assert_int_equal(last, p.pool - 1);
            for (int at = 0; at < p.b * p.table_width; at++) {
                int seen = a.run.call.table[at], chunk = p.table[at];
                assert_int_equal(seen, chunk < 0 ? -1 : a.run.far_number[chunk]);
            }
            pools++;
            gate_arrays_free(&a);
        }
        gate_problem_free(&p);
    }
    assert_true(pools >= CASES / 100);
}

/* ---- With the work of the executor ---- */

/* Of each tier. */
static const long long few_works[] = {50000, 187500, 375000};

static struct cp_kernel on_device(int pages) {
    struct cp_kernel kernel = plain;
    kernel.memory = CP_DEVICE_MEMORY;
    kernel.layout.pages = pages;
    return kernel;
}

static void make_few(struct gate_problem *p, long long index, long long work,
                     const struct cp_kernel *kernel) {
    struct gate_recipe recipe;
    gate_recipe_make(&recipe, 1, index, 0, work, NULL);
    assert_int_equal(gate_problem_new(p, &recipe, kernel), 0);
}

/* The largest number of a chunk, or page, that a sequence has. */
static int largest_number(const struct gate_problem *p) {
    int pages = p->pages.kind == CP_PAGES_OWN, largest = -1;
    int n = p->b * (pages ? p->pages.width : p->table_width);
    for (int at = 0; at < n; at++) {
        int number = pages ? p->pages.table[at] : p->table[at];
        largest = number > largest ? number : largest;
    }
    return largest;
}

/* GATE-10: one size at a time, so that a case does not cost the executor much more than others. A
 * query row and head costs it about as much as 8 keys. */
static void sizes_of_a_server_come_up_on_the_executor(void **state) {
    const struct cp_kernel kernel = on_device(CP_PAGES_CHUNKS);
    (void)state;
    for (size_t tier = 0; tier < sizeof few_works / sizeof few_works[0]; tier++) {
        struct gate_sizes sizes;
        int groups[17] = {0}, with_heads[17] = {0}, number = 0, contexts = 0;
        memset(&sizes, 0, sizeof sizes);
        for (int i = 0; i < CASES; i++) {
            struct gate_problem p;
            make_few(&p, i, few_works[tier], &kernel);
            int group = p.recipe.n_heads / p.recipe.n_kv_heads, at = largest_number(&p);
            gate_sizes_tried(&sizes, &p);
            groups[group]++;
            with_heads[group] += p.recipe.n_kv_heads > 1;
            number = at > number ? at : number;
            contexts += p.query_begin[1] > 256 && p.n_tokens[0] > p.query_begin[1];
            if (i % 25 == 12 + i / 25 % 8) {
                long long pairs = (long long)p.n_rows * p.recipe.n_heads;
                assert_true(p.recipe.head_dim <= 32 && pairs <= 1200);
                for (int s = 0; s < p.b; s++) {
                    assert_true(pairs * (8 + p.n_tokens[s]) * p.recipe.head_dim <= 3000000);
                }
            }
            gate_problem_free(&p);
        }
        assert_true(sizes.largest[GATE_SEQUENCES] >= 300);
        assert_true(sizes.largest[GATE_SHARERS] > 128);
        assert_true(sizes.largest[GATE_ROWS] >= 300 && contexts > 0);
        assert_true(sizes.largest[GATE_POOL] >= 100000 && number > UINT16_MAX);
        assert_true(sizes.largest[GATE_KV_HEADS] >= 40);
        assert_true(groups[5] > 0 && groups[6] > 0 && groups[16] > 0 && with_heads[12] > 0);
    }
}

/* In device memory a pool takes memory: it is large where that is little. Pages are as chunks. */
static void pools_in_device_memory_are_small_or_dense(void **state) {
    const struct cp_kernel kernel = on_device(CP_PAGES_CHUNKS), pages = on_device(CP_PAGES_OWN),
                           ragged = on_device(CP_PAGES_RAGGED);
    struct gate_problem p;
    struct gate_recipe r;
    (void)state;
    gate_recipe_make(&r, 1, 38, 0, few_works[0], NULL);
    assert_true(r.pool >= 100000);
    assert_true(gate_pool_fits(&r, &kernel) && !gate_pool_fits(&r, &ragged));
    assert_int_equal(gate_problem_new(&p, &r, &kernel), 0);
    assert_int_equal(p.capacity, r.pool);
    assert_int_equal(p.pool, r.pool);
    assert_null(p.number);
    gate_problem_free(&p);
    struct gate_problem guess = gate_problem_guess(&r, &kernel);
    assert_int_equal(guess.pool, r.pool);
    r.page = 1;
    assert_true(gate_pool_fits(&r, &pages));
    assert_int_equal(gate_problem_new(&p, &r, &pages), 0);
    assert_int_equal(p.pages.n, r.pool);
    assert_int_equal(p.pool, r.pool);
    assert_true(p.capacity < 100 && largest_number(&p) > UINT16_MAX);
    gate_problem_free(&p);
    r.page = 64;
    assert_false(gate_pool_fits(&r, &pages));
    r.chunk_size = 16;
    assert_false(gate_pool_fits(&r, &kernel));
    assert_int_equal(gate_problem_new(&p, &r, &kernel), 0);
    assert_true(p.pool == p.capacity && p.pool < 100);
    gate_problem_free(&p);
}

/* ---- Sizes that are asked for ---- */

static void sizes_are_as_asked_for(void **state) {
    const struct gate_shape shape = {.group = 5, .sequences = 70, .rows = 9, .keys = 300};
    const struct gate_shape rows = {.rows = 130, .head_dim = 16};
    (void)state;
    for (int i = 0; i < 60; i++) {
        struct gate_problem p;
        int longest = 0;
        make(&p, i, &shape);
        assert_int_equal(p.b, 70);
        assert_int_equal(p.n_rows, 70 * 9);
        assert_int_equal(p.recipe.n_heads, 5 * p.recipe.n_kv_heads);
        for (int s = 0; s < p.b; s++) {
            longest = p.n_tokens[s] > longest ? p.n_tokens[s] : longest;
        }
        assert_int_equal(longest, 300);
        gate_problem_free(&p);
        make(&p, i, &rows);
        for (int s = 0; s < p.b; s++) {
            assert_int_equal(p.query_begin[s + 1] - p.query_begin[s], 130);
        }
        gate_problem_free(&p);
    }
}

#define HEADS 32

/* 96 rows of zeros, with a 1 in one head: of each row, or of row `of`. */
static void zeros_but_in(int of, int wrong, struct gate_problem *p, struct gate_arrays *a) {
    const struct gate_shape shape = {.n_heads = HEADS,
                                     .n_kv_heads = HEADS,
                                     .head_dim = 1,
                                     .rows = 96,
                                     .sequences = 1,
                                     .keys = 96};
    make(p, 14, &shape); /* zeros */
    assert_int_equal(p->recipe.values, GATE_ZERO);
    gate_values_fill(p);
    assert_int_equal(gate_arrays_new(a, p), 0);
    struct cp_kernel_call *c = &a->run.call;
    for (int row = 0; row < p->n_rows; row++) {
        for (int head = 0; head < HEADS; head++) {
            long long at = row * c->out_row + head * c->out_head;
            int is_wrong = head == wrong && (of < 0 || row == of);
            cp_number_store(c->out, p->out_type, (size_t)at, is_wrong ? 1.0 : 0.0);
        }
    }
    p->lse_type = CP_NO_LSE;
    c->lse = NULL;
}

/* Among many rows and heads the judge looks at every head, at the first row and at the last. Here
 * 96 pairs at equal distances would all be of one head, but for the last. */
static void every_head_is_judged(void **state) {
    struct gate_problem p;
    struct gate_arrays a;
    struct gate_finding f;
    (void)state;
    zeros_but_in(-1, 30, &p, &a);
    assert_int_equal(gate_judge(&p, &a, &plain, 96, &f, NULL), 0);
    assert_int_equal(f.verdict, GATE_WRONG);
    assert_int_equal(f.head, 30);
    assert_int_equal(f.compared, 96);
    gate_arrays_free(&a);
    gate_problem_free(&p);
}

/* GATE-1: the row and head that were wrong are looked at again, whatever the others are. */
static void one_pair_is_judged_in_any_case(void **state) {
    struct gate_problem p;
    struct gate_arrays a;
    struct gate_finding f;
    (void)state;
    zeros_but_in(40, 17, &p, &a);
    assert_int_equal(gate_judge(&p, &a, &plain, 6, &f, NULL), 0);
    assert_int_equal(f.verdict, GATE_RIGHT);
    p.also = 40 * HEADS + 17;
    assert_int_equal(gate_judge(&p, &a, &plain, 6, &f, NULL), 0);
    assert_int_equal(f.verdict, GATE_WRONG);
    assert_true(f.row == 40 && f.head == 17 && f.compared == 7);
    gate_arrays_free(&a);
    gate_problem_free(&p);
}

/* What a kernel refused each time, and nothing else, is said to be refused. */
static void refused_sizes_are_known(void **state) {
    struct gate_sizes one, all;
    struct gate_recipe r = {
        .n_heads = 6, .n_kv_heads = 2, .head_dim = 64, .chunk_size = 16, .n_ops = 5, .rows = 300};
    (void)state;
    memset(&one, 0, sizeof one);
    memset(&all, 0, sizeof all);
    gate_sizes_asked(&one, &r, 0);
    r.head_dim = 128;
    gate_sizes_asked(&one, &r, 0);
    r.rows = 0;
    gate_sizes_asked(&all, &r, 1);
    gate_sizes_add(&all, &one);
    const struct gate_asked_of *d = &all.asked[GATE_ASKED_D], *rows = &all.asked[GATE_ASKED_ROWS];
    assert_int_equal(d->n, 2);
    assert_int_equal(d->value[0], 64);
    assert_true(gate_size_is_refused(d, 0) && !gate_size_is_refused(d, 1));
    assert_int_equal(rows->value[1], 256);
    assert_true(!gate_size_is_refused(rows, 0) && gate_size_is_refused(rows, 1));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sizes_of_a_server_come_up),
        cmocka_unit_test(rows_of_a_prefill_matter),
        cmocka_unit_test(chunks_of_a_pool_have_large_numbers),
        cmocka_unit_test(sizes_of_a_server_come_up_on_the_executor),
        cmocka_unit_test(pools_in_device_memory_are_small_or_dense),
        cmocka_unit_test(sizes_are_as_asked_for),
        cmocka_unit_test(every_head_is_judged),
        cmocka_unit_test(one_pair_is_judged_in_any_case),
        cmocka_unit_test(refused_sizes_are_known),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
