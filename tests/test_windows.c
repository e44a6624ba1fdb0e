/* SPDX-License-Identifier: Apache-2.0 */
/* Windows, clause by clause (spec/windows.md): the chapter's example; trees and prompts of modules
 * against sums over the keys that WINDOW-1 names, key by key; numbers at their ends; what is
 * refused. */
#include <limits.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "chunkproof/chunkproof.h"
#include "chunkproof/opt.h"
#include "tests/attend_case.h"
#include "tests/random.h"
#include "tests/runs_case.h"

/* ---- What a row must give ---- */

/* WINDOW-1 */
static int sees(const struct cp_window *w, long long p, long long t) {
    return t <= p + w->ahead && (w->keys == 0 || t > p - w->keys || t < w->kept);
}

static long long position_of(const struct cp_attention *a, int s, int row) {
    int rows = a->query_begin == NULL ? 1 : a->query_begin[s + 1] - a->query_begin[s];
    int first = a->query_begin == NULL ? s : a->query_begin[s];
    return a->position != NULL ? a->position[row]
                               : (long long)a->plan->sequence[s].n_tokens - rows + (row - first);
}

/* Where the numbers of a slot of a chunk begin, for a query head. */
static size_t key_at(const struct cp_attention *a, int head, int chunk, int slot) {
    int kv_head = head / (a->n_heads / a->n_kv_heads);
    size_t row =
        ((size_t)chunk * (size_t)a->n_kv_heads + (size_t)kv_head) * (size_t)a->plan->chunk_size +
        (size_t)slot;
    return row * (size_t)a->head_dim;
}

/* Adds exp(score) of each key that a row and head sees, and exp(score) times the values, which is
 * as exact as the reference while scores are small. Returns how many keys these are. */
static int sums(const struct cp_attention *a, int s, int row, int head, double *weight,
                double *total) {
    const double *q = a->q, *k = a->k, *v = a->v;
    const double *query =
        q + ((size_t)row * (size_t)a->n_heads + (size_t)head) * (size_t)a->head_dim;
    const struct cp_plan_sequence *sequence = &a->plan->sequence[s];
    int n = 0;
    *weight = 0.0;
    memset(total, 0, (size_t)a->head_dim * sizeof *total);
    for (int i = 0; i < sequence->n_chunks; i++) {
        for (int slot = 0; slot < sequence->run[i].n_tokens; slot++) {
            if (!sees(&a->window, position_of(a, s, row),
                      (long long)sequence->run[i].position + slot)) {
                continue;
            }
            size_t at = key_at(a, head, sequence->run[i].chunk, slot);
            double score = 0.0;
            for (int x = 0; x < a->head_dim; x++) {
                score += query[x] * k[at + (size_t)x];
            }
            double e = exp(a->scale * score);
            *weight += e;
            for (int x = 0; x < a->head_dim; x++) {
                total[x] += e * v[at + (size_t)x];
            }
            n++;
        }
    }
    return n;
}

static void expect_near(double is, double should) {
    assert_true(fabs(is - should) <= 1e-11 * (1.0 + fabs(should)));
}

/* Returns the keys that all rows see together. */
static long long expect_right(const struct cp_attention *a) {
    const double *out = a->out;
    double weight, total[RUNS_POSITIONS];
    long long n_keys = 0;
    for (int s = 0; s < a->plan->n_sequences; s++) {
        int end = a->query_begin == NULL ? s + 1 : a->query_begin[s + 1];
        for (int row = a->query_begin == NULL ? s : a->query_begin[s]; row < end; row++) {
            for (int head = 0; head < a->n_heads; head++) {
                size_t at = (size_t)row * (size_t)a->n_heads + (size_t)head;
                int n = sums(a, s, row, head, &weight, total);
                n_keys += n;
                if (n == 0) {
                    assert_true(isinf(a->lse[at]) && a->lse[at] < 0.0);
                } else {
                    expect_near(a->lse[at], log(weight));
                }
                for (int x = 0; x < a->head_dim; x++) {
                    expect_near(out[at * (size_t)a->head_dim + (size_t)x],
                                n == 0 ? 0.0 : total[x] / weight);
                }
            }
        }
    }
    return n_keys;
}

/* In a workspace of just the size that was asked for, and nothing in it. */
static void attend(struct cp_attention *a, int variant, size_t n_results) {
    a->variant = variant;
    a->workspace_size = cp_attend_workspace(a);
    a->workspace = malloc(a->workspace_size);
    assert_non_null(a->workspace);
    memset(a->workspace, 0xFF, a->workspace_size);
    memset(a->out, 0xFF, n_results * (size_t)a->head_dim * sizeof(double));
    memset(a->lse, 0xFF, n_results * sizeof(double));
    assert_int_equal(cp_attend(a), CP_OK);
    free(a->workspace);
    a->workspace = NULL;
}

static struct cp_window draw_window(unsigned long long *random, int chunk_size) {
    const int keys[] = {0, 1, 2, 3, chunk_size, chunk_size + 1, 9, CP_MAX_WINDOW};
    const int ahead[] = {0, 0, 0, 1, 2, chunk_size, CP_MAX_WINDOW};
    const int kept[] = {0, 0, 1, 2, chunk_size, chunk_size + 1, CP_MAX_WINDOW};
    return (struct cp_window){keys[random_below(random, 8)], ahead[random_below(random, 7)],
                              kept[random_below(random, 7)]};
}

/* ---- The example of the chapter ---- */

#define EXAMPLE_CHUNKS 3
#define EXAMPLE_ROWS   6

/* Ten tokens in chunks of four. The value of a token is its position, all scores are 0. */
static struct cp_plan *example_new(double *v) {
    struct cp_plan *plan;
    assert_int_equal(cp_plan_new(&plan), CP_OK);
    plan->capacity = EXAMPLE_CHUNKS;
    plan->chunk_size = 4;
    plan->n_sequences = 1;
    plan->sequence[0].n_tokens = 10;
    plan->sequence[0].n_shared = 0;
    plan->sequence[0].n_chunks = EXAMPLE_CHUNKS;
    for (int k = 0; k < EXAMPLE_CHUNKS; k++) {
        plan->sequence[0].run[k] = (struct cp_run){k, k < 2 ? 4 : 2, 4 * k};
    }
    for (int i = 0; i < 4 * EXAMPLE_CHUNKS; i++) {
        v[i] = i < 10 ? i : NAN;
    }
    assert_null(cp_plan_check_runs(plan));
    return plan;
}

static void expect_means(const struct cp_plan *plan, struct cp_window window, const double *v,
                         const double *mean) {
    const int begin[] = {0, EXAMPLE_ROWS}, position[EXAMPLE_ROWS] = {6, 8, 3, 1, -1, 30};
    double q[EXAMPLE_ROWS] = {0}, k[4 * EXAMPLE_CHUNKS] = {0}, out[EXAMPLE_ROWS], lse[EXAMPLE_ROWS];
    for (int variant = CP_BUFFERED; variant <= CP_MERGE_AT_ONCE; variant++) {
        struct cp_attention a = {.plan = plan,
                                 .stamp = plan->stamp,
                                 .n_heads = 1,
                                 .n_kv_heads = 1,
                                 .head_dim = 1,
                                 .value_dim = 1,
                                 .v_row = 1,
                                 .scale = 1.0,
                                 .query_begin = begin,
                                 .position = position,
                                 .window = window,
                                 .q_type = CP_FP64,
                                 .k_type = CP_FP64,
                                 .v_type = CP_FP64,
                                 .out_type = CP_FP64,
                                 .q = q,
                                 .k = k,
                                 .v = v,
                                 .out = out,
                                 .lse = lse};
        attend(&a, variant, EXAMPLE_ROWS);
        for (int row = 0; row < EXAMPLE_ROWS; row++) {
            assert_true(out[row] == mean[row]);
        }
    }
}

/* WINDOW-1, WINDOW-2 */
static void the_example_has_the_means_of_the_chapter(void **unused) {
    (void)unused;
    double v[4 * EXAMPLE_CHUNKS];
    struct cp_plan *plan = example_new(v);
    const double of_three[] = {15.0 / 4, 21.0 / 4, 6.0 / 4, 1.0 / 2, 0.0, 0.0};
    expect_means(plan, (struct cp_window){3, 0, 1}, v, of_three);
    const double two_kept[] = {16.0 / 5, 22.0 / 5, 6.0 / 4, 1.0 / 2, 0.0, 1.0 / 2};
    expect_means(plan, (struct cp_window){3, 0, 2}, v, two_kept);
    const double ahead[] = {13.0 / 2, 17.0 / 2, 7.0 / 2, 3.0 / 2, 0.0, 0.0};
    expect_means(plan, (struct cp_window){1, 1, 0}, v, ahead);
    const double all[] = {45.0 / 10, 45.0 / 10, 45.0 / 10, 45.0 / 10, 45.0 / 10, 45.0 / 10};
    expect_means(plan, (struct cp_window){0, 11, 0}, v, all);
    cp_plan_free(plan);
}

/* ---- Trees ---- */

static void tree_case(struct attend_case *c, unsigned long long seed) {
    const struct shape shape = {.b = 5,
                                .max_depth = 4,
                                .chunk_size = 1 + (int)(seed % 5),
                                .n_heads = seed % 3 == 0 ? 4 : 2,
                                .n_kv_heads = 2,
                                .head_dim = 3,
                                .q_type = CP_FP64,
                                .kv_type = CP_FP64,
                                .out_type = CP_FP64,
                                .query_mode = (int)(seed % CASE_N_QUERY_MODE),
                                .values = CASE_NORMAL,
                                .poison = CASE_POISON_NAN};
    case_make(c, &shape, seed);
}

/* WINDOW-3: decoding and prefill, with positions of PREFILL-1 and with others. */
static void trees_are_attention_over_the_window(void **unused) {
    (void)unused;
    unsigned long long random = 1;
    long long n_keys = 0;
    for (unsigned long long seed = 1; seed <= 1000; seed++) {
        struct attend_case c;
        tree_case(&c, seed);
        c.attention.window = draw_window(&random, c.shape.chunk_size);
        for (int variant = CP_BUFFERED; variant <= CP_MERGE_AT_ONCE; variant++) {
            assert_int_equal(case_run(&c, variant), CP_OK);
            n_keys += expect_right(&c.attention);
        }
        case_free(&c);
    }
    assert_true(n_keys > 100000);
}

static double *copy_of(const void *from, size_t bytes) {
    double *copy = malloc(bytes + 1);
    assert_non_null(copy);
    memcpy(copy, from, bytes);
    return copy;
}

/* Runs the call, and expects the bits that are given. */
static void expect_bits(struct attend_case *c, struct cp_window window, const double *out,
                        const double *lse) {
    for (int variant = CP_BUFFERED; variant <= CP_MERGE_AT_ONCE; variant++) {
        c->attention.window = window;
        assert_int_equal(case_run(c, variant), CP_OK);
        assert_memory_equal(c->attention.out, out, case_out_bytes(c));
        assert_memory_equal(c->attention.lse, lse, case_lse_bytes(c));
    }
}

/* WINDOW-1: without a window kept says nothing, and one that is large enough hides nothing. The
 * bits are the same, for the keys that are seen are one range; and both variants have them
 * (TPP-4). */
static void no_window_and_a_large_one_are_causal(void **unused) {
    (void)unused;
    for (unsigned long long seed = 1; seed <= 200; seed++) {
        struct attend_case c;
        if (seed % CASE_N_QUERY_MODE == CASE_OWN) {
            continue; /* some rows stand further behind the last key than a window is wide */
        }
        tree_case(&c, seed);
        assert_int_equal(case_run(&c, CP_BUFFERED), CP_OK);
        assert_true(expect_right(&c.attention) >= 0);
        double *out = copy_of(c.attention.out, case_out_bytes(&c)),
               *lse = copy_of(c.attention.lse, case_lse_bytes(&c));
        expect_bits(&c, (struct cp_window){0, 0, 0}, out, lse);
        expect_bits(&c, (struct cp_window){0, 0, CP_MAX_WINDOW}, out, lse);
        expect_bits(&c, (struct cp_window){CP_MAX_WINDOW, 0, 0}, out, lse);
        expect_bits(&c, (struct cp_window){CP_MAX_WINDOW, 0, CP_MAX_WINDOW}, out, lse);
        free(out);
        free(lse);
        case_free(&c);
    }
}

/* WINDOW-2: rows and numbers at their ends; no sum overflows. */
static void numbers_at_their_ends(void **unused) {
    (void)unused;
    const int end[] = {INT_MIN, INT_MIN + 1, -CP_MAX_WINDOW, -1, 0, 1, CP_MAX_WINDOW, INT_MAX};
    const int number[] = {0, 1, CP_MAX_WINDOW - 1, CP_MAX_WINDOW};
    struct attend_case c;
    tree_case(&c, CASE_OWN);
    for (int i = 0; i < 4 * 4 * 4; i++) {
        for (int row = 0; row < c.n_rows; row++) {
            c.position[row] = end[(row + i) % 8];
        }
        c.attention.position = c.position;
        c.attention.window =
            (struct cp_window){number[i % 4], number[i / 4 % 4], number[i / 16 % 4]};
        for (int variant = CP_BUFFERED; variant <= CP_MERGE_AT_ONCE; variant++) {
            assert_int_equal(case_run(&c, variant), CP_OK);
            assert_true(expect_right(&c.attention) >= 0);
        }
    }
    case_free(&c);
}

/* ---- Prompts of modules ---- */

#define D       3
#define NUMBERS (RUNS_CAPACITY * RUNS_CHUNK_SIZE * D)
#define ROWS    (RUNS_SEQUENCES * 3)

struct numbers {
    double q[ROWS * D], k[NUMBERS], v[NUMBERS], out[ROWS * D], lse[ROWS];
};

static struct cp_attention attention_of(const struct prompts *p, struct numbers *x,
                                        struct cp_window window) {
    return (struct cp_attention){.plan = p->plan,
                                 .stamp = p->plan->stamp,
                                 .n_heads = 1,
                                 .n_kv_heads = 1,
                                 .head_dim = D,
                                 .value_dim = D,
                                 .v_row = D,
                                 .scale = 0.5,
                                 .query_begin = p->rows,
                                 .position = p->position,
                                 .window = window,
                                 .q_type = CP_FP64,
                                 .k_type = CP_FP64,
                                 .v_type = CP_FP64,
                                 .out_type = CP_FP64,
                                 .q = x->q,
                                 .k = x->k,
                                 .v = x->v,
                                 .out = x->out,
                                 .lse = x->lse};
}

static void draw_numbers(struct numbers *x, unsigned long long *random) {
    for (int i = 0; i < NUMBERS; i++) {
        x->k[i] = random_normal(random);
        x->v[i] = random_normal(random);
    }
    for (int i = 0; i < ROWS * D; i++) {
        x->q[i] = random_normal(random);
    }
}

/* Is the key in this slot one that a row of the sequence sees? */
static int some_row_sees(const struct cp_attention *a, int s, int position) {
    int found = 0;
    for (int row = a->query_begin[s]; row < a->query_begin[s + 1]; row++) {
        found |= sees(&a->window, position_of(a, s, row), position);
    }
    return found;
}

static int some_key_is_seen(const struct cp_attention *a, int s, struct cp_run run) {
    int found = 0;
    for (int slot = 0; slot < run.n_tokens; slot++) {
        found |= some_row_sees(a, s, run.position + slot);
    }
    return found;
}

/* WINDOW-2: makes K and V not a number where no row sees a key. */
static void spoil_the_unseen(const struct cp_attention *a, struct numbers *x) {
    static double k[NUMBERS], v[NUMBERS];
    for (int i = 0; i < NUMBERS; i++) {
        k[i] = v[i] = NAN;
    }
    for (int s = 0; s < a->plan->n_sequences; s++) {
        for (int i = 0; i < a->plan->sequence[s].n_chunks; i++) {
            struct cp_run run = a->plan->sequence[s].run[i];
            for (int slot = 0; slot < run.n_tokens; slot++) {
                if (some_row_sees(a, s, run.position + slot)) {
                    size_t at = key_at(a, 0, run.chunk, slot);
                    memcpy(k + at, x->k + at, D * sizeof *k);
                    memcpy(v + at, x->v + at, D * sizeof *v);
                }
            }
        }
    }
    memcpy(x->k, k, sizeof k);
    memcpy(x->v, v, sizeof v);
}

/* Does descriptor i serve sequence s? */
static int serves(const struct cp_plan *plan, int i, int s) {
    int found = 0;
    for (int at = plan->shared[i].begin; at < plan->shared[i].end; at++) {
        found |= plan->served[at] == s;
    }
    return found;
}

/* Removes run k of a sequence. */
static void remove_run(struct cp_plan_sequence *sequence, int k) {
    sequence->n_tokens -= sequence->run[k].n_tokens;
    sequence->n_shared -= k < sequence->n_shared;
    sequence->n_chunks--;
    memmove(&sequence->run[k], &sequence->run[k + 1],
            (size_t)(sequence->n_chunks - k) * sizeof sequence->run[0]);
}

/* Which run of sequence s is that of descriptor i, which serves it. */
static int run_of(const struct cp_plan *plan, int i, int s) {
    int k = 0;
    for (int before = 0; before < i; before++) {
        k += serves(plan, before, s);
    }
    return k;
}

static int nobody_sees(const struct cp_attention *a, int i) {
    const struct cp_shared_chunk *shared = &a->plan->shared[i];
    int seen = 0;
    for (int at = shared->begin; at < shared->end; at++) {
        seen |=
            some_key_is_seen(a, a->plan->served[at],
                             (struct cp_run){shared->chunk, shared->n_tokens, shared->position});
    }
    return !seen;
}

/* WINDOW-4: leaves out descriptors and runs of which no row sees a key. Returns how many. */
static int leave_out(const struct cp_attention *a, struct cp_plan *plan) {
    int n = 0;
    for (int i = plan->n_shared - 1; i >= 0; i--) {
        if (nobody_sees(a, i)) {
            for (int at = plan->shared[i].begin; at < plan->shared[i].end; at++) {
                int s = plan->served[at];
                remove_run(&plan->sequence[s], run_of(plan, i, s));
            }
            plan->n_shared--;
            memmove(&plan->shared[i], &plan->shared[i + 1],
                    (size_t)(plan->n_shared - i) * sizeof plan->shared[0]);
            n++;
        }
    }
    for (int s = 0; s < plan->n_sequences; s++) {
        for (int k = plan->sequence[s].n_chunks - 1; k >= plan->sequence[s].n_shared; k--) {
            if (!some_key_is_seen(a, s, plan->sequence[s].run[k])) {
                remove_run(&plan->sequence[s], k);
                n++;
            }
        }
    }
    return n;
}

/* WINDOW-1 to WINDOW-4, of runs at any positions and in any order. */
static void prompts_of_modules_have_windows(void **unused) {
    (void)unused;
    static struct prompts p;
    static struct numbers x;
    unsigned long long random = 7;
    long long n_keys = 0;
    int left_out = 0;
    double out[ROWS * D], lse[ROWS];
    prompts_new(&p);
    for (unsigned long long seed = 1; seed <= 600; seed++) {
        prompts_make(&p, seed);
        struct cp_attention a =
            attention_of(&p, &x, draw_window(&random, 1 + random_below(&random, 8)));
        draw_numbers(&x, &random);
        attend(&a, CP_BUFFERED, ROWS);
        n_keys += expect_right(&a);
        memcpy(out, x.out, sizeof out);
        memcpy(lse, x.lse, sizeof lse);
        for (int change = 0; change < 3; change++) {
            if (change == 1) {
                spoil_the_unseen(&a, &x);
            } else if (change == 2) {
                left_out += leave_out(&a, p.plan);
                assert_null(cp_plan_check_runs(p.plan));
            }
            for (int variant = CP_BUFFERED; variant <= CP_MERGE_AT_ONCE; variant++) {
                attend(&a, variant, ROWS);
                assert_memory_equal(x.out, out, sizeof out);
                assert_memory_equal(x.lse, lse, sizeof lse);
            }
        }
    }
    assert_true(n_keys > 10000 && left_out > 500);
    prompts_free(&p);
}

/* ---- What is refused ---- */

/* WINDOW-1: numbers that are no window's; nothing is written. */
static void numbers_that_are_no_windows(void **unused) {
    (void)unused;
    const int bad[] = {-1, INT_MIN, CP_MAX_WINDOW + 1, INT_MAX};
    struct attend_case c;
    struct cp_opt *opt;
    tree_case(&c, 1);
    assert_int_equal(cp_opt_new(&opt, 1, CP_OPT_PORTABLE), CP_OK);
    for (int i = 0; i < 3 * 4; i++) {
        int *const part[] = {&c.attention.window.keys, &c.attention.window.ahead,
                             &c.attention.window.kept};
        *part[i % 3] = bad[i / 3];
        for (int variant = CP_BUFFERED; variant <= CP_MERGE_AT_ONCE; variant++) {
            assert_int_equal(case_run(&c, variant), CP_ERROR_ARGUMENT);
            for (size_t byte = 0; byte < case_out_bytes(&c); byte++) {
                assert_int_equal(((unsigned char *)c.attention.out)[byte], 0xFF);
            }
        }
        assert_true(cp_attend_workspace(&c.attention) > 0); /* it does not look at the window */
        assert_int_equal(cp_opt_attend(opt, &c.attention), CP_ERROR_ARGUMENT);
        *part[i % 3] = 0;
    }
    assert_int_equal(case_run(&c, CP_BUFFERED), CP_OK);
    cp_opt_free(opt);
    case_free(&c);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_example_has_the_means_of_the_chapter),
        cmocka_unit_test(trees_are_attention_over_the_window),
        cmocka_unit_test(no_window_and_a_large_one_are_causal),
        cmocka_unit_test(numbers_at_their_ends),
        cmocka_unit_test(prompts_of_modules_have_windows),
        cmocka_unit_test(numbers_that_are_no_windows),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
