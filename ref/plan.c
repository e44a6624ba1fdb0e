/* SPDX-License-Identifier: Apache-2.0 */
#include "chunkproof/plan.h"

#include <stddef.h>

/* PLAN-2: the path of sequence s. Its ranges nest (TREE-5), so the shared chunks come first. */
static void build_row(struct cp_plan *plan, const struct cp_tree *tree, int s) {
    const struct cp_sequence *path = &tree->sequence[s];
    struct cp_plan_row *row = &plan->row[s];
    row->n_tokens = cp_tree_length(tree, s);
    row->n_chunks = path->n_chunks;
    row->n_shared = 0;
    for (int k = 0; k < path->n_chunks; k++) {
        int chunk = path->chunk[k];
        row->chunk[k] = chunk;
        if (tree->end[chunk] - tree->begin[chunk] >= 2) {
            row->n_shared = k + 1;
        }
    }
}

/* PLAN-1, PLAN-4: the shared chunks that begin at sequence s, from the root down. Called for s = 0, 1,
 * ... this lists the forest depth first. */
static void list_shared(struct cp_plan *plan, const struct cp_tree *tree, int s) {
    const struct cp_plan_row *row = &plan->row[s];
    for (int k = 0; k < row->n_shared; k++) {
        int chunk = row->chunk[k];
        if (tree->begin[chunk] == s) {
            struct cp_shared_chunk *shared = &plan->shared[plan->n_shared];
            shared->chunk = chunk;
            shared->begin = s;
            shared->end = tree->end[chunk];
            shared->n_tokens = tree->fill[chunk];
            shared->position = k * tree->chunk_size;
            plan->n_shared++;
        }
    }
}

void cp_plan_build(struct cp_plan *plan, const struct cp_tree *tree) {
    plan->stamp = tree->stamp;
    plan->capacity = tree->pool.capacity;
    plan->chunk_size = tree->chunk_size;
    plan->n_sequences = tree->n_sequences;
    plan->n_shared = 0;
    for (int s = 0; s < tree->n_sequences; s++) {
        build_row(plan, tree, s);
        list_shared(plan, tree, s);
    }
}

int cp_plan_update(struct cp_plan *plan, const struct cp_tree *tree) {
    if (plan->stamp.tree != tree->stamp.tree || plan->stamp.epoch != tree->stamp.epoch) {
        cp_plan_build(plan, tree);
        return 1;
    }
    for (int s = 0; s < tree->n_sequences; s++) {
        plan->row[s].n_tokens = cp_tree_length(tree, s);
    }
    plan->stamp = tree->stamp;
    return 0;
}

int cp_plan_is_current(const struct cp_plan *plan, struct cp_stamp stamp) {
    return plan->stamp.tree == stamp.tree && plan->stamp.epoch == stamp.epoch &&
           plan->stamp.step == stamp.step;
}
