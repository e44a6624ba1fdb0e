/* SPDX-License-Identifier: Apache-2.0 */
/* Large zeroed memory from the system: how pools of chunks are backed (spec/pool.md, POOL-6). */
#ifndef CHUNKPROOF_MEMORY_H
#define CHUNKPROOF_MEMORY_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

#define CP_ON_DEMAND    0 /* address space only; a page costs memory once it is first written */
#define CP_PREALLOCATED 1 /* every page is written before the call returns */

#ifdef __FRAMAC__
#include "proofs/logic/memory.h"
#endif

/* Returns `bytes` > 0 zeroed bytes, aligned to a page, or NULL. The caller owns the mapping and
 * returns it with cp_memory_free(address, bytes). */
/*@
  requires some: 0 < bytes;
  assigns \result \from bytes;
  ensures valid: \result == \null || \valid((char *)\result + (0 .. bytes - 1));
  ensures refused: \result == \null ==> memory_refused(bytes);
*/
void *cp_memory_new(size_t bytes, int mode);

/*@ assigns \nothing; */
void cp_memory_free(void *address, size_t bytes);

#ifdef __cplusplus
}
#endif

#endif
