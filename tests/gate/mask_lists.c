/* SPDX-License-Identifier: Apache-2.0 */
/* Modelled on Prompt Cache and Hydragen: chunks of modules with lists of the sequences that have
 * them, a divided partial result with its log-sum-exp for each descriptor and row that it serves,
 * merged as cascade attention does. The mask of a row and a run becomes words of 64 slots. Plans
 * of lists, gaps, keys ahead, bfloat16. Somebody who had seen the header and the specification
 * alone wrote it, with the mistakes that tests/faults/ makes of it. */
#include "page_numbers.h"

#define MOST_C 4096
#define WIDEST 512

struct part {
    float l, o[WIDEST]; /* log-sum-exp, result */
};

/* The merged result of each row and head, and how many parts it has. */
static size_t workspace(const struct cp_kernel_call *c) {
    return (size_t)c->n_rows * (size_t)c->n_heads * sizeof(struct part);
}

/* Which of the slots w .. w + 63 of a run of `tokens` keys at `at` row r sees. */
static uint64_t word_of(const struct cp_kernel_call *c, int r, int at, int tokens, int w) {
    int begin, f = at + w, end = c->position[r] + c->ahead + 1 - at;
    uint64_t word;
    size_t i;
    end = end < 0 ? 0 : end > tokens ? tokens : end;
    end = end - w < 0 ? 0 : end - w > 64 ? 64 : end - w;
    word = end == 64 ? ~0ull : (1ull << end) - 1;
    if (!c->mask_bytes || end == 0)
        return word;
    begin = c->mask_begin[r];
    if (f + end <= begin)
        return word;
    i = c->mask_first[r];
    if (f > begin)
        i += (size_t)(f - begin);
    for (int j = f < begin ? begin - f : 0; j < end; j++, i++) {
        if (!(c->mask_bits[i / 8] >> i % 8 & 1))
            word &= ~(1ull << j);
    }
    return word;
}

/* Attention of row r and head a over what it sees of a run, for the mask of row mr. */
static void partial(const struct cp_kernel_call *c, int chunk, int at, int tokens, int r, int mr,
                    int a, struct part *p) {
    static _Thread_local float score[MOST_C];
    int d = c->head_dim, kv = a / (c->n_heads / c->n_kv_heads);
    const uint16_t *q = (const uint16_t *)c->q + r * c->q_row + a * c->q_head;
    const uint16_t *k = (const uint16_t *)c->k + chunk * c->k_chunk + kv * c->k_head;
    const uint16_t *v = (const uint16_t *)c->v + chunk * c->v_chunk + kv * c->v_head;
    float m = -INFINITY, n = 0;
    memset(p->o, 0, sizeof(float) * (size_t)d);
    for (int w = 0; w < tokens; w += 64) {
        uint64_t word = word_of(c, mr, at, tokens, w);
        for (int j = 0; j < 64 && w + j < tokens; j++) {
            float sum = 0;
            score[w + j] = -INFINITY;
            if (!(word >> j & 1))
                continue;
            for (int e = 0; e < d; e++)
                sum += b2f(q[e]) * b2f(k[(w + j) * c->k_slot + e]);
            score[w + j] = sum * (float)c->scale;
            m = score[w + j] > m ? score[w + j] : m;
        }
    }
    p->l = -INFINITY;
    if (m == -INFINITY)
        return;
    for (int slot = 0; slot < tokens; slot++) {
        float x = expf(score[slot] - m);
        n += x;
        for (int e = 0; e < d && x > 0; e++)
            p->o[e] += x * b2f(v[slot * c->v_slot + e]);
    }
    for (int e = 0; e < d; e++)
        p->o[e] /= n;
    p->l = m + logf(n);
}

static void merge(struct part *to, const struct part *p, int d) {
    float top = to->l > p->l ? to->l : p->l, x, y;
    if (top == -INFINITY)
        return;
    x = expf(to->l - top);
    y = expf(p->l - top);
    for (int e = 0; e < d; e++)
        to->o[e] = (x * to->o[e] + y * p->o[e]) / (x + y);
    to->l = top + logf(x + y);
}

static int attend(const struct cp_kernel_call *c) {
    static _Thread_local struct part p;
    struct part *all = c->workspace;
    int d = c->head_dim, h = c->n_heads;
    for (int i = 0; i < c->n_rows * h; i++) {
        all[i].l = -INFINITY;
        memset(all[i].o, 0, sizeof(float) * (size_t)d);
    }
    for (int x = 0; x < c->n_shared; x++) {
        const struct cp_shared_chunk *sh = &c->shared[x];
        for (int at = sh->begin; at < sh->end; at++) {
            int s = c->served[at];
            for (int r = c->query_begin[s]; r < c->query_begin[s + 1]; r++)
                for (int a = 0; a < h; a++) {
                    int mr = r, position = sh->position;
                    partial(c, sh->chunk, position, sh->n_tokens, r, mr, a, &p);
                    merge(&all[r * h + a], &p, d);
                }
        }
    }
    for (int s = 0; s < c->n_sequences; s++) {
        for (int i = 0; c->table[s * c->table_width + i] >= 0; i++) {
            int at = s * c->table_width + i, position = c->table_position[at];
            if (i < c->n_shared_chunks[s])
                continue;
            for (int r = c->query_begin[s]; r < c->query_begin[s + 1]; r++)
                for (int a = 0; a < h; a++) {
                    partial(c, c->table[at], position, c->table_tokens[at], r, r, a, &p);
                    merge(&all[r * h + a], &p, d);
                }
        }
    }
    for (int r = 0; r < c->n_rows; r++)
        for (int a = 0; a < h; a++) {
            const struct part *x = &all[r * h + a];
            for (int e = 0; e < d; e++)
                ((uint16_t *)c->out)[r * c->out_row + a * c->out_head + e] = f2b(x->o[e]);
            if (c->lse)
                ((float *)c->lse)[r * c->lse_row + a * c->lse_head] = x->l;
        }
    return 0;
}

static const char *refuses(const struct cp_kernel_call *c) {
    return c->head_dim > WIDEST     ? "head_dim above 512"
           : c->chunk_size > MOST_C ? "chunks above 4096"
                                    : NULL;
}

const struct cp_kernel cp_kernel = {
    .abi = CP_KERNEL_ABI,
    .name = "mask-lists",
    .q_type = CP_BF16,
    .kv_type = CP_BF16,
    .out_type = CP_BF16,
    .lse_type = CP_FP32,
    .plans = CP_PLANS_LISTS,
    .masks = CP_MASKS_AHEAD | CP_MASKS_BITS,
    .arithmetic = {.score = CP_SUM_FP32,
                   .weights = CP_FP32,
                   .rotated = CP_FP32,
                   .k_dequantised = CP_FP32,
                   .v_dequantised = CP_FP32,
                   .scales = CP_SCALES_SCORES,
                   .values = CP_SUM_FP32,
                   .partials = CP_FP32,
                   .divides = 1,
                   .factors = CP_FACTORS_FP32,
                   .exp_error = 0x1p-22,
                   .step = 0},
    .refuses = refuses,
    .workspace = workspace,
    .attend = attend,
};
