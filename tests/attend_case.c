/* SPDX-License-Identifier: Apache-2.0 */
#include "attend_case.h"

#include <assert.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bound.h"
#include "chunkproof/number.h"
#include "oracle.h"
#include "path_runs.h"
#include "random.h"

#define CANARY 64 /* bytes behind the workspace */

/* At least one element, so that NULL means no memory and nothing else. */
static void *allocate(size_t n, size_t size) {
    void *memory = calloc(n + 1, size);
    if (memory == NULL) {
        abort();
    }
    return memory;
}

/* ---- The plan ---- */

/* Sequence s goes on alone from `depth` shared chunks: no token more, a partial chunk, full
 * chunks. */
static void grow_alone(struct attend_case *c, int s, int depth, int *n_chunks) {
    struct cp_plan_sequence *path = &c->plan->sequence[s];
    int size = c->shape.chunk_size;
    int room = (c->shape.max_depth - depth) * size;
    int own = random_below(&c->random, room + 1);
    int kind = random_below(&c->random, 4);
    if (kind == 0) {
        own = 0;
    } else if (kind == 1) { /* a whole number of chunks */
        own -= own % size;
    }
    path->n_shared = depth;
    path->n_tokens = depth * size + own;
    path->n_chunks = depth + (own + size - 1) / size;
    for (int k = depth; k < path->n_chunks; k++) {
        path->run[k].chunk = (*n_chunks)++;
    }
    path_runs(path, size);
}

/* Sequences begin .. end-1 have `depth` chunks in common: they get up to two more, then part. */
static void grow(struct attend_case *c, int begin, int end, int depth, int *n_chunks) {
    struct cp_plan *plan = c->plan;
    if (end - begin == 1) {
        grow_alone(c, begin, depth, n_chunks);
        return;
    }
    int extra = depth == 0 && random_below(&c->random, 3) > 0 ? 0 : random_below(&c->random, 3);
    for (; extra > 0 && depth < c->shape.max_depth; extra--, depth++) {
        struct cp_shared_chunk *shared = &plan->shared[plan->n_shared++];
        *shared = (struct cp_shared_chunk){(*n_chunks)++, begin, end, c->shape.chunk_size,
                                           depth * c->shape.chunk_size};
        for (int s = begin; s < end; s++) {
            plan->sequence[s].run[depth].chunk = shared->chunk;
        }
    }
    int middle = begin + 1 + random_below(&c->random, end - begin - 1);
    grow(c, begin, middle, depth, n_chunks);
    grow(c, middle, end, depth, n_chunks);
}

/* Chunks get numbers at random out of a pool with three more. */
static void scatter_chunks(struct attend_case *c, int n_chunks) {
    struct cp_plan *plan = c->plan;
    int capacity = n_chunks + 3;
    int *number = allocate((size_t)capacity, sizeof(int));
    for (int i = 0; i < capacity; i++) { /* a random permutation, grown by insertion */
        int at = random_below(&c->random, i + 1);
        number[i] = number[at];
        number[at] = i;
    }
    plan->capacity = capacity;
    for (int i = 0; i < plan->n_shared; i++) {
        plan->shared[i].chunk = number[plan->shared[i].chunk];
    }
    for (int s = 0; s < plan->n_sequences; s++) {
        for (int k = 0; k < plan->sequence[s].n_chunks; k++) {
            plan->sequence[s].run[k].chunk = number[plan->sequence[s].run[k].chunk];
        }
    }
    free(number);
}

static void make_plan(struct attend_case *c) {
    int n_chunks = 0;
    if (cp_plan_new(&c->plan) != 0) {
        abort();
    }
    c->plan->stamp = (struct cp_stamp){7, 8, 9};
    c->plan->chunk_size = c->shape.chunk_size;
    list_sequences(c->plan, c->shape.b);
    if (c->shape.b > 0) {
        grow(c, 0, c->shape.b, 0, &n_chunks);
    }
    scatter_chunks(c, n_chunks);
}

static int queries_of(struct attend_case *c, int n_tokens) {
    int several = random_below(&c->random, 5);
    switch (c->shape.query_mode) {
    case CASE_OWN:
        return several;
    case CASE_SEVERAL:
        return several < n_tokens ? several : n_tokens;
    case CASE_ALL:
        return n_tokens < 12 ? n_tokens : 12;
    case CASE_MORE:
        return (n_tokens < 9 ? n_tokens : 9) + random_below(&c->random, 4);
    default:
        return 1;
    }
}

static int *make_queries(struct attend_case *c) {
    int *begin = allocate((size_t)c->shape.b + 1, sizeof(int));
    for (int s = 0; s < c->shape.b; s++) {
        begin[s + 1] = begin[s] + queries_of(c, c->plan->sequence[s].n_tokens);
    }
    c->n_rows = begin[c->shape.b];
    if (c->shape.query_mode == CASE_DECODE) {
        free(begin);
        return NULL;
    }
    return begin;
}

/* PREFILL-1: in any order, one in nine as far away as a number can be. */
static int *make_positions(struct attend_case *c) {
    if (c->shape.query_mode != CASE_OWN) {
        return NULL;
    }
    int *position = allocate((size_t)c->n_rows, sizeof(int));
    for (int s = 0; s < c->shape.b; s++) {
        for (int row = c->query_begin[s]; row < c->query_begin[s + 1]; row++) {
            int far = random_below(&c->random, 18);
            int near = random_below(&c->random, c->plan->sequence[s].n_tokens + 6) - 3;
            position[row] = far == 0 ? INT_MIN : far == 1 ? INT_MAX : near;
        }
    }
    return position;
}

/* ---- Values ---- */

/* The nearest number to x that the type has; the arithmetic is this file's own. */
static double quantise(double x, int type) {
    if (type == CP_FP32) {
        return (double)(float)x;
    }
    if ((type == CP_FP16 || type == CP_BF16) && x != 0.0) {
        int bits = type == CP_FP16 ? 11 : 8;
        int smallest = type == CP_FP16 ? -24 : -133;
        int exponent;
        frexp(x, &exponent);
        int last = exponent - bits > smallest ? exponent - bits : smallest; /* of the last bit */
        return ldexp(nearbyint(ldexp(x, -last)), last);
    }
    return x;
}

static double channel(const struct attend_case *c, int x) {
    return c->shape.values == CASE_MASSIVE && x % 16 == 0 ? 50.0 : 1.0;
}

static double query_value(struct attend_case *c, int x) {
    double normal = random_normal(&c->random);
    switch (c->shape.values) {
    case CASE_LOW:
        return x == 0 ? 32.0 : normal;
    case CASE_ZERO:
        return random_bits(&c->random) % 2 ? 0.0 : -0.0;
    default:
        return normal * channel(c, x);
    }
}

static double key_value(struct attend_case *c, int j, int x) {
    double normal = random_normal(&c->random);
    switch (c->shape.values) {
    case CASE_LOW:
        return x == 0 ? -900.0 / (32.0 * c->attention.scale) : normal;
    case CASE_ONE_HOT:
        return normal * (j % 7 == 3 ? 20.0 : 1.0);
    case CASE_TIES:
        return 1.0 - 0.25 * (x % 5);
    default:
        return normal * channel(c, x);
    }
}

static double value_value(struct attend_case *c, int x) {
    double normal = random_normal(&c->random);
    switch (c->shape.values) {
    case CASE_SUBNORMAL:
        return normal * (c->attention.k_type == CP_BF16 ? 0x1p-130 : 0x1p-20);
    case CASE_ZERO:
        return random_bits(&c->random) % 2 ? 0.0 : -0.0;
    default:
        return normal * channel(c, x);
    }
}

/* Stores a number in an array of doubles and in one of the type; the type can represent it. */
static void put(double *exact, void *typed, int type, size_t at, double x) {
    exact[at] = quantise(x, type);
    cp_number_store(typed, type, at, exact[at]);
}

/* A key at `at`, and its value, which K has where V is in K. */
static void fill_key(struct attend_case *c, int j, size_t at, size_t value) {
    const struct cp_attention *a = &c->attention;
    int d_v = c->shape.v_in_k ? 0 : a->value_dim;
    for (int x = 0; x < a->head_dim || x < d_v; x++) {
        if (x < a->head_dim) {
            put(c->k, c->typed_k, a->k_type, at + (size_t)x, key_value(c, j, x));
        }
        if (x < d_v) {
            put(c->v, c->typed_v, a->v_type, value + (size_t)x, value_value(c, x));
        }
    }
}

static void fill_keys(struct attend_case *c) {
    const struct cp_attention *a = &c->attention;
    for (int s = 0; s < c->shape.b; s++) {
        for (int j = 0; j < c->plan->sequence[s].n_tokens; j++) {
            for (int g = 0; g < a->n_kv_heads; g++) {
                if (!isfinite(c->k[case_key(c, s, j, g)])) {
                    fill_key(c, j, case_key(c, s, j, g), case_value(c, s, j, g));
                }
            }
        }
    }
}

/* n numbers without a key: in double NaN, so that one not filled in is seen. */
static void make_cache(const struct attend_case *c, double **exact, void **typed, int type,
                       size_t n) {
    const double poison[] = {NAN, 60000.0, 0.0};
    *exact = allocate(n, sizeof(double));
    *typed = allocate(n, cp_number_size(type));
    for (size_t i = 0; i < n; i++) {
        (*exact)[i] = NAN;
        cp_number_store(*typed, type, i, poison[c->shape.poison]);
    }
}

static void make_tensors(struct attend_case *c) {
    struct cp_attention *a = &c->attention;
    size_t d = (size_t)a->head_dim, pairs = (size_t)c->n_rows * (size_t)a->n_heads;
    size_t n_q = pairs * d;
    size_t slots = (size_t)c->plan->capacity * (size_t)a->n_kv_heads * (size_t)c->plan->chunk_size;
    c->q = allocate(n_q, sizeof(double));
    make_cache(c, &c->k, &c->typed_k, a->k_type, slots * d);
    if (c->shape.v_in_k) {
        size_t x = (size_t)c->shape.v_in_k - 1;
        c->v = c->k + x;
        c->typed_v = (char *)c->typed_k + x * cp_number_size(a->k_type);
    } else {
        make_cache(c, &c->v, &c->typed_v, a->v_type, slots * (size_t)a->v_row);
    }
    a->q = c->typed_q = allocate(n_q, cp_number_size(a->q_type));
    a->k = c->typed_k;
    a->v = c->typed_v;
    a->out = allocate(pairs * (size_t)a->value_dim, cp_number_size(a->out_type));
    a->lse = allocate(pairs, sizeof(double));
    for (size_t i = 0; i < n_q; i++) {
        put(c->q, c->typed_q, a->q_type, i, query_value(c, (int)(i % d)));
    }
    fill_keys(c);
}

static void make_workspace(struct attend_case *c) {
    struct cp_attention *a = &c->attention;
    size_t size[2];
    for (a->variant = 0; a->variant < 2; a->variant++) {
        size[a->variant] = cp_attend_workspace(a);
    }
    a->workspace = allocate((size[0] > size[1] ? size[0] : size[1]) + CANARY, 1);
}

/* All but the plan, which is there. */
static void finish(struct attend_case *c) {
    const struct shape *shape = &c->shape;
    int value_dim = shape->value_dim ? shape->value_dim : shape->head_dim;
    c->query_begin = make_queries(c);
    c->position = make_positions(c);
    c->attention =
        (struct cp_attention){.plan = c->plan,
                              .stamp = c->plan->stamp,
                              .n_heads = shape->n_heads,
                              .n_kv_heads = shape->n_kv_heads,
                              .head_dim = shape->head_dim,
                              .value_dim = value_dim,
                              .v_row = shape->v_in_k  ? shape->head_dim
                                       : shape->v_row ? shape->v_row
                                                      : value_dim,
                              .scale = 1.0 / sqrt(shape->head_dim),
                              .query_begin = c->query_begin,
                              .position = c->position,
                              .q_type = shape->q_type,
                              .k_type = shape->kv_type,
                              .v_type = shape->v_type ? shape->v_type - 1 : shape->kv_type,
                              .out_type = shape->out_type};
    make_tensors(c);
    make_workspace(c);
}

void case_make(struct attend_case *c, const struct shape *shape, unsigned long long seed) {
    memset(c, 0, sizeof *c);
    c->shape = *shape;
    c->seed = seed;
    c->random = seed;
    make_plan(c);
    finish(c);
}

void case_make_of(struct attend_case *c, const struct shape *shape, struct cp_plan *plan,
                  unsigned long long seed) {
    memset(c, 0, sizeof *c);
    c->shape = *shape;
    c->shape.b = plan->n_sequences;
    c->shape.max_depth = 0;
    for (int s = 0; s < plan->n_sequences; s++) {
        int n = plan->sequence[s].n_chunks;
        c->shape.max_depth = n > c->shape.max_depth ? n : c->shape.max_depth;
    }
    c->seed = seed;
    c->random = seed;
    c->plan = plan;
    finish(c);
}

void case_free(struct attend_case *c) {
    void *memory[] = {c->query_begin,
                      c->position,
                      c->typed_q,
                      c->typed_k,
                      c->shape.v_in_k ? NULL : c->typed_v,
                      c->q,
                      c->k,
                      c->shape.v_in_k ? NULL : c->v,
                      c->attention.out,
                      c->attention.lse,
                      c->attention.workspace};
    for (size_t i = 0; i < sizeof memory / sizeof memory[0]; i++) {
        free(memory[i]);
    }
    cp_plan_free(c->plan);
}

void case_print(const struct attend_case *c) {
    const struct shape *s = &c->shape;
    fprintf(stderr,
            "case: seed %llu, b %d, depth %d, c %d, h %d, h_kv %d, d %d, d_v %d, rows of V %d%s, "
            "types of q, k and v, out: %d %d %d, queries %d, values %d, poison %d\n",
            c->seed, s->b, s->max_depth, s->chunk_size, s->n_heads, s->n_kv_heads, s->head_dim,
            c->attention.value_dim, c->attention.v_row, s->v_in_k ? " in K" : "", s->q_type,
            s->kv_type, s->out_type, s->query_mode, s->values, s->poison);
}

/* ---- Running and comparing ---- */

int case_run(struct attend_case *c, int variant) {
    struct cp_attention *a = &c->attention;
    a->variant = variant;
    a->workspace_size = cp_attend_workspace(a);
    unsigned char *behind = (unsigned char *)a->workspace + a->workspace_size;
    memset(a->out, 0xFF, case_out_bytes(c));
    memset(a->lse, 0xFF, case_lse_bytes(c));
    memset(a->workspace, 0xFF, a->workspace_size + CANARY);
    int status = cp_attend(a);
    for (int i = 0; i < CANARY; i++) {
        if (behind[i] != 0xFF) {
            return -1;
        }
    }
    return status;
}

static int first_row(const struct attend_case *c, int s) {
    return c->attention.query_begin == NULL ? s : c->attention.query_begin[s];
}

int case_sequence_of(const struct attend_case *c, int row) {
    int s = 0;
    while (first_row(c, s + 1) <= row) {
        s++;
    }
    return s;
}

int case_visible(const struct attend_case *c, int row) {
    int s = case_sequence_of(c, row);
    if (c->attention.position != NULL) { /* of its keys those at positions up to its own */
        int visible = 0, p = c->attention.position[row];
        for (int j = 0; j < c->plan->sequence[s].n_tokens; j++) {
            visible += j <= p;
        }
        return visible;
    }
    int after = first_row(c, s + 1) - 1 - row; /* rows behind this one, a position each */
    int visible = c->plan->sequence[s].n_tokens - after;
    return visible > 0 ? visible : 0;
}

long long case_position(const struct attend_case *c, int row) {
    int s = case_sequence_of(c, row);
    return c->attention.position != NULL
               ? c->attention.position[row]
               : (long long)c->plan->sequence[s].n_tokens - (first_row(c, s + 1) - row);
}

/* MASK-1 */
static int mask_leaves(const struct cp_mask *mask, int row, int j) {
    int begin = mask->begin == NULL ? 0 : mask->begin[row];
    if (mask->bits == NULL || j < begin) {
        return 1;
    }
    size_t bit = mask->first[row] + (size_t)j - (size_t)begin;
    return (mask->bits[bit / 8] & (1U << bit % 8)) != 0;
}

int case_sees(const struct attend_case *c, int row, int j) {
    const struct cp_window *w = &c->attention.window;
    long long p = case_position(c, row);
    return mask_leaves(&c->attention.mask, row, j) && j <= p + w->ahead &&
           (w->keys == 0 || j > p - w->keys || j < w->kept);
}

size_t case_key(const struct attend_case *c, int s, int j, int g) {
    int size = c->shape.chunk_size;
    size_t chunk = (size_t)c->plan->sequence[s].run[j / size].chunk;
    size_t slot = (chunk * (size_t)c->shape.n_kv_heads + (size_t)g) * (size_t)size;
    return (slot + (size_t)(j % size)) * (size_t)c->shape.head_dim;
}

size_t case_value(const struct attend_case *c, int s, int j, int g) {
    return case_key(c, s, j, g) / (size_t)c->shape.head_dim * (size_t)c->attention.v_row;
}

size_t case_out_bytes(const struct attend_case *c) {
    return (size_t)c->n_rows * (size_t)c->shape.n_heads * (size_t)c->attention.value_dim *
           cp_number_size(c->shape.out_type);
}

size_t case_lse_bytes(const struct attend_case *c) {
    return (size_t)c->n_rows * (size_t)c->shape.n_heads * sizeof(double);
}

/* The keys that a row sees, one after the other, falsified as asked; returns how many. */
static int gather(const struct attend_case *c, int row, int g, int falsification, double *k,
                  double *v) {
    size_t bytes = (size_t)c->shape.head_dim * sizeof(double);
    int s = case_sequence_of(c, row);
    int visible = case_visible(c, row);
    int first = falsification == CASE_DROP_FIRST && visible > 0;
    int n = 0;
    for (int j = first; j < visible; j++) {
        memcpy(k + (ptrdiff_t)n * c->shape.head_dim, c->k + case_key(c, s, j, g), bytes);
        memcpy(v + (ptrdiff_t)n * c->shape.head_dim, c->v + case_key(c, s, j, g), bytes);
        n++;
    }
    if (falsification == CASE_REPEAT_KEY && n > 0) {
        memcpy(k + (ptrdiff_t)n * c->shape.head_dim, c->k + case_key(c, s, visible - 1, g), bytes);
        memcpy(v + (ptrdiff_t)n * c->shape.head_dim, c->v + case_key(c, s, visible - 1, g), bytes);
        n++;
    }
    return falsification == CASE_DROP_KEY && n > 0 ? n - 1 : n;
}

/* Room for one comparison. */
struct room {
    double *k; /* [n + 1][d] */
    double *v;
    double *expected; /* [d] */
    double *bound;
};

static int row_is_right(const struct attend_case *c, int row, int head, int falsification,
                        const struct room *room) {
    const struct cp_attention *a = &c->attention;
    int d = a->head_dim;
    int group = a->n_heads / a->n_kv_heads;
    int g = (head / group + (falsification == CASE_SWAP_HEAD)) % a->n_kv_heads;
    int q_head = (head + (falsification == CASE_OTHER_QUERY)) % a->n_heads;
    const double *q = c->q + ((ptrdiff_t)row * a->n_heads + q_head) * d;
    double scale = a->scale * (falsification == CASE_OTHER_SCALE ? 1.0 + 1e-9 : 1.0);
    double lse = a->lse[(ptrdiff_t)row * a->n_heads + head];
    int n = gather(c, row, g, falsification, room->k, room->v);
    int n_parts = n == 0 ? 1 : (n - 1) / c->shape.chunk_size + 1;
    double expected_lse = oracle_attention(q, room->k, room->v, n, d, scale, room->expected);
    double lse_bound = bound_attention(q, room->k, room->v, n, d, scale, n_parts,
                                       c->shape.chunk_size, room->bound);
    int right = n == 0 ? lse == -INFINITY : fabs(lse - expected_lse) <= lse_bound;
    for (int x = 0; x < d; x++) {
        size_t at = ((size_t)row * (size_t)a->n_heads + (size_t)head) * (size_t)d + (size_t)x;
        double out = cp_number_load(a->out, a->out_type, at);
        double bound = bound_rounded(a->out_type, room->expected[x], room->bound[x]);
        right = right && (n == 0 ? out == 0.0 : fabs(out - room->expected[x]) <= bound);
    }
    return right;
}

struct verdict case_compare(const struct attend_case *c, int falsification) {
    struct verdict verdict = {0, 0, 0};
    size_t d = (size_t)c->shape.head_dim;
    size_t n = (size_t)c->shape.max_depth * (size_t)c->shape.chunk_size + 1;
    struct room room = {allocate(n * d, sizeof(double)), allocate(n * d, sizeof(double)),
                        allocate(d, sizeof(double)), allocate(d, sizeof(double))};
    for (int row = 0; row < c->n_rows; row++) {
        for (int head = 0; head < c->shape.n_heads; head++) {
            verdict.rows++;
            verdict.masked += case_visible(c, row) == 0;
            verdict.wrong += !row_is_right(c, row, head, falsification, &room);
        }
    }
    free(room.k);
    free(room.v);
    free(room.expected);
    free(room.bound);
    return verdict;
}
