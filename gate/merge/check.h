/* SPDX-License-Identifier: Apache-2.0 */
/* Runs cases of a kernel that merges, in several processes at once. */
#ifndef CHUNKPROOF_GATE_MERGE_CHECK_H
#define CHUNKPROOF_GATE_MERGE_CHECK_H

#include "gate/merge/result.h"
#include "gate/runner/runner.h"
#include "gate/search/asking.h"
#include "gate/search/options.h"
#include "gate/search/workers.h"

/* What a case came to besides its finding. */
struct merge_counts {
    long long runs, laws;
    int judged;        /* 1: the rules of others judged the case (options->rules), and */
    unsigned rejected; /* a bit for each of them that rejects it */
    int ended;         /* 1: the search was over before the kernel took sizes */
};

/* Runs one case. Returns 1 and what was found; 0 where the kernel takes no sizes, with the reason
 * in the finding's text; or -1 after saying why there is no verdict. */
int merge_check_case(const struct gate_options *options, struct runner *runner, long long index,
                     const struct gate_until *until, struct merge_found *found,
                     struct merge_counts *counts);

/* Runs case i of the usual test, for the rules of others. As above. */
int merge_check_usual(struct runner *runner, int i, struct merge_finding *finding,
                      struct merge_counts *counts);

/* Runs one recipe in the kernel's process, with all that case `index` of some seed gets only now
 * and then: the laws of MERGING-2, also other processes where `elsewhere` is 1. Returns as
 * above; 0 too where the recipe has what the kernel declares that no call has. */
int merge_check_recipe(struct runner *runner, const struct merge_recipe *recipe, int elsewhere,
                       struct merge_finding *finding);

/* The sizes that the kernel takes of case `index`. As above, and nothing runs. */
int merge_recipe_taken(const struct gate_options *options, struct runner *runner, long long index,
                       const volatile int *stop, struct merge_recipe *recipe);

/* About how large a case is: of two cases, reports show the smaller one. */
long long merge_work_of(const struct merge_recipe *recipe);

/* Runs all cases of the options, in options->jobs threads; the first one uses `runner`. 0, or -1
 * after saying why there is no verdict. */
int merge_check(const struct gate_options *options, struct runner *runner, gate_starter *start,
                void *context, struct merge_result *result, const volatile int *stop);

#endif
