/* SPDX-License-Identifier: Apache-2.0 */
/* The gate: a kernel in, a verdict out. The commands `chunkproof gate` (command.c), `replay` and
 * `explain` (replay.c) put its rooms together. A room includes rooms above it in this list, and
 * parts of cli/; `scripts/rooms.py --draw` says which.
 *
 *   runner/    runs a kernel in a process of its own
 *   source/    compiles a kernel that is given as source, and names its lines
 *   case/      recipe -> problem -> values -> layout: what a kernel is asked
 *   judge/     compares results with the certified tolerance, and with other acceptance rules
 *   search/    runs many cases in parallel, keeps how far it came, shrinks, reads and writes cases
 *   explain/   finds the mistake that a wrong result comes from
 *   report/    text, JSON, JUnit XML and HTML
 *   merge/     all of that for kernels that merge results, which have calls of their own (merge.h)
 *
 * How a case flows:
 *
 *   seed, index -> recipe -> problem -> values -> layout -> runner -> judge -> finding -> tally
 *
 * gate_check() (search/crew.c) hands out blocks of cases; check_case() (search/check.c) takes one
 * case through that line. When all cases are done, command.c goes on with the tally, which holds
 * the smallest case of each verdict:
 *
 *   always        tally -> the smallest cases once more, each in a new process
 *   with --save   ... -> shrink (a smaller case with the same verdict) -> case file
 *   unusual       ... -> explain: what may cause right and unusual numbers (NUM-13)
 *   always        ... -> report
 *
 * `chunkproof replay` and `chunkproof explain` are commands of their own, which start from a case
 * file:
 *
 *   case file -> recipe -> ... -> finding; explain then tries mistakes on its wrong numbers */
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
