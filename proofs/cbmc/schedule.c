/* SPDX-License-Identifier: Apache-2.0 */
/* The schedule of the kernels for any valid plan of runs, any query ranges and any length of tasks:
 * it writes as many numbers as it says, its tasks have each run of each sequence once, and limits
 * that the plan keeps have room for it. */
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

/* ---- Whom a task serves ---- */

/* The sequence at place `at` of a task, one of begin .. end - 1 (RUNS-2). */
static int sequence_at(const struct case_of *c, struct cp_task task, int at) {
    int s = at;
    for (int x = 0; x < CP_MAX_SERVED; x++) {
        s = task.end - task.begin >= 2 && x == at ? c->plan->served[x] : s;
    }
    return s;
}

/* The query rows of its sequences before place `at`. */
static int rows_to(const struct case_of *c, struct cp_task task, int at) {
    int n = 0;
    for (int x = 0; x < CP_MAX_SERVED; x++) {
        int s = sequence_at(c, task, x);
        n += task.begin <= x && x < at ? rows_before(c, s + 1) - rows_before(c, s) : 0;
    }
    return n;
}

/* The place of sequence s; -1: the task does not serve it. */
static int place_of(const struct case_of *c, struct cp_task task, int s) {
    int at = -1;
    for (int x = 0; x < CP_MAX_SERVED; x++) {
        at = task.begin <= x && x < task.end && sequence_at(c, task, x) == s ? x : at;
    }
    return at;
}

/* ---- The clauses ---- */

/* How many chunks of task i are this run: its chunk, position and number of tokens. */
static int times_in(const struct case_of *c, int i, struct cp_run run) {
    struct cp_task task = c->task[i];
    int times = 0, left = c->numbers[c->s.n_keys + (size_t)i];
    for (int k = 0; k < task.n_chunks; k++, left -= c->plan->chunk_size) {
        int n_tokens = k + 1 < task.n_chunks ? c->plan->chunk_size : left;
        times += c->numbers[c->s.chunk + (size_t)(task.first_chunk + k)] == run.chunk &&
                 task.position + k * c->plan->chunk_size == run.position &&
                 n_tokens == run.n_tokens;
    }
    return times;
}

/* TPP-1, TPP-2, RUNS-5: one task that serves sequence s has its run k. */
static void check_run(const struct case_of *c, int s, int k) {
    int times = 0;
    for (int i = 0; i < c->s.n_tasks; i++) {
        times += place_of(c, c->task[i], s) >= 0 ? times_in(c, i, c->plan->sequence[s].run[k]) : 0;
    }
    CHECK("TPP-1, TPP-2: each run of a sequence is in one task", times == 1);
}

/* And the tasks have no other: as many chunks for their sequences as these have runs. */
static void check_total(const struct case_of *c) {
    int n = 0;
    for (int s = 0; s < CP_MAX_SEQUENCES; s++) {
        n += s < c->plan->n_sequences ? c->plan->sequence[s].n_chunks : 0;
    }
    for (int i = 0; i < c->s.n_tasks; i++) {
        n -= c->task[i].n_chunks * (c->task[i].end - c->task[i].begin);
    }
    CHECK("TPP-1, TPP-2: the tasks have what the sequences have", n == 0);
}

/* TPP-4: the x-th source of a sequence is its first row of partial results in the x-th task that
 * serves it. */
static void check_sources(const struct case_of *c, int s) {
    size_t begin = c->s.source_begin + (size_t)s;
    int x = c->numbers[begin], right = 1;
    for (int i = 0; i < c->s.n_tasks; i++) {
        int place = place_of(c, c->task[i], s);
        if (place >= 0) {
            right = right && x < c->numbers[begin + 1] &&
                    c->numbers[c->s.source + (size_t)x] ==
                        c->task[i].first_part + rows_to(c, c->task[i], place);
            x++;
        }
    }
    CHECK("TPP-4: the sources of a sequence are its tasks", right && x == c->numbers[begin + 1]);
}

/* RUNS-5: row x of a task is that of its sequences, one after the other. */
static int row_is_right(const struct case_of *c, struct cp_task task, int x) {
    int row = c->numbers[c->s.row + (size_t)(task.first_part + x)];
    for (int at = 0; at < CP_MAX_SERVED; at++) {
        int s = sequence_at(c, task, at), before = rows_to(c, task, at);
        if (task.begin <= at && at < task.end && before <= x &&
            x < before + rows_before(c, s + 1) - rows_before(c, s)) {
            return row == rows_before(c, s) + x - before;
        }
    }
    return 0;
}

/* RUNS-4: a task has some keys of each of its chunks. */
static void check_keys(const struct case_of *c, int i) {
    struct cp_task task = c->task[i];
    int n_keys = c->numbers[c->s.n_keys + (size_t)i], chunk_size = c->plan->chunk_size;
    CHECK("RUNS-4: all chunks of a task but the last are full",
          (task.n_chunks - 1) * chunk_size < n_keys && n_keys <= task.n_chunks * chunk_size);
}

/* TPP-4: tasks have rows of partial results of their own, one behind the other. */
static void check_parts(const struct case_of *c, int any_row) {
    int parts = 0;
    for (int i = 0; i < c->s.n_tasks; i++) {
        struct cp_task task = c->task[i];
        CHECK("TPP-4: no row of partial results is in two tasks", task.first_part == parts);
        CHECK("a task is of the plan", 0 <= task.begin && task.begin < task.end &&
                                           task.end <= CP_MAX_SERVED && 1 <= task.n_chunks &&
                                           task.n_chunks <= c->s.chunks_per_task);
        check_keys(c, i);
        CHECK("RUNS-5: a task has the rows of its sequences",
              task.n_rows == rows_to(c, task, task.end));
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

/* Does a run at this position go on in the piece of a run before it? */
static int goes_on(const struct cp_plan *plan, int n_tokens, int first, int position) {
    return n_tokens == plan->chunk_size && first + n_tokens == position;
}

static int serves(const struct cp_plan *plan, int i, int s) {
    int found = 0;
    for (int x = 0; x < CP_MAX_SERVED; x++) {
        found |= plan->shared[i].begin <= x && x < plan->shared[i].end && plan->served[x] == s;
    }
    return found;
}

/* Does a piece of sequence s begin at descriptor i, or at its own run k (chunkproof/cuda.h)? */
static int begins_with(const struct cp_plan *plan, int i, int s) {
    int goes = 0;
    for (int j = 0; j + 1 < CP_MAX_CHUNKS; j++) {
        const struct cp_shared_chunk *before = &plan->shared[j], *now = &plan->shared[j + 1];
        goes |= j + 1 == i && before->begin == now->begin && before->end == now->end &&
                goes_on(plan, before->n_tokens, before->position, now->position);
    }
    return i < plan->n_shared && serves(plan, i, s) && !goes;
}

static int begins_own(const struct cp_plan *plan, int s, int k) {
    const struct cp_plan_sequence *list = &plan->sequence[s];
    return list->n_shared <= k && k < list->n_chunks &&
           (k == list->n_shared || !goes_on(plan, list->run[k - 1].n_tokens,
                                            list->run[k - 1].position, list->run[k].position));
}

static int pieces_of(const struct cp_plan *plan, int s) {
    int n = 0;
    for (int i = 0; i < CP_MAX_CHUNKS; i++) {
        n += begins_with(plan, i, s);
    }
    for (int k = 0; k < CP_MAX_DEPTH; k++) {
        n += begins_own(plan, s, k);
    }
    return n;
}

/* Descriptors and own runs: in the plan of a tree, the chunks in use. */
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
        int is_there = s < c->plan->n_sequences;
        kept = kept && (!is_there || (c->plan->sequence[s].n_chunks <= l.depth &&
                                      pieces_of(c->plan, s) <= l.levels));
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
#ifdef TREES /* which have fewer plans, and so more sizes can be tried */
    __CPROVER_assume(cp_plan_check(&plan) == NULL);
#else
    __CPROVER_assume(cp_plan_check_runs(&plan) == NULL);
#endif
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
                    check_run(&c, s, k);
                }
            }
            check_sources(&c, s);
            if (rows_before(&c, s) <= any_row && any_row < rows_before(&c, s + 1)) {
                check_position(&c, s, any_row);
            }
        }
    }
    check_total(&c);
    check_parts(&c, any_row);
    check_limits(&c);
    REACH("a row that its caller places", c.position != NULL && c.s.n_rows > 0);
    REACH("a row before the first key",
          c.position == NULL && c.s.n_rows > plan.sequence[0].n_tokens);
    REACH("a shared task of two chunks", c.s.n_shared_tasks == 1 && task[0].n_chunks == 2);
    REACH("two shared tasks", c.s.n_shared_tasks == 2);
    REACH("a sequence of two tasks of its own", c.s.n_tasks == 2 && plan.n_sequences == 1);
#ifndef TREES
    REACH("a list that is no range",
          c.s.n_shared_tasks == 1 && plan.served[plan.shared[0].begin] == 1);
    REACH("a task behind a partial chunk",
          c.s.n_tasks == 2 && plan.n_sequences == 1 && chunks_per_task == 2);
#endif
    REACH("no task", c.s.n_tasks == 0 && plan.n_sequences == 2);
    REACH("a sequence without query rows", c.s.n_tasks == 2 && c.s.n_rows == 1);
    return 0;
}
