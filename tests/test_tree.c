/* SPDX-License-Identifier: Apache-2.0 */
/* The tree, clause by clause (spec/tree.md), and random operations against the naive model. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "chunkproof/chunkproof.h"
#include "model.h"
#include "random.h"

/* A tree of chunks of two tokens. */
static struct cp_tree *new_tree(int capacity) {
    struct cp_tree *tree;
    assert_int_equal(cp_tree_new(&tree, capacity, 2, 0), CP_OK);
    return tree;
}

/* Joins a prompt written as digits; returns its index. */
static int join(struct cp_tree *tree, const char *digits, unsigned long long salt, long long id) {
    int token[64];
    struct cp_joined joined;
    int n = (int)strlen(digits);
    for (int k = 0; k < n; k++) {
        token[k] = digits[k] - '0';
    }
    assert_int_equal(cp_tree_join(tree, token, n, salt, id, NULL, &joined), CP_OK);
    assert_null(cp_tree_check(tree));
    return joined.sequence;
}

static int used(const struct cp_tree *tree) {
    return tree->pool.capacity - tree->pool.n_free;
}

static void check_range(const struct cp_tree *tree, int s, int k, int begin, int end) {
    int chunk = tree->sequence[s].chunk[k];
    assert_int_equal(tree->begin[chunk], begin);
    assert_int_equal(tree->end[chunk], end);
}

static void sizes_out_of_range_are_refused(void **unused) {
    struct cp_tree *tree;
    (void)unused;
    const int bad[][3] = {{0, 2, 0},  {CP_MAX_CHUNKS + 1, 2, 0},
                          {4, 0, 0},  {4, CP_MAX_CHUNK_SIZE + 1, 0},
                          {4, 2, -1}, {4, 2, 65}};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_int_equal(cp_tree_new(&tree, bad[i][0], bad[i][1], bad[i][2]), CP_ERROR_ARGUMENT);
        assert_null(tree);
    }
    assert_int_equal(cp_tree_new(&tree, CP_MAX_CHUNKS, CP_MAX_CHUNK_SIZE, 64), CP_OK);
    assert_null(cp_tree_check(tree));
    cp_tree_free(tree);
    cp_tree_free(NULL);
}

static void two_equal_prompts_share_full_chunks_only(void **unused) {
    struct cp_tree *tree = new_tree(8);
    (void)unused;
    join(tree, "12345", 0, 1);
    assert_int_equal(join(tree, "12345", 0, 2), 1);
    assert_int_equal(used(tree), 4); /* 12, 34, 5 and 5 */
    check_range(tree, 0, 1, 0, 2);
    check_range(tree, 0, 2, 0, 1);
    check_range(tree, 1, 2, 1, 2);
    cp_tree_free(tree);
}

static void prompts_of_full_chunks_share_everything(void **unused) {
    struct cp_tree *tree = new_tree(8);
    (void)unused;
    join(tree, "1234", 0, 1);
    join(tree, "1234", 0, 2);
    assert_int_equal(used(tree), 2);
    check_range(tree, 1, 1, 0, 2); /* a last chunk that covers two sequences */
    assert_int_equal(cp_tree_append(tree, 1, 9), CP_OK);
    assert_null(cp_tree_check(tree));
    assert_int_equal(used(tree), 3);
    assert_int_equal(cp_tree_length(tree, 0), 4);
    assert_int_equal(cp_tree_token(tree, 1, 4), 9);
    cp_tree_free(tree);
}

/* TREE-7 keeps the half-filled second chunk from being anything but a tail. */
static void a_prefix_of_a_prompt_shares_its_full_chunks(void **unused) {
    struct cp_tree *tree = new_tree(8);
    (void)unused;
    join(tree, "12345", 0, 1);
    join(tree, "123", 0, 2); /* 3 is half of 34: not shared */
    assert_int_equal(used(tree), 4);
    check_range(tree, 0, 0, 0, 2);
    check_range(tree, 0, 1, 0, 1);
    cp_tree_free(tree);
}

static void join_goes_behind_the_deepest_shared_chunk(void **unused) {
    struct cp_tree *tree = new_tree(16);
    (void)unused;
    join(tree, "1122", 0, 1);
    join(tree, "3344", 0, 2); /* another root */
    assert_int_equal(join(tree, "1155", 0, 3), 1);
    assert_int_equal(join(tree, "1122", 0, 4), 1); /* nearer to sequence 1 than 3 is */
    const long long order[] = {1, 4, 3, 2};
    for (int s = 0; s < 4; s++) {
        assert_int_equal(tree->sequence[s].id, order[s]);
    }
    check_range(tree, 0, 0, 0, 3);
    check_range(tree, 0, 1, 0, 2);
    check_range(tree, 3, 0, 3, 4);
    assert_int_equal(cp_tree_find(tree, 3), 2);
    assert_int_equal(cp_tree_find(tree, 5), -1);
    cp_tree_free(tree);
}

/* Two private tails that fill up alike stay two chunks; a later prompt finds the one that leads
 * on. */
static void lookup_takes_the_longest_of_equal_siblings(void **unused) {
    struct cp_tree *tree = new_tree(16);
    (void)unused;
    int a = join(tree, "112", 0, 1);
    int b = join(tree, "112", 0, 2);
    assert_int_equal(cp_tree_append(tree, a, 2), CP_OK);
    assert_int_equal(cp_tree_append(tree, b, 2), CP_OK);
    assert_int_equal(used(tree), 3);
    assert_int_equal(cp_tree_append(tree, b, 3), CP_OK);
    assert_int_equal(cp_tree_append(tree, b, 3), CP_OK);
    const int prompt[] = {1, 1, 2, 2, 3, 3, 4};
    struct cp_match match = cp_tree_lookup(tree, prompt, 7, 0, NULL);
    assert_int_equal(match.n_chunks, 3);
    assert_int_equal(match.n_tokens, 6);
    assert_int_equal(match.sequence, b);
    match = cp_tree_lookup(tree, prompt, 5, 0, NULL); /* as good with either: the first */
    assert_int_equal(match.n_chunks, 2);
    assert_int_equal(match.sequence, a);
    cp_tree_free(tree);
}

static void sharing_domains_are_apart(void **unused) {
    struct cp_tree *tree = new_tree(16);
    const int prompt[] = {1, 1, 2, 2};
    (void)unused;
    join(tree, "1122", 7, 1);
    join(tree, "1122", 8, 2);
    assert_int_equal(used(tree), 4);
    join(tree, "1122", 7, 3);
    assert_int_equal(used(tree), 4);
    assert_int_equal(cp_tree_lookup(tree, prompt, 4, 9, NULL).n_chunks, 0);
    assert_int_equal(cp_tree_lookup(tree, prompt, 4, 9, NULL).sequence, -1);
    assert_int_equal(cp_tree_lookup(tree, prompt, 4, 8, NULL).sequence, 2);
    cp_tree_free(tree);
}

static void fork_copies_only_a_partial_tail(void **unused) {
    struct cp_tree *tree = new_tree(8);
    struct cp_forked forked;
    (void)unused;
    join(tree, "123", 5, 1);
    assert_int_equal(cp_tree_fork(tree, 0, 2, &forked), CP_OK);
    assert_null(cp_tree_check(tree));
    assert_int_equal(forked.sequence, 1);
    assert_int_equal(forked.copy_from, tree->sequence[0].chunk[1]);
    assert_int_equal(forked.copy_to, tree->sequence[1].chunk[1]);
    assert_int_equal(tree->sequence[1].salt, 5);
    assert_int_equal(cp_tree_append(tree, 1, 4), CP_OK);
    assert_int_equal(cp_tree_length(tree, 0), 3);
    assert_int_equal(cp_tree_fork(tree, 1, 3, &forked), CP_OK); /* now its tail is full */
    assert_null(cp_tree_check(tree));
    assert_int_equal(forked.copy_from, -1);
    assert_int_equal(forked.copy_to, -1);
    check_range(tree, 2, 1, 1, 3);
    cp_tree_free(tree);
}

/* TREE-16. */
static void empty_sequences_live_and_grow(void **unused) {
    struct cp_tree *tree = new_tree(4);
    struct cp_forked forked;
    (void)unused;
    join(tree, "", 0, 1);
    assert_int_equal(cp_tree_length(tree, 0), 0);
    assert_int_equal(used(tree), 0);
    assert_int_equal(cp_tree_fork(tree, 0, 2, &forked), CP_OK);
    assert_int_equal(forked.copy_to, -1);
    assert_int_equal(cp_tree_append(tree, 1, 5), CP_OK);
    assert_int_equal(cp_tree_length(tree, 1), 1);
    assert_int_equal(cp_tree_leave(tree, 0), CP_OK);
    assert_int_equal(cp_tree_leave(tree, 0), CP_OK);
    assert_int_equal(used(tree), 0);
    cp_tree_free(tree);
}

static void released_chunks_are_used_again_first(void **unused) {
    struct cp_tree *tree = new_tree(8);
    (void)unused;
    join(tree, "1122", 0, 1);
    join(tree, "3344", 0, 2);
    assert_int_equal(cp_tree_leave(tree, 0), CP_OK);
    join(tree, "555", 0, 3);
    assert_int_equal(tree->sequence[1].chunk[0], 0);
    assert_int_equal(tree->sequence[1].chunk[1], 1);
    cp_tree_free(tree);
}

static void wrong_arguments_are_refused(void **unused) {
    struct cp_tree *tree = new_tree(4);
    struct cp_joined joined;
    struct cp_forked forked;
    (void)unused;
    join(tree, "12", 0, 1);
    join(tree, "34", 0, 2);
    assert_int_equal(cp_tree_join(tree, NULL, -1, 0, 3, NULL, &joined), CP_ERROR_ARGUMENT);
    assert_int_equal(cp_tree_append(tree, 2, 0), CP_ERROR_ARGUMENT);
    assert_int_equal(cp_tree_append(tree, -1, 0), CP_ERROR_ARGUMENT);
    assert_int_equal(cp_tree_append_each(tree, 2, (int[]){1, 0}, (int[]){5, 5}), CP_ERROR_ARGUMENT);
    assert_int_equal(cp_tree_append_each(tree, 2, (int[]){1, 1}, (int[]){5, 5}), CP_ERROR_ARGUMENT);
    assert_int_equal(cp_tree_leave(tree, 2), CP_ERROR_ARGUMENT);
    assert_int_equal(cp_tree_leave(tree, -1), CP_ERROR_ARGUMENT);
    assert_int_equal(cp_tree_fork(tree, 2, 3, &forked), CP_ERROR_ARGUMENT);
    assert_int_equal(cp_tree_fork(tree, -1, 3, &forked), CP_ERROR_ARGUMENT);
    assert_int_equal(tree->stamp.epoch, 2);
    cp_tree_free(tree);
}

/* A batch whose last member needs the chunk that is not there appends to none (TREE-13). */
static void a_batch_appends_to_all_or_none(void **unused) {
    struct cp_tree *tree = new_tree(3);
    (void)unused;
    join(tree, "1", 0, 1);
    join(tree, "22", 0, 2);
    join(tree, "3", 0, 3);
    assert_int_equal(cp_tree_append_each(tree, 3, (int[]){0, 1, 2}, (int[]){7, 7, 7}),
                     CP_ERROR_POOL_FULL);
    for (int s = 0; s < 3; s++) {
        assert_int_equal(cp_tree_length(tree, s), s == 1 ? 2 : 1);
    }
    assert_int_equal(tree->stamp.step, 0);
    assert_int_equal(cp_tree_append_each(tree, 2, (int[]){0, 2}, (int[]){7, 7}), CP_OK);
    assert_int_equal(cp_tree_length(tree, 2), 2);
    assert_int_equal(tree->stamp.step, 1);
    cp_tree_free(tree);
}

static void paths_and_rows_have_bounds(void **unused) {
    struct cp_tree *tree;
    struct cp_joined joined;
    struct cp_forked forked;
    static int token[CP_MAX_DEPTH + 1];
    (void)unused;
    assert_int_equal(cp_tree_new(&tree, CP_MAX_DEPTH + 1, 1, 0), CP_OK);
    assert_int_equal(cp_tree_join(tree, token, CP_MAX_DEPTH + 1, 0, 1, NULL, &joined),
                     CP_ERROR_TOO_LONG);
    assert_int_equal(cp_tree_join(tree, token, CP_MAX_DEPTH, 0, 1, NULL, &joined), CP_OK);
    assert_int_equal(cp_tree_append(tree, 0, 0), CP_ERROR_TOO_LONG);
    for (int s = 1; s < CP_MAX_SEQUENCES; s++) {
        assert_int_equal(cp_tree_join(tree, NULL, 0, 0, s, NULL, &joined), CP_OK);
    }
    assert_int_equal(cp_tree_join(tree, NULL, 0, 0, 9, NULL, &joined), CP_ERROR_SEQUENCES_FULL);
    assert_int_equal(cp_tree_fork(tree, 0, 9, &forked), CP_ERROR_SEQUENCES_FULL);
    assert_null(cp_tree_check(tree));
    cp_tree_free(tree);
}

/* Each clause, broken by hand in a tree that is otherwise right, is the one that is named. */
static void the_check_names_the_broken_clause(void **unused) {
    static const struct {
        const char *clause;
        int field;
        int value;
    } faults[] = {{"POOL-1", 0, -1},  {"POOL-2", 1, 3},   {"TREE-1", 2, 3},  {"TREE-1", 3, 0},
                  {"TREE-3", 4, 9},   {"TREE-3", 5, 1},   {"TREE-5", 6, 3},  {"TREE-4", 7, 0},
                  {"TREE-2", 8, 1},   {"TREE-14", 9, 1},  {"TREE-1", 10, 0}, {"TREE-1", 11, -1},
                  {"TREE-15", 12, 5}, {"TREE-1", 13, 65}, {"TREE-2", 14, 1}};
    (void)unused;
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) {
        struct cp_tree *tree = new_tree(8);
        join(tree, "112233", 0, 1);
        join(tree, "112244", 0, 2);
        join(tree, "5", 0, 3);
        assert_true(cp_tree_is_valid(tree));
        int root = tree->sequence[0].chunk[0];
        int *field[] = {&tree->pool.n_free,
                        &tree->pool.perm[0],
                        &tree->begin[root],
                        &tree->fill[root],
                        &tree->sequence[0].chunk[1],
                        &tree->depth[root],
                        &tree->end[tree->sequence[1].chunk[2]],
                        &tree->sequence[2].n_chunks,
                        &tree->fill[root],
                        NULL,
                        &tree->chunk_size,
                        &tree->sequence[1].n_chunks,
                        NULL,
                        &tree->hash_bits,
                        &tree->fill[tree->sequence[1].chunk[1]]};
        if (faults[i].field == 9) {
            tree->sequence[1].salt = 1;
        } else if (faults[i].field == 12) {
            tree->hash[root] = 5;
        } else {
            *field[faults[i].field] = faults[i].value;
        }
        const char *named = cp_tree_check(tree);
        if (faults[i].field == 12) {
            assert_null(named);
            named = cp_tree_check_hashes(tree);
        }
        assert_non_null(named);
        assert_string_equal(named, faults[i].clause);
        assert_false(cp_tree_is_valid(tree));
        cp_tree_free(tree);
    }
}

/* One random operation on both; returns the status. */
static int random_operation(struct cp_tree *tree, struct model *model, unsigned long long *random,
                            long long id) {
    int s = model->n_sequences == 0 ? 0 : random_below(random, model->n_sequences);
    int what = random_below(random, 10);
    if (what < 4) {
        int token[24];
        unsigned long long hash[24];
        struct cp_joined got = {-1, -1};
        struct cp_joined expected = {-1, -1};
        int n = random_below(random, 25);
        for (int k = 0; k < n; k++) {
            token[k] = random_below(random, 8) == 0;
        }
        unsigned long long salt = (unsigned long long)(random_below(random, 4) == 0);
        cp_tree_hash_prompt(tree, token, n, hash);
        int status = cp_tree_join(tree, token, n, salt, id, what % 2 ? hash : NULL, &got);
        assert_int_equal(status, model_join(model, token, n, salt, id, &expected));
        assert_int_equal(got.sequence, expected.sequence);
        assert_int_equal(got.n_shared, expected.n_shared);
        return status;
    }
    if (what < 8) {
        int sequence[MODEL_MAX_SEQUENCES];
        int token[MODEL_MAX_SEQUENCES];
        int n = 0;
        for (int r = 0; r < model->n_sequences; r++) {
            if (model->sequence[r].n_tokens < MODEL_MAX_TOKENS && random_below(random, 3) > 0) {
                sequence[n] = r;
                token[n++] = random_below(random, 8) == 0;
            }
        }
        int status = cp_tree_append_each(tree, n, sequence, token);
        assert_int_equal(status, model_append_each(model, n, sequence, token));
        return status;
    }
    if (what == 8) {
        int status = cp_tree_leave(tree, s);
        assert_int_equal(status, model_leave(model, s));
        return status;
    }
    struct cp_forked forked;
    int at = -1;
    int status = cp_tree_fork(tree, s, id, &forked);
    assert_int_equal(status, model_fork(model, s, id, &at));
    if (status == CP_OK) {
        assert_int_equal(forked.sequence, at);
    }
    return status;
}

static void random_operations_follow_the_model(void **unused) {
    const int sizes[] = {1, 2, 3, 5, 16};
    const int bits[] = {0, 1, 64}; /* no hashes, hashes that collide, hashes that do not */
    int seen[CP_ERROR_WORKSPACE + 1] = {0};
    struct model *model = malloc(sizeof *model);
    (void)unused;
    assert_non_null(model);
    for (int run = 0; run < 15; run++) {
        unsigned long long random = 20240 + (unsigned)run;
        struct cp_tree *tree;
        int c = sizes[run % 5];
        int capacity = 4 + 160 / c;
        assert_int_equal(cp_tree_new(&tree, capacity, c, bits[run / 5]), CP_OK);
        model_init(model, capacity, c, MODEL_MAX_SEQUENCES);
        for (int i = 0; i < 3000; i++) {
            if (model->n_sequences == MODEL_MAX_SEQUENCES) {
                int status = cp_tree_leave(tree, random_below(&random, 1));
                assert_int_equal(status, model_leave(model, 0));
            }
            seen[random_operation(tree, model, &random, i)]++;
            const char *broken = cp_tree_check(tree);
            const char *differs = model_compare(model, tree);
            if (broken != NULL || differs != NULL) {
                fail_msg("run %d, operation %d: clause %s, model: %s", run, i,
                         broken ? broken : "-", differs ? differs : "-");
            }
        }
        assert_true(cp_tree_is_valid(tree));
        cp_tree_free(tree);
    }
    free(model);
    assert_in_range(seen[CP_OK], 1000, 45000);
    assert_in_range(seen[CP_ERROR_POOL_FULL], 100, 45000);
}

/* The comparison with the model can fail: each part of it, once. */
static void the_model_notices_differences(void **unused) {
    struct cp_tree *tree = new_tree(8);
    struct model *model = malloc(sizeof *model);
    struct cp_joined joined;
    (void)unused;
    assert_non_null(model);
    model_init(model, 8, 2, 4);
    join(tree, "112", 0, 1);
    assert_string_equal(model_compare(model, tree), "number of sequences");
    assert_int_equal(model_join(model, (int[]){1, 1, 2}, 3, 0, 1, &joined), CP_OK);
    assert_null(model_compare(model, tree));
    tree->sequence[0].id = 2;
    assert_string_equal(model_compare(model, tree), "order of sequences");
    tree->sequence[0].id = 1;
    assert_int_equal(cp_tree_append(tree, 0, 2), CP_OK);
    assert_string_equal(model_compare(model, tree), "length of a sequence");
    assert_int_equal(model_append_each(model, 1, (int[]){0}, (int[]){3}), CP_OK);
    assert_string_equal(model_compare(model, tree), "token of a sequence");
    model->sequence[0].token[3] = 2;
    join(tree, "11", 0, 4);
    assert_int_equal(model_join(model, (int[]){1, 1}, 2, 9, 4, &joined), CP_OK);
    model->sequence[1].salt = 0;
    assert_string_equal(model_compare(model, tree), "sharing");
    model->sequence[1].name[0] = model->sequence[0].name[0];
    model->capacity = 9;
    assert_string_equal(model_compare(model, tree), "free chunks");
    free(model);
    cp_tree_free(tree);
}

static void statuses_have_texts(void **unused) {
    (void)unused;
    for (int a = CP_OK; a <= CP_ERROR_WORKSPACE + 1; a++) {
        for (int b = CP_OK; b < a; b++) {
            assert_string_not_equal(cp_status_text(a), cp_status_text(b));
        }
    }
    assert_string_equal(cp_version(), CP_VERSION);
}

static void memory_is_zero_and_writable(void **unused) {
    (void)unused;
    for (int mode = CP_ON_DEMAND; mode <= CP_PREALLOCATED; mode++) {
        char *memory = cp_memory_new(10000, mode);
        assert_non_null(memory);
        assert_int_equal(memory[9999], 0);
        memory[9999] = 1;
        cp_memory_free(memory, 10000);
    }
    assert_null(cp_memory_new((size_t)-1 / 2, CP_ON_DEMAND));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sizes_out_of_range_are_refused),
        cmocka_unit_test(two_equal_prompts_share_full_chunks_only),
        cmocka_unit_test(prompts_of_full_chunks_share_everything),
        cmocka_unit_test(a_prefix_of_a_prompt_shares_its_full_chunks),
        cmocka_unit_test(join_goes_behind_the_deepest_shared_chunk),
        cmocka_unit_test(lookup_takes_the_longest_of_equal_siblings),
        cmocka_unit_test(sharing_domains_are_apart),
        cmocka_unit_test(fork_copies_only_a_partial_tail),
        cmocka_unit_test(empty_sequences_live_and_grow),
        cmocka_unit_test(released_chunks_are_used_again_first),
        cmocka_unit_test(wrong_arguments_are_refused),
        cmocka_unit_test(a_batch_appends_to_all_or_none),
        cmocka_unit_test(paths_and_rows_have_bounds),
        cmocka_unit_test(the_check_names_the_broken_clause),
        cmocka_unit_test(random_operations_follow_the_model),
        cmocka_unit_test(the_model_notices_differences),
        cmocka_unit_test(statuses_have_texts),
        cmocka_unit_test(memory_is_zero_and_writable),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
