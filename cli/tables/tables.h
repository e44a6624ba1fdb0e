/* SPDX-License-Identifier: Apache-2.0 */
/* The command `chunkproof tables`: the papers' analytical tables, recomputed and compared.
 *
 * Published numbers are data (published.c, claims.c) and formulas are functions (model.c). A cell
 * is one published number, with the number that the formula gives.
 */
#ifndef CHUNKPROOF_CLI_TABLES_TABLES_H
#define CHUNKPROOF_CLI_TABLES_TABLES_H

#include <jansson.h>
#include <stdio.h>

#include "cli/tables/model.h"
#include "cli/tables/published.h"

#define CP_CELL_MATCH    0 /* the formula, rounded to the digits printed, gives the text printed */
#define CP_CELL_ROUNDING 1 /* one unit off in the last digit printed */
#define CP_CELL_DIFFERS  2
#define CP_CELL_WITHIN   3 /* a measurement inside the bounds that follow from the formulas */
#define CP_CELL_MEASURED 4 /* a measurement that no formula bounds */
#define CP_CELL_KINDS    5

#define CP_SECTION_PREFILL      0
#define CP_SECTION_DECODE       1
#define CP_SECTION_KERNEL_MOPS  2
#define CP_SECTION_CAPACITY     3
#define CP_SECTION_KV_BYTES     4
#define CP_SECTION_RATIOS       5
#define CP_SECTION_PROMPT_CACHE 6
#define CP_SECTION_ERRORS       7 /* no cells of its own: those of the others that do not match */
#define CP_SECTIONS             8

struct cp_cell {
    int section;
    int status;
    char table[24];      /* where it was published */
    char row[64];        /* which line of it, */
    char column[24];     /* which column, and */
    char unit[16];       /* in what */
    char published[16];  /* the digits printed */
    char recomputed[24]; /* the same number of digits, or bounds */
    char note[120];      /* why they differ, where that is known; else empty */
    int has_value;       /* a number was recomputed, to compare with a published one: */
    double value;
};

struct cp_cells {
    int n;
    int capacity;
    struct cp_cell *cell; /* to be freed with free() */
};

/* The name of a section and of a status; the character that marks the status in text. */
const char *cp_section_name(int section);
const char *cp_cell_status_name(int status);
char cp_cell_mark(int status);

/* CP_CELL_MATCH, CP_CELL_ROUNDING or CP_CELL_DIFFERS; text = the value with as many decimals as
 * `published` has. */
int cp_compare_published(const char *published, double value, char *text, size_t size);

/* 1 when `published` is the value truncated, instead of rounded, after its last digit. */
int cp_is_cut_off(const char *published, double value);

/* The next cell, zeroed but for its section; exits with a message when memory runs out. */
struct cp_cell *cp_cell_add(struct cp_cells *cells, int section);

/* A printf for one field of a cell; a text that does not fit is an error of the program. */
void cp_cell_text(char *field, size_t size, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Sets published, recomputed, value and status. */
void cp_cell_compare(struct cp_cell *cell, const char *published, double value);

/* The same for LOW-HIGH, which the value should be inside of; else as cp_cell_compare(). Returns
 * the status. */
int cp_cell_compare_interval(struct cp_cell *cell, const char *published, double value);

/* 1: *difference is (recomputed - published) / published. 0: they are no two numbers, or the
 * published one is 0. */
int cp_cell_difference(const struct cp_cell *cell, double *difference);

/* 1 for a cell of the Prompt Cache paper, in whatever section. */
int cp_cell_is_of_prompt_cache(const struct cp_cell *cell);

/* For a cell that does not match: notes that `text`, a wrong formula, gives the published number.
 * Does nothing unless `value` does. */
void cp_cell_explain(struct cp_cell *cell, double value, const char *text);

/* Notes that the value was truncated instead of rounded, unless there is already a note. */
void cp_cell_explain_cut(struct cp_cell *cell, double value);

/* All cells of all sections, in order. */
void cp_cells_build(struct cp_cells *cells);
void cp_cells_layer_table(struct cp_cells *cells, const struct cp_layer_table *table);
void cp_cells_kernel_mops(struct cp_cells *cells);
void cp_cells_kv_claim(struct cp_cells *cells, const struct cp_kv_claim *claim);
void cp_cells_ratio_claim(struct cp_cells *cells, const struct cp_ratio_claim *claim);
void cp_cells_peak_row(struct cp_cells *cells, const struct cp_peak_row *row);
void cp_cells_prompt_cache(struct cp_cells *cells);

/* Cells of one section with one status; section or status -1: any. */
int cp_cells_count(const struct cp_cells *cells, int section, int status);

/* A case of the user's own. */
struct cp_case {
    int has_model; /* a model was named, or a dimension given */
    int is_custom; /* a dimension was given: dims is no known model */
    int has_load;  /* a number of the load was given */
    struct cp_dims dims;
    int batch;
    int prompt;
    int shared;
    int completion;
    int chunk_size;
};

/* What is wrong with it, or NULL. */
const char *cp_case_check(const struct cp_case *c);

/* Statements about the papers' model that no single cell shows; NULL after the last one. */
const char *cp_remark_at(int i);

/* Output; selected[section] != 0 for each section wanted. */
void cp_tables_print_text(FILE *file, const struct cp_cells *cells, const int *selected,
                          const struct cp_case *c);
void cp_tables_print_csv(FILE *file, const struct cp_cells *cells, const int *selected);
int cp_tables_print_json(FILE *file, const struct cp_cells *cells, const int *selected,
                         const struct cp_case *c);

/* Modules of so many tokens whose keys and values fit, beside nothing else. */
double cp_modules_that_fit(const struct cp_dims *dims, double tokens, double gib);

/* FLOPs of the layers of Llama 7B for a prompt, causal (MODEL-2, MODEL-3), and with all but the
 * last n_new tokens cached. */
struct cp_prefill {
    double linear, attention; /* of all tokens */
    double left;              /* of the new tokens, both */
    double copied;            /* bytes of K and V of the others */
};
struct cp_prefill cp_prefill_of(double n, double n_new);

/* What section prompt-cache has beside its cells. */
void cp_prompt_cache_print_text(FILE *file);
json_t *cp_prompt_cache_json(void);

/* The parts of sections that are not published cells: the models, the kernels, the capacity. */
void cp_extra_print_text(FILE *file, int section, const struct cp_case *c);
json_t *cp_extra_json(int section, const struct cp_case *c);

#endif
