/* SPDX-License-Identifier: Apache-2.0 */
/* The gate: a kernel in, a verdict out. `chunkproof gate`, `replay` and `explain` (command.c,
 * options.c) put its rooms together; a room includes only what stands above it here.
 *
 *   runner/    a kernel in a process of its own
 *   source/    a kernel that is given as source: compiled, and its lines named
 *   case/      recipe -> problem -> values -> layout: what a kernel is asked
 *   judge/     its results against the certified tolerance, and by the rules of others
 *   search/    many cases side by side, how far they came, the smallest one that is wrong, in a
 * file explain/   which mistake a wrong result comes from report/    text, JSON, JUnit XML and HTML
 *
 * How a case flows:
 *
 *   seed, index -> recipe -> problem -> values -> layout -> runner -> judge -> finding -> tally ->
 * report ^                                                          |
 *                    +---------------- shrink: smaller, the same verdict <------+---> case file ->
 * replay, explain */
#ifndef CHUNKPROOF_GATE_GATE_H
#define CHUNKPROOF_GATE_GATE_H

#include <stdio.h>

#include "gate/search/options.h"

/* 0, or -1 after saying what is wrong. */
int gate_options_parse(struct gate_options *options, int argc, char **argv);
void gate_options_help(FILE *file);
int gate_replay_parse(struct gate_options *options, int argc, char **argv);
void gate_replay_help(FILE *file, int explains);

#endif
