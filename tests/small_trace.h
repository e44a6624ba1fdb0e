/* SPDX-License-Identifier: Apache-2.0 */
/* Four requests whose replay can be followed by hand, for the tests of `chunkproof trace`. Blocks
 * have 2 tokens; an iteration takes 30 ms. The operations, from 1 on:
 *    1 join 0     2 join 1    3 decode    iteration 0: 0 and 1 share block 0
 *    4 join 2     5 decode    6 leave 1    7 leave 2    iteration 1: 2 shares all with 0
 *    8 decode (no new chunk)  iteration 2
 *    9 decode    10 leave 0   iteration 3
 *   11 join 3    12 decode   13 leave 3   iteration 30: 3 is alone
 * Include <cmocka.h> before it. */
#ifndef CHUNKPROOF_TESTS_SMALL_TRACE_H
#define CHUNKPROOF_TESTS_SMALL_TRACE_H

#include "cli/trace/replay.h"

/* Adds a request with blocks of 2 tokens to a trace; ids[] are used as they are. */
static inline void small_trace_add(struct trace *trace, long long arrival, int input, int output,
                                   const int *ids) {
    for (int k = 0; k < (input + 1) / 2; k++) {
        trace->n_ids = ids[k] >= trace->n_ids ? ids[k] + 1 : trace->n_ids;
    }
    assert_int_equal(trace_add(trace, arrival, input, output, ids), TRACE_OK);
}

static inline struct trace small_trace(void) {
    static const int first[] = {0, 1, 2};
    static const int second[] = {0, 3};
    static const int third[] = {0, 1};
    struct trace trace;
    trace_init(&trace, 2);
    /* Blocks 0 1 and half a chunk of its own, then one more chunk at its 7th token and at its
     * 9th. */
    small_trace_add(&trace, 0, 5, 4, first);
    small_trace_add(&trace, 0, 4, 2, second);  /* shares 0; a chunk for its completion */
    small_trace_add(&trace, 30, 4, 1, third);  /* shares 0 1; a chunk for its completion */
    small_trace_add(&trace, 900, 3, 0, third); /* alone: 0 and half a chunk of its own */
    return trace;
}

/* All checks, everything decoded, a pool of this many chunks; the small trace needs 7. */
static inline struct trace_settings small_trace_settings(int capacity) {
    struct trace_settings settings = {
        .ms_per_token = 30, .check = TRACE_CHECK_EVERY, .capacity = capacity, .hash_bits = 64};
    return settings;
}

#endif
