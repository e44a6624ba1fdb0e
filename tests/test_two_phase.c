/* SPDX-License-Identifier: Apache-2.0 */
/* The two phases one by one: which partial result lies where in the workspace, and what each phase
 * reads and writes (TPP-1 .. TPP-4); the examples of the specification. */
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
#include "bound.h"
#include "chunkproof/number.h"
#include "chunkproof/softmax.h"
#include "chunkproof/status.h"
#include "chunkproof/two_phase.h"
#include "path_runs.h"

#define D       4
#define N_HEADS 4
#define SEEDS   25

static const struct shape shape = {.b = 6,
                                   .max_depth = 4,
                                   .chunk_size = 3,
                                   .n_heads = N_HEADS,
                                   .n_kv_heads = 2,
                                   .head_dim = D,
                                   .q_type = CP_FP32,
                                   .kv_type = CP_FP16,
                                   .out_type = CP_FP64,
                                   .query_mode = CASE_MORE};

struct partial {
    struct cp_state state;
    double o[D];
};

/* The partial results as two_phase.h lays them out. */
static struct partial stored(const struct attend_case *c, size_t n, size_t i) {
    const struct cp_state *state = c->attention.workspace;
    const double *o = (const double *)(state + n);
    struct partial partial = {state[i], {0.0}};
    memcpy(partial.o, o + i * D, sizeof partial.o);
    return partial;
}

/* Partial attention of one row and head over a shared chunk, from the exact numbers of the case. */
static struct partial direct(const struct attend_case *c, const struct cp_shared_chunk *shared,
                             int s, int row, int head) {
    struct partial partial;
    int n_keys = case_visible(c, row) - shared->position;
    n_keys = n_keys < 0 ? 0 : n_keys > shape.chunk_size ? shape.chunk_size : n_keys;
    size_t first = case_key(c, s, shared->position, head / 2) / D;
    cp_partial_attn(&partial.state, partial.o, c->q + (ptrdiff_t)(row * N_HEADS + head) * D, c->k,
                    c->v, CP_FP64, first, n_keys, D, c->attention.scale);
    return partial;
}

static void start(struct attend_case *c, unsigned long long seed, int variant) {
    case_make(c, &shape, seed);
    c->attention.variant = variant;
    c->attention.workspace_size = cp_attend_workspace(&c->attention);
    memset(c->attention.workspace, 0xFF, c->attention.workspace_size);
    memset(c->attention.out, 0xFF, case_out_bytes(c));
    memset(c->attention.lse, 0xFF, case_lse_bytes(c));
}

static void expect_filled(const void *memory, size_t bytes) {
    for (size_t i = 0; i < bytes; i++) {
        assert_int_equal(((const unsigned char *)memory)[i], 0xFF);
    }
}

/* How many partial results the buffered variant keeps. */
static size_t count_buffered(const struct attend_case *c) {
    size_t n = 0;
    for (int i = 0; i < c->plan->n_shared; i++) {
        n += (size_t)(c->query_begin[c->plan->shared[i].end] -
                      c->query_begin[c->plan->shared[i].begin]) *
             N_HEADS;
    }
    return n;
}

static void buffered_keeps_each_result(void **unused) {
    size_t compared = 0;
    (void)unused;
    for (unsigned long long seed = 0; seed < SEEDS; seed++) {
        struct attend_case c;
        size_t at = 0;
        start(&c, seed, CP_BUFFERED);
        size_t n = count_buffered(&c);
        cp_chunk_first(&c.attention);
        for (int i = 0; i < c.plan->n_shared; i++) {
            const struct cp_shared_chunk *shared = &c.plan->shared[i];
            for (int s = shared->begin; s < shared->end; s++) {
                for (int row = c.query_begin[s]; row < c.query_begin[s + 1]; row++) {
                    for (int head = 0; head < N_HEADS; head++) {
                        struct partial expected = direct(&c, shared, s, row, head);
                        struct partial found = stored(&c, n, at++);
                        assert_memory_equal(&found, &expected, sizeof found);
                    }
                }
            }
        }
        assert_int_equal(at, n);
        compared += n;
        expect_filled(c.attention.out, case_out_bytes(&c));
        expect_filled(c.attention.lse, case_lse_bytes(&c));
        case_free(&c);
    }
    assert_in_range(compared, 500, 1000000);
}

static void merge_at_once_keeps_one_for_each_row_and_head(void **unused) {
    int with_two_chunks = 0;
    (void)unused;
    for (unsigned long long seed = 0; seed < SEEDS; seed++) {
        struct attend_case c;
        start(&c, seed, CP_MERGE_AT_ONCE);
        size_t n = (size_t)c.n_rows * N_HEADS;
        cp_chunk_first(&c.attention);
        for (size_t at = 0; at < n; at++) {
            int row = (int)at / N_HEADS;
            int s = case_sequence_of(&c, row);
            struct partial expected;
            int n_merged = 0;
            cp_state_empty(&expected.state, expected.o, D);
            for (int i = 0; i < c.plan->n_shared; i++) {
                const struct cp_shared_chunk *shared = &c.plan->shared[i];
                if (shared->begin <= s && s < shared->end) {
                    struct partial part = direct(&c, shared, s, row, (int)at % N_HEADS);
                    cp_attn_reduce(&expected.state, expected.o, &part.state, part.o, D);
                    n_merged += part.state.n > 0.0;
                }
            }
            struct partial found = stored(&c, n, at);
            assert_memory_equal(&found, &expected, sizeof found);
            with_two_chunks += n_merged >= 2;
        }
        expect_filled(c.attention.out, case_out_bytes(&c));
        expect_filled(c.attention.lse, case_lse_bytes(&c));
        case_free(&c);
    }
    assert_in_range(with_two_chunks, 50, 1000000);
}

/* Sequence-first may be run again on the same partial results: it leaves them as they are. */
static void sequence_first_only_reads_the_results(void **unused) {
    (void)unused;
    for (unsigned long long seed = 0; seed < SEEDS; seed++) {
        struct attend_case c;
        start(&c, seed, (int)(seed % 2));
        size_t bytes = c.attention.workspace_size - sizeof(double[4][D]);
        char *before = malloc(bytes + 1);
        assert_non_null(before);
        cp_chunk_first(&c.attention);
        memcpy(before, c.attention.workspace, bytes);
        for (int time = 0; time < 2; time++) {
            memset(c.attention.out, 0xFF, case_out_bytes(&c));
            cp_sequence_first(&c.attention);
            assert_memory_equal(c.attention.workspace, before, bytes);
            assert_int_equal(case_compare(&c, CASE_RIGHT).wrong, 0);
        }
        free(before);
        case_free(&c);
    }
}

/* Each kept result counts: without one, exactly its row and head come out wrong. One in five is
 * tried. */
static void sequence_first_uses_every_result(void **unused) {
    int tried = 0;
    (void)unused;
    for (unsigned long long seed = 0; seed < 3; seed++) {
        struct attend_case c;
        start(&c, seed, CP_BUFFERED);
        size_t n = count_buffered(&c);
        struct cp_state *state = c.attention.workspace;
        for (size_t i = (size_t)seed; i < n; i += 5) {
            cp_chunk_first(&c.attention);
            if (state[i].n > 0.0) {
                cp_state_empty(&state[i], (double *)(state + n) + i * D, D);
                cp_sequence_first(&c.attention);
                assert_int_equal(case_compare(&c, CASE_RIGHT).wrong, 1);
                tried++;
            }
        }
        case_free(&c);
    }
    assert_in_range(tried, 50, 100000);
}

/* TPP-3: any order of the shared chunks gives attention; here, children before parents. */
static void the_order_of_shared_chunks_is_free(void **unused) {
    (void)unused;
    for (unsigned long long seed = 0; seed < SEEDS; seed++) {
        struct attend_case c;
        case_make(&c, &shape, seed);
        for (int i = 0, j = c.plan->n_shared - 1; i < j; i++, j--) {
            struct cp_shared_chunk first = c.plan->shared[i];
            c.plan->shared[i] = c.plan->shared[j];
            c.plan->shared[j] = first;
        }
        for (int variant = 0; variant < 2; variant++) {
            assert_int_equal(case_run(&c, variant), CP_OK);
            assert_int_equal(case_compare(&c, CASE_RIGHT).wrong, 0);
        }
        case_free(&c);
    }
}

/* ---- The worked examples of the specification ---- */

/* Two sequences that share C0 and C1 as far as `n_shared` says, c = 2, d = 1, one head. */
static struct cp_plan *example_plan(int n_shared, int n_0, int n_1) {
    struct cp_plan *plan;
    const int n_tokens[] = {n_0, n_1};
    assert_int_equal(cp_plan_new(&plan), CP_OK);
    plan->capacity = 3;
    plan->chunk_size = 2;
    list_sequences(plan, 2);
    plan->n_shared = n_shared;
    for (int k = 0; k < n_shared; k++) {
        plan->shared[k] = (struct cp_shared_chunk){k, 0, 2, 2, 2 * k};
    }
    for (int s = 0; s < 2; s++) {
        plan->sequence[s].n_tokens = n_tokens[s];
        plan->sequence[s].n_chunks = (n_tokens[s] + 1) / 2;
        plan->sequence[s].n_shared = n_shared;
        for (int k = 0; k < plan->sequence[s].n_chunks; k++) {
            plan->sequence[s].run[k].chunk = k;
        }
        path_runs(&plan->sequence[s], 2);
    }
    assert_true(cp_plan_is_valid(plan));
    return plan;
}

/* spec/two_phase.md: with the weights 1, 2, 5 of 8 and 1, 1 of 2. The keys log(2) and log(5) are
 * off by at most 2U ln 5, which moves lse by no more than that and the output by sum_j w_j |v_j -
 * o| <= 6 times as much; bound_attention() is for two computed results, so its second half pays for
 * log(8). */
static void example_of_two_phases(void **unused) {
    const double q[] = {1.0, 0.0};
    const double k[] = {0.0, log(2.0), log(5.0), NAN, NAN, NAN};
    const double v[] = {8.0, 4.0, 0.0, NAN, NAN, NAN};
    const int n[] = {3, 2};
    const double expected[] = {2.0, 6.0};
    const double expected_lse[] = {log(8.0), log(2.0)};
    const double input = 2.0 * BOUND_BIG_U * log(5.0);
    struct cp_plan *plan = example_plan(1, 3, 2);
    (void)unused;
    for (int variant = 0; variant < 2; variant++) {
        double out[2];
        double lse[2];
        double workspace[64];
        struct cp_attention a = {.plan = plan,
                                 .stamp = plan->stamp,
                                 .n_heads = 1,
                                 .n_kv_heads = 1,
                                 .head_dim = 1,
                                 .value_dim = 1,
                                 .v_row = 1,
                                 .scale = 1.0,
                                 .q_type = CP_FP64,
                                 .k_type = CP_FP64,
                                 .v_type = CP_FP64,
                                 .out_type = CP_FP64,
                                 .q = q,
                                 .k = k,
                                 .v = v,
                                 .out = out,
                                 .lse = lse,
                                 .variant = variant,
                                 .workspace = workspace,
                                 .workspace_size = sizeof workspace};
        assert_int_equal(cp_attend(&a), CP_OK);
        for (int s = 0; s < 2; s++) {
            double bound;
            double lse_bound = bound_attention(&q[s], k, v, n[s], 1, 1.0, 2, 2, &bound);
            assert_true(fabs(out[s] - expected[s]) <= bound + 6.0 * input);
            assert_true(fabs(lse[s] - expected_lse[s]) <= lse_bound + input);
        }
    }
    cp_plan_free(plan);
}

/* With Q = 0 and v = position, a row that sees n keys gets their mean, (n - 1) / 2, and ln n: both
 * exactly. S0 has 5 tokens and 3 rows, S1 has 4 tokens and 5 rows, at these positions. */
static void check_rows(const int *position, const int *keys) {
    const int query_begin[] = {0, 3, 8};
    const double q[8] = {0.0};
    const double k[] = {1.0, 1.0, 1.0, 1.0, 1.0, NAN};
    const double v[] = {0.0, 1.0, 2.0, 3.0, 4.0, NAN};
    struct cp_plan *plan = example_plan(2, 5, 4);
    for (int variant = 0; variant < 2; variant++) {
        double out[8];
        double lse[8];
        double workspace[64];
        struct cp_attention a = {.plan = plan,
                                 .stamp = plan->stamp,
                                 .n_heads = 1,
                                 .n_kv_heads = 1,
                                 .head_dim = 1,
                                 .value_dim = 1,
                                 .v_row = 1,
                                 .scale = 1.0,
                                 .query_begin = query_begin,
                                 .position = position,
                                 .q_type = CP_FP64,
                                 .k_type = CP_FP64,
                                 .v_type = CP_FP64,
                                 .out_type = CP_FP64,
                                 .q = q,
                                 .k = k,
                                 .v = v,
                                 .out = out,
                                 .lse = lse,
                                 .variant = variant,
                                 .workspace = workspace,
                                 .workspace_size = sizeof workspace};
        assert_int_equal(cp_attend(&a), CP_OK);
        for (int row = 0; row < 8; row++) {
            assert_true(out[row] == (keys[row] == 0 ? 0.0 : (keys[row] - 1) / 2.0));
            assert_true(lse[row] == log(keys[row]));
        }
    }
    cp_plan_free(plan);
}

/* spec/prefill.md */
static void example_of_several_rows(void **unused) {
    const int keys[] = {3, 4, 5, 0, 1, 2, 3, 4};
    (void)unused;
    check_rows(NULL, keys);
}

/* PREFILL-1, the rows of S0: in any order, behind the last key and before the first; and as far
 * away as a number can be. */
static void example_of_rows_at_positions_of_their_own(void **unused) {
    const int position[] = {7, 1, -4, 0, 3, 4, INT_MAX, INT_MIN};
    const int keys[] = {5, 2, 0, 1, 4, 4, 4, 0};
    (void)unused;
    check_rows(position, keys);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(buffered_keeps_each_result),
        cmocka_unit_test(merge_at_once_keeps_one_for_each_row_and_head),
        cmocka_unit_test(sequence_first_only_reads_the_results),
        cmocka_unit_test(sequence_first_uses_every_result),
        cmocka_unit_test(the_order_of_shared_chunks_is_free),
        cmocka_unit_test(example_of_two_phases),
        cmocka_unit_test(example_of_several_rows),
        cmocka_unit_test(example_of_rows_at_positions_of_their_own),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
