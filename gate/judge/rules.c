/* SPDX-License-Identifier: Apache-2.0 */
#include "gate/judge/rules.h"

#include <math.h>
#include <stdlib.h>

#include "gate/case/values.h"

const char *const gate_rule_names[GATE_RULES] = {"allclose 1e-2", "allclose 1e-3",
                                                 "abs and rel both over 1e-2",
                                                 "twice the plain error", "cosine > 0.99"};

/* The larger one; NaN when one of them is NaN. */
static double larger(double a, double b) {
    return isnan(a) || a >= b ? a : b;
}

void gate_tensor_add(struct gate_tensor *t, const double *x, const double *r, int n) {
    for (int i = 0; i < n; i++) {
        double error = fabs(x[i] - r[i]), size = fabs(r[i]);
        t->beyond |= error <= 1e-2 + 1e-2 * size ? 0 : 1U << GATE_ALLCLOSE_2;
        t->beyond |= error <= 1e-3 + 1e-3 * size ? 0 : 1U << GATE_ALLCLOSE_3;
        t->beyond |= error <= 1e-2 || error <= 1e-2 * size ? 0 : 1U << GATE_BOTH_LARGE;
        t->error = larger(t->error, error);
        t->product += x[i] * r[i];
        t->x += x[i] * x[i];
        t->r += r[i] * r[i];
    }
}

/* Computes the weights before division; returns their sum. */
static float plain_weights(const struct gate_plain_row *row, double *weight) {
    double largest = row->sink;
    float sum = 0.0F;
    for (int j = 0; j < row->n; j++) {
        const double *k = row->k + (ptrdiff_t)j * row->d;
        float dot = 0.0F;
        for (int i = 0; i < row->d; i++) {
            dot += (float)(row->q[i] * k[i]);
        }
        double score = gate_round(row->type, dot) * row->scale;
        weight[j] = gate_round(row->type, score + (row->shift != NULL ? row->shift[j] : 0.0));
        largest = fmax(largest, weight[j]);
    }
    for (int j = 0; j < row->n; j++) {
        weight[j] = (double)(float)exp(weight[j] - largest);
        sum += (float)weight[j];
    }
    return sum + (isinf(row->sink) ? 0.0F : (float)exp(row->sink - largest));
}

/* What is weighed: n values of d numbers. */
struct weighed {
    int type, n, d;
    const double *v;
};

/* Weighs the values, by weights of that sum. 0, or -1: no memory. */
static int plain_values(struct gate_tensor *t, const struct weighed *of, const double *weight,
                        float sum, const double *r) {
    float *out = calloc((size_t)of->d, sizeof *out);
    if (out == NULL) {
        return -1;
    }
    for (int j = 0; j < of->n; j++) {
        const double *v = of->v + (ptrdiff_t)j * of->d;
        double w = gate_round(of->type, weight[j] / sum);
        for (int i = 0; i < of->d; i++) {
            out[i] += (float)(w * v[i]);
        }
    }
    for (int i = 0; i < of->d; i++) {
        t->plain_error = larger(t->plain_error, fabs(gate_round(of->type, out[i]) - r[i]));
    }
    free(out);
    return 0;
}

int gate_tensor_plain(struct gate_tensor *t, const struct gate_plain_row *row, const double *r) {
    const struct weighed values = {row->type, row->n, row->d_v, row->v};
    double *weight = malloc(((size_t)row->n + 1) * sizeof *weight);
    int status =
        weight != NULL ? plain_values(t, &values, weight, plain_weights(row, weight), r) : -1;
    free(weight);
    return status;
}

int gate_tensor_plain_merge(struct gate_tensor *t, const struct gate_plain_parts *parts,
                            const double *r) {
    const struct weighed values = {parts->type, parts->n, parts->d, parts->o};
    double *weight = malloc(((size_t)parts->n + 1) * sizeof *weight);
    double largest = -INFINITY;
    float sum = 0.0F;
    if (weight == NULL) {
        return -1;
    }
    for (int i = 0; i < parts->n; i++) {
        largest = fmax(largest, parts->l[i]);
    }
    for (int i = 0; i < parts->n; i++) {
        double below = parts->l[i] - largest;
        weight[i] = (double)(float)(parts->is_in_bits ? exp2(below) : exp(below));
        sum += (float)weight[i];
    }
    int status = plain_values(t, &values, weight, sum, r);
    free(weight);
    return status;
}

unsigned gate_tensor_rejected(const struct gate_tensor *t) {
    unsigned rejected = t->beyond;
    rejected |= t->error <= 2.0 * t->plain_error ? 0 : 1U << GATE_TWICE_PLAIN;
    rejected |= t->product / sqrt(t->x * t->r) > 0.99 ? 0 : 1U << GATE_COSINE;
    return rejected;
}
