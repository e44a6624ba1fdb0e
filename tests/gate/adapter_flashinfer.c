/* SPDX-License-Identifier: Apache-2.0 */
/* After FlashInfer's BatchPrefillWithPagedKVCache: a paged_kv_t of indptr, indices and
 * last_page_len, K and V in one tensor [page][2][page_size][head][d], rows by qo_indptr, nothing
 * split. binary16, exponentials of base 2, a log-sum-exp in bits. */
#include "page_numbers.h"

enum { TILE_KV = 32, MAX_D = MOST_D };

struct paged_kv {
    int num_heads, page_size, head_dim, batch_size;
    int64_t stride_page, stride_n, stride_h;
    const uint16_t *k_data, *v_data;
    const int *indices, *indptr, *last_page_len;
};

static int64_t get_elem_offset(const struct paged_kv *kv, int64_t page, int64_t head,
                               int64_t entry) {
    return page * kv->stride_page + head * kv->stride_h + entry * kv->stride_n;
}

static uint32_t get_length(const struct paged_kv *kv, int b) {
    const uint32_t pages = (uint32_t)(kv->indptr[b + 1] - kv->indptr[b]);
    const uint32_t page_size = (uint32_t)kv->page_size;
    return pages == 0 ? 0 : (pages - 1) * page_size + (uint32_t)kv->last_page_len[b];
}

static const uint16_t *get(const struct paged_kv *kv, const uint16_t *data, int b, int head,
                           int64_t pos) {
    const int page = kv->indices[kv->indptr[b] + pos / kv->page_size];
    return data + get_elem_offset(kv, page, head, pos % kv->page_size);
}

struct state {
    float m, d, o[MAX_D];
};

/* Keys [0, limit) of sequence b, for one row and head. */
static void attend_row(struct state *st, const struct paged_kv *kv, const uint16_t *q, int b,
                       int head, int64_t limit, float sm_scale_log2) {
    st->m = -INFINITY;
    st->d = 0;
    for (int x = 0; x < kv->head_dim; x++)
        st->o[x] = 0;
    for (int64_t t0 = 0; t0 < limit; t0 += TILE_KV) {
        const int64_t n = limit - t0 < TILE_KV ? limit - t0 : TILE_KV;
        float s[TILE_KV];
        const float m_prev = st->m;
        for (int64_t j = 0; j < n; j++) {
            const uint16_t *k = get(kv, kv->k_data, b, head, t0 + j);
            float acc = 0;
            for (int x = 0; x < kv->head_dim; x++)
                acc += h2f(q[x]) * h2f(k[x]);
            s[j] = acc * sm_scale_log2;
            st->m = s[j] > st->m ? s[j] : st->m;
        }
        const float o_scale = exp2f(m_prev - st->m);
        st->d *= o_scale;
        for (int x = 0; x < kv->head_dim; x++)
            st->o[x] *= o_scale;
        for (int64_t j = 0; j < n; j++) {
            const float p = exp2f(s[j] - st->m), p16 = h2f(f2h(p));
            st->d += p;
            const uint16_t *v = get(kv, kv->v_data, b, head, t0 + j);
            for (int x = 0; x < kv->head_dim; x++)
                st->o[x] += p16 * h2f(v[x]);
        }
    }
}

static int attend(const struct cp_kernel_call *c) {
    const struct paged_kv kv = {.num_heads = c->n_kv_heads,
                                .page_size = c->page_size,
                                .head_dim = c->head_dim,
                                .batch_size = c->n_sequences,
                                .stride_page = c->k_chunk,
                                .stride_n = c->k_slot,
                                .stride_h = c->k_head,
                                .k_data = c->k,
                                .v_data = (const uint16_t *)c->k + c->v_offset,
                                .indices = c->page_list,
                                .indptr = c->page_begin,
                                .last_page_len = c->last_page_tokens};
    const uint16_t *q = c->q;
    uint16_t *o = c->out;
    float *lse = c->lse;
    const float sm_scale_log2 = (float)c->scale * 1.4426950408889634f;
    const int group = c->n_heads / kv.num_heads;
    struct state st;
    for (int b = 0; b < kv.batch_size; b++) {
        const int64_t kv_len = get_length(&kv, b),
                      qo_len = c->query_begin[b + 1] - c->query_begin[b];
        for (int64_t i = 0; i < qo_len; i++)
            for (int h = 0; h < c->n_heads; h++) {
                const int64_t limit = kv_len + i + 1 > qo_len ? kv_len - qo_len + i + 1 : 0;
                const int64_t row = c->query_begin[b] + i;
                attend_row(&st, &kv, q + row * c->q_row + h * c->q_head, b, h / group, limit,
                           sm_scale_log2);
                const float d_rcp = st.m != -INFINITY ? 1.0f / st.d : 0.f;
                for (int x = 0; x < kv.head_dim; x++)
                    o[row * c->out_row + h * c->out_head + x] = f2h(st.o[x] * d_rcp);
                if (lse)
                    lse[row * c->lse_row + h * c->lse_head] =
                        st.m != -INFINITY ? log2f(st.d) + st.m : -INFINITY;
            }
    }
    return 0;
}

const struct cp_kernel cp_kernel = {
    .abi = CP_KERNEL_ABI,
    .name = "FlashInfer batch prefill, paged",
    .q_type = CP_FP16,
    .kv_type = CP_FP16,
    .out_type = CP_FP16,
    .lse_type = CP_FP32,
    .layout = {.pages = CP_PAGES_OWN,
               .gaps = CP_GAPS_PAGES,
               .order = CP_ORDER_NHD,
               .tensors = CP_TENSORS_PAGES},
    .conventions = {.lse_base = CP_LSE_BITS},
    .arithmetic = {.score = CP_SUM_FP32,
                   .weights = CP_FP16,
                   .values = CP_SUM_FP32,
                   .partials = CP_FP32,
                   .in_bits = 1,
                   .exp_error = 0x1p-22,
                   .divide_error = 0x1.02p-24,
                   .step = TILE_KV},
    .attend = attend,
};
