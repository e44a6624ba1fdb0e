/* SPDX-License-Identifier: Apache-2.0 */
/* After SGLang's extend attention, which verifies a tree of draft tokens: kv_indptr and kv_indices,
 * pages of one token. Stage 1 takes the prefix without a mask, stage 2 the new tokens with the
 * packed custom mask. binary16, natural exponentials. */
#include "page_numbers.h"

enum { BLOCK_N = 64, MAX_D = 512 };

struct extend_params {
    const uint16_t *Q_Extend, *K_Buffer, *V_Buffer;
    uint16_t *O_Extend;
    float *Lse;
    const int *qo_indptr, *kv_indptr, *kv_indices;
    const unsigned char *custom_mask;
    const size_t *mask_first;
    const int *mask_begin;
    float sm_scale;
    int64_t stride_qbs, stride_qh, stride_obs, stride_oh, stride_lbs, stride_lh;
    int64_t stride_buf_kbs, stride_buf_kh, stride_buf_vbs, stride_buf_vh;
    int d;
};

struct acc_state {
    float e_max, deno, acc[MAX_D];
};

/* Keys [start, start + n) of the sequence; `visible` bit n: key n is seen. */
static void tile(const struct extend_params *p, struct acc_state *st, const uint16_t *q,
                 const int *kv_indices, int start, int n, int kv_head, uint64_t visible) {
    float qk[BLOCK_N], n_e_max = st->e_max;
    for (int j = 0; j < n; j++) {
        qk[j] = -INFINITY;
        if (!(visible >> j & 1))
            continue;
        const uint16_t *K =
            p->K_Buffer + kv_indices[start + j] * p->stride_buf_kbs + kv_head * p->stride_buf_kh;
        float s = 0;
        for (int i = 0; i < p->d; i++)
            s += h2f(q[i]) * h2f(K[i]);
        qk[j] = s * p->sm_scale;
        if (qk[j] > n_e_max)
            n_e_max = qk[j];
    }
    if (n_e_max == -INFINITY)
        return;
    const float re_scale = expf(st->e_max - n_e_max);
    st->deno *= re_scale;
    for (int i = 0; i < p->d; i++)
        st->acc[i] *= re_scale;
    for (int j = 0; j < n; j++) {
        const float e = expf(qk[j] - n_e_max), pj = h2f(f2h(e));
        st->deno += e;
        if (!(visible >> j & 1))
            continue;
        const uint16_t *V =
            p->V_Buffer + kv_indices[start + j] * p->stride_buf_vbs + kv_head * p->stride_buf_vh;
        for (int i = 0; i < p->d; i++)
            st->acc[i] += pj * h2f(V[i]);
    }
    st->e_max = n_e_max;
}

static void fwd_kernel(const struct extend_params *p, int seq, int row, int head, int kv_head) {
    const int *kv_indices = p->kv_indices + p->kv_indptr[seq];
    const int cur_seq_len = p->kv_indptr[seq + 1] - p->kv_indptr[seq];
    const int pos = cur_seq_len - (p->qo_indptr[seq + 1] - row);
    const uint16_t *q = p->Q_Extend + row * p->stride_qbs + head * p->stride_qh;
    int seq_end = pos + 1 < cur_seq_len ? pos + 1 : cur_seq_len; /* a parent is before its child */
    if (seq_end < 0)
        seq_end = 0;
    int prefix_len = seq_end;
    if (p->custom_mask) {
        prefix_len = p->mask_begin[row] < seq_end ? p->mask_begin[row] : seq_end;
    }
    struct acc_state st = {.e_max = -INFINITY};
    for (int start = 0; start < prefix_len; start += BLOCK_N) {
        const int n = prefix_len - start < BLOCK_N ? prefix_len - start : BLOCK_N;
        tile(p, &st, q, kv_indices, start, n, kv_head, ~0ull);
    }
    for (int start = prefix_len; start < seq_end; start += BLOCK_N) {
        const int n = seq_end - start < BLOCK_N ? seq_end - start : BLOCK_N;
        uint64_t visible = 0;
        for (int j = 0; j < n; j++) {
            const size_t i = p->mask_first[row] + (start - prefix_len) + j;
            visible |= (uint64_t)(p->custom_mask[i / 8] >> i % 8 & 1) << j;
        }
        tile(p, &st, q, kv_indices, start, n, kv_head, visible);
    }
    uint16_t *o = p->O_Extend + row * p->stride_obs + head * p->stride_oh;
    for (int i = 0; i < p->d; i++)
        o[i] = f2h(st.deno > 0 ? st.acc[i] / st.deno : 0);
    if (p->Lse)
        p->Lse[row * p->stride_lbs + head * p->stride_lh] =
            st.deno > 0 ? st.e_max + logf(st.deno) : -INFINITY;
}

static const char *refuses(const struct cp_kernel_call *c) {
    return c->head_dim > MAX_D ? "d is at most 512" : NULL;
}

static int attend(const struct cp_kernel_call *c) {
    const struct extend_params p = {.Q_Extend = c->q,
                                    .K_Buffer = c->k,
                                    .V_Buffer = c->v,
                                    .O_Extend = c->out,
                                    .Lse = c->lse,
                                    .qo_indptr = c->query_begin,
                                    .kv_indptr = c->page_begin,
                                    .kv_indices = c->page_list,
                                    .custom_mask = c->mask_bits,
                                    .mask_first = c->mask_first,
                                    .mask_begin = c->mask_begin,
                                    .sm_scale = (float)c->scale,
                                    .stride_qbs = c->q_row,
                                    .stride_qh = c->q_head,
                                    .stride_obs = c->out_row,
                                    .stride_oh = c->out_head,
                                    .stride_lbs = c->lse_row,
                                    .stride_lh = c->lse_head,
                                    .stride_buf_kbs = c->k_chunk,
                                    .stride_buf_kh = c->k_head,
                                    .stride_buf_vbs = c->v_chunk,
                                    .stride_buf_vh = c->v_head,
                                    .d = c->head_dim};
    for (int s = 0; s < c->n_sequences; s++)
        for (int row = p.qo_indptr[s]; row < p.qo_indptr[s + 1]; row++)
            for (int h = 0; h < c->n_heads; h++)
                fwd_kernel(&p, s, row, h, h / (c->n_heads / c->n_kv_heads));
    return 0;
}

const struct cp_kernel cp_kernel = {
    .abi = CP_KERNEL_ABI,
    .name = "SGLang extend attention, tree mask",
    .q_type = CP_FP16,
    .kv_type = CP_FP16,
    .out_type = CP_FP16,
    .lse_type = CP_FP32,
    .masks = CP_MASKS_BITS,
    .layout = {.pages = CP_PAGES_OWN, .page_size = 1, .order = CP_ORDER_NHD},
    .arithmetic = {.score = CP_SUM_FP32,
                   .weights = CP_FP16,
                   .values = CP_SUM_FP32,
                   .partials = CP_FP32,
                   .exp_error = 0x1p-22,
                   .step = BLOCK_N},
    .refuses = refuses,
    .attend = attend,
};
