/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers are compared with all their bits, and counted with as many as they need: salts, ids,
 * tokens and stamps that differ in one bit, and sizes next to the largest, in ref/ and in opt/. */
#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "chunkproof/chunkproof.h"
#include "chunkproof/memory.h"
#include "chunkproof/opt_plan.h"
#include "chunkproof/opt_tree.h"

static const struct cp_opt_sizes sizes = {8, 2, 4, 4, 64, 1};
static const int token[] = {6, 7};

static int with_bit(int number, int bit) {
    return (int)((unsigned)number ^ 1U << bit);
}

/* TREE-8, TREE-14: nothing is shared over salts that differ in one bit, whichever it is. */
static void every_bit_of_a_salt_counts(void **unused) {
    (void)unused;
    for (int bit = 0; bit < 64; bit++) {
        unsigned long long salt = 5, other = salt ^ 1ULL << bit;
        struct cp_tree *tree;
        struct cp_opt_tree *opt;
        struct cp_joined joined;
        assert_int_equal(cp_tree_new(&tree, 8, 2, 0), CP_OK);
        assert_int_equal(cp_opt_tree_new(&opt, &sizes), CP_OK);
        assert_int_equal(cp_tree_join(tree, token, 2, salt, 1, NULL, &joined), CP_OK);
        assert_int_equal(cp_tree_lookup(tree, token, 2, other, NULL).n_chunks, 0);
        assert_int_equal(cp_tree_join(tree, token, 2, other, 2, NULL, &joined), CP_OK);
        assert_int_equal(joined.n_shared, 0);
        assert_true(tree->sequence[joined.sequence].salt == other);
        assert_int_equal(cp_opt_tree_join(opt, token, 2, salt, 1, &joined), CP_OK);
        assert_int_equal(cp_opt_tree_lookup(opt, token, 2, other).n_chunks, 0);
        assert_int_equal(cp_opt_tree_join(opt, token, 2, other, 2, &joined), CP_OK);
        assert_int_equal(joined.n_shared, 0);
        assert_true(opt->sequence[joined.sequence].salt == other);
        cp_opt_tree_free(opt);
        cp_tree_free(tree);
    }
}

/* TREE-8: tokens that differ in one bit are different, also where hashes are equal. */
static void every_bit_of_a_token_counts(void **unused) {
    (void)unused;
    for (int hash_bits = 0; hash_bits <= 1; hash_bits++) {
        for (int bit = 0; bit < 32; bit++) {
            const int other[] = {token[0], with_bit(token[1], bit)};
            struct cp_opt_sizes few = sizes;
            struct cp_tree *tree;
            struct cp_opt_tree *opt;
            struct cp_joined joined;
            few.hash_bits = hash_bits;
            assert_int_equal(cp_tree_new(&tree, 8, 2, hash_bits), CP_OK);
            assert_int_equal(cp_opt_tree_new(&opt, &few), CP_OK);
            assert_int_equal(cp_tree_join(tree, token, 2, 0, 1, NULL, &joined), CP_OK);
            unsigned long long hash[2];
            cp_tree_hash_prompt(tree, token, 2, &hash[0]);
            cp_tree_hash_prompt(tree, other, 2, &hash[1]);
            assert_int_equal(cp_tree_lookup(tree, other, 2, 0, &hash[1]).n_chunks, 0);
            assert_int_equal(cp_tree_lookup(tree, token, 2, 0, &hash[0]).n_chunks, 1);
            assert_int_equal(cp_tree_join(tree, other, 2, 0, 2, NULL, &joined), CP_OK);
            assert_int_equal(cp_tree_token(tree, joined.sequence, 1), other[1]);
            assert_int_equal(cp_opt_tree_join(opt, token, 2, 0, 1, &joined), CP_OK);
            assert_int_equal(cp_opt_tree_lookup(opt, other, 2, 0).n_chunks, 0);
            assert_int_equal(cp_opt_tree_lookup(opt, token, 2, 0).n_chunks, 1);
            assert_int_equal(cp_opt_tree_join(opt, other, 2, 0, 2, &joined), CP_OK);
            assert_int_equal(cp_opt_tree_token(opt, joined.sequence, 1), other[1]);
            cp_opt_tree_free(opt);
            cp_tree_free(tree);
        }
    }
}

/* An id is found, and no other that differs in one bit. */
static void every_bit_of_an_id_counts(void **unused) {
    struct cp_tree *tree;
    struct cp_joined joined;
    const long long id = 9;
    (void)unused;
    assert_int_equal(cp_tree_new(&tree, 8, 2, 0), CP_OK);
    assert_int_equal(cp_tree_join(tree, token, 2, 0, id, NULL, &joined), CP_OK);
    assert_int_equal(cp_tree_find(tree, id), 0);
    for (int bit = 0; bit < 64; bit++) {
        assert_int_equal(cp_tree_find(tree, (long long)((unsigned long long)id ^ 1ULL << bit)), -1);
    }
    cp_tree_free(tree);
}

/* PLAN-5, PLAN-6: a stamp that differs in one bit is another one. */
static void every_bit_of_a_stamp_counts(void **unused) {
    struct cp_tree *tree;
    struct cp_plan *plan;
    struct cp_opt_tree *opt;
    struct cp_opt_plan *opt_plan;
    struct cp_joined joined;
    (void)unused;
    assert_int_equal(cp_tree_new(&tree, 8, 2, 0), CP_OK);
    assert_int_equal(cp_plan_new(&plan), CP_OK);
    assert_int_equal(cp_opt_tree_new(&opt, &sizes), CP_OK);
    assert_int_equal(cp_opt_plan_new(&opt_plan, &sizes), CP_OK);
    assert_int_equal(cp_tree_join(tree, token, 2, 0, 1, NULL, &joined), CP_OK);
    assert_int_equal(cp_opt_tree_join(opt, token, 2, 0, 1, &joined), CP_OK);
    for (int bit = 0; bit < 64; bit++) {
        for (int field = 0; field < 3; field++) {
            cp_plan_update(plan, tree);
            cp_opt_plan_update(opt_plan, opt);
            assert_true(cp_plan_is_current(plan, tree->stamp));
            unsigned long long *part[] = {&plan->stamp.tree, &plan->stamp.epoch, &plan->stamp.step};
            unsigned long long *opt_part[] = {&opt_plan->stamp.tree, &opt_plan->stamp.epoch,
                                              &opt_plan->stamp.step};
            *part[field] ^= 1ULL << bit;
            assert_false(cp_plan_is_current(plan, tree->stamp));
            assert_int_equal(cp_plan_update(plan, tree), field < 2);
            *opt_part[field] ^= 1ULL << bit;
            assert_int_equal(cp_opt_plan_update(opt_plan, opt), field < 2);
            assert_memory_equal(&opt_plan->stamp, &opt->stamp, sizeof opt->stamp);
        }
    }
    cp_opt_plan_free(opt_plan);
    cp_opt_tree_free(opt);
    cp_plan_free(plan);
    cp_tree_free(tree);
}

/* TREE-13: a prompt of INT_MAX tokens has more chunks than a path, and is not read. */
static void the_longest_prompt_is_too_long(void **unused) {
    struct cp_tree *tree;
    struct cp_opt_tree *opt;
    struct cp_joined joined;
    (void)unused;
    assert_int_equal(cp_tree_new(&tree, 8, 2, 0), CP_OK);
    assert_int_equal(cp_opt_tree_new(&opt, &sizes), CP_OK);
    for (int less = 0; less < 3; less++) {
        int n = INT_MAX - less;
        assert_int_equal(cp_tree_join(tree, token, n, 0, 1, NULL, &joined), CP_ERROR_TOO_LONG);
        assert_int_equal(cp_opt_tree_join(opt, token, n, 0, 1, &joined), CP_ERROR_TOO_LONG);
    }
    cp_opt_tree_free(opt);
    cp_tree_free(tree);
}

/* POOL-7: K and V of 2^63 bytes, or more, are no arrays, whichever factor it is that is too large;
 * those of fewer could be, and no system has them. */
static void sizes_of_keys_and_values_do_not_wrap(void **unused) {
    const struct {
        int factor[4];
        int type, status;
    } cases[] = {
        {{1 << 30, 1 << 30, 1 << 2, 1}, CP_FP16, CP_ERROR_SHAPE}, /* 2^63 bytes */
        {{1 << 30, 1 << 30, 1 << 4, 1}, CP_FP16, CP_ERROR_SHAPE},
        {{1 << 30, 1 << 30, 1 << 30, 1 << 30}, CP_FP16, CP_ERROR_SHAPE},
        {{INT_MAX, INT_MAX, INT_MAX, 1}, CP_FP16, CP_ERROR_SHAPE},
        {{INT_MAX, INT_MAX, 3, 1}, CP_FP16, CP_ERROR_SHAPE},     /* modulo 2^64 about 2^63 */
        {{INT_MAX, INT_MAX, 3, 1}, CP_INT8, CP_ERROR_SHAPE},     /* fewer than 2^64 numbers */
        {{INT_MAX, INT_MAX, 1, 1}, CP_FP16, CP_ERROR_NO_MEMORY}, /* 2^63 - 2^33 + 2 */
        {{INT_MAX, INT_MAX, 2, 1}, CP_E4M3, CP_ERROR_NO_MEMORY},
    };
    (void)unused;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        for (int turn = 0; turn < 4; turn++) {
            const int *f = cases[i].factor;
            struct cp_kv kv;
            assert_int_equal(cp_kv_new(&kv, f[turn], f[(turn + 1) % 4], f[(turn + 2) % 4],
                                       f[(turn + 3) % 4], cases[i].type, CP_ON_DEMAND),
                             cases[i].status);
        }
    }
}

/* POOL-7: rows far beyond 2^31 and 2^32 elements, of each product in turn. */
static void rows_of_large_pools(void **unused) {
    const struct cp_kv many_heads = {NULL, NULL, 1 << 20, 1 << 13, 512, 256, CP_FP16};
    const struct cp_kv large_chunks = {NULL, NULL, 8, 4, 1 << 30, 16, CP_FP16};
    const struct cp_kv wide_rows = {NULL, NULL, 8, 4, 4, 1 << 30, CP_FP16};
    (void)unused;
    assert_true(cp_kv_row(&many_heads, (1 << 20) - 1, (1 << 13) - 1, 511) ==
                (((size_t)1 << 42) - 1) * 256);
    assert_true(cp_kv_row(&large_chunks, 7, 3, (1 << 30) - 1) == (((size_t)1 << 35) - 1) * 16);
    assert_true(cp_kv_row(&wide_rows, 7, 3, 3) == (((size_t)1 << 7) - 1) << 30);
}

#define FAR_DIM 64

/* A number beyond 4 GiB of K is written there, and nowhere else. The memory is on demand: a few
 * pages. */
static void a_row_beyond_4_gib(void **unused) {
    struct cp_kv kv;
    double key[FAR_DIM], value[FAR_DIM];
    (void)unused;
    for (int x = 0; x < FAR_DIM; x++) {
        key[x] = 1.0 + x;
        value[x] = -1.0 - x;
    }
    assert_int_equal(cp_kv_new(&kv, 3, 1 << 16, 512, FAR_DIM, CP_FP16, CP_ON_DEMAND), CP_OK);
    size_t of_chunk = (size_t)512 * FAR_DIM << 16; /* 2^31 elements of 2 bytes */
    cp_kv_write(&kv, 2, 0, 1, key, value);
    for (size_t x = 0; x < FAR_DIM; x++) {
        assert_true(cp_number_load(kv.k, CP_FP16, 2 * of_chunk + FAR_DIM + x) == key[x]);
        assert_true(cp_number_load(kv.v, CP_FP16, 2 * of_chunk + FAR_DIM + x) == value[x]);
        assert_true(cp_number_load(kv.k, CP_FP16, FAR_DIM + x) == 0.0);
        assert_true(cp_number_load(kv.k, CP_FP16, of_chunk + FAR_DIM + x) == 0.0);
    }
    cp_kv_free(&kv);
}

/* Sizes of opt/ whose product has no 32 bits left. */
static void sizes_of_paths_do_not_wrap(void **unused) {
    const struct cp_opt_sizes large[] = {{4, 1 << 16, 4, 1 << 16, 64, 0},
                                         {4, INT_MAX, 4, INT_MAX, 64, 0},
                                         {4, 1 << 17, 4, (1 << 15) + 1, 64, 0}};
    struct cp_opt_tree *tree;
    (void)unused;
    for (size_t i = 0; i < sizeof large / sizeof *large; i++) {
        assert_int_equal(cp_opt_tree_new(&tree, &large[i]), CP_ERROR_ARGUMENT);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_bit_of_a_salt_counts),
        cmocka_unit_test(every_bit_of_a_token_counts),
        cmocka_unit_test(every_bit_of_an_id_counts),
        cmocka_unit_test(every_bit_of_a_stamp_counts),
        cmocka_unit_test(the_longest_prompt_is_too_long),
        cmocka_unit_test(sizes_of_keys_and_values_do_not_wrap),
        cmocka_unit_test(rows_of_large_pools),
        cmocka_unit_test(a_row_beyond_4_gib),
        cmocka_unit_test(sizes_of_paths_do_not_wrap),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
