/* SPDX-License-Identifier: Apache-2.0 */
#include "opt/tasks.h"

#include <stdint.h>

#include "opt/kernels.h"

/* A problem is cut into at least this many slices, if its tasks can then still have this many
 * keys: many threads get work, and partial results stay small compared with K and V. */
#define UNITS_WANTED   128
#define KEYS_OF_A_TASK 512

/* Bytes of K, and of V, that are read in one go, if there are heads enough. */
#define STRETCH 524288

#define LINE 64 /* bytes of a cache line: threads write to separate lines */

/* How far the cutting has come. */
struct cursor {
    const struct cp_attention *attention;
    int chunks_per_task;
    int descriptor; /* of the plan, the next one */
    int sequence;   /* when all descriptors are done, */
    int depth;      /* its next run; below n_shared: none yet */
    size_t n_parts, n_slices;
    int only_seen; /* leave out tasks of which no row sees a key */
};

static size_t add(size_t x, size_t y) {
    return x > SIZE_MAX - y ? SIZE_MAX : x + y;
}

static size_t multiply(size_t x, size_t y) {
    return y != 0 && x > SIZE_MAX / y ? SIZE_MAX : x * y;
}

/* Do keys at `position` go on in a task whose last chunk has the n_tokens keys from `first` on?
 * Then that chunk is full (RUNS-4). */
static int goes_on(const struct cp_plan *plan, int n_tokens, int first, int position) {
    return n_tokens == plan->chunk_size && position == first + n_tokens;
}

/* Is descriptor i + 1 the next chunk of the same sequences as descriptor i? */
static int continues(const struct cp_plan *plan, int i) {
    const struct cp_shared_chunk *one = &plan->shared[i], *next = one + 1;
    return i + 1 < plan->n_shared && next->begin == one->begin && next->end == one->end &&
           goes_on(plan, one->n_tokens, one->position, next->position);
}

static void take_shared(struct cursor *at, struct opt_task *task) {
    const struct cp_plan *plan = at->attention->plan;
    const struct cp_shared_chunk *first = &plan->shared[at->descriptor];
    task->begin = first->begin;
    task->end = first->end;
    task->first = at->descriptor;
    task->n_chunks = 1;
    task->position = first->position;
    task->n_keys = first->n_tokens;
    while (task->n_chunks < at->chunks_per_task && continues(plan, at->descriptor)) {
        task->n_chunks++;
        at->descriptor++;
        task->n_keys += plan->shared[at->descriptor].n_tokens;
    }
    at->descriptor++;
}

/* Goes to the next sequence that has a chunk of its own left, when the present one has none; 0:
 * there is none. */
static int find_own(struct cursor *at) {
    const struct cp_plan *plan = at->attention->plan;
    for (; at->sequence < plan->n_sequences; at->sequence++, at->depth = 0) {
        const struct cp_plan_sequence *path = &plan->sequence[at->sequence];
        at->depth = at->depth < path->n_shared ? path->n_shared : at->depth;
        if (at->depth < path->n_chunks) {
            return 1;
        }
    }
    return 0;
}

static void take_own(struct cursor *at, struct opt_task *task) {
    const struct cp_plan *plan = at->attention->plan;
    const struct cp_plan_sequence *path = &plan->sequence[at->sequence];
    const struct cp_run *run = &path->run[at->depth], *end = path->run + path->n_chunks;
    task->begin = at->sequence;
    task->end = at->sequence + 1;
    task->first = at->depth;
    task->n_chunks = 1;
    task->position = run->position;
    task->n_keys = run->n_tokens;
    while (task->n_chunks < at->chunks_per_task && run + 1 < end &&
           goes_on(plan, run->n_tokens, run->position, run[1].position)) {
        run++;
        task->n_chunks++;
        task->n_keys += run->n_tokens;
    }
    at->depth += task->n_chunks;
}

/* The query rows of the sequences of a task. */
static int rows_of(const struct cp_attention *a, const struct opt_task *task) {
    int rows = 0;
    if (a->query_begin == NULL) {
        return task->end - task->begin;
    }
    for (int at = task->begin; at < task->end; at++) {
        rows += opt_rows_of(a, opt_sequence_at(a->plan, task, at));
    }
    return rows;
}

/* RUNS-4: how many of a task's keys are at positions up to p. */
static int keys_up_to(const struct opt_task *task, long long p) {
    long long n = p - task->position + 1;
    return n < 0 ? 0 : n < task->n_keys ? (int)n : task->n_keys;
}

long long cp_opt_position_of(const struct cp_attention *a, int s, int row) {
    if (a->position != NULL) {
        return a->position[row];
    }
    return a->plan->sequence[s].n_tokens - 1 - (opt_first_row(a, s + 1) - 1 - row);
}

struct opt_seen cp_opt_seen_of(const struct cp_attention *a, const struct opt_task *task, int s,
                               int row) {
    long long p = cp_opt_position_of(a, s, row);
    struct opt_seen seen = {0, 0, keys_up_to(task, p + a->window.ahead)};
    if (a->window.keys != 0) {
        int before = keys_up_to(task, p - a->window.keys);
        int kept = keys_up_to(task, (long long)a->window.kept - 1);
        seen.begin = before < seen.end ? before : seen.end;
        seen.kept = kept < seen.begin ? kept : seen.begin;
    }
    return seen;
}

/* Bits at .. at + n - 1, in the lowest n of the result. */
static uint64_t bits_at(const unsigned char *bits, size_t at, int n) {
    size_t first = at / 8, last = (at + (size_t)n - 1) / 8, before = at % 8;
    uint64_t word = (uint64_t)bits[first] >> before;
    for (size_t byte = first + 1; byte <= last; byte++) {
        word |= (uint64_t)bits[byte] << (8 * (byte - first) - before);
    }
    return word;
}

uint64_t cp_opt_left(const struct cp_attention *a, int row, long long position, int n) {
    long long begin = a->mask.begin == NULL ? 0 : a->mask.begin[row];
    long long before = begin - position; /* keys before the first one with a bit */
    uint64_t all = opt_keys_before(n);
    if (a->mask.bits == NULL || before >= n) {
        return all;
    }
    int without = before < 0 ? 0 : (int)before;
    size_t at = a->mask.first[row] + (size_t)(position + without - begin);
    return (opt_keys_before(without) | bits_at(a->mask.bits, at, n - without) << without) & all;
}

/* Does the mask leave one of keys begin .. end - 1 of the task to a row? */
static int leaves(const struct cp_attention *a, const struct opt_task *task, int row, int begin,
                  int end) {
    for (int n; begin < end; begin += n) {
        n = end - begin < CP_OPT_KEYS ? end - begin : CP_OPT_KEYS;
        if (cp_opt_left(a, row, (long long)task->position + begin, n) != 0) {
            return 1;
        }
    }
    return 0;
}

/* Does a row of sequence s see a key of the task? */
static int sees(const struct cp_attention *a, const struct opt_task *task, int s) {
    for (int row = opt_first_row(a, s); row < opt_first_row(a, s + 1); row++) {
        struct opt_seen seen = cp_opt_seen_of(a, task, s, row);
        if (leaves(a, task, row, 0, seen.kept) || leaves(a, task, row, seen.begin, seen.end)) {
            return 1;
        }
    }
    return 0;
}

/* WINDOW-4, MASK-4: does any row? */
static int is_seen(const struct cp_attention *a, const struct opt_task *task) {
    int seen = 0;
    for (int at = task->begin; at < task->end && !seen; at++) {
        seen = sees(a, task, opt_sequence_at(a->plan, task, at));
    }
    return seen;
}

/* Into blocks of rows and of heads. */
static void divide_task(const struct cp_attention *a, struct opt_task *task) {
    long long rows = (long long)task->n_rows * (a->n_heads / a->n_kv_heads);
    task->n_blocks = (rows + CP_OPT_ROWS - 1) / CP_OPT_ROWS;
    int largest = (int)((rows + task->n_blocks - 1) / task->n_blocks);
    task->width = largest <= CP_OPT_LEAST_FEW
                      ? largest
                      : (largest + CP_OPT_PAD - 1) / CP_OPT_PAD * CP_OPT_PAD;
    double key = (double)cp_number_size(a->k_type) * a->head_dim;
    double value = (double)cp_number_size(a->v_type) * a->value_dim;
    double slice = (key > value ? key : value) * a->plan->chunk_size;
    int most = CP_OPT_ROWS / task->width;
    int heads = slice * most <= STRETCH ? most : (int)(STRETCH / slice) + 1;
    heads = heads < most ? heads : most;
    task->n_head_blocks = (a->n_kv_heads + heads - 1) / heads;
}

/* The next task that has query rows, or 0. */
static int next_task(struct cursor *at, struct opt_task *task) {
    const struct cp_attention *a = at->attention;
    task->n_rows = 0;
    while (task->n_rows == 0) {
        if (at->descriptor < a->plan->n_shared) {
            take_shared(at, task);
        } else if (find_own(at)) {
            take_own(at, task);
        } else {
            return 0;
        }
        task->n_rows = rows_of(a, task);
        if (at->only_seen && !is_seen(a, task)) {
            task->n_rows = 0;
        }
    }
    divide_task(a, task);
    task->first_part = at->n_parts;
    task->first_slice = at->n_slices;
    at->n_parts = add(at->n_parts, (size_t)task->n_rows);
    at->n_slices = add(at->n_slices, multiply((size_t)task->n_blocks, (size_t)task->n_head_blocks));
    return 1;
}

/* The number of chunks per task: so small that there are as many slices as wanted, unless tasks
 * would then be too short. */
static int chunks_of_a_task(const struct cp_attention *a) {
    struct cursor at = {.attention = a, .chunks_per_task = CP_MAX_DEPTH};
    struct opt_task task;
    double slots = 0.0; /* of all slices */
    double c = a->plan->chunk_size;
    while (next_task(&at, &task)) {
        slots += (double)task.n_chunks * c * (double)task.n_blocks * task.n_head_blocks;
    }
    double wanted = slots / UNITS_WANTED;
    wanted = wanted < KEYS_OF_A_TASK ? KEYS_OF_A_TASK : wanted;
    return wanted >= CP_MAX_DEPTH * c ? CP_MAX_DEPTH : (int)((wanted + c - 1.0) / c);
}

static size_t lines(size_t n, size_t size) {
    size_t bytes = multiply(n, size);
    return add(bytes, (LINE - bytes % LINE) % LINE);
}

/* A thread's scratch: queries twice (as stored and, for many rows, transposed), keys or values,
 * o, scores, the six arrays of struct opt_states and the two of struct opt_change, and what the
 * multiplier needs. */
static size_t scratch_of(const struct opt_sizes *s) {
    size_t rows =
        add(multiply(s->stride, 2 * (size_t)CP_OPT_ROWS), multiply(s->o_stride, CP_OPT_ROWS));
    size_t loops = add(add(rows, opt_tile_size(s->stride)),
                       (size_t)CP_OPT_ROWS * CP_OPT_KEYS + (size_t)CP_OPT_ROWS * 8);
    return add(loops, add(multiply(s->queries, CP_OPT_ROWS), s->room));
}

static size_t padded(int n) {
    return ((size_t)n + CP_OPT_PAD - 1) / CP_OPT_PAD * CP_OPT_PAD;
}

static size_t floats(size_t bytes) {
    return (bytes + sizeof(float) - 1) / sizeof(float);
}

static size_t bytes_of(const struct cp_attention *a, const struct opt_sizes *s, size_t n_threads) {
    size_t b = (size_t)a->plan->n_sequences, h = (size_t)a->n_heads;
    size_t n = LINE - 1; /* to begin at a line */
    n = add(n, lines(s->n_tasks, sizeof(struct opt_task)));
    n = add(n, lines(b + 1, sizeof(size_t)));
    n = add(n, lines(s->n_sources, sizeof(size_t)));
    n = add(n, lines((size_t)a->plan->n_served + 1, sizeof(size_t)));
    n = add(n, lines(multiply(multiply(s->n_parts, h), 2), sizeof(float)));
    n = add(n, lines(multiply(multiply(s->n_parts, h), s->o_stride), sizeof(float)));
    n = add(n, lines(multiply(n_threads, s->scratch), sizeof(float)));
    return n > PTRDIFF_MAX ? 0 : n;
}

struct opt_sizes cp_opt_measure(const struct cp_attention *attention, int n_threads,
                                const struct opt_multiplier *multiplier) {
    struct opt_sizes s = {0};
    struct opt_task task;
    struct cursor at = {.attention = attention, .chunks_per_task = chunks_of_a_task(attention)};
    while (next_task(&at, &task)) {
        s.n_tasks++;
        s.n_sources += (size_t)(task.end - task.begin);
    }
    s.n_rows = opt_first_row(attention, attention->plan->n_sequences);
    s.chunks_per_task = at.chunks_per_task;
    s.n_parts = at.n_parts;
    s.n_slices = at.n_slices;
    s.stride = padded(attention->head_dim);
    s.o_stride = padded(attention->value_dim);
    if (multiplier->scores != NULL) {
        s.queries = floats(multiplier->query_size(attention->head_dim));
        s.room = floats(multiplier->room_size(attention->head_dim));
    }
    s.scratch = scratch_of(&s);
    s.bytes = bytes_of(attention, &s, (size_t)n_threads);
    return s;
}

/* Takes n bytes from *at on, and moves *at past them. */
static void *part(char **at, size_t n, size_t size) {
    void *begin = *at;
    *at += lines(n, size);
    return begin;
}

static struct opt_work divide(const struct cp_attention *a, const struct opt_sizes *s) {
    char *at = a->workspace;
    struct opt_work w;
    at += (LINE - (uintptr_t)at % LINE) % LINE;
    w.task = part(&at, s->n_tasks, sizeof(struct opt_task));
    w.source_begin = part(&at, (size_t)a->plan->n_sequences + 1, sizeof(size_t));
    w.source = part(&at, s->n_sources, sizeof(size_t));
    w.rows_before = part(&at, (size_t)a->plan->n_served + 1, sizeof(size_t));
    w.state = part(&at, s->n_parts * (size_t)a->n_heads * 2, sizeof(float));
    w.o = part(&at, s->n_parts * (size_t)a->n_heads * s->o_stride, sizeof(float));
    w.scratch = (float *)(void *)at;
    return w;
}

/* Counts in source_begin, one place ahead; added up; each source put where source_begin runs to;
 * and back. */
static void write_sources(const struct cp_attention *a, const struct opt_sizes *s,
                          struct opt_work *w) {
    int b = a->plan->n_sequences;
    for (int i = 0; i <= b; i++) {
        w->source_begin[i] = 0;
    }
    for (const struct opt_task *t = w->task; t < w->task + s->n_tasks; t++) {
        for (int at = t->begin; at < t->end; at++) {
            w->source_begin[opt_sequence_at(a->plan, t, at) + 1]++;
        }
    }
    for (int i = 0; i < b; i++) {
        w->source_begin[i + 1] += w->source_begin[i];
    }
    for (const struct opt_task *t = w->task; t < w->task + s->n_tasks; t++) {
        size_t next = t->first_part;
        for (int at = t->begin; at < t->end; at++) {
            int i = opt_sequence_at(a->plan, t, at);
            w->source[w->source_begin[i]++] = next;
            next += (size_t)opt_rows_of(a, i);
        }
    }
    for (int i = b; i > 0; i--) {
        w->source_begin[i] = w->source_begin[i - 1];
    }
    w->source_begin[0] = 0;
}

static void add_up_rows(const struct cp_attention *a, size_t *rows_before) {
    rows_before[0] = 0;
    for (int at = 0; at < a->plan->n_served; at++) {
        rows_before[at + 1] = rows_before[at] + (size_t)opt_rows_of(a, a->plan->served[at]);
    }
}

struct opt_work cp_opt_prepare(const struct cp_attention *attention, struct opt_sizes *sizes) {
    struct opt_work work = divide(attention, sizes);
    struct cursor at = {.attention = attention,
                        .chunks_per_task = sizes->chunks_per_task,
                        .only_seen = attention->window.keys != 0 || attention->mask.bits != NULL};
    size_t n = 0;
    while (n < sizes->n_tasks && next_task(&at, &work.task[n])) {
        n++;
    }
    sizes->n_tasks = n;
    sizes->n_slices = at.n_slices;
    write_sources(attention, sizes, &work);
    add_up_rows(attention, work.rows_before);
    return work;
}
