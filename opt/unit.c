/* SPDX-License-Identifier: Apache-2.0 */
/* A unit: rows (a query row and a head each) of a task, with some K/V heads, tile by tile along its keys. */
#include <string.h>

#include "opt/attend.h"

#define LINE 64 /* bytes of a cache line */

/* Where a unit is. */
struct unit {
    const struct opt_call *call;
    const struct cp_opt_kernels *kernels;
    const struct opt_scratch *at;
    const struct opt_task *task;
    const int *chunk;        /* of the path */
    int first_head, n_heads; /* of K/V */
    int rows, padded_rows;   /* of each head */
    long long first;         /* row, of those of the task */
    int end;                 /* keys that are of interest, from the first of the path */
    int many;                /* scores lie key by key */
    int seen[CP_OPT_ROWS];   /* keys that each row sees, from the first of its path */
};

/* One of its K/V heads: its part of the scratch. */
struct head {
    const struct unit *unit;
    int g;
    struct opt_scratch at;
    int next_g, next_tile; /* what comes then: the same tile of the next head, or the next one */
};

/* A run of keys that lie one behind the other, of a tile. */
struct run {
    const void *k, *v;
    int first, n; /* of the tile's keys */
};

static int group_of(const struct cp_attention *a) {
    return a->n_heads / a->n_kv_heads;
}

/* The x-th K/V head of the unit. */
static struct head head_of(const struct unit *u, int x) {
    size_t rows = (size_t)x * (size_t)u->task->width, stride = u->call->sizes.stride;
    struct head h = {u, u->first_head + x, *u->at, 0, 0};
    h.at.q += rows * stride;
    h.at.q_columns += rows * stride;
    h.at.o += rows * stride;
    h.at.m += rows;
    h.at.n += rows;
    h.at.factor += rows;
    h.at.score += rows * CP_OPT_KEYS;
    return h;
}

/* Query row of row i of the unit, and its place in the group of heads. */
static int row_of(const struct unit *u, int i, int *in_group) {
    const struct cp_attention *a = u->call->attention;
    long long of_task = u->first + i;
    int group = group_of(a);
    *in_group = (int)(of_task % group);
    return opt_first_row(a, u->task->begin) + (int)(of_task / group);
}

/* Where row i of a head is in an array [query rows][h]; of `first_row` query rows before that of the task. */
static size_t place(const struct head *h, int i, size_t first_row) {
    const struct cp_attention *a = h->unit->call->attention;
    int in_group, row = row_of(h->unit, i, &in_group) - opt_first_row(a, h->unit->task->begin);
    return (first_row + (size_t)row) * (size_t)a->n_heads + (size_t)(h->g * group_of(a) + in_group);
}

/* The last task that begins at this unit or before. */
static const struct opt_task *task_of(const struct opt_call *call, size_t unit) {
    size_t low = 0, high = call->sizes.n_tasks;
    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;
        if (call->work.task[middle].first_unit <= unit) {
            low = middle;
        } else {
            high = middle;
        }
    }
    return &call->work.task[low];
}

/* PREFILL-2 for each row, and the last key that any of them sees. */
static void find_seen(struct unit *u) {
    const struct cp_attention *a = u->call->attention;
    const struct cp_plan *plan = a->plan;
    int s = u->task->begin, in_group, most = 0;
    for (int i = 0; i < u->rows; i++) {
        int row = row_of(u, i, &in_group);
        while (opt_first_row(a, s + 1) <= row) {
            s++;
        }
        int seen = plan->row[s].n_tokens - (opt_first_row(a, s + 1) - 1 - row);
        u->seen[i] = seen < 0 ? 0 : seen;
        most = u->seen[i] > most ? u->seen[i] : most;
    }
    int end = (u->task->depth + u->task->n_chunks) * plan->chunk_size;
    u->end = end < most ? end : most;
}

/* A head's queries in binary32; for many rows also column by column, the padding 0. */
static void gather_queries(const struct head *h) {
    const struct unit *u = h->unit;
    const struct cp_attention *a = u->call->attention;
    size_t d = (size_t)a->head_dim, stride = u->call->sizes.stride;
    size_t bytes = d * cp_number_size(a->q_type);
    size_t first_row = (size_t)opt_first_row(a, u->task->begin);
    for (int i = 0; i < u->rows; i++) {
        const char *q = (const char *)a->q + place(h, i, first_row) * bytes;
        u->kernels->widen(h->at.q + (size_t)i * stride, stride, q, d, a->q_type, 1, a->head_dim);
    }
    for (size_t x = 0; x < d && u->many; x++) {
        float *column = h->at.q_columns + x * (size_t)u->padded_rows;
        for (int i = 0; i < u->padded_rows; i++) {
            column[i] = i < u->rows ? h->at.q[(size_t)i * stride + x] : 0.0F;
        }
    }
}

static void begin_head(const struct head *h) {
    const struct unit *u = h->unit;
    gather_queries(h);
    for (int i = 0; i < u->task->width; i++) {
        h->at.m[i] = CP_OPT_NO_SCORE;
        h->at.n[i] = 0.0F;
    }
    memset(h->at.o, 0, (size_t)u->rows * u->call->sizes.stride * sizeof(float));
}

static void begin(struct unit *u, const struct opt_call *call, size_t number,
                  const struct opt_scratch *at) {
    const struct cp_attention *a = call->attention;
    const struct opt_task *t = task_of(call, number);
    long long within = (long long)(number - t->first_unit), block = within % t->n_blocks;
    long long head_block = within / t->n_blocks;
    long long n_rows =
        (long long)(opt_first_row(a, t->end) - opt_first_row(a, t->begin)) * group_of(a);
    u->call = call;
    u->kernels = call->kernels;
    u->at = at;
    u->task = t;
    u->chunk = a->plan->row[t->begin].chunk;
    u->first_head = (int)opt_block_begin(a->n_kv_heads, t->n_head_blocks, head_block);
    u->n_heads =
        (int)opt_block_begin(a->n_kv_heads, t->n_head_blocks, head_block + 1) - u->first_head;
    u->first = opt_block_begin(n_rows, t->n_blocks, block);
    u->rows = (int)(opt_block_begin(n_rows, t->n_blocks, block + 1) - u->first);
    u->padded_rows = (u->rows + CP_OPT_PAD - 1) / CP_OPT_PAD * CP_OPT_PAD;
    u->many = u->rows > u->kernels->few;
    find_seen(u);
}

/* The run that begins at a key of the path; the tile, which ends before key `end`, begins at key `tile`. */
static struct run run_at(const struct unit *u, int g, int key, int tile, int end) {
    const struct cp_attention *a = u->call->attention;
    int c = a->plan->chunk_size, slot = key % c, n = c - slot < end - key ? c - slot : end - key;
    size_t chunk = (size_t)u->chunk[key / c];
    size_t at = (chunk * (size_t)a->n_kv_heads + (size_t)g) * (size_t)c + (size_t)slot;
    size_t byte = at * (size_t)a->head_dim * cp_number_size(a->kv_type);
    return (struct run){(const char *)a->k + byte, (const char *)a->v + byte, key - tile, n};
}

/* How many keys of the tile each row sees; a row of padding sees all. Returns 1 when all rows do. */
static int see(const struct unit *u, int tile, int keys) {
    int all = 1;
    for (int i = 0; i < u->padded_rows; i++) {
        int seen = i < u->rows ? u->seen[i] - tile : keys;
        seen = seen < 0 ? 0 : seen < keys ? seen : keys;
        u->at->seen[i] = (float)seen;
        all = all && seen == keys;
    }
    return all;
}

static struct opt_states states_of(const struct head *h) {
    return (struct opt_states){h->at.m, h->at.n, h->at.factor, h->at.seen};
}

/* o follows a maximum that has grown. */
static void rescale(const struct head *h) {
    size_t stride = h->unit->call->sizes.stride;
    for (int i = 0; i < h->unit->rows; i++) {
        float *o = h->at.o + (size_t)i * stride;
        if (h->at.factor[i] != 1.0F) {
            h->unit->kernels->scale(o, o, h->at.factor[i], (int)stride);
        }
    }
}

/* How many rows from row i on see the same keys of the tile, and how many those are. No number of a key that a row does
 * not see is multiplied with a weight, even 0. */
static int rows_alike(const struct head *h, int i, int all, int keys, int *seen) {
    int n = all ? h->unit->rows - i : 1;
    *seen = all ? keys : (int)h->at.seen[i];
    while (i + n < h->unit->rows && (int)h->at.seen[i + n] == *seen) {
        n++;
    }
    return n;
}

/* To o, of the values of a run. */
static void add_run(const struct head *h, struct run run, int all, int keys) {
    const struct unit *u = h->unit;
    const struct cp_attention *a = u->call->attention;
    size_t stride = u->call->sizes.stride;
    for (int i = 0, n, seen; i < u->rows; i += n) {
        n = rows_alike(h, i, all, keys, &seen);
        seen = seen - run.first < run.n ? seen - run.first : run.n;
        if (seen > 0) {
            u->kernels->values(h->at.o + (size_t)i * stride, stride,
                               h->at.score + (size_t)i * CP_OPT_KEYS + run.first, n, run.v,
                               a->kv_type, seen, a->head_dim);
        }
    }
}

/* Scores of a head of few rows: K is read as it is, from one end to the other. */
static void score_few(const struct head *h, int tile, int keys) {
    const struct unit *u = h->unit;
    for (int key = tile; key < tile + keys;) {
        struct run run = run_at(u, h->g, key, tile, tile + keys);
        u->kernels->dots(h->at.score + run.first, h->at.q, u->call->sizes.stride, u->rows, run.k,
                         u->call->attention->kv_type, run.n, u->call->attention->head_dim);
        key += run.n;
    }
}

static void weigh_few(const struct head *h) {
    struct opt_states states = states_of(h);
    h->unit->kernels->weigh_rows(h->at.score, h->unit->rows, (float)h->unit->call->attention->scale,
                                 &states);
    rescale(h);
}

static void add_few(const struct head *h, int tile, int keys, int all) {
    for (int key = tile; key < tile + keys;) {
        struct run run = run_at(h->unit, h->g, key, tile, tile + keys);
        add_run(h, run, all, keys);
        key += run.n;
    }
}

/* All heads at once: K of one head after the other is one stretch of memory, then V, and nothing waits for the weights
 * of a single row. */
static void tile_of_few(const struct unit *u, int tile, int keys, int all) {
    for (int x = 0; x < u->n_heads; x++) {
        struct head h = head_of(u, x);
        score_few(&h, tile, keys);
    }
    for (int x = 0; x < u->n_heads; x++) {
        struct head h = head_of(u, x);
        weigh_few(&h);
    }
    for (int x = 0; x < u->n_heads; x++) {
        struct head h = head_of(u, x);
        add_few(&h, tile, keys, all);
    }
}

static void ask_for_all(struct opt_wanted wanted) {
    for (; wanted.at < wanted.end; wanted.at += LINE) {
        __builtin_prefetch(wanted.at, 0, 1);
    }
}

/* Keys first .. end-1 of the next tile, or their values: the first run of them is left to the product that comes now,
 * the others, if chunks are small, are on their way then. */
static struct opt_wanted want_next(const struct head *h, int first, int end, int values) {
    const struct unit *u = h->unit;
    const struct cp_attention *a = u->call->attention;
    size_t bytes = (size_t)a->head_dim * cp_number_size(a->kv_type);
    struct opt_wanted left = {NULL, NULL};
    end += h->next_tile;
    end = end < u->end ? end : u->end;
    for (int key = h->next_tile + first; key < end;) {
        struct run run = run_at(u, h->next_g, key, key, end);
        const char *from = values ? run.v : run.k;
        struct opt_wanted wanted = {from, from + (size_t)run.n * bytes};
        if (left.at == NULL) {
            left = wanted;
        } else {
            ask_for_all(wanted);
        }
        key += run.n;
    }
    return left;
}

/* Keys first .. end-1 of the path in binary32. */
static void widen_keys(const struct head *h, int first, int end) {
    const struct cp_attention *a = h->unit->call->attention;
    size_t stride = h->unit->call->sizes.stride;
    for (int key = first; key < end;) {
        struct run run = run_at(h->unit, h->g, key, first, end);
        h->unit->kernels->widen(h->at.tile + (size_t)run.first * stride, stride, run.k,
                                (size_t)a->head_dim, a->kv_type, run.n, a->head_dim);
        key += run.n;
    }
}

/* Numbers x .. x + OPT_PANEL - 1 of their values. */
static void widen_values(const struct head *h, int first, int end, int x) {
    const struct cp_attention *a = h->unit->call->attention;
    size_t away = (size_t)x * cp_number_size(a->kv_type);
    int n = a->head_dim - x < OPT_PANEL ? a->head_dim - x : OPT_PANEL;
    for (int key = first; key < end;) {
        struct run run = run_at(h->unit, h->g, key, first, end);
        h->unit->kernels->widen(h->at.tile + (size_t)run.first * OPT_PANEL, OPT_PANEL,
                                (const char *)run.v + away, (size_t)a->head_dim, a->kv_type, run.n,
                                n);
        key += run.n;
    }
}

/* To numbers x, x + 1, ... of o. */
static void add_values(const struct head *h, int all, int keys, int x, struct opt_wanted *wanted) {
    const struct unit *u = h->unit;
    size_t stride = u->call->sizes.stride;
    int width = (int)stride - x < OPT_PANEL ? (int)stride - x : OPT_PANEL;
    for (int i = 0, n, seen; i < u->rows; i += n) {
        struct opt_matrix weight = {h->at.score + i, 1, (size_t)u->padded_rows};
        n = rows_alike(h, i, all, keys, &seen);
        if (seen > 0) {
            u->kernels->product(h->at.o + (size_t)i * stride + x, stride, weight, h->at.tile,
                                OPT_PANEL, n, width, seen, 1, wanted);
        }
    }
}

/* Scores of keys first .. end-1 of the tile at key `tile`. */
static void score_keys(const struct head *h, int tile, int first, int end,
                       struct opt_wanted *wanted) {
    const struct unit *u = h->unit;
    size_t stride = u->call->sizes.stride, padded = (size_t)u->padded_rows;
    struct opt_matrix k = {h->at.tile, stride, 1};
    widen_keys(h, first, end);
    u->kernels->product(h->at.score + (size_t)(first - tile) * padded, padded, k, h->at.q_columns,
                        padded, end - first, u->padded_rows, u->call->attention->head_dim, 0,
                        wanted);
}

/* Many rows: few keys at a time, then few numbers of all values: what was made of them is used while it is near. */
static void tile_of_many(const struct head *h, int tile, int keys, int all) {
    const struct unit *u = h->unit;
    const struct cp_attention *a = u->call->attention;
    struct opt_states states = states_of(h);
    for (int key = 0; key < keys; key += OPT_AT_ONCE) {
        int end = keys - key < OPT_AT_ONCE ? keys : key + OPT_AT_ONCE;
        struct opt_wanted wanted = want_next(h, key, end, 0);
        score_keys(h, tile, tile + key, tile + end, &wanted);
        ask_for_all(wanted);
    }
    u->kernels->weigh_columns(h->at.score, keys, u->padded_rows, (float)a->scale, &states);
    rescale(h);
    for (int x = 0; x < a->head_dim; x += OPT_PANEL) {
        struct opt_wanted wanted =
            want_next(h, (int)((long long)keys * x / a->head_dim),
                      (int)((long long)keys * (x + OPT_PANEL) / a->head_dim), 1);
        widen_values(h, tile, tile + keys, x);
        add_values(h, all, keys, x, &wanted);
        ask_for_all(wanted);
    }
}

static void keep(const struct head *h) {
    const struct opt_call *call = h->unit->call;
    size_t stride = call->sizes.stride;
    for (int i = 0; i < h->unit->rows; i++) {
        size_t part = place(h, i, h->unit->task->first_part);
        call->work.state[2 * part] = h->at.m[i];
        call->work.state[2 * part + 1] = h->at.n[i];
        memcpy(call->work.o + part * stride, h->at.o + (size_t)i * stride, stride * sizeof(float));
    }
}

void cp_opt_unit(const struct opt_call *call, size_t number, const struct opt_scratch *scratch) {
    struct unit u;
    begin(&u, call, number, scratch);
    for (int x = 0; x < u.n_heads; x++) {
        struct head h = head_of(&u, x);
        begin_head(&h);
    }
    for (int tile = u.task->depth * call->attention->plan->chunk_size; tile < u.end;
         tile += CP_OPT_KEYS) {
        int keys = u.end - tile < CP_OPT_KEYS ? u.end - tile : CP_OPT_KEYS;
        int all = see(&u, tile, keys);
        if (!u.many) {
            tile_of_few(&u, tile, keys, all);
        }
        for (int x = 0; x < u.n_heads && u.many; x++) {
            struct head h = head_of(&u, x);
            h.next_g = u.first_head + (x + 1) % u.n_heads;
            h.next_tile = x + 1 < u.n_heads ? tile : tile + CP_OPT_KEYS;
            tile_of_many(&h, tile, keys, all);
        }
    }
    for (int x = 0; x < u.n_heads; x++) {
        struct head h = head_of(&u, x);
        keep(&h);
    }
}
