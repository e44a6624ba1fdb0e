/* SPDX-License-Identifier: Apache-2.0 */
/* What explain has a row read of prompts with modules (gate/explain/model_runs.c): its own runs,
 * and those that a mistake takes instead. By hand, on three prompts with chunks of 4:
 *
 *     S0   (C0, 4, 0) (C1, 2, 4) (C2, 4, 6)  |  (C3, 2, 10)      rows 0 and 1 at 4 and 11
 *     S1   (C0, 4, 0) (C1, 2, 4)             |  (C4, 3, 10)      rows 2 and 3 at 7 and 12
 *     S2   (C2, 4, 6)                        |  (C5, 1, 2)       row 4 at 5
 *
 * The runs before the bar are of the descriptors of C0, C1 and C2, with served = 0 1 0 2. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "gate/explain/explain.h"

#define ROOM 16

/* clang-format off */
static int n_tokens[] = {12, 9, 5}, query_begin[] = {0, 2, 4, 5}, position[] = {4, 11, 7, 12, 5};
static int n_shared_chunks[] = {3, 2, 1}, served[] = {0, 1, 0, 2};
static int table[] = {0, 1, 2, 3, -1,  0, 1, 4, -1, -1,  2, 5, -1, -1, -1};
static int table_tokens[] = {4, 2, 4, 2, 0,  4, 2, 3, 0, 0,  4, 1, 0, 0, 0};
static int table_position[] = {0, 4, 6, 10, 0,  0, 4, 10, 0, 0,  6, 2, 0, 0, 0};
static struct cp_shared_chunk shared[] = {{0, 0, 2, 4, 0}, {1, 0, 2, 2, 4}, {2, 2, 4, 4, 6}};
/* clang-format on */

static const struct gate_problem prompts = {.recipe = {.chunk_size = 4},
                                            .plan = CP_PLANS_LISTS,
                                            .b = 3,
                                            .n_rows = 5,
                                            .n_tokens = n_tokens,
                                            .query_begin = query_begin,
                                            .position = position,
                                            .n_shared_chunks = n_shared_chunks,
                                            .table_width = 5,
                                            .table = table,
                                            .table_tokens = table_tokens,
                                            .table_position = table_position,
                                            .n_served = 4,
                                            .served = served,
                                            .n_shared = 3,
                                            .shared = shared};

/* The runs as "chunk:keys", or as "chunk of K/chunk of V:keys" where these differ. */
static void expect(int row, int s, struct explain_choice choice, const char *words) {
    struct explain_taken taken[ROOM];
    char text[200] = "";
    int n = explain_take_runs(&prompts, &choice, row, s, taken, ROOM), end = 0;
    assert_in_range(n, 0, ROOM);
    for (int i = 0; i < n; i++) {
        end += snprintf(text + end, sizeof text - (size_t)end,
                        taken[i].k == taken[i].v ? "%s%d:%d" : "%s%d/%d:%d", i > 0 ? " " : "",
                        taken[i].k, taken[i].k == taken[i].v ? taken[i].seen : taken[i].v,
                        taken[i].seen);
    }
    assert_string_equal(text, words);
}

#define RUNS(...) ((struct explain_choice){.runs = {__VA_ARGS__}})

/* RUNS-4. */
static void a_row_sees_what_stands_up_to_it(void **state) {
    (void)state;
    expect(0, 0, RUNS(0), "0:4 1:1 2:0 3:0");
    expect(1, 0, RUNS(0), "0:4 1:2 2:4 3:2");
    expect(2, 1, RUNS(0), "0:4 1:2 4:0");
    expect(3, 1, RUNS(0), "0:4 1:2 4:3");
    expect(4, 2, RUNS(0), "2:0 5:1");
    for (int row = 0; row < prompts.n_rows; row++) {
        const struct explain_choice own = RUNS(0);
        struct explain_taken taken[ROOM];
        int s = gate_sequence_of(&prompts, row);
        int n = explain_take_runs(&prompts, &own, row, s, taken, ROOM);
        assert_int_equal(n, gate_runs(&prompts, s));
        for (int k = 0; k < n; k++) {
            assert_int_equal(taken[k].run, k);
            assert_int_equal(taken[k].seen, gate_visible_in(&prompts, row, k));
            assert_int_equal(taken[k].is_shared, k < n_shared_chunks[s]);
        }
        assert_int_equal(explain_take_runs(&prompts, &own, row, s, taken, n), n);
        assert_int_equal(explain_take_runs(&prompts, &own, row, s, taken, n - 1), -1);
    }
}

/* RUNS-1: how many keys a run has. */
static void lengths_of_runs(void **state) {
    (void)state;
    expect(3, 1, RUNS(RUNS_FULL), "0:4 1:4 4:3");
    expect(1, 0, RUNS(RUNS_FULL, .keys = SHARED_KEYS), "0:4 1:4 2:4 3:2");
    expect(1, 0, RUNS(RUNS_FULL, .keys = OWN_KEYS), "0:4 1:2 2:4 3:2");
    expect(4, 0, RUNS(RUNS_FULL), "0:4 1:2 2:0 3:0");
    expect(3, 0, RUNS(RUNS_FULL, .keys = OWN_KEYS), "0:4 1:2 2:4 3:3");
    expect(3, 0, RUNS(RUNS_FULL_BUT_LAST), "0:4 1:4 2:4 3:2");
    expect(3, 1, RUNS(RUNS_BY_LENGTH), "0:4 1:4 4:1");
    expect(3, 0, RUNS(RUNS_BY_LENGTH), "0:4 1:4 2:4 3:0");
    expect(0, 0, RUNS(RUNS_AS_PATH), "0:4 1:4 2:3 3:0");
    expect(0, 0, RUNS(RUNS_AS_PATH_TO_POSITION), "0:4 1:1 2:0 3:0");
}

/* RUNS-4: where runs begin, and where the row stands. */
static void positions(void **state) {
    (void)state;
    expect(0, 0, RUNS(RUNS_WHOLE), "0:4 1:2 2:4 3:2");
    expect(0, 0, RUNS(RUNS_WHOLE, .keys = SHARED_KEYS), "0:4 1:2 2:4 3:0");
    expect(0, 0, RUNS(RUNS_WHOLE, .keys = OWN_KEYS), "0:4 1:1 2:0 3:2");
    expect(0, 0, RUNS(RUNS_WHOLE_IF_SEEN), "0:4 1:2 2:0 3:0");
    expect(2, 1, RUNS(RUNS_WITHOUT_GAPS), "0:4 1:2 4:2");
    expect(3, 1, RUNS(RUNS_AT_RANK), "0:4 1:2 4:0");
    expect(4, 2, RUNS(RUNS_AT_RANK), "2:0 5:1");
    expect(2, 1, RUNS(RUNS_BY_RANK), "0:4 1:2 4:2");
    expect(3, 1, RUNS(RUNS_BY_RANK), "0:4 1:2 4:3");
    expect(1, 0, RUNS(RUNS_AS_CHUNKS), "0:4 1:2 2:4 3:0");
    expect(0, 0, RUNS(RUNS_BY, .by = 1), "0:4 1:2 2:0 3:0");
    expect(0, 0, RUNS(RUNS_BY, .by = -1), "0:4 1:0 2:0 3:0");
    expect(3, 1, RUNS(RUNS_AT_ROW_0), "0:4 1:1 4:0");
    expect(1, 0, RUNS(RUNS_AT_FIRST_ROW), "0:4 1:1 2:0 3:0");
    expect(2, 1, RUNS(RUNS_AT_LAST_ROW), "0:4 1:2 4:3");
    expect(4, 2, RUNS(RUNS_AT_ROW_OF_NUMBER), "2:2 5:1");
}

/* RUNS-3: each run once. */
static void how_often(void **state) {
    (void)state;
    expect(3, 1, RUNS(.counts = COUNTS_OWN), "4:3");
    expect(3, 1, RUNS(.counts = COUNTS_SHARED), "0:4 1:2");
    expect(3, 1, RUNS(.counts = COUNTS_AT, .at = 1), "0:4 4:3");
    expect(3, 1, RUNS(.counts = COUNTS_AT, .times = 2), "0:4 0:4 1:2 4:3");
    expect(3, 1, RUNS(.counts = COUNTS_FROM_LAST), "0:4 1:2");
    expect(3, 1, RUNS(.counts = COUNTS_FROM_SHARED, .at = -1), "0:4 4:3");
    expect(3, 1, RUNS(.counts = COUNTS_FROM_SHARED, .times = 2), "0:4 1:2 4:3 4:3");
    expect(4, 2, RUNS(.counts = COUNTS_AT_RANK), "2:0");
    expect(4, 2, RUNS(.counts = COUNTS_AT_LAST_RANK, .times = 2), "2:0 2:0 5:1");
    expect(4, 2, RUNS(.counts = COUNTS_TO_FIRST_BEHIND), "");
    expect(0, 0, RUNS(.counts = COUNTS_TO_FIRST_BEHIND), "0:4 1:1");
    expect(1, 0, RUNS(.counts = COUNTS_TO_FIRST_PARTIAL), "0:4 1:2");
    expect(1, 0, RUNS(.counts = COUNTS_BEFORE_FIRST_PARTIAL), "0:4");
    expect(1, 0, RUNS(.counts = COUNTS_BY_LENGTH), "0:4 1:2 2:4");
    expect(3, 1, RUNS(.counts = COUNTS_BY_LENGTH), "0:4 1:2 4:3");
    expect(3, 1, RUNS(.counts = COUNTS_BY_LENGTH_DOWN), "0:4 1:2");
}

/* RUNS-2: which sequences a descriptor serves. */
static void served_sequences(void **state) {
    (void)state;
    expect(1, 0, RUNS(.by_range = 1), "0:4 1:2 3:2");
    expect(3, 1, RUNS(.by_range = 1), "0:4 1:2 4:3");
    expect(4, 2, RUNS(.by_range = 1), "2:0 5:1");
    expect(1, 0, RUNS(.counts = COUNTS_NOT_FIRST_SERVED), "3:2");
    expect(3, 1, RUNS(.counts = COUNTS_NOT_FIRST_SERVED), "0:4 1:2 4:3");
    expect(1, 0, RUNS(.counts = COUNTS_NOT_LAST_SERVED), "0:4 1:2 2:4 3:2");
    expect(3, 1, RUNS(.counts = COUNTS_NOT_LAST_SERVED), "4:3");
    expect(4, 2, RUNS(.counts = COUNTS_NOT_LAST_SERVED), "5:1");
    expect(3, 0, RUNS(0), "0:4 1:2 2:4 3:2"); /* another sequence's list */
}

/* RUNS-1: the chunk of a run. */
static void chunks_of_runs(void **state) {
    (void)state;
    expect(1, 0, RUNS(.chunk = CHUNKS_TURNED), "3:4 2:2 1:4 0:2");
    expect(1, 0, RUNS(.chunk = CHUNKS_TURNED, .array = OF_V), "0/3:4 1/2:2 2/1:4 3/0:2");
    expect(1, 0, RUNS(.chunk = CHUNKS_TURNED, .array = OF_K), "3/0:4 2/1:2 1/2:4 0/3:2");
    expect(1, 0, RUNS(.chunk = CHUNKS_NEXT), "1:4 2:2 3:4 0:2");
    expect(1, 0, RUNS(.chunk = CHUNKS_BEFORE), "3:4 0:2 1:4 2:2");
    expect(4, 2, RUNS(.chunk = CHUNKS_BY_POSITION), "5:0 2:1");
    expect(1, 0, RUNS(.chunk = CHUNKS_FIRST), "0:4 0:2 0:4 0:2");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_row_sees_what_stands_up_to_it),
        cmocka_unit_test(lengths_of_runs),
        cmocka_unit_test(positions),
        cmocka_unit_test(how_often),
        cmocka_unit_test(served_sequences),
        cmocka_unit_test(chunks_of_runs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
