/* SPDX-License-Identifier: Apache-2.0 */
#include "opt_case.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "chunkproof/status.h"
#include "chunkproof/tolerance.h"
#include "gate/judge/class.h"
#include "kept_case.h"
#include "opt/kernels.h"
#include "score_case.h"

#define CANARY 256 /* bytes behind the workspace */

static void *allocate(size_t n, size_t size) {
    void *memory = calloc(n + 1, size);
    if (memory == NULL) {
        abort();
    }
    return memory;
}

int opt_case_version(int i) {
    (void)cp_opt_has_amx(); /* that of amx_emulator.c, which the linker takes for this call */
    for (int version = CP_OPT_PORTABLE; version <= CP_OPT_LAST; version++) {
        struct cp_opt *opt;
        int status = cp_opt_new(&opt, 1, version);
        cp_opt_free(opt);
        if (status == CP_OK && i-- == 0) {
            return version;
        }
    }
    return 0;
}

int opt_case_run(struct cp_opt *opt, struct attend_case *c, int shift) {
    struct cp_attention a = c->attention;
    size_t away = (size_t)shift * sizeof(double);
    a.variant = shift % 2;
    (void)cp_opt_has_amx(); /* again: cmocka has installed its own handler before this test */
    a.workspace_size = cp_opt_workspace(opt, &a);
    char *memory = aligned_alloc(64, (away + a.workspace_size + CANARY + 63) / 64 * 64);
    if (memory == NULL) {
        abort();
    }
    a.workspace = memory + away;
    memset(a.out, 0xFF, case_out_bytes(c));
    memset(a.lse, 0xFF, case_lse_bytes(c));
    memset(memory, 0xFF, away + a.workspace_size + CANARY);
    int status = cp_opt_attend(opt, &a);
    for (size_t i = 0; i < away + CANARY; i++) {
        size_t at = i < away ? i : a.workspace_size + i;
        status = (unsigned char)memory[at] == 0xFF ? status : -1;
    }
    free(memory);
    return status;
}

/* ---- The verdict ---- */

struct room {
    double *k, *v, *shift, *shift_error, *scratch, *expected, *bound;
    struct gate_rotated scales;
};

/* What K, or V, is to the class: numbers that have scales beside them are as those of 8 bits. */
static int cache_of(int type, const float *scales) {
    return type >= CP_E4M3 && type <= CP_INT8 ? type
           : scales != NULL                   ? CP_CACHE_E5M2
                                              : CP_CACHE_PLAIN;
}

static struct cp_kernel kernel_of(const struct cp_attention *a) {
    int k = cache_of(a->k_type, a->scales.k), v = cache_of(a->v_type, a->scales.v);
    int is_short = k == CP_CACHE_PLAIN && a->q_type <= CP_BF16;
    return (struct cp_kernel){.q_type = is_short ? a->q_type : CP_FP32,
                              .kv_type = is_short ? a->k_type : CP_FP32,
                              .out_type = a->out_type,
                              .lse_type = CP_FP64,
                              .cache = {k, v, a->scales.per},
                              .arithmetic = CP_OPT_ARITHMETIC};
}

/* The largest of 1 and of the scales, or of what they divide 1 into. */
static double most_of(const struct attend_case *c, const float *scales, int inverse) {
    double most = 1.0;
    for (size_t i = 0; scales != NULL && i < kept_case_scales(c, c->attention.scales.per); i++) {
        most = fmax(most, inverse ? 1.0 / (double)scales[i] : (double)scales[i]);
    }
    return most;
}

/* NUM-19 */
static struct gate_rotated scales_of(const struct attend_case *c) {
    const struct cp_scales *scales = &c->attention.scales;
    struct gate_rotated rotated = {.over_scale = most_of(c, scales->v, 1),
                                   .k_scale = most_of(c, scales->k, 0),
                                   .v_scale = most_of(c, scales->v, 0)};
    size_t n = (size_t)c->n_rows * (size_t)c->shape.n_heads * (size_t)c->shape.head_dim;
    for (size_t i = 0; i < n; i++) {
        rotated.query = fmax(rotated.query, fabs(c->q[i]));
    }
    return rotated;
}

/* NUM-14: how the scores of the row's keys are changed. A sink is one key more, whose rows in k and
 * v are zeros. Returns the largest. */
static double shift_keys(const struct attend_case *c, int row, int head, const struct room *room,
                         int *n) {
    const struct cp_kernel kernel = kernel_of(&c->attention);
    const struct cp_score_arithmetic there =
        gate_class_of_score(&kernel, c->attention.head_dim, &room->scales);
    const struct cp_shift_arithmetic arithmetic = gate_class_of_shift(&kernel);
    size_t d = (size_t)c->attention.head_dim, d_v = (size_t)c->attention.value_dim;
    double largest = 0.0, score;
    int keys = c->plan->sequence[case_sequence_of(c, row)].n_tokens;
    for (int j = 0, i = 0; j < keys; j++) {
        if (case_sees(c, row, j)) {
            struct cp_shift shift = score_case_shift(c, row, head, j, &there, &arithmetic, &score);
            largest = fmax(largest, fabs(score));
            room->shift[i] = shift.shift;
            room->shift_error[i++] = shift.error;
        }
    }
    if (c->attention.scores.sinks != NULL) {
        struct cp_shift shift = score_case_shift_sink(c, head, &arithmetic, &score);
        largest = fmax(largest, fabs(score));
        memset(room->k + (size_t)*n * d, 0, d * sizeof(double));
        memset(room->v + (size_t)*n * d_v, 0, d_v * sizeof(double));
        room->shift[*n] = shift.shift;
        room->shift_error[(*n)++] = shift.error;
    }
    return largest;
}

/* The keys that a row sees, *n in all; returns the largest score. */
static double gather(const struct attend_case *c, int row, int head, const struct room *room,
                     int *n) {
    const struct cp_attention *a = &c->attention;
    size_t d = (size_t)a->head_dim, d_v = (size_t)a->value_dim;
    const double *q = c->q + ((size_t)row * (size_t)a->n_heads + (size_t)head) * d;
    int s = case_sequence_of(c, row);
    double largest = 0.0;
    *n = 0;
    for (int j = 0; j < c->plan->sequence[s].n_tokens; j++) {
        if (!case_sees(c, row, j)) {
            continue;
        }
        int g = head / (a->n_heads / a->n_kv_heads);
        size_t at = case_key(c, s, j, g), value = case_value(c, s, j, g);
        double sum = 0.0;
        for (size_t x = 0; x < d; x++) {
            sum += q[x] * c->k[at + x];
        }
        largest = fmax(largest, fabs(sum * a->scale));
        memcpy(room->k + (size_t)*n * d, c->k + at, d * sizeof(double));
        memcpy(room->v + (size_t)*n * d_v, c->v + value, d_v * sizeof(double));
        ++*n;
    }
    return largest;
}

/* 1 when it is wrong. */
static int compare(double got, double expected, double bound, int no_key, double *largest) {
    if (no_key) {
        return got != expected;
    }
    double error = fabs(got - expected);
    if (isinf(bound)) { /* NUM-12 */
        return 0;
    }
    if (bound > 0.0 && !(error / bound <= *largest)) {
        *largest = error / bound;
    }
    return !(error <= bound);
}

/* How many keys a row takes its steps over: with a mask, those that it does not see lie between. */
static int keys_of_steps(const struct attend_case *c, int row, int n) {
    return c->attention.mask.bits == NULL ? n
                                          : c->plan->sequence[case_sequence_of(c, row)].n_tokens;
}

/* GATE-2. Both ranges of a window may begin in the middle of a tile. A sink is a step. */
static int steps_of(const struct attend_case *c, const struct cp_kernel *kernel, int n) {
    int steps = gate_steps(kernel, c->shape.chunk_size, n) + (c->attention.scores.sinks != NULL);
    return c->attention.window.keys == 0 ? steps : steps + 2;
}

static int row_is_wrong(const struct attend_case *c, int row, int head, const struct room *room,
                        double *largest) {
    const struct cp_attention *a = &c->attention;
    const struct cp_kernel kernel = kernel_of(a);
    struct cp_arithmetic arithmetic;
    struct cp_counts counts;
    size_t d_v = (size_t)a->value_dim, at = (size_t)row * (size_t)a->n_heads + (size_t)head;
    int n, wrong = 0, changes = score_case_changes(c);
    double score = gather(c, row, head, room, &n), lse = -INFINITY, lse_bound = 0.0;
    score = changes ? shift_keys(c, row, head, room, &n) : score;
    struct cp_tolerance_row question = {n,
                                        a->head_dim,
                                        a->value_dim,
                                        a->scale,
                                        c->q + at * (size_t)a->head_dim,
                                        room->k,
                                        room->v,
                                        room->scratch,
                                        changes ? room->shift : NULL,
                                        changes ? room->shift_error : NULL};
    const struct gate_row shape = {.d = a->head_dim,
                                   .n = n,
                                   .steps = steps_of(c, &kernel, keys_of_steps(c, row, n)),
                                   .largest_score = score,
                                   .rotated = &room->scales};
    gate_class_of_row(&kernel, &shape, &arithmetic, &counts);
    cp_tolerance(&arithmetic, &counts, &question, gate_lse_error(&kernel, n, score), room->expected,
                 room->bound, &lse, &lse_bound);
    for (size_t x = 0; x < d_v; x++) {
        double got = cp_number_load(a->out, a->out_type, at * d_v + x);
        if (compare(got, room->expected[x], room->bound[x], n == 0, largest) && wrong++ == 0) {
            fprintf(stderr, "row %d, head %d, element %zu: %.9g, not %.9g +- %g\n", row, head, x,
                    got, room->expected[x], room->bound[x]);
        }
    }
    if (compare(a->lse[at], lse, lse_bound, n == 0, largest)) {
        fprintf(stderr, "row %d, head %d: lse %.9g, not %.9g +- %g\n", row, head, a->lse[at], lse,
                lse_bound);
        wrong++;
    }
    return wrong;
}

int opt_case_wrong(const struct attend_case *c, int most, double *largest) {
    size_t d = (size_t)c->shape.head_dim, d_v = (size_t)c->attention.value_dim;
    size_t n = (size_t)c->shape.max_depth * (size_t)c->shape.chunk_size + 2;
    struct room room = {allocate(n * d, sizeof(double)), allocate(n * d_v, sizeof(double)),
                        allocate(n, sizeof(double)),     allocate(n, sizeof(double)),
                        allocate(3 * n, sizeof(double)), allocate(d_v, sizeof(double)),
                        allocate(d_v, sizeof(double)),   scales_of(c)};
    int pairs = c->n_rows * c->shape.n_heads, wrong = 0, step = pairs / most + 1;
    for (int x = 0; x < pairs; x += step) {
        wrong += row_is_wrong(c, x / c->shape.n_heads, x % c->shape.n_heads, &room, largest);
    }
    free(room.k);
    free(room.v);
    free(room.shift);
    free(room.shift_error);
    free(room.scratch);
    free(room.expected);
    free(room.bound);
    return wrong;
}

/* ---- Results ---- */

static void *copy_of(const void *from, size_t bytes) {
    void *copy = allocate(bytes, 1);
    memcpy(copy, from, bytes);
    return copy;
}

struct opt_results opt_results_of(const struct attend_case *c) {
    return (struct opt_results){copy_of(c->attention.out, case_out_bytes(c)),
                                copy_of(c->attention.lse, case_lse_bytes(c))};
}

void opt_results_free(struct opt_results *results) {
    free(results->out);
    free(results->lse);
}

int opt_results_same(const struct attend_case *c, const struct opt_results *results) {
    return memcmp(c->attention.out, results->out, case_out_bytes(c)) == 0 &&
           memcmp(c->attention.lse, results->lse, case_lse_bytes(c)) == 0;
}
