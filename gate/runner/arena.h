/* SPDX-License-Identifier: Apache-2.0 */
/* Where the buffers of a call lie in the arena, the memory that both processes share, and whether
 * the kernel left them as they were. Places count from the arena's begin, because each process has
 * the arena at another address. */
#ifndef CHUNKPROOF_GATE_RUNNER_ARENA_H
#define CHUNKPROOF_GATE_RUNNER_ARENA_H

#include <stddef.h>
#include <stdint.h>

#include "gate/runner/runner.h"

/* Bytes between two buffers, and around them all. One page would keep buffers apart; a guard is far
 * larger, so that an access that is wrong by a row, a head or a small chunk falls into the guard
 * and not into the next buffer. A guard costs addresses, not memory. */
#define RUN_GUARD ((size_t)1 << 20)

struct run_place {
    size_t begin, bytes;           /* the buffer; begin is a multiple of 64 */
    size_t pages_begin, pages_end; /* its pages; the rest of them is a gap */
    int absent;                    /* 1: the kernel gets NULL */
};

struct run_layout {
    struct run_place place[RUN_BUFFERS];
    int at_end; /* do the arrays end where nothing may be accessed any more, or begin there? */
};

/* A byte in a buffer or near it. It lies before the buffer where offset < 0, and after its end
 * where offset >= bytes. */
struct run_spot {
    int buffer; /* -1: no buffer is near */
    long long offset;
    size_t bytes;
};

/* Bytes of a page. */
size_t run_page(void);

/* May the kernel only read this buffer? It may write to `out` and the buffers that follow it. */
int run_read_only(int buffer);

/* Bytes of an arena for buffers of `bytes` together; 0 when that is more than size_t holds. */
size_t run_arena_size(size_t bytes);

/* Finds a place for each buffer. Returns the bytes of all buffers, or SIZE_MAX when that is more
 * than `limit`; then the layout must not be used. */
size_t run_layout_make(struct run_layout *layout, const struct run_call *call, size_t limit);

/* Writes the inputs to their places, and `poison` to the rest of the buffers' pages. */
void run_layout_fill(const struct run_layout *layout, unsigned char *arena,
                     const struct run_call *call);

/* Has an input or a gap changed since run_layout_fill()? Returns -1 when nothing has; else writes
 * the first byte that has, a byte of a buffer before one of a gap. */
int run_layout_changed(const struct run_layout *layout, const unsigned char *arena,
                       const struct run_call *call, struct run_spot *spot);

/* The caller's memory for out or lse; NULL: there is none. */
void *run_result(const struct run_call *call, int buffer);

/* Copies out and lse to the caller's memory. */
void run_layout_take(const struct run_layout *layout, const unsigned char *arena,
                     const struct run_call *call);

/* A hash of a buffer's contents. Contents that differ in one word of 8 bytes have different hashes;
 * other contents have the same hash as rarely as two random numbers of 64 bits are equal. */
uint64_t run_place_hash(const struct run_place *place, const unsigned char *arena);

/* Writes the buffers' addresses into the call, for a process whose arena begins at `arena`. Where
 * that is NULL, all pointers become NULL. */
void run_layout_point(const struct run_layout *layout, unsigned char *arena,
                      struct cp_kernel_call *call);

void run_layout_point_merge(const struct run_layout *layout, unsigned char *arena,
                            struct cp_merge_call *call);

/* The pointers of a call of attention, or of a merge, in the order of the buffers. */
void run_layout_set_merge(void *const pointer[RUN_BUFFERS], struct cp_merge_call *call);
void run_layout_set(void *const pointer[RUN_BUFFERS], struct cp_kernel_call *call);

/* Where V is in the memory of K, its pointer: v_offset numbers of so many bytes behind K, or K's
 * own (CP_TENSORS_KEYS). */
void run_join(struct cp_kernel_call *call, int tensors, size_t element);

/* Is the buffer a list of the plan or of the pages, which a launcher may read? */
int run_is_list(int buffer);

/* The buffer nearest to a place of the arena. A signal handler may call this function: it reads
 * only the layout. */
struct run_spot run_layout_nearest(const struct run_layout *layout, size_t at);

#endif
