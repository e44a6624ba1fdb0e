/* SPDX-License-Identifier: Apache-2.0 */
/* After FlashInfer's PersistentVariableLengthMergeStates: any number of parts in each row
 * (indptr), bits, binary32 partial results, binary16 output. LANES lanes take the parts in turn,
 * each into a state (m, d, o) of its own in "shared memory", and the states are merged. Somebody
 * who had seen the header and the specification alone wrote it, with the mistakes that
 * tests/faults/ makes of it. */
#include <chunkproof/merge_kernel.h>

#include "page_numbers.h"

#define LANES 4

struct state {
    float m, d;
    float *o;
};

static void init(struct state *s, int d) {
    s->m = -INFINITY;
    s->d = 0.0F;
    for (int i = 0; i < d; i++)
        s->o[i] = 0.0F;
}

/* The part (m, d, o) comes into the state. */
static void absorb(struct state *s, const float *o, float m, float n, int d) {
    if (m == -INFINITY)
        return;
    const float max = fmaxf(s->m, m);
    const float mine = exp2f(s->m - max), its = exp2f(m - max);
    s->d = s->d * mine + n * its;
    for (int i = 0; i < d; i++) {
        s->o[i] = s->o[i] * mine + o[i] * its;
    }
    s->m = max;
}

static size_t workspace(const struct cp_merge_call *c) {
    return sizeof(float) * LANES * (size_t)c->head_dim;
}

static int merge(const struct cp_merge_call *c) {
    const float *v = c->o, *s = c->l;
    uint16_t *out = c->out;
    float *lse = c->lse;
    const int d = c->head_dim;
    struct state lane[LANES];
    for (int i = 0; i < LANES; i++)
        lane[i].o = (float *)c->workspace + (size_t)i * (size_t)d;

    for (long long row = 0; row < c->n_rows; row++) {
        int begin = c->part_begin[row], end = c->part_begin[row + 1];
        for (int head = 0; head < c->n_heads; head++) {
            uint16_t *to = out + row * c->out_row + head * c->out_head;
            float *to_lse = lse == NULL ? NULL : lse + row * c->lse_row + head * c->lse_head;
            for (int i = 0; i < LANES; i++)
                init(&lane[i], d);
            for (int p = begin; p < end; p++) {
                const float *from = v + p * c->o_part + head * c->o_head;
                const float m = s[p * c->l_part + head * c->l_head];
                absorb(&lane[(p - begin) % LANES], from, m, 1.0F, d);
            }
            for (int i = 1; i < LANES; i++)
                absorb(&lane[0], lane[i].o, lane[i].m, lane[i].d, d);
            const struct state *r = &lane[0];
            const int empty = r->d == 0.0F;
            for (int i = 0; i < d; i++)
                to[i] = empty ? 0 : f2h(r->o[i] / r->d);
            if (to_lse != NULL) {
                *to_lse = empty ? -INFINITY : r->m + log2f(r->d);
            }
        }
    }
    return 0;
}

const struct cp_merge_kernel cp_merge_kernel = {
    .abi = CP_MERGE_ABI,
    .name = "merge-varlen",
    .o_type = CP_FP32,
    .l_type = CP_FP32,
    .base = CP_BASE_2,
    .parts = CP_PARTS_BY_ROW,
    .layout = {.o = CP_O_ORDER_ROW_PART, .l = CP_L_ORDER_ROW_PART, .lse = CP_LSE_ORDER_ROW},
    .arithmetic = {.way = CP_MERGING_STATES,
                   .weights = CP_FP32,
                   .values = CP_FP32,
                   .partials = CP_FP32,
                   .out_type = CP_FP16,
                   .lse_type = CP_FP32,
                   .exp_error = 0x1p-22,
                   .log_error = 0x1p-22,
                   .div_error = 0x1p-24},
    .workspace = workspace,
    .merge = merge,
};
