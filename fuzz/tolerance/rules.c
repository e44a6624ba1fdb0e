/* SPDX-License-Identifier: Apache-2.0 */
#include "fuzz/tolerance/rules.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>

const char *rule_name(enum rule rule) {
    static const char *const names[N_RULES] = {
        "certified tolerance",        "allclose 1e-2",         "allclose 1e-3",
        "abs and rel both over 1e-2", "twice the plain error", "cosine > 0.99"};
    return names[rule];
}

double rules_plain_error(const struct problem *p, int type, const double *expected) {
    double *weight = malloc((size_t)p->n * sizeof *weight);
    double largest = -INFINITY, worst = 0.0;
    float sum = 0.0F;
    assert(weight != NULL);
    for (int j = 0; j < p->n; j++) {
        float dot = 0.0F;
        for (int x = 0; x < p->d; x++) {
            dot += (float)(p->q[x] * p->k[(ptrdiff_t)j * p->d + x]);
        }
        weight[j] = sums_round(type, sums_round(type, dot) * p->scale);
        largest = fmax(largest, weight[j]);
    }
    for (int j = 0; j < p->n; j++) {
        weight[j] = (double)(float)exp(weight[j] - largest);
        sum += (float)weight[j];
    }
    for (int x = 0; x < p->d; x++) {
        float out = 0.0F;
        for (int j = 0; j < p->n; j++) {
            double w = sums_round(type, weight[j] / sum);
            out += (float)(w * p->v[(ptrdiff_t)j * p->d + x]);
        }
        worst = fmax(worst, fabs(sums_round(type, out) - expected[x]));
    }
    free(weight);
    return worst;
}

/* error <= absolute + relative |r| for each number; false where one is no number. */
static int all_close(const struct judgement *j, int d, double absolute, double relative) {
    int close = 1;
    for (int x = 0; x < d; x++) {
        close &= fabs(j->out[x] - j->expected[x]) <= absolute + relative * fabs(j->expected[x]);
    }
    return close;
}

static int none_both_large(const struct judgement *j, int d, double limit) {
    int fine = 1;
    for (int x = 0; x < d; x++) {
        double error = fabs(j->out[x] - j->expected[x]);
        fine &= error <= limit || error <= limit * fabs(j->expected[x]);
    }
    return fine;
}

static double cosine(const struct judgement *j, int d) {
    double product = 0.0, a = 0.0, b = 0.0;
    for (int x = 0; x < d; x++) {
        product += j->out[x] * j->expected[x];
        a += j->out[x] * j->out[x];
        b += j->expected[x] * j->expected[x];
    }
    return product / sqrt(a * b);
}

int rules_accept(enum rule rule, const struct judgement *j, int d, double plain) {
    switch (rule) {
    case CERTIFIED:
        return j->violated == 0;
    case ALLCLOSE_2:
        return all_close(j, d, 1e-2, 1e-2);
    case ALLCLOSE_3:
        return all_close(j, d, 1e-3, 1e-3);
    case BOTH_LARGE:
        return none_both_large(j, d, 1e-2);
    case TWICE_PLAIN:
        return all_close(j, d, 2.0 * plain, 0.0);
    default:
        return cosine(j, d) > 0.99;
    }
}
