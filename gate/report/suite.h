/* SPDX-License-Identifier: Apache-2.0 */
/* JUnit XML, whatever the kind of kernel: a suite with a test case for each kind of values. */
#ifndef CHUNKPROOF_GATE_REPORT_SUITE_H
#define CHUNKPROOF_GATE_REPORT_SUITE_H

#include "cli/base/markup.h"

enum gate_outcome { GATE_PASSED, GATE_FAILURE, GATE_ERROR, GATE_SKIPPED, GATE_OUTCOMES };

/* Of one kind of values: its cases, those that are wrong, and whether too few of its numbers have a
 * finite bound; all cases, and whether there is a verdict. Without one, kinds with enough claimed
 * numbers are no errors. If the kernel took no case at all, none counts as skipped. */
enum gate_outcome gate_suite_outcome(long long cases, long long wrong, int claims_few,
                                     long long all_cases, int has_verdict);

/* The suite, up to its properties; n: how many test cases have each outcome. */
void gate_suite_begin(struct markup *markup, const char *kernel, const int n[GATE_OUTCOMES],
                      double seconds);

/* A property; gate_suite_own_property() frees the value, and writes nothing of NULL. */
void gate_suite_property(struct markup *markup, const char *name, const char *value);
void gate_suite_own_property(struct markup *markup, const char *name, char *value);

void gate_suite_open_case(struct markup *markup, const char *kernel, const char *name,
                          double seconds);

/* Why a test case is an error, or was skipped; nothing else. */
void gate_suite_message(struct markup *markup, enum gate_outcome outcome, const char *no_answer,
                        int interrupted);

/* A line of a failure's text, which is freed; nothing of NULL. */
void gate_suite_line(struct markup *markup, const char *head, char *text);

#endif
