/* SPDX-License-Identifier: Apache-2.0 */
/* Online softmax (spec/softmax.md): partial attention over some keys as a state (m, n, o), and the
 * merge of two states. All in double.
 *
 *   m   running maximum of the scores          (the papers' m)
 *   n   normaliser, sum of exp(score - m)      (the papers' n)
 *   o   unnormalised output, sum of exp(score - m) * v, d numbers
 *
 * n == 0 means "no key yet" (MERGE-2); m then says nothing and is kept 0, and o is 0. A state with a
 * key has n >= 1, because the key with the largest score adds exp(0).
 */
#ifndef CHUNKPROOF_SOFTMAX_H
#define CHUNKPROOF_SOFTMAX_H

#include <stddef.h>

/* A state with its o beside it: o[0 .. d). */
struct cp_state {
    double m;
    double n;
};

/* scale * (q . k), added up from the first element on (SOFTMAX-1). */
double cp_score(const double *q, const double *k, int d, double scale);

/* The state of no keys. */
void cp_state_empty(struct cp_state *state, double *o, int d);

/* partial_attn (the papers' Eqn 1) for one query row: (state, o) of the keys
 * first .. first + n_keys - 1 of k and v, which are rows of d numbers of `type` (number.h); row
 * `first` begins at element first * d. n_keys = 0 gives the empty state. n_keys <= CP_MAX_CHUNK_SIZE
 * (MERGE-3). */
void cp_partial_attn(struct cp_state *state, double *o, const double *q, const void *k,
                     const void *v, int type, size_t first, int n_keys, int d, double scale);

/* attn_reduce (the papers' Eqn 2): adds the keys of (part, part_o) to (state, o). Exactly commutative;
 * the empty state is its identity, exactly; no NaN from two empty states (MERGE-4, MERGE-5). */
void cp_attn_reduce(struct cp_state *state, double *o, const struct cp_state *part,
                    const double *part_o, int d);

/* out = o / n, or zeros for the empty state (MERGE-6). Returns the log-sum-exp m + log n (nats), or
 * -infinity for the empty state (MERGE-7). */
double cp_finish(const struct cp_state *state, const double *o, double *out, int d);

#endif
