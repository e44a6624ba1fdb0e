/* SPDX-License-Identifier: Apache-2.0 */
/* CONV-13: cases whose values have a width of their own, or are in their keys: which widths come,
 * where a kernel finds the numbers, what keys are chosen by, and what is judged. */
#define _POSIX_C_SOURCE 200809L /* mkstemp */

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "chunkproof/number.h"
#include "gate/case/cache.h"
#include "gate/case/layout.h"
#include "gate/case/pages.h"
#include "gate/case/values.h"
#include "gate/case/widths.h"
#include "gate/judge/judge.h"
#include "gate/search/case_file.h"
#include "gate/search/sizes.h"
#include "tests/plain_kernel.h"

#define CASES 240
#define WORK  20000

static const struct gate_shape any_shape;

/* Each second kernel has values in keys; some have pages, packed numbers, or 8 bits. */
static struct cp_kernel kernel_of(int i) {
    struct cp_kernel kernel = plain;
    kernel.widths = i % 7 == 6 ? CP_WIDTHS_EQUAL : CP_WIDTHS_ANY;
    kernel.layout.tensors = i % 2 == 0 ? CP_TENSORS_TWO : CP_TENSORS_KEYS;
    kernel.layout.pages = i % 3 == 0   ? CP_PAGES_OWN
                          : i % 3 == 1 ? CP_PAGES_CHUNKS
                                       : CP_PAGES_RAGGED;
    if (i % 5 == 4 && i % 3 != 2) {
        kernel.layout.k_pack = kernel.layout.v_pack = 8;
    }
    if (i % 4 >= 2) {
        int cache = i % 8 < 4 ? CP_CACHE_E4M3 : CP_CACHE_INT8;
        kernel.cache = (struct cp_kernel_cache){cache, cache, i % 3};
    }
    kernel.arithmetic.k_dequantised = kernel.arithmetic.v_dequantised = CP_FP32;
    return kernel;
}

struct made {
    struct cp_kernel kernel;
    struct gate_recipe recipe;
    struct gate_problem p;
    struct gate_arrays a;
    const struct cp_kernel_call *call;
};

static void make_of(struct made *m, const struct cp_kernel *kernel, int index, int values) {
    m->kernel = *kernel;
    gate_recipe_make(&m->recipe, 57, index, 0, WORK, NULL);
    gate_recipe_widths(&m->recipe, &m->kernel, WORK, &any_shape);
    gate_recipe_pages(&m->recipe, &m->kernel.layout);
    m->recipe.values = values < 0 ? m->recipe.values : (enum gate_values)values;
    assert_int_equal(gate_problem_new(&m->p, &m->recipe, &m->kernel), 0);
    gate_values_fill(&m->p);
    assert_int_equal(gate_arrays_new(&m->a, &m->p), 0);
    m->call = &m->a.run.call;
}

static void make(struct made *m, int index) {
    struct cp_kernel kernel = kernel_of(index);
    make_of(m, &kernel, index, -1);
}

static void done(struct made *m) {
    gate_arrays_free(&m->a);
    gate_problem_free(&m->p);
}

/* ---- Which widths ---- */

/* Values that are narrower than keys, as wide, and wider; in keys never wider. */
static void widths_come_in_pairs(void **state) {
    int narrower[2] = {0}, equal[2] = {0}, wider[2] = {0}, latent = 0, one_head = 0, in_keys = 0;
    int many_heads = 0;
    (void)state;
    for (int index = 0; index < 4 * CASES; index++) {
        struct cp_kernel kernel = kernel_of(index);
        struct gate_recipe r;
        gate_recipe_make(&r, 57, index, 0, WORK, NULL);
        int d = r.head_dim, is_in_keys = kernel.layout.tensors == CP_TENSORS_KEYS;
        gate_recipe_widths(&r, &kernel, WORK, &any_shape);
        int d_v = gate_value_dim(&r, &kernel);
        if (kernel.widths == CP_WIDTHS_EQUAL) {
            assert_true(r.value_dim == 0 && d_v == r.head_dim && r.head_dim == d);
            continue;
        }
        assert_int_equal(d_v, r.value_dim);
        narrower[is_in_keys] += d_v < r.head_dim;
        equal[is_in_keys] += d_v == r.head_dim;
        wider[is_in_keys] += d_v > r.head_dim;
        latent += r.head_dim == 576 && d_v == 512;
        in_keys += is_in_keys;
        one_head += is_in_keys && r.n_kv_heads == 1;
        many_heads += is_in_keys && r.n_heads / r.n_kv_heads >= 64;
    }
    assert_true(narrower[0] > 100 && equal[0] > 10 && wider[0] > 50 && latent > 50);
    assert_true(narrower[1] > 100 && equal[1] > 10 && wider[1] == 0);
    assert_true(one_head > in_keys / 2 && one_head < in_keys && many_heads > in_keys / 10);
}

/* What is asked for comes, and a recipe of another kernel fits one whose values are in keys. */
static void widths_that_are_asked_for(void **state) {
    struct cp_kernel kernel = kernel_of(1);
    const struct gate_shape shape = {.head_dim = 48, .value_dim = 40};
    struct gate_recipe r;
    (void)state;
    for (int index = 0; index < 20; index++) {
        gate_recipe_make(&r, 57, index, 0, WORK, &shape);
        gate_recipe_widths(&r, &kernel, WORK, &shape);
        assert_true(r.head_dim == 48 && r.value_dim == 40);
    }
    r.value_dim = 100;
    assert_int_equal(gate_value_dim(&r, &kernel), 48);
    kernel.layout.tensors = CP_TENSORS_TWO;
    assert_int_equal(gate_value_dim(&r, &kernel), 100);
    kernel.widths = CP_WIDTHS_EQUAL;
    assert_int_equal(gate_value_dim(&r, &kernel), 48);
}

/* Cases are not much more to compute than others, however wide their numbers are. */
static void the_work_stays(void **state) {
    double mean = 0.0;
    (void)state;
    for (int index = 0; index < CASES; index++) {
        struct made m;
        make(&m, index);
        double products = 0.0;
        for (int row = 0; row < m.p.n_rows; row++) {
            products += (double)gate_visible(&m.p, row) * m.recipe.n_heads * m.recipe.head_dim;
        }
        mean += products / CASES;
        done(&m);
    }
    assert_true(mean < 3.3 * WORK);
}

/* ---- Where they lie ---- */

static long long place_of(const struct made *m, int is_v, long long page, int head, int slot,
                          int i) {
    const struct cp_kernel_call *c = m->call;
    long long x = is_v ? m->kernel.layout.v_pack : m->kernel.layout.k_pack;
    long long group = is_v ? c->v_group : c->k_group;
    long long number = x > 0 ? i / x * group + i % x : i;
    return page * (is_v ? c->v_chunk : c->k_chunk) + head * (is_v ? c->v_head : c->k_head) +
           slot * (is_v ? c->v_slot : c->k_slot) + number;
}

/* Key j of sequence s, as the kernel finds it: from the pointers k and v alone. */
static void check_key(const struct made *m, int s, int j, int head) {
    const struct cp_kernel_call *c = m->call;
    int pages = m->kernel.layout.pages, slot = j % c->page_size, i = j / c->page_size;
    long long page = pages == CP_PAGES_OWN      ? c->page_table[s * c->page_table_width + i]
                     : pages == CP_PAGES_RAGGED ? c->page_begin[s] + j
                                                : c->table[s * c->table_width + i];
    int type = m->kernel.cache.k == CP_CACHE_PLAIN ? m->p.kv_type : m->kernel.cache.k;
    size_t of_token =
        ((size_t)page * (size_t)c->n_kv_heads + (size_t)head) * (size_t)c->page_size + (size_t)slot;
    size_t scale = m->kernel.cache.scales == CP_CACHE_SCALE_TOKEN  ? of_token
                   : m->kernel.cache.scales == CP_CACHE_SCALE_HEAD ? (size_t)head
                                                                   : 0;
    double of_k = c->k_scales != NULL ? (double)c->k_scales[scale] : 1.0;
    double of_v = c->v_scales != NULL ? (double)c->v_scales[scale] : 1.0;
    const double *k = gate_key(&m->p, s, j, head), *v = gate_value(&m->p, s, j, head);
    for (int x = 0; x < c->head_dim; x++) {
        size_t at = (size_t)place_of(m, 0, page, head, slot, x);
        assert_true(of_k * cp_number_load(c->k, type, at) == k[x]);
    }
    for (int x = 0; x < c->value_dim; x++) {
        size_t at = (size_t)place_of(m, 1, page, head, slot, x);
        assert_true(of_v * cp_number_load(c->v, type, at) == v[x]);
    }
}

static void each_number_is_where_the_strides_say(void **state) {
    int checked = 0;
    (void)state;
    for (int index = 0; index < CASES; index++) {
        struct made m;
        make(&m, index);
        assert_int_equal(m.call->head_dim, m.recipe.head_dim);
        assert_int_equal(m.call->value_dim, m.p.value_dim);
        for (int s = 0; s < m.p.b; s++) {
            for (int j = 0; j < m.p.n_tokens[s]; j += 1 + m.p.n_tokens[s] / 20) {
                check_key(&m, s, j, j % m.recipe.n_kv_heads);
                checked++;
            }
        }
        done(&m);
    }
    assert_true(checked > 3000);
}

/* All of V is in the memory of K: one pointer, and the same strides and scales. */
static void values_in_keys_have_no_memory(void **state) {
    int checked = 0;
    (void)state;
    for (int index = 1; index < CASES; index += 2) {
        struct made m;
        make(&m, index);
        const struct cp_kernel_call *c = m.call;
        assert_ptr_equal(c->v, c->k);
        assert_true(c->v_offset == 0 && m.a.run.bytes[RUN_V] == 0 && m.a.run.far[1].n == 0);
        assert_true(c->v_chunk == c->k_chunk && c->v_head == c->k_head && c->v_slot == c->k_slot &&
                    c->v_group == c->k_group);
        if (c->k_scales != NULL) {
            assert_int_equal(m.a.run.bytes[RUN_K_SCALES], m.a.run.bytes[RUN_V_SCALES]);
            assert_memory_equal(c->k_scales, c->v_scales, m.a.run.bytes[RUN_K_SCALES]);
            checked++;
        }
        done(&m);
    }
    assert_true(checked > 20);
}

/* Rows of results are d_v wide, and gaps lie behind them. */
static void results_have_their_width(void **state) {
    (void)state;
    for (int index = 0; index < CASES; index++) {
        struct made m;
        make(&m, index);
        const struct cp_kernel_call *c = m.call;
        long long out = c->out_head < c->out_row ? c->out_head : c->out_row;
        long long q = c->q_head < c->q_row ? c->q_head : c->q_row;
        int gap = (m.recipe.layout & GATE_SPREAD) != 0;
        if (m.recipe.n_heads > 1 && m.p.n_rows > 1) {
            assert_true(gap ? out > c->value_dim : out == c->value_dim);
            assert_true(gap ? q > c->head_dim : q == c->head_dim);
        }
        done(&m);
    }
}

/* ---- Values ---- */

static int same_numbers(const double *x, const double *y, int n) {
    for (int i = 0; i < n; i++) {
        if (x[i] != y[i]) {
            return 0;
        }
    }
    return 1;
}

/* A value is the first numbers of its key, of each kind of values, with each cache. */
static void a_value_is_the_beginning_of_its_key(void **state) {
    int differ[GATE_VALUES] = {0};
    (void)state;
    for (int i = 0; i < 4 * GATE_VALUES; i++) {
        struct cp_kernel kernel = kernel_of(2 * i + 1);
        struct made m;
        kernel.widths = CP_WIDTHS_ANY;
        make_of(&m, &kernel, 3 * i, i % GATE_VALUES);
        for (int s = 0; s < m.p.b; s++) {
            for (int j = 0; j < m.p.n_tokens[s]; j++) {
                const double *k = gate_key(&m.p, s, j, 0), *v = gate_value(&m.p, s, j, 0);
                assert_true(same_numbers(k, v, m.p.value_dim));
                differ[i % GATE_VALUES] +=
                    j > 0 && !same_numbers(gate_value(&m.p, s, j - 1, 0), v, m.p.value_dim);
            }
        }
        done(&m);
    }
    for (int values = 0; values < GATE_VALUES; values++) {
        assert_true(values == GATE_ZERO ? differ[values] == 0 : differ[values] > 0);
    }
}

/* Selected keys are told apart by what is behind a value, and a score without it chooses others. */
static void keys_are_chosen_behind_their_values(void **state) {
    int rows = 0, others = 0;
    (void)state;
    for (int index = 1; index < CASES; index += 2) {
        struct cp_kernel kernel = plain;
        struct made m;
        kernel.widths = CP_WIDTHS_ANY;
        kernel.layout.tensors = CP_TENSORS_KEYS;
        make_of(&m, &kernel, index, GATE_SELECT);
        int d = m.recipe.head_dim, d_v = m.p.value_dim;
        for (int row = 0; row < m.p.n_rows && d - d_v >= 16; row++) {
            const double *q = m.p.q + (ptrdiff_t)row * m.recipe.n_heads * d;
            int s = gate_sequence_of(&m.p, row), n = gate_visible(&m.p, row);
            double most = -INFINITY, least = INFINITY;
            for (int j = 0; j < n; j++) {
                double all = 0.0, of_value = 0.0;
                for (int i = 0; i < d; i++) {
                    double product = q[i] * gate_key(&m.p, s, j, 0)[i];
                    all += product;
                    of_value += i < d_v ? product : 0.0;
                }
                assert_true(of_value == 0.0);
                most = fmax(most, all);
                least = fmin(least, all);
            }
            rows += n > 1;
            others += n > 1 && most > least;
        }
        done(&m);
    }
    assert_true(rows > 100 && others > rows / 2);
}

/* ---- The judge ---- */

/* Attention of a row and head, by its definition. */
static void attend(const struct made *m, int row, int head, double *out, double *lse) {
    const struct gate_problem *p = &m->p;
    int d = m->recipe.head_dim, s = gate_sequence_of(p, row), n = gate_visible(p, row);
    int g = head / (m->recipe.n_heads / m->recipe.n_kv_heads);
    const double *q = p->q + ((ptrdiff_t)row * m->recipe.n_heads + head) * d;
    double sum = 0.0, top = -INFINITY, *score = calloc((size_t)n + 1, sizeof *score);
    memset(out, 0, (size_t)p->value_dim * sizeof *out);
    for (int j = 0; j < n; j++) {
        for (int i = 0; i < d; i++) {
            score[j] += p->scale * q[i] * gate_key(p, s, j, g)[i];
        }
        top = fmax(top, score[j]);
    }
    for (int j = 0; j < n; j++) {
        double weight = exp(score[j] - top);
        sum += weight;
        for (int i = 0; i < p->value_dim; i++) {
            out[i] += weight * gate_value(p, s, j, g)[i];
        }
    }
    for (int i = 0; i < p->value_dim && n > 0; i++) {
        out[i] /= sum;
    }
    *lse = n > 0 ? top + log(sum) : -INFINITY;
    free(score);
}

static void store_results(const struct made *m) {
    double *out = calloc((size_t)m->p.value_dim + 1, sizeof *out), lse;
    for (int row = 0; row < m->p.n_rows; row++) {
        for (int head = 0; head < m->recipe.n_heads; head++) {
            attend(m, row, head, out, &lse);
            for (int i = 0; i < m->p.value_dim; i++) {
                size_t at = (size_t)(row * m->call->out_row + head * m->call->out_head + i);
                cp_number_store(m->a.memory[RUN_OUT], m->p.out_type, at, out[i]);
            }
            if (m->call->lse != NULL) {
                size_t at = (size_t)(row * m->call->lse_row + head * m->call->lse_head);
                cp_number_store(m->a.memory[RUN_LSE], m->p.lse_type, at, lse);
            }
        }
    }
    free(out);
}

/* Attention is right, in each number of a row; any of them that is off is found. */
static void each_number_of_a_row_is_judged(void **state) {
    int judged = 0;
    (void)state;
    for (int index = 0; index < 60; index++) {
        struct cp_kernel kernel = kernel_of(index);
        struct made m;
        struct gate_finding f;
        make_of(&m, &kernel, index, GATE_COUNT);
        store_results(&m);
        assert_int_equal(gate_judge(&m.p, &m.a, &m.kernel, 1 << 20, &f, NULL), 0);
        assert_int_equal(f.verdict, GATE_RIGHT);
        for (int i = 0; i < m.p.value_dim && m.p.n_rows > 0;
             i += m.p.value_dim > 1 ? m.p.value_dim - 1 : 1) {
            size_t at = (size_t)((m.p.n_rows - 1) * m.call->out_row +
                                 (m.recipe.n_heads - 1) * m.call->out_head + i);
            double right = cp_number_load(m.a.memory[RUN_OUT], m.p.out_type, at);
            cp_number_store(m.a.memory[RUN_OUT], m.p.out_type, at, right + 0.5);
            assert_int_equal(gate_judge(&m.p, &m.a, &m.kernel, 1 << 20, &f, NULL), 0);
            assert_true(f.verdict == GATE_WRONG && f.wrong == 1 && f.element == i);
            cp_number_store(m.a.memory[RUN_OUT], m.p.out_type, at, right);
            judged++;
        }
        done(&m);
    }
    assert_true(judged > 60);
}

static void a_case_file_keeps_the_width(void **state) {
    (void)state;
    for (int value_dim = 0; value_dim <= 512; value_dim += 512) {
        char file[] = "/tmp/width-case-XXXXXX", line[GATE_LINE];
        struct gate_found found;
        struct gate_case *cases;
        memset(&found, 0, sizeof found);
        gate_recipe_make(&found.recipe, 59, 3, 0, WORK, NULL);
        found.recipe.value_dim = value_dim;
        found.finding.verdict = GATE_WRONG;
        int out = mkstemp(file);
        assert_true(out >= 0);
        close(out);
        assert_int_equal(gate_case_save(file, &found, &plain), 0);
        assert_int_equal(gate_case_load(file, "replay", &cases), 1);
        assert_int_equal(cases[0].recipe.value_dim, value_dim);
        gate_recipe_print(&cases[0].recipe, line);
        assert_int_equal(strstr(line, ", values of 512 numbers") != NULL, value_dim > 0);
        free(cases);
        remove(file);
    }
}

/* A sequence alone, or some rows of it, have the widths of the whole. */
static void parts_have_the_same_widths(void **state) {
    int parts = 0;
    (void)state;
    for (int index = 0; index < 60; index++) {
        struct gate_problem alone;
        struct made m;
        make(&m, index);
        int s = index % m.p.b, h = m.recipe.n_heads, d = m.recipe.head_dim;
        assert_int_equal(gate_problem_alone(&alone, &m.p, s), 0);
        size_t n = (size_t)alone.n_rows * (size_t)h * (size_t)d;
        assert_int_equal(alone.value_dim, m.p.value_dim);
        assert_memory_equal(alone.q, m.p.q + (ptrdiff_t)m.p.query_begin[s] * h * d,
                            n * sizeof(double));
        for (int j = 0; j < alone.n_tokens[0]; j++) {
            assert_ptr_equal(gate_value(&alone, 0, j, 0), gate_value(&m.p, s, j, 0));
            parts++;
        }
        gate_problem_free_alone(&alone);
        done(&m);
    }
    assert_true(parts > 300);
}

/* Which widths were tried: of values only where they have one of their own. */
static void sizes_name_the_widths(void **state) {
    struct gate_sizes sizes = {0};
    int largest = 0;
    (void)state;
    for (int index = 0; index < 40; index++) {
        struct made m;
        make(&m, index);
        gate_sizes_tried(&sizes, &m.p);
        gate_sizes_asked(&sizes, &m.recipe, index % 2);
        if (m.kernel.widths == CP_WIDTHS_ANY) {
            largest = m.p.value_dim > largest ? m.p.value_dim : largest;
        }
        done(&m);
    }
    assert_int_equal(sizes.largest[GATE_D_V], largest);
    assert_true(sizes.asked[GATE_ASKED_D_V].n > 3);
    for (int i = 0; i < sizes.asked[GATE_ASKED_D_V].n; i++) {
        assert_true(sizes.asked[GATE_ASKED_D_V].value[i] > 0);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(widths_come_in_pairs),
        cmocka_unit_test(widths_that_are_asked_for),
        cmocka_unit_test(the_work_stays),
        cmocka_unit_test(each_number_is_where_the_strides_say),
        cmocka_unit_test(values_in_keys_have_no_memory),
        cmocka_unit_test(results_have_their_width),
        cmocka_unit_test(a_value_is_the_beginning_of_its_key),
        cmocka_unit_test(keys_are_chosen_behind_their_values),
        cmocka_unit_test(each_number_of_a_row_is_judged),
        cmocka_unit_test(a_case_file_keeps_the_width),
        cmocka_unit_test(parts_have_the_same_widths),
        cmocka_unit_test(sizes_name_the_widths),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
