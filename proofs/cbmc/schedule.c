/* SPDX-License-Identifier: Apache-2.0 */
/* The schedule of the kernels for any valid plan, any query ranges and any length of tasks: it
 * writes as many numbers as it says, its tasks have each chunk of each path once, and limits that
 * the plan keeps have room for it. */
#include "kernels/schedule.h"

#include <stddef.h>

#include "any_plan.h"
#include "kernels/layout.h"
#include "model.h"

#define MOST_ROWS  (3 * CP_MAX_SEQUENCES) /* any_queries() */
#define MOST_TASKS (CP_MAX_SEQUENCES * CP_MAX_DEPTH)
#define MOST_PARTS (MOST_ROWS * CP_MAX_DEPTH)
/* Per task its own numbers and its keys, the chunk and the source of each path; per sequence two
 * beginnings; per row its sequence and its position; per row of partial results its query row. */
#define MOST_NUMBERS (10 * MOST_TASKS + 2 * CP_MAX_SEQUENCES + 2 + 2 * MOST_ROWS + MOST_PARTS)

/* Each is an object of its own: an index that is too large for one array then reaches no other. */
struct case_of {
    struct cp_plan *plan;
    int *query_begin;
    const int *position; /* or NULL */
    struct cp_schedule s;
    int *numbers;
    struct cp_task *task; /* as they stand in the numbers */
};

static int rows_before(const struct case_of *c, int s) {
    return c->query_begin[s];
}

static void read_tasks(struct case_of *c) {
    for (int i = 0; i < c->s.n_tasks; i++) {
        size_t at = c->s.task + 7 * (size_t)i;
        c->task[i] = (struct cp_task){c->numbers[at],     c->numbers[at + 1], c->numbers[at + 2],
                                      c->numbers[at + 3], c->numbers[at + 4], c->numbers[at + 5],
                                      c->numbers[at + 6]};
    }
}

/* Does task i have chunk k of sequence s? */
static int has(const struct case_of *c, int i, int s, int k) {
    struct cp_task task = c->task[i];
    int depth = task.position / c->plan->chunk_size;
    return task.begin <= s && s < task.end && depth <= k && k < depth + task.n_chunks;
}

/* TPP-1, TPP-2: one task has chunk k of sequence s, in its place. */
static void check_chunk(const struct case_of *c, int s, int k) {
    int times = 0, right = 1;
    for (int i = 0; i < c->s.n_tasks; i++) {
        struct cp_task task = c->task[i];
        if (has(c, i, s, k)) {
            times++;
            int place = task.first_chunk + k - task.position / c->plan->chunk_size;
            right = right &&
                    c->numbers[c->s.chunk + (size_t)place] == c->plan->sequence[s].run[k].chunk;
        }
    }
    CHECK("TPP-1, TPP-2: each chunk of a path is in one task", times == 1);
    CHECK("TPP-1, TPP-2: as the chunk that it is", right);
}

/* TPP-4: the x-th source of a sequence is its first row of partial results in the x-th task that
 * has it. */
static void check_sources(const struct case_of *c, int s) {
    size_t begin = c->s.source_begin + (size_t)s;
    int x = c->numbers[begin], right = 1;
    for (int i = 0; i < c->s.n_tasks; i++) {
        struct cp_task task = c->task[i];
        if (task.begin <= s && s < task.end) {
            right = right && x < c->numbers[begin + 1] &&
                    c->numbers[c->s.source + (size_t)x] ==
                        task.first_part + rows_before(c, s) - rows_before(c, task.begin);
            x++;
        }
    }
    CHECK("TPP-4: the sources of a sequence are its tasks", right && x == c->numbers[begin + 1]);
}

/* RUNS-5: row x of a task is row x of its sequences, which are a range in the plan of a tree. */
static int row_is_right(const struct case_of *c, struct cp_task task, int x) {
    return c->numbers[c->s.row + (size_t)(task.first_part + x)] == rows_before(c, task.begin) + x;
}

/* RUNS-4: task i has the keys of its chunks, of which all but the last are full. */
static void check_keys(const struct case_of *c, int i) {
    struct cp_task task = c->task[i];
    int n_keys = c->numbers[c->s.n_keys + (size_t)i], chunk_size = c->plan->chunk_size;
    int n_tokens = c->plan->sequence[task.begin].n_tokens;
    CHECK("RUNS-4: all chunks of a task but the last are full",
          (task.n_chunks - 1) * chunk_size < n_keys && n_keys <= task.n_chunks * chunk_size);
    CHECK("RUNS-4: a task ends where its last chunk or its sequence does",
          n_keys == task.n_chunks * chunk_size || task.position + n_keys == n_tokens);
    CHECK("RUNS-4: a task has no key that its sequence has not",
          task.position + n_keys <= n_tokens);
}

/* TPP-4: tasks have rows of partial results of their own, one behind the other. */
static void check_parts(const struct case_of *c, int any_row) {
    int parts = 0;
    for (int i = 0; i < c->s.n_tasks; i++) {
        struct cp_task task = c->task[i];
        CHECK("TPP-4: no row of partial results is in two tasks", task.first_part == parts);
        CHECK("a task is of the plan", 0 <= task.begin && task.begin < task.end &&
                                           task.end <= c->plan->n_sequences && 1 <= task.n_chunks &&
                                           task.n_chunks <= c->s.chunks_per_task);
        check_keys(c, i);
        CHECK("RUNS-5: a task has the rows of its sequences",
              task.n_rows == rows_before(c, task.end) - rows_before(c, task.begin));
        CHECK("RUNS-5: a row of partial results has its query row",
              any_row < 0 || any_row >= task.n_rows || row_is_right(c, task, any_row));
        parts += task.n_rows;
    }
    CHECK("TPP-4: and there are as many as said", parts == c->s.n_parts);
}

/* PREFILL-1: row `row` stands where the caller says, or so many places before the end of its
 * sequence; and a row that stood elsewhere is noticed. */
static void check_position(const struct case_of *c, int s, int row) {
    size_t at = c->s.position + (size_t)row;
    int at_the_end = c->plan->sequence[s].n_tokens - (rows_before(c, s + 1) - row);
    CHECK("PREFILL-1: a row has its position",
          c->numbers[at] == (c->position != NULL ? c->position[row] : at_the_end));
    CHECK("PREFILL-1: a row has its sequence", c->numbers[c->s.sequence + (size_t)row] == s);
}

/* Where the range begins of the sequences that share chunk k of sequence s, and where it ends. */
struct range {
    int begin, end;
};

static struct range range_of(const struct cp_plan *plan, int s, int k) {
    struct range range = {s, s + 1};
    for (int i = 0; i < CP_MAX_CHUNKS; i++) {
        const struct cp_shared_chunk *shared = &plan->shared[i];
        if (i < plan->n_shared && shared->begin <= s && s < shared->end &&
            shared->position == k * plan->chunk_size) {
            range = (struct range){shared->begin, shared->end};
        }
    }
    return range;
}

/* Is chunk k of sequence s the first one of a range? */
static int begins_level(const struct cp_plan *plan, int s, int k) {
    struct range before = range_of(plan, s, k - 1), now = range_of(plan, s, k);
    return k == 0 || before.begin != now.begin || before.end != now.end;
}

/* Shared ones once, and each sequence's own: in the plan of a tree, the chunks in use. */
static int chunks_of(const struct cp_plan *plan) {
    int n = plan->n_shared;
    for (int s = 0; s < CP_MAX_SEQUENCES; s++) {
        n += s < plan->n_sequences ? plan->sequence[s].n_chunks - plan->sequence[s].n_shared : 0;
    }
    return n;
}

/* TPP-4: the launcher's memory has room for the schedule of a plan that keeps its limits, whichever
 * they are. */
static void check_limits(const struct case_of *c) {
    struct cp_cuda_limits l = {any(3), any(4), any(3), any(2), any(2), 1, 1, c->s.chunks_per_task};
    __CPROVER_assume(cp_limit_out_of_range(&l) == NULL);
    int kept = c->plan->n_sequences <= l.n_sequences && c->s.n_rows <= l.n_rows &&
               chunks_of(c->plan) <= l.n_chunks;
    for (int s = 0; s < CP_MAX_SEQUENCES; s++) {
        int levels = 0, depth = s < c->plan->n_sequences ? c->plan->sequence[s].n_chunks : 0;
        for (int k = 0; k < CP_MAX_DEPTH; k++) {
            levels += k < depth && begins_level(c->plan, s, k);
        }
        kept = kept && depth <= l.depth && levels <= l.levels;
    }
    struct cp_layout layout;
    CHECK("TPP-4: such limits have a layout", cp_layout_measure(&layout, &l) == CP_OK);
    CHECK("TPP-4: limits that are kept have room", !kept || cp_layout_has_room(&layout, &l, &c->s));
    REACH("limits that are just kept",
          kept && l.n_rows == c->s.n_rows && c->s.n_parts == layout.most_parts);
    REACH("limits that are not", !cp_layout_has_room(&layout, &l, &c->s));
}

static void any_queries(struct case_of *c) {
    c->query_begin[0] = 0;
    for (int s = 0; s < CP_MAX_SEQUENCES; s++) {
        int rows = any(2);
        __CPROVER_assume(0 <= rows);
        c->query_begin[s + 1] = c->query_begin[s] + rows;
    }
}

int main(void) {
    struct cp_plan plan;
    int query_begin[CP_MAX_SEQUENCES + 1], position[MOST_ROWS], numbers[MOST_NUMBERS];
    struct cp_task task[MOST_TASKS];
    struct case_of c = {
        .plan = &plan, .query_begin = query_begin, .numbers = numbers, .task = task};
    c.position = nondet_int() ? position : NULL;
    int chunks_per_task = any(3), any_row = any(3);
    any_plan(&plan);
    __CPROVER_assume(cp_plan_check(&plan) == NULL);
    any_queries(&c);
    int status = cp_schedule_measure(&c.s, &plan, query_begin, chunks_per_task);
    CHECK("status", status == (chunks_per_task < 1 ? CP_ERROR_ARGUMENT : CP_OK));
    if (status != CP_OK) {
        return 0;
    }
    CHECK("so many numbers", c.s.n_numbers <= MOST_NUMBERS && c.s.n_tasks <= MOST_TASKS);
    cp_schedule_write(&c.s, &plan, query_begin, c.position, numbers);
    read_tasks(&c);
    for (int s = 0; s < CP_MAX_SEQUENCES; s++) {
        if (s < plan.n_sequences) {
            for (int k = 0; k < CP_MAX_DEPTH; k++) {
                if (k < plan.sequence[s].n_chunks) {
                    check_chunk(&c, s, k);
                }
            }
            check_sources(&c, s);
            if (rows_before(&c, s) <= any_row && any_row < rows_before(&c, s + 1)) {
                check_position(&c, s, any_row);
            }
        }
    }
    check_parts(&c, any_row);
    check_limits(&c);
    REACH("a row that its caller places", c.position != NULL && c.s.n_rows > 0);
    REACH("a row before the first key",
          c.position == NULL && c.s.n_rows > plan.sequence[0].n_tokens);
    REACH("a shared task of two chunks", c.s.n_shared_tasks == 1 && task[0].n_chunks == 2);
    REACH("two shared tasks", c.s.n_shared_tasks == 2);
    REACH("a sequence of two tasks of its own", c.s.n_tasks == 2 && plan.n_sequences == 1);
    REACH("no task", c.s.n_tasks == 0 && plan.n_sequences == 2);
    REACH("a sequence without query rows", c.s.n_tasks == 2 && c.s.n_rows == 1);
    return 0;
}
