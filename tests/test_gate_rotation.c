/* SPDX-License-Identifier: Apache-2.0 */
/* GATE-14: cases of the gate whose keys are rotated when they are read (gate/case/rotation.c), and
 * what they are held to (gate/judge/). Attention is computed here by the words of the clause. */
#define _POSIX_C_SOURCE 200809L /* mkstemp */

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "gate/case/layout.h"
#include "gate/case/prompts.h"
#include "gate/case/rotation.h"
#include "gate/case/values.h"
#include "gate/judge/judge.h"
#include "gate/search/case_file.h"
#include "tests/gate/contiguous.h"
#include "tests/plain_kernel.h"

#define CASES 240
#define WORK  20000
#define PI    3.14159265358979323846

static struct cp_kernel kernel_of(long long index) {
    struct cp_kernel kernel = plain;
    kernel.plans = CP_PLANS_LISTS;
    kernel.keys = index % 2 == 0 ? CP_KEYS_RAW : CP_KEYS_LOCAL;
    kernel.pairs = index % 4 < 2 ? CP_PAIRS_HALVES : CP_PAIRS_NEIGHBOURS;
    kernel.arithmetic.rotated = CP_FP32;
    return kernel;
}

static struct gate_recipe recipe_of(long long index) {
    struct gate_recipe recipe;
    gate_recipe_make(&recipe, 11, index, 0, WORK, NULL);
    if (gate_has_modules(CP_PLANS_LISTS, index)) {
        gate_recipe_to_modules(&recipe, NULL);
    }
    gate_recipe_rotate(&recipe, 0, NULL);
    memset(&recipe.op[recipe.n_ops], 0,
           (size_t)(GATE_MOST_OPS - recipe.n_ops) * sizeof recipe.op[0]);
    return recipe;
}

/* A case of the gate. */
struct made {
    struct cp_kernel kernel;
    struct gate_problem p;
    struct gate_arrays a;
    const struct cp_kernel_call *call;
};

static void make(struct made *m, long long index) {
    struct gate_recipe recipe = recipe_of(index);
    m->kernel = kernel_of(index);
    assert_int_equal(gate_problem_new(&m->p, &recipe, &m->kernel), 0);
    gate_values_fill(&m->p);
    assert_int_equal(gate_arrays_new(&m->a, &m->p), 0);
    m->call = &m->a.run.call;
}

static void done(struct made *m) {
    gate_arrays_free(&m->a);
    gate_problem_free(&m->p);
}

static int with_each(void (*look)(const struct made *m, int *count), int *count) {
    for (long long i = 0; i < CASES; i++) {
        struct made m;
        make(&m, i);
        look(&m, count);
        done(&m);
    }
    return CASES;
}

/* ---- What the kernel gets ---- */

/* The table has a row for each t of the call, and numbers of d at most that are rotated. */
static void look_at_call(const struct made *m, int *count) {
    const struct cp_kernel_call *c = m->call;
    assert_true(c->rotary_dim % 2 == 0 && c->rotary_dim <= c->head_dim);
    assert_true(c->rotary_dim >= c->head_dim / 2 / 2 * 2);
    assert_non_null(c->rotation);
    assert_int_equal(m->a.run.bytes[RUN_ROTATION],
                     (size_t)c->n_angles * (size_t)c->rotary_dim * sizeof(float));
    for (int at = 0; at < c->n_sequences * c->table_width; at++) {
        assert_true(c->table[at] < 0 || c->table_position[at] + c->table_tokens[at] <= c->n_angles);
    }
    for (int i = 0; i < c->n_angles * c->rotary_dim; i++) {
        assert_true(fabs((double)c->rotation[i]) <= 1.25);
    }
    count[0] += c->rotary_dim < c->head_dim / 2 * 2;
}

/* In one case in four a part of each head is rotated. */
static void calls_have_a_table(void **state) {
    int parts = 0;
    (void)state;
    int n = with_each(look_at_call, &parts);
    assert_true(parts > n / 6 && parts < n / 3);
}

/* Where keys are placed there is none, and no number of K is another one. */
static void placed_keys_have_no_table(void **state) {
    (void)state;
    struct gate_recipe recipe = recipe_of(0);
    struct gate_problem p;
    struct gate_arrays a;
    assert_int_equal(gate_problem_new(&p, &recipe, &plain), 0);
    gate_values_fill(&p);
    assert_int_equal(gate_arrays_new(&a, &p), 0);
    assert_null(a.run.call.rotation);
    assert_int_equal(a.run.call.n_angles + a.run.call.rotary_dim, 0);
    assert_int_equal(gate_n_terms(&p.rotation, 7), 7);
    gate_arrays_free(&a);
    gate_problem_free(&p);
}

/* ---- Tables ---- */

/* Quarter turns of all four kinds, other ones in the next row; or the angles of an encoding: row t
 * is t times row 1, and later pairs turn less. */
static void look_at_table(const struct made *m, int *count) {
    const struct gate_rotation *r = &m->p.rotation;
    int quarters = gate_has_quarter_turns(m->p.recipe.values), half = r->dim / 2;
    double length = gate_rotation_length(&m->p);
    for (int t = 1; t < r->n_angles; t += 1 + t / 8) {
        for (int i = 0; i < half; i++) {
            const float *row = r->table + (size_t)t * (size_t)r->dim, *one = r->table + r->dim;
            double c = (double)row[i], s = (double)row[half + i];
            if (quarters) {
                assert_true(fabs(c) + fabs(s) == 1.0);
                count[c > 0.0 ? 0 : s > 0.0 ? 1 : c < 0.0 ? 2 : 3]++;
                count[4] += c != (double)row[i - r->dim] || s != (double)row[half + i - r->dim];
                continue;
            }
            double angle = atan2((double)one[half + i], (double)one[i]);
            double off = remainder(t * angle - atan2(s, c), 2.0 * PI);
            assert_true(fabs(off) < (t + 2) * 0x1p-22 && fabs(hypot(c, s) - length) < 0x1p-22);
            count[6 + (length > 1.0)]++;
            double before = i == 0 ? 1.0 : atan2((double)one[half + i - 1], (double)one[i - 1]);
            assert_true(i == 0 || angle < before);
            assert_true(i > 0 || fabs(angle - 2.0 * atan(0.5)) < 0x1p-22);
            count[5] += i > 0 && i == half - 1 && angle < 2e-4 && angle > 5e-5;
        }
    }
}

static void tables_turn(void **state) {
    int count[8] = {0};
    (void)state;
    (void)with_each(look_at_table, count);
    int all = count[0] + count[1] + count[2] + count[3];
    for (int turn = 0; turn < 4; turn++) {
        assert_true(count[turn] > all / 5 && count[turn] < all / 3);
    }
    assert_true(count[4] > 2 * all / 3 && count[4] < 5 * all / 6);
    assert_true(count[5] > 0);
    assert_true(count[6] > count[7] / 4 && count[7] > count[6] / 4);
}

/* An angle does not depend on how far it is: 2^17 times the second pair's. */
static void far_angles_are_right(void **state) {
    struct gate_recipe recipe = {.n_heads = 1,
                                 .n_kv_heads = 1,
                                 .head_dim = 4,
                                 .chunk_size = 128,
                                 .values = GATE_NORMAL,
                                 .scale = 100,
                                 .seed = 3,
                                 .n_ops = 1,
                                 .op = {{GATE_JOIN, 0, 0, 131073}}};
    struct cp_kernel kernel = kernel_of(0);
    struct gate_problem p;
    (void)state;
    assert_int_equal(gate_problem_new(&p, &recipe, &kernel), 0);
    double first = 2.0 * atan(0.5), last = 2.0 * atan(ldexp(1.0, -14));
    assert_true(gate_rotation_length(&p) == 1.0);
    for (int t = 131072; t > 1; t /= 3) {
        const float *row = p.rotation.table + 4 * (size_t)t;
        assert_true(fabs((double)row[0] - cos(t * first)) < 0x1p-23);
        assert_true(fabs((double)row[2] - sin(t * first)) < 0x1p-23);
        assert_true(fabs((double)row[1] - cos(t * last)) < 0x1p-23);
        assert_true(fabs((double)row[3] - sin(t * last)) < 0x1p-23);
    }
    gate_problem_free(&p);
}

/* ---- Keys ---- */

/* By the words of the clause. */
static void rotate_by_words(const struct cp_kernel_call *call, int pairs, int t, double *k) {
    int r = call->rotary_dim;
    for (int i = 0; i < r / 2; i++) {
        int at_x = pairs == CP_PAIRS_HALVES ? i : 2 * i;
        int at_y = pairs == CP_PAIRS_HALVES ? i + r / 2 : 2 * i + 1;
        double c = (double)call->rotation[(size_t)t * (size_t)r + (size_t)i];
        double s = (double)call->rotation[(size_t)t * (size_t)r + (size_t)(r / 2 + i)];
        double x = k[at_x], y = k[at_y];
        k[at_x] = c * x - s * y;
        k[at_y] = s * x + c * y;
    }
}

/* Attention of a row and head, from the arrays of the call alone. Returns the log-sum-exp. */
static double attend(const struct made *m, int row, int head, double *out) {
    const struct cp_kernel_call *c = m->call;
    int d = c->head_dim, s = 0, g = head / (c->n_heads / c->n_kv_heads);
    double k[512] = {0.0}, total = 0.0, most = -INFINITY;
    while (c->query_begin[s + 1] <= row) {
        s++;
    }
    memset(out, 0, (size_t)d * sizeof *out);
    for (int at = s * c->table_width; c->table[at] >= 0; at++) {
        for (int j = 0; j < c->table_tokens[at]; j++) {
            int position = c->table_position[at] + j;
            double score = 0.0;
            if (position > c->position[row]) {
                continue;
            }
            for (int i = 0; i < d; i++) {
                k[i] = cp_number_load(
                    c->k, m->p.kv_type,
                    (size_t)(c->table[at] * c->k_chunk + g * c->k_head + j * c->k_slot + i));
            }
            rotate_by_words(c, m->kernel.pairs,
                            m->kernel.keys == CP_KEYS_RAW ? position : c->table_position[at], k);
            for (int i = 0; i < d; i++) {
                score += k[i] * cp_number_load(c->q, m->p.q_type,
                                               (size_t)(row * c->q_row + head * c->q_head + i));
            }
            score *= c->scale;
            double higher = fmax(most, score), rescale = exp(most - higher);
            double weight = exp(score - higher);
            most = higher;
            total = total * rescale + weight;
            for (int i = 0; i < d; i++) {
                double v = cp_number_load(
                    c->v, m->p.kv_type,
                    (size_t)(c->table[at] * c->v_chunk + g * c->v_head + j * c->v_slot + i));
                out[i] = out[i] * rescale + weight * v;
            }
        }
    }
    for (int i = 0; i < d; i++) {
        out[i] = total > 0.0 ? out[i] / total : 0.0;
    }
    return most + log(total);
}

/* What the judge expects is that, and far nearer than the bound. */
static void look_at_attention(const struct made *m, int *count) {
    struct gate_scratch *scratch = gate_scratch_new(&m->p);
    int d = m->p.recipe.head_dim;
    double out[512], expected[513], bound[513];
    struct gate_numbers numbers = {.expected = expected, .bound = bound};
    assert_non_null(scratch);
    for (int row = 0; row < m->p.n_rows; row += 1 + m->p.n_rows / 4) {
        int head = row % m->p.recipe.n_heads;
        double lse = attend(m, row, head, out);
        gate_certify_row(scratch, &m->kernel, row, head, &numbers);
        for (int i = 0; i <= d && gate_visible(&m->p, row) > 0; i++) {
            double is = i < d ? out[i] : lse;
            count[0] += isfinite(bound[i]) != 0;
            assert_true(isinf(bound[i]) || fabs(expected[i] - is) <= 0x1p-10 * bound[i]);
        }
    }
    gate_scratch_free(scratch);
}

static void the_judge_rotates_keys(void **state) {
    int compared = 0;
    (void)state;
    (void)with_each(look_at_attention, &compared);
    assert_true(compared > 10000);
}

/* A quarter turn and back is exact, and products add up to the score of the rotated key. */
static void look_at_products(const struct made *m, int *count) {
    const struct gate_rotation *r = &m->p.rotation;
    int d = m->p.recipe.head_dim, w = gate_n_terms(r, d), angle = r->n_angles - 1;
    double k[512], same[512], q[512], of_k[1024], of_q[1024], sum = 0.0, score = 0.0, size = 0.0;
    assert_int_equal(w, d + r->dim);
    for (int i = 0; i < d; i++) {
        k[i] = same[i] = sin(i + 1.0);
        q[i] = cos(3.0 * i);
    }
    gate_key_terms(r, angle, d, k, of_k);
    gate_query_terms(r, d, q, of_q);
    gate_rotate(r, angle, k);
    for (int i = 0; i < w; i++) {
        sum += of_q[i] * of_k[i];
        size += fabs(of_q[i] * of_k[i]);
    }
    for (int i = 0; i < d; i++) {
        score += q[i] * k[i];
        count[0] += k[i] != same[i];
    }
    assert_true(fabs(sum - score) <= 0x1p-40 * size);
    if (gate_has_quarter_turns(m->p.recipe.values)) {
        gate_rotate_back(r, angle, k);
        for (int i = 0; i < d; i++) {
            assert_true(k[i] == same[i]);
        }
    }
}

static void products_are_the_score(void **state) {
    int changed = 0;
    (void)state;
    (void)with_each(look_at_products, &changed);
    assert_true(changed > CASES);
}

/* Keys that are chosen are what they are where keys are placed: the largest score of each row that
 * selects is as large. */
static void chosen_keys_are_turned_back(void **state) {
    int n = 0;
    (void)state;
    for (long long i = 0; i < CASES; i++) {
        struct made m;
        make(&m, i);
        if (m.p.recipe.values == GATE_SELECT && m.p.recipe.n_modules == 0) {
            struct cp_kernel kernel = m.kernel;
            struct gate_problem placed;
            kernel.keys = CP_KEYS_PLACED;
            assert_int_equal(gate_problem_new(&placed, &m.p.recipe, &kernel), 0);
            gate_values_fill(&placed);
            for (int s = 0; s < placed.b; s++) {
                for (int j = 0; j < placed.n_tokens[s]; j += 3) {
                    double k[512];
                    const double *key = gate_key(&placed, s, j, 0);
                    memcpy(k, gate_key(&m.p, s, j, 0), (size_t)placed.recipe.head_dim * sizeof *k);
                    gate_rotate(&m.p.rotation, gate_angle_of(&m.p, s, j), k);
                    for (int e = 0; e < placed.recipe.head_dim; e++) {
                        assert_true(k[e] == key[e]);
                        n++;
                    }
                }
            }
            gate_problem_free(&placed);
        }
        done(&m);
    }
    assert_true(n > 1000);
}

/* ---- One text at two positions ---- */

/* A chunk has one number of tokens, and a sequence has it once; but it may have two positions. */
static void look_at_positions(const struct made *m, int *count) {
    const struct gate_problem *p = &m->p;
    int two = 0;
    for (int at = 0; at < p->b * p->table_width; at++) {
        for (int other = 0; other < at && p->table[at] >= 0; other++) {
            if (p->table[other] == p->table[at]) {
                assert_int_equal(p->table_tokens[other], p->table_tokens[at]);
                assert_true(other / p->table_width != at / p->table_width);
                two |= p->table_position[other] != p->table_position[at];
            }
        }
    }
    assert_true(!two || (p->plan != CP_PLANS_TREES && !gate_values_have_order(p->recipe.values)));
    struct cp_plan *plan;
    assert_int_equal(cp_plan_new(&plan), CP_OK);
    fill_plan(m->call, plan);
    assert_true(is_right_plan(m->call, plan));
    cp_plan_free(plan);
    count[0] += two;
}

static void a_text_may_stand_twice(void **state) {
    int two = 0;
    (void)state;
    int n = with_each(look_at_positions, &two);
    assert_true(two > n / 12);
}

/* Modules of one text have as many tokens; where the number of keys is asked for there are none. */
static void alike_modules_are_as_long(void **state) {
    int alike = 0;
    (void)state;
    for (long long i = 0; i < CASES; i++) {
        struct gate_recipe r = recipe_of(i), wanted = r;
        struct gate_shape shape = {.keys = 40};
        for (int m = 0; m < r.n_modules; m++) {
            alike += r.module[m].alike;
            assert_true(!r.module[m].alike || gate_is_alike(&r, m));
            wanted.module[m].alike = 0;
        }
        gate_recipe_rotate(&wanted, 0, &shape);
        for (int m = 0; m < r.n_modules; m++) {
            assert_int_equal(wanted.module[m].alike, 0);
        }
    }
    assert_true(alike > CASES / 10);
}

/* Further attempts rotate whole heads, for kernels that refuse parts. */
static void later_attempts_rotate_all(void **state) {
    int parts = 0;
    (void)state;
    for (long long i = 0; i < CASES; i++) {
        struct gate_recipe r = recipe_of(i);
        parts += r.rotary > 0;
        r.rotary = 0;
        gate_recipe_rotate(&r, 3, NULL);
        assert_int_equal(r.rotary, 0);
    }
    assert_true(parts > CASES / 8);
}

/* ---- The class ---- */

static struct cp_arithmetic class_of(const struct cp_kernel *kernel,
                                     const struct gate_rotated *rotated) {
    struct cp_arithmetic arithmetic;
    struct cp_counts counts;
    gate_class_of_row(
        kernel,
        &(struct gate_row){.d = 64, .n = 10, .steps = 3, .largest_score = 5.0, .rotated = rotated},
        &arithmetic, &counts);
    return arithmetic;
}

static int is_near(double x, double y) {
    return fabs(x - y) <= 0x1p-20 * fabs(y);
}

/* Two units of binary32, and one of `rotated`; for each number of Q and K what is lost below the
 * smallest numbers. */
static void rotations_are_paid_for(void **state) {
    const struct gate_rotated rotated = {.number = 3.0, .sum = 4.0};
    const struct gate_rotated quarters = {.number = 3.0, .sum = 4.0, .quarters = 1};
    double u = 0x1p-24, tiny = 0x1p-150;
    struct cp_kernel kernel = kernel_of(0), placed = kernel;
    (void)state;
    placed.keys = CP_KEYS_PLACED;
    double before = class_of(&placed, &rotated).score.term_unit;
    double tiny_before = class_of(&placed, &rotated).score.term_tiny;
    struct cp_arithmetic a = class_of(&kernel, &rotated);
    assert_true(is_near(a.score.term_unit, before + 2.0 * u));
    assert_true(is_near(a.score.term_tiny, tiny_before + 12.0 * tiny));
    assert_int_equal(a.score.depth, 64);
    kernel.arithmetic.rotated = CP_FP16;
    a = class_of(&kernel, &rotated);
    assert_true(is_near(a.score.term_unit, before + 0x1p-11 + 2.0 * u));
    assert_true(is_near(a.score.term_tiny, tiny_before + 3.0 * 0x1p-25));
    kernel.arithmetic.truncates = placed.arithmetic.truncates = 1;
    before = class_of(&placed, &rotated).score.term_unit;
    assert_true(is_near(class_of(&kernel, &rotated).score.term_unit, before + 0x1p-10 + 4.0 * u));
    kernel.arithmetic.truncates = placed.arithmetic.truncates = 0;

    before = class_of(&placed, &rotated).score.term_unit;
    kernel.q_type = kernel.kv_type = CP_FP16;
    assert_true(is_near(class_of(&kernel, &quarters).score.term_unit, before));
    kernel.kv_type = CP_FP32;
    assert_true(is_near(class_of(&kernel, &quarters).score.term_unit, before + 0x1p-11));
    kernel.arithmetic.flushes = 1;
    kernel.arithmetic.rotated = CP_FP32;
    assert_true(class_of(&kernel, &quarters).score.term_tiny >= 3.0 * 4.0 * 0x1p-126);
}

/* A rotated number may be larger than binary16 holds: then nothing is claimed. */
static void large_numbers_may_overflow(void **state) {
    struct gate_rotation rotation = {CP_KEYS_RAW, CP_PAIRS_HALVES, 2, 1, (float[]){0.6F, 0.8F}};
    struct gate_rotated rotated = {.quarters = 0};
    (void)state;
    gate_rotated_extend(&rotation, 0, 3, (double[]){1.0, -2.0, 7.0},
                        (double[]){50000.0, -40000.0, 60000.0}, &rotated);
    assert_true(rotated.number == 60000.0);
    assert_true(is_near(rotated.sum, 0.6 * 40000.0 + 0.8 * 50000.0));
    rotation.table = (float[]){0.8F, 0.6F}; /* now the first number of the pair is the larger one */
    rotated.sum = 0.0;
    gate_rotated_extend(&rotation, 0, 3, (double[]){1.0, -2.0, 7.0},
                        (double[]){50000.0, -40000.0, 60000.0}, &rotated);
    assert_true(is_near(rotated.sum, 0.8 * 50000.0 + 0.6 * 40000.0));

    struct cp_kernel kernel = kernel_of(0);
    double q = 1.0, k[] = {0x1p-10, 0x1p-10}, scratch[6];
    struct cp_tolerance_row row = {2, 1, 1, 1.0, &q, k, k, scratch, NULL, NULL};
    struct gate_extent extent = gate_extent_of(&row);
    struct cp_arithmetic arithmetic;
    struct cp_counts counts;
    kernel.arithmetic.rotated = CP_FP16;
    gate_class_of_row(
        &kernel,
        &(struct gate_row){
            .d = 1, .n = 2, .steps = 1, .largest_score = extent.score, .rotated = &rotated},
        &arithmetic, &counts);
    rotated.sum = 65000.0;
    assert_int_equal(gate_overflow_of(&kernel, &arithmetic, &counts, &row, &extent, &rotated),
                     GATE_UNKNOWN);
    rotated.sum = 64000.0;
    assert_int_equal(gate_overflow_of(&kernel, &arithmetic, &counts, &row, &extent, &rotated),
                     GATE_STAYS_FINITE);
    rotated.sum = 65505.0;
    assert_int_equal(gate_overflow_of(&kernel, &arithmetic, &counts, &row, &extent, &rotated),
                     GATE_MAY_OVERFLOW);
    kernel.arithmetic.rotated = CP_BF16;
    assert_int_equal(gate_overflow_of(&kernel, &arithmetic, &counts, &row, &extent, &rotated),
                     GATE_STAYS_FINITE);
}

/* ---- Files ---- */

static int has_alike(const struct gate_recipe *r) {
    int alike = 0;
    for (int m = 0; m < r->n_modules; m++) {
        alike |= r->module[m].alike;
    }
    return alike;
}

/* A case file keeps what is rotated, and which modules are one text. */
static void a_file_keeps_rotations(void **state) {
    char file[] = "/tmp/chunkproof-rotation-XXXXXX";
    int fd = mkstemp(file), kept = 0;
    (void)state;
    assert_true(fd >= 0);
    for (long long i = 0; i < 60; i++) {
        struct gate_found found = {.recipe = recipe_of(i)};
        struct gate_case *cases;
        char line[GATE_LINE];
        gate_recipe_print(&found.recipe, line); /* and is named by both */
        assert_true((strstr(line, "numbers of a head rotated") != NULL) ==
                    (found.recipe.rotary > 0));
        assert_true((strstr(line, "(as before)") != NULL) == has_alike(&found.recipe));
        assert_int_equal(gate_case_save(file, &found, &plain), 0);
        assert_int_equal(gate_case_load(file, "replay", &cases), 1);
        assert_memory_equal(&cases[0].recipe, &found.recipe, sizeof found.recipe);
        kept += found.recipe.rotary > 0 && found.recipe.n_modules > 0;
        free(cases);
    }
    assert_true(kept > 3);
    assert_int_equal(remove(file), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(calls_have_a_table),
        cmocka_unit_test(placed_keys_have_no_table),
        cmocka_unit_test(tables_turn),
        cmocka_unit_test(far_angles_are_right),
        cmocka_unit_test(the_judge_rotates_keys),
        cmocka_unit_test(products_are_the_score),
        cmocka_unit_test(chosen_keys_are_turned_back),
        cmocka_unit_test(a_text_may_stand_twice),
        cmocka_unit_test(alike_modules_are_as_long),
        cmocka_unit_test(later_attempts_rotate_all),
        cmocka_unit_test(rotations_are_paid_for),
        cmocka_unit_test(large_numbers_may_overflow),
        cmocka_unit_test(a_file_keeps_rotations),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
