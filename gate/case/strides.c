/* SPDX-License-Identifier: Apache-2.0 */
#include "gate/case/strides.h"

#include "gate/case/cache.h"
#include "gate/case/pages.h"
#include "gate/case/widths.h"
#include "gate/runner/arena.h"

#define SPREAD        16 /* elements behind a row of d, */
#define SPREAD_CHUNKS 48 /* and behind a block (pages.h) */

/* The gaps: after each d numbers, or each group of packed ones, and after each x. */
struct spread {
    int rows, chunks;
};

static struct gate_stride strides_of(long long n_x, long long n_y, long long n_z, long long d,
                                     int swapped, struct spread spread) {
    long long width = d + spread.rows;
    struct gate_stride s = {.x = n_y * n_z * width,
                            .y = swapped ? width : n_z * width,
                            .z = swapped ? n_y * width : width,
                            .width = width};
    s.of_x = s.x += spread.chunks;
    s.elements = n_x * s.x;
    return s;
}

/* [block][head][d / x][slot][x] */
static struct gate_stride packed_strides(long long n_blocks, long long n_heads, long long n_slots,
                                         long long d, int pack, struct spread spread) {
    struct gate_stride s = {.z = pack, .width = n_slots * pack + spread.rows, .pack = pack};
    s.group = s.width;
    s.y = (d + pack - 1) / pack * s.group;
    s.of_x = s.x = n_heads * s.y + spread.chunks;
    s.elements = n_blocks * s.x;
    return s;
}

/* Each array has its own gaps: `times` as large. */
static struct spread spread_of(const struct gate_problem *p, int times) {
    int layout = p->recipe.layout;
    return (struct spread){(layout & GATE_SPREAD) != 0 ? times * SPREAD : 0,
                           (layout & GATE_SPREAD_CHUNKS) != 0 ? times * SPREAD_CHUNKS : 0};
}

/* CONV-12: the gaps that the kernel takes. Ragged keys have no blocks to have one behind. */
static struct spread spread_of_keys(const struct gate_problem *p, int times) {
    struct spread spread = spread_of(p, times);
    spread.rows = p->layout.gaps == CP_GAPS_ANY ? spread.rows : 0;
    spread.chunks =
        p->layout.gaps != CP_GAPS_NONE && p->pages.kind != CP_PAGES_RAGGED ? spread.chunks : 0;
    return spread;
}

static struct spread spread_of_rows(const struct gate_problem *p, int times) {
    return p->layout.gaps == CP_GAPS_NONE ? (struct spread){0, 0} : spread_of(p, times);
}

static long long round_up(long long n, long long multiple) {
    return (n + multiple - 1) / multiple * multiple;
}

/* The blocks become whole pages of memory. Where they are far apart, every second one is beyond
 * 2^32 elements, and `times` scales the distance. In a large pool they follow one another. */
static void lay_far(struct gate_stride *s, const struct gate_problem *p, int is_v, int times) {
    size_t size = gate_cache_size(p, is_v);
    long long page = (long long)(run_page() / size), n = gate_blocks(p), half = (n + 1) / 2;
    long long dense = s->x;
    s->x = round_up(s->x, page);
    s->elements = n * s->x;
    s->far = p->number == NULL
                 ? round_up(times * ((1LL << 32) / (half > 0 ? half : 1)) + s->x, page)
             : p->layout.gaps == CP_GAPS_NONE ? dense
                                              : s->x;
}

int gate_is_one_tensor(const struct gate_problem *p) {
    return p->layout.tensors != CP_TENSORS_TWO;
}

int gate_halves(const struct gate_problem *p) {
    return p->layout.tensors == CP_TENSORS_HALVES ? 2 : 1;
}

/* Of one tensor K and V have the same gaps. */
static struct gate_stride strides_of_keys(const struct gate_problem *p, int is_v, int slots_first) {
    const struct gate_recipe *r = &p->recipe;
    int pack = is_v ? p->layout.v_pack : p->layout.k_pack;
    struct spread spread = spread_of_keys(p, is_v && !gate_is_one_tensor(p) ? 2 : 1);
    int n = gate_blocks(p), slots = gate_block_size(p);
    int d = is_v && !gate_is_in_keys(p) ? p->value_dim : r->head_dim;
    return pack > 0 ? packed_strides(n, r->n_kv_heads, slots, d, pack, spread)
                    : strides_of(n, r->n_kv_heads, slots, d, slots_first, spread);
}

/* Of rows and heads: x is not there. */
static struct gate_stride strides_of_rows(const struct gate_problem *p, long long d,
                                          int heads_first, int times) {
    return strides_of(1, p->n_rows, p->recipe.n_heads, d, heads_first, spread_of_rows(p, times));
}

/* [page][2][...] or [2][page][...]: V is in the memory of K. */
static void join_tensors(const struct gate_problem *p, struct gate_all_strides *s) {
    if (p->layout.tensors == CP_TENSORS_PAGES) {
        s->v.first = s->k.of_x;
        s->k.x = s->v.x = s->k.of_x + s->v.of_x;
        s->k.elements = gate_blocks(p) * s->k.x;
    } else if (p->layout.tensors == CP_TENSORS_HALVES) {
        s->v.first = s->k.elements;
        s->k.elements += s->v.elements;
    }
    s->v.elements = gate_is_one_tensor(p) ? 0 : s->v.elements;
}

static void lay_all_far(const struct gate_problem *p, struct gate_all_strides *s) {
    if (p->number == NULL && !(p->is_far && gate_halves(p) * gate_blocks(p) <= RUN_FAR_CHUNKS)) {
        return;
    }
    lay_far(&s->k, p, 0, 1);
    if (!gate_is_one_tensor(p)) {
        lay_far(&s->v, p, 1, 2);
        return;
    }
    s->v.x = s->k.x;
    s->v.far = s->k.far;
    s->v.far_first = s->v.first;
    if (gate_halves(p) == 2) {
        s->v.first = s->k.elements;
        s->v.far_first = p->pool * s->k.far;
        s->k.elements *= 2;
    }
}

/* In which order K and V lie: as the kernel knows it, or as the recipe says. */
static int slots_come_first(const struct gate_problem *p, int is_v) {
    int layout = p->recipe.layout, order = p->layout.order;
    int first = (layout & GATE_SLOTS_FIRST) != 0,
        otherwise = is_v && (layout & GATE_V_OTHERWISE) != 0 && !gate_is_one_tensor(p);
    return order != CP_ORDER_ANY ? order == CP_ORDER_NHD : first ^ otherwise;
}

struct gate_all_strides gate_strides(const struct gate_problem *p) {
    int layout = p->layout.gaps == CP_GAPS_NONE ? 0 : p->recipe.layout, d = p->recipe.head_dim;
    int heads_first = (layout & GATE_HEADS_FIRST) != 0;
    int out_heads_first = heads_first ^ ((layout & GATE_OUT_OTHERWISE) != 0);
    struct gate_all_strides s = {strides_of_keys(p, 0, slots_come_first(p, 0)),
                                 strides_of_keys(p, 1, slots_come_first(p, 1)),
                                 strides_of_rows(p, d, heads_first, 1),
                                 strides_of_rows(p, p->value_dim, out_heads_first, 3),
                                 strides_of_rows(p, 1, out_heads_first, 1)};
    join_tensors(p, &s);
    lay_all_far(p, &s);
    return s;
}

#define MOST_UNIT 256

/* The least number of blocks of `bytes` that are whole pages of memory. */
static int whole_pages(size_t bytes) {
    size_t unit = 1;
    while (unit * bytes % run_page() != 0) {
        unit *= 2;
    }
    return unit > MOST_UNIT ? 0 : (int)unit;
}

int gate_pool_unit(const struct gate_problem *p) {
    if (p->layout.gaps != CP_GAPS_NONE) {
        return 1;
    }
    struct gate_all_strides s = gate_strides(p);
    int of_k = whole_pages((size_t)s.k.x * gate_cache_size(p, 0));
    int of_v = whole_pages((size_t)s.v.x * gate_cache_size(p, 1));
    return of_k == 0 || of_v == 0 ? 0 : of_k > of_v ? of_k : of_v;
}
