/* SPDX-License-Identifier: Apache-2.0 */
/* The plan (spec/plan.md) of the tree of opt_tree.h: arrays of numbers, indexed by sequence, which
 * can be handed to a kernel as they are. The chunk tables stay in the tree, one for each handle; a
 * plan does not copy them.
 *
 * What a change of the tree changes in the plan:
 *   append within a chunk      lengths
 *   append that adds a chunk   lengths and n_chunks
 *   join, leave, fork          also order and descriptors
 * A plan that is at most CP_OPT_CHANGES joins, leaves and forks behind applies each of them: the
 * elements after its place move by one. A plan that is further behind, or of another tree, is built
 * anew in one pass over the sequences. */
#ifndef CHUNKPROOF_OPT_PLAN_H
#define CHUNKPROOF_OPT_PLAN_H

#include "chunkproof/opt_tree.h"
#include "chunkproof/plan.h"

#ifdef __cplusplus
extern "C" {
#endif

struct cp_opt_plan {
    struct cp_stamp stamp;    /* the tree's, when the plan was made or last updated (PLAN-5) */
    unsigned long long shape; /* and its shape */
    int capacity, chunk_size;
    int n_sequences; /* b */
    int n_shared;
    struct cp_shared_chunk *shared; /* [n_shared] (PLAN-1), in the order of PLAN-4 */
    int *sequence;                  /* [b]: the handle of each index */
    int *n_tokens;                  /* [b] (PLAN-7) */
    int *n_chunks;                  /* [b] (PLAN-2) */
    int *n_shared_chunks;           /* [b]: how many of these, from the first, are in shared[] */
    /* The tree's: chunk k of index i is table[sequence[i] * table_width + k]. Valid as long as the
     * plan is current. */
    const int *table;
    int table_width;
    struct cp_opt_sizes sizes; /* of the trees for which the plan has room */
    int *open;                 /* [max_depth]: descriptors of the sequence at hand */
    size_t bytes;
};

/* A plan in memory of its own, with room for a tree of these sizes. It has no sequences and belongs
 * to no tree. On CP_OK the caller owns *plan and gives it to cp_opt_plan_free(); otherwise *plan is
 * NULL. Fails with CP_ERROR_ARGUMENT, CP_ERROR_NO_MEMORY. */
int cp_opt_plan_new(struct cp_opt_plan **plan, const struct cp_opt_sizes *sizes);
void cp_opt_plan_free(struct cp_opt_plan *plan);

/* Brings a plan up to date with a valid tree of the sizes that it was made for (PLAN-6). Returns 1
 * when paths or ranges have changed, 0 when at most lengths have. Costs nothing when the plan is
 * current, otherwise O(b), and after a join, leave or fork also O(n_shared); arrays are read and
 * written from one end to the other. */
int cp_opt_plan_update(struct cp_opt_plan *plan, const struct cp_opt_tree *tree);

/* Writes the same plan for the functions of attend.h and opt.h: sequences with their chunks, in the
 * caller's memory (cp_plan_new()). If *to is an earlier export from the same tree, it is updated.
 * Its sequences go by index, and so do query rows, results and query_begin of struct cp_attention:
 * sequence i is the one with the handle plan->sequence[i]. Indices move when sequences come and go.
 * Linear in the sum of the path lengths; linear in b when only lengths have changed. Fails with
 * CP_ERROR_SHAPE when the plan does not fit the bounds of limits.h; *to is then unchanged. */
int cp_opt_plan_export(const struct cp_opt_plan *plan, struct cp_plan *to);

#ifdef __cplusplus
}
#endif

#endif
