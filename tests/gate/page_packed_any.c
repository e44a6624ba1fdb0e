/* SPDX-License-Identifier: Apache-2.0 */
/* K packed by 12 and V packed by 5, in bfloat16, by strides (k_group, v_group), pages of any size
 * by indptr and indices. x divides d only by chance. Steps of 8 keys. Somebody who had seen the
 * header and the specification alone wrote it, with the mistakes that tests/faults/ makes of it. */
#include "page_numbers.h"
enum { KX = 12, VX = 5, STEP = 8 };

static int attend(const struct cp_kernel_call *c) {
    const uint16_t *q = c->q;
    const int d = c->head_dim, P = c->page_size, per = c->n_heads / c->n_kv_heads;
    long long kg = c->k_group, vg = c->v_group, kh = c->k_head;
    const int vx = VX;
    float o[MOST_D];
    for (int s = 0; s < c->n_sequences; s++) {
        const int *list = c->page_list + c->page_begin[s];
        for (int r = c->query_begin[s]; r < c->query_begin[s + 1]; r++)
            for (int a = 0; a < c->n_heads; a++) {
                const uint16_t *qr = q + r * c->q_row + a * c->q_head;
                const int g = a / per, seen = c->position[r] + 1;
                float m = -INFINITY, n = 0;
                for (int e = 0; e < d; e++)
                    o[e] = 0;
                for (int t = 0; t < seen; t += STEP) {
                    const int w = imin(STEP, seen - t);
                    float x[STEP] = {0}, big = m;
                    long long page[STEP], slot[STEP];
                    for (int j = 0; j < w; j++)
                        page[j] = list[(t + j) / P], slot[j] = (t + j) % P;
                    const int groups = cdiv(d, KX);
                    for (int gr = 0; gr < groups; gr++) {
                        const int in_group = imin(KX, d - gr * KX);
                        for (int j = 0; j < w; j++) {
                            const uint16_t *k = (const uint16_t *)c->k + page[j] * c->k_chunk +
                                                g * kh + gr * kg + slot[j] * KX;
                            for (int i = 0; i < in_group; i++)
                                x[j] += b2f(qr[imin(gr * KX + i, d - 1)]) *
                                        (gr * KX + i < d ? 1.f : 0.f) * b2f(k[i]);
                        }
                    }
                    for (int j = 0; j < w; j++)
                        x[j] *= (float)c->scale, big = fmaxf(big, x[j]);
                    const float f = expf(m - big);
                    n *= f, m = big;
                    for (int j = 0; j < w; j++)
                        x[j] = expf(x[j] - m), n += x[j];
                    for (int e = 0; e < d; e++) {
                        float sum = o[e] * f;
                        for (int j = 0; j < w; j++)
                            sum +=
                                x[j] *
                                b2f(((const uint16_t *)c->v)[page[j] * c->v_chunk + g * c->v_head +
                                                             e / vx * vg + slot[j] * vx + e % vx]);
                        o[e] = sum;
                    }
                }
                for (int e = 0; e < d; e++)
                    ((float *)c->out)[r * c->out_row + a * c->out_head + e] =
                        seen > 0 ? o[e] / n : 0;
                if (c->lse)
                    ((double *)c->lse)[r * c->lse_row + a * c->lse_head] =
                        seen > 0 ? (double)(m + logf(n)) : -INFINITY;
            }
    }
    return 0;
}

const struct cp_kernel cp_kernel = {
    .abi = CP_KERNEL_ABI,
    .name = "page-packed-any",
    .q_type = CP_BF16,
    .kv_type = CP_BF16,
    .out_type = CP_FP32,
    .lse_type = CP_FP64,
    .layout = {.pages = CP_PAGES_OWN, .k_pack = KX, .v_pack = VX},
    .conventions = {.invariant = CP_INVARIANT_CUTS},
    .arithmetic = {.score = CP_SUM_FP32,
                   .weights = CP_FP32,
                   .rotated = CP_FP32,
                   .k_dequantised = CP_FP32,
                   .v_dequantised = CP_FP32,
                   .values = CP_SUM_FP32,
                   .partials = CP_FP32,
                   .exp_error = 0x1p-22,
                   .step = STEP},
    .attend = attend,
};
