/* SPDX-License-Identifier: Apache-2.0 */
/* Somebody else's attention, in a process of its own, asked to run when it is its turn: what it measures lies between
 * our own rounds.
 *
 * A peer is a command for sh. It reads a line, answers in lines, and ends when there are no more (spec/bench.md):
 *   cell PART B N N_S H H_KV D THREADS BYTES   a load, and how much memory may be taken for it; its answer:
 *       series NAME: HOW                 one way to compute it, checked and run once; the first is number 0
 *       skip NAME: WHY                   one that it cannot
 *       ready                            that is all
 *   run NUMBER                           that way, once; its answer:
 *       time WALL CPU                    in seconds
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

/* A way, or one that it cannot. */
struct peer_series {
    char name[PEER_TEXT], note[PEER_TEXT];
    int number; /* -1: skipped; note says why */
};

/* Starts it. NULL: no memory or no process. It does not get our Ctrl-C. */
struct peer *peer_new(const char *command, double seconds,
                      const volatile sig_atomic_t *interrupted);
void peer_free(struct peer *peer); /* takes NULL; ends the process */

/* Asks for a load: writes at most `most` series, returns how many. A peer that is not to be had, or answers something
 * else, is one series that is skipped; and so in each later cell. */
int peer_cell(struct peer *peer, const struct bench_load *load, int n_threads, double bytes,
              struct peer_series *series, int most);

/* Returns 0, or -1: it is not to be had any more, and peer_why() says why. */
int peer_run(struct peer *peer, int number, double *wall, double *cpu);
const char *peer_why(const struct peer *peer);

#endif
