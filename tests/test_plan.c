/* SPDX-License-Identifier: Apache-2.0 */
/* The plan, clause by clause (spec/plan.md). test_tiny.c checks the plan of every small tree. */
#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "chunkproof/chunkproof.h"
#include "model.h"
#include "path_runs.h"

struct fixture {
    struct cp_tree *tree;
    struct cp_plan *plan;
};

static void join(struct fixture *f, const char *digits, long long id) {
    int token[64];
    struct cp_joined joined;
    int n = (int)strlen(digits);
    for (int k = 0; k < n; k++) {
        token[k] = digits[k] - '0';
    }
    assert_int_equal(cp_tree_join(f->tree, token, n, 0, id, NULL, &joined), CP_OK);
}

/* Two trees: sequences 0 to 2 share 11, 0 and 1 also 22; sequence 3 is alone. Chunks of 2. */
static int set_up(void **state) {
    static struct fixture f;
    assert_int_equal(cp_tree_new(&f.tree, 32, 2, 0), CP_OK);
    assert_int_equal(cp_plan_new(&f.plan), CP_OK);
    join(&f, "11223", 1);
    join(&f, "1122", 2);
    join(&f, "114", 3);
    join(&f, "5", 4);
    *state = &f;
    return 0;
}

static int tear_down(void **state) {
    struct fixture *f = *state;
    cp_plan_free(f->plan);
    cp_tree_free(f->tree);
    return 0;
}

static void check_shared(const struct cp_plan *plan, int i, int chunk, int begin, int end,
                         int position) {
    assert_int_equal(plan->shared[i].chunk, chunk);
    assert_int_equal(plan->shared[i].begin, begin);
    assert_int_equal(plan->shared[i].end, end);
    assert_int_equal(plan->shared[i].n_tokens, 2);
    assert_int_equal(plan->shared[i].position, position);
}

static void shared_chunks_parents_first(void **state) {
    struct fixture *f = *state;
    join(f, "5566", 5);
    join(f, "5567", 6);
    cp_plan_build(f->plan, f->tree);
    assert_int_equal(f->plan->n_shared, 3);
    check_shared(f->plan, 0, f->tree->sequence[0].chunk[0], 0, 3, 0);
    check_shared(f->plan, 1, f->tree->sequence[0].chunk[1], 0, 2, 2);
    check_shared(f->plan, 2, f->tree->sequence[4].chunk[0], 4, 6, 0);
    assert_null(cp_plan_check(f->plan));
    assert_null(model_compare_plan(f->tree, f->plan));
}

static void sequences_have_the_whole_path(void **state) {
    struct fixture *f = *state;
    const int n_tokens[] = {5, 4, 3, 1};
    const int n_shared[] = {2, 2, 1, 0};
    cp_plan_build(f->plan, f->tree);
    assert_int_equal(f->plan->n_sequences, 4);
    for (int s = 0; s < 4; s++) {
        assert_int_equal(f->plan->sequence[s].n_tokens, n_tokens[s]);
        assert_int_equal(f->plan->sequence[s].n_shared, n_shared[s]);
        assert_int_equal(f->plan->sequence[s].n_chunks, f->tree->sequence[s].n_chunks);
    }
}

/* A new plan is nobody's; join, leave, fork and the append that adds a chunk call for a rebuild,
 * the append that fills a chunk does not (PLAN-6). */
static void rebuilt_only_when_paths_change(void **state) {
    struct fixture *f = *state;
    struct cp_forked forked;
    assert_false(cp_plan_is_current(f->plan, f->tree->stamp));
    assert_int_equal(cp_plan_update(f->plan, f->tree), 1);
    assert_true(cp_plan_is_current(f->plan, f->tree->stamp));
    assert_int_equal(cp_plan_update(f->plan, f->tree), 0);

    assert_int_equal(cp_tree_append(f->tree, 0, 9), CP_OK); /* fills it */
    assert_false(cp_plan_is_current(f->plan, f->tree->stamp));
    assert_int_equal(cp_plan_update(f->plan, f->tree), 0);
    assert_int_equal(f->plan->sequence[0].n_tokens, 6);
    assert_int_equal(f->plan->sequence[0].run[2].n_tokens, 2); /* it had 1 */
    assert_null(model_compare_plan(f->tree, f->plan));
    assert_int_equal(cp_tree_append(f->tree, 0, 9), CP_OK); /* adds one */
    assert_int_equal(cp_plan_update(f->plan, f->tree), 1);

    join(f, "7", 9);
    assert_int_equal(cp_plan_update(f->plan, f->tree), 1);
    assert_int_equal(cp_tree_fork(f->tree, 0, 10, &forked), CP_OK);
    assert_int_equal(cp_plan_update(f->plan, f->tree), 1);
    assert_int_equal(cp_tree_leave(f->tree, 0), CP_OK);
    assert_int_equal(cp_plan_update(f->plan, f->tree), 1);
    assert_null(model_compare_plan(f->tree, f->plan));
}

/* Equal operations on another tree give equal epochs, and still its plan is another one. */
static void a_plan_is_of_one_tree(void **state) {
    struct fixture *f = *state;
    struct cp_tree *other;
    struct cp_joined joined;
    cp_plan_build(f->plan, f->tree);
    unsigned long long epoch = f->tree->stamp.epoch;
    cp_tree_free(f->tree);
    assert_int_equal(cp_tree_new(&other, 32, 2, 0), CP_OK); /* perhaps at the same address */
    while (other->stamp.epoch < epoch) {
        assert_int_equal(cp_tree_join(other, NULL, 0, 0, 1, NULL, &joined), CP_OK);
    }
    assert_false(cp_plan_is_current(f->plan, other->stamp));
    assert_int_equal(cp_plan_update(f->plan, other), 1);
    f->tree = other;
}

static void expect(struct cp_plan *plan, int *field, int value, const char *clause) {
    int old = *field;
    *field = value;
    assert_non_null(cp_plan_check(plan));
    assert_string_equal(cp_plan_check(plan), clause);
    assert_false(cp_plan_is_valid(plan));
    *field = old;
    assert_true(cp_plan_is_valid(plan));
}

static void the_check_names_the_broken_clause(void **state) {
    struct fixture *f = *state;
    cp_plan_build(f->plan, f->tree);
    struct cp_plan *p = f->plan;
    expect(p, &p->chunk_size, 0, "PLAN-1");
    expect(p, &p->capacity, 0, "PLAN-1");
    expect(p, &p->n_sequences, -1, "PLAN-1");
    expect(p, &p->n_served, 3, "PLAN-1");
    expect(p, &p->n_served, 5, "PLAN-1");
    expect(p, &p->served[3], 2, "PLAN-1"); /* served is 0, 1, ..., b - 1 */
    expect(p, &p->n_shared, 33, "PLAN-1");
    expect(p, &p->shared[0].chunk, -1, "PLAN-1");
    expect(p, &p->shared[0].begin, -1, "PLAN-1");
    expect(p, &p->shared[1].end, 1, "PLAN-1");
    expect(p, &p->shared[1].end, 5, "PLAN-1");
    expect(p, &p->shared[1].n_tokens, 1, "PLAN-1");
    expect(p, &p->shared[1].position, 1, "PLAN-1");
    expect(p, &p->shared[1].position, 2 * CP_MAX_DEPTH, "PLAN-1");
    expect(p, &p->sequence[0].n_chunks, -1, "PLAN-2");
    expect(p, &p->sequence[0].n_chunks, CP_MAX_DEPTH + 1, "PLAN-2");
    expect(p, &p->sequence[0].n_shared, -1, "PLAN-2");
    expect(p, &p->sequence[0].n_shared, 4, "PLAN-2");
    expect(p, &p->sequence[0].run[2].chunk, 32, "PLAN-2");
    expect(p, &p->sequence[0].run[2].chunk, -1, "PLAN-2");
    expect(p, &p->sequence[0].run[0].n_tokens, 1, "PLAN-7");
    expect(p, &p->sequence[0].run[2].n_tokens, 2, "PLAN-7");
    expect(p, &p->sequence[0].run[1].position, 0, "PLAN-7");
    expect(p, &p->sequence[0].run[2].position, 5, "PLAN-7");
    expect(p, &p->sequence[0].n_tokens, 7, "PLAN-7");
    expect(p, &p->sequence[0].n_tokens, 4, "PLAN-7");
    expect(p, &p->sequence[3].n_tokens, -1, "PLAN-7");
    expect(p, &p->sequence[0].n_shared, 3, "PLAN-7"); /* a partial chunk is not shared */
    int n_tokens = p->sequence[0].n_tokens;
    p->sequence[0].n_tokens = 6;
    path_runs(&p->sequence[0], p->chunk_size);
    expect(p, &p->sequence[0].n_shared, 3, "PLAN-3"); /* nobody computes the third chunk */
    p->sequence[0].n_tokens = n_tokens;
    path_runs(&p->sequence[0], p->chunk_size);
    expect(p, &p->shared[1].begin, INT_MAX, "PLAN-1");
    expect(p, &p->shared[1].end, INT_MIN, "PLAN-1");
    expect(p, &p->sequence[0].n_shared, 1, "PLAN-3"); /* the second is computed twice */
    expect(p, &p->shared[1].chunk, p->shared[0].chunk, "PLAN-3");
    expect(p, &p->shared[0].end, 4, "PLAN-3"); /* covers a sequence of another tree */
    expect(p, &p->shared[0].end, 2, "PLAN-3"); /* one too few */
    expect(p, &p->n_shared, 1, "PLAN-3");
    expect(p, &p->sequence[3].n_chunks, 0, "PLAN-7");
    expect(p, &p->shared[1].position, 0, "PLAN-4"); /* not behind its parent */
}

/* The same chunk for [0, 2) and for [1, 3): as many pairs as rows say, but one is covered twice. */
static void overlapping_ranges_are_found(void **state) {
    struct fixture *f = *state;
    struct cp_plan *p = f->plan;
    p->chunk_size = 1;
    p->capacity = 1;
    list_sequences(p, 4);
    p->n_shared = 2;
    for (int s = 0; s < 4; s++) {
        p->sequence[s].n_tokens = 1;
        p->sequence[s].n_chunks = 1;
        p->sequence[s].n_shared = 1;
        p->sequence[s].run[0] = (struct cp_run){0, 1, 0};
    }
    p->shared[0] = (struct cp_shared_chunk){0, 0, 2, 1, 0};
    p->shared[1] = (struct cp_shared_chunk){0, 1, 3, 1, 0};
    assert_string_equal(cp_plan_check(p), "PLAN-1"); /* more descriptors than chunks */
    p->capacity = 2;
    assert_string_equal(cp_plan_check(p), "PLAN-3");
    p->shared[1] = (struct cp_shared_chunk){0, 2, 4, 1, 0};
    assert_null(cp_plan_check(p));
}

static void the_model_notices_wrong_plans(void **state) {
    struct fixture *f = *state;
    struct cp_plan *p = f->plan;
    cp_plan_build(p, f->tree);
    p->n_shared = 1;
    assert_string_equal(model_compare_plan(f->tree, p), "coverage of a pair");
    p->n_shared = 2;
    p->shared[1].end = 3;
    assert_string_equal(model_compare_plan(f->tree, p), "descriptor");
    p->shared[1].end = 2;
    p->sequence[2].n_tokens = 4;
    assert_string_equal(model_compare_plan(f->tree, p), "length of a path");
    p->sequence[2].n_tokens = 3;
    p->sequence[3].n_shared = 1;
    assert_string_equal(model_compare_plan(f->tree, p), "coverage of a pair");
    p->sequence[3].n_shared = 0;
    p->served[3] = 0;
    assert_string_equal(model_compare_plan(f->tree, p), "list of sequences");
    p->served[3] = 3;
    p->n_served = 5;
    assert_string_equal(model_compare_plan(f->tree, p), "list of sequences");
    p->n_sequences = 3;
    assert_string_equal(model_compare_plan(f->tree, p), "dimensions");
}

#define WITH_FIXTURE(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void) {
    const struct CMUnitTest tests[] = {
        WITH_FIXTURE(shared_chunks_parents_first),
        WITH_FIXTURE(sequences_have_the_whole_path),
        WITH_FIXTURE(rebuilt_only_when_paths_change),
        WITH_FIXTURE(a_plan_is_of_one_tree),
        WITH_FIXTURE(the_check_names_the_broken_clause),
        WITH_FIXTURE(overlapping_ranges_are_found),
        WITH_FIXTURE(the_model_notices_wrong_plans),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
