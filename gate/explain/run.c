/* SPDX-License-Identifier: Apache-2.0 */
/* Runs of the kernel, kept to be explained: what it was given, and what the judge says of each
 * number. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "chunkproof/number.h"
#include "gate/case/bits.h"
#include "gate/case/cache.h"
#include "gate/case/pages.h"
#include "gate/case/strides.h"
#include "gate/explain/run.h"
#include "gate/judge/conventions.h"

/* ---- What was given ---- */

/* *missing becomes 1 where there is no memory. */
static void *duplicate(const void *from, size_t n, size_t size, int *missing) {
    void *to = calloc(n + 1, size);
    if (to != NULL && n > 0) {
        memcpy(to, from, n * size);
    }
    *missing |= to == NULL;
    return to;
}

static int copy_lists(struct gate_problem *to, const struct gate_problem *p) {
    size_t b = (size_t)p->b, table = b * (size_t)p->table_width, size = sizeof(int);
    size_t heads = (size_t)p->recipe.n_heads;
    size_t angles = (size_t)p->rotation.n_angles * (size_t)p->rotation.dim;
    int missing = 0;
    *to = *p;
    to->q = to->k = to->v = NULL;
    to->pages = (struct gate_pages){0};
    missing |= gate_bits_part(to, p, 0) != 0;
    to->n_tokens = duplicate(p->n_tokens, b, size, &missing);
    to->query_begin = duplicate(p->query_begin, b + 1, size, &missing);
    to->position = duplicate(p->position, (size_t)p->n_rows, size, &missing);
    to->table = duplicate(p->table, table, size, &missing);
    to->table_tokens = duplicate(p->table_tokens, table, size, &missing);
    to->table_position = duplicate(p->table_position, table, size, &missing);
    to->first = duplicate(p->first, table, size, &missing);
    to->served = duplicate(p->served, (size_t)p->n_served, size, &missing);
    to->n_shared_chunks = duplicate(p->n_shared_chunks, b, size, &missing);
    to->shared = duplicate(p->shared, (size_t)p->n_shared, sizeof *p->shared, &missing);
    to->rotation.table = duplicate(p->rotation.table, angles, sizeof(float), &missing);
    if (p->cache.k_scale != NULL) {
        to->cache.k_scale = duplicate(p->cache.k_scale, gate_n_scales(p), sizeof(float), &missing);
    }
    if (p->cache.v_scale != NULL) {
        to->cache.v_scale = duplicate(p->cache.v_scale, gate_n_scales(p), sizeof(float), &missing);
    }
    if (p->scores.slopes != NULL) {
        to->scores.slopes = duplicate(p->scores.slopes, heads, sizeof(float), &missing);
    }
    if (p->scores.biases != NULL) {
        size_t n = heads * (size_t)p->scores.n_biases;
        to->scores.biases = duplicate(p->scores.biases, n, sizeof(float), &missing);
    }
    if (p->scores.sinks != NULL) {
        to->scores.sinks = duplicate(p->scores.sinks, heads, sizeof(float), &missing);
    }
    to->number =
        p->number != NULL ? duplicate(p->number, (size_t)gate_blocks(p), size, &missing) : NULL;
    if (p->pages.kind == CP_PAGES_CHUNKS) {
        return missing ? -1 : 0;
    }
    return missing || gate_pages_copy(to, p) != 0 ? -1 : 0;
}

static double *numbers_of(const void *array, int type, size_t bytes, long long *n) {
    *n = (long long)(bytes / cp_number_size(type));
    double *numbers = malloc(((size_t)*n + 1) * sizeof *numbers);
    for (long long i = 0; numbers != NULL && i < *n; i++) {
        numbers[i] = cp_number_load(array, type, (size_t)i);
    }
    return numbers;
}

/* The strides of K or V: as they lie in memory; packed keys are unpacked, and have no gaps. */
struct strides {
    long long chunk, head, slot;
};

/* The first number of a head and slot of a block, by such strides. */
static long long place_of(const struct strides *s, int block, int head, int slot) {
    return block * s->chunk + head * s->head + slot * s->slot;
}

/* How K or V lies in the memory of a call. */
struct array {
    const unsigned char *memory;
    long long n, first; /* numbers, and the first of K or V */
    struct strides strides;
    long long pack, group; /* CONV-12; 0: not packed */
};

static struct array array_of(const struct gate_problem *p, int is_v, const struct gate_arrays *a) {
    const struct cp_kernel_call *c = &a->run.call;
    const struct strides of_k = {c->k_chunk, c->k_head, c->k_slot};
    const struct strides of_v = {c->v_chunk, c->v_head, c->v_slot};
    enum run_buffer buffer = is_v && !gate_is_one_tensor(p) ? RUN_V : RUN_K;
    return (struct array){a->memory[buffer],
                          (long long)(a->run.bytes[buffer] / gate_cache_size(p, is_v)),
                          is_v ? c->v_offset : 0,
                          is_v ? of_v : of_k,
                          is_v ? p->layout.v_pack : p->layout.k_pack,
                          is_v ? c->v_group : c->k_group};
}

/* Unpacks all numbers of K or V, also those of slots without a key. */
static double *unpack(const struct gate_problem *p, int is_v, const struct array *a,
                      const struct strides *to, long long *n) {
    const struct gate_recipe *r = &p->recipe;
    int slots = gate_block_size(p), d = is_v ? p->value_dim : r->head_dim;
    *n = (long long)gate_blocks(p) * r->n_kv_heads * slots * d;
    double *numbers = calloc((size_t)*n + 1, sizeof *numbers);
    for (long long x = 0; numbers != NULL && x < *n; x++) {
        int i = (int)(x % d), slot = (int)(x / d % slots);
        int head = (int)(x / d / slots % r->n_kv_heads), block = (int)(x / to->chunk);
        long long at = a->first + place_of(&a->strides, block, head, slot) +
                       i / a->pack * a->group + i % a->pack;
        numbers[x] = gate_cache_load(p, is_v, a->memory, (size_t)at);
    }
    return numbers;
}

/* K or V: where it has 8 bits, each key times its scale. */
static double *keys_of(const struct gate_problem *p, int is_v, const struct array *a,
                       struct strides *s, long long *n) {
    const struct gate_recipe *r = &p->recipe;
    const float *scale = is_v ? p->cache.v_scale : p->cache.k_scale;
    int heads = r->n_kv_heads, slots = gate_block_size(p);
    int d = is_v ? p->value_dim : r->head_dim;
    long long row = (long long)slots * d;
    *s = a->pack > 0 ? (struct strides){heads * row, row, d} : a->strides;
    *n = a->n - a->first;
    double *numbers =
        a->pack > 0 ? unpack(p, is_v, a, s, n) : calloc((size_t)*n + 1, sizeof *numbers);
    for (long long i = 0; numbers != NULL && a->pack == 0 && i < *n; i++) {
        numbers[i] = gate_cache_load(p, is_v, a->memory, (size_t)(a->first + i));
    }
    long long all = (long long)gate_blocks(p) * heads * slots;
    for (long long x = 0; numbers != NULL && scale != NULL && x < all; x++) {
        int slot = (int)(x % slots), head = (int)(x / slots % heads),
            block = (int)(x / slots / heads);
        long long key = gate_key_in(p, block, head, slot);
        double *number = numbers + place_of(s, block, head, slot);
        for (int i = 0; key >= 0 && i < d; i++) {
            number[i] *= (double)scale[gate_scale_at(p, (unsigned long long)key)];
        }
    }
    return numbers;
}

static int copy_arrays(struct explain_run *run, const struct gate_problem *p,
                       const struct gate_arrays *a) {
    run->q = numbers_of(a->memory[RUN_Q], p->q_type, a->run.bytes[RUN_Q], &run->n_q);
    const struct array k = array_of(p, 0, a), v = array_of(p, 1, a);
    struct strides of_k, of_v;
    run->k = keys_of(p, 0, &k, &of_k, &run->n_k);
    run->v = keys_of(p, 1, &v, &of_v, &run->n_v);
    run->call.k_chunk = of_k.chunk;
    run->call.k_head = of_k.head;
    run->call.k_slot = of_k.slot;
    run->call.v_chunk = of_v.chunk;
    run->call.v_head = of_v.head;
    run->call.v_slot = of_v.slot;
    return run->q != NULL && run->k != NULL && run->v != NULL ? 0 : -1;
}

/* ---- What came of it ---- */

static void copy_results(double *to, const struct cp_kernel *kernel, const struct gate_problem *p,
                         const struct gate_arrays *a, double lse_unit) {
    int d = p->value_dim;
    for (int pair = 0; pair < p->n_rows * p->recipe.n_heads; pair++) {
        int row = pair / p->recipe.n_heads, head = pair % p->recipe.n_heads;
        for (int i = 0; i < d; i++) {
            *to++ = gate_out_at(a, p, row, head, i);
        }
        double unit = gate_has_lse(kernel, p, row) ? lse_unit : 1.0;
        *to++ = a->run.call.lse != NULL ? unit * gate_lse_at(a, p, row, head) : NAN;
    }
}

static void judge_pair(struct explain_run *run, const struct cp_kernel *kernel, int pair,
                       int must_be_finite) {
    const struct explain_results is = explain_results(run, pair);
    int row = pair / run->problem.recipe.n_heads,
        lse_keys = gate_has_lse(kernel, &run->problem, row);
    int has_lse = run->problem.lse_type != CP_NO_LSE, wrong = 0;
    for (int i = 0; i < run->width; i++) {
        enum gate_rightness rightness = gate_judge_number(i < is.d ? is.sees : lse_keys, is.got[i],
                                                          is.expected[i], is.bound[i]);
        if (rightness == GATE_NUMBER_UNCLAIMED && must_be_finite && !isfinite(is.got[i])) {
            rightness = GATE_NUMBER_WRONG;
        }
        if (i == is.d && !has_lse) {
            rightness = GATE_NUMBER_UNCLAIMED;
        }
        run->rightness[(ptrdiff_t)pair * run->width + i] = (unsigned char)rightness;
        wrong += rightness == GATE_NUMBER_WRONG;
        run->wrong_lse += i == is.d && rightness == GATE_NUMBER_WRONG;
        run->has_number |= rightness == GATE_NUMBER_WRONG && !isnan(is.got[i]);
    }
    run->wrong += wrong;
    run->wrong_pairs += wrong > 0;
}

/* By the judge's own functions: all rows and heads. */
static int judge(struct explain_run *run, const struct cp_kernel *kernel,
                 const struct gate_problem *p) {
    struct gate_scratch *scratch = gate_scratch_new(p);
    double *usual = calloc((size_t)run->width, sizeof *usual);
    int has_memory = scratch != NULL && usual != NULL;
    for (int pair = 0; has_memory && pair < run->pairs; pair++) {
        size_t at = (size_t)pair * (size_t)run->width;
        int must_be_finite = 0;
        struct gate_numbers numbers = {run->expected + at, run->bound + at,
                                       run->unusual ? usual : NULL, &must_be_finite, 0};
        gate_certify_row(scratch, kernel, pair / p->recipe.n_heads, pair % p->recipe.n_heads,
                         &numbers);
        explain_narrow(&numbers, run->width - 1);
        judge_pair(run, kernel, pair, must_be_finite);
    }
    free(usual);
    gate_scratch_free(scratch);
    return has_memory ? 0 : -1;
}

void explain_narrow(const struct gate_numbers *numbers, int d) {
    for (int i = 0; numbers->usual != NULL && i < d; i++) {
        numbers->bound[i] = fmin(numbers->bound[i], GATE_UNUSUAL * numbers->usual[i]);
    }
}

struct cp_kernel explain_in_nats(const struct cp_kernel *kernel, double *lse_unit) {
    struct cp_kernel in_nats = *kernel;
    in_nats.conventions.lse_base = CP_LSE_NATURAL;
    *lse_unit = kernel->conventions.lse_base == CP_LSE_BITS ? GATE_LN_2 : 1.0;
    return in_nats;
}

int explain_run_new(struct explain_run *run, const struct cp_kernel *kernel, double lse_unit,
                    const struct gate_problem *p, const struct gate_arrays *one,
                    const struct gate_arrays *other, int unusual) {
    memset(run, 0, sizeof *run);
    run->pairs = p->n_rows * p->recipe.n_heads;
    run->width = p->value_dim + 1;
    run->call = one->run.call;
    run->unusual = unusual;
    run->lse_unit = lse_unit;
    size_t n = (size_t)run->pairs * (size_t)run->width + 1;
    run->got = calloc(4 * n, sizeof(double));
    run->rightness = calloc(n, 1);
    run->recipe = p->recipe;
    if (copy_lists(&run->problem, p) != 0 || copy_arrays(run, p, one) != 0 ||
        gate_pages_view(&run->problem) != 0 || run->got == NULL || run->rightness == NULL) {
        return -1;
    }
    run->again = run->got + n;
    run->expected = run->again + n;
    run->bound = run->expected + n;
    copy_results(run->got, kernel, p, one, lse_unit);
    copy_results(run->again, kernel, p, other, lse_unit);
    return judge(run, kernel, p);
}

void explain_run_free(struct explain_run *run) {
    free(run->q);
    free(run->k);
    free(run->v);
    free(run->got);
    free(run->rightness);
    gate_problem_free(&run->problem);
    memset(run, 0, sizeof *run);
}

struct explain_results explain_results(const struct explain_run *run, int pair) {
    size_t at = (size_t)pair * (size_t)run->width;
    return (struct explain_results){
        .run = run,
        .pair = pair,
        .sees = gate_visible(&run->problem, pair / run->problem.recipe.n_heads),
        .d = run->width - 1,
        .got = run->got + at,
        .expected = run->expected + at,
        .bound = run->bound + at,
        .again = run->again + at,
        .rightness = run->rightness + at};
}

int explain_is_wrong(const struct explain_run *run, int pair) {
    const unsigned char *of_pair = run->rightness + (ptrdiff_t)pair * run->width;
    return memchr(of_pair, GATE_NUMBER_WRONG, (size_t)run->width) != NULL;
}
