/* SPDX-License-Identifier: Apache-2.0 */
/* The schedule of the kernels (kernels/schedule.h): the tasks have every chunk of every path once,
 * and every query row finds their partial results. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "path_runs.h"
#include "schedule_check.h"

/* A cut that was made. */
static void make(struct cut *cut, const struct attend_case *c, int chunks_per_task) {
    const char *wrong = cut_make(cut, c, chunks_per_task);
    if (wrong != NULL) {
        fail_msg("%s", wrong);
    }
}

static struct shape shape_of(int b, int depth, int chunk_size, int query_mode) {
    return (struct shape){.b = b,
                          .max_depth = depth,
                          .chunk_size = chunk_size,
                          .n_heads = 1,
                          .n_kv_heads = 1,
                          .head_dim = 1,
                          .query_mode = query_mode};
}

static void tasks_are_the_plan(void **state) {
    (void)state;
    int shared = 0, longest = 0;
    for (unsigned long long seed = 1; seed <= 300; seed++) {
        struct shape shape = shape_of((int)(seed % 9), 1 + (int)(seed % 6), 1 + (int)(seed % 4),
                                      (int)(seed % CASE_N_QUERY_MODE));
        struct attend_case c;
        case_make(&c, &shape, seed);
        for (int most = 1; most <= 4; most++) {
            struct cut cut;
            make(&cut, &c, most);
            const char *wrong = cut_check(&cut, most);
            if (wrong != NULL) {
                fail_msg("seed %llu, %d chunks for each task: %s", seed, most, wrong);
            }
            for (int i = 0; i < cut.s.n_shared_tasks; i++) {
                longest = cut.task[i].n_chunks > longest ? cut.task[i].n_chunks : longest;
            }
            shared += cut.s.n_shared_tasks;
            cut_free(&cut);
        }
        case_free(&c);
    }
    assert_true(shared > 100 && longest > 1);
}

/* A longer last chunk changes nothing but n_keys and positions (PLAN-6). Returns how many are
 * longer. */
static int grow_last_chunks(const struct attend_case *c) {
    int grown = 0;
    for (int s = 0; s < c->plan->n_sequences; s++) {
        if (c->plan->sequence[s].n_tokens % c->plan->chunk_size != 0) {
            c->plan->sequence[s].n_tokens++;
            grown++;
        }
    }
    return grown;
}

static void lengths_alone(void **state) {
    (void)state;
    int grown = 0;
    for (unsigned long long seed = 1; seed <= 20; seed++) {
        struct shape shape = shape_of(5, 4, 3, seed % 2 ? CASE_DECODE : CASE_OWN);
        struct attend_case c;
        struct cut before, after;
        case_make(&c, &shape, seed);
        make(&before, &c, 2);
        grown += grow_last_chunks(&c);
        make(&after, &c, 2);
        cp_schedule_write_lengths(&before.s, c.plan, c.position, before.numbers);
        assert_int_equal(before.s.n_tasks, after.s.n_tasks);
        assert_int_equal(before.s.n_parts, after.s.n_parts);
        assert_int_equal(before.s.n_numbers, after.s.n_numbers);
        assert_memory_equal(before.numbers, after.numbers, before.s.n_numbers * sizeof(int));
        cut_free(&before);
        cut_free(&after);
        case_free(&c);
    }
    assert_in_range(grown, 10, 100);
}

/* RUNS-4: no tree has it, but a task ends behind a shared chunk that is not full. */
static void a_task_ends_behind_a_chunk_that_is_not_full(void **state) {
    (void)state;
    struct cp_plan *plan = NULL;
    assert_int_equal(cp_plan_new(&plan), CP_OK);
    plan->capacity = 3;
    plan->chunk_size = 4;
    list_sequences(plan, 2);
    plan->n_shared = 3;
    for (int full = 0; full < 2; full++) {
        int n = full ? 4 : 2; /* of chunk 1 */
        struct cp_schedule s;
        const struct cp_shared_chunk shared[] = {
            {0, 0, 2, 4, 0}, {1, 0, 2, n, 4}, {2, 0, 2, 4, 4 + n}};
        memcpy(plan->shared, shared, sizeof shared);
        assert_int_equal(cp_schedule_measure(&s, plan, NULL, 9), CP_OK);
        assert_int_equal(s.n_tasks, full ? 1 : 2);
        assert_int_equal(s.n_shared_tasks, s.n_tasks);
    }
    cp_plan_free(plan);
}

/* PREFILL-1: a row that has moved is noticed, whichever it is; and so is one that the caller no
 * longer places. */
static void positions_alone(void **state) {
    (void)state;
    int moved = 0, placed = 0;
    for (unsigned long long seed = 1; seed <= 20; seed++) {
        struct shape shape = shape_of(4, 4, 3, CASE_OWN);
        struct attend_case c;
        struct cut cut;
        case_make(&c, &shape, seed);
        make(&cut, &c, 2);
        for (int row = 0; row < c.n_rows; row++) {
            assert_true(cp_schedule_has_positions(&cut.s, c.plan, c.position, cut.numbers));
            c.position[row] = c.position[row] == 1 ? 2 : 1;
            assert_false(cp_schedule_has_positions(&cut.s, c.plan, c.position, cut.numbers));
            cp_schedule_write_lengths(&cut.s, c.plan, c.position, cut.numbers);
            assert_null(cut_check(&cut, 2));
            moved++;
        }
        placed += !cp_schedule_has_positions(&cut.s, c.plan, NULL, cut.numbers);
        cp_schedule_write_lengths(&cut.s, c.plan, NULL, cut.numbers);
        assert_true(cp_schedule_has_positions(&cut.s, c.plan, NULL, cut.numbers));
        cut_free(&cut);
        case_free(&c);
    }
    assert_true(moved > 50 && placed > 15);
}

static void refusals(void **state) {
    (void)state;
    struct shape shape = shape_of(3, 4, 2, CASE_DECODE);
    struct attend_case c;
    struct cp_schedule s;
    case_make(&c, &shape, 5);
    assert_int_equal(cp_schedule_measure(NULL, c.plan, NULL, 1), CP_ERROR_ARGUMENT);
    assert_int_equal(cp_schedule_measure(&s, NULL, NULL, 1), CP_ERROR_ARGUMENT);
    assert_int_equal(cp_schedule_measure(&s, c.plan, NULL, 0), CP_ERROR_ARGUMENT);
    assert_int_equal(cp_schedule_measure(&s, c.plan, (const int[]){1, 2, 3, 4}, 1), CP_ERROR_SHAPE);
    assert_int_equal(cp_schedule_measure(&s, c.plan, (const int[]){0, 2, 1, 4}, 1), CP_ERROR_SHAPE);
    int more = INT32_MAX / 2;
    assert_int_equal(
        cp_schedule_measure(&s, c.plan, (const int[]){0, more, 2 * more, 2 * more + 1}, 1),
        CP_ERROR_SHAPE);
    case_free(&c);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tasks_are_the_plan),
        cmocka_unit_test(lengths_alone),
        cmocka_unit_test(a_task_ends_behind_a_chunk_that_is_not_full),
        cmocka_unit_test(positions_alone),
        cmocka_unit_test(refusals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
