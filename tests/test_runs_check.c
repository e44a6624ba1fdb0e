/* SPDX-License-Identifier: Apache-2.0 */
/* The check of plans of runs, cp_plan_check_runs(), against RUNS-1 to RUNS-3 said in another way:
 * plans of random prompts with numbers changed, by a little or wildly, and a plan that is as large
 * as a plan may be. */
#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/path_runs.h"
#include "tests/random.h"
#include "tests/runs_case.h"

/* ---- The clauses in another way ---- */

static int has_sizes(const struct cp_plan *plan) {
    const int size[][3] = {{plan->capacity, 1, CP_MAX_CHUNKS},
                           {plan->chunk_size, 1, CP_MAX_CHUNK_SIZE},
                           {plan->n_sequences, 0, CP_MAX_SEQUENCES},
                           {plan->n_shared, 0, CP_MAX_CHUNKS},
                           {plan->n_served, 0, CP_MAX_SERVED}};
    int n = 0;
    for (int i = 0; i < 5; i++) {
        n += size[i][1] <= size[i][0] && size[i][0] <= size[i][2];
    }
    return n == 5;
}

static int compare(const void *one, const void *other) {
    long long x = *(const long long *)one, y = *(const long long *)other;
    return (x > y) - (x < y);
}

/* RUNS-1, by the positions of all tokens in rising order. */
static int has_each_position_once(const struct cp_plan *plan, int s) {
    static long long token[CP_MAX_DEPTH * CP_MAX_CHUNK_SIZE];
    const struct cp_plan_sequence *sequence = &plan->sequence[s];
    int n = 0;
    if (sequence->n_chunks < 0 || sequence->n_chunks > CP_MAX_DEPTH) {
        return 0;
    }
    for (int k = 0; k < sequence->n_chunks; k++) {
        struct cp_run run = sequence->run[k];
        if (run.chunk < 0 || run.chunk >= plan->capacity || run.n_tokens < 1 ||
            run.n_tokens > plan->chunk_size || run.position < 0) {
            return 0;
        }
        for (int slot = 0; slot < run.n_tokens; slot++) {
            token[n++] = (long long)run.position + slot;
        }
    }
    qsort(token, (size_t)n, sizeof *token, compare);
    for (int i = 1; i < n; i++) {
        if (token[i] == token[i - 1]) {
            return 0;
        }
    }
    return n == sequence->n_tokens && (n == 0 || token[n - 1] < INT_MAX); /* one more is an int */
}

/* RUNS-2, by pairs. */
static int serves_two_sequences_once(const struct cp_plan *plan, int i) {
    const struct cp_shared_chunk *shared = &plan->shared[i];
    if (shared->begin < 0 || (long long)shared->end - shared->begin < 2 ||
        shared->end > plan->n_served) {
        return 0;
    }
    for (int x = shared->begin; x < shared->end; x++) {
        for (int y = shared->begin; y < x; y++) {
            if (plan->served[x] == plan->served[y]) {
                return 0;
            }
        }
        if (plan->served[x] < 0 || plan->served[x] >= plan->n_sequences) {
            return 0;
        }
    }
    return 1;
}

/* RUNS-3: the list that the descriptors give to s is the beginning of its runs. */
static int is_given_its_runs(const struct cp_plan *plan, int s) {
    const struct cp_plan_sequence *sequence = &plan->sequence[s];
    struct cp_run given[64] = {{0, 0, 0}};
    int n = 0;
    for (int i = 0; i < plan->n_shared; i++) {
        for (int at = plan->shared[i].begin; at < plan->shared[i].end; at++) {
            if (plan->served[at] == s) {
                assert_true(n < 64);
                given[n++] = (struct cp_run){plan->shared[i].chunk, plan->shared[i].n_tokens,
                                             plan->shared[i].position};
            }
        }
    }
    return n == sequence->n_shared && n <= sequence->n_chunks &&
           memcmp(given, sequence->run, (size_t)n * sizeof given[0]) == 0;
}

static const char *first_broken(const struct cp_plan *plan) {
    if (!has_sizes(plan)) {
        return "RUNS-1";
    }
    for (int s = 0; s < plan->n_sequences; s++) {
        if (!has_each_position_once(plan, s)) {
            return "RUNS-1";
        }
    }
    for (int i = 0; i < plan->n_shared; i++) {
        if (!serves_two_sequences_once(plan, i)) {
            return "RUNS-2";
        }
    }
    for (int s = 0; s < plan->n_sequences; s++) {
        if (!is_given_its_runs(plan, s)) {
            return "RUNS-3";
        }
    }
    return "valid";
}

/* ---- Changed plans ---- */

/* 0 .. n, or anything that is there when n is no number of things. */
static int among(struct prompts *p, int n, int most) {
    return random_below(&p->random, n >= 0 && n < most ? n + 1 : most);
}

/* A number of the plan, in use or just behind what is. */
static int *any_number(struct prompts *p) {
    struct cp_plan *plan = p->plan;
    struct cp_plan_sequence *sequence =
        &plan->sequence[among(p, plan->n_sequences, RUNS_SEQUENCES)];
    struct cp_shared_chunk *shared = &plan->shared[among(p, plan->n_shared, 32)];
    struct cp_run *run = &sequence->run[among(p, sequence->n_chunks, 32)];
    int *number[] = {&run->chunk,         &run->n_tokens,
                     &run->position,      &shared->chunk,
                     &shared->begin,      &shared->end,
                     &shared->n_tokens,   &shared->position,
                     &sequence->n_shared, &plan->served[among(p, plan->n_served, 32)],
                     &sequence->n_tokens, &sequence->n_chunks,
                     &plan->capacity,     &plan->chunk_size,
                     &plan->n_sequences,  &plan->n_shared,
                     &plan->n_served};
    return number[random_below(&p->random, sizeof number / sizeof *number)];
}

static int a_little_more(struct prompts *p, int number) {
    const int change[] = {-2, -1, 1, 2};
    int by = change[random_below(&p->random, 4)];
    return (by < 0 && number < INT_MIN + 2) || (by > 0 && number > INT_MAX - 2) ? 0 : number + by;
}

static int a_wild_number(struct prompts *p) {
    const int wild[] = {INT_MIN,
                        INT_MIN + 1,
                        -1,
                        0,
                        1,
                        CP_MAX_CHUNK_SIZE,
                        CP_MAX_DEPTH,
                        CP_MAX_SEQUENCES,
                        CP_MAX_CHUNKS,
                        CP_MAX_SERVED,
                        INT_MAX - random_below(&p->random, 10),
                        INT_MAX,
                        random_below(&p->random, INT_MAX) * (1 - 2 * random_below(&p->random, 2))};
    int number = wild[random_below(&p->random, sizeof wild / sizeof *wild)];
    return number < INT_MAX && random_below(&p->random, 4) == 0 ? number + 1 : number;
}

/* Half of the time, gives each sequence the length of its runs, as these are now: else a run of a
 * wrong length shows in that of its sequence. */
static void count_tokens(struct prompts *p) {
    int n_counted = random_below(&p->random, 2) * RUNS_SEQUENCES;
    for (int s = 0; s < n_counted; s++) {
        struct cp_plan_sequence *sequence = &p->plan->sequence[s];
        long long n = 0;
        for (int k = 0; k < sequence->n_chunks && k < CP_MAX_DEPTH; k++) {
            n += sequence->run[k].n_tokens;
        }
        sequence->n_tokens = n > INT_MIN && n < INT_MAX ? (int)n : -1;
    }
}

/* How often the check says that a plan is valid (0), or breaks RUNS-1 to RUNS-3. */
struct said {
    int times[4];
};

static void check_plan(const struct cp_plan *plan, struct said *said) {
    const char *clause = cp_plan_check_runs(plan);
    assert_string_equal(clause == NULL ? "valid" : clause, first_broken(plan));
    said->times[clause == NULL ? 0 : clause[5] - '0']++;
}

static void expect_each(const struct said *said) {
    for (int i = 0; i < 4; i++) {
        assert_true(said->times[i] > 200);
    }
}

/* RUNS-1 to RUNS-3 */
static void the_check_says_which_clause_is_broken(void **unused) {
    (void)unused;
    static struct prompts p;
    struct said said = {{0}};
    prompts_new(&p);
    for (unsigned long long seed = 1; seed <= 20000; seed++) {
        prompts_make(&p, seed);
        int *number = any_number(&p);
        *number = a_little_more(&p, *number);
        count_tokens(&p);
        check_plan(p.plan, &said);
    }
    expect_each(&said);
    prompts_free(&p);
}

/* RUNS-1 to RUNS-3: one number is anything, and up to three others are off. */
static void any_content_is_checked(void **unused) {
    (void)unused;
    static struct prompts p;
    struct said said = {{0}};
    prompts_new(&p);
    for (unsigned long long seed = 1; seed <= 20000; seed++) {
        prompts_make(&p, seed);
        *any_number(&p) = a_wild_number(&p);
        for (int more = random_below(&p.random, 4); more > 0; more--) {
            int *number = any_number(&p);
            *number = more == 3 ? a_wild_number(&p) : a_little_more(&p, *number);
        }
        count_tokens(&p);
        check_plan(p.plan, &said);
    }
    expect_each(&said);
    prompts_free(&p);
}

/* ---- The largest plan ---- */

/* Pairs of sequences that have all their runs in common: as many descriptors as there are chunks.
 * These are the last sequences, the others are empty; and their lists are the last of `served`. */
#define PAIRS (CP_MAX_CHUNKS / CP_MAX_DEPTH)

static void fill_pair(struct cp_plan *plan, int pair) {
    int s = CP_MAX_SEQUENCES - 2 * PAIRS + 2 * pair, begin = CP_MAX_SERVED - 2 * PAIRS + 2 * pair;
    for (int more = 0; more < 2; more++) {
        plan->served[begin + more] = s + more;
        plan->sequence[s + more].n_chunks = plan->sequence[s + more].n_shared = CP_MAX_DEPTH;
        plan->sequence[s + more].n_tokens = CP_MAX_DEPTH * CP_MAX_CHUNK_SIZE;
    }
    for (int k = 0; k < CP_MAX_DEPTH; k++) {
        int chunk = pair * CP_MAX_DEPTH + k, position = k * CP_MAX_CHUNK_SIZE;
        plan->shared[chunk] =
            (struct cp_shared_chunk){chunk, begin, begin + 2, CP_MAX_CHUNK_SIZE, position};
        for (int more = 0; more < 2; more++) {
            plan->sequence[s + more].run[k] = (struct cp_run){chunk, CP_MAX_CHUNK_SIZE, position};
        }
    }
}

/* Sets a number of a valid plan, and sets it back. */
static void expect_with(const struct cp_plan *plan, int *number, int value, const char *clause) {
    int before = *number;
    *number = value;
    assert_string_equal(cp_plan_check_runs(plan), clause);
    *number = before;
}

/* RUNS-1 to RUNS-3: a plan may be as large as limits.h says, and no larger. */
static void the_largest_plan_is_valid(void **unused) {
    (void)unused;
    struct cp_plan *plan;
    assert_int_equal(cp_plan_new(&plan), CP_OK);
    plan->capacity = plan->n_shared = CP_MAX_CHUNKS;
    plan->chunk_size = CP_MAX_CHUNK_SIZE;
    plan->n_sequences = CP_MAX_SEQUENCES;
    plan->n_served = CP_MAX_SERVED;
    for (int pair = 0; pair < PAIRS; pair++) {
        fill_pair(plan, pair);
    }
    assert_null(cp_plan_check_runs(plan));
    struct cp_plan_sequence *last = &plan->sequence[CP_MAX_SEQUENCES - 1];
    struct cp_run *run = &last->run[CP_MAX_DEPTH - 1];
    struct cp_shared_chunk *shared = &plan->shared[CP_MAX_CHUNKS - 1];
    expect_with(plan, &plan->capacity, CP_MAX_CHUNKS + 1, "RUNS-1");
    expect_with(plan, &plan->chunk_size, CP_MAX_CHUNK_SIZE + 1, "RUNS-1");
    expect_with(plan, &plan->n_sequences, CP_MAX_SEQUENCES + 1, "RUNS-1");
    expect_with(plan, &plan->n_shared, CP_MAX_CHUNKS + 1, "RUNS-1");
    expect_with(plan, &plan->n_served, CP_MAX_SERVED + 1, "RUNS-1");
    expect_with(plan, &last->n_chunks, CP_MAX_DEPTH + 1, "RUNS-1");
    expect_with(plan, &last->n_tokens, last->n_tokens + 1, "RUNS-1");
    expect_with(plan, &run->chunk, CP_MAX_CHUNKS, "RUNS-1");
    expect_with(plan, &run->position, run->position - 1, "RUNS-1");
    expect_with(plan, &run->position, run->position + 1, "RUNS-3");
    expect_with(plan, &shared->end, CP_MAX_SERVED + 1, "RUNS-2");
    expect_with(plan, &plan->served[CP_MAX_SERVED - 1], CP_MAX_SEQUENCES, "RUNS-2");
    expect_with(plan, &last->n_shared, CP_MAX_DEPTH - 1, "RUNS-3");
    expect_with(plan, &last->n_shared, CP_MAX_DEPTH + 1, "RUNS-3");
    assert_null(cp_plan_check_runs(plan));
    cp_plan_free(plan);
}

/* RUNS-6: the counterexample. A valid plan whose ranges do not nest is no tree's, and none of runs:
 * PLAN-4 lists the descriptor at depth 1 before the second one at depth 0. */
static void ranges_that_do_not_nest_are_no_plan_of_runs(void **unused) {
    (void)unused;
    static const struct cp_shared_chunk shared[] = {
        {0, 0, 2, 2, 0}, {2, 1, 3, 2, 2}, {1, 2, 4, 2, 0}};
    static const int path[4][2] = {{0, 0}, {0, 2}, {1, 2}, {1, 1}}, depth[4] = {1, 2, 2, 1};
    struct cp_plan *plan;
    assert_int_equal(cp_plan_new(&plan), CP_OK);
    plan->capacity = 3;
    plan->chunk_size = 2;
    list_sequences(plan, 4);
    plan->n_shared = 3;
    memcpy(plan->shared, shared, sizeof shared);
    for (int s = 0; s < 4; s++) {
        struct cp_plan_sequence *list = &plan->sequence[s];
        list->n_chunks = list->n_shared = depth[s];
        list->n_tokens = 2 * depth[s];
        for (int k = 0; k < depth[s]; k++) {
            list->run[k] = (struct cp_run){path[s][k], 2, 2 * k};
        }
    }
    assert_null(cp_plan_check(plan));
    assert_string_equal(cp_plan_check_runs(plan), "RUNS-3");
    cp_plan_free(plan);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ranges_that_do_not_nest_are_no_plan_of_runs),
        cmocka_unit_test(the_check_says_which_clause_is_broken),
        cmocka_unit_test(any_content_is_checked),
        cmocka_unit_test(the_largest_plan_is_valid),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
