/* SPDX-License-Identifier: Apache-2.0 */
#include "kernels/schedule.h"

#include <limits.h>

/* Elements of arrays are named by their index, and no address of one is kept: to CBMC an address
 * that is not known is a choice of bytes. */

#define NUMBERS_OF_TASK (sizeof(struct cp_task) / sizeof(int))

CP_STATIC_ASSERT(sizeof(struct cp_task) == NUMBERS_OF_TASK * sizeof(int),
                 "a task is an array of int");

/* What the tasks are cut from. */
struct problem {
    const struct cp_plan *plan;
    const int *query_begin;
    int chunks_per_task;
};

/* How far the cutting has come. */
struct cursor {
    int descriptor; /* of the plan, the next one */
    int sequence;   /* when all descriptors are done, */
    int depth;      /* the next chunk of its path; below n_shared: none yet */
    int n_keys;     /* of the task before; its first descriptor, or the first of its own runs */
    int first;
    int n_chunks; /* in all tasks so far, */
    long long n_parts;
};

static int first_row(const struct problem *p, int s) {
    return p->query_begin == NULL ? s : p->query_begin[s];
}

static int rows_of(const struct problem *p, int s) {
    return first_row(p, s + 1) - first_row(p, s);
}

/* The sequence at place `at` of a task, one of begin .. end - 1. */
static int sequence_at(const struct cp_plan *plan, const struct cp_task *task, int at) {
    return task->end - task->begin >= 2 ? plan->served[at] : at;
}

/* Do keys at `position` go on in a task whose last chunk has the n_tokens keys from `first` on?
 * Then that chunk is full (RUNS-4). */
static int goes_on(const struct cp_plan *plan, int n_tokens, int first, int position) {
    return n_tokens == plan->chunk_size && position == first + n_tokens;
}

/* Is descriptor i + 1 the next chunk of the same sequences as descriptor i? */
static int continues(const struct cp_plan *plan, int i) {
    return i + 1 < plan->n_shared && plan->shared[i + 1].begin == plan->shared[i].begin &&
           plan->shared[i + 1].end == plan->shared[i].end &&
           goes_on(plan, plan->shared[i].n_tokens, plan->shared[i].position,
                   plan->shared[i + 1].position);
}

/* Is run k + 1 of sequence s its next chunk? */
static int runs_on(const struct cp_plan *plan, int s, int k) {
    return k + 1 < plan->sequence[s].n_chunks &&
           goes_on(plan, plan->sequence[s].run[k].n_tokens, plan->sequence[s].run[k].position,
                   plan->sequence[s].run[k + 1].position);
}

static void take_shared(const struct problem *p, struct cursor *at, struct cp_task *task) {
    task->position = p->plan->shared[at->descriptor].position;
    task->begin = p->plan->shared[at->descriptor].begin;
    task->end = p->plan->shared[at->descriptor].end;
    task->n_chunks = 1;
    at->first = at->descriptor;
    at->n_keys = p->plan->shared[at->descriptor].n_tokens;
    while (task->n_chunks < p->chunks_per_task && continues(p->plan, at->descriptor)) {
        task->n_chunks++;
        at->descriptor++;
        at->n_keys += p->plan->shared[at->descriptor].n_tokens;
    }
    at->descriptor++;
}

static void take_own(const struct problem *p, struct cursor *at, struct cp_task *task) {
    int s = at->sequence;
    task->position = p->plan->sequence[s].run[at->depth].position;
    task->begin = s;
    task->end = s + 1;
    task->n_chunks = 1;
    at->first = at->depth;
    at->n_keys = p->plan->sequence[s].run[at->depth].n_tokens;
    while (task->n_chunks < p->chunks_per_task && runs_on(p->plan, s, at->depth)) {
        task->n_chunks++;
        at->depth++;
        at->n_keys += p->plan->sequence[s].run[at->depth].n_tokens;
    }
    at->depth++;
}

/* Moves to the next sequence that has an own chunk left, if the present one has none. 0: there
 * is none. */
static int find_own(const struct problem *p, struct cursor *at) {
    while (at->sequence < p->plan->n_sequences) {
        int n_shared = p->plan->sequence[at->sequence].n_shared;
        if (at->depth < n_shared) {
            at->depth = n_shared;
        }
        if (at->depth < p->plan->sequence[at->sequence].n_chunks) {
            return 1;
        }
        at->sequence++;
        at->depth = 0;
    }
    return 0;
}

/* The next task, or 0. */
static int next_task(const struct problem *p, struct cursor *at, struct cp_task *task) {
    task->first_chunk = at->n_chunks;
    task->first_part = (int)at->n_parts;
    if (at->descriptor < p->plan->n_shared) {
        take_shared(p, at, task);
    } else if (find_own(p, at)) {
        take_own(p, at, task);
    } else {
        return 0;
    }
    at->n_chunks += task->n_chunks;
    task->n_rows = 0;
    for (int i = task->begin; i < task->end; i++) {
        task->n_rows += rows_of(p, sequence_at(p->plan, task, i));
    }
    at->n_parts += task->n_rows;
    return 1;
}

static int query_ranges_are_valid(const struct problem *p) {
    if (first_row(p, 0) != 0) {
        return 0;
    }
    for (int s = 0; s < p->plan->n_sequences; s++) {
        if (first_row(p, s + 1) < first_row(p, s)) {
            return 0;
        }
    }
    return 1;
}

/* `n` more numbers; returns where they begin. */
static size_t reserve(struct cp_schedule *schedule, size_t n) {
    size_t begin = schedule->n_numbers;
    schedule->n_numbers += n;
    return begin;
}

int cp_schedule_measure(struct cp_schedule *schedule, const struct cp_plan *plan,
                        const int *query_begin, int chunks_per_task) {
    if (schedule == NULL || plan == NULL || chunks_per_task < 1) {
        return CP_ERROR_ARGUMENT;
    }
    struct problem p = {plan, query_begin, chunks_per_task};
    if (!query_ranges_are_valid(&p)) {
        return CP_ERROR_SHAPE;
    }
    struct cp_schedule s = {.n_sequences = plan->n_sequences,
                            .n_rows = first_row(&p, plan->n_sequences),
                            .chunks_per_task = chunks_per_task};
    struct cursor at = {0};
    struct cp_task task;
    size_t n_sources = 0;
    while (next_task(&p, &at, &task)) {
        s.n_tasks++;
        s.n_shared_tasks += task.end - task.begin >= 2;
        s.most_rows = task.n_rows > s.most_rows ? task.n_rows : s.most_rows;
        n_sources += (size_t)(task.end - task.begin);
        if (at.n_parts > INT_MAX) {
            return CP_ERROR_SHAPE;
        }
    }
    s.n_parts = (int)at.n_parts;
    s.task = reserve(&s, (size_t)s.n_tasks * NUMBERS_OF_TASK);
    s.chunk = reserve(&s, (size_t)at.n_chunks);
    s.source_begin = reserve(&s, (size_t)s.n_sequences + 1);
    s.source = reserve(&s, n_sources);
    s.query_begin = reserve(&s, (size_t)s.n_sequences + 1);
    s.sequence = reserve(&s, (size_t)s.n_rows);
    s.row = reserve(&s, (size_t)s.n_parts);
    s.n_keys = reserve(&s, (size_t)s.n_tasks);
    s.position = reserve(&s, (size_t)s.n_rows);
    *schedule = s;
    return CP_OK;
}

static void write_task(const struct cp_task *task, int *numbers, size_t at) {
    numbers[at] = task->first_chunk;
    numbers[at + 1] = task->n_chunks;
    numbers[at + 2] = task->position;
    numbers[at + 3] = task->begin;
    numbers[at + 4] = task->end;
    numbers[at + 5] = task->first_part;
    numbers[at + 6] = task->n_rows;
}

/* The chunks of a task: of descriptors from `first` on, or of its one sequence's runs. */
static void write_chunks(const struct cp_plan *plan, const struct cp_task *task, int first,
                         int *numbers, size_t at) {
    int is_shared = task->end - task->begin >= 2;
    for (int k = 0; k < task->n_chunks; k++) {
        numbers[at + (size_t)(task->first_chunk + k)] =
            is_shared ? plan->shared[first + k].chunk
                      : plan->sequence[task->begin].run[first + k].chunk;
    }
}

/* Turns the counts, each stored one place ahead, into source_begin: how many tasks each sequence
 * has. */
static void add_up(const struct cp_schedule *schedule, int *numbers) {
    size_t begin = schedule->source_begin;
    numbers[begin] = 0;
    for (int s = 0; s < schedule->n_sequences; s++) {
        numbers[begin + (size_t)s + 1] += numbers[begin + (size_t)s];
    }
}

static void write_tasks(const struct cp_schedule *schedule, const struct problem *p, int *numbers) {
    size_t begin = schedule->source_begin;
    struct cursor at = {0};
    struct cp_task task;
    for (int s = 0; s < schedule->n_sequences; s++) {
        numbers[begin + (size_t)s + 1] = 0;
    }
    for (int i = 0; next_task(p, &at, &task); i++) {
        write_task(&task, numbers, schedule->task + (size_t)i * NUMBERS_OF_TASK);
        write_chunks(p->plan, &task, at.first, numbers, schedule->chunk);
        numbers[schedule->n_keys + (size_t)i] = at.n_keys;
        for (int x = task.begin; x < task.end; x++) {
            numbers[begin + (size_t)sequence_at(p->plan, &task, x) + 1]++;
        }
    }
    add_up(schedule, numbers);
}

/* RUNS-5: lists each task's partial results for each of its sequences, and the query rows that they
 * are of. Meanwhile source_begin[s] advances to source_begin[s + 1]. */
static void write_sources(const struct cp_schedule *schedule, const struct problem *p,
                          int *numbers) {
    size_t begin = schedule->source_begin;
    struct cursor at = {0};
    struct cp_task task;
    while (next_task(p, &at, &task)) {
        int part = task.first_part;
        for (int i = task.begin; i < task.end; i++) {
            int s = sequence_at(p->plan, &task, i);
            size_t source = schedule->source + (size_t)numbers[begin + (size_t)s]++;
            numbers[source] = part;
            for (int row = first_row(p, s); row < first_row(p, s + 1); row++) {
                numbers[schedule->row + (size_t)part++] = row;
            }
        }
    }
    for (int s = schedule->n_sequences; s > 0; s--) {
        numbers[begin + (size_t)s] = numbers[begin + (size_t)s - 1];
    }
    numbers[begin] = 0;
}

static void write_rows(const struct cp_schedule *schedule, const struct problem *p, int *numbers) {
    for (int s = 0; s < schedule->n_sequences; s++) {
        numbers[schedule->query_begin + (size_t)s] = first_row(p, s);
        for (int row = first_row(p, s); row < first_row(p, s + 1); row++) {
            numbers[schedule->sequence + (size_t)row] = s;
        }
    }
    numbers[schedule->query_begin + (size_t)schedule->n_sequences] = schedule->n_rows;
}

void cp_schedule_write(const struct cp_schedule *schedule, const struct cp_plan *plan,
                       const int *query_begin, const int *position, int *numbers) {
    struct problem p = {plan, query_begin, schedule->chunks_per_task};
    write_tasks(schedule, &p, numbers);
    write_sources(schedule, &p, numbers);
    write_rows(schedule, &p, numbers);
    cp_schedule_write_lengths(schedule, plan, position, numbers);
}

/* PREFILL-1: where a query row stands. */
static int position_of(const struct cp_schedule *schedule, const struct cp_plan *plan,
                       const int *position, const int *numbers, int row) {
    if (position != NULL) {
        return position[row];
    }
    int s = numbers[schedule->sequence + (size_t)row];
    int later = numbers[schedule->query_begin + (size_t)s + 1] - 1 - row;
    return plan->sequence[s].n_tokens - 1 - later;
}

/* The sequence of task i, one of a sequence's own chunks; -1: there is no such task. */
static int owner(const struct cp_schedule *schedule, const int *numbers, int i) {
    size_t task = schedule->task + (size_t)i * NUMBERS_OF_TASK;
    return i < schedule->n_tasks ? numbers[task + 3] : -1;
}

/* PLAN-6: the keys of the last task of a sequence, which alone may grow. All chunks but its last
 * are full. */
static void write_keys(const struct cp_schedule *schedule, const struct cp_plan *plan, int i,
                       int *numbers) {
    int s = owner(schedule, numbers, i);
    int n_chunks = numbers[schedule->task + (size_t)i * NUMBERS_OF_TASK + 1];
    int last = plan->sequence[s].n_chunks - 1;
    if (owner(schedule, numbers, i + 1) != s) {
        numbers[schedule->n_keys + (size_t)i] =
            (n_chunks - 1) * plan->chunk_size + plan->sequence[s].run[last].n_tokens;
    }
}

void cp_schedule_write_lengths(const struct cp_schedule *schedule, const struct cp_plan *plan,
                               const int *position, int *numbers) {
    for (int i = schedule->n_shared_tasks; i < schedule->n_tasks; i++) {
        write_keys(schedule, plan, i, numbers);
    }
    for (int row = 0; row < schedule->n_rows; row++) {
        numbers[schedule->position + (size_t)row] =
            position_of(schedule, plan, position, numbers, row);
    }
}

int cp_schedule_has_positions(const struct cp_schedule *schedule, const struct cp_plan *plan,
                              const int *position, const int *numbers) {
    for (int row = 0; row < schedule->n_rows; row++) {
        if (numbers[schedule->position + (size_t)row] !=
            position_of(schedule, plan, position, numbers, row)) {
            return 0;
        }
    }
    return 1;
}
