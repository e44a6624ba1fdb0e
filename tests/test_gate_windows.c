/* SPDX-License-Identifier: Apache-2.0 */
/* WINDOW-1, WINDOW-2, CONV-6: which keys a row sees in the gate's cases with windows, what a call
 * says of them, and the results that rows are judged by. Everything is found again by the words of
 * the clauses, from the arrays of the call. */
#define _POSIX_C_SOURCE 200809L /* mkstemp */

#include <math.h>
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
#include "gate/judge/class.h"
#include "gate/judge/judge.h"
#include "gate/search/case_file.h"
#include "tests/plain_kernel.h"

#define CASES 300
#define WORK  20000
#define ALL   (CP_MASKS_WINDOW | CP_MASKS_AHEAD | CP_MASKS_KEPT)

static struct gate_recipe recipe_of(long long index, int masks) {
    struct gate_recipe recipe;
    gate_recipe_make(&recipe, 23, index, 0, WORK, NULL);
    if (index % 2 == 1) {
        gate_recipe_to_modules(&recipe, NULL);
    }
    gate_recipe_mask(&recipe, masks, NULL);
    return recipe;
}

static struct cp_kernel kernel_of(int masks, int counts) {
    struct cp_kernel kernel = plain;
    kernel.plans = CP_PLANS_LISTS;
    kernel.masks = masks;
    kernel.conventions.window = counts;
    return kernel;
}

struct made {
    struct gate_problem p;
    struct gate_arrays a;
    const struct cp_kernel_call *call;
};

static void make(struct made *m, const struct gate_recipe *recipe, const struct cp_kernel *kernel) {
    assert_int_equal(gate_problem_new(&m->p, recipe, kernel), 0);
    gate_values_fill(&m->p);
    assert_int_equal(gate_arrays_new(&m->a, &m->p), 0);
    m->call = &m->a.run.call;
}

static void done(struct made *m) {
    gate_arrays_free(&m->a);
    gate_problem_free(&m->p);
}

/* WINDOW-1, from the call of a kernel whose windows are of keys. */
static int is_seen(const struct cp_kernel_call *call, int p, int t) {
    return t <= p + call->ahead && (call->window == 0 || t > p - call->window || t < call->kept);
}

/* ---- Which keys ---- */

enum { HIDING, KEPT, KEPT_IN_WINDOW, AHEAD, TWO_RANGES, UNSEEN_RUN, NONE_SEEN, COUNTS };

/* Of run k: the slots of gate_seen_in() are those of the clause. */
static int check_run(const struct made *m, int row, int k, int *count) {
    const struct cp_kernel_call *call = m->call;
    int at = gate_sequence_of(&m->p, row) * call->table_width + k, p = call->position[row], n = 0;
    struct gate_seen seen = gate_seen_in(&m->p, row, k);
    for (int slot = 0; slot < call->table_tokens[at]; slot++) {
        int is = is_seen(call, p, call->table_position[at] + slot);
        assert_int_equal(slot < seen.hidden || (slot >= seen.shown && slot < seen.end), is);
        n += is;
    }
    assert_int_equal(gate_visible_in(&m->p, row, k), n);
    count[TWO_RANGES] += 0 < seen.hidden && seen.hidden < seen.shown && seen.shown < seen.end;
    count[UNSEEN_RUN] += n == 0 && call->table_position[at] <= p;
    return n;
}

static void check_row(const struct made *m, int row, int *count) {
    const struct gate_problem *p = &m->p;
    int s = gate_sequence_of(p, row), n = 0, of_runs = 0, stands = p->position[row];
    struct gate_seen seen = gate_seen(p, row);
    for (int j = 0; j < p->n_tokens[s]; j++) {
        int t = gate_position_of(p, s, j), is = is_seen(m->call, stands, t);
        if (is) {
            assert_int_equal(gate_seen_key(&seen, n), j);
        }
        n += is;
        count[HIDING] += !is && t <= stands;
        count[KEPT] += is && t < stands + 1 - m->call->window && t < m->call->kept;
        count[KEPT_IN_WINDOW] += t < m->call->kept && t > stands - m->call->window && is;
        count[AHEAD] += is && t > stands;
    }
    assert_int_equal(gate_visible(p, row), n);
    for (int k = 0; k < gate_runs(p, s); k++) {
        of_runs += check_run(m, row, k, count);
    }
    assert_int_equal(of_runs, n);
    count[NONE_SEEN] += n == 0 && stands >= 0 && p->n_tokens[s] > 0;
}

static void rows_see_what_the_clause_says(void **state) {
    struct cp_kernel kernel = kernel_of(ALL, CP_WINDOW_OF_KEYS);
    int count[COUNTS] = {0};
    (void)state;
    for (int i = 0; i < CASES; i++) {
        struct gate_recipe recipe = recipe_of(i, ALL);
        struct made m;
        make(&m, &recipe, &kernel);
        for (int row = 0; row < m.p.n_rows; row++) {
            check_row(&m, row, count);
        }
        done(&m);
    }
    for (int i = 0; i < COUNTS; i++) {
        assert_true(count[i] > CASES / 10);
    }
}

/* ---- What a call says ---- */

/* CONV-6: only what the kernel takes, and the window as it counts. */
static void calls_have_what_is_declared(void **state) {
    (void)state;
    for (int masks = 0; masks <= ALL; masks++) {
        int windows = 0, ahead = 0, kept = 0, none = 0;
        for (int i = 0; i < CASES && masks != 4 && masks != 6; i++) {
            struct gate_recipe recipe = recipe_of(i, masks);
            int counts = i % 3 == 0 ? CP_WINDOW_BEFORE : CP_WINDOW_OF_KEYS;
            struct cp_kernel kernel = kernel_of(masks, counts);
            struct gate_problem p;
            struct cp_kernel_call call;
            assert_int_equal(gate_problem_new(&p, &recipe, &kernel), 0);
            gate_call_sizes(&call, &p);
            gate_problem_free(&p);
            assert_int_equal(call.window, recipe.window - counts);
            assert_int_equal(call.ahead, recipe.ahead);
            assert_int_equal(call.kept, recipe.kept);
            windows += recipe.window > 0;
            ahead += recipe.ahead > 0;
            kept += recipe.kept > 0;
            none += recipe.window + recipe.ahead + recipe.kept == 0;
            assert_true(recipe.kept == 0 || recipe.window > 0);
        }
        if (masks != 4 && masks != 6) {
            assert_int_equal(windows > CASES / 2, (masks & CP_MASKS_WINDOW) != 0);
            assert_int_equal(ahead > CASES / 3, (masks & CP_MASKS_AHEAD) != 0);
            assert_int_equal(kept > CASES / 3, (masks & CP_MASKS_KEPT) != 0);
            assert_true(none > 0);
        }
    }
}

/* A recipe for others has windows; a kernel that takes none gets none. */
static void kernels_without_masks_get_none(void **state) {
    struct cp_kernel kernel = kernel_of(0, CP_WINDOW_OF_KEYS);
    (void)state;
    for (int i = 0; i < CASES; i++) {
        struct gate_recipe recipe = recipe_of(i, ALL);
        struct made m;
        make(&m, &recipe, &kernel);
        assert_int_equal(m.call->window | m.call->ahead | m.call->kept, 0);
        done(&m);
    }
}

/* CONV-3: where a window would hide all keys of a row, there is none. */
static void no_row_is_empty_where_none_may_be(void **state) {
    struct cp_kernel kernel = kernel_of(ALL, CP_WINDOW_OF_KEYS);
    int windows = 0;
    (void)state;
    kernel.conventions.never = CP_NEVER_EMPTY_ROWS;
    for (int i = 0; i < CASES; i++) {
        struct gate_recipe recipe = recipe_of(i, ALL);
        struct gate_problem p;
        assert_int_equal(gate_problem_new(&p, &recipe, &kernel), 0);
        assert_int_equal(gate_problem_has(&p) & CP_NEVER_EMPTY_ROWS, 0);
        (void)gate_problem_grow(&p);
        assert_int_equal(gate_problem_has(&p) & CP_NEVER_EMPTY_ROWS, 0);
        windows += p.mask.window > 0;
        gate_problem_free(&p);
    }
    assert_true(windows > CASES / 3);
}

/* ---- Results ---- */

/* Attention of the keys that are seen, to `out` and its log-sum-exp behind. */
static void attend(const struct made *m, int row, int head, double *out) {
    const struct gate_problem *p = &m->p;
    int d = p->recipe.head_dim, s = gate_sequence_of(p, row);
    int g = head / (p->recipe.n_heads / p->recipe.n_kv_heads);
    const double *q = p->q + ((ptrdiff_t)row * p->recipe.n_heads + head) * d;
    double top = -INFINITY, n = 0.0;
    for (int pass = 0; pass < 2; pass++) {
        memset(out, 0, (pass == 0 ? 0 : (size_t)d) * sizeof *out);
        for (int j = 0; j < p->n_tokens[s]; j++) {
            const double *k = gate_key(p, s, j, g), *v = gate_value(p, s, j, g);
            double score = 0.0;
            for (int i = 0; i < d; i++) {
                score += p->scale * q[i] * k[i];
            }
            if (!is_seen(m->call, p->position[row], gate_position_of(p, s, j))) {
                continue;
            }
            top = pass == 0 ? fmax(top, score) : top;
            for (int i = 0; i < d && pass == 1; i++) {
                out[i] += exp(score - top) * v[i];
            }
            n += pass == 1 ? exp(score - top) : 0.0;
        }
    }
    for (int i = 0; i < d; i++) {
        out[i] = n > 0.0 ? out[i] / n : 0.0;
    }
    out[d] = n > 0.0 ? top + log(n) : -INFINITY;
}

static void compare_row(const struct made *m, const struct cp_kernel *kernel,
                        struct gate_scratch *scratch, int row, int head) {
    double right[512], expected[512], bound[512];
    struct gate_numbers numbers = {.expected = expected, .bound = bound};
    int d = m->p.recipe.head_dim;
    attend(m, row, head, right);
    gate_certify_row(scratch, kernel, row, head, &numbers);
    for (int i = 0; i <= d; i++) {
        double size = 1e-9 * (1.0 + fabs(right[i]));
        assert_true(isinf(bound[i]) || expected[i] == right[i] ||
                    fabs(expected[i] - right[i]) <= size);
    }
}

static void rows_are_judged_by_the_keys_they_see(void **state) {
    struct cp_kernel kernel = kernel_of(ALL, CP_WINDOW_OF_KEYS);
    (void)state;
    for (int i = 0; i < 60; i++) {
        struct gate_recipe recipe = recipe_of(i, ALL);
        struct made m;
        recipe.values = i % 3 == 0 ? GATE_SELECT : i % 3 == 1 ? GATE_COUNT : GATE_NORMAL;
        make(&m, &recipe, &kernel);
        struct gate_scratch *scratch = gate_scratch_new(&m.p);
        assert_non_null(scratch);
        for (int row = 0; row < m.p.n_rows; row++) {
            compare_row(&m, &kernel, scratch, row, row % recipe.n_heads);
        }
        gate_scratch_free(scratch);
        done(&m);
    }
}

/* GATE-2: in tiles from slot 0 of a run on, those with a key that is seen; and kept keys and the
 * window may be in tiles of their own. */
static void steps_have_a_key_that_is_seen(void **state) {
    struct cp_kernel kernel = kernel_of(ALL, CP_WINDOW_OF_KEYS);
    int fewer = 0;
    (void)state;
    for (int i = 0; i < CASES; i++) {
        struct gate_recipe recipe = recipe_of(i, ALL);
        struct gate_problem p;
        kernel.arithmetic.step = 1 + i % 7;
        assert_int_equal(gate_problem_new(&p, &recipe, &kernel), 0);
        for (int row = 0; row < p.n_rows; row++) {
            int steps = 0, s = gate_sequence_of(&p, row), c = recipe.chunk_size;
            int step = kernel.arithmetic.step < c ? kernel.arithmetic.step : c;
            for (int k = 0; k < gate_runs(&p, s); k++) {
                struct gate_seen seen = gate_seen_in(&p, row, k);
                for (int tile = 0; tile * step < c; tile++) {
                    int begin = tile * step, end = begin + step;
                    steps += begin < seen.hidden;
                    steps += (begin > seen.shown ? begin : seen.shown) <
                             (end < seen.end ? end : seen.end);
                }
            }
            int of_all = gate_steps_of_row(&kernel, &p, row);
            int cuts = (p.mask.window > 0) + (p.mask.bit != NULL);
            assert_true(p.mask.window == 0 ? of_all >= steps
                                           : of_all == (steps > 0 ? steps + cuts : 0));
            fewer += steps < gate_steps(&kernel, c, p.n_tokens[s]);
        }
        gate_problem_free(&p);
    }
    assert_true(fewer > CASES);
}

/* In how many partitions of so many keys, from the first of the sequence on, a row sees one. Kept
 * keys and the window may be in partitions of their own. */
static int partitions(const struct gate_problem *p, int row, int keys) {
    int n = 0, of_kept = -1, of_window = -1, key = 0, s = gate_sequence_of(p, row);
    for (int k = 0; k < gate_runs(p, s); k++) {
        struct gate_seen seen = gate_seen_in(p, row, k);
        for (int slot = 0; slot < p->table_tokens[s * p->table_width + k]; slot++, key++) {
            int at = key / keys;
            if (slot < seen.hidden && at != of_kept) {
                of_kept = at;
                n++;
            }
            if (slot >= seen.shown && slot < seen.end && at != of_window) {
                of_window = at;
                n++;
            }
        }
    }
    return n;
}

/* GATE-2: with part_keys. */
static void parts_are_as_many_as_partitions(void **state) {
    struct cp_kernel kernel = kernel_of(ALL, CP_WINDOW_OF_KEYS);
    int equal = 0, fewer = 0;
    (void)state;
    for (int i = 0; i < CASES; i++) {
        struct gate_recipe recipe = recipe_of(i, ALL);
        struct gate_problem p;
        kernel.arithmetic.part_keys = 1 + i % 40;
        assert_int_equal(gate_problem_new(&p, &recipe, &kernel), 0);
        for (int row = 0; row < p.n_rows; row++) {
            int of_row = partitions(&p, row, kernel.arithmetic.part_keys);
            int parts = gate_parts_of_row(&kernel, &p, row, 1 << 20);
            assert_true(parts >= of_row && parts <= of_row + 4);
            assert_int_equal(gate_parts_of_row(&kernel, &p, row, 1), 1);
            equal += of_row > 2 && parts <= of_row + 1;
            fewer += of_row > 2 && parts == of_row + 4;
        }
        gate_problem_free(&p);
    }
    assert_true(equal > 0 && fewer < equal);
}

/* ---- Files of cases ---- */

static void files_keep_windows(void **state) {
    (void)state;
    for (int i = 0; i < 30; i++) {
        char file[] = "/tmp/chunkproof-windows-XXXXXX";
        struct gate_found found;
        struct gate_case *cases;
        memset(&found, 0, sizeof found);
        found.recipe = recipe_of(i, ALL);
        int out = mkstemp(file);
        assert_true(out >= 0);
        close(out);
        assert_int_equal(gate_case_save(file, &found, &plain), 0);
        assert_int_equal(gate_case_load(file, "replay", &cases), 1);
        assert_int_equal(cases[0].recipe.window, found.recipe.window);
        assert_int_equal(cases[0].recipe.ahead, found.recipe.ahead);
        assert_int_equal(cases[0].recipe.kept, found.recipe.kept);
        free(cases);
        remove(file);
    }
}

static void recipes_say_their_windows(void **state) {
    char line[GATE_LINE];
    struct gate_recipe recipe = recipe_of(2, 0);
    (void)state;
    gate_recipe_print(&recipe, line);
    assert_null(strstr(line, "window"));
    recipe.window = 5;
    recipe.ahead = 2;
    recipe.kept = 1;
    gate_recipe_print(&recipe, line);
    assert_non_null(strstr(line, ", a window of 5, 2 ahead, 1 kept"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_see_what_the_clause_says),
        cmocka_unit_test(calls_have_what_is_declared),
        cmocka_unit_test(kernels_without_masks_get_none),
        cmocka_unit_test(no_row_is_empty_where_none_may_be),
        cmocka_unit_test(rows_are_judged_by_the_keys_they_see),
        cmocka_unit_test(steps_have_a_key_that_is_seen),
        cmocka_unit_test(parts_are_as_many_as_partitions),
        cmocka_unit_test(files_keep_windows),
        cmocka_unit_test(recipes_say_their_windows),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
