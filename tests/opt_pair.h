/* SPDX-License-Identifier: Apache-2.0 */
/* The reference tree and the tree of opt/, under the same operations. After each operation both
 * must have given the same answer and be equal: tokens, order, ranges, chunk numbers, the next free
 * chunk, stamps, plan. */
#ifndef CHUNKPROOF_TESTS_OPT_PAIR_H
#define CHUNKPROOF_TESTS_OPT_PAIR_H

#include "chunkproof/opt_plan.h"
#include "chunkproof/plan.h"

struct opt_pair {
    struct cp_tree *tree;         /* the caller's; of the same sizes */
    struct cp_opt_tree *opt_tree; /* the caller's */
    struct cp_plan *plan;         /* the caller's; written anew by each comparison */
    struct cp_opt_plan *opt_plan; /* the caller's; brought up to date by each comparison */
    int status;                   /* of the last operation */
    char text[160];               /* the text that pair_...() return */
};

/* Sequences are indices, also in results. Each returns NULL, or what differs. The caller may pass
 * NULL for a result. */
const char *pair_join(struct opt_pair *pair, const int *token, int n_tokens,
                      unsigned long long salt, long long id, struct cp_joined *joined);
const char *pair_append_each(struct opt_pair *pair, int n, const int *sequence, const int *token);
const char *pair_leave(struct opt_pair *pair, int sequence);
const char *pair_fork(struct opt_pair *pair, int sequence, long long id, struct cp_forked *forked);
const char *pair_lookup(struct opt_pair *pair, const int *token, int n_tokens,
                        unsigned long long salt, struct cp_match *match);

/* NULL when both are the same and valid. */
const char *pair_compare(struct opt_pair *pair);

#endif
