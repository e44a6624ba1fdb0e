/* SPDX-License-Identifier: Apache-2.0 */
/* MERGING-11, MERGING-12: the gate names the usual mistake that gives wrong numbers, and no other.
 */
#include <limits.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "gate/merge/mistakes.h"
#include "tests/merge_made.h"

/* ---- Mistakes ---- */

static int has_mistake(const struct merge_finding *f, const char *words) {
    for (int i = 0; i < merge_mistakes(); i++) {
        if (strstr(merge_mistake_words(i), words) != NULL) {
            return (int)(f->mistakes >> i & 1);
        }
    }
    fail_msg("no mistake is called so: %s", words);
    return 0;
}

/* Outputs times n, as if nothing had been divided; log-sum-exps in the other base. */
static void merging_11_a_mistake_is_named(void **state) {
    int named[2] = {0, 0};
    (void)state;
    for (int i = 0; i < CASES; i++) {
        struct cp_merge_kernel k = plain;
        struct merge_finding f;
        struct made m;
        k.never = CP_NEVER_EMPTY_PARTS;
        k.lse = CP_LSE_ALWAYS;
        make(&m, &k, i);
        answer(&m.a);
        for (int x = 0; x < m.recipe.n_rows * m.recipe.n_heads; x++) {
            int row = x / m.recipe.n_heads, head = x % m.recipe.n_heads;
            double lse = merge_result(&m.a, row, head, -1), most = -INFINITY;
            for (int part = 0; part < m.recipe.n_parts; part++) {
                most = fmax(most, merge_l_of(&m.p, row, part, head));
            }
            for (int e = 0; e < m.recipe.head_dim && i % 2 == 0; e++) {
                put(&m.a, row, head, e, merge_result(&m.a, row, head, e) * exp(lse - most));
            }
            put(&m.a, row, head, -1, i % 2 == 0 ? lse : lse / log(2.0));
        }
        assert_int_equal(merge_judge(&m.a, &f), 0);
        merge_find_mistakes(&m.a, &f);
        named[i % 2] += f.verdict != GATE_RIGHT &&
                        has_mistake(&f, i % 2 == 0 ? "sums are not divided by"
                                                   : "the log-sum-exp is written in the other");
        done(&m);
    }
    assert_true(named[0] > CASES / 3 && named[1] > CASES / 3);
}

/* Parts that are given by sums, merged with a mistake: weights without n; or outputs as sums. */
static void merging_12_a_mistake_is_named(void **state) {
    int named[2] = {0, 0};
    (void)state;
    for (int i = 0; i < 2 * CASES; i++) {
        struct cp_merge_kernel k = plain;
        struct merge_finding f;
        struct made m;
        int forgets = i % 2 == 0;
        k.form = i / 2 % 2 == 0 ? CP_FORM_SUMS : CP_FORM_UNDIVIDED;
        k.never = CP_NEVER_EMPTY_PARTS;
        k.lse = CP_LSE_NEVER;
        make(&m, &k, i);
        answer(&m.a);
        for (int x = 0; x < m.recipe.n_rows * m.recipe.n_heads; x++) {
            int row = x / m.recipe.n_heads, head = x % m.recipe.n_heads;
            double most = -INFINITY, n = 0.0;
            for (int part = 0; part < m.recipe.n_parts; part++) {
                most = fmax(most, merge_m_of(&m.p, row, part, head));
            }
            for (int part = 0; part < m.recipe.n_parts; part++) {
                n += exp(merge_m_of(&m.p, row, part, head) - most) *
                     (forgets ? 1.0 : merge_n_of(&m.p, row, part, head));
            }
            for (int e = 0; e < m.recipe.head_dim; e++) {
                double sum = 0.0;
                for (int part = 0; part < m.recipe.n_parts; part++) {
                    sum += exp(merge_m_of(&m.p, row, part, head) - most) *
                           merge_o_of(&m.p, row, part, head)[e];
                }
                put(&m.a, row, head, e, sum / n);
            }
        }
        assert_int_equal(merge_judge(&m.a, &f), 0);
        merge_find_mistakes(&m.a, &f);
        named[i % 2] +=
            f.verdict != GATE_RIGHT &&
            has_mistake(&f, forgets ? "its sum n is left out" : "outputs are taken for sums");
        done(&m);
    }
    assert_true(named[0] > CASES / 2 && named[1] > CASES / 2);
}

/* Merges with a sum of weights that has so many parts at most, or exponentials of base 2. Where
 * it is 0, which `from_0` makes it with a maximum of at least 0, the row counts as one without
 * keys. */
static void sum_wrongly(struct made *m, int row, int head, int most_parts, int from_0) {
    double most = from_0 ? 0.0 : -INFINITY, n = 0.0;
    for (int part = 0; part < merge_parts_of(&m->p, row); part++) {
        most = fmax(most, merge_l_of(&m->p, row, part, head));
    }
    for (int part = 0; part < merge_parts_of(&m->p, row) && part < most_parts; part++) {
        double l = merge_l_of(&m->p, row, part, head) - most;
        n += (double)(float)(most_parts == INT_MAX && !from_0 ? exp2(l) : exp(l));
    }
    for (int e = 0; e < m->recipe.head_dim; e++) {
        double sum = 0.0;
        for (int part = 0; part < merge_parts_of(&m->p, row); part++) {
            float w = (float)exp(merge_l_of(&m->p, row, part, head) - most);
            sum += w > 0.0F ? (double)w * merge_o_of(&m->p, row, part, head)[e] : 0.0;
        }
        put(&m->a, row, head, e, n > 0.0 ? sum / n : 0.0);
    }
    if (m->recipe.asks_lse) {
        put(&m->a, row, head, -1, n > 0.0 ? most + log(n) : -INFINITY);
    }
}

/* How often the words are said of cases that are summed so, and are wrong; and how often others. */
static void count_named(const char *words, const char *others, int most_parts, int from_0, int *n) {
    n[0] = n[1] = n[2] = 0;
    for (int i = 0; i < 2 * CASES; i++) {
        struct cp_merge_kernel k = plain;
        struct merge_finding f;
        struct made m;
        k.never = CP_NEVER_EMPTY_PARTS | CP_NEVER_EMPTY_ROWS;
        make(&m, &k, i);
        for (int x = 0; x < m.recipe.n_rows * m.recipe.n_heads; x++) {
            sum_wrongly(&m, x / m.recipe.n_heads, x % m.recipe.n_heads, most_parts, from_0);
        }
        assert_int_equal(merge_judge(&m.a, &f), 0);
        merge_find_mistakes(&m.a, &f);
        n[0] += f.verdict != GATE_RIGHT;
        n[1] += f.verdict != GATE_RIGHT && has_mistake(&f, words);
        n[2] += f.verdict != GATE_RIGHT && has_mistake(&f, others);
        done(&m);
    }
}

static void merging_11_a_wrong_sum_is_named(void **state) {
    static const char of_64[] = "the sum of weights has only the first 64 parts";
    static const char in_bits[] = "the sum of weights has exponentials of the other base";
    static const char of_0[] = "and a sum of 0 counts as no key";
    int n[3];
    (void)state;
    count_named(of_64, in_bits, 64, 0, n);
    assert_true(n[0] > 0 && n[1] == n[0] && n[2] == 0);
    count_named(in_bits, of_64, INT_MAX, 0, n);
    assert_true(n[0] > CASES && 4 * n[1] > 3 * n[0] && n[2] == 0);
    count_named(of_0, "results of another row or head", INT_MAX, 1, n);
    assert_true(n[0] > CASES / 12 && 4 * n[1] > 3 * n[0] && n[2] == 0);
}

/* A row with keys that is taken for one without, where such a row is, too: no other's result. */
static void merging_11_results_of_none_are_no_ones(void **state) {
    int wrong = 0;
    (void)state;
    for (int i = 0; i < CASES; i++) {
        struct cp_merge_kernel k = plain;
        struct merge_finding f;
        struct made m;
        int with_keys = -1;
        k.lse = CP_LSE_ALWAYS;
        make(&m, &k, i);
        answer(&m.a);
        for (int x = 0; x < m.recipe.n_rows * m.recipe.n_heads; x++) {
            with_keys =
                merge_has_keys(&m.p, x / m.recipe.n_heads, x % m.recipe.n_heads) ? x : with_keys;
        }
        for (int e = m.recipe.asks_lse ? -1 : 0; e < m.recipe.head_dim && with_keys >= 0; e++) {
            put(&m.a, with_keys / m.recipe.n_heads, with_keys % m.recipe.n_heads, e,
                e < 0 ? -INFINITY : 0.0);
        }
        assert_int_equal(merge_judge(&m.a, &f), 0);
        merge_find_mistakes(&m.a, &f);
        assert_false(has_mistake(&f, "results of another row or head"));
        wrong += f.verdict != GATE_RIGHT;
        done(&m);
    }
    assert_true(wrong > CASES / 2);
}

/* A number that no known mistake gives; and a right result. */
static void merging_11_no_mistake_is_made_up(void **state) {
    (void)state;
    for (int i = 0; i < CASES; i++) {
        struct merge_finding f;
        struct made m;
        make(&m, &plain, i);
        answer(&m.a);
        assert_int_equal(merge_judge(&m.a, &f), 0);
        merge_find_mistakes(&m.a, &f);
        assert_true(f.mistakes == 0);
        put(&m.a, 0, 0, 0, 12345.0);
        assert_int_equal(merge_judge(&m.a, &f), 0);
        merge_find_mistakes(&m.a, &f);
        assert_int_equal(f.verdict, GATE_WRONG);
        assert_true(f.mistakes == 0);
        done(&m);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(merging_11_a_mistake_is_named),
        cmocka_unit_test(merging_12_a_mistake_is_named),
        cmocka_unit_test(merging_11_a_wrong_sum_is_named),
        cmocka_unit_test(merging_11_results_of_none_are_no_ones),
        cmocka_unit_test(merging_11_no_mistake_is_made_up),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
