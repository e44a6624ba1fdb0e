/* SPDX-License-Identifier: Apache-2.0 */
/* SCORE-5, CONV-7: what the gate's calls say of tables of biases, and the results that rows are
 * judged by. Everything is found again by the words of the clauses, from the arrays of the call. */
#define _POSIX_C_SOURCE 200809L /* mkstemp */

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "gate/case/layout.h"
#include "gate/case/masks.h"
#include "gate/case/prompts.h"
#include "gate/case/scores.h"
#include "gate/case/values.h"
#include "gate/judge/judge.h"
#include "gate/judge/scores.h"
#include "gate/search/case_file.h"
#include "tests/plain_kernel.h"

#define CASES  300
#define WORK   20000
#define MASKS  (CP_MASKS_WINDOW | CP_MASKS_AHEAD | CP_MASKS_KEPT)
#define OTHERS (CP_SCORES_CAP | CP_SCORES_SLOPES | CP_SCORES_SINKS)
#define ALL    (OTHERS | CP_SCORES_BIASES)
#define TABLE  (CP_SCORES_CAP | CP_SCORES_BIASES | CP_SCORES_SINKS)

static struct gate_recipe recipe_of(long long index, int scores) {
    struct gate_recipe recipe;
    gate_recipe_make(&recipe, 47, index, 0, WORK, NULL);
    gate_recipe_scores(&recipe, scores);
    if (index % 2 == 1) {
        gate_recipe_to_modules(&recipe, NULL);
    }
    gate_recipe_mask(&recipe, MASKS, NULL);
    return recipe;
}

/* Of both orders, and of all biases by slope, which do not concern a table. */
static struct cp_kernel kernel_of(int scores, int i) {
    struct cp_kernel kernel = plain;
    kernel.plans = CP_PLANS_LISTS;
    kernel.masks = MASKS;
    kernel.scores = scores;
    kernel.conventions.cap = i & 1;
    kernel.conventions.bias = (i >> 1) % 3;
    kernel.arithmetic.tanh_error = 0x1p-22;
    return kernel;
}

struct made {
    struct gate_problem p;
    struct gate_arrays a;
    const struct cp_kernel_call *call;
};

static void make(struct made *m, const struct gate_recipe *recipe, const struct cp_kernel *kernel) {
    assert_int_equal(gate_problem_new(&m->p, recipe, kernel), 0);
    gate_values_fill(&m->p);
    assert_int_equal(gate_arrays_new(&m->a, &m->p), 0);
    m->call = &m->a.run.call;
}

static void done(struct made *m) {
    gate_arrays_free(&m->a);
    gate_problem_free(&m->p);
}

/* ---- What a call says ---- */

static void calls_have_slopes_or_a_table(void **state) {
    int slopes = 0, tables = 0, none = 0;
    (void)state;
    for (int i = 0; i < CASES; i++) {
        struct cp_kernel kernel = kernel_of(ALL, i);
        struct gate_recipe recipe = recipe_of(i, ALL);
        struct made m;
        make(&m, &recipe, &kernel);
        assert_true(m.call->slopes == NULL || m.call->biases == NULL);
        assert_int_equal((m.call->changes & CP_SCORES_BIASES) != 0, m.call->biases != NULL);
        assert_int_equal((m.call->changes & CP_SCORES_SLOPES) != 0, m.call->slopes != NULL);
        slopes += m.call->slopes != NULL;
        tables += m.call->biases != NULL;
        none += m.call->slopes == NULL && m.call->biases == NULL;
        done(&m);
    }
    assert_true(slopes > CASES / 4 && tables > CASES / 4 && none > CASES / 30);
}

/* As many numbers as the table has, and no byte more: what lies behind is guarded. */
static void calls_say_how_large_the_table_is(void **state) {
    int tables = 0;
    (void)state;
    for (int i = 0; i < CASES; i++) {
        struct cp_kernel kernel = kernel_of(TABLE, i);
        struct gate_recipe recipe = recipe_of(i, TABLE);
        struct gate_problem guess = gate_problem_guess(&recipe, &kernel);
        struct cp_kernel_call asked;
        struct made m;
        make(&m, &recipe, &kernel);
        gate_call_sizes(&asked, &guess); /* what refuses() sees */
        size_t n = (size_t)m.call->n_biases, h = (size_t)recipe.n_heads;
        assert_true(asked.n_biases == m.call->n_biases && asked.own_bias == m.call->own_bias);
        assert_int_equal(asked.changes, m.call->changes);
        assert_int_equal(m.a.run.bytes[RUN_BIASES], n * h * sizeof(float));
        assert_int_equal(m.call->biases != NULL, n > 0);
        assert_true(0 <= m.call->own_bias && m.call->own_bias <= m.call->n_biases);
        assert_true(m.call->biases == NULL || m.call->own_bias < m.call->n_biases);
        struct gate_problem none = m.p;
        none.scores.n_biases = 0;
        assert_true(gate_case_bytes(&m.p, 0) - gate_case_bytes(&none, 0) >=
                    2.0 * (double)(n * h * sizeof(float)));
        tables += n > 0;
        done(&m);
    }
    assert_true(tables > CASES / 2 && tables < CASES);
}

static void kernels_that_take_none_get_none(void **state) {
    struct cp_kernel kernel = kernel_of(OTHERS, 0);
    (void)state;
    for (int i = 0; i < CASES; i++) {
        struct gate_recipe recipe = recipe_of(i, ALL), without = recipe_of(i, OTHERS);
        struct made m;
        make(&m, &recipe, &kernel);
        assert_true(m.call->biases == NULL && m.call->n_biases == 0 && m.call->own_bias == 0);
        assert_int_equal(m.call->changes & CP_SCORES_BIASES, 0);
        assert_true(without.biases == 0 && without.n_biases == 0 && without.own_bias == 0);
        assert_int_equal(gate_recipe_changes(&without) & CP_SCORES_BIASES, 0);
        done(&m);
    }
}

/* ---- Entries ---- */

static int is_bfloat(float x) {
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    return (bits & 0xFFFF) == 0;
}

/* Numbers of scores' size, and of some tables 64 times as large; another one in the next entry of
 * any table, and in the same one of the next head. */
static void entries_tell_heads_and_places_apart(void **state) {
    long long entries = 0, negative = 0, next = 0, alike = 0, heads = 0, same = 0, steep = 0;
    struct cp_kernel kernel = kernel_of(TABLE, 0);
    (void)state;
    for (int i = 0; i < CASES; i++) {
        struct gate_recipe recipe = recipe_of(i, TABLE);
        struct made m;
        make(&m, &recipe, &kernel);
        int n = m.call->n_biases;
        const float *b = m.call->biases;
        float times = n > 0 && fabsf(b[0]) >= 8.0F ? 64.0F : 1.0F;
        steep += times > 1.0F;
        for (int at = 0; at < recipe.n_heads * n; at++) {
            assert_true(is_bfloat(b[at]) && fabsf(b[at]) >= 0.125F * times &&
                        fabsf(b[at]) < 4.0F * times);
            entries++;
            negative += b[at] < 0.0F;
            if (recipe.biases == GATE_ANY_BIASES && at % n > 0) {
                next++;
                alike += b[at] == b[at - 1];
            }
            if (at >= n) {
                heads++;
                same += b[at] == b[at - n];
            }
        }
        done(&m);
    }
    assert_true(2 * negative > entries - entries / 8 && 2 * negative < entries + entries / 8);
    assert_true(next > 10000 && alike > 0 && 100 * alike < next);
    assert_true(heads > 10000 && 50 * same < heads);
    assert_true(steep > CASES / 15 && steep < CASES / 4);
}

/* GATE-4, with other numbers: slopes and tables are others, too, or else a kernel that keeps what
 * an earlier call gave would pass. ALiBi's slopes stay. */
static void calls_that_run_again_have_other_biases(void **state) {
    struct cp_kernel kernel = kernel_of(ALL, 0);
    int tables = 0, other_tables = 0, slopes = 0, other_slopes = 0;
    (void)state;
    for (int i = 0; i < CASES; i++) {
        struct gate_recipe recipe = recipe_of(i, ALL);
        struct gate_problem first, again;
        assert_int_equal(gate_problem_new(&first, &recipe, &kernel), 0);
        assert_int_equal(gate_problem_renew(&again, &recipe, &kernel), 0);
        size_t h = (size_t)recipe.n_heads, n = (size_t)first.scores.n_biases;
        assert_int_equal(again.scores.n_biases, first.scores.n_biases);
        if (first.scores.biases != NULL) {
            tables++;
            other_tables += memcmp(first.scores.biases, again.scores.biases,
                                   n * h * sizeof *first.scores.biases) != 0;
        }
        if (first.scores.slopes != NULL && recipe.slopes == GATE_ANY_SLOPES) {
            slopes++;
            other_slopes += memcmp(first.scores.slopes, again.scores.slopes,
                                   h * sizeof *first.scores.slopes) != 0;
        }
        gate_problem_free(&first);
        gate_problem_free(&again);
    }
    assert_true(tables > 50 && other_tables == tables);
    assert_true(slopes > 20 && other_slopes > slopes - 5); /* of one or two slopes both may be 0 */
}

/* GATE-13: in 16 bits a distance of 65,536 and some is a near one. */
static void far_keys_are_near_in_16_bits(void **state) {
    int far = 0;
    (void)state;
    for (int i = 1; i < 4 * CASES; i += 2) {
        struct gate_recipe recipe = recipe_of(i, TABLE);
        for (int m = 1; m < recipe.n_modules && recipe.biases != GATE_NO_BIASES; m++) {
            int gap = recipe.module[m].position -
                      (recipe.module[m - 1].position + recipe.module[m - 1].tokens);
            assert_true(gap < 65536 + recipe.chunk_size + 4);
            far += gap >= 65536;
        }
    }
    assert_true(far > 8);
}

/* As T5: a bias for each of the distances below 8, then one for each half of an octave; others
 * ahead of the row. */
static void buckets_are_longer_the_further_away(void **state) {
    static const int begin[] = {8, 12, 16, 24, 32, 48, 64, 96, 128, 192};
    struct gate_recipe recipe = recipe_of(0, TABLE);
    struct cp_kernel kernel = kernel_of(TABLE, 0);
    struct made m;
    int near = 0, far = 0, sides = 0;
    (void)state;
    recipe.n_heads = 8;
    recipe.n_kv_heads = 4;
    recipe.biases = GATE_BUCKETS;
    recipe.n_biases = 400;
    recipe.own_bias = 200;
    make(&m, &recipe, &kernel);
    for (int a = 0; a < 8; a++) {
        const float *b = m.call->biases + 400 * a + 200;
        for (int i = 0; i + 1 < 10; i++) {
            for (int x = begin[i]; x < begin[i + 1]; x++) {
                assert_true(b[x] == b[begin[i]] && b[-x] == b[-begin[i]]);
            }
            far += b[begin[i]] == b[begin[i + 1]];
            sides += b[begin[i]] == b[-begin[i]];
        }
        for (int x = -8; x < 8; x++) {
            near += b[x] == b[x + 1];
        }
    }
    done(&m);
    assert_true(near < 4 && far < 4 && sides < 4);
}

/* A distance has its bias in any table of the case, so that a smaller case has those of a larger
 * one. */
static void shorter_tables_have_the_same_biases(void **state) {
    struct cp_kernel kernel = kernel_of(TABLE, 0);
    (void)state;
    for (int kind = 1; kind < GATE_BIASES; kind++) {
        struct gate_recipe recipe = recipe_of(4, TABLE), shorter;
        struct made m, s;
        recipe.biases = kind;
        recipe.n_biases = 50;
        recipe.own_bias = 20;
        shorter = recipe;
        shorter.n_biases = 12;
        shorter.own_bias = 3;
        make(&m, &recipe, &kernel);
        make(&s, &shorter, &kernel);
        for (int a = 0; a < recipe.n_heads; a++) {
            for (int x = -3; x < 9; x++) {
                assert_true(s.call->biases[12 * a + 3 + x] == m.call->biases[50 * a + 20 + x]);
            }
        }
        done(&m);
        done(&s);
    }
}

/* WINDOW-1, of a key at t. */
static int is_seen(const struct cp_kernel_call *call, int p, int t) {
    return t <= p + call->ahead && (call->window == 0 || t > p - call->window || t < call->kept);
}

/* Which entries the rows of a call need: some before the table, its ends, some behind it, of keys
 * ahead. */
struct needed {
    int before, first, last, behind, ahead;
};

static struct needed needed_of(const struct made *m) {
    struct needed needs = {0};
    int n = m->call->n_biases, own = m->call->own_bias;
    for (int row = 0; row < m->p.n_rows; row++) {
        int s = gate_sequence_of(&m->p, row), p = m->call->position[row];
        for (int j = 0; j < m->p.n_tokens[s]; j++) {
            int t = gate_position_of(&m->p, s, j), i = own + p - t;
            if (is_seen(m->call, p, t)) {
                needs.before |= i < 0;
                needs.first |= i == 0;
                needs.last |= i == n - 1;
                needs.behind |= i >= n;
                needs.ahead |= i < own;
            }
        }
    }
    return needs;
}

static void tables_end_before_the_keys_and_behind_them(void **state) {
    int tables = 0, before = 0, behind = 0, within = 0, ends = 0, own = 0, ahead = 0;
    struct cp_kernel kernel = kernel_of(TABLE, 0);
    (void)state;
    for (int i = 0; i < CASES; i++) {
        struct gate_recipe recipe = recipe_of(i, TABLE);
        struct made m;
        make(&m, &recipe, &kernel);
        if (m.call->biases != NULL) {
            struct needed needs = needed_of(&m);
            tables++;
            own += m.call->own_bias > 0;
            before += needs.before;
            behind += needs.behind;
            within += !needs.before && !needs.behind;
            ends += needs.first && needs.last;
            ahead += needs.ahead;
        }
        done(&m);
    }
    assert_true(4 * own > 2 * tables && 8 * own < 7 * tables);
    assert_true(8 * before > tables && 4 * behind > tables && 8 * within > tables);
    assert_true(8 * ends > tables && 8 * ahead > tables);
}

/* ---- Results ---- */

/* What becomes of a score, by the words of the clauses. */
static double changed(const struct cp_kernel_call *call, int order, int head, int t, int p,
                      double s) {
    int n = call->n_biases, i = call->own_bias + p - t;
    double bias = 0.0;
    if (call->biases != NULL) {
        bias = (double)call->biases[head * n + (i < 0 ? 0 : i >= n ? n - 1 : i)];
    }
    s += order == CP_CAP_LAST ? bias : 0.0;
    s = call->cap > 0.0 ? call->cap * tanh(s / call->cap) : s;
    return s + (order == CP_CAP_LAST ? 0.0 : bias);
}

/* The changed scores of the keys that the row sees, and their values. Returns how many. */
static int keys_of(const struct made *m, int order, int row, int head, double *score,
                   const double **value) {
    const struct gate_problem *p = &m->p;
    int d = p->recipe.head_dim, s = gate_sequence_of(p, row), stands = p->position[row], n = 0;
    int g = head / (p->recipe.n_heads / p->recipe.n_kv_heads);
    const double *q = p->q + ((ptrdiff_t)row * p->recipe.n_heads + head) * d;
    for (int j = 0; j < p->n_tokens[s]; j++) {
        const double *k = gate_key(p, s, j, g);
        int t = gate_position_of(p, s, j);
        double sum = 0.0;
        for (int i = 0; i < d; i++) {
            sum += p->scale * q[i] * k[i];
        }
        if (is_seen(m->call, stands, t)) {
            score[n] = changed(m->call, order, head, t, stands, sum);
            value[n++] = gate_value(p, s, j, g);
        }
    }
    return n;
}

/* Attention, to `out`, and its log-sum-exp behind. */
static void attend(const struct made *m, int order, int row, int head, double *out) {
    static double score[70000];
    static const double *value[70000];
    int d = m->p.recipe.head_dim, n = keys_of(m, order, row, head, score, value);
    double top = m->call->sinks != NULL ? (double)m->call->sinks[head] : -INFINITY;
    double sink = top, sum = 0.0;
    for (int j = 0; j < n; j++) {
        top = fmax(top, score[j]);
    }
    memset(out, 0, (size_t)d * sizeof *out);
    for (int j = 0; j < n; j++) {
        for (int i = 0; i < d; i++) {
            out[i] += exp(score[j] - top) * value[j][i];
        }
        sum += exp(score[j] - top);
    }
    sum += isinf(sink) ? 0.0 : exp(sink - top);
    for (int i = 0; i < d; i++) {
        out[i] = sum > 0.0 ? out[i] / sum : 0.0;
    }
    out[d] = sum > 0.0 ? top + log(sum) : -INFINITY;
}

static void rows_are_judged_with_their_biases(void **state) {
    int finite = 0;
    (void)state;
    for (int i = 0; i < 120; i++) {
        struct gate_recipe recipe = recipe_of(i, TABLE);
        struct cp_kernel kernel = kernel_of(TABLE, i);
        struct made m;
        recipe.values = i % 3 == 0 ? GATE_SELECT : i % 3 == 1 ? GATE_COUNT : GATE_NORMAL;
        make(&m, &recipe, &kernel);
        struct gate_scratch *scratch = gate_scratch_new(&m.p);
        assert_non_null(scratch);
        for (int row = 0; row < m.p.n_rows && m.call->biases != NULL; row++) {
            double right[512], expected[512], bound[512];
            struct gate_numbers numbers = {.expected = expected, .bound = bound};
            int head = row % recipe.n_heads;
            attend(&m, kernel.conventions.cap, row, head, right);
            gate_certify_row(scratch, &kernel, row, head, &numbers);
            for (int x = 0; x <= recipe.head_dim; x++) {
                double size = 1e-9 * (1.0 + fabs(right[x]));
                assert_true(isinf(bound[x]) || expected[x] == right[x] ||
                            fabs(expected[x] - right[x]) <= size);
                finite += isfinite(bound[x]);
            }
        }
        gate_scratch_free(scratch);
        done(&m);
    }
    assert_true(finite > 10000);
}

/* NUM-15: as a slope that gives these biases. */
static void a_bias_costs_as_much_as_a_slope(void **state) {
    struct cp_kernel kernel = kernel_of(ALL, 0);
    float entries[] = {0.0F, 0.0F, 0.0F, 0.0F, -1.5F, -3.0F}, slope[] = {0.0F, 0.5F};
    struct gate_scores table = {.biases = entries, .n_biases = 3}, sloped = {.slopes = slope};
    const struct gate_rotated placed = {0};
    double q = 1.0, k[] = {1.0, 4.0}, place[] = {1.0, 2.0}, x[] = {-3.0, -6.0};
    double shift[2], error[2], of_slope[2], error_of_slope[2];
    struct cp_tolerance_row row = {
        .n_keys = 2, .head_dim = 1, .value_dim = 1, .scale = 1.0, .q = &q, .k = k};
    (void)state;
    gate_shift_keys(&kernel, 1, &placed, &table, 1, &row, place, shift, error);
    gate_shift_keys(&kernel, 1, &placed, &sloped, 1, &row, x, of_slope, error_of_slope);
    for (int j = 0; j < 2; j++) {
        assert_true(shift[j] == -1.5 * (j + 1) && shift[j] == of_slope[j]);
        assert_true(error[j] == error_of_slope[j] && error[j] > 0x1p-24 && error[j] < 0x1p-19);
    }
    assert_true(gate_changes_scores(&table) && gate_changes_scores(&sloped));
}

/* ---- Files of cases ---- */

static void save(char *file, const struct gate_recipe *recipe) {
    struct gate_found found;
    memset(&found, 0, sizeof found);
    found.recipe = *recipe;
    int out = mkstemp(file);
    assert_true(out >= 0);
    close(out);
    assert_int_equal(gate_case_save(file, &found, &plain), 0);
}

static void files_keep_them(void **state) {
    int tables = 0;
    (void)state;
    for (int i = 0; i < 30; i++) {
        char file[] = "/tmp/chunkproof-biases-XXXXXX";
        struct gate_recipe recipe = recipe_of(i, ALL);
        struct gate_case *cases;
        save(file, &recipe);
        assert_int_equal(gate_case_load(file, "replay", &cases), 1);
        assert_int_equal(cases[0].recipe.biases, recipe.biases);
        assert_int_equal(cases[0].recipe.n_biases, recipe.n_biases);
        assert_int_equal(cases[0].recipe.own_bias, recipe.own_bias);
        tables += recipe.biases != GATE_NO_BIASES;
        free(cases);
        remove(file);
    }
    assert_true(tables > 5);
}

static void files_of_other_tables_are_refused(void **state) {
    static const struct {
        int slopes, biases, n, own;
    } wrong[] = {{GATE_ALIBI, 1, 5, 0},
                 {0, 1, 0, 0},
                 {0, 0, 5, 0},
                 {0, 2, 5, 5},
                 {0, 0, 0, 1},
                 {0, 3, 5, 0},
                 {0, 1, GATE_MOST_BIASES + 1, 0}};
    (void)state;
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        char file[] = "/tmp/chunkproof-biases-XXXXXX";
        struct gate_recipe recipe = recipe_of(0, 0);
        struct gate_case *cases;
        recipe.slopes = wrong[i].slopes;
        recipe.biases = wrong[i].biases;
        recipe.n_biases = wrong[i].n;
        recipe.own_bias = wrong[i].own;
        save(file, &recipe);
        assert_int_equal(gate_case_load(file, "replay", &cases), -1);
        remove(file);
    }
}

static void recipes_say_them(void **state) {
    char line[GATE_LINE];
    struct gate_recipe recipe = recipe_of(2, 0);
    (void)state;
    gate_recipe_print(&recipe, line);
    assert_null(strstr(line, "biases"));
    recipe.biases = GATE_BUCKETS;
    recipe.n_biases = 24;
    recipe.own_bias = 3;
    recipe.sinks = 1;
    gate_recipe_print(&recipe, line);
    assert_non_null(
        strstr(line, ", a table of 24 biases in buckets as T5's, the row's own is 3, sinks"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(calls_have_slopes_or_a_table),
        cmocka_unit_test(calls_say_how_large_the_table_is),
        cmocka_unit_test(kernels_that_take_none_get_none),
        cmocka_unit_test(entries_tell_heads_and_places_apart),
        cmocka_unit_test(calls_that_run_again_have_other_biases),
        cmocka_unit_test(far_keys_are_near_in_16_bits),
        cmocka_unit_test(buckets_are_longer_the_further_away),
        cmocka_unit_test(shorter_tables_have_the_same_biases),
        cmocka_unit_test(tables_end_before_the_keys_and_behind_them),
        cmocka_unit_test(rows_are_judged_with_their_biases),
        cmocka_unit_test(a_bias_costs_as_much_as_a_slope),
        cmocka_unit_test(files_keep_them),
        cmocka_unit_test(files_of_other_tables_are_refused),
        cmocka_unit_test(recipes_say_them),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
