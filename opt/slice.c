/* SPDX-License-Identifier: Apache-2.0 */
/* A slice: rows (a query row and a head each) of a task, some K/V heads, tile by tile along its
 * keys. A tile is 64 keys, whatever the size of a chunk; a run is the part of a tile that is
 * consecutive in memory. A task of 3 chunks of 48 keys, for example, has 144 keys in 3 tiles:
 *
 *     key      0               48      64            96            128     144
 *     chunks   |        A      |           B         |           C         |
 *     tiles    |         tile 0        |           tile 1          |tile 2 |
 *     runs     |     48 of A   |16 of B|    32 of B  |    32 of C  |16 of C|
 *
 * With a window a tile is cut shorter: it begins with a key that some row of the slice sees, and
 * ends with one. So tiles that no row sees are not read.
 *
 * For each row, a tile turns scores into weights and adds to (m, n, o), which lie in the scratch.
 *
 *     1  for each K/V head: its queries in binary32, and empty states
 *     2  for each tile:
 *     2a     which of its keys each row sees (PREFILL-2, WINDOW-2, MASK-2); if none does, no more
 *     2b     few rows: all heads at once, so that K and V are read in the order of memory
 *     2c     many rows: head by head
 *     3  for each head: keep the partial result (m, n, o) of each row */
#include <string.h>

#include "opt/slice.h"

/* Which query row of the task has row i of the slice. */
static long long row_of_task(const struct opt_slice *slice, int i) {
    return (slice->first + i) / opt_group_of(slice->call->attention);
}

/* Where row i of a head is in an array [rows][h], in which its query row is number `row`. */
static size_t place(const struct opt_head *h, int i, size_t row) {
    return row * (size_t)h->slice->call->attention->n_heads + (size_t)cp_opt_query_head(h, i);
}

/* The last task that begins at this slice or before. */
static const struct opt_task *task_of(const struct opt_call *call, size_t slice) {
    size_t low = 0, high = call->sizes.n_tasks;
    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;
        if (call->work.task[middle].first_slice <= slice) {
            low = middle;
        } else {
            high = middle;
        }
    }
    return &call->work.task[low];
}

/* The last place of a task whose sequence begins at this of its query rows or before; *left are the
 * rows from there on. */
static int find_place(const struct opt_call *call, const struct opt_task *task, long long row,
                      int *left) {
    const size_t *before = call->work.rows_before;
    int low = task->begin, high = task->end;
    while (high - low > 1) {
        int middle = low + (high - low) / 2;
        if (before[middle] - before[task->begin] <= (size_t)row) {
            low = middle;
        } else {
            high = middle;
        }
    }
    *left = (int)row;
    if (task->end - task->begin > 1) {
        *left -= (int)(before[low] - before[task->begin]);
    }
    return low;
}

/* Behind the last of these keys. */
static int end_of(struct opt_seen seen) {
    return seen.begin < seen.end ? seen.end : seen.kept;
}

/* RUNS-5: the query row of each row, in the order of the task's sequences; which keys it sees, and
 * the last key that any of them sees. */
static void find_rows(struct opt_slice *slice) {
    const struct cp_attention *a = slice->call->attention;
    const struct opt_task *task = slice->task;
    int in_sequence, at = find_place(slice->call, task, row_of_task(slice, 0), &in_sequence);
    int s = opt_sequence_at(a->plan, task, at);
    slice->end = 0;
    for (int i = 0; i < slice->rows; i++) {
        in_sequence += i > 0 && row_of_task(slice, i) > row_of_task(slice, i - 1);
        while (in_sequence == opt_rows_of(a, s)) {
            s = opt_sequence_at(a->plan, task, ++at);
            in_sequence = 0;
        }
        slice->row[i] = opt_first_row(a, s) + in_sequence;
        slice->seen[i] = cp_opt_seen_of(a, task, s, slice->row[i]);
        slice->position[i] = cp_opt_position_of(a, s, slice->row[i]);
        slice->end = end_of(slice->seen[i]) > slice->end ? end_of(slice->seen[i]) : slice->end;
    }
}

/* A head's queries in binary32; for many rows also column by column, the padding 0. */
static void gather_queries(const struct opt_head *h) {
    const struct opt_slice *slice = h->slice;
    const struct cp_attention *a = slice->call->attention;
    size_t d = (size_t)a->head_dim, stride = slice->call->sizes.stride;
    size_t bytes = d * cp_number_size(a->q_type);
    for (int i = 0; i < slice->rows; i++) {
        const char *q = (const char *)a->q + place(h, i, (size_t)slice->row[i]) * bytes;
        slice->kernels->widen(h->at.q + (size_t)i * stride, stride, q, d, a->q_type, 1,
                              a->head_dim);
    }
    for (size_t x = 0; x < d && slice->many; x++) {
        float *column = h->at.q_columns + x * (size_t)slice->padded_rows;
        for (int i = 0; i < slice->padded_rows; i++) {
            column[i] = i < slice->rows ? h->at.q[(size_t)i * stride + x] : 0.0F;
        }
    }
}

/* To the multiplier, if there is one. */
static int take_queries(const struct opt_head *h) {
    const struct opt_slice *slice = h->slice;
    const struct cp_attention *a = slice->call->attention;
    const struct opt_multiplier *multiplier = &slice->kernels->multiplier;
    return slice->many && slice->end > 0 && multiplier->scores != NULL &&
           multiplier->takes(a->q_type, a->k_type, a->v_type) &&
           multiplier->take_queries(h->at.queries, h->at.q_columns, a->q_type, slice->padded_rows,
                                    a->head_dim);
}

/* SCORE-2: the slope of each row, of padding 0. */
static void take_slopes(const struct opt_head *h) {
    const double *slopes = h->slice->call->attention->scores.slopes;
    for (int i = 0; i < h->slice->task->width && slopes != NULL; i++) {
        opt_slopes_of(h)[i] = i < h->slice->rows ? (float)slopes[cp_opt_query_head(h, i)] : 0.0F;
    }
}

static void begin_head(const struct opt_head *h) {
    const struct opt_slice *slice = h->slice;
    for (int i = 0; i < slice->task->width; i++) {
        h->at.m[i] = CP_OPT_NO_SCORE;
        h->at.n[i] = 0.0F;
    }
    if (slice->end == 0) { /* no row sees a key, and nothing reads o */
        return;
    }
    gather_queries(h);
    take_slopes(h);
    memset(h->at.o, 0, (size_t)slice->rows * slice->call->sizes.o_stride * sizeof(float));
}

static void begin(struct opt_slice *slice, const struct opt_call *call, size_t number,
                  const struct opt_scratch *at) {
    const struct cp_attention *a = call->attention;
    const struct opt_task *t = task_of(call, number);
    long long within = (long long)(number - t->first_slice), block = within % t->n_blocks;
    long long head_block = within / t->n_blocks;
    long long n_rows = (long long)t->n_rows * opt_group_of(a);
    slice->call = call;
    slice->kernels = call->kernels;
    slice->at = at;
    slice->task = t;
    slice->first_head = (int)opt_block_begin(a->n_kv_heads, t->n_head_blocks, head_block);
    slice->n_heads =
        (int)opt_block_begin(a->n_kv_heads, t->n_head_blocks, head_block + 1) - slice->first_head;
    slice->first = opt_block_begin(n_rows, t->n_blocks, block);
    slice->rows = (int)(opt_block_begin(n_rows, t->n_blocks, block + 1) - slice->first);
    slice->padded_rows = (slice->rows + CP_OPT_PAD - 1) / CP_OPT_PAD * CP_OPT_PAD;
    slice->many = slice->rows > slice->kernels->few;
    find_rows(slice);
}

/* The first key from `key` on that any row sees; with none, the end. Without a window rows see all
 * first keys. */
static int next_key(const struct opt_slice *slice, int key) {
    int next = slice->end;
    if (slice->call->attention->window.keys == 0) {
        return key;
    }
    for (int i = 0; i < slice->rows && next > key; i++) {
        const struct opt_seen *seen = &slice->seen[i];
        int first = key < seen->kept || key > seen->begin ? key : seen->begin;
        next = first < end_of(*seen) && first < next ? first : next;
    }
    return next;
}

/* How many keys the tile at `key` has: up to the last one that any row sees before the next
 * multiple of a whole tile. */
static int keys_of_tile(const struct opt_slice *slice, int key) {
    int whole = CP_OPT_KEYS - key % CP_OPT_KEYS, last = key;
    int most = slice->end - key < whole ? slice->end : key + whole;
    if (slice->call->attention->window.keys == 0) {
        return most - key;
    }
    for (int i = 0; i < slice->rows && last < most; i++) {
        const struct opt_seen *seen = &slice->seen[i];
        int end = seen->begin < most ? end_of(*seen) : seen->kept;
        end = end < most ? end : most;
        last = end > last ? end : last;
    }
    return last - key;
}

/* n of a tile's keys, counted from its first one on. */
static int in_tile(int n, const struct opt_tile *tile) {
    n -= tile->first;
    return n < 0 ? 0 : n < tile->n ? n : tile->n;
}

/* 2a, without a window: how many keys of the tile each row sees; a row of padding sees all. */
static void see_first(const struct opt_slice *slice, struct opt_tile *tile) {
    for (int i = 0; i < slice->padded_rows; i++) {
        int seen = i < slice->rows ? in_tile(slice->seen[i].end, tile) : tile->n;
        slice->at->seen[i] = (float)seen;
        tile->all = tile->all && seen == tile->n;
    }
}

/* 2a, with one: which keys. */
static void see_ranges(const struct opt_slice *slice, struct opt_tile *tile) {
    const struct opt_scratch *at = slice->at;
    for (int i = 0; i < slice->padded_rows; i++) {
        struct opt_seen seen = {0, 0, tile->n};
        if (i < slice->rows) {
            seen.kept = in_tile(slice->seen[i].kept, tile);
            seen.begin = in_tile(slice->seen[i].begin, tile);
            seen.end = in_tile(slice->seen[i].end, tile);
        }
        at->kept[i] = (float)seen.kept;
        at->begin[i] = (float)seen.begin;
        at->seen[i] = (float)seen.end;
        tile->all = tile->all && seen.end == tile->n && seen.begin == seen.kept;
        tile->split = tile->split || seen.kept < seen.begin;
    }
}

/* 2a, with slopes (SCORE-2): how far from each row the tile begins. */
static void see_distances(const struct opt_slice *slice, const struct opt_tile *tile) {
    long long position = (long long)slice->task->position + tile->first;
    float *distance = opt_distances(slice->at);
    for (int i = 0; i < slice->padded_rows; i++) {
        distance[i] = i < slice->rows ? (float)(position - slice->position[i]) : 0.0F;
    }
}

/* What the mask leaves to row i of keys begin .. end - 1 of the tile. */
static uint64_t left_of(const struct opt_slice *slice, int i, const struct opt_tile *tile,
                        int begin, int end) {
    long long position = (long long)slice->task->position + tile->first + begin;
    return begin < end
               ? cp_opt_left(slice->call->attention, slice->row[i], position, end - begin) << begin
               : 0;
}

/* 2a, with a mask (MASK-2). The heads of a query row are rows that follow each other. */
static void see_left(struct opt_slice *slice, struct opt_tile *tile) {
    uint64_t any = 0;
    for (int i = 0; i < slice->rows; i++) {
        struct opt_seen seen = opt_seen_in_tile(slice->at, i, tile);
        uint64_t all =
            opt_keys_before(seen.kept) | (opt_keys_before(seen.end) & ~opt_keys_before(seen.begin));
        slice->left[i] = i > 0 && slice->row[i] == slice->row[i - 1]
                             ? slice->left[i - 1]
                             : left_of(slice, i, tile, 0, seen.kept) |
                                   left_of(slice, i, tile, seen.begin, seen.end);
        tile->masked = tile->masked || slice->left[i] != all;
        any |= slice->left[i];
    }
    tile->none = any == 0;
}

static void see(struct opt_slice *slice, struct opt_tile *tile) {
    tile->all = 1;
    tile->split = tile->masked = tile->none = 0;
    if (slice->call->attention->scores.slopes != NULL) {
        see_distances(slice, tile);
    }
    if (slice->call->attention->window.keys == 0) {
        see_first(slice, tile);
    } else {
        see_ranges(slice, tile);
    }
    if (slice->call->attention->mask.bits != NULL) {
        see_left(slice, tile);
    }
}

static void keep(const struct opt_head *h) {
    const struct opt_call *call = h->slice->call;
    size_t stride = call->sizes.o_stride;
    for (int i = 0; i < h->slice->rows; i++) {
        size_t row = h->slice->task->first_part + (size_t)row_of_task(h->slice, i);
        size_t part = place(h, i, row);
        call->work.state[2 * part] = h->at.m[i];
        call->work.state[2 * part + 1] = h->at.n[i];
        if (h->at.n[i] != 0.0F) { /* else nothing reads it */
            memcpy(call->work.o + part * stride, h->at.o + (size_t)i * stride,
                   stride * sizeof(float));
        }
    }
}

void cp_opt_slice(const struct opt_call *call, size_t number, const struct opt_scratch *scratch) {
    struct opt_slice slice;
    begin(&slice, call, number, scratch);
    for (int x = 0; x < slice.n_heads; x++) { /* 1 */
        struct opt_head h = cp_opt_head(&slice, x);
        begin_head(&h);
        slice.multiplied[x] = take_queries(&h);
    }
    for (int key = next_key(&slice, 0), next; key < slice.end; key = next) {
        struct opt_tile tile = {.first = key, .n = keys_of_tile(&slice, key)};
        next = next_key(&slice, key + tile.n);
        see(&slice, &tile);              /* 2a */
        if (!slice.many && !tile.none) { /* 2b */
            cp_opt_tile_of_few(&slice, &tile);
        }
        for (int x = 0; x < slice.n_heads && slice.many && !tile.none; x++) { /* 2c */
            struct opt_head h = cp_opt_head(&slice, x);
            h.next_g = slice.first_head + (x + 1) % slice.n_heads;
            h.next_tile = x + 1 < slice.n_heads ? key : next;
            cp_opt_tile_of_many(&h, &tile);
        }
    }
    for (int x = 0; x < slice.n_heads; x++) { /* 3 */
        struct opt_head h = cp_opt_head(&slice, x);
        keep(&h);
    }
}
