/* SPDX-License-Identifier: Apache-2.0 */
/* The reports of `chunkproof gate` (one *.c file each), and what they share. */
#ifndef CHUNKPROOF_GATE_REPORT_REPORT_H
#define CHUNKPROOF_GATE_REPORT_REPORT_H

#include <stdio.h>

#include "cli/base/clean.h"
#include "cli/base/output.h"
#include "gate/search/check.h"
#include "gate/search/tally.h"

/* What a report is about. */
struct gate_report {
    const struct gate_options *options;
    const struct cp_kernel *kernel;
    const struct gate_result *result;
    unsigned contained;             /* what held the kernel: bits of enum run_contained */
    const struct gate_cause *cause; /* of the most unusual number; NULL: there is none */
};

void gate_print_text(FILE *file, const struct gate_report *report);

/* The report files that the options ask for. They are opened before any case runs, so that a file
 * that cannot be written costs nobody an hour. */
enum gate_format { GATE_JSON, GATE_JUNIT, GATE_HTML, GATE_FORMATS };

struct gate_files {
    const char *name[GATE_FORMATS]; /* NULL: not asked for */
    struct output output[GATE_FORMATS];
};

/* Each returns 0, or -1 after saying what is wrong. The caller writes or removes files that are
 * open. A report of an earlier run is
 * removed, and no file has a part of a report. */
int gate_files_open(struct gate_files *files, const struct gate_options *options);
int gate_files_write(struct gate_files *files, const struct gate_report *report);

/* Keeps one file if all of it was printed, else drops it. As above. */
int gate_files_keep(struct gate_files *files, int format, int printed);

/* Removes the open files, when there is nothing to report. */
void gate_files_remove(struct gate_files *files);

/* ---- Words ---- */

const char *gate_part_lse_name(int type);
const char *gate_scales_name(int scales); /* "none", "fp16", "bf16" */
const char *gate_empty_name(int empty);   /* "neutral", "nan", "value", "unspecified" */

const char *gate_bias_name(int bias); /* "signed", "distance", "position" */

const char *gate_invariant_name(int invariant); /* "not", "batch", "cuts" */

/* The bits of cp_kernel.conventions.never. */
#define GATE_NEVERS 4
extern const char *const gate_never_names[GATE_NEVERS];

/* The bits of cp_kernel.masks. */
#define GATE_MASKS 4
extern const char *const gate_mask_names[GATE_MASKS];

const char *gate_cache_name(int cache);         /* "plain", "e4m3", "e5m2", "int8" */
const char *gate_cache_scales_name(int scales); /* "tensor", "head", "token" */
const char *gate_pages_name(int pages);         /* "chunks", "own", "ragged" */
const char *gate_order_name(int order);         /* "any", "nhd", "hnd" */
const char *gate_gaps_name(int gaps);           /* "any", "pages", "none" */
const char *gate_tensors_name(int tensors);     /* "two", "pages", "halves" */

/* Where K and V lie (CONV-11, CONV-12), in words that the caller frees; and 1: in chunks, by
 * strides, so that nothing is declared. */
char *gate_layout_of(const struct cp_kernel *kernel);
int gate_is_by_strides(const struct cp_kernel *kernel);

/* The bits of cp_kernel.scores. */
#define GATE_CHANGES 4
extern const char *const gate_change_names[GATE_CHANGES];

/* The conventions in one line, which the caller frees. */
char *gate_conventions_of(const struct cp_kernel *kernel);
const char *gate_plans_name(int plans); /* "trees", "ranges", "lists" */
const char *gate_keys_name(int keys);   /* "placed", "raw", "local" */
const char *gate_pairs_name(int pairs); /* "halves", "neighbours" */
const char *gate_type_name(int type);   /* "fp16", ...; "none" of CP_NO_LSE */
const char *gate_sum_name(int sum);     /* "fp32", "tensor-core", ... */

/* Error / bound to three digits. A ratio above or below 1 is never printed as 1. */
#define GATE_RATIO_TEXT 32
void gate_ratio(double ratio, char text[GATE_RATIO_TEXT]);

/* The caller frees the texts that the functions below return. */

/* What the kernel declares, in a sentence. */
char *gate_declares(const struct cp_kernel *kernel);

/* What held the kernel: the names of bits of enum run_contained, each with what it means. */
#define GATE_HOLDS 10
struct gate_hold {
    unsigned bit;
    const char *name, *words;
};
extern const struct gate_hold gate_holds[GATE_HOLDS];

/* The keys of the longest sequence with each head_dim: "16: 300, 32: 1024"; NULL: no memory. */
char *gate_keys_at_most(const struct gate_result *result);

/* The largest of each size: "300 sequences, 512 query rows of a sequence, ..." */
char *gate_sizes_at_most(const struct gate_result *result);

/* Commands for a shell: for the whole run, for one case, and for why that case is wrong. The last
 * is NULL where no file has the case. */
char *gate_run_again(const struct gate_report *report);
char *gate_case_again(const struct gate_report *report, const struct gate_found *found);
char *gate_case_why(const struct gate_report *report, const struct gate_found *found);

/* The command that runs a case from its file: `chunkproof replay` or `chunkproof explain`. */
char *gate_file_again(const struct gate_options *options, const char *file, const char *command);

/* ---- Verdicts ---- */

/* "right", "wrong" or "none". */
const char *gate_answer(const struct gate_result *result);

/* What else allows more keys, of a kernel whose log-sum-exps of partial results are in 16 bits; ""
 * of others. */
const char *gate_what_of_parts(const struct cp_kernel *kernel);

/* Why there is no verdict; NULL where there is one. */
char *gate_no_answer(const struct gate_report *report);

/* The warning of numbers that are right, and far beyond their usual error; "" where there is
 * none. */
char *gate_warning(const struct gate_report *report);

/* Note i of GATE_NOTES, which a report adds to the verdict; "" where there is nothing to say. */
#define GATE_NOTES 11
char *gate_note(const struct gate_report *report, int i);

/* The command with its options but for --case and --cases. */
void gate_put_command(FILE *out, const struct gate_options *o);

/* Lines of the text that say what held the kernel: bits of enum run_contained. */
void gate_print_held(FILE *file, unsigned contained);

/* The verdicts, GATE_RIGHT apart, that some cases have, most frequent first. Returns how many. */
int gate_found_order(const long long *cases, int verdicts, int *order);

/* 1: the command for the case also runs the cases before it. */
int gate_case_needs_others(const struct gate_report *report, const struct gate_found *found);

/* ---- Formats: 0, or -1: no memory, or the file could not be written ---- */

int gate_print_json(FILE *file, const struct gate_report *report);
int gate_print_junit(FILE *file, const struct gate_report *report);
int gate_print_html(FILE *file, const struct gate_report *report);

#endif
