/* SPDX-License-Identifier: Apache-2.0 */
/* Compares the tree and its plan with the naive model and with the trace. Each check returns 0, or
 * -1 with checker->violation written; the clause is that of the specification. */
#ifndef CHUNKPROOF_CLI_TRACE_CHECK_H
#define CHUNKPROOF_CLI_TRACE_CHECK_H

#include "chunkproof/opt_plan.h"
#include "chunkproof/plan.h"
#include "chunkproof/tree.h"
#include "cli/trace/data.h"
#include "cli/trace/model.h"

struct trace_violation {
    char clause[16]; /* "" when there is none */
    int request;     /* from 0; -1: the violation belongs to no single request */
    char text[256];
};

struct trace_checker {
    const struct trace *trace;
    const struct trace_model *model;
    const struct cp_tree *tree; /* the id of a sequence is its request's number */
    struct cp_plan *plan;
    const struct cp_opt_tree *opt_tree; /* or this tree; then `tree` is NULL */
    struct cp_opt_plan *opt_plan;       /* the plan of opt_tree, which is exported to `plan` */
    const int *handle;                  /* per request */
    int *token;                         /* room for all of a request */
    int capacity;                       /* of the pool */
    int structure_changed;              /* since the plan was brought up to date */
    int turn;                           /* the sequence whose content is compared next */
    int *seen;                          /* per request: the check that met it last */
    int n_checks;                       /* how many checks linear in the tree were made */
    struct trace_violation violation;
};

/* Returns 0, or -1 when there is no memory. */
int trace_checker_init(struct trace_checker *checker, const struct trace *trace,
                       const struct trace_model *model, const struct cp_tree *tree);
int trace_checker_init_opt(struct trace_checker *checker, const struct trace *trace,
                           const struct trace_model *model, const struct cp_opt_tree *tree,
                           const int *handle, int *token);
void trace_checker_free(struct trace_checker *checker);

/* Writes the violation. Returns -1. */
__attribute__((format(printf, 4, 5))) int trace_violate(struct trace_checker *checker,
                                                        const char *clause, int request,
                                                        const char *format, ...);

/* The status that joining r, or a decoding step that takes `needed` new chunks, must return. */
int trace_expect_join(const struct trace_checker *checker, int r);
int trace_expect_append(const struct trace_checker *checker, int needed);

/* What the lookup before a join says (TREE-8); the model does not have r yet. */
int trace_check_lookup(struct trace_checker *checker, int r, const struct cp_match *match);

/* The new sequence (TREE-9) and its content; the model had `matched` of its blocks, and has r
 * now. */
int trace_check_joined(struct trace_checker *checker, int r, int matched,
                       const struct cp_joined *joined);

/* An operation on r (or -1) has failed, as expected: is the tree unchanged (TREE-13)? */
int trace_check_unchanged(struct trace_checker *checker, int r, struct cp_stamp stamp, int n_free);

/* Chunks in use and sequences alive, in constant time; a wrong count breaks `clause`. */
int trace_check_counts(struct trace_checker *checker, const char *clause, int r);

/* The invariants, all lengths, the content of one sequence (each in its turn), the plan: linear in
 * the capacity and the paths. */
int trace_check_all(struct trace_checker *checker);

/* The content of every sequence and the hash of every chunk: linear in the tokens. Only after
 * trace_check_all() has found nothing. */
int trace_check_contents(struct trace_checker *checker);

/* The pairs that checker->plan covers are as many as the model has (PLAN-1, PLAN-3). */
int trace_check_coverage(struct trace_checker *checker);

/* The same for the tree of opt/ (opt_check.c). token[] has the prompt of r. */
int trace_check_opt_joined(struct trace_checker *checker, int r, int matched,
                           const struct cp_joined *joined, const int *token);
int trace_check_opt_unchanged(struct trace_checker *checker, int r, struct cp_stamp stamp,
                              int n_free);
int trace_check_opt_counts(struct trace_checker *checker, const char *clause, int r);
int trace_check_opt_all(struct trace_checker *checker);
int trace_check_opt_contents(struct trace_checker *checker);

#endif
