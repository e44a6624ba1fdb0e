/* SPDX-License-Identifier: Apache-2.0 */
#include "oracle.h"

#include <math.h>
#include <stddef.h>

static double score_of(const double *q, const double *key, int d, double scale) {
    double dot = 0.0;
    for (int x = 0; x < d; x++) {
        dot += q[x] * key[x];
    }
    return scale * dot;
}

double oracle_attention(const double *q, const double *k, const double *v, int n, int d,
                        double scale, double *out) {
    double highest = -INFINITY;
    double sum = 0.0;
    for (int x = 0; x < d; x++) {
        out[x] = 0.0;
    }
    for (int j = 0; j < n; j++) {
        highest = fmax(highest, score_of(q, k + (ptrdiff_t)j * d, d, scale));
    }
    for (int j = 0; j < n; j++) {
        double weight = exp(score_of(q, k + (ptrdiff_t)j * d, d, scale) - highest);
        sum += weight;
        for (int x = 0; x < d; x++) {
            out[x] += weight * v[(ptrdiff_t)j * d + x];
        }
    }
    for (int x = 0; x < d && n > 0; x++) {
        out[x] /= sum;
    }
    return n > 0 ? highest + log(sum) : -INFINITY;
}
