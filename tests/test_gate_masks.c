/* SPDX-License-Identifier: Apache-2.0 */
/* MASK-1, CONV-6: which keys a row sees in the gate's cases with masks of bits, found again by the
 * words of the clause from the arrays of the call; and what kinds of masks come. */
#define _POSIX_C_SOURCE 200809L /* mkstemp */

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
#include "gate/case/values.h"
#include "gate/judge/judge.h"
#include "gate/search/case_file.h"
#include "tests/plain_kernel.h"

#define CASES 400
#define WORK  20000
#define ALL   (CP_MASKS_WINDOW | CP_MASKS_AHEAD | CP_MASKS_KEPT | CP_MASKS_BITS)

static struct cp_kernel kernel_of(int masks) {
    struct cp_kernel kernel = plain;
    kernel.plans = CP_PLANS_LISTS;
    kernel.masks = masks;
    return kernel;
}

struct made {
    struct gate_recipe recipe;
    struct gate_problem p;
    struct gate_arrays a;
    const struct cp_kernel_call *call;
};

static void make(struct made *m, int index, const struct cp_kernel *kernel) {
    gate_recipe_make(&m->recipe, 59, index, 0, WORK, NULL);
    if (index % 2 == 1) {
        gate_recipe_to_modules(&m->recipe, NULL);
    }
    gate_recipe_mask(&m->recipe, kernel->masks, NULL);
    assert_int_equal(gate_problem_new(&m->p, &m->recipe, kernel), 0);
    gate_values_fill(&m->p);
    assert_int_equal(gate_arrays_new(&m->a, &m->p), 0);
    m->call = &m->a.run.call;
}

static void done(struct made *m) {
    gate_arrays_free(&m->a);
    gate_problem_free(&m->p);
}

/* WINDOW-1. */
static int is_in_window(const struct cp_kernel_call *call, int p, int t) {
    return t <= p + call->ahead && (call->window == 0 || t > p - call->window || t < call->kept);
}

/* MASK-1. */
static int is_left(const struct cp_kernel_call *call, int row, int t) {
    if (call->mask_bits == NULL || t < call->mask_begin[row]) {
        return 1;
    }
    size_t i = call->mask_first[row] + (size_t)(t - call->mask_begin[row]);
    assert_true(i / 8 < call->mask_bytes);
    return call->mask_bits[i / 8] >> i % 8 & 1;
}

/* The keys that a row sees are those of the clauses. Returns how many the mask has taken away. */
static int check_row(const struct made *m, int row) {
    int s = gate_sequence_of(&m->p, row), n = 0, taken = 0;
    struct gate_seen seen = gate_seen(&m->p, row);
    for (int j = 0; j < m->p.n_tokens[s]; j++) {
        int t = gate_position_of(&m->p, s, j);
        int in_window = is_in_window(m->call, m->call->position[row], t);
        int is_seen = in_window && is_left(m->call, row, t);
        taken += in_window && !is_seen;
        if (is_seen) {
            assert_true(n < gate_seen_count(&seen));
            assert_int_equal(gate_seen_key(&seen, n), j);
            n++;
        }
    }
    assert_int_equal(gate_visible(&m->p, row), n);
    int in_runs = 0;
    for (int k = 0; k < gate_runs(&m->p, s); k++) {
        in_runs += gate_visible_in(&m->p, row, k);
    }
    assert_int_equal(in_runs, n);
    return taken;
}

static int check_rows(const struct made *m) {
    int taken = 0;
    for (int row = 0; row < m->p.n_rows; row++) {
        taken += check_row(m, row);
    }
    return taken;
}

static void rows_see_what_the_clause_says(void **state) {
    const struct cp_kernel kernel = kernel_of(ALL), bits = kernel_of(CP_MASKS_BITS);
    int taken = 0, masks = 0, none = 0;
    (void)state;
    for (int index = 0; index < CASES; index++) {
        struct made m;
        make(&m, index, index % 3 == 0 ? &bits : &kernel);
        int has_mask = m.call->mask_bytes > 0;
        assert_int_equal(m.call->mask_bits != NULL, has_mask);
        assert_int_equal(m.call->mask_first != NULL, has_mask);
        assert_int_equal(m.call->mask_begin != NULL, has_mask);
        assert_true(!has_mask || m.recipe.bits != GATE_NO_BITS);
        taken += check_rows(&m);
        masks += has_mask;
        none += !has_mask;
        done(&m);
    }
    assert_true(taken > 4000 && masks > CASES / 2 && none > CASES / 10);
}

/* ---- Kinds of masks ---- */

/* Rows of a tree: whoever sees an earlier row sees all rows that this one sees; and each row sees
 * itself. Returns how many rows do not see the row before them: branches. */
static int check_tree(const struct made *m, int s) {
    const struct cp_kernel_call *c = m->call;
    int branches = 0, first = c->query_begin[s];
    for (int row = first; row < c->query_begin[s + 1]; row++) {
        int p = c->position[row], positions = gate_positions(&m->p, s);
        if (p < 0 || p >= positions) {
            continue;
        }
        assert_true(is_left(c, row, p));
        for (int other = first; other < row; other++) {
            int t = c->position[other];
            int sees = t >= 0 && is_left(c, row, t);
            branches += other == row - 1 && !sees;
            for (int third = first; sees && third < other; third++) {
                int u = c->position[third];
                assert_true(u < 0 || is_left(c, row, u) == is_left(c, other, u));
            }
        }
    }
    return branches;
}

/* FlashInfer's: a bit for each position, one row behind the other, a sequence from a byte on. */
static int check_whole(const struct made *m, int s) {
    const struct cp_kernel_call *c = m->call;
    int rows = c->query_begin[s + 1] - c->query_begin[s];
    for (int i = 0; i < rows; i++) {
        int row = c->query_begin[s] + i;
        size_t first = c->mask_first[c->query_begin[s]];
        assert_int_equal(c->mask_begin[row], 0);
        assert_int_equal(first % 8, 0);
        assert_int_equal(c->mask_first[row], first + (size_t)i * (size_t)gate_positions(&m->p, s));
    }
    return rows;
}

static void masks_are_of_each_kind(void **state) {
    const struct cp_kernel kernel = kernel_of(CP_MASKS_BITS);
    int branches = 0, whole = 0, packed = 0, begins = 0;
    (void)state;
    for (int index = 0; index < CASES; index++) {
        struct made m;
        make(&m, index, &kernel);
        for (int s = 0; s < m.p.b && m.call->mask_bits != NULL; s++) {
            branches += m.recipe.bits == GATE_TREE_BITS ? check_tree(&m, s) : 0;
            whole += m.recipe.bits == GATE_WHOLE_BITS ? check_whole(&m, s) : 0;
        }
        for (int row = 0; m.recipe.bits == GATE_ANY_BITS && row < m.p.n_rows; row++) {
            packed += m.call->mask_bits != NULL && m.call->mask_first[row] % 8 != 0;
            begins += m.call->mask_bits != NULL && m.call->mask_begin[row] > 0;
        }
        done(&m);
    }
    assert_true(branches > 20 && whole > 50 && packed > 50 && begins > 50);
}

/* CONV-3: where no row may be empty, none is. */
static void no_row_is_empty_where_none_may_be(void **state) {
    struct cp_kernel kernel = kernel_of(CP_MASKS_BITS);
    int empty = 0;
    (void)state;
    for (int never = 0; never < 2; never++) {
        kernel.conventions.never = never ? CP_NEVER_EMPTY_ROWS : 0;
        for (int index = 0; index < CASES / 2; index++) {
            struct made m;
            make(&m, index, &kernel);
            for (int row = 0; row < m.p.n_rows; row++) {
                const struct gate_seen seen = gate_seen_by_window(&m.p, row);
                int is_taken = gate_seen_count(&seen) > 0 && gate_visible(&m.p, row) == 0;
                assert_true(!never || !is_taken);
                empty += is_taken;
            }
            done(&m);
        }
    }
    assert_true(empty > 20);
}

/* ---- The same, but for ... ---- */

static void masks_follow_when_sequences_grow(void **state) {
    const struct cp_kernel kernel = kernel_of(ALL);
    int grown = 0;
    (void)state;
    for (int index = 0; index < CASES; index++) {
        struct made m;
        make(&m, index, &kernel);
        gate_arrays_free(&m.a);
        int more = gate_problem_grow(&m.p);
        gate_values_fill(&m.p);
        assert_int_equal(gate_arrays_new(&m.a, &m.p), 0);
        grown += more > 0 ? check_rows(&m) > 0 : 0;
        done(&m);
    }
    assert_true(grown > 50);
}

static void parts_have_the_bits_of_their_rows(void **state) {
    const struct cp_kernel kernel = kernel_of(CP_MASKS_BITS);
    int parts = 0;
    (void)state;
    for (int index = 0; index < CASES; index++) {
        struct made m, part;
        make(&m, index, &kernel);
        int s = index % m.p.b, begin = m.p.query_begin[s], rows = m.p.query_begin[s + 1] - begin;
        if (rows > 1 && m.p.position[begin + rows - 1] >= 0) {
            int first = rows / 2;
            assert_int_equal(gate_problem_part(&part.p, &m.p, s, first, rows), 0);
            assert_int_equal(gate_arrays_new(&part.a, &part.p), 0);
            part.call = &part.a.run.call;
            check_rows(&part);
            for (int row = 0; row < rows - first; row++) {
                assert_int_equal(gate_visible(&part.p, row),
                                 gate_visible(&m.p, begin + first + row));
            }
            parts += part.call->mask_bits != NULL;
            gate_arrays_free(&part.a);
            gate_problem_free_alone(&part.p);
        }
        done(&m);
    }
    assert_true(parts > 20);
}

/* GATE-4, with other numbers: bits are others, or else a kernel that keeps what an earlier call
 * gave would pass; where a row has them stays. */
static void calls_that_run_again_have_other_bits(void **state) {
    const struct cp_kernel kernel = kernel_of(CP_MASKS_BITS);
    int masked = 0, others = 0;
    (void)state;
    for (int index = 0; index < CASES; index++) {
        struct made m;
        struct gate_problem again;
        make(&m, index, &kernel);
        assert_int_equal(gate_problem_renew(&again, &m.recipe, &kernel), 0);
        assert_int_equal(again.mask.n_bytes, m.p.mask.n_bytes);
        size_t rows = m.p.mask.bit != NULL ? (size_t)m.p.n_rows : 0;
        for (size_t row = 0; row < rows; row++) {
            assert_int_equal(again.mask.first[row], m.p.mask.first[row]);
            assert_int_equal(again.mask.begin[row], m.p.mask.begin[row]);
        }
        masked += m.p.mask.n_bytes > 8;
        others +=
            m.p.mask.n_bytes > 8 && memcmp(again.mask.bit, m.p.mask.bit, again.mask.n_bytes) != 0;
        gate_problem_free(&again);
        done(&m);
    }
    assert_true(masked > 50 && others == masked);
}

static void a_case_file_keeps_the_mask(void **state) {
    (void)state;
    for (int bits = 0; bits < GATE_BITS; bits++) {
        char file[] = "/tmp/mask-case-XXXXXX", line[GATE_LINE];
        struct gate_found found;
        struct gate_case *cases;
        memset(&found, 0, sizeof found);
        gate_recipe_make(&found.recipe, 59, 3, 0, WORK, NULL);
        found.recipe.bits = bits;
        found.finding.verdict = GATE_WRONG;
        int out = mkstemp(file);
        assert_true(out >= 0);
        close(out);
        assert_int_equal(gate_case_save(file, &found, &plain), 0);
        assert_int_equal(gate_case_load(file, "replay", &cases), 1);
        assert_int_equal(cases[0].recipe.bits, bits);
        gate_recipe_print(&cases[0].recipe, line);
        assert_int_equal(strstr(line, "a mask of") != NULL, bits != GATE_NO_BITS);
        free(cases);
        remove(file);
    }
}

/* GATE-2: bits take no step away, and a kernel may cut where they begin. */
static void bits_are_one_step_more(void **state) {
    const struct cp_kernel kernel = kernel_of(CP_MASKS_BITS), causal = kernel_of(0);
    int masked = 0;
    (void)state;
    for (int index = 0; index < CASES; index++) {
        struct made m, same;
        make(&m, index, &kernel);
        make(&same, index, &causal);
        for (int row = 0; row < m.p.n_rows; row++) {
            int steps = gate_steps_of_row(&causal, &same.p, row);
            int more = steps > 0 && m.call->mask_bits != NULL;
            assert_int_equal(gate_steps_of_row(&kernel, &m.p, row), steps + more);
            masked += more;
        }
        done(&m);
        done(&same);
    }
    assert_true(masked > 100);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_see_what_the_clause_says),
        cmocka_unit_test(masks_are_of_each_kind),
        cmocka_unit_test(no_row_is_empty_where_none_may_be),
        cmocka_unit_test(masks_follow_when_sequences_grow),
        cmocka_unit_test(parts_have_the_bits_of_their_rows),
        cmocka_unit_test(calls_that_run_again_have_other_bits),
        cmocka_unit_test(a_case_file_keeps_the_mask),
        cmocka_unit_test(bits_are_one_step_more),
    };
    return cmocka_run_group_tests_name("gate masks", tests, NULL, NULL);
}
