/* SPDX-License-Identifier: Apache-2.0 */
/* MERGING-9 to MERGING-11: what the gate asks of kernels that merge, and what it says of their
 * results. Here results come from the reference, or from emulated kernels of each way, and are then
 * made wrong. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "chunkproof/number.h"
#include "gate/case/values.h"
#include "gate/judge/judge.h"
#include "gate/merge/values.h"
#include "merging_kernels.h"
#include "tests/merge_made.h"

/* ---- What a case is ---- */

/* A kernel of the i-th declaration. */
static struct cp_merge_kernel kernel_of(int i) {
    struct cp_merge_kernel k = plain;
    const int types[] = {CP_FP32, CP_FP16, CP_BF16, CP_FP64};
    k.o_type = types[i % 4];
    k.arithmetic.out_type = types[i / 4 % 4];
    k.base = i / 2 % 2;
    k.lse = i % 3;
    k.in_place = i % 5 == 4;
    k.lse = k.in_place ? CP_LSE_ALWAYS : k.lse;
    k.parts = i % 3 == 1 && !k.in_place ? CP_PARTS_BY_ROW : CP_PARTS_EQUAL;
    k.least_parts = i % 4;
    k.most_parts = i % 7 == 0 ? 0 : 3 + i % 20;
    k.layout =
        (struct cp_merge_layout){i % 3, i % 4, i / 3 % 3, i % 2 == 0 ? CP_GAPS_ANY : CP_GAPS_NONE};
    k.form = i % 5 == 3 ? 1 + i / 5 % 2 : CP_FORM_LSE;
    k.never = (i % 6 == 1 ? CP_NEVER_EMPTY_PARTS : 0) | (i % 6 == 2 ? CP_NEVER_EMPTY_ROWS : 0);
    k.empty_o = i % 2;
    k.empty_l = i / 2 % 3;
    k.empty_l =
        k.empty_l == CP_EMPTY_L_EITHER && k.form != CP_FORM_LSE ? CP_EMPTY_L_ANY : k.empty_l;
    k.empty_l_value = k.empty_l == CP_EMPTY_L_VALUE ? i % 8 < 4 ? -1e4 : -0x1p100 : 0.0;
    return k;
}

static void merging_10_a_case_comes_from_its_seed_and_number(void **state) {
    struct merge_recipe one, again, other;
    (void)state;
    merge_recipe_make(&one, &plain, 1, 7, 0, 0, WORK);
    merge_recipe_make(&again, &plain, 1, 7, 0, 0, WORK);
    merge_recipe_make(&other, &plain, 2, 7, 0, 0, WORK);
    assert_memory_equal(&one, &again, sizeof one);
    assert_true(one.seed != other.seed);
}

static void merging_9_cases_keep_to_what_a_kernel_declares(void **state) {
    int sums = 0;
    (void)state;
    for (int i = 0; i < 84; i++) {
        struct cp_merge_kernel k = kernel_of(i);
        struct made m;
        make(&m, &k, i);
        const struct cp_merge_call *c = &m.a.call;
        int least = k.least_parts > 1 ? k.least_parts : k.in_place ? 2 : 1, longest = 0;
        assert_true(c->n_parts >= least && (k.most_parts == 0 || c->n_parts <= k.most_parts));
        assert_true((long long)c->n_rows * c->n_heads * c->n_parts * c->head_dim <= WORK ||
                    (c->n_rows == 1 && c->n_heads == 1));
        assert_int_equal(c->lse != NULL, m.recipe.asks_lse);
        assert_true(k.lse == CP_LSE_ASKED || m.recipe.asks_lse == (k.lse == CP_LSE_ALWAYS));
        assert_int_equal(c->part_begin != NULL, k.parts == CP_PARTS_BY_ROW);
        for (int row = 0; row < c->n_rows; row++) {
            int n = merge_parts_of(&m.p, row);
            longest = n > longest ? n : longest;
            assert_true(n == 0 || (n >= least && n <= c->n_parts));
            assert_true(k.parts == CP_PARTS_BY_ROW || n == c->n_parts);
            for (int head = 0; head < c->n_heads; head++) {
                int has_keys = merge_has_keys(&m.p, row, head);
                assert_true(has_keys || k.never == 0 || n == 0);
                assert_true(n > 0 || (k.never & CP_NEVER_EMPTY_ROWS) == 0);
                for (int part = 0; part < n; part++) {
                    double l = merge_m_of(&m.p, row, part, head);
                    double n_is = merge_n_of(&m.p, row, part, head);
                    const double *o = merge_o_of(&m.p, row, part, head);
                    assert_true(l == -INFINITY ? n_is == 0.0
                                               : n_is >= 1.0 && n_is <= CP_MERGE_MOST_SUM &&
                                                     (k.form != CP_FORM_LSE || n_is == 1.0) &&
                                                     gate_round(k.l_type, n_is) == n_is);
                    sums += n_is > 1.0;
                    assert_true(k.empty_l != CP_EMPTY_L_VALUE || !isfinite(l) ||
                                l > k.empty_l_value);
                    assert_true(isfinite(l) ||
                                (l == -INFINITY && (k.never & CP_NEVER_EMPTY_PARTS) == 0));
                    for (int e = 0; e < c->head_dim; e++) {
                        assert_true(isnan(o[e]) || k.form == CP_FORM_UNDIVIDED ||
                                    gate_round(merge_o_type(&k, part), o[e]) == o[e]);
                        assert_true(isfinite(o[e]) ||
                                    (l == -INFINITY && k.empty_o == CP_EMPTY_O_ANY));
                    }
                }
            }
        }
        assert_int_equal(longest, c->n_parts);
        done(&m);
    }
    assert_true(sums > 100);
}

/* By the formulas of merge_kernel.h. */
static void merging_11_the_usual_test_keeps_to_what_a_kernel_declares(void **state) {
    (void)state;
    for (int i = 0; i < 84; i++) {
        struct cp_merge_kernel k = kernel_of(i);
        for (int usual = 0; usual < MERGE_USUAL; usual++) {
            struct merge_recipe r;
            merge_usual_recipe(&r, &k, usual);
            assert_null(merge_recipe_excluded(&r, &k));
            assert_true(r.values == MERGE_NORMAL && !r.empties && !r.gaps && !r.renewed);
        }
    }
}

static void merging_9_arrays_have_each_number_at_its_place(void **state) {
    int plus = 0, any = 0;
    (void)state;
    for (int i = 0; i < 84; i++) {
        struct cp_merge_kernel k = kernel_of(i);
        struct made m;
        make(&m, &k, i);
        const struct cp_merge_call *c = &m.a.call;
        for (int row = 0; row < c->n_rows; row++) {
            for (int part = 0; part < merge_parts_of(&m.p, row); part++) {
                for (int head = 0; head < c->n_heads; head++) {
                    int begin = c->part_begin != NULL ? c->part_begin[row] : 0;
                    int here = k.in_place && part == 0, at = part - k.in_place;
                    const void *o = here ? c->out : c->o, *l = here ? c->lse : c->l;
                    long long of_o =
                        here ? row * c->out_row + head * c->out_head
                             : (begin + at) * c->o_part + row * c->o_row + head * c->o_head;
                    long long of_l =
                        here ? row * c->lse_row + head * c->lse_head
                             : (begin + at) * c->l_part + row * c->l_row + head * c->l_head;
                    const double *wanted = merge_o_of(&m.p, row, part, head);
                    double n = merge_n_of(&m.p, row, part, head);
                    for (int e = 0; e < c->head_dim; e++) {
                        double x = cp_number_load(o, here ? k.arithmetic.out_type : k.o_type,
                                                  (size_t)(of_o + e));
                        double times = k.form == CP_FORM_UNDIVIDED && n > 0.0 ? n : 1.0;
                        assert_true(x == times * wanted[e] || (isnan(x) && isnan(wanted[e])) ||
                                    (times > 1.0 && x == gate_round(k.o_type, times * wanted[e])));
                    }
                    assert_true(c->n == NULL ? n <= 1.0
                                             : cp_number_load(c->n, CP_FP32, (size_t)of_l) == n);
                    assert_int_equal(c->n != NULL, k.form != CP_FORM_LSE);
                    double x = cp_number_load(l, CP_FP32, (size_t)of_l);
                    double l_is = merge_m_of(&m.p, row, part, head);
                    plus += x == INFINITY;
                    any += k.empty_l == CP_EMPTY_L_ANY && l_is == -INFINITY && x != l_is;
                    assert_true(l_is != -INFINITY               ? x == l_is
                                : k.empty_l == CP_EMPTY_L_ANY   ? n == 0.0
                                : k.empty_l == CP_EMPTY_L_VALUE ? x == (float)k.empty_l_value
                                : x == INFINITY                 ? k.empty_l == CP_EMPTY_L_EITHER
                                                                : x == l_is);
                }
            }
        }
        assert_true(k.layout.gaps == CP_GAPS_ANY || c->out_head == c->head_dim);
        assert_true(k.layout.lse != CP_LSE_ORDER_HEAD || m.recipe.gaps || c->lse_row == 1);
        /* Strides of parts taken for those of results are others where there are gaps. */
        assert_true(m.recipe.gaps == (c->o_head != c->out_head));
        assert_int_equal(c->all_parts, m.p.begin[c->n_rows]);
        done(&m);
    }
    assert_true(plus > 20 && any > 20);
}

/* Over all cases: parts and rows without keys, what is in their outputs, and orders. */
static void merging_10_cases_have_what_makes_mistakes_show(void **state) {
    int parts = 0, rows = 0, nans = 0, infinities = 0, large = 0, far = 0, orders[3] = {0};
    int sentinels = 0, apart = 0;
    (void)state;
    for (int i = 0; i < 4 * CASES; i++) {
        struct made m;
        make(&m, &plain, i);
        orders[m.recipe.o]++;
        for (int x = 0; x < m.p.begin[m.recipe.n_rows] * m.recipe.n_heads; x++) {
            double first = m.p.o[(ptrdiff_t)x * m.recipe.head_dim];
            int empty = m.p.l[x] == -INFINITY;
            parts += empty;
            nans += empty && isnan(first);
            infinities += empty && isinf(first);
            large += empty && fabs(first) >= 0x1p127 && isfinite(first);
            far += !empty && fabs(m.p.l[x]) > 1000.0;
            sentinels += !empty && m.p.l[x] < -65504.0;
            apart += m.recipe.values == MERGE_APART && x > 0 && isfinite(m.p.l[x - 1]) &&
                     fabs(m.p.l[x] - m.p.l[x - 1]) > 1000.0 && !empty;
        }
        for (int row = 0; row < m.recipe.n_rows; row++) {
            rows += !merge_has_keys(&m.p, row, 0);
        }
        done(&m);
    }
    assert_true(parts > 500 && rows > 50 && nans > 50 && infinities > 50 && large > 50);
    assert_true(sentinels > 20 && apart > 100 && far > 100 && orders[CP_O_ORDER_PART_ROW] > 100 &&
                orders[CP_O_ORDER_ROW_PART] > 100);
}

/* ---- Results ---- */

static void merging_11_right_results_are_right(void **state) {
    (void)state;
    for (int i = 0; i < 84; i++) {
        struct cp_merge_kernel k = kernel_of(i);
        struct merge_finding f;
        struct made m;
        k.empty_out = i % 4 == 2 ? 0 : i % 4;
        k.empty_lse = i % 3;
        k.empty_value = k.empty_lse == CP_EMPTY_VALUE ? -50000.0 : 0.0;
        make(&m, &k, i);
        answer(&m.a);
        assert_int_equal(merge_judge(&m.a, &f), 0);
        if (f.verdict != GATE_RIGHT) {
            fail_msg("case %d: %s", i, f.of.text);
        }
        assert_true(f.of.compared > 0 || k.empty_out == CP_EMPTY_UNSPECIFIED);
        done(&m);
    }
}

/* One number more than its bound away from what is expected, or next to it. */
static void merging_11_each_wrong_number_is_found(void **state) {
    int tried = 0;
    (void)state;
    for (int i = 0; i < CASES; i++) {
        struct made m;
        make(&m, &plain, i);
        answer(&m.a);
        int row = i % m.recipe.n_rows, head = i % m.recipe.n_heads, d = m.recipe.head_dim;
        int element = m.recipe.asks_lse && i % 3 == 0 ? -1 : i % d;
        double *memory = calloc(2 * ((size_t)d + 1), sizeof *memory);
        struct merge_expected to = {memory, memory + d + 1};
        assert_non_null(memory);
        int has_keys = merge_certify(&m.p, row, head, &to);
        double x = to.expected[element < 0 ? d : element];
        double bound = to.bound[element < 0 ? d : element];
        struct merge_finding f;
        assert_true(isfinite(bound));
        put(&m.a, row, head, element,
            x + 1.01 * bound + 2e-7 * fabs(x) + 0x1p-140 + (has_keys ? 0.0 : 0.5));
        if (has_keys || element >= 0) {
            assert_int_equal(merge_judge(&m.a, &f), 0);
            assert_int_equal(f.verdict, GATE_WRONG);
            assert_string_equal(f.of.clause, !has_keys     ? "MERGING-9"
                                             : element < 0 ? "MERGING-7"
                                                           : "MERGING-6");
            assert_true(f.of.row == row && f.of.head == head && f.of.element == element);
            assert_int_equal(f.of.wrong, 1);
            assert_true(f.of.largest > 1.0);
            tried++;
        }
        put(&m.a, row, head, element, NAN);
        assert_int_equal(merge_judge(&m.a, &f), 0);
        assert_int_equal(f.verdict, GATE_NOT_A_NUMBER);
        free(memory);
        done(&m);
    }
    assert_true(tried > CASES / 2);
}

/* A row without keys gives exactly what is declared. */
static void merging_9_rows_without_keys_are_exact(void **state) {
    static const double outs[] = {0.0, NAN, 0.0, 7.0}, lses[] = {-INFINITY, NAN, -50000.0, 7.0};
    (void)state;
    for (int declared = 0; declared < 16; declared++) {
        struct cp_merge_kernel k = plain;
        struct merge_finding f;
        struct made m;
        k.empty_out = declared % 4 == CP_EMPTY_VALUE ? 0 : declared % 4;
        k.empty_lse = declared / 4;
        k.empty_value = k.empty_lse == CP_EMPTY_VALUE ? -50000.0 : 0.0;
        k.lse = CP_LSE_ALWAYS;
        make(&m, &k, MERGE_EMPTY);
        for (int x = 0; x < m.p.begin[m.recipe.n_rows] * m.recipe.n_heads; x++) {
            m.p.l[x] = -INFINITY;
        }
        answer(&m.a);
        for (int e = 0; e < m.recipe.head_dim; e++) {
            put(&m.a, 0, 0, e, outs[k.empty_out]);
        }
        put(&m.a, 0, 0, -1, lses[k.empty_lse]);
        merge_arrays_blank(&m.a);
        assert_int_equal(merge_judge(&m.a, &f), 0);
        assert_int_equal(f.verdict, GATE_RIGHT);
        put(&m.a, 0, 0, 0, 0x1p-149);
        put(&m.a, 0, 0, -1, -1e30);
        assert_int_equal(merge_judge(&m.a, &f), 0);
        assert_int_equal(f.of.wrong, (k.empty_out != CP_EMPTY_UNSPECIFIED) +
                                         (k.empty_lse != CP_EMPTY_UNSPECIFIED));
        done(&m);
    }
}

/* What is in outputs without keys counts for nothing: the answer is that of zeros. */
static void merging_1_garbage_counts_for_nothing(void **state) {
    (void)state;
    for (int i = MERGE_EMPTY; i < CASES; i += MERGE_VALUES) {
        struct merge_finding f;
        struct made m;
        make(&m, &plain, i);
        answer(&m.a);
        for (int x = 0; x < m.p.begin[m.recipe.n_rows] * m.recipe.n_heads; x++) {
            for (int e = 0; e < m.recipe.head_dim && m.p.l[x] == -INFINITY; e++) {
                m.p.o[(ptrdiff_t)x * m.recipe.head_dim + e] = 0.0;
            }
        }
        assert_int_equal(merge_judge(&m.a, &f), 0);
        assert_int_equal(f.verdict, GATE_RIGHT);
        done(&m);
    }
}

/* ---- Kernels of each way, emulated: none is called wrong ---- */

static void emulate(struct merge_arrays *a, const struct merging_kernel *emulated,
                    unsigned long long *random) {
    const struct merge_problem *p = a->problem;
    double o[MERGING_MOST_PARTS * MERGING_MOST_DIM], l[MERGING_MOST_PARTS], out[MERGING_MOST_DIM];
    double stored[MERGING_MOST_PARTS * MERGING_MOST_DIM], m[MERGING_MOST_PARTS],
        sums[MERGING_MOST_PARTS];
    struct merging_kernel kernel = *emulated;
    int form = p->kernel->form;
    int d = p->recipe.head_dim;
    for (int row = 0; row < p->recipe.n_rows; row++) {
        for (int head = 0; head < p->recipe.n_heads; head++) {
            int n = merge_parts_of(p, row);
            double lse;
            for (int i = 0; i < n; i++) {
                l[i] = merge_l_of(p, row, i, head);
                m[i] = merge_m_of(p, row, i, head);
                sums[i] = merge_n_of(p, row, i, head);
                for (int e = 0; e < d; e++) {
                    o[i * d + e] = l[i] == -INFINITY ? 0.0 : merge_o_of(p, row, i, head)[e];
                    stored[i * d + e] =
                        gate_round(p->kernel->o_type,
                                   (form == CP_FORM_UNDIVIDED ? sums[i] : 1.0) * o[i * d + e]);
                }
            }
            struct cp_merging_sums given = {n, d,    p->kernel->base, form == CP_FORM_SUMS,
                                            m, sums, stored};
            kernel.given = form != CP_FORM_LSE ? &given : NULL;
            struct cp_merging_row of = {
                .n_parts = n, .head_dim = d, .base = p->kernel->base, .o = o, .lse = l};
            merging_emulate(&kernel, &of, random, out, &lse);
            for (int e = 0; e < d; e++) {
                put(a, row, head, e, out[e]);
            }
            if (p->recipe.asks_lse) {
                put(a, row, head, -1, lse);
            }
        }
    }
}

static void merging_11_no_right_kernel_is_called_wrong(void **state) {
    unsigned long long random = 1;
    long long unclaimed = 0, compared = 0;
    (void)state;
    for (int i = 0; i < 48 * MERGE_VALUES; i++) {
        const int types[] = {CP_FP32, CP_FP16, CP_BF16};
        struct cp_merge_kernel k = plain;
        struct merge_finding f;
        struct made m;
        int round = i / MERGE_VALUES;
        k.arithmetic.way = round % 4;
        k.arithmetic.converts = round / 4 % 3;
        k.arithmetic.out_type = round % 2 == 0 ? CP_FP32 : CP_BF16;
        k.arithmetic.values = types[round / 16];
        k.arithmetic.weights = k.arithmetic.partials = types[round / 3 % 3];
        k.arithmetic.truncates = round / 5 % 2;
        k.arithmetic.flushes = round / 7 % 2;
        k.arithmetic.above = round % 4 == CP_MERGING_PAIRWISE ? 0.0 : round % 3;
        k.base = round / 2 % 2;
        k.form = k.arithmetic.way <= CP_MERGING_STATES ? i % 3 : CP_FORM_LSE;
        k.most_parts = MERGING_MOST_PARTS;
        make_of(&m, &k, i, 1 + i % MERGING_MOST_DIM);
        struct merging_kernel kernel = {k.arithmetic, i % 2, i / 2 % 2, i / 4 % 2, i / 8 % 2, NULL};
        emulate(&m.a, &kernel, &random);
        assert_int_equal(merge_judge(&m.a, &f), 0);
        if (f.verdict != GATE_RIGHT) {
            fail_msg("case %d: %s", i, f.of.text);
        }
        unclaimed += f.of.unclaimed;
        compared += f.of.compared;
        done(&m);
    }
    assert_true(!gate_claims_few(compared + unclaimed, unclaimed));
}

/* ---- Writes ---- */

static void merging_11_writes_are_found(void **state) {
    (void)state;
    for (int i = 0; i < CASES; i++) {
        struct made m, other;
        struct merge_finding f;
        make(&m, &plain, i);
        make(&other, &plain, i);
        merge_arrays_fill(&other.a, merge_poison[1]);
        answer(&m.a);
        answer(&other.a);
        assert_int_equal(merge_judge_writes(&m.a, &other.a, merge_poison, &f), 0);
        assert_int_equal(f.verdict, GATE_RIGHT);
        int row = i % m.recipe.n_rows, head = i % m.recipe.n_heads, e = i % m.recipe.head_dim;
        size_t at = (size_t)merge_result_at(&m.a, row, head, e) * sizeof(float);
        size_t behind = at + (size_t)(m.recipe.head_dim - e) * sizeof(float);
        other.a.memory[RUN_OUT][at] ^= 1;
        assert_int_equal(merge_judge_writes(&m.a, &other.a, merge_poison, &f), 0);
        assert_int_equal(f.verdict, GATE_OTHER_BITS);
        assert_true(f.of.row == row && f.of.head == head && f.of.element == e);
        memset(m.a.memory[RUN_OUT] + at, merge_poison[0], sizeof(float));
        memset(other.a.memory[RUN_OUT] + at, merge_poison[1], sizeof(float));
        assert_int_equal(merge_judge_writes(&m.a, &other.a, merge_poison, &f), 0);
        assert_int_equal(f.verdict, GATE_UNWRITTEN);
        assert_true(f.of.row == row && f.of.head == head && f.of.element == e);
        if (m.recipe.gaps) {
            answer(&m.a);
            answer(&other.a);
            m.a.memory[RUN_OUT][behind] = other.a.memory[RUN_OUT][behind] = 0;
            assert_int_equal(merge_judge_writes(&m.a, &other.a, merge_poison, &f), 0);
            assert_int_equal(f.verdict, GATE_WROTE_BETWEEN);
            assert_true(f.of.row == row && f.of.head == head);
        }
        done(&m);
        done(&other);
    }
}

/* ---- Parts of a row by themselves ---- */

static void merging_2_a_row_alone_has_its_parts_in_that_order(void **state) {
    static const int list[] = {2, -1, 0};
    struct made m;
    struct merge_problem alone;
    (void)state;
    struct cp_merge_kernel k = plain;
    k.least_parts = k.most_parts = 3;
    make(&m, &k, MERGE_NORMAL);
    int row = m.recipe.n_rows - 1, head = m.recipe.n_heads - 1;
    assert_int_equal(merge_problem_alone(&alone, &m.p, row, head, list, 3), 0);
    assert_int_equal(alone.recipe.n_rows, 1);
    assert_int_equal(alone.recipe.n_heads, 1);
    assert_int_equal(merge_parts_of(&alone, 0), 3);
    assert_true(merge_l_of(&alone, 0, 0, 0) == merge_l_of(&m.p, row, 2, head));
    assert_true(merge_l_of(&alone, 0, 1, 0) == -INFINITY);
    assert_memory_equal(merge_o_of(&alone, 0, 2, 0), merge_o_of(&m.p, row, 0, head),
                        (size_t)m.recipe.head_dim * sizeof(double));
    merge_problem_free(&alone);
    done(&m);
}

/* MERGING-12: with its sums. */
static void merging_2_a_row_alone_has_its_sums(void **state) {
    static const int list[] = {2, -1, 0};
    struct made m;
    struct merge_problem alone;
    (void)state;
    struct cp_merge_kernel k = plain;
    k.form = CP_FORM_SUMS;
    k.least_parts = k.most_parts = 3;
    make(&m, &k, MERGE_NORMAL);
    assert_int_equal(merge_problem_alone(&alone, &m.p, 0, 0, list, 3), 0);
    for (int i = 0; i < 3; i += 2) {
        assert_true(merge_n_of(&alone, 0, i, 0) == merge_n_of(&m.p, 0, list[i], 0));
        assert_true(merge_m_of(&alone, 0, i, 0) == merge_m_of(&m.p, 0, list[i], 0));
        assert_true(merge_l_of(&alone, 0, i, 0) == merge_l_of(&m.p, 0, list[i], 0));
    }
    assert_true(merge_n_of(&alone, 0, 1, 0) == 0.0);
    assert_true(merge_m_of(&alone, 0, 1, 0) == -INFINITY);
    merge_problem_free(&alone);
    done(&m);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(merging_10_a_case_comes_from_its_seed_and_number),
        cmocka_unit_test(merging_9_cases_keep_to_what_a_kernel_declares),
        cmocka_unit_test(merging_11_the_usual_test_keeps_to_what_a_kernel_declares),
        cmocka_unit_test(merging_9_arrays_have_each_number_at_its_place),
        cmocka_unit_test(merging_10_cases_have_what_makes_mistakes_show),
        cmocka_unit_test(merging_11_right_results_are_right),
        cmocka_unit_test(merging_11_each_wrong_number_is_found),
        cmocka_unit_test(merging_9_rows_without_keys_are_exact),
        cmocka_unit_test(merging_1_garbage_counts_for_nothing),
        cmocka_unit_test(merging_11_no_right_kernel_is_called_wrong),
        cmocka_unit_test(merging_11_writes_are_found),
        cmocka_unit_test(merging_2_a_row_alone_has_its_parts_in_that_order),
        cmocka_unit_test(merging_2_a_row_alone_has_its_sums),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
