/* SPDX-License-Identifier: Apache-2.0 */
/* Values for names that have none in include/, ref/ and proofs/logic/. */
/*@
  // Axioms there; the same numbers.
  logic integer tree_needed{L}(struct cp_tree t, int *at, integer n) =
    \sum(0, n - 1, \lambda integer j; tree_needs_chunk(t, at[j]) ? 1 : 0);

  logic integer run_tokens(struct cp_plan p, integer s, integer n) =
    \sum(0, n - 1, \lambda integer k; plan_tokens(p, s, k));
  // Of lists that have no sequence twice, to which alone it is applied.
  logic integer given(struct cp_plan p, integer s, integer n) =
    \sum(0, n - 1, \lambda integer i;
      \sum(p.shared[i].begin, p.shared[i].end - 1, \lambda integer at;
        p.served[at] == s ? 1 : 0));

  logic integer owner_sum(struct cp_batch b, integer o, integer n) =
    \sum(0, n - 1, \lambda integer k; owner_tokens(b, o, k));
  logic integer items_runs(struct cp_batch b, integer p, integer n) =
    \sum(0, n - 1, \lambda integer i; owner_runs(b, prompt_item(b, p, i)));
  logic integer items_sum(struct cp_batch b, integer p, integer n) =
    \sum(0, n - 1, \lambda integer i;
      owner_sum(b, prompt_item(b, p, i), owner_runs(b, prompt_item(b, p, i))));
  logic integer spans_runs{L}(struct cp_span *a, integer n, integer c) =
    \sum(0, n - 1, \lambda integer i; cut_into(a[i].n_tokens, c));
  // Of prompts that have no item twice.
  logic integer users(struct cp_batch b, integer item, integer n) =
    \sum(0, n - 1, \lambda integer p;
      \sum(0, b.prompt[p].n_items - 1, \lambda integer i;
        prompt_item(b, p, i) == item ? 1 : 0));
  logic integer room_of(struct cp_batch b, integer n) =
    \sum(0, n - 1, \lambda integer i; may_leave(b, i) ? b.item[i].n_runs : 0);
  // Of prompts that have no item twice.
  logic integer shared_part(struct cp_batch b, integer p, integer m, integer n, integer what) =
    \sum(0, m - 1, \lambda integer i;
      item_shared(b, prompt_item(b, p, i)) && prompt_item(b, p, i) < n
        ? item_size(b, prompt_item(b, p, i), what) : 0);
  logic integer alone_part(struct cp_batch b, integer p, integer n, integer what) =
    \sum(0, n - 1, \lambda integer i;
      item_shared(b, prompt_item(b, p, i)) ? 0 : item_size(b, prompt_item(b, p, i), what));
  logic integer descriptors(struct cp_batch b, integer n) =
    \sum(0, n - 1, \lambda integer i; item_shared(b, i) ? owner_runs(b, i) : 0);
  logic integer entries(struct cp_batch b, integer n, integer q) =
    \sum(0, q - 1, \lambda integer p; shared_part(b, p, b.prompt[p].n_items, n, 0));
  // The same with bounds that fit an int.
  predicate places_of(struct cp_plan p, integer s, integer from, struct cp_batch b, integer o) =
    \forall integer k; 0 <= k < owner_runs(b, o) ==>
      plan_chunk(p, s, from + k) == owner_chunk(b, o, k) &&
      plan_position(p, s, from + k) == owner_position(b, o, k);
  predicate tokens_of(struct cp_plan p, integer s, integer from, struct cp_batch b, integer o,
                      integer n) =
    \forall integer k; 0 <= k < n ==>
      plan_tokens(p, s, from + k) == owner_tokens(b, o, k);
  predicate item_described(struct cp_plan p, struct cp_batch b, integer i, integer n) =
    \forall integer k; 0 <= k < n ==> describes(p, descriptors(b, i) + k, b, i, k);
  logic integer named_runs{L}(struct cp_batch b, unsigned long long *names, integer n) =
    \sum(0, n - 1, \lambda integer i; owner_runs(b, named(names, i)));
  // Of names that differ.
  logic integer room_beside{L}(struct cp_batch b, unsigned long long *names, integer n,
                               integer upto) =
    \sum(0, upto - 1, \lambda integer i; may_leave(b, i) ? b.item[i].n_runs : 0) -
    \sum(0, n - 1, \lambda integer i;
      may_leave(b, named(names, i)) ? b.item[named(names, i)].n_runs : 0);

  // GMP has no infinities and no NaN: drivers have none.
  predicate finite(real x) = x == x;

  // A quantifier over all chunks there. This is less; where it is a condition, the clause is
  // checked for prompts without hashes only.
  predicate hashes_right{L}(struct cp_tree t, int *token, unsigned long long *hash, integer n) =
    hash == \null;
*/
