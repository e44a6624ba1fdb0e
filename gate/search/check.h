/* SPDX-License-Identifier: Apache-2.0 */
/* Cases, one after the other or side by side: what is asked of a kernel and how its answers are
 * compared. */
#ifndef CHUNKPROOF_GATE_SEARCH_CHECK_H
#define CHUNKPROOF_GATE_SEARCH_CHECK_H

#include "gate/case/layout.h"
#include "gate/search/options.h"
#include "gate/search/result.h"

/* Nothing more is to be asked: it hangs, it takes nothing, or one finding was wanted. */
int gate_is_enough(const struct gate_options *options, const struct gate_result *result);

/* Cases first .. end-1, one after the other. After each done() is told what has been found in this
 * block: not 0 ends it. `is_first`: nothing of the options was run before. 0, or -1 after saying
 * why there is no verdict. */
struct gate_block {
    long long first, end;
    int is_first;
    struct gate_budget *budget; /* of memory, with other blocks; NULL: none */
    int (*done)(void *context, const struct gate_result *result);
    void *context;
};
int gate_check_block(const struct gate_options *options, struct runner *runner,
                     const struct gate_block *block, struct gate_result *result);

/* Starts one more process with the kernel; NULL after saying what is wrong. In the thread that uses
 * it. */
typedef struct runner *gate_starter(void *context);

/* All cases of the options, options->jobs at once: the first with `runner`, the others with what
 * start() gives. `stop` becomes not 0 when it is to end early. 0, or -1 after saying why there is
 * no verdict. The result is to be freed in either case. */
int gate_check(const struct gate_options *options, struct runner *runner, gate_starter *start,
               void *context, struct gate_result *result, const volatile int *stop);
void gate_result_free(struct gate_result *result);

/* One case: 1 it was run, and this came of it; 0 the kernel does not take it; -1 no verdict, said
 * why. */
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

#endif
