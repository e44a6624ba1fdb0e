/* SPDX-License-Identifier: Apache-2.0 */
/* The library's phases on plans of runs (spec/runs.md): random prompts of modules, as lists of runs
 * without descriptors, and with descriptors that serve ranges of sequences (RUNS-9). All scores are
 * 0, so that weights are exact, and each key that a row sees shows in a column of its own. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "chunkproof/attend.h"
#include "chunkproof/opt.h"
#include "kernels/schedule.h"
#include "tests/path_runs.h"
#include "tests/runs_case.h"

#define NUMBERS (RUNS_CAPACITY * RUNS_CHUNK_SIZE * RUNS_POSITIONS)

/* ---- Plans ---- */

static void add_run(struct cp_plan_sequence *list, const struct cp_run *run) {
    list->run[list->n_chunks++] = *run;
    list->n_tokens += run->n_tokens;
}

/* Of the sequences that descriptor i serves, those before s are done. Finds the next range of them,
 * [begin, end), or returns 0. */
static int next_range(const struct run_plan *plan, int i, int s, int *begin, int *end) {
    int member[RUNS_SEQUENCES + 1] = {0};
    for (int at = plan->shared[i].begin; at < plan->shared[i].end; at++) {
        member[plan->served[at]] = 1;
    }
    while (s < plan->n_sequences && !member[s]) {
        s++;
    }
    *begin = s;
    while (member[s]) {
        s++;
    }
    *end = s;
    return *begin < *end;
}

static struct cp_run run_of(const struct cp_shared_chunk *shared) {
    return (struct cp_run){shared->chunk, shared->n_tokens, shared->position};
}

/* RUNS-9: one descriptor for each maximal range of two sequences or more. */
static void take_shared(struct cp_plan *to, const struct run_plan *plan, int i) {
    struct cp_run run = run_of(&plan->shared[i]);
    int begin, end = 0;
    while (next_range(plan, i, end, &begin, &end)) {
        if (end - begin >= 2) {
            to->shared[to->n_shared++] =
                (struct cp_shared_chunk){run.chunk, begin, end, run.n_tokens, run.position};
            for (int s = begin; s < end; s++) {
                add_run(&to->sequence[s], &run);
                to->sequence[s].n_shared++;
            }
        }
    }
}

/* The sequences of ranges of at most `most` have the run as their own. */
static void take_own(struct cp_plan *to, const struct run_plan *plan, int i, int most) {
    struct cp_run run = run_of(&plan->shared[i]);
    int begin, end = 0;
    while (next_range(plan, i, end, &begin, &end)) {
        for (int s = begin; s < end && end - begin <= most; s++) {
            add_run(&to->sequence[s], &run);
        }
    }
}

static void as_plan(struct cp_plan *to, const struct run_plan *plan, int ranges) {
    to->capacity = plan->capacity;
    to->chunk_size = plan->chunk_size;
    list_sequences(to, plan->n_sequences);
    to->n_shared = 0;
    for (int s = 0; s < plan->n_sequences; s++) {
        to->sequence[s].n_tokens = to->sequence[s].n_chunks = to->sequence[s].n_shared = 0;
    }
    for (int i = 0; i < plan->n_shared && ranges; i++) {
        take_shared(to, plan, i);
    }
    for (int i = 0; i < plan->n_shared; i++) {
        take_own(to, plan, i, ranges ? 1 : RUNS_SEQUENCES);
    }
    for (int s = 0; s < plan->n_sequences; s++) {
        const struct run_sequence *from = &plan->sequence[s];
        for (int i = from->n_shared; i < from->n_runs; i++) {
            add_run(&to->sequence[s], &from->run[i]);
        }
    }
}

/* ---- Attention ---- */

static void expect_rows(const struct prompts *p, float (*got)[RUNS_POSITIONS], const double *lse) {
    for (int s = 0; s < p->plan.n_sequences; s++) {
        const struct run_sequence *sequence = &p->plan.sequence[s];
        for (int row = p->rows[s]; row < p->rows[s + 1]; row++) {
            int count = prompts_tokens_up_to(sequence, p->position[row]);
            for (int j = 0; j < RUNS_POSITIONS; j++) {
                int is_seen = j <= p->position[row] && prompts_has_token(sequence, j);
                assert_true(got[row][j] == (is_seen ? (float)(1.0 / count) : 0.0F));
            }
            assert_true(lse[row] == (count == 0 ? -INFINITY : log((double)count)));
        }
    }
}

/* Both implementations on one call. */
static void expect_both(const struct prompts *p, struct cp_attention *a, struct cp_opt *opt) {
    static float out[RUNS_SEQUENCES * 3][RUNS_POSITIONS];
    static double lse[RUNS_SEQUENCES * 3];
    size_t reference = cp_attend_workspace(a), fast = cp_opt_workspace(opt, a);
    a->workspace_size = reference > fast ? reference : fast;
    a->workspace = malloc(a->workspace_size);
    assert_true(a->workspace != NULL && reference > 0 && fast > 0);
    a->out = out;
    a->lse = lse;
    memset(out, 0xFF, sizeof out);
    assert_int_equal(cp_attend(a), CP_OK);
    expect_rows(p, out, lse);
    memset(out, 0xFF, sizeof out);
    assert_int_equal(cp_opt_attend(opt, a), CP_OK);
    expect_rows(p, out, lse);
    free(a->workspace);
}

/* ---- The tasks of the CUDA kernels ---- */

/* What a task is cut from: the next descriptor, or the next run of a sequence's own. */
struct source {
    const struct cp_plan *plan;
    int descriptor, sequence, run;
};

static struct cp_run next_run(struct source *at, int *begin, int *end) {
    const struct cp_plan *plan = at->plan;
    if (at->descriptor < plan->n_shared) {
        const struct cp_shared_chunk *one = &plan->shared[at->descriptor++];
        *begin = one->begin;
        *end = one->end;
        return (struct cp_run){one->chunk, one->n_tokens, one->position};
    }
    for (; at->run >= plan->sequence[at->sequence].n_chunks; at->run = 0) {
        at->sequence++;
        assert_true(at->sequence < plan->n_sequences);
    }
    if (at->run < plan->sequence[at->sequence].n_shared) {
        at->run = plan->sequence[at->sequence].n_shared;
        return next_run(at, begin, end);
    }
    *begin = at->sequence;
    *end = at->sequence + 1;
    return plan->sequence[at->sequence].run[at->run++];
}

static int chunks_in(const struct cp_plan *plan) {
    int n = plan->n_shared;
    for (int s = 0; s < plan->n_sequences; s++) {
        n += plan->sequence[s].n_chunks - plan->sequence[s].n_shared;
    }
    return n;
}

/* TPP-1, RUNS-4: the tasks are the descriptors in their order, and then each sequence's own runs in
 * theirs. They join runs of the same sequences that follow one another behind a full chunk. Returns
 * how many tasks have more than one run. */
static int expect_tasks(const struct prompts *p, const struct cp_plan *plan, int chunks_per_task) {
    static int numbers[9 * 4 * RUNS_CAPACITY];
    struct cp_schedule schedule;
    struct source source = {.plan = plan};
    int joined = 0, chunks = 0;
    assert_int_equal(cp_schedule_measure(&schedule, plan, p->rows, chunks_per_task), CP_OK);
    assert_true(schedule.n_numbers <= sizeof numbers / sizeof *numbers);
    cp_schedule_write(&schedule, plan, p->rows, p->position, numbers);
    const struct cp_task *task = (const struct cp_task *)(const void *)(numbers + schedule.task);
    for (int t = 0; t < schedule.n_tasks; t++, task++) {
        int n_keys = 0, begin, end;
        for (int k = 0; k < task->n_chunks; k++) {
            struct cp_run run = next_run(&source, &begin, &end);
            assert_true(task->begin == begin && task->end == end);
            assert_int_equal(run.position, task->position + n_keys);
            assert_int_equal(n_keys, k * plan->chunk_size);
            assert_int_equal(numbers[schedule.chunk + (size_t)(task->first_chunk + k)], run.chunk);
            n_keys += run.n_tokens;
        }
        assert_int_equal(numbers[schedule.n_keys + (size_t)t], n_keys);
        joined += task->n_chunks > 1;
        chunks += task->n_chunks;
    }
    assert_int_equal(chunks, chunks_in(plan));
    return joined;
}

/* ---- Plans from prompts ---- */

/* How many descriptors there were, and tasks of more than one run. */
struct met {
    int descriptors, joined;
};

static struct met try_plans(int ranges) {
    static struct prompts p;
    static double k[NUMBERS], v[NUMBERS];
    static float q[RUNS_SEQUENCES * 3 * RUNS_POSITIONS], keys[NUMBERS], values[NUMBERS];
    struct met met = {0, 0};
    struct cp_plan *plan;
    struct cp_opt *opt;
    assert_int_equal(cp_plan_new(&plan), CP_OK);
    assert_int_equal(cp_opt_new(&opt, 1, CP_OPT_BEST), CP_OK);
    for (unsigned long long seed = 1; seed <= 200; seed++) {
        prompts_make(&p, seed);
        prompts_fill(&p.plan, k, v);
        for (int i = 0; i < NUMBERS; i++) {
            keys[i] = (float)k[i];
            values[i] = (float)v[i];
        }
        as_plan(plan, &p.plan, ranges);
        for (int variant = CP_BUFFERED; variant <= CP_MERGE_AT_ONCE; variant++) {
            struct cp_attention a = {.plan = plan,
                                     .stamp = plan->stamp,
                                     .n_heads = 1,
                                     .n_kv_heads = 1,
                                     .head_dim = RUNS_POSITIONS,
                                     .scale = 1.0,
                                     .query_begin = p.rows,
                                     .position = p.position,
                                     .q_type = CP_FP32,
                                     .kv_type = CP_FP32,
                                     .out_type = CP_FP32,
                                     .q = q,
                                     .k = keys,
                                     .v = values,
                                     .variant = variant};
            expect_both(&p, &a, opt);
        }
        met.joined += expect_tasks(&p, plan, 1 + (int)(seed % 5));
        met.descriptors += plan->n_shared;
    }
    cp_opt_free(opt);
    cp_plan_free(plan);
    return met;
}

/* RUNS-1, RUNS-4: lists of runs with partial chunks in the middle and gaps between positions. */
static void lists_without_descriptors(void **unused) {
    (void)unused;
    struct met met = try_plans(0);
    assert_true(met.descriptors == 0 && met.joined > 100);
}

/* RUNS-5, RUNS-9: descriptors over ranges, whose chunks may be partial and stand anywhere. */
static void descriptors_over_ranges(void **unused) {
    (void)unused;
    struct met met = try_plans(1);
    assert_true(met.descriptors > 200 && met.joined > 100);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lists_without_descriptors),
        cmocka_unit_test(descriptors_over_ranges),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
