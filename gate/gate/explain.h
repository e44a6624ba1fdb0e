/* SPDX-License-Identifier: Apache-2.0 */
/* What the parts of `chunkproof explain` ask of each other.
 *
 *   explain.c          the order of it all       explain_run.c     runs of the kernel, judged number by number
 *   explain_reason.c   mistakes that are tried, and which of them are said
 *   explain_keys.c     other keys, other heads, other places in memory
 *   explain_rule.c     attention by another formula: scales, elements, other rows' results
 *   explain_sums.c     sums that are not rescaled, or merged wrongly
 *   explain_lse.c      the log-sum-exp alone     explain_class.c   an arithmetic that is wider than was declared
 *   explain_bytes.c    bytes that are nobody's   explain_where.c   what wrong rows have in common; the tree
 *
 * A mistake is a function that says of a row and head what each number would be if it had been made. It is tried on all
 * wrong numbers of the case and of some cases like it; what is said of it is how many of them it gives. */
#ifndef CHUNKPROOF_GATE_EXPLAIN_H
#define CHUNKPROOF_GATE_EXPLAIN_H

#include "gate/gate/gate.h"

/* ---- Runs ---- */

/* One run of a case: what the kernel was given, what came of it, and what the judge says of each number. Of a row and
 * head there are `width` numbers: d elements, and the log-sum-exp. */
struct explain_run {
    struct gate_problem problem; /* without its numbers */
    struct cp_kernel_call call;  /* strides; its arrays are gone */
    double *q, *k, *v;           /* the arrays with all that lies in them */
    long long n_q, n_k;          /* elements, of Q and of K and V each */
    long long n_v;
    int pairs, width;
    double *got, *expected, *bound; /* [pairs][width] */
    double *again;                  /* what the second run gave */
    unsigned char *rightness; /* enum gate_rightness; where there is no log-sum-exp, unclaimed */
    int wrong, wrong_pairs;
    int has_number; /* 1: a wrong number is one */
};

/* 0, or -1: no memory; to be freed in either case. */
int explain_run_new(struct explain_run *run, const struct cp_kernel *kernel,
                    const struct gate_problem *problem, const struct gate_arrays *one,
                    const struct gate_arrays *other);
void explain_run_free(struct explain_run *run);

/* 1: some number of this pair is wrong. */
int explain_is_wrong(const struct explain_run *run, int pair);

/* ---- Mistakes ---- */

struct explain;

/* Writes into x->numbers what the pair x is at would be; an infinite bound says nothing of a number, NaN means NaN; with
 * this bound, a sum of nothing, it may be either. 0: it says nothing of this pair. */
#define EXPLAIN_NOTHING (-1.0)

typedef int explain_mistake(struct explain *x, const int *a);

#define EXPLAIN_NUMBERS 4 /* that a mistake may have */
#define EXPLAIN_TEXT    240

struct explain_reason {
    explain_mistake *mistake;
    int a[EXPLAIN_NUMBERS];
    int rank; /* the smaller, the simpler */
    char text[EXPLAIN_TEXT];
    /* what came of it */
    unsigned char *gives; /* of each wrong number that is looked at */
    int n, different;     /* how many; and how many different ones */
    int against;          /* numbers of the same rows that are right, and would not be */
    int swallowed;        /* wrong numbers that would be NaN, and are numbers */
    int refuted;          /* rows and heads that are right, and would not be */
    double largest;       /* error / bound of what it gives */
};

#define EXPLAIN_RUNS    7
#define EXPLAIN_REASONS 160
#define EXPLAIN_PAIRS   24 /* that are looked at; and so many that are right */

/* A wrong number. */
struct explain_number {
    int run, pair, element;
};

struct explain {
    FILE *file;
    const struct cp_kernel *kernel;
    struct explain_run run[EXPLAIN_RUNS];
    int n_runs;

    /* the row and head that a mistake is tried on */
    const struct explain_run *at;
    int pair, row, head, s, g, n, d, c; /* n keys are seen */

    /* a wrong problem */
    int m, room;
    int outside; /* 1: it has a key that is nowhere */
    double *q, *k, *v, *scratch, *prefix;
    struct gate_numbers numbers;

    long long work; /* left: key numbers that may still be looked at */
    struct explain_reason reason[EXPLAIN_REASONS];
    int n_reasons;
    struct explain_number *wrong; /* that are looked at */
    int n_wrong;
    struct explain_number right[EXPLAIN_PAIRS]; /* rows and heads without a wrong number */
    int n_right;
};

void explain_go_to(struct explain *x, int run, int pair);

/* Tries a mistake on the pair x is at; when it gives a wrong number there, it is one of the reasons. */
void explain_try(struct explain *x, explain_mistake *mistake, const int *a, int rank,
                 const char *format, ...) __attribute__((format(printf, 5, 6)));

/* Of all reasons, on all wrong numbers. */
void explain_weigh(struct explain *x);
void explain_say(struct explain *x);

/* Whether a reason that was weighed gives all wrong numbers of the case; found: and most of the others, and they are
 * enough. */
enum explain_found { EXPLAIN_NOT_FOUND, EXPLAIN_PERHAPS, EXPLAIN_FOUND };
enum explain_found explain_find(const struct explain *x);

/* What is tried on the pair x is at. */
void explain_try_keys(struct explain *x);
void explain_try_rules(struct explain *x);
void explain_try_sums(struct explain *x);
void explain_try_lse(struct explain *x);

/* ---- A wrong problem ---- */

void explain_take_query(struct explain *x, int row, int head);

/* A key in a slot of a chunk of the pool, of these heads; -1 is no chunk. */
void explain_take_slot(struct explain *x, int chunk, int slot, int g_of_k, int g_of_v);

/* Key j of the path of sequence s, where there may be none; and all that are seen, of the pair's own. */
void explain_take_key(struct explain *x, int s, int j, int g_of_k, int g_of_v);
void explain_take_all(struct explain *x);

/* Attention of what was taken, with `factor` on the scores. As a mistake returns. */
int explain_attend(struct explain *x, double factor);

/* ---- Beside that ---- */

/* Says which wider arithmetic would make the results right, of this case and of others. `least`: cases that are wrong now
 * it must do so for. Returns whether any does. */
int explain_class(FILE *file, struct runner *runner, const struct gate_recipe *recipe, int least);
#define EXPLAIN_ENOUGH_CASES 3

/* Says which numbers differ between two runs of the same call, and what makes them differ. */
void explain_other_bits(FILE *file, struct runner *runner, const struct gate_recipe *recipe,
                        const struct explain_run *run);

/* Says which bytes that are nobody's change a result. */
void explain_padding(FILE *file, struct runner *runner, const struct gate_recipe *recipe);

/* Says what all wrong rows and heads of these runs have in common that no right one has. Returns how many such things
 * there are: none when no row is right. */
int explain_where(FILE *file, const struct explain_run *runs, int n_runs);

/* The sequences with their chunks, and the shared chunks with their ranges. */
void explain_tree(FILE *file, const struct gate_problem *problem);

/* Elements, of which is_one[i], as "0 to 7, 16": at most some ranges. */
void explain_print_elements(FILE *file, const unsigned char *is_one, int n);

#endif
