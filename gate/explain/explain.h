/* SPDX-License-Identifier: Apache-2.0 */
/* What the parts of `chunkproof explain` ask of each other.
 *
 *   explain.c          the order of it all       run.c     runs of the kernel, judged number by number
 *   reason.c   mistakes that are tried, and which of them are said
 *   keys.c     other keys, other heads, other places in memory
 *   range.c    too few keys, or some twice
 *   rule.c     attention by another formula: scales, elements, other rows' results
 *   sums.c     sums that are not rescaled, or merged wrongly
 *   warps.c    the same, of warps that take tiles in turn
 *   rounded.c  numbers that are kept in a short format
 *   maxima.c   weights against another query's maximum
 *   tiles.c    query rows and heads that are taken together, and masks that are decided for them
 *   splits.c   parts of a row's keys, merged with wrong factors
 *   lse.c      the log-sum-exp alone     class.c   an arithmetic that is wider than was declared
 *   weights.c  weights that a sum misses, has twice, or that are 0; keys that are none, and weigh
 *   scores.c   scores of too few elements, of another scale, summed up over keys
 *   float.c    infinities and NaNs: what a number format cannot hold; rows that see no key
 *   bytes.c    bytes that are nobody's   where.c   what wrong rows have in common; the tree
 *   access.c   accesses that are wrong by themselves: not written, out of an array, a race
 *
 * A mistake is a function that says of a row and head what each number would be if it had been made. It is tried on all
 * wrong numbers of the case and of some cases like it; what is said of it is how many of them it gives. */
#ifndef CHUNKPROOF_GATE_EXPLAIN_EXPLAIN_H
#define CHUNKPROOF_GATE_EXPLAIN_EXPLAIN_H

#include <stdio.h>

#include "gate/case/values.h"
#include "gate/judge/class.h"
#include "gate/judge/judge.h"
#include "gate/search/check.h"

/* The same as gate_check_recipe(), and what could have been computed instead of attention where it is wrong, which may take
 * more runs of cases like it. */
int gate_explain(FILE *file, struct runner *runner, const struct gate_recipe *recipe,
                 struct gate_finding *finding);

/* What is said of a kernel that is right in a new process and wrong in one that ran other calls. */
extern const char gate_keeps_something[];

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

/* Ranks from the first on say what is seen, not what it comes from. */
#define EXPLAIN_NO_REASON  100
#define EXPLAIN_ONE_FACTOR 150
#define EXPLAIN_ROUNDED    170 /* which of wider declarations it is */

#define EXPLAIN_NUMBERS 4 /* that a mistake may have */
#define EXPLAIN_TEXT    440

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

#define EXPLAIN_RUNS    10
#define EXPLAIN_REASONS 320
#define EXPLAIN_PAIRS   40 /* that are looked at; and so many that are right */

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
    int widest;                         /* the most elements of a row, in any run */

    /* a wrong problem */
    int m, room;
    int outside; /* 1: it has a key that is nowhere */
    double *q, *k, *v, *scratch, *prefix;
    struct gate_numbers numbers;

    int named;      /* 1: a cause was said that is no mistake that is tried */
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

/* `why`: why it is no rounding, NULL where it may be; said where no mistake gives most of the numbers. Where x->named, what
 * is wrong was said before: then it is not said that some numbers are not given. */
void explain_say(struct explain *x, const char *why);

/* The roundings that give most of the wrong numbers, if there are such, before what wider declarations would make right. */
void explain_say_rounded(const struct explain *x);

/* Whether a reason that was weighed gives most wrong numbers of the case; found: and half of the others, and they are
 * enough; infinities: it gives all of these, and they are part of it. */
enum explain_found { EXPLAIN_NOT_FOUND, EXPLAIN_PERHAPS, EXPLAIN_FOUND, EXPLAIN_INFINITIES };
enum explain_found explain_find(const struct explain *x);

/* What is tried on the pair x is at. */
void explain_try_keys(struct explain *x);
void explain_try_ranges(struct explain *x); /* by the one before, of rows that see keys */
void explain_try_rules(struct explain *x);
void explain_try_sums(struct explain *x);
void explain_try_warps(struct explain *x);
void explain_try_rounded(struct explain *x);
void explain_try_maxima(struct explain *x);
void explain_try_tiles(struct explain *x);
void explain_try_splits(struct explain *x);
void explain_try_lse(struct explain *x);
void explain_try_weights(struct explain *x);
void explain_try_scores(struct explain *x);
void explain_try_floats(struct explain *x);

/* ---- A wrong problem ---- */

void explain_take_query(struct explain *x, int row, int head);

/* A key in a slot of a chunk of the pool, of these heads; -1 is no chunk. */
void explain_take_slot(struct explain *x, int chunk, int slot, int g_of_k, int g_of_v);

/* Key j of the path of sequence s, where there may be none; and all that are seen, of the pair's own. */
void explain_take_key(struct explain *x, int s, int j, int g_of_k, int g_of_v);
void explain_take_all(struct explain *x);

/* Attention of what was taken, with `factor` on the scores. As a mistake returns. */
int explain_attend(struct explain *x, double factor);

/* Their scores, scaled, as scratch[0 .. m - 1]; what is read of keys is taken first. */
void explain_score_all(struct explain *x);

/* ---- Sums ---- */

/* The largest score, the sum of weights, of weighted values, and of their magnitudes: what may be lost is in proportion
 * to that. */
struct explain_state {
    double m, n;
    double *o, *size; /* [d] */
};

/* One of two, in the room of x: sums of nothing. */
void explain_begin(const struct explain *x, struct explain_state *state, int which);

void explain_clear(const struct explain *x, struct explain_state *state);

/* The pair's own keys, and their scores. */
void explain_take_scores(struct explain *x);

/* Keys that are weighed at one maximum: a chunk of whatever case it is, or a number. */
#define EXPLAIN_A_CHUNK 0

int explain_keys_of_step(const struct explain *x, int step);
void explain_name_step(int step, char *text, size_t size);

/* The state's maximum becomes that of all keys that were scored. */
void explain_find_largest(const struct explain *x, struct explain_state *state);

/* Key j of those that were scored, so many times its weight in each sum. */
void explain_add_key(const struct explain *x, struct explain_state *state, int j, double of_n,
                     double of_o);

/* What the numbers would be: nothing is certified of a wrong sum; it is allowed what attention is, in proportion to its
 * size, and the rounding of the output. As a mistake returns. */
int explain_finish(struct explain *x, const struct explain_state *state, double divisor);

/* Some wrong elements of the pair x is at, to see quickly that sums do not give them. */
#define EXPLAIN_TESTED 4
struct explain_test {
    int n, element[EXPLAIN_TESTED];
    double got[EXPLAIN_TESTED], allowed[EXPLAIN_TESTED];
};

void explain_test_new(const struct explain *x, struct explain_test *test);

/* sum: of weighted values in each of these elements, and behind these of weights. */
int explain_might_give(const struct explain_test *test, const double *sum);

/* ---- Beside that ---- */

/* Rows that see no key, and what they must give. Returns whether any of the case is wrong. */
int explain_empty_rows(struct explain *x);

/* Of infinities and NaNs in rows that see keys: the heaviest keys, and which mistakes lead there. */
void explain_infinities(struct explain *x);

/* Says which wider arithmetic would make the results right, of this case and of others. `least`: cases that are wrong now
 * it must do so for. Returns whether any does. */
int explain_class(const struct explain *x, struct runner *runner, const struct gate_recipe *recipe,
                  int least);
#define EXPLAIN_ENOUGH_CASES 3

/* Says which numbers differ between two runs of the same call, and what makes them differ. */
void explain_other_bits(FILE *file, struct runner *runner, const struct gate_recipe *recipe,
                        const struct explain_run *run);

/* Says which elements were not written; and of any other wrong access where it is, and what to look at. */
void explain_unwritten(FILE *file, const struct explain_run *run);
void explain_access(FILE *file, struct runner *runner, const struct gate_recipe *recipe,
                    const struct gate_finding *finding);

/* Says which bytes that are nobody's change a result. Returns whether any do. */
int explain_padding(FILE *file, struct runner *runner, const struct gate_recipe *recipe);

/* Says what all wrong rows and heads of these runs have in common that no right one has. Returns how many such things
 * there are: none when no row is right. */
int explain_where(FILE *file, const struct explain_run *runs, int n_runs);

/* The sequences with their chunks, and the shared chunks with their ranges. */
void explain_tree(FILE *file, const struct gate_problem *problem);

/* Elements, of which is_one[i], as "0 to 7, 16": at most some ranges. */
void explain_print_elements(FILE *file, const unsigned char *is_one, int n);

#endif
