/* SPDX-License-Identifier: Apache-2.0 */
#include "kernels/layout.h"

#include <limits.h>

#include "kernels/index.h"

#define NUMBERS_OF_TASK (sizeof(struct cp_task) / sizeof(int))

static int is_within(int value, int most) {
    return 1 <= value && value <= most;
}

const char *cp_limit_out_of_range(const struct cp_cuda_limits *l) {
    return !is_within(l->n_sequences, CP_MAX_SEQUENCES)   ? "n_sequences"
           : !is_within(l->n_rows, CP_MOST_QUERIES)       ? "n_rows"
           : !is_within(l->n_chunks, CP_MAX_CHUNKS)       ? "n_chunks"
           : !is_within(l->depth, CP_MAX_DEPTH)           ? "depth"
           : !is_within(l->levels, CP_MAX_DEPTH)          ? "levels"
           : !is_within(l->n_heads, CP_MOST_GRID)         ? "n_heads"
           : !is_within(l->head_dim, CP_MOST_BLOCK)       ? "head_dim"
           : !is_within(l->chunks_per_task, CP_MAX_DEPTH) ? "chunks_per_task"
                                                          : NULL;
}

static size_t rounded_up(size_t bytes) {
    return (bytes + CP_WORKSPACE_ALIGNMENT - 1) / CP_WORKSPACE_ALIGNMENT * CP_WORKSPACE_ALIGNMENT;
}

/* How many tasks a path has: all tasks of a range are full, except the last. */
static long long tasks_on_path(const struct cp_cuda_limits *l) {
    long long levels = l->levels < l->depth ? l->levels : l->depth;
    return (l->depth + levels * (l->chunks_per_task - 1)) / l->chunks_per_task;
}

int cp_layout_measure(struct cp_layout *layout, const struct cp_cuda_limits *l) {
    long long on_path = tasks_on_path(l), sources = l->n_sequences * on_path;
    long long tasks = sources < l->n_chunks ? sources : l->n_chunks;
    long long parts = l->n_rows * on_path;
    if ((long long)l->n_rows * l->n_heads > CP_MOST_QUERIES || parts > INT_MAX) {
        return CP_ERROR_ARGUMENT;
    }
    size_t of_sequences = 2 * ((size_t)l->n_sequences + 1);
    size_t states = (size_t)parts * (size_t)l->n_heads;
    layout->most_parts = (int)parts;
    layout->most_numbers = (NUMBERS_OF_TASK + 1) * (size_t)tasks + (size_t)l->n_chunks +
                           (size_t)sources + 2 * (size_t)l->n_rows + (size_t)parts + of_sequences;
    layout->numbers = rounded_up(layout->most_numbers * sizeof(int));
    layout->part_m = rounded_up(states * sizeof(float));
    layout->part_n = layout->part_m;
    layout->part_o = rounded_up(states * (size_t)l->head_dim * sizeof(float));
    layout->total = layout->numbers + layout->part_m + layout->part_n + layout->part_o;
    return CP_OK;
}

int cp_layout_has_room(const struct cp_layout *layout, const struct cp_cuda_limits *limits,
                       const struct cp_schedule *schedule) {
    return schedule->n_numbers <= layout->most_numbers && schedule->n_parts <= layout->most_parts &&
           schedule->n_rows <= limits->n_rows;
}
