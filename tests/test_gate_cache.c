/* SPDX-License-Identifier: Apache-2.0 */
/* CONV-10: what the gate's calls say of caches of 8 bits: that each number times its scale is the
 * number that the case is judged by; which scales there are; what the class makes of them. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "chunkproof/number.h"
#include "chunkproof/tolerance_parts.h"
#include "gate/case/cache.h"
#include "gate/case/layout.h"
#include "gate/case/prompts.h"
#include "gate/case/values.h"
#include "gate/judge/judge.h"
#include "tests/plain_kernel.h"

#define CASES 200
#define WORK  20000

/* Of the i-th of all kinds of K, V, scales and keys. */
static struct cp_kernel kernel_of(int i) {
    const int kinds[] = {CP_CACHE_PLAIN, CP_CACHE_E4M3, CP_CACHE_E5M2, CP_CACHE_INT8};
    struct cp_kernel kernel = plain;
    kernel.plans = CP_PLANS_LISTS;
    kernel.cache = (struct cp_kernel_cache){kinds[i % 4], kinds[i / 4 % 4], i / 16 % 3};
    kernel.keys = i / 48 % 3;
    kernel.arithmetic.k_dequantised = kernel.arithmetic.v_dequantised = CP_FP32;
    kernel.arithmetic.rotated = CP_FP32;
    return kernel;
}

struct made {
    struct gate_recipe recipe;
    struct gate_problem p;
    struct gate_arrays a;
    const struct cp_kernel_call *call;
};

/* In a large pool, where that is above 0. */
static void make_in(struct made *m, int index, const struct cp_kernel *kernel, int pool) {
    gate_recipe_make(&m->recipe, 37, index, 0, WORK, NULL);
    if (index % 2 == 1) {
        gate_recipe_to_modules(&m->recipe, NULL);
    }
    m->recipe.pool = pool;
    assert_int_equal(gate_problem_new(&m->p, &m->recipe, kernel), 0);
    gate_values_fill(&m->p);
    assert_int_equal(gate_arrays_new(&m->a, &m->p), 0);
    m->call = &m->a.run.call;
}

static void make(struct made *m, int index, const struct cp_kernel *kernel) {
    make_in(m, index, kernel, 0);
}

static void done(struct made *m) {
    gate_arrays_free(&m->a);
    gate_problem_free(&m->p);
}

/* A number of 8 bits by the words of NUM-16. */
static double number_of(uint8_t x, int cache) {
    int fraction = cache == CP_CACHE_E4M3 ? 3 : 2, bias = cache == CP_CACHE_E4M3 ? 7 : 15;
    int e = (x & 0x7F) >> fraction, f = x & ((1 << fraction) - 1);
    double sign = (x & 0x80) != 0 ? -1.0 : 1.0;
    return cache == CP_CACHE_INT8 ? (double)(int8_t)x
           : e == 0               ? sign * ldexp(f, 1 - bias - fraction)
                                  : sign * ldexp(f + (1 << fraction), e - bias - fraction);
}

/* What element i of an array at `at` stands for, by the words of CONV-10. */
static double element_of(const struct made *m, int is_v, long long at, int chunk, int head,
                         int slot) {
    int cache = is_v ? m->p.cache.v : m->p.cache.k;
    const void *array = is_v ? m->call->v : m->call->k;
    const float *scales = is_v ? m->call->v_scales : m->call->k_scales;
    if (cache == CP_CACHE_PLAIN) {
        assert_null(scales);
        return cp_number_load(array, m->p.kv_type, (size_t)at);
    }
    size_t i = m->p.cache.scales == CP_CACHE_SCALE_TENSOR ? 0
               : m->p.cache.scales == CP_CACHE_SCALE_HEAD
                   ? (size_t)head
                   : ((size_t)chunk * (size_t)m->call->n_kv_heads + (size_t)head) *
                             (size_t)m->call->chunk_size +
                         (size_t)slot;
    assert_true(scales[i] > 0.0F && isfinite(scales[i]) && scales[i] != 1.0F);
    return (double)scales[i] * number_of(((const uint8_t *)array)[at], cache);
}

static int check_key(const struct made *m, int s, int j, int head) {
    int run = gate_run_of(&m->p, s, j), at = s * m->p.table_width + run;
    int chunk = m->p.table[at], slot = j - m->p.first[at], d = m->recipe.head_dim;
    int number = m->call->table[at]; /* of the chunk, in a large pool */
    size_t place = gate_key_row(&m->p, s, j, head) * (size_t)d;
    for (int i = 0; i < d; i++) {
        long long k = chunk * m->call->k_chunk + head * m->call->k_head + slot * m->call->k_slot;
        long long v = chunk * m->call->v_chunk + head * m->call->v_head + slot * m->call->v_slot;
        assert_true(element_of(m, 0, k + i, number, head, slot) == m->p.k[place + (size_t)i]);
        assert_true(element_of(m, 1, v + i, number, head, slot) == m->p.v[place + (size_t)i]);
    }
    return d;
}

static void numbers_times_scales_are_the_keys(void **state) {
    int checked = 0;
    (void)state;
    for (int index = 0; index < CASES; index++) {
        struct cp_kernel kernel = kernel_of(index);
        struct made m;
        make(&m, index, &kernel);
        for (int s = 0; s < m.p.b; s++) {
            for (int j = 0; j < m.p.n_tokens[s]; j += 1 + m.p.n_tokens[s] / 40) {
                checked += check_key(&m, s, j, j % m.recipe.n_kv_heads);
            }
        }
        done(&m);
    }
    assert_true(checked > 20000);
}

/* Scales differ, so that another one shows; of tokens without a key they are NaNs. */
static void scales_tell_places_apart(void **state) {
    int differ = 0, pairs = 0, none = 0;
    (void)state;
    for (int index = 0; index < CASES; index++) {
        struct cp_kernel kernel = kernel_of(5 + 16 * (1 + index % 2)); /* of heads, of tokens */
        struct made m;
        make(&m, index, &kernel);
        size_t n = gate_n_scales(&m.p);
        assert_int_equal(m.a.run.bytes[RUN_K_SCALES], n * sizeof(float));
        for (size_t i = 1; i < n; i++) {
            int is_one = !isnan(m.call->k_scales[i]) && !isnan(m.call->k_scales[i - 1]);
            none += isnan(m.call->k_scales[i]);
            pairs += is_one;
            differ += is_one && m.call->k_scales[i] != m.call->k_scales[i - 1];
        }
        done(&m);
    }
    assert_true(pairs > CASES && 4 * differ > 3 * pairs - pairs);
    assert_true(none > CASES);
}

/* GATE-10: a large pool has scales where its chunks are, beyond indices of 16 bits. */
static void scales_of_a_large_pool(void **state) {
    struct cp_kernel kernel = kernel_of(5 + 16 * 2); /* of tokens */
    int checked = 0, beyond = 0;
    (void)state;
    for (int index = 0; index < 40; index++) {
        struct made m;
        make_in(&m, index, &kernel, 1 << 19);
        int of_chunk = m.recipe.n_kv_heads * m.recipe.chunk_size;
        size_t n = (size_t)m.call->capacity * (size_t)of_chunk;
        assert_int_equal(m.a.run.bytes[RUN_K_SCALES], n * sizeof(float));
        assert_int_equal(m.a.run.bytes[RUN_V_SCALES], n * sizeof(float));
        assert_true(m.p.number == NULL || n <= 1 << 18);
        for (int s = 0; s < m.p.b && m.p.number != NULL; s++) {
            for (int j = 0; j < m.p.n_tokens[s]; j++) {
                int run = m.call->table[s * m.p.table_width + gate_run_of(&m.p, s, j)];
                checked += check_key(&m, s, j, j % m.recipe.n_kv_heads);
                beyond += (long long)run * of_chunk > 1 << 16;
            }
        }
        done(&m);
    }
    assert_true(checked > 20000 && beyond > 100);
}

/* Numbers come near the largest and the smallest of the format. */
static void the_whole_format_is_used(void **state) {
    (void)state;
    for (int cache = CP_CACHE_E4M3; cache <= CP_CACHE_INT8; cache++) {
        int seen[256] = {0}, n = 0;
        struct cp_kernel kernel = plain;
        kernel.cache = (struct cp_kernel_cache){cache, cache, CP_CACHE_SCALE_TENSOR};
        for (int index = 0; index < CASES; index++) {
            struct made m;
            make(&m, index, &kernel);
            for (int s = 0; s < m.p.b; s++) {
                for (int j = 0; j < m.p.n_tokens[s]; j += 1 + m.p.n_tokens[s] / 40) {
                    const double *key = gate_key(&m.p, s, j, 0);
                    for (int i = 0; i < m.recipe.head_dim; i++) {
                        double x = key[i] / (double)m.p.cache.k_scale[0];
                        for (int bits = 0; bits < 256; bits++) {
                            seen[bits] |= number_of((uint8_t)bits, cache) == x;
                        }
                    }
                }
            }
            done(&m);
        }
        for (int bits = 0; bits < 256; bits++) {
            n += seen[bits];
        }
        print_message("cache %d: %d\n", cache, n);
        assert_true(n > 240);
    }
}

/* Keys that are rotated back by a quarter turn change signs: an integer of -128 becomes no 128. */
static void rotated_integers_are_of_8_bits(void **state) {
    struct cp_kernel kernel = plain;
    int most = 0;
    (void)state;
    kernel.cache = (struct cp_kernel_cache){CP_CACHE_INT8, CP_CACHE_INT8, CP_CACHE_SCALE_TOKEN};
    kernel.keys = CP_KEYS_RAW;
    for (int index = 0; index < CASES; index++) {
        struct made m;
        make(&m, index, &kernel);
        for (int s = 0; s < m.p.b; s++) {
            for (int j = 0; j < m.p.n_tokens[s]; j++) {
                size_t row = gate_key_row(&m.p, s, j, 0), d = (size_t)m.recipe.head_dim;
                for (size_t i = 0; i < d; i++) {
                    double x = m.p.k[row * d + i] / (double)m.p.cache.k_scale[row];
                    assert_true(x == floor(x) && x >= -128.0 && x <= 127.0);
                    most += x == 127.0 || x == -128.0;
                }
            }
        }
        done(&m);
    }
    assert_true(most > CASES);
}

/* The bound grows by what is rounded, and not where nothing has 8 bits. */
static void the_class_pays_for_scales(void **state) {
    struct cp_kernel kernel = kernel_of(0);
    struct gate_rotated rotated = {.query = 3.0, .over_scale = 4.0, .k_scale = 8.0, .v_scale = 2.0};
    struct cp_arithmetic plainly, k, v, half;
    struct cp_counts counts;
    (void)state;
    kernel.arithmetic.weights = CP_FP16;
    gate_class_of_row(
        &kernel,
        &(struct gate_row){.d = 8, .n = 4, .steps = 1, .largest_score = 1.0, .rotated = &rotated},
        &plainly, &counts);
    kernel.cache.k = CP_CACHE_E4M3;
    gate_class_of_row(
        &kernel,
        &(struct gate_row){.d = 8, .n = 4, .steps = 1, .largest_score = 1.0, .rotated = &rotated},
        &k, &counts);
    assert_true(k.score.term_unit >= plainly.score.term_unit + 0x1.fp-24);
    assert_true(k.score.term_tiny > 0.0 && k.weights.unit == plainly.weights.unit);
    assert_true(k.score.term_tiny >= 8.0 * 448.0 * 0x1p-150); /* a query that is multiplied */
    kernel.cache = (struct cp_kernel_cache){.v = CP_CACHE_INT8};
    gate_class_of_row(
        &kernel,
        &(struct gate_row){.d = 8, .n = 4, .steps = 1, .largest_score = 1.0, .rotated = &rotated},
        &v, &counts);
    assert_true(v.weights.unit >= plainly.weights.unit + 0x1.fp-24);
    assert_true(v.weights.tiny >= 4.0 * plainly.weights.tiny);
    assert_true(v.weights.tiny <= 4.01 * plainly.weights.tiny);
    assert_true(v.eta_o >= 2.0 * plainly.eta_o + 0x1p-149);
    kernel.arithmetic.v_dequantised = CP_FP16;
    gate_class_of_row(
        &kernel,
        &(struct gate_row){.d = 8, .n = 4, .steps = 1, .largest_score = 1.0, .rotated = &rotated},
        &half, &counts);
    assert_true(half.weights.unit >= v.weights.unit + 0x1p-11);
    assert_true(half.eta_o >= 0x1p-25);
    kernel.arithmetic.flushes = 1; /* now additions leave something, too */
    kernel.cache = (struct cp_kernel_cache){CP_CACHE_PLAIN, CP_CACHE_PLAIN, 0};
    gate_class_of_row(
        &kernel,
        &(struct gate_row){.d = 8, .n = 4, .steps = 1, .largest_score = 1.0, .rotated = &rotated},
        &plainly, &counts);
    kernel.cache.k = CP_CACHE_E4M3;
    gate_class_of_row(
        &kernel,
        &(struct gate_row){.d = 8, .n = 4, .steps = 1, .largest_score = 1.0, .rotated = &rotated},
        &k, &counts);
    assert_true(k.score.tiny >= 8.0 * plainly.score.tiny && plainly.score.tiny > 0.0);
    assert_true(half.weights.tiny >= 1.99 * v.weights.tiny); /* all of it is lost below 2^-14 */
}

/* NUM-19: one key, whose value is rounded once it has its scale. A row sum that takes the rounded P
 * knows nothing of that: of one key P is 1, and the result is the rounded value. */
static void roundings_of_values_are_not_shared_with_the_row_sum(void **state) {
    static const int types[] = {CP_FP32, CP_FP16, CP_BF16};
    const struct gate_rotated rotated = {.over_scale = 1.0 / 0.031, .k_scale = 1.0, .v_scale = 1.0};
    const struct gate_row row = {.d = 1, .n = 1, .steps = 1, .rotated = &rotated};
    const double q = 1.0, k = 0.0, v = 1.75 * (double)0.031F;
    double scratch[3];
    const struct cp_tolerance_row one = {.n_keys = 1,
                                         .head_dim = 1,
                                         .value_dim = 1,
                                         .scale = 1.0,
                                         .q = &q,
                                         .k = &k,
                                         .v = &v,
                                         .scratch = scratch};
    (void)state;
    for (int i = 0; i < 6; i++) {
        struct cp_kernel kernel = plain;
        struct cp_arithmetic a;
        struct cp_counts counts;
        double expected, bound, usual, lse, lse_bound;
        uint16_t bits;
        kernel.cache = (struct cp_kernel_cache){.v = CP_CACHE_E5M2};
        kernel.out_type = CP_FP32;
        kernel.arithmetic.weights = CP_FP16;
        kernel.arithmetic.rounded_sum = i < 3;
        kernel.arithmetic.v_dequantised = types[i % 3];
        gate_class_of_row(&kernel, &row, &a, &counts);
        cp_tolerance(&a, &counts, &one, 0.0, &expected, &bound, &lse, &lse_bound);
        cp_tolerance_rms(&a, &counts, &one, &expected, &usual);
        double rounded = (double)(float)v;
        if (types[i % 3] != CP_FP32) {
            cp_number_store(&bits, types[i % 3], 0, v);
            rounded = cp_number_load(&bits, types[i % 3], 0);
        }
        assert_true(fabs(rounded - v) <= bound && fabs(rounded - v) <= 8.0 * usual);
        assert_true(bound <= 1e-3 * fabs(v) || types[i % 3] == CP_BF16);
        assert_true(i >= 3 || a.weights.unit == 0x1p-11); /* as without a cache */
        assert_true(counts.depth_o < 200 || (i < 3 && types[i % 3] != CP_FP32));
    }
}

/* GATE-14: a number times its scale has no type of 16 bits, also where it is turned exactly. */
static void scaled_keys_are_rounded_after_quarter_turns(void **state) {
    struct cp_kernel kernel = plain;
    const struct gate_rotated quarters = {.number = 1.0, .quarters = 1, .k_scale = 1.0};
    struct cp_arithmetic plainly, scaled;
    struct cp_counts counts;
    (void)state;
    kernel.keys = CP_KEYS_RAW;
    kernel.q_type = kernel.kv_type = kernel.arithmetic.rotated = CP_BF16;
    kernel.arithmetic.k_dequantised = CP_FP32;
    gate_class_of_row(
        &kernel,
        &(struct gate_row){.d = 8, .n = 4, .steps = 1, .largest_score = 1.0, .rotated = &quarters},
        &plainly, &counts);
    assert_true(plainly.score.term_unit < 0x1p-20);
    kernel.cache.k = CP_CACHE_E4M3;
    gate_class_of_row(
        &kernel,
        &(struct gate_row){.d = 8, .n = 4, .steps = 1, .largest_score = 1.0, .rotated = &quarters},
        &scaled, &counts);
    assert_true(scaled.score.term_unit >= 0x1p-8);
}

static void the_query_and_the_least_scale(void **state) {
    float scales[] = {0.25F};
    struct gate_cache cache = {.k = 1,
                               .v = 1,
                               .k_scale = scales,
                               .v_scale = scales,
                               .least = 0.25,
                               .most = 3.0,
                               .most_k = 5.0};
    struct gate_rotated rotated = {0};
    (void)state;
    gate_cached_extend(&cache, 2, (double[]){1.0, -6.0}, &rotated);
    assert_true(rotated.query == 6.0 && rotated.over_scale == 4.0);
    assert_true(rotated.k_scale == 5.0 && rotated.v_scale == 3.0);
    cache.least = 8.0;
    gate_cached_extend(&cache, 2, (double[]){1.0, -6.0}, &rotated);
    assert_true(rotated.over_scale == 1.0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_times_scales_are_the_keys),
        cmocka_unit_test(scales_tell_places_apart),
        cmocka_unit_test(scales_of_a_large_pool),
        cmocka_unit_test(the_whole_format_is_used),
        cmocka_unit_test(rotated_integers_are_of_8_bits),
        cmocka_unit_test(the_class_pays_for_scales),
        cmocka_unit_test(roundings_of_values_are_not_shared_with_the_row_sum),
        cmocka_unit_test(scaled_keys_are_rounded_after_quarter_turns),
        cmocka_unit_test(the_query_and_the_least_scale),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
