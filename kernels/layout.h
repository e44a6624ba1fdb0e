/* SPDX-License-Identifier: Apache-2.0 */
/* The launcher's memory on the device, computed from its limits (chunkproof/cuda.h): where the
 * schedule and the partial results are, and how large a plan may be. */
#ifndef CHUNKPROOF_KERNELS_LAYOUT_H
#define CHUNKPROOF_KERNELS_LAYOUT_H

#include <stddef.h>

#include "chunkproof/cuda.h"
#include "kernels/schedule.h"

#ifdef __cplusplus
extern "C" {
#endif

#define CP_WORKSPACE_ALIGNMENT 256

/* The parts follow each other in this order. Sizes are in bytes, multiples of the alignment. */
struct cp_layout {
    size_t numbers; /* the schedule */
    size_t part_m;  /* [parts][h] binary32 */
    size_t part_n;  /* [parts][h] */
    size_t part_o;  /* [parts][h][d] */
    size_t total;
    size_t most_numbers; /* the most numbers of a schedule */
    int most_parts;
};

/* The name of the first limit that is out of its range; NULL when all are within. */
const char *cp_limit_out_of_range(const struct cp_cuda_limits *limits);

/* Takes limits that are within their ranges.
 *   CP_ERROR_ARGUMENT  together they allow more than CP_MOST_QUERIES queries or INT_MAX partial
 *                      results */
int cp_layout_measure(struct cp_layout *layout, const struct cp_cuda_limits *limits);

/* 1 when a schedule fits into the layout. It always does when it was cut with the same
 * chunks_per_task from a plan within the limits: sequences, query rows, chunks (shared ones once,
 * and each sequence's own), chunks on a path, and ranges on a path. This is model-checked
 * (proofs/cbmc/schedule.c). */
int cp_layout_has_room(const struct cp_layout *layout, const struct cp_cuda_limits *limits,
                       const struct cp_schedule *schedule);

#ifdef __cplusplus
}
#endif

#endif
