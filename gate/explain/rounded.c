/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers that are kept in a short format on the way: which of wider declarations it is that the kernel needs. Each is
 * rounded as the kernel would, so that wrong numbers come out to the last bits. */
#include <math.h>
#include <string.h>

#include "gate/explain/explain.h"

#define ALL_KEYS   (1 << 20)
#define NEAR       0x1p-5 /* of the sum of magnitudes: more is no rounding */
#define MOST_TILE  128
#define MOST_LANES 32

/* ---- Rounded weights ---- */

/* a: the format of P; 1: n is the sum of the rounded P, too; keys that are weighed at one maximum; 1: their own, 0: of all
 * so far. */
static int round_weights(struct explain *x, const int *a) {
    struct explain_state s;
    double reference = -INFINITY;
    int step = explain_keys_of_step(x, a[2]);
    explain_take_scores(x);
    if (x->outside || x->m == 0) {
        return 0;
    }
    explain_begin(x, &s, 0);
    explain_find_largest(x, &s);
    for (int j = 0; j < x->m; j++) {
        int end = j + step < x->m ? j + step : x->m;
        if (j % step == 0) {
            reference = a[3] ? -INFINITY : reference;
            for (int i = j; i < end; i++) {
                reference = fmax(reference, x->scratch[i]);
            }
        }
        double weight = exp(x->scratch[j] - reference);
        double rounded = weight > 0.0 ? gate_round(a[0], weight) / weight : 1.0;
        explain_add_key(x, &s, j, a[1] ? rounded : 1.0, rounded);
    }
    return explain_finish(x, &s, s.n);
}

static void try_format(struct explain *x, int format, int sum) {
    const int steps[] = {1, EXPLAIN_A_CHUNK, 8, 16, 32, 64, 128, ALL_KEYS};
    const char *name = format == CP_FP16 ? "FP16" : "BF16";
    char step[40];
    for (int i = 0; i < 8; i++) {
        int most = steps[i] == 1 || steps[i] == ALL_KEYS ? 0 : 1;
        for (int own = 0; own <= most; own++) {
            const int a[EXPLAIN_NUMBERS] = {format, sum, steps[i], own};
            explain_name_step(steps[i], step, sizeof step);
            explain_try(
                x, round_weights, a, EXPLAIN_ROUNDED,
                "P in %s before it is multiplied with V%s, rounded against the maximum of %s%s: "
                "`weights` as CP_%s%s",
                name, sum ? " and summed up" : "",
                own                    ? ""
                : steps[i] == ALL_KEYS ? "all keys"
                                       : "all keys so far, in steps of ",
                steps[i] == ALL_KEYS ? "" : step, name, sum ? " and `rounded_sum` as 1" : "");
        }
    }
}

static void try_weights(struct explain *x) {
    int declared = x->kernel->arithmetic.weights;
    for (int sum = declared == CP_FP32 ? 0 : 1; sum <= 1 && declared != CP_BF16; sum++) {
        try_format(x, CP_FP16, sum);
    }
    for (int sum = 0; sum <= 1 && declared != CP_BF16; sum++) {
        try_format(x, CP_BF16, sum);
    }
}

/* ---- Rounded sums ---- */

/* The sum of weighted values is kept in a short format: a[0]; tiles of a[1] keys, that a[2] warps take in turn, each in
 * a[3] lanes, that take keys of a tile in turn and have sums of their own, one maximum. Of element i; an infinity: it does
 * not fit. */
static double sum_rounded(const struct explain *x, const int *a, int i) {
    double whole = 0.0, n = 0.0, largest = -INFINITY;
    for (int j = 0; j < x->m; j++) {
        largest = fmax(largest, x->scratch[j]);
    }
    for (int warp = 0; warp < a[2] && warp * a[1] < x->m; warp++) {
        double o[MOST_LANES] = {0.0}, m = -INFINITY;
        for (int first = warp * a[1]; first < x->m; first += a[1] * a[2]) {
            int end = first + a[1] < x->m ? first + a[1] : x->m;
            double before = m;
            for (int j = first; j < end; j++) {
                m = fmax(m, x->scratch[j]);
            }
            double factor = before == -INFINITY ? 0.0 : exp(before - m);
            for (int lane = 0; lane < a[3]; lane++) {
                o[lane] *= factor;
            }
            for (int j = first; j < end; j++) {
                double *sum = &o[j % a[1] % a[3]];
                *sum =
                    gate_round(a[0], *sum + exp(x->scratch[j] - m) * x->v[(ptrdiff_t)j * x->d + i]);
            }
        }
        for (int lane = 0; lane < a[3]; lane++) {
            whole += exp(m - largest) * o[lane];
        }
    }
    for (int j = 0; j < x->m; j++) {
        n += exp(x->scratch[j] - largest);
    }
    return whole / n;
}

/* Most of some wrong elements are what they would be. */
static int might_be_rounded(const struct explain *x, const struct explain_test *test,
                            const int *a) {
    const double *bound = x->at->bound + (size_t)x->pair * (size_t)x->at->width;
    int n = 0;
    for (int t = 0; t < test->n; t++) {
        double off = fabs(sum_rounded(x, a, test->element[t]) - test->got[t]);
        n += off <= bound[test->element[t]];
    }
    return n > 0 && 2 * n >= test->n;
}

static int round_sums(struct explain *x, const int *a) {
    struct explain_state s;
    explain_take_scores(x);
    if (x->outside || x->m == 0) {
        return 0;
    }
    explain_begin(x, &s, 0);
    explain_find_largest(x, &s);
    for (int j = 0; j < x->m; j++) {
        explain_add_key(x, &s, j, 1.0, 1.0);
    }
    for (int i = 0; i < x->d; i++) {
        s.o[i] = s.n * sum_rounded(x, a, i);
    }
    return explain_finish(x, &s, s.n);
}

/* 1: what is wrong of the pair x is at may be of rounding: it is nearly right. */
static int is_near(const struct explain *x) {
    size_t at = (size_t)x->pair * (size_t)x->at->width;
    double off = 0.0, largest = 0.0;
    for (int i = 0; i < x->d; i++) {
        off = fmax(off, fabs(x->at->got[at + (size_t)i] - x->at->expected[at + (size_t)i]));
        largest = fmax(largest, fabs(x->at->expected[at + (size_t)i]));
        if (!isfinite(x->at->got[at + (size_t)i])) {
            return 0;
        }
    }
    return off <= NEAR * largest;
}

static void try_sum(struct explain *x, const struct explain_test *test, const int *a) {
    char in_turn[120] = "";
    explain_take_scores(x);
    x->work -= (long long)EXPLAIN_TESTED * x->m;
    if (x->outside || x->work <= 0 || !might_be_rounded(x, test, a)) {
        return;
    }
    if (a[2] > 1 || a[3] > 1) {
        (void)snprintf(in_turn, sizeof in_turn,
                       ", %d warp%s taking tiles in turn, each in %d lane%s", a[2],
                       a[2] > 1 ? "s" : "", a[3], a[3] > 1 ? "s" : "");
    }
    const char *name = a[0] == CP_FP16 ? "FP16" : "BF16";
    explain_try(x, round_sums, a, EXPLAIN_ROUNDED,
                "the sum of weighted values in %s, rounded after each key (tiles of %d %s%s): "
                "accumulate in FP32, or declare `values` as CP_SUM_%s",
                name, a[1], a[1] == 1 ? "key" : "keys", in_turn, name);
}

static void try_sums(struct explain *x) {
    struct explain_test test;
    explain_test_new(x, &test);
    for (int tile = 1; tile <= MOST_TILE; tile *= 2) {
        for (int warps = 1; warps <= 8; warps *= 2) {
            for (int lanes = 1; lanes <= MOST_LANES && lanes <= tile; lanes *= 2) {
                const int a[EXPLAIN_NUMBERS] = {CP_FP16, tile, warps, lanes};
                try_sum(x, &test, a);
            }
        }
    }
}

void explain_try_rounded(struct explain *x) {
    if (is_near(x)) {
        try_weights(x);
        try_sums(x);
    }
}
