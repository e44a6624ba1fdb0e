/* SPDX-License-Identifier: Apache-2.0 */
/* The published numbers, as printed. */
#ifndef CHUNKPROOF_CLI_TABLES_PUBLISHED_H
#define CHUNKPROOF_CLI_TABLES_PUBLISHED_H

#include "cli/tables/model.h"

#define CP_FLOPS     0
#define CP_BYTES     1
#define CP_INTENSITY 2
#define CP_LATENCY   3

#define CP_MODULES 4 /* QKV, attention, MLP, output projection */

/* One printed row of a FLOPs, bytes or intensity table; NULL text: no such column. */
struct cp_layer_row {
    int batch;
    int context; /* tokens of each sequence */
    int quantity;
    const char *text[CP_MODULES];
};

/* One table: its rows, and which formula its attention column is. */
struct cp_layer_table {
    const char *name;
    const char *title;
    int section;
    int scale_exponent; /* FLOPs and bytes are printed in 10^this */
    int prefill;        /* 1: as many queries as keys; 0: one query */
    int new_keys;       /* keys beyond the context tokens: 1 counts the new token's own */
    int n_rows;
    const struct cp_layer_row *row;
};

extern const struct cp_layer_table cp_layer_tables[];
extern const int cp_n_layer_tables;

/* A number in running text or in a table of KV sizes, by a formula of a model and an argument. */
typedef double cp_claim_formula(const struct cp_dims *dims, double argument);

struct cp_kv_claim {
    const char *table;
    const char *what;
    const char *model;
    const char *published;
    const char *unit; /* as meant, where MB was printed for MiB */
    cp_claim_formula *formula;
    double argument;
    cp_claim_formula *wrong; /* a definite mistake that gives the published number, or NULL */
    double wrong_argument;
    const char *wrong_text;
};

extern const struct cp_kv_claim cp_kv_claims[];
extern const int cp_n_kv_claims;

#define CP_RATIO     0 /* a / b */
#define CP_REDUCTION 1 /* 100 (1 - a / b), in percent */

/* A number in running text that compares two published ones. */
struct cp_ratio_claim {
    int section;
    int kind;
    const char *table;
    const char *what;
    const char *published; /* LOW-HIGH: an interval that should contain the value */
    double a, b;
    double wrong_a, wrong_b; /* two others that give the published number, or 0 */
    const char *wrong_text;  /* what they are; or, without them, a remark */
};

extern const struct cp_ratio_claim cp_ratio_claims[];
extern const int cp_n_ratio_claims;

/* ACL Table 4: peak KV memory, a measurement that the peak batch bounds. vLLM and ChunkLlama take
 * turns: two rows for one load. */
struct cp_peak_row {
    const char *system;
    int n_prompt;
    int n_shared; /* that the system shares: 0 for one that cannot */
    int n_completion;
    int peak_batch;
    const char *published; /* GB, read as GiB */
    double rate;           /* requests per second */
    double latency;        /* ms per token */
};

extern const struct cp_peak_row cp_peak_rows[];
extern const int cp_n_peak_rows;

/* The loads of ACL Table 3: context and shared tokens. */
extern const int cp_kernel_loads[][2];
extern const int cp_n_kernel_loads;

#endif
