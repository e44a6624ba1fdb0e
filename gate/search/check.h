/* SPDX-License-Identifier: Apache-2.0 */
/* Runs cases, one after the other or in parallel: asks the kernel, and compares its answers. */
#ifndef CHUNKPROOF_GATE_SEARCH_CHECK_H
#define CHUNKPROOF_GATE_SEARCH_CHECK_H

#include "gate/case/layout.h"
#include "gate/search/asking.h"
#include "gate/search/options.h"
#include "gate/search/result.h"
#include "gate/search/workers.h"

/* Is the search over? The kernel hangs, it takes no case, or one finding was wanted and found. */
int gate_is_enough(const struct gate_options *options, const struct gate_result *result);

/* A block of cases: first .. end-1, one after the other. After each case gate_check_block() calls
 * done() with the block's result so far, and stops when done() returns a number other than 0.
 * Returns 0, or -1 after saying why there is no verdict. */
struct gate_block {
    long long first, end;
    int is_first; /* 1: no case of these options has run before */
    struct gate_until until;
    /* Memory that this block shares with other blocks; NULL: no limit. */
    struct gate_budget *budget;
    int (*done)(void *context, const struct gate_result *result);
    void *context;
};
int gate_check_block(const struct gate_options *options, struct runner *runner,
                     const struct gate_block *block, struct gate_result *result);

/* Runs all cases of the options in options->jobs threads: the first uses `runner`, each other the
 * runner that start() gives it. The search ends early when *stop is no longer 0. Returns 0, or -1
 * after saying why there is no verdict. The caller frees the result in either case. */
int gate_check(const struct gate_options *options, struct runner *runner, gate_starter *start,
               void *context, struct gate_result *result, const volatile int *stop);
void gate_result_free(struct gate_result *result);

/* Runs one case. Returns 1 and the finding; 0 when the kernel does not take the case; or -1 after
 * saying why there is no verdict. */
int gate_check_recipe(struct runner *runner, const struct gate_recipe *recipe,
                      struct gate_finding *finding);

/* The same, and in other processes, too, as long as the case is right (elsewhere.h). */
int gate_check_elsewhere(struct runner *runner, const struct gate_recipe *recipe,
                         struct gate_finding *finding);

/* The recipe of case `index` that the kernel takes. Returns 1; 0 when it takes none, or *stop is no
 * longer 0; or -1 as above. */
int gate_recipe_taken(const struct gate_options *options, struct runner *runner, long long index,
                      const volatile int *stop, struct gate_recipe *recipe);

/* As gate_check_recipe(). After each problem that ran, the recipe's own and, where it runs again,
 * those with other numbers and more keys, calls `look` with the problem, the results of both runs
 * and the finding so far. Runs that only decide between two verdicts are not shown. */
typedef void gate_looker(void *context, const struct gate_problem *problem,
                         const struct gate_arrays *one, const struct gate_arrays *other,
                         const struct gate_finding *finding);
int gate_look(struct runner *runner, const struct gate_recipe *recipe, struct gate_finding *finding,
              gate_looker *look, void *context);

#endif
