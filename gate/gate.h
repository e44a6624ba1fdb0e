/* SPDX-License-Identifier: Apache-2.0 */
/* The command `chunkproof gate`: a kernel in, a verdict out.
 *
 *   options.c  the command line           recipe.c   which problems there are to solve
 *   problem.c  a recipe's tree and plan   values.c   its numbers
 *   layout.c   its arrays as a kernel gets them
 *   runner*.c  a kernel in its own process  compile.c  a kernel that is given as source
 *   class.c    what a kernel declares     judge.c    its results against the certified tolerance
 *   check.c    what is asked of a kernel, and how its answers are compared
 *   crew.c     many cases, by several threads; state.c  how far they came, in a file
 *   rules.c    the same results by the rules of others, usual.c their usual test, log.c each case with that
 *   shrink.c   makes a case smaller       case.c     keeps it in a file
 *   explain*.c what a wrong result is the result of
 *   report*.c  what is said of it all: text, JSON, JUnit XML, HTML
 *   markup.c   XML and HTML, escaped     command.c  the order of it all
 *
 * A recipe is small and says everything: the same recipe makes the same problem on every machine. */
#ifndef CHUNKPROOF_GATE_GATE_H
#define CHUNKPROOF_GATE_GATE_H

#include <stdio.h>

#include "chunkproof/tolerance.h"
#include "gate/judge/rules.h"
#include "gate/runner/runner.h"
#include "gate/source/compile.h"

struct json_t; /* of jansson */

/* ---- Recipes ---- */

/* What is done to the tree, one thing after the other. Sequences are counted as they lie in the tree at that time; a
 * number that is too large is taken modulo how many there are. */
enum gate_op_kind {
    GATE_JOIN,   /* first `tokens` tokens of sequence `sequence` (0 of none), then `own` new ones */
    GATE_APPEND, /* `tokens` new tokens for a sequence, one at a time */
    GATE_LEAVE,
    GATE_FORK,
    GATE_OPS
};

struct gate_op {
    enum gate_op_kind kind;
    int sequence, tokens, own;
};

#define GATE_MOST_OPS 64

/* How the numbers are made. */
enum gate_values {
    GATE_COUNT, /* all weights equal, each number of V in few keys: a key too many or too few shows */
    GATE_SELECT, /* a query chooses few keys by their address, all others weigh nothing: another key shows */
    GATE_NORMAL,  /* mean 0, variance 1 */
    GATE_MASSIVE, /* few channels 50 times as large */
    GATE_ONE_HOT, /* one key in seven far ahead */
    GATE_SHIFTED, /* all scores about -900 or 900, or -70,000 or 70,000 */
    GATE_RISING,  /* each key a new maximum; */
    GATE_FALLING, /* the first one the maximum; of both at times keys of small weight alone count */
    GATE_OFFSET,  /* V far from 0 and close together */
    GATE_SUBNORMAL, /* V below the smallest normal number */
    GATE_ZERO,      /* Q and V of zeros of both signs */
    GATE_VALUES
};

extern const char *const gate_values_names[GATE_VALUES + 1]; /* NULL behind the last */
extern const char *const gate_values_words[GATE_VALUES];     /* what they show */

/* Query rows. */
enum gate_queries {
    GATE_DECODE,  /* one for each sequence */
    GATE_SEVERAL, /* 0 to 4, but not more than keys */
    GATE_MORE,    /* up to 3 more than keys: rows that see none */
    GATE_MANY,    /* up to 40, but not more than keys */
    GATE_QUERIES
};

/* Where elements lie: bits that are set at will. */
#define GATE_SLOTS_FIRST   1  /* K: [chunk][slot][head] instead of [chunk][head][slot] */
#define GATE_V_OTHERWISE   2  /* V the other way round than K */
#define GATE_HEADS_FIRST   4  /* Q and out: [head][row] */
#define GATE_SPREAD        8  /* numbers of nobody behind each d, */
#define GATE_OUT_OTHERWISE 16 /* out the other way round than Q */
#define GATE_SPREAD_CHUNKS 32 /* and behind each chunk */
#define GATE_FAR           64 /* chunks so far apart that 32 bits hold no offset; in host memory */
#define GATE_LAYOUTS       128

/* What lies where no key is. */
enum gate_padding { GATE_NANS, GATE_HUGE, GATE_STALE, GATE_PADDINGS };

struct gate_recipe {
    int n_heads, n_kv_heads, head_dim, chunk_size;
    enum gate_values values;
    enum gate_queries queries;
    int layout;
    enum gate_padding padding;
    int scale;       /* in percent of 1 / sqrt(d) */
    int without_lse; /* 1: it is not asked for, though the kernel has it */
    int renewed;     /* 1: run once more with other numbers of the same sizes, in the same memory */
    unsigned long long seed; /* of numbers, and of how many queries there are */
    int n_ops;
    struct gate_op op[GATE_MOST_OPS];
};

/* Sizes that are wanted; 0: any. */
struct gate_shape {
    int n_heads, n_kv_heads, head_dim, chunk_size;
};

/* So much work is small: recipes with that, or less, are none of the few that are long, deep or wide. */
#define GATE_SMALL_WORK 20000

/* Recipe `index` of a seed, with about `work` products q_i k_i at most, but for the few that are long. A kernel may
 * refuse its sizes: attempt 1, 2, ... has others, with the same kind of values. */
void gate_recipe_make(struct gate_recipe *recipe, unsigned long long seed, long long index,
                      int attempt, long long work, const struct gate_shape *shape);

/* In one line, for people. */
#define GATE_LINE 320
void gate_recipe_print(const struct gate_recipe *recipe, char *line);

/* ---- Problems ---- */

/* All that there is to know of one. */
struct gate_problem {
    struct gate_recipe recipe;
    int q_type, kv_type, out_type, lse_type; /* the kernel's */
    int is_far;                              /* chunks are */
    int b, n_rows, capacity;
    int *n_tokens, *query_begin, *table, *n_shared_chunks;
    int table_width;
    int n_shared;
    struct cp_shared_chunk *shared;
    double scale;
    unsigned long long
        seed; /* the recipe's, or another one when renewed: of numbers, and of which chunks there are */
    double *q;     /* the numbers in them: [rows][h][d] */
    double *k, *v; /* [capacity][h_kv][c][d]; NaN where no key is */
};

/* What the operations make, for cp_tree_free(); NULL: no memory. */
struct cp_tree *gate_tree_new(const struct gate_recipe *recipe);

/* All but the numbers, which are gate_values_fill()'s. 0, or -1: no memory. */
int gate_problem_new(struct gate_problem *problem, const struct gate_recipe *recipe,
                     const struct cp_kernel *kernel);
void gate_problem_free(struct gate_problem *problem);

/* Sizes as it might have, made without a tree, to ask a kernel quickly. Nothing to free. */
struct gate_problem gate_problem_guess(const struct gate_recipe *recipe,
                                       const struct cp_kernel *kernel);

/* The same sizes, and other numbers: in the same chunks where there is one operation, or in every other recipe. 0, or -1:
 * no memory. */
int gate_problem_renew(struct gate_problem *problem, const struct gate_recipe *recipe,
                       const struct cp_kernel *kernel);

/* Each sequence has a key more that has room for it in a last chunk of its own, or as many as there is room for: only
 * lengths change (PLAN-6). Numbers are to be filled in anew. Returns whether any has. */
int gate_problem_grow(struct gate_problem *problem);

/* How many keys a sequence of so many has then, after gate_problem_renew(). */
int gate_grown_length(const struct gate_recipe *recipe, int n_tokens);

/* One sequence of it without the others, paged: nothing is shared. K and V are the whole's, which lives longer. 0, or
 * -1: no memory. */
int gate_problem_alone(struct gate_problem *alone, const struct gate_problem *whole, int sequence);
void gate_problem_free_alone(struct gate_problem *alone);

/* Q, K and V by the recipe's kind of values; every number is one of its type. */
void gate_values_fill(struct gate_problem *problem);

/* The nearest number of a type. */
double gate_round(int type, double x);

/* Without the sign of a NaN, to be printed. */
double gate_plain(double x);

/* Element 0 of a key, in k and v. */
size_t gate_key_at(const struct gate_problem *problem, int sequence, int j, int kv_head);
int gate_sequence_of(const struct gate_problem *problem, int row);
int gate_visible(const struct gate_problem *problem, int row);

/* The same as a kernel gets it. All arrays are this's own. */
struct gate_arrays {
    struct run_call run;
    unsigned char *memory[RUN_BUFFERS];
};

/* The call without its arrays: sizes, and strides as a kernel gets them. In a struct gate_arrays chunks are never far
 * apart, and strides are those of its own memory. */
void gate_call_sizes(struct cp_kernel_call *call, const struct gate_problem *problem);

/* Bytes that a case takes, about, with a workspace of that size: here, and where the kernel is. */
double gate_case_bytes(const struct gate_problem *problem, size_t workspace);

/* 0, or -1: no memory. */
int gate_arrays_new(struct gate_arrays *arrays, const struct gate_problem *problem);
void gate_arrays_free(struct gate_arrays *arrays);

/* The same inputs, with results of its own: `one` lives longer. 0, or -1: no memory. */
int gate_arrays_again(struct gate_arrays *again, const struct gate_arrays *one);
void gate_arrays_free_again(struct gate_arrays *again);

/* Number i of a row and head of the results. */
double gate_out_at(const struct gate_arrays *arrays, const struct gate_problem *problem, int row,
                   int head, int i);
double gate_lse_at(const struct gate_arrays *arrays, const struct gate_problem *problem, int row,
                   int head);

/* ---- Verdicts ---- */

/* NUM-7, NUM-8 for a row of n keys of d numbers, of which no score is larger in magnitude: what the kernel declares. */
void gate_class(const struct cp_kernel *kernel, const struct gate_recipe *recipe, int n,
                double largest_score, struct cp_arithmetic *arithmetic, struct cp_counts *counts);

/* What its logarithm and its format make of a log-sum-exp. */
double gate_lse_error(const struct cp_kernel *kernel, int n, double largest_score);

enum gate_verdict {
    GATE_RIGHT,
    GATE_WRONG,         /* outside of the certified tolerance */
    GATE_DEPENDS,       /* the same, and right for that sequence without the others */
    GATE_NOT_A_NUMBER,  /* a NaN */
    GATE_UNWRITTEN,     /* an element of out or lse was left as it was */
    GATE_WROTE_BETWEEN, /* elements of out that are no result's */
    GATE_OTHER_BITS,    /* not the same result for the same call */
    GATE_REMEMBERS,     /* ... when others came in between */
    GATE_FAILED,        /* attend() says so */
    GATE_OUT_OF_BOUNDS,
    GATE_WROTE_INPUT,
    GATE_WROTE_LATE,
    GATE_CRASHED,
    GATE_EXITED,
    GATE_HANGS,
    GATE_RACES,     /* on a device: threads that nothing orders */
    GATE_UNDEFINED, /* on a device: what CUDA does not define */
    GATE_VERDICTS
};

extern const char *const gate_verdict_names[GATE_VERDICTS];

struct gate_finding {
    enum gate_verdict verdict;
    char clause[16];        /* what it breaks, "" for none */
    int row, head, element; /* the first that is wrong; -1 where that has no meaning */
    double got, expected, bound;
    long long wrong, compared,
        unclaimed;  /* elements; of the last nothing can be claimed (NUM-12) */
    double largest; /* error / bound, of all that were compared; infinite for a NaN */
    int keys;       /* that its row sees */
    char text[1280];
};

/* Notes which clause is broken. */
void gate_finding_breaks(struct gate_finding *finding, const char *clause);

/* GATE_RIGHT, with nothing compared. */
extern const struct gate_finding gate_no_finding;

/* What a row and head is to be, number by number: its elements, and last the log-sum-exp. */
struct gate_numbers {
    double *expected, *bound; /* [d + 1] */
};

/* Attention of a row, and how far a kernel of this class that weighs n keys may be from it. */
void gate_certify(const struct cp_kernel *kernel, const struct gate_recipe *recipe, int n,
                  const struct cp_tolerance_row *row, const struct gate_numbers *numbers);

/* The same of rows of a problem, one after the other. NULL: no memory; free takes NULL. */
struct gate_row;
struct gate_row *gate_row_new(const struct gate_problem *problem);
void gate_row_certify(struct gate_row *room, const struct cp_kernel *kernel, int row, int head,
                      const struct gate_numbers *numbers);
void gate_row_free(struct gate_row *room);

/* GATE-1 for one number of a row that sees so many keys. */
enum gate_rightness { GATE_NUMBER_RIGHT, GATE_NUMBER_WRONG, GATE_NUMBER_UNCLAIMED };
enum gate_rightness gate_judge_number(int n_keys, double got, double expected, double bound);

/* Compares the results with attention, for at most `most` pairs (row, head), spread evenly; and shows them to a tensor,
 * unless it is NULL. 0, or -1: no memory. */
int gate_judge(const struct gate_problem *problem, const struct gate_arrays *arrays,
               const struct cp_kernel *kernel, int most, struct gate_finding *finding,
               struct gate_tensor *tensor);

/* The bytes that results are filled with before the two runs of a case. */
#define GATE_POISON       0xFF /* NaNs */
#define GATE_POISON_AGAIN 0xA5

/* Whether all of out and lse was written, nothing between the rows, and the same bits: two runs of one call, with
 * different poison. 0, or -1: no memory. */
int gate_judge_writes(const struct gate_problem *problem, const struct gate_arrays *one,
                      const struct gate_arrays *other, struct gate_finding *finding);

/* ---- Checking ---- */

enum gate_tier { GATE_QUICK, GATE_FULL, GATE_DEEP, GATE_TIERS };

#define GATE_MEMORY 0x1p32 /* bytes, when nothing else is said */

struct gate_options {
    const char *kernel, *json, *junit, *html, *save; /* files, and a directory */
    char *const *replay;                             /* of `chunkproof replay`: files of cases, */
    int n_replay;                                    /* so many */
    enum gate_tier tier;
    enum gate_place place;
    unsigned long long seed;
    long long cases; /* 0: the tier's */
    long long only;  /* this case alone; -1: all */
    double seconds;  /* for one call; 0: as usual */
    double time;     /* for all; 0: as long as it takes */
    double memory;   /* bytes for the cases that run side by side */
    struct gate_shape shape;
    int jobs;            /* kernels that are checked side by side */
    const char *state;   /* a file that keeps how far it came; NULL: none */
    int first;           /* stop at the first finding */
    int rules;           /* judge by the rules of others as well, and report each case */
    int explain;         /* of replay: what wrong results are the results of */
    const char *command; /* its name */
    int help;
};

/* 0, or -1 after saying what is wrong. */
int gate_options_parse(struct gate_options *options, int argc, char **argv);
void gate_options_help(FILE *file);
int gate_replay_parse(struct gate_options *options, int argc, char **argv);
void gate_replay_help(FILE *file, int explains);
extern const char *const gate_tier_names[GATE_TIERS + 1];

/* A case and what was found in it. */
struct gate_found {
    long long index, work; /* which case; about how large */
    int needs_others;      /* 1: not wrong without the cases before it */
    int has_before;        /* 1: wrong behind this one in a new process, and right without it */
    struct gate_recipe recipe, before;
    struct gate_finding finding;
    char file[256]; /* where it was saved; "" nowhere */
};

/* Intervals of error / bound: 0 is up to 2^-12, GATE_RATIO_ONE ends at 1, what is not right is behind it; each but the
 * first and the last is a factor of sqrt(2) wide. And of numbers of keys: 0 is none, i is 2^(i-1) and more. */
#define GATE_RATIOS    50
#define GATE_RATIO_ONE 24
#define GATE_KEYS      18

int gate_ratio_interval(double ratio);
int gate_keys_interval(int keys);

/* What came of all cases with one kind of values. */
struct gate_tally {
    long long cases, compared, unclaimed;
    long long verdicts[GATE_VERDICTS];
    double largest, seconds;
    int spread[GATE_KEYS]
              [GATE_RATIOS];    /* cases, by the largest error / bound of each and its keys */
    struct gate_found smallest; /* the smallest case that is not right, if one is */
};

/* Cases of one head_dim that were judged, and the keys of the longest sequence among them. */
#define GATE_HEAD_DIMS 24 /* more than recipes have */
struct gate_covered {
    int head_dim;
    long long cases;
    int keys;
};

/* A case by the rules of others. */
struct gate_entry {
    long long index;
    enum gate_values values;
    enum gate_verdict verdict;
    int judged;        /* 0: it gave no numbers, and did not end where anybody would notice it */
    unsigned rejected; /* bits of rules; all where it did not end as it should */
    double seconds;    /* that the case took */
};

struct gate_log {
    struct gate_entry *entry; /* in the order in which they were run */
    long long n, room;
};

struct gate_result {
    struct gate_tally tally[GATE_VALUES];
    long long cases, refused, runs; /* taken; asked for and not taken; calls of the kernel */
    long long verdicts[GATE_VERDICTS];
    struct gate_found found[GATE_VERDICTS]; /* the smallest case of each verdict */
    char refusal[RUN_TEXT];                 /* why, the last time */
    long long too_large;                    /* attempts that --memory has no room for */
    long long tried_closer; /* results that were held to closer declarations, too: */
    unsigned needed;        /* a bit for each enum gate_closer by which one was wrong */
    struct gate_covered covered[GATE_HEAD_DIMS]; /* by head_dim; n_covered of them */
    int n_covered;
    long long
        unjudged; /* cases that were run, and of too many of whose numbers nothing can be claimed; */
    int unjudged_keys;           /* of the longest sequence among these */
    struct gate_log each, usual; /* cases, and those of the usual test; when asked for */
    int interrupted, is_late;    /* it was not to go on: a signal; --time */
    double seconds;
};

/* Too few for a verdict (GATE-1). */
int gate_claims_few(long long compared, long long unclaimed);

/* Of how many numbers nothing could be claimed; and whether these are too many for a verdict. */
long long gate_unclaimed(const struct gate_result *result);
int gate_claims_too_little(const struct gate_result *result);

/* Nothing more is to be asked: it hangs, it takes nothing, or one finding was wanted. */
int gate_is_enough(const struct gate_options *options, const struct gate_result *result);

/* How many cases the options ask for. */
long long gate_cases(const struct gate_options *options);

/* Cases first .. end-1, one after the other. After each done() is told what has been found in this block: not 0 ends
 * it. `is_first`: nothing of the options was run before. 0, or -1 after saying why there is no verdict. */
struct gate_block {
    long long first, end;
    int is_first;
    struct gate_budget *budget; /* of memory, with other blocks; NULL: none */
    int (*done)(void *context, const struct gate_result *result);
    void *context;
};
int gate_check_block(const struct gate_options *options, struct runner *runner,
                     const struct gate_block *block, struct gate_result *result);

/* Starts one more process with the kernel; NULL after saying what is wrong. In the thread that uses it. */
typedef struct runner *gate_starter(void *context);

/* All cases of the options, options->jobs at once: the first with `runner`, the others with what start() gives. `stop`
 * becomes not 0 when it is to end early. 0, or -1 after saying why there is no verdict. The result is to be freed in
 * either case. */
int gate_check(const struct gate_options *options, struct runner *runner, gate_starter *start,
               void *context, struct gate_result *result, const volatile int *stop);
void gate_result_free(struct gate_result *result);

/* The usual test of an attention kernel: normal values, one query for each sequence, and the plainest layout. */
#define GATE_USUAL 4
void gate_usual_recipe(int i, struct gate_recipe *recipe);

/* One case: 1 it was run, and this came of it; 0 the kernel does not take it; -1 no verdict, said why. */
int gate_check_recipe(struct runner *runner, const struct gate_recipe *recipe,
                      struct gate_finding *finding);

/* The recipe of a case as it was taken: 1, 0 there is none, -1 as above. */
int gate_recipe_taken(const struct gate_options *options, struct runner *runner, long long index,
                      struct gate_recipe *recipe);

/* The same as gate_check_recipe(), and shows the problem and the results of both runs to `look`. */
typedef void gate_looker(void *context, const struct gate_problem *problem,
                         const struct gate_arrays *one, const struct gate_arrays *other,
                         const struct gate_finding *finding);
int gate_look(struct runner *runner, const struct gate_recipe *recipe, struct gate_finding *finding,
              gate_looker *look, void *context);

/* The same as gate_check_recipe(), and what could have been computed instead of attention where it is wrong, which may take
 * more runs of cases like it: for so many seconds, or until `stop` is not 0. */
int gate_explain(FILE *file, struct runner *runner, const struct gate_recipe *recipe,
                 double seconds, const volatile int *stop, struct gate_finding *finding);

/* What is said of a kernel that is right in a new process and wrong in one that ran other calls. */
extern const char gate_keeps_something[];

/* Makes the case that was found smaller while the verdict stays, for at most so many seconds: fewer operations, shorter
 * sequences, fewer heads, smaller d, plainer layouts and values; what `shape` asks for stays. Returns how many cases it tried; -1 as above. */
int gate_shrink(struct runner *runner, struct gate_found *found, const struct gate_shape *shape,
                double seconds, const volatile int *stop);

/* A case as a file: JSON, a few lines. 0, or -1 after saying what is wrong, and where; `command` says it. */
int gate_case_save(const char *file, const struct gate_found *found,
                   const struct cp_kernel *kernel);
int gate_case_load(const char *file, const char *command, struct gate_recipe *recipe);

/* The case that has to be run before it, of a file that was loaded: 1; 0 there is none, -1 after saying what is wrong. */
int gate_case_before(const char *file, const char *command, struct gate_recipe *before);

/* ---- Reports ---- */

/* What each of them is of. */
struct gate_report {
    const struct gate_options *options;
    const struct cp_kernel *kernel;
    const struct gate_result *result;
};

void gate_print_text(FILE *file, const struct gate_report *report);

/* The files that the options ask for, open before anything is checked: one that cannot be written is to cost nobody an
 * hour. */
enum gate_format { GATE_JSON, GATE_JUNIT, GATE_HTML, GATE_FORMATS };

struct gate_files {
    const char *name[GATE_FORMATS]; /* NULL: it is not asked for */
    FILE *file[GATE_FORMATS];
};

/* Each: 0, or -1 after saying what is wrong. Files that were opened are to be written or removed. */
int gate_files_open(struct gate_files *files, const struct gate_options *options);
int gate_files_write(struct gate_files *files, const struct gate_report *report);

/* There is nothing to report. */
void gate_files_remove(struct gate_files *files);

/* What the rules of others say of the cases: lines of a report, and members of one in JSON (0, or -1: no memory). */
int gate_log_add(struct gate_log *log, const struct gate_entry *entry); /* 0, or -1: no memory */
void gate_log_print(FILE *file, const struct gate_result *result);
int gate_log_json(struct json_t *report, const struct gate_result *result);

#endif
