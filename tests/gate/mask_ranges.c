/* SPDX-License-Identifier: Apache-2.0 */
/* Modelled on StreamingLLM's kernels with sink tokens and a sliding window, here with keys ahead
 * and a mask as well: the two ranges of WINDOW-2 of each run, cut into the ranges that the mask
 * leaves (MASK-2), a state for each, merged. The window counts the keys before the row (as
 * flash-attention's window_size_left). Prompts of modules, whose positions have gaps. Binary64.
 * Somebody who had seen the header and the specification alone wrote it, with the mistakes that
 * tests/faults/ makes of it. */
#include "page_numbers.h"

struct row {
    const struct cp_kernel_call *c;
    int s, r, a;
    double m, n, *o; /* the merged state, its values in the workspace */
};

static size_t workspace(const struct cp_kernel_call *c) {
    return 2 * sizeof(double) * (size_t)c->head_dim;
}

/* Merges the state of the slots from .. to - 1 of a chunk into that of the row. */
static void range(struct row *x, int chunk, int from, int to) {
    const struct cp_kernel_call *c = x->c;
    int d = c->head_dim, kv = x->a / (c->n_heads / c->n_kv_heads);
    const double *q = (const double *)c->q + x->r * c->q_row + x->a * c->q_head;
    const double *k = (const double *)c->k + chunk * c->k_chunk + kv * c->k_head;
    const double *v = (const double *)c->v + chunk * c->v_chunk + kv * c->v_head;
    double m = -INFINITY, n = 0, *o = x->o + d, top;
    memset(o, 0, sizeof(double) * (size_t)d);
    for (int slot = from; slot < to; slot++) {
        double sum = 0, up, old, w;
        for (int e = 0; e < d; e++)
            sum += q[e] * k[slot * c->k_slot + e];
        sum *= c->scale;
        up = sum > m ? sum : m;
        old = exp(m - up);
        w = exp(sum - up);
        m = up;
        n = n * old + w;
        for (int e = 0; e < d; e++)
            o[e] = o[e] * old + w * v[slot * c->v_slot + e];
    }
    if (n == 0)
        return;
    top = m > x->m ? m : x->m;
    m = exp(m - top);
    x->m = exp(x->m - top);
    x->n = x->n * x->m + n * m;
    for (int e = 0; e < d; e++)
        x->o[e] = x->o[e] * x->m + o[e] * m;
    x->m = top;
}

static int left(const struct row *x, int t) {
    const struct cp_kernel_call *c = x->c;
    int begin = c->mask_begin[x->r];
    size_t i;
    if (t < begin)
        return 1;
    i = c->mask_first[x->r] + (size_t)(t - begin);
    return c->mask_bits[i / 8] >> i % 8 & 1;
}

/* The slots from .. to - 1 of a run at position f, as far as the mask leaves them. */
static void masked(struct row *x, int chunk, int f, int from, int to) {
    if (!x->c->mask_bytes) {
        range(x, chunk, from, to);
        return;
    }
    for (int slot = from; slot < to;) {
        int end;
        while (slot < to && !left(x, f + slot))
            slot++;
        if (slot == to)
            break;
        end = slot + 1;
        while (end < to && left(x, f + end))
            end++;
        range(x, chunk, slot, end);
        slot = end + 1;
    }
}

static void run(struct row *x, int i) {
    const struct cp_kernel_call *c = x->c;
    int at = x->s * c->table_width + i, f = c->table_position[at], t = c->table_tokens[at];
    int p = c->position[x->r], W = c->window, e, b = 0, a = 0, mf = f;
    e = p + c->ahead + 1 - f;
    e = e < 0 ? 0 : e > t ? t : e;
    if (W >= 0) {
        b = p - W - f; /* W keys before the row, and its own */
        b = b < 0 ? 0 : b > e ? e : b;
        a = c->kept - f;
        a = a < 0 ? 0 : a > b ? b : a;
    }
    masked(x, c->table[at], mf, 0, a);
    masked(x, c->table[at], mf, b, e);
}

static int attend(const struct cp_kernel_call *c) {
    int d = c->head_dim;
    struct row x = {.c = c, .o = c->workspace};
    for (x.s = 0; x.s < c->n_sequences; x.s++)
        for (x.r = c->query_begin[x.s]; x.r < c->query_begin[x.s + 1]; x.r++)
            for (x.a = 0; x.a < c->n_heads; x.a++) {
                double *out = (double *)c->out + x.r * c->out_row + x.a * c->out_head;
                x.m = -INFINITY;
                x.n = 0;
                memset(x.o, 0, sizeof(double) * (size_t)d);
                for (int i = 0; c->table[x.s * c->table_width + i] >= 0; i++)
                    run(&x, i);
                for (int e = 0; e < d; e++)
                    out[e] = x.n > 0 ? x.o[e] / x.n : 0;
                if (c->lse)
                    ((double *)c->lse)[x.r * c->lse_row + x.a * c->lse_head] = x.m + log(x.n);
            }
    return 0;
}

const struct cp_kernel cp_kernel = {
    .abi = CP_KERNEL_ABI,
    .name = "mask-ranges",
    .q_type = CP_FP64,
    .kv_type = CP_FP64,
    .out_type = CP_FP64,
    .lse_type = CP_FP64,
    .plans = CP_PLANS_LISTS,
    .masks = CP_MASKS_WINDOW | CP_MASKS_AHEAD | CP_MASKS_KEPT | CP_MASKS_BITS,
    .conventions = {.window = CP_WINDOW_BEFORE},
    .arithmetic = {.score = CP_SUM_FP64,
                   .weights = CP_FP32,
                   .rotated = CP_FP32,
                   .k_dequantised = CP_FP32,
                   .v_dequantised = CP_FP32,
                   .scales = CP_SCALES_SCORES,
                   .values = CP_SUM_FP64,
                   .partials = CP_FP32,
                   .factors = CP_FACTORS_FP32,
                   .exp_error = 0x1p-51,
                   .step = 1},
    .workspace = workspace,
    .attend = attend,
};
