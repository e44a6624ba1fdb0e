/* SPDX-License-Identifier: Apache-2.0 */
/* Stages 1 to 4: how many keys a row sees, where they lie, and how often each is counted. The
 * functions declare the variables of ways.h. */
#include <limits.h>
#include <math.h>
#include <stddef.h>
#include <string.h>

#include "gate/explain/model.h"

/* ---- 1: how many ---- */

struct explain_group explain_group(const struct explain_model *x, int by_heads) {
    const struct gate_problem *p = &x->run->problem;
    struct explain_group at = {.rows = p->query_begin[x->s + 1] - p->query_begin[x->s],
                               .heads = p->recipe.n_heads / p->recipe.n_kv_heads};
    at.row = x->row - p->query_begin[x->s];
    at.head = x->head - x->g * at.heads;
    at.number = by_heads ? at.head * at.rows + at.row : at.row * at.heads + at.head;
    return at;
}

/* The row of its sequence that row and head `number` are of. */
static int row_of(const struct explain_group *at, int by_heads, int number) {
    number = least(number, at->rows * at->heads - 1);
    return by_heads ? number % at->rows : number / at->heads;
}

#define seen(r) gate_visible(p, p->query_begin[x->s] + (r))

static int how_many(const struct explain_model *x, const struct explain_choice *choice, int s) {
    const struct gate_problem *p = &x->run->problem;
    const struct explain_group at = explain_group(x, choice->sees.by_heads);
    int n = x->n, c = x->c, by = choice->sees.by, keys = choice->sees.keys, row = at.row;
    int all = p->n_tokens[x->s], shared = least(p->n_shared_chunks[x->s] * c, all);
    int tile = most(choice->sees.pairs, 1), begin = at.number / tile * tile;
    int first = row_of(&at, choice->sees.by_heads, begin);
    int last = row_of(&at, choice->sees.by_heads, begin + tile - 1);
    int there = p->n_tokens[s], behind = p->query_begin[s + 1] - 1 - x->row;
    switch ((enum explain_sees)choice->sees.way) { EXPLAIN_SEES(EXPLAIN_CASE) }
    return n;
}

/* ---- 2: the path ---- */

static int whose(const struct explain_model *x, const struct explain_choice *choice) {
    int s = x->s, number = choice->path.number;
    switch ((enum explain_whose)choice->path.whose) { EXPLAIN_WHOSE(EXPLAIN_CASE) }
    return s;
}

static int of_keys(const struct explain_model *x, int keys, int m, int j) {
    return keys == LAST_CHUNK_KEYS ? j / x->c == (m - 1) / x->c
                                   : explain_is_for(keys, j < x->shared);
}

/* Chunk `i` of a path, -1 behind its end. */
static int chunk_of(const struct explain_model *x, int s, int i) {
    const struct gate_problem *p = &x->run->problem;
    return i >= 0 && i < p->table_width ? p->table[s * p->table_width + i] : -1;
}

const struct cp_shared_chunk *explain_descriptor(const struct gate_problem *p, int chunk) {
    for (int i = 0; i < p->n_shared; i++) {
        if (p->shared[i].chunk == chunk) {
            return &p->shared[i];
        }
    }
    return NULL;
}

int explain_owner(const struct gate_problem *p, int chunk, int *run) {
    for (int s = p->b - 1; s >= 0; s--) {
        for (*run = 0; *run < gate_runs(p, s); ++*run) {
            if (p->table[s * p->table_width + *run] == chunk) {
                return s;
            }
        }
    }
    return -1;
}

/* As if rows of the table were table_width + by apart; 0: as many as the path has chunks. */
static int path_by_width(const struct explain_model *x, int s, int i, int by) {
    const struct gate_problem *p = &x->run->problem;
    int width = by == 0 ? (p->n_tokens[s] + x->c - 1) / x->c : p->table_width + by;
    int at = s * width + i;
    return at >= 0 && at < p->b * p->table_width ? p->table[at] : -1;
}

struct place {
    int chunk, slot;
};

#define path(i) chunk_of(x, s, i)

/* Of key j of m. */
static struct place find_place(const struct explain_model *x, const struct explain_choice *choice,
                               int s, int m, int j) {
    int c = x->c, i = j / c, slot = j % c, chunks = (m + c - 1) / c;
    int capacity = x->run->problem.capacity, by = choice->path.by, to = choice->path.to;
    int next = most(j + by, 0), first = j - j % most(by, 1);
    struct place got = {-1, 0};
    switch ((enum explain_path)choice->path.way) { EXPLAIN_PATH(EXPLAIN_GET) }
    return got;
}

/* ---- 3: the address ---- */

static int head_of(const struct explain_model *x, const struct explain_choice *choice) {
    int n_kv = x->run->problem.recipe.n_kv_heads, head = x->head, g = x->g;
    int number = choice->place.number;
    switch ((enum explain_head)choice->place.head) { EXPLAIN_HEAD(EXPLAIN_CASE) }
    return g;
}

struct strides {
    long long chunk, head, slot;
};

/* The numbers of a key; NULL: nowhere. */
static const double *address_of(const struct explain_model *x, int way, int is_v, struct place at,
                                int g) {
    const struct cp_kernel_call *call = &x->run->call;
    const struct strides of_k = {call->k_chunk, call->k_head, call->k_slot};
    const struct strides of_v = {call->v_chunk, call->v_head, call->v_slot};
    const struct strides own = is_v ? of_v : of_k, other = is_v ? of_k : of_v;
    struct {
        int in_v;
        long long chunk, head, slot, behind;
    } got = {0};
    long long n_kv = x->run->problem.recipe.n_kv_heads, c = x->c;
    long long d = is_v ? x->d_v : x->d, other_d = is_v ? x->d : x->d_v;
    long long not_if_same = d == other_d ? -(1LL << 50) : 0;
    switch ((enum explain_place)way) { EXPLAIN_PLACE(EXPLAIN_GET) }
    long long first = at.chunk * got.chunk + g * got.head + at.slot * got.slot + got.behind;
    long long n = got.in_v ? x->run->n_v : x->run->n_k;
    int is_there = at.chunk >= 0 && g >= 0 && g < n_kv && first >= 0 && first + d <= n;
    return is_there ? (got.in_v ? x->run->v : x->run->k) + first : NULL;
}

/* A key more, from two places. */
static void take(struct explain_model *x, const double *k, const double *v) {
    if (k == NULL || v == NULL || x->m == x->room) {
        x->outside = 1;
        return;
    }
    x->k[x->m] = k;
    x->v[x->m++] = v;
}

static int is_of(int array, int is_v) {
    return array == OF_BOTH || array == (is_v ? OF_V : OF_K);
}

static const double *find_key(const struct explain_model *x, const struct explain_choice *choice,
                              int m, int j, int is_v) {
    static const struct explain_choice right;
    int is_theirs = of_keys(x, choice->path.keys, m, j) && choice->sees.way != SEES_LENGTH_OF;
    int s = is_theirs ? whose(x, choice) : x->s, is_other = is_of(choice->place.array, is_v);
    int g = is_other && of_keys(x, choice->place.keys, m, j) ? head_of(x, choice) : x->g;
    struct place at = find_place(x, is_of(choice->path.array, is_v) ? choice : &right, s, m, j);
    return address_of(x, is_other ? choice->place.way : PLACE_OWN, is_v, at, g);
}

/* ---- 4: which are counted ---- */

int explain_part_of(const struct explain_model *x, const struct explain_partition *parts, int j) {
    int shared = x->shared, c = x->c, m = x->m > 0 ? x->m : x->n, n = parts->n;
    int tile = parts->tile > 0 ? parts->tile : c, tiles = (m + tile - 1) / tile;
    int chunk = explain_spot_of(x, j).run, n_shared = x->run->problem.n_shared_chunks[x->s];
    struct {
        int part;
        const char *words;
    } got = {0, NULL};
    switch ((enum explain_kind)parts->kind) { EXPLAIN_PARTS(EXPLAIN_GET) }
    return got.part;
}

int explain_parts(const struct explain_model *x, const struct explain_partition *parts) {
    int m = x->m > 0 ? x->m : x->n, tile = parts->tile > 0 ? parts->tile : x->c;
    return parts->kind == PART_WARPS ? least(parts->n, (m + tile - 1) / tile)
                                     : explain_part_of(x, parts, m - 1) + 1;
}

/* The sequence's number among those that share a chunk of its path: from the first of them on, or
 * from the last; -1: nobody shares it. */
static int number_in_range(const struct explain_model *x, int chunk, int from_last) {
    int number = chunk_of(x, x->s, chunk);
    const struct cp_shared_chunk *one = explain_descriptor(&x->run->problem, number);
    return one == NULL ? -1 : from_last ? one->end - 1 - x->s : x->s - one->begin;
}

/* 1: key j is of part a, -1 the last; -1: there is one part. */
static int is_of_part(const struct explain_model *x, const struct explain_partition *parts, int a,
                      int j) {
    int n = explain_parts(x, parts);
    return n > 1 ? explain_part_of(x, parts, j) == (a < 0 ? n - 1 : a) : -1;
}

/* 1: key j is the last one of its part. */
static int is_border(const struct explain_model *x, const struct explain_partition *parts, int j) {
    return explain_part_of(x, parts, j) != explain_part_of(x, parts, j + 1);
}

#define first_in_range number_in_range(x, chunk, 0)
#define last_in_range  number_in_range(x, chunk, 1)
#define n_in_range     (first_in_range + last_in_range + 1)

/* 1: key j is one of those. */
static int is_selected(const struct explain_model *x, const struct explain_choice *choice, int j) {
    const struct gate_problem *p = &x->run->problem;
    int a = choice->select.a, b = choice->select.b, width = choice->select.width;
    int n = x->n, c = x->c, chunk = j / c, slot = j % c, shared = p->n_shared_chunks[x->s] * c;
    int fill = (p->n_tokens[x->s] - 1) % c + 1;
    switch ((enum explain_select)choice->select.which) { EXPLAIN_SELECT(EXPLAIN_CASE) }
    return 0;
}

int explain_times(const struct explain_model *x, const struct explain_choice *choice, int j) {
    return is_selected(x, choice, j) ? choice->select.times : 1;
}

/* ---- All ---- */

/* 1: the choice is one for this row. */
static int is_for_row(const struct explain_model *x, const struct explain_choice *choice, int s) {
    int is_other = s >= 0 && s < x->run->problem.b && s != x->s;
    int has_mask = choice->bits.way == BITS_OWN || x->run->problem.mask.bit != NULL;
    return has_mask && (choice->path.whose == OWN_SEQUENCE || is_other) &&
           (choice->place.head == HEAD_OWN || head_of(x, choice) != x->g);
}

/* Where a row's bits begin; of rows that are not there, as of the last one. */
static long long first_bit(const struct gate_problem *p, int row) {
    return (long long)p->mask.first[row < 0 ? 0 : least(row, p->n_rows - 1)];
}

/* MASK-1: does the mask, or what a mistake makes of it, leave a key in a slot of a run? A bit that
 * is nowhere takes the key away (-1), or leaves it (-2). */
static int is_left(struct explain_model *x, const struct explain_choice *choice,
                   const struct explain_taken *run, int slot) {
    const struct gate_problem *p = &x->run->problem;
    const struct gate_mask *m = &p->mask;
    if (m->bit == NULL) {
        return 1;
    }
    int row = x->row, t = run->begins + slot, by = choice->bits.by, begin = m->begin[row];
    int first_row = p->query_begin[x->s];
    long long first = first_bit(p, row);
    struct {
        int begin;
        long long bit;
        int inverted;
    } got = {begin, first + (t - begin), 0};
    if (explain_is_for(choice->bits.keys, run->is_shared)) {
#define of(number) first_bit(p, number)
        switch ((enum explain_bits)choice->bits.way) { EXPLAIN_BITS(EXPLAIN_GET) }
#undef of
    }
    if (t < got.begin || got.bit == -2) {
        return 1;
    }
    if (got.bit < 0 || (size_t)got.bit / 8 >= m->n_bytes) {
        x->outside |= got.bit != -1;
        return 0;
    }
    return (m->bit[got.bit / 8] >> got.bit % 8 & 1) != got.inverted;
}

/* The keys of a run, from slot 0 on. */
static void take_slots(struct explain_model *x, const struct explain_choice *choice,
                       const struct explain_taken *run) {
    int way = choice->place.way, array = choice->place.array;
    int is_meant = explain_is_for(choice->place.keys, run->is_shared);
    int g = is_meant ? head_of(x, choice) : x->g, in_k = is_of(array, 0), in_v = is_of(array, 1);
    x->steps += gate_steps(x->kernel, x->c, run->seen);
    for (int slot = 0; slot < run->seen && !x->outside; slot++) {
        if (slot == run->hidden && slot < run->shown) {
            slot = run->shown - 1;
            continue;
        }
        if (!is_left(x, choice, run, slot)) {
            continue;
        }
        const struct place of_k = {run->k, slot}, of_v = {run->v, slot};
        if (x->m < x->room) {
            x->place[x->m] = (struct explain_spot){run->run, slot, run->begins};
        }
        take(x, address_of(x, in_k ? way : PLACE_OWN, 0, of_k, in_k ? g : x->g),
             address_of(x, in_v ? way : PLACE_OWN, 1, of_v, in_v ? g : x->g));
    }
}

static int take_runs(struct explain_model *x, const struct explain_choice *choice, int s) {
    int n = explain_take_runs(&x->run->problem, choice, x->row, s, x->taken, x->room);
    for (int i = 0; i < n && !x->outside; i++) {
        take_slots(x, choice, &x->taken[i]);
    }
    x->work -= 4LL * x->m;
    return n >= 0 && !x->outside;
}

static int take_keys(struct explain_model *x, const struct explain_choice *choice) {
    int s = whose(x, choice);
    x->m = x->outside = x->steps = 0;
    if (!is_for_row(x, choice, s)) {
        return 0;
    }
    if (!explain_is_path(&x->run->problem)) {
        return take_runs(x, choice, s);
    }
    int m = how_many(x, choice, s), is_other = choice->sees.way != SEES_OWN && s == x->s;
    if (m < 0 || (is_other && m == x->n)) {
        return 0;
    }
    x->work -= 4LL * m;
    for (int j = 0; j < m && !x->outside; j++) {
        take(x, find_key(x, choice, m, j, 0), find_key(x, choice, m, j, 1));
    }
    return !x->outside;
}

int explain_take_keys(struct explain_model *x, const struct explain_choice *choice) {
    size_t stages = offsetof(struct explain_choice, query);
    if (!x->has_keys || memcmp(choice, &x->of_keys, stages) != 0) {
        x->has_keys = take_keys(x, choice);
        x->of_keys = *choice;
    }
    return x->has_keys;
}
