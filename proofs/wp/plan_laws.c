/* SPDX-License-Identifier: Apache-2.0 */
/* PLAN-5, proved from the contracts of the tree and the plan alone: what cp_plan_update() requires
 * of plan and tree holds after any operations. Hence a program that builds or updates a plan, and
 * changes the tree only through its operations, may update at any time.
 *
 * Supposed: no counter wraps around. 2^64 changes of a tree take centuries. */
#include "chunkproof/plan.h"

/*@
  // The history of a plan and a tree of the same name: the plan is not newer; and if no path and no
  // range has changed since it was made, it still has the tree's paths.
  predicate plan_kept(struct cp_plan p, struct cp_tree t) = p.stamp.tree == t.stamp.tree ==>
    p.stamp.epoch <= t.stamp.epoch &&
    (p.stamp.epoch == t.stamp.epoch ==> plan_paths_of(p, t));

  // The counters of a tree can still count n changes.
  predicate can_count(struct cp_tree t, integer n) = t.stamp.epoch + n <= 18446744073709551615;

  // A plan depends on paths and ranges only.
  lemma same_shared: \forall struct cp_tree a, b, integer x;
    tree_same_paths(a, b) ==> (tree_shared(a, x) <==> tree_shared(b, x));

  lemma same_sequence: \forall struct cp_plan p, struct cp_tree a, b, integer s;
    tree_same_paths(a, b) ==> tree_constant(a, b) ==> 0 <= s < a.n_sequences ==>
    plan_sequence_of(p, a, s) ==> plan_sequence_of(p, b, s);

  lemma same_descriptor: \forall struct cp_plan p, struct cp_tree a, b, integer i;
    tree_same_paths(a, b) ==> tree_constant(a, b) ==>
    plan_describes(p, a, i) ==> plan_describes(p, b, i);

  lemma same_plan: \forall struct cp_plan p, struct cp_tree a, b;
    tree_same_paths(a, b) ==> tree_constant(a, b) ==>
    plan_paths_of(p, a) ==> plan_paths_of(p, b);
*/

/* A plan that was just built, of a tree. */
/*@
  requires valid: \valid(plan) && \valid_read(tree);
  requires separated: \separated(plan, tree);
  requires ok: tree_ok(*tree);
  assigns *plan;
  ensures kept: plan_kept(*plan, *tree);
*/
void plan_after_build(struct cp_plan *plan, const struct cp_tree *tree) {
    cp_plan_build(plan, tree);
}

/* It may be updated, and that keeps it so. */
/*@
  requires valid: \valid(plan) && \valid_read(tree);
  requires separated: \separated(plan, tree);
  requires ok: tree_ok(*tree);
  requires kept: plan_kept(*plan, *tree);
  assigns *plan;
  ensures of_tree: plan_of(*plan, *tree);
  ensures ok: plan_ok(*plan);
  ensures kept: plan_kept(*plan, *tree);
*/
void plan_after_update(struct cp_plan *plan, const struct cp_tree *tree) {
    cp_plan_update(plan, tree);
}

/* A plan of one tree does not pass for one of another, also when both are new. */
/*@
  requires valid: \valid(plan) && \valid(tree) && \valid(other);
  requires separated: \separated(plan, tree, other);
  requires names: name != another;
  assigns *plan, *tree, *other;
  ensures plan_5_another: \result == 0;
*/
int plan_of_another_tree(struct cp_plan *plan, struct cp_tree *tree, struct cp_tree *other,
                         unsigned long long name, unsigned long long another) {
    cp_tree_init(tree, 1, 1, 0, name);
    cp_tree_init(other, 1, 1, 0, another);
    cp_plan_build(plan, tree);
    return cp_plan_is_current(plan, other->stamp);
}

/* Join, leave and fork change the epoch, or nothing. */
/*@
  requires valid: \valid_read(plan) && \valid(tree) && \valid(joined);
  requires ok: tree_ok(*tree);
  requires tokens: n_tokens > 0 ==> \valid_read(token + (0 .. n_tokens - 1));
  requires hashes: n_tokens > 0 && hash != \null ==>
    \valid_read(hash + (0 .. n_tokens / tree->chunk_size - 1));
  requires separated: \separated(plan, tree, joined) &&
    \separated(tree, token + (0 .. n_tokens - 1)) &&
    \separated(joined, token + (0 .. n_tokens - 1));
  requires counters: can_count(*tree, 1);
  requires kept: plan_kept(*plan, *tree);
  assigns *tree, *joined;
  ensures kept: plan_kept(*plan, *tree);
*/
void plan_after_join(const struct cp_plan *plan, struct cp_tree *tree, const int *token,
                     int n_tokens, unsigned long long salt, long long id,
                     const unsigned long long *hash, struct cp_joined *joined) {
    cp_tree_join(tree, token, n_tokens, salt, id, hash, joined);
}

/*@
  requires valid: \valid_read(plan) && \valid(tree);
  requires separated: \separated(plan, tree);
  requires ok: tree_ok(*tree);
  requires counters: can_count(*tree, 1);
  requires kept: plan_kept(*plan, *tree);
  assigns *tree;
  ensures kept: plan_kept(*plan, *tree);
*/
void plan_after_leave(const struct cp_plan *plan, struct cp_tree *tree, int sequence) {
    cp_tree_leave(tree, sequence);
}

/*@
  requires valid: \valid_read(plan) && \valid(tree) && \valid(forked);
  requires separated: \separated(plan, tree, forked);
  requires ok: tree_ok(*tree);
  requires counters: can_count(*tree, 1);
  requires kept: plan_kept(*plan, *tree);
  assigns *tree, *forked;
  ensures kept: plan_kept(*plan, *tree);
*/
void plan_after_fork(const struct cp_plan *plan, struct cp_tree *tree, int sequence, long long id,
                     struct cp_forked *forked) {
    cp_tree_fork(tree, sequence, id, forked);
}

/* An append changes the epoch, unless all paths and ranges stay. */
/*@
  requires valid: \valid_read(plan) && \valid(tree);
  requires separated: \separated(plan, tree);
  requires ok: tree_ok(*tree);
  requires counters: can_count(*tree, 1);
  requires kept: plan_kept(*plan, *tree);
  assigns *tree;
  ensures kept: plan_kept(*plan, *tree);
*/
void plan_after_append(const struct cp_plan *plan, struct cp_tree *tree, int sequence, int token) {
    cp_tree_append(tree, sequence, token);
}

/*@
  requires valid: \valid_read(plan) && \valid(tree);
  requires ok: tree_ok(*tree);
  requires arguments: n > 0 ==>
    \valid_read(sequence + (0 .. n - 1)) && \valid_read(token + (0 .. n - 1));
  requires separated: \separated(plan, tree) &&
    \separated(tree, sequence + (0 .. n - 1), token + (0 .. n - 1));
  requires counters: can_count(*tree, n);
  requires kept: plan_kept(*plan, *tree);
  assigns *tree;
  ensures kept: plan_kept(*plan, *tree);
*/
void plan_after_append_each(const struct cp_plan *plan, struct cp_tree *tree, int n,
                            const int *sequence, const int *token) {
    cp_tree_append_each(tree, n, sequence, token);
}
