/* SPDX-License-Identifier: Apache-2.0 */
/* What cp_attend() refuses, in which order, and that it then writes nothing; the size of the
 * workspace. */
#include <limits.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "attend_case.h"
#include "chunkproof/number.h"
#include "chunkproof/softmax.h"
#include "chunkproof/status.h"
#include "path_runs.h"

static const struct shape shape = {.b = 5,
                                   .max_depth = 3,
                                   .chunk_size = 2,
                                   .n_heads = 4,
                                   .n_kv_heads = 2,
                                   .head_dim = 3,
                                   .query_mode = CASE_SEVERAL};

static int set_up(void **state) {
    static struct attend_case c;
    for (unsigned long long seed = 1;; seed++) { /* one with something shared and some rows */
        case_make(&c, &shape, seed);
        if (c.plan->n_shared >= 2 && c.n_rows >= 4) {
            break;
        }
        case_free(&c);
    }
    assert_int_equal(case_run(&c, CP_BUFFERED), CP_OK);
    *state = &c;
    return 0;
}

static int tear_down(void **state) {
    case_free(*state);
    return 0;
}

/* cp_attend() says `status`, and out, lse and workspace stay as they were. */
static void expect_refused(const struct attend_case *c, const struct cp_attention *a, int status) {
    unsigned char *memory[] = {c->attention.out, (unsigned char *)c->attention.lse,
                               c->attention.workspace};
    size_t bytes[] = {case_out_bytes(c), case_lse_bytes(c), c->attention.workspace_size};
    for (int i = 0; i < 3; i++) {
        memset(memory[i], 0xA5, bytes[i]);
    }
    assert_int_equal(cp_attend(a), status);
    for (int i = 0; i < 3; i++) {
        for (size_t at = 0; at < bytes[i]; at++) {
            assert_int_equal(memory[i][at], 0xA5);
        }
    }
}

static void missing_pointers(void **state) {
    const struct attend_case *c = *state;
    struct cp_attention a = c->attention;
    expect_refused(c, NULL, CP_ERROR_ARGUMENT);
    a.plan = NULL;
    expect_refused(c, &a, CP_ERROR_ARGUMENT);
    a = c->attention;
    a.q = NULL;
    expect_refused(c, &a, CP_ERROR_ARGUMENT);
    a = c->attention;
    a.k = NULL;
    expect_refused(c, &a, CP_ERROR_ARGUMENT);
    a = c->attention;
    a.v = NULL;
    expect_refused(c, &a, CP_ERROR_ARGUMENT);
    a = c->attention;
    a.out = NULL;
    expect_refused(c, &a, CP_ERROR_ARGUMENT);
    a = c->attention;
    a.workspace = NULL;
    expect_refused(c, &a, CP_ERROR_ARGUMENT);
    a.workspace = (char *)c->attention.workspace + 4;
    expect_refused(c, &a, CP_ERROR_ARGUMENT);
}

static void values_out_of_range(void **state) {
    const struct attend_case *c = *state;
    const double scale[] = {NAN, INFINITY, -INFINITY};
    const int variant[] = {-1, 2};
    for (int i = 0; i < 3; i++) {
        struct cp_attention a = c->attention;
        a.scale = scale[i];
        expect_refused(c, &a, CP_ERROR_ARGUMENT);
    }
    for (int i = 0; i < 2; i++) {
        struct cp_attention a = c->attention;
        a.variant = variant[i];
        expect_refused(c, &a, CP_ERROR_ARGUMENT);
        assert_int_equal(cp_attend_workspace(&a), 0);
    }
}

/* PLAN-5 */
static void a_stale_plan(void **state) {
    const struct attend_case *c = *state;
    for (int field = 0; field < 3; field++) {
        for (int change = -1; change <= 1; change += 2) {
            struct cp_attention a = c->attention;
            unsigned long long *part[] = {&a.stamp.tree, &a.stamp.epoch, &a.stamp.step};
            *part[field] += (unsigned long long)change;
            expect_refused(c, &a, CP_ERROR_STALE);
            assert_true(cp_attend_workspace(&a) > 0); /* does not look at the stamp */
        }
    }
}

static void set_width(struct cp_attention *a, int d) {
    a->head_dim = a->value_dim = a->v_row = d;
}

static void expect_shape_refused(const struct attend_case *c, const struct cp_attention *a) {
    expect_refused(c, a, CP_ERROR_SHAPE);
    assert_int_equal(cp_attend_workspace(a), 0);
}

static void dimensions_that_do_not_fit(void **state) {
    const struct attend_case *c = *state;
    const int bad[][3] = {{0, 2, 3}, {-4, 2, 3}, {4, 0, 3}, {4, -2, 3},
                          {4, 3, 3}, {2, 4, 3},  {4, 2, 0}, {4, 2, -3}};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        struct cp_attention a = c->attention;
        a.n_heads = bad[i][0];
        a.n_kv_heads = bad[i][1];
        set_width(&a, bad[i][2]);
        expect_shape_refused(c, &a);
    }
}

static void unknown_types(void **state) {
    const struct attend_case *c = *state;
    for (int field = 0; field < 4; field++) {
        for (int type = -1; type <= CP_INT8 + 1; type += CP_INT8 + 2) {
            struct cp_attention a = c->attention;
            int *const part[] = {&a.q_type, &a.k_type, &a.v_type, &a.out_type};
            *part[field] = type;
            expect_shape_refused(c, &a);
        }
    }
}

/* PREFILL-1 */
static void query_ranges_out_of_order(void **state) {
    const struct attend_case *c = *state;
    struct cp_attention a = c->attention;
    int begin[6];
    a.query_begin = begin;
    for (int s = 0; s <= 5; s++) {
        memcpy(begin, c->query_begin, sizeof begin);
        begin[s] = s == 0 ? 1 : begin[s - 1] - 1;
        expect_shape_refused(c, &a);
    }
    memcpy(begin, c->query_begin, sizeof begin);
    begin[0] = -1;
    expect_shape_refused(c, &a);
}

/* Dimensions whose tensors or workspace no address space holds are refused, not wrapped around. */
static void sizes_that_overflow(void **state) {
    const struct attend_case *c = *state;
    struct cp_attention a = c->attention;
    struct cp_plan *plan = c->plan;
    const int b = plan->n_sequences;
    int begin[2] = {0, 0};

    a.n_heads = a.n_kv_heads = INT_MAX; /* K */
    set_width(&a, INT_MAX);
    expect_shape_refused(c, &a);
    a.n_kv_heads = 1; /* Q, with few rows: 4 h d and more is too large, K is not */
    set_width(&a, INT_MAX);
    expect_shape_refused(c, &a);

    list_sequences(plan, 1);
    plan->n_shared = 0;
    a.query_begin = begin;
    a.variant = CP_MERGE_AT_ONCE;
    a.n_kv_heads = 1;
    a.n_heads = INT_MAX;
    set_width(&a, 1);
    a.q_type = a.out_type = CP_FP16;
    a.out_type = CP_FP64;
    begin[1] = 1 << 30; /* the output: 2^30 h 8 bytes; Q has a quarter of that */
    expect_shape_refused(c, &a);
    a.out_type = CP_FP16; /* lse, as the output before */
    expect_shape_refused(c, &a);
    begin[1] = 1 << 29; /* lse just fits, partial results of 24 bytes do not */
    expect_shape_refused(c, &a);
    begin[1] = 1 << 27; /* all fit: now only the workspace is too small */
    expect_refused(c, &a, CP_ERROR_WORKSPACE);
    assert_true(cp_attend_workspace(&a) == (size_t)(1 << 27) * INT_MAX * 24 + 32);

    /* K and V each by its own type: of 2^62 numbers or fewer, those of 8 bits alone fit. */
    set_width(&a, 1 << 30);
    a.n_heads = a.n_kv_heads =
        (int)((1LL << 62) / ((long long)plan->capacity * plan->chunk_size * a.head_dim));
    begin[1] = 0;
    for (int is_v = 0; is_v < 2; is_v++) {
        a.k_type = is_v ? CP_INT8 : CP_FP64;
        a.v_type = is_v ? CP_FP64 : CP_INT8;
        expect_shape_refused(c, &a);
    }
    a.k_type = a.v_type = CP_INT8;
    expect_refused(c, &a, CP_ERROR_WORKSPACE);
    a.k_type = a.v_type = CP_FP16;
    a.n_kv_heads = 1;

    /* Rows of partial results before there are heads. */
    set_width(&a, 1 << 30);
    a.n_heads = 1;
    begin[1] = INT_MAX;
    expect_shape_refused(c, &a);

    /* Partial results that fit by themselves, but not with the four rows of scratch. */
    set_width(&a, 1 << 20);
    a.n_heads = 512;
    begin[1] = 2147479552;
    expect_shape_refused(c, &a);
    begin[1] = 2147479552 - 1;
    expect_refused(c, &a, CP_ERROR_WORKSPACE);
    list_sequences(plan, b);
}

static void a_small_workspace(void **state) {
    const struct attend_case *c = *state;
    for (int variant = 0; variant < 2; variant++) {
        struct cp_attention a = c->attention;
        a.variant = variant;
        a.workspace_size = cp_attend_workspace(&a) - 1;
        expect_refused(c, &a, CP_ERROR_WORKSPACE);
        a.workspace_size = 0;
        expect_refused(c, &a, CP_ERROR_WORKSPACE);
        a.workspace_size = cp_attend_workspace(&a);
        assert_int_equal(cp_attend(&a), CP_OK);
    }
}

/* As two_phase.h says: for each of 4 heads 2 numbers and d = 3 of o, and four rows of 3. */
static void the_workspace_is_as_large_as_documented(void **state) {
    const struct attend_case *c = *state;
    struct cp_attention a = c->attention;
    size_t pairs = 0;
    for (int i = 0; i < c->plan->n_shared; i++) {
        for (int s = c->plan->shared[i].begin; s < c->plan->shared[i].end; s++) {
            pairs += (size_t)(c->query_begin[s + 1] - c->query_begin[s]);
        }
    }
    assert_true(pairs > 0);
    a.variant = CP_BUFFERED;
    assert_int_equal(cp_attend_workspace(&a), pairs * 4 * 5 * 8 + 96);
    a.variant = CP_MERGE_AT_ONCE;
    assert_int_equal(cp_attend_workspace(&a), (size_t)c->n_rows * 4 * 5 * 8 + 96);
    a.q = a.k = a.v = NULL; /* not looked at */
    a.out = a.workspace = NULL;
    assert_true(cp_attend_workspace(&a) > 0);
    a.plan = NULL;
    assert_int_equal(cp_attend_workspace(&a), 0);
    assert_int_equal(cp_attend_workspace(NULL), 0);
}

/* With everything wrong at once, mending one thing brings up the next, in the documented order. */
static void the_order_of_the_checks(void **state) {
    const struct attend_case *c = *state;
    struct cp_attention a = c->attention;
    a.plan = NULL;
    a.stamp.step++;
    a.v = NULL;
    set_width(&a, 0);
    a.workspace_size = 0;
    expect_refused(c, &a, CP_ERROR_ARGUMENT);
    a.plan = c->plan;
    expect_refused(c, &a, CP_ERROR_STALE);
    a.stamp = c->attention.stamp;
    expect_refused(c, &a, CP_ERROR_ARGUMENT);
    a.v = c->attention.v;
    expect_refused(c, &a, CP_ERROR_SHAPE);
    set_width(&a, shape.head_dim);
    expect_refused(c, &a, CP_ERROR_WORKSPACE);
    a.workspace_size = c->attention.workspace_size;
    assert_int_equal(cp_attend(&a), CP_OK);
}

static void no_sequence_at_all(void **state) {
    struct shape nothing = shape;
    (void)state;
    for (int mode = CASE_DECODE; mode <= CASE_SEVERAL; mode++) {
        struct attend_case c;
        nothing.b = 0;
        nothing.query_mode = mode;
        case_make(&c, &nothing, 1);
        assert_int_equal(c.n_rows, 0);
        assert_int_equal(case_run(&c, CP_BUFFERED), CP_OK);
        assert_int_equal(case_run(&c, CP_MERGE_AT_ONCE), CP_OK);
        assert_int_equal(c.attention.workspace_size, 4 * 3 * 8);
        case_free(&c);
    }
}

int main(void) {
#define REFUSAL(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        REFUSAL(missing_pointers),
        REFUSAL(values_out_of_range),
        REFUSAL(a_stale_plan),
        REFUSAL(dimensions_that_do_not_fit),
        REFUSAL(unknown_types),
        REFUSAL(query_ranges_out_of_order),
        REFUSAL(sizes_that_overflow),
        REFUSAL(a_small_workspace),
        REFUSAL(the_workspace_is_as_large_as_documented),
        REFUSAL(the_order_of_the_checks),
        cmocka_unit_test(no_sequence_at_all),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
