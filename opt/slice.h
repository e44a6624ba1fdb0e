/* SPDX-License-Identifier: Apache-2.0 */
/* A slice of work (tasks.h): what the files slice*.c and biases.c share. */
#ifndef CHUNKPROOF_OPT_SLICE_H
#define CHUNKPROOF_OPT_SLICE_H

#include "opt/attend.h"

/* A slice at work. */
struct opt_slice {
    const struct opt_call *call;
    const struct cp_opt_kernels *kernels;
    const struct opt_scratch *at;
    const struct opt_task *task;
    int first_head, n_heads;           /* of K/V */
    int rows, padded_rows;             /* of each head */
    long long first;                   /* the slice's first row, counted in the task */
    int end;                           /* behind the last key of the task that any row sees */
    int many;                          /* 1: scores are stored key by key */
    int multiplied[CP_OPT_ROWS];       /* for each K/V head: 1 if the multiplier has its queries */
    int row[CP_OPT_ROWS];              /* the query row of each row */
    long long position[CP_OPT_ROWS];   /* where it stands */
    struct opt_seen seen[CP_OPT_ROWS]; /* keys of the task that each row sees without a mask */
    uint64_t left[CP_OPT_ROWS];        /* of a masked tile: a bit for each key that the row sees */
};

/* Keys first .. first + n - 1 of the task. */
struct opt_tile {
    int first, n;
    int all;    /* every row sees every key */
    int split;  /* some row sees keys behind one that it does not see (WINDOW-2) */
    int masked; /* the mask takes away keys that some row would see (MASK-2) */
    int none;   /* no row sees a key */
};

/* One K/V head of a slice, with its part of the scratch. */
struct opt_head {
    const struct opt_slice *slice;
    int x, g; /* its number in the slice, and among all K/V heads */
    struct opt_scratch at;
    int next_g, next_tile; /* what comes next: the same tile of the next head, or the next tile */
};

/* A run of keys of a tile that are consecutive in memory. */
struct opt_run {
    const void *k, *v;
    size_t row;   /* of K, and of V, that has the first one */
    int first, n; /* of the tile's keys */
};

/* The x-th K/V head of the slice. */
struct opt_head cp_opt_head(const struct opt_slice *slice, int x);

/* The query head of row i of a head. */
int cp_opt_query_head(const struct opt_head *h, int i);

/* How many query heads use a K/V head. */
static inline int opt_group_of(const struct cp_attention *a) {
    return a->n_heads / a->n_kv_heads;
}

/* Bytes from one key to the next, or from one value (WIDTH-2). */
static inline size_t opt_row_bytes(const struct cp_attention *a, int values) {
    return values ? (size_t)a->v_row * cp_number_size(a->v_type)
                  : (size_t)a->head_dim * cp_number_size(a->k_type);
}

/* The run that begins at key `key` of the task, in the tile of keys tile .. end-1, of K/V head
 * g. */
struct opt_run cp_opt_run(const struct opt_slice *slice, int g, int key, int tile, int end);

/* How many rows, from row i on, see the same keys of the tile, and which these are. A key that a
 * row does not see is multiplied by no weight, not even 0. */
int cp_opt_rows_alike(const struct opt_head *h, int i, const struct opt_tile *tile,
                      struct opt_seen *seen);

/* The same of a masked tile; *left: a bit for each key that they see. */
int cp_opt_rows_left_alike(const struct opt_head *h, int i, uint64_t *left);

/* MASK-2: takes the first range of keys out of *left; 0: there is none. */
static inline int opt_next_range(uint64_t *left, int *begin, int *end) {
    if (*left == 0) {
        return 0;
    }
    *begin = __builtin_ctzll(*left);
    uint64_t behind = ~(*left | opt_keys_before(*begin)); /* the first key behind, and more */
    *end = behind == 0 ? CP_OPT_KEYS : __builtin_ctzll(behind);
    *left &= ~opt_keys_before(*end);
    return 1;
}

static inline struct opt_states opt_states_of(const struct opt_head *h,
                                              const struct opt_tile *tile) {
    return (struct opt_states){.m = h->at.m,
                               .n = h->at.n,
                               .factor = h->at.factor,
                               .seen = h->at.seen,
                               .begin = tile->split ? h->at.begin : NULL,
                               .kept = tile->split ? h->at.kept : NULL};
}

/* Do scores change before they are weighed? (A sink changes none.) */
static inline int opt_changes_scores(const struct opt_slice *slice) {
    const struct cp_scores *scores = &slice->call->attention->scores;
    return scores->cap != 0.0 || scores->slopes != NULL || scores->biases.bias != NULL;
}

/* The slopes of a head's rows. */
static inline float *opt_slopes_of(const struct opt_head *h) {
    return opt_slopes(h->slice->at) + (size_t)h->x * (size_t)h->slice->task->width;
}

/* Which keys of the tile row i sees without a mask. */
static inline struct opt_seen opt_seen_in_tile(const struct opt_scratch *at, int i,
                                               const struct opt_tile *tile) {
    struct opt_seen seen = {0, 0, (int)at->seen[i]};
    if (tile->split) {
        seen.kept = (int)at->kept[i];
        seen.begin = (int)at->begin[i];
    }
    return seen;
}

/* NUM-18: the scales of a tile's keys, from those of K or of V; NULL: 0, there are none. */
int cp_opt_scales_of(const struct opt_head *h, const struct opt_tile *tile, const float *scales,
                     float scale[CP_OPT_KEYS]);

/* How those of the tile that see() has looked at last change, but for a table of biases. */
struct opt_change cp_opt_change_of(const struct opt_head *h);

/* SCORE-5: adds the table's biases to the scores of a tile, which have the other changes. */
void cp_opt_add_biases(const struct opt_head *h, const struct opt_tile *tile);

/* Rescales o where the maximum has grown. */
void cp_opt_rescale(const struct opt_head *h);

/* One tile. With few rows, all heads at once; with many, one head. */
void cp_opt_tile_of_few(const struct opt_slice *slice, const struct opt_tile *tile);
void cp_opt_tile_of_many(const struct opt_head *h, const struct opt_tile *tile);

#endif
