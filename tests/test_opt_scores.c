/* SPDX-License-Identifier: Apache-2.0 */
/* Changed scores of fast attention (spec/scores.md), in every version that the machine can run:
 * within the certified tolerance of attention with a cap, biases by distance (of slopes and of a
 * table) and a sink (NUM-15), alone and together, with windows and without, over trees and over
 * runs at any positions; the same bits from any number of threads; rows that see only the sink;
 * what is refused. tanh itself is in test_opt_tanh.c, the loops are in test_opt_kernels.c. */
#include <float.h>
#include <limits.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "chunkproof/number.h"
#include "chunkproof/status.h"
#include "opt_case.h"
#include "random.h"
#include "runs_case.h"
#include "runs_plan.h"
#include "score_case.h"

static const struct shape small = {.b = 5,
                                   .max_depth = 4,
                                   .chunk_size = 3,
                                   .n_heads = 4,
                                   .n_kv_heads = 2,
                                   .head_dim = 24,
                                   .query_mode = CASE_SEVERAL};

static struct cp_opt *opt_of(int n_threads, int version) {
    struct cp_opt *opt;
    assert_int_equal(cp_opt_new(&opt, n_threads, version), CP_OK);
    return opt;
}

/* Right in each version, and nothing but results written. */
static void check(const struct shape *shape, struct cp_window window, unsigned long long seed,
                  double *largest) {
    struct attend_case c;
    struct score_case drawn;
    case_make(&c, shape, seed);
    c.attention.window = window;
    score_case_draw(&c, &drawn, seed);
    for (int i = 0, version; (version = opt_case_version(i)) != 0; i++) {
        struct cp_opt *opt = opt_of(2, version);
        int status = opt_case_run(opt, &c, (int)(seed % 8));
        int wrong = status == CP_OK ? opt_case_wrong(&c, 40, largest) : 0;
        if (status != CP_OK || wrong > 0) {
            print_error("version %d, cap %g, slopes %d, sinks %d, biases %d\n", version,
                        c.attention.scores.cap, c.attention.scores.slopes != NULL,
                        c.attention.scores.sinks != NULL, c.attention.scores.biases.bias != NULL);
            case_print(&c);
        }
        assert_int_equal(status, CP_OK);
        assert_int_equal(wrong, 0);
        cp_opt_free(opt);
    }
    case_free(&c);
}

static struct cp_window window_of(int seed) {
    const int keys[] = {0, 3, 0, 5, 1, 0, 9}, ahead[] = {0, 0, 2}, kept[] = {0, 1, 3, 7};
    return (struct cp_window){keys[seed % 7], ahead[seed / 7 % 3], kept[seed / 3 % 4]};
}

/* SCORE-1 to SCORE-5: forests of small chunks, with rows at positions of PREFILL-1 and at others,
 * also below 0 and behind all keys. */
static void forests_have_scores(void **unused) {
    double largest = 0.0;
    (void)unused;
    for (int seed = 0; seed < 400; seed++) {
        struct shape shape = small;
        shape.b = seed / 3 % 12;
        shape.max_depth = 1 + seed / 8 % 5;
        shape.chunk_size = 1 + seed % 5;
        shape.query_mode = seed % CASE_N_QUERY_MODE;
        shape.poison = seed / 5 % 3;
        shape.n_heads = seed % 4 == 0 ? 36 : 4;
        check(&shape, seed / 8 % 2 ? window_of(seed) : (struct cp_window){0, 0, 0},
              4000 + (unsigned)seed, &largest);
    }
    assert_true(largest > 0.01 && largest < 1.0); /* not by too wide a bound */
}

/* Tiles that end within a chunk and behind it; few rows and many. */
static void tiles_of_every_size(void **unused) {
    const int chunk_sizes[] = {16, 63, 64, 100, 7};
    double largest = 0.0;
    (void)unused;
    for (int i = 0; i < 80; i++) {
        struct shape shape = small;
        shape.chunk_size = chunk_sizes[i % 5];
        shape.n_heads = i / 2 % 2 ? 4 : 36;
        shape.head_dim = i % 3 ? 24 : 33;
        shape.query_mode = i % 3 == 0 ? CASE_DECODE : i % 3 == 1 ? CASE_ALL : CASE_OWN;
        check(&shape, i % 4 == 3 ? window_of(i * 5) : (struct cp_window){0, 0, 0},
              4400 + (unsigned)i, &largest);
    }
}

/* SCORE-3: paths that are cut into several tasks, whose partial results have one sink. */
static void long_paths_have_one_sink(void **unused) {
    double largest = 0.0;
    (void)unused;
    for (int i = 0; i < 16; i++) {
        struct shape shape = small;
        shape.b = 1 + i % 3;
        shape.chunk_size = i % 2 ? 64 : 100;
        shape.max_depth = 24;
        shape.n_heads = 2;
        shape.n_kv_heads = 1;
        shape.head_dim = 8;
        shape.query_mode = i / 8 ? CASE_OWN : i % 4 ? CASE_DECODE : CASE_ALL;
        check(&shape, (struct cp_window){0, 0, 0}, 4504 + (unsigned)i, &largest);
    }
}

static void types_and_values(void **unused) {
    const int types[] = {CP_FP16, CP_BF16, CP_FP32};
    double largest = 0.0;
    (void)unused;
    for (int i = 0; i < 6 * CASE_N_VALUES; i++) {
        struct shape shape = small;
        shape.values = i % CASE_N_VALUES;
        shape.head_dim = i % 2 ? 48 : 100;
        shape.chunk_size = 16;
        shape.n_heads = i / 2 % 2 ? 4 : 40;
        shape.q_type = shape.kv_type = shape.out_type = types[i / CASE_N_VALUES % 3];
        check(&shape, window_of(i / 3), 4601 + (unsigned)i, &largest);
    }
}

/* ---- Runs at any positions ---- */

#define HEADS   4
#define ROWS    (RUNS_SEQUENCES * 3)
#define NUMBERS (RUNS_CAPACITY * RUNS_CHUNK_SIZE * RUNS_POSITIONS)

static float out[ROWS * HEADS][RUNS_POSITIONS];
static double lse[ROWS * HEADS];

/* SCORE-2, SCORE-5: of a key so far from the row. Both are exact here. */
static double bias_of(const struct cp_scores *scores, int head, int distance) {
    const struct cp_biases *table = &scores->biases;
    double bias = scores->slopes == NULL ? 0.0 : scores->slopes[head] * distance;
    int i = table->own - distance;
    if (table->bias != NULL) {
        bias += table->bias[head * table->n + (i < 0 ? 0 : i < table->n ? i : table->n - 1)];
    }
    return bias;
}

/* Q is 0, and the value of a key is 1 in its own column: there stands its weight. The scores are
 * exact. A weight is an exponential, which is multiplied by another one for each run and task that
 * comes behind; they are added up. All are positive: relative errors add up. */
static void expect_rows(const struct prompts *p, const struct cp_scores *scores) {
    for (int s = 0; s < p->plan->n_sequences; s++) {
        double off = (RUNS_POSITIONS + 8.0 * (p->plan->sequence[s].n_chunks + 2)) * 0x1p-24;
        for (int at = p->rows[s] * HEADS; at < p->rows[s + 1] * HEADS; at++) {
            int row = at / HEADS, head = at % HEADS;
            double weight[RUNS_POSITIONS], sum = exp(scores->sinks[head]);
            for (int j = 0; j < RUNS_POSITIONS; j++) {
                int seen = prompts_output(p, s, row, j) > 0.0;
                weight[j] = seen ? exp(bias_of(scores, head, j - p->position[row])) : 0.0;
                sum += weight[j];
            }
            for (int j = 0; j < RUNS_POSITIONS; j++) {
                double right = weight[j] / sum;
                assert_true(fabs((double)out[at][j] - right) <= off * right);
            }
            assert_true(fabs(lse[at] - log(sum)) <= off * (1.0 + fabs(log(sum))));
        }
    }
}

static void attend_prompts(const struct prompts *p, struct cp_attention *a, struct cp_opt *opt) {
    a->workspace_size = cp_opt_workspace(opt, a);
    a->workspace = malloc(a->workspace_size);
    assert_non_null(a->workspace);
    memset(a->workspace, 0xFF, a->workspace_size);
    memset(out, 0xFF, sizeof out);
    memset(lse, 0xFF, sizeof lse);
    assert_int_equal(cp_opt_attend(opt, a), CP_OK);
    free(a->workspace);
    expect_rows(p, &a->scores);
}

#define MOST_BIASES (2 * RUNS_POSITIONS)

/* Slopes, a table or both. A table is of few entries, or of more than there are distances. The
 * row's own is any of them, and the first one where rows see keys ahead. */
static void draw_biases(struct cp_scores *scores, double *bias, int seed, int ahead) {
    unsigned long long random = (unsigned)seed;
    for (int i = 0; i < HEADS * MOST_BIASES; i++) {
        bias[i] = (random_below(&random, 1024) - 512) / 64.0;
    }
    int n = 1 + random_below(&random, seed % 4 < 2 ? 9 : MOST_BIASES);
    scores->biases =
        (struct cp_biases){seed % 3 ? bias : NULL, n, ahead > 0 ? 0 : random_below(&random, n)};
    scores->slopes = seed % 3 == 1 ? NULL : scores->slopes;
}

/* SCORE-2, SCORE-5: positions of runs, in any order and with gaps, not numbers of keys; descriptors
 * of each kind; also so far away that binary32 does not have these positions. */
static void prompts_of_modules_have_these_scores(void **unused) {
    static struct prompts p;
    static double wide_k[NUMBERS], wide_v[NUMBERS];
    static float q[ROWS * HEADS * RUNS_POSITIONS], k[NUMBERS], v[NUMBERS];
    static double bias[HEADS * MOST_BIASES];
    const double slopes[HEADS] = {0.25, -0.125, 0.0, 0x1p-6}, sinks[HEADS] = {1.5, -2.0, 0.5, 4.0};
    int position[ROWS];
    struct cp_plan *plan;
    (void)unused;
    assert_int_equal(cp_plan_new(&plan), CP_OK);
    prompts_new(&p);
    for (int seed = 1; seed <= 120; seed++) {
        int by = seed / 2 % 4 == 0 ? CP_MAX_WINDOW - seed : 0;
        prompts_make(&p, (unsigned)seed);
        p.window = seed % 2 ? window_of(seed * 4) : (struct cp_window){0, 0, 0};
        p.window.kept = by > 0 ? 0 : p.window.kept;
        prompts_fill(p.plan, wide_k, wide_v);
        for (int i = 0; i < NUMBERS; i++) {
            k[i] = (float)wide_k[i];
            v[i] = (float)wide_v[i];
        }
        runs_as_plan(plan, p.plan, seed / 3 % RUNS_WAYS);
        runs_move(plan, by);
        for (int row = 0; row < p.rows[p.plan->n_sequences]; row++) {
            position[row] = p.position[row] + by;
        }
        struct cp_attention a = {
            .plan = plan,
            .stamp = plan->stamp,
            .n_heads = HEADS,
            .n_kv_heads = 1,
            .head_dim = RUNS_POSITIONS,
            .value_dim = RUNS_POSITIONS,
            .v_row = RUNS_POSITIONS,
            .scale = 1.0,
            .query_begin = p.rows,
            .position = position,
            .window = p.window,
            .scores = {.cap = seed % 5 ? 0.0 : 2.0, .slopes = slopes, .sinks = sinks},
            .q_type = CP_FP32,
            .k_type = CP_FP32,
            .v_type = CP_FP32,
            .out_type = CP_FP32,
            .q = q,
            .k = k,
            .v = v,
            .out = out,
            .lse = lse};
        draw_biases(&a.scores, bias, seed, p.window.ahead);
        for (int i = 0, version; (version = opt_case_version(i)) != 0; i++) {
            struct cp_opt *opt = opt_of(1 + seed % 3, version);
            attend_prompts(&p, &a, opt);
            cp_opt_free(opt);
        }
    }
    prompts_free(&p);
    cp_plan_free(plan);
}

/* ---- The same bits ---- */

/* Slopes of 0, a table of 0, and a sink far below that is beside a key. */
static void what_adds_nothing_changes_no_bit(void **unused) {
    double zeros[SCORE_CASE_HEADS] = {0}, low[SCORE_CASE_HEADS];
    const struct cp_scores nothing[] = {{.slopes = zeros},
                                        {.cap = -0.0, .biases = {NULL, -7, -8}},
                                        {.biases = {zeros, 1, 0}},
                                        {.sinks = low},
                                        {.slopes = zeros, .sinks = low}};
    (void)unused;
    for (int i = 0; i < SCORE_CASE_HEADS; i++) {
        low[i] = -0x1p30;
    }
    for (int i = 0, version; (version = opt_case_version(i)) != 0; i++) {
        struct cp_opt *opt = opt_of(2, version);
        for (unsigned seed = 0; seed < 30; seed++) {
            struct shape shape = small;
            struct attend_case c;
            shape.query_mode = seed % 2 ? CASE_DECODE : CASE_MORE;
            shape.chunk_size = seed % 3 ? 7 : 64;
            shape.n_heads = seed % 2 ? 4 : 36;
            case_make(&c, &shape, 4700 + seed);
            assert_int_equal(opt_case_run(opt, &c, 0), CP_OK);
            struct opt_results results = opt_results_of(&c);
            for (int x = 0; x < 5; x++) {
                c.attention.scores = nothing[x];
                assert_int_equal(opt_case_run(opt, &c, x), CP_OK);
                for (int at = 0; at < c.n_rows * shape.n_heads && x >= 3; at++) {
                    if (isinf(results.lse[at])) { /* a row without keys has its sink */
                        assert_true(c.attention.lse[at] == low[0]);
                        c.attention.lse[at] = results.lse[at];
                    }
                }
                assert_true(opt_results_same(&c, &results));
            }
            opt_results_free(&results);
            case_free(&c);
        }
        cp_opt_free(opt);
    }
}

static void results_do_not_depend_on_threads(void **unused) {
    (void)unused;
    for (int i = 0, version; (version = opt_case_version(i)) != 0; i++) {
        for (unsigned seed = 0; seed < 6; seed++) {
            struct shape shape = small;
            struct attend_case c;
            struct score_case drawn;
            shape.chunk_size = 64;
            shape.max_depth = seed % 2 ? 24 : 2;
            shape.query_mode = seed % 2 ? CASE_DECODE : CASE_ALL;
            case_make(&c, &shape, 4800 + seed);
            score_case_draw(&c, &drawn, 7 + 8 * seed);
            struct cp_opt *one = opt_of(1, version);
            assert_int_equal(opt_case_run(one, &c, 0), CP_OK);
            struct opt_results results = opt_results_of(&c);
            cp_opt_free(one);
            for (int threads = 2; threads <= 8; threads += 3) {
                struct cp_opt *opt = opt_of(threads, version);
                assert_int_equal(opt_case_run(opt, &c, threads), CP_OK);
                assert_true(opt_results_same(&c, &results));
                cp_opt_free(opt);
            }
            opt_results_free(&results);
            case_free(&c);
        }
    }
}

/* ---- Sinks alone ---- */

static int is_zero(const struct attend_case *c, int at) {
    int zero = 1;
    for (int x = 0; x < c->shape.head_dim; x++) {
        size_t place = (size_t)at * (size_t)c->shape.head_dim + (size_t)x;
        zero &= cp_number_load(c->attention.out, c->attention.out_type, place) == 0.0;
    }
    return zero;
}

/* SCORE-3: a row that sees no key gives zeros, and its sink; so does one whose sink is far above
 * all scores. */
static void a_sink_alone_leaves_zeros(void **unused) {
    double sinks[SCORE_CASE_HEADS];
    int alone = 0, beside = 0;
    (void)unused;
    for (int i = 0, version; (version = opt_case_version(i)) != 0; i++) {
        struct cp_opt *opt = opt_of(1, version);
        for (unsigned seed = 0; seed < 60; seed++) {
            struct shape shape = small;
            struct attend_case c;
            shape.query_mode = seed % 2 ? CASE_OWN : CASE_MORE;
            case_make(&c, &shape, 4900 + seed);
            for (int head = 0; head < SCORE_CASE_HEADS; head++) {
                sinks[head] = (seed % 3 ? -1.0 : 2000.0) * (1.0 + head);
            }
            c.attention.scores = (struct cp_scores){.cap = seed % 4 ? 0.0 : 30.0, .sinks = sinks};
            assert_int_equal(opt_case_run(opt, &c, 0), CP_OK);
            for (int at = 0; at < c.n_rows * shape.n_heads; at++) {
                int none = case_visible(&c, at / shape.n_heads) == 0;
                if (none || seed % 3 == 0) {
                    assert_true(is_zero(&c, at));
                    assert_true(c.attention.lse[at] == sinks[at % shape.n_heads]);
                }
                alone += none;
                beside += !none;
            }
            case_free(&c);
        }
        cp_opt_free(opt);
    }
    assert_true(alone > 100 && beside > 100);
}

/* ---- What is refused, and what is not asked ---- */

/* Layers that change scores and layers that do not may share a workspace. */
static void the_workspace_does_not_depend_on_the_scores(void **unused) {
    struct shape shape = small;
    struct attend_case c;
    struct score_case drawn;
    struct cp_opt *opt = opt_of(2, CP_OPT_BEST);
    (void)unused;
    shape.chunk_size = 64;
    case_make(&c, &shape, 5000);
    c.attention.variant = CP_BUFFERED;
    size_t size = cp_opt_workspace(opt, &c.attention);
    score_case_draw(&c, &drawn, 7);
    assert_true(size > 0 && cp_opt_workspace(opt, &c.attention) == size);
    cp_opt_free(opt);
    case_free(&c);
}

/* Caps, slopes and sinks that are no numbers of binary32, or have no reciprocal there: refused, and
 * at the ends not. */
static void numbers_beyond_binary32_are_refused(void **unused) {
    const double caps[] = {0x1p-126, 0x1.8p125, 1e39, DBL_TRUE_MIN, DBL_MAX};
    const double numbers[] = {0x1p128, -0x1p128, DBL_MAX, INFINITY, -INFINITY, NAN};
    double slopes[4] = {0}, sinks[4] = {0};
    struct attend_case c;
    struct cp_opt *opt = opt_of(1, CP_OPT_PORTABLE);
    (void)unused;
    case_make(&c, &small, 5001);
    for (int i = 0; i < 5 + 2 * 6; i++) {
        double *number = i % 2 ? &slopes[i / 2 % 4] : &sinks[i / 2 % 4];
        c.attention.scores =
            (struct cp_scores){.cap = i < 5 ? caps[i] : 0.0, .slopes = slopes, .sinks = sinks};
        if (i >= 5) {
            *number = numbers[(i - 5) / 2];
        }
        assert_int_equal(opt_case_run(opt, &c, 0), CP_ERROR_UNSUPPORTED);
        assert_int_equal(cp_opt_workspace(opt, &c.attention), 0);
        *number = FLT_MAX;
        c.attention.scores.cap = i % 2 ? CP_OPT_LEAST_CAP : 1.0 / CP_OPT_LEAST_CAP;
        assert_int_equal(opt_case_run(opt, &c, 0), CP_OK);
        *number = 0.0;
    }
    cp_opt_free(opt);
    case_free(&c);
}

/* SCORE-5: the same of each entry of each head, and of no number beside them. */
static void entries_beyond_binary32_are_refused(void **unused) {
    enum { N = 3 };
    const double numbers[] = {0x1p128, -0x1p128, DBL_MAX, INFINITY, -INFINITY, NAN};
    double bias[1 + 4 * N + 1] = {NAN};
    struct attend_case c;
    struct cp_opt *opt = opt_of(1, CP_OPT_PORTABLE);
    (void)unused;
    case_make(&c, &small, 5002);
    bias[1 + 4 * N] = NAN;
    c.attention.scores.biases = (struct cp_biases){bias + 1, N, 1};
    for (int i = 0; i < 4 * N; i++) {
        bias[1 + i] = numbers[i % 6];
        assert_int_equal(opt_case_run(opt, &c, 0), CP_ERROR_UNSUPPORTED);
        assert_int_equal(cp_opt_workspace(opt, &c.attention), 0);
        bias[1 + i] = i % 2 ? -FLT_MAX : FLT_MAX;
        assert_int_equal(opt_case_run(opt, &c, 0), CP_OK);
        bias[1 + i] = 0.0;
    }
    cp_opt_free(opt);
    case_free(&c);
}

/* SCORE-5: a table without the row's own bias is an argument that is wrong, and has no numbers. */
static void tables_without_the_rows_own_bias(void **unused) {
    const int bad[][2] = {{0, 0}, {3, 3}, {3, -1}, {INT_MIN, INT_MIN}, {INT_MIN, INT_MAX}};
    const double bias[4 * 3] = {0};
    struct attend_case c;
    struct cp_opt *opt = opt_of(1, CP_OPT_PORTABLE);
    (void)unused;
    case_make(&c, &small, 5003);
    size_t size = cp_opt_workspace(opt, &c.attention);
    for (int i = 0; i < 5; i++) {
        c.attention.scores.biases = (struct cp_biases){bias, bad[i][0], bad[i][1]};
        assert_int_equal(cp_opt_workspace(opt, &c.attention), size);
        assert_int_equal(opt_case_run(opt, &c, 0), CP_ERROR_ARGUMENT);
    }
    cp_opt_free(opt);
    case_free(&c);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(forests_have_scores),
        cmocka_unit_test(tiles_of_every_size),
        cmocka_unit_test(long_paths_have_one_sink),
        cmocka_unit_test(types_and_values),
        cmocka_unit_test(prompts_of_modules_have_these_scores),
        cmocka_unit_test(what_adds_nothing_changes_no_bit),
        cmocka_unit_test(results_do_not_depend_on_threads),
        cmocka_unit_test(a_sink_alone_leaves_zeros),
        cmocka_unit_test(the_workspace_does_not_depend_on_the_scores),
        cmocka_unit_test(numbers_beyond_binary32_are_refused),
        cmocka_unit_test(entries_beyond_binary32_are_refused),
        cmocka_unit_test(tables_without_the_rows_own_bias),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
