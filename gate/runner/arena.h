/* SPDX-License-Identifier: Apache-2.0 */
/* Where the buffers of a call lie in the memory that both processes have in common, and whether
 * they are still what they were. Places count from the arena's begin: it lies elsewhere in each
 * process. */
#ifndef CHUNKPROOF_GATE_RUNNER_ARENA_H
#define CHUNKPROOF_GATE_RUNNER_ARENA_H

#include <stddef.h>
#include <stdint.h>

#include "gate/runner/runner.h"

/* Between two buffers, and around them all. Far more than the page that would do: what is wrong by
 * a row, a head or a small chunk falls between the buffers too, not into the next one. It costs
 * addresses, no memory. */
#define RUN_GUARD ((size_t)1 << 20)

struct run_place {
    size_t begin, bytes;           /* the buffer; begin is a multiple of 64 */
    size_t pages_begin, pages_end; /* its pages; what is not the buffer in them is a gap */
    int absent;                    /* the kernel gets NULL */
};

struct run_layout {
    struct run_place place[RUN_BUFFERS];
};

/* A byte that is beside or in a buffer: offset < 0 is before its begin, offset >= bytes behind its
 * end. */
struct run_spot {
    int buffer; /* -1: none is near */
    long long offset;
    size_t bytes;
};

/* Bytes of a page. */
size_t run_page(void);

/* Are the buffers from `out` on the only ones that may be written to? */
int run_read_only(int buffer);

/* Bytes of an arena for all buffers of a call, `bytes` together; 0 when there is no such number. */
size_t run_arena_size(size_t bytes);

/* Finds a place for each. Returns their bytes, or SIZE_MAX when they have more than `limit`
 * together; the layout is not to be used then. */
size_t run_layout_make(struct run_layout *layout, const struct run_call *call, size_t limit);

/* Writes the inputs to their places, and `poison` to all else of the buffers' pages. */
void run_layout_fill(const struct run_layout *layout, unsigned char *arena,
                     const struct run_call *call);

/* Has an input or a gap changed since? Returns -1 when not, else writes the first such byte. A byte
 * of a buffer is looked for before one of a gap. */
int run_layout_changed(const struct run_layout *layout, const unsigned char *arena,
                       const struct run_call *call, struct run_spot *spot);

/* Copies out and lse to the caller's memory. */
void run_layout_take(const struct run_layout *layout, const unsigned char *arena,
                     const struct run_call *call);

/* A number for a buffer's contents. That of two contents that differ in one word of 8 bytes differs
 * always, that of others with the chance of two random numbers of 64 bits. */
uint64_t run_place_hash(const struct run_place *place, const unsigned char *arena);

/* Writes where the buffers are into the call: the pointers of the process whose arena begins there.
 * NULL: there are none, all pointers are NULL. */
void run_layout_point(const struct run_layout *layout, unsigned char *arena,
                      struct cp_kernel_call *call);

/* The pointers of a call, in the order of the buffers. */
void run_layout_set(void *const pointer[RUN_BUFFERS], struct cp_kernel_call *call);

/* Is it a list of the plan, or of the pages: what a launcher may look at? */
int run_is_list(int buffer);

/* The buffer that is nearest to a place of the arena. Touches nothing else, so that a signal
 * handler may call it. */
struct run_spot run_layout_nearest(const struct run_layout *layout, size_t at);

#endif
