/* SPDX-License-Identifier: Apache-2.0 */
/* Online softmax (spec/softmax.md): partial attention over some keys as a state (m, n, o)
 * (MERGE-1), and the merge of two states. All numbers are double.
 *
 *   m   running maximum of the scores          (the papers' m)
 *   n   normaliser, sum of exp(score - m)      (the papers' n)
 *   o   unnormalised output, sum of exp(score - m) * v, d numbers
 *
 * n == 0 means "no key yet" (MERGE-2); then m says nothing and is kept 0, and o is 0. A state with
 * a key has n >= 1, because the key with the largest score adds exp(0). */
#ifndef CHUNKPROOF_SOFTMAX_H
#define CHUNKPROOF_SOFTMAX_H

#include <stddef.h>

#include "chunkproof/limits.h"
#include "chunkproof/number.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A state together with its o: o[0 .. d). */
struct cp_state {
    double m;
    double n;
};

#ifdef __FRAMAC__
#include "proofs/logic/softmax.h"
#endif

/* scale * (q . k), added up from the first element on (SOFTMAX-1). */
/*@
  requires valid: \valid_read(q + (0 .. d - 1)) && \valid_read(k + (0 .. d - 1));
  requires size: 0 <= d;
  assigns \nothing;
  ensures softmax_1: \result == scale * dot_of(q, k, d);
*/
double cp_score(const double *q, const double *k, int d, double scale);

/* The state of no keys (MERGE-2). */
/*@
  requires valid: \valid(state) && \valid(o + (0 .. d - 1));
  requires size: 0 <= d;
  requires apart: \separated(state, o + (0 .. d - 1));
  assigns *state, o[0 .. d - 1];
  ensures merge_2_ok: state_ok(*state, o, d);
  ensures merge_2_no_key: state_has_no_key(*state);
  ensures merge_2_zero: \forall integer i; 0 <= i < d ==> is_zero(o[i]);
*/
void cp_state_empty(struct cp_state *state, double *o, int d);

/* partial_attn (the papers' Eqn 1) for one query row: (state, o) of the keys
 * first .. first + n_keys - 1 of k and v, which are rows of d numbers of `type` (number.h); row
 * `first` begins at element first * d. n_keys = 0 gives the empty state. n_keys <=
 * CP_MAX_CHUNK_SIZE (MERGE-3). */
/*@
  requires valid: \valid(state) && \valid(o + (0 .. d - 1)) && \valid_read(q + (0 .. d - 1));
  requires size: 0 <= d && 0 <= n_keys <= CP_MAX_CHUNK_SIZE;
  requires places: rows_fit(first + n_keys, d);
  requires tpp_6: keys_and_values((void *)k, (void *)v, type, type, first, n_keys, d, d,
    d);
  requires apart: \separated(state, o + (0 .. d - 1), q + (0 .. d - 1));
  assigns *state, o[0 .. d - 1];
  ensures merge_2_ok: state_ok(*state, o, d);
  ensures merge_2_no_key: n_keys == 0 ==> state_has_no_key(*state);
  ensures merge_2_has_key: n_keys > 0 ==> state_has_key(*state);
  ensures merge_3_maximum: is_maximum{Pre}(q, (void *)k, type, first, d,
    only_scaled(scale), n_keys, state->m);
  ensures merge_3_sums: key_sums{Pre,Post}(*state, o, q, (void *)k, (void *)v, type, type, first,
    d, d, d, only_scaled(scale), n_keys);
*/
void cp_partial_attn(struct cp_state *state, double *o, const double *q, const void *k,
                     const void *v, int type, size_t first, int n_keys, int d, double scale);

/* attn_reduce (the papers' Eqn 2): adds the keys of (part, part_o) to (state, o). Exactly
 * commutative; the empty state is its identity, exactly; no NaN from two empty states (MERGE-4,
 * MERGE-5). */
/*@
  requires valid: \valid(state) && \valid(o + (0 .. d - 1)); requires size: 0 <= d;
  requires valid_part: \valid_read(part) && \valid_read(part_o + (0 .. d - 1));
  requires apart: \separated(state, o + (0 .. d - 1), part, part_o + (0 .. d - 1));
  requires ok: state_ok(*state, o, d); requires ok_part: state_ok(*part, part_o, d);
  assigns *state, o[0 .. d - 1];
  ensures merge_2_ok: state_ok(*state, o, d);
  ensures merge_4_sums: sums_added{Pre,Post}(\old(*state), *state, o, *part, part_o, d);
  ensures merge_4_maximum: has_larger_maximum(\old(*state), *state, *part);
  ensures merge_5_right: is_zero(part->n) ==> *state == \old(*state);
  ensures merge_5_right_o: is_zero(part->n) ==> numbers_same{Pre,Post}(o, d);
  ensures merge_5_left: is_zero(\old(state->n)) ==> same_state(*state, o, *part, part_o, d);
*/
void cp_attn_reduce(struct cp_state *state, double *o, const struct cp_state *part,
                    const double *part_o, int d);

/* out = o / n, or zeros for the empty state (MERGE-6). Returns the log-sum-exp m + log n (nats), or
 * -infinity for the empty state (MERGE-7). */
/*@
  requires valid: \valid_read(state) && \valid_read(o + (0 .. d - 1)); requires size: 0 <= d;
  requires valid_out: \valid(out + (0 .. d - 1)); requires ok: state_ok(*state, o, d);
  requires apart: \separated(out + (0 .. d - 1), state) &&
    \separated(out + (0 .. d - 1), o + (0 .. d - 1));
  assigns out[0 .. d - 1];
  behavior no_key: assumes is_zero(state->n);
    ensures merge_6_zeros: \forall integer i; 0 <= i < d ==> is_zero(out[i]);
    ensures merge_7_nothing: minus_infinity(\result);
  behavior keys: assumes !is_zero(state->n);
    ensures merge_6_mean: \forall integer i; 0 <= i < d ==> is_mean(out[i], o[i], state->n);
    ensures merge_7_log: e(\result) == state_weight(*state);
  complete behaviors; disjoint behaviors;
*/
double cp_finish(const struct cp_state *state, const double *o, double *out, int d);

#ifdef __cplusplus
}
#endif

#endif
