/* SPDX-License-Identifier: Apache-2.0 */
/* What a call has to do, and where in the workspace (spec/two_phase.md, TPP-1, TPP-2).
 *
 * A task is a run of consecutive chunks on the same paths, with the list of sequences that have
 * these paths. Shared chunks come first, in the order of the plan, then each sequence's own. A task
 * gives one partial result for each of its query rows and heads, merged along its chunks. A query
 * row's partial results are then merged in the order of the tasks.
 *
 * Threads take a task in slices. A slice is some K/V heads and a block of rows. No two slices write
 * to the same place, so any thread may take any slice. A slice has as many heads as make long
 * stretches of K and V, because memory is read faster that way.
 *
 * The length of the tasks depends only on the problem, never on the number of threads. So do the
 * bits of the result. */
#ifndef CHUNKPROOF_OPT_TASKS_H
#define CHUNKPROOF_OPT_TASKS_H

#include <stddef.h>
#include <stdint.h>

#include "chunkproof/attention.h"
#include "opt/kernels.h"

/* Chunks of some sequences. Those of two sequences or more are served[begin] .. served[end - 1] of
 * the plan, and the chunks those of the descriptors first .. first + n_chunks - 1. One sequence is
 * number begin, and the chunks are its own runs first .. first + n_chunks - 1. They hold n_keys
 * keys, at the positions position .. position + n_keys - 1 (RUNS-4): all chunks but the last are
 * full. The n_rows query rows of the sequences, in their order, have the partial results
 * first_part, first_part + 1, ... (RUNS-5) */
struct opt_task {
    int begin, end;
    int n_rows;
    int first, n_chunks;
    int position, n_keys;
    /* Blocks of rows: query rows with the heads of a group, at most CP_OPT_ROWS in each. */
    long long n_blocks;
    int width;         /* room for the rows of a block; padded, unless there are very few */
    int n_head_blocks; /* of K/V heads, so that all their rows together are at most CP_OPT_ROWS */
    size_t first_part;
    size_t first_slice;
};

/* WINDOW-2: keys 0 .. kept - 1 and begin .. end - 1 of a task, or of a tile. kept <= begin. */
struct opt_seen {
    int kept, begin, end;
};

/* The first n keys of a tile, a bit for each. */
static inline uint64_t opt_keys_before(int n) {
    return n >= CP_OPT_KEYS ? UINT64_MAX : ((uint64_t)1 << n) - 1;
}

CP_STATIC_ASSERT(CP_OPT_KEYS == 64, "a tile's keys have a bit each");

/* PREFILL-1: where a query row of sequence s stands. */
long long cp_opt_position_of(const struct cp_attention *attention, int s, int row);

/* Which keys of a task a query row of sequence s sees. */
struct opt_seen cp_opt_seen_of(const struct cp_attention *attention, const struct opt_task *task,
                               int s, int row);

/* MASK-1: bit x is 1 if the mask leaves the key at position + x to a query row; for x from 0 to
 * n - 1, with 1 <= n <= CP_OPT_KEYS. Reads no bits but these. */
uint64_t cp_opt_left(const struct cp_attention *attention, int row, long long position, int n);

/* Sizes of a call. */
struct opt_sizes {
    int n_rows; /* query rows */
    int chunks_per_task;
    size_t n_tasks, n_parts, n_slices;
    size_t n_sources; /* pairs of a task and a sequence */
    size_t stride;    /* of rows of d numbers, padding included */
    size_t o_stride;  /* of rows of d_v numbers, in the same way */
    size_t scratch;   /* floats for each thread */
    /* Floats for a query row in the multiplier's format, and for its room. */
    size_t queries, room;
    size_t bytes; /* of the workspace; 0: more bytes than a size_t can count */
};

/* Where the parts lie in the workspace. */
struct opt_work {
    struct opt_task *task; /* [n_tasks] */
    /* Sequence s has source[source_begin[s] .. source_begin[s + 1]): for each task on its path, in
     * order, the partial result of its first query row. */
    size_t *source_begin; /* [b + 1] */
    size_t *source;
    /* For each entry of the plan's list, and its end, the query rows of the entries before it. */
    size_t *rows_before; /* [n_served + 1] */
    float *state;        /* [n_parts][h][2] m and n */
    float *o;            /* [n_parts][h][o_stride] */
    float *scratch;      /* [threads][scratch] */
};

/* The first query row of sequence s; for s = b, the number of query rows (PREFILL-1). */
static inline int opt_first_row(const struct cp_attention *attention, int s) {
    return attention->query_begin == NULL ? s : attention->query_begin[s];
}

static inline int opt_rows_of(const struct cp_attention *attention, int s) {
    return opt_first_row(attention, s + 1) - opt_first_row(attention, s);
}

/* The sequence at place `at` of a task, one of begin .. end - 1. */
static inline int opt_sequence_at(const struct cp_plan *plan, const struct opt_task *task, int at) {
    return task->end - task->begin > 1 ? plan->served[at] : at;
}

/* How many keys are converted to binary32 at once. Of values, CP_OPT_PANEL numbers of each are
 * converted at once. */
#define OPT_AT_ONCE 16

CP_STATIC_ASSERT(OPT_AT_ONCE <= CP_OPT_KEYS, "they fit the tile");

/* Floats for the larger of the two. Does not overflow for strides up to INT_MAX. */
static inline size_t opt_tile_size(size_t stride) {
    size_t k = OPT_AT_ONCE * stride, v = (size_t)CP_OPT_KEYS * CP_OPT_PANEL;
    return k > v ? k : v;
}

/* The sizes of a valid problem. They do not depend on the window or the mask, nor on where rows
 * stand, nor on the scores: all tasks are counted. */
struct opt_sizes cp_opt_measure(const struct cp_attention *attention, int n_threads,
                                const struct opt_multiplier *multiplier);

/* Divides the workspace and writes tasks and sources. With a window or a mask, tasks of which no
 * row sees a key are left out (WINDOW-4, MASK-4): n_tasks and n_slices become smaller. */
struct opt_work cp_opt_prepare(const struct cp_attention *attention, struct opt_sizes *sizes);

/* Cuts n things into n_blocks blocks, of which the first may be larger by one. Returns where a
 * block begins. For example, 7 things in 3 blocks begin at 0, 3, 5. */
static inline long long opt_block_begin(long long n, long long n_blocks, long long block) {
    long long larger = n % n_blocks;
    return block * (n / n_blocks) + (block < larger ? block : larger);
}

#endif
