/* SPDX-License-Identifier: Apache-2.0 */
/* The schedule of the kernels (kernels/schedule.h): the tasks have every chunk of every path once, and every query row
 * finds their partial results. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "attend_case.h"
#include "kernels/schedule.h"

#define CANARY 0x5A5A5A5A

struct cut {
    const struct attend_case *c;
    struct cp_schedule s;
    int *numbers; /* and one more, a canary */
    const struct cp_task *task;
};

static void cut_make(struct cut *cut, const struct attend_case *c, int chunks_per_task) {
    cut->c = c;
    assert_int_equal(cp_schedule_measure(&cut->s, c->plan, c->query_begin, chunks_per_task), CP_OK);
    cut->numbers = malloc((cut->s.n_numbers + 1) * sizeof(int));
    assert_non_null(cut->numbers);
    memset(cut->numbers, 0xFF, cut->s.n_numbers * sizeof(int));
    cut->numbers[cut->s.n_numbers] = CANARY;
    cp_schedule_write(&cut->s, c->plan, c->query_begin, cut->numbers);
    assert_int_equal(cut->numbers[cut->s.n_numbers], CANARY);
    cut->task = (const struct cp_task *)(cut->numbers + cut->s.task);
}

static int first_row(const struct attend_case *c, int s) {
    return c->query_begin == NULL ? s : c->query_begin[s];
}

/* TPP-1, TPP-2: each chunk of each path is in one task, in its place. */
static void every_chunk_once(const struct cut *cut) {
    const struct cp_plan *plan = cut->c->plan;
    const int *chunk = cut->numbers + cut->s.chunk;
    for (int s = 0; s < plan->n_sequences; s++) {
        for (int k = 0; k < plan->row[s].n_chunks; k++) {
            int times = 0;
            for (int i = 0; i < cut->s.n_tasks; i++) {
                const struct cp_task *task = &cut->task[i];
                int depth = task->position / plan->chunk_size;
                if (task->begin <= s && s < task->end && depth <= k && k < depth + task->n_chunks) {
                    times++;
                    assert_int_equal(chunk[task->first_chunk + k - depth], plan->row[s].chunk[k]);
                }
            }
            assert_int_equal(times, 1);
        }
    }
}

/* And no task has anything else. */
static void nothing_else(const struct cut *cut, int chunks_per_task) {
    const struct cp_plan *plan = cut->c->plan;
    int chunks = 0, most_rows = 0;
    for (int i = 0; i < cut->s.n_tasks; i++) {
        const struct cp_task *task = &cut->task[i];
        int rows = first_row(cut->c, task->end) - first_row(cut->c, task->begin);
        assert_int_equal(task->first_chunk, chunks);
        assert_in_range(task->n_chunks, 1, chunks_per_task);
        assert_int_equal(task->position % plan->chunk_size, 0);
        assert_true(0 <= task->begin && task->begin < task->end && task->end <= plan->n_sequences);
        assert_int_equal(task->end - task->begin >= 2, i < cut->s.n_shared_tasks);
        for (int s = task->begin; s < task->end; s++) {
            int depth = task->position / plan->chunk_size;
            assert_true(depth + task->n_chunks <= plan->row[s].n_chunks);
            assert_int_equal(depth < plan->row[s].n_shared, i < cut->s.n_shared_tasks);
        }
        chunks += task->n_chunks;
        most_rows = rows > most_rows ? rows : most_rows;
    }
    assert_int_equal(cut->s.most_rows, most_rows);
    assert_int_equal(cut->s.source_begin - cut->s.chunk, chunks);
}

/* Each partial result is that of one task and query row, and the row's sequence has it in its list, in the order of
 * the tasks. */
static void every_part_once(const struct cut *cut) {
    const int *begin = cut->numbers + cut->s.source_begin, *source = cut->numbers + cut->s.source;
    int *owner = calloc((size_t)cut->s.n_parts + 1, sizeof(int));
    assert_non_null(owner);
    assert_int_equal(begin[0], 0);
    for (int s = 0; s < cut->s.n_sequences; s++) {
        int x = begin[s];
        for (int i = 0; i < cut->s.n_tasks; i++) {
            const struct cp_task *task = &cut->task[i];
            if (task->begin <= s && s < task->end) {
                assert_true(x < begin[s + 1]);
                assert_int_equal(source[x], task->first_part + first_row(cut->c, s) -
                                                first_row(cut->c, task->begin));
                for (int row = first_row(cut->c, s); row < first_row(cut->c, s + 1); row++) {
                    owner[source[x] + row - first_row(cut->c, s)]++;
                }
                x++;
            }
        }
        assert_int_equal(x, begin[s + 1]);
    }
    assert_int_equal(begin[cut->s.n_sequences], cut->s.query_begin - cut->s.source);
    for (int part = 0; part < cut->s.n_parts; part++) {
        assert_int_equal(owner[part], 1);
    }
    free(owner);
}

static void rows_and_lengths(const struct cut *cut) {
    assert_int_equal(cut->s.n_rows, cut->c->n_rows);
    for (int s = 0; s < cut->s.n_sequences; s++) {
        assert_int_equal(cut->numbers[cut->s.query_begin + (size_t)s], first_row(cut->c, s));
        assert_int_equal(cut->numbers[cut->s.n_tokens + (size_t)s], cut->c->plan->row[s].n_tokens);
        for (int row = first_row(cut->c, s); row < first_row(cut->c, s + 1); row++) {
            assert_int_equal(cut->numbers[cut->s.sequence + (size_t)row], s);
        }
    }
    assert_int_equal(cut->numbers[cut->s.query_begin + (size_t)cut->s.n_sequences], cut->c->n_rows);
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
        struct shape shape =
            shape_of((int)(seed % 9), 1 + (int)(seed % 6), 1 + (int)(seed % 4), (int)(seed % 4));
        struct attend_case c;
        case_make(&c, &shape, seed);
        for (int most = 1; most <= 4; most++) {
            struct cut cut;
            cut_make(&cut, &c, most);
            every_chunk_once(&cut);
            nothing_else(&cut, most);
            every_part_once(&cut);
            rows_and_lengths(&cut);
            for (int i = 0; i < cut.s.n_shared_tasks; i++) {
                longest = cut.task[i].n_chunks > longest ? cut.task[i].n_chunks : longest;
            }
            shared += cut.s.n_shared_tasks;
            free(cut.numbers);
        }
        case_free(&c);
    }
    assert_true(shared > 100 && longest > 1);
}

/* A longer last chunk changes nothing but n_tokens (PLAN-6). Returns how many are longer. */
static int grow_last_chunks(const struct attend_case *c) {
    int grown = 0;
    for (int s = 0; s < c->plan->n_sequences; s++) {
        if (c->plan->row[s].n_tokens % c->plan->chunk_size != 0) {
            c->plan->row[s].n_tokens++;
            grown++;
        }
    }
    return grown;
}

static void lengths_alone(void **state) {
    (void)state;
    int grown = 0;
    for (unsigned long long seed = 1; seed <= 20; seed++) {
        struct shape shape = shape_of(5, 4, 3, CASE_DECODE);
        struct attend_case c;
        struct cut before, after;
        case_make(&c, &shape, seed);
        cut_make(&before, &c, 2);
        grown += grow_last_chunks(&c);
        cut_make(&after, &c, 2);
        cp_schedule_write_lengths(&before.s, c.plan, before.numbers);
        assert_int_equal(before.s.n_tasks, after.s.n_tasks);
        assert_int_equal(before.s.n_parts, after.s.n_parts);
        assert_int_equal(before.s.n_numbers, after.s.n_numbers);
        assert_memory_equal(before.numbers, after.numbers, before.s.n_numbers * sizeof(int));
        free(before.numbers);
        free(after.numbers);
        case_free(&c);
    }
    assert_in_range(grown, 10, 100);
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
        cmocka_unit_test(refusals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
