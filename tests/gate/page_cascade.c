/* SPDX-License-Identifier: Apache-2.0 */
/* As FlashInfer's cascade attention. First phase: each shared chunk of the plan for all rows of
 * the sequences that it serves, keys once for all of them, addresses through the page list of the
 * first of these; the states are merged at once. Second phase: each sequence's own keys. States
 * are (o, s) with o divided and s the log-sum-exp in base 2. Somebody who had seen the header and
 * the specification alone wrote it, with the mistakes that tests/faults/ makes of it. */
#include "page_numbers.h"
enum { TILE = 32 };

struct ctx {
    const struct cp_kernel_call *c;
    float *o, *s, *kt, *vt, *mine;
};

/* merge_state: (o, s) of row r and head a with (p, sp) */
static void merge(const struct ctx *x, long long r, int a, const float *p, float sp) {
    const int d = x->c->head_dim;
    float *o = x->o + (r * x->c->n_heads + a) * d, *s = x->s + r * x->c->n_heads + a;
    const float m = fmaxf(*s, sp);
    if (m == -INFINITY)
        return;
    const float w0 = exp2f(*s - m), w1 = exp2f(sp - m), sum = w0 + w1;
    for (int e = 0; e < d; e++)
        o[e] = (w0 * o[e] + w1 * p[e]) / sum;
    *s = m + log2f(sum);
}

/* the keys from .. to - 1 of a sequence, for the rows of the sequences served[b0 .. b1) */
static void part(const struct ctx *x, int owner, int from, int to, const int *served, int b0,
                 int b1) {
    const struct cp_kernel_call *c = x->c;
    const int d = c->head_dim, P = c->page_size, group = c->n_heads / c->n_kv_heads;
    for (int g = 0; g < c->n_kv_heads; g++) {
        const uint16_t *k = (const uint16_t *)c->k + g * c->k_head,
                       *v = (const uint16_t *)c->v + g * c->v_head;
        for (int e = 0; e < to - from; e++) {
            const int j = from + e;
            const long long page = c->page_list[c->page_begin[owner] + j / P];
            const long long slot = j % P;
            for (int i = 0; i < d; i++) {
                x->kt[(long long)e * d + i] = h2f(k[page * c->k_chunk + slot * c->k_slot + i]);
                x->vt[(long long)e * d + i] = h2f(v[page * c->v_chunk + slot * c->v_slot + i]);
            }
        }
        for (int b = b0; b < b1; b++)
            for (int r = c->query_begin[served[b]]; r < c->query_begin[served[b] + 1]; r++)
                for (int a = g * group; a < (g + 1) * group; a++) {
                    const uint16_t *q = (const uint16_t *)c->q + r * c->q_row + a * c->q_head;
                    const int n = imin(to, c->position[r] + 1) - from;
                    if (n <= 0)
                        continue;
                    float m = -INFINITY, sum = 0, w[TILE];
                    memset(x->mine, 0, sizeof(float) * (size_t)d);
                    for (int t = 0; t < n; t += TILE) {
                        const int end = imin(TILE, n - t);
                        float big = m;
                        for (int j = 0; j < end; j++) {
                            float dot = 0;
                            for (int i = 0; i < d; i++)
                                dot += h2f(q[i]) * x->kt[(long long)(t + j) * d + i];
                            w[j] = dot * ((float)c->scale * LOG2E);
                            big = fmaxf(big, w[j]);
                        }
                        const float f = exp2f(m - big);
                        m = big, sum *= f;
                        for (int i = 0; i < d; i++)
                            x->mine[i] *= f;
                        for (int j = 0; j < end; j++) {
                            w[j] = exp2f(w[j] - m), sum += w[j];
                            for (int i = 0; i < d; i++)
                                x->mine[i] += w[j] * x->vt[(long long)(t + j) * d + i];
                        }
                    }
                    for (int i = 0; i < d; i++)
                        x->mine[i] /= sum;
                    merge(x, r, a, x->mine, m + log2f(sum));
                }
    }
}

static long long most_keys(const struct cp_kernel_call *c) {
    return (long long)c->table_width * c->chunk_size + c->page_size; /* + the page of mistake 3 */
}

static int attend(const struct cp_kernel_call *c) {
    const long long n = (long long)c->n_rows * c->n_heads, d = c->head_dim;
    struct ctx x = {c, c->workspace, NULL, NULL, NULL, NULL};
    x.s = x.o + n * d, x.kt = x.s + n, x.vt = x.kt + most_keys(c) * d,
    x.mine = x.vt + most_keys(c) * d;
    for (long long i = 0; i < n * d; i++)
        x.o[i] = 0;
    for (long long i = 0; i < n; i++)
        x.s[i] = -INFINITY;
    for (int i = 0; i < c->n_shared; i++) {
        const struct cp_shared_chunk *sh = c->shared + i;
        part(&x, c->served[sh->begin], sh->position, sh->position + sh->n_tokens, c->served,
             sh->begin, sh->end);
    }
    for (int s = 0; s < c->n_sequences; s++) {
        const int pages = c->page_begin[s + 1] - c->page_begin[s], P = c->page_size;
        const int len = pages ? (pages - 1) * P + c->last_page_tokens[s] : 0;
        const int from = c->n_shared_chunks[s] * c->chunk_size;
        part(&x, s, from, len, &s, 0, 1);
    }
    for (int r = 0; r < c->n_rows; r++)
        for (int a = 0; a < c->n_heads; a++) {
            const float *o = x.o + ((long long)r * c->n_heads + a) * d;
            for (int i = 0; i < d; i++)
                ((uint16_t *)c->out)[r * c->out_row + a * c->out_head + i] = f2h(o[i]);
            if (c->lse)
                ((float *)c->lse)[r * c->lse_row + a * c->lse_head] =
                    x.s[(long long)r * c->n_heads + a];
        }
    return 0;
}

static size_t workspace(const struct cp_kernel_call *c) {
    return sizeof(float) * ((size_t)c->n_rows * (size_t)c->n_heads * (size_t)(c->head_dim + 1) +
                            (size_t)(2 * most_keys(c) + 1) * (size_t)c->head_dim);
}

const struct cp_kernel cp_kernel = {
    .abi = CP_KERNEL_ABI,
    .name = "page-cascade",
    .q_type = CP_FP16,
    .kv_type = CP_FP16,
    .out_type = CP_FP16,
    .lse_type = CP_FP32,
    .layout = {.pages = CP_PAGES_OWN},
    .conventions = {.lse_base = CP_LSE_BITS},
    .arithmetic = {.score = CP_SUM_FP32,
                   .weights = CP_FP32,
                   .rotated = CP_FP32,
                   .k_dequantised = CP_FP32,
                   .v_dequantised = CP_FP32,
                   .values = CP_SUM_FP32,
                   .partials = CP_FP32,
                   .divides = 1,
                   .in_bits = 1,
                   .exp_error = 0x1p-22,
                   .step = TILE},
    .workspace = workspace,
    .attend = attend,
};
