/* SPDX-License-Identifier: Apache-2.0 */
#include "opt/attend.h"

#include <math.h>
#include <string.h>

/* Pairs of a query row and a head that a thread takes at once. */
#define RESULTS_AT_ONCE 16

/* Weights of partial results that are computed at once. */
#define BATCH CP_OPT_PAD

static struct opt_scratch scratch_of(const struct opt_call *call, int thread) {
    size_t rows = CP_OPT_ROWS * call->sizes.stride;
    float *at = call->work.scratch + (size_t)thread * call->sizes.scratch;
    struct opt_scratch s;
    s.q = at;
    s.q_columns = s.q + rows;
    s.o = s.q_columns + rows;
    s.tile = s.o + CP_OPT_ROWS * call->sizes.o_stride;
    s.score = s.tile + opt_tile_size(call->sizes.stride);
    s.m = s.score + (size_t)CP_OPT_ROWS * CP_OPT_KEYS;
    s.n = s.m + CP_OPT_ROWS;
    s.factor = s.n + CP_OPT_ROWS;
    s.seen = s.factor + CP_OPT_ROWS;
    s.begin = s.seen + CP_OPT_ROWS;
    s.kept = s.begin + CP_OPT_ROWS;
    s.queries = s.kept + (size_t)3 * CP_OPT_ROWS; /* kept; opt_slopes(), opt_distances() */
    s.room = s.queries + CP_OPT_ROWS * call->sizes.queries;
    return s;
}

/* A query row and head that is finished. Its partial results are source[i] + of_sequence, i from 0
 * to n_sources - 1: the row is that far behind the first of its sequence. */
struct result {
    const struct opt_call *call;
    const size_t *source;
    size_t n_sources, of_sequence, head;
    float m, n;
    float *o;
};

static size_t part_of(const struct result *r, size_t i) {
    return (r->source[i] + r->of_sequence) * (size_t)r->call->attention->n_heads + r->head;
}

/* The weights of partial results i .. i + n - 1 of one maximum (MERGE-2); 0 for one without a
 * key. */
static void weigh(const struct result *r, size_t i, size_t n, float *weight) {
    for (size_t j = 0; j < BATCH; j++) {
        const float *state = r->call->work.state + (j < n ? 2 * part_of(r, i + j) : 0);
        weight[j] = j < n && state[1] != 0.0F ? state[0] - r->m : -INFINITY;
    }
    r->call->kernels->exponentials(weight, weight, BATCH);
}

/* SCORE-3: the score of the sink, or one below all. */
static float sink_of(const struct result *r) {
    const double *sinks = r->call->attention->scores.sinks;
    return sinks == NULL ? CP_OPT_NO_SCORE : (float)sinks[r->head];
}

/* Its weight; its value is zeros. */
static void add_sink(struct result *r) {
    float weight[BATCH];
    for (int i = 0; i < BATCH; i++) {
        weight[i] = sink_of(r) - r->m;
    }
    r->call->kernels->exponentials(weight, weight, BATCH);
    r->n += weight[0];
}

/* All partial results of a row are brought to one maximum, and added up in order; then the sink. */
static void merge(struct result *r) {
    const struct opt_work *work = &r->call->work;
    const struct cp_opt_kernels *kernels = r->call->kernels;
    size_t stride = r->call->sizes.o_stride;
    float weight[BATCH];
    memset(r->o, 0, stride * sizeof(float));
    r->m = sink_of(r);
    r->n = 0.0F;
    for (size_t i = 0; i < r->n_sources; i++) {
        float m = work->state[2 * part_of(r, i)];
        r->m = m > r->m ? m : r->m;
    }
    for (size_t i = 0; i < r->n_sources; i += BATCH) {
        size_t n = r->n_sources - i < BATCH ? r->n_sources - i : BATCH;
        weigh(r, i, n, weight);
        for (size_t j = 0; j < n; j++) {
            size_t part = part_of(r, i + j);
            float of_part = work->state[2 * part + 1];
            if (of_part != 0.0F) { /* a NaN is not */
                r->n += weight[j] * of_part;
                kernels->add(r->o, work->o + part * stride, weight[j], (int)stride);
            }
        }
    }
    if (r->call->attention->scores.sinks != NULL) {
        add_sink(r);
    }
}

void cp_opt_result(const struct opt_call *call, int s, int row, int head,
                   const struct opt_scratch *scratch) {
    const struct cp_attention *a = call->attention;
    size_t from = call->work.source_begin[s], at = (size_t)row * (size_t)a->n_heads + (size_t)head;
    struct result r = {.call = call,
                       .source = call->work.source + from,
                       .n_sources = call->work.source_begin[s + 1] - from,
                       .of_sequence = (size_t)(row - opt_first_row(a, s)),
                       .head = (size_t)head,
                       .o = scratch->o};
    merge(&r);
    if (r.n != 0.0F) {
        call->kernels->divide(r.o, r.o, r.n, (int)call->sizes.o_stride);
    }
    call->kernels->store(a->out, a->out_type, at * (size_t)a->value_dim, r.o, a->value_dim);
    if (a->lse != NULL) {
        a->lse[at] = r.n != 0.0F ? (double)r.m + log((double)r.n) : -INFINITY;
    }
}

/* Pairs first .. end-1, and the sequences of their rows. */
static void finish(const struct opt_call *call, size_t first, size_t end,
                   const struct opt_scratch *scratch) {
    const struct cp_attention *a = call->attention;
    size_t h = (size_t)a->n_heads;
    int low = 0,
        high = a->plan->n_sequences; /* the last sequence whose rows begin at this one or before */
    while (high - low > 1) {
        int middle = low + (high - low) / 2;
        if ((size_t)opt_first_row(a, middle) <= first / h) {
            low = middle;
        } else {
            high = middle;
        }
    }
    for (size_t x = first; x < end; x++) {
        while ((size_t)opt_first_row(a, low + 1) <= x / h) {
            low++;
        }
        cp_opt_result(call, low, (int)(x / h), (int)(x % h), scratch);
    }
}

void cp_opt_work(void *of, int thread) {
    struct opt_call *call = of;
    struct opt_scratch scratch = scratch_of(call, thread);
    size_t n_results = (size_t)call->sizes.n_rows * (size_t)call->attention->n_heads;
    size_t slice, first;
    while ((slice = atomic_fetch_add_explicit(&call->next_slice, 1, memory_order_relaxed)) <
           call->sizes.n_slices) {
        cp_opt_slice(call, slice, &scratch);
    }
    cp_opt_team_meet(call->team);
    while ((first = atomic_fetch_add_explicit(&call->next_result, RESULTS_AT_ONCE,
                                              memory_order_relaxed)) < n_results) {
        size_t left = n_results - first;
        finish(call, first, first + (left < RESULTS_AT_ONCE ? left : RESULTS_AT_ONCE), &scratch);
    }
}
