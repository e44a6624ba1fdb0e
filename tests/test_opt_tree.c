/* SPDX-License-Identifier: Apache-2.0 */
/* The tree of opt/: the cases of test_tree.c where handles make a difference, the invariant, and
 * random operations against the reference. */
#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "chunkproof/chunkproof.h"
#include "opt_pair.h"
#include "random.h"

static struct cp_opt_tree *new_tree(int capacity, int max_sequences) {
    const struct cp_opt_sizes sizes = {capacity, 2, max_sequences, 8, 64, 1};
    struct cp_opt_tree *tree;
    assert_int_equal(cp_opt_tree_new(&tree, &sizes), CP_OK);
    return tree;
}

/* Joins a prompt written as digits; returns its handle. */
static int join(struct cp_opt_tree *tree, const char *digits, unsigned long long salt,
                long long id) {
    int token[64];
    struct cp_joined joined;
    int n = (int)strlen(digits);
    for (int k = 0; k < n; k++) {
        token[k] = digits[k] - '0';
    }
    assert_int_equal(cp_opt_tree_join(tree, token, n, salt, id, &joined), CP_OK);
    assert_true(cp_opt_tree_is_valid(tree));
    return joined.sequence;
}

static void check_range(const struct cp_opt_tree *tree, int s, int k, int begin, int end) {
    int got_begin, got_end;
    cp_opt_tree_range(tree, cp_opt_tree_path(tree, s)[k], &got_begin, &got_end);
    assert_int_equal(got_begin, begin);
    assert_int_equal(got_end, end);
}

static void sizes_out_of_range_are_refused(void **unused) {
    struct cp_opt_tree *tree;
    struct cp_opt_plan *plan;
    (void)unused;
    const struct cp_opt_sizes bad[] = {{0, 2, 4, 8, 64, 0}, {CP_OPT_MOST + 1, 2, 4, 8, 64, 0},
                                       {4, 0, 4, 8, 64, 0}, {4, 2, 0, 8, 64, 0},
                                       {4, 2, 4, 0, 64, 0}, {4, 2, CP_OPT_MOST + 1, 8, 64, 0},
                                       {4, 2, 4, 8, -1, 0}, {4, 1 << 15, 4, (1 << 15) + 1, 64, 0},
                                       {4, 2, 4, 8, 65, 0}};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_int_equal(cp_opt_tree_new(&tree, &bad[i]), CP_ERROR_ARGUMENT);
        assert_null(tree);
        assert_int_equal(cp_opt_plan_new(&plan, &bad[i]), CP_ERROR_ARGUMENT);
        assert_null(plan);
    }
    const struct cp_opt_sizes most = {CP_OPT_MOST, 1 << 29, 4, 2, 64, 0};
    assert_int_equal(cp_opt_tree_new(&tree, &most), CP_ERROR_NO_MEMORY);
    assert_null(tree);
    cp_opt_tree_free(NULL);
    cp_opt_plan_free(NULL);
}

static void handles_stay_and_indices_move(void **unused) {
    struct cp_opt_tree *tree = new_tree(16, 8);
    struct cp_forked forked;
    (void)unused;
    int a = join(tree, "1122", 0, 1);
    int b = join(tree, "3344", 0, 2); /* another root */
    int c = join(tree, "1155", 0, 3);
    int d = join(tree, "1122", 0, 4); /* nearer to a than c is */
    const int order[] = {a, d, c, b};
    for (int i = 0; i < 4; i++) {
        assert_int_equal(cp_opt_tree_at(tree, i), order[i]);
        assert_int_equal(cp_opt_tree_index(tree, order[i]), i);
    }
    check_range(tree, a, 0, 0, 3);
    check_range(tree, a, 1, 0, 2);
    check_range(tree, b, 0, 3, 4);
    assert_int_equal(cp_opt_tree_leave(tree, a), CP_OK);
    assert_true(cp_opt_tree_is_valid(tree));
    assert_false(cp_opt_tree_is_alive(tree, a));
    assert_int_equal(cp_opt_tree_index(tree, b), 2);
    assert_int_equal(cp_opt_tree_token(tree, c, 2), 5);
    assert_int_equal(cp_opt_tree_fork(tree, d, 5, &forked), CP_OK);
    assert_int_equal(forked.sequence, a); /* the handle is free to be given again */
    assert_int_equal(cp_opt_tree_index(tree, a), 1);
    assert_int_equal(tree->sequence[a].id, 5);
    cp_opt_tree_free(tree);
}

/* Of 64 domains many share the few buckets (TREE-14). */
static void sharing_domains_are_apart_in_one_bucket(void **unused) {
    struct cp_opt_tree *tree = new_tree(2, 4);
    (void)unused;
    int a = join(tree, "1122", 0, 1);
    assert_in_range(tree->n_buckets, 1, 4);
    for (unsigned long long salt = 0; salt < 64; salt++) {
        struct cp_match match = cp_opt_tree_lookup(tree, (int[]){1, 1, 2, 2}, 4, salt);
        assert_int_equal(match.n_chunks, salt == 0 ? 2 : 0);
        assert_int_equal(match.n_tokens, salt == 0 ? 4 : 0);
        assert_int_equal(match.sequence, salt == 0 ? a : -1);
    }
    cp_opt_tree_free(tree);
}

static void a_batch_has_any_order_and_each_once(void **unused) {
    struct cp_opt_tree *tree = new_tree(8, 4);
    (void)unused;
    int a = join(tree, "11", 0, 1), b = join(tree, "22", 0, 2);
    assert_int_equal(cp_opt_tree_append_each(tree, 2, (int[]){a, a}, (int[]){5, 5}),
                     CP_ERROR_ARGUMENT);
    assert_int_equal(cp_opt_tree_append_each(tree, 3, (int[]){b, a, b}, (int[]){5, 5, 5}),
                     CP_ERROR_ARGUMENT);
    assert_true(cp_opt_tree_is_valid(tree)); /* no mark is left */
    assert_int_equal(tree->stamp.step, 0);
    assert_int_equal(cp_opt_tree_append_each(tree, 2, (int[]){b, a}, (int[]){6, 7}), CP_OK);
    assert_int_equal(cp_opt_tree_path(tree, b)[1], 2); /* chunks in the order of the batch */
    assert_int_equal(cp_opt_tree_path(tree, a)[1], 3);
    assert_int_equal(cp_opt_tree_token(tree, a, 2), 7);
    assert_int_equal(tree->stamp.step, 1);
    assert_int_equal(cp_opt_tree_append_each(tree, -1, NULL, NULL), CP_ERROR_ARGUMENT);
    assert_int_equal(cp_opt_tree_append_each(tree, 0, NULL, NULL), CP_OK);
    assert_int_equal(tree->stamp.step, 2);
    cp_opt_tree_free(tree);
}

static void what_does_not_fit_is_refused(void **unused) {
    struct cp_opt_tree *tree = new_tree(9, 2);
    struct cp_joined joined;
    struct cp_forked forked;
    static const int token[17] = {0};
    (void)unused;
    assert_int_equal(cp_opt_tree_join(tree, NULL, -1, 0, 1, &joined), CP_ERROR_ARGUMENT);
    assert_int_equal(cp_opt_tree_join(tree, token, 17, 0, 1, &joined), CP_ERROR_TOO_LONG);
    assert_int_equal(cp_opt_tree_join(tree, token, 16, 0, 1, &joined), CP_OK);
    int a = joined.sequence;
    assert_int_equal(cp_opt_tree_append(tree, a, 0), CP_ERROR_TOO_LONG);
    assert_int_equal(cp_opt_tree_append(tree, a + 1, 0), CP_ERROR_ARGUMENT);
    assert_int_equal(cp_opt_tree_append(tree, -1, 0), CP_ERROR_ARGUMENT);
    assert_int_equal(cp_opt_tree_append(tree, 2, 0), CP_ERROR_ARGUMENT);
    assert_int_equal(cp_opt_tree_leave(tree, 1), CP_ERROR_ARGUMENT);
    assert_int_equal(cp_opt_tree_fork(tree, 1, 2, &forked), CP_ERROR_ARGUMENT);
    assert_int_equal(cp_opt_tree_join(tree, (int[]){1, 2, 3}, 3, 0, 1, &joined),
                     CP_ERROR_POOL_FULL);
    int b = join(tree, "7", 0, 2);
    assert_int_equal(tree->n_free, 0);
    assert_int_equal(cp_opt_tree_join(tree, NULL, 0, 0, 3, &joined), CP_ERROR_SEQUENCES_FULL);
    assert_int_equal(cp_opt_tree_fork(tree, b, 3, &forked), CP_ERROR_SEQUENCES_FULL);
    assert_int_equal(cp_opt_tree_leave(tree, a), CP_OK);
    assert_int_equal(cp_opt_tree_leave(tree, a), CP_ERROR_ARGUMENT);
    assert_int_equal(tree->n_free, 8);
    assert_true(cp_opt_tree_is_valid(tree));
    cp_opt_tree_free(tree);
}

/* The number of the clause that is broken by putting `value` into *field. */
static const char *named(struct cp_opt_tree *tree, int *field, int value) {
    int right = *field;
    *field = value;
    const char *clause = cp_opt_tree_check(tree);
    if (clause == NULL) {
        clause = cp_opt_tree_check_hashes(tree);
    }
    assert_false(cp_opt_tree_is_valid(tree));
    *field = right;
    assert_true(cp_opt_tree_is_valid(tree));
    return clause;
}

/* Each clause, broken by hand in a tree that is otherwise right, is the one that is named. */
static void the_check_names_the_broken_clause(void **unused) {
    struct cp_opt_tree *tree = new_tree(16, 8);
    (void)unused;
    int a = join(tree, "112233", 0, 1), b = join(tree, "112244", 0, 2), c = join(tree, "5", 0, 3);
    int gone = join(tree, "667", 0, 4), gone_too = join(tree, "", 0, 5);
    assert_int_equal(cp_opt_tree_leave(tree, gone), CP_OK);
    assert_int_equal(cp_opt_tree_leave(tree, gone_too), CP_OK);
    int root = cp_opt_tree_path(tree, a)[0], leaf = cp_opt_tree_path(tree, a)[2];
    int tail = cp_opt_tree_path(tree, c)[0], freed = tree->free_chunk;
    struct cp_opt_sequence *sequence = tree->sequence;
    struct cp_opt_chunk *chunk = tree->chunk;
    const struct {
        const char *clause;
        int *field;
        int value;
    } faults[] = {
        {"POOL-2", &tree->n_free, 3},
        {"POOL-2", &tree->fresh_chunk, 17},
        {"POOL-2", &tree->free_chunk, root},
        {"POOL-2", &chunk[freed].next, freed},
        {"POOL-2", &chunk[freed].next, 99},
        {"TREE-1", &tree->fresh_sequence, 9},
        {"TREE-1", &tree->free_sequence, a},
        {"TREE-1", &sequence[gone_too].next, gone_too},
        {"TREE-1", &sequence[a].n_chunks, 9},
        {"TREE-1", &sequence[a].n_shared, 4},
        {"TREE-1", &sequence[a].room, 2},
        {"TREE-1", &sequence[a].joint, root},
        {"TREE-1", &sequence[a].tail, root},
        {"TREE-1", &sequence[a].marked, 1},
        {"TREE-1", &chunk[root].first, gone},
        {"TREE-1", &chunk[root].last, 99},
        {"TREE-3", &chunk[leaf].parent, root},
        {"TREE-3", &chunk[root].first, b},
        {"TREE-3", &chunk[root].last, c},
        {"TREE-4", &chunk[leaf].first, b},
        {"TREE-5", &tree->n_sequences, 2},
        {"TREE-5", &tree->first, b},
        {"TREE-5", &tree->last, b},
        {"TREE-5", &tree->root, gone},
        {"TREE-5", &sequence[a].next, c},
        {"TREE-5", &sequence[b].previous, c},
        {"TREE-5", &sequence[tree->root].size, 2},
        {"TREE-5", &sequence[tree->root].up, tree->root},
        {"TREE-5", &sequence[tree->root].left, 99},
        {"TREE-8", &chunk[leaf].previous, -1},
        {"TREE-8", &chunk[tail].previous, 3},
        {"TREE-8", &tree->bucket[-2 - chunk[leaf].previous], 0},
        {"TREE-8", &tree->bucket[-2 - chunk[leaf].previous], INT_MIN},
        {"TREE-8", &tree->bucket[-2 - chunk[leaf].previous], tail + 1},
        {"TREE-14", (int *)(void *)&sequence[b].salt, 1},
        {"TREE-15", &tree->token[root * 2 + 1], 9},
    };
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) {
        const char *clause = named(tree, faults[i].field, faults[i].value);
        if (clause == NULL || strcmp(clause, faults[i].clause) != 0) {
            fail_msg("fault %zu: %s, not %s", i, clause != NULL ? clause : "none",
                     faults[i].clause);
        }
    }
    cp_opt_tree_free(tree);
}

/* What is not a number of its own: how deep a chunk is, and that it has a twin. */
static void the_check_sees_depth_and_twins(void **unused) {
    struct cp_opt_tree *tree = new_tree(8, 4);
    (void)unused;
    int a = join(tree, "112", 0, 1), b = join(tree, "112", 0, 2);
    assert_int_equal(cp_opt_tree_append_each(tree, 2, (int[]){a, b}, (int[]){2, 2}), CP_OK);
    int x = cp_opt_tree_path(tree, a)[1], y = cp_opt_tree_path(tree, b)[1];
    assert_true(tree->chunk[x].has_twin && tree->chunk[y].has_twin);
    assert_false(tree->chunk[cp_opt_tree_path(tree, a)[0]].has_twin);
    tree->chunk[y].depth = 0;
    assert_string_equal(cp_opt_tree_check(tree), "TREE-4");
    tree->chunk[y].depth = 1;
    tree->chunk[x].has_twin = 0;
    assert_string_equal(cp_opt_tree_check(tree), "TREE-8");
    tree->chunk[x].has_twin = 1;
    tree->chunk[y].has_twin = 0;
    assert_string_equal(cp_opt_tree_check(tree), "TREE-8");
    tree->chunk[y].has_twin = 1;
    assert_true(cp_opt_tree_is_valid(tree));
    cp_opt_tree_free(tree);
}

/* A shared chunk with room: TREE-2. Two numbers must be wrong for it. */
static void a_shared_tail_is_full(void **unused) {
    struct cp_opt_tree *tree = new_tree(8, 4);
    (void)unused;
    int a = join(tree, "1122", 0, 1);
    join(tree, "1122", 0, 2);
    assert_string_equal(named(tree, &tree->sequence[a].room, 1), "TREE-2");
    cp_opt_tree_free(tree);
}

static int is_stale(const struct cp_opt_plan *plan, const struct cp_opt_tree *tree) {
    return plan->stamp.tree != tree->stamp.tree || plan->stamp.epoch != tree->stamp.epoch ||
           plan->stamp.step != tree->stamp.step;
}

/* PLAN-5, PLAN-6. */
static void a_plan_says_when_it_was_changed(void **unused) {
    struct cp_opt_tree *tree = new_tree(16, 8), *other = new_tree(16, 8);
    struct cp_opt_plan *plan;
    (void)unused;
    assert_int_equal(cp_opt_plan_new(&plan, &tree->sizes), CP_OK);
    assert_true(is_stale(plan, tree));
    int a = join(tree, "112", 0, 1);
    join(tree, "113", 0, 2);
    assert_int_equal(cp_opt_plan_update(plan, tree), 1);
    assert_int_equal(plan->n_shared, 1);
    assert_int_equal(cp_opt_plan_update(plan, tree), 0);
    assert_int_equal(cp_opt_tree_append(tree, a, 4), CP_OK);
    assert_true(is_stale(plan, tree));
    assert_int_equal(cp_opt_plan_update(plan, tree), 0);
    assert_int_equal(plan->n_tokens[0], 4);
    assert_int_equal(cp_opt_tree_append(tree, a, 4), CP_OK);
    assert_int_equal(cp_opt_plan_update(plan, tree), 1);
    assert_int_equal(plan->n_chunks[0], 3);
    join(other, "77", 0, 1);
    join(other, "77", 0, 2);
    other->stamp.epoch = tree->stamp.epoch;
    other->stamp.step = tree->stamp.step;
    other->shape = tree->shape;
    assert_int_equal(cp_opt_plan_update(plan, other), 1);
    assert_int_equal(plan->n_tokens[0], 2);
    cp_opt_plan_free(plan);
    cp_opt_tree_free(tree);
    cp_opt_tree_free(other);
}

static void beyond_the_limits_no_plan_is_exported(void **unused) {
    const struct cp_opt_sizes sizes = {8, CP_MAX_CHUNK_SIZE + 1, 4, 8, 64, 1};
    struct cp_opt_tree *tree;
    struct cp_opt_plan *plan;
    struct cp_plan *to;
    (void)unused;
    assert_int_equal(cp_opt_tree_new(&tree, &sizes), CP_OK);
    assert_int_equal(cp_opt_plan_new(&plan, &sizes), CP_OK);
    assert_int_equal(cp_plan_new(&to), CP_OK);
    cp_opt_plan_update(plan, tree);
    assert_int_equal(cp_opt_plan_export(plan, to), CP_ERROR_SHAPE);
    assert_int_not_equal(to->stamp.tree, plan->stamp.tree);
    plan->chunk_size = 2;
    assert_int_equal(cp_opt_plan_export(plan, to), CP_OK);
    plan->capacity = CP_MAX_CHUNKS + 1;
    assert_int_equal(cp_opt_plan_export(plan, to), CP_ERROR_SHAPE);
    plan->capacity = CP_MAX_CHUNKS;
    plan->n_sequences = CP_MAX_SEQUENCES + 1;
    assert_int_equal(cp_opt_plan_export(plan, to), CP_ERROR_SHAPE);
    plan->n_sequences = 1;
    plan->n_chunks[0] = CP_MAX_DEPTH + 1;
    assert_int_equal(cp_opt_plan_export(plan, to), CP_ERROR_SHAPE);
    cp_plan_free(to);
    cp_opt_plan_free(plan);
    cp_opt_tree_free(tree);
}

/* ---- Against the reference ---- */

static struct opt_pair new_pair(int capacity, int chunk_size, int max_depth, int hash_bits) {
    const struct cp_opt_sizes sizes = {capacity,  chunk_size, CP_MAX_SEQUENCES,
                                       max_depth, hash_bits,  7};
    struct opt_pair pair = {0};
    assert_int_equal(cp_tree_new(&pair.tree, capacity, chunk_size, 0), CP_OK);
    assert_int_equal(cp_opt_tree_new(&pair.opt_tree, &sizes), CP_OK);
    assert_int_equal(cp_plan_new(&pair.plan), CP_OK);
    assert_int_equal(cp_opt_plan_new(&pair.opt_plan, &sizes), CP_OK);
    return pair;
}

static void free_pair(struct opt_pair *pair) {
    cp_tree_free(pair->tree);
    cp_opt_tree_free(pair->opt_tree);
    cp_plan_free(pair->plan);
    cp_opt_plan_free(pair->opt_plan);
}

/* The plan that is exported, now and then, is the one of the reference. */
static const char *compare_export(const struct opt_pair *pair, struct cp_plan *exported) {
    const struct cp_plan *plan = pair->plan;
    assert_int_equal(cp_opt_plan_export(pair->opt_plan, exported), CP_OK);
    if (!cp_plan_is_current(exported, pair->opt_tree->stamp) || !cp_plan_is_valid(exported) ||
        exported->n_sequences != plan->n_sequences || exported->n_shared != plan->n_shared ||
        memcmp(exported->shared, plan->shared, (size_t)plan->n_shared * sizeof *plan->shared) !=
            0) {
        return "exported plan";
    }
    for (int s = 0; s < plan->n_sequences; s++) {
        const struct cp_plan_sequence *path = &plan->sequence[s], *got = &exported->sequence[s];
        if (got->n_tokens != path->n_tokens || got->n_chunks != path->n_chunks ||
            got->n_shared != path->n_shared ||
            memcmp(got->run, path->run, (size_t)path->n_chunks * sizeof *path->run) != 0) {
            return "path of the exported plan";
        }
    }
    return NULL;
}

/* A plan that was not brought up to date for some operations is, in a moment, what one is that
 * never missed any. */
static const char *compare_late(const struct cp_opt_plan *late, const struct cp_opt_plan *plan) {
    size_t n = (size_t)plan->n_sequences * sizeof *plan->sequence;
    if (late->n_sequences != plan->n_sequences || late->n_shared != plan->n_shared ||
        memcmp(late->shared, plan->shared, (size_t)plan->n_shared * sizeof *plan->shared) != 0 ||
        memcmp(late->sequence, plan->sequence, n) != 0 ||
        memcmp(late->n_tokens, plan->n_tokens, n) != 0 ||
        memcmp(late->n_chunks, plan->n_chunks, n) != 0 ||
        memcmp(late->n_shared_chunks, plan->n_shared_chunks, n) != 0) {
        return "plan after several operations";
    }
    return NULL;
}

static const char *random_operation(struct opt_pair *pair, unsigned long long *random, int most,
                                    long long id) {
    int n = pair->tree->n_sequences, what = random_below(random, 10);
    int s = n == 0 ? 0 : random_below(random, n), token[1024], sequence[1024], m = 0;
    if (n < most && what < 4) {
        int length = random_below(random, 60);
        for (int k = 0; k < length; k++) {
            token[k] = random_below(random, 8) == 0;
        }
        unsigned long long salt = (unsigned long long)(random_below(random, 4) == 0);
        const char *differs = pair_lookup(pair, token, length, salt, NULL);
        return differs != NULL ? differs : pair_join(pair, token, length, salt, id, NULL);
    }
    if (what < 7) {
        for (int r = 0; r < n; r++) {
            if (random_below(random, 3) > 0 && cp_tree_length(pair->tree, r) < 200) {
                sequence[m] = r;
                token[m++] = random_below(random, 8) == 0;
            }
        }
        return pair_append_each(pair, m, sequence, token);
    }
    return what < 9 || n >= most ? pair_leave(pair, s) : pair_fork(pair, s, id, NULL);
}

static void random_operations_are_those_of_the_reference(void **unused) {
    static const struct {
        int capacity, chunk_size, hash_bits, most, operations;
    } run[] = {{64, 1, 64, 24, 2000},  {64, 2, 0, 24, 2000},  {64, 3, 1, 24, 2000},
               {40, 5, 64, 24, 2000},  {300, 1, 2, 64, 2000}, {200, 2, 64, 100, 2000},
               {800, 16, 64, 300, 800}};
    int seen[CP_ERROR_WORKSPACE + 1] = {0}, one_by_one = 0, anew = 0;
    (void)unused;
    for (size_t r = 0; r < sizeof run / sizeof *run; r++) {
        unsigned long long random = 20250 + r;
        struct opt_pair pair = new_pair(run[r].capacity, run[r].chunk_size, 400, run[r].hash_bits);
        struct cp_plan *exported;
        struct cp_opt_plan *late;
        assert_int_equal(cp_plan_new(&exported), CP_OK);
        assert_int_equal(cp_opt_plan_new(&late, &pair.opt_tree->sizes), CP_OK);
        for (int i = 0; i < run[r].operations; i++) {
            const char *differs = random_operation(&pair, &random, run[r].most, i);
            seen[pair.status]++;
            if (differs == NULL && i % 3 == 0) {
                differs = compare_export(&pair, exported);
            }
            unsigned long long behind = pair.opt_tree->shape - late->shape;
            if (differs == NULL && random_below(&random, 12) == 0) {
                (void)cp_opt_plan_update(late, pair.opt_tree);
                differs = compare_late(late, pair.opt_plan);
                one_by_one += behind > 1 && behind <= CP_OPT_CHANGES;
                anew += behind > CP_OPT_CHANGES;
            }
            if (differs != NULL) {
                fail_msg("run %zu, operation %d: %s", r, i, differs);
            }
        }
        cp_plan_free(exported);
        cp_opt_plan_free(late);
        free_pair(&pair);
    }
    assert_in_range(one_by_one, 300, 20000);
    assert_in_range(anew, 30, 20000);
    assert_in_range(seen[CP_OK], 5000, 20000);
    assert_in_range(seen[CP_ERROR_POOL_FULL], 100, 20000);
}

/* Siblings with equal tokens (TREE-10): the longest match may lie behind any of them, the first of
 * equals is taken. */
static void equal_siblings_are_all_looked_at(void **unused) {
    struct opt_pair pair = new_pair(64, 2, 16, 64);
    struct cp_match match;
    const int prompt[] = {1, 1, 2, 2, 3, 3, 4, 4};
    (void)unused;
    for (int s = 0; s < 6; s++) {
        assert_null(pair_join(&pair, prompt, 3, 0, s, NULL));
    }
    for (int k = 3; k < 8;
         k++) { /* of different lengths, neither the first nor the last the longest */
        for (int s = 0; s < 6; s++) {
            if (k == 3 || s % 3 == 1 || (k < 6 && s % 2 == 0)) {
                assert_null(pair_append_each(&pair, 1, &s, &prompt[k]));
            }
        }
    }
    assert_null(pair_lookup(&pair, prompt, 8, 0, &match));
    assert_int_equal(match.n_chunks, 4);
    assert_int_equal(match.sequence, 1);
    assert_null(pair_leave(&pair, 1));
    assert_null(pair_join(&pair, prompt, 8, 0, 9, NULL));
    assert_null(pair_lookup(&pair, prompt, 6, 0, &match));
    assert_null(pair_join(&pair, prompt, 7, 0, 9, NULL));
    free_pair(&pair);
}

/* The comparison can fail: each part of it, once. */
static void the_pair_notices_differences(void **unused) {
    struct opt_pair pair = new_pair(16, 2, 8, 64);
    struct cp_joined joined;
    (void)unused;
    assert_null(pair_join(&pair, (int[]){1, 1, 2, 2}, 4, 0, 1, NULL));
    assert_null(pair_join(&pair, (int[]){1, 1, 3}, 3, 0, 2, NULL));
    int *const field[] = {&pair.opt_tree->token[1],
                          (int *)(void *)&pair.opt_tree->sequence[1].id,
                          (int *)(void *)&pair.opt_tree->stamp.step,
                          &pair.tree->tokens[0].token[1],
                          &pair.tree->pool.perm[pair.tree->pool.n_free - 1],
                          &pair.tree->end[0],
                          &pair.tree->n_sequences};
    for (size_t i = 0; i < sizeof field / sizeof *field; i++) {
        ++*field[i];
        assert_non_null(pair_compare(&pair));
        --*field[i];
        assert_null(pair_compare(&pair));
    }
    assert_int_equal(cp_tree_join(pair.tree, NULL, 0, 0, 3, NULL, &joined), CP_OK);
    assert_non_null(pair_leave(&pair, 2));
    free_pair(&pair);
}

/* 20,000 sequences that come and go below one system prompt: order and ranges are those of the
 * reference at a few moments, the invariant holds. */
static void many_sequences_keep_their_order(void **unused) {
    const struct cp_opt_sizes sizes = {200000, 4, 20000, 16, 64, 3};
    struct cp_opt_tree *tree;
    struct cp_opt_plan *plan;
    struct cp_joined joined;
    unsigned long long random = 5;
    (void)unused;
    assert_int_equal(cp_opt_tree_new(&tree, &sizes), CP_OK);
    assert_int_equal(cp_opt_plan_new(&plan, &sizes), CP_OK);
    for (int i = 0; i < 60000; i++) {
        int token[24] = {1, 2, 3, 4, 5, 6, 7, 8};
        for (int k = 8; k < 24; k++) {
            token[k] = random_below(&random, 3);
        }
        if (tree->n_sequences == sizes.max_sequences || random_below(&random, 4) == 0) {
            int s = random_below(&random, sizes.max_sequences);
            int right = cp_opt_tree_is_alive(tree, s) ? CP_OK : CP_ERROR_ARGUMENT;
            assert_int_equal(cp_opt_tree_leave(tree, s), right);
        } else {
            assert_int_equal(cp_opt_tree_join(tree, token, 24, 0, i, &joined), CP_OK);
        }
        if (i % 10000 == 0) {
            assert_null(cp_opt_tree_check(tree));
        }
    }
    assert_true(cp_opt_tree_is_valid(tree));
    cp_opt_plan_update(plan, tree);
    assert_int_equal(plan->n_sequences, tree->n_sequences);
    for (int i = 0; i < plan->n_sequences; i++) {
        assert_int_equal(cp_opt_tree_index(tree, plan->sequence[i]), i);
        assert_int_equal(cp_opt_tree_at(tree, i), plan->sequence[i]);
    }
    for (int i = 0; i < plan->n_shared; i++) {
        int begin, end;
        cp_opt_tree_range(tree, plan->shared[i].chunk, &begin, &end);
        assert_int_equal(plan->shared[i].begin, begin);
        assert_int_equal(plan->shared[i].end, end);
    }
    while (tree->n_sequences > 0) {
        assert_int_equal(cp_opt_tree_leave(tree, tree->root), CP_OK);
    }
    assert_int_equal(tree->n_free, sizes.capacity);
    assert_true(cp_opt_tree_is_valid(tree));
    cp_opt_plan_free(plan);
    cp_opt_tree_free(tree);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sizes_out_of_range_are_refused),
        cmocka_unit_test(handles_stay_and_indices_move),
        cmocka_unit_test(sharing_domains_are_apart_in_one_bucket),
        cmocka_unit_test(a_batch_has_any_order_and_each_once),
        cmocka_unit_test(what_does_not_fit_is_refused),
        cmocka_unit_test(the_check_names_the_broken_clause),
        cmocka_unit_test(the_check_sees_depth_and_twins),
        cmocka_unit_test(a_shared_tail_is_full),
        cmocka_unit_test(a_plan_says_when_it_was_changed),
        cmocka_unit_test(beyond_the_limits_no_plan_is_exported),
        cmocka_unit_test(random_operations_are_those_of_the_reference),
        cmocka_unit_test(equal_siblings_are_all_looked_at),
        cmocka_unit_test(the_pair_notices_differences),
        cmocka_unit_test(many_sequences_keep_their_order),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
