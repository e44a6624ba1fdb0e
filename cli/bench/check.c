/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/bench/check.h"

#include <math.h>
#include <stdlib.h>

#include "chunkproof/opt.h"
#include "chunkproof/tolerance.h"
#include "gate/judge/class.h"

struct room {
    double *q, *k, *v, *scratch, *expected, *bound;
};

static struct room room_new(size_t n, size_t d) {
    return (struct room){malloc(d * sizeof(double)),     malloc(n * d * sizeof(double)),
                         malloc(n * d * sizeof(double)), malloc(3 * n * sizeof(double)),
                         malloc(d * sizeof(double)),     malloc(d * sizeof(double))};
}

static int is_whole(const struct room *room) {
    return room->q != NULL && room->k != NULL && room->v != NULL && room->scratch != NULL &&
           room->expected != NULL && room->bound != NULL;
}

static void room_free(struct room *room) {
    free(room->q);
    free(room->k);
    free(room->v);
    free(room->scratch);
    free(room->expected);
    free(room->bound);
}

/* NUM-18: of the tensor, or 1. */
static double scale_of(const float *scale) {
    return scale == NULL ? 1.0 : (double)scale[0];
}

/* NUM-19, of a query. */
static struct gate_rotated scales_of(const struct cp_attention *a, const double *q) {
    double k = scale_of(a->scales.k), v = scale_of(a->scales.v);
    struct gate_rotated rotated = {
        .over_scale = fmax(1.0, 1.0 / v), .k_scale = fmax(1.0, k), .v_scale = fmax(1.0, v)};
    for (int i = 0; i < a->head_dim; i++) {
        rotated.query = fmax(rotated.query, fabs(q[i]));
    }
    return rotated;
}

/* The query, and the n keys that it sees, the last ones of its path, with their values, in
 * binary64; returns the largest score in magnitude. */
static double gather(const struct cp_attention *a, int row, int head, int n,
                     const struct room *room) {
    const struct cp_plan_sequence *path = &a->plan->sequence[row];
    size_t d = (size_t)a->head_dim, c = (size_t)a->plan->chunk_size;
    size_t group = (size_t)(a->n_heads / a->n_kv_heads);
    double largest = 0.0, k_scale = scale_of(a->scales.k), v_scale = scale_of(a->scales.v);
    for (size_t x = 0; x < d; x++) {
        size_t at = ((size_t)row * (size_t)a->n_heads + (size_t)head) * d + x;
        room->q[x] = cp_number_load(a->q, a->q_type, at);
    }
    for (size_t j = 0, first = (size_t)(path->n_tokens - n); j < (size_t)n; j++) {
        size_t chunk = (size_t)path->run[(first + j) / c].chunk, slot = (first + j) % c;
        size_t at = ((chunk * (size_t)a->n_kv_heads + (size_t)head / group) * c + slot) * d;
        double sum = 0.0;
        for (size_t x = 0; x < d; x++) {
            room->k[j * d + x] = k_scale * cp_number_load(a->k, a->k_type, at + x);
            room->v[j * d + x] = v_scale * cp_number_load(a->v, a->v_type, at + x);
            sum += room->q[x] * room->k[j * d + x];
        }
        largest = fmax(largest, fabs(sum * a->scale));
    }
    return largest;
}

/* The row stands at the last one of its sequence. */
static int keys_of(const struct cp_attention *a, int row) {
    int n = a->plan->sequence[row].n_tokens;
    return a->window.keys > 0 && a->window.keys < n ? a->window.keys : n;
}

static void solve(const struct cp_attention *a, int row, int head, const struct room *room) {
    int is_short = a->scales.k != NULL;
    const struct cp_kernel kernel = {.q_type = a->q_type,
                                     .kv_type = is_short ? CP_FP16 : a->k_type,
                                     .cache = {is_short ? a->k_type : CP_CACHE_PLAIN,
                                               is_short ? a->v_type : CP_CACHE_PLAIN,
                                               CP_CACHE_SCALE_TENSOR},
                                     .out_type = a->out_type,
                                     .lse_type = CP_FP64,
                                     .arithmetic = CP_OPT_ARITHMETIC};
    int n = keys_of(a, row), steps = gate_steps(&kernel, a->plan->chunk_size, n);
    struct cp_tolerance_row question = {n,       a->head_dim, a->head_dim,   a->scale, room->q,
                                        room->k, room->v,     room->scratch, NULL,     NULL};
    struct cp_arithmetic arithmetic;
    struct cp_counts counts;
    steps += a->window.keys > 0; /* which begins in the middle of a step */
    double score = gather(a, row, head, n, room);
    struct gate_rotated scales = scales_of(a, room->q);
    const struct gate_row shape = {
        .d = a->head_dim, .n = n, .steps = steps, .largest_score = score, .rotated = &scales};
    gate_class_of_row(&kernel, &shape, &arithmetic, &counts);
    cp_tolerance(&arithmetic, &counts, &question, 0.0, room->expected, room->bound, NULL, NULL);
}

static int compare(const struct cp_attention *a, const void *const *out, int n_results,
                   const struct room *room, struct check_wrong *at) {
    size_t d = (size_t)a->head_dim;
    size_t first = ((size_t)at->row * (size_t)a->n_heads + (size_t)at->head) * d;
    for (at->result = 0; at->result < n_results; at->result++) {
        for (at->i = 0; at->i < a->head_dim; at->i++) {
            at->got = cp_number_load(out[at->result], a->out_type, first + (size_t)at->i);
            at->expected = room->expected[at->i];
            at->bound = room->bound[at->i];
            if (!isfinite(at->bound) || !(fabs(at->got - at->expected) <= at->bound)) {
                return 0;
            }
        }
    }
    return 1;
}

int bench_check(const struct cp_attention *attention, const void *const *out, int n_results,
                int first_head, struct check_wrong *wrong) {
    int longest = 1, right = 1;
    for (int s = 0; s < attention->plan->n_sequences; s++) {
        int n = attention->plan->sequence[s].n_tokens;
        longest = n > longest ? n : longest;
    }
    struct room room = room_new((size_t)longest, (size_t)attention->head_dim);
    if (!is_whole(&room)) {
        room_free(&room);
        return -1;
    }
    for (int s = 0; s < attention->plan->n_sequences && right; s++) {
        wrong->row = s;
        wrong->head = (first_head + s) % attention->n_heads;
        solve(attention, s, wrong->head, &room);
        right = compare(attention, out, n_results, &room, wrong);
    }
    room_free(&room);
    return right;
}
