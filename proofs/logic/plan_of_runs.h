/* SPDX-License-Identifier: Apache-2.0 */
/* The clauses RUNS-1 to RUNS-3 of spec/runs.md as predicates over a struct cp_plan. Provers alone
 * read this file. */
#ifndef CHUNKPROOF_LOGIC_PLAN_OF_RUNS_H
#define CHUNKPROOF_LOGIC_PLAN_OF_RUNS_H

#include "proofs/logic/plan.h"

/*@
  // Sizes are within their bounds.
  predicate runs_sizes(struct cp_plan p) =
    1 <= p.chunk_size <= CP_MAX_CHUNK_SIZE && 1 <= p.capacity <= CP_MAX_CHUNKS &&
    0 <= p.n_sequences <= CP_MAX_SEQUENCES && 0 <= p.n_shared <= CP_MAX_CHUNKS &&
    0 <= p.n_served <= CP_MAX_SERVED;

  // RUNS-1: a run has keys of a chunk, at positions that can be counted.
  predicate run_ok(struct cp_plan p, struct cp_run run) =
    0 <= run.chunk < p.capacity && 1 <= run.n_tokens <= p.chunk_size && 0 <= run.position &&
    run.position + run.n_tokens <= 0x7FFFFFFF;

  // RUNS-1: no two tokens of two runs have one position.
  predicate runs_apart(struct cp_run one, struct cp_run other) =
    one.position + one.n_tokens <= other.position ||
    other.position + other.n_tokens <= one.position;

  // The keys of the first n runs of sequence s.
  axiomatic RunTokens {
    logic integer run_tokens(struct cp_plan p, integer s, integer n);
    axiom run_tokens_0: \forall struct cp_plan p, integer s; run_tokens(p, s, 0) == 0;
    axiom run_tokens_next: \forall struct cp_plan p, integer s, n; 0 <= n ==>
      run_tokens(p, s, n + 1) == run_tokens(p, s, n) + plan_tokens(p, s, n);
  }

  // RUNS-1: the runs of sequence s; it has as many tokens as they.
  predicate runs_list(struct cp_plan p, integer s) =
    0 <= p.sequence[s].n_shared <= p.sequence[s].n_chunks <= CP_MAX_DEPTH &&
    p.sequence[s].n_tokens == run_tokens(p, s, p.sequence[s].n_chunks) &&
    (\forall integer k; 0 <= k < p.sequence[s].n_chunks ==> run_ok(p, p.sequence[s].run[k])) &&
    (\forall integer j, k; 0 <= j < k < p.sequence[s].n_chunks ==>
      runs_apart(p.sequence[s].run[j], p.sequence[s].run[k]));

  predicate runs_lists(struct cp_plan p, integer n) =
    \forall integer s; 0 <= s < n ==> runs_list(p, s);

  // RUNS-2: the sequences served[begin .. end) are two or more, and none is there twice.
  predicate runs_served(struct cp_plan p, integer i) =
    0 <= p.shared[i].begin <= p.shared[i].end - 2 && p.shared[i].end <= p.n_served &&
    (\forall integer at; p.shared[i].begin <= at < p.shared[i].end ==>
      0 <= p.served[at] < p.n_sequences) &&
    (\forall integer at, by; p.shared[i].begin <= at < by < p.shared[i].end ==>
      p.served[at] != p.served[by]);

  predicate runs_all_served(struct cp_plan p, integer n) =
    \forall integer i; 0 <= i < n ==> runs_served(p, i);

  // Descriptor i serves sequence s.
  predicate runs_serves(struct cp_plan p, integer i, integer s) =
    \exists integer at; p.shared[i].begin <= at < p.shared[i].end && p.served[at] == s;

  // How many of the first n descriptors serve sequence s.
  axiomatic Given {
    logic integer given(struct cp_plan p, integer s, integer n);
    axiom given_0: \forall struct cp_plan p, integer s; given(p, s, 0) == 0;
    axiom given_yes: \forall struct cp_plan p, integer s, n; 0 <= n ==> runs_serves(p, n, s) ==>
      given(p, s, n + 1) == given(p, s, n) + 1;
    axiom given_no: \forall struct cp_plan p, integer s, n; 0 <= n ==> !runs_serves(p, n, s) ==>
      given(p, s, n + 1) == given(p, s, n);
  }

  // RUNS-1: descriptor i has keys of a chunk. Each of the first n has.
  predicate runs_gives(struct cp_plan p, integer i) =
    0 <= p.shared[i].chunk < p.capacity && 1 <= p.shared[i].n_tokens <= p.chunk_size &&
    0 <= p.shared[i].position;
  predicate runs_all_give(struct cp_plan p, integer n) =
    \forall integer i; 0 <= i < n ==> runs_gives(p, i);

  // RUNS-3: descriptor i gives sequence s the run that comes next in its list.
  predicate runs_comes_next(struct cp_plan p, integer i, integer s) =
    given(p, s, i) < p.sequence[s].n_shared &&
    plan_chunk(p, s, given(p, s, i)) == p.shared[i].chunk &&
    plan_tokens(p, s, given(p, s, i)) == p.shared[i].n_tokens &&
    plan_position(p, s, given(p, s, i)) == p.shared[i].position;

  predicate runs_come_next(struct cp_plan p, integer n) =
    \forall integer i, at; 0 <= i < n ==> p.shared[i].begin <= at < p.shared[i].end ==>
      runs_comes_next(p, i, p.served[at]);

  // RUNS-3: and each of the first n sequences has been given all of its shared runs.
  predicate runs_all_given(struct cp_plan p, integer n) =
    \forall integer s; 0 <= s < n ==> given(p, s, p.n_shared) == p.sequence[s].n_shared;

  // A valid plan of runs.
  predicate runs_ok(struct cp_plan p) =
    runs_sizes(p) && runs_lists(p, p.n_sequences) && runs_all_served(p, p.n_shared) &&
    runs_come_next(p, p.n_shared) && runs_all_given(p, p.n_sequences);

  // What the phases use of a plan. A valid plan of runs has it, and a valid plan of a tree
  // (proofs/wp/runs_laws.c).
  predicate runs_used(struct cp_plan p) =
    runs_sizes(p) && runs_lists(p, p.n_sequences) && runs_all_served(p, p.n_shared) &&
    runs_all_give(p, p.n_shared);
*/

#endif
