/* SPDX-License-Identifier: Apache-2.0 */
/* The clauses of spec/pool.md as predicates over a struct cp_pool. Provers alone read this file. */
#ifndef CHUNKPROOF_LOGIC_POOL_H
#define CHUNKPROOF_LOGIC_POOL_H

#include "chunkproof/pool.h"

/*@
  // POOL-1: the size is within the build-time bound.
  predicate pool_size(struct cp_pool p) =
    1 <= p.capacity <= CP_MAX_CHUNKS && 0 <= p.n_free <= p.capacity;

  // POOL-2: perm is a permutation of the chunks and pos its inverse. Hence free and used chunks
  // partition the pool and no chunk is listed twice.
  predicate pool_perm(struct cp_pool p) =
    \forall integer i; 0 <= i < p.capacity ==>
      0 <= p.perm[i] < p.capacity && p.pos[p.perm[i]] == i;

  predicate pool_pos(struct cp_pool p) =
    \forall integer x; 0 <= x < p.capacity ==>
      0 <= p.pos[x] < p.capacity && p.perm[p.pos[x]] == x;

  predicate pool_ok(struct cp_pool p) = pool_size(p) && pool_perm(p) && pool_pos(p);

  // Chunk x is in use.
  predicate pool_used(struct cp_pool p, integer x) =
    0 <= x < p.capacity && p.n_free <= p.pos[x];

  // Every chunk but x is used in a exactly when it is used in b.
  predicate pool_same_but(struct cp_pool a, struct cp_pool b, integer x) =
    \forall integer y; y != x ==> (pool_used(b, y) <==> pool_used(a, y));

  // POOL-3: b is a with its last free chunk, x, in use.
  predicate pool_taken(struct cp_pool a, struct cp_pool b, integer x) =
    b.n_free == a.n_free - 1 && x == a.perm[a.n_free - 1] &&
    !pool_used(a, x) && pool_used(b, x) && pool_same_but(a, b, x);

  // POOL-4: b is a with chunk x released; the other free chunks stay in their order.
  predicate pool_released(struct cp_pool a, struct cp_pool b, integer x) =
    b.capacity == a.capacity && b.n_free == a.n_free + 1 && !pool_used(b, x) &&
    pool_same_but(a, b, x) &&
    (\forall integer i; 0 <= i < a.n_free ==> b.perm[i] == a.perm[i]);
*/

#endif
