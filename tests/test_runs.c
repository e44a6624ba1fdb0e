/* SPDX-License-Identifier: Apache-2.0 */
/* Plans of runs, clause by clause (spec/runs.md): the chapter's example; random prompts of modules,
 * where each key that a row sees shows in a column of its own; and plans of trees. The check of
 * plans is the matter of test_runs_check.c. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "chunkproof/chunkproof.h"
#include "tests/attend_case.h"
#include "tests/random.h"
#include "tests/runs_case.h"

/* One head, FP64, in a workspace of just the size that was asked for, and nothing in it. */
static void attend(struct cp_attention *a, int variant) {
    a->n_heads = a->n_kv_heads = 1;
    a->scale = 1.0;
    a->stamp = a->plan->stamp;
    a->q_type = a->k_type = a->v_type = a->out_type = CP_FP64;
    a->variant = variant;
    a->workspace_size = cp_attend_workspace(a);
    a->workspace = malloc(a->workspace_size);
    assert_non_null(a->workspace);
    memset(a->workspace, 0xFF, a->workspace_size);
    assert_int_equal(cp_attend(a), CP_OK);
    free(a->workspace);
}

/* ---- The example of the chapter ---- */

#define EXAMPLE_SEQUENCES 3
#define EXAMPLE_NUMBERS   24 /* slots of the pool: six chunks of four */

static void add_runs(struct cp_plan_sequence *sequence, int n_shared, int n_runs,
                     const struct cp_run *run) {
    sequence->n_tokens = 0;
    sequence->n_shared = n_shared;
    sequence->n_chunks = n_runs;
    for (int k = 0; k < n_runs; k++) {
        sequence->run[k] = run[k];
        sequence->n_tokens += run[k].n_tokens;
    }
}

static struct cp_plan *example_new(void) {
    const int served[] = {0, 1, 0, 2};
    const struct cp_shared_chunk shared[] = {{0, 0, 2, 4, 0}, {1, 0, 2, 2, 4}, {2, 2, 4, 4, 6}};
    const struct cp_run run0[] = {{0, 4, 0}, {1, 2, 4}, {2, 4, 6}, {3, 2, 10}},
                        run1[] = {{0, 4, 0}, {1, 2, 4}, {4, 3, 10}},
                        run2[] = {{2, 4, 6}, {5, 1, 10}};
    struct cp_plan *plan;
    assert_int_equal(cp_plan_new(&plan), CP_OK);
    plan->capacity = 6;
    plan->chunk_size = 4;
    plan->n_sequences = EXAMPLE_SEQUENCES;
    plan->n_shared = 3;
    plan->n_served = 4;
    memcpy(plan->served, served, sizeof served);
    memcpy(plan->shared, shared, sizeof shared);
    add_runs(&plan->sequence[0], 3, 4, run0);
    add_runs(&plan->sequence[1], 2, 3, run1);
    add_runs(&plan->sequence[2], 1, 2, run2);
    return plan;
}

/* RUNS-4: the value of a token is its position, all scores are 0, and padding is NaN. */
static void the_example_has_the_means_of_the_chapter(void **unused) {
    (void)unused;
    struct cp_plan *plan = example_new();
    double q[EXAMPLE_SEQUENCES] = {0}, k[EXAMPLE_NUMBERS], v[EXAMPLE_NUMBERS];
    const int position[EXAMPLE_SEQUENCES] = {11, 12, 10};
    for (int i = 0; i < EXAMPLE_NUMBERS; i++) {
        k[i] = v[i] = NAN;
    }
    for (int s = 0; s < EXAMPLE_SEQUENCES; s++) {
        for (int i = 0; i < plan->sequence[s].n_chunks; i++) {
            struct cp_run run = plan->sequence[s].run[i];
            for (int slot = 0; slot < run.n_tokens; slot++) {
                k[run.chunk * 4 + slot] = 1.0;
                v[run.chunk * 4 + slot] = run.position + slot;
            }
        }
    }
    assert_null(cp_plan_check_runs(plan));
    for (int variant = CP_BUFFERED; variant <= CP_MERGE_AT_ONCE; variant++) {
        double out[EXAMPLE_SEQUENCES] = {NAN, NAN, NAN};
        struct cp_attention a = {.plan = plan,
                                 .head_dim = 1,
                                 .value_dim = 1,
                                 .v_row = 1,
                                 .position = position,
                                 .q = q,
                                 .k = k,
                                 .v = v,
                                 .out = out};
        attend(&a, variant);
        assert_true(out[0] == 66.0 / 12 && out[1] == 48.0 / 9 && out[2] == 40.0 / 5);
    }
    cp_plan_free(plan);
}

/* RUNS-3: what stands behind the runs of a sequence is none of them, though it fits. */
static void shared_runs_are_among_the_runs(void **unused) {
    (void)unused;
    struct cp_plan *plan = example_new();
    assert_null(cp_plan_check_runs(plan));
    plan->sequence[1].n_chunks = plan->sequence[1].n_shared - 1;
    plan->sequence[1].n_tokens = 4;
    assert_string_equal(cp_plan_check_runs(plan), "RUNS-3");
    cp_plan_free(plan);
}

/* ---- Prompts of modules ---- */

static void expect_row(const struct prompts *p, int s, int row, const double *out, double lse) {
    assert_true(lse == prompts_lse(p, s, row));
    for (int j = 0; j < RUNS_POSITIONS; j++) {
        assert_true(out[j] == prompts_output(p, s, row, j));
    }
}

static int steps_between_lists(const struct cp_plan *plan) {
    int n = 0;
    for (int i = 0; i < plan->n_shared; i++) {
        for (int at = plan->shared[i].begin + 1; at < plan->shared[i].end; at++) {
            n += plan->served[at] != plan->served[at - 1] + 1;
        }
    }
    return n;
}

/* RUNS-5: all scores are 0, so that weights are exact. Column j of a row is 1 / count when the row
 * sees the token at position j once, and 0 when it does not see it. */
static void rows_see_their_tokens_once(void **unused) {
    (void)unused;
    static struct prompts p;
    static double k[RUNS_CAPACITY * RUNS_CHUNK_SIZE * RUNS_POSITIONS],
        v[RUNS_CAPACITY * RUNS_CHUNK_SIZE * RUNS_POSITIONS];
    static double q[RUNS_SEQUENCES * 3 * RUNS_POSITIONS], out[RUNS_SEQUENCES * 3][RUNS_POSITIONS],
        lse[RUNS_SEQUENCES * 3];
    int shared = 0, not_contiguous = 0;
    prompts_new(&p);
    for (unsigned long long seed = 1; seed <= 2000; seed++) {
        prompts_make(&p, seed);
        assert_null(cp_plan_check_runs(p.plan));
        prompts_fill(p.plan, k, v);
        for (int variant = CP_BUFFERED; variant <= CP_MERGE_AT_ONCE; variant++) {
            struct cp_attention a = {.plan = p.plan,
                                     .head_dim = RUNS_POSITIONS,
                                     .value_dim = RUNS_POSITIONS,
                                     .v_row = RUNS_POSITIONS,
                                     .query_begin = p.rows,
                                     .position = p.position,
                                     .q = q,
                                     .k = k,
                                     .v = v,
                                     .out = out,
                                     .lse = lse};
            memset(out, 0xFF, sizeof out);
            memset(lse, 0xFF, sizeof lse);
            attend(&a, variant);
            for (int s = 0; s < p.plan->n_sequences; s++) {
                for (int row = p.rows[s]; row < p.rows[s + 1]; row++) {
                    expect_row(&p, s, row, out[row], lse[row]);
                }
            }
        }
        shared += p.plan->n_shared > 0;
        not_contiguous += steps_between_lists(p.plan);
    }
    assert_true(shared > 500 && not_contiguous > 500);
    prompts_free(&p);
}

/* ---- Plans of trees ---- */

/* A sequence may join, leave, or get a token more. */
static void change_tree(struct cp_tree *tree, unsigned long long *random) {
    int token[12], n = random_below(random, 12), at = random_below(random, tree->n_sequences + 1);
    struct cp_joined joined;
    for (int k = 0; k < n; k++) {
        token[k] = random_below(random, 2);
    }
    if (at == tree->n_sequences || random_below(random, 3) == 0) {
        assert_int_equal(cp_tree_join(tree, token, n, 0, 0, NULL, &joined), CP_OK);
    } else if (random_below(random, 4) == 0) {
        assert_int_equal(cp_tree_leave(tree, at), CP_OK);
    } else {
        assert_int_equal(cp_tree_append(tree, at, random_below(random, 2)), CP_OK);
    }
}

/* RUNS-6 */
static void a_plan_of_a_tree_is_one_of_runs(void **unused) {
    (void)unused;
    unsigned long long random = 6;
    int shared = 0;
    for (int chunk_size = 1; chunk_size <= 5; chunk_size++) {
        struct cp_tree *tree;
        struct cp_plan *plan;
        assert_int_equal(cp_tree_new(&tree, 4096, chunk_size, 0), CP_OK);
        assert_int_equal(cp_plan_new(&plan), CP_OK);
        assert_null(cp_plan_check_runs(plan));
        for (int i = 0; i < 100; i++) {
            change_tree(tree, &random);
            (void)cp_plan_update(plan, tree);
            assert_null(cp_plan_check(plan));
            assert_null(cp_plan_check_runs(plan));
            shared += plan->n_shared;
        }
        cp_plan_free(plan);
        cp_tree_free(tree);
    }
    assert_true(shared > 500);
}

/* With the rows where PREFILL-1 says, in memory that the caller frees. */
static int *positions_of(const struct attend_case *c) {
    int *position = malloc(((size_t)c->n_rows + 1) * sizeof *position);
    assert_non_null(position);
    for (int row = 0; row < c->n_rows; row++) {
        int s = case_sequence_of(c, row);
        int end = c->attention.query_begin == NULL ? s + 1 : c->attention.query_begin[s + 1];
        position[row] = c->plan->sequence[s].n_tokens - end + row;
    }
    return position;
}

/* In memory that the caller frees. */
static void *copy_of(const void *from, size_t n) {
    void *to = malloc(n + 1);
    if (to == NULL) {
        abort();
    }
    memcpy(to, from, n);
    return to;
}

/* RUNS-4, RUNS-6: the runs of a path give the same bits, whether the caller says where its rows
 * stand or PREFILL-1 does. */
static void a_tree_gives_the_same_bits(void **unused) {
    (void)unused;
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
                              .query_mode = (int)(seed % CASE_OWN)};
        case_make(&c, &shape, seed);
        assert_null(cp_plan_check_runs(c.plan));
        int *position = positions_of(&c);
        for (int variant = CP_BUFFERED; variant <= CP_MERGE_AT_ONCE; variant++) {
            c.attention.position = NULL;
            assert_int_equal(case_run(&c, variant), CP_OK);
            double *out = copy_of(c.attention.out, case_out_bytes(&c));
            double *lse = copy_of(c.attention.lse, case_lse_bytes(&c));
            c.attention.position = position;
            assert_int_equal(case_run(&c, variant), CP_OK);
            assert_memory_equal(out, c.attention.out, case_out_bytes(&c));
            assert_memory_equal(lse, c.attention.lse, case_lse_bytes(&c));
            free(out);
            free(lse);
        }
        free(position);
        case_free(&c);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_example_has_the_means_of_the_chapter),
        cmocka_unit_test(shared_runs_are_among_the_runs),
        cmocka_unit_test(rows_see_their_tokens_once),
        cmocka_unit_test(a_plan_of_a_tree_is_one_of_runs),
        cmocka_unit_test(a_tree_gives_the_same_bits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
