/* SPDX-License-Identifier: Apache-2.0 */
/* Attention key by key, or in parts, of any plan and any keys, whose conventions and mistakes are
 * macros: somebody who had seen the header and the specification alone wrote it, and the wrong
 * kernels that tests/faults/tests/gate/by_macros.c.faults makes of it. */
#include "chunkproof/kernel.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* What differs. */

#ifndef NAME
#define NAME "by-macros"
#endif
#ifndef REAL
#define REAL float
#define EXP  expf
#define SUMT CP_SUM_FP32
#define WT   CP_FP32
#endif
#ifndef QT
#define QT CP_FP16
#endif
#ifndef KT
#define KT QT
#endif
#ifndef OT
#define OT KT
#endif
#ifndef LT
#define LT CP_FP32
#endif
#ifndef LSE_BASE
#define LSE_BASE CP_LSE_NATURAL
#endif
#ifndef EMPTY_O
#define EMPTY_O CP_EMPTY_NEUTRAL
#endif
#ifndef EMPTY_L
#define EMPTY_L CP_EMPTY_NEUTRAL
#endif
#ifndef EMPTY_V
#define EMPTY_V 0
#endif
#ifndef NEVER
#define NEVER 0
#endif
#ifndef INV
#define INV 0
#endif
#ifndef SCALES
#define SCALES CP_SCALES_SCORES
#endif
#ifndef PLANS
#define PLANS CP_PLANS_TREES
#endif
#ifndef KEYS
#define KEYS CP_KEYS_PLACED
#endif
#ifndef INBITS
#define INBITS 0
#endif
#ifndef PARTS /* number of parts into which the n visible keys are cut */
#define PARTS 1
#endif
#ifndef PARTSIZE /* if not 0: parts of so many keys, from the first key on */
#define PARTSIZE 0
#endif
#ifndef QUERY /* of one number of the query */
#define QUERY(x) (x)
#endif
#ifndef KEY
#define KEY(x) (x)
#endif
#ifndef SCORE
#define SCORE(dot) ((dot)*scale)
#endif
#ifndef LSE /* m: maximum (natural), n_: sum */
#define LSE(m, n_) ((m) + (REAL)log(n_))
#endif
#ifndef OUT0 /* for empty rows */
#define OUT0 0.0
#endif
#ifndef LSE0
#define LSE0 (-INFINITY)
#endif
#ifndef ISEMPTY
#define ISEMPTY (n == 0)
#endif
#ifndef ORDER /* 1: keys in reverse */
#define ORDER 0
#endif
#ifndef SORTED
#define SORTED 0
#endif
#define LN2   0.69314718055994530942
#define LOG2E 1.44269504088896340736
#include "by_macros.h"

static int attend_row(const struct cp_kernel_call *call, int s, int row, int head) {
    const int d = call->head_dim, c = call->chunk_size;
    (void)c;
    const long long base = (long long)s * call->table_width;
    const int *table = call->table + base, *tt = call->table_tokens + base,
              *tp = call->table_position + base;
    const int kvh = head / (call->n_heads / call->n_kv_heads);
    const int rows = call->query_begin[s + 1] - call->query_begin[s];
    (void)rows;
    const int p = call->position[row];
    const REAL scale = (REAL)call->scale;
    (void)scale;
    REAL *o = (REAL *)call->workspace, *po = o + d, *q = po + d, *kr = q + d;
    int *order = (int *)(kr + d);
    int n = 0, runs = 0;
    while (table[runs] >= 0) {
        order[runs] = runs;
        runs++;
    }
    if (SORTED)
        for (int i = 1; i < runs; i++) {
            int x = order[i], j = i;
            while (j > 0 && tp[order[j - 1]] > tp[x]) {
                order[j] = order[j - 1];
                j--;
            }
            order[j] = x;
        }
    for (int r = 0; r < runs; r++) {
        int see = p + 1 - tp[r];
        n += see < 0 ? 0 : see > tt[r] ? tt[r] : see;
    }
    if (ISEMPTY) {
        EMPTY return 0;
    }
    for (int i = 0; i < d; i++) {
        REAL x = ld(call->q, QT, row * call->q_row + head * call->q_head + i);
        q[i] = QUERY(x);
        o[i] = 0;
    }
    REAL m = -INFINITY, nn = 0, first = -INFINITY;
#ifdef TWOPASS /* one maximum for all keys; keys placed */
    for (int x = 0; x < runs; x++) {
        int see = p + 1 - tp[x];
        see = see < 0 ? 0 : see > tt[x] ? tt[x] : see;
        for (int t = 0; t < see; t++) {
            const long long ko = table[x] * call->k_chunk + kvh * call->k_head + t * call->k_slot;
            REAL dot = 0;
            for (int i = 0; i < d; i++) {
                REAL y = ld(call->k, KT, ko + i);
                dot += q[i] * KEY(y);
            }
            REAL score = SCORE(dot);
            if (score > first)
                first = score;
        }
    }
#endif
    int size = PARTSIZE;
    if (size == 0) {
        int parts = PARTS;
        if (parts < 1)
            parts = 1;
        size = (n + parts - 1) / parts;
    }
    int r = 0, slot = 0, j = 0; /* the walk */
    if (ORDER)
        r = runs - 1;
    while (j < n) {
        REAL pm = first, pn = 0;
        for (int i = 0; i < d; i++)
            po[i] = 0;
        for (int in_part = 0; in_part < size && j < n; in_part++, j++) {
            for (;;) {
                int x = order[r], see = p + 1 - tp[x];
                see = see < 0 ? 0 : see > tt[x] ? tt[x] : see;
                if (slot < see)
                    break;
                slot = 0;
                r += ORDER ? -1 : 1;
            }
            const int run = order[r];
            const long long ko =
                table[run] * call->k_chunk + kvh * call->k_head + slot * call->k_slot;
            const long long vo =
                table[run] * call->v_chunk + kvh * call->v_head + slot * call->v_slot;
            REAL dot = 0;
#if KEYS == CP_KEYS_PLACED
            for (int i = 0; i < d; i++) {
                REAL x = ld(call->k, KT, ko + i);
                dot += q[i] * KEY(x);
            }
#else
            const int rd = call->rotary_dim, half = rd / 2;
            const int t = KEYS == CP_KEYS_RAW ? tp[run] + slot : tp[run];
            const float *rot = call->rotation + (long long)t * rd;
            for (int i = 0; i < d; i++)
                kr[i] = ld(call->k, KT, ko + i);
            for (int i = 0; i < half; i++) {
                REAL x = kr[i], y = kr[i + half], cs = rot[i], sn = rot[half + i];
                kr[i] = KEY(cs * x - sn * y);
                kr[i + half] = KEY(sn * x + cs * y);
            }
            for (int i = 0; i < d; i++)
                dot += q[i] * kr[i];
#endif
#if INBITS
            REAL score = dot * BITSCALE;
            REAL big = score > pm ? score : pm, w = exp2f(score - big), f = exp2f(pm - big);
#else
            REAL score = SCORE(dot);
            REAL big = score > pm ? score : pm, w = EXP(score - big), f = EXP(pm - big);
#endif
            pn = pn * f + w;
            for (int i = 0; i < d; i++)
                po[i] = po[i] * f + w * ld(call->v, KT, vo + i);
            pm = big;
            slot++;
        }
#if INBITS
        REAL big = pm > m ? pm : m, f = exp2f(m - big), g = exp2f(pm - big);
#else
        REAL big = pm > m ? pm : m, f = EXP(m - big), g = EXP(pm - big);
#endif
        nn = nn * f + pn * g;
        for (int i = 0; i < d; i++)
            o[i] = o[i] * f + po[i] * g;
        m = big;
    }
    for (int i = 0; i < d; i++)
        put_out(call, row, head, i, o[i] / nn);
    if (call->lse != NULL && LT >= 0) {
        put_lse(call, row, head, LSE(m, nn));
    }
    return 0;
}
static int attend(const struct cp_kernel_call *call) {
#ifdef CHECK
    CHECK
#endif
    for (int s = 0; s < call->n_sequences; s++)
        for (int row = call->query_begin[s]; row < call->query_begin[s + 1]; row++)
            for (int head = 0; head < call->n_heads; head++)
                attend_row(call, s, row, head);
    return 0;
}
static size_t workspace(const struct cp_kernel_call *call) {
    return ((size_t)call->head_dim * 4 * sizeof(REAL) +
            (size_t)(call->table_width + 1) * sizeof(int));
}
#ifdef REFUSES
static const char *refuses(const struct cp_kernel_call *call) {
    return (REFUSES) ? "it does not like it" : NULL;
}
#endif
#ifndef STEP
#define STEP 1
#endif
#ifndef DIVIDES
#define DIVIDES 0
#endif
#ifndef ROTATED
#define ROTATED CP_FP32
#endif
const struct cp_kernel cp_kernel = {
    .abi = CP_KERNEL_ABI,
    .name = NAME,
    .q_type = QT,
    .kv_type = KT,
    .out_type = OT,
    .lse_type = LT,
    .plans = PLANS,
    .keys = KEYS,
    .conventions = {.lse_base = LSE_BASE,
                    .empty_out = EMPTY_O,
                    .empty_lse = EMPTY_L,
                    .empty_value = EMPTY_V,
                    .never = NEVER,
                    .invariant = INV},
    .arithmetic = {.score = SUMT,
                   .weights = WT,
                   .rotated = ROTATED,
                   .scales = SCALES,
                   .values = SUMT,
                   .partials = WT,
                   .divides = DIVIDES,
                   .in_bits = INBITS,
                   .exp_error = 0x1p-22,
                   .step = STEP},
#ifdef REFUSES
    .refuses = refuses,
#endif
    .workspace = workspace,
    .attend = attend,
};
