/* SPDX-License-Identifier: Apache-2.0 */
/* Build-time capacities and the assumptions made of the platform.
 *
 * All structures are bounded arrays indexed by small integers. The bounds are fixed when the library
 * is built; memory beyond what a run uses is reserved but never touched (see memory.h). To change a
 * bound, build everything with -DCP_MAX_...=value: the same headers then serve model checking (tiny
 * bounds), deductive proofs and production (the values below).
 */
#ifndef CHUNKPROOF_LIMITS_H
#define CHUNKPROOF_LIMITS_H

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

/* Tokens in a chunk (c <= CP_MAX_CHUNK_SIZE). */
#ifndef CP_MAX_CHUNK_SIZE
#define CP_MAX_CHUNK_SIZE 512
#endif

_Static_assert(CP_MAX_CHUNKS >= 1 && CP_MAX_CHUNKS <= 1 << 24, "chunk indices are int");
_Static_assert(CP_MAX_SEQUENCES >= 1 && CP_MAX_SEQUENCES <= 1 << 24, "sequence indices are int");
_Static_assert(CP_MAX_DEPTH >= 1 && CP_MAX_CHUNK_SIZE >= 1, "a path and a chunk hold something");
_Static_assert((long long)CP_MAX_DEPTH *CP_MAX_CHUNK_SIZE <= 1 << 30, "token counts are int");
_Static_assert(sizeof(int) == 4 && sizeof(long long) == 8, "indices and counters as documented");

_Static_assert(FLT_EVAL_METHOD == 0 && FLT_MANT_DIG == 24 && DBL_MANT_DIG == 53,
               "float and double are binary32 and binary64, each computed in its own precision");

#endif
