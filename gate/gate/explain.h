/* SPDX-License-Identifier: Apache-2.0 */
/* What explain.c asks of its parts. */
#ifndef CHUNKPROOF_GATE_EXPLAIN_H
#define CHUNKPROOF_GATE_EXPLAIN_H

#include "gate/gate/gate.h"

/* Says what all wrong rows and heads have in common that no right one has: wrong[row * h + head]. Nothing when there
 * is no such thing, or none is right. */
void gate_explain_where(FILE *file, const struct gate_problem *problem, const char *wrong);

/* The sequences with their chunks, and the shared chunks with their ranges. */
void gate_explain_tree(FILE *file, const struct gate_problem *problem);

#endif
