/* SPDX-License-Identifier: Apache-2.0 */
/* As vLLM's first paged_attention_v2: key_cache[num_blocks][heads][d/x][block][x] with x = 16
 * bytes, value_cache[num_blocks][heads][d][block], block stride and no other gaps; partitions of
 * 512 tokens, each with its exp_sum, max_logit and tmp_out; a second pass reduces them. Somebody
 * who had seen the header and the specification alone wrote it, with the mistakes that
 * tests/faults/ makes of it. */
#include "page_numbers.h"
enum { BLOCK = 32, X = 8, PARTITION = 512 };

/* parts for the longest sequence */
static int most_parts(const struct cp_kernel_call *c) {
    return cdiv(imax(c->page_table_width, 1) * BLOCK, PARTITION);
}

static int attend(const struct cp_kernel_call *c) {
    const uint16_t *kc = c->k, *vc = c->v, *q = c->q;
    uint16_t *out = c->out;
    const int d = c->head_dim, per = c->n_heads / c->n_kv_heads, parts = most_parts(c);
    const long long kv_block = c->k_chunk, v_block = c->v_chunk;
    const int groups = cdiv(d, X);
    const long long k_head = (long long)groups * BLOCK * X;
    const long long v_head = (long long)d * BLOCK;
    float *logits = c->workspace, *max_logits = logits + PARTITION, *exp_sums = max_logits + parts,
          *tmp = exp_sums + parts;
    for (int s = 0; s < c->n_sequences; s++)
        for (int r = c->query_begin[s]; r < c->query_begin[s + 1]; r++)
            for (int a = 0; a < c->n_heads; a++) {
                const int *bt = c->page_table + (long long)s * c->page_table_width, g = a / per;
                const uint16_t *qr = q + r * c->q_row + a * c->q_head;
                const int seen = c->position[r] + 1;
                const int np = cdiv(seen, PARTITION);
                for (int p = 0; p < cdiv(seen, PARTITION); p++) {
                    const int from = p * PARTITION;
                    const int n = imin(PARTITION, seen - from);
                    const int first_block = p * (PARTITION / BLOCK);
                    float mx = -INFINITY, sum = 0;
                    for (int t = 0; t < n; t++) {
                        const long long b = bt[first_block + t / BLOCK], slot = t % BLOCK;
                        const uint16_t *kp = kc + b * kv_block + g * k_head;
                        float dot = 0;
                        for (int gr = 0; gr < groups; gr++)
                            for (int i = 0; i < X && gr * X + i < d; i++)
                                dot +=
                                    h2f(qr[gr * X + i]) * h2f(kp[gr * (BLOCK * X) + slot * X + i]);
                        logits[t] = (float)c->scale * dot;
                        mx = fmaxf(mx, logits[t]);
                    }
                    for (int t = 0; t < n; t++)
                        logits[t] = expf(logits[t] - mx), sum += logits[t];
                    max_logits[p] = mx, exp_sums[p] = sum;
                    const float inv = 1 / sum;
                    for (int e = 0; e < d; e++) {
                        float o = 0;
                        for (int t = 0; t < n; t++) {
                            const long long b = bt[first_block + t / BLOCK], slot = t % BLOCK;
                            o += logits[t] * h2f(vc[b * v_block + g * v_head + e * BLOCK + slot]);
                        }
                        tmp[p * d + e] = o * inv;
                    }
                }
                (void)v_block;
                float mx = -INFINITY, sum = 0;
                for (int p = 0; p < np; p++)
                    mx = fmaxf(mx, max_logits[p]);
                for (int p = 0; p < np; p++)
                    max_logits[p] = exp_sums[p] * expf(max_logits[p] - mx), sum += max_logits[p];
                for (int e = 0; e < d; e++) {
                    float o = 0;
                    for (int p = 0; p < np; p++)
                        o += tmp[p * d + e] * max_logits[p];
                    out[r * c->out_row + a * c->out_head + e] = f2h(np > 0 ? o / sum : 0);
                }
            }
    return 0;
}

static size_t workspace(const struct cp_kernel_call *c) {
    const size_t parts = (size_t)most_parts(c);
    return sizeof(float) * (PARTITION + parts * (2 + (size_t)c->head_dim));
}

const struct cp_kernel cp_kernel = {
    .abi = CP_KERNEL_ABI,
    .name = "page-partitions",
    .q_type = CP_FP16,
    .kv_type = CP_FP16,
    .out_type = CP_FP16,
    .lse_type = CP_NO_LSE,
    .layout = {.pages = CP_PAGES_OWN,
               .page_size = BLOCK,
               .order = CP_ORDER_HND,
               .gaps = CP_GAPS_PAGES,
               .k_pack = X,
               .v_pack = 1},
    .conventions = {.invariant = CP_INVARIANT_CUTS},
    .arithmetic = {.score = CP_SUM_FP32,
                   .weights = CP_FP32,
                   .rotated = CP_FP32,
                   .k_dequantised = CP_FP32,
                   .v_dequantised = CP_FP32,
                   .values = CP_SUM_FP32,
                   .partials = CP_FP32,
                   .divides = 1,
                   .exp_error = 0x1p-22,
                   .divide_error = 0x1.02p-24,
                   .step = PARTITION},
    .workspace = workspace,
    .attend = attend,
};
