/* SPDX-License-Identifier: Apache-2.0 */
/* What differs between kinds of kernels in a file of --state (state.h). */
#ifndef CHUNKPROOF_GATE_SEARCH_KIND_H
#define CHUNKPROOF_GATE_SEARCH_KIND_H

#include <stddef.h>

#include "gate/runner/runner.h"

#define GATE_DECLARED 512

struct gate_kind {
    const char *does; /* "computes attention": what a kernel of this kind does */
    size_t size;      /* of the result of a search, as it is in memory */
    /* What the kernel declares, in one line. */
    void (*declare)(char line[GATE_DECLARED], const struct runner *runner);
    /* Can this have come of at most so many cases? Of a result that was read from a file: numbers
     * are in their ranges, counts add up, and texts end. Its pointers become NULL. */
    int (*is_sane)(void *result, long long cases);
};

/* Kernels that compute attention. Its result is a struct gate_result. */
extern const struct gate_kind gate_attention;

#endif
