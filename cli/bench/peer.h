/* SPDX-License-Identifier: Apache-2.0 */
/* Another implementation of attention, in a process of its own. It runs when asked to, so that its
 * measurements alternate with our own rounds.
 *
 * A peer is a command for sh. It reads a line, answers in lines, and ends when its input ends
 * (spec/bench.md):
 *   cell PART B N N_S H H_KV D THREADS BYTES   a load, and how much memory it may take. Answer:
 *       series NAME: HOW         one way to compute it, checked and run once; the first is number 0
 *       skip NAME: WHY           a way that is not possible here
 *       ready                    the end of the answer
 *   run NUMBER                   run that way once. Answer:
 *       time WALL CPU            in seconds
 *       failed WHY */
#ifndef CHUNKPROOF_CLI_BENCH_PEER_H
#define CHUNKPROOF_CLI_BENCH_PEER_H

#include <signal.h>

#include "cli/bench/load.h"

#define PEER_MOST        4
#define PEER_MOST_SERIES 6 /* of all peers, in a cell */
#define PEER_TEXT        160
#define PEER_SECONDS     120.0 /* that it may take to answer */

struct peer;

/* A way to compute a load, or one that is skipped. */
struct peer_series {
    char name[PEER_TEXT], note[PEER_TEXT];
    int number; /* -1: skipped; note says why */
};

/* Starts the peer, which does not receive our Ctrl-C. NULL: out of memory or processes. */
struct peer *peer_new(const char *command, double seconds,
                      const volatile sig_atomic_t *interrupted);
void peer_free(struct peer *peer); /* takes NULL; ends the process */

/* Asks for a load. Writes at most `most` series and returns how many. If the peer cannot be reached
 * or gives another answer, it is one skipped series in this cell and in each later one. */
int peer_cell(struct peer *peer, const struct bench_load *load, int n_threads, double bytes,
              struct peer_series *series, int most);

/* Returns 0, or -1: the peer cannot be used any more, and peer_why() says why. */
int peer_run(struct peer *peer, int number, double *wall, double *cpu);
const char *peer_why(const struct peer *peer);

#endif
