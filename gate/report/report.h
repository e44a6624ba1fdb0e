/* SPDX-License-Identifier: Apache-2.0 */
/* What the reports of `chunkproof gate` have in common, and each of them (*.c). */
#ifndef CHUNKPROOF_GATE_REPORT_REPORT_H
#define CHUNKPROOF_GATE_REPORT_REPORT_H

#include <stdio.h>

#include "cli/base/clean.h"
#include "gate/search/check.h"
#include "gate/search/tally.h"

/* What each of them is of. */
struct gate_report {
    const struct gate_options *options;
    const struct cp_kernel *kernel;
    const struct gate_result *result;
};

void gate_print_text(FILE *file, const struct gate_report *report);

/* The files that the options ask for, open before anything is checked: one that cannot be written
 * is to cost nobody an hour. */
enum gate_format { GATE_JSON, GATE_JUNIT, GATE_HTML, GATE_FORMATS };

struct gate_files {
    const char *name[GATE_FORMATS]; /* NULL: it is not asked for */
    FILE *file[GATE_FORMATS];
};

/* Each: 0, or -1 after saying what is wrong. Files that were opened are to be written or removed.
 */
int gate_files_open(struct gate_files *files, const struct gate_options *options);
int gate_files_write(struct gate_files *files, const struct gate_report *report);

/* There is nothing to report. */
void gate_files_remove(struct gate_files *files);

/* ---- Words ---- */

const char *gate_type_name(int type); /* "fp16", ...; "none" of CP_NO_LSE */
const char *gate_sum_name(int sum);   /* "fp32", "tensor-core", ... */

/* An error in bounds to three digits: what is above 1 is never 1, nor what is below. */
#define GATE_RATIO_TEXT 32
void gate_ratio(double ratio, char text[GATE_RATIO_TEXT]);

/* All that follow are the caller's to free. */

/* What the kernel declares, in a sentence. */
char *gate_declares(const struct cp_kernel *kernel);

/* Keys of the longest sequence with each head_dim: "16: 300, 32: 1024"; NULL: no memory. */
char *gate_keys_at_most(const struct gate_result *result);

/* Commands as a shell takes them: for the whole run, for one case, and for why it is wrong; the
 * last is NULL where no file has the case. */
char *gate_run_again(const struct gate_report *report);
char *gate_case_again(const struct gate_report *report, const struct gate_found *found);
char *gate_case_why(const struct gate_report *report, const struct gate_found *found);

/* ---- Verdicts ---- */

/* "right", "wrong" or "none". */
const char *gate_answer(const struct gate_result *result);

/* Why there is none; NULL where there is one. */
char *gate_no_answer(const struct gate_result *result);

/* Note i of GATE_NOTES, beside the verdict; "" where there is nothing to be said. */
#define GATE_NOTES 7
char *gate_note(const struct gate_report *report, int i);

/* Verdicts that were found, those of the most cases first; returns how many. */
int gate_found_order(const struct gate_result *result, int order[GATE_VERDICTS]);

/* 1: the command for the case runs those before it, too. */
int gate_case_needs_others(const struct gate_report *report, const struct gate_found *found);

/* ---- Formats: 0, or -1: no memory, or it could not be written ---- */

int gate_print_json(FILE *file, const struct gate_report *report);
int gate_print_junit(FILE *file, const struct gate_report *report);
int gate_print_html(FILE *file, const struct gate_report *report);

#endif
