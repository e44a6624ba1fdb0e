/* SPDX-License-Identifier: Apache-2.0 */
/* The papers' analytical model (MODEL-1 ..): formulas against numbers worked out by hand and
 * against loops that count each access, each floating point operation, each sequence that fits. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "cli/tables/model.h"

#define assert_number(value, expected) assert_true((value) == (double)(expected))

static void test_matmul(void **state) {
    (void)state;
    /* (2 x 3)(3 x 4): 8 results of 3 products and 3 sums; 6 + 12 + 8 numbers of 2 bytes. */
    struct cp_cost cost = cp_cost_matmul(2, 3, 4, 2);
    assert_number(cost.flops, 48);
    assert_number(cost.bytes, 52);
    assert_number(cp_intensity((struct cp_cost){12, 8}), 1.5);
}

static void test_layer_by_hand(void **state) {
    (void)state;
    struct cp_layer layer = cp_layer_llama2_7b();
    struct cp_cost qkv = cp_cost_qkv(&layer, 1);
    assert_number(qkv.flops, 100663296);         /* 6 * 4096^2 */
    assert_number(qkv.bytes, 100663296 + 32768); /* 3 matrices; x, q, k, v */
    struct cp_cost mlp = cp_cost_mlp(&layer, 1);
    assert_number(mlp.flops, 270532608);             /* 6 * 4096 * 11008 */
    assert_number(mlp.bytes, 270532608 + 6 * 15104); /* 3 matrices; 3 times in and out */
    assert_number(cp_cost_hidden_projection(&layer, 1024).flops, 34359738368);
    assert_number(cp_cost_vocabulary_projection(&layer, 1024).flops, 268435456000);
    assert_number(cp_cost_vocabulary_projection(&layer, 1024).bytes,
                  2 * (4096 * 32000 + 1024 * 4096 + 1024 * 32000));
}

/* One head, by loops over what is read and written. */
static void test_attention_by_loops(void **state) {
    (void)state;
    struct cp_layer layer = {.heads = 1, .head_dim = 5, .number_bytes = 2};
    for (int queries = 1; queries <= 4; queries++) {
        for (int keys = 1; keys <= 6; keys++) {
            int numbers = 0, flops = 0;
            for (int q = 0; q < queries; q++) {
                numbers += 2 * layer.head_dim; /* q in, o out */
                for (int k = 0; k < keys; k++) {
                    numbers += 2;                /* the score, out and in */
                    flops += 4 * layer.head_dim; /* q.k, and its share of o */
                }
            }
            for (int k = 0; k < keys; k++) {
                numbers += 2 * layer.head_dim; /* K, V */
            }
            struct cp_cost cost = cp_cost_attention(&layer, 1, queries, keys);
            assert_number(cost.flops, flops);
            assert_number(cost.bytes, 2 * numbers);
        }
    }
}

/* Memory operations of the two phases, counted access by access. `at_once`: partial results are
 * merged into a state per query where they arise, and the first one starts it. */
static double count_two_phase(const struct cp_kernel_shape *s, int at_once) {
    int chunks = s->b >= 2 ? (int)s->n_shared / (int)s->c : 0;
    int n = (int)s->n, c = (int)s->c, d = (int)s->d, b = (int)s->b;
    double numbers = 0;
    for (int chunk = 0; chunk < chunks; chunk++) {
        numbers += c * (d + d); /* K, V */
        for (int q = 0; q < b; q++) {
            numbers += d; /* q */
            if (at_once && chunk > 0) {
                numbers += d + 2; /* the state so far */
            }
            numbers += d + 2; /* o, m, n out */
        }
    }
    for (int q = 0; q < b; q++) {
        numbers += d; /* q */
        for (int chunk = 0; chunk < (at_once && chunks > 0 ? 1 : chunks); chunk++) {
            numbers += d + 2;
        }
        for (int key = chunks * c; key < n; key++) {
            numbers += d + d;
        }
        numbers += d; /* the output */
    }
    return s->h * numbers;
}

static void test_two_phase_by_loops(void **state) {
    (void)state;
    for (int b = 1; b <= 4; b++) {
        for (int c = 1; c <= 5; c++) {
            for (int n = 1; n <= 13; n++) {
                for (int shared = 0; shared <= n; shared++) {
                    struct cp_kernel_shape s = {b, 3, 7, c, n, shared};
                    assert_number(cp_mops_two_phase(&s), count_two_phase(&s, 0));
                    assert_number(cp_mops_two_phase(&s), count_two_phase(&s, 1));
                }
            }
        }
    }
}

static void test_kernel_formulas(void **state) {
    (void)state;
    /* (3) by hand: b 2, h 1, d 128, c 3, one shared chunk and no more. */
    struct cp_kernel_shape small = {2, 1, 128, 3, 3, 3};
    assert_number(cp_mops_chunk_line_1(&small), 2304);
    assert_number(cp_mops_chunk_line_2(&small), 1792);
    assert_number(cp_mops_naive(&small), 2048);
    assert_number(cp_mops_two_phase(&small), 2056);
    for (int b = 2; b <= 32; b *= 2) {
        for (int chunks = 0; chunks <= 4; chunks++) {
            struct cp_kernel_shape s = {b, 32, 128, 64, 256, 64 * chunks};
            double lost = 2.0 * s.b * s.h * s.d;
            assert_number(cp_mops_chunk_line_1(&s) - cp_mops_chunk_line_2(&s), lost);
        }
    }
}

/* The condition that replaces (5): 2cd (b - 1) > b (3d + 4), whatever n and r. */
static void test_exact_condition(void **state) {
    (void)state;
    int kept = 0, broken = 0;
    for (int b = 2; b <= 12; b++) {
        for (int c = 1; c <= 12; c++) {
            for (int d = 1; d <= 128; d *= 2) {
                struct cp_kernel_shape s = {b, 1, d, c, 4 * c, 2 * c};
                int fewer = cp_mops_two_phase(&s) < cp_mops_naive(&s);
                assert_int_equal(fewer, 2 * c * d * (b - 1) > b * (3 * d + 4));
                kept += fewer;
                broken += !fewer && b + c < b * c; /* (5) holds, and yet not fewer */
            }
        }
    }
    assert_true(kept > 0 && broken > 0);
}

/* Adds sequences while they fit. */
static long long fill(long long room, long long shared, long long own) {
    long long fits = 0;
    while (shared + (fits + 1) * own <= room) {
        fits++;
    }
    return fits;
}

static void test_capacity_by_filling(void **state) {
    (void)state;
    for (int b = 1; b <= 6; b++) {
        for (int n = 1; n <= 12; n++) {
            for (int shared = 0; shared <= n; shared++) {
                for (int c = 1; c <= 5; c++) {
                    struct cp_capacity k = cp_capacity_in_chunks(b, n, shared, c);
                    long long path = (n + c - 1) / c, common = shared / c;
                    assert_int_equal(k.chunks_unshared, b * path);
                    assert_int_equal(k.chunks_shared, b == 1 ? path : common + b * (path - common));
                    assert_int_equal(k.fits,
                                     path == common ? -1 : fill(b * path, common, path - common));
                    assert_int_equal(k.padding, b * (path * c - n));
                    assert_int_equal(k.stored_again, (b - 1) * (shared - common * c));
                }
                double gain = cp_capacity_gain(b, n, shared);
                if (n > shared) { /* tokens, not chunks: the last sequence may fit in part */
                    assert_int_equal((long long)floor(gain * b + 1e-9),
                                     fill((long long)b * n, shared, n - shared));
                } else {
                    assert_true(isinf(gain) && isinf(cp_capacity_gain_limit(n, shared)));
                }
            }
        }
    }
}

static void test_capacity_by_hand(void **state) {
    (void)state;
    assert_number(cp_capacity_gain(1, 3, 2), 1); /* a sequence alone shares nothing */
    assert_number(cp_capacity_gain(2, 3, 2), 2);
    assert_number(cp_capacity_gain_limit(3, 2), 3);
    assert_number(cp_capacity_gain_limit(4, 3), 4);
    assert_true(cp_capacity_gain(1e9, 3, 2) < 3 && cp_capacity_gain(1e9, 3, 2) > 2.999);
}

static void test_kv_bytes(void **state) {
    (void)state;
    assert_number(cp_kv_bytes(cp_dims_find("gpt3-175b")), 2 * 96 * 12288 * 2);
    assert_number(cp_kv_bytes(cp_dims_find("bert-base")), 2 * 12 * 768 * 2);
    assert_number(cp_kv_bytes(cp_dims_find("falcon-1b")), 2 * 24 * 2048 * 2);
    assert_number(cp_kv_bytes(cp_dims_find("falcon-7b")), 2 * 32 * 64 * 2);
    assert_number(cp_kv_bytes(cp_dims_find("falcon-40b")), 122880);
    assert_number(cp_kv_bytes(cp_dims_find("falcon-180b")), 163840);
    assert_number(cp_kv_bytes(cp_dims_find("llama-7b")), 524288);
    assert_number(cp_kv_bytes(cp_dims_find("llama-13b")), 819200);
    assert_number(cp_kv_bytes(cp_dims_find("llama-65b")), 2621440);
    assert_number(cp_kv_bytes(cp_dims_find("llama-70b")), 327680);
    assert_number(cp_kv_bytes(cp_dims_find("mistral-7b")), 131072);
    assert_number(cp_kv_bytes(cp_dims_find("mpt-7b")), 524288);
    assert_number(cp_kv_bytes(cp_dims_find("mpt-30b")), 2 * 48 * 7168 * 2);
    assert_number(cp_kv_bytes_all_heads(cp_dims_find("llama-70b")), 2621440);
    assert_number(cp_kv_bytes_all_heads(cp_dims_find("falcon-40b")), 2 * 60 * 8192 * 2);
    assert_number(cp_kv_bytes_all_heads(cp_dims_find("falcon-180b")), 2 * 80 * 14848 * 2);
    assert_null(cp_dims_find("no-such-model"));
    assert_null(cp_dims_at(-1));
    for (int i = 0; cp_dims_at(i) != NULL; i++) {
        assert_int_equal(cp_dims_at(i)->heads % cp_dims_at(i)->kv_heads, 0);
        assert_ptr_equal(cp_dims_find(cp_dims_at(i)->name), cp_dims_at(i));
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_matmul),
        cmocka_unit_test(test_layer_by_hand),
        cmocka_unit_test(test_attention_by_loops),
        cmocka_unit_test(test_two_phase_by_loops),
        cmocka_unit_test(test_kernel_formulas),
        cmocka_unit_test(test_exact_condition),
        cmocka_unit_test(test_capacity_by_filling),
        cmocka_unit_test(test_capacity_by_hand),
        cmocka_unit_test(test_kv_bytes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
