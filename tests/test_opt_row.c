/* SPDX-License-Identifier: Apache-2.0 */
/* What a run of the fast decoder does with a row by itself: norms in double that are rounded once,
 * and functions of the network for any width. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "chunkproof/layers.h"
#include "opt/decoder_internal.h"
#include "tests/random.h"

#define U    0x1p-24 /* of binary32 */
#define MOST 1000

static float x[MOST], y[MOST], weight[MOST], bias[MOST];

/* The row as LAYER-2 or LAYER-3 has it, with sums in long double. In double a sum of d terms is off
 * by d 2^-53 of its magnitudes, also the mean, of which all x[c] - mean then are. Beside one
 * rounding to binary32 that is little: 2^-53 (8 d + 64) of all that goes into y[c]. */
static void assert_norm(const struct cp_decoder_shape *s) {
    long double mean = 0.0L, squares = 0.0L, most = 0.0L;
    for (int c = 0; c < s->d_model; c++) {
        mean += s->norm == CP_NORM_LAYER ? (long double)x[c] / s->d_model : 0.0L;
        most = fmaxl(most, fabsl((long double)x[c]));
    }
    for (int c = 0; c < s->d_model; c++) {
        squares += (x[c] - mean) * (x[c] - mean);
    }
    long double by = 1.0L / sqrtl(squares / s->d_model + s->norm_epsilon);
    for (int c = 0; c < s->d_model; c++) {
        long double part = (x[c] - mean) * by * weight[c], exact = part + bias[c];
        long double size = fabsl((long double)weight[c]) * by * most * (1.0L + by * most) +
                           fabsl((long double)bias[c]);
        long double bound = U * fabsl(exact) + 0x1p-53L * (8.0L * s->d_model + 64.0L) * size;
        assert_true(fabsl(y[c] - exact) <= bound);
    }
}

/* FAST-1: norms are computed in double, also where the mean is far from 0. */
static void a_norm_is_rounded_once(void **unused) {
    (void)unused;
    static const int widths[] = {1, 2, 63, 576, MOST};
    unsigned long long random = 31;
    for (int i = 0; i < 40; i++) {
        struct cp_decoder_shape s = {.d_model = widths[i % 5], .norm_epsilon = 1e-5};
        s.norm = i % 2 ? CP_NORM_LAYER : CP_NORM_RMS;
        for (int c = 0; c < s.d_model; c++) {
            x[c] = (float)(random_uniform(&random) + (i % 4 < 2 ? 0.0 : 3.0));
            weight[c] = (float)random_uniform(&random);
            bias[c] = s.norm == CP_NORM_LAYER ? (float)random_uniform(&random) : 0.0F;
        }
        cp_opt_norm(y, x, weight, s.norm == CP_NORM_LAYER ? bias : NULL, &s);
        assert_norm(&s);
    }
}

/* Of one number. SwiGLU: e is off by CP_OPT_EXP_ERROR, which counts twice at most, and five
 * operations round. GELU is that of layers.h in double, rounded once. */
static void assert_function(int network, float found, float up, float gate) {
    double exact = network == CP_NETWORK_SWIGLU      ? cp_silu(gate) * up
                   : network == CP_NETWORK_GELU_TANH ? cp_gelu_tanh(up)
                                                     : cp_gelu_erf(up);
    double off = network == CP_NETWORK_SWIGLU ? 2.0 * CP_OPT_EXP_ERROR + 5.0 * U : U;
    assert_true(fabs(found - exact) <= off * fabs(exact) * (1.0 + 0x1p-20) + 0x1p-148);
}

/* FAST-1, FAST-2, LAYER-8, LAYER-9: each number of a row, whatever is left behind those at once.
 * Some gates are far below 0, where silu is small, and as exact. */
static void each_number_gets_the_function(void **unused) {
    (void)unused;
    static const int widths[] = {1, CP_OPT_KEYS - 1, CP_OPT_KEYS, CP_OPT_KEYS + 1, 300};
    static float up[MOST], gate[MOST];
    unsigned long long random = 32;
    for (int version = CP_OPT_PORTABLE; version <= CP_OPT_NEON; version++) {
        struct cp_opt *opt;
        if (cp_opt_new(&opt, 1, version) != CP_OK) {
            continue;
        }
        for (int i = 0; i < 15; i++) {
            int n = widths[i % 5], network = i / 5;
            for (int c = 0; c < n + 1; c++) {
                y[c] = up[c] = (float)(4.0 * random_uniform(&random));
                gate[c] = (float)((c % 3 == 0 ? 80.0 : 8.0) * random_uniform(&random));
            }
            cp_opt_activate(&opt->kernels, y, gate, n, network);
            for (int c = 0; c < n; c++) {
                assert_function(network, y[c], up[c], gate[c]);
            }
            assert_true(y[n] == up[n]);
        }
        cp_opt_free(opt);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_norm_is_rounded_once),
        cmocka_unit_test(each_number_gets_the_function),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
