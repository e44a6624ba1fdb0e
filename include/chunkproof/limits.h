/* SPDX-License-Identifier: Apache-2.0 */
/* Build-time capacities, and what is assumed of the platform.
 *
 * All structures are bounded arrays indexed by small integers. The build fixes the bounds; memory
 * that a run does not use is reserved but never touched (memory.h). To change a bound, build with
 * EXTRA_CFLAGS=-DCP_MAX_...=value. Model checking uses the same headers with tiny bounds; proofs
 * and production use the values below. A library and a program with different bounds do not agree
 * on the structures; therefore `make install` fixes the bounds in the header that it installs. */
#ifndef CHUNKPROOF_LIMITS_H
#define CHUNKPROOF_LIMITS_H

#ifdef __cplusplus
#define CP_STATIC_ASSERT static_assert
#else
#define CP_STATIC_ASSERT _Static_assert
#endif

#include <float.h>

/* Chunks in a pool. */
#ifndef CP_MAX_CHUNKS
#define CP_MAX_CHUNKS 1048576
#endif

/* Sequences alive at once (b <= CP_MAX_SEQUENCES). */
#ifndef CP_MAX_SEQUENCES
#define CP_MAX_SEQUENCES 16384
#endif

/* Chunks on the path of one sequence. With c = 64 this is a context of 131,072 tokens. */
#ifndef CP_MAX_DEPTH
#define CP_MAX_DEPTH 2048
#endif

/* Entries of the lists of a plan, of those whom its descriptors serve (RUNS-2). A list for each
 * descriptor has room: no run of a sequence is in two descriptors (RUNS-3), so that all lists
 * together have no more entries than all sequences have runs. */
#ifndef CP_MAX_SERVED
#define CP_MAX_SERVED (CP_MAX_SEQUENCES * CP_MAX_DEPTH)
#endif

/* Tokens in a chunk (c <= CP_MAX_CHUNK_SIZE). */
#ifndef CP_MAX_CHUNK_SIZE
#define CP_MAX_CHUNK_SIZE 512
#endif

/* Items of modules in a pool. */
#ifndef CP_MAX_ITEMS
#define CP_MAX_ITEMS 16384
#endif

/* Parts of a schema. */
#ifndef CP_MAX_PARTS
#define CP_MAX_PARTS 1048576
#endif

/* Positions of a schema, and of a prompt with what it adds. */
#ifndef CP_MAX_POSITIONS
#define CP_MAX_POSITIONS 1048576
#endif

CP_STATIC_ASSERT(CP_MAX_CHUNKS >= 1 && CP_MAX_CHUNKS <= 1 << 24, "chunk indices are int");
CP_STATIC_ASSERT(CP_MAX_SEQUENCES >= 1 && CP_MAX_SEQUENCES <= 1 << 24, "sequence indices are int");
CP_STATIC_ASSERT(CP_MAX_DEPTH >= 1 && CP_MAX_CHUNK_SIZE >= 1, "a path and a chunk hold something");
CP_STATIC_ASSERT((long long)CP_MAX_DEPTH *CP_MAX_CHUNK_SIZE <= 1 << 30, "token counts are int");
CP_STATIC_ASSERT(CP_MAX_SERVED >= CP_MAX_SEQUENCES, "the list of a tree's plan has room (PLAN-1)");
CP_STATIC_ASSERT(CP_MAX_ITEMS >= 1 && CP_MAX_ITEMS <= 1 << 24, "item numbers are int");
CP_STATIC_ASSERT(CP_MAX_PARTS >= 1 && CP_MAX_PARTS <= 1 << 24, "part numbers are int");
CP_STATIC_ASSERT(CP_MAX_POSITIONS >= 1 && CP_MAX_POSITIONS <= 1 << 30, "positions are int");
CP_STATIC_ASSERT(sizeof(int) == 4 && sizeof(long long) == 8, "indices and counters as documented");

/* FLT_EVAL_METHOD is 16 where the compiler computes in binary16 too: types wider than it are
 * computed in their own precision there as well (ISO/IEC TS 18661-3, 5.4.2).
 */
CP_STATIC_ASSERT((FLT_EVAL_METHOD == 0 || FLT_EVAL_METHOD == 16) && FLT_MANT_DIG == 24 &&
                     DBL_MANT_DIG == 53,
                 "float and double are binary32 and binary64, each computed in its own precision");

#endif
