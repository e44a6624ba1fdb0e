/* SPDX-License-Identifier: Apache-2.0 */
/* What happened in the kernel's process, in words. */
#ifndef CHUNKPROOF_GATE_RUNNER_WORDS_H
#define CHUNKPROOF_GATE_RUNNER_WORDS_H

#include "gate/runner/process.h"

/* Why a request got no answer: outcome and text. */
void run_explain(const struct run_process *process, enum run_answer answer,
                 struct run_report *report);

/* Describes a byte that changed. */
void run_explain_change(const struct run_spot *spot, struct run_report *report);

/* Was the kernel loaded, and is all that it says of itself possible? 0, or -1 after writing what is
 * wrong and how to mend it: what the loader says after RUN_ANSWERED, else what happened. */
int run_check_load(const struct run_process *process, enum run_answer answer, const char *path,
                   char text[RUN_TEXT]);

/* Checks the fields of a kernel whose abi and name are right. 0, or -1 after writing which field is
 * wrong, and what it may be. */
int run_check_kernel(const struct cp_kernel *kernel, const char *path, char text[RUN_TEXT]);

/* The same, apart from its functions. */
int run_check_declared(const struct cp_kernel *kernel, const char *path, char text[RUN_TEXT]);

/* The same of a kernel that merges; and what is wrong with the version of one. */
int run_check_merging(const struct cp_merge_kernel *kernel, const char *path, char text[RUN_TEXT]);
void run_other_merge_version(int abi, const char *file, char text[RUN_TEXT]);

/* At most the last 80 bytes of a name, so that a sentence around it fits. */
const char *run_short_name(const char *file);

#endif
