/* SPDX-License-Identifier: Apache-2.0 */
/* RUNS-6, proved from the predicates alone: the plan of a tree is a valid plan of runs, and so is
 * any valid plan of a tree whose ranges nest (TREE-5). And what the phases use of a plan is so in
 * each valid plan of runs, and in each valid plan of a tree. Each ghost function is a lemma: its
 * contract is the statement, its body the proof; a loop is an induction. */
#include "chunkproof/plan.h"

#ifdef __FRAMAC__
#include "proofs/logic/plan_of_runs.h"
#endif

/*@
  // TREE-5: of two descriptors that serve a sequence the upper one begins no later.
  predicate plan_nested(struct cp_plan p) =
    \forall integer i, j, s; 0 <= i < p.n_shared ==> 0 <= j < p.n_shared ==>
      plan_serves(p, i, s) ==> plan_serves(p, j, s) ==> plan_depth(p, i) < plan_depth(p, j) ==>
      p.shared[i].begin <= p.shared[j].begin;

  // The first n descriptors give sequence s the chunk at depth d of its path; the first k chunks of
  // it, and no others.
  predicate given_depth(struct cp_plan p, integer s, integer n, integer d) =
    \exists integer i; 0 <= i < n && plan_serves(p, i, s) && plan_depth(p, i) == d;
  predicate given_to(struct cp_plan p, integer s, integer n, integer k) =
    (\forall integer i; 0 <= i < n ==> plan_serves(p, i, s) ==> plan_depth(p, i) < k) &&
    (\forall integer d; 0 <= d < k ==> given_depth(p, s, n, d));
*/

/* ---- A valid plan of runs ---- */

/* A descriptor gives a run of a sequence, and so keys of a chunk. */
/*@ ghost
  /@ requires valid: \valid_read(plan);
     requires ok: runs_ok(*plan);
     assigns \nothing;
     ensures used: runs_used(*plan); @/
  void runs_are_used(const struct cp_plan *plan) {
    /@ loop invariant i: 0 <= i <= plan->n_shared;
       loop invariant give: runs_all_give(*plan, i);
       loop assigns i;
       loop variant plan->n_shared - i; @/
    for (int i = 0; i < plan->n_shared; i++) {
      /@ assert list: runs_served(*plan, i); @/
      int s = plan->served[plan->shared[i].begin];
      /@ loop invariant n: 0 <= n <= i && 0 <= given(*plan, s, n);
         loop assigns n;
         loop variant i - n; @/
      for (int n = 0; n < i; n++) {
        /@ assert next: runs_serves(*plan, n, s) || !runs_serves(*plan, n, s); @/
      }
      /@ assert next: runs_comes_next(*plan, i, s); @/
      /@ assert runs: runs_list(*plan, s); @/
      /@ assert run: run_ok(*plan, plan->sequence[s].run[given(*plan, s, i)]); @/
    }
  }
*/

/* ---- A valid plan of a tree ---- */

/* A path is a list of runs. */
/*@ ghost
  /@ requires valid: \valid_read(plan);
     requires sequence: 0 <= s < CP_MAX_SEQUENCES;
     requires path: plan_sizes(*plan) && plan_path(*plan, s) && plan_length(*plan, s);
     assigns \nothing;
     ensures runs: runs_list(*plan, s); @/
  void path_has_runs(const struct cp_plan *plan, int s) {
    int n = plan->sequence[s].n_chunks, c = plan->chunk_size;
    /@ assert bound: \forall integer k; 0 <= k <= CP_MAX_DEPTH ==>
         0 <= key_at(k, c) <= CP_MAX_DEPTH * CP_MAX_CHUNK_SIZE; @/
    /@ assert last: 0 < n ==> key_at(n, c) == key_at(n - 1, c) + c; @/
    /@ assert keys: \forall integer k; 0 <= k < n ==> plan_run(*plan, s, k); @/
    /@ assert run: \forall integer k; 0 <= k < n ==> 1 <= plan_tokens(*plan, s, k) <= c; @/
    /@ loop invariant k: 0 <= k <= n;
       loop invariant full: k < n ==> run_tokens(*plan, s, k) == key_at(k, c);
       loop invariant all: k == n ==> run_tokens(*plan, s, k) == plan->sequence[s].n_tokens;
       loop assigns k;
       loop variant n - k; @/
    for (int k = 0; k < n; k++) {
      /@ assert next: key_at(k + 1, c) == key_at(k, c) + c; @/
      /@ assert run: plan_run(*plan, s, k); @/
    }
    /@ assert ok: \forall integer k; 0 <= k < n ==> run_ok(*plan, plan->sequence[s].run[k]); @/
    /@ assert ordered: \forall integer j, k; 0 <= j < k < n ==>
         key_at(j, c) + c <= key_at(k, c); @/
    /@ assert apart: \forall integer j, k; 0 <= j < k < n ==>
         runs_apart(plan->sequence[s].run[j], plan->sequence[s].run[k]); @/
  }
*/

/*@ ghost
  /@ requires valid: \valid_read(plan);
     requires ok: plan_ok(*plan);
     assigns \nothing;
     ensures used: runs_used(*plan); @/
  void tree_plan_is_used(const struct cp_plan *plan) {
    /@ loop invariant s: 0 <= s <= plan->n_sequences;
       loop invariant lists: runs_lists(*plan, s);
       loop assigns s;
       loop variant plan->n_sequences - s; @/
    for (int s = 0; s < plan->n_sequences; s++) {
      path_has_runs(plan, s);
    }
    /@ loop invariant i: 0 <= i <= plan->n_shared;
       loop invariant served: runs_all_served(*plan, i);
       loop invariant give: runs_all_give(*plan, i);
       loop assigns i;
       loop variant plan->n_shared - i; @/
    for (int i = 0; i < plan->n_shared; i++) {
      /@ assert descriptor: plan_descriptor(*plan, i); @/
      /@ assert list: runs_served(*plan, i); @/
      /@ assert gives: runs_gives(*plan, i); @/
    }
  }
*/

/* Whom a range serves, a list serves. */
/*@ ghost
  /@ requires valid: \valid_read(plan);
     requires list: plan_list(*plan) && plan_descriptors(*plan, plan->n_shared);
     assigns \nothing;
     ensures same: \forall integer i, s; 0 <= i < plan->n_shared ==>
       (runs_serves(*plan, i, s) <==> plan_serves(*plan, i, s)); @/
  void range_is_list(const struct cp_plan *plan) {
    /@ assert inside: \forall integer i; 0 <= i < plan->n_shared ==> plan_descriptor(*plan, i); @/
    /@ assert range: \forall integer i, s; 0 <= i < plan->n_shared ==> plan_serves(*plan, i, s) ==>
         plan->served[s] == s; @/
  }
*/

/* Descriptor n gives sequence s the chunk that comes next on its path. */
/*@ ghost
  /@ requires valid: \valid_read(plan);
     requires ok: plan_ok(*plan) && plan_nested(*plan);
     requires pair: 0 <= n < plan->n_shared && plan_serves(*plan, n, s);
     requires before: 0 <= k && given_to(*plan, s, n, k);
     assigns \nothing;
     ensures next: plan_depth(*plan, n) == k;
     ensures then: given_to(*plan, s, n + 1, k + 1); @/
  void depth_comes_next(const struct cp_plan *plan, int n, int s, int k) {
    /@ assert descriptor: plan_descriptor(*plan, n); @/
    /@ assert path: plan_on_path(*plan, n, s); @/
    /@ assert apart: \forall integer i; 0 <= i < n ==> plan_depth(*plan, i) ==
         plan_depth(*plan, n) ==> plan->shared[i].end <= plan->shared[n].begin; @/
    /@ assert earlier: plan_depth(*plan, n) < k ==>
         given_depth(*plan, s, n, plan_depth(*plan, n)); @/
    /@ assert not_above: !(plan_depth(*plan, n) < k); @/
    /@ assert covered: k < plan_depth(*plan, n) ==> plan_covered(*plan, s, k); @/
    /@ assert key: \forall integer j; 0 <= j < plan->n_shared ==>
         plan_depth(*plan, j) < plan_depth(*plan, n) ==>
         plan->shared[j].position < plan->shared[n].position; @/
    /@ assert sorted: \forall integer j; n < j < plan->n_shared ==> plan_before(*plan, n, j); @/
    /@ assert nested: \forall integer j; n < j < plan->n_shared ==> plan_serves(*plan, j, s) ==>
         plan_depth(*plan, j) < plan_depth(*plan, n) ==>
         plan->shared[j].begin <= plan->shared[n].begin; @/
    /@ assert not_behind: \forall integer j; n < j < plan->n_shared ==> plan_serves(*plan, j, s) ==>
         !(plan_depth(*plan, j) < plan_depth(*plan, n)); @/
    /@ assert not_below: !(k < plan_depth(*plan, n)); @/
    /@ assert its: given_depth(*plan, s, n + 1, k); @/
    /@ assert more: \forall integer d; given_depth(*plan, s, n, d) ==>
         given_depth(*plan, s, n + 1, d); @/
    /@ assert upper: \forall integer d; 0 <= d < k ==> given_depth(*plan, s, n + 1, d); @/
  }
*/

/* The run of a descriptor is that of its chunk on a path. */
/*@ ghost
  /@ requires valid: \valid_read(plan);
     requires ok: plan_ok(*plan);
     requires pair: 0 <= i < plan->n_shared && plan_serves(*plan, i, s);
     requires given: given(*plan, s, i) == plan_depth(*plan, i);
     assigns \nothing;
     ensures next: runs_comes_next(*plan, i, s); @/
  void run_is_on_path(const struct cp_plan *plan, int i, int s) {
    /@ assert descriptor: plan_descriptor(*plan, i); @/
    /@ assert on_path: plan_on_path(*plan, i, s); @/
    /@ assert path: plan_path(*plan, s) && plan_length(*plan, s); @/
    /@ assert run: plan_run(*plan, s, plan_depth(*plan, i)); @/
    /@ assert key: key_at(plan_depth(*plan, i) + 1, plan->chunk_size) ==
         key_at(plan_depth(*plan, i), plan->chunk_size) + plan->chunk_size; @/
    /@ assert full: plan_tokens(*plan, s, plan_depth(*plan, i)) == plan->chunk_size; @/
  }
*/

/* All of one sequence. */
/*@ ghost
  /@ requires valid: \valid_read(plan);
     requires ok: plan_ok(*plan) && plan_nested(*plan);
     requires sequence: 0 <= s < plan->n_sequences;
     assigns \nothing;
     ensures next: \forall integer i; 0 <= i < plan->n_shared ==> plan_serves(*plan, i, s) ==>
       runs_comes_next(*plan, i, s);
     ensures all: given(*plan, s, plan->n_shared) == plan->sequence[s].n_shared; @/
  void path_is_given(const struct cp_plan *plan, int s) {
    int k = 0;
    range_is_list(plan);
    /@ loop invariant n: 0 <= n <= plan->n_shared && 0 <= k <= n;
       loop invariant given: given(*plan, s, n) == k;
       loop invariant to: given_to(*plan, s, n, k);
       loop invariant next: \forall integer i; 0 <= i < n ==> plan_serves(*plan, i, s) ==>
         runs_comes_next(*plan, i, s);
       loop assigns n, k;
       loop variant plan->n_shared - n; @/
    for (int n = 0; n < plan->n_shared; n++) {
      if (plan->shared[n].begin <= s && s < plan->shared[n].end) {
        depth_comes_next(plan, n, s, k);
        run_is_on_path(plan, n, s);
        k++;
      } else {
        /@ assert same: given_to(*plan, s, n, k) && !plan_serves(*plan, n, s); @/
        /@ assert more: \forall integer d; given_depth(*plan, s, n, d) ==>
             given_depth(*plan, s, n + 1, d); @/
        /@ assert upper: \forall integer d; 0 <= d < k ==> given_depth(*plan, s, n + 1, d); @/
        /@ assert to: given_to(*plan, s, n + 1, k); @/
      }
    }
    /@ assert to: given_to(*plan, s, plan->n_shared, k); @/
    /@ assert covered: k < plan->sequence[s].n_shared ==> plan_covered(*plan, s, k); @/
    /@ assert most: plan->sequence[s].n_shared <= k; @/
    /@ assert on_path: \forall integer i; 0 <= i < plan->n_shared ==> plan_serves(*plan, i, s) ==>
         plan_on_path(*plan, i, s); @/
    /@ assert given: 0 < k ==> given_depth(*plan, s, plan->n_shared, k - 1); @/
    /@ assert last: 0 < k ==> k - 1 < plan->sequence[s].n_shared; @/
  }
*/

/* RUNS-6 */
/*@ ghost
  /@ requires valid: \valid_read(plan);
     requires ok: plan_ok(*plan) && plan_nested(*plan);
     assigns \nothing;
     ensures runs_6: runs_ok(*plan); @/
  void nested_plan_has_runs(const struct cp_plan *plan) {
    tree_plan_is_used(plan);
    /@ loop invariant s: 0 <= s <= plan->n_sequences;
       loop invariant next: \forall integer i, r; 0 <= i < plan->n_shared ==> 0 <= r < s ==>
         plan_serves(*plan, i, r) ==> runs_comes_next(*plan, i, r);
       loop invariant all: runs_all_given(*plan, s);
       loop assigns s;
       loop variant plan->n_sequences - s; @/
    for (int s = 0; s < plan->n_sequences; s++) {
      path_is_given(plan, s);
    }
    /@ assert inside: \forall integer i; 0 <= i < plan->n_shared ==> plan_descriptor(*plan, i); @/
    /@ assert served: \forall integer i, at; 0 <= i < plan->n_shared ==>
         plan->shared[i].begin <= at < plan->shared[i].end ==>
         plan->served[at] == at && plan_serves(*plan, i, at); @/
    /@ assert next: runs_come_next(*plan, plan->n_shared); @/
  }
  /@ requires valid: \valid_read(plan) && \valid_read(tree);
     requires tree: tree_ok(*tree);
     requires of_tree: plan_of(*plan, *tree) && plan_ok(*plan);
     assigns \nothing;
     ensures runs_6: runs_ok(*plan); @/
  void plan_has_runs(const struct cp_plan *plan, const struct cp_tree *tree) {
    /@ assert describes: \forall integer i; 0 <= i < plan->n_shared ==>
         plan_describes(*plan, *tree, i); @/
    /@ assert depth: \forall integer i; 0 <= i < plan->n_shared ==>
         plan_depth(*plan, i) == tree->depth[plan->shared[i].chunk]; @/
    /@ assert path: \forall integer i, s; 0 <= i < plan->n_shared ==> plan_serves(*plan, i, s) ==>
         0 <= s < tree->n_sequences && 0 <= plan_depth(*plan, i) < tree_depth(*tree, s) &&
         tree_chunk(*tree, s, plan_depth(*plan, i)) == plan->shared[i].chunk; @/
    /@ assert nested: plan_nested(*plan); @/
    nested_plan_has_runs(plan);
  }
*/
