/* SPDX-License-Identifier: Apache-2.0 */
/* As TensorRT-LLM's paged decode for a model with sinks and sliding windows: HND, pages of 64,
 * [page][2][head][slot][d] with gaps behind pages (one tensor of all layers), bfloat16. Blocks of
 * 4 pages each give (o, m, l); a last step combines them, with the sink. The log-sum-exp is that
 * of the keys alone. Somebody who had seen the header and the specification alone wrote it, with
 * the mistakes that tests/faults/ makes of it. */
#include "page_numbers.h"
enum { PAGE = 64, SPAN = 4 * PAGE };

static int most_parts(const struct cp_kernel_call *c) {
    return cdiv(imax(c->page_table_width, 1) * PAGE, SPAN) + 1;
}

static int attend(const struct cp_kernel_call *c) {
    const uint16_t *pool = c->k, *q = c->q;
    const int d = c->head_dim, hk = c->n_kv_heads, per = c->n_heads / hk, parts = most_parts(c);
    float *pm = c->workspace, *pl = pm + parts, *po = pl + parts;
    for (int s = 0; s < c->n_sequences; s++)
        for (int r = c->query_begin[s]; r < c->query_begin[s + 1]; r++)
            for (int a = 0; a < c->n_heads; a++) {
                const int *table = c->page_table + (long long)s * c->page_table_width;
                const uint16_t *qr = q + r * c->q_row + a * c->q_head;
                const int g = a / per, end = c->position[r] + 1,
                          lo = c->window ? imax(0, end - c->window) : 0;
                const int first = lo / PAGE;
                const int pages = cdiv(end, PAGE);
                const int np = end > 0 ? cdiv(pages - first, 4) : 0;
                for (int p = 0; p < np; p++) {
                    float *o = po + (long long)p * d, m = -INFINITY, l = 0;
                    memset(o, 0, sizeof(float) * (size_t)d);
                    for (int i = first + 4 * p; i < imin(first + 4 * p + 4, pages); i++) {
                        const long long page = table[i];
                        const uint16_t *k = pool + page * c->k_chunk + (long long)g * PAGE * d,
                                       *v = k + c->v_offset;
                        const int t0 = imax(0, lo - i * PAGE), t1 = imin(PAGE, end - i * PAGE);
                        float x[PAGE], big = m;
                        for (int t = t0; t < t1; t++) {
                            const uint16_t *kt = k + (long long)t * d;
                            float dot = 0;
                            for (int e = 0; e < d; e++)
                                dot += b2f(qr[e]) * b2f(kt[e]);
                            x[t] = dot * (float)c->scale, big = fmaxf(big, x[t]);
                        }
                        if (t0 >= t1)
                            continue;
                        const float f = expf(m - big);
                        m = big, l *= f;
                        for (int e = 0; e < d; e++)
                            o[e] *= f;
                        for (int t = t0; t < t1; t++) {
                            const float w = expf(x[t] - m);
                            l += w;
                            for (int e = 0; e < d; e++)
                                o[e] += w * b2f(v[(long long)t * d + e]);
                        }
                    }
                    pm[p] = m, pl[p] = l;
                }
                const float sink = c->sinks ? c->sinks[a] : -INFINITY;
                float m = -INFINITY, l = 0;
                for (int p = 0; p < np; p++)
                    m = fmaxf(m, pm[p]);
                const float keys_m = m;
                m = fmaxf(m, sink);
                float keys_l = 0;
                for (int p = 0; p < np; p++) {
                    keys_l += pl[p] * expf(pm[p] - keys_m);
                    pm[p] = expf(pm[p] - m);
                    l += pl[p] * pm[p];
                }
                if (c->sinks)
                    l += expf(sink - m);
                for (int e = 0; e < d; e++) {
                    float o = 0;
                    for (int p = 0; p < np; p++)
                        o += po[(long long)p * d + e] * pm[p];
                    ((uint16_t *)c->out)[r * c->out_row + a * c->out_head + e] =
                        f2b(np > 0 ? o / l : 0);
                }
                if (c->lse)
                    ((float *)c->lse)[r * c->lse_row + a * c->lse_head] =
                        np > 0 ? keys_m + logf(keys_l) : -INFINITY;
                (void)keys_l;
            }
    return 0;
}

static size_t workspace(const struct cp_kernel_call *c) {
    return sizeof(float) * (size_t)most_parts(c) * (size_t)(2 + c->head_dim);
}

const struct cp_kernel cp_kernel = {
    .abi = CP_KERNEL_ABI,
    .name = "page-sinks",
    .q_type = CP_BF16,
    .kv_type = CP_BF16,
    .out_type = CP_BF16,
    .lse_type = CP_FP32,
    .masks = CP_MASKS_WINDOW,
    .scores = CP_SCORES_SINKS,
    .layout = {.pages = CP_PAGES_OWN,
               .page_size = PAGE,
               .order = CP_ORDER_HND,
               .gaps = CP_GAPS_PAGES,
               .tensors = CP_TENSORS_PAGES},
    .conventions = {.sink = CP_SINK_BESIDE_LSE, .invariant = CP_INVARIANT_CUTS},
    .arithmetic = {.score = CP_SUM_FP32,
                   .weights = CP_FP32,
                   .rotated = CP_FP32,
                   .k_dequantised = CP_FP32,
                   .v_dequantised = CP_FP32,
                   .values = CP_SUM_FP32,
                   .partials = CP_FP32,
                   .exp_error = 0x1p-22,
                   .step = PAGE},
    .workspace = workspace,
    .attend = attend,
};
