/* SPDX-License-Identifier: Apache-2.0 */
/* The checks of check.h for the tree of opt/. */
#include <string.h>

#include "chunkproof/status.h"
#include "cli/trace/check.h"

int trace_check_opt_counts(struct trace_checker *checker, const char *clause, int r) {
    const struct cp_opt_tree *tree = checker->opt_tree;
    int used = checker->capacity - tree->n_free;
    if (used != trace_model_used(checker->model)) {
        return trace_violate(checker, clause, r, "%d chunks are in use; the model has %lld", used,
                             trace_model_used(checker->model));
    }
    if (tree->n_sequences != checker->model->live) {
        return trace_violate(checker, clause, r, "the tree has %d sequences; the model has %d",
                             tree->n_sequences, checker->model->live);
    }
    return 0;
}

int trace_check_opt_unchanged(struct trace_checker *checker, int r, struct cp_stamp stamp,
                              int n_free) {
    const struct cp_opt_tree *tree = checker->opt_tree;
    if (tree->stamp.epoch != stamp.epoch || tree->stamp.step != stamp.step ||
        tree->n_free != n_free) {
        return trace_violate(checker, "TREE-13", r, "the failing operation changed the tree");
    }
    return trace_check_opt_counts(checker, "TREE-13", r);
}

/* TREE-3, TREE-6: the sequence of request r has a path of the right length and on it these
 * tokens. */
static int check_content(struct trace_checker *checker, int r, const int *token) {
    const struct cp_opt_tree *tree = checker->opt_tree;
    int c = tree->sizes.chunk_size, n = checker->model->length[r], handle = checker->handle[r];
    const int *path = cp_opt_tree_path(tree, handle);
    if (tree->sequence[handle].n_chunks != trace_model_chunks(checker->model, r) ||
        cp_opt_tree_length(tree, handle) != n) {
        return trace_violate(checker, "TREE-6", r, "it has %d tokens instead of %d",
                             cp_opt_tree_length(tree, handle), n);
    }
    for (int k = 0; k * c < n; k++) {
        int size = n - k * c < c ? n - k * c : c;
        if (path[k] < 0 || path[k] >= checker->capacity) {
            return trace_violate(checker, "TREE-3", r, "entry %d of its path is not a chunk", k);
        }
        if (memcmp(tree->token + (size_t)path[k] * (size_t)c, token + (size_t)k * (size_t)c,
                   (size_t)size * sizeof *token) != 0) {
            return trace_violate(checker, "TREE-6", r, "its chunk %d has a wrong token", k);
        }
    }
    return 0;
}

int trace_check_opt_joined(struct trace_checker *checker, int r, int matched,
                           const struct cp_joined *joined, const int *token) {
    const struct cp_opt_tree *tree = checker->opt_tree;
    if (joined->n_shared != matched * checker->trace->block_size) {
        return trace_violate(checker, "TREE-9", r,
                             "%d tokens are shared; the model has %d blocks of %d",
                             joined->n_shared, matched, checker->trace->block_size);
    }
    if (!cp_opt_tree_is_alive(tree, joined->sequence) || tree->sequence[joined->sequence].id != r) {
        return trace_violate(checker, "TREE-9", r, "the new sequence does not have the handle %d",
                             joined->sequence);
    }
    return check_content(checker, r, token);
}

/* Every sequence is a live request at its handle, none is there twice, and each is as long as it
 * must be: in the tree and in the plan. */
static int check_rows(struct trace_checker *checker) {
    const struct cp_opt_tree *tree = checker->opt_tree;
    for (int i = 0; i < tree->n_sequences; i++) {
        int handle = checker->opt_plan->sequence[i];
        long long id = tree->sequence[handle].id;
        if (id < 0 || id >= checker->trace->n_requests || checker->model->length[id] < 0 ||
            checker->handle[id] != handle || checker->seen[id] == checker->n_checks) {
            return trace_violate(
                checker, "TREE-11", -1,
                "index %d has the id %lld, which is not alive, or which two sequences have", i, id);
        }
        checker->seen[id] = checker->n_checks;
        if (cp_opt_tree_length(tree, handle) != checker->model->length[id]) {
            return trace_violate(checker, "TREE-6", (int)id, "it has %d tokens instead of %d",
                                 cp_opt_tree_length(tree, handle), checker->model->length[id]);
        }
        if (checker->plan->sequence[i].n_tokens != checker->model->length[id]) {
            return trace_violate(checker, "PLAN-7", (int)id,
                                 "sequence %d has %d tokens instead of %d", i,
                                 checker->plan->sequence[i].n_tokens, checker->model->length[id]);
        }
    }
    return 0;
}

static int check_plan(struct trace_checker *checker) {
    const struct cp_opt_tree *tree = checker->opt_tree;
    int changed = cp_opt_plan_update(checker->opt_plan, tree);
    if (changed != checker->structure_changed) {
        return trace_violate(checker, "PLAN-6", -1, "the plan was %schanged, but the structure %s",
                             changed ? "" : "not ", changed ? "had not" : "had");
    }
    checker->structure_changed = 0;
    if (cp_opt_plan_export(checker->opt_plan, checker->plan) != CP_OK ||
        !cp_plan_is_current(checker->plan, tree->stamp) ||
        checker->plan->n_sequences != tree->n_sequences) {
        return trace_violate(checker, "PLAN-5", -1, "the updated plan is not the tree's");
    }
    const char *broken = cp_plan_check(checker->plan);
    if (broken != NULL) {
        return trace_violate(checker, broken, -1, "the plan breaks its invariant");
    }
    return check_rows(checker) == 0 ? trace_check_coverage(checker) : -1;
}

int trace_check_opt_all(struct trace_checker *checker) {
    checker->n_checks++;
    const char *broken = cp_opt_tree_check(checker->opt_tree);
    if (broken != NULL) {
        return trace_violate(checker, broken, -1, "the tree breaks its invariant");
    }
    return check_plan(checker);
}

int trace_check_opt_contents(struct trace_checker *checker) {
    const struct cp_opt_tree *tree = checker->opt_tree;
    for (int s = tree->first; s >= 0; s = tree->sequence[s].next) {
        int r = (int)tree->sequence[s].id;
        trace_tokens(checker->trace, r, checker->model->length[r], checker->token);
        if (check_content(checker, r, checker->token) != 0) {
            return -1;
        }
    }
    const char *broken = cp_opt_tree_check_hashes(tree);
    if (broken != NULL) {
        return trace_violate(checker, broken, -1, "a chunk has a wrong hash");
    }
    return 0;
}
