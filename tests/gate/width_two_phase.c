/* SPDX-License-Identifier: Apache-2.0 */
/* Modelled on chunk-first attention (ChunkAttention) as a server of latent attention would write
 * it: values are in their keys. The first phase walks the shared chunks of the plan and keeps,
 * for each of their rows and query heads, m, n and o of d_v numbers. The second one merges what
 * was kept for a row, adds the sequence's own chunks, and divides. Query and cache in binary16,
 * results in binary32, by strides. Somebody who had seen the header and the specification alone
 * wrote it, with the mistakes that tests/faults/ makes of it. */
#include "page_numbers.h"

struct state {
    float m, n;
};

/* What lies in the workspace: a state of each partial result, and one more; then o of each; then
 * the scores of a chunk; then which is the first partial result of each descriptor. */
struct work {
    struct state *state;
    float *o;
    float *score;
    size_t *first;
    size_t partials, bytes;
};

static struct work work_of(const struct cp_kernel_call *c) {
    struct work w;
    const size_t depth = (size_t)(c->n_shared < c->table_width ? c->n_shared : c->table_width);
    w.partials = depth * (size_t)c->n_rows * (size_t)c->n_heads + 1;
    const size_t numbers = (size_t)c->value_dim;
    char *at = c->workspace;
    w.first = (size_t *)at;
    w.bytes = (size_t)(c->n_shared + 1) * sizeof *w.first;
    w.state = (struct state *)(at + w.bytes);
    w.bytes += w.partials * sizeof *w.state;
    w.score = (float *)(at + w.bytes);
    w.bytes += (size_t)c->chunk_size * sizeof *w.score;
    w.o = (float *)(at + w.bytes);
    w.bytes += w.partials * numbers * sizeof *w.o;
    return w;
}

static size_t workspace(const struct cp_kernel_call *c) {
    struct cp_kernel_call numbers = *c;
    static char none;
    numbers.workspace = &none;
    return work_of(&numbers).bytes;
}

static float load(const void *array, long long at) {
    return h2f(((const uint16_t *)array)[at]);
}

/* The state of the first `keys` keys of a chunk (MERGE-3). */
static void partial(const struct cp_kernel_call *c, int row, int head, int chunk, int keys,
                    int width, float *score, struct state *to, float *o) {
    const long long q = row * c->q_row + head * c->q_head;
    const int g = head / (c->n_heads / c->n_kv_heads);
    const long long k = chunk * c->k_chunk + g * c->k_head;
    const int dv = c->value_dim;
    to->m = -INFINITY;
    to->n = 0;
    for (int j = 0; j < keys; j++) {
        float sum = 0;
        for (int i = 0; i < width; i++)
            sum += load(c->q, q + i) * load(c->k, k + j * c->k_slot + i);
        score[j] = sum * (float)c->scale;
        if (score[j] > to->m)
            to->m = score[j];
    }
    memset(o, 0, (size_t)dv * sizeof *o);
    for (int j = 0; j < keys; j++) {
        const float weight = expf(score[j] - to->m);
        const long long v = k + j * c->k_slot;
        to->n += weight;
        for (int i = 0; i < dv; i++)
            o[i] += weight * load(c->k, v + i);
    }
}

/* into := into (+) from (MERGE-4) */
static void merge(const struct cp_kernel_call *c, struct state *into, float *o,
                  const struct state *from, const float *from_o) {
    if (from->n == 0)
        return;
    const float top = into->m > from->m ? into->m : from->m;
    const float x = into->n > 0 ? expf(into->m - top) : 0, y = expf(from->m - top);
    const int numbers = c->value_dim;
    for (int i = 0; i < numbers; i++)
        o[i] = o[i] * x + from_o[i] * y;
    into->n = into->n * x + from->n * y;
    into->m = top;
}

static int clamp(int x, int most) {
    return x < 0 ? 0 : x < most ? x : most;
}

static void chunk_first(const struct cp_kernel_call *c, const struct work *w) {
    size_t next = 0;
    for (int i = 0; i < c->n_shared; i++) {
        const struct cp_shared_chunk *x = &c->shared[i];
        const int begin = c->query_begin[x->begin], end = c->query_begin[x->end];
        w->first[i] = next;
        const int heads = c->n_heads;
        const int width = c->head_dim;
        const size_t apart = (size_t)c->value_dim;
        for (int row = begin; row < end; row++)
            for (int head = 0; head < heads; head++) {
                const int keys = clamp(c->position[row] + 1 - x->position, x->n_tokens);
                const size_t at = next + (size_t)(row - begin) * (size_t)c->n_heads + (size_t)head;
                partial(c, row, head, x->chunk, keys, width, w->score, &w->state[at],
                        w->o + at * apart);
            }
        next += (size_t)(end - begin) * (size_t)c->n_heads;
    }
}

static void sequence_first(const struct cp_kernel_call *c, const struct work *w, int s, int row,
                           int head) {
    const size_t dv = (size_t)c->value_dim;
    float *o = (float *)c->out + row * c->out_row + head * c->out_head;
    struct state state = {-INFINITY, 0};
    memset(o, 0, dv * sizeof *o);
    for (int i = 0; i < c->n_shared; i++) {
        const struct cp_shared_chunk *x = &c->shared[i];
        if (s < x->begin || s >= x->end)
            continue;
        const size_t nth = (size_t)(row - c->query_begin[x->begin]);
        const size_t at = w->first[i] + nth * (size_t)c->n_heads + (size_t)head;
        merge(c, &state, o, &w->state[at], w->o + at * dv);
    }
    const size_t last = w->partials - 1;
    const size_t line = (size_t)s * (size_t)c->table_width;
    for (int i = c->n_shared_chunks[s]; i < c->table_width && c->table[line + (size_t)i] >= 0;
         i++) {
        const size_t at = line + (size_t)i;
        const int keys = clamp(c->position[row] + 1 - c->table_position[at], c->table_tokens[at]);
        partial(c, row, head, c->table[at], keys, c->head_dim, w->score, &w->state[last],
                w->o + last * dv);
        merge(c, &state, o, &w->state[last], w->o + last * dv);
    }
    for (size_t i = 0; i < dv; i++)
        o[i] = state.n > 0 ? o[i] / state.n : 0;
    if (c->lse)
        ((float *)c->lse)[row * c->lse_row + head * c->lse_head] =
            state.n > 0 ? state.m + logf(state.n) : -INFINITY;
}

static int attend(const struct cp_kernel_call *c) {
    const struct work w = work_of(c);
    chunk_first(c, &w);
    for (int s = 0; s < c->n_sequences; s++)
        for (int row = c->query_begin[s]; row < c->query_begin[s + 1]; row++)
            for (int head = 0; head < c->n_heads; head++)
                sequence_first(c, &w, s, row, head);
    return 0;
}

const struct cp_kernel cp_kernel = {
    .abi = CP_KERNEL_ABI,
    .name = "width-two-phase",
    .q_type = CP_FP16,
    .kv_type = CP_FP16,
    .out_type = CP_FP32,
    .lse_type = CP_FP32,
    .plans = CP_PLANS_TREES,
    .widths = CP_WIDTHS_ANY,
    .layout = {.tensors = CP_TENSORS_KEYS},
    .arithmetic = {.score = CP_SUM_FP32,
                   .weights = CP_FP32,
                   .rotated = CP_FP32,
                   .k_dequantised = CP_FP32,
                   .v_dequantised = CP_FP32,
                   .scales = CP_SCALES_SCORES,
                   .values = CP_SUM_FP32,
                   .partials = CP_FP32,
                   .factors = CP_FACTORS_FP32,
                   .exp_error = 0x1p-22,
                   .step = 0},
    .workspace = workspace,
    .attend = attend,
};
