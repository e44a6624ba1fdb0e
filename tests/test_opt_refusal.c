/* SPDX-License-Identifier: Apache-2.0 */
/* What fast attention refuses, in which order, and that it then writes nothing. Where
 * cp_attend() also refuses, both return the same. Also its workspace, and that a call allocates
 * nothing. */
#include <limits.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "chunkproof/number.h"
#include "chunkproof/status.h"
#include "opt_case.h"
#include "path_runs.h"

/* Allocations are counted where the C library is glibc, and no sanitizer has its own. */
#if defined(__has_feature)
#define SANITIZED (__has_feature(address_sanitizer) || __has_feature(thread_sanitizer))
#elif defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZED 1
#else
#define SANITIZED 0
#endif

static atomic_int allocations;

#if defined(__GLIBC__) && !SANITIZED
void *__libc_malloc(size_t size);
void *__libc_calloc(size_t n, size_t size);

void *malloc(size_t size) {
    allocations++;
    return __libc_malloc(size);
}

void *calloc(size_t n, size_t size) {
    allocations++;
    return __libc_calloc(n, size);
}
#endif

/* 1 when allocations are counted: not where another allocator has come before, as valgrind's
 * does. */
static int are_counted(void) {
    int before = allocations;
    void *volatile memory = malloc(1);
    free(memory);
    return allocations > before;
}

static const struct shape shape = {.b = 5,
                                   .max_depth = 3,
                                   .chunk_size = 2,
                                   .n_heads = 4,
                                   .n_kv_heads = 2,
                                   .head_dim = 3,
                                   .query_mode = CASE_SEVERAL};

struct world {
    struct attend_case c;
    struct cp_opt *opt;
    struct cp_attention a; /* right; enough workspace for cp_attend(), too */
};

static int set_up(void **state) {
    static struct world w;
    struct attend_case *c = &w.c;
    for (unsigned long long seed = 1;; seed++) { /* one with something shared and some rows */
        case_make(c, &shape, seed);
        if (c->plan->n_shared >= 2 && c->n_rows >= 4) {
            break;
        }
        case_free(c);
    }
    assert_int_equal(cp_opt_new(&w.opt, 2, CP_OPT_BEST), CP_OK);
    c->attention.variant = CP_BUFFERED;
    w.a = c->attention;
    w.a.workspace_size = cp_opt_workspace(w.opt, &w.a) + cp_attend_workspace(&w.a);
    w.a.workspace = malloc(w.a.workspace_size);
    *state = &w;
    return 0;
}

static int tear_down(void **state) {
    struct world *w = *state;
    free(w->a.workspace);
    cp_opt_free(w->opt);
    case_free(&w->c);
    return 0;
}

/* cp_opt_attend() says `status`, and out, lse and workspace stay as they were. */
static void expect_alone(const struct world *w, const struct cp_attention *a, int status) {
    unsigned char *memory[] = {w->a.out, (unsigned char *)w->a.lse, w->a.workspace};
    size_t bytes[] = {case_out_bytes(&w->c), case_lse_bytes(&w->c), w->a.workspace_size};
    for (int i = 0; i < 3; i++) {
        memset(memory[i], 0xA5, bytes[i]);
    }
    assert_int_equal(cp_opt_attend(w->opt, a), status);
    for (int i = 0; i < 3; i++) {
        for (size_t at = 0; at < bytes[i]; at++) {
            assert_int_equal(memory[i][at], 0xA5);
        }
    }
}

/* As cp_attend() does. */
static void expect_refused(const struct world *w, const struct cp_attention *a, int status) {
    expect_alone(w, a, status);
    assert_int_equal(cp_attend(a), status);
}

static void arguments(void **state) {
    const struct world *w = *state;
    const double scale[] = {NAN, INFINITY, -INFINITY};
    struct cp_attention a = w->a;
    const void **pointer[] = {&a.q, &a.k, &a.v};
    expect_refused(w, NULL, CP_ERROR_ARGUMENT);
    a.plan = NULL;
    expect_refused(w, &a, CP_ERROR_ARGUMENT);
    for (int i = 0; i < 3; i++) {
        a = w->a;
        *pointer[i] = NULL;
        expect_refused(w, &a, CP_ERROR_ARGUMENT);
        a = w->a;
        a.scale = scale[i];
        expect_refused(w, &a, CP_ERROR_ARGUMENT);
        a = w->a;
        a.variant = i * 2 - 1; /* -1, 1, 3 */
        if (i != 1) {
            expect_refused(w, &a, CP_ERROR_ARGUMENT);
            assert_int_equal(cp_opt_workspace(w->opt, &a), 0);
        }
    }
    a = w->a;
    a.out = NULL;
    expect_refused(w, &a, CP_ERROR_ARGUMENT);
    a = w->a;
    a.workspace = NULL;
    expect_refused(w, &a, CP_ERROR_ARGUMENT);
    a.workspace = (char *)w->a.workspace + 4;
    expect_refused(w, &a, CP_ERROR_ARGUMENT);
    for (int per = -1; per <= CP_CACHE_SCALE_TOKEN + 1; per += CP_CACHE_SCALE_TOKEN + 2) {
        a = w->a;
        a.scales.per = per;
        expect_refused(w, &a, CP_ERROR_ARGUMENT);
    }
    assert_int_equal(cp_opt_attend(NULL, &w->a), CP_ERROR_ARGUMENT);
    assert_int_equal(cp_opt_workspace(NULL, &w->a), 0);
    assert_int_equal(cp_opt_workspace(w->opt, NULL), 0);
    a = w->a;
    a.plan = NULL;
    assert_int_equal(cp_opt_workspace(w->opt, &a), 0);
}

/* PLAN-5 */
static void a_stale_plan(void **state) {
    const struct world *w = *state;
    for (int field = 0; field < 3; field++) {
        struct cp_attention a = w->a;
        unsigned long long *part[] = {&a.stamp.tree, &a.stamp.epoch, &a.stamp.step};
        ++*part[field];
        expect_refused(w, &a, CP_ERROR_STALE);
        assert_true(cp_opt_workspace(w->opt, &a) > 0); /* does not look at the stamp */
    }
}

static void set_width(struct cp_attention *a, int d) {
    a->head_dim = a->value_dim = a->v_row = d;
}

static void expect_shape_refused(const struct world *w, const struct cp_attention *a) {
    expect_refused(w, a, CP_ERROR_SHAPE);
    assert_int_equal(cp_opt_workspace(w->opt, a), 0);
}

static void dimensions_and_types(void **state) {
    const struct world *w = *state;
    const int bad[][3] = {{0, 2, 3}, {-4, 2, 3}, {4, 0, 3}, {4, -2, 3},
                          {4, 3, 3}, {2, 4, 3},  {4, 2, 0}, {4, 2, -3}};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        struct cp_attention a = w->a;
        a.n_heads = bad[i][0];
        a.n_kv_heads = bad[i][1];
        set_width(&a, bad[i][2]);
        expect_shape_refused(w, &a);
    }
    for (int field = 0; field < 4; field++) {
        for (int type = -1; type <= CP_INT8 + 1; type += CP_INT8 + 2) {
            struct cp_attention a = w->a;
            int *const part[] = {&a.q_type, &a.k_type, &a.v_type, &a.out_type};
            *part[field] = type;
            expect_shape_refused(w, &a);
        }
    }
}

/* PREFILL-1 */
static void query_ranges_out_of_order(void **state) {
    const struct world *w = *state;
    struct cp_attention a = w->a;
    int begin[6];
    a.query_begin = begin;
    for (int s = 0; s <= 5; s++) {
        memcpy(begin, w->c.query_begin, sizeof begin);
        begin[s] = s == 0 ? 1 : begin[s - 1] - 1;
        expect_shape_refused(w, &a);
    }
}

/* Dimensions whose tensors or workspace no address space holds are refused, not wrapped around. */
static void sizes_that_overflow(void **state) {
    struct world *w = *state;
    struct cp_attention a = w->a;
    struct cp_plan *plan = w->c.plan;
    const struct cp_plan_sequence path = plan->sequence[0];
    const int b = plan->n_sequences, n_shared = plan->n_shared;
    int begin[2] = {0, 0};
    a.n_heads = a.n_kv_heads = INT_MAX; /* K */
    set_width(&a, INT_MAX);
    expect_shape_refused(w, &a);
    a.n_kv_heads = 1; /* Q */
    expect_shape_refused(w, &a);
    list_sequences(plan, 1);
    plan->n_shared = 0;
    plan->sequence[0] = (struct cp_plan_sequence){.n_tokens = 1, .n_chunks = 1};
    a.query_begin = begin;
    a.variant = CP_MERGE_AT_ONCE; /* of which cp_attend() keeps partial results here */
    a.n_heads = INT_MAX;
    set_width(&a, 1);
    a.out_type = CP_FP64;
    begin[1] = 1 << 30; /* the output: 2^30 h 8 bytes; Q has a quarter of that */
    expect_shape_refused(w, &a);
    a.out_type = CP_FP16; /* lse, as the output before */
    expect_shape_refused(w, &a);
    begin[1] = 1 << 29; /* lse just fits, partial results of 72 bytes do not */
    expect_shape_refused(w, &a);
    begin[1] = 1 << 25; /* all fit: now only the workspace is too small */
    expect_refused(w, &a, CP_ERROR_WORKSPACE);
    assert_true(cp_opt_workspace(w->opt, &a) > (size_t)(1 << 25) * INT_MAX * 72);
    plan->sequence[0] = path;
    list_sequences(plan, b);
    plan->n_shared = n_shared;
}

/* WIDTH-1, WIDTH-2: a value has a number, and rows of V have room for it. */
static void widths_of_values(void **state) {
    const struct world *w = *state;
    const int bad[][2] = {{0, 3}, {0, 0}, {-1, 3}, {INT_MIN, 3}, {3, 2}, {3, 0}, {3, -3}, {4, 3}};
    const int good[][2] = {{3, 3}, {1, 1}, {1, 3}, {3, 4}, {3, 3000}};
    struct cp_attention a = w->a;
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        a.value_dim = bad[i][0];
        a.v_row = bad[i][1];
        expect_shape_refused(w, &a);
    }
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
        a.value_dim = good[i][0];
        a.v_row = good[i][1];
        assert_true(cp_opt_workspace(w->opt, &a) > 0);
        a.workspace_size = 0;
        expect_refused(w, &a, CP_ERROR_WORKSPACE);
        a.workspace_size = w->a.workspace_size;
    }
}

/* V, the output, or partial results alone are more than there are addresses. */
static void widths_that_overflow(void **state) {
    struct world *w = *state;
    struct cp_attention a = w->a;
    struct cp_plan *plan = w->c.plan;
    const struct cp_plan_sequence path = plan->sequence[0];
    const int b = plan->n_sequences, n_shared = plan->n_shared;
    const int begin[2] = {0, 1};
    a.n_heads = a.n_kv_heads = INT_MAX;
    a.head_dim = a.value_dim = 1;
    a.v_row = INT_MAX; /* V */
    expect_shape_refused(w, &a);
    a.n_kv_heads = 1;
    list_sequences(plan, 1);
    plan->n_shared = 0;
    plan->sequence[0] = (struct cp_plan_sequence){.n_tokens = 1, .n_chunks = 1};
    a.query_begin = begin;
    a.variant = CP_MERGE_AT_ONCE; /* of which cp_attend() keeps partial results here */
    a.out_type = CP_FP64;
    a.value_dim = (1 << 29) + 16; /* the output; partial results in binary32 fit */
    expect_shape_refused(w, &a);
    a.out_type = CP_FP16;
    a.value_dim = INT_MAX; /* partial results; the output just fits */
    expect_shape_refused(w, &a);
    a.value_dim = 1 << 20;
    assert_true(cp_opt_workspace(w->opt, &a) > (size_t)INT_MAX << 22);
    plan->sequence[0] = path;
    list_sequences(plan, b);
    plan->n_shared = n_shared;
}

/* Here alone: what the reference can do, and this cannot. */
static void what_is_not_supported(void **state) {
    const struct world *w = *state;
    for (int field = 0; field < 4; field++) {
        struct cp_attention a = w->a;
        int *const type[] = {&a.q_type, &a.k_type, &a.v_type};
        if (field < 3) {
            *type[field] = CP_FP64;
        } else {
            a.scale = -0x1p128;
        }
        a.workspace_size = 0;
        expect_alone(w, &a, CP_ERROR_UNSUPPORTED);
        assert_int_equal(cp_opt_workspace(w->opt, &a), 0);
    }
}

static void a_small_workspace(void **state) {
    const struct world *w = *state;
    struct cp_attention a = w->a;
    a.workspace_size = cp_opt_workspace(w->opt, &a) - 1;
    expect_alone(w, &a, CP_ERROR_WORKSPACE);
    a.workspace_size++;
    assert_int_equal(cp_opt_attend(w->opt, &a), CP_OK);
}

/* With everything wrong at once, mending one thing brings up the next, in the documented order. */
static void the_order_of_the_checks(void **state) {
    const struct world *w = *state;
    struct cp_attention a = w->a;
    a.plan = NULL;
    a.stamp.step++;
    a.v = NULL;
    set_width(&a, 0);
    a.q_type = CP_FP64;
    a.workspace_size = 0;
    expect_refused(w, &a, CP_ERROR_ARGUMENT);
    a.plan = w->c.plan;
    expect_refused(w, &a, CP_ERROR_STALE);
    a.stamp = w->a.stamp;
    expect_refused(w, &a, CP_ERROR_ARGUMENT);
    a.v = w->a.v;
    expect_refused(w, &a, CP_ERROR_SHAPE);
    set_width(&a, shape.head_dim);
    expect_alone(w, &a, CP_ERROR_UNSUPPORTED);
    a.q_type = CP_FP16;
    expect_refused(w, &a, CP_ERROR_WORKSPACE);
    a.workspace_size = w->a.workspace_size;
    assert_int_equal(cp_opt_attend(w->opt, &a), CP_OK);
}

static void versions_and_threads(void **state) {
    const int wrong[][2] = {{-1, 0}, {CP_OPT_MOST_THREADS + 1, 0}, {1, -1}, {1, CP_OPT_LAST + 1}};
    struct cp_opt *opt;
    (void)state;
    assert_int_equal(cp_opt_new(NULL, 1, CP_OPT_BEST), CP_ERROR_ARGUMENT);
    for (int i = 0; i < 4; i++) {
        opt = (struct cp_opt *)&opt;
        assert_int_equal(cp_opt_new(&opt, wrong[i][0], wrong[i][1]), CP_ERROR_ARGUMENT);
        assert_null(opt);
    }
    int best = 0;
    for (int version = CP_OPT_PORTABLE; version <= CP_OPT_LAST; version++) {
        int status = cp_opt_new(&opt, 3, version);
        assert_true(status == CP_OK || (status == CP_ERROR_UNSUPPORTED && opt == NULL));
        if (status == CP_OK) {
            assert_int_equal(cp_opt_version(opt), version);
            assert_int_equal(cp_opt_threads(opt), 3);
            best = version == CP_OPT_AMX ? best : version;
        }
        cp_opt_free(opt);
    }
    assert_int_equal(cp_opt_new(&opt, 0, CP_OPT_BEST), CP_OK);
    assert_int_equal(cp_opt_version(opt), best);
    assert_in_range(cp_opt_threads(opt), 1, CP_OPT_MOST_THREADS);
    cp_opt_free(opt);
    cp_opt_free(NULL);
}

static void no_sequence_at_all(void **state) {
    struct shape nothing = shape;
    const struct world *w = *state;
    for (int mode = CASE_DECODE; mode <= CASE_SEVERAL; mode++) {
        struct attend_case c;
        nothing.b = 0;
        nothing.query_mode = mode;
        case_make(&c, &nothing, 1);
        assert_int_equal(opt_case_run(w->opt, &c, 0), CP_OK);
        case_free(&c);
    }
}

/* Neither does a call, nor asking how large the workspace is; making threads does, so that counting
 * is seen to work. */
static void a_call_allocates_nothing(void **state) {
    const struct world *w = *state;
    struct cp_attention a = w->a;
    for (int i = 0, version; (version = opt_case_version(i)) != 0; i++) {
        struct cp_opt *opt;
        int before = allocations;
        assert_int_equal(cp_opt_new(&opt, 2, version), CP_OK);
        assert_true(allocations > before || !are_counted());
        a.workspace = malloc(cp_opt_workspace(opt, &a));
        assert_non_null(a.workspace);
        before = allocations;
        a.workspace_size = cp_opt_workspace(opt, &a);
        int status = cp_opt_attend(opt, &a);
        int after = allocations;
        assert_int_equal(status, CP_OK);
        assert_int_equal(after, before);
        free(a.workspace);
        cp_opt_free(opt);
    }
}

int main(void) {
#define REFUSAL(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        REFUSAL(arguments),
        REFUSAL(a_stale_plan),
        REFUSAL(dimensions_and_types),
        REFUSAL(query_ranges_out_of_order),
        REFUSAL(sizes_that_overflow),
        REFUSAL(widths_of_values),
        REFUSAL(widths_that_overflow),
        REFUSAL(what_is_not_supported),
        REFUSAL(a_small_workspace),
        REFUSAL(the_order_of_the_checks),
        REFUSAL(a_call_allocates_nothing),
        REFUSAL(versions_and_threads),
        REFUSAL(no_sequence_at_all),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
