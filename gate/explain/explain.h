/* SPDX-License-Identifier: Apache-2.0 */
/* What `chunkproof explain` consists of. Each file uses only those below it:
 *
 *   explain.c       the order of everything
 *   likes.c         cases like the one that is explained
 *   declared.c      an arithmetic that is wider than was declared
 *   conventions.c   another convention than was declared
 *   never.c         what no call has, perhaps, and is not declared
 *   invariant.c     bits that are declared not to depend on the call, and do
 *   infinities.c    infinities, NaNs, and rows that see no key
 *   access.c        accesses that are wrong by themselves: not written, out of bounds, a race
 *   bytes.c         bytes that a result must not depend on
 *   say.c           which mistakes are said, and how
 *   search.c        the odometer: all mistakes of the tables on the wrong numbers
 *   mistakes_*.c    tables of mistakes: keys, runs, scores, sums, results
 *   axes.c          the values of axes, and the words of a mistake
 *   ways.h          the ways to do each stage
 *   model.c, model_*.c   attention of a row in stages, and a choice in one of them
 *   model_runs.c    which runs a row reads of prompts with modules
 *   where.c         what wrong rows have in common
 *   show.c          rows, heads, elements, and the sequences with their chunks or runs
 *   run.c           runs of the kernel, judged number by number */
#ifndef CHUNKPROOF_GATE_EXPLAIN_EXPLAIN_H
#define CHUNKPROOF_GATE_EXPLAIN_EXPLAIN_H

#include <stdio.h>

#include "gate/explain/mistakes.h"

/* The same as gate_check_recipe(). Where the result is wrong, says what could have been computed
 * instead of attention: that takes runs of cases like this one, for so many seconds, or until
 * `stop` is not 0. */
int gate_explain(FILE *file, struct runner *runner, const struct gate_recipe *recipe,
                 double seconds, const volatile int *stop, struct gate_finding *finding);

/* Of a case with right numbers that are far beyond their usual error (NUM-13): what may cause the
 * farthest one. Returns as gate_explain(), which explains such a case, too. */
int gate_explain_unusual(struct runner *runner, const struct gate_recipe *recipe, double seconds,
                         const volatile int *stop, struct gate_cause *cause);

/* What is said of a kernel that is right in a new process and wrong in one that ran other calls. */
extern const char gate_keeps_something[];

#define EXPLAIN_TEXT    440
#define EXPLAIN_RUNS    10
#define EXPLAIN_REASONS 600
#define EXPLAIN_PAIRS   40 /* that are looked at; and so many that are right */
#define EXPLAIN_TABLES  64

/* A mistake that gives some wrong number, and what came of it. */
struct explain_reason {
    struct explain_choice choice;
    int rank; /* the smaller, the simpler */
    char text[EXPLAIN_TEXT];
    unsigned char *gives; /* of each wrong number that is looked at, in x->gives */
    int n, different;     /* how many; and how many different ones */
    int of_none;          /* how many are what a row without keys has, or a NaN */
    int against;          /* numbers of the same rows that are right, and would not be */
    int swallowed;        /* wrong numbers that would be NaN, and are numbers */
    int refuted;          /* rows and heads that are right, and would not be */
    double largest;       /* error / bound of what it gives */
};

/* A wrong number, and what the kernel gave. */
struct explain_number {
    int run, pair, element;
    double got;
};

/* A row and head that is looked at, and its wrong numbers: none where it is right. */
struct explain_pair {
    int run, pair;
    int begin, end; /* in x->wrong */
};

struct explain {
    FILE *file;
    struct runner *runner;
    const struct gate_recipe *recipe;     /* of the case */
    struct cp_kernel in_nats;             /* the kernel, as it is explained, */
    const struct cp_kernel *kernel;       /* and that */
    double lse_unit;                      /* nats, of the unit of its log-sum-exps */
    struct explain_run run[EXPLAIN_RUNS]; /* of the case, then of cases like it */
    int n_runs;
    struct explain_model model;
    int widest; /* the most elements of a row, in any run */

    int unusual;              /* 1: the case is right, and what is unusual counts as wrong */
    struct gate_cause *cause; /* the first that is said is kept in it; NULL: nowhere */
    int named;                /* 1: a cause was said that is no mistake of a table */
    struct explain_reason *reason;
    int n_reasons;
    unsigned char *gives; /* [EXPLAIN_REASONS + 1][n_wrong]: of reasons; and what was said gives */
    struct explain_number *wrong; /* that are looked at */
    int n_wrong;
    struct explain_pair pair[2 * EXPLAIN_PAIRS];
    int n_pairs, n_right; /* rows and heads; of these, right */

    double until;             /* on a clock of seconds */
    double kept;              /* seconds before that when no mistake is tried any more */
    const volatile int *stop; /* not 0: nothing more is to be tried */
    const char *untried[EXPLAIN_TABLES];
    int n_untried;
};

/* 1: there is no time left, of which `part` is to be kept, or it is interrupted. */
int explain_is_over(const struct explain *x, double seconds_kept);

/* ---- Search ---- */

/* 0, or -1: no memory. Of all runs. */
int explain_search_new(struct explain *x);

/* All tables; what gives a wrong number is a reason, and each is weighed by all wrong numbers and
 * rows that are right. */
void explain_search(struct explain *x);

/* ---- Which mistakes are said ---- */

/* How many wrong numbers of the case itself are looked at; with `gives`, a byte for each wrong
 * number, how many of those it gives. */
int explain_of_case(const struct explain *x, const unsigned char *gives);

/* Whether a reason gives most wrong numbers of the case. FOUND: and half of the others, and they
 * are enough. INFINITIES: it gives all infinities and NaNs, and these are not few. */
enum explain_found { EXPLAIN_NOT_FOUND, EXPLAIN_PERHAPS, EXPLAIN_FOUND, EXPLAIN_INFINITIES };
enum explain_found explain_find(const struct explain *x);

/* Where no mistake gives most of the numbers, `why` says why it is no rounding; NULL: it may be.
 * Where x->named, what was said before may be the cause of the numbers that are left. */
void explain_say(struct explain *x, const char *why);

/* The roundings that give most of the wrong numbers: before wider declarations are said. */
void explain_say_rounded(const struct explain *x);

/* The first that is said, for those that want one. */
void explain_keep_cause(const struct explain *x, const char *begin, const char *words);

/* What there was no time for. */
void explain_say_untried(const struct explain *x);

/* ---- Other causes: each is said ---- */

/* Rows that see no key. Returns whether any of the case is wrong. */
int explain_empty_rows(struct explain *x);

/* Another convention (CONV-1, CONV-2) by which all numbers of the kernel would be right. Returns
 * whether there is one. */
int explain_conventions(struct explain *x);

/* Case i of a seed, of many sequences and rows: beside the case, to try a convention on. */
void explain_make_other(const struct explain *x, unsigned long long seed, int i,
                        struct gate_recipe *recipe);

/* Runs a case. Returns 1: it is right, 0: it is wrong, or there is no memory, -1: the kernel does
 * not take it. */
typedef int explain_trial(const struct explain *x, const struct gate_recipe *recipe, void *context);

/* How many such cases are right, as many as are tried; 0: one is wrong, the kernel takes too few,
 * or there is no time. */
int explain_right_others(const struct explain *x, unsigned long long seed, explain_trial *trial,
                         void *context);

/* Where the case, and others, are right without something that calls may have (CONV-3), and those
 * with it are wrong: that it may be declared so. */
void explain_never(const struct explain *x);

/* Where bits depend on what else is in a call (CONV-5): the lesser declaration by which all is
 * right. */
void explain_invariant(struct explain *x);

/* Another layout or cache (CONV-10 to CONV-12) by which this case and others are right. Returns
 * whether there is one. */
int explain_layouts(struct explain *x);

/* Infinities and NaNs in rows that see keys. */
void explain_infinities(struct explain *x);

/* Another place of the scale (CONV-4) by which this case and others are right, where a mistake of
 * the query gives half of the wrong numbers. Returns whether there is one. */
int explain_scales(struct explain *x);

/* Wider arithmetics that would make this case right, other cases, and at least `least` that are
 * wrong now. Returns whether there is one. */
#define EXPLAIN_ENOUGH_CASES 3
int explain_declared(struct explain *x, int least);

/* Why what is wrong cannot be rounding; NULL: it may be. */
const char *explain_why_no_rounding(const struct explain *x);

/* Numbers that differ between two runs of the case, and what makes them differ. */
void explain_other_bits(struct explain *x);

/* Elements that were not written; and any other wrong access. */
void explain_unwritten(struct explain *x);
void explain_access(struct explain *x, const struct gate_finding *finding);

/* Bytes of nobody that change a result. Returns whether there are any. */
int explain_padding(struct explain *x);

/* What all wrong rows and heads of the first n_runs runs have in common that no right one has.
 * Returns how many such properties there are. */
int explain_where(const struct explain *x, int n_runs);

/* A case like this one, by its number: with other values, more keys, larger sizes. 0: it is not
 * needed; -1: there are no more. */
int explain_make_like(const struct explain *x, int which, struct gate_recipe *like);

/* ---- How it is shown ---- */

/* The sequences with their chunks or runs, and what is shared with those that share it. */
void explain_tree(FILE *file, const struct gate_problem *problem);

/* Elements, of which is_one[i], as "0 to 7, 16". */
void explain_print_elements(FILE *file, const unsigned char *is_one, int n);

/* Rows and heads, of which is_one[pair], as "row 0 head 1, row 2 head 0 and 5 more". */
void explain_print_pairs(FILE *file, const unsigned char *is_one, const struct gate_problem *p);

/* The first rows and heads of the case in which a number is picked, i = d being the log-sum-exp. A
 * line names each, and say() prints those below. Of its d elements n are picked. Returns how many
 * rows and heads there are. */
typedef int explain_picker(const struct explain_results *r, int i);
typedef void explain_sayer(struct explain *x, const struct explain_results *r,
                           const unsigned char *picked, int n);
int explain_show(struct explain *x, explain_picker *picks, explain_sayer *say);

#endif
