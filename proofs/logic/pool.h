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
*/

#endif
