/* SPDX-License-Identifier: Apache-2.0 */
/* What progress belongs to: the kernel, the libraries that are loaded with it, chunkproof itself,
 * and all options that decide what comes of a case. */
#ifndef CHUNKPROOF_GATE_SEARCH_IDENTITY_H
#define CHUNKPROOF_GATE_SEARCH_IDENTITY_H

#include "gate/runner/runner.h"
#include "gate/search/kind.h"
#include "gate/search/options.h"

#define GATE_IDENTITY 1024

/* A line for each of them: "kernel 12ab...", "options --tier quick ...". The first, "kind ...", is
 * what kernels of this kind do. 0, or -1 after saying what is wrong. */
int gate_identify(char identity[GATE_IDENTITY], const struct gate_kind *kind,
                  const struct gate_options *options, const struct runner *runner);

/* The first word of the first line in which the two differ. */
void gate_identity_differs(const char *one, const char *other, char word[GATE_IDENTITY]);

#endif
