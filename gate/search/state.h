/* SPDX-License-Identifier: Apache-2.0 */
/* How far a long check came, in a file of its own: `chunkproof gate --state FILE` goes on from
 * there. It is for the same program, kernel and options, and is refused for others. */
#ifndef CHUNKPROOF_GATE_SEARCH_STATE_H
#define CHUNKPROOF_GATE_SEARCH_STATE_H

#include "gate/search/options.h"
#include "gate/search/result.h"

struct gate_state {
    const char *file;
    char identity[512];        /* of what it is the state */
    long long blocks;          /* of cases, */
    unsigned char *done;       /* [blocks]: 1 for those that are in the result */
    struct gate_result result; /* without logs */
};

/* As the file has it, or nothing done where there is none. 0, or -1 after saying what is wrong. */
int gate_state_open(struct gate_state *state, const struct gate_options *options, int simulated,
                    long long blocks);

/* Writes it anew, so that the file is whole at any time. 0, or -1 after saying what is wrong. */
int gate_state_save(const struct gate_state *state);
void gate_state_free(struct gate_state *state);

#endif
