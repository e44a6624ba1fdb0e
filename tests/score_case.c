/* SPDX-License-Identifier: Apache-2.0 */
#include "score_case.h"

#include <math.h>
#include <stdlib.h>

#include "random.h"

void score_case_draw(struct attend_case *c, struct score_case *drawn, unsigned long long seed) {
    const double caps[] = {0x1p-6, 0.5, 2.0, 30.0, 50.0, 1000.0, 0x1p20};
    const double slopes[] = {0.0, 0.25, -0.25, 0x1p-8, -0x1p-8, 3.0, -3.0, 100.0};
    const double sinks[] = {0.0, 1.5, -1.5, 4.0, 40.0, -40.0, 1e4, -1e4};
    unsigned long long random = seed;
    if (c->attention.n_heads > SCORE_CASE_HEADS) {
        abort();
    }
    for (int head = 0; head < SCORE_CASE_HEADS; head++) {
        drawn->slopes[head] = slopes[random_below(&random, 8)];
        drawn->sinks[head] = sinks[random_below(&random, 8)];
    }
    c->attention.scores.cap = seed % 2 == 0 ? 0.0 : caps[seed / 8 % 7];
    c->attention.scores.slopes = seed / 2 % 2 == 0 ? NULL : drawn->slopes;
    c->attention.scores.sinks = seed / 4 % 2 == 0 ? NULL : drawn->sinks;
    int n = 1 + random_below(&random, seed / 16 % 2 == 0 ? 9 : SCORE_CASE_BIASES);
    int own = random_below(&random, 3) == 0 ? 0 : random_below(&random, n);
    for (int i = 0; i < c->attention.n_heads * n; i++) {
        drawn->biases[i] = (random_below(&random, 1024) - 512) / 64.0;
    }
    c->attention.scores.biases =
        (struct cp_biases){seed / 8 % 2 == 0 ? NULL : drawn->biases, n, own};
}

int score_case_changes(const struct attend_case *c) {
    const struct cp_scores *scores = &c->attention.scores;
    return scores->cap > 0.0 || scores->slopes != NULL || scores->sinks != NULL ||
           scores->biases.bias != NULL;
}

/* SCORE-5 */
static double bias_of(const struct attend_case *c, int row, int head, int j) {
    const struct cp_biases *biases = &c->attention.scores.biases;
    long long i = biases->own + case_position(c, row) - j;
    i = i < 0 ? 0 : i >= biases->n ? biases->n - 1 : i;
    return biases->bias[head * biases->n + i];
}

/* NUM-15. Of slopes and a table, the table's bias is added to a score that has the slope's. */
struct cp_shift score_case_shift(const struct attend_case *c, int row, int head, int j,
                                 const struct cp_score_arithmetic *kernel,
                                 const struct cp_shift_arithmetic *shift, double *score) {
    const struct cp_attention *a = &c->attention;
    size_t d = (size_t)a->head_dim;
    size_t at = case_key(c, case_sequence_of(c, row), j, head / (a->n_heads / a->n_kv_heads));
    const double *q = c->q + ((size_t)row * (size_t)a->n_heads + (size_t)head) * d;
    const struct cp_score_arithmetic here = cp_arithmetic_fp64(a->head_dim).score;
    struct cp_score_change change = {.cap = a->scores.cap, .without_bias = 1};
    double sum = 0.0, magnitude = 0.0;
    for (size_t x = 0; x < d; x++) {
        sum += q[x] * c->k[at + x];
        magnitude += fabs(q[x] * c->k[at + x]);
    }
    magnitude *= fabs(a->scale) * (1.0 + 0x1p-30); /* more than the sum of products loses */
    if (a->scores.slopes != NULL) {
        change.bias = a->scores.slopes[head] * (double)(j - case_position(c, row));
        change.without_bias = 0;
    }
    double error = cp_score_error(&here, a->scale, a->head_dim, magnitude);
    double sigma = cp_score_error(kernel, a->scale, a->head_dim, magnitude);
    struct cp_shift changed = cp_shift_of(shift, &change, a->scale * sum, error, sigma);
    *score = a->scale * sum + changed.shift;
    if (a->scores.biases.bias == NULL) {
        return changed;
    }
    struct cp_score_change table = {.bias = bias_of(c, row, head, j)};
    struct cp_shift biased =
        cp_shift_of(shift, &table, *score, error + changed.error, sigma + changed.error);
    *score += biased.shift;
    return (struct cp_shift){changed.shift + biased.shift, changed.error + biased.error};
}

struct cp_shift score_case_shift_sink(const struct attend_case *c, int head,
                                      const struct cp_shift_arithmetic *shift, double *score) {
    *score = c->attention.scores.sinks[head];
    return cp_shift_of_sink(shift, *score);
}
