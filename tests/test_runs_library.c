/* SPDX-License-Identifier: Apache-2.0 */
/* The library's phases on plans of runs (spec/runs.md): random prompts of modules, as lists of runs
 * without descriptors, with descriptors that serve ranges of sequences (RUNS-9), and with those
 * that serve any lists of them, in any order. All scores are 0, so that weights are exact, and each
 * key that a row sees shows in a column of its own. */
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
#include "tests/mask_case.h"
#include "tests/opt_case.h"
#include "tests/runs_case.h"
#include "tests/runs_plan.h"

#define NUMBERS     (RUNS_CAPACITY * RUNS_CHUNK_SIZE * RUNS_POSITIONS)
#define MOST_ROWS   (RUNS_SEQUENCES * 3)
#define MOST_HEADS  9 /* so that a list has more rows with heads than a slice of opt/ */
#define MOST_MAKERS 16

/* ---- Attention ---- */

static float out[MOST_ROWS * MOST_HEADS][RUNS_POSITIONS];
static double lse[MOST_ROWS * MOST_HEADS];

static void expect_rows(const struct prompts *p, int n_heads) {
    for (int s = 0; s < p->plan->n_sequences; s++) {
        for (int row = p->rows[s]; row < p->rows[s + 1]; row++) {
            for (int at = row * n_heads; at < (row + 1) * n_heads; at++) {
                for (int j = 0; j < RUNS_POSITIONS; j++) {
                    assert_true(out[at][j] == (float)prompts_output(p, s, row, j));
                }
                assert_true(lse[at] == prompts_lse(p, s, row));
            }
        }
    }
}

/* Every version of opt/ that this machine has, with one thread and with three. */
struct makers {
    struct cp_opt *opt[MOST_MAKERS];
    int n;
};

static void makers_new(struct makers *makers) {
    makers->n = 0;
    for (int i = 0; opt_case_version(i) != 0; i++) {
        for (int threads = 1; threads <= 3; threads += 2) {
            assert_true(makers->n < MOST_MAKERS);
            assert_int_equal(cp_opt_new(&makers->opt[makers->n], threads, opt_case_version(i)),
                             CP_OK);
            makers->n++;
        }
    }
    assert_true(makers->n >= 2);
}

static void makers_free(const struct makers *makers) {
    for (int i = 0; i < makers->n; i++) {
        cp_opt_free(makers->opt[i]);
    }
}

/* With a workspace of just the size that was asked for, and nothing in it. */
static void attend(struct cp_attention *a, struct cp_opt *opt) {
    a->workspace_size = opt == NULL ? cp_attend_workspace(a) : cp_opt_workspace(opt, a);
    assert_true(a->workspace_size > 0);
    a->workspace = malloc(a->workspace_size);
    assert_non_null(a->workspace);
    memset(a->workspace, 0xFF, a->workspace_size);
    a->out = out;
    a->lse = lse;
    memset(out, 0xFF, sizeof out);
    memset(lse, 0xFF, sizeof lse);
    assert_int_equal(opt == NULL ? cp_attend(a) : cp_opt_attend(opt, a), CP_OK);
    free(a->workspace);
}

/* All implementations on one call. */
static void expect_all(const struct prompts *p, struct cp_attention *a,
                       const struct makers *makers) {
    for (int variant = CP_BUFFERED; variant <= CP_MERGE_AT_ONCE; variant++) {
        a->variant = variant;
        attend(a, NULL);
        expect_rows(p, a->n_heads);
    }
    for (int i = 0; i < makers->n; i++) {
        attend(a, makers->opt[i]);
        expect_rows(p, a->n_heads);
    }
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
    while (at->run < plan->sequence[at->sequence].n_shared ||
           at->run >= plan->sequence[at->sequence].n_chunks) {
        if (at->run < plan->sequence[at->sequence].n_shared) {
            at->run = plan->sequence[at->sequence].n_shared;
        } else {
            at->sequence++;
            at->run = 0;
            assert_true(at->sequence < plan->n_sequences);
        }
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

/* A schedule and where its reader is. */
struct cut {
    struct cp_schedule schedule;
    int numbers[16 * RUNS_CAPACITY];
    int n_sources[RUNS_SEQUENCES]; /* of the tasks so far */
    int parts;                     /* of these */
};

/* RUNS-5: the rows of partial results of a task are those of its sequences, in their order; and
 * each sequence finds them. */
static void expect_parts(const struct prompts *p, const struct cp_plan *plan,
                         const struct cp_task *task, struct cut *cut) {
    const struct cp_schedule *schedule = &cut->schedule;
    int first = cut->parts;
    assert_int_equal(task->first_part, first);
    for (int at = task->begin; at < task->end; at++) {
        int s = task->end - task->begin >= 2 ? plan->served[at] : at;
        int source = cut->numbers[schedule->source_begin + (size_t)s] + cut->n_sources[s]++;
        assert_int_equal(cut->numbers[schedule->source + (size_t)source], cut->parts);
        for (int row = p->rows[s]; row < p->rows[s + 1]; row++) {
            assert_int_equal(cut->numbers[schedule->row + (size_t)cut->parts++], row);
        }
    }
    assert_int_equal(task->n_rows, cut->parts - first);
    assert_true(task->n_rows <= schedule->most_rows);
}

/* TPP-1, RUNS-4: the tasks are the descriptors in their order, and then each sequence's own runs in
 * theirs. They join runs of the same sequences that follow one another behind a full chunk. Returns
 * how many tasks have more than one run. */
static int expect_tasks(const struct prompts *p, const struct cp_plan *plan, int chunks_per_task) {
    static struct cut cut;
    const struct cp_schedule *schedule = &cut.schedule;
    struct source source = {.plan = plan};
    int joined = 0, chunks = 0;
    memset(&cut, 0, sizeof cut);
    assert_int_equal(cp_schedule_measure(&cut.schedule, plan, p->rows, chunks_per_task), CP_OK);
    assert_true(schedule->n_numbers <= sizeof cut.numbers / sizeof *cut.numbers);
    cp_schedule_write(schedule, plan, p->rows, p->position, cut.numbers);
    const struct cp_task *task =
        (const struct cp_task *)(const void *)(cut.numbers + schedule->task);
    for (int t = 0; t < schedule->n_tasks; t++, task++) {
        int n_keys = 0, begin, end;
        for (int k = 0; k < task->n_chunks; k++) {
            struct cp_run run = next_run(&source, &begin, &end);
            assert_true(task->begin == begin && task->end == end);
            assert_int_equal(run.position, task->position + n_keys);
            assert_int_equal(n_keys, k * plan->chunk_size);
            assert_int_equal(cut.numbers[schedule->chunk + (size_t)(task->first_chunk + k)],
                             run.chunk);
            n_keys += run.n_tokens;
        }
        assert_int_equal(cut.numbers[schedule->n_keys + (size_t)t], n_keys);
        expect_parts(p, plan, task, &cut);
        joined += task->n_chunks > 1;
        chunks += task->n_chunks;
    }
    assert_int_equal(chunks, chunks_in(plan));
    assert_int_equal(cut.parts, schedule->n_parts);
    return joined;
}

/* ---- Plans from prompts ---- */

/* How many descriptors there were, those whose list is no range, and tasks of more than one run. */
struct met {
    int descriptors, lists, joined;
};

static int lists_in(const struct cp_plan *plan) {
    int n = 0;
    for (int i = 0; i < plan->n_shared; i++) {
        int is_range = 1;
        for (int at = plan->shared[i].begin + 1; at < plan->shared[i].end; at++) {
            is_range = is_range && plan->served[at] == plan->served[at - 1] + 1;
        }
        n += !is_range;
    }
    return n;
}

/* Narrow and wide ones, with keys ahead and first tokens kept, and without. */
static struct cp_window window_of(int seed) {
    const int keys[] = {1, 2, 4, 5, 9, 30, 0}, ahead[] = {0, 3, 0, 40}, kept[] = {0, 1, 6, 0, 15};
    return (struct cp_window){keys[seed % 7], ahead[seed / 7 % 4], kept[seed % 5]};
}

/* Of all positions, for rows of all sequences. */
static void draw_mask(struct prompts *p, struct mask_case *m, unsigned long long seed) {
    int n_keys[MOST_ROWS];
    for (int row = 0; row < MOST_ROWS; row++) {
        n_keys[row] = RUNS_POSITIONS;
    }
    mask_case_make(m, p->rows[p->plan->n_sequences], n_keys, (int)(seed / 3 % MASK_N_KIND), seed);
    p->mask = m->mask;
}

static struct met try_plans(int way, int windows, int masks) {
    static struct prompts p;
    static double k[NUMBERS], v[NUMBERS];
    static float q[MOST_ROWS * MOST_HEADS * RUNS_POSITIONS], keys[NUMBERS], values[NUMBERS];
    struct met met = {0, 0, 0};
    struct mask_case m = {.left = NULL};
    struct makers makers;
    struct cp_plan *plan;
    assert_int_equal(cp_plan_new(&plan), CP_OK);
    prompts_new(&p);
    makers_new(&makers);
    for (unsigned long long seed = 1; seed <= 200; seed++) {
        prompts_make(&p, seed);
        p.window = windows ? window_of((int)seed) : (struct cp_window){0, 0, 0};
        prompts_fill(p.plan, k, v);
        for (int i = 0; i < NUMBERS; i++) {
            keys[i] = (float)k[i];
            values[i] = (float)v[i];
        }
        if (seed % 3 == 0) {
            prompts_decode(&p);
        }
        if (masks) {
            draw_mask(&p, &m, seed);
        }
        runs_as_plan(plan, p.plan, way);
        struct cp_attention a = {.plan = plan,
                                 .stamp = plan->stamp,
                                 .n_heads = seed % 4 == 0 ? MOST_HEADS : 1,
                                 .n_kv_heads = 1,
                                 .head_dim = RUNS_POSITIONS,
                                 .value_dim = RUNS_POSITIONS,
                                 .v_row = RUNS_POSITIONS,
                                 .scale = 1.0,
                                 .query_begin = seed % 3 == 0 ? NULL : p.rows,
                                 .position = p.position,
                                 .window = p.window,
                                 .mask = p.mask,
                                 .q_type = CP_FP32,
                                 .k_type = CP_FP32,
                                 .v_type = CP_FP32,
                                 .out_type = CP_FP32,
                                 .q = q,
                                 .k = keys,
                                 .v = values};
        expect_all(&p, &a, &makers);
        met.joined += expect_tasks(&p, plan, 1 + (int)(seed % 5));
        met.descriptors += plan->n_shared;
        met.lists += lists_in(plan);
        mask_case_free(&m);
        m = (struct mask_case){.left = NULL};
    }
    makers_free(&makers);
    prompts_free(&p);
    cp_plan_free(plan);
    return met;
}

/* RUNS-1, RUNS-4: lists of runs with partial chunks in the middle and gaps between positions. */
static void sequences_without_descriptors(void **unused) {
    (void)unused;
    struct met met = try_plans(RUNS_ALONE, 0, 0);
    assert_true(met.descriptors == 0 && met.joined > 100);
}

/* RUNS-5, RUNS-9: descriptors over ranges, whose chunks may be partial and stand anywhere. */
static void descriptors_over_ranges(void **unused) {
    (void)unused;
    struct met met = try_plans(RUNS_RANGES, 0, 0);
    assert_true(met.descriptors > 200 && met.lists == 0 && met.joined > 100);
}

/* RUNS-2, RUNS-5: descriptors over any sequences, in any order. */
static void descriptors_over_lists(void **unused) {
    (void)unused;
    struct met met = try_plans(RUNS_LISTS, 0, 0);
    assert_true(met.descriptors > 200 && met.lists > 100 && met.joined > 100);
}

/* WINDOW-1 to 3: runs at any positions, for lists of sequences that see different parts of them. */
static void windows_over_runs(void **unused) {
    (void)unused;
    for (int way = RUNS_ALONE; way <= RUNS_LISTS; way++) {
        (void)try_plans(way, 1, 0);
    }
}

/* MASK-1 to 3: likewise with masks, without windows and with. */
static void masks_over_runs(void **unused) {
    (void)unused;
    for (int way = RUNS_ALONE; way <= RUNS_LISTS; way++) {
        (void)try_plans(way, 0, 1);
        (void)try_plans(way, 1, 1);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sequences_without_descriptors),
        cmocka_unit_test(descriptors_over_ranges),
        cmocka_unit_test(descriptors_over_lists),
        cmocka_unit_test(windows_over_runs),
        cmocka_unit_test(masks_over_runs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
