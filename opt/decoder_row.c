/* SPDX-License-Identifier: Apache-2.0 */
/* What a run does with a row by itself: norms, and the function of the network. */
#include <math.h>
#include <string.h>

#include "chunkproof/layers.h"
#include "opt/decoder_internal.h"

/* Sums are in double, as they cost nothing beside a product of matrices. */
void cp_opt_norm(float *y, const float *x, const float *weight, const float *bias,
                 const struct cp_decoder_shape *shape) {
    int d = shape->d_model;
    double mean = 0.0, squares = 0.0;
    if (shape->norm == CP_NORM_LAYER) {
        for (int c = 0; c < d; c++) {
            mean += x[c];
        }
        mean /= d;
    }
    for (int c = 0; c < d; c++) {
        squares += (x[c] - mean) * (x[c] - mean);
    }
    double by = 1.0 / sqrt(squares / d + shape->norm_epsilon);
    for (int c = 0; c < d; c++) {
        y[c] = (float)((x[c] - mean) * by * weight[c] + (bias == NULL ? 0.0 : bias[c]));
    }
}

#define AT_ONCE CP_OPT_KEYS

/* silu(x) = x e / (1 + e) below 0 and x / (1 + e) from 0 on, e = exp(-|x|): e is never above 1. */
static void gate_some(const struct cp_opt_kernels *kernels, float *up, const float *gate, int n) {
    float negative[AT_ONCE] = {0.0F}, e[AT_ONCE];
    for (int c = 0; c < n; c++) {
        negative[c] = -fabsf(gate[c]);
    }
    kernels->exponentials(e, negative, AT_ONCE);
    for (int c = 0; c < n; c++) {
        float part = (gate[c] < 0.0F ? e[c] : 1.0F) / (1.0F + e[c]);
        up[c] *= gate[c] * part;
    }
}

void cp_opt_activate(const struct cp_opt_kernels *kernels, float *up, const float *gate, int n,
                     int network) {
    if (network == CP_NETWORK_SWIGLU) {
        for (int c = 0; c < n; c += AT_ONCE) {
            gate_some(kernels, up + c, gate + c, n - c < AT_ONCE ? n - c : AT_ONCE);
        }
        return;
    }
    for (int c = 0; c < n; c++) {
        up[c] = (float)(network == CP_NETWORK_GELU_TANH ? cp_gelu_tanh(up[c]) : cp_gelu_erf(up[c]));
    }
}
