/* SPDX-License-Identifier: Apache-2.0 */
/* What the checks (attend.c) and the phases (workspace.c) must agree on: query rows and
 * workspace. */
#ifndef CHUNKPROOF_REF_ATTENTION_INTERNAL_H
#define CHUNKPROOF_REF_ATTENTION_INTERNAL_H

#include <limits.h>
#include <stdint.h>

#include "chunkproof/attention.h"

_Static_assert(SIZE_MAX / INT_MAX >= CP_MAX_CHUNKS,
               "query rows of all shared chunks are countable");

/* Rows of d_v numbers that follow the query in the workspace (two_phase.h). */
#define CP_SCRATCH_ROWS 3

/* The first query row of sequence s; for s = b, the number of query rows (PREFILL-1). */
/*@
  requires valid: \valid_read(attention);
  requires valid_ranges: attention->query_begin == \null || \valid_read(attention->query_begin + s);
  assigns \nothing;
  ensures row: \result == first_row(attention->query_begin, s);
*/
static inline int cp_first_row(const struct cp_attention *attention, int s) {
    return attention->query_begin == NULL ? s : attention->query_begin[s];
}

#ifdef __FRAMAC__
#include "proofs/logic/attention_rows.h"
#endif

/* The query rows of the sequences served[begin .. end) of a plan, of which none is there twice
 * (RUNS-5). With three rows in sequence 0 and one in 2, a list 0 2 has four. */
/*@
  requires valid: \valid_read(attention) && \valid_read(plan);
  requires list: list_inside(*plan, begin, end);
  requires ranges: ranges_ok(*attention, *plan);
  assigns \nothing;
  ensures rows: \result == entry_row(attention->query_begin, *plan, end) -
    entry_row(attention->query_begin, *plan, begin);
*/
size_t cp_rows_served(const struct cp_attention *attention, const struct cp_plan *plan, int begin,
                      int end);

/* Query rows that have partial results in the workspace, h each; a row counts once for each shared
 * chunk when every result is kept. The sum cannot overflow: see the assertion above. */
/*@
  requires valid: \valid_read(attention) && \valid_read(attention->plan);
  requires sizes: runs_sizes(*attention->plan);
  requires lists: runs_all_served(*attention->plan, attention->plan->n_shared);
  requires ranges: ranges_ok(*attention, *attention->plan);
  assigns \nothing;
  ensures tpp_4: \result == partial_rows(*attention, *attention->plan);
*/
static inline size_t cp_partial_rows(const struct cp_attention *attention) {
    const struct cp_plan *plan = attention->plan;
    size_t n = 0;
    if (attention->variant == CP_MERGE_AT_ONCE) {
        return (size_t)cp_first_row(attention, plan->n_sequences);
    }
    /*@ loop invariant i: 0 <= i <= plan->n_shared;
        loop invariant n: n == part_row(attention->query_begin, *plan, i);
        loop invariant countable: 0 <= n <= i * INT_MAX;
        loop assigns i, n; loop variant plan->n_shared - i; */
    for (int i = 0; i < plan->n_shared; i++) {
        //@ ghost list_is_countable(attention, plan, i);
        size_t rows = cp_rows_served(attention, plan, plan->shared[i].begin, plan->shared[i].end);
        //@ assert covered: rows == covered_rows(attention->query_begin, *plan, i) <= INT_MAX;
        n += rows;
    }
    return n;
}

#endif
