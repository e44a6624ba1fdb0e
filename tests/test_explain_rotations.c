/* SPDX-License-Identifier: Apache-2.0 */
/* How explain has a key rotated (gate/explain/model_rotate.c): as it must be, and as a mistake
 * does. By hand, on one prompt with chunks of 4, whose row stands at 8, and heads of 5 numbers, of
 * which the first 4 are rotated:
 *
 *     (C0, 2, 3) of a descriptor | (C1, 1, 7)        C0 stands at 1 in another prompt, and first
 *
 * Row t of the table has the cosines t and 2 t, and the sines 10 t and 20 t. Each key is 1 2 3 4 5.
 * In halves, by row t, it becomes t times (1 - 30, 2 (2 - 40), 10 + 3, 2 (20 + 4)) and 5. That in
 * slot 1 of C0 stands at 4. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "gate/case/rotation.h"
#include "gate/explain/explain.h"

#define ANGLES 24

/* clang-format off */
static int n_tokens[] = {3, 2}, query_begin[] = {0, 1, 1}, position[] = {8}, served[] = {1, 0};
static int n_shared_chunks[] = {1, 1}, first[] = {0, 2, 0,  0, 0, 0};
static int table[] = {0, 1, -1,  0, -1, -1}, table_tokens[] = {2, 1, 0,  2, 0, 0};
static int table_position[] = {3, 7, 0,  1, 0, 0};
static struct cp_shared_chunk shared[] = {{0, 0, 1, 2, 1}, {0, 1, 2, 2, 3}};
static float memory[8 + ANGLES * 4], *turns = memory + 8;
/* clang-format on */

static struct explain_run run = {
    .problem = {.recipe = {.chunk_size = 4, .head_dim = 5},
                .plan = CP_PLANS_LISTS,
                .b = 2,
                .n_rows = 1,
                .n_tokens = n_tokens,
                .query_begin = query_begin,
                .position = position,
                .n_shared_chunks = n_shared_chunks,
                .table_width = 3,
                .table = table,
                .table_tokens = table_tokens,
                .table_position = table_position,
                .first = first,
                .n_served = 2,
                .served = served,
                .n_shared = 2,
                .shared = shared,
                .rotation = {.dim = 4, .n_angles = ANGLES, .table = memory + 8}}};

static const double key[] = {1.0, 2.0, 3.0, 4.0, 5.0};

/* Slots 0 and 1 of C0, and slot 0 of C1; each holds that key. */
static void rotate(int keys, int pairs, struct explain_choice choice, int j, double *rotated) {
    const double *k[] = {key, key, key};
    struct explain_spot place[] = {{0, 0, 3}, {0, 1, 3}, {1, 0, 7}};
    double all[15];
    struct explain_model x = {.run = &run,
                              .row = 0,
                              .s = 0,
                              .n = 3,
                              .d = 5,
                              .c = 4,
                              .shared = 2,
                              .m = 3,
                              .room = 3,
                              .k = k,
                              .place = place,
                              .rotated = all};
    for (int i = 0; i < 8; i++) { /* of nobody */
        memory[i] = 1.0F;
    }
    for (int t = 0; t < ANGLES; t++) {
        for (int i = 0; i < 4; i++) {
            turns[4 * t + i] = (float)((i % 2 + 1) * t * (i < 2 ? 1 : 10));
        }
    }
    run.problem.rotation.keys = keys;
    run.problem.rotation.pairs = pairs;
    explain_rotate_keys(&x, &choice);
    for (int i = 0; i < 5; i++) {
        rotated[i] = explain_key(&x, j)[i];
    }
    /* What is certified has the same score. */
    double terms[9], of_q[9], sum = 0.0, score = 0.0;
    explain_terms(&x, &choice, j, terms);
    gate_query_terms(&run.problem.rotation, 5, (double[]){5.0, 4.0, 3.0, 2.0, 1.0}, of_q);
    for (int i = 0; i < 9; i++) {
        sum += of_q[i] * terms[i];
    }
    for (int i = 0; i < 5; i++) {
        score += (5.0 - i) * rotated[i];
    }
    assert_true(sum == score);
}

/* In halves, by row t: key j of the three. */
static void expect_row(int keys, struct explain_choice choice, int j, double t) {
    double is[5];
    rotate(keys, CP_PAIRS_HALVES, choice, j, is);
    assert_true(is[0] == -29.0 * t && is[1] == -76.0 * t);
    assert_true(is[2] == 13.0 * t && is[3] == 48.0 * t && is[4] == 5.0);
}

#define TURNED(...) ((struct explain_choice){.rotate = {__VA_ARGS__}})

/* GATE-14: each key by its position, or by that of its run. */
static void keys_are_rotated(void **state) {
    double is[5];
    (void)state;
    expect_row(CP_KEYS_RAW, TURNED(0), 0, 3.0);
    expect_row(CP_KEYS_RAW, TURNED(0), 1, 4.0);
    expect_row(CP_KEYS_RAW, TURNED(0), 2, 7.0);
    expect_row(CP_KEYS_LOCAL, TURNED(0), 1, 3.0);
    rotate(CP_KEYS_RAW, CP_PAIRS_NEIGHBOURS, TURNED(0), 1, is);
    assert_true(is[0] == 4.0 * (1.0 - 20.0) && is[1] == 4.0 * (10.0 + 2.0));
    assert_true(is[2] == 8.0 * (3.0 - 40.0) && is[3] == 8.0 * (30.0 + 4.0));
}

/* By other rows of the table. */
static void rows_of_the_table(void **state) {
    (void)state;
    expect_row(CP_KEYS_LOCAL, TURNED(ROTATED_BY_POSITION), 1, 4.0);
    expect_row(CP_KEYS_RAW, TURNED(ROTATED_BY_RUN), 1, 3.0);
    expect_row(CP_KEYS_RAW, TURNED(ROTATED_BY_SLOT), 1, 1.0);
    expect_row(CP_KEYS_RAW, TURNED(ROTATED_BY_NUMBER), 2, 2.0);
    expect_row(CP_KEYS_RAW, TURNED(ROTATED_BY_ROW), 1, 8.0);
    expect_row(CP_KEYS_RAW, TURNED(ROTATED_BY_DISTANCE), 2, 1.0);
    expect_row(CP_KEYS_RAW, TURNED(ROTATED_AS_FIRST), 1, 2.0);
    expect_row(CP_KEYS_LOCAL, TURNED(ROTATED_AS_FIRST), 1, 1.0);
    expect_row(CP_KEYS_RAW, TURNED(ROTATED_AS_FIRST), 2, 7.0);
    expect_row(CP_KEYS_RAW, TURNED(ROTATED_BY, .by = -2), 1, 2.0);
    expect_row(CP_KEYS_RAW, TURNED(ROTATED_BY_TILE, .by = 4), 1, 3.0);
    expect_row(CP_KEYS_RAW, TURNED(ROTATED_MODULO, .by = 4), 2, 3.0);
    expect_row(CP_KEYS_RAW, TURNED(ROTATED_AT_MOST, .by = 6), 2, 6.0);
    expect_row(CP_KEYS_RAW, TURNED(ROTATED_AT_MOST, .by = 6), 1, 4.0);
    expect_row(CP_KEYS_RAW, TURNED(ROTATED_NOT_BY_0), 1, 4.0);
}

/* Of keys in shared chunks, or of its own, alone. */
static void of_some_keys(void **state) {
    (void)state;
    expect_row(CP_KEYS_RAW, TURNED(ROTATED_BY_SLOT, .keys = SHARED_KEYS), 1, 1.0);
    expect_row(CP_KEYS_RAW, TURNED(ROTATED_BY_SLOT, .keys = SHARED_KEYS), 2, 7.0);
    expect_row(CP_KEYS_RAW, TURNED(ROTATED_BY_SLOT, .keys = OWN_KEYS), 1, 4.0);
    expect_row(CP_KEYS_RAW, TURNED(ROTATED_BY_SLOT, .keys = OWN_KEYS), 2, 0.0);
}

static void expect_numbers(struct explain_choice choice, const double *want) {
    double is[5];
    rotate(CP_KEYS_RAW, CP_PAIRS_HALVES, choice, 1, is);
    for (int i = 0; i < 5; i++) {
        assert_true(is[i] == want[i]);
    }
}

/* Row 4 of the table is 4 8 40 80. */
static void other_numbers(void **state) {
    (void)state;
    expect_numbers(TURNED(ROTATED_NOT), key);
    expect_numbers(TURNED(ROTATED_BACK), (double[]){124.0, 336.0, -28.0, -128.0, 5.0});
    expect_numbers(TURNED(ROTATED_TWICE),
                   (double[]){16.0 - 1600.0 - 960.0, 2.0 * (64.0 - 6400.0) - 4.0 * 1280.0,
                              320.0 + 3.0 * (16.0 - 1600.0), 2.0 * 1280.0 + 4.0 * (64.0 - 6400.0),
                              5.0});
    expect_numbers(TURNED(ROTATED_OTHER_PAIRS), (double[]){-76.0, 48.0, -296.0, 272.0, 5.0});
    expect_numbers(TURNED(ROTATED_SWAPPED), (double[]){28.0, 128.0, 124.0, 336.0, 5.0});
    expect_numbers(TURNED(ROTATED_INTERLEAVED), (double[]){-20.0, -240.0, 20.0, 320.0, 5.0});
    expect_numbers(TURNED(ROTATED_FIRST_NUMBER), (double[]){-116.0, -304.0, 3.0, 4.0, 5.0});
    expect_numbers(TURNED(ROTATED_IN_PLACE),
                   (double[]){-116.0, -304.0, 12.0 - 40.0 * 116.0, 32.0 - 80.0 * 304.0, 5.0});
    expect_numbers(TURNED(ROTATED_BY_FIRST_PAIR), (double[]){-116.0, -152.0, 52.0, 96.0, 5.0});
    /* From number 20 on, which is row 5. */
    expect_numbers(TURNED(ROTATED_STRIDE_D), (double[]){-145.0, -380.0, 65.0, 240.0, 5.0});
    expect_numbers(TURNED(ROTATED_NOT_LAST), (double[]){-116.0, -304.0, 52.0, 192.0, 5.0});
}

/* The last key that the row sees stays; and nothing is turned by a row that is none. */
static void ends(void **state) {
    double is[5];
    (void)state;
    rotate(CP_KEYS_RAW, CP_PAIRS_HALVES, TURNED(ROTATED_NOT_LAST), 2, is);
    assert_true(is[0] == 1.0 && is[3] == 4.0);
    rotate(CP_KEYS_RAW, CP_PAIRS_HALVES, TURNED(ROTATED_BY, .by = -9), 2, is);
    assert_true(is[0] == 0.0 && is[3] == 0.0 && is[4] == 5.0);
    run.problem.rotation.n_angles = 7; /* the key at 7 is behind the last row */
    rotate(CP_KEYS_RAW, CP_PAIRS_HALVES, TURNED(0), 2, is);
    assert_true(is[0] == 0.0 && is[3] == 0.0 && is[4] == 5.0);
    run.problem.rotation.n_angles = ANGLES;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(keys_are_rotated),
        cmocka_unit_test(rows_of_the_table),
        cmocka_unit_test(of_some_keys),
        cmocka_unit_test(other_numbers),
        cmocka_unit_test(ends),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
