/* SPDX-License-Identifier: Apache-2.0 */
/* The format of the fuzz targets' inputs (fuzz/format.h): every string of bytes is a list of
 * operations; decoding inverts encoding; and a mutation gives operations within their ranges
 * again. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "fuzz/format.h"
#include "random.h"

static void check_ranges(const struct format_input *input) {
    const struct format_problem *p = &input->problem;
    assert_in_range(p->capacity, 1, FORMAT_MOST_CHUNKS);
    assert_in_range(p->chunk_size, 1, 16);
    assert_in_range(p->hash_bits, 0, 64);
    assert_in_range(p->n_kv_heads, 1, 3);
    assert_in_range(p->group, 1, 4);
    assert_in_range(p->head_dim, 1, 16);
    assert_in_range(p->seed, 0, 65535);
    assert_in_range(input->n, 0, FORMAT_MOST_OPERATIONS);
    for (int i = 0; i < input->n; i++) {
        const struct format_operation *o = &input->operation[i];
        assert_in_range(o->kind, 0, FORMAT_KINDS - 1);
        assert_in_range(o->sequence, 0, 255);
        assert_in_range(o->tokens, 0, FORMAT_MOST_TOKENS - 1);
        assert_in_range(o->common, 0, FORMAT_MOST_TOKENS - 1);
        assert_in_range(o->pattern, 0, 65535);
        assert_in_range(o->flags, 0, 31);
        assert_in_range(o->id, 0, 7);
    }
}

static void check_round_trip(const struct format_input *input) {
    uint8_t bytes[FORMAT_MOST];
    struct format_input again;
    size_t size = format_encode(input, bytes);
    assert_int_equal(size, FORMAT_PROBLEM + input->n * FORMAT_OPERATION);
    format_decode(&again, bytes, size);
    assert_int_equal(again.n, input->n);
    assert_memory_equal(&again.problem, &input->problem, sizeof again.problem);
    assert_memory_equal(again.operation, input->operation,
                        (size_t)input->n * sizeof *again.operation);
}

static void every_string_is_operations(void **state) {
    unsigned long long random = 1;
    uint8_t bytes[FORMAT_MOST + 40];
    (void)state;
    for (size_t size = 0; size <= sizeof bytes; size++) {
        for (size_t i = 0; i < size; i++) {
            bytes[i] = (uint8_t)random_bits(&random);
        }
        struct format_input input;
        format_decode(&input, bytes, size);
        check_ranges(&input);
        check_round_trip(&input);
    }
}

static void no_bytes_are_zeros(void **state) {
    const uint8_t zeros[FORMAT_PROBLEM + 1] = {0};
    struct format_input none, some;
    (void)state;
    format_decode(&none, NULL, 0);
    format_decode(&some, zeros, sizeof zeros);
    assert_int_equal(none.n, 0);
    assert_int_equal(some.n, 1); /* an operation of which one byte is there */
    assert_memory_equal(&none.problem, &some.problem, sizeof none.problem);
}

static void changes_are_operations(void **state) {
    unsigned long long random = 2;
    struct format_input input, other;
    int longest = 0, emptied = 0;
    (void)state;
    format_decode(&input, NULL, 0);
    other = input;
    for (int i = 0; i < 200000; i++) {
        format_mutate(&input, &random);
        if (i % 50 == 0) {
            format_cross(&input, &other, &random);
        }
        if (i % 1000 == 0) {
            other = input;
        }
        longest = input.n > longest ? input.n : longest;
        emptied += input.n == 0;
        if (i % 64 == 0) {
            check_ranges(&input);
            check_round_trip(&input);
        }
    }
    assert_int_equal(longest, FORMAT_MOST_OPERATIONS);
    assert_true(emptied > 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_string_is_operations),
        cmocka_unit_test(no_bytes_are_zeros),
        cmocka_unit_test(changes_are_operations),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
