/* SPDX-License-Identifier: Apache-2.0 */
/* How far the walk has come, for ref/plan_runs.c. Provers alone read this file. */
#ifndef CHUNKPROOF_LOGIC_PLAN_RUNS_H
#define CHUNKPROOF_LOGIC_PLAN_RUNS_H

#include "proofs/logic/plan_of_runs.h"

/*@
  // RUNS-1: the first n runs of sequence s end at `end` or before; run k is apart from those before
  // it; the first n are as runs_list() says.
  predicate ends_before(struct cp_plan p, integer s, integer n, integer end) =
    0 <= end <= 0x7FFFFFFF && (\forall integer k; 0 <= k < n ==>
      plan_position(p, s, k) + plan_tokens(p, s, k) <= end);
  predicate apart_from_all(struct cp_plan p, integer s, integer k) =
    \forall integer j; 0 <= j < k ==>
      runs_apart(p.sequence[s].run[j], p.sequence[s].run[k]);
  predicate runs_before(struct cp_plan p, integer s, integer n) =
    (\forall integer k; 0 <= k < n ==> run_ok(p, p.sequence[s].run[k])) &&
    (\forall integer k; 0 <= k < n ==> apart_from_all(p, s, k));

  // runs_list() in two parts: the runs of a sequence, and how many of them are shared.
  predicate runs_alone(struct cp_plan p, integer s) =
    0 <= p.sequence[s].n_chunks <= CP_MAX_DEPTH && runs_before(p, s, p.sequence[s].n_chunks) &&
    p.sequence[s].n_tokens == run_tokens(p, s, p.sequence[s].n_chunks);
  predicate all_alone(struct cp_plan p, integer n) =
    \forall integer s; 0 <= s < n ==> runs_alone(p, s);
  predicate shared_among(struct cp_plan p, integer n) =
    \forall integer s; 0 <= s < n ==> 0 <= p.sequence[s].n_shared <= p.sequence[s].n_chunks;

  // RUNS-2: by[s] is at most n; the entries before `at` of the list of descriptor i differ, and
  // by[s] is i + 1 exactly for these.
  predicate served_to{L}(int *by, integer n) =
    \forall integer s; 0 <= s < CP_MAX_SEQUENCES ==> 0 <= by[s] <= n;
  predicate served_before{L}(struct cp_plan p, integer i, integer at, int *by) =
    (\forall integer a; p.shared[i].begin <= a < at ==>
      0 <= p.served[a] < p.n_sequences && by[p.served[a]] == i + 1) &&
    (\forall integer a, b; p.shared[i].begin <= a < b < at ==> p.served[a] != p.served[b]) &&
    (\forall integer s; 0 <= s < CP_MAX_SEQUENCES ==> by[s] == i + 1 ==>
      \exists integer a; p.shared[i].begin <= a < at && p.served[a] == s);

  // RUNS-3: the shared run at this place of sequence s is that of descriptor i; place[s] counts the
  // runs that the first n descriptors have given to s; and of descriptor i its entries before `at`.
  predicate is_next(struct cp_plan p, integer i, integer s, integer place) =
    place < p.sequence[s].n_shared && plan_chunk(p, s, place) == p.shared[i].chunk &&
    plan_tokens(p, s, place) == p.shared[i].n_tokens &&
    plan_position(p, s, place) == p.shared[i].position;
  predicate places_are{L}(struct cp_plan p, integer n, int *place) =
    \forall integer s; 0 <= s < p.n_sequences ==>
      place[s] == given(p, s, n) && 0 <= place[s] <= p.sequence[s].n_shared;
  predicate places_to{L}(struct cp_plan p, integer i, integer at, int *place) =
    (\forall integer s; 0 <= s < p.n_sequences ==> 0 <= place[s] <= p.sequence[s].n_shared) &&
    (\forall integer a; p.shared[i].begin <= a < at ==>
      place[p.served[a]] == given(p, p.served[a], i) + 1) &&
    (\forall integer s; 0 <= s < p.n_sequences ==>
      (\forall integer a; p.shared[i].begin <= a < at ==> p.served[a] != s) ==>
      place[s] == given(p, s, i));
*/

#endif
