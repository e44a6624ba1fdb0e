/* SPDX-License-Identifier: Apache-2.0 */
/* The plan (spec/plan.md) of the tree of opt_tree.h, as arrays of numbers for each sequence index, which can be handed
 * to a kernel as they are. The tables of chunks stay in the tree, a row for each handle: they are not copied.
 *
 * An append within a chunk changes lengths, one that adds a chunk also n_chunks; order and descriptors, which others
 * depend on, only after a join, leave or fork. Of up to CP_OPT_CHANGES of these since it was brought up to date last each
 * is put into the arrays: what lies behind moves by one place. After more of them, or with another tree, one pass over
 * the sequences gives out indices anew.
 */
#ifndef CHUNKPROOF_OPT_PLAN_H
#define CHUNKPROOF_OPT_PLAN_H

#include "chunkproof/opt_tree.h"
#include "chunkproof/plan.h"

#ifdef __cplusplus
extern "C" {
#endif

struct cp_opt_plan {
    struct cp_stamp stamp;    /* the tree's when the plan was made (PLAN-5) */
    unsigned long long shape; /* and its shape */
    int capacity, chunk_size;
    int n_sequences; /* b */
    int n_shared;
    struct cp_shared_chunk *shared; /* [n_shared] (PLAN-1), in the order of PLAN-4 */
    int *sequence;                  /* [b]: the handle of each index */
    int *n_tokens;                  /* [b] (PLAN-7) */
    int *n_chunks;                  /* [b] (PLAN-2) */
    int *n_shared_chunks;           /* [b]: of these, the first ones are in shared[] */
    const int *
        table; /* of the tree: chunk k of index i is table[sequence[i] * table_width + k]; good as long as the
                         plan is current */
    int table_width;
    struct cp_opt_sizes sizes; /* that there is room for */
    int *open;                 /* [max_depth]: descriptors of the sequence at hand */
    size_t bytes;
};

/* A plan in memory of its own with room for a tree of these sizes, of no sequences and of no tree. On CP_OK *plan is
 * the caller's, to be given to cp_opt_plan_free(); else NULL. Fails with CP_ERROR_ARGUMENT, CP_ERROR_NO_MEMORY. */
int cp_opt_plan_new(struct cp_opt_plan **plan, const struct cp_opt_sizes *sizes);
void cp_opt_plan_free(struct cp_opt_plan *plan);

/* Brings a plan up to date with a valid tree of the sizes that it was made for (PLAN-6). Returns 1 when paths or ranges
 * had changed, 0 when at most lengths had. O(b), and O(n_shared) after a join, leave or fork, of arrays that are read and
 * written from one end to the other; nothing when the plan is current. */
int cp_opt_plan_update(struct cp_opt_plan *plan, const struct cp_opt_tree *tree);

/* The same plan for the functions of attend.h and opt.h: rows with their chunks, in memory of the caller
 * (cp_plan_new()), an update of what it was given before from the same tree. Its rows, and so query rows, results and
 * query_begin of struct cp_attention, go by index: row i is that of the sequence with the handle plan->sequence[i], and
 * indices move when others come and go. Linear in the sum of the paths, and in b when only lengths have changed.
 * Fails with CP_ERROR_SHAPE when it does not fit the bounds of limits.h; *to is then unchanged. */
int cp_opt_plan_export(const struct cp_opt_plan *plan, struct cp_plan *to);

#ifdef __cplusplus
}
#endif

#endif
