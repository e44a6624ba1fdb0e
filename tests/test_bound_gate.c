/* SPDX-License-Identifier: Apache-2.0 */
/* What `chunkproof bound` says of a declaration is what the gate judges by (GATE-15): the same
 * shifts, class and counts. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "chunkproof/number8.h"
#include "cli/bound/bound.h"
#include "gate/case/scores.h"
#include "gate/judge/judge.h"
#include "gate/judge/scores.h"
#include "tests/plain_kernel.h"

#define KEYS  40
#define DIM   8
#define STEP  16
#define CAP   1.5F
#define SLOPE -0.25F
#define SINK  2.5F

static const struct bound_options usual = {.keys = KEYS,
                                           .head_dim = DIM,
                                           .chunk = STEP,
                                           .seed = 5,
                                           .input = CP_FP16,
                                           .weights = CP_FP32,
                                           .partials = CP_FP32,
                                           .part_lse = CP_FP32,
                                           .output = CP_FP16,
                                           .exp_error = 0x1p-22,
                                           .tanh_error = 0x1p-22,
                                           .merges = MERGES_ANY,
                                           .k_dequantised = CP_FP32,
                                           .v_dequantised = CP_FP32,
                                           .cap = CAP,
                                           .slope = SLOPE,
                                           .bias = 3.0,
                                           .sink = SINK};

/* The same words, as a kernel says them. */
static struct cp_kernel kernel_of(const struct bound_options *o) {
    struct cp_kernel kernel = plain;
    struct cp_kernel_class *class = &kernel.arithmetic;
    class->score = o->score == SCORE_FP16          ? CP_SUM_FP16
                   : o->score == SCORE_BF16        ? CP_SUM_BF16
                   : o->score == SCORE_TENSOR_CORE ? CP_SUM_TENSOR_CORE
                                                   : CP_SUM_FP32;
    class->score_promotes = o->score_promotes;
    class->weights = o->weights;
    class->partials = o->partials;
    class->rounded_sum = o->rounded_sum;
    class->scales = o->scales;
    class->truncates = o->truncate;
    class->flushes = o->flush;
    class->above = o->above;
    class->behind = o->behind;
    class->divides = o->immediate;
    class->exp_error = o->exp_error;
    class->tanh_error = o->tanh_error;
    class->tanh_absolute = o->tanh_absolute;
    class->n_parts = o->n_parts;
    class->part_keys = o->part_keys;
    class->factors = o->factors;
    class->normalises = o->normalises;
    class->divide_error = o->divide_error;
    class->epsilon = o->epsilon;
    class->part_lse = o->part_lse == CP_FP16   ? CP_PART_LSE_FP16
                      : o->part_lse == CP_BF16 ? CP_PART_LSE_BF16
                                               : CP_PART_LSE_FP32;
    class->values = o->accumulate == ACCUMULATE_FP16 ? CP_SUM_FP16 : CP_SUM_FP32;
    class->values_promotes = o->accumulate_promotes;
    class->k_dequantised = o->k_dequantised;
    class->v_dequantised = o->v_dequantised;
    kernel.cache = o->cache;
    class->step = STEP;
    return kernel;
}

/* A row, and the calls' lists for one head of it. */
struct row {
    struct bound_row row;
    float slope, sink, table[KEYS], k_scale, v_scale;
    struct gate_scores scores;
    double scratch[3 * (KEYS + 1)], k[(KEYS + 1) * DIM], v[(KEYS + 1) * DIM];
    double shift[KEYS + 1], error[KEYS + 1];
};

static void row_new(struct row *r, const struct bound_options *o) {
    *r = (struct row){.slope = SLOPE, .sink = SINK};
    assert_int_equal(bound_row_new(&r->row, KEYS, DIM, DIM), 0);
    bound_row_fill(&r->row, o);
    assert_int_equal(bound_cache_round(o, &r->row, NULL), 0);
    r->k_scale = (float)r->row.k_scale;
    r->v_scale = (float)r->row.v_scale;
    r->scores.order = o->cap_last ? CP_CAP_LAST : CP_CAP_FIRST;
    r->scores.cap = o->has_cap ? (double)CAP : 0.0;
    r->scores.slopes = o->has_slope ? &r->slope : NULL;
    r->scores.sinks = o->has_sink ? &r->sink : NULL;
    if (o->has_bias) { /* the last key is at distance 0 */
        for (int j = 0; j < KEYS; j++) {
            r->table[KEYS - 1 - j] = (float)r->row.bias[j];
        }
        r->scores.biases = r->table;
        r->scores.n_biases = KEYS;
    }
}

/* What the gate makes of the row: a sink is the first key. */
static struct cp_tolerance_row asked_of(struct row *r, const struct cp_kernel *kernel,
                                        const struct gate_rotated *rotated) {
    int n_sinks = r->scores.sinks != NULL;
    double distance[KEYS];
    struct cp_tolerance_row asked = {.n_keys = KEYS,
                                     .head_dim = DIM,
                                     .value_dim = DIM,
                                     .scale = r->row.scale,
                                     .q = r->row.q,
                                     .k = r->row.k,
                                     .v = r->row.v,
                                     .scratch = r->scratch};
    for (int i = 0; i < KEYS * DIM; i++) {
        r->k[n_sinks * DIM + i] = r->row.k[i];
        r->v[n_sinks * DIM + i] = r->row.v[i];
    }
    for (int j = 0; j < KEYS; j++) {
        distance[j] = gate_bias_distance(&r->scores, j, KEYS - 1);
    }
    gate_shift_keys(kernel, DIM, rotated, &r->scores, 0, &asked, distance, r->shift + n_sinks,
                    r->error + n_sinks);
    if (n_sinks) {
        gate_shift_sink(kernel, &r->scores, 0, r->shift, r->error);
    }
    asked.k = r->k;
    asked.v = r->v;
    asked.n_keys += n_sinks;
    if (gate_changes_scores(&r->scores)) {
        asked.shift = r->shift;
        asked.shift_error = r->error;
    }
    return asked;
}

static void no_score_differs(const struct bound_options *o) {
    static const struct gate_rotated placed = {.over_scale = 1.0, .k_scale = 1.0, .v_scale = 1.0};
    struct cp_kernel kernel = kernel_of(o);
    struct cp_arithmetic a;
    struct row r;
    double shift[KEYS + 1], error[KEYS + 1], all = 0.0;
    row_new(&r, o);
    struct cp_tolerance_row asked = asked_of(&r, &kernel, &placed);
    bound_class_of_score(o, &r.row, &(struct bound_largest){.key = 0.0}, &a);
    bound_shift_row(o, &r.row, &a.score, shift, error);
    for (int j = 0; j < asked.n_keys; j++) {
        assert_true(shift[j] == r.shift[j] && error[j] == r.error[j]);
        assert_true(isfinite(error[j]));
        all += error[j];
    }
    assert_true(all > 0.0);
    bound_row_free(&r.row);
}

/* NUM-15, SCORE-1, SCORE-2, SCORE-3, SCORE-5: caps, slopes, tables and sinks, in each class that
 * rounds them in another way. */
static void scores_change_as_in_the_gate(void **state) {
    (void)state;
    for (int i = 0; i < 2 * 2 * 3 * 2 * 6; i++) {
        struct bound_options o = usual;
        int class = i / 24;
        o.has_cap = i % 2;
        o.has_sink = i / 2 % 2;
        o.has_slope = i / 4 % 3 == 1;
        o.has_bias = i / 4 % 3 == 2;
        o.cap_last = o.has_cap && i / 12 % 2;
        o.score = class == 1   ? SCORE_FP16
                  : class == 2 ? SCORE_BF16
                  : class == 3 ? SCORE_TENSOR_CORE
                               : SCORE_SEQUENTIAL;
        o.score_promotes = class == 2 && i % 2 ? 4 : 0;
        o.truncate = class == 4;
        o.flush = class == 5;
        o.tanh_absolute = class == 5 ? 0x1p-12 : 0.0;
        if (bound_changes_scores(&o, &(struct bound_row){.has_biases = o.has_bias})) {
            no_score_differs(&o);
        }
    }
}

/* Of a row that the command makes itself: where its keys stand, and a table of the size asked
 * for. */
static void a_row_has_positions_and_a_table(void **state) {
    struct bound_options o = usual;
    struct row r, without;
    double most = 0.0;
    (void)state;
    row_new(&without, &o);
    o.has_bias = 1;
    row_new(&r, &o);
    for (int j = 0; j < KEYS; j++) {
        assert_true(r.row.position[j] == j && r.row.bias[j] == (double)(float)r.row.bias[j]);
        assert_true(fabs(r.row.bias[j]) <= 3.0 && without.row.bias[j] == 0.0);
        most = fmax(most, fabs(r.row.bias[j]));
    }
    assert_true(most > 2.0 && r.row.at == KEYS - 1.0);
    assert_true(r.row.has_biases && !without.row.has_biases && !r.row.has_positions);
    for (int i = 0; i < KEYS * DIM; i++) {
        assert_true(r.row.k[i] == without.row.k[i]);
    }
    bound_row_free(&r.row);
    bound_row_free(&without.row);
}

static int is_same(double x, double y) {
    return fabs(x - y) <= 1e-12 * fabs(y); /* products are scaled one by one, or their sum is */
}

static void same_class(const struct cp_arithmetic *x, const struct cp_arithmetic *y) {
    const struct cp_score_arithmetic *s = &x->score, *t = &y->score;
    assert_true(is_same(s->term_unit, t->term_unit) && is_same(s->term_tiny, t->term_tiny));
    assert_true(s->unit == t->unit && s->tiny == t->tiny && s->depth == t->depth);
    assert_true(s->scale_unit == t->scale_unit && is_same(s->scale_tiny, t->scale_tiny));
    assert_true(s->n_additions == t->n_additions && s->as_one == t->as_one);
    assert_true(x->u_arg == y->u_arg && x->u_ref == y->u_ref && is_same(x->u_move, y->u_move));
    assert_true(is_same(x->eps, y->eps) && is_same(x->kappa, y->kappa));
    assert_true(is_same(x->weights.unit, y->weights.unit));
    assert_true(is_same(x->weights.tiny, y->weights.tiny) && x->rounded_sum == y->rounded_sum);
    assert_true(x->u_n == y->u_n && is_same(x->eta_n, y->eta_n) && x->u_o == y->u_o);
    assert_true(is_same(x->eta_o, y->eta_o) && is_same(x->u_part, y->u_part));
    assert_true(is_same(x->u_div, y->u_div) && is_same(x->eta_div, y->eta_div));
    assert_true(is_same(x->above, y->above) && is_same(x->below, y->below));
}

static void same_counts(const struct cp_counts *x, const struct cp_counts *y) {
    assert_int_equal(x->depth_n, y->depth_n);
    assert_int_equal(x->depth_o, y->depth_o);
    assert_int_equal(x->stores, y->stores);
    assert_int_equal(x->changes, y->changes);
    assert_true(x->operations_n == y->operations_n && x->operations_o == y->operations_o);
}

/* What the gate finds of the query, the keys and the cache. */
static struct gate_rotated sizes_of(struct row *r, const struct cp_kernel *kernel) {
    struct gate_cache cache = {.k = kernel->cache.k,
                               .v = kernel->cache.v,
                               .k_scale = kernel->cache.k != CP_CACHE_PLAIN ? &r->k_scale : NULL,
                               .v_scale = kernel->cache.v != CP_CACHE_PLAIN ? &r->v_scale : NULL,
                               .least = fmin(1.0, (double)r->v_scale),
                               .most = fmax(1.0, (double)r->v_scale),
                               .most_k = fmax(1.0, (double)r->k_scale)};
    static const struct gate_rotation placed = {.keys = CP_KEYS_PLACED};
    struct gate_rotated sizes = {0};
    gate_cached_extend(&cache, DIM, r->row.q, &sizes);
    for (int j = 0; j < KEYS && kernel->arithmetic.scales != CP_SCALES_SCORES; j++) {
        gate_scaled_extend(&placed, 0, DIM, r->row.scale, r->row.q, r->row.k + (ptrdiff_t)j * DIM,
                           &sizes);
    }
    sizes.key /= 1.01; /* which the gate adds for a rotation by a table */
    return sizes;
}

/* The largest B that the command prints, which is that of the gate. */
static double bound_of(const struct bound_options *o) {
    struct cp_kernel kernel = kernel_of(o);
    double expected[DIM + 1], bound[DIM + 1], largest = 0.0;
    const struct gate_numbers numbers = {
        .expected = expected, .bound = bound, .sees_sink = o->has_sink};
    struct bound_figures f;
    struct cp_arithmetic a;
    struct cp_counts counts;
    struct row r;
    row_new(&r, o);
    const struct gate_rotated sizes = sizes_of(&r, &kernel);
    struct cp_tolerance_row asked = asked_of(&r, &kernel, &sizes);
    int steps = gate_steps(&kernel, STEP, KEYS) + o->has_sink;
    struct gate_row shape = {.d = DIM,
                             .n = asked.n_keys,
                             .steps = steps,
                             .parts = gate_parts(&kernel, steps, KEYS, 2 + o->has_sink),
                             .rotated = &sizes};
    gate_certify(&kernel, &shape, &asked, &numbers);
    assert_int_equal(bound_figures(o, &r.row, &f), 0);
    for (int i = 0; i < DIM; i++) {
        largest = fmax(largest, bound[i]);
    }
    assert_true(f.claimed == DIM && is_same(f.bound.largest, largest));
    shape.largest_score = f.largest_score;
    shape.scale = r.row.scale;
    shape.products = f.largest_products / r.row.scale;
    shape.shift_error = f.largest_shift_error;
    gate_class_of_row(&kernel, &shape, &a, &counts);
    same_class(&f.arithmetic, &a);
    same_counts(&f.counts, &counts);
    bound_row_free(&r.row);
    return f.bound.largest;
}

/* GATE-15: each word of a declaration, alone and beside another, leads to the bound of the gate,
 * and to a larger one than without it. */
static void declared_words_cost_as_in_the_gate(void **state) {
    struct bound_options o = usual;
    (void)state;
    double least = bound_of(&o);
    o.factors = CP_FACTORS_FP16;
    double half = bound_of(&o);
    o.factors = CP_FACTORS_BF16;
    assert_true(bound_of(&o) > half && half > least);
    o = usual;
    o.divide_error = 0x1p-12;
    double divide = bound_of(&o);
    o.epsilon = 0x1p-12;
    double both = bound_of(&o);
    o.above = 2.0; /* sums are as much smaller */
    assert_true(bound_of(&o) > both && both > divide && divide > least);
    o = usual;
    o.weights = CP_FP16;
    double rounded = bound_of(&o);
    o.normalises = 1;
    double normalised = bound_of(&o);
    o.divide_error = 0x1p-12;
    o.epsilon = 0x1p-12;
    assert_true(bound_of(&o) > normalised && normalised > rounded);
    o = usual;
    o.immediate = 1;
    double parts = bound_of(&o);
    o.epsilon = 0x1p-12;
    double more = bound_of(&o);
    o.divide_error = 0x1p-12;
    double most = bound_of(&o);
    o.partials = CP_BF16;
    o.truncate = 1;
    assert_true(bound_of(&o) > most && most > more && more > parts);
    o = usual;
    o.immediate = 1;
    o.part_lse = CP_FP16;
    assert_true(bound_of(&o) > parts);
    o.part_lse = CP_BF16;
    o.behind = 1.0;
    assert_true(bound_of(&o) > parts);
}

/* GATE-2. */
static void fewer_parts_cost_less_as_in_the_gate(void **state) {
    struct bound_options o = usual;
    (void)state;
    o.chunk = STEP;
    double all = bound_of(&o);
    o.n_parts = 1;
    double one = bound_of(&o);
    assert_true(one < all);
    o.n_parts = 2;
    double two = bound_of(&o);
    assert_true(two > one && two < all);
    o.part_keys = KEYS; /* and so one more, a short one: no fewer than 3 */
    assert_true(bound_of(&o) == two);
    o.n_parts = 0;
    assert_true(bound_of(&o) == all);
    o.has_sink = 1;
    assert_true(bound_of(&o) != all);
    o.n_parts = 2;
    assert_true(bound_of(&o) > 0.0);
}

/* NUM-15, NUM-21: what changes scores leads to the bound of the gate. */
static void changed_scores_cost_as_in_the_gate(void **state) {
    struct bound_options o = usual;
    (void)state;
    double none = bound_of(&o);
    o.has_cap = 1;
    double fine = bound_of(&o);
    o.tanh_error = 0x1p-10;
    double capped = bound_of(&o);
    o.tanh_absolute = 0x1p-10;
    assert_true(bound_of(&o) > capped && capped > fine);
    o.has_sink = 1;
    o.behind = 3.0;
    assert_true(bound_of(&o) > 0.0);
    o.has_slope = 1;
    o.cap_last = 1;
    o.truncate = 1;
    assert_true(bound_of(&o) > 0.0);
    o = usual;
    o.has_slope = 1;
    assert_true(bound_of(&o) != none);
    o.has_slope = 0;
    o.has_bias = 1;
    assert_true(bound_of(&o) != none);
    o.scales = CP_SCALES_QUERY_BF16;
    o.immediate = 1;
    o.has_sink = 1;
    assert_true(bound_of(&o) > 0.0);
}

/* NUM-16, NUM-18: each number is one of the format, times the scale. */
static void rows_have_the_numbers_of_a_cache(void **state) {
    static const int caches[] = {CP_CACHE_E4M3, CP_CACHE_E5M2, CP_CACHE_INT8};
    (void)state;
    for (int i = 0; i < 3 * 2; i++) {
        struct bound_options o = usual;
        struct row r;
        o.cache.k = caches[i / 2];
        o.k_scale = i % 2 ? 0.375 : 0.0;
        row_new(&r, &o);
        double most = 0.0, scale = r.row.k_scale, largest = cp_number8_largest(o.cache.k);
        assert_true(r.row.v_scale == 1.0 && scale == (double)(float)scale);
        assert_true(i % 2 ? scale == 0.375 : scale > 0.0);
        for (int j = 0; j < KEYS * DIM; j++) {
            double x = r.row.k[j] / scale;
            assert_true(cp_number8_to_double(cp_number8_from_double(x, o.cache.k), o.cache.k) == x);
            most = fmax(most, fabs(x));
        }
        assert_true(i % 2 ? most < largest : most == largest);
        r.row.k[0] = -128.0 * scale; /* NUM-16: an integer, too */
        assert_int_equal(bound_cache_round(&o, &r.row, NULL), 0);
        assert_true(i % 2 == 0 || r.row.k[0] == -128.0 * scale);
        r.row.k[0] = -129.0 * scale;
        assert_int_equal(bound_cache_round(&o, &r.row, NULL) == 0, i != 5);
        bound_row_free(&r.row);
    }
}

/* NUM-19, CONV-10: a cache of 8 bits costs what the gate takes for it, in K, in V and in both. */
static void caches_cost_as_in_the_gate(void **state) {
    static const int types[] = {CP_FP32, CP_FP16, CP_BF16};
    static const struct cp_kernel_cache caches[] = {{.k = CP_CACHE_E4M3},
                                                    {.v = CP_CACHE_E5M2},
                                                    {.k = CP_CACHE_INT8, .v = CP_CACHE_E4M3},
                                                    {.k = CP_CACHE_E5M2, .v = CP_CACHE_INT8}};
    (void)state;
    for (int i = 0; i < 4; i++) {
        double before = 0.0;
        for (int type = 0; type < 3; type++) {
            struct bound_options o = usual;
            o.cache = caches[i];
            o.k_dequantised = o.v_dequantised = types[type];
            double small = bound_of(&o);
            assert_true(small > before);
            before = small;
            o.k_scale = o.cache.k != CP_CACHE_PLAIN ? 3.0 : 0.0;
            o.v_scale = o.cache.v != CP_CACHE_PLAIN ? 2.0 : 0.0;
            o.weights = CP_FP16;
            assert_true(bound_of(&o) > 0.0);
            o.rounded_sum = 1;
            assert_true(bound_of(&o) > 0.0);
            o.score = SCORE_TENSOR_CORE;
            o.truncate = type == 1;
            o.flush = type == 2;
            o.scales = type == 2 ? CP_SCALES_QUERY_FP16 : CP_SCALES_SCORES;
            assert_true(bound_of(&o) > 0.0);
            o.has_cap = 1;
            o.has_sink = 1;
            o.behind = 1.0;
            assert_true(bound_of(&o) > 0.0);
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(scores_change_as_in_the_gate),
        cmocka_unit_test(a_row_has_positions_and_a_table),
        cmocka_unit_test(declared_words_cost_as_in_the_gate),
        cmocka_unit_test(fewer_parts_cost_less_as_in_the_gate),
        cmocka_unit_test(changed_scores_cost_as_in_the_gate),
        cmocka_unit_test(rows_have_the_numbers_of_a_cache),
        cmocka_unit_test(caches_cost_as_in_the_gate),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
