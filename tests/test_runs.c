/* SPDX-License-Identifier: Apache-2.0 */
/* Plans of runs, clause by clause (spec/runs.md): the chapter's example; random prompts of modules,
 * where each key that a row sees shows in a column of its own; plans of trees, bit for bit as
 * cp_attend(); and the check against the clauses said in another way. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "chunkproof/attend.h"
#include "tests/attend_case.h"
#include "tests/random.h"
#include "tests/runs_case.h"

/* ---- The example of the chapter ---- */

static const struct run_plan example = {
    .capacity = 6,
    .chunk_size = 4,
    .n_sequences = 3,
    .n_shared = 3,
    .n_served = 4,
    .served = {0, 1, 0, 2},
    .shared = {{0, 0, 2, 4, 0}, {1, 0, 2, 2, 4}, {2, 2, 4, 4, 6}},
    .sequence = {{4, 3, {{0, 4, 0}, {1, 2, 4}, {2, 4, 6}, {3, 2, 10}}},
                 {3, 2, {{0, 4, 0}, {1, 2, 4}, {4, 3, 10}}},
                 {2, 1, {{2, 4, 6}, {5, 1, 10}}}},
};

/* RUNS-4: the value of a token is its position, all scores are 0, and padding is NaN. */
static void the_example_has_the_means_of_the_chapter(void **unused) {
    (void)unused;
    double q[3] = {0}, k[24], v[24], out[3];
    const int position[3] = {11, 12, 10};
    for (int i = 0; i < 24; i++) {
        k[i] = v[i] = NAN;
    }
    for (int s = 0; s < 3; s++) {
        for (int i = 0; i < example.sequence[s].n_runs; i++) {
            struct cp_run run = example.sequence[s].run[i];
            for (int slot = 0; slot < run.n_tokens; slot++) {
                k[run.chunk * 4 + slot] = 1.0;
                v[run.chunk * 4 + slot] = run.position + slot;
            }
        }
    }
    assert_null(runs_check(&example));
    for (int variant = CP_BUFFERED; variant <= CP_MERGE_AT_ONCE; variant++) {
        struct cp_attention a = {.n_heads = 1,
                                 .n_kv_heads = 1,
                                 .head_dim = 1,
                                 .scale = 1.0,
                                 .q_type = CP_FP64,
                                 .kv_type = CP_FP64,
                                 .out_type = CP_FP64,
                                 .q = q,
                                 .k = k,
                                 .v = v,
                                 .out = out,
                                 .variant = variant};
        runs_attend(&example, &a, position);
        assert_true(out[0] == 66.0 / 12 && out[1] == 48.0 / 9 && out[2] == 40.0 / 5);
    }
}

static void expect_row(const struct run_sequence *sequence, int position, const double *out,
                       double lse) {
    int count = prompts_tokens_up_to(sequence, position);
    assert_true(lse == (count == 0 ? -INFINITY : log((double)count)));
    for (int j = 0; j < RUNS_POSITIONS; j++) {
        int is_seen = j <= position && prompts_has_token(sequence, j);
        assert_true(out[j] == (is_seen ? 1.0 / count : 0.0));
    }
}

/* RUNS-5: all scores are 0, so that weights are exact. Column j of a row is 1 / count when the row
 * sees the token at position j once, and 0 when it does not see it. */
static void rows_see_their_tokens_once(void **unused) {
    (void)unused;
    static struct prompts p;
    double *k = malloc(sizeof(double) * RUNS_CAPACITY * RUNS_CHUNK_SIZE * RUNS_POSITIONS),
           *v = malloc(sizeof(double) * RUNS_CAPACITY * RUNS_CHUNK_SIZE * RUNS_POSITIONS);
    static double q[RUNS_SEQUENCES * 3 * RUNS_POSITIONS], out[RUNS_SEQUENCES * 3][RUNS_POSITIONS],
        lse[RUNS_SEQUENCES * 3];
    int shared = 0, not_contiguous = 0;
    assert_non_null(k);
    assert_non_null(v);
    for (unsigned long long seed = 1; seed <= 2000; seed++) {
        prompts_make(&p, seed);
        assert_null(runs_check(&p.plan));
        prompts_fill(&p.plan, k, v);
        for (int variant = CP_BUFFERED; variant <= CP_MERGE_AT_ONCE; variant++) {
            struct cp_attention a = {.n_heads = 1,
                                     .n_kv_heads = 1,
                                     .head_dim = RUNS_POSITIONS,
                                     .scale = 1.0,
                                     .query_begin = p.rows,
                                     .q_type = CP_FP64,
                                     .kv_type = CP_FP64,
                                     .out_type = CP_FP64,
                                     .q = q,
                                     .k = k,
                                     .v = v,
                                     .out = out,
                                     .lse = lse,
                                     .variant = variant};
            memset(out, 0xFF, sizeof out);
            runs_attend(&p.plan, &a, p.position);
            for (int s = 0; s < p.plan.n_sequences; s++) {
                for (int row = p.rows[s]; row < p.rows[s + 1]; row++) {
                    expect_row(&p.plan.sequence[s], p.position[row], out[row], lse[row]);
                }
            }
        }
        shared += p.plan.n_shared > 0;
        for (int i = 0; i < p.plan.n_shared; i++) {
            for (int at = p.plan.shared[i].begin + 1; at < p.plan.shared[i].end; at++) {
                not_contiguous += p.plan.served[at] != p.plan.served[at - 1] + 1;
            }
        }
    }
    assert_true(shared > 500 && not_contiguous > 500);
    free(k);
    free(v);
}

/* ---- Plans of trees ---- */

/* RUNS-6 */
static void as_runs(struct run_plan *runs, const struct cp_plan *plan) {
    memset(runs, 0, sizeof *runs);
    runs->capacity = plan->capacity;
    runs->chunk_size = plan->chunk_size;
    runs->n_sequences = plan->n_sequences;
    runs->n_served = plan->n_served;
    runs->n_shared = plan->n_shared;
    memcpy(runs->shared, plan->shared, (size_t)plan->n_shared * sizeof runs->shared[0]);
    for (int s = 0; s < plan->n_sequences; s++) {
        runs->served[s] = plan->served[s];
        runs->sequence[s].n_runs = plan->sequence[s].n_chunks;
        runs->sequence[s].n_shared = plan->sequence[s].n_shared;
        for (int k = 0; k < plan->sequence[s].n_chunks; k++) {
            runs->sequence[s].run[k] = plan->sequence[s].run[k];
        }
    }
}

/* RUNS-4, RUNS-6: with the rows where PREFILL-1 says, the runs of a path give the bits of
 * cp_attend(). */
static void a_tree_gives_the_same_bits(void **unused) {
    (void)unused;
    static struct run_plan runs;
    for (unsigned long long seed = 1; seed <= 300; seed++) {
        struct attend_case c;
        struct shape shape = {.b = 7,
                              .max_depth = 4,
                              .chunk_size = 3,
                              .n_heads = 4,
                              .n_kv_heads = 2,
                              .head_dim = 8,
                              .q_type = CP_FP64,
                              .kv_type = CP_FP64,
                              .out_type = CP_FP64,
                              .query_mode = (int)(seed % CASE_N_QUERY_MODE)};
        case_make(&c, &shape, seed);
        as_runs(&runs, c.plan);
        assert_null(runs_check(&runs));
        int *position = malloc(((size_t)c.n_rows + 1) * sizeof *position);
        double *out = malloc(case_out_bytes(&c) + 1), *lse = malloc(case_lse_bytes(&c) + 1);
        assert_true(position != NULL && out != NULL && lse != NULL);
        for (int row = 0; row < c.n_rows; row++) {
            int s = case_sequence_of(&c, row);
            int end = c.attention.query_begin == NULL ? s + 1 : c.attention.query_begin[s + 1];
            int last = c.plan->sequence[s].n_tokens - end + row; /* PREFILL-1 */
            position[row] = c.position == NULL ? last : c.position[row];
        }
        for (int variant = CP_BUFFERED; variant <= CP_MERGE_AT_ONCE; variant++) {
            assert_int_equal(case_run(&c, variant), CP_OK);
            struct cp_attention a = c.attention;
            a.out = out;
            a.lse = lse;
            runs_attend(&runs, &a, position);
            assert_memory_equal(out, c.attention.out, case_out_bytes(&c));
            assert_memory_equal(lse, c.attention.lse, case_lse_bytes(&c));
        }
        free(position);
        free(out);
        free(lse);
        case_free(&c);
    }
}

/* ---- The check ---- */

/* RUNS-1, by marking positions. */
static int marks_each_position_once(const struct run_plan *plan, int s) {
    static int mark[4096];
    memset(mark, 0, sizeof mark);
    for (int i = 0; i < plan->sequence[s].n_runs; i++) {
        struct cp_run run = plan->sequence[s].run[i];
        if (run.chunk < 0 || run.chunk >= plan->capacity || run.n_tokens < 1 ||
            run.n_tokens > plan->chunk_size || run.position < 0) {
            return 0;
        }
        for (int slot = 0; slot < run.n_tokens; slot++) {
            if (mark[run.position + slot]++) {
                return 0;
            }
        }
    }
    return 1;
}

/* RUNS-2, by pairs. */
static int serves_two_sequences_once(const struct run_plan *plan, int i) {
    const struct cp_shared_chunk *shared = &plan->shared[i];
    if (shared->begin < 0 || shared->end - shared->begin < 2 || shared->end > plan->n_served) {
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
static int is_given_its_runs(const struct run_plan *plan, int s) {
    struct cp_run given[RUNS_SHARED] = {{0, 0, 0}};
    int n = 0;
    for (int i = 0; i < plan->n_shared; i++) {
        for (int at = plan->shared[i].begin; at < plan->shared[i].end; at++) {
            if (plan->served[at] == s) {
                struct cp_run run = {plan->shared[i].chunk, plan->shared[i].n_tokens,
                                     plan->shared[i].position};
                if (n == RUNS_SHARED) {
                    return 0; /* more than a sequence has */
                }
                given[n++] = run;
            }
        }
    }
    return n == plan->sequence[s].n_shared && n <= plan->sequence[s].n_runs &&
           memcmp(given, plan->sequence[s].run, (size_t)n * sizeof given[0]) == 0;
}

static const char *first_broken(const struct run_plan *plan) {
    for (int s = 0; s < plan->n_sequences; s++) {
        if (!marks_each_position_once(plan, s)) {
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

/* Changes one number, but none that says how much there is. */
static void change_a_number(struct prompts *p) {
    struct run_plan *plan = &p->plan;
    struct run_sequence *sequence = &plan->sequence[random_below(&p->random, plan->n_sequences)];
    struct cp_shared_chunk *shared = &plan->shared[random_below(&p->random, plan->n_shared + 1)];
    struct cp_run *run = &sequence->run[random_below(&p->random, sequence->n_runs + 1)];
    int *number[] = {
        &run->chunk,         &run->n_tokens,
        &run->position,      &shared->chunk,
        &shared->begin,      &shared->end,
        &shared->n_tokens,   &shared->position,
        &sequence->n_shared, &plan->served[random_below(&p->random, plan->n_served + 1)]};
    const int change[] = {-2, -1, 1, 2};
    *number[random_below(&p->random, 10)] += change[random_below(&p->random, 4)];
}

/* RUNS-1 to RUNS-3 */
static void the_check_says_which_clause_is_broken(void **unused) {
    (void)unused;
    static struct prompts p;
    int valid = 0, broken[4] = {0};
    for (unsigned long long seed = 1; seed <= 20000; seed++) {
        prompts_make(&p, seed);
        change_a_number(&p);
        const char *clause = runs_check(&p.plan), *expected = first_broken(&p.plan);
        assert_string_equal(clause == NULL ? "valid" : clause, expected);
        valid += clause == NULL;
        broken[clause == NULL ? 0 : clause[5] - '0']++;
    }
    assert_true(valid > 200 && broken[1] > 200 && broken[2] > 200 && broken[3] > 200);
}

/* RUNS-3: what stands behind the runs of a sequence is none of them, though it fits. */
static void shared_runs_are_among_the_runs(void **unused) {
    (void)unused;
    struct run_plan plan = example;
    assert_null(runs_check(&plan));
    plan.sequence[1].n_runs = plan.sequence[1].n_shared - 1;
    assert_string_equal(runs_check(&plan), "RUNS-3");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_example_has_the_means_of_the_chapter),
        cmocka_unit_test(rows_see_their_tokens_once),
        cmocka_unit_test(a_tree_gives_the_same_bits),
        cmocka_unit_test(shared_runs_are_among_the_runs),
        cmocka_unit_test(the_check_says_which_clause_is_broken),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
