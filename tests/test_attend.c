/* SPDX-License-Identifier: Apache-2.0 */
/* Attention over random plans against the oracle (TPP-3 .. TPP-6, PREFILL-1 .. PREFILL-4), and that
 * the comparison can fail: falsified questions, faulty plans, wrong ways to merge. Refusals are in
 * test_refusal.c, partial results in test_two_phase.c. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "attend_case.h"
#include "chunkproof/kv.h"
#include "chunkproof/number.h"
#include "chunkproof/softmax.h"
#include "chunkproof/status.h"

#define D      8   /* head dimension of the small cases */
#define HUGE_D 128 /* ... and of the one in a huge pool */

static const struct shape small = {.b = 7,
                                   .max_depth = 4,
                                   .chunk_size = 3,
                                   .n_heads = 4,
                                   .n_kv_heads = 2,
                                   .head_dim = D,
                                   .q_type = CP_FP64,
                                   .kv_type = CP_FP64,
                                   .out_type = CP_FP64,
                                   .query_mode = CASE_SEVERAL};

static void *copy_of(const void *from, size_t bytes) {
    void *copy = malloc(bytes + 1);
    assert_non_null(copy);
    memcpy(copy, from, bytes);
    return copy;
}

/* The case is right by both variants, and both give the same bits (TPP-4). */
static void expect_right(struct attend_case *c) {
    assert_true(cp_plan_is_valid(c->plan));
    assert_int_equal(case_run(c, CP_BUFFERED), CP_OK);
    struct verdict verdict = case_compare(c, CASE_RIGHT);
    if (verdict.wrong > 0) {
        case_print(c);
    }
    assert_int_equal(verdict.wrong, 0);
    void *out = copy_of(c->attention.out, case_out_bytes(c));
    void *lse = copy_of(c->attention.lse, case_lse_bytes(c));
    assert_int_equal(case_run(c, CP_MERGE_AT_ONCE), CP_OK);
    assert_memory_equal(c->attention.out, out, case_out_bytes(c));
    assert_memory_equal(c->attention.lse, lse, case_lse_bytes(c));
    free(out);
    free(lse);
}

static void check_shape(const struct shape *shape, unsigned long long seed) {
    struct attend_case c;
    case_make(&c, shape, seed);
    expect_right(&c);
    case_free(&c);
}

/* ---- Right ---- */

/* h and h_kv: groups of 1 to 8, one K/V head for all, one for each. */
static const int heads[][2] = {{1, 1}, {2, 1}, {3, 1}, {4, 1}, {5, 1}, {6, 1}, {7, 1},
                               {8, 1}, {4, 2}, {6, 2}, {6, 3}, {3, 3}, {8, 4}};

#define N_HEADS_TRIED (int)(sizeof heads / sizeof heads[0])

static void every_type_head_dimension_and_chunk_size(void **unused) {
    const int head_dims[] = {1, 3, 64, 80, 128};
    const int chunk_sizes[] = {1, 2, 3, 16, 64};
    unsigned long long seed = 1000;
    (void)unused;
    for (int type = CP_FP16; type <= CP_BF16; type++) {
        for (int i = 0; i < 25; i++) {
            struct shape shape = small;
            shape.head_dim = head_dims[i / 5];
            shape.chunk_size = chunk_sizes[i % 5];
            shape.max_depth = shape.chunk_size == 64 ? 2 : 5;
            shape.b = 4;
            shape.n_heads = heads[seed % N_HEADS_TRIED][0];
            shape.n_kv_heads = heads[seed % N_HEADS_TRIED][1];
            shape.q_type = shape.kv_type = shape.out_type = type;
            shape.query_mode = (int)(seed % CASE_N_QUERY_MODE);
            check_shape(&shape, seed++);
        }
    }
}

static void every_group_of_heads(void **unused) {
    (void)unused;
    for (int i = 0; i < N_HEADS_TRIED; i++) {
        for (int mode = 0; mode < CASE_N_QUERY_MODE; mode++) {
            struct shape shape = small;
            shape.n_heads = heads[i][0];
            shape.n_kv_heads = heads[i][1];
            shape.query_mode = mode;
            check_shape(&shape, 2000 + (unsigned)i);
        }
    }
}

static void every_mixture_of_types(void **unused) {
    (void)unused;
    for (unsigned i = 0; i < 64; i++) {
        struct shape shape = small;
        shape.q_type = (int)i % 4;
        shape.kv_type = (int)i / 4 % 4;
        shape.out_type = (int)i / 16;
        check_shape(&shape, 3000 + i);
    }
}

static void many_forests(void **unused) {
    (void)unused;
    for (unsigned i = 0; i < 400; i++) {
        struct shape shape = small;
        shape.b = (int)i % 12;
        shape.max_depth = 1 + (int)i % 5;
        shape.chunk_size = 1 + (int)i % 4;
        shape.head_dim = 2;
        shape.query_mode = (int)(i / 3 % CASE_N_QUERY_MODE);
        shape.poison = (int)(i % 3);
        check_shape(&shape, 4000 + i);
    }
}

static void every_kind_of_value(void **unused) {
    (void)unused;
    for (int values = 0; values < CASE_N_VALUES; values++) {
        for (unsigned i = 0; i < 32; i++) {
            struct shape shape = small;
            shape.values = values;
            shape.kv_type = shape.q_type = (int)i % 4;
            shape.out_type = (int)i / 4 % 4;
            shape.head_dim = 24;
            shape.query_mode = (int)i / 16 ? CASE_DECODE : CASE_ALL;
            check_shape(&shape, 5000 + i);
        }
    }
}

/* TPP-6: what lies behind the last key changes no bit. */
static void padding_does_not_matter(void **unused) {
    (void)unused;
    for (unsigned long long seed = 6000; seed < 6040; seed++) {
        struct attend_case c[3];
        for (int poison = 0; poison < 3; poison++) {
            struct shape shape = small;
            shape.poison = poison;
            shape.query_mode = seed % 2 ? CASE_MORE : CASE_DECODE;
            case_make(&c[poison], &shape, seed);
            assert_int_equal(case_run(&c[poison], CP_BUFFERED), CP_OK);
            assert_memory_equal(c[poison].attention.out, c[0].attention.out, case_out_bytes(&c[0]));
            assert_memory_equal(c[poison].attention.lse, c[0].attention.lse, case_lse_bytes(&c[0]));
        }
        for (int poison = 0; poison < 3; poison++) {
            case_free(&c[poison]);
        }
    }
}

/* A NaN in one key of one K/V head reaches exactly the rows and heads that see that key. */
static void a_key_is_felt_by_those_that_see_it(void **unused) {
    int felt = 0;
    int not_felt = 0;
    (void)unused;
    for (unsigned i = 0; i < 200; i++) {
        struct attend_case c;
        struct shape shape = small;
        shape.query_mode = (int)(i % CASE_N_QUERY_MODE);
        case_make(&c, &shape, 7000 + i / 2);
        int group = shape.n_heads / shape.n_kv_heads;
        int s = (int)i % shape.b;
        int n = c.plan->sequence[s].n_tokens;
        int j = n / 2;
        int g = (int)i % shape.n_kv_heads;
        size_t poisoned = n == 0 ? SIZE_MAX : case_key(&c, s, j, g);
        if (n > 0) {
            void *typed = i % 2 ? c.typed_k : c.typed_v;
            for (size_t x = 0; x < (size_t)shape.head_dim; x++) {
                cp_number_store(typed, shape.kv_type, poisoned + x, NAN);
            }
        }
        assert_int_equal(case_run(&c, i % 3 ? CP_BUFFERED : CP_MERGE_AT_ONCE), CP_OK);
        for (int row = 0; row < c.n_rows; row++) {
            for (int head = 0; head < shape.n_heads; head++) {
                int at = row * shape.n_heads + head;
                int sees = j < case_visible(&c, row) &&
                           case_key(&c, case_sequence_of(&c, row), j, head / group) == poisoned;
                const double *out = c.attention.out;
                assert_int_equal(!!isnan(out[(ptrdiff_t)at * shape.head_dim]), sees);
                felt += sees;
                not_felt += !sees;
            }
        }
        case_free(&c);
    }
    assert_in_range(felt, 500, 100000); /* the case has occurred often */
    assert_in_range(not_felt, 500, 100000);
}

static void lse_is_optional(void **unused) {
    struct attend_case c;
    (void)unused;
    case_make(&c, &small, 8000);
    expect_right(&c);
    void *out = copy_of(c.attention.out, case_out_bytes(&c));
    double *lse = c.attention.lse;
    c.attention.lse = NULL;
    memset(c.attention.out, 0xFF, case_out_bytes(&c));
    assert_int_equal(cp_attend(&c.attention), CP_OK);
    assert_memory_equal(c.attention.out, out, case_out_bytes(&c));
    c.attention.lse = lse;
    free(out);
    case_free(&c);
}

/* The same call again: the same bits, whatever the workspace held, and nothing given was
 * changed. */
static void nothing_is_kept_between_calls(void **unused) {
    struct attend_case c;
    struct attend_case untouched;
    size_t bytes;
    (void)unused;
    case_make(&c, &small, 9000);
    case_make(&untouched, &small, 9000);
    assert_int_equal(case_run(&c, CP_BUFFERED), CP_OK);
    void *out = copy_of(c.attention.out, case_out_bytes(&c));
    assert_int_equal(cp_attend(&c.attention), CP_OK);
    assert_memory_equal(c.attention.out, out, case_out_bytes(&c));
    memset(c.attention.workspace, 0x3F, c.attention.workspace_size);
    assert_int_equal(cp_attend(&c.attention), CP_OK);
    assert_memory_equal(c.attention.out, out, case_out_bytes(&c));
    bytes = (size_t)(c.plan->capacity * small.n_kv_heads * small.chunk_size * small.head_dim) *
            sizeof(double);
    assert_memory_equal(c.typed_k, untouched.typed_k, bytes);
    assert_memory_equal(c.typed_v, untouched.typed_v, bytes);
    assert_memory_equal(c.typed_q, untouched.typed_q, case_out_bytes(&c));
    free(out);
    case_free(&c);
    case_free(&untouched);
}

/* Copies all keys of the case to K and V of a much larger pool, `away` chunks further up. */
static void move_away(struct attend_case *c, struct cp_kv *far, int away) {
    struct cp_plan *plan = c->plan;
    double key[HUGE_D];
    double value[HUGE_D];
    for (int s = 0; s < plan->n_sequences; s++) {
        for (int j = 0; j < plan->sequence[s].n_tokens; j++) {
            int chunk = plan->sequence[s].run[j / plan->chunk_size].chunk + away;
            for (int g = 0; g < far->n_kv_heads; g++) {
                memcpy(key, c->k + case_key(c, s, j, g), sizeof key);
                memcpy(value, c->v + case_key(c, s, j, g), sizeof value);
                cp_kv_write(far, chunk, g, j % plan->chunk_size, key, value);
            }
        }
    }
    for (int i = 0; i < plan->n_shared; i++) {
        plan->shared[i].chunk += away;
    }
    for (int s = 0; s < plan->n_sequences; s++) {
        for (int k = 0; k < plan->sequence[s].n_chunks; k++) {
            plan->sequence[s].run[k].chunk += away;
        }
    }
    plan->capacity += away;
}

/* Elements beyond 2^32 of K and V: 8 GiB each in FP16, of which only the pages of the keys
 * exist. */
static void offsets_beyond_32_bits(void **unused) {
    struct shape shape = small;
    struct attend_case c;
    struct cp_kv far;
    (void)unused;
    shape.head_dim = HUGE_D;
    shape.n_heads = shape.n_kv_heads = 2;
    shape.chunk_size = 64;
    shape.max_depth = 2;
    shape.b = 3;
    shape.kv_type = CP_FP16;
    shape.query_mode = CASE_DECODE;
    case_make(&c, &shape, 8500);
    expect_right(&c);
    void *out = copy_of(c.attention.out, case_out_bytes(&c));
    const int away = (int)((1LL << 32) / (2LL * 64 * HUGE_D)) + 5;
    assert_int_equal(cp_kv_new(&far, c.plan->capacity + away, 2, 64, HUGE_D, CP_FP16, CP_ON_DEMAND),
                     CP_OK);
    move_away(&c, &far, away);
    c.attention.k = far.k;
    c.attention.v = far.v;
    assert_true(cp_plan_is_valid(c.plan));
    for (int variant = 0; variant < 2; variant++) {
        assert_int_equal(case_run(&c, variant), CP_OK);
        assert_memory_equal(c.attention.out, out, case_out_bytes(&c));
    }
    cp_kv_free(&far);
    free(out);
    case_free(&c);
}

/* What the random cases cover, so that a change of the generator cannot quietly empty the tests. */
static void the_cases_cover_what_they_should(void **unused) {
    int empty = 0, masked = 0, forests = 0, deep = 0, no_query = 0, partial = 0, whole = 0;
    (void)unused;
    for (unsigned long long seed = 0; seed < 200; seed++) {
        struct attend_case c;
        struct shape shape = small;
        shape.query_mode = seed % 2 ? CASE_MORE : CASE_SEVERAL;
        case_make(&c, &shape, seed);
        for (int s = 0; s < shape.b; s++) {
            int n = c.plan->sequence[s].n_tokens;
            int queries = c.query_begin[s + 1] - c.query_begin[s];
            empty += n == 0 && queries > 0;
            masked += n > 0 && queries > n;
            no_query += n > 0 && queries == 0;
            partial += n % shape.chunk_size != 0;
            whole += n > 0 && c.plan->sequence[s].n_shared == c.plan->sequence[s].n_chunks;
        }
        forests += c.plan->n_shared >= 2 && c.plan->shared[0].end < shape.b;
        deep += c.plan->n_shared > 0 &&
                c.plan->shared[c.plan->n_shared - 1].position > shape.chunk_size;
        case_free(&c);
    }
    const int seen[] = {empty, masked, forests, deep, no_query, partial, whole};
    for (size_t i = 0; i < sizeof seen / sizeof seen[0]; i++) {
        assert_in_range(seen[i], 10, 1400);
    }
}

/* ---- Wrong, and refused by the comparison ---- */

static void falsified_questions_are_noticed(void **unused) {
    (void)unused;
    for (unsigned long long seed = 100; seed < 110; seed++) {
        struct attend_case c;
        case_make(&c, &small, seed);
        expect_right(&c);
        for (int falsification = 1; falsification < CASE_N_FALSIFICATION; falsification++) {
            struct verdict verdict = case_compare(&c, falsification);
            assert_int_equal(verdict.wrong, verdict.rows - verdict.masked);
            assert_in_range(verdict.wrong, 1, verdict.rows);
        }
        case_free(&c);
    }
}

/* A NaN or a huge number must not pass either, nor zeros, nor one wrong element at the end. */
static void falsified_results_are_noticed(void **unused) {
    const double bad[] = {NAN, INFINITY, 0.0, 1e300};
    struct attend_case c;
    (void)unused;
    case_make(&c, &small, 200);
    for (int i = 0; i < 4; i++) {
        expect_right(&c);
        double *out = c.attention.out;
        size_t n = case_out_bytes(&c) / sizeof(double);
        out[n - 1] = bad[i];
        assert_int_equal(case_compare(&c, CASE_RIGHT).wrong, 1);
        expect_right(&c);
        c.attention.lse[0] = bad[i];
        assert_int_equal(case_compare(&c, CASE_RIGHT).wrong, 1);
    }
    case_free(&c);
}

/* Ways to spoil a valid plan with a descriptor that covers two sequences or more. */
#define N_PLAN_FAULTS 8

static void spoil_plan(struct cp_plan *plan, int fault) {
    struct cp_shared_chunk *shared = &plan->shared[0];
    struct cp_plan_sequence *path = &plan->sequence[shared->begin];
    int *const field[] = {&shared->end,      &shared->begin,  &shared->n_tokens, &shared->chunk,
                          &shared->position, &path->n_shared, &path->n_shared,   &plan->n_shared};
    const int change[] = {-1, 1, -1, 0, plan->chunk_size, -1, 1, -1};
    *field[fault] += change[fault];
    if (fault == 3) {
        shared->chunk = plan->shared[1].chunk;
    }
}

static void faulty_plans_are_noticed(void **unused) {
    struct shape shape = small;
    int noticed[N_PLAN_FAULTS] = {0};
    (void)unused;
    shape.query_mode = CASE_ALL;
    for (unsigned long long seed = 300; seed < 340; seed++) {
        for (int fault = 0; fault < N_PLAN_FAULTS; fault++) {
            struct attend_case c;
            case_make(&c, &shape, seed);
            int first = c.plan->shared[0].begin;
            if (c.plan->n_shared >= 2 &&
                c.plan->sequence[first].n_chunks > c.plan->sequence[first].n_shared) {
                int variant = (int)seed % 2;
                spoil_plan(c.plan, fault);
                c.attention.variant = variant;
                assert_true(cp_attend_workspace(&c.attention) > 0);
                assert_int_equal(case_run(&c, variant), CP_OK);
                assert_in_range(case_compare(&c, CASE_RIGHT).wrong, 1, 100000);
                assert_false(cp_plan_is_valid(c.plan));
                noticed[fault]++;
            }
            case_free(&c);
        }
    }
    for (int fault = 0; fault < N_PLAN_FAULTS; fault++) {
        assert_in_range(noticed[fault], 10, 40);
    }
}

/* Attention as an implementation might do it wrong: partial_attn for each chunk on the path,
 * then */
#define WRONG_NONE       0 /* nothing is wrong: the frame itself is right */
#define WRONG_RESCALE    1 /* outputs and normalisers added up as they are */
#define WRONG_AVERAGE    2 /* the finished outputs of the chunks averaged */
#define WRONG_OVERWRITE  3 /* only the last chunk counts */
#define WRONG_PADDING    4 /* chunks read to their end */
#define WRONG_VISIBILITY 5 /* every row sees all keys */
#define N_WRONG          6

static void wrong_row(struct attend_case *c, int row, int head, int wrong) {
    const struct cp_attention *a = &c->attention;
    const struct cp_plan_sequence *path = &c->plan->sequence[case_sequence_of(c, row)];
    int size = c->plan->chunk_size;
    int visible = wrong == WRONG_VISIBILITY ? path->n_tokens : case_visible(c, row);
    ptrdiff_t at = (ptrdiff_t)row * a->n_heads + head;
    struct cp_state state;
    double o[D];
    double mean[D];
    cp_state_empty(&state, o, D);
    for (int k = 0; k * size < visible; k++) {
        int n_keys =
            visible - k * size < size && wrong != WRONG_PADDING ? visible - k * size : size;
        struct cp_state part;
        double part_o[D];
        size_t first =
            (size_t)(path->run[k].chunk * a->n_kv_heads + head / (a->n_heads / a->n_kv_heads)) *
            (size_t)size;
        cp_partial_attn(&part, part_o, c->q + at * D, a->k, a->v, a->k_type, first, n_keys, D,
                        a->scale);
        if (wrong == WRONG_RESCALE && state.n != 0.0) {
            part.m = state.m;
        } else if (wrong == WRONG_AVERAGE) {
            cp_finish(&part, part_o, mean, D);
            memcpy(part_o, mean, sizeof mean);
            part = (struct cp_state){0.0, 1.0};
        } else if (wrong == WRONG_OVERWRITE) {
            cp_state_empty(&state, o, D);
        }
        cp_attn_reduce(&state, o, &part, part_o, D);
    }
    a->lse[at] = cp_finish(&state, o, (double *)a->out + at * D, D);
}

static void wrong_implementations_are_noticed(void **unused) {
    (void)unused;
    for (int wrong = 0; wrong < N_WRONG; wrong++) {
        for (unsigned long long seed = 400; seed < 410; seed++) {
            struct attend_case c;
            struct shape shape = small;
            shape.query_mode = CASE_ALL;
            case_make(&c, &shape, seed);
            for (int row = 0; row < c.n_rows; row++) {
                for (int head = 0; head < shape.n_heads; head++) {
                    wrong_row(&c, row, head, wrong);
                }
            }
            int n = case_compare(&c, CASE_RIGHT).wrong;
            assert_int_equal(n > 0, wrong != WRONG_NONE);
            case_free(&c);
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_type_head_dimension_and_chunk_size),
        cmocka_unit_test(every_group_of_heads),
        cmocka_unit_test(every_mixture_of_types),
        cmocka_unit_test(many_forests),
        cmocka_unit_test(every_kind_of_value),
        cmocka_unit_test(padding_does_not_matter),
        cmocka_unit_test(a_key_is_felt_by_those_that_see_it),
        cmocka_unit_test(lse_is_optional),
        cmocka_unit_test(nothing_is_kept_between_calls),
        cmocka_unit_test(offsets_beyond_32_bits),
        cmocka_unit_test(the_cases_cover_what_they_should),
        cmocka_unit_test(falsified_questions_are_noticed),
        cmocka_unit_test(falsified_results_are_noticed),
        cmocka_unit_test(faulty_plans_are_noticed),
        cmocka_unit_test(wrong_implementations_are_noticed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
