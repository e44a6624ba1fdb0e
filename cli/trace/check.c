/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/trace/check.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "chunkproof/status.h"

static int init(struct trace_checker *checker, const struct trace *trace,
                const struct trace_model *model) {
    memset(checker, 0, sizeof *checker);
    checker->trace = trace;
    checker->model = model;
    checker->structure_changed = 1; /* a new plan is of no tree */
    checker->seen = calloc((size_t)trace->n_requests + 1, sizeof *checker->seen);
    if (checker->seen == NULL || cp_plan_new(&checker->plan) != CP_OK) {
        trace_checker_free(checker);
        return -1;
    }
    return 0;
}

int trace_checker_init(struct trace_checker *checker, const struct trace *trace,
                       const struct trace_model *model, const struct cp_tree *tree) {
    int result = init(checker, trace, model);
    checker->tree = tree;
    checker->capacity = tree->pool.capacity;
    return result;
}

int trace_checker_init_opt(struct trace_checker *checker, const struct trace *trace,
                           const struct trace_model *model, const struct cp_opt_tree *tree,
                           const int *handle, int *token) {
    int result = init(checker, trace, model);
    checker->opt_tree = tree;
    checker->capacity = tree->sizes.capacity;
    checker->handle = handle;
    checker->token = token;
    return result == 0 && cp_opt_plan_new(&checker->opt_plan, &tree->sizes) == CP_OK ? 0 : -1;
}

void trace_checker_free(struct trace_checker *checker) {
    free(checker->seen);
    cp_plan_free(checker->plan);
    cp_opt_plan_free(checker->opt_plan);
    checker->opt_plan = NULL;
    checker->seen = NULL;
    checker->plan = NULL;
}

int trace_violate(struct trace_checker *checker, const char *clause, int request,
                  const char *format, ...) {
    va_list arguments;
    snprintf(checker->violation.clause, sizeof checker->violation.clause, "%s", clause);
    checker->violation.request = request;
    va_start(arguments, format);
    vsnprintf(checker->violation.text, sizeof checker->violation.text, format, arguments);
    va_end(arguments);
    return -1;
}

static long long free_chunks(const struct trace_checker *checker) {
    return checker->capacity - trace_model_used(checker->model);
}

int trace_expect_join(const struct trace_checker *checker, int r) {
    int n_full = trace_full_blocks(checker->trace, r);
    int matched = trace_model_match(checker->model, trace_blocks(checker->trace, r), n_full);
    if (checker->model->live == CP_MAX_SEQUENCES) {
        return CP_ERROR_SEQUENCES_FULL;
    }
    if (checker->trace->request[r].n_blocks - matched > free_chunks(checker)) {
        return CP_ERROR_POOL_FULL;
    }
    return CP_OK;
}

int trace_expect_append(const struct trace_checker *checker, int needed) {
    return needed > free_chunks(checker) ? CP_ERROR_POOL_FULL : CP_OK;
}

int trace_check_lookup(struct trace_checker *checker, int r, const struct cp_match *match) {
    int matched = trace_model_match(checker->model, trace_blocks(checker->trace, r),
                                    trace_full_blocks(checker->trace, r));
    if (match->n_chunks != matched || match->n_tokens != matched * checker->trace->block_size) {
        return trace_violate(checker, "TREE-8", r,
                             "lookup finds %d chunks (%d tokens); the model has %d blocks",
                             match->n_chunks, match->n_tokens, matched);
    }
    return 0;
}

/* TREE-3, TREE-6: sequence s, which is request r, has a path of the right length and on it the
 * tokens of the request. Safe for any content of the tree. */
static int check_content(struct trace_checker *checker, int s, int r) {
    const struct cp_sequence *row = &checker->tree->sequence[s];
    int length = checker->model->length[r];
    if (row->n_chunks != trace_model_chunks(checker->model, r)) {
        return trace_violate(checker, "TREE-6", r, "its path has %d chunks instead of %d",
                             row->n_chunks, trace_model_chunks(checker->model, r));
    }
    for (int k = 0; k < row->n_chunks; k++) {
        if (row->chunk[k] < 0 || row->chunk[k] >= checker->tree->pool.capacity) {
            return trace_violate(checker, "TREE-3", r, "entry %d of its path is not a chunk", k);
        }
    }
    if (cp_tree_length(checker->tree, s) != length) {
        return trace_violate(checker, "TREE-6", r, "it has %d tokens instead of %d",
                             cp_tree_length(checker->tree, s), length);
    }
    for (int k = 0; k < length; k++) {
        int token = cp_tree_token(checker->tree, s, k);
        int expected = trace_token(checker->trace, r, k);
        if (token != expected) {
            return trace_violate(checker, "TREE-6", r,
                                 "token %d of sequence %d is %d instead of %d", k, s, token,
                                 expected);
        }
    }
    return 0;
}

int trace_check_joined(struct trace_checker *checker, int r, int matched,
                       const struct cp_joined *joined) {
    const struct cp_tree *tree = checker->tree;
    int s = joined->sequence;
    if (joined->n_shared != matched * checker->trace->block_size) {
        return trace_violate(checker, "TREE-9", r,
                             "%d tokens are shared; the model has %d blocks of %d",
                             joined->n_shared, matched, checker->trace->block_size);
    }
    if (s < 0 || s >= tree->n_sequences || tree->sequence[s].id != r) {
        return trace_violate(checker, "TREE-9", r, "the new sequence is not at index %d", s);
    }
    return check_content(checker, s, r);
}

int trace_check_unchanged(struct trace_checker *checker, int r, struct cp_stamp stamp, int n_free) {
    const struct cp_tree *tree = checker->tree;
    if (tree->stamp.epoch != stamp.epoch || tree->stamp.step != stamp.step ||
        tree->pool.n_free != n_free) {
        return trace_violate(checker, "TREE-13", r, "the failing operation changed the tree");
    }
    return trace_check_counts(checker, "TREE-13", r);
}

int trace_check_counts(struct trace_checker *checker, const char *clause, int r) {
    const struct cp_tree *tree = checker->tree;
    long long used = tree->pool.capacity - tree->pool.n_free;
    if (used != trace_model_used(checker->model)) {
        return trace_violate(checker, clause, r, "%lld chunks are in use; the model has %lld", used,
                             trace_model_used(checker->model));
    }
    if (tree->n_sequences != checker->model->live) {
        return trace_violate(checker, clause, r, "the tree has %d sequences; the model has %d",
                             tree->n_sequences, checker->model->live);
    }
    return 0;
}

/* Every sequence is a live request, none is there twice, and each is as long as it must be. With
 * equal counts: each live request is there once. */
static int check_lengths(struct trace_checker *checker) {
    const struct cp_tree *tree = checker->tree;
    for (int s = 0; s < tree->n_sequences; s++) {
        long long id = tree->sequence[s].id;
        if (id < 0 || id >= checker->trace->n_requests || checker->model->length[id] < 0 ||
            checker->seen[id] == checker->n_checks) {
            return trace_violate(
                checker, "TREE-11", -1,
                "sequence %d has the id %lld, which is not alive, or which two sequences have", s,
                id);
        }
        checker->seen[id] = checker->n_checks;
        if (cp_tree_length(tree, s) != checker->model->length[id]) {
            return trace_violate(checker, "TREE-6", (int)id, "it has %d tokens instead of %d",
                                 cp_tree_length(tree, s), checker->model->length[id]);
        }
    }
    return 0;
}

static int has_path(const struct cp_plan_sequence *planned, const struct cp_sequence *path) {
    int same = planned->n_chunks == path->n_chunks;
    for (int k = 0; same && k < path->n_chunks; k++) {
        same = planned->run[k].chunk == path->chunk[k];
    }
    return same;
}

/* PLAN-2, PLAN-7: the paths are those of the tree, and as long as the model says. */
static int check_paths(struct trace_checker *checker) {
    const struct cp_plan *plan = checker->plan;
    const struct cp_tree *tree = checker->tree;
    for (int s = 0; s < tree->n_sequences; s++) {
        const struct cp_sequence *path = &tree->sequence[s];
        const struct cp_plan_sequence *planned = &plan->sequence[s];
        int r = (int)path->id;
        if (!has_path(planned, path)) {
            return trace_violate(checker, "PLAN-2", r, "sequence %d has another path in the plan",
                                 s);
        }
        if (planned->n_tokens != checker->model->length[r]) {
            return trace_violate(checker, "PLAN-7", r, "sequence %d has %d tokens instead of %d", s,
                                 planned->n_tokens, checker->model->length[r]);
        }
    }
    return 0;
}

/* As many as there are chunks on paths, the shared ones as many as the model has. That none is
 * covered twice is what cp_plan_check() looks at. */
int trace_check_coverage(struct trace_checker *checker) {
    const struct cp_plan *plan = checker->plan;
    long long shared_pairs = 0;
    long long own = 0;
    for (int i = 0; i < plan->n_shared; i++) {
        shared_pairs += plan->shared[i].end - plan->shared[i].begin;
    }
    for (int s = 0; s < plan->n_sequences; s++) {
        own += plan->sequence[s].n_chunks - plan->sequence[s].n_shared;
    }
    if (plan->n_shared != checker->model->shared_nodes) {
        return trace_violate(checker, "PLAN-1", -1, "%d shared chunks; the model has %d",
                             plan->n_shared, checker->model->shared_nodes);
    }
    if (shared_pairs != checker->model->shared_pairs ||
        shared_pairs + own != checker->model->path_chunks) {
        return trace_violate(checker, "PLAN-3", -1,
                             "%lld shared and %lld private pairs are covered; the model has %lld "
                             "and %lld",
                             shared_pairs, own, checker->model->shared_pairs,
                             checker->model->path_chunks - checker->model->shared_pairs);
    }
    return 0;
}

static int check_plan(struct trace_checker *checker) {
    int rebuilt = cp_plan_update(checker->plan, checker->tree);
    if (rebuilt != checker->structure_changed) {
        return trace_violate(checker, "PLAN-6", -1, "the plan was %srebuilt, but the structure %s",
                             rebuilt ? "" : "not ", rebuilt ? "had not changed" : "had changed");
    }
    checker->structure_changed = 0;
    if (!cp_plan_is_current(checker->plan, checker->tree->stamp) ||
        checker->plan->n_sequences != checker->tree->n_sequences) {
        return trace_violate(checker, "PLAN-5", -1, "the updated plan is not the tree's");
    }
    const char *broken = cp_plan_check(checker->plan);
    if (broken != NULL) {
        return trace_violate(checker, broken, -1, "the plan breaks its invariant");
    }
    if (check_paths(checker) != 0) {
        return -1;
    }
    return trace_check_coverage(checker);
}

int trace_check_all(struct trace_checker *checker) {
    const struct cp_tree *tree = checker->tree;
    checker->n_checks++;
    const char *broken = cp_tree_check(tree);
    if (broken != NULL) {
        return trace_violate(checker, broken, -1, "the tree breaks its invariant");
    }
    if (check_lengths(checker) != 0) {
        return -1;
    }
    if (tree->n_sequences > 0) {
        checker->turn = (checker->turn + 1) % tree->n_sequences;
        int r = (int)tree->sequence[checker->turn].id;
        if (check_content(checker, checker->turn, r) != 0) {
            return -1;
        }
    }
    return check_plan(checker);
}

int trace_check_contents(struct trace_checker *checker) {
    for (int s = 0; s < checker->tree->n_sequences; s++) {
        int r = (int)checker->tree->sequence[s].id;
        if (check_content(checker, s, r) != 0) {
            return -1;
        }
    }
    const char *broken = cp_tree_check_hashes(checker->tree);
    if (broken != NULL) {
        return trace_violate(checker, broken, -1, "a chunk has a wrong hash");
    }
    return 0;
}
