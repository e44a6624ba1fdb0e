/* SPDX-License-Identifier: Apache-2.0 */
/* A problem as arrays of a kernel's types, with strides. Places without a number hold padding
 * that must not matter. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "chunkproof/number.h"
#include "cli/base/random.h"
#include "gate/case/cache.h"
#include "gate/case/layout.h"
#include "gate/case/pages.h"
#include "gate/case/rotation.h"
#include "gate/case/strides.h"
#include "gate/case/widths.h"
#include "gate/runner/arena.h"

/* ---- Filling ---- */

/* Padding between keys: a NaN, a huge number, or a number that looks like another sequence's
 * key. */
static double padding_number(const struct gate_problem *p, struct prng *random) {
    switch (p->recipe.padding) {
    case GATE_NANS:
        return NAN;
    case GATE_HUGE:
        return 60000.0;
    default:
        return 40.0 * ((double)(prng_next(random) >> 32) * 0x1p-32 - 0.25);
    }
}

/* The padding of an element follows from its index, and repeats after so many elements: to draw
 * each anew takes longer than all else of a case. A prime number is no width of an array. */
#define PERIOD 509

/* An array that is being filled, and its padding. */
enum array { OF_Q, OF_K, OF_V };

struct filling {
    const struct gate_problem *problem;
    void *array;
    enum array of;
    size_t size; /* of an element */
    _Alignas(double) unsigned char padding[PERIOD * sizeof(double)];
};

static struct filling filling_of(const struct gate_problem *p, void *array, enum array of) {
    struct filling f = {.problem = p, .array = array, .of = of};
    struct prng random = {p->seed ^ (1ULL + of)};
    f.size = of == OF_Q ? cp_number_size(p->q_type) : gate_cache_size(p, of == OF_V);
    for (size_t i = 0; i < PERIOD; i++) {
        double x = padding_number(p, &random);
        if (of == OF_Q) {
            cp_number_store(f.padding, p->q_type, i, x);
        } else {
            gate_cache_pad(p, of == OF_V, f.padding, i, x);
        }
    }
    return f;
}

static void pad(const struct filling *f, long long begin, long long end) {
    for (long long at = begin, n; at < end; at += n) {
        long long phase = at % PERIOD;
        n = PERIOD - phase < end - at ? PERIOD - phase : end - at;
        memcpy((unsigned char *)f->array + (size_t)at * f->size,
               f->padding + (size_t)phase * f->size, (size_t)n * f->size);
    }
}

/* The numbers of a query, a key or a value. */
static int width_of(const struct filling *f) {
    return f->of == OF_V ? f->problem->value_dim : f->problem->recipe.head_dim;
}

/* A row of numbers and what is spread behind it; a NaN is none, and then none of them is. Of K
 * and V `place` is which key it is (cache.h). */
static void put_row(const struct filling *f, long long at, unsigned long long place,
                    const double *from, const struct gate_stride *s) {
    long long d = width_of(f);
    if (isnan(from[0])) {
        pad(f, at, at + s->width);
        return;
    }
    for (long long i = 0; i < d; i++) {
        if (f->of == OF_Q) {
            cp_number_store(f->array, f->problem->q_type, (size_t)(at + i), from[i]);
        } else {
            gate_cache_store(f->problem, f->of == OF_V, f->array, (size_t)(at + i), place, from[i]);
        }
    }
    pad(f, at + d, at + s->width);
}

/* Number i of a key that is packed. */
static long long in_pack(const struct gate_stride *s, long long i) {
    return i / s->pack * s->group + i % s->pack;
}

static void put_packed(const struct filling *f, long long at, unsigned long long place,
                       const double *from, const struct gate_stride *s) {
    for (long long i = 0; !isnan(from[0]) && i < width_of(f); i++) {
        gate_cache_store(f->problem, f->of == OF_V, f->array, (size_t)(at + in_pack(s, i)), place,
                         from[i]);
    }
}

static void put_key(const struct filling *f, long long at, long long key, const double *numbers,
                    const struct gate_stride *s) {
    const double none = NAN;
    const double *from = key < 0 ? &none : numbers + key * width_of(f);
    unsigned long long place = key < 0 ? 0 : (unsigned long long)key;
    if (s->pack > 0) {
        put_packed(f, at, place, from, s);
    } else {
        put_row(f, at, place, from, s);
    }
}

static void put_keys(const struct filling *f, const double *numbers, const struct gate_stride *s) {
    const struct gate_problem *p = f->problem;
    int heads = p->recipe.n_kv_heads, slots = gate_block_size(p), packed = s->pack > 0;
    long long rows = packed ? 0 : (long long)heads * slots * s->width;
    for (int block = 0; block < gate_blocks(p); block++) {
        long long begin = s->first + block * s->x;
        pad(f, begin + rows, begin + s->of_x);
        for (int head = 0; head < heads; head++) {
            for (int slot = 0; slot < slots; slot++) {
                put_key(f, begin + head * s->y + slot * s->z, gate_key_in(p, block, head, slot),
                        numbers, s);
            }
        }
        /* up to the next block, where that is further away and not V */
        long long end = gate_is_one_tensor(p) && !gate_is_in_keys(p) && f->of == OF_K
                            ? begin + s->of_x
                            : begin - s->first + s->x;
        pad(f, begin + s->of_x, end > begin + s->of_x ? end : begin + s->of_x);
    }
}

static void put_queries(const struct filling *f, const double *from, const struct gate_stride *s) {
    const struct gate_recipe *r = &f->problem->recipe;
    for (long long row = 0; row < f->problem->n_rows; row++) {
        for (long long head = 0; head < r->n_heads; head++, from += r->head_dim) {
            put_row(f, row * s->y + head * s->z, 0, from, s);
        }
    }
    pad(f, (long long)f->problem->n_rows * r->n_heads * s->width, s->elements);
}

/* ---- The arrays ---- */

static int allocate(struct gate_arrays *a, enum run_buffer buffer, size_t bytes) {
    a->run.bytes[buffer] = bytes;
    a->memory[buffer] = calloc(bytes + 1, 1);
    return a->memory[buffer] == NULL ? -1 : 0;
}

static int copy(struct gate_arrays *a, enum run_buffer buffer, const void *from, size_t bytes) {
    if (allocate(a, buffer, bytes) != 0) {
        return -1;
    }
    if (bytes > 0) {
        memcpy(a->memory[buffer], from, bytes);
    }
    return 0;
}

static int *ints_of(const struct gate_arrays *a, enum run_buffer buffer) {
    return (int *)(void *)a->memory[buffer];
}

/* The numbers of chunks and pages as the kernel sees them. */
static void number_blocks(struct gate_arrays *a, const struct gate_problem *p) {
    int *table = ints_of(a, RUN_TABLE), *page = ints_of(a, RUN_PAGE_TABLE);
    int *list = ints_of(a, RUN_PAGE_LIST);
    struct cp_shared_chunk *shared = (struct cp_shared_chunk *)(void *)a->memory[RUN_SHARED];
    for (int i = 0; i < p->b * p->table_width; i++) {
        table[i] = table[i] >= 0 ? gate_chunk_number(p, table[i]) : table[i];
    }
    for (int i = 0; i < p->n_shared; i++) {
        shared[i].chunk = gate_chunk_number(p, shared[i].chunk);
    }
    for (size_t i = 0; i < a->run.bytes[RUN_PAGE_TABLE] / sizeof *page; i++) {
        page[i] = page[i] >= 0 ? gate_block_number(p, page[i]) : page[i];
    }
    for (size_t i = 0; i < a->run.bytes[RUN_PAGE_LIST] / sizeof *list; i++) {
        list[i] = gate_block_number(p, list[i]);
    }
}

/* CONV-11: of ragged keys there is but page_begin, and where pages are chunks nothing. */
static int copy_pages(struct gate_arrays *a, const struct gate_problem *p) {
    const struct gate_pages *g = &p->pages;
    size_t b = (size_t)p->b, size = sizeof(int), has_table = g->kind == CP_PAGES_OWN;
    size_t width = (size_t)gate_page_table_width(p);
    size_t listed = has_table ? (size_t)g->begin[p->b] : 0;
    size_t begins = g->kind != CP_PAGES_CHUNKS ? b + 1 : 0;
    if (allocate(a, RUN_PAGE_TABLE, has_table * b * width * size) != 0) {
        return -1;
    }
    for (size_t at = 0; has_table && at < b * width; at++) {
        ints_of(a, RUN_PAGE_TABLE)[at] = g->table[at / width * (size_t)g->width + at % width];
    }
    return copy(a, RUN_PAGE_BEGIN, g->begin, begins * size) == 0 &&
                   copy(a, RUN_PAGE_LIST, g->list, listed * size) == 0 &&
                   copy(a, RUN_LAST_PAGE_TOKENS, g->last, has_table * b * size) == 0
               ? 0
               : -1;
}

static int copy_lists(struct gate_arrays *a, const struct gate_problem *p) {
    size_t b = (size_t)p->b, size = sizeof(int), table = b * (size_t)p->table_width * size;
    return copy(a, RUN_N_TOKENS, p->n_tokens, b * size) == 0 &&
                   copy(a, RUN_QUERY_BEGIN, p->query_begin, (b + 1) * size) == 0 &&
                   copy(a, RUN_POSITION, p->position, (size_t)p->n_rows * size) == 0 &&
                   copy(a, RUN_TABLE, p->table, table) == 0 &&
                   copy(a, RUN_TABLE_TOKENS, p->table_tokens, table) == 0 &&
                   copy(a, RUN_TABLE_POSITION, p->table_position, table) == 0 &&
                   copy(a, RUN_SERVED, p->served, (size_t)p->n_served * size) == 0 &&
                   copy(a, RUN_SHARED, p->shared, (size_t)p->n_shared * sizeof *p->shared) == 0 &&
                   copy(a, RUN_N_SHARED_CHUNKS, p->n_shared_chunks, b * size) == 0
               ? 0
               : -1;
}

static int make_lists(struct gate_arrays *a, const struct gate_problem *p) {
    if (copy_lists(a, p) != 0 || copy_pages(a, p) != 0) {
        return -1;
    }
    number_blocks(a, p);
    return 0;
}

static int make_numbers(struct gate_arrays *a, const struct gate_problem *p,
                        const struct gate_all_strides *s) {
    size_t n_q = (size_t)s->q.elements, n_k = (size_t)s->k.elements, n_v = (size_t)s->v.elements;
    size_t of_lse = p->lse_type == CP_NO_LSE ? 0 : cp_number_size(p->lse_type);
    if (allocate(a, RUN_Q, n_q * cp_number_size(p->q_type)) != 0 ||
        allocate(a, RUN_K, n_k * gate_cache_size(p, 0)) != 0 ||
        allocate(a, RUN_V, n_v * gate_cache_size(p, 1)) != 0 ||
        allocate(a, RUN_OUT, (size_t)s->out.elements * cp_number_size(p->out_type)) != 0 ||
        allocate(a, RUN_LSE, (size_t)s->lse.elements * of_lse) != 0) {
        return -1;
    }
    struct filling q = filling_of(p, a->memory[RUN_Q], OF_Q);
    struct filling k = filling_of(p, a->memory[RUN_K], OF_K);
    put_queries(&q, p->q, &s->q);
    put_keys(&k, p->k, &s->k);
    if (!gate_is_in_keys(p)) {
        struct filling v = filling_of(p, a->memory[gate_is_one_tensor(p) ? RUN_K : RUN_V], OF_V);
        put_keys(&v, p->v, &s->v);
    }
    return 0;
}

static size_t table_bytes(const struct gate_problem *p) {
    return (size_t)p->rotation.n_angles * (size_t)p->rotation.dim * sizeof(float);
}

static int make_table(struct gate_arrays *a, const struct gate_problem *p) {
    return p->rotation.table == NULL ? allocate(a, RUN_ROTATION, 0)
                                     : copy(a, RUN_ROTATION, p->rotation.table, table_bytes(p));
}

/* MASK-1, or nothing. */
static int copy_mask(struct gate_arrays *a, const struct gate_problem *p) {
    const struct gate_mask *m = &p->mask;
    size_t rows = m->bit != NULL ? (size_t)p->n_rows : 0;
    return copy(a, RUN_MASK_BITS, m->bit, m->bit != NULL ? m->n_bytes : 0) == 0 &&
                   copy(a, RUN_MASK_FIRST, m->first, rows * sizeof *m->first) == 0 &&
                   copy(a, RUN_MASK_BEGIN, m->begin, rows * sizeof *m->begin) == 0
               ? 0
               : -1;
}

/* So many numbers of each query head, or none. */
static int copy_of_heads(struct gate_arrays *a, enum run_buffer buffer, const float *from, int n,
                         const struct gate_problem *p) {
    size_t heads = (size_t)p->recipe.n_heads;
    return from == NULL ? allocate(a, buffer, 0)
                        : copy(a, buffer, from, heads * (size_t)n * sizeof *from);
}

/* 1: there is a scale for each slot of the kernel's pool, and they do not lie as those of the
 * problem. */
static int places_scales(const struct gate_problem *p) {
    return p->cache.scales == CP_CACHE_SCALE_TOKEN &&
           (p->number != NULL || p->pages.kind != CP_PAGES_CHUNKS ||
            p->layout.scale_order == CP_SCALES_BY_SLOT);
}

static size_t scales_of_block(const struct gate_problem *p) {
    return (size_t)p->recipe.n_kv_heads * (size_t)gate_block_size(p);
}

static size_t scale_bytes(const struct gate_problem *p) {
    size_t n = places_scales(p) ? (size_t)p->pool * scales_of_block(p) : gate_n_scales(p);
    return n * sizeof(float);
}

/* The scales of a block lie where the kernel's pool has it. Slots without a key have none: NaNs. */
static int put_scales(struct gate_arrays *a, enum run_buffer buffer, const float *from,
                      const struct gate_problem *p) {
    int heads = p->recipe.n_kv_heads, slots = gate_block_size(p);
    int by_slot = p->layout.scale_order == CP_SCALES_BY_SLOT;
    if (allocate(a, buffer, scale_bytes(p)) != 0) {
        return -1;
    }
    float *to = (float *)(void *)a->memory[buffer];
    for (size_t i = 0; i < scale_bytes(p) / sizeof *to; i++) {
        to[i] = NAN;
    }
    for (int block = 0; block < gate_blocks(p); block++) {
        float *of_block = to + (size_t)gate_block_number(p, block) * scales_of_block(p);
        for (int i = 0; i < heads * slots; i++) {
            int head = i / slots, slot = i % slots;
            long long key = gate_key_in(p, block, head, slot);
            of_block[by_slot ? slot * heads + head : i] = key < 0 ? NAN : from[key];
        }
    }
    return 0;
}

static int copy_scales(struct gate_arrays *a, enum run_buffer buffer, const float *from,
                       const struct gate_problem *p) {
    return from == NULL       ? allocate(a, buffer, 0)
           : places_scales(p) ? put_scales(a, buffer, from, p)
                              : copy(a, buffer, from, scale_bytes(p));
}

/* An array of float that may be none. */
static const float *floats_of(const struct gate_arrays *a, enum run_buffer buffer) {
    return a->run.bytes[buffer] > 0 ? (const float *)(const void *)a->memory[buffer] : NULL;
}

static void point(struct gate_arrays *a) {
    struct cp_kernel_call *c = &a->run.call;
    c->n_tokens = ints_of(a, RUN_N_TOKENS);
    c->query_begin = ints_of(a, RUN_QUERY_BEGIN);
    c->position = ints_of(a, RUN_POSITION);
    c->table = ints_of(a, RUN_TABLE);
    c->table_tokens = ints_of(a, RUN_TABLE_TOKENS);
    c->table_position = ints_of(a, RUN_TABLE_POSITION);
    c->page_table = c->page_table_width > 0 ? ints_of(a, RUN_PAGE_TABLE) : NULL;
    c->page_begin = a->run.bytes[RUN_PAGE_BEGIN] > 0 ? ints_of(a, RUN_PAGE_BEGIN) : NULL;
    c->page_list = c->page_table_width > 0 ? ints_of(a, RUN_PAGE_LIST) : NULL;
    c->last_page_tokens = c->page_table_width > 0 ? ints_of(a, RUN_LAST_PAGE_TOKENS) : NULL;
    c->served = ints_of(a, RUN_SERVED);
    c->shared = (const struct cp_shared_chunk *)(const void *)a->memory[RUN_SHARED];
    c->n_shared_chunks = ints_of(a, RUN_N_SHARED_CHUNKS);
    c->q = a->memory[RUN_Q];
    c->k = a->memory[RUN_K];
    c->v = a->memory[RUN_V];
    run_join(c, a->tensors, a->element);
    c->rotation = c->n_angles > 0 ? (const float *)(const void *)a->memory[RUN_ROTATION] : NULL;
    c->mask_bits = c->mask_bytes > 0 ? a->memory[RUN_MASK_BITS] : NULL;
    c->mask_first =
        c->mask_bytes > 0 ? (const size_t *)(const void *)a->memory[RUN_MASK_FIRST] : NULL;
    c->mask_begin = c->mask_bytes > 0 ? ints_of(a, RUN_MASK_BEGIN) : NULL;
    c->slopes = floats_of(a, RUN_SLOPES);
    c->biases = floats_of(a, RUN_BIASES);
    c->sinks = floats_of(a, RUN_SINKS);
    c->k_scales = floats_of(a, RUN_K_SCALES);
    c->v_scales = floats_of(a, RUN_V_SCALES);
    c->out = a->memory[RUN_OUT];
    c->lse = a->run.bytes[RUN_LSE] > 0 ? a->memory[RUN_LSE] : NULL;
}

/* Before there is a plan about as many as the recipe says. */
static int most_rows(const struct gate_problem *p) {
    static const int of_kind[GATE_QUERIES] = {1, 4, 8, 40};
    int most = p->query_begin != NULL ? 0
               : p->recipe.rows > 0   ? p->recipe.rows
                                      : of_kind[p->recipe.queries];
    for (int s = 0; p->query_begin != NULL && s < p->b; s++) {
        int n = p->query_begin[s + 1] - p->query_begin[s];
        most = n > most ? n : most;
    }
    return most;
}

static int most_tokens(const struct gate_problem *p) {
    int most = p->n_tokens != NULL ? 0 : p->table_width * p->recipe.chunk_size;
    for (int s = 0; p->n_tokens != NULL && s < p->b; s++) {
        most = p->n_tokens[s] > most ? p->n_tokens[s] : most;
    }
    return most;
}

/* A ragged key is a block of its own. */
static long long slot_stride(const struct gate_problem *p, const struct gate_stride *s) {
    return p->pages.kind == CP_PAGES_RAGGED ? s->x : s->z;
}

void gate_call_sizes(struct cp_kernel_call *call, const struct gate_problem *p) {
    const struct gate_recipe *r = &p->recipe;
    struct gate_all_strides s = gate_strides(p);
    *call = (struct cp_kernel_call){
        .n_sequences = p->b,
        .n_rows = p->n_rows,
        .max_rows = most_rows(p),
        .max_tokens = most_tokens(p),
        .n_heads = r->n_heads,
        .n_kv_heads = r->n_kv_heads,
        .head_dim = r->head_dim,
        .value_dim = p->value_dim,
        .chunk_size = r->chunk_size,
        .capacity = p->pool,
        .scale = p->scale,
        .plan = p->plan,
        .window = p->mask.counts == CP_WINDOW_BEFORE ? p->mask.window - 1 : p->mask.window,
        .ahead = p->mask.ahead,
        .kept = p->mask.kept,
        .mask_bytes = p->mask.n_bytes,
        .changes = p->scores.has,
        .cap = p->scores.cap,
        .n_biases = p->scores.n_biases,
        .own_bias = p->scores.own_bias,
        .table_width = p->table_width,
        .page_size = gate_block_size(p),
        .page_table_width = gate_page_table_width(p),
        .n_served = p->n_served,
        .n_shared = p->n_shared,
        .rotary_dim = p->rotation.dim,
        .n_angles = p->rotation.n_angles,
        .q_row = s.q.y,
        .q_head = s.q.z,
        .k_chunk = s.k.far > 0 ? s.k.far : s.k.x,
        .k_head = s.k.y,
        .k_slot = slot_stride(p, &s.k),
        .k_group = s.k.group,
        .v_chunk = s.v.far > 0 ? s.v.far : s.v.x,
        .v_head = s.v.y,
        .v_slot = slot_stride(p, &s.v),
        .v_group = s.v.group,
        .v_offset = s.v.far > 0 ? s.v.far_first : s.v.first,
        .out_row = s.out.y,
        .out_head = s.out.z,
        .lse_row = s.lse.y,
        .lse_head = s.lse.z};
}

/* Numbers as doubles, twice for a case that is run again with others; arrays here, there, and of
 * the second results. Then what is computed of one row. */
double gate_case_bytes(const struct gate_problem *p, size_t workspace) {
    struct gate_all_strides s = gate_strides(p);
    double of_k = (double)s.k.elements, of_v = (double)s.v.elements, keys = of_k + of_v;
    double rows = (double)s.q.elements;
    double results = (double)s.out.elements * (double)cp_number_size(p->out_type) +
                     (double)s.lse.elements * sizeof(double);
    double arrays = of_k * (double)gate_cache_size(p, 0) + of_v * (double)gate_cache_size(p, 1) +
                    2.0 * (double)scale_bytes(p) + rows * (double)cp_number_size(p->q_type) +
                    results;
    double of_a_row = (double)p->table_width * p->recipe.chunk_size *
                      (1.0 * gate_n_terms(&p->rotation, p->recipe.head_dim) + p->value_dim + 3.0);
    double biases = (double)p->recipe.n_heads * p->scores.n_biases * sizeof(float);
    return 2.0 * (keys + rows) * sizeof(double) + 2.0 * arrays + 2.0 * results +
           4.0 * ((double)table_bytes(p) + biases) + of_a_row * sizeof(double) + (double)workspace;
}

/* Of one tensor the blocks of V are in the memory of K, and of halves behind those of K. */
static struct run_far far_of(const struct gate_problem *p, int is_v,
                             const struct gate_all_strides *strides) {
    const struct gate_stride *s = is_v ? &strides->v : &strides->k;
    size_t size = gate_cache_size(p, is_v);
    struct run_far far = {0};
    if (s->far > 0 && s->first == 0 && !(is_v && gate_is_in_keys(p))) {
        far.n = gate_halves(p) * gate_blocks(p);
        far.pool = p->number != NULL ? gate_halves(p) * p->pool : 0;
        far.chunk = (size_t)s->x * size;
        far.stride = (size_t)s->far * size;
        far.elements = s->far;
        far.v_offset = strides->v.far_first;
    }
    return far;
}

/* 0, or -1: no memory. */
static int number_far(struct gate_arrays *a, const struct gate_problem *p) {
    int n = gate_blocks(p), halves = gate_halves(p);
    if (p->number == NULL) {
        return 0;
    }
    a->far_number = malloc((size_t)(halves * n) * sizeof(int) + 1);
    for (int i = 0; a->far_number != NULL && i < halves * n; i++) {
        a->far_number[i] = p->number[i % n] + i / n * p->pool;
    }
    a->run.far_number = a->far_number;
    return a->far_number != NULL ? 0 : -1;
}

int gate_arrays_new(struct gate_arrays *a, const struct gate_problem *p) {
    struct gate_all_strides s = gate_strides(p);
    memset(a, 0, sizeof *a);
    gate_call_sizes(&a->run.call, p);
    a->element = gate_cache_size(p, 0);
    a->tensors = p->layout.tensors;
    a->run.call.k_chunk = s.k.x;
    a->run.call.v_chunk = s.v.x;
    a->run.call.v_offset = s.v.first;
    a->run.far[0] = far_of(p, 0, &s);
    a->run.far[1] = far_of(p, 1, &s);
    if (number_far(a, p) != 0 || make_lists(a, p) != 0 || make_numbers(a, p, &s) != 0 ||
        make_table(a, p) != 0 || copy_mask(a, p) != 0 ||
        copy_of_heads(a, RUN_SLOPES, p->scores.slopes, 1, p) != 0 ||
        copy_of_heads(a, RUN_BIASES, p->scores.biases, p->scores.n_biases, p) != 0 ||
        copy_of_heads(a, RUN_SINKS, p->scores.sinks, 1, p) != 0 ||
        copy_scales(a, RUN_K_SCALES, p->cache.k_scale, p) != 0 ||
        copy_scales(a, RUN_V_SCALES, p->cache.v_scale, p) != 0) {
        gate_arrays_free(a);
        return -1;
    }
    point(a);
    return 0;
}

int gate_arrays_again(struct gate_arrays *again, const struct gate_arrays *one) {
    *again = *one;
    if (allocate(again, RUN_LSE, one->run.bytes[RUN_LSE]) != 0) {
        return -1;
    }
    if (allocate(again, RUN_OUT, one->run.bytes[RUN_OUT]) != 0) {
        free(again->memory[RUN_LSE]);
        return -1;
    }
    point(again);
    return 0;
}

void gate_arrays_free_again(struct gate_arrays *again) {
    free(again->memory[RUN_OUT]);
    free(again->memory[RUN_LSE]);
}

void gate_arrays_free(struct gate_arrays *a) {
    for (int i = 0; i < RUN_BUFFERS; i++) {
        free(a->memory[i]);
        a->memory[i] = NULL;
    }
    free(a->far_number);
    a->far_number = NULL;
}

double gate_out_at(const struct gate_arrays *a, const struct gate_problem *p, int row, int head,
                   int i) {
    const struct cp_kernel_call *c = &a->run.call;
    size_t at = (size_t)(row * c->out_row + head * c->out_head + i);
    return cp_number_load(c->out, p->out_type, at);
}

double gate_lse_at(const struct gate_arrays *a, const struct gate_problem *p, int row, int head) {
    const struct cp_kernel_call *c = &a->run.call;
    return cp_number_load(c->lse, p->lse_type, (size_t)(row * c->lse_row + head * c->lse_head));
}
