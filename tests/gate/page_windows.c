/* SPDX-License-Identifier: Apache-2.0 */
/* Sliding window over pages of any size, HND by strides, binary32; window_left as FlashInfer and
 * FlashAttention have it (keys before the row's own), and first tokens that are kept
 * (StreamingLLM). Pages before the window are skipped. One maximum for each page. Somebody who
 * had seen the header and the specification alone wrote it, with the mistakes that tests/faults/
 * makes of it. */
#include "page_numbers.h"

struct state {
    float m, n, *o;
};

/* keys from .. to - 1, page by page */
static void walk(const struct cp_kernel_call *c, const int *table, const float *q, int g, int from,
                 int to, int lo, struct state *st) {
    const int P = c->page_size, d = c->head_dim;
    const float *k = c->k, *v = c->v;
    (void)lo;
    int p = from / P;
    for (; p * P < to; p++) {
        const long long page = table[p];
        const int s0 = imax(0, from - p * P);
        const int s1 = imin(P, to - p * P);
        float x[CP_MOST_PAGE], m = st->m;
        for (int t = s0; t < s1; t++) {
            const float *kr = k + page * c->k_chunk + g * c->k_head + t * c->k_slot;
            float dot = 0;
            for (int e = 0; e < d; e++)
                dot += q[e] * kr[e];
            x[t] = dot * (float)c->scale;
            m = fmaxf(m, x[t]);
        }
        if (m == -INFINITY)
            continue;
        const float f = expf(st->m - m);
        st->m = m, st->n *= f;
        for (int e = 0; e < d; e++)
            st->o[e] *= f;
        for (int t = s0; t < s1; t++) {
            const float *vr = v + page * c->v_chunk + g * c->v_head + t * c->v_slot;
            const float w = expf(x[t] - m);
            st->n += w;
            for (int e = 0; e < d; e++)
                st->o[e] += w * vr[e];
        }
    }
}

static int attend(const struct cp_kernel_call *c) {
    const float *q = c->q;
    float *out = c->out, *lse = c->lse, o[MOST_D];
    for (int s = 0; s < c->n_sequences; s++)
        for (int r = c->query_begin[s]; r < c->query_begin[s + 1]; r++)
            for (int a = 0; a < c->n_heads; a++) {
                struct state st = {-INFINITY, 0, o};
                const int pos = c->position[r], g = a / (c->n_heads / c->n_kv_heads),
                          end = imin(pos + 1, c->n_tokens[s]);
                const int lo = c->window < 0 ? 0 : imax(0, pos - c->window);
                const int kept = imin(imin(c->kept, lo), end);
                const int *table = c->page_table + (long long)s * c->page_table_width;
                memset(o, 0, sizeof(float) * (size_t)c->head_dim);
                walk(c, table, q + r * c->q_row + a * c->q_head, g, 0, kept, 0, &st);
                walk(c, table, q + r * c->q_row + a * c->q_head, g, lo, end, lo, &st);
                for (int e = 0; e < c->head_dim; e++)
                    out[r * c->out_row + a * c->out_head + e] = st.n > 0 ? o[e] / st.n : 0;
                if (lse)
                    lse[r * c->lse_row + a * c->lse_head] =
                        st.n > 0 ? st.m + logf(st.n) : -INFINITY;
            }
    return 0;
}

const struct cp_kernel cp_kernel = {
    .abi = CP_KERNEL_ABI,
    .name = "page-windows",
    .q_type = CP_FP32,
    .kv_type = CP_FP32,
    .out_type = CP_FP32,
    .lse_type = CP_FP32,
    .masks = CP_MASKS_WINDOW | CP_MASKS_KEPT,
    .layout = {.pages = CP_PAGES_OWN, .order = CP_ORDER_HND},
    .conventions = {.window = CP_WINDOW_BEFORE, .invariant = CP_INVARIANT_CUTS},
    .arithmetic = {.score = CP_SUM_FP32,
                   .weights = CP_FP32,
                   .rotated = CP_FP32,
                   .k_dequantised = CP_FP32,
                   .v_dequantised = CP_FP32,
                   .values = CP_SUM_FP32,
                   .partials = CP_FP32,
                   .exp_error = 0x1p-22,
                   .step = 0},
    .attend = attend,
};
