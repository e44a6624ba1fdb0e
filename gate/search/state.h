/* SPDX-License-Identifier: Apache-2.0 */
/* How far a long search came, in a file: `chunkproof gate --state FILE` goes on from there. The
 * file belongs to one program, kernel and set of options; with others it is refused. */
#ifndef CHUNKPROOF_GATE_SEARCH_STATE_H
#define CHUNKPROOF_GATE_SEARCH_STATE_H

#include "gate/search/options.h"
#include "gate/search/result.h"

struct gate_state {
    const char *file;
    char identity[512];        /* names the program, kernel and options */
    long long blocks;          /* blocks of cases */
    unsigned char *done;       /* [blocks]: 1: the result has this block */
    struct gate_result result; /* without logs */
};

/* Reads the file; where there is none, nothing is done yet. 0, or -1 after saying what is wrong. */
int gate_state_open(struct gate_state *state, const struct gate_options *options, int simulated,
                    long long blocks);

/* Writes the file anew, so that it is complete at any time. 0, or -1 after saying what is wrong. */
int gate_state_save(const struct gate_state *state);
void gate_state_free(struct gate_state *state);

#endif
