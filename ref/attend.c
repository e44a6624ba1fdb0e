/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <stdint.h>

#include "attend_internal.h"
#include "chunkproof/number.h"
#include "chunkproof/softmax.h"
#include "chunkproof/status.h"
#include "chunkproof/two_phase.h"

/* *x *= y, or 0 when the product is too large for the address space. */
static int multiply(size_t *x, size_t y) {
    if (y != 0 && *x > PTRDIFF_MAX / y) {
        return 0;
    }
    *x *= y;
    return 1;
}

/* Can an array [rows][x][y][z] of numbers of `size` bytes exist? Then no index of it overflows. */
static int array_fits(int rows, int x, int y, int z, size_t size) {
    size_t bytes = (size_t)rows * size;
    return multiply(&bytes, (size_t)x) && multiply(&bytes, (size_t)y) &&
           multiply(&bytes, (size_t)z);
}

/* PREFILL-1: query_begin counts from 0 on and does not decrease. */
static int query_ranges_are_valid(const struct cp_attention *attention) {
    const int *query_begin = attention->query_begin;
    if (query_begin == NULL) {
        return 1;
    }
    if (query_begin[0] != 0) {
        return 0;
    }
    for (int s = 0; s < attention->plan->n_sequences; s++) {
        if (query_begin[s + 1] < query_begin[s]) {
            return 0;
        }
    }
    return 1;
}

static int dimensions_are_valid(const struct cp_attention *attention) {
    return attention->n_heads >= 1 && attention->n_kv_heads >= 1 && attention->head_dim >= 1 &&
           attention->n_heads % attention->n_kv_heads == 0;
}

static int types_are_valid(const struct cp_attention *attention) {
    return cp_number_size(attention->q_type) != 0 && cp_number_size(attention->kv_type) != 0 &&
           cp_number_size(attention->out_type) != 0;
}

/* Could the tensors be as large as the dimensions say? */
static int tensors_fit(const struct cp_attention *attention) {
    const struct cp_plan *plan = attention->plan;
    int rows = cp_first_row(attention, plan->n_sequences);
    int h = attention->n_heads;
    int d = attention->head_dim;
    return array_fits(plan->capacity, attention->n_kv_heads, plan->chunk_size, d,
                      cp_number_size(attention->kv_type)) &&
           array_fits(rows, h, d, 1, cp_number_size(attention->q_type)) &&
           array_fits(rows, h, d, 1, cp_number_size(attention->out_type)) &&
           array_fits(rows, h, 1, 1, sizeof(double));
}

/* Bytes of the workspace (two_phase.h), or 0 when they are too many. */
static size_t workspace_bytes(const struct cp_attention *attention) {
    size_t row = (size_t)attention->head_dim * sizeof(double);
    size_t partials = sizeof(struct cp_state) + row;
    size_t scratch = CP_SCRATCH_ROWS * row; /* far below the limit: head_dim is an int */
    if (!multiply(&partials, cp_partial_rows(attention)) ||
        !multiply(&partials, (size_t)attention->n_heads) || partials > PTRDIFF_MAX - scratch) {
        return 0;
    }
    return partials + scratch;
}

/* CP_ERROR_SHAPE, and the size of the workspace when there is no such error. */
static int check_shape(const struct cp_attention *attention, size_t *bytes) {
    *bytes = 0;
    if (!dimensions_are_valid(attention) || !types_are_valid(attention) ||
        !query_ranges_are_valid(attention) || !tensors_fit(attention)) {
        return CP_ERROR_SHAPE;
    }
    *bytes = workspace_bytes(attention);
    return *bytes == 0 ? CP_ERROR_SHAPE : CP_OK;
}

static int variant_is_known(const struct cp_attention *attention) {
    return attention->variant == CP_BUFFERED || attention->variant == CP_MERGE_AT_ONCE;
}

static int arguments_are_valid(const struct cp_attention *attention) {
    return attention->q != NULL && attention->k != NULL && attention->v != NULL &&
           attention->out != NULL && attention->workspace != NULL &&
           (uintptr_t)attention->workspace % _Alignof(struct cp_state) == 0 &&
           isfinite(attention->scale) && variant_is_known(attention);
}

size_t cp_attend_workspace(const struct cp_attention *attention) {
    size_t bytes;
    if (attention == NULL || attention->plan == NULL || !variant_is_known(attention) ||
        check_shape(attention, &bytes) != CP_OK) {
        return 0;
    }
    return bytes;
}

int cp_attend(const struct cp_attention *attention) {
    size_t bytes;
    if (attention == NULL || attention->plan == NULL) {
        return CP_ERROR_ARGUMENT;
    }
    if (!cp_plan_is_current(attention->plan, attention->stamp)) {
        return CP_ERROR_STALE;
    }
    if (!arguments_are_valid(attention)) {
        return CP_ERROR_ARGUMENT;
    }
    int status = check_shape(attention, &bytes);
    if (status != CP_OK) {
        return status;
    }
    if (attention->workspace_size < bytes) {
        return CP_ERROR_WORKSPACE;
    }
    cp_chunk_first(attention);
    cp_sequence_first(attention);
    return CP_OK;
}
