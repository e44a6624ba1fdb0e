/* SPDX-License-Identifier: Apache-2.0 */
/* Products of matrices of the fast decoder, by each version, against sums in double. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "opt/project.h"
#include "tests/random.h"

#define BEHIND 64 /* numbers behind a result and the room, that stay as they are */

static float *numbers(size_t n, unsigned long long *random) {
    float *x = malloc((n + BEHIND) * sizeof *x);
    assert_non_null(x);
    for (size_t i = 0; i < n + BEHIND; i++) {
        x[i] = random == NULL ? NAN : (float)random_uniform(random);
    }
    return x;
}

static void assert_untouched(const float *behind) {
    for (int i = 0; i < BEHIND; i++) {
        assert_true(isnan(behind[i]));
    }
}

/* A sum of n_in products in any order, and a bias, in binary32: each product goes through n_in + 1
 * roundings at most. gamma = k u / (1 - k u) bounds what they make of it. */
static void assert_product(const struct opt_projection *to, struct opt_rows rows) {
    double k = rows.n_in + 1.0, gamma = k * 0x1p-24 / (1.0 - k * 0x1p-24);
    for (int t = 0; t < rows.n; t++) {
        for (int r = 0; r < to->n_out; r++) {
            double sum = to->bias == NULL ? 0.0 : to->bias[r], size = fabs(sum);
            for (int c = 0; c < rows.n_in; c++) {
                double term = (double)to->weight[(ptrdiff_t)r * rows.n_in + c] *
                              rows.x[(ptrdiff_t)t * rows.n_in + c];
                sum += term;
                size += fabs(term);
            }
            double off = fabs(to->y[(ptrdiff_t)t * to->n_out + r] - sum);
            assert_true(off <= gamma * size * (1.0 + 0x1p-20));
        }
    }
}

/* The widths go beyond a block of columns, the rows beyond a panel, few rows and a block of W. */
static void try_sizes(struct cp_opt *opt, int n, int n_in, const int *n_out,
                      unsigned long long *random) {
    struct opt_projection to[OPT_PROJECTIONS];
    float *weight[OPT_PROJECTIONS], *bias[OPT_PROJECTIONS];
    size_t size = cp_opt_project_room(n, n_in);
    float *x = numbers((size_t)n * (size_t)n_in, random), *room = numbers(size, NULL);
    for (int i = 0; i < OPT_PROJECTIONS; i++) {
        to[i].n_out = n_out[i];
        to[i].y = numbers((size_t)n * (size_t)n_out[i], NULL);
        to[i].weight = weight[i] = numbers((size_t)n_out[i] * (size_t)n_in, random);
        to[i].bias = bias[i] = i == 0 ? NULL : numbers((size_t)n_out[i], random);
    }
    struct opt_rows rows = {x, n, n_in};
    cp_opt_project(opt, rows, to, OPT_PROJECTIONS, room);
    assert_untouched(room + size);
    for (int i = 0; i < OPT_PROJECTIONS; i++) {
        assert_product(&to[i], rows);
        assert_untouched(to[i].y + (ptrdiff_t)n * n_out[i]);
        free(to[i].y);
        free(weight[i]);
        free(bias[i]);
    }
    free(x);
    free(room);
}

/* FAST-1, FAST-2. */
static void products_are_sums_of_all_columns_in_some_order(void **unused) {
    (void)unused;
    static const int rows[] = {1, 3, 4, 5, 8, 9, 31, 33, 64, 67};
    static const int columns[] = {1, 15, 17, 256, 257, 600};
    static const int outs[][OPT_PROJECTIONS] = {{1, 64, 65}, {130, 3, 63}};
    unsigned long long random = 21;
    for (int version = CP_OPT_PORTABLE; version <= CP_OPT_NEON; version++) {
        struct cp_opt *opt;
        if (cp_opt_new(&opt, 3, version) != CP_OK) {
            continue;
        }
        for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
            for (size_t j = 0; j < sizeof columns / sizeof columns[0]; j++) {
                try_sizes(opt, rows[i], columns[j], outs[(i + j) % 2], &random);
            }
        }
        cp_opt_free(opt);
    }
}

/* FAST-1: what is in one row of x changes no other row, not even NaN. */
static void rows_are_apart(void **unused) {
    (void)unused;
    static float x[40 * 9], weight[5 * 9], y[40 * 5], room[64 * 16];
    struct cp_opt *opt;
    unsigned long long random = 22;
    assert_int_equal(cp_opt_new(&opt, 2, CP_OPT_BEST), CP_OK);
    for (int n = 2; n <= 40; n += 19) {
        for (int i = 0; i < n * 9; i++) {
            x[i] = i / 9 == 1 ? NAN : (float)random_uniform(&random);
        }
        const struct opt_projection to = {y, weight, NULL, 5};
        cp_opt_project(opt, (struct opt_rows){x, n, 9}, &to, 1, room);
        for (int i = 0; i < n * 5; i++) {
            assert_int_equal(isnan(y[i]) != 0, i / 5 == 1);
        }
    }
    cp_opt_free(opt);
}

/* FAST-3: also next to the number of rows from which a version takes many at once. */
static void threads_change_no_bit(void **unused) {
    (void)unused;
    enum { MOST = 40, N_IN = 300, N_OUT = 130 };
    static float x[MOST * N_IN], weight[N_OUT * N_IN], y[MOST * N_OUT], again[MOST * N_OUT];
    unsigned long long random = 23;
    float *room = numbers(cp_opt_project_room(MOST, N_IN), NULL);
    for (int i = 0; i < MOST * N_IN; i++) {
        x[i] = (float)random_uniform(&random);
    }
    for (int i = 0; i < N_OUT * N_IN; i++) {
        weight[i] = (float)random_uniform(&random);
    }
    for (int version = CP_OPT_PORTABLE; version <= CP_OPT_NEON; version++) {
        struct cp_opt *one, *more;
        if (cp_opt_new(&one, 1, version) != CP_OK) {
            continue;
        }
        assert_int_equal(cp_opt_new(&more, 3, version), CP_OK);
        for (int n = 1; n <= MOST; n++) {
            struct opt_projection to = {y, weight, NULL, N_OUT};
            cp_opt_project(one, (struct opt_rows){x, n, N_IN}, &to, 1, room);
            to.y = again;
            cp_opt_project(more, (struct opt_rows){x, n, N_IN}, &to, 1, room);
            assert_memory_equal(y, again, (size_t)n * N_OUT * sizeof *y);
        }
        cp_opt_free(one);
        cp_opt_free(more);
    }
    free(room);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(products_are_sums_of_all_columns_in_some_order),
        cmocka_unit_test(rows_are_apart),
        cmocka_unit_test(threads_change_no_bit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
