/* SPDX-License-Identifier: Apache-2.0 */
/* BATCH-5: what a prompt may be that joins a batch: the names of its items, the spans of its own
 * tokens, and the room that is left for them. Provers alone read this file. */
#ifndef CHUNKPROOF_LOGIC_BATCH_JOIN_H
#define CHUNKPROOF_LOGIC_BATCH_JOIN_H

#include "proofs/logic/batch_grow.h"

/*@
  // The number of an item is in its name. The first n names are those of items that are there.
  logic integer named{L}(unsigned long long *names, integer i) = names[i] % CP_MAX_ITEMS;
  predicate names_there{L}(struct cp_batch b, unsigned long long *names, integer n) =
    \forall integer i; 0 <= i < n ==> item_has_name(b, named(names, i), names[i]);
  // One of them is that of the item; none of them is that of another's.
  predicate names_have{L}(unsigned long long *names, integer n, integer item) =
    \exists integer i; 0 <= i < n && named(names, i) == item;
  predicate names_differ{L}(unsigned long long *names, integer n) =
    \forall integer i, j; 0 <= i < j < n ==> named(names, i) != named(names, j);

  // None of the first n items has one of `many` positions from `from` on.
  predicate name_avoids{L}(struct cp_batch b, unsigned long long *names, integer i, integer from,
                           integer many) =
    runs_avoid(b, named(names, i), owner_runs(b, named(names, i)), from, many);
  predicate names_avoid{L}(struct cp_batch b, unsigned long long *names, integer n, integer from,
                           integer many) =
    \forall integer i; 0 <= i < n ==> name_avoids(b, names, i, from, many);
  // Item i has no position of those before it; nor has any; nor has one of the spans any of theirs.
  predicate name_apart{L}(struct cp_batch b, unsigned long long *names, integer i) =
    \forall integer k; 0 <= k < owner_runs(b, named(names, i)) ==>
      names_avoid(b, names, i, owner_position(b, named(names, i), k),
                  owner_tokens(b, named(names, i), k));
  predicate names_apart{L}(struct cp_batch b, unsigned long long *names, integer n) =
    \forall integer i; 0 <= i < n ==> name_apart(b, names, i);
  predicate names_avoid_spans{L}(struct cp_batch b, unsigned long long *names, integer n,
                                 struct cp_span *a, integer m) =
    \forall integer i; 0 <= i < m ==> names_avoid(b, names, n, a[i].position, a[i].n_tokens);
  predicate spans_join{L}(struct cp_batch b, unsigned long long *names, integer n,
                          struct cp_span *a, integer m) =
    spans_ok(a, m) && spans_all_apart(a, m) && names_avoid_spans(b, names, n, a, m);

  // BATCH-5: these items and spans can be a prompt; and there is a number for one more.
  predicate join_asked{L}(struct cp_batch b, unsigned long long *names, integer n,
                          struct cp_span *a, integer m) =
    0 <= n && 0 <= m && names_there(b, names, n) && names_apart(b, names, n) &&
    spans_join(b, names, n, a, m);
  predicate join_counted{L}(struct cp_batch b, unsigned long long *names, integer n,
                            struct cp_span *a, integer m) =
    join_asked(b, names, n, a, m) && b.n_prompts < CP_MAX_SEQUENCES;

  // The runs of the first n items. BATCH-1: a prompt has few enough.
  axiomatic NamedRuns {
    logic integer named_runs{L}(struct cp_batch b, unsigned long long *names, integer n)
      reads names[0 .. n - 1];
    axiom named_runs_0{L}: \forall struct cp_batch b, unsigned long long *names;
      named_runs(b, names, 0) == 0;
    axiom named_runs_next{L}: \forall struct cp_batch b, unsigned long long *names, integer n;
      0 <= n ==> named_runs(b, names, n + 1) ==
        named_runs(b, names, n) + owner_runs(b, named(names, n));
  }
  predicate join_fits{L}(struct cp_batch b, unsigned long long *names, integer n,
                         struct cp_span *a, integer m) =
    join_counted(b, names, n, a, m) &&
    named_runs(b, names, n) + spans_runs(a, m, b.chunk_size) <= CP_MAX_DEPTH;

  // BATCH-5, BATCH-6: item i may leave for a prompt of n items: it is none of them. So many chunks
  // have those of the first `upto` items that may.
  predicate may_leave_for{L}(struct cp_batch b, unsigned long long *names, integer n, integer i) =
    may_leave(b, i) && !names_have(names, n, i);
  axiomatic RoomBeside {
    logic integer room_beside{L}(struct cp_batch b, unsigned long long *names, integer n,
                                 integer upto) reads names[0 .. n - 1];
    axiom room_beside_0{L}: \forall struct cp_batch b, unsigned long long *names, integer n;
      room_beside(b, names, n, 0) == 0;
    axiom room_beside_yes{L}:
      \forall struct cp_batch b, unsigned long long *names, integer n, upto; 0 <= upto ==>
        may_leave_for(b, names, n, upto) ==> room_beside(b, names, n, upto + 1) ==
          room_beside(b, names, n, upto) + b.item[upto].n_runs;
    axiom room_beside_no{L}:
      \forall struct cp_batch b, unsigned long long *names, integer n, upto; 0 <= upto ==>
        !may_leave_for(b, names, n, upto) ==> room_beside(b, names, n, upto + 1) ==
          room_beside(b, names, n, upto);
  }
  predicate room_for{L}(struct cp_batch b, unsigned long long *names, integer n, integer chunks) =
    chunks <= b.pool.n_free + room_beside(b, names, n, b.n_items);
  predicate join_has_room{L}(struct cp_batch b, unsigned long long *names, integer n,
                             struct cp_span *a, integer m) =
    join_fits(b, names, n, a, m) && room_for(b, names, n, spans_runs(a, m, b.chunk_size));
*/

#endif
