/* SPDX-License-Identifier: Apache-2.0 */
#include "chunkproof/attend.h"

#include <math.h>
#include <stdint.h>

#include "attention_internal.h"
#include "chunkproof/number.h"
#include "chunkproof/softmax.h"
#include "chunkproof/two_phase.h"

#ifdef __FRAMAC__
#include "proofs/logic/attend_sizes.h"
#endif

/* *x *= y, or 0 when the product is too large for the address space. */
/*@
  requires valid: \valid(x);
  assigns *x;
  ensures result: \result == 1 || \result == 0;
  ensures fits: \result == 1 <==> row_at(\old(*x), y) <= PTRDIFF_MAX;
  ensures product: \result == 1 ==> *x == row_at(\old(*x), y);
*/
static int multiply(size_t *x, size_t y) {
    /*@ assert divided: y != 0 ==>
          row_at(PTRDIFF_MAX / y, y) <= PTRDIFF_MAX < row_at(PTRDIFF_MAX / y + 1, y); */
    if (y != 0 && *x > PTRDIFF_MAX / y) {
        return 0;
    }
    *x *= y;
    return 1;
}

/* Can an array [rows][x][y][z] of numbers of `size` bytes exist? Then no index of it overflows. */
/*@
  requires rows: 0 <= rows;
  requires dimensions: 1 <= x && 1 <= y && 1 <= z && 1 <= size;
  assigns \nothing;
  ensures fits: \result != 0 <==> array_countable(rows, x, y, z, size);
*/
static int array_fits(int rows, int x, int y, int z, size_t size) {
    size_t bytes = (size_t)rows * (size_t)x; /* below 2^62: both are int */
    //@ assert rows: bytes == row_at(rows, x);
    return multiply(&bytes, (size_t)y) && multiply(&bytes, (size_t)z) && multiply(&bytes, size);
}

/* PREFILL-1: query_begin counts from 0 on and does not decrease. */
/*@
  requires valid: \valid_read(attention) && \valid_read(attention->plan);
  requires sequences: 0 <= attention->plan->n_sequences <= CP_MAX_SEQUENCES;
  requires valid_ranges: attention->query_begin == \null ||
    \valid_read(attention->query_begin + (0 .. attention->plan->n_sequences));
  assigns \nothing;
  ensures prefill_1: \result != 0 <==>
    query_ranges(attention->query_begin, attention->plan->n_sequences);
*/
static int query_ranges_are_valid(const struct cp_attention *attention) {
    const int *query_begin = attention->query_begin;
    if (query_begin == NULL) {
        return 1;
    }
    if (query_begin[0] != 0) {
        return 0;
    }
    /*@ loop invariant s: 0 <= s <= attention->plan->n_sequences;
        loop invariant rising: \forall integer i, j; 0 <= i <= j <= s ==>
          0 <= query_begin[i] <= query_begin[j];
        loop assigns s; loop variant attention->plan->n_sequences - s; */
    for (int s = 0; s < attention->plan->n_sequences; s++) {
        if (query_begin[s + 1] < query_begin[s]) {
            return 0;
        }
    }
    return 1;
}

/* TPP-5, WIDTH-1, WIDTH-2 */
/*@
  requires valid: \valid_read(attention);
  assigns \nothing;
  ensures heads: \result != 0 <==> attention_heads(*attention);
*/
static int dimensions_are_valid(const struct cp_attention *attention) {
    return attention->n_heads >= 1 && attention->n_kv_heads >= 1 && attention->head_dim >= 1 &&
           attention->value_dim >= 1 && attention->v_row >= attention->value_dim &&
           attention->n_heads % attention->n_kv_heads == 0;
}

/*@
  requires valid: \valid_read(attention);
  assigns \nothing;
  ensures types: \result != 0 <==> attend_types(*attention);
*/
static int types_are_valid(const struct cp_attention *attention) {
    return cp_number_size(attention->q_type) != 0 && cp_number_size(attention->k_type) != 0 &&
           cp_number_size(attention->v_type) != 0 && cp_number_size(attention->out_type) != 0;
}

/* Could the tensors be as large as the dimensions say? */
/*@
  requires valid: \valid_read(attention) && \valid_read(attention->plan);
  requires valid_ranges: attention->query_begin == \null ||
    \valid_read(attention->query_begin + attention->plan->n_sequences);
  requires sizes: runs_sizes(*attention->plan);
  requires rows: 0 <= first_row(attention->query_begin, attention->plan->n_sequences);
  requires heads: attention_heads(*attention);
  requires types: attend_types(*attention);
  assigns \nothing;
  ensures fits: \result != 0 <==> attend_tensors(*attention, *attention->plan);
*/
static int tensors_fit(const struct cp_attention *attention) {
    const struct cp_plan *plan = attention->plan;
    int rows = cp_first_row(attention, plan->n_sequences);
    int h = attention->n_heads;
    int d = attention->head_dim;
    return array_fits(plan->capacity, attention->n_kv_heads, plan->chunk_size, d,
                      cp_number_size(attention->k_type)) &&
           array_fits(plan->capacity, attention->n_kv_heads, plan->chunk_size, attention->v_row,
                      cp_number_size(attention->v_type)) &&
           array_fits(rows, h, d, 1, cp_number_size(attention->q_type)) &&
           array_fits(rows, h, attention->value_dim, 1, cp_number_size(attention->out_type)) &&
           array_fits(rows, h, 1, 1, sizeof(double));
}

/* Bytes of the workspace (two_phase.h), or 0 when they are too many. */
/*@
  requires valid: \valid_read(attention) && \valid_read(attention->plan);
  requires valid_ranges: ranges_ok(*attention, *attention->plan);
  requires plan: runs_sizes(*attention->plan) &&
    runs_all_served(*attention->plan, attention->plan->n_shared);
  requires heads: attention_heads(*attention);
  assigns \nothing;
  ensures few: \result != 0 ==> \result == workspace_bytes(*attention, *attention->plan);
  ensures many: \result == 0 <==>
    workspace_bytes(*attention, *attention->plan) > PTRDIFF_MAX;
*/
static size_t workspace_bytes(const struct cp_attention *attention) {
    size_t row = (size_t)attention->value_dim * sizeof(double);
    size_t partials = sizeof(struct cp_state) + row;
    /* far below the limit: the widths are int */
    size_t scratch = (size_t)attention->head_dim * sizeof(double) + CP_SCRATCH_ROWS * row;
    size_t rows = cp_partial_rows(attention);
    /*@ assert reordered: row_at(row_at(partials, rows), attention->n_heads) ==
          row_at(row_at(rows, attention->n_heads), partials); */
    if (!multiply(&partials, rows) || !multiply(&partials, (size_t)attention->n_heads) ||
        partials > PTRDIFF_MAX - scratch) {
        return 0;
    }
    return partials + scratch;
}

/* CP_ERROR_SHAPE, and the size of the workspace when there is no such error. */
/*@
  requires valid: \valid_read(attention) && \valid_read(attention->plan) && \valid(bytes);
  requires valid_ranges: attention->query_begin == \null ||
    \valid_read(attention->query_begin + (0 .. attention->plan->n_sequences));
  requires plan: runs_sizes(*attention->plan) &&
    runs_all_served(*attention->plan, attention->plan->n_shared);
  assigns *bytes;
  ensures result: \result == CP_OK || \result == CP_ERROR_SHAPE;
  ensures shape: \result == CP_OK <==> attend_shape(*attention, *attention->plan);
  ensures bytes: \result == CP_OK ==>
    *bytes == workspace_bytes(*attention, *attention->plan) > 0;
*/
static int check_shape(const struct cp_attention *attention, size_t *bytes) {
    *bytes = 0;
    if (!dimensions_are_valid(attention) || !types_are_valid(attention) ||
        !query_ranges_are_valid(attention) || !tensors_fit(attention)) {
        return CP_ERROR_SHAPE;
    }
    *bytes = workspace_bytes(attention);
    return *bytes == 0 ? CP_ERROR_SHAPE : CP_OK;
}

/*@
  requires valid: \valid_read(attention);
  assigns \nothing;
  ensures variant: \result != 0 <==> known_variant(*attention);
*/
static int variant_is_known(const struct cp_attention *attention) {
    return attention->variant == CP_BUFFERED || attention->variant == CP_MERGE_AT_ONCE;
}

/* WINDOW-1 */
/*@
  requires valid: \valid_read(attention);
  assigns \nothing;
  ensures window_1: \result != 0 <==> window_ok(*attention);
*/
static int window_is_valid(const struct cp_attention *attention) {
    return attention->window.keys >= 0 && attention->window.keys <= CP_MAX_WINDOW &&
           attention->window.ahead >= 0 && attention->window.ahead <= CP_MAX_WINDOW &&
           attention->window.kept >= 0 && attention->window.kept <= CP_MAX_WINDOW;
}

/* MASK-1 */
/*@
  requires valid: \valid_read(attention);
  assigns \nothing;
  ensures mask_1: \result != 0 <==> mask_ok(*attention);
*/
static int mask_is_valid(const struct cp_attention *attention) {
    return attention->mask.bits == NULL || attention->mask.first != NULL;
}

/* SCORE-1 */
/*@
  requires valid: \valid_read(attention);
  assigns \nothing;
  ensures score_1: \result != 0 <==> cap_ok(*attention);
*/
static int cap_is_valid(const struct cp_attention *attention) {
    return isfinite(attention->scores.cap) && attention->scores.cap >= 0.0;
}

/* SCORE-5 */
/*@
  requires valid: \valid_read(attention);
  assigns \nothing;
  ensures score_5: \result != 0 <==> biases_ok(*attention);
*/
static int biases_are_valid(const struct cp_attention *attention) {
    const struct cp_biases *biases = &attention->scores.biases;
    return biases->bias == NULL || (0 <= biases->own && biases->own < biases->n);
}

/* NUM-18 */
/*@
  requires valid: \valid_read(attention);
  assigns \nothing;
  ensures num_18: \result != 0 <==> scales_ok(*attention);
*/
static int scales_are_valid(const struct cp_attention *attention) {
    return attention->scales.per >= CP_CACHE_SCALE_TENSOR &&
           attention->scales.per <= CP_CACHE_SCALE_TOKEN;
}

/*@
  assigns \nothing;
  ensures aligned: \result != 0 <==> aligned((void *)address);
*/
static int is_aligned(const void *address) {
    uintptr_t number = (uintptr_t)address;
    return number % _Alignof(struct cp_state) == 0;
}

/*@
  requires valid: \valid_read(attention);
  assigns \nothing;
  ensures arguments: \result != 0 <==> attend_arguments(*attention);
*/
static int arguments_are_valid(const struct cp_attention *attention) {
    return attention->q != NULL && attention->k != NULL && attention->v != NULL &&
           attention->out != NULL && attention->workspace != NULL &&
           is_aligned(attention->workspace) && isfinite(attention->scale) &&
           variant_is_known(attention) && window_is_valid(attention) && mask_is_valid(attention) &&
           cap_is_valid(attention) && biases_are_valid(attention) && scales_are_valid(attention);
}

size_t cp_attend_workspace(const struct cp_attention *attention) {
    size_t bytes;
    if (attention == NULL || attention->plan == NULL || !variant_is_known(attention) ||
        check_shape(attention, &bytes) != CP_OK) {
        return 0;
    }
    return bytes;
}

/* The errors of cp_attend(), in their order. */
/*@
  requires readable: attend_readable(attention);
  assigns \nothing;
  ensures accepted: \result == CP_OK <==> attend_accepted(attention);
  ensures error: \result != CP_OK ==> attend_refused(attention, \result);
*/
static int check(const struct cp_attention *attention) {
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
    return attention->workspace_size < bytes ? CP_ERROR_WORKSPACE : CP_OK;
}

int cp_attend(const struct cp_attention *attention) {
    int status = check(attention);
    if (status != CP_OK) {
        return status;
    }
    //@ ghost elements_are_countable(attention);
    cp_chunk_first(attention);
    //@ assert same: attention->scale == \at(attention->scale, Pre);
    /*@ assert tpp_6: queries_readable(*attention,
          first_row(attention->query_begin, attention->plan->n_sequences)) &&
          keys_readable(*attention, *attention->plan); */
    cp_sequence_first(attention);
    return CP_OK;
}
