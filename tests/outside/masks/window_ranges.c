/* SPDX-License-Identifier: Apache-2.0 */
/* Modelled on StreamingLLM's kernels with sink tokens and a sliding window, here with keys ahead
 * and a mask as well: the two ranges of WINDOW-2 of each run, cut into the ranges that the mask leaves
 * (MASK-2), a state for each, merged. The window counts the keys before the row (as
 * flash-attention's window_size_left). Prompts of modules, whose positions have gaps. Binary64. */
#include <math.h>
#include <string.h>

#include "chunkproof/kernel.h"

#ifndef MISTAKE
#define MISTAKE 0
#endif

struct row {
    const struct cp_kernel_call *c;
    int s, r, a;
    double m, n, *o; /* the merged state, its values in the workspace */
};

static size_t workspace(const struct cp_kernel_call *c)
{
    return 2 * sizeof(double) * (size_t)c->head_dim;
}

/* Merges the state of the slots from .. to - 1 of a chunk into that of the row. */
static void range(struct row *x, int chunk, int from, int to)
{
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
#if MISTAKE == 1
    if (n == 0 && x->n == 0)
        return;
    if (n == 0)
        m = 0; /* the state of no key has the maximum 0 */
#elif MISTAKE != 2
    if (n == 0)
        return;
#endif
    top = m > x->m ? m : x->m;
    m = exp(m - top);
    x->m = exp(x->m - top);
    x->n = x->n * x->m + n * m;
    for (int e = 0; e < d; e++)
        x->o[e] = x->o[e] * x->m + o[e] * m;
    x->m = top;
}

#if MISTAKE == 3 || MISTAKE == 4
/* How many keys of the sequence stand before position t. */
static int rank(const struct cp_kernel_call *c, int s, int t)
{
    int before = 0;
    for (int i = s * c->table_width; c->table[i] >= 0; i++) {
        int more = t - c->table_position[i];
        before += more < 0 ? 0 : more > c->table_tokens[i] ? c->table_tokens[i] : more;
    }
    return before;
}
#endif

static int left(const struct row *x, int t)
{
    const struct cp_kernel_call *c = x->c;
    int begin = c->mask_begin[x->r];
    size_t i;
#if MISTAKE == 3
    t = rank(c, x->s, t), begin = rank(c, x->s, begin); /* keys, not positions */
#endif
    if (t < begin)
        return 1;
    i = c->mask_first[x->r] + (size_t)(t - begin);
#if MISTAKE == 5
    return c->mask_bits[i / 8] >> (7 - i % 8) & 1;
#else
    return c->mask_bits[i / 8] >> i % 8 & 1;
#endif
}

/* The slots from .. to - 1 of a run at position f, as far as the mask leaves them. */
static void masked(struct row *x, int chunk, int f, int from, int to)
{
    if (!x->c->mask_bytes) {
        range(x, chunk, from, to);
        return;
    }
    for (int slot = from; slot < to;) {
        int end;
        while (slot < to && !left(x, f + slot))
            slot++;
#if MISTAKE == 1 || MISTAKE == 2
        if (slot == to && from > 0)
            break;
#else
        if (slot == to)
            break;
#endif
        end = slot + 1;
#if MISTAKE == 6
        while (end < to && end % 8 && left(x, f + end)) /* within a byte */
            end++;
        range(x, chunk, slot, end);
        slot = end + 1;
        continue;
#endif
        while (end < to && left(x, f + end))
            end++;
#if MISTAKE == 7
        range(x, chunk, slot, end + 1 < to ? end + 1 : end); /* the slot that ends a range */
#elif MISTAKE == 1 || MISTAKE == 2
        range(x, chunk, slot, slot < to ? end : to);
#else
        range(x, chunk, slot, end);
#endif
#if MISTAKE == 8
        slot = end + 2; /* behind the masked slot, and the next one */
#else
        slot = end + 1;
#endif
    }
}

static void run(struct row *x, int i)
{
    const struct cp_kernel_call *c = x->c;
    int at = x->s * c->table_width + i, f = c->table_position[at], t = c->table_tokens[at];
    int p = c->position[x->r], W = c->window, e, b = 0, a = 0, mf = f;
    (void)i;
    e = p + c->ahead + 1 - f;
    e = e < 0 ? 0 : e > t ? t : e;
    if (W >= 0) {
        b = p - W - f; /* W keys before the row, and its own */
#if MISTAKE == 9
        b++;
#endif
        b = b < 0 ? 0 : b > e ? e : b;
        a = c->kept - f;
#if MISTAKE == 4
        a = c->kept - rank(c, x->s, f); /* the first keys, not the first positions */
#endif
#if MISTAKE == 10
        a = a < 0 ? 0 : a > e ? e : a; /* kept keys in the window count twice */
#else
        a = a < 0 ? 0 : a > b ? b : a;
#endif
    }
#if MISTAKE == 11
    mf = i * c->chunk_size; /* as of a tree */
#endif
#if MISTAKE == 12
    if (W >= 0 && c->mask_bytes) { /* kept tokens are kept, whatever the mask says */
        range(x, c->table[at], 0, a);
        a = 0;
    }
#endif
#if MISTAKE == 13
    if (W >= 0 && c->mask_bytes && b > 0 && f + b <= c->mask_begin[x->r]) {
        int begin = c->mask_begin[x->r] - f < e ? c->mask_begin[x->r] - f : e;
        b = a < begin ? a : begin; /* the prefix of the mask is seen, whatever the window */
    }
#endif
#if MISTAKE == 14
    if (c->ahead > 0 && c->mask_bytes && p + 1 - f < e) {
        int own = p + 1 - f > b ? p + 1 - f : b;
        range(x, c->table[at], own, e); /* keys ahead have no bits */
        e = own;
    }
#endif
#if MISTAKE == 15
    mf = W >= 0 && b > a ? mf - b : mf; /* bits from the first slot of the window on */
    if (mf < 0 || x->c->mask_bytes == 0)
        mf = f;
#endif
#if MISTAKE == 16
    if (W >= 0 && c->mask_bytes) { /* a window of W keys that the mask leaves */
        int seen = 0, most = p + 1 - f < e ? p + 1 - f : e;
        for (b = most; b > a && seen <= W; b--)
            seen += left(x, f + b - 1);
        b = b < most - W - 1 ? b : most - W - 1;
        b = b < a ? a : b;
    }
#endif
    masked(x, c->table[at], mf, 0, a);
    masked(x, c->table[at], mf, b, e);
}

static int attend(const struct cp_kernel_call *c)
{
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
#if MISTAKE == 17
                x.n = x.n > 0 || c->n_tokens[x.s] > 0 ? x.n : 1; /* a row with keys sees some */
                for (int e = 0; e < d; e++)
                    out[e] = x.o[e] / x.n;
#else
                for (int e = 0; e < d; e++)
                    out[e] = x.n > 0 ? x.o[e] / x.n : 0;
#endif
                if (c->lse)
                    ((double *)c->lse)[x.r * c->lse_row + x.a * c->lse_head] = x.m + log(x.n);
            }
    return 0;
}

const struct cp_kernel cp_kernel = {
    .abi = CP_KERNEL_ABI,
    .name = "window_ranges",
    .q_type = CP_FP64, .kv_type = CP_FP64, .out_type = CP_FP64, .lse_type = CP_FP64,
    .plans = CP_PLANS_LISTS,
    .masks = CP_MASKS_WINDOW | CP_MASKS_AHEAD | CP_MASKS_KEPT | CP_MASKS_BITS,
    .conventions = {.window = CP_WINDOW_BEFORE},
    .arithmetic = {.score = CP_SUM_FP64, .weights = CP_FP32, .rotated = CP_FP32,
                   .k_dequantised = CP_FP32, .v_dequantised = CP_FP32,
                   .scales = CP_SCALES_SCORES, .values = CP_SUM_FP64, .partials = CP_FP32,
                   .factors = CP_FACTORS_FP32, .exp_error = 0x1p-51, .step = 1},
    .workspace = workspace,
    .attend = attend,
};
