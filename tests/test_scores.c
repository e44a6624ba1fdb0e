/* SPDX-License-Identifier: Apache-2.0 */
/* Scores that are changed, clause by clause (spec/scores.md): the chapter's examples; trees and
 * prompts of modules, with windows, against a list of the keys that a row sees, with the sink as
 * one key more; rows without keys; numbers at their ends; what is refused. */
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

#include "chunkproof/chunkproof.h"
#include "chunkproof/opt.h"
#include "tests/attend_case.h"
#include "tests/random.h"
#include "tests/runs_case.h"

#define MAX_HEADS 4
#define MAX_KEYS  128
#define MAX_D     RUNS_POSITIONS

/* ---- What a row must give ---- */

/* The keys of a row and head, in any order; a value of NULL is zeros. */
struct keys {
    int n;
    double score[MAX_KEYS];
    const double *value[MAX_KEYS];
};

static void add_key(struct keys *keys, double score, const double *value) {
    assert_true(keys->n < MAX_KEYS);
    keys->score[keys->n] = score;
    keys->value[keys->n++] = value;
}

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

/* SCORE-5: of a key that is so far before the row. */
static double biased(const struct cp_biases *biases, int head, long long before) {
    long long i = biases->own + before, last = (long long)biases->n - 1;
    i = i < 0 ? 0 : i > last ? last : i;
    return biases->bias[head * biases->n + i];
}

/* SCORE-1, SCORE-2, SCORE-4, SCORE-5: of a key at position t, for a row at p. */
static double changed(const struct cp_scores *scores, int head, double score, long long t,
                      long long p) {
    if (scores->cap > 0.0) {
        score = scores->cap * tanh(score / scores->cap);
    }
    if (scores->slopes != NULL) {
        score += scores->slopes[head] * (double)(t - p);
    }
    if (scores->biases.bias != NULL) {
        score += biased(&scores->biases, head, p - t);
    }
    return score;
}

/* Lists the keys that a row and head sees, and the sink (SCORE-3). */
static void list_keys(const struct cp_attention *a, int s, int row, int head, struct keys *keys) {
    size_t d = (size_t)a->head_dim, c = (size_t)a->plan->chunk_size;
    const double *q = (const double *)a->q + ((size_t)row * (size_t)a->n_heads + (size_t)head) * d;
    size_t kv_head = (size_t)(head / (a->n_heads / a->n_kv_heads));
    const struct cp_plan_sequence *sequence = &a->plan->sequence[s];
    long long p = position_of(a, s, row);
    keys->n = 0;
    for (int i = 0; i < sequence->n_chunks; i++) {
        struct cp_run run = sequence->run[i];
        for (int slot = 0; slot < run.n_tokens; slot++) {
            long long t = (long long)run.position + slot;
            size_t slice = (size_t)run.chunk * (size_t)a->n_kv_heads + kv_head;
            size_t at = (slice * c + (size_t)slot) * d;
            double score = 0.0;
            for (size_t x = 0; x < d; x++) {
                score += q[x] * ((const double *)a->k)[at + x];
            }
            if (sees(&a->window, p, t)) {
                add_key(keys, changed(&a->scores, head, a->scale * score, t, p),
                        (const double *)a->v + at);
            }
        }
    }
    if (a->scores.sinks != NULL) {
        add_key(keys, a->scores.sinks[head], NULL);
    }
}

static void expect_near(double is, double should) {
    assert_true(fabs(is - should) <= 1e-12 * (1.0 + fabs(should)));
}

/* Attention over a list: weights relative to the largest score. */
static void expect_attention(const struct keys *keys, const double *out, double lse, int d) {
    double m = -INFINITY, weight = 0.0, total[MAX_D] = {0};
    for (int j = 0; j < keys->n; j++) {
        m = fmax(m, keys->score[j]);
    }
    for (int j = 0; j < keys->n; j++) {
        double e = exp(keys->score[j] - m);
        weight += e;
        for (int x = 0; x < d && keys->value[j] != NULL; x++) {
            total[x] += e * keys->value[j][x];
        }
    }
    if (keys->n == 0) {
        assert_true(isinf(lse) && lse < 0.0);
    } else {
        expect_near(lse, m + log(weight));
    }
    for (int x = 0; x < d; x++) {
        expect_near(out[x], keys->n == 0 ? 0.0 : total[x] / weight);
    }
}

/* Returns how many rows and heads have no key but the sink. */
static int expect_right(const struct cp_attention *a) {
    struct keys keys;
    int alone = 0;
    for (int s = 0; s < a->plan->n_sequences; s++) {
        int end = a->query_begin == NULL ? s + 1 : a->query_begin[s + 1];
        for (int row = a->query_begin == NULL ? s : a->query_begin[s]; row < end; row++) {
            for (int head = 0; head < a->n_heads; head++) {
                size_t at = (size_t)row * (size_t)a->n_heads + (size_t)head;
                const double *out = (const double *)a->out + at * (size_t)a->head_dim;
                list_keys(a, s, row, head, &keys);
                expect_attention(&keys, out, a->lse[at], a->head_dim);
                if (keys.n == 1 && a->scores.sinks != NULL) {
                    assert_true(a->lse[at] == a->scores.sinks[head]);
                    assert_true(out[0] == 0.0 && out[a->head_dim - 1] == 0.0);
                    alone++;
                }
            }
        }
    }
    return alone;
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

/* ---- Random scores ---- */

#define MAX_BIASES 12

struct drawn {
    double slopes[MAX_HEADS], sinks[MAX_HEADS], biases[MAX_HEADS * MAX_BIASES];
    struct cp_scores scores;
};

/* Caps from one that makes all scores equal to one that changes none much; slopes of both signs,
 * and 0; sinks among the scores, and far above and below; tables of few entries and of more than
 * there are distances. Each is there or not. */
static void draw_scores(struct drawn *drawn, unsigned long long *random) {
    const double caps[] = {0.0, 0.0, 0x1p-10, 0.5, 2.0, 30.0, 0x1p20};
    const double slopes[] = {0.0, 0.25, -0.25, 0x1p-8, -0x1p-8, 3.0, -3.0, 200.0, -200.0};
    const double sinks[] = {0.0, 1.5, -1.5, 40.0, -40.0, 1e6, -1e6};
    drawn->scores.cap = caps[random_below(random, 7)];
    for (int head = 0; head < MAX_HEADS; head++) {
        drawn->slopes[head] = slopes[random_below(random, 9)];
        drawn->sinks[head] = sinks[random_below(random, 7)];
    }
    drawn->scores.slopes = random_below(random, 3) > 0 ? drawn->slopes : NULL;
    drawn->scores.sinks = random_below(random, 3) > 0 ? drawn->sinks : NULL;
    for (int i = 0; i < MAX_HEADS * MAX_BIASES; i++) {
        drawn->biases[i] = random_below(random, 9) == 0 ? 0.0 : 2.0 * random_normal(random);
    }
    int n = 1 + random_below(random, MAX_BIASES);
    drawn->scores.biases = (struct cp_biases){random_below(random, 3) > 0 ? drawn->biases : NULL, n,
                                              random_below(random, n)};
}

static struct cp_window draw_window(unsigned long long *random, int chunk_size) {
    const int keys[] = {0, 0, 1, 2, 3, chunk_size, chunk_size + 1, 9};
    const int ahead[] = {0, 0, 0, 1, 2, chunk_size, CP_MAX_WINDOW};
    const int kept[] = {0, 0, 1, 2, chunk_size, chunk_size + 1, CP_MAX_WINDOW};
    return (struct cp_window){keys[random_below(random, 8)], ahead[random_below(random, 7)],
                              kept[random_below(random, 7)]};
}

/* ---- The examples of the chapter ---- */

/* One head of one number, and keys in one chunk; the last row and key stand at n - 1. Returns lse,
 * and puts the result into *out. */
static double of_few(const double *k, const double *v, int n, struct cp_scores scores,
                     double *out) {
    struct cp_plan *plan;
    double q = 1.0, lse;
    assert_int_equal(cp_plan_new(&plan), CP_OK);
    plan->capacity = 1;
    plan->chunk_size = n;
    plan->n_sequences = 1;
    plan->sequence[0].n_tokens = n;
    plan->sequence[0].n_shared = 0;
    plan->sequence[0].n_chunks = 1;
    plan->sequence[0].run[0] = (struct cp_run){0, n, 0};
    struct cp_attention a = {.plan = plan,
                             .stamp = plan->stamp,
                             .n_heads = 1,
                             .n_kv_heads = 1,
                             .head_dim = 1,
                             .value_dim = 1,
                             .v_row = 1,
                             .scale = 1.0,
                             .scores = scores,
                             .q_type = CP_FP64,
                             .k_type = CP_FP64,
                             .v_type = CP_FP64,
                             .out_type = CP_FP64,
                             .q = &q,
                             .k = k,
                             .v = v,
                             .out = out,
                             .lse = &lse};
    attend(&a, CP_BUFFERED, 1);
    cp_plan_free(plan);
    return lse;
}

/* SCORE-1: scores 0, 1 and 4 become 0, 0.924 and 1.928. */
static void a_cap_of_two(void **unused) {
    (void)unused;
    const double score[] = {0.0, 1.0, 4.0}, becomes[] = {0.0, 0.924, 1.928};
    double out;
    for (int i = 0; i < 3; i++) {
        double v = 7.0, lse = of_few(&score[i], &v, 1, (struct cp_scores){.cap = 2.0}, &out);
        assert_true(fabs(lse - becomes[i]) < 0.0005 && out == 7.0);
    }
}

/* SCORE-2: with slope 1/2, scores 0 of keys at 0, 1 and 2 become -1, -1/2 and 0. */
static void a_slope_of_a_half(void **unused) {
    (void)unused;
    const double k[3] = {0}, v[] = {3.0, 6.0, 12.0}, slopes[] = {0.5, 0.25};
    double out;
    for (int i = 0; i < 2; i++) {
        double x = exp(-2.0 * slopes[i]), y = exp(-slopes[i]);
        double lse = of_few(k, v, 3, (struct cp_scores){.slopes = &slopes[i]}, &out);
        expect_near(lse, log(x + y + 1.0));
        expect_near(out, (3.0 * x + 6.0 * y + 12.0) / (x + y + 1.0));
    }
}

/* SCORE-3: two keys of score 0 with values 1 and 5, sink ln 2. */
static void a_sink_of_ln_2(void **unused) {
    (void)unused;
    const double k[2] = {0}, v[] = {1.0, 5.0}, sink = log(2.0);
    double out;
    double lse = of_few(k, v, 2, (struct cp_scores){.sinks = &sink}, &out);
    expect_near(lse, log(4.0));
    expect_near(out, 1.5);
}

/* SCORE-4: the cap changes the score, and not the bias. */
static void the_cap_comes_before_the_bias(void **unused) {
    (void)unused;
    const double k[] = {4.0, 0.0}, v[] = {1.0, 0.0}, slope = -3.0;
    double out, lse = of_few(k, v, 2, (struct cp_scores){.cap = 2.0, .slopes = &slope}, &out);
    double first = exp(2.0 * tanh(2.0) + 3.0);
    expect_near(lse, log(first + 1.0));
    expect_near(out, first / (first + 1.0));
}

/* SCORE-5: own = 1 and the biases 5, 0, -1, -3 of a row at 3: those of the keys at 0 to 3 are -3,
 * -3, -1 and 0. Of one key alone each is the log-sum-exp; a row at -1 is one before it. */
static void a_table_of_four_biases(void **unused) {
    (void)unused;
    const double zeros[4] = {0}, bias[] = {5.0, 0.0, -1.0, -3.0}, own[] = {-3.0, -3.0, -1.0, 0.0};
    const struct cp_scores scores = {.biases = {bias, 4, 1}};
    double out, weight = 0.0, sum = 0.0;
    for (int i = 0; i < 4; i++) {
        const double k[] = {1e3, 1e3, 1e3, 1e3}, *v = own;
        double score[4] = {-1e3, -1e3, -1e3, -1e3};
        score[i] = k[i];
        expect_near(of_few(score, v, 4, scores, &out), 1e3 + own[i]);
        assert_true(out == own[i]);
        weight += exp(own[i]);
        sum += exp(own[i]) * own[i];
    }
    expect_near(of_few(zeros, own, 4, scores, &out), log(weight));
    expect_near(out, sum / weight);
}

/* SCORE-4, SCORE-5: the cap changes the score, and not the bias; a slope is beside it. */
static void a_table_is_neither_capped_nor_instead_of_a_slope(void **unused) {
    (void)unused;
    const double k = 4.0, v = 7.0, bias[] = {3.0, 30.0}, slope = 0.25;
    const struct cp_scores scores = {.cap = 2.0, .slopes = &slope, .biases = {bias, 2, 1}};
    double out;
    expect_near(of_few(&k, &v, 1, scores, &out), 2.0 * tanh(2.0) + 30.0);
    assert_true(out == 7.0);
}

/* ---- Trees ---- */

static void tree_case(struct attend_case *c, unsigned long long seed) {
    int n_heads = seed % 3 == 0 ? 4 : 2;
    const struct shape shape = {.b = 5,
                                .max_depth = 4,
                                .chunk_size = 1 + (int)(seed % 5),
                                .n_heads = n_heads,
                                .n_kv_heads = seed % 2 == 0 ? 2 : n_heads / 2,
                                .head_dim = 3,
                                .q_type = CP_FP64,
                                .kv_type = CP_FP64,
                                .out_type = CP_FP64,
                                .query_mode = (int)(seed / 2 % CASE_N_QUERY_MODE),
                                .values = CASE_NORMAL,
                                .poison = CASE_POISON_NAN};
    case_make(c, &shape, seed);
}

static double *copy_of(const void *from, size_t bytes) {
    double *copy = malloc(bytes + 1);
    assert_non_null(copy);
    memcpy(copy, from, bytes);
    return copy;
}

/* SCORE-1 to SCORE-5, TPP-4: decoding and prefill; both variants have the same bits. */
static void trees_are_attention_with_these_scores(void **unused) {
    (void)unused;
    unsigned long long random = 11;
    int alone = 0;
    for (unsigned long long seed = 1; seed <= 2000; seed++) {
        struct attend_case c;
        struct drawn drawn;
        tree_case(&c, seed);
        draw_scores(&drawn, &random);
        c.attention.scores = drawn.scores;
        if (seed % 2 == 0) {
            c.attention.window = draw_window(&random, c.shape.chunk_size);
        }
        assert_int_equal(case_run(&c, CP_MERGE_AT_ONCE), CP_OK);
        alone += expect_right(&c.attention);
        double *out = copy_of(c.attention.out, case_out_bytes(&c));
        assert_int_equal(case_run(&c, CP_BUFFERED), CP_OK);
        assert_true(expect_right(&c.attention) >= 0);
        assert_memory_equal(c.attention.out, out, case_out_bytes(&c));
        free(out);
        case_free(&c);
    }
    assert_true(alone > 200);
}

/* No cap, slopes of 0, and a sink far below that is beside a key: the bits are what they were. */
static void what_adds_nothing_changes_no_bit(void **unused) {
    (void)unused;
    const double zeros[MAX_HEADS] = {0}, low[MAX_HEADS] = {-1e9, -1e9, -1e9, -1e9};
    const struct cp_scores nothing[] = {{0.0, zeros, NULL, {zeros, 1, 0}},
                                        {-0.0, NULL, NULL, {NULL, -7, -8}},
                                        {0.0, NULL, low, {NULL, 0, 0}},
                                        {0.0, zeros, low, {NULL, 0, 0}}};
    for (unsigned long long seed = 1; seed <= 100; seed++) {
        struct attend_case c;
        tree_case(&c, seed);
        assert_int_equal(case_run(&c, CP_BUFFERED), CP_OK);
        double *out = copy_of(c.attention.out, case_out_bytes(&c));
        double *lse = copy_of(c.attention.lse, case_lse_bytes(&c));
        for (int i = 0; i < 4; i++) {
            c.attention.scores = nothing[i];
            assert_int_equal(case_run(&c, CP_BUFFERED), CP_OK);
            assert_memory_equal(c.attention.out, out, case_out_bytes(&c));
            for (int at = 0; at < c.n_rows * c.shape.n_heads; at++) {
                int alone = isinf(lse[at]) && nothing[i].sinks != NULL;
                assert_true(c.attention.lse[at] == (alone ? low[0] : lse[at]));
            }
        }
        free(out);
        free(lse);
        case_free(&c);
    }
}

/* SCORE-3: a sink far above takes all weight. */
static void a_sink_far_above_leaves_zeros(void **unused) {
    (void)unused;
    const double sinks[MAX_HEADS] = {2000.0, 3000.0, 4000.0, 5000.0};
    for (unsigned long long seed = 1; seed <= 50; seed++) {
        struct attend_case c;
        tree_case(&c, seed);
        c.attention.scores.sinks = sinks;
        assert_int_equal(case_run(&c, (int)(seed % 2)), CP_OK);
        for (int i = 0; i < c.n_rows * c.shape.n_heads; i++) {
            assert_true(c.attention.lse[i] == sinks[i % c.shape.n_heads]);
            for (int x = 0; x < c.shape.head_dim; x++) {
                assert_true(((double *)c.attention.out)[i * c.shape.head_dim + x] == 0.0);
            }
        }
        case_free(&c);
    }
}

/* SCORE-2, SCORE-5: rows at any positions; no difference overflows. */
static void distances_at_their_ends(void **unused) {
    (void)unused;
    const int end[] = {INT_MIN, INT_MIN + 1, -1, 0, 1, CP_MAX_WINDOW, INT_MAX};
    struct attend_case c;
    struct drawn drawn;
    unsigned long long random = 5;
    tree_case(&c, 2 * CASE_OWN);
    for (int i = 0; i < 100; i++) {
        draw_scores(&drawn, &random);
        c.attention.scores = drawn.scores;
        c.attention.scores.slopes = drawn.slopes;
        c.attention.scores.biases.bias = drawn.biases;
        for (int row = 0; row < c.n_rows; row++) {
            c.position[row] = end[(row + i) % 7];
        }
        c.attention.position = c.position;
        c.attention.window.ahead = i % 2 == 0 ? 0 : CP_MAX_WINDOW;
        assert_int_equal(case_run(&c, i / 2 % 2), CP_OK);
        assert_true(expect_right(&c.attention) >= 0);
    }
    case_free(&c);
}

/* ---- Prompts of modules ---- */

#define D        3
#define HEADS    2
#define KEYS     (RUNS_CAPACITY * RUNS_CHUNK_SIZE)
#define ROWS     (RUNS_SEQUENCES * 3)
#define N_RESULT (ROWS * HEADS)

/* SCORE-2: positions of runs, in any order and with gaps, not numbers of keys. */
static void prompts_of_modules_have_these_scores(void **unused) {
    (void)unused;
    static struct prompts p;
    static double q[N_RESULT * D], k[KEYS * D], v[KEYS * D], out[N_RESULT * D], lse[N_RESULT];
    unsigned long long random = 3;
    struct drawn drawn;
    prompts_new(&p);
    for (unsigned long long seed = 1; seed <= 800; seed++) {
        prompts_make(&p, seed);
        draw_scores(&drawn, &random);
        for (int i = 0; i < KEYS * D; i++) {
            k[i] = random_normal(&random);
            v[i] = random_normal(&random);
        }
        for (int i = 0; i < N_RESULT * D; i++) {
            q[i] = random_normal(&random);
        }
        struct cp_attention a = {.plan = p.plan,
                                 .stamp = p.plan->stamp,
                                 .n_heads = HEADS,
                                 .n_kv_heads = 1,
                                 .head_dim = D,
                                 .value_dim = D,
                                 .v_row = D,
                                 .scale = 0.5,
                                 .query_begin = p.rows,
                                 .position = p.position,
                                 .window = draw_window(&random, p.plan->chunk_size),
                                 .scores = drawn.scores,
                                 .q_type = CP_FP64,
                                 .k_type = CP_FP64,
                                 .v_type = CP_FP64,
                                 .out_type = CP_FP64,
                                 .q = q,
                                 .k = k,
                                 .v = v,
                                 .out = out,
                                 .lse = lse};
        for (int variant = CP_BUFFERED; variant <= CP_MERGE_AT_ONCE; variant++) {
            attend(&a, variant, N_RESULT);
            assert_true(expect_right(&a) >= 0);
        }
    }
    prompts_free(&p);
}

/* ---- What is refused ---- */

/* SCORE-1: numbers that are no caps; nothing is written. */
static void numbers_that_are_no_caps(void **unused) {
    (void)unused;
    const double bad[] = {NAN, -NAN, -1.0, -DBL_TRUE_MIN, INFINITY, -INFINITY};
    struct attend_case c;
    struct cp_opt *opt;
    tree_case(&c, 1);
    assert_int_equal(cp_opt_new(&opt, 1, CP_OPT_PORTABLE), CP_OK);
    for (int i = 0; i < 6; i++) {
        c.attention.scores.cap = bad[i];
        for (int variant = CP_BUFFERED; variant <= CP_MERGE_AT_ONCE; variant++) {
            assert_int_equal(case_run(&c, variant), CP_ERROR_ARGUMENT);
            for (size_t byte = 0; byte < case_out_bytes(&c); byte++) {
                assert_int_equal(((unsigned char *)c.attention.out)[byte], 0xFF);
            }
        }
        assert_true(cp_attend_workspace(&c.attention) > 0); /* it does not look at scores */
        assert_int_equal(cp_opt_attend(opt, &c.attention), CP_ERROR_ARGUMENT);
    }
    c.attention.scores.cap = DBL_TRUE_MIN;
    assert_int_equal(case_run(&c, CP_BUFFERED), CP_OK);
    cp_opt_free(opt);
    case_free(&c);
}

/* SCORE-5: places of a row's own bias that are no entry. */
static void tables_without_the_rows_own_bias(void **unused) {
    (void)unused;
    const double bias[MAX_HEADS] = {0};
    const int bad[][2] = {
        {0, 0}, {1, 1}, {1, -1}, {-1, -2}, {INT_MIN, INT_MIN}, {1, INT_MAX}, {INT_MIN, INT_MAX}};
    struct attend_case c;
    struct cp_opt *opt;
    tree_case(&c, 1);
    assert_int_equal(cp_opt_new(&opt, 1, CP_OPT_PORTABLE), CP_OK);
    for (int i = 0; i < 7; i++) {
        c.attention.scores.biases = (struct cp_biases){bias, bad[i][0], bad[i][1]};
        for (int variant = CP_BUFFERED; variant <= CP_MERGE_AT_ONCE; variant++) {
            assert_int_equal(case_run(&c, variant), CP_ERROR_ARGUMENT);
            for (size_t byte = 0; byte < case_out_bytes(&c); byte++) {
                assert_int_equal(((unsigned char *)c.attention.out)[byte], 0xFF);
            }
        }
        assert_int_equal(cp_opt_attend(opt, &c.attention), CP_ERROR_ARGUMENT);
        c.attention.scores.biases.bias = NULL;
        assert_int_equal(case_run(&c, CP_BUFFERED), CP_OK);
    }
    cp_opt_free(opt);
    case_free(&c);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_cap_of_two),
        cmocka_unit_test(a_slope_of_a_half),
        cmocka_unit_test(a_sink_of_ln_2),
        cmocka_unit_test(the_cap_comes_before_the_bias),
        cmocka_unit_test(a_table_of_four_biases),
        cmocka_unit_test(a_table_is_neither_capped_nor_instead_of_a_slope),
        cmocka_unit_test(trees_are_attention_with_these_scores),
        cmocka_unit_test(what_adds_nothing_changes_no_bit),
        cmocka_unit_test(a_sink_far_above_leaves_zeros),
        cmocka_unit_test(distances_at_their_ends),
        cmocka_unit_test(prompts_of_modules_have_these_scores),
        cmocka_unit_test(numbers_that_are_no_caps),
        cmocka_unit_test(tables_without_the_rows_own_bias),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
