/* SPDX-License-Identifier: Apache-2.0 */
#include "chunkproof/two_phase.h"

#include "attend_internal.h"
#include "chunkproof/number.h"
#include "chunkproof/softmax.h"

/* The workspace, cut up. */
struct workspace {
    size_t n_partials;
    struct cp_state *state; /* [n_partials] */
    double *o;              /* [n_partials][d] */
    double *q;              /* [d]: a query row, as doubles */
    double *part_o;         /* [d]: beside a state that is merged at once */
    double *row_o;          /* [d]: beside the state of the row that is being finished */
    double *out;            /* [d]: that row, before it is rounded */
};

static struct workspace cut_workspace(const struct cp_attention *attention) {
    struct workspace w;
    size_t d = (size_t)attention->head_dim;
    w.n_partials = cp_partial_rows(attention) * (size_t)attention->n_heads;
    w.state = attention->workspace;
    w.o = (double *)(w.state + w.n_partials);
    w.q = w.o + w.n_partials * d;
    w.part_o = w.q + d;
    w.row_o = w.part_o + d;
    w.out = w.row_o + d;
    return w;
}

/* How many keys of its sequence s the query row sees, n - R + t + 1 for row t of R (PREFILL-1,
 * PREFILL-2). Not more than n, because t < R; below 1 it sees none (PREFILL-3). */
static int visible_keys(const struct cp_attention *attention, int s, int row) {
    long long hidden = (long long)cp_first_row(attention, s + 1) - row - 1;
    long long visible = attention->plan->row[s].n_tokens - hidden;
    return visible < 0 ? 0 : (int)visible;
}

/* How many of the n_tokens keys from `position` on a row sees that sees `visible` keys (PREFILL-4). */
static int keys_in_chunk(int visible, int position, int n_tokens) {
    int n = visible - position;
    if (n < 0) {
        return 0;
    }
    return n < n_tokens ? n : n_tokens;
}

/* Where the d numbers of a query row and head begin in q and in out. */
static size_t row_offset(const struct cp_attention *attention, int row, int head) {
    size_t index = (size_t)row * (size_t)attention->n_heads + (size_t)head;
    return index * (size_t)attention->head_dim;
}

static void load_query(const struct cp_attention *attention, int row, int head, double *q) {
    size_t at = row_offset(attention, row, head);
    for (int i = 0; i < attention->head_dim; i++) {
        q[i] = cp_number_load(attention->q, attention->q_type, at + (size_t)i);
    }
}

/* partial_attn over the first n_keys keys of a chunk (TPP-6), with the query head's K/V head (TPP-5). */
static void attend_chunk(const struct cp_attention *attention, struct cp_state *state, double *o,
                         const double *q, int head, int chunk, int n_keys) {
    int group = attention->n_heads / attention->n_kv_heads;
    size_t slice = (size_t)chunk * (size_t)attention->n_kv_heads + (size_t)(head / group);
    cp_partial_attn(state, o, q, attention->k, attention->v, attention->kv_type,
                    slice * (size_t)attention->plan->chunk_size, n_keys, attention->head_dim,
                    attention->scale);
}

/* ---- Chunk first (Algorithm 1) ---- */

/* One shared chunk and one query row, all heads. CP_BUFFERED: the results go to partial `at` and those
 * that follow it. */
static void chunk_first_row(const struct cp_attention *attention, const struct workspace *w,
                            const struct cp_shared_chunk *shared, int s, int row, size_t at) {
    size_t d = (size_t)attention->head_dim;
    int visible = visible_keys(attention, s, row);
    int n_keys = keys_in_chunk(visible, shared->position, shared->n_tokens);
    for (int head = 0; head < attention->n_heads; head++) {
        load_query(attention, row, head, w->q);
        if (attention->variant == CP_BUFFERED) {
            size_t i = at + (size_t)head;
            attend_chunk(attention, &w->state[i], w->o + i * d, w->q, head, shared->chunk, n_keys);
        } else {
            size_t i = (size_t)row * (size_t)attention->n_heads + (size_t)head;
            struct cp_state part;
            attend_chunk(attention, &part, w->part_o, w->q, head, shared->chunk, n_keys);
            cp_attn_reduce(&w->state[i], w->o + i * d, &part, w->part_o, attention->head_dim);
        }
    }
}

void cp_chunk_first(const struct cp_attention *attention) {
    const struct cp_plan *plan = attention->plan;
    struct workspace w = cut_workspace(attention);
    size_t at = 0;
    if (attention->variant == CP_MERGE_AT_ONCE) {
        for (size_t i = 0; i < w.n_partials; i++) {
            double *o = w.o + i * (size_t)attention->head_dim;
            cp_state_empty(&w.state[i], o, attention->head_dim);
        }
    }
    for (int i = 0; i < plan->n_shared; i++) {
        const struct cp_shared_chunk *shared = &plan->shared[i];
        for (int s = shared->begin; s < shared->end; s++) {
            int end = cp_first_row(attention, s + 1);
            for (int row = cp_first_row(attention, s); row < end; row++) {
                chunk_first_row(attention, &w, shared, s, row, at);
                at += (size_t)attention->n_heads;
            }
        }
    }
}

/* ---- Sequence first (Algorithm 2) ---- */

/* Merges what the chunk-first phase kept for a query row of sequence s and a head into (state, row_o),
 * in the order of the plan. */
static void merge_shared(const struct cp_attention *attention, const struct workspace *w, int s,
                         int row, int head, struct cp_state *state) {
    const struct cp_plan *plan = attention->plan;
    size_t n_heads = (size_t)attention->n_heads;
    size_t d = (size_t)attention->head_dim;
    size_t first = 0; /* the first partial result of descriptor i, counted in rows */
    if (attention->variant == CP_MERGE_AT_ONCE) {
        size_t at = (size_t)row * n_heads + (size_t)head;
        cp_attn_reduce(state, w->row_o, &w->state[at], w->o + at * d, attention->head_dim);
        return;
    }
    for (int i = 0; i < plan->n_shared; i++) {
        const struct cp_shared_chunk *shared = &plan->shared[i];
        int begin_row = cp_first_row(attention, shared->begin);
        if (shared->begin <= s && s < shared->end) {
            size_t at = (first + (size_t)(row - begin_row)) * n_heads + (size_t)head;
            cp_attn_reduce(state, w->row_o, &w->state[at], w->o + at * d, attention->head_dim);
        }
        first += (size_t)(cp_first_row(attention, shared->end) - begin_row);
    }
}

/* Goes on with the chunks that sequence s has alone. */
static void merge_own(const struct cp_attention *attention, const struct workspace *w, int s,
                      int row, int head, struct cp_state *state) {
    const struct cp_plan_row *path = &attention->plan->row[s];
    int c = attention->plan->chunk_size;
    int visible = visible_keys(attention, s, row);
    load_query(attention, row, head, w->q);
    for (int k = path->n_shared; k < path->n_chunks; k++) {
        struct cp_state part;
        int n_keys = keys_in_chunk(visible, k * c, c); /* PLAN-7: visible <= the path's tokens */
        attend_chunk(attention, &part, w->part_o, w->q, head, path->chunk[k], n_keys);
        cp_attn_reduce(state, w->row_o, &part, w->part_o, attention->head_dim);
    }
}

static void finish_row(const struct cp_attention *attention, const struct workspace *w, int row,
                       int head, const struct cp_state *state) {
    size_t at = row_offset(attention, row, head);
    double lse = cp_finish(state, w->row_o, w->out, attention->head_dim);
    for (int i = 0; i < attention->head_dim; i++) {
        cp_number_store(attention->out, attention->out_type, at + (size_t)i, w->out[i]);
    }
    if (attention->lse != NULL) {
        attention->lse[(size_t)row * (size_t)attention->n_heads + (size_t)head] = lse;
    }
}

void cp_sequence_first(const struct cp_attention *attention) {
    struct workspace w = cut_workspace(attention);
    for (int s = 0; s < attention->plan->n_sequences; s++) {
        int end = cp_first_row(attention, s + 1);
        for (int row = cp_first_row(attention, s); row < end; row++) {
            for (int head = 0; head < attention->n_heads; head++) {
                struct cp_state state;
                cp_state_empty(&state, w.row_o, attention->head_dim);
                merge_shared(attention, &w, s, row, head, &state);
                merge_own(attention, &w, s, row, head, &state);
                finish_row(attention, &w, row, head, &state);
            }
        }
    }
}
