/* SPDX-License-Identifier: Apache-2.0 */
/* Where the numbers of a call that merges lie, for the kernels of this directory: only index
 * arithmetic and the loop over rows, no part of the algorithm. */
#ifndef CHUNKPROOF_TESTS_GATE_MERGE_UTIL_H
#define CHUNKPROOF_TESTS_GATE_MERGE_UTIL_H

#include "chunkproof/merge_kernel.h"
#include "kernel_util.h"

/* Relative errors that the C library's logf(), and a division, stay below. */
#define LOGF_ERROR     0x1p-22
#define DIVISION_ERROR 0x1p-24

/* How many parts a row has in o and l, and the first of them. */
static inline int parts_in(const struct cp_merge_call *call, int row) {
    return call->part_begin != NULL ? call->part_begin[row + 1] - call->part_begin[row]
                                    : call->n_parts;
}

static inline int first_part(const struct cp_merge_call *call, int row) {
    return call->part_begin != NULL ? call->part_begin[row] : 0;
}

/* Number 0 of part `part` of the row, as an index into o; and its log-sum-exp, into l. */
static inline long long part_at(const struct cp_merge_call *call, int row, int part, int head) {
    return (first_part(call, row) + part) * call->o_part + row * call->o_row + head * call->o_head;
}

static inline long long part_lse_at(const struct cp_merge_call *call, int row, int part, int head) {
    return (first_part(call, row) + part) * call->l_part + row * call->l_row + head * call->l_head;
}

static inline long long result_at(const struct cp_merge_call *call, int row, int head) {
    return row * call->out_row + head * call->out_head;
}

static inline long long result_lse_at(const struct cp_merge_call *call, int row, int head) {
    return row * call->lse_row + head * call->lse_head;
}

/* Calls row_of() for each row and head. */
static inline void each_merge(const struct cp_merge_call *call,
                              void (*row_of)(const struct cp_merge_call *call, int row, int head)) {
    for (int row = 0; row < call->n_rows; row++) {
        for (int head = 0; head < call->n_heads; head++) {
            row_of(call, row, head);
        }
    }
}

#endif
