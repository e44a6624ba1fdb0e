/* SPDX-License-Identifier: Apache-2.0 */
/* Loads and settings for the tests of `chunkproof simulate`. Times are in us: the model has 2 bytes
 * of K and V per token and 4 FLOPs per pair. Include <cmocka.h> before it. */
#ifndef CHUNKPROOF_TESTS_SIMULATE_CASE_H
#define CHUNKPROOF_TESTS_SIMULATE_CASE_H

#include "cli/simulate/simulate.h"

/* An empty load whose arrivals are in us, with blocks of `block` tokens. */
static inline struct simulate_load simulate_case_load(int block) {
    struct simulate_load load = {.tick = 1e3};
    trace_init(&load.trace, block);
    return load;
}

/* Adds a request; ids[] has a number for each block of its prompt. */
static inline void simulate_case_add(struct simulate_load *load, long long arrival, int input,
                                     int output, const int *ids) {
    struct trace *trace = &load->trace;
    for (int k = 0; k * trace->block_size < input; k++) {
        trace->n_ids = ids[k] >= trace->n_ids ? ids[k] + 1 : trace->n_ids;
    }
    assert_int_equal(trace_add(trace, arrival, input, output, ids), TRACE_OK);
}

/* No limit except a batch of 32; an iteration takes 10 us. */
static inline struct simulate_settings simulate_case_settings(int chunk, int sharing) {
    struct simulate_settings settings = {
        .sharing = sharing,
        .batch = 32,
        .chunk = chunk,
        .model = {.layers = 1, .heads = 1, .kv_heads = 1, .head_dim = 1, .number_bytes = 1},
        .cost = {.fixed_us = 10.0}};
    return settings;
}

#endif
