/* SPDX-License-Identifier: Apache-2.0 */
/* What is to be done in a call, and where in the workspace (spec/two_phase.md, TPP-1, TPP-2).
 *
 * A task is a run of chunks that lie one behind the other on the same paths, with the range of sequences that have
 * these paths: shared chunks first, in the order of the plan, then each sequence's own. Whoever does a task keeps one
 * partial result for each of its query rows and heads, merged along its chunks; a query row's partial results are then
 * merged in the order of the tasks. A task is worked on in units, some K/V heads and a block of rows each; they differ in
 * what they write, so that any thread may take any of them. There are as many heads as make long stretches of K and V:
 * memory is read faster so.
 *
 * How long tasks are depends on the problem alone, never on the number of threads: so do the bits of the result. */
#ifndef CHUNKPROOF_OPT_TASKS_H
#define CHUNKPROOF_OPT_TASKS_H

#include <stddef.h>

#include "chunkproof/attention.h"
#include "opt/kernels.h"

/* Chunks depth .. depth + n_chunks - 1 of the paths of sequences begin .. end-1. Their query rows have the partial
 * results first_part, first_part + 1, ... */
struct opt_task {
    int begin, end;
    int depth, n_chunks;
    long long
        n_blocks;      /* of rows: query rows with the heads of a group, CP_OPT_ROWS at most each */
    int width;         /* room for the rows of a block: padded, but for very few */
    int n_head_blocks; /* of K/V heads, that all their rows together are CP_OPT_ROWS at most */
    size_t first_part;
    size_t first_unit;
};

/* How much there is of everything. */
struct opt_sizes {
    int n_rows; /* query rows */
    int chunks_per_task;
    size_t n_tasks, n_parts, n_units;
    size_t n_sources;     /* pairs of a task and a sequence */
    size_t stride;        /* of rows of d numbers: padded */
    size_t scratch;       /* floats, of a thread */
    size_t queries, room; /* of these, for a query row as the multiplier has it, and for its room */
    size_t bytes;         /* of the workspace; 0: more than there are addresses */
};

/* Where it is. */
struct opt_work {
    struct opt_task *task; /* [n_tasks] */
    size_t *
        source_begin; /* [b + 1] sequence s has source[source_begin[s] .. source_begin[s + 1]): the partial */
    size_t *source; /* result of its first query row, for each task on its path, in order */
    float *state;   /* [n_parts][h][2] m and n */
    float *o;       /* [n_parts][h][stride] */
    float *scratch; /* [threads][scratch] */
};

/* The first query row of sequence s; for s = b, the number of query rows (PREFILL-1). */
static inline int opt_first_row(const struct cp_attention *attention, int s) {
    return attention->query_begin == NULL ? s : attention->query_begin[s];
}

/* Keys that are made binary32 at once; of values, CP_OPT_PANEL numbers of each. */
#define OPT_AT_ONCE 16

CP_STATIC_ASSERT(OPT_AT_ONCE <= CP_OPT_KEYS, "they fit the tile");

/* Floats of either; of strides up to INT_MAX, which does not overflow. */
static inline size_t opt_tile_size(size_t stride) {
    size_t k = OPT_AT_ONCE * stride, v = (size_t)CP_OPT_KEYS * CP_OPT_PANEL;
    return k > v ? k : v;
}

/* Of a valid problem. */
struct opt_sizes cp_opt_measure(const struct cp_attention *attention, int n_threads,
                                const struct opt_multiplier *multiplier);

/* Divides the workspace and writes tasks and sources. */
struct opt_work cp_opt_prepare(const struct cp_attention *attention, const struct opt_sizes *sizes);

/* `n` things in `n_blocks` blocks of equal size, the first ones perhaps by one larger: where one begins. */
static inline long long opt_block_begin(long long n, long long n_blocks, long long block) {
    long long larger = n % n_blocks;
    return block * (n / n_blocks) + (block < larger ? block : larger);
}

#endif
