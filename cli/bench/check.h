/* SPDX-License-Identifier: Apache-2.0 */
/* Is a result attention? For each sequence, one head is held to the certified tolerance
 * (spec/tolerance.md). */
#ifndef CHUNKPROOF_CLI_BENCH_CHECK_H
#define CHUNKPROOF_CLI_BENCH_CHECK_H

#include "chunkproof/attention.h"

/* Results of the same problem are compared together, so that each exact row is computed once. */
#define CHECK_MOST_RESULTS 4

struct check_wrong {
    int result, row, head, i; /* out[row][head][i] of that result */
    double got, expected, bound;
};

/* `attention` is what cp_opt_attend() was given: decoding, in binary16. out[] are results for it.
 * Sequence s is checked with query head (first_head + s) mod h. Returns 1 when all are within the
 * tolerance; 0, with *wrong written; or -1: out of memory. */
int bench_check(const struct cp_attention *attention, const void *const *out, int n_results,
                int first_head, struct check_wrong *wrong);

#endif
