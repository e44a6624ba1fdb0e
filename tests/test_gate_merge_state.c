/* SPDX-License-Identifier: Apache-2.0 */
/* MERGING-11: a file of --state of a kernel that merges. A run goes on from where it was ended, and
 * comes to the same as one that was not. Nothing impossible is read. */
#define _DEFAULT_SOURCE /* setitimer, mkdtemp */

#include <limits.h>
#include <math.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>

#include <cmocka.h>

#include "gate/merge/check.h"
#include "gate/merge/kind.h"
#include "gate/merge/mistakes.h"
#include "gate/search/state.h"
#include "tests/runner_files.h"

#define CASES 48
#define MILLI 1000 /* milliseconds of a second, microseconds of a millisecond */

/* ---- A run that goes on ---- */

static volatile sig_atomic_t rang;

static void ring(int signal) {
    (void)signal;
    rang = 1;
}

static struct runner *start_it(void *name) {
    static const struct run_limits limits = {
        .seconds = 20.0, .bytes = (size_t)1 << 32, .heap = 1 << 30};
    char program[4200], file[4200], error[RUN_TEXT] = "";
    struct runner *runner = NULL;
    if (runner_new(&runner, own_program(program), beside(file, name), &limits, error) != 0) {
        fail_msg("%s: %s", (char *)name, error);
    }
    return runner;
}

/* Runs all cases in a new process, and ends after so many milliseconds (0: never). */
static int run(struct merge_result *result, const char *state, int milliseconds) {
    static char wrong[] = "gate/cheats/merge_few.so";
    const struct gate_options options = {
        .seed = 3, .cases = CASES, .only = -1, .jobs = 2, .state = state};
    const struct itimerval after = {
        .it_value = {.tv_sec = milliseconds / MILLI,
                     .tv_usec = (suseconds_t)(milliseconds % MILLI) * MILLI}};
    struct runner *runner = start_it(wrong);
    rang = 0;
    assert_ptr_not_equal(signal(SIGALRM, ring), SIG_ERR);
    assert_int_equal(setitimer(ITIMER_REAL, &after, NULL), 0);
    int status = merge_check(&options, runner, start_it, wrong, result, &rang);
    runner_free(runner);
    return status;
}

static void expect_same(const struct merge_result *a, const struct merge_result *b) {
    assert_int_equal(a->cases, b->cases);
    assert_int_equal(a->refused, b->refused);
    assert_int_equal(a->runs, b->runs);
    assert_int_equal(a->laws, b->laws);
    assert_int_equal(a->asked, b->asked);
    assert_memory_equal(a->verdicts, b->verdicts, sizeof a->verdicts);
    assert_memory_equal(a->explained, b->explained, sizeof a->explained);
    assert_memory_equal(&a->sizes, &b->sizes, sizeof a->sizes);
    for (int i = 0; i < MERGE_VALUES; i++) {
        assert_int_equal(a->tally[i].compared, b->tally[i].compared);
        assert_true(a->tally[i].largest == b->tally[i].largest);
    }
    for (int i = GATE_RIGHT + 1; i < MERGE_VERDICTS; i++) {
        assert_int_equal(a->found[i].index, b->found[i].index);
        assert_string_equal(a->found[i].finding.of.text, b->found[i].finding.of.text);
    }
    assert_false(a->interrupted || b->interrupted || a->failed || b->failed);
}

static struct merge_result whole, ended, rest;

/* Ended again and again, each time with a few cases more. */
static void merging_11_a_run_goes_on_where_it_was_ended(void **unused) {
    char directory[] = "/tmp/merging-state-XXXXXX", state[64];
    long long before = 0;
    int ends = 0;
    (void)unused;
    assert_non_null(mkdtemp(directory));
    (void)snprintf(state, sizeof state, "%s/state", directory);
    assert_int_equal(run(&whole, NULL, 0), 0);
    assert_true(whole.cases == CASES && merge_wrong_cases(&whole) > 0);
    for (int milliseconds = 60; run(&ended, state, milliseconds) == 0 && ended.interrupted;
         milliseconds += 40) {
        assert_true(ended.cases >= before && ended.cases < CASES);
        ends += ended.cases > before;
        before = ended.cases;
    }
    assert_true(ends > 0);
    expect_same(&whole, &ended);
    assert_int_equal(run(&rest, state, 0), 0); /* nothing is left, and all is still there */
    expect_same(&whole, &rest);
    assert_int_equal(unlink(state), 0);
    assert_int_equal(rmdir(directory), 0);
}

/* ---- The bytes ---- */

/* As after these cases, of which some are wrong. */
static void make(struct gate_state *s, const struct merge_result *result) {
    memset(s, 0, sizeof *s);
    s->kind = &merge_kind;
    s->locked = -1;
    s->blocks = s->cases = CASES;
    s->done = calloc(CASES, 1);
    s->result = calloc(1, s->kind->size);
    assert_true(s->done != NULL && s->result != NULL);
    (void)snprintf(s->identity, sizeof s->identity, "kind merges\nkernel 2\n");
    if (result != NULL) {
        memcpy(s->result, result, s->kind->size);
        memset(s->done, 1, CASES);
    }
}

static void unmake(struct gate_state *s) {
    free(s->result);
    gate_state_free(s);
}

/* The sum as the file has it, worked out here once more. */
static void repair(unsigned char *bytes, size_t n) {
    const size_t body = 48;
    uint64_t sum = n - body;
    for (size_t i = body; i < n; i += sizeof sum) {
        uint64_t word = 0;
        memcpy(&word, bytes + i, n - i < sizeof word ? n - i : sizeof word);
        sum = (sum ^ word) * UINT64_C(0x9E3779B97F4A7C15);
        sum ^= sum >> 32;
    }
    memcpy(bytes + 40, &sum, sizeof sum);
}

static void merging_11_what_was_written_is_read(void **unused) {
    struct gate_state s, back;
    char why[GATE_IDENTITY];
    size_t n;
    (void)unused;
    make(&s, &whole);
    make(&back, NULL);
    unsigned char *bytes = gate_state_write(&s, &n);
    assert_int_equal(gate_state_read(&back, bytes, n, why), GATE_STATE_READ);
    assert_memory_equal(back.result, s.result, s.kind->size);
    assert_memory_equal(back.done, s.done, CASES);
    free(bytes);
    unmake(&s);
    unmake(&back);
}

/* A file has no logs: what stands for them there is no pointer. */
static void merging_11_no_pointer_is_read(void **unused) {
    struct merge_result *r = malloc(sizeof *r);
    struct gate_entry entry = {.index = 0};
    (void)unused;
    assert_non_null(r);
    *r = whole;
    r->each = r->usual = (struct gate_log){&entry, 1, 1};
    assert_true(merge_kind.is_sane(r, CASES));
    assert_true(r->each.entry == NULL && r->each.n == 0);
    assert_true(r->usual.entry == NULL && r->usual.n == 0);
    free(r);
}

/* What a report prints of it. */
static void check_read(const struct merge_result *r) {
    assert_true(r->cases >= 0 && r->cases <= CASES && merge_wrong_cases(r) >= 0);
    for (int i = GATE_RIGHT + 1; i < MERGE_VERDICTS; i++) {
        if (r->verdicts[i] > 0) {
            char line[MERGE_LINE];
            assert_int_equal(r->found[i].finding.verdict, i);
            assert_in_range(r->found[i].recipe.values, 0, MERGE_VALUES - 1);
            merge_recipe_print(&r->found[i].recipe, line);
            assert_true(merge_likeliest(r, i) < merge_mistakes());
        }
    }
}

/* Numbers that are out of their ranges, under a right sum. */
static void merging_11_no_impossible_number_is_read(void **unused) {
    static const int extremes[] = {INT_MIN, -1, INT_MAX, -240};
    struct gate_state s, back;
    char why[GATE_IDENTITY];
    size_t n, from = 48 + sizeof s.identity;
    int refused = 0;
    (void)unused;
    make(&s, &whole);
    make(&back, NULL);
    unsigned char *bytes = gate_state_write(&s, &n);
    for (size_t at = from, i = 0; at + sizeof(int) <= n; at += 7 * sizeof(int), i++) {
        int was;
        memcpy(&was, bytes + at, sizeof was);
        memcpy(bytes + at, &extremes[i % 4], sizeof was);
        repair(bytes, n);
        if (gate_state_read(&back, bytes, n, why) == GATE_STATE_READ) {
            check_read(back.result);
        } else {
            refused++;
        }
        memcpy(bytes + at, &was, sizeof was);
    }
    assert_true(refused > 100);
    free(bytes);
    unmake(&s);
    unmake(&back);
}

/* What each check of kind.c is for. */
static void merging_11_each_count_adds_up(void **unused) {
    struct merge_result *r = malloc(sizeof *r);
    (void)unused;
    assert_non_null(r);
    int verdict = GATE_RIGHT + 1, values = 0;
    while (whole.verdicts[verdict] == 0) {
        verdict++;
    }
    while (whole.tally[values].wrong == 0) {
        values++;
    }
    struct merge_tally *t = &r->tally[values];
    struct merge_found *found = &r->found[verdict];
#define INSANE(CHANGE)                                                                             \
    *r = whole;                                                                                    \
    assert_true(merge_kind.is_sane(r, CASES));                                                     \
    (CHANGE);                                                                                      \
    assert_false(merge_kind.is_sane(r, CASES))
    INSANE(r->cases++);
    INSANE(r->refused = 1);
    INSANE(r->refused = -1);
    INSANE(r->runs = -1);
    INSANE(r->laws = -1);
    INSANE(r->unjudged = CASES + 1);
    INSANE(r->verdicts[verdict] = 0);
    INSANE(r->sizes.n_rows = -1);
    INSANE(r->seconds = -1.0);
    INSANE(r->seconds = INFINITY);
    INSANE(memset(r->refusal, 'x', sizeof r->refusal));
    INSANE(r->explained[verdict][0] = CASES + 1);
    INSANE(r->explained[verdict][merge_mistakes()] = 1);
    INSANE(t->cases++);
    INSANE(t->wrong++);
    INSANE(t->compared = -1);
    INSANE(t->unclaimed = -1);
    INSANE(t->compared = LLONG_MAX / 2);
    INSANE(t->unclaimed = LLONG_MAX / 10);
    INSANE(t->largest = NAN);
    INSANE(t->seconds = -1.0);
    INSANE((t->verdicts[GATE_RIGHT]++, t->verdicts[t->smallest.finding.verdict]--, t->wrong--));
    INSANE(t->smallest.finding.verdict = GATE_HANGS);
    INSANE(found->finding.verdict = GATE_HANGS);
    INSANE(found->finding.verdict = MERGE_VERDICTS);
    INSANE(found->finding.of.verdict = GATE_VERDICTS);
    INSANE(found->finding.of.clause[0] = '\033');
    INSANE(memset(found->finding.of.text, 'x', sizeof found->finding.of.text));
    INSANE(found->finding.n_pairs = MERGE_PAIRS + 1);
    INSANE(found->finding.mistakes = 1ULL << 63);
    INSANE(found->index = CASES);
    INSANE(found->work = -1);
    INSANE(found->needs_others = 1);
    INSANE(found->has_before = 1);
    INSANE(found->file[0] = 'x');
    INSANE(found->recipe.values = MERGE_VALUES);
    INSANE(found->recipe.n_parts = CP_MERGE_MOST_PARTS + 1);
    INSANE(found->recipe.n_rows = 0);
    INSANE(found->recipe.n_heads = 0);
    INSANE(found->recipe.head_dim = MERGE_MOST_DIM + 1);
    INSANE(found->recipe.o = CP_O_ORDER_ANY);
    INSANE(found->recipe.l = CP_L_ORDER_ROW_PART + 1);
    INSANE(found->recipe.lse = -1);
    INSANE(found->recipe.empties = 2);
    INSANE(found->recipe.gaps = 2);
    INSANE(found->recipe.asks_lse = 2);
    INSANE(found->recipe.renewed = 2);
#undef INSANE
    free(r);
}

int main(int argc, char **argv) {
    run_if_kernel(argc, argv);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(merging_11_a_run_goes_on_where_it_was_ended), /* fills `whole` */
        cmocka_unit_test(merging_11_what_was_written_is_read),
        cmocka_unit_test(merging_11_no_pointer_is_read),
        cmocka_unit_test(merging_11_no_impossible_number_is_read),
        cmocka_unit_test(merging_11_each_count_adds_up),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
