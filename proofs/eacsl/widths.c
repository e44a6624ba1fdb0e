/* SPDX-License-Identifier: Apache-2.0 */
/* Partial attention with values narrower and wider than keys, in rows of their own or in the keys
 * (WIDTH-1, WIDTH-2), for its contract to be evaluated. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "chunkproof/number.h"
#include "chunkproof/number8.h"
#include "ref/softmax_internal.h"

#define D      2
#define N_KEYS 3
#define MOST   5

/* Weights 1/6, 2/6 and 3/6 of the values in rows of v_row. */
static void expect_mean(const double *k, const double *v, int d_v, int v_row) {
    const double q[D] = {1.0, 0.0};
    struct cp_scoring how = {.scale = 1.0};
    struct cp_state state;
    double o[MOST], out[MOST];
    cp_partial_attn_of(&state, o, q, k, v, CP_FP64, CP_FP64, 0, N_KEYS, D, d_v, v_row, how);
    assert_true(fabs(cp_finish(&state, o, out, d_v) - log(6.0)) < 1e-14);
    for (int i = 0; i < d_v; i++) {
        double mean = (v[i] + 2.0 * v[v_row + i] + 3.0 * v[2 * v_row + i]) / 6.0;
        assert_true(fabs(out[i] - mean) < 1e-13);
    }
}

static void fill_keys(double *k) {
    for (int j = 0; j < N_KEYS; j++) {
        k[j * D] = log(j + 1.0);
        k[j * D + 1] = 7.0 - j;
    }
}

static void values_in_rows_of_their_own(void **unused) {
    double k[N_KEYS * D], v[N_KEYS * MOST];
    (void)unused;
    fill_keys(k);
    for (int i = 0; i < N_KEYS * MOST; i++) {
        v[i] = 0.5 * i - 3.0;
    }
    for (int v_row = 1; v_row <= MOST; v_row++) {
        for (int d_v = 1; d_v <= v_row; d_v++) {
            expect_mean(k, v, d_v, v_row);
        }
    }
}

static void values_in_their_keys(void **unused) {
    double k[N_KEYS * D];
    (void)unused;
    fill_keys(k);
    expect_mean(k, k, 1, D);
    expect_mean(k, k + 1, 1, D);
    expect_mean(k, k, 2, D);
}

/* NUM-16: of each format. */
static void largest_numbers(void **state) {
    (void)state;
    for (int format = CP_E4M3; format <= CP_INT8; format++) {
        assert_true(cp_number8_largest(format) >= 127.0);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_in_rows_of_their_own),
        cmocka_unit_test(values_in_their_keys),
        cmocka_unit_test(largest_numbers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
