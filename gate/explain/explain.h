/* SPDX-License-Identifier: Apache-2.0 */
/* What `chunkproof explain` consists of. Each file uses those below it alone:
 *
 *   explain.c       the order of it all
 *   likes.c         cases like the one that is explained
 *   declared.c      an arithmetic that is wider than was declared
 *   infinities.c    infinities, NaNs, and rows that see no key
 *   access.c        accesses that are wrong by themselves: not written, out of an array, a race
 *   bytes.c         bytes that a result must not depend on
 *   say.c           which mistakes are said, and how
 *   search.c        the odometer: all mistakes of the tables on the wrong numbers
 *   mistakes_*.c    tables of mistakes: keys, scores, sums, results
 *   model.c, model_*.c   attention of a row in stages, and a choice in one of them
 *   where.c         what wrong rows have in common; the tree
 *   run.c           runs of the kernel, judged number by number */
#ifndef CHUNKPROOF_GATE_EXPLAIN_EXPLAIN_H
#define CHUNKPROOF_GATE_EXPLAIN_EXPLAIN_H

#include <stdio.h>

#include "gate/explain/mistakes.h"

/* The same as gate_check_recipe(), and what could have been computed instead of attention where the
 * result is wrong. That may take more runs of cases like this one: for so many seconds, or until
 * `stop` is not 0. */
int gate_explain(FILE *file, struct runner *runner, const struct gate_recipe *recipe,
                 double seconds, const volatile int *stop, struct gate_finding *finding);

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
    unsigned char *gives; /* of each wrong number that is looked at */
    int n, different;     /* how many; and how many different ones */
    int against;          /* numbers of the same rows that are right, and would not be */
    int swallowed;        /* wrong numbers that would be NaN, and are numbers */
    int refuted;          /* rows and heads that are right, and would not be */
    double largest;       /* error / bound of what it gives */
};

/* A wrong number. */
struct explain_number {
    int run, pair, element;
};

struct explain {
    FILE *file;
    const struct cp_kernel *kernel;
    struct explain_run run[EXPLAIN_RUNS];
    int n_runs;
    struct explain_model model;
    int widest; /* the most elements of a row, in any run */

    int named; /* 1: a cause was said that is no mistake of a table */
    struct explain_reason *reason;
    int n_reasons;
    struct explain_number *wrong; /* that are looked at */
    int n_wrong;
    struct explain_number right[EXPLAIN_PAIRS]; /* rows and heads without a wrong number */
    int n_right;

    double until;             /* on a clock of seconds */
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

/* ---- Words ---- */

/* Whether a reason gives most wrong numbers of the case; found: and half of the others, and they
 * are enough; infinities: it gives all of these, and they are part of it. */
enum explain_found { EXPLAIN_NOT_FOUND, EXPLAIN_PERHAPS, EXPLAIN_FOUND, EXPLAIN_INFINITIES };
enum explain_found explain_find(const struct explain *x);

/* `why`: why it is no rounding, NULL where it may be; said where no mistake gives most of the
 * numbers. Where x->named, what is wrong was said before: then it is not said that some numbers are
 * not given. */
void explain_say(struct explain *x, const char *why);

/* The roundings that give most of the wrong numbers, if there are such, before what wider
 * declarations would make right. */
void explain_say_rounded(const struct explain *x);

/* What there was no time for. */
void explain_say_untried(const struct explain *x);

/* ---- Beside that ---- */

/* Rows that see no key, and what they must give. Returns whether any of the case is wrong. */
int explain_empty_rows(struct explain *x);

/* Of infinities and NaNs in rows that see keys: the heaviest keys, and which mistakes lead
 * there. */
void explain_infinities(struct explain *x);

/* Says which wider arithmetic would make the results right, of this case and of others. `least`:
 * cases that are wrong now it must do so for. Returns whether any does. */
int explain_declared(struct explain *x, struct runner *runner, const struct gate_recipe *recipe,
                     int least);
#define EXPLAIN_ENOUGH_CASES 3

/* Why what is wrong cannot be rounding; NULL: it may be. */
const char *explain_why_no_rounding(const struct explain *x);

/* A case like this one, by its number: other values, other bytes where no key is, more keys, larger
 * sizes. 0: there is none that is called so; -1: there are no more. */
int explain_make_like(const struct explain *x, const struct gate_recipe *recipe, int which,
                      struct gate_recipe *like);

/* Says which numbers differ between two runs of the same call, and what makes them differ. */
void explain_other_bits(FILE *file, struct runner *runner, const struct gate_recipe *recipe,
                        const struct explain_run *run);

/* Says which elements were not written; and of any other wrong access where it is, and what to look
 * at. */
void explain_unwritten(FILE *file, const struct explain_run *run);
void explain_access(FILE *file, struct runner *runner, const struct gate_recipe *recipe,
                    const struct gate_finding *finding);

/* Says which bytes that are nobody's change a result. Returns whether any do. */
int explain_padding(FILE *file, struct runner *runner, const struct gate_recipe *recipe);

/* Says what all wrong rows and heads of these runs have in common that no right one has. Returns
 * how many such things there are: none when no row is right. */
int explain_where(FILE *file, const struct explain_run *runs, int n_runs);

/* The sequences with their chunks, and the shared chunks with their ranges. */
void explain_tree(FILE *file, const struct gate_problem *problem);

/* Elements, of which is_one[i], as "0 to 7, 16": at most some ranges. */
void explain_print_elements(FILE *file, const unsigned char *is_one, int n);

#endif
