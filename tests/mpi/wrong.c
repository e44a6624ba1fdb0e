/* SPDX-License-Identifier: Apache-2.0 */
#include "wrong.h"

#include <math.h>

/* sum = x part + y sum, as MERGE-4 has it with the right x, y and m. */
static void add(double *sum, const double *part, double m, double x, double y) {
    sum[0] = m;
    for (int i = 1; i < ELEMENT; i++) {
        sum[i] = x * part[i] + y * sum[i];
    }
}

static void of_base_2(double *sum, const double *part) {
    if (part[1] == 0.0 || sum[1] == 0.0) {
        element_merge(sum, part, D);
        return;
    }
    double m = fmax(sum[0], part[0]);
    add(sum, part, m, exp2(part[0] - m), exp2(sum[0] - m));
}

static void without_rescaling(double *sum, const double *part) {
    add(sum, part, fmax(sum[0], part[0]), 1.0, 1.0);
}

/* The empty state's m = 0 takes part in the maximum (MERGE-2). */
static void with_empty_maximum(double *sum, const double *part) {
    double m = fmax(sum[0], part[0]);
    add(sum, part, m, exp(part[0] - m), exp(sum[0] - m));
}

/* The mean of two outputs, whatever their weights. */
static void mean_of_outputs(double *sum, const double *part) {
    double n = sum[1] == 0.0 ? 1.0 : sum[1], of_part = part[1] == 0.0 ? 1.0 : part[1];
    for (int i = 2; i < ELEMENT; i++) {
        sum[i] = (sum[i] / n + part[i] / of_part) / 2.0;
    }
    sum[0] = fmax(sum[0], part[0]);
    sum[1] = 1.0;
}

#define OP_OF(merge)                                                                               \
    static void op_##merge(void *part, void *sum, int *n, MPI_Datatype *type) {                    \
        (void)type;                                                                                \
        for (size_t i = 0; i < (size_t)*n; i++) {                                                  \
            merge((double *)sum + ELEMENT * i, (double *)part + ELEMENT * i);                      \
        }                                                                                          \
    }
OP_OF(of_base_2)
OP_OF(without_rescaling)
OP_OF(with_empty_maximum)
OP_OF(mean_of_outputs)

const struct wrong wrong[N_WRONG] = {
    {"factors to the base 2", op_of_base_2, CONTIGUOUS, 0.0, 0},
    {"sums that are not rescaled", op_without_rescaling, CONTIGUOUS, 0.0, 0},
    {"m of the empty state in the maximum", op_with_empty_maximum, EVERY_SECOND, 0.0, 0},
    {"outputs averaged without weights", op_mean_of_outputs, CONTIGUOUS, 0.0, 0},
    {"an identity that weighs a key of score 0", NULL, EVERY_SECOND, 1.0, 0},
    {"a prefix counted on each rank", NULL, PREFIX_ON_ALL, 0.0, 0},
    {"all keys counted on each rank", NULL, ALL_ON_ALL, 0.0, 1},
};
