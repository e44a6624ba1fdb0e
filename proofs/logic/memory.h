/* SPDX-License-Identifier: Apache-2.0 */
/* What is known of memory from the system (proofs/SOUNDNESS.md). Provers alone read this file. */
#ifndef CHUNKPROOF_LOGIC_MEMORY_H
#define CHUNKPROOF_LOGIC_MEMORY_H

/*@
  axiomatic Memory {
    // The system has refused so many bytes. Nothing else is known of it; cp_memory_new() alone says
    // so, and whoever reports that there is no memory has asked it for this many.
    predicate memory_refused(integer bytes);
  }
*/

#endif
