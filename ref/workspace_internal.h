/* SPDX-License-Identifier: Apache-2.0 */
/* The workspace of the two phases, and the places in it. */
#ifndef CHUNKPROOF_REF_WORKSPACE_INTERNAL_H
#define CHUNKPROOF_REF_WORKSPACE_INTERNAL_H

#include "chunkproof/two_phase.h"

#include "attention_internal.h"

/* The parts of the workspace. */
struct workspace {
    size_t n_partials;
    struct cp_state *state; /* [n_partials] */
    double *o;              /* [n_partials][d_v] */
    double *q;              /* [d]: a query row, as doubles */
    double *part_o;         /* [d_v]: o of a state that is merged at once */
    double *row_o;          /* [d_v]: o of the query row and head at work */
    double *out;            /* [d_v]: its result o / n, before rounding; before that, kept_o */
};

#ifdef __FRAMAC__
#include "proofs/logic/workspace.h"
#endif

/* ---- Places ---- */

/* Returns where the row with this number begins. */
/*@
  requires size: 0 <= d && 0 <= row_at(row, d) <= 0x7FFFFFFFFFFFFFFF;
  assigns \nothing;
  ensures place: \result == row_at(row, d);
*/
static inline size_t cp_row_begin(size_t row, int d) {
    /*@ assert product: row * d == row_at(row, d); */
    return row * (size_t)d;
}

/* Returns the o of partial result `at`. */
/*@
  requires valid: \valid_read(w);
  requires size: 0 <= d && 0 <= row_at(at, d) <= 0x7FFFFFFFFFFFFFFF;
  assigns \nothing;
  ensures of: \result == part_of(w->o, d, at);
*/
static inline double *cp_part_o(const struct workspace *w, size_t at, int d) {
    return w->o + cp_row_begin(at, d);
}

/* Returns where the d numbers of a query row and head begin in an array [query rows][h][d]: in Q,
 * or in out with d_v for d. */
/*@
  requires valid: \valid_read(attention);
  requires heads: attention_heads(*attention);
  requires place: 0 <= row && 0 <= head < attention->n_heads && 1 <= d;
  requires countable: row_at(row_at(row + 1, attention->n_heads), d) <= 0x7FFFFFFFFFFFFFFF;
  assigns \nothing;
  ensures place: \result == row_at(row_at(row, attention->n_heads) + head, d);
  ensures inside: \result + d <= row_at(row_at(row + 1, attention->n_heads), d);
*/
size_t cp_row_offset(const struct cp_attention *attention, int row, int head, int d);

/* Cuts the workspace into its parts. */
/*@
  requires valid: \valid_read(attention) && \valid_read(attention->plan);
  requires sizes: runs_sizes(*attention->plan);
  requires lists: runs_all_served(*attention->plan, attention->plan->n_shared);
  requires ranges: ranges_ok(*attention, *attention->plan);
  requires heads: attention_heads(*attention);
  requires workspace: workspace_valid(*attention, *attention->plan);
  assigns \nothing;
  ensures partials: \result.n_partials == n_partials(*attention, *attention->plan);
  ensures state: \result.state == part_states(*attention);
  ensures o: \result.o == part_sums(*attention, *attention->plan);
  ensures ok: workspace_ok(\result, attention->head_dim, attention->value_dim);
  ensures inside: workspace_inside(\result, *attention, *attention->plan);
*/
struct workspace cp_cut_workspace(const struct cp_attention *attention);

#endif
