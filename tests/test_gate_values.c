/* SPDX-License-Identifier: Apache-2.0 */
/* The numbers of cases that select keys and of those that count them, number by number as the
 * clauses say: GATE-5, GATE-6. That a wrong key then shows is in tests/test_gate.c. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "gate/case/values.h"
#include "gate/case/widths.h"
#include "tests/plain_kernel.h"

#define CASES 160
#define WORK  20000

static const struct gate_shape any_shape;

/* A case of that kind. Values are as wide as keys, of another width, or in their keys. */
static void make(struct gate_problem *p, int index, enum gate_values values, int tensors) {
    struct cp_kernel kernel = plain;
    struct gate_recipe recipe;
    kernel.widths = index % 2 == 0 ? CP_WIDTHS_EQUAL : CP_WIDTHS_ANY;
    kernel.layout.tensors = tensors;
    gate_recipe_make(&recipe, 5, index, 0, WORK, NULL);
    gate_recipe_widths(&recipe, &kernel, WORK, &any_shape);
    recipe.values = values;
    assert_int_equal(gate_problem_new(p, &recipe, &kernel), 0);
    gate_values_fill(p);
}

/* ---- GATE-5 ---- */

/* Numbers behind which a key or query has 0 alone. */
static int length_of(const double *x, int d) {
    int n = d;
    while (n > 0 && x[n - 1] == 0.0) {
        n--;
    }
    return n;
}

struct addresses {
    int bits; /* L */
    double amplitude;
    int n; /* keys of a K/V head */
    unsigned long long *address;
};

static unsigned long long address_of(const struct addresses *a, const double *k) {
    unsigned long long address = 0;
    for (int i = 0; i < a->bits; i++) {
        assert_true(fabs(k[i]) == a->amplitude);
        address |= (unsigned long long)(k[i] > 0.0) << i;
    }
    return address;
}

static int compare(const void *one, const void *other) {
    unsigned long long a = *(const unsigned long long *)one;
    unsigned long long b = *(const unsigned long long *)other;
    return (a > b) - (a < b);
}

/* The addresses of the keys of a K/V head, each place of the pool once. */
static void list_addresses(struct addresses *a, const struct gate_problem *p, int g) {
    size_t places = (size_t)p->capacity * (size_t)p->recipe.chunk_size;
    unsigned char *had = calloc(places * (size_t)p->recipe.n_kv_heads, 1);
    int d = p->recipe.head_dim;
    *a = (struct addresses){.address = malloc((places + 1) * sizeof *a->address)};
    assert_true(had != NULL && a->address != NULL);
    for (int s = 0; s < p->b; s++) {
        for (int j = 0; j < p->n_tokens[s]; j++) {
            const double *k = gate_key(p, s, j, g);
            size_t row = gate_key_row(p, s, j, g);
            if (a->bits == 0) {
                a->bits = length_of(k, d);
                a->amplitude = fabs(k[0]);
            }
            assert_int_equal(length_of(k, d), a->bits);
            assert_in_range(a->bits, 1, 62); /* numbers of places have as many at most */
            if (!had[row]) {
                a->address[a->n++] = address_of(a, k);
            }
            had[row] = 1;
        }
    }
    free(had);
}

static void assert_different(const struct addresses *a) {
    qsort(a->address, (size_t)a->n, sizeof *a->address, compare);
    for (int i = 1; i < a->n; i++) {
        assert_true(a->address[i - 1] != a->address[i]);
    }
}

/* Are the bits of the key those of the query, where this has one? */
static int agrees(const struct addresses *a, const double *q, const double *k) {
    int same = 1;
    for (int i = 0; i < a->bits; i++) {
        same &= q[i] == 0.0 || q[i] == k[i];
    }
    return same;
}

/* The query has the address of a key that its row sees. Returns how many bits are 0. */
static int check_query(const struct addresses *a, const struct gate_problem *p, int row, int head) {
    int d = p->recipe.head_dim, g = head / (p->recipe.n_heads / p->recipe.n_kv_heads);
    int s = gate_sequence_of(p, row), n = gate_visible(p, row), open = 0, found = n == 0;
    const double *q = p->q + ((size_t)row * (size_t)p->recipe.n_heads + (size_t)head) * (size_t)d;
    for (int i = 0; i < d; i++) {
        open += i < a->bits && q[i] == 0.0;
        assert_true(q[i] == 0.0 || (i < a->bits && fabs(q[i]) == a->amplitude));
    }
    for (int j = 0; j < n && !found; j++) {
        found = agrees(a, q, gate_key(p, s, j, g));
    }
    assert_true(found);
    return open;
}

/* GATE-5: each key has an address that no other key of its K/V head has, and 0 behind it. A query
 * has that of a key, with up to three bits of 0. */
static void keys_have_addresses_and_queries_have_theirs(void **state) {
    int n_open[4] = {0};
    (void)state;
    for (int index = 0; index < CASES; index++) {
        struct gate_problem p;
        make(&p, index, GATE_SELECT, CP_TENSORS_TWO);
        for (int g = 0; g < p.recipe.n_kv_heads; g++) {
            struct addresses a;
            int group = p.recipe.n_heads / p.recipe.n_kv_heads;
            list_addresses(&a, &p, g);
            assert_true(a.n == 0 || 2.0 * a.amplitude * a.amplitude * p.scale >= 32.0);
            if (a.bits < p.recipe.head_dim) { /* else there may be no room for more */
                assert_different(&a);
            }
            for (int row = 0; a.n > 0 && row < p.n_rows; row++) {
                int open = check_query(&a, &p, row, g * group + row % group);
                assert_in_range(open, 0, 3);
                n_open[open] += a.bits > 3;
            }
            free(a.address);
        }
        gate_problem_free(&p);
    }
    for (int i = 0; i < 4; i++) {
        assert_true(n_open[i] > 50);
    }
}

/* GATE-5: V holds integers from 1 to 61, and each of them. */
static void selected_values_are_integers(void **state) {
    int n[62] = {0};
    (void)state;
    for (int index = 0; index < CASES / 4; index++) {
        struct gate_problem p;
        make(&p, index, GATE_SELECT, index % 4 < 2 ? CP_TENSORS_TWO : CP_TENSORS_KEYS);
        for (int s = 0; s < p.b; s++) {
            for (int j = 0; j < p.n_tokens[s]; j++) {
                const double *v = gate_value(&p, s, j, j % p.recipe.n_kv_heads);
                for (int i = 0; !gate_is_in_keys(&p) && i < p.value_dim; i++) {
                    assert_true(v[i] >= 1.0 && v[i] <= 61.0 && v[i] == floor(v[i]));
                    n[(int)v[i]]++;
                }
            }
        }
        gate_problem_free(&p);
    }
    for (int i = 1; i <= 61; i++) {
        assert_true(n[i] > 0);
    }
}

/* ---- GATE-6 ---- */

static int longest_of(const struct gate_problem *p) {
    int longest = 0;
    for (int s = 0; s < p->b; s++) {
        longest = gate_positions(p, s) > longest ? gate_positions(p, s) : longest;
    }
    return longest;
}

/* The only number of a value, at its place; 0 where there is none. */
static double counted_as(const struct gate_problem *p, int s, int j, int g) {
    const double *v = gate_value(p, s, j, g);
    int at = gate_position_of(p, s, j) % p->value_dim;
    for (int i = 0; i < p->value_dim; i++) {
        assert_true(i == at ? v[i] == 0.0 || v[i] == 1.0 || v[i] == 2.0 : v[i] == 0.0);
    }
    return v[at];
}

/* The window is in one piece, and as long as its clause says. Counts values of 1 and of 2. */
static void check_window(const struct gate_problem *p, int n[3]) {
    int longest = longest_of(p), begin = longest, end = 0;
    int in_column = longest > 40000 ? 2 : longest > 20000 ? 4 : 8;
    for (int s = 0; s < p->b; s++) {
        for (int j = 0; j < p->n_tokens[s]; j++) {
            int position = gate_position_of(p, s, j);
            double number = counted_as(p, s, j, j % p->recipe.n_kv_heads);
            n[(int)number]++;
            begin = number > 0.0 && position < begin ? position : begin;
            end = number > 0.0 && position >= end ? position + 1 : end;
        }
    }
    int counted = in_column * p->value_dim;
    assert_int_equal(longest == 0 ? 0 : end - begin, counted < longest ? counted : longest);
    for (int s = 0; s < p->b; s++) {
        for (int j = 0; j < p->n_tokens[s]; j++) {
            int position = gate_position_of(p, s, j), is_in = position >= begin && position < end;
            assert_int_equal(counted_as(p, s, j, j % p->recipe.n_kv_heads) > 0.0, is_in);
        }
    }
}

/* GATE-6: in element j mod d_v of the keys of the window a 1 or a 2, in all else 0. */
static void counted_values_are_in_a_window(void **state) {
    int n[3] = {0};
    (void)state;
    for (int index = 0; index < CASES; index++) {
        struct gate_problem p;
        make(&p, index, GATE_COUNT, index % 4 < 2 ? CP_TENSORS_TWO : CP_TENSORS_KEYS);
        check_window(&p, n);
        gate_problem_free(&p);
    }
    assert_true(n[0] > 1000 && n[1] > 1000 && n[2] > 1000);
}

/* GATE-6: 8 d_v keys, 4 d_v among more than 20,000, and 2 d_v among more than 40,000. */
static void windows_are_shorter_among_many_keys(void **state) {
    static const int lengths[] = {19999, 20000, 20001, 39999, 40000, 40001, 65536};
    (void)state;
    for (size_t i = 0; i < sizeof lengths / sizeof lengths[0]; i++) {
        struct gate_problem p;
        struct gate_recipe recipe;
        int n[3] = {0};
        gate_recipe_make(&recipe, 5, 0, 0, WORK, NULL);
        recipe.values = GATE_COUNT;
        recipe.n_heads = recipe.n_kv_heads = 1;
        recipe.head_dim = 8;
        recipe.chunk_size = 64;
        recipe.sequences = recipe.rows = recipe.pool = 0;
        recipe.n_ops = 1;
        recipe.op[0] = (struct gate_op){.kind = GATE_JOIN, .own = lengths[i]};
        assert_int_equal(gate_problem_new(&p, &recipe, &plain), 0);
        gate_values_fill(&p);
        assert_int_equal(longest_of(&p), lengths[i]);
        check_window(&p, n);
        gate_problem_free(&p);
    }
}

/* GATE-6: all scores of a row are equal, and not because all queries are 0. */
static void counted_scores_are_equal(void **state) {
    int scored = 0;
    (void)state;
    for (int index = 0; index < CASES; index++) {
        struct gate_problem p;
        make(&p, index, GATE_COUNT, index % 4 < 2 ? CP_TENSORS_TWO : CP_TENSORS_KEYS);
        int d = p.recipe.head_dim, group = p.recipe.n_heads / p.recipe.n_kv_heads;
        for (int row = 0; row < p.n_rows; row++) {
            int head = row % p.recipe.n_heads, s = gate_sequence_of(&p, row);
            const double *q = p.q + ((size_t)row * (size_t)p.recipe.n_heads + (size_t)head) * d;
            double first = 0.0;
            for (int j = 0; j < p.n_tokens[s]; j++) {
                const double *k = gate_key(&p, s, j, head / group);
                double score = 0.0;
                for (int i = 0; i < d; i++) {
                    score += q[i] * k[i];
                }
                first = j == 0 ? score : first;
                assert_true(score == first);
            }
            scored += first != 0.0;
        }
        gate_problem_free(&p);
    }
    assert_true(scored > 50);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(keys_have_addresses_and_queries_have_theirs),
        cmocka_unit_test(selected_values_are_integers),
        cmocka_unit_test(counted_values_are_in_a_window),
        cmocka_unit_test(windows_are_shorter_among_many_keys),
        cmocka_unit_test(counted_scores_are_equal),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
