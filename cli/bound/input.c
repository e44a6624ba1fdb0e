/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <stddef.h>
#include <stdlib.h>

#include "chunkproof/number.h"
#include "cli/base/random.h"
#include "cli/bound/bound.h"

const char *const bound_family_names[] = {"normal",    "massive",   "one-hot",    "ties", "shifted",
                                          "subnormal", "offset",    "cancelling", "wide", "rising",
                                          "equal",     "underflow", "edges",      NULL};

int bound_row_new(struct bound_row *row, int n, int d, int d_v) {
    size_t keys = (size_t)n * (size_t)d, values = (size_t)n * (size_t)d_v;
    *row = (struct bound_row){.n = n,
                              .d = d,
                              .d_v = d_v,
                              .scale = 1.0 / sqrt(d),
                              .at = n - 1.0,
                              .k_scale = 1.0,
                              .v_scale = 1.0};
    row->q = malloc(((size_t)d + keys + values + 2 * (size_t)n) * sizeof *row->q);
    if (row->q == NULL) {
        return -1;
    }
    row->k = row->q + d;
    row->v = row->k + keys;
    row->position = row->v + values;
    row->bias = row->position + n;
    for (int j = 0; j < n; j++) {
        row->position[j] = j;
        row->bias[j] = 0.0;
    }
    return 0;
}

void bound_row_free(struct bound_row *row) {
    free(row->q);
    row->q = NULL;
}

double bound_round(int format, double x) {
    switch (format) {
    case CP_FP16:
        return cp_fp16_to_double(cp_fp16_from_double(x));
    case CP_BF16:
        return cp_bf16_to_double(cp_bf16_from_double(x));
    default:
        return (double)(float)x;
    }
}

/* Mean 0, variance 1, nearly normal: the sum of twelve numbers of variance 1/12 each. */
static double normal(struct prng *random) {
    double sum = -6.0;
    for (int i = 0; i < 12; i++) {
        sum += (double)(prng_next(random) >> 11) * 0x1p-53;
    }
    return sum;
}

static double query(enum bound_family family, int x, struct prng *random) {
    double number = normal(random);
    switch (family) {
    case BOUND_EQUAL:
        return 0.0;
    case BOUND_SHIFTED:
    case BOUND_RISING:
        return x == 0 ? 2.0 : number;
    case BOUND_UNDERFLOW:
        return x == 0 ? 1.0 : 0.0;
    default:
        return number;
    }
}

/* A key at the end of the first, the middle or the last chunk of c keys. */
static int is_edge(int n, int c, int j) {
    int middle = n / c / 2 * c, last = (n - 1) / c * c;
    return j == 0 || j == c - 1 || j == c || j == n - 1 || j == last || j == last - 1 ||
           j == middle || j - middle == c - 1;
}

static double key(const struct bound_row *row, const struct bound_options *o, int j, int x,
                  struct prng *random) {
    double number = normal(random);
    switch (o->family) {
    case BOUND_MASSIVE:
        return x < 2 ? 50.0 * number : number;
    case BOUND_ONE_HOT:
        return j == row->n / 3 ? 6.0 * row->q[x] : number;
    case BOUND_TIES:
        return x == 0 ? prng_below(random, 3) - 1.0 : 0.25 * (x % 5);
    case BOUND_SHIFTED:
        return x == 0 ? -100.0 / row->scale : number;
    case BOUND_SUBNORMAL:
        return 0x1p-20 * number;
    case BOUND_WIDE:
        return ldexp(number, prng_below(random, 8) - 6);
    case BOUND_RISING:
        return x == 0 ? 4.0 * j / row->n : 0.25 * number;
    case BOUND_UNDERFLOW: /* weights about 2^-17 */
        return x > 0 || j == 0 ? 0.0 : (0.5 * number - 12.0) / row->scale;
    case BOUND_EDGES: /* a few keys have nearly all the weight */
        return 0.25 * number + (is_edge(row->n, o->chunk, j) ? 2.0 * row->q[x] : 0.0);
    default:
        return number;
    }
}

static double value(enum bound_family family, int j, struct prng *random) {
    double number = normal(random);
    switch (family) {
    case BOUND_SUBNORMAL:
        return 0x1p-24 * number;
    case BOUND_OFFSET:
        return 100.0 + number;
    case BOUND_CANCELLING:
        return (j % 2 == 0 ? 1.0 : -1.0) * (3.0 + 0.001 * number);
    case BOUND_WIDE:
        return ldexp(number, prng_below(random, 24) - 14);
    case BOUND_UNDERFLOW:
        return j == 0 ? 0.0 : ldexp(number, 12);
    default:
        return number;
    }
}

/* Of a table: any from -bias to bias, in binary32. Other numbers of the row do not depend on it. */
static void fill_biases(struct bound_row *row, const struct bound_options *o) {
    struct prng random = {o->seed ^ 0xB1A5E5ULL};
    for (int j = 0; j < row->n; j++) {
        double share = (double)(prng_next(&random) >> 11) * 0x1p-52 - 1.0;
        row->bias[j] = (double)(float)(o->bias * share);
    }
    row->has_biases = 1;
}

void bound_row_fill(struct bound_row *row, const struct bound_options *options) {
    struct prng random = {options->seed};
    for (int x = 0; x < row->d; x++) {
        row->q[x] = bound_round(options->input, query(options->family, x, &random));
    }
    for (int j = 0; j < row->n; j++) {
        double *k = row->k + (ptrdiff_t)j * row->d, *v = row->v + (ptrdiff_t)j * row->d_v;
        for (int x = 0; x < row->d || x < row->d_v; x++) {
            if (x < row->d) {
                k[x] = bound_round(options->input, key(row, options, j, x, &random));
            }
            if (x < row->d_v) {
                v[x] = bound_round(options->input, value(options->family, j, &random));
            }
        }
    }
    if (options->has_bias) {
        fill_biases(row, options);
    }
}
